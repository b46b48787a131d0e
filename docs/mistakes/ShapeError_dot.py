# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import torch
import wavetile
import wavetile.language as wl


@wavetile.kernel
def example(x, y, out):
    for rows, cols in wl.tile(out.size()):
        for k in wl.tile(x.size(1)):
            out[rows, cols] = x[rows, k] @ y[cols, k]


example(torch.zeros(4, 6), torch.zeros(5, 6), torch.zeros(4, 5))
