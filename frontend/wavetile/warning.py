# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Warnings about kernels, each at its own line."""

from __future__ import annotations

import types
import warnings

from wavetile.errors import WavetileWarning


def warn(function: types.FunctionType, warning: WavetileWarning) -> None:
    """Warns at the warning's location, as `warnings.warn` does at its caller's.

    Python's filters choose what is shown and how often. What was shown already is kept where
    Python keeps it: in the module of the kernel's function.
    """
    location = warning.location
    assert location is not None, "it is about a place in a kernel"
    warnings.warn_explicit(
        warning,
        type(warning),
        location.file,
        location.line,
        function.__module__,
        registry=function.__globals__.setdefault("__warningregistry__", {}),
    )
