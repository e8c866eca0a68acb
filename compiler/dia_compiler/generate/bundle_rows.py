"""Instance -> the rows of a bundle, after the round trip through the runtime's own grader."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from hashlib import sha256
from itertools import chain
from typing import Any

from dia_compiler.freeze.spool import BASE, ENTRY, FIRST, LONG, LONGEST, SHOWN
from dia_compiler.generate.expand import Expansion, Instance, Way, encoded_parameters
from dia_language.diagnostics import DiaError, Diagnostic, Position
from dia_language.numbers.radix import SAFE_BITS, WHOLE, integer_text, integers_text
from dia_language.numbers.values import TEXTS, Entry, ExactDecimal, Record, Value, decimal_text, encode
from dia_language.stored.stored_conditions import condition
from dia_language.stored.stored_conditions import share as stored_share
from dia_runtime.bundle.canonical import ENCODER, SAFE_INTEGER, check, line
from dia_runtime.bundle.merkle import leaf_hash
from dia_runtime.bundle.records import leaf, question_id
from dia_runtime.grading.grader import CORRECT, SKIPPED, WRONG, Condition, Share

SESSIONS = "sessions"  # the kind of format, and of comparison, of a question that is asked in sessions
ANSWER, MISTAKE = "the answer", "the mistake"  # of which the round trip speaks
Row = tuple[bytes, bytes, bytes]  # the lines of question and answer, and the entry of the index


class Writer:
    """Writes the rows of a template: two lines and an entry of the index each, after the round trip.

    What is the same in all rows is encoded once; the lines are those that `question_record` and `answer_record` give.
    """

    def __init__(self, expansion: Expansion, canary: str | None) -> None:
        self.expansion, self.canary = expansion, canary
        self.name = _json(expansion.prepared.template.name)
        self.benchmark = expansion.prepared.benchmark.name
        self.named = f'"canary":{_json(canary)},' if canary else ""
        self.points = _json(expansion.settings.stored_points)
        self.way: Way | None = None
        self.skills: tuple[tuple[str, ...], str] = ((), "[]")
        self.keys: dict[str | None, list[tuple[str, str]]] = {}
        self.trip = RoundTrip(expansion)

    def rows(self, instances: Sequence[Instance]) -> list[Row]:
        """The rows of instances, step by step together, as they are made. Raises DiaError at the first that fails."""
        try:
            return self.together(instances)
        except DiaError:
            for instance in instances:
                self.together([instance])
            raise

    def together(self, instances: Sequence[Instance]) -> list[Row]:
        """The rows, each step done for all of them before the next; what fails need not be the first that would."""
        for instance in instances:
            self.trip.check(instance)
        lines = [self.lines(instance) for instance in instances]
        return [
            (question.encode(), answer.encode(), self.entry(instance, leaf_hash(core.encode())))
            if core is not None
            else self.by_the_book(instance)
            for instance, (question, answer, core) in zip(instances, lines, strict=True)
        ]

    def lines(self, instance: Instance) -> tuple[str, str, str | None]:
        """The lines of question and answer, and what the leaf is made of; None for a row that is made by the book."""
        if instance.talk is not None or instance.beside:
            return "", "", None
        if instance.way is not self.way:
            self.settle(instance.way)
        item = instance.item.named(self.expansion.prepared.template.name)
        name = _json(_named(self.benchmark, item, instance))
        question, core = self.question(instance, name, item)
        answer = self.answer(instance, name)
        is_astral = not (question.isascii() and answer.isascii()) and ASTRAL.search(question + answer)
        return question, answer, None if is_astral else core

    def settle(self, way: Way) -> None:
        """Encodes what rows of one way of comparing have in common."""
        self.way = way
        self.format, self.comparison = _json(way.format), _json(stored_comparison(way.comparison))
        facts = self.expansion.prepared.template.facts
        category = _json(str(facts.get("category", "uncategorised")))
        domain = _json(str(facts.get("domain", facts.get("category", "uncategorised"))))
        self.head = f'{{"assets":[],{self.named}"category":{category},"domain":{domain},"format":{self.format},"id":'
        self.level = f',"level":{_json(str(facts.get("level", "")))},"messages":'
        self.core = f'{{"assets":[],"format":{self.format},"id":'

    def question(self, instance: Instance, name: str, item: str) -> tuple[str, str]:
        """The line of the question, and the part of it that its leaf is made of."""
        messages = f'[{{"content":{_quoted(instance.content)},"role":"user"}}]'
        if instance.skills != self.skills[0]:
            self.skills = (instance.skills, _json(list(instance.skills)))
        line = (
            f'{self.head}{name},"instance":{instance.number},"item":{_quoted(item)}{self.level}{messages},'
            f'"points":{self.points},"skills":{self.skills[1]},"template":{self.name},'
            f'"variant":{_json(instance.variant)}}}\n'
        )
        core = f'{self.core}{name},"messages":{messages},"points":{self.points}}}'
        return line, core

    def answer(self, instance: Instance, name: str) -> str:
        """The line of the answer."""
        comparison = self.comparison
        if instance.accept_if is not None or instance.share is not None:
            comparison = _json(_comparison(instance))
        held, said = instance.parameters, instance.mistakes
        parameters = ",".join([key + _value(held[name]) for name, key in self.keys_of(instance)])
        mistakes = ",".join([f"{_quoted(key)}:{_quoted(said[key])}" for key in sorted(said)]) if said else ""
        accept = _value(list(instance.accept)) if instance.accept else "[]"
        return (
            f'{{"accept":{accept},"answer":{_value(instance.answer)},{self.named}'
            f'"comparison":{comparison},"explanation":{_json(instance.explanation)},"id":{name},'
            f'"mistakes":{{{mistakes}}},"parameters":{{{parameters}}},'
            f'"template":{self.name},"text":{_quoted(instance.text)}}}\n'
        )

    def keys_of(self, instance: Instance) -> list[tuple[str, str]]:
        """The names of the parameters, which are the same in all questions of one wording, in order and as JSON."""
        keys = self.keys.get(instance.variant)
        if keys is None:
            keys = self.keys[instance.variant] = [(name, f"{_quoted(name)}:") for name in sorted(instance.parameters)]
        return keys

    def entry(self, instance: Instance, leaf: bytes) -> bytes:
        """The row's entry of the index."""
        is_base = instance.variant is None
        flags = SHOWN * self.is_answer_shown(instance) | BASE * is_base | FIRST * (is_base and instance.number == 0)
        flags |= LONG * (len(instance.content) > LONGEST or _is_long_talk(instance))
        text = sha256(instance.text.encode()).digest()[:16]
        return ENTRY.pack(leaf, _asked(instance), text, instance.position, instance.number, flags)

    @staticmethod
    def is_answer_shown(instance: Instance) -> bool:
        """Whether the prompt, or a text beside it, gives the answer away."""
        if instance.talk is not None or instance.way.options is not None:
            return False  # the answer is what the model says, or a letter
        if is_shown(instance.text, instance.challenge):
            return True
        texts = [held.content.decode() for held in instance.beside if held.media_type.startswith("text/")]
        return bool(texts) and any(is_shown(instance.text, text) for text in texts)

    def by_the_book(self, instance: Instance) -> Row:
        """The same of a row with assets, or with characters above U+FFFF, which RFC 8785 may order otherwise."""
        question = question_record(instance, self.expansion, self.canary)
        answer = answer_record(instance, self.expansion, question["id"], self.canary)
        return line(question) + b"\n", line(answer) + b"\n", self.entry(instance, leaf(question))


