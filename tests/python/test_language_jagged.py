# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""`wl.jagged_tile`: loads, stores, reductions and products of rows of several lengths."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import wavetile
import wavetile.language as wl

from tests.python.conftest import TARGETS
from tests.python.end_to_end import in_python, on


def ragged(generator: torch.Generator, rows: int = 13, longest: int = 40) -> torch.Tensor:
    lengths = torch.randint(0, longest + 1, (rows,), generator=generator)
    lengths[3] = 0
    return lengths


@wavetile.kernel
def statistics(x: torch.Tensor, lengths: torch.Tensor, out: torch.Tensor) -> Any:
    m = x.size(0)
    total, high, product = torch.empty(m), torch.empty(m), torch.empty(m)
    for rows in wl.tile(m):
        ends = lengths[rows]
        acc = wl.zeros([rows])
        top = wl.full([rows], float("-inf"), torch.float32)
        prod = wl.full([rows], 1.0, torch.float32)
        for k in wl.jagged_tile(ends):
            v = x[rows, k] - 100.0  # what does not exist is no longer zero
            acc += v.sum(-1)
            top = torch.maximum(top, v.amax(-1))
            prod = prod * (v / 100.0).prod(-1)
            out[rows, k] = v
        total[rows], high[rows], product[rows] = acc, top, prod
    return total, high, product


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("config", [None, {"rows": 4, "k": 8}, {"rows": 1, "k": 16}])
def test_rows_of_several_lengths(target: str, config: Any, generator: torch.Generator) -> None:
    lengths = ragged(generator)
    x = torch.randn(13, 40, generator=generator)
    out = torch.full_like(x, 7.0)
    total, high, product = on(statistics, target, config)(x, lengths, out)
    for i, length in enumerate(lengths.tolist()):
        row = x[i, :length] - 100.0
        torch.testing.assert_close(total[i], row.sum(), rtol=1e-5, atol=1e-4)
        assert high[i] == (row.amax() if length else -torch.inf)
        torch.testing.assert_close(product[i], (row / 100.0).prod(), rtol=1e-5, atol=0)
        assert torch.equal(out[i, :length], row)
        assert (out[i, length:] == 7).all()


@wavetile.kernel
def packed_mean(
    data: torch.Tensor, offsets: torch.Tensor, counts: torch.Tensor, width: int
) -> torch.Tensor:
    """Rows of a packed tensor, of as many features as `counts` says: Helion's jagged_mean."""
    rows_total = offsets.size(0) - 1
    out = torch.zeros([rows_total, width])
    flat = data.view(-1)
    for b in wl.tile(rows_total):
        starts = offsets[b]
        lengths = offsets[b.index + 1] - starts
        for m in wl.jagged_tile(counts[b]):
            sums = wl.zeros([b, m])
            for k in wl.jagged_tile(lengths):
                places = (starts[:, None] + k.index[None, :])[:, :, None] * width
                sums = sums + wl.load(flat, [places + m.index[None, None, :]]).sum(dim=1)
            many = lengths.to(torch.float32)[:, None]
            out[b, m] = torch.where(many > 0, sums / many, 0.0)
    return out


@pytest.mark.parametrize("target", TARGETS)
def test_jagged_in_two_dimensions(target: str, generator: torch.Generator) -> None:
    lengths = ragged(generator, longest=9)
    offsets = torch.cat([torch.zeros(1, dtype=torch.int64), lengths.cumsum(0)])
    counts = torch.randint(0, 8, (13,), generator=generator)
    data = torch.randn(int(offsets[-1]), 7, generator=generator)
    out = on(packed_mean, target)(data, offsets, counts, 7)
    for i, (length, count) in enumerate(zip(lengths.tolist(), counts.tolist(), strict=True)):
        rows = data[offsets[i] : offsets[i + 1], :count]
        expected = rows.sum(0) / max(length, 1)
        torch.testing.assert_close(out[i, :count], expected)
        assert (out[i, count:] == 0).all()


