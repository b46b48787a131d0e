# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Indices: where in a tensor in memory the elements of a tile lie, and new dimensions of tiles."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

import torch

from wavetile.errors import DTypeError, ShapeError, UnsupportedIndexError
from wavetile.tracing import slices
from wavetile.tracing.values import (
    Dim,
    Integer,
    MemoryTensor,
    RuntimeInteger,
    Tile,
    TileIndex,
    describe,
)

if TYPE_CHECKING:
    from wavetile.tracing.emitter import Emitter

_FULL = slice(None)


@dataclass
class Access:
    """Where a tile lies in a tensor.

    Attributes:
        offsets: its first index along each dimension of the tensor
        places: for each dimension of the tensor that of the tile which runs along it, or -1
        dims: the dimensions of the tile
        new_axes: where the result of a load gets dimensions of size one, in increasing order
        indices: for dimensions of the tensor the tile of indices that is added to the offset;
            it has the access's rank, with its dimensions or dimensions of size one
        mask: which elements are accessed, a tile of bool of the same kind; None for all
    """

    offsets: list[Integer] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    dims: list[Dim] = field(default_factory=list)
    new_axes: list[int] = field(default_factory=list)
    indices: dict[int, Tile] = field(default_factory=dict)
    mask: Tile | None = None
    #: How many dimensions come before those of which the mask, an index, chooses none.
    chosen: int = 0


def _as_tuple(index: Any) -> tuple[Any, ...]:
    """The entries of an index; the variable of a loop over several dimensions is several."""
    if not isinstance(index, (tuple, list)):
        return (index,)
    return tuple(entry for part in index for entry in _as_tuple(part))


def _check_parts(emitter: Emitter, index: Any) -> None:
    """Refuses lists of numbers, which torch takes for indices of elements.

    Raises:
        UnsupportedIndexError: there is one
    """
    for part in index if isinstance(index, tuple) else (index,):
        if isinstance(part, (tuple, list)) and all(isinstance(number, int) for number in part):
            emitter.fail(
                UnsupportedIndexError,
                "a list of numbers as an index is not supported",
                "write the elements one by one, or load the indices from a tensor",
            )


def _expand_ellipsis(
    emitter: Emitter, index: tuple[Any, ...], rank: int, what: str
) -> tuple[Any, ...]:
    used = sum(entry is not None and entry is not ... for entry in index)
    if used > rank:
        emitter.fail(
            ShapeError,
            f"{used} indices for {what}, which has {rank} dimension{'s' * (rank != 1)}",
        )
    if sum(entry is ... for entry in index) > 1:
        emitter.fail(UnsupportedIndexError, "an index has one `...` only", "write `:` instead")
    missing = (_FULL,) * (rank - used)
    for at, entry in enumerate(index):
        if entry is ...:
            return (*index[:at], *missing, *index[at + 1 :])
    return (*index, *missing)


def _is_full(entry: Any) -> bool:
    return isinstance(entry, slice) and (entry.start, entry.stop, entry.step) == (None,) * 3


def _gives_dimension(entry: Any) -> bool:
    return entry is None or isinstance(entry, (slice, TileIndex))


