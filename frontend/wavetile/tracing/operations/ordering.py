# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sorting, and elements by index: topk, gather, flip, cat, reshape of what is no mere view."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch

from wavetile import language
from wavetile.errors import ArgumentError, DTypeError, ShapeError
from wavetile.language import BlockSize
from wavetile.tracing import jagged
from wavetile.tracing.dtypes import STORAGE_ONLY, compute_dtype
from wavetile.tracing.operations.algebra import add, div, mul, remainder, sub
from wavetile.tracing.operations.comparison import where
from wavetile.tracing.operations.creation import dim_of
from wavetile.tracing.operations.pointwise import Promotion, pointwise
from wavetile.tracing.operations.reductions import in_signed_order, indices_along
from wavetile.tracing.operations.registry import operation
from wavetile.tracing.operations.shapes import check_axis, check_tile
from wavetile.tracing.values import (
    UNIT,
    Dim,
    Integer,
    RuntimeInteger,
    Tile,
    TileIndex,
    describe,
    in_this_call,
)

if TYPE_CHECKING:
    from wavetile.tracing.emitter import Emitter


def _sized(emitter: Emitter, size: int) -> Dim:
    """A dimension of constant size, whose block holds all of it."""
    dim = dim_of(emitter, size)
    return emitter.dims.of_constant(int(size)) if dim.name is not None else dim


# -- Sorting


def _sorted(
    emitter: Emitter, name: str, input: Any, dim: Any, descending: Any
) -> tuple[Tile, Tile]:
    tile = check_tile(emitter, name, input)
    if tile.dtype in STORAGE_ONLY:
        emitter.fail(DTypeError, f"{name} is not defined for {tile.dtype}, as in torch")
    if not isinstance(descending, bool):
        emitter.fail(ArgumentError, f"{name}: descending is a constant bool")
    axis = check_axis(emitter, name, dim, len(tile.dims))
    if tile.dims[axis].name is None:
        return tile, indices_along(emitter, tile, axis)
    jagged.refuse(emitter, name, tile, axis)
    wide = in_signed_order(emitter, emitter.cast(tile, compute_dtype(tile.dtype)))
    made = emitter.module.create(
        "tile.sort",
        [wide.value, emitter.integers.value(tile.dims[axis].extent)],
        [wide.value.type, emitter.tile_type(tile.dims, torch.int64)],
        {"axis": axis, **({"descending": None} if descending else {})},
    )
    value = in_signed_order(emitter, Tile(made.results[0], tile.dims, wide.dtype))
    return emitter.cast(value, tile.dtype), Tile(made.results[1], tile.dims, torch.int64)


@operation("torch.sort", torch.sort, methods=("sort",))
def sort(
    emitter: Emitter, input: Any, dim: Any = -1, descending: Any = False, stable: Any = True
) -> tuple[Tile, Tile]:
    """Sorted values and where each was; always stable, NaN the largest."""
    return _sorted(emitter, "torch.sort", input, dim, descending)


@operation("torch.argsort", torch.argsort, methods=("argsort",))
def argsort(
    emitter: Emitter, input: Any, dim: Any = -1, descending: Any = False, stable: Any = True
) -> Tile:
    """Where each of the sorted values was; always stable, NaN the largest."""
    return _sorted(emitter, "torch.argsort", input, dim, descending)[1]


@operation("torch.topk", torch.topk, methods=("topk",))
def topk(
    emitter: Emitter, input: Any, k: Any, dim: Any = -1, largest: Any = True, sorted: Any = True
) -> tuple[Tile, Tile]:
    """The k largest (smallest) values, sorted, and where each was; of equal ones the first."""
    tile = check_tile(emitter, "torch.topk", input)
    axis = check_axis(emitter, "torch.topk", dim, len(tile.dims))
    size = tile.dims[axis].extent
    if not isinstance(k, int) or isinstance(k, bool) or k < 1:
        emitter.fail(ArgumentError, f"torch.topk: k is a positive constant, not {describe(k)}")
    known = in_this_call(size)
    if known is not None and k > known:
        emitter.fail(ShapeError, f"torch.topk: {k} of {known} elements")
    emitter.require_at_most(k, size, f"torch.topk of {k} elements")
    values, indices = _sorted(emitter, "torch.topk", tile, axis, largest)
    kept = (*tile.dims[:axis], _sized(emitter, k), *tile.dims[axis + 1 :])
    return _first(emitter, values, kept), _first(emitter, indices, kept)


