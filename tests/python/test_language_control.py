# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Loops of every kind, and choices made when a kernel runs."""

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
    order=st.permutations(range(4)),
    target=st.sampled_from(TARGETS),
    seed=st.integers(0, 2**31),
)
@hypothesis.settings(max_examples=25)
def test_four_dimensions(shape: tuple[int, ...], order: list[int], target: str, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(shape, generator=generator).permute(order)
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
def jagged_sum(values: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor:
    out = torch.empty([offsets.size(0) - 1], dtype=values.dtype)
    for row in wl.grid(out.size(0)):
        total = wl.zeros([])
        for items in wl.tile(offsets[row], offsets[row + 1]):
            total += values[items].sum(0)
        out[row] = total
    return out


@wavetile.kernel
def jagged_sum_of_tiles(values: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor:
    out = torch.empty([offsets.size(0) - 1], dtype=values.dtype)
    for rows in wl.tile(out.size(0)):
        starts = offsets[rows]
        lengths = offsets[rows + 1] - starts
        total = wl.zeros([rows])
        for items in wl.tile(0, lengths.amax()):
            inside = items.index[None, :] < lengths[:, None]
            taken = wl.load(values, [starts[:, None] + items.index[None, :]], extra_mask=inside)
            total += taken.sum(1)
        out[rows] = total
    return out


@pytest.mark.parametrize("target", TARGETS)
def test_bounds_that_depend_on_data(target: str, generator: torch.Generator) -> None:
    lengths = torch.tensor([3, 0, 131, 1, 64, 0, 7])
    offsets = torch.cat([torch.zeros(1, dtype=torch.int64), lengths.cumsum(0)])
    values = torch.randint(-9, 9, (int(offsets[-1]),), generator=generator).float()
    expected = torch.stack([v.sum() for v in values.split(lengths.tolist())])
    assert torch.equal(on(jagged_sum, target)(values, offsets), expected)
    assert torch.equal(on(jagged_sum_of_tiles, target)(values, offsets), expected)


@wavetile.kernel
def choices(
    x: torch.Tensor, flags: torch.Tensor, out: torch.Tensor, marks: torch.Tensor, limit: float
) -> None:
    for row in wl.grid(x.size(0)):
        v = x[row, :]
        factor = 1
        if flags[row] > 0:
            v = v * 2
            factor = 3
        elif flags[row] < 0:
            marks[row] = -1.0
            v = v + limit
        else:
            v = v - 1
        scale = 10.0 if v.sum(0) > limit and factor == 3 else 1.0
        out[row, :] = v * scale


@pytest.mark.parametrize("target", TARGETS)
def test_choices(target: str, generator: torch.Generator) -> None:
    x = torch.randint(-9, 9, (12, 37), generator=generator).float()
    flags = torch.tensor([0, 1, -1] * 4)
    out, marks = torch.full([12, 37], 77.0), torch.full([12], 77.0)
    on(choices, target)(x, flags, out, marks, 4.0)
    for row, flag in enumerate(flags.tolist()):
        v = x[row] * 2 if flag > 0 else x[row] + 4 if flag < 0 else x[row] - 1
        assert torch.equal(out[row], v * (10 if v.sum() > 4 and flag > 0 else 1))
        assert marks[row] == (-1 if flag < 0 else 77)


@wavetile.kernel
def collatz(n: torch.Tensor, steps: torch.Tensor) -> None:
    for row in wl.grid(n.size(0)):
        v = n[row]
        count = 0
        while v > 1:
            v = v // 2 if v % 2 == 0 else 3 * v + 1
            count += 1
        steps[row] = count


@pytest.mark.parametrize("target", TARGETS)
def test_while(target: str) -> None:
    def count(n: int) -> int:
        steps = 0
        while n > 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
        return steps

    n = torch.arange(1, 30)
    steps = torch.full([29], -1)
    on(collatz, target)(n, steps)
    assert torch.equal(steps, torch.tensor([count(i) for i in range(1, 30)]))


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


def mistake(function: object, *args: object) -> str:
    with pytest.raises(wavetile.errors.WavetileError) as raised:
        wavetile.kernel(function).bind(*args)  # type: ignore[call-overload]
    return f"{type(raised.value).__name__}: {raised.value.message}"


@pytest.mark.compiled
def test_mistakes() -> None:
    def one_branch(x: torch.Tensor) -> None:
        for row in wl.grid(x.size(0)):
            if x[row] > 0:
                v = 1.0
            x[row] = v

    def two_kinds(x: torch.Tensor) -> None:
        for rows in wl.tile(x.size(0)):
            v = x[rows]
            if rows.begin > 0:
                v = v.sum(0)
            x[rows] = v

    def of_tile(x: torch.Tensor) -> None:
        for rows in wl.tile(x.size(0)):
            if x[rows] > 0:
                x[rows] = 0

    def top_level(x: torch.Tensor) -> None:
        for rows in wl.tile(x[0].to(torch.int64)):
            x[rows] = 0

    x = torch.zeros(8)
    assert mistake(one_branch, x) == (
        "UndefinedNameError: `v` is assigned in one branch of an `if` only"
    )
    assert mistake(two_kinds, x) == (
        "UndefinedNameError: `v` is a tile of torch.float32 [] in one branch of an `if` and a"
        " tile of torch.float32 [rows] in the other"
    )
    assert mistake(of_tile, x) == "DTypeError: the truth of a tile is not one bool"
    assert mistake(top_level, x).startswith(
        "ArgumentError: the bounds of a top-level loop are known before it runs"
    )


@wavetile.kernel
def scaled_by_rank_and_dtype(x: torch.Tensor, by: torch.Tensor | None, out: torch.Tensor) -> None:
    given = by is not None
    whole = given and by.dim() == 2
    narrow = not (x.dtype == torch.float32 and True)
    for rows in wl.tile(x.size(0)):
        value = x[rows, :]
        if whole:
            value = value * by[rows, :]
        elif given:
            value = value * by[rows][:, None]
        out[rows, :] = value.float() + 1 if narrow else value


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
@pytest.mark.parametrize("shape", [None, (5,), (5, 3)])
def test_what_the_rank_decides_is_decided_at_compile_time(
    shape: tuple[int, ...] | None, dtype: torch.dtype
) -> None:
    x = torch.arange(15.0, dtype=dtype).reshape(5, 3)
    by = None if shape is None else torch.full(shape, 2.0, dtype=dtype)
    out = torch.empty(5, 3)
    scaled_by_rank_and_dtype(x, by, out)
    expected = x.float() * (1 if shape is None else 2)
    assert torch.equal(out, expected + (dtype is torch.float16))
