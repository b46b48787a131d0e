# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The decorator that makes a kernel of a function."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Generic, ParamSpec, TypeVar, overload

from wavetile import _C, block_sizes, eager, errors, helion, tunables
from wavetile.backward import Backward
from wavetile.bound import BoundKernel, BoundRegion
from wavetile.compiler import RegionCompiler
from wavetile.config import Config, Settings
from wavetile.devices import devices
from wavetile.errors import ArgumentError, ConfigError
from wavetile.structure import is_structured
from wavetile.syntax.regions import Region, find_regions, find_tunables
from wavetile.syntax.source import FunctionSource, read_function
from wavetile.wrapper import Wrapper

P = ParamSpec("P")
R = TypeVar("R")


class Kernel(Generic[P, R]):
    """A function whose loops over `wl.tile` run on a GPU. Made by `@wavetile.kernel`.

    Calling it compiles it for these arguments, if that has not been done, and runs it. Compiled
    code is kept and serves every call for which what it relies on holds.

    Attributes:
        settings: what the user wants
        configs: how to compile, as far as it is not left to the compiler, in order of preference
        backward: how its gradients are computed, or None

    Example:
        print(softmax.bind(x, target="gfx950").explain())
    """

    __name__: str

    def __init__(
        self, function: types.FunctionType, settings: Settings, configs: Sequence[Config] = ()
    ) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        self.settings = settings
        self.configs = list(configs)
        self.backward: Backward | None = None

    @property
    def fn(self) -> types.FunctionType:
        """The function that was decorated."""
        return self._function

    def __repr__(self) -> str:
        return f"<wavetile kernel {self._function.__qualname__}>"

    @functools.cached_property
    def source(self) -> FunctionSource:
        """The kernel's syntax tree."""
        return read_function(self._function)

    @functools.cached_property
    def regions(self) -> list[Region]:
        """The runs of top-level loops that become device code."""
        return find_regions(self.source)

    @functools.cached_property
    def _wrapper(self) -> Wrapper:
        return Wrapper(self.source, self.regions)

    @functools.cached_property
    def _compilers(self) -> list[RegionCompiler]:
        dims_of_regions: dict[str, set[str]] = {}
        count = len(self.regions)
        return [
            RegionCompiler(self.source, region, count, self.settings, self.configs, dims_of_regions)
            for region in self.regions
        ]

    @functools.cached_property
    def _launchers(self) -> list[_C.Launcher]:
        return [compiler.with_launcher(self._make_launcher) for compiler in self._compilers]

    def _make_launcher(self, compiler: RegionCompiler) -> _C.Launcher:
        return _C.Launcher(
            compiler.symbol,
            [parameter.name for parameter in compiler.region.parameters],
            [parameter.kind for parameter in compiler.region.parameters],
            compiler,
            devices(),
            errors,
            self.settings.target,
        )

    @functools.cached_property
    def _run(self) -> Callable[..., Any]:
        return self._wrapper.function(self._launchers)

    @functools.cached_property
    def _run_nothing(self) -> Callable[..., Any]:
        return self._wrapper.function([lambda *values: None] * len(self.regions))

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Runs the kernel.

        Results require gradients if `register_backward` says how they are computed.

        Raises:
            WavetileError: the kernel has mistakes, cannot be compiled, or fails on the device
        """
        if self.backward is not None:
            return self.backward.call(self, args, kwargs)
        return self.compute(*args, **kwargs)

    def compute(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Runs the kernel without a thought of gradients. Raises as a call does."""
        if self.settings.interpret:
            chosen = self.configs[0] if self.configs else {}
            token = tunables.CURRENT.set(chosen)
            try:
                return eager.run(self._function, args, kwargs)
            finally:
                tunables.CURRENT.reset(token)
        if not self._has_choices:
            return self._run(*args, **kwargs)
        return self._with_config(self._run, self.configs[0] if self.configs else {}, args, kwargs)

    @functools.cached_property
    def _has_choices(self) -> bool:
        """Whether host code asks for what a Config chooses."""
        registered = block_sizes.block_sizes(self.source).registered
        return bool(find_tunables(self.source) or registered)

    def _with_config(
        self,
        function: Callable[..., Any],
        config: Mapping[str, int | str],
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
    ) -> Any:
        """Calls host code whose tunables and registered block sizes this Config chooses."""
        token = tunables.CURRENT.set(config)
        sizes = block_sizes.registered_sizes(self.source, config)
        sizes_token = tunables.BLOCK_SIZES.set(sizes)
        try:
            return function(*args, **kwargs)
        finally:
            tunables.BLOCK_SIZES.reset(sizes_token)
            tunables.CURRENT.reset(token)

    def fake(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """What a call gives, but for the numbers: host code runs, device code does not.

        Meant for fake and meta tensors, whose sizes may be symbolic.
        """
        return self._run_nothing(*args, **kwargs)

    def register_backward(
        self, function: Callable[..., Any], *, setup_context: Callable[..., None] | None = None
    ) -> None:
        """Says how gradients of the kernel's arguments are computed.

        Args:
            function: called as `function(ctx, *grads)` with a gradient for each result; returns
                a gradient for each argument, or None for one that has no gradient
            setup_context: called as `setup_context(ctx, inputs, output)` after the kernel, with
                all arguments in the order of the parameters, to save what `function` needs

        Both are as `torch.library.register_autograd` takes them.

        Example:
            def setup_context(ctx, inputs, output):
                ctx.save_for_backward(output)

            def backward(ctx, grad):
                (y,) = ctx.saved_tensors
                return softmax_gradient(y, grad)

            softmax.register_backward(backward, setup_context=setup_context)
        """
        self.backward = Backward(function, setup_context)

    def bind(
        self,
        *args: Any,
        target: str | None = None,
        config: Config | Mapping[str, int | str] | None = None,
        **kwargs: Any,
    ) -> BoundKernel:
        """Compiles the kernel for arguments without running it.

        Host code runs, device code does not. Meta tensors will do: they stand for aligned
        tensors that do not overlap.

        Args:
            args, kwargs: the arguments of a call
            target: the GPU to compile for; without it that of the settings or the device
            config: the Config; without it the kernel's own, the first of several

        Raises:
            WavetileError: the kernel has mistakes or cannot be compiled
        """
        if config is not None and not isinstance(config, Config):
            config = Config(config)
        bound: list[BoundRegion] = []

        def recorder(launcher: _C.Launcher, compiler: RegionCompiler) -> Callable[..., None]:
            def record(*values: Any) -> None:
                taker, taking, flat = compiler, launcher, list(values)
                if any(map(is_structured, values)):
                    taker, taking, flat = compiler.resolve(values)
                specialisation = taking.specialise(*flat)
                integers = taking.integers(*flat)
                compiled = taker.compile(specialisation, integers, target=target, config=config)
                bound.append(BoundRegion(compiled, specialisation, tuple(integers)))

            return record

        recorders = map(recorder, self._launchers, self._compilers)
        own = self.configs[0] if self.configs else {}
        chosen = config if config is not None else own
        self._with_config(self._wrapper.function(list(recorders)), chosen, args, kwargs)
        return BoundKernel(self, bound)

    def wrapper_source(self) -> str:
        """The source of the wrapper: host code, with a call for each region."""
        return self._wrapper.text


#: The decorator's own options.
_OPTIONS = ("config", "configs", *Settings.names())


@overload
def kernel(
    function: Callable[P, R],
    *,
    config: Config | Mapping[str, int | str] | None = None,
    configs: Sequence[Config | Mapping[str, int | str]] | None = None,
    target: str | None = None,
    fast_math: bool = True,
    interpret: bool | None = None,
    **options: Any,
) -> Kernel[P, R]: ...


@overload
def kernel(
    *,
    config: Config | Mapping[str, int | str] | None = None,
    configs: Sequence[Config | Mapping[str, int | str]] | None = None,
    target: str | None = None,
    fast_math: bool = True,
    interpret: bool | None = None,
    **options: Any,
) -> Callable[[Callable[P, R]], Kernel[P, R]]: ...


def kernel(
    function: Callable[..., Any] | None = None,
    *,
    config: Config | Mapping[str, int | str] | None = None,
    configs: Sequence[Config | Mapping[str, int | str]] | None = None,
    target: str | None = None,
    fast_math: bool = True,
    interpret: bool | None = None,
    **options: Any,
) -> Kernel[..., Any] | Callable[[Callable[..., Any]], Kernel[..., Any]]:
    """Makes a kernel of a function.

    Each `for ... in wl.tile(...)` loop in the body of the function becomes device code; the rest
    is host code and runs as it stands.

    Args:
        config: how to compile the kernel; what it leaves out is chosen by the compiler
        configs: several Configs in order of preference: a call takes the first that the target's
            compiler accepts and whose limits (the capacity of a resident row) hold for it
        function: the function; without it, this is a decorator with options
        target, fast_math, interpret: see `Settings`
        options: options of Helion's decorator, which mean nothing here and warn

    Returns:
        the kernel, which is called as the function is

    Raises:
        ConfigError: a Config or an option that does not exist, or both `config` and `configs`
        ArgumentError: what is decorated is not a function

    Example:
        @wavetile.kernel(config=wavetile.Config(rows=4))
        def double(x: torch.Tensor) -> torch.Tensor:
            out = torch.empty_like(x)
            for rows in wl.tile(x.size(0)):
                out[rows, :] = x[rows, :] * 2
            return out
    """
    if configs and config is not None:
        raise ConfigError(
            "both config and configs are given",
            remedy="give one as config=wavetile.Config(...), or several as configs=[...]",
        )
    if config is not None:
        configs = [config]
    candidates = [c if isinstance(c, Config) else Config(c) for c in configs or ()]
    helion.check_options(options, _OPTIONS, 2)
    settings = Settings(target=target, fast_math=fast_math)
    if interpret is not None:
        settings = replace(settings, interpret=interpret)

    def decorate(decorated: Callable[..., Any]) -> Kernel[..., Any]:
        if not isinstance(decorated, types.FunctionType):
            raise ArgumentError(
                f"@wavetile.kernel decorates a function, not {type(decorated).__name__}"
            )
        return Kernel(decorated, settings, candidates)

    return decorate if function is None else decorate(function)


#: Helion's other names of the decorator; `aot_kernel` says there how kernels are tuned.
jit = aot_kernel = kernel
