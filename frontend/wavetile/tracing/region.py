# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A region and a specialisation to a module of the `tile` dialect."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from wavetile import _C
from wavetile.block_sizes import variable_of
from wavetile.errors import (
    ArgumentError,
    DTypeError,
    RaceError,
    RaceWarning,
    SourceLocation,
    WavetileError,
)
from wavetile.syntax import names
from wavetile.syntax.regions import Region, is_argument_constant
from wavetile.syntax.source import FunctionSource
from wavetile.tracing.annotations import check_arguments
from wavetile.tracing.dtypes import BY_DTYPE, BY_NAME
from wavetile.tracing.emitter import Emitter
from wavetile.tracing.expressions import AlreadyReportedError, Frame
from wavetile.tracing.loops import SINGLE, make_index
from wavetile.tracing.statements import Statements
from wavetile.tracing.values import (
    CallValue,
    Integer,
    MemoryTensor,
    NeedsConstantError,
    RuntimeBool,
    RuntimeFloat,
    RuntimeInteger,
)
from wavetile.warning import warn

if TYPE_CHECKING:
    import ast
    from collections.abc import Sequence

    from wavetile._C import Operation, Specialisation, Type, Value
    from wavetile.config import Settings
    from wavetile.language import BlockSize


@dataclass(frozen=True, eq=False)
class TracedRegion:
    """What tracing gives.

    Attributes:
        module: the unbound module
        name: the kernel's symbol
        dims: the names of its dimensions
        block_sizes: those that the kernel fixes
        registered: those of wl.register_block_size
        replaced: names that other calls have dimensions for, with what stands in for them here
        places: for dimensions of loops, line and column of the loop and which of its it is
        rows: the other dimensions, in their order
    """

    module: _C.TileModule
    name: str
    dims: list[str]
    block_sizes: dict[str, int]
    registered: dict[str, BlockSize]
    replaced: dict[str, str | None]
    places: dict[str, tuple[int, int, int]]
    rows: list[str]


def kernel_symbol(source: FunctionSource, region: Region, regions: int) -> str:
    """The name of a region's kernel in the module."""
    name = source.function.__qualname__.split("<locals>.")[-1].replace(".", "_")
    return name if regions == 1 else f"{name}_{region.index}"


