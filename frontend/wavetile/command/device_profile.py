# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`wavetile device profile` and `wavetile device report`: what kernels executed."""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from wavetile.command.device_launch import ARGUMENTS, add_arguments, launch_once
from wavetile.device.profile import listing, read_profiles, table
from wavetile.errors import ArgumentError

_PROFILE = f"""\
Runs one kernel of an AMDGPU code object and counts what each instruction does: prints a table like
a profiler's and the listing of the kernel with its counts. The counts are exact; none is a time.

{ARGUMENTS}
  wavetile device profile add.hsaco add --target gfx950 --grid 4,1,1 --block 256,1,1 \\
    --arg x.npy --arg y.npy --arg 'f32[1000]:sum.npy' --arg i32=1000

Other programs profile themselves when WAVETILE_DEVICE_PROFILE names a file, which
`wavetile device report` prints.
"""

_REPORT = """\
Prints the profiles in a file that WAVETILE_DEVICE_PROFILE named while a program ran:

  eval "$(wavetile device env --target gfx942)"
  WAVETILE_DEVICE_PROFILE=profile.jsonl python my_triton_program.py
  wavetile device report profile.jsonl --kernel matmul_kernel
"""


def add_parsers(commands: Any) -> None:
    """Adds the subcommands to those of `wavetile device`."""
    parser = commands.add_parser(
        "profile",
        help="run a kernel of a code object and count what it does",
        description=_PROFILE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_arguments(parser)
    _add_forms(parser)
    parser.add_argument(
        "--trace", metavar="FILE", help="write all that one workgroup executes to a file"
    )
    parser.add_argument(
        "--trace-workgroup", default="0,0,0", metavar="X,Y,Z", help="which one (0,0,0)"
    )
    parser.set_defaults(run=_profile)

    parser = commands.add_parser(
        "report",
        help="print profiles that a program has written",
        description=_REPORT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", metavar="FILE", help="what WAVETILE_DEVICE_PROFILE named")
    parser.add_argument("--kernel", metavar="NAME", help="only the launches of this kernel")
    _add_forms(parser)
    parser.set_defaults(run=_report)


def _add_forms(parser: argparse.ArgumentParser) -> None:
    forms = parser.add_mutually_exclusive_group()
    forms.add_argument(
        "--json", action="store_true", help="print everything, as JSON, a launch a line"
    )
    forms.add_argument("--no-listing", action="store_true", help="print the table only")


def _profile(options: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "profile.jsonl"
        # The device reads these when it is loaded.
        os.environ["WAVETILE_DEVICE_PROFILE"] = str(path)
        if options.trace is not None:
            os.environ["WAVETILE_DEVICE_TRACE"] = options.trace
            os.environ["WAVETILE_DEVICE_TRACE_KERNEL"] = options.kernel
            os.environ["WAVETILE_DEVICE_TRACE_WORKGROUP"] = options.trace_workgroup
        outcome = launch_once(options)
        # A launch that went wrong has counts too, up to where it ended.
        profiles = read_profiles(path) if path.exists() else []
    _print(profiles, options)
    return outcome.status


def _report(options: argparse.Namespace) -> int:
    profiles = read_profiles(options.file)
    if options.kernel is not None:
        names = sorted({profile["kernel"] for profile in profiles})
        profiles = [profile for profile in profiles if profile["kernel"] == options.kernel]
        if not profiles:
            raise ArgumentError(
                f"{options.file} has no launch of {options.kernel}",
                remedy=f"its kernels are {', '.join(names) or 'none'}",
            )
    _print(profiles, options)
    return 0


def _print(profiles: Sequence[dict[str, Any]], options: argparse.Namespace) -> None:
    for index, profile in enumerate(profiles):
        if options.json:
            print(json.dumps(profile))
            continue
        if index:
            print()
        print(table(profile))
        if not options.no_listing:
            print(f"\n{listing(profile)}")
