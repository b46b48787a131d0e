# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import torch
import wavetile
import wavetile.language as wl


def scaled(v):
    result = v * 2


@wavetile.kernel
def example(x):
    for rows in wl.tile(x.size(0)):
        x[rows, :] = scaled(x[rows, :])


example(torch.zeros(4, 6))
