"""Multiple choice: lettered options, their order as a part of the instance, and the way out."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from dia_compiler.generate.bundle_rows import RoundTrip, answer_record
from dia_compiler.pipeline.api import check_specs
from dia_language.diagnostics import DiaError
from dia_runtime.grading.grader import grade
from helpers.small_specs import expansion, found, questions, written

CAPITALS = """\
template: capitals
title: Capitals
params:
  place: {type: choice, of: [{land: Italy, town: Rome}, {land: France, town: Paris}]}
lists:
  towns: [Rome, Paris, Berlin, Oslo, Madrid]
choices:
  correct: place.town
  distractors: "[town for town in towns if town != answer][:3]"
  skip: I don't know
format: {kind: letter}
mistakes: {first: "'Berlin'"}
prompt: |
  What is the capital of {{ place.land }}?
  {{ options }}
explanation: It is {{ answer }}.
examples:
  - params: {place: {land: Italy, town: Rome}}
    answer: Rome
"""


def test_all_orders_of_the_options_are_instances(tmp_path: Path) -> None:
    made = expansion(tmp_path, CAPITALS)
    assert made.freedom.as_json() == {"kind": "exact", "count": "48"}
    asked = list(made.questions(48))
    assert len({one.challenge for one in asked}) == 48
    assert Counter(one.text for one in asked) == dict.fromkeys("ABCD", 12)
    for one in asked:
        listed = one.challenge.split("\n")[1:]
        assert listed[4] == "E. I don't know"
        right = next(line for line in listed if line.endswith(one.parameters["place"]["town"]))
        assert right == f"{one.text}. {one.parameters['place']['town']}"
        assert one.grading.format["skip"] == "E" and list(one.grading.format["options"]) == list("ABCDE")
    with pytest.raises(DiaError, match="only 48 distinct instances"):
        list(made.questions(49))


def test_replies_are_graded_by_letter(tmp_path: Path) -> None:
    made = expansion(tmp_path, CAPITALS)
    for one in made.questions(8):
        RoundTrip(made).check(one)
        record = answer_record(one, made, "small/capitals/0", None)
        assert record["text"] == record["answer"] == one.text
        verdicts = {letter: grade(record, f"Answer: {letter}", one.grading.format).verdict for letter in "ABCDE"}
        assert verdicts == dict.fromkeys("ABCD", "wrong") | {one.text: "correct", "E": "skipped"}
        berlin = next(line[0] for line in one.challenge.split("\n") if line.endswith("Berlin"))
        assert one.mistakes == {"first": berlin}


def test_without_a_shuffle_options_stand_in_ascending_order(tmp_path: Path) -> None:
    spec = """\
template: sums
title: Sums
params: {a: {type: integer, min: 1, max: 50}}
choices: {correct: a + a, distractors: "[answer - 1, answer + 10, a]", shuffle: false}
format: {kind: letter}
checks: [answer == 2 * a]
prompt: "Double {{ a }}?\\n{{ options }}"
"""
    for one in questions(tmp_path, spec.replace("max: 50", "max: 50, where: a > 2"), k=20):
        shown = [int(line[3:]) for line in one.challenge.split("\n")[1:]]
        assert shown == sorted(shown) and shown["ABCD".index(one.text)] == 2 * one.parameters["a"]
        assert one.grading.format["skip"] == "I-DO-NOT-KNOW"


def test_other_formats_carry_letters_too(tmp_path: Path) -> None:
    made = expansion(tmp_path, CAPITALS.replace("kind: letter", "kind: xml"))
    one = next(made.questions(1))
    RoundTrip(made).check(one)
    assert "options" not in one.grading.format and one.grading.format["skip"] == "E"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[town for town in towns if town != answer][:3]", "towns", "two options are both `Paris`"),
        ("[town for town in towns if town != answer][:3]", "['Oslo', ' oslo']", "two options are both `oslo`"),
        ("[town for town in towns if town != answer][:3]", "['']", "an option is empty"),
        ("[town for town in towns if town != answer][:3]", "[]", "must be a list of 1 to 24 values"),
        (
            "[town for town in towns if town != answer][:3]",
            "[f'{n}' for n in range(25)]",
            "must be a list of 1 to 24 values",
        ),
        ("[town for town in towns if town != answer][:3]", "'Oslo'", "must be a list of 1 to 24 values"),
        ("skip: I don't know", "skip: Rome", "two options are both `Rome`"),
    ],
)
def test_options_that_cannot_be_told_apart_are_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in CAPITALS
    with pytest.raises(DiaError) as caught:
        questions(tmp_path, CAPITALS.replace(old, new), k=4)
    assert message in caught.value.diagnostics[0].message
    assert caught.value.diagnostics[0].position is not None


def test_faults_of_the_keys_are_told(tmp_path: Path) -> None:
    both = CAPITALS + "answer: {value: 1, type: integer}\n"
    assert "use only one of `answer` and `choices`" in [entry.message for entry in found(tmp_path, both)]
    taken = CAPITALS.replace("lists:\n", "let: {options: 1 + 1}\nlists:\n")
    assert "`options` is a reserved name" in [entry.message for entry in found(tmp_path, taken)]
    unknown = CAPITALS.replace("skip: I", "skipp: I")
    assert "unknown key `skipp`" in [entry.message for entry in found(tmp_path, unknown)]


def test_a_mistake_that_is_never_an_option_is_an_error(tmp_path: Path) -> None:
    checked = check_specs([written(tmp_path, CAPITALS.replace("'Berlin'", "'Bern'"))], 1)
    assert [entry.message for entry in checked.diagnostics.errors] == [
        "the mistake `first` is not the value of a wrong option in any instance that was tried"
    ]
