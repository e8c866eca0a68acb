"""Sections that only some scores have, and bounds for what many models would make long."""

from __future__ import annotations

import json
from itertools import combinations
from typing import Any

import pytest
from dia_runtime.report.page.panels import Section
from dia_runtime.report.page.sections import sections
from dia_runtime.report.page.terms import terms
from dia_runtime.report.pictures import pictures
from dia_runtime.report.pictures.drawing import Text
from helpers.places import GOLDEN

SCORE = GOLDEN / "report" / "score.json"
FIGURE = {"value": 0.5, "se": 0.1, "ci": [0.3, 0.7]}


@pytest.fixture
def score() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(SCORE.read_text(encoding="utf-8"))
    return {"correlations": [], **found}


def made(score: dict[str, Any], by: tuple[str, ...] = ()) -> dict[str, Section]:
    return {section.name: section for section in sections(score, [], by)}


def rows(section: Section, at: int = 0) -> list[list[str]]:
    return [[cell.text for cell in row] for row in section.tables[at].rows]


def test_the_sections_of_a_small_score(score: dict[str, Any]) -> None:
    assert list(made(score)) == [
        "leaderboard", "reliability", "by-domain", "by-category", "abstention", "comparisons", "failures",
    ]  # fmt: skip
    assert [row[0] for row in rows(made(score)["leaderboard"])][:2] == ["Ada", "Böhm"]


def test_sessions_are_shown_by_template_and_model(score: dict[str, Any]) -> None:
    ledger = {"valid": 7, "unread": 2, "absent": 1, "broken": 0, "error": 0, "of": {}}
    accuracy = dict.fromkeys(("all", "answered", "valid"), FIGURE)
    own = {"gap": {"value": 12.5, "se": None, "ci": None, "of": 3}, "left": {"value": None}}
    held = {"truth": "decisions", "questions": 10, "ledger": ledger, "accuracy": accuracy, "recorded": 0}
    score["models"][0]["sessions"] = {"talk": {**held, "recall": FIGURE, "figures": own}}
    found = made(score)["sessions"]
    assert found.tables[0].headings[-1] == "recall %" and rows(found)[0] == ["talk", "Ada", *["50.0"] * 4]
    assert rows(found, 1) == [["talk", "Ada", "10", "7", "2", "1", "0", "0"]]
    assert found.tables[2].headings == ("model", "gap", "left") and rows(found, 2) == [["Ada", "12.5", "–"]]


def test_wordings_kinds_of_models_and_mistakes_are_shown(score: dict[str, Any]) -> None:
    effect = {"base": 0.8, "variant": 0.6, "difference": {"value": -0.2, "se": 0.1, "ci": [-0.4, 0.0]}, "p": 0.04}
    score["models"][0]["variants"] = {"shouted": {"items": 6, "questions": 18, "figures": {"trad_score": effect}}}
    group = {"value": "big", "models": ["Ada"], "at": [0], "figures": {"rs": {"value": 4.0, "se": None, "ci": None}}}
    difference = {
        "figure": "rs",
        "groups": ["big", "small"],
        "difference": FIGURE,
        "p": 0.5,
        "p_holm": 0.5,
        "order": 1.0,
    }
    score["by_respondent"] = {"size": {"items": 6, "questions": 18, "groups": [group], "differences": [difference]}}
    templates = {"sum": {"wrong": 4, "one": 2, "several": 0, "none": 2,
                         "mistakes": {"off_by_one": {"count": 2, "share": FIGURE}, "never": {"count": 0, "share": FIGURE}}}}  # fmt: skip
    shares = {"wrong": 4, "one": 2, "several": 0, "none": 2, "explained": FIGURE, "templates": templates}
    score["models"][0]["mistake_shares"] = shares
    found = made(score)
    assert rows(found["wordings"]) == [["Ada", "shouted", "correct replies", "80.0", "60.0", "−20.0", "0.040"]]
    assert rows(found["respondents"]) == [["big", "Ada", "4.0"]]
    assert rows(found["respondents"], 1)[0][:3] == ["big", "small", "RS@k"]
    assert found["respondents"].tables[0].headings == ("size", "models", "RS@k")
    group["figures"], difference["figure"] = {"trad_score": FIGURE}, "trad_score"
    told = made(score)["respondents"]
    assert told.tables[0].headings[2] == "correct replies %" and rows(told, 1)[0][2] == "correct replies %"
    assert rows(found["mistakes"], 1) == [["sum", "off_by_one", "Ada", "50.0"]]


def test_open_figures_are_shown_as_what_they_can_become(score: dict[str, Any]) -> None:
    score["models"][0]["rs"] = {"value": None, "se": None, "ci": None, "bounds": [-3.0, 3.0]}
    assert [row[1] for row in rows(made(score)["leaderboard"]) if row[0] == "Ada"] == ["−3.0 to 3.0"]


def test_an_open_difference_that_can_only_be_negative_is_shown_the_other_way_round(score: dict[str, Any]) -> None:
    open_difference = {"value": None, "se": None, "ci": None, "bounds": [-6.6, -1.8]}
    score["comparisons"] = [{**score["comparisons"][0], "difference": open_difference}]
    one, other = score["comparisons"][0]["models"]
    table = made(score)["comparisons"].panels[0].table
    assert table and [cell.text for cell in table.rows[0]][:4] == [other, one, "6", "1.8 to 6.6"]


