# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The names that kernels are written with; usually imported as `wl`.

The functions here mark device code. Inside the loops of a `@wavetile.kernel` the compiler gives
them their meaning; anywhere else calling one is an `OutsideKernelError`, except for those that
host code uses: `specialize` and `register_block_size`.

Example:
    import torch, wavetile
    import wavetile.language as wl

    @wavetile.kernel
    def add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        out = torch.empty_like(x)
        for rows in wl.tile(x.size(0)):
            out[rows, :] = x[rows, :] + y[rows, :]
        return out
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ParamSpec, TypeVar

import torch

from wavetile import tunables
from wavetile.device_functions import INTERPRETER as INTERPRETER
from wavetile.device_functions import device_function, outside
from wavetile.errors import ArgumentError
from wavetile.language_atomics import (
    atomic_add,
    atomic_and,
    atomic_cas,
    atomic_max,
    atomic_min,
    atomic_or,
    atomic_xchg,
    atomic_xor,
)
from wavetile.language_loops import Tile, grid, jagged_tile, static_range, tile
from wavetile.language_random import rand, randint, randn
from wavetile.language_scaled import (
    dot_scaled,
    float4_e2m1fn_x2_to_float32,
    pack_fp4,
    unpack_fp4,
)
from wavetile.tunables import IntegerFragment

__all__ = [
    "BlockSize",
    "Tile",
    "arange",
    "associative_scan",
    "atomic_add",
    "atomic_and",
    "atomic_cas",
    "atomic_max",
    "atomic_min",
    "atomic_or",
    "atomic_xchg",
    "atomic_xor",
    "barrier",
    "constexpr",
    "cumprod",
    "cumsum",
    "device_assert",
    "device_print",
    "dot",
    "dot_scaled",
    "float4_e2m1fn_x2_to_float32",
    "fma",
    "full",
    "grid",
    "inline_asm",
    "inline_asm_elementwise",
    "jagged_tile",
    "join",
    "load",
    "pack_fp4",
    "rand",
    "randint",
    "randn",
    "reduce",
    "register_block_size",
    "register_tunable",
    "specialize",
    "split",
    "static_range",
    "store",
    "tile",
    "unpack_fp4",
    "zeros",
]

T = TypeVar("T")
P = ParamSpec("P")


class BlockSize(int):
    """A block size that a Config chooses within limits; made by `register_block_size`.

    An int for host code and device code. In the shape of a tile it stands for a block of the loop
    that has it as its `block_size`.

    Attributes:
        low, high: the limits
        name: the host variable that holds it

    Example:
        size = wl.register_block_size(16, 128)
    """

    low: int
    high: int
    name: str

    def __new__(cls, value: int, low: int, high: int, name: str) -> BlockSize:
        size = super().__new__(cls, value)
        size.low, size.high, size.name = low, high, name
        return size

    def _facts(self) -> tuple[int, int, int, str]:
        return int(self), self.low, self.high, self.name

    def __eq__(self, other: object) -> bool:
        if isinstance(other, BlockSize):
            return self._facts() == other._facts()
        return super().__eq__(other)

    def __hash__(self) -> int:
        return super().__hash__()

    def __repr__(self) -> str:
        return f"BlockSize({int(self)}, {self.low}, {self.high}, {self.name!r})"


if TYPE_CHECKING:
    from typing_extensions import TypeVar as _TypeVarWithDefault

    # To a type checker the annotation is that of the value: `wl.constexpr[int]` is `int`.
    _Constant = _TypeVarWithDefault("_Constant", default=Any)
    constexpr = Annotated[_Constant, "a constant of the compiled code"]
    """Annotation of a kernel parameter whose value is a constant of the compiled code."""
else:

    class constexpr:  # noqa: N801 (Triton's and Helion's name)
        """Annotation of a kernel parameter whose value is a constant of the compiled code.

        A kernel is compiled once for each value, which must be hashable.

        Example:
            @wavetile.kernel
            def scale(x: torch.Tensor, factor: wl.constexpr) -> torch.Tensor: ...
        """

        def __class_getitem__(cls, item: object) -> type[constexpr]:
            return cls


