# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The target's own instructions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from wavetile import language
from wavetile.errors import ArgumentError
from wavetile.tracing.dtypes import BY_DTYPE
from wavetile.tracing.operations.registry import operation
from wavetile.tracing.values import RuntimeFloat, Tile, describe, is_number

if TYPE_CHECKING:
    from wavetile.tracing.emitter import Emitter

_NAME = "wl.inline_asm"


def _operand(emitter: Emitter, value: Any) -> Tile:
    if isinstance(value, Tile):
        return value
    if is_number(value):
        floating = isinstance(value, (float, RuntimeFloat))
        return emitter.full((), value, torch.float32 if floating else torch.int32)
    emitter.fail(
        ArgumentError, f"{_NAME}: the operands are tiles and numbers, not {describe(value)}"
    )


def _dtypes(emitter: Emitter, dtype: Any) -> list[torch.dtype]:
    dtypes = list(dtype) if isinstance(dtype, (tuple, list)) else [dtype]
    for one in dtypes:
        if not isinstance(one, torch.dtype):
            emitter.fail(
                ArgumentError,
                f"{_NAME}: the results have a dtype each, not {describe(one)}",
                "write dtype=torch.float32, or a tuple of dtypes for several results",
            )
        if one not in BY_DTYPE:
            emitter.unsupported_dtype(one)
    return dtypes


@operation(_NAME, language.inline_asm, language.inline_asm_elementwise)
def inline_asm(
    emitter: Emitter,
    asm: Any,
    constraints: Any,
    args: Any,
    dtype: Any,
    is_pure: Any = True,
    pack: Any = 1,
) -> Any:
    """Elements computed by instructions of the GPU, with LLVM's constraints for their registers."""
    if not isinstance(asm, str) or not isinstance(constraints, str):
        emitter.fail(ArgumentError, f"{_NAME}: instructions and constraints are constant strings")
    if isinstance(pack, bool) or not isinstance(pack, int) or pack < 1:
        emitter.fail(ArgumentError, f"{_NAME}: pack is a positive constant int")
    if not isinstance(is_pure, bool):
        emitter.fail(ArgumentError, f"{_NAME}: is_pure is True or False")
    given = args if isinstance(args, (tuple, list)) else (args,)
    tiles = [_operand(emitter, value) for value in given]
    if not tiles:
        emitter.fail(
            ArgumentError,
            f"{_NAME}: the result has the shape of its operands, and there are none",
            "give it a tile, such as wl.zeros([rows])",
        )
    dims = tuple(emitter.common_dims(tiles))
    operands = [emitter.broadcast(tile, dims).value for tile in tiles]
    dtypes = _dtypes(emitter, dtype)
    attributes: dict[str, Any] = {"assembly": asm, "constraints": constraints, "pack": pack}
    if not is_pure:
        attributes["side_effects"] = None
    made = emitter.module.create(
        "tile.inline_asm", operands, [emitter.tile_type(dims, one) for one in dtypes], attributes
    )
    results = tuple(Tile(value, dims, one) for value, one in zip(made.results, dtypes, strict=True))
    return results if isinstance(dtype, (tuple, list)) else results[0]
