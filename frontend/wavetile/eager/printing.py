# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`wl.device_print` when a kernel runs as Python."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import torch

from wavetile.eager.tiles import EagerTile

#: Decimal digits that tell numbers apart.
_DIGITS = {torch.float64: 17, torch.float32: 9, torch.float16: 5, torch.bfloat16: 4}


def _text(value: torch.Tensor) -> str:
    if not value.dtype.is_floating_point:
        return str(int(value))
    digits = _DIGITS.get(value.dtype, 2 if "e5m2" in str(value.dtype) else 3)
    return f"{float(value):.{digits}g}"


def lines(prefix: str, values: Sequence[Any]) -> Iterator[str]:
    """A line for each element that the values broadcast to."""
    if not values:
        yield prefix
        return
    tiles = torch.broadcast_tensors(*(_tensor(value) for value in values))
    for place in itertools.product(*map(range, tiles[0].shape)):
        where = f" [{', '.join(map(str, place))}]" if place else ""
        yield f"{prefix}{where}: {', '.join(_text(tile[place]) for tile in tiles)}"


def _tensor(value: Any) -> torch.Tensor:
    if isinstance(value, EagerTile):
        return value.index
    dtype = torch.float64 if isinstance(value, float) else None
    return value if isinstance(value, torch.Tensor) else torch.as_tensor(value, dtype=dtype)
