# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Reductions over rows: numbers against float64, dtypes and special values as in torch."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
import wavetile
import wavetile.language as wl
from wavetile.testing import assert_close

from .conftest import TARGETS
from .end_to_end import in_python, on

# Sizes one, around a vector and a wave, and a prime beyond them.
SHAPES = [(1, 1), (3, 7), (2, 64), (5, 65), (37, 1009)]


@wavetile.kernel
def reduce_rows(function: wl.constexpr, x: torch.Tensor, out: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        out[rows] = function(x[rows, :])


def total(v: Any) -> Any:
    return v.sum(-1)


def mean(v: Any) -> Any:
    return torch.mean(v, dim=-1)


def amax(v: Any) -> Any:
    return torch.amax(v, dim=1)


def amin(v: Any) -> Any:
    return torch.amin(v, -1)


def argmax(v: Any) -> Any:
    return torch.argmax(v, dim=-1)


def product(v: Any) -> Any:
    return torch.prod(v, -1)


def biased_variance(v: Any) -> Any:
    return torch.var(v, dim=-1, correction=0)


def check(function: Callable[..., Any], x: torch.Tensor, *, c: float = 2.0) -> None:
    wanted = function(x)
    out = torch.full(wanted.shape, 77, dtype=wanted.dtype)
    reduce_rows(function, x, out)
    if wanted.dtype.is_floating_point:
        assert_close(out, function(x.double()), length=x.size(-1), c=c)
    else:
        assert torch.equal(out, wanted)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("function", [total, mean, amax, amin, argmax, biased_variance])
def test_floats(
    function: Callable[..., Any],
    dtype: torch.dtype,
    shape: tuple[int, int],
    generator: torch.Generator,
) -> None:
    check(function, torch.randn(shape, generator=generator).to(dtype))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_product(dtype: torch.dtype, generator: torch.Generator) -> None:
    x = 1 + torch.randn(5, 65, generator=generator) / 64
    check(product, x.to(dtype))


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64, torch.bool])
@pytest.mark.parametrize("function", [total, product])
def test_integers(
    function: Callable[..., Any], dtype: torch.dtype, generator: torch.Generator
) -> None:
    check(function, torch.randint(-3, 4, (5, 65), generator=generator).to(dtype))


def logsumexp(v: Any) -> Any:
    return torch.logsumexp(v, -1)


def norm_2(v: Any) -> Any:
    return torch.norm(v, dim=-1)


def norm_1(v: Any) -> Any:
    return v.norm(1, -1)


def norm_inf(v: Any) -> Any:
    return torch.linalg.vector_norm(v, float("inf"), dim=-1)


def norm_0(v: Any) -> Any:
    return torch.linalg.vector_norm(v, 0, dim=-1)


def nansum(v: Any) -> Any:
    return torch.nansum(v, -1)


def count_nonzero(v: Any) -> Any:
    return torch.count_nonzero(v, -1)


def log_softmax_sum(v: Any) -> Any:
    return torch.log_softmax(v, -1).sum(-1)


def std_of_pair(v: Any) -> Any:
    return torch.std_mean(v, dim=-1)[0]


def any_(v: Any) -> Any:
    return torch.any(v, -1)


def all_(v: Any) -> Any:
    return torch.all(v, -1)


def argmin(v: Any) -> Any:
    return torch.argmin(v, -1)


def max_value(v: Any) -> Any:
    return torch.max(v, -1)[0]


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16])
@pytest.mark.parametrize(
    "function", [norm_2, norm_1, norm_inf, norm_0, nansum, std_of_pair, total, mean, amax, argmin]
)
def test_made_of_simpler_ones(
    function: Callable[..., Any], dtype: torch.dtype, generator: torch.Generator
) -> None:
    check(function, torch.randn(5, 67, generator=generator).to(dtype), c=4.0)


@pytest.mark.parametrize(
    "dtype",
    [torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool],
)
@pytest.mark.parametrize(
    "function", [amax, amin, argmax, argmin, max_value, any_, all_, count_nonzero, total]
)
def test_every_integer(
    function: Callable[..., Any], dtype: torch.dtype, generator: torch.Generator
) -> None:
    x = torch.randint(-90, 90, (5, 67), generator=generator).to(dtype)
    if dtype == torch.bool and function in (argmax, argmin, max_value):
        x = x.int()  # bool has no order
    check(function, x)


@wavetile.kernel
def reduce_bits(function: wl.constexpr, x: torch.Tensor, out: torch.Tensor) -> None:
    m, n = x.size()
    for rows in wl.tile(m):
        out[rows] = function(x[rows, :])


@pytest.mark.parametrize("strategy", ["resident", "looped", "grid"])
@pytest.mark.parametrize("function", [amax, amin])
def test_bits_are_zero_and_one(
    function: Callable[..., Any], strategy: str, target: str, generator: torch.Generator
) -> None:
    """True is larger than false, however the row is walked."""
    share = torch.tensor([0, 0.01, 0.01, 0.5, 0.99, 0.99, 1])
    x = torch.rand(7, 200, generator=generator) < share[:, None]
    out = torch.empty(7, dtype=torch.bool)
    config = {"rows": 1, "n.strategy": strategy, "n": 256 if strategy == "resident" else 64}
    if strategy == "grid":
        config["n.blocks"] = 2
    on(reduce_bits, target, {**config, "waves": 1})(function, x, out)
    assert torch.equal(out, function(x))


@wavetile.kernel
def of_all(function: wl.constexpr, x: torch.Tensor, out: torch.Tensor) -> None:
    for _ in wl.tile(1):
        out[0] = function(x[:, :])


