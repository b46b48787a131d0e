# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Comparisons, bits and choice, element by element."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from wavetile.errors import DTypeError
from wavetile.tracing.arithmetic import Arithmetic
from wavetile.tracing.operations.pointwise import Compute, Promotion, define, pointwise
from wavetile.tracing.operations.registry import operation
from wavetile.tracing.values import Tile, describe

if TYPE_CHECKING:
    from wavetile._C import Value
    from wavetile.tracing.emitter import Emitter


def _comparison(name: str) -> None:
    def emit(a: Arithmetic, input: Value, other: Value) -> Value:
        return a.compare(name, input, other)

    define(f"torch.{name}", Promotion.BOOL, getattr(torch, name), methods=(name,))(emit)


for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    _comparison(_name)


@define("torch.isnan", Promotion.BOOL, torch.isnan, methods=("isnan",))
def _isnan(a: Arithmetic, input: Value) -> Value:
    return a.is_nan(input)


@define("torch.isinf", Promotion.BOOL, torch.isinf, methods=("isinf",))
def _isinf(a: Arithmetic, input: Value) -> Value:
    if not a.is_float:
        return a.of(torch.bool).constant(False)
    return a.compare("eq", a.abs(input), a.constant(float("inf")))


@define("torch.isfinite", Promotion.BOOL, torch.isfinite, methods=("isfinite",))
def _isfinite(a: Arithmetic, input: Value) -> Value:
    if not a.is_float:
        return a.of(torch.bool).constant(True)
    return a.compare("lt", a.abs(input), a.constant(float("inf")))


@define("torch.signbit", Promotion.BOOL, torch.signbit, methods=("signbit",))
def _signbit(a: Arithmetic, input: Value) -> Value:
    if a.is_bool or a.is_unsigned:
        return a.of(torch.bool).constant(False)
    one = a.constant(1)
    return a.compare("lt", a.copysign(one, input) if a.is_float else input, a.constant(0))


def _bits(
    name: str,
    compute: Compute,
    *functions: Any,
    methods: tuple[str, ...],
    promotion: Promotion = Promotion.INTEGRAL,
) -> None:
    def emit(a: Arithmetic, input: Value, other: Value) -> Value:
        return compute(a, input, other)

    define(name, promotion, *functions, methods=methods)(emit)


_bits("torch.bitwise_and", Arithmetic.bit_and, torch.bitwise_and, methods=("bitwise_and",))
_bits("torch.bitwise_or", Arithmetic.bit_or, torch.bitwise_or, methods=("bitwise_or",))
_bits("torch.bitwise_xor", Arithmetic.bit_xor, torch.bitwise_xor, methods=("bitwise_xor",))
_bits(
    "torch.bitwise_left_shift",
    Arithmetic.shift_left,
    torch.bitwise_left_shift,
    methods=("bitwise_left_shift",),
    promotion=Promotion.INTEGER,
)
_bits(
    "torch.bitwise_right_shift",
    Arithmetic.shift_right,
    torch.bitwise_right_shift,
    methods=("bitwise_right_shift",),
    promotion=Promotion.INTEGER,
)


@define("torch.bitwise_not", Promotion.INTEGRAL, torch.bitwise_not, methods=("bitwise_not",))
def _bit_not(a: Arithmetic, input: Value) -> Value:
    return a.bit_not(input)


def _logical(emitter: Emitter, name: str, compute: Compute, operands: list[Any]) -> Tile:
    truths = [emitter.cast(o, torch.bool) if isinstance(o, Tile) else o for o in operands]
    truths = [bool(o) if isinstance(o, (int, float)) else o for o in truths]
    return pointwise(emitter, name, Promotion.INTEGRAL, compute, truths)


@operation("torch.logical_and", torch.logical_and, methods=("logical_and",))
def logical_and(emitter: Emitter, input: Any, other: Any) -> Tile:
    """Whether both are not zero."""
    return _logical(emitter, "torch.logical_and", Arithmetic.bit_and, [input, other])


@operation("torch.logical_or", torch.logical_or, methods=("logical_or",))
def logical_or(emitter: Emitter, input: Any, other: Any) -> Tile:
    """Whether one is not zero."""
    return _logical(emitter, "torch.logical_or", Arithmetic.bit_or, [input, other])


@operation("torch.logical_xor", torch.logical_xor, methods=("logical_xor",))
def logical_xor(emitter: Emitter, input: Any, other: Any) -> Tile:
    """Whether exactly one is not zero."""
    return _logical(emitter, "torch.logical_xor", Arithmetic.bit_xor, [input, other])


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
