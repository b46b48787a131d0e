# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Scans, sorts, and elements by index: torch's results on rows of every length."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
import wavetile
import wavetile.language as wl
from wavetile.errors import ShapeError
from wavetile.testing import assert_close

LENGTHS = [1, 2, 7, 64, 65, 200, 515]


@wavetile.kernel
def apply(function: wl.constexpr, x: torch.Tensor, out: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        out[rows, :] = function(x[rows, :])


@wavetile.kernel
def apply_pair(
    function: wl.constexpr, x: torch.Tensor, first: torch.Tensor, second: torch.Tensor
) -> None:
    for rows in wl.tile(x.size(0)):
        a, b = function(x[rows, :])
        first[rows, :] = a
        second[rows, :] = b


def stale(like: torch.Tensor) -> torch.Tensor:
    """Memory that must not look like a result."""
    return torch.full_like(like, 77 if like.dtype != torch.bool else True)


def cumsum(v: Any) -> Any:
    return torch.cumsum(v, -1)


def cumprod(v: Any) -> Any:
    return torch.cumprod(v, dim=1)


def logcumsumexp(v: Any) -> Any:
    return torch.logcumsumexp(v, -1)


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
@pytest.mark.parametrize("function", [cumsum, cumprod, logcumsumexp])
def test_scan_of_floats(
    function: Callable[..., Any], dtype: torch.dtype, length: int, generator: torch.Generator
) -> None:
    x = torch.randn(5, length, generator=generator)
    x = (1 + x / length if function is cumprod else x).to(dtype)
    out = stale(x)
    apply(function, x, out)
    assert_close(out, function(x.double()), length=length, c=4.0)


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.int8, torch.uint8, torch.bool])
@pytest.mark.parametrize("function", [cumsum, cumprod])
def test_scan_of_integers(
    function: Callable[..., Any], dtype: torch.dtype, generator: torch.Generator
) -> None:
    x = torch.randint(-3, 4, (5, 67), generator=generator).to(dtype)
    wanted = function(x)
    out = stale(wanted)
    apply(function, x, out)
    assert torch.equal(out, wanted)


def cummax(v: Any) -> Any:
    return torch.cummax(v, -1)


def cummin(v: Any) -> Any:
    return torch.cummin(v, -1)


