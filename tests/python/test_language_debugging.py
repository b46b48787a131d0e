# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Prints, assertions and instructions by name, on each target."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
import torch
import wavetile
import wavetile.language as wl
from wavetile.errors import DeviceError

from tests.python.conftest import TARGETS
from tests.python.end_to_end import in_python, on

#: What has AMD's instructions; the host backend has those of this machine.
GPUS = [target for target in TARGETS if target.startswith("gfx")]

# -- Prints


@wavetile.kernel
def show(x: torch.Tensor, y: torch.Tensor, out: torch.Tensor) -> None:
    for rows, cols in wl.tile([x.size(0), x.size(1)]):
        v = x[rows, cols]
        wl.device_print("100% x", v, y[cols])
        out[rows, cols] = v


def printed(capfd: pytest.CaptureFixture[str]) -> list[str]:
    return sorted(capfd.readouterr()[0].splitlines())


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("config", [None, {"rows": 4, "cols": 8}, {"rows": 1, "cols": 64}])
def test_a_line_for_each_element(
    target: str, config: Any, generator: torch.Generator, capfd: pytest.CaptureFixture[str]
) -> None:
    x = torch.randn(5, 11, generator=generator)
    y = torch.randint(-(2**40), 2**40, (11,), generator=generator)
    out = torch.empty_like(x)
    on(show, target, config)(x, y, out)
    assert torch.equal(out, x)
    expected = [
        f"100% x [{i}, {j}]: {x[i, j].item():.9g}, {y[j].item()}"
        for i in range(5)
        for j in range(11)
    ]
    assert printed(capfd) == sorted(expected)


@wavetile.kernel
def show_all(x: torch.Tensor, b: torch.Tensor, h: torch.Tensor, n: int, s: float) -> None:
    for rows in wl.tile(x.size(0), block_size=4):
        wl.device_print("block")
        wl.device_print("values", rows, x[rows], b[rows], h[rows], n, s, 7)
        print(rows.begin)


@pytest.mark.parametrize("target", TARGETS)
def test_dtypes_and_numbers(target: str, capfd: pytest.CaptureFixture[str]) -> None:
    x = torch.tensor([0.1, float("inf"), float("nan"), -0.0, 5e-324], dtype=torch.float64)
    b = torch.tensor([True, False, True, True, False])
    h = torch.tensor([0.1, 1e-3, 3e38, -1.5, 7.0], dtype=torch.bfloat16)
    on(show_all, target)(x, b, h, -3, 0.5)
    expected = ["block", "block", ": 0", ": 4"]
    for i in range(5):
        value = f"{x[i].item():.17g}"
        expected.append(f"values [{i}]: {i}, {value}, {int(b[i])}, {h[i].item():.4g}, -3, 0.5, 7")
    assert printed(capfd) == sorted(expected)


def test_prints_in_python(capfd: pytest.CaptureFixture[str]) -> None:
    x, y = torch.arange(6.0).view(2, 3) / 3, torch.arange(3)
    out = torch.empty_like(x)
    in_python(show)(x, y, out)
    interpreted = printed(capfd)
    show(x, y, out)
    assert printed(capfd) == interpreted
    assert len(interpreted) == 6


@wavetile.kernel
def show_long_row(x: torch.Tensor) -> torch.Tensor:
    m, n = x.size()
    out = torch.empty([m])
    for rows in wl.tile(m):
        v = x[rows, :] - x[rows, :].mean(-1)[:, None]
        wl.device_print("v", v)
        wl.device_assert(v < 1e9, "small")
        out[rows] = v.sum(-1)
    return out


@pytest.mark.parametrize("strategy", ["resident", "looped", "grid"])
def test_rows_in_chunks(strategy: str, capfd: pytest.CaptureFixture[str]) -> None:
    config = {"n.strategy": strategy, "n": 256 if strategy != "resident" else 1024}
    if strategy == "grid":
        config["n.blocks"] = 2
    x = torch.arange(600.0).repeat(2, 1)
    on(show_long_row, TARGETS[0], config)(x)
    expected = [f"v [{i}, {j}]: {j - 299.5:.9g}" for i in range(2) for j in range(600)]
    assert printed(capfd) == sorted(expected)


# -- Assertions


@wavetile.kernel
def check(x: torch.Tensor, out: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0), block_size=32):
        v = x[rows]
        wl.device_assert(v < 10, "all are below ten")
        out[rows] = v


@pytest.mark.parametrize("target", TARGETS)
def test_an_assertion_that_holds(target: str) -> None:
    x = torch.arange(9.0).repeat(5)
    out = torch.zeros_like(x)
    on(check, target)(x, out)
    assert torch.equal(x, out)


@pytest.mark.parametrize("target", TARGETS)
def test_an_assertion_that_fails(target: str, capfd: pytest.CaptureFixture[str]) -> None:
    x = torch.zeros(67)
    x[65] = 10
    with pytest.raises(DeviceError) as caught:
        on(check, target)(x, torch.zeros_like(x))
    assert caught.value.hip_error == "hipErrorLaunchFailure"
    assert ("s_trap" if target in GPUS else "[65]: all are below ten") in caught.value.report
    lines, first = inspect.getsourcelines(check.source.function)
    place = next(first + i for i, line in enumerate(lines) if "device_assert" in line)
    assert f"test_language_debugging.py:{place}:" in caught.value.report
    (line,) = printed(capfd)
    assert line == f"{__file__}:{place}: assertion failed [65]: all are below ten"


