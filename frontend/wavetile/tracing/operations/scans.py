# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scans, and reductions by functions of the kernel's author."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import torch

from wavetile import language
from wavetile.errors import ArgumentError, DTypeError
from wavetile.tracing import jagged
from wavetile.tracing.arithmetic import Arithmetic
from wavetile.tracing.dtypes import BY_DTYPE, STORAGE_ONLY, compute_dtype, sum_dtype
from wavetile.tracing.operations.algebra import add, mul
from wavetile.tracing.operations.pointwise import Promotion, pointwise
from wavetile.tracing.operations.reductions import float_result, indices_along
from wavetile.tracing.operations.registry import operation
from wavetile.tracing.operations.shapes import check_axis, check_tile
from wavetile.tracing.values import Tile, describe

if TYPE_CHECKING:
    from wavetile._C import Operation, Value
    from wavetile.tracing.emitter import Emitter

#: Combines what comes before with one more element, of each source.
Combination = Callable[[list[Tile], list[Tile]], Sequence[Any]]


def _emit_body(
    emitter: Emitter, name: str, made: Operation, sources: list[Tile], combine: Combination
) -> None:
    with emitter.function_body(made) as arguments:
        values = [
            Tile(value, (), source.dtype)
            for value, source in zip(arguments, sources * 2, strict=True)
        ]
        results = combine(values[: len(sources)], values[len(sources) :])
        if len(results) != len(sources):
            emitter.fail(
                ArgumentError,
                f"{name}: the function gives {len(results)} values for {len(sources)} tiles",
                "give back one value for each tile",
            )
        yielded = []
        for result, source in zip(results, sources, strict=True):
            tile = _as_number(emitter, name, result, source)
            yielded.append(tile.value)
        emitter.module.create("tile.yield", yielded, [])


def _as_number(emitter: Emitter, name: str, result: Any, source: Tile) -> Tile:
    if isinstance(result, (bool, int, float)):
        return emitter.full((), result, source.dtype)
    if not isinstance(result, Tile) or result.dims:
        emitter.fail(ArgumentError, f"{name}: the function gives {describe(result)}")
    if result.dtype != source.dtype:
        emitter.fail(
            DTypeError,
            f"{name}: the function makes {result.dtype} of {source.dtype}",
            "convert the result, such as (a + b).to(a.dtype)",
        )
    return result


def _operands(emitter: Emitter, sources: list[Tile], axis: int) -> list[Value]:
    extent = emitter.integers.value(sources[0].dims[axis].extent)
    return [*(source.value for source in sources), extent]


def _element_types(emitter: Emitter, sources: list[Tile]) -> list[Any]:
    return [emitter.module.type(BY_DTYPE[source.dtype].text) for source in sources]


def scan(
    emitter: Emitter,
    name: str,
    sources: list[Tile],
    axis: int,
    reverse: bool,
    combine: Combination,
) -> list[Tile]:
    """For each element the combination of all up to itself; `reverse`: from the end on."""
    dims = sources[0].dims
    if dims[axis].name is None:
        return sources
    jagged.refuse(emitter, name, sources[0], axis)
    made = emitter.module.create(
        "tile.scan",
        _operands(emitter, sources, axis),
        [source.value.type for source in sources],
        {"axis": axis, **({"reverse": None} if reverse else {})},
        _element_types(emitter, sources) * 2,
    )
    _emit_body(emitter, name, made, sources, combine)
    return [
        Tile(value, dims, source.dtype) for value, source in zip(made.results, sources, strict=True)
    ]


def combine_along(
    emitter: Emitter, name: str, sources: list[Tile], axis: int, combine: Combination
) -> list[Tile]:
    """The combination of all elements along a dimension, which goes away."""
    dims = sources[0].dims
    if dims[axis].name is None:
        return [emitter.squeeze_dims(source, axis) for source in sources]
    jagged.refuse(emitter, name, sources[0], axis)
    left = (*dims[:axis], *dims[axis + 1 :])
    made = emitter.module.create(
        "tile.combine",
        _operands(emitter, sources, axis),
        [emitter.tile_type(left, source.dtype) for source in sources],
        {"axis": axis},
        _element_types(emitter, sources) * 2,
    )
    _emit_body(emitter, name, made, sources, combine)
    return [
        Tile(value, left, source.dtype) for value, source in zip(made.results, sources, strict=True)
    ]


