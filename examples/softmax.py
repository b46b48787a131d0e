# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Softmax over the rows of a matrix."""

import torch
import wavetile
import wavetile.language as wl


@wavetile.kernel
def softmax(x: torch.Tensor) -> torch.Tensor:
    """softmax(x, dim=-1) for x of shape [m, n], computed in f32."""
    m, n = x.size()
    out = torch.empty([m, n], dtype=x.dtype, device=x.device)
    for rows in wl.tile(m):
        v = x[rows, :].to(torch.float32)
        e = torch.exp(v - torch.amax(v, dim=-1, keepdim=True))
        out[rows, :] = (e / e.sum(dim=-1, keepdim=True)).to(x.dtype)
    return out


def softmax_reference(x: torch.Tensor) -> torch.Tensor:
    """The same in float64."""
    return torch.softmax(x.double(), dim=-1)


def softmax_arguments(generator: torch.Generator) -> list[torch.Tensor]:
    """Arguments to try it with."""
    return [torch.randn(37, 1001, generator=generator).to(torch.bfloat16)]
