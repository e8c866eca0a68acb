"""Mathematical parameter types in whole specs: each compiles without a warning, and a fault stands at its option."""

from __future__ import annotations

from pathlib import Path

import pytest
from dia_compiler.pipeline.api import compile
from dia_language.diagnostics import DiaError
from dia_runtime.bundle.open import open_bundle
from helpers.small_specs import questions

BENCHMARK = """\
language: 1
benchmark: types
lists: {fruits: [apple, fig, kiwi, pear, plum]}
"""
# type: its use, a question about it, the answer, a check by another path
SPECS = {
    "rational": ("{type: rational, numerator: {min: 1, max: 30}, denominator: {min: 2, max: 30}}",
                 "What is 1 - {{ x }}?", "{value: 1 - x, type: rational}", "answer + x == 1"),
    "bytes": ("{type: bytes, length: {min: 3, max: 6}}",
              "What is the CRC-32 of {{ x | hex }}?", "{value: crc32(x), type: integer}", "answer < 2**32"),
    "set": ("{type: set, of: {type: integer, min: 1, max: 99}, length: {min: 3, max: 5}}",
            "What is the sum of {{ x | join(', ') }}?", "{value: sum(x), type: integer}", "answer >= 6 and sort(x) == x"),
    "tuple": ("{type: tuple, of: [{type: integer, min: 1, max: 99}, {type: prime, min: 2, max: 99}]}",
              "What is {{ x[0] }} times {{ x[1] }}?", '{value: "x[0] * x[1]", type: integer}', "answer % x[1] == 0"),
    "subset": ("{type: subset, of: {from: fruits}, size: {min: 2, max: 3}}",
               "How long is {{ x | join }}?", "{value: 'length(join(x, \"\"))', type: integer}",
               "answer == sum([length(fruit) for fruit in x])"),
    "vector": ("{type: vector, length: 3, of: {type: integer, min: -9, max: 9}, where: \"x != [0, 0, 0]\"}",
               "What is the square of the length of ({{ x | join(', ') }})?", "{value: 'dot(x, x)', type: integer}",
               "answer > 0"),
    "polynomial": ("{type: polynomial, variable: t, degree: {min: 2, max: 3}, coefficients: {type: integer, min: -9, max: 9}}",
                   "What is the value of {{ x }} at t = 2?", "{value: 'substitute(x, symbol(\"t\"), 2)', type: integer}",
                   'answer - substitute(x, symbol("t"), 0) == substitute(x - substitute(x, symbol("t"), 0), symbol("t"), 2)'),
    "formula": ("{type: formula, variables: [a, b, c], depth: 2, operators: [and, not]}",
                "How many operands has the operator at the top of {{ x }}?", "{value: length(x.args), type: integer}",
                '(x.op == "not") == (answer == 1)'),
    "graph": ("{type: graph, nodes: 8, probability: = 1/3}",
              "How many edges are {{ x.edges }}?", "{value: length(x.edges), type: integer}", "answer <= 28"),
    "primitive_root": ("{type: primitive_root, of: = next_prime(10**6)}",
                       "What is {{ x }} times itself modulo 1000003?", "{value: 'mod_pow(x, 2, 1000003)', type: integer}",
                       "mod_pow(answer, 500001, 1000003) == 1"),
    "curve_point": ("{type: curve_point, curve: {a: 2, b: 3, p: 10007}}",
                    "What is the square of {{ x.y }} modulo 10007, where ({{ x.x }}, {{ x.y }}) solves y^2 = x^3 + 2x + 3?",
                    '{value: "mod_pow(x.y, 2, 10007)", type: integer}', "answer == (x.x**3 + 2 * x.x + 3) % 10007"),
    "rsa_key": ("{type: rsa_key, bits: 512, e: 17}", "Which number to the power of 17 is 2 modulo {{ x.p }} * {{ x.q }}?",
                "{value: 'mod_pow(2, x.d, x.n)', type: integer}", "mod_pow(answer, x.e, x.n) == 2"),
}  # fmt: skip
RULES = """\
template: rules
title: Rules that go together
catalogs:
  rule:
    faces: {say: template}
    entries:
      short: {group: size, params: {n: {type: integer, min: 1, max: 9}}, say: "at most {{ n }} words"}
      long: {group: size, params: {n: {type: integer, min: 10, max: 19}}, say: "at least {{ n }} words"}
      vowel: {group: letters, params: {c: {type: choice, of: [a, e, i]}}, say: "no {{ c }}"}
      calm: {say: no exclamation mark}
params:
  size: {type: integer, min: 1, max: 3}
  rules: {type: subset, of: {type: entry, of: rule}, size: = size, apart: group}
answer: {value: "sort([name_of(rule) for rule in rules])", type: list, of: text}
checks: ["length(answer) == size"]
prompt: |
  Name the rules: {% for rule in rules %}{{ say(rule) }}; {% endfor %}

"""


