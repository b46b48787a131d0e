# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A kernel compiled for given arguments, to be looked at or run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wavetile import _C
from wavetile.errors import ArgumentError

if TYPE_CHECKING:
    from wavetile.compiler import CompiledRegion
    from wavetile.kernel import Kernel


@dataclass(frozen=True, eq=False)
class BoundRegion:
    """A region of a bound kernel: its code, and the call for which it was compiled."""

    compiled: CompiledRegion
    specialisation: _C.Specialisation
    integers: tuple[int, ...]


class BoundKernel:
    """What `Kernel.bind` gives.

    Attributes:
        kernel: the kernel
        regions: what each of its regions that the call reaches was compiled to
    """

    def __init__(self, kernel: Kernel, regions: list[BoundRegion]) -> None:
        self.kernel = kernel
        self.regions = regions

    def _join(self, text: Callable[[CompiledRegion], str]) -> str:
        return "\n".join(text(region.compiled).rstrip("\n") for region in self.regions) + "\n"

    def _only(self, what: str) -> CompiledRegion:
        if len(self.regions) != 1:
            raise ArgumentError(
                f"this kernel has {len(self.regions)} regions, each with {what} of its own",
                remedy="take it from .regions[i].compiled",
            )
        return self.regions[0].compiled

    def ir(self, stage: str = "tile") -> str:
        """The module at a stage: tile, bound, final or llvm.

        Raises:
            ConfigError: there is no such stage
        """
        return self._join(lambda region: region.ir(stage))

    def isa(self, source: bool = False) -> str:
        """The instructions; with `source`, each Python line before its own."""
        return self._join(lambda region: region.isa(source=source))

    def code_object(self) -> bytes:
        """The ELF file that the GPU loads.

        Raises:
            ArgumentError: the kernel has several regions
        """
        return self._only("a code object").kernel.code_object

    def plan(self) -> _C.LaunchPlan:
        """What a launch does: grids, arguments, scratch buffers.

        Raises:
            ArgumentError: the kernel has several regions
        """
        return self._only("a plan").kernel.plan

    def resources(self) -> list[_C.KernelResources]:
        """Registers, LDS, spills, occupancy and instructions by class of each GPU kernel."""
        return [entry for region in self.regions for entry in region.compiled.resources()]

    def explain(self) -> str:
        """One screen: Config, strategies, layouts, the width of every load and store, and why."""
        return self._join(lambda region: region.explain())

    def text(self, stage: str) -> str:
        """Any stage of `wavetile show` but the object, as text."""
        if stage == "wrapper":
            return self.wrapper_source()
        return self._join(lambda region: region.text(stage))

    def wrapper_source(self) -> str:
        """The source of the wrapper."""
        return self.kernel.wrapper_source()

    def times(self) -> list[tuple[str, float]]:
        """(step, milliseconds) of the compilation, summed over regions."""
        sums: dict[str, float] = {}
        for region in self.regions:
            for step, milliseconds in region.compiled.times:
                sums[step] = sums.get(step, 0.0) + milliseconds
        return list(sums.items())

    def configs(self) -> list[dict[str, int | str]]:
        """The complete Config of each region."""
        return [region.compiled.config for region in self.regions]
