"""lm-evaluation-harness itself runs an exported task: it asks our prompts and finds our figures."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.loopback import serve
from helpers.tricky import SAME, Case, Command

pytestmark = pytest.mark.harness
LINE = (
    "lm_eval --model local-chat-completions"
    " --model_args model=loop,base_url={url}/chat/completions,num_concurrent=4,max_retries=1,tokenizer_backend=None"
    " --tasks dia_tricky --include_path {folder} --apply_chat_template --log_samples --output_path out"
)
OFFLINE = {"OPENAI_API_KEY": "sk-none", "HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}


def test_an_exported_task_asks_our_prompts_and_finds_our_figures(
    case: Case, environment: Callable[[str], Path], shell: Command, tmp_path: Path
) -> None:
    folder = case.exported("lm-eval")
    with serve(case.model()) as server:
        done = shell(LINE.format(url=server.url, folder=folder), environment("lm-eval"), **OFFLINE)
    assert done.returncode == 0, done.stderr[-3000:]
    case.asked_exactly(server.asked)
    (results,), (samples,) = list(tmp_path.rglob("results_*.json")), list(tmp_path.rglob("samples_*.jsonl"))
    found, ours = json.loads(results.read_text())["results"]["dia_tricky"], case.figures
    for name, key in (("correct", "trad_score"), ("skipped", "idk_freq"), ("unparsed", "extract_fail")):
        assert found[f"{name},none"] == pytest.approx(ours[key]["value"])
    for name in ("rs", "conf", "nms"):
        assert found[f"{name},none"] == pytest.approx(ours[name]["value"])
    assert found["tsr,none"] == pytest.approx(sum(ours["tsr"].values()) / len(ours["tsr"]))
    assert found["correct_clustered_stderr,none"] == pytest.approx(ours["trad_score"]["se"])
    row = next(line for line in done.stdout.splitlines() if "|correct_clustered" in line.replace(" ", ""))
    (value, error) = (ours["trad_score"][name] for name in ("value", "se"))
    assert f"|{value:.4f}|±|{error:.4f}|" in row.replace(" ", ""), done.stdout
    assert found["points,none"] == pytest.approx(ours["rs"]["value"] / len(ours["tsr"]))
    back = case.imported("lm-eval", samples)
    assert {name: back[name] for name in SAME} == {name: ours[name] for name in SAME}
