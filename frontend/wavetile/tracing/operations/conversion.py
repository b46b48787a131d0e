# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Conversion between dtypes, as torch's."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import torch

from wavetile.errors import ArgumentError, TensorAccessError
from wavetile.tracing.operations.registry import operation
from wavetile.tracing.values import MemoryTensor, Tile, describe

if TYPE_CHECKING:
    from wavetile.tracing.emitter import Emitter


def _to(emitter: Emitter, input: Any, dtype: Any) -> Tile:
    if not isinstance(input, Tile):
        emitter.fail(
            TensorAccessError, f"only a tile has a dtype to convert, not {describe(input)}"
        )
    if not isinstance(dtype, torch.dtype):
        emitter.fail(
            ArgumentError,
            f"device code converts to a dtype, not to {describe(dtype)}",
            "write v.to(torch.float32)",
        )
    return emitter.cast(input, dtype)


@operation("to", methods=("to", "type"))
def to(emitter: Emitter, input: Any, dtype: Any) -> Tile:
    """The tile with another dtype, or with that of another tile or tensor."""
    return _to(emitter, input, dtype.dtype if isinstance(dtype, (Tile, MemoryTensor)) else dtype)


@operation("type_as", methods=("type_as",))
def type_as(emitter: Emitter, input: Any, other: Any) -> Tile:
    """The tile with the dtype of another tile or tensor."""
    return _to(emitter, input, getattr(other, "dtype", other))


for _name, _dtype in {
    "float": torch.float32,
    "double": torch.float64,
    "half": torch.float16,
    "bfloat16": torch.bfloat16,
    "byte": torch.uint8,
    "char": torch.int8,
    "short": torch.int16,
    "int": torch.int32,
    "long": torch.int64,
    "bool": torch.bool,
}.items():
    operation(_name, methods=(_name,))(partial(_to, dtype=_dtype))
