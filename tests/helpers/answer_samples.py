"""Answers of every type: comparisons with a truth each, and templates that are compiled, asked, scored and fuzzed."""

from __future__ import annotations

from typing import Any

from dia_language.answers import answer_type
from dia_language.numbers.values import Record, Value, decode

INTEGER, RATIONAL, REAL, TEXT = ({"type": name} for name in ("integer", "rational", "real", "text"))
CENTS = {"places": 2, "ties": "half_even", "zeros": "keep", "thousands": ","}
SAMPLES: tuple[tuple[dict[str, Any], Value], ...] = (
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


def settled(comparison: dict[str, Any], truth: Value) -> Value:
    """The typed truth; one that is no plain value is read from its text."""
    kind = answer_type(comparison)
    return kind.read(str(truth), "lenient") if comparison["type"] in TREES else kind.settle(truth)


# Answer type (or another name) -> the answer of a template, its format, its other keys
TEMPLATES: dict[str, tuple[str, str, str]] = {
    "arithmetic": (
        "{value: 'join([str(v) for v in [n, 7, 9]], \" + \")', type: arithmetic, operators: [+, -],"
        " accept_if: 'evaluate(reply, {}) == n + 16', share: '1 if evaluate(reply, {}) == n + 16 else 1/4'}",
        "{kind: xml}",
        "examples: [{params: {n: 1000}, answer: 1000 + 7 + 9, accepts: [1000 + 16, 1100 - 84], rejects: [1000 + 7, 508 * 2]}]",
    ),
    "boolean": ("{value: n % 2 == 1, type: boolean}", "{kind: label, of: ['True', 'False']}", ""),
    "bytes": ("{value: utf8(str(n)), type: bytes, encoding: base64}", "{kind: tagged, tag: out}", "mistakes: {next: utf8(str(n + 1))}"),
    "choice": ("{value: '[\"odd\", \"even\"][n % 2]', type: choice, of: [odd, even]}", "{kind: label, of: [odd, even]}", ""),
    "date": ("{value: 'f\"{n}-01-31\"', type: date}", "{kind: boxed}", "examples: [{params: {n: 1969}, answer: 1969-01-31, rejects: [31.1.1969]}]"),
    "domain": ("{value: 'f\"host{n}.example.org\"', type: domain}", "{kind: json, key: host}", ""),
    "expression": ("{value: 'sqrt(n) + sin(symbol(\"x\"))', type: expression, variable: x}", "{kind: whole}", "mistakes: {cosine: 'sqrt(n) + cos(symbol(\"x\"))'}"),
    "integer": ("{value: n + 1, type: integer, units: km}", "{kind: last_line}", ""),
    "ip_address": ("{value: 'f\"192.0.2.{n % 256}\"', type: ip_address}", "{kind: last_line}", ""),
    "list": ("{value: '[n, n + 1]', type: list, of: integer}", "{kind: json}", ""),
    "matrix": ("{value: '[[n, 1], [1, n / 7]]', type: matrix, of: real, round: {places: 2, ties: half_even}}", "{kind: xml}", ""),
    "multiset": ("{value: prime_factors(n), type: multiset, of: integer}", "{kind: whole}", ""),
    "polynomial": ("{value: 'expand((symbol(\"x\") + n)**2)', type: polynomial}", "{kind: boxed}", "examples: [{params: {n: 3000}, answer: '= symbol(\"x\")**2 + 6000 * symbol(\"x\") + 9000000', accepts: [(x + 3000)^2], rejects: [x^2 + 9000000]}]"),
    "rational": ("{value: n / 7, type: rational}", "{kind: boxed}", ""),
    "real": ("{value: n / 7, type: real, decimals: 3, units: [s, seconds]}", "{kind: xml}", ""),
    "record": (
        "{value: \"{'x': n + 1, 'y': n / 2}\", type: record, of: {x: integer, y: rational}, written: '({{ x }}, {{ y }})'}",
        "{kind: regex, pattern: '(?m)^POINT (.*)$', reply: 'POINT {answer}'}",
        "examples: [{params: {n: 1001}, answer: {x: 1002, y: '= 1001/2'}, accepts: ['(1002,1001/2)', '{y: 1001/2, x: 1002}'], rejects: ['(1001/2, 1002)']}]",
    ),
    "set": ("{value: divisors(n), type: set, of: integer}", "{kind: xml}", "mistakes: {short: 'divisors(n)[1:]'}"),
    "text": ("{value: str(n), type: text}", "{kind: tagged}", ""),
    "tuple": ("{value: '[n + 1, n + 2]', type: tuple, of: [integer, integer], written: '{{ it[0] }} to {{ it[1] }}'}", "{kind: xml}", ""),
    "letters": ("", "{kind: letter}", "choices: {correct: n + 1, distractors: '[n, n + 2]', skip: No idea}"),
}  # fmt: skip


def template(name: str, answer: str, form: str, more: str) -> str:
    asked = "\n  {{ options }}" if not answer else ""
    held = f"answer: {answer}\n" if answer else ""
    return (
        f"template: {name}\ntitle: T\nparams: {{n: {{type: integer, min: 1000, max: 9999}}}}\nformat: {form}\n{held}{more}\n"
        f"allow: {{answer-in-prompt: it must be}}\nprompt: |\n  Of {{{{ n }}}}?{asked}\n"
    )
