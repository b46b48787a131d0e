# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The functions that only the software device's library has, for Python.

A `Library` is a loaded libamdhip64 that is the software device: it tells which kernels ran, why the
latest call failed, and which memory kernels may touch.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wavetile.device import library_path
from wavetile.errors import DeviceError, DeviceNotFoundError


@dataclass(frozen=True)
class MemoryRange:
    """`bytes` bytes of host memory from `address`; reports call them `name`.

    Example:
        MemoryRange(x.data_ptr(), x.nbytes, "x")
    """

    address: int
    bytes: int
    name: str


class Library:
    """The software device in this process.

    Loading it twice gives the same device: its state belongs to the process.

    Args:
        path: the library, by default Wavetile's own

    Raises:
        DeviceNotFoundError: there is no such library, or it is another HIP

    Example:
        device = Library()
        with device.announced([MemoryRange(x.data_ptr(), x.nbytes, "x")]):
            ...
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = library_path() if path is None else path
        try:
            self._hip = ctypes.CDLL(str(self.path))
        except OSError as error:
            raise DeviceNotFoundError(f"cannot load the software device: {error}") from error
        try:
            self._log = self._hip.wavetileDeviceLaunchLog
            self._report = self._hip.wavetileDeviceLastReport
            self._kernel_info = self._hip.wavetileDeviceKernelInfo
            self._announce = self._hip.wavetileDeviceAnnounceRange
            self._retract = self._hip.wavetileDeviceRetractRange
        except AttributeError:
            raise DeviceNotFoundError(
                f"{self.path} is a HIP library but not the software device"
            ) from None
        self._log.restype = self._report.restype = self._kernel_info.restype = ctypes.c_char_p
        self._announce.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p]
        self._retract.argtypes = [ctypes.c_void_p]
        self._announce.restype = self._retract.restype = None
        self._hip.hipGetErrorName.restype = ctypes.c_char_p

    def call(self, function: str, *arguments: Any) -> None:
        """Calls a HIP function that returns a hipError_t.

        Args:
            function: its name
            arguments: ctypes values, or ints, which are passed as C ints

        Raises:
            DeviceError: it returned an error
        """
        code = getattr(self._hip, function)(*arguments)
        if code:
            name = self._hip.hipGetErrorName(code).decode()
            report = self.last_report()
            error = DeviceError(f"{function} returned {name}" + (f"\n{report}" if report else ""))
            error.hip_error, error.report = name, report
            raise error

    def device_count(self) -> int:
        """The number of devices, one for each name in WAVETILE_DEVICE_TARGET."""
        count = ctypes.c_int()
        self.call("hipGetDeviceCount", ctypes.byref(count))
        return count.value

    def set_device(self, device: int) -> None:
        """Makes a device the current one of this thread.

        Args:
            device: its number, from 0

        Raises:
            DeviceError: there is no such device
        """
        self.call("hipSetDevice", device)

    def launch_log(self) -> list[dict[str, Any]]:
        """The latest launches, oldest first, as `docs/software-device.md` says."""
        return json.loads(self._log())

    def kernel_info(self, function: ctypes.c_void_p) -> str:
        """What a kernel's metadata says, as JSON: see `docs/software-device.md`.

        Args:
            function: a hipFunction_t

        Raises:
            DeviceError: the function belongs to no loaded module
        """
        text = self._kernel_info(function)
        if text is None:
            raise DeviceError("the function belongs to no loaded module")
        return text.decode()

    def clear_launch_log(self) -> None:
        """Forgets the launches so far."""
        self._hip.wavetileDeviceClearLaunchLog()

    def last_report(self) -> str:
        """Why this thread's latest launch, load or copy failed; empty if it did not."""
        return self._report().decode()

    @contextlib.contextmanager
    def announced(self, ranges: Iterable[MemoryRange]) -> Iterator[None]:
        """Within this, kernels may touch these ranges and the device's own allocations only.

        Args:
            ranges: host memory, which stays allocated meanwhile
        """
        addresses = []
        try:
            for memory in ranges:
                self._announce(memory.address, memory.bytes, memory.name.encode())
                addresses.append(memory.address)
            yield
        finally:
            for address in reversed(addresses):
                self._retract(address)
