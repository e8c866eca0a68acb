"""Domains that are made once for the values that they depend on are the ones that each draw would make."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from dia_compiler.analyze import domains
from dia_compiler.analyze.domains import Maker
from dia_compiler.types.numbers import SmoothPrimes
from helpers.small_specs import expansion
from hypothesis import given
from hypothesis import strategies as st

TEMPLATE = """
template: t
title: T
params:
  n: {type: integer, min: 1, max: 90}
  side: {type: choice, of: "= [1, 2, 1 == 1, 1 == 2, '1']"}
  few: {type: list, length: 2, unique: true, of: {type: integer, min: 1, max: 5}}
  x: {type: integer, min: = n, max: = n + 3}
  shown: {type: choice, of: "= [side, [side]]"}
  y: {type: list, length: 1, of: {type: integer, min: = n, max: = n + 9, where: it != x}}
  z: {type: integer, min: '= max(few)', max: '= max(few)'}
  word: {type: choice, of: {from: some}}
  item: {type: choice, of: "= few + [6]"}
  own: {type: integer, min: '= twice(1)', max: '= twice(2)'}
  far: {type: integer, min: 1, max: 99, where: far != n}
  near: {type: integer, min: = n, max: = n + 5, where: 'near not in few'}
  half: {type: integer, min: '= halved(n)', max: '= halved(n) + 1'}
lists:
  some: [a, b, c]
functions:
  twice(a): n * a
  halved(a): a // 2
prompt: "{{ n }} {{ side }} {{ x }} {{ shown }} {{ y }} {{ z }} {{ few }} {{ own }} {{ word }} {{ item }} {{ far }} {{ near }} {{ half }}"
answer: {value: x, type: integer}
checks: [answer == x]
"""


def parameters(folder: Path, k: int) -> list[Any]:
    return [[(name, type(value), value) for name, value in instance.parameters.items()]
            for instance in expansion(folder, TEMPLATE).questions(k)]  # fmt: skip


def test_instances_are_the_same_whether_domains_are_kept_or_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = parameters(tmp_path / "a", 60)
    monkeypatch.setattr(Maker, "_cached", Maker._build)
    assert kept == parameters(tmp_path / "a", 60)


def test_few_are_kept_and_only_what_depends_on_plain_values_alone(tmp_path: Path) -> None:
    made = expansion(tmp_path, TEMPLATE)
    list(made.questions(60))
    makers = made.prepared.makers
    assert 0 < len(makers["x"].domains_by_key) <= domains.MOST_CACHED
    assert {kinds for kinds, *_ in makers["shown"].domains_by_key} == {(int,), (bool,), (str,)}
    assert not any(makers[name].domains_by_key for name in ("n", "y", "z", "own", "word", "item", "far"))
    assert makers["half"].domains_by_key  # its function looks at nothing but its argument
    assert makers["far"].base is not None  # its condition alone depends on a drawn value
    assert {len(key) for key in makers["near"].domains_by_key} == {2}  # the kind of n, and n
    assert makers["word"].last is not None and makers["own"].last is None
    assert makers["word"].make(dict(made.lists)) is makers["word"].last[1]


@given(st.integers(2, 5000), st.lists(st.integers(2, 6000), min_size=1, max_size=5))
def test_a_number_is_smooth_where_it_has_small_factors_alone(bound: int, parts: list[int]) -> None:
    number = 1
    for part in parts:
        number *= part
    rest, least = number, 2
    while least < bound and rest > 1:
        while rest % least == 0:
            rest //= least
        least += 1
    assert SmoothPrimes(0, 1, bound)._is_smooth(number) == (rest == 1)
