"""Formatting and quick fixes, by themselves and through a client over standard input and output."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from dia_compiler.authoring.editor.checking import TextChecker
from dia_compiler.authoring.editor.fixes import fixes
from dia_compiler.authoring.editor.formatting import formatted
from helpers.editor import Editor
from helpers.places import ROOT
from helpers.studio import BENCHMARK

SPECS = sorted((ROOT / "specs").rglob("*.yaml"))
UNTIDY = """\
# about it
template:   sum
title: A sum


params:
    # the first
    a: {type: integer, min: 1,
        max: 9}  # of one digit
    b:
        type:    integer
        max: 9
let: {c: a}
checks:
- answer > a
-   |
      answer >
        b
notes: >
      two lines,
      folded
answer: {value: a + b + 0 * c, type: integer}
prompt: |

      What is {{ a }}?

        Deep.
      # no comment
examples:
    - params: {a: 1, b: 2}
      answer: 3

"""
TIDY = """\
# about it
template: sum
title: A sum

params:
  # the first
  a: {type: integer, min: 1,
      max: 9}  # of one digit
  b:
    type: integer
    max: 9
let: {c: a}
checks:
  - answer > a
  - |
    answer >
      b
notes: >
  two lines,
  folded
answer: {value: a + b + 0 * c, type: integer}
prompt: |

  What is {{ a }}?

    Deep.
  # no comment
examples:
  - params: {a: 1, b: 2}
    answer: 3
"""


def test_indents_and_spaces_are_tidied_and_comments_stay() -> None:
    assert formatted(UNTIDY) == TIDY == formatted(TIDY)
    assert formatted(UNTIDY.replace("\n", "\r\n")) == TIDY


def test_shipped_specs_are_in_the_usual_layout_and_come_back_to_it() -> None:
    assert len(SPECS) > 150
    for path in SPECS[::4]:
        text = path.read_text(encoding="utf-8")
        deeper = "\n".join(f"  {line}" if line.startswith(" ") else line for line in text.split("\n"))
        assert formatted(text) == text == formatted(deeper + "\n\n"), path


@pytest.mark.parametrize("text", ["template: [", "a:\n-\n  b: 1\n", "a: |2\n   x\n", "- a\n- - b\n", "a: {{ b }}"])
def test_what_cannot_be_read_or_moved_stays(text: str) -> None:
    assert formatted(text) in (None, text)


SPEC = """\
template: sums
title: Sums
params:
  a: {type: integer, min: 1, max: 9}
  b: {type: integer, min: 1, max: 9}
