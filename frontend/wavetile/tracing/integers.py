# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arithmetic on ints that are known when the kernel runs: `index` values."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from wavetile.tracing.values import CallValue, Integer, RuntimeBool, RuntimeInteger

if TYPE_CHECKING:
    from wavetile._C import TileModule, Value

_MEANINGS: dict[str, Callable[[int, int], int]] = {
    "arith.addi": operator.add,
    "arith.subi": operator.sub,
    "arith.muli": operator.mul,
    "arith.floordivsi": operator.floordiv,
    "arith.minsi": min,
    "arith.maxsi": max,
}
_PREDICATES = {"eq": 0, "ne": 1, "lt": 2, "le": 3, "gt": 4, "ge": 5}


class IntegerEmitter:
    """Index arithmetic; what has only constants is computed at compile time by the caller."""

    def __init__(self, module: TileModule) -> None:
        self.module = module
        self.type = module.type("index")

    def value(self, integer: Integer) -> Value:
        """An int as a value of the module."""
        if isinstance(integer, RuntimeInteger):
            return integer.value
        return self.module.constant(self.type, integer)

    def _binary(self, name: str, a: Integer, b: Integer) -> RuntimeInteger:
        operands = [self.value(a), self.value(b)]
        return RuntimeInteger(
            self.module.value(name, operands, self.type), _call_value(_MEANINGS[name], a, b)
        )

    @staticmethod
    def _moved(result: RuntimeInteger, a: Integer, b: Integer) -> RuntimeInteger:
        """The sum of an int and a constant, which remembers them."""
        if isinstance(a, int):
            a, b = b, a
        if isinstance(a, int) or not isinstance(b, int):
            return result
        return replace(result, base=a.base or a, distance=a.distance + b)

    def add(self, a: Integer, b: Integer) -> Integer:
        """a + b."""
        if isinstance(a, int) and isinstance(b, int):
            return a + b
        if b == 0:
            return a
        if a == 0:
            return b
        return self._moved(self._binary("arith.addi", a, b), a, b)

    def sub(self, a: Integer, b: Integer) -> Integer:
        """a - b."""
        if isinstance(a, int) and isinstance(b, int):
            return a - b
        if b == 0:
            return a
        difference = self._binary("arith.subi", a, b)
        return self._moved(difference, a, -b) if isinstance(b, int) else difference

    def mul(self, a: Integer, b: Integer) -> Integer:
        """a * b."""
        if isinstance(a, int) and isinstance(b, int):
            return a * b
        if a == 1:
            return b
        return a if b == 1 else self._binary("arith.muli", a, b)

    def floor_divide(self, a: Integer, b: Integer) -> Integer:
        """a // b."""
        if isinstance(a, int) and isinstance(b, int):
            return a // b
        return a if b == 1 else self._binary("arith.floordivsi", a, b)

    def remainder(self, a: Integer, b: Integer) -> Integer:
        """a % b."""
        if isinstance(a, int) and isinstance(b, int):
            return a % b
        return self.sub(a, self.mul(self.floor_divide(a, b), b))

    def minimum(self, a: Integer, b: Integer) -> Integer:
        """min(a, b)."""
        if isinstance(a, int) and isinstance(b, int):
            return min(a, b)
        return self._binary("arith.minsi", a, b)

    def maximum(self, a: Integer, b: Integer) -> Integer:
        """max(a, b)."""
        if isinstance(a, int) and isinstance(b, int):
            return max(a, b)
        return self._binary("arith.maxsi", a, b)

    def compare(self, predicate: str, a: Integer, b: Integer) -> RuntimeBool:
        """A comparison: eq, ne, lt, le, gt or ge."""
        operands = [self.value(a), self.value(b)]
        attributes = {"predicate": _PREDICATES[predicate]}
        return RuntimeBool(
            self.module.value("arith.cmpi", operands, self.module.type("i1"), attributes)
        )


def _call_value(meaning: Callable[[int, int], int], a: Integer, b: Integer) -> CallValue | None:
    known = [CallValue(n, frozenset()) if isinstance(n, int) else n.call for n in (a, b)]
    left, right = known
    if left is None or right is None or (meaning is operator.floordiv and right.number == 0):
        return None
    return CallValue(meaning(left.number, right.number), left.arguments | right.arguments)