def _places(emitter: Emitter, dims: Sequence[Dim]) -> list[Tile]:
    """For each dimension of a shape the index of each element along it, as i64."""
    shape = emitter.full(dims, 0, torch.int64)
    return [indices_along(emitter, shape, axis) for axis in range(len(dims))]


def _first(emitter: Emitter, tile: Tile, dims: Sequence[Dim]) -> Tile:
    return take(emitter, tile, _places(emitter, dims), dims)


# -- By index


def take(emitter: Emitter, source: Tile, indices: Sequence[Tile], dims: Sequence[Dim]) -> Tile:
    """The elements of a tile at indices, one tile of them for each dimension."""
    if not source.dims:
        return emitter.broadcast(source, dims)
    tiles = [emitter.broadcast(emitter.cast(i, torch.int64), dims) for i in indices]
    value = emitter.module.value(
        "tile.take",
        [source.value, *(tile.value for tile in tiles)],
        emitter.tile_type(dims, source.dtype),
    )
    return Tile(value, tuple(dims), source.dtype)


@operation("torch.gather", torch.gather, methods=("gather",))
def gather(emitter: Emitter, input: Any, dim: Any, index: Any) -> Tile:
    """The elements at indices along one dimension; other dimensions are those of the input."""
    tile, chosen = check_tile(emitter, "gather", input), check_tile(emitter, "gather", index)
    axis = check_axis(emitter, "gather", dim, len(tile.dims))
    if chosen.dtype not in (torch.int64, torch.int32):
        emitter.fail(DTypeError, f"gather: indices are i64 or i32, not {chosen.dtype}")
    if len(chosen.dims) != len(tile.dims) or not all(
        a.same(b) or at == axis
        for at, (a, b) in enumerate(zip(tile.dims, chosen.dims, strict=True))
    ):
        emitter.fail(
            ShapeError,
            f"gather along dimension {axis} of {tile.shape_text} by {chosen.shape_text}: the"
            " other dimensions differ",
            "make the indices with the input's other dimensions",
        )
    places = _places(emitter, chosen.dims)
    places[axis] = chosen
    return take(emitter, tile, places, chosen.dims)


@operation("torch.take_along_dim", torch.take_along_dim)
def take_along_dim(emitter: Emitter, input: Any, indices: Any, dim: Any) -> Tile:
    """The elements at indices along one dimension, such as those of argsort."""
    return gather(emitter, input, dim, indices)


def _flipped(emitter: Emitter, input: Any, dims: Any) -> Tile:
    tile = check_tile(emitter, "torch.flip", input)
    dims = dims if isinstance(dims, (tuple, list)) else [dims]
    axes = {check_axis(emitter, "torch.flip", dim, len(tile.dims)) for dim in dims}
    places = _places(emitter, tile.dims)
    for axis in axes:
        last = emitter.integers.sub(tile.dims[axis].extent, 1)
        places[axis] = sub(emitter, last, places[axis])
    return take(emitter, tile, places, tile.dims)


@operation("torch.flip", torch.flip)
def flip(emitter: Emitter, input: Any, dims: Any) -> Tile:
    """The elements in the opposite order along dimensions."""
    return _flipped(emitter, input, dims)


@operation("flip", methods=("flip",))
def flip_method(emitter: Emitter, input: Any, *dims: Any) -> Tile:
    """The elements in the opposite order along dimensions."""
    return _flipped(emitter, input, dims[0] if len(dims) == 1 else dims)


