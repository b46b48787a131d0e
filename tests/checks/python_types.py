# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The public package type-checks under mypy's strict rules (pyproject.toml)."""

import subprocess

from tests.checks import sources


def check() -> list[str]:
    done = subprocess.run(
        ["mypy", "--no-error-summary", "--cache-dir", "build/mypy"],
        cwd=sources.ROOT,
        capture_output=True,
        text=True,
    )
    return (done.stdout + done.stderr).splitlines() if done.returncode else []
