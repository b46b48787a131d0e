# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Loops: nested, of two dimensions, several in a row, with carried values and block sizes."""

import pytest
import torch
import wavetile
import wavetile.language as wl
from wavetile.testing import assert_close


@wavetile.kernel
def add_blocks(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    m, n = x.size()
    for rows, cols in wl.tile([m, n], block_size=[8, 32]):
        out[rows, cols] = x[rows, cols] + y[rows, cols]
    return out


@pytest.mark.parametrize("shape", [(1, 1), (7, 33), (65, 130), (0, 5)])
def test_two_dimensions(shape: tuple[int, int], generator: torch.Generator) -> None:
    x = torch.randn(shape, generator=generator)
    y = torch.randn(shape, generator=generator)
    assert torch.equal(add_blocks(x, y), x + y)


@wavetile.kernel
def online_softmax(x: torch.Tensor) -> torch.Tensor:
    m, n = x.size()
    out = torch.empty_like(x)
    for rows in wl.tile(m):
        highest = wl.full([rows], float("-inf"), dtype=torch.float32)
        total = wl.zeros([rows], dtype=torch.float32)
        for cols in wl.tile(n):
            v = x[rows, cols].to(torch.float32)
            larger = torch.maximum(highest, torch.amax(v, dim=1))
            total = total * torch.exp(highest - larger)
            total = total + torch.exp(v - larger[:, None]).sum(dim=1)
            highest = larger
        for cols in wl.tile(n):
            v = x[rows, cols].to(torch.float32)
            out[rows, cols] = (torch.exp(v - highest[:, None]) / total[:, None]).to(x.dtype)
    return out


@pytest.mark.parametrize("shape", [(1, 1), (5, 77), (3, 1009)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_carried_values(
    shape: tuple[int, int], dtype: torch.dtype, generator: torch.Generator
) -> None:
    x = torch.randn(shape, generator=generator).to(dtype)
    assert_close(online_softmax(x), torch.softmax(x.double(), -1), length=shape[1], c=2.0)


@wavetile.kernel
def two_loops(x: torch.Tensor, out: torch.Tensor) -> None:
    partial = torch.empty_like(x)
    for rows in wl.tile(x.size(0)):
        partial[rows, :] = x[rows, :] * 2
    for cols in wl.tile(x.size(1)):
        out[cols] = partial[:, cols].sum(0)


def test_a_later_loop_sees_the_stores_of_an_earlier_one(generator: torch.Generator) -> None:
    x = torch.randn(67, 45, generator=generator)
    out = torch.full([45], 77.0)
    two_loops(x, out)
    assert_close(out, (x.double() * 2).sum(0), length=67, c=2.0)
    assert len(two_loops.regions) == 1


@wavetile.kernel
def two_regions(x: torch.Tensor) -> torch.Tensor:
    for rows in wl.tile(x.size(0)):
        x[rows, :] = x[rows, :] + 1
    doubled = x * 2
    for rows in wl.tile(x.size(0)):
        x[rows, :] = doubled[rows, :] * x[rows, :]
    return x


def test_host_code_between_loops() -> None:
    x = torch.arange(35.0).reshape(5, 7)
    expected = (x + 1) * 2 * (x + 1)
    assert torch.equal(two_regions(x), expected)
    assert len(two_regions.regions) == 2


@wavetile.kernel
def in_host_control_flow(x: torch.Tensor, times: int, negative: bool) -> torch.Tensor:
    if negative:
        for rows in wl.tile(x.size(0)):
            x[rows, :] = -x[rows, :]
    for _ in range(times):
        for rows in wl.tile(x.size(0)):
            x[rows, :] = x[rows, :] * 2
    return x


def test_loops_inside_host_control_flow() -> None:
    x = torch.arange(1.0, 36.0).reshape(5, 7)
    assert torch.equal(in_host_control_flow(x.clone(), 3, False), x * 8)
    assert torch.equal(in_host_control_flow(x.clone(), 0, True), -x)


@wavetile.kernel
def from_begin_to_end(x: torch.Tensor, begin: int, end: int) -> None:
    for rows in wl.tile(begin, end):
        x[rows, :] = rows.index[:, None].to(torch.float32)


def test_begin_and_index() -> None:
    x = torch.full([50, 5], -1.0)
    from_begin_to_end(x, 3, 41)
    expected = torch.full([50, 5], -1.0)
    expected[3:41] = torch.arange(3.0, 41.0)[:, None]
    assert torch.equal(x, expected)


@wavetile.kernel
def unrolled(x: torch.Tensor, out: torch.Tensor, count: wl.constexpr) -> None:
    for rows in wl.tile(x.size(0)):
        total = wl.zeros([rows])
        for i in wl.static_range(count):
            total += x[rows, i] * (i + 1)
        out[rows] = total


def test_static_range(generator: torch.Generator) -> None:
    x = torch.randn(21, 5, generator=generator)
    out = torch.full([21], 77.0)
    unrolled(x, out, 3)
    assert_close(out, x[:, :3].double() @ torch.tensor([1.0, 2.0, 3.0]).double(), length=3, c=2.0)


@wavetile.kernel
def matmul_by_loops(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    m, k = x.size()
    _, n = y.size()
    out = torch.empty([m, n], dtype=torch.float32)
    for rows, cols in wl.tile([m, n]):
        acc = wl.zeros([rows, cols])
        for inner in wl.tile(k):
            acc = torch.addmm(acc, x[rows, inner], y[inner, cols])
        out[rows, cols] = acc
    return out


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
@pytest.mark.parametrize("sizes", [(17, 33, 49), (130, 70, 100)])
def test_matmul(
    dtype: torch.dtype, sizes: tuple[int, int, int], generator: torch.Generator
) -> None:
    m, k, n = sizes
    x = torch.randn(m, k, generator=generator).to(dtype)
    y = torch.randn(k, n, generator=generator).to(dtype)
    assert_close(matmul_by_loops(x, y), x.double() @ y.double(), length=k, c=2.0)
