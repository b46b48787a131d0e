# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`wavetile info`: versions, targets, devices and Config keys."""

from __future__ import annotations

import argparse
import platform
from typing import Any

import torch

import wavetile
from wavetile import _C
from wavetile.cache import default_folder
from wavetile.devices import devices


def add_parser(commands: Any) -> None:
    """Adds the subcommand."""
    parser = commands.add_parser(
        "info",
        help="print versions, targets and the devices found",
        description="Prints versions, the targets that can be compiled for, and the devices found"
        " and why they are used or not.",
    )
    parser.add_argument("--config", action="store_true", help="list the keys of a Config instead")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    if options.config:
        for key in _C.config_keys():
            name = ("<dimension>" + (f".{key.suffix}" if key.suffix else "")) * key.per_dimension
            print(f"{name or key.suffix:<24} {key.values}\n    {key.description}")
        return 0
    print(f"wavetile  {wavetile.__version__}")
    print(f"torch     {torch.__version__}")
    print(f"python    {platform.python_version()}")
    print(f"targets   {', '.join(_C.target_names())}")
    print(f"cache     {default_folder() or 'none'}")
    for device in devices().describe():
        if not device.usable:
            print(f"device    {device.kind}: not used: {device.reason}")
            continue
        print(f"device    {device.kind} {device.ordinal}: {device.name} ({device.target})")
        print(f"          {device.library}\n          {device.reason}")
    return 0
