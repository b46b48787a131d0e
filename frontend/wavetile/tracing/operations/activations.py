# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of torch.nn.functional on elements: of floats only, but for relu and hardtanh."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch

from wavetile.errors import ArgumentError, DTypeError
from wavetile.tracing.arithmetic import Arithmetic
from wavetile.tracing.dtypes import UNSIGNED
from wavetile.tracing.operations.algebra import clamp
from wavetile.tracing.operations.functions import sigmoid
from wavetile.tracing.operations.pointwise import Compute, Promotion, define, pointwise
from wavetile.tracing.operations.registry import operation
from wavetile.tracing.values import Tile, describe

if TYPE_CHECKING:
    from wavetile._C import Value
    from wavetile.tracing.emitter import Emitter

Function = torch.nn.functional


def _floating(emitter: Emitter, name: str, compute: Compute, input: Any) -> Tile:
    return pointwise(emitter, f"torch.nn.functional.{name}", Promotion.FLOATING, compute, [input])


def _numbers(emitter: Emitter, name: str, **parameters: Any) -> None:
    for parameter, value in parameters.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            emitter.fail(
                ArgumentError, f"{name}: {parameter} is a constant number, not {describe(value)}"
            )


@define("torch.relu", Promotion.NUMBER, torch.relu, Function.relu, methods=("relu",))
def _relu(a: Arithmetic, input: Value) -> Value:
    return a.maximum(input, a.constant(0))


@operation("torch.nn.functional.hardtanh", Function.hardtanh)
def hardtanh(emitter: Emitter, input: Any, min_val: Any = -1.0, max_val: Any = 1.0) -> Tile:
    """input kept between two numbers, in input's dtype."""
    _numbers(emitter, "hardtanh", min_val=min_val, max_val=max_val)
    if isinstance(input, Tile) and input.dtype in UNSIGNED and min(min_val, max_val) < 0:
        emitter.fail(
            DTypeError,
            f"hardtanh of {input.dtype} cannot have negative limits, as in torch",
            "convert first, such as v.to(torch.int32)",
        )
    if isinstance(input, Tile) and input.dtype is torch.bool:
        emitter.fail(DTypeError, "hardtanh is for integers and floats, not torch.bool, as in torch")
    if isinstance(input, Tile) and not input.dtype.is_floating_point:
        min_val, max_val = int(min_val), int(max_val)
    return clamp(emitter, input, min_val, max_val)


@operation("torch.nn.functional.relu6", Function.relu6)
def relu6(emitter: Emitter, input: Any) -> Tile:
    """input kept between 0 and 6."""
    return hardtanh(emitter, input, 0, 6)


@operation("torch.nn.functional.leaky_relu", Function.leaky_relu)
def leaky_relu(emitter: Emitter, input: Any, negative_slope: Any = 0.01) -> Tile:
    """input above zero, negative_slope * input below."""
    _numbers(emitter, "leaky_relu", negative_slope=negative_slope)

    def compute(a: Arithmetic, x: Value) -> Value:
        below = a.mul(x, a.constant(negative_slope))
        return a.select(a.compare("gt", x, a.constant(0.0)), x, below)

    return _floating(emitter, "leaky_relu", compute, input)


@operation("torch.nn.functional.elu", Function.elu)
def elu(emitter: Emitter, input: Any, alpha: Any = 1.0) -> Tile:
    """input above zero, alpha * (exp(input) - 1) below."""
    _numbers(emitter, "elu", alpha=alpha)

    def compute(a: Arithmetic, x: Value) -> Value:
        below = a.mul(a.expm1(x), a.constant(alpha))
        return a.select(a.compare("gt", x, a.constant(0.0)), x, below)

    return _floating(emitter, "elu", compute, input)


@define("torch.nn.functional.silu", Promotion.FLOATING, Function.silu)
def _silu(a: Arithmetic, input: Value) -> Value:
    return a.mul(input, sigmoid(a, input))


@define("torch.nn.functional.logsigmoid", Promotion.FLOATING, Function.logsigmoid)
def _logsigmoid(a: Arithmetic, input: Value) -> Value:
    # min(x, 0) - log1p(exp(-|x|)): neither overflows.
    soft = a.log1p(a.exp(a.neg(a.abs(input))))
    return a.sub(a.minimum(input, a.constant(0.0)), soft)


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
    return _floating(emitter, "gelu", forms[approximate], input)


@operation("torch.nn.functional.softplus", Function.softplus)
def softplus(emitter: Emitter, input: Any, beta: Any = 1.0, threshold: Any = 20.0) -> Tile:
    """log(1 + exp(beta x)) / beta, x itself where beta x is above the threshold."""
    _numbers(emitter, "softplus", beta=beta, threshold=threshold)

    def compute(a: Arithmetic, x: Value) -> Value:
        scaled = x if beta == 1 else a.mul(x, a.constant(beta))
        soft = a.log1p(a.exp(scaled))
        soft = soft if beta == 1 else a.div(soft, a.constant(beta))
        return a.select(a.compare("gt", scaled, a.constant(threshold)), x, soft)

    return _floating(emitter, "softplus", compute, input)


@define("torch.nn.functional.mish", Promotion.FLOATING, Function.mish)
def _mish(a: Arithmetic, input: Value) -> Value:
    return a.mul(input, a.tanh(a.log1p(a.exp(input))))
