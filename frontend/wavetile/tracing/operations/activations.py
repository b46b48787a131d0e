# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of torch.nn.functional on elements: of floats only, but for relu and hardtanh."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch

from wavetile.errors import ArgumentError, DTypeError
from wavetile.tracing.arithmetic import Arithmetic
from wavetile.tracing.dtypes import UNSIGNED
from wavetile.tracing.operations.algebra import add, clamp, div, sub
from wavetile.tracing.operations.functions import sigmoid
from wavetile.tracing.operations.pointwise import (
    Compute,
    Promotion,
    check_numbers,
    define,
    pointwise,
)
from wavetile.tracing.operations.registry import METHODS, operation
from wavetile.tracing.values import Tile

if TYPE_CHECKING:
    from wavetile._C import Value
    from wavetile.tracing.emitter import Emitter

Function = torch.nn.functional


def _floating(emitter: Emitter, name: str, compute: Compute, input: Any) -> Tile:
    return pointwise(emitter, f"torch.nn.functional.{name}", Promotion.FLOATING, compute, [input])


@define("torch.relu", Promotion.NUMBER, torch.relu, Function.relu, methods=("relu",))
def _relu(a: Arithmetic, input: Value) -> Value:
    return a.maximum(input, a.constant(0))


@operation("torch.nn.functional.hardtanh", Function.hardtanh)
def hardtanh(emitter: Emitter, input: Any, min_val: Any = -1.0, max_val: Any = 1.0) -> Tile:
    """input kept between two numbers, in input's dtype."""
    check_numbers(emitter, "hardtanh", min_val=min_val, max_val=max_val)
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


def _above_zero(a: Arithmetic, x: Value, above: Value, below: Value) -> Value:
    """One value where x is above zero, the other one elsewhere."""
    return a.select(a.compare("gt", x, a.constant(0.0)), above, below)


@operation("torch.nn.functional.leaky_relu", Function.leaky_relu)
def leaky_relu(emitter: Emitter, input: Any, negative_slope: Any = 0.01) -> Tile:
    """input above zero, negative_slope * input below."""
    check_numbers(emitter, "leaky_relu", negative_slope=negative_slope)

    def compute(a: Arithmetic, x: Value) -> Value:
        below = a.mul(x, a.constant(negative_slope))
        return _above_zero(a, x, x, below)

    return _floating(emitter, "leaky_relu", compute, input)


@operation("torch.nn.functional.elu", Function.elu)
def elu(emitter: Emitter, input: Any, alpha: Any = 1.0) -> Tile:
    """input above zero, alpha * (exp(input) - 1) below."""
    check_numbers(emitter, "elu", alpha=alpha)

    def compute(a: Arithmetic, x: Value) -> Value:
        below = a.mul(a.expm1(x), a.constant(alpha))
        return _above_zero(a, x, x, below)

    return _floating(emitter, "elu", compute, input)


@operation("torch.nn.functional.celu", Function.celu)
def celu(emitter: Emitter, input: Any, alpha: Any = 1.0) -> Tile:
    """input above zero, alpha * (exp(input / alpha) - 1) below (arXiv 1704.07483)."""
    check_numbers(emitter, "celu", alpha=alpha)
    if alpha == 0:
        emitter.fail(ArgumentError, "celu: alpha must not be 0, as in torch")

    def compute(a: Arithmetic, x: Value) -> Value:
        below = a.mul(a.expm1(a.div(x, a.constant(alpha))), a.constant(alpha))
        return _above_zero(a, x, x, below)

    return _floating(emitter, "celu", compute, input)


@define("torch.nn.functional.selu", Promotion.FLOATING, Function.selu, torch.selu)
def _selu(a: Arithmetic, input: Value) -> Value:
    """elu with the two numbers of arXiv 1706.02515, which keep mean 0 and variance 1."""
    scale, alpha = 1.0507009873554804934193349852946, 1.6732632423543772848170429916717
    below = a.mul(a.expm1(input), a.constant(scale * alpha))
    above = a.mul(input, a.constant(scale))
    return _above_zero(a, input, above, below)


