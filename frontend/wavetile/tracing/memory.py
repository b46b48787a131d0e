# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Accesses of tensors in memory: loads, stores and atomics."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import torch

from wavetile import language
from wavetile.errors import ArgumentError, DTypeError, ShapeError, TensorAccessError
from wavetile.tracing import jagged
from wavetile.tracing.dtypes import STORAGE_ONLY
from wavetile.tracing.indexing import Access, resolve_access
from wavetile.tracing.operations.registry import operation
from wavetile.tracing.values import Integer, MemoryTensor, Tile, describe, in_this_call, is_number

if TYPE_CHECKING:
    from wavetile._C import Value
    from wavetile.tracing.emitter import Emitter


def _place(emitter: Emitter, tensor: MemoryTensor, access: Access) -> list[list[Value]]:
    """The operands that say where: view, offsets, extents, indices, mask."""
    value = emitter.integers.value
    return [
        [tensor.view],
        [value(offset) for offset in access.offsets],
        [value(dim.extent) for dim in access.dims],
        [tile.value for tile in access.indices.values()],
        [] if access.mask is None else [access.mask.value],
    ]


def _attributes(access: Access) -> dict[str, Any]:
    attributes: dict[str, Any] = {"dims": access.places}
    if access.indices:
        attributes["index_dims"] = list(access.indices)
    return attributes


def load_access(emitter: Emitter, tensor: MemoryTensor, access: Access) -> Tile:
    """The tile at a place of a tensor."""
    jagged.restrict(emitter, access)
    made = emitter.module.create(
        "tile.load",
        _place(emitter, tensor, access),
        [emitter.tile_type(access.dims, tensor.dtype)],
        _attributes(access),
    )
    tile = Tile(made.results[0], tuple(access.dims), tensor.dtype)
    for axis in access.new_axes:
        tile = emitter.expand_dims(tile, axis)
    return tile


def store_access(emitter: Emitter, tensor: MemoryTensor, access: Access, value: Any) -> None:
    """Writes a tile or a number to a place of a tensor, in the tensor's dtype.

    Raises:
        ShapeError: the tile does not broadcast to that place
        TensorAccessError: several elements of the place are one in memory
    """
    _check_target(emitter, tensor, access, "a store")
    jagged.restrict(emitter, access)
    tile = _operand(emitter, tensor, access, value)
    emitter.module.create(
        "tile.store", [[tile.value], *_place(emitter, tensor, access)], [], _attributes(access)
    )


def _check_target(emitter: Emitter, tensor: MemoryTensor, access: Access, what: str) -> None:
    if access.new_axes:
        emitter.fail(
            TensorAccessError, f"{what} cannot insert dimensions", "index the tensor without None"
        )
    for position, (size, stride) in enumerate(zip(tensor.sizes, tensor.strides, strict=True)):
        varies = access.places[position] >= 0 or position in access.indices
        if stride == 0 and size != 1 and varies:
            emitter.fail(
                TensorAccessError,
                f"{what} to `{tensor.name}`, which is expanded: several of its elements are one",
                "store to a tensor of its own, such as torch.empty_like(...)",
            )
    _check_overlap(emitter, tensor, access, what)


def _check_overlap(emitter: Emitter, tensor: MemoryTensor, access: Access, what: str) -> None:
    """Refuses places of which two elements are one in memory.

    Strides are known in the call that is compiled for; a guard keeps what was found for others.
    """
    dims: list[tuple[int, int, Integer, Integer]] = []
    for position, (size, stride) in enumerate(zip(tensor.sizes, tensor.strides, strict=True)):
        if access.places[position] < 0 and position not in access.indices:
            continue
        count, step = in_this_call(size), in_this_call(stride)
        if count is None or step is None:
            return
        if count > 1:
            dims.append((step, count, size, stride))
    dims.sort(key=lambda dim: dim[:2])
    for (step, count, size, stride), (outer, outer_count, _, outer_stride) in itertools.pairwise(
        dims
    ):
        common = math.gcd(step, outer)
        if outer // common < count and step // common < outer_count:
            emitter.fail(
                TensorAccessError,
                f"{what} to `{tensor.name}`, whose elements overlap: of strides {outer} and {step}"
                " several elements are one",
                "store to a tensor of its own, such as torch.empty_like(...)",
            )
        if outer >= count * step:
            with emitter.before_loops():
                span = emitter.integers.mul(size, stride)
            emitter.require_at_most(span, outer_stride, f"`{tensor.name}` does not overlap")


def _operand(emitter: Emitter, tensor: MemoryTensor, access: Access, value: Any) -> Tile:
    """The value as a tile of the place's shape and the tensor's dtype."""
    if is_number(value):
        return emitter.full(access.dims, value, tensor.dtype)
    if not isinstance(value, Tile):
        emitter.fail(
            ArgumentError, f"{describe(value)} cannot be stored", "store a tile or a number"
        )
    tile = value
    while len(tile.dims) > len(access.dims) and tile.dims[0].name is None:
        tile = emitter.squeeze_dims(tile, 0)
    fits = len(tile.dims) <= len(access.dims) and all(
        own.name is None or emitter.same(own, dim)
        for own, dim in zip(
            tile.dims, access.dims[len(access.dims) - len(tile.dims) :], strict=True
        )
    )
    if not fits:
        shape = f"[{', '.join(map(str, access.dims))}]"
        emitter.fail(
            ShapeError,
            f"a tile of shape {tile.shape_text} is stored to a place of `{tensor.name}` of shape"
            f" {shape}",
            "reduce or index the tile to that shape",
        )
    return emitter.cast(emitter.broadcast(tile, access.dims), tensor.dtype)