class _Arguments:
    """The arguments of the kernel, and what the region's parameters stand for."""

    def __init__(
        self,
        emitter: Emitter,
        region: Region,
        specialisation: Specialisation,
        integers: Sequence[int],
        fixed: frozenset[int],
    ) -> None:
        self.emitter = emitter
        self.fixed = fixed
        self.region = region
        self.specialisation = specialisation
        self.integers = integers
        self.tensors = [
            parameter
            for parameter in specialisation.parameters
            if isinstance(parameter, _C.TensorSpecialisation)
        ]
        self.floats = [
            parameter
            for parameter in specialisation.parameters
            if isinstance(parameter, _C.FloatSpecialisation)
        ]
        self.constants = self._known_integers()
        self.variables = [
            entry
            for entry in specialisation.integers
            if entry.representative == entry.index and entry.index not in self.constants
        ]
        if any(tensor.dtype == "f64" for tensor in self.tensors):
            emitter.scalar_dtype = torch.float64
        self._values: dict[int, Integer] = {}
        self._names: dict[int, str] = {}

    def _known_integers(self) -> dict[int, int]:
        """Values of integers that are constants, by representative."""
        known = {
            entry.representative: entry.constant
            for entry in self.specialisation.integers
            if entry.constant is not None
        }
        tensors = {tensor.name: tensor for tensor in self.tensors}
        for parameter in self.specialisation.parameters:
            if not isinstance(parameter, _C.ConstantSpecialisation):
                continue
            size = self.region.sizes.get(parameter.name)
            tensor = tensors.get(size.tensor) if size else None
            if (
                size is not None
                and tensor is not None
                and isinstance(parameter.value, int)
                and -tensor.rank <= size.dim < tensor.rank
            ):
                known[tensor.sizes[size.dim].representative] = parameter.value
        return known

    def types(self) -> list[Type]:
        """The types of the kernel's arguments."""
        module = self.emitter.module
        index = module.type("index")
        number = module.type(BY_DTYPE[self.emitter.scalar_dtype].text)
        pointers = [module.type(f"!tile.pointer<{self._element(t)}>") for t in self.tensors]
        return [*pointers, *(index for _ in self.variables), *(number for _ in self.floats)]

    def _element(self, tensor: _C.TensorSpecialisation) -> str:
        if tensor.dtype not in BY_NAME:
            self.emitter.fail(
                DTypeError,
                f"the tensor `{tensor.name}` has dtype {tensor.dtype}, which device code does not"
                " support yet",
                "supported are " + ", ".join(BY_NAME),
            )
        return BY_NAME[tensor.dtype].text

    def attributes(self) -> list[dict[str, Any]]:
        """The attributes of the kernel's arguments."""
        result: list[dict[str, Any]] = []
        for position, tensor in enumerate(self.tensors):
            size = BY_NAME[tensor.dtype].dtype.itemsize
            align = 16 if tensor.aligned else size
            result.append({"tile.align": align, "tile.binding": position, "tile.name": tensor.name})
        for entry in self.variables:
            same = [
                other.divisor
                for other in self.specialisation.integers
                if other.representative == entry.index
            ]
            attributes = {
                "tile.binding": entry.index,
                "tile.name": entry.name,
                "tile.hint": self.integers[entry.index],
            }
            if (divisor := math.lcm(*same)) > 1:
                attributes["tile.divisor"] = divisor
            result.append(attributes)
        for number in self.floats:
            result.append({"tile.binding": number.index, "tile.name": number.name})
        return result

    def kernel_attributes(self) -> dict[str, None]:
        """What is known of all arguments together."""
        attributes: dict[str, None] = {}
        wide = any(tensor.wide for tensor in self.tensors)
        if wide or not all(entry.fits_int32 for entry in self.specialisation.integers):
            attributes["wide_offsets"] = None
        pairs = ((i, j) for i in range(len(self.tensors)) for j in range(i))
        if not any(self.specialisation.may_overlap(i, j) for i, j in pairs):
            attributes["disjoint"] = None
        return attributes

    def bind(self, arguments: list[Value]) -> dict[str, Any]:
        """What each parameter of the region stands for, given the kernel's arguments."""
        pointers = arguments[: len(self.tensors)]
        numbers = arguments[len(self.tensors) :]
        self._values = dict(self.constants)
        for entry, value in zip(self.variables, numbers, strict=False):
            number = self.integers[entry.index]
            if entry.index in self.fixed:
                self._values[entry.index] = number
                self._guard(entry.name, value, number)
            else:
                call = CallValue(number, frozenset([entry.index]))
                self._values[entry.index] = RuntimeInteger(value, call)
        floats = iter(numbers[len(self.variables) :])
        pointer = iter(pointers)
        result: dict[str, Any] = {}
        for parameter in self.specialisation.parameters:
            match parameter:
                case _C.TensorSpecialisation():
                    result[parameter.name] = self._view(parameter, next(pointer))
                case _C.IntegerSpecialisation():
                    value = self._values[parameter.representative]
                    result[parameter.name] = self._bool(value) if parameter.is_bool else value
                    self._names.setdefault(parameter.representative, parameter.name)
                case _C.FloatSpecialisation():
                    result[parameter.name] = RuntimeFloat(next(floats), self.emitter.scalar_dtype)
                case _C.ConstantSpecialisation():
                    result[parameter.name] = self._constant(parameter)
        for name, structure in self.region.structures.items():
            result[name] = structure.rebuild(result)
        self._name_sizes()
        return result

    def _guard(self, name: str, value: Value, number: int) -> None:
        """The code serves calls only in which this integer has this value."""
        negated = self.emitter.integers.sub(0, RuntimeInteger(value))
        for limited, bound in ((value, number), (self.emitter.integers.value(negated), -number)):
            attributes = {"bound": bound, "reason": f"{name} is {number}"}
            self.emitter.module.create("tile.guard", [limited], [], attributes)

    def _bool(self, value: Integer) -> RuntimeBool:
        return self.emitter.integers.compare("ne", value, 0)

    def _constant(self, parameter: _C.ConstantSpecialisation) -> Any:
        value = parameter.value
        if not is_argument_constant(value):
            self.emitter.fail(
                ArgumentError,
                f"`{parameter.name}`, a {type(value).__name__}, cannot be used in device code yet",
                "pass tensors, numbers, dtypes and strings as arguments of their own",
            )
        return value

    def _view(self, tensor: _C.TensorSpecialisation, pointer: Value) -> MemoryTensor:
        emitter = self.emitter
        sizes = tuple(self._values[entry.representative] for entry in tensor.sizes)
        strides = tuple(self._values[entry.representative] for entry in tensor.strides)
        operands = [pointer, *map(emitter.integers.value, (*sizes, *strides))]
        view_type = emitter.module.type(f"!tile.view<{tensor.rank} x {self._element(tensor)}>")
        view = emitter.module.value("tile.view", operands, view_type)
        return MemoryTensor(tensor.name, view, BY_NAME[tensor.dtype].dtype, sizes, strides)

    def _name_sizes(self) -> None:
        tensors = {tensor.name: tensor for tensor in self.tensors}
        for name, size in self.region.sizes.items():
            tensor = tensors.get(size.tensor)
            if tensor is not None and -tensor.rank <= size.dim < tensor.rank:
                self._names.setdefault(tensor.sizes[size.dim].representative, name)

    def size_name(self, tensor: str, position: int, size: Integer) -> str:
        """What a full slice's dimension is called: as a host variable that has its value."""
        found = next(entry for entry in self.tensors if entry.name == tensor)
        representative = found.sizes[position].representative
        return self._names.get(representative, f"{tensor}_dim{position}")


