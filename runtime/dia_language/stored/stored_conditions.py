"""Conditions and shares in bundles: stored code (stored_code.py) over `reply`, the typed reply."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

from dia_language.diagnostics import LanguageError
from dia_language.numbers.operators import truth
from dia_language.numbers.values import Value, described, plain
from dia_language.stored.stored_code import Stored, load_code
from dia_language.workers.pool import SingleWorker

REPLY = "reply"


def condition(stored: Stored) -> Callable[[Value], bool]:
    """Return the stored condition as a function of the typed reply. Raises DiaError if it cannot be compiled."""
    value = _function(stored)
    return lambda reply: truth(value(reply))


def share(stored: Stored) -> Callable[[Value], Fraction]:
    """Return the stored share as a function of the typed reply. Raises DiaError if it cannot be compiled."""
    value = _function(stored)
    return lambda reply: _share(value(reply))


def _function(stored: Stored) -> Callable[[Value], Value]:
    code = load_code(stored)
    code.program("expression", [REPLY])
    return lambda reply: code.evaluate({REPLY: reply})


def _share(value: Value) -> Fraction:
    """Return the value as a share. Raises LanguageError for anything except an exact number from 0 to 1."""
    is_number = isinstance(value, int | Fraction) and not isinstance(value, bool)
    if not is_number or not 0 <= value <= 1:
        text = plain(value) if is_number else described(value)
        raise LanguageError(f"`share` must be a number from 0 to 1; this is {text}")
    return Fraction(value)


def isolated_condition(stored: Stored, worker: SingleWorker) -> Callable[[Value], bool]:
    """Return the stored condition as a function of the typed reply, evaluated in a worker that can be killed."""
    return lambda reply: bool(worker.call(evaluate_condition, stored, reply))


def evaluate_condition(stored: Stored, reply: Value) -> Iterator[bool]:
    """Yield whether the stored condition holds for the reply, as the one item of a worker's task."""
    yield condition(stored)(reply)


def isolated_share(stored: Stored, worker: SingleWorker) -> Callable[[Value], Fraction]:
    """Return the stored share as a function of the typed reply, evaluated in a worker that can be killed."""
    return lambda reply: Fraction(worker.call(evaluate_share, stored, reply))


def evaluate_share(stored: Stored, reply: Value) -> Iterator[Fraction]:
    """Yield the stored share for the reply, as the one item of a worker's task."""
    yield share(stored)(reply)
