# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Numbers of 4 bits, and products of matrices whose elements share scales.

Both are those of the OCP specification "Microscaling Formats (MX) 1.0": fp4 is e2m1, without
infinities and NaN; a scale is a power of two, e8m0, for 32 elements along K.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

import torch

from wavetile import language
from wavetile.errors import ArgumentError, DTypeError, ShapeError
from wavetile.tracing.dtypes import PACKED4, SCALE8, STORAGE_ONLY
from wavetile.tracing.operations.matrix import dot
from wavetile.tracing.operations.ordering import take
from wavetile.tracing.operations.reductions import indices_along
from wavetile.tracing.operations.registry import operation
from wavetile.tracing.operations.shapes import check_tile, transpose_matrix
from wavetile.tracing.values import Dim, Integer, Tile, describe, in_this_call

if TYPE_CHECKING:
    from wavetile._C import Value
    from wavetile.tracing.arithmetic import Arithmetic
    from wavetile.tracing.emitter import Emitter

#: Elements along K that share a scale.
BLOCK = 32
_BYTES = (PACKED4, torch.uint8, torch.int8)

# -- Numbers of 4 bits


def _decoded(a: Arithmetic, f: Arithmetic, code: Value) -> Value:
    """The f32 of a code of 4 bits, which is held as i32."""
    magnitude = a.bit_and(code, a.constant(7))
    # One bit of mantissa; the exponents of f32 are 126 above those of e2m1.
    bits = a.add(a.shift_left(magnitude, a.constant(22)), a.constant(126 << 23))
    normal = a.module.value("arith.bitcast", [bits], f.type)
    # 0 and 1/2, which have no leading one.
    small = a.module.value("arith.sitofp", [magnitude], f.type)
    is_small = a.compare("lt", magnitude, a.constant(2))
    absolute = f.select(is_small, f.mul(small, f.constant(0.5)), normal)
    is_negative = a.compare("gt", a.bit_and(code, a.constant(8)), a.constant(0))
    return f.select(is_negative, f.neg(absolute), absolute)


def _halves(emitter: Emitter, tile: Tile) -> tuple[Tile, Tile]:
    """The numbers in the lower and the upper half of each byte, as f32."""
    a, f = (emitter.arithmetic(tile.dims, dtype) for dtype in (torch.int32, torch.float32))
    word = emitter.module.value("arith.extui", [tile.value], a.type)
    codes = a.bit_and(word, a.constant(15)), a.shift_right(word, a.constant(4))
    low, high = (Tile(_decoded(a, f, code), tile.dims, torch.float32) for code in codes)
    return low, high


#: From where on a magnitude is rounded to the next code, and whether this is meant too: of two
#: codes that are as near the even one is taken.
_STEPS = (
    (0.25, "gt"),
    (0.75, "ge"),
    (1.25, "gt"),
    (1.75, "ge"),
    (2.5, "gt"),
    (3.5, "ge"),
    (5.0, "gt"),
)


def _encoded(emitter: Emitter, tile: Tile) -> Value:
    """The code of an f32 as i32: the nearest, to even; NaN and what is too large is 6."""
    a, f = (emitter.arithmetic(tile.dims, dtype) for dtype in (torch.int32, torch.float32))
    absolute = f.abs(tile.value)
    code = a.constant(0)
    for number, (limit, comparison) in enumerate(_STEPS, 1):
        above = f.compare(comparison, absolute, f.constant(limit))
        code = a.select(above, a.constant(number), code)
    code = a.select(f.is_nan(tile.value), a.constant(7), code)
    bits = a.module.value("arith.bitcast", [tile.value], a.type)
    is_negative = a.compare("lt", bits, a.constant(0))
    return a.bit_or(code, a.select(is_negative, a.constant(8), a.constant(0)))


