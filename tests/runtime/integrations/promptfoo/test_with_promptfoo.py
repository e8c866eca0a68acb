"""promptfoo itself runs an exported configuration: it asks our prompts and finds our figures."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from dia_compiler.commands.cli import run
from helpers.files import lines
from helpers.loopback import serve
from helpers.tricky import SAME, Case, Command, pictured

pytestmark = pytest.mark.harness
LINE = (
    "promptfoo eval -c {folder}/promptfooconfig.yaml -r openai:chat:loop -o out.json -o out.jsonl"
    " --no-progress-bar --no-cache --no-share --no-table"
)
QUIET = {
    "PROMPTFOO_DISABLE_TELEMETRY": "1",
    "PROMPTFOO_DISABLE_UPDATE": "1",
    "PROMPTFOO_DISABLE_REMOTE_GENERATION": "true",
    "PROMPTFOO_FAILED_TEST_EXIT_CODE": "0",
    "OPENAI_API_KEY": "sk-none",
}


def test_a_configuration_asks_our_prompts_and_finds_our_figures(
    case: Case, environment: Callable[[str], Path], shell: Command, tmp_path: Path
) -> None:
    folder = case.exported("promptfoo")
    with serve(case.model()) as server:
        variables = {
            **QUIET,
            "OPENAI_BASE_URL": server.url,
            "DIA_PYTHON": sys.executable,
            "PROMPTFOO_CONFIG_DIR": str(tmp_path / "pf"),
        }
        done = shell(LINE.format(folder=folder), environment("promptfoo"), **variables)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    case.asked_exactly(server.asked)
    assert all(each.body["max_tokens"] == 8192 for each in server.asked)
    written = json.loads((tmp_path / "out.json").read_text())["results"]
    (prompt,) = written["prompts"]
    sums, ours = prompt["metrics"]["namedScores"], case.figures
    counts: Counter[str] = Counter({name: round(sums[name]) for name in ("correct", "skipped", "unparsed")})
    assert counts == {name: ours["counts"][name] for name in counts}
    assert sums["share_correct"] == pytest.approx(ours["trad_score"]["value"])
    assert sums["points"] / 3 == pytest.approx(ours["rs"]["value"])
    for log in ("out.json", "out.jsonl"):
        back = case.imported("promptfoo", tmp_path / log)
        assert {name: back[name] for name in SAME} == {name: ours[name] for name in SAME}


def test_pictures_are_parts_of_the_message(environment: Callable[[str], Path], shell: Command, tmp_path: Path) -> None:
    case = Case(tmp_path, pictured(tmp_path, "attach"))
    folder = case.exported("promptfoo")
    with serve(case.model()) as server:
        own = ["-o", str(tmp_path / "own.run"), "-q"]
        assert run(["run", str(case.bundle), "--model", "openai/loop", "--base-url", server.url, *own]) == 0
        ours = sorted(json.dumps(each.body["messages"], sort_keys=True) for each in server.asked)
    with serve(case.model()) as server:
        variables = {**QUIET, "OPENAI_BASE_URL": server.url, "DIA_PYTHON": sys.executable}
        assert shell(LINE.format(folder=folder), environment("promptfoo"), **variables).returncode == 0
        theirs = sorted(json.dumps(each.body["messages"], sort_keys=True) for each in server.asked)
    assert theirs == ours and "data:image/png;base64," in ours[0]


def test_no_answer_stands_where_prompts_are_made(case: Case) -> None:
    folder = case.exported("promptfoo")
    answers = {row["id"]: row["grading"] for row in lines(folder / "answers.jsonl")}
    for name in ("prompts.jsonl", "tests.jsonl"):
        for row in lines(folder / name):
            assert not {"answer", "grading", "target"} & set(row)
            assert answers[row.get("id") or row["vars"]["dia_id"]] not in json.dumps(row)
    assert all(set(row["vars"]) == {"dia_id"} for row in lines(folder / "tests.jsonl"))
