"""Health warnings: each is given where it applies and nowhere else, and can be allowed with a reason."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from dia_compiler import compile
from dia_compiler.analyze.check import HEALTH_WARNINGS
from dia_compiler.pipeline.api import check_specs
from helpers.small_specs import written

PLAIN = """\
template: plain
title: Plain
params:
  a: {type: integer, min: 1, max: 900}
  b: {type: integer, min: 1, max: 900}
answer: {value: a * b, type: integer}
checks: [answer / a == b]
prompt: "{{ a }} times {{ b }}?"
"""
# Warning -> what to change in the plain template, and into what
CASES: dict[str, list[tuple[str, str]]] = {
    "answer-ignores-parameter": [("value: a * b", "value: 7 * b"), ("answer / a == b", "answer % 7 == 0")],
    "answer-in-prompt": [("answer:", "let: {shown: a * b}\nanswer:"), ("{{ a }} times", "{{ shown }} {{ a }} times")],
    "check-repeats-value": [("[answer / a == b]", "[a*b == answer]")],
    "constant-answer": [("value: a * b", "value: a * b - b * a"), ("answer / a == b", "answer < a")],
    "few-distinct-answers": [("value: a * b", "value: 0 if a > 100 else a * b"), ("answer / a == b", "answer < 810001")],
    "k-equals-d": [("max: 900", "max: 4"), ("  a:", "  x: {type: choice, of: [0]}\n  a:"), ("{{ a }}", "{{ x }}{{ a }}")],
    "low-acceptance": [("answer:", "where: (a + b) % 500 == 7\nanswer:")],
    "no-rounding-rule": [("times", "times {{ rounding_rule }}")],
    "oversized-prompt": [("times", "times {{ repeat('x ', 16000) }}")],
    "record-in-prompt": [("  b:", "  c: {type: name, pronouns: true}\n  b:"), ("{{ a }}", "{{ c.they }} {{ c }} {{ a }}")],
    "shadowed-function": [("answer:", "functions:\n  gcd(p, q): p * q\nanswer:"), ("value: a * b", 'value: "gcd(a, b)"')],
    "single-braces": [("{{ a }} times", "{ a } times")],
    "answer-decimals": [("value: a * b, type: integer", "value: a * b, type: real, decimals: 2")],
    "comment-in-text": [('"{{ a }} times {{ b }}?"', "Compute {{ a }} times {{ b }} # exactly")],
    "flat-examples": [
        ("value: a * b, type: integer}", "value: '[a, b]', type: list, of: integer}"),
        ("answer / a == b", "first(answer) == a"),
        ("prompt:", "examples: [{params: {a: 2, b: 3}, rejects: [4, 5]}]\nprompt:"),
    ],
    "unlisted-options": [("answer: {value: a * b, type: integer}", "choices: {correct: a * b, distractors: '[a * b + 1]'}"), ("answer / a == b", "a > 0")],
    "xor-as-power": [("value: a * b", "value: (a ^ 2) + b"), ("answer / a == b", "a > 0")],
    "unused-parameter": [("  b:", "  c: {type: boolean}\n  b:")],
}  # fmt: skip


FEW = PLAIN.replace("max: 900", "max: 2")


@pytest.mark.parametrize(
    ("template", "k", "is_warned"),
    [
        (FEW, 3, True),
        (FEW, 4, True),  # a compile makes 5
        (FEW + "instances: all\n", 3, False),
        (FEW + "instances: 4\n", 3, False),
        (FEW + "allow: {few-instances: it must be so}\n", 3, False),
        (PLAIN, 3, False),
        (PLAIN.replace("max: 900", "max: 3"), 3, False),
        (PLAIN.replace("max: 900", "max: 3"), 10, True),
    ],
)
def test_a_check_warns_of_fewer_instances_than_a_compile_makes(
    template: str, k: int, is_warned: bool, tmp_path: Path
) -> None:
    checked = check_specs([written(tmp_path, template)], 1, k=k)
    assert ("few-instances" in {entry.code for entry in checked.diagnostics.entries}) is is_warned


def test_a_search_for_shortcuts_makes_more_instances_than_a_compile_asks_for(tmp_path: Path) -> None:
    checked = check_specs([written(tmp_path, PLAIN.replace("max: 900", "max: 3"))], 1, finds_shortcuts=True)
    assert "few-instances" not in {entry.code for entry in checked.diagnostics.entries}


def warnings_of(folder: Path, template: str, k: int = 16) -> set[str]:
    """The codes of the warnings of a compile."""
    made = compile([written(folder / "specs", template)], k=k, out=folder / "out", jobs=1)
    return {entry.code for entry in made.warnings}


def test_every_warning_has_a_case() -> None:
    elsewhere = {"shortcut", "off-target", "few-instances"}  # which only checks and `--success` look for
    assert set(CASES) == set(HEALTH_WARNINGS) - elsewhere


def test_a_healthy_template_has_none(tmp_path: Path) -> None:
    assert warnings_of(tmp_path, PLAIN) == set()


@pytest.mark.parametrize("name", sorted(CASES))
def test_it_is_told_and_can_be_allowed(name: str, tmp_path: Path) -> None:
    template = PLAIN
    for old, new in CASES[name]:
        assert old in template
        template = template.replace(old, new)
    allowed = template.replace("template: plain", "template: allowed") + f"allow: {{{name}: it must be so}}\n"
    folder = written(tmp_path / "specs", template)
    (folder / "allowed.yaml").write_text(allowed, encoding="utf-8")
    made = compile([folder], k=16, out=tmp_path / "out", jobs=1)
    places = [entry.position.file for entry in made.warnings if entry.code == name and entry.position is not None]
    assert places and not any(place.endswith("allowed.yaml") for place in places)


@pytest.mark.parametrize(
    ("instances", "is_warned"), [("", True), ("instances: 16\n", True), ("instances: 9\n", False), ("instances: all\n", False)]
)  # fmt: skip
def test_a_bundle_with_every_instance_gets_a_warning_unless_the_spec_asks_for_all(
    instances: str, is_warned: bool, tmp_path: Path
) -> None:
    small = PLAIN.replace("max: 900", "max: 4") + instances
    assert ("k-equals-d" in warnings_of(tmp_path, small)) is is_warned
    assert ("k-equals-d" in warnings_of(tmp_path / "fewer", small, k=5)) is (instances == "instances: 16\n")


def test_a_prompt_may_contain_the_skip_token_that_answers_an_unanswerable_question(tmp_path: Path) -> None:
    declines = PLAIN.replace("type: integer}\nchecks", "type: integer, unanswerable: a % 8 > 0}\nchecks")
    assert declines.count("unanswerable") == 1
    declines = declines.replace("{{ b }}?", "{{ b }}? If you cannot know: I-DO-NOT-KNOW")
    assert warnings_of(tmp_path, declines + "allow: {few-distinct-answers: most have none}\n") == set()


def test_a_check_through_let_values_repeats_too(tmp_path: Path) -> None:
    through = PLAIN.replace("answer:", "let: {product_of: b * a, same: product_of}\nanswer:").replace(
        "value: a * b", "value: product_of"
    )
    assert "check-repeats-value" in warnings_of(tmp_path, through.replace("answer / a == b", "answer == same"))
    assert warnings_of(tmp_path / "other", through.replace("answer / a == b", "answer - same == 0")) == set()


def test_what_a_variant_draws_again_may_be_ignored(tmp_path: Path) -> None:
    named = PLAIN.replace("  a:", "  who: {type: choice, of: [Ann, Bo, Cy]}\n  a:").replace("times", "{{ who }} times")
    assert "answer-ignores-parameter" in warnings_of(tmp_path, named)
    assert warnings_of(tmp_path / "other", named + "variants: {renamed: {redraw: [who]}}\n") == set()


LETTERED = """\
template: lettered
title: Lettered
params:
  n: {type: integer, min: 10, max: 900}