@operation("torch.roll", torch.roll, methods=("roll",))
def roll(emitter: Emitter, input: Any, shifts: Any, dims: Any) -> Tile:
    """The elements moved along a dimension, from its end to its beginning."""
    tile = check_tile(emitter, "torch.roll", input)
    axis = check_axis(emitter, "torch.roll", dims, len(tile.dims))
    places = _places(emitter, tile.dims)
    size = tile.dims[axis].extent
    places[axis] = remainder(emitter, sub(emitter, places[axis], shifts), size)
    return take(emitter, tile, places, tile.dims)


# -- Several tiles


def _same_dtype(emitter: Emitter, name: str, tensors: Any) -> list[Tile]:
    if not isinstance(tensors, (tuple, list)) or not tensors:
        emitter.fail(ArgumentError, f"{name} takes a list of tiles, not {describe(tensors)}")
    tiles = [check_tile(emitter, name, tile) for tile in tensors]
    common = emitter.promote(tiles)
    return [emitter.cast(tile, common) for tile in tiles]


def _constant_size(emitter: Emitter, name: str, dim: Dim) -> int:
    if not isinstance(dim.extent, int):
        emitter.require_constants(dim.extent)
        emitter.fail(
            ShapeError,
            f"{name}: the size of `{dim}` is known only at run time",
            "give its loop a block_size, a constant or one of wl.register_block_size"
            if dim.name in emitter.dims.blocks
            else "write wl.specialize(size) in host code",
        )
    return dim.extent


@operation("torch.cat", torch.cat, torch.concat, torch.concatenate)
def cat(emitter: Emitter, tensors: Any, dim: Any = 0) -> Tile:
    """Tiles one after the other along a dimension, whose sizes are constants."""
    tiles = _same_dtype(emitter, "torch.cat", tensors)
    if len({len(tile.dims) for tile in tiles}) > 1:
        shapes = " and ".join(tile.shape_text for tile in tiles)
        emitter.fail(
            ShapeError,
            f"torch.cat: {shapes} differ in their numbers of dimensions",
            "index with None to insert a dimension of size one, such as v[:, None]",
        )
    axis = check_axis(emitter, "torch.cat", dim, len(tiles[0].dims))
    sizes = [_constant_size(emitter, "torch.cat", tile.dims[axis]) for tile in tiles]
    dims = list(tiles[0].dims)
    for tile in tiles[1:]:
        if len(tile.dims) != len(dims) or not all(
            a.same(b) or at == axis for at, (a, b) in enumerate(zip(tile.dims, dims, strict=True))
        ):
            shapes = " and ".join(t.shape_text for t in tiles)
            emitter.fail(ShapeError, f"torch.cat: {shapes} differ in other dimensions than {axis}")
    dims[axis] = _sized(emitter, sum(sizes))
    places = _places(emitter, dims)
    start, result = 0, None
    for tile, size in zip(tiles, sizes, strict=True):
        moved = list(places)
        moved[axis] = sub(emitter, places[axis], start)
        moved[axis] = _limited(emitter, moved[axis], size)
        part = take(emitter, tile, moved, dims)
        if result is None:
            result = part
        else:
            result = where(emitter, _at_least(emitter, places[axis], start), part, result)
        start += size
    assert result is not None, "there is a tile"
    return result


def _limited(emitter: Emitter, index: Tile, size: int) -> Tile:
    """The index, kept below a size and from zero on."""
    return pointwise(
        emitter,
        "torch.clamp",
        Promotion.INTEGER,
        lambda a, i: a.minimum(a.maximum(i, a.constant(0)), a.constant(size - 1)),
        [index],
    )


def _at_least(emitter: Emitter, index: Tile, number: int) -> Tile:
    return pointwise(
        emitter, "torch.ge", Promotion.BOOL, lambda a, i, n: a.compare("ge", i, n), [index, number]
    )


