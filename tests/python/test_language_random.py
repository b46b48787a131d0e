# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Random numbers: Philox's known answers, independence of block sizes, distributions."""

import numpy
import pytest
import torch
import wavetile
import wavetile.language as wl

WORD = 0xFFFFFFFF


def philox(counter: list[int], key: list[int]) -> list[int]:
    """Philox 4x32-10 in Python's integers."""
    c, k = list(counter), list(key)
    for _ in range(10):
        first, second = c[0] * 0xD2511F53, c[2] * 0xCD9E8D57
        c = [(second >> 32) ^ c[1] ^ k[0], second & WORD, (first >> 32) ^ c[3] ^ k[1], first & WORD]
        k = [(k[0] + 0x9E3779B9) & WORD, (k[1] + 0xBB67AE85) & WORD]
    return c


def test_reference() -> None:
    """The known answers of Random123 (kat_vectors)."""
    assert philox([0] * 4, [0] * 2) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    assert philox([WORD] * 4, [WORD] * 2) == [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]


@wavetile.kernel
def uniform(seed: int, out: torch.Tensor) -> None:
    for rows, cols in wl.tile([out.size(0), out.size(1)]):
        out[rows, cols] = wl.rand([rows, cols], seed)


@wavetile.kernel
def uniform_rows(seed: int, out: torch.Tensor) -> None:
    for rows in wl.tile(out.size(0), block_size=4):
        out[rows, :] = wl.rand([rows, out.size(1)], seed)


def wanted(seed: int, shape: tuple[int, int]) -> torch.Tensor:
    key = [seed & WORD, seed >> 32 & WORD]
    numbers = []
    for place in range(shape[0] * shape[1]):
        word = philox([place, 0, 0, 0], key)[0]
        word = word ^ WORD if word >> 31 else word
        numbers.append(float(numpy.float32(word) * numpy.float32(4.6566127342e-10)))
    return torch.tensor(numbers).reshape(shape)


@pytest.mark.parametrize("seed", [0, 1, 123456789012345, -1, 2**63 - 1])
def test_uniform(seed: int) -> None:
    out = torch.full((7, 33), 77.0)
    uniform(seed, out)
    assert torch.equal(out, wanted(seed, (7, 33)))


def test_numbers_do_not_depend_on_blocks() -> None:
    shape = (13, 35)
    results = []
    for kernel in (uniform, uniform_rows):
        out = torch.full(shape, 77.0)
        kernel(42, out)
        results.append(out)
    assert torch.equal(results[0], results[1])
    assert torch.equal(results[0], wanted(42, shape))


@wavetile.kernel
def integers(seed: int, low: int, high: int, out: torch.Tensor) -> None:
    for rows, cols in wl.tile([out.size(0), out.size(1)]):
        out[rows, cols] = wl.randint([rows, cols], low, high, seed)


@pytest.mark.parametrize(("low", "high"), [(0, 2), (-5, 6), (3, 1000)])
def test_integers(low: int, high: int) -> None:
    shape = (31, 67)
    out = torch.full(shape, 7777, dtype=torch.int32)
    integers(9, low, high, out)
    words = [philox([place, 0, 0, 0], [9, 0])[0] for place in range(shape[0] * shape[1])]
    assert out.flatten().tolist() == [low + word % (high - low) for word in words]


@wavetile.kernel
def normal(seed: int, out: torch.Tensor) -> None:
    for rows, cols in wl.tile([out.size(0), out.size(1)]):
        out[rows, cols] = wl.randn([rows, cols], seed)


def test_normal() -> None:
    out = torch.full((101, 103), 77.0)
    normal(5, out)
    count = out.numel()
    # Five deviations of the mean, and of the variance, of that many numbers.
    assert out.mean().abs() < 5 / count**0.5
    assert (out.var() - 1).abs() < 5 * (2 / count) ** 0.5
    assert torch.equal(out.isfinite(), torch.ones_like(out, dtype=torch.bool))
    below_one = (out.abs() < 1).float().mean()
    assert (below_one - 0.6827).abs() < 5 * (0.2166 / count) ** 0.5
