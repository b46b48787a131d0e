# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""clang-format and ruff have nothing to change.

`python -m tests.checks.formatting --fix` is `./dev format`: it lets them, and adds missing licence
lines.
"""

import subprocess
import sys

from tests.checks import file_headers, sources

CLANG_FORMAT = "clang-format-22"


def _run(*command: str) -> list[str]:
    done = subprocess.run(command, cwd=sources.ROOT, capture_output=True, text=True)
    return [] if done.returncode == 0 else (done.stdout + done.stderr).splitlines()


def check() -> list[str]:
    cpp = [sources.relative(path) for path in sources.files(*sources.CPP)]
    changes = _run(CLANG_FORMAT, "--dry-run", "--Werror", "--ferror-limit=1", *cpp)
    unformatted = {line.split(":")[0] for line in changes if ": error: code should be" in line}
    return [
        *(f"{name}: run ./dev format" for name in sorted(unformatted)),
        *_run("ruff", "format", "--quiet", "--check", "."),
        *_run("ruff", "check", "--quiet", "."),
    ]


def fix() -> list[str]:
    file_headers.fix()
    cpp = [sources.relative(path) for path in sources.files(*sources.CPP)]
    return [
        *_run(CLANG_FORMAT, "-i", *cpp),
        *_run("ruff", "check", "--quiet", "--fix", "."),
        *_run("ruff", "format", "--quiet", "."),
    ]


if __name__ == "__main__":
    complaints = fix() if "--fix" in sys.argv[1:] else check()
    print("\n".join(complaints), end="\n" if complaints else "")
    sys.exit(1 if complaints else 0)
