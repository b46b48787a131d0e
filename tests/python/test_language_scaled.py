# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""fp4 in arithmetic, and products of matrices whose elements share scales."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import wavetile
import wavetile.language as wl

from tests.python.conftest import TARGETS
from tests.python.end_to_end import in_python, on

#: The numbers of e2m1 by their codes: table 5 of the OCP's "Microscaling Formats (MX) 1.0".
NUMBERS = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]
NUMBERS = torch.tensor(NUMBERS + [-number for number in NUMBERS])

# -- Numbers of 4 bits


@wavetile.kernel
def unpack(x: torch.Tensor, dtype: wl.constexpr) -> tuple[torch.Tensor, torch.Tensor]:
    low, high = torch.empty(x.shape, dtype=dtype), torch.empty(x.shape, dtype=dtype)
    for rows in wl.tile(x.size(0)):
        low[rows], high[rows] = wl.unpack_fp4(x[rows], dtype)
    return low, high


@wavetile.kernel
def pack(low: torch.Tensor, high: torch.Tensor) -> torch.Tensor:
    out = torch.empty(low.shape, dtype=torch.float4_e2m1fn_x2)
    for rows in wl.tile(low.size(0)):
        out[rows] = wl.pack_fp4(low[rows], high[rows])
    return out


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.float64])
def test_every_byte(target: str, dtype: torch.dtype) -> None:
    codes = torch.arange(256, dtype=torch.uint8)
    for x in (codes, codes.view(torch.float4_e2m1fn_x2)):
        low, high = on(unpack, target)(x, dtype)
        assert torch.equal(low, NUMBERS.to(dtype)[codes.long() & 15])
        assert torch.equal(high, NUMBERS.to(dtype)[codes.long() >> 4])
        assert torch.equal(low.signbit(), (codes & 8) != 0)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.float64])
def test_nearest_to_even(target: str, dtype: torch.dtype) -> None:
    positive = NUMBERS[:8].double()
    middles = (positive[1:] + positive[:-1]) / 2
    limits = torch.cat([middles, positive]).to(dtype)
    above = torch.nextafter(limits, torch.full_like(limits, torch.inf))
    below = torch.nextafter(limits, torch.full_like(limits, -torch.inf))
    special = torch.tensor([6.5, 1e4, torch.inf, torch.nan, 0.0], dtype=dtype)
    x = torch.cat([limits, above, below, special])
    x = torch.cat([x, -x])
    # By hand: the distance to each number, in float64, and of two the even code.
    distance = (x.double().abs()[:, None] - positive).abs()
    near = distance == distance.amin(-1, keepdim=True)
    even = torch.arange(8) % 2 == 0
    expected = torch.where(near & even, 2, near.int()).argmax(-1)
    expected[x.abs() > 6] = 7
    expected[x.isnan()] = 7
    expected += 8 * x.signbit()
    packed = on(pack, target)(x, x.flip(0)).view(torch.uint8).long()
    assert torch.equal(packed & 15, expected)
    assert torch.equal(packed >> 4, expected.flip(0))
    interpreted = in_python(pack)(x, x.flip(0))
    assert torch.equal(interpreted.view(torch.uint8).long(), packed)


# -- Products


@wavetile.kernel
def product(
    x: torch.Tensor,
    x_scale: torch.Tensor,
    y: torch.Tensor,
    y_scale: torch.Tensor,
    formats: wl.constexpr,
) -> torch.Tensor:
    m, n = x.size(0), y.size(1)
    out = torch.empty([m, n])
    for rows, cols in wl.tile([m, n]):
        out[rows, cols] = wl.dot_scaled(
            x[rows, :], x_scale[rows, :], formats[0], y[:, cols], y_scale[cols, :], formats[1]
        )
    return out


DTYPES = {
    "e4m3": torch.float8_e4m3fn,
    "e5m2": torch.float8_e5m2,
    "bf16": torch.bfloat16,
    "fp16": torch.float16,
}


