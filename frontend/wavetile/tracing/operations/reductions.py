# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations that combine elements along dimensions.

Each looks only at the elements that exist, whatever the block size. Sums, products and means of
16-bit floats are taken in f32 and rounded once, as PyTorch does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch

from wavetile.errors import ArgumentError, DTypeError
from wavetile.tracing import jagged
from wavetile.tracing.arithmetic import Arithmetic
from wavetile.tracing.dtypes import STORAGE_ONLY, UNSIGNED, compute_dtype, sum_dtype
from wavetile.tracing.operations.algebra import add, div, mul, sub
from wavetile.tracing.operations.pointwise import Promotion, pointwise
from wavetile.tracing.operations.registry import operation
from wavetile.tracing.operations.shapes import check_axis, check_tile
from wavetile.tracing.values import Integer, RuntimeFloat, Tile

if TYPE_CHECKING:
    from wavetile.tracing.emitter import Emitter

_KINDS = {"sum": 0, "product": 1, "maximum": 2, "minimum": 3, "and": 4, "or": 5}
_ARGUMENT_KINDS = {"maximum": 0, "minimum": 1}


def _axes(emitter: Emitter, name: str, dim: Any, rank: int) -> list[int]:
    if dim is None:
        return list(range(rank))
    dims = dim if isinstance(dim, Sequence) else [dim]
    return sorted({check_axis(emitter, name, one, rank) for one in dims}) or list(range(rank))


def _number_of(emitter: Emitter, tile: Tile, axes: list[int]) -> Integer:
    count: Integer = 1
    for axis in axes:
        jagged.refuse(emitter, "a mean", tile, axis)
        count = emitter.integers.mul(count, tile.dims[axis].extent)
    return count


def _identity(kind: str, dtype: torch.dtype) -> bool | int | float:
    """What combined with anything is that; of integers as signed ones."""
    if kind in ("maximum", "minimum"):
        if dtype.is_floating_point:
            return float("-inf" if kind == "maximum" else "inf")
        highest = (1 << (8 * dtype.itemsize - 1)) - 1
        return ~highest if kind == "maximum" else highest
    if kind == "and":
        return True if dtype is torch.bool else -1
    return 1 if kind == "product" else 0


def reduce(emitter: Emitter, kind: str, tile: Tile, axes: list[int], keepdim: bool) -> Tile:
    """Combines along dimensions in the tile's own dtype."""
    if tile.dtype is torch.bool:
        # The dialect compares integers as signed ones, of which one bit has 0 and -1.
        kind = {"maximum": "or", "minimum": "and"}.get(kind, kind)
    tile = jagged.filled(emitter, tile, axes, _identity(kind, tile.dtype))
    for axis in reversed(axes):
        dim = tile.dims[axis]
        if dim.name is None:
            tile = emitter.squeeze_dims(tile, axis)
            continue
        dims = (*tile.dims[:axis], *tile.dims[axis + 1 :])
        attributes: dict[str, Any] = {
            "kind": emitter.module.attribute(f"{_KINDS[kind]} : i32"),
            "axis": axis,
        }
        reassociates = kind in ("sum", "product") and tile.dtype.is_floating_point
        if reassociates and emitter.fast_math:
            attributes["reassociate"] = None
        value = emitter.module.value(
            "tile.reduce",
            [tile.value, emitter.integers.value(dim.extent)],
            emitter.tile_type(dims, tile.dtype),
            attributes,
        )
        tile = Tile(value, dims, tile.dtype)
    if keepdim:
        for axis in axes:
            tile = emitter.expand_dims(tile, axis)
    return tile


def in_signed_order(emitter: Emitter, tile: Tile) -> Tile:
    """Unsigned integers with the top bit flipped, so that signed ones are in their order; or back.

    The dialect's reductions compare integers as signed ones.
    """
    if tile.dtype not in UNSIGNED:
        return tile
    top = -(1 << (8 * tile.dtype.itemsize - 1))
    a = emitter.arithmetic(tile.dims, tile.dtype)
    return Tile(a.bit_xor(tile.value, a.constant(top)), tile.dims, tile.dtype)


