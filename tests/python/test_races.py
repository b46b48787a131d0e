# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Races between iterations: proved ones are errors, proved freedom is silent, the rest warns."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
import wavetile
import wavetile.language as wl
from wavetile.errors import RaceError, RaceWarning

X = torch.zeros(40, 24)


def bind(function: Callable[..., Any], *args: Any) -> list[RaceWarning]:
    """Compiles; the warnings."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        wavetile.kernel(function).bind(*args, target="gfx950")
    return [w.message for w in seen if isinstance(w.message, RaceWarning)]


# -- Proved: errors


def total_in_one_place(x: torch.Tensor, out: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        out[0] = x[rows, :].sum(-1).sum(0)  # here


def added_in_one_place(x: torch.Tensor, out: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        out[0] += x[rows, :].sum(-1).sum(0)  # here


def columns_forgotten(x: torch.Tensor, out: torch.Tensor) -> None:
    for rows, cols in wl.tile(x.size()):
        out[rows] = x[rows, cols].sum(-1)  # here


def first_row_read(x: torch.Tensor, out: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        x[rows, :] = x[rows, :] - x[0, :][None, :]  # here


def neighbour_read(x: torch.Tensor, out: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        x[rows, :] = x[rows + 1, :]  # here


def all_read(x: torch.Tensor, out: torch.Tensor) -> None:
    for i in wl.grid(x.size(0)):
        x[i, :] = x[:, :].sum(0)  # here


def stored_twice(x: torch.Tensor, out: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        out[rows] = x[rows, 0]  # here
        out[0] = 1.0


def stored_in_a_loop(x: torch.Tensor, out: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        for cols in wl.tile(x.size(1)):
            out[cols] = x[rows, cols].sum(0)  # here


PROVED = [
    total_in_one_place,
    added_in_one_place,
    columns_forgotten,
    first_row_read,
    neighbour_read,
    all_read,
    stored_twice,
    stored_in_a_loop,
]


@pytest.mark.parametrize("function", PROVED)
def test_a_proved_race_is_an_error(function: Callable[..., None]) -> None:
    with pytest.raises(RaceError, match="have no order") as caught:
        bind(function, X, torch.zeros(40))
    location = caught.value.location
    assert location is not None
    assert location.file == __file__
    assert "# here" in location.excerpt()
    assert caught.value.remedy


def test_the_text_names_tensor_loop_and_lines() -> None:
    with pytest.raises(RaceError) as caught:
        bind(columns_forgotten, X, torch.zeros(40))
    assert "that differ in `cols` store to one element of `out`" in caught.value.message
    with pytest.raises(RaceError) as caught:
        bind(first_row_read, X, torch.zeros(40))
    assert "store and read one element of `x`" in caught.value.message


# -- Proved free: silent


def by_rows_and_columns(x: torch.Tensor, out: torch.Tensor) -> None:
    for rows, cols in wl.tile(x.size()):
        x[rows, cols] = x[rows, cols] * 2
        x[rows, cols] += 1


def by_shifted_rows(x: torch.Tensor, out: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0) - 1):
        x[rows + 1, :] = x[rows + 1, :] * 2


def by_single_rows(x: torch.Tensor, out: torch.Tensor) -> None:
    for i, j in wl.grid([20, 24]):
        x[2 * i + 1, j] = x[2 * i + 1, j] + i


def by_parts_of_blocks(x: torch.Tensor, out: torch.Tensor) -> None:
    for outer in wl.tile(x.size(0), block_size=16):
        for inner in wl.tile(outer.begin, outer.end):
            x[inner, :] = x[inner, :] + 1
        out[outer.id] = x[outer, :].sum(-1).sum(0)


def by_indices(x: torch.Tensor, out: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        out[rows.index] = x[rows.begin + wl.arange(rows), 0]
        x[rows.index[:, None] + 0, wl.arange(24)[None, :]] = 0


def by_one_iteration(x: torch.Tensor, out: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        if rows.begin == 0:
            out[0] = x[rows, :].sum(-1).sum(0)


def by_atomics(x: torch.Tensor, out: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        wl.atomic_add(out, [0], x[rows, :].sum(-1).sum(0))


def one_value(x: torch.Tensor, out: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        out[0] = 1.0
        x[rows, :] = 2.0


def in_loops_of_their_own(x: torch.Tensor, out: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        out[rows] = x[rows, :].sum(-1)
    wl.barrier()
    for rows in wl.tile(x.size(0)):
        x[rows, :] = x[rows, :] - out[0]


def in_one_block(x: torch.Tensor, out: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0), block_size=64):
        out[0] = x[rows, :].sum(-1).sum(0)


FREE = [
    by_rows_and_columns,
    by_shifted_rows,
    by_single_rows,
    by_parts_of_blocks,
    by_indices,
    by_one_iteration,
    by_atomics,
    one_value,
    in_loops_of_their_own,
    in_one_block,
]


@pytest.mark.parametrize("function", FREE)
def test_what_is_free_of_races_is_silent(function: Callable[..., None]) -> None:
    assert bind(function, X, torch.zeros(40)) == []


def test_a_loop_of_one_iteration_in_this_call_is_silent() -> None:
    assert bind(total_in_one_place, torch.zeros(1, 24), torch.zeros(1)) == []


# -- The rest: one warning


def scattered(x: torch.Tensor, places: torch.Tensor) -> None:
    for rows in wl.tile(places.size(0)):
        x[places[rows], :] = 1.0 * rows.index[:, None]  # here


def under_a_condition(x: torch.Tensor, places: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        if places[0] > 3:
            x[0, :] = x[rows, :].sum(0)  # here


@pytest.mark.parametrize("function", [scattered, under_a_condition])
def test_what_nobody_can_prove_warns_once(function: Callable[..., None]) -> None:
    kernel = wavetile.kernel(function)
    with pytest.warns(RaceWarning, match="may store") as seen:
        kernel.bind(X, torch.arange(40), target="gfx950")
    (warning,) = (w for w in seen if issubclass(w.category, RaceWarning))
    assert warning.filename == __file__
    assert isinstance(warning.message, RaceWarning)
    assert warning.message.location is not None
    assert "# here" in warning.message.location.excerpt()
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("default")
        for x in (X, X.double()):
            kernel.bind(x, torch.arange(40), target="gfx950")
    assert len([w for w in seen if issubclass(w.category, RaceWarning)]) == 1


def test_arguments_that_overlap() -> None:
    def moved(x: torch.Tensor, out: torch.Tensor) -> None:
        for rows in wl.tile(out.size(0)):
            out[rows, :] = x[rows, :]

    assert bind(moved, X, torch.zeros(40, 24)) == []
    assert bind(moved, X, X) == []


@wavetile.kernel
def doubled_indices(x: torch.Tensor, out: torch.Tensor, n: int) -> None:
    for row in wl.grid(out.size(0)):
        index, end = row, n
        for _ in wl.static_range(40):
            index, end = index + index, end + end
        for k in wl.tile(end):
            out[row] = x[index + k].sum(0)


@wavetile.kernel
def doubled_tiles(x: torch.Tensor, out: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        index = rows.index
        for _ in wl.static_range(40):
            index = index + index
        out[index] = x[rows]


@pytest.mark.compiled
def test_indices_of_shared_parts_take_no_time() -> None:
    doubled_indices.bind(torch.zeros(3), torch.zeros(3), 0).ir("tile")
    with pytest.warns(RaceWarning):
        doubled_tiles.bind(torch.zeros(3), torch.zeros(3)).ir("tile")
