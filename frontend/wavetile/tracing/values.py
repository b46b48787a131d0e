# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a name in device code may stand for.

Numbers, strings, dtypes, None, tuples, functions and modules that are known at compile time are
themselves. Everything else is one of the classes here, which hold values of the module that is
being built.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from wavetile._C import Value
    from wavetile.tracing.operations.registry import Operation


@dataclass(frozen=True)
class CallValue:
    """What an int is in the call that is compiled for.

    Attributes:
        number: its value there
        arguments: the arguments, by index, that it is computed from
    """

    number: int
    arguments: frozenset[int]


@dataclass(frozen=True, eq=False)
class RuntimeInteger:
    """An int that is known when the kernel runs: an `index` of the module.

    `call` is its value in the call that is compiled for, if it is known before the loops. It is
    `base` plus the constant `distance`, or itself if there is none.
    """

    value: Value
    call: CallValue | None = None
    base: RuntimeInteger | None = None
    distance: int = 0


@dataclass(frozen=True, eq=False)
class RuntimeFloat:
    """A Python float that is known when the kernel runs: an f32 or f64 of the module."""

    value: Value
    dtype: torch.dtype


@dataclass(frozen=True, eq=False)
class RuntimeBool:
    """A bool that is known when the kernel runs: an i1 of the module."""

    value: Value


Integer = int | RuntimeInteger


def distance_between(a: Integer, b: Integer) -> int | None:
    """b - a if that is a constant whatever they are, else None."""
    if isinstance(a, int) and isinstance(b, int):
        return b - a
    if isinstance(a, int) or isinstance(b, int) or (a.base or a) is not (b.base or b):
        return None
    return b.distance - a.distance


def in_this_call(integer: Integer) -> int | None:
    """The value of an int in the call that is compiled for, None if it is not known."""
    if isinstance(integer, int):
        return integer
    return None if integer.call is None else integer.call.number


@dataclass(frozen=True, eq=False)
class Dim:
    """A dimension of a tile. `name` is None for a dimension of size one.

    Dimensions are the same if their names are. A dimension of a loop's block size is `whole`: its
    extent is the block size, also where the loop's last block is smaller.
    """

    name: str | None
    extent: Integer
    whole: bool = False

    def same(self, other: Dim) -> bool:
        """Whether two dimensions have the same block size and extent."""
        return self.name == other.name

    def __str__(self) -> str:
        return self.name or "1"


UNIT = Dim(None, 1)


class NeedsConstantError(Exception):
    """A kernel's shapes can be told apart only if these arguments, by index, are constants."""

    def __init__(self, arguments: frozenset[int]) -> None:
        super().__init__(arguments)
        self.arguments = arguments


@dataclass(frozen=True, eq=False)
class Tile:
    """A tile of elements."""

    value: Value
    dims: tuple[Dim, ...]
    dtype: torch.dtype

    @property
    def shape_text(self) -> str:
        """Its shape for messages: [rows, n]."""
        return f"[{', '.join(map(str, self.dims))}]"


@dataclass(frozen=True, eq=False)
class TileIndex:
    """The variable of a `wl.tile` loop, moved by `offset`.

    Attributes:
        name: the Python name
        dim: the dimension
        begin: the first index
        lower, upper: the bounds of its loop
        offset: added to each index
    """

    name: str
    dim: Dim
    begin: RuntimeInteger
    lower: Integer
    upper: Integer
    offset: Integer = 0


@dataclass(frozen=True, eq=False)
class MemoryTensor:
    """A tensor in memory: a view of the module."""

    name: str
    view: Value
    dtype: torch.dtype
    sizes: tuple[Integer, ...]
    strides: tuple[Integer, ...]


@dataclass(frozen=True, eq=False)
class BoundMethod:
    """`value.name`, about to be called."""

    value: Any
    name: str
    operation: Operation | None


@dataclass(frozen=True)
class Undefined:
    """A name without a value here, and why. `is_tile`: it was the variable of a loop."""

    reason: str
    remedy: str
    is_tile: bool = False


@dataclass(frozen=True)
class Failed:
    """The value of an expression that has been reported as a mistake already."""


def describe(value: Any) -> str:
    """What a value is, for messages."""
    match value:
        case Tile():
            return f"a tile of {value.dtype} {value.shape_text}"
        case MemoryTensor():
            return f"the tensor `{value.name}` in memory"
        case TileIndex():
            return f"the tile index `{value.name}`"
        case RuntimeInteger():
            return "an int"
        case RuntimeFloat():
            return "a float"
        case RuntimeBool():
            return "a bool"
        case BoundMethod():
            return f"the method `{value.name}`"
        case slice():
            return "a slice"
        case bool() | int() | float() | str() | None | torch.dtype():
            return f"the constant {value!r}"
        case tuple() | list():
            return f"a {type(value).__name__}"
    return f"{getattr(value, '__qualname__', None) or type(value).__qualname__}"


def is_number(value: Any) -> bool:
    """Whether it is a Python number, known at compile time or not."""
    return isinstance(value, (bool, int, float, RuntimeInteger, RuntimeFloat, RuntimeBool))
