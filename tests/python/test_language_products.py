# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Products of batches and vectors, scaled sums, Einstein's notation."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
import wavetile
import wavetile.language as wl
from wavetile.testing import assert_close

BATCHES, ROWS, INNER, COLUMNS = 3, 33, 47, 35


@wavetile.kernel
def batches(function: wl.constexpr, x: torch.Tensor, y: torch.Tensor, out: torch.Tensor) -> None:
    for b in wl.tile(x.size(0)):
        out[b, :, :] = function(x[b, :, :], y[b, :, :])


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
