# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Tiles of bool as indices: places of stores, which torch calls boolean masks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import wavetile
import wavetile.language as wl

from tests.python.conftest import TARGETS
from tests.python.end_to_end import in_python, on


@wavetile.kernel
def stores(x: torch.Tensor, y: torch.Tensor, z: torch.Tensor, bias: torch.Tensor) -> None:
    for rows, cols in wl.tile([x.size(0), x.size(1)]):
        v = x[rows, cols]
        x[v > 1] = 7
        y[v < 0] += 2.5
        z[v < -1] = v.amax() * 0 + 3.0
    for rows in wl.tile(x.size(0)):
        low = x[rows, :].amin(-1) < -1
        y[low, :2] = bias[:2]
        z[low] = bias[:]
    for _ in wl.grid(1):
        z[1:3, x[0, :] > 0] = -5
        z[..., x[1, :] > 1] *= 2


@pytest.mark.parametrize("target", TARGETS)
def test_stores(target: str, generator: torch.Generator) -> None:
    given = [torch.randint(-3, 4, (19, 37), generator=generator).float() for _ in range(3)]
    given.append(torch.randn(37, generator=generator))
    expected = [tensor.clone() for tensor in given]
    x, y, z, bias = expected
    v = x.clone()
    x[v > 1] = 7
    y[v < 0] += 2.5
    z[v < -1] = 3
    low = x.amin(-1) < -1
    y[low, :2] = bias[:2]
    z[low] = bias
    z[1:3, x[0] > 0] = -5
    z[..., x[1] > 1] *= 2
    interpreted = [tensor.clone() for tensor in given]
    in_python(stores)(*interpreted)
    on(stores, target, {"rows": 32})(*given)
    for result, eager, wanted in zip(given, interpreted, expected, strict=True):
        assert torch.equal(result, wanted)
        assert torch.equal(eager, wanted)


def chosen(x: Any, v: Any) -> None:
    x[v > 0] = x[v > 0]


def of_tile(x: Any, v: Any) -> None:
    x[:, :] = v[v > 0]


def one_for_each(x: Any, v: Any) -> None:
    x[v > 0] = v


def of_rows(x: Any, v: Any) -> None:
    x[:, v.sum(-1) > 0] = 1


def next_to_indices(x: Any, v: Any) -> None:
    x[v.sum(-1) > 0, wl.arange(8)] = 1


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        (chosen, "UnsupportedIndexError", "a result whose size is not known"),
        (of_tile, "UnsupportedIndexError", "a result whose size is not known"),
        (one_for_each, "ShapeError", "the elements that a mask chooses, whose number is not known"),
        (of_rows, "ShapeError", r"a mask of shape \[rows\] .* whose dimension 1 is not"),
        (next_to_indices, "UnsupportedIndexError", "next to other tiles as indices"),
    ],
)
def test_mistakes(function: Callable[..., None], error: str, message: str) -> None:
    with pytest.raises(getattr(wavetile.errors, error), match=message) as raised:
        with_function.bind(torch.zeros(16, 24), function)
    assert "extra_mask=" in str(raised.value.remedy)


@wavetile.kernel
def with_function(x: torch.Tensor, function: Callable[..., None]) -> None:
    for rows in wl.tile(x.size(0)):
        function(x, x[rows, :])


@pytest.mark.compiled
def test_a_mask_of_other_indices_than_the_tensors() -> None:
    @wavetile.kernel
    def some(x: torch.Tensor, begin: int, end: int) -> None:
        for rows in wl.tile(begin, end):
            x[rows.index > 3] = 1

    for begin, end in ((1, 16), (0, 15)):
        with pytest.raises(wavetile.errors.ShapeError, match="whose dimension 0 is not that of"):
            some.bind(torch.zeros(16), begin, end)
    x = torch.zeros(16)
    some(x, 0, 16)
    assert torch.equal(x, (torch.arange(16) > 3).float())
