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

from wavetile.tracing.dtypes import BY_DTYPE
from wavetile.tracing.values import Dim

if TYPE_CHECKING:
    from wavetile._C import TileModule, Type, Value

# The numbers of arith's predicates.
_FLOAT_PREDICATES = {"eq": 1, "gt": 2, "ge": 3, "lt": 4, "le": 5, "ne": 13}
_SIGNED_PREDICATES = {"eq": 0, "ne": 1, "lt": 2, "le": 3, "gt": 4, "ge": 5}
_BOOL_PREDICATES = {"eq": 0, "ne": 1, "lt": 6, "le": 7, "gt": 8, "ge": 9}


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
            number = int(number)
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
        return self._either("arith.maximumf", "arith.maxsi", a, b)

    def minimum(self, a: Value, b: Value) -> Value:
        """The smaller one; NaN if one is."""
        if self.is_bool:
            return self._integer("arith.andi", a, b)
        return self._either("arith.minimumf", "arith.minsi", a, b)

    def abs(self, a: Value) -> Value:
        return self._either("math.absf", "math.absi", a)

    def copysign(self, a: Value, b: Value) -> Value:
        return self._float("math.copysign", a, b)

    def floor_divide(self, a: Value, b: Value) -> Value:
        """Division rounded towards minus infinity."""
        if self.is_float:
            return self.floor(self.div(a, b))
        return self._integer("arith.floordivsi", a, b)

    def remainder(self, a: Value, b: Value) -> Value:
        """What is left of a division rounded down: zero or of b's sign."""
        name = "arith.remf" if self.is_float else "arith.remsi"
        rest = self._float(name, a, b) if self.is_float else self._integer(name, a, b)
        zero = self.constant(0)
        booleans = self.of(torch.bool)
        signs_differ = booleans.bit_xor(self.compare("lt", rest, zero), self.compare("lt", b, zero))
        moved = booleans.bit_and(self.compare("ne", rest, zero), signs_differ)
        return self.select(moved, self.add(rest, b), rest)

    # -- Bits

    def bit_and(self, a: Value, b: Value) -> Value:
        return self._integer("arith.andi", a, b)

    def bit_or(self, a: Value, b: Value) -> Value:
        return self._integer("arith.ori", a, b)

    def bit_xor(self, a: Value, b: Value) -> Value:
        return self._integer("arith.xori", a, b)

    def bit_not(self, a: Value) -> Value:
        return self.bit_xor(a, self.constant(1 if self.is_bool else -1))

    def shift_left(self, a: Value, b: Value) -> Value:
        return self._integer("arith.shli", a, b)

    def shift_right(self, a: Value, b: Value) -> Value:
        return self._integer("arith.shrsi", a, b)

    # -- Choice

    def compare(self, predicate: str, a: Value, b: Value) -> Value:
        """A bool in each element. `predicate` is eq, ne, lt, le, gt or ge."""
        booleans = self.of(torch.bool)
        if self.is_float:
            name, number = "arith.cmpf", _FLOAT_PREDICATES[predicate]
        elif self.is_bool:
            name, number = "arith.cmpi", _BOOL_PREDICATES[predicate]
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
        """log(1 + a), as exact for small a as log is.

        With u = 1 + a rounded, log(u) * a / (u - 1) (Kahan; Goldberg 1991, theorem 4), and a
        itself where u is 1 or infinite.
        """
        one = self.constant(1.0)
        # Nothing may be reassociated or contracted here: the rounding of u is the point.
        u = self.module.value("arith.addf", [one, a], self.type)
        difference = self.module.value("arith.subf", [u, one], self.type)
        scaled = self.mul(self.log(u), self.div(a, difference))
        plain = self.of(torch.bool).bit_or(
            self.compare("eq", u, one), self.compare("eq", u, self.constant(float("inf")))
        )
        return self.select(plain, a, scaled)
