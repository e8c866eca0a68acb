"""A part of an instance that fails is reported with the parameters that led to it, after all instances before it."""

from __future__ import annotations

from pathlib import Path

import pytest
from dia_compiler.commands.cli import run
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
