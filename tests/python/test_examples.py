# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Every example runs and is right, at the shapes that it offers."""

from pathlib import Path

import pytest
from wavetile.command.arguments import arguments_of, load_kernel
from wavetile.command.run import reference_of, worst_factor
from wavetile.testing import LARGEST_FACTOR

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example(path: Path, seed: int) -> None:
    module, kernel = load_kernel(str(path))
    values = arguments_of(module, kernel, [], seed)
    expected = reference_of(module, kernel)(*values)
    assert worst_factor(kernel(*values), expected, values) <= LARGEST_FACTOR


def test_there_are_examples() -> None:
    assert {"softmax", "rms_norm", "matmul"} <= {path.stem for path in EXAMPLES}