@operation("torch.stack", torch.stack)
def stack(emitter: Emitter, tensors: Any, dim: Any = 0) -> Tile:
    """Tiles of one shape along a new dimension."""
    tiles = _same_dtype(emitter, "torch.stack", tensors)
    dims = emitter.common_dims(tiles)
    axis = check_axis(emitter, "torch.stack", dim, len(dims) + 1)
    if len(tiles) == 1:
        return emitter.expand_dims(tiles[0], axis)
    stacked = (*dims[:axis], _sized(emitter, len(tiles)), *dims[axis:])
    place = indices_along(emitter, emitter.full(stacked, 0, torch.int64), axis)
    result = None
    for number, tile in enumerate(tiles):
        part = emitter.broadcast(emitter.expand_dims(emitter.broadcast(tile, dims), axis), stacked)
        if result is None:
            result = part
        else:
            result = where(emitter, _at_least(emitter, place, number), part, result)
    assert result is not None, "there is a tile"
    return result


@operation("wl.join", language.join)
def join(emitter: Emitter, a: Any, b: Any) -> Tile:
    """Two tiles of one shape along a new last dimension of size two."""
    return stack(emitter, [a, b], -1)


def _part(emitter: Emitter, tile: Tile, axis: int, start: int, size: int) -> Tile:
    dims = (*tile.dims[:axis], _sized(emitter, size), *tile.dims[axis + 1 :])
    places = _places(emitter, dims)
    places[axis] = add(emitter, places[axis], start)
    return take(emitter, tile, places, dims)


def _element(emitter: Emitter, tile: Tile, axis: int, at: int) -> Tile:
    dims = (*tile.dims[:axis], *tile.dims[axis + 1 :])
    places = _places(emitter, dims)
    places.insert(axis, emitter.full(dims, at, torch.int64))
    return take(emitter, tile, places, dims)


@operation("wl.split", language.split)
def split_in_two(emitter: Emitter, input: Any) -> tuple[Tile, Tile]:
    """The two tiles of which the last dimension, of size two, is made: the reverse of wl.join."""
    tile = check_tile(emitter, "wl.split", input)
    if not tile.dims or tile.dims[-1].extent != 2:
        emitter.fail(
            ShapeError, f"wl.split needs a last dimension of size two, not {tile.shape_text}"
        )
    axis = len(tile.dims) - 1
    return _element(emitter, tile, axis, 0), _element(emitter, tile, axis, 1)


@operation("torch.unbind", torch.unbind, methods=("unbind",))
def unbind(emitter: Emitter, input: Any, dim: Any = 0) -> tuple[Tile, ...]:
    """The tiles of which a dimension of constant size is made."""
    tile = check_tile(emitter, "torch.unbind", input)
    axis = check_axis(emitter, "torch.unbind", dim, len(tile.dims))
    size = _constant_size(emitter, "torch.unbind", tile.dims[axis])
    return tuple(_element(emitter, tile, axis, at) for at in range(size))


@operation("torch.split", torch.split, methods=("split",))
def split(emitter: Emitter, input: Any, split_size_or_sections: Any, dim: Any = 0) -> Any:
    """Parts of a size, or of several sizes, along a dimension of constant size."""
    tile = check_tile(emitter, "torch.split", input)
    axis = check_axis(emitter, "torch.split", dim, len(tile.dims))
    size = _constant_size(emitter, "torch.split", tile.dims[axis])
    sections = split_size_or_sections
    if isinstance(sections, int):
        sections = [min(sections, size - at) for at in range(0, size, sections)]
    if not all(isinstance(s, int) and s > 0 for s in sections) or sum(sections) != size:
        emitter.fail(ShapeError, f"torch.split: {list(sections)} do not make up {size} elements")
    starts = [sum(sections[:i]) for i in range(len(sections))]
    return tuple(
        _part(emitter, tile, axis, start, part)
        for start, part in zip(starts, sections, strict=True)
    )


