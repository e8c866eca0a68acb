"""Conditions and shares that travel with a bundle: stored code (stored.py) over `reply`, the typed reply."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

from dia_language.diagnostics import LanguageError
from dia_language.numbers.operators import truth
from dia_language.numbers.values import Value, described, plain
from dia_language.stored.stored_code import Stored, code_of
from dia_language.workers.pool import Servant

REPLY = "reply"


def condition(stored: Stored) -> Callable[[Value], bool]:
    """The stored condition as a function of the typed reply. Raises DiaError where it cannot be compiled."""
    value = _function(stored)
    return lambda reply: truth(value(reply))


def share(stored: Stored) -> Callable[[Value], Fraction]:
    """The stored share as a function of the typed reply. Raises DiaError where it cannot be compiled."""
    value = _function(stored)
    return lambda reply: _share(value(reply))


def _function(stored: Stored) -> Callable[[Value], Value]:
    code = code_of(stored)
    code.program("expression", [REPLY])
    return lambda reply: code.evaluate({REPLY: reply})


def _share(value: Value) -> Fraction:
    """The value as a share. Raises LanguageError for anything but an exact number from 0 to 1."""
    is_number = isinstance(value, int | Fraction) and not isinstance(value, bool)
    if not is_number or not 0 <= value <= 1:
        shown = plain(value) if is_number else described(value)
        raise LanguageError(f"`share` must be a number from 0 to 1; this is {shown}")
    return Fraction(value)


def guarded_condition(stored: Stored, servant: Servant) -> Callable[[Value], bool]:
    """The stored condition as a function of the typed reply, evaluated in a worker that can be killed."""
    return lambda reply: bool(servant.ask(answered, stored, reply))


def answered(stored: Stored, reply: Value) -> Iterator[bool]:
    """Whether the stored condition holds for the reply, as the one item of a worker's task."""
    yield condition(stored)(reply)


def guarded_share(stored: Stored, servant: Servant) -> Callable[[Value], Fraction]:
    """The stored share as a function of the typed reply, evaluated in a worker that can be killed."""
    return lambda reply: Fraction(servant.ask(shared, stored, reply))


def shared(stored: Stored, reply: Value) -> Iterator[Fraction]:
    """The stored share for the reply, as the one item of a worker's task."""
    yield share(stored)(reply)
