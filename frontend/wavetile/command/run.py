# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`wavetile run`: a kernel on a device, with its numbers checked if asked to."""

from __future__ import annotations

import argparse
import os
import time
from typing import Any

import torch

from wavetile.command.arguments import (
    add_kernel_options,
    arguments_of,
    describe_argument,
    load_kernel,
)
from wavetile.config import Settings
from wavetile.devices import devices
from wavetile.errors import ArgumentError
from wavetile.kernel import Kernel
from wavetile.testing import LARGEST_FACTOR, error_factor


def add_parser(commands: Any) -> None:
    """Adds the subcommand."""
    parser = commands.add_parser(
        "run",
        help="run a kernel, and check its numbers",
        description="Compiles a kernel for arguments and runs it on the device: a GPU if there is"
        " one, else the software device.",
    )
    add_kernel_options(parser)
    parser.add_argument("--target", metavar="T", help="the GPU that the software device poses as")
    parser.add_argument(
        "--check",
        action="store_true",
        help="compare the result with that of <kernel>_reference(*args), which the kernel's file"
        " defines, in float64",
    )
    parser.set_defaults(run=_run)


def pose_as(target: str | None) -> None:
    """Makes the software device, not yet loaded, pose as a GPU."""
    if target is not None:
        os.environ["WAVETILE_DEVICE_TARGET"] = target


def reference_of(module: Any, kernel: Kernel) -> Any:
    """The function that says in float64 what a kernel computes.

    Raises:
        ArgumentError: the kernel's file does not define it
    """
    name = f"{kernel.__name__}_reference"
    if not hasattr(module, name):
        raise ArgumentError(
            f"there is nothing to compare {kernel.__name__} with",
            remedy=f"define {name}(*args) beside the kernel: the result in torch.float64",
        )
    return getattr(module, name)


def tensors_of(result: Any) -> list[torch.Tensor]:
    """The tensors that a kernel or reference returns."""
    if isinstance(result, torch.Tensor):
        return [result]
    return [part for part in result or () if isinstance(part, torch.Tensor)]


def worst_factor(result: Any, expected: Any, values: list[Any]) -> float:
    """The largest error, in units of eps x sqrt(length) with the longest dimension as length."""
    length = max(
        (max(v.shape, default=1) for v in values if isinstance(v, torch.Tensor)), default=1
    )
    pairs = zip(tensors_of(result), tensors_of(expected), strict=True)
    return max((error_factor(a, e, length) for a, e in pairs), default=0.0)


def _run(options: argparse.Namespace) -> int:
    pose_as(options.target)
    module, kernel = load_kernel(options.kernel)
    if options.config is not None:
        kernel = Kernel(kernel.source.function, Settings(), [options.config])
    values = arguments_of(module, kernel, options.arg, options.seed)
    reference = reference_of(module, kernel) if options.check else None
    expected = None if reference is None else reference(*values)
    begin = time.perf_counter()
    result = kernel(*values)
    seconds = time.perf_counter() - begin
    device = devices().default()
    shown = ", ".join(map(describe_argument, values))
    print(f"{kernel.__name__}({shown}) on {device.name} ({device.target}): {seconds * 1e3:.1f} ms")
    for tensor in tensors_of(result):
        print(tensor)
    if reference is None:
        return 0
    factor = worst_factor(result, expected, values)
    good = factor <= LARGEST_FACTOR
    print(f"error: {factor:.3g} eps sqrt(length), {'within' if good else 'above'} the bound of 4")
    return 0 if good else 1
