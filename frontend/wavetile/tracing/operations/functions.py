# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of floats element by element, and roundings.

Integers count as floats of torch's default dtype, as in torch. 16-bit floats are computed in f32
and rounded once. Bounds: docs/architecture.md.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch

from wavetile.errors import ArgumentError
from wavetile.tracing.arithmetic import Arithmetic
from wavetile.tracing.operations.pointwise import (
    Compute,
    Promotion,
    check_numbers,
    define,
    pointwise,
)
from wavetile.tracing.operations.registry import operation
from wavetile.tracing.values import Tile

if TYPE_CHECKING:
    from wavetile._C import Value
    from wavetile.tracing.emitter import Emitter


def _define_float(name: str, compute: Compute, *functions: Any) -> None:
    def emit(a: Arithmetic, input: Value) -> Value:
        return compute(a, input)

    method = name.removeprefix("torch.")
    define(name, Promotion.FLOAT, *functions, methods=(method,))(emit)


def sigmoid(a: Arithmetic, x: Value) -> Value:
    """1 / (1 + exp(-x)), without overflow."""
    # exp(-|x|) cannot overflow: 1 / (1 + e) for x >= 0 and e / (1 + e) below.
    e = a.exp(a.neg(a.abs(x)))
    one = a.constant(1.0)
    above = a.div(one, a.add(one, e))
    return a.select(a.compare("lt", x, a.constant(0.0)), a.mul(e, above), above)


_define_float("torch.exp", Arithmetic.exp, torch.exp)
_define_float("torch.exp2", Arithmetic.exp2, torch.exp2, torch.special.exp2)
_define_float("torch.expm1", Arithmetic.expm1, torch.expm1, torch.special.expm1)
_define_float("torch.log", Arithmetic.log, torch.log)
_define_float("torch.log2", Arithmetic.log2, torch.log2)
_define_float("torch.log10", Arithmetic.log10, torch.log10)
_define_float("torch.log1p", Arithmetic.log1p, torch.log1p, torch.special.log1p)
_define_float("torch.sqrt", Arithmetic.sqrt, torch.sqrt)
_define_float("torch.rsqrt", Arithmetic.rsqrt, torch.rsqrt)
_define_float("torch.sinh", Arithmetic.sinh, torch.sinh)
_define_float("torch.cosh", Arithmetic.cosh, torch.cosh)
_define_float("torch.tanh", Arithmetic.tanh, torch.tanh, torch.nn.functional.tanh)
_define_float("torch.erf", Arithmetic.erf, torch.erf, torch.special.erf)
_define_float("torch.sin", Arithmetic.sin, torch.sin)
_define_float("torch.cos", Arithmetic.cos, torch.cos)
_define_float("torch.tan", Arithmetic.tan, torch.tan)
_define_float(
    "torch.sigmoid", sigmoid, torch.sigmoid, torch.nn.functional.sigmoid, torch.special.expit
)


@define("torch.atan", Promotion.FLOAT, torch.atan, torch.arctan, methods=("atan", "arctan"))
def _atan(a: Arithmetic, input: Value) -> Value:
    return a.atan2(input, a.constant(1.0))


@define("torch.asin", Promotion.FLOAT, torch.asin, torch.arcsin, methods=("asin", "arcsin"))
def _asin(a: Arithmetic, input: Value) -> Value:
    # The root of (1 - x)(1 + x), not of 1 - x**2, which cancels near 1.
    one = a.constant(1.0)
    return a.atan2(input, a.sqrt(a.mul(a.sub(one, input), a.add(one, input))))


@define("torch.acos", Promotion.FLOAT, torch.acos, torch.arccos, methods=("acos", "arccos"))
def _acos(a: Arithmetic, input: Value) -> Value:
    # By the half angle's tangent: pi / 2 - asin(x) would cancel near 1.
    one = a.constant(1.0)
    tangent = a.sqrt(a.div(a.sub(one, input), a.add(one, input)))
    return a.mul(a.constant(2.0), a.atan2(tangent, one))


