# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""device_print and device_assert of Triton: hostcall, printf and traps."""

import re

import pytest
import torch
import triton
import triton.language as tl
from wavetile.device import triton as software
from wavetile.errors import DeviceError

from tests.python.clients.launches import launched


@triton.jit
def show(x_ptr, n, BLOCK: tl.constexpr):
    index = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + index, mask=index < n, other=0)
    tl.device_print("value", x)


@triton.jit
def increase(x_ptr, n, BLOCK: tl.constexpr):
    index = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + index, mask=index < n, other=0)
    tl.device_assert(x < 10, "too large")
    tl.store(x_ptr + index, x + 1, mask=index < n)


def test_device_print(
    device: software.SoftwareDriver,
    target: str,
    generator: torch.Generator,
    capfd: pytest.CaptureFixture[str],
) -> None:
    x = torch.randint(-1000, 1000, (53,), generator=generator, dtype=torch.int32)
    show[(1,)](x, 53, 64, num_warps=2)
    printed = re.findall(
        r"^pid \(0, 0, 0\) idx \( *(\d+)\) value: (-?\d+)$", capfd.readouterr()[0], re.M
    )
    values = {int(index): int(value) for index, value in printed}
    assert values == dict(enumerate(x.tolist() + [0] * 11))
    assert launched(device.library, target) == {"show": 1}


def test_device_assert_that_holds(device: software.SoftwareDriver, target: str) -> None:
    x = torch.arange(7, dtype=torch.int32)
    increase[(1,)](x, 7, 32, num_warps=1, debug=True)
    assert torch.equal(x, torch.arange(1, 8, dtype=torch.int32))
    assert launched(device.library, target) == {"increase": 1}


def test_device_assert_that_fails(
    device: software.SoftwareDriver, capfd: pytest.CaptureFixture[str]
) -> None:
    x = torch.arange(7, dtype=torch.int32)
    x[3] = 11
    with pytest.raises(DeviceError, match="trap in kernel increase") as caught:
        increase[(1,)](x, 7, 32, num_warps=1, debug=True)
    assert "s_trap 2" in caught.value.report
    assert "test_triton_debug.py" in caught.value.report
    assert "device assertion failed: 'too large'" in "".join(capfd.readouterr())
    assert x.tolist() == [0, 1, 2, 11, 4, 5, 6]
