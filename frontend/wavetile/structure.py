# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arguments that hold others: tuples, lists, dicts, NamedTuples, dataclasses and functions.

A region's launcher takes tensors and numbers. Where an argument holds tensors, it is taken apart:
its `Structure`, which is hashable and part of the guard, says how what it holds is put together
again in device code, and the tensors and numbers become parameters of their own.

Ints and floats in it are values; strings, bools, dtypes, None, and what a dataclass annotates with
`wl.constexpr` are constants. A function is its code, the constants that it reads, and the tensors
and numbers that it closes over; tensors that it reads by a global name count as those.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from wavetile import language
from wavetile.syntax.regions import (
    code_names,
    is_argument_constant,
    is_constant,
    is_language_name,
)


@dataclass(frozen=True)
class Leaf:
    """A tensor or number, by the name of its parameter."""

    name: str

    def rebuild(self, values: Mapping[str, Any]) -> Any:
        """What device code knows it as."""
        return values[self.name]


@dataclass(frozen=True)
class Constant:
    """A value that the compiled code knows."""

    value: Any
    kind: type  # 1 and True are equal

    def rebuild(self, values: Mapping[str, Any]) -> Any:
        """The value."""
        return self.value


@dataclass(frozen=True)
class Items:
    """A tuple, list, dict, NamedTuple or dataclass; `names` of the parts for the last three."""

    kind: type
    names: tuple[Any, ...]
    parts: tuple[Structure, ...]

    def rebuild(self, values: Mapping[str, Any]) -> Any:
        """An object of the same kind."""
        parts = [part.rebuild(values) for part in self.parts]
        if dataclasses.is_dataclass(self.kind):
            made = object.__new__(self.kind)
            for name, part in zip(self.names, parts, strict=True):
                object.__setattr__(made, name, part)
            return made
        if self.kind is dict:
            return dict(zip(self.names, parts, strict=True))
        # Lists are tuples in device code, which does not change them.
        return self.kind(*parts) if self.names else tuple(parts)


@dataclass(frozen=True)
class Function:
    """A function, traced like a helper."""

    code: types.CodeType
    qualified_name: str
    module: int
    defaults: Structure
    cells: tuple[Structure, ...]
    tensors: tuple[tuple[str, Structure], ...]
    constants: tuple[tuple[str, Structure], ...]

    def rebuild(self, values: Mapping[str, Any]) -> Any:
        """A function of the same code that closes over what device code knows."""
        made = types.FunctionType(
            self.code,
            _GLOBALS[self.module] | {name: part.rebuild(values) for name, part in self.tensors},
            self.code.co_name,
            self.defaults.rebuild(values),
            tuple(types.CellType(cell.rebuild(values)) for cell in self.cells),
        )
        made.__qualname__ = self.qualified_name
        return made


Structure = Leaf | Constant | Items | Function

#: The globals of functions in structures, by their ids: dicts have no hash.
_GLOBALS: dict[int, dict[str, Any]] = {}


class Flattener:
    """Takes the value of one parameter apart.

    Attributes:
        leaves: (name, value) of what becomes parameters
    """

    def __init__(self, fail: Callable[[str], Any]) -> None:
        """`fail` raises for a value that device code cannot use."""
        self.leaves: list[tuple[str, Any]] = []
        self.fail = fail
        # The functions whose closures are being taken apart.
        self._inside: list[types.CodeType] = []

    def flatten(self, name: str, value: Any, constant: bool = False) -> Structure:
        """The structure of a value; `name` is how device code would write it."""
        match value:
            case torch.Tensor():
                return self._leaf(name, value)
            case None | bool() | str() | torch.dtype():
                return Constant(value, type(value))
            case int() | float() if not constant:
                return self._leaf(name, value)
            case tuple() if hasattr(value, "_fields"):
                fields = tuple(value._fields)
                parts = [self.flatten(f"{name}.{f}", getattr(value, f), constant) for f in fields]
                return Items(type(value), fields, tuple(parts))
            case tuple() | list():
                parts = [self.flatten(f"{name}[{i}]", v, constant) for i, v in enumerate(value)]
                return Items(tuple if isinstance(value, tuple) else list, (), tuple(parts))
            case dict():
                parts = [self.flatten(f"{name}[{k!r}]", v, constant) for k, v in value.items()]
                return Items(dict, tuple(value), tuple(parts))
            case types.FunctionType() if not is_language_name(value):
                return self._function(name, value)
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            fields = dataclasses.fields(value)
            parts = [
                self.flatten(
                    f"{name}.{f.name}", getattr(value, f.name), constant or _is_constexpr(f)
                )
                for f in fields
            ]
            return Items(type(value), tuple(f.name for f in fields), tuple(parts))
        if not is_argument_constant(value):
            self.fail(
                f"`{name}`, a {type(value).__name__}, cannot be used in device code: it is neither"
                " a tensor, a number, a constant, nor a tuple, list, dict or dataclass of them"
            )
        return Constant(value, type(value))

    def _leaf(self, name: str, value: Any) -> Leaf:
        self.leaves.append((name, value))
        return Leaf(name)

    def _function(self, name: str, function: types.FunctionType) -> Function:
        if function.__code__ in self._inside:
            self.fail(f"{function.__name__} calls itself: device code has loops instead")
        self._inside.append(function.__code__)
        _GLOBALS[id(function.__globals__)] = function.__globals__
        cells = []
        for free, cell in zip(
            function.__code__.co_freevars, function.__closure__ or (), strict=True
        ):
            cells.append(self.flatten(f"{name}.{free}", cell.cell_contents))
        self._inside.pop()
        return Function(
            function.__code__,
            function.__qualname__,
            id(function.__globals__),
            self.flatten(f"{name}.defaults", function.__defaults__, constant=True),
            tuple(cells),
            tuple(self._global_tensors(name, function)),
            tuple(self._constants(function, set())),
        )

    def _global_tensors(
        self, name: str, function: types.FunctionType
    ) -> Iterator[tuple[str, Structure]]:
        """The tensors that a function reads by a global name."""
        for read in dict.fromkeys(code_names(function.__code__)):
            value = function.__globals__.get(read)
            if isinstance(value, torch.Tensor):
                yield read, self.flatten(f"{name}.{read}", value)

    def _constants(
        self, function: types.FunctionType, seen: set[types.CodeType]
    ) -> Iterator[tuple[str, Structure]]:
        """The constants that a function, and those it calls by a global name, read."""
        seen.add(function.__code__)
        for name in dict.fromkeys(code_names(function.__code__)):
            value = function.__globals__.get(name)
            if isinstance(value, types.FunctionType) and not is_language_name(value):
                yield name, Constant(value, types.FunctionType)
                if value.__code__ not in seen:
                    yield from self._constants(value, seen)
            elif name in function.__globals__ and is_constant(value):
                yield name, Constant(value, type(value))


def _is_constexpr(field: dataclasses.Field[Any]) -> bool:
    kind = field.type
    if isinstance(kind, str):
        return kind.split("[")[0].rsplit(".", 1)[-1] == "constexpr"
    return kind is language.constexpr


def is_structured(value: Any) -> bool:
    """Whether an argument is taken apart; a tuple of constants is one constant."""
    if isinstance(value, tuple):
        return any(isinstance(v, torch.Tensor) or is_structured(v) for v in value)
    if isinstance(value, (list, dict, types.FunctionType)):
        return True
    return dataclasses.is_dataclass(value) and not isinstance(value, type)
