# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Who may use whom: the arrows between folders that docs/architecture.md draws.

`python -m tests.checks.include_directions --graph` prints them, in Mermaid's language.

A folder may include its own headers and those that the table grants it; everything else of the
repository is a complaint. So is a library that a folder must not know, and a GPU's name outside
the tables of targets.
"""

import ast
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.checks import sources


@dataclass(frozen=True)
class Folder:
    """What the files under `path` may include; the longest path that fits a file decides."""

    path: str
    may_use: tuple[str, ...] = ()
    no_library: tuple[str, ...] = ()
    names_targets: bool = False


PYTHON_HEADERS = ("Python.h", "pybind11/")
AMD_HEADERS = (
    "mlir/Dialect/LLVMIR/ROCDL",
    "mlir/Dialect/AMDGPU",
    "llvm/IR/IntrinsicsAMDGPU",
    "llvm/TargetParser/AMDGPU",
    "lld/",
)

FOLDERS = (
    Folder("ir/", no_library=(*AMD_HEADERS, *PYTHON_HEADERS)),
    Folder(
        "passes/",
        may_use=("ir/", "runtime/LaunchPlan.h"),
        no_library=(*AMD_HEADERS, *PYTHON_HEADERS),
    ),
    # The only library that links backends.
    Folder(
        "passes/driver/",
        may_use=(
            "ir/",
            "passes/",
            "backend_rocm/",
            "runtime/LaunchPlan.h",
            "runtime/Serialization.h",
        ),
        no_library=(*AMD_HEADERS, *PYTHON_HEADERS),
    ),
    Folder(
        "backend_rocm/",
        may_use=("ir/", "passes/", "runtime/LaunchPlan.h", "runtime/LdsBankTable.h"),
        no_library=PYTHON_HEADERS,
        names_targets=True,
    ),
    Folder("runtime/", no_library=("llvm/", "mlir/", "lld/", *PYTHON_HEADERS)),
    Folder(
        "runtime/emulator/",
        may_use=("runtime/LdsBankTable.h",),
        no_library=("mlir/", "lld/", *PYTHON_HEADERS),
        names_targets=True,
    ),
    Folder("frontend/", may_use=("ir/", "passes/", "runtime/"), no_library=AMD_HEADERS),
)

# What a folder may not reach even though a parent of it is granted.
NEVER = {
    "passes/": ("passes/driver/",),
    "backend_rocm/": ("passes/driver/",),
    "runtime/": ("runtime/emulator/",),
    "frontend/": ("runtime/emulator/",),
}

INCLUDE = re.compile(r'^\s*#\s*include\s+[<"]([^>"]+)[>"]')
TARGET_NAME = re.compile(r'"[^"\n]*\bgfx\d+[^"\n]*"')
OURS = tuple(f"{folder.path}" for folder in FOLDERS)


def _folder(name: str) -> Folder | None:
    fitting = [folder for folder in FOLDERS if name.startswith(folder.path)]
    return max(fitting, key=lambda folder: len(folder.path), default=None)


def _allowed(folder: Folder, header: str) -> bool:
    if any(header.startswith(path) for path in NEVER.get(folder.path, ())):
        return False
    return header.startswith((folder.path, *folder.may_use))


def _cpp(path: Path) -> list[str]:
    name = sources.relative(path)
    folder = _folder(name)
    if folder is None:
        return []
    complaints = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        code = line.split("//")[0]
        if (include := INCLUDE.match(line)) is not None:
            header = include.group(1)
            if header.startswith(OURS) and not _allowed(folder, header):
                complaints.append(f"{name}:{number}: {folder.path} may not include {header}")
            if header.startswith(folder.no_library):
                complaints.append(f"{name}:{number}: {folder.path} must not know {header}")
        elif TARGET_NAME.search(code) and not folder.names_targets:
            complaints.append(f"{name}:{number}: a GPU's name; ask the table of targets instead")
    return complaints


# The op library and the examples are written against the public API alone.
PUBLIC = ("wavetile", "wavetile.language", "wavetile.kernels")


def _modules(tree: ast.AST) -> list[tuple[int, str]]:
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.append((node.lineno, node.module))
    return found


def _python(path: Path) -> list[str]:
    name = sources.relative(path)
    complaints = []
    for number, module in _modules(ast.parse(path.read_text())):
        if name.startswith("frontend/") and module.startswith("wavetile.kernels"):
            complaints.append(f"{name}:{number}: frontend/ may not import the op library")
        if (
            name.startswith(("kernels/", "examples/"))
            and module.startswith("wavetile.")
            and not module.startswith(PUBLIC[1:])
        ):
            complaints.append(f"{name}:{number}: {module} is not public API")
    return complaints


def check() -> list[str]:
    cpp = (line for path in sources.files(*sources.CPP) for line in _cpp(path))
    python = (line for path in sources.files(*sources.PYTHON) for line in _python(path))
    return [*cpp, *python]


def graph() -> str:
    """The table as a diagram: an arrow means may include, its text the only header."""
    names = {folder.path: folder.path.rstrip("/").replace("/", "_") for folder in FOLDERS}
    lines = ["graph TD", *(f'  {name}["{path}"]' for path, name in names.items())]
    for folder in FOLDERS:
        used: dict[str, list[str]] = {}
        for path in folder.may_use:
            target = max((name for name in names if path.startswith(name)), key=len)
            used.setdefault(target, []).append(path.removeprefix(target))
            # What is granted with a folder is granted in the folders inside it too.
            if path == target:
                never = NEVER.get(folder.path, ())
                used.update(
                    {
                        inner: [""]
                        for inner in names
                        if inner != path and inner.startswith(path)
                        if inner not in never and inner != folder.path
                    }
                )
        for target, headers in used.items():
            label = f"|{', '.join(headers)}|" if any(headers) else ""
            lines.append(f"  {names[folder.path]} -->{label} {names[target]}")
    lines.append('  kernels["kernels/, examples/"] -->|public API| frontend')
    return "\n".join(lines)


if __name__ == "__main__":
    complaints = [] if "--graph" in sys.argv[1:] else check()
    print(graph() if "--graph" in sys.argv[1:] else "\n".join(complaints))
    sys.exit(1 if complaints else 0)