@device_function
def load(
    tensor: torch.Tensor, index: Sequence[Any], extra_mask: torch.Tensor | None = None
) -> torch.Tensor:
    """`tensor[index]` where a mask holds, and 0 elsewhere.

    Args:
        tensor: a tensor in memory
        index: a list of indices as in `tensor[...]`
        extra_mask: a tile of bool that broadcasts to the result's shape

    Returns:
        a tile of the tensor's dtype, in the shape of `tensor[index]`

    Raises:
        DTypeError: the mask is no tile of bool, or an index no integer
        ShapeError: the mask does not broadcast to the result

    Example:
        v = wl.load(x, [rows.index + shift], extra_mask=rows.index + shift < limit)
    """
    raise outside("load")


@device_function
def store(
    tensor: torch.Tensor,
    index: Sequence[Any],
    value: torch.Tensor | float,
    extra_mask: torch.Tensor | None = None,
) -> None:
    """`tensor[index] = value` where a mask holds.

    Args:
        tensor: a tensor in memory
        index: a list of indices as in `tensor[...]`
        value: a tile that broadcasts to that place, or a number
        extra_mask: a tile of bool that broadcasts to that place

    Raises:
        DTypeError: the mask is no tile of bool, or an index no integer
        ShapeError: the value or the mask does not broadcast to that place

    Example:
        wl.store(out, [rows], v, extra_mask=v > 0)
    """
    raise outside("store")


