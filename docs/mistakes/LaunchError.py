# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import torch
import wavetile
import wavetile.language as wl


@wavetile.kernel
def example(x: torch.Tensor, count: int) -> None:
    for i in wl.tile(count):
        x[i] = 0


example(torch.zeros(100), 2**62)
