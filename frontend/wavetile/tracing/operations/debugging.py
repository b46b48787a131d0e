# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a kernel says while it runs: prints and assertions."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any

import torch

from wavetile import language
from wavetile.errors import ArgumentError, DTypeError
from wavetile.tracing.dtypes import SCALE8
from wavetile.tracing.operations.registry import operation
from wavetile.tracing.values import (
    RuntimeBool,
    RuntimeFloat,
    RuntimeInteger,
    Tile,
    TileIndex,
    describe,
)

if TYPE_CHECKING:
    from wavetile._C import Value
    from wavetile.tracing.emitter import Emitter


def _text(emitter: Emitter, name: str, text: Any) -> str:
    if not isinstance(text, str):
        emitter.fail(
            ArgumentError,
            f"{name}: the text is a constant string, not {describe(text)}",
            f'write {name}("x", x)' if "print" in name else f'write {name}(x > 0, "x > 0")',
        )
    return text


def _as_tile(emitter: Emitter, name: str, value: Any) -> Tile:
    match value:
        case Tile():
            return value
        case TileIndex():
            begin = emitter.integers.add(value.begin, value.offset)
            return emitter.indices_from(begin, value.dim)
        case bool() | RuntimeBool():
            return emitter.full((), value, torch.bool)
        case int() | RuntimeInteger():
            return emitter.full((), value, torch.int64)
        case RuntimeFloat():
            return emitter.full((), value, value.dtype)
        case float():
            return emitter.full((), value, torch.float64)
    emitter.fail(
        ArgumentError,
        f"{name} takes tiles and numbers, not {describe(value)}",
        "load a tile first, such as x[rows, :]",
    )


def _place(emitter: Emitter, tile: Tile) -> list[list[Value]]:
    """The operands that say where in its loops a tile is, and how much of it there is."""
    value, blocks = emitter.integers.value, emitter.dims.blocks
    found = [blocks.get(dim.name or "") for dim in tile.dims]
    return [
        [value(0 if block is None else block.begin) for block in found],
        [value(dim.extent) for dim in tile.dims],
    ]


@operation("wl.device_print", language.device_print)
def device_print(emitter: Emitter, prefix: Any, *values: Any) -> None:
    """Prints for each element of the values a line with its indices in the loops."""
    name = "wl.device_print"
    text = _text(emitter, name, prefix)
    if "\n" in text or "\0" in text:
        emitter.fail(ArgumentError, f"{name} prints one line for each element", "print twice")
    tiles = [_as_tile(emitter, name, value) for value in values]
    for i, tile in enumerate(tiles):
        if tile.dtype is SCALE8:
            tiles[i] = emitter.cast(tile, torch.float32)
        elif not tile.dtype.is_floating_point:
            tiles[i] = emitter.cast(tile, torch.int64)
    dims = emitter.common_dims(tiles)
    tiles = [emitter.broadcast(tile, dims) for tile in tiles]
    place = _place(emitter, tiles[0]) if tiles else [[], []]
    emitter.module.create(
        "tile.print", [[tile.value for tile in tiles], *place], [], {"text": text}
    )


@operation("print", builtins.print)
def python_print(emitter: Emitter, *values: Any) -> None:
    """As wl.device_print; the text may be left out."""
    prefix, rest = (
        (values[0], values[1:]) if values[:1] and isinstance(values[0], str) else ("", values)
    )
    device_print(emitter, prefix, *rest)


@operation("wl.device_assert", language.device_assert)
def device_assert(emitter: Emitter, condition: Any, message: Any = "") -> None:
    """Ends the launch with an error if an element of the condition is false."""
    name = "wl.device_assert"
    text = _text(emitter, name, message)
    tile = _as_tile(emitter, name, condition)
    if tile.dtype is not torch.bool:
        emitter.fail(
            DTypeError,
            f"{name} checks a tile of torch.bool, not of {tile.dtype}",
            "compare it with something, such as x > 0",
        )
    emitter.module.create("tile.assert", [[tile.value], *_place(emitter, tile)], [], {"text": text})
