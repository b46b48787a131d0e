# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops over tiles: their bounds, and the values that they carry from step to step."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from wavetile.errors import ArgumentError, CarriedValueError
from wavetile.language import BlockSize
from wavetile.tracing.expressions import AlreadyReportedError
from wavetile.tracing.values import (
    Dim,
    Failed,
    Integer,
    RuntimeBool,
    RuntimeFloat,
    RuntimeInteger,
    Tile,
    TileIndex,
    describe,
)

if TYPE_CHECKING:
    from wavetile._C import Operation, Type, Value
    from wavetile.tracing.emitter import Emitter


@dataclass(frozen=True)
class DimSpec:
    """One dimension of a loop: the Python variable, its name in the module, its bounds."""

    variable: str
    name: str
    lower: Integer
    upper: Integer


@dataclass(frozen=True)
class LoopSpec:
    """A `for ... in wl.tile(...)`: its dimensions and the names that it assigns."""

    dims: list[DimSpec]
    targets: list[str]


def _target_names(target: ast.expr) -> list[str] | None:
    if isinstance(target, ast.Name):
        return [target.id]
    if isinstance(target, (ast.Tuple, ast.List)) and all(
        isinstance(element, ast.Name) for element in target.elts
    ):
        return [element.id for element in target.elts]  # type: ignore[attr-defined]
    return None


def _several(value: Any) -> list[Any]:
    return list(value) if isinstance(value, Sequence) else [value]


def loop_spec(emitter: Emitter, node: ast.For, args: list[Any], kwargs: dict[str, Any]) -> LoopSpec:
    """Reads the arguments of wl.tile.

    Raises:
        ArgumentError: they do not say what to loop over
    """
    block_sizes = kwargs.pop("block_size", None)
    args += [kwargs.pop(name) for name in ("begin_or_end", "end") if name in kwargs]
    if kwargs or not 1 <= len(args) <= 2:
        unknown = f" `{next(iter(kwargs))}`" if kwargs else f" {len(args)} positional arguments"
        emitter.fail(
            ArgumentError,
            f"wl.tile does not take{unknown}",
            "write wl.tile(end), wl.tile(begin, end) or wl.tile([m, n]), with block_size= if"
            " it is fixed",
        )
    is_list = isinstance(args[-1], Sequence)
    upper = _several(args[-1])
    lower = _several(args[0]) if len(args) == 2 else [0] * len(upper)
    sizes = [None] * len(upper) if block_sizes is None else _several(block_sizes)
    targets = _target_names(node.target)
    if not 1 <= len(upper) <= 2 or not len(lower) == len(sizes) == len(upper):
        emitter.fail(
            ArgumentError,
            f"wl.tile over {len(upper)} dimensions with {len(lower)} lower bounds and"
            f" {len(sizes)} block sizes",
            "give one or two dimensions, and as many bounds and block sizes",
        )
    many = isinstance(node.target, (ast.Tuple, ast.List))
    if targets is None or len(targets) != len(upper) or (many and not is_list):
        emitter.fail(
            ArgumentError,
            f"this loop needs {len(upper)} variable{'s' * (len(upper) > 1)}",
            "write `for rows, cols in wl.tile([m, n])`",
        )
    for bound in (*lower, *upper):
        if isinstance(bound, bool) or not isinstance(bound, (int, RuntimeInteger)):
            emitter.fail(
                ArgumentError,
                f"wl.tile loops over ints, not {describe(bound)}",
                "use a size, such as x.size(0)",
            )
    dims = []
    for variable, low, high, size in zip(targets, lower, upper, sizes, strict=True):
        name = emitter.dims.unique_name(variable)
        _fix_block_size(emitter, name, size)
        dims.append(DimSpec(variable, name, low, high))
    return LoopSpec(dims, targets)


def _fix_block_size(emitter: Emitter, name: str, size: Any) -> None:
    match size:
        case None:
            return
        case BlockSize():
            emitter.dims.block_sizes[name] = size.default
        case int() if not isinstance(size, bool) and size > 0:
            emitter.dims.block_sizes[name] = size
        case _:
            emitter.fail(
                ArgumentError,
                f"a block size is a positive constant, not {describe(size)}",
                "use an int, a wl.constexpr parameter or wl.register_block_size(...)",
            )


def make_index(emitter: Emitter, spec: DimSpec, begin: Value, extent: Value) -> TileIndex:
    """The value of a loop's variable."""
    size = RuntimeInteger(extent)
    dim = Dim(spec.name, size)
    emitter.dims.name_size(size, dim)
    return TileIndex(spec.variable, dim, RuntimeInteger(begin), spec.lower, spec.upper)


