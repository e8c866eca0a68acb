"""`dia score` with comparisons, labels, sizes, intervals and other wordings, from runs to what is printed."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import sqlite3
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import dia_runtime
import pytest
from dia_compiler.commands.cli import run
from dia_runtime.commands.score import with_default_figures
from dia_runtime.respondents.respondent import Reply
from helpers.failures import refusal, refused_call
from helpers.schemas import require_valid

Make = Callable[..., Path]
Capture = pytest.CaptureFixture[str]
HOSTILE = "=cmd|' /C calc'!A0\x1b[31m"


class Player:
    """Right so often in ten questions, and silent so often behind them; further attempts say the same."""

    def __init__(self, name: str, right: int, silent: int = 0, shouted: int | None = None) -> None:
        self.name = self.model = name
        self.settings: Mapping[str, Any] = {}
        self.right, self.silent, self.shouted = right, silent, right if shouted is None else shouted

    def reply(self, question: Mapping[str, Any]) -> Reply:
        template, instance = int(question["template"][4:]), question["instance"]
        place = (3 * template + 7 * instance) % 10
        right = self.right if question["variant"] is None else self.shouted
        if place < right:
            return Reply(f"<xml>{10 * template + 7 + instance + 1}</xml>")
        return Reply("<xml>I-DO-NOT-KNOW</xml>" if place < right + self.silent else "<xml>-5</xml>")


@pytest.fixture
def played(tiny: Make, tmp_path: Path) -> Callable[..., Path]:
    """A run of several players, on twelve items of three instances."""

    def play(*players: Player, attempts: int = 1, **facts: Any) -> Path:
        path = tmp_path / "played.run"
        dia_runtime.run(tiny("played", facts.pop("templates", 12), 3, **facts), list(players), path, attempts=attempts)
        return path

    return play


def three(played: Make) -> Path:
    return played(Player("good", 8), Player("shy", 5, 4), Player(HOSTILE, 5))


def asked(path: Path, *options: str, capture: Capture) -> str:
    capture.readouterr()
    assert run(["score", str(path), "-q", "--resamples", "400", *options]) == 0
    return capture.readouterr().out


def kept(text: str) -> Any:
    value = json.loads(text)
    require_valid("score", value)
    return value


def labels(tmp_path: Path) -> Path:
    path = tmp_path / "models.yaml"
    path.write_text(f'good: {{company: one}}\n"*": {{"=x": "{HOSTILE[:-5]}\\e[31m"}}\nshy: {{company: two}}\n', "utf-8")
    return path


def test_everything_at_once_keeps_the_schema(played: Make, tmp_path: Path, capsys: Capture) -> None:
    options = ("--compare", "--compare", "conf,idk_score", "--labels", str(labels(tmp_path)), "--difference", "0.1")
    found = kept(asked(three(played), *options, "--json", capture=capsys))
    pairs = {(entry["figure"], *entry["at"]) for entry in found["comparisons"]}
    assert pairs == {
        (name, *at) for name in ("trad_score", "rs", "conf", "idk_score") for at in ((0, 1), (0, 2), (1, 2))
    }
    for entry in found["comparisons"]:
        values = [found["models"][at][entry["figure"]]["value"] for at in entry["at"]]
        assert entry["values"] == pytest.approx(values) and entry["questions"] == 36
        assert entry["difference"]["value"] == pytest.approx(values[0] - values[1]) and entry["p"] <= entry["p_holm"]
    assert len(found["rank_changes"]) == 6 and len(found["skip_agreement"]) == 3
    assert [model["labels"].get("company") for model in found["models"]] == ["one", "two", None]
    by = found["by_respondent"]["company"]
    assert by["questions"] == 36 and by["items"] == found["n"]
    assert [group["models"] for group in by["groups"]] == [[HOSTILE], ["good"], ["shy"]]
    assert found["power"]["difference"] == 0.1 and len(found["power"]["pairs"]) == 6
    assert found["interval"] == {"method": "bca", "resamples": 400, "seed": 0, "level": 0.95}


def test_nothing_is_compared_unasked(played: Make, capsys: Capture) -> None:
    found = kept(asked(three(played), "--json", capture=capsys))
    names = ("comparisons", "rank_changes", "skip_agreement", "by_respondent", "power")
    assert [found[name] for name in names] == [[], [], [], {}, None]
    assert found["models"][0]["labels"] == {} and found["models"][0]["variants"] == {}
    for model in found["models"]:
        blocks = [model, *(block for label in ("category", "domain") for block in model[f"by_{label}"].values())]
        for block in blocks:
            for name in ("rs", "conf", "trad_score", "idk_score", "idk_freq", "pass_at_k"):
                figure = block[name]
                assert figure["ci"] is None or figure["ci"][0] <= figure["value"] <= figure["ci"][1]
                assert figure["ci"] or figure["se"] is None, (name, figure)


def test_terminals_and_spreadsheets_see_text(played: Make, tmp_path: Path, capsys: Capture) -> None:
    path, options = three(played), ("--compare", "--labels", str(labels(tmp_path)), "--power", "--show", "selective")
    more = ("--show", "mistakes", "--by", "=x", "--by", "template")
    for form in ("text", "csv", "markdown", "latex"):
        text = asked(path, *options, *more, "--format", form, capture=capsys)
        assert "\x1b" not in text and "x1b[31m" in text.replace(r"\textbackslash{}", "\\")
    text = asked(path, *options, *more, "--format", "csv", capture=capsys)
    tables = [list(csv.reader(io.StringIO(part))) for part in text.split("\n\n")]
    assert len(tables) >= 8 and all(len({len(row) for row in table}) == 1 for table in tables)
    cells = [cell for table in tables for row in table for cell in row]
    assert not [cell for cell in cells if cell.startswith(("=", "@", "+"))]
    assert f"'{HOSTILE[:-5]}\\x1b[31m" in cells and "'=x" in cells


def test_the_tables_say_what_json_says(played: Make, tmp_path: Path, capsys: Capture) -> None:
    path = three(played)
    found = kept(asked(path, "--compare", "trad_score", "--json", capture=capsys))
    text = asked(path, "--compare", "trad_score", "--tables", "all", capture=capsys)
    entry, line = (
        found["comparisons"][0],
        next(line for line in text.splitlines() if line.startswith("correct %  good   shy")),
    )
    ends = ", ".join(f"{100 * end:.1f}" for end in entry["difference"]["ci"])
    shown = f"{100 * entry['difference']['value']:.2f} +- {100 * entry['difference']['se']:.2f} [{ends}]"
    assert shown in line and line.split()[-1] == f"{100 * entry['order']:.1f}"
    (table, *_) = asked(path, "--compare", "trad_score", "--format", "csv", capture=capsys).split("\n\n")
    row = next(csv.DictReader(io.StringIO(table)))
    model = next(model for model in found["models"] if model["model"] == row["model"])
    low, high = model["trad_score"]["ci"]
    assert (row["correct % low"], row["correct % high"]) == (f"{100 * low:.1f}", f"{100 * high:.1f}")


def test_the_option_stands_alone_or_before_a_figure() -> None:
    usual = ["--compare", "trad_score,rs"]
    assert with_default_figures(["a.run", "--compare"]) == ["a.run", *usual]
    assert with_default_figures(["--compare", "a.run"]) == [*usual, "a.run"]
    assert with_default_figures(["--compare", "--json", "--compare", "conf"]) == [*usual, "--json", "--compare", "conf"]
    assert with_default_figures(["--compare=conf,rs"]) == ["--compare=conf,rs"]


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("--compare", "conf,best", "`compare` cannot be `best`; choose from rs, conf, "),
        ("--compare", "trad_scor", "`trad_scor` is neither a figure nor a run\n  help: did you mean `trad_score`?"),
        ("--compare", "b.rnu", "`b.rnu` is neither a figure nor a run\n  help: the figures are rs, conf, "),
        ("--resamples", "5", "`resamples` must be between 100 and 1,000,000, not 5\n"),
        ("--resamples", "2000000", "not 2,000,000\n  help: 10,000 is usually enough"),
        ("--seed", "-1", "`seed` must be between 0 and 2**63 - 1, not -1"),
        ("--difference", "5", "`difference` must be above 0 and at most 2 (scores range from -1 to 1), not 5.0\n"),
        ("--difference", "nan", "not nan\n  help: for example, 0.05 is a difference of five percentage points"),
        ("--by", "company", "help: to group by labels of models, add `--labels FILE` with the file that defines them"),
        ("--labels", "nowhere.yaml", "no file `nowhere.yaml`"),
    ],
)
def test_what_cannot_be_computed_is_refused(played: Make, option: str, value: str, words: str, capsys: Capture) -> None:
    path = played(Player("good", 8), templates=1)
    code = "E101" if option == "--labels" else "E801" if "nor a run" in words else "E811"
    refused_call(code, words, capsys, "score", path, option, value)


def test_too_many_models_are_refused_before_they_are_read(played: Make) -> None:
    path = played(*(Player(f"model {at}", 5) for at in range(51)), templates=1)
    error = "51 models are too many for comparisons in pairs\n  help: choose runs with at most 50 models in total"
    refusal("E811", error, lambda: dia_runtime.score(path, compare=["rs"]))
    assert len(dia_runtime.score(path, interval="none")["models"]) == 51


def test_intervals_can_be_left_out_or_seeded(played: Make) -> None:
    path = three(played)
    none = dia_runtime.score(path, interval="none", compare=["rs"])
    assert none["models"][0]["rs"]["ci"] is None and none["models"][0]["rs"]["se"] > 0
    assert none["comparisons"][0]["difference"]["ci"] is None and none["comparisons"][0]["order"] is None
    same, other = (dia_runtime.score(path, seed=5, resamples=2_000), dia_runtime.score(path, seed=6, resamples=2_000))
    assert same == dia_runtime.score(path, seed=5, resamples=2_000)
    assert same["models"] != other["models"]
    assert same["models"][0]["rs"]["se"] == other["models"][0]["rs"]["se"]


def test_other_wordings_have_a_paired_effect(played: Make, capsys: Capture) -> None:
    path = played(Player("easy to shake", 8, shouted=4), Player("firm", 8), variants=[None, "shouted"])
    found = kept(asked(path, "--json", capture=capsys))
    shaken, firm = (model["variants"]["shouted"]["figures"]["trad_score"] for model in found["models"])
    blocks = (
        found["models"][0]["trad_score"]["value"],
        found["models"][0]["by_variant"]["shouted"]["trad_score"]["value"],
    )
    assert (shaken["base"], shaken["variant"]) == blocks
    assert shaken["difference"]["value"] == pytest.approx(blocks[1] - blocks[0])
    assert shaken["difference"]["ci"][1] < 0 and shaken["p"] < 0.01
    reach = 1 - 0.025 ** (1 / 12)  # of twelve items without any effect
    assert firm["difference"] == {"value": 0.0, "se": 0.0, "ci": [pytest.approx(-reach), pytest.approx(reach)]}
    assert firm["p"] == 1.0
    assert "Other wordings of the same instances" in asked(path, capture=capsys)


def test_over_attempts_questions_are_the_items(played: Make) -> None:
    path = played(Player("good", 8), Player("shy", 5, 4), attempts=2, variants=[None, "shouted"])
    found = dia_runtime.score(path, over="attempts", compare=["trad_score"], power=True)
    kept(json.dumps(found))
    (entry,) = found["comparisons"]
    assert (entry["items"], entry["questions"]) == (36, 72)
    assert found["models"][0]["selective"]["signal"] == "agreement"
    # Every attempt says the same, and so agrees with the other one.
    assert [point["confidence"] for point in found["models"][1]["selective"]["curve"]] == [1.0]
    assert found["models"][0]["variants"]["shouted"]["items"] == 36
    assert found["power"]["models"][0]["within"] == 0 and found["power"]["models"][0]["items"] == 36


def test_names_that_two_runs_have_are_told_apart(tiny: Make, tmp_path: Path) -> None:
    bundle = tiny(templates=4)
    for name, right in (("a", 3), ("b", 8)):
        dia_runtime.run(bundle, [Player("same", right)], tmp_path / f"{name}.run")
    found = dia_runtime.score([tmp_path / "a.run", tmp_path / "b.run"], compare=["rs"])
    assert found["comparisons"][0]["models"] == ["same (a.run)", "same (b.run)"]


def test_a_run_in_which_nobody_was_asked_compares_nothing(tiny: Make, tmp_path: Path) -> None:
    path = tmp_path / "empty.run"
    dia_runtime.run(tiny(), [Player("late", 5)], path, limit=1)
    with sqlite3.connect(path) as connection:
        connection.execute("DELETE FROM reply")
    connection.close()
    found = dia_runtime.score(path, compare=["rs"], power=True, labels=labels(tmp_path))
    kept(json.dumps(found))
    assert (found["comparisons"], found["models"][0]["n"], found["models"][0]["selective"]["curve"]) == ([], 0, [])
    assert {group["value"]: group["figures"] for group in found["by_respondent"]["company"]["groups"]} == {"none": {}}


def test_a_file_of_defaults_names_the_labels(played: Make, tmp_path: Path, capsys: Capture) -> None:
    path = three(played)
    labels(tmp_path)
    with contextlib.chdir(tmp_path):
        Path("dia.toml").write_text('[score]\nlabels = "models.yaml"\ncompare = ["conf"]\n', encoding="utf-8")
        found = kept(asked(path, "--json", capture=capsys))
    assert list(found["by_respondent"]) == ["company", "=x"]
    assert {entry["figure"] for entry in found["comparisons"]} == {"conf"}
