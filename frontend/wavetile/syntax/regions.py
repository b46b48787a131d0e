# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The regions of a kernel: runs of consecutive top-level loops over `wl.tile`.

A region is what device code is made of and one launch plan. Everything else is host code.
"""

from __future__ import annotations

import ast
import functools
import types
from collections import Counter
from collections.abc import Iterator, Set
from dataclasses import dataclass, field
from typing import Any

import torch

from wavetile import language
from wavetile.block_sizes import block_size_argument, registrations
from wavetile.errors import (
    CarriedValueError,
    DeviceResultError,
    NoLoopError,
    WavetileError,
)
from wavetile.syntax import names
from wavetile.syntax.source import FunctionSource

#: Modules whose functions and types are names of the language, not values that may change.
_LANGUAGE_MODULES = (
    "torch",
    "builtins",
    "math",
    *sorted({getattr(language, name).__module__ for name in language.__all__}),
)
#: Modules of torch whose functions are helper functions, made of what device code has.
_HELPER_MODULES = ("torch.nn.attention.flex_attention",)


@dataclass(frozen=True)
class Parameter:
    """A value that a region reads.

    Attributes:
        name: its name in the region, or `helper.NAME` for what a helper function reads
        expression: what the wrapper passes for it
        kind: "value" or "constexpr", as the launcher takes it
    """

    name: str
    expression: str
    kind: str


@dataclass(frozen=True)
class Size:
    """A host variable that is known to be a size of a tensor."""

    tensor: str
    dim: int


@dataclass(eq=False)
class Region:
    """One run of top-level loops.

    Attributes:
        index: its number in the kernel
        loops: the loops
        parameters: what it reads, in the launcher's order
        sizes: host variables that are sizes of tensors
        helpers: functions that parameters' expressions name `_wavetile_helper_<i>`
        structures: for names of the region that are no parameters but made of several, how
    """

    index: int
    loops: list[ast.For]
    parameters: list[Parameter]
    sizes: dict[str, Size]
    helpers: list[types.FunctionType] = field(default_factory=list)
    structures: dict[str, Any] = field(default_factory=dict)


def is_tile_loop(source: FunctionSource, node: ast.stmt) -> bool:
    """Whether a statement is a `for ... in wl.tile(...)` or `wl.grid(...)`."""
    return (
        isinstance(node, ast.For)
        and isinstance(node.iter, ast.Call)
        and source.resolve(node.iter.func) in (language.tile, language.grid, language.jagged_tile)
    )


def _bodies(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        body = getattr(statement, name, None)
        if isinstance(body, list):
            yield body
    for handler in getattr(statement, "handlers", ()):
        yield handler.body


def _is_barrier(source: FunctionSource, node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Call)
        and source.resolve(node.value.func) is language.barrier
    )


def _runs(source: FunctionSource, body: list[ast.stmt]) -> Iterator[list[ast.For]]:
    run: list[ast.For] = []
    for statement in body:
        if run and _is_barrier(source, statement):
            continue  # loops of a run are in order as it is
        if is_tile_loop(source, statement):
            run.append(statement)  # type: ignore[arg-type]
            continue
        if run:
            yield run
            run = []
        if not isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            for inner in _bodies(statement):
                yield from _runs(source, inner)
    if run:
        yield run


class _HostNodes(ast.NodeVisitor):
    """Collects the nodes of host code: all but the regions."""

    def __init__(self, loops: set[ast.For]) -> None:
        self.loops = loops
        self.nodes: list[ast.AST] = []

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.nodes.append(node)  # not what is in it, which has names of its own

    def generic_visit(self, node: ast.AST) -> None:
        if node not in self.loops:
            self.nodes.append(node)
            super().generic_visit(node)


def _targets(node: ast.Assign) -> tuple[list[str], bool]:
    """The names that an assignment gives values to, and whether it unpacks."""
    if len(node.targets) != 1:
        return [], False
    target = node.targets[0]
    if isinstance(target, ast.Name):
        return [target.id], False
    if isinstance(target, (ast.Tuple, ast.List)) and all(
        isinstance(element, ast.Name) for element in target.elts
    ):
        return [element.id for element in target.elts], True  # type: ignore[attr-defined]
    return [], False


def _call_of(source: FunctionSource, node: ast.AST, function: Any) -> ast.Call | None:
    """The node if it is a call of this function."""
    if isinstance(node, ast.Call) and source.resolve(node.func) is function:
        return node
    return None


def find_tunables(source: FunctionSource) -> set[str]:
    """The names of `wl.register_tunable` in a kernel."""
    calls = (_call_of(source, node, language.register_tunable) for node in ast.walk(source.tree))
    names_given = [call.args[0] for call in calls if call is not None and call.args]
    return {str(name.value) for name in names_given if isinstance(name, ast.Constant)}


def _block_size_names(source: FunctionSource, loops: list[ast.For]) -> set[str]:
    """Names in the block sizes of loops: such a size is a constant."""
    return {
        name.id
        for loop in loops
        for node in ast.walk(loop)
        if (call := _call_of(source, node, language.tile)) is not None
        and (size := block_size_argument(call)) is not None
        for name in ast.walk(size)
        if isinstance(name, ast.Name)
    }


def _size_of(node: ast.expr) -> tuple[str, int | None] | None:
    """The tensor and dimension that `x.size(1)` or `x.shape[1]` asks for, or None for all."""
    dim: ast.expr | None = None
    if isinstance(node, ast.Subscript):
        dim = node.slice
        node = node.value
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr != "size" or node.keywords or len(node.args) > 1:
            return None
        dim = node.args[0] if node.args else None
        node = ast.copy_location(ast.Attribute(node.func.value, "shape", ast.Load()), node)
    if not (
        isinstance(node, ast.Attribute)
        and node.attr == "shape"
        and isinstance(node.value, ast.Name)
    ):
        return None
    if dim is None:
        return node.value.id, None
    try:
        number = ast.literal_eval(dim)
    except ValueError:
        return None
    return (node.value.id, number) if isinstance(number, int) else None


#: What a guard knows of a tensor in any case.
_GUARDED_METHODS = ("dim", "ndimension", "is_floating_point")
_GUARDED_ATTRIBUTES = ("ndim", "dtype")


def _is_guarded(source: FunctionSource, constants: Set[str], node: ast.expr) -> bool:
    """Whether an expression differs only between calls that are compiled for separately.

    Such are ranks, dtypes, what is None, `constants`, and what is decided by these.
    """
    every = functools.partial(_is_guarded, source, constants)
    match node:
        case ast.Constant():
            return True
        case ast.Name():
            return node.id in constants
        case ast.Compare(left=ast.Name(), ops=[ast.Is() | ast.IsNot()], comparators=[other]):
            return isinstance(other, ast.Constant) and other.value is None
        case ast.Compare():
            return every(node.left) and all(map(every, node.comparators))
        case ast.BoolOp():
            return all(map(every, node.values))
        case ast.UnaryOp(op=ast.Not()):
            return every(node.operand)
        case ast.Call(func=ast.Attribute(value=ast.Name(), attr=method), args=[], keywords=[]):
            return method in _GUARDED_METHODS
        case ast.Attribute(value=ast.Name()) if node.attr in _GUARDED_ATTRIBUTES:
            return True
        case ast.Attribute():
            return isinstance(source.resolve(node), torch.dtype)
    return False


class _HostFacts:
    """What host code says about names without being run."""

    def __init__(self, source: FunctionSource, nodes: list[ast.AST]) -> None:
        arguments = source.tree.args
        parameters = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        parameters += [a for a in (arguments.vararg, arguments.kwarg) if a is not None]
        assigned = Counter(argument.arg for argument in parameters)
        assigned.update(
            node.id
            for node in nodes
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        )
        assigned.update(node.name for node in nodes if isinstance(node, ast.FunctionDef))
        self.assigned = set(assigned)
        self.constants = {
            argument.arg
            for argument in parameters
            if argument.annotation is not None and self._is_constexpr(source, argument.annotation)
        }
        self.sizes: dict[str, Size] = {}
        for node in nodes:
            if not isinstance(node, ast.Assign):
                continue
            targets, unpacks = _targets(node)
            value = node.value
            decides = isinstance(value, (ast.Compare, ast.BoolOp, ast.UnaryOp))
            if decides and not unpacks and _is_guarded(source, self.constants, value):
                self.constants |= {name for name in targets if assigned[name] == 1}
            self.constants |= {name for name, _ in registrations(source, node)}
            if _call_of(source, value, language.register_tunable) is not None:
                self.constants |= set(targets)
            if (call := _call_of(source, value, language.specialize)) is not None:
                self.constants |= set(targets)
                value = call.args[0]
            size = _size_of(value)
            if size is None or assigned[size[0]] > 1:
                continue
            for position, name in enumerate(targets):
                if name != "_" and assigned[name] == 1 and unpacks == (size[1] is None):
                    self.sizes[name] = Size(size[0], position if size[1] is None else size[1])

    @staticmethod
    def _is_constexpr(source: FunctionSource, annotation: ast.expr) -> bool:
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
            annotation = ast.parse(annotation.value, mode="eval").body
        if isinstance(annotation, ast.Subscript):
            annotation = annotation.value
        return source.resolve(annotation) is language.constexpr


def is_language_name(value: Any) -> bool:
    """Whether a value is a module, or a function or type of the language, torch or Python."""
    if isinstance(value, types.ModuleType):
        return True
    module = getattr(value, "__module__", None)
    if isinstance(value, types.FunctionType) and module in _HELPER_MODULES:
        return False
    if isinstance(value, types.BuiltinFunctionType) and value.__module__ is None:
        return True
    return (
        callable(value)
        and isinstance(module, str)
        and any(module == name or module.startswith(name + ".") for name in _LANGUAGE_MODULES)
    )


def is_constant(value: Any) -> bool:
    """Whether a global or closure value can be a constant of device code."""
    if is_language_name(value) or isinstance(value, torch.Tensor):
        return False
    return isinstance(
        value,
        (
            bool,
            int,
            float,
            str,
            torch.dtype,
            torch.device,
            types.FunctionType,
            type(None),
        ),
    ) or (isinstance(value, tuple) and all(is_constant(element) for element in value))


def is_argument_constant(value: Any) -> bool:
    """Whether an argument can be a constant of device code: functions of the language too."""
    if isinstance(value, tuple):
        return all(map(is_argument_constant, value))
    return is_language_name(value) or is_constant(value)


def code_names(code: types.CodeType) -> Iterator[str]:
    """The globals and attributes in a function and in those inside it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from code_names(constant)


