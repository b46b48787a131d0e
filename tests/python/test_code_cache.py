# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Compiled code is found again by what changes it, and by nothing else."""

from pathlib import Path
from types import FunctionType
from typing import Any

import pytest
import torch
import wavetile
import wavetile.language as wl
from wavetile import _C, code_cache, compiler
from wavetile.cache import Cache


@pytest.fixture
def compilations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The targets of the compilations that were not served from an empty cache of this test."""
    seen: list[str] = []
    cache = Cache(tmp_path)
    monkeypatch.setattr(code_cache, "_cache", lambda: cache)
    compile_module = _C.compile

    def count(module: Any, target: str, *rest: Any) -> Any:
        seen.append(target)
        return compile_module(module, target, *rest)

    monkeypatch.setattr(compiler._C, "compile", count)
    return seen


def scale(x: torch.Tensor, factor: wl.constexpr) -> torch.Tensor:
    out = torch.empty_like(x)
    for rows in wl.tile(x.size(0)):
        out[rows, :] = x[rows, :] * factor
    return out


def fresh(function: Any = scale, **settings: Any) -> wavetile.Kernel:
    """A kernel that has compiled nothing yet, as in a new process."""
    assert isinstance(function, FunctionType)
    return wavetile.kernel(**settings)(function)


def test_same_kernel_is_not_compiled_again(compilations: list[str]) -> None:
    x = torch.arange(35.0).reshape(5, 7)
    assert torch.equal(fresh()(x, 2.0), x * 2)
    assert torch.equal(fresh()(x, 2.0), x * 2)
    assert len(compilations) == 1


def test_whatever_changes_the_code_compiles_again(compilations: list[str]) -> None:
    x = torch.arange(35.0).reshape(5, 7)
    assert torch.equal(fresh()(x, 2.0), x * 2)
    assert torch.equal(fresh()(x, 3.0), x * 3)
    assert torch.equal(fresh()(x.double(), 2.0), x.double() * 2)
    assert torch.equal(fresh(fast_math=False)(x, 2.0), x * 2)
    assert torch.equal(fresh(config={"rows": 2})(x, 2.0), x * 2)
    assert len(compilations) == 5


def test_binding_always_compiles(compilations: list[str]) -> None:
    x = torch.arange(35.0).reshape(5, 7)
    fresh().bind(x, 2.0)
    fresh().bind(x, 2.0)
    assert len(compilations) == 2
