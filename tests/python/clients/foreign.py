# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Code objects of other compilers: disassembled, patched by one instruction, and launched."""

import ctypes
import re
import shutil
import struct
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from wavetile.device.library import Library
from wavetile.device.tensors import announced

#: A tensor's pointer, an i32, an f32, or a null pointer.
Argument = torch.Tensor | int | float | None


def _tool(name: str) -> str:
    """An LLVM 22 tool; Debian's folder first, for PATH may have an older LLVM."""
    path = Path("/usr/lib/llvm-22/bin", name)
    return str(path) if path.exists() else shutil.which(name) or name


@dataclass(frozen=True)
class Instruction:
    """One line of LLVM's disassembly. `offset` counts bytes from the kernel's first one."""

    address: int
    offset: int
    size: int
    text: str

    @property
    def mnemonic(self) -> str:
        return self.text.split()[0]


@dataclass(frozen=True)
class CodeObject:
    """An ELF file with one kernel for one GPU, whole as its compiler made it or patched."""

    image: bytes
    kernel: str
    target: str

    def listing(self) -> list[Instruction]:
        """The kernel's instructions in order, as LLVM's disassembler has them."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "kernel.hsaco")
            path.write_bytes(self.image)
            text = subprocess.run(
                [
                    _tool("llvm-objdump"),
                    "-d",
                    f"--mcpu={self.target}",
                    f"--disassemble-symbols={self.kernel}",
                    str(path),
                ],
                check=True,
                capture_output=True,
                text=True,
            ).stdout
        found = re.findall(r"^\t(.*?)\s*// ([0-9A-F]+): ([0-9A-F ]+)", text, re.MULTILINE)
        assert found, f"no disassembly of {self.kernel}:\n{text}"
        first = int(found[0][1], 16)
        return [
            Instruction(int(at, 16), int(at, 16) - first, 4 * len(words.split()), line.strip())
            for line, at, words in found
        ]

    def find(
        self, pattern: str, which: int = 0, listing: Sequence[Instruction] = ()
    ) -> Instruction:
        """The instruction number `which` that the pattern matches from its mnemonic on."""
        found = [i for i in listing or self.listing() if re.match(pattern, i.text)]
        assert found, f"{self.kernel} has no {pattern}"
        return found[which]

    def with_bytes(self, offset: int, replacement: bytes) -> "CodeObject":
        """The same with other bytes from an offset in the file on."""
        rest = self.image[offset + len(replacement) :]
        return CodeObject(self.image[:offset] + replacement + rest, self.kernel, self.target)

    def descriptor_offset(self) -> int:
        """Where the file has the 64 bytes of the kernel's descriptor."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "kernel.hsaco")
            path.write_bytes(self.image)
            symbols = subprocess.run(
                [_tool("llvm-nm"), str(path)], check=True, capture_output=True, text=True
            ).stdout
        found = re.search(rf"^([0-9a-f]+) \w {re.escape(self.kernel)}\.kd$", symbols, re.MULTILINE)
        assert found, symbols
        return _file_offset(self.image, int(found[1], 16))

    def patched(self, instruction: Instruction, replacement: str) -> "CodeObject":
        """A code object with another instruction in its place, padded by s_nop."""
        code = assemble(replacement, self.target)
        assert len(code) <= instruction.size, f"{replacement} is longer than {instruction.text}"
        nop = assemble("s_nop 0", self.target)
        code += nop * ((instruction.size - len(code)) // len(nop))
        assert len(code) == instruction.size
        return self.with_bytes(_file_offset(self.image, instruction.address), code)


def assemble(text: str, target: str) -> bytes:
    """The encoding of an instruction."""
    done = subprocess.run(
        [_tool("llvm-mc"), "--triple=amdgcn-amd-amdhsa", f"--mcpu={target}", "--show-encoding"],
        input=text,
        check=True,
        capture_output=True,
        text=True,
    )
    encodings = re.findall(r"encoding: \[([0-9a-fx,]+)\]", done.stdout)
    assert encodings, f"not assembled: {text}\n{done.stdout}{done.stderr}"
    return b"".join(bytes(int(byte, 16) for byte in one.split(",")) for one in encodings)


def _file_offset(image: bytes, address: int) -> int:
    """Where the ELF file has what is loaded at an address."""
    start, size, count = (
        struct.unpack_from("<Q", image, 32)[0],
        *struct.unpack_from("<HH", image, 54),
    )
    for index in range(count):
        kind, _, offset, virtual, _, in_file = struct.unpack_from(
            "<IIQQQQ", image, start + index * size
        )
        if kind == 1 and virtual <= address < virtual + in_file:
            return address - virtual + offset
    raise AssertionError(f"no segment holds {address:#x}")


def launch(
    library: Library,
    code: CodeObject,
    grid: Sequence[int],
    threads: int,
    lds: int,
    arguments: dict[str, Argument],
) -> None:
    """Launches a kernel on the library's current device; its tensors have bounds.

    Raises:
        DeviceError: the load or the launch failed
    """
    packed = b""
    for value in arguments.values():
        if isinstance(value, torch.Tensor):
            part = struct.pack("<Q", value.data_ptr())
        elif value is None:
            part = struct.pack("<Q", 0)
        else:
            part = struct.pack("<f" if isinstance(value, float) else "<i", value)
        packed += bytes(-len(packed) % len(part)) + part
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    library.call("hipModuleLoadData", ctypes.byref(module), code.image)
    try:
        library.call("hipModuleGetFunction", ctypes.byref(function), module, code.kernel.encode())
        buffer = ctypes.create_string_buffer(packed, len(packed))
        size = ctypes.c_size_t(len(packed))
        extra = (ctypes.c_void_p * 5)(1, ctypes.addressof(buffer), 2, ctypes.addressof(size), 3)
        sizes = [ctypes.c_uint(x) for x in (*grid, threads, 1, 1, lds)]
        tensors = {name: x for name, x in arguments.items() if isinstance(x, torch.Tensor)}
        with announced(library, **tensors):
            library.call("hipModuleLaunchKernel", function, *sizes, None, None, extra)
    finally:
        library.call("hipModuleUnload", module)
