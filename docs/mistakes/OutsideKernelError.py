# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import wavetile.language as wl

for rows in wl.tile(8):
    print(rows)
