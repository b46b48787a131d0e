# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import torch
import wavetile
import wavetile.language as wl


@wavetile.kernel
def example(x):
    m, n = x.size()
    for rows, columns in wl.tile([m, n], block_size=[256, 256]):
        x[rows, columns] = x[rows, columns].flip(0)


example(torch.zeros(256, 256))
