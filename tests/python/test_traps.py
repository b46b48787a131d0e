# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What ends or corrupts other compilers: refusals, faults, odd surroundings, huge tensors."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import wavetile
import wavetile.language as wl
from wavetile import errors
from wavetile.testing import assert_close

from .end_to_end import on

HERE = Path(__file__).name


@wavetile.kernel
def softmax(x: torch.Tensor) -> torch.Tensor:
    m, n = x.size()
    out = torch.empty([m, n], dtype=x.dtype)
    for rows in wl.tile(m):
        out[rows, :] = torch.softmax(x[rows, :], dim=-1)
    return out


@wavetile.kernel
def matmul(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    m, k = x.size()
    n = y.size(1)
    out = torch.empty([m, n], dtype=torch.float32)
    for rows, cols in wl.tile([m, n]):
        acc = wl.zeros([rows, cols], dtype=torch.float32)
        for inner in wl.tile(k):
            acc = wl.dot(x[rows, inner], y[inner, cols], acc)
        out[rows, cols] = acc
    return out


def assert_that_good_kernels_compile(target: str, generator: torch.Generator) -> None:
    """A kernel of which nothing is compiled yet: an earlier result would prove nothing."""
    fresh = wavetile.kernel(target=target)(softmax.source.function)
    x = torch.randn(5, 77, generator=generator)
    bound = fresh.bind(x)
    assert bound.code_object()[:4] == b"\x7fELF"
    assert_close(fresh(x), torch.softmax(x.double(), -1), length=77, c=2.0)


def test_lds_beyond_the_limit(target: str, generator: torch.Generator) -> None:
    """LLVM's default handler ends the process here."""
    x = torch.randn(300, 2000, generator=generator).bfloat16()
    y = torch.randn(2000, 270, generator=generator).bfloat16()
    config = {"rows": 256, "cols": 256, "inner": 256, "waves": 16}
    with pytest.raises(errors.CompilationError, match=rf"bytes of LDS.*{target}|{target}.*LDS"):
        on(matmul, target, config)(x, y)
    assert_that_good_kernels_compile(target, generator)


def test_dtypes_that_a_target_lacks(target: str, generator: torch.Generator) -> None:
    """A product of a format of fp8 whose matrix instruction another GPU has: selecting the
    instruction ends the process, so the product is made of other instructions."""
    dtype = torch.float8_e4m3fnuz if target == "gfx950" else torch.float8_e4m3fn
    x = torch.randn(33, 65, generator=generator).to(dtype)
    y = torch.randn(65, 17, generator=generator).to(dtype)
    assert_close(on(matmul, target)(x, y), x.double() @ y.double(), length=65, c=2.0)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"n": 3, "rows": 1}, "no layout spreads rows of 3 elements"),
        ({"n": 1 << 20, "rows": 8, "waves": 1}, "does not fit in registers"),
        ({"waves": 1000}, "cannot have 1000 waves"),
        ({"waves": 3}, "cannot have 3 waves"),
        ({"rows": 1 << 40}, "does not fit in registers"),
        ({"rows": 4, "waves_per_simd": 1000}, "cannot have 1000 waves on a SIMD"),
    ],
    ids=str,
)
def test_a_config_that_a_target_cannot_serve(
    config: dict[str, int], message: str, target: str, generator: torch.Generator
) -> None:
    with pytest.raises(errors.CompilationError, match=message):
        on(softmax, target, config)(torch.randn(5, 77, generator=generator))
    assert_that_good_kernels_compile(target, generator)


def test_tiles_beyond_the_registers(target: str, generator: torch.Generator) -> None:
    x = torch.randn(300, 2000, generator=generator)
    y = torch.randn(2000, 270, generator=generator)
    config = {"rows": 256, "cols": 256, "inner": 1024, "waves": 4}
    with pytest.raises(errors.CompilationError, match=rf"registers a lane, and {target} has"):
        on(matmul, target, config)(x, y)
    assert_that_good_kernels_compile(target, generator)


