"""Variants and slots: the same instances in other words, with the same answers."""

from __future__ import annotations

from pathlib import Path

import pytest
from dia_language.diagnostics import DiaError
from helpers.small_specs import expansion, found, questions

MARKET = """\
template: market
title: A market
params:
  person: {type: choice, of: [Ann, Bo, Cy, Di]}
  baskets: {type: integer, min: 2, max: 12}
  fruit: {type: integer, min: 3, max: 20}
let: {total: baskets * fruit}
answer: {value: total, type: integer}
checks: [answer % baskets == 0 and answer / baskets == fruit]
prompt: "{{ person }} has {{ baskets }} baskets of {{ fruit }} apples.{{ aside }} How many apples?"
slots: {aside: ""}
variants:
  irrelevant:
    params: {small: {type: integer, min: 2, max: = baskets}}
    let: {words: "f'{small} of'"}
    slots: {aside: " {{ words }} the baskets are red."}
  renamed:
    redraw: [person]
  careful:
    prepend: Read with care.
    append: "Think of all {{ baskets }} baskets."
  other:
    prompt: "{{ baskets }} times {{ fruit }}?"
explanation: "{{ person }}: {{ answer }}{{ aside }}"
"""


def test_every_instance_is_asked_in_every_wording(tmp_path: Path) -> None:
    asked = questions(tmp_path, MARKET, k=6)
    assert [(one.number, one.variant) for one in asked] == [
        (number, variant) for number in range(6) for variant in (None, "irrelevant", "renamed", "careful", "other")
    ]
    for place in range(0, len(asked), 5):
        base, irrelevant, renamed, careful, other = asked[place : place + 5]
        assert len({one.text for one in (base, irrelevant, renamed, careful, other)}) == 1
        small = irrelevant.parameters["small"]
        assert 2 <= small <= base.parameters["baskets"]
        assert irrelevant.challenge == base.challenge.replace("apples. ", f"apples. {small} of the baskets are red. ")
        assert irrelevant.explanation == f"{base.explanation} {small} of the baskets are red."
        assert renamed.parameters["person"] != base.parameters["person"]
        assert renamed.challenge == base.challenge.replace(
            str(base.parameters["person"]), str(renamed.parameters["person"])
        )
        baskets, fruit = base.parameters["baskets"], base.parameters["fruit"]
        assert careful.challenge == f"Read with care.\n\n{base.challenge}\n\nThink of all {baskets} baskets."
        assert other.challenge == f"{baskets} times {fruit}?"


def test_variants_change_no_instance_and_one_another_nothing(tmp_path: Path) -> None:
    alone = questions(tmp_path / "a", MARKET[: MARKET.index("variants:")] + "explanation: none\n", k=6)
    asked = questions(tmp_path / "b", MARKET, k=6)
    assert [one.challenge for one in alone] == [one.challenge for one in asked if one.variant is None]
    fewer = MARKET.replace("  renamed:\n    redraw: [person]\n", "")
    kept = {(one.number, one.variant): one.challenge for one in questions(tmp_path / "c", fewer, k=6)}
    assert kept == {(one.number, one.variant): one.challenge for one in asked if one.variant != "renamed"}


def test_a_variant_that_changes_the_answer_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DiaError) as caught:
        questions(tmp_path, MARKET.replace("redraw: [person]", "redraw: [fruit]"))
    (fault,) = caught.value.diagnostics
    assert fault.code == "E511" and "`renamed` has a different answer" in fault.message
    assert fault.position is not None and fault.position.line == 17


def test_every_redrawn_parameter_changes_if_it_has_another_value(tmp_path: Path) -> None:
    text = MARKET.replace(
        "  baskets:", "  shop: {type: choice, of: [baker, grocer]}\n  town: {type: choice, of: [Ulm]}\n  baskets:"
    )
    text = text.replace("redraw: [person]", "redraw: [person, shop, town]")
    asked = questions(tmp_path, text, k=30)
    bases = {one.number: one for one in asked if one.variant is None}
    for one in asked:
        if one.variant == "renamed":
            before = bases[one.number].parameters
            assert [name for name in before if before[name] != one.parameters[name]] == ["person", "shop"]


def test_a_redrawn_name_must_have_another_value(tmp_path: Path) -> None:
    spec = MARKET.replace("of: [Ann, Bo, Cy, Di]", "of: [Ann]")
    with pytest.raises(DiaError, match="no other values of person fit instance 0"):
        questions(tmp_path, spec)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("redraw: [person]", "redraw: [persn]", "`persn` is not a parameter"),
        ("slots: {aside: \" {{ words", "slots: {asde: \" {{ words", "the template has no slot `asde`"),
        ("{{ words }} the", "{{ total }} {{ answer }} the", "`answer` cannot be used in a prompt"),
        ("words: \"f'{small} of'\"", 'fruit: "1"', "`fruit` is already the name of a parameter (line 6)"),
        ("{small: {type: integer, min: 2, max: = baskets}}", "{small: {type: integer, min: 2, max: = answer}}",
         "`small` depends on the answer, but variants are shown to the model"),
        ("{small: {type: integer, min: 2, max: = baskets}}", "{small: {type: integer, min: 2, max: = small}}",
         "`small` uses `small`, which is not drawn yet"),
        ("slots: {aside: \"\"}", "slots: {person: \"\"}", "`person` is already the name of a parameter (line 4)"),
        ("append: \"Think", "apend: \"Think", "unknown key `apend`"),
    ],
)  # fmt: skip
def test_what_a_variant_cannot_be_is_told(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in MARKET
    told = [entry.message for entry in found(tmp_path, MARKET.replace(old, new))]
    assert message in told


def test_two_variants_may_use_one_name(tmp_path: Path) -> None:
    spec = MARKET.replace("  careful:\n", "  careful:\n    params: {small: {type: choice, of: [one, two]}}\n").replace(
        "Read with care.", '"Read {{ small }} times."'
    )
    asked = questions(tmp_path, spec, k=2)
    assert {one.challenge.split()[1] for one in asked if one.variant == "careful"} <= {"one", "two"}


def test_what_a_variant_shows_counts_as_used(tmp_path: Path) -> None:
    spec = MARKET.replace("{{ person }} has", "Someone has").replace(
        '  other:\n    prompt: "', '  other:\n    prompt: "{{ person }} '
    )
    assert not [entry for entry in found(tmp_path, spec) if entry.code == "unused-parameter"]
    assert expansion(tmp_path / "again", spec).prepared.variants[-1].name == "other"
