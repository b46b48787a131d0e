# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The atomics of `wavetile.language`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from wavetile.device_functions import device_function, outside


@device_function
def atomic_add(
    tensor: torch.Tensor,
    index: Sequence[Any],
    value: torch.Tensor | float,
    sem: str = "relaxed",
    scope: str = "device",
    extra_mask: torch.Tensor | None = None,
) -> torch.Tensor:
    """Adds to elements of a tensor that other blocks may change at the same time.

    Args:
        tensor: a tensor in memory
        index: a list of indices as in `tensor[...]`; each element that it names is changed, one
            that it names twice twice
        value: a tile that broadcasts to that place, or a number; converted to the tensor's dtype
        sem: "relaxed", "acquire", "release" or "acq_rel": how other accesses are ordered with it
        scope: who takes part in that order: "block" ("cta"), "device" ("gpu"), "system" ("sys")
        extra_mask: a tile of bool that broadcasts to that place; elements where it does not hold
            are left alone

    Returns:
        the elements as they were, in the tensor's dtype; 0 for those left alone or outside

    Raises:
        DTypeError: the dtype has no such atomic
        ArgumentError: an order or a scope that does not exist

    Example:
        wl.atomic_add(counts, [labels[rows]], 1)
    """
    raise outside("atomic_add")


@device_function
def atomic_max(
    tensor: torch.Tensor,
    index: Sequence[Any],
    value: torch.Tensor | float,
    sem: str = "relaxed",
    scope: str = "device",
    extra_mask: torch.Tensor | None = None,
) -> torch.Tensor:
    """Puts the larger of element and value there: NaN if either is NaN.

    Args:
        tensor: a tensor in memory of integers or floats
        index: a list of indices as in `tensor[...]`
        value: a tile that broadcasts to that place, or a number; converted to the tensor's dtype
        sem, scope, extra_mask: as for `atomic_add`

    Returns:
        the elements as they were, in the place's shape and the tensor's dtype; 0 for those left
        alone or outside

    Raises:
        DTypeError: the dtype has no such atomic
        ShapeError: the value or the mask does not broadcast to that place
        ArgumentError: an order or a scope that does not exist

    Example:
        wl.atomic_max(highest, [labels[rows]], v)
    """
    raise outside("atomic_max")


@device_function
def atomic_min(
    tensor: torch.Tensor,
    index: Sequence[Any],
    value: torch.Tensor | float,
    sem: str = "relaxed",
    scope: str = "device",
    extra_mask: torch.Tensor | None = None,
) -> torch.Tensor:
    """Puts the smaller of element and value there: NaN if either is NaN.

    Args:
        tensor: a tensor in memory of integers or floats
        index: a list of indices as in `tensor[...]`
        value: a tile that broadcasts to that place, or a number; converted to the tensor's dtype
        sem, scope, extra_mask: as for `atomic_add`

    Returns:
        the elements as they were, in the place's shape and the tensor's dtype; 0 for those left
        alone or outside

    Raises:
        DTypeError: the dtype has no such atomic
        ShapeError: the value or the mask does not broadcast to that place
        ArgumentError: an order or a scope that does not exist

    Example:
        wl.atomic_min(lowest, [labels[rows]], v)
    """
    raise outside("atomic_min")


@device_function
def atomic_and(
    tensor: torch.Tensor,
    index: Sequence[Any],
    value: torch.Tensor | int,
    sem: str = "relaxed",
    scope: str = "device",
    extra_mask: torch.Tensor | None = None,
) -> torch.Tensor:
    """Puts the bitwise and of element and value there.

    Args:
        tensor: a tensor in memory of bool or integers
        index: a list of indices as in `tensor[...]`
        value: a tile that broadcasts to that place, or a number; converted to the tensor's dtype
        sem, scope, extra_mask: as for `atomic_add`

    Returns:
        the elements as they were, in the place's shape and the tensor's dtype; 0 for those left
        alone or outside

    Raises:
        DTypeError: the dtype has no such atomic
        ShapeError: the value or the mask does not broadcast to that place
        ArgumentError: an order or a scope that does not exist

    Example:
        wl.atomic_and(flags, [rows], ~1)
    """
    raise outside("atomic_and")


