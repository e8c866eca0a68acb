"""One entry in the registry of figures is enough: it is computed, printed, drawn, described and compared."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dia_runtime
import jsonschema_rs
import pytest
from dia_compiler.commands.cli import run
from dia_runtime.grading.verdicts import Verdict
from dia_runtime.respondents.respondent import Reply
from dia_runtime.scoring.figures import FIGURES, Family, Figure, Leaderboard, Range, Unit
from dia_runtime.scoring.metrics import Tallies, VerdictMean
from dia_runtime.scoring.score_schema import score_schema

WRONG = "<xml>-5</xml>"
SHOUTED: dict[str, Any] = {
    "name": "shouted",
    "label": "shouted@k",
    "short": "loud",
    "meaning": "Share of wrong answers, made up for a test.",
    "glossary": "Share of the wrong answers to {a_one}'s {k} {part}s.",
    "unit": Unit.SHARE,
    "range": Range.SHARE,
    "family": Family.ABSTENTION,
    "more_is_better": False,
    "of_tallies": VerdictMean({Verdict.WRONG: 1}),
    "page_tables": ("leaderboard", "abstention", "selective"),
    "leaderboard": Leaderboard("shouting", "Who shouts"),
    "in_power": True,
}


class Player:
    """Answers wrongly as often as it is told."""

    def __init__(self, name: str, wrong: int) -> None:
        self.name = self.model = name
        self.settings: dict[str, Any] = {}
        self.wrong = wrong

    def reply(self, question: Any) -> Reply:
        left, right = 10 * int(question["template"][4:]) + 7, question["instance"] + 1
        return Reply(WRONG if question["instance"] < self.wrong else f"<xml>{left + right}</xml>")


@pytest.fixture
def path(tiny: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A run of two models, scored with a figure that no module knows."""
    monkeypatch.setitem(FIGURES, "shouted", Figure(**SHOUTED))
    monkeypatch.chdir(tmp_path)
    dia_runtime.run(tiny("played", 3, 4), [Player("loud", 3), Player("quiet", 1)], tmp_path / "a.run")
    return "a.run"


def test_a_figure_is_in_json_as_the_schema_says(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["score", path, "--json", "--compare", "shouted", "--power"]) == 0
    score = json.loads(capsys.readouterr().out)
    assert [model["shouted"]["value"] for model in score["models"]] == [0.75, 0.25]
    assert score["models"][0]["by_category"]["arithmetic"]["shouted"]["ci"] is not None
    (pair,) = score["comparisons"]
    assert (pair["figure"], pair["values"], pair["difference"]["value"]) == ("shouted", [0.75, 0.25], 0.5)
    assert {entry["figure"] for entry in score["power"]["pairs"]} == {"trad_score", "idk_score", "shouted"}
    schema = score_schema()
    validator = jsonschema_rs.Draft202012Validator(schema)
    assert [error.message for error in validator.iter_errors(score)] == []
    assert schema["$defs"]["model"]["properties"]["shouted"]["description"] == SHOUTED["meaning"]
    del score["models"][0]["shouted"]
    assert [error.message for error in validator.iter_errors(score)] == ['"shouted" is a required property']


@pytest.mark.parametrize(
    ("form", "heading"), [("text", "loud %"), ("csv", "loud %"), ("markdown", "loud %"), ("latex", r"loud \%")]
)
def test_a_figure_is_in_the_tables(path: str, form: str, heading: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["score", path, "--compare", "shouted", "--format", form, "--tables", "all"]) == 0
    printed = capsys.readouterr().out
    assert printed.count(heading) >= 2 and "75.00" in printed and "50.00" in printed


def test_a_figure_is_in_the_report_and_its_glossary(path: str) -> None:
    assert run(["report", path, "-o", "page.html", "-q"]) == 0
    page = Path("page.html").read_text(encoding="utf-8")
    assert page.count(">shouted@4 %<") >= 3 and ">75.0<" in page
    assert "Share of the wrong answers to an item&#39;s 4 instances." in page


def test_a_figure_has_the_picture_that_it_declares(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["plot", "shouting", path, "-o", "board.svg", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["kind"], facts["title"]) == ("shouting", "Who shouts")
    assert facts["description"].startswith("2 models by shouted@4 %. quiet leads with 25")
    assert run(["plot", "--help"]) == 0
    assert "all models by shouted@k, with intervals" in " ".join(capsys.readouterr().out.split())


def test_a_figure_is_in_audits(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["audit", path, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["models"][0]["figures"]["shouted"]["strict"]["value"] == 0.75


def of_tallies(tallies: Tallies) -> Any:
    return ()


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"name": "Shouted"}, "give a `name` of lowercase letters"),
        ({"label": ""}, "give a `label`"),
        ({"meaning": "Wrong answers"}, "give a `meaning`, one sentence with a full stop"),
        ({"glossary": "Wrong answers"}, "end the `glossary` with a full stop"),
        ({"of_tallies": None}, "give `of_tallies`"),
        ({"is_sum": True}, "correct `unit` or `is_sum`"),
        ({"range": Range.UNKNOWN}, "give the `range` of a share"),
        ({"page_tables": ("leaderbord",)}, "there are leaderboard, abstention, selective"),
        ({"begins_part": True, "in_tables": False}, "set `in_tables`"),
        ({"of_tallies": of_tallies}, "`of_tallies=VerdictMean({...})`"),
        ({"of_unanswerable": True}, "`of_unanswerable` needs `of_tallies`, and no `in_power`"),
    ],
)
def test_an_incomplete_entry_says_what_is_missing(fields: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match="is incomplete: ") as raised:
        Figure(**{**SHOUTED, **fields})
    assert problem in str(raised.value)


def test_a_field_that_is_left_out_is_named() -> None:
    with pytest.raises(TypeError, match="'meaning'"):
        Figure(**{name: value for name, value in SHOUTED.items() if name != "meaning"})
