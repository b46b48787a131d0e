# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matrix product."""

import torch
import wavetile
import wavetile.language as wl


@wavetile.kernel
def matmul(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """x @ y, summed in f32.

    Args:
        x: f32, f16 or bf16 of shape [m, k]
        y: of x's dtype and shape [k, n]

    Returns:
        a tensor of x's dtype and shape [m, n]

    Raises:
        wavetile.errors.WavetileError: shapes or dtypes do not fit
    """
    m, k = x.size()
    _, n = y.size()
    out = torch.empty([m, n], dtype=x.dtype, device=x.device)
    for rows, cols in wl.tile([m, n]):
        acc = wl.zeros([rows, cols], dtype=torch.float32)
        for inner in wl.tile(k):
            acc = wl.dot(x[rows, inner], y[inner, cols], acc)
        out[rows, cols] = acc.to(x.dtype)
    return out
