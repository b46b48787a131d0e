# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random numbers by Philox 4x32-10.

(J. K. Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011.) The counter of an
element is its place in the whole index space of the loops, so that numbers do not depend on block
sizes; the key is the seed.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch

from wavetile import language
from wavetile.errors import ArgumentError
from wavetile.tracing.arithmetic import Arithmetic
from wavetile.tracing.operations.algebra import add, mul
from wavetile.tracing.operations.creation import dim_of
from wavetile.tracing.operations.pointwise import Promotion, pointwise
from wavetile.tracing.operations.reductions import indices_along
from wavetile.tracing.operations.registry import operation
from wavetile.tracing.values import Integer, RuntimeInteger, Tile, TileIndex, describe

if TYPE_CHECKING:
    from wavetile._C import Value
    from wavetile.tracing.emitter import Emitter

_MULTIPLIERS = 0xD2511F53, 0xCD9E8D57
_KEY_STEPS = 0x9E3779B9, 0xBB67AE85
_WORD = 0xFFFFFFFF
#: One over 2^31, rounded down a little so that the largest number is below one.
SCALE = 4.6566127342e-10


def _counter(emitter: Emitter, name: str, shape: Any) -> Tile:
    """The place of each element in the whole index space, as i64."""
    sizes = list(shape) if isinstance(shape, (tuple, list)) else [shape]
    dims = [dim_of(emitter, size) for size in sizes]
    zeros = emitter.full(dims, 0, torch.int64)
    counter = zeros
    for axis, size in enumerate(sizes):
        place = indices_along(emitter, zeros, axis)
        whole: Integer = dims[axis].extent
        if isinstance(size, TileIndex):
            place = add(emitter, place, emitter.integers.add(size.begin, size.offset))
            whole = size.upper
        counter = add(emitter, mul(emitter, counter, whole), place)
    return counter


def _high(a: Arithmetic, x: Value) -> Value:
    """The upper word of a number of 64 bits."""
    return a.module.value("arith.shrui", [x, a.constant(32)], a.type)


def _philox(a: Arithmetic, seed: Value, counter: Value) -> list[Value]:
    """Four words, each in the lower half of 64 bits."""
    word = a.constant(_WORD)
    low, high = a.bit_and(counter, word), _high(a, counter)
    words = [low, high, a.constant(0), a.constant(0)]
    keys = [a.bit_and(seed, word), _high(a, seed)]
    for step in range(10):
        products = [a.mul(words[2 * i], a.constant(_MULTIPLIERS[i])) for i in range(2)]
        words = [
            a.bit_xor(a.bit_xor(_high(a, products[1]), words[1]), keys[0]),
            a.bit_and(products[1], word),
            a.bit_xor(a.bit_xor(_high(a, products[0]), words[3]), keys[1]),
            a.bit_and(products[0], word),
        ]
        if step < 9:
            keys = [
                a.bit_and(a.add(key, a.constant(by)), word)
                for key, by in zip(keys, _KEY_STEPS, strict=True)
            ]
    return words


def _words(emitter: Emitter, name: str, shape: Any, seed: Any) -> list[Tile]:
    if isinstance(seed, bool) or not isinstance(seed, (int, RuntimeInteger, Tile)):
        emitter.fail(
            ArgumentError,
            f"{name}: the seed is an int, not {describe(seed)}",
            "pass it as an argument of the kernel, or load it from a tensor of i64",
        )
    counter = _counter(emitter, name, shape)
    if isinstance(seed, Tile):
        seed = emitter.broadcast(emitter.cast(seed, torch.int64), counter.dims)
        key = seed.value
    else:
        if isinstance(seed, int):
            seed = (seed + 2**63) % 2**64 - 2**63
        key = emitter.full(counter.dims, seed, torch.int64).value
    a = emitter.arithmetic(counter.dims, torch.int64)
    return [Tile(value, counter.dims, torch.int64) for value in _philox(a, key, counter.value)]


def _uniform(emitter: Emitter, word: Tile) -> Tile:
    """A word as a number from 0 to 1: by its distance from the nearer end of the signed words."""

    def fold(a: Arithmetic, x: Value) -> Value:
        above = a.compare("gt", x, a.constant(0x7FFFFFFF))
        return a.select(above, a.bit_xor(x, a.constant(_WORD)), x)

    folded = pointwise(emitter, "wl.rand", Promotion.INTEGER, fold, [word])
    return mul(emitter, emitter.cast(folded, torch.float32), SCALE)


@operation("wl.rand", language.rand)
def rand(emitter: Emitter, shape: Any, seed: Any) -> Tile:
    """Uniform f32 from 0 up to 1, by Philox."""
    return _uniform(emitter, _words(emitter, "wl.rand", shape, seed)[0])


@operation("wl.randn", language.randn)
def randn(emitter: Emitter, shape: Any, seed: Any) -> Tile:
    """Normal f32 of mean 0 and deviation 1, by Philox and Box and Muller's transform."""
    words = _words(emitter, "wl.randn", shape, seed)

    def normal(a: Arithmetic, u: Value, v: Value) -> Value:
        u = a.maximum(u, a.constant(1.0e-7))
        radius = a.sqrt(a.mul(a.log(u), a.constant(-2.0)))
        return a.mul(radius, a.cos(a.mul(v, a.constant(2.0 * math.pi))))

    uniform = [_uniform(emitter, word) for word in words[:2]]
    return pointwise(emitter, "wl.randn", Promotion.FLOATING, normal, uniform)


@operation("wl.randint", language.randint)
def randint(emitter: Emitter, shape: Any, low: Any, high: Any, seed: Any) -> Tile:
    """i32 from `low` up to `high`, which is not among them, by Philox."""
    if not all(
        isinstance(n, (int, RuntimeInteger)) and not isinstance(n, bool) for n in (low, high)
    ):
        emitter.fail(ArgumentError, "wl.randint: the limits are ints")
    if isinstance(low, int) and isinstance(high, int) and low >= high:
        emitter.fail(ArgumentError, f"wl.randint: no int is from {low} up to {high}")
    word = _words(emitter, "wl.randint", shape, seed)[0]
    count = emitter.integers.sub(high, low)

    def choose(a: Arithmetic, x: Value, n: Value, first: Value) -> Value:
        return a.add(a.fmod(x, n), first)

    chosen = pointwise(emitter, "wl.randint", Promotion.INTEGER, choose, [word, count, low])
    return emitter.cast(chosen, torch.int32)