@device_function
def atomic_or(
    tensor: torch.Tensor,
    index: Sequence[Any],
    value: torch.Tensor | int,
    sem: str = "relaxed",
    scope: str = "device",
    extra_mask: torch.Tensor | None = None,
) -> torch.Tensor:
    """Puts the bitwise or of element and value there.

    Args:
        tensor: a tensor in memory of bool or integers
        index: a list of indices as in `tensor[...]`
        value: a tile that broadcasts to that place, or a number; converted to the tensor's dtype
        sem, scope, extra_mask: as for `atomic_add`

    Returns:
        the elements as they were, in the place's shape and the tensor's dtype; 0 for those left
        alone or outside

    Raises:
        DTypeError: the dtype has no such atomic
        ShapeError: the value or the mask does not broadcast to that place
        ArgumentError: an order or a scope that does not exist

    Example:
        wl.atomic_or(flags, [labels[rows]], 1)
    """
    raise outside("atomic_or")


@device_function
def atomic_xor(
    tensor: torch.Tensor,
    index: Sequence[Any],
    value: torch.Tensor | int,
    sem: str = "relaxed",
    scope: str = "device",
    extra_mask: torch.Tensor | None = None,
) -> torch.Tensor:
    """Puts the bitwise exclusive or of element and value there.

    Args:
        tensor: a tensor in memory of bool or integers
        index: a list of indices as in `tensor[...]`
        value: a tile that broadcasts to that place, or a number; converted to the tensor's dtype
        sem, scope, extra_mask: as for `atomic_add`

    Returns:
        the elements as they were, in the place's shape and the tensor's dtype; 0 for those left
        alone or outside

    Raises:
        DTypeError: the dtype has no such atomic
        ShapeError: the value or the mask does not broadcast to that place
        ArgumentError: an order or a scope that does not exist

    Example:
        wl.atomic_xor(parity, [labels[rows]], 1)
    """
    raise outside("atomic_xor")


@device_function
def atomic_xchg(
    tensor: torch.Tensor,
    index: Sequence[Any],
    value: torch.Tensor | float,
    sem: str = "relaxed",
    scope: str = "device",
    extra_mask: torch.Tensor | None = None,
) -> torch.Tensor:
    """Puts the value there.

    Args:
        tensor: a tensor in memory of integers or floats
        index: a list of indices as in `tensor[...]`
        value: a tile that broadcasts to that place, or a number; converted to the tensor's dtype
        sem, scope, extra_mask: as for `atomic_add`

    Returns:
        the elements as they were, in the place's shape and the tensor's dtype; 0 for those left
        alone or outside

    Raises:
        DTypeError: the dtype has no such atomic
        ShapeError: the value or the mask does not broadcast to that place
        ArgumentError: an order or a scope that does not exist

    Example:
        before = wl.atomic_xchg(owner, [labels[rows]], rows.id)
    """
    raise outside("atomic_xchg")


@device_function
def atomic_cas(
    tensor: torch.Tensor,
    index: Sequence[Any],
    expected: torch.Tensor | float,
    value: torch.Tensor | float,
    sem: str = "relaxed",
    scope: str = "device",
    extra_mask: torch.Tensor | None = None,
) -> torch.Tensor:
    """Puts the value where the element has the bits of `expected`.

    Args:
        tensor: a tensor in memory of integers or floats
        index: a list of indices as in `tensor[...]`
        expected, value: tiles that broadcast to that place, or numbers; converted to the tensor's
            dtype
        sem, scope, extra_mask: as for `atomic_add`

    Returns:
        the elements as they were, in the place's shape and the tensor's dtype: those equal to
        `expected` were replaced

    Raises:
        DTypeError: the dtype has no such atomic
        ShapeError: the values or the mask do not broadcast to that place
        ArgumentError: an order or a scope that does not exist

    Example:
        first = wl.atomic_cas(owner, [rows.id], -1, rows.begin) == -1
    """
    raise outside("atomic_cas")
