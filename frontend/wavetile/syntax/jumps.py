# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`break` and `continue` made into choices."""

from __future__ import annotations

import ast
from collections.abc import Sequence


def find(body: Sequence[ast.stmt], kind: type[ast.stmt]) -> ast.stmt | None:
    """The first `break` or `continue` of the loop that has this body; not those of inner loops."""
    for statement in body:
        if isinstance(statement, kind):
            return statement
        if isinstance(statement, ast.If):
            for branch in (statement.body, statement.orelse):
                if found := find(branch, kind):
                    return found
    return None


def has_jumps(body: Sequence[ast.stmt]) -> bool:
    """Whether a step of the loop that has this body may end early."""
    return find(body, ast.Break) is not None or find(body, ast.Continue) is not None


class JumpingIf(ast.If):
    """An `if` of whose branches some never reach what follows it.

    Attributes:
        ends: for either branch whether it does not
        flag: the variable that is true after a branch which ended
    """

    ends: tuple[bool, bool] = (False, False)
    flag: str = ""


def _falls_through(body: Sequence[ast.stmt]) -> bool:
    """Whether what follows these statements may be reached."""
    for statement in body:
        if isinstance(statement, (ast.Break, ast.Continue)):
            return False
        if isinstance(statement, ast.If) and not (
            _falls_through(statement.body) or _falls_through(statement.orelse)
        ):
            return False
    return True


class _Flattened:
    """Makes the body of a loop one without jumps, in which each statement still occurs once.

    What follows an `if` that may jump goes into the branch that reaches it. If both do, it comes
    after them under a choice of its own, by a variable that says whether the step has ended.
    """

    def __init__(self, broken: str, line: int) -> None:
        self.broken = broken
        #: True from where a step has ended.
        self.ended = f"end of the step from line {line}"
        self.uses_ended = False

    def body(self, body: Sequence[ast.stmt], is_asked: bool) -> list[ast.stmt]:
        """The statements without jumps. `is_asked`: what follows asks whether the step ended."""
        result: list[ast.stmt] = []
        for position, statement in enumerate(body):
            if isinstance(statement, (ast.Break, ast.Continue)):
                if isinstance(statement, ast.Break):
                    result.append(_set(self.broken, True, statement))
                if is_asked:
                    result.append(_set(self.ended, True, statement))
                return result
            if isinstance(statement, ast.If) and has_jumps([statement]):
                result += self._choice(statement, body[position + 1 :], is_asked)
                return result
            result.append(statement)
        return result

    def _choice(self, node: ast.If, rest: Sequence[ast.stmt], is_asked: bool) -> list[ast.stmt]:
        if not (rest and _falls_through(node.body) and _falls_through(node.orelse)):
            return [self._branches(node, [*node.body, *rest], [*node.orelse, *rest], is_asked)]
        self.uses_ended = True
        first = self._branches(node, node.body, node.orelse, True)
        guarded = unless(self.ended, self.body(rest, is_asked), rest[0])
        guarded.ends = (not _falls_through(rest), True)
        guarded.flag = self.ended
        return [first, guarded]

    def _branches(
        self,
        node: ast.If,
        body: Sequence[ast.stmt],
        orelse: Sequence[ast.stmt],
        is_asked: bool,
    ) -> JumpingIf:
        choice = JumpingIf(
            test=node.test,
            body=self.body(body, is_asked) or [ast.copy_location(ast.Pass(), node)],
            orelse=self.body(orelse, is_asked),
        )
        choice.ends = (not _falls_through(body), not _falls_through(orelse))
        choice.flag = self.ended
        return ast.copy_location(choice, node)


def without_jumps(body: Sequence[ast.stmt], flag: str) -> list[ast.stmt]:
    """The body of a loop without `break` and `continue`; `break` makes `flag` true.

    Its length is that of the body: no statement is copied.
    """
    flattened = _Flattened(flag, body[0].lineno)
    result = flattened.body(body, False)
    return [_set(flattened.ended, False, body[0]), *result] if flattened.uses_ended else result


def _set(name: str, value: bool, at: ast.stmt) -> ast.Assign:
    """`name = value`."""
    target = ast.Name(name, ast.Store())
    made = ast.copy_location(ast.Assign(targets=[target], value=ast.Constant(value=value)), at)
    return ast.fix_missing_locations(made)


def unless(flag: str, body: list[ast.stmt], at: ast.stmt) -> JumpingIf:
    """`if not flag: body`."""
    test = ast.UnaryOp(op=ast.Not(), operand=ast.Name(flag, ast.Load()))
    choice = ast.copy_location(JumpingIf(test=test, body=body, orelse=[]), at)
    for node in (test, test.operand):
        ast.copy_location(node, at)
    return choice


def while_not(flag: str, node: ast.While) -> ast.expr:
    """`not flag and test` of a `while`."""
    not_yet = ast.UnaryOp(op=ast.Not(), operand=ast.Name(flag, ast.Load()))
    test = ast.BoolOp(op=ast.And(), values=[not_yet, node.test])
    for made in (not_yet.operand, not_yet, test):
        ast.copy_location(made, node.test)
    return test
