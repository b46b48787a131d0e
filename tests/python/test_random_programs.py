# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Random programs mean what torch says, for every target and Config, compiled or interpreted."""

import os
from typing import Any

import hypothesis
import pytest
import torch
import wavetile
from hypothesis import strategies as st
from wavetile import _C

from tests.python.conftest import SEED_VARIABLE, TARGETS

from .end_to_end import in_python, on
from .random_programs import Program, programs

#: Programs of each form; more by WAVETILE_TEST_EXAMPLES.
EXAMPLES = int(os.environ.get("WAVETILE_TEST_EXAMPLES", "6"))


def _sizes(dims: tuple[str, ...]) -> Any:
    # Matrix instructions have at least 16 rows and columns.
    choices = [16, 32] if "depth" in dims else [4, 16, 32]
    return st.fixed_dictionaries({name: st.sampled_from(choices) for name in dims})


@st.composite
def configs(draw: Any, program: Program, dim: str | None) -> dict[str, int | str]:
    """A Config for a program; `dim` is its row dimension."""
    config: dict[str, int | str] = {"waves": draw(st.sampled_from([1, 2, 4]))}
    if dim is None:
        if "depth" in program.loop_dims:
            config["waves"] = 1  # one matrix instruction's tile is one wave's
        return config | draw(_sizes(program.loop_dims))
    config["rows"] = draw(st.sampled_from([1, 2, 4, 8]))
    strategy = draw(st.sampled_from(["resident", "looped", "grid"]))
    config[f"{dim}.strategy"] = strategy
    if strategy == "resident":
        config[dim] = max(1, -(-program.sizes["n"] // 64)) * draw(st.sampled_from([64, 128]))
    else:
        config[dim] = draw(st.sampled_from([32, 64]))
    if strategy == "grid":
        config |= {f"{dim}.blocks": draw(st.sampled_from([2, 4])), "rows": 1}
    return config


def _are_same(a: torch.Tensor, b: torch.Tensor, program: Program) -> bool:
    """Whether all numbers are equal, and NaN where the other is; zeros too if torch says which."""
    same = (a == b) | (a.isnan() & b.isnan())
    if a.dtype.is_floating_point and program.has_signed_zeros:
        same &= a.isnan() | (a.signbit() == b.signbit())
    return bool(same.all())


def _check(program: Program, run: Any, seed: int, what: str) -> None:
    tensors = program.tensors(torch.Generator().manual_seed(seed))
    wanted = program.tensors(torch.Generator().manual_seed(seed))
    program.reference()(*wanted.values(), program.scalar)
    run(tensors)
    for name, tensor in wanted.items():
        got = tensors[name]
        assert got.dtype == tensor.dtype
        assert _are_same(got, tensor, program), f"{what}: {name} is\n{got}\nnot\n{tensor}"
        # What lies between and around its elements is as it was.
        assert got._base is not None
        assert tensor._base is not None
        assert _are_same(got._base, tensor._base, program), f"{what} wrote around {name}"


def _interpret(kernel: wavetile.Kernel, stage: str, program: Program, seed: int) -> Any:
    """What runs the module of a stage by the interpreter, which defines the dialect."""

    def run(tensors: dict[str, torch.Tensor]) -> None:
        bound = kernel.bind(*tensors.values(), program.scalar, target=TARGETS[0])
        (region,) = bound.regions
        buffers = []
        for parameter in region.specialisation.parameters:
            if isinstance(parameter, _C.TensorSpecialisation):
                tensor = tensors[parameter.name]
                if not tensor.numel():  # torch says that it lies at address 0
                    buffers.append(torch.zeros(64, dtype=torch.uint8).numpy())
                    continue
                start = tensor.storage_offset()
                count = tensor.untyped_storage().nbytes() // tensor.itemsize - start
                flat = tensor.as_strided([count], [1], start)
                buffers.append(flat.view(torch.uint8).numpy())
        config = region.compiled.config.items()
        sizes = {key: value for key, value in config if isinstance(value, int)}
        _C.interpret(region.compiled.ir(stage), buffers, list(region.integers), [], seed, sizes)

    return run


def _row_dim(
    kernel: wavetile.Kernel, tensors: dict[str, torch.Tensor], program: Program
) -> str | None:
    """The name of the row dimension; none if rows have one element."""
    bound = kernel.bind(*tensors.values(), program.scalar, target=TARGETS[0])
    dims = set(bound.regions[0].compiled.traced.dims) - {"rows"}
    return dims.pop() if dims else None


@hypothesis.seed(int(os.environ.get(SEED_VARIABLE, "0")))
@hypothesis.settings(
    max_examples=EXAMPLES,
    database=None,
    # Each is compiled ten times: a smaller one that fails too takes minutes to find.
    phases=[hypothesis.Phase.generate],
    suppress_health_check=list(hypothesis.HealthCheck),
)
@hypothesis.given(data=st.data())
@pytest.mark.parametrize("form", ["elementwise", "rows", "nested", "product"])
def test_random_program(form: str, data: st.DataObject) -> None:
    """Numbers that are exact, so that all agree to the bit; see random_programs.py."""
    program = data.draw(programs((form,)))
    hypothesis.note(program.source)
    hypothesis.note(str(program))
    seed = data.draw(st.integers(0, 2**31))
    kernel = wavetile.kernel(program.kernel())
    tensors = program.tensors(torch.Generator().manual_seed(seed))

    eager = in_python(kernel)
    _check(program, lambda t: eager(*t.values(), program.scalar), seed, "eagerly")

    for stage in ("tile", "final"):
        run = _interpret(kernel, stage, program, seed)
        _check(program, run, seed, f"by the interpreter at stage {stage}")

    dim = _row_dim(kernel, tensors, program) if program.row_dim else None
    config = data.draw(configs(program, dim), label="config")
    for target in TARGETS:
        for given in (None, config):
            compiled = on(kernel, target, given)
            _check(
                program,
                lambda t, run=compiled: run(*t.values(), program.scalar),
                seed,
                f"on {target} with {given}",
            )
