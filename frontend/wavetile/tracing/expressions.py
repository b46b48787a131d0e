# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Expressions of device code. One method for each kind of node."""

from __future__ import annotations

import ast
import builtins
import dataclasses
import functools
import inspect
import math
import types
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import torch

from wavetile import integers, language
from wavetile.errors import (
    ArgumentError,
    CarriedValueError,
    DTypeError,
    TensorAccessError,
    TileScopeError,
    UndefinedNameError,
    UnsupportedFunctionError,
    UnsupportedSyntaxError,
)
from wavetile.syntax import names
from wavetile.syntax.regions import is_constant, is_language_name
from wavetile.tracing import indexing, memory, remedies
from wavetile.tracing.branches import Choice
from wavetile.tracing.operations import FUNCTIONS, METHODS
from wavetile.tracing.operations.shapes import transpose_matrix
from wavetile.tracing.scalars import (
    PREDICATES,
    PYTHON_COMPARE,
    ScalarEmitter,
    python_binary,
)
from wavetile.tracing.values import (
    BoundMethod,
    Failed,
    MemoryTensor,
    RuntimeBool,
    RuntimeFloat,
    RuntimeInteger,
    Tile,
    TileIndex,
    Undefined,
    describe,
    is_number,
)

if TYPE_CHECKING:
    from wavetile.errors import SourceLocation
    from wavetile.syntax.source import FunctionSource
    from wavetile.tracing.emitter import Emitter
    from wavetile.tracing.operations import Operation


class AlreadyReportedError(Exception):
    """An expression needs a value whose own mistake has been reported."""


class Frame:
    """A function that is being traced: its source, its variables and who called it.

    `function` is that of its source, or the definition of one that stands in device code.
    """

    def __init__(
        self,
        source: FunctionSource,
        variables: dict[str, Any],
        caller: Frame | None = None,
        definition: ast.Lambda | ast.FunctionDef | None = None,
    ) -> None:
        self.source = source
        self.function = definition or source.function
        self.variables = variables
        self.caller = caller
        self.call_location: SourceLocation | None = None
        self.loop_depth = 0
        #: The module's location of the call, for operations inside.
        self.module_caller: Any = None

    def is_inside(self, function: types.FunctionType | ast.Lambda | ast.FunctionDef) -> bool:
        """Whether a function is this one, or has called it."""
        frame: Frame | None = self
        while frame is not None and frame.function is not function:
            frame = frame.caller
        return frame is not None


#: The device of every tensor and tile: the one on which the kernel runs, of type "cuda" in torch.
DEVICE = torch.device("cuda")