@wavetile.kernel
def sums_over_rows(x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    out = torch.zeros(x.size(1))
    for rows in wl.tile(x.size(0), block_size=16):
        for k in wl.jagged_tile(lengths[rows]):
            wl.atomic_add(out, [k], (x[rows, k] + 1.0).sum(0))
    return out


def test_columns_leave_out_rows_that_have_ended(generator: torch.Generator) -> None:
    lengths = ragged(generator)
    x = torch.randint(-9, 9, (13, 40), generator=generator).float()
    exists = torch.arange(40) < lengths[:, None]
    expected = torch.where(exists, x + 1, 0.0).sum(0)
    assert torch.equal(sums_over_rows(x, lengths), expected)


@wavetile.kernel
def jagged_product(x: torch.Tensor, y: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    m, n = x.size(0), y.size(1)
    out = torch.empty(m, n)
    for rows, cols in wl.tile([m, n]):
        acc = wl.zeros([rows, cols])
        for k in wl.jagged_tile(lengths[rows]):
            acc = wl.dot(x[rows, k] + 1.0, y[k, cols], acc)
        out[rows, cols] = acc
    return out


def test_products_end_with_their_rows(generator: torch.Generator) -> None:
    lengths = ragged(generator, rows=32)
    x = torch.randn(32, 40, generator=generator).bfloat16()
    y = torch.randn(40, 32, generator=generator).bfloat16()
    exists = torch.arange(40) < lengths[:, None]
    expected = torch.where(exists, x + 1.0, 0.0).float() @ y.float()
    torch.testing.assert_close(jagged_product(x, y, lengths), expected, rtol=1e-4, atol=1e-3)


def test_rows_in_python(generator: torch.Generator) -> None:
    lengths = ragged(generator)
    x, outs = torch.randn(13, 40, generator=generator), torch.zeros(2, 13, 40)
    results = [
        kernel(x, lengths, out)
        for kernel, out in zip((statistics, in_python(statistics)), outs, strict=True)
    ]
    torch.testing.assert_close(results[0], results[1])
    assert torch.equal(outs[0], outs[1])
    y = torch.randn(40, 7, generator=generator)
    torch.testing.assert_close(
        in_python(jagged_product)(x, y, lengths), jagged_product(x, y, lengths)
    )
    with pytest.raises(wavetile.errors.UnsupportedFunctionError, match="of a fixed size"):
        in_python(sums_over_rows)(x, lengths)


@pytest.mark.compiled
def test_mistakes() -> None:
    def mistake(function: Any, error: type[Exception], text: str) -> None:
        with pytest.raises(error, match=text):
            wavetile.kernel(function).bind(torch.zeros(8, 8), torch.zeros(8, dtype=torch.int64))

    def at_top(x: torch.Tensor, lengths: torch.Tensor) -> None:
        for _k in wl.jagged_tile(lengths):
            pass
        for _rows in wl.tile(x.size(0)):
            pass

    def of_a_number(x: torch.Tensor, lengths: torch.Tensor) -> None:
        for _rows in wl.tile(x.size(0)):
            for _k in wl.jagged_tile(x.size(1)):
                pass

    def mean(x: torch.Tensor, lengths: torch.Tensor) -> None:
        for rows in wl.tile(x.size(0)):
            for k in wl.jagged_tile(lengths[rows]):
                x[rows, 0] = x[rows, k].mean(-1)

    def sort(x: torch.Tensor, lengths: torch.Tensor) -> None:
        for rows in wl.tile(x.size(0)):
            for k in wl.jagged_tile(lengths[rows]):
                x[rows, k] = x[rows, k].sort(-1)[0]

    errors = wavetile.errors
    mistake(at_top, errors.ArgumentError, "loop inside another one")
    mistake(of_a_number, errors.ArgumentError, "takes a tile with an end for each row")
    mistake(mean, errors.ShapeError, "a mean along `k`")
    mistake(sort, errors.ShapeError, "torch.sort along `k`")
