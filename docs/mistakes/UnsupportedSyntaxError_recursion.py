# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import torch
import wavetile
import wavetile.language as wl


def halved(v, times):
    return v if times == 0 else halved(v / 2, times - 1)


@wavetile.kernel
def example(x):
    for rows in wl.tile(x.size(0)):
        x[rows, :] = halved(x[rows, :], 3)


example(torch.zeros(4, 6))
