# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Links between pages lead to files and headings that exist. Web addresses are not tried."""

import re
from pathlib import Path

from tests.checks import sources

LINK = re.compile(r"\[[^\]]*\]\(\s*<?([^)\s>]+)>?[^)]*\)")
FENCE = re.compile(r"^\s*(```|~~~)")


def _prose(path: Path) -> list[str]:
    """The lines of a page, code blocks emptied, code spans removed."""
    lines, fenced = [], False
    for line in path.read_text().splitlines():
        if FENCE.match(line):
            fenced = not fenced
            line = ""
        lines.append("" if fenced else line)
    return lines


def _anchors(path: Path) -> set[str]:
    """The anchors that headings get on GitHub."""
    anchors: dict[str, int] = {}
    for line in _prose(path):
        if line.startswith("#"):
            title = re.sub(r"[^\w\- ]", "", line.lstrip("#").strip().lower())
            anchor = title.replace(" ", "-")
            anchors[anchor] = anchors.get(anchor, -1) + 1
            if anchors[anchor]:
                anchors[f"{anchor}-{anchors[anchor]}"] = 0
        for name in re.findall(r'<a (?:id|name)="([^"]+)"', line):
            anchors[name] = 0
    return set(anchors)


def check() -> list[str]:
    complaints = []
    for page in sources.files(".md"):
        for number, line in enumerate(_prose(page), 1):
            for link in LINK.findall(re.sub(r"`[^`]*`", "", line)):
                if re.match(r"[a-z]+:", link):
                    continue
                name, _, anchor = link.partition("#")
                target = (page.parent / name).resolve() if name else page
                if not target.exists():
                    what = "no such file"
                elif anchor and target.suffix == ".md" and anchor not in _anchors(target):
                    what = "no such heading"
                else:
                    continue
                complaints.append(f"{sources.relative(page)}:{number}: {link}: {what}")
    return complaints
