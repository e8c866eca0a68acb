"""Whether a prompt gives its answer away, and the bytes of rows."""

from __future__ import annotations

import re
from pathlib import Path

from dia_compiler.freeze.spool import ENTRY
from dia_compiler.generate.bundle_rows import Writer, answer_record, is_shown, question_record
from dia_runtime.bundle.canonical import canonical_line
from dia_runtime.bundle.records import leaf
from helpers.small_specs import expansion
from hypothesis import given
from hypothesis import strategies as st


@given(st.text("ab1_ .é²", min_size=1, max_size=3), st.text("ab1_ .é²", max_size=12))
def test_an_answer_is_shown_where_it_stands_as_a_whole_token(text: str, challenge: str) -> None:
    begin = r"(?<!\w)" if text[0].isalnum() else ""
    end = r"(?!\w)" if text[-1].isalnum() else ""
    assert is_shown(text, challenge) == bool(re.search(begin + re.escape(text) + end, challenge))


TEMPLATE = """
template: t
title: T
params:
  n: {type: integer, min: 1, max: 9}
  side: {type: choice, of: "= [1, 1 == 1]"}
  sign: {type: choice, of: ["é", "\U0001f600", a]}
answer: {value: n, type: integer, accept_if: "reply == answer and side == side"}
checks: [answer == n]
mistakes: {next: n + 1}
prompt: "{{ sign }} {{ n }} {{ side }}"
explanation: "{{ sign }}"
variants:
  other: {prompt: "{{ n }} {{ sign }} {{ side }}"}
"""


def test_rows_are_the_canonical_lines_of_the_records(tmp_path: Path) -> None:
    expanding = expansion(tmp_path, TEMPLATE)
    writer = Writer(expanding, "canary")
    instances = list(expanding.questions(30))
    sides = [instance.parameters["side"] for instance in instances]
    assert {(type(a), type(b)) for a, b in zip(sides, sides[2:], strict=False)} >= {(int, bool), (bool, int)}
    for instance in instances:
        question_line, answer_line, entry = writer.row(instance)
        question = question_record(instance, expanding, "canary")
        assert question_line == canonical_line(question) + b"\n"
        assert answer_line == canonical_line(answer_record(instance, expanding, question["id"], "canary")) + b"\n"
        assert ENTRY.unpack(entry)[0] == leaf(question)