def _reduction(
    emitter: Emitter, name: str, kind: str, input: Any, dim: Any, keepdim: Any, dtype: torch.dtype
) -> Tile:
    """Reduces in the compute type of `dtype`, to which the result is rounded."""
    tile = check_tile(emitter, name, input)
    if tile.dtype in STORAGE_ONLY:
        emitter.fail(
            DTypeError,
            f"{name} is not defined for {tile.dtype}, as in torch",
            "convert first, such as v.to(torch.float32)",
        )
    if not isinstance(keepdim, bool):
        emitter.fail(ArgumentError, f"{name}: keepdim is a constant bool")
    axes = _axes(emitter, name, dim, len(tile.dims))
    wide = emitter.cast(tile, compute_dtype(dtype))
    if kind in ("maximum", "minimum"):
        wide = in_signed_order(emitter, wide)
        result = in_signed_order(emitter, reduce(emitter, kind, wide, axes, keepdim))
        return emitter.cast(result, dtype)
    return emitter.cast(reduce(emitter, kind, wide, axes, keepdim), dtype)


@operation("torch.sum", torch.sum, methods=("sum",))
def sum_(
    emitter: Emitter, input: Any, dim: Any = None, keepdim: Any = False, *, dtype: Any = None
) -> Tile:
    """The sum; of integers and bool as i64."""
    tile = check_tile(emitter, "torch.sum", input)
    dtype = sum_dtype(tile.dtype) if dtype is None else dtype
    return _reduction(emitter, "torch.sum", "sum", input, dim, keepdim, dtype)


@operation("torch.prod", torch.prod, methods=("prod",))
def prod(
    emitter: Emitter, input: Any, dim: Any = None, keepdim: Any = False, *, dtype: Any = None
) -> Tile:
    """The product; of integers and bool as i64."""
    tile = check_tile(emitter, "torch.prod", input)
    dtype = sum_dtype(tile.dtype) if dtype is None else dtype
    return _reduction(emitter, "torch.prod", "product", input, dim, keepdim, dtype)


@operation("torch.amax", torch.amax, methods=("amax",))
def amax(emitter: Emitter, input: Any, dim: Any = None, keepdim: Any = False) -> Tile:
    """The largest element; NaN if one is."""
    dtype = check_tile(emitter, "torch.amax", input).dtype
    return _reduction(emitter, "torch.amax", "maximum", input, dim, keepdim, dtype)


@operation("torch.amin", torch.amin, methods=("amin",))
def amin(emitter: Emitter, input: Any, dim: Any = None, keepdim: Any = False) -> Tile:
    """The smallest element; NaN if one is."""
    dtype = check_tile(emitter, "torch.amin", input).dtype
    return _reduction(emitter, "torch.amin", "minimum", input, dim, keepdim, dtype)


@operation("torch.any", torch.any, methods=("any",))
def any_(emitter: Emitter, input: Any, dim: Any = None, keepdim: Any = False) -> Tile:
    """Whether an element is not zero."""
    truths = emitter.cast(check_tile(emitter, "torch.any", input), torch.bool)
    return _reduction(emitter, "torch.any", "or", truths, dim, keepdim, torch.bool)


@operation("torch.all", torch.all, methods=("all",))
def all_(emitter: Emitter, input: Any, dim: Any = None, keepdim: Any = False) -> Tile:
    """Whether no element is zero."""
    truths = emitter.cast(check_tile(emitter, "torch.all", input), torch.bool)
    return _reduction(emitter, "torch.all", "and", truths, dim, keepdim, torch.bool)