# -- Functions of the kernel's author


def _sources(emitter: Emitter, name: str, given: Any) -> list[Tile]:
    tiles = list(given) if isinstance(given, (tuple, list)) else [given]
    tiles = [check_tile(emitter, name, tile) for tile in tiles]
    dims = emitter.common_dims(tiles)
    return [emitter.broadcast(tile, dims) for tile in tiles]


def _author_function(emitter: Emitter, function: Any, given: Any) -> Combination:
    """A function of two tiles; of two tuples, or of the elements of both, if tuples are given."""
    if not isinstance(given, (tuple, list)):
        return lambda a, b: [emitter.call(function, [a[0], b[0]])]
    try:
        unpacked = len(inspect.signature(function).parameters) != 2
    except (TypeError, ValueError):
        unpacked = False

    def combine(a: list[Tile], b: list[Tile]) -> Sequence[Any]:
        result = emitter.call(function, [*a, *b] if unpacked else [tuple(a), tuple(b)])
        return result if isinstance(result, (tuple, list)) else [result]

    return combine


@operation("wl.associative_scan", language.associative_scan)
def associative_scan(
    emitter: Emitter, combine_fn: Any, input: Any, dim: Any, reverse: Any = False
) -> Any:
    """Combines each element with all before it along a dimension, by an associative function."""
    name = "wl.associative_scan"
    sources = _sources(emitter, name, input)
    axis = check_axis(emitter, name, dim, len(sources[0].dims))
    if not isinstance(reverse, bool):
        emitter.fail(ArgumentError, f"{name}: reverse is a constant bool")
    combine = _author_function(emitter, combine_fn, input)
    results = scan(emitter, name, sources, axis, reverse, combine)
    return tuple(results) if isinstance(input, (tuple, list)) else results[0]


@operation("wl.reduce", language.reduce)
def reduce_(
    emitter: Emitter,
    combine_fn: Any,
    input: Any,
    dim: Any = None,
    other: Any = 0,
    keep_dims: Any = False,
) -> Any:
    """Combines the elements along a dimension, or all, by an associative function.

    `other`, a number or one for each tile, is the result of no elements.
    """
    name = "wl.reduce"
    sources = _sources(emitter, name, input)
    rank = len(sources[0].dims)
    axes = range(rank) if dim is None else [check_axis(emitter, name, dim, rank)]
    others = list(other) if isinstance(other, (tuple, list)) else [other] * len(sources)
    if len(others) != len(sources):
        emitter.fail(ArgumentError, f"{name}: {len(others)} values of `other` for {len(sources)}")
    combine = _author_function(emitter, combine_fn, input)
    results = sources
    for axis in reversed(axes):
        extent = sources[0].dims[axis].extent
        results = combine_along(emitter, name, results, axis, combine)
        if not isinstance(extent, int):
            empty = emitter.integers.compare("eq", extent, 0)
            results = [
                _where_empty(emitter, empty.value, result, number)
                for result, number in zip(results, others, strict=True)
            ]
    if keep_dims:
        for axis in axes:
            results = [emitter.expand_dims(result, axis) for result in results]
    return tuple(results) if isinstance(input, (tuple, list)) else results[0]


def _where_empty(emitter: Emitter, empty: Value, result: Tile, other: Any) -> Tile:
    instead = emitter.full(result.dims, other, result.dtype)
    value = emitter.module.value(
        "arith.select", [empty, instead.value, result.value], result.value.type
    )
    return Tile(value, result.dims, result.dtype)


# -- torch's scans


