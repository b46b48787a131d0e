# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Each class of errors has a script under docs/mistakes that raises it, told in docs/errors.md."""

import ast

import pytest
from wavetile import errors

from .mistakes import Mistake, run, scripts


@pytest.fixture(scope="module")
def mistakes() -> dict[str, Mistake]:
    return {mistake.script.stem: mistake for mistake in run(scripts())}


def class_of(name: str) -> str:
    """The class that a script is named after: `ShapeError_dot` is one of several for its class."""
    return name.partition("_")[0]


def test_every_class_has_a_script() -> None:
    classes = {
        name
        for name, value in vars(errors).items()
        if isinstance(value, type)
        and issubclass(value, (errors.WavetileError, errors.WavetileWarning))
        and value not in (errors.WavetileError, errors.WavetileWarning)
    }
    assert classes == {class_of(script.stem) for script in scripts()}


@pytest.mark.parametrize("name", [script.stem for script in scripts()])
def test_a_script_raises_its_class(name: str, mistakes: dict[str, Mistake]) -> None:
    mistake = mistakes[name]
    assert mistake.raised == class_of(name), mistake.message
    ast.parse(mistake.source)
    # What happens while tracing names the script's line.
    if issubclass(getattr(errors, class_of(name)), (NotImplementedError, NameError)):
        assert f"{name}.py:" in mistake.message
