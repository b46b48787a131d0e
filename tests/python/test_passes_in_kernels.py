# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What passes do shows in what a kernel of the library becomes, not only in tests of their own."""

import pytest
import torch
from wavetile.kernels.matmul import matmul

from tests.python.conftest import TARGETS


@pytest.fixture(scope="module", params=TARGETS)
def product(request: pytest.FixtureRequest) -> str:
    """A product with a tail in every dimension, with layouts."""
    x = torch.zeros(130, 200, dtype=torch.bfloat16)
    y = torch.zeros(200, 70, dtype=torch.bfloat16)
    return matmul.bind(x, y, target=request.param).ir("final")


def test_tails_are_peeled(product: str) -> None:
    """Steps of the loop that are whole are a loop of their own."""
    assert "full" in [
        word for line in product.splitlines() if "tile.for" in line for word in line.split()
    ]


def test_operands_are_staged(product: str) -> None:
    assert product.count("tile.stage_store") == product.count("tile.stage_load") > 0
