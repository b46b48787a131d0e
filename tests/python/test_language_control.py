# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Loops of every kind."""

from __future__ import annotations

import hypothesis
import hypothesis.strategies as st
import pytest
import torch
import wavetile
import wavetile.language as wl

from tests.python.conftest import TARGETS
from tests.python.end_to_end import on


@wavetile.kernel
def four_dimensions(x: torch.Tensor, out: torch.Tensor) -> None:
    for a, b, c, d in wl.tile(x.size()):
        out[a, b, c, d] = x[a, b, c, d] * 2 + a.index[:, None, None, None]


@hypothesis.given(
    shape=st.tuples(*(st.integers(1, n) for n in (5, 7, 9, 21))),
    target=st.sampled_from(TARGETS),
    seed=st.integers(0, 2**31),
)
@hypothesis.settings(max_examples=25)
def test_four_dimensions(shape: tuple[int, ...], target: str, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(shape, generator=generator)
    out = torch.full(x.shape, 77.0)
    on(four_dimensions, target)(x, out)
    assert torch.equal(out, x * 2 + torch.arange(x.size(0))[:, None, None, None])


@wavetile.kernel
def six_dimensions(x: torch.Tensor, out: torch.Tensor) -> None:
    for a, b in wl.grid([x.size(0), x.size(1)]):
        for c in wl.grid(x.size(2)):
            for d, e, f in wl.tile([x.size(3), x.size(4), x.size(5)]):
                out[a, b, c, d, e, f] = x[a, b, c, d, e, f] + a + b + c


@pytest.mark.parametrize("target", TARGETS)
def test_grid(target: str, generator: torch.Generator) -> None:
    x = torch.randn(2, 3, 2, 5, 1, 7, generator=generator).flip(0)[:, :2].transpose(1, 3)
    out = torch.full(x.shape, 77.0)
    on(six_dimensions, target)(x, out)
    a, b, c = (torch.arange(n) for n in x.shape[:3])
    places = (a[:, None, None] + b[None, :, None] + c)[..., None, None, None]
    torch.testing.assert_close(out, x + places, atol=1e-5, rtol=0)


@wavetile.kernel
def every_third(x: torch.Tensor, out: torch.Tensor, first: int) -> None:
    for i in wl.grid(first, x.size(0), 3):
        out[i, :] = x[i, :] + 1


@pytest.mark.parametrize("first", [0, 2, 17, 40])
def test_grid_with_step(first: int, generator: torch.Generator) -> None:
    x = torch.randn(17, 33, generator=generator)
    out = torch.full([17, 33], 77.0)
    expected = out.clone()
    expected[first::3] = x[first::3] + 1
    every_third(x, out, first)
    assert torch.equal(out, expected)


@wavetile.kernel
def ranges(x: torch.Tensor, out: torch.Tensor, n: int) -> None:
    for rows in wl.tile(x.size(0)):
        total = wl.zeros([rows])
        last = -1
        for i in range(n):
            total += x[rows, i]
            last = i
        down = wl.zeros([rows])
        for i in range(n - 1, -1, -2):
            down = down * 2 + x[rows, i]
        out[rows, 0] = total
        out[rows, 1] = down
        out[rows, 2] = last


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("n", [0, 1, 5])
def test_range(target: str, n: int, generator: torch.Generator) -> None:
    x = torch.randint(-9, 9, (19, 5), generator=generator).float()
    out = torch.full([19, 3], 77.0)
    on(ranges, target)(x, out, n)
    down = torch.zeros(19)
    for i in range(n - 1, -1, -2):
        down = down * 2 + x[:, i]
    assert torch.equal(out[:, 0], x[:, :n].sum(1))
    assert torch.equal(out[:, 1], down)
    assert (out[:, 2] == n - 1).all()


@wavetile.kernel
def numbers(x: torch.Tensor, out: torch.Tensor) -> None:
    for rows in wl.tile(3, x.size(0), block_size=8):
        out[rows, 0] = rows.begin
        out[rows, 1] = rows.end
        out[rows, 2] = rows.id
        out[rows, 3] = rows.count
        out[rows, 4] = rows.block_size


def test_what_a_tile_knows() -> None:
    x, out = torch.zeros(29, 1), torch.full([29, 5], -7)
    numbers(x, out)
    for begin in range(3, 29, 8):
        end = min(begin + 8, 29)
        expected = torch.tensor([begin, end, (begin - 3) // 8, 4, 8]).expand(end - begin, 5)
        assert torch.equal(out[begin:end], expected)
    assert (out[:3] == -7).all()
