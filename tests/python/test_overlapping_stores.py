# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Stores to tensors of which several elements are one in memory."""

import pytest
import torch
import wavetile
import wavetile.language as wl
from wavetile.errors import TensorAccessError


@wavetile.kernel
def filled(x: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        x[rows, :] = 1.0


@pytest.mark.parametrize("strides", [(2, 1), (1, 1), (6, 3), (1, 5)])
def test_overlapping_rows_are_refused(strides: tuple[int, int]) -> None:
    with pytest.raises(TensorAccessError, match="whose elements overlap"):
        filled(torch.zeros(200).as_strided((8, 7), strides))


@pytest.mark.parametrize("strides", [(7, 1), (11, 1), (1, 8), (1, 13), (14, 2), (2, 17)])
def test_other_strides_are_not(strides: tuple[int, int]) -> None:
    base = torch.zeros(200)
    x = base.as_strided((8, 7), strides)
    filled(x)
    assert torch.equal(x, torch.ones(8, 7))
    assert base.sum() == 56


def test_strides_that_interleave() -> None:
    base = torch.zeros(9)
    x = base.as_strided((2, 3), (3, 2))
    filled(x)
    assert torch.equal(base, torch.tensor([1.0, 0, 1, 1, 1, 1, 0, 1, 0]))


def test_code_for_other_strides_does_not_serve() -> None:
    """The same code may be asked for later with strides that overlap."""
    filled(torch.zeros(400).as_strided((17, 19), (20, 1)))
    with pytest.raises(TensorAccessError, match="whose elements overlap"):
        filled(torch.zeros(400).as_strided((17, 19), (18, 1)))


def test_a_dimension_that_is_not_stored_along_may_overlap() -> None:
    @wavetile.kernel
    def first_row(x: torch.Tensor) -> None:
        for columns in wl.tile(x.size(1)):
            x[0, columns] = 1.0

    base = torch.zeros(20)
    first_row(base.as_strided((8, 7), (1, 1)))
    assert base.sum() == 7