def _check_tensor(emitter: Emitter, name: str, tensor: Any) -> MemoryTensor:
    if not isinstance(tensor, MemoryTensor):
        emitter.fail(
            TensorAccessError,
            f"{name} needs a tensor in memory, not {describe(tensor)}",
            "give the tensor that is an argument of the kernel",
        )
    return tensor


@operation("wl.load", language.load)
def load(emitter: Emitter, tensor: Any, index: Any, extra_mask: Any = None) -> Tile:
    """`tensor[index]` where the mask holds, else zero."""
    tensor = _check_tensor(emitter, "wl.load", tensor)
    return load_access(emitter, tensor, resolve_access(emitter, tensor, index, extra_mask))


@operation("wl.store", language.store)
def store(emitter: Emitter, tensor: Any, index: Any, value: Any, extra_mask: Any = None) -> None:
    """`tensor[index] = value` where the mask holds."""
    tensor = _check_tensor(emitter, "wl.store", tensor)
    store_access(emitter, tensor, resolve_access(emitter, tensor, index, extra_mask), value)


# -- Atomics

_ORDERS = {
    "relaxed": 0,
    "acquire": 1,
    "release": 2,
    "acq_rel": 3,
}
_SCOPES = {"block": 0, "device": 1, "system": 2, "cta": 0, "gpu": 1, "sys": 2}
_KINDS = {
    "add": 0,
    "max": 1,
    "min": 2,
    "and": 5,
    "or": 6,
    "xor": 7,
    "xchg": 8,
    "cas": 9,
}
_UNSIGNED = {"max": 3, "min": 4}


def _choice(emitter: Emitter, name: str, what: str, value: Any, table: dict[str, int]) -> int:
    if not isinstance(value, str) or value not in table:
        emitter.fail(
            ArgumentError,
            f"{name}: {what} is not {describe(value)}",
            "it is one of " + ", ".join(repr(key) for key in table),
        )
    return table[value]


def _check_dtype(emitter: Emitter, kind: str, dtype: torch.dtype) -> None:
    name = f"wl.atomic_{kind}"
    if kind in ("and", "or", "xor") and dtype.is_floating_point:
        emitter.fail(DTypeError, f"{name} is of integers, not of {dtype}")
    if kind in ("add", "max", "min") and (dtype in STORAGE_ONLY or dtype is torch.bool):
        emitter.fail(
            DTypeError,
            f"{name} of {dtype} is not defined: torch has no arithmetic on it",
            "use a tensor of another dtype, such as torch.float32 or torch.int32",
        )


def _atomic(
    emitter: Emitter,
    kind: str,
    tensor: Any,
    index: Any,
    value: Any,
    sem: Any,
    scope: Any,
    extra_mask: Any,
    expected: Any = None,
) -> Tile:
    name = f"wl.atomic_{kind}"
    tensor = _check_tensor(emitter, name, tensor)
    _check_dtype(emitter, kind, tensor.dtype)
    order = _choice(emitter, name, "sem", sem, _ORDERS)
    where = _choice(emitter, name, "scope", scope, _SCOPES)
    access = resolve_access(emitter, tensor, index, extra_mask)
    _check_target(emitter, tensor, access, "an atomic")
    jagged.restrict(emitter, access)
    operand = _operand(emitter, tensor, access, value).value
    compare = [] if kind != "cas" else [_operand(emitter, tensor, access, expected).value]
    unsigned = not tensor.dtype.is_floating_point and not tensor.dtype.is_signed
    number = _UNSIGNED[kind] if unsigned and kind in _UNSIGNED else _KINDS[kind]
    attribute = emitter.module.attribute
    made = emitter.module.create(
        "tile.atomic",
        [[operand], compare, *_place(emitter, tensor, access)],
        [emitter.tile_type(access.dims, tensor.dtype)],
        {
            **_attributes(access),
            "kind": attribute(f"{number} : i32"),
            "order": attribute(f"{order} : i32"),
            "scope": attribute(f"{where} : i32"),
        },
    )
    return Tile(made.results[0], tuple(access.dims), tensor.dtype)


def _enter(kind: str, function: Any) -> None:
    def atomic(
        emitter: Emitter,
        tensor: Any,
        index: Any,
        value: Any,
        sem: Any = "relaxed",
        scope: Any = "device",
        extra_mask: Any = None,
    ) -> Tile:
        return _atomic(emitter, kind, tensor, index, value, sem, scope, extra_mask)

    summary = (function.__doc__ or "").split("\n")[0]
    atomic.__doc__ = summary.removesuffix("; see `atomic_add`.").removesuffix(".") + "."
    operation(f"wl.atomic_{kind}", function)(atomic)


for _kind, _function in {
    "add": language.atomic_add,
    "max": language.atomic_max,
    "min": language.atomic_min,
    "and": language.atomic_and,
    "or": language.atomic_or,
    "xor": language.atomic_xor,
    "xchg": language.atomic_xchg,
}.items():
    _enter(_kind, _function)


@operation("wl.atomic_cas", language.atomic_cas)
def atomic_cas(
    emitter: Emitter,
    tensor: Any,
    index: Any,
    expected: Any,
    value: Any,
    sem: Any = "relaxed",
    scope: Any = "device",
    extra_mask: Any = None,
) -> Tile:
    """Writes `value` where the element is `expected`; the element as it was."""
    return _atomic(emitter, "cas", tensor, index, value, sem, scope, extra_mask, expected)
