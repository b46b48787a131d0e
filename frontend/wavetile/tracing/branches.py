# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Choices between two pieces of code that are made when a kernel runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import torch

from wavetile.tracing.values import (
    BoundMethod,
    Failed,
    RuntimeBool,
    RuntimeFloat,
    RuntimeInteger,
    Tile,
    TileIndex,
    Undefined,
    describe,
)

if TYPE_CHECKING:
    from wavetile._C import Value
    from wavetile.tracing.emitter import Emitter

_REMEDY = "give both branches a value of the same shape and dtype, or give it one before the `if`"


class Choice:
    """A `tile.if` under construction. Each branch is traced into it; then values are merged."""

    def __init__(self, emitter: Emitter, condition: RuntimeBool) -> None:
        self.emitter = emitter
        self._operation = emitter.module.create("tile.if", [condition.value], [], bodies=[[], []])

    def branch(self, number: int, trace: Callable[[], Any]) -> Any:
        """Traces the branch for a condition that holds (0) or does not (1)."""
        self.emitter.module.enter(self._operation, number)
        try:
            return trace()
        finally:
            self.emitter.module.leave()

    def merge(self, ends: Iterable[tuple[str, Any, Any, int | None]]) -> dict[str, Any]:
        """Ends both branches.

        Args:
            ends: for each name its values at the ends of the branches, and the branch that alone
                says what it is after the choice, where what follows is not reached from the other

        Returns:
            for each name its value after the choice
        """
        emitter, module = self.emitter, self.emitter.module
        yielded: tuple[list[Value], list[Value]] = ([], [])
        builders: dict[str, Callable[[list[Value]], Any]] = {}
        for name, yes, no, reaching in ends:
            merger = _Merger(emitter, self, yielded)
            if reaching is None:
                builders[name] = merger.add(name, yes, no)
            else:
                builders[name] = merger.add_one((yes, no)[reaching], reaching)
        self.branch(0, lambda: module.create("tile.yield", yielded[0], []))
        self.branch(1, lambda: module.create("tile.yield", yielded[1], []))
        types = [value.type for value in yielded[0]]
        self._operation = module.with_results(self._operation, types)
        results = self._operation.results
        return {name: build(results) for name, build in builders.items()}


