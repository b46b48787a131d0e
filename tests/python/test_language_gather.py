# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Gather and scatter: tiles of integers as indices, masks, slices with bounds."""

from __future__ import annotations

import hypothesis
import hypothesis.strategies as st
import pytest
import torch
import wavetile
import wavetile.language as wl

from tests.python.conftest import TARGETS
from tests.python.end_to_end import in_python, on


@wavetile.kernel
def embedding(table: torch.Tensor, indices: torch.Tensor) -> torch.Tensor:
    out = torch.empty([indices.size(0), table.size(1)], dtype=table.dtype)
    for rows in wl.tile(indices.size(0)):
        out[rows, :] = table[indices[rows], :]
    return out


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.int64, torch.bool])
@pytest.mark.parametrize("index_dtype", [torch.int64, torch.int32, torch.int8])
def test_embedding(
    target: str, dtype: torch.dtype, index_dtype: torch.dtype, generator: torch.Generator
) -> None:
    table = torch.randint(-50, 50, (37, 67), generator=generator).to(dtype)
    indices = torch.randint(0, 37, (131,), generator=generator).to(index_dtype)
    assert torch.equal(on(embedding, target)(table, indices), table[indices.long()])


@pytest.mark.parametrize("target", TARGETS)
def test_indices_outside_give_zero(target: str, generator: torch.Generator) -> None:
    table = torch.randn(7, 33, generator=generator)
    indices = torch.tensor([0, -1, 6, 7, 2**31 + 1, 2**32 + 3, -(2**40), 3])
    inside = (indices >= 0) & (indices < 7)
    expected = torch.where(inside[:, None], table[indices.where(inside, 0)], 0)
    assert torch.equal(on(embedding, target)(table, indices), expected)


@wavetile.kernel
def scatter_rows(x: torch.Tensor, indices: torch.Tensor, out: torch.Tensor) -> None:
    for rows, cols in wl.tile([x.size(0), x.size(1)]):
        out[indices[rows], cols] = x[rows, cols]


@pytest.mark.filterwarnings("ignore::wavetile.errors.RaceWarning")
@pytest.mark.parametrize("target", TARGETS)
def test_scatter(target: str, generator: torch.Generator) -> None:
    x = torch.randn(53, 29, generator=generator)
    indices = torch.randperm(71, generator=generator)[:53]
    out = torch.full([71, 29], 77.0)
    expected = out.clone()
    expected[indices] = x
    on(scatter_rows, target)(x, indices, out)
    assert torch.equal(out, expected)


