# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Numbers of few bits that share scales, of `wavetile.language`."""

from __future__ import annotations

import torch

from wavetile.device_functions import device_function, outside


@device_function
def dot_scaled(
    mat1: torch.Tensor,
    mat1_scale: torch.Tensor | None,
    mat1_format: str,
    mat2: torch.Tensor,
    mat2_scale: torch.Tensor | None,
    mat2_format: str,
    acc: torch.Tensor | None = None,
    out_dtype: torch.dtype | None = None,
) -> torch.Tensor:
    """The product of matrices whose elements share scales, plus `acc`, summed in f32.

    A scale is a power of two for 32 elements along K, as in "OCP Microscaling Formats (MX)
    Specification", version 1.0.

    Args:
        mat1: M x K; M x K/2 bytes for "e2m1", with even elements in the lower bits
        mat1_scale: M x K/32 of torch.float8_e8m0fnu or torch.uint8, or one for each element of
            mat1; None for 1
        mat1_format: "e2m1", "e4m3", "e5m2", "bf16" or "fp16"
        mat2: K x N; K/2 x N bytes for "e2m1"
        mat2_scale: N x K/32, or K/32 x N, or one for each element of mat2; None for 1
        mat2_format: as for mat1
        acc: a tile of M x N
        out_dtype: the dtype of the result; without it that of `acc`, or f32

    Returns:
        a tile of M x N

    Raises:
        ArgumentError: a format that does not exist
        DTypeError: a matrix or scale whose dtype is not of its format
        ShapeError: the dimensions do not agree

    Example:
        acc = wl.dot_scaled(x[rows, :], x_scale[rows, :], "e4m3",
                            y[:, cols], y_scale[cols, :], "e4m3", acc)
    """
    raise outside("dot_scaled")


@device_function
def unpack_fp4(
    input: torch.Tensor, dtype: torch.dtype = torch.float32
) -> tuple[torch.Tensor, torch.Tensor]:
    """The two fp4 numbers in each byte, as floats: e2m1 of the OCP's MX formats.

    Args:
        input: a tile of torch.float4_e2m1fn_x2 or torch.uint8
        dtype: of the results

    Returns:
        two tiles of its shape: those in the lower 4 bits, the even elements, and those in the
        upper ones

    Raises:
        DTypeError: the input holds no fp4
        ArgumentError: dtype is no floating-point type

    Example:
        even, odd = wl.unpack_fp4(x[rows, :], torch.bfloat16)
    """
    raise outside("unpack_fp4")


@device_function
def float4_e2m1fn_x2_to_float32(input: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """As `unpack_fp4` to f32, by Helion's name.

    Args:
        input: a tile of torch.float4_e2m1fn_x2 or torch.uint8

    Returns:
        two f32 tiles of its shape: those in the lower 4 bits of each byte, and those in the upper

    Raises:
        DTypeError: the input holds no fp4

    Example:
        even, odd = wl.float4_e2m1fn_x2_to_float32(x[rows, :])
    """
    raise outside("float4_e2m1fn_x2_to_float32")


@device_function
def pack_fp4(low: torch.Tensor, high: torch.Tensor) -> torch.Tensor:
    """Bytes with the nearest fp4 (e2m1) of two floats: the reverse of `unpack_fp4`.

    Of two that are as near the even one is taken; NaN and what is above 6 in magnitude is 6.

    Args:
        low, high: tiles of floats, for the lower and the upper 4 bits

    Returns:
        a tile of torch.float4_e2m1fn_x2, of the shape to which they broadcast

    Raises:
        DTypeError: the operands are not floats

    Example:
        out[rows, :] = wl.pack_fp4(even, odd)
    """
    raise outside("pack_fp4")
