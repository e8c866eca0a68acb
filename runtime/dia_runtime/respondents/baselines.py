"""Respondents that need no model: they show the range of scores, and test the whole pipeline."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from dia_runtime.respondents.respondent import Reply, Truth

Question = Mapping[str, Any]

NO_SESSIONS = "it builds replies from answers, but sessions have none: what is correct depends on earlier replies"
SKIP = "I-DO-NOT-KNOW"
UNKNOWN = "unknown"
WRONG_CANDIDATES = ("0", "-1", "wrong", "1", "true", "false", "wrong " * 1_000)


@dataclass(frozen=True)
class Baseline:
    """A respondent that is its own model."""

    truth: Truth
    name: ClassVar[str]
    no_sessions_reason: ClassVar[str] = NO_SESSIONS

    @property
    def model(self) -> str:
        return self.name

    @property
    def settings(self) -> Mapping[str, Any]:
        return {}


class Oracle(Baseline):
    """Gives the canonical answer, in the question's answer format."""

    name = "oracle"

    def reply(self, question: Question) -> Reply:
        """Return the correct answer."""
        return Reply(self.truth.wrap(self.truth.record(question["id"])["text"], question["format"]))


class Abstain(Baseline):
    """Gives the skip token, in the question's answer format."""

    name = "abstain"

    def reply(self, question: Question) -> Reply:
        """Return the abstention."""
        return Reply(self.truth.wrap(str(question["format"].get("skip", SKIP)), question["format"]))


class Wrong(Baseline):
    """Gives an answer that is graded as wrong.

    It tries the question's named mistakes, the answers of the item's instances, the options, and constants.
    """

    name = "wrong"

    def reply(self, question: Question) -> Reply:
        """Return the first candidate that is graded as wrong, or an error if the grader accepts all of them."""
        record = self.truth.record(question["id"])
        for text in self._candidates(record, question):
            reply = self.truth.wrap(text, question["format"])
            if self.truth.is_wrong(record, reply, question["format"]):
                return Reply(reply)
        return Reply(None, error="no wrong answer was found: the grader accepts every candidate")

    def _candidates(self, record: Mapping[str, Any], question: Question) -> Iterator[str]:
        yield from map(str, record["mistakes"].values())
        yield from self.truth.texts(question["item"]).values()
        yield from answer_options(question)
        yield from WRONG_CANDIDATES


class Guess(Baseline):
    """Gives the correct answer to another instance of the same item.

    If the item has only one instance, it gives one of the options that the format names, or else `unknown`. SHA-256
    over the bundle's seed and the question's id makes the choice, so a second run gives the same replies.
    """

    name = "guess"

    @property
    def settings(self) -> Mapping[str, Any]:
        return {"seed": self.truth.seed}

    def reply(self, question: Question) -> Reply:
        texts = self.truth.texts(question["item"])
        other_texts = [text for instance, text in sorted(texts.items()) if instance != question["instance"]]
        text = pick_by_hash(other_texts or answer_options(question) or [UNKNOWN], self.truth.seed, question["id"])
        return Reply(self.truth.wrap(text, question["format"]))


def answer_options(question: Question) -> list[str]:
    """Return the options that the question's format names, without the one that skips."""
    format = question["format"]
    named = format.get("options", format.get("of", ()))
    texts = [str(option) for option in named] if isinstance(named, (list, tuple, dict)) else []
    return [option for option in texts if option != format.get("skip")]


def pick_by_hash(texts: Sequence[str], seed: str, question: str) -> str:
    """Return one of the texts, always the same one for a seed and a question."""
    digest = hashlib.sha256(f"{seed}\n{question}".encode()).digest()
    return texts[int.from_bytes(digest, "big") % len(texts)]
