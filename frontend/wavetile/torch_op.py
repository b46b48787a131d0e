# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels as operators of torch's dispatcher: no graph break in `torch.compile`, and autograd."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, overload

import torch

from wavetile.errors import ArgumentError
from wavetile.syntax.names import stored_by_index

if TYPE_CHECKING:
    from wavetile.kernel import Kernel

P = ParamSpec("P")
R = TypeVar("R")


class TorchOp(Generic[P, R]):
    """A kernel that is an operator; made by `torch_op`.

    Calling it goes through torch's dispatcher, so that `torch.compile`, `torch.export`, fake
    tensors, autograd and profilers see one operator with a schema.

    Attributes:
        kernel: the kernel
        op: the operator, a `torch._ops.OpOverload`

    Example:
        op = wavetile.torch_op("mylib::softmax", softmax)
        torch.library.opcheck(op.op, (torch.randn(8, 100),))
    """

    def __init__(self, name: str, kernel: Kernel[P, R], schema: str) -> None:
        functools.update_wrapper(self, kernel)
        self.kernel = kernel
        namespace, _, short = name.partition("::")
        # The registrations live as long as this.
        self._library = torch.library.Library(namespace, "FRAGMENT")
        self._library.define(f"{short}{schema}")
        self.op: torch._ops.OpOverload = getattr(getattr(torch.ops, namespace), short).default
        self._library.impl(short, self._compute, "CompositeExplicitAutograd")
        torch.library.register_fake(name, kernel.fake, lib=self._library)
        if kernel.backward is not None:
            torch.library.register_autograd(
                name,
                kernel.backward.function,
                setup_context=kernel.backward.setup_context,
                lib=self._library,
            )

    def __repr__(self) -> str:
        return f"<wavetile operator {self.op}>"

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Runs the kernel through the dispatcher.

        Raises:
            WavetileError: as the kernel
        """
        return self.op(*args, **kwargs)

    def _compute(self, *args: Any, **kwargs: Any) -> Any:
        result = self.kernel.compute(*args, **kwargs)
        outputs = result if isinstance(result, (tuple, list)) else [result]
        inputs = [*args, *kwargs.values()]
        if any(isinstance(o, torch.Tensor) and any(o is i for i in inputs) for o in outputs):
            raise ArgumentError(
                f"{self.op} returns one of its arguments, which an operator may not do",
                remedy="return a new tensor, or nothing if the kernel changes its arguments",
            )
        return result


@overload
def torch_op(
    name: str,
    kernel: Kernel[P, R],
    *,
    mutates_args: Sequence[str] = (),
    schema: str | None = None,
) -> TorchOp[P, R]: ...


@overload
def torch_op(
    name: str, *, mutates_args: Sequence[str] = (), schema: str | None = None
) -> Callable[[Kernel[P, R]], TorchOp[P, R]]: ...


def torch_op(
    name: str,
    kernel: Kernel[..., Any] | None = None,
    *,
    mutates_args: Sequence[str] = (),
    schema: str | None = None,
) -> TorchOp[..., Any] | Callable[[Kernel[..., Any]], TorchOp[..., Any]]:
    """Makes an operator of a kernel.

    Args:
        name: namespace and name, such as "mylib::softmax"
        kernel: the kernel; without it, this is a decorator. A gradient that
            `kernel.register_backward` gave it before is the operator's too.
        mutates_args: names of the parameters that the kernel stores to
        schema: the operator's, such as "(Tensor x, float eps) -> Tensor"; without it from the
            annotations of parameters and result, as `torch.library.infer_schema` reads them

    Returns:
        the operator, which is called as the kernel is

    Raises:
        ArgumentError: a name without namespace, a parameter without an annotation that a schema
            can express, one in `mutates_args` that does not exist, or one that is stored to by
            index and is not in it

    Example:
        @wavetile.torch_op("mylib::softmax")
        @wavetile.kernel
        def softmax(x: torch.Tensor) -> torch.Tensor: ...

        model = torch.compile(lambda x: softmax(x) + 1, fullgraph=True)
    """
    if kernel is None:
        return lambda decorated: _make(name, decorated, mutates_args, schema)
    return _make(name, kernel, mutates_args, schema)


def _make(
    name: str, kernel: Kernel[P, R], mutates_args: Sequence[str], schema: str | None
) -> TorchOp[P, R]:
    if name.count("::") != 1 or not all(part.isidentifier() for part in name.split("::")):
        raise ArgumentError(
            f"{name!r} is not the name of an operator",
            remedy='write a namespace and a name, such as "mylib::softmax"',
        )
    function = kernel.source.function
    parameters = inspect.signature(function).parameters
    for mutated in mutates_args:
        if mutated not in parameters:
            raise ArgumentError(f"{name}: `{mutated}` in mutates_args is no parameter")
    for stored in stored_by_index(kernel.source.tree.body):
        if stored in parameters and stored not in mutates_args and schema is None:
            raise ArgumentError(
                f"{name}: the kernel stores to `{stored}`, which is not in mutates_args",
                remedy=f'give mutates_args=["{stored}"]',
            )
    if schema is None:
        try:
            schema = torch.library.infer_schema(function, mutates_args=tuple(mutates_args))
        except ValueError as error:
            raise ArgumentError(
                f"{name}: {error}",
                remedy="annotate every parameter and the result, or give schema=",
            ) from None
    return TorchOp(name, kernel, schema)