def _asked(instance: Instance) -> bytes:
    """What tells the question from others: its prompt or sessions, and what lies beside it."""
    if instance.talk is None and not instance.beside:
        return sha256(instance.content.encode()).digest()
    said = instance.content if instance.talk is None else _json(instance.talk.sessions)
    return sha256("\0".join([said, *(held.digest for held in instance.beside)]).encode()).digest()


def _is_long_talk(instance: Instance) -> bool:
    """Whether a text that a session says is longer than prompts should be."""
    sessions = instance.talk.sessions if instance.talk is not None else []
    said = [turn.get(role) for session in sessions for turn in session["turns"] for role in ("user", "assistant")]
    texts = [text for held in said if isinstance(held, Mapping) for text in held.get("each", [held.get("template")])]
    return any(isinstance(text, str) and len(text) > LONGEST for text in (*said, *texts))


BOOLEANS, RECORDS, LISTS = {bool}, {Record}, {list}
MANY = 8  # so many records are written faster by columns
ASTRAL = re.compile("[\U00010000-\U0010ffff]")
_quoted = json.encoder.encode_basestring


def _json(value: Any) -> str:
    """The value's canonical JSON. Raises ValueError for what has none."""
    if type(value) is str:
        return _quoted(value)
    if value is None or value == {} or value == []:
        return "null" if value is None else "{}" if isinstance(value, dict) else "[]"
    check(value)
    return ENCODER.encode(value)


