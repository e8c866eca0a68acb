"""Pictures: the bytes of a small score's, what a reader of XML makes of them, and figures by other people's code."""

from __future__ import annotations

import json
import re
import struct
import sys
import xml.etree.ElementTree as ElementTree
import zlib
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy
import pytest
from dia_compiler.commands.cli import run
from dia_language.diagnostics import DiaError
from dia_runtime.grading.verdicts import Verdict
from dia_runtime.report.page.panels import FOR_PHONES
from dia_runtime.report.pictures import pictures
from dia_runtime.report.pictures.axes import Scale, ticks
from dia_runtime.report.pictures.correlation import correlations
from dia_runtime.report.pictures.drawing import Circle, Drawing, Line, Polygons, Polyline, Rect, Text, text_width
from dia_runtime.report.pictures.figures import ranked
from dia_runtime.report.pictures.palette import COLOURS
from dia_runtime.report.pictures.png import png
from dia_runtime.report.pictures.reliability import columns
from dia_runtime.report.pictures.svg import svg
from helpers.failures import refused_call
from helpers.places import GOLDEN
from helpers.schemas import require_valid

REPORT = GOLDEN / "report"
SVG = "{http://www.w3.org/2000/svg}"
KINDS = [name for name, picture in pictures().items() if set(picture.needs) <= {"score", "comparisons"}]
HOSTILE = "</text><script>alert(1)</script>\x1b[31m\x00\u202ea\ud800&\"'"
ALL = Drawing(
    HOSTILE,
    HOSTILE,
    100,
    80,
    (
        Rect(1, 2, 3.14159, 4, "correct", tip=HOSTILE, rounded=2),
        Line(0, 0, 10, 10, "grid", 2, (1, 2)),
        Polyline(((0, 0), (5, 5), (10, 0)), "accent"),
        Polygons((((0, 0), (5, 5), (10, 0)),), "wrong", opacity=0.5),
        Circle(5, 5, 2, "ink", "paper"),
        Text(5, 5, HOSTILE, 12, "middle", bold=True, turn=45),
    ),
)


