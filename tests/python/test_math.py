# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Accuracy of functions: every 16-bit float, and f32 over its whole range."""

import math
from collections.abc import Callable

import mpmath
import pytest
import torch
import wavetile
import wavetile.language as wl

from .end_to_end import on

COLUMNS = 61

#: Bits of mantissa, the leading one included.
PRECISION = {torch.float64: 53, torch.float32: 24, torch.float16: 11, torch.bfloat16: 8}


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


def expm1(v: torch.Tensor) -> torch.Tensor:
    return torch.expm1(v)


def log10(v: torch.Tensor) -> torch.Tensor:
    return torch.log10(v)


def sinh(v: torch.Tensor) -> torch.Tensor:
    return torch.sinh(v)


def cosh(v: torch.Tensor) -> torch.Tensor:
    return torch.cosh(v)


def tan(v: torch.Tensor) -> torch.Tensor:
    return torch.tan(v)


def atan(v: torch.Tensor) -> torch.Tensor:
    return torch.atan(v)


FUNCTIONS = [
    exp,
    exp2,
    expm1,
    log,
    log2,
    log10,
    log1p,
    sqrt,
    rsqrt,
    sinh,
    cosh,
    tanh,
    erf,
    sin,
    cos,
    tan,
    atan,
    torch.asin,
    torch.acos,
    torch.asinh,
    torch.acosh,
    torch.atanh,
]


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


@pytest.mark.parametrize("function", FUNCTIONS)
def test_f32(
    function: Callable[[torch.Tensor], torch.Tensor], target: str, generator: torch.Generator
) -> None:
    """2 units."""
    check(function, target, numbers(generator), 2.0, fast_math=False)


@pytest.mark.parametrize(
    "function",
    [expm1, log1p, sinh, cosh, tanh, erf, sin, cos, tan, atan, torch.asin, torch.acos],
)
def test_f32_with_fast_math(
    function: Callable[[torch.Tensor], torch.Tensor], target: str, generator: torch.Generator
) -> None:
    """These do not get worse: what they are made of counts little in the result."""
    check(function, target, numbers(generator), 2.0, fast_math=True)


@pytest.mark.parametrize(
    "function",
    [expm1, log1p, sinh, tan, atan, tanh, erf, sin, sqrt, torch.asin, torch.asinh, torch.atanh],
)
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


def exactly(name: str, *operands: torch.Tensor) -> list[mpmath.mpf]:
    """A function's values by mpmath, to 40 digits; NaN and infinities where torch has them."""
    function = getattr(mpmath, name)
    with mpmath.workdps(40):
        return [function(*map(mpmath.mpf, row)) for row in zip(*(o.tolist() for o in operands))]


def units_of_f64(result: torch.Tensor, exact: list[mpmath.mpf]) -> float:
    """The largest error in units of the last place of f64."""
    worst = 0.0
    for got, wanted in zip(result.tolist(), exact, strict=True):
        if abs(wanted) >= mpmath.mpf(2) ** 1024:
            assert math.isinf(got)
            continue
        exponent = max(mpmath.floor(mpmath.log(abs(wanted), 2)) if wanted else -1022, -1022)
        worst = max(worst, float(abs(got - wanted) / mpmath.mpf(2) ** (exponent - 52)))
    return worst


def numbers_of_f64(name: str, generator: torch.Generator) -> torch.Tensor:
    """Random bits, and usual numbers around those where a function changes its form."""
    bits = torch.randint(-(2**63), 2**63 - 1, (400,), generator=generator).view(torch.float64)
    usual = torch.randn(300, generator=generator, dtype=torch.float64)
    near_one = 1 + usual[:100] * 2.0**-20
    x = torch.cat([bits, usual, usual * 20, usual * 700, near_one, usual * 1e-9])
    x = x[x.isfinite()]
    if name in ("log", "log2", "log10", "sqrt", "rsqrt"):
        return x.abs()
    if name in ("asin", "acos", "atanh"):
        return x[x.abs() < 1]
    if name == "acosh":
        return x[x >= 1]
    return x[x > -1] if name == "log1p" else x


