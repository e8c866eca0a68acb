"""A part of an instance that fails is reported with the parameters that led to it, after all instances before it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from dia_compiler.commands.cli import run
from dia_compiler.generate.expand import Expansion
from dia_language.diagnostics import DiaError
from helpers.small_specs import expansion, written

K = 40
TEMPLATE = """
template: t
title: T
params:
  n: {{type: integer, min: 1, max: 60}}
  m: {{type: integer, min: 1, max: 9, where: 'n not in {undrawn}'}}
let:
  x: "n // (0 if n in {underived} else 1)"
  prompted: "[x] if n in {unwritten} else [x, x]"
  explained: "[x] if n in {unexplained} else [x, x]"
  varied: "[x] if n in {unvaried} else [x, x]"
answer:
  value: "'many' if n in {unsolved} else x * m"
  type: integer
  accept_if: reply == answer or n in {untold}
checks:
  - n not in {unchecked}
mistakes:
  wrong: "x * m + (n if n not in {unmade} else 'none')"
prompt: "{{{{ prompted[1] }}}} times {{{{ m }}}}"
explanation: "{{{{ explained[1] }}}} is taken"
variants:
  other:
    prompt: "{{{{ m }}}} by {{{{ varied[1] }}}}"
"""

FAULTS = ("undrawn", "underived", "unsolved", "unchecked", "unmade", "unwritten", "unexplained", "unvaried")


def clean(**planted: list[int]) -> str:
    return TEMPLATE.format(**{name: planted.get(name, []) or "[0]" for name in (*FAULTS, "untold")})


@pytest.mark.parametrize("planted", FAULTS)
def test_the_first_instance_that_fails_is_reported_with_its_parameters(planted: str, tmp_path: Path) -> None:
    clean_instances = list(expansion(tmp_path, clean()).questions(K))
    values = [instance.parameters["n"] for instance in clean_instances if instance.variant is None]
    before = []
    with pytest.raises(DiaError) as failure:
        for instance in expansion(tmp_path, clean(**{planted: values[30:32]})).questions(K):
            before.append(instance)
    if planted != "undrawn":  # a draw that fails has no instance
        assert f"n = {values[30]}" in failure.value.diagnostics[0].message
        bases = [instance for instance in before if instance.variant is None]
        assert [instance.text for instance in bases] == [
            instance.text for instance in clean_instances if instance.variant is None
        ][: len(bases)]
        assert len(bases) == 30 + (planted == "unvaried")


def test_the_drawn_parameters_stay_as_they_are(tmp_path: Path) -> None:
    expanding = expansion(tmp_path, clean())
    drafts = list(expanding.drafts(K))
    scopes = [dict(draft.scope) for draft in drafts]
    assert len(list(expanding.instances(drafts))) == 2 * len(drafts)
    assert [draft.scope for draft in drafts] == scopes


def test_a_wording_that_computes_nothing_has_the_values_of_its_instance(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expanding, computed = expansion(tmp_path, clean()), Counter[str]()
    for name in ("solve", "check", "mistakes"):
        original = getattr(Expansion, name)

        def counted(*arguments: Any, name: str = name, original: Any = original) -> Any:
            computed[name] += 1
            return original(*arguments)

        monkeypatch.setattr(Expansion, name, counted)
    drafts = list(expanding.drafts(K))
    variants = [instance for instance in expanding.instances(drafts) if instance.variant == "other"]
    assert computed == dict.fromkeys(("solve", "check", "mistakes"), K)
    (wording,) = expanding.prepared.variants
    for draft, variant in zip(drafts, variants, strict=True):
        assert variant == expanding.make(draft._replace(scope=dict(draft.scope)), wording)


SLOW = """\
template: slow
title: A condition that takes long for one value
params: {n: {type: integer, min: 3, max: 10000}}
let: {far: "last(iterate(next_prime, 2, 5000)) if n == 500 else 3"}
where: far % 2 == 1 and n != 500
answer: {value: n, type: integer}
prompt: "{{ n }}"
examples: [{params: {n: 500}, answer: 500}]
"""


def test_an_example_without_anything_to_draw_is_tried_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written(tmp_path, SLOW)
    assert run(["check", str(tmp_path)]) == 2
    message = "error[E507]: the example's parameters do not satisfy `far % 2 == 1 and n != 500`: far = 48611"
    assert message in capsys.readouterr().err


def reported(folder: Path, template: str, capsys: pytest.CaptureFixture[str]) -> str:
    run(["check", str(written(folder, f"template: t\ntitle: T\n{template}"))])
    return capsys.readouterr().err


def test_a_false_check_shows_both_sides(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    head = "params: {n: {type: integer, min: 7, max: 7}}\nanswer: {value: n + 1, type: integer}\nprompt: '{{ n }}'\n"
    for check, sides in [
        ("answer == iterate(abs, n, 3)", "the answer is 8, `iterate(abs, n, 3)` is [7, 7, 7]"),
        ("n * 2 == answer * 2", "the answer is 8, `n * 2` is 14, `answer * 2` is 16"),
        ("answer == 5", "the answer is 8"),
        ("answer > n > 9", "the answer is 8"),
        ("not answer > 2", "the answer is 8"),
    ]:
        text = reported(tmp_path, f"{head}checks:\n  - {check}\n", capsys)
        assert f"help: {sides}: `answer` or the check is wrong\n" in text


def test_a_mistake_that_cannot_be_an_answer_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    head = "params: {n: {type: integer, min: 7, max: 7}}\nanswer: {value: n, type: integer}\nprompt: '{{ n }}'\n"
    text = reported(tmp_path, f"{head}mistakes: {{half: n / 2}}\n", capsys)
    assert "the mistake `half` is `7/2`, which cannot be an answer of type integer" in text
    assert "help: if the answer is not an integer either, declare the type rational or real; otherwise round " in text
    text = reported(tmp_path, f"{head}mistakes: {{half: str(n)}}\n", capsys)
    assert (
        "the mistake `half` is the text `7`, which cannot be an answer of type integer" in text and "from_base" in text
    )


def test_all_values_of_an_example_are_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    template = (
        "params: {n: {type: integer, min: 1, max: 9}, m: {type: integer, min: 1, max: 9}}\n"
        "answer: {value: n + m, type: integer}\nprompt: '{{ n }} {{ m }}'\n"
        "examples:\n  - params: {n: 30, m: 40, k: 1, l: 2}\n"
    )
    text = reported(tmp_path, template, capsys)
    for message in ("`30` is above 9", "`40` is above 9", "the example sets `k`", "the example sets `l`"):
        assert message in text


def test_names_that_are_rarely_meant_are_not_offered(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = reported(tmp_path, "answer: {value: 2 + 3, type: integer}\nprompt: 'What is {{ m }} and 3?'\n", capsys)
    assert "help: declare it under `params` or `let`" in text and "rounding_rule" not in text


def test_labels_that_yaml_reads_as_booleans_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    template = (
        "params: {n: {type: integer, min: 1, max: 9}}\nsessions:\n  ask:\n    turns:\n      - user: '{{ n }}'\n"
        "        reply: {name: said, format: label, of: [TRUE, FALSE]}\ngrade: {correct: said == 'TRUE'}\n"
    )
    assert "a label of the format label is a boolean, not text: write it in quotes" in reported(
        tmp_path, template, capsys
    )