def _value(value: Value) -> str:
    """The canonical JSON of a stored value."""
    kind = type(value)
    if kind is str:
        return _quoted(value)
    if kind is int:
        is_safe = -SAFE_INTEGER < value < SAFE_INTEGER
        return str(value) if is_safe else f'{{"integer":"{integer_text(value)}"}}'
    if kind is list:
        return _listed(value)
    if kind is Record:
        return f'{{"record":{_fields(value)}}}'
    if kind is Entry:
        catalog, name = _quoted(value.catalog), _quoted(value.name)
        return f'{{"entry":{{"catalog":{catalog},"name":{name},"values":{_fields(value.values)}}}}}'
    if kind is ExactDecimal:
        return f'{{"decimal":"{decimal_text(value)}"}}'
    if kind is bool:
        return "true" if value else "false"
    if kind is bytes:
        return f'{{"bytes":"{value.hex()}"}}'
    return _json(encode(value))


def _fields(record: Mapping[str, Value]) -> str:
    """The canonical JSON of named values."""
    names, form = _form(tuple(record))
    return form % tuple([_value(record[name]) for name in names])


@lru_cache(maxsize=1000)
def _form(given: tuple[str, ...]) -> tuple[list[str], str]:
    """The names in order, and the canonical JSON of values that have them, with gaps for the values."""
    names = sorted(given)
    return names, f"{{{','.join([_quoted(name).replace('%', '%%') + ':%s' for name in names])}}}"


def _rows(records: list[Record]) -> str:
    """The canonical JSON of stored records that have the same names, made column by column."""
    names, form = _form(tuple(records[0]))
    columns = [_column([record[name] for record in records]) for name in names]
    form = f'{{"record":{form}}},' * len(records)
    return form[:-1] % tuple(chain.from_iterable(zip(*columns, strict=True)))


def _column(values: list[Value]) -> Iterable[Any]:
    """The canonical JSON of each value, or what is printed as it."""
    if _are_safe(values):
        return values
    kinds = set(map(type, values))
    if kinds == BOOLEANS:
        return map(("false", "true").__getitem__, values)
    return map(_quoted if kinds == TEXTS else _value, values)


def _listed(values: list[Value]) -> str:
    """The canonical JSON of a stored list; one of texts, integers, rows of integers or many records comes at once."""
    kinds = set(map(type, values))
    if kinds == TEXTS:
        return f"[{','.join(map(_quoted, values))}]"
    if kinds == WHOLE:
        low, high = min(values), max(values)
        if low > -SAFE_INTEGER and high < SAFE_INTEGER:
            return f"[{integers_text(values, ',', low, high)}]"
        if low >= SAFE_INTEGER and high.bit_length() <= SAFE_BITS:
            return f"""[{{"integer":"{integers_text(values, '"},{"integer":"', low, high)}"}}]"""
    if kinds == LISTS and _are_safe(list(chain.from_iterable(values))):
        return str(values).replace(" ", "")
    if kinds == RECORDS and len(values) >= MANY and len(set(map(tuple, values))) == 1:
        return f"[{_rows(values)}]"
    return f"[{','.join(map(_value, values))}]"


def _are_safe(values: list[Value]) -> bool:
    """Whether the values, at least one, are integers alone that JSON holds plainly."""
    return set(map(type, values)) == WHOLE and min(values) > -SAFE_INTEGER and max(values) < SAFE_INTEGER


def _named(benchmark: str, item: str, instance: Instance) -> str:
    return question_id(benchmark, {"item": item, "instance": instance.number, "variant": instance.variant})


def _comparison(instance: Instance) -> dict[str, Any]:
    """The comparison as the answer's record holds it."""
    comparison = stored_comparison(instance.way.comparison)
    of_instance = {"accept_if": instance.accept_if, "share": instance.share}
    return comparison | {name: held for name, held in of_instance.items() if held is not None}


def question_record(instance: Instance, expansion: Expansion, canary: str | None) -> dict[str, Any]:
    """The question as `questions.jsonl` holds it."""
    template, settings = expansion.prepared.template, expansion.settings
    facts = template.facts
    question: dict[str, Any] = {
        "template": template.name,
        "item": instance.item.named(template.name),
        "instance": instance.number,
        "variant": instance.variant,
        "category": str(facts.get("category", "uncategorised")),
        "domain": str(facts.get("domain", facts.get("category", "uncategorised"))),
        "level": str(facts.get("level", "")),
        "skills": list(instance.skills),
        "messages": [{"role": "user", "content": instance.content}],
        "assets": [held.record() for held in instance.beside],
        "format": dict(instance.way.format),
        "points": settings.stored_points,
    }
    if instance.talk is not None:
        del question["messages"]
        question |= {"sessions": instance.talk.sessions, "format": {"kind": SESSIONS, "skip": settings.skip}}
    question["id"] = question_id(expansion.prepared.benchmark.name, question)
    return question | ({"canary": canary} if canary else {})