def _is_huge(a: Arithmetic, x: Value) -> Value:
    """Whether x is so large that x * x + 1 equals x * x, long before x * x overflows."""
    return a.compare("gt", x, a.constant(1.0 / torch.finfo(a.dtype).eps))


def _log_of_twice(a: Arithmetic, x: Value) -> Value:
    return a.add(a.log(x), a.constant(math.log(2.0)))


def _log1p_corrected(a: Arithmetic, x: Value, error: Value) -> Value:
    """log1p(x + error) for x >= 0 and a small error."""
    one = a.constant(1.0)
    u = a.add(one, x)
    small = a.add(a.log1p(x), a.div(error, u))
    # What the sum lost and the error count once: two additions would round twice.
    is_below_one = a.compare("lt", x, one)
    lost = a.select(is_below_one, a.sub(x, a.sub(u, one)), a.sub(one, a.sub(u, x)))
    large = a.add(a.log(u), a.div(a.add(lost, error), u))
    return a.select(a.compare("lt", x, a.constant(0.4375)), small, large)


def _sum_and_error(a: Arithmetic, x: Value, y: Value) -> tuple[Value, Value]:
    """x + y for abs(x) >= abs(y), and what its rounding lost (Dekker's Fast2Sum)."""
    total = a.add(x, y)
    return total, a.sub(y, a.sub(total, x))


@define("torch.asinh", Promotion.FLOAT, torch.asinh, torch.arcsinh, methods=("asinh", "arcsinh"))
def _asinh(a: Arithmetic, input: Value) -> Value:
    # log(x + sqrt(x**2 + 1)) by log1p, which is accurate near zero.
    x, one = a.abs(input), a.constant(1.0)
    square = a.mul(x, x)
    beyond_x = a.div(square, a.add(one, a.sqrt(a.add(square, one))))
    near = _log1p_corrected(a, *_sum_and_error(a, x, beyond_x))
    return a.copysign(a.select(_is_huge(a, x), _log_of_twice(a, x), near), input)


@define("torch.acosh", Promotion.FLOAT, torch.acosh, torch.arccosh, methods=("acosh", "arccosh"))
def _acosh(a: Arithmetic, input: Value) -> Value:
    # log(x + sqrt(x**2 - 1)) by log1p of the two without the 1.
    one = a.constant(1.0)
    below, beyond = a.sub(input, one), a.add(input, one)
    square = a.mul(below, beyond)
    root = a.sqrt(square)
    # Near 1 the root is nearly all of the sum, so that the errors of both roundings count.
    square_error = a.fma(below, beyond, a.neg(square))
    root_error = a.add(a.fma(a.neg(root), root, square), square_error)
    root_error = a.div(root_error, a.mul(a.constant(2.0), root))
    total, error = _sum_and_error(a, root, below)
    near = _log1p_corrected(a, total, a.add(error, root_error))
    result = a.select(_is_huge(a, input), _log_of_twice(a, input), near)
    result = a.select(a.compare("eq", input, one), a.constant(0.0), result)
    return a.select(a.compare("lt", input, one), a.constant(math.nan), result)


@define("torch.atanh", Promotion.FLOAT, torch.atanh, torch.arctanh, methods=("atanh", "arctanh"))
def _atanh(a: Arithmetic, input: Value) -> Value:
    # log((1 + x) / (1 - x)) / 2 by log1p of the quotient without the 1.
    x, one = a.abs(input), a.constant(1.0)
    twice = a.mul(a.constant(2.0), x)
    below, below_error = _sum_and_error(a, one, a.neg(x))
    quotient = a.div(twice, below)
    rest = a.sub(a.fma(a.neg(quotient), below, twice), a.mul(quotient, below_error))
    inside = _log1p_corrected(a, quotient, a.div(rest, below))
    # At 1 and beyond it the quotient is infinite or below -1: no error is to be corrected.
    logarithm = a.select(a.compare("lt", x, one), inside, a.log1p(quotient))
    return a.copysign(a.mul(a.constant(0.5), logarithm), input)