def check_floating(emitter: Emitter, name: str, input: Any) -> Tile:
    """The value if it is a tile of floats.

    Raises:
        DTypeError: it is one of something else
    """
    tile = check_tile(emitter, name, input)
    if not tile.dtype.is_floating_point:
        emitter.fail(
            DTypeError,
            f"{name} needs a floating-point tile, not {tile.dtype}, as in torch",
            "convert first, such as v.to(torch.float32)",
        )
    return tile


def float_result(emitter: Emitter, tile: Tile) -> Tile:
    """The tile; integers and bool as torch's default dtype."""
    dtype = tile.dtype if tile.dtype.is_floating_point else torch.get_default_dtype()
    return emitter.cast(tile, dtype)


def _as_float(emitter: Emitter, count: Integer, dtype: torch.dtype) -> float | RuntimeFloat:
    if isinstance(count, int):
        return float(count)
    return RuntimeFloat(emitter.number(count, dtype), dtype)


def _mean(emitter: Emitter, tile: Tile, axes: list[int], keepdim: bool) -> Tile:
    total = reduce(emitter, "sum", tile, axes, keepdim)
    count = _as_float(emitter, _number_of(emitter, tile, axes), tile.dtype)
    return div(emitter, total, count)


@operation("torch.mean", torch.mean, methods=("mean",))
def mean(
    emitter: Emitter, input: Any, dim: Any = None, keepdim: Any = False, *, dtype: Any = None
) -> Tile:
    """The mean: the sum divided by the number of elements."""
    if dtype is not None:
        input = emitter.cast(check_tile(emitter, "torch.mean", input), dtype)
    tile = check_floating(emitter, "torch.mean", input)
    axes = _axes(emitter, "torch.mean", dim, len(tile.dims))
    wide = emitter.cast(tile, compute_dtype(tile.dtype))
    return emitter.cast(_mean(emitter, wide, axes, keepdim), tile.dtype)


def _variance(
    emitter: Emitter, name: str, input: Any, dim: Any, correction: Any, keepdim: bool
) -> tuple[Tile, Tile]:
    """Variance and mean in the compute type, by the mean first and then its deviations."""
    tile = check_floating(emitter, name, input)
    axes = _axes(emitter, name, dim, len(tile.dims))
    wide = emitter.cast(tile, compute_dtype(tile.dtype))
    average = _mean(emitter, wide, axes, True)
    deviation = sub(emitter, wide, average)
    squares = pointwise(emitter, name, Promotion.COMMON, lambda a, x: a.mul(x, x), [deviation])
    total = reduce(emitter, "sum", squares, axes, keepdim)
    count = _number_of(emitter, tile, axes)
    if not isinstance(correction, int):
        emitter.fail(ArgumentError, f"{name}: correction is a constant int")
    divisor = emitter.integers.maximum(emitter.integers.sub(count, correction), 0)
    variance = div(emitter, total, _as_float(emitter, divisor, wide.dtype))
    if not keepdim:
        for axis in reversed(axes):
            average = emitter.squeeze_dims(average, axis)
    return variance, average


def _correction(unbiased: Any, correction: Any) -> Any:
    return correction if unbiased is None else int(bool(unbiased))


@operation("torch.var", torch.var, methods=("var",))
def var(
    emitter: Emitter,
    input: Any,
    dim: Any = None,
    unbiased: Any = None,
    keepdim: Any = False,
    *,
    correction: Any = 1,
) -> Tile:
    """The variance: squared deviations from the mean over the count less `correction`."""
    correction = _correction(unbiased, correction)
    variance, _ = _variance(emitter, "torch.var", input, dim, correction, keepdim)
    return emitter.cast(variance, input.dtype)


@operation("torch.std", torch.std, methods=("std",))
def std(
    emitter: Emitter,
    input: Any,
    dim: Any = None,
    unbiased: Any = None,
    keepdim: Any = False,
    *,
    correction: Any = 1,
) -> Tile:
    """The square root of the variance."""
    correction = _correction(unbiased, correction)
    variance, _ = _variance(emitter, "torch.std", input, dim, correction, keepdim)
    root = pointwise(emitter, "torch.std", Promotion.FLOAT, Arithmetic.sqrt, [variance])
    return emitter.cast(root, input.dtype)


