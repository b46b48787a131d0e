# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import torch
import wavetile
import wavetile.language as wl


@wavetile.kernel
def example(x, places):
    for rows in wl.tile(places.size(0)):
        x[places[rows], :] = 1.0 * rows.index[:, None]


example(torch.zeros(4, 6), torch.tensor([3, 1]))
