# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Matrix products on every target: dtypes, orders of operands, tails, NaN at one place."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
import wavetile
import wavetile.language as wl
from wavetile.testing import assert_close

from .conftest import TARGETS
from .end_to_end import FP8, assert_untouched, on, surrounded

# The matrix instructions that each target has: those of one size, or none to choose from.
MATRIX_SIZES = {"gfx942": (16, 32), "gfx950": (16, 32), "gfx1150": (16,)}

#: Each target with each of them; the host has none.
EACH_MATRIX = pytest.mark.parametrize(
    ("target", "matrix"),
    [(target, size) for target in TARGETS for size in MATRIX_SIZES.get(target, ())],
)

# M, K and N, all different: ones, less than a tile in each direction, and primes beyond one.
SIZES = [(1, 1, 1), (5, 3, 2), (17, 31, 47), (33, 17, 129), (67, 131, 37)]


@wavetile.kernel
def by_dot(x: torch.Tensor, y: torch.Tensor, out: torch.Tensor) -> None:
    m, k = x.size()
    n = y.size(1)
    for rows, cols in wl.tile([m, n]):
        acc = wl.zeros([rows, cols], dtype=torch.float32)
        for inner in wl.tile(k):
            acc = wl.dot(x[rows, inner], y[inner, cols], acc)
        out[rows, cols] = acc.to(out.dtype)


@wavetile.kernel
def by_operator(x: torch.Tensor, y: torch.Tensor, out: torch.Tensor) -> None:
    m, k = x.size()
    n = y.size(1)
    for rows, cols in wl.tile([m, n]):
        acc = wl.zeros([rows, cols], dtype=torch.float32)
        for inner in wl.tile(k):
            acc += x[rows, inner].to(torch.float32) @ y[inner, cols].to(torch.float32)
        out[rows, cols] = acc.to(out.dtype)


@wavetile.kernel
def by_addmm(x: torch.Tensor, y: torch.Tensor, out: torch.Tensor) -> None:
    m, k = x.size()
    n = y.size(1)
    for rows, cols in wl.tile([m, n]):
        acc = wl.zeros([rows, cols], dtype=torch.float32)
        for inner in wl.tile(k):
            acc = torch.addmm(acc, x[rows, inner], y[inner, cols])
        out[rows, cols] = acc.to(out.dtype)


def operands(
    sizes: tuple[int, int, int], dtype: torch.dtype, generator: torch.Generator
) -> tuple[torch.Tensor, torch.Tensor]:
    m, k, n = sizes
    x = torch.randn(m, k, generator=generator).to(dtype)
    return x, torch.randn(k, n, generator=generator).to(dtype)


def check(
    kernel: wavetile.Kernel,
    x: torch.Tensor,
    y: torch.Tensor,
    dtype: torch.dtype = torch.float32,
    **where: Any,
) -> None:
    """Compares with float64; `where` says how the operands lie in memory."""
    out = surrounded(torch.full([x.size(0), y.size(1)], 77.0, dtype=dtype))
    kernel(
        surrounded(x, order=where.get("of_x", "rows")),
        surrounded(y, order=where.get("of_y", "rows")),
        out,
    )
    assert_close(out, x.double() @ y.double(), length=x.size(1), c=4.0)
    assert_untouched(out)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("kernel", [by_dot, by_operator, by_addmm])
def test_sizes(
    kernel: wavetile.Kernel, dtype: torch.dtype, target: str, generator: torch.Generator
) -> None:
    for sizes in SIZES:
        check(on(kernel, target), *operands(sizes, dtype, generator), dtype)


