"""The answers and formats that random replies are graded by: every type of answer, every format."""

from __future__ import annotations

from typing import Any

from dia_language.answers import answer_type
from dia_language.numbers.values import Record, Value, decode

INTEGER, RATIONAL, REAL, TEXT = ({"type": name} for name in ("integer", "rational", "real", "text"))
CENTS = {"places": 2, "ties": "half_even", "zeros": "keep", "thousands": ","}
COMPARISONS: tuple[tuple[dict[str, Any], Value], ...] = (
    (INTEGER, 1234),
    ({"type": "integer", "round": {"places": -2, "ties": "half_up", "thousands": " "}}, 1200),
    (RATIONAL, decode({"rational": "3/7"})),
    (REAL, decode({"decimal": "3.14"})),
    ({"type": "real", "round": CENTS}, decode({"decimal": "1234.50"})),
    ({"type": "real", "tolerance": {"relative": decode({"decimal": "0.01"})}, "units": ["km", "km/h"]}, 12),
    (TEXT, "Hello, world"),
    ({"type": "text", "case": "fold", "whitespace": "collapse", "unicode": "fold", "punctuation": "ignore"}, "a b"),
    ({"type": "boolean"}, True),
    ({"type": "bytes"}, b"abc"),
    ({"type": "bytes", "encoding": "base64"}, b"abc"),
    ({"type": "choice", "of": ["GET", "a, b", "[c]"]}, "GET"),
    ({"type": "date"}, "2026-01-31"),
    ({"type": "domain"}, "example.org"),
    ({"type": "ip_address"}, "192.0.2.1"),
    ({"type": "list", "of": INTEGER}, [1, 2, 3]),
    ({"type": "list", "of": TEXT, "separator": ";"}, ["a", "b"]),
    ({"type": "list", "of": {"type": "list", "of": RATIONAL}}, [[1], [2, 3]]),
    ({"type": "tuple", "of": [INTEGER, TEXT, {"type": "list", "of": {"type": "boolean"}}]}, [1, "a", [True]]),
    ({"type": "tuple", "of": [INTEGER, INTEGER], "written": "{{ it[1] }}:{{ it[0] }}"}, [1, 2]),
    ({"type": "set", "of": INTEGER}, [1, 2, 3]),
    ({"type": "multiset", "of": RATIONAL}, [1, 1, 2]),
    ({"type": "record", "of": {"n": INTEGER, "t": TEXT}}, Record({"n": 1, "t": "a"})),
    (
        {"type": "record", "fields": {"x": INTEGER, "y": REAL}, "written": "<{{ x }}; {{ y }}>"},
        Record({"x": 1, "y": 2}),
    ),
    ({"type": "matrix", "of": RATIONAL}, [[1, 2], [3, 4]]),
    ({"type": "polynomial"}, "x**2 + 1"),
    ({"type": "polynomial", "variables": ["x", "y"]}, "x*y - 1"),
    ({"type": "expression", "variables": ["x"]}, "sin(x)**2"),
    ({"type": "expression"}, "2*sqrt(3)*pi"),
    ({"type": "arithmetic"}, "(1 + 2) * 3"),
)
TREES = frozenset({"polynomial", "expression", "arithmetic"})


def _answer(comparison: dict[str, Any], truth: Value) -> tuple[dict[str, Any], Value, str]:
    """The comparison with the truth and its text; a truth that is no plain value is read from its text."""
    kind = answer_type(comparison)
    held = kind.read(str(truth), "lenient") if comparison["type"] in TREES else kind.settle(truth)
    return comparison, held, kind.write(held)


ANSWERS = tuple(_answer(comparison, truth) for comparison, truth in COMPARISONS)
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