@operation("torch.chunk", torch.chunk, methods=("chunk",))
def chunk(emitter: Emitter, input: Any, chunks: Any, dim: Any = 0) -> Any:
    """At most so many parts of one size along a dimension of constant size."""
    tile = check_tile(emitter, "torch.chunk", input)
    axis = check_axis(emitter, "torch.chunk", dim, len(tile.dims))
    size = _constant_size(emitter, "torch.chunk", tile.dims[axis])
    return split(emitter, tile, -(-size // chunks), axis)


# -- Shapes


def _target_dims(emitter: Emitter, tile: Tile, shape: Sequence[Any]) -> list[Dim]:
    """The dimensions of a shape, of which one may be -1: what is left."""
    dims: list[Dim | None] = []
    for size in shape:
        if isinstance(size, int) and size == -1:
            dims.append(None)
        elif isinstance(size, (RuntimeInteger, TileIndex, BlockSize)):
            dims.append(dim_of(emitter, size))
        else:
            dims.append(_sized(emitter, size))
    left = [dim for dim in tile.dims if dim.name is not None]
    count = 1
    for dim in dims:
        match = next((d for d in left if dim is not None and d.same(dim)), None)
        if match is not None:
            left.remove(match)
        elif dim is not None:
            count *= _constant_size(emitter, "reshape", dim)
    if dims.count(None) > 1:
        emitter.fail(ArgumentError, "reshape: only one size may be -1")
    known = math.prod(dim.extent for dim in left if isinstance(dim.extent, int))
    unknown = [dim for dim in left if not isinstance(dim.extent, int)]
    if None in dims and len(unknown) == 1 and known == count:
        rest = unknown[0]
    else:
        size = 1
        for dim in left:
            size *= _constant_size(emitter, "reshape", dim)
        if size % count or (None not in dims and size != count):
            emitter.fail(
                ShapeError,
                f"reshape of {tile.shape_text} to {len(dims)} dimensions: {size} elements do not"
                f" make {count}",
            )
        rest = _sized(emitter, size // count)
    return [rest if dim is None else dim for dim in dims]


def _with_whole_blocks(emitter: Emitter, tile: Tile, shape: Sequence[Any]) -> Tile:
    """A tile whose blocks have their block size as a constant, but for dimensions of `shape`.

    The last block of a loop may be smaller: what it lacks is 0.
    """
    symbolic = (RuntimeInteger, TileIndex, BlockSize)
    kept = [dim_of(emitter, size) for size in shape if isinstance(size, symbolic)]
    for axis, dim in enumerate(tile.dims):
        block = emitter.dims.block_of(dim)
        if block is None or isinstance(dim.extent, int) or any(map(dim.same, kept)):
            continue
        whole = replace(dim, extent=block, whole=True)
        dims = (*tile.dims[:axis], whole, *tile.dims[axis + 1 :])
        exists = emitter.broadcast(
            _below(emitter, indices_along(emitter, tile, axis), dim.extent), tile.dims
        )
        select = emitter.arithmetic(tile.dims, tile.dtype).select
        zeros = emitter.zero_bits(tile.dims, tile.dtype)
        tile = Tile(select(exists.value, tile.value, zeros.value), dims, tile.dtype)
    return tile


def _below(emitter: Emitter, index: Tile, size: Integer) -> Tile:
    return pointwise(
        emitter, "torch.lt", Promotion.BOOL, lambda a, i, n: a.compare("lt", i, n), [index, size]
    )


def reshape_tile(emitter: Emitter, tile: Tile, shape: Sequence[Any]) -> Tile:
    """The elements in row-major order in another shape."""
    if not any(isinstance(size, int) and size == -1 for size in shape):
        tile = _with_whole_blocks(emitter, tile, shape)
    dims = _target_dims(emitter, tile, shape)
    named = [dim for dim in dims if dim.name is not None]
    own = [dim for dim in tile.dims if dim.name is not None]
    if len(named) == len(own) and all(a.same(b) for a, b in zip(named, own, strict=True)):
        for axis in reversed(range(len(tile.dims))):
            if tile.dims[axis].name is None:
                tile = emitter.squeeze_dims(tile, axis)
        for axis, dim in enumerate(dims):
            if dim.name is None:
                tile = emitter.expand_dims(tile, axis)
        return tile
    # Dimensions that both shapes begin or end with stay as they are.
    first = _common(tile.dims, dims)
    last = _common(tile.dims[first:][::-1], dims[first:][::-1])
    given = _places(emitter, dims)
    # The number of each element in row-major order, taken apart by the source's sizes.
    number = emitter.full(dims, 0, torch.int64)
    for axis in range(first, len(dims) - last):
        number = add(emitter, mul(emitter, number, dims[axis].extent), given[axis])
    middle = tile.dims[first : len(tile.dims) - last]
    places: list[Tile] = []
    for axis, dim in reversed(list(enumerate(middle))):
        outermost = not any(d.name for d in middle[:axis])
        places.insert(0, number if outermost else remainder(emitter, number, dim.extent))
        if not outermost:
            number = div(emitter, number, dim.extent, rounding_mode="trunc")
        else:
            number = emitter.full(dims, 0, torch.int64)
    return take(emitter, tile, [*given[:first], *places, *given[len(dims) - last :]], dims)


def _common(a: Sequence[Dim], b: Sequence[Dim]) -> int:
    """How many dimensions both begin with."""
    pairs = zip(a, b, strict=False)
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0].same(pair[1]), pairs))