@pytest.mark.parametrize("of_x", ["rows", "columns"])
@pytest.mark.parametrize("of_y", ["rows", "columns"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@EACH_MATRIX
def test_orders_of_operands(
    of_x: str,
    of_y: str,
    dtype: torch.dtype,
    matrix: int,
    target: str,
    generator: torch.Generator,
) -> None:
    """NN, NT, TN and TT with tiles of three different sizes, none of which divides its matrix."""
    config = {"rows": 64, "cols": 128, "inner": 32, "matrix": matrix, "waves": 4}
    x, y = operands((83, 109, 151), dtype, generator)
    check(on(by_dot, target, config), x, y, of_x=of_x, of_y=of_y)


@EACH_MATRIX
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_config_chooses_the_matrix_instruction(
    matrix: int, dtype: torch.dtype, target: str, generator: torch.Generator
) -> None:
    config = {"rows": 64, "cols": 32, "inner": 64, "matrix": matrix, "waves": 2}
    x, y = operands((67, 131, 37), dtype, generator)
    isa = on(by_dot, target, config).bind(x, y, torch.empty(67, 37)).isa()
    if target == "gfx1150":
        assert ("v_wmma_f32_16x16x16" in isa) == (dtype != torch.float32)
    else:
        assert f"v_mfma_f32_{matrix}x{matrix}x" in isa
        assert f"v_mfma_f32_{48 - matrix}x{48 - matrix}x" not in isa


@pytest.mark.parametrize(
    "tiles", [(16, 64, 128), (128, 16, 32), (32, 128, 16), (64, 32, 64), (16, 16, 256)]
)
@pytest.mark.parametrize("waves", [1, 4])
def test_tiles(
    tiles: tuple[int, int, int], waves: int, target: str, generator: torch.Generator
) -> None:
    rows, cols, inner = tiles
    config = {"rows": rows, "cols": cols, "inner": inner, "waves": waves}
    for sizes in [(67, 131, 37), (19, 259, 71)]:
        x, y = operands(sizes, torch.bfloat16, generator)
        if rows * cols < 256 * waves:
            # Each wave needs a tile of its own.
            with pytest.raises(wavetile.errors.CompilationError, match="no matrix instruction"):
                on(by_dot, target, config)(x, y, torch.empty(sizes[0], sizes[2]))
            continue
        check(on(by_dot, target, config), x, y)


@pytest.mark.parametrize("kernel", [by_dot, by_addmm])
@pytest.mark.parametrize("of_y", ["rows", "columns"])
def test_fp8(kernel: wavetile.Kernel, of_y: str, target: str, generator: torch.Generator) -> None:
    for sizes in [(5, 3, 2), (17, 31, 47), (67, 131, 37)]:
        x, y = operands(sizes, FP8.get(target, torch.float8_e4m3fn), generator)
        check(on(kernel, target), x, y, of_y=of_y)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, "fp8"])
@EACH_MATRIX
def test_integers_are_exact(
    dtype: Any, matrix: int, target: str, generator: torch.Generator
) -> None:
    """Every product and sum is a small integer: any other result is a wrong element."""
    if dtype == "fp8":
        dtype = FP8.get(target, torch.float8_e4m3fn)
    m, k, n = 61, 103, 47
    x = torch.randint(-4, 5, (m, k), generator=generator)
    y = torch.randint(-4, 5, (k, n), generator=generator)
    out = torch.full([m, n], 77.0)
    config = {"rows": 32, "cols": 64, "inner": 32, "matrix": matrix, "waves": 2}
    on(by_dot, target, config)(surrounded(x.to(dtype)), surrounded(y.to(dtype)), out)
    assert torch.equal(out, (x @ y).float())


