# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Matrix products by Triton's compiler: tiles, warps, types, layouts, odd sizes."""

import pytest
import torch
import triton
import triton.language as tl
from wavetile.device import triton as software
from wavetile.testing import assert_close

from tests.python.clients.launches import launched


@triton.jit
def matmul(
    a_ptr,
    b_ptr,
    out_ptr,
    M,
    N,
    K,
    a_row,
    a_column,
    b_row,
    b_column,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    MASK_K: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """out[M, N] = a[M, K] @ b[K, N]; a tile of out for each program; out is contiguous."""
    row = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    column = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    depth = tl.arange(0, BLOCK_K)
    a_pointers = a_ptr + row[:, None] * a_row + depth[None, :] * a_column
    b_pointers = b_ptr + depth[:, None] * b_row + column[None, :] * b_column
    total = tl.zeros((BLOCK_M, BLOCK_N), out_ptr.dtype.element_ty)
    if out_ptr.dtype.element_ty != tl.int32:
        total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, K, BLOCK_K):
        inside_a = row[:, None] < M
        inside_b = column[None, :] < N
        if MASK_K:
            inside_a = inside_a & (depth[None, :] + start < K)
            inside_b = inside_b & (depth[:, None] + start < K)
        a = tl.load(a_pointers, mask=inside_a, other=0.0)
        b = tl.load(b_pointers, mask=inside_b, other=0.0)
        total = tl.dot(a, b, acc=total, input_precision=PRECISION, out_dtype=total.dtype)
        a_pointers += BLOCK_K * a_column
        b_pointers += BLOCK_K * b_row
    inside = (row[:, None] < M) & (column[None, :] < N)
    out_pointers = out_ptr + row[:, None] * N + column[None, :]
    tl.store(out_pointers, total.to(out_ptr.dtype.element_ty), mask=inside)


