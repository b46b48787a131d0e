# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations of the `arith` and `math` dialects on values of one type.

Fast math is decided here and nowhere else (docs/architecture.md says what it means): every
floating-point operation may contract; a division by a row's value or by a number may use a
reciprocal; exp, exp2, log, log2 and rsqrt may be approximate. Never nnan, ninf or nsz.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch

from wavetile.tracing.dtypes import BY_DTYPE, UNSIGNED, wrapped
from wavetile.tracing.values import Dim

if TYPE_CHECKING:
    from wavetile._C import TileModule, Type, Value

# The numbers of arith's predicates.
_FLOAT_PREDICATES = {"eq": 1, "gt": 2, "ge": 3, "lt": 4, "le": 5, "ne": 13}
_SIGNED_PREDICATES = {"eq": 0, "ne": 1, "lt": 2, "le": 3, "gt": 4, "ge": 5}
_UNSIGNED_PREDICATES = {"eq": 0, "ne": 1, "lt": 6, "le": 7, "gt": 8, "ge": 9}


def tile_type(module: TileModule, dims: Sequence[Dim], dtype: torch.dtype) -> Type:
    """The type of a tile with these dimensions."""
    element = BY_DTYPE[dtype].text
    shape = "".join("?x" if dim.name else "1x" for dim in dims)
    if all(dim.name is None for dim in dims):
        return module.type(f"tensor<{shape}{element}>")
    names = ", ".join(dim.name or "_" for dim in dims)
    return module.type(f"tensor<{shape}{element}, #tile.dims<[{names}]>>")


