# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arguments of kernels as named on the command line of `wavetile device`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy

from wavetile.errors import ArgumentError

_NAMES = {"f": "float", "i": "int", "u": "uint"}
_DTYPES: dict[str, numpy.dtype[Any]] = {
    name: numpy.dtype(f"{_NAMES[name[0]]}{name[1:]}")
    for name in ("f16", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")
}
_FORMS = "write in.npy, inout.npy:rw, f32[1000]:out.npy or i32=1000"
_NUMBER = re.compile(r"(?P<dtype>\w+)=(?P<value>.+)")
_OUTPUT = re.compile(r"(?P<dtype>\w+)\[(?P<shape>\d+(?:,\d+)*)\]:(?P<file>.+)")


@dataclass
class Argument:
    """One argument of a kernel.

    Attributes:
        text: what the command line says
        data: a buffer's contents, or a number as an array without dimensions
        is_buffer: the kernel gets a pointer to a copy of `data` in device memory
        output: the file that gets the buffer's contents after the launch

    Example:
        with_bias = Argument("bias.npy", numpy.zeros(8, "float32"), is_buffer=True)
    """

    text: str
    data: numpy.ndarray
    is_buffer: bool
    output: Path | None = None

    def write_back(self) -> None:
        """Writes `data`, which the launch has changed, to the output file if there is one."""
        if self.output is not None:
            numpy.save(self.output, self.data)


def _dtype(name: str, text: str) -> numpy.dtype[Any]:
    if name in _DTYPES:
        return _DTYPES[name]
    remedy = f"types are {', '.join(_DTYPES)}"
    if name in ("bf16", "f8", "bool"):
        remedy += f"; give the bits of {name} as u16 or u8"
    raise ArgumentError(f"--arg {text}: there is no type {name!r}", remedy=remedy)


def _load(file: str, text: str) -> numpy.ndarray:
    try:
        data = numpy.load(file, allow_pickle=False)
    except FileNotFoundError:
        raise ArgumentError(f"--arg {text}: there is no file {file}") from None
    except (OSError, ValueError) as error:
        raise ArgumentError(f"--arg {text}: {file} is no .npy file: {error}") from None
    if data.dtype.hasobject:
        raise ArgumentError(f"--arg {text}: {file} holds Python objects")
    if data.nbytes == 0:
        raise ArgumentError(f"--arg {text}: {file} is empty")
    return numpy.ascontiguousarray(data)


def _number(match: re.Match[str], text: str) -> numpy.ndarray:
    dtype = _dtype(match["dtype"], text)
    try:
        value = int(match["value"], 0) if dtype.kind in "iu" else float(match["value"])
        if dtype.kind in "iu" and not numpy.iinfo(dtype).min <= value <= numpy.iinfo(dtype).max:
            raise ArgumentError(f"--arg {text}: {value} does not fit into {match['dtype']}")
        return numpy.array(value, dtype)
    except ValueError:
        raise ArgumentError(f"--arg {text}: {match['value']!r} is no number") from None


def parse_argument(text: str) -> Argument:
    """The argument that an --arg stands for.

    Args:
        text: a number such as `i32=1000`, a file `in.npy` or `inout.npy:rw`, or a buffer of zeros
            `f32[1000]:out.npy` which is written to that file

    Returns:
        the argument, its files read

    Raises:
        ArgumentError: it has none of the forms, or its file cannot be read

    Example:
        count = parse_argument("i32=1000")
    """
    text = text.strip()
    if match := _OUTPUT.fullmatch(text):
        shape = [int(extent) for extent in match["shape"].split(",")]
        data = numpy.zeros(shape, _dtype(match["dtype"], text))
        if data.nbytes == 0:
            raise ArgumentError(f"--arg {text}: a buffer of no bytes")
        return Argument(text, data, is_buffer=True, output=Path(match["file"]))
    if match := _NUMBER.fullmatch(text):
        return Argument(text, _number(match, text), is_buffer=False)
    file = text.removesuffix(":rw")
    if not file.endswith(".npy"):
        raise ArgumentError(
            f"--arg {text}: neither a file, nor a buffer, nor a number", remedy=_FORMS
        )
    output = Path(file) if text.endswith(":rw") else None
    return Argument(text, _load(file, text), is_buffer=True, output=output)
