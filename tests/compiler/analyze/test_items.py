"""`each` and `instances`: items of their own, in order, each with its own instances."""

from __future__ import annotations

from pathlib import Path

import pytest
from dia_language.diagnostics import DiaError
from helpers.small_specs import expansion, found, questions

TABLES = """\
template: tables
title: Multiplication tables
params:
  row: {type: integer, min: 2, max: 9}
  column: {type: integer, min: 2, max: 30}
each: row
answer: {value: row * column, type: integer}
checks: [answer / row == column]
prompt: "{{ row }} times {{ column }}?"
"""
FACTS = """\
template: facts
title: Facts
params:
  fact: {type: choice, of: [{q: "1 + 1", a: 2}, {q: "2 + 2", a: 4}]}
each: fact
answer: {value: fact.a, type: integer}
prompt: "{{ fact.q }}?"
"""


def test_every_value_is_an_item_in_order_with_k_instances_each(tmp_path: Path) -> None:
    asked = questions(tmp_path, TABLES, k=4)
    assert [(one.item.name, one.number) for one in asked] == [
        (str(row), number) for row in range(2, 10) for number in range(4)
    ]
    for one in asked:
        assert one.parameters["row"] == int(one.item.name)
    assert len({one.challenge for one in asked}) == 32
    columns = {one.item.name: [] for one in asked}
    for one in asked:
        columns[one.item.name].append(one.parameters["column"])
    assert len({tuple(found) for found in columns.values()}) > 4  # each item walks its own way


def test_an_item_is_the_same_whatever_other_items_and_k_there_are(tmp_path: Path) -> None:
    few = {(one.item.name, one.number): one.challenge for one in questions(tmp_path / "a", TABLES, k=3)}
    many = {(one.item.name, one.number): one.challenge
            for one in questions(tmp_path / "b", TABLES.replace("max: 9", "max: 20"), k=8)}  # fmt: skip
    assert few == {key: many[key] for key in few}


def test_freedom_counts_per_item_and_too_many_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dia_compiler.sampling.instance_tree.DRY_POSITIONS", 2_000)
    monkeypatch.setattr("dia_compiler.sampling.instance_tree.DRY_DRAWS", 1_000)
    made = expansion(tmp_path, TABLES.replace("max: 9", "max: 4"))
    assert made.freedom.as_json() == {"kind": "exact", "count": "29"}
    assert len(list(made.questions(29))) == 3 * 29
    with pytest.raises(DiaError, match="only 29 distinct instances of `2` can be made, but k is 30"):
        list(made.questions(30))


def test_static_items_have_one_instance_whatever_k_is(tmp_path: Path) -> None:
    asked = questions(tmp_path, FACTS, k=5)
    assert [(one.item.name, one.number, one.challenge) for one in asked] == [("0", 0, "1 + 1?"), ("1", 0, "2 + 2?")]


def test_a_where_of_the_type_filters_items(tmp_path: Path) -> None:
    spec = TABLES.replace("max: 9}", 'max: 9, where: "row % 3 == 0"}')
    assert {one.item.name for one in questions(tmp_path, spec, k=2)} == {"3", "6", "9"}


def test_entries_without_parameters_are_items_in_their_written_order(tmp_path: Path) -> None:
    spec = """\
template: turns
title: Turns
catalogs:
  turn:
    faces: {of(n): expression}
    entries: {twice: {of: 2 * n}, half: {of: n / 2}}
params: {way: {type: entry, of: turn}, n: {type: integer, min: 2, max: 99}}
each: way
answer: {value: "of(n, way)", type: rational}
prompt: "{{ name_of(way) }} of {{ n }}?"
"""
    asked = questions(tmp_path, spec, k=2)
    assert [one.item.name for one in asked] == ["twice", "twice", "half", "half"]
    assert all(one.challenge.startswith(one.item.name) for one in asked)


@pytest.mark.parametrize(("asked", "made"), [("all", 29), ("7", 7)])
def test_instances_replace_k(tmp_path: Path, asked: str, made: int) -> None:
    asked_for = questions(tmp_path, TABLES + f"instances: {asked}\n", k=2)
    assert len(asked_for) == 8 * made


def test_all_instances_of_an_uncountable_template_are_refused(tmp_path: Path) -> None:
    spec = TABLES.replace("max: 30}", f"max: {2**200}}}") + "instances: all\n"
    with pytest.raises(DiaError, match="`instances: all` needs parameters whose values can be counted"):
        questions(tmp_path, spec)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("each: row", "each: rwo", "`rwo` is not a parameter"),
        ("each: row", "each: column", "`column` depends on drawn values, so its values cannot be listed"),
    ],
)
def test_what_makes_no_items_is_told(tmp_path: Path, old: str, new: str, message: str) -> None:
    spec = TABLES.replace("min: 2, max: 30", "min: 2, max: = row + 20").replace(old, new)
    assert message in [entry.message for entry in found(tmp_path, spec)]


def test_values_that_cannot_be_listed_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DiaError, match="the values of this parameter cannot be listed"):
        questions(tmp_path, TABLES.replace("max: 9", f"max: {10**9}"))