@pytest.mark.parametrize("place", [(0, 0), (16, 33), (40, 70), (31, 32)])
@pytest.mark.parametrize("operand", ["x", "y"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_nan_reaches_its_row_or_column_only(
    place: tuple[int, int],
    operand: str,
    dtype: torch.dtype,
    target: str,
    generator: torch.Generator,
) -> None:
    x, y = operands((41, 71, 53), dtype, generator)
    expected = torch.zeros(41, 53, dtype=torch.bool)
    if operand == "x":
        x[place] = torch.nan
        expected[place[0]] = True
    else:
        where = (place[1], place[0])
        y[where] = torch.nan
        expected[:, where[1]] = True
    config = {"rows": 32, "cols": 64, "inner": 16, "waves": 2}
    for kernel in (on(by_dot, target), on(by_dot, target, config)):
        out = torch.full([41, 53], 77.0)
        kernel(surrounded(x), surrounded(y), out)
        assert torch.equal(torch.isnan(out), expected)


@wavetile.kernel
def with_epilogue(
    x: torch.Tensor,
    y: torch.Tensor,
    bias: torch.Tensor,
    out: torch.Tensor,
    function: wl.constexpr,
) -> None:
    m, k = x.size()
    n = y.size(1)
    for rows, cols in wl.tile([m, n]):
        acc = wl.zeros([rows, cols], dtype=torch.float32)
        for inner in wl.tile(k):
            acc = torch.addmm(acc, x[rows, inner], y[inner, cols])
        out[rows, cols] = function(acc + bias[cols][None, :]).to(out.dtype)


def relu(v: Any) -> Any:
    return torch.relu(v)


@pytest.mark.parametrize("function", [relu])
def test_epilogue(function: Callable[..., Any], target: str, generator: torch.Generator) -> None:
    x, y = operands((67, 131, 37), torch.float16, generator)
    bias = torch.randn(37, generator=generator)
    out = torch.full([67, 37], 77.0)
    on(with_epilogue, target)(surrounded(x), surrounded(y), surrounded(bias), out, function)
    expected = function(x.double() @ y.double() + bias.double())
    assert_close(out, expected, length=131, c=4.0)


@wavetile.kernel
def whole_rows(x: torch.Tensor, y: torch.Tensor, out: torch.Tensor) -> None:
    m, k = x.size()
    n = y.size(1)
    for rows, cols in wl.tile([m, n]):
        out[rows, cols] = x[rows, :] @ y[:, cols]


@pytest.mark.parametrize("k", [1, 7, 16, 33, 100])
def test_whole_rows_at_once(k: int, target: str, generator: torch.Generator) -> None:
    """K is a full slice: its tail lies in the only step."""
    x, y = operands((19, k, 35), torch.float32, generator)
    check(on(whole_rows, target), x, y)


def test_square_sizes_that_are_one_dimension(target: str, generator: torch.Generator) -> None:
    """Equal sizes share a kernel argument; the dimensions of the product must stay apart."""
    for sizes in [(33, 33, 33), (33, 65, 33), (65, 33, 33), (33, 33, 65)]:
        check(on(by_dot, target), *operands(sizes, torch.float16, generator))


def test_without_elements(target: str) -> None:
    for m, k, n in [(0, 5, 7), (5, 0, 7), (5, 7, 0)]:
        out = torch.full([m, n], 77.0)
        on(by_dot, target)(torch.empty(m, k), torch.empty(k, n), out)
        assert torch.equal(out, torch.zeros(m, n))


def test_two_runs_give_equal_bits(target: str, generator: torch.Generator) -> None:
    x, y = operands((67, 1031, 37), torch.bfloat16, generator)
    results = []
    for _ in range(2):
        out = torch.full([67, 37], 77.0)
        on(by_dot, target)(x, y, out)
        results.append(out.view(torch.int32))
    assert torch.equal(*results)


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64, torch.bool])
def test_dtypes_without_a_product_are_refused(dtype: torch.dtype, target: str) -> None:
    x = torch.ones(5, 7).to(dtype)
    with pytest.raises(wavetile.errors.DTypeError, match=r"acc = wl\.dot"):
        on(by_dot, target)(x, x.mT.contiguous(), torch.empty(5, 5))


def test_shapes_that_do_not_fit_are_refused(target: str) -> None:
    """A full slice of 7 against one of 9."""
    with pytest.raises(wavetile.errors.ShapeError, match=r"x\[rows, :\] @ y\[:, cols\]"):
        on(whole_rows, target)(torch.ones(5, 7), torch.ones(9, 3), torch.empty(5, 3))