def argmax_of_all(v: Any) -> Any:
    return torch.argmax(v)


def argmin_of_all(v: Any) -> Any:
    return torch.argmin(v)


@pytest.mark.parametrize("shape", [(1, 1), (3, 7), (13, 65), (1, 67), (67, 1)])
@pytest.mark.parametrize("function", [argmax_of_all, argmin_of_all])
def test_index_of_an_extreme_of_all(
    function: Callable[..., Any], shape: tuple[int, int], generator: torch.Generator
) -> None:
    """The first of equal ones in row-major order."""
    x = torch.randint(-9, 9, shape, generator=generator)
    out = torch.full([1], 77)
    of_all(function, x, out)
    assert out[0] == function(x)


@pytest.mark.parametrize(
    "function", [amax, amin, argmax, argmin, total, logsumexp, norm_2, norm_inf, nansum]
)
def test_nan_and_infinities(function: Callable[..., Any], generator: torch.Generator) -> None:
    # Of one sign: the bound is relative to a result, here one row's, which must not cancel.
    x = torch.rand(5, 65, generator=generator) + 0.5
    x[1, 64] = float("nan")
    x[2, 3] = float("inf")
    x[3, 64] = -float("inf")
    x[4] = -float("inf")
    check(function, x)


def test_argmax_takes_the_first_of_equal_elements() -> None:
    x = torch.zeros(3, 130)
    x[1, 70:] = 1
    x[2, 129] = 2
    check(argmax, x)


@pytest.mark.compiled
@pytest.mark.parametrize("dtype", [torch.bool, torch.float8_e4m3fn])
def test_argmax_refuses_what_has_no_order_in_torch(dtype: torch.dtype) -> None:
    with pytest.raises(wavetile.errors.DTypeError, match=r"torch\.argmax is not defined for"):
        reduce_rows(argmax, torch.zeros(3, 130).to(dtype), torch.empty(3, dtype=torch.int64))


@wavetile.kernel
def count(x: torch.Tensor, out: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        ones = wl.full([rows, x.size(1)], 1.0)
        out[rows] = ones.sum(-1)


@pytest.mark.parametrize("columns", [1, 7, 63, 64, 65, 1000])
def test_elements_beyond_the_row_do_not_exist(columns: int) -> None:
    out = torch.full([5], 77.0)
    count(torch.empty(5, columns), out)
    assert torch.equal(out, torch.full([5], float(columns)))


@wavetile.kernel
def softmax_function(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    for rows in wl.tile(x.size(0)):
        out[rows, :] = torch.softmax(x[rows, :], dim=-1)
    return out


@pytest.mark.parametrize("fast_math", [False, True])
def test_softmax_of_infinities_and_nan(fast_math: bool, generator: torch.Generator) -> None:
    kernel = wavetile.kernel(fast_math=fast_math)(softmax_function.source.function)
    x = torch.randn(5, 65, generator=generator)
    x[1] = -float("inf")
    x[2, 5] = float("nan")
    x[3, 7] = -float("inf")
    assert_close(kernel(x), torch.softmax(x.double(), -1), length=65, c=2.0)


@wavetile.kernel
def columns(x: torch.Tensor, out: torch.Tensor) -> None:
    for cols in wl.tile(x.size(1)):
        out[cols] = x[:, cols].sum(0)


def test_reduction_over_the_first_dimension(generator: torch.Generator) -> None:
    x = torch.randn(67, 45, generator=generator)
    out = torch.full([45], 77.0)
    columns(x, out)
    assert_close(out, x.double().sum(0), length=67, c=2.0)


# -- Layers


@wavetile.kernel
def layers(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    layer, plain, rms, unit = (torch.empty_like(x) for _ in range(4))
    n = x.size(1)
    for rows in wl.tile(x.size(0)):
        v = x[rows, :]
        layer[rows, :] = torch.nn.functional.layer_norm(v, [n], weight[:], bias[:], eps=1e-3)
        plain[rows, :] = torch.nn.functional.layer_norm(v, (n,))
        rms[rows, :] = torch.nn.functional.rms_norm(v, [n], weight[:])
        unit[rows, :] = torch.nn.functional.normalize(v, dim=-1)
    return layer, plain, rms, unit


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64], ids=str)
def test_layers(target: str, dtype: torch.dtype, generator: torch.Generator) -> None:
    x = torch.randn(13, 77, generator=generator)
    weight, bias = torch.randn(2, 77, generator=generator).to(dtype)
    x[3] *= 1e-5
    x[4] = 0
    x = x.to(dtype)
    wide, shape = x.double(), [77]
    functional = torch.nn.functional
    eps = torch.finfo(torch.float64 if dtype is torch.float64 else torch.float32).eps
    expected = (
        functional.layer_norm(wide, shape, weight.double(), bias.double(), eps=1e-3),
        functional.layer_norm(wide, shape),
        functional.rms_norm(wide, shape, weight.double(), eps=eps),
        functional.normalize(wide, dim=-1),
    )
    results = on(layers, target)(x, weight, bias)
    interpreted = in_python(layers)(x, weight, bias)
    tolerance = {torch.bfloat16: 1e-2, torch.float32: 1e-5, torch.float64: 1e-12}[dtype]
    for result, eager, wanted in zip(results, interpreted, expected, strict=True):
        torch.testing.assert_close(result.double(), wanted, rtol=tolerance, atol=tolerance)
        torch.testing.assert_close(eager.double(), wanted, rtol=tolerance, atol=tolerance)
