# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matrix products."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from wavetile import language
from wavetile.errors import ArgumentError, DTypeError, ShapeError
from wavetile.tracing import jagged
from wavetile.tracing.dtypes import FLOAT8, compute_dtype
from wavetile.tracing.operations.algebra import add, mul
from wavetile.tracing.operations.comparison import where
from wavetile.tracing.operations.pointwise import Promotion, pointwise
from wavetile.tracing.operations.reductions import indices_along, reduce
from wavetile.tracing.operations.registry import operation
from wavetile.tracing.operations.shapes import check_tile, permute
from wavetile.tracing.values import Dim, RuntimeInteger, Tile

if TYPE_CHECKING:
    from wavetile.tracing.emitter import Emitter

#: Integers that are multiplied as i32, whose last bits are theirs.
_NARROW_INTEGERS = (torch.uint8, torch.int16, torch.uint16, torch.uint32)
#: The type in which the products of operands are summed.
_ACCUMULATOR = {
    torch.float64: torch.float64,
    torch.int64: torch.int64,
    torch.int8: torch.int32,
    torch.int32: torch.int32,
    **dict.fromkeys((torch.float32, torch.float16, torch.bfloat16, *FLOAT8), torch.float32),
}


def _product(emitter: Emitter, name: str, a: Any, b: Any, acc: Tile | None) -> Tile:
    """a @ b + acc in the accumulator's type, of matrices or of batches of them.

    Batches broadcast: where an operand lacks a dimension of them it is the same for all.
    """
    lhs, rhs = check_tile(emitter, name, a), check_tile(emitter, name, b)
    rank = max(len(lhs.dims), len(rhs.dims))
    if min(len(lhs.dims), len(rhs.dims)) < 2:
        emitter.fail(
            ShapeError,
            f"{name} needs two dimensions each, or more, not {lhs.shape_text} and {rhs.shape_text}",
            "insert one with None, such as v[None, :] @ y[k, cols]",
        )
    if rank == 2:
        return _matrix_product(emitter, name, lhs, rhs, acc)
    while len(lhs.dims) < rank:
        lhs = emitter.expand_dims(lhs, 0)
    while len(rhs.dims) < rank:
        rhs = emitter.expand_dims(rhs, 0)
    return _batch_product(emitter, name, lhs, rhs, acc)


def _check_operands(emitter: Emitter, name: str, lhs: Tile, rhs: Tile) -> None:
    if not emitter.same(lhs.dims[-1], rhs.dims[-2]):
        emitter.fail(
            ShapeError,
            f"{name}: {lhs.shape_text} times {rhs.shape_text}: the inner dimensions differ",
            "index both with the variable of one loop, such as x[rows, k] @ y[k, cols]",
        )
    if lhs.dtype != rhs.dtype and not (lhs.dtype in FLOAT8 and rhs.dtype in FLOAT8):
        emitter.fail(
            DTypeError,
            f"{name}: {lhs.dtype} times {rhs.dtype}: the dtypes differ",
            "convert one of them with .to(dtype)",
        )
    if lhs.dtype not in _ACCUMULATOR:
        emitter.fail(
            DTypeError,
            f"{name} is not supported for {lhs.dtype}",
            "convert the operands with .to(dtype)",
        )