def test_many_models_make_no_endless_tables(score: dict[str, Any]) -> None:
    score["models"] = [{**score["models"][0], "model": f"model {at}"} for at in range(45)]
    pair = {**score["comparisons"][0], "figure": "rs"}
    score["comparisons"] = [
        {**pair, "models": [f"model {one}", f"model {other}"], "at": [one, other]}
        for one, other in combinations(range(45), 2)
    ]
    found = made(score)
    table = found["comparisons"].panels[0].table
    assert table is not None and len(table.rows) == 200 and "200 largest of 990" in table.caption
    assert len(found["comparisons"].panels[1].table.rows) == 30  # type: ignore[union-attr]
    assert len(found["leaderboard"].tables[0].rows) == 45
    assert sum(len(art) for section in found.values() for shown in section.panels for art in shown.art) < 2_000_000


def test_models_of_one_name_are_told_apart_by_their_runs(score: dict[str, Any]) -> None:
    score["models"] = [{**score["models"][0], "run": run} for run in ("x/a.run", "y/b.run")]
    assert {row[0] for row in rows(made(score)["leaderboard"])} == {"Ada (a.run)", "Ada (b.run)"}


def test_a_pair_tells_how_many_items_both_were_asked(score: dict[str, Any]) -> None:
    score["comparisons"][0]["items"] = 4
    table = made(score)["comparisons"].panels[0].table
    assert table is not None and table.headings[2] == "items"
    assert sorted({row[2].text for row in table.rows}) == ["4", "6"]


def test_items_of_one_instance_are_not_called_several(score: dict[str, Any]) -> None:
    models = [
        model | {"tsr": {item: min(solved, 1) for item, solved in model["tsr"].items()}} for model in score["models"]
    ]
    score |= {"k": 1, "models": models}
    panel = made(score)["reliability"].panels[0]
    assert panel.table is not None and panel.table.caption == "Correct replies, easiest items first"
    drawing = pictures()["reliability"].draw({"score": score})
    assert drawing.title == "Correct replies to each item"
    described = f"{panel.caption} {drawing.description} {dict(terms(score))['RS@1']}"
    assert "Each item scores the points of its instance." in described and "instances" not in described


def test_over_attempts_the_words_are_those_of_questions_and_attempts(score: dict[str, Any]) -> None:
    assert "of its 3 instances; RS@3 is the sum over 6 items." in made(score)["leaderboard"].lead
    assert "most of an item" not in made(score)["reliability"].tables[0].caption
    score |= {"over": "attempts", "k_varies": True}
    found = made(score)
    assert "of its attempts, 3 at most; RS@3 is the sum over 6 questions." in found["leaderboard"].lead
    assert "each question's 3 attempts" in found["reliability"].panels[0].caption
    assert found["reliability"].panels[0].table.caption == "Correct attempts of 3, easiest questions first"  # type: ignore[union-attr]
    assert found["reliability"].tables[0].caption.endswith("in the leaderboard, all questions count")
    assert "Each question scores the mean points of its attempts." in dict(terms(score))["RS@3"]
    drawings = [pictures()[kind].draw({"score": score}) for kind in ("reliability", "correlation")]
    panels = [found["reliability"].panels[0], found["comparisons"].panels[-1]]
    described = " ".join(entry.title + entry.caption for entry in panels)
    described += " ".join(entry.title + entry.description for entry in drawings)
    assert "Correct attempts for each question, of 3" in described and "item" not in described
    for name in ("by-domain", "failures"):
        assert (
            "number" in (caption := found[name].panels[0].caption)
            and "attempts" in caption
            and "questions" not in caption
        )


def test_only_flags_that_occur_have_a_column(score: dict[str, Any]) -> None:
    score["models"][1]["flags"] = {"skip_malformed": 2}
    drawing = pictures()["flags"].draw({"score": score})
    headings = [mark.text for mark in drawing.marks if isinstance(mark, Text)][:3]
    assert headings == ["unparsed", "errors", "malformed skip"]
    assert "2 of 18 malformed skip" in str(drawing.marks) and "truncated" not in str(drawing.marks)


@pytest.mark.parametrize(
    ("stated", "replaced", "words"),
    [
        ([], {}, "6 items."),
        ([{"correct": "1", "skipped": "0", "wrong": "-2"}], {}, "abstention, −2 for a wrong answer."),
        ([{"correct": "1", "skipped": "0", "wrong": "-2"}], {"wrong": "0"}, "abstention, 0 for a wrong answer."),
        ([{"correct": "1"}, {"correct": "2"}], {}, "Points differ between questions; “About this page” lists them."),
    ],
)
def test_the_leaderboard_has_the_points(
    score: dict[str, Any], stated: list[dict[str, str]], replaced: dict[str, str], words: str
) -> None:
    assert made({**score, "points_told": stated, "points": replaced})["leaderboard"].lead.endswith(words)


def test_a_model_that_was_asked_less_is_no_reason_to_count_what_nobody_was_asked(score: dict[str, Any]) -> None:
    score["models"][0]["n"], score["n"] = 4, 9
    lead = made(score)["leaderboard"].lead
    assert "RS@3 is the sum over the items that a model was asked: 4 to 6 of 9 items." in lead
    item = next(iter(score["models"][0]["tsr"]))
    others = pictures()["reliability"].draw({"score": score}).description
    for model in score["models"][1:]:
        del model["tsr"][item]
    score["models"][0]["tsr"][item] = 0
    drawn = pictures()["reliability"].draw({"score": score}).description
    assert drawn != others and "6 items in columns" in drawn and "in no instance by any model: 1." in drawn
