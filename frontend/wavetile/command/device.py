# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`wavetile device`: code objects of any compiler on the software device."""

from __future__ import annotations

import argparse
import shlex
from typing import Any

from wavetile.command import device_profile
from wavetile.command.device_launch import ARGUMENTS, add_arguments, launch_once
from wavetile.device import environment
from wavetile.device.arguments import Argument

_RUN = f"""\
Runs one kernel of an AMDGPU code object, from whatever compiler, and checks every access to memory.

{ARGUMENTS}
  wavetile device run add.hsaco add --target gfx950 --grid 4,1,1 --block 256,1,1 \\
    --arg x.npy --arg y.npy --arg 'f32[1000]:sum.npy' --arg i32=1000
"""

_ENV = """\
Prints what makes other programs use the software device, for a shell to evaluate:

  eval "$(wavetile device env --target gfx942)"
"""


def add_parser(commands: Any) -> None:
    """Adds the subcommand."""
    parser = commands.add_parser("device", help="run any AMDGPU code object without a GPU")
    subcommands = parser.add_subparsers(dest="subcommand", required=True, metavar="COMMAND")
    _add_run(subcommands)
    device_profile.add_parsers(subcommands)
    _add_env(subcommands)


def _add_run(commands: Any) -> None:
    parser = commands.add_parser(
        "run",
        help="run a kernel of a code object",
        description=_RUN,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_arguments(parser)
    parser.set_defaults(run=_run)


def _add_env(commands: Any) -> None:
    parser = commands.add_parser(
        "env",
        help="print what makes other programs use the device",
        description=_ENV,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--target", metavar="T[,T]", help="the GPUs to pose as; the device's default is gfx950"
    )
    parser.set_defaults(run=_env)


def _run(options: argparse.Namespace) -> int:
    outcome = launch_once(options)
    if outcome.launch is not None:
        _print_launch(outcome.launch, outcome.arguments)
    return outcome.status


def _print_launch(launch: dict[str, Any], arguments: list[Argument]) -> None:
    executed = sum(launch["instructions"].values())
    print(
        f"{launch['kernel']} on {launch['target']}: {launch['workgroups']} workgroups,"
        f" {executed} wave instructions, {launch['seconds'] * 1e3:.3g} ms"
    )
    for argument in arguments:
        if argument.output is not None:
            print(f"wrote {argument.output}")


def _env(options: argparse.Namespace) -> int:
    for name, value in environment.variables(options.target).items():
        print(f"export {name}={shlex.quote(value)}")
    return 0