def _matrix_product(emitter: Emitter, name: str, lhs: Tile, rhs: Tile, acc: Tile | None) -> Tile:
    if lhs.dtype == rhs.dtype and lhs.dtype in _NARROW_INTEGERS:
        lhs, rhs = emitter.cast(lhs, torch.int32), emitter.cast(rhs, torch.int32)
    _check_operands(emitter, name, lhs, rhs)
    lhs, rhs = jagged.filled(emitter, lhs, [1], 0), jagged.filled(emitter, rhs, [0], 0)
    dtype = _ACCUMULATOR[lhs.dtype]
    dims = (lhs.dims[0], rhs.dims[1])
    if (dims[0].name is None or dims[1].name is None) and lhs.dtype not in (*FLOAT8, torch.int8):
        return _product_with_vector(emitter, lhs, rhs, acc)
    if acc is None:
        start = emitter.full(dims, 0, dtype)
    else:
        if dtype.is_floating_point != acc.dtype.is_floating_point:
            emitter.fail(
                DTypeError,
                f"{name}: sums of {lhs.dtype} are in {dtype}, not in {acc.dtype}",
                f"start from a tile of {dtype}, such as wl.zeros([rows, cols], dtype={dtype})",
            )
        start = emitter.cast(acc, dtype)
        for dim, own in zip(dims, start.dims, strict=False):
            if len(start.dims) != 2 or not emitter.same(dim, own):
                emitter.fail(
                    ShapeError,
                    f"{name}: the accumulator {start.shape_text} does not have the shape"
                    f" [{dims[0]}, {dims[1]}] of the product",
                )
    value = emitter.module.value(
        "tile.dot",
        [lhs.value, rhs.value, start.value, emitter.integers.value(lhs.dims[1].extent)],
        emitter.tile_type(dims, dtype),
    )
    return Tile(value, dims, dtype)


def _product_with_vector(emitter: Emitter, lhs: Tile, rhs: Tile, acc: Tile | None) -> Tile:
    """A product with a row or a column, which matrix instructions do not have: a sum."""
    dtype = _ACCUMULATOR[lhs.dtype]
    lhs, rhs = emitter.cast(lhs, dtype), emitter.cast(rhs, dtype)
    # Both with the inner dimension where the matrix has it.
    axis = 1 if rhs.dims[1].name is None else 0
    pair = (lhs, permute(emitter, rhs, 1, 0)) if axis else (permute(emitter, lhs, 1, 0), rhs)
    result = reduce(emitter, "sum", mul(emitter, *pair), [axis], True)
    return result if acc is None else add(emitter, result, emitter.cast(acc, dtype))


# -- Batches: one product after the other


def _is_matrix(emitter: Emitter, tile: Tile, number: RuntimeInteger) -> Tile:
    """Which elements are of one matrix of a batch."""
    return pointwise(
        emitter,
        "matmul",
        Promotion.BOOL,
        lambda a, index, wanted: a.compare("eq", index, wanted),
        [indices_along(emitter, tile, 0), number],
    )


def _matrix(emitter: Emitter, tile: Tile, number: RuntimeInteger | None) -> Tile:
    """One matrix of a batch, the only one if there is no number."""
    if tile.dims[0].name is None:
        return emitter.squeeze_dims(tile, 0)
    dtype = tile.dtype
    if dtype in FLOAT8:
        # There is no arithmetic on these, but a sum with zeros keeps bits.
        tile = emitter.bitcast(tile, torch.int8)
    if number is not None:
        zero = emitter.full((), 0, tile.dtype)
        tile = where(emitter, _is_matrix(emitter, tile, number), tile, zero)
    matrix = reduce(emitter, "or" if dtype in FLOAT8 else "sum", tile, [0], False)
    return emitter.bitcast(matrix, dtype) if dtype in FLOAT8 else matrix


def _holds_one(emitter: Emitter, batch: Dim) -> bool:
    """Whether a block holds one matrix of the batch: so it does where nothing else is said."""
    if batch.name is None:
        return True
    if batch.name in emitter.dims.blocks and batch.name not in emitter.dims.registered:
        return emitter.dims.block_sizes.setdefault(batch.name, 1) == 1
    return False


def _counted(
    emitter: Emitter,
    batch: Dim,
    start: Tile,
    step: Callable[[RuntimeInteger, Tile], Tile],
) -> Tile:
    """A loop over the matrices of a block's batch, from `start` on by `step`."""
    module, index = emitter.module, emitter.integers.type
    loop = module.create(
        "tile.for",
        [[emitter.integers.value(0)], [emitter.integers.value(batch.extent)], [start.value]],
        [start.value.type],
        {"dim": "_"},
        [index, index, start.value.type],
    )
    module.enter(loop)
    try:
        total = Tile(loop.arguments[2], start.dims, start.dtype)
        total = step(RuntimeInteger(loop.arguments[0]), total)
        module.create("tile.yield", [total.value], [])
    finally:
        module.leave()
    return Tile(loop.results[0], start.dims, start.dtype)