def answer_record(instance: Instance, expansion: Expansion, name: str, canary: str | None) -> dict[str, Any]:
    """The answer as `answers.jsonl` holds it."""
    answer: dict[str, Any] = {
        "id": name,
        "template": expansion.prepared.template.name,
        "answer": encode(instance.answer),
        "text": instance.text,
        "comparison": _comparison(instance) if instance.talk is None else {"type": SESSIONS},
        "accept": [encode(value) for value in instance.accept],
        "mistakes": dict(instance.mistakes),
        "parameters": encoded_parameters(instance),
        "explanation": instance.explanation,
        **(instance.talk.truth if instance.talk is not None else {}),
    }
    return answer | ({"canary": canary} if canary else {})


def stored_comparison(comparison: Mapping[str, Any]) -> dict[str, Any]:
    """The comparison with its exact numbers as JSON."""
    return {name: _stored(name, value) for name, value in comparison.items()}


def _stored(name: str, value: Any) -> Any:
    if name == "of":
        return [_element(item) for item in value] if isinstance(value, list) else _element(value)
    if name == "tolerance":
        return {key: encode(held) for key, held in value.items()}
    return dict(value) if isinstance(value, Record) else value


def _element(value: Any) -> Any:
    """How elements are compared, by name or in one way; the labels of a choice stay as they are."""
    if not isinstance(value, Mapping):
        return value
    return stored_comparison(value) if "type" in value else {key: _element(held) for key, held in value.items()}


class RoundTrip:
    """Proves of each instance that the runtime's own grader grades what a model may say as it should.

    How the skip token is graded depends on no truth: it is proven once for every way of comparing.
    """

    def __init__(self, expansion: Expansion) -> None:
        self.expansion = expansion
        self.way: Way | None = None

    def check(self, instance: Instance) -> None:
        """Raises DiaError unless the truth is graded correct, the skip token skipped, every named mistake wrong."""
        if instance.talk is not None:
            return  # the truth is what the model says; what grades it has been compiled as it is stored
        way = instance.way
        holds = condition(instance.accept_if) if instance.accept_if is not None else None
        share = stored_share(instance.share) if instance.share is not None else None
        if way is not self.way:
            self.expect(instance, way.format["skip"], SKIPPED, "the skip token", holds, share)
            self.way = way
        self.expect(instance, instance.text, CORRECT, ANSWER, holds, share)
        for value in instance.accept:
            self.expect(instance, way.kind.write(value), CORRECT, "an accepted form", holds, share)
        for name, text in instance.mistakes.items():
            self.expect(instance, text, WRONG, MISTAKE, holds, share, name)

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
        """Raises DiaError unless the text, in the answer format, gets the verdict; a mistake has a name."""
        grader = instance.way.grader
        reply = grader.form.wrap(text, grader.format)
        grade = grader.grade(instance.answer, instance.accept, instance.text, reply, holds, share)
        if grade.verdict != verdict:
            raise self.failure(instance, text, verdict, f"{what} `{name}`" if name else what, grade.verdict)
        if what is ANSWER and grade.share is not None and grade.share != 1:
            raise self.partial(instance, grade.share)

    def partial(self, instance: Instance, share: Fraction) -> DiaError:
        """A `share` that does not give the answer itself full marks."""
        assert self.expansion.answer.share is not None
        place = self.expansion.answer.share.position
        message = f"the share of the answer itself is {share}, not 1"
        fault = Diagnostic("E508", message, place, "let `share` be 1 for what is entirely right")
        return self.expansion.drawing.with_values(DiaError(fault), dict(instance.parameters))

    def failure(self, instance: Instance, text: str, verdict: str, what: str, found: str) -> DiaError:
        """The round trip that fails, with the parameters that led to it."""
        shown = text if len(text) <= 60 else text[:60] + "..."
        message = f"the round trip fails: {what} `{shown}` is graded {found}, not {verdict}"
        fault = Diagnostic("E508", message, _place(what, self.expansion), _mend(what, found, instance))
        return self.expansion.drawing.with_values(DiaError(fault), dict(instance.parameters))


def _place(what: str, expansion: Expansion) -> Position:
    """Where the spec says what was graded otherwise."""
    for name, piece in expansion.prepared.template.mistakes.items():
        if what == f"{MISTAKE} `{name}`":
            return piece.position
    return expansion.answer.position


def _mend(what: str, found: str, instance: Instance) -> str | None:
    if found == SKIPPED or what == "the skip token":
        return "choose a `skip` token that is no answer"
    if what.startswith(MISTAKE):
        return "leave the mistake out, or let `accept_if` refuse it"
    if instance.accept_if is not None:
        return "`accept_if` must accept the answer itself"
    return "the answer must be such that a reply in the answer format can hold it"


def is_shown(text: str, challenge: str) -> bool:
    """Whether the canonical answer stands in the challenge as a whole token."""
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
    """Whether a character, which may be missing, is one of those that words are made of."""
    return neighbour.isalnum() or neighbour == "_"
