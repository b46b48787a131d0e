# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One region of a kernel, from its syntax tree and a specialisation to code."""

from __future__ import annotations

import linecache
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NoReturn

from wavetile import _C, block_sizes, code_cache, dump, helion
from wavetile.config import Config, Settings
from wavetile.errors import (
    ArgumentError,
    CompilationError,
    ConfigError,
    PerformanceWarning,
    SourceLocation,
)
from wavetile.explanation import explain, format_resources
from wavetile.structure import Flattener, Structure, is_structured
from wavetile.syntax.regions import Parameter, find_tunables
from wavetile.tracing.region import TracedRegion, kernel_symbol, trace_region
from wavetile.warning import warn

if TYPE_CHECKING:
    from wavetile.syntax.regions import Region
    from wavetile.syntax.source import FunctionSource

#: Stages that a compiled region can show, in the order in which they are made.
IR_STAGES = ("tile", "bound", "final", "llvm")
STAGES = (*IR_STAGES, "isa", "plan", "resources", "explain")

#: Block sizes that are tried one after the other where those of choice do not fit.
_SMALLER_BLOCKS = (16, 4, 1)


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
        configs: Sequence[Config],
        dims_of_regions: dict[str, set[str]],
    ) -> None:
        """`dims_of_regions` is shared by the regions of a kernel: the names of the dimensions of
        each that was traced."""
        self.source = source
        self.region = region
        self.settings = settings
        self.configs = configs
        self.regions = regions
        self.dims_of_regions = dims_of_regions
        self.symbol = kernel_symbol(source, region, regions)
        #: Regions whose parameters are what the arguments of this one are made of, by how.
        self._structured: dict[tuple[Structure | None, ...], tuple[RegionCompiler, Any]] = {}
        self._make_launcher: Callable[[RegionCompiler], Any] | None = None

    def with_launcher(self, make: Callable[[RegionCompiler], Any]) -> Any:
        """A launcher for this region; `make` also makes those of structured arguments."""
        self._make_launcher = make
        return make(self)

    def call_structured(self, *values: Any) -> None:
        """What the launcher calls when an argument must be taken apart.

        Raises:
            WavetileError: as a launch does; ArgumentError for a value that device code cannot use
        """
        _, launcher, flat = self.resolve(values)
        launcher(*flat)

    def resolve(self, values: Sequence[Any]) -> tuple[RegionCompiler, Any, list[Any]]:
        """The region that takes what these values are made of, its launcher, and that.

        Raises:
            ArgumentError: a value that device code cannot use
        """

        def fail(message: str) -> NoReturn:
            raise ArgumentError(
                f"{self.symbol}: {message}", remedy="pass tensors, numbers and constants"
            )

        flattener = Flattener(fail)
        structures: list[Structure | None] = []
        for parameter, value in zip(self.region.parameters, values, strict=True):
            if parameter.kind == "value" and is_structured(value):
                structures.append(flattener.flatten(parameter.name, value))
            else:
                structures.append(None)
        assert self._make_launcher is not None
        taken = [
            value for value, structure in zip(values, structures, strict=True) if structure is None
        ]
        flat = taken + [value for _, value in flattener.leaves]
        key = tuple(structures)
        if key not in self._structured:
            plain = [
                parameter
                for parameter, structure in zip(self.region.parameters, structures, strict=True)
                if structure is None
            ]
            leaves = [Parameter(name, name, "value") for name, _ in flattener.leaves]
            made = {
                parameter.name: structure
                for parameter, structure in zip(self.region.parameters, structures, strict=True)
                if structure is not None
            }
            region = replace(self.region, parameters=plain + leaves, structures=made)
            compiler = RegionCompiler(
                self.source, region, self.regions, self.settings, self.configs, self.dims_of_regions
            )
            self._structured[key] = compiler, compiler.with_launcher(self._make_launcher)
        compiler, launcher = self._structured[key]
        return compiler, launcher, flat

    @property
    def config(self) -> Config | None:
        """The Config that is preferred."""
        return self.configs[0] if self.configs else None

    def __call__(
        self, specialisation: _C.Specialisation, integers: Sequence[int]
    ) -> list[_C.CompiledKernel]:
        """What the launcher calls when no variant serves; looks into the cache first.

        Returns:
            a kernel for each Config that the compiler accepts, in order of preference

        Raises:
            WavetileError: the region has mistakes, or the compiler refuses every Config
        """
        if dump.wanted_stages(list(STAGES)):
            return [self.compile(specialisation, integers).kernel]
        target = self.settings.target or specialisation.target
        traced = self.trace(specialisation, integers)
        kernels: list[_C.CompiledKernel] = []
        refusals: list[CompilationError] = []
        candidates: Sequence[Config | None] = self.configs or [None]
        for config in candidates:
            given = self._config_of(traced, target, config)
            try:
                kernels.append(self._compile(traced, target, given))
            except CompilationError as error:
                refusals.append(error)
        if not kernels and not self.configs:
            kernels += self._with_smaller_blocks(traced, target, given)
        if not kernels:
            refusals[0].others = list(refusals[1:])
            raise refusals[0]
        return kernels

    def _with_smaller_blocks(
        self, traced: TracedRegion, target: str, given: dict[str, int | str]
    ) -> list[_C.CompiledKernel]:
        """Code with blocks smaller than the compiler chose, which it refused as too large."""
        loops = [name for name in traced.places if name not in given]
        for size in _SMALLER_BLOCKS if loops else ():
            smaller: dict[str, int | str] = {**dict.fromkeys(loops, size), **given}
            try:
                return [self._compile(traced, target, smaller)]
            except CompilationError:
                continue
        return []

    def _warn_of(self, notes: Sequence[_C.PerformanceNote | code_cache.Note]) -> None:
        for note in notes:
            places = [(note.file, note.line, note.column), *map(tuple, note.callers)]
            place = SourceLocation.of_places(places)
            warning = PerformanceWarning(note.message, location=place, remedy=note.remedy)
            warn(self.source.function, warning)

    def _compile(
        self, traced: TracedRegion, target: str, given: dict[str, int | str]
    ) -> _C.CompiledKernel:
        key = code_cache.cache_key(traced.module, target, given)
        code = code_cache.load(key)
        if code is None:
            code = code_cache.CachedCode.of(_C.compile(traced.module, target, given))
            code_cache.store(key, code)
        self._warn_of(code.notes)
        return _C.CompiledKernel(_C.LaunchPlan.from_bytes(code.plan), code.code_object)

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
        given = self._config_of(traced, target, config if config is not None else self.config)
        kept = [stage for stage in IR_STAGES if stage in wanted or stage in keep_stages]
        result = _C.compile(traced.module, target, given, kept)
        self._warn_of(result.notes)
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

    def _waves_for(self, warps: int, target: str) -> int:
        """As many waves as Helion's `num_warps`, or as the target has."""
        most = _C.target_facts(target).max_waves_per_workgroup
        if warps > most:
            place = self.source.location(self.source.tree)
            warn(self.source.function, helion.too_many_warps(warps, target, most, place))
        return min(warps, most)

    def _config_of(
        self, traced: TracedRegion, target: str, config: Mapping[str, int | str] | None
    ) -> dict[str, int | str]:
        """The entries of a Config that this region has dimensions for, and its fixed sizes."""
        general = {key.suffix for key in _C.config_keys() if not key.per_dimension}
        entries: dict[str, int | str] = dict(traced.block_sizes)
        own = {*traced.dims, *traced.replaced}
        self.dims_of_regions.setdefault(self.symbol, set()).update(own)
        known: set[str] = set().union(*self.dims_of_regions.values())
        tunables = find_tunables(self.source)
        given: dict[str, int | str] = dict(config or {})
        if isinstance(config, Config) and config.positional:
            given = {**block_sizes.named_entries(self.source, traced, config), **given}
        if isinstance(config, Config) and config.warps is not None:
            given["waves"] = self._waves_for(config.warps, target)
        for key, value in given.items():
            dim, dot, suffix = key.partition(".")
            if key in tunables:
                continue
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
        _add_registered(traced, entries)
        return entries


def _add_registered(traced: TracedRegion, entries: dict[str, int | str]) -> None:
    """Completes block sizes of `wl.register_block_size`, which host code knows.

    Raises:
        ConfigError: the Config gives a loop another one
    """
    for name, size in traced.registered.items():
        if entries.setdefault(name, int(size)) != size:
            raise ConfigError(
                f"the Config sets {name}={entries[name]}, but the registered block size"
                f" `{size.name}` of that loop is {int(size)}",
                remedy="give the first loop that has it a size, which all of them get",
            )
