# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Warnings of Helion, by name, for kernels that name them in `ignore_warnings=`.

Wavetile gives none of them: its own are in `wavetile.errors`.
"""


class BaseWarning(UserWarning):
    """Base of the others."""


class BlockSizeIgnoredInInterpretMode(BaseWarning):
    """Block sizes stand in no relation to what a kernel computes when it runs as Python."""


class NoAOTHeuristicWarning(BaseWarning):
    """There is no file of Configs chosen ahead of time."""


class ProcessGroupNameNotFound(BaseWarning):
    """A name of a process group is not known."""


class TensorOperationInWrapper(BaseWarning):
    """Host code computes with tensors."""


class TiledKMatmulAccumulationWarning(BaseWarning):
    """A product is summed in its own dtype."""


class WrongDevice(BaseWarning):
    """A tensor lies on another device than the others."""
