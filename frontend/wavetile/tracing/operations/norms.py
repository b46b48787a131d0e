# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions that are made of simpler ones: norms, logsumexp, pairs of results."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch

from wavetile.errors import ArgumentError, ShapeError
from wavetile.tracing.arithmetic import Arithmetic
from wavetile.tracing.dtypes import compute_dtype
from wavetile.tracing.operations.algebra import add, clamp, div, mul, power, sub
from wavetile.tracing.operations.pointwise import Promotion, check_numbers, pointwise
from wavetile.tracing.operations.reductions import (
    amax,
    amin,
    check_floating,
    float_result,
    mean,
    std,
    sum_,
    var_mean,
)
from wavetile.tracing.operations.registry import operation
from wavetile.tracing.operations.shapes import check_tile, squeeze
from wavetile.tracing.values import Tile, describe

if TYPE_CHECKING:
    from wavetile._C import Value
    from wavetile.tracing.emitter import Emitter


@operation("torch.logsumexp", torch.logsumexp, methods=("logsumexp",))
def logsumexp(emitter: Emitter, input: Any, dim: Any, keepdim: Any = False) -> Tile:
    """log(sum(exp(v))), without overflow: the maximum is subtracted first if it is finite."""
    tile = float_result(emitter, check_tile(emitter, "torch.logsumexp", input))
    wide = emitter.cast(tile, compute_dtype(tile.dtype))
    largest = amax(emitter, wide, dim, True)

    def finite(a: Arithmetic, m: Value) -> Value:
        infinite = a.compare("eq", a.abs(m), a.constant(math.inf))
        return a.select(infinite, a.constant(0.0), m)

    def shifted(a: Arithmetic, x: Value, m: Value) -> Value:
        return a.exp(a.sub(x, m))

    def back(a: Arithmetic, total: Value, m: Value) -> Value:
        return a.add(a.log(total), m)

    name = "torch.logsumexp"
    shift = pointwise(emitter, name, Promotion.FLOATING, finite, [largest])
    powers = pointwise(emitter, name, Promotion.FLOATING, shifted, [wide, shift])
    total = sum_(emitter, powers, dim, True)
    result = pointwise(emitter, name, Promotion.FLOATING, back, [total, shift])
    result = emitter.cast(result, tile.dtype)
    return result if keepdim else _without(emitter, result, dim)


def _without(emitter: Emitter, tile: Tile, dim: Any) -> Tile:
    """The tile without the dimensions of size one that a reduction kept."""
    rank = len(tile.dims)
    dims = range(rank) if dim is None else dim if isinstance(dim, (tuple, list)) else [dim]
    for axis in sorted({d % rank for d in dims}, reverse=True):
        tile = squeeze(emitter, tile, axis)
    return tile


def _norm(emitter: Emitter, name: str, input: Any, p: Any, dim: Any, keepdim: Any) -> Tile:
    tile = check_floating(emitter, name, input)
    wide = emitter.cast(tile, compute_dtype(tile.dtype))
    if p == "fro":
        p = 2
    if isinstance(p, bool) or not isinstance(p, (int, float)):
        emitter.fail(
            ArgumentError,
            f"{name}: the order is a constant number, not {describe(p)}",
            'use 2, 1, another number, float("inf") or -float("inf")',
        )

    def term(a: Arithmetic, x: Value) -> Value:
        magnitude = a.abs(x)
        if p == 2:
            return a.mul(x, x)
        if p == 0:
            return a.select(a.compare("ne", x, a.constant(0.0)), a.constant(1.0), a.constant(0.0))
        return magnitude if abs(p) in (1, math.inf) else a.power(magnitude, a.constant(p))

    if p == -1:
        terms = pointwise(emitter, name, Promotion.FLOATING, lambda a, x: a.abs(x), [wide])
        terms = power(emitter, terms, -1.0)
    else:
        terms = pointwise(emitter, name, Promotion.FLOATING, term, [wide])
    if math.isinf(p):
        result = (amax if p > 0 else amin)(emitter, terms, dim, keepdim)
    else:
        result = sum_(emitter, terms, dim, keepdim)
        if p == 2:
            result = power(emitter, result, 0.5)
        elif p not in (0, 1):
            result = power(emitter, result, 1.0 / p)
    return emitter.cast(result, tile.dtype)


@operation("torch.norm", torch.norm, methods=("norm",))
def norm(emitter: Emitter, input: Any, p: Any = 2, dim: Any = None, keepdim: Any = False) -> Tile:
    """sum(abs(v) ** p) ** (1 / p); the largest (smallest) magnitude for p = inf (-inf)."""
    return _norm(emitter, "torch.norm", input, p, dim, keepdim)


@operation("torch.linalg.vector_norm", torch.linalg.vector_norm)
def vector_norm(
    emitter: Emitter, x: Any, ord: Any = 2, dim: Any = None, keepdim: Any = False
) -> Tile:
    """sum(abs(x) ** ord) ** (1 / ord); the largest (smallest) magnitude for inf (-inf)."""
    return _norm(emitter, "torch.linalg.vector_norm", x, ord, dim, keepdim)


@operation("torch.std_mean", torch.std_mean)
def std_mean(
    emitter: Emitter, input: Any, dim: Any = None, keepdim: Any = False, *, correction: Any = 1
) -> tuple[Tile, Tile]:
    """Standard deviation and mean."""
    deviation = std(emitter, input, dim, None, keepdim, correction=correction)
    return deviation, var_mean(emitter, input, dim, keepdim, correction=correction)[1]