@wavetile.kernel
def pointwise_gather(x: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    out = torch.empty([a.size(0), b.size(0)], dtype=x.dtype)
    for i, j in wl.tile([a.size(0), b.size(0)]):
        out[i, j] = x[a[i][:, None], b[j][None, :]]
    return out


@pytest.mark.parametrize("target", TARGETS)
def test_two_tiles_of_indices_broadcast(target: str, generator: torch.Generator) -> None:
    x = torch.randn(19, 23, generator=generator).t()
    a = torch.randint(0, 23, (41,), generator=generator)
    b = torch.randint(0, 19, (67,), generator=generator)
    assert torch.equal(on(pointwise_gather, target)(x, a, b), x[a[:, None], b[None, :]])


@wavetile.kernel
def masked_shift(x: torch.Tensor, out: torch.Tensor, by: int, limit: int) -> None:
    for rows in wl.tile(x.size(0)):
        moved = rows.index + by
        v = wl.load(x, [moved], extra_mask=moved < limit)
        wl.store(out, [rows], v * 2, extra_mask=rows.index % 2 == 0)


@pytest.mark.parametrize("target", TARGETS)
def test_extra_mask(target: str, generator: torch.Generator) -> None:
    x = torch.randn(257, generator=generator)
    out = torch.full([257], 77.0)
    on(masked_shift, target)(x, out, 3, 101)
    moved = torch.arange(257) + 3
    loaded = torch.where(moved < 101, x[moved.clamp(max=256)], 0)
    assert torch.equal(out, torch.where(torch.arange(257) % 2 == 0, loaded * 2, 77.0))


@wavetile.kernel
def orders(
    x: torch.Tensor, indices: torch.Tensor, together: torch.Tensor, fixed: torch.Tensor
) -> None:
    for rows in wl.tile(x.size(0)):
        together[rows, :, :] = x[rows, indices[:], :]
        fixed[rows, :] = x[rows, 1, indices[:]]


def test_order_of_dimensions_is_that_of_torch(generator: torch.Generator) -> None:
    x = torch.randn(13, 5, 5, generator=generator)
    indices = torch.tensor([4, 0, 2])
    together, fixed = torch.full([13, 3, 5], 77.0), torch.full([13, 3], 77.0)
    orders(x, indices, together, fixed)
    assert torch.equal(together, x[:, indices, :])
    assert torch.equal(fixed, x[:, 1, indices])


@wavetile.kernel
def separated(
    x: torch.Tensor, indices: torch.Tensor, out: torch.Tensor, ints: torch.Tensor
) -> None:
    for cols in wl.tile(x.size(1)):
        out[:, cols] = x[indices[:], cols, indices[:]]
        ints[cols, :] = x[0, cols, indices[:]]


def test_separated_indices_come_first(generator: torch.Generator) -> None:
    x = torch.randn(3, 17, 5, generator=generator)
    indices = torch.tensor([2, 0, 2, 1])
    out, ints = torch.full([4, 17], 77.0), torch.full([17, 4], 77.0)
    separated(x, indices, out, ints)
    assert torch.equal(out, x[indices, :, indices])
    assert torch.equal(ints, x[0, :, indices])


@wavetile.kernel
def by_element(x: torch.Tensor, which: torch.Tensor, out: torch.Tensor) -> None:
    for cols in wl.tile(x.size(1)):
        row = which[0]
        out[cols] = x[row, cols] + x[which[1], cols]


@pytest.mark.parametrize("target", TARGETS)
def test_element_as_index(target: str, generator: torch.Generator) -> None:
    x = torch.randn(9, 301, generator=generator)
    out = torch.full([301], 77.0)
    on(by_element, target)(x, torch.tensor([4, 7]), out)
    assert torch.equal(out, x[4] + x[7])


@wavetile.kernel
def slices(x: torch.Tensor, out: torch.Tensor, first: int) -> None:
    for rows in wl.tile(x.size(0)):
        out[rows, 0] = x[rows, 1:3].sum(-1)
        out[rows, 1] = x[rows, -4:].sum(-1)
        out[rows, 2] = x[rows, first:].amax(-1)
        out[rows, 3] = x[rows, 2:100].sum(-1)
        out[rows, 4:] = x[rows, :-4]


@pytest.mark.parametrize("columns", [7, 64, 131])
@pytest.mark.parametrize("target", TARGETS)
def test_slices_with_bounds(target: str, columns: int, generator: torch.Generator) -> None:
    x = torch.randint(-50, 50, (19, columns), generator=generator).float()
    out = torch.full([19, columns], 77.0)
    on(slices, target)(x, out, 5)
    expected = torch.cat(
        [
            x[:, 1:3].sum(-1, keepdim=True),
            x[:, -4:].sum(-1, keepdim=True),
            x[:, 5:].amax(-1, keepdim=True),
            x[:, 2:100].sum(-1, keepdim=True),
            x[:, :-4],
        ],
        1,
    )
    assert torch.equal(out, expected)


@wavetile.kernel
def windows(x: torch.Tensor, width: wl.constexpr, step: wl.constexpr) -> torch.Tensor:
    m = x.size(0)
    out = torch.empty([m, wavetile.cdiv(x.size(1), step), width], dtype=x.dtype)
    for row in wl.tile(m):
        for i in range(out.size(1)):
            begin = i * step
            out[row, i, :] = x[row, begin - 1 : begin + width - 1]
    return out


@pytest.mark.parametrize("target", TARGETS)
def test_slices_of_constant_length(target: str, generator: torch.Generator) -> None:
    x = torch.randn(11, 37, generator=generator)
    padded = torch.zeros(11, 100)
    padded[:, 1:38] = x
    for width, step in ((5, 3), (16, 8), (24, 7)):
        result = on(windows, target)(x, width, step)
        assert torch.equal(result, padded.unfold(1, width, step)[:, : result.size(1)])


@wavetile.kernel
def unpacked_product(x: torch.Tensor, packed: torch.Tensor) -> torch.Tensor:
    m, n = x.size(0), packed.size(1)
    out = torch.empty([m, n])
    block = wl.register_block_size(16, 64)
    for rows, cols in wl.tile([m, n]):
        acc = wl.zeros([rows, cols])
        for half in wl.tile(packed.size(0), block_size=block):
            begin = half.begin * 2
            left = x[rows, begin : begin + block * 2]
            bits = packed[half, cols]
            low = ((bits & 15) ^ 8).to(x.dtype) - 8
            both = torch.stack([low, (bits >> 4).to(x.dtype)], dim=1)
            acc = wl.dot(left, both.reshape(half.block_size * 2, cols.block_size), acc)
        out[rows, cols] = acc
    return out


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("size", [16, 64])
def test_product_with_packed_integers(target: str, size: int, generator: torch.Generator) -> None:
    for k in (90, 128):
        x = torch.randint(-4, 5, (33, k), generator=generator).bfloat16()
        y = torch.randint(-8, 8, (k, 35), generator=generator)
        packed = ((y[0::2] & 15) | (y[1::2] << 4)).to(torch.int8)
        config = {"half": size}
        assert torch.equal(on(unpacked_product, target, config)(x, packed), x.float() @ y.float())
    assert torch.equal(in_python(unpacked_product)(x, packed), x.float() @ y.float())


@wavetile.kernel
def gather_columns(x: torch.Tensor, indices: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(indices, dtype=x.dtype)
    for rows, cols in wl.tile([indices.size(0), indices.size(1)]):
        out[rows, cols] = x[rows.index[:, None], indices[rows, cols]]
    return out


@hypothesis.given(
    rows=st.integers(1, 40),
    cols=st.integers(1, 90),
    source=st.integers(1, 50),
    transposed=st.booleans(),
    target=st.sampled_from(TARGETS),
    seed=st.integers(0, 2**31),
)
@hypothesis.settings(max_examples=30)
def test_gather_of_any_shape(
    rows: int, cols: int, source: int, transposed: bool, target: str, seed: int
) -> None:
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(source, rows, generator=generator).t()
    x = x if transposed else x.contiguous()
    indices = torch.randint(0, source, (rows, cols), generator=generator)
    assert torch.equal(on(gather_columns, target)(x, indices), torch.gather(x, 1, indices))


@wavetile.kernel
def gathered_softmax(x: torch.Tensor, rows_of: torch.Tensor) -> torch.Tensor:
    out = torch.empty([rows_of.size(0), x.size(1)], dtype=x.dtype)
    for rows in wl.tile(rows_of.size(0)):
        v = x[rows_of[rows], :]
        e = torch.exp(v - v.amax(-1, keepdim=True))
        out[rows, :] = e / e.sum(-1, keepdim=True)
    return out


@pytest.mark.parametrize("strategy", ["resident", "looped"])
def test_row_strategies(strategy: str, generator: torch.Generator) -> None:
    x = torch.randn(11, 700, generator=generator)
    which = torch.randint(0, 11, (23,), generator=generator)
    config = {"x_dim1.strategy": strategy, "x_dim1": 256 if strategy == "looped" else 1024}
    y = on(gathered_softmax, TARGETS[0], config)(x, which)
    torch.testing.assert_close(y, torch.softmax(x[which], -1), atol=1e-6, rtol=1e-5)
