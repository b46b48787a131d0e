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


def without_jumps(body: Sequence[ast.stmt], flag: str) -> list[ast.stmt]:
    """The body of a loop without `break` and `continue`.

    What follows an `if` that may jump goes into its branches, from those that do not. `break`
    makes `flag` true.
    """
    result: list[ast.stmt] = []
    for position, statement in enumerate(body):
        if isinstance(statement, ast.Continue):
            return result
        if isinstance(statement, ast.Break):
            target = ast.Name(flag, ast.Store())
            broken = ast.Assign(targets=[target], value=ast.Constant(value=True))
            result.append(ast.copy_location(broken, statement))
            ast.fix_missing_locations(broken)
            return result
        if isinstance(statement, ast.If) and has_jumps([statement]):
            rest = body[position + 1 :]
            choice = ast.If(
                test=statement.test,
                body=without_jumps([*statement.body, *rest], flag),
                orelse=without_jumps([*statement.orelse, *rest], flag),
            )
            result.append(ast.copy_location(choice, statement))
            return result
        result.append(statement)
    return result


def unless(flag: str, body: list[ast.stmt], at: ast.stmt) -> ast.If:
    """`if not flag: body`."""
    test = ast.UnaryOp(op=ast.Not(), operand=ast.Name(flag, ast.Load()))
    choice = ast.copy_location(ast.If(test=test, body=body, orelse=[]), at)
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
