# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops over tiles: their bounds, and the values that they carry from step to step."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wavetile.errors import ArgumentError
from wavetile.language import BlockSize
from wavetile.tracing import jagged
from wavetile.tracing.carried import CarriedValues
from wavetile.tracing.operations.reductions import reduce
from wavetile.tracing.values import (
    Dim,
    Integer,
    RuntimeBool,
    RuntimeInteger,
    Tile,
    TileIndex,
    describe,
)

if TYPE_CHECKING:
    from wavetile._C import Operation, Value
    from wavetile.tracing.emitter import Emitter


#: The name of dimensions whose blocks are single indices, which tiles do not have.
SINGLE = "_"


@dataclass(frozen=True)
class DimSpec:
    """One dimension of a loop.

    Attributes:
        variable: the Python variable
        name: the dimension's name in the module
        lower, upper: its bounds
        step: None for blocks; for single indices the distance between them
        size: the registered block size, if it has one
    """

    variable: str
    name: str
    lower: Integer
    upper: Integer
    step: Integer | None = None
    size: BlockSize | None = None

    def counted(self, emitter: Emitter) -> tuple[Value, Value]:
        """The bounds over which the module's loop counts."""
        integers = emitter.integers
        if self.step is None or (isinstance(self.step, int) and self.step == 1):
            return integers.value(self.lower), integers.value(self.upper)
        # Rounded towards minus infinity, so that a range without indices has no step.
        towards = -1 if isinstance(self.step, int) and self.step < 0 else 1
        length = integers.sub(self.upper, self.lower)
        raised = integers.add(length, integers.sub(self.step, towards))
        return integers.value(0), integers.value(integers.floor_divide(raised, self.step))


@dataclass(frozen=True)
class LoopSpec:
    """A loop of device code: its dimensions and the names that it assigns."""

    dims: list[DimSpec]
    targets: list[str]
    #: For each row the end of the only dimension, of `wl.jagged_tile`.
    ends: Tile | None = None


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


def _bound(emitter: Emitter, what: str, bound: Any, top_level: bool) -> Integer:
    """An int from an int or from a tile without dimensions.

    Raises:
        ArgumentError: it is neither, or a tile outside of all loops
    """
    if isinstance(bound, Tile) and not bound.dims and not bound.dtype.is_floating_point:
        if not top_level:
            integer = emitter.scalar(bound)
            if isinstance(integer, RuntimeInteger):
                return integer
        emitter.fail(
            ArgumentError,
            f"the bounds of a top-level loop are known before it runs, not {describe(bound)}",
            "read the number in host code, or make it a loop inside another one",
        )
    if isinstance(bound, bool) or not isinstance(bound, (int, RuntimeInteger)):
        emitter.fail(
            ArgumentError,
            f"{what} loops over ints, not {describe(bound)}",
            "use a size, such as x.size(0)",
        )
    return bound


def _check_counts(
    emitter: Emitter, what: str, node: ast.For, upper: Any, counts: dict[str, int]
) -> list[str]:
    """The loop's variables, one for each dimension.

    Raises:
        ArgumentError: their number is not that of the dimensions, or another number is not
    """
    dims = len(_several(upper))
    if not dims or any(count != dims for count in counts.values()):
        given = " and ".join(f"{count} {name}" for name, count in counts.items())
        emitter.fail(
            ArgumentError,
            f"{what} over {dims} dimension{'s' * (dims != 1)} with {given}",
            "give as many of them as there are dimensions",
        )
    targets = _target_names(node.target)
    many = isinstance(node.target, (ast.Tuple, ast.List))
    if targets is not None and not many and dims > 1:
        return [f"{targets[0]}_{position}" for position in range(dims)]
    if targets is None or len(targets) != dims or (many and not isinstance(upper, Sequence)):
        emitter.fail(
            ArgumentError,
            f"this loop needs {dims} variable{'s' * (dims > 1)}",
            "write `for rows, cols in wl.tile([m, n])`",
        )
    return targets