def _batch(emitter: Emitter, name: str, lhs: Tile, rhs: Tile) -> Dim:
    """The first dimension of two batches."""
    a, b = lhs.dims[0], rhs.dims[0]
    if a.name is not None and b.name is not None and not emitter.same(a, b):
        emitter.fail(
            ShapeError,
            f"{name}: {lhs.shape_text} times {rhs.shape_text}: the batches differ",
            "index both with the variable of one loop, such as x[b, rows, k] @ y[b, k, cols]",
        )
    return b if a.name is None else a


def _product_dims(lhs: Tile, rhs: Tile) -> tuple[Dim, ...]:
    """The shape of a product of batches, which broadcast."""
    pairs = zip(lhs.dims[:-2], rhs.dims[:-2], strict=True)
    return (*(b if a.name is None else a for a, b in pairs), lhs.dims[-2], rhs.dims[-1])


def _batch_product(emitter: Emitter, name: str, lhs: Tile, rhs: Tile, acc: Tile | None) -> Tile:
    batch = _batch(emitter, name, lhs, rhs)
    dims = _product_dims(lhs, rhs)
    if acc is not None and (
        len(acc.dims) != len(dims) or not all(map(emitter.same, acc.dims[:-2], dims[:-2]))
    ):
        emitter.fail(
            ShapeError,
            f"{name}: the accumulator {acc.shape_text} has another batch than {lhs.shape_text}"
            f" times {rhs.shape_text}",
        )

    def matrix(number: RuntimeInteger | None, start: Tile | None) -> Tile:
        return _product(
            emitter,
            name,
            _matrix(emitter, lhs, number),
            _matrix(emitter, rhs, number),
            None if start is None else _matrix(emitter, start, number),
        )

    if _holds_one(emitter, batch):
        product = matrix(None, acc)
        return emitter.broadcast(emitter.expand_dims(product, 0), (batch, *product.dims))

    def step(number: RuntimeInteger, total: Tile) -> Tile:
        whole = emitter.broadcast(emitter.expand_dims(matrix(number, total), 0), total.dims)
        return where(emitter, _is_matrix(emitter, total, number), whole, total)

    dtype = _ACCUMULATOR.get(lhs.dtype, torch.int32)
    start = emitter.full(dims, 0, dtype) if acc is None else emitter.cast(acc, dtype)
    return _counted(emitter, batch, start, step)


def _sum_of_products(
    emitter: Emitter, name: str, lhs: Tile, rhs: Tile, count: int, acc: Tile | None
) -> Tile:
    """The sum of the products of two batches along the first `count` dimensions of both."""
    if count == 0:
        return _product(emitter, name, lhs, rhs, acc)
    batch = _batch(emitter, name, lhs, rhs)
    lhs, rhs = jagged.filled(emitter, lhs, [0], 0), jagged.filled(emitter, rhs, [0], 0)

    def matrix(number: RuntimeInteger | None, start: Tile | None) -> Tile:
        first, second = _matrix(emitter, lhs, number), _matrix(emitter, rhs, number)
        return _sum_of_products(emitter, name, first, second, count - 1, start)

    if _holds_one(emitter, batch):
        return matrix(None, acc)
    if acc is None:
        dims = _product_dims(lhs, rhs)[count:]
        acc = emitter.full(dims, 0, _ACCUMULATOR.get(lhs.dtype, torch.int32))
    return _counted(emitter, batch, acc, matrix)


@operation("wl.dot", language.dot)
def dot(emitter: Emitter, a: Any, b: Any, acc: Any = None, out_dtype: Any = None) -> Tile:
    """a @ b + acc, in the accumulator's dtype unless `out_dtype` says otherwise."""
    start = None if acc is None else check_tile(emitter, "wl.dot", acc)
    result = _product(emitter, "wl.dot", a, b, start)
    if out_dtype is not None:
        if not isinstance(out_dtype, torch.dtype):
            emitter.fail(ArgumentError, "wl.dot: out_dtype is a dtype")
        return emitter.cast(result, out_dtype)
    return result if start is None else emitter.cast(result, start.dtype)