def trace_region(
    source: FunctionSource,
    region: Region,
    specialisation: Specialisation,
    integers: Sequence[int],
    settings: Settings,
    symbol: str,
) -> TracedRegion:
    """Traces a region.

    Args:
        source: the kernel
        region: one of its regions
        specialisation: all that the code may rely on
        integers: the integers of one call, as hints
        settings: what the user wants
        symbol: the name of the kernel in the module

    Raises:
        WavetileError: the region has mistakes; the first one, with the `others`
    """
    check_arguments(source, specialisation)
    fixed: frozenset[int] = frozenset()
    while True:
        try:
            return _trace(source, region, specialisation, integers, settings, symbol, fixed)
        except NeedsConstantError as needed:
            if needed.arguments <= fixed:
                raise
            fixed |= needed.arguments


def _trace(
    source: FunctionSource,
    region: Region,
    specialisation: Specialisation,
    integers: Sequence[int],
    settings: Settings,
    symbol: str,
    fixed: frozenset[int],
) -> TracedRegion:
    module = _C.TileModule()
    emitter = Emitter(module, settings)
    place = source.location(region.loops[0])
    module.set_location(module.location(place.file, place.line, place.column + 1))
    emitter.location = place
    arguments = _Arguments(emitter, region, specialisation, integers, fixed)
    emitter.dims.variable_of = lambda size: variable_of(source, region.loops, size)
    types = arguments.types()
    kernel = module.create(
        "tile.kernel",
        [],
        [],
        {
            "sym_name": symbol,
            "function_type": module.type(f"({', '.join(map(str, types))}) -> ()"),
            "arg_attrs": arguments.attributes(),
            **arguments.kernel_attributes(),
        },
        types,
    )
    module.enter(kernel)
    variables = arguments.bind(kernel.arguments)
    emitter.size_name = arguments.size_name
    tracer = Statements(emitter, Frame(source, variables))
    for loop in region.loops:
        _trace_loop(tracer, loop)
    module.create("tile.return", [], [])
    module.leave()
    if tracer.errors:
        first, *others = tracer.errors
        first.others = others
        raise first
    dims = emitter.dims
    defaults = {name: int(size) for name, size in dims.registered.items()}
    if sizes := {**dims.block_sizes, **defaults}:
        module.set_attribute("tile.config", sizes)
    _verify(module)
    _check_races(source, module)
    return TracedRegion(
        module,
        symbol,
        dims.names,
        dims.block_sizes,
        dims.registered,
        dims.replaced,
        dims.places,
        dims.rows,
    )


