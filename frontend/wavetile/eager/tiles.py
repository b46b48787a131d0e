# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The variable of a `wl.tile` loop, with numbers in it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import torch

from wavetile.language import Tile

#: The attribute of a tensor that says along what loop its only dimension runs.
_LOOP = "_wavetile_loop"


def along(tensor: torch.Tensor, loop: object) -> torch.Tensor:
    """Says along what loop the only dimension of a tensor runs; None if nobody knows."""
    if tensor.dim() == 1 and loop is not None:
        setattr(tensor, _LOOP, loop)
    return tensor


def loop_of(value: object) -> object:
    """The loop along which a tile index or a tensor of one dimension runs, or None."""
    if isinstance(value, EagerTile):
        return value.dim
    if isinstance(value, torch.Tensor) and value.dim() == 1:
        return getattr(value, _LOOP, None)
    return None


def common_loop(values: Iterable[object]) -> object:
    """The only loop along which any of these runs, or None."""
    loops = {loop_of(value) for value in values} - {None}
    return loops.pop() if len(loops) == 1 else None


@dataclass(frozen=True)
class EagerTile(Tile):
    """Indices from `begin` up to `end` of a loop in blocks of `block_size`.

    Attributes:
        begin, end, block_size, id, count: see `wl.Tile`
        upper: the end of its loop
        offset: what was added to the variable, as in `x[rows + 1]`
        dim: is the same for the variables of one dimension of one loop
    """

    begin: int
    end: int
    block_size: int
    id: int
    count: int
    upper: int
    offset: int = 0
    dim: object = field(default_factory=object)

    @property
    def index(self) -> torch.Tensor:  # type: ignore[override]
        """The indices, an i64 tensor of one dimension."""
        indices = torch.arange(self.begin + self.offset, self.end + self.offset)
        return along(indices, self.dim)

    def __len__(self) -> int:
        return self.end - self.begin

    def __index__(self) -> int:
        """The number of elements: a tile in a shape stands for it."""
        return len(self)

    def __add__(self, offset: int) -> EagerTile:
        return replace(self, offset=self.offset + int(offset))

    def __sub__(self, offset: int) -> EagerTile:
        return self + -offset

    __radd__ = __add__
