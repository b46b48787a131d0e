# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Triton's own AMD compiler and driver on the software device.

    from wavetile.device import triton
    triton.activate()

and every Triton kernel of the process is compiled by Triton for the GPU that the device poses as
(`WAVETILE_DEVICE_TARGET`), and runs on the device. Tensors are CPU tensors. While a kernel runs it
may touch the storages of its arguments and the device's own allocations, nothing else: one element
past the end of a tensor is an error, whose text is the device's report.

Written for Triton 3.8.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from triton import knobs
from triton.backends.amd import driver as amd
from triton.runtime import driver as active_driver

from wavetile.device.library import Library
from wavetile.device.tensors import storages
from wavetile.errors import ConfigError, DeviceError


def activate(target: str | None = None) -> SoftwareDriver:
    """Makes the software device the one that Triton compiles for and launches on.

    Args:
        target: one of the GPUs that WAVETILE_DEVICE_TARGET names; by default the first

    Raises:
        ConfigError: the process has no such device
        DeviceNotFoundError: there is no software device, or Triton has another HIP library
    """
    current = active_driver._active
    driver = current if isinstance(current, SoftwareDriver) else SoftwareDriver()
    driver.set_current_device(0 if target is None else driver.device_of(target))
    active_driver.set_active(driver)
    return driver


class SoftwareDriver(amd.HIPDriver):
    """`triton.backends.amd.driver.HIPDriver` without torch.cuda.

    Raises:
        DeviceNotFoundError: there is no software device, or Triton has another HIP library
    """

    def __init__(self) -> None:
        if knobs.amd.libhip_path is None:
            Library()  # Triton takes the HIP library that the process has.
        self.library = Library(Path(amd._get_path_to_hip_runtime_dylib()))
        super().__init__()
        self._device = 0
        # GPUDriver sets these of each instance to torch.cuda's.
        self.get_current_device = lambda: self._device
        self.set_current_device = self._set_current_device
        self.get_current_stream = lambda device: 0
        self.get_device_capability = lambda device=None: (0, 0)
        self.launcher_cls = Launcher

    @staticmethod
    def is_active() -> bool:
        """Whether Triton can use this driver: always."""
        return True

    def device_of(self, target: str) -> int:
        """The number of the first device that poses as `target`.

        Raises:
            ConfigError: there is none
        """
        targets = [
            self.utils.get_device_properties(device)["arch"].split(":")[0]
            for device in range(self.library.device_count())
        ]
        if target not in targets:
            raise ConfigError(
                f"this process has no device {target!r}, only {', '.join(targets)}",
                remedy=f"set WAVETILE_DEVICE_TARGET={target} before the first HIP call",
            )
        return targets.index(target)

    def _set_current_device(self, device: int) -> None:
        self.library.set_device(device)
        self._device = device

    def get_active_torch_device(self) -> torch.device:
        """Where tensors are: device memory is host memory."""
        return torch.device("cpu")

    def get_device_interface(self) -> type[DeviceInterface]:
        """What Triton uses of torch.cuda."""
        return DeviceInterface

    def get_benchmarker(self) -> Callable[..., Any]:
        """What `triton.autotune` compares configurations by: `count_instructions`."""
        return self.count_instructions

    def get_empty_cache_for_benchmark(self) -> torch.Tensor:
        """A buffer to clear the cache with; the device has no cache."""
        return torch.empty(1, dtype=torch.int)

    def allocate_default_profile_scratch(
        self, size: int, alignment: int, stream: int | None
    ) -> torch.Tensor:
        """Zeroed memory that an instrumented kernel writes to."""
        return torch.zeros(size, dtype=torch.int8)

    def count_instructions(
        self,
        kernel_call: Callable[[], Any],
        *,
        quantiles: Sequence[float] | None = None,
        **ignored: Any,
    ) -> float | list[float]:
        """The millions of wave instructions that one call executes: a benchmarker of Triton.

        Not a time, but the same on every run, so that an autotuned kernel always gets the same
        configuration. `do_bench` with the events of `DeviceInterface` measures the host's time.

        Args:
            kernel_call: launches kernels
            quantiles: as many results are returned, all equal
            ignored: what else Triton passes: how long to warm up and to repeat
        """
        before = {launch["serial"] for launch in self.library.launch_log()}
        kernel_call()
        executed = sum(
            sum(launch["instructions"].values())
            for launch in self.library.launch_log()
            if launch["serial"] not in before
        )
        return executed / 1e6 if quantiles is None else [executed / 1e6] * len(quantiles)


class Launcher(amd.HIPLauncher):
    """Launches a compiled kernel with the bounds of its arguments.

    Raises:
        DeviceError: the launch failed; the text has the device's report
    """

    def __init__(self, source: Any, metadata: Any) -> None:
        super().__init__(source, metadata)
        function = getattr(source, "fn", None)
        self._names = list(getattr(function, "arg_names", []))

    def __call__(self, *arguments: Any) -> None:
        first = 9  # After the grid, the stream, the function, its metadata and the hooks.
        driver = active_driver.active
        assert isinstance(driver, SoftwareDriver)
        ranges = [
            memory
            for index, argument in enumerate(arguments[first:])
            for memory in storages(argument, self._name(index))
        ]
        try:
            with driver.library.announced(ranges):
                super().__call__(*arguments)
        except (RuntimeError, SystemError) as error:
            # Triton 3.8 calls its exit hook after a failed launch too, which makes the launch's
            # RuntimeError the cause of a SystemError.
            cause = error.__cause__ if isinstance(error, SystemError) else error
            report = driver.library.last_report()
            if not isinstance(cause, RuntimeError) or not report:
                raise
            failure = DeviceError(f"{cause}\n{report}")
            failure.report = report
            raise failure from cause

    def _name(self, index: int) -> str:
        return self._names[index] if index < len(self._names) else f"argument {index}"


class DeviceInterface:
    """What Triton's own functions, such as `triton.testing.do_bench`, use of torch.cuda."""

    class Event:
        """A moment of the host's clock: a launch has finished when it returns."""

        def __init__(self, enable_timing: bool = False) -> None:
            self._seconds = 0.0

        def record(self) -> None:
            """Notes the time."""
            self._seconds = time.perf_counter()

        def elapsed_time(self, end: DeviceInterface.Event) -> float:
            """Milliseconds from this event to `end`."""
            return (end._seconds - self._seconds) * 1e3

    @staticmethod
    def synchronize() -> None:
        """Does nothing: a launch has finished when it returns."""

    @staticmethod
    def current_device() -> int:
        """The number of the current device."""
        return active_driver.active.get_current_device()
