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
    assert code("plural", "scissors") == code("plural", "pair of Trousers", 3) == "E501"
    with pytest.raises(LanguageError, match="`plural` needs text, or record of `one` and `many` as `noun`"):
        call("plural", Record(one="fig"), 2)


# As in Merriam-Webster's dictionary and the Chicago Manual of Style (7.33 and 10.9)
AN = """hour, honest mistake, honorable man, heir, heirloom, herb, apple, egg, ice cream, orange, umbrella, uncle, ugly fish,
unanswered question, unidentified object, unimportant detail, uninvited guest, unironed shirt, usher, utter failure, urn, Uber,
upper floor, onion, onerous task, omelet, eight, 8, 11, 18, 80, 81, 88, 800, 8000, 11000, 18,000, 8-sided die, 18-year-old, 11th, "hour",
(old) car, $8 note, MBA, FBI agent, NBC show, HTML page, html file, X-ray, x-axis, F-16, H2O molecule, MP3, MSc, SOS, LED, LLMs, SUV,
NPR host, mRNA vaccine, étude, Yvonne, yttrium rod, island, A, n-gon, s-shape, earl, aisle, Euler, Ewok, 18000000000"""
A = """university, unicorn, unit, union, uniform, unique value, universal truth, unilateral act, useful tool, user, usual day, utensil,
utopia, uranium rod, ukulele, Ukrainian, Ugandan, unanimous vote, ubiquitous sight, eulogy, European, euro, ewe, one-way street, one,
once-famous man, house, hotel, historic day, herbivore, hundred, yard, year, yes, 1, 7, 10, 12, 17, 19, 100, 110, 118, 180, 1100, 1800,
10800000000, UFO, US citizen, U-turn, UN vote, NASA launch, NATO base, RAM chip, URL, USB stick, PhD, BMW, T-shirt, CD, Mr. Smith,
-8, world, xylophone, quilt, heirarchy"""


@pytest.mark.parametrize(("article", "phrases"), [("an", AN), ("a", A)])
def test_articles(article: str, phrases: str) -> None:
    wrong = []
    for phrase in phrases.replace(",\n", ", ").split(", "):
        phrase = phrase.strip()
        if call("a_or_an", phrase) != f"{article} {phrase}":
            wrong.append(phrase)
    assert not wrong


@given(st.integers(0, 10**15))
def test_the_article_of_a_number_is_that_of_its_name(n: int) -> None:
    name = call("in_words", n)
    article = "an" if name.startswith("e") else "a"
    assert call("a_or_an", n) == f"{article} {n}"
    assert call("a_or_an", f"{n:,}") == f"{article} {n:,}"
    assert call("a_or_an", name) == f"{article} {name}"


def test_articles_of_records_and_of_nothing() -> None:
    assert call("a_or_an", Record(one="ox", many="oxen")) == "an ox"
    assert code("a_or_an", "") == code("a_or_an", " - ") == code("a_or_an", Record(one="ox")) == "E501"


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
