"""`dia calibrate` and what works on its banks, by the command line."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import dia_runtime
import numpy as np
import pytest
from dia_compiler.commands.cli import run
from dia_language.diagnostics import DiaError
from dia_runtime.psychometrics.rasch.bank import read_bank, write_bank
from dia_runtime.respondents.respondent import Reply
from helpers.places import SHARED
from helpers.schemas import faults

DATA = SHARED / "data"
PAPER = DATA / "self_execution" / "rasch_table1.json"
Call = Callable[..., tuple[int, str, str]]
SCORES = "model,a,b,c,d\nx,1,1,0,0.5\ny,1,0,,1\nz,0,1,1,0\nw,0,0,1,0\n"


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    """Runs a command in an empty folder; gives exit code and both outputs."""
    monkeypatch.chdir(tmp_path)

    def called(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = run(list(arguments))
        return code, *capsys.readouterr()

    return called


def counts(seed: int = 7, models: int = 8, items: int = 40) -> str:
    """A table of counts of the Rasch model."""
    generator = np.random.default_rng(seed)
    chances = 1 / (1 + np.exp(generator.normal(0, 1.2, items) - generator.normal(size=models)[:, None]))
    cells = generator.binomial(4, chances)
    rows = [",".join(["model", *(f"i{at}" for at in range(items))])]
    rows += [",".join([f"m{at}", *(f"{cell}/4" for cell in row)]) for at, row in enumerate(cells.tolist())]
    return "\n".join(rows) + "\n"


def test_a_table_gives_a_bank_and_the_promised_keys(call: Call) -> None:
    Path("t.csv").write_text(counts(), encoding="utf-8")
    code, out, err = call("calibrate", "t.csv", "-o", "bank.json", "--json", "--check", "all", "--draws", "3")
    held = json.loads(out)
    assert code == 0 and faults("calibrate", held) == []
    assert {"abilities", "difficulties", "log_likelihood", "iterations", "gauge", "method"} <= held.keys()
    assert {"name", "value", "se"} <= held["abilities"][0].keys() and held["method"] == "mml_items"
    assert held["residual"] < 1e-9 and "wrote the bank to bank.json" in err
    bank = json.loads(Path("bank.json").read_text(encoding="utf-8"))
    assert faults("bank", bank) == []
    assert [entry["item"] for entry in bank["items"]] == [f"i{at}" for at in range(40)]
    assert read_bank("bank.json").items[3].difficulty == round(held["difficulties"][3]["value"], 9)
    assert held["fit"]["andersen"]["df"] == 7 and len(held["stability"]["models"]["left_out"]) == 8


@pytest.mark.parametrize("method", ["mml-items", "mml-persons", "cml", "jml"])
def test_every_method_and_form_prints(call: Call, method: str) -> None:
    Path("t.csv").write_text(counts(), encoding="utf-8")
    for form in ("text", "csv", "markdown", "latex"):
        code, out, _ = call("calibrate", "t.csv", "-o", "bank.json", "--method", method, "--format", form, "--all")
        assert code == 0 and "m3" in out and "i39" in out
    assert read_bank("bank.json").method == method.replace("-", "_")


def test_shares_are_calibrated_jointly_unless_told(call: Call) -> None:
    Path("t.csv").write_text(SCORES, encoding="utf-8")
    code, out, err = call("calibrate", "t.csv", "--json")
    assert code == 0 and json.loads(out)["method"] == "jml" and "shares of an unknown number" in err
    assert Path("build/banks/t.json").is_file()


def test_packed_tables_and_parquet_are_read_alike(call: Call) -> None:
    import zstandard

    text = SCORES.encode()
    Path("t.csv").write_bytes(text)
    Path("t.csv.gz").write_bytes(gzip.compress(text))
    Path("t.csv.zst").write_bytes(zstandard.compress(text))
    names = ["t.csv", "t.csv.gz", "t.csv.zst"]
    parquet = pytest.importorskip("pyarrow.parquet")
    pyarrow = pytest.importorskip("pyarrow")
    columns = {"model": ["x", "y", "z", "w"], "a": [1, 1, 0, 0], "b": [1, 0, 1, 0], "c": [0, None, 1, 1],
               "d": [0.5, 1.0, 0.0, 0.0]}  # fmt: skip
    parquet.write_table(pyarrow.table(columns), "t.parquet")
    found = [call("calibrate", name, "--json", "-o", "b.json")[1] for name in (*names, "t.parquet")]
    assert len(set(found)) == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("model,a,b\nx,1,0\ny,,\n", "error[E891]: `y` has no replies"),
        ("model,a,b\nx,1,0\ny,2,0\n", "t.csv:3:1: error[E891]: `2` in the column `a` is not a score"),
        ("model,a,b\nx,1,0\ny,7/5,0\n", "t.csv:3:1: error[E891]: `7/5` in the column `a` is not a score"),
        ("model,a,b\nx,1,0\ny,one,0\n", "`one` in the column `a` is not a score"),
        ("model,a,b\nx,1,0\ny,1\n", "the row has 2 cells, but the header has 3 columns"),
        ("model,a,a\nx,1,0\ny,1,0\n", "two columns are named `a`"),
        ("model,a,b\nx,1,0\nx,1,0\n", "two rows are named `x`"),
        ("model,a,b\nx,1,1\ny,1,1\n", "only correct or only wrong"),
        ("model\nx\n", "fewer than two columns"),
        ("", "fewer than two columns"),
        ("model,a,b,c,d\nx,1,0,,\ny,0,1,,\nz,,,1,0\nw,,,0,1\n", "error[E892]: the data fall into unconnected blocks"),
    ],
)
def test_bad_tables_are_told_and_nothing_is_written(call: Call, text: str, said: str) -> None:
    Path("t.csv").write_text(text, encoding="utf-8")
    code, out, err = call("calibrate", "t.csv", "-o", "bank.json")
    assert code == 2 and out == "" and said in err and "Traceback" not in err
    assert not Path("bank.json").exists() and not list(Path().glob(".bank*"))


def test_the_largest_block_is_kept_when_asked(call: Call) -> None:
    Path("t.csv").write_text("model,a,b,c,d\nx,1,0,,\ny,0,1,,\nv,1,0,,\nz,,,1,0\nw,,,0,1\n", encoding="utf-8")
    code, out, _ = call("calibrate", "t.csv", "-o", "bank.json", "--json", "--largest-block")
    held = json.loads(out)
    assert code == 0 and faults("calibrate", held) == []
    assert {entry["name"] for entry in held["left_out"]} == {"z", "w", "c", "d"}
    assert [entry.item for entry in read_bank("bank.json").items] == ["a", "b"]


def test_names_of_strangers_are_shown_harmlessly(call: Call) -> None:
    Path("t.csv").write_text('model,"=1+1",b\n"\x1b[31mred",1,0\n"@x",0,1\ny,1,0\n', encoding="utf-8")
    _, out, _ = call("calibrate", "t.csv", "-o", "bank.json")
    assert "\x1b" not in out and "\\x1b[31mred" in out
    _, out, _ = call("calibrate", "t.csv", "-o", "bank.json", "--format", "csv")
    assert "'=1+1" in out and "'@x" in out


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text: text.replace('"difficulty": -', '"difficulty": '), "checksum"),
        (lambda text: text.replace('"version": 1', '"version": 2'), "version 2"),
        (lambda text: text[: len(text) // 2], "not JSON"),
        (lambda text: "{}", "not a bank"),
        (lambda text: "[" * 100_000, "not JSON"),
    ],
)
def test_a_bank_that_is_damaged_or_of_another_version_is_refused(call: Call, change: Any, said: str) -> None:
    Path("t.csv").write_text(counts(), encoding="utf-8")
    call("calibrate", "t.csv", "-o", "bank.json")
    text = Path("bank.json").read_text(encoding="utf-8")
    Path("bank.json").write_text(change(text), encoding="utf-8")
    code, out, err = call("calibrate", "t.csv", "--anchors", "bank.json", "-o", "new.json")
    assert code == 3 and out == "" and said in err and "error[E894]" in err and not Path("new.json").exists()
    assert call("link", "bank.json", "bank.json")[0] == 3


def test_a_bank_survives_being_written_and_read(call: Call) -> None:
    Path("t.csv").write_text(counts(), encoding="utf-8")
    call("calibrate", "t.csv", "-o", "bank.json")
    bank = read_bank("bank.json")
    write_bank(bank, "again.json")
    assert Path("again.json").read_bytes() == Path("bank.json").read_bytes() and read_bank("again.json") == bank
    with pytest.raises(DiaError) as told:
        read_bank("nowhere.json")
    assert told.value.exit_code == 2
    code, _, err = call("calibrate", "t.csv", "-o", ".")
    assert code == 2 and "it is a folder" in err


def test_anchors_put_new_models_on_the_old_scale_and_banks_link(call: Call) -> None:
    Path("t.csv").write_text(counts(1), encoding="utf-8")
    Path("u.csv").write_text(counts(1), encoding="utf-8")
    call("calibrate", "t.csv", "-o", "one.json", "--gauge", "mean-ability")
    code, out, _ = call("calibrate", "u.csv", "--anchors", "one.json", "-o", "two.json", "--json")
    held = json.loads(out)
    assert (
        code == 0 and held["gauge"] == "anchors" and {entry["status"] for entry in held["difficulties"]} == {"anchor"}
    )
    call("calibrate", "u.csv", "-o", "three.json")
    code, out, err = call("link", "one.json", "three.json", "-o", "moved.json", "--json")
    link = json.loads(out)
    first, third = read_bank("one.json"), read_bank("three.json")
    gap = first.items[0].difficulty - third.items[0].difficulty
    assert code == 0 and faults("link", link) == [] and link["shift"] == pytest.approx(gap, abs=1e-9)
    assert read_bank("moved.json").items[5].difficulty == pytest.approx(first.items[5].difficulty, abs=1e-9)
    assert "on the scale of" in err


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["link", "one.json", "two.json"], "E895", "but the banks share 0 such items\n  help: name banks that were"),
        (
            ["calibrate", "t.csv", "--anchors", "two.json"],
            "E895",
            "has none of these items\n  help: name a bank of these",
        ),
        (
            ["calibrate", "sure.csv", "--preset", "paper"],
            "E893",
            "or only wrong replies\n  help: remove them from the data",
        ),
        (
            ["explain", "t.csv", "--bank", "one.json"],
            "E893",
            "which has no parameters\n  help: calibrate the bank from",
        ),
    ],
)
def test_data_that_do_not_fit_are_refused(call: Call, arguments: list[str], code: str, words: str) -> None:
    Path("t.csv").write_text("model,a,b,c\nx,1,0,1\ny,0,1,0\nz,1,0,0\n", encoding="utf-8")
    Path("sure.csv").write_text("model,d,e,f\nx,1,1,1\ny,0,1,0\nz,1,0,0\n", encoding="utf-8")
    assert call("calibrate", "t.csv", "-o", "one.json")[0] == call("calibrate", "sure.csv", "-o", "two.json")[0] == 0
    exit_code, out, err = call(*arguments, "-o", "new")
    assert (exit_code, out) == (2, "") and f"error[{code}]: " in err and words in err, err
    assert not Path("new").exists()


class Cut:
    """Right in every other question; the first replies reach the token limit."""

    name = model = "cut"
    settings: Mapping[str, Any] = {}

    def __init__(self, cut: int) -> None:
        self.cut = cut

    def reply(self, question: Mapping[str, Any]) -> Reply:
        instance = question["instance"]
        text = f"<xml>{10 * int(question['template'][4:]) + 7 + instance + 1 + instance % 2}</xml>"
        return Reply(text, finish_reason="length" if instance < self.cut else "stop")


@pytest.mark.parametrize(
    ("cut", "note"), [(0, ""), (1, "note: 1 reply was truncated; "), (3, "note: 3 replies were truncated; ")]
)
def test_how_many_replies_were_truncated_is_said(call: Call, tiny: Callable[..., Path], cut: int, note: str) -> None:
    bundle = tiny(templates=1, k=20)
    dia_runtime.run(bundle, [Cut(cut), "simulated:theta=0", "simulated:theta=1"], "a.run")
    for command in (["calibrate", "-o", "bank.json", "--check", "none"], ["explain", "--bank", "bank.json"]):
        code, _, err = call(command[0], "a.run", *command[1:])
        assert code == 0 and note in err and ("truncated" in err) == bool(note), err
        if cut > 1:
            code, _, err = call("-q", command[0], "a.run", *command[1:])
            assert code == 0 and "truncated" not in err


def test_banks_of_other_questions_link_by_name_and_say_so(call: Call) -> None:
    Path("t.csv").write_text(counts(), encoding="utf-8")
    call("calibrate", "t.csv", "-o", "bank.json")
    bank = replace(read_bank("bank.json"), unit="items", questions_root="aa")
    for name, other in (("one", bank), ("same", bank), ("two", replace(bank, questions_root="bb"))):
        write_bank(other, f"{name}.json")
    assert "different questions" not in call("link", "one.json", "same.json")[2]
    code, _, err = call("link", "one.json", "two.json")
    assert code == 0 and "the banks are about different questions" in err


@pytest.mark.parametrize(("factor", "is_narrow"), [(1, ""), (0.6, ""), (0.01, "two"), (0, "two"), (100, "one")])
def test_a_bank_without_spread_does_not_link_reliably(call: Call, factor: float, is_narrow: str) -> None:
    Path("t.csv").write_text(counts(), encoding="utf-8")
    call("calibrate", "t.csv", "-o", "one.json")
    bank = read_bank("one.json")
    items = tuple(replace(entry, difficulty=factor * entry.difficulty) for entry in bank.items)
    write_bank(replace(bank, items=items), "two.json")
    code, out, err = call("link", "one.json", "two.json", "--json", "--drift", "100")
    link = json.loads(out)
    assert code == 0 and faults("link", link) == []
    assert link["slope"] == (pytest.approx(1 / factor) if factor else None)
    assert ("warning: the banks cannot be linked reliably" in err) == bool(is_narrow)
    assert not is_narrow or f"in {is_narrow}.json (p < 0.001)" in err


def test_an_item_that_drifted_is_told_and_does_not_link(call: Call) -> None:
    Path("t.csv").write_text(counts(1, 30), encoding="utf-8")
    rows = [line.split(",") for line in counts(1, 30).splitlines()]
    easiest = max(range(1, 41), key=lambda at: sum(int(row[at][0]) for row in rows[1:]))
    for row in rows[1:]:
        row[easiest] = f"{4 - int(row[easiest][0])}/4"
    Path("u.csv").write_text("\n".join(map(",".join, rows)) + "\n", encoding="utf-8")
    call("calibrate", "t.csv", "-o", "one.json")
    call("calibrate", "u.csv", "-o", "two.json")
    _, out, _ = call("link", "one.json", "two.json", "--json")
    link = json.loads(out)
    worst = link["items"][0]
    assert worst["item"] == f"i{easiest - 1}" and worst["links"] is False and abs(link["shift"]) < 0.2


def test_the_note_on_extremes_names_what_decides_where_they_are(call: Call) -> None:
    Path("t.csv").write_text("model,a,b,c,d,e\nx,1/1,0/1,1/1,0/1,1/1\ny,1/1,1/1,0/1,0/1,0/1\nz,1/1,0/1,1/1,0/1,0/1\n")
    note = "2 items with only correct or only wrong replies: placed on the scale"
    cml = ("calibrate", "t.csv", "--method", "cml", "-o", "bank.json")
    assert f"{note} like all others, by `--item-scores eap`" in call(*cml)[2]
    kept = Path("bank.json").read_bytes()
    call(*cml, "--extreme-adjust", "0.1")
    assert Path("bank.json").read_bytes() == kept
    assert f"{note} by `--extreme-adjust`" in call(*cml, "--item-scores", "mle")[2]
    kept = Path("bank.json").read_bytes()
    call(*cml, "--item-scores", "mle", "--extreme-adjust", "0.1")
    assert Path("bank.json").read_bytes() != kept
    assert "2 items with only correct or only wrong replies: left out (`--extreme drop`)" in call(
        *cml, "--extreme", "drop"
    )[2]  # fmt: skip
    assert {entry.item for entry in read_bank(Path("bank.json")).items} == {"b", "c", "e"}


def test_filters_keep_items_and_are_remembered(call: Call) -> None:
    Path("t.csv").write_text(counts(), encoding="utf-8")
    code, out, _ = call("calibrate", "t.csv", "-o", "b.json", "--filter", "avg:0.3,0.7", "--json")
    kept = [entry["name"] for entry in json.loads(out)["difficulties"]]
    rows = [line.split(",")[1:] for line in counts().splitlines()]
    shares = {name: sum(int(row[at][0]) for row in rows[1:]) / 32 for at, name in enumerate(rows[0])}
    assert code == 0 and kept == [name for name, share in shares.items() if 0.3 <= share <= 0.7]
    assert read_bank("b.json").filter == "avg:0.3,0.7"
    code, out, _ = call("calibrate", "t.csv", "-o", "b.json", "--choose-filter", "--json")
    choice = json.loads(out)["choice"]
    assert code == 0 and faults("calibrate", json.loads(out)) == [] and len(choice["categories"]["all"]) == 15
    best = {entry["rule"] for entry in choice["categories"]["all"] if entry["pareto"]}
    assert (choice["chosen"] in best) if best else choice["chosen"] is None
    screen = call("calibrate", "t.csv", "-o", "b.json", "--choose-filter")[1].partition("Filters; chosen")[2]
    assert "\nadmitted: gain is above 0, and infit ok at least 0.9.\n" in screen
    assert all(f"\n{heading}: " in screen for heading in ("kept", "gain", "infit ok", "budget SE", "frontier"))
    for entry in choice["categories"]["all"]:
        assert entry["admitted"] == ((entry["gain"] or 0) > 0 and entry["infit_share"] >= 0.9)
    for rule, words in (
        ("avg:0.9,0.1", "`avg:0.9,0.1` is not a filter\n  help: write `avg:0.05,0.95`, with the lower bound first"),
        (
            "atlass",
            "`atlass` is not a filter; choose from avg, atlas, difficulty, infit\n  help: did you mean `atlas`?",
        ),
        ("avg:0.99,1", "the filter `avg:0.99,1` keeps 0 of 40 items\n  help: use wider bounds"),
    ):
        code, _, err = call("calibrate", "t.csv", "--filter", rule)
        assert code == 2 and f"error[E893]: {words}" in err


def test_families_show_items_that_are_harder_for_one(call: Call) -> None:
    rows = [line.split(",") for line in counts(3, 16, 30).splitlines()]
    for number, row in enumerate(rows[1:]):
        row[1] = "0/4" if number < 8 else "4/4"
    Path("t.csv").write_text("\n".join(map(",".join, rows)) + "\n", encoding="utf-8")
    labels = "".join(f"m{at}: {{family: {'left' if at < 8 else 'right'}}}\n" for at in range(16))
    Path("models.yaml").write_text(labels, encoding="utf-8")
    code, out, _ = call(
        "calibrate",
        "t.csv",
        "-o",
        "b.json",
        "--labels",
        "models.yaml",
        "--json",
        "--check",
        "stability",
        "--draws",
        "1",
    )
    held = json.loads(out)
    worst = held["differences"][0]
    assert code == 0 and faults("calibrate", held) == [] and worst["item"] == "i0" and worst["adjusted"] < 0.01
    assert {entry["name"] for entry in held["stability"]["families"]["left_out"]} == {"left", "right"}
    code, _, err = call("calibrate", "t.csv", "-o", "b.json", "--labels", "models.yaml", "--family", "size")
    error = "error[E893]: the label `size` does not divide these models into two or more families\n  help: labels in"
    assert code == 2 and error in err


@pytest.mark.skipif(not PAPER.is_file(), reason="the table of the Self-Execution paper lies beside the project")
def test_the_preset_gives_every_value_of_table_1(call: Call) -> None:
    held = json.loads(PAPER.read_text(encoding="utf-8"))
    lines = [",".join(["model", *held["benchmarks"]])]
    for name, row in zip(held["models"], held["observed"], strict=True):
        lines.append(",".join([name, *("" if cell is None else str(cell) for cell in row)]))
    Path("t.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    code, out, _ = call("calibrate", "t.csv", "--preset", "paper", "-o", "b.json", "--json")
    found = json.loads(out)
    assert code == 0 and faults("calibrate", found) == [] and found["iterations"] == 59
    printed = {"abilities": held["table1"]["theta"], "difficulties": held["table1"]["delta"]}
    for key, values in printed.items():
        assert [round(entry["value"], 6) for entry in found[key]] == values
        exact = held["exact_mean_delta_zero"]["theta" if key == "abilities" else "delta"]
        assert [entry["value"] for entry in found["exact"][key]] == pytest.approx(exact, abs=1e-9)
    assert found["log_likelihood"] == pytest.approx(-47.8782501022, abs=1e-9) and read_bank("b.json").gauge == "none"
    _, out, _ = call("calibrate", "t.csv", "-o", "b.json", "--json")
    assert json.loads(out)["log_likelihood"] == pytest.approx(-held["exact_mean_delta_zero"]["nll"], abs=1e-9)


TEMPLATE = """template: add
title: A long sum
skills: [addition]
params:
  n: {type: integer, min: 1, max: 40}
  a: {type: integer, min: 100, max: 999}
