# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The module under construction, with what every operation needs: conversion and broadcasting."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

import torch

from wavetile.errors import DTypeError, ShapeError, SourceLocation, WavetileError
from wavetile.tracing.arithmetic import Arithmetic, tile_type
from wavetile.tracing.dtypes import (
    BY_DTYPE,
    FLOAT8,
    PACKED4,
    SCALE8,
    UNSIGNED,
    Operand,
    number_dtype,
    result_dtype,
    wrapped,
)
from wavetile.tracing.integers import IntegerEmitter
from wavetile.tracing.values import (
    UNIT,
    Dim,
    Integer,
    NeedsConstantError,
    RuntimeBool,
    RuntimeFloat,
    RuntimeInteger,
    Tile,
    TileIndex,
    describe,
    in_this_call,
)

if TYPE_CHECKING:
    from wavetile._C import Operation, TileModule, Type, Value
    from wavetile.config import Settings
    from wavetile.language import BlockSize


def _nobody_traces(function: Any, args: Sequence[Any]) -> Any:
    raise AssertionError("functions are called while a kernel is traced")


Number = bool | int | float | RuntimeInteger | RuntimeFloat | RuntimeBool


class DimTable:
    """Names of dimensions, each used once, and the dimensions of sizes."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._by_size: dict[object, Dim] = {}
        self._named: list[RuntimeInteger] = []
        #: Block sizes that the kernel fixes, by name.
        self.block_sizes: dict[str, int] = {}
        #: Block sizes within limits, of `wl.register_block_size`, by name.
        self.registered: dict[str, BlockSize] = {}
        #: Names without a dimension here, with the one that stands in: sizes that are equal have
        #: one dimension, and a size of 1 has none.
        self.replaced: dict[str, str | None] = {}
        #: The dimensions of the loops around the current place that have a registered block size.
        self.loops: dict[BlockSize, Dim] = {}
        #: Names of dimensions of registered block sizes that a shape had before a loop.
        self.planned: dict[BlockSize, str] = {}
        #: The variable of the first loop that has a registered block size.
        self.variable_of: Callable[[BlockSize], str] = lambda size: "block"
        #: Where the dimensions of loops come from: line and column of the loop, and which it is.
        self.places: dict[str, tuple[int, int, int]] = {}
        #: The dimensions of full slices and sizes, in their order.
        self.rows: list[str] = []
        #: The variable of each loop over blocks around the current place, by its dimension's name.
        self.blocks: dict[str, TileIndex] = {}
        #: Which elements exist along a dimension that ends at another index in each row.
        self.jagged: dict[str, Tile] = {}

    @property
    def names(self) -> list[str]:
        """Every name, sorted."""
        return sorted(self._taken)

    def unique_name(self, wanted: str) -> str:
        """`wanted`, or it with a number, that no other dimension has."""
        base = self._valid_name(wanted)
        name, number = base, 1
        while name in self._taken:
            number += 1
            name = f"{base}_{number}"
        self._taken.add(name)
        return name

    @staticmethod
    def _valid_name(wanted: str) -> str:
        base = "".join(c if c.isascii() and (c.isalnum() or c == "_") else "_" for c in wanted)
        return f"dim_{base}" if not base or base[0].isdigit() or base == "_" else base

    def of_size(self, size: Integer, wanted: str) -> Dim:
        """The dimension of a full slice or of a tile of this size, always the same for a size."""
        if isinstance(size, int) and size == 1:
            self.replaced[self._valid_name(wanted)] = None
            return UNIT
        key: object = size if isinstance(size, int) else id(size)
        if key not in self._by_size:
            self._by_size[key] = Dim(self.unique_name(wanted), size)
            self.rows.append(str(self._by_size[key].name))
        dim = self._by_size[key]
        self.replaced[self._valid_name(wanted)] = dim.name
        return dim

    def of_constant(self, size: int) -> Dim:
        """The dimension of a constant size, whose block holds all of it."""
        dim = self.of_size(size, f"size_{size}")
        if dim.name is not None:
            # Layouts spread multiples of eight, or powers of two, over lanes.
            block = 1 << (size - 1).bit_length() if size < 8 else -(-size // 8) * 8
            self.block_sizes.setdefault(dim.name, block)
        return dim

    def block_of(self, dim: Dim) -> int | None:
        """The block size that the kernel gives the dimension of a loop around this place."""
        if dim.name is None or dim.name not in self.blocks:
            return None
        registered = self.registered.get(dim.name)
        return self.block_sizes.get(dim.name) if registered is None else int(registered)

    def of_block_size(self, size: BlockSize) -> Dim:
        """The dimension of a registered block size: that of its loop, which may come later."""
        if size in self.loops:
            return self.loops[size]
        if size not in self.planned:
            name = self.unique_name(self.variable_of(size))
            self.planned[size] = name
            self.registered[name] = size
        return Dim(self.planned[size], int(size), whole=True)

    def name_size(self, size: RuntimeInteger, dim: Dim) -> None:
        """Makes `size` stand for a dimension in shapes: its extent or block size."""
        self._by_size[id(size)] = dim
        self._named.append(size)  # an id is only unique while its object lives


class Emitter:
    """Makes operations at the current place of the module and of the source."""

    def __init__(
        self,
        module: TileModule,
        settings: Settings,
        size_name: Callable[[str, int, Integer], str] = lambda tensor, dim, size: (
            f"{tensor}_dim{dim}"
        ),
    ) -> None:
        """`size_name` says what the dimension of a full slice is called, by the tensor's name,
        dimension and size."""
        self.module = module
        self.size_name = size_name
        #: Bounds of slices that were computed, by what they were computed from.
        self.slices: dict[object, tuple[Any, ...]] = {}
        self.fast_math = settings.fast_math
        self.location = SourceLocation("", 0)
        self.dims = DimTable()
        self.integers = IntegerEmitter(module)
        #: Calls a function of the kernel's author; whoever traces the kernel sets it.
        self.call: Callable[[Any, Sequence[Any]], Any] = _nobody_traces
        self._required: set[tuple[Integer, Integer, str]] = set()
        #: Whether tiles without dimensions are plain numbers, as in the body of a scan.
        self._numbers = False
        #: The dtype of the kernel's float arguments.
        self.scalar_dtype = torch.float32

    @contextmanager
    def before_loops(self) -> Iterator[None]:
        """Operations made meanwhile come before the top-level loop that is being made."""
        self.module.enter_before_loops()
        try:
            yield
        finally:
            self.module.leave()

    # -- Errors

    def fail(self, kind: type[WavetileError], message: str, remedy: str | None = None) -> NoReturn:
        """Raises a mistake at the current place of the source."""
        raise kind(message, location=self.location, remedy=remedy)

    # -- Types and constants

    def tile_type(self, dims: Sequence[Dim], dtype: torch.dtype) -> Type:
        """The type of a tile."""
        if self._numbers and not dims:
            return self.module.type(BY_DTYPE[dtype].text)
        return tile_type(self.module, dims, dtype)

    def arithmetic(self, dims: Sequence[Dim] | None, dtype: torch.dtype) -> Arithmetic:
        """Operations on tiles of a shape, or on numbers."""
        if self._numbers and not dims:
            dims = None
        return Arithmetic(self.module, dims, dtype, self.fast_math)

    def number(self, number: Number, dtype: torch.dtype) -> Value:
        """A Python number as a value of an element type."""
        target = self.module.type(BY_DTYPE[dtype].text)
        match number:
            case bool() | int() | float():
                if dtype is SCALE8:
                    encoded = torch.tensor(float(number)).to(SCALE8).view(torch.int8)
                    return self.module.constant(target, int(encoded))
                if dtype is PACKED4:
                    self.fail(DTypeError, f"a number cannot become {dtype}, as in torch")
                if not dtype.is_floating_point:
                    number = self._integer_constant(int(number), dtype)
                return self.module.constant(target, number)
            case RuntimeInteger():
                value = self.module.value(
                    "arith.index_cast", [number.value], self.module.type("i64")
                )
                return self.convert(value, None, torch.int64, dtype)
            case RuntimeFloat():
                return self.convert(number.value, None, number.dtype, dtype)
            case RuntimeBool():
                return self.convert(number.value, None, torch.bool, dtype)

    def _integer_constant(self, number: int, dtype: torch.dtype) -> int:
        """The number if the dtype holds it; unsigned ones wrap negative numbers, as in torch."""
        if dtype is torch.bool:
            return int(bool(number))
        info = torch.iinfo(dtype)
        if not (-info.max if dtype in UNSIGNED else info.min) <= number <= info.max:
            self.fail(
                DTypeError,
                f"the number {number} does not fit {dtype}",
                "convert the tile first, such as v.to(torch.int64)",
            )
        return wrapped(number, dtype)

    def full(self, dims: Sequence[Dim], number: Number, dtype: torch.dtype) -> Tile:
        """A tile with a number in every element."""
        if self._numbers and not dims:
            return Tile(self.number(number, dtype), (), dtype)
        value = self.module.value(
            "tile.full", [self.number(number, dtype)], self.tile_type(dims, dtype)
        )
        return Tile(value, tuple(dims), dtype)

    def zero_bits(self, dims: Sequence[Dim], dtype: torch.dtype) -> Tile:
        """A tile with every bit 0, of any dtype."""
        stored = torch.int8 if dtype in (PACKED4, SCALE8) else dtype
        return Tile(self.full(dims, 0, stored).value, tuple(dims), dtype)

    @contextmanager
    def function_body(self, operation: Operation) -> Iterator[list[Value]]:
        """Emits into the body of an operation on numbers, which stand for tiles there.

        Gives the arguments of the body.
        """
        self.module.enter(operation)
        outside, self._numbers = self._numbers, True
        try:
            yield list(operation.arguments)
        finally:
            self._numbers = outside
            self.module.leave()

    def scalar(self, tile: Tile) -> RuntimeInteger | RuntimeFloat | RuntimeBool:
        """The element of a tile without dimensions as a Python number."""
        element = self.module.type(BY_DTYPE[tile.dtype].text)
        value = self.module.value("tile.scalar", [tile.value], element)
        if tile.dtype is torch.bool:
            return RuntimeBool(value)
        if tile.dtype.is_floating_point:
            value = self.convert(value, None, tile.dtype, self.scalar_dtype)
            return RuntimeFloat(value, self.scalar_dtype)
        value = self.convert(value, None, tile.dtype, torch.int64)
        return RuntimeInteger(self.module.value("arith.index_cast", [value], self.integers.type))

    # -- Conversion

    def cast(self, tile: Tile, dtype: torch.dtype) -> Tile:
        """The tile with another element type, converted as torch's `.to` does."""
        if tile.dtype == dtype:
            return tile
        value = self.convert(tile.value, tile.dims, tile.dtype, dtype)
        return Tile(value, tile.dims, dtype)

    def convert(
        self, value: Value, dims: Sequence[Dim] | None, source: torch.dtype, target: torch.dtype
    ) -> Value:
        """A tile's or number's value in another element type."""
        if source == target:
            return value
        for dtype in (source, target):
            if dtype not in BY_DTYPE:
                self.unsupported_dtype(dtype)
        if PACKED4 in (source, target):
            self.fail(
                DTypeError,
                f"{PACKED4} cannot be converted, as in torch: each element holds two numbers",
                "unpack it with wl.unpack_fp4, or load and store it as it is",
            )
        if SCALE8 in (source, target):
            return self._convert_scale(value, dims, source, target)
        if target is torch.bool:
            a = self.arithmetic(dims, source)
            return a.compare("ne", value, a.constant(0))
        if source.is_floating_point and target.is_floating_point:
            return self._convert_float(value, dims, source, target)
        narrow = torch.float16, torch.bfloat16, *FLOAT8
        if source.is_floating_point:
            if source in narrow:
                value = self.convert(value, dims, source, torch.float32)
            # Narrow integers keep the last bits, as in torch.
            wide = torch.int64 if target in (torch.int64, torch.uint32) else torch.int32
            value = self._conversion("arith.fptosi", value, dims, wide)
            return self.convert(value, dims, wide, target)
        if target in narrow:
            value = self.convert(value, dims, source, torch.float32)
            return self.convert(value, dims, torch.float32, target)
        signed = "u" if source is torch.bool or source in UNSIGNED else "s"
        if target.is_floating_point:
            return self._conversion(f"arith.{signed}itofp", value, dims, target)
        if source is torch.bool or target.itemsize > source.itemsize:
            return self._conversion(f"arith.ext{signed}i", value, dims, target)
        if target.itemsize == source.itemsize:
            return value
        return self._conversion("arith.trunci", value, dims, target)

    def _convert_scale(
        self, value: Value, dims: Sequence[Dim] | None, source: torch.dtype, target: torch.dtype
    ) -> Value:
        """To or from powers of two in 8 bits: the exponent of f32, rounded as torch does."""
        a = self.arithmetic(dims, torch.int32)
        if target is SCALE8:
            value = self.convert(value, dims, source, torch.float32)
            bits = self._conversion("arith.bitcast", value, dims, torch.int32)
            exponent = a.bit_and(a.shift_right(bits, a.constant(23)), a.constant(0xFF))
            rest = a.bit_and(bits, a.constant(0x7FFFFF))
            half = a.constant(0x400000)
            # From half way on to the next power; half way itself only if that is not the first.
            above = a.of(torch.bool).bit_or(
                a.compare("gt", rest, half),
                a.of(torch.bool).bit_and(
                    a.compare("eq", rest, half), a.compare("gt", exponent, a.constant(0))
                ),
            )
            finite = a.compare("ne", exponent, a.constant(0xFF))
            up = a.of(torch.bool).bit_and(above, finite)
            code = a.add(exponent, a.select(up, a.constant(1), a.constant(0)))
            return self._conversion("arith.trunci", code, dims, torch.int8)
        code = self._conversion("arith.extui", value, dims, torch.int32)
        bits = self._shifted_exponent(a, code)
        number = self._conversion("arith.bitcast", bits, dims, torch.float32)
        return self.convert(number, dims, torch.float32, target)

    @staticmethod
    def _shifted_exponent(a: Arithmetic, code: Value) -> Value:
        """The bits of f32 with an exponent; the smallest power is a denormal, the last NaN."""
        bits = a.shift_left(code, a.constant(23))
        bits = a.select(a.compare("eq", code, a.constant(0)), a.constant(0x400000), bits)
        return a.select(a.compare("eq", code, a.constant(0xFF)), a.constant(0x7F800001), bits)

    def _convert_float(
        self, value: Value, dims: Sequence[Dim] | None, source: torch.dtype, target: torch.dtype
    ) -> Value:
        small = source.itemsize < target.itemsize
        # Not to and from f32 at once: through it, where torch rounds too.
        if torch.float32 not in (source, target) and target.itemsize <= source.itemsize:
            value = self.convert(value, dims, source, torch.float32)
            return self.convert(value, dims, torch.float32, target)
        if target is torch.float8_e4m3fn:
            # As torch does: this type has no infinity, what is too large becomes the largest.
            a = self.arithmetic(dims, source)
            value = a.maximum(a.minimum(value, a.constant(448.0)), a.constant(-448.0))
        return self._conversion("arith.extf" if small else "arith.truncf", value, dims, target)

    def _conversion(
        self, name: str, value: Value, dims: Sequence[Dim] | None, target: torch.dtype
    ) -> Value:
        if dims is None:
            return self.module.value(name, [value], self.module.type(BY_DTYPE[target].text))
        return self.module.value(name, [value], self.tile_type(dims, target))

    def unsupported_dtype(self, dtype: torch.dtype) -> NoReturn:
        """Raises that device code does not have a dtype."""
        self.fail(
            DTypeError,
            f"{dtype} is not supported in device code yet",
            "supported are " + ", ".join(str(row.dtype) for row in BY_DTYPE.values()),
        )

    def bitcast(self, tile: Tile, dtype: torch.dtype) -> Tile:
        """The bits of a tile as elements of another dtype of the same size."""
        value = self._conversion("arith.bitcast", tile.value, tile.dims, dtype)
        return Tile(value, tile.dims, dtype)

    # -- Shapes

    def iota(self, dim: Dim) -> Tile:
        """0, 1, ... along a dimension, as i64."""
        value = self.module.value("tile.iota", [], self.tile_type([dim], torch.int64))
        return Tile(value, (dim,), torch.int64)

    def indices_from(self, begin: Integer, dim: Dim) -> Tile:
        """begin, begin + 1, ... along a dimension, as i64."""
        first = self.full((dim,), begin, torch.int64)
        arithmetic = self.arithmetic((dim,), torch.int64)
        return Tile(arithmetic.add(self.iota(dim).value, first.value), (dim,), torch.int64)

    def expand_dims(self, tile: Tile, axis: int) -> Tile:
        """Inserts a dimension of size one before `axis`."""
        dims = (*tile.dims[:axis], UNIT, *tile.dims[axis:])
        value = self.module.value(
            "tile.expand_dims", [tile.value], self.tile_type(dims, tile.dtype), {"axis": axis}
        )
        return Tile(value, dims, tile.dtype)

    def squeeze_dims(self, tile: Tile, axis: int) -> Tile:
        """Removes dimension `axis`, which has size one."""
        dims = (*tile.dims[:axis], *tile.dims[axis + 1 :])
        value = self.module.value(
            "tile.squeeze_dims", [tile.value], self.tile_type(dims, tile.dtype), {"axis": axis}
        )
        return Tile(value, dims, tile.dtype)

    def require_constants(self, *integers: Integer) -> None:
        """Compiles for the values that these have in this call, if their arguments say them."""
        known = [n.call for n in integers if isinstance(n, RuntimeInteger)]
        if known and all(value is not None for value in known):
            raise NeedsConstantError(frozenset().union(*(v.arguments for v in known if v)))

    def require_at_most(self, small: Integer, large: Integer, reason: str) -> None:
        """The code serves calls only in which one int is not larger than another."""
        if small is large or (small, large, reason) in self._required:
            return
        self._required.add((small, large, reason))
        if isinstance(small, int) and isinstance(large, int):
            assert small <= large, "it holds in this call"
            return
        with self.before_loops():
            difference = self.integers.value(self.integers.sub(small, large))
            attributes = {"bound": 0, "reason": reason}
            self.module.create("tile.guard", [difference], [], attributes)

    def same(self, a: Dim, b: Dim) -> bool:
        """Whether two dimensions agree.

        Sizes that no more than happen to be equal in this call make the code one for these sizes.
        """
        if a.same(b):
            return True
        size = in_this_call(a.extent)
        if size is not None and size == in_this_call(b.extent):
            self.require_constants(a.extent, b.extent)
        return False

    def same_size(self, a: Integer, b: Integer) -> bool:
        """Whether two sizes are equal; if they are in this call only, the code is one for it."""
        if a is b or (isinstance(a, int) and isinstance(b, int)):
            return a == b
        if in_this_call(a) is None or in_this_call(a) != in_this_call(b):
            return False
        self.require_constants(a, b)
        return True

    def common_dims(self, tiles: Iterable[Tile]) -> tuple[Dim, ...]:
        """The shape to which tiles broadcast, by PyTorch's rules.

        Raises:
            ShapeError: there is none
        """
        tiles = list(tiles)
        rank = max((len(tile.dims) for tile in tiles), default=0)
        result = [UNIT] * rank
        for tile in tiles:
            for position, dim in enumerate(tile.dims, rank - len(tile.dims)):
                if dim.name is None or (dim.same(result[position]) and not result[position].whole):
                    continue
                if result[position].name is not None and not self.same(dim, result[position]):
                    self._broadcast_failure(tiles, position - rank, result[position], dim)
                result[position] = dim
        return tuple(result)

    def _broadcast_failure(self, tiles: list[Tile], axis: int, a: Dim, b: Dim) -> NoReturn:
        shapes = " and ".join(tile.shape_text for tile in tiles)
        sizes = [in_this_call(dim.extent) for dim in (a, b)]
        numbers = "" if None in sizes else f", which is {sizes[0]} and {sizes[1]} in this call"
        self.fail(
            ShapeError,
            f"shapes {shapes} do not broadcast: they differ in dimension {axis}{numbers}",
            "index with None to insert a dimension of size one, such as scale[:, None]; two"
            " dimensions agree if they come from the same loop or from the same size",
        )

    def broadcast(self, tile: Tile, dims: Sequence[Dim]) -> Tile:
        """The tile repeated along the dimensions of `dims` that it does not have."""
        own = tile
        while len(own.dims) < len(dims):
            own = self.expand_dims(own, 0)
        if all(a.same(b) for a, b in zip(own.dims, dims, strict=True)):
            return own
        value = self.module.value("tile.broadcast", [own.value], self.tile_type(dims, own.dtype))
        return Tile(value, tuple(dims), own.dtype)

    # -- Promotion

    def promote(self, values: Iterable[Any]) -> torch.dtype:
        """PyTorch's result type of tiles and numbers.

        Raises:
            DTypeError: they have none
        """
        operands = []
        for value in values:
            match value:
                case Tile():
                    operands.append(Operand(value.dtype, 2 if value.dims else 1))
                case RuntimeInteger():
                    operands.append(Operand(torch.int64, 0))
                case RuntimeFloat():
                    operands.append(Operand(torch.get_default_dtype(), 0))
                case RuntimeBool():
                    operands.append(Operand(torch.bool, 0))
                case bool() | int() | float():
                    operands.append(Operand(number_dtype(value), 0))
                case _:
                    self.fail(DTypeError, f"expected a tile or a number, not {describe(value)}")
        try:
            return result_dtype(operands)
        except RuntimeError as error:
            self.fail(DTypeError, str(error), "convert one of them with .to(dtype)")
