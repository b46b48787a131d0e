# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations that make tiles from numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch

from wavetile import language
from wavetile.errors import ArgumentError, DTypeError
from wavetile.language import BlockSize
from wavetile.tracing.dtypes import BY_DTYPE
from wavetile.tracing.operations.registry import operation
from wavetile.tracing.values import (
    Dim,
    MemoryTensor,
    RuntimeBool,
    RuntimeFloat,
    RuntimeInteger,
    Tile,
    TileIndex,
    describe,
    is_number,
)

if TYPE_CHECKING:
    from wavetile.tracing.emitter import Emitter


def dim_of(emitter: Emitter, size: Any) -> Dim:
    """The dimension that a tile index or a size stands for in a shape."""
    match size:
        case TileIndex():
            return size.dim
        case BlockSize():
            return emitter.dims.of_block_size(size)
        case RuntimeInteger():
            return emitter.dims.of_size(size, "size")
        case int() if not isinstance(size, bool) and size >= 1:
            return emitter.dims.of_size(size, f"size_{size}")
    emitter.fail(
        ArgumentError,
        f"a shape holds tile indices and positive ints, not {describe(size)}",
        "write wl.zeros([rows, cols]) with the variables of wl.tile loops",
    )


def _dims(emitter: Emitter, shape: Any) -> list[Dim]:
    if not isinstance(shape, Sequence):
        shape = [shape]
    return [dim_of(emitter, size) for size in shape]


def _check_dtype(emitter: Emitter, dtype: Any) -> torch.dtype:
    if not isinstance(dtype, torch.dtype):
        emitter.fail(ArgumentError, f"expected a dtype, not {describe(dtype)}")
    if dtype not in BY_DTYPE:
        emitter.unsupported_dtype(dtype)
    return dtype


@operation("wl.full", language.full, torch.full)
def full(emitter: Emitter, shape: Any, value: Any, dtype: Any = None, device: Any = None) -> Tile:
    """A tile with one value in every element; `device` is that of the kernel in any case."""
    if not is_number(value):
        emitter.fail(ArgumentError, f"wl.full needs a number, not {describe(value)}")
    if dtype is None:
        if isinstance(value, (bool, RuntimeBool)):
            dtype = torch.bool
        elif isinstance(value, (float, RuntimeFloat)):
            dtype = torch.get_default_dtype()
        else:
            dtype = torch.int64
    return emitter.full(_dims(emitter, shape), value, _check_dtype(emitter, dtype))


@operation("wl.zeros", language.zeros, torch.zeros)
def zeros(emitter: Emitter, shape: Any, dtype: Any = torch.float32, device: Any = None) -> Tile:
    """A tile of zeros."""
    return full(emitter, shape, 0, dtype)


@operation("torch.zeros_like", torch.zeros_like)
def zeros_like(emitter: Emitter, input: Any, dtype: Any = None) -> Tile:
    """Zeros in the shape and dtype of a tile."""
    return full_like(emitter, input, 0, dtype)


@operation("torch.full_like", torch.full_like)
def full_like(emitter: Emitter, input: Any, fill_value: Any, dtype: Any = None) -> Tile:
    """One value in the shape and dtype of a tile."""
    if not isinstance(input, Tile):
        emitter.fail(ArgumentError, f"expected a tile, not {describe(input)}")
    dtype = input.dtype if dtype is None else _check_dtype(emitter, dtype)
    return emitter.full(input.dims, fill_value, dtype)


@operation("wl.arange", language.arange, torch.arange)
def arange(emitter: Emitter, size: Any, dtype: Any = torch.int64, device: Any = None) -> Tile:
    """0, 1, ..., size - 1."""
    dtype = _check_dtype(emitter, dtype)
    if dtype is torch.bool:
        emitter.fail(DTypeError, "wl.arange has no bool", "compare an i64 one with something")
    return emitter.cast(emitter.iota(dim_of(emitter, size)), dtype)


def _shape_of(sizes: tuple[Any, ...], size: Any) -> Any:
    if size is not None:
        return size
    return sizes[0] if len(sizes) == 1 else sizes


def _dtype_like(emitter: Emitter, input: Any, dtype: Any) -> torch.dtype:
    if not isinstance(input, (Tile, MemoryTensor)):
        emitter.fail(ArgumentError, f"expected a tile or a tensor, not {describe(input)}")
    return input.dtype if dtype is None else _check_dtype(emitter, dtype)


@operation("new_full", methods=("new_full",))
def new_full(
    emitter: Emitter,
    input: Any,
    size: Any,
    fill_value: Any,
    *,
    dtype: Any = None,
    device: Any = None,
) -> Tile:
    """A tile of another shape with one value, by default in the dtype of this one."""
    return full(emitter, size, fill_value, _dtype_like(emitter, input, dtype))


@operation("new_zeros", methods=("new_zeros",))
def new_zeros(
    emitter: Emitter,
    input: Any,
    *sizes: Any,
    size: Any = None,
    dtype: Any = None,
    device: Any = None,
) -> Tile:
    """Zeros in another shape, by default in the dtype of this tile."""
    return full(emitter, _shape_of(sizes, size), 0, _dtype_like(emitter, input, dtype))


@operation("new_ones", methods=("new_ones",))
def new_ones(
    emitter: Emitter,
    input: Any,
    *sizes: Any,
    size: Any = None,
    dtype: Any = None,
    device: Any = None,
) -> Tile:
    """Ones in another shape, by default in the dtype of this tile."""
    return full(emitter, _shape_of(sizes, size), 1, _dtype_like(emitter, input, dtype))
