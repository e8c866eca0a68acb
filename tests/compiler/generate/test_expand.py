"""Instances that are made step by step together are those that are made one by one, and so is the fault that is told."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from dia_compiler.analyze.items import Item
from dia_compiler.generate import expand
from dia_compiler.generate.bundle_rows import Writer
from dia_compiler.generate.expand import Draft, Pace, grouped
from dia_language.diagnostics import DiaError, Diagnostic
from dia_language.numbers.values import Record
from helpers.small_specs import expansion
from hypothesis import given, settings
from hypothesis import strategies as st

K = 40
TEMPLATE = """
template: t
title: T
params:
  n: {{type: integer, min: 1, max: 60}}
  m: {{type: integer, min: 1, max: 9, where: 'n not in {undrawn}'}}
let:
  x: "n // (0 if n in {underived} else 1)"
  prompted: "[x] if n in {unwritten} else [x, x]"
  explained: "[x] if n in {unexplained} else [x, x]"
  varied: "[x] if n in {unvaried} else [x, x]"
answer:
  value: "'many' if n in {unsolved} else x * m"
  type: integer
  accept_if: reply == answer or n in {untold}
checks:
  - n not in {unchecked}
mistakes:
  wrong: "x * m + (n if n not in {unmade} else 'none')"
prompt: "{{{{ prompted[1] }}}} times {{{{ m }}}}"
explanation: "{{{{ explained[1] }}}} is taken"
variants:
  other:
    prompt: "{{{{ m }}}} by {{{{ varied[1] }}}}"
"""
FAULTS = ("undrawn", "underived", "unsolved", "untold", "unchecked", "unmade", "unwritten", "unexplained", "unvaried")
numbers = st.lists(st.integers(1, 60), max_size=2)


def outcome(folder: Path, template: str) -> Any:
    """The rows of the first instances, or what is told of the fault, and the rows before it."""
    made = expansion(folder, template)
    writer, rows = Writer(made, None), []
    try:
        for group in made.groups(made.drafts(K)):
            rows += writer.rows(group)
    except DiaError as error:
        return [(entry.code, entry.message, entry.position, entry.help) for entry in error.diagnostics]
    return rows


@pytest.mark.parametrize("planted", FAULTS)
def test_each_fault_is_told_as_one_by_one(planted: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expand, "QUICK", 60.0)
    values = [one.parameters["n"] for one in expansion(tmp_path, clean()).questions(K) if one.variant is None]
    template = clean(**{planted: values[30:32]})
    together = outcome(tmp_path, template)
    monkeypatch.setattr(expand, "TOGETHER", 1)
    assert together == outcome(tmp_path, template)
    assert isinstance(together[0][0], str), "a fault is told"


@settings(max_examples=25)
@given(st.fixed_dictionaries(dict.fromkeys(FAULTS, numbers)))
def test_the_first_of_many_faults_is_told_as_one_by_one(planted: dict[str, list[int]]) -> None:
    template = clean(**planted)
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.setattr(expand, "QUICK", 60.0)
        together = outcome(Path(folder), template)
        patch.setattr(expand, "TOGETHER", 1)
        assert together == outcome(Path(folder), template)


def clean(**planted: list[int]) -> str:
    return TEMPLATE.format(**{name: planted.get(name, []) or "[0]" for name in FAULTS})


def drafts(count: int, failure: DiaError | None = None) -> Any:
    for number in range(count):
        yield Draft(Item(), number, number, {})
    if failure is not None:
        raise failure


def sizes(count: int, most: int, scope: dict[str, Any]) -> list[int]:
    """The sizes of the groups of so many instances, of which each has the values."""
    pace, found = Pace(most), []
    for group in grouped(drafts(count), pace):
        found.append(len(group))
        pace.note([{}] * (len(group) - 1) + [scope])
    return found


def test_groups_grow_while_they_are_quick_and_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expand, "QUICK", 60.0)
    assert sizes(150, 64, {"x": 1}) == [1, 4, 16, 64, 64, 1]
    assert sizes(20, 8, {"x": 1}) == [1, 4, 8, 7]
    assert sizes(5, 64, {"x": "a" * 10_000_000}) == [1] * 5
    assert sizes(9, 64, {"x": [10**10] * 100_000, "y": 1}) == [1, 2, 2, 2, 2]
    assert sizes(3, 64, {"x": Record(a=[["a" * 900_000] * 3] * 10)}) == [1] * 3
    monkeypatch.setattr(expand, "QUICK", 0.0)
    assert sizes(5, 64, {"x": 1}) == [1] * 5


def test_groups_keep_the_order(monkeypatch: pytest.MonkeyPatch) -> None:
    pace = Pace(64)
    pace.size = 9
    assert [draft.number for group in grouped(drafts(150), pace) for draft in group] == list(range(150))


def test_a_failure_comes_behind_what_was_drawn_before_it() -> None:
    pace, found = Pace(64), []
    pace.size = 5
    with pytest.raises(DiaError, match="no more"):
        for group in grouped(drafts(7, DiaError(Diagnostic("E505", "no more", None))), pace):
            found += [draft.number for draft in group]
    assert found == list(range(7))


def test_a_group_leaves_the_drawn_parameters_as_they_are(tmp_path: Path) -> None:
    made = expansion(tmp_path, clean())
    held = list(made.drafts(K))
    before = [dict(draft.scope) for draft in held]
    assert len(list(made.groups(held))) < len(held)
    assert [draft.scope for draft in held] == before
