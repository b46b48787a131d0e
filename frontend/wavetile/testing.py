# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks of a kernel's numbers against float64.

An error is measured in units of eps(dtype) x sqrt(length), where `length` is the number of
elements that each result combines: `c` of them are allowed, at most 4.
"""

from __future__ import annotations

import math

import torch

from wavetile.errors import AccuracyError

LARGEST_FACTOR = 4.0


def error_factor(actual: torch.Tensor, expected: torch.Tensor, length: int = 1) -> float:
    """The largest error in units of eps(actual's dtype) x sqrt(length).

    An error is relative to the larger one of the expected value and the mean magnitude of the
    expected values. NaN and infinities must be where they are expected, else it is infinite.

    Args:
        actual: the result
        expected: what it should be, as f64 of the same shape
        length: the number of elements that each result combines

    Raises:
        AccuracyError: the shapes differ
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
        AccuracyError: an error is larger; the message names the worst element
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
