# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Dimensions of `wl.jagged_tile`, which end at another index in each row.

A block of such a loop has the length of the longest row. Which of its elements exist is a tile of
bool with the dimensions of the rows and then the jagged one; loads, stores, reductions and products
leave the others out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import torch

from wavetile.errors import ArgumentError, ShapeError
from wavetile.tracing.values import Dim, RuntimeInteger, Tile, describe

if TYPE_CHECKING:
    from wavetile.tracing.emitter import Emitter
    from wavetile.tracing.indexing import Access


def check_ends(emitter: Emitter, ends: Any) -> Tile:
    """The argument of `wl.jagged_tile`.

    Raises:
        ArgumentError: it is no tile of integers with dimensions of loops
    """
    if (
        isinstance(ends, Tile)
        and ends.dims
        and all(dim.name is not None for dim in ends.dims)
        and not ends.dtype.is_floating_point
    ):
        return emitter.cast(ends, torch.int64)
    emitter.fail(
        ArgumentError,
        f"wl.jagged_tile takes a tile with an end for each row, not {describe(ends)}",
        "load it in a loop over the rows, such as lengths[rows]; use wl.tile for one end",
    )


def enter(emitter: Emitter, ends: Tile, dim: Dim, begin: RuntimeInteger) -> None:
    """Computes which elements of a block exist, at the beginning of its step."""
    dims = (*ends.dims, dim)
    a = emitter.arithmetic(dims, torch.int64)
    index = emitter.indices_from(begin, dim)
    for _ in ends.dims:
        index = emitter.expand_dims(index, 0)
    end = emitter.broadcast(emitter.expand_dims(ends, len(ends.dims)), dims)
    exists = a.compare("lt", emitter.broadcast(index, dims).value, end.value)
    assert dim.name is not None
    emitter.dims.jagged[dim.name] = Tile(exists, dims, torch.bool)


def leave(emitter: Emitter, name: str) -> None:
    """The loop has ended."""
    emitter.dims.jagged.pop(name, None)


def _names(dims: Iterable[Dim]) -> list[str | None]:
    return [dim.name for dim in dims]


def _aligned(emitter: Emitter, mask: Tile, dims: Sequence[Dim]) -> Tile:
    """A mask with the dimensions `dims`, of size one for those that it lacks."""
    names = _names(dims)
    places = [names.index(dim.name) for dim in mask.dims]
    order = sorted(range(len(places)), key=lambda axis: places[axis])
    if order != list(range(len(order))):
        kept = tuple(mask.dims[axis] for axis in order)
        value = emitter.module.value(
            "tile.transpose",
            [mask.value],
            emitter.tile_type(kept, torch.bool),
            {"permutation": order},
        )
        mask = Tile(value, kept, torch.bool)
    for axis in range(len(dims)):
        if axis not in places:
            mask = emitter.expand_dims(mask, axis)
    return mask


def _both(emitter: Emitter, a: Tile | None, b: Tile, dims: Sequence[Dim]) -> Tile:
    if a is None:
        return b
    arithmetic = emitter.arithmetic(dims, torch.bool)
    values = [emitter.broadcast(tile, dims).value for tile in (a, b)]
    return Tile(arithmetic.bit_and(*values), tuple(dims), torch.bool)


def existing(
    emitter: Emitter, dims: Sequence[Dim], axes: Iterable[int] | None = None
) -> Tile | None:
    """Which elements of a shape exist, or None if all do.

    Args:
        axes: only the dimensions of rows that end within these, or that these are rows of
    """
    present = _names(dims)
    wanted = None if axes is None else {present[axis] for axis in axes}
    result: Tile | None = None
    for name, mask in emitter.dims.jagged.items():
        names = _names(mask.dims)
        if name not in present or not set(names) <= set(present):
            continue
        if wanted is None or wanted & set(names):
            result = _both(emitter, result, _aligned(emitter, mask, dims), dims)
    return result


def filled(emitter: Emitter, tile: Tile, axes: Iterable[int], number: bool | int | float) -> Tile:
    """The tile with a number for elements that do not exist, where `axes` are combined."""
    mask = existing(emitter, tile.dims, axes)
    if mask is None:
        return tile
    a = emitter.arithmetic(tile.dims, tile.dtype)
    value = emitter.full(tile.dims, number, tile.dtype).value
    chosen = a.select(emitter.broadcast(mask, tile.dims).value, tile.value, value)
    return Tile(chosen, tile.dims, tile.dtype)


def restrict(emitter: Emitter, access: Access) -> None:
    """Leaves elements that do not exist out of an access."""
    exists = existing(emitter, access.dims)
    if exists is not None:
        access.mask = _both(emitter, access.mask, exists, access.dims)


def refuse(emitter: Emitter, name: str, tile: Tile, axis: int) -> None:
    """Raises a ShapeError if elements along a dimension end at another index in each row."""
    if existing(emitter, tile.dims, [axis]) is not None:
        emitter.fail(
            ShapeError,
            f"{name} along `{tile.dims[axis]}`, which ends at another index in each row",
            "sums, products, maxima and minima leave out what does not exist; divide a sum by"
            " the length of the row for its mean",
        )