def _hard_gate(a: Arithmetic, x: Value) -> Value:
    """x + 3 kept between 0 and 6."""
    shifted = a.add(x, a.constant(3.0))
    return a.minimum(a.maximum(shifted, a.constant(0.0)), a.constant(6.0))


@define("torch.nn.functional.hardsigmoid", Promotion.FLOATING, Function.hardsigmoid)
def _hardsigmoid(a: Arithmetic, input: Value) -> Value:
    return a.div(_hard_gate(a, input), a.constant(6.0))


@define("torch.nn.functional.hardswish", Promotion.FLOATING, Function.hardswish)
def _hardswish(a: Arithmetic, input: Value) -> Value:
    return a.div(a.mul(input, _hard_gate(a, input)), a.constant(6.0))


@operation("torch.nn.functional.softsign", Function.softsign)
def softsign(emitter: Emitter, input: Any) -> Tile:
    """input / (1 + abs(input)), the three as operations of torch."""
    size = METHODS["abs"].call(emitter, (input,), {})
    return div(emitter, input, add(emitter, size, 1))


@operation("torch.nn.functional.tanhshrink", Function.tanhshrink)
def tanhshrink(emitter: Emitter, input: Any) -> Tile:
    """input - tanh(input), the two as operations of torch."""
    return sub(emitter, input, METHODS["tanh"].call(emitter, (input,), {}))


@operation("torch.nn.functional.softshrink", Function.softshrink)
def softshrink(emitter: Emitter, input: Any, lambd: Any = 0.5) -> Tile:
    """input moved towards zero by lambd, and zero where it would pass it."""
    check_numbers(emitter, "softshrink", lambd=lambd)
    if lambd < 0:
        emitter.fail(ArgumentError, f"softshrink: lambd is {lambd}, but must be at least 0")

    def compute(a: Arithmetic, x: Value) -> Value:
        limit = a.constant(lambd)
        moved = a.copysign(a.sub(a.abs(x), limit), x)
        small = a.compare("le", a.abs(x), limit)
        return a.select(small, a.constant(0.0), moved)

    return _floating(emitter, "softshrink", compute, input)


@operation("torch.nn.functional.hardshrink", Function.hardshrink, torch.hardshrink)
def hardshrink(emitter: Emitter, input: Any, lambd: Any = 0.5) -> Tile:
    """input, but zero between -lambd and lambd."""
    check_numbers(emitter, "hardshrink", lambd=lambd)

    def compute(a: Arithmetic, x: Value) -> Value:
        small = a.compare("le", a.abs(x), a.constant(lambd))
        return a.select(small, a.constant(0.0), x)

    return _floating(emitter, "hardshrink", compute, input)


@operation("torch.nn.functional.threshold", Function.threshold)
def threshold(emitter: Emitter, input: Any, threshold: Any, value: Any) -> Tile:
    """input above the threshold, value elsewhere."""
    check_numbers(emitter, "threshold", threshold=threshold, value=value)

    def compute(a: Arithmetic, x: Value) -> Value:
        # Of integers, both numbers are rounded towards zero, as in torch.
        below = a.compare("le", x, a.constant(threshold))
        return a.select(below, a.constant(value), x)

    name = "torch.nn.functional.threshold"
    return pointwise(emitter, name, Promotion.NUMBER, compute, [input])


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
    check_numbers(emitter, "softplus", beta=beta, threshold=threshold)

    def compute(a: Arithmetic, x: Value) -> Value:
        scaled = x if beta == 1 else a.mul(x, a.constant(beta))
        soft = a.log1p(a.exp(scaled))
        soft = soft if beta == 1 else a.div(soft, a.constant(beta))
        return a.select(a.compare("gt", scaled, a.constant(threshold)), x, soft)

    return _floating(emitter, "softplus", compute, input)


@define("torch.nn.functional.mish", Promotion.FLOATING, Function.mish)
def _mish(a: Arithmetic, input: Value) -> Value:
    return a.mul(input, a.tanh(a.log1p(a.exp(input))))
