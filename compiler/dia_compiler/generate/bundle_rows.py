"""Make the rows of a bundle from instances, after a round trip through the runtime's own grader."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from hashlib import sha256
from typing import Any

from dia_compiler.analyze.domains import truth_of
from dia_compiler.freeze.spool import BASE, ENTRY, FIRST, LONG, LONGEST, SHOWN
from dia_compiler.generate.expand import Expansion, Grading, Instance, RenderedSessions, encoded_parameters
from dia_language.diagnostics import DiaError, Diagnostic, Position
from dia_language.numbers.values import Record, encode
from dia_language.stored.stored_conditions import condition
from dia_language.stored.stored_conditions import share as stored_share
from dia_runtime.bundle.canonical import canonical_line, encoded, encoded_line, line_layout, require_canonical
from dia_runtime.bundle.merkle import leaf_hash
from dia_runtime.bundle.records import asset_hashes, core_names, question_id
from dia_runtime.grading.grader import Condition, Share
from dia_runtime.grading.verdicts import Verdict

SESSIONS = "sessions"  # the kind of format and of comparison of a question with sessions
ANSWER, MISTAKE = "the answer", "the mistake"  # of which the round trip speaks
# Fields that need no check: what `encode` returns is canonical, and lone surrogates fail when the line is encoded
CANONICAL = frozenset(
    {
        "accept",
        "answer",
        "explanation",
        "id",
        "instance",
        "item",
        "messages",
        "mistakes",
        "parameters",
        "skills",
        "text",
    }
)
OF_ANSWERS = ("template", "canary", "comparison")  # of the common fields, those that answers have
Row = tuple[bytes, bytes, bytes]  # the lines of question and answer, and the index entry


class Writer:
    """Writes the rows of a template after the round trip: two lines and an index entry each.

    The fields that all questions of one grading have are encoded once.
    """

    def __init__(self, expansion: Expansion, canary: str | None) -> None:
        self.expansion, self.canary = expansion, canary
        self.round_trip = RoundTrip(expansion)
        self.of_template = template_fields(expansion, canary)
        self.grading: Grading | None = None
        self.question_layout = self.core_layout = ""
        self.of_answers: dict[str, Any] = {}  # the fields that all answers of this grading have
        self.last: tuple[Instance, dict[str, Any]] | None = None  # the last instance and its answer

    def row(self, instance: Instance) -> Row:
        """Return the row of an instance. Raises DiaError if the round trip fails."""
        question = question_fields(instance, self.expansion)
        if instance.grading is not self.grading:
            self.prepare(instance.grading, question)
        answer = self.answer(instance, question["id"])
        _require_canonical_fields(question)
        fields = {name: encoded(value) for name, value in question.items()}
        line = self.question_layout % fields
        if question["assets"]:
            fields["assets"] = encoded(asset_hashes(question["assets"]))
        leaf = leaf_hash((self.core_layout % fields).encode())
        return (line + "\n").encode(), encoded_line(answer) + b"\n", index_entry(instance, leaf)

    def prepare(self, grading: Grading, question: Mapping[str, Any]) -> None:
        """Encode what all rows of a grading have in common, given the other fields of one of its questions."""
        self.grading = grading
        common = {**self.of_template, **grading_fields(grading)}
        require_canonical(common)
        self.of_answers = {name: common[name] for name in OF_ANSWERS if name in common}
        constant = {
            name: encoded(value) for name, value in common.items() if name not in question and name != "comparison"
        }
        self.question_layout = line_layout(constant, question)
        names = core_names(question)
        self.core_layout = line_layout(
            {name: constant[name] for name in names if name in constant},
            ["assets", *(name for name in names if name in question)],
        )

    def answer(self, instance: Instance, name: str) -> dict[str, Any]:
        """Return the answer. Raises DiaError if the round trip fails.

        If the instance only differs in wording from the last one, its answer has already been tested.
        """
        if self.last is not None and instance.scope is self.last[0].scope and self.last[0].predicted is None:
            return {**self.last[1], "id": name, "explanation": instance.explanation}
        self.round_trip.check(instance)
        own = answer_fields(instance, name)
        _require_canonical_fields(own)
        answer = {**self.of_answers, **own}
        self.last = instance, answer
        return answer


def _require_canonical_fields(record: Mapping[str, Any]) -> None:
    """Raise ValueError for a field that has no canonical form."""
    for name, value in record.items():
        if name not in CANONICAL and value is not None:
            require_canonical(value)


def index_entry(instance: Instance, leaf: bytes) -> bytes:
    is_base = instance.variant is None
    flags = SHOWN * is_answer_shown(instance) | BASE * is_base | FIRST * (is_base and instance.number == 0)
    has_long_turn = instance.rendered_sessions is not None and _has_long_turn(instance.rendered_sessions)
    flags |= LONG * (len(instance.content) > LONGEST or has_long_turn)
    text = sha256(instance.text.encode()).digest()[:16]
    return ENTRY.pack(leaf, _content_digest(instance), text, instance.position, instance.number, flags)


def is_answer_shown(instance: Instance) -> bool:
    """Return whether the prompt, or a text attached to it, contains the answer."""
    if instance.rendered_sessions is not None or instance.grading.options is not None:
        return False  # the answer is the model's own reply, or a letter
    if instance.grading.is_unanswerable:
        return False  # the answer is the skip token, which prompts explain
    if is_shown(instance.text, instance.challenge):
        return True
    texts = [asset.content.decode() for asset in instance.attachments if asset.media_type.startswith("text/")]
    return any(is_shown(instance.text, text) for text in texts)


def _content_digest(instance: Instance) -> bytes:
    """Return a digest that identifies the content of the question: its prompt or sessions, and its attachments."""
    rendered = instance.rendered_sessions
    content = instance.content if rendered is None else canonical_line(rendered.sessions).decode()
    return sha256("\0".join([content, *[asset.digest for asset in instance.attachments]]).encode()).digest()


def _has_long_turn(rendered: RenderedSessions) -> bool:
    """Return whether a text of a session is longer than prompts should be."""
    turns = [
        turn.get(role) for session in rendered.sessions for turn in session["turns"] for role in ("user", "assistant")
    ]
    texts = [text for turn in turns if isinstance(turn, Mapping) for text in turn.get("each", [turn.get("template")])]
    return any(isinstance(text, str) and len(text) > LONGEST for text in (*turns, *texts))


def question_record(instance: Instance, expansion: Expansion, canary: str | None) -> dict[str, Any]:
    """Return the question as `questions.jsonl` stores it."""
    format = grading_fields(instance.grading)["format"]
    return {**template_fields(expansion, canary), "format": format, **question_fields(instance, expansion)}


def answer_record(instance: Instance, expansion: Expansion, name: str, canary: str | None) -> dict[str, Any]:
    """Return the answer as `answers.jsonl` stores it."""
    common = {**template_fields(expansion, canary), **grading_fields(instance.grading)}
    return {field: common[field] for field in OF_ANSWERS if field in common} | answer_fields(instance, name)


def template_fields(expansion: Expansion, canary: str | None) -> dict[str, Any]:
    """Return the fields that all questions of a template have."""
    template, facts = expansion.prepared.template, expansion.prepared.template.facts
    return {
        "template": template.name,
        "category": str(facts.get("category", "uncategorised")),
        "domain": str(facts.get("domain", facts.get("category", "uncategorised"))),
        "level": str(facts.get("level", "")),
        "points": expansion.settings.stored_points,
        **({"canary": canary} if canary else {}),
    }


def grading_fields(grading: Grading) -> dict[str, Any]:
    """Return the fields of all questions and answers that are graded alike."""
    return {"format": dict(grading.format), "comparison": stored_comparison(grading.comparison)}


def question_fields(instance: Instance, expansion: Expansion) -> dict[str, Any]:
    """Return the fields of a question that differ from instance to instance."""
    question: dict[str, Any] = {
        "item": instance.item.named(expansion.prepared.template.name),
        "instance": instance.number,
        "variant": instance.variant,
        "skills": list(instance.skills),
        "assets": [asset.record() for asset in instance.attachments],
    }
    if instance.rendered_sessions is None:
        question["messages"] = [{"role": "user", "content": instance.content}]
    else:
        question["sessions"] = instance.rendered_sessions.sessions
        question["format"] = {"kind": SESSIONS, "skip": expansion.settings.skip}
    question["id"] = question_id(expansion.prepared.benchmark.name, question)
    return question


def answer_fields(instance: Instance, name: str) -> dict[str, Any]:
    """Return the fields of an answer that differ from instance to instance."""
    answer: dict[str, Any] = {
        "id": name,
        "answer": encode(instance.answer),
        "text": instance.text,
        "accept": [encode(value) for value in instance.accept],
        "mistakes": dict(instance.mistakes),
        "parameters": encoded_parameters(instance),
        "explanation": instance.explanation,
    }
    if instance.accept_if is not None or instance.share is not None:
        of_instance = {"accept_if": instance.accept_if, "share": instance.share}
        comparison = stored_comparison(instance.grading.comparison)
        answer["comparison"] = comparison | {key: part for key, part in of_instance.items() if part is not None}
    if instance.predicted is not None:
        answer["predicted"] = instance.predicted.as_json()
    if instance.rendered_sessions is not None:
        answer |= {"comparison": {"type": SESSIONS}, **instance.rendered_sessions.truth}
    return answer


def stored_comparison(comparison: Mapping[str, Any]) -> dict[str, Any]:
    """Return the comparison with its exact numbers as JSON."""
    return {name: _stored(name, value) for name, value in comparison.items()}


def _stored(name: str, value: Any) -> Any:
    if name == "of":
        return [_element(item) for item in value] if isinstance(value, list) else _element(value)
    if name == "tolerance":
        return {key: encode(bound) for key, bound in value.items()}
    return dict(value) if isinstance(value, Record) else value


def _element(value: Any) -> Any:
    """Return how elements are compared, by name or by one comparison; the labels of a choice do not change."""
    if not isinstance(value, Mapping):
        return value
    return stored_comparison(value) if "type" in value else {key: _element(element) for key, element in value.items()}


class RoundTrip:
    """Tests for each instance that the runtime's own grader grades replies as it should.

    The verdict on the skip token does not depend on the answer, so it is tested once for each comparison.
    """

    def __init__(self, expansion: Expansion) -> None:
        self.expansion = expansion
        self.grading: Grading | None = None

    def check(self, instance: Instance) -> None:
        """Raise DiaError unless the truth is graded correct, the skip token skipped, every named mistake wrong.

        Of an unanswerable question, the truth is the skip token.
        """
        if instance.rendered_sessions is not None:
            return  # the truth is the model's own reply; the stored code that grades it has been compiled
        grading = instance.grading
        holds = condition(instance.accept_if) if instance.accept_if is not None else None
        share = stored_share(instance.share) if instance.share is not None else None
        if grading is not self.grading:
            verdict = Verdict.CORRECT if grading.is_unanswerable else Verdict.SKIPPED
            self.expect(instance, grading.format["skip"], verdict, "the skip token", holds, share)
            self.grading = grading
        self.expect(instance, instance.text, Verdict.CORRECT, ANSWER, holds, share)
        for value in instance.accept:
            self.expect(instance, grading.kind.write(value), Verdict.CORRECT, "an accepted form", holds, share)
        for name, text in instance.mistakes.items():
            self.expect(instance, text, Verdict.WRONG, MISTAKE, holds, share, name)

    def expect(
        self,
        instance: Instance,
        text: str,
        verdict: str,
        what: str,
        holds: Condition | None,
        share: Share | None,
        name: str = "",
    ) -> None:
        """Raise DiaError unless the text, in the answer format, gets the verdict; `name` is that of a mistake."""
        grader = instance.grading.grader
        reply = grader.form.wrap(text, grader.format)
        grade = grader.grade(instance.answer, instance.accept, instance.text, reply, holds, share)
        if grade.verdict != verdict:
            raise self.failure(instance, text, verdict, f"{what} `{name}`" if name else what, grade.verdict)
        if what is ANSWER and grade.share is not None and grade.share != 1:
            raise self.partial(instance, grade.share)

    def partial(self, instance: Instance, share: Fraction) -> DiaError:
        """Return the error of a `share` that does not give the answer itself full marks."""
        assert self.expansion.answer.share is not None
        place = self.expansion.answer.share.position
        message = f"`share` gives {share} for the answer itself, not 1"
        fault = Diagnostic("E508", message, place, "make `share` give 1 for an entirely correct answer")
        return self.expansion.drawing.with_values(DiaError(fault), dict(instance.parameters))

    def failure(self, instance: Instance, text: str, verdict: str, what: str, actual: str) -> DiaError:
        """Return the error of a failed round trip, with the parameters of the instance."""
        if what is ANSWER and (error := self.failed_condition(instance)) is not None:
            return error
        start = text if len(text) <= 60 else text[:60] + "..."
        value = f"(`{start}`)" if what.startswith(MISTAKE) else f"`{start}`"
        message = f"a reply with {what} {value} is graded {actual}, not {verdict}"
        fault = Diagnostic("E508", message, _place(what, actual, self.expansion), _mend(what, actual, instance))
        return self.expansion.drawing.with_values(DiaError(fault), dict(instance.parameters))

    def failed_condition(self, instance: Instance) -> DiaError | None:
        """Return the error if `accept_if` cannot be evaluated on the answer itself, which grading counts as a no."""
        code = self.expansion.prepared.accept_if
        if code is None:
            return None
        try:
            truth_of(code({**instance.scope, "reply": instance.answer}), code.parsed.source)
        except DiaError as error:
            entries = [
                replace(entry, help=entry.help or "here, `reply` is the answer itself") for entry in error.diagnostics
            ]
            return self.expansion.drawing.with_values(DiaError(entries), dict(instance.parameters))
        return None


def _place(what: str, actual: str, expansion: Expansion) -> Position:
    """Return the position in the spec of what was graded differently."""
    for name, piece in expansion.prepared.template.mistakes.items():
        if what == f"{MISTAKE} `{name}`":
            return piece.position
    accept_if = expansion.answer.accept_if
    if what is ANSWER and actual == Verdict.WRONG and accept_if is not None:
        return accept_if.position
    return expansion.answer.position


def _mend(what: str, actual: str, instance: Instance) -> str | None:
    if actual == Verdict.SKIPPED or what == "the skip token":
        return "choose a `skip` token that cannot be read as an answer"
    if what.startswith(MISTAKE):
        return "remove the mistake, or make `accept_if` reject it"
    if instance.accept_if is not None:
        return "`accept_if` must accept the answer itself"
    return "change the answer so that a reply in the answer format can contain it"


def is_shown(text: str, challenge: str) -> bool:
    """Return whether the challenge contains the canonical answer as a whole token."""
    if not text:
        return False
    at = challenge.find(text)
    while at >= 0:
        end = at + len(text)
        is_cut = text[0].isalnum() and _is_word(challenge[at - 1 : at])
        if not is_cut and not (text[-1].isalnum() and _is_word(challenge[end : end + 1])):
            return True
        at = challenge.find(text, at + 1)
    return False


def _is_word(neighbour: str) -> bool:
    """Return whether a character, which may be missing, can be part of a word."""
    return neighbour.isalnum() or neighbour == "_"
