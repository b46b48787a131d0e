# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""RMSNorm over the rows of a matrix (arXiv 1910.07467)."""

import torch
import wavetile
import wavetile.language as wl


@wavetile.kernel
def rms_norm(x: torch.Tensor, weight: torch.Tensor, eps: float = 1e-5) -> torch.Tensor:
    """x / sqrt(mean(x * x) + eps) * weight for x of shape [m, n] and weight of shape [n]."""
    m, n = x.size()
    out = torch.empty([m, n], dtype=x.dtype, device=x.device)
    for rows in wl.tile(m):
        v = x[rows, :].to(torch.float32)
        scale = torch.rsqrt(torch.mean(v * v, dim=-1, keepdim=True) + eps)
        out[rows, :] = (v * scale * weight[:].to(torch.float32)).to(x.dtype)
    return out


def rms_norm_reference(x: torch.Tensor, weight: torch.Tensor, eps: float = 1e-5) -> torch.Tensor:
    """The same in float64."""
    v = x.double()
    return v * torch.rsqrt(v.square().mean(-1, keepdim=True) + eps) * weight.double()


def rms_norm_arguments(generator: torch.Generator) -> list[torch.Tensor]:
    """Arguments to try it with."""
    x = torch.randn(37, 1001, generator=generator).to(torch.bfloat16)
    return [x, torch.randn(1001, generator=generator).to(torch.bfloat16)]
