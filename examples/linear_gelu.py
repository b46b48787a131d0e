# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A linear layer with bias and GELU in one kernel: work on the accumulator before it is stored."""

import torch
import wavetile
import wavetile.language as wl


@wavetile.kernel
def linear_gelu(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """gelu(x @ weight.T + bias) for x of shape [m, k], weight [n, k] and bias [n]."""
    m, k = x.size()
    n, _ = weight.size()
    out = torch.empty([m, n], dtype=x.dtype, device=x.device)
    for rows, cols in wl.tile([m, n]):
        acc = wl.zeros([rows, cols], dtype=torch.float32)
        for inner in wl.tile(k):
            acc = wl.dot(x[rows, inner], weight[cols, inner].T, acc)
        acc = acc + bias[cols].to(torch.float32)
        out[rows, cols] = torch.nn.functional.gelu(acc).to(x.dtype)
    return out


def linear_gelu_reference(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor
) -> torch.Tensor:
    """The same in float64."""
    product = x.double() @ weight.double().T + bias.double()
    return torch.nn.functional.gelu(product)


def linear_gelu_arguments(generator: torch.Generator) -> list[torch.Tensor]:
    """Arguments to try it with."""
    x = torch.randn(67, 131, generator=generator).to(torch.bfloat16)
    weight = torch.randn(97, 131, generator=generator).to(torch.bfloat16)
    return [x, weight, torch.randn(97, generator=generator).to(torch.bfloat16)]
