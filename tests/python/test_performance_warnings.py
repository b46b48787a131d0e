# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What is legal and slow warns, once and with its line; what is neither does not."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

import pytest
import torch
import wavetile
import wavetile.language as wl
from wavetile import _C, code_cache
from wavetile.cache import Cache
from wavetile.errors import PerformanceWarning
from wavetile.kernels.layer_norm import layer_norm_rows
from wavetile.kernels.matmul import matmul
from wavetile.kernels.rms_norm import rms_norm_rows
from wavetile.kernels.softmax import softmax_rows

TARGETS = ["gfx942", "gfx950", "gfx1150"]


def seen(
    kernel: wavetile.Kernel,
    *args: Any,
    target: str = "gfx950",
    config: Mapping[str, int | str] | None = None,
) -> list[PerformanceWarning]:
    """The warnings of a compilation."""
    return told(lambda: kernel.bind(*args, target=target, config=config), "always")


def told(run: Callable[[], Any], action: Literal["always", "default"]) -> list[PerformanceWarning]:
    """The warnings of a call, under a filter."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter(action)
        run()
    return [w.message for w in caught if isinstance(w.message, PerformanceWarning)]


def only(found: list[PerformanceWarning]) -> PerformanceWarning:
    """The only warning, which stands at a line with `# here`."""
    (warning,) = found
    assert warning.location is not None
    assert warning.location.file == __file__
    assert "# here" in warning.location.excerpt()
    assert warning.remedy
    return warning


def empty(*sizes: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.empty(*sizes, dtype=dtype, device="meta")


def test_a_load_along_no_dimension_of_stride_one() -> None:
    @wavetile.kernel
    def sums(x: torch.Tensor, out: torch.Tensor) -> None:
        for rows in wl.tile(x.size(0)):
            out[rows] = x[rows, :].sum(-1)  # here

    text = only(seen(sums, empty(64, 8192)[:, ::2], empty(64))).message
    assert "this load moves single elements" in text
    assert "no dimension of the tile runs along one of `x` whose stride is 1" in text
    assert seen(sums, empty(64, 4096), empty(64)) == []
    assert seen(sums, empty(4096, 64).t(), empty(64)) == []


def test_a_gather_and_a_mask_and_an_index_below_zero() -> None:
    @wavetile.kernel
    def gathered(x: torch.Tensor, places: torch.Tensor, out: torch.Tensor) -> None:
        for i in wl.tile(out.size(0)):
            out[i] = x[places[i]]  # here

    @wavetile.kernel
    def masked(x: torch.Tensor, out: torch.Tensor) -> None:
        for i in wl.tile(out.size(0)):
            out[i] = wl.load(x, [i], extra_mask=i.index % 3 == 0)  # here

    @wavetile.kernel
    def moved(x: torch.Tensor, out: torch.Tensor) -> None:
        for i in wl.tile(out.size(0)):
            out[i] = x[i - 1]  # here

    x, places = empty(1 << 20), empty(1 << 20, dtype=torch.int32)
    assert "are given one by one" in only(seen(gathered, x, places, x.clone())).message
    assert "a mask may differ" in only(seen(masked, x, x.clone())).message
    assert "may be negative" in only(seen(moved, x, x.clone())).message


def test_rows_that_are_gathered_are_vectors() -> None:
    @wavetile.kernel
    def embedding(table: torch.Tensor, places: torch.Tensor, out: torch.Tensor) -> None:
        for rows, cols in wl.tile(out.size()):
            out[rows, cols] = table[places[rows], cols]

    places = empty(512, dtype=torch.int64)
    assert seen(embedding, empty(1000, 1024), places, empty(512, 1024)) == []


@pytest.mark.parametrize("target", ["gfx942", "gfx950"])
def test_a_product_of_f32_on_a_slow_matrix_instruction(target: str) -> None:
    @wavetile.kernel
    def product(x: torch.Tensor, y: torch.Tensor, out: torch.Tensor) -> None:
        for rows, cols in wl.tile(out.size()):
            acc = wl.zeros([rows, cols])
            for k in wl.tile(x.size(1)):
                acc = wl.dot(x[rows, k], y[k, cols], acc)  # here
            out[rows, cols] = acc

    x, narrow = empty(256, 256), empty(256, 256, dtype=torch.bfloat16)
    assert seen(product, narrow, narrow.clone(), x, target=target) == []
    text = only(seen(product, x, x.clone(), x.clone(), target=target)).message
    assert "times as long as one of 16-bit floats" in text


def test_what_a_place_said_is_not_said_again_unless_asked_for() -> None:
    @wavetile.kernel
    def squared(x: torch.Tensor, out: torch.Tensor) -> None:
        for rows, cols in wl.tile(out.size()):
            acc = wl.zeros([rows, cols])
            for k in wl.tile(x.size(1)):
                acc = wl.dot(x[rows, k], x[k, cols], acc)  # here
            out[rows, cols] = acc

    def thrice() -> None:
        for size in (256, 256, 512):
            squared.bind(empty(size, size), empty(size, size), target="gfx950")

    assert len(told(thrice, "always")) == 3
    only(told(thrice, "default"))


def test_code_from_the_cache_says_what_it_said_when_it_was_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gathered(x: torch.Tensor, places: torch.Tensor, out: torch.Tensor) -> None:
        for i in wl.tile(out.size(0)):
            out[i] = x[places[i]]  # here

    cache = Cache(tmp_path)
    monkeypatch.setattr(code_cache, "_cache", lambda: cache)
    compilations: list[object] = []
    compile_module = _C.compile

    def count(*args: Any) -> Any:
        compilations.append(args)
        return compile_module(*args)

    monkeypatch.setattr(_C, "compile", count)
    x, places = torch.randn(4096), torch.randint(4096, (4096,), dtype=torch.int32)
    found = []
    for _ in range(2):
        # As in a process of its own, where nothing was compiled.
        kernel, out = wavetile.kernel(gathered), torch.empty(4096)
        found.append(only(told(functools.partial(kernel, x, places, out), "default")))
        assert torch.equal(out, x[places])
    assert len(compilations) == 1
    assert str(found[0]) == str(found[1])


def product_of(a: torch.Tensor, b: torch.Tensor, acc: torch.Tensor) -> torch.Tensor:
    return wl.dot(a, b, acc)  # here


def test_a_warning_in_a_helper_names_the_calls_that_lead_there() -> None:
    @wavetile.kernel
    def product(x: torch.Tensor, out: torch.Tensor) -> None:
        for rows, cols in wl.tile(out.size()):
            acc = wl.zeros([rows, cols])
            for k in wl.tile(x.size(1)):
                acc = product_of(x[rows, k], x[k, cols], acc)
            out[rows, cols] = acc

    warning = only(seen(product, empty(256, 256), empty(256, 256)))
    assert warning.location is not None
    caller = warning.location.caller
    assert caller is not None
    assert "product_of(x[rows, k], x[k, cols], acc)" in caller.excerpt()
    assert f"called from {__file__}:{caller.line}" in str(warning)
    # The carets are under the product, and not under the comment behind it.
    text, carets = (line.split("| ", 1)[1] for line in warning.location.excerpt().splitlines())
    assert text[carets.index("^") : len(carets)] == "wl.dot(a, b, acc)"


def test_f64_on_a_target_that_hardly_has_it() -> None:
    @wavetile.kernel
    def doubled(x: torch.Tensor) -> None:
        for i in wl.tile(x.size(0)):
            x[i] = x[i] * 2  # here

    x = empty(4096, dtype=torch.float64)
    assert seen(doubled, x, target="gfx942") == []
    assert "gfx1150 computes f64 at" in only(seen(doubled, x, target="gfx1150")).message
    assert seen(doubled, empty(4096), target="gfx1150") == []


def test_a_reduction_that_spills() -> None:
    @wavetile.kernel
    def mixed(x: torch.Tensor, out: torch.Tensor) -> None:
        for rows in wl.tile(x.size(0)):
            v = x[rows, :]
            a, b = torch.exp(v), v * 2
            a = a - a.sum(-1, keepdim=True)  # here
            out[rows, :] = a * (b - b.amax(-1, keepdim=True)) * v.sum(-1, keepdim=True)

    x = empty(64, 4096)
    config = {"rows": 1, "waves": 1, "x_dim1": 4096, "waves_per_simd": 8}
    assert "registers of each lane are spilled" in only(seen(mixed, x, x, config=config)).message
    assert seen(mixed, x, x) == []


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_the_kernels_of_the_package_are_clean(target: str, dtype: torch.dtype) -> None:
    x, w = empty(64, 4096, dtype=dtype), empty(4096, dtype=dtype)
    odd, odd_w = empty(37, 1003, dtype=dtype), empty(1003, dtype=dtype)
    for rows, weight in ((x, w), (odd, odd_w)):
        assert seen(softmax_rows, rows, target=target) == []
        assert seen(rms_norm_rows, rows, weight, 1e-6, target=target) == []
        assert seen(layer_norm_rows, rows, weight, weight, 1e-6, target=target) == []
    if dtype is torch.bfloat16:
        assert seen(matmul, x, empty(4096, 128, dtype=dtype), target=target) == []


def test_filters_choose_what_is_shown() -> None:
    @wavetile.kernel
    def sums(x: torch.Tensor, out: torch.Tensor) -> None:
        for rows in wl.tile(x.size(0)):
            out[rows] = x[rows, :].sum(-1)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", PerformanceWarning)
        sums.bind(empty(64, 8192)[:, ::2], empty(64), target="gfx950")
