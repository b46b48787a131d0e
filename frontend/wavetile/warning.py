# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Warnings about kernels: one for each place, through Python's filters."""

from __future__ import annotations

import types
import warnings
import weakref

from wavetile.errors import WavetileWarning

#: What was said of each kernel: class, line and text.
_SAID: weakref.WeakKeyDictionary[types.FunctionType, set[tuple[type, int, str]]]
_SAID = weakref.WeakKeyDictionary()


def warn(function: types.FunctionType, warning: WavetileWarning) -> None:
    """Warns at the warning's location, once for a kernel and a place."""
    location = warning.location
    assert location is not None, "it is about a place in a kernel"
    said = _SAID.setdefault(function, set())
    key = type(warning), location.line, warning.message
    if key in said:
        return
    said.add(key)
    warnings.warn_explicit(
        warning, type(warning), location.file, location.line, function.__module__
    )
