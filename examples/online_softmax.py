# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Softmax in two passes over chunks of a row, with a running maximum and sum (arXiv 1805.02867)."""

import torch
import wavetile
import wavetile.language as wl


@wavetile.kernel
def online_softmax(x: torch.Tensor) -> torch.Tensor:
    """softmax(x, dim=-1) for x of shape [m, n], computed in f32."""
    m, n = x.size()
    out = torch.empty([m, n], dtype=x.dtype, device=x.device)
    for rows in wl.tile(m):
        highest = wl.full([rows], float("-inf"), dtype=torch.float32)
        total = wl.zeros([rows], dtype=torch.float32)
        for cols in wl.tile(n):
            v = x[rows, cols].to(torch.float32)
            larger = torch.maximum(highest, torch.amax(v, dim=1))
            total = total * torch.exp(highest - larger)
            total = total + torch.exp(v - larger[:, None]).sum(dim=1)
            highest = larger
        for cols in wl.tile(n):
            v = x[rows, cols].to(torch.float32)
            out[rows, cols] = (torch.exp(v - highest[:, None]) / total[:, None]).to(x.dtype)
    return out


def online_softmax_reference(x: torch.Tensor) -> torch.Tensor:
    """The same in float64."""
    return torch.softmax(x.double(), dim=-1)


def online_softmax_arguments(generator: torch.Generator) -> list[torch.Tensor]:
    """Arguments to try it with."""
    return [torch.randn(19, 1003, generator=generator).to(torch.bfloat16)]
