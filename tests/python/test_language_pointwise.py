# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Pointwise operations: numbers against float64, dtypes against torch."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812 (its usual name)
import wavetile
import wavetile.language as wl
from wavetile.testing import assert_close

# Rectangular, neither size a multiple of a vector or a wave.
SHAPE = (5, 77)


@wavetile.kernel
def apply_unary(function: wl.constexpr, x: torch.Tensor, out: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        out[rows, :] = function(x[rows, :])


@wavetile.kernel
def apply_binary(
    function: wl.constexpr, x: torch.Tensor, y: torch.Tensor, out: torch.Tensor
) -> None:
    for rows in wl.tile(x.size(0)):
        out[rows, :] = function(x[rows, :], y[rows, :])


def check(function: Callable[..., Any], *operands: torch.Tensor, c: float = 1.0) -> None:
    """Compares dtype with torch's, and numbers with torch's in float64."""
    wanted = function(*operands)
    # Stale memory must not look like a result.
    out = torch.full_like(wanted, 7)
    (apply_unary if len(operands) == 1 else apply_binary)(function, *operands, out)
    if wanted.dtype.is_floating_point:
        wide = [o.double() if o.dtype.is_floating_point else o for o in operands]
        assert_close(out, function(*wide).double(), c=c)
    else:
        assert torch.equal(out, wanted)


def exp(v: torch.Tensor) -> torch.Tensor:
    return torch.exp(v)


def exp2(v: torch.Tensor) -> torch.Tensor:
    return torch.exp2(v)


def log(v: torch.Tensor) -> torch.Tensor:
    return torch.log(torch.abs(v) + 0.5)


def log2(v: torch.Tensor) -> torch.Tensor:
    return torch.log2(torch.abs(v) + 0.5)


def sqrt(v: torch.Tensor) -> torch.Tensor:
    return torch.sqrt(torch.abs(v))


def rsqrt(v: torch.Tensor) -> torch.Tensor:
    return torch.rsqrt(torch.abs(v) + 0.5)


def sigmoid(v: torch.Tensor) -> torch.Tensor:
    return torch.sigmoid(v)


def silu(v: torch.Tensor) -> torch.Tensor:
    return F.silu(v)


def relu(v: torch.Tensor) -> torch.Tensor:
    return torch.relu(v)


def floor(v: torch.Tensor) -> torch.Tensor:
    return v.floor()


def ceil(v: torch.Tensor) -> torch.Tensor:
    return v.ceil()


def trunc(v: torch.Tensor) -> torch.Tensor:
    return v.trunc()


def round_half_even(v: torch.Tensor) -> torch.Tensor:
    return torch.round(v)


def negate(v: torch.Tensor) -> torch.Tensor:
    return -v


def clamp(v: torch.Tensor) -> torch.Tensor:
    return torch.clamp(v, -0.5, 0.75)


def square(v: torch.Tensor) -> torch.Tensor:
    return v**2


def choose(v: torch.Tensor) -> torch.Tensor:
    return torch.where(v > 0.25, v * 3, -v)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize(
    "function",
    [
        exp,
        exp2,
        log,
        log2,
        sqrt,
        rsqrt,
        sigmoid,
        silu,
        relu,
        floor,
        ceil,
        trunc,
        round_half_even,
        negate,
        clamp,
        square,
        choose,
    ],
)
def test_function(
    function: Callable[..., Any], dtype: torch.dtype, generator: torch.Generator
) -> None:
    # Halves are where rounding to even shows; no value is rounded by the conversion.
    x = (torch.randn(SHAPE, generator=generator) * 8).round() / 4
    check(function, x.to(dtype), c=4.0)


def add(x: Any, y: Any) -> Any:
    return x + y


def sub(x: Any, y: Any) -> Any:
    return x - y


def mul(x: Any, y: Any) -> Any:
    return x * y


def div(x: Any, y: Any) -> Any:
    return x / y


def maximum(x: Any, y: Any) -> Any:
    return torch.maximum(x, y)


def minimum(x: Any, y: Any) -> Any:
    return torch.minimum(x, y)


def less(x: Any, y: Any) -> Any:
    return x < y


def equal(x: Any, y: Any) -> Any:
    return x == y


@pytest.mark.parametrize(
    "dtypes",
    [
        (torch.float32, torch.float32),
        (torch.bfloat16, torch.float32),
        (torch.float16, torch.float16),
        (torch.int32, torch.int32),
        (torch.int64, torch.int32),
        (torch.int32, torch.bfloat16),
    ],
    ids=str,
)
@pytest.mark.parametrize("function", [add, sub, mul, div, maximum, minimum, less, equal])
def test_operator(
    function: Callable[..., Any],
    dtypes: tuple[torch.dtype, torch.dtype],
    generator: torch.Generator,
) -> None:
    x = torch.randint(-9, 10, SHAPE, generator=generator).to(dtypes[0])
    y = torch.randint(1, 5, SHAPE, generator=generator).to(dtypes[1])
    check(function, x, y)


@pytest.mark.parametrize("function", [maximum, minimum, less, equal])
def test_nan_and_infinities(function: Callable[..., Any]) -> None:
    special = torch.tensor([float("nan"), float("inf"), -float("inf"), 0.0, -0.0, 1.0, -1.0])
    x = special.repeat_interleave(7)[None].repeat(5, 1)
    y = special.repeat(7)[None].repeat(5, 1)
    check(function, x, y)


def and_(x: Any, y: Any) -> Any:
    return x & y


def or_(x: Any, y: Any) -> Any:
    return x | y


def xor(x: Any, y: Any) -> Any:
    return x ^ y


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64, torch.bool])
@pytest.mark.parametrize("function", [and_, or_, xor])
def test_bits(function: Callable[..., Any], dtype: torch.dtype, generator: torch.Generator) -> None:
    x = torch.randint(-9, 10, SHAPE, generator=generator).to(dtype)
    y = torch.randint(-1, 2, SHAPE, generator=generator).to(dtype)
    check(function, x, y)


@pytest.mark.parametrize("target_dtype", [torch.float32, torch.bfloat16, torch.int32, torch.bool])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.int32, torch.bool])
def test_conversion(
    dtype: torch.dtype, target_dtype: torch.dtype, generator: torch.Generator
) -> None:
    x = torch.randint(-3, 4, SHAPE, generator=generator).to(dtype)
    out = torch.empty(SHAPE, dtype=target_dtype)
    copy(x, out)
    assert torch.equal(out, x.to(target_dtype))


@wavetile.kernel
def copy(x: torch.Tensor, out: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        out[rows, :] = x[rows, :].to(out.dtype)


@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.float8_e5m2])
def test_float8(dtype: torch.dtype, generator: torch.Generator) -> None:
    x = torch.randn(SHAPE, generator=generator) * 100
    x[0, :6] = torch.tensor([1e4, -1e4, float("inf"), float("nan"), 0.0, 1e-9])
    out = torch.empty(SHAPE, dtype=dtype)
    copy(x, out)
    assert torch.equal(out.float().nan_to_num(nan=-1.25), x.to(dtype).float().nan_to_num(nan=-1.25))
    back = torch.empty(SHAPE)
    copy(out, back)
    assert torch.equal(back.nan_to_num(nan=-1.25), out.float().nan_to_num(nan=-1.25))
