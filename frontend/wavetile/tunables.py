# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Numbers that a Config may choose for a kernel's own code: `wl.register_tunable`."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass

from wavetile.errors import ArgumentError, ConfigError

#: The Config of the kernel whose host code runs.
CURRENT: ContextVar[Mapping[str, int | str] | None] = ContextVar("wavetile Config", default=None)

#: What that Config chooses for block sizes, by the names of the variables that hold them.
BLOCK_SIZES: ContextVar[Mapping[str, int | str] | None] = ContextVar("block sizes", default=None)


@dataclass(frozen=True)
class IntegerFragment:
    """The ints from `low` to `high`.

    Attributes:
        low, high: the limits, which are among them
        default: the one without a Config; None for `low`

    Raises:
        ArgumentError: limits out of order, or a default outside of them

    Example:
        stages = wl.register_tunable("stages", wavetile.IntegerFragment(1, 5, 2))
    """

    low: int
    high: int
    default: int | None = None

    def __post_init__(self) -> None:
        if not self.low <= self.chosen() <= self.high:
            raise ArgumentError(
                f"{type(self).__name__}({self.low}, {self.high}, {self.default}) holds nothing, or"
                " not its default"
            )

    def chosen(self) -> int:
        """The value without a Config."""
        return self.low if self.default is None else self.default

    def holds(self, value: int) -> bool:
        """Whether a Config may choose this value.

        Args:
            value: an int
        """
        return self.low <= value <= self.high

    def __str__(self) -> str:
        return f"an int from {self.low} to {self.high}"


@dataclass(frozen=True)
class PowerOfTwoFragment(IntegerFragment):
    """The powers of two from `low` to `high`, which are powers of two themselves.

    Example:
        split_k = wl.register_tunable("split_k", wavetile.PowerOfTwoFragment(1, 64))
    """

    def holds(self, value: int) -> bool:
        """Whether a Config may choose this value.

        Args:
            value: an int
        """
        return super().holds(value) and value & (value - 1) == 0

    def __str__(self) -> str:
        return f"a power of two from {self.low} to {self.high}"


def choose(name: str, fragment: IntegerFragment) -> int:
    """What the current Config chooses for a tunable.

    Raises:
        ArgumentError: the fragment is none
        ConfigError: the Config's value is not one of its
    """
    if not isinstance(fragment, IntegerFragment):
        raise ArgumentError(
            f"wl.register_tunable needs a fragment, not {fragment!r}",
            remedy="write wl.register_tunable('split_k', wavetile.PowerOfTwoFragment(1, 64))",
        )
    value = (CURRENT.get() or {}).get(name, fragment.chosen())
    if isinstance(value, str) or not fragment.holds(value):
        raise ConfigError(
            f"the Config sets {name}={value}, which is not {fragment}",
            remedy="choose one that the kernel registers",
        )
    return value


def choose_block_size(name: str | None, low: int, high: int, default: int) -> int:
    """What the current Config chooses for a registered block size.

    Raises:
        ConfigError: a size outside the limits
    """
    value = (BLOCK_SIZES.get() or {}).get(name or "", default)
    if isinstance(value, str) or not low <= value <= high:
        raise ConfigError(
            f"the Config sets {name}={value}, but the kernel registers a block size between {low}"
            f" and {high}",
            remedy="choose one within these limits",
        )
    return value
