# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Loads and stores: strides, offsets, numbers as indices, new dimensions, aliased tensors."""

import pytest
import torch
import wavetile
import wavetile.language as wl

from tests.python.conftest import TARGETS
from tests.python.end_to_end import on, surrounded


@wavetile.kernel
def double(x: torch.Tensor, out: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        out[rows, :] = x[rows, :] * 2


def views(base: torch.Tensor) -> dict[str, torch.Tensor]:
    return {
        "contiguous": base[:19, :67].contiguous(),
        "odd row stride": base[:19, :67],
        "offset": base[1:20, 3:70],
        "transposed": base[:67, :19].t(),
        "every other": base[::3, ::2][:19],
    }


@pytest.mark.parametrize("name", list(views(torch.empty(80, 141))))
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64])
def test_strides(name: str, dtype: torch.dtype, generator: torch.Generator) -> None:
    base = torch.randint(-50, 50, (80, 141), generator=generator).to(dtype)
    x = views(base)[name]
    # Whatever lies beside the tensor stays as it was.
    surrounding = torch.full((80, 141), 99, dtype=dtype)
    out = views(surrounding)[name]
    expected = surrounding.clone()
    views(expected)[name].copy_(x * 2)
    double(x, out)
    assert torch.equal(out, x * 2)
    if name != "contiguous":
        assert torch.equal(surrounding, expected)


def test_expanded_source(generator: torch.Generator) -> None:
    x = torch.randn(1, 67, generator=generator).expand(19, 67)
    out = torch.full([19, 67], 77.0)
    double(x, out)
    assert torch.equal(out, x * 2)


def test_result_is_the_source(generator: torch.Generator) -> None:
    x = torch.randn(19, 67, generator=generator)
    expected = x * 2
    double(x, x)
    assert torch.equal(x, expected)


@pytest.mark.parametrize("shape", [(0, 7), (7, 0), (1, 1), (1, 67), (19, 1)])
def test_empty_and_size_one(shape: tuple[int, int], generator: torch.Generator) -> None:
    x = torch.randn(shape, generator=generator)
    out = torch.full(shape, 77.0)
    double(x, out)
    assert torch.equal(out, x * 2)


@wavetile.kernel
def outer(a: torch.Tensor, b: torch.Tensor, out: torch.Tensor) -> None:
    for rows in wl.tile(a.size(0)):
        out[rows, :] = a[rows][:, None] * b[:][None, :] + a[rows, None]


def test_new_dimensions(generator: torch.Generator) -> None:
    a, b = torch.randn(19, generator=generator), torch.randn(67, generator=generator)
    out = torch.full([19, 67], 77.0)
    outer(a, b, out)
    assert torch.allclose(out, a[:, None] * b[None, :] + a[:, None], atol=1e-6)


@wavetile.kernel
def rotate_columns(x: torch.Tensor, out: torch.Tensor, which: int) -> None:
    for rows in wl.tile(x.size(0)):
        out[rows, 0] = x[rows, -1]
        out[rows, 1] = x[rows, which]
        out[rows, 2] = x[rows, 0]


def test_numbers_as_indices(generator: torch.Generator) -> None:
    x = torch.randn(19, 5, generator=generator)
    out = torch.full([19, 3], 77.0)
    rotate_columns(x, out, 3)
    assert torch.equal(out, x[:, [4, 3, 0]])


@wavetile.kernel
def shift(x: torch.Tensor, out: torch.Tensor) -> None:
    for cols in wl.tile(x.size(0) - 1):
        out[cols] = x[cols + 1] - x[cols]


def test_moved_tile(generator: torch.Generator) -> None:
    x = torch.randn(131, generator=generator)
    out = torch.full([130], 77.0)
    shift(x, out)
    assert torch.equal(out, x[1:] - x[:-1])


@wavetile.kernel
def replaced(x: torch.Tensor, factor: torch.Tensor, out: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        f = factor[rows]
        factor[rows] = x[rows, :].sum(-1)
        out[rows, :] = x[rows, :] * f[:, None] + factor[rows][:, None]


@pytest.mark.parametrize("target", TARGETS)
def test_waves_of_a_block_wait_for_one_another(target: str, generator: torch.Generator) -> None:
    # All of them load the factor, and one of them stores it.
    x = torch.randint(-9, 9, (3, 4096), generator=generator).float()
    factor = torch.tensor([2.0, 3.0, 4.0])
    out = torch.full(x.shape, 77.0)
    expected = x * factor[:, None] + x.sum(-1, keepdim=True)
    on(replaced, target, {"rows": 1, "waves": 8})(x, factor, out)
    assert torch.equal(out, expected)
    assert torch.equal(factor, x.sum(-1))


@wavetile.kernel
def beyond(x: torch.Tensor, out: torch.Tensor, moved: torch.Tensor) -> None:
    for rows in wl.tile(out.size(0)):
        for cols in wl.tile(128):
            out[rows, cols] = x[rows, cols]
            moved[rows, cols] = x[rows, cols + 40]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("columns", [90, 101, 104])
def test_loop_that_leaves_the_tensor(target: str, columns: int, generator: torch.Generator) -> None:
    # The tensor ends inside the vectors of the last block.
    x = torch.randn(20, columns, generator=generator)
    out, moved = torch.full([2, 24, 128], 77.0)
    on(beyond, target)(surrounded(x), out, moved)
    expected = torch.zeros(2, 24, 128)
    expected[0, :20, :columns] = x
    expected[1, :20, : columns - 40] = x[:, 40:]
    assert torch.equal(out, expected[0])
    assert torch.equal(moved, expected[1])


@wavetile.kernel
def three_dimensions(x: torch.Tensor, out: torch.Tensor) -> None:
    for batch in wl.tile(x.size(0)):
        out[batch, ...] = x[batch, :, :] + 1


def test_three_dimensions(generator: torch.Generator) -> None:
    x = torch.randn(5, 7, 11, generator=generator)
    out = torch.full([5, 7, 11], 77.0)
    three_dimensions(x, out)
    assert torch.equal(out, x + 1)


@wavetile.kernel
def transpose(x: torch.Tensor, out: torch.Tensor) -> None:
    for rows, cols in wl.tile([x.size(0), x.size(1)]):
        out[cols, rows] = x[rows, cols].T


def test_transpose(generator: torch.Generator) -> None:
    x = torch.randn(45, 70, generator=generator)
    out = torch.full([70, 45], 77.0)
    transpose(x, out)
    assert torch.equal(out, x.t())


@wavetile.kernel
def accumulate(x: torch.Tensor, out: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        out[rows, :] += x[rows, :]


def test_in_place_store(generator: torch.Generator) -> None:
    x, out = torch.randn(19, 67, generator=generator), torch.ones(19, 67)
    accumulate(x, out)
    assert torch.equal(out, x + 1)
