"""Examples of catalog entries: what its face says of them is held to what they say."""

from __future__ import annotations

from pathlib import Path

import pytest
from dia_compiler.generate.examples import check_examples
from dia_language.diagnostics import Diagnostics
from helpers.small_specs import expansion

RULES = """\
template: rules
title: Rules
catalogs:
  rule:
    faces: {say: template, holds(t): expression}
    entries:
      few:
        params: {n: {type: integer, min: 3, max: 9}}
        say: Use at most {{ n }} words.
        holds: word_count(t) <= n
        examples: {holds: [one two three, ""], fails: ["= repeat('word ', 10)"]}
      tidy:
        say: Begin with a capital letter.
        holds: t == "" or t[0] in upper_letters
        examples: {holds: [Tidy], fails: [untidy]}
params: {chosen: {type: entry, of: rule}}
answer: {value: "name_of(chosen)", type: text}
prompt: "{{ say(chosen) }}"
"""


def faults_of(folder: Path, template: str) -> list[tuple[str, str, int]]:
    faults = Diagnostics()
    check_examples(expansion(folder, template), faults)
    return [(entry.code, entry.message, entry.position.line) for entry in faults.entries if entry.position]


def test_right_examples_say_nothing(tmp_path: Path) -> None:
    assert faults_of(tmp_path, RULES) == []


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("one two three", "a b c d e f g h i j", 11, "`holds` is false here (where n = "),
        ("fails: [untidy]", "fails: [Untidy]", 15, "`holds` is true here"),
        ("holds: [Tidy]", "holds: [1]", 15, ""),
    ],
)
def test_wrong_examples_are_told_where_they_stand(tmp_path: Path, old: str, new: str, line: int, words: str) -> None:
    assert old in RULES
    ((code, message, at), *rest) = faults_of(tmp_path, RULES.replace(old, new))
    assert at == line and words in message and code in ("E507", "E501") and not rest


def test_a_face_to_ask_is_needed(tmp_path: Path) -> None:
    template = RULES.replace("holds(t): expression", "holds: expression")
    template = template.replace("holds: word_count(t) <= n", "holds: n > 2").replace(
        'holds: t == "" or t[0] in upper_letters', "holds: true"
    )
    found = faults_of(tmp_path, template)
    assert {message for _, message, _ in found} == {"examples of entries need a face `holds` with one argument"}


def test_a_face_takes_its_entry_first_or_last(tmp_path: Path) -> None:
    spec = RULES.replace(
        "params: {chosen:", "let: {one: 'holds(chosen, \"A b\")', other: 'holds(\"A b\", chosen)'}\nparams: {chosen:"
    )
    made = expansion(tmp_path, spec.replace("prompt:", "checks: [one and other]\nprompt:"))
    assert len(list(made.questions(4))) == 4
