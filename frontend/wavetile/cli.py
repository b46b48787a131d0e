# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command `wavetile`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from wavetile.command import demo, device, info, run, show
from wavetile.errors import WavetileError

_DESCRIPTION = """\
Compiles, shows and runs kernels written in Wavetile's Python tile syntax.

A kernel is named FILE:KERNEL, such as examples/softmax.py:softmax. Its arguments are given one by
one with --arg, in order:
  bf16[4096,1000]          a tensor of random numbers (f64 f32 f16 bf16 f8e4m3fn f8e4m3fnuz f8e5m2
                           f8e5m2fnuz i64 i32 i16 i8 bool)
  f32[64,100]:(1,64)       with strides, in elements
  f32[64,100]+3            that begins 3 elements after an aligned address
  7  1e-5  True  None      a number or another Python literal
  float32                  a dtype

To begin with:
  wavetile demo
  wavetile show examples/softmax.py:softmax --stage tile --arg 'bf16[4096,1000]'
  wavetile run examples/softmax.py:softmax --arg 'f32[37,1001]' --check
"""


def make_parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="wavetile",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for module in (demo, show, run, device, info):
        module.add_parser(commands)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; gives the exit status."""
    options = make_parser().parse_args(arguments)
    try:
        return options.run(options)
    except WavetileError as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        return 1


if __name__ == "__main__":
    sys.exit(main())