MPMATH = {
    "exp2": lambda x: mpmath.mpf(2) ** x,
    "log2": lambda x: mpmath.log(x, 2),
    "rsqrt": lambda x: 1 / mpmath.sqrt(x),
}


@pytest.mark.parametrize("function", FUNCTIONS)
def test_f64(
    function: Callable[[torch.Tensor], torch.Tensor], target: str, generator: torch.Generator
) -> None:
    """2 units of what mpmath finds."""
    name = function.__name__
    x = numbers_of_f64(name, generator)
    rows = rows_of(x)
    out = torch.full_like(rows, 7)
    on(apply, target, fast_math=False)(function, rows, out)
    with mpmath.workdps(40):
        if name in ("sin", "cos", "tan"):
            mpmath.mp.prec = 1200  # to reduce the largest angles
        exact = [MPMATH.get(name, getattr(mpmath, name, None))(mpmath.mpf(v)) for v in x.tolist()]
    assert units_of_f64(out.flatten()[: x.numel()], exact) <= 2.0


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_special_numbers(
    function: Callable[[torch.Tensor], torch.Tensor], dtype: torch.dtype, target: str
) -> None:
    """Zeros of both signs, infinities, NaN, what overflows."""
    special = [0.0, -0.0, torch.inf, -torch.inf, torch.nan, 1.0, -1.0, 7e4, -7e4]
    x = rows_of(torch.tensor(special, dtype=dtype))
    out = torch.full_like(x, 7)
    on(apply, target, fast_math=False)(function, x, out)
    wanted = function(x)
    assert torch.equal(out.isnan(), wanted.isnan())
    infinite = wanted.isinf() | (wanted == 0)
    assert torch.equal(out[infinite], wanted[infinite])
    assert torch.equal(out.signbit()[infinite], wanted.signbit()[infinite])


@wavetile.kernel
def apply_binary(
    function: wl.constexpr, x: torch.Tensor, y: torch.Tensor, out: torch.Tensor
) -> None:
    for rows in wl.tile(x.size(0)):
        out[rows, :] = function(x[rows, :], y[rows, :])


def power(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.pow(x, y)


def atan2(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.atan2(x, y)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("function", [power, atan2])
def test_special_pairs(
    function: Callable[..., torch.Tensor], dtype: torch.dtype, target: str
) -> None:
    special = [0.0, -0.0, torch.inf, -torch.inf, torch.nan, 1.0, -1.0, 3.0, -3.0, 2.0, 0.5, -2.5]
    numbers = torch.tensor(special, dtype=dtype)
    x = numbers.repeat_interleave(len(special)).reshape(-1, 12)
    y = numbers.repeat(len(special)).reshape(-1, 12)
    out = torch.full_like(x, 7)
    on(apply_binary, target, fast_math=False)(function, x, y, out)
    wanted = function(x, y)
    torch.testing.assert_close(out, wanted, equal_nan=True, rtol=1e-2, atol=0.0)
    assert torch.equal(out.isinf(), wanted.isinf())
    assert torch.equal(out.signbit() & ~out.isnan(), wanted.signbit() & ~wanted.isnan())


@pytest.mark.parametrize("function", [power, atan2])
def test_pairs(
    function: Callable[..., torch.Tensor], target: str, generator: torch.Generator
) -> None:
    """2 units of f32 and f64: numbers of all magnitudes, and powers that neither end."""
    x = torch.exp(torch.randn(1830, generator=generator, dtype=torch.float64) * 5)
    y = torch.randn(1830, generator=generator, dtype=torch.float64) * 40
    if function is atan2:
        x = x * torch.randn(1830, generator=generator).sign()
    for dtype in (torch.float64, torch.float32):
        a, b = x.to(dtype), y.to(dtype)
        out = torch.full_like(a, 7)
        arguments = (rows_of(a), rows_of(b), rows_of(out))
        result = torch.full_like(arguments[0], 7)
        on(apply_binary, target, fast_math=False)(function, arguments[0], arguments[1], result)
        out = result.flatten()[: a.numel()]
        if dtype == torch.float32:
            error = units_in_the_last_place(out, function(a.double(), b.double()))
            assert error.max() <= 2.0
        else:
            exact = exactly("power" if function is power else "atan2", a, b)
            assert units_of_f64(out, exact) <= 2.0