choices:
  correct: n + 1
  distractors: '[n - 1]'
checks: [answer - n == 1]
prompt: "What comes after {{ n }}? {{ options }}"
format: {kind: letter}
"""


@pytest.mark.parametrize("k", [3, 16, 40])
def test_the_letters_of_shuffled_options_may_be_few(k: int, tmp_path: Path) -> None:
    assert warnings_of(tmp_path / "shuffled", LETTERED, k) == set()
    in_order = LETTERED.replace("'[n - 1]'", "'[n - 1]'\n  shuffle: false")
    assert warnings_of(tmp_path / "sorted", in_order, k) == {"constant-answer"}


@pytest.mark.parametrize(
    "prompt",
    [
        "{{ a }} in {a} or {{ b }}?",
        "\\frac{a}{b} of {{ n }}",
        "f'{{ n }} {unknown}'",
        "{% raw %}{a}{% endraw %} {{ n }}",
    ],
)
def test_braces_may_be_text(prompt: str, tmp_path: Path) -> None:
    named = PLAIN.replace("answer:", "let: {n: a + 1000 * b}\nanswer:").replace("{{ a }} times {{ b }}?", prompt)
    quoted = named.replace(f'"{prompt}"', json.dumps(prompt))
    assert "single-braces" not in warnings_of(tmp_path, quoted)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('prompt: "{{ a }} times {{ b }}?"', "prompt: Compute {{ a }} times {{ b }}  # a comment"),
        ("value: a * b", "value: a * b + (7 ^ 2) - 5"),
        ("answer:", "let: {shown: \"'{a, b} {c}'\"}\nanswer:"),
        ("answer:", "let: {shown: \"replace('{a}', 'a', 'b')\"}\nanswer:"),
        ("answer:", 'let: {first: "[a, b][0] ^ 2"}\nanswer:'),
    ],
)
def test_what_is_meant_as_it_is_written_has_no_warning(old: str, new: str, tmp_path: Path) -> None:
    assert old in PLAIN
    found = warnings_of(tmp_path, PLAIN.replace(old, new).replace("answer / a == b", "answer >= a"))
    assert not found & {"comment-in-text", "single-braces", "xor-as-power"}


def test_a_text_that_lacks_the_f_of_an_f_string(tmp_path: Path) -> None:
    shown = PLAIN.replace("answer:", "let: {shown: \"'{a} apples'\"}\nanswer:")
    assert warnings_of(tmp_path, shown) == {"single-braces"}
    assert warnings_of(tmp_path / "other", shown.replace("'{a}", "f'{a}")) == set()


def test_a_parameter_of_an_attachment_that_no_text_names_is_shown(tmp_path: Path) -> None:
    built = "assets: {list: {build: text, text: '{{ c }}'}}\ndeliver: attach\nanswer:"
    attached = PLAIN.replace("  b:", "  c: {type: integer, min: 5, max: 6}\n  b:").replace("answer:", built)
    assert warnings_of(tmp_path, attached) == {"answer-ignores-parameter"}
    assert warnings_of(tmp_path / "inline", attached.replace("deliver: attach\n", "")) == {"unused-parameter"}


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ("a != 4 and b > 1", "times, 1,000 attempts in a row failed, such as with a = 4"),
        (
            "length(variables_of(c)) == 3",
            "times, 1,000 attempts in a row failed, such as with some beginnings of `c`, which may fix its size or form",
        ),
    ],
)
def test_few_accepted_draws_are_explained_by_values_that_never_fit(tmp_path: Path, condition: str, words: str) -> None:
    template = PLAIN.replace("a: {type: integer, min: 1, max: 900}", "a: {type: integer, min: 1, max: 8}")
    template = template.replace("  b:", "  c: {type: formula, variables: [p, q, r], depth: {min: 2, max: 3}}\n  b:")
    template = template.replace("answer:", f"where: {condition}\nanswer:").replace("{{ a }}", "{{ c }} {{ a }}")
    made = compile([written(tmp_path / "specs", template)], k=30, out=tmp_path / "out", jobs=1)
    (warning,) = [entry for entry in made.warnings if entry.code == "low-acceptance"]
    assert words in warning.message and warning.position is not None
    assert template.splitlines()[warning.position.line - 1].startswith("where:")
