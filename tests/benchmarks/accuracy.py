# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The largest error of each math function, in units of the last place, on 10 million numbers.

Half of them are random bits, half normal numbers of a few magnitudes. f32 is compared with
float64, f64 with x86's extended doubles (erf, which those lack, with mpmath on 20 thousand). The
environment variable WAVETILE_ACCURACY_SAMPLES gives another number of samples.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

import mpmath
import numpy
import torch

from tests.benchmarks.figures import print_table
from tests.python.end_to_end import on
from tests.python.test_math import FUNCTIONS, PRECISION, apply

BOUND = 2.0
CHUNK = 1 << 20
COLUMNS = 1024
TARGET = "gfx950"
NAMES = {
    "rsqrt": lambda x: 1 / numpy.sqrt(x),
    "atan": numpy.arctan,
    "asin": numpy.arcsin,
    "acos": numpy.arccos,
    "asinh": numpy.arcsinh,
    "acosh": numpy.arccosh,
    "atanh": numpy.arctanh,
}

Function = Callable[[torch.Tensor], torch.Tensor]


def samples(dtype: torch.dtype, count: int, generator: torch.Generator) -> torch.Tensor:
    """Random bits and normal numbers, all finite."""
    integers = torch.int32 if dtype == torch.float32 else torch.int64
    info = torch.iinfo(integers)
    half = count // 2
    bits = torch.randint(info.min, info.max, (half,), generator=generator).to(integers)
    normal = torch.randn(count - half, generator=generator, dtype=torch.float64)
    scale = torch.exp2(torch.randint(-12, 10, (count - half,), generator=generator).double())
    x = torch.cat([bits.view(dtype), (normal * scale).to(dtype)])
    return torch.where(x.isfinite(), x, torch.ones_like(x))


def reference(function: Function, x: torch.Tensor) -> numpy.ndarray:
    """The values in extended doubles."""
    name = function.__name__
    if x.dtype == torch.float32:
        return function(x.double()).numpy().astype(numpy.longdouble)
    if name == "erf":
        with mpmath.workdps(40):
            return numpy.array(
                [numpy.longdouble(mpmath.nstr(mpmath.erf(v), 25)) for v in x.tolist()]
            )
    with numpy.errstate(all="ignore"):
        return NAMES.get(name, getattr(numpy, name, None))(x.numpy().astype(numpy.longdouble))


def worst_error(function: Function, x: torch.Tensor, out: torch.Tensor) -> tuple[float, float]:
    """The largest error in units of the last place, and where it is."""
    wanted = reference(function, x)
    got = out.numpy().astype(numpy.longdouble)
    info = torch.finfo(out.dtype)
    with numpy.errstate(all="ignore"):
        magnitude = numpy.maximum(numpy.abs(wanted), numpy.longdouble(info.tiny))
        _, exponent = numpy.frexp(magnitude)
        unit = numpy.ldexp(numpy.longdouble(1), exponent - PRECISION[out.dtype])
        error = numpy.abs(got - wanted) / unit
        same = (got == wanted) | (numpy.isnan(got) & numpy.isnan(wanted))
        overflow = numpy.isinf(got) & (numpy.abs(wanted) >= info.max)
        error = numpy.where(same | overflow, 0, error)
    error = numpy.where(numpy.isnan(error), numpy.inf, error)
    at = int(error.argmax())
    return float(error[at]), float(x[at])


def measure(function: Function, dtype: torch.dtype, count: int) -> tuple[float, float]:
    """The largest error over `count` numbers, and where it is."""
    generator = torch.Generator().manual_seed(count)
    worst = (0.0, 0.0)
    for start in range(0, count, CHUNK):
        x = samples(dtype, min(CHUNK, count - start), generator)
        rows = torch.cat([x, torch.ones(-x.numel() % COLUMNS, dtype=dtype)]).reshape(-1, COLUMNS)
        out = torch.full_like(rows, 7)
        on(apply, TARGET, fast_math=False)(function, rows, out)
        worst = max(worst, worst_error(function, x, out.flatten()[: x.numel()]))
    return worst


def main() -> None:
    count = int(os.environ.get("WAVETILE_ACCURACY_SAMPLES", "10000000"))
    rows = []
    for function in FUNCTIONS:
        for dtype in (torch.float32, torch.float64):
            slow = dtype == torch.float64 and function.__name__ == "erf"
            taken = min(count, 20_000) if slow else count
            error, at = measure(function, dtype, taken)
            rows.append((function.__name__, str(dtype)[6:], f"{taken:,}", f"{error:.3f}", repr(at)))
    print_table("Largest errors", ("function", "dtype", "samples", "units", "at"), rows)
    if any(float(row[3]) > BOUND for row in rows):
        sys.exit(f"an error is above {BOUND} units")