@pytest.fixture
def score() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((REPORT / "score.json").read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_a_picture_is_drawn_to_these_bytes(kind: str, score: dict[str, Any], request: pytest.FixtureRequest) -> None:
    drawn, path = svg(pictures()[kind].draw({"score": score})), REPORT / f"{kind}.svg"
    if request.config.getoption("--update-golden"):
        path.write_text(drawn, encoding="utf-8")
    assert drawn == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", KINDS)
def test_a_picture_says_what_it_shows_and_loads_nothing(kind: str, score: dict[str, Any]) -> None:
    root = ElementTree.fromstring(svg(pictures()[kind].draw({"score": score})))
    assert root.get("role") == "img" and root.get("lang") == "en"
    names = (root.get("aria-labelledby") or "").split()
    told = {element.get("id"): element.text for element in root if element.get("id")}
    assert len(names) == 2 and all(told[name] for name in names)
    found = {element.tag.removeprefix(SVG) for element in root.iter()}
    assert found <= {"svg", "title", "desc", "style", "rect", "line", "polyline", "path", "circle", "text"}
    assert not [name for element in root.iter() for name in element.attrib if name.startswith("on") or "href" in name]
    assert {size for element in root.iter(f"{SVG}text") if (size := element.get("font-size"))} <= {"11", "12", "13"}


@pytest.mark.parametrize("size", [{}, {"width": 356}])
def test_what_is_drawn_stays_inside(score: dict[str, Any], size: dict[str, float]) -> None:
    for kind in KINDS:
        drawing = pictures()[kind].draw({"score": score, **size})
        assert not size or kind not in FOR_PHONES or drawing.width == 356
        for mark in drawing.marks:
            if isinstance(mark, (Rect, Text, Circle)):
                assert -1 <= mark.x <= drawing.width + 1 and -1 <= mark.y <= drawing.height + 1, (kind, mark)
            if isinstance(mark, Text) and not mark.turn:
                before = {"start": 0.0, "middle": 0.5, "end": 1.0}[mark.anchor] * text_width(mark.text, mark.size)
                assert mark.x - before > -8 and mark.x - before + text_width(mark.text, mark.size) < drawing.width + 24


def test_every_text_is_escaped_and_every_primitive_written() -> None:
    root = ElementTree.fromstring(svg(ALL))
    assert [element.tag.removeprefix(SVG) for element in root][4:] == [
        "rect",
        "line",
        "polyline",
        "path",
        "circle",
        "text",
    ]
    (shown,) = [element.text for element in root.iter(f"{SVG}text")]
    assert shown == "</text><script>alert(1)</script>\\x1b[31m\\x00\\u202ea\\ud800&\"'"
    assert "script" not in {element.tag.removeprefix(SVG) for element in root.iter()}
    assert 'width="3.14"' in svg(ALL), "numbers are rounded"


def test_colours_are_named_and_stand_out() -> None:
    used = set(re.findall(r"[fs]-([a-z0-9-]+)", " ".join(re.findall(r'class="([^"]*)"', svg(ALL)))))
    assert used <= COLOURS.keys()
    for side in (0, 1):
        for verdict in Verdict:
            assert contrast(COLOURS[verdict][side], COLOURS[f"on-{verdict}"][side]) >= 4.5
        for name in ("ink", "muted", "accent", *(f"series-{number}" for number in range(1, 9))):
            assert contrast(COLOURS[name][side], COLOURS["paper"][side]) >= 4.5, name
    grey = [luminance(COLOURS[verdict][0]) for verdict in tuple(Verdict)[:3]]
    assert min(abs(one - other) for at, one in enumerate(grey) for other in grey[:at]) > 0.1, "apart without hues"


def luminance(colour: str) -> float:
    """The relative luminance of WCAG 2."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_correlations_are_those_of_numpy(score: dict[str, Any]) -> None:
    models = ranked(score)
    items = list(models[0]["tsr"])
    theirs = numpy.corrcoef([[model["tsr"][item] for item in items] for model in models])
    assert numpy.array(correlations(models, score["k"]), dtype=float) == pytest.approx(theirs)
    level: dict[str, Any] = {"tsr": dict.fromkeys(items, 1)}
    assert correlations([level, models[0]], score["k"])[0] == [None, None]


def test_columns_go_from_the_easiest_on_and_are_shared_where_there_are_many(score: dict[str, Any]) -> None:
    models, k = ranked(score), score["k"]
    each = columns(models, k)
    means = [float(numpy.mean([share or 0 for share in column.shares])) for column in each]
    assert means == sorted(means, reverse=True) and len(each) == score["n"]
    few = columns(models, k, 2)
    assert [column.items for column in few] == [3, 3]
    assert few[0].shares[0] == pytest.approx(numpy.mean([column.shares[0] for column in each[:3]]))


def test_ticks_are_round_and_scales_are_straight() -> None:
    assert ticks(3, 3) == [3] and ticks(-1, 1, 5) == [-1, -0.5, 0, 0.5, 1]
    assert Scale(0, 1, 100, 0)(0.25) == 75


def test_nothing_to_draw_is_told(score: dict[str, Any]) -> None:
    alone = {**score, "models": score["models"][:1], "comparisons": []}
    for kind in ("correlation", "comparisons"):
        with pytest.raises(DiaError, match="nothing to draw"):
            pictures()[kind].draw({"score": alone})


needs_matplotlib = pytest.mark.skipif(find_spec("matplotlib") is None, reason="a .png needs matplotlib")


@needs_matplotlib
def test_a_png_is_one_of_twice_the_size_and_the_same_each_time() -> None:
    drawn = png(ALL)
    assert drawn == png(ALL) and drawn.startswith(b"\x89PNG\r\n\x1a\n")
    assert struct.unpack(">II", drawn[16:24]) == (200, 160)
    chunks, at = [], 8
    while at < len(drawn):
        (size,) = struct.unpack(">I", drawn[at : at + 4])
        assert struct.unpack(">I", drawn[at + 8 + size : at + 12 + size])[0] == zlib.crc32(
            drawn[at + 4 : at + 8 + size]
        )
        chunks.append(drawn[at + 4 : at + 8])
        at += 12 + size
    assert chunks[0] == b"IHDR" and chunks[-1] == b"IEND" and not {b"tIME"} & set(chunks)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = [{"id": name, "gold": "A", "reply": f"Answer: {name}"} for name in "ABE"]
    Path("t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert run(["import", "t.jsonl", "--from", "jsonl", "--letters", "A-E", "--skip", "E", "-o", "a.run", "-q"]) == 0
    return tmp_path


def test_plot_writes_one_picture(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert run(["plot", "leaderboard", "a.run", "-o", "new/board.svg", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    require_valid("plot", facts)
    assert facts["bytes"] == Path("new/board.svg").stat().st_size and facts["kind"] == "leaderboard"
    first = Path("new/board.svg").read_bytes()
    assert run(["plot", "leaderboard", "a.run", "-o", "new/board.svg"]) == 0
    assert Path("new/board.svg").read_bytes() == first and ElementTree.fromstring(first).get("role") == "img"
    assert [path.name for path in Path("new").iterdir()] == ["board.svg"]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (
            ["leaderbord", "a.run", "-o", "b.svg"],
            "E872",
            "unknown plot `leaderbord`\n  help: did you mean `leaderboard`",
        ),
        (["leaderboard", "a.run", "-o", "b.jpg"], "E872", "must end in .svg or .png\n  help: for example `-o b.svg`"),
        (
            ["comparisons", "a.run", "-o", "b.svg"],
            "E872",
            "nothing to draw: a comparison needs two models\n  help: name",
        ),
        (["verdicts", "t.jsonl", "-o", "b.svg"], "E801", "is not a run"),
    ],
)
def test_plot_says_what_it_cannot_draw(
    here: Path, arguments: list[str], code: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    refused_call(code, words, capsys, "plot", *arguments)
    assert sorted(path.name for path in here.iterdir()) == ["a.run", "t.jsonl"]


def test_a_png_without_matplotlib_is_refused_in_one_line(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert run(["plot", "verdicts", "a.run", "-o", "b.png"]) == 2
    told = capsys.readouterr().err
    assert "E871" in told and ".[report]" in told and "Traceback" not in told and not Path("b.png").exists()


def test_help_lists_the_kinds(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["plot", "--help"]) == 0
    told = capsys.readouterr().out
    assert all(re.search(rf"^  {kind}\s", told, re.MULTILINE) for kind in pictures())


@pytest.fixture
def uneven() -> list[dict[str, Any]]:
    """Two models and items of 5, 3, 1 and 1 instances; of the last the second was not asked."""
    sizes = {"b": 3, "c": 1, "d": 1}
    return [
        {"tsr": {"a": 3, "b": 2, "c": 1, "d": 0}, "other_k": sizes},
        {"tsr": {"a": 0, "b": 3, "c": 1}, "other_k": {"b": 3, "c": 1}},
    ]


def test_items_of_few_instances_are_measured_by_their_own_number(uneven: list[dict[str, Any]]) -> None:
    found = columns(uneven, 5)
    assert [(column.name, column.shares, column.sizes) for column in found] == [
        ("c", (1, 1), (1, 1)),
        ("b", (pytest.approx(2 / 3), 1), (3, 3)),
        ("a", (0.6, 0), (5, 5)),
        ("d", (0, None), (1, 5)),
    ]


def test_correlations_are_of_shares_where_items_differ_in_length(uneven: list[dict[str, Any]]) -> None:
    theirs = numpy.corrcoef([[0.6, 2 / 3, 1], [0, 1, 1]])[0, 1]
    assert correlations(uneven, 5)[0][1] == pytest.approx(theirs)


def test_the_map_tells_how_many_of_how_many_where_items_differ(score: dict[str, Any]) -> None:
    item = next(iter(score["models"][0]["tsr"]))
    for model in score["models"]:
        model["tsr"][item], model["other_k"] = 1, {item: 1}
    drawn = svg(pictures()["reliability"].draw({"score": score}))
    assert "1 of 1<" in drawn and "100 %" in drawn and "50 %" in drawn
    assert "Share of correct instances for each item" in drawn


def test_open_scores_have_no_dot_and_are_told_by_their_ends(score: dict[str, Any]) -> None:
    for key, ends in (("trad_score", [0.4, 0.6]), ("idk_score", [0.1, 0.4]), ("drop", [0.1667, 0.3333])):
        score["models"][0][key] = {"value": None, "se": None, "ci": None, "bounds": ends}
    score["models"] = score["models"][:1]
    for data in ({"score": score}, {"score": score, "width": 356}):
        drawing = pictures()["drop"].draw(data)
        told = [mark.text for mark in drawing.marks if isinstance(mark, Text)]
        assert "17 to 33" in [text.removesuffix(" points") for text in told]
        assert len([mark for mark in drawing.marks if isinstance(mark, Circle)]) == 2, "those of the key alone"


def test_the_key_of_verdicts_by_label_explains_those_of_every_group(score: dict[str, Any]) -> None:
    groups = score["models"][0]["by_domain"]
    last = max(groups)
    for model in score["models"]:
        for name, held in model["by_domain"].items():
            held["counts"] |= {"unparsed": 0, "error": int(name == last)}
    told = [mark.text for mark in pictures()["domains"].draw({"score": score}).marks if isinstance(mark, Text)]
    assert len(groups) > 1 and "error" in told and "unparsed" not in told


def test_the_counts_in_words_are_of_all_verdicts(score: dict[str, Any]) -> None:
    for model in score["models"]:
        model["counts"] = dict(zip(Verdict, (1, 0, 0, 1, 2), strict=True))
    words = pictures()["verdicts"].draw({"score": score}).description
    counts = "1 correct, 0 skipped, 0 wrong, 1 unparsed, 2 error of 4"
    assert len(re.findall(rf"{counts}[;.]", words)) == len(score["models"])


def test_long_names_stay_in_their_key_and_above_their_panel(score: dict[str, Any]) -> None:
    for model in score["models"]:
        model["model"], model["by_domain"] = "x" * 300, {f"{'y' * 300}{at}": model for at in range(2)}
    for kind in ("risk-coverage", "domains"):
        drawing = pictures()[kind].draw({"score": score})
        for mark in drawing.marks:
            if isinstance(mark, Text) and mark.anchor == "start":
                assert mark.x + text_width(mark.text, mark.size) <= drawing.width, (kind, mark.text)
