# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Row kernels on every target in every strategy, with NaN beyond every extent."""

import re
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812 (its usual name)
import wavetile
import wavetile.language as wl
from wavetile.testing import assert_close

from .end_to_end import WAVE_SIZES, assert_untouched, launch_log, on, surrounded

# Each strategy with the Config that forces it and row lengths that it serves: one element, around a
# vector, around what all its lanes hold at once, and primes.
STRATEGIES: dict[str, tuple[dict[str, int | str], list[tuple[int, int]]]] = {
    "rows share a wave": ({"rows": 16, "n": 64, "waves": 1}, [(1, 1), (17, 31), (37, 64)]),
    "a wave per row": ({"rows": 4, "n": 1024, "waves": 4}, [(3, 1), (5, 513), (7, 1021)]),
    "several rows per wave": ({"rows": 6, "n": 512, "waves": 2}, [(1, 7), (13, 509)]),
    "a block per row": ({"rows": 1, "n": 2048, "waves": 4}, [(2, 65), (3, 2039), (1, 2048)]),
    "looped by a block": (
        {"rows": 1, "n.strategy": "looped", "n": 1024, "waves": 4},
        [(1, 1), (3, 1023), (2, 1025), (5, 3083)],
    ),
    "looped by a wave": (
        {"rows": 4, "n.strategy": "looped", "n": 256, "waves": 4},
        [(5, 255), (3, 257), (2, 1033)],
    ),
    "grid": (
        {"rows": 1, "n.strategy": "grid", "n": 512, "n.blocks": 4, "waves": 2},
        [(3, 1), (2, 2049), (4, 4099)],
    ),
}

EACH_STRATEGY = pytest.mark.parametrize("strategy", list(STRATEGIES))


@wavetile.kernel
def softmax(x: torch.Tensor, out: torch.Tensor) -> None:
    m, n = x.size()
    for rows in wl.tile(m):
        v = x[rows, :].to(torch.float32)
        e = torch.exp(v - torch.amax(v, dim=-1, keepdim=True))
        out[rows, :] = (e / e.sum(dim=-1, keepdim=True)).to(x.dtype)


@wavetile.kernel
def softmax_function(x: torch.Tensor, out: torch.Tensor) -> None:
    m, n = x.size()
    for rows in wl.tile(m):
        out[rows, :] = torch.softmax(x[rows, :], dim=-1)


@wavetile.kernel
def rms_norm(x: torch.Tensor, weight: torch.Tensor, out: torch.Tensor) -> None:
    m, n = x.size()
    for rows in wl.tile(m):
        v = x[rows, :].to(torch.float32)
        scale = torch.rsqrt(torch.mean(v * v, dim=-1, keepdim=True) + 1e-5)
        out[rows, :] = (v * scale * weight[:].to(torch.float32)).to(x.dtype)


@wavetile.kernel
def layer_norm(x: torch.Tensor, weight: torch.Tensor, out: torch.Tensor) -> None:
    m, n = x.size()
    for rows in wl.tile(m):
        v = x[rows, :].to(torch.float32)
        variance = torch.var(v, dim=-1, keepdim=True, correction=0)
        normal = (v - v.mean(-1, keepdim=True)) * torch.rsqrt(variance + 1e-5)
        out[rows, :] = (normal * weight[:].to(torch.float32)).to(x.dtype)


def softmax_reference(x: torch.Tensor) -> torch.Tensor:
    return torch.softmax(x, -1)


