# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Products of batches and vectors, scaled sums, Einstein's notation."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
import wavetile
import wavetile.language as wl
from wavetile.testing import assert_close

from tests.python.conftest import TARGETS
from tests.python.end_to_end import in_python, on

BATCHES, ROWS, INNER, COLUMNS = 3, 33, 47, 35


@wavetile.kernel
def batches(function: wl.constexpr, x: torch.Tensor, y: torch.Tensor, out: torch.Tensor) -> None:
    for b in wl.tile(x.size(0)):
        out[b, ...] = function(x[b, ...], y[b, ...])


@wavetile.kernel
def matrices(function: wl.constexpr, x: torch.Tensor, y: torch.Tensor, out: torch.Tensor) -> None:
    for rows, cols in wl.tile([x.size(0), y.size(1)]):
        out[rows, cols] = function(x[rows, :], y[:, cols])


def bmm(x: Any, y: Any) -> Any:
    return torch.bmm(x, y)


def batch_einsum(x: Any, y: Any) -> Any:
    return torch.einsum("bik,bkj->bij", x, y)


def baddbmm(x: Any, y: Any) -> Any:
    return torch.baddbmm(x @ y, x, y)


def operands(
    shapes: tuple[tuple[int, ...], ...], dtype: torch.dtype, generator: torch.Generator
) -> list[torch.Tensor]:
    return [torch.randn(shape, generator=generator).to(dtype) for shape in shapes]


def check(
    kernel: wavetile.Kernel,
    function: Callable[..., Any],
    x: torch.Tensor,
    y: torch.Tensor,
    c: float = 2.0,
) -> None:
    wanted = function(x.double(), y.double())
    out = torch.full(wanted.shape, 77.0, dtype=x.dtype)
    kernel(function, x, y, out)
    assert_close(out, wanted, length=x.size(-1), c=c)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("function", [bmm, batch_einsum, baddbmm])
def test_batches(
    function: Callable[..., Any], dtype: torch.dtype, generator: torch.Generator
) -> None:
    shapes = ((BATCHES, ROWS, INNER), (BATCHES, INNER, COLUMNS))
    x, y = operands(shapes, dtype, generator)
    check(batches, function, x, y, c=4.0)


def matrix_einsum(x: Any, y: Any) -> Any:
    return torch.einsum("ik,kj->ij", x, y)


def scaled(x: Any, y: Any) -> Any:
    return torch.addmm(x @ y, x, y, beta=0.5, alpha=-2)


@pytest.mark.parametrize("function", [matrix_einsum, scaled])
def test_matrices(function: Callable[..., Any], generator: torch.Generator) -> None:
    x, y = operands(((ROWS, INNER), (INNER, COLUMNS)), torch.bfloat16, generator)
    check(matrices, function, x, y, c=4.0)


@wavetile.kernel
def with_vector(
    function: wl.constexpr, x: torch.Tensor, y: torch.Tensor, out: torch.Tensor
) -> None:
    for rows in wl.tile(x.size(0)):
        out[rows] = function(x[rows, :], y[:])


def mv(x: Any, y: Any) -> Any:
    return torch.mv(x, y)


def vector_einsum(x: Any, y: Any) -> Any:
    return torch.einsum("ik,k->i", x, y)


@pytest.mark.parametrize("function", [mv, vector_einsum])
def test_matrix_times_vector(function: Callable[..., Any], generator: torch.Generator) -> None:
    x, y = operands(((ROWS, INNER), (INNER,)), torch.float32, generator)
    check(with_vector, function, x, y)


