# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Code objects of any compiler, and launches of their kernels."""

from __future__ import annotations

import contextlib
import ctypes
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from wavetile.device.arguments import Argument
from wavetile.device.library import Library
from wavetile.errors import ArgumentError, DeviceError


class LoadedKernel:
    """A kernel of a code object that is loaded while this is entered.

    Raises:
        ArgumentError: there is no such file
        DeviceError: the code object is refused, or has no such kernel; the text has the report
    """

    def __init__(self, library: Library, file: str | Path, name: str) -> None:
        if not Path(file).is_file():
            raise ArgumentError(f"there is no file {file}")
        self._library = library
        self._module = ctypes.c_void_p()
        self._function = ctypes.c_void_p()
        library.call("hipModuleLoad", ctypes.byref(self._module), str(file).encode())
        try:
            library.call(
                "hipModuleGetFunction",
                ctypes.byref(self._function),
                self._module,
                name.encode(),
            )
        except DeviceError:
            self._unload()
            raise
        self.name = name
        #: What the code object's metadata says: `arguments`, each with offset, size and kind.
        self.info: dict[str, Any] = json.loads(library.kernel_info(self._function))

    def __enter__(self) -> LoadedKernel:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._unload()

    def _unload(self) -> None:
        self._library.call("hipModuleUnload", self._module)

    def check(self, arguments: Sequence[Argument]) -> None:
        """Compares arguments with what the kernel takes.

        Raises:
            ArgumentError: there are too many or too few, or one has another size or kind
        """
        wanted = self.info["arguments"]
        if len(arguments) != len(wanted):
            listed = ", ".join(f"{entry['kind']} of {entry['size']} bytes" for entry in wanted)
            raise ArgumentError(
                f"kernel {self.name} takes {len(wanted)} arguments, not {len(arguments)}",
                remedy=f"they are: {listed or 'none'}",
            )
        for index, (argument, entry) in enumerate(zip(arguments, wanted, strict=True)):
            is_buffer = entry["kind"] == "global_buffer"
            size = ctypes.sizeof(ctypes.c_void_p) if argument.is_buffer else argument.data.nbytes
            if size == entry["size"] and argument.is_buffer >= is_buffer:
                continue
            what = "a buffer" if argument.is_buffer else f"a number of {size} bytes"
            raise ArgumentError(
                f"--arg {argument.text} is {what}, but argument {index} of kernel {self.name} is"
                f" {entry['kind']} of {entry['size']} bytes"
            )

    def launch(
        self,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        lds: int,
        arguments: Sequence[Argument],
    ) -> dict[str, Any]:
        """Launches the kernel once, and reads every buffer back into its argument's `data`.

        Args:
            grid: in workgroups
            block: the workgroup, in work-items
            lds: bytes of LDS beyond what the kernel declares
            arguments: as `check` accepts them

        Returns:
            The launch's entry in the device's log.

        Raises:
            DeviceError: the launch was refused or went wrong; the text has the report
        """
        with contextlib.ExitStack() as stack:
            values = [
                stack.enter_context(self._buffer(argument))
                if argument.is_buffer
                else ctypes.create_string_buffer(argument.data.tobytes(), argument.data.nbytes)
                for argument in arguments
            ]
            pointers = [ctypes.cast(ctypes.byref(value), ctypes.c_void_p) for value in values]
            parameters = (ctypes.c_void_p * (len(pointers) + 1))(*pointers, None)
            self._library.clear_launch_log()
            self._library.call(
                "hipModuleLaunchKernel",
                self._function,
                *map(ctypes.c_uint, (*grid, *block, lds)),
                None,
                parameters,
                None,
            )
            self._library.call("hipDeviceSynchronize")
            for argument, value in zip(arguments, values, strict=True):
                if argument.is_buffer:
                    self._copy(argument.data.ctypes.data, value, argument.data.nbytes)
        return self._library.launch_log()[-1]

    def _copy(self, to: Any, source: Any, bytes: int) -> None:
        by_addresses = 4  # hipMemcpyDefault
        self._library.call(
            "hipMemcpy",
            ctypes.c_void_p(to) if isinstance(to, int) else to,
            ctypes.c_void_p(source) if isinstance(source, int) else source,
            ctypes.c_size_t(bytes),
            by_addresses,
        )

    @contextlib.contextmanager
    def _buffer(self, argument: Argument) -> Iterator[ctypes.c_void_p]:
        """Device memory with the argument's data, until the end of the block."""
        pointer = ctypes.c_void_p()
        self._library.call(
            "hipMalloc", ctypes.byref(pointer), ctypes.c_size_t(argument.data.nbytes)
        )
        try:
            self._copy(pointer, argument.data.ctypes.data, argument.data.nbytes)
            yield pointer
        finally:
            self._library.call("hipFree", pointer)