@operation("torch.logit", torch.logit, torch.special.logit, methods=("logit",))
def logit(emitter: Emitter, input: Any, eps: Any = None) -> Tile:
    """log(x / (1 - x)); of x kept between eps and 1 - eps, if eps is given."""
    if eps is not None:
        check_numbers(emitter, "torch.logit", eps=eps)

    def emit(a: Arithmetic, x: Value) -> Value:
        one = a.constant(1.0)
        if eps is not None:
            x = a.minimum(a.maximum(x, a.constant(eps)), a.sub(one, a.constant(eps)))
        return a.log(a.div(x, a.sub(one, x)))

    return pointwise(emitter, "torch.logit", Promotion.FLOAT, emit, [input])


@define("torch.deg2rad", Promotion.FLOAT, torch.deg2rad, methods=("deg2rad",))
def _deg2rad(a: Arithmetic, input: Value) -> Value:
    return a.mul(input, a.constant(math.pi / 180.0))


@define("torch.rad2deg", Promotion.FLOAT, torch.rad2deg, methods=("rad2deg",))
def _rad2deg(a: Arithmetic, input: Value) -> Value:
    return a.mul(input, a.constant(180.0 / math.pi))


@define("torch.logaddexp", Promotion.FLOATING, torch.logaddexp, methods=("logaddexp",))
def _logaddexp(a: Arithmetic, input: Value, other: Value) -> Value:
    """log(exp(input) + exp(other)), without overflow."""
    # Equal infinities have no difference.
    equal = a.compare("eq", input, other)
    apart = a.select(equal, a.constant(0.0), a.abs(a.sub(input, other)))
    return a.add(a.maximum(input, other), a.log1p(a.exp(a.neg(apart))))


@define("torch.hypot", Promotion.FLOATING, torch.hypot, methods=("hypot",))
def _hypot(a: Arithmetic, input: Value, other: Value) -> Value:
    """sqrt(input**2 + other**2), without overflow; infinite if either is, even beside NaN."""
    x, y = a.abs(input), a.abs(other)
    zero, infinity = a.constant(0.0), a.constant(math.inf)
    longer, shorter = a.maximum(x, y), a.minimum(x, y)
    ratio = a.select(a.compare("eq", longer, zero), zero, a.div(shorter, longer))
    length = a.mul(longer, a.sqrt(a.add(a.mul(ratio, ratio), a.constant(1.0))))
    infinite = a.of(torch.bool).bit_or(a.compare("eq", x, infinity), a.compare("eq", y, infinity))
    return a.select(infinite, infinity, length)


@define("torch.xlogy", Promotion.FLOAT, torch.xlogy, torch.special.xlogy, methods=("xlogy",))
def _xlogy(a: Arithmetic, input: Value, other: Value) -> Value:
    """input * log(other); 0 where input is 0, but for NaN in other."""
    zero = a.constant(0.0)
    product = a.select(a.compare("eq", input, zero), zero, a.mul(input, a.log(other)))
    return a.select(a.is_nan(other), other, product)


def _rounding(name: str, compute: Compute, *functions: Any) -> None:
    def emit(a: Arithmetic, input: Value) -> Value:
        return compute(a, input) if a.is_float else input

    methods = tuple(function.__name__ for function in functions)
    define(name, Promotion.NUMBER, *functions, methods=methods)(emit)


_rounding("torch.floor", Arithmetic.floor, torch.floor)
_rounding("torch.ceil", Arithmetic.ceil, torch.ceil)
_rounding("torch.trunc", Arithmetic.trunc, torch.trunc, torch.fix)


@operation("torch.round", torch.round, methods=("round",))
def round_(emitter: Emitter, input: Any, *, decimals: Any = 0) -> Tile:
    """The nearest integer, the even one of two."""
    if decimals != 0:
        emitter.fail(
            ArgumentError,
            "torch.round: decimals is not supported in device code",
            "write torch.round(v * 10**decimals) / 10**decimals",
        )

    def emit(a: Arithmetic, x: Value) -> Value:
        return a.round_half_even(x) if a.is_float else x

    return pointwise(emitter, "torch.round", Promotion.NUMBER, emit, [input])


@define("torch.frac", Promotion.FLOATING, torch.frac, methods=("frac",))
def _frac(a: Arithmetic, input: Value) -> Value:
    return a.sub(input, a.trunc(input))