def loop_spec(
    emitter: Emitter, node: ast.For, args: list[Any], kwargs: dict[str, Any], top_level: bool
) -> LoopSpec:
    """Reads the arguments of wl.tile.

    Raises:
        ArgumentError: they do not say what to loop over
    """
    block_sizes = kwargs.pop("block_size", args.pop() if len(args) == 3 else None)
    args += [kwargs.pop(name) for name in ("begin_or_end", "end") if name in kwargs]
    if args[1:] == [None]:
        args.pop()
    if kwargs or not 1 <= len(args) <= 2:
        unknown = f" `{next(iter(kwargs))}`" if kwargs else f" {len(args)} positional arguments"
        emitter.fail(
            ArgumentError,
            f"wl.tile does not take{unknown}",
            "write wl.tile(end), wl.tile(begin, end, block_size) or wl.tile([m, n]); block_size="
            " is for a size that is fixed",
        )
    upper = _several(args[-1])
    lower = _several(args[0]) if len(args) == 2 else [0] * len(upper)
    sizes = [None] * len(upper) if block_sizes is None else _several(block_sizes)
    counts = {"lower bounds": len(lower), "block sizes": len(sizes)}
    targets = _check_counts(emitter, "wl.tile", node, args[-1], counts)
    dims: list[DimSpec] = []
    for variable, low, high, size in zip(targets, lower, upper, sizes, strict=True):
        registered = size if isinstance(size, BlockSize) else None
        planned = emitter.dims.planned.get(registered) if registered is not None else None
        name = planned or emitter.dims.unique_name(variable)
        emitter.dims.places[name] = (node.iter.lineno, node.iter.col_offset, len(dims))
        _fix_block_size(emitter, name, size)
        lowest, end = (_bound(emitter, "wl.tile", bound, top_level) for bound in (low, high))
        dims.append(DimSpec(variable, name, lowest, end, size=registered))
    return LoopSpec(dims, _target_names(node.target) or [])


def grid_spec(
    emitter: Emitter, node: ast.For, args: list[Any], kwargs: dict[str, Any], top_level: bool
) -> LoopSpec:
    """Reads the arguments of wl.grid.

    Raises:
        ArgumentError: they do not say what to loop over
    """
    steps = kwargs.pop("step", args.pop() if len(args) == 3 else None)
    args += [kwargs.pop(name) for name in ("begin_or_end", "end") if name in kwargs]
    if args[1:] == [None]:
        args.pop()
    if kwargs or not 1 <= len(args) <= 2:
        emitter.fail(
            ArgumentError,
            f"wl.grid does not take `{next(iter(kwargs))}`" if kwargs else "wl.grid needs an end",
            "write wl.grid(end), wl.grid(begin, end, step) or wl.grid([m, n])",
        )
    upper = _several(args[-1])
    lower = _several(args[0]) if len(args) == 2 else [0] * len(upper)
    step = [1] * len(upper) if steps is None else _several(steps)
    counts = {"lower bounds": len(lower), "steps": len(step)}
    targets = _check_counts(emitter, "wl.grid", node, args[-1], counts)
    dims = []
    for variable, *numbers in zip(targets, lower, upper, step, strict=True):
        bounds = [_bound(emitter, "wl.grid", number, top_level) for number in numbers]
        low, high, by = bounds
        dims.append(DimSpec(variable, SINGLE, low, high, _check_step(emitter, by)))
    return LoopSpec(dims, _target_names(node.target) or [])


def jagged_spec(
    emitter: Emitter, node: ast.For, args: list[Any], kwargs: dict[str, Any]
) -> LoopSpec:
    """Reads the argument of wl.jagged_tile.

    Raises:
        ArgumentError: it is no tile of ends
    """
    args += [kwargs.pop(name) for name in ("parent",) if name in kwargs]
    if kwargs or len(args) != 1 or not isinstance(node.target, ast.Name):
        emitter.fail(
            ArgumentError,
            "wl.jagged_tile takes a tile of ends and has one variable",
            "write `for k in wl.jagged_tile(lengths)`",
        )
    ends = jagged.check_ends(emitter, args[0])
    name = emitter.dims.unique_name(node.target.id)
    highest = reduce(emitter, "maximum", ends, list(range(len(ends.dims))), keepdim=False)
    longest = emitter.scalar(highest)
    assert isinstance(longest, RuntimeInteger)
    spec = DimSpec(node.target.id, name, 0, emitter.integers.maximum(longest, 0))
    return LoopSpec([spec], [node.target.id], ends)


def range_spec(emitter: Emitter, node: ast.For, args: list[Any]) -> LoopSpec:
    """Reads the arguments of `range`.

    Raises:
        ArgumentError: they are no ints
    """
    if not 1 <= len(args) <= 3:
        emitter.fail(ArgumentError, f"range takes one to three ints, not {len(args)}")
    targets = _target_names(node.target)
    if targets is None or not isinstance(node.target, ast.Name):
        emitter.fail(ArgumentError, "a loop over range needs one variable")
    numbers = [_bound(emitter, "range", number, top_level=False) for number in args]
    lower, upper = numbers[:2] if len(numbers) > 1 else (0, numbers[0])
    step = _check_step(emitter, numbers[2] if len(numbers) == 3 else 1)
    return LoopSpec([DimSpec(targets[0], SINGLE, lower, upper, step)], targets)


