# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The random numbers of `wavetile.language`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from wavetile.device_functions import device_function, outside


@device_function
def rand(shape: Sequence[Any], seed: int) -> torch.Tensor:
    """Random f32, uniform from 0 up to 1, by Philox 4x32-10.

    The numbers depend on the seed and on the indices in the whole loops, not on block sizes.
    Philox is that of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3"
    (SC11).

    Args:
        shape: for each dimension a `Tile`, for as many elements as it has, or an int
        seed: an int, or a tile of i64 without dimensions

    Returns:
        an f32 tile of that shape

    Raises:
        ArgumentError: the seed is something else

    Example:
        keep = wl.rand([rows, cols], seed) > 0.1
    """
    raise outside("rand")


@device_function
def randn(shape: Sequence[Any], seed: int) -> torch.Tensor:
    """Random f32, normal with mean 0 and deviation 1, from the numbers of `rand`.

    Two uniform numbers make one, as Box and Muller do ("A Note on the Generation of Random Normal
    Deviates", 1958).

    Args:
        shape: for each dimension a `Tile`, for as many elements as it has, or an int
        seed: an int, or a tile of i64 without dimensions

    Returns:
        an f32 tile of that shape

    Raises:
        ArgumentError: the seed is something else

    Example:
        noise = wl.randn([rows, cols], seed)
    """
    raise outside("randn")


@device_function
def randint(shape: Sequence[Any], low: int, high: int, seed: int) -> torch.Tensor:
    """Random i32 from `low` up to `high`, which is not among them; by Philox as `rand`.

    Args:
        shape: for each dimension a `Tile`, for as many elements as it has, or an int
        low, high: ints
        seed: an int, or a tile of i64 without dimensions

    Returns:
        an i32 tile of that shape

    Raises:
        ArgumentError: an argument is something else

    Example:
        die = wl.randint([rows], 1, 7, seed)
    """
    raise outside("randint")
