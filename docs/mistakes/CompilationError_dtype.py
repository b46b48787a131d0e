# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import torch
import wavetile
import wavetile.language as wl


@wavetile.kernel(target="gfx942")
def example(x, y, out):
    for rows, columns in wl.tile(out.size()):
        out[rows, columns] = wl.dot(x[rows, :], y[:, columns])


fp8 = torch.float8_e4m3fn  # not the format of this target, which has float8_e4m3fnuz
example.bind(torch.zeros(16, 32).to(fp8), torch.zeros(32, 16).to(fp8), torch.zeros(16, 16))
