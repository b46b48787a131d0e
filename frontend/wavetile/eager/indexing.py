# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loads and stores of the language on torch tensors: beyond a tensor loads give 0, stores end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from wavetile.eager.tiles import EagerTile, loop_of


@dataclass(frozen=True)
class Place:
    """An index as torch takes it, into a tensor with elements of 0 added at both ends.

    Attributes:
        index: the index
        margins: for each dimension how many elements are added before and after it
    """

    index: tuple[Any, ...]
    margins: tuple[tuple[int, int], ...]

    @property
    def is_inside(self) -> bool:
        """Whether the index stays inside the tensor."""
        return not any(before or after for before, after in self.margins)

    def with_margins(self, tensor: torch.Tensor) -> torch.Tensor:
        """A copy of the tensor with the margins."""
        sizes = [
            before + size + after
            for size, (before, after) in zip(tensor.shape, self.margins, strict=True)
        ]
        padded = torch.zeros(sizes, dtype=tensor.dtype, device=tensor.device)
        padded[self.core(tensor)].copy_(tensor)
        return padded

    def core(self, tensor: torch.Tensor) -> tuple[slice, ...]:
        """Where the tensor lies in the copy with margins."""
        return tuple(
            slice(before, before + size)
            for size, (before, _) in zip(tensor.shape, self.margins, strict=True)
        )


def _is_mask(entry: Any) -> bool:
    return isinstance(entry, torch.Tensor) and entry.dtype in (torch.bool, torch.uint8)


def _rank(entry: Any) -> int:
    """How many dimensions of a tensor an index is of."""
    return entry.dim() if _is_mask(entry) else 1


def _entries(index: Any, rank: int) -> list[Any]:
    entries = list(index) if isinstance(index, (tuple, list)) else [index]
    used = sum(_rank(entry) for entry in entries if entry is not None and entry is not ...)
    rest = [slice(None)] * (rank - used)
    for at, entry in enumerate(entries):
        if entry is ...:
            return [*entries[:at], *rest, *entries[at + 1 :]]
    return [*entries, *rest]


def _resolve(entry: Any, size: int) -> tuple[Any, tuple[int, int]]:
    """One index of a dimension, and the margins that it needs."""
    match entry:
        case EagerTile():
            begin = entry.begin + entry.offset
            end = entry.end + entry.offset
            before = max(0, -begin)
            return slice(begin + before, end + before), (before, max(0, end - size))
        case bool():
            return entry, (0, 0)
        case int() if entry >= size:
            return size, (0, 1)
        case int() if entry < -size:
            return 0, (1, 0)
        case torch.Tensor() if not _is_mask(entry):
            outside = (entry < 0) | (entry >= size)
            if bool(outside.any()):
                return torch.where(outside, size, entry.long()), (0, 1)
            return entry.long(), (0, 0)
    return entry, (0, 0)


def resolve(tensor: torch.Tensor, index: Any) -> Place:
    """What `tensor[index]` means for a tensor in memory."""
    resolved: list[Any] = []
    margins: list[tuple[int, int]] = []
    entries = _entries(index, tensor.dim())
    for entry in entries:
        if entry is None:
            resolved.append(None)
            continue
        position = len(margins)
        size = tensor.shape[position] if position < tensor.dim() else 0
        where, margin = _resolve(entry, size)
        resolved.append(where)
        margins += [margin] * _rank(entry)
    return Place(_separate_loops(entries, resolved), tuple(margins))


def _separate_loops(entries: list[Any], resolved: list[Any]) -> tuple[Any, ...]:
    """Makes `x[i, j]` of tiles along different loops `x[i[:, None], j[None, :]]`."""
    tensors = {at: e for at, e in enumerate(entries) if isinstance(e, torch.Tensor) and e.dim()}
    places = [at for at, entry in tensors.items() if not _is_mask(entry)]
    loops = {loop_of(entries[at]) for at in places}
    if not len(places) == len(loops - {None}) > 1:
        return tuple(resolved)
    for axis, at in enumerate(places):
        shape = [1] * len(places)
        shape[axis] = -1
        resolved[at] = resolved[at].reshape(shape)
    return tuple(resolved)


def load(tensor: torch.Tensor, index: Any) -> torch.Tensor:
    """The tile at a place of a tensor: a copy, 0 where the place leaves the tensor."""
    place = resolve(tensor, index)
    if place.is_inside:
        return tensor[place.index].clone()
    return place.with_margins(tensor)[place.index]


def store(tensor: torch.Tensor, index: Any, value: Any) -> None:
    """Writes what lies inside the tensor."""
    place = resolve(tensor, index)
    if place.is_inside:
        tensor[place.index] = value
        return
    padded = place.with_margins(tensor)
    padded[place.index] = value
    tensor.copy_(padded[place.core(tensor)])


def load_of_tile(tile: torch.Tensor, index: Any) -> torch.Tensor:
    """`tile[index]` for a value: a loop variable stands for the whole dimension."""
    entries = _entries(index, tile.dim())
    return tile[tuple(slice(None) if isinstance(entry, EagerTile) else entry for entry in entries)]
