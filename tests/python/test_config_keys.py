# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""No entry of a Config is ignored: each says something of the kernel or is an error."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import wavetile
import wavetile.language as wl
from wavetile.errors import CompilationError, ConfigError


@wavetile.kernel
def row_sums(x: torch.Tensor, out: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        out[rows] = x[rows, :].sum(-1)


@wavetile.kernel
def sums_by_loop(x: torch.Tensor, out: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        total = wl.zeros([rows])
        for cols in wl.tile(x.size(1)):
            total = total + x[rows, cols].sum(-1)
        out[rows] = total


@wavetile.kernel
def two_loops(x: torch.Tensor, out: torch.Tensor) -> None:
    for i in wl.tile(x.size(0)):
        out[i, 0] = x[i, 0] + 1
    doubled = out.mul(2)
    for j in wl.tile(x.size(1)):
        out[1, j] = doubled[1, j]


def bind(kernel: wavetile.Kernel, config: dict[str, int | str]) -> Any:
    x = torch.empty(30, 200)
    out = torch.empty(30) if kernel is not two_loops else torch.empty(30, 200)
    return kernel.bind(x, out, config=config)


@pytest.mark.parametrize("key", ["cols.strategy", "rows.strategy"])
def test_a_loop_has_no_strategy(key: str) -> None:
    with pytest.raises(CompilationError, match=rf"Config's '{key}' does not apply"):
        bind(sums_by_loop, {key: "looped"})


@pytest.mark.parametrize("strategy", ["resident", "looped"])
def test_one_block_needs_no_number_of_blocks(strategy: str) -> None:
    (row,) = {*bind(row_sums, {}).regions[0].compiled.traced.dims} - {"rows"}
    with pytest.raises(CompilationError, match=rf"Config's '{row}\.blocks' does not apply"):
        bind(row_sums, {f"{row}.strategy": strategy, f"{row}.blocks": 4})
    bind(row_sums, {f"{row}.strategy": "grid", f"{row}.blocks": 4})


def test_dimensions_of_another_loop_are_known() -> None:
    bind(two_loops, {"i": 64, "j": 128})
    with pytest.raises(ConfigError, match="'k', but two_loops has no dimension 'k'"):
        bind(two_loops, {"i": 64, "k": 128})
    with pytest.raises(ConfigError, match="'k', but row_sums has no dimension 'k'"):
        bind(row_sums, {"k": 128})
