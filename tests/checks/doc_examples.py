# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Commands and scripts in the pages run, and what the pages name exists.

A block below a line `<!-- output OPTIONS -->` is what the command (```sh) or script (```python)
above that line prints. `python -m tests.checks.doc_examples --write [PAGE...]`, a part of
`./dev docs`, puts it there. The check runs every command, but compares only the output of those
marked `exact`: a better compiler prints other instructions, and that is no mistake of a page.
Options:

    exact                   the block must be what is printed now
    from=REGEX, to=REGEX    the lines from the first match to the first one after it that matches
    head=REGEX              above these, the last line before them that matches
    without=REGEX           these parts of lines are left out
    width=N                 longer lines are cut, and end in ` ...`
    wrap=N                  longer lines go on in further ones, indented deeper
    layouts                 each layout of a tile gets a short name, with a list of them on top
"""

import concurrent.futures
import os
import re
import shlex
import subprocess
import sys
import tempfile
import textwrap
from dataclasses import dataclass
from pathlib import Path

from tests.checks import sources
from tests.checks.generated_docs import PAGES

MARKER = re.compile(r"^<!-- output\b(.*)-->$")
FENCE = re.compile(r"^```(\w*)$")
CHOICES = {"exact", "layouts"}
VALUES = {"from", "head", "to", "width", "without", "wrap"}


@dataclass(frozen=True)
class Example:
    """A command or script of a page, and where its output stands if it is shown."""

    page: Path
    line: int
    language: str
    text: str
    options: dict[str, str] | None
    #: The first line of the block of output, and the one that ends it; from 0.
    block: tuple[int, int] | None


def pages() -> list[Path]:
    """The pages that people write."""
    return [path for path in sources.files(".md") if path.name not in PAGES]


def _options(text: str) -> dict[str, str]:
    options = {}
    for word in shlex.split(text):
        name, _, value = word.partition("=")
        if name not in (VALUES if value else CHOICES):
            raise ValueError(f"`{word}` is not an option of an output block")
        options[name] = value
    return options


def _fences(lines: list[str]) -> list[tuple[str, int, int]]:
    """The language, first line and end of each fenced block."""
    found, language, begin = [], "", -1
    for number, line in enumerate(lines):
        fence = FENCE.match(line)
        if begin >= 0 and line == "```":
            found.append((language, begin, number))
            begin = -1
        elif begin < 0 and fence:
            language, begin = fence[1], number + 1
    return found


def _marked(lines: list[str], fences: list[tuple[str, int, int]]) -> dict[int, tuple]:
    """For the begin of each block that has output: the options, and the block of the output."""
    marked = {}
    for number, line in enumerate(lines):
        if marker := MARKER.match(line):
            above = max((f for f in fences if f[2] < number), key=lambda f: f[1], default=None)
            below = next((f for f in fences if f[1] == number + 2), None)
            if above is None or below is None:
                raise ValueError(f"line {number + 1} does not stand between a command and a block")
            marked[above[1]] = (_options(marker[1]), (below[1], below[2]))
    return marked


def examples(page: Path) -> list[Example]:
    """What a page tells its reader to run.

    Raises:
        ValueError: a marker is not understood
    """
    lines = page.read_text().splitlines()
    fences = _fences(lines)
    marked = _marked(lines, fences)
    found = []
    for language, begin, end in fences:
        options, block = marked.get(begin, (None, None))
        text = "\n".join(lines[begin:end])
        if language == "python" and options is not None:
            found.append(Example(page, begin + 1, language, text, options, block))
        elif language == "sh":
            commands = [
                command
                for command in text.replace("\\\n", " ").splitlines()
                if "./dev exec " in command and "my_kernel.py" not in command
            ]
            if options is not None and len(commands) != 1:
                raise ValueError(f"line {begin + 1}: output belongs to one `./dev exec` command")
            for command in commands:
                found.append(Example(page, begin + 1, language, command, options, block))
    return found


def _command(text: str) -> tuple[list[str], dict[str, str]]:
    """The arguments and environment of a command as it stands in a page."""
    words = shlex.split(text)
    at = words.index("./dev")
    environment = dict(word.split("=", 1) for word in words[:at])
    program, *arguments = words[at + 2 :]
    own = {"wavetile": [sys.executable, "-m", "wavetile.cli"], "python": [sys.executable]}
    return [*own.get(program, [program]), *arguments], environment


def run(example: Example) -> str:
    """What an example prints.

    Raises:
        ValueError: it fails, or prints nothing
    """
    with tempfile.TemporaryDirectory() as folder:
        if example.language == "python":
            script = Path(folder, "example.py")
            script.write_text(example.text + "\n")
            arguments, environment = [sys.executable, str(script)], {}
        else:
            arguments, environment = _command(example.text)
        done = subprocess.run(
            arguments,
            cwd=sources.ROOT,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
        )
        if done.returncode or not done.stdout.strip():
            last = "\n".join(done.stderr.splitlines()[-6:])
            raise ValueError(f"exit status {done.returncode} of `{example.text}`\n{last}")
        return done.stdout.replace(f"{folder}/", "").replace(f"{sources.ROOT}/", "")


def _name_layouts(text: str) -> str:
    """Each distinct layout as `#layout<i>`, defined on top as MLIR would print aliases."""
    names: dict[str, str] = {}

    def name(match: re.Match[str]) -> str:
        return names.setdefault(match[0], f"#layout{len(names)}")

    text = re.sub(r'#tile\.layout<"[^"]*">', name, text)
    return "".join(f"{short} = {layout}\n" for layout, short in names.items()) + text


def _wrap(line: str, width: int) -> list[str]:
    indent = " " * (len(line) - len(line.lstrip()))
    return textwrap.wrap(
        line,
        width,
        subsequent_indent=indent + " " * 6,
        break_long_words=False,
        break_on_hyphens=False,
    ) or [""]


def trim(text: str, options: dict[str, str]) -> list[str]:
    """The lines of an output that a page shows.

    Raises:
        ValueError: `from` or `to` matches nothing
    """
    lines = text.rstrip("\n").splitlines()
    begin, end = 0, len(lines)
    if "from" in options:
        begin = next((i for i, line in enumerate(lines) if re.search(options["from"], line)), end)
    if "to" in options:
        later = range(begin + 1, end)
        end = next((i + 1 for i in later if re.search(options["to"], lines[i])), -1)
    if begin >= len(lines) or end < 0:
        raise ValueError(f"the output has no lines {options}")
    above = [line for line in lines[:begin] if re.search(options.get("head", "$^"), line)]
    lines = above[-1:] + lines[begin:end]
    lines = [re.sub(options.get("without", "$^"), "", line) for line in lines]
    if "layouts" in options:
        lines = _name_layouts("\n".join(lines)).splitlines()
    if "wrap" in options:
        lines = [part for line in lines for part in _wrap(line, int(options["wrap"]))]
    width = int(options.get("width", 10**6))
    return [line if len(line) <= width else line[: width - 4] + " ..." for line in lines]


def _results(chosen: list[Example]) -> list[str | ValueError]:
    """The output of each example, or why there is none."""

    def attempt(example: Example) -> str | ValueError:
        try:
            text = run(example)
            return "\n".join(trim(text, example.options)) if example.options is not None else text
        except ValueError as error:
            return error

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(attempt, chosen))


def _all_examples(complaints: list[str], names: list[str]) -> list[Example]:
    found = []
    for page in pages():
        if names and sources.relative(page) not in names:
            continue
        try:
            found += examples(page)
        except ValueError as error:
            complaints.append(f"{sources.relative(page)}: {error}")
    return found


def check(names: list[str] | None = None) -> list[str]:
    complaints: list[str] = []
    chosen = _all_examples(complaints, names or [])
    for example, result in zip(chosen, _results(chosen)):
        place = f"{sources.relative(example.page)}:{example.line}"
        if isinstance(result, ValueError):
            complaints.append(f"{place}: {result}")
        elif example.options is not None and "exact" in example.options:
            begin, end = example.block or (0, 0)
            if result != "\n".join(example.page.read_text().splitlines()[begin:end]):
                complaints.append(f"{place}: the output is another one now; run ./dev docs")
    return complaints


def write(names: list[str]) -> list[str]:
    """Puts the present output into the pages."""
    complaints: list[str] = []
    chosen = [example for example in _all_examples(complaints, names) if example.block is not None]
    texts: dict[Path, list[str]] = {}
    # Last first, so that the numbers of the lines above stay what they are.
    for example, result in reversed(list(zip(chosen, _results(chosen)))):
        if isinstance(result, ValueError):
            complaints.append(f"{sources.relative(example.page)}:{example.line}: {result}")
            continue
        lines = texts.setdefault(example.page, example.page.read_text().splitlines())
        begin, end = example.block or (0, 0)
        lines[begin:end] = result.splitlines()
    for page, lines in texts.items():
        page.write_text("\n".join(lines) + "\n")
    return complaints


if __name__ == "__main__":
    named = [argument for argument in sys.argv[1:] if argument != "--write"]
    said = write(named) if "--write" in sys.argv[1:] else check(named)
    print("\n".join(said), end="\n" if said else "")
    sys.exit(1 if said else 0)
