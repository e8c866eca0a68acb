"""Partial marks from the spec to the table of figures."""

from __future__ import annotations

import json
from pathlib import Path

from dia_compiler import compile
from dia_runtime import run, score
from dia_runtime.report.tables import as_text, score_tables
from helpers.schemas import require_valid

LISTED = """\
template: listed
title: Numbers that divide
params: {n: {type: choice, of: [12, 18, 20, 28, 30, 42]}}
answer:
  value: divisors(n)
  type: set
  of: integer
  share: length(intersection(reply, divisors(n))) / length(union(reply, divisors(n)))
mistakes:
  half: divisors(n)[:length(divisors(n)) // 2]
prompt: Which positive integers divide {{ n }}?
"""
OTHER = (
    LISTED.replace("listed", "other")
    .replace("  share:", "  accept_if: sort(reply) == divisors(n)\n#")
    .replace("n}", "n }")
)


def scored(folder: Path, *templates: str) -> dict[str, object]:
    specs = folder / "specs"
    specs.mkdir(parents=True)
    (specs / "benchmark.yaml").write_text("language: 1\nbenchmark: marks\n")
    for number, text in enumerate(templates):
        (specs / f"{number}.yaml").write_text(text)
    bundle = compile([specs], k=4, out=folder / "out", jobs=1).bundles[0].path
    run(bundle, ["oracle", "abstain", "wrong"], folder / "r.run")
    result = score(folder / "r.run")
    require_valid("score", json.loads(json.dumps(result)))
    return result


def test_half_of_the_elements_give_half_of_the_marks(tmp_path: Path) -> None:
    models = {model["model"]: model for model in scored(tmp_path, LISTED)["models"]}  # type: ignore[attr-defined]
    assert models["oracle"]["share"]["value"] == 1 and models["abstain"]["share"]["value"] == 0
    assert models["wrong"]["share"]["value"] == 0.5 and models["wrong"]["trad_score"]["value"] == 0


def test_the_column_is_there_for_answers_that_give_marks_alone(tmp_path: Path) -> None:
    with_marks, without = scored(tmp_path / "a", LISTED, OTHER), scored(tmp_path / "b", OTHER)
    with_credit, without_credit = as_text(score_tables(with_marks)), as_text(score_tables(without))
    assert "partial credit %" in with_credit and "partial credit %" not in without_credit
    assert "share" not in without["models"][0]  # type: ignore[index]