class _Resolver:
    """Makes an `Access` of the entries of one index, as torch orders its dimensions.

    A `wl.tile` variable and a slice give a dimension at their place, ints and tiles without
    dimensions none. Other tiles of indices broadcast against one another; what they broadcast to
    stands where the first of them is, or before everything else if a slice, a tile variable or
    None lies between two of them. Those with one dimension each, all of different loops, are that
    of rows, of columns and so on, as nothing else could be meant.
    """

    def __init__(self, emitter: Emitter, tensor: MemoryTensor, entries: tuple[Any, ...]) -> None:
        self.emitter = emitter
        self.tensor = tensor
        self.entries = entries
        self.access = Access()
        self.tiles: dict[int, Tile] = {}
        #: Steps of slices, by the dimension of the tensor.
        self.steps: dict[int, int] = {}
        #: The dimensions of the result in order: (dimension of the tensor or None, dimension).
        self.layout: list[tuple[int | None, Dim]] = []

    def resolve(self) -> Access:
        self._separate_loops()
        tiles = {i: e for i, e in enumerate(self.entries) if isinstance(e, Tile) and e.dims}
        broadcast = [(-1, dim) for dim in self.emitter.common_dims(tiles.values())]
        for at, entry in enumerate(self.entries):
            if tiles and at == min(tiles):
                self.layout += broadcast
            self._add(entry)
        if tiles and any(map(_gives_dimension, self.entries[min(tiles) : max(tiles)])):
            # torch puts the dimensions of tensors that do not stand together first.
            self.layout = broadcast + [pair for pair in self.layout if pair[0] != -1]
        self._finish()
        return self.access

    def _separate_loops(self) -> None:
        """Makes `x[i, j]` of tiles along different loops `x[i[:, None], j[None, :]]`."""
        places = [i for i, e in enumerate(self.entries) if isinstance(e, Tile) and e.dims]
        tiles = [self.entries[place] for place in places]
        dims = [dim for tile in tiles for dim in tile.dims]
        names = {dim.name for dim in dims}
        if not len(tiles) == len(dims) == len(names) > 1:
            return
        if not all(dim.whole or dim.name in self.emitter.dims.blocks for dim in dims):
            return
        entries = list(self.entries)
        for axis, (place, tile) in enumerate(zip(places, tiles, strict=True)):
            for other in range(len(tiles)):
                if other != axis:
                    tile = self.emitter.expand_dims(tile, other)
            entries[place] = tile
        self.entries = tuple(entries)

    def _add(self, entry: Any) -> None:
        access, emitter = self.access, self.emitter
        position = len(access.offsets)
        match entry:
            case None:
                self.layout.append((None, Dim(None, 1)))
                return
            case TileIndex():
                access.offsets.append(emitter.integers.add(entry.begin, entry.offset))
                self.layout.append((position, entry.dim))
            case slice() if _is_full(entry):
                size = self.tensor.sizes[position]
                name = emitter.size_name(self.tensor.name, position, size)
                access.offsets.append(0)
                self.layout.append((position, emitter.dims.of_size(size, name)))
            case slice():
                first, dim = slices.resolve(emitter, self.tensor, position, entry)
                access.offsets.append(first)
                self.layout.append((position, dim))
                if (step := slices.step_of(emitter, entry)) != 1:
                    self.steps[position] = step
            case bool():
                _unsupported(emitter, entry)
            case int():
                size = self.tensor.sizes[position]
                if entry < 0:
                    access.offsets.append(emitter.integers.add(size, entry))
                else:
                    access.offsets.append(entry)
            case RuntimeInteger():
                access.offsets.append(entry)
            case Tile():
                access.offsets.append(0)
                self.tiles[position] = _index_tile(emitter, entry)
            case _:
                _unsupported(emitter, entry)

    def _finish(self) -> None:
        access = self.access
        access.places = [-1] * len(access.offsets)
        broadcast: list[int] = []
        for axis, (position, dim) in enumerate(self.layout):
            if position is None:
                access.new_axes.append(axis)
                continue
            if position == -1:
                broadcast.append(len(access.dims))
            else:
                access.places[position] = len(access.dims)
            access.dims.append(dim)
        rank = len(access.dims)
        for position, step in self.steps.items():
            # Every so many elements: a gather along its own dimension.
            axis, access.places[position] = access.places[position], -1
            access.indices[position] = self._multiples(axis, step)
        for position, tile in self.tiles.items():
            own = tile
            # Its dimensions are the last of those that the tiles of indices broadcast to.
            kept = broadcast[len(broadcast) - len(tile.dims) :]
            for axis in range(rank):
                if axis not in kept:
                    own = self.emitter.expand_dims(own, axis)
            access.indices[position] = own

    def _multiples(self, axis: int, step: int) -> Tile:
        """0, step, 2 step, ... along a dimension of the access."""
        emitter, dims = self.emitter, self.access.dims
        iota = emitter.iota(dims[axis])
        a = emitter.arithmetic(iota.dims, torch.int64)
        tile = Tile(a.mul(iota.value, a.constant(step)), iota.dims, torch.int64)
        for other in range(len(dims)):
            if other != axis:
                tile = emitter.expand_dims(tile, other)
        return tile


def _index_tile(emitter: Emitter, tile: Tile) -> Tile:
    """The tile as indices: i32 stays, other integers become i64."""
    if tile.dtype in (torch.bool, torch.uint8):
        # torch takes u8 for bool here.
        _unknown_size(emitter, tile)
    if tile.dtype.is_floating_point:
        emitter.fail(
            DTypeError,
            f"indices are integers, not {tile.dtype}",
            "convert them with .to(torch.int64)",
        )
    return tile if tile.dtype is torch.int32 else emitter.cast(tile, torch.int64)


def _unknown_size(emitter: Emitter, mask: Tile) -> NoReturn:
    emitter.fail(
        UnsupportedIndexError,
        f"a tile of {mask.dtype} as an index has a result whose size is not known",
        "use wl.load(tensor, index, extra_mask=...) or torch.where",
    )


def resolve_access(
    emitter: Emitter, tensor: MemoryTensor, index: Any, extra_mask: Any = None
) -> Access:
    """What `tensor[index]` means, restricted to the elements where `extra_mask` holds.

    Raises:
        ShapeError: more indices than dimensions, or indices or a mask that do not broadcast
        DTypeError: indices that are no integers, a mask that is no bool
        UnsupportedIndexError: an index that is not supported
    """
    _check_parts(emitter, index)
    entries = _expand_ellipsis(
        emitter, _as_tuple(index), len(tensor.sizes), f"the tensor `{tensor.name}`"
    )
    access = _Resolver(emitter, tensor, entries).resolve()
    if extra_mask is not None:
        access.mask = _resolve_mask(emitter, access, extra_mask)
    return access


