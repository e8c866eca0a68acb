"""The tour of sessions: every key and every reply format has a use, the bytes are pinned, and each template is a model."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from dia_compiler import compile
from dia_compiler.freeze.output import FrozenBundle
from dia_runtime.formats.replies import REPLY_FORMATS
from helpers.places import ROOT
from helpers.yaml_files import TEXT_LOADER
from jsonschema import Draft202012Validator

TOUR = ROOT / "docs" / "examples" / "sessions"
DIGEST = "30c8532267d5b44e59bd267f9ce32705cf79964cbcb9b994e2db4b59cb2ca4b4"
SPECS = {path.stem: yaml.load(path.read_text(encoding="utf-8"), TEXT_LOADER) for path in sorted(TOUR.glob("*.yaml"))}
TEMPLATES = [name for name, spec in SPECS.items() if "template" in spec]
SCHEMA = json.loads((ROOT / "schemas" / "template.schema.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> FrozenBundle:
    return compile([TOUR], k=3, out=tmp_path_factory.mktemp("sessions"), jobs=1).bundles[0]


def test_the_bytes_are_pinned(bundle: FrozenBundle) -> None:
    assert bundle.digest == DIGEST, f"after an intended change of docs/examples/sessions, set DIGEST to {bundle.digest}"


def test_what_only_grading_needs_stands_with_the_answers_alone(bundle: FrozenBundle) -> None:
    questions = (bundle.path / "questions.jsonl").read_text(encoding="utf-8")
    assert not [
        word for word in ("positive", "grade", 'ladder"}', '"left"', "presets", "self-execution") if word in questions
    ]


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_template_is_a_model_to_copy(name: str) -> None:
    spec = SPECS[name]
    assert {"title", "category", "domain", "level", "skills", "examples"} <= set(spec) and spec["template"] == name
    assert all({"correct", "wrong"} <= set(example["replies"]) for example in spec["examples"])


def test_every_key_has_a_use() -> None:
    for name in ("session", "turn", "reply", "settings", "decisions", "ranking", "grade"):
        assert unused(SCHEMA["$defs"][name]["properties"], keys(held(name))) == [], name
    judge = SCHEMA["$defs"]["grade"]["properties"]["judge"]["properties"]
    judges = [spec["grade"]["judge"] for spec in SPECS.values() if "judge" in spec.get("grade", {})]
    assert unused(judge, keys(judges)) == []
    assert unused(judge["labels"]["properties"], keys(held["labels"] for held in judges)) == []
    figures = [figure for spec in SPECS.values() for figure in spec.get("figures", {}).values()]
    known = SCHEMA["$defs"]["figures"]["additionalProperties"]["properties"]
    assert unused(known, keys(figures)) == []
    for name in ("over", "summary"):
        assert unused(known[name]["enum"], (figure.get(name) for figure in figures)) == []
    presets = [preset for spec in SPECS.values() for preset in spec.get("presets", {}).values()]
    known = SCHEMA["properties"]["presets"]["additionalProperties"]["properties"]
    assert unused(set(known) - {"ranking", "grade"}, keys(presets)) == []


def test_every_reply_format_has_a_use() -> None:
    used = {reply["format"] for reply in held("reply")}
    assert unused(REPLY_FORMATS, used) == [] and used - REPLY_FORMATS.keys()  # an answer format too, with its type


def unused(known: Iterable[Any], used: Iterable[Any]) -> list[Any]:
    return sorted(set(known) - set(used))


def keys(parts: Iterable[dict[str, Any]]) -> set[str]:
    return {key for part in parts for key in part}


def held(name: str) -> Iterator[dict[str, Any]]:
    """Every part of that name in the specs."""
    sessions = [session for spec in SPECS.values() for session in spec.get("sessions", {}).values()]
    turns = [turn for session in sessions for turn in session["turns"]]
    if name in ("session", "turn"):
        yield from sessions if name == "session" else turns
    elif name == "reply":
        yield from (turn["reply"] for turn in turns if "reply" in turn)
    elif name == "settings":
        yield from (session["settings"] for session in sessions if "settings" in session)
    else:
        yield from (spec[name] for spec in SPECS.values() if name in spec)


@pytest.mark.parametrize("name", ["own_riddle", "free_reason"])
def test_a_preview_keeps_to_its_schema_and_names_what_is_read(
    name: str, tmp_path: Path, dia: Callable[..., Any]
) -> None:
    printed = json.loads(dia(tmp_path, "preview", str(TOUR / f"{name}.yaml"), "--json").stdout)
    schema = json.loads((ROOT / "schemas" / "preview.schema.json").read_text(encoding="utf-8"))
    assert [fault.message for fault in Draft202012Validator(schema).iter_errors(printed)] == []
    _, second = printed["templates"][0]["instances"][0]["sessions"]
    assert second["reads"] in ({"made": "write"}, {"response": "ask"})
