# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations that change the shape of a tile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from wavetile.errors import ArgumentError, ShapeError
from wavetile.tracing.operations.registry import operation
from wavetile.tracing.values import Tile, describe

if TYPE_CHECKING:
    from wavetile.tracing.emitter import Emitter


def check_tile(emitter: Emitter, name: str, value: Any) -> Tile:
    """The value if it is a tile.

    Raises:
        ArgumentError: it is not
    """
    if not isinstance(value, Tile):
        emitter.fail(
            ArgumentError,
            f"{name} needs a tile, not {describe(value)}",
            "load a tile from a tensor by indexing it, such as x[rows, :]",
        )
    return value


def check_axis(emitter: Emitter, name: str, axis: Any, rank: int) -> int:
    """A dimension counted from the front.

    Raises:
        ArgumentError: it is not a constant
        ShapeError: there is no such dimension
    """
    if not isinstance(axis, int) or isinstance(axis, bool):
        emitter.fail(ArgumentError, f"{name}: a dimension is a constant int, not {describe(axis)}")
    if not -rank <= axis < rank:
        emitter.fail(ShapeError, f"{name}: a tile of {rank} dimensions has no dimension {axis}")
    return axis % rank


@operation("torch.unsqueeze", torch.unsqueeze, methods=("unsqueeze",))
def unsqueeze(emitter: Emitter, input: Any, dim: Any) -> Tile:
    """Inserts a dimension of size one."""
    tile = check_tile(emitter, "unsqueeze", input)
    return emitter.expand_dims(tile, check_axis(emitter, "unsqueeze", dim, len(tile.dims) + 1))


@operation("torch.squeeze", torch.squeeze, methods=("squeeze",))
def squeeze(emitter: Emitter, input: Any, dim: Any) -> Tile:
    """Removes a dimension of size one; leaves any other alone."""
    tile = check_tile(emitter, "squeeze", input)
    axis = check_axis(emitter, "squeeze", dim, len(tile.dims))
    return tile if tile.dims[axis].name else emitter.squeeze_dims(tile, axis)


def _transposed(emitter: Emitter, tile: Tile, order: list[int]) -> Tile:
    dims = tuple(tile.dims[i] for i in order)
    value = emitter.module.value(
        "tile.transpose",
        [tile.value],
        emitter.tile_type(dims, tile.dtype),
        {"permutation": order},
    )
    return Tile(value, dims, tile.dtype)


@operation("torch.transpose", torch.transpose, torch.swapaxes, methods=("transpose", "swapaxes"))
def transpose(emitter: Emitter, input: Any, dim0: Any, dim1: Any) -> Tile:
    """Exchanges two dimensions."""
    tile = check_tile(emitter, "transpose", input)
    order = list(range(len(tile.dims)))
    a = check_axis(emitter, "transpose", dim0, len(order))
    b = check_axis(emitter, "transpose", dim1, len(order))
    order[a], order[b] = order[b], order[a]
    return _transposed(emitter, tile, order)


@operation("torch.t", torch.t, methods=("t",))
def transpose_matrix(emitter: Emitter, input: Any) -> Tile:
    """The transposed matrix."""
    tile = check_tile(emitter, "t", input)
    if len(tile.dims) != 2:
        emitter.fail(ShapeError, f"t needs two dimensions, not {tile.shape_text}")
    return _transposed(emitter, tile, [1, 0])


@operation("torch.permute", methods=("permute",))
def permute(emitter: Emitter, input: Any, *dims: Any) -> Tile:
    """Reorders dimensions."""
    tile = check_tile(emitter, "permute", input)
    if len(dims) == 1 and isinstance(dims[0], (tuple, list)):
        dims = tuple(dims[0])
    order = [check_axis(emitter, "permute", dim, len(tile.dims)) for dim in dims]
    if sorted(order) != list(range(len(tile.dims))):
        emitter.fail(ShapeError, f"permute: {dims} is no order of {len(tile.dims)} dimensions")
    return _transposed(emitter, tile, order)


@operation("torch.permute", torch.permute)
def permute_function(emitter: Emitter, input: Any, dims: Any) -> Tile:
    """Reorders dimensions."""
    return permute(emitter, input, dims)


@operation("contiguous", methods=("contiguous", "clone", "detach"))
def same(emitter: Emitter, input: Any) -> Tile:
    """The tile itself: tiles are values."""
    return check_tile(emitter, "contiguous", input)


@operation("size", methods=("size",))
def size(emitter: Emitter, input: Any, dim: Any = None) -> Any:
    """The number of elements along one dimension, or a tuple of all."""
    tile = check_tile(emitter, "size", input)
    if dim is None:
        return tuple(d.extent for d in tile.dims)
    return tile.dims[check_axis(emitter, "size", dim, len(tile.dims))].extent


@operation("dim", methods=("dim",))
def rank(emitter: Emitter, input: Any) -> int:
    """The number of dimensions."""
    return len(check_tile(emitter, "dim", input).dims)
