# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations element by element, with PyTorch's type promotion.

Each operation computes in f32 for 16-bit floats and rounds its result once, as PyTorch does.
"""

from __future__ import annotations

import enum
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from wavetile.errors import ArgumentError, DTypeError, TensorAccessError
from wavetile.tracing.dtypes import STORAGE_ONLY, compute_dtype
from wavetile.tracing.operations.registry import operation
from wavetile.tracing.values import Tile, describe, is_number

if TYPE_CHECKING:
    from wavetile._C import Value
    from wavetile.tracing.emitter import Emitter

Compute = Callable[..., "Value"]


class Promotion(enum.Enum):
    """How the result's dtype follows from the operands'."""

    COMMON = "the common dtype"
    FLOAT = "the common dtype, f32 if that is an integer"
    BOOL = "bool; the operands are compared in their common dtype"
    INTEGRAL = "the common dtype, which must be an integer or bool"
    INTEGER = "the common dtype, which must be an integer"
    NUMBER = "the common dtype, which must not be bool"
    FLOATING = "the common dtype, which must be of floats"


_OPERANDS = {
    Promotion.INTEGRAL: "integers and bool",
    Promotion.INTEGER: "integers",
    Promotion.NUMBER: "integers and floats",
    Promotion.FLOATING: "floats",
}


def accepts(promotion: Promotion, dtype: torch.dtype) -> bool:
    """Whether operands may have this common dtype."""
    if promotion is Promotion.FLOATING:
        return dtype.is_floating_point
    if promotion is Promotion.INTEGRAL:
        return not dtype.is_floating_point
    if promotion is Promotion.INTEGER:
        return not dtype.is_floating_point and dtype is not torch.bool
    return promotion is not Promotion.NUMBER or dtype is not torch.bool


def check_numbers(emitter: Emitter, name: str, **parameters: Any) -> None:
    """Raises an ArgumentError for a parameter that is not a constant number."""
    for parameter, value in parameters.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            emitter.fail(
                ArgumentError, f"{name}: {parameter} is a constant number, not {describe(value)}"
            )


def pointwise(
    emitter: Emitter,
    name: str,
    promotion: Promotion,
    compute: Compute,
    operands: list[Any],
    condition: Tile | None = None,
) -> Tile:
    """Emits an operation on tiles and numbers, of which at least one is a tile.

    `compute` gets an Arithmetic and the operands in one shape and one type; if there is a
    `condition`, then that first, as bools.
    """
    tiles = [value for value in (condition, *operands) if isinstance(value, Tile)]
    for value in operands:
        if not isinstance(value, Tile) and not is_number(value):
            emitter.fail(
                TensorAccessError,
                f"{name} takes tiles and numbers, not {describe(value)}",
                "load a tile from a tensor by indexing it, such as x[rows, :]",
            )
    if not tiles:
        emitter.fail(ArgumentError, f"{name} needs a tile, not only numbers", "use Python's math")
    common = emitter.promote(operands)
    if promotion is Promotion.FLOAT and not common.is_floating_point:
        common = torch.get_default_dtype()
    if not accepts(promotion, common):
        emitter.fail(
            DTypeError,
            f"{name} is for {_OPERANDS[promotion]}, not {common}, as in torch",
            "convert first, such as v.to(torch.float32) or v.to(torch.int32)",
        )
    if common in STORAGE_ONLY:
        emitter.fail(
            DTypeError,
            f"{name} is not defined for {common}, as in torch",
            "convert first, such as v.to(torch.float32)",
        )
    dims = emitter.common_dims(tiles)
    computed = compute_dtype(common)
    arithmetic = emitter.arithmetic(dims, computed)
    values = []
    for operand in operands:
        if isinstance(operand, Tile):
            wide = emitter.broadcast(emitter.cast(operand, computed), dims)
            if sum(d.name is not None for d in operand.dims) < sum(
                d.name is not None for d in dims
            ):
                arithmetic.row_values.append(wide.value)
            values.append(wide.value)
        else:
            values.append(arithmetic.splat(emitter.number(operand, computed)))
    if condition is not None:
        values.insert(0, emitter.broadcast(emitter.cast(condition, torch.bool), dims).value)
    result = compute(arithmetic, *values)
    if promotion is Promotion.BOOL:
        return Tile(result, dims, torch.bool)
    return emitter.cast(Tile(result, dims, computed), common)


def define(
    name: str,
    promotion: Promotion,
    *functions: Any,
    methods: tuple[str, ...] = (),
) -> Callable[[Compute], Compute]:
    """Enters an operation all of whose arguments are tiles or numbers."""

    def enter(compute: Compute) -> Compute:
        parameters = list(inspect.signature(compute).parameters.values())[1:]

        def emit(emitter: Emitter, *args: Any, **kwargs: Any) -> Tile:
            bound = signature.bind(emitter, *args, **kwargs)
            operands = list(bound.arguments.values())[1:]
            return pointwise(emitter, name, promotion, compute, operands)

        emitter_parameter = inspect.Parameter("emitter", inspect.Parameter.POSITIONAL_ONLY)
        signature = inspect.Signature([emitter_parameter, *parameters])
        emit.__signature__ = signature  # type: ignore[attr-defined]
        emit.__module__, emit.__doc__ = compute.__module__, compute.__doc__
        operation(name, *functions, methods=methods)(emit)
        return compute

    return enter
