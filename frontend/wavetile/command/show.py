# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`wavetile show`: what a kernel becomes, at any stage."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from wavetile.command.arguments import add_kernel_options, arguments_of, load_kernel
from wavetile.compiler import STAGES

ALL_STAGES = (*STAGES, "wrapper", "object")


def add_parser(commands: Any) -> None:
    """Adds the subcommand."""
    parser = commands.add_parser(
        "show",
        help="print what a kernel becomes at a stage",
        description="Compiles a kernel for arguments, without running it, and prints a stage.",
    )
    add_kernel_options(parser)
    parser.add_argument(
        "--stage",
        choices=ALL_STAGES,
        default="explain",
        help="tile: the frontend's module; bound: with a Config; final: planned, with layouts;"
        " llvm: LLVM IR; isa: instructions with their Python lines; object: the code object"
        " (%(default)s)",
    )
    parser.add_argument("--target", metavar="T", help="the GPU, such as gfx942")
    parser.add_argument("-o", dest="output", type=Path, metavar="FILE", help="write it there")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    module, kernel = load_kernel(options.kernel)
    values = arguments_of(module, kernel, options.arg, options.seed)
    bound = kernel.bind(*values, target=options.target, config=options.config)
    if options.stage == "object":
        content = bound.code_object()
        if options.output is None:
            sys.stdout.buffer.write(content)
        else:
            options.output.write_bytes(content)
        return 0
    text = bound.text(options.stage)
    if options.output is None:
        sys.stdout.write(text)
    else:
        options.output.write_text(text)
    return 0
