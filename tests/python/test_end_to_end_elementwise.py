# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Elementwise kernels on every target: dtypes, views, broadcasting, loops, scalars."""

import itertools
from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812 (its usual name)
import wavetile
import wavetile.language as wl
from wavetile.testing import assert_close

from .end_to_end import assert_untouched, on, surrounded

FLOATS = [torch.float32, torch.float16, torch.bfloat16]
INTEGERS = [torch.int32, torch.int64, torch.bool]

# One element; a vector, a wave, a block and one more or less; primes.
LENGTHS = [1, 7, 8, 9, 63, 65, 257, 2047, 4099]


def values(shape: tuple[int, ...], dtype: torch.dtype, generator: torch.Generator) -> torch.Tensor:
    if dtype.is_floating_point:
        return torch.randn(shape, generator=generator).to(dtype)
    return torch.randint(-9, 10, shape, generator=generator).to(dtype)


@wavetile.kernel
def one_dimension(x: torch.Tensor, y: torch.Tensor, out: torch.Tensor) -> None:
    for i in wl.tile(x.size(0)):
        out[i] = x[i] * 2 + y[i]


@pytest.mark.parametrize("dtype", FLOATS + INTEGERS)
def test_one_dimension(dtype: torch.dtype, target: str, generator: torch.Generator) -> None:
    for length in LENGTHS:
        x, y = (values((length,), dtype, generator) for _ in range(2))
        wanted = x * 2 + y
        out = surrounded(torch.full([length], 77).to(wanted.dtype))
        on(one_dimension, target)(surrounded(x), surrounded(y), out)
        if dtype.is_floating_point:
            assert_close(out, x.double() * 2 + y.double(), c=1.0)
        else:
            assert torch.equal(out, wanted)
        assert_untouched(out)


def test_empty(target: str) -> None:
    out = torch.empty(0)
    on(one_dimension, target)(torch.empty(0), torch.empty(0), out)


@wavetile.kernel
def two_dimensions(x: torch.Tensor, y: torch.Tensor, out: torch.Tensor) -> None:
    for rows, cols in wl.tile([x.size(0), x.size(1)]):
        out[rows, cols] = x[rows, cols] - y[rows, cols]


VIEWS: list[dict[str, Any]] = [
    {"before": 1, "after": 2},
    {"before": 2, "after": 3, "step": 3},
    {"before": 0, "after": 1, "order": "columns"},
    {"before": 3, "after": 4, "step": 2, "order": "columns"},
]


@pytest.mark.parametrize("of_x", VIEWS)
@pytest.mark.parametrize("of_out", VIEWS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.int64])
def test_views(
    of_x: dict[str, Any],
    of_out: dict[str, Any],
    dtype: torch.dtype,
    target: str,
    generator: torch.Generator,
) -> None:
    x, y = (values((13, 71), dtype, generator) for _ in range(2))
    out = surrounded(torch.full([13, 71], 77).to(dtype), **of_out)
    on(two_dimensions, target)(surrounded(x, **of_x), surrounded(y), out)
    assert torch.equal(out, x - y)
    assert_untouched(out)


def test_bool_has_no_difference(target: str) -> None:
    """As in torch, which raises too."""
    x = torch.ones(3, 5, dtype=torch.bool)
    with pytest.raises(wavetile.errors.DTypeError, match="bool"):
        on(two_dimensions, target)(x, x.clone(), x.clone())


@pytest.mark.parametrize("config", [{"rows": 1, "cols": 32}, {"rows": 64, "cols": 4, "waves": 2}])
@pytest.mark.parametrize("shape", [(1, 1), (1, 257), (65, 1), (67, 130)])
def test_block_sizes(
    config: dict[str, int], shape: tuple[int, int], target: str, generator: torch.Generator
) -> None:
    x, y = (values(shape, torch.float32, generator) for _ in range(2))
    out = surrounded(torch.full(shape, 77.0))
    on(two_dimensions, target, config)(surrounded(x), surrounded(y), out)
    assert torch.equal(out, x - y)
    assert_untouched(out)


def mixed(a: Any, b: Any) -> Any:
    return a * b + 1


@wavetile.kernel
def binary(x: torch.Tensor, y: torch.Tensor, out: torch.Tensor, function: wl.constexpr) -> None:
    for rows in wl.tile(x.size(0)):
        out[rows, :] = function(x[rows, :], y[rows, :])


