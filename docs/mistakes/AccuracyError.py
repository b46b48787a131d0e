# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import torch
from wavetile.testing import assert_close

exact = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)
assert_close(torch.tensor([1.0, 2.0, 3.01]), exact, length=1)
