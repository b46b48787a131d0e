# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Every pointwise operation on every dtype: torch's result dtype, torch's values, torch's refusals.

Numbers of integers and bool must be equal to torch's; those of floats are compared with torch's in
float64.
"""

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812 (its usual name)
import wavetile
import wavetile.language as wl
from hypothesis import given, settings
from hypothesis import strategies as st
from wavetile.errors import WavetileError
from wavetile.testing import assert_close

DTYPES = [
    torch.float64,
    torch.float32,
    torch.float16,
    torch.bfloat16,
    torch.int64,
    torch.int32,
    torch.int16,
    torch.int8,
    torch.uint8,
    torch.uint16,
    torch.uint32,
    torch.bool,
]
#: Dtypes for which torch lacks many operations that device code has.
WIDE_UNSIGNED = (torch.uint16, torch.uint32)
SHAPE = (5, 49)

Operation = Callable[..., Any]


@wavetile.kernel
def apply_unary(function: wl.constexpr, x: torch.Tensor, out: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        v = function(x[rows, :])
        # A result of another dtype than the output's must not look right.
        out[rows, :] = v if v.dtype == out.dtype else torch.full_like(v, 99)


@wavetile.kernel
def apply_binary(
    function: wl.constexpr, x: torch.Tensor, y: torch.Tensor, out: torch.Tensor
) -> None:
    for rows in wl.tile(x.size(0)):
        v = function(x[rows, :], y[rows, :])
        out[rows, :] = v if v.dtype == out.dtype else torch.full_like(v, 99)


def check(function: Operation, *operands: torch.Tensor, c: float = 4.0) -> None:
    kernel = apply_unary if len(operands) == 1 else apply_binary
    try:
        wanted = function(*operands)
    except (RuntimeError, NotImplementedError, TypeError) as error:
        if isinstance(error, NotImplementedError) and any(
            o.dtype in WIDE_UNSIGNED for o in operands
        ):
            return
        with pytest.raises(WavetileError):
            kernel(function, *operands, torch.empty(SHAPE))
        return
    # Stale memory must not look like a result.
    out = torch.full_like(wanted, 7 if wanted.dtype != torch.bool else True)
    kernel(function, *operands, out)
    if wanted.dtype.is_floating_point:
        wide = [o.double() if o.dtype.is_floating_point else o for o in operands]
        # What overflows in the dtype is torch's matter, not that of f64.
        exact = function(*wide).double()
        exact = torch.where(wanted.isinf() & exact.isfinite(), wanted.double(), exact)
        assert_close(out, exact, c=c)
    else:
        assert torch.equal(out, wanted), (out, wanted)


def numbers(dtype: torch.dtype, generator: torch.Generator, zero: bool = True) -> torch.Tensor:
    """Small numbers, halves among them, and special ones; each may be of any dtype."""
    if dtype == torch.bool:
        return torch.randint(0 if zero else 1, 2, SHAPE, generator=generator).bool()
    low = 0 if dtype in (torch.uint8, *WIDE_UNSIGNED) else -7
    x = torch.randint(2 * low, 16, SHAPE, generator=generator)
    if not dtype.is_floating_point:
        x = torch.where(x == 0, 3, x) if not zero else x
        info = torch.iinfo(dtype)
        x[0, :3] = torch.tensor([info.max, info.min if zero else 5, info.max - 1])
        return x.to(dtype)
    x = x / 2.0 + 0.25 * torch.randint(0, 2, SHAPE, generator=generator)
    x[0, :7] = torch.tensor([torch.nan, torch.inf, -torch.inf, 0.0, -0.0, 1.0, -1.0])
    return (torch.where(x == 0, 3.0, x) if not zero else x).to(dtype)


def unary_neg(v: Any) -> Any:
    return -v


def unary_positive(v: Any) -> Any:
    return +v


def unary_invert(v: Any) -> Any:
    return ~v


def unary_abs(v: Any) -> Any:
    return torch.abs(v)


def unary_sign(v: Any) -> Any:
    return torch.sign(v)


def unary_square(v: Any) -> Any:
    return torch.square(v)


def unary_reciprocal(v: Any) -> Any:
    return torch.reciprocal(v)


def unary_floor(v: Any) -> Any:
    return torch.floor(v)


def unary_ceil(v: Any) -> Any:
    return v.ceil()


def unary_trunc(v: Any) -> Any:
    return v.trunc()


def unary_round(v: Any) -> Any:
    return torch.round(v)


def unary_frac(v: Any) -> Any:
    return torch.frac(v)


def unary_isnan(v: Any) -> Any:
    return torch.isnan(v)


def unary_isinf(v: Any) -> Any:
    return torch.isinf(v)


def unary_isfinite(v: Any) -> Any:
    return torch.isfinite(v)


def unary_signbit(v: Any) -> Any:
    return torch.signbit(v)


def unary_nan_to_num(v: Any) -> Any:
    return torch.nan_to_num(v, 2.5, 9.0, -9.0)


def unary_relu(v: Any) -> Any:
    return torch.relu(v)


def unary_relu6(v: Any) -> Any:
    return F.relu6(v)


def unary_hardtanh(v: Any) -> Any:
    return F.hardtanh(v, -2, 3)


def unary_clamp(v: Any) -> Any:
    return torch.clamp(v, 1, 3)


def unary_clamp_float(v: Any) -> Any:
    return torch.clamp(v, 0.5, 1)


def unary_clamp_min(v: Any) -> Any:
    return v.clamp(min=2)


def unary_clamp_max(v: Any) -> Any:
    return torch.clamp_max(v, 2)


def unary_logical_not(v: Any) -> Any:
    return torch.logical_not(v)


def unary_add_number(v: Any) -> Any:
    return v + 3


def unary_add_float(v: Any) -> Any:
    return v + 2.5


def unary_rsub_number(v: Any) -> Any:
    return 5 - v


def unary_floor_divide_number(v: Any) -> Any:
    return v // 3


def unary_remainder_number(v: Any) -> Any:
    return v % 3


def unary_div_by_number(v: Any) -> Any:
    return v / 3


def unary_div_number(v: Any) -> Any:
    return 3 / v


def unary_power_0(v: Any) -> Any:
    return v**0


def unary_power_2(v: Any) -> Any:
    return v**2


def unary_power_3(v: Any) -> Any:
    return v**3


def unary_power_7(v: Any) -> Any:
    return v**7


def unary_power_minus_1(v: Any) -> Any:
    return v**-1


def unary_power_root(v: Any) -> Any:
    return torch.abs(v) ** 0.5


def unary_shift_left(v: Any) -> Any:
    return v << 3


def unary_shift_right(v: Any) -> Any:
    return v >> 1


def unary_less(v: Any) -> Any:
    return v < 2


def unary_leaky_relu(v: Any) -> Any:
    return F.leaky_relu(v, 0.25)


def unary_masked_fill(v: Any) -> Any:
    return v.masked_fill(v == 1, 2)


def unary_where_numbers(v: Any) -> Any:
    return torch.where(v > 1, 2.5, 1)


UNARY: dict[str, Operation] = {
    "neg": unary_neg,
    "positive": unary_positive,
    "invert": unary_invert,
    "abs": unary_abs,
    "sign": unary_sign,
    "square": unary_square,
    "reciprocal": unary_reciprocal,
    "floor": unary_floor,
    "ceil": unary_ceil,
    "trunc": unary_trunc,
    "round": unary_round,
    "frac": unary_frac,
    "isnan": unary_isnan,
    "isinf": unary_isinf,
    "isfinite": unary_isfinite,
    "signbit": unary_signbit,
    "nan_to_num": unary_nan_to_num,
    "relu": unary_relu,
    "relu6": unary_relu6,
    "hardtanh": unary_hardtanh,
    "clamp": unary_clamp,
    "clamp_float": unary_clamp_float,
    "clamp_min": unary_clamp_min,
    "clamp_max": unary_clamp_max,
    "logical_not": unary_logical_not,
    "add_number": unary_add_number,
    "add_float": unary_add_float,
    "rsub_number": unary_rsub_number,
    "floor_divide_number": unary_floor_divide_number,
    "remainder_number": unary_remainder_number,
    "div_by_number": unary_div_by_number,
    "div_number": unary_div_number,
    "power_0": unary_power_0,
    "power_2": unary_power_2,
    "power_3": unary_power_3,
    "power_7": unary_power_7,
    "power_-1": unary_power_minus_1,
    "power_root": unary_power_root,
    "shift_left": unary_shift_left,
    "shift_right": unary_shift_right,
    "less": unary_less,
    "leaky_relu": unary_leaky_relu,
    "masked_fill": unary_masked_fill,
    "where_numbers": unary_where_numbers,
}


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", UNARY)
def test_unary(name: str, dtype: torch.dtype, generator: torch.Generator) -> None:
    check(UNARY[name], numbers(dtype, generator))


def binary_add(x: Any, y: Any) -> Any:
    return x + y


def binary_add_alpha(x: Any, y: Any) -> Any:
    return torch.add(x, y, alpha=2)


def binary_sub(x: Any, y: Any) -> Any:
    return x - y


def binary_mul(x: Any, y: Any) -> Any:
    return x * y


def binary_div(x: Any, y: Any) -> Any:
    return x / y


def binary_div_floor(x: Any, y: Any) -> Any:
    return torch.div(x, y, rounding_mode="floor")


def binary_div_trunc(x: Any, y: Any) -> Any:
    return torch.div(x, y, rounding_mode="trunc")


def binary_floor_divide(x: Any, y: Any) -> Any:
    return x // y


def binary_remainder(x: Any, y: Any) -> Any:
    return x % y


def binary_fmod(x: Any, y: Any) -> Any:
    return torch.fmod(x, y)


def binary_maximum(x: Any, y: Any) -> Any:
    return torch.maximum(x, y)


def binary_minimum(x: Any, y: Any) -> Any:
    return torch.minimum(x, y)


def binary_fmax(x: Any, y: Any) -> Any:
    return torch.fmax(x, y)


def binary_fmin(x: Any, y: Any) -> Any:
    return torch.fmin(x, y)


def binary_copysign(x: Any, y: Any) -> Any:
    return torch.copysign(x, y)


def binary_eq(x: Any, y: Any) -> Any:
    return x == y


def binary_ne(x: Any, y: Any) -> Any:
    return x != y


def binary_lt(x: Any, y: Any) -> Any:
    return x < y


def binary_le(x: Any, y: Any) -> Any:
    return x <= y


def binary_gt(x: Any, y: Any) -> Any:
    return x > y


def binary_ge(x: Any, y: Any) -> Any:
    return x >= y


def binary_and(x: Any, y: Any) -> Any:
    return x & y


def binary_or(x: Any, y: Any) -> Any:
    return x | y


def binary_xor(x: Any, y: Any) -> Any:
    return x ^ y


def binary_shift_left(x: Any, y: Any) -> Any:
    return x << y


def binary_shift_right(x: Any, y: Any) -> Any:
    return x >> y


def binary_logical_and(x: Any, y: Any) -> Any:
    return torch.logical_and(x, y)


def binary_logical_or(x: Any, y: Any) -> Any:
    return torch.logical_or(x, y)


def binary_logical_xor(x: Any, y: Any) -> Any:
    return torch.logical_xor(x, y)


def binary_where(x: Any, y: Any) -> Any:
    return torch.where(x > y, x, y)


def binary_lerp(x: Any, y: Any) -> Any:
    return torch.lerp(x, y, 0.75)


def binary_addcmul(x: Any, y: Any) -> Any:
    return torch.addcmul(x, y, y, value=2)


def binary_addcdiv(x: Any, y: Any) -> Any:
    return torch.addcdiv(x, x, y)


def binary_clamp(x: Any, y: Any) -> Any:
    return torch.clamp(x, y, y)


def binary_type_as(x: Any, y: Any) -> Any:
    return x.type_as(y)


BINARY: dict[str, Operation] = {
    "add": binary_add,
    "add_alpha": binary_add_alpha,
    "sub": binary_sub,
    "mul": binary_mul,
    "div": binary_div,
    "div_floor": binary_div_floor,
    "div_trunc": binary_div_trunc,
    "floor_divide": binary_floor_divide,
    "remainder": binary_remainder,
    "fmod": binary_fmod,
    "maximum": binary_maximum,
    "minimum": binary_minimum,
    "fmax": binary_fmax,
    "fmin": binary_fmin,
    "copysign": binary_copysign,
    "eq": binary_eq,
    "ne": binary_ne,
    "lt": binary_lt,
    "le": binary_le,
    "gt": binary_gt,
    "ge": binary_ge,
    "and": binary_and,
    "or": binary_or,
    "xor": binary_xor,
    "shift_left": binary_shift_left,
    "shift_right": binary_shift_right,
    "logical_and": binary_logical_and,
    "logical_or": binary_logical_or,
    "logical_xor": binary_logical_xor,
    "where": binary_where,
    "lerp": binary_lerp,
    "addcmul": binary_addcmul,
    "addcdiv": binary_addcdiv,
    "clamp": binary_clamp,
    "type_as": binary_type_as,
}


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", BINARY)
def test_binary(name: str, dtype: torch.dtype, generator: torch.Generator) -> None:
    divides = name in ("div_floor", "div_trunc", "floor_divide", "remainder", "fmod")
    zero = dtype.is_floating_point or not divides
    x, y = numbers(dtype, generator), numbers(dtype, generator, zero)
    if divides and dtype in (torch.int64, torch.int32, torch.int16, torch.int8):
        # The one quotient that no integer holds.
        y[y == -1] = 2
    check(BINARY[name], x, y)


def threshold(v: Any) -> Any:
    return F.threshold(v, 0.5, 2.0)


def celu(v: Any) -> Any:
    return F.celu(v, 1.75)


def softshrink(v: Any) -> Any:
    return F.softshrink(v, 0.75)


def hardshrink(v: Any) -> Any:
    return F.hardshrink(v, 2.0)


def logit_eps(v: Any) -> Any:
    return torch.logit(v, 0.125)


#: Those that are given to kernels as they are: functions of torch are constants.
FLOATING: list[Operation] = [
    torch.asin,
    torch.acos,
    torch.asinh,
    torch.acosh,
    torch.atanh,
    torch.logit,
    logit_eps,
    torch.deg2rad,
    torch.rad2deg,
    torch.special.expit,
    threshold,
    celu,
    softshrink,
    hardshrink,
    F.elu,
    F.selu,
    F.silu,
    F.mish,
    F.hardsigmoid,
    F.hardswish,
    F.softsign,
    F.tanhshrink,
    F.softplus,
    F.logsigmoid,
]


@pytest.mark.parametrize(
    "dtype", [torch.float64, torch.float32, torch.bfloat16, torch.int16, torch.bool], ids=str
)
@pytest.mark.parametrize("function", FLOATING)
def test_functions_of_floats(
    function: Operation, dtype: torch.dtype, generator: torch.Generator
) -> None:
    check(function, numbers(dtype, generator))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16], ids=str)
@pytest.mark.parametrize("function", [torch.logaddexp, torch.hypot, torch.xlogy])
def test_functions_of_two_floats(
    function: Operation, dtype: torch.dtype, generator: torch.Generator
) -> None:
    x = numbers(dtype, generator)
    y = x.flatten()[torch.randperm(x.numel(), generator=generator)].reshape(SHAPE).contiguous()
    x[1, :3] = x[0, 1:4]
    y[1, :3] = torch.tensor([torch.inf, -torch.inf, 0.0])
    x[1, 3], y[1, 3] = torch.inf, torch.nan
    check(function, x, y)


@settings(max_examples=60)
@given(
    st.sampled_from(["add", "mul", "div", "maximum", "lt", "eq", "where", "floor_divide", "and"]),
    st.sampled_from(DTYPES),
    st.sampled_from(DTYPES),
    st.integers(0, 2**31),
)
def test_promotion_in_kernels(name: str, a: torch.dtype, b: torch.dtype, seed: int) -> None:
    """Pairs of dtypes have torch's common one, or none in either."""
    generator = torch.Generator().manual_seed(seed)
    x, y = numbers(a, generator), numbers(b, generator, zero=False)
    if not b.is_floating_point and b.is_signed:
        y[y == -1] = 2
    if a.is_floating_point or b.is_floating_point:
        # Sums of i64's largest number and a float have no bound of the float's dtype.
        x, y = (o if o.dtype.is_floating_point else (o.long() % 7).to(o.dtype) for o in (x, y))
        y = torch.where(y == 0, torch.ones_like(y), y)
    check(BINARY[name], x, y)


