"""A turn of a session as a question: what a respondent needs in the middle of a conversation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from dia_language.numbers.values import decimal_text, decode

if TYPE_CHECKING:
    from dia_runtime.respondents.chat import Settings

TurnPlace = tuple[str, int, int, int]
"""Session, item, turn and step; item and step are -1 if nothing is repeated."""
NAMED_SETTINGS = ("temperature", "max_tokens", "reasoning_effort", "seed")


class TurnRequest(dict[str, Any]):
    """The record of a question, for one turn.

    `id` is that of the question, `messages` the whole conversation so far, `added` how many of them are new with this
    turn. `session, role, item, turn, step, name` are the position of the turn, `settings` the session's own settings,
    and `prefill` says whether the last message is the beginning of the reply.
    """

    @property
    def place(self) -> TurnPlace:
        """Return the position of the turn in its question."""
        return self["session"], self["session_item"], self["turn"], self["step"]


def settings_for(question: Mapping[str, Any], settings: Settings) -> Settings:
    """Return the settings for a question: those of a session take precedence over those of the run.

    A session's own system prompt is part of its messages, and then replaces that of the run.
    """
    if not isinstance(question, TurnRequest):
        return settings
    session_settings: dict[str, Any] = {name: _request_value(value) for name, value in question["settings"].items()}
    if "temperature" in session_settings:
        session_settings["temperature"] = str(session_settings["temperature"])
    system = {"system": None} if question["messages"][0]["role"] == "system" else {}
    named = {name: session_settings.pop(name) for name in NAMED_SETTINGS if name in session_settings}
    return replace(settings, **named, **system, extra={**settings.extra, **session_settings})


def _request_value(value: Any) -> Any:
    """Return a setting as requests need it: exact numbers as Decimal."""
    number = decode(value)
    if isinstance(number, Fraction):
        odd = number.denominator
        for factor in (2, 5):
            while odd % factor == 0:
                odd //= factor
        return Decimal(decimal_text(number)) if odd == 1 else Decimal(number.numerator) / Decimal(number.denominator)
    return number
