# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Atomics: each kind, dtype and target; what they return; masks; equal indices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import wavetile
import wavetile.language as wl

from tests.python.conftest import TARGETS
from tests.python.end_to_end import on

#: Dtypes of sums and extrema; those below 32 bits share words with their neighbours.
NUMBERS = [
    torch.int32,
    torch.int64,
    torch.float32,
    torch.float64,
    torch.float16,
    torch.bfloat16,
    torch.int16,
    torch.int8,
]


@wavetile.kernel
def histogram(labels: torch.Tensor, weights: torch.Tensor, counts: torch.Tensor) -> None:
    for rows in wl.tile(labels.size(0)):
        wl.atomic_add(counts, [labels[rows]], weights[rows])


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
def test_add_to_equal_places(target: str, dtype: torch.dtype, generator: torch.Generator) -> None:
    labels = torch.randint(0, 7, (601,), generator=generator)
    # Sums that every dtype holds exactly, in any order.
    weights = torch.randint(-2, 3, (601,), generator=generator).to(dtype)
    counts = torch.arange(7).to(dtype)
    expected = counts.clone().index_add_(0, labels, weights)
    on(histogram, target)(labels, weights, counts)
    assert torch.equal(counts, expected)


@wavetile.kernel
def combine_max(x: torch.Tensor, out: torch.Tensor) -> None:
    for rows, cols in wl.tile([x.size(0), x.size(1)]):
        wl.atomic_max(out, [cols], x[rows, cols].amax(0))


@wavetile.kernel
def combine_min(x: torch.Tensor, out: torch.Tensor) -> None:
    for rows, cols in wl.tile([x.size(0), x.size(1)]):
        wl.atomic_min(out, [cols], x[rows, cols].amin(0), sem="acq_rel", scope="system")


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
def test_extrema(target: str, dtype: torch.dtype, generator: torch.Generator) -> None:
    x = torch.randint(-99, 99, (97, 41), generator=generator).to(dtype)
    high, low = torch.full([41], -50).to(dtype), torch.full([41], 50).to(dtype)
    on(combine_max, target, {"rows": 16, "cols": 16})(x, high)
    on(combine_min, target, {"rows": 16, "cols": 16})(x, low)
    assert torch.equal(high, x.amax(0).clamp(min=-50))
    assert torch.equal(low, x.amin(0).clamp(max=50))


@pytest.mark.compiled  # torch has no maximum of these
@pytest.mark.parametrize("dtype", [torch.uint8, torch.uint16, torch.uint32], ids=str)
def test_unsigned_extrema(dtype: torch.dtype, generator: torch.Generator) -> None:
    x = torch.randint(0, 256, (97, 41), generator=generator)
    high, low = torch.full([41], 3).to(dtype), torch.full([41], 250).to(dtype)
    combine_max(x.to(dtype), high)
    combine_min(x.to(dtype), low)
    assert torch.equal(high.long(), x.amax(0).clamp(min=3))
    assert torch.equal(low.long(), x.amin(0).clamp(max=250))


def test_neighbours_in_a_word(generator: torch.Generator) -> None:
    # A tensor that begins and ends within words, and stores to what lies around it.
    buffer = torch.zeros(41, dtype=torch.int8)
    labels = torch.randint(0, 35, (501,), generator=generator)
    view = buffer[3:38]
    histogram(labels, torch.ones(501, dtype=torch.int8), view)
    assert torch.equal(view.long(), labels.bincount(minlength=35))
    assert not buffer[:3].any()
    assert not buffer[38:].any()


def test_maximum_with_nan_is_nan() -> None:
    x = torch.tensor([[1.0, float("nan"), 3.0]])
    out = torch.tensor([2.0, 2.0, float("nan")])
    combine_max(x, out)
    assert out[0] == 2
    assert out[1:].isnan().all()


@wavetile.kernel
def combine_bits(
    x: torch.Tensor, ands: torch.Tensor, ors: torch.Tensor, xors: torch.Tensor
) -> None:
    for rows in wl.tile(x.size(0), block_size=32):
        wl.atomic_and(ands, [rows.index % 5], x[rows])
        wl.atomic_or(ors, [rows.index % 5], x[rows])
        wl.atomic_xor(xors, [rows.index % 5], x[rows])


def reduced(function: Callable[[int, int], int], start: int, x: torch.Tensor) -> torch.Tensor:
    result = [start] * 5
    for i, value in enumerate(x.tolist()):
        result[i % 5] = function(result[i % 5], value)
    return torch.tensor(result)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", [torch.int32, torch.int64, torch.int16, torch.int8], ids=str)
