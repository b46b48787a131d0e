# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What kernels mean, by the interpreter: the frontend's module, and what passes make of it.

Numbers come from plain loops over the module, so an error here is the frontend's at stage
`tile` and a pass's at a later one; no lowering and no device takes part.
"""

import random

import pytest
import torch
from wavetile import _C
from wavetile.bound import BoundKernel
from wavetile.errors import CompilationError
from wavetile.kernels.layer_norm import layer_norm_rows
from wavetile.kernels.matmul import matmul
from wavetile.kernels.rms_norm import rms_norm_rows
from wavetile.kernels.softmax import softmax_rows
from wavetile.testing import assert_close

STAGES = ("tile", "bound", "final")
ROW_CONFIGS = (
    {"cols.strategy": "resident"},
    {"cols.strategy": "looped", "cols": 128, "waves": 2, "rows": 2},
    {"cols.strategy": "grid", "cols": 64, "waves": 1, "cols.blocks": 4},
)


def interpret(
    bound: BoundKernel,
    stage: str,
    tensors: dict[str, torch.Tensor],
    seed: int,
    floats: tuple[float, ...] = (),
) -> None:
    """Runs the module of a stage on tensors, by the names of the kernel's parameters."""
    (region,) = bound.regions
    names = [
        parameter.name
        for parameter in region.specialisation.parameters
        if isinstance(parameter, _C.TensorSpecialisation)
    ]
    sizes = {key: value for key, value in region.compiled.config.items() if isinstance(value, int)}
    _C.interpret(
        region.compiled.ir(stage),
        [tensors[name].reshape(-1).view(torch.uint8).numpy() for name in names],
        list(region.integers),
        list(floats),
        seed,
        sizes,
    )


def named_rows(config: dict[str, int | str], dim: str) -> dict[str, int | str]:
    """A Config for rows whose dimension has another name."""
    return {key.replace("cols", dim): value for key, value in config.items()}


def row_dim(kernel: object, *args: object) -> str:
    """The name of a row kernel's full slice."""
    dims = set(kernel.bind(*args, target="gfx950").regions[0].compiled.traced.dims)  # type: ignore[attr-defined]
    (name,) = dims - {"rows"}
    return name


@pytest.mark.parametrize("config", ROW_CONFIGS, ids=lambda config: config["cols.strategy"])
@pytest.mark.parametrize("stage", STAGES)
def test_softmax(stage: str, config: dict[str, int | str], seed: int) -> None:
    numbers = random.Random(seed)
    m, n = numbers.randrange(1, 6), numbers.choice([2, 7, 64, 65, 129, 257])
    torch.manual_seed(seed)
    x = torch.randn(m, n, dtype=torch.float32).to(torch.bfloat16)
    bound = softmax_rows.bind(
        x, target="gfx950", config=named_rows(config, row_dim(softmax_rows, x))
    )
    out = torch.full_like(x, float("nan"))
    interpret(bound, stage, {"x": x, "out": out}, seed)
    assert_close(out, torch.softmax(x.double(), -1), length=n, c=2.0)


@pytest.mark.parametrize("config", ROW_CONFIGS, ids=lambda config: config["cols.strategy"])
@pytest.mark.parametrize("stage", STAGES)
def test_layer_norm(stage: str, config: dict[str, int | str], seed: int) -> None:
    numbers = random.Random(seed)
    m, n = numbers.randrange(1, 6), numbers.choice([31, 64, 65, 129, 257])
    torch.manual_seed(seed)
    x, weight, bias = torch.randn(m, n), torch.randn(n), torch.randn(n)
    arguments = (x, weight, bias, 1e-5)
    bound = layer_norm_rows.bind(
        *arguments, target="gfx950", config=named_rows(config, row_dim(layer_norm_rows, *arguments))
    )
    out = torch.full_like(x, float("nan"))
    tensors = {"x": x, "weight": weight, "bias": bias, "out": out}
    interpret(bound, stage, tensors, seed, (1e-5,))
    expected = torch.nn.functional.layer_norm(
        x.double(), [n], weight.double(), bias.double(), eps=1e-5
    )
    assert_close(out, expected, length=n, c=4.0)


@pytest.mark.parametrize("stage", STAGES)
def test_rms_norm(stage: str, seed: int) -> None:
    torch.manual_seed(seed)
    n = random.Random(seed).choice([2, 7, 64, 65, 129, 257])
    x, weight = torch.randn(3, n), torch.randn(n)
    bound = rms_norm_rows.bind(x, weight, 1e-6, target="gfx950")
    out = torch.full_like(x, float("nan"))
    interpret(bound, stage, {"x": x, "weight": weight, "out": out}, seed, (1e-6,))
    scale = torch.rsqrt((x.double() ** 2).mean(-1, keepdim=True) + 1e-6)
    assert_close(out, x.double() * scale * weight.double(), length=n, c=2.0)


@pytest.mark.parametrize("stage", STAGES)
def test_matmul(stage: str, seed: int) -> None:
    numbers = random.Random(seed)
    m, n, k = (numbers.randrange(1, 40) for _ in range(3))
    torch.manual_seed(seed)
    x = torch.randn(m, k).to(torch.float16)
    y = torch.randn(k, n).to(torch.float16)
    bound = matmul.bind(
        x, y, target="gfx950", config={"rows": 32, "cols": 32, "inner": 32, "waves": 1}
    )
    out = torch.full((m, n), float("nan"), dtype=x.dtype)
    interpret(bound, stage, {"x": x, "y": y, "out": out}, seed)
    assert_close(out, x.double() @ y.double(), length=k, c=2.0)


def test_results_do_not_depend_on_the_order_of_blocks(seed: int) -> None:
    torch.manual_seed(seed)
    x = torch.randn(13, 37)
    bound = softmax_rows.bind(x, target="gfx950", config={"rows": 1})
    results = []
    for order in range(3):
        out = torch.full_like(x, float("nan"))
        interpret(bound, "final", {"x": x, "out": out}, seed + order)
        results.append(out)
    assert torch.equal(results[0], results[1])
    assert torch.equal(results[0], results[2])


def test_errors_name_the_operation() -> None:
    text = """tile.kernel @k(%n: index) {
      tile.guard %n at_most 4 "cols <= capacity"
      tile.return
    }"""
    _C.interpret(text, [], [4])
    with pytest.raises(CompilationError, match=r"'tile.guard' op does not hold: 5 is more than 4"):
        _C.interpret(text, [], [5])
    with pytest.raises(CompilationError, match="needs number 0 of the integers"):
        _C.interpret(text, [])
    with pytest.raises(CompilationError):
        _C.interpret("tile.kernel", [])


def test_buffers_must_be_writable_and_contiguous() -> None:
    text = "tile.kernel @k(%x: !tile.pointer<i8>) { tile.return }"
    _C.interpret(text, [bytearray(4)])
    with pytest.raises((BufferError, TypeError, ValueError)):
        _C.interpret(text, [b"abcd"])
    with pytest.raises(ValueError, match="contiguous"):
        _C.interpret(text, [torch.zeros(4, 4, dtype=torch.uint8).t()[:, ::2].numpy()])
