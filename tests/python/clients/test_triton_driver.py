# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""wavetile.device.triton: bounds of tensors, device memory, benchmarks, targets."""

import pytest
import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor
from wavetile.device import triton as software
from wavetile.device.tensors import empty, to_device
from wavetile.errors import ConfigError, DeviceError

from tests.python.clients.launches import launched


@triton.jit
def copy(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + index, tl.load(x_ptr + index, mask=index < n), mask=index < n)


@triton.jit
def copy_pair(pair, n, BLOCK: tl.constexpr):
    index = tl.arange(0, BLOCK)
    tl.store(pair[1] + index, tl.load(pair[0] + index, mask=index < n), mask=index < n)


@triton.jit
def copy_described(x, out_ptr, n, BLOCK: tl.constexpr):
    index = tl.arange(0, BLOCK)
    tl.store(out_ptr + index, x.load([0]), mask=index < n)


@pytest.mark.parametrize("short", ["x_ptr", "out_ptr"])
def test_one_element_past_a_tensor_is_reported(device: software.SoftwareDriver, short: str) -> None:
    n = 1000
    size = {"x_ptr": n, "out_ptr": n, short: n - 1}
    x, out = torch.ones(size["x_ptr"]), torch.zeros(size["out_ptr"])
    with pytest.raises(DeviceError, match=rf"past the end of allocation '{short}'") as caught:
        copy[(1,)](x, out, n, 1024)
    assert "illegal memory access" in str(caught.value)
    assert f"of {4 * (n - 1)} bytes" in caught.value.report
    assert "test_triton_driver.py" in caught.value.report


def test_one_element_past_device_memory_is_reported(device: software.SoftwareDriver) -> None:
    x, out = torch.ones(1000), empty(999)
    with pytest.raises(DeviceError, match="past the end of allocation"):
        copy[(1,)](x, out, 1000, 1024)


def test_a_view_may_be_used_up_to_the_end_of_its_storage(
    device: software.SoftwareDriver, target: str
) -> None:
    storage = torch.arange(100.0)
    out = torch.zeros(100)
    copy[(1,)](storage[10:20], out[5:], 90, 128)
    assert torch.equal(out[5:95], storage[10:])
    assert launched(device.library, target) == {"copy": 1}


def test_device_memory_holds_a_tensor(device: software.SoftwareDriver, target: str) -> None:
    x = to_device(torch.arange(77).view(11, 7).T)
    assert torch.equal(x, torch.arange(77).view(11, 7).T)
    out = empty(7, 11, dtype=torch.int64)
    copy[(2,)](x, out, 77, 64)
    assert torch.equal(out, x)
    assert empty(0, 3).shape == (0, 3)
    assert launched(device.library, target) == {"copy": 1}


def test_tuples_and_descriptors_have_bounds_too(
    device: software.SoftwareDriver, target: str
) -> None:
    x, out = torch.randn(77), torch.zeros(77)
    copy_pair[(1,)]((x, out), 77, 128)
    assert torch.equal(out, x)
    with pytest.raises(DeviceError, match=r"allocation 'pair\.1'"):
        copy_pair[(1,)]((x, torch.zeros(76)), 77, 128)
    device.library.clear_launch_log()
    out.zero_()
    copy_described[(1,)](TensorDescriptor(x, [77], [1], [128]), out, 77, 128)
    assert torch.equal(out, x)
    assert launched(device.library, target) == {"copy_described": 1}


def test_autotune_chooses_by_executed_instructions(
    device: software.SoftwareDriver, target: str
) -> None:
    configs = [triton.Config({"BLOCK": block}, num_warps=4) for block in (32, 1024)]
    tuned = triton.autotune(configs, key=["n"])(copy)
    x, out = torch.randn(2000), torch.zeros(2000)
    tuned[lambda meta: (triton.cdiv(2000, meta["BLOCK"]),)](x, out, 2000)
    assert torch.equal(out, x)
    assert tuned.best_config.kwargs["BLOCK"] == 1024
    assert launched(device.library, target)["copy"] >= 3


def test_do_bench_measures_the_host(device: software.SoftwareDriver) -> None:
    x, out = torch.randn(100), torch.zeros(100)
    assert 0 < triton.testing.do_bench(lambda: copy[(1,)](x, out, 100, 128), 1, 1) < 1000


def test_a_process_has_the_devices_that_it_asked_for() -> None:
    with pytest.raises(ConfigError, match="no device 'gfx90a', only gfx950, gfx942, gfx1150"):
        software.activate("gfx90a")
