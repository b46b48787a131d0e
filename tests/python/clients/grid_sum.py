# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""A Triton kernel whose workgroups hand each other data through global memory."""

import triton
import triton.language as tl


@triton.jit
def grid_sum(
    x_ptr, partial_ptr, count_ptr, out_ptr, n, BLOCK: tl.constexpr, PROGRAMS: tl.constexpr
):
    """Adds up PROGRAMS blocks of squares of `x` (n f32) into `out` (BLOCK f32).

    Each program stores its squares into `partial` and counts itself in `count` (one int32, 0 at
    first); the one that comes last adds up what all have stored.
    """
    columns = tl.arange(0, BLOCK)
    at = tl.program_id(0) * BLOCK + columns
    x = tl.load(x_ptr + at, mask=at < n, other=0.0)
    tl.store(partial_ptr + at, x * x)
    tl.debug_barrier()
    before = tl.atomic_add(count_ptr, 1, sem="acq_rel")
    if before == PROGRAMS - 1:
        total = tl.zeros((BLOCK,), tl.float32)
        for i in range(PROGRAMS):
            total += tl.load(partial_ptr + i * BLOCK + columns)
        tl.store(out_ptr + columns, total)
