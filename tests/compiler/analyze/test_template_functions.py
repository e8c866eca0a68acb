"""Functions of a spec: the values of which are kept, because no instance changes them."""

from __future__ import annotations

from pathlib import Path

from helpers.small_specs import expansion

SPEC = """\
template: words
title: Functions of lists and of parameters
lists: {pool: [fig, pear, plum, apple]}
functions:
  words_of(k): "[word for word in pool if length(word) == k]"
  after_them(k): length(words_of(k)) + 1
  shifted(k): n + k
  both(k): length(words_of(k)) + shifted(k)
  squared(k): k ** 2
params: {n: {type: integer, min: 1, max: 99}}
answer: {value: "both(4) + after_them(4) + squared(3)", type: integer}
prompt: "{{ n }}"
"""


def test_values_that_depend_on_lists_alone_are_kept_and_those_of_parameters_are_not(tmp_path: Path) -> None:
    spec = expansion(tmp_path, SPEC)
    assert spec.prepared.namespace.pure == {"words_of", "after_them", "squared"}
    instances = list(spec.questions(3))
    assert [instance.answer - instance.parameters["n"] for instance in instances] == [18, 18, 18]
