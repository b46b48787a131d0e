# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The package type-checks under mypy's strict rules (pyproject.toml), and so do users' kernels."""

import re
import subprocess
import tempfile
from pathlib import Path

from tests.checks import sources

#: A user's file. What it says of types is right, but in the lines that say "wrong".
KERNEL = """
import torch
import wavetile
import wavetile.language as wl


@wavetile.kernel(config=wavetile.Config(rows=4))
def scaled(
    x: torch.Tensor, by: float, power: wl.constexpr[int], name: wl.constexpr
) -> torch.Tensor:
    out = torch.empty_like(x)
    size = wl.register_block_size(4, 64)
    for rows in wl.tile(x.size(0), block_size=size):
        value = wl.load(x, [rows.index, slice(None)], extra_mask=(rows.index > 3)[:, None])
        total = wl.zeros([rows, 16], dtype=torch.float32)
        for i in wl.static_range(power):
            total = total + i * by
        out[rows + 1, :] = value * total.sum(-1, keepdim=True)
        first: int = rows.begin
        indices: torch.Tensor = rows.index + first
        out[rows, 0] = indices
        for inner in wl.jagged_tile(x[rows, 0]):
            out[rows, inner] = x[rows, inner]
    for m, n in wl.tile([x.size(0), x.size(1)], block_size=[4, None]):
        out[m, n] = x[m, n] + x[m - 1, None, n].sum()
        m.start  # wrong
    for row, column in wl.grid([x.size(0), 3]):
        wl.atomic_add(out, [row, column], 1)
    return out


x: torch.Tensor = scaled(torch.ones(3, 4), 2.0, 3, "any")
op = wavetile.torch_op("mylib::scaled", scaled)
x = op(x, by=2.0, power=3, name=None)
scaled("x", 2.0, 3, "any")  # wrong
scaled(x, 2.0)  # wrong
text: str = scaled(x, 2.0, 3, "any")  # wrong
op(x, 2.0, "three", "any")  # wrong
"""


def _mypy(*arguments: str) -> list[str]:
    done = subprocess.run(
        ["mypy", "--no-error-summary", "--cache-dir", "build/mypy", *arguments],
        cwd=sources.ROOT,
        capture_output=True,
        text=True,
    )
    return (done.stdout + done.stderr).splitlines() if done.returncode else []


def _check_users_kernel() -> list[str]:
    wrong = [i for i, line in enumerate(KERNEL.splitlines(), 1) if line.endswith("# wrong")]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "users_kernel.py")
        path.write_text(KERNEL)
        found = _mypy(str(path))
    lines = [
        int(m[1]) for text in found if (m := re.search(r"users_kernel\.py:(\d+): error", text))
    ]
    return [] if sorted(set(lines)) == wrong else [f"wrong are lines {wrong}; mypy says:", *found]


def check() -> list[str]:
    return [*_mypy(), *_check_users_kernel()]