@operation("torch.reshape", torch.reshape)
def reshape(emitter: Emitter, input: Any, shape: Any) -> Tile:
    """The elements in row-major order in another shape."""
    return reshape_tile(emitter, check_tile(emitter, "torch.reshape", input), shape)


@operation("reshape", methods=("reshape", "view"))
def reshape_method(emitter: Emitter, input: Any, *shape: Any) -> Tile:
    """The elements in row-major order in another shape."""
    sizes = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
    return reshape_tile(emitter, check_tile(emitter, "reshape", input), sizes)


@operation("torch.flatten", torch.flatten, methods=("flatten",))
def flatten(emitter: Emitter, input: Any, start_dim: Any = 0, end_dim: Any = -1) -> Tile:
    """Several dimensions as one."""
    tile = check_tile(emitter, "torch.flatten", input)
    rank = len(tile.dims)
    first = check_axis(emitter, "torch.flatten", start_dim, rank)
    last = check_axis(emitter, "torch.flatten", end_dim, rank)
    sizes: list[Any] = [dim.extent for dim in tile.dims]
    return reshape_tile(emitter, tile, [*sizes[:first], -1, *sizes[last + 1 :]])


@operation("expand", methods=("expand", "broadcast_to"))
def expand(emitter: Emitter, input: Any, *sizes: Any) -> Tile:
    """Repeats along dimensions of size one; -1 keeps a size."""
    tile = check_tile(emitter, "expand", input)
    if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)):
        sizes = tuple(sizes[0])
    missing = len(sizes) - len(tile.dims)
    if missing < 0:
        emitter.fail(ShapeError, f"expand: {len(sizes)} sizes for {tile.shape_text}")
    own = (*(UNIT,) * missing, *tile.dims)
    dims = [
        dim if isinstance(size, int) and size in (-1, 1) else dim_of(emitter, size)
        for size, dim in zip(sizes, own, strict=True)
    ]
    for dim, wanted in zip(own, dims, strict=True):
        if dim.name is not None and not dim.same(wanted):
            emitter.fail(ShapeError, f"expand: `{dim}` of {tile.shape_text} is not of size one")
    return emitter.broadcast(tile, dims)


@operation("expand_as", methods=("expand_as",))
def expand_as(emitter: Emitter, input: Any, other: Any) -> Tile:
    """Repeats along dimensions of size one, to the shape of another tile."""
    tile, shape = check_tile(emitter, "expand_as", input), check_tile(emitter, "expand_as", other)
    return emitter.broadcast(tile, shape.dims)
