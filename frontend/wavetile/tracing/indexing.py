# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Indexing: loads from and stores to tensors in memory, and new dimensions of tiles."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from wavetile.errors import ArgumentError, ShapeError, TensorAccessError, UnsupportedIndexError
from wavetile.tracing.values import (
    Dim,
    Integer,
    MemoryTensor,
    RuntimeInteger,
    Tile,
    TileIndex,
    describe,
    is_number,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from wavetile._C import Value
    from wavetile.tracing.emitter import Emitter

_FULL = slice(None)


@dataclass
class Access:
    """Where a tile lies in a tensor.

    Attributes:
        offsets: its first index along each dimension of the tensor
        places: for each dimension of the tensor that of the tile, or -1
        dims: the dimensions of the tile
        new_axes: where the result of a load gets dimensions of size one
    """

    offsets: list[Integer] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    dims: list[Dim] = field(default_factory=list)
    new_axes: list[int] = field(default_factory=list)

    def add(self, offset: Integer, dim: Dim | None) -> None:
        """Takes the next dimension of the tensor."""
        self.offsets.append(offset)
        self.places.append(-1 if dim is None else len(self.dims))
        if dim is not None:
            self.dims.append(dim)


def _as_tuple(index: Any) -> tuple[Any, ...]:
    return tuple(index) if isinstance(index, (tuple, list)) else (index,)


def _expand_ellipsis(
    emitter: Emitter, index: tuple[Any, ...], rank: int, what: str
) -> tuple[Any, ...]:
    used = sum(entry is not None and entry is not ... for entry in index)
    if used > rank:
        emitter.fail(
            ShapeError,
            f"{used} indices for {what}, which has {rank} dimension{'s' * (rank != 1)}",
        )
    missing = (_FULL,) * (rank - used)
    if ... in [entry for entry in index if entry is ...]:
        at = next(i for i, entry in enumerate(index) if entry is ...)
        return (*index[:at], *missing, *(e for e in index[at + 1 :] if e is not ...))
    return (*index, *missing)


def _is_full(entry: Any) -> bool:
    return isinstance(entry, slice) and (entry.start, entry.stop, entry.step) == (None,) * 3


def resolve_access(
    emitter: Emitter, tensor: MemoryTensor, index: Any, size_name: Callable[[str, int, Any], str]
) -> Access:
    """What `tensor[index]` means.

    Raises:
        ShapeError: more indices than dimensions
        UnsupportedIndexError: an index that is not supported yet
    """
    access = Access()
    entries = _expand_ellipsis(
        emitter, _as_tuple(index), len(tensor.sizes), f"the tensor `{tensor.name}`"
    )
    for entry in entries:
        position = len(access.offsets)
        match entry:
            case None:
                access.new_axes.append(len(access.dims) + len(access.new_axes))
            case TileIndex():
                access.add(emitter.integers.add(entry.begin, entry.offset), entry.dim)
            case slice() if _is_full(entry):
                size = tensor.sizes[position]
                name = size_name(tensor.name, position, size)
                access.add(0, emitter.dims.of_size(size, name))
            case bool():
                _unsupported(emitter, entry)
            case int():
                size = tensor.sizes[position]
                access.add(entry if entry >= 0 else emitter.integers.add(size, entry), None)
            case RuntimeInteger():
                access.add(entry, None)
            case _:
                _unsupported(emitter, entry)
    return access


def _unsupported(emitter: Emitter, entry: Any) -> None:
    if isinstance(entry, slice):
        what, remedy = "a slice with bounds", "use a wl.tile loop over those indices"
    elif isinstance(entry, Tile):
        what, remedy = "a tile of indices (gather, scatter)", "index with a wl.tile variable"
    else:
        what, remedy = describe(entry), "index with wl.tile variables, ints, `:`, None or `...`"
    emitter.fail(UnsupportedIndexError, f"{what} as an index is not supported yet", remedy)


def _operands(emitter: Emitter, view: Value, access: Access) -> list[list[Value]]:
    value = emitter.integers.value
    return [
        [view],
        [value(offset) for offset in access.offsets],
        [value(dim.extent) for dim in access.dims],
    ]


def load(emitter: Emitter, tensor: MemoryTensor, access: Access) -> Tile:
    """The tile at a place of a tensor."""
    operation = emitter.module.create(
        "tile.load",
        _operands(emitter, tensor.view, access),
        [emitter.tile_type(access.dims, tensor.dtype)],
        {"dims": access.places},
    )
    tile = Tile(operation.results[0], tuple(access.dims), tensor.dtype)
    for axis in access.new_axes:
        tile = emitter.expand_dims(tile, axis)
    return tile


def store(emitter: Emitter, tensor: MemoryTensor, access: Access, value: Any) -> None:
    """Writes a tile or a number to a place of a tensor, in the tensor's dtype.

    Raises:
        ShapeError: the tile does not broadcast to that place
    """
    if access.new_axes:
        emitter.fail(
            UnsupportedIndexError, "a store cannot insert dimensions", "index without None"
        )
    for size, stride, place in zip(tensor.sizes, tensor.strides, access.places, strict=True):
        if stride == 0 and size != 1 and place >= 0:
            emitter.fail(
                TensorAccessError,
                f"a store to `{tensor.name}`, which is expanded: several of its elements are one",
                "store to a tensor of its own, such as torch.empty_like(...)",
            )
    if is_number(value):
        tile = emitter.full(access.dims, value, tensor.dtype)
    elif isinstance(value, Tile):
        tile = _fit(emitter, value, access, tensor)
    else:
        emitter.fail(
            ArgumentError,
            f"{describe(value)} cannot be stored",
            "store a tile or a number",
        )
    view, offsets, extents = _operands(emitter, tensor.view, access)
    emitter.module.create(
        "tile.store", [[tile.value], view, offsets, extents], [], {"dims": access.places}
    )


def _fit(emitter: Emitter, tile: Tile, access: Access, tensor: MemoryTensor) -> Tile:
    while len(tile.dims) > len(access.dims) and tile.dims[0].name is None:
        tile = emitter.squeeze_dims(tile, 0)
    wanted = Tile(tile.value, tuple(access.dims), tile.dtype)
    fits = len(tile.dims) <= len(access.dims) and all(
        own.name is None or own.same(dim)
        for own, dim in zip(
            tile.dims, access.dims[len(access.dims) - len(tile.dims) :], strict=True
        )
    )
    if not fits:
        emitter.fail(
            ShapeError,
            f"a tile of shape {tile.shape_text} is stored to a place of `{tensor.name}` of shape"
            f" {wanted.shape_text}",
            "reduce or index the tile to that shape",
        )
    return emitter.cast(emitter.broadcast(tile, access.dims), tensor.dtype)


def index_tile(emitter: Emitter, tile: Tile, index: Any) -> Tile:
    """`tile[index]`: new dimensions by None; every other index is `:`.

    Raises:
        UnsupportedIndexError: another index
    """
    entries = _expand_ellipsis(emitter, _as_tuple(index), len(tile.dims), "this tile")
    for axis, entry in enumerate(entries):
        if entry is None:
            tile = emitter.expand_dims(tile, axis)
        elif not _is_full(entry) and not (
            isinstance(entry, TileIndex) and entry.dim.same(tile.dims[axis])
        ):
            emitter.fail(
                UnsupportedIndexError,
                "a tile is indexed with `:`, None and `...` only",
                "index the tensor that it was loaded from",
            )
    return tile