def rms_norm_reference(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    return F.rms_norm(x, weight.shape, weight, 1e-5)


def layer_norm_reference(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    return F.layer_norm(x, weight.shape, weight, None, 1e-5)


ROW_KERNELS = [
    (softmax, softmax_reference),
    (softmax_function, softmax_reference),
    (rms_norm, rms_norm_reference),
    (layer_norm, layer_norm_reference),
]


@EACH_STRATEGY
@pytest.mark.parametrize(("kernel", "reference"), ROW_KERNELS, ids=lambda value: value.__name__)
def test_row_kernels(
    kernel: wavetile.Kernel,
    reference: Callable[..., torch.Tensor],
    strategy: str,
    target: str,
    generator: torch.Generator,
) -> None:
    config, shapes = STRATEGIES[strategy]
    run = on(kernel, target, config)
    for shape, dtype in zip(shapes, [torch.float32, torch.bfloat16] * 2, strict=False):
        inputs = [torch.randn(shape, generator=generator).to(dtype)]
        if "weight" in kernel.source.function.__annotations__:
            inputs.append(torch.randn(shape[-1:], generator=generator).to(dtype))
        out = surrounded(torch.full(shape, 77.0, dtype=dtype))
        run(*map(surrounded, inputs), out)
        wanted = reference(*(value.double() for value in inputs))
        assert_close(out, wanted, length=shape[-1], c=2.0)
        assert_untouched(out)


@EACH_STRATEGY
def test_strategies_are_what_they_are_called(strategy: str, target: str) -> None:
    """The tests above mean nothing if a Config is not what is run."""
    config, shapes = STRATEGIES[strategy]
    run = on(softmax, target, config)
    x = torch.zeros(shapes[-1])
    with launch_log() as log:
        run(x, torch.empty_like(x))
    assert {entry["target"] for entry in log} == {target}
    bound = run.bind(x, x.clone())
    assert bound.configs()[0].items() >= config.items()
    text = bound.ir("bound")
    # Only a row that is not held whole is walked in steps.
    assert ("tile.for" in text) == ("n.strategy" in config)
    lanes = [int(value) for value in re.findall(r"tile\.row_lanes = (\d+)", text)]
    waves = [int(value) for value in re.findall(r"tile\.row_waves = (\d+)", text)]
    full = WAVE_SIZES[target]
    # Blocks that share a row combine its maximum, then its sum, then store.
    assert len(log) == len(bound.plan().kernel_names) == (3 if strategy == "grid" else 1)
    if strategy == "rows share a wave":
        assert max(lanes) < full
        assert max(waves) == 1
    elif "wave" in strategy:
        assert lanes == [full]
        assert waves == [1]
    elif "block" in strategy:
        assert lanes == [full]
        assert waves == [4]


@wavetile.kernel
def reduce_rows(
    x: torch.Tensor, out: torch.Tensor, function: wl.constexpr, keepdim: wl.constexpr
) -> None:
    m, n = x.size()
    for rows in wl.tile(m):
        if keepdim:
            out[rows, 0] = function(x[rows, :], True)[:, 0]
        else:
            out[rows] = function(x[rows, :], False)


def total(v: Any, keep: bool) -> Any:
    return v.sum(-1, keepdim=keep)


def mean(v: Any, keep: bool) -> Any:
    return v.mean(dim=1, keepdim=keep)


def amax(v: Any, keep: bool) -> Any:
    return torch.amax(v, -1, keepdim=keep)


def amin(v: Any, keep: bool) -> Any:
    return torch.amin(v, dim=-1, keepdim=keep)


def argmax(v: Any, keep: bool) -> Any:
    return torch.argmax(v, dim=-1, keepdim=keep)


def product(v: Any, keep: bool) -> Any:
    return torch.prod(v, -1, keepdim=keep)


def variance(v: Any, keep: bool) -> Any:
    return torch.var(v, dim=-1, correction=0, keepdim=keep)


def sample_variance(v: Any, keep: bool) -> Any:
    return torch.var(v, dim=-1, keepdim=keep)


@EACH_STRATEGY
@pytest.mark.parametrize(
    "function", [total, mean, amax, amin, argmax, product, variance, sample_variance]
)
def test_reductions(
    function: Callable[..., Any], strategy: str, target: str, generator: torch.Generator
) -> None:
    config, shapes = STRATEGIES[strategy]
    run = on(reduce_rows, target, config)
    for shape, dtype in zip(shapes, [torch.bfloat16, torch.float32] * 2, strict=False):
        x = torch.randn(shape, generator=generator)
        if function is product:
            x = 1 + x / 64
        x = x.to(dtype)
        wanted = function(x, False)
        out = surrounded(torch.full(wanted.shape, 77, dtype=wanted.dtype))
        run(surrounded(x), out, function, False)
        if wanted.dtype.is_floating_point:
            expected = function(x.double(), False)
            assert_close(out, expected, length=shape[-1], c=2.0)
        else:
            assert torch.equal(out, wanted)
        assert_untouched(out)


@pytest.mark.parametrize("function", [total, amax, argmax, variance])
def test_reductions_that_keep_the_dimension(
    function: Callable[..., Any], target: str, generator: torch.Generator
) -> None:
    x = torch.randn(13, 257, generator=generator)
    wanted = function(x, True)
    out = torch.full_like(wanted, 77)
    keep_dimension = on(keep, target)
    keep_dimension(surrounded(x), out, function)
    assert_close(out, function(x.double(), True), length=257, c=2.0)


@wavetile.kernel
def keep(x: torch.Tensor, out: torch.Tensor, function: wl.constexpr) -> None:
    m, n = x.size()
    for rows in wl.tile(m):
        out[rows, :] = function(x[rows, :], True)


@EACH_STRATEGY
@pytest.mark.parametrize("dtype", [torch.int32, torch.int64, torch.bool])
def test_integer_reductions_are_exact(
    dtype: torch.dtype, strategy: str, target: str, generator: torch.Generator
) -> None:
    config, shapes = STRATEGIES[strategy]
    shape = shapes[-1]
    x = torch.randint(-3, 5, shape, generator=generator).to(dtype)
    for function in (total, amax) if dtype != torch.bool else (total,):
        wanted = function(x, False)
        out = torch.full_like(wanted, 77)
        on(reduce_rows, target, config)(surrounded(x), out, function, False)
        assert torch.equal(out, wanted), function.__name__


@EACH_STRATEGY
@pytest.mark.parametrize("function", [total, mean, amax, amin, argmax])
def test_special_values_in_rows(
    function: Callable[..., Any], strategy: str, target: str, generator: torch.Generator
) -> None:
    config, shapes = STRATEGIES[strategy]
    columns = shapes[-1][1]
    x = torch.randn(6, columns, generator=generator)
    x[0] = -torch.inf
    x[1] = torch.inf
    x[2] = torch.nan
    x[3, -1] = torch.nan
    x[4, columns // 2] = torch.nan
    x[4, 0] = torch.inf
    x[5, columns // 3] = -torch.inf
    for fast_math in (False, True):
        wanted = function(x, False)
        out = torch.full_like(wanted, 77)
        on(reduce_rows, target, config, fast_math)(surrounded(x), out, function, False)
        assert_close(out, function(x.double(), False), length=columns, c=2.0)


@EACH_STRATEGY
@pytest.mark.parametrize("kernel", [softmax, softmax_function])
@pytest.mark.parametrize("fast_math", [False, True])
def test_softmax_of_special_rows(
    kernel: wavetile.Kernel,
    fast_math: bool,
    strategy: str,
    target: str,
    generator: torch.Generator,
) -> None:
    config, shapes = STRATEGIES[strategy]
    columns = shapes[-1][1]
    x = torch.randn(6, columns, generator=generator)
    x[0] = -torch.inf
    x[1] = torch.inf
    x[2] = torch.nan
    x[3, -1] = torch.nan
    x[4, 1:] = -torch.inf
    x[5] *= 1e30
    out = torch.full_like(x, 77)
    on(kernel, target, config, fast_math)(surrounded(x), out)
    assert_close(out, torch.softmax(x.double(), -1), length=columns, c=2.0)


@wavetile.kernel
def online_softmax(x: torch.Tensor, out: torch.Tensor) -> None:
    m, n = x.size()
    for rows in wl.tile(m):
        highest = wl.full([rows], float("-inf"), dtype=torch.float32)
        total = wl.zeros([rows], dtype=torch.float32)
        for cols in wl.tile(n):
            v = x[rows, cols].to(torch.float32)
            larger = torch.maximum(highest, torch.amax(v, dim=1))
            total = total * torch.exp(highest - larger)
            total = total + torch.exp(v - larger[:, None]).sum(dim=1)
            highest = larger
        for cols in wl.tile(n):
            v = x[rows, cols].to(torch.float32)
            out[rows, cols] = (torch.exp(v - highest[:, None]) / total[:, None]).to(x.dtype)


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"rows": 4, "cols": 128, "waves": 1},
        {"rows": 1, "cols": 512, "waves": 4},
        {"rows": 32, "cols": 32, "waves": 2},
    ],
)
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32])
def test_online_softmax(
    config: dict[str, int], dtype: torch.dtype, target: str, generator: torch.Generator
) -> None:
    for shape in [(1, 1), (3, 127), (5, 513), (33, 131)]:
        x = torch.randn(shape, generator=generator).to(dtype)
        out = surrounded(torch.full(shape, 77.0, dtype=dtype))
        on(online_softmax, target, config)(surrounded(x), out)
        assert_close(out, torch.softmax(x.double(), -1), length=shape[1], c=2.0)
        assert_untouched(out)


