# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What all Python tests share: one printed seed, and the targets."""

import gc
import hashlib
import os
import random

# There is a process of tests for each core: threads of torch would only wait for one another.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import hypothesis
import pytest
import torch

# Another build of the compiler may have others; see test_backend_host.py.
TARGETS = tuple(os.environ.get("WAVETILE_TEST_TARGETS", "gfx942,gfx950,gfx1150").split(","))

# The software device of the tests' process poses as all of them, as gfx950 by default.
os.environ.setdefault("WAVETILE_DEVICE_TARGET", "gfx950,gfx942,gfx1150")
os.environ.setdefault("WAVETILE_DEVICE_DETERMINISTIC", "1")

SEED_VARIABLE = "WAVETILE_TEST_SEED"

# A kernel's first compile is slow and later ones are not: no deadline per example.
hypothesis.settings.register_profile("wavetile", deadline=None, print_blob=True)
hypothesis.settings.load_profile("wavetile")


def pytest_configure(config: pytest.Config) -> None:
    # Workers of pytest-xdist inherit the environment, and so the seed.
    os.environ.setdefault(SEED_VARIABLE, str(random.SystemRandom().randrange(2**31)))
    config.addinivalue_line("markers", "slow: left out by ./dev test --quick")
    config.addinivalue_line("markers", "compiled: about the compiler, not about what kernels mean")


def pytest_collection_finish() -> None:
    # What is imported and collected lives to the end: the collector need not visit it again.
    gc.collect()
    gc.freeze()


def pytest_report_header() -> str:
    return f"random data: {SEED_VARIABLE}={os.environ[SEED_VARIABLE]}"


@pytest.fixture
def seed(request: pytest.FixtureRequest) -> int:
    """This test's own seed, from the run's seed and the test's name; printed when it fails."""
    text = f"{os.environ[SEED_VARIABLE]} {request.node.nodeid}"
    value = int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "little")
    print(f"seed {value}; repeat with {SEED_VARIABLE}={os.environ[SEED_VARIABLE]}")
    return value


@pytest.fixture
def generator(seed: int) -> torch.Generator:
    """A CPU generator for a test's random data."""
    return torch.Generator().manual_seed(seed)


@pytest.fixture(params=TARGETS)
def target(request: pytest.FixtureRequest) -> str:
    """Each target's name in turn."""
    return request.param
