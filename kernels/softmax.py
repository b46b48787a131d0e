# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Softmax."""

import torch
import wavetile
import wavetile.language as wl


@wavetile.kernel
def softmax_rows(x: torch.Tensor) -> torch.Tensor:
    """Softmax of each row of x, of shape [m, n]."""
    m, n = x.size()
    out = torch.empty([m, n], dtype=x.dtype, device=x.device)
    for rows in wl.tile(m):
        out[rows, :] = torch.softmax(x[rows, :], dim=-1)
    return out


def softmax(x: torch.Tensor, dim: int = -1) -> torch.Tensor:
    """exp(x - max) / sum(exp(x - max)) along a dimension, computed in f32 for 16-bit floats.

    Args:
        x: a floating-point tensor of one dimension or more
        dim: the dimension

    Returns:
        a tensor of x's shape and dtype

    Raises:
        wavetile.errors.WavetileError: the dtype is not supported
    """
    moved = x.movedim(dim, -1)
    return softmax_rows(moved.reshape(-1, moved.size(-1))).reshape(moved.shape).movedim(-1, dim)