# (before, after, step, order): an offset that breaks alignment, odd strides, columns innermost.
VIEWS = [
    {"before": 1, "after": 2},
    {"before": 3, "after": 4, "step": 3},
    {"before": 0, "after": 7, "order": "columns"},
    {"before": 5, "after": 6, "step": 2, "order": "columns"},
]


@pytest.mark.parametrize("of_source", VIEWS)
@pytest.mark.parametrize("of_result", VIEWS[:3])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_views(
    of_source: dict[str, Any],
    of_result: dict[str, Any],
    dtype: torch.dtype,
    target: str,
    generator: torch.Generator,
) -> None:
    shape = (11, 263)
    x = torch.randn(shape, generator=generator).to(dtype)
    out = surrounded(torch.full(shape, 77.0, dtype=dtype), **of_result)
    on(softmax, target)(surrounded(x, **of_source), out)
    assert_close(out, torch.softmax(x.double(), -1), length=shape[1], c=2.0)
    assert_untouched(out)


@pytest.mark.parametrize("shape", [(0, 5), (5, 0), (0, 0)])
def test_rows_without_elements(shape: tuple[int, int], target: str) -> None:
    out = torch.empty(shape)
    on(softmax, target)(torch.empty(shape), out)
    for function, of_nothing in [(total, 0.0), (product, 1.0)]:
        out = torch.full(shape[:1], 77.0)
        on(reduce_rows, target)(torch.empty(shape), out, function, False)
        expected = torch.full_like(out, of_nothing) if shape[1] == 0 else out
        assert torch.equal(out, expected)


