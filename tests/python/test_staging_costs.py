# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What moving tiles through LDS costs, by the layout algebra."""

import re
import sys
from pathlib import Path

import pytest
import torch
from wavetile import _C

sys.path.insert(0, str(Path(__file__).parents[2]))

from examples.matmul import matmul

TARGETS = ["gfx942", "gfx950", "gfx1150"]


def final_module(target: str) -> str:
    x = torch.empty(256, 512, dtype=torch.bfloat16, device="meta")
    y = torch.empty(512, 384, dtype=torch.bfloat16, device="meta")
    return matmul.bind(x, y, target=target, config={"rows": 128, "cols": 128}).ir("final")


@pytest.mark.parametrize("target", TARGETS)
def test_a_matmul_has_wide_accesses_without_conflicts(target: str) -> None:
    costs = _C.staging_costs(final_module(target), target)
    assert {cost.is_store for cost in costs} == {True, False}
    assert {cost.bits for cost in costs} == {128}
    assert [cost.conflicts for cost in costs] == [0] * len(costs)


@pytest.mark.parametrize("target", TARGETS)
def test_without_the_swizzle_there_are_conflicts(target: str) -> None:
    """The cost is that of the layouts in the module: plain rows of 64 elements share banks."""
    final = final_module(target)
    plain = "".join(f", [0, {1 << bit}]" for bit in range(6))[2:]
    plain += "".join(f", [{1 << bit}, 0]" for bit in range(7))
    swizzled = re.compile(r'offset=\[[^"]*\]\], shape=\[128, 64\]')
    assert swizzled.search(final)
    costs = _C.staging_costs(swizzled.sub(f"offset=[{plain}], shape=[128, 64]", final), target)
    assert sum(cost.conflicts for cost in costs if not cost.is_store) > 0


def test_other_text_is_refused() -> None:
    with pytest.raises(ValueError, match="not a module"):
        _C.staging_costs("tile.nonsense", TARGETS[0])
