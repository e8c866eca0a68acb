"""Conditions that travel with a bundle: self-contained, and evaluated where they can be killed."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter
from typing import Any

import pytest
from dia_language.diagnostics import DiaError, LanguageError
from dia_language.functions.arithmetic import sqrt
from dia_language.functions.calculus import exp, log, sin, symbol
from dia_language.numbers.values import Entry, Record, encode
from dia_language.stored.stored_conditions import condition, isolated_condition
from dia_language.workers.pool import SingleWorker

STORED: dict[str, Any] = {
    "expression": "length(reply) == length(answer) and fits(reply) and all(holds(rule, reply) for rule in rules)",
    "names": {
        "answer": "abd",
        "s": "abcd",
        "rules": encode([Entry("rule", "no_letter", Record({"c": "x"})), Entry("rule", "short", Record())]),
    },
    "functions": {"fits": {"arguments": ["t"], "expression": "is_subsequence(t, s)"}},
    "faces": {
        "holds": {
            "arguments": ["t"],
            "entries": {
                "rule/no_letter": {"expression": "c not in t", "names": ["c"]},
                "rule/short": {"expression": "length(t) < 10", "names": []},
            },
        }
    },
}
STORED["expression"] = STORED["expression"].replace("holds(rule, reply)", "holds(reply, rule)")


@pytest.fixture
def worker() -> Iterator[SingleWorker]:
    held = SingleWorker(seconds=1.0)
    yield held
    held.close()


def test_functions_and_faces_travel_along() -> None:
    holds = condition(STORED)
    assert [holds(text) for text in ("abd", "acd", "abx", "dba", "ab", "bcd")] == [
        True,
        True,
        False,
        False,
        False,
        True,
    ]


def test_a_worker_says_the_same(worker: SingleWorker) -> None:
    holds = isolated_condition(STORED, worker)
    assert [holds(text) for text in ("abd", "abx")] == [True, False]


@pytest.mark.slow
def test_a_condition_that_hangs_is_killed_and_the_next_is_answered(worker: SingleWorker) -> None:
    hanging = {"expression": "length(factor(reply)) > 1"}
    start = perf_counter()
    with pytest.raises(LanguageError, match="longer than 1 s"):
        isolated_condition(hanging, worker)((2**127 - 1) * (2**521 - 1) * (10**40 + 13) * (10**41 + 9))
    assert perf_counter() - start < 5
    assert isolated_condition({"expression": "reply > 1"}, worker)(2)


def test_a_condition_that_fails_on_a_reply_says_why(worker: SingleWorker) -> None:
    with pytest.raises(LanguageError, match="division by zero"):
        isolated_condition({"expression": "1 / reply > 0"}, worker)(0)


@pytest.mark.parametrize("expression", ["__import__('os')", "unknown > 1", "reply.x()", "1 +"])
def test_what_is_not_of_the_language_does_not_compile(expression: str) -> None:
    with pytest.raises(DiaError):
        condition({"expression": expression})


def test_symbolic_values_come_back_as_what_they_were() -> None:
    x = symbol("x")
    values = [x, x**2 + x / 3, sqrt(2) * x, exp(1) + pi_(), exp(2 * x) * sin(x), [Record({"f": log(x + 1)})]]
    for value in values:
        stored = {"expression": "reply == value", "names": {"value": encode(value)}}
        assert condition(stored)(value) and not condition(stored)([value])
    stored = {"expression": "substitute(f, x, 3) == reply", "names": {"f": encode(x**2), "x": encode(x)}}
    assert condition(stored)(9) and not condition(stored)(6)


def test_a_stored_expression_is_bounded_like_any_other() -> None:
    started = perf_counter()
    with pytest.raises((LanguageError, DiaError)):
        condition({"expression": "true", "names": {"f": {"expression": "2**10**9"}}})
    assert perf_counter() - started < 5


def pi_() -> Any:
    import sympy

    return sympy.pi
