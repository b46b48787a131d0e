# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""`wavetile device run` and `wavetile device env`, each in a process of its own."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy
import pytest
from wavetile import _C
from wavetile.cli import main
from wavetile.device import library_path

from .command_server import run_command

CLANG = "/usr/lib/llvm-22/bin/clang"

KERNELS = """\
#define id (__builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x())
kernel void scale(global const float *x, global double *y, global long *count, float by, int n) {
  if (id < n) {
    y[id] += (double)x[id] * by;
    count[id] = id;
  }
}
kernel void reverse(global int *out, local int *shared, int n) {
  int i = __builtin_amdgcn_workitem_id_x();
  shared[i] = i * i;
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  out[i] = shared[n - 1 - i];
}
"""


@pytest.fixture(scope="module")
def code_objects(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The kernels above, compiled by clang for each target."""
    folder = tmp_path_factory.mktemp("kernels")
    source = folder / "kernels.cl"
    source.write_text(KERNELS)
    objects = {}
    for target in ("gfx942", "gfx950", "gfx1150"):
        objects[target] = folder / f"{target}.hsaco"
        subprocess.run(
            [
                *(CLANG, "-target", "amdgcn-amd-amdhsa", "-nogpulib", "-x", "cl", "-cl-std=CL2.0"),
                *("-O2", f"-mcpu={target}", str(source), "-o", str(objects[target])),
            ],
            check=True,
        )
    return objects


def command(*arguments: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Runs `wavetile device`."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("WAVETILE_DEVICE")}
    return run_command(["device", *map(str, arguments)], environment | variables)


def arrays(folder: Path) -> tuple[numpy.ndarray, numpy.ndarray]:
    """An input and an input that is changed, saved as x.npy and y.npy."""
    random = numpy.random.default_rng(7)
    x = random.standard_normal(1009).astype(numpy.float32)
    y = random.standard_normal(1009)
    numpy.save(folder / "x.npy", x)
    numpy.save(folder / "y.npy", y)
    return x, y


def run_scale(
    code_object: Path,
    target: str,
    folder: Path,
    *more: str,
    block: str = "64",
    count: str = "1009",
    verb: str = "run",
) -> subprocess.CompletedProcess[str]:
    """Launches `scale` over 1009 elements by 16 workgroups with the command `verb`."""
    return command(
        *(verb, code_object, "scale", "--target", target, "--grid", "16,1,1", "--block", block),
        *("--arg", folder / "x.npy", "--arg", f"{folder / 'y.npy'}:rw"),
        *(
            "--arg",
            f"i64[1009]:{folder / 'count.npy'}",
            "--arg",
            "f32=2.5",
            "--arg",
            f"i32={count}",
        ),
        *more,
    )


def test_run(code_objects: dict[str, Path], target: str, tmp_path: Path) -> None:
    x, y = arrays(tmp_path)
    result = run_scale(code_objects[target], target, tmp_path)
    assert result.returncode == 0, result.stderr
    assert re.search(rf"scale on {target}: 16 workgroups, \d+ wave instructions", result.stdout)
    numpy.testing.assert_array_equal(numpy.load(tmp_path / "x.npy"), x)
    expected = y + x.astype(numpy.float64) * 2.5
    numpy.testing.assert_allclose(numpy.load(tmp_path / "y.npy"), expected, rtol=1e-15, atol=1e-15)
    numpy.testing.assert_array_equal(numpy.load(tmp_path / "count.npy"), numpy.arange(1009))


def test_run_with_lds(code_objects: dict[str, Path], target: str, tmp_path: Path) -> None:
    result = command(
        *("run", code_objects[target], "reverse", "--target", target, "--grid", "1"),
        *("--block", "61,1,1", "--lds", "244", "--arg", f"i32[61]:{tmp_path / 'out.npy'}"),
        *("--arg", "u32=0", "--arg", "i32=61"),
    )
    assert result.returncode == 0, result.stderr
    expected = numpy.arange(60, -1, -1, dtype=numpy.int32) ** 2
    numpy.testing.assert_array_equal(numpy.load(tmp_path / "out.npy"), expected)


def test_a_fault_is_reported_and_writes_nothing(
    code_objects: dict[str, Path], target: str, tmp_path: Path
) -> None:
    _, y = arrays(tmp_path)
    result = run_scale(code_objects[target], target, tmp_path, count="1010")
    assert result.returncode == 1
    assert "access out of bounds in kernel scale" in result.stderr
    assert "workgroup (15, 0, 0), wave" in result.stderr
    assert "hipErrorIllegalAddress" in result.stderr
    numpy.testing.assert_array_equal(numpy.load(tmp_path / "y.npy"), y)
    assert not (tmp_path / "count.npy").exists()


def test_refusals(code_objects: dict[str, Path], tmp_path: Path) -> None:
    arrays(tmp_path)
    other = run_scale(code_objects["gfx942"], "gfx950", tmp_path)
    assert other.returncode == 1
    assert "gfx942" in other.stderr
    assert "hipErrorNoBinaryForGpu" in other.stderr
    large = run_scale(code_objects["gfx950"], "gfx950", tmp_path, block="1025")
    assert large.returncode == 1
    assert "larger than 1024 work-items" in large.stderr
    lds = run_scale(code_objects["gfx950"], "gfx950", tmp_path, "--lds", "163841")
    assert lds.returncode == 1
    assert "163841 bytes of LDS" in lds.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["x.npy"], "takes 5 arguments, not 1"),
        (["none.npy", "f32=1"], "there is no file none.npy"),
        (["kernels.txt"], "neither a file, nor a buffer, nor a number"),
        (["bf16[4]:out.npy"], "there is no type 'bf16'"),
        (["f32[0]:out.npy"], "a buffer of no bytes"),
        (["i8=128"], "128 does not fit into i8"),
        (["i32=many"], "'many' is no number"),
        (["x.npy"] * 3 + ["f64=1", "i32=4"], "--arg f64=1 is a number of 8 bytes"),
        (
            ["x.npy"] * 2 + ["i64=0", "f32=1", "i32=4"],
            "argument 2 of kernel scale is global_buffer",
        ),
        (["x.npy"] * 4 + ["i32=4"], "argument 3 of kernel scale is by_value of 4 bytes"),
    ],
)
def test_wrong_arguments(
    arguments: list[str],
    message: str,
    code_objects: dict[str, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    arrays(tmp_path)
    monkeypatch.chdir(tmp_path)
    # In this process: nothing is launched. The command sets the variable.
    monkeypatch.setenv("WAVETILE_DEVICE_TARGET", os.environ["WAVETILE_DEVICE_TARGET"])
    given = [part for text in arguments for part in ("--arg", text)]
    shape = ["--target", "gfx950", "--grid", "1", "--block", "64"]
    assert main(["device", "run", str(code_objects["gfx950"]), "scale", *shape, *given]) == 2
    assert message in capsys.readouterr().err


def test_wrong_commands(code_objects: dict[str, Path], tmp_path: Path) -> None:
    shape = ("--grid", "1", "--block", "64")
    code_object = code_objects["gfx950"]
    result = command("run", tmp_path / "none", "scale", "--target", "gfx950", *shape)
    assert (result.returncode, "there is no file" in result.stderr) == (2, True)
    result = command("run", code_object, "scale", "--target", "gfx906", *shape)
    assert result.returncode == 2
    assert "'gfx906'" in result.stderr
    assert "gfx942" in result.stderr
    result = command("run", code_object, "nothing", "--target", "gfx950", *shape)
    assert result.returncode == 1
    assert "has no kernel 'nothing'; it has scale reverse" in result.stderr
    result = command(
        "run", code_object, "scale", "--target", "gfx950", "--grid", "0", "--block", "1"
    )
    assert result.returncode == 2


REFUSED = """\
  .amdgcn_target "amdgcn-amd-amdhsa--gfx950"
  .text
  .globl lazy
  .p2align 8
  .type lazy,@function
lazy:
  s_load_dword s0, s[0:1], 0x0
  s_waitcnt lgkmcnt(0)
  s_cmp_eq_u32 s0, 0
  s_cbranch_scc1 .Lend
  ds_gws_sema_v gds
.Lend:
  s_endpgm
.Lfunc_end:
  .size lazy, .Lfunc_end-lazy
  .rodata
  .p2align 6
  .amdhsa_kernel lazy
    .amdhsa_user_sgpr_kernarg_segment_ptr 1
    .amdhsa_kernarg_size 4
    .amdhsa_next_free_vgpr 4
    .amdhsa_next_free_sgpr 8
    .amdhsa_accum_offset 4
  .end_amdhsa_kernel
  .amdgpu_metadata
    amdhsa.version: [1, 2]
    amdhsa.target: amdgcn-amd-amdhsa--gfx950
    amdhsa.kernels:
      - .name: lazy
        .symbol: lazy.kd
        .kernarg_segment_size: 4
        .kernarg_segment_align: 4
        .group_segment_fixed_size: 0
        .private_segment_fixed_size: 0
        .wavefront_size: 64
        .sgpr_count: 8
        .vgpr_count: 4
        .max_flat_workgroup_size: 64
        .args: [{.size: 4, .offset: 0, .value_kind: by_value}]
  .end_amdgpu_metadata
"""


def test_lazy_refusal(tmp_path: Path) -> None:
    source, code_object = tmp_path / "lazy.s", tmp_path / "lazy.hsaco"
    source.write_text(REFUSED)
    subprocess.run(
        [
            CLANG,
            "-target",
            "amdgcn-amd-amdhsa",
            "-mcpu=gfx950",
            str(source),
            "-o",
            str(code_object),
        ],
        check=True,
    )

    def run(*options: str) -> subprocess.CompletedProcess[str]:
        shape = ("--target", "gfx950", "--grid", "1", "--block", "64")
        return command("run", code_object, "lazy", *shape, *options)

    refused = run("--arg", "i32=0")
    assert refused.returncode == 1
    assert re.search(r"kernel lazy uses 1 instruction .*\n.*\+0x\w+: ds_gws_sema_v", refused.stderr)
    assert run("--arg", "i32=0", "--lazy-refuse").returncode == 0
    reached = run("--arg", "i32=1", "--lazy-refuse")
    assert reached.returncode == 1
    assert "unsupported instruction in kernel lazy" in reached.stderr
    assert "ds_gws_sema_v" in reached.stderr


def test_env_makes_other_programs_use_the_device() -> None:
    result = command("env", "--target", "gfx942,gfx1150")
    assert result.returncode == 0, result.stderr
    lines = [line.removeprefix("export ") for line in result.stdout.splitlines()]
    variables = dict(line.split("=", 1) for line in lines)
    variables = {name: shlex.split(value)[0] for name, value in variables.items()}
    assert variables["WAVETILE_DEVICE_TARGET"] == "gfx942,gfx1150"
    assert variables["TRITON_LIBHIP_PATH"].endswith("/libamdhip64.so")
    assert Path(variables["TRITON_LIBHIP_PATH"]).exists()
    # A program that links HIP's name, one that opens it by its name, and Triton's way.
    program = (
        "import ctypes, os\n"
        "for name in (None, 'libamdhip64.so.7', 'libamdhip64.so.6', 'libamdhip64.so',\n"
        "             os.environ['TRITON_LIBHIP_PATH']):\n"
        "    text = ctypes.create_string_buffer(64)\n"
        "    hip = ctypes.CDLL(name)\n"
        "    assert hip.hipDeviceGetName(text, 64, 1) == 0\n"
        "    print(text.value.decode(), hex(ctypes.cast(hip.hipMalloc, ctypes.c_void_p).value))\n"
        "import torch, triton\n"
        "assert torch.arange(5).sum().item() == 10\n"
    )
    shell = subprocess.run(
        ["sh", "-c", f'eval {shlex.quote(result.stdout)}; exec {sys.executable} -c "$PROGRAM"'],
        env=os.environ | {"PROGRAM": program},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert shell.returncode == 0, shell.stderr
    # All are the same library: one device in the process.
    assert len(set(shell.stdout.splitlines())) == 1, shell.stdout
    assert shell.stdout.startswith("AMD Radeon 890M 0x")


def test_library_path_is_beside_the_extension() -> None:
    assert library_path() == Path(_C.__file__).parent / "lib" / "libamdhip64.so.7"
