# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Programs that nobody here wrote, on the software device; its log says which kernels ran."""

import os
from collections.abc import Iterator

import pytest
from wavetile.device import triton as software
from wavetile.device.library import Library

#: Loaded before any client: who is linked with libamdhip64.so.7, as FlyDSL is, gets this one.
LIBRARY = Library()


def pytest_configure(config: pytest.Config) -> None:
    # Workers of pytest-xdist and later runs share what Triton has compiled.
    os.environ.setdefault("TRITON_CACHE_DIR", str(config.cache.mkdir("triton")))


@pytest.fixture
def device(target: str) -> Iterator[software.SoftwareDriver]:
    """Triton on the software device that poses as `target`, with an empty launch log."""
    driver = software.activate(target)
    driver.library.clear_launch_log()
    yield driver
    driver.library.clear_launch_log()
