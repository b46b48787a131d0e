# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arithmetic element by element: sums, products, quotients, remainders, powers, extremes."""

from __future__ import annotations

import builtins
import math
from typing import TYPE_CHECKING, Any

import torch

from wavetile import language
from wavetile.errors import ArgumentError, DTypeError
from wavetile.tracing.arithmetic import Arithmetic
from wavetile.tracing.operations.pointwise import Compute, Promotion, define, pointwise
from wavetile.tracing.operations.registry import operation
from wavetile.tracing.values import Tile, describe, is_number

if TYPE_CHECKING:
    from wavetile._C import Value
    from wavetile.tracing.emitter import Emitter


def _binary(name: str, promotion: Promotion, compute: Compute, *functions: Any) -> None:
    """Enters an operation of two operands; the first function also gives the method's name."""

    def emit(a: Arithmetic, input: Value, other: Value) -> Value:
        return compute(a, input, other)

    methods = tuple(function.__name__ for function in functions)
    define(name, promotion, *functions, methods=methods)(emit)


@operation("torch.mul", torch.mul, torch.multiply, methods=("mul", "multiply"))
def mul(emitter: Emitter, input: Any, other: Any) -> Tile:
    """input * other."""
    return pointwise(emitter, "torch.mul", Promotion.COMMON, Arithmetic.mul, [input, other])


_binary("torch.maximum", Promotion.COMMON, Arithmetic.maximum, torch.maximum)
_binary("torch.minimum", Promotion.COMMON, Arithmetic.minimum, torch.minimum)
_binary("torch.fmax", Promotion.COMMON, Arithmetic.maximum_number, torch.fmax)
_binary("torch.fmin", Promotion.COMMON, Arithmetic.minimum_number, torch.fmin)
_binary("torch.floor_divide", Promotion.NUMBER, Arithmetic.floor_divide, torch.floor_divide)


@operation("torch.remainder", torch.remainder, methods=("remainder",))
def remainder(emitter: Emitter, input: Any, other: Any) -> Tile:
    """What is left of a division rounded down: zero or of other's sign."""
    return pointwise(
        emitter, "torch.remainder", Promotion.NUMBER, Arithmetic.remainder, [input, other]
    )


_binary("torch.fmod", Promotion.NUMBER, Arithmetic.fmod, torch.fmod)
_binary("torch.copysign", Promotion.FLOAT, Arithmetic.copysign, torch.copysign)
_binary("torch.atan2", Promotion.FLOAT, Arithmetic.atan2, torch.atan2, torch.arctan2)


@define("torch.neg", Promotion.NUMBER, torch.neg, torch.negative, methods=("neg", "negative"))
def _neg(a: Arithmetic, input: Value) -> Value:
    return a.neg(input)


@define("torch.positive", Promotion.NUMBER, torch.positive, methods=("positive",))
def _positive(a: Arithmetic, input: Value) -> Value:
    return input


@define(
    "torch.abs",
    Promotion.NUMBER,
    torch.abs,
    torch.absolute,
    builtins.abs,
    methods=("abs", "absolute"),
)
def _abs(a: Arithmetic, input: Value) -> Value:
    return a.abs(input)


@define("torch.sign", Promotion.COMMON, torch.sign, torch.sgn, methods=("sign", "sgn"))
def _sign(a: Arithmetic, input: Value) -> Value:
    return a.sign(input)


@define("torch.reciprocal", Promotion.FLOAT, torch.reciprocal, methods=("reciprocal",))
def _reciprocal(a: Arithmetic, input: Value) -> Value:
    return a.div(a.constant(1.0), input)


@define("wl.fma", Promotion.FLOATING, language.fma)
def _fma(arithmetic: Arithmetic, a: Value, b: Value, c: Value) -> Value:
    return arithmetic.fma(a, b, c)


def _lerp(a: Arithmetic, input: Value, end: Value, weight: Value) -> Value:
    # torch's two forms: each is exact at the end that is nearer.
    difference = a.sub(end, input)
    from_input = a.add(input, a.mul(weight, difference))
    from_end = a.sub(end, a.mul(difference, a.sub(a.constant(1.0), weight)))
    is_small = a.compare("lt", a.abs(weight), a.constant(0.5))
    return a.select(is_small, from_input, from_end)


@operation("torch.lerp", torch.lerp, methods=("lerp",))
def lerp(emitter: Emitter, input: Any, end: Any, weight: Any) -> Tile:
    """input + weight * (end - input), of floats of one dtype."""
    operands = [input, end, weight]
    dtypes = {operand.dtype for operand in operands if isinstance(operand, Tile)}
    if len(dtypes) > 1 or not all(dtype.is_floating_point for dtype in dtypes):
        emitter.fail(
            DTypeError,
            "torch.lerp is for floats of one dtype, not " + " and ".join(sorted(map(str, dtypes))),
            "convert first, such as v.to(torch.float32)",
        )
    return pointwise(emitter, "torch.lerp", Promotion.FLOATING, _lerp, operands)


