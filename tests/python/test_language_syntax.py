# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Lambdas, comprehensions, loops that end early, slices with a step."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import wavetile
import wavetile.language as wl

from tests.python.conftest import TARGETS
from tests.python.end_to_end import defined, in_python, on, surrounded

# -- Lambdas and comprehensions


@wavetile.kernel
def lambdas(x: torch.Tensor, scale: float) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    m, n = x.size()
    low, running = torch.empty(m), torch.empty_like(x)
    out = torch.empty_like(x)
    for rows in wl.tile(m):
        v = x[rows, :]
        shift = v.amax(-1)
        moved = lambda t, by=2.0, *, s=shift, sign=1: (t - s[:, None]) * scale * by * sign  # noqa: E731
        low[rows] = wl.reduce(lambda a, b: torch.minimum(a, b), v, dim=-1, other=0.0)
        running[rows, :] = wl.associative_scan(lambda a, b: torch.maximum(a, b), v, dim=-1)
        out[rows, :] = moved(v) + moved(v, 1.0, sign=-1)
    return low, running, out


def test_lambdas(generator: torch.Generator) -> None:
    x = torch.randn(13, 71, generator=generator)
    low, running, out = lambdas(x, 0.25)
    assert torch.equal(low, x.amin(-1))
    assert torch.equal(running, x.cummax(-1).values)
    moved = (x - x.amax(-1, keepdim=True)) * 0.25
    torch.testing.assert_close(out, moved * 2.0 - moved)


@wavetile.kernel
def comprehensions(
    xs: tuple[torch.Tensor, ...], weights: tuple[float, ...], n: wl.constexpr
) -> torch.Tensor:
    out = torch.empty_like(xs[0])
    for rows in wl.tile(out.size(0)):
        i = 5
        parts = [x[rows] * w for x, w in zip(xs, weights)]
        parts = [p + i for i, p in enumerate(parts) if i != 1]
        extra = [
            wl.full([rows], j * k, torch.float32) for j in range(2) for k in wl.static_range(n)
        ]
        last = list(reversed(parts))[0]  # noqa: RUF015
        out[rows] = sum(parts) + sum(e for e in extra) + last * len(parts) + i
    return out


def test_comprehensions(generator: torch.Generator) -> None:
    xs = tuple(torch.randn(3, 50, generator=generator))
    expected = in_python(comprehensions)(xs, (1.0, 2.0, 4.0), 3)
    torch.testing.assert_close(comprehensions(xs, (1.0, 2.0, 4.0), 3), expected)
    by_hand = xs[0] + (xs[2] * 4 + 2) + 3 + (xs[2] * 4 + 2) * 2 + 5
    torch.testing.assert_close(expected, by_hand)


# -- Loops that end early


@wavetile.kernel
def first_above(x: torch.Tensor, limit: float) -> torch.Tensor:
    out = torch.full([x.size(0)], -1)
    for row in wl.tile(x.size(0), block_size=1):
        found = -1
        for i in range(x.size(1)):
            if (x[row, i] > limit).any():
                found = i
                break
        out[row] = found
    return out


@wavetile.kernel
def counts_down(x: torch.Tensor, first: int, limit: float) -> torch.Tensor:
    out = torch.empty(2, x.size(0))
    for row in wl.tile(x.size(0), block_size=1):
        total, steps = wl.zeros([row]), 0
        for i in range(first, -1, -3):
            if x[row, i].amax() > limit:
                break
            steps += 1
            if x[row, i].amax() < 0.1:
                continue
            total += x[row, i] * i
        out[0, row] = total
        out[1, row] = steps
    return out


@pytest.mark.parametrize("target", TARGETS)
def test_break_of_a_range_with_a_step(target: str, generator: torch.Generator) -> None:
    x = torch.randint(0, 8, (9, 64), generator=generator) / 8
    for first in (63, 0, -1):
        interpreted = in_python(counts_down)
        expected = interpreted(x, first, 0.8)
        assert torch.equal(on(counts_down, target)(x, first, 0.8), expected)


@pytest.mark.compiled
def test_break_leaves_a_range_at_once() -> None:
    # A loop that went on would take hours.
    @wavetile.kernel
    def far(x: torch.Tensor, n: int) -> None:
        for row in wl.grid(x.size(0)):
            found = 0
            for i in range(n):
                found = i
                if x[row] * i > 20:
                    break
            x[row] = found

    x = torch.tensor([1.0, 3.0, 8.0])
    far(x, 2**31 - 1)
    assert x.tolist() == [21, 7, 3]


