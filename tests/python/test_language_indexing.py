# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Loads and stores: strides, offsets, numbers as indices, new dimensions, aliased tensors."""

import pytest
import torch
import wavetile
import wavetile.language as wl


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