def check_pair(function: Callable[..., Any], x: torch.Tensor) -> None:
    first, second = function(x)
    outs = stale(first), stale(second)
    apply_pair(function, x, *outs)
    assert torch.equal(outs[0].double().nan_to_num(nan=-1.5), first.double().nan_to_num(nan=-1.5))
    assert torch.equal(outs[1], second)


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("function", [cummax, cummin])
def test_largest_so_far(
    function: Callable[..., Any], length: int, generator: torch.Generator
) -> None:
    x = torch.randint(-9, 9, (5, length), generator=generator).float()
    x[1, length // 2] = torch.nan
    x[2, length - 1] = torch.inf
    check_pair(function, x)


def add_pairs(a: Any, b: Any) -> Any:
    return a + b


def affine(a: Any, b: Any) -> Any:
    """The composition of x -> ax + b: associative, and not commutative."""
    return a[0] * b[0], b[0] * a[1] + b[1]


def affine_unpacked(a: Any, b: Any, c: Any, d: Any) -> Any:
    return a * c, c * b + d


@wavetile.kernel
def recurrence(
    function: wl.constexpr,
    reverse: wl.constexpr,
    a: torch.Tensor,
    b: torch.Tensor,
    out: torch.Tensor,
    total: torch.Tensor,
) -> None:
    for rows in wl.tile(a.size(0)):
        _, y = wl.associative_scan(function, (a[rows, :], b[rows, :]), dim=-1, reverse=reverse)
        out[rows, :] = y
        _, last = wl.reduce(function, (a[rows, :], b[rows, :]), dim=-1)
        total[rows] = last


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("function", [affine, affine_unpacked])
def test_functions_of_tuples(
    function: Callable[..., Any], reverse: bool, length: int, generator: torch.Generator
) -> None:
    a = 0.5 + torch.rand(5, length, generator=generator) / 2
    b = torch.randn(5, length, generator=generator)
    out, total = stale(b), torch.full([5], 77.0)
    recurrence(function, reverse, a, b, out, total)
    wanted = torch.zeros(5, length, dtype=torch.float64)
    state = torch.zeros(5, dtype=torch.float64)
    for i in reversed(range(length)) if reverse else range(length):
        state = a[:, i].double() * state + b[:, i].double()
        wanted[:, i] = state
    assert_close(out, wanted, length=length, c=4.0)
    if not reverse:
        assert_close(total, wanted[:, -1], length=length, c=4.0)


@wavetile.kernel
def by_torch_function(x: torch.Tensor, out: torch.Tensor, largest: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        out[rows, :] = wl.associative_scan(torch.add, x[rows, :], -1)
        largest[rows] = wl.reduce(torch.maximum, x[rows, :], -1, other=-1.0)


def test_functions_of_torch(generator: torch.Generator) -> None:
    x = torch.randn(5, 67, generator=generator)
    out, largest = stale(x), torch.full([5], 77.0)
    by_torch_function(x, out, largest)
    assert_close(out, x.double().cumsum(-1), length=67, c=2.0)
    assert torch.equal(largest, x.amax(-1))


def changes_dtype(a: Any, b: Any) -> Any:
    return (a + b).to(torch.int32)


@pytest.mark.compiled
def test_a_function_keeps_dtypes() -> None:
    @wavetile.kernel
    def wrong(x: torch.Tensor) -> None:
        for rows in wl.tile(x.size(0)):
            x[rows, :] = wl.associative_scan(changes_dtype, x[rows, :], -1)

    with pytest.raises(wavetile.errors.DTypeError, match=r"makes torch\.int32 of torch\.float32"):
        wrong(torch.zeros(3, 5))


def sort(v: Any) -> Any:
    return torch.sort(v, dim=-1, stable=True)


def sort_descending(v: Any) -> Any:
    return torch.sort(v, dim=-1, descending=True, stable=True)


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("function", [sort, sort_descending])
def test_sort(function: Callable[..., Any], length: int, generator: torch.Generator) -> None:
    x = torch.randint(-9, 9, (5, length), generator=generator).float()
    x[1, length // 2] = torch.nan
    x[2, 0] = torch.inf
    x[3, length - 1] = -torch.inf
    check_pair(function, x)


@pytest.mark.parametrize(
    "dtype",
    [torch.float64, torch.bfloat16, torch.int64, torch.int16, torch.uint8, torch.bool],
)
def test_sort_of_every_dtype(dtype: torch.dtype, generator: torch.Generator) -> None:
    x = torch.randint(0, 99, (5, 67), generator=generator).to(dtype)
    check_pair(sort, x)
    check_pair(sort_descending, x)


def topk(v: Any, k: int) -> Any:
    return torch.topk(v, k, -1)


def smallest(v: Any, k: int) -> Any:
    return torch.topk(v, k, -1, largest=False)


@wavetile.kernel
def best(
    function: wl.constexpr, x: torch.Tensor, values: torch.Tensor, indices: torch.Tensor
) -> None:
    k = wl.specialize(values.size(1))
    for rows in wl.tile(x.size(0)):
        a, b = function(x[rows, :], k)
        values[rows, :] = a
        indices[rows, :] = b


@pytest.mark.parametrize("length", [9, 64, 300])
@pytest.mark.parametrize("function", [topk, smallest])
def test_topk(function: Callable[..., Any], length: int, generator: torch.Generator) -> None:
    x = torch.randn(3, length, generator=generator)
    values, indices = function(x, 5)
    outs = stale(values), stale(indices)
    best(function, x, *outs)
    assert torch.equal(outs[0], values)
    assert torch.equal(outs[1], indices)


@pytest.mark.compiled
def test_topk_of_too_few(generator: torch.Generator) -> None:
    """Code for longer rows does not serve rows of fewer elements."""
    outs = torch.empty(3, 5), torch.empty(3, 5, dtype=torch.int64)
    best(topk, torch.randn(3, 6, generator=generator), *outs)
    with pytest.raises(ShapeError, match=r"torch\.topk: 5 of 4 elements"):
        best(topk, torch.randn(3, 4, generator=generator), *outs)


def flip(v: Any) -> Any:
    return torch.flip(v, [1])


def flip_rows_of_parts(v: Any) -> Any:
    return v.flip(-1)


def roll(v: Any) -> Any:
    return torch.roll(v, 3, -1)


def gather_reversed(v: Any) -> Any:
    return torch.gather(v, -1, torch.argsort(v, -1))


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("function", [flip, flip_rows_of_parts, roll, gather_reversed])
def test_by_index(function: Callable[..., Any], length: int, generator: torch.Generator) -> None:
    x = torch.randn(5, length, generator=generator)
    out = stale(x)
    apply(function, x, out)
    assert torch.equal(out, function(x))


@wavetile.kernel
def apply_all(function: wl.constexpr, x: torch.Tensor, out: torch.Tensor) -> None:
    n = wl.specialize(x.size(1))
    k = wl.specialize(out.size(1))
    for rows in wl.tile(x.size(0)):
        out[rows, :] = function(x[rows, :], n, k)


def twice(v: Any, n: int, k: int) -> Any:
    return torch.cat([v, v * 2], -1)


def halves_exchanged(v: Any, n: int, k: int) -> Any:
    a, b = torch.chunk(v, 2, -1)
    return torch.cat([b, a], -1)


def interleaved(v: Any, n: int, k: int) -> Any:
    return torch.stack([v, -v], -1).flatten(-2)


def transposed_parts(v: Any, n: int, k: int) -> Any:
    return v.reshape(-1, 4, n // 4).transpose(-1, -2).reshape(-1, n)


@pytest.mark.parametrize("function", [twice, halves_exchanged, interleaved, transposed_parts])
def test_parts_of_rows(function: Callable[..., Any], generator: torch.Generator) -> None:
    x = torch.randn(5, 24, generator=generator)
    wanted = function(x, 24, 48)
    out = stale(wanted)
    apply_all(function, x, out)
    assert torch.equal(out, wanted)


@wavetile.kernel
def rotate(x: torch.Tensor, out: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        v = x[rows, :]
        pairs = wl.join(v, v + 1)
        a, b = wl.split(pairs)
        out[rows, :] = a * 2 + b


def test_join_and_split(generator: torch.Generator) -> None:
    x = torch.randn(5, 67, generator=generator)
    out = stale(x)
    rotate(x, out)
    assert_close(out, x.double() * 3 + 1, c=2.0)
