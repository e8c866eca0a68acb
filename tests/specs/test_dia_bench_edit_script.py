"""The edit scripts, carried out by an interpreter that was written from their English wording alone."""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Callable
from typing import Any

Challenges = dict[str, dict[str, str]]
Step = Callable[..., list[str]]


def without(text: list[str], places: range) -> list[str]:
    """The text without the characters at these places, counted from 1."""
    assert places[-1] <= len(text) and places[0] >= 1, "a place that the text does not have"
    return [character for place, character in enumerate(text, 1) if place not in places]


def first(text: list[str], count: int) -> list[str]:
    """The first characters, which must be there."""
    assert 1 <= count <= len(text), "more characters than the text has"
    return [text[place] for place in range(count)]


def doubled(text: list[str], count: int) -> list[str]:
    """The text with each of its first characters twice in a row."""
    written = list(text)
    for place in range(count - 1, -1, -1):
        written.insert(place, first(text, count)[place])
    return written


def turned(text: list[str], by: int) -> list[str]:
    """The text with its last characters moved to the front, or its first ones to the end where `by` is negative."""
    assert 1 <= abs(by) <= len(text)
    ring = deque(text)
    ring.rotate(by)
    return list(ring)


def other_case(character: str) -> str:
    """The letter in the other case, by its ASCII code; any other character as it is."""
    return chr(ord(character) ^ 32) if character.isalpha() else character


def on_each(change: Callable[[str], str]) -> Step:
    """A step that changes each character on its own."""
    return lambda text: [change(character) for character in text]


# The sentence, and what it says; a group of digits is given as a number.
WORDINGS: dict[str, Step] = {
    r"Remove the first character\.": lambda t: without(t, range(1, 2)),
    r"Remove the first (\d+) characters\.": lambda t, n: without(t, range(1, n + 1)),
    r"Remove the last character\.": lambda t: without(t, range(len(t), len(t) + 1)),
    r"Remove the last (\d+) characters\.": lambda t, n: without(t, range(len(t) - n + 1, len(t) + 1)),
    r"Write the first character twice in a row, so that abc becomes aabc\.": lambda t: doubled(t, 1),
    r"Write each of the first (\d+) characters twice in a row, so that ab at the beginning becomes aabb\.": doubled,
    r"Insert a copy of the first (\d+) characters in front of the text, so that abcdef becomes abcabcdef for a copy of three characters\.": (
        lambda t, n: first(t, n) + t
    ),
    r"Write the last character twice in a row, so that abc becomes abcc\.": lambda t: [*t, t[len(t) - 1]],
    r"Reverse the text\.": lambda t: list(reversed(t)),
    r"Reverse the order of the first (\d+) characters and leave the rest unchanged\.": (
        lambda t, n: list(reversed(first(t, n))) + without(t, range(1, n + 1))
    ),
    r"Swap the case of every letter\.": on_each(other_case),
    r"Convert every lowercase letter to uppercase\.": on_each(lambda c: other_case(c) if "a" <= c <= "z" else c),
    r"Convert every uppercase letter to lowercase\.": on_each(lambda c: other_case(c) if "A" <= c <= "Z" else c),
    r"Remove every digit ([0-9])\.": lambda t, gone: [c for c in t if c != str(gone)],
    r"Replace every lowercase ([a-z]) with an uppercase ([A-Z])\.": lambda t, old, new: [
        new if c == old else c for c in t
    ],
    r"Move the first character to the end\.": lambda t: turned(t, -1),
    r"Move the first (\d+) characters to the end, keeping their order\.": lambda t, n: turned(t, -n),
    r"Move the last character to the front\.": lambda t: turned(t, 1),
    r"Move the last (\d+) characters to the front, keeping their order\.": turned,
    r"Remove every third character, that is, the characters at positions 3, 6, 9 and so on, counted from 1\.": (
        lambda t: without(t, range(3, len(t) + 1, 3))
    ),
}
ORDER = "Apply these instructions one after another, each to the result of the previous one. What is the final text?"
SINGULAR = re.compile(r"\b1 characters|\bcharacters\b.*\bof the first 1\b")


def reading(sentence: str) -> tuple[str, Step, list[Any]]:
    """The wording that a sentence is of, its step and the values in it."""
    matches = [(wording, match) for wording in WORDINGS if (match := re.fullmatch(wording, sentence))]
    ((wording, match),) = matches
    return wording, WORDINGS[wording], [int(v) if v.isdigit() else v for v in match.groups()]


def parts(challenge: str) -> tuple[str, list[str]]:
    """The text and the sentences, in the order that their numbers state."""
    head, text, order, script = challenge.split("\n\n")
    assert head == f"This text has {len(text)} characters:"
    assert order == ORDER
    lines = [line.split(". ", 1) for line in script.split("\n")]
    assert [number for number, _ in lines] == [str(place) for place in range(1, len(lines) + 1)]
    assert 20 <= len(lines) <= 30
    return text, [sentence for _, sentence in lines]


def carried_out(challenge: str) -> str:
    """The final text."""
    text, sentences = parts(challenge)
    characters = list(text)
    for sentence in sentences:
        _, step, values = reading(sentence)
        characters = step(characters, *values)
    return "".join(characters)


def test_every_final_text_is_what_the_words_lead_to(challenges: Challenges, answers: dict[str, Any]) -> None:
    asked = challenges["edit_script"]
    assert {id: carried_out(text) for id, text in asked.items()} == {id: answers[id]["text"] for id in asked}


def test_every_wording_is_met_often_enough_to_be_proven(many: int, challenges: Challenges) -> None:
    sentences = [sentence for text in challenges["edit_script"].values() for sentence in parts(text)[1]]
    met = Counter(reading(sentence)[0] for sentence in sentences)
    assert set(met) == set(WORDINGS)
    assert min(met.values()) >= many // 10
    assert not [sentence for sentence in sentences if SINGULAR.search(sentence)]
