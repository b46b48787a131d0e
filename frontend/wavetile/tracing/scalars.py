# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Python's operators and functions on numbers of which some are known only at run time.

They mean what they mean in Python; floats are f32, or f64 in kernels with f64 tensors.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from wavetile.errors import ArgumentError, UnsupportedSyntaxError
from wavetile.tracing.arithmetic import Arithmetic
from wavetile.tracing.values import RuntimeBool, RuntimeFloat, RuntimeInteger, describe

if TYPE_CHECKING:
    from wavetile._C import Value
    from wavetile.tracing.emitter import Emitter, Number

#: Python's own operators, for constants.
PYTHON_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}
PYTHON_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
}
#: The names of comparisons that run-time values have.
PREDICATES: dict[type[ast.cmpop], str] = {
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
}

_INTEGER_BINARY = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.FloorDiv: "floor_divide",
    ast.Mod: "remainder",
}
_FLOAT_BINARY: dict[type[ast.operator], Callable[..., Value]] = {
    ast.Add: Arithmetic.add,
    ast.Sub: Arithmetic.sub,
    ast.Mult: Arithmetic.mul,
    ast.Div: Arithmetic.div,
    ast.FloorDiv: Arithmetic.floor_divide,
    ast.Mod: Arithmetic.remainder,
}
_FLOAT_FUNCTIONS: dict[Any, Callable[..., Value]] = {
    math.sqrt: Arithmetic.sqrt,
    math.exp: Arithmetic.exp,
    math.log: Arithmetic.log,
    math.log2: Arithmetic.log2,
}


def _is_integer(number: Any) -> bool:
    return isinstance(number, (int, RuntimeInteger)) and not isinstance(number, bool)


class ScalarEmitter:
    """Emits operations on numbers."""

    def __init__(self, emitter: Emitter) -> None:
        self.emitter = emitter

    def _float(self, number: Number) -> Value:
        return self.emitter.number(number, self.emitter.scalar_dtype)

    def _arithmetic(self) -> Arithmetic:
        return self.emitter.arithmetic(None, self.emitter.scalar_dtype)

    def _result(self, value: Value) -> RuntimeFloat:
        return RuntimeFloat(value, self.emitter.scalar_dtype)

    def binary(self, operator_: type[ast.operator], a: Number, b: Number) -> Number:
        """a operator b."""
        if isinstance(a, RuntimeBool) and isinstance(b, (bool, RuntimeBool)):
            return self._bool_binary(operator_, a, b)
        if _is_integer(a) and _is_integer(b) and operator_ in _INTEGER_BINARY:
            return getattr(self.emitter.integers, _INTEGER_BINARY[operator_])(a, b)
        if operator_ is ast.Pow and b == 2:
            return self.binary(ast.Mult, a, a)
        if operator_ not in _FLOAT_BINARY or isinstance(a, RuntimeBool):
            self.emitter.fail(
                UnsupportedSyntaxError,
                f"this operator on {describe(a)} and {describe(b)} is not supported in device"
                " code yet",
                "compute the number in host code, before the loop",
            )
        compute = _FLOAT_BINARY[operator_]
        return self._result(compute(self._arithmetic(), self._float(a), self._float(b)))

    def _bool_binary(self, operator_: type[ast.operator], a: Number, b: Number) -> RuntimeBool:
        bits = {
            ast.BitAnd: Arithmetic.bit_and,
            ast.BitOr: Arithmetic.bit_or,
            ast.BitXor: Arithmetic.bit_xor,
        }
        if operator_ not in bits:
            self.emitter.fail(UnsupportedSyntaxError, "bools have &, | and ^ in device code")
        number = self.emitter.number
        arithmetic = self.emitter.arithmetic(None, torch.bool)
        values = number(a, torch.bool), number(b, torch.bool)
        return RuntimeBool(bits[operator_](arithmetic, *values))

    def negate(self, number: Number) -> Number:
        """-number."""
        if _is_integer(number):
            return self.emitter.integers.sub(0, number)  # type: ignore[arg-type]
        return self._result(self._arithmetic().neg(self._float(number)))

    def compare(self, predicate: str, a: Number, b: Number) -> RuntimeBool:
        """A comparison: eq, ne, lt, le, gt or ge."""
        if _is_integer(a) and _is_integer(b):
            return self.emitter.integers.compare(predicate, a, b)  # type: ignore[arg-type]
        return RuntimeBool(self._arithmetic().compare(predicate, self._float(a), self._float(b)))

    def select(self, condition: RuntimeBool, a: Number, b: Number) -> Number:
        """a if condition else b."""
        module = self.emitter.module
        if _is_integer(a) and _is_integer(b):
            integers = self.emitter.integers
            operands = [condition.value, integers.value(a), integers.value(b)]  # type: ignore[arg-type]
            return RuntimeInteger(module.value("arith.select", operands, integers.type))
        arithmetic = self._arithmetic()
        return self._result(arithmetic.select(condition.value, self._float(a), self._float(b)))

    def call(self, function: Any, args: list[Any]) -> Number | None:
        """A call of a builtin or of `math` on numbers; None if it is not one of them."""
        integers = self.emitter.integers
        if function in (min, max) and len(args) == 2:
            if all(map(_is_integer, args)):
                return integers.minimum(*args) if function is min else integers.maximum(*args)
            if not all(isinstance(arg, (int, float, RuntimeInteger, RuntimeFloat)) for arg in args):
                return None
            predicate = "lt" if function is min else "gt"
            return self.select(self.compare(predicate, args[1], args[0]), args[1], args[0])
        if len(args) != 1 or not isinstance(args[0], (RuntimeInteger, RuntimeFloat, RuntimeBool)):
            return None
        (number,) = args
        if function is float:
            return self._result(self._float(number))
        if function is int and isinstance(number, RuntimeInteger):
            return number
        if function is abs and isinstance(number, RuntimeInteger):
            return integers.maximum(number, integers.sub(0, number))
        if function is abs:
            return self._result(self._arithmetic().abs(self._float(number)))
        if function in _FLOAT_FUNCTIONS:
            compute = _FLOAT_FUNCTIONS[function]
            return self._result(compute(self._arithmetic(), self._float(number)))
        return None


def python_binary(emitter: Emitter, operator_: type[ast.operator], a: Any, b: Any) -> Any:
    """The operator on constants.

    Raises:
        ArgumentError: Python refuses it
    """
    try:
        return PYTHON_BINARY[operator_](a, b)
    except (TypeError, ValueError, ArithmeticError) as error:
        emitter.fail(ArgumentError, f"{type(error).__name__}: {error}")
