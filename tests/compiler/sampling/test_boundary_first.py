"""`fuzz: {first: boundary}`: edges first, then every pair of classes, then the walk, and nothing twice."""

from __future__ import annotations

from itertools import combinations, product
from pathlib import Path

import pytest
from dia_compiler.analyze.items import Item
from dia_compiler.generate import draw
from dia_compiler.sampling.boundary_first import edge_rows, pair_rows
from helpers.small_specs import expansion, questions
from hypothesis import given
from hypothesis import strategies as st

SPEC = """\
template: sums
title: Sums
params:
  a: {type: integer, min: 1, max: 50}
  b: {type: integer, min: -7, max: 300}
  c: {type: integer, min: 0, max: = a}
  sign: {type: boolean}
where: a != 1 or c == 0
fuzz: {first: boundary}
answer: {value: "a + b + c if sign else a - b - c", type: integer}
prompt: "{{ a }} {{ b }} {{ c }} {{ sign }}"
"""


@given(st.lists(st.integers(0, 5), max_size=40))
def test_every_edge_and_every_pair_of_classes_stands_in_the_rows(edges: list[int]) -> None:
    stood = {(at, place) for row in edge_rows(edges) for at, place in enumerate(row) if place is not None}
    assert stood == {(at, place) for at, size in enumerate(edges) for place in range(size)}
    rows = pair_rows(edges)
    varied = [at for at, size in enumerate(edges) if size]
    for one, other in combinations(varied, 2):
        classes = {(row[one] is None, row[other] is None) for row in rows}
        assert classes == set(product((True, False), repeat=2))
    assert len(rows) <= 10


def test_the_rows_are_as_few_as_they_can_be() -> None:
    # Kleitman and Spencer (1973): n rows serve up to C(n - 1, ceil(n / 2)) columns
    assert [len(pair_rows([1] * size)) for size in (2, 3, 4, 10, 11, 15, 16, 35, 36)] == [4, 4, 5, 6, 7, 7, 8, 8, 9]


def test_edges_and_pairs_come_first_and_nothing_comes_twice(tmp_path: Path) -> None:
    asked = questions(tmp_path, SPEC, k=3000)
    drawn = [tuple(one.parameters.values()) for one in asked]
    assert len(set(drawn)) == len(drawn)
    assert all(a != 1 or c == 0 for a, b, c, _ in drawn)
    first = drawn[:20]
    for edge in (1, 2, 49, 50):
        assert any(row[0] == edge for row in first)
    for edge in (-7, -6, 299, 300):
        assert any(row[1] == edge for row in first)
    assert any(row[2] == row[0] for row in first) and any(row[2] == 0 for row in first)
    classes = {(a in (1, 2, 49, 50), b in (-7, -6, 299, 300)) for a, b, _, _ in first}
    assert len(classes) == 4


def test_the_edges_are_those_of_the_first_instance(tmp_path: Path) -> None:
    small = SPEC.replace("where: a != 1 or c == 0\n", "").replace("max: 50", "max: 3").replace("min: 0,", "min: 1,")
    drawing = expansion(tmp_path, small).drawing
    walker = drawing.walker(Item())
    first, second = (scope["a"] for scope in (walker.at(0), walker.at(1)) if scope is not None)
    assert first != second
    assert draw._Front(drawing, Item()).edges == [3, 4, first, 2]


@pytest.mark.parametrize("most", [400, 7])
def test_pairs_that_no_row_has_covered_are_tried_with_everything_else_free(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(draw, "FRONT_PAIRS", most)
    front, tried = object.__new__(draw._Front), []
    front.edges = [2, 0, 4, 3]
    front.covered = {(0, 2, True, True), (0, 2, True, False), (2, 3, False, False)}
    monkeypatch.setattr(front, "add", tried.append, raising=False)
    front.add_missing_pairs()
    edge, free, within = 0, -1, None
    assert tried == [
        (within, free, edge, free), (within, free, within, free),
        (edge, free, free, edge), (edge, free, free, within), (within, free, free, edge), (within, free, free, within),
        (free, free, edge, edge), (free, free, edge, within), (free, free, within, edge),
    ][:most]  # fmt: skip


def test_the_walk_goes_on_behind_the_edges_and_ends_with_every_value(tmp_path: Path) -> None:
    small = SPEC.replace("max: 50", "max: 4").replace("min: -7, max: 300", "min: 0, max: 5")
    made = expansion(tmp_path, small)
    every = [
        (a, b, c, sign)
        for a, b, sign in product(range(1, 5), range(6), (False, True))
        for c in range(a + 1)
        if a != 1 or c == 0
    ]
    assert made.freedom.as_json() == {"kind": "exact", "count": str(len(every))}
    drawn = [tuple(one.parameters.values()) for one in made.questions(len(every))]
    assert sorted(drawn) == sorted(every)


def test_the_walk_itself_is_the_same_with_and_without(tmp_path: Path) -> None:
    plain = SPEC.replace("fuzz: {first: boundary}\n", "")
    made = expansion(tmp_path / "a", SPEC)
    front = sum(scope is not None for scope in made.drawing.front(Item()))
    asked = [tuple(one.parameters.values()) for one in made.questions(300)]
    walked = [tuple(one.parameters.values()) for one in questions(tmp_path / "b", plain, k=300)]
    assert 8 <= front <= 30
    assert asked[front:] == [row for row in walked if row not in asked[:front]][: 300 - front]
