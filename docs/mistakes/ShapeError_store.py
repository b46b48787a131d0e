# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import torch
import wavetile
import wavetile.language as wl


@wavetile.kernel
def example(x, out):
    for rows in wl.tile(x.size(0)):
        out[rows] = x[rows, :]


example(torch.zeros(4, 6), torch.zeros(4))
