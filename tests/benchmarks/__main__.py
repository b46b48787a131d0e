# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""`./dev bench [NAME...]`: runs the benchmarks named, or all of them.

A benchmark is a module of this folder with a docstring, whose first line says what it measures,
and a function `main()` that prints its figures. Each runs in a fresh process, so that one does
not warm another, and returns or raises as a program would.
"""

import argparse
import ast
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent


def benchmarks() -> dict[str, str]:
    """Each benchmark's name and the first line of what it says of itself."""
    found = {}
    for path in sorted(FOLDER.glob("*.py")):
        tree = ast.parse(path.read_text())
        if path.stem.startswith("_") or not any(
            isinstance(node, ast.FunctionDef) and node.name == "main" for node in tree.body
        ):
            continue
        found[path.stem] = (ast.get_docstring(tree) or "").split("\n")[0]
    return found


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev bench", description="Runs benchmarks.")
    parser.add_argument("name", nargs="*", help="which to run; all, if none is named")
    parser.add_argument("--list", action="store_true", help="name the benchmarks and stop")
    options = parser.parse_args()

    found = benchmarks()
    if options.list:
        for name, about in found.items():
            print(f"{name:24} {about}")
        return 0
    unknown = [name for name in options.name if name not in found]
    if unknown:
        parser.error(f"no benchmark {', '.join(unknown)}; there are: {', '.join(found)}")
    failed = []
    for name in options.name or found:
        print(f"== {name}: {found[name]}", flush=True)
        program = f"import tests.benchmarks.{name} as benchmark; benchmark.main()"
        if subprocess.run([sys.executable, "-c", program], cwd=FOLDER.parents[1]).returncode:
            failed.append(name)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
