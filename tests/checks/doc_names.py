# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Files, passes, operations, functions and variables that the pages name in `code` exist."""

import re
from collections.abc import Iterator
from pathlib import Path

from tests.checks import sources
from tests.checks.doc_examples import pages

SPAN = re.compile(r"`([^`]+)`")
FILE = re.compile(r"^\.?[\w*{},.-]+(/[\w*{},.-]*)+$")
PASS = re.compile(r"^tile-[a-z-]+$")
OPERATION = re.compile(r"^tile\.[a-z_]+$")
LANGUAGE = re.compile(r"^wl\.(\w+)")
VARIABLE = re.compile(r"^(WAVETILE_[A-Z_]+)\b")


def _spans(page: Path) -> Iterator[tuple[int, str]]:
    fenced = False
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if line.startswith("```"):
            fenced = not fenced
        elif not fenced:
            for span in SPAN.findall(line):
                yield number, span


def _text(*endings: str) -> str:
    return "\n".join(path.read_text() for path in sources.files(*endings))


def _alternatives(pattern: str) -> list[str]:
    """`a{b,c}` as `ab` and `ac`."""
    braces = re.search(r"\{([^{}]*)\}", pattern)
    if braces is None:
        return [pattern]
    before, after = pattern[: braces.start()], pattern[braces.end() :]
    return [one for part in braces[1].split(",") for one in _alternatives(before + part + after)]


def _is_there(name: str, page: Path) -> bool:
    """Whether files fit a path, from the repository's root or anywhere in the page's folder."""
    anywhere = "" if page.parent == sources.ROOT else "**/"
    return all(
        any(sources.ROOT.glob(one.rstrip("/"))) or any(page.parent.glob(anywhere + one.rstrip("/")))
        for one in _alternatives(name)
    )


def check() -> list[str]:
    tablegen, code = _text(".td"), _text(".py", ".cpp", ".h", ".cmake", "CMakeLists.txt", "dev")
    passes = set(re.findall(r'Pass<"([\w-]+)"', tablegen))
    operations = {f"tile.{name}" for name in re.findall(r'Tile_\w+<"([\w.]+)"', tablegen)}
    attributes = set(re.findall(r'"(tile\.[a-z_]+)"', _text(".h", ".cpp")))
    parts = (sources.ROOT / "frontend" / "wavetile").glob("language*.py")
    language = "\n".join(part.read_text() for part in parts)
    functions = set(re.findall(r"^(?:def| *class) (\w+)", language, re.MULTILINE))
    # Made by a build, or by installing.
    made = re.compile(r"^(build|\.venv|/|~|https?:)")

    complaints = []
    for page in pages():
        for number, span in _spans(page):
            wrong = None
            if FILE.match(span) and not made.match(span) and not _is_there(span, page):
                wrong = "no such file"
            elif PASS.match(span) and span not in passes:
                wrong = "no such pass"
            elif OPERATION.match(span) and span not in operations | attributes:
                wrong = "no such operation or attribute"
            elif (match := LANGUAGE.match(span)) and match[1] not in functions:
                wrong = "wavetile.language has no such name"
            elif (match := VARIABLE.match(span)) and match[1] not in code:
                wrong = "nothing reads such a variable"
            if wrong:
                complaints.append(f"{sources.relative(page)}:{number}: `{span}`: {wrong}")
    return complaints


if __name__ == "__main__":
    print("\n".join(check()))
