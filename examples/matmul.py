# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A matrix product with an accumulator in f32."""

import torch
import wavetile
import wavetile.language as wl


@wavetile.kernel
def matmul(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """x @ y for x of shape [m, k] and y of shape [k, n], in the dtype of x."""
    m, k = x.size()
    _, n = y.size()
    out = torch.empty([m, n], dtype=x.dtype, device=x.device)
    for rows, cols in wl.tile([m, n]):
        acc = wl.zeros([rows, cols], dtype=torch.float32)
        for inner in wl.tile(k):
            acc = wl.dot(x[rows, inner], y[inner, cols], acc)
        out[rows, cols] = acc.to(x.dtype)
    return out


def matmul_reference(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """The same in float64."""
    return x.double() @ y.double()


def matmul_arguments(generator: torch.Generator) -> list[torch.Tensor]:
    """Arguments to try it with."""
    x = torch.randn(131, 257, generator=generator).to(torch.bfloat16)
    return [x, torch.randn(257, 193, generator=generator).to(torch.bfloat16)]
