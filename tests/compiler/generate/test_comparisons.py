"""Ways of comparing that are kept for instances that are compared alike."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from dia_compiler.generate.expand import is_plain
from helpers.small_specs import questions

TEMPLATE = """
template: t
title: T
params:
  places: {type: integer, min: 1, max: 3}
  n: {type: integer, min: 1, max: 900}
prompt: "{{ n }} sevenths to {{ places }} places. {{ rounding_rule }}"
answer: {value: n / 7, type: real, round: {places: = places, ties: half_even}}
checks: [abs(answer - n / 7) <= 1 / 10**places]
"""


def test_instances_that_are_compared_alike_share_a_way_and_no_others_do(tmp_path: Path) -> None:
    made = questions(tmp_path, TEMPLATE, 30)
    shared = {(id(instance.way), instance.parameters["places"]) for instance in made}
    assert len(shared) == 3
    for instance in made:
        places = instance.parameters["places"]
        assert instance.way.comparison["round"]["places"] == places and len(instance.text.partition(".")[2]) <= places


def test_only_what_its_text_tells_from_all_else_is_plain() -> None:
    assert is_plain({"a": [1, True, "x", None, Fraction(1, 2)], "b": {}})
    assert not is_plain({"a": [b"x"]}) and not is_plain(1.5) and not is_plain(object())
