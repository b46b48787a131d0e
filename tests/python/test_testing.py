# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""`wavetile.testing`: how long calls take."""

import time

import pytest
import torch
from wavetile.errors import ArgumentError
from wavetile.testing import do_bench


def test_the_time_of_a_call_is_in_milliseconds() -> None:
    calls = 0

    def call() -> None:
        nonlocal calls
        calls += 1
        time.sleep(0.005)

    assert 5 <= do_bench(call, 10, 40) < 200
    assert calls >= 3


def test_one_call_is_enough() -> None:
    calls = []
    do_bench(lambda: calls.append(1), 0, 0)
    assert len(calls) == 2


def test_quantiles_and_modes_are_in_order() -> None:
    low, middle, high = do_bench(lambda: torch.zeros(100).sum(), 1, 5, quantiles=[0.2, 0.5, 0.8])  # type: ignore[misc]
    assert 0 < low <= middle <= high
    times = [do_bench(lambda: None, 0, 2, return_mode=mode) for mode in ("min", "max")]
    assert 0 <= times[0] < times[1]


def test_gradients_are_dropped_before_each_call() -> None:
    x = torch.ones(3, requires_grad=True)

    def call() -> None:
        assert x.grad is None
        x.sum().backward()

    do_bench(call, 1, 1, grad_to_none=[x])
    assert x.grad is not None


def test_what_does_not_exist_is_refused() -> None:
    with pytest.raises(ArgumentError, match="no return_mode 'sum'"):
        do_bench(lambda: None, return_mode="sum")  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="between 0 and 1"):
        do_bench(lambda: None, quantiles=[2])
