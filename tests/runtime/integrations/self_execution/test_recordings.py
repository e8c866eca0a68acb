"""The recordings of the Self-Execution Benchmark give every figure that is known of them, by the commands alone."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dia_compiler.commands.cli import run
from helpers.places import SHARED
from helpers.schemas import require_valid

DATA = SHARED / "data" / "self_execution"
recorded = pytest.mark.skipif(not DATA.is_dir(), reason=f"the recordings are not in {DATA}")
Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    monkeypatch.chdir(tmp_path)

    def called(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = run(list(arguments))
        return code, *capsys.readouterr()

    return called


def differing(found: dict[str, Any], expected: dict[str, Any]) -> list[str]:
    """The figures that are not equal to 1e-9."""
    return [
        f"{name}: {found.get(name, 'missing')} for {value}"
        for name, value in expected.items()
        if name not in found
        or not (found[name] == value or (isinstance(value, float) and abs(found[name] - value) < 1e-9))
    ]


@pytest.mark.long
@recorded
@pytest.mark.parametrize("number", ["1", "2", "3", "4"])
def test_every_published_figure_comes_out(number: str, call: Call) -> None:
    code, _, told = call("import", str(DATA), "--from", "self-execution", "--experiment", f"exp{number}", "-o", "a.run")
    assert code == 0, told
    code, out, told = call("score", "a.run", "--preset", "paper", "--interval", "none", "--json")
    assert code == 0, told
    result = json.loads(out)
    require_valid("score", result)
    expected = json.loads((DATA / "expected.json").read_text(encoding="utf-8"))
    assert {model["model"] for model in result["models"]} == expected.keys()
    for model in result["models"]:
        published = model["published"][f"self-execution-{number}"]
        assert differing(published, expected[model["model"]][f"exp{number}"]) == []
        (block,) = model["sessions"].values()
        ledger = block["ledger"]
        assert sum(ledger[state] for state in ("valid", "unread", "absent", "broken", "error")) == block["questions"]


def small(folder: Path) -> Path:
    """A folder with two recordings of experiment 1 and one target that only the list of options knows."""
    (folder / "exp1").mkdir(parents=True)
    rows = [
        {
            "target": "Sea",
            "options": ["salt", "Ship"],
            "predictions": {"salt": True, "ship": False},
            "associations": ["ship", "salt"],
        },
        {"target": "Sky", "options": ["blue"], "predictions": {"blue": "yes", "grey": 0}, "associations": ["blue"]},
    ]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "exp1" / "model-a.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    options = {"Sea": ["salt", "Ship"], "Sky": ["blue"], "Sun": ["hot", "star"]}
    (folder / "exp1_taboo_options.json").write_text(json.dumps(options), encoding="utf-8")
    return folder


def test_a_question_without_a_record_is_one_whose_replies_never_came(call: Call, tmp_path: Path) -> None:
    code, out, told = call("import", str(small(tmp_path / "logs")), "--from", "self-execution", "-o", "a.run", "--json")
    assert (code, json.loads(out)["questions"], json.loads(out)["models"]) == (
        0,
        3,
        [{"model": "model-a", "replies": 3}],
    ), told
    code, out, _ = call("score", "a.run", "--preset", "paper", "--interval", "none", "--json")
    (model,) = json.loads(out)["models"]
    assert model["published"]["self-execution-1"] | {"rows": 2} == model["published"]["self-execution-1"]
    block = model["sessions"]["association"]
    assert block["counts"] == {"tp": 2, "fp": 0, "fn": 1, "tn": 0} and block["units"] == {
        "all": 5,
        "answered": 3,
        "valid": 3,
    }
    assert block["ledger"]["absent"] == 1 and block["recorded"] == 2
    published = model["published"]["self-execution-1"]
    assert (published["TP"], published["FN"], published["TN"], published["always_false_baseline"]) == (2, 1, 1, 0.25)
    code, out, _ = call("score", "a.run")
    assert code == 0 and "Sessions: accuracy" in out
    code, out, _ = call("score", "a.run", "--tables", "all")
    assert code == 0 and "association: outcomes of the questions" in out


def published(call: Call, tmp_path: Path, number: int, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The published figures of a model with these rows."""
    (tmp_path / "logs" / f"exp{number}").mkdir(parents=True)
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "logs" / f"exp{number}" / "m.jsonl").write_text(lines, encoding="utf-8")
    assert call("import", str(tmp_path / "logs"), "--from", "self-execution", "-o", "a.run")[0] == 0
    code, out, message = call("score", "a.run", "--preset", "paper", "--interval", "none", "--json")
    assert code == 0, message
    (model,) = json.loads(out)["models"]
    return dict(model["published"][f"self-execution-{number}"])


def test_a_label_in_quotes_is_another_label(call: Call, tmp_path: Path) -> None:
    choices = [("A", "A"), ("B", "B"), ('"B"', "B"), ("A", '"B"'), ("B", "A")]
    rows = [
        {"prompt_id": at, "predicted": one, "judged": other, "label": "safe"}
        for at, (one, other) in enumerate(choices, 1)
    ]
    figures = published(call, tmp_path, 2, rows)
    assert {name: figures[name] for name in ("AA_TP", "AB_FP", "BA_FN", "BB_TN")} == {
        "AA_TP": 1,
        "AB_FP": 0,
        "BA_FN": 1,
        "BB_TN": 1,
    }
    assert (figures["valid_rows"], figures["other_label_rows"], figures["consistent"]) == (3, 2, 2)


