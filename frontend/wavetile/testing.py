# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks of a kernel's numbers against float64, and its time.

An error is measured in units of eps(dtype) x sqrt(length), where `length` is the number of
elements that each result combines: `c` of them are allowed, at most 4. The square root is what
rounding errors of both signs add up to (Higham and Mary, "A New Approach to Probabilistic Rounding
Error Analysis", 2019).
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any, Literal

import torch

from wavetile.errors import AccuracyError, ArgumentError

__all__ = ["LARGEST_FACTOR", "assert_close", "do_bench", "error_factor"]

LARGEST_FACTOR = 4.0


def error_factor(actual: torch.Tensor, expected: torch.Tensor, length: int = 1) -> float:
    """The largest error in units of eps(actual's dtype) x sqrt(length).

    An error is relative to the larger one of the expected value and the mean magnitude of the
    expected values. NaN and infinities must be where they are expected, else it is infinite.

    Args:
        actual: the result
        expected: what it should be, as f64 of the same shape
        length: the number of elements that each result combines

    Returns:
        a float without unit; of integers 0 if they are equal, else infinity

    Raises:
        AccuracyError: the shapes differ

    Example:
        factor = error_factor(softmax(x), torch.softmax(x.double(), -1), length=x.size(-1))
    """
    if actual.shape != expected.shape:
        raise AccuracyError(
            f"the result has shape {list(actual.shape)}, expected {list(expected.shape)}"
        )
    if actual.numel() == 0:
        return 0.0
    if not actual.dtype.is_floating_point:
        return 0.0 if torch.equal(actual.double(), expected.double()) else math.inf
    result, wanted = actual.double(), expected.double()
    # What the dtype cannot hold counts as what it becomes there.
    wanted = torch.where(
        wanted.abs() > torch.finfo(actual.dtype).max, wanted.to(actual.dtype).double(), wanted
    )
    special = ~torch.isfinite(wanted)
    if not torch.equal(special, ~torch.isfinite(result)) or not torch.equal(
        result[special].nan_to_num(nan=0.5), wanted[special].nan_to_num(nan=0.5)
    ):
        return math.inf
    result, wanted = result[~special], wanted[~special]
    if wanted.numel() == 0:
        return 0.0
    magnitude = wanted.abs()
    scale = torch.maximum(magnitude, magnitude.mean()).clamp(min=torch.finfo(actual.dtype).tiny)
    error = ((result - wanted).abs() / scale).max().item()
    return error / (torch.finfo(actual.dtype).eps * math.sqrt(max(1, length)))


def assert_close(
    actual: torch.Tensor, expected: torch.Tensor, *, length: int = 1, c: float = 1.0
) -> None:
    """Checks that no error exceeds c x eps(dtype) x sqrt(length).

    Args:
        actual: the result
        expected: what it should be, as f64
        length: the number of elements that each result combines
        c: the allowed factor, at most 4

    Raises:
        AccuracyError: an error is larger, or the shapes differ; the message names the worst element

    Example:
        assert_close(x_sum, x.double().sum(-1), length=x.size(-1), c=2)
    """
    assert c <= LARGEST_FACTOR, f"c is {c}, but no result may be worse than {LARGEST_FACTOR}"
    factor = error_factor(actual, expected, length)
    if factor <= c:
        return
    difference = (actual.double() - expected.double()).abs().nan_to_num(nan=math.inf)
    index = tuple(int(i) for i in torch.unravel_index(difference.argmax(), difference.shape))
    raise AccuracyError(
        f"the error is {factor:.3g} eps({actual.dtype}) sqrt({length}), allowed are {c:.3g};"
        f" at {list(index)}: {actual[index].item()}, expected {expected[index].item()}"
    )


def _milliseconds(function: Callable[[], Any], gpu: bool) -> float:
    """How long one call takes, with all that it starts on the GPU."""
    if not gpu:
        begin = time.perf_counter()
        function()
        return (time.perf_counter() - begin) * 1e3
    first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    first.record()
    function()
    last.record()
    torch.cuda.synchronize()
    return float(first.elapsed_time(last))


def do_bench(
    function: Callable[[], Any],
    warmup: float = 25.0,
    rep: float = 100.0,
    *,
    grad_to_none: Sequence[torch.Tensor] | None = None,
    quantiles: Sequence[float] | None = None,
    return_mode: Literal["mean", "median", "min", "max"] = "mean",
) -> float | list[float]:
    """The time of a call, measured again and again; as Triton's and Helion's function.

    With a GPU it is the GPU's, by events. On the software device it is the time that the CPU takes
    to execute the machine code, which says nothing about a GPU: `wavetile device profile` has
    estimates.

    Args:
        function: what is called, without arguments
        warmup: for how many milliseconds it is called before
        rep: for how many milliseconds it is called and measured, at least once
        grad_to_none: tensors whose gradients are dropped before each call
        quantiles: which quantiles are returned, from 0 to 1
        return_mode: what is returned without them

    Returns:
        milliseconds, or a list of them for `quantiles`

    Raises:
        ArgumentError: there is no such `return_mode`, or a quantile outside 0 to 1

    Example:
        ms = do_bench(lambda: softmax(x))
    """
    modes: dict[str, Callable[[list[float]], float]] = {
        "mean": statistics.fmean,
        "median": statistics.median,
        "min": min,
        "max": max,
    }
    if return_mode not in modes:
        raise ArgumentError(
            f"do_bench has no return_mode {return_mode!r}",
            remedy=f"write one of {', '.join(modes)}",
        )
    if any(not 0 <= quantile <= 1 for quantile in quantiles or ()):
        raise ArgumentError(f"quantiles are between 0 and 1, not {list(quantiles or ())}")
    gpu = torch.cuda.is_available()

    def call() -> float:
        for tensor in grad_to_none or ():
            tensor.grad = None
        return _milliseconds(function, gpu)

    end = time.perf_counter() + warmup / 1e3
    call()
    while time.perf_counter() < end:
        call()
    times = [call()]
    end = time.perf_counter() + (rep - times[0]) / 1e3
    while time.perf_counter() < end:
        times.append(call())
    if quantiles is not None:
        found = torch.quantile(
            torch.tensor(times, dtype=torch.float64),
            torch.tensor(list(quantiles), dtype=torch.float64),
        )
        return [float(each) for each in found]
    return modes[return_mode](times)
