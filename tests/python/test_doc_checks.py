# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The checks of the docs find what they are for: examples that fail, output that changed, names
of nothing."""

from pathlib import Path

import pytest

from tests.checks import doc_examples, doc_names


def page(folder: Path, text: str) -> Path:
    path = folder / "page.md"
    path.write_text(text.replace("'''", "```"))
    return path


SCRIPT = """\
'''python
print("first\\nsecond\\nthird")
'''

<!-- output from='sec' -->
'''text
old
'''
"""


def test_output_is_that_of_the_script_above(tmp_path: Path) -> None:
    (example,) = doc_examples.examples(page(tmp_path, SCRIPT))
    assert example.options is not None
    assert doc_examples.trim(doc_examples.run(example), example.options) == ["second", "third"]
    begin, end = example.block or (0, 0)
    assert example.page.read_text().splitlines()[begin:end] == ["old"]


def test_commands_without_output_are_run_too(tmp_path: Path) -> None:
    text = (
        "'''sh\ncd elsewhere\nA=b ./dev exec python -c 'import os; print(os.environ[\"A\"])'\n'''\n"
    )
    (example,) = doc_examples.examples(page(tmp_path, text))
    assert (example.options, example.line) == (None, 2)
    assert doc_examples.run(example) == "b\n"


@pytest.mark.parametrize("script", ["raise SystemExit(3)", "pass", "print(undefined)"])
def test_a_script_that_fails_or_says_nothing(tmp_path: Path, script: str) -> None:
    text = SCRIPT.replace('print("first\\nsecond\\nthird")', script)
    (example,) = doc_examples.examples(page(tmp_path, text))
    with pytest.raises(ValueError, match="exit status"):
        doc_examples.run(example)


@pytest.mark.parametrize(
    "marker", ["<!-- output exactly -->", "<!-- output too=3 -->", "<!-- output from -->"]
)
def test_unknown_options(tmp_path: Path, marker: str) -> None:
    text = SCRIPT.replace("<!-- output from='sec' -->", marker)
    with pytest.raises(ValueError, match="not an option"):
        doc_examples.examples(page(tmp_path, text))


def test_a_marker_without_a_block(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="line 1 does not stand between"):
        doc_examples.examples(page(tmp_path, "<!-- output -->\ntext\n"))


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        ({}, ["; a", "  one", "; b", "  two", "  three"]),
        ({"from": "one"}, ["  one", "; b", "  two", "  three"]),
        ({"from": "one", "to": "two"}, ["  one", "; b", "  two"]),
        ({"from": "three", "head": "^;"}, ["; b", "  three"]),
        ({"from": "three", "width": "6"}, ["   ..."]),
        ({"from": "two", "without": "^ *|e*$"}, ["two", "thr"]),
    ],
)
def test_trimming(options: dict[str, str], shown: list[str]) -> None:
    text = "; a\n  one\n; b\n  two\n  three\n"
    assert doc_examples.trim(text, options) == shown


@pytest.mark.parametrize("options", [{"from": "four"}, {"from": "two", "to": "one"}])
def test_lines_that_are_not_there(options: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="no lines"):
        doc_examples.trim("one\ntwo\nthree\n", options)


def test_layouts_get_names() -> None:
    text = 'a #tile.layout<"x"> b #tile.layout<"y">\nc #tile.layout<"x">\n'
    assert doc_examples.trim(text, {"layouts": ""}) == [
        '#layout0 = #tile.layout<"x">',
        '#layout1 = #tile.layout<"y">',
        "a #layout0 b #layout1",
        "c #layout0",
    ]


def test_changed_output_is_a_complaint_only_if_exact(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doc_examples.sources, "relative", str)
    for options, complaints in (("", 0), ("exact ", 1)):
        path = page(tmp_path, SCRIPT.replace("<!-- output ", f"<!-- output {options}"))
        monkeypatch.setattr(doc_examples, "pages", lambda path=path: [path])
        assert len(doc_examples.check()) == complaints
    doc_examples.write([])
    assert doc_examples.check() == []
    assert "second\nthird\n```" in path.read_text()


@pytest.mark.parametrize(
    ("span", "complaint"),
    [
        ("ir/Layout.h", None),
        ("ir/Layot.h", "no such file"),
        ("tests/{lit,unit}/", None),
        ("tests/{lit,units}/", "no such file"),
        ("tile-plan", None),
        ("tile-plain", "no such pass"),
        ("tile.dot", None),
        ("tile.dto", "no such operation"),
        ("wl.dot(a, b)", None),
        ("wl.dto(a, b)", "no such name"),
        ("WAVETILE_HIP", None),
        ("WAVETILE_" + "HOP", "nothing reads"),
    ],
)
def test_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, span: str, complaint: str | None
) -> None:
    path = page(tmp_path, f"See `{span}`.\n")
    monkeypatch.setattr(doc_names, "pages", lambda: [path])
    monkeypatch.setattr(doc_names.sources, "relative", str)
    said = doc_names.check()
    assert [complaint in line for line in said] == ([True] if complaint else [])
