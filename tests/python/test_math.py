# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Accuracy of functions: every 16-bit float, and f32 over its whole range."""

from collections.abc import Callable

import pytest
import torch
import wavetile
import wavetile.language as wl

from .end_to_end import on

COLUMNS = 61

#: Bits of mantissa, the leading one included.
PRECISION = {torch.float32: 24, torch.float16: 11, torch.bfloat16: 8}


@wavetile.kernel
def apply(function: wl.constexpr, x: torch.Tensor, out: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        out[rows, :] = function(x[rows, :])


def exp(v: torch.Tensor) -> torch.Tensor:
    return torch.exp(v)


def exp2(v: torch.Tensor) -> torch.Tensor:
    return torch.exp2(v)


def log(v: torch.Tensor) -> torch.Tensor:
    return torch.log(v)


def log2(v: torch.Tensor) -> torch.Tensor:
    return torch.log2(v)


def log1p(v: torch.Tensor) -> torch.Tensor:
    return torch.log1p(v)


def sqrt(v: torch.Tensor) -> torch.Tensor:
    return torch.sqrt(v)


def rsqrt(v: torch.Tensor) -> torch.Tensor:
    return torch.rsqrt(v)


def tanh(v: torch.Tensor) -> torch.Tensor:
    return torch.tanh(v)


def erf(v: torch.Tensor) -> torch.Tensor:
    return torch.erf(v)


def sin(v: torch.Tensor) -> torch.Tensor:
    return torch.sin(v)


def cos(v: torch.Tensor) -> torch.Tensor:
    return torch.cos(v)


FUNCTIONS = [exp, exp2, log, log2, sqrt, rsqrt, tanh, erf, sin, cos]


def units_in_the_last_place(result: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
    """Each error in units of the last place that the result's dtype has at `wanted`.

    A NaN or infinity where none is wanted, or the other way round, counts as infinite; what is
    beyond the dtype's largest number may become infinite.
    """
    info = torch.finfo(result.dtype)
    got = result.double()
    exponent = torch.floor(torch.log2(wanted.abs().clamp(min=info.tiny)))
    unit = torch.exp2(exponent - PRECISION[result.dtype] + 1)
    error = (got - wanted).abs() / unit
    same = (got == wanted) | (got.isnan() & wanted.isnan())
    overflow = got.isinf() & (wanted.abs() >= info.max) & (got.sign() == wanted.sign())
    error[same | overflow] = 0.0
    return error.nan_to_num(nan=torch.inf)


def rows_of(x: torch.Tensor) -> torch.Tensor:
    missing = -x.numel() % COLUMNS
    return torch.cat([x, torch.ones(missing, dtype=x.dtype)]).reshape(-1, COLUMNS)


def check(
    function: Callable[[torch.Tensor], torch.Tensor],
    target: str,
    x: torch.Tensor,
    bound: float,
    fast_math: bool,
    skip: torch.Tensor | None = None,
) -> None:
    x = rows_of(x)
    out = torch.full_like(x, 7)
    on(apply, target, fast_math=fast_math)(function, x, out)
    wanted = function(x.double())
    error = units_in_the_last_place(out, wanted)
    if skip is not None:
        error[rows_of(skip)] = 0.0
    worst = error.argmax()
    assert error.max() <= bound, (
        f"{function.__name__}({x.flatten()[worst].item()!r}) is "
        f"{wanted.flatten()[worst].item()!r}, "
        f"not {out.flatten()[worst].item()!r}: {error.max().item():.3f} units"
    )


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_every_16_bit_float(
    function: Callable[[torch.Tensor], torch.Tensor], dtype: torch.dtype, target: str
) -> None:
    """Rounded once from f32, which is within 2 units there: 2^-12 of a unit of f16."""
    x = torch.arange(1 << 16, dtype=torch.int32).to(torch.int16).view(dtype)
    check(function, target, x, 0.5 + 2.0**-11, fast_math=False)


def numbers(generator: torch.Generator) -> torch.Tensor:
    """Random bits, which are numbers of all magnitudes; usual numbers; special ones."""
    bits = torch.randint(-(2**31), 2**31, (20_000,), generator=generator).to(torch.int32)
    usual = torch.randn(10_000, generator=generator)
    special = torch.tensor([0.0, -0.0, torch.inf, -torch.inf, torch.nan, 1.0, -1.0, 3e-45, 3e38])
    return torch.cat([bits.view(torch.float32), usual, usual * 40, special])


@pytest.mark.parametrize("function", [*FUNCTIONS, log1p])
def test_f32(
    function: Callable[[torch.Tensor], torch.Tensor], target: str, generator: torch.Generator
) -> None:
    """2 units; log1p is made of three operations by the frontend, and has 4."""
    check(function, target, numbers(generator), 4.0 if function is log1p else 2.0, fast_math=False)


@pytest.mark.parametrize("function", [tanh, erf, sin, cos])
def test_f32_with_fast_math(
    function: Callable[[torch.Tensor], torch.Tensor], target: str, generator: torch.Generator
) -> None:
    """These do not get worse: what they are made of counts little in the result."""
    check(function, target, numbers(generator), 2.0, fast_math=True)


@pytest.mark.parametrize("function", [tanh, erf, sin, sqrt])
def test_zero_keeps_its_sign(function: Callable[[torch.Tensor], torch.Tensor], target: str) -> None:
    x = torch.tensor([[0.0, -0.0, 1e-42, -1e-42]])
    out = torch.full_like(x, 7)
    on(apply, target, fast_math=False)(function, x, out)
    assert torch.equal(torch.signbit(out[:, :2]), torch.signbit(x[:, :2]))
    assert torch.equal(out[:, :2], x[:, :2])


@pytest.mark.parametrize("function", [sin, cos])
def test_large_angles(
    function: Callable[[torch.Tensor], torch.Tensor], target: str, generator: torch.Generator
) -> None:
    """Around the change from one reduction to the other, and close to multiples of pi/2."""
    powers = torch.ldexp(torch.rand(5_000, generator=generator) + 1.0, torch.arange(5_000) % 127)
    edge = torch.arange(-300, 300) * 2.0**-7 + 65536.0
    multiples = (torch.arange(1, 200_000, 97) * (torch.pi / 2)).to(torch.float32)
    # The f32 closest to a multiple of pi/2 relative to its size (Muller, Elementary Functions).
    closest = torch.tensor([16367173.0 * 2.0**72])
    x = torch.cat([powers, -powers, edge, -edge, multiples, closest.to(torch.float32)])
    check(function, target, x, 2.0, fast_math=False)
