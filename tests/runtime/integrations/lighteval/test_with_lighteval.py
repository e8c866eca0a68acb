"""lighteval itself runs an exported task: it asks our prompts and finds our figures, its bootstrap included."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.loopback import serve
from helpers.tricky import SAME, Case, Command

pytestmark = pytest.mark.harness
MODEL = """\
model_parameters:
  provider: openai
  model_name: openai/loop
  base_url: {url}
  api_key: sk-none
  max_model_length: 131072
  concurrent_requests: 4
  api_max_retry: 2
  generation_parameters: {{temperature: 0.0}}
"""
LINE = 'lighteval endpoint litellm model.yaml "dia_tricky|0" --custom-tasks {folder}/dia_tricky.py --output-dir out --save-details'
OFFLINE = {
    "OPENAI_API_KEY": "sk-none",
    "HF_HUB_OFFLINE": "1",
    "HF_DATASETS_OFFLINE": "1",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
}


def offline(programs: Path) -> None:
    """Nothing; one of lighteval's own tasks fetches this file when any task is loaded, an empty one keeps it home."""
    (found,) = programs.parent.glob("lib/python*/site-packages/lighteval/tasks/tasks")
    (found / "tinyBenchmarks.pkl").touch()


def test_an_exported_task_asks_our_prompts_and_finds_our_figures(
    case: Case, environment: Callable[[str], Path], shell: Command, tmp_path: Path
) -> None:
    folder, programs = case.exported("lighteval"), environment("lighteval")
    offline(programs)
    with serve(case.model()) as server:
        (tmp_path / "model.yaml").write_text(MODEL.format(url=server.url))
        done = shell(LINE.format(folder=folder), programs, **OFFLINE)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    # An empty reply is asked for once more.
    assert {each.text for each in server.asked} == set(case.prompts.values())
    assert all([said["role"] for said in each.body["messages"]] == ["user"] for each in server.asked)
    (results,), (details,) = list(tmp_path.rglob("results_*.json")), list(tmp_path.rglob("details_*.parquet"))
    found, ours = json.loads(results.read_text())["results"]["dia_tricky|0"], case.figures
    for name, key in (("correct", "trad_score"), ("skipped", "idk_freq"), ("unparsed", "extract_fail")):
        assert found[name] == pytest.approx(ours[key]["value"])
    for name in ("rs", "conf", "nms"):
        assert found[name] == pytest.approx(ours[name]["value"])
        assert found[f"{name}_stderr"] == pytest.approx(ours[name]["se"])
    assert "tsr_stderr" not in found and found["correct_clustered"] == pytest.approx(ours["trad_score"]["value"])
    assert found["tsr"] == pytest.approx(sum(ours["tsr"].values()) / len(ours["tsr"]))
    assert found["correct_clustered_stderr"] == pytest.approx(ours["trad_score"]["se"])
    back = case.imported("lighteval", details)
    assert {name: back[name] for name in SAME} == {name: ours[name] for name in SAME}
