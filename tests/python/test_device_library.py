# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The software device beside other libraries in one process."""

import os
import subprocess
import sys

import pytest
from wavetile.devices import software_device


def run(program: str, preload: bool) -> subprocess.CompletedProcess[str]:
    """Runs a Python program in a process of its own."""
    environment = {
        key: value for key, value in os.environ.items() if key != "WAVETILE_DEVICE_TARGET"
    }
    if preload:
        environment["LD_PRELOAD"] = str(software_device())
    return subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.parametrize("preload", [False, True])
@pytest.mark.parametrize("order", ["torch, wavetile", "wavetile, torch"])
def test_lives_beside_torch_and_the_compiler(preload: bool, order: str) -> None:
    """It carries an LLVM, and so does the extension: neither may see the other's.

    With Triton's, and a kernel that runs: test_imports.py.
    """
    result = run(
        f"import {order}, ctypes, torch\n"
        f"hip = ctypes.CDLL({str(software_device())!r})\n"
        "count = ctypes.c_int()\n"
        "assert hip.hipGetDeviceCount(ctypes.byref(count)) == 0 and count.value == 1\n"
        "assert torch.ones(3).sum().item() == 3\n",
        preload,
    )
    assert result.returncode == 0, result.stderr


def test_a_preloaded_device_is_the_hip_of_the_process() -> None:
    """Any program that looks for HIP's names finds them."""
    result = run(
        "import ctypes\n"
        "hip = ctypes.CDLL(None)\n"
        "name = ctypes.create_string_buffer(64)\n"
        "assert hip.hipDeviceGetName(name, 64, 0) == 0\n"
        "print(name.value.decode())\n",
        preload=True,
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout == "AMD Instinct MI355X\n"