@operation("torch.var_mean", torch.var_mean)
def var_mean(
    emitter: Emitter, input: Any, dim: Any = None, keepdim: Any = False, *, correction: Any = 1
) -> tuple[Tile, Tile]:
    """Variance and mean."""
    variance, average = _variance(emitter, "torch.var_mean", input, dim, correction, keepdim)
    return emitter.cast(variance, input.dtype), emitter.cast(average, input.dtype)


def indices_along(emitter: Emitter, tile: Tile, axis: int) -> Tile:
    """For each element its index along a dimension, as i64."""
    if tile.dims[axis].name is None:
        return emitter.full(tile.dims, 0, torch.int64)
    indices = emitter.iota(tile.dims[axis])
    for _ in range(len(tile.dims) - 1 - axis):
        indices = emitter.expand_dims(indices, len(indices.dims))
    return emitter.broadcast(indices, tile.dims)


def _arg_step(
    emitter: Emitter, kind: str, tile: Tile, indices: Tile, axis: int
) -> tuple[Tile, Tile]:
    """The extreme elements along a dimension, and which of `indices` they have."""
    along = tile.dims[axis]
    if along.name is None:
        return emitter.squeeze_dims(tile, axis), emitter.squeeze_dims(indices, axis)
    dims = (*tile.dims[:axis], *tile.dims[axis + 1 :])
    operation_ = emitter.module.create(
        "tile.arg_reduce",
        [tile.value, indices.value, emitter.integers.value(along.extent)],
        [emitter.tile_type(dims, tile.dtype), emitter.tile_type(dims, torch.int64)],
        {"kind": emitter.module.attribute(f"{_ARGUMENT_KINDS[kind]} : i32"), "axis": axis},
    )
    value, index = operation_.results
    return Tile(value, dims, tile.dtype), Tile(index, dims, torch.int64)


def _arg_reduce(
    emitter: Emitter, name: str, kind: str, input: Any, dim: Any, keepdim: bool
) -> tuple[Tile, Tile]:
    """The extreme elements along a dimension and their indices; of all, in row-major order."""
    tile = check_tile(emitter, name, input)
    if tile.dtype == torch.bool or tile.dtype in STORAGE_ONLY:
        emitter.fail(
            DTypeError,
            f"{name} is not defined for {tile.dtype}",
            "convert first, such as v.to(torch.int32) or v.to(torch.float32)",
        )
    rank = len(tile.dims)
    axes = list(range(rank)) if dim is None else [check_axis(emitter, name, dim, rank)]
    value = in_signed_order(emitter, emitter.cast(tile, compute_dtype(tile.dtype)))
    if len(axes) == 1 and tile.dims[axes[0]].name in emitter.dims.jagged:
        # Of equal elements the first counts, and those that exist come first.
        value = jagged.filled(emitter, value, axes, _identity(kind, value.dtype))
    else:
        for axis in axes:
            jagged.refuse(emitter, name, tile, axis)
    index = indices_along(emitter, tile, axes[-1])
    size = tile.dims[axes[-1]].extent
    value, index = _arg_step(emitter, kind, value, index, axes[-1])
    for axis in reversed(axes[:-1]):
        outer = mul(emitter, indices_along(emitter, value, axis), size)
        value, index = _arg_step(emitter, kind, value, add(emitter, outer, index), axis)
        size = emitter.integers.mul(size, tile.dims[axis].extent)
    if keepdim:
        for axis in axes:
            value, index = emitter.expand_dims(value, axis), emitter.expand_dims(index, axis)
    return emitter.cast(in_signed_order(emitter, value), tile.dtype), index


