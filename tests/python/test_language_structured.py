# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Arguments that hold others: tuples, lists, dicts, NamedTuples, dataclasses, functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest
import torch
import wavetile
import wavetile.language as wl

from tests.python.end_to_end import in_python


@wavetile.kernel
def sum_of_all(xs: Any, out: torch.Tensor) -> None:
    for rows in wl.tile(out.size(0)):
        total = wl.zeros([rows])
        for x in xs:
            total += x[rows]
        out[rows] = total


@pytest.mark.parametrize("kind", [tuple, list])
def test_sequences(kind: type, generator: torch.Generator) -> None:
    for count in (1, 3):
        xs = kind(torch.randint(-9, 9, (67,), generator=generator).float() for _ in range(count))
        out = torch.full([67], 77.0)
        sum_of_all(xs, out)
        assert torch.equal(out, sum(xs))


class Pair(NamedTuple):
    weight: torch.Tensor
    factor: float


@dataclass
class Norm:
    weight: torch.Tensor
    eps: float
    shift: bool
    width: wl.constexpr

    def scaled(self, v: torch.Tensor) -> torch.Tensor:
        return v * self.eps


@wavetile.kernel
def uses_both(x: torch.Tensor, pair: Pair, norm: Norm, named: dict[str, Any]) -> torch.Tensor:
    out = torch.empty_like(x)
    for rows in wl.tile(x.size(0)):
        v = x[rows, :] * pair.weight[:] * pair.factor
        if norm.shift:
            v = v + norm.weight[:]
        for _ in wl.static_range(norm.width):
            v = norm.scaled(v)
        out[rows, :] = v + named["bias"][rows][:, None]
    return out


@pytest.mark.parametrize("shift", [False, True])
def test_named_parts(shift: bool, generator: torch.Generator) -> None:
    x = torch.randint(-9, 9, (19, 33), generator=generator).float()
    a, b = (torch.randint(-9, 9, (33,), generator=generator).float() for _ in range(2))
    bias = torch.randint(-9, 9, (19,), generator=generator).float()
    for factor, width in ((2.0, 1), (4.0, 2)):
        y = uses_both(x, Pair(a, factor), Norm(b, 0.5, shift, width), {"bias": bias})
        v = x * a * factor
        v = v + b if shift else v
        assert torch.equal(y, v * 0.5**width + bias[:, None])


@wavetile.kernel
def with_epilogue(
    x: torch.Tensor, epilogue: Callable[[torch.Tensor, Any], torch.Tensor]
) -> torch.Tensor:
    out = torch.empty_like(x)
    for rows, cols in wl.tile([x.size(0), x.size(1)]):
        out[rows, cols] = epilogue(x[rows, cols], (rows, cols))
    return out


def relu(v: torch.Tensor, tile: Any) -> torch.Tensor:
    return torch.relu(v)


def scaled_and_moved(scale: float, bias: torch.Tensor) -> Callable[..., torch.Tensor]:
    return lambda v, tile: v * scale + bias[tile[1]][None, :]


def test_function_as_argument(generator: torch.Generator) -> None:
    x = torch.randn(19, 33, generator=generator)
    assert torch.equal(with_epilogue(x, relu), torch.relu(x))
    for scale in (2.0, 3.0):
        bias = torch.randn(33, generator=generator)
        y = with_epilogue(x, scaled_and_moved(scale, bias))
        torch.testing.assert_close(y, x * scale + bias, atol=1e-6, rtol=1e-6)


@pytest.mark.parametrize("function", [torch.relu, torch.nn.functional.silu, torch.neg, abs])
def test_function_of_the_language_as_argument(
    function: Callable[..., torch.Tensor], generator: torch.Generator
) -> None:
    x = torch.randn(19, generator=generator)
    torch.testing.assert_close(applied(x, function), function(x))
    interpreted = in_python(applied)
    assert torch.equal(interpreted(x, function), function(x))
    torch.testing.assert_close(applied_all(x, (torch.exp, function)), function(torch.exp(x)))


@wavetile.kernel
def applied(x: torch.Tensor, function: Callable[..., torch.Tensor]) -> torch.Tensor:
    out = torch.empty_like(x)
    for rows in wl.tile(x.size(0)):
        out[rows] = function(x[rows])
    return out


@wavetile.kernel
def applied_all(x: torch.Tensor, functions: tuple[Callable[..., Any], ...]) -> torch.Tensor:
    out = torch.empty_like(x)
    for rows in wl.tile(x.size(0)):
        v = x[rows]
        for function in functions:
            v = function(v)
        out[rows] = v
    return out


tensor_of_module = torch.arange(33.0)


def moved_by_module(v: torch.Tensor, tile: Any) -> torch.Tensor:
    return v + tensor_of_module[tile[1]][None, :]


def test_tensors_that_a_function_reads_as_globals(generator: torch.Generator) -> None:
    x = torch.randn(19, 33, generator=generator)
    assert torch.equal(with_epilogue(x, moved_by_module), x + tensor_of_module)


@pytest.mark.compiled
def test_one_compilation_for_functions_of_one_text(generator: torch.Generator) -> None:
    x = torch.randn(19, 33, generator=generator)
    kernel = wavetile.kernel(with_epilogue.source.function)
    for scale in (2.0, 3.0):
        kernel(x, scaled_and_moved(scale, torch.zeros(33)))
    (compiler,) = kernel._compilers
    ((_, launcher),) = compiler._structured.values()
    assert len(launcher.specialisations()) == 1


factor_of_module = 2.0


def scaled_by_module(v: torch.Tensor, tile: Any) -> torch.Tensor:
    return v * factor_of_module


@pytest.mark.compiled
def test_globals_of_a_function_are_guarded(monkeypatch: pytest.MonkeyPatch) -> None:
    x = torch.ones(4, 4)
    assert with_epilogue(x, scaled_by_module)[0, 0] == 2
    monkeypatch.setitem(globals(), "factor_of_module", 5.0)
    assert with_epilogue(x, scaled_by_module)[0, 0] == 5


def test_bind_takes_apart() -> None:
    bound = with_epilogue.bind(torch.ones(4, 4), relu, target="gfx942")
    assert "arith.maximumf" in bound.ir("tile")


@pytest.mark.compiled
def test_what_cannot_be_used() -> None:
    with pytest.raises(wavetile.errors.ArgumentError, match=r"`xs\[1\]`, a object, cannot be used"):
        sum_of_all([torch.ones(4), object()], torch.ones(4))
