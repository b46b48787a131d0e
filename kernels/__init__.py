# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The op library: each op a kernel in Wavetile's tile syntax."""

from wavetile.kernels.layer_norm import layer_norm
from wavetile.kernels.matmul import matmul
from wavetile.kernels.rms_norm import rms_norm
from wavetile.kernels.softmax import softmax

__all__ = ["layer_norm", "matmul", "rms_norm", "softmax"]
