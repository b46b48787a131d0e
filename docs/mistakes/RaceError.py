# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import torch
import wavetile
import wavetile.language as wl


@wavetile.kernel
def example(x, total):
    for rows in wl.tile(x.size(0)):
        total[0] += x[rows, :].sum(-1).sum(0)


example(torch.zeros(4, 6), torch.zeros(1))