def matrix(
    form: str, shape: tuple[int, int], generator: torch.Generator
) -> tuple[torch.Tensor, torch.Tensor]:
    """A matrix with K along the last dimension, and its numbers in f64."""
    if form != "e2m1":
        x = torch.randn(shape, generator=generator).to(DTYPES[form])
        return x, x.double()
    codes = torch.randint(0, 256, (shape[0], shape[1] // 2), generator=generator)
    numbers = torch.stack([NUMBERS[codes & 15], NUMBERS[codes >> 4]], -1).reshape(shape)
    return codes.to(torch.uint8), numbers.double()


def factors(scales: torch.Tensor) -> torch.Tensor:
    """What scales multiply elements along K by, one by one, in f64."""
    return torch.exp2(scales.double() - 127).repeat_interleave(32, -1)


def check(target: str, formats: tuple[str, str], k: int, generator: torch.Generator) -> None:
    m, n = 35, 33
    (x, x_numbers), (y, y_numbers) = (
        matrix(form, (rows, k), generator) for form, rows in zip(formats, (m, n), strict=True)
    )
    scales = [torch.randint(120, 134, (r, k // 32), generator=generator) for r in (m, n)]
    wide = [factors(s) for s in scales]
    expected = (x_numbers * wide[0]) @ (y_numbers * wide[1]).mT
    x_scale, y_scale = (s.to(torch.uint8) for s in scales)
    result = on(product, target)(x, x_scale, y.mT.contiguous(), y_scale, formats)
    size = (x_numbers * wide[0]).abs() @ (y_numbers * wide[1]).abs().mT
    assert ((result - expected).abs() <= 2.0**-20 * size).all()
    # Scales of their own dtype, and those of the second matrix as K is in it.
    e8m0 = torch.float8_e8m0fnu
    again = on(product_of_e8m0, target)(
        x, x_scale.view(e8m0), y.mT.contiguous(), y_scale.mT.contiguous().view(e8m0), formats
    )
    assert torch.equal(again, result)


@wavetile.kernel
def product_of_e8m0(
    x: torch.Tensor,
    x_scale: torch.Tensor,
    y: torch.Tensor,
    y_scale: torch.Tensor,
    formats: wl.constexpr,
) -> torch.Tensor:
    m, n = x.size(0), y.size(1)
    out = torch.empty([m, n])
    for rows, cols in wl.tile([m, n]):
        acc = wl.zeros([rows, cols])
        out[rows, cols] = wl.dot_scaled(
            x[rows, :], x_scale[rows, :], formats[0], y[:, cols], y_scale[:, cols], formats[1], acc
        )
    return out


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    "formats",
    [("e4m3", "e4m3"), ("e5m2", "e4m3"), ("e2m1", "e2m1"), ("e2m1", "e4m3"), ("bf16", "e2m1")],
)
def test_formats(target: str, formats: tuple[str, str], generator: torch.Generator) -> None:
    check(target, formats, 64, generator)


@pytest.mark.parametrize("target", TARGETS)
def test_f16_keeps_its_digits(target: str, generator: torch.Generator) -> None:
    check(target, ("fp16", "fp16"), 64, generator)


@wavetile.kernel
def blocks(
    x: torch.Tensor, x_scale: torch.Tensor, y: torch.Tensor, y_scale: torch.Tensor
) -> torch.Tensor:
    m, n = x.size(0), y.size(1)
    out = torch.empty([m, n], dtype=torch.bfloat16)
    for rows, cols in wl.tile([m, n]):
        acc = wl.zeros([rows, cols])
        for k in wl.tile(x.size(1)):
            acc = wl.dot_scaled(
                x[rows, k],
                x_scale[rows, k.index // 32],
                "e4m3",
                y[k, cols],
                y_scale[cols, k.index // 32],
                "e4m3",
                acc=acc,
                out_dtype=torch.float32,
            )
        out[rows, cols] = acc.to(torch.bfloat16)
    return out


@pytest.mark.parametrize("target", TARGETS)
def test_k_in_blocks(target: str, generator: torch.Generator) -> None:
    (x, wide_x), (y, wide_y) = (matrix("e4m3", (40, 224), generator) for _ in range(2))
    scales = torch.randint(125, 130, (2, 40, 7), generator=generator)
    wide = factors(scales)
    expected = (wide_x * wide[0]) @ (wide_y * wide[1]).mT
    x_scale, y_scale = scales.to(torch.uint8)
    result = on(blocks, target)(x, x_scale, y.mT.contiguous(), y_scale)
    torch.testing.assert_close(result.double(), expected, rtol=2.0**-8, atol=1e-2)


def test_in_python(generator: torch.Generator) -> None:
    for formats in (("e2m1", "e5m2"), ("bf16", "e2m1")):
        x, y = (matrix(form, (33, 96), generator)[0] for form in formats)
        scales = torch.randint(120, 134, (2, 33, 3), generator=generator).to(torch.uint8)
        args = (x, scales[0], y.mT.contiguous(), scales[1], formats)
        interpreted = in_python(product)(*args)
        torch.testing.assert_close(product(*args), interpreted, rtol=1e-4, atol=1e-2)


def test_scales_that_are_no_number(generator: torch.Generator) -> None:
    x, _ = matrix("e4m3", (32, 64), generator)
    scales = torch.full((2, 32, 2), 127, dtype=torch.uint8)
    scales[0, 5, 1] = 255
    result = product(x, scales[0], x.mT.contiguous(), scales[1], ("e4m3", "e4m3"))
    assert result[5].isnan().all()
    assert not result[torch.arange(32) != 5].isnan().any()


@wavetile.kernel
def fixed_blocks(
    x: torch.Tensor,
    x_scale: torch.Tensor,
    y: torch.Tensor,
    block: wl.constexpr,
    count: wl.constexpr,
) -> torch.Tensor:
    m, n = x.size(0), y.size(1)
    out = torch.empty([m, n])
    for rows, cols in wl.tile([m, n]):
        acc = wl.zeros([rows, cols])
        for k in wl.tile(x.size(1), block_size=block):
            scale = x_scale[rows, k.begin // 32 + wl.arange(count)]
            acc = wl.dot_scaled(x[rows, k], scale, "e4m3", y[k, cols], None, "e4m3", acc)
        out[rows, cols] = acc
    return out


@pytest.mark.parametrize("target", TARGETS)
def test_a_block_of_k_with_its_scales(target: str, generator: torch.Generator) -> None:
    (x, wide_x), (y, wide_y) = (matrix("e4m3", (40, 224), generator) for _ in range(2))
    scales = torch.randint(125, 130, (40, 7), generator=generator)
    expected = (wide_x * factors(scales)) @ wide_y.mT
    result = on(fixed_blocks, target)(x, scales.to(torch.uint8), y.mT.contiguous(), 64, 2)
    torch.testing.assert_close(result.double(), expected, rtol=1e-5, atol=1e-3)


@pytest.mark.parametrize("target", TARGETS)
def test_k_of_zero_and_not_of_32(target: str, generator: torch.Generator) -> None:
    for k in (0, 40):
        (x, wide_x), (y, wide_y) = (matrix("e4m3", (33, k), generator) for _ in range(2))
        scales = torch.randint(120, 134, (2, 33, -(-k // 32)), generator=generator)
        wide = factors(scales)[..., :k]
        expected = (wide_x * wide[0]) @ (wide_y * wide[1]).mT
        args = (x, scales[0].to(torch.uint8), y.mT.contiguous(), scales[1].to(torch.uint8))
        args = (*args, ("e4m3", "e4m3"))
        result = on(product, target)(*args)
        torch.testing.assert_close(result.double(), expected, rtol=1e-5, atol=1e-3)
        interpreted = in_python(product)(*args)
        torch.testing.assert_close(interpreted.double(), expected, rtol=1e-5, atol=1e-3)


@pytest.mark.compiled
def test_scales_of_another_shape() -> None:
    x, y = torch.zeros(32, 64), torch.zeros(64, 40)
    x, y = x.to(torch.float8_e4m3fn), y.to(torch.float8_e4m3fn)
    formats = ("e4m3", "e4m3")

    def refused(message: str, *args: Any, kernel: Any = product) -> None:
        for make in (wavetile.kernel, wavetile.kernel(interpret=True)):
            with pytest.raises(wavetile.errors.ShapeError, match=message) as raised:
                make(kernel.source.function)(*args)
            assert "one scale for 32 elements along K" in str(raised.value.remedy)

    def scales(rows: int, count: int) -> torch.Tensor:
        return torch.full((rows, count), 127, dtype=torch.uint8)

    kernel = wavetile.kernel(product.source.function)
    kernel(x, scales(32, 2), y, scales(40, 2), formats)
    with pytest.raises(wavetile.errors.ShapeError) as raised:
        kernel(x, scales(32, 3), y, scales(40, 2), formats)
    assert raised.value.message == (
        "wl.dot_scaled: scales of shape [rows, x_scale_dim1] for the first matrix of shape"
        " [rows, x_dim1]: K, of 64 elements, has 2 blocks of 32, not 3"
    )
    for count in (1, 3, 32):
        refused("scales of shape", x, scales(32, count), y, scales(40, 2), formats)
        refused("scales of shape", x, scales(32, 2), y, scales(40, count), formats)
    packed = torch.zeros(32, 32, dtype=torch.uint8)
    refused("scales of shape", packed, scales(32, 1), y, scales(40, 2), ("e2m1", "e4m3"))
    with pytest.raises(wavetile.errors.ShapeError, match="scales of shape"):
        fixed_blocks.bind(x, scales(32, 2), y, 64, 4)
    with pytest.raises(wavetile.errors.ShapeError, match=r"\[rows, n\] .* \[rows, k\]"):
        all_scales_for_a_block.bind(x, scales(32, 2), y)


@wavetile.kernel
def all_scales_for_a_block(x: torch.Tensor, x_scale: torch.Tensor, y: torch.Tensor) -> None:
    m, n = x_scale.size()
    for rows, cols in wl.tile([m, y.size(1)]):
        acc = wl.zeros([rows, cols])
        for k in wl.tile(x.size(1)):
            acc = wl.dot_scaled(x[rows, k], x_scale[rows, :], "e4m3", y[k, cols], None, "e4m3", acc)


@pytest.mark.compiled
def test_mistakes() -> None:
    x, scale = torch.zeros(32, 64, dtype=torch.float8_e4m3fn), torch.zeros(32, 2, dtype=torch.uint8)

    def mistake(error: type[Exception], text: str, *args: Any) -> None:
        with pytest.raises(error, match=text):
            product.bind(*args)

    errors = wavetile.errors
    y = x.mT.contiguous()
    mistake(errors.ArgumentError, "is one of e4m3", x, scale, y, scale, ("e3m4", "e4m3"))
    mistake(errors.DTypeError, "format bf16 is not of", x, scale, y, scale, ("bf16", "e4m3"))
    mistake(errors.DTypeError, "the scales", x, scale.float(), y, scale, ("e4m3", "e4m3"))
    with pytest.raises(errors.DTypeError, match="each element holds two numbers"):
        convert(torch.zeros(4, dtype=torch.uint8).view(torch.float4_e2m1fn_x2))


@wavetile.kernel
def convert(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty(x.shape)
    for rows in wl.tile(x.size(0)):
        out[rows] = x[rows].to(torch.float32)
    return out
