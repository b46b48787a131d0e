# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Blocks of loops in Python: which kernels go row by row, and blocks shorter than their size."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch

from wavetile.eager.tiles import EagerTile
from wavetile.language import BlockSize
from wavetile.syntax.regions import code_names

#: Functions of torch whose operands are sizes.
_SHAPES = frozenset(
    {
        *("zeros", "ones", "empty", "full", "arange"),
        *("new_zeros", "new_ones", "new_empty", "new_full"),
        *("view", "reshape", "expand", "broadcast_to"),
    }
)


def _functions(function: types.FunctionType) -> Iterator[types.FunctionType]:
    """A function, and those that it names."""
    seen = {function}
    waiting = [function]
    while waiting:
        current = waiting.pop()
        yield current
        cells = [cell.cell_contents for cell in current.__closure__ or () if _is_set(cell)]
        named = [current.__globals__.get(name) for name in code_names(current.__code__)]
        for other in (*cells, *named):
            if isinstance(other, types.FunctionType) and other not in seen:
                seen.add(other)
                waiting.append(other)


def _is_set(cell: types.CellType) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:  # of a variable that has no value yet
        return False


def has_jagged_tiles(function: types.FunctionType) -> bool:
    """Whether a kernel, or a function that it names, has a `wl.jagged_tile`.

    Rows of several lengths have no whole tensor, so that such a kernel takes them one by one.
    """
    return any("jagged_tile" in code_names(one.__code__) for one in _functions(function))


def size_in(tiles: Sequence[EagerTile], size: Any) -> int:
    """What a size in a shape stands for: a registered one for a block of its innermost loop."""
    if isinstance(size, BlockSize):
        for tile in reversed(tiles):
            if isinstance(tile.block_size, BlockSize) and tile.block_size == size:
                return len(tile)
    return size.__index__()


def with_sizes(tiles: Sequence[EagerTile], func: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments of a function of torch with numbers for registered block sizes in shapes."""
    takes_sizes = getattr(func, "__name__", "") in _SHAPES

    def resolved(argument: Any) -> Any:
        match argument:
            case list() | tuple() if any(isinstance(size, BlockSize) for size in argument):
                return [resolved(size) for size in argument]
            case BlockSize():
                return size_in(tiles, argument)
        return argument

    return tuple(
        resolved(argument) if takes_sizes or not isinstance(argument, BlockSize) else argument
        for argument in args
    )


def over_short_blocks(
    tiles: Sequence[EagerTile], func: Callable[..., Any], args: tuple[Any, ...], kwargs: Any
) -> Any:
    """Calls a function on a tile of a whole block size and on one of a block that is shorter.

    A tile that was made before the loop of its registered block size has all its elements; the
    last block of the loop may have fewer. The others are as they were.
    """
    short = {
        (int(tile.block_size), len(tile))
        for tile in tiles
        if isinstance(tile.block_size, BlockSize) and len(tile) < tile.block_size
    }
    operands = [argument for argument in args if isinstance(argument, torch.Tensor)]
    if not short or len(operands) < 2:
        return func(*args, **kwargs)
    lengths: dict[int, int] = {}
    for axis in range(-max(operand.dim() for operand in operands), 0):
        sizes = {operand.size(axis) for operand in operands if operand.dim() >= -axis} - {1}
        if len(sizes) == 2 and (max(sizes), min(sizes)) in short:
            lengths[axis] = min(sizes)
    if not lengths:
        return func(*args, **kwargs)

    def narrowed(argument: Any) -> Any:
        if not isinstance(argument, torch.Tensor):
            return argument
        for axis, length in lengths.items():
            if argument.dim() >= -axis and argument.size(axis) > length:
                argument = argument.narrow(axis, 0, length)
        return argument

    result = func(*map(narrowed, args), **kwargs)
    for operand in operands:
        part = narrowed(operand)
        if part is not operand and part.shape == result.shape:
            whole = operand.to(result.dtype, copy=True)
            narrowed(whole).copy_(result)
            return whole
    return result