answer: {value: a + b, type: integer}
prompt: What is {{ a }} + {{ b }}?
"""


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("title: Sums", "titel: Sums"),
        ("b: {type: integer", "b: {type: intger"),
        ("value: a + b", "value: a + absx(b)"),
        ("prompt: What", "prompt: Sum: What"),
        ("prompt: What is ", "prompt: "),
        ("title: Sums", "title: Sums: small"),
        ("}}?", "}}?\nnotes: *bold* text"),
        ("}}?", "}}?\nallow: {answer-ignres-parameter: it is long}"),
        ("}}?", "}}?\nnotes: !really"),
        ("}}?", "}}?{% for x in [1] %}{% edfor %}"),
    ],
)
def test_a_fix_repairs_what_it_says(right: str, wrong: str, tmp_path: Path) -> None:
    (tmp_path / "benchmark.yaml").write_text(BENCHMARK, encoding="utf-8")
    path, text = tmp_path / "sums.yaml", SPEC.replace(right, wrong)
    (entry,) = TextChecker("no").check(path, {path: text.encode()}).diagnostics
    (fix,) = fixes(text, entry)
    assert TextChecker("no").check(path, {path: fix.applied(text).encode()}).diagnostics == ()


@pytest.mark.parametrize(
    ("written", "repaired"),
    [
        ("prompt: {{ a }}, {{ b }}  # why", 'prompt: "{{ a }}, {{ b }}"  # why'),
        ("prompt: Sum: what is\n  {{ a }} + {{ b }}?", 'prompt: "Sum: what is\n  {{ a }} + {{ b }}?"'),
        ("prompt: What is\n  this: {{ b }}?", 'prompt: "What is\n  this: {{ b }}?"'),
        ("variants: {v: {prompt: {{ a }} and {{ b }}}}", 'variants: {v: {prompt: "{{ a }} and {{ b }}"}}'),
        ("let: {c: {{ a }}, d: {{ b }}}", 'let: {c: "{{ a }}", d: {{ b }}}'),
        ("checks: [a > 1, {1: 2}[1] == 2, b > 1]", 'checks: [a > 1, "{1: 2}[1] == 2", b > 1]'),
        ("checks: ['a' in b, \"a\" in c]", 'checks: ["\'a\' in b", "a" in c]'),
        ("checks:\n  - answer > 2\n  - [1, 2][0] == 1", 'checks:\n  - answer > 2\n  - "[1, 2][0] == 1"'),
        ('prompt: It\'s {{ "a" }}: {{ a }}', 'prompt: "It\'s {{ \\"a\\" }}: {{ a }}"'),
    ],
)
def test_quotes_go_around_the_value_alone(written: str, repaired: str, tmp_path: Path) -> None:
    (tmp_path / "benchmark.yaml").write_text(BENCHMARK, encoding="utf-8")
    path, text = tmp_path / "sums.yaml", f"template: sums\n{written}\ntitle: Sums\n"
    entry = TextChecker("no").check(path, {path: text.encode()}).diagnostics[0]
    (fix,) = fixes(text, entry)
    assert fix.applied(text) == text.replace(written, repaired)


def test_no_fix_is_offered_where_none_is_known(tmp_path: Path) -> None:
    (tmp_path / "benchmark.yaml").write_text(BENCHMARK, encoding="utf-8")
    path = tmp_path / "sums.yaml"
    text = SPEC.replace("{{ b }}", "{{ zzzz }}").replace("value: a + b", "value: a +")
    found = TextChecker("no").check(path, {path: text.encode()}).diagnostics
    assert found and all(fixes(text, entry) == [] for entry in found)


# Through a client


@pytest.fixture
def editor(tmp_path: Path) -> Iterator[Editor]:
    if find_spec("pygls") is None:
        pytest.skip("the package pygls is not installed")
    (tmp_path / "benchmark.yaml").write_text(BENCHMARK, encoding="utf-8")
    editor = Editor(tmp_path)
    yield editor
    assert editor.end() == 0


@pytest.mark.spawned
def test_a_client_is_served(editor: Editor, tmp_path: Path) -> None:
    path = tmp_path / "sums.yaml"
    text = SPEC.replace("title: Sums", "title: Sums 🚲 {x").replace("{{ b }}?", "{{ b }} or {{ bb }}?")
    editor.show(path, text)
    (unknown,) = editor.wait(path, checks=1)
    about = {"textDocument": {"uri": path.as_uri()}}
    (action,) = editor.ask("textDocument/codeAction",
                           {**about, "range": unknown["range"], "context": {"diagnostics": [unknown]}})  # fmt: skip
    text = editor.applied(path, action["edit"]["changes"][path.as_uri()])
    assert text == SPEC.replace("title: Sums", "title: Sums 🚲 {x").replace("{{ b }}?", "{{ b }} or {{ b }}?")
    editor.show(path, text.replace("  a:", "    a:").replace("  b:", "    b:"))
    edits = editor.ask("textDocument/formatting", {**about, "options": {"tabSize": 2, "insertSpaces": True}})
    assert editor.applied(path, edits) == text
    editor.show(path, text)
    assert editor.wait(path) == []
    place = editor.at(path, text.index("a + b"))
    words = editor.ask("textDocument/hover", place)["contents"]["value"]
    assert "integer, min: 1, max: 9" in words and "In instance 0" in words
    assert "ordinal" in {item["label"] for item in editor.ask("textDocument/completion", place)["items"]}
    assert editor.ask("textDocument/definition", place)["range"]["start"]["line"] == 3
    changes = editor.ask("textDocument/rename", {**place, "newName": "first"})["changes"][path.as_uri()]
    assert editor.applied(path, changes) == text.replace("  a:", "  first:").replace("a + b", "first + b").replace("{{ a }}", "{{ first }}")  # fmt: skip
    with pytest.raises(RuntimeError, match="already the name of a parameter"):
        editor.ask("textDocument/rename", {**place, "newName": "b"})
