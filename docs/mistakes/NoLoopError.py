# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import torch
import wavetile


@wavetile.kernel
def example(x):
    return x + 1


example(torch.zeros(4, 6))
