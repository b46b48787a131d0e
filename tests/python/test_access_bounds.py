# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What accesses outside their tensor do: loads give zero, stores do nothing, indices never wrap."""

from __future__ import annotations

import pytest
import torch
import wavetile
import wavetile.language as wl

from tests.python.end_to_end import on, surrounded, surroundings


@wavetile.kernel
def shifted(x: torch.Tensor, out: torch.Tensor, by: int) -> None:
    for i in wl.tile(out.size(0)):
        out[i] = x[i + by]


@wavetile.kernel
def shifted_rows(x: torch.Tensor, out: torch.Tensor, by: int, down: int) -> None:
    for i, j in wl.tile([out.size(0), out.size(1)]):
        out[i + down, j] = x[i, j + by]


@wavetile.kernel
def largest_of_shifted(x: torch.Tensor, out: torch.Tensor, by: int) -> None:
    for rows in wl.tile(x.size(0)):
        most = wl.full([rows], -1000.0)
        for cols in wl.tile(x.size(1)):
            most = torch.maximum(most, torch.amax(x[rows, cols + by], dim=-1))
        out[rows] = most


@wavetile.kernel
def one_row(x: torch.Tensor, out: torch.Tensor, row: int) -> None:
    for i in wl.tile(out.size(0)):
        out[i] = x[row, i] + 1


@wavetile.kernel
def counted(x: torch.Tensor, out: torch.Tensor, count: int) -> None:
    for rows in wl.tile(x.size(0)):
        total = wl.zeros([rows])
        for cols in wl.tile(count):
            total = total + torch.sum(x[rows, cols], dim=-1)
        out[rows] = total


def moved(x: torch.Tensor, by: int) -> torch.Tensor:
    """x moved along its last dimension; zeros come in."""
    result = torch.zeros_like(x)
    n = x.size(-1)
    if abs(by) < n:
        result[..., max(0, -by) : n - max(0, by)] = x[..., max(0, by) : n - max(0, -by)]
    return result


SHIFTS = [-1, 1, -7, 64, -64, -333, 333, -(2**20)]


@pytest.mark.parametrize("by", SHIFTS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int8])
def test_shifts(by: int, dtype: torch.dtype, target: str, generator: torch.Generator) -> None:
    values = torch.randint(1, 9, (333,), generator=generator).to(dtype)
    x = surrounded(values, before=9)
    out = surrounded(torch.zeros(333, dtype=dtype), before=9)
    before = surroundings(out).clone()
    on(shifted, target)(x, out, by)
    assert torch.equal(out, moved(values, by))
    assert torch.equal(surroundings(out).nan_to_num(7), before.nan_to_num(7))


@pytest.mark.parametrize(("by", "down"), [(-3, 2), (5, -4), (-1, -1), (2, 30)])
def test_shifts_of_two_dimensions(
    by: int, down: int, target: str, generator: torch.Generator
) -> None:
    values = torch.randn(19, 77, generator=generator)
    x = surrounded(values, before=9)
    out = surrounded(torch.full([19, 77], 5.0), before=9)
    before = surroundings(out).clone()
    on(shifted_rows, target)(x, out, by, down)
    expected = torch.full([19, 77], 5.0)
    source = moved(values, by)
    for row in range(19):
        if 0 <= row + down < 19:
            expected[row + down] = source[row]
    assert torch.equal(out, expected)
    assert torch.equal(surroundings(out).nan_to_num(7), before.nan_to_num(7))


@pytest.mark.parametrize("by", [-3, 3])
def test_what_lies_outside_counts_as_zero(by: int, target: str, generator: torch.Generator) -> None:
    """A reduction sees the zeros outside the tensor, but nothing beyond its extent."""
    values = -1 - torch.rand(13, 150, generator=generator)
    out = torch.empty(13)
    on(largest_of_shifted, target)(surrounded(values, before=9), out, by)
    assert torch.equal(out, torch.zeros(13))
    on(largest_of_shifted, target)(surrounded(values, before=9), out, 0)
    assert torch.equal(out, values.amax(-1))


@pytest.mark.parametrize("row", [0, 4, 5, 1000, 2**30])
def test_rows_by_number(row: int, target: str, generator: torch.Generator) -> None:
    values = torch.randn(5, 99, generator=generator)
    out = torch.empty(99)
    on(one_row, target)(surrounded(values), out, row)
    assert torch.equal(out, values[row] + 1 if row < 5 else torch.ones(99))


@pytest.mark.parametrize("count", [-5, -1000, 0, 1, 70, 150, 1100])
def test_loops_to_a_number(count: int, target: str, generator: torch.Generator) -> None:
    values = torch.randint(-9, 9, (11, 150), generator=generator).to(torch.float32)
    out = torch.empty(11)
    on(counted, target)(surrounded(values, before=9), out, count)
    assert torch.equal(out, values[:, : max(count, 0)].sum(-1))
