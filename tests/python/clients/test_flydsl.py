# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""FlyDSL 0.4.2: its compiler, its own runtime library, and the software device under it."""

import os
import shutil
from pathlib import Path

import pytest
import torch
from wavetile.device.library import Library
from wavetile.device.tensors import announced
from wavetile.testing import assert_close

from tests.python.clients import flydsl_kernels
from tests.python.clients.conftest import LIBRARY
from tests.python.clients.launches import launched

WAVE = {"gfx942": 64, "gfx950": 64, "gfx1150": 32}


@pytest.fixture
def device(
    target: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, pytestconfig: pytest.Config
) -> Library:
    """The software device that poses as `target`, and FlyDSL compiling for it.

    FlyDSL looks for ROCm's linker and for a folder of ROCm's device libraries, which may be empty.
    """
    rocm = tmp_path / "rocm"
    (rocm / "amdgcn" / "bitcode").mkdir(parents=True)
    (rocm / "llvm" / "bin").mkdir(parents=True)
    linker = shutil.which("ld.lld") or "/usr/lib/llvm-22/bin/ld.lld"
    (rocm / "llvm" / "bin" / "ld.lld").symlink_to(linker)
    monkeypatch.setenv("ROCM_PATH", str(rocm))
    monkeypatch.setenv("FLYDSL_GPU_ARCH", target)
    monkeypatch.setenv("FLYDSL_RUNTIME_CACHE_DIR", str(tmp_path / "cache"))
    targets = os.environ["WAVETILE_DEVICE_TARGET"].split(",")
    LIBRARY.set_device(targets.index(target))
    LIBRARY.clear_launch_log()
    return LIBRARY


@pytest.mark.parametrize(("rows", "columns"), [(7, 333), (4, 64), (9, 1021)])
def test_softmax(
    device: Library, target: str, generator: torch.Generator, rows: int, columns: int
) -> None:
    x = 3 * torch.randn(rows, columns, generator=generator).bfloat16()
    out = torch.empty_like(x)
    with announced(device, x=x, out=out):
        flydsl_kernels.softmax(columns, WAVE[target])(x, out, rows)
    assert_close(out, torch.softmax(x.double(), dim=1), length=columns)
    assert launched(device, target) == {"softmax_rows_0": 1}


@pytest.mark.parametrize(("rows", "columns"), [(5, 1000), (3, 4104)])
def test_rms_norm(
    device: Library, target: str, generator: torch.Generator, rows: int, columns: int
) -> None:
    x = torch.randn(rows, columns, generator=generator).bfloat16()
    weight = torch.randn(columns, generator=generator).bfloat16()
    out = torch.empty_like(x)
    with announced(device, x=x, weight=weight, out=out):
        flydsl_kernels.rms_norm(columns, WAVE[target], 1e-6)(x, weight, out, rows)
    scale = torch.rsqrt(x.double().square().mean(dim=1, keepdim=True) + 1e-6)
    assert_close(out, x.double() * scale * weight.double(), length=columns)
    assert launched(device, target) == {"rms_norm_rows_0": 1}


@pytest.mark.parametrize("target", ["gfx942", "gfx950"])  # RDNA has no loads to LDS.
@pytest.mark.parametrize(("M", "N", "K"), [(101, 67, 192), (64, 129, 64), (1, 193, 256)])
def test_gemm_with_loads_to_lds(
    device: Library, target: str, generator: torch.Generator, M: int, N: int, K: int
) -> None:
    a = torch.randn(M, K, generator=generator).bfloat16()
    b = torch.randn(N, K, generator=generator).bfloat16()
    out = torch.empty(M, N)
    with announced(device, a=a, b=b, out=out):
        flydsl_kernels.gemm(M, N, K, target == "gfx950")(a.view(-1), b.view(-1), out.view(-1))
    assert_close(out, a.double() @ b.double().T, length=K, c=4)
    assert launched(device, target) == {"gemm_tiles_0": 1}


@pytest.mark.parametrize("target", ["gfx950"])
def test_inline_assembly_without_a_wait(
    device: Library, target: str, generator: torch.Generator, capfd: pytest.CaptureFixture[str]
) -> None:
    """What FlyDSL's fp8 attention does: see docs/software-device-races.md."""
    x = torch.randint(-128, 128, (512,), generator=generator).to(torch.int8)
    out = torch.zeros_like(x)

    def run(waits: bool) -> None:
        with announced(device, x=x, out=out):
            launch = flydsl_kernels.transpose_bytes(waits)
            launch(x.view(torch.int32), out.view(torch.int32))

    run(waits=True)
    assert launched(device, target) == {"transpose_rows_0": 1}
    # Sixteen lanes exchange their bytes: which goes where is tested with the instruction.
    blocks, results = x.view(4, 128), out.view(4, 128)
    assert torch.equal(blocks.sort(dim=1).values, results.sort(dim=1).values)
    assert not torch.equal(x, out)

    device.clear_launch_log()
    run(waits=False)  # FlyDSL prints that the launch failed, and goes on.
    assert [launch["result"] for launch in device.launch_log()] == ["hipErrorLaunchFailure"]
    report = capfd.readouterr().err
    assert "use of a value before the wait for its load in kernel transpose_rows_0" in report
    assert "buffer_store_dwordx2" in report
    assert "no wait covers the load" in report
    assert "ds_read_b64_tr_b8" in report
