# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Liger-Kernel 0.8.5's kernels, forward and backward, with random upstream gradients.

Its operations are called as a model calls them, on CPU tensors. Nothing of Liger is changed; torch
is made to say that it is built for HIP, by which Liger knows that a workgroup has 16 waves of 64.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
import torch
from liger_kernel import ops
from torch.nn import functional
from wavetile.device import triton as software

from tests.python.clients.launches import launched

Shapes = tuple[tuple[int, ...], ...]
Function = Callable[..., torch.Tensor | tuple[torch.Tensor, ...]]


@dataclass(frozen=True)
class Operation:
    """What to call, what it should give, and which kernels that takes.

    `prepare` makes the leaves of the graph from normal random numbers of these shapes.
    """

    shapes: Shapes
    liger: Function
    reference: Function
    kernels: dict[str, int]
    prepare: Callable[[torch.Tensor], torch.Tensor] = field(default=lambda x: x)


def labels(rows: int, classes: int, ignored: int = 2) -> torch.Tensor:
    """A class for each row; some are to be ignored."""
    result = torch.arange(rows) * 7919 % classes
    result[:: rows // ignored] = -100
    return result


def norm(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return x * torch.rsqrt(x.square().mean(dim=-1, keepdim=True) + 1e-6) * w


def rotated(x: torch.Tensor, angle: torch.Tensor) -> torch.Tensor:
    half = x.shape[-1] // 2
    turned = torch.cat([-x[..., half:], x[..., :half]], dim=-1)
    return x * angle.cos() + turned * angle.sin()


def angles(length: int, head: int) -> torch.Tensor:
    """The angle of each position and channel; the halves of a head turn alike."""
    speed = 10000.0 ** (-torch.arange(0, head, 2).double() / head)
    angle = torch.arange(length).double()[:, None] * speed
    return torch.cat([angle, angle], dim=-1)


def rope(q: torch.Tensor, k: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    angle = angles(*q.shape[-2:])
    # Liger rotates in place; a leaf of the graph must stay as it is.
    return ops.LigerRopeFunction.apply(
        q.clone(), k.clone(), angle.cos().to(q.dtype)[None], angle.sin().to(q.dtype)[None]
    )


def rope_reference(q: torch.Tensor, k: torch.Tensor) -> tuple[torch.Tensor, ...]:
    angle = angles(*q.shape[-2:])
    return rotated(q, angle), rotated(k, angle)


def cross_entropy(x: torch.Tensor) -> torch.Tensor:
    target = labels(*x.shape)
    # Liger stores the gradient over the logits.
    loss = ops.LigerCrossEntropyFunction.apply(x.clone(), target, None, -100, 0.0, 0.0, "mean")
    return loss[0]


def smoothed_cross_entropy(x: torch.Tensor) -> torch.Tensor:
    """With label smoothing, z-loss and softcap, a loss for each row summed."""
    target = labels(*x.shape)
    loss = ops.LigerCrossEntropyFunction.apply(x.clone(), target, None, -100, 1e-2, 0.1, "sum", 5.0)
    return loss[0]


def smoothed_cross_entropy_reference(x: torch.Tensor) -> torch.Tensor:
    target = labels(*x.shape)
    capped = 5 * torch.tanh(x / 5)
    loss = functional.cross_entropy(
        capped, target, ignore_index=-100, label_smoothing=0.1, reduction="sum"
    )
    return loss + 1e-2 * (torch.logsumexp(capped, dim=1).square() * (target != -100)).sum()


def linear_cross_entropy(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    target = labels(x.shape[0], w.shape[0])
    options = (None, -100, 0.0, 0.0, "mean", None, False, torch.float32)
    return ops.LigerFusedLinearCrossEntropyFunction.apply(x, w, target, b, *options)[0]


def linear_cross_entropy_reference(
    x: torch.Tensor, w: torch.Tensor, b: torch.Tensor
) -> torch.Tensor:
    return functional.cross_entropy(x @ w.T + b, labels(x.shape[0], w.shape[0]), ignore_index=-100)


def teacher(like: torch.Tensor, logarithm: bool = False) -> torch.Tensor:
    """Probabilities of a teacher for each row, or their logarithms, as bf16 holds them."""
    rows, classes = like.shape
    logits = 2 * torch.sin(torch.arange(rows * classes).double() * 1.7).view(rows, classes)
    result = torch.log_softmax(logits, dim=1) if logarithm else torch.softmax(logits, dim=1)
    return result.bfloat16().to(like.dtype)


def jsd_reference(x: torch.Tensor) -> torch.Tensor:
    """Generalised with beta 0.3: x are the student's log-probabilities."""
    q, log_p = x.exp(), teacher(x, logarithm=True)
    p = log_p.exp()
    mixed = (0.3 * p + 0.7 * q).log()
    divergence = 0.3 * p * (log_p - mixed) + 0.7 * q * (x - mixed)
    return divergence.sum() / x.shape[0]


def tvd_reference(q: torch.Tensor) -> torch.Tensor:
    return 0.5 * (q - teacher(q)).abs().sum() / q.shape[0]


OPERATIONS = {
    "rms_norm": Operation(
        ((5, 1009), (1009,)),
        lambda x, w: ops.LigerRMSNormFunction.apply(x, w, 1e-6, 0.0, "llama", False, True),
        norm,
        {"_rms_norm_forward_kernel": 1, "_rms_norm_backward_kernel": 1},
    ),
    "rms_norm of short rows": Operation(
        ((32771, 5), (5,)),
        lambda x, w: ops.LigerRMSNormFunction.apply(x, w, 1e-6, 0.0, "gemma", False, False),
        norm,
        {"_block_rms_norm_forward_kernel": 1, "_block_rms_norm_backward_kernel": 1},
    ),
    "fused_add_rms_norm": Operation(
        ((3, 517), (3, 517), (517,)),
        lambda x, r, w: ops.LigerFusedAddRMSNormFunction.apply(x, r, w, 1e-6),
        lambda x, r, w: (norm(x + r, w), x + r),
        {"_fused_add_rms_norm_forward_kernel": 1, "_fused_add_rms_norm_backward_kernel": 1},
    ),
    "layer_norm": Operation(
        ((5, 1009), (1009,), (1009,)),
        lambda x, w, b: ops.LigerLayerNormFunction.apply(x, w, b, 1e-6),
        lambda x, w, b: functional.layer_norm(x, (1009,), w, b, 1e-6),
        {"_layer_norm_forward_kernel": 1, "_layer_norm_backward_kernel": 1},
    ),
    "group_norm": Operation(
        ((2, 6, 101), (6,), (6,)),
        lambda x, w, b: ops.LigerGroupNormFunction.apply(x, w, b, 6, 3, 1e-6),
        lambda x, w, b: functional.group_norm(x, 3, w, b, 1e-6),
        {"_group_norm_forward_kernel": 1, "_group_norm_backward_kernel": 1},
    ),
    "softmax": Operation(
        ((5, 1009),),
        ops.LigerSoftmaxFunction.apply,
        lambda x: torch.softmax(x, dim=-1),
        {
            "_softmax_single_block_forward_kernel": 1,
            "_softmax_single_block_backward_kernel": 1,
        },
    ),
    "sparsemax": Operation(
        ((3, 113),),
        lambda x: ops.LigerSparsemaxFunction.apply(x, -1),
        lambda x: sparsemax(x),
        {"_sparsemax_forward_kernel": 1, "_sparsemax_backward_kernel": 1},
    ),
    "swiglu": Operation(
        ((5, 1009), (5, 1009)),
        ops.LigerSiLUMulFunction.apply,
        lambda a, b: functional.silu(a) * b,
        {"_swiglu_forward_kernel": 1, "_swiglu_backward_kernel": 1},
    ),
    "geglu": Operation(
        ((5, 257), (5, 257)),
        ops.LigerGELUMulFunction.apply,
        lambda a, b: functional.gelu(a, approximate="tanh") * b,
        {"_geglu_tanh_forward_kernel": 1, "_geglu_tanh_backward_kernel": 1},
    ),
    "relu_squared": Operation(
        ((5, 257),),
        ops.LigerReLUSquaredFunction.apply,
        lambda x: functional.relu(x).square(),
        {"_relu_squared_forward_kernel": 1, "_relu_squared_backward_kernel": 1},
    ),
    "rope": Operation(
        ((2, 5, 13, 64), (2, 3, 13, 64)),
        rope,
        rope_reference,
        {"_triton_rope": 2},
    ),
    "cross_entropy": Operation(
        ((7, 1009),),
        cross_entropy,
        lambda x: functional.cross_entropy(x, labels(*x.shape), ignore_index=-100),
        {"liger_cross_entropy_kernel": 1, "element_mul_kernel": 1},
    ),
    "cross_entropy with all options": Operation(
        ((7, 1009),),
        smoothed_cross_entropy,
        smoothed_cross_entropy_reference,
        {"liger_cross_entropy_kernel": 1, "element_mul_kernel": 1},
    ),
    "fused_linear_cross_entropy": Operation(
        ((11, 64), (509, 64), (509,)),
        linear_cross_entropy,
        linear_cross_entropy_reference,
        {"liger_cross_entropy_kernel": 6, "element_mul_kernel": 3},
        lambda x: x / 3,  # Logits near 1: they are rounded to the dtype.
    ),
    "kl_div": Operation(
        ((5, 1009),),
        lambda x: ops.LigerKLDivLossFunction.apply(x, teacher(x), "batchmean", False, 1e-10),
        lambda x: functional.kl_div(x, teacher(x), reduction="batchmean"),
        {"_kldiv_kernel_forward": 1, "_kldiv_kernel_backward": 1},
        lambda x: torch.log_softmax(x, dim=-1),
    ),
    "jsd": Operation(
        ((5, 509),),
        lambda x: ops.LigerJSDFunction.apply(x, teacher(x, logarithm=True), None, 0.3),
        jsd_reference,
        {"_jsd_kernel": 1},
        lambda x: torch.log_softmax(x, dim=-1),
    ),
    "tvd": Operation(
        ((5, 509),),
        lambda q: ops.LigerTVDLossFunction.apply(q, teacher(q), None, "batchmean"),
        tvd_reference,
        {"_tv_distance_kernel": 1},
        lambda x: torch.softmax(x, dim=-1),
    ),
}


def sparsemax(x: torch.Tensor) -> torch.Tensor:
    """The projection of each row on the simplex."""
    ordered = x.sort(dim=-1, descending=True).values
    total = ordered.cumsum(dim=-1) - 1
    count = torch.arange(1, x.shape[-1] + 1)
    support = (ordered * count > total).sum(dim=-1, keepdim=True)
    return functional.relu(x - total.gather(-1, support - 1) / support)


def assert_near(actual: torch.Tensor, expected: torch.Tensor, dtype: torch.dtype) -> None:
    """No error is over 4 eps of the largest expected magnitude; f32 sums of long rows get 32."""
    error = (actual.double() - expected).abs().max().item()
    factor = 32 if dtype == torch.float32 else 4
    assert error <= factor * torch.finfo(dtype).eps * expected.abs().max().item(), error


def outputs(result: torch.Tensor | tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
    return result if isinstance(result, tuple) else (result,)


@pytest.fixture
def built_for_hip(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.version, "hip", "7.0")


@pytest.mark.usefixtures("built_for_hip")
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name", OPERATIONS)
def test_liger(
    device: software.SoftwareDriver,
    target: str,
    generator: torch.Generator,
    name: str,
    dtype: torch.dtype,
) -> None:
    operation = OPERATIONS[name]
    data = [
        operation.prepare(torch.randn(shape, generator=generator)).to(dtype)
        for shape in operation.shapes
    ]
    leaves = [x.clone().requires_grad_() for x in data]
    exact = [x.double().requires_grad_() for x in data]
    result = outputs(operation.liger(*leaves))
    expected = outputs(operation.reference(*exact))
    upstream = [torch.randn(x.shape, generator=generator).to(x.dtype) for x in result]
    torch.autograd.backward(result, upstream)
    torch.autograd.backward(expected, [x.double() for x in upstream])
    for actual, wanted in zip(result, expected):
        assert_near(actual, wanted, dtype)
    for leaf, wanted in zip(leaves, exact):
        assert leaf.grad is not None
        assert wanted.grad is not None
        assert_near(leaf.grad, wanted.grad, dtype)
    assert launched(device.library, target) == operation.kernels
