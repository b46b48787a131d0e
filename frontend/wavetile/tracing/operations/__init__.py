# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operations of device code: a table from what a kernel calls to what emits it.

A new operation is one decorated function in the module of its kind, and a test.
"""

from wavetile.tracing.operations import (
    activations,
    algebra,
    assembly,
    comparison,
    conversion,
    creation,
    debugging,
    functions,
    matrix,
    norms,
    ordering,
    pointwise,
    random,
    reductions,
    scaled,
    scans,
    shapes,
)
from wavetile.tracing.operations.registry import FUNCTIONS, METHODS, Operation

__all__ = [
    "FUNCTIONS",
    "METHODS",
    "Operation",
    "activations",
    "algebra",
    "assembly",
    "comparison",
    "conversion",
    "creation",
    "debugging",
    "functions",
    "matrix",
    "norms",
    "ordering",
    "pointwise",
    "random",
    "reductions",
    "scaled",
    "scans",
    "shapes",
]