def _with_vectors(emitter: Emitter, name: str, lhs: Tile, rhs: Tile) -> Tile:
    """A product of which one operand has one dimension: sums of products."""
    if lhs.dtype != rhs.dtype:
        emitter.fail(DTypeError, f"{name}: {lhs.dtype} times {rhs.dtype}: the dtypes differ")
    inner = rhs.dims[-2] if len(rhs.dims) > 1 else rhs.dims[-1]
    if not lhs.dims[-1].same(inner):
        emitter.fail(
            ShapeError,
            f"{name}: {lhs.shape_text} times {rhs.shape_text}: the inner dimensions differ",
        )
    axis = len(lhs.dims) - 1
    if len(rhs.dims) > 1:
        lhs, axis = emitter.expand_dims(lhs, 1), 0
    dtype = lhs.dtype
    wide = [emitter.cast(tile, compute_dtype(dtype)) for tile in (lhs, rhs)]
    return emitter.cast(reduce(emitter, "sum", mul(emitter, *wide), [axis], False), dtype)


@operation(
    "torch.matmul",
    torch.matmul,
    torch.mm,
    torch.mv,
    methods=("matmul", "mm", "mv"),
)
def matmul(emitter: Emitter, input: Any, other: Any) -> Tile:
    """input @ other in the dtype of the operands: matrices, batches of them, or vectors."""
    lhs, rhs = check_tile(emitter, "matmul", input), check_tile(emitter, "matmul", other)
    if min(len(lhs.dims), len(rhs.dims)) == 1 and max(len(lhs.dims), len(rhs.dims)) <= 2:
        return _with_vectors(emitter, "matmul", lhs, rhs)
    return emitter.cast(_product(emitter, "matmul", lhs, rhs, None), lhs.dtype)


@operation("torch.bmm", torch.bmm, methods=("bmm",))
def bmm(emitter: Emitter, input: Any, mat2: Any, out_dtype: Any = None) -> Tile:
    """input @ mat2 of batches of matrices, in `out_dtype` or the dtype of the operands."""
    lhs, rhs = check_tile(emitter, "torch.bmm", input), check_tile(emitter, "torch.bmm", mat2)
    if len(lhs.dims) != 3 or len(rhs.dims) != 3:
        emitter.fail(
            ShapeError,
            f"torch.bmm needs three dimensions each, not {lhs.shape_text} and {rhs.shape_text}",
            "use torch.matmul, which broadcasts batches",
        )
    return emitter.cast(_product(emitter, "torch.bmm", lhs, rhs, None), out_dtype or lhs.dtype)


@operation("torch.addmm", torch.addmm, torch.baddbmm, methods=("addmm", "baddbmm"))
def addmm(
    emitter: Emitter, input: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1
) -> Tile:
    """beta * input + alpha * mat1 @ mat2 in input's dtype, which may be wider than theirs."""
    start = check_tile(emitter, "torch.addmm", input)
    lhs, rhs = check_tile(emitter, "torch.addmm", mat1), check_tile(emitter, "torch.addmm", mat2)
    dims = (*lhs.dims[:-1], rhs.dims[-1])
    fits = len(start.dims) == len(dims) and all(
        a.same(b) for a, b in zip(start.dims, dims, strict=True)
    )
    if fits and alpha == 1 and beta == 1:
        return emitter.cast(_product(emitter, "torch.addmm", lhs, rhs, start), start.dtype)
    product = _product(emitter, "torch.addmm", lhs, rhs, None)
    if alpha != 1:
        product = mul(emitter, product, alpha)
    scaled = start if beta == 1 else mul(emitter, start, beta)
    return emitter.cast(add(emitter, product, scaled), start.dtype)


# -- Einstein's notation


