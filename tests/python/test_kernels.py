# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The op library against float64, at shapes that are no multiple of anything."""

import pytest
import torch
import torch.nn.functional as F  # noqa: N812 (its usual name)
from wavetile import kernels
from wavetile.testing import assert_close

DTYPES = [torch.float32, torch.float16, torch.bfloat16]
SHAPES = [(1, 1), (3, 5, 77), (37, 1009)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_softmax(dtype: torch.dtype, shape: tuple[int, ...], generator: torch.Generator) -> None:
    x = torch.randn(shape, generator=generator).to(dtype)
    assert_close(kernels.softmax(x), torch.softmax(x.double(), -1), length=shape[-1], c=2.0)


def test_softmax_over_another_dimension(generator: torch.Generator) -> None:
    x = torch.randn(3, 65, 7, generator=generator)
    assert_close(kernels.softmax(x, dim=1), torch.softmax(x.double(), 1), length=65, c=2.0)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_rms_norm(dtype: torch.dtype, shape: tuple[int, ...], generator: torch.Generator) -> None:
    x = torch.randn(shape, generator=generator).to(dtype)
    weight = torch.randn(shape[-1], generator=generator).to(dtype)
    expected = F.rms_norm(x.double(), shape[-1:], weight.double(), 1e-5)
    assert_close(kernels.rms_norm(x, weight), expected, length=shape[-1], c=2.0)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_layer_norm(dtype: torch.dtype, shape: tuple[int, ...], generator: torch.Generator) -> None:
    x = torch.randn(shape, generator=generator).to(dtype)
    weight = torch.randn(shape[-1], generator=generator).to(dtype)
    bias = torch.randn(shape[-1], generator=generator).to(dtype)
    expected = F.layer_norm(x.double(), shape[-1:], weight.double(), bias.double(), 1e-5)
    assert_close(kernels.layer_norm(x, weight, bias), expected, length=shape[-1], c=2.0)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("sizes", [(1, 1, 1), (17, 33, 49), (131, 257, 193)])
def test_matmul(
    dtype: torch.dtype, sizes: tuple[int, int, int], generator: torch.Generator
) -> None:
    m, k, n = sizes
    x = torch.randn(m, k, generator=generator).to(dtype)
    y = torch.randn(k, n, generator=generator).to(dtype)
    assert_close(kernels.matmul(x, y), x.double() @ y.double(), length=k, c=2.0)
