# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The wrapper of a kernel: its host code as it stands, with a call in the place of each region.

It is Python source made in memory and registered with linecache, so that tracebacks and debuggers
show it.
"""

from __future__ import annotations

import ast
import linecache
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from wavetile.block_sizes import registrations
from wavetile.syntax.regions import Region
from wavetile.syntax.source import FunctionSource


def region_name(region: Region) -> str:
    """The wrapper's name for the launcher of a region."""
    return f"_wavetile_region_{region.index}"


def _wrapper_lines(source: FunctionSource, regions: Sequence[Region]) -> Iterator[tuple[int, str]]:
    """The wrapper's lines, from the `def` on, with the numbers that they have in the file.

    Each region is replaced by its call.
    """
    lines = linecache.getlines(source.file, source.function.__globals__)
    first, last = source.tree.lineno, source.tree.end_lineno or source.tree.lineno
    replaced = {region.loops[0].lineno: region for region in regions}
    number = first
    while number <= last:
        region = replaced.get(number)
        if region is None:
            yield number, lines[number - 1].rstrip("\n")
            number += 1
            continue
        line = lines[number - 1]
        indent = line[: len(line) - len(line.lstrip())]
        arguments = ", ".join(parameter.expression for parameter in region.parameters)
        yield number, f"{indent}{region_name(region)}({arguments})"
        number = (region.loops[-1].end_lineno or number) + 1


class Wrapper:
    """The wrapper of a kernel, from which functions with different launchers are made."""

    def __init__(self, source: FunctionSource, regions: Sequence[Region]) -> None:
        self.source = source
        self.regions = regions
        numbered = list(_wrapper_lines(source, regions))
        self.text = "".join(line + "\n" for _, line in numbered)
        self._numbers = [number for number, _ in numbered]
        self._code = self._compile()

    def _compile(self) -> types.CodeType:
        function = self.source.function
        file = f"<wavetile wrapper of {function.__qualname__} at {id(self):x}>"
        lines = self.text.splitlines(keepends=True)
        linecache.cache[file] = (len(self.text), None, lines, file)
        indented = self.text[0] in " \t"
        tree = ast.parse("if 1:\n" + self.text if indented else self.text, file)
        if indented:
            ast.increment_lineno(tree, -1)
        definition = tree.body[0].body[0] if indented else tree.body[0]  # type: ignore[attr-defined]
        for node in ast.walk(definition):
            if isinstance(node, ast.Assign):
                for name, call in registrations(self.source, node):
                    call.keywords.append(ast.keyword("name", ast.Constant(name)))
        # What the wrapper closes over is given as the variables of a function around it.
        names = [*function.__code__.co_freevars, *self._own_names()]
        factory = ast.FunctionDef(
            name="_wavetile_factory",
            args=ast.arguments(
                posonlyargs=[],
                args=[ast.arg(name) for name in names],
                kwonlyargs=[],
                kw_defaults=[],
                defaults=[],
            ),
            body=[definition],
            decorator_list=[],
        )
        factory.type_params = []  # type: ignore[attr-defined]  # a field from Python 3.12 on
        module = ast.fix_missing_locations(ast.Module([factory], type_ignores=[]))
        outer = compile(module, file, "exec", dont_inherit=True)
        code = _find_code(_find_code(outer, "_wavetile_factory"), function.__name__)
        return code.replace(co_consts=tuple(map(self._at_home, code.co_consts)))

    def _at_home(self, constant: Any) -> Any:
        """The code of a function inside the kernel as code of the kernel's file.

        Device code that calls the function then reads its source and names its lines there.
        """
        if not isinstance(constant, types.CodeType):
            return constant
        return constant.replace(
            co_filename=self.source.file,
            co_firstlineno=self._numbers[constant.co_firstlineno - 1],
            co_consts=tuple(map(self._at_home, constant.co_consts)),
        )

    def _own_names(self) -> list[str]:
        helpers = max((len(region.helpers) for region in self.regions), default=0)
        return [
            *map(region_name, self.regions),
            *(f"_wavetile_helper_{i}" for i in range(helpers)),
        ]

    def function(self, launchers: Sequence[Callable[..., None]]) -> Callable[..., Any]:
        """The kernel as a function that calls these for its regions."""
        original = self.source.function
        cells = dict(zip(original.__code__.co_freevars, original.__closure__ or (), strict=True))
        for region, launcher in zip(self.regions, launchers, strict=True):
            cells[region_name(region)] = types.CellType(launcher)
            for i, helper in enumerate(region.helpers):
                cells[f"_wavetile_helper_{i}"] = types.CellType(helper)
        function = types.FunctionType(
            self._code,
            original.__globals__,
            original.__name__,
            original.__defaults__,
            tuple(cells[name] for name in self._code.co_freevars),
        )
        function.__kwdefaults__ = original.__kwdefaults__
        function.__qualname__ = original.__qualname__
        function.__doc__ = original.__doc__
        return function


def _find_code(outer: types.CodeType, name: str) -> types.CodeType:
    return next(
        constant
        for constant in outer.co_consts
        if isinstance(constant, types.CodeType) and constant.co_name == name
    )