def _add_helper(region: Region, function: types.FunctionType) -> None:
    """Guards the globals and closure values that a helper function, and those it calls, read."""
    if function in region.helpers:
        return
    helper = f"_wavetile_helper_{len(region.helpers)}"
    region.helpers.append(function)
    called: list[types.FunctionType] = []

    def add(name: str, value: Any, expression: str) -> None:
        if not is_constant(value):
            return
        parameter = f"{function.__qualname__}.{name}"
        region.parameters.append(Parameter(parameter, expression, "constexpr"))
        if isinstance(value, types.FunctionType):
            called.append(value)

    for name in dict.fromkeys(code_names(function.__code__)):
        if name in function.__globals__:
            add(name, function.__globals__[name], f'{helper}.__globals__["{name}"]')
    for position, name in enumerate(function.__code__.co_freevars):
        value = (function.__closure__ or ())[position].cell_contents
        add(name, value, f"{helper}.__closure__[{position}].cell_contents")
    for inner in called:
        _add_helper(region, inner)


def find_regions(source: FunctionSource) -> list[Region]:
    """The regions of a kernel, in the order of its source.

    Raises:
        NoLoopError: it has none
        DeviceResultError: host code reads what only device code assigns
    """
    runs = list(_runs(source, source.tree.body))
    if not runs:
        raise NoLoopError(
            f"kernel {source.tree.name} has no loop over wl.tile",
            location=source.location(source.tree),
            remedy="add a loop such as `for rows in wl.tile(x.size(0)):`",
        )
    host = _HostNodes({loop for run in runs for loop in run})
    for statement in source.tree.body:
        host.visit(statement)
    facts = _HostFacts(source, host.nodes)
    _check_host(source, host.nodes, facts, runs)
    return [_make_region(source, facts, i, run) for i, run in enumerate(runs)]


