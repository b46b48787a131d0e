# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Kernels as Helion's users write them: its decorator options, its Configs, its spellings."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings

import pytest
import torch
import wavetile as helion
import wavetile.language as hl
from wavetile.errors import CompilationError, ConfigError, IgnoredOptionWarning


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


@pytest.mark.parametrize(("target", "most"), [("gfx950", 16), ("gfx1150", 32)])
def test_warps_are_as_many_waves_as_the_target_has(target: str, most: int) -> None:
    kernel = helion.kernel(config=helion.Config(num_warps=64))(sum_of)
    with pytest.warns(IgnoredOptionWarning, match=f"{target} has at most {most} waves") as seen:
        (bound,) = kernel.bind(torch.ones(64, 4096), target=target).configs()
    assert bound["waves"] == most
    assert (seen[0].filename, len(seen)) == (__file__, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error", IgnoredOptionWarning)
        fits = helion.Config(num_warps=most)
        (bound,) = kernel.bind(torch.ones(64, 4096), target=target, config=fits).configs()
    assert bound["waves"] == most


def test_more_waves_than_a_target_has_are_an_error_by_our_own_name() -> None:
    with pytest.raises(CompilationError, match="cannot have 32 waves"):
        helion.kernel(sum_of).bind(torch.ones(64, 4096), target="gfx950", config={"waves": 32})


def test_the_number_of_compute_units_is_that_of_the_target() -> None:
    code = "import torch, wavetile; print(wavetile.runtime.get_num_sm(torch.device('cpu')))"
    for target, units in (("gfx950", 256), ("gfx942", 304), ("gfx1150", 16)):
        environment = {
            **os.environ,
            "WAVETILE_DEVICE_TARGET": target,
            "WAVETILE_DEVICE": "software",
        }
        done = subprocess.run(
            [sys.executable, "-c", code],
            env=environment,
            check=True,
            capture_output=True,
            text=True,
        )
        assert int(done.stdout) == units
    x = torch.empty(4)
    every = helion.runtime.get_num_sm(x.device)
    assert helion.runtime.get_num_sm(x.device, reserved_sms=3) == every - 3
    assert helion.runtime.get_num_sm(x.device, reserved_sms=10**6) == 1


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


# -- Constructs


def exact(result: torch.Tensor, expected: torch.Tensor) -> None:
    torch.testing.assert_close(result.double(), expected.double(), atol=1e-4, rtol=1e-5)


def test_one_variable_of_a_loop_over_several_dimensions() -> None:
    @helion.kernel
    def scaled(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        out = torch.empty_like(x)
        for tile in hl.tile(out.size()):
            out[tile] = x[tile] + y[tile[1]][None, :] * 2
        return out

    x, y = torch.randn(13, 29), torch.randn(29)
    exact(scaled(x, y), x.double() + 2 * y.double())


def epilogue_of(x: torch.Tensor, epilogue: object = lambda value, tile: value) -> torch.Tensor:
    out = torch.empty_like(x)
    for tile_m, tile_n in hl.tile(x.size()):
        out[tile_m, tile_n] = epilogue(x[tile_m, tile_n] * 2, (tile_m, tile_n))  # type: ignore
    return out


def test_a_function_written_where_it_is_passed() -> None:
    x, bias = torch.randn(7, 19), torch.randn(19)
    kernel = helion.kernel(epilogue_of)
    exact(kernel(x), x.double() * 2)
    shifted = kernel(x, epilogue=lambda value, tile: value + bias[tile[1]])
    exact(shifted, x.double() * 2 + bias.double())


def test_parts_of_rows_whose_lengths_fit_in_this_call() -> None:
    @helion.kernel
    def beside(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        n = x.size(1)
        out = torch.empty([x.size(0), n + y.size(1)])
        for tile in hl.tile(x.size(0)):
            out[tile, :n] = x[tile, :]
            out[tile, n:] = y[tile, :]
        return out

    for n in (17, 30):
        x, y = torch.randn(5, n), torch.randn(5, 23)
        assert torch.equal(beside(x, y), torch.cat([x, y], 1))


def test_a_size_is_a_constant_where_a_shape_needs_it() -> None:
    @helion.kernel
    def halves_exchanged(x: torch.Tensor) -> torch.Tensor:
        m, n = x.size()
        half = n // 2
        out = torch.empty_like(x)
        for tile in hl.tile(m):
            first, second = hl.split(x[tile, :].reshape([tile, 2, half]).permute(0, 2, 1))
            out[tile, :] = hl.join(second, first).permute(0, 2, 1).reshape([tile, n])
        return out

    for n in (8, 14):
        x = torch.randn(5, n)
        assert torch.equal(halves_exchanged(x), x.roll(n // 2, 1))


def test_a_specialised_size_is_that_of_a_tensor() -> None:
    @helion.kernel
    def running(x: torch.Tensor) -> torch.Tensor:
        m, n = x.size()
        n = hl.specialize(n)
        out = torch.empty([m, n])
        for tile in hl.tile(1, block_size=1):
            total = hl.zeros([tile, n])
            for i in range(m):
                total = total + x[i, :][None, :]
                out[i, :] = total.sum(0)
        return out

    x = torch.randn(7, 12)
    exact(running(x), x.double().cumsum(0))


@pytest.mark.parametrize("sizes", [None, [3, 8], [4, 16]])
def test_a_registered_block_size_is_an_int(sizes: list[int] | None) -> None:
    @helion.kernel(config=None if sizes is None else helion.Config(block_sizes=sizes))
    def column_sums(x: torch.Tensor) -> torch.Tensor:
        m, n = x.size()
        block = hl.register_block_size(m)
        partial = x.new_empty([(m + block - 1) // block, n], dtype=torch.float32)
        for outer in hl.tile(m, block_size=block):
            total = x.new_zeros(n, dtype=torch.float32)
            for inner in hl.tile(outer.begin, outer.end):
                total += x[inner, :].sum(0)
            partial[outer.id, :] = total
        return partial

    x = torch.randn(37, 11)
    partial = column_sums(x)
    assert partial.size(0) == -(-37 // (32 if sizes is None else sizes[0]))
    exact(partial.sum(0), x.double().sum(0))


def test_a_tile_of_a_block_size_is_filled_block_by_block() -> None:
    @helion.kernel(config=helion.Config(block_sizes=[16, 4]))
    def sums(x: torch.Tensor, threshold: float) -> tuple[torch.Tensor, torch.Tensor]:
        m, n = x.size()
        size_n = hl.register_block_size(n)
        size_m = hl.register_block_size(m)
        sums, last = torch.empty(m), torch.empty(m)
        for tile_m in hl.tile(m, block_size=size_m):
            total = hl.zeros([tile_m, size_n])
            kept = hl.full([tile_m, size_n], -1.0)
            for tile_n in hl.tile(n, block_size=size_n):
                part = hl.zeros([size_m, size_n])
                value = torch.exp(x[tile_m, tile_n])
                if threshold > 0:
                    part += value
                else:
                    part += value * 2
                total += part
                kept = x[tile_m, tile_n]
            sums[tile_m] = total.sum(-1)
            last[tile_m] = kept.sum(-1)
        return sums, last

    x = torch.randn(7, 37)
    total, last = sums(x, 1.0)
    exact(total, x.double().exp().sum(1))
    # The last block has 5 elements; the others are those of the block before.
    exact(last, x[:, 21:].double().sum(1))
    exact(sums(x, -1.0)[0], x.double().exp().sum(1) * 2)


def test_tiles_of_block_sizes_without_a_loop() -> None:
    @helion.kernel
    def doubled(x: torch.Tensor) -> torch.Tensor:
        m, n = x.size()
        rows, cols = hl.register_block_size(4, 8), hl.register_block_size(8, 8)
        out = torch.empty_like(x)
        for block in hl.grid(helion.cdiv(m, rows) * helion.cdiv(n, cols)):
            blocks = helion.cdiv(n, cols)
            i = block // blocks * rows + hl.arange(rows)
            j = block % blocks * cols + hl.arange(cols)
            mask = (i < m)[:, None] & (j < n)[None, :]
            acc = hl.zeros([rows, cols]) + hl.load(x, [i[:, None], j[None, :]], extra_mask=mask)
            hl.store(out, [i[:, None], j[None, :]], acc * 2, extra_mask=mask)
        return out

    x = torch.randn(13, 21)
    assert torch.equal(doubled(x), x * 2)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_products_with_a_column_and_a_row(dtype: torch.dtype) -> None:
    @helion.kernel
    def with_column(w: torch.Tensor, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        m, k = w.size()
        out = torch.empty([m + 1, 1])
        column = x[:, None]
        for tile_m in hl.tile(m):
            acc = hl.zeros([tile_m, 1])
            for tile_k in hl.tile(k, block_size=16):
                acc += hl.dot(w[tile_m, tile_k], column[tile_k, :])
            out[tile_m, :] = acc
        for _ in hl.grid(1):
            total = hl.zeros([1, 1])
            for tile_k in hl.tile(k, block_size=16):
                total = hl.dot(y[None, tile_k], column[tile_k, :], acc=total)
            out[m, :] = total
        return out

    w, x, y = torch.randn(37, 45), torch.randn(45), torch.randn(45)
    w, x, y = w.to(dtype), x.to(dtype), y.to(dtype)
    expected = torch.cat([w.double() @ x.double(), (y.double() @ x.double())[None]])
    exact(with_column(w, x, y)[:, 0], expected)


def test_lambdas_on_one_line() -> None:
    x = torch.randn(5, 9)
    twice, thrice = (lambda value, tile: value * 2), (lambda value, tile: value * 3)
    kernel = helion.kernel(epilogue_of)
    exact(kernel(x, epilogue=twice), x.double() * 4)
    exact(kernel(x, epilogue=thrice), x.double() * 6)


def test_blocks_become_smaller_where_those_of_choice_do_not_fit() -> None:
    @helion.kernel
    def exchanged(x: torch.Tensor) -> torch.Tensor:
        b, h, t, d = x.size()
        out = torch.empty_like(x)
        for tile_b, tile_t in hl.tile([b, t]):
            pairs = x[tile_b, :, tile_t, :].reshape([tile_b, h, tile_t, 2, d // 2])
            first, second = hl.split(pairs.permute(0, 1, 2, 4, 3))
            joined = hl.join(second, -first).permute(0, 1, 2, 4, 3)
            out[tile_b, :, tile_t, :] = joined.reshape([tile_b, h, tile_t, d])
        return out

    x = torch.randn(1, 3, 100, 32)
    exact(exchanged(x), torch.cat([x[..., 16:], -x[..., :16]], -1))


@pytest.mark.parametrize("interpret", [False, True])
@pytest.mark.parametrize(("n", "m"), [(7, 7), (5, 9)])
def test_indices_along_different_loops_are_rows_and_columns(
    n: int, m: int, interpret: bool
) -> None:
    @helion.kernel(interpret=interpret)
    def gathered(
        x: torch.Tensor, i: torch.Tensor, j: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        out = torch.zeros(i.size(0), j.size(0))
        diagonal = torch.zeros(i.size(0))
        for rows in hl.tile(i.size(0)):
            for cols in hl.tile(j.size(0)):
                above = (i[rows] > 0)[:, None] & (j[cols] > 1)[None, :]
                value = hl.load(x, [i[rows] - 1, j[cols]], extra_mask=above)
                out[rows.index, cols.index] = x[i[rows], j[cols]] + value
            # Two of one loop are elements.
            diagonal[rows] = x[i[rows], i[rows] + 0]
        return out, diagonal

    x, i, j = torch.randn(20, 20), torch.randint(20, (n,)), torch.randint(20, (m,))
    out, diagonal = gathered(x, i, j)
    above = torch.where((i > 0)[:, None] & (j > 1), x[i[:, None] - 1, j], 0.0)
    assert torch.equal(out, x[i[:, None], j] + above)
    assert torch.equal(diagonal, x[i, i])


def test_blocks_of_registered_sizes_index_as_rows_and_columns() -> None:
    @helion.kernel(config=helion.Config(block_sizes=[16, 16, 16]))
    def product(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        m, k = x.size()
        n = y.size(1)
        rows, cols = hl.register_block_size(8, 64), hl.register_block_size(8, 64)
        out = torch.empty([m, n])
        for block in hl.grid(helion.cdiv(m, rows) * helion.cdiv(n, cols)):
            i = block % helion.cdiv(m, rows) * rows + hl.arange(rows)
            j = block // helion.cdiv(m, rows) * cols + hl.arange(cols)
            acc = hl.zeros([rows, cols])
            for inner in hl.tile(k):
                a = hl.load(x, [i, inner.index], extra_mask=(i < m)[:, None])
                b = hl.load(y, [inner.index, j], extra_mask=(j < n)[None, :])
                acc = torch.addmm(acc, a, b)
            hl.store(out, [i, j], acc, extra_mask=(i < m)[:, None] & (j < n)[None, :])
        return out

    x, y = torch.randn(19, 13), torch.randn(13, 37)
    exact(product(x, y), x.double() @ y.double())


@pytest.mark.parametrize("interpret", [False, True])
def test_fp4_is_unpacked_by_another_name(interpret: bool) -> None:
    @helion.kernel(interpret=interpret)
    def unpacked(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        low, high = torch.empty(x.size(0)), torch.empty(x.size(0))
        for tile in hl.tile(x.size(0)):
            low[tile], high[tile] = hl.float4_e2m1fn_x2_to_float32(x[tile])
        return low, high

    magnitudes = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]
    numbers = torch.tensor(magnitudes + [-number for number in magnitudes])
    codes = torch.arange(256, dtype=torch.uint8)
    low, high = unpacked(codes.view(torch.float4_e2m1fn_x2))
    assert torch.equal(low, numbers[codes.long() % 16])
    assert torch.equal(high, numbers[codes.long() // 16])
