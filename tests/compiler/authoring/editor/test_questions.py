"""Completion, hover, definition and renaming, at the names and keys of shipped specs and of a half-typed one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from dia_compiler.authoring.editor.checking import TextChecker
from dia_compiler.authoring.editor.completion import completions
from dia_compiler.authoring.editor.hover import definition, hover
from dia_compiler.authoring.editor.knowledge import Knowledge
from dia_compiler.authoring.editor.renaming import (
    RENAMED,
    RenameError,
    occurrences,
    renamed,
    require_no_new_errors,
    require_same_uses,
)
from dia_compiler.authoring.editor.schedule import OpenFile
from dia_compiler.authoring.editor.texts import Lines
from dia_compiler.commands.cli import run
from dia_language.expressions.syntax import LITERALS
from dia_language.functions import library
from helpers.places import ROOT
from helpers.studio import BENCHMARK

SPECS = sorted(path for path in (ROOT / "specs").glob("*/*.yaml") if path.name != "benchmark.yaml")
CHECKER = TextChecker("no")
# In a template, a name that is printed, looped over or compared; in a block of checks or mistakes, any word
PRINTED = re.compile(r"\{\{ ([a-z]\w*) |\{% (?:for \w+ in|if) ([a-z]\w*)")
TALK = """\
template: ages
title: Ages
params:
  ann: {type: integer, min: 20, max: 60}
  bob: {type: integer, min: 20, max: 60}
let:
  older: max(ann, bob)
  said: f"{ann} or {bob}"
where: [ann != bob, "gcd(ann, bob) == 1"]
answer: {value: older, type: integer, accept: ["= older + 0 * ann"]}
checks:
  - answer >= ann and answer >= bob
  - length([ann for bob_ in [ann]]) == 1
mistakes: {younger: "min(ann, bob)"}
variants:
  again: {redraw: [ann], prompt: "Ann: {{ ann }}.\\tBob: {{ bob }}. \\u00fc ann?"}
prompt: |
  Ann, or ann, is {{ ann }} and Bob is {{ bob | ordinal }}, so {{ said }}.
  {%- if ann > bob %} Ann is older.{% endif %}
  {% raw %}{{ ann }}{% endraw %}
explanation: 'It''s {{ answer }}: {{ ann }}
  or {{ bob }}.'
examples:
  - params: {ann: 30, bob: 41}
    answer: 41