def test_bits(target: str, dtype: torch.dtype, generator: torch.Generator) -> None:
    x = torch.randint(-128, 128, (73,), generator=generator)
    ands, ors, xors = (torch.full([5], start).to(dtype) for start in (-1, 0, 85))
    on(combine_bits, target)(x.to(dtype), ands, ors, xors)
    assert torch.equal(ands.long(), reduced(lambda a, b: a & b, -1, x))
    assert torch.equal(ors.long(), reduced(lambda a, b: a | b, 0, x))
    assert torch.equal(xors.long(), reduced(lambda a, b: a ^ b, 85, x))


@wavetile.kernel
def tickets(n: int, counter: torch.Tensor, out: torch.Tensor) -> None:
    for rows in wl.tile(n, block_size=1):
        out[rows] = wl.atomic_add(counter, [0], 1)


@pytest.mark.parametrize("target", TARGETS)
def test_what_was_there_is_returned_to_all_lanes(target: str) -> None:
    counter, out = torch.tensor([5]), torch.full([67], 77)
    on(tickets, target)(67, counter, out)
    assert counter.item() == 72
    assert torch.equal(out.sort().values, torch.arange(5, 72))


@wavetile.kernel
def exchange(x: torch.Tensor, place: torch.Tensor, old: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        old[rows] = wl.atomic_xchg(place, [rows], x[rows], extra_mask=rows.index % 3 != 0)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.int64, torch.bfloat16, torch.uint8, torch.bool], ids=str
)
def test_exchange(target: str, dtype: torch.dtype, generator: torch.Generator) -> None:
    x, place = (torch.randint(0, 9, (131,), generator=generator).to(dtype) for _ in range(2))
    before, old = place.clone(), torch.ones(131, dtype=dtype)
    on(exchange, target)(x, place, old)
    taken = torch.arange(131) % 3 != 0
    assert torch.equal(place, torch.where(taken, x, before))
    assert torch.equal(old, torch.where(taken, before, torch.zeros((), dtype=dtype)))


@wavetile.kernel
def claim(owner: torch.Tensor, wanted: torch.Tensor, won: torch.Tensor) -> None:
    for rows in wl.tile(wanted.size(0), block_size=16):
        old = wl.atomic_cas(owner, [wanted[rows]], -1, rows.index)
        won[rows] = old == -1


@pytest.mark.parametrize("target", TARGETS)
def test_compare_and_swap(target: str, generator: torch.Generator) -> None:
    wanted = torch.randint(0, 9, (61,), generator=generator)
    owner, won = torch.full([9], -1), torch.zeros(61, dtype=torch.bool)
    on(claim, target)(owner, wanted, won)
    present = torch.zeros(9, dtype=torch.bool)
    present[wanted] = True
    assert torch.equal(owner >= 0, present)
    winners = owner[present]
    assert torch.equal(won.nonzero()[:, 0], winners.sort().values)
    assert torch.equal(wanted[winners], present.nonzero()[:, 0])


def mistake(function: Any, *args: Any) -> str:
    with pytest.raises(wavetile.errors.WavetileError) as raised:
        wavetile.kernel(function).bind(*args)
    return f"{type(raised.value).__name__}: {raised.value.message}"


@pytest.mark.compiled
def test_mistakes() -> None:
    def order(x: torch.Tensor) -> None:
        for rows in wl.tile(x.size(0)):
            wl.atomic_add(x, [rows], 1, sem="strict")

    def bits(x: torch.Tensor) -> None:
        for rows in wl.tile(x.size(0)):
            wl.atomic_and(x, [rows], 1)

    def of_tile(x: torch.Tensor) -> None:
        for rows in wl.tile(x.size(0)):
            wl.atomic_add(x[rows], [rows], 1)

    x = torch.zeros(8)
    assert mistake(order, x) == "ArgumentError: wl.atomic_add: sem is not the constant 'strict'"
    assert mistake(bits, x) == "DTypeError: wl.atomic_and is of integers, not of torch.float32"
    assert mistake(of_tile, x) == (
        "TensorAccessError: wl.atomic_add needs a tensor in memory, not a tile of torch.float32"
        " [rows]"
    )
    fp8 = torch.zeros(8, dtype=torch.float8_e4m3fn)
    assert mistake(order, fp8).startswith("DTypeError: wl.atomic_add of torch.float8_e4m3fn is not")