def _equation(emitter: Emitter, equation: Any, operands: Any) -> tuple[str, str, str]:
    text = equation.replace(" ", "") if isinstance(equation, str) else ""
    inputs, arrow, output = text.partition("->")
    parts = inputs.split(",")
    letters = set(inputs.replace(",", "")) | set(output)
    if not arrow or len(parts) != 2 or len(operands) != 2 or not all(map(str.isalpha, letters)):
        emitter.fail(
            ArgumentError,
            f"torch.einsum: {equation!r} with {len(operands)} operands is not supported",
            'give it two operands and the result, such as "ik,kj->ij"',
        )
    for part in (*parts, output):
        if len(set(part)) != len(part) or not set(output) <= set(inputs):
            emitter.fail(
                ArgumentError,
                f"torch.einsum: {equation!r} repeats a letter, or makes one up",
                "take the diagonal in host code",
            )
    return parts[0], parts[1], output


def _summed(emitter: Emitter, tile: Tile, letters: str, kept: set[str]) -> tuple[Tile, str]:
    """A tile summed along the letters that nothing else has."""
    axes = [axis for axis, letter in enumerate(letters) if letter not in kept]
    if axes:
        wide = emitter.cast(tile, compute_dtype(tile.dtype))
        tile = emitter.cast(reduce(emitter, "sum", wide, axes, False), tile.dtype)
    return tile, "".join(letter for letter in letters if letter in kept)


def _aligned(emitter: Emitter, tile: Tile, letters: str, order: str) -> Tile:
    """A tile with a dimension for each letter of `order`, of size one for those it lacks."""
    present = [letter for letter in order if letter in letters]
    tile = permute(emitter, tile, [letters.index(letter) for letter in present])
    for axis, letter in enumerate(order):
        if letter not in letters:
            tile = emitter.expand_dims(tile, axis)
    return tile


@operation("torch.einsum", torch.einsum)
def einsum(emitter: Emitter, equation: Any, *operands: Any) -> Tile:
    """A product of two tiles in Einstein's notation."""
    if len(operands) == 1 and isinstance(operands[0], (tuple, list)):
        operands = tuple(operands[0])
    first, second, output = _equation(emitter, equation, operands)
    lhs, rhs = (check_tile(emitter, "torch.einsum", operand) for operand in operands)
    if len(first) != len(lhs.dims) or len(second) != len(rhs.dims):
        emitter.fail(
            ShapeError,
            f"torch.einsum: {equation!r} does not fit {lhs.shape_text} and {rhs.shape_text}",
        )
    lhs, first = _summed(emitter, lhs, first, set(second) | set(output))
    rhs, second = _summed(emitter, rhs, second, set(first) | set(output))
    batch = [letter for letter in output if letter in first and letter in second]
    inner = [letter for letter in first if letter in second and letter not in output]
    rows = [letter for letter in output if letter in first and letter not in second]
    columns = [letter for letter in output if letter in second and letter not in first]
    if inner and rows and columns:
        # Matrices of the last letter of each kind, and batches of the others.
        *summed, k = inner
        *more_rows, row = rows
        *more_columns, column = columns
        beside = [*batch, *more_rows, *more_columns]
        lhs = _aligned(emitter, lhs, first, "".join([*summed, *beside, row, k]))
        rhs = _aligned(emitter, rhs, second, "".join([*summed, *beside, k, column]))
        dtype = lhs.dtype
        result = _sum_of_products(emitter, "torch.einsum", lhs, rhs, len(summed), None)
        result, letters = emitter.cast(result, dtype), "".join([*beside, row, column])
    else:
        letters = "".join(batch + rows + columns)
        order = letters + "".join(inner)
        dtype = emitter.promote([lhs, rhs])
        wide = [
            emitter.cast(_aligned(emitter, tile, own, order), compute_dtype(dtype))
            for tile, own in ((lhs, first), (rhs, second))
        ]
        result = mul(emitter, *wide)
        if inner:
            axes = list(range(len(letters), len(order)))
            result = reduce(emitter, "sum", result, axes, False)
        result = emitter.cast(result, dtype)
    if letters == output:
        return result
    return permute(emitter, result, [letters.index(letter) for letter in output])