def _check_step(emitter: Emitter, step: Integer) -> Integer:
    if not isinstance(step, int) or step == 0:
        emitter.fail(
            ArgumentError,
            f"a step is a constant int but 0, not {describe(step)}",
            "make it a constant with wl.constexpr or wl.specialize",
        )
    return step


def _fix_block_size(emitter: Emitter, name: str, size: Any) -> None:
    match size:
        case None:
            return
        case BlockSize():
            emitter.dims.registered[name] = size
        case int() if not isinstance(size, bool) and size > 0:
            emitter.dims.block_sizes[name] = size
        case _:
            emitter.fail(
                ArgumentError,
                f"a block size is a positive constant, not {describe(size)}",
                "use an int, a wl.constexpr parameter or wl.register_block_size(...)",
            )


def make_index(
    emitter: Emitter, spec: DimSpec, begin: Value, extent: Value
) -> TileIndex | RuntimeInteger:
    """The value of a loop's variable."""
    if spec.step is not None:
        number = emitter.integers.mul(RuntimeInteger(begin), spec.step)
        return RuntimeInteger(
            emitter.integers.value(
                number if spec.step == 1 else emitter.integers.add(spec.lower, number)
            )
        )
    size = RuntimeInteger(extent)
    dim = Dim(spec.name, size)
    emitter.dims.name_size(size, dim)
    if spec.size is not None:
        emitter.dims.loops[spec.size] = dim
    block = TileIndex(spec.variable, dim, RuntimeInteger(begin), spec.lower, spec.upper)
    emitter.dims.blocks[spec.name] = block
    return block


class CarryingLoop:
    """A `tile.for` under construction, with the variables that it carries."""

    def __init__(
        self, emitter: Emitter, spec: DimSpec, carried: list[str], variables: dict[str, Any]
    ) -> None:
        self.emitter = emitter
        self.spec = spec
        self._values = CarriedValues(emitter, carried, variables)
        self._operation: Operation | None = None

    def enter(self) -> TileIndex | RuntimeInteger:
        """Makes the operation, goes into its body and gives the variables their values there."""
        emitter, module = self.emitter, self.emitter.module
        types = self._values.types
        index = emitter.integers.type
        lower, upper = self.spec.counted(emitter)
        self._operation = module.create(
            "tile.for",
            [[lower], [upper], self._values.initial],
            types,
            {"dim": self.spec.name},
            [index, index, *types],
        )
        module.enter(self._operation)
        begin, extent, *arguments = self._operation.arguments
        self._values.give(arguments)
        return make_index(emitter, self.spec, begin, extent)

    def finish(self) -> None:
        """Ends the body with the next values.

        Raises:
            CarriedValueError: one differs in shape or dtype from the initial one
        """
        self.emitter.module.create("tile.yield", self._values.next(), [])

    def leave(self) -> None:
        """Goes out of the body; the variables then have the last values."""
        if self._operation is not None:
            self.emitter.module.leave()
            self.emitter.dims.blocks.pop(self.spec.name, None)
            self._values.give(self._operation.results)
        if self.spec.size is not None:
            self.emitter.dims.loops.pop(self.spec.size, None)


class CarryingWhile:
    """A `tile.while` under construction, with the variables that it carries."""

    def __init__(self, emitter: Emitter, carried: list[str], variables: dict[str, Any]) -> None:
        self.emitter = emitter
        self._values = CarriedValues(emitter, carried, variables)
        types = self._values.types
        self._operation = emitter.module.create(
            "tile.while", self._values.initial, types, bodies=[types, types]
        )
        self._inside = False

    def _enter(self, region: int) -> None:
        self.emitter.module.enter(self._operation, region)
        self._inside = True
        self._values.give(self._operation.arguments_of(region))

    def enter_condition(self) -> None:
        """Goes where the condition is computed."""
        self._enter(0)

    def enter_body(self, condition: RuntimeBool) -> None:
        """Ends the computation of the condition and goes into the body."""
        self.emitter.module.create("tile.yield", [condition.value], [])
        self.emitter.module.leave()
        self._enter(1)

    def finish(self) -> None:
        """Ends the body with the next values.

        Raises:
            CarriedValueError: one differs in shape or dtype from the initial one
        """
        self.emitter.module.create("tile.yield", self._values.next(), [])

    def leave(self) -> None:
        """Goes out of the loop; the variables then have the last values."""
        if self._inside:
            self.emitter.module.leave()
        self._values.give(self._operation.results)
