# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Element types and PyTorch's promotion of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import torch

FLOAT8 = frozenset(
    (torch.float8_e4m3fn, torch.float8_e4m3fnuz, torch.float8_e5m2, torch.float8_e5m2fnuz)
)
#: Held as integers that encode them; they are loaded, stored and converted, and nothing else.
SCALE8 = torch.float8_e8m0fnu
PACKED4 = torch.float4_e2m1fn_x2
#: Dtypes without arithmetic, as in torch.
STORAGE_ONLY = FLOAT8 | {SCALE8, PACKED4}

#: Integers whose operations differ from those of MLIR's plain integers in signedness only.
UNSIGNED = frozenset((torch.uint8, torch.uint16, torch.uint32))


@dataclass(frozen=True)
class ElementType:
    """An element type: torch's, the launcher's name for it, and MLIR's."""

    dtype: torch.dtype
    name: str
    text: str


_TYPES = [
    ElementType(torch.float64, "f64", "f64"),
    ElementType(torch.float32, "f32", "f32"),
    ElementType(torch.float16, "f16", "f16"),
    ElementType(torch.bfloat16, "bf16", "bf16"),
    ElementType(torch.float8_e4m3fn, "f8e4m3fn", "f8E4M3FN"),
    ElementType(torch.float8_e4m3fnuz, "f8e4m3fnuz", "f8E4M3FNUZ"),
    ElementType(torch.float8_e5m2, "f8e5m2", "f8E5M2"),
    ElementType(torch.float8_e5m2fnuz, "f8e5m2fnuz", "f8E5M2FNUZ"),
    ElementType(SCALE8, "f8e8m0fnu", "i8"),
    ElementType(PACKED4, "f4e2m1fnx2", "i8"),
    ElementType(torch.int64, "i64", "i64"),
    ElementType(torch.int32, "i32", "i32"),
    ElementType(torch.int16, "i16", "i16"),
    ElementType(torch.int8, "i8", "i8"),
    ElementType(torch.uint32, "u32", "i32"),
    ElementType(torch.uint16, "u16", "i16"),
    ElementType(torch.uint8, "u8", "i8"),
    ElementType(torch.bool, "bool", "i1"),
]

BY_DTYPE = {row.dtype: row for row in _TYPES}
BY_NAME = {row.name: row for row in _TYPES}


def wrapped(number: int, dtype: torch.dtype) -> int:
    """The signed integer of an integer dtype's width with the number's last bits."""
    bits = 1 if dtype is torch.bool else dtype.itemsize * 8
    if bits == 1:
        return number & 1
    half = 1 << (bits - 1)
    return (number + half) % (2 * half) - half


def compute_dtype(dtype: torch.dtype) -> torch.dtype:
    """The type in which PyTorch computes pointwise on this one: f32 for 16-bit floats."""
    if dtype in (torch.float16, torch.bfloat16):
        return torch.float32
    return dtype


def sum_dtype(dtype: torch.dtype) -> torch.dtype:
    """The dtype of torch.sum and torch.prod: i64 for integers and bool."""
    return dtype if dtype.is_floating_point else torch.int64


@dataclass(frozen=True)
class Operand:
    """What promotion asks of an operand.

    `category` is 2 for tensors with dimensions, 1 for those without, 0 for Python numbers.
    """

    dtype: torch.dtype
    category: int


def _combine(higher: torch.dtype | None, lower: torch.dtype | None) -> torch.dtype | None:
    if higher is None or lower is None:
        return higher or lower
    if higher.is_floating_point:
        return higher
    if higher is torch.bool or lower.is_floating_point:
        return torch.promote_types(higher, lower)
    return higher


def result_dtype(operands: Iterable[Operand]) -> torch.dtype:
    """PyTorch's result type (`torch.result_type` for any number of operands).

    See https://pytorch.org/docs/stable/tensor_attributes.html#type-promotion-doc.

    Raises:
        RuntimeError: PyTorch has no common type, as for two kinds of float8
    """
    results: list[torch.dtype | None] = [None, None, None]
    for operand in operands:
        present = results[operand.category]
        results[operand.category] = (
            operand.dtype if present is None else torch.promote_types(present, operand.dtype)
        )
    numbers, scalars, tensors = results
    result = _combine(tensors, _combine(scalars, numbers))
    assert result is not None, "no operands"
    return result


def number_dtype(value: bool | int | float) -> torch.dtype:
    """The dtype that a Python number counts as."""
    if isinstance(value, bool):
        return torch.bool
    return torch.int64 if isinstance(value, int) else torch.get_default_dtype()
