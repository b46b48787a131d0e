# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How the functions of `wavetile.language` are marked as device code."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, ParamSpec, TypeVar

from wavetile.errors import OutsideKernelError

T = TypeVar("T")
P = ParamSpec("P")

#: What gives device functions their meaning while a kernel runs as Python (`wavetile.eager`).
INTERPRETER: ContextVar[Any] = ContextVar("wavetile interpreter", default=None)


def outside(name: str) -> OutsideKernelError:
    return OutsideKernelError(
        f"wl.{name} was called outside the loops of a kernel",
        remedy=f"call wl.{name} inside a `for ... in wl.tile(...)` loop of a function"
        " decorated with @wavetile.kernel",
    )


def device_function(function: Callable[P, T]) -> Callable[P, T]:
    """Marks a function of device code; its own body is for calls outside kernels.

    The compiler knows it by its identity; a kernel that runs as Python asks the interpreter.
    """

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        interpreter = INTERPRETER.get()
        meaning = function if interpreter is None else getattr(interpreter, function.__name__)
        return meaning(*args, **kwargs)

    return call
