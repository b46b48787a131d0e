# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Type promotion is PyTorch's, for every pair of dtypes and kinds of operands."""

import itertools

import pytest
import torch
from wavetile.tracing.dtypes import BY_DTYPE, STORAGE_ONLY, Operand, number_dtype, result_dtype

DTYPES = [dtype for dtype in BY_DTYPE if dtype not in STORAGE_ONLY]
NUMBERS = [True, 3, 2.5]


def tensor(dtype: torch.dtype, category: int) -> torch.Tensor:
    return torch.ones([1] if category == 2 else [], dtype=dtype)


@pytest.mark.parametrize("categories", [(2, 2), (2, 1), (1, 2), (1, 1)])
def test_tensors(categories: tuple[int, int]) -> None:
    for a, b in itertools.product(DTYPES, DTYPES):
        operands = [Operand(a, categories[0]), Operand(b, categories[1])]
        try:
            expected = torch.result_type(tensor(a, categories[0]), tensor(b, categories[1]))
        except RuntimeError:  # unsigned integers of more than 8 bits with other integers
            with pytest.raises(RuntimeError):
                result_dtype(operands)
            continue
        assert result_dtype(operands) == expected, (a, b)


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("category", [1, 2])
def test_numbers(number: float, category: int) -> None:
    for dtype in DTYPES:
        expected = torch.result_type(tensor(dtype, category), number)
        operands = [Operand(dtype, category), Operand(number_dtype(number), 0)]
        assert result_dtype(operands) == expected, dtype


def test_float8_has_no_common_type() -> None:
    with pytest.raises(RuntimeError):
        result_dtype([Operand(torch.float8_e5m2, 2), Operand(torch.float8_e4m3fn, 2)])