@wavetile.kernel
def sum_some(x: torch.Tensor, limit: float, n: wl.constexpr) -> torch.Tensor:
    out = torch.empty(x.size(0))
    for row in wl.tile(x.size(0), block_size=1):
        if row.begin == 2:
            continue
        total = wl.zeros([row])
        for cols in wl.tile(x.size(1), block_size=8):
            v = x[row, cols].sum(-1)
            if v.amax() < 0:
                continue
            if v.amax() > limit:
                total += 1000.0
                if row.begin % 2 == 0:
                    break
                total += 500.0
            total += v
        steps = 0
        while True:
            steps += 1
            if steps >= 5 + row.begin:
                break
            if steps % 2 == 0:
                continue
            total += 1.0
        for i in wl.static_range(4):
            if i == n:
                break
            total += 0.25
        out[row] = total
    return out


@pytest.mark.parametrize("target", TARGETS)
def test_break(target: str, generator: torch.Generator) -> None:
    x = torch.rand(9, 21, generator=generator)
    above = x > 0.8
    expected = torch.where(above.any(-1), above.int().argmax(-1), -1)
    assert torch.equal(on(first_above, target)(x, 0.8), expected)
    assert torch.equal(first_above(x, 2.0), torch.full([9], -1))


@pytest.mark.parametrize("target", TARGETS)
def test_break_and_continue(target: str, generator: torch.Generator) -> None:
    x = torch.randint(-5, 6, (7, 60), generator=generator).float()
    result = on(sum_some, target)(x, 15.0, 3)
    expected = in_python(sum_some)(x, 15.0, 3)
    rows = torch.arange(7) != 2  # which nothing was stored to
    assert torch.equal(result[rows], expected[rows])


