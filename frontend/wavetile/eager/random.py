# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Philox's random numbers by torch: those of `wavetile.tracing.operations.random`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch

from wavetile.eager.tiles import EagerTile

_WORD = 0xFFFFFFFF


def _counter(shape: Any) -> torch.Tensor:
    sizes = list(shape) if isinstance(shape, Sequence) else [shape]
    counter = torch.zeros([], dtype=torch.int64)
    for size in sizes:
        if isinstance(size, EagerTile):
            places, whole = size.index, size.upper
        else:
            whole = size.__index__()
            places = torch.arange(whole)
        counter = counter.unsqueeze(-1) * whole + places
    return counter


def _high(x: torch.Tensor) -> torch.Tensor:
    return (x >> 32) & _WORD


def words(shape: Any, seed: Any) -> list[torch.Tensor]:
    """Four words for each element, as i64."""
    counter = _counter(shape)
    key = torch.as_tensor(int(seed) if not isinstance(seed, torch.Tensor) else seed)
    zeros = torch.zeros_like(counter)
    c = [counter & _WORD, _high(counter), zeros, zeros]
    k = [key & _WORD, _high(key)]
    for _ in range(10):
        first, second = c[0] * 0xD2511F53, c[2] * 0xCD9E8D57
        c = [_high(second) ^ c[1] ^ k[0], second & _WORD, _high(first) ^ c[3] ^ k[1], first & _WORD]
        k = [(k[0] + 0x9E3779B9) & _WORD, (k[1] + 0xBB67AE85) & _WORD]
    return c


def _uniform(word: torch.Tensor) -> torch.Tensor:
    folded = torch.where(word > 0x7FFFFFFF, word ^ _WORD, word)
    return folded.float() * 4.6566127342e-10


def rand(shape: Any, seed: Any) -> torch.Tensor:
    """`wl.rand`."""
    return _uniform(words(shape, seed)[0])


def randn(shape: Any, seed: Any) -> torch.Tensor:
    """`wl.randn`."""
    u, v = (_uniform(word) for word in words(shape, seed)[:2])
    return torch.sqrt(-2.0 * torch.log(u.clamp(min=1.0e-7))) * torch.cos(v * (2.0 * math.pi))


def randint(shape: Any, low: int, high: int, seed: Any) -> torch.Tensor:
    """`wl.randint`."""
    return (words(shape, seed)[0] % (high - low) + low).to(torch.int32)
