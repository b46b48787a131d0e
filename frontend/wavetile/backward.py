# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gradients of kernels, as their authors give them."""

from __future__ import annotations

import inspect
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from wavetile.kernel import Kernel


@dataclass(frozen=True)
class Backward:
    """What `Kernel.register_backward` was given.

    Attributes:
        function: takes the context and the gradients of the results
        setup_context: takes the context, the arguments and the result; or None
    """

    function: Callable[..., Any]
    setup_context: Callable[..., None] | None

    def call(self, kernel: Kernel, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Calls the kernel; its results require gradients if its arguments do."""
        bound = inspect.signature(kernel.source.function).bind(*args, **kwargs)
        bound.apply_defaults()
        inputs = tuple(bound.arguments.values())
        if not torch.is_grad_enabled() or not any(map(_requires_gradient, inputs)):
            return kernel.compute(*args, **kwargs)
        return _Recorded.apply(self, kernel, bound, *inputs)


def _requires_gradient(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.requires_grad


class _Recorded(torch.autograd.Function):
    """A call that autograd records."""

    @staticmethod
    def forward(
        backward: Backward, kernel: Kernel, bound: inspect.BoundArguments, *inputs: Any
    ) -> Any:
        call = inspect.BoundArguments(
            bound.signature, OrderedDict(zip(bound.arguments, inputs, strict=True))
        )
        return kernel.compute(*call.args, **call.kwargs)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        backward, _, _, *arguments = inputs
        ctx.wavetile_backward = backward
        if backward.setup_context is not None:
            backward.setup_context(ctx, tuple(arguments), output)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        result = ctx.wavetile_backward.function(ctx, *gradients)
        return None, None, None, *(result if isinstance(result, tuple) else (result,))