def _check_bytes(emitter: Emitter, name: str, value: Any) -> Tile:
    tile = check_tile(emitter, name, value)
    if tile.dtype not in _BYTES:
        emitter.fail(
            DTypeError,
            f"{name} is for two numbers in a byte, {PACKED4} or torch.uint8, not {tile.dtype}",
        )
    return tile


@operation("wl.unpack_fp4", language.unpack_fp4)
def unpack_fp4(emitter: Emitter, input: Any, dtype: Any = torch.float32) -> tuple[Tile, Tile]:
    """The numbers in the lower and in the upper 4 bits of each byte."""
    tile = _check_bytes(emitter, "wl.unpack_fp4", input)
    if not isinstance(dtype, torch.dtype) or not dtype.is_floating_point or dtype in STORAGE_ONLY:
        emitter.fail(ArgumentError, f"wl.unpack_fp4 makes floats, not {describe(dtype)}")
    low, high = _halves(emitter, tile)
    return emitter.cast(low, dtype), emitter.cast(high, dtype)


@operation("wl.float4_e2m1fn_x2_to_float32", language.float4_e2m1fn_x2_to_float32)
def float4_e2m1fn_x2_to_float32(emitter: Emitter, input: Any) -> tuple[Tile, Tile]:
    """As wl.unpack_fp4 to f32, by Helion's name."""
    return unpack_fp4(emitter, input)


@operation("wl.pack_fp4", language.pack_fp4)
def pack_fp4(emitter: Emitter, low: Any, high: Any) -> Tile:
    """Bytes with the fp4 nearest to two floats: the reverse of wl.unpack_fp4."""
    tiles = [check_tile(emitter, "wl.pack_fp4", value) for value in (low, high)]
    for tile in tiles:
        if not tile.dtype.is_floating_point:
            emitter.fail(DTypeError, f"wl.pack_fp4 is for floats, not {tile.dtype}")
    dims = emitter.common_dims(tiles)
    codes = [_encoded(emitter, emitter.broadcast(_to_f32(emitter, tile), dims)) for tile in tiles]
    a = emitter.arithmetic(dims, torch.int32)
    both = a.bit_or(codes[0], a.shift_left(codes[1], a.constant(4)))
    value = emitter.module.value("arith.trunci", [both], emitter.tile_type(dims, PACKED4))
    return Tile(value, tuple(dims), PACKED4)


def _to_f32(emitter: Emitter, tile: Tile) -> Tile:
    """In f32. An f64 keeps on which side of a limit it is: its rounding is to odd."""
    if tile.dtype is not torch.float64:
        return emitter.cast(tile, torch.float32)
    a, f = (emitter.arithmetic(tile.dims, dtype) for dtype in (torch.int64, torch.float64))
    # Limits have few bits: what is below those of an f32 counts as one of them.
    bits = a.module.value("arith.bitcast", [tile.value], a.type)
    rest = a.compare("ne", a.bit_and(bits, a.constant((1 << 30) - 1)), a.constant(0))
    sticky = a.select(rest, a.constant(1 << 30), a.constant(0))
    kept = a.bit_or(a.bit_and(bits, a.constant(-(1 << 30))), sticky)
    odd = a.module.value("arith.bitcast", [kept], f.type)
    return emitter.cast(Tile(odd, tile.dims, torch.float64), torch.float32)


# -- Products


@dataclass(frozen=True)
class _Operand:
    """An operand of `dot_scaled`: K is its dimension `axis`, `packed` says two in a byte."""

    tile: Tile
    scale: Tile | None
    axis: int
    packed: bool

    @property
    def k(self) -> Dim:
        return self.tile.dims[self.axis]


_FORMATS = {
    "e4m3": (torch.float8_e4m3fn, torch.float8_e4m3fnuz),
    "e5m2": (torch.float8_e5m2, torch.float8_e5m2fnuz),
    "e2m1": _BYTES,
    "bf16": (torch.bfloat16,),
    "fp16": (torch.float16,),
}