@triton.jit
def scaled_matmul(
    a_ptr,
    a_scale_ptr,
    b_ptr,
    b_scale_ptr,
    out_ptr,
    M,
    N,
    K,
    A_FORMAT: tl.constexpr,
    B_FORMAT: tl.constexpr,
    A_PACK: tl.constexpr,
    B_PACK: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    """out[M, N] = (a * its scales) @ (b * its scales) with a scale for each 32 elements along K.

    a is [M, K / A_PACK], b is [K / B_PACK, N], both scales [rows or columns, K / 32] of E8M0.
    """
    row = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    column = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    a_depth = tl.arange(0, BLOCK_K // A_PACK)
    b_depth = tl.arange(0, BLOCK_K // B_PACK)
    group = tl.arange(0, BLOCK_K // 32)
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, K, BLOCK_K):
        a_k = start // A_PACK + a_depth
        b_k = start // B_PACK + b_depth
        scale_k = start // 32 + group
        a = tl.load(
            a_ptr + row[:, None] * (K // A_PACK) + a_k[None, :], mask=row[:, None] < M, other=0
        )
        b = tl.load(b_ptr + b_k[:, None] * N + column[None, :], mask=column[None, :] < N, other=0)
        a_scale = tl.load(
            a_scale_ptr + row[:, None] * (K // 32) + scale_k[None, :],
            mask=row[:, None] < M,
            other=127,
        )
        b_scale = tl.load(
            b_scale_ptr + column[:, None] * (K // 32) + scale_k[None, :],
            mask=column[:, None] < N,
            other=127,
        )
        total = tl.dot_scaled(a, a_scale, A_FORMAT, b, b_scale, B_FORMAT, total)
    inside = (row[:, None] < M) & (column[None, :] < N)
    tl.store(out_ptr + row[:, None] * N + column[None, :], total, mask=inside)


#: M, N, K, the tile, warps, options of Triton's AMD compiler.
SHAPES = {
    "odd": (37, 53, 71, (32, 32, 32), 4, {}),
    "odd-8-warps": (101, 131, 97, (64, 64, 32), 8, {}),
    "even-k": (130, 67, 128, (128, 64, 64), 4, {"num_stages": 2}),
    "wide": (17, 257, 64, (16, 128, 64), 4, {"matrix_instr_nonkdim": 16}),
    "tall-8-warps": (257, 33, 192, (128, 32, 64), 8, {"num_stages": 3}),
}

FP8 = {"gfx942": torch.float8_e4m3fnuz, "gfx950": torch.float8_e4m3fn, "gfx1150": torch.float8_e5m2}


def operands(
    generator: torch.Generator, M: int, N: int, K: int, dtype: torch.dtype, layout: str
) -> tuple[torch.Tensor, torch.Tensor]:
    """A random a[M, K] and b[K, N]; the letters say which is stored as is (N) or transposed (T)."""
    sizes = ((M, K), (K, N))
    parts = []
    for (rows, columns), letter in zip(sizes, layout):
        size = (rows, columns) if letter == "N" else (columns, rows)
        if dtype == torch.int8:
            part = torch.randint(-128, 128, size, generator=generator).to(dtype)
        else:
            part = torch.randn(size, generator=generator).to(dtype)
        parts.append(part if letter == "N" else part.T)
    return parts[0], parts[1]


def multiply(
    a: torch.Tensor, b: torch.Tensor, out: torch.Tensor, shape: str, precision: str = "ieee"
) -> None:
    """Launches `matmul` with the tile of SHAPES[shape]."""
    tile, warps, options = SHAPES[shape][3:]
    (M, K), N = a.shape, b.shape[1]
    grid = (triton.cdiv(M, tile[0]), triton.cdiv(N, tile[1]))
    matmul[grid](
        a,
        b,
        out,
        M,
        N,
        K,
        *a.stride(),
        *b.stride(),
        *tile,
        K % tile[2] != 0,
        precision,
        num_warps=warps,
        **options,
    )


def check(
    device: software.SoftwareDriver,
    target: str,
    generator: torch.Generator,
    dtype: torch.dtype,
    shape: str,
    layout: str,
) -> None:
    M, N, K = SHAPES[shape][:3]
    a, b = operands(generator, M, N, K, dtype, layout)
    out = torch.empty(M, N)
    multiply(a, b, out, shape)
    assert_close(out, a.double() @ b.double(), length=K, c=4)
    assert launched(device.library, target) == {"matmul": 1}


@pytest.mark.parametrize("layout", ["NN", "NT", "TN"])
@pytest.mark.parametrize("shape", ["odd", "even-k"])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32], ids=str)
def test_matmul_layouts(
    device: software.SoftwareDriver,
    target: str,
    generator: torch.Generator,
    dtype: torch.dtype,
    shape: str,
    layout: str,
) -> None:
    check(device, target, generator, dtype, shape, layout)


@pytest.mark.parametrize("shape", ["odd-8-warps", "wide", "tall-8-warps"])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_matmul_tiles(
    device: software.SoftwareDriver,
    target: str,
    generator: torch.Generator,
    dtype: torch.dtype,
    shape: str,
) -> None:
    check(device, target, generator, dtype, shape, "NN")


@pytest.mark.parametrize("layout", ["NN", "NT"])
@pytest.mark.parametrize("shape", ["odd", "even-k", "tall-8-warps"])
def test_matmul_fp8(
    device: software.SoftwareDriver,
    target: str,
    generator: torch.Generator,
    shape: str,
    layout: str,
) -> None:
    check(device, target, generator, FP8[target], shape, layout)


@pytest.mark.parametrize("shape", ["odd", "even-k"])
def test_matmul_of_integers_is_exact(
    device: software.SoftwareDriver, target: str, generator: torch.Generator, shape: str
) -> None:
    M, N, K = SHAPES[shape][:3]
    a, b = operands(generator, M, N, K, torch.int8, "NT")
    out = torch.empty(M, N, dtype=torch.int32)
    multiply(a, b, out, shape)
    assert torch.equal(out.long(), a.long() @ b.long())
    assert launched(device.library, target) == {"matmul": 1}


@pytest.mark.parametrize("target", ["gfx942"])  # The only one that has xf32.
def test_matmul_in_tf32(
    device: software.SoftwareDriver, target: str, generator: torch.Generator
) -> None:
    """Inputs keep 10 bits of their mantissas: each is off by less than 2^-10 of itself."""
    M, N, K = SHAPES["even-k"][:3]
    a, b = operands(generator, M, N, K, torch.float32, "NN")
    out = torch.empty(M, N)
    multiply(a, b, out, "even-k", "tf32")
    error = (out.double() - a.double() @ b.double()).abs()
    assert (error < 2.1 * 2**-10 * (a.double().abs() @ b.double().abs())).all()
    assert error.max() > 2**-12
    assert launched(device.library, target) == {"matmul": 1}


def test_matmul_rounds_its_result(
    device: software.SoftwareDriver, target: str, generator: torch.Generator
) -> None:
    M, N, K = SHAPES["odd"][:3]
    for dtype in (torch.float16, torch.bfloat16):
        a, b = operands(generator, M, N, K, dtype, "NN")
        out = torch.empty(M, N, dtype=dtype)
        multiply(a, b, out, "odd")
        assert_close(out, a.double() @ b.double(), c=2)
    assert launched(device.library, target) == {"matmul": 2}


#: The values of E2M1 by their four bits.
E2M1 = torch.tensor([0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0])
E2M1 = torch.cat([E2M1, -E2M1]).double()


def microscaled(
    generator: torch.Generator, rows: int, K: int, form: str
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Random elements [rows, K] in `form`, packed along K, their scales, and the values."""
    scale = torch.randint(120, 134, (rows, K // 32), generator=generator, dtype=torch.uint8)
    factor = torch.exp2(scale.double() - 127).repeat_interleave(32, dim=1)
    if form == "e2m1":
        bits = torch.randint(16, (rows, K), generator=generator, dtype=torch.uint8)
        packed = bits[:, 0::2] | bits[:, 1::2] << 4
        return packed, scale, E2M1[bits.long()] * factor
    dtype = torch.float8_e4m3fn if form == "e4m3" else torch.float8_e5m2
    elements = torch.randn((rows, K), generator=generator).to(dtype)
    return elements.view(torch.uint8), scale, elements.double() * factor


@pytest.mark.parametrize("a_form", ["e2m1", "e4m3", "e5m2"])
@pytest.mark.parametrize("b_form", ["e2m1", "e4m3"])
@pytest.mark.parametrize("target", ["gfx950", "gfx942"])
def test_microscaled_matmul(
    device: software.SoftwareDriver,
    target: str,
    generator: torch.Generator,
    a_form: str,
    b_form: str,
) -> None:
    """v_mfma_scale on gfx950; on gfx942 Triton converts to bf16 first."""
    M, N, K = 67, 45, 256
    a, a_scale, a_value = microscaled(generator, M, K, a_form)
    b, b_scale, b_value = microscaled(generator, N, K, b_form)
    out = torch.empty(M, N)
    packs = [2 if form == "e2m1" else 1 for form in (a_form, b_form)]
    scaled_matmul[(2, 1)](
        a, a_scale, b.T.contiguous(), b_scale, out, M, N, K, a_form, b_form, *packs, 64, 64, 128
    )
    assert_close(out, a_value @ b_value.T, length=K, c=4)
    assert launched(device.library, target) == {"scaled_matmul": 1}
