# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What device code reads: numbers, constants, closures, globals, helper functions."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
import wavetile
import wavetile.language as wl

SCALE = 3.0


@wavetile.kernel
def scale_and_shift(x: torch.Tensor, scale: float, shift: int, negate: bool) -> torch.Tensor:
    out = torch.empty_like(x)
    for rows in wl.tile(x.size(0)):
        sign = -1 if negate else 1
        out[rows, :] = (x[rows, :] * scale + shift) * sign
    return out


@pytest.mark.parametrize("negate", [False, True])
@pytest.mark.parametrize("shift", [0, 1, -5, 2**31 + 1])
def test_numbers(shift: int, negate: bool) -> None:
    x = torch.arange(35.0).reshape(5, 7)
    expected = (x * 0.5 + shift) * (-1 if negate else 1)
    assert torch.equal(scale_and_shift(x, 0.5, shift, negate), expected)


@wavetile.kernel
def by_global(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    for rows in wl.tile(x.size(0)):
        out[rows, :] = scaled(x[rows, :])
    return out


def scaled(v: Any) -> Any:
    return v * SCALE


def test_a_changed_global_compiles_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    x = torch.arange(35.0).reshape(5, 7)
    assert torch.equal(by_global(x), x * 3)
    monkeypatch.setitem(globals(), "SCALE", 4.0)
    assert torch.equal(by_global(x), x * 4)
    monkeypatch.setitem(globals(), "scaled", lambda v: v + SCALE)
    assert torch.equal(by_global(x), x + 4)


def make_kernel(factor: float, function: Callable[[Any], Any]) -> wavetile.Kernel:
    @wavetile.kernel
    def kernel(x: torch.Tensor) -> torch.Tensor:
        out = torch.empty_like(x)
        for rows in wl.tile(x.size(0)):
            out[rows, :] = function(x[rows, :]) * factor
        return out

    return kernel


def increment(v: Any) -> Any:
    return v + 1


def test_closures() -> None:
    x = torch.arange(35.0).reshape(5, 7)
    assert torch.equal(make_kernel(2.0, increment)(x), (x + 1) * 2)
    assert torch.equal(make_kernel(5.0, lambda v: v - 2)(x), (x - 2) * 5)


@wavetile.kernel
def by_parameter(x: torch.Tensor, function: Callable[[Any], Any] = torch.relu) -> torch.Tensor:
    out = torch.empty_like(x)
    for rows in wl.tile(x.size(0)):
        out[rows, :] = function(x[rows, :])
    return out


@wavetile.kernel
def by_constant(x: torch.Tensor, function: wl.constexpr) -> torch.Tensor:
    out = torch.empty_like(x)
    for rows in wl.tile(x.size(0)):
        out[rows, :] = function(x[rows, :])
    return out


def test_functions_of_torch_as_arguments(generator: torch.Generator) -> None:
    x = torch.randn(5, 7, generator=generator)
    assert torch.equal(by_parameter(x), torch.relu(x))
    for function in (torch.neg, torch.nn.functional.relu6, torch.abs, abs):
        assert torch.equal(by_parameter(x, function), function(x))
        assert torch.equal(by_constant(x, function), function(x))


@pytest.mark.compiled
def test_functions_of_torch_that_device_code_lacks() -> None:
    x = torch.ones(5, 7)
    with pytest.raises(wavetile.errors.UnsupportedFunctionError, match="ReLU"):
        by_parameter(x, torch.nn.ReLU())
    with pytest.raises(wavetile.errors.UnsupportedFunctionError, match=r"torch\.lgamma"):
        by_constant(x, torch.lgamma)


@wavetile.kernel
def choose(x: torch.Tensor, mode: wl.constexpr) -> torch.Tensor:
    out = torch.empty_like(x)
    for rows in wl.tile(x.size(0)):
        if mode == "double":
            out[rows, :] = x[rows, :] * 2
        elif mode is None:
            out[rows, :] = 0
        else:
            out[rows, :] = x[rows, :] + mode
    return out


def test_constexpr() -> None:
    x = torch.arange(35.0).reshape(5, 7)
    assert torch.equal(choose(x, "double"), x * 2)
    assert torch.equal(choose(x, None), x * 0)
    assert torch.equal(choose(x, 5), x + 5)


@wavetile.kernel
def first_half(x: torch.Tensor) -> torch.Tensor:
    m, n = x.size()
    n = wl.specialize(n)
    out = torch.empty_like(x)
    for rows in wl.tile(m):
        if n % 2 == 0:
            out[rows, :] = x[rows, :] * 2
        else:
            out[rows, :] = x[rows, :] * 3
    return out


def test_specialize() -> None:
    even, odd = torch.arange(40.0).reshape(5, 8), torch.arange(35.0).reshape(5, 7)
    assert torch.equal(first_half(even), even * 2)
    assert torch.equal(first_half(odd), odd * 3)


@wavetile.kernel
def blocks(x: torch.Tensor) -> torch.Tensor:
    size = wl.register_block_size(4, 16)
    out = torch.empty_like(x)
    for rows in wl.tile(x.size(0), block_size=size):
        out[rows, :] = x[rows, :] + 1
    return out


def test_register_block_size() -> None:
    x = torch.arange(245.0).reshape(35, 7)
    assert torch.equal(blocks(x), x + 1)
    assert blocks.bind(x).configs()[0]["rows"] == 16


def test_config_chooses_block_sizes() -> None:
    x = torch.arange(245.0).reshape(35, 7)
    bound = by_global.bind(x, config={"rows": 2})
    assert bound.configs()[0]["rows"] == 2


def test_keyword_and_default_arguments() -> None:
    x = torch.arange(35.0).reshape(5, 7)
    result = scale_and_shift(negate=False, shift=1, scale=2.0, x=x)
    assert torch.equal(result, x * 2 + 1)


def test_wrapper_keeps_host_code() -> None:
    assert scale_and_shift.wrapper_source() == (
        "def scale_and_shift(x: torch.Tensor, scale: float, shift: int, negate: bool)"
        " -> torch.Tensor:\n"
        "    out = torch.empty_like(x)\n"
        "    _wavetile_region_0(x, negate, out, scale, shift)\n"
        "    return out\n"
    )


def test_meta_tensors_compile_without_a_run() -> None:
    x = torch.empty(5, 7, device="meta")
    bound = scale_and_shift.bind(x, 2.0, 3, False)
    assert bound.code_object()[:4] == b"\x7fELF"


def test_kernel_keeps_name_and_docstring() -> None:
    assert scale_and_shift.__name__ == "scale_and_shift"
    assert repr(scale_and_shift) == "<wavetile kernel scale_and_shift>"


@wavetile.kernel(configs=[{"n": 64, "n.strategy": "resident"}, {"n": 256, "n.strategy": "looped"}])
def sum_of_rows(x: torch.Tensor) -> torch.Tensor:
    m, n = x.size()
    out = torch.empty([m], dtype=x.dtype)
    for rows in wl.tile(m):
        out[rows] = x[rows, :].sum(-1)
    return out


def test_the_first_config_whose_limits_hold_serves() -> None:
    for n in (64, 640):
        x = torch.arange(3 * n).remainder(7).reshape(3, n).float()
        assert torch.equal(sum_of_rows(x), x.sum(-1))


@pytest.mark.compiled
def test_a_config_that_is_refused_is_passed_over() -> None:
    # No lane has the registers for this row.
    kernel = wavetile.kernel(configs=[{"n": 2**20, "rows": 64}, {"n": 64}])
    x = torch.ones(3, 64)
    assert torch.equal(kernel(sum_of_rows.source.function)(x), x.sum(-1))
    with pytest.raises(wavetile.errors.CompilationError, match="does not fit in registers"):
        wavetile.kernel(configs=[{"n": 2**20, "rows": 64}])(sum_of_rows.source.function)(x)


@wavetile.kernel
def shared_size(x: torch.Tensor, out: torch.Tensor) -> None:
    size = wl.register_block_size(8, 32)
    for rows in wl.tile(x.size(0), block_size=size):
        for cols in wl.tile(x.size(1), block_size=size):
            out[rows, cols] = x[rows, cols]


def test_loops_share_a_registered_block_size() -> None:
    x = torch.ones(40, 40)
    bound = shared_size.bind(x, x, config={"cols": 16})
    assert (bound.configs()[0]["rows"], bound.configs()[0]["cols"]) == (16, 16)
    with pytest.raises(wavetile.errors.ConfigError, match="between 8 and 32"):
        shared_size.bind(x, x, config={"rows": 64})


@wavetile.kernel
def split_sum(x: torch.Tensor) -> torch.Tensor:
    """The sums of rows, each by several blocks."""
    m, n = x.size()
    parts = wl.register_tunable("parts", wavetile.PowerOfTwoFragment(1, 16, 4))
    part = -(-n // parts)
    partial = torch.zeros([m, parts], dtype=x.dtype)
    for rows, outer in wl.tile([m, n], block_size=[None, part]):
        total = wl.zeros([rows])
        for inner in wl.tile(outer.begin, outer.end):
            total += x[rows, inner].sum(-1)
        partial[rows, outer.id] = total
    return partial.sum(-1)


def test_register_tunable() -> None:
    x = torch.arange(3 * 200).remainder(7).reshape(3, 200).float()
    function = split_sum.source.function
    for config, blocks in (({}, 4), ({"parts": 1}, 1), ({"parts": 16}, 16)):
        kernel = wavetile.kernel(config=config)(function)
        assert torch.equal(kernel(x), x.sum(-1))
        bound = split_sum.bind(x, config=config)
        assert bound.configs()[0]["outer"] == -(-200 // blocks)
    with pytest.raises(wavetile.errors.ConfigError, match="parts=3, which is not a power of two"):
        split_sum.bind(x, config={"parts": 3})