"""


def opened(path: Path, text: str) -> OpenFile:
    """Return a file in an editor; what is known of it comes from the text on the disk, if there is one."""
    file = OpenFile(path.as_uri(), path, text)
    file.readable = CHECKER.check(path, {} if path.is_file() else {path: text.encode()})
    return file


def labels(path: Path, text: str) -> list[str]:
    """The completions at the `¦` of a text."""
    offset = text.index("¦")
    return [entry.label for entry in completions(Knowledge(opened(path, text.replace("¦", "")), offset))]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "benchmark.yaml").write_text(BENCHMARK + "types: {age: {type: integer, min: 1, max: 99}}\n")
    return tmp_path / "ages.yaml"


@pytest.mark.parametrize("spec", SPECS[::25], ids=lambda spec: spec.stem)
@pytest.mark.long
def test_every_printed_name_is_offered_and_explained(spec: Path) -> None:
    text = spec.read_text(encoding="utf-8")
    names = [match for match in PRINTED.finditer(text) if (match[1] or match[2]) not in LITERALS]
    file = opened(spec, text)
    for match in names[:6]:
        name, start = match[1] or match[2], match.start(1 if match[1] else 2)
        assert hover(Knowledge(file, start)), name
        cut = opened(spec, text[:start])
        for typed in (file, cut):
            assert name in [entry.label for entry in completions(Knowledge(typed, start))], (name, len(typed.text))


@pytest.mark.long
@pytest.mark.parametrize("spec", SPECS[::25], ids=lambda spec: spec.stem)
def test_renaming_changes_neither_meaning_nor_layout(spec: Path) -> None:
    text = spec.read_text(encoding="utf-8")
    known = Knowledge(opened(spec, text), 0)
    for symbol in [one for one in known.symbols.values() if one.kind in RENAMED]:
        places = occurrences(text, known.shape, symbol)
        new = renamed(text, places, symbol.name, "other_name")
        require_no_new_errors(CHECKER, spec, {}, new)
        require_same_uses(new, known.shape, symbol, places, "other_name")
        assert len(places) >= 1


def test_a_parameter_is_renamed_in_every_part_of_a_template(path: Path) -> None:
    known = Knowledge(opened(path, TALK), TALK.index("ann: {"))
    places = occurrences(TALK, known.shape, known.symbols["ann"])
    marked = renamed(TALK, places, "ann", "<ann>")
    expected = re.sub(r"\bann\b", "<ann>", TALK)
    for kept in ("or ann, is", "{% raw %}{{ ann }}", "u00fc ann?"):
        expected = expected.replace(re.sub(r"\bann\b", "<ann>", kept), kept)
    assert marked == expected
    new_text = renamed(TALK, places, "ann", "first")
    require_no_new_errors(CHECKER, path, {path: TALK.encode()}, new_text)
    path.write_text(new_text.replace("redraw: [first], ", ""), encoding="utf-8")  # which changes the answer
    assert run(["check", str(path), "--jobs", "1", "-q"]) == 0


@pytest.mark.parametrize(
    ("new", "words"),
    [("bob_", "another meaning"), ("older", "already the name"), ("it", "reserved")],
)
def test_a_name_that_means_something_else_is_refused(path: Path, new: str, words: str) -> None:
    known = Knowledge(opened(path, TALK), 0)
    symbol = known.symbols["ann"]
    places = occurrences(TALK, known.shape, symbol)
    text = renamed(TALK, places, "ann", new)
    with pytest.raises(RenameError, match=words):
        require_no_new_errors(CHECKER, path, {path: TALK.encode()}, text)
        require_same_uses(text, known.shape, symbol, places, new)


# What is half-typed at the ¦, in flow style and block style, and something that must be offered there and not be
TYPED: list[tuple[str, str, str]] = [
    ("ca¦", "category", "ann"),
    ("params:\n  n: {¦", "type", "min"),
    ("params:\n  n: {type: ¦", "integer", "min"),
    ("params:\n  n: {type: ag¦}", "age", "min"),
    ("params:\n  n: {type: integer, mi¦", "min", "length"),
    ("params:\n  n:\n    type: integer\n    ¦", "max", "type"),
    ("params:\n  n:\n    type: integer\n    mi¦\nanswer: {value: n, type: integer}", "min", "value"),
    ("params: {n: {type: integer, parity: ¦}}", "even", "integer"),
    ("params: {n: {type: integer, where: i¦}}", "it", "integer"),
    ("answer: {value: 1, type: inte¦", "integer", "prime"),
    ("answer:\n  value: 1\n  type: real\n  to¦", "tolerance", "value"),
    ("answer: {value: le¦", "length", "title"),
    ("let:\n  a: 1\n  b: (a + ¦", "a", "integer"),
    ("params: {n: {type: integer}}\nchecks: ['n > 1', \"ans¦", "answer", "value"),
    ("params: {n: {type: integer}}\nprompt: |\n  Hi {{ ¦", "n", "answer"),
    ("params: {n: {type: integer}}\nprompt: \"Hi {{ n | gr¦ }}\"", "grouped", "n"),
    ("prompt: Hi {% ¦", "for", "endmacro"),
    ("lists: {l: [1]}\nprompt: |\n  {% for x in l %}{{ ¦", "x", "answer"),
    ("lists: {l: [1]}\nprompt: |\n  {% for x in l %}{{ loop.¦", "last", "x"),
    ("functions:\n  twice(what): 2 * ¦", "what", "answer"),
    ("format: {kind: ¦", "boxed", "integer"),
    ("format:\n  ki¦", "kind", "boxed"),
    ("assets: {x: {build: p¦", "png", "integer"),
    ("params: {n: {type: integer}}\nvariants: {v: {redraw: [¦", "n", "integer"),
    ("params: {n: {type: integer}}\nexamples:\n  - params: {¦", "n", "answer"),
    ("examples:\n  - params: {n: 1}\n    rep¦", "replies", "params"),
    ("choices:\n  correct: 1\n  ¦", "distractors", "correct"),
    ("allow: {k-equals-d: rows, answer-in¦}", "answer-in-prompt", "k-equals-d"),
    ("lists:\n  pets: {words: an¦", "animals", "pets"),
]  # fmt: skip


@pytest.mark.parametrize(("typed", "offered", "absent"), TYPED, ids=[typed for typed, _, _ in TYPED])
def test_completion_of_half_typed_specs(path: Path, typed: str, offered: str, absent: str) -> None:
    for before in ("template: t\n", "template: t\nnotes: {{ not yaml\ntitle: x\n"):
        found = labels(path, before + typed)
        assert offered in found
        assert absent not in found


@pytest.mark.parametrize(
    "typed", ["# ti¦", "prompt: Some te¦", "let: {a: \"'some te¦'\"}", "title: So¦", "params:\n  n¦"]
)
def test_nothing_is_offered_in_prose_and_names(path: Path, typed: str) -> None:
    assert labels(path, f"template: t\n{typed}\n") == []


def test_hover_says_what_the_commands_say(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = opened(path, TALK)
    file.values = {"ann": "33", "prompt": "Ann, or ann ..."}

    def words(place: str, shift: int = 0) -> str:
        return hover(Knowledge(file, TALK.index(place) + shift)) or ""

    assert run(["functions", "gcd"]) == 0
    for part in capsys.readouterr().out.strip().split("\n\n"):
        assert part in words("gcd"), part
    assert run(["types", "integer"]) == 0
    of_parameters, of_answers = capsys.readouterr().out.split("answer type ")
    for name in re.findall(r"^  (\w+)[ :(]", of_parameters, re.MULTILINE):
        assert f"`{name}`" in words("integer, min") or name == "where"
    for name in re.findall(r"^  (\w+)[ :(]", of_answers, re.MULTILINE):
        assert f"`{name}`" in words("integer, accept")
    assert "33" in words("ann }} and") and "min: 20" in words("ann }} and")
    assert "33" in words("ann: 30") and "Ann, or ann ..." in words("prompt: |")
    assert "Conditions" in words("checks")
    assert "ordinal(" in words("ordinal }}")
    assert words("Ann, or") == ""


def test_definitions(path: Path) -> None:
    text = TALK.replace("type: integer, min: 20, max: 60", "type: age", 1).replace(
        "where:", "lists: {w: {from: w.txt}}\nwhere:"
    )
    (path.parent / "w.txt").write_text("a\n")
    file, lines = opened(path, text), Lines(text)

    def line(place: str, shift: int = 0) -> tuple[str, int] | None:
        found = definition(Knowledge(file, text.index(place) + shift))
        return (Path(found.file).name, found.line) if found is not None else None

    def declared(start: str) -> int:
        return lines.line_and_column(text.index(start))[0] + 1

    assert line("said }}") == ("ages.yaml", declared("  said:"))
    assert line("ann and answer") == ("ages.yaml", declared("  ann:"))
    assert line("type: age", 6) == ("benchmark.yaml", BENCHMARK.count("\n") + 1)
    assert line("w.txt") == ("w.txt", 1)
    assert line("gcd") is None and line("bob_ in") is None


def test_library_functions_are_offered_with_their_signatures(path: Path) -> None:
    file = opened(path, TALK)
    offered: dict[str, Any] = {one.label: one for one in completions(Knowledge(file, TALK.index("max(ann")))}
    assert set(library()) <= set(offered)
    assert offered["gcd"].detail == library()["gcd"].signature


def test_a_text_can_end_anywhere(path: Path) -> None:
    text = f"# Ages of two people\n{TALK}"
    readable = opened(path, text).readable
    offered = set()
    for end in range(0, len(text), 7):
        file = OpenFile(path.as_uri(), path, text[:end], readable=readable)
        knowledge = Knowledge(file, end)
        offered |= {entry.label for entry in completions(knowledge)}
        hover(knowledge)
        definition(knowledge)
    assert {"title", "integer", "ann", "gcd", "endif"} <= offered


@pytest.mark.parametrize("typed", ["allow: {answer-in¦}", "allow:\n  answer-¦", "allow:\n  an¦swer-in: because"])
def test_a_word_with_hyphens_is_replaced_as_a_whole(path: Path, typed: str) -> None:
    text = f"template: t\n{typed}\n"
    file = opened(path, text.replace("¦", ""))
    (entry,) = [
        one for one in completions(Knowledge(file, text.index("¦"))) if one.label == "answer-in-prompt"
    ]  # fmt: skip
    changed = file.text[: entry.start] + entry.text + file.text[entry.end :]
    assert changed in {f"template: t\nallow:{gap}answer-in-prompt: {rest}\n"
                       for gap in (" {", "\n  ") for rest in ("", "}", "because")}  # fmt: skip
