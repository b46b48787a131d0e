# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The command `wavetile`, and the stages that WAVETILE_DUMP prints."""

from pathlib import Path

import pytest
import torch
import wavetile
import wavetile.language as wl
from wavetile import errors
from wavetile.cli import main
from wavetile.command import arguments
from wavetile.command.demo import hot_loop

EXAMPLES = Path(__file__).parents[2] / "examples"
SOFTMAX = f"{EXAMPLES / 'softmax.py'}:softmax"


@pytest.mark.parametrize(
    ("stage", "expected"),
    [
        ("tile", "tile.kernel @softmax"),
        ("bound", "tile.config"),
        ("final", "#tile.layout<"),
        ("llvm", "target triple"),
        ("isa", "softmax.py:17      "),
        ("plan", "plan for gfx942"),
        ("resources", "occupancy"),
        ("explain", "the whole row is held in registers"),
        ("wrapper", "_wavetile_region_0(m, x, out)"),
    ],
)
def test_show(stage: str, expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    status = main(
        ["show", SOFTMAX, "--stage", stage, "--target", "gfx942", "--arg", "bf16[37,1001]"]
    )
    assert status == 0
    assert expected in capsys.readouterr().out


def test_show_writes_the_object(tmp_path: Path) -> None:
    output = tmp_path / "softmax.co"
    assert main(["show", SOFTMAX, "--stage", "object", "-o", str(output)]) == 0
    assert output.read_bytes()[:4] == b"\x7fELF"


def test_show_with_a_config(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", SOFTMAX, "--config", "rows=2", "--arg", "f32[37,100]"]) == 0
    assert "rows = 2 (asked for)" in capsys.readouterr().out


def test_run_and_check(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", SOFTMAX, "--arg", "f32[5,77]:(80,1)+3", "--check"]) == 0
    assert "within the bound" in capsys.readouterr().out


def test_check_fails_for_wrong_numbers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = (EXAMPLES / "softmax.py").read_text().replace("x.double()", "x.double() * 1.5")
    file = tmp_path / "wrong.py"
    file.write_text(wrong)
    assert main(["run", f"{file}:softmax", "--arg", "f32[5,77]", "--check"]) == 1
    assert "above the bound" in capsys.readouterr().out


def test_info(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info"]) == 0
    text = capsys.readouterr().out
    assert "gfx942, gfx950, gfx1150" in text
    assert "software" in text
    assert main(["info", "--config"]) == 0
    assert "<dimension>.strategy" in capsys.readouterr().out


def test_mistakes_are_messages(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", f"{EXAMPLES / 'softmax.py'}:sotfmax"]) == 1
    assert "with one of: softmax" in capsys.readouterr().err
    assert main(["run", SOFTMAX, "--arg", "f31[5,77]"]) == 1
    assert "there is no dtype 'f31'" in capsys.readouterr().err


def test_arguments(generator: torch.Generator) -> None:
    tensor = arguments.parse_argument("f16[4,6]:(9,2)+5", generator)
    assert tensor.shape == (4, 6)
    assert tensor.stride() == (9, 2)
    assert tensor.storage_offset() == 5
    assert arguments.describe_argument(tensor) == "f16[4,6]:(9,2)+5"
    assert arguments.parse_argument("1e-5", generator) == 1e-5
    assert arguments.parse_argument("None", generator) is None
    assert arguments.parse_argument("float16", generator) is torch.float16
    with pytest.raises(errors.ArgumentError, match="neither a tensor"):
        arguments.parse_argument("x + 1", generator)


def test_hot_loop_is_the_innermost_one_with_the_most_work() -> None:
    listing = "\n".join(
        ["k:", ".L0:", "  a", ".L1:", "  b", "  c", "  s_cbranch_scc1 .L1", "  s_branch .L0"]
    )
    assert hot_loop(listing).splitlines() == [".L1:", "  b", "  c", "  s_cbranch_scc1 .L1"]
    assert hot_loop("k:\n  s_endpgm") == ""
    # What is left over after a loop takes more instructions, for no more work.
    steady = [".L0:", "  v_mfma_f32_16x16x32_bf16 v[0:3]", "  s_cbranch_scc1 .L0"]
    rest = [".L1:", "  v_mfma_f32_16x16x32_bf16 v[0:3]", "  v_mov", "  s_cbranch_scc1 .L1"]
    idle = [".L2:", "  a", "  b", "  c", "  d", "  s_cbranch_scc1 .L2"]
    assert hot_loop("\n".join(["k:", *idle, *steady, *rest])).splitlines() == steady


@wavetile.kernel
def doubled(x: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        x[rows, :] = x[rows, :] * 2


def test_dump(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("WAVETILE_DUMP", "tile,plan")
    doubled(torch.ones(5, 7))
    text = capsys.readouterr().err
    assert "// -- doubled, gfx" in text
    assert "tile.kernel @doubled" in text
    assert "grid (" in text
