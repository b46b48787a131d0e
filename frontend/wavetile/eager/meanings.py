# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where device code takes more than torch does: products of narrow floats, maxima of nothing."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import torch


def accumulator_of(dtype: torch.dtype) -> torch.dtype:
    """The type in which products are summed: f32 for narrower floats, i32 for narrower ints."""
    if dtype in (torch.float64, torch.int64):
        return dtype
    return torch.float32 if dtype.is_floating_point else torch.int32


def dot(
    a: torch.Tensor,
    b: torch.Tensor,
    acc: torch.Tensor | None = None,
    out_dtype: torch.dtype | None = None,
) -> torch.Tensor:
    """`wl.dot`."""
    summed = accumulator_of(a.dtype)
    product = a.to(summed) @ b.to(summed)
    if acc is not None:
        product = acc.to(summed) + product
    return product.to(out_dtype or (summed if acc is None else acc.dtype))


def _in_order(
    combine_fn: Callable[..., Any], input: Any, dim: int, reverse: bool
) -> list[list[torch.Tensor]]:
    """For each index along a dimension the combination of all slices up to it."""
    several = isinstance(input, (tuple, list))
    tensors = torch.broadcast_tensors(*(input if several else [input]))
    unpacked = several and len(inspect.signature(combine_fn).parameters) != 2
    slices = list(zip(*(tensor.unbind(dim) for tensor in tensors), strict=True))
    totals: list[list[torch.Tensor]] = []
    for one in reversed(slices) if reverse else slices:
        if not totals:
            totals.append(list(one))
            continue
        before = totals[-1]
        if not several:
            totals.append([combine_fn(before[0], one[0])])
        elif unpacked:
            totals.append(list(combine_fn(*before, *one)))
        else:
            totals.append(list(combine_fn(tuple(before), one)))
    return totals


def associative_scan(
    combine_fn: Callable[..., Any], input: Any, dim: int, reverse: bool = False
) -> Any:
    """`wl.associative_scan`."""
    totals = _in_order(combine_fn, input, dim, reverse)
    several = isinstance(input, (tuple, list))
    if not totals:
        return tuple(input) if several else input
    ordered = list(reversed(totals)) if reverse else totals
    results = tuple(torch.stack(parts, dim) for parts in zip(*ordered, strict=True))
    return results if several else results[0]


def reduce(
    combine_fn: Callable[..., Any],
    input: Any,
    dim: int | None = None,
    other: Any = 0,
    keep_dims: bool = False,
) -> Any:
    """`wl.reduce`."""
    several = isinstance(input, (tuple, list))
    tensors = list(input) if several else [input]
    others = list(other) if isinstance(other, (tuple, list)) else [other] * len(tensors)
    dims = range(tensors[0].dim()) if dim is None else [dim % tensors[0].dim()]
    for axis in reversed(dims):
        totals = _in_order(combine_fn, tensors if several else tensors[0], axis, reverse=False)
        if totals:
            tensors = totals[-1]
        else:
            shape = [*tensors[0].shape[:axis], *tensors[0].shape[axis + 1 :]]
            tensors = [t.new_full(shape, o) for t, o in zip(tensors, others, strict=True)]
    if keep_dims:
        for axis in dims:
            tensors = [tensor.unsqueeze(axis) for tensor in tensors]
    return tuple(tensors) if several else tensors[0]


def fma(a: Any, b: Any, c: Any) -> torch.Tensor:
    """`wl.fma`; the product of f64 is rounded, that of others is exact in f64."""
    wide = [x.double() if isinstance(x, torch.Tensor) else x for x in (a, b, c)]
    result = wide[0] * wide[1] + wide[2]
    dtype = a.dtype if isinstance(a, torch.Tensor) else None
    for x in (b, c):
        if isinstance(x, torch.Tensor):
            dtype = x.dtype if dtype is None else torch.promote_types(dtype, x.dtype)
    return result if dtype is None else result.to(dtype)


def matmul(input: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """`torch.matmul`, also of 8-bit floats."""
    return dot(input, other, out_dtype=input.dtype)


def addmm(
    input: torch.Tensor, mat1: torch.Tensor, mat2: torch.Tensor, *, beta: Any = 1, alpha: Any = 1
) -> torch.Tensor:
    """`torch.addmm` and `torch.baddbmm`; the input may be wider than the operands."""
    if beta == 1 and alpha == 1:
        return dot(mat1, mat2, input)
    return (dot(mat1, mat2) * alpha + input * beta).to(input.dtype)


def _of_nothing(function: Callable[..., torch.Tensor], lowest: bool) -> Callable[..., torch.Tensor]:
    def extreme(input: torch.Tensor, dim: Any = (), keepdim: bool = False) -> torch.Tensor:
        dims = [dim] if isinstance(dim, int) else list(dim) or list(range(input.dim()))
        if not any(input.size(d) == 0 for d in dims):
            return function(input, dim, keepdim)
        if input.dtype.is_floating_point:
            start = -torch.inf if lowest else torch.inf
        elif input.dtype == torch.bool:
            start = not lowest
        else:
            limits = torch.iinfo(input.dtype)
            start = limits.min if lowest else limits.max
        shape = [
            1 if d in {e % input.dim() for e in dims} else s for d, s in enumerate(input.shape)
        ]
        return function(input.new_full(shape, start), dim, keepdim)

    return extreme


#: By function of torch.
MEANINGS: dict[Any, Callable[..., torch.Tensor]] = {
    **dict.fromkeys((torch.matmul, torch.mm, torch.bmm), matmul),
    **dict.fromkeys((torch.Tensor.matmul, torch.Tensor.mm, torch.Tensor.bmm), matmul),
    torch.Tensor.__matmul__: matmul,
    **dict.fromkeys((torch.addmm, torch.Tensor.addmm, torch.baddbmm, torch.Tensor.baddbmm), addmm),
    **dict.fromkeys((torch.amax, torch.Tensor.amax), _of_nothing(torch.amax, lowest=True)),
    **dict.fromkeys((torch.amin, torch.Tensor.amin), _of_nothing(torch.amin, lowest=False)),
}
