"""English wording against published rules and words."""

from __future__ import annotations

import pytest
from dia_language.diagnostics import LanguageError
from dia_language.numbers.values import Record
from helpers.library_calls import call, code
from hypothesis import given
from hypothesis import strategies as st

# As in the Oxford English Dictionary
PLURALS = """apple apples, peach peaches, fig figs, bus buses, class classes, dish dishes, fox foxes, buzz buzzes, city cities,
day days, key keys, toy toys, baby babies, man men, woman women, child children, person people, mouse mice, tooth teeth,
half halves, knife knives, roof roofs, chief chiefs, sheep sheep, tomato tomatoes, photo photos, piano pianos, vertex vertices,
box boxes, brush brushes, match matches, quiz quizzes, cherry cherries, monkey monkeys, die dice"""


@pytest.mark.parametrize("pair", [pair.split() for pair in PLURALS.split(",")], ids=" ".join)
def test_plurals(pair: list[str]) -> None:
    one, many = pair
    assert call("plural", one) == call("plural", one, 0) == call("plural", one, 2) == many
    assert call("plural", one, 1) == one
    assert call("plural", f"red {one}", 5) == f"red {many}"


def test_nouns_that_say_their_plural_themselves() -> None:
    noun = Record(one="cactus", many="cacti", gender="neuter")
    assert [call("plural", noun, n) for n in (0, 1, 2)] == ["cacti", "cactus", "cacti"]
    assert call("plural", "Person", 2) == "People"
    assert call("plural", "day", call("sqrt", 2)) == call("plural", "day", -1) == "days"
    assert code("plural", "", 2) == code("plural", " ", 1) == "E501"
    with pytest.raises(LanguageError, match="`plural` needs text, or record of `one` and `many` as `noun`"):
        call("plural", Record(one="fig"), 2)


def test_verbs_agree_with_the_pronoun() -> None:
    persons = [Record(name="Ann", plural=False), Record(name="Robin", plural=True)]
    assert [call("agree", person, "eats", "eat") for person in persons] == ["eats", "eat"]
    assert code("agree", Record(name="Ann"), "eats", "eat") == "E501"


@given(st.integers(0, 10**30))
def test_ordinals_end_as_their_last_two_digits_say(n: int) -> None:
    teens = n // 10 % 10 == 1
    ending = {"1": "st", "2": "nd", "3": "rd"}.get(str(n)[-1], "th")
    assert call("ordinal", n) == f"{n}{'th' if teens else ending}"


def test_ordinals_of_negative_numbers_are_refused() -> None:
    assert code("ordinal", -1) == "E501"


@given(st.text("abcXYZ '\n-", max_size=20))
def test_title_case_changes_first_letters_alone(text: str) -> None:
    found = call("title_case", text)
    assert found.lower() == text.lower()
    assert found.split() == [word[:1].upper() + word[1:] for word in text.split()]


@given(st.lists(st.text("abc", min_size=1), max_size=5), st.sampled_from(["and", "or"]))
def test_enumerations_can_be_taken_apart_again(items: list[str], conjunction: str) -> None:
    found = call("listed", items, conjunction)
    front, _, last = found.rpartition(f" {conjunction} ")
    assert [*front.split(", "), last] == items if len(items) > 1 else [found] == (items or [""])


def test_enumerations_hold_values_of_all_kinds_that_print() -> None:
    assert call("listed", [1, "a", [2, 3]]) == "1, a and [2, 3]"
    assert code("listed", [b"a"]) == "E501"
    assert code("listed", ["a" * 999_999, "b"]) == "E502"