@wavetile.kernel
def outer(x: torch.Tensor, y: torch.Tensor, out: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        out[rows, :] = torch.einsum("i,j->ij", x[rows], y[:])


def test_outer_product(generator: torch.Generator) -> None:
    x, y = operands(((ROWS,), (COLUMNS,)), torch.float32, generator)
    out = torch.full((ROWS, COLUMNS), 77.0)
    outer(x, y, out)
    assert torch.equal(out, torch.outer(x, y))


# -- Dtypes


@wavetile.kernel
def dots(x: torch.Tensor, y: torch.Tensor, out: torch.Tensor) -> None:
    for rows, cols in wl.tile([x.size(0), y.size(1)]):
        acc = wl.zeros([rows, cols], dtype=out.dtype)
        for k in wl.tile(x.size(1)):
            acc = wl.dot(x[rows, k], y[k, cols], acc)
        out[rows, cols] = acc


#: For each dtype that of the sums.
SUMS = {
    torch.float32: torch.float32,
    torch.float64: torch.float64,
    torch.int8: torch.int32,
    torch.uint8: torch.int32,
    torch.int16: torch.int32,
    torch.uint16: torch.int32,
    torch.int32: torch.int32,
    torch.uint32: torch.int32,
    torch.int64: torch.int64,
    torch.float8_e4m3fn: torch.float32,
    torch.float8_e4m3fnuz: torch.float32,
    torch.float8_e5m2: torch.float32,
    torch.float8_e5m2fnuz: torch.float32,
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", SUMS, ids=str)
def test_every_dtype(target: str, dtype: torch.dtype, generator: torch.Generator) -> None:
    low = -7 if dtype.is_signed else 0
    x = torch.randint(low, 8, (ROWS, INNER), generator=generator)
    y = torch.randint(low, 8, (INNER, COLUMNS), generator=generator)
    out = torch.full((ROWS, COLUMNS), 77, dtype=SUMS[dtype])
    on(dots, target)(x.float().to(dtype), y.float().to(dtype), out)
    assert torch.equal(out.long(), x @ y)


@pytest.mark.parametrize("target", TARGETS)
def test_integers_wrap(target: str, generator: torch.Generator) -> None:
    for dtype in (torch.int32, torch.int64):
        limits = torch.iinfo(dtype)
        shapes = (ROWS, INNER), (INNER, COLUMNS)
        x, y = (
            torch.randint(limits.min, limits.max, shape, generator=generator, dtype=dtype)
            for shape in shapes
        )
        out = torch.empty(ROWS, COLUMNS, dtype=dtype)
        on(dots, target)(x, y, out)
        assert torch.equal(out, x @ y)


def product(x: Any, y: Any) -> Any:
    return x @ y


def test_matmul_keeps_the_dtype(generator: torch.Generator) -> None:
    for dtype in (torch.int8, torch.uint8, torch.int16, torch.int32):
        x = torch.randint(0, 100, (ROWS, INNER), generator=generator).to(dtype)
        y = torch.randint(0, 100, (INNER, COLUMNS), generator=generator).to(dtype)
        out = torch.empty(ROWS, COLUMNS, dtype=dtype)
        matrices(product, x, y, out)
        assert torch.equal(out, x @ y)


# -- Several matrices in a block


@wavetile.kernel
def several(x: torch.Tensor, y: torch.Tensor, out: torch.Tensor, size: wl.constexpr) -> None:
    for b, rows, cols in wl.tile([x.size(0), x.size(1), y.size(2)], block_size=[size, None, None]):
        acc = wl.zeros([b, rows, cols], dtype=out.dtype)
        for k in wl.tile(x.size(2)):
            acc = wl.dot(x[b, rows, k], y[b, k, cols], acc)
        out[b, rows, cols] = acc


@wavetile.kernel
def all_batches(x: torch.Tensor, y: torch.Tensor, out: torch.Tensor) -> None:
    for rows, cols in wl.tile([x.size(1), y.size(2)]):
        out[:, rows, cols] = x[:, rows, :] @ y[:, :, cols]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float8_e4m3fn, torch.int8], ids=str)
def test_several_matrices_in_a_block(
    target: str, dtype: torch.dtype, generator: torch.Generator
) -> None:
    x = torch.randint(-7, 8, (5, ROWS, INNER), generator=generator)
    y = torch.randint(-7, 8, (5, INNER, COLUMNS), generator=generator)
    sums = torch.float32 if dtype.is_floating_point else torch.int32
    for size in (1, 2, 4):
        out = torch.full((5, ROWS, COLUMNS), 77, dtype=sums)
        config = {"rows": 32, "cols": 32, "k": 32} if size == 1 else None
        on(several, target, config)(x.float().to(dtype), y.float().to(dtype), out, size)
        assert torch.equal(out.long(), x @ y)


def test_all_matrices_of_a_batch(generator: torch.Generator) -> None:
    x = torch.randint(-7, 8, (3, ROWS, INNER), generator=generator).bfloat16()
    y = torch.randint(-7, 8, (3, INNER, COLUMNS), generator=generator).bfloat16()
    x[1, 0, 0] = torch.inf  # of no other matrix
    out = torch.empty(3, ROWS, COLUMNS)
    all_batches(x, y, out)
    expected = (x.float() @ y.float()).bfloat16().float()
    assert torch.equal(out.nan_to_num(nan=99), expected.nan_to_num(nan=99))


def dot_of(x: Any, y: Any) -> Any:
    return wl.dot(x, y)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.bfloat16, torch.float8_e4m3fn, torch.int8], ids=str
)
def test_nothing_to_sum(target: str, dtype: torch.dtype) -> None:
    x, y = (torch.zeros(shape, dtype=dtype) for shape in ((ROWS, 0), (0, COLUMNS)))
    out = torch.full((ROWS, COLUMNS), 77, dtype=SUMS.get(dtype, torch.float32))
    on(matrices, target)(dot_of, x, y, out)
    assert (out == 0).all()
    out = torch.full((2, ROWS, COLUMNS), 77, dtype=out.dtype)
    on(batches, target)(dot_of, x[None].expand(2, -1, -1), y[None].expand(2, -1, -1), out)
    assert (out == 0).all()


