# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The block sizes that a kernel leaves open, as its source numbers and names them."""

from __future__ import annotations

import ast
import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from wavetile import language
from wavetile.errors import ConfigError

if TYPE_CHECKING:
    from wavetile.config import Config
    from wavetile.syntax.source import FunctionSource
    from wavetile.tracing.region import TracedRegion


def _elements(node: ast.expr) -> list[ast.expr]:
    return list(node.elts) if isinstance(node, (ast.List, ast.Tuple)) else [node]


def block_size_argument(call: ast.Call) -> ast.expr | None:
    """What a call of wl.tile gives as block_size, by position or by name."""
    by_name = [keyword.value for keyword in call.keywords if keyword.arg == "block_size"]
    return next(iter([*call.args[2:3], *by_name]), None)


class BlockSizes(ast.NodeVisitor):
    """The open block sizes of a kernel, numbered in the order of the source as Helion does.

    Each `wl.register_block_size` has a number, and each dimension of a loop without a size.

    Attributes:
        count: how many there are
        places: for dimensions of loops, by line and column of the loop and which of its it is,
            their numbers
        registered: the numbers of registered ones, by the variables that hold them
        variables: the variables of the loops that have a registered one, by its variable
    """

    def __init__(self, source: FunctionSource) -> None:
        self.source = source
        self.count = 0
        self.places: dict[tuple[int, int, int], int] = {}
        self.registered: dict[str, int] = {}
        self.variables: dict[str, list[ast.Name]] = {}
        self.visit(source.tree)

    def _new(self) -> int:
        self.count += 1
        return self.count - 1

    def visit_Assign(self, node: ast.Assign) -> None:
        for name, _ in registrations(self.source, node):
            self.registered[name] = self._new()

    def visit_For(self, node: ast.For) -> None:
        if is_call(self.source, node.iter, language.tile):
            assert isinstance(node.iter, ast.Call)
            targets = _elements(node.target)
            given = block_size_argument(node.iter)
            bounds = _elements(node.iter.args[:2][-1]) if node.iter.args else []
            sizes: Sequence[ast.expr | None] = (
                [None] * max(len(targets), len(bounds)) if given is None else _elements(given)
            )
            for position, size in enumerate(sizes):
                place = node.iter.lineno, node.iter.col_offset, position
                if size is None or (isinstance(size, ast.Constant) and size.value is None):
                    self.places[place] = self._new()
                elif isinstance(size, ast.Name) and size.id in self.registered:
                    self.places[place] = self.registered[size.id]
                    target = targets[position] if position < len(targets) else None
                    if isinstance(target, ast.Name):
                        self.variables.setdefault(size.id, []).append(target)
        self.generic_visit(node)


def is_call(source: FunctionSource, node: ast.AST, function: Any) -> bool:
    """Whether a node is a call of this function."""
    return isinstance(node, ast.Call) and source.resolve(node.func) is function


def registrations(source: FunctionSource, node: ast.Assign) -> list[tuple[str, ast.Call]]:
    """The calls of `wl.register_block_size` that an assignment gives names to."""
    target = node.targets[0]
    pairs = [(target, node.value)]
    if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
        pairs = list(zip(target.elts, node.value.elts, strict=False))
    return [
        (name.id, value)
        for name, value in pairs
        if isinstance(name, ast.Name)
        and isinstance(value, ast.Call)
        and is_call(source, value, language.register_block_size)
    ]


def variable_of(source: FunctionSource, loops: Sequence[ast.For], size: language.BlockSize) -> str:
    """The variable of the first of these loops, or of those in them, that has a registered size."""
    inside = {id(node) for loop in loops for node in ast.walk(loop)}
    variables = block_sizes(source).variables.get(size.name or "", [])
    return next((v.id for v in variables if id(v) in inside), size.name or "block")


@functools.lru_cache(maxsize=512)
def block_sizes(source: FunctionSource) -> BlockSizes:
    """Those of a kernel."""
    return BlockSizes(source)


def _sizes(source: FunctionSource, config: Config | Mapping[str, Any]) -> Sequence[int] | None:
    """A Config's block sizes by number, None if it gives none so.

    Raises:
        ConfigError: it has another number of them than the kernel has open ones
    """
    sizes: Sequence[int] | None = getattr(config, "positional", {}).get("block_sizes")
    known = block_sizes(source)
    if sizes is not None and len(sizes) != known.count:
        raise ConfigError(
            f"the Config has {len(sizes)} block_sizes, but {source.tree.name} leaves"
            f" {known.count} open",
            remedy="give one for each dimension of its wl.tile loops without block_size= and one"
            " for each wl.register_block_size, in the order of the source",
        )
    return sizes


def registered_sizes(
    source: FunctionSource, config: Config | Mapping[str, Any]
) -> dict[str, int | str]:
    """What a Config chooses for registered block sizes, by the variables that hold them.

    Raises:
        ConfigError: as for `named_entries`
    """
    known = block_sizes(source)
    sizes = _sizes(source, config)
    chosen: dict[str, int | str] = {}
    for name, number in known.registered.items():
        variables = [variable.id for variable in known.variables.get(name, [])]
        by_name = [key for key in (*variables, name) if key in config]
        if sizes is not None:
            chosen[name] = sizes[number]
        elif by_name:
            chosen[name] = config[by_name[0]]
    return chosen


def named_entries(
    source: FunctionSource, traced: TracedRegion, config: Config
) -> dict[str, int | str]:
    """What a Config gives by position, by the names of a region.

    Raises:
        ConfigError: it has another number of block sizes than the kernel has open ones
    """
    entries: dict[str, int | str] = {}
    known = block_sizes(source)
    sizes = _sizes(source, config)
    if sizes is not None:
        for name, place in traced.places.items():
            if place in known.places:
                entries[name] = sizes[known.places[place]]
    rows = config.positional.get("reduction_loops")
    if rows is not None and len(rows) == len(traced.rows):
        for name, size in zip(traced.rows, rows, strict=True):
            entries[f"{name}.strategy"] = "resident" if size is None else "looped"
            if size is not None:
                entries[name] = size
    return entries
