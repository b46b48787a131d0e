# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os

os.environ["WAVETILE_DEVICE"] = "hip"  # a GPU and nothing else

import torch
import wavetile
import wavetile.language as wl


@wavetile.kernel
def example(x: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        x[rows, :] = 0


example(torch.zeros(4, 6))