answer: {value: "n * a", type: integer}
prompt: A list has length {{ n }}, and every element is {{ a }}. What is the sum of the list?
"""


@pytest.mark.long
def test_runs_of_known_respondents_from_bundle_to_pictures(call: Call) -> None:
    """Difficulty grows by 0.1 a summand: the bank finds the items, and the explanation the cause."""
    Path("sums").mkdir()
    Path("sums/benchmark.yaml").write_text("language: 1\nbenchmark: sums\nversion: 1.0.0\n", encoding="utf-8")
    Path("sums/add.yaml").write_text(TEMPLATE, encoding="utf-8")
    assert call("compile", "sums", "--k", "120")[0] == 0
    with Path("build/sums-1.0.0-k120/answers.jsonl").open(encoding="utf-8") as file:
        answers = [json.loads(line) for line in file]
    truth = {entry["id"]: round(0.1 * (entry["parameters"]["n"] - 20), 3) for entry in answers}
    items = [{"item": name, "difficulty": value} for name, value in truth.items()]
    Path("true.json").write_text(json.dumps({"items": items}), encoding="utf-8")
    runs = []
    for number, theta in enumerate(("-1.6", "-1.1", "-0.7", "-0.3", "0", "0.3", "0.7", "1.1", "1.6")):
        runs.append(f"{number}.run")
        respondent = f"simulated:theta={theta},bank=true.json,seed={number}"
        assert call("run", "build/sums-1.0.0-k120", "--model", respondent, "-o", runs[-1], "-q")[0] == 0
    assert call("calibrate", *runs, "-o", "bank.json", "--check", "none")[0] == 0
    bank = read_bank("bank.json")
    assert (
        np.corrcoef([entry.difficulty for entry in bank.items], [truth[entry.item] for entry in bank.items])[0, 1] > 0.8
    )
    assert bank.unit == "instances" and bank.benchmark == "sums" and bank.items[0].skills == ("addition",)
    code, out, _ = call("explain", *runs, "--bank", "bank.json", "--json")
    told = json.loads(out)
    assert code == 0 and faults("explain", told) == []
    screen = call("explain", *runs, "--bank", "bank.json")[1]
    assert "\nshared SE: standard error of a shift" in screen and "The gain is not above 0" not in screen
    effect = next(entry for entry in told["effects"] if entry["name"] == "add.n")
    assert abs(effect["value"] / effect["unit"] - 0.1) < 3 * effect["se"] / effect["unit"]
    other = next(entry for entry in told["effects"] if entry["name"] == "add.a")
    assert abs(other["value"]) < 3.5 * other["se"] and told["explained"] > 0.8
    assert told["held_out"]["rmse"] < told["held_out"]["rmse_without"] and told["held_out"]["log_likelihood_gain"] > 20
    from dia_runtime.psychometrics.explain import explain
    from dia_runtime.psychometrics.panel import read_panel

    model = explain(read_panel([Path(name) for name in runs]), bank)
    easy, hard = model.predict({"n": 2, "a": 500}), model.predict({"n": 39, "a": 500}, ["addition"], "add")
    assert 2.7 < hard[0] - easy[0] < 4.7 and 0.05 < hard[1] < 1
    simulated = call("run", "build/sums-1.0.0-k120", "--model", "simulated:theta=0,bank=bank.json", "-o", "n.run", "-q")
    assert simulated[0] == 0  # a bank is what simulated respondents read
    for kind in ("wright-map", "abilities", "item-fit"):
        assert call("plot", kind, "bank.json", "-o", f"{kind}.svg")[0] == 0
    assert call("plot", "item-curves", *runs, "--bank", "bank.json", "-o", "c.svg")[0] == 0
    assert all("<svg" in Path(name).read_text(encoding="utf-8") for name in ("wright-map.svg", "c.svg"))
    code, out, _ = call("overlap", "build/sums-1.0.0-k120", "build/sums-1.0.0-k120", "--bank", "bank.json", "--json")
    assert code == 1 and faults("overlap", json.loads(out)) == [] and json.loads(out)["exact"] == 120
    Path("other.txt").write_text("Nothing of the kind.\n", encoding="utf-8")
    assert call("overlap", "build/sums-1.0.0-k120", "other.txt")[0] == 0


@pytest.mark.skipif(not (DATA / "idk").is_dir(), reason="the recorded replies lie beside the project")
def test_the_recorded_matrix_of_gpqa_calibrates(call: Call) -> None:
    runs = []
    for path in sorted((DATA / "idk").glob("gpqa__*.gz")):
        model = re.sub(r"gpqa__|\.jsonl\.gz", "", path.name)
        fields = ("--field", "id=sample_id", "--field", "gold=gold", "--field", "reply=response")
        more = ("--letters", "A-E", "--skip", "E", "--model", model, "-o", f"{model}.run", "-q")
        assert call("import", str(path), "--from", "jsonl", *fields, *more)[0] == 0
        runs.append(f"{model}.run")
    code, out, _ = call("calibrate", *runs, "--chain", "compat", "-o", "b.json", "--json")
    held = json.loads(out)
    ranked = sorted(held["abilities"], key=lambda entry: -entry["value"])
    shares = [entry["successes"] for entry in ranked]
    assert code == 0 and len(held["difficulties"]) == 198 and shares == sorted(shares, reverse=True)
    assert all(0.5 < entry["infit"] < 1.5 for entry in ranked)
    assert call("plot", "wright-map", "b.json", "-o", "w.svg")[0] == 0


def test_banks_of_tables_are_drawn_with_names_as_text(call: Call) -> None:
    from xml.etree import ElementTree

    text = counts(2).replace("m0,", '"<script>alert(1)</script>",')
    Path("t.csv").write_text(text, encoding="utf-8")
    call("calibrate", "t.csv", "-o", "bank.json")
    for kind in ("wright-map", "abilities", "item-fit"):
        assert call("plot", kind, "bank.json", "-o", f"{kind}.svg")[0] == 0
    assert call("plot", "item-curves", "t.csv", "--bank", "bank.json", "-o", "item-curves.svg")[0] == 0
    code, _, err = call("plot", "item-curves", "t.csv", "-o", "c.svg")
    assert code == 2 and "error[E872]: the plot item-curves needs a bank\n  help: name it with `--bank FILE`" in err
    one = ("plot", "item-curves", "t.csv", "--bank", "bank.json", "-o", "one.svg", "--item")
    assert call(*one, "i3")[0] == 0 and "1 curve of 1 item" in Path("one.svg").read_text(encoding="utf-8")
    code, _, err = call(*one, "i3x")
    assert code == 2 and "error[E872]: the bank has no item `i3x`\n  help: did you mean `i3`?" in err
    code, _, err = call("plot", "wright-map", "bank.json", "-o", "w.svg", "--item", "i3")
    assert (
        code == 2 and "error[E872]: `--item` is for the plot item-curves, not for wright-map\n  help: leave it" in err
    )
    for path in Path().glob("*.svg"):
        drawn = path.read_text(encoding="utf-8")
        assert ElementTree.fromstring(drawn).tag.endswith("svg") and "<script" not in drawn
    assert "8 models" in Path("wright-map.svg").read_text(encoding="utf-8")
    assert "&lt;script&gt;" in Path("abilities.svg").read_text(encoding="utf-8")


def test_larger_models_and_splits_are_printed_and_keep_the_schema(call: Call) -> None:
    Path("t.csv").write_text(counts(), encoding="utf-8")
    checks = [f"--check={name}" for name in ("wald", "martin-loef", "slopes", "partial-credit")]
    code, out, _ = call("calibrate", "t.csv", *checks, "--split", "mean")
    assert code == 0 and "Martin-Löf's test" in out and "(Wald tests)" in out and "Thresholds between scores" in out
    code, out, _ = call("calibrate", "t.csv", *checks, "--plausible-values", "4", "--json")
    record = json.loads(out)
    assert code == 0 and faults("calibrate", record) == []
    credit = record["fit"]["partial_credit"]
    assert credit["equal_steps"]["df"] == 3 and credit["equal_steps"]["p"] > 0.001  # the counts are binomial
    assert [len(entry["thresholds"]) for entry in credit["thresholds"]] == [4]
    assert [entry["name"] for entry in credit["abilities"]] == [f"m{at}" for at in range(8)]
    values = record["plausible_values"]
    assert {len(draws) for draws in values["abilities"].values()} == {4} and len(values["difficulties"]) == 40


def test_a_check_that_the_data_do_not_allow_is_named(call: Call) -> None:
    Path("t.csv").write_text("model,a,b,c\nx,1,0,0\ny,0,1,0\nz,0,0,1\n", encoding="utf-8")
    code, _, err = call("calibrate", "t.csv", "--check", "partial-credit")
    assert code == 0 and "the check `partial-credit` was not possible with these data" in err


def test_an_estimate_at_its_smallest_value_is_marked(call: Call) -> None:
    rows = [
        "a" + ",1,0" * 8,
        "b" + ",0,1" * 8,
        "c" + ",1,1,0,0" * 4,
        "d" + ",0,0,1,1" * 4,
    ]  # two of four solve each item
    Path("t.csv").write_text("\n".join(["model," + ",".join(f"i{at}" for at in range(16)), *rows]), encoding="utf-8")
    _, out, err = call("calibrate", "t.csv", "-o", "b.json", "--check", "none")
    assert "-0.000" not in out
    assert "the replies show no differences between difficulties: all are placed near the mean" in out + err
    assert re.search(r"normal distribution of difficulties: standard deviation +0\.0200 or less\n", out)
