"""The language end to end: a small benchmark that uses what the shipped families do not."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from dia_compiler import compile
from dia_runtime import grade

BENCHMARK = """\
language: 1
benchmark: tour
version: 2.1.0
seed: summer
skip: PASS
points: {correct: 1, skipped: 0.25, wrong: -0.5}
canary: 11111111-2222-3333-4444-555555555555
types:
  coin: {type: choice, of: [heads, tails]}
  small: {type: integer, min: 1, max: 9}
lists:
  animals: {from: lists/animals.txt}
  colours: [red, green, blue]
functions:
  half(x): x / 2
macros:
  shout(word): "{{ word | upper }}!"
prompt: |
  {{ shout("question") }} {{ challenge }}
  {{ format_instruction }} ({{ points.wrong }} if wrong, {{ skip_token }}; one of {{ colours | join("/") }})
"""

FRACTIONS = """\
template: fractions
title: Half of a fraction
domain: mathematics
skills: "= ['halves'] + (['odd'] if p % 2 == 1 else [])"
params:
  p: {type: small}
  q: {type: small, min: 2, where: "gcd(it, p) == 1"}
let: {whole: p / q}
answer: {value: half(whole), type: rational, accept: ["= 0 + half(whole)"]}
checks: [answer * 2 == p / q]
mistakes: {not_halved: whole, halved_twice: answer / 2}
explanation: Half of {{ whole }} is {{ answer }}.
prompt: What is half of {{ p }}/{{ q }}?
examples:
  - params: {p: 1, q: 2}
    answer: "= 1/4"
    accepts: ["2/8", "1/4"]
    rejects: ["0.25", "1/2", "4"]
"""

ROOTS = """\
template: roots
title: Square root within a tolerance
params:
  n: {type: prime, max: 200, min: 2}
answer: {value: sqrt(n), type: real, tolerance: {absolute: 0.01}}
checks: [abs(answer**2 - n) < 1]
prompt: Give the square root of {{ n }} within one hundredth.
examples:
  - params: {n: 2}
    accepts: ["1.41", "1.42", "1.4142135623730950488"]
    rejects: ["1.40", "1.43", "-1.41"]
"""

ZOO = """\
template: zoo
title: An animal, a number and a coin
params:
  kind: {type: choice, of: {from: animals}, weights: [6, 3, 1]}
  size: {type: integer, min: 1, max: = 1000 * length(kind)}
  side: {type: coin}
where: size % 7 == length(kind) % 7
balance: kind
let: {names: "[kind, side]"}
answer:
  value: "[reverse(kind), size, side == 'heads']"
  type: tuple
  of: [{type: text, case: fold}, integer, boolean]
  separator: ";"
checks: ["answer[1] % 7 == length(kind) % 7"]
prompt: |
  {% for name in names %}
  {{ loop.index }}. {{ name }}{% if not loop.last %},{% endif %}

  {% endfor %}
  {% raw %}
  {{ this }} stays
  {% endraw %}
  Size {{ size }}.