def resolve_stored(emitter: Emitter, tensor: MemoryTensor, index: Any) -> Access:
    """What `tensor[index]` means where it is stored to: a tile of bool in it is a mask.

    The mask is one of whole dimensions of the tensor, of the blocks that the loops are at.

    Raises:
        ShapeError: a mask of other dimensions, and as for `resolve_access`
        UnsupportedIndexError: a mask next to other tiles of indices, and as for `resolve_access`
    """
    entries = _as_tuple(index)
    tiles = [entry for entry in entries if isinstance(entry, Tile) and entry.dims]
    mask = next((tile for tile in tiles if tile.dtype is torch.bool), None)
    if mask is None:
        return resolve_access(emitter, tensor, index)
    if len(tiles) > 1:
        emitter.fail(
            UnsupportedIndexError,
            "a tile of torch.bool next to other tiles as indices chooses pairs of them",
            "use wl.store(tensor, index, value, extra_mask=...)",
        )
    at = next(position for position, entry in enumerate(entries) if entry is mask)
    blocks = [emitter.dims.blocks.get(str(dim.name), _FULL) for dim in mask.dims]
    unmasked = (*entries[:at], *blocks, *entries[at + 1 :])
    entries = _expand_ellipsis(emitter, unmasked, len(tensor.sizes), f"the tensor `{tensor.name}`")
    if ... in unmasked[:at]:
        at += len(entries) - len(unmasked)
    access = _Resolver(emitter, tensor, entries).resolve()
    first = sum(map(_gives_dimension, entries[:at]))
    for position, (dim, own) in enumerate(
        zip(mask.dims, access.dims[first : first + len(blocks)], strict=True)
    ):
        block = entries[at + position]
        size = tensor.sizes[at + position]
        is_whole = emitter.same(dim, own) and (
            not isinstance(block, TileIndex)
            or (emitter.same_size(block.lower, 0) and emitter.same_size(block.upper, size))
        )
        if not is_whole:
            emitter.fail(
                ShapeError,
                f"a mask of shape {mask.shape_text} as an index of `{tensor.name}`, whose"
                f" dimension {at + position} is not that of `{dim}`",
                "use wl.store(tensor, index, value, extra_mask=...)",
            )
    while first + len(mask.dims) < len(access.dims):
        mask = emitter.expand_dims(mask, len(mask.dims))
    access.mask = _resolve_mask(emitter, access, mask)
    access.chosen = first + len(blocks)
    return access


def check_chosen(emitter: Emitter, access: Access, value: Any) -> None:
    """Where a mask as an index chooses elements there is one value for all of them.

    Raises:
        ShapeError: `value` has dimensions of its own there
    """
    if access.chosen and isinstance(value, Tile):
        beside = len(access.dims) - access.chosen
        if any(dim.name is not None for dim in value.dims[: max(0, len(value.dims) - beside)]):
            emitter.fail(
                ShapeError,
                f"a tile of shape {value.shape_text} is stored to the elements that a mask"
                " chooses, whose number is not known",
                "store a number, or use wl.store(tensor, index, value, extra_mask=...)",
            )


def _resolve_mask(emitter: Emitter, access: Access, mask: Any) -> Tile:
    if not isinstance(mask, Tile) or mask.dtype is not torch.bool:
        emitter.fail(
            DTypeError,
            f"extra_mask is a tile of torch.bool, not {describe(mask)}",
            "compare something, such as extra_mask=indices < limit",
        )
    while len(mask.dims) < len(access.dims):
        mask = emitter.expand_dims(mask, 0)
    fits = len(mask.dims) == len(access.dims) and all(
        own.name is None or own.same(dim) for own, dim in zip(mask.dims, access.dims, strict=True)
    )
    if not fits:
        shape = f"[{', '.join(map(str, access.dims))}]"
        emitter.fail(
            ShapeError,
            f"extra_mask of shape {mask.shape_text} for an access of shape {shape}",
            "index it with None to insert dimensions of size one",
        )
    return mask


def _unsupported(emitter: Emitter, entry: Any) -> NoReturn:
    emitter.fail(
        UnsupportedIndexError,
        f"{describe(entry)} as an index is not supported",
        "index with wl.tile variables, ints, tiles of integers, slices, None or `...`",
    )


def index_tile(emitter: Emitter, tile: Tile, index: Any) -> Tile:
    """`tile[index]`: new dimensions by None; every other index is `:`.

    Raises:
        UnsupportedIndexError: another index
    """
    entries = _expand_ellipsis(emitter, _as_tuple(index), len(tile.dims), "this tile")
    for axis, entry in enumerate(entries):
        if entry is None:
            tile = emitter.expand_dims(tile, axis)
        elif isinstance(entry, Tile) and entry.dtype is torch.bool:
            _unknown_size(emitter, entry)
        elif not _is_full(entry) and not (
            isinstance(entry, TileIndex) and entry.dim.same(tile.dims[axis])
        ):
            emitter.fail(
                UnsupportedIndexError,
                "a tile is indexed with `:`, None and `...` only",
                "index the tensor that it was loaded from",
            )
    return tile
