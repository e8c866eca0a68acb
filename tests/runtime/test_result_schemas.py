from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import dia_runtime
import jsonschema
import pytest
from helpers.schemas import faults, schema

Make = Callable[..., Path]
NAMES = ("manifest", "question", "answer", "template-record", "reply", "score", "run", "verify")


@pytest.mark.parametrize("name", NAMES)
def test_a_schema_is_one_and_describes_itself(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(schema(name))
    assert schema(name)["$id"].endswith(f"/{name}.schema.json") and schema(name)["description"]


def test_a_bundle_keeps_its_schemas(tiny: Make) -> None:
    bundle = dia_runtime.open_bundle(tiny(variants=[None, "shouted"]))
    assert faults("manifest", bundle.manifest) == []
    for name, records in (
        ("question", bundle.questions()),
        ("answer", bundle.answers()),
        ("template-record", bundle.templates()),
    ):
        assert [faults(name, record) for record in records] == [[]] * (2 if name == "template-record" else 12)


@pytest.mark.parametrize("key", ["checksum", "questions_root", "files", "counts", "k", "left_out"])
def test_a_manifest_without_a_key_breaks_its_schema(tiny: Make, key: str) -> None:
    manifest = dia_runtime.open_bundle(tiny()).manifest
    assert faults("manifest", {name: value for name, value in manifest.items() if name != key})


def test_a_question_asks_by_messages_or_by_sessions(tiny: Make) -> None:
    question = next(dia_runtime.open_bundle(tiny()).questions())
    rest = {name: value for name, value in question.items() if name != "messages"}
    sessions = [{"name": "talk", "role": "subject", "needs": [], "turns": [{"user": "Hello?"}]}]
    assert faults("question", rest) and faults("question", {**question, "sessions": sessions})
    assert faults("question", {**rest, "sessions": sessions}) == []


@pytest.mark.parametrize("worth", ["1e9", 0.5, "1/0", None])
def test_points_are_exact(tiny: Make, worth: Any) -> None:
    question = next(dia_runtime.open_bundle(tiny()).questions())
    assert faults("question", {**question, "points": {**question["points"], "wrong": worth}})


def test_open_figures_keep_the_schema_of_scores(tiny: Make, tmp_path: Path) -> None:
    dia_runtime.run(tiny(), ["oracle"], tmp_path / "a.run", limit=2)
    result = dia_runtime.score(tmp_path / "a.run")
    assert faults("score", result) == []
    result["models"][0]["rs"] = {"value": None, "se": None, "ci": None, "bounds": [-1.0, 1.0]}
    assert faults("score", result) == []
    result["models"][0]["rs"] = -1.0
    assert faults("score", result)


def test_a_reply_has_a_text_an_error_or_neither() -> None:
    reply = {"question": "b/t/0", "respondent": "a", "attempt": 1, "text": "x", "error": None, "cost": "0.01"}
    assert faults("reply", reply) == []
    assert faults("reply", {**reply, "attempt": 0}) and faults("reply", {**reply, "cost": 0.01})
