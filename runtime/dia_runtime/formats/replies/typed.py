"""Replies in an answer format, typed if the turn declares a type.

`{"kind": "xml", "type": "integer"}`: the chains of the answer format extract the text, which is then parsed as the
answer type; without `type` it stays text. All options of the answer format are allowed, and `answer` contains the
options of the type (`{"kind": "last_line", "type": "list", "answer": {"of": {"type": "integer"}}}`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from dia_language.answers import Unreadable, answer_type, validate
from dia_language.answers.base import AnswerType
from dia_language.numbers.values import Value

from dia_runtime.formats.base import CHARACTERS, STANDARD, Format, effective_chain, mode_of, readable_texts
from dia_runtime.formats.replies.base import Chains, Read, ReplyFormat, ReplyRecord

OWN = ("type", "answer")


class Typed(ReplyFormat):
    """An answer format, as the reply of a turn."""

    chains: ClassVar[Chains] = {"strict": ()}

    def __init__(self, form: Format) -> None:
        self.form = form

    def faults(self, format: ReplyRecord) -> list[str]:
        faults = self.form.faults(self.record(format))
        more = format.get("answer", {})
        if not isinstance(more, Mapping) or ("type" not in format and more):
            return [*faults, "`answer` must contain the options of the reply's `type`"]
        return faults + (list(validate({**more, "type": format["type"]})) if "type" in format else [])

    @staticmethod
    def record(format: ReplyRecord) -> dict[str, Any]:
        """Return the format for the answer format."""
        return {name: value for name, value in format.items() if name not in OWN}

    @staticmethod
    def answer(format: ReplyRecord) -> AnswerType:
        """Return the type of the answer (default text)."""
        return answer_type({**format.get("answer", {}), "type": format.get("type", "text")})

    def instruction(self, format: ReplyRecord) -> str:
        return self.form.instruction(self.record(format), self.answer(format).describe())

    def write(self, value: Value, format: ReplyRecord) -> str:
        kind = self.answer(format)
        return self.form.wrap(kind.write(kind.settle(value)), self.record(format))

    def read(self, reply: str, format: ReplyRecord, chain: str = STANDARD) -> Read:
        is_known = chain == STANDARD or (chain in self.form.chains and chain not in self.form.verbatim)
        chain = effective_chain(chain, format) if is_known else "strict"
        text, step = self.form.extract(reply, self.record(format), chain)
        if text is None or "type" not in format:
            return Read(text, step)
        value = None
        if len(text) <= CHARACTERS:
            values = (self._value(each, format, chain) for each in readable_texts(text, chain, format))
            value = next((value for value in values if value is not None), None)
        return Read(value, step)

    def _value(self, text: str, format: ReplyRecord, chain: str) -> Value | None:
        """Return the typed value of the answer's text; None if it is not a value of the type."""
        try:
            return self.answer(format).read(text, mode_of(chain, format))
        except Unreadable:
            return None
