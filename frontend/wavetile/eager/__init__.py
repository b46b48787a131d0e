# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels run as Python: torch computes device code eagerly, over whole tensors.

`WAVETILE_INTERPRET=1`, or the setting `interpret=True`, makes a kernel call run its function as it
stands. A loop over `wl.tile` without a block size is then one step over all its indices, so that
a breakpoint in it stops once and shows whole tensors.
"""

from wavetile.eager.interpreter import Interpreter, run

__all__ = ["Interpreter", "run"]