@wavetile.kernel
def doubled_product(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty(x.size(0))
    for rows in wl.tile(x.size(0)):
        v = wl.dot(x[rows, :], x[:, :])
        for _ in wl.static_range(40):
            v = v + v
        out[rows] = v.sum(-1)
    return out


@pytest.mark.compiled
def test_what_shares_parts_of_a_product_takes_no_time() -> None:
    x = torch.zeros(32, 32, dtype=torch.bfloat16)
    doubled_product.bind(x, target="gfx950").ir("final")


# -- Products of more dimensions


@wavetile.kernel
def products_of_four(
    x: torch.Tensor, y: torch.Tensor, z: torch.Tensor, size: wl.constexpr
) -> tuple[torch.Tensor, torch.Tensor]:
    a, b, m, _ = x.size()
    n = y.size(-1)
    out, shared = torch.empty([a, b, m, n]), torch.empty([a, b, m, n])
    for ta, tb, rows, cols in wl.tile([a, b, m, n], block_size=[1, size, None, None]):
        acc = wl.zeros([ta, tb, rows, cols])
        for k in wl.tile(x.size(3)):
            acc = wl.dot(x[ta, tb, rows, k], y[ta, tb, k, cols], acc)
        out[ta, tb, rows, cols] = acc
        shared[ta, tb, rows, cols] = (x[ta, tb, rows, :] @ z[:, cols]).float()
    return out, shared


@pytest.mark.parametrize("target", TARGETS)
def test_products_of_four_dimensions(target: str, generator: torch.Generator) -> None:
    x, y, z = (
        torch.randint(-4, 5, shape, generator=generator).bfloat16()
        for shape in ((2, 3, 19, INNER), (2, 3, INNER, 21), (INNER, 21))
    )
    for size in (1, 2):
        out, shared = on(products_of_four, target)(x, y, z, size)
        assert torch.equal(out, x.float() @ y.float())
        assert torch.equal(shared, (x.float() @ z.float()).bfloat16().float())
        interpreted = in_python(products_of_four)(x, y, z, size)
        for eager, compiled in zip(interpreted, (out, shared), strict=True):
            assert torch.equal(eager, compiled)


@wavetile.kernel
def einsums(
    equation: wl.constexpr,
    x: torch.Tensor,
    y: torch.Tensor,
    shared: wl.constexpr,
    out: torch.Tensor,
) -> torch.Tensor:
    for first in wl.tile(x.size(0), block_size=1):
        right = y[...] if shared else y[first, ...]
        out[first, ...] = torch.einsum(equation, x[first, ...], right).to(out.dtype)
    return out


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("bhqd,bhkd->bhqk", ((3, 2, 17, 32), (3, 2, 19, 32))),
        ("bqk,bk->bq", ((3, 17, 32), (3, 32))),
        ("bsqd,skd->bqk", ((3, 4, 17, 16), (4, 19, 16))),
        ("bsqtd,tskd->bkq", ((3, 2, 17, 3, 16), (3, 2, 19, 16))),
        ("bqed,kd->bqek", ((3, 17, 3, 16), (19, 16))),
        ("bqd,ekd->bkqe", ((3, 17, 16), (3, 19, 16))),
        ("bgqd,bkegd->bekgq", ((3, 2, 5, 16), (3, 7, 2, 2, 16))),
    ],
)
def test_einsums_of_many_letters(
    equation: str, shapes: tuple[tuple[int, ...], ...], generator: torch.Generator
) -> None:
    x, y = (torch.randint(-4, 5, s, generator=generator).bfloat16() for s in shapes)
    expected = torch.einsum(equation, x.float(), y.float()).bfloat16().float()
    out = torch.full(expected.shape, 77.0)
    args = (equation, x, y, not equation.split(",")[1].startswith("b"), out)
    assert torch.equal(einsums(*args), expected)
    assert torch.equal(in_python(einsums)(*args), expected)


@pytest.mark.compiled
def test_batches_that_differ() -> None:
    x, y = torch.zeros(2, 3, 8, 16), torch.zeros(2, 4, 16, 8)
    with pytest.raises(wavetile.errors.ShapeError, match="the batches differ"):
        batches.bind(product, x, y, torch.zeros(2, 3, 8, 8))
    with pytest.raises(wavetile.errors.ShapeError, match="needs two dimensions each, or more"):
        batches.bind(dot_of, torch.zeros(2), y, torch.zeros(2, 3, 8, 8))