allow: {unused-parameter: all are used}
"""


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tour")
    specs = folder / "specs"
    (specs / "lists").mkdir(parents=True)
    (specs / "lists" / "animals.txt").write_text("ant\nbison\ncormorant\n")
    for name, text in {"benchmark": BENCHMARK, "fractions": FRACTIONS, "roots": ROOTS, "zoo": ZOO}.items():
        (specs / f"{name}.yaml").write_text(text)
    return compile([specs], k=20, out=folder / "out", jobs=2).bundles[0].path


def rows(bundle: Path, name: str, template: str = "") -> list[dict[str, Any]]:
    found = [json.loads(line) for line in (bundle / name).read_text(encoding="utf-8").splitlines()]
    return [row for row in found if row["template"] == template or not template]


def test_the_folder_and_the_manifest_say_what_was_compiled(bundle: Path) -> None:
    manifest = json.loads((bundle / "manifest.json").read_bytes())
    assert bundle.name == "tour-2.1.0-k20-summer"
    assert manifest["points"] == {"correct": 1, "skipped": "1/4", "wrong": "-1/2"}
    assert manifest["seed"] == "summer" and manifest["answer_format"] == {"kind": "xml", "skip": "PASS", "rules": 2}
    assert "specs/lists/animals.txt" in manifest["files"]
    assert {"reverse", "length", "gcd", "sqrt"} <= set(manifest["functions"])


def test_the_wrapper_sees_macros_lists_points_and_the_format(bundle: Path) -> None:
    for question in rows(bundle, "questions.jsonl"):
        text = question["messages"][0]["content"]
        assert text.startswith("QUESTION! ")
        assert text.endswith("(-0.5 if wrong, PASS; one of red/green/blue)")
        assert "To skip the question, write <xml>PASS</xml> instead." in text
        assert "(dia canary 11111111-2222-3333-4444-555555555555)" in question["canary"]


def test_rationals_are_exact_and_explained(bundle: Path) -> None:
    questions = rows(bundle, "questions.jsonl", "fractions")
    for question, answer in zip(questions, rows(bundle, "answers.jsonl", "fractions"), strict=True):
        p, q = answer["parameters"]["p"], answer["parameters"]["q"]
        half = Fraction(p, 2 * q)
        assert Fraction(answer["text"]) == half and f"half of {p}/{q}?" in question["messages"][0]["content"]
        assert answer["explanation"] == f"Half of {Fraction(p, q)} is {half}."
        assert {name: Fraction(text) for name, text in answer["mistakes"].items()} == {
            "not_halved": Fraction(p, q), "halved_twice": half / 2,
        }  # fmt: skip
        assert question["skills"] == (["halves", "odd"] if p % 2 else ["halves"])


def test_a_tolerance_is_kept_around_the_exact_truth(bundle: Path) -> None:
    for answer in rows(bundle, "answers.jsonl", "roots"):
        n, format = answer["parameters"]["n"], {"kind": "xml", "skip": "PASS", "rules": 2}
        near, far = f"{n**0.5 + 0.009:.6f}", f"{n**0.5 + 0.011:.6f}"
        assert grade(answer, f"<xml>{near}</xml>", format).verdict == "correct"
        assert grade(answer, f"<xml>{far}</xml>", format).verdict == "wrong"


def test_tuples_of_several_types_weights_balance_and_conditions(bundle: Path) -> None:
    answers = rows(bundle, "answers.jsonl", "zoo")
    kinds = Counter(answer["parameters"]["kind"] for answer in answers)
    assert kinds == {"ant": 12, "bison": 6, "cormorant": 2}
    for answer in answers:
        kind, size, side = (answer["parameters"][name] for name in ("kind", "size", "side"))
        assert size % 7 == len(kind) % 7 and 1 <= size <= 1000 * len(kind)
        assert answer["text"] == f"({kind[::-1]}; {size}; {side == 'heads'})"
        reply = f"<xml>{kind[::-1].upper()};{size};{str(side == 'heads').lower()}</xml>"
        assert grade(answer, reply, {"kind": "xml", "skip": "PASS", "rules": 2}).verdict == "correct"


def test_lines_of_block_tags_leave_no_line_and_raw_text_stays(bundle: Path) -> None:
    answer, question = rows(bundle, "answers.jsonl", "zoo")[0], rows(bundle, "questions.jsonl", "zoo")[0]
    kind, size, side = (answer["parameters"][name] for name in ("kind", "size", "side"))
    expected = f"QUESTION! 1. {kind},\n\n2. {side}\n\n{{{{ this }}}} stays\nSize {size}.\n"
    assert question["messages"][0]["content"].startswith(expected)


def test_degrees_of_freedom_are_counted_under_conditions(bundle: Path) -> None:
    freedom = {row["template"]: row["degree_of_freedom"] for row in rows(bundle, "templates.jsonl")}
    from math import gcd

    pairs = sum(gcd(p, q) == 1 for p in range(1, 10) for q in range(2, 10))
    assert freedom["fractions"] == {"kind": "exact", "count": str(pairs)}
    assert freedom["roots"] == {"kind": "exact", "count": "46"}
