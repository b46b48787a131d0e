# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What the end-to-end tests share: kernels for a target, surrounded tensors, the launch log."""

from __future__ import annotations

import ctypes
import functools
import json
import linecache
import math
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
import wavetile
from wavetile.devices import devices, software_device

#: A target's wave size; sizes of tests are chosen around it.
WAVE_SIZES = {"gfx942": 64, "gfx950": 64, "gfx1150": 32, "host": 1}

#: The 8-bit float that a target's conversions and matrix instructions know.
FP8 = {"gfx942": torch.float8_e4m3fnuz, "gfx950": torch.float8_e4m3fn}


@functools.cache
def _variant(
    kernel: wavetile.Kernel, target: str, config: wavetile.Config | None, fast_math: bool
) -> wavetile.Kernel:
    make = wavetile.kernel(target=target, config=config, fast_math=fast_math)
    return make(kernel.source.function)


def on(
    kernel: wavetile.Kernel,
    target: str,
    config: Mapping[str, int | str] | None = None,
    fast_math: bool = True,
) -> wavetile.Kernel:
    """The kernel, compiled for a target and run on the software device that is one.

    A workgroup of the host (see test_backend_host.py) is one wave, whatever the Config says.
    """
    if target == "host" and config and "waves" in config:
        config = {**config, "waves": 1}
    return _variant(kernel, target, wavetile.Config(config) if config else None, fast_math)


def in_python(kernel: wavetile.Kernel) -> wavetile.Kernel:
    """The kernel, run line by line and not compiled."""
    return wavetile.kernel(interpret=True)(kernel.source.function)


def defined(name: str, text: str, filename: str, **names: Any) -> Callable[..., Any]:
    """A function of a text that is in no file, whose source Python finds all the same."""
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    exec(compile(text, filename, "exec"), names)
    function: Callable[..., Any] = names[name]
    return function


def beyond(dtype: torch.dtype) -> float | bool:
    """What lies beyond extents: NaN, or for integers a number that no test's data has."""
    if dtype == torch.bool:
        return True
    return math.nan if dtype.is_floating_point else 111


def surrounded(
    x: torch.Tensor, *, before: int = 0, after: int = 9, step: int = 1, order: str = "rows"
) -> torch.Tensor:
    """A view that equals x inside a larger buffer of NaN.

    Args:
        before, after: elements beyond either end of each dimension
        step: the stride, in elements, along the innermost dimension
        order: "rows" for the last dimension innermost, "columns" for the first
    """
    source = x if order == "rows" else x.mT
    shape = [before + size + after for size in source.shape]
    shape[-1] *= step
    buffer = torch.empty(shape, dtype=x.dtype)
    buffer.fill_(beyond(x.dtype))
    where = [slice(before, before + size) for size in source.shape]
    where[-1] = slice(before, before + source.shape[-1] * step, step)
    view = buffer[tuple(where)]
    view.copy_(source)
    return view if order == "rows" else view.mT


def surroundings(view: torch.Tensor) -> torch.Tensor:
    """The elements of a view's buffer that are not its own."""
    base = view._base
    assert base is not None, "the tensor has no surroundings"
    mine = torch.zeros(base.shape, dtype=torch.bool)
    mine.as_strided(view.shape, view.stride(), view.storage_offset()).fill_(True)
    return base[~mine]


def assert_untouched(view: torch.Tensor) -> None:
    """Checks that nothing was stored around a tensor made by `surrounded`."""
    around = surroundings(view)
    expected = torch.full_like(around, beyond(view.dtype))
    assert torch.equal(torch.isnan(around), torch.isnan(expected))
    assert torch.equal(around.nan_to_num(), expected.nan_to_num())


@functools.cache
def _device_library() -> Any:
    devices().describe()  # loads it the way a launch does
    library = ctypes.CDLL(os.environ.get("WAVETILE_HIP") or str(software_device()))
    library.wavetileDeviceLaunchLog.restype = ctypes.c_char_p
    return library


@contextmanager
def launch_log() -> Iterator[list[dict[str, Any]]]:
    """Gives the launches of the software device in the block; filled when the block ends."""
    library = _device_library()
    library.wavetileDeviceClearLaunchLog()
    log: list[dict[str, Any]] = []
    yield log
    log += json.loads(library.wavetileDeviceLaunchLog())
