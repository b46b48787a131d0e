# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""RMSNorm."""

import torch
import wavetile
import wavetile.language as wl


@wavetile.kernel
def rms_norm_rows(x: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
    """RMSNorm of each row of x, of shape [m, n], with weight of shape [n]."""
    m, n = x.size()
    out = torch.empty([m, n], dtype=x.dtype, device=x.device)
    for rows in wl.tile(m):
        v = x[rows, :].to(torch.float32)
        scale = torch.rsqrt(torch.mean(v * v, dim=-1, keepdim=True) + eps)
        out[rows, :] = (v * scale * weight[:].to(torch.float32)).to(x.dtype)
    return out


def rms_norm(x: torch.Tensor, weight: torch.Tensor, eps: float = 1e-5) -> torch.Tensor:
    """x / sqrt(mean(x * x) + eps) * weight over the last dimension (arXiv 1910.07467).

    Args:
        x: f32, f16 or bf16 of shape [..., n]
        weight: of shape [n]
        eps: keeps the root from zero

    Returns:
        a tensor of x's shape and dtype; computed in f32

    Raises:
        wavetile.errors.WavetileError: shapes or dtypes do not fit
    """
    return rms_norm_rows(x.reshape(-1, x.size(-1)), weight, float(eps)).reshape(x.shape)