@operation("torch.argmax", torch.argmax, methods=("argmax",))
def argmax(emitter: Emitter, input: Any, dim: Any = None, keepdim: Any = False) -> Tile:
    """The index of the largest element, the first of equal ones; NaN counts as largest."""
    return _arg_reduce(emitter, "torch.argmax", "maximum", input, dim, keepdim)[1]


@operation("torch.argmin", torch.argmin, methods=("argmin",))
def argmin(emitter: Emitter, input: Any, dim: Any = None, keepdim: Any = False) -> Tile:
    """The index of the smallest element, the first of equal ones; NaN counts as smallest."""
    return _arg_reduce(emitter, "torch.argmin", "minimum", input, dim, keepdim)[1]


def _extreme(emitter: Emitter, name: str, kind: str, input: Any, dim: Any, keepdim: Any) -> Any:
    if isinstance(dim, Tile):
        compute = Arithmetic.maximum if kind == "maximum" else Arithmetic.minimum
        return pointwise(emitter, name, Promotion.COMMON, compute, [input, dim])
    tile = check_tile(emitter, name, input)
    if dim is None:
        return _reduction(emitter, name, kind, tile, None, False, tile.dtype)
    return _arg_reduce(emitter, name, kind, tile, dim, keepdim)


@operation("torch.max", torch.max, methods=("max",))
def max_(emitter: Emitter, input: Any, dim: Any = None, keepdim: Any = False) -> Any:
    """The largest element of all; or values and indices along `dim`; or of two tiles."""
    return _extreme(emitter, "torch.max", "maximum", input, dim, keepdim)


@operation("torch.min", torch.min, methods=("min",))
def min_(emitter: Emitter, input: Any, dim: Any = None, keepdim: Any = False) -> Any:
    """The smallest element of all; or values and indices along `dim`; or of two tiles."""
    return _extreme(emitter, "torch.min", "minimum", input, dim, keepdim)


def _shifted_exp(emitter: Emitter, name: str, tile: Tile, axis: int) -> tuple[Tile, Tile, Tile]:
    """v - max, exp(v - max) and the sum of that, in the compute type."""
    wide = emitter.cast(tile, compute_dtype(tile.dtype))
    shifted = sub(emitter, wide, reduce(emitter, "maximum", wide, [axis], True))
    powers = pointwise(emitter, name, Promotion.FLOAT, Arithmetic.exp, [shifted])
    return shifted, powers, reduce(emitter, "sum", powers, [axis], True)


@operation("torch.softmax", torch.softmax, torch.nn.functional.softmax, methods=("softmax",))
def softmax(emitter: Emitter, input: Any, dim: Any, dtype: Any = None) -> Tile:
    """exp(v - max) over the sum of that along a dimension."""
    if dtype is not None:
        input = emitter.cast(check_tile(emitter, "torch.softmax", input), dtype)
    tile = check_floating(emitter, "torch.softmax", input)
    axis = check_axis(emitter, "torch.softmax", dim, len(tile.dims))
    _, powers, total = _shifted_exp(emitter, "torch.softmax", tile, axis)
    return emitter.cast(div(emitter, powers, total), tile.dtype)


@operation(
    "torch.log_softmax",
    torch.log_softmax,
    torch.nn.functional.log_softmax,
    methods=("log_softmax",),
)
def log_softmax(emitter: Emitter, input: Any, dim: Any, dtype: Any = None) -> Tile:
    """The logarithm of softmax: v - max - log(sum)."""
    if dtype is not None:
        input = emitter.cast(check_tile(emitter, "torch.log_softmax", input), dtype)
    tile = check_floating(emitter, "torch.log_softmax", input)
    axis = check_axis(emitter, "torch.log_softmax", dim, len(tile.dims))
    shifted, _, total = _shifted_exp(emitter, "torch.log_softmax", tile, axis)
    logarithm = pointwise(emitter, "torch.log", Promotion.FLOAT, Arithmetic.log, [total])
    return emitter.cast(sub(emitter, shifted, logarithm), tile.dtype)
