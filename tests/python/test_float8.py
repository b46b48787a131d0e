# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""8-bit floats on every target: every code, every 16-bit float, f32 and f64 of all magnitudes."""

import pytest
import torch
import wavetile
import wavetile.language as wl

from .end_to_end import on

FORMATS = [
    torch.float8_e4m3fn,
    torch.float8_e4m3fnuz,
    torch.float8_e5m2,
    torch.float8_e5m2fnuz,
]
COLUMNS = 64


@wavetile.kernel
def convert(x: torch.Tensor, out: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        out[rows, :] = x[rows, :].to(out.dtype)


def converted(x: torch.Tensor, dtype: torch.dtype, target: str) -> torch.Tensor:
    missing = -x.numel() % COLUMNS
    rows = torch.cat([x, torch.zeros(missing).to(x.dtype)]).reshape(-1, COLUMNS)
    out = (
        torch.full(rows.shape, 0x35, dtype=torch.uint8).view(dtype)
        if dtype.itemsize == 1
        else (torch.full(rows.shape, 77).to(dtype))
    )
    on(convert, target)(rows, out)
    return out.flatten()[: x.numel()]


def assert_same(got: torch.Tensor, wanted: torch.Tensor, source: torch.Tensor) -> None:
    """Equal bits, but for the payload and sign of NaN."""
    nan = wanted.float().isnan()
    assert torch.equal(got.float().isnan(), nan)
    width = torch.uint8 if got.dtype in FORMATS else torch.int16
    if got.dtype.itemsize > 2:
        width = torch.int32 if got.dtype == torch.float32 else torch.int64
    differs = (got.view(width) != wanted.view(width)) & ~nan
    first = differs.nonzero()[:3].flatten()
    assert not differs.any(), (source.double()[first], got.float()[first], wanted.float()[first])


@pytest.mark.parametrize(
    "target_dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16]
)
@pytest.mark.parametrize("dtype", FORMATS)
def test_every_code(dtype: torch.dtype, target_dtype: torch.dtype, target: str) -> None:
    x = torch.arange(256).to(torch.uint8).view(dtype)
    assert_same(converted(x, target_dtype, target), x.to(target_dtype), x)


@pytest.mark.parametrize("source_dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("dtype", FORMATS)
def test_every_16_bit_float(dtype: torch.dtype, source_dtype: torch.dtype, target: str) -> None:
    x = torch.arange(1 << 16).to(torch.int32).to(torch.int16).view(source_dtype)
    assert_same(converted(x, dtype, target), x.to(dtype), x)


@pytest.mark.parametrize("source_dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("dtype", FORMATS)
def test_numbers_around_every_code(
    dtype: torch.dtype, source_dtype: torch.dtype, target: str, generator: torch.Generator
) -> None:
    """Each number, each half between two, their neighbours; and random bits."""
    codes = torch.arange(256).to(torch.uint8).view(dtype).double()
    codes = codes[codes.isfinite()].unique()
    halves = (codes[1:] + codes[:-1]) / 2
    places = torch.cat([codes, halves, codes * 1.25]).to(source_dtype)
    up = torch.nextafter(places, torch.full_like(places, torch.inf))
    down = torch.nextafter(places, torch.full_like(places, -torch.inf))
    bits = torch.randint(-(2**31), 2**31, (20_000,), generator=generator).to(torch.int32)
    random = bits.view(torch.float32).to(source_dtype)
    special = torch.tensor([1e4, -1e4, 1e5, -1e5, torch.inf, -torch.inf, torch.nan, -0.0])
    x = torch.cat([places, up, down, random, special.to(source_dtype)])
    assert_same(converted(x, dtype, target), x.to(dtype), x)


def test_overflow_is_torchs(target: str) -> None:
    x = torch.tensor([1e4, -1e4, 1e5, -1e5])
    assert converted(x, torch.float8_e4m3fn, target).float().tolist() == [448, -448, 448, -448]
    infinity = torch.inf
    overflow = [57344, -57344, infinity, -infinity]
    assert converted(x, torch.float8_e5m2, target).float().tolist()[2:] == overflow[2:]
    for dtype in (torch.float8_e4m3fnuz, torch.float8_e5m2fnuz):
        assert converted(x, dtype, target).float().isnan().tolist()[2:] == [True, True]


def test_every_code_of_a_scale(target: str) -> None:
    x = torch.arange(256).to(torch.uint8).view(torch.float8_e8m0fnu)
    for dtype in (torch.float64, torch.float32, torch.bfloat16):
        assert_same(converted(x, dtype, target), x.to(dtype), x.float())


@pytest.mark.parametrize("source_dtype", [torch.float16, torch.bfloat16])
def test_every_16_bit_float_to_a_scale(source_dtype: torch.dtype, target: str) -> None:
    x = torch.arange(1 << 16).to(torch.int32).to(torch.int16).view(source_dtype)
    got = converted(x, torch.float8_e8m0fnu, target).view(torch.uint8)
    assert torch.equal(got, x.to(torch.float8_e8m0fnu).view(torch.uint8))


def test_f32_to_a_scale(target: str, generator: torch.Generator) -> None:
    bits = torch.randint(-(2**31), 2**31, (20_000,), generator=generator).to(torch.int32)
    halves = (torch.arange(512).to(torch.int32) << 22) + torch.tensor([[-1], [0], [1]])
    x = torch.cat([bits, halves.flatten().to(torch.int32)]).view(torch.float32)
    got = converted(x, torch.float8_e8m0fnu, target).view(torch.uint8)
    assert torch.equal(got, x.to(torch.float8_e8m0fnu).view(torch.uint8))


def test_packed_numbers_are_copied(generator: torch.Generator) -> None:
    codes = torch.randint(0, 256, (5, 67), generator=generator).to(torch.uint8)
    out = torch.zeros_like(codes)
    convert(codes.view(torch.float4_e2m1fn_x2), out.view(torch.float4_e2m1fn_x2))
    assert torch.equal(out, codes)
    with pytest.raises(wavetile.errors.DTypeError, match="each element holds two numbers"):
        convert(codes.view(torch.float4_e2m1fn_x2), torch.zeros(5, 67))
