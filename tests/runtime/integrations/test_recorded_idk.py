"""The recorded replies of the evaluate-idk study give the published figures."""

from __future__ import annotations

import csv
import gzip
import io
import json
from pathlib import Path
from typing import Any

import dia_runtime
import pytest
from dia_compiler.commands.cli import run
from dia_runtime.formats import FORMATS
from dia_runtime.report.tables import as_csv, as_text, score_tables
from helpers.places import SHARED

DATA = SHARED / "data" / "idk"
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason=f"the recorded replies are not at {DATA}")
FIGURES = ("trad_score", "idk_score", "idk_freq", "extract_fail")
FIELDS = ("--field", "id=sample_id", "--field", "gold=gold", "--field", "reply=response")
HEADINGS = {
    "trad_score": "correct %",
    "idk_score": "abstention score %",
    "idk_freq": "abstained %",
    "extract_fail": "unparsed %",
}


def expected() -> list[dict[str, Any]]:
    held = json.loads((DATA / "expected.json").read_text(encoding="utf-8")) if DATA.is_dir() else {"runs": []}
    return list(held["runs"])


def imported(entry: dict[str, Any], tmp_path: Path) -> Path:
    path = tmp_path / "a.run"
    options = ("--letters", "A-E", "--skip", "E", "--model", entry["model"], "-o", str(path), "-q")
    assert run(["import", str(DATA / entry["file"]), "--from", "jsonl", *FIELDS, *options]) == 0
    return path


@pytest.mark.parametrize("entry", expected(), ids=lambda entry: f"{entry['dataset']}-{entry['model']}")
def test_every_published_figure_comes_out(entry: dict[str, Any], tmp_path: Path) -> None:
    result = dia_runtime.score(imported(entry, tmp_path), chain="compat")
    (model,) = result["models"]
    assert (model["n"], model["model"]) == (entry["n"], entry["model"])
    for name in FIGURES:
        assert model[name]["value"] == pytest.approx(entry["mean"][name], rel=0, abs=1e-9)
        assert model[name]["se"] == pytest.approx(entry["se"][name], rel=0, abs=1e-9)
        low, high = model[name]["ci"]
        assert low <= model[name]["value"] <= high
    table = score_tables(result)[0]
    row = dict(zip(table.headings, table.rows[0], strict=True))
    assert {name: row[heading].partition(" [")[0] for name, heading in HEADINGS.items()} == {
        name: shown.replace("±", "+-") for name, shown in entry["table"].items()
    }
    assert entry["table"]["idk_score"].replace("±", "+-") in as_text([table])
    (line,) = csv.DictReader(io.StringIO(as_csv([table])))
    assert f"{line['correct %']} ± {line['correct % SE']}" == entry["table"]["trad_score"]


@pytest.mark.parametrize("entry", expected(), ids=lambda entry: f"{entry['dataset']}-{entry['model']}")
def test_every_row_is_read_as_it_was(entry: dict[str, Any]) -> None:
    format = {"kind": "letter", "of": list("ABCDE"), "skip": "E"}
    with gzip.open(DATA / entry["file"], "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    read = [FORMATS["letter"].extract(row["response"], format, "compat").text for row in rows]
    assert [[letter] if letter else [] for letter in read] == [row["pred"] for row in rows]


def test_the_synthetic_replies_give_the_recorded_letters() -> None:
    rows = [json.loads(line) for line in (DATA / "conformance.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(rows) == 100
    for letters, key in (("ABCDE", "expected_A_E"), ("ABCDEFGHIJK", "expected_A_K")):
        format = {"kind": "letter", "of": list(letters)}
        read = [FORMATS["letter"].extract(row["text"], format, "compat").text for row in rows]
        assert read == [row[key] for row in rows]