@operation("torch.square", torch.square, methods=("square",))
def square(emitter: Emitter, input: Any) -> Tile:
    """input * input; of bool as i64."""
    return power(emitter, input, 2)


@operation("torch.addcmul", torch.addcmul, methods=("addcmul",))
def addcmul(emitter: Emitter, input: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Tile:
    """input + value * tensor1 * tensor2."""

    def emit(a: Arithmetic, x: Value, y: Value, z: Value) -> Value:
        if value != 1:
            y = a.mul(a.splat(emitter.number(value, a.dtype)), y)
        return a.add(x, a.mul(y, z))

    return pointwise(emitter, "torch.addcmul", Promotion.NUMBER, emit, [input, tensor1, tensor2])


@operation("torch.addcdiv", torch.addcdiv, methods=("addcdiv",))
def addcdiv(emitter: Emitter, input: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Tile:
    """input + value * tensor1 / tensor2, of floats."""

    def emit(a: Arithmetic, x: Value, y: Value, z: Value) -> Value:
        if value != 1:
            y = a.mul(a.splat(emitter.number(value, a.dtype)), y)
        return a.add(x, a.div(y, z))

    return pointwise(emitter, "torch.addcdiv", Promotion.FLOATING, emit, [input, tensor1, tensor2])


def _scaled(
    emitter: Emitter, name: str, compute: Compute, input: Any, other: Any, alpha: Any
) -> Tile:
    def emit(a: Arithmetic, x: Value, y: Value) -> Value:
        if alpha != 1:
            y = a.mul(a.splat(emitter.number(alpha, a.dtype)), y)
        return compute(a, x, y)

    return pointwise(emitter, name, Promotion.COMMON, emit, [input, other])


@operation("torch.add", torch.add, methods=("add",))
def add(emitter: Emitter, input: Any, other: Any, *, alpha: Any = 1) -> Tile:
    """input + alpha * other."""
    return _scaled(emitter, "torch.add", Arithmetic.add, input, other, alpha)


@operation("torch.sub", torch.sub, torch.subtract, methods=("sub", "subtract"))
def sub(emitter: Emitter, input: Any, other: Any, *, alpha: Any = 1) -> Tile:
    """input - alpha * other; not for bool."""
    for operand in (input, other):
        if isinstance(operand, bool) or getattr(operand, "dtype", None) is torch.bool:
            emitter.fail(DTypeError, "bool tiles cannot be subtracted, as in torch", "use ^ or ~")
    return _scaled(emitter, "torch.sub", Arithmetic.sub, input, other, alpha)


@operation("torch.rsub", torch.rsub)
def rsub(emitter: Emitter, input: Any, other: Any, *, alpha: Any = 1) -> Tile:
    """other - alpha * input; not for bool."""
    return sub(emitter, other, input, alpha=alpha)


@operation("torch.div", torch.div, torch.divide, torch.true_divide, methods=("div", "divide"))
def div(emitter: Emitter, input: Any, other: Any, *, rounding_mode: str | None = None) -> Tile:
    """input / other, rounded to an integer if asked to: by "floor" or "trunc"."""
    if rounding_mode is None:
        return pointwise(emitter, "torch.div", Promotion.FLOAT, Arithmetic.div, [input, other])
    roundings = {"floor": Arithmetic.floor_divide, "trunc": Arithmetic.trunc_divide}
    if rounding_mode not in roundings:
        emitter.fail(
            ArgumentError,
            f"torch.div: rounding_mode {rounding_mode!r} is not known",
            'it is None, "floor" or "trunc"',
        )
    compute: Compute = roundings[rounding_mode]
    return pointwise(emitter, "torch.div", Promotion.NUMBER, compute, [input, other])


# -- Powers

#: Exponents whose powers are products, quotients and roots.
_SIMPLE_POWERS: dict[float, Compute] = {
    0: lambda a, x: a.constant(1.0),
    0.5: lambda a, x: a.sqrt(x),
    -0.5: lambda a, x: a.div(a.constant(1.0), a.sqrt(x)),
    -1: lambda a, x: a.div(a.constant(1.0), x),
    -2: lambda a, x: a.div(a.constant(1.0), a.mul(x, x)),
    1: lambda a, x: x,
    2: lambda a, x: a.mul(x, x),
    3: lambda a, x: a.mul(a.mul(x, x), x),
    4: lambda a, x: a.mul(a.mul(x, x), a.mul(x, x)),
}


def _by_squaring(exponent: int) -> Compute:
    """x ** exponent by as many products as the exponent has bits, and at most as many again."""

    def compute(a: Arithmetic, x: Value) -> Value:
        result, square, rest = None, x, exponent
        while rest:
            if rest & 1:
                result = square if result is None else a.mul(result, square)
            rest >>= 1
            if rest:
                square = a.mul(square, square)
        return a.constant(1) if result is None else result

    return compute


@operation("torch.pow", torch.pow, methods=("pow",))
def power(emitter: Emitter, input: Any, exponent: Any) -> Tile:
    """input ** exponent, of which one may be a number; as C's pow for floats."""
    for operand in (input, exponent):
        if not isinstance(operand, Tile) and not is_number(operand):
            emitter.fail(ArgumentError, f"a power of {describe(operand)} is not defined")
    common = emitter.promote([input, exponent])
    if common is torch.bool:
        emitter.fail(DTypeError, "powers of bool are not defined, as in torch", "convert to an int")
    if not common.is_floating_point:
        return _integer_power(emitter, input, exponent)
    is_constant = isinstance(exponent, (int, float)) and isinstance(input, Tile)
    if is_constant and exponent in _SIMPLE_POWERS:
        # As torch: for 0.5 the square root, whatever C's pow says of -inf and -0.
        compute = _SIMPLE_POWERS[exponent]
        tile = emitter.cast(input, common)
        return pointwise(emitter, "torch.pow", Promotion.FLOATING, compute, [tile])
    return pointwise(emitter, "torch.pow", Promotion.FLOATING, Arithmetic.power, [input, exponent])


def _integer_power(emitter: Emitter, input: Any, exponent: Any) -> Tile:
    if isinstance(exponent, int):
        if exponent < 0:
            emitter.fail(
                DTypeError,
                "integers cannot be raised to a negative power, as in torch",
                "convert to a float first, such as v.to(torch.float32)",
            )
        tile = emitter.cast(input, emitter.promote([input, exponent]))
        return pointwise(
            emitter, "torch.pow", Promotion.INTEGER, _by_squaring(int(exponent)), [tile]
        )
    compute: Compute = Arithmetic.integer_power
    return pointwise(emitter, "torch.pow", Promotion.INTEGER, compute, [input, exponent])


# -- Limits


@operation("torch.clamp", torch.clamp, torch.clip, methods=("clamp", "clip"))
def clamp(emitter: Emitter, input: Any, min: Any = None, max: Any = None) -> Tile:
    """input kept between limits, of which one may be None; NaN stays NaN."""
    limits = [limit for limit in (min, max) if limit is not None]
    if not limits:
        emitter.fail(ArgumentError, "torch.clamp needs min or max")

    def emit(a: Arithmetic, x: Value, *values: Value) -> Value:
        if min is not None:
            x = a.maximum(x, values[0])
        return x if max is None else a.minimum(x, values[-1])

    return pointwise(emitter, "torch.clamp", Promotion.NUMBER, emit, [input, *limits])


@operation("torch.clamp_min", torch.clamp_min, methods=("clamp_min",))
def clamp_min(emitter: Emitter, input: Any, min: Any) -> Tile:
    """input, or the limit where it is larger."""
    return clamp(emitter, input, min=min)


@operation("torch.clamp_max", torch.clamp_max, methods=("clamp_max",))
def clamp_max(emitter: Emitter, input: Any, max: Any) -> Tile:
    """input, or the limit where it is smaller."""
    return clamp(emitter, input, max=max)


@operation("torch.nan_to_num", torch.nan_to_num, methods=("nan_to_num",))
def nan_to_num(
    emitter: Emitter, input: Any, nan: Any = 0.0, posinf: Any = None, neginf: Any = None
) -> Tile:
    """input with numbers for NaN and infinities: by default 0 and the dtype's largest ones."""
    if isinstance(input, Tile) and not input.dtype.is_floating_point:
        return input
    info = torch.finfo(emitter.promote([input]))
    largest = info.max if posinf is None else posinf
    smallest = info.min if neginf is None else neginf

    def emit(a: Arithmetic, x: Value) -> Value:
        number = [a.splat(emitter.number(n, a.dtype)) for n in (nan, largest, smallest)]
        infinity = a.constant(math.inf)
        result = a.select(a.compare("eq", x, infinity), number[1], x)
        result = a.select(a.compare("eq", x, a.constant(-math.inf)), number[2], result)
        return a.select(a.is_nan(x), number[0], result)

    return pointwise(emitter, "torch.nan_to_num", Promotion.FLOATING, emit, [input])
