# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Kernels as operators of torch, and gradients that their authors give."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
import wavetile
import wavetile.language as wl
from wavetile.errors import ArgumentError
from wavetile.testing import assert_close


@wavetile.kernel
def softmax_kernel(x: torch.Tensor, scale: float = 1.0) -> torch.Tensor:
    out = torch.empty_like(x)
    for rows in wl.tile(x.size(0)):
        v = x[rows, :] * scale
        e = torch.exp(v - torch.amax(v, dim=-1, keepdim=True))
        out[rows, :] = e / e.sum(dim=-1, keepdim=True)
    return out


@wavetile.torch_op("wavetile_tests::softmax_gradient")
@wavetile.kernel
def softmax_gradient(y: torch.Tensor, grad: torch.Tensor, scale: float) -> torch.Tensor:
    out = torch.empty_like(y)
    for rows in wl.tile(y.size(0)):
        product = y[rows, :] * grad[rows, :]
        inner = product.sum(dim=-1, keepdim=True)
        out[rows, :] = scale * (product - y[rows, :] * inner)
    return out


def save(ctx: Any, inputs: tuple[Any, ...], output: torch.Tensor) -> None:
    ctx.save_for_backward(output)
    ctx.scale = inputs[1]


def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor, None]:
    (y,) = ctx.saved_tensors
    return softmax_gradient(y, grad.contiguous(), ctx.scale), None


softmax_kernel.register_backward(backward, setup_context=save)
softmax = wavetile.torch_op("wavetile_tests::softmax", softmax_kernel)


@wavetile.torch_op("wavetile_tests::add_to", mutates_args=["total"])
@wavetile.kernel
def add_to(total: torch.Tensor, x: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        total[rows, :] = total[rows, :] + x[rows, :]


@wavetile.torch_op("wavetile_tests::row_extremes")
@wavetile.kernel
def row_extremes(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    m, _ = x.size()
    low, high = x.new_empty([m]), x.new_empty([m])
    for rows in wl.tile(m):
        low[rows] = x[rows, :].amin(-1)
        high[rows] = x[rows, :].amax(-1)
    return low, high


@pytest.mark.parametrize("call", [softmax, softmax_kernel], ids=["operator", "kernel"])
def test_gradients_are_those_of_torch(
    call: Callable[..., torch.Tensor], generator: torch.Generator
) -> None:
    x = torch.randn(5, 77, generator=generator, requires_grad=True)
    upstream = torch.randn(5, 77, generator=generator)
    y = call(x, 0.5)
    y.backward(upstream)
    wide = x.detach().double().requires_grad_()
    wanted = torch.softmax(wide * 0.5, -1)
    wanted.backward(upstream.double())
    assert_close(y.detach(), wanted.detach(), c=4)
    assert x.grad is not None
    assert wide.grad is not None
    assert_close(x.grad, wide.grad, length=77)


def test_a_kernel_called_by_keywords_records_gradients(generator: torch.Generator) -> None:
    x = torch.randn(3, 9, generator=generator, requires_grad=True)
    assert softmax_kernel(scale=2.0, x=x).requires_grad
    with torch.no_grad():
        assert not softmax_kernel(x).requires_grad
    assert not softmax_kernel(x.detach()).requires_grad


def test_torch_checks_the_operators(generator: torch.Generator) -> None:
    x = torch.randn(3, 17, generator=generator)
    torch.library.opcheck(softmax.op, (x.clone().requires_grad_(), 0.25))
    torch.library.opcheck(softmax.op, (x.t(),), {"scale": 3.0})
    torch.library.opcheck(add_to.op, (x.clone(), x))
    torch.library.opcheck(row_extremes.op, (x,))


@pytest.mark.parametrize("dynamic", [False, True])
def test_a_compiled_model_has_no_graph_break(dynamic: bool, generator: torch.Generator) -> None:
    def model(x: torch.Tensor, total: torch.Tensor) -> torch.Tensor:
        y = softmax(x.relu(), 2.0)
        add_to(total, y)
        low, high = row_extremes(total)
        return (y * (high - low)[:, None]).sum()

    compiled = torch.compile(model, fullgraph=True, backend="aot_eager", dynamic=dynamic)
    for columns in (13, 29):
        x = torch.randn(4, columns, generator=generator, requires_grad=True)
        total = torch.randn(4, columns, generator=generator)
        own_total = total.clone()
        result, wanted = compiled(x, total), model(x, own_total)
        assert torch.equal(total, own_total)
        assert torch.equal(result, wanted)
        (gradient,) = torch.autograd.grad(result, x)
        (expected,) = torch.autograd.grad(wanted, x)
        assert torch.equal(gradient, expected)


def test_fake_tensors_give_sizes_and_dtypes() -> None:
    x = torch.empty(4, 9, dtype=torch.bfloat16, device="meta")
    y = softmax(x)
    assert (y.shape, y.dtype, y.device.type) == (x.shape, x.dtype, "meta")


def never_called(x: torch.Tensor, out: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        out[rows] = x[rows]


def without_annotation(x) -> None:  # type: ignore[no-untyped-def]
    for rows in wl.tile(x.size(0)):
        x[rows] = 0


@pytest.mark.parametrize(
    ("name", "function", "mutated", "message"),
    [
        ("softmax", never_called, ["out"], "is not the name of an operator"),
        ("a::b::c", never_called, ["out"], "is not the name of an operator"),
        ("wavetile_tests::a", never_called, [], r'mutates_args=\["out"\]'),
        ("wavetile_tests::b", never_called, ["out", "y"], "`y` in mutates_args is no parameter"),
        ("wavetile_tests::c", without_annotation, ["x"], "annotate every parameter"),
    ],
)
def test_mistakes(
    name: str, function: Callable[..., Any], mutated: list[str], message: str
) -> None:
    with pytest.raises(ArgumentError, match=message):
        wavetile.torch_op(name, wavetile.kernel(function), mutates_args=mutated)


def test_an_operator_may_not_return_its_argument() -> None:
    @wavetile.torch_op("wavetile_tests::returns_argument", mutates_args=["x"])
    @wavetile.kernel
    def cleared(x: torch.Tensor) -> torch.Tensor:
        for rows in wl.tile(x.size(0)):
            x[rows] = 0
        return x

    with pytest.raises(ArgumentError, match="returns one of its arguments"):
        cleared(torch.ones(3))
