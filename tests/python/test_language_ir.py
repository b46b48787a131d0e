# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The module that the frontend makes: fast math, argument attributes, names, locations."""

import re
from typing import Any

import torch
import wavetile
import wavetile.language as wl


@wavetile.kernel
def softmax(x: torch.Tensor) -> torch.Tensor:
    m, n = x.size()
    out = torch.empty_like(x)
    for rows in wl.tile(m):
        v = x[rows, :].to(torch.float32)
        e = torch.exp(v - torch.amax(v, dim=-1, keepdim=True))
        out[rows, :] = (e / e.sum(dim=-1, keepdim=True)).to(x.dtype)
    return out


def meta(*sizes: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.empty(sizes, dtype=dtype, device="meta")


def operations(text: str, name: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if re.search(rf"{name}\b", line)]


def test_fast_math_flags() -> None:
    text = softmax.bind(meta(37, 1001)).ir("tile")
    assert "fastmath<contract>" in operations(text, "arith.subf")[0]
    assert "fastmath<contract,afn>" in operations(text, "math.exp")[0]
    assert "fastmath<arcp,contract>" in operations(text, "arith.divf")[0]
    assert "reassociate" in operations(text, "tile.reduce sum")[0]
    assert "reassociate" not in operations(text, "tile.reduce maximum")[0]
    assert not re.search("nnan|ninf|nsz|fast>", text)


def test_without_fast_math() -> None:
    exact = wavetile.kernel(fast_math=False)(softmax.source.function)
    text = exact.bind(meta(37, 1001)).ir("tile")
    assert "fastmath" not in text
    assert "reassociate" not in text


def test_dimensions_are_named_after_variables() -> None:
    text = softmax.bind(meta(37, 1001)).ir("tile")
    assert 'dims ["rows"]' in text
    assert "tensor<?x?xf32, #tile.dims<[rows, n]>>" in text


def test_argument_attributes() -> None:
    text = softmax.bind(meta(37, 1008, dtype=torch.bfloat16)).ir("tile")
    (kernel,) = operations(text, "tile.kernel")
    assert kernel.count("!tile.pointer<bf16> {tile.align = 16 : i64") == 2
    assert 'tile.divisor = 8 : i64, tile.hint = 1008 : i64, tile.name = "x.size(1)"' in kernel
    # The row strides of both and the sizes of the second are those of the first.
    assert kernel.count(": index {") == 2
    assert kernel.endswith("attributes {disjoint} {")


def test_overlapping_tensors_are_not_disjoint() -> None:
    base = torch.zeros(8, 24)
    copy = wavetile.kernel(copy_rows)
    assert "disjoint" not in copy.bind(base, base).ir("tile")
    assert "disjoint" in copy.bind(base, base.clone()).ir("tile")


def copy_rows(x: torch.Tensor, out: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        out[rows, :] = x[rows, :]


def test_rounding_after_each_operation_on_16_bits() -> None:
    @wavetile.kernel
    def twice(x: torch.Tensor) -> None:
        for rows in wl.tile(x.size(0)):
            x[rows, :] = x[rows, :] * 3 + 1

    text = twice.bind(meta(5, 7, dtype=torch.bfloat16)).ir("tile")
    assert len(operations(text, "arith.truncf")) == 2


def test_module_is_the_same_each_time() -> None:
    assert softmax.bind(meta(37, 1001)).ir("tile") == softmax.bind(meta(37, 1001)).ir("tile")


def inner(v: Any) -> Any:
    return v + 1


@wavetile.kernel
def calls(x: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        x[rows, :] = inner(x[rows, :]) * 2


def test_every_operation_has_a_line() -> None:
    (region,) = calls.bind(meta(5, 7)).regions
    text = region.compiled.traced.module.str(locations=True)
    assert "unknown" not in text.split("#loc")[0]
    first = inner.__code__.co_firstlineno
    assert re.search(rf'callsite\("{re.escape(__file__)}":{first + 1}:\d+ at ', text) or re.search(
        r"callsite\(#loc\d* at #loc\d*\)", text
    )
    assert f'"{__file__}":{first + 1}:' in text
