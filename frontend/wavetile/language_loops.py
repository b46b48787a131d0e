# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The loops of `wavetile.language`, and the variable of a loop over blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias, overload

import torch

from wavetile.device_functions import device_function, outside

#: A bound of a loop: an int, or a tile of integers without dimensions.
Bound: TypeAlias = int | torch.Tensor


class Tile:
    """The index of a `wl.tile` loop: a block of consecutive indices.

    Used as an index it selects those elements: `x[rows]`, `x[rows + 1]`. Exists in device code
    only.

    Example:
        for rows in wl.tile(m):
            out[rows] = x[rows + 1] * (rows.index < m - 1)

    Attributes:
        index: the indices, an i64 tile of one dimension
        begin: the first index, an int
        end: one past the last index, an int
        block_size: the block size, an int; the last block may hold fewer elements
        id: the number of the block, an int
        count: the number of blocks of the loop, an int
    """

    index: torch.Tensor
    begin: int
    end: int
    block_size: int
    id: int
    count: int

    def __index__(self) -> int:
        raise outside("Tile")  # to a type checker an index, and a size in a shape

    def __add__(self, offset: int) -> Tile:
        raise outside("Tile")

    def __sub__(self, offset: int) -> Tile:
        raise outside("Tile")


@overload
def tile(
    begin_or_end: Bound, end: Bound | None = None, block_size: int | None = None
) -> Iterator[Tile]: ...


@overload
def tile(
    begin_or_end: Sequence[Bound],
    end: Sequence[Bound] | None = None,
    block_size: int | Sequence[int | None] | None = None,
) -> Iterator[tuple[Tile, ...]]: ...


@device_function
def tile(
    begin_or_end: Bound | Sequence[Bound],
    end: Bound | Sequence[Bound] | None = None,
    block_size: int | Sequence[int | None] | None = None,
) -> Iterator[Any]:
    """Loops over blocks of one or more dimensions.

    A loop in the body of a kernel is device code whose blocks run in parallel; a loop inside it
    runs block by block, in order.

    Args:
        begin_or_end: the number of indices, or the first one if `end` is given; lists of ints
            for several dimensions
        end: one past the last index
        block_size: the number of indices in a block, one for each dimension. Without it the
            Config decides.

    Yields:
        a `Tile` for one dimension, a tuple of them for several.

    Raises:
        OutsideKernelError: outside a kernel
        ArgumentError: at compile time, for bounds that are not integers

    Example:
        for rows, cols in wl.tile([m, n]):
            out[rows, cols] = x[rows, cols] * 2
    """
    raise outside("tile")


@overload
def grid(
    begin_or_end: Bound, end: Bound | None = None, step: int | None = None
) -> Iterator[int]: ...


@overload
def grid(
    begin_or_end: Sequence[Bound],
    end: Sequence[Bound] | None = None,
    step: int | Sequence[int] | None = None,
) -> Iterator[tuple[int, ...]]: ...


@device_function
def grid(
    begin_or_end: Bound | Sequence[Bound],
    end: Bound | Sequence[Bound] | None = None,
    step: int | Sequence[int] | None = None,
) -> Iterator[Any]:
    """Loops over single indices of one or more dimensions.

    Like `tile` with blocks of one index, but the variables are ints and give no dimension.

    Args:
        begin_or_end: the number of indices, or the first one if `end` is given; lists of ints
            for several dimensions
        end: one past the last index
        step: the distance between indices

    Yields:
        an int for one dimension, a tuple of them for several.

    Raises:
        OutsideKernelError: outside a kernel
        ArgumentError: at compile time, for bounds that are not integers

    Example:
        for batch in wl.grid(x.size(0)):
            for rows in wl.tile(x.size(1)):
                out[batch, rows] = x[batch, rows] * 2
    """
    raise outside("grid")


@device_function
def jagged_tile(parent: torch.Tensor) -> Iterator[Tile]:
    """Loops over blocks of a dimension that ends at another index in each row.

    Blocks go up to the end of the longest row. Loads give 0 for elements that a row does not have,
    stores leave them out, and so do sums, products, maxima, minima and matrix products.

    Args:
        parent: a tile of integers whose dimensions are those of loops around: the end of each row

    Yields:
        a `Tile` for each block.

    Raises:
        ArgumentError: it is something else, or the loop is a top-level one
        ShapeError: something sorts, scans or averages along it

    Example:
        for rows in wl.tile(lengths.size(0)):
            for k in wl.jagged_tile(lengths[rows]):
                total += x[rows, k].sum(-1)
    """
    raise outside("jagged_tile")


@device_function
def static_range(begin_or_end: int, end: int | None = None, step: int = 1) -> Iterator[int]:
    """`range` over constants, unrolled at compile time.

    Args:
        begin_or_end: the number of steps, or the first number if `end` is given
        end: one past the last number
        step: the distance between numbers

    Yields:
        ints, constants of device code.

    Raises:
        ArgumentError: at compile time, for what is no constant int

    Example:
        for i in wl.static_range(4):
            total += x[rows, i]
    """
    raise outside("static_range")
