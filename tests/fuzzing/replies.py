"""The answers and formats that random replies are graded by: every type of answer, every format."""

from __future__ import annotations

from typing import Any

from dia_language.answers import answer_type
from helpers.answer_samples import SAMPLES, settled

ANSWERS = tuple(
    (comparison, held := settled(comparison, truth), answer_type(comparison).write(held))
    for comparison, truth in SAMPLES
)
SKIP = {"skip": "I-DO-NOT-KNOW"}
OPTIONS = {"A": "one", "B": "two", "C": "three (3)", "D": "I don't know"}
FORMATS: tuple[dict[str, Any], ...] = (
    {"kind": "xml", **SKIP},
    {"kind": "boxed", **SKIP},
    {"kind": "json", **SKIP},
    {"kind": "json", "key": "result"},
    {"kind": "label", "of": ["valid", "not valid", "a"], **SKIP},
    {"kind": "last_line", **SKIP},
    {"kind": "letter", "of": ["A", "B", "C"], **SKIP},
    {"kind": "letter", "options": OPTIONS, "skip": "D"},
    {"kind": "tagged", "tag": "final", **SKIP},
    {"kind": "regex", "pattern": "Answer: *(.+)", "reply": "Answer: {answer}", **SKIP},
    {"kind": "whole"},
)
