"""The section of a report on a bank's scale: its pictures at two sizes, the tables beside them, and banks of others."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from math import exp
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dia_compiler.commands.cli import run
from dia_runtime.report.page.panels import OF_BANKS, Section
from dia_runtime.report.page.scaling import on_one_scale
from dia_runtime.report.page.write import PageOptions, page
from dia_runtime.report.pictures import pictures
from dia_runtime.report.pictures.drawing import Circle, Polyline, Rect, Text, text_width
from dia_runtime.report.pictures.svg import svg
from helpers.failures import refused_call
from helpers.places import GOLDEN
from helpers.schemas import require_valid

SCORE = GOLDEN / "report" / "score.json"
HOSTILE = "</td><script>alert(1)</script>\u202e"


def entry(kind: str, name: str, place: float, infit: float | None, trials: float | None = 40) -> dict[str, Any]:
    what = {"item": "difficulty", "model": "ability"}[kind]
    known = {"successes": None if trials is None else trials / 2, "trials": trials, "infit": infit, "outfit": infit}
    return {kind: name, what: place, "se": 0.25, "status": "estimated", **known}


def data(models: int = 6, items: int = 30, trials: int = 4) -> dict[str, Any]:
    """A bank of so many models and items with made-up places, and replies that a seed draws."""
    generator = np.random.default_rng(11)
    places, hard = np.linspace(-2, 2.2, models), generator.normal(0, 1.3, items)
    fits = generator.uniform(0.5, 1.6, items)
    names = [HOSTILE if not at else f"model {at}" for at in range(models)]
    bank = {
        "unit": "instances", "method": "mml_items", "gauge": "mean_difficulty", "checksum": "0" * 64,
        "models": [entry("model", name, float(place), 1.0) for name, place in zip(names, places, strict=True)],
        "items": [entry("item", f"sum/{at}", float(hard[at]), float(fits[at])) for at in range(items)],
    }  # fmt: skip
    right = generator.binomial(trials, 1 / (1 + np.exp(hard[None, :] - places[:, None])))
    observed = {
        f"sum/{item}": [(float(place), float(right[at, item]), float(trials)) for at, place in enumerate(places)]
        for item in range(items)
    }
    return {"bank": bank, "observed": observed}


def tables(section: Section) -> dict[str, list[list[str]]]:
    return {
        shown.name: [[cell.text for cell in row] for row in shown.table.rows] for shown in section.panels if shown.table
    }


def test_each_picture_has_its_facts_as_a_table() -> None:
    held = data()
    section = on_one_scale(held)
    assert (section.name, [shown.name for shown in section.panels]) == ("scale", list(OF_BANKS))
    found = tables(section)
    assert sum(int(row[2]) for row in found["wright-map"]) == 30
    assert ", ".join(row[1] for row in found["wright-map"]).count("model") == 5, "each model stands in one strip"
    assert [row[0] for row in found["abilities"]] == ["model 5", "model 4", "model 3", "model 2", "model 1", HOSTILE]
    low, high = held["bank"]["models"][0]["ability"] - 1.96 * 0.25, held["bank"]["models"][0]["ability"] + 1.96 * 0.25
    last = section.panels[1].table.rows[-1][1]  # type: ignore[union-attr]
    assert last.note == f"{low:.2f} to {high:.2f}".replace("-", "\N{MINUS SIGN}")
    outside = sum(not 0.7 <= one["infit"] <= 1.3 for one in held["bank"]["items"])
    assert len(found["item-fit"]) == 30 and [row[-1] for row in found["item-fit"]].count("no") == outside > 0
    assert len(found["item-curves"]) == 5 * 6, "five curves, and every model at each"


def test_curves_are_told_with_what_was_observed() -> None:
    held = data(models=2, items=2, trials=8)
    for row in tables(on_one_scale(held))["item-curves"]:
        item, place = row[0].split(" (")[0], -2.0 if row[1] == HOSTILE else 2.2
        (right,) = [right for ability, right, _ in held["observed"][item] if ability == place]
        (hard,) = [one["difficulty"] for one in held["bank"]["items"] if one["item"] == item]
        assert row[3:5] == [f"{right:.0f}", "8"] and row[5] == f"{100 * right / 8:.1f} %"
        assert row[6] == f"{100 / (1 + exp(hard - place)):.1f} %"


def test_groups_of_items_of_one_difficulty_share_a_curve_and_models_of_one_ability_are_counted() -> None:
    held = data(models=3, items=20)
    for at, one in enumerate(held["bank"]["items"]):
        one["difficulty"] = -2.23 if at < 8 else float(at)
    held["bank"]["models"][1]["ability"] = -2.0
    for entries in held["observed"].values():
        entries[1] = (-2.0, *entries[1][1:])
    names = list(dict.fromkeys(row[0] for row in tables(on_one_scale(held))["item-curves"]))
    minus = "\N{MINUS SIGN}"
    assert names == [
        f"8 items (mean difficulty {minus}2.23)",
        *(f"4 items (mean difficulty {mean})" for mean in (9.5, 13.5, 17.5)),
    ]
    assert pictures()["item-curves"].draw(held).description == "4 curves of 20 items, and 3 models at their abilities."


def test_what_a_bank_lacks_is_left_out() -> None:
    held = data()
    for one in held["bank"]["items"]:
        one |= {"infit": None, "outfit": None, "successes": None, "trials": None}
    assert [shown.name for shown in on_one_scale({**held, "observed": {}}).panels] == ["wright-map", "abilities"]
    held["bank"]["models"] = []
    assert on_one_scale({**held, "observed": {}}).panels == ()


def test_many_items_make_no_endless_table_and_one_place_makes_a_map() -> None:
    section = on_one_scale(data(models=40, items=900))
    found = tables(section)
    assert len(found["item-fit"]) == 200 and "the 200 with the worst fit of 900" in section.panels[2].table.caption  # type: ignore[union-attr]
    assert len(found["wright-map"]) <= 24 and sum(int(row[2]) for row in found["wright-map"]) == 900
    alike = data(models=1, items=1)
    alike["bank"]["models"][0]["ability"] = alike["bank"]["items"][0]["difficulty"] = 1.0
    assert tables(on_one_scale({**alike, "observed": {}}))["wright-map"] == [["1.0 to 1.5", HOSTILE, "1"]]


@pytest.mark.parametrize("size", [{}, {"width": 356}])
@pytest.mark.parametrize("kind", OF_BANKS)
def test_pictures_of_banks_stay_inside_at_both_sizes(kind: str, size: dict[str, float]) -> None:
    drawing = pictures()[kind].draw({**data(models=12), **size})
    assert drawing.width == (356 if size else 760)
    for mark in drawing.marks:
        if isinstance(mark, (Rect, Text, Circle)):
            assert -1 <= mark.x <= drawing.width + 1 and -1 <= mark.y <= drawing.height + 1, mark
        if isinstance(mark, Polyline):
            assert all(-1 <= x <= drawing.width + 1 for x, _ in mark.points)
        if isinstance(mark, Text) and not mark.turn:
            before = {"start": 0.0, "middle": 0.5, "end": 1.0}[mark.anchor] * text_width(mark.text, mark.size)
            assert mark.x - before > -8 and mark.x - before + text_width(mark.text, mark.size) < drawing.width + 24
    assert "<script" not in svg(drawing)


def test_the_page_escapes_what_a_bank_says() -> None:
    score = json.loads(SCORE.read_text(encoding="utf-8"))
    made = page(score, PageOptions(reply_length=100, scale=data()))
    assert 'id="scale"' in made and HOSTILE not in made and "<script>alert(1)" not in made
    names = re.findall(r' id="([^"]+)"', made)
    assert len(names) == len(set(names)), "pictures of two sizes have ids of their own"
    assert 'id="scale"' not in page(score, PageOptions(reply_length=100))


def test_the_command_takes_a_bank_of_its_questions_alone(
    tiny: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    bundle = str(tiny(templates=4))
    models = [word for theta in (-1, 0, 1) for word in ("--model", f"simulated:theta={theta},seed=5")]
    assert run(["run", bundle, *models, "-o", "a.run", "-q"]) == 0
    assert run(["calibrate", "a.run", "--items", "items", "-o", "bank.json", "-q"]) == 0
    capsys.readouterr()
    assert run(["report", "a.run", "--bank", "bank.json", "-o", "r.html", "--json", "-q"]) == 0
    facts = json.loads(capsys.readouterr().out)
    require_valid("report", facts)
    assert facts["bank"] == json.loads(Path("bank.json").read_text())["checksum"]
    assert 'id="scale"' in Path("r.html").read_text(encoding="utf-8")
    Path("t.csv").write_text("model,a,b\nx,0.9,0.7\ny,0.5,0.6\n")
    assert run(["calibrate", "t.csv", "--method", "jml", "-o", "other.json", "-q"]) == 0
    fewer = str(tiny("fewer", templates=4, k=2))  # items of the same names, other instances
    assert run(["run", fewer, *models, "-o", "fewer.run", "-q"]) == 0
    assert run(["calibrate", "fewer.run", "--items", "items", "-o", "fewer.json", "-q"]) == 0
    for bank in ("other.json", "fewer.json"):
        error = (
            f"the bank `{bank}` was calibrated on other questions than these runs\n  help: calibrate a bank from these"
        )
        refused_call("E895", error, capsys, "report", "a.run", "--bank", bank, "-o", "x.html")
        assert not Path("x.html").exists()
    error = "the runs and the bank share, but they share 4 items and 3 models\n  help: name all runs from which"
    refused_call("E895", error, capsys, "explain", "a.run", "--bank", "bank.json")
    assert run(["report", "a.run", "--bank", "nowhere.json", "-o", "x.html"]) == 2
    assert not Path("x.html").exists()