RANKINGS = [
    ('{"Ranking": ["Q1", "Q2", "Q3", "Q4"]}', 1),  # the key in any case
    ('{"ranking": "Q1, Q2, Q3, Q4"}', 1),  # a text with commas
    ("{\u201cranking\u201d: [\u201cQ1\u201d, \u201cQ2\u201d, \u201cQ3\u201d, \u201cQ4\u201d]}", 1),  # curly quotes
    ('{"ranking": ["Q1", "Q2", "Q3"]}', 0),
    ("Q1, Q2, Q3, Q4", 0),  # not JSON
]


@pytest.mark.parametrize(("raw", "valid"), RANKINGS)
def test_rankings_are_read_as_the_parser_of_the_study_read_them(
    raw: str, valid: int, call: Call, tmp_path: Path
) -> None:
    items = [{"question_id": f"q{at}", "key": "A", "raw": '{"answer": "A"}', "tokens": at} for at in range(4)]
    row = {"group_id": "g", "items": items, "raw_ranking": raw, "ranking_tokens": 12}
    row |= {"ranking_stored": [], "ranking_repaired_by_hand_rules": False, "measured_ranking": ["Q1", "Q2", "Q3", "Q4"]}
    figures = published(call, tmp_path, 3, [row])
    assert figures["json_parser_only_valid"] == figures["valid_rankings"] == valid
    assert figures["json_parser_only_mean"] == (1 if valid else None)


def test_a_token_count_is_missing_only_if_the_recording_has_none(call: Call, tmp_path: Path) -> None:
    """A reply without a readable letter has a count as well, even if it is empty."""
    replies = [('{"answer": "A"}', 5), ("I cannot say.", 7), ("", 9), (None, None)]
    items = [
        {"question_id": f"q{at}", "key": "A", "raw": raw, "tokens": count} for at, (raw, count) in enumerate(replies)
    ]
    row = {"group_id": "g", "items": items, "raw_ranking": RANKINGS[0][0], "ranking_tokens": 12, "ranking_stored": []}
    row |= {"ranking_repaired_by_hand_rules": False, "measured_ranking": ["Q1", "Q2", "Q3", "Q4"]}
    figures = published(call, tmp_path, 3, [row])
    assert (figures["individual_answered"], figures["individual_correct"]) == (4, 1)
    assert figures["missing_token_counts"] == 1


BAD: list[tuple[str, str]] = [
    ("not JSON", "not JSON"),
    ('{"target": "Sea"}', "not a recording of exp1"),
    ('{"target": "Sea", "options": [], "predictions": [], "associations": []}', "not a recording of exp1"),
]


@pytest.mark.parametrize(("row", "word"), BAD)
def test_a_row_that_is_no_recording_is_told_with_its_line(row: str, word: str, call: Call, tmp_path: Path) -> None:
    folder = tmp_path / "logs" / "exp1"
    folder.mkdir(parents=True)
    (folder / "m.jsonl").write_text(f"{row}\n", encoding="utf-8")
    code, _, told = call("import", str(tmp_path / "logs"), "--from", "self-execution", "-o", "a.run")
    assert code == 2 and word in told and "m.jsonl:1:" in told
    assert not (tmp_path / "a.run").exists()


def test_what_is_no_folder_of_recordings_is_told(call: Call, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    code, _, told = call("import", str(tmp_path / "empty"), "--from", "self-execution", "-o", "a.run")
    assert code == 2 and "has no recordings" in told
    code, _, told = call("import", "none.jsonl", "--from", "self-execution", "-o", "a.run")
    assert code == 2 and "one folder" in told
    code, _, told = call("import", "t.csv", "--from", "csv", "--experiment", "exp1", "-o", "a.run")
    assert code == 2 and "`--experiment` applies to" in told


def test_verdicts_beside_those_of_people(call: Call, tmp_path: Path) -> None:
    call("import", str(small(tmp_path / "logs")), "--from", "self-execution", "-o", "a.run", "-q")
    labels = [("Sea", "wrong"), ("Sky", "wrong"), ("Sun", "unparsed")]
    lines = [json.dumps({"id": f"self_execution/association/{item}/0", "verdict": verdict}) for item, verdict in labels]
    Path("labels.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    code, out, told = call("audit", "a.run", "--labelled", "labels.jsonl", "--json")
    found = json.loads(out)
    require_valid("agreement", found)
    (model,) = found["models"]
    assert code == 0 and model["labelled"] == 3 and model["agreement"]["value"] == pytest.approx(2 / 3)
    assert model["table"] == {"unparsed": {"unparsed": 1}, "wrong": {"correct": 1, "wrong": 1}}
    assert model["kappa"] == pytest.approx((2 / 3 - 3 / 9) / (1 - 3 / 9))  # margins 2/3 1/3 and 1/3 1/3 1/3
    code, out, _ = call("audit", "a.run", "--labelled", "labels.jsonl")
    assert code == 0 and "kappa" in out
    for line, word in (
        ('{"id": "x", "verdict": "right"}', "unknown verdict"),
        ("[]", "does not label a reply"),
        ('{"id": "x", "verdict": "wrong"}', "labels.jsonl:1:1: error[E862]: the run has no question `x`"),
    ):
        Path("labels.jsonl").write_text(line, encoding="utf-8")
        code, _, told = call("audit", "a.run", "--labelled", "labels.jsonl")
        assert code == 2 and word in told
