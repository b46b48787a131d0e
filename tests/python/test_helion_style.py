# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Kernels as Helion's users write them: its decorator options, its Configs, its spellings."""

from __future__ import annotations

import warnings

import pytest
import torch
import wavetile as helion
import wavetile.language as hl
from wavetile.errors import ConfigError, IgnoredOptionWarning


def product(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    m, k = x.size()
    out = torch.empty([m, y.size(1)], dtype=x.dtype)
    for tile_m, tile_n in hl.tile([m, y.size(1)]):
        acc = hl.zeros([tile_m, tile_n], dtype=torch.float32)
        for tile_k in hl.tile(k):
            acc = torch.addmm(acc, x[tile_m, tile_k], y[tile_k, tile_n])
        out[tile_m, tile_n] = acc
    return out


def two_sums(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    m, n = x.size()
    rows, cols = torch.empty(m), torch.empty(n)
    size = hl.register_block_size(4, 64)
    for tile_m in hl.tile(m, block_size=size):
        rows[tile_m] = x[tile_m, :].sum(-1)
    for tile_n in hl.tile(n):
        acc = hl.zeros([tile_n])
        for tile_k in hl.tile(m, block_size=size):
            acc += x[tile_k, tile_n].sum(0)
        cols[tile_n] = acc
    return rows, cols


def sum_of(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty(x.size(0))
    for tile in hl.tile(x.size(0)):
        out[tile] = x[tile, :].sum(-1)
    return out


def test_positional_block_sizes_are_those_of_the_loops() -> None:
    x, y = torch.randn(33, 47), torch.randn(47, 29)
    kernel = helion.kernel(config=helion.Config(block_sizes=[16, 32, 64], num_warps=2))(product)
    exact = x.double() @ y.double()
    torch.testing.assert_close(kernel(x, y).double(), exact, atol=1e-4, rtol=1e-5)
    (config,) = kernel.bind(x, y).configs()
    assert (config["tile_m"], config["tile_n"], config["tile_k"]) == (16, 32, 64)
    assert config["waves"] == 2


def test_a_registered_block_size_is_one_of_them() -> None:
    x = torch.randn(37, 50)
    kernel = helion.kernel(config={"block_sizes": [8, 16]})(two_sums)
    rows, cols = kernel(x)
    torch.testing.assert_close(rows.double(), x.double().sum(1), atol=1e-4, rtol=1e-5)
    torch.testing.assert_close(cols.double(), x.double().sum(0), atol=1e-4, rtol=1e-5)
    (config,) = kernel.bind(x).configs()
    assert (config["tile_m"], config["tile_k"], config["tile_n"]) == (8, 8, 16)


def test_another_number_of_block_sizes_is_an_error() -> None:
    kernel = helion.kernel(config=helion.Config(block_sizes=[16, 32]))(product)
    with pytest.raises(ConfigError, match="has 2 block_sizes, but product leaves 3 open"):
        kernel(torch.ones(3, 4), torch.ones(4, 5))


@pytest.mark.parametrize(("loop", "strategy"), [(None, "resident"), (64, "looped")])
def test_reduction_loops_say_how_rows_are_walked(loop: int | None, strategy: str) -> None:
    x = torch.randn(5, 200)
    config = helion.Config(block_sizes=[2], reduction_loops=[loop])
    kernel = helion.kernel(config=config)(sum_of)
    torch.testing.assert_close(kernel(x).double(), x.double().sum(1), atol=1e-4, rtol=1e-5)
    (bound,) = kernel.bind(x).configs()
    assert bound["x_dim1.strategy"] == strategy
    assert bound["x_dim1"] == 64 or loop is None


def test_configs_that_differ_by_position_differ() -> None:
    a, b = helion.Config(block_sizes=[16]), helion.Config(block_sizes=[32])
    assert a != b
    assert a == helion.Config(block_sizes=(16,))
    assert helion.Config(num_warps=4) == helion.Config(waves=4)


@pytest.mark.parametrize(
    "options",
    [
        {"static_shapes": True},
        {"autotune_effort": "none"},
        {"ignore_warnings": [helion.exc.TensorOperationInWrapper]},
        {"print_output_code": True},
    ],
)
def test_an_option_without_meaning_warns_by_name(options: dict[str, object]) -> None:
    (name,) = options
    with pytest.warns(IgnoredOptionWarning, match=rf"the option {name}=.* means nothing") as seen:
        helion.kernel(**options)(sum_of)
    assert seen[0].filename == __file__
    assert len(seen) == 1


def test_a_key_without_meaning_warns_by_name() -> None:
    with pytest.warns(IgnoredOptionWarning, match="num_stages=3 in a Config") as seen:
        assert helion.Config(num_stages=3, num_warps=4) == {"waves": 4}
    assert seen[0].filename == __file__


def test_what_has_a_meaning_does_not_warn() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        helion.kernel(config=helion.Config(block_sizes=[4], num_warps=2), fast_math=False)(sum_of)


def test_an_option_of_nobody_is_an_error() -> None:
    with pytest.raises(ConfigError, match="no option 'static_shape'") as error:
        helion.kernel(static_shape=True)(sum_of)
    assert error.value.remedy == "did you mean 'static_shapes'?"


def test_arithmetic_of_sizes() -> None:
    assert [helion.cdiv(n, 4) for n in (0, 1, 4, 5)] == [0, 1, 1, 2]
    powers = [helion.next_power_of_2(n) for n in (-3, 0, 1, 2, 3, 64, 65)]
    assert powers == [1, 1, 1, 2, 4, 64, 128]
