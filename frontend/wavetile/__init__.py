# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Wavetile compiles kernels written in a Python tile syntax to AMD GPU machine code.

kernel      the decorator
Config      choices of how a kernel is compiled, which a tuner may make
Settings    what the user wants, which a tuner never changes
torch_op    makes an operator of torch's dispatcher of a kernel
IntegerFragment, PowerOfTwoFragment
            numbers among which a Config chooses for wl.register_tunable
language    what kernels are written with
errors      every exception that this package raises
"""

from wavetile import errors, language
from wavetile.config import Config, Settings
from wavetile.kernel import Kernel, kernel
from wavetile.torch_op import TorchOp, torch_op
from wavetile.tunables import IntegerFragment, PowerOfTwoFragment

__version__ = "0.1.0"

__all__ = [
    "Config",
    "IntegerFragment",
    "Kernel",
    "PowerOfTwoFragment",
    "Settings",
    "TorchOp",
    "__version__",
    "errors",
    "kernel",
    "language",
    "torch_op",
]