@pytest.mark.parametrize("target", DTYPES, ids=str)
@pytest.mark.parametrize("source", DTYPES, ids=str)
def test_conversion(source: torch.dtype, target: torch.dtype, generator: torch.Generator) -> None:
    x = numbers(source, generator)
    if source.is_floating_point and not target.is_floating_point and target != torch.bool:
        # Converting what an integer cannot hold is undefined in torch, too.
        x = x.nan_to_num(1.0, 2.0, 3.0)
        x = x.abs() if target in (torch.uint8, *WIDE_UNSIGNED) else x
    out = torch.full(SHAPE, 7).to(target)
    convert(x, out)
    wanted = x.to(target)
    if target.is_floating_point:
        out, wanted = out.double().nan_to_num(nan=-77.0), wanted.double().nan_to_num(nan=-77.0)
    assert torch.equal(out, wanted)


@wavetile.kernel
def convert(x: torch.Tensor, out: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        out[rows, :] = x[rows, :].to(out.dtype)


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8])
def test_shifts_by_any_number(dtype: torch.dtype, generator: torch.Generator) -> None:
    """Beyond the width, as torch says: zero, or the sign of what is shifted right."""
    x = numbers(dtype, generator)
    y = torch.randint(-3, 70, SHAPE, generator=generator).to(dtype)
    check(BINARY["shift_left"], x, y)
    check(BINARY["shift_right"], x, y)


