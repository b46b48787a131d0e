# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import torch
import wavetile
import wavetile.language as wl


@wavetile.kernel
def example(x):
    m, n = x.size()
    for rows in wl.tile(m):
        for columns in wl.tile(n):
            x[rows, columns] = 0
        x[rows, columns] = 1


example(torch.zeros(4, 6))