def _check_host(
    source: FunctionSource, nodes: list[ast.AST], facts: _HostFacts, runs: list[list[ast.For]]
) -> None:
    device_only = set().union(*(names.stores(run) for run in runs)) - facts.assigned
    errors: list[WavetileError] = []
    for node in nodes:
        if (
            isinstance(node, ast.Name)
            and isinstance(node.ctx, ast.Load)
            and (node.id in device_only)
        ):
            errors.append(
                DeviceResultError(
                    f"host code reads `{node.id}`, which only device code assigns",
                    location=source.location(node),
                    remedy="store the value to a tensor in the loop and read the tensor",
                )
            )
    errors += _assigned_by_blocks(source, facts, {loop for run in runs for loop in run})
    if errors:
        errors[0].others = errors[1:]
        raise errors[0]


def _assigned_by_blocks(
    source: FunctionSource, facts: _HostFacts, loops: set[ast.For]
) -> list[WavetileError]:
    """Mistakes with names of host code to which the blocks of top-level loops assign.

    A block starts from the host's value and hands nothing on, to other blocks or host code.
    """
    errors: list[WavetileError] = []
    changed: set[str] = set()
    for statement in source.tree.body:
        if isinstance(statement, ast.For) and statement in loops:
            stored = names.stores(statement.body)
            carried = names.exposed_loads(statement.body) & stored & facts.assigned
            read = names.loads([statement])
            for name in sorted(carried - names.stores([statement.target])):
                errors.append(
                    CarriedValueError(
                        f"`{name}` is carried from block to block of a top-level loop, whose blocks"
                        " run in no order",
                        location=source.location(read[name]),
                        remedy="give it a value inside the loop, or add to a tensor by"
                        " wl.atomic_add",
                    )
                )
            changed |= stored & facts.assigned
        elif not any(node in loops for node in ast.walk(statement)):
            for name, place in names.loads([statement]).items():
                if name in changed:
                    errors.append(
                        DeviceResultError(
                            f"host code reads `{name}`, which a top-level loop assigns: its blocks"
                            " hand nothing on",
                            location=source.location(place),
                            remedy="store the value to a tensor in the loop and read the tensor",
                        )
                    )
            changed -= names.stores([statement])
    return errors


def _make_region(
    source: FunctionSource, facts: _HostFacts, index: int, loops: list[ast.For]
) -> Region:
    region = Region(index, loops, [], facts.sizes)
    assigned = names.stores(loops)
    constants = facts.constants | _block_size_names(source, loops)
    helpers: list[types.FunctionType] = []
    for name in names.loads(loops):
        if name in facts.assigned:
            kind = "constexpr" if name in constants else "value"
            region.parameters.append(Parameter(name, name, kind))
        elif name not in assigned:
            try:
                value = source.lookup(name)
            except KeyError:
                continue  # reported where it is read
            if is_constant(value):
                region.parameters.append(Parameter(name, name, "constexpr"))
            if isinstance(value, types.FunctionType) and not is_language_name(value):
                helpers.append(value)
    for helper in helpers:
        _add_helper(region, helper)
    return region