def _trace_loop(tracer: Statements, loop: ast.For) -> None:
    """Traces a top-level loop, which starts from the region's parameters alone."""
    emitter, module = tracer.emitter, tracer.emitter.module
    outer = dict(tracer.frame.variables)
    operation: Operation | None = None
    try:
        tracer.at(loop)
        if loop.orelse:
            tracer.unsupported_else(loop)
        spec = tracer.loop_spec(loop, top_level=True)
        index = emitter.integers.type
        bounds = [dim.counted(emitter) for dim in spec.dims]
        operation = module.create(
            "tile.parallel",
            [*(lower for lower, _ in bounds), *(upper for _, upper in bounds)],
            [],
            {"dims": [dim.name for dim in spec.dims]},
            [index] * (2 * len(spec.dims)),
        )
        module.enter(operation)
        values = operation.arguments
        indices = [
            make_index(emitter, dim, values[2 * i], values[2 * i + 1])
            for i, dim in enumerate(spec.dims)
        ]
        tracer.bind_targets(loop, indices)
        tracer.trace_block(loop)
        tracer.at(loop)
        module.create("tile.yield", [], [])
    except WavetileError as error:
        tracer.errors.append(error)
    except AlreadyReportedError:
        pass
    finally:
        emitter.dims.loops.clear()
        if operation is not None:
            module.leave()
    local = set(tracer.frame.variables) - set(outer)
    tracer.frame.variables = outer
    tracer.end_loop(sorted(names.stores([loop.target])), local, top_level=True)


def _verify(module: _C.TileModule) -> None:
    try:
        module.verify()
    except ValueError as error:
        raise AssertionError(
            f"the frontend built a module that breaks the dialect's rules:\n{error}\n{module}"
        ) from None


def _check_races(source: FunctionSource, module: _C.TileModule) -> None:
    """Looks for accesses of one element by iterations that have no order.

    Raises:
        RaceError: two of them certainly are
    """
    errors: list[WavetileError] = []
    for proved, tensor, dimension, store, other, both_store in module.races():
        place, second = (
            SourceLocation(file, line, max(0, column - 1)) for file, line, column in (store, other)
        )
        what = "store to" if both_store else "store and read"
        if place.line == second.line:
            how = f"{what} one element of `{tensor}`"
        else:
            how = f"{what} one element of `{tensor}`, here and in line {second.line}"
        if not proved:
            message = f"iterations of this loop may {how}; they have no order"
            remedy = (
                "if they do not, filter wavetile.errors.RaceWarning; else index `"
                f"{tensor}` by every variable of the loop, or use wl.atomic_add and its kind"
            )
            warn(source.function, RaceWarning(message, location=place, remedy=remedy))
            continue
        loop = "the outer loop" if dimension == SINGLE else f"`{dimension}`"
        remedy = (
            f"index by the variable of {loop} too, use wl.atomic_add and its kind, or make it two"
            " loops, one after the other"
        )
        message = f"iterations that differ in {loop} {how}; they have no order"
        errors.append(RaceError(message, location=place, remedy=remedy))
    if errors:
        errors[0].others = errors[1:]
        raise errors[0]
