# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import torch
import wavetile
import wavetile.language as wl


@wavetile.kernel
def example(x: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        x[rows, :] = torch.sum(x[rows, :], axis=-1, keep=True)


example(torch.zeros(4, 6))
