"""Longest common subsequences: their length by a table of our own, and the grading of the many right replies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from dia_runtime.grading.grader import grade

Challenges = dict[str, dict[str, str]]
Answers = dict[str, dict[str, Any]]
Table = list[list[int]]

FORMAT = {"kind": "xml", "skip": "I-DO-NOT-KNOW"}
HEAD = (
    "A subsequence of a text is what is left after removing any number of its letters, without changing the order of the "
    "others. Find a longest common subsequence of the two texts below. If there are several, any one of them is correct."
)


def texts(challenge: str) -> tuple[str, str]:
    """The two texts of the task."""
    head, both = challenge.split("\n\n")
    s, t = both.split("\n")
    assert head == HEAD and all(len(text) == 1000 and text.isalpha() and text.islower() for text in (s, t))
    return s, t


def lengths(s: str, t: str) -> Table:
    """At [i][j] the greatest length of a common subsequence of s[i:] and t[j:]."""
    table = [[0] * (len(t) + 1) for _ in range(len(s) + 1)]
    for i in range(len(s) - 1, -1, -1):
        row, below = table[i], table[i + 1]
        for j in range(len(t) - 1, -1, -1):
            row[j] = below[j + 1] + 1 if s[i] == t[j] else max(below[j], row[j + 1])
    return table


def is_within(part: str, whole: str) -> bool:
    """Whether the letters of the part occur in the whole in this order."""
    rest = iter(whole)
    return all(letter in rest for letter in part)


def chosen(s: str, t: str, table: Table, choose: Callable[[list[str]], str]) -> str:
    """The longest common subsequence that takes, letter by letter, the chosen one of those that still lead to one."""
    i = j = 0
    taken = ""
    while left := table[i][j]:
        ends = {c: (s.index(c, i) + 1, t.index(c, j) + 1) for c in set(s[i:]) & set(t[j:])}
        letter = choose(sorted(c for c, (a, b) in ends.items() if table[a][b] == left - 1))
        taken, (i, j) = taken + letter, ends[letter]
    return taken


class Solved(NamedTuple):
    """Both texts, the greatest length of a common subsequence, and two of that length."""

    s: str
    t: str
    length: int
    smallest_letters_first: str
    largest_letters_first: str


def solve(s: str, t: str) -> Solved:
    table = lengths(s, t)  # a million cells, which are not kept
    return Solved(s, t, table[0][0], chosen(s, t, table, min), chosen(s, t, table, max))


@pytest.fixture(scope="module")
def solved(challenges: Challenges) -> dict[str, Solved]:
    """The solved tasks, by id."""
    return {id: solve(*texts(challenge)) for id, challenge in challenges["common_subsequence"].items()}


@pytest.mark.long
def test_every_truth_is_a_common_subsequence_of_the_greatest_length(
    solved: dict[str, Solved], answers: Answers
) -> None:
    for id, (s, t, length, *_) in solved.items():
        truth = answers[id]["text"]
        assert len(truth) == length > 0, id
        assert is_within(truth, s) and is_within(truth, t), id
        mistake = answers[id]["mistakes"].get("common_substring", "")
        assert len(mistake) < len(truth) and mistake in s and mistake in t, id


def verdict(record: dict[str, Any], text: str) -> str:
    """What a reply with this text is graded."""
    return grade(record, f"<xml>{text}</xml>", FORMAT).verdict


@pytest.mark.long
def test_other_longest_common_subsequences_are_right(solved: dict[str, Solved], answers: Answers) -> None:
    others = 0
    for id, task in solved.items():
        record = answers[id]
        for text in (task.smallest_letters_first, task.largest_letters_first):
            others += text != record["text"]
            assert verdict(record, text) == "correct", (id, text)
    assert others > 1.5 * len(solved)


def wrong_texts(s: str, t: str, truth: str) -> list[str]:
    """Texts that are too short, too long, of the right length but not in both texts, or in capitals."""
    swapped = [s[:at] + s[at + 1 :] for at in range(len(s))]
    cut = [text[: len(truth)] for text in (s, t, truth[::-1], *swapped[:2])]
    foreign = [text for text in cut if not (is_within(text, s) and is_within(text, t))]
    return ["", truth[1:], truth[:-1], truth + truth[-1], truth + "a", truth.upper(), s, t, *foreign]


def test_texts_that_are_no_longest_common_subsequence_are_wrong(challenges: Challenges, answers: Answers) -> None:
    foreign, asked = 0, challenges["common_subsequence"]
    for id, challenge in asked.items():
        s, t = texts(challenge)
        truth = answers[id]["text"]
        candidates = wrong_texts(s, t, truth)
        foreign += len(candidates) - 8
        for text in candidates:
            assert verdict(answers[id], text) == "wrong", (id, text)
    assert foreign > 4 * len(asked)