@operation("torch.aminmax", torch.aminmax, methods=("aminmax",))
def aminmax(
    emitter: Emitter, input: Any, *, dim: Any = None, keepdim: Any = False
) -> tuple[Tile, Tile]:
    """The smallest and the largest element."""
    return amin(emitter, input, dim, keepdim), amax(emitter, input, dim, keepdim)


@operation("torch.count_nonzero", torch.count_nonzero, methods=("count_nonzero",))
def count_nonzero(emitter: Emitter, input: Any, dim: Any = None) -> Tile:
    """The number of elements that are not zero, as i64."""
    truths = emitter.cast(check_tile(emitter, "torch.count_nonzero", input), torch.bool)
    return sum_(emitter, truths, dim)


@operation("torch.nansum", torch.nansum, methods=("nansum",))
def nansum(
    emitter: Emitter, input: Any, dim: Any = None, keepdim: Any = False, *, dtype: Any = None
) -> Tile:
    """The sum with zero for NaN."""
    tile = check_tile(emitter, "torch.nansum", input)
    if tile.dtype.is_floating_point:

        def without_nan(a: Arithmetic, x: Value) -> Value:
            return a.select(a.is_nan(x), a.constant(0.0), x)

        tile = pointwise(emitter, "torch.nansum", Promotion.FLOATING, without_nan, [tile])
    return sum_(emitter, tile, dim, keepdim, dtype=dtype)


# -- Layers


def _normalised_axes(emitter: Emitter, name: str, tile: Tile, shape: Any) -> list[int]:
    """The last dimensions of a tile, as many as `normalized_shape` has."""
    count = len(shape) if isinstance(shape, (tuple, list)) else 1
    if not 0 < count <= len(tile.dims):
        emitter.fail(
            ShapeError,
            f"{name}: {count} dimensions of a tile of shape {tile.shape_text}",
            "give the sizes of its last dimensions, such as [x.size(-1)]",
        )
    return list(range(len(tile.dims) - count, len(tile.dims)))


def _scaled(emitter: Emitter, tile: Tile, weight: Any, bias: Any, dtype: torch.dtype) -> Tile:
    """tile * weight + bias, computed in the tile's dtype; what is None is left out."""
    if weight is not None:
        tile = mul(emitter, tile, emitter.cast(check_tile(emitter, "weight", weight), tile.dtype))
    if bias is not None:
        tile = add(emitter, tile, emitter.cast(check_tile(emitter, "bias", bias), tile.dtype))
    return emitter.cast(tile, dtype)


def _inverse_root(emitter: Emitter, name: str, tile: Tile, eps: Any) -> Tile:
    check_numbers(emitter, name, eps=eps)
    return pointwise(
        emitter,
        name,
        Promotion.FLOATING,
        lambda a, x: a.rsqrt(a.add(x, a.constant(float(eps)))),
        [tile],
    )


@operation("torch.nn.functional.layer_norm", torch.nn.functional.layer_norm)
def layer_norm(
    emitter: Emitter,
    input: Any,
    normalized_shape: Any,
    weight: Any = None,
    bias: Any = None,
    eps: Any = 1e-5,
) -> Tile:
    """(input - mean) / sqrt(variance + eps) * weight + bias along the last dimensions."""
    name = "torch.nn.functional.layer_norm"
    tile = check_floating(emitter, name, input)
    axes = _normalised_axes(emitter, name, tile, normalized_shape)
    wide = emitter.cast(tile, compute_dtype(tile.dtype))
    variance, average = var_mean(emitter, wide, axes, True, correction=0)
    centred = sub(emitter, wide, average)
    normal = mul(emitter, centred, _inverse_root(emitter, name, variance, eps))
    return _scaled(emitter, normal, weight, bias, tile.dtype)


@operation("torch.nn.functional.rms_norm", torch.nn.functional.rms_norm)
def rms_norm(
    emitter: Emitter, input: Any, normalized_shape: Any, weight: Any = None, eps: Any = None
) -> Tile:
    """input / sqrt(mean(input ** 2) + eps) * weight; eps is that of the dtype if not given."""
    name = "torch.nn.functional.rms_norm"
    tile = check_floating(emitter, name, input)
    axes = _normalised_axes(emitter, name, tile, normalized_shape)
    wide = emitter.cast(tile, compute_dtype(tile.dtype))
    squares = mean(emitter, mul(emitter, wide, wide), axes, True)
    eps = torch.finfo(wide.dtype).eps if eps is None else eps
    normal = mul(emitter, wide, _inverse_root(emitter, name, squares, eps))
    return _scaled(emitter, normal, weight, None, tile.dtype)


@operation("torch.nn.functional.normalize", torch.nn.functional.normalize)
def normalize(emitter: Emitter, input: Any, p: Any = 2.0, dim: Any = 1, eps: Any = 1e-12) -> Tile:
    """input divided by its norm along a dimension, which counts as eps if it is less."""
    name = "torch.nn.functional.normalize"
    tile = check_floating(emitter, name, input)
    wide = emitter.cast(tile, compute_dtype(tile.dtype))
    size = _norm(emitter, name, wide, p, dim, True)
    return emitter.cast(div(emitter, wide, clamp(emitter, size, eps, None)), tile.dtype)
