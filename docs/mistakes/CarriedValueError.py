# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import torch
import wavetile
import wavetile.language as wl


@wavetile.kernel
def example(x):
    m, n = x.size()
    for rows in wl.tile(m):
        total = 0
        for columns in wl.tile(n):
            total = total + x[rows, columns].sum(-1)
        x[rows, :] = total[:, None]


example(torch.zeros(4, 6))
