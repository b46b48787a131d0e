# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Values that loops carry from step to step: variables as lists of values of the module."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import torch

from wavetile.errors import CarriedValueError
from wavetile.tracing.expressions import AlreadyReportedError
from wavetile.tracing.operations import METHODS
from wavetile.tracing.values import (
    Failed,
    RuntimeBool,
    RuntimeFloat,
    RuntimeInteger,
    Tile,
    describe,
)

if TYPE_CHECKING:
    from wavetile._C import Type, Value
    from wavetile.tracing.emitter import Emitter


class CarriedValues:
    """The variables that a loop carries."""

    def __init__(self, emitter: Emitter, names: list[str], variables: dict[str, Any]) -> None:
        """Raises CarriedValueError for one that cannot be carried."""
        self.emitter = emitter
        self.names = names
        self.variables = variables
        self._templates = [_template(emitter, name, variables[name]) for name in names]
        #: The values before the loop.
        self.initial: list[Value] = []
        for template in self._templates:
            _flatten(template, self.initial)
        self._given = self.initial

    @property
    def types(self) -> list[Type]:
        """The types of the values."""
        return [value.type for value in self.initial]

    def give(self, values: list[Value]) -> None:
        """Makes the variables stand for these values."""
        self._given = list(values)
        remaining = iter(values)
        for name, template in zip(self.names, self._templates, strict=True):
            self.variables[name] = _rebuild(template, remaining)

    def next(self) -> list[Value]:
        """What the variables are after a step.

        Raises:
            CarriedValueError: one differs in shape or dtype from the initial one
        """
        values: list[Value] = []
        for name, template in zip(self.names, self._templates, strict=True):
            _next_values(self.emitter, name, template, self.variables[name], self._given, values)
        return values


def _template(emitter: Emitter, name: str, value: Any) -> Any:
    """The initial value with everything in it a value of the module."""
    match value:
        case Tile() | RuntimeInteger() | RuntimeFloat() | RuntimeBool():
            return value
        case bool():
            return RuntimeBool(emitter.number(value, torch.bool))
        case int():
            return RuntimeInteger(emitter.integers.value(value))
        case float():
            return RuntimeFloat(emitter.number(value, emitter.scalar_dtype), emitter.scalar_dtype)
        case tuple():
            return tuple(_template(emitter, name, part) for part in value)
    emitter.fail(
        CarriedValueError,
        f"`{name}` is {describe(value)} before the loop and is assigned in it",
        "loops carry tiles, numbers and tuples of them; use another name inside the loop",
    )


def _flatten(template: Any, values: list[Value]) -> None:
    if isinstance(template, tuple):
        for part in template:
            _flatten(part, values)
    else:
        values.append(template.value)


def _rebuild(template: Any, values: Iterator[Value]) -> Any:
    match template:
        case tuple():
            return tuple(_rebuild(part, values) for part in template)
        case Tile():
            return Tile(next(values), template.dims, template.dtype)
        case RuntimeFloat():
            return RuntimeFloat(next(values), template.dtype)
    return type(template)(next(values))


def _kept(emitter: Emitter, old: Tile, new: Tile) -> Value:
    """The new elements; the old ones where a block is smaller than the block size."""
    result = new.value
    for axis, (whole, dim) in enumerate(zip(old.dims, new.dims, strict=True)):
        if not whole.whole or dim.whole:
            continue
        mask = METHODS["lt"].call(emitter, (emitter.iota(whole), dim.extent), {})
        for _ in old.dims[axis + 1 :]:
            mask = emitter.expand_dims(mask, len(mask.dims))
        mask = emitter.broadcast(mask, old.dims)
        arithmetic = emitter.arithmetic(old.dims, old.dtype)
        result = arithmetic.select(mask.value, result, old.value)
    return result


def _next_values(
    emitter: Emitter, name: str, template: Any, value: Any, given: list[Value], values: list[Value]
) -> None:
    match template, value:
        case _, Failed():
            raise AlreadyReportedError
        case Tile(), Tile() if (
            template.dtype == value.dtype
            and len(template.dims) == len(value.dims)
            and all(a.same(b) for a, b in zip(template.dims, value.dims, strict=True))
        ):
            previous = Tile(given[len(values)], template.dims, template.dtype)
            values.append(_kept(emitter, previous, value))
            return
        case tuple(), tuple() if len(template) == len(value):
            for part, next_part in zip(template, value, strict=True):
                _next_values(emitter, name, part, next_part, given, values)
            return
        case RuntimeInteger(), int() | RuntimeInteger() if not isinstance(value, bool):
            values.append(emitter.integers.value(value))
            return
        case RuntimeFloat(), int() | float() | RuntimeInteger() | RuntimeFloat():
            values.append(emitter.number(value, template.dtype))
            return
        case RuntimeBool(), bool() | RuntimeBool():
            values.append(emitter.number(value, torch.bool))
            return
    if isinstance(template, Tile) and isinstance(value, Tile) and template.dtype != value.dtype:
        remedy = f"convert with .to({template.dtype}), or start from a tile of {value.dtype}"
    else:
        remedy = "give it its shape and dtype before the loop with wl.full(...) or wl.zeros(...)"
    emitter.fail(
        CarriedValueError,
        f"`{name}` is {describe(template)} before the loop and {describe(value)} after a step",
        remedy,
    )
