# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Kernels on the second backend, tests/backend_host: the tests of the other targets, on the CPU.

A process has one set of backends and one device, so each file of tests runs in a process of its
own, with the package build/python_tests, in which `host` is the only target.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import wavetile

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = Path(wavetile._C.__file__).parents[2] / "python_tests"

#: What of the files of tests/python is for a CPU: no waves to count, no launch log, no matrix
#: instructions; of the longest not every combination. A group has one process.
GROUPS = {
    "values": {
        "test_float8.py": "",
        "test_language_pointwise.py": "",
        "test_language_random.py": "",
        "test_language_reductions.py": "",
        "test_language_scaled.py": "",
        "test_language_scans.py": "",
        "test_random_expressions.py": "",
    },
    "loops": {
        "test_language_arguments.py": "",
        "test_language_control.py": "",
        "test_language_debugging.py": "",
        "test_language_jagged.py": "",
        "test_language_loops.py": "",
        "test_language_syntax.py": "",
        "test_language_products.py": "",
        "test_language_structured.py": "",
        "test_random_programs.py": "",
    },
    "places": {
        "test_end_to_end_elementwise.py": "",
        "test_kernels.py": "",
        "test_language_atomics.py": "",
        "test_language_gather.py": "",
        "test_language_indexing.py": "",
        "test_language_masks.py": "",
        "test_matmul.py": "test_sizes",
    },
    "long": {
        "test_end_to_end_rows.py": "row_kernels and (grid or share) and (softmax or rms)",
        "test_math.py": "(f32 and not fast) or special_numbers or sign",
        "test_operations_pointwise.py": "(float32 or int32) and not binary",
    },
}


def run_on_host(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(PACKAGE), str(ROOT)]),
        "WAVETILE_TEST_TARGETS": "host",
        "WAVETILE_DEVICE": "software",
        "WAVETILE_CACHE": "",
    }
    for worker in ("PYTEST_XDIST_WORKER", "PYTEST_XDIST_WORKER_COUNT", "PYTEST_CURRENT_TEST"):
        environment.pop(worker, None)
    return subprocess.run(
        [sys.executable, *arguments], env=environment, cwd=ROOT, capture_output=True, text=True
    )


@pytest.mark.parametrize(
    "group", [pytest.param(name, marks=[pytest.mark.slow] * (name == "long")) for name in GROUPS]
)
def test_group(group: str) -> None:
    command = ["-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist"]
    command += ["-m", "not compiled", *(f"tests/python/{file}" for file in GROUPS[group])]
    chosen = [f"({file} and ({tests}))" if tests else file for file, tests in GROUPS[group].items()]
    done = run_on_host(*command, "-k", " or ".join(chosen))
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-4000:]


def test_the_code_is_the_hosts() -> None:
    """What runs above is an object for this machine, made through the public hooks."""
    program = """
import torch, wavetile
from wavetile import _C
from wavetile.kernels.softmax import softmax_rows
x = torch.ones(3, 5)
bound = softmax_rows.bind(x)
assert "host" in _C.target_names()
assert bound.plan().target == "host", bound.plan().target
print("host" in str(bound.plan()), bound.ir("llvm").count("define"))
"""
    done = run_on_host("-c", program)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["True", "1"]