@wavetile.kernel
def steps_that_end_deep_inside(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    out = torch.empty(x.size(0))
    for row in wl.tile(x.size(0), block_size=1):
        if row.begin > 2:
            if row.begin == 5:
                continue
            scale = 2
        else:
            scale = 3
        total = wl.zeros([row])
        for i in range(x.size(1)):
            v = x[row, i]
            if v.amax() > 0:
                if v.amax() > 5:
                    total += 100.0
                    continue
                w, k = v * 2, 3
            else:
                if v.amax() < -6:
                    total -= 50.0
                    break
                w, k = v * scale, 4
            if y[i] > 0:
                if y[i] > 2:
                    continue
                w += 1.0
            for j in range(3):
                if v.amax() > j:
                    if v.amax() == 3:
                        continue
                    w += 0.5
                total += w
            total += w + wl.full([row], k, torch.float32)
        out[row] = total
    return out


@pytest.mark.parametrize("target", TARGETS)
def test_steps_that_end_deep_inside(target: str, generator: torch.Generator) -> None:
    x = torch.randint(-7, 8, (9, 33), generator=generator).float()
    x[1::2].clamp_(-6)
    y = torch.randint(-1, 5, (33,), generator=generator)
    result = on(steps_that_end_deep_inside, target)(x, y)
    expected = in_python(steps_that_end_deep_inside)(x, y)
    rows = torch.arange(9) != 5  # which nothing was stored to
    assert torch.equal(result[rows], expected[rows])


@pytest.mark.compiled
def test_jumps_copy_nothing() -> None:
    def operations(count: int) -> int:
        lines = [
            "def run(x):",
            "    for row in wl.grid(x.size(0)):",
            "        total = 0",
            "        for i in range(9):",
        ]
        for i in range(count):
            lines += [f"            if x[row, {i}] > i:", f"                if x[row, {i}] > 7:"]
            lines += ["                    continue", "                total += i"]
        lines += ["            total += 1", "        x[row, 0] = total"]
        function = defined("run", "\n".join(lines), f"<{count} jumps>", wl=wl)
        bound = wavetile.kernel(function).bind(torch.zeros(3, 20))
        return len(bound.ir("tile").splitlines())

    few, more, many = (operations(count) for count in (4, 8, 12))
    assert many - more == more - few


@pytest.mark.compiled
def test_break_of_a_top_level_loop() -> None:
    @wavetile.kernel
    def leaves(x: torch.Tensor) -> None:
        for rows in wl.tile(x.size(0)):
            if x[0] > 1:
                break
            x[rows] = 1

    with pytest.raises(wavetile.errors.UnsupportedSyntaxError) as raised:
        leaves(torch.zeros(3))
    assert raised.value.message.startswith("`break` of a top-level loop, whose blocks run in par")
    assert raised.value.location.line == leaves.source.tree.lineno + 3

    @wavetile.kernel
    def in_order(x: torch.Tensor) -> None:
        for _ in wl.grid(1):
            for rows in wl.tile(x.size(0), block_size=4):
                if x[rows.begin] > 1:
                    break
                x[rows] = 1

    x = torch.zeros(23)
    x[12] = 2
    in_order(x)
    assert torch.equal(x, torch.cat([torch.ones(12), torch.tensor([2.0]), torch.zeros(10)]))


# -- Slices with a step


@wavetile.kernel
def every_third(x: torch.Tensor, out: torch.Tensor, k: int) -> torch.Tensor:
    low = torch.zeros(x.size(0))
    for rows in wl.tile(x.size(0)):
        v = x[rows, 1::3]
        low[rows] = v.amin(-1)
        out[rows, 3::2] = x[rows, 3::2] * 2
        out[rows, :k:4] += 100.0
    return low


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("columns", [8, 65])
def test_steps(target: str, columns: int, generator: torch.Generator) -> None:
    x = torch.randn(11, columns, generator=generator)
    x = surrounded(x)
    out, expected = torch.zeros(2, *x.shape)
    low = on(every_third, target)(x, out, 7)
    assert torch.equal(low, x[:, 1::3].amin(-1))
    expected[:, 3::2] = x[:, 3::2] * 2
    expected[:, :7:4] += 100.0
    assert torch.equal(out, expected)


@pytest.mark.compiled
def test_steps_that_torch_refuses() -> None:
    def kernel(step: Any) -> Any:
        @wavetile.kernel
        def run(x: torch.Tensor) -> None:
            for rows in wl.tile(x.size(0)):
                x[rows, 0] = x[rows, ::step].sum(-1)

        return run

    for step in (0, -1):
        with pytest.raises(wavetile.errors.UnsupportedIndexError, match="positive constant step"):
            kernel(step)(torch.zeros(3, 4))


@wavetile.kernel
def inner_functions(x: torch.Tensor, bias: torch.Tensor, ids: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    doubled = bias * 2

    def activation(v: torch.Tensor) -> torch.Tensor:
        moved = v + doubled[:]
        return torch.relu(moved)

    def segments(
        a: torch.Tensor, i: torch.Tensor, b: torch.Tensor, j: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.where(i == j, a + b, b), j

    for rows in wl.tile(x.size(0)):
        v = activation(x[rows, :])
        keys = ids[:][None, :].expand_as(v)

        def scaled(u: torch.Tensor, by: float = 3.0) -> torch.Tensor:
            v = u * by  # not the v outside
            return v + shift  # noqa: B023 (read when it is called)

        shift = 1.0
        sums, _ = wl.associative_scan(segments, (v, keys), dim=-1)
        out[rows, :] = scaled(sums) + v * 0.0
    return out


def test_functions_inside_a_kernel(generator: torch.Generator) -> None:
    x = torch.randint(-9, 9, (5, 9), generator=generator).float()
    bias = torch.randint(-9, 9, (9,), generator=generator).float()
    ids = torch.tensor([0, 0, 1, 1, 1, 2, 3, 3, 3])
    v = torch.relu(x + bias * 2)
    sums = torch.cat([v[:, ids == i].cumsum(-1) for i in range(4)], dim=-1)
    assert torch.equal(inner_functions(x, bias, ids), sums * 3 + 1)


@wavetile.kernel
def calls_itself_in_host_code(x: torch.Tensor) -> None:
    def forever(v: torch.Tensor) -> torch.Tensor:
        return forever(v)

    for rows in wl.tile(x.size(0)):
        x[rows] = forever(x[rows])


@wavetile.kernel
def calls_itself_in_device_code(x: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):

        def forever(v: torch.Tensor) -> torch.Tensor:
            return forever(v)

        x[rows] = forever(x[rows])


@wavetile.kernel
def no_value(x: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):

        def nothing(v: torch.Tensor) -> None:
            v + 1.0

        x[rows] = nothing(x[rows])  # type: ignore[call-overload]


@pytest.mark.compiled
def test_mistakes_in_functions_inside_a_kernel() -> None:
    x = torch.ones(5)
    with pytest.raises(wavetile.errors.ArgumentError, match="forever calls itself"):
        calls_itself_in_host_code(x)
    with pytest.raises(wavetile.errors.UnsupportedSyntaxError, match="forever calls itself"):
        calls_itself_in_device_code(x)
    with pytest.raises(wavetile.errors.MissingReturnError, match="`nothing` returns nothing"):
        no_value(x)


@wavetile.kernel
def size_by_position(x: torch.Tensor, out: torch.Tensor, size: wl.constexpr) -> None:
    for part in wl.tile(1, x.size(0), size):
        out[part] = x[part] + part.id


def test_block_size_by_position() -> None:
    out = torch.zeros(14)
    size_by_position(torch.ones(14), out, 4)
    assert out.tolist() == [0.0, *[1.0] * 4, *[2.0] * 4, *[3.0] * 4, 4.0]
