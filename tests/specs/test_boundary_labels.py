"""Replies to the requests of specs/boundary that we labelled ourselves: how often the rule, and a judge, agree."""

from __future__ import annotations

import json
import shlex
import shutil
import sqlite3
import sys
import textwrap
from collections import Counter
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from dia_compiler.commands.cli import run
from dia_runtime.grading.judge import Judge, Rules
from dia_runtime.scoring.score import opened
from helpers.places import ROOT

SPECS = ROOT / "specs" / "boundary"
LABELLED = SPECS / "data" / "labelled.jsonl"
ROWS: list[dict[str, Any]] = [json.loads(line) for line in LABELLED.read_text(encoding="utf-8").splitlines()]
KINDS: dict[str, str] = {
    f"boundary/refusal/{row['id']}/0": row["kind"]
    for row in map(json.loads, (SPECS / "data" / "requests.jsonl").read_text(encoding="utf-8").splitlines())
}
PERSONA = textwrap.dedent(
    """
    import json
    import sys

    rows = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
    said = {(row["id"], row["attempt"]): row["response"] for row in rows}
    for line in sys.stdin:
        asked = json.loads(line)
        print(json.dumps({"id": asked["id"], "text": said[asked["id"], asked["attempt"]]}), flush=True)
    """
)
# Of each form how many replies there are, and how many of them the rule takes for what they are not.
FORMS = {
    "complying": (21, 0),
    "plain": (14, 0),
    "polite": (8, 0),
    "otherwise": (7, 7),
    "seeming": (7, 3),
    "warned": (5, 0),
    "curly": (4, 0),
    "policy": (4, 0),
    "partial": (3, 3),
    "empty": (3, 3),
    "quoting": (2, 1),
    "late": (2, 2),
}


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run in which the rule decides on every labelled reply."""
    folder = tmp_path_factory.mktemp("labels")
    assert run(["compile", str(SPECS / "refusal.yaml"), "--k", "1", "-o", str(folder), "-q"]) == 0
    (bundle,) = folder.glob("boundary*")
    (folder / "persona.py").write_text(PERSONA, encoding="utf-8")
    command = f"command:{shlex.join([sys.executable, str(folder / 'persona.py'), str(LABELLED)])}"
    path = folder / "a.run"
    code = run(
        ["run", str(bundle), "--model", command, "--attempts", "2", "--role", "judge=none", "-o", str(path), "-q"]
    )
    assert code == 0
    return path


def audited(path: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    capsys.readouterr()
    assert run(["audit", str(path), "--labelled", str(LABELLED), "--json"]) == 0
    (model,) = json.loads(capsys.readouterr().out)["models"]
    assert isinstance(model, dict)
    return model


def kappa(pairs: Counter[tuple[bool, bool]]) -> float:
    """Cohen's kappa from shares, as the textbooks have it."""
    number = pairs.total()
    same = Fraction(pairs[True, True] + pairs[False, False], number)
    margins = [(Fraction(pairs[s, True] + pairs[s, False], number), Fraction(pairs[True, s] + pairs[False, s], number))
               for s in (True, False)]  # fmt: skip
    chance = sum(first * second for first, second in margins)
    return float((same - chance) / (1 - chance))


def test_the_labels_fit_the_requests() -> None:
    assert len(ROWS) == 80 == len({row["response"] for row in ROWS}) and {row["id"] for row in ROWS} == KINDS.keys()
    for row in ROWS:
        assert (row["verdict"] == "correct") == (row["declines"] == (KINDS[row["id"]] == "harmful")), row["id"]
    assert Counter(row["form"] for row in ROWS) == {form: number for form, (number, _) in FORMS.items()}


@pytest.mark.long
def test_the_rule_agrees_with_three_quarters_of_the_labels(asked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = audited(asked, capsys)
    missed = sum(lost for _, lost in FORMS.values())
    assert model["labelled"] == 80 and model["agreement"]["value"] == (80 - missed) / 80 == 61 / 80
    table = {(label == "correct", found == "correct"): number
             for label, row in model["table"].items() for found, number in row.items()}  # fmt: skip
    assert model["kappa"] == pytest.approx(kappa(Counter(table)), abs=1e-12)
    assert model["kappa"] == pytest.approx(0.474, abs=5e-4)
    assert model["agreement"]["se"] == pytest.approx(error(asked), rel=1e-9)


def error(path: Path) -> float:
    """sqrt(G / (G - 1) * sum of the squared deviations of G requests) / N: two replies to one request go together."""
    found, agreed = verdicts(path), Counter[str]()
    for row in ROWS:
        agreed[row["id"]] += found[row["id"], row["attempt"]] == row["verdict"]
    deviations = [agreed[request] - 2 * agreed.total() / 80 for request in KINDS]
    return float((40 / 39 * sum(deviation**2 for deviation in deviations)) ** 0.5 / 80)


def verdicts(path: Path) -> dict[tuple[str, int], str]:
    """The verdict on each reply of the run, by question and attempt."""
    with opened([path]) as (stores, source), closing(Judge(stores[0], Rules(over="attempts"), source)) as judge:
        (respondent,) = stores[0].respondents()
        return {(held.question.id, held.reply.attempt): held.mark.verdict for held in judge.judged(respondent.id)}


def test_the_rule_misses_refusals_in_other_words_and_promises_that_come_late(asked: Path) -> None:
    """Form by form; the docs say so."""
    found = verdicts(asked)
    lost = Counter(row["form"] for row in ROWS if found[row["id"], row["attempt"]] != row["verdict"])
    assert lost == {form: number for form, (_, number) in FORMS.items() if number}


@pytest.mark.long
def test_a_judge_is_put_beside_the_same_labels(asked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The replies are taken from the run; only the judge is new. One who always says COMPLY is right by half."""
    path = asked.parent / "judged.run"
    (bundle,) = asked.parent.glob("boundary*")
    judged = ["run", str(bundle), "--model", f"replay:{asked}", "--attempts", "2", "--role", "judge=says:COMPLY"]
    assert run([*judged, "-o", str(path), "-q"]) == 0
    model = audited(path, capsys)
    assert model["agreement"]["value"] == sum(not row["declines"] for row in ROWS) / 80


def test_a_reply_that_never_came_is_not_disagreed_about(asked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A judge that cannot be reached is neither right nor wrong."""
    whole = audited(asked, capsys)
    path = asked.parent / "broken.run"
    shutil.copy(asked, path)
    with closing(sqlite3.connect(path)) as store:
        store.execute("UPDATE reply SET text = NULL, error = 'timeout: no answer' WHERE attempt = 2")
        store.commit()
    model = audited(path, capsys)
    assert (whole["labelled"], model["labelled"]) == (80, 40)
    assert not any("error" in row for row in model["table"].values())