class TracedFunction:
    """A function or lambda of device code, traced where it is called with the names around it.

    Attributes:
        node: its definition
        frame: the function in which that stands
    """

    def __init__(
        self, node: ast.Lambda | ast.FunctionDef, frame: Frame, defaults: dict[str, Any]
    ) -> None:
        self.node = node
        self.frame = frame
        kind = inspect.Parameter
        arguments = node.args
        kinds = [
            (kind.POSITIONAL_ONLY, arguments.posonlyargs),
            (kind.POSITIONAL_OR_KEYWORD, arguments.args),
            (kind.KEYWORD_ONLY, arguments.kwonlyargs),
        ]
        self.__signature__ = inspect.Signature(
            [
                kind(argument.arg, which, default=defaults.get(argument.arg, kind.empty))
                for which, group in kinds
                for argument in group
            ]
        )

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Only tracing gives it a meaning."""
        raise AssertionError("a function of device code is called while it is traced")


#: What operators mean on tiles.
_TILE_BINARY: dict[type[ast.operator], Operation] = {
    ast.Add: FUNCTIONS[torch.add],
    ast.Sub: FUNCTIONS[torch.sub],
    ast.Mult: FUNCTIONS[torch.mul],
    ast.Div: FUNCTIONS[torch.div],
    ast.FloorDiv: FUNCTIONS[torch.floor_divide],
    ast.Mod: FUNCTIONS[torch.remainder],
    ast.Pow: FUNCTIONS[torch.pow],
    ast.BitAnd: FUNCTIONS[torch.bitwise_and],
    ast.BitOr: FUNCTIONS[torch.bitwise_or],
    ast.BitXor: FUNCTIONS[torch.bitwise_xor],
    ast.LShift: FUNCTIONS[torch.bitwise_left_shift],
    ast.RShift: FUNCTIONS[torch.bitwise_right_shift],
    ast.MatMult: FUNCTIONS[torch.matmul],
}

#: Functions that constants are given to as they are.
_CONSTANT_FUNCTIONS = frozenset(
    [bool, int, float, abs, min, max, len, tuple, list, round, sum, range, torch.finfo, torch.iinfo]
    + [integers.cdiv, integers.next_power_of_2]
    + [value for name, value in vars(math).items() if callable(value) and not name.startswith("_")]
)


#: Functions of sequences, which may hold tiles.
_SEQUENCE_FUNCTIONS = (len, sum, tuple, list, zip, enumerate, reversed)


class Expressions:
    """Evaluates expressions to what `values` lists."""

    def __init__(self, emitter: Emitter, frame: Frame) -> None:
        self.emitter = emitter
        self.frame = frame
        self.scalars = ScalarEmitter(emitter)
        self._call_node: ast.Call | None = None
        emitter.call = self.call_function

    # -- Places

    def at(self, node: ast.AST) -> None:
        """Makes `node` the current place of the source and of the module."""
        location = self.frame.source.location(node)
        module = self.emitter.module
        own = module.location(location.file, location.line, location.column + 1)
        if self.frame.module_caller is not None:
            own = module.call_location(own, self.frame.module_caller)
            location = location.called_from(self.frame.call_location)
        module.set_location(own)
        self.emitter.location = location

    def evaluate(self, node: ast.expr) -> Any:
        """The value of an expression."""
        method = getattr(self, f"_{type(node).__name__}", None)
        self.at(node)
        if method is None:
            self.unsupported(node)
        return method(node)

    def unsupported(self, node: ast.AST, remedy: str | None = None) -> NoReturn:
        """Raises that device code cannot contain this kind of node."""
        self.at(node)
        self.emitter.fail(
            UnsupportedSyntaxError,
            f"{remedies.node_name(node)} is not supported in device code yet",
            remedy or remedies.remedy_of_node(node),
        )

    # -- Names and constants

    def _Constant(self, node: ast.Constant) -> Any:  # noqa: N802
        return node.value

    def _Name(self, node: ast.Name) -> Any:  # noqa: N802
        value = self.frame.variables.get(node.id, self)
        if value is not self:
            if isinstance(value, Failed):
                raise AlreadyReportedError
            if isinstance(value, Undefined):
                kind = TileScopeError if value.is_tile else UndefinedNameError
                self.emitter.fail(kind, f"`{node.id}` {value.reason}", value.remedy)
            return value
        try:
            value = self.frame.source.lookup(node.id)
        except KeyError:
            source = self.frame.source
            known = [*self.frame.variables, *source.function.__globals__]
            remedy = remedies.remedy_of_name(node.id, known, names.imported(source.tree))
            self.emitter.fail(UndefinedNameError, f"`{node.id}` is not defined", remedy)
        if is_traced(value):
            return value  # what a function given as an argument closes over
        if isinstance(value, torch.Tensor):
            self.emitter.fail(
                TensorAccessError,
                f"`{node.id}` is a tensor outside the kernel",
                "pass it to the kernel as an argument",
            )
        if not is_language_name(value) and not is_constant(value):
            self.emitter.fail(
                UnsupportedSyntaxError,
                f"`{node.id}`, {describe(value)}, is not a constant that device code can read",
                "device code reads numbers, strings, dtypes, functions and tuples of them",
            )
        return value

    def _Tuple(self, node: ast.Tuple | ast.List) -> tuple[Any, ...]:  # noqa: N802
        return tuple(self.evaluate(element) for element in node.elts)

    _List = _Tuple

    def _Slice(self, node: ast.Slice) -> slice:  # noqa: N802
        parts = (node.lower, node.upper, node.step)
        return slice(*(None if part is None else self.evaluate(part) for part in parts))

    def _Lambda(self, node: ast.Lambda) -> TracedFunction:  # noqa: N802
        return self._function_here(node, "the lambda")

    def _function_here(self, node: ast.Lambda | ast.FunctionDef, name: str) -> TracedFunction:
        """A function that is defined in device code; its defaults are evaluated now."""
        arguments = node.args
        if arguments.vararg is not None or arguments.kwarg is not None:
            self.unsupported(node, f"give {name} parameters with names")
        positional = [*arguments.posonlyargs, *arguments.args]
        given = arguments.defaults
        pairs = list(zip(positional[len(positional) - len(given) :], given, strict=True))
        pairs += [
            (argument, value)
            for argument, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
            if value is not None
        ]
        defaults = {argument.arg: self.evaluate(value) for argument, value in pairs}
        return TracedFunction(node, self.frame, defaults)

    def _call_traced(
        self, call: ast.Call, function: TracedFunction, args: list[Any], kwargs: dict[str, Any]
    ) -> Any:
        node = function.node
        name = "lambda" if isinstance(node, ast.Lambda) else node.name
        try:
            bound = function.__signature__.bind(*args, **kwargs)
        except TypeError as error:
            self.emitter.fail(ArgumentError, f"{name}: {error}")
        bound.apply_defaults()
        if self.frame.is_inside(node):
            self.emitter.fail(UnsupportedSyntaxError, f"{name} calls itself", "write it as a loop")
        outer = function.frame
        inner = Frame(outer.source, {**outer.variables, **bound.arguments}, self.frame, node)
        inner.call_location, inner.module_caller = outer.call_location, outer.module_caller
        return self.value_of_body(call, node, inner)

    def value_of_body(
        self, call: ast.Call, node: ast.Lambda | ast.FunctionDef, inner: Frame
    ) -> Any:
        """What a function of device code gives; that of statements is another class's matter."""
        assert isinstance(node, ast.Lambda)
        caller, self.frame = self.frame, inner
        try:
            return self.evaluate(node.body)
        finally:
            self.frame = caller

    def _steps(self, node: ast.expr) -> Sequence[Any]:
        """What a comprehension goes through, known at compile time."""
        source = self.frame.source
        if isinstance(node, ast.Call) and source.resolve(node.func) is language.static_range:
            bounds = [self.evaluate(argument) for argument in node.args]
            if bounds and not node.keywords and all(isinstance(b, int) for b in bounds):
                return range(*bounds)
        else:
            steps = self.evaluate(node)
            if isinstance(steps, (tuple, list, range)):
                return steps
        self.unsupported(node, "a comprehension goes through tuples, lists and constant ranges")

    def _ListComp(self, node: ast.ListComp | ast.GeneratorExp) -> tuple[Any, ...]:  # noqa: N802
        outer = self.frame.variables
        self.frame.variables = dict(outer)
        result: list[Any] = []
        try:
            self._comprehend(node.elt, node.generators, result)
        finally:
            self.frame.variables = outer
        return tuple(result)

    _GeneratorExp = _ListComp

    def _comprehend(
        self, element: ast.expr, generators: list[ast.comprehension], result: list[Any]
    ) -> None:
        if not generators:
            result.append(self.evaluate(element))
            return
        first, *rest = generators
        for step in self._steps(first.iter):
            self._assign(first.target, step)
            chosen = True
            for condition in first.ifs:
                truth = self.truth(self.evaluate(condition))
                if not isinstance(truth, bool):
                    self.unsupported(condition, "the condition of a comprehension is a constant")
                chosen = chosen and truth
            if chosen:
                self._comprehend(element, rest, result)

    def _assign(self, target: ast.expr, value: Any) -> None:
        """Gives names a value; statements are another class's matter."""
        raise NotImplementedError

    # -- Operators

    def _BinOp(self, node: ast.BinOp) -> Any:  # noqa: N802
        left, right = self.evaluate(node.left), self.evaluate(node.right)
        self.at(node)
        return self.binary(type(node.op), left, right)

    def binary(self, operator: type[ast.operator], left: Any, right: Any) -> Any:
        """left operator right."""
        if isinstance(left, Tile) or isinstance(right, Tile):
            self._check_operands(left, right)
            return _TILE_BINARY[operator].call(self.emitter, (left, right), {})
        if isinstance(left, TileIndex) and operator in (ast.Add, ast.Sub):
            return self._move(left, operator, right)
        if isinstance(right, TileIndex) and operator is ast.Add:
            return self._move(right, operator, left)
        runtime = (RuntimeInteger, RuntimeFloat, RuntimeBool)
        if isinstance(left, runtime) or isinstance(right, runtime):
            if is_number(left) and is_number(right):
                return self.scalars.binary(operator, left, right)
            self._check_operands(left, right)
        self._check_operands(left, right, constants=True)
        return python_binary(self.emitter, operator, left, right)

    def _check_operands(self, *operands: Any, constants: bool = False) -> None:
        for operand in operands:
            if isinstance(operand, MemoryTensor):
                self.emitter.fail(
                    TensorAccessError,
                    f"an operator on {describe(operand)}",
                    f"load a tile first, such as {operand.name}["
                    + ", ".join(":" * len(operand.sizes))
                    + "]",
                )
            if isinstance(operand, TileIndex):
                self.emitter.fail(
                    TensorAccessError,
                    f"an operator on {describe(operand)}",
                    f"use {operand.name}.index for its indices, {operand.name}.begin for the first",
                )
            known = isinstance(operand, Tile) or is_number(operand)
            if not known and not constants:
                self.emitter.fail(ArgumentError, f"an operator on {describe(operand)}")

    def _move(self, index: TileIndex, operator: type[ast.operator], by: Any) -> TileIndex:
        if isinstance(by, bool) or not isinstance(by, (int, RuntimeInteger)):
            self.emitter.fail(
                ArgumentError,
                f"{describe(index)} can only be moved by an int, not by {describe(by)}",
                f"use {index.name}.index for its indices as a tile",
            )
        integers = self.emitter.integers
        step = integers.add if operator is ast.Add else integers.sub
        return TileIndex(
            index.name,
            index.dim,
            index.begin,
            index.lower,
            index.upper,
            step(index.offset, by),
        )

    def _UnaryOp(self, node: ast.UnaryOp) -> Any:  # noqa: N802
        value = self.evaluate(node.operand)
        self.at(node)
        if isinstance(node.op, ast.Not):
            return self._not(value)
        if isinstance(value, Tile):
            methods = {ast.USub: "neg", ast.UAdd: "positive", ast.Invert: "bitwise_not"}
            return METHODS[methods[type(node.op)]].call(self.emitter, (value,), {})
        if isinstance(value, (RuntimeInteger, RuntimeFloat)):
            if isinstance(node.op, ast.Invert):
                self.unsupported(node)
            return value if isinstance(node.op, ast.UAdd) else self.scalars.negate(value)
        self._check_operands(value)
        if isinstance(node.op, ast.USub):
            return -value
        return +value if isinstance(node.op, ast.UAdd) else ~value

    def _not(self, value: Any) -> bool | RuntimeBool:
        truth = self.truth(value)
        if isinstance(truth, bool):
            return not truth
        return self.scalars.binary(ast.BitXor, truth, True)  # type: ignore[return-value]

    def truth(self, value: Any) -> bool | RuntimeBool:
        """Whether a value counts as true."""
        match value:
            case Tile() if not value.dims:
                return self.truth(self.emitter.scalar(value))
            case Tile():
                self.emitter.fail(
                    DTypeError,
                    "the truth of a tile is not one bool",
                    "use torch.where for a choice by element, &, | and ~ instead of and, or, not",
                )
            case RuntimeBool():
                return value
            case RuntimeInteger() | RuntimeFloat():
                return self.scalars.compare("ne", value, 0)
            case MemoryTensor() | TileIndex():
                self.emitter.fail(
                    DTypeError,
                    f"{describe(value)} is neither true nor false",
                    "compare something, such as rows.begin > 0",
                )
        return bool(value)

    def _BoolOp(self, node: ast.BoolOp) -> Any:  # noqa: N802
        stops = isinstance(node.op, ast.Or)
        result: Any = None
        for operand in node.values:
            value = self.evaluate(operand)
            truth = self.truth(value)
            if isinstance(truth, bool):
                if truth == stops:
                    return value if result is None else truth
                result = value if result is None else result
            elif isinstance(result, RuntimeBool):
                kind = ast.BitOr if stops else ast.BitAnd
                result = self.scalars.binary(kind, result, truth)
            else:
                result = truth
        return result

    def _Compare(self, node: ast.Compare) -> Any:  # noqa: N802
        left = self.evaluate(node.left)
        result: Any = None
        for operator, comparator in zip(node.ops, node.comparators, strict=True):
            right = self.evaluate(comparator)
            self.at(node)
            one = self._compare(node, type(operator), left, right)
            if len(node.ops) > 1:
                one = self.truth(one)  # Python joins them by `and`
            if result is None:
                result = one
            elif isinstance(one, bool) and isinstance(result, bool):
                result = result and one
            else:
                result = self.binary(ast.BitAnd, result, one)
            left = right
        return result

    def _compare(self, node: ast.Compare, operator: type[ast.cmpop], a: Any, b: Any) -> Any:
        predicate = PREDICATES.get(operator)
        if (isinstance(a, Tile) or isinstance(b, Tile)) and predicate:
            self._check_operands(a, b)
            return METHODS[predicate].call(self.emitter, (a, b), {})
        runtime = (RuntimeInteger, RuntimeFloat, RuntimeBool)
        if predicate and (isinstance(a, runtime) or isinstance(b, runtime)):
            if is_number(a) and is_number(b):
                return self.scalars.compare(predicate, a, b)
            if operator in (ast.Eq, ast.NotEq):
                return operator is ast.NotEq
        try:
            return PYTHON_COMPARE[operator](a, b)
        except TypeError as error:
            self.emitter.fail(ArgumentError, str(error))

    def _IfExp(self, node: ast.IfExp) -> Any:  # noqa: N802
        truth = self.truth(self.evaluate(node.test))
        if isinstance(truth, bool):
            return self.evaluate(node.body if truth else node.orelse)
        choice = Choice(self.emitter, truth)
        values = [
            choice.branch(0, lambda: self.evaluate(node.body)),
            choice.branch(1, lambda: self.evaluate(node.orelse)),
        ]
        self.at(node)
        result = choice.merge([("", *values, None)])[""]
        if isinstance(result, Undefined):
            self.emitter.fail(
                CarriedValueError,
                f"a conditional expression {result.reason}",
                "give both branches the same shape and dtype",
            )
        return result

    # -- Attributes and indices

    def _Attribute(self, node: ast.Attribute) -> Any:  # noqa: N802
        value = self.evaluate(node.value)
        self.at(node)
        match value:
            case Tile():
                return self._tile_attribute(value, node.attr)
            case MemoryTensor():
                return self._tensor_attribute(value, node.attr)
            case TileIndex():
                return self._index_attribute(value, node.attr)
            case RuntimeInteger() | RuntimeFloat() | RuntimeBool() | BoundMethod():
                self.emitter.fail(
                    UnsupportedFunctionError, f"{describe(value)} has no `{node.attr}` here"
                )
        try:
            return getattr(value, node.attr)
        except AttributeError:
            shown = ast.unparse(node.value)
            is_module = isinstance(value, types.ModuleType)
            self.emitter.fail(
                UndefinedNameError if is_module else UnsupportedFunctionError,
                f"`{shown}`{'' if is_module else f', {describe(value)},'} has no `{node.attr}`",
                remedies.remedy_of_attribute(value, node.attr, shown, _short_names()),
            )

    def _tile_attribute(self, tile: Tile, name: str) -> Any:
        match name:
            case "dtype":
                return tile.dtype
            case "shape":
                return tuple(dim.extent for dim in tile.dims)
            case "ndim":
                return len(tile.dims)
            case "device":
                return DEVICE
            case "T":
                return transpose_matrix(self.emitter, tile)
        if name not in METHODS:
            self.emitter.fail(
                UnsupportedFunctionError,
                f"tiles have no `{name}` in device code yet",
                remedies.remedy_of_method(name, METHODS),
            )
        return BoundMethod(tile, name, METHODS[name])

    def _tensor_attribute(self, tensor: MemoryTensor, name: str) -> Any:
        match name:
            case "dtype":
                return tensor.dtype
            case "shape":
                return tensor.sizes
            case "ndim":
                return len(tensor.sizes)
            case "device":
                return DEVICE
            case "size" | "stride" | "dim" | "numel":
                return BoundMethod(tensor, name, None)
            case "new_full" | "new_zeros" | "new_ones":
                return BoundMethod(tensor, name, METHODS[name])
        self.emitter.fail(
            UnsupportedFunctionError,
            f"`{name}` of {describe(tensor)} is not supported in device code",
            f"load a tile first, such as {tensor.name}[rows, :], or use it in host code",
        )

    def _index_attribute(self, index: TileIndex, name: str) -> Any:
        integers, module = self.emitter.integers, self.emitter.module
        begin = integers.add(index.begin, index.offset)
        match name:
            case "begin":
                return begin
            case "end":
                return integers.add(begin, index.dim.extent)
            case "index":
                return self.emitter.indices_from(begin, index.dim)
            case "block_size" if index.dim.name in self.emitter.dims.registered:
                return self.emitter.dims.registered[index.dim.name]
            case "block_size" | "id" | "count":
                size = RuntimeInteger(
                    module.value("tile.block_size", [], integers.type, {"dim": index.dim.name})
                )
                if name == "block_size":
                    self.emitter.dims.name_size(size, index.dim)
                    return size
                if name == "count":
                    length = integers.sub(index.upper, index.lower)
                    raised = integers.add(length, integers.sub(size, 1))
                    return integers.maximum(integers.floor_divide(raised, size), 0)
                return integers.floor_divide(integers.sub(index.begin, index.lower), size)
        self.emitter.fail(
            UnsupportedFunctionError,
            f"{describe(index)} has no `{name}`",
            "it has index, begin, end, block_size, id and count",
        )

    def _Subscript(self, node: ast.Subscript) -> Any:  # noqa: N802
        value = self.evaluate(node.value)
        index = self.evaluate(node.slice)
        self.at(node)
        match value:
            case MemoryTensor():
                access = indexing.resolve_access(self.emitter, value, index)
                return memory.load_access(self.emitter, value, access)
            case Tile():
                return indexing.index_tile(self.emitter, value, index)
            case dict() if not is_traced(index):
                if index not in value:
                    self.emitter.fail(ArgumentError, f"this dict has no {index!r}")
                return value[index]
            case tuple() | list() if isinstance(index, (int, slice)):
                try:
                    return value[index]
                except (IndexError, TypeError) as error:
                    self.emitter.fail(ArgumentError, str(error))
        self.emitter.fail(ArgumentError, f"{describe(value)} has no elements to index")

    # -- Calls

    def _Call(self, node: ast.Call) -> Any:  # noqa: N802
        function = self.evaluate(node.func)
        args: list[Any] = []
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                args.extend(self.evaluate(argument.value))
            else:
                args.append(self.evaluate(argument))
        kwargs: dict[str, Any] = {}
        for keyword in node.keywords:
            if keyword.arg is None:
                self.unsupported(keyword)
            kwargs[keyword.arg] = self.evaluate(keyword.value)
        self.at(node)
        self._call_node = node
        return self.call(node, function, args, kwargs)

    def call_function(self, function: Any, args: Sequence[Any]) -> Any:
        """Calls a function that an operation was given, at the place of that operation."""
        assert self._call_node is not None, "an operation is called"
        return self.call(self._call_node, function, list(args), {})

    def call(self, node: ast.Call, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """function(*args, **kwargs)."""
        if isinstance(function, BoundMethod):
            if function.operation is not None:
                return function.operation.call(self.emitter, (function.value, *args), kwargs)
            return self._tensor_method(function.value, function.name, [*args, *kwargs.values()])
        if isinstance(function, TracedFunction):
            return self._call_traced(node, function, args, kwargs)
        try:
            operation = FUNCTIONS.get(function)
        except TypeError:
            operation = None
        given = [*args, *kwargs.values()]
        if operation is not None and (
            function is not builtins.abs or isinstance(args[0] if args else None, Tile)
        ):
            return operation.call(self.emitter, tuple(args), kwargs)
        if function in _CONSTANT_FUNCTIONS and not any(map(is_traced, given)):
            try:
                return function(*args, **kwargs)
            except (TypeError, ValueError, ArithmeticError) as error:
                self.emitter.fail(ArgumentError, f"{type(error).__name__}: {error}")
        if function is slice and not kwargs:
            return slice(*args)
        if function in _SEQUENCE_FUNCTIONS and args and not kwargs:
            return self._sequence_function(function, args)
        if not kwargs and (number := self.scalars.call(function, args)) is not None:
            return number
        if function in (
            language.tile,
            language.grid,
            language.jagged_tile,
            language.static_range,
        ):
            self.unsupported(node, "use it as `for ... in` only")
        if function is language.barrier:
            self.unsupported(node, "wl.barrier stands between top-level loops, in host code")
        if function is language.specialize:
            self.unsupported(node, "call wl.specialize in host code, before the loop")
        if isinstance(function, types.MethodType) and is_traced(function.__self__):
            method = function.__func__
            if isinstance(method, types.FunctionType):
                return self.call_helper(node, method, [function.__self__, *args], kwargs)
        if isinstance(function, types.FunctionType) and not is_language_name(function):
            return self.call_helper(node, function, args, kwargs)
        shown = remedies.function_name(function, node.func)
        self.emitter.fail(
            UnsupportedFunctionError,
            f"{shown} is not supported in device code yet",
            remedies.remedy_of_function(shown, _short_names()),
        )

    def _sequence_function(self, function: Any, args: list[Any]) -> Any:
        """A function of sequences that are known at compile time, whatever is in them."""
        sequences = args if function is zip else args[:1]
        if not all(isinstance(sequence, (tuple, list, range)) for sequence in sequences):
            self.emitter.fail(
                ArgumentError,
                f"{function.__name__} is for tuples, not {describe(args[0])}",
                remedies.remedy_of_sequence(args[0]),
            )
        if function is len:
            return len(args[0])
        if function is sum:
            return functools.reduce(
                lambda a, b: self.binary(ast.Add, a, b), args[0], *args[1:] or [0]
            )
        try:
            return tuple(function(*args))
        except TypeError as error:
            self.emitter.fail(ArgumentError, str(error))

    def call_helper(
        self,
        node: ast.Call,
        function: types.FunctionType,
        args: list[Any],
        kwargs: dict[str, Any],
    ) -> Any:
        """Traces a helper function in place; statements are another class's matter."""
        raise NotImplementedError

    def _tensor_method(self, tensor: MemoryTensor, name: str, args: list[Any]) -> Any:
        if name == "dim":
            return len(tensor.sizes)
        if name == "numel":
            count: Any = 1
            for size in tensor.sizes:
                count = self.emitter.integers.mul(count, size)
            return count
        values = tensor.sizes if name == "size" else tensor.strides
        if not args:
            return values
        rank = len(values)
        if not isinstance(args[0], int) or not -rank <= args[0] < rank:
            self.emitter.fail(
                ArgumentError, f"`{tensor.name}` has no dimension {describe(args[0])}"
            )
        return values[args[0]]


def _short_names() -> dict[str, str]:
    """The functions of device code by the last parts of their names."""
    return {row.name.rsplit(".", 1)[-1]: row.name for row in FUNCTIONS.values()}


def is_traced(value: Any) -> bool:
    """Whether a value, or a part of it, exists in the module only."""
    if isinstance(value, (tuple, list)):
        return any(map(is_traced, value))
    if isinstance(value, dict):
        return any(map(is_traced, value.values()))
    if dataclasses.is_dataclass(value) and not isinstance(value, _VALUES):
        return any(
            is_traced(getattr(value, field.name, None)) for field in dataclasses.fields(value)
        )
    return isinstance(value, _VALUES)


#: What exists in the module only.
_VALUES = (Tile, TileIndex, MemoryTensor, RuntimeInteger, RuntimeFloat, RuntimeBool)
