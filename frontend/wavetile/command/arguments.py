# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels and their arguments as named on the command line."""

from __future__ import annotations

import argparse
import ast
import importlib.util
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from wavetile.config import Config
from wavetile.errors import ArgumentError
from wavetile.kernel import Kernel
from wavetile.tracing.dtypes import BY_DTYPE, BY_NAME

_TENSOR = re.compile(
    r"(?P<dtype>\w+)\[(?P<sizes>[\d,\s]*)\](?::\((?P<strides>[\d,\s]*)\))?(?:\+(?P<offset>\d+))?"
)


def load_module(path: Path) -> ModuleType:
    """Runs a Python file as a module.

    Raises:
        ArgumentError: there is no such file
    """
    if not path.exists():
        raise ArgumentError(f"there is no file {path}")
    name = f"wavetile_command_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ArgumentError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def load_kernel(text: str) -> tuple[ModuleType, Kernel]:
    """The module and kernel that FILE:KERNEL names.

    Raises:
        ArgumentError: there is none
    """
    file, _, name = text.rpartition(":")
    if not file:
        file, name = text, ""
    module = load_module(Path(file))
    kernels = {key: value for key, value in vars(module).items() if isinstance(value, Kernel)}
    if not name and len(kernels) == 1:
        (name,) = kernels
    if name not in kernels:
        raise ArgumentError(
            f"{file} has no kernel {name!r}" if name else f"{file}: which kernel?",
            remedy=f"write {file}:KERNEL with one of: {', '.join(kernels) or '(it has none)'}",
        )
    return module, kernels[name]


def _integers(text: str) -> list[int]:
    return [int(part) for part in text.split(",") if part.strip()]


def random_tensor(sizes: list[int], dtype: torch.dtype, generator: torch.Generator) -> torch.Tensor:
    """Random numbers of the normal distribution; integers from -8 to 8; random bools."""
    if dtype is torch.bool:
        return torch.rand(sizes, generator=generator) < 0.5
    if not dtype.is_floating_point:
        return torch.randint(-8, 9, sizes, generator=generator).to(dtype)
    return torch.randn(sizes, generator=generator).to(dtype)


def _tensor(match: re.Match[str], generator: torch.Generator) -> torch.Tensor:
    if match["dtype"] not in BY_NAME:
        raise ArgumentError(
            f"there is no dtype {match['dtype']!r}", remedy=f"dtypes are {', '.join(BY_NAME)}"
        )
    dtype = BY_NAME[match["dtype"]].dtype
    sizes = _integers(match["sizes"])
    strides = _integers(match["strides"]) if match["strides"] is not None else None
    if strides is None:
        strides = [1] * len(sizes)
        for i in reversed(range(len(sizes) - 1)):
            strides[i] = strides[i + 1] * max(1, sizes[i + 1])
    if len(strides) != len(sizes):
        raise ArgumentError(f"{match[0]}: {len(strides)} strides for {len(sizes)} sizes")
    offset = int(match["offset"] or 0)
    spans = ((size - 1) * stride for size, stride in zip(sizes, strides, strict=True))
    length = offset + 1 + sum(spans) if all(sizes) else offset
    return random_tensor([length], dtype, generator).as_strided(sizes, strides, offset)


def parse_argument(text: str, generator: torch.Generator) -> Any:
    """The value that an --arg stands for.

    Raises:
        ArgumentError: it is neither a tensor, nor a dtype, nor a literal
    """
    if match := _TENSOR.fullmatch(text.strip()):
        return _tensor(match, generator)
    dtype = getattr(torch, text.removeprefix("torch."), None)
    if isinstance(dtype, torch.dtype):
        return dtype
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        raise ArgumentError(
            f"--arg {text}: neither a tensor, nor a dtype, nor a number",
            remedy="write --arg 'bf16[4096,1000]' or --arg 1e-5",
        ) from None


def arguments_of(module: ModuleType, kernel: Kernel, given: list[str], seed: int) -> list[Any]:
    """The values of --arg; without any, those of the file's `<kernel>_arguments(generator)`.

    Raises:
        ArgumentError: there are neither
    """
    generator = torch.Generator().manual_seed(seed)
    if given:
        return [parse_argument(text, generator) for text in given]
    make: Callable[[torch.Generator], list[Any]] | None = getattr(
        module, f"{kernel.__name__}_arguments", None
    )
    if make is None:
        raise ArgumentError(
            f"which arguments shall {kernel.__name__} get?",
            remedy="give each with --arg, such as --arg 'f32[37,1001]', or define"
            f" {kernel.__name__}_arguments(generator) beside the kernel",
        )
    return list(make(generator))


def describe_argument(value: Any) -> str:
    """An argument in the form of --arg."""
    if not isinstance(value, torch.Tensor):
        return str(value)
    sizes = ",".join(map(str, value.shape))
    strides = "" if value.is_contiguous() else f":({','.join(map(str, value.stride()))})"
    offset = f"+{value.storage_offset()}" if value.storage_offset() else ""
    return f"{BY_DTYPE[value.dtype].name}[{sizes}]{strides}{offset}"


def add_kernel_options(parser: argparse.ArgumentParser) -> None:
    """Options that name a kernel, its arguments and how to compile it."""
    parser.add_argument("kernel", metavar="FILE:KERNEL", help="the kernel")
    parser.add_argument(
        "--arg", action="append", default=[], metavar="ARG", help="an argument, in order"
    )
    parser.add_argument(
        "--config",
        type=Config.parse,
        metavar="KEY=VALUE,...",
        help="choices of the Config; `wavetile info --config` lists the keys",
    )
    parser.add_argument("--seed", type=int, default=0, help="of the random numbers (%(default)s)")
