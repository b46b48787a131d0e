# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of floats element by element, and roundings.

Integers count as floats of torch's default dtype, as in torch. 16-bit floats are computed in f32
and rounded once. Bounds: docs/architecture.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from wavetile.errors import ArgumentError
from wavetile.tracing.arithmetic import Arithmetic
from wavetile.tracing.operations.pointwise import Compute, Promotion, define, pointwise
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
_define_float("torch.sigmoid", sigmoid, torch.sigmoid, torch.nn.functional.sigmoid)


@define("torch.atan", Promotion.FLOAT, torch.atan, torch.arctan, methods=("atan", "arctan"))
def _atan(a: Arithmetic, input: Value) -> Value:
    return a.atan2(input, a.constant(1.0))


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
