# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One region of a kernel, from its syntax tree and a specialisation to code."""

from __future__ import annotations

import linecache
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wavetile import _C, code_cache, dump
from wavetile.config import Config, Settings
from wavetile.errors import ConfigError
from wavetile.explanation import explain, format_resources
from wavetile.tracing.region import TracedRegion, kernel_symbol, trace_region

if TYPE_CHECKING:
    from wavetile.syntax.regions import Region
    from wavetile.syntax.source import FunctionSource

#: Stages that a compiled region can show, in the order in which they are made.
IR_STAGES = ("tile", "bound", "final", "llvm")
STAGES = (*IR_STAGES, "isa", "plan", "resources", "explain")


@dataclass(frozen=True, eq=False)
class CompiledRegion:
    """A region as compiled for one specialisation, target and Config.

    Attributes:
        name: the kernel's symbol
        target: the GPU
        traced: the module before a Config is bound
        given: the Config that was asked for
        config: the complete Config
        kernel: what the launcher runs
        stages: texts of the IR stages that were kept
        times: (step, milliseconds), the frontend's first
    """

    name: str
    target: str
    traced: TracedRegion
    given: dict[str, int | str]
    config: dict[str, int | str]
    kernel: _C.CompiledKernel
    stages: dict[str, str]
    times: list[tuple[str, float]]

    def ir(self, stage: str) -> str:
        """The module at an IR stage.

        Raises:
            ConfigError: there is no such stage
        """
        if stage == "tile":
            return str(self.traced.module)
        if stage not in IR_STAGES:
            raise ConfigError(
                f"there is no IR stage {stage!r}", remedy=f"stages are {', '.join(IR_STAGES)}"
            )
        if stage not in self.stages:
            again = _C.compile(self.traced.module, self.target, self.config, list(IR_STAGES))
            self.stages.update(again.stages)
        return self.stages[stage]

    def isa(self, *, source: bool = False) -> str:
        """The instructions; with `source`, the Python lines stand before them."""
        lines = _source_line if source else None
        return _C.disassemble(self.kernel.code_object, self.target, lines)

    def resources(self) -> list[_C.KernelResources]:
        """Registers, LDS, occupancy and instruction counts of each GPU kernel."""
        return _C.resources(self.kernel.code_object, self.target)

    def text(self, stage: str) -> str:
        """Any of `STAGES` as text."""
        match stage:
            case "isa":
                return self.isa(source=True)
            case "plan":
                return str(self.kernel.plan)
            case "resources":
                return "\n".join(format_resources(entry) for entry in self.resources())
            case "explain":
                return self.explain()
        return self.ir(stage)

    def explain(self) -> str:
        """One screen: Config, strategies, layouts, the width of every access, and why."""
        return explain(self)


def _source_line(file: str, line: int) -> str:
    return linecache.getline(file, line).rstrip("\n")


class RegionCompiler:
    """Compiles a region for the specialisations that its launcher meets."""

    def __init__(
        self,
        source: FunctionSource,
        region: Region,
        regions: int,
        settings: Settings,
        config: Config | None,
        dims_of_regions: dict[str, set[str]],
    ) -> None:
        """`dims_of_regions` is shared by the regions of a kernel: the names of the dimensions of
        each that was traced."""
        self.source = source
        self.region = region
        self.settings = settings
        self.config = config
        self.regions = regions
        self.dims_of_regions = dims_of_regions
        self.symbol = kernel_symbol(source, region, regions)

    def __call__(
        self, specialisation: _C.Specialisation, integers: Sequence[int]
    ) -> _C.CompiledKernel:
        """What the launcher calls when no variant serves; looks into the cache first."""
        if dump.wanted_stages(list(STAGES)):
            return self.compile(specialisation, integers).kernel
        target = self.settings.target or specialisation.target
        traced = self.trace(specialisation, integers)
        given = self._config_of(traced, self.config)
        key = code_cache.cache_key(traced.module, target, given)
        if (cached := code_cache.load(key)) is not None:
            plan = _C.LaunchPlan.from_bytes(cached.plan)
            return _C.CompiledKernel(plan, cached.code_object)
        result = _C.compile(traced.module, target, given)
        code = code_cache.CachedCode(result.plan.to_bytes(), result.code_object, result.config)
        code_cache.store(key, code)
        return _C.CompiledKernel(result.plan, result.code_object)

    def trace(self, specialisation: _C.Specialisation, integers: Sequence[int]) -> TracedRegion:
        """The module before a Config is bound.

        Raises:
            WavetileError: the region has mistakes
        """
        return trace_region(
            self.source, self.region, specialisation, integers, self.settings, self.symbol
        )

    def compile(
        self,
        specialisation: _C.Specialisation,
        integers: Sequence[int],
        *,
        target: str | None = None,
        config: Config | None = None,
        keep_stages: Sequence[str] = (),
    ) -> CompiledRegion:
        """Compiles for one specialisation.

        Args:
            specialisation: all that the code may rely on
            integers: the integers of one call, to choose a Config by
            target: the GPU, if not that of the settings or the device
            config: the Config, if not the kernel's own
            keep_stages: IR stages whose texts are kept

        Raises:
            WavetileError: the region has mistakes, or the compiler refuses it
        """
        target = target or self.settings.target or specialisation.target
        wanted = dump.wanted_stages(list(STAGES))
        begin = time.perf_counter()
        traced = self.trace(specialisation, integers)
        times = [("trace", (time.perf_counter() - begin) * 1e3)]
        given = self._config_of(traced, config if config is not None else self.config)
        kept = [stage for stage in IR_STAGES if stage in wanted or stage in keep_stages]
        result = _C.compile(traced.module, target, given, kept)
        compiled = CompiledRegion(
            self.symbol,
            target,
            traced,
            given,
            result.config,
            _C.CompiledKernel(result.plan, result.code_object),
            result.stages,
            [*times, *result.times],
        )
        dump.dump(compiled, wanted)
        return compiled

    def _config_of(
        self, traced: TracedRegion, config: Mapping[str, int | str] | None
    ) -> dict[str, int | str]:
        """The entries of a Config that this region has dimensions for, and its fixed sizes."""
        general = {key.suffix for key in _C.config_keys() if not key.per_dimension}
        entries: dict[str, int | str] = dict(traced.block_sizes)
        own = {*traced.dims, *traced.replaced}
        self.dims_of_regions.setdefault(self.symbol, set()).update(own)
        known: set[str] = set().union(*self.dims_of_regions.values())
        for key, value in (config or {}).items():
            dim, dot, suffix = key.partition(".")
            if key not in general and dim not in traced.dims:
                if dim in traced.replaced:
                    stand_in = traced.replaced[dim]
                    if stand_in is not None:
                        entries.setdefault(stand_in + dot + suffix, value)
                    continue
                # Another region may have it, until all of them are known.
                if dim not in known and len(self.dims_of_regions) == self.regions:
                    raise ConfigError(
                        f"the Config has {key!r}, but {self.source.tree.name} has no dimension"
                        f" {dim!r}",
                        remedy=f"its dimensions are {', '.join(sorted(known))}",
                    )
                continue
            if traced.block_sizes.get(key, value) != value:
                raise ConfigError(
                    f"the Config sets {key}={value}, but the kernel fixes block_size="
                    f"{traced.block_sizes[key]}",
                )
            entries[key] = value
        return entries
