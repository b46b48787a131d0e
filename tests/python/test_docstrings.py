# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What editors show of public names: every parameter, the result, the errors and an example."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from typing import Any

import pytest
import wavetile
from wavetile import device, errors, exc, language, runtime, testing
from wavetile.device import arguments, environment, library, profile, tensors

MODULES = [
    *(wavetile, language, runtime, testing, errors, exc),
    *(device, arguments, environment, library, profile, tensors),
]

#: A line that opens a section; what belongs to it is indented further.
SECTION = re.compile(r"^(Args|Attributes|Returns|Yields|Raises|Example):$", re.MULTILINE)


def _names(module: Any) -> Iterator[str]:
    """The public names of a module: those that it lists, or defines."""
    listed = getattr(module, "__all__", None)
    for name, value in vars(module).items():
        own = getattr(value, "__module__", "").startswith("wavetile")
        defined = own and value.__module__ == module.__name__
        if name in listed if listed is not None else defined and not name.startswith("_"):
            yield name


def _members() -> Iterator[tuple[str, Any]]:
    """Functions, classes and the public methods that classes define, with their full names."""
    for module in MODULES:
        for name in _names(module):
            value = getattr(module, name)
            full = f"{module.__name__}.{name}"
            if inspect.isclass(value):
                yield full, value
                for method, function in vars(value).items():
                    if inspect.isfunction(function) and not method.startswith("_"):
                        yield f"{full}.{method}", function
            elif inspect.isfunction(value):
                yield full, value


MEMBERS = dict(_members())


def _sections(text: str) -> dict[str, str]:
    """The sections of a docstring by their names."""
    parts = SECTION.split(text)
    return {name: _indented(body) for name, body in zip(parts[1::2], parts[2::2])}


def _indented(text: str) -> str:
    """The lines of a section, up to the first that is not indented."""
    lines = text.strip("\n").splitlines()
    end = next((i for i, line in enumerate(lines) if line and line[0] != " "), len(lines))
    return textwrap.dedent("\n".join(lines[:end])).rstrip()


def _documented(section: str) -> set[str]:
    """The names that a section of arguments explains."""
    heads = re.findall(r"^([\w, ]+):(?: |$)", section, re.MULTILINE)
    return {name.strip() for head in heads for name in head.split(",")}


def complaints(name: str, value: Any) -> list[str]:
    """What a docstring leaves out."""
    text = inspect.cleandoc(value.__doc__ or "")
    if not text:
        return ["has no docstring"]
    found = []
    first = text.split("\n\n")[0]
    if not first.rstrip().endswith((".", ":")):
        found.append("its first sentence does not end")
    sections = _sections(text)
    if inspect.isclass(value) and issubclass(value, BaseException):
        return found  # docs/errors.md has an example of each
    is_method = "." in name.removeprefix(value.__module__ + ".") and inspect.isfunction(value)
    if inspect.isfunction(value):
        signature = inspect.signature(value)
        parameters = [p.lstrip("*") for p in signature.parameters if p not in ("self", "cls")]
        missing = set(parameters) - _documented(sections.get("Args", ""))
        if missing and not (is_method and set(parameters) == {"args", "kwargs"}):
            found.append(f"Args lacks {', '.join(sorted(missing))}")
        returns = str(signature.return_annotation)
        gives = returns not in ("None", "<class 'inspect._empty'>", "NoReturn")
        if gives and not is_method and not {"Returns", "Yields"} & set(sections):
            found.append("has no Returns")
        if not is_method and "Raises" not in sections and not re.search(r"Raises\s+nothing", text):
            found.append("has no Raises, and does not say that it raises nothing")
    if not is_method:
        if "Example" not in sections:
            found.append("has no Example")
        else:
            try:
                ast.parse(sections["Example"])
            except SyntaxError as error:
                found.append(f"its Example is no Python: {error}")
    return found


@pytest.mark.parametrize("name", list(MEMBERS))
def test_a_docstring_says_all(name: str) -> None:
    assert complaints(name, MEMBERS[name]) == []


def test_there_are_docstrings() -> None:
    assert {"wavetile.kernel", "wavetile.language.tile", "wavetile.testing.assert_close"} <= set(
        MEMBERS
    )


def test_what_is_left_out_is_found() -> None:
    def scaled(x: int, by: int) -> int:
        """x times by.

        Args:
            x: a number

        Example:
            for
        """
        return x * by

    assert [text.split(":")[0] for text in complaints("scaled", scaled)] == [
        "Args lacks by",
        "has no Returns",
        "has no Raises, and does not say that it raises nothing",
        "its Example is no Python",
    ]