def power(x: Any, y: Any) -> Any:
    return x**y


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.int8, torch.uint8])
def test_integer_powers(dtype: torch.dtype, generator: torch.Generator) -> None:
    low = 0 if dtype == torch.uint8 else -4
    x = torch.randint(low, 5, SHAPE, generator=generator).to(dtype)
    y = torch.randint(low, 70, SHAPE, generator=generator).to(dtype)
    check(power, x, y)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16])
def test_float_quotients_near_integers(dtype: torch.dtype, generator: torch.Generator) -> None:
    """Where a / b rounds up to an integer that a does not reach."""
    y = torch.rand(SHAPE, generator=generator).to(dtype) + 0.1
    x = torch.nextafter(
        y * torch.randint(-9, 9, SHAPE, generator=generator), torch.zeros([], dtype=dtype)
    )
    for name in ("floor_divide", "remainder", "fmod"):
        out = torch.full_like(x, 7)
        apply_binary(BINARY[name], x, y, out)
        # In the dtype itself: the exact quotient may round to another integer.
        assert torch.equal(out, BINARY[name](x, y)) or dtype == torch.float16


def add_300(v: Any) -> Any:
    return v + 300


def test_numbers_that_do_not_fit() -> None:
    x = torch.ones(SHAPE, dtype=torch.uint8)
    with pytest.raises(WavetileError, match=r"300 does not fit torch\.uint8"):
        apply_unary(add_300, x, x)
