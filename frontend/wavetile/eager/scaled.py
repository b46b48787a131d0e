# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Numbers of 4 bits and products with scales, by torch on whole tensors."""

from __future__ import annotations

from typing import Any

import torch

from wavetile.errors import ShapeError

#: Elements along K that share a scale.
_BLOCK = 32
_VALUES = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
_FORMATS = {"e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2}


def unpack_fp4(input: torch.Tensor, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    """`wl.unpack_fp4`."""
    codes = input.view(torch.uint8).long()
    table = torch.tensor([*_VALUES, *(-value for value in _VALUES)], dtype=dtype)
    return table[codes & 15], table[codes >> 4]


def _encoded(values: torch.Tensor) -> torch.Tensor:
    magnitudes = values.double().abs()
    table = torch.tensor(_VALUES, dtype=torch.float64)
    distances = (magnitudes.unsqueeze(-1) - table).abs()
    nearest = distances.amin(-1, keepdim=True)
    # Of two that are as near the even code.
    even = torch.arange(8) % 2 == 0
    rank = torch.where(distances == nearest, torch.where(even, 0, 1), 2)
    codes = torch.where((magnitudes > 6) | magnitudes.isnan(), 7, rank.argmin(-1))
    return codes | torch.where(values.signbit(), 8, 0)


def pack_fp4(low: torch.Tensor, high: torch.Tensor) -> torch.Tensor:
    """`wl.pack_fp4`."""
    low, high = torch.broadcast_tensors(low, high)
    packed = (_encoded(low) | _encoded(high) << 4).to(torch.uint8)
    return packed.view(torch.float4_e2m1fn_x2)


def _dequantised(
    data: torch.Tensor, scale: Any, form: str, along: int, longest: int
) -> torch.Tensor:
    """An operand as f64 with K as dimension `along`, the scales of `longest` elements at most."""
    if form == "e2m1":
        values = torch.stack(unpack_fp4(data, torch.float64), along + 1)
        shape = list(data.shape)
        shape[along] *= 2
        values = values.reshape(shape)
    elif data.dtype in (torch.uint8, torch.int8):
        values = data.view(_FORMATS[form]).double()
    else:
        values = data.double()
    if scale is None:
        return values
    codes = scale.view(torch.uint8).double()
    factors = torch.where(codes == 255, torch.nan, torch.exp2(codes - 127))
    if factors.shape[0] != values.shape[1 - along]:
        factors = factors.mT
    k, count = values.shape[along], factors.shape[1]
    # One for each element of `data`, or for each block.
    block = k // count if count and count == data.shape[along] else _BLOCK
    # The last block of K may be smaller than those before, and has the scales of a whole one.
    needed, most = (-(-elements // block) for elements in (k, max(k, longest)))
    if factors.shape[0] != values.shape[1 - along] or not needed <= count <= most:
        raise ShapeError(
            f"wl.dot_scaled: scales of shape {list(scale.shape)} for a matrix of shape"
            f" {list(data.shape)} in format {form}",
            remedy=f"give it one scale for {_BLOCK} elements along K in each of its"
            f" {'rows' if along else 'columns'}, or one for each element",
        )
    factors = factors.repeat_interleave(block, 1)[:, :k]
    return values * (factors if along == 1 else factors.mT)


def dot_scaled(
    mat1: torch.Tensor,
    mat1_scale: Any,
    mat1_format: str,
    mat2: torch.Tensor,
    mat2_scale: Any,
    mat2_format: str,
    acc: torch.Tensor | None = None,
    out_dtype: torch.dtype | None = None,
    *,
    longest: int = 0,
) -> torch.Tensor:
    """`wl.dot_scaled`; `longest` is the size of a block that K may be the shorter end of."""
    lhs = _dequantised(mat1, mat1_scale, mat1_format, 1, longest)
    rhs = _dequantised(mat2, mat2_scale, mat2_format, 0, longest)
    result = lhs @ rhs
    if acc is not None:
        result = result + acc.double()
    return result.to(out_dtype or (torch.float32 if acc is None else acc.dtype))