@pytest.mark.parametrize("a", FLOATS + INTEGERS)
@pytest.mark.parametrize("b", FLOATS + INTEGERS)
def test_promotion(a: torch.dtype, b: torch.dtype, target: str, generator: torch.Generator) -> None:
    """Into a tensor of the dtype that torch's result has."""
    x, y = values((5, 77), a, generator), values((5, 77), b, generator)
    wanted = mixed(x, y)
    out = torch.full_like(wanted, 77)
    on(binary, target)(surrounded(x), surrounded(y), out, mixed)
    if wanted.dtype.is_floating_point:
        # Two roundings, of the product and of the sum.
        assert_close(out, mixed(x.double(), y.double()), c=2.0)
    else:
        assert torch.equal(out, wanted)


@wavetile.kernel
def convert(x: torch.Tensor, out: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        out[rows, :] = x[rows, :].to(out.dtype)


def every_16_bit_pattern(dtype: torch.dtype) -> torch.Tensor:
    return torch.arange(65536, dtype=torch.int32).to(torch.int16).view(dtype).reshape(16, 4096)


@pytest.mark.parametrize("source", [torch.float16, torch.bfloat16])
def test_every_16_bit_float_widens_and_comes_back(source: torch.dtype, target: str) -> None:
    x = every_16_bit_pattern(source)
    wide, back = torch.empty(16, 4096), torch.empty(16, 4096, dtype=source)
    on(convert, target)(x, wide)
    assert torch.equal(wide.nan_to_num(nan=0.5), x.float().nan_to_num(nan=0.5))
    assert torch.equal(torch.isnan(wide), torch.isnan(x))
    on(convert, target)(wide, back)
    assert torch.equal(torch.isnan(back), torch.isnan(x))
    kept = ~torch.isnan(x)
    assert torch.equal(back.view(torch.int16)[kept], x.view(torch.int16)[kept])


@pytest.mark.parametrize("result", [torch.float16, torch.bfloat16])
def test_narrowing_rounds_to_nearest_even(
    result: torch.dtype, target: str, generator: torch.Generator
) -> None:
    """Each float and what lies a hair beside and half way to the next one."""
    x = every_16_bit_pattern(result).float()
    step = (x.view(torch.int32) & 0x7F800000 | 1).view(torch.float32)
    x = torch.cat([x, x.nextafter(torch.tensor(torch.inf)), x + x.abs() * 2**-12, x - step])
    out = torch.empty(x.shape, dtype=result)
    on(convert, target)(x, out)
    wanted = x.to(result)
    assert torch.equal(torch.isnan(out), torch.isnan(wanted))
    assert torch.equal(out.nan_to_num(), wanted.nan_to_num())


@pytest.mark.parametrize(
    "dtype",
    [torch.float8_e4m3fn, torch.float8_e4m3fnuz, torch.float8_e5m2, torch.float8_e5m2fnuz],
)
def test_fp8_converts_as_torch_does(
    dtype: torch.dtype, target: str, generator: torch.Generator
) -> None:
    """Every format on every target, by instructions or arithmetic."""
    x = torch.arange(256, dtype=torch.int32).to(torch.uint8).view(dtype).reshape(1, 256)
    wide = torch.full([1, 256], 77.0)
    on(convert, target)(x, wide)
    assert torch.equal(torch.isnan(wide), torch.isnan(x.float()))
    assert torch.equal(wide.nan_to_num(), x.float().nan_to_num())
    largest = torch.finfo(dtype).max
    wide = torch.cat(
        [
            x.float().flatten(),
            x.float().flatten() * (1 + 2**-5),
            torch.randn(500, generator=generator) * largest,
            torch.randn(500, generator=generator) * torch.finfo(dtype).smallest_normal,
            torch.tensor([largest * 1.01, largest * 1.1, -largest * 1.2, 1e30, -1e-30, 0.0, -0.0]),
            torch.tensor([torch.inf, -torch.inf, torch.nan]),
        ]
    )[None]
    narrow = torch.zeros(wide.shape, dtype=dtype)
    on(convert, target)(wide, narrow)
    wanted = wide.to(dtype)
    differs = narrow.view(torch.uint8) != wanted.view(torch.uint8)
    differs &= ~(torch.isnan(narrow.float()) & torch.isnan(wanted.float()))
    assert not differs.any(), [
        (wide[differs][:9], narrow.float()[differs][:9], wanted.float()[differs][:9])
    ]


@pytest.mark.parametrize("result", [torch.int32, torch.int64, torch.bool])
def test_floats_to_integers(result: torch.dtype, target: str, generator: torch.Generator) -> None:
    x = torch.randn(5, 77, generator=generator) * 1000
    x[0, :5] = torch.tensor([0.0, -0.0, 0.5, -0.5, 0.999])
    out = torch.empty(5, 77, dtype=result)
    on(convert, target)(x, out)
    assert torch.equal(out, x.to(result))


@wavetile.kernel
def scaled(x: torch.Tensor, factor: float, offset: int, negate: bool, out: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        out[rows, :] = (x[rows, :] * factor + offset) * (-1 if negate else 1)


@pytest.mark.parametrize("factor", [0.0, -1.5, torch.inf])
def test_scalar_arguments(factor: float, target: str, generator: torch.Generator) -> None:
    x = torch.randn(5, 77, generator=generator)
    for offset, negate in itertools.product([0, 1, -7, 16, 2**31], [False, True]):
        out = torch.full([5, 77], 77.0)
        on(scaled, target)(x, factor, offset, negate, out)
        wanted = x.double() * factor + offset
        assert_close(out, -wanted if negate else wanted, c=1.0)


@wavetile.kernel
def normalise_columns(x: torch.Tensor, scale: torch.Tensor, shift: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    for rows, cols in wl.tile([x.size(0), x.size(1)]):
        out[rows, cols] = x[rows, cols] * scale[rows][:, None] + shift[cols][None, :]
    return out


def test_broadcasting_and_mutation(target: str, generator: torch.Generator) -> None:
    x = torch.randn(67, 131, generator=generator)
    scale, shift = torch.randn(67, generator=generator), torch.randn(131, generator=generator)
    kernel = on(normalise_columns, target)
    result = kernel(surrounded(x), surrounded(scale), surrounded(shift))
    assert_close(result, x.double() * scale.double()[:, None] + shift.double(), c=2.0)


@wavetile.kernel
def several_loops(x: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
    m, n = x.size()
    largest = torch.empty([m], dtype=torch.float32)
    for rows in wl.tile(m):
        largest[rows] = torch.amax(x[rows, :], dim=-1)
    for rows, cols in wl.tile([m, n]):
        out[rows, cols] = x[rows, cols] - largest[rows][:, None]
    total = float(out.abs().sum())
    for rows in wl.tile(m):
        out[rows, :] = out[rows, :] / total
    return largest


def test_several_loops_with_host_code_between(target: str, generator: torch.Generator) -> None:
    x = torch.randn(37, 131, generator=generator)
    out = torch.full([37, 131], 77.0)
    largest = on(several_loops, target)(surrounded(x), out)
    assert torch.equal(largest, x.amax(-1))
    wanted = x.double() - x.double().amax(-1, keepdim=True)
    assert_close(out, wanted / wanted.abs().sum(), length=4, c=2.0)


@wavetile.kernel
def nested_loops(x: torch.Tensor, out: torch.Tensor) -> None:
    b, m, n = x.size()
    for batch in wl.tile(b, block_size=1):
        for rows in wl.tile(m):
            total = wl.zeros([batch, rows], dtype=torch.float32)
            for cols in wl.tile(n):
                total += x[batch, rows, cols].to(torch.float32).sum(-1)
            out[batch, rows] = total


def test_nested_loops(target: str, generator: torch.Generator) -> None:
    x = torch.randn(3, 11, 263, generator=generator)
    out = torch.full([3, 11], 77.0)
    on(nested_loops, target)(x, out)
    assert_close(out, x.double().sum(-1), length=263, c=2.0)


@wavetile.kernel
def add_in_place(x: torch.Tensor, y: torch.Tensor) -> None:
    size = wl.register_block_size(16, 64)
    for rows in wl.tile(x.size(0), block_size=size):
        x[rows, :] += y[rows, :]


def test_mutation_and_aliases(target: str, generator: torch.Generator) -> None:
    x, y = (torch.randn(67, 131, generator=generator) for _ in range(2))
    expected = x + y
    view = surrounded(x)
    on(add_in_place, target)(view, surrounded(y))
    assert torch.equal(view, expected)
    assert_untouched(view)
    on(add_in_place, target)(x, x)
    assert torch.equal(x, 2 * (expected - y)) or torch.allclose(x, 2 * (expected - y), atol=1e-5)


@wavetile.kernel
def reverse_halves(x: torch.Tensor, out: torch.Tensor) -> None:
    for i in wl.tile(x.size(0)):
        a = x[i]
        out[i] = a + 1
        out[i] = out[i] * x[i]


def test_loads_see_the_stores_before_them(target: str, generator: torch.Generator) -> None:
    """Program order inside an iteration, also when the tensors are one."""
    x = torch.randn(257, generator=generator)
    out = torch.full([257], 77.0)
    on(reverse_halves, target)(x, out)
    assert_close(out, (x.double() + 1) * x.double(), c=2.0)
    expected = (x.double() + 1) ** 2
    on(reverse_halves, target)(x, x)
    assert_close(x, expected, c=4.0)


@wavetile.kernel
def specialised(x: torch.Tensor, out: torch.Tensor, mode: wl.constexpr) -> None:
    n = wl.specialize(x.size(1))
    for rows in wl.tile(x.size(0)):
        v = x[rows, :]
        for i in wl.static_range(n // 70):
            v = v + i + 1
        out[rows, :] = v * n if mode == "scale" else v


def test_constants(target: str, generator: torch.Generator) -> None:
    for columns in (69, 70, 141):
        x = torch.randn(3, columns, generator=generator)
        added = sum(range(1, columns // 70 + 1))
        for mode in ("scale", "keep"):
            out = torch.full([3, columns], 77.0)
            on(specialised, target)(x, out, mode)
            wanted = x.double() + added
            assert_close(out, wanted * columns if mode == "scale" else wanted, c=2.0)


def sigmoid(v: Any) -> Any:
    return torch.sigmoid(v)


def silu(v: Any) -> Any:
    return F.silu(v)


def exp(v: Any) -> Any:
    return torch.exp(v)


def tanh_by_exp(v: Any) -> Any:
    e = torch.exp(-2 * torch.abs(v))
    return torch.where(v < 0, -1.0, 1.0) * (1 - e) / (1 + e)


@wavetile.kernel
def unary(x: torch.Tensor, out: torch.Tensor, function: wl.constexpr) -> None:
    for i in wl.tile(x.size(0)):
        out[i] = function(x[i])


@pytest.mark.parametrize("function", [sigmoid, silu, exp, tanh_by_exp])
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("fast_math", [False, True])
def test_functions_at_the_ends_of_the_range(
    function: Any, dtype: torch.dtype, fast_math: bool, target: str
) -> None:
    largest = torch.finfo(dtype).max
    x = torch.tensor(
        [
            0.0,
            1.0,
            -1.0,
            30.0,
            -30.0,
            80.0,
            -80.0,
            88.7,
            -88.7,
            1000.0,
            -1000.0,
            largest,
            -largest,
            torch.inf,
            -torch.inf,
            torch.nan,
        ]
    ).to(dtype)
    out = torch.full_like(x, 77)
    on(unary, target, None, fast_math)(x, out, function)
    wanted = function(x.double())
    # Fast math flushes denormals; nothing normal may be lost.
    tiny = torch.finfo(torch.float32).smallest_normal
    assert torch.equal(torch.isnan(out), torch.isnan(wanted))
    reference = function(x.float()).to(dtype)
    assert torch.equal(torch.isinf(out), torch.isinf(reference))
    finite = torch.isfinite(reference)
    error = (out.double() - wanted).abs()[finite]
    # The argument is scaled in f32, which costs |x| eps of relative accuracy.
    steps = 4 * torch.finfo(dtype).eps + 4 * torch.finfo(torch.float32).eps * x.double().abs()
    bound = wanted.abs() * steps.clamp(max=1) + (tiny if dtype != torch.float16 else 2**-24)
    if fast_math:
        # silu multiplies what was flushed by its argument.
        bound += tiny * x.double().abs().clamp(max=100)
    assert (error <= bound[finite]).all(), (x[finite], out[finite], wanted[finite])
