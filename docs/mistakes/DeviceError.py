# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import mmap

import torch
import wavetile
import wavetile.language as wl


@wavetile.kernel
def example(x: torch.Tensor) -> None:
    for i in wl.tile(x.size(0)):
        x[i] = 0


read_only = mmap.mmap(-1, 4096, prot=mmap.PROT_READ)
example(torch.frombuffer(read_only, dtype=torch.float32))
