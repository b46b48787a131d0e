# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""A HIP C++ program that Debian's clang compiles, unmodified, on the software device."""

import json
import os
import subprocess
from pathlib import Path

import pytest
import triton.backends.amd
from wavetile.device import library_path

CLANG = "/usr/lib/llvm-22/bin/clang++"
FOLDER = Path(__file__).parent / "hip_program"
# AMD's device libraries, from Triton's package: printf calls the host through them.
DEVICE_LIBRARIES = Path(triton.backends.amd.__file__).parent / "lib"
TARGETS = ("gfx942", "gfx950", "gfx1150")


OPTIONS = {
    "plain": [],
    # The offload bundle compressed by zstd.
    "compressed": ["--offload-compress"],
    # printf by a buffer that is read after the launch.
    "buffered": ["-mprintf-kind=buffered"],
    # Optimised away, hidden arguments would hide faults of the runtime.
    "unoptimised": ["-O0"],
}


@pytest.fixture(scope="module", params=OPTIONS)
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program with code for all targets."""
    output = tmp_path_factory.mktemp("hip") / "program"
    subprocess.run(
        [
            *(
                CLANG,
                "-x",
                "hip",
                str(FOLDER / "program.hip"),
                "-O2",
                "-std=c++20",
                "-nogpuinc",
                "-o",
                str(output),
            ),
            *(f"--offload-arch={target}" for target in TARGETS),
            *OPTIONS[request.param],
            "--hip-device-lib=ockl.bc",
            f"--hip-device-lib-path={DEVICE_LIBRARIES}",
            *(f"-L{library_path().parent}", f"-l:{library_path().name}"),
            f"-Wl,-rpath,{library_path().parent}",
        ],
        check=True,
    )
    return output


def run(
    program: Path, part: str, target: str, asynchronous: bool, status: int = 0
) -> tuple[str, str, list[dict[str, object]]]:
    """What the program prints, its reports, and the device's log of it."""
    log = program.with_suffix(".json")
    log.unlink(missing_ok=True)
    environment = {k: v for k, v in os.environ.items() if not k.startswith("WAVETILE_DEVICE")}
    environment |= {
        "WAVETILE_DEVICE_TARGET": target,
        "WAVETILE_DEVICE_ASYNC": str(int(asynchronous)),
        "WAVETILE_DEVICE_LOG": str(log),
    }
    result = subprocess.run(
        [str(program), part],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert result.returncode == status, result.stdout + result.stderr
    return result.stdout, result.stderr, json.loads(log.read_text())


@pytest.mark.parametrize("asynchronous", [False, True])
def test_streams_and_events(program: Path, target: str, asynchronous: bool) -> None:
    output, _, launches = run(program, "streams", target, asynchronous)
    assert output.startswith("LDS 512, resident ")
    kernels = [(launch["kernel"], launch["result"]) for launch in launches]
    assert kernels == [
        ("_Z10polynomialPKfPfi", "hipSuccess"),
        ("_Z9sumBlocksILi128EEvPKfPfi", "hipSuccess"),
    ]
    assert {launch["target"] for launch in launches} == {target}
    assert {launch["workgroups"] for launch in launches} == {79}


def test_managed_variables(program: Path, target: str) -> None:
    output, _, launches = run(program, "managed", target, asynchronous=False)
    assert output == "managed 28\n"
    assert [launch["kernel"] for launch in launches] == ["_Z12countManagedi"]


@pytest.mark.parametrize("asynchronous", [False, True])
def test_printf(program: Path, target: str, asynchronous: bool) -> None:
    output, _, launches = run(program, "printf", target, asynchronous)
    who = "a string longer than one packet of hostcall holds, of the host's"
    assert output.splitlines() == [
        f"hello {who} from {i} of 3: {1.25 * i:5.2f} text c beef % {2**40}" for i in range(3)
    ]
    assert [launch["kernel"] for launch in launches] == ["_Z5helloPKcid"]


def test_assert(program: Path, target: str) -> None:
    output, report, launches = run(program, "assert", target, asynchronous=False)
    assert output.splitlines() == [
        *["program.hip:42: Device-side assertion `x > 0' failed."] * 2,
        "error hipErrorLaunchFailure",
    ]
    assert "trap in kernel _Z14mustBePositivePKi" in report
    assert [launch["result"] for launch in launches] == ["hipErrorLaunchFailure"]


def test_other_services_of_the_host_are_refused_by_name(program: Path, target: str) -> None:
    output, report, launches = run(program, "refusal", target, asynchronous=False)
    assert output == "error hipErrorLaunchFailure\n"
    assert "the kernel asks the host for device memory (malloc or free in a kernel)" in report
    assert [launch["result"] for launch in launches] == ["hipErrorLaunchFailure"]


# What AMD's compiler driver links in to tell the device libraries the GPU: its number, its wave.
CONTROL = """\
__attribute__((visibility("hidden"))) constant const int __oclc_ABI_version = 600;
__attribute__((visibility("hidden"))) constant const int __oclc_ISA_version = {isa};
__attribute__((visibility("hidden"))) constant const bool __oclc_wavefrontsize64 = {wave64};
"""
ISA = {"gfx942": 9402, "gfx950": 9500, "gfx1150": 11500}


def test_workgroups_of_a_grid_wait_for_each_other(target: str, tmp_path: Path) -> None:
    """By the barrier of AMD's device libraries."""
    wave64 = "true" if target.startswith("gfx9") else "false"
    (tmp_path / "control.cl").write_text(CONTROL.format(isa=ISA[target], wave64=wave64))
    clang = CLANG.removesuffix("++")
    subprocess.run(
        [
            *(clang, "-target", "amdgcn-amd-amdhsa", f"-mcpu={target}", "-x", "cl", "-nogpulib"),
            *("-emit-llvm", "-c", str(tmp_path / "control.cl"), "-o", str(tmp_path / "control.bc")),
        ],
        check=True,
    )
    (tmp_path / "ockl.bc").symlink_to(DEVICE_LIBRARIES / "ockl.bc")
    program = tmp_path / "grid"
    subprocess.run(
        [
            *(CLANG, "-x", "hip", str(FOLDER / "grid.hip"), "-O2", "-std=c++20", "-nogpuinc"),
            *(f"--offload-arch={target}", "-o", str(program)),
            *("--hip-device-lib=ockl.bc", "--hip-device-lib=control.bc"),
            f"--hip-device-lib-path={tmp_path}",
            *(f"-L{library_path().parent}", f"-l:{library_path().name}"),
            f"-Wl,-rpath,{library_path().parent}",
        ],
        check=True,
    )
    output, report, launches = run(program, "", target, asynchronous=False)
    assert output == "hipErrorCooperativeLaunchTooLarge\n"
    assert "100000 workgroups are to wait for each other" in report
    assert [launch["kernel"] for launch in launches] == ["_Z13countTogetherPiS_i"]
    assert [launch["workgroups"] for launch in launches] == [29]
