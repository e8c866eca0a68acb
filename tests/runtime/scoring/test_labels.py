"""Files of labels: patterns, positions of faults, and what their schema says."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from dia_language.diagnostics import DiaError, Diagnostic
from dia_language.yaml_nodes import data, parse
from dia_runtime.data import data_folder
from dia_runtime.scoring.labels import read_labels

Write = Callable[[str], Path]
TAKEN = ("category", "level")


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(text: str) -> Path:
        path = tmp_path / "models.yaml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def fault(path: Path) -> list[Diagnostic]:
    with pytest.raises(DiaError) as caught:
        read_labels(path, TAKEN)
    assert caught.value.exit_code == 2
    return list(caught.value.diagnostics)


def schema() -> Any:
    return json.loads((data_folder() / "schemas" / "models.schema.json").read_text(encoding="utf-8"))


GOOD = """
gpt-4o: {company: OpenAI, tools: false}
"*llama*": {company: Meta, size: 70, licence: open}
"llama-3*": {size: 8.0}
"*": {kind: model}
llama-3.1: {size: ~tiny}
"""


def test_patterns_apply_in_order_and_the_name_wins(write: Write) -> None:
    found = read_labels(write(GOOD))
    assert found.names == ("company", "tools", "size", "licence", "kind")
    assert found.of("gpt-4o") == {"company": "OpenAI", "tools": "false", "kind": "model"}
    assert found.of("llama-3.1") == {"company": "Meta", "size": "~tiny", "licence": "open", "kind": "model"}
    assert found.of("llama-3-8b")["size"] == "8.0"
    assert found.of("GPT-4o") == {"kind": "model"}


@pytest.mark.parametrize(
    ("text", "line", "column", "code", "words"),
    [
        ("", 1, 1, "E203", "mapping from names"),
        ("- a\n", 1, 1, "E203", "mapping from names"),
        ("a: b\n", 1, 4, "E203", "the labels of `a` are not a mapping"),
        ("a:\n  x: [1]\n", 2, 6, "E203", "`x` is not a text"),
        ("a:\n  x:\n", 2, 5, "E203", "`x` is not a text"),
        ("a: {x: 1}\nb:\n  level: high\n", 3, 3, "E310", "`level` is already a label of questions"),
        ("a: {x: 1}\na: {x: 2}\n", 2, 1, "E105", "duplicate key"),
        ("a: &b {x: 1}\n", 1, 4, "E106", "anchors"),
        (f"{'n' * 201}: {{x: 1}}\n", 1, 1, "E203", "more than 200"),
        ("a: {" + ", ".join(f"x{at}: 1" for at in range(101)) + "}\n", 1, 1, "E203", "more than 100"),
        ("a: {x: 1\n", 1, 4, "E104", "not closed"),
    ],
)
def test_faults_have_positions(write: Write, text: str, line: int, column: int, code: str, words: str) -> None:
    (entry, *_) = fault(write(text))
    assert entry.position is not None and words in entry.message
    assert (entry.position.line, entry.position.column, entry.code) == (line, column, code)
    assert entry.position.file.endswith("models.yaml")


def test_all_faults_are_told_and_a_missing_file_is_one(write: Write, tmp_path: Path) -> None:
    assert [entry.position.line for entry in fault(write("a: 1\nb: 2\n")) if entry.position] == [1, 2]
    assert fault(tmp_path / "none.yaml")[0].code == "E101"


@pytest.mark.parametrize("text", [GOOD, "a: b\n", "a: {x: [1]}\n", "a: {x: }\n", "a: {level: 1}\n", "- 1\n"])
def test_the_schema_takes_what_the_reader_takes(write: Write, text: str) -> None:
    jsonschema.Draft202012Validator.check_schema(schema())
    held = json.loads(json.dumps(data(parse(text, "x")), default=float))
    is_kept = not list(jsonschema.Draft202012Validator(schema()).iter_errors(held))
    try:
        read_labels(write(text), schema_labels())
    except DiaError:
        assert not is_kept
    else:
        assert is_kept


def schema_labels() -> list[str]:
    from dia_runtime.scoring.score import LABELS

    taken: list[str] = schema()["additionalProperties"]["propertyNames"]["not"]["enum"]
    assert tuple(taken) == LABELS
    return taken


def test_hostile_patterns_and_names_end_soon(write: Write) -> None:
    pattern = "*a" * 99
    found = read_labels(write(f'"{pattern}": {{x: 1}}\n"[": {{y: 1}}\n"[!a": {{z: 1}}\n'))
    began = time.process_time()
    assert found.of("a" * 98 + "b") == {} and found.of("b" * 100_000) == {}
    assert time.process_time() - began < 2
    assert found.of("[") == {"y": "1"}
