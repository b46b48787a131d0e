# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layer normalisation."""

import torch
import wavetile
import wavetile.language as wl


@wavetile.kernel
def layer_norm_rows(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float
) -> torch.Tensor:
    """Layer normalisation of each row of x, of shape [m, n]."""
    m, n = x.size()
    out = torch.empty([m, n], dtype=x.dtype, device=x.device)
    for rows in wl.tile(m):
        v = x[rows, :].to(torch.float32)
        deviation = v - torch.mean(v, dim=-1, keepdim=True)
        variance = torch.mean(deviation * deviation, dim=-1, keepdim=True)
        normal = deviation * torch.rsqrt(variance + eps)
        scaled = normal * weight[:].to(torch.float32) + bias[:].to(torch.float32)
        out[rows, :] = scaled.to(x.dtype)
    return out


def layer_norm(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float = 1e-5
) -> torch.Tensor:
    """(x - mean) / sqrt(var + eps) * weight + bias over the last dimension (arXiv 1607.06450).

    Args:
        x: f32, f16 or bf16 of shape [..., n]
        weight, bias: of shape [n]
        eps: keeps the root from zero

    Returns:
        a tensor of x's shape and dtype; computed in f32

    Raises:
        wavetile.errors.WavetileError: shapes or dtypes do not fit
    """
    flat = x.reshape(-1, x.size(-1))
    return layer_norm_rows(flat, weight, bias, float(eps)).reshape(x.shape)