def template(kind: str) -> str:
    use, question, answer, check = SPECS[kind]
    return f"template: {kind}_\ntitle: A {kind}\nparams:\n  x: {use}\nanswer: {answer}\nchecks:\n  - |\n    {check}\nprompt: |\n  {question}\n"


def test_a_spec_of_each_type_compiles(tmp_path: Path) -> None:
    folder = tmp_path / "specs"
    folder.mkdir()
    (folder / "benchmark.yaml").write_text(BENCHMARK, encoding="utf-8")
    for kind in SPECS:
        (folder / f"{kind}.yaml").write_text(template(kind), encoding="utf-8")
    (folder / "rules.yaml").write_text(RULES, encoding="utf-8")
    compilation = compile([folder], k=4, out=tmp_path / "out", jobs=1)
    assert [str(entry) for entry in compilation.warnings] == []
    (bundle,) = compilation.bundles
    assert len(list(open_bundle(bundle.path).questions())) == 4 * (len(SPECS) + 1)


def test_rules_of_a_catalog_stand_apart(tmp_path: Path) -> None:
    found = [instance.parameters["rules"] for instance in questions(tmp_path, RULES, k=40)]
    names = [[entry.name for entry in rules] for rules in found]
    assert not any({"short", "long"} <= set(chosen) for chosen in names)
    assert {len(chosen) for chosen in names} == {1, 2, 3} and len({repr(rules) for rules in found}) == 40
    assert {name for chosen in names for name in chosen} == {"short", "long", "vowel", "calm"}


@pytest.mark.parametrize(
    ("marked", "word"),
    [
        ("{type: rational, denominator: ^{min: 0, max: 3}, numerator: 1}", "between 1 and"),
        ("{type: set, of: {type: boolean}, length: ^3}", "only 2 values"),
        ("{type: subset, of: [a, b], size: 1, apart: ^kind}", "no `kind`"),
        ("{type: subset, of: {type: entry, of: ^rules}, size: 1}", "unknown catalog `rules`"),
        ("{type: subset, of: ^5, size: 1}", "must be a list"),
        ("{type: polynomial, degree: 1, coefficients: ^{type: string, alphabet: ab, length: 1}}", "numbers"),
        ("{type: formula, variables: ^[a, a], depth: 1}", "duplicate"),
        ("{type: graph, nodes: 3, edges: ^4}", "between 0 and 3"),
        ("{type: primitive_root, of: ^15}", "must be a prime"),
        ("{type: curve_point, curve: ^{a: 1, b: 2, p: 9}}", "must be a prime"),
        ("{type: rsa_key, bits: ^64}", "between 512 and 4096"),
    ],
)
def test_a_fault_stands_at_its_option(tmp_path: Path, marked: str, word: str) -> None:
    """The mark ^ stands before the place that the fault must tell."""
    line = f"  x: {marked}"
    spec = f'template: t\ntitle: A fault\nparams:\n{line.replace("^", "")}\nanswer: {{value: 1, type: integer}}\nprompt: "{{{{ x }}}}"\n'
    with pytest.raises(DiaError) as caught:
        questions(tmp_path, spec, k=1)
    (entry,) = caught.value.diagnostics
    assert entry.position is not None and word in entry.message
    assert (entry.position.line, entry.position.column) == (4, line.index("^") + 1)


def test_a_size_may_be_an_expression_and_a_list_a_name(tmp_path: Path) -> None:
    spec = """\
template: t
title: Sizes
params:
  size: {type: integer, min: 1, max: 3}
  word: {type: subset, of: = fruits, size: = size}
  edges: {type: graph, nodes: = size + 2, edges: {min: = size, max: = size + 1}}
answer: {value: length(word), type: integer}
prompt: "{{ word }} {{ edges.edges }}"
"""
    for instance in questions(tmp_path, spec, k=12, benchmark=BENCHMARK):
        size = instance.parameters["size"]
        assert len(instance.parameters["word"]) == size and len(instance.parameters["edges"]["nodes"]) == size + 2
        assert len(instance.parameters["edges"]["edges"]) in (size, size + 1)