def _operand(
    emitter: Emitter, which: str, value: Any, scale: Any, form: Any, axis: int
) -> _Operand:
    name = "wl.dot_scaled"
    if not isinstance(form, str) or form not in _FORMATS:
        emitter.fail(
            ArgumentError,
            f"{name}: the format of {which} is one of {', '.join(_FORMATS)}, not {describe(form)}",
        )
    tile = check_tile(emitter, name, value)
    if len(tile.dims) != 2:
        emitter.fail(ShapeError, f"{name}: {which} has two dimensions, not {tile.shape_text}")
    if tile.dtype not in _FORMATS[form]:
        if tile.dtype in (torch.uint8, torch.int8) and form.startswith("e"):
            tile = emitter.bitcast(tile, _FORMATS[form][0])
        else:
            emitter.fail(DTypeError, f"{name}: {which} in format {form} is not of {tile.dtype}")
    if scale is None:
        return _Operand(tile, None, axis, form == "e2m1")
    scales = check_tile(emitter, name, scale)
    if scales.dtype not in (SCALE8, torch.uint8, torch.int8):
        emitter.fail(
            DTypeError,
            f"{name}: the scales of {which} are {SCALE8} or torch.uint8, not {scales.dtype}",
        )
    scales = Tile(scales.value, scales.dims, SCALE8)
    other = tile.dims[1 - axis]
    if len(scales.dims) != 2 or not any(dim.same(other) for dim in scales.dims):
        _refuse_scales(emitter, which, tile, scales, axis)
    if not scales.dims[0].same(other):
        scales = transpose_matrix(emitter, scales)
    operand = _Operand(tile, scales, axis, form == "e2m1")
    _check_blocks(emitter, which, operand)
    return operand


def _refuse_scales(
    emitter: Emitter, which: str, tile: Tile, scales: Tile, axis: int, found: str = ""
) -> NoReturn:
    """Raises that scales are not those of an operand."""
    example = "x_scale[rows, :]" if axis else "y_scale[cols, :]"
    blocks = "x_scale[rows, k.index // 32]" if axis else "y_scale[cols, k.index // 32]"
    emitter.fail(
        ShapeError,
        f"wl.dot_scaled: scales of shape {scales.shape_text} for {which} of shape"
        f" {tile.shape_text}{found}",
        f"give it one scale for {BLOCK} elements along K in each of its"
        f" {'rows' if axis else 'columns'}, such as {example} for all of K, or one for each"
        f" element, such as {blocks} for a block `k` of it",
    )


def _known_size(emitter: Emitter, dim: Dim) -> Integer | None:
    """The size of a dimension, of a loop's the block size that the kernel fixes, if it is known."""
    if dim.name is not None and dim.name in emitter.dims.blocks:
        return emitter.dims.block_sizes.get(dim.name)
    return dim.extent if in_this_call(dim.extent) is not None else None


def _check_blocks(emitter: Emitter, which: str, operand: _Operand) -> None:
    """Whether an operand has a scale for each element along K, or for each block of them."""
    scale, k = operand.scale, operand.k
    assert scale is not None, "it has scales"
    along = scale.dims[1]
    if along.same(k):
        return
    refuse = partial(_refuse_scales, emitter, which, operand.tile, scale, operand.axis)
    size, count = (_known_size(emitter, dim) for dim in (k, along))
    if size is None or count is None:
        refuse()
    block = BLOCK // 2 if operand.packed else BLOCK
    with emitter.before_loops():
        needed = emitter.integers.floor_divide(emitter.integers.add(size, block - 1), block)
    if in_this_call(count) != in_this_call(needed):
        held = f"K, of {in_this_call(size)} {'bytes' if operand.packed else 'elements'}"
        refuse(f": {held}, has {in_this_call(needed)} blocks of {BLOCK}, not {in_this_call(count)}")
    reason = f"there is one scale for {BLOCK} elements along K"
    emitter.require_at_most(count, needed, reason)
    emitter.require_at_most(needed, count, reason)