@device_function
def zeros(shape: Sequence[Any], dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """A tile of zeros.

    Args:
        shape: for each dimension a `Tile`, for as many elements as it has, or an int
        dtype: the element type

    Returns:
        a tile of that shape

    Raises:
        ArgumentError: a shape of something else
        DTypeError: a dtype that tiles do not have

    Example:
        acc = wl.zeros([rows, cols], dtype=torch.float32)
    """
    raise outside("zeros")


@device_function
def full(shape: Sequence[Any], value: float, dtype: torch.dtype | None = None) -> torch.Tensor:
    """A tile with one value in every element.

    Args:
        shape: for each dimension a `Tile`, for as many elements as it has, or an int
        value: a bool, int or float
        dtype: the element type; without it that of `torch.full`: bool, i64 or f32

    Returns:
        a tile of that shape

    Raises:
        ArgumentError: a shape or a value of something else
        DTypeError: a dtype that tiles do not have

    Example:
        highest = wl.full([rows], float("-inf"), dtype=torch.float32)
    """
    raise outside("full")


@device_function
def arange(size: int, dtype: torch.dtype = torch.int64) -> torch.Tensor:
    """0, 1, ..., size - 1 as a tile of one dimension.

    Args:
        size: an int, or a `Tile` for as many elements as it has
        dtype: an integer or floating-point type

    Returns:
        a tile of one dimension

    Raises:
        ArgumentError: a size of something else
        DTypeError: the dtype is bool

    Example:
        even = x[rows, :].gather(-1, (wl.arange(8) * 2)[None, :])
    """
    raise outside("arange")


@device_function
def fma(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> torch.Tensor:
    """a * b + c, rounded once.

    Args:
        a, b, c: tiles of floats, or numbers; they broadcast and promote as in torch

    Returns:
        a tile of the shape and dtype that they have in common

    Raises:
        DTypeError: the operands are not floats

    Example:
        y = wl.fma(x[rows, :], 2.0, bias[rows, :])
    """
    raise outside("fma")


@device_function
def associative_scan(
    combine_fn: Callable[..., Any], input: Any, dim: int, reverse: bool = False
) -> Any:
    """Combines each element with all before it along a dimension.

    Args:
        combine_fn: an associative function of two elements, which are tiles without dimensions;
            for a tuple of tiles one of two tuples, or of all elements of both
        input: a tile, or a tuple of tiles of one shape
        dim: the dimension
        reverse: from the last element on

    Returns:
        a tile, or a tuple of tiles, of the input's shape and dtypes.

    Raises:
        DTypeError: the function changes a dtype

    Example:
        total = wl.associative_scan(torch.add, x[rows, :], dim=-1)
    """
    raise outside("associative_scan")


@device_function
def reduce(
    combine_fn: Callable[..., Any],
    input: Any,
    dim: int | None = None,
    other: Any = 0,
    keep_dims: bool = False,
) -> Any:
    """Combines the elements along a dimension, or all of them.

    Args:
        combine_fn: as for `associative_scan`
        input: a tile, or a tuple of tiles of one shape
        dim: the dimension; all of them if None
        other: the result where there is no element, or one for each tile
        keep_dims: leave a dimension of size one

    Returns:
        a tile without that dimension, of the input's dtype, or a tuple of them

    Raises:
        ShapeError: there is no such dimension, or the tiles differ in shape
        DTypeError: the function changes a dtype

    Example:
        largest = wl.reduce(torch.maximum, x[rows, :], dim=-1, other=-float("inf"))
    """
    raise outside("reduce")


@device_function
def cumsum(input: torch.Tensor, dim: int) -> torch.Tensor:
    """As torch.cumsum: the sum of all elements up to each one along a dimension.

    Args:
        input: a tile of integers or floats
        dim: the dimension

    Returns:
        a tile of the input's shape; of its dtype, i64 for bool and other integers

    Raises:
        ShapeError: there is no such dimension

    Example:
        ends = wl.cumsum(lengths[rows], dim=0)
    """
    raise outside("cumsum")


@device_function
def cumprod(input: torch.Tensor, dim: int) -> torch.Tensor:
    """As torch.cumprod: the product of all elements up to each one along a dimension.

    Args:
        input: a tile of integers or floats
        dim: the dimension

    Returns:
        a tile of the input's shape; of its dtype, i64 for bool and other integers

    Raises:
        ShapeError: there is no such dimension

    Example:
        decay = wl.cumprod(alpha[rows, :], dim=-1)
    """
    raise outside("cumprod")


@device_function
def join(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Two tiles of one shape along a new last dimension of size two.

    Args:
        a, b: tiles, which broadcast and promote as in torch

    Returns:
        a tile with one dimension more than they have

    Raises:
        ShapeError: they do not broadcast

    Example:
        pairs = wl.join(real, imaginary)
    """
    raise outside("join")


@device_function
def split(input: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The two tiles of which the last dimension, of size two, is made: the reverse of `join`.

    Args:
        input: a tile

    Returns:
        two tiles of its dtype without its last dimension

    Raises:
        ShapeError: the last dimension does not have size two

    Example:
        first, second = wl.split(x[rows, :].reshape([rows, n // 2, 2]))
    """
    raise outside("split")


@device_function
def dot(
    a: torch.Tensor,
    b: torch.Tensor,
    acc: torch.Tensor | None = None,
    out_dtype: torch.dtype | None = None,
) -> torch.Tensor:
    """The matrix product of a (M x K) and b (K x N), plus `acc`.

    Products are summed in f32 for f32, 16-bit and fp8 operands and in f64 for f64.

    Args:
        a, b: tiles of two dimensions and one floating-point dtype
        acc: a tile of M x N
        out_dtype: the dtype of the result; without it that of `acc`, or f32 (f64 for f64)

    Returns:
        a tile of M x N

    Raises:
        ShapeError: the dimensions do not agree
        DTypeError: the dtypes differ or have no product

    Example:
        for k in wl.tile(x.size(1)):
            acc = wl.dot(x[rows, k], y[k, cols], acc)
    """
    raise outside("dot")


@device_function
def device_print(prefix: str, *values: Any) -> None:
    """Prints tiles and numbers while a kernel runs, a line for each element.

    A line such as `x [3, 5]: 1.5, 2` has the text, the indices of the element in its loops, and
    what each value holds there. Lines come in no order, after the kernel has run. Of what one
    launch prints, HIP keeps a megabyte.

    Args:
        prefix: a constant string
        values: tiles that broadcast against one another, tile indices, numbers; none prints the
            text once for each block

    Raises:
        ArgumentError: the text is no constant string, or a value is neither

    Example:
        wl.device_print("x", rows.index, x[rows])
    """
    raise outside("device_print")


@device_function
def device_assert(condition: torch.Tensor | bool, message: str = "") -> None:
    """Ends the launch if an element of the condition is false.

    The call of the kernel then raises a `DeviceError`, whose report names the line. A kernel that
    runs as Python raises an `AssertionError`.

    Args:
        condition: a tile of bool, or a bool
        message: a constant string, printed with the line and the indices of the element

    Raises:
        DTypeError: the condition is no tile of bool

    Example:
        wl.device_assert(index[rows] < x.size(0), "the index is in range")
    """
    raise outside("device_assert")


@device_function
def inline_asm(
    asm: str,
    constraints: str,
    args: Sequence[Any],
    dtype: Any,
    is_pure: bool = True,
    pack: int = 1,
) -> Any:
    """Elements that instructions of the GPU compute, in the syntax of LLVM's assembler.

    Args:
        asm: the instructions, with $0, $1, ... for registers: first those of the results
        constraints: LLVM's for each of these registers, such as "=v,v,v"; v is a vector register
        args: tiles, which broadcast against one another, and numbers
        dtype: that of the result, or a tuple of them for several results
        is_pure: without effects; otherwise it is never left out, moved or repeated
        pack: how many elements it computes at a time; those of 8 and 16 bits share registers of
            32 bits, from the lowest bits up, those of 64 bits take two

    Returns:
        a tile of the operands' shape, or a tuple of them

    Raises:
        ArgumentError: the strings are no constants, or there is no operand
        CompilationError: the target has no such instruction, or the constraints do not fit

    Example:
        larger = wl.inline_asm("v_max_f32 $0, $1, $2", "=v,v,v", [a, b], torch.float32)
    """
    raise outside("inline_asm")


@device_function
def inline_asm_elementwise(
    asm: str,
    constraints: str,
    args: Sequence[Any],
    dtype: Any,
    is_pure: bool = True,
    pack: int = 1,
) -> Any:
    """As `inline_asm`, by Helion's name.

    Args:
        asm, constraints, args, dtype, is_pure, pack: as for `inline_asm`

    Returns:
        a tile of the operands' shape, or a tuple of them

    Raises:
        ArgumentError: the strings are no constants, or there is no operand
        CompilationError: the target has no such instruction, or the constraints do not fit

    Example:
        larger = wl.inline_asm_elementwise("v_max_f32 $0, $1, $2", "=v,v,v", [a, b], torch.float32)
    """
    raise outside("inline_asm_elementwise")


def specialize(value: T) -> T:
    """Compiles the kernel for this value, which device code then knows as a constant.

    Host code only.

    Args:
        value: an int, float, bool, dtype or a tuple of them, such as `x.size(1)`

    Returns:
        the value itself

    Raises:
        ArgumentError: for a tensor

    Example:
        n = wl.specialize(x.size(1))
    """
    if isinstance(value, torch.Tensor):
        raise ArgumentError(
            "wl.specialize takes a number, not a tensor",
            remedy="specialise on one of its sizes, such as x.size(1)",
        )
    return tuple(value) if isinstance(value, torch.Size) else value  # type: ignore[return-value]


def register_tunable(name: str, fragment: IntegerFragment) -> int:
    """A number that the Config may choose, by its name; for host code.

    Device code knows it, and the kernel is compiled for it. It must not change what the kernel
    computes.

    Args:
        name: the Config's key
        fragment: `wavetile.IntegerFragment` or `wavetile.PowerOfTwoFragment`: what it may be,
            and what it is if the Config does not say

    Returns:
        what the Config chooses, an int

    Raises:
        ConfigError: the Config chooses something else
        ArgumentError: the fragment is none

    Example:
        split_k = wl.register_tunable("split_k", wavetile.PowerOfTwoFragment(1, 64))
    """
    return tunables.choose(name, fragment)


def barrier() -> None:
    """Says that a top-level loop needs what the one before it has stored.

    Top-level loops always run in order, each after all blocks of the one before, so that this
    changes nothing; it stands between them, in host code. Raises nothing.

    Example:
        for rows in wl.tile(m):
            partial[rows] = x[rows, :].sum(-1)
        wl.barrier()
        for cols in wl.tile(n):
            ...
    """


def register_block_size(
    low_or_high: int, high: int | None = None, *, name: str | None = None
) -> BlockSize:
    """A block size within limits for `wl.tile(..., block_size=...)`, for host code.

    The Config chooses it by the variable of a loop that has it, or by position as Helion does.
    Several loops may share it. It is an int, which sizes of tensors may be computed from.

    Args:
        low_or_high: the largest allowed size, or the smallest one if `high` is given
        high: the largest allowed size
        name: what it is called; the compiler takes the variable that it is assigned to

    Returns:
        what the Config chooses; without it a power of two up to 64

    Raises:
        ArgumentError: for limits that are not positive or out of order
        ConfigError: the Config chooses a size outside of them

    Example:
        size = wl.register_block_size(16, 128)
        partial = torch.empty(wavetile.cdiv(x.size(0), size))
    """
    low, high = (1, low_or_high) if high is None else (low_or_high, high)
    if not 0 < low <= high:
        raise ArgumentError(f"a block size between {low} and {high} does not exist")
    # Without a Config a power of two, 64 if the limits allow it.
    default = max(low, min(64, 1 << (high.bit_length() - 1)))
    if interpreter := INTERPRETER.get():
        default = interpreter.block_size(low, high)
    value = tunables.choose_block_size(name, low, high, default)
    return BlockSize(value, low, high, name or "block")
