# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Wavetile compiles kernels written in a Python tile syntax to AMD GPU machine code.

kernel      the decorator
Config      choices of how a kernel is compiled, which a tuner may make
Settings    what the user wants, which a tuner never changes
torch_op    makes an operator of torch's dispatcher of a kernel
IntegerFragment, PowerOfTwoFragment
            numbers among which a Config chooses for wl.register_tunable
cdiv, next_power_of_2
            arithmetic of sizes
language    what kernels are written with
errors      every exception and warning of this package
runtime     what host code asks about devices
aot_kernel, jit, exc
            what Helion calls the decorator too, and names of its warnings
"""

from wavetile import errors, exc, language, runtime
from wavetile.config import Config, Settings
from wavetile.integers import cdiv, next_power_of_2
from wavetile.kernel import Kernel, aot_kernel, jit, kernel
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
    "aot_kernel",
    "cdiv",
    "errors",
    "exc",
    "jit",
    "kernel",
    "language",
    "next_power_of_2",
    "runtime",
    "torch_op",
]