class _Merger:
    """What a name stands for after a choice, from what it stands for in both branches."""

    def __init__(
        self, emitter: Emitter, choice: Choice, yielded: tuple[list[Value], list[Value]]
    ) -> None:
        self.emitter = emitter
        self.choice = choice
        self.yielded = yielded

    def add(self, name: str, yes: Any, no: Any) -> Callable[[list[Value]], Any]:
        """Yields what is needed; gives what makes the value from the choice's results."""
        if isinstance(yes, Failed) or isinstance(no, Failed):
            return lambda results: Failed()
        if isinstance(yes, Undefined):
            return lambda results: yes
        if isinstance(no, Undefined):
            return lambda results: no
        made = self._merge(yes, no)
        if made is None:
            reason = f"is {describe(yes)} in one branch of an `if` and {describe(no)} in the other"
            return lambda results: Undefined(reason, _REMEDY)
        return made

    def add_one(self, value: Any, branch: int) -> Callable[[list[Value]], Any]:
        """The same for what only one branch says; the other yields a value that nobody reads."""
        number = self.emitter.number
        match value:
            case Tile():
                return self._yield_one(
                    value.value,
                    branch,
                    lambda: self.emitter.zero_bits(value.dims, value.dtype).value,
                    lambda result: Tile(result, value.dims, value.dtype),
                )
            case RuntimeInteger():
                placeholder = partial(self.emitter.integers.value, 0)
                return self._yield_one(value.value, branch, placeholder, RuntimeInteger)
            case RuntimeFloat():
                return self._yield_one(
                    value.value,
                    branch,
                    lambda: number(0, value.dtype),
                    lambda result: RuntimeFloat(result, value.dtype),
                )
            case RuntimeBool():
                placeholder = partial(number, False, torch.bool)
                return self._yield_one(value.value, branch, placeholder, RuntimeBool)
            case tuple() | list():
                parts = [self.add_one(part, branch) for part in value]
                return lambda results: type(value)(part(results) for part in parts)
            case TileIndex():
                offset = self.add_one(value.offset, branch)
                return lambda results: replace(value, offset=offset(results))
            case BoundMethod():
                bound = self.add_one(value.value, branch)
                return lambda results: replace(value, value=bound(results))
            case slice():
                bounds = self.add_one((value.start, value.stop, value.step), branch)
                return lambda results: slice(*bounds(results))
        return lambda results: value

    def _yield_one(
        self,
        value: Value,
        branch: int,
        placeholder: Callable[[], Value],
        make: Callable[[Value], Any],
    ) -> Callable[[list[Value]], Any]:
        other = self.choice.branch(1 - branch, placeholder)
        return self._yield(*((value, other) if branch == 0 else (other, value)), make)

    def _merge(self, yes: Any, no: Any) -> Callable[[list[Value]], Any] | None:
        if yes is no or _same_constant(yes, no):
            return lambda results: yes
        match yes, no:
            case Tile(), Tile():
                same = yes.dtype == no.dtype and len(yes.dims) == len(no.dims)
                if not same or not all(a.same(b) for a, b in zip(yes.dims, no.dims, strict=True)):
                    return None
                return self._yield(
                    yes.value, no.value, lambda value: Tile(value, yes.dims, yes.dtype)
                )
            case tuple(), tuple() if len(yes) == len(no):
                parts = [self._merge(a, b) for a, b in zip(yes, no, strict=True)]
                if any(part is None for part in parts):
                    return None
                return lambda results: tuple(part(results) for part in parts)  # type: ignore[misc]
        return self._merge_numbers(yes, no)

    def _merge_numbers(self, yes: Any, no: Any) -> Callable[[list[Value]], Any] | None:
        numbers = (yes, no)
        if all(isinstance(number, (bool, RuntimeBool)) for number in numbers):
            return self._yield_numbers(numbers, torch.bool, RuntimeBool)
        if any(isinstance(number, (bool, RuntimeBool)) for number in numbers):
            return None
        if all(isinstance(number, (int, RuntimeInteger)) for number in numbers):
            value = self.emitter.integers.value
            a = self.choice.branch(0, lambda: value(yes))
            b = self.choice.branch(1, lambda: value(no))
            return self._yield(a, b, RuntimeInteger)
        if all(
            isinstance(number, (int, float, RuntimeInteger, RuntimeFloat)) for number in numbers
        ):
            dtype = self.emitter.scalar_dtype
            return self._yield_numbers(numbers, dtype, lambda value: RuntimeFloat(value, dtype))
        return None

    def _yield_numbers(
        self, numbers: tuple[Any, Any], dtype: torch.dtype, make: Callable[[Value], Any]
    ) -> Callable[[list[Value]], Any]:
        number = self.emitter.number
        a = self.choice.branch(0, lambda: number(numbers[0], dtype))
        b = self.choice.branch(1, lambda: number(numbers[1], dtype))
        return self._yield(a, b, make)

    def _yield(
        self, yes: Value, no: Value, make: Callable[[Value], Any]
    ) -> Callable[[list[Value]], Any]:
        position = len(self.yielded[0])
        self.yielded[0].append(yes)
        self.yielded[1].append(no)
        return lambda results: make(results[position])


def _same_constant(a: Any, b: Any) -> bool:
    """Whether two values known at compile time are equal, and of one kind."""
    runtime = (Tile, RuntimeInteger, RuntimeFloat, RuntimeBool, tuple, list)
    if isinstance(a, runtime) or isinstance(b, runtime):
        return False
    return type(a) is type(b) and bool(a == b)
