# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Kernels run as Python: the same numbers as compiled, whole tensors, breakpoints."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import wavetile
import wavetile.language as wl
from wavetile.errors import ArgumentError, ConfigError, OutsideKernelError, TensorAccessError
from wavetile.testing import assert_close

HERE = Path(__file__).parent

# Tests of what the language means; they hold in both ways to run a kernel.
LANGUAGE_TESTS = (
    "arguments",
    "atomics",
    "control",
    "gather",
    "indexing",
    "loops",
    "pointwise",
    "products",
    "random",
    "reductions",
    "scaled",
    "scans",
    "structured",
)


def eagerly(function: Callable[..., Any]) -> wavetile.Kernel:
    return wavetile.kernel(interpret=True)(function)


def test_the_tests_of_the_language_hold() -> None:
    files = [str(HERE / f"test_language_{name}.py") for name in LANGUAGE_TESTS]
    left_out = [
        # A slice that begins below zero begins at the end, and ends with its tensor.
        "gather.py::test_slices_of_constant_length",
        # The last block of a loop has fewer elements than its block size says.
        "gather.py::test_product_with_packed_integers",
    ]
    files += [f"--deselect=tests/python/test_language_{test}" for test in left_out]
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", "not compiled"]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *files],
        cwd=HERE.parents[1],
        # Nothing is compiled, so that one target is as good as all.
        env={**os.environ, "WAVETILE_INTERPRET": "1", "WAVETILE_TEST_TARGETS": "gfx950"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr


def test_a_loop_is_one_step_over_whole_tensors(generator: torch.Generator) -> None:
    seen: list[tuple[int, ...]] = []

    def doubled(x: torch.Tensor) -> torch.Tensor:
        out = torch.empty_like(x)
        for rows, columns in wl.tile(list(x.shape)):
            v = x[rows, columns]
            seen.append(tuple(v.shape))
            out[rows, columns] = v * 2
        return out

    x = torch.randn(5, 37, generator=generator)
    assert torch.equal(eagerly(doubled)(x), x * 2)
    assert seen == [(5, 37)]


def test_a_block_size_is_kept(generator: torch.Generator) -> None:
    @eagerly
    def sums(x: torch.Tensor) -> torch.Tensor:
        out = torch.full([4], 7.0)
        for block in wl.tile(x.size(0), block_size=10):
            out[block.id] = x[block].sum()
        return out

    x = torch.randn(37, generator=generator)
    wanted = torch.stack([part.sum() for part in x.double().split(10)])
    assert_close(sums(x), wanted, length=10, c=4)


def test_a_registered_block_size_longer_than_its_last_block(generator: torch.Generator) -> None:
    @eagerly
    def sums(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        m, n = x.size()
        rows_size, cols_size = wl.register_block_size(2, 4), wl.register_block_size(8, 16)
        total, high, ones = torch.empty(m), torch.empty(m), torch.empty(m)
        for rows in wl.tile(m, block_size=rows_size):
            acc = wl.zeros([rows, cols_size])  # of whole blocks of a loop that comes later
            top = torch.full([rows_size, cols_size], float("-inf"))
            for cols in wl.tile(n, block_size=cols_size):
                part = wl.zeros([rows_size, cols_size])
                part += x[rows, cols]
                acc += part
                top = torch.maximum(x[rows, cols], top)
            total[rows], high[rows] = acc.sum(-1), top.amax(-1)
            ones[rows] = torch.ones(rows_size)
        return total, high, ones

    x = torch.randn(7, 37, generator=generator)
    total, high, ones = sums(x)
    assert_close(total, x.double().sum(-1), length=37, c=4)
    assert torch.equal(high, x.amax(-1))
    assert torch.equal(ones, torch.ones(7))


def test_tiles_are_values() -> None:
    @eagerly
    def pairs(x: torch.Tensor, out: torch.Tensor) -> None:
        for rows in wl.tile(x.size(0)):
            loaded = x[rows]
            x[rows] = loaded + 1
            kept = loaded
            loaded += 10
            loaded -= 3
            out[rows, 0] = kept
            out[rows, 1] = loaded

    x, out = torch.arange(5.0), torch.zeros(5, 2)
    pairs(x, out)
    assert x.tolist() == [1, 2, 3, 4, 5]
    assert out.tolist() == [[i, i + 7] for i in range(5)]


def test_beyond_a_tensor_loads_give_0_and_stores_are_dropped() -> None:
    @eagerly
    def shifted(x: torch.Tensor, out: torch.Tensor) -> None:
        for rows in wl.tile(x.size(0)):
            out[rows - 2] = x[rows + 1] * 10 + x[rows - 1] + x[9]

    out = torch.full([4], 7.0)
    shifted(torch.tensor([1.0, 2, 3, 4]), out)
    assert out.tolist() == [42, 3, 7, 7]


def test_host_code_and_what_runs_after_a_mistake_are_untouched() -> None:
    @eagerly
    def mistaken(x: torch.Tensor) -> torch.Tensor:
        host = x + 0
        host += 1  # host code: torch's own meaning
        for rows in wl.tile(x.size(0)):
            x[rows][0] = host[rows]
        return host

    x = torch.zeros(3)
    with pytest.raises(TensorAccessError, match="a tile is a value"):
        mistaken(x)
    with pytest.raises(OutsideKernelError, match=r"wl\.zeros"):
        wl.zeros([3])
    x += 1
    assert x.tolist() == [1, 1, 1]


def test_bounds_and_block_sizes_are_checked() -> None:
    def loop(bounds: Any, **options: Any) -> None:
        for _ in wl.tile(bounds, **options):
            pass

    kernel = eagerly(loop)
    for end, options in ((2.5, {}), (True, {}), (5, {"block_size": 0}), ([2, 3], {"end": [1]})):
        with pytest.raises(ArgumentError):
            kernel(end, **options)
    kernel(0)


def test_a_kernel_without_a_source_runs() -> None:
    """Python runs it as it stands: nothing of it is read."""
    names: dict[str, Any] = {"torch": torch, "wl": wl}
    lines = (
        "def increment(x):",
        "    out = torch.empty_like(x)",
        "    for t in wl.tile(x.size(0)):",
        "        out[t] = x[t] + 1",
        "    return out",
    )
    exec("\n".join(lines), names)
    increment = wavetile.kernel(names["increment"], interpret=True)
    assert torch.equal(increment(torch.arange(7)), torch.arange(1, 8))


def test_every_function_of_the_language_has_a_meaning() -> None:
    interpreter = wavetile.eager.Interpreter()
    for name in wl.__all__:
        if hasattr(getattr(wl, name), "__wrapped__"):  # marked as device code
            assert callable(getattr(interpreter, name, None)), name


def test_the_variable_is_read_when_a_kernel_is_decorated(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing() -> None:
        pass

    monkeypatch.setenv("WAVETILE_INTERPRET", "1")
    assert wavetile.kernel(nothing).settings.interpret
    assert not wavetile.kernel(interpret=False)(nothing).settings.interpret
    monkeypatch.setenv("WAVETILE_INTERPRET", "yes")
    with pytest.raises(ConfigError, match="WAVETILE_INTERPRET"):
        wavetile.kernel(nothing)
