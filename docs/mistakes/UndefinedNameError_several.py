# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import torch
import wavetile
import wavetile.language as wl


@wavetile.kernel
def example(x):
    for rows in wl.tile(x.size(0)):
        scaled = x[rows, :] * factor
        shifted = torch.erfinv(x[rows, :])
        x[rows, :] = scaled + shifted


example(torch.zeros(4, 6))
