# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The source of a function and the names that it can see."""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import linecache
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any

from wavetile.errors import SourceLocation, SourceUnavailableError


@dataclass(frozen=True, eq=False)
class FunctionSource:
    """A function with its syntax tree, whose positions are those of its file.

    Attributes:
        function: the function
        tree: its definition; a lambda is made into a function that returns its value
        file: the file's name, a key of linecache
    """

    function: FunctionType
    tree: ast.FunctionDef
    file: str

    def location(self, node: ast.AST) -> SourceLocation:
        """The place of a node of `tree`."""
        line = getattr(node, "lineno", self.tree.lineno)
        column = getattr(node, "col_offset", self.tree.col_offset)
        end = None
        if getattr(node, "end_lineno", None) == line:
            end = getattr(node, "end_col_offset", None)
        return SourceLocation(self.file, line, column, end)

    def lookup(self, name: str) -> Any:
        """What a free name of the function means now: closure, global or builtin.

        Raises:
            KeyError: it means nothing
        """
        function = self.function
        if name in function.__code__.co_freevars:
            cell = (function.__closure__ or ())[function.__code__.co_freevars.index(name)]
            try:
                return cell.cell_contents
            except ValueError:
                raise KeyError(name) from None
        if name in function.__globals__:
            return function.__globals__[name]
        return vars(builtins)[name]

    def resolve(self, node: ast.expr) -> Any:
        """What `name` or `name.attribute...` means; None if it is neither or means nothing."""
        try:
            if isinstance(node, ast.Name):
                return self.lookup(node.id)
            if isinstance(node, ast.Attribute):
                base = self.resolve(node.value)
                return None if base is None else getattr(base, node.attr, None)
        except KeyError:
            return None
        return None


def _unavailable(function: FunctionType) -> SourceUnavailableError:
    return SourceUnavailableError(
        f"the source of {function.__qualname__} cannot be read from"
        f" {function.__code__.co_filename}",
        remedy="define it in a file; code given to exec() or python -c has no source to compile",
    )


def _move_lines(tree: ast.AST, lines: int) -> None:
    for node in ast.walk(tree):
        if hasattr(node, "lineno"):
            node.lineno += lines
            node.end_lineno += lines  # type: ignore[attr-defined]


@functools.lru_cache(maxsize=512)
def read_function(function: FunctionType) -> FunctionSource:
    """Reads and parses the source of a function.

    Raises:
        SourceUnavailableError: there is none
    """
    code = function.__code__
    lines = linecache.getlines(code.co_filename, function.__globals__)
    if not lines or code.co_firstlineno > len(lines):
        raise _unavailable(function)
    if function.__name__ == "<lambda>":
        return _lambda_source(function, lines)
    block = inspect.getblock(lines[code.co_firstlineno - 1 :])
    indent = len(block[0]) - len(block[0].lstrip())
    # An `if` around the block takes its indentation, whatever strings and comments it holds.
    text = "".join(block) if indent == 0 else "if 1:\n" + "".join(block)
    try:
        parsed = ast.parse(text)
    except SyntaxError:
        raise _unavailable(function) from None
    _move_lines(parsed, code.co_firstlineno - (1 if indent == 0 else 2))
    for node in ast.walk(parsed):
        if isinstance(node, ast.FunctionDef) and node.name == function.__name__:
            if not _is_source_of(node, code):
                break
            return FunctionSource(function, node, code.co_filename)
    raise SourceUnavailableError(
        f"{code.co_filename}:{code.co_firstlineno} does not hold {function.__qualname__}: the file"
        " has changed since it was imported",
        remedy="import it again",
    )


def _is_source_of(node: ast.FunctionDef, code: CodeType) -> bool:
    """Whether a definition stands where the code says, with the code's parameters."""
    first = node.decorator_list[0].lineno if node.decorator_list else node.lineno
    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    count = code.co_argcount + code.co_kwonlyargcount
    names = tuple(argument.arg for argument in arguments)
    return first == code.co_firstlineno and names == code.co_varnames[:count]


def _stands_at(node: ast.Lambda, code: CodeType) -> bool:
    """Whether all of the code's instructions lie in the body of this lambda."""
    body = node.body
    first = body.lineno, body.col_offset
    last = body.end_lineno or body.lineno, body.end_col_offset or 0
    places = [
        (line, column)
        for line, _, column, _ in code.co_positions()
        if line is not None and column is not None and (line, column) > (code.co_firstlineno, 0)
    ]
    return bool(places) and all(first <= place <= last for place in places)


def _lambda_source(function: FunctionType, lines: list[str]) -> FunctionSource:
    """A lambda as a function that returns its value, found by its place in the whole file."""
    code = function.__code__
    try:
        parsed = ast.parse("".join(lines))
    except SyntaxError:
        raise _unavailable(function) from None
    found = [
        node
        for node in ast.walk(parsed)
        if isinstance(node, ast.Lambda) and node.lineno == code.co_firstlineno
    ]
    if len(found) > 1:
        found = [node for node in found if _stands_at(node, code)]
    if not found:
        raise _unavailable(function)
    # Of lambdas inside one another the innermost.
    node = max(found, key=lambda node: (node.body.lineno, node.body.col_offset))
    body = ast.copy_location(ast.Return(value=node.body), node.body)
    tree = ast.FunctionDef(
        name="<lambda>", args=node.args, body=[body], decorator_list=[], returns=None
    )
    return FunctionSource(function, ast.copy_location(tree, node), code.co_filename)
