# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Slices with bounds as indices of tensors in memory: `x[rows, 1:3]`, `x[rows, -k:]`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wavetile.errors import UnsupportedIndexError
from wavetile.tracing.values import (
    Dim,
    Integer,
    MemoryTensor,
    RuntimeInteger,
    describe,
    distance_between,
)

if TYPE_CHECKING:
    from wavetile.tracing.emitter import Emitter


def resolve(
    emitter: Emitter, tensor: MemoryTensor, position: int, entry: slice
) -> tuple[Integer, Dim]:
    """The first index and the dimension of a slice, as Python has them.

    Bounds are clipped to the tensor; negative constants count from its end. The length is known
    before the loop, so that it is a row dimension like that of a full slice. Bounds that are known
    only inside the loop are a constant apart, and not clipped: beyond the tensor loads give 0.

    Raises:
        UnsupportedIndexError: a step that is no positive constant, as in torch, or a bound that
            is known only inside the loop
    """
    step = step_of(emitter, entry)
    if isinstance(entry.start, RuntimeInteger) and isinstance(entry.stop, RuntimeInteger):
        distance = distance_between(entry.start, entry.stop)
        if distance is not None and not emitter.module.is_before_loops(entry.start.value):
            return entry.start, _constant(emitter, -(-distance // step))
    for bound in (entry.start, entry.stop):
        known = bound is None or (isinstance(bound, int) and not isinstance(bound, bool))
        if not known and not (
            isinstance(bound, RuntimeInteger) and emitter.module.is_before_loops(bound.value)
        ):
            emitter.fail(
                UnsupportedIndexError,
                f"a slice whose bound is {describe(bound)} that is known only inside the loop",
                "give it a constant length, such as x[begin : begin + 16], use a wl.tile loop over"
                " those indices, or wl.load with an extra_mask",
            )
    key = (id(tensor.sizes[position]), _key(entry.start), _key(entry.stop), step)
    found = emitter.slices.get(key)
    if found is None:
        with emitter.before_loops():
            first, length = _bounds(emitter, tensor.sizes[position], entry)
            if step != 1:
                raised = emitter.integers.add(length, step - 1)
                length = emitter.integers.floor_divide(raised, step)
            found = (first, length)
        # The values whose ids the key holds live as long as the entry.
        emitter.slices[key] = (*found, (tensor.sizes[position], entry))
    first, length = found[:2]
    name = f"{tensor.name}_dim{position}_slice"
    return first, emitter.dims.of_size(length, name)


def _constant(emitter: Emitter, length: int) -> Dim:
    """The dimension of a slice of constant length."""
    if length < 1:
        emitter.fail(
            UnsupportedIndexError,
            f"a slice whose bounds are known only inside the loop has {length} elements",
            "give it a positive length, such as x[begin : begin + 16]",
        )
    return emitter.dims.of_constant(length)


def step_of(emitter: Emitter, entry: slice) -> int:
    """The step of a slice."""
    if entry.step is None:
        return 1
    if isinstance(entry.step, bool) or not isinstance(entry.step, int) or entry.step < 1:
        emitter.fail(
            UnsupportedIndexError,
            f"a slice has a positive constant step, not {describe(entry.step)}",
            "make the step a constant with wl.constexpr, or use torch.flip for the other order",
        )
    return entry.step


def _key(bound: Any) -> object:
    return id(bound) if isinstance(bound, RuntimeInteger) else bound


def _less(emitter: Emitter, size: Integer, by: int) -> Integer:
    """max(size - by, 0): one value, so that `x[k:]` and `y[:-k]` have one length."""
    key = ("less", id(size), by)
    if key not in emitter.slices:
        integers = emitter.integers
        emitter.slices[key] = (integers.maximum(integers.sub(size, by), 0), size)
    return emitter.slices[key][0]


def _bounds(emitter: Emitter, size: Integer, entry: slice) -> tuple[Integer, Integer]:
    integers = emitter.integers

    def clipped(bound: Integer | None, default: Integer) -> Integer:
        if bound is None:
            return default
        if isinstance(bound, int):
            if bound >= 0:
                return integers.minimum(bound, size) if bound else 0
            return _less(emitter, size, -bound)
        # A launch plan has no choice: one if the bound is negative, else zero.
        negative = integers.minimum(integers.maximum(integers.sub(0, bound), 0), 1)
        from_end = integers.add(bound, integers.mul(size, negative))
        return integers.minimum(integers.maximum(from_end, 0), size)

    first, last = clipped(entry.start, 0), clipped(entry.stop, size)
    if first == 0:
        return 0, last
    if entry.stop is None and isinstance(entry.start, int):
        length = -entry.start if entry.start < 0 else 0
        if entry.start > 0:
            return first, _less(emitter, size, entry.start)
        return first, integers.minimum(length, size)
    return first, integers.maximum(integers.sub(last, first), 0)
