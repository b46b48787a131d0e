# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`wl.load`, `wl.store` and atomics when a kernel runs as Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from wavetile.eager import indexing


def load(tensor: torch.Tensor, index: Any, extra_mask: torch.Tensor | None) -> torch.Tensor:
    """`tensor[index]` where the mask holds, else 0."""
    value = indexing.load(tensor, index)
    if extra_mask is None:
        return value
    return torch.where(extra_mask, value, torch.zeros((), dtype=value.dtype, device=value.device))


def _numbers(tensor: torch.Tensor, index: Any, extra_mask: torch.Tensor | None) -> torch.Tensor:
    """For each element of the place its number in the tensor; -1 for those left out."""
    all_numbers = torch.arange(1, tensor.numel() + 1, device=tensor.device).view(tensor.shape)
    return load(all_numbers, index, extra_mask) - 1


def store(
    tensor: torch.Tensor, index: Any, value: Any, extra_mask: torch.Tensor | None = None
) -> None:
    """`tensor[index] = value` where the mask holds."""
    if extra_mask is None:
        return indexing.store(tensor, index, value)
    numbers = _numbers(tensor, index, extra_mask)
    values = torch.as_tensor(value, device=tensor.device).to(tensor.dtype).expand(numbers.shape)
    taken = numbers >= 0
    flat = tensor.reshape(-1).clone()
    flat[numbers[taken]] = values[taken]
    tensor.copy_(flat.view(tensor.shape))
    return None


def atomic(
    combine: Callable[[torch.Tensor, torch.Tensor, torch.Tensor | None], torch.Tensor],
    tensor: torch.Tensor,
    index: Any,
    value: Any,
    extra_mask: torch.Tensor | None,
    expected: Any = None,
) -> torch.Tensor:
    """Combines elements with values one after the other; the elements as they were."""
    numbers = _numbers(tensor, index, extra_mask)

    def operand(given: Any) -> torch.Tensor:
        wanted = torch.as_tensor(given, device=tensor.device).to(tensor.dtype)
        return wanted.expand(numbers.shape).reshape(-1)

    values = operand(value)
    compares = None if expected is None else operand(expected)
    flat = tensor.reshape(-1).clone()
    old = torch.zeros(numbers.numel(), dtype=tensor.dtype, device=tensor.device)
    for at, number in enumerate(numbers.reshape(-1).tolist()):
        if number < 0:
            continue
        old[at] = flat[number]
        compare = None if compares is None else compares[at]
        flat[number] = combine(flat[number].clone(), values[at], compare)
    tensor.copy_(flat.view(tensor.shape))
    return old.view(numbers.shape)


#: What each atomic writes, by the element, the value, and what a compare-and-swap expects.
COMBINE: dict[str, Callable[..., torch.Tensor]] = {
    "add": lambda old, value, _: old + value,
    "max": lambda old, value, _: torch.maximum(old, value),
    "min": lambda old, value, _: torch.minimum(old, value),
    "and": lambda old, value, _: old & value,
    "or": lambda old, value, _: old | value,
    "xor": lambda old, value, _: old ^ value,
    "xchg": lambda old, value, _: value,
    "cas": lambda old, value, expected: torch.where(old == expected, value, old),
}
