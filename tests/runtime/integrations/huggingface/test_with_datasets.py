"""datasets and mlcroissant themselves open the folder of an export."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.tricky import Case, Command

pytestmark = pytest.mark.harness
OFFLINE = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}
LOADS = """
import json, sys
from datasets import load_dataset
found = {name: load_dataset(sys.argv[1], name, split="test").to_list() for name in ("default", "answers")}
assert load_dataset(sys.argv[1], split="test").to_list() == found["default"]
json.dump(found, open("found.json", "w"))
"""
VALIDATES = """
import json, sys
import mlcroissant
data = mlcroissant.Dataset(sys.argv[1])
problems = data.metadata.ctx.issues
assert not problems.errors, problems.report()
found = {}
for name in ("questions", "answers"):
    found[name] = [{key.partition("/")[2]: value.decode() if isinstance(value, bytes) else value for key, value in row.items()} for row in data.records(name)]
json.dump(found, open("croissant.json", "w"), default=str)
"""


def test_the_folder_loads_and_its_metadata_is_valid(
    case: Case, environment: Callable[[str], Path], shell: Command, tmp_path: Path
) -> None:
    folder, programs = case.exported("huggingface"), environment("huggingface")
    for name, text, argument in (("loads.py", LOADS, folder), ("validates.py", VALIDATES, folder / "croissant.json")):
        (tmp_path / name).write_text(text)
        done = shell(f"python {name} {argument}", programs, **OFFLINE)
        assert done.returncode == 0, done.stderr[-3000:]
    validated = shell(f"mlcroissant validate --jsonld {folder / 'croissant.json'}", programs)
    assert validated.returncode == 0 and "Done" in validated.stderr + validated.stdout, validated.stderr
    found = json.loads((tmp_path / "found.json").read_text())
    assert [row["id"] for row in found["default"]] == list(case.prompts)
    assert {row["id"]: row["prompt"] for row in found["default"]} == case.prompts
    assert [row["messages"] for row in found["default"]] == [
        [{"role": said["role"], "content": said["content"]} for said in question["messages"]]
        for question in case.questions
    ]
    assert not {"answer", "target", "grading"} & set(found["default"][0])
    assert [row["id"] for row in found["answers"]] == list(case.prompts) and found["answers"][0]["grading"]
    described = json.loads((tmp_path / "croissant.json").read_text())
    assert {row["id"]: row["prompt"] for row in described["questions"]} == case.prompts
    assert [row["answer"] for row in described["answers"]] == [row["answer"] for row in found["answers"]]