@EACH_STRATEGY
@pytest.mark.parametrize("kernel", [softmax, softmax_function])
def test_result_is_the_source(
    kernel: wavetile.Kernel, strategy: str, target: str, generator: torch.Generator
) -> None:
    """A strategy that would read a row again after storing parts of it must refuse."""
    config, shapes = STRATEGIES[strategy]
    x = torch.randn(shapes[-1], generator=generator)
    expected = torch.softmax(x.double(), -1)
    if "n.strategy" in config:
        before = x.clone()
        with pytest.raises(wavetile.errors.CompilationError, match="may overlap"):
            on(kernel, target, config)(x, x)
        assert torch.equal(x, before)
    else:
        on(kernel, target, config)(x, x)
        assert_close(x, expected, length=x.size(1), c=2.0)


@pytest.mark.parametrize("columns", [1, 77, 4097, 12345])
def test_result_is_the_source_without_a_config(
    columns: int, target: str, generator: torch.Generator
) -> None:
    x = torch.randn(5, columns, generator=generator)
    expected = torch.softmax(x.double(), -1)
    on(softmax, target)(x, x)
    assert_close(x, expected, length=columns, c=2.0)


@wavetile.kernel
def count(x: torch.Tensor, out: torch.Tensor) -> None:
    m, n = x.size()
    for rows in wl.tile(m):
        out[rows] = wl.full([rows, n], 1.0).sum(-1) + x[rows, :].sum(-1)


@EACH_STRATEGY
def test_a_row_of_ones_sums_to_its_length(strategy: str, target: str) -> None:
    config, shapes = STRATEGIES[strategy]
    for shape in shapes:
        out = torch.full(shape[:1], 77.0)
        on(count, target, config)(surrounded(torch.zeros(shape)), out)
        assert torch.equal(out, torch.full(shape[:1], float(shape[1])))


@EACH_STRATEGY
def test_two_runs_give_equal_bits(strategy: str, target: str, generator: torch.Generator) -> None:
    config, shapes = STRATEGIES[strategy]
    x = torch.randn(shapes[-1], generator=generator)
    results = []
    for _ in range(2):
        out = torch.full_like(x, 77)
        on(softmax, target, config)(x, out)
        results.append(out.view(torch.int32))
    assert torch.equal(*results)


@wavetile.kernel
def sum_rows(x: torch.Tensor, out: torch.Tensor) -> None:
    m, n = x.size()
    for rows in wl.tile(m):
        out[rows] = x[rows, :].to(torch.float32).sum(-1)


@pytest.mark.parametrize("kernel", [rms_norm, sum_rows])
def test_a_few_long_rows_are_shared_by_blocks(
    kernel: wavetile.Kernel, target: str, generator: torch.Generator
) -> None:
    """The compiler's own choice: one plan of two kernels with scratch."""
    x = torch.randn(4, 1_000_000, generator=generator).to(torch.bfloat16)
    run = on(kernel, target)
    if kernel is sum_rows:
        arguments, wanted = [x], x.double().sum(-1)
        out = torch.full([4], 77.0)
    else:
        weight = torch.randn(1_000_000, generator=generator).to(torch.bfloat16)
        arguments, wanted = [x, weight], rms_norm_reference(x.double(), weight.double())
        out = torch.full_like(x, 77)
    with launch_log() as log:
        run(*arguments, out)
    assert len(log) == 2
    assert log[0]["workgroups"] > 8
    plan = run.bind(*arguments, out).plan()
    assert len(plan.kernel_names) == 2
    assert "scratch" in str(plan)
    assert_close(out, wanted, length=x.size(1), c=2.0)
