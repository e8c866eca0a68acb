"""How each chain of an answer format reads a reply, and why; and which spellings of an answer it accepts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from dia_language.answers import Unreadable, answer_type
from dia_language.answers.base import CHARACTERS
from dia_language.diagnostics import DiaError, LanguageError
from dia_language.numbers.values import plain
from dia_runtime.formats import FORMATS
from dia_runtime.formats.base import (
    STANDARD,
    effective_chain,
    ignores_reasoning,
    mode_of,
    readable_texts,
    rules_of,
)
from dia_runtime.formats.reasoning import without_reasoning
from dia_runtime.grading.grader import Grade, grade
from dia_runtime.grading.verdicts import Verdict

Record = dict[str, Any]
INTEGER = re.compile(r"[+-]?[0-9]+", re.ASCII)
LONGEST = 400  # characters of an answer whose spellings are tried


def chains_of(format: Mapping[str, Any]) -> list[str]:
    """Return the chains that read replies in a format: first `standard`, then those of the format's kind.

    >>> chains_of({"kind": "xml", "rules": 2})
    ['standard', 'strict', 'lenient', 'compat']
    """
    names = [STANDARD] if rules_of(format) >= 2 else []
    return list(dict.fromkeys([*names, *FORMATS[format["kind"]].chains]))


def readings(record: Mapping[str, Any], format: Mapping[str, Any], reply: str) -> list[Record]:
    """Return how each chain reads the reply: verdict, the steps with what they found, the value, and the reason.

    `record` is the answer's record in a bundle.
    """
    return [_reading(record, format, reply, chain) for chain in chains_of(format)]


def _reading(record: Mapping[str, Any], format: Mapping[str, Any], reply: str, chain: str) -> Record:
    graded = grade(record, reply, format, chain)
    mistake = _mistake(record, format, graded, chain)
    return {
        "chain": chain,
        "verdict": str(graded.verdict),
        "extracted": graded.extracted,
        "step": graded.step,
        "steps": [{"step": name, "found": text} for name, text in _steps(format, reply, chain)],
        "flags": sorted(graded.flags),
        "share": None if graded.share is None else str(graded.share),
        "mistake": mistake,
        "why": _why(record, format, graded, chain, mistake),
    }


def _steps(format: Mapping[str, Any], reply: str, chain: str) -> Iterator[tuple[str, str | None]]:
    """Yield each step of a chain with the text that it finds in the reply, or None."""
    form, chain = FORMATS[format["kind"]], effective_chain(chain, format)
    text = without_reasoning(reply) if ignores_reasoning(chain, format) else reply
    for name, step in form.chains["strict" if chain == STANDARD and STANDARD not in form.chains else chain]:
        yield name, step(text, format)


def _value_texts(record: Mapping[str, Any], format: Mapping[str, Any], graded: Grade, chain: str) -> list[str]:
    """Return the canonical texts of the values that were read: the one that decided, or all that are of the type."""
    kind, mode = answer_type(record["comparison"]), mode_of(chain, format)
    texts: list[str] = []
    if graded.extracted is None:
        return texts
    for text in (graded.inner,) if graded.inner else readable_texts(graded.extracted, chain, format):
        try:
            value = kind.read(text[:CHARACTERS], mode)
        except Unreadable:
            continue
        try:
            texts.append(kind.write(value))
        except LanguageError:
            texts.append(plain(value))
    return texts


def _mistake(record: Mapping[str, Any], format: Mapping[str, Any], graded: Grade, chain: str) -> str | None:
    """Return the name of the mistake that a wrong answer equals."""
    if graded.verdict is not Verdict.WRONG or chain in FORMATS[format["kind"]].verbatim:
        return None
    texts = _value_texts(record, format, graded, chain)
    return next((name for name, wrong in record["mistakes"].items() if wrong in texts), None)


def _why(record: Mapping[str, Any], format: Mapping[str, Any], graded: Grade, chain: str, mistake: str | None) -> str:
    """Return the reason of a verdict in a sentence."""
    if graded.verdict is Verdict.UNPARSED:
        lost = "; a more tolerant chain finds the right answer" if "lost_to_format" in graded.flags else ""
        return f"No step finds an answer{lost}."
    if graded.verdict is Verdict.SKIPPED:
        return "The text is the skip token."
    if record["comparison"].get("unanswerable"):
        return "The question is unanswerable: only the skip token is correct."
    if chain in FORMATS[format["kind"]].verbatim:
        equal = "equals" if graded.is_correct else "differs from"
        return f"This chain compares texts: what it found {equal} the answer in its format."
    values = _value_texts(record, format, graded, chain)
    if not values:
        return f"The text cannot be read as an answer of type {record['comparison']['type']}."
    value = values[0] if mistake is None else record["mistakes"][mistake]
    if graded.is_correct:
        reason = "`accept_if` accepts it" if "accept_if" in record["comparison"] else "it equals the answer"
        accepted = record["text"] != value and record["accept"] and "accept_if" not in record["comparison"]
        return f"Read as {value}: {'it equals the answer or an accepted form' if accepted else reason}."
    if mistake is not None:
        return f"Read as {value}: this is the mistake `{mistake}`."
    if "undecided" in graded.flags:
        return f"Read as {value}: it could be proven neither equal to the answer nor different."
    if "accept_if" in record["comparison"]:
        return f"Read as {value}: `accept_if` does not accept it."
    return f"Read as {value}, but the answer is {record['text']}."


def spellings(record: Mapping[str, Any], format: Mapping[str, Any], examples: Mapping[str, str]) -> list[Record]:
    """Return texts that a model may write for the answer, with the verdict of each chain on them in the format.

    `examples` are texts from the template, with where each comes from.
    """
    rows = []
    for text, origin in {**_spellings(record["text"]), **examples}.items():
        reply = FORMATS[format["kind"]].wrap(text, format)
        try:
            verdicts = {chain: str(grade(record, reply, format, chain).verdict) for chain in chains_of(format)}
        except (DiaError, LanguageError):
            continue
        rows.append({"text": text, "origin": origin, "reply": reply, "verdicts": verdicts})
    return rows


def _spellings(answer: str) -> dict[str, str]:
    """Return spellings of an answer by text, each with a description.

    >>> list(_spellings("1234"))[:4]
    ['1234', '1234.', '**1234**', '1,234']
    """
    spelled = {answer: "as the format asks"}
    if not answer or len(answer) > LONGEST:
        return spelled
    spelled[f"{answer}."] = "with a full stop"
    spelled[f"**{answer}**"] = "in bold"
    if INTEGER.fullmatch(answer):
        number = answer.lstrip("+-")
        if len(number) > 3:
            spelled[f"{int(answer):,}" if len(answer) < 300 else answer] = "with thousands separators"
        spelled[f"{answer}.0"] = "as a decimal"
        spelled[f"+{number}" if answer[0] not in "+-" else answer] = "with a plus sign"
        spelled[f"0{number}" if answer[0] not in "+-" else answer] = "with a leading zero"
    else:
        spelled[f'"{answer}"'] = "in quotes"
        spelled[answer.upper()] = "in uppercase"
        spelled[answer.lower()] = "in lowercase"
        if ", " in answer:
            spelled[answer.replace(", ", ",")] = "without spaces"
    spelled[f"${answer}$"] = "in dollar signs"
    spelled[f"the answer is {answer}"] = "in a sentence"
    spelled.update({answer: "as the format asks"})
    return spelled
