"""Each instance is graded by its own comparison; one that is the same for all is made once."""

from __future__ import annotations

from pathlib import Path

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


def test_each_instance_is_compared_by_its_own_parameters(tmp_path: Path) -> None:
    instances = questions(tmp_path, TEMPLATE, 30)
    assert {instance.parameters["places"] for instance in instances} == {1, 2, 3}
    for instance in instances:
        places = instance.parameters["places"]
        assert instance.grading.comparison["round"]["places"] == places
        assert len(instance.text.partition(".")[2]) <= places


def test_a_comparison_that_is_the_same_for_all_is_made_once(tmp_path: Path) -> None:
    instances = questions(tmp_path, TEMPLATE.replace("places: = places", "places: 2").replace("10**places", "100"), 5)
    assert len({id(instance.grading) for instance in instances}) == 1
