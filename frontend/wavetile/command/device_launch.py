# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One launch of a kernel of a code object, as the commands of `wavetile device` name it."""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import dataclass, field
from typing import Any

from wavetile.device.arguments import Argument, parse_argument
from wavetile.device.code_object import LoadedKernel
from wavetile.device.library import Library
from wavetile.errors import ArgumentError, ConfigError, DeviceError

ARGUMENTS = """\
Each --arg is an argument of the kernel, in order:
  in.npy                 a buffer with the file's data
  inout.npy:rw           the same, and the file gets the buffer's data afterwards
  f32[1000]:out.npy      a buffer of zeros, written to the file afterwards
  i32=1000  f32=1e-5     a number
Types are f16 f32 f64 i8 i16 i32 i64 u8 u16 u32 u64.

Ends with status 0 if the kernel ran, 1 if it was refused or went wrong (why is on stderr, and no
file is written), 2 if the command was wrong.
"""


def _triple(text: str) -> tuple[int, int, int]:
    """Three positive numbers, of which the last may be left out."""
    try:
        numbers = [int(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if not 1 <= len(numbers) <= 3 or min(numbers) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no X,Y,Z of positive numbers")
    x, y, z = numbers + [1] * (3 - len(numbers))
    return x, y, z


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds what names a kernel and a launch of it."""
    parser.add_argument("file", metavar="FILE", help="a code object or an offload bundle")
    parser.add_argument("kernel", metavar="KERNEL", help="the kernel's name")
    parser.add_argument("--target", required=True, metavar="T", help="the GPU to pose as: gfx950")
    parser.add_argument(
        "--grid", required=True, type=_triple, metavar="X,Y,Z", help="in workgroups"
    )
    parser.add_argument(
        "--block", required=True, type=_triple, metavar="X,Y,Z", help="in work-items"
    )
    parser.add_argument(
        "--lds", type=int, default=0, metavar="BYTES", help="LDS beyond what the kernel declares"
    )
    parser.add_argument(
        "--arg", action="append", default=[], metavar="ARG", help="an argument, in order"
    )
    parser.add_argument(
        "--lazy-refuse",
        action="store_true",
        help="load code with instructions that the device lacks; reaching one is an error",
    )


@dataclass
class Outcome:
    """What a launch came to.

    Attributes:
        status: the command's exit status; unless it is 0, stderr says why
        launch: the launch's entry in the device's log, if it ended well
        arguments: with the data that the launch left
    """

    status: int
    launch: dict[str, Any] | None = None
    arguments: list[Argument] = field(default_factory=list)


def launch_once(options: argparse.Namespace) -> Outcome:
    """Launches what `add_arguments` describes and writes the output files."""
    try:
        arguments = [parse_argument(text) for text in options.arg]
        library = _open(options.target, options.lazy_refuse)
    except (ArgumentError, ConfigError) as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return Outcome(2)
    try:
        with LoadedKernel(library, options.file, options.kernel) as kernel:
            kernel.check(arguments)
            launch = kernel.launch(options.grid, options.block, options.lds, arguments)
    except ArgumentError as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return Outcome(2)
    except DeviceError as error:
        # The library has printed its report.
        print(str(error).split("\n", 1)[0], file=sys.stderr)
        return Outcome(1)
    for argument in arguments:
        argument.write_back()
    return Outcome(0, launch, arguments)


def _open(target: str, lazily: bool) -> Library:
    """The device, which poses as `target` if nobody has called HIP before.

    Raises:
        ConfigError: it cannot pose as that
    """
    os.environ["WAVETILE_DEVICE_TARGET"] = target
    if lazily:
        os.environ["WAVETILE_DEVICE_LAZY_REFUSE"] = "1"
    library = Library()
    try:
        library.set_device(0)
    except DeviceError:
        # The library has said why, and what it can pose as.
        raise ConfigError(f"--target {target}: the device cannot pose as that") from None
    return library
