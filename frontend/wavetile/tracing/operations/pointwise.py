# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations element by element, with PyTorch's type promotion.

Each operation computes in f32 for 16-bit floats and rounds its result once, as PyTorch does.
"""

from __future__ import annotations

import builtins
import enum
import inspect
import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import torch

from wavetile.errors import ArgumentError, DTypeError, TensorAccessError
from wavetile.tracing.arithmetic import Arithmetic
from wavetile.tracing.dtypes import FLOAT8, compute_dtype
from wavetile.tracing.operations.registry import operation
from wavetile.tracing.values import Tile, describe, is_number

if TYPE_CHECKING:
    from wavetile._C import Value
    from wavetile.tracing.emitter import Emitter

Function = torch.nn.functional
Compute = Callable[..., "Value"]


class Promotion(enum.Enum):
    """How the result's dtype follows from the operands'."""

    COMMON = "the common dtype"
    FLOAT = "the common dtype, f32 if that is an integer"
    BOOL = "bool; the operands are compared in their common dtype"
    INTEGRAL = "the common dtype, which must be an integer or bool"


def pointwise(
    emitter: Emitter,
    name: str,
    promotion: Promotion,
    compute: Compute,
    operands: list[Any],
    condition: Tile | None = None,
) -> Tile:
    """Emits an operation on tiles and numbers, of which at least one is a tile.

    `compute` gets an Arithmetic and the operands in one shape and one type; if there is a
    `condition`, then that first, as bools.
    """
    tiles = [value for value in (condition, *operands) if isinstance(value, Tile)]
    for value in operands:
        if not isinstance(value, Tile) and not is_number(value):
            emitter.fail(
                TensorAccessError,
                f"{name} takes tiles and numbers, not {describe(value)}",
                "load a tile from a tensor by indexing it, such as x[rows, :]",
            )
    if not tiles:
        emitter.fail(ArgumentError, f"{name} needs a tile, not only numbers", "use Python's math")
    common = emitter.promote(operands)
    if promotion is Promotion.FLOAT and not common.is_floating_point:
        common = torch.get_default_dtype()
    if promotion is Promotion.INTEGRAL and common.is_floating_point:
        emitter.fail(DTypeError, f"{name} is for integers and bool, not {common}")
    if common in FLOAT8:
        emitter.fail(
            DTypeError,
            f"{name} is not defined for {common}, as in torch",
            "convert first, such as v.to(torch.float32)",
        )
    dims = emitter.common_dims(tiles)
    computed = compute_dtype(common)
    arithmetic = emitter.arithmetic(dims, computed)
    values = []
    for operand in operands:
        if isinstance(operand, Tile):
            wide = emitter.broadcast(emitter.cast(operand, computed), dims)
            if sum(d.name is not None for d in operand.dims) < sum(
                d.name is not None for d in dims
            ):
                arithmetic.row_values.append(wide.value)
            values.append(wide.value)
        else:
            values.append(arithmetic.splat(emitter.number(operand, computed)))
    if condition is not None:
        values.insert(0, emitter.broadcast(emitter.cast(condition, torch.bool), dims).value)
    result = compute(arithmetic, *values)
    if promotion is Promotion.BOOL:
        return Tile(result, dims, torch.bool)
    return emitter.cast(Tile(result, dims, computed), common)


def _define(
    name: str,
    promotion: Promotion,
    *functions: Any,
    methods: tuple[str, ...] = (),
) -> Callable[[Compute], Compute]:
    """Enters an operation all of whose arguments are tiles or numbers."""

    def enter(compute: Compute) -> Compute:
        parameters = list(inspect.signature(compute).parameters.values())[1:]

        def emit(emitter: Emitter, *args: Any, **kwargs: Any) -> Tile:
            bound = signature.bind(emitter, *args, **kwargs)
            operands = list(bound.arguments.values())[1:]
            return pointwise(emitter, name, promotion, compute, operands)

        emitter_parameter = inspect.Parameter("emitter", inspect.Parameter.POSITIONAL_ONLY)
        signature = inspect.Signature([emitter_parameter, *parameters])
        emit.__signature__ = signature  # type: ignore[attr-defined]
        operation(name, *functions, methods=methods)(emit)
        return compute

    return enter


# -- Arithmetic


@_define("torch.mul", Promotion.COMMON, torch.mul, torch.multiply, methods=("mul", "multiply"))
def _mul(a: Arithmetic, input: Value, other: Value) -> Value:
    return a.mul(input, other)


@_define("torch.maximum", Promotion.COMMON, torch.maximum, methods=("maximum",))
def _maximum(a: Arithmetic, input: Value, other: Value) -> Value:
    return a.maximum(input, other)


@_define("torch.minimum", Promotion.COMMON, torch.minimum, methods=("minimum",))
def _minimum(a: Arithmetic, input: Value, other: Value) -> Value:
    return a.minimum(input, other)


@_define("torch.neg", Promotion.COMMON, torch.neg, torch.negative, methods=("neg", "negative"))
def _neg(a: Arithmetic, input: Value) -> Value:
    return a.neg(input)


@_define("torch.abs", Promotion.COMMON, torch.abs, torch.absolute, builtins.abs, methods=("abs",))
def _abs(a: Arithmetic, input: Value) -> Value:
    return input if a.is_bool else a.abs(input)


@_define("torch.square", Promotion.COMMON, torch.square, methods=("square",))
def _square(a: Arithmetic, input: Value) -> Value:
    return a.mul(input, input)


@_define("torch.floor_divide", Promotion.COMMON, torch.floor_divide, methods=("floor_divide",))
def _floor_divide(a: Arithmetic, input: Value, other: Value) -> Value:
    return a.floor_divide(input, other)


@_define("torch.remainder", Promotion.COMMON, torch.remainder, methods=("remainder",))
def _remainder(a: Arithmetic, input: Value, other: Value) -> Value:
    return a.remainder(input, other)


@_define("torch.reciprocal", Promotion.FLOAT, torch.reciprocal, methods=("reciprocal",))
def _reciprocal(a: Arithmetic, input: Value) -> Value:
    return a.div(a.constant(1.0), input)


@_define("torch.addcmul", Promotion.COMMON, torch.addcmul, methods=("addcmul",))
def _addcmul(a: Arithmetic, input: Value, tensor1: Value, tensor2: Value) -> Value:
    return a.add(input, a.mul(tensor1, tensor2))


@_define("torch.lerp", Promotion.COMMON, torch.lerp, methods=("lerp",))
def _lerp(a: Arithmetic, input: Value, end: Value, weight: Value) -> Value:
    return a.add(input, a.mul(weight, a.sub(end, input)))


@_define("torch.copysign", Promotion.FLOAT, torch.copysign, methods=("copysign",))
def _copysign(a: Arithmetic, input: Value, other: Value) -> Value:
    return a.copysign(input, other)


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
    if emitter.promote([input, other]) is torch.bool:
        emitter.fail(DTypeError, "bool tiles cannot be subtracted, as in torch", "use ^ or ~")
    return _scaled(emitter, "torch.sub", Arithmetic.sub, input, other, alpha)


@operation("torch.div", torch.div, torch.divide, torch.true_divide, methods=("div", "divide"))
def div(emitter: Emitter, input: Any, other: Any, *, rounding_mode: str | None = None) -> Tile:
    """input / other, rounded to an integer if asked to."""
    if rounding_mode is None:
        return pointwise(emitter, "torch.div", Promotion.FLOAT, Arithmetic.div, [input, other])
    if rounding_mode == "floor":
        compute: Compute = Arithmetic.floor_divide
        return pointwise(emitter, "torch.div", Promotion.COMMON, compute, [input, other])
    emitter.fail(ArgumentError, f"torch.div: rounding_mode {rounding_mode!r} is not supported")


@operation("torch.pow", torch.pow, methods=("pow",))
def power(emitter: Emitter, input: Any, exponent: Any) -> Tile:
    """input ** exponent for constant exponents that products and square roots can make."""
    steps = {
        0.5: (Promotion.FLOAT, lambda a, x: a.sqrt(x)),
        -0.5: (Promotion.FLOAT, lambda a, x: a.div(a.constant(1.0), a.sqrt(x))),
        -1: (Promotion.FLOAT, lambda a, x: a.div(a.constant(1.0), x)),
        -2: (Promotion.FLOAT, lambda a, x: a.div(a.constant(1.0), a.mul(x, x))),
        1: (Promotion.COMMON, lambda a, x: x),
        2: (Promotion.COMMON, lambda a, x: a.mul(x, x)),
        3: (Promotion.COMMON, lambda a, x: a.mul(a.mul(x, x), x)),
        4: (Promotion.COMMON, lambda a, x: a.mul(a.mul(x, x), a.mul(x, x))),
    }
    if (
        not isinstance(input, Tile)
        or not isinstance(exponent, (int, float))
        or (exponent not in steps)
    ):
        emitter.fail(
            ArgumentError,
            "a power needs a tile and a constant exponent, one of " + ", ".join(map(str, steps)),
            "write x ** y as torch.exp2(y * torch.log2(x)) for positive x",
        )
    promotion, compute = steps[exponent]
    result = pointwise(emitter, "torch.pow", promotion, compute, [input])
    return emitter.cast(result, emitter.promote([result, exponent]))


# -- Functions of floats


def _define_float(name: str, compute: Compute, *functions: Any) -> None:
    method = name.removeprefix("torch.").removeprefix("nn.functional.")

    def emit(a: Arithmetic, input: Value) -> Value:
        return compute(a, input)

    _define(name, Promotion.FLOAT, *functions, methods=(method,))(emit)


def _sigmoid(a: Arithmetic, x: Value) -> Value:
    # exp(-|x|) cannot overflow: 1 / (1 + e) for x >= 0 and e / (1 + e) below.
    e = a.exp(a.neg(a.abs(x)))
    one = a.constant(1.0)
    above = a.div(one, a.add(one, e))
    return a.select(a.compare("lt", x, a.constant(0.0)), a.mul(e, above), above)


def _silu(a: Arithmetic, x: Value) -> Value:
    return a.mul(x, _sigmoid(a, x))


_define_float("torch.exp", Arithmetic.exp, torch.exp)
_define_float("torch.exp2", Arithmetic.exp2, torch.exp2)
_define_float("torch.log", Arithmetic.log, torch.log)
_define_float("torch.log2", Arithmetic.log2, torch.log2)
_define_float("torch.log1p", Arithmetic.log1p, torch.log1p)
_define_float("torch.sqrt", Arithmetic.sqrt, torch.sqrt)
_define_float("torch.rsqrt", Arithmetic.rsqrt, torch.rsqrt)
_define_float("torch.tanh", Arithmetic.tanh, torch.tanh, Function.tanh)
_define_float("torch.erf", Arithmetic.erf, torch.erf)
_define_float("torch.sin", Arithmetic.sin, torch.sin)
_define_float("torch.cos", Arithmetic.cos, torch.cos)
_define_float("torch.sigmoid", _sigmoid, torch.sigmoid, Function.sigmoid)
_define_float("torch.nn.functional.silu", _silu, Function.silu)


def _rounding(name: str, compute: Compute, *functions: Any) -> None:
    def emit(a: Arithmetic, input: Value) -> Value:
        return compute(a, input) if a.is_float else input

    method = name.removeprefix("torch.")
    _define(name, Promotion.COMMON, *functions, methods=(method,))(emit)


_rounding("torch.floor", Arithmetic.floor, torch.floor)
_rounding("torch.ceil", Arithmetic.ceil, torch.ceil)
_rounding("torch.trunc", Arithmetic.trunc, torch.trunc, torch.fix)
_rounding("torch.round", Arithmetic.round_half_even, torch.round)


@_define("torch.relu", Promotion.COMMON, torch.relu, Function.relu, methods=("relu",))
def _relu(a: Arithmetic, input: Value) -> Value:
    return a.maximum(input, a.constant(0))


@operation("torch.nn.functional.gelu", Function.gelu)
def gelu(emitter: Emitter, input: Any, approximate: str = "none") -> Tile:
    """x * Phi(x), exact by erf or approximated by tanh (arXiv 1606.08415)."""

    def exact(a: Arithmetic, x: Value) -> Value:
        phi = a.add(a.constant(1.0), a.erf(a.mul(x, a.constant(math.sqrt(0.5)))))
        return a.mul(a.mul(x, a.constant(0.5)), phi)

    def by_tanh(a: Arithmetic, x: Value) -> Value:
        cube = a.mul(a.mul(x, x), x)
        inner = a.add(x, a.mul(a.constant(0.044715), cube))
        phi = a.add(a.constant(1.0), a.tanh(a.mul(a.constant(math.sqrt(2.0 / math.pi)), inner)))
        return a.mul(a.mul(x, a.constant(0.5)), phi)

    forms = {"none": exact, "tanh": by_tanh}
    if approximate not in forms:
        emitter.fail(ArgumentError, f"gelu: approximate={approximate!r} is neither none nor tanh")
    return pointwise(emitter, "gelu", Promotion.FLOAT, forms[approximate], [input])


@operation("torch.nn.functional.softplus", Function.softplus)
def softplus(emitter: Emitter, input: Any, beta: float = 1.0, threshold: float = 20.0) -> Tile:
    """log(1 + exp(beta x)) / beta, x itself where beta x is above the threshold."""

    def compute(a: Arithmetic, x: Value) -> Value:
        scaled = x if beta == 1 else a.mul(x, a.constant(beta))
        soft = a.log1p(a.exp(scaled))
        soft = soft if beta == 1 else a.div(soft, a.constant(beta))
        return a.select(a.compare("gt", scaled, a.constant(threshold)), x, soft)

    return pointwise(emitter, "softplus", Promotion.FLOAT, compute, [input])


@operation("torch.clamp", torch.clamp, torch.clip, methods=("clamp", "clip"))
def clamp(emitter: Emitter, input: Any, min: Any = None, max: Any = None) -> Tile:
    """input kept between limits, of which one may be None; NaN stays NaN."""
    if min is None and max is None:
        emitter.fail(ArgumentError, "torch.clamp needs min or max")
    result = input
    if min is not None:
        result = pointwise(emitter, "clamp", Promotion.COMMON, Arithmetic.maximum, [result, min])
    if max is not None:
        result = pointwise(emitter, "clamp", Promotion.COMMON, Arithmetic.minimum, [result, max])
    return result


# -- Comparisons, bits, choice


def _comparison(name: str) -> None:
    def emit(a: Arithmetic, input: Value, other: Value) -> Value:
        return a.compare(name, input, other)

    _define(f"torch.{name}", Promotion.BOOL, getattr(torch, name), methods=(name,))(emit)


for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    _comparison(_name)


@_define("torch.isnan", Promotion.BOOL, torch.isnan, methods=("isnan",))
def _isnan(a: Arithmetic, input: Value) -> Value:
    return a.is_nan(input)


@_define("torch.isinf", Promotion.BOOL, torch.isinf, methods=("isinf",))
def _isinf(a: Arithmetic, input: Value) -> Value:
    return a.compare("eq", a.abs(input), a.constant(float("inf")))


@_define("torch.isfinite", Promotion.BOOL, torch.isfinite, methods=("isfinite",))
def _isfinite(a: Arithmetic, input: Value) -> Value:
    return a.compare("lt", a.abs(input), a.constant(float("inf")))


def _bits(name: str, compute: Compute, *functions: Any, methods: tuple[str, ...]) -> None:
    def emit(a: Arithmetic, input: Value, other: Value) -> Value:
        return compute(a, input, other)

    _define(name, Promotion.INTEGRAL, *functions, methods=methods)(emit)


_bits("torch.bitwise_and", Arithmetic.bit_and, torch.bitwise_and, methods=("bitwise_and",))
_bits("torch.bitwise_or", Arithmetic.bit_or, torch.bitwise_or, methods=("bitwise_or",))
_bits("torch.bitwise_xor", Arithmetic.bit_xor, torch.bitwise_xor, methods=("bitwise_xor",))
_bits(
    "torch.bitwise_left_shift",
    Arithmetic.shift_left,
    torch.bitwise_left_shift,
    methods=("bitwise_left_shift",),
)
_bits(
    "torch.bitwise_right_shift",
    Arithmetic.shift_right,
    torch.bitwise_right_shift,
    methods=("bitwise_right_shift",),
)


@_define("torch.bitwise_not", Promotion.INTEGRAL, torch.bitwise_not, methods=("bitwise_not",))
def _bit_not(a: Arithmetic, input: Value) -> Value:
    return a.bit_not(input)


def _logical(emitter: Emitter, name: str, compute: Compute, operands: list[Any]) -> Tile:
    truths = [emitter.cast(o, torch.bool) if isinstance(o, Tile) else o for o in operands]
    return pointwise(emitter, name, Promotion.INTEGRAL, compute, truths)


@operation("torch.logical_and", torch.logical_and, methods=("logical_and",))
def logical_and(emitter: Emitter, input: Any, other: Any) -> Tile:
    """Whether both are not zero."""
    return _logical(emitter, "torch.logical_and", Arithmetic.bit_and, [input, other])


@operation("torch.logical_or", torch.logical_or, methods=("logical_or",))
def logical_or(emitter: Emitter, input: Any, other: Any) -> Tile:
    """Whether one is not zero."""
    return _logical(emitter, "torch.logical_or", Arithmetic.bit_or, [input, other])


@operation("torch.logical_not", torch.logical_not, methods=("logical_not",))
def logical_not(emitter: Emitter, input: Any) -> Tile:
    """Whether it is zero."""
    return _logical(emitter, "torch.logical_not", Arithmetic.bit_not, [input])


@operation("torch.where", torch.where)
def where(emitter: Emitter, condition: Any, input: Any, other: Any) -> Tile:
    """input where the condition holds, else other."""
    if not isinstance(condition, Tile) or condition.dtype is not torch.bool:
        emitter.fail(
            DTypeError,
            f"torch.where needs a tile of bool as its condition, not {describe(condition)}",
            "compare it with something, such as v != 0",
        )
    select: Compute = Arithmetic.select
    return pointwise(emitter, "torch.where", Promotion.COMMON, select, [input, other], condition)


@operation("masked_fill", methods=("masked_fill",))
def masked_fill(emitter: Emitter, input: Any, mask: Any, value: Any) -> Tile:
    """`value` where the mask holds, else input, in input's dtype."""
    result = where(emitter, mask, value, input)
    return emitter.cast(result, input.dtype)


# -- Conversion


def _to(emitter: Emitter, input: Any, dtype: Any) -> Tile:
    if not isinstance(input, Tile):
        emitter.fail(
            TensorAccessError, f"only a tile has a dtype to convert, not {describe(input)}"
        )
    if not isinstance(dtype, torch.dtype):
        emitter.fail(
            ArgumentError,
            f"device code converts to a dtype, not to {describe(dtype)}",
            "write v.to(torch.float32)",
        )
    return emitter.cast(input, dtype)


@operation("to", methods=("to", "type"))
def to(emitter: Emitter, input: Any, dtype: Any) -> Tile:
    """The tile with another dtype."""
    return _to(emitter, input, dtype)


@operation("type_as", methods=("type_as",))
def type_as(emitter: Emitter, input: Any, other: Any) -> Tile:
    """The tile with the dtype of another tile or tensor."""
    return _to(emitter, input, getattr(other, "dtype", other))


for _name, _dtype in {
    "float": torch.float32,
    "double": torch.float64,
    "half": torch.float16,
    "bfloat16": torch.bfloat16,
    "int": torch.int32,
    "long": torch.int64,
    "bool": torch.bool,
}.items():
    operation(_name, methods=(_name,))(partial(_to, dtype=_dtype))
