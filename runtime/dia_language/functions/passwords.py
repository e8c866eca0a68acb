"""How hard a password is to guess, by a simple estimate that needs no list of words."""

from __future__ import annotations

from itertools import pairwise

from dia_language.budgets import charge
from dia_language.diagnostics import LanguageError
from dia_language.functions.registry import library_function

LENGTH = 1_000
DIRECTIONS = 3  # up, down, or the same character again
# Kinds of characters with their numbers: those beyond ASCII are counted with the 32 signs and the blank
CLASSES = {"lower": 26, "upper": 26, "digit": 10, "other": 33}


@library_function
def entropy_classes(text: str) -> int:
    """How many of four kinds of characters stand in the text: small letters, capitals, digits, all others.

    The letters are those of ASCII; letters beyond it are among the others.

    >>> entropy_classes("abc"), entropy_classes("Abc1!")
    (1, 4)
    """
    charge(len(text) // 16)
    return len(set(map(_kind, text)))


@library_function
def guesses(text: str) -> int:
    """Tries that it takes at most to guess the password, by a simple estimate, exact as such.

    The password is cut into runs: single characters, and three or more that each follow, repeat or precede the one
    before in their kind, in one direction (abcd, 4321, aaaa). A single one is one of the characters of the kinds that
    stand in the password: 26 small letters, 26 capitals, 10 digits, 33 others. A longer run is one of these, times 3
    directions, times its length. The tries of all runs are multiplied. At most 1,000 characters; 1 for the empty text.

    >>> guesses("pin"), guesses("aaaa"), guesses("abc1")
    (17576, 312, 11664)
    """
    if len(text) > LENGTH:
        raise LanguageError(f"`guesses` takes at most {LENGTH} characters", code="E502")
    charge(len(text))
    alphabet = sum(CLASSES[kind] for kind in set(map(_kind, text)))
    tries = 1
    for length in _runs(text):
        tries *= alphabet * (DIRECTIONS * length if length > 1 else 1)
    return tries


def _runs(text: str) -> list[int]:
    """Lengths of the runs from left to right: each as long as it can be, of three characters or more, or of one."""
    steps = [_step(a, b) for a, b in pairwise(text)]
    lengths, at = [], 0
    while at < len(text):
        end = at
        while end < len(steps) and steps[end] is not None and steps[end] == steps[at]:
            end += 1
        length = end - at + 1 if end - at >= 2 else 1
        lengths.append(length)
        at += length
    return lengths


def _step(a: str, b: str) -> int | None:
    """1, 0 or -1 where b follows a, repeats it or goes before it among the characters of one kind."""
    step = ord(b) - ord(a)
    return step if abs(step) <= 1 and _kind(a) == _kind(b) else None


def _kind(character: str) -> str:
    if not character.isascii():
        return "other"
    if character.islower():
        return "lower"
    if character.isupper():
        return "upper"
    return "digit" if character.isdigit() else "other"
