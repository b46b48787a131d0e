# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Two outputs from one pass: mean and variance of every column."""

import torch
import wavetile
import wavetile.language as wl


@wavetile.kernel
def column_statistics(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Mean and variance, with Bessel's correction, of each column of x of shape [m, n], as f32."""
    m, n = x.size()
    mean = torch.empty([n], dtype=torch.float32, device=x.device)
    variance = torch.empty([n], dtype=torch.float32, device=x.device)
    for cols in wl.tile(n):
        v = x[:, cols].to(torch.float32)
        mean[cols] = torch.mean(v, dim=0)
        variance[cols] = torch.var(v, dim=0)
    return mean, variance


def column_statistics_reference(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The same in float64."""
    return x.double().mean(0), x.double().var(0)


def column_statistics_arguments(generator: torch.Generator) -> list[torch.Tensor]:
    """Arguments to try it with."""
    return [torch.randn(301, 45, generator=generator)]
