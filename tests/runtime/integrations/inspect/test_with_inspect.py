"""Inspect itself runs an exported task, and the installed one: it asks our prompts and finds our figures."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dia_compiler.commands.cli import run
from helpers.loopback import serve
from helpers.tool_user import calls, results
from helpers.tricky import SAME, Case, Command, pictured

pytestmark = pytest.mark.harness
LINE = "inspect eval {task} --model openai-api/loop/gpt-x --log-dir logs --display plain"
DUMP = "inspect log dump logs/*.eval --header-only"

TOOL_NAMES = {"bash", "python", "read_file", "write_file", "list_files"}


def ran(case: Case, environment: Callable[[str], Path], shell: Command, task: str, log: str = "eval") -> dict[str, Any]:
    """The header of the log of an evaluation that has asked our prompts."""
    programs = environment("inspect")
    with serve(case.model()) as server:
        variables = {"LOOP_API_KEY": "sk-none", "LOOP_BASE_URL": server.url}
        done = shell(f"{LINE.format(task=task)} --log-format {log}", programs, **variables)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    case.asked_exactly(server.asked)
    dumped = shell(DUMP.replace(".eval", f".{log}"), programs)
    assert dumped.returncode == 0, dumped.stderr
    return dict(json.loads(dumped.stdout))


def metrics(header: dict[str, Any]) -> dict[tuple[str, str], float]:
    """Figure and kind -> value."""
    scores = header["results"]["scores"]
    return {(score["name"], name): held["value"] for score in scores for name, held in score["metrics"].items()}


@pytest.mark.parametrize(("source", "log"), [("folder", "eval"), ("installed", "json")])
def test_a_task_asks_our_prompts_and_finds_our_figures(
    case: Case, environment: Callable[[str], Path], shell: Command, tmp_path: Path, source: str, log: str
) -> None:
    task = f"dia/dia_bench -T bundle={case.bundle}"
    if source == "folder":  # Inspect takes relative paths only
        shutil.copytree(case.exported("inspect"), tmp_path / "exported")
        task = "exported/dia_tricky.py"
    header = ran(case, environment, shell, task, log)
    assert header["status"] == "success"
    found, ours = metrics(header), case.figures
    for name, key in (("correct", "trad_score"), ("skipped", "idk_freq"), ("unparsed", "extract_fail")):
        assert found[name, "mean"] == pytest.approx(ours[key]["value"])
        assert found[name, "stderr"] == pytest.approx(ours[key]["se"])
    flat = {name.rpartition("/")[2]: value for (_, name), value in found.items()}
    for name in ("rs", "conf", "nms"):
        assert flat[name] == pytest.approx(ours[name]["value"])
    assert flat["tsr"] == pytest.approx(sum(ours["tsr"].values()) / len(ours["tsr"]))
    (written,) = (tmp_path / "logs").glob(f"*.{log}")
    back = case.imported("inspect", written)
    assert {name: back[name] for name in SAME} == {name: ours[name] for name in SAME}


def test_pictures_are_parts_of_the_message(environment: Callable[[str], Path], shell: Command, tmp_path: Path) -> None:
    case = Case(tmp_path, pictured(tmp_path, "attach"))
    with serve(case.model()) as server:
        assert (
            run(
                [
                    "run",
                    str(case.bundle),
                    "--model",
                    "openai/loop",
                    "--base-url",
                    server.url,
                    "-o",
                    str(tmp_path / "own.run"),
                    "-q",
                ]
            )
            == 0
        )
        ours = sorted(json.dumps(each.body["messages"][0]["content"], sort_keys=True) for each in server.asked)
    with serve(case.model()) as server:
        variables = {"LOOP_API_KEY": "sk-none", "LOOP_BASE_URL": server.url}
        line = LINE.format(task=f"dia/dia_bench -T bundle={case.bundle}")
        assert shell(line, environment("inspect"), **variables).returncode == 0
        theirs = [each.body["messages"][0]["content"] for each in server.asked]
    for content in theirs:
        for part in content:
            part.get("image_url", {}).pop("detail", None)  # Inspect says `auto`, which is the default
    assert sorted(json.dumps(content, sort_keys=True) for content in theirs) == ours


def test_the_same_model_with_tools_has_files_and_is_scored_beside_itself(
    environment: Callable[[str], Path], shell: Command, tmp_path: Path
) -> None:
    case = Case(tmp_path, pictured(tmp_path, "file"))
    with serve(case.model()) as server:
        variables = {"LOOP_API_KEY": "sk-none", "LOOP_BASE_URL": server.url}
        task = LINE.format(task=f"dia/dia_bench -T bundle={case.bundle}")
        refused = shell(task, environment("inspect"), **variables)
        assert refused.returncode != 0 and "-T tools=true" in refused.stdout + refused.stderr
        done = shell(f"{task} -T tools=true -T sandbox=local", environment("inspect"), **variables)
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    case.asked_exactly(server.asked)
    assert all({tool["function"]["name"] for tool in each.body["tools"]} == TOOL_NAMES for each in server.asked)
    (log,) = (tmp_path / "logs").glob("*.eval")
    assert case.imported("inspect", log)["counts"]["correct"] == 2


def test_each_tool_does_in_inspect_what_it_does_in_dia(
    environment: Callable[[str], Path], shell: Command, tmp_path: Path
) -> None:
    case = Case(tmp_path, pictured(tmp_path, "file"))
    steps: list[tuple[str, dict[str, str]]] = [
        ("write_file", {"path": "a.txt", "content": "6 * 7"}),
        ("read_file", {"path": "a.txt"}),
        ("list_files", {"path": "."}),
        ("python", {"code": "print(eval(open('a.txt').read()))"}),
        ("bash", {"command": "cat a.txt"}),
        ("read_file", {"path": "missing.txt"}),
    ]
    with serve(calls(*steps)) as server:
        variables = {"LOOP_API_KEY": "sk-none", "LOOP_BASE_URL": server.url}
        task = LINE.format(task=f"dia/dia_bench -T bundle={case.bundle} -T tools=python,bash,files -T sandbox=local")
        done = shell(f"{task} --limit 1", environment("inspect"), **variables)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    wrote, read, listed, computed, shown, missing = results(server.asked[-1])
    assert (wrote, read, computed.strip(), shown.strip()) == ("wrote a.txt", "6 * 7", "42", "6 * 7")
    assert "a.txt" in listed and "missing.txt" in missing