class CarryingLoop:
    """A `tile.for` under construction, with the variables that it carries."""

    def __init__(
        self, emitter: Emitter, spec: DimSpec, carried: list[str], variables: dict[str, Any]
    ) -> None:
        self.emitter = emitter
        self.spec = spec
        self.carried = carried
        self.variables = variables
        self._templates: list[Any] = []
        self._operation: Operation | None = None

    def enter(self) -> TileIndex:
        """Makes the operation, goes into its body and gives the variables their values there."""
        emitter, module = self.emitter, self.emitter.module
        initial: list[Value] = []
        for name in self.carried:
            template = _template(emitter, name, self.variables[name])
            self._templates.append(template)
            _flatten(template, initial)
        types: list[Type] = [value.type for value in initial]
        index = emitter.integers.type
        lower = emitter.integers.value(self.spec.lower)
        upper = emitter.integers.value(self.spec.upper)
        self._operation = module.create(
            "tile.for",
            [[lower], [upper], initial],
            types,
            {"dim": self.spec.name},
            [index, index, *types],
        )
        module.enter(self._operation)
        begin, extent, *arguments = self._operation.arguments
        self._give(arguments)
        return make_index(emitter, self.spec, begin, extent)

    def _give(self, values: list[Value]) -> None:
        remaining = iter(values)
        for name, template in zip(self.carried, self._templates, strict=True):
            self.variables[name] = _rebuild(template, remaining)

    def finish(self) -> None:
        """Ends the body with the next values.

        Raises:
            CarriedValueError: one differs in shape or dtype from the initial one
        """
        values: list[Value] = []
        for name, template in zip(self.carried, self._templates, strict=True):
            _next_values(self.emitter, name, template, self.variables[name], values)
        self.emitter.module.create("tile.yield", values, [])

    def leave(self) -> None:
        """Goes out of the body; the variables then have the last values."""
        if self._operation is not None:
            self.emitter.module.leave()
            self._give(self._operation.results)


def _template(emitter: Emitter, name: str, value: Any) -> Any:
    """The initial value with everything in it a value of the module."""
    match value:
        case Tile() | RuntimeInteger() | RuntimeFloat() | RuntimeBool():
            return value
        case bool():
            return RuntimeBool(emitter.number(value, torch.bool))
        case int():
            return RuntimeInteger(emitter.integers.value(value))
        case float():
            return RuntimeFloat(emitter.number(value, emitter.scalar_dtype), emitter.scalar_dtype)
        case tuple():
            return tuple(_template(emitter, name, part) for part in value)
    emitter.fail(
        CarriedValueError,
        f"`{name}` is {describe(value)} before the loop and is assigned in it",
        "loops carry tiles, numbers and tuples of them; use another name inside the loop",
    )


def _flatten(template: Any, values: list[Value]) -> None:
    if isinstance(template, tuple):
        for part in template:
            _flatten(part, values)
    else:
        values.append(template.value)


def _rebuild(template: Any, values: Any) -> Any:
    match template:
        case tuple():
            return tuple(_rebuild(part, values) for part in template)
        case Tile():
            return Tile(next(values), template.dims, template.dtype)
        case RuntimeFloat():
            return RuntimeFloat(next(values), template.dtype)
    return type(template)(next(values))


def _next_values(
    emitter: Emitter, name: str, template: Any, value: Any, values: list[Value]
) -> None:
    match template, value:
        case _, Failed():
            raise AlreadyReportedError
        case Tile(), Tile() if (
            template.dtype == value.dtype
            and len(template.dims) == len(value.dims)
            and all(a.same(b) for a, b in zip(template.dims, value.dims, strict=True))
        ):
            values.append(value.value)
            return
        case tuple(), tuple() if len(template) == len(value):
            for part, next_part in zip(template, value, strict=True):
                _next_values(emitter, name, part, next_part, values)
            return
        case RuntimeInteger(), int() | RuntimeInteger() if not isinstance(value, bool):
            values.append(emitter.integers.value(value))
            return
        case RuntimeFloat(), int() | float() | RuntimeInteger() | RuntimeFloat():
            values.append(emitter.number(value, template.dtype))
            return
        case RuntimeBool(), bool() | RuntimeBool():
            values.append(emitter.number(value, torch.bool))
            return
    if isinstance(template, Tile) and isinstance(value, Tile) and template.dtype != value.dtype:
        remedy = f"convert with .to({template.dtype}), or start from a tile of {value.dtype}"
    else:
        remedy = "give it its shape and dtype before the loop with wl.full(...) or wl.zeros(...)"
    emitter.fail(
        CarriedValueError,
        f"`{name}` is {describe(template)} before the loop and {describe(value)} after a step",
        remedy,
    )