@wavetile.kernel
def beyond_the_end(out: torch.Tensor, x: torch.Tensor) -> None:
    for i in wl.tile(out.size(0)):
        out[i] = x[i] + 1


def test_out_of_bounds_is_reported(target: str, generator: torch.Generator) -> None:
    """Code for tensors of equal sizes, launched on one that is shorter.

    Views have bounds and a guard keeps calls apart, so a mistake of ours has to be made up.
    """
    kernel = on(beyond_the_end, target)
    out, x = torch.zeros(300), torch.randn(300, generator=generator)
    (launcher,) = kernel._launchers
    code = kernel.bind(out, x).regions[0].compiled.kernel
    values = {"out": out, "x": x[:64].clone()}
    with pytest.raises(errors.DeviceError) as caught:
        launcher.run(code, *(values[name] for name in launcher.parameter_names))
    report = str(caught.value)
    line = next(
        number
        for number, text in enumerate(Path(__file__).read_text().splitlines(), 1)
        if "out[i] = x[i] + 1" in text
    )
    assert "out of bounds" in report
    assert "beyond_the_end" in report
    # Line tables name no function, and the report none in its place.
    assert re.search(rf"{re.escape(HERE)}:{line}:\d+$", report, re.MULTILINE)
    assert "lane" in report
    assert "'x'" in report
    assert_that_good_kernels_compile(target, generator)


@wavetile.kernel
def row_of(x: torch.Tensor, out: torch.Tensor) -> None:
    for rows, cols in wl.tile([x.size(0), x.size(1)]):
        out[rows, cols] = x[rows, cols] * 2 + 1


@pytest.mark.parametrize("stride", [2**27 + 1, 2**29 - 7])
def test_rows_far_apart(stride: int, target: str, generator: torch.Generator) -> None:
    """Byte offsets beyond 2^31, from strides of elements that fit 32 bits and products that do not.

    The memory is reserved and, but for the rows, never touched.
    """
    rows, columns = 9, 67
    buffer = torch.empty(stride * (rows - 1) + columns)
    x = buffer.as_strided((rows, columns), (stride, 1))
    values = torch.randn(rows, columns, generator=generator)
    x.copy_(values)
    out = torch.full([rows, columns], 77.0)
    on(row_of, target)(x, out)
    assert torch.equal(out, values * 2 + 1)
    assert torch.equal(on(softmax, target)(x), on(softmax, target)(values))
    on(row_of, target)(values, x)
    assert torch.equal(x, values * 2 + 1)


@wavetile.kernel
def strided_elements(x: torch.Tensor, out: torch.Tensor) -> None:
    for i in wl.tile(x.size(0)):
        out[i] = x[i] - 1


def test_elements_far_apart(target: str, generator: torch.Generator) -> None:
    stride, length = 2**26 + 3, 70
    buffer = torch.empty(stride * (length - 1) + 1, dtype=torch.int8)
    x = buffer.as_strided((length,), (stride,))
    values = torch.randint(-9, 9, (length,), generator=generator).to(torch.int8)
    x.copy_(values)
    out = torch.full([length], 77, dtype=torch.int8)
    on(strided_elements, target)(x, out)
    assert torch.equal(out, values - 1)


PROGRAM = """
import torch, wavetile
import wavetile.language as wl

@wavetile.kernel
def double(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    for rows in wl.tile(x.size(0)):
        out[rows, :] = x[rows, :] * 2
    return out

x = torch.randn(5, 77)
assert torch.equal(double(x), x * 2)
"""


