"""The questions' own texts: without the benchmark's wrapper and the instructions of the answer format.

A bundle stores the messages. The wrapper is the `prompt` of its frozen benchmark.yaml, or the default one. If a message
does not match it, such as one of a sealed bundle, the text ends at the paragraph with the instructions, and paragraphs
at the start and end that the questions of all templates share are no part of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, cached_property
from itertools import takewhile
from typing import Any

from dia_language.diagnostics import DiaError
from dia_language.numbers.values import ExactDecimal, Record, normal
from dia_language.stored.stored_code import load_code
from dia_language.yaml_nodes import Scalar, pairs, parse
from dia_runtime.bundle.open import Bundle
from dia_runtime.formats import FORMATS
from dia_runtime.formats.base import RULES, points_sentence, rules_of
from dia_runtime.formats.replies import instruction

BENCHMARK = "specs/benchmark.yaml"
QUESTION, VARIES = "\ue000", "\ue001"  # in a rendered wrapper: the question, and texts that are not known
TURN_TEXTS = ("user", "assistant")  # the keys of a turn with texts


class OwnTexts:
    """Reads the own texts of a bundle's questions."""

    def __init__(self, bundle: Bundle) -> None:
        self.bundle, self.wrapper = bundle, _wrapper(bundle)
        self.surroundings = cache(self._surroundings)

    def of(self, question: dict[str, Any]) -> Iterator[str]:
        """Yield the texts of a question."""
        if "messages" not in question:
            yield from self._session_texts(question)
            return
        for message in question["messages"]:
            content = message["content"]
            for text in [content] if isinstance(content, str) else [part.get("text") for part in content]:
                if isinstance(text, str):
                    own = self.unwrapped(text, question)
                    yield self.without_shared(text, question) if own is None else own

    def unwrapped(self, text: str, question: dict[str, Any]) -> str | None:
        """Return the text without the wrapper; None if it does not match the wrapper."""
        sentence = _instruction(question["format"])
        points, skip = tuple(sorted(question["points"].items())), str(question["format"].get("skip"))
        for before, after in self.surroundings(sentence, points, skip):
            start = _after_all(text, before)
            end = len(text) - _after_all(text[::-1], [piece[::-1] for piece in reversed(after)])
            if 0 <= start <= end <= len(text):
                return text[start:end]
        return None

    def without_shared(self, text: str, question: dict[str, Any]) -> str:
        """Return the text without the instructions, what follows them, and what all templates share around it."""
        paragraphs = _paragraphs(text, _instruction(question["format"]))
        first, last = self._shared_paragraphs
        return "\n\n".join(paragraphs[first : len(paragraphs) - last])

    @cached_property
    def _shared_paragraphs(self) -> tuple[int, int]:
        """Return how many paragraphs at the start and at the end all templates share; none if there is only one."""
        of_templates = {
            question["template"]: _paragraphs(question["messages"][0]["content"], _instruction(question["format"]))
            for question in self.bundle.questions()
            if "messages" in question and isinstance(question["messages"][0]["content"], str)
        }
        paragraphs = list(of_templates.values())
        if len(paragraphs) < 2:
            return 0, 0
        shared = _same_at_start(paragraphs), _same_at_start([entry[::-1] for entry in paragraphs])
        return shared if sum(shared) < min(map(len, paragraphs)) else (0, 0)

    def _surroundings(
        self, sentence: str, points: tuple[tuple[str, Any], ...], skip: str
    ) -> list[tuple[list[str], list[str]]]:
        """Return the known texts before and after a question, in order, for each possible wrapper."""
        rendered = [f"{QUESTION}\n\n{sentence}\n{points_sentence(dict(points))}"]
        if self.wrapper is not None:
            worth = Record({name: normal(ExactDecimal(value)) for name, value in points})
            values = {"challenge": QUESTION, "format_instruction": sentence, "skip_token": skip, "points": worth}
            try:
                rendered = [load_code({"template": self.wrapper}).render(values).strip("\n")]
            except DiaError:  # it uses lists or functions of the benchmark
                rendered = []
        pieces = [(text.partition(QUESTION)[0], text.rpartition(QUESTION)[2]) for text in rendered if QUESTION in text]
        return [(before.split(VARIES), after.split(VARIES)) for before, after in pieces]

    def _session_texts(self, question: dict[str, Any]) -> Iterator[str]:
        """Yield what the turns of the sessions and the system prompts say, without the formats of their replies."""
        for session in question["sessions"]:
            formats = [turn["reply"]["format"] for turn in session["turns"] if "reply" in turn]
            sentences = [sentence for sentence in map(instruction, formats) if sentence]
            instructions = re.compile("|".join(map(re.escape, sentences)) or r"(?!)")
            parts = [session.get("system"), *(turn.get(role) for turn in session["turns"] for role in TURN_TEXTS)]
            for text in parts:
                for entry in _plain_texts(text):
                    own = self.unwrapped(entry, question)  # the prompt in its wrapper, if a judge grades it
                    yield instructions.sub("", entry if own is None else own)


def _plain_texts(text: Any) -> Iterator[str]:
    """Yield a text of a session, each text of a list, or the source of one that depends on replies."""
    if isinstance(text, dict):
        text = text.get("each", text.get("template"))
    for entry in text if isinstance(text, list) else [text]:
        if isinstance(entry, str):
            yield entry


def _wrapper(bundle: Bundle) -> str | None:
    """Return the `prompt` of the frozen benchmark.yaml, if there is one."""
    if BENCHMARK not in bundle.manifest["files"]:
        return None
    content = b"".join(bundle.verified_pieces(BENCHMARK)).decode("utf-8", "replace")
    prompt = next((value for key, value in pairs(parse(content, BENCHMARK)) if key.text == "prompt"), None)
    return prompt.text if isinstance(prompt, Scalar) else None


def _instruction(format: dict[str, Any]) -> str:
    """Return the instructions of an answer format, as far as the question determines them.

    The answer's type is only stored with the answer. Bundles of older rules have another wording.
    """
    if format["kind"] not in FORMATS or rules_of(format) < RULES:
        return VARIES
    return FORMATS[format["kind"]].instruction(format, VARIES)


def _paragraphs(text: str, sentence: str) -> list[str]:
    """Return the paragraphs of a message before the one with the instructions, or all if these are not known."""
    at = text.rfind(sentence.partition(VARIES)[0]) if sentence != VARIES else -1
    end = text.rfind("\n\n", 0, at) if at >= 0 else -1
    return (text[:end] if end >= 0 else text).split("\n\n")


def _same_at_start(lists: list[list[str]]) -> int:
    """Return how many entries at the start are the same in all lists."""
    return sum(1 for _ in takewhile(lambda entries: len(set(entries)) == 1, zip(*lists, strict=False)))


def _after_all(text: str, pieces: list[str]) -> int:
    """Return the place after the last of the pieces that a text starts with, with anything between them; -1 if none."""
    if not text.startswith(pieces[0]):
        return -1
    end = 0
    for piece in pieces:
        at = text.find(piece, end)
        if at < 0:
            return -1
        end = at + len(piece)
    return end