def _scales(emitter: Emitter, operand: _Operand) -> Tile | None:
    """The scale of each element (or byte), as f32 in the operand's shape."""
    scale = operand.scale
    if scale is None:
        return None
    dims = operand.tile.dims
    along = scale.dims[1]
    scale = emitter.cast(scale, torch.float32)
    if along.same(operand.k):
        return scale if operand.axis == 1 else transpose_matrix(emitter, scale)
    shape = emitter.full(dims, 0, torch.int64)
    a = emitter.arithmetic(dims, torch.int64)
    # A byte of two elements is half as far along.
    shift = 4 if operand.packed else 5
    block = a.shift_right(indices_along(emitter, shape, operand.axis).value, a.constant(shift))
    other = indices_along(emitter, shape, 1 - operand.axis)
    return take(emitter, scale, [other, Tile(block, dims, torch.int64)], dims)


def _converted(emitter: Emitter, operand: _Operand, dtype: torch.dtype) -> tuple[Tile, ...]:
    """The operand times its scales; its even and its odd elements if it is packed."""
    parts = _halves(emitter, operand.tile) if operand.packed else (operand.tile,)
    scale = _scales(emitter, operand)
    result = []
    for part in parts:
        wide = emitter.cast(part, torch.float32)
        if scale is not None:
            f = emitter.arithmetic(wide.dims, torch.float32)
            wide = Tile(f.mul(wide.value, scale.value), wide.dims, torch.float32)
        result.append(emitter.cast(wide, dtype))
    return tuple(result)


def _every_second(emitter: Emitter, tile: Tile, axis: int, k: Dim) -> tuple[Tile, Tile]:
    """The even and the odd elements along K, half of which has the dimension `k`."""
    dims = (tile.dims[0], k) if axis == 1 else (k, tile.dims[1])
    shape = emitter.full(dims, 0, torch.int64)
    places = [indices_along(emitter, shape, i) for i in range(2)]
    a = emitter.arithmetic(dims, torch.int64)
    parts = []
    for odd in range(2):
        index = a.add(a.add(places[axis].value, places[axis].value), a.constant(odd))
        own = list(places)
        own[axis] = Tile(index, dims, torch.int64)
        parts.append(take(emitter, tile, own, dims))
    return parts[0], parts[1]


@operation("wl.dot_scaled", language.dot_scaled)
def dot_scaled(
    emitter: Emitter,
    mat1: Any,
    mat1_scale: Any,
    mat1_format: Any,
    mat2: Any,
    mat2_scale: Any,
    mat2_format: Any,
    acc: Any = None,
    out_dtype: Any = None,
) -> Tile:
    """mat1 @ mat2 + acc of elements that share scales, a power of two for 32 along K."""
    lhs = _operand(emitter, "the first matrix", mat1, mat1_scale, mat1_format, 1)
    rhs = _operand(emitter, "the second matrix", mat2, mat2_scale, mat2_format, 0)
    # bf16 has all numbers of 8 bits times a power of two; f16 has more digits.
    exact = "fp16" not in (mat1_format, mat2_format)
    dtype = torch.bfloat16 if exact else torch.float32
    first, second = (_converted(emitter, operand, dtype) for operand in (lhs, rhs))
    if lhs.packed and not rhs.packed:
        second = _every_second(emitter, second[0], 0, lhs.k)
    elif rhs.packed and not lhs.packed:
        first = _every_second(emitter, first[0], 1, rhs.k)
    start = None if acc is None else check_tile(emitter, "wl.dot_scaled", acc)
    total = None if start is None else emitter.cast(start, torch.float32)
    for a, b in zip(first, second, strict=True):
        total = dot(emitter, a, b, total)
    assert total is not None, "there is at least one product"
    if out_dtype is not None:
        if not isinstance(out_dtype, torch.dtype):
            emitter.fail(ArgumentError, "wl.dot_scaled: out_dtype is a dtype")
        return emitter.cast(total, out_dtype)
    return total if start is None else emitter.cast(total, start.dtype)
