# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The variable of a `wl.tile` loop, with numbers in it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch

from wavetile.language import Tile


@dataclass(frozen=True)
class EagerTile(Tile):
    """Indices from `begin` up to `end` of a loop in blocks of `block_size`.

    Attributes:
        begin, end, block_size, id, count: see `wl.Tile`
        upper: the end of its loop
        offset: what was added to the variable, as in `x[rows + 1]`
    """

    begin: int
    end: int
    block_size: int
    id: int
    count: int
    upper: int
    offset: int = 0

    @property
    def index(self) -> torch.Tensor:  # type: ignore[override]
        """The indices, an i64 tensor of one dimension."""
        return torch.arange(self.begin + self.offset, self.end + self.offset)

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
