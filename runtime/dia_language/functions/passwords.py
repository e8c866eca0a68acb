"""Password strength, by a simple estimate that needs no word list."""

from __future__ import annotations

from itertools import pairwise

from dia_language.budgets import charge
from dia_language.diagnostics import LanguageError
from dia_language.functions.registry import library_function

LENGTH = 1_000
DIRECTIONS = 3  # up, down, or the same character again
# Character classes with their sizes; non-ASCII characters count with the 32 punctuation characters and the space
CLASSES = {"lower": 26, "upper": 26, "digit": 10, "other": 33}


@library_function
def entropy_classes(text: str) -> int:
    """The number of character classes in `text`: lowercase letters, uppercase letters, digits, and all others.

    Only ASCII letters count as letters; all others count as other characters.

    Examples:
        entropy_classes("abc") -> 1
        entropy_classes("Abc1!") -> 4
    """
    charge(len(text) // 16)
    return len(set(map(_kind, text)))


@library_function
def guesses(text: str) -> int:
    """An upper estimate of the number of guesses needed to find the password.

    The size of the alphabet is the sum over the character classes in the password: 26 lowercase letters, 26 uppercase
    letters, 10 digits, 33 others. A run of three or more characters of one class that go up by one, stay the
    same or go down by one (abcd, aaaa, 4321) counts as alphabet size * 3 * length; any other character counts as the
    alphabet size. The result is the product of these; 1 for the empty text. At most 1,000 characters.

    Examples:
        guesses("pin") -> 17576
        guesses("aaaa") -> 312
        guesses("abc1") -> 11664
    """
    if len(text) > LENGTH:
        raise LanguageError(f"`guesses` accepts at most {LENGTH:,} characters", code="E502")
    charge(len(text))
    alphabet = sum(CLASSES[kind] for kind in set(map(_kind, text)))
    tries = 1
    for length in _runs(text):
        tries *= alphabet * (DIRECTIONS * length if length > 1 else 1)
    return tries


def _runs(text: str) -> list[int]:
    """The lengths of the runs from left to right, each as long as possible: three or more characters, or one."""
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
    """1, 0 or -1 if b follows, repeats or precedes a in the same character class; otherwise None."""
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
