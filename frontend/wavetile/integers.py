# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arithmetic of sizes, for host code."""


def cdiv(a: int, b: int) -> int:
    """a / b rounded up.

    Args:
        a, b: ints, b not 0

    Returns:
        an int

    Raises:
        ZeroDivisionError: b is 0

    Example:
        blocks = wavetile.cdiv(x.size(0), 64)
    """
    return (a + b - 1) // b


def next_power_of_2(n: int) -> int:
    """The smallest power of two that is not below `n`; 1 for `n` below 1. Raises nothing.

    Args:
        n: an int

    Returns:
        an int

    Example:
        capacity = wavetile.next_power_of_2(x.size(1))
    """
    return 1 if n < 1 else 1 << (n - 1).bit_length()