@wavetile.kernel
def check_python(x: torch.Tensor, n: wl.constexpr) -> None:
    for rows in wl.tile(x.size(0), block_size=16):
        assert n == 4, "four"
        assert x[rows].amax() < 10


def test_assert_statements() -> None:
    check_python(torch.zeros(20), 4)
    with pytest.raises(DeviceError) as caught:
        check_python(torch.full([20], 11.0), 4)
    assert caught.value.hip_error == "hipErrorLaunchFailure"
    with pytest.raises(wavetile.errors.ArgumentError, match="does not hold: four"):
        check_python(torch.zeros(20), 5)


def test_assertions_in_python() -> None:
    interpreted = in_python(check)
    interpreted(torch.zeros(5), torch.zeros(5))
    with pytest.raises(AssertionError, match="all are below ten"):
        interpreted(torch.full([5], 11.0), torch.zeros(5))


# -- Instructions


#: Instructions and LLVM's constraints, for a GPU and for the host (an x86 CPU; AT&T's syntax).
MAXIMUM = {True: ("v_max_f32 $0, $1, $2", "=v,v,v"), False: ("maxss $2, $0", "=x,0,x")}

#: Sums of halves of 32 bits, and twice two numbers of 64 bits.
SUMS = {
    True: (
        "v_pk_add_u16 $0, $3, $4\nv_lshlrev_b64 $1, 1, $5\nv_lshlrev_b64 $2, 1, $6",
        "=&v,=&v,=&v,v,v,v,v",
    ),
    False: ("paddw $4, $0\nshlq $1\nshlq $2", "=x,=r,=r,0,x,1,2"),
}


@wavetile.kernel
def larger(x: torch.Tensor, y: torch.Tensor, code: wl.constexpr) -> torch.Tensor:
    out = torch.empty_like(x)
    for rows in wl.tile(x.size(0)):
        out[rows] = wl.inline_asm(code[0], code[1], [x[rows], y[rows]], torch.float32)
    return out


@pytest.mark.parametrize("target", TARGETS)
def test_an_instruction(target: str, generator: torch.Generator) -> None:
    x, y = torch.randn(2, 301, generator=generator)
    result = on(larger, target)(x, y, MAXIMUM[target in GPUS])
    assert torch.equal(result, torch.maximum(x, y))


@pytest.mark.parametrize("target", TARGETS)
def test_an_instruction_of_another_target(target: str) -> None:
    """The error is LLVM's, which names what this target does not know, and the place."""
    x = torch.zeros(64)
    unknown = "constraint 'x'" if target in GPUS else "v_max_f32"
    with pytest.raises(wavetile.errors.CompilationError, match=unknown) as caught:
        on(larger, target)(x, x, MAXIMUM[target not in GPUS])
    assert target in str(caught.value)


@wavetile.kernel
def packed(
    x: torch.Tensor, y: torch.Tensor, code: wl.constexpr
) -> tuple[torch.Tensor, torch.Tensor]:
    total, wide = torch.empty_like(x), torch.empty(x.shape, dtype=torch.int64)
    for rows in wl.tile(x.size(0), block_size=512):
        a, b = wl.inline_asm_elementwise(
            code[0],
            code[1],
            [x[rows], y[rows], rows.index],
            (torch.int16, torch.int64),
            is_pure=False,
            pack=2,
        )
        total[rows], wide[rows] = a, b
    return total, wide


@pytest.mark.parametrize("target", [target for target in TARGETS if target != "gfx1150"])
def test_packed_registers(target: str, generator: torch.Generator) -> None:
    x, y = torch.randint(-100, 100, (2, 700), generator=generator, dtype=torch.int16)
    total, wide = on(packed, target)(x, y, SUMS[target in GPUS])
    assert torch.equal(total, x + y)
    assert torch.equal(wide, 2 * torch.arange(700))


@pytest.mark.compiled
def test_mistakes_in_instructions() -> None:
    def kernel(asm: str, constraints: str) -> Any:
        @wavetile.kernel
        def run(x: torch.Tensor) -> None:
            for rows in wl.tile(x.size(0)):
                x[rows] = wl.inline_asm(asm, constraints, [x[rows]], torch.float32)

        return run

    x = torch.zeros(64)
    with pytest.raises(wavetile.errors.CompilationError, match="do not fit 1 registers of results"):
        kernel("v_mov_b32 $0, $1", "=v,v,v")(x)
    with pytest.raises(wavetile.errors.CompilationError, match="v_no_such"):
        kernel("v_no_such $0, $1", "=v,v")(x)

    @wavetile.kernel
    def without_operand(x: torch.Tensor) -> None:
        for rows in wl.tile(x.size(0)):
            x[rows] = wl.inline_asm("v_mov_b32 $0, 0", "=v", [], torch.float32)

    with pytest.raises(wavetile.errors.ArgumentError, match="there are none"):
        without_operand(x)
    with pytest.raises(wavetile.errors.UnsupportedFunctionError, match="no meaning in Python"):
        in_python(larger)(x, x, MAXIMUM[True])