class Arithmetic:
    """Operations on values of one type: a tile's, or a number's if `dims` is None.

    Every method takes and gives values of the module. Those of floats are on f32 or f64.
    """

    def __init__(
        self,
        module: TileModule,
        dims: Sequence[Dim] | None,
        dtype: torch.dtype,
        fast_math: bool,
    ) -> None:
        self.module = module
        self.dims = dims
        self.dtype = dtype
        self.fast_math = fast_math
        self.is_float = dtype.is_floating_point
        self.is_bool = dtype is torch.bool
        self.is_unsigned = dtype in UNSIGNED
        self.element = module.type(BY_DTYPE[dtype].text)
        self.type = self.element if dims is None else tile_type(module, dims, dtype)
        #: Values that all elements of a row share; division by one may use its reciprocal.
        self.row_values: list[Value] = []

    def of(self, dtype: torch.dtype) -> Arithmetic:
        """Operations on the same shape with another element type."""
        return Arithmetic(self.module, self.dims, dtype, self.fast_math)

    # -- Building blocks

    def _float(self, name: str, *operands: Value, flags: str = "contract") -> Value:
        attributes = {}
        if self.fast_math:
            attributes["fastmath"] = self.module.attribute(f"#arith.fastmath<{flags}>")
        return self.module.value(name, operands, self.type, attributes)

    def _integer(self, name: str, *operands: Value) -> Value:
        return self.module.value(name, operands, self.type)

    def _either(self, on_float: str, on_integer: str, *operands: Value) -> Value:
        if self.is_float:
            return self._float(on_float, *operands)
        return self._integer(on_integer, *operands)

    def _exact(self, name: str, *operands: Value) -> Value:
        """An operation of floats that must round by itself: nothing is contracted into it."""
        return self.module.value(name, operands, self.type)

    def _signed(self, name: str) -> str:
        return name.format("u" if self.is_unsigned else "s")

    def splat(self, number: Value) -> Value:
        """A number of the element type in every element."""
        if self.dims is None:
            return number
        value = self.module.value("tile.full", [number], self.type)
        self.row_values.append(value)
        return value

    def constant(self, number: bool | int | float) -> Value:
        """A constant in every element."""
        if not self.is_float:
            number = wrapped(int(number), self.dtype)
        return self.splat(self.module.constant(self.element, number))

    # -- Arithmetic

    def add(self, a: Value, b: Value) -> Value:
        if self.is_bool:
            return self._integer("arith.ori", a, b)
        return self._either("arith.addf", "arith.addi", a, b)

    def sub(self, a: Value, b: Value) -> Value:
        return self._either("arith.subf", "arith.subi", a, b)

    def mul(self, a: Value, b: Value) -> Value:
        if self.is_bool:
            return self._integer("arith.andi", a, b)
        return self._either("arith.mulf", "arith.muli", a, b)

    def div(self, a: Value, b: Value) -> Value:
        """Division of floats."""
        by_row = any(value is b for value in self.row_values)
        return self._float("arith.divf", a, b, flags="contract, arcp" if by_row else "contract")

    def neg(self, a: Value) -> Value:
        if self.is_float:
            return self._float("arith.negf", a)
        return self.sub(self.constant(0), a)

    def fma(self, a: Value, b: Value, c: Value) -> Value:
        """a * b + c, rounded once."""
        return self._float("math.fma", a, b, c)

    def maximum(self, a: Value, b: Value) -> Value:
        """The larger one; NaN if one is."""
        if self.is_bool:
            return self._integer("arith.ori", a, b)
        return self._either("arith.maximumf", self._signed("arith.max{}i"), a, b)

    def minimum(self, a: Value, b: Value) -> Value:
        """The smaller one; NaN if one is."""
        if self.is_bool:
            return self._integer("arith.andi", a, b)
        return self._either("arith.minimumf", self._signed("arith.min{}i"), a, b)

    def maximum_number(self, a: Value, b: Value) -> Value:
        """The larger one; the other one if one is NaN."""
        return self._float("arith.maxnumf", a, b) if self.is_float else self.maximum(a, b)

    def minimum_number(self, a: Value, b: Value) -> Value:
        """The smaller one; the other one if one is NaN."""
        return self._float("arith.minnumf", a, b) if self.is_float else self.minimum(a, b)

    def abs(self, a: Value) -> Value:
        return a if self.is_unsigned else self._either("math.absf", "math.absi", a)

    def sign(self, a: Value) -> Value:
        """-1, 0 or 1; 0 for NaN and either zero, as in torch."""
        zero, one = self.constant(0), self.constant(1)
        positive = self.select(self.compare("gt", a, zero), one, zero)
        if self.is_unsigned or self.is_bool:
            return positive
        return self.select(self.compare("lt", a, zero), self.constant(-1), positive)

    def copysign(self, a: Value, b: Value) -> Value:
        return self._float("math.copysign", a, b)

    def fmod(self, a: Value, b: Value) -> Value:
        """What is left of a division rounded towards zero: zero or of a's sign."""
        if self.is_float:
            return self._float("arith.remf", a, b)
        return self._integer(self._signed("arith.rem{}i"), a, b)

    def floor_divide(self, a: Value, b: Value) -> Value:
        """Division rounded towards minus infinity.

        Of floats as Python and torch do it: from the exact remainder, since a / b may round up to
        the next integer.
        """
        if self.is_unsigned:
            return self._integer("arith.divui", a, b)
        if not self.is_float:
            return self._integer("arith.floordivsi", a, b)
        plain = self._float("arith.divf", a, b)
        rest, zero = self.fmod(a, b), self.constant(0.0)
        moved = self._is_moved(rest, b)
        quotient = self._float("arith.divf", self._exact("arith.subf", a, rest), b)
        quotient = self.select(moved, self.sub(quotient, self.constant(1.0)), quotient)
        floor = self.floor(quotient)
        above = self.compare("gt", self.sub(quotient, floor), self.constant(0.5))
        floor = self.select(above, self.add(floor, self.constant(1.0)), floor)
        result = self.select(self.compare("ne", quotient, zero), floor, self.copysign(zero, plain))
        return self.select(self.compare("eq", b, zero), plain, result)

    def trunc_divide(self, a: Value, b: Value) -> Value:
        """Division rounded towards zero."""
        if self.is_float:
            return self.trunc(self._float("arith.divf", a, b))
        return self._integer(self._signed("arith.div{}i"), a, b)

    def _is_moved(self, rest: Value, b: Value) -> Value:
        """Whether a remainder is not zero and of another sign than the divisor."""
        zero, booleans = self.constant(0), self.of(torch.bool)
        signs_differ = booleans.bit_xor(self.compare("lt", rest, zero), self.compare("lt", b, zero))
        return booleans.bit_and(self.compare("ne", rest, zero), signs_differ)

    def remainder(self, a: Value, b: Value) -> Value:
        """What is left of a division rounded down: zero or of b's sign."""
        rest = self.fmod(a, b)
        if self.is_unsigned:
            return rest
        return self.select(self._is_moved(rest, b), self.add(rest, b), rest)

    def integer_power(self, a: Value, b: Value) -> Value:
        """a ** b of integers, wrapping around; for b < 0 what is left of 1 / a ** -b: 0, 1 or -1.

        Squares once for each bit of b but the sign.
        """
        one, zero = self.constant(1), self.constant(0)
        bits = self.dtype.itemsize * 8 - (0 if self.is_unsigned else 1)
        result, square = one, a
        for bit in range(bits):
            has_bit = self.compare("ne", self.bit_and(b, self.constant(1 << bit)), zero)
            result = self.select(has_bit, self.mul(result, square), result)
            if bit + 1 < bits:
                square = self.mul(square, square)
        if self.is_unsigned:
            return result
        odd = self.compare("ne", self.bit_and(b, one), zero)
        minus_one = self.constant(-1)
        of_minus_one = self.select(odd, minus_one, one)
        inverse = self.select(self.compare("eq", a, minus_one), of_minus_one, zero)
        inverse = self.select(self.compare("eq", a, one), one, inverse)
        return self.select(self.compare("lt", b, zero), inverse, result)

    # -- Bits

    def bit_and(self, a: Value, b: Value) -> Value:
        return self._integer("arith.andi", a, b)

    def bit_or(self, a: Value, b: Value) -> Value:
        return self._integer("arith.ori", a, b)

    def bit_xor(self, a: Value, b: Value) -> Value:
        return self._integer("arith.xori", a, b)

    def bit_not(self, a: Value) -> Value:
        return self.bit_xor(a, self.constant(1 if self.is_bool else -1))

    def _shift_inside(self, b: Value) -> tuple[Value, Value]:
        """Whether a number of bits is below the width, and one that is."""
        width = self.dtype.itemsize * 8
        unsigned = self.module.value(
            "arith.cmpi",
            [b, self.constant(width)],
            self.of(torch.bool).type,
            {"predicate": _UNSIGNED_PREDICATES["lt"]},
        )
        return unsigned, self.select(unsigned, b, self.constant(width - 1))

    def shift_left(self, a: Value, b: Value) -> Value:
        """a * 2**b; 0 where b is negative or at least the width, as in torch."""
        inside, count = self._shift_inside(b)
        return self.select(inside, self._integer("arith.shli", a, count), self.constant(0))

    def shift_right(self, a: Value, b: Value) -> Value:
        """a / 2**b rounded down; where b is negative or at least the width, only the sign."""
        inside, count = self._shift_inside(b)
        if self.is_unsigned:
            return self.select(inside, self._integer("arith.shrui", a, count), self.constant(0))
        return self._integer("arith.shrsi", a, count)

    # -- Choice

    def compare(self, predicate: str, a: Value, b: Value) -> Value:
        """A bool in each element. `predicate` is eq, ne, lt, le, gt or ge."""
        booleans = self.of(torch.bool)
        if self.is_float:
            name, number = "arith.cmpf", _FLOAT_PREDICATES[predicate]
        elif self.is_bool or self.is_unsigned:
            name, number = "arith.cmpi", _UNSIGNED_PREDICATES[predicate]
        else:
            name, number = "arith.cmpi", _SIGNED_PREDICATES[predicate]
        return self.module.value(name, [a, b], booleans.type, {"predicate": number})

    def is_nan(self, a: Value) -> Value:
        return self.compare("ne", a, a)

    def select(self, condition: Value, a: Value, b: Value) -> Value:
        """a where the condition holds, else b."""
        return self.module.value("arith.select", [condition, a, b], self.type)

    # -- Functions of floats

    def exp(self, a: Value) -> Value:
        return self._float("math.exp", a, flags="contract, afn")

    def exp2(self, a: Value) -> Value:
        return self._float("math.exp2", a, flags="contract, afn")

    def log(self, a: Value) -> Value:
        return self._float("math.log", a, flags="contract, afn")

    def log2(self, a: Value) -> Value:
        return self._float("math.log2", a, flags="contract, afn")

    def rsqrt(self, a: Value) -> Value:
        return self._float("math.rsqrt", a, flags="contract, afn")

    def sqrt(self, a: Value) -> Value:
        return self._float("math.sqrt", a)

    def tanh(self, a: Value) -> Value:
        return self._float("math.tanh", a)

    def erf(self, a: Value) -> Value:
        return self._float("math.erf", a)

    def sin(self, a: Value) -> Value:
        return self._float("math.sin", a)

    def cos(self, a: Value) -> Value:
        return self._float("math.cos", a)

    def floor(self, a: Value) -> Value:
        return self._float("math.floor", a)

    def ceil(self, a: Value) -> Value:
        return self._float("math.ceil", a)

    def trunc(self, a: Value) -> Value:
        return self._float("math.trunc", a)

    def round_half_even(self, a: Value) -> Value:
        return self._float("math.roundeven", a)

    def log1p(self, a: Value) -> Value:
        return self._float("math.log1p", a)

    def expm1(self, a: Value) -> Value:
        return self._float("math.expm1", a)

    def log10(self, a: Value) -> Value:
        return self._float("math.log10", a, flags="contract, afn")

    def sinh(self, a: Value) -> Value:
        return self._float("math.sinh", a)

    def cosh(self, a: Value) -> Value:
        return self._float("math.cosh", a)

    def tan(self, a: Value) -> Value:
        return self._float("math.tan", a)

    def atan2(self, a: Value, b: Value) -> Value:
        return self._float("math.atan2", a, b)

    def power(self, a: Value, b: Value) -> Value:
        """a ** b of floats, with the special cases of C's pow."""
        return self._float("math.powf", a, b)
