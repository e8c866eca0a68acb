"""The built-in word lists: what each contains, and its revision."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "words"


@dataclass(frozen=True, slots=True)
class WordList:
    """What a built-in list contains. Its revision increases with every change, because a change affects bundles."""

    holds: str
    revision: int = 1
    parts: tuple[str, ...] = ()


WORD_LISTS: dict[str, WordList] = {
    "adjectives": WordList("adjectives that fit people, animals and things"),
    "adverbs": WordList("adverbs of manner and time, mostly in -ly"),
    "animals": WordList("animals"),
    "cities": WordList("cities of the world"),
    "colours": WordList("colours"),
    "first_names_female": WordList("first names of women"),
    "first_names_male": WordList("first names of men"),
    "first_names_neutral": WordList("gender-neutral first names"),
    "last_names": WordList("family names"),
    "nouns": WordList(
        "the lists people, animals, things and places combined", parts=("animals", "people", "places", "things")
    ),
    "past_intransitive": WordList("verbs in the past tense without an object"),
    "past_transitive": WordList("verbs in the past tense that take a thing as object"),
    "people": WordList("people by occupation or family relation"),
    "places": WordList("places"),
    "things": WordList("things that can be held or moved"),
    "top_level_domains": WordList("top-level domains"),
    "verbs": WordList("verbs in the base form"),
}


@cache
def word_list(name: str) -> tuple[str, ...]:
    """Return the words of a built-in list, ascending and without duplicates."""
    parts = WORD_LISTS[name].parts
    if parts:
        return tuple(sorted({word for part in parts for word in word_list(part)}))
    return tuple((FOLDER / f"{name}.txt").read_text(encoding="utf-8").split())


@cache
def word_set(name: str) -> frozenset[str]:
    """Return the words of a built-in list as a set."""
    return frozenset(word_list(name))
