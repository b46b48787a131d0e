# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import torch
import wavetile
import wavetile.language as wl


@wavetile.kernel
def example(x):
    for rows in wl.tile(x.size(0)):
        x[rows, :] = 0


example(torch.zeros(6).expand(4, 6))
