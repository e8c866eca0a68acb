"""The first screen of `dia score`, at the widths of terminals, held byte for byte."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dia_runtime
import pytest
from dia_compiler.commands.cli import run
from dia_runtime.report.findings import findings
from dia_runtime.report.score_screen import score_screen
from dia_runtime.report.screens import Cell, Column, Grid, grid_of, grid_text, notes_text, short_names, shortened
from dia_runtime.report.tables import Table, displayed_width
from dia_runtime.scoring.results import Score
from helpers.places import GOLDEN

SCREENS = GOLDEN / "score_screen"
ANSI = re.compile("\x1b\\[[0-9;]*m")
LONG_NAMES = (
    "openrouter/meta-llama/llama-4-scout-17b-16e-instruct+temperature=0",
    "openrouter/meta-llama/llama-4-scout-17b-16e-instruct+temperature=1",
    "gpt-4o",
)


def share(value: float) -> dict[str, Any]:
    return {"value": value, "se": 0.02, "ci": [max(0.0, value - 0.04), min(1.0, value + 0.04)]}


def model(name: str, rs: float | None, spread: float = 4.0, **changes: Any) -> dict[str, Any]:
    counts = {"correct": 400, "skipped": 50, "wrong": 300, "unparsed": 0, "error": 0} | changes.get("counts", {})
    interval = None if rs is None else [rs - spread, rs + spread]
    score = {"value": rs, "se": None if rs is None else spread / 2, "ci": interval}
    return {
        "model": name, "run": f"runs/{name}.run", "missing": changes.get("missing", 0), "n": 150, "counts": counts,
        "flags": {"truncated": changes.get("truncated", 0)}, "labels": {}, "variants": {},
        "rs": score if rs is not None else {**score, "bounds": [-20.0, 14.5]},
        "conf": share(0.31), "pass_at_k": share(0.725), "trad_score": share(0.53),
    }  # fmt: skip


def result(*models: dict[str, Any], **changes: Any) -> Score:
    facts: Any = {
        "benchmark": "riddles", "version": "1.2.0", "n": 150, "k": 5, "k_varies": False, "over": "instances",
        "chain": "strict", "points": {}, "models": list(models), "ensembles": [], "comparisons": [],
        "rank_changes": [], "skip_agreement": [], "by_respondent": {}, "correlations": [], "power": None,
    } | changes  # fmt: skip
    made: Score = facts
    return made


def three() -> Score:
    return result(
        model("gpt-4o", 61.2),
        model("claude-sonnet-4.5", 96.4, counts={"unparsed": 60}, truncated=12),
        model("mistral-large-2512", 63.0),
        model("deepseek-v3", None, counts={"error": 9}, missing=3),
    )


def forty() -> Score:
    return result(*(model(f"model-{number:02}", 120.5 - 3 * number, truncated=number % 7) for number in range(40)))


def one_item() -> Score:
    lone = {**model("gpt-4o", 1.0), "n": 1, "counts": {"correct": 5}, "rs": {"value": 1.0, "se": None, "ci": None}}
    return result(lone, n=1)


SCENES: dict[str, tuple[Callable[[], Score], int]] = {
    "three-100": (three, 100),
    "three-80": (three, 80),
    "long-names-100": (lambda: result(*(model(name, 50.0 - at) for at, name in enumerate(LONG_NAMES))), 100),
    "long-names-80": (lambda: result(*(model(name, 50.0 - at) for at, name in enumerate(LONG_NAMES))), 80),
    "one-100": (lambda: result(model("gpt-4o", 61.2)), 100),
    "one-item-100": (one_item, 100),
    "forty-100": (forty, 100),
    "forty-80": (forty, 80),
    "no-replies-100": (lambda: result(model("gpt-4o", 0.0, counts=dict.fromkeys(("correct", "skipped", "wrong"), 0))), 100),
    "no-models-80": (result, 80),
    "one-instance-100": (lambda: result(model("gpt-4o", 61.2), k=1, n=12_345), 100),
    "large-numbers-100": (lambda: result(model("gpt-4o", -12_345.6, 210.0), n=20_000), 100),
}  # fmt: skip


@pytest.mark.parametrize("name", SCENES)
def test_a_screen_is_printed_to_these_bytes(name: str, request: pytest.FixtureRequest) -> None:
    make, width = SCENES[name]
    screen, path = score_screen(make(), width=width), SCREENS / f"{name}.txt"
    if request.config.getoption("--update-golden"):
        path.write_text(screen, encoding="utf-8")
    assert screen == path.read_text(encoding="utf-8")
    assert max(map(displayed_width, screen.splitlines())) <= width


@pytest.mark.parametrize("width", [80, 100, 140])
def test_a_score_of_real_runs_fits(width: int) -> None:
    stored: Score = json.loads((GOLDEN / "report" / "score.json").read_text(encoding="utf-8"))
    stored["correlations"] = []
    screen = score_screen(stored, by=["category"], show=["selective", "mistakes"], width=width)
    assert max(map(displayed_width, screen.splitlines())) <= width


def test_colours_change_no_text() -> None:
    painted = score_screen(three(), paint=lambda text, role: f"\x1b[{1 + len(role)}m{text}\x1b[0m")
    assert painted != score_screen(three()) == ANSI.sub("", painted)


def test_many_wordings_are_cut_to_the_largest_differences() -> None:
    def effect(points: float) -> dict[str, Any]:
        difference = {"value": points / 100, "se": 0.02, "ci": [points / 100 - 1, points / 100 + 1]}
        figures = {"trad_score": {"base": 0.5, "variant": 0.5 + points / 100, "difference": difference, "p": 0.3}}
        return {"items": 6, "questions": 18, "figures": figures}

    points = {"far": {f"wording{at}": effect(at * (-1) ** at) for at in range(40)}, "near": {"shouted": effect(36.5)}}
    models = [
        {**model(f"openrouter/a-model-with-a-long-name-{name}", 60.0), "variants": points[name]} for name in points
    ]
    for width in (80, 100):
        screen = score_screen(result(*models), width=width)
        title, table = screen[screen.index("Other wordings") :].split("\n\n")[:2]
        shown = "correct replies in %, variant minus base (the 5 largest of 41 differences; `--tables all` prints all)"
        assert shown in " ".join(title.split())
        assert [float(row.split()[4]) for row in table.splitlines()[1:]] == [-39.0, 38.0, -37.0, 36.5, 36.0]
        assert max(map(displayed_width, screen.splitlines())) <= width


def test_names_are_cut_in_the_middle() -> None:
    assert shortened("openai/gpt-4o-mini-2024-07-18", 17) == "openai/...4-07-18"
    assert shortened("gpt-4o", 6) == "gpt-4o"
    for width in range(3, 12):
        assert displayed_width(shortened("模型模型模型模型", width)) <= width


def test_equal_scores_share_a_rank() -> None:
    screen = score_screen(result(model("a", 5.0), model("b", 5.0), model("c", 1.0)))
    assert [line[0] for line in screen.splitlines()[3:6]] == ["1", "1", "3"]


def test_neighbours_that_overlap_are_reported_as_ranges_of_ranks() -> None:
    scores = (90.0, 80.0, 78.0, 76.0, 60.0, 40.0, 38.0)
    (order,) = findings(result(*(model(f"m{at}", score) for at, score in enumerate(scores))))
    assert order.startswith("The intervals of neighbours within ranks 2-4 and 6-7 overlap")


def test_ranges_of_ranks_are_those_of_the_table() -> None:
    (order,) = findings(result(*(model(f"m{at}", score) for at, score in enumerate((90.0, 78.0, 76.0, 76.0)))))
    assert order.startswith("The intervals of neighbours within ranks 2-3 overlap")
    assert findings(result(*(model(f"m{at}", score) for at, score in enumerate((90.0, 60.0, 60.0))))) == []


def test_few_compared_items_are_reported() -> None:
    pairs = [{"figure": "rs", "models": ["a", "b"], "p_holm": 0.01}]
    few = findings({**result(model("a", 9.0), model("b", 1.0)), "n": 19, "comparisons": pairs})
    assert any(line.startswith("Intervals of differences over fewer than 20 items are too narrow") for line in few)
    assert not any(
        "too narrow" in line for line in findings({**result(model("a", 9.0)), "n": 20, "comparisons": pairs})
    )


def test_neighbours_that_are_compared_are_uncertain_by_their_p() -> None:
    models = [model(f"m{at}", score) for at, score in enumerate((90.0, 80.0, 78.0))]
    pairs = [
        {"figure": "rs", "models": [f"m{at}", f"m{at + 1}"], "p_holm": p_holm} for at, p_holm in ((0, 0.3), (1, 0.01))
    ]
    (order,) = findings({**result(*models), "comparisons": pairs})
    assert order == "The order within ranks 1-2 is uncertain: p (Holm) for RS@5 of neighbours is 0.05 or more."


def test_names_that_differ_at_their_beginning_stay_different() -> None:
    names = [f"openai/{name}+judge=openai/j+predictor=openai/p" for name in ("steady", "other")]
    assert len(set(short_names(names, 16).values())) == 2


def test_the_most_frequent_cause_says_whether_it_counts_variants() -> None:
    for replies, number in ((2, "2"), (3, "3, variants included")):
        failed = model("a", 90.0, counts={"correct": 98, "error": 2})
        failed["error_causes"] = [{"replies": replies, "example": "timeout"}]
        assert f"The most frequent cause ({number}): timeout. " in findings(result(failed))[0]


def test_variants_are_said_not_to_count() -> None:
    assert findings({**result(model("a", 90.0)), "has_variants": True}) == [
        "Figures and counts do not include variants, which ask the same instances in other words."
    ]


def test_nothing_stands_out_in_a_clear_result() -> None:
    clear = result(model("a", 90.0), model("b", 50.0))
    assert findings(clear) == [] and "What stands out" not in score_screen(clear)


def test_a_model_name_never_reaches_the_terminal_as_a_control_sequence() -> None:
    hostile = model("=cmd|' /C calc'!A0\x1b[31m`x`\n\u202e", 5.0, counts={"error": 1}, truncated=1)
    screen = score_screen(result(hostile))
    assert "\x1b" not in screen and "\u202e" not in screen


def test_a_grid_without_rows_has_its_headings() -> None:
    assert grid_text(Grid("Empty", (Column("model", is_name=True), Column("n")), ()), 80) == "Empty\n\nmodel  n"


def test_groups_are_headed_by_their_name() -> None:
    grid = Grid("By x", (Column("name", is_name=True), Column("n")), ("first group", (Cell("  a"), Cell("12"))))
    assert grid_text(grid, 80).splitlines()[2:] == ["name   n", "first group", "  a   12"]


def test_the_note_of_a_table_is_below_it_on_the_screen() -> None:
    table = Table("Sizes", ("model", "n"), (("a", "12"),), 1, note="These sizes " + "can be far off " * 8)
    lines = grid_text(grid_of(table), 80).splitlines()
    assert lines[:5] == ["Sizes", "", "model   n", "a      12", ""]
    assert " ".join(lines[5:]) == table.note.strip() and max(map(len, lines)) <= 80


def test_quoted_commands_are_never_split() -> None:
    for width in range(60, 90):
        assert "`dia audit a.run --chains strict,lenient`" in notes_text("t", ["x" * 30 + " see `dia audit a.run --chains strict,lenient` and more"], width)  # fmt: skip


# The command


@pytest.fixture
def scored(tiny: Callable[..., Path], tmp_path: Path) -> str:
    path = tmp_path / "a.run"
    dia_runtime.run(tiny(templates=3), ["oracle", "guess"], path)
    return str(path)


def test_the_option_chooses_the_tables(scored: str, capsys: pytest.CaptureFixture[str]) -> None:
    texts = {}
    for tables in ("summary", "all"):
        assert run(["score", scored, "--tables", tables]) == 0
        texts[tables] = capsys.readouterr().out
    assert "What stands out" in texts["summary"] and "correct %" not in texts["summary"]
    assert "What stands out" not in texts["all"] and "correct %" in texts["all"]
    assert run(["score", scored]) == 0
    assert capsys.readouterr().out == texts["summary"]
    assert run(["score", scored, "-q"]) == 0
    quiet = capsys.readouterr().out
    assert texts["summary"].startswith(quiet.rstrip("\n")) and "What stands out" not in quiet


def test_other_formats_keep_every_figure(scored: str, capsys: pytest.CaptureFixture[str]) -> None:
    for form in ("csv", "markdown", "latex"):
        assert run(["score", scored, "--format", form]) == 0
        text = capsys.readouterr().out
        assert run(["score", scored, "--format", form, "--tables", "summary"]) == 0
        assert text == capsys.readouterr().out and "NMS@k" in text


def test_a_file_gets_no_colour(scored: str, tmp_path: Path) -> None:
    assert run(["score", scored, "-o", str(tmp_path / "a.txt")]) == 0
    assert "\x1b" not in (tmp_path / "a.txt").read_text(encoding="utf-8")


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.parametrize(("no_color", "is_coloured"), [("", True), ("1", False)])
def test_a_terminal_gets_colour_unless_it_asks_for_none(scored: str, no_color: str, is_coloured: bool) -> None:
    master, terminal = pty.openpty()
    command = [sys.executable, "-m", "dia_compiler", "score", scored]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "80", "NO_COLOR": no_color}
    with subprocess.Popen(command, stdout=terminal, stderr=subprocess.DEVNULL, env=environment) as process:
        os.close(terminal)
        printed = b""
        while True:
            try:
                block = os.read(master, 4096)
            except OSError:  # Linux reports the end of a pseudo-terminal as an error
                break
            if not block:
                break
            printed += block
        assert process.wait() == 0
    os.close(master)
    assert (b"\x1b[" in printed) is is_coloured and b"oracle" in printed


def test_names_of_figures_stay_whole_while_those_of_models_are_shortened() -> None:
    names = [f"openrouter/meta-llama/llama-4-scout-{size}b-16e-instruct" for size in (17, 109)]
    rows = tuple((*names, figure, "0.1234") for figure in ("correct %", "abstention score %"))
    text = grid_text(grid_of(Table("Pairs", ("first", "second", "figure", "SE %"), rows, 3)), 70)
    assert "abstention score %" in text and "..." in text
    assert max(map(displayed_width, text.splitlines())) <= 70


@pytest.mark.parametrize(("p", "is_noted"), [(0.0828, True), (0.0312, False)])
def test_an_interval_without_0_and_a_large_p_are_explained(p: float, is_noted: bool) -> None:
    pair: Any = {
        "figure": "trad_score", "models": ["a", "b"], "items": 20, "p": p, "p_holm": p, "order": 0.98,
        "difference": {"value": -0.075, "se": 0.04, "ci": [-0.195, -0.01]},
    }  # fmt: skip
    screen = score_screen(result(model("a", 1.0), model("b", 2.0), comparisons=[pair]), has_notes=False)
    note = (
        "With few items, an interval may exclude 0 although p is 0.05 or more. Then the models do not differ clearly."
    )
    assert " ".join(screen.split()).endswith(note) == is_noted
