# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Statements of device code. One method for each kind of node.

A mistake ends the statement that it is in; the names which that would have assigned are marked,
and tracing goes on, so that one run reports every mistake that does not follow from another.
"""

from __future__ import annotations

import ast
import inspect
import types
from collections.abc import Container, Iterable
from typing import TYPE_CHECKING, Any, NoReturn

from wavetile import language
from wavetile.errors import (
    ArgumentError,
    DTypeError,
    MissingReturnError,
    ShapeError,
    SourceUnavailableError,
    TensorAccessError,
    UnsupportedSyntaxError,
    WavetileError,
)
from wavetile.syntax import jumps, names
from wavetile.syntax.source import FunctionSource, read_function
from wavetile.tracing import indexing, jagged, loops, memory
from wavetile.tracing.branches import Choice
from wavetile.tracing.expressions import AlreadyReportedError, Expressions, Frame
from wavetile.tracing.operations import debugging
from wavetile.tracing.values import (
    Failed,
    MemoryTensor,
    RuntimeBool,
    RuntimeInteger,
    Tile,
    TileIndex,
    Undefined,
    describe,
)

if TYPE_CHECKING:
    from wavetile.tracing.emitter import Emitter


class _Return(Exception):  # noqa: N818 (not a mistake)
    """A helper function returns."""

    def __init__(self, value: Any) -> None:
        self.value = value


class Statements(Expressions):
    """Traces statements, and with them whole functions."""

    def __init__(self, emitter: Emitter, frame: Frame) -> None:
        super().__init__(emitter, frame)
        self.errors: list[WavetileError] = []
        # The last call that was a statement of its own, whose value nobody uses.
        self._unused: ast.Call | None = None
        # For each enclosing list of statements, the names that are read after the current one.
        self._read_later: list[set[str]] = []
        # For each enclosing loop, the names whose values a step that ends early leaves behind.
        self._left_behind: list[set[str]] = []

    def trace(self, body: list[ast.stmt]) -> None:
        """Traces statements in order."""
        for position, statement in enumerate(body):
            self._read_later.append(names.exposed_loads(body[position + 1 :]))
            try:
                self._statement(statement)
            except WavetileError as error:
                self.errors.append(error)
                self._mark_failed(statement)
            except AlreadyReportedError:
                self._mark_failed(statement)
            finally:
                self._read_later.pop()

    def trace_block(self, loop: ast.For) -> None:
        """Traces the body of a top-level loop, whose blocks run in no order."""
        if found := jumps.find(loop.body, ast.Break):
            self.at(found)
            self.emitter.fail(
                UnsupportedSyntaxError,
                "`break` of a top-level loop, whose blocks run in parallel and in no order: no"
                " block comes after this one",
                "end the work of this block with `continue`, or make it a loop inside another"
                " one, such as `for _ in wl.grid(1):`, which runs in order",
            )
        self._left_behind.append(set())
        self.trace(jumps.without_jumps(loop.body, ""))
        self._left_behind.pop()

    def _statement(self, node: ast.stmt) -> None:
        self.at(node)
        method = getattr(self, f"_{type(node).__name__}", None)
        if method is None:
            self.unsupported(node)
        method(node)

    def _mark_failed(self, statement: ast.stmt) -> None:
        for name in names.stores([statement]):
            self.frame.variables[name] = Failed()

    # -- Simple statements

    def _Pass(self, node: ast.Pass) -> None:  # noqa: N802
        pass

    def _Expr(self, node: ast.Expr) -> None:  # noqa: N802
        if isinstance(node.value, ast.Call):
            self._unused = node.value
        self.evaluate(node.value)

    def _Assign(self, node: ast.Assign) -> None:  # noqa: N802
        value = self.evaluate(node.value)
        for target in node.targets:
            self._assign(target, value)

    def _AnnAssign(self, node: ast.AnnAssign) -> None:  # noqa: N802
        if node.value is not None:
            self._assign(node.target, self.evaluate(node.value))

    def _FunctionDef(self, node: ast.FunctionDef) -> None:  # noqa: N802
        if node.decorator_list:
            self.unsupported(node.decorator_list[0], "define the function without decorators")
        self.frame.variables[node.name] = self._function_here(node, f"`{node.name}`")

    def _assign(self, target: ast.expr, value: Any) -> None:
        match target:
            case ast.Name():
                self.frame.variables[target.id] = value
            case ast.Tuple() | ast.List():
                self.at(target)
                for element, part in zip(target.elts, self._parts(target, value), strict=True):
                    self._assign(element, part)
            case ast.Subscript():
                tensor = self.evaluate(target.value)
                index = self.evaluate(target.slice)
                self.at(target)
                self._store(tensor, index, value)
            case _:
                self.unsupported(target, "assign to a name, a tuple of names, or tensor[index]")

    def _parts(self, target: ast.Tuple | ast.List, value: Any) -> list[Any]:
        """The values that the elements of a target get."""
        starred = [i for i, one in enumerate(target.elts) if isinstance(one, ast.Starred)]
        if starred:
            self.unsupported(target.elts[starred[0]], "unpack into a name for each value")
        if not isinstance(value, (tuple, list)):
            self.emitter.fail(
                ArgumentError,
                f"{describe(value)} does not unpack into {len(target.elts)} names",
                "only tuples unpack; load each part by an index of its own",
            )
        if len(value) != len(target.elts):
            self.emitter.fail(
                ArgumentError,
                f"a tuple of {len(value)} does not unpack into {len(target.elts)} names",
                "write a name for each value",
            )
        return list(value)

    def _store(self, tensor: Any, index: Any, value: Any) -> None:
        if not isinstance(tensor, MemoryTensor):
            remedy = "tiles are values: use torch.where to choose between two"
            self.emitter.fail(TensorAccessError, f"{describe(tensor)} cannot be stored to", remedy)
        access = indexing.resolve_stored(self.emitter, tensor, index)
        indexing.check_chosen(self.emitter, access, value)
        memory.store_access(self.emitter, tensor, access, value)

    def _AugAssign(self, node: ast.AugAssign) -> None:  # noqa: N802
        operator = type(node.op)
        if isinstance(node.target, ast.Subscript):
            tensor = self.evaluate(node.target.value)
            index = self.evaluate(node.target.slice)
            value = self.evaluate(node.value)
            self.at(node)
            if not isinstance(tensor, MemoryTensor):
                self._store(tensor, index, value)
            access = indexing.resolve_stored(self.emitter, tensor, index)
            indexing.check_chosen(self.emitter, access, value)
            old = memory.load_access(self.emitter, tensor, access)
            memory.store_access(self.emitter, tensor, access, self.binary(operator, old, value))
            return
        if not isinstance(node.target, ast.Name):
            self.unsupported(node.target)
        old = self.evaluate(ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target))
        value = self.evaluate(node.value)
        self.at(node)
        result = self.binary(operator, old, value)
        if isinstance(old, Tile) and isinstance(result, Tile):
            result = self._in_place(old, result)
        self.frame.variables[node.target.id] = result

    def _in_place(self, old: Tile, result: Tile) -> Tile:
        """What torch's in-place operators give: the old shape and dtype."""
        if result.dtype.is_floating_point and not old.dtype.is_floating_point:
            self.emitter.fail(
                DTypeError,
                f"a result of {result.dtype} cannot be put into a tile of {old.dtype}",
                "write x = x + y to get a new tile",
            )
        if len(old.dims) != len(result.dims) or not all(
            a.same(b) for a, b in zip(old.dims, result.dims, strict=True)
        ):
            self.emitter.fail(
                ShapeError,
                f"a result of shape {result.shape_text} cannot be put into a tile of shape"
                f" {old.shape_text}",
                "write x = x + y to get a new tile",
            )
        return self.emitter.cast(result, old.dtype)

    def _Assert(self, node: ast.Assert) -> None:  # noqa: N802
        truth = self.truth(self.evaluate(node.test))
        message = ast.unparse(node.test) if node.msg is None else self.evaluate(node.msg)
        self.at(node)
        if truth is False:
            self.emitter.fail(ArgumentError, f"this assertion does not hold: {message}")
        if truth is not True:
            debugging.device_assert(self.emitter, truth, message)

    # -- Control flow

    def _If(self, node: ast.If) -> None:  # noqa: N802
        truth = self.truth(self.evaluate(node.test))
        if isinstance(truth, bool):
            # What follows the whole `if` is read later by its branch too.
            self.trace(node.body if truth else node.orelse)
            return
        self._choose(node, truth)

    def _JumpingIf(self, node: jumps.JumpingIf) -> None:  # noqa: N802
        truth = self.truth(self.evaluate(node.test))
        if isinstance(truth, bool):
            self.trace(node.body if truth else node.orelse)
            return
        kept = {*self._left_behind[-1], node.flag}
        self._choose(node, truth, node.ends, kept)

    def _choose(
        self,
        node: ast.If,
        truth: RuntimeBool,
        ended: tuple[bool, bool] = (False, False),
        kept: Container[str] = (),
    ) -> None:
        """Traces both branches. If one has `ended`, only the other says what names are after
        them, but for those that are `kept`."""
        choice = Choice(self.emitter, truth)
        ends = [self._branch(choice, i, body) for i, body in enumerate((node.body, node.orelse))]
        self.at(node)
        assigned = sorted(names.stores(node.body) | names.stores(node.orelse))
        missing = Undefined(
            "is assigned in one branch of an `if` only",
            "give it a value before the `if`, of the same shape and dtype",
        )
        reaching = ended.index(False) if sum(ended) == 1 else None
        merged = choice.merge(
            (
                name,
                *(end.get(name, missing) for end in ends),
                None if name in kept else reaching,
            )
            for name in assigned
        )
        # In place: a loop around it looks here for the values that it carries.
        self.frame.variables.update(merged)

    def _branch(self, choice: Choice, number: int, body: list[ast.stmt]) -> dict[str, Any]:
        """Traces a branch; the variables at its end."""
        before = self.frame.variables
        self.frame.variables = dict(before)
        self.frame.loop_depth += 1  # nothing can return from here
        try:
            choice.branch(number, lambda: self.trace(body))
            return self.frame.variables
        finally:
            self.frame.loop_depth -= 1
            self.frame.variables = before

    def _break_flag(self, node: ast.For | ast.While) -> str | None:
        """A variable that says whether the loop was left, if it may be."""
        if jumps.find(node.body, ast.Break) is None:
            return None
        flag = f"break of line {node.lineno}"
        self.frame.variables[flag] = False
        return flag

    def unsupported_else(self, loop: ast.For | ast.While) -> NoReturn:
        """Raises that a loop has an `else`."""
        self.at(loop.orelse[0])
        self.emitter.fail(
            UnsupportedSyntaxError,
            "`else` of a loop is not supported",
            "write it after the loop, under a condition if the loop has a `break`",
        )

    def _While(self, node: ast.While) -> None:  # noqa: N802
        if node.orelse:
            self.unsupported_else(node)
        if jumps.has_jumps(node.body):
            flag = self._break_flag(node)
            body = jumps.without_jumps(node.body, flag or "")
            test = jumps.while_not(flag, node) if flag else node.test
            node = ast.copy_location(ast.While(test=test, body=body, orelse=[]), node)
        assigned = names.stores(node.body)
        carried = self._carried(assigned, names.exposed_loads([node]))
        loop = loops.CarryingWhile(self.emitter, carried, self.frame.variables)
        try:
            loop.enter_condition()
            truth = self.truth(self.evaluate(node.test))
            self.at(node)
            if isinstance(truth, bool):
                self.unsupported(
                    node,
                    "its condition never changes; loop over range(...) or wl.static_range(...)",
                )
            loop.enter_body(truth)
            self._loop_body(node.body, carried)
            self.at(node)
            loop.finish()
        finally:
            loop.leave()
        self.end_loop([], assigned - set(carried))

    def _loop_body(self, body: list[ast.stmt], carried: list[str]) -> None:
        self.frame.loop_depth += 1
        self._read_later.append(names.exposed_loads(body))
        self._left_behind.append(set(carried))
        self.trace(body)
        self._left_behind.pop()
        self._read_later.pop()
        self.frame.loop_depth -= 1

    def _Return(self, node: ast.Return) -> None:  # noqa: N802
        if self.frame.caller is None:
            self.emitter.fail(
                UnsupportedSyntaxError,
                "device code cannot return from the kernel",
                "store results to tensors, and return those after the loop",
            )
        if self.frame.loop_depth:
            self.unsupported(
                node, "give a variable its value in each branch, and return it at the end"
            )
        raise _Return(None if node.value is None else self.evaluate(node.value))

    def _For(self, node: ast.For) -> None:  # noqa: N802
        if node.orelse:
            self.unsupported_else(node)
        function = (
            self.frame.source.resolve(node.iter.func) if isinstance(node.iter, ast.Call) else None
        )
        if jumps.has_jumps(node.body):
            flag = self._break_flag(node)
            body = jumps.without_jumps(node.body, flag or "")
            made = ast.For(target=node.target, iter=node.iter, body=body, orelse=[])
            node = ast.copy_location(made, node)
            if flag and function is range:
                self._range_until(node, flag)
                return
            if flag:
                node.body = [jumps.unless(flag, body, node.body[0])]
        if function in (language.tile, language.grid, language.jagged_tile, range):
            self._tile_loop(node)
        elif function is language.static_range:
            self._unrolled_loop(node, self._static_range(node))
        elif isinstance(steps := self.evaluate(node.iter), (tuple, list)):
            self._unrolled_loop(node, steps)
        else:
            self.unsupported(
                node,
                "device code loops over wl.tile(...), wl.grid(...), range(...),"
                " wl.static_range(...) and tuples",
            )

    def _range_until(self, node: ast.For, flag: str) -> None:
        """A loop over `range` that ends when the flag is true: a `while` that counts."""
        (dim,) = self.loop_spec(node).dims
        first, last = dim.counted(self.emitter)
        variables = self.frame.variables
        number, end = (f"{what} of line {node.lineno}" for what in ("number", "end"))
        variables[number], variables[end] = RuntimeInteger(first), RuntimeInteger(last)
        index: ast.expr = ast.Name(number, ast.Load())
        step_size = dim.step
        assert isinstance(step_size, int), "steps of range are constants"
        if step_size != 1:
            begin = f"begin of line {node.lineno}"
            variables[begin] = dim.lower
            distance = ast.BinOp(index, ast.Mult(), ast.Constant(step_size))
            index = ast.BinOp(ast.Name(begin, ast.Load()), ast.Add(), distance)
        counts = ast.Compare(ast.Name(number, ast.Load()), [ast.Lt()], [ast.Name(end, ast.Load())])
        step = ast.AugAssign(ast.Name(number, ast.Store()), ast.Add(), ast.Constant(1))
        loop = ast.While(test=counts, body=[], orelse=[])
        loop.body = [ast.Assign(targets=[node.target], value=index), *node.body, step]
        for made in (loop, loop.body[0], index, counts, step):
            ast.copy_location(made, node)
            ast.fix_missing_locations(made)
        loop.test = jumps.while_not(flag, loop)
        ast.fix_missing_locations(loop)
        self._While(loop)

    def _loop_arguments(self, node: ast.For) -> tuple[list[Any], dict[str, Any]]:
        assert isinstance(node.iter, ast.Call)
        args = [self.evaluate(argument) for argument in node.iter.args]
        kwargs = {str(k.arg): self.evaluate(k.value) for k in node.iter.keywords}
        self.at(node.iter)
        return args, kwargs

    def _static_range(self, node: ast.For) -> range:
        args, kwargs = self._loop_arguments(node)
        if kwargs or not args or not all(isinstance(argument, int) for argument in args):
            self.emitter.fail(
                ArgumentError,
                "wl.static_range takes constant ints",
                "make the bound a constant with wl.specialize or wl.constexpr",
            )
        return range(*args)

    def _unrolled_loop(self, node: ast.For, steps: Iterable[Any]) -> None:
        for step in steps:
            self._assign(node.target, step)
            # Each step may read what the one before it assigned.
            self._read_later.append(names.exposed_loads(node.body))
            self._left_behind.append(set().union(*self._read_later))
            self.trace(node.body)
            self._left_behind.pop()
            self._read_later.pop()

    def loop_spec(self, node: ast.For, top_level: bool = False) -> loops.LoopSpec:
        """The dimensions and bounds of a loop over wl.tile, wl.grid or range."""
        assert isinstance(node.iter, ast.Call)
        function = self.frame.source.resolve(node.iter.func)
        args, kwargs = self._loop_arguments(node)
        if function is language.jagged_tile:
            if top_level:
                self.emitter.fail(
                    ArgumentError,
                    "wl.jagged_tile is a loop inside another one, whose rows it has ends of",
                    "loop over the rows with wl.tile around it",
                )
            return loops.jagged_spec(self.emitter, node, args, kwargs)
        if function is range:
            return loops.range_spec(self.emitter, node, args)
        make = loops.loop_spec if function is language.tile else loops.grid_spec
        return make(self.emitter, node, args, kwargs, top_level)

    def _carried(self, assigned: set[str], exposed: set[str]) -> list[str]:
        """Names that a loop which assigns and reads these carries from step to step."""
        variables = self.frame.variables
        later = set().union(*self._read_later)
        carried = [
            name
            for name in sorted(assigned)
            if name in variables
            and not isinstance(variables[name], Undefined)
            and (name in later or name in exposed)
        ]
        if any(isinstance(variables[name], Failed) for name in carried):
            raise AlreadyReportedError
        return carried

    def _tile_loop(self, node: ast.For) -> None:
        spec = self.loop_spec(node)
        assigned = names.stores(node.body)
        carried = self._carried(assigned - set(spec.targets), names.exposed_loads(node.body))
        self._nest(node, spec, 0, [], carried)
        self.end_loop(spec.targets, assigned - set(carried))

    def _nest(
        self,
        node: ast.For,
        spec: loops.LoopSpec,
        level: int,
        indices: list[TileIndex | RuntimeInteger],
        carried: list[str],
    ) -> None:
        if level == len(spec.dims):
            self.bind_targets(node, indices)
            self._loop_body(node.body, carried)
            return
        self.at(node.iter)
        loop = loops.CarryingLoop(self.emitter, spec.dims[level], carried, self.frame.variables)
        try:
            index = loop.enter()
            if spec.ends is not None and isinstance(index, TileIndex):
                jagged.enter(self.emitter, spec.ends, index.dim, index.begin)
            self._nest(node, spec, level + 1, [*indices, index], carried)
            self.at(node.iter)
            loop.finish()
        finally:
            loop.leave()
            jagged.leave(self.emitter, spec.dims[level].name)

    def bind_targets(self, node: ast.For, indices: list[TileIndex | RuntimeInteger]) -> None:
        """Gives the loop's variables their values."""
        many = isinstance(node.target, (ast.Tuple, ast.List))
        self._assign(node.target, tuple(indices) if many or len(indices) > 1 else indices[0])

    def end_loop(self, targets: list[str], assigned: set[str], *, top_level: bool = False) -> None:
        """Takes the values of names away that exist in a loop's body only."""
        missing = Undefined(
            "is assigned only inside a loop, which may not run",
            "give it a value before the loop, of the same shape and dtype",
        )
        if top_level:
            missing = Undefined(
                "is assigned in another top-level loop, whose blocks hand nothing on",
                "store it to a tensor there, and load it here",
            )
        for name in targets:
            self.frame.variables[name] = Undefined(
                "is the variable of a loop that has ended",
                "use it inside its loop",
                is_tile=True,
            )
        for name in assigned - set(targets):
            if not isinstance(self.frame.variables.get(name), Failed):
                self.frame.variables[name] = missing

    # -- Helper functions

    def _source_of(self, function: types.FunctionType) -> FunctionSource:
        """The source of a helper function.

        Raises:
            SourceUnavailableError: there is none; it is located at the call
        """
        try:
            return read_function(function)
        except SourceUnavailableError as error:
            self.emitter.fail(SourceUnavailableError, error.message, error.remedy)

    def call_helper(
        self,
        node: ast.Call,
        function: types.FunctionType,
        args: list[Any],
        kwargs: dict[str, Any],
    ) -> Any:
        """Traces a helper function in place."""
        if self.frame.is_inside(function):
            self.emitter.fail(
                UnsupportedSyntaxError,
                f"`{function.__qualname__}` calls itself",
                "write it as a loop",
            )
        try:
            bound = inspect.signature(function).bind(*args, **kwargs)
        except TypeError as error:
            self.emitter.fail(ArgumentError, f"{function.__qualname__}: {error}")
        bound.apply_defaults()
        location, caller = self.emitter.location, self.frame
        inner = Frame(self._source_of(function), dict(bound.arguments), caller)
        inner.call_location = location
        module = self.emitter.module
        inner.module_caller = module.location(location.file, location.line, location.column + 1)
        if caller.module_caller is not None:
            inner.module_caller = module.call_location(inner.module_caller, caller.module_caller)
        return self._trace_function(node, inner.source.tree, function.__qualname__, inner)

    def value_of_body(
        self, call: ast.Call, node: ast.Lambda | ast.FunctionDef, inner: Frame
    ) -> Any:
        """What a function of device code gives where it is called."""
        if isinstance(node, ast.Lambda):
            return super().value_of_body(call, node, inner)
        return self._trace_function(call, node, node.name, inner)

    def _trace_function(
        self, call: ast.Call, node: ast.FunctionDef, name: str, inner: Frame
    ) -> Any:
        """Traces the statements of a function up to its `return`."""
        caller = self.frame
        self.frame = inner
        # The caller's names are not those of the function.
        read_later, self._read_later = self._read_later, []
        failures = len(self.errors)
        try:
            self.trace(node.body)
        except _Return as result:
            return result.value
        finally:
            self.frame = caller
            self._read_later = read_later
        if len(self.errors) > failures:
            raise AlreadyReportedError
        if call is not self._unused:
            self.at(call)
            self.emitter.fail(
                MissingReturnError,
                f"`{name}` returns nothing, but its value is used",
                "end it with `return ...`",
            )
        return None
