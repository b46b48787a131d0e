# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Triton's elementwise, row, sorting and atomic kernels on every target, against float64."""

import pytest
import torch
import triton
import triton.language as tl
from wavetile.device import triton as software
from wavetile.testing import assert_close

from tests.python.clients.launches import launched

FLOATS = (torch.float32, torch.float16, torch.bfloat16)


@triton.jit
def vector_add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """out[i] = x[i] + y[i] for i < n."""
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = index < n
    total = tl.load(x_ptr + index, mask=inside) + tl.load(y_ptr + index, mask=inside)
    tl.store(out_ptr + index, total, mask=inside)


@triton.jit
def row_softmax(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    """The softmax of each row of a contiguous matrix; a row lies in registers."""
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    inside = column < columns
    x = tl.load(x_ptr + row * columns + column, mask=inside, other=-float("inf")).to(tl.float32)
    e = tl.exp(x - tl.max(x, axis=0))
    out = e / tl.sum(e, axis=0)
    tl.store(out_ptr + row * columns + column, out.to(out_ptr.dtype.element_ty), mask=inside)


@triton.jit
def online_softmax(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    """As row_softmax, in blocks: the first pass keeps a running maximum and sum."""
    row = tl.program_id(0)
    peak = -float("inf")
    total = 0.0
    for start in range(0, columns, BLOCK):
        column = start + tl.arange(0, BLOCK)
        inside = column < columns
        x = tl.load(x_ptr + row * columns + column, mask=inside, other=-float("inf"))
        higher = tl.maximum(peak, tl.max(x.to(tl.float32), axis=0))
        total = total * tl.exp2((peak - higher) * 1.4426950408889634)
        total += tl.sum(tl.exp2((x.to(tl.float32) - higher) * 1.4426950408889634), axis=0)
        peak = higher
    for start in range(0, columns, BLOCK):
        column = start + tl.arange(0, BLOCK)
        inside = column < columns
        x = tl.load(x_ptr + row * columns + column, mask=inside, other=-float("inf"))
        out = tl.exp2((x.to(tl.float32) - peak) * 1.4426950408889634) / total
        tl.store(out_ptr + row * columns + column, out.to(out_ptr.dtype.element_ty), mask=inside)


@triton.jit
def sort_rows(x_ptr, out_ptr, columns, BLOCK: tl.constexpr, DESCENDING: tl.constexpr):
    """Sorts each row of a contiguous matrix."""
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    inside = column < columns
    filler = -float("inf") if DESCENDING else float("inf")
    x = tl.load(x_ptr + row * columns + column, mask=inside, other=filler)
    tl.store(out_ptr + row * columns + column, tl.sort(x, descending=DESCENDING), mask=inside)


@triton.jit
def histogram_atomics(x_ptr, count_ptr, weight_ptr, sum_ptr, n, BLOCK: tl.constexpr):
    """Counts the values of x and sums the weights of each: an atomic for every element."""
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = index < n
    x = tl.load(x_ptr + index, mask=inside, other=0)
    tl.atomic_add(count_ptr + x, 1, mask=inside)
    tl.atomic_add(sum_ptr + x, tl.load(weight_ptr + index, mask=inside, other=0.0), mask=inside)


@triton.jit
def histogram_blocks(x_ptr, count_ptr, n, BINS: tl.constexpr, BLOCK: tl.constexpr):
    """Counts the values of x: each program counts in LDS, then adds its bins."""
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = index < n
    x = tl.load(x_ptr + index, mask=inside, other=0)
    bins = tl.histogram(x, BINS, mask=inside)
    tl.atomic_add(count_ptr + tl.arange(0, BINS), bins)


@triton.jit
def atomic_extremes(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """The maximum, minimum, exclusive or, and the latest value (by exchange) of int32."""
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = index < n
    x = tl.load(x_ptr + index, mask=inside, other=0)
    tl.atomic_max(out_ptr + tl.zeros_like(index), x, mask=inside)
    tl.atomic_min(out_ptr + 1 + tl.zeros_like(index), x, mask=inside)
    tl.atomic_xor(out_ptr + 2 + tl.zeros_like(index), x, mask=inside)
    tl.atomic_xchg(out_ptr + 3, tl.program_id(0) + 1000)


@triton.jit
def claim(ticket_ptr, slot_ptr):
    """Each program takes a ticket by compare and swap and writes its number into that slot."""
    ticket = 0
    while tl.atomic_cas(ticket_ptr, ticket, ticket + 1) != ticket:
        ticket += 1
    tl.store(slot_ptr + ticket, tl.program_id(0))


@triton.jit
def scan_rows(x_ptr, sum_ptr, index_ptr, columns, BLOCK: tl.constexpr):
    """The running sum of each row, and where its maximum is."""
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    inside = column < columns
    x = tl.load(x_ptr + row * columns + column, mask=inside, other=0.0)
    tl.store(sum_ptr + row * columns + column, tl.cumsum(x, axis=0), mask=inside)
    tl.store(index_ptr + row, tl.argmax(tl.where(inside, x, -float("inf")), axis=0))


def random(generator: torch.Generator, *size: int, dtype: torch.dtype) -> torch.Tensor:
    return torch.randn(size, generator=generator).to(dtype)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize(
    ("n", "block", "warps"), [(4099, 1024, 4), (257, 256, 1), (12289, 2048, 8)]
)
def test_vector_add(
    device: software.SoftwareDriver,
    target: str,
    generator: torch.Generator,
    dtype: torch.dtype,
    n: int,
    block: int,
    warps: int,
) -> None:
    x, y = (random(generator, n, dtype=dtype) for _ in range(2))
    out = torch.empty_like(x)
    vector_add[(triton.cdiv(n, block),)](x, y, out, n, block, num_warps=warps)
    assert_close(out, x.double() + y.double())
    assert launched(device.library, target) == {"vector_add": 1}


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize(("rows", "columns", "warps"), [(5, 1009, 4), (3, 4096, 8), (2, 61, 1)])
def test_softmax(
    device: software.SoftwareDriver,
    target: str,
    generator: torch.Generator,
    dtype: torch.dtype,
    rows: int,
    columns: int,
    warps: int,
) -> None:
    x = random(generator, rows, columns, dtype=dtype) * 3
    expected = torch.softmax(x.double(), dim=1)
    out = torch.empty_like(x)
    row_softmax[(rows,)](x, out, columns, triton.next_power_of_2(columns), num_warps=warps)
    assert_close(out, expected, length=columns)
    out = torch.empty_like(x)
    online_softmax[(rows,)](x, out, columns, 512, num_warps=warps)
    assert_close(out, expected, length=columns)
    assert launched(device.library, target) == {"row_softmax": 1, "online_softmax": 1}


@pytest.mark.parametrize(("columns", "descending"), [(61, False), (500, True)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
def test_sort(
    device: software.SoftwareDriver,
    target: str,
    generator: torch.Generator,
    dtype: torch.dtype,
    columns: int,
    descending: bool,
) -> None:
    x = random(generator, 3, columns, dtype=dtype)
    out = torch.empty_like(x)
    sort_rows[(3,)](x, out, columns, triton.next_power_of_2(columns), descending)
    assert torch.equal(out, x.sort(dim=1, descending=descending).values)
    assert launched(device.library, target) == {"sort_rows": 1}


def test_histogram(
    device: software.SoftwareDriver, target: str, generator: torch.Generator
) -> None:
    n, bins = 3001, 64
    x = torch.randint(bins - 3, (n,), generator=generator, dtype=torch.int32)
    # Multiples of 1/8 add up exactly in any order.
    weight = torch.randint(-64, 64, (n,), generator=generator).float() / 8
    expected = torch.bincount(x.long(), minlength=bins)
    count = torch.zeros(bins, dtype=torch.int32)
    total = torch.zeros(bins)
    histogram_atomics[(triton.cdiv(n, 512),)](x, count, weight, total, n, 512)
    assert torch.equal(count.long(), expected)
    assert torch.equal(total, torch.bincount(x.long(), weight, minlength=bins).float())
    count = torch.zeros(bins, dtype=torch.int32)
    histogram_blocks[(triton.cdiv(n, 512),)](x, count, n, bins, 512)
    assert torch.equal(count.long(), expected)
    assert launched(device.library, target) == {"histogram_atomics": 1, "histogram_blocks": 1}


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_atomic_sums_of_other_types(
    device: software.SoftwareDriver, target: str, generator: torch.Generator, dtype: torch.dtype
) -> None:
    n, bins = 509, 8
    x = torch.randint(bins, (n,), generator=generator, dtype=torch.int32)
    weight = torch.randint(-1, 2, (n,), generator=generator).to(dtype)  # sums stay exact
    count, total = torch.zeros(bins, dtype=torch.int32), torch.zeros(bins, dtype=dtype)
    histogram_atomics[(2,)](x, count, weight, total, n, 256)
    expected = torch.bincount(x.long(), weight.double(), minlength=bins)
    assert torch.equal(total.double(), expected)
    assert launched(device.library, target) == {"histogram_atomics": 1}


def test_atomic_extremes(
    device: software.SoftwareDriver, target: str, generator: torch.Generator
) -> None:
    # Not negative: for gfx942 and gfx950 Triton 3.8.0 joins the lanes of a wave that share an
    # address by v_max_u32 and v_min_u32 before it issues the signed atomic.
    n = 1021
    x = torch.randint(2**31, (n,), generator=generator).to(torch.int32)
    out = torch.tensor([-(2**31), 2**31 - 1, 0, 0], dtype=torch.int32)
    atomic_extremes[(4,)](x, out, n, 256)
    parity = 0
    for value in x.tolist():
        parity ^= value
    assert out[:3].tolist() == [x.max().item(), x.min().item(), parity]
    assert 1000 <= out[3] < 1004
    assert launched(device.library, target) == {"atomic_extremes": 1}


def test_compare_and_swap(device: software.SoftwareDriver, target: str) -> None:
    programs = 37
    ticket = torch.zeros(1, dtype=torch.int32)
    slots = torch.full((programs,), -1, dtype=torch.int32)
    claim[(programs,)](ticket, slots, num_warps=1)
    assert ticket.item() == programs
    assert sorted(slots.tolist()) == list(range(programs))
    assert launched(device.library, target) == {"claim": 1}


@pytest.mark.parametrize("columns", [97, 1000])
def test_scan_and_argmax(
    device: software.SoftwareDriver, target: str, generator: torch.Generator, columns: int
) -> None:
    x = torch.randint(-50, 50, (4, columns), generator=generator).float()
    total = torch.empty_like(x)
    index = torch.empty(4, dtype=torch.int32)
    scan_rows[(4,)](x, total, index, columns, triton.next_power_of_2(columns))
    assert torch.equal(total, x.cumsum(dim=1))
    assert torch.equal(index.long(), torch.stack([r.eq(r.max()).nonzero()[0, 0] for r in x]))
    assert launched(device.library, target) == {"scan_rows": 1}
