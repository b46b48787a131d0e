# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""torch, triton and wavetile in one process, in every order, with and without a preload."""

import itertools
import os
import subprocess
import sys
from pathlib import Path

import pytest
from wavetile.devices import software_device

PROGRAM = """
import {order}
import torch, triton, wavetile
import wavetile.language as wl
{kernel}
x = torch.randn(5, 77)
assert torch.allclose(double(x), x * 2)
assert triton._C.libtriton is not None
"""

KERNEL = """
@wavetile.kernel
def double(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    for rows in wl.tile(x.size(0)):
        out[rows, :] = x[rows, :] * 2
    return out
"""


def run(path: Path, *, preload: bool, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs a Python program in a process of its own."""
    variables = {**os.environ, **environment}
    variables.pop("WAVETILE_DEVICE_TARGET", None)
    if preload:
        variables["LD_PRELOAD"] = str(software_device())
    return subprocess.run(
        [sys.executable, str(path)],
        env=variables,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.parametrize("preload", [False, True], ids=["plain", "preloaded"])
@pytest.mark.parametrize("order", list(itertools.permutations(["torch", "triton", "wavetile"])))
def test_every_order(order: tuple[str, ...], preload: bool, tmp_path: Path) -> None:
    """Each carries an LLVM or symbols of one; triton's are even exported."""
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.format(order=", ".join(order), kernel=KERNEL))
    result = run(program, preload=preload, WAVETILE_CACHE=str(tmp_path / "cache"))
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("ours_first", [False, True])
def test_triton_compiles_beside_wavetile(ours_first: bool, tmp_path: Path) -> None:
    """Both compilers work in one process: Triton's makes code for an AMD GPU that is not there."""
    theirs = """
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

@triton.jit
def copy(x, y, n: tl.constexpr):
    i = tl.arange(0, n)
    tl.store(y + i, tl.load(x + i))

source = ASTSource(fn=copy, signature={"x": "*fp32", "y": "*fp32", "n": "constexpr"},
                   constexprs={"n": 64})
code = triton.compile(source, target=GPUTarget("hip", "gfx950", 64))
assert "s_endpgm" in code.asm["amdgcn"]
"""
    ours = "x = torch.randn(5, 77)\nassert torch.equal(double(x), x * 2)\n"
    parts = [ours, theirs] if ours_first else [theirs, ours]
    program = tmp_path / "program.py"
    program.write_text(
        "import torch, triton, wavetile\nimport wavetile.language as wl\n"
        + KERNEL
        + "".join(parts)
        + ours
    )
    result = run(
        program,
        preload=False,
        TRITON_CACHE_DIR=str(tmp_path / "triton"),
        WAVETILE_CACHE=str(tmp_path / "cache"),
    )
    assert result.returncode == 0, result.stderr


def test_the_device_exports_no_symbols_of_llvm() -> None:
    """So that a program with another LLVM can preload it."""
    result = subprocess.run(
        ["nm", "-D", "--defined-only", str(software_device())],
        capture_output=True,
        text=True,
        check=True,
    )
    names = [line.split()[-1].split("@")[0] for line in result.stdout.splitlines()]
    assert "hipModuleLaunchKernel" in names
    # HIP's own library has the last two as well.
    own = ("hip", "wavetile", "__hip", "__gnu_f2h_ieee", "__gnu_h2f_ieee")
    foreign = [name for name in names if not name.startswith(own)]
    assert not foreign


@pytest.mark.parametrize("order", [("wavetile", "torch"), ("torch", "wavetile")])
def test_import_is_quiet(order: tuple[str, str], tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(f"import {order[0]}, {order[1]}\n")
    result = run(program, preload=False)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
