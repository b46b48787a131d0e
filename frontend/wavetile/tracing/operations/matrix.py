# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matrix products."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from wavetile import language
from wavetile.errors import ArgumentError, DTypeError, ShapeError
from wavetile.tracing.dtypes import FLOAT8
from wavetile.tracing.operations.algebra import add
from wavetile.tracing.operations.registry import operation
from wavetile.tracing.operations.shapes import check_tile
from wavetile.tracing.values import Tile

if TYPE_CHECKING:
    from wavetile.tracing.emitter import Emitter

#: The type in which the products of operands are summed.
_ACCUMULATOR = {
    torch.float64: torch.float64,
    torch.int8: torch.int32,
    **dict.fromkeys((torch.float32, torch.float16, torch.bfloat16, *FLOAT8), torch.float32),
}


def _product(emitter: Emitter, name: str, a: Any, b: Any, acc: Tile | None) -> Tile:
    """a @ b + acc in the accumulator's type."""
    lhs, rhs = check_tile(emitter, name, a), check_tile(emitter, name, b)
    if len(lhs.dims) != 2 or len(rhs.dims) != 2:
        emitter.fail(
            ShapeError,
            f"{name} needs two dimensions each, not {lhs.shape_text} and {rhs.shape_text}",
        )
    if not lhs.dims[1].same(rhs.dims[0]):
        emitter.fail(
            ShapeError,
            f"{name}: {lhs.shape_text} times {rhs.shape_text}: the inner dimensions differ",
            "index both with the variable of one loop, such as x[rows, k] @ y[k, cols]",
        )
    if lhs.dtype != rhs.dtype and not (lhs.dtype in FLOAT8 and rhs.dtype in FLOAT8):
        emitter.fail(
            DTypeError,
            f"{name}: {lhs.dtype} times {rhs.dtype}: the dtypes differ",
            "convert one of them with .to(dtype)",
        )
    if lhs.dtype not in _ACCUMULATOR:
        emitter.fail(DTypeError, f"{name} is not supported for {lhs.dtype}")
    dtype = _ACCUMULATOR[lhs.dtype]
    dims = (lhs.dims[0], rhs.dims[1])
    if acc is None:
        start = emitter.full(dims, 0, dtype)
    else:
        start = emitter.cast(acc, dtype)
        for dim, own in zip(dims, start.dims, strict=False):
            if len(start.dims) != 2 or not dim.same(own):
                emitter.fail(
                    ShapeError,
                    f"{name}: the accumulator {start.shape_text} does not have the shape"
                    f" [{dims[0]}, {dims[1]}] of the product",
                )
    value = emitter.module.value(
        "tile.dot",
        [lhs.value, rhs.value, start.value, emitter.integers.value(lhs.dims[1].extent)],
        emitter.tile_type(dims, dtype),
    )
    return Tile(value, dims, dtype)


@operation("wl.dot", language.dot)
def dot(emitter: Emitter, a: Any, b: Any, acc: Any = None, out_dtype: Any = None) -> Tile:
    """a @ b + acc, in the accumulator's dtype unless `out_dtype` says otherwise."""
    start = None if acc is None else check_tile(emitter, "wl.dot", acc)
    result = _product(emitter, "wl.dot", a, b, start)
    if out_dtype is not None:
        if not isinstance(out_dtype, torch.dtype):
            emitter.fail(ArgumentError, "wl.dot: out_dtype is a dtype")
        return emitter.cast(result, out_dtype)
    return result if start is None else emitter.cast(result, start.dtype)


@operation("torch.matmul", torch.matmul, torch.mm, methods=("matmul", "mm"))
def matmul(emitter: Emitter, input: Any, other: Any) -> Tile:
    """input @ other in the dtype of the operands."""
    result = _product(emitter, "matmul", input, other, None)
    return emitter.cast(result, input.dtype)


@operation("torch.addmm", torch.addmm, methods=("addmm",))
def addmm(emitter: Emitter, input: Any, mat1: Any, mat2: Any) -> Tile:
    """input + mat1 @ mat2 in the dtype of input, which may be wider than that of the operands."""
    start = check_tile(emitter, "torch.addmm", input)
    lhs, rhs = check_tile(emitter, "torch.addmm", mat1), check_tile(emitter, "torch.addmm", mat2)
    if (
        len(start.dims) == 2
        and len(lhs.dims) == 2
        and len(rhs.dims) == 2
        and all(a.same(b) for a, b in zip(start.dims, (lhs.dims[0], rhs.dims[1]), strict=True))
    ):
        return emitter.cast(_product(emitter, "torch.addmm", lhs, rhs, start), start.dtype)
    product = _product(emitter, "torch.addmm", lhs, rhs, None)
    return emitter.cast(add(emitter, product, start), start.dtype)