def _accumulated(
    emitter: Emitter, name: str, input: Any, dim: Any, dtype: Any, operator: Any
) -> Tile:
    tile = check_tile(emitter, name, input)
    if tile.dtype in STORAGE_ONLY:
        emitter.fail(DTypeError, f"{name} is not defined for {tile.dtype}, as in torch")
    axis = check_axis(emitter, name, dim, len(tile.dims))
    dtype = sum_dtype(tile.dtype) if dtype is None else dtype
    wide = emitter.cast(emitter.cast(tile, dtype), compute_dtype(dtype))

    def combine(a: list[Tile], b: list[Tile]) -> list[Tile]:
        return [operator(emitter, a[0], b[0])]

    return emitter.cast(scan(emitter, name, [wide], axis, False, combine)[0], dtype)


@operation("torch.cumsum", torch.cumsum, language.cumsum, methods=("cumsum",))
def cumsum(emitter: Emitter, input: Any, dim: Any, *, dtype: Any = None) -> Tile:
    """The sum of all elements up to each one; of integers and bool as i64."""
    return _accumulated(emitter, "torch.cumsum", input, dim, dtype, add)


@operation("torch.cumprod", torch.cumprod, language.cumprod, methods=("cumprod",))
def cumprod(emitter: Emitter, input: Any, dim: Any, *, dtype: Any = None) -> Tile:
    """The product of all elements up to each one; of integers and bool as i64."""
    return _accumulated(emitter, "torch.cumprod", input, dim, dtype, mul)


def _extreme_so_far(
    emitter: Emitter, name: str, input: Any, dim: Any, predicate: str
) -> tuple[Tile, Tile]:
    tile = check_tile(emitter, name, input)
    axis = check_axis(emitter, name, dim, len(tile.dims))
    wide = emitter.cast(tile, compute_dtype(tile.dtype))

    def combine(a: list[Tile], b: list[Tile]) -> list[Tile]:
        arithmetic = emitter.arithmetic((), wide.dtype)
        takes = arithmetic.compare(predicate, b[0].value, a[0].value)
        if arithmetic.is_float:
            # NaN stays, and a later one takes its place.
            booleans = emitter.arithmetic((), torch.bool)
            takes = booleans.bit_or(takes, arithmetic.is_nan(b[0].value))
        value = arithmetic.select(takes, b[0].value, a[0].value)
        index = emitter.arithmetic((), torch.int64).select(takes, b[1].value, a[1].value)
        return [Tile(value, (), wide.dtype), Tile(index, (), torch.int64)]

    indices = indices_along(emitter, wide, axis)
    values, places = scan(emitter, name, [wide, indices], axis, False, combine)
    return emitter.cast(values, tile.dtype), places


@operation("torch.cummax", torch.cummax, methods=("cummax",))
def cummax(emitter: Emitter, input: Any, dim: Any) -> tuple[Tile, Tile]:
    """The largest of all elements up to each one, and the index of the last such."""
    return _extreme_so_far(emitter, "torch.cummax", input, dim, "ge")


@operation("torch.cummin", torch.cummin, methods=("cummin",))
def cummin(emitter: Emitter, input: Any, dim: Any) -> tuple[Tile, Tile]:
    """The smallest of all elements up to each one, and the index of the last such."""
    return _extreme_so_far(emitter, "torch.cummin", input, dim, "le")


@operation("torch.logcumsumexp", torch.logcumsumexp, methods=("logcumsumexp",))
def logcumsumexp(emitter: Emitter, input: Any, dim: Any) -> Tile:
    """log(cumsum(exp(v))), without overflow."""
    name = "torch.logcumsumexp"
    tile = float_result(emitter, check_tile(emitter, name, input))
    axis = check_axis(emitter, name, dim, len(tile.dims))
    wide = emitter.cast(tile, compute_dtype(tile.dtype))

    def log_add_exp(a: Arithmetic, x: Value, y: Value) -> Value:
        high, low = a.maximum(x, y), a.minimum(x, y)
        result = a.add(high, a.log1p(a.exp(a.sub(low, high))))
        infinite = a.compare("eq", a.abs(high), a.constant(float("inf")))
        return a.select(infinite, high, result)

    def combine(a: list[Tile], b: list[Tile]) -> list[Tile]:
        return [pointwise(emitter, name, Promotion.FLOATING, log_add_exp, [a[0], b[0]])]

    return emitter.cast(scan(emitter, name, [wide], axis, False, combine)[0], tile.dtype)
