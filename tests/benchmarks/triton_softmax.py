# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Triton's side of `compile_time`: compiles a softmax with no GPU.

The compilation goes through the JIT as a launch would, with tensors that are aligned and sizes
divisible by 16. Needs triton (requirements-rivals.txt).
"""

from __future__ import annotations

import os
import tempfile
from typing import Any

import torch
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget

from tests.benchmarks.figures import ROWS, cpu_milliseconds

WAVE_SIZES = {"gfx950": 64, "gfx942": 64, "gfx1150": 32}


@triton.jit
def softmax(out, x, stride, columns, BLOCK: tl.constexpr):
    """One row of a softmax, held in registers."""
    start = tl.program_id(0) * stride
    lanes = tl.arange(0, BLOCK)
    inside = lanes < columns
    value = tl.load(x + start + lanes, mask=inside, other=-float("inf")).to(tl.float32)
    power = tl.exp(value - tl.max(value, axis=0))
    result = power / tl.sum(power, axis=0)
    tl.store(out + start + lanes, result.to(out.dtype.element_ty), mask=inside)


class OfflineDriver:
    """Tells the JIT which GPU it shall compile for."""

    def __init__(self, target: str) -> None:
        self.target = GPUTarget("hip", target, WAVE_SIZES[target])

    def get_current_target(self) -> GPUTarget:
        return self.target

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, device: int) -> int:
        return 0


class Tensor:
    """A bf16 tensor as a launch sees it, without storage."""

    dtype = torch.bfloat16

    def __init__(self, elements: int) -> None:
        self.bytes = 2 * elements

    def data_ptr(self) -> int:
        return 0

    def ptr_range(self) -> int:
        return self.bytes


def _compile(columns: int, warps: int) -> float:
    tensor = Tensor(ROWS * columns)
    block = triton.next_power_of_2(columns)
    begin = cpu_milliseconds()
    softmax.warmup(tensor, tensor, columns, columns, BLOCK=block, num_warps=warps, grid=(1,))
    return cpu_milliseconds() - begin


def compile_times(target: str, columns: int) -> dict[str, Any]:
    """CPU milliseconds of the first compilation of this process and of one more Config."""
    warps, other = (16, 8) if columns >= 8192 else (8, 16)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TRITON_CACHE_DIR"] = folder
        triton.runtime.driver.set_active(OfflineDriver(target))
        return {"first": _compile(columns, warps), "other": _compile(columns, other)}