@pytest.mark.parametrize("cache", ["off", "/proc/cache", None])
def test_nothing_needs_to_be_written(cache: str | None, tmp_path: Path) -> None:
    """A working folder, home and temporary folder in which no file can be made.

    They are /proc, where even root cannot write.
    """
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    environment = {**os.environ, "HOME": "/proc", "TMPDIR": "/proc", "XDG_CACHE_HOME": "/proc"}
    environment.pop("WAVETILE_CACHE", None)
    if cache is not None:
        environment["WAVETILE_CACHE"] = cache
    result = subprocess.run(
        [sys.executable, str(program)],
        env=environment,
        cwd="/proc",
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("inserted", ["", "\n", "\n\n", "# a comment\n" * 4])
def test_a_file_that_changes_after_its_import(inserted: str, tmp_path: Path) -> None:
    """No other text than that of the function is compiled."""
    path = tmp_path / "changing.py"
    path.write_text(PROGRAM.split("x = torch.randn")[0])
    spec = importlib.util.spec_from_file_location(f"changing_{len(inserted)}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    path.write_text(inserted + path.read_text())
    x = torch.ones(5, 7)
    if inserted:
        with pytest.raises(errors.SourceUnavailableError, match=r"changing\.py"):
            module.double(x)
    else:
        assert torch.equal(module.double(x), x * 2)


def good() -> torch.Tensor:
    return torch.ones(5, 77)


@pytest.mark.parametrize(
    ("argument", "kind"),
    [
        (torch.ones(5), ValueError),
        (torch.ones(5, 6, 7), ValueError),
        (torch.ones(5, 77, dtype=torch.complex64), errors.WavetileError),
        (torch.ones(5, 77, dtype=torch.int32), errors.WavetileError),
        (torch.ones(5, 77, device="meta"), errors.ArgumentError),
        (torch.ones(5, 77).to_sparse(), errors.WavetileError),
        ([1.0, 2.0], AttributeError),
        (None, AttributeError),
    ],
    ids=["1-D", "3-D", "complex", "int", "meta", "sparse", "list", "None"],
)
def test_bad_arguments(argument: object, kind: type[Exception]) -> None:
    """Errors of host code are Python's own; those of device code are ours."""
    with pytest.raises(kind):
        softmax(argument)
    assert_close(softmax(good()), torch.softmax(good().double(), -1), length=77, c=2.0)


@wavetile.kernel
def two_tensors(x: torch.Tensor, out: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        out[rows, :] = x[rows, :]


@pytest.mark.parametrize(
    ("x", "out", "kind"),
    [
        (torch.ones(5), torch.ones(5, 7), errors.ShapeError),
        (torch.ones(5, 7), torch.ones(5), errors.WavetileError),
        (torch.ones(5, 7), torch.ones(5, 8), errors.ShapeError),
        (torch.ones(5, 7), torch.ones(5, 7, 2), errors.WavetileError),
        (torch.ones(5, 7), torch.ones(5, 7, device="meta"), errors.ArgumentError),
        (torch.ones(5, 7), 3.0, errors.ArgumentError),
        (torch.ones(5, 7), None, errors.WavetileError),
    ],
    ids=["rank of x", "rank of out", "columns", "3-D", "meta", "number", "None"],
)
def test_arguments_that_do_not_fit(x: object, out: object, kind: type[Exception]) -> None:
    with pytest.raises(kind) as caught:
        two_tensors(x, out)
    assert isinstance(caught.value, errors.WavetileError)


@wavetile.kernel
def fill(out: torch.Tensor, count: int) -> None:
    for i in wl.tile(count):
        out[i] = 1.0


def test_sizes_from_arguments(target: str) -> None:
    """A negative number of iterations is none; too large a grid is refused, not cut."""
    kernel = on(fill, target, {"i": 64})
    out = torch.zeros(100)
    for count in (-1, -(2**40), 0):
        kernel(out, count)
        assert torch.equal(out, torch.zeros(100))
    kernel(out, 67)
    assert out.sum().item() == 67
    with pytest.raises(errors.LaunchError, match="workgroups along x"):
        kernel(out, 2**62)


def test_missing_and_surplus_arguments() -> None:
    with pytest.raises(TypeError, match="out"):
        two_tensors(good())
    with pytest.raises(TypeError, match="3"):
        two_tensors(good(), good(), good())
