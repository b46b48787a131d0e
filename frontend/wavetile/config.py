# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Config: how a kernel is compiled. Settings: what its user wants."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from wavetile import _C, helion
from wavetile.errors import ConfigError


class Config(Mapping[str, "int | str"]):
    """Choices that change how fast a kernel is, never what it computes.

    Keys are named by the loop or dimension that they belong to, as `wavetile show --stage
    explain` prints them; `wavetile info --config` lists them all. What is not given is chosen by
    the compiler.

    Helion's keys are accepted: `num_warps` is `waves`, `block_sizes` and `reduction_loops` are for
    the kernel's loops and rows in the order of its source. What means nothing here warns.

    Attributes:
        positional: what is given by position, until a kernel is known
        warps: Helion's `num_warps`, which is `waves` where a target has so many, and the most
            that it has elsewhere; None if it is not given

    Example:
        Config(rows=4, waves=2)
        Config({"cols.strategy": "looped", "cols": 1024})
        Config(block_sizes=[64, 64, 32], num_warps=4)

    Raises:
        ConfigError: a key or value that the table of keys does not have
    """

    def __init__(self, entries: Mapping[str, Any] | None = None, **named: Any) -> None:
        given = {**(entries or {}), **named}
        self._entries, self.positional = helion.split_keys(given, 2)
        self.warps: int | None = None if "waves" in given else given.get("num_warps")
        try:
            _C.check_config(self._entries)
        except ValueError as error:
            raise ConfigError(str(error)) from None

    @classmethod
    def parse(cls, text: str) -> Config:
        """From the text form, such as `rows=4,cols.strategy=looped`."""
        try:
            return cls(_C.parse_config(text))
        except ValueError as error:
            raise ConfigError(str(error)) from None

    def __getitem__(self, key: str) -> int | str:
        return self._entries[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Config) and other.positional != self.positional:
            return False
        return super().__eq__(other)

    def __hash__(self) -> int:
        return hash(frozenset(self._entries.items()))

    def __str__(self) -> str:
        return _C.format_config(self._entries)

    def __repr__(self) -> str:
        return f"Config({ {**self._entries, **self.positional}!r})"


def _interpret_by_default() -> bool:
    value = os.environ.get("WAVETILE_INTERPRET", "0")
    if value not in ("", "0", "1"):
        raise ConfigError(f"WAVETILE_INTERPRET is {value!r}", remedy="set it to 0 or 1")
    return value == "1"


@dataclass(frozen=True)
class Settings:
    """What the user of a kernel wants; never tuned.

    Attributes:
        target: the GPU to compile for, such as "gfx950"; None for that of the device on which
            the kernel runs
        fast_math: allow contraction, reassociation inside reductions, a reciprocal for division
            by a row's value, and approximate exp2, log and rsqrt. Infinities and NaN behave as
            in torch either way.
        interpret: run the kernel as Python, with torch computing device code eagerly; by default
            if the environment variable WAVETILE_INTERPRET is 1 when the kernel is decorated

    Example:
        @wavetile.kernel(target="gfx950", fast_math=False)
        def copy(x: torch.Tensor) -> torch.Tensor: ...
    """

    target: str | None = None
    fast_math: bool = True
    interpret: bool = field(default_factory=_interpret_by_default)

    @classmethod
    def names(cls) -> list[str]:
        """The names of all settings."""
        return [field.name for field in fields(cls)]
