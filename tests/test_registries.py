"""Every entry of a registry is complete: an entry that lacks a part fails with a message that says what to add.

CONTRIBUTING.md has a recipe for each registry, which asks for the same parts.
"""

from __future__ import annotations

import inspect
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from dia_language.answers import ANSWER_TYPES
from dia_language.answers.option_schemas import OPTION_SCHEMAS
from dia_language.functions import FUNCTIONS, KINDS, registry
from dia_language.functions.registry import library_function
from helpers.answer_samples import SAMPLES, TEMPLATES
from helpers.places import ROOT

REFERENCE = ROOT / "docs" / "reference"
TESTS = ROOT / "tests"


@cache
def content(path: Path) -> str:
    """The text of a file, or of the tests in a folder."""
    files = sorted(path.glob("test_*.py")) if path.is_dir() else [path]
    return "\n".join(file.read_text("utf-8") for file in files)


# Functions


def missing_from_function(name: str) -> list[str]:
    """What to add to a function of the library."""
    raw = FUNCTIONS[name]
    doc = inspect.getdoc(raw) or ""
    field = raw.__module__.rpartition(".")[2]
    lacking = [
        f"annotate `{parameter.name}` with one of KINDS in functions/argument_checks.py, not `{parameter.annotation}`"
        for parameter in inspect.signature(raw).parameters.values()
        if parameter.annotation not in KINDS
    ]
    if not doc.split("\n")[0].endswith("."):
        lacking.append("begin its docstring with a sentence on one line, with a full stop")
    if not re.search(rf">>> .*\b{name}_?\(", doc):
        lacking.append(f"add an example to its docstring: `>>> {name}(...)` with the result below")
    if f'"{name}"' not in content(TESTS / "language" / "functions"):
        lacking.append(f'test it in tests/language/functions/test_{field}.py, as `library()["{name}"].call`')
    if f"\n### {name}\n" not in content(REFERENCE / "functions.md"):
        lacking.append("run `python docs/generate.py`, which adds it to docs/reference/functions.md")
    return lacking


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_every_function_is_complete(name: str) -> None:
    assert missing_from_function(name) == []


def test_what_a_function_lacks_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "FUNCTIONS", FUNCTIONS)
    monkeypatch.setitem(FUNCTIONS, "half_of", None)  # removed again after the test
    del FUNCTIONS["half_of"]

    @library_function
    def half_of(number: float) -> float:
        return number / 2

    assert [message.partition(" ")[0] for message in missing_from_function("half_of")] == [
        "annotate", "begin", "add", "test", "run",
    ]  # fmt: skip


def test_two_functions_of_one_name_are_refused() -> None:
    def gcd(number: int) -> int:
        return number

    with pytest.raises(ValueError, match="two library functions are called `gcd`"):
        library_function(gcd)


# Answer types


def missing_from_answer_type(name: str) -> list[str]:
    """What to add to an answer type."""
    kind = ANSWER_TYPES[name]
    lacking = [
        f"describe its option `{option}` in OPTION_SCHEMAS of answers/option_schemas.py"
        for option in sorted(kind.options - OPTION_SCHEMAS.keys())
    ]
    if kind.__dict__.get("name") != name:
        lacking.append(f'set `name = "{name}"` in {kind.__name__}')
    if not kind.__dict__.get("__doc__"):
        lacking.append(f"write a docstring for {kind.__name__}: what it is, and what strict and lenient readings take")
    if all(comparison["type"] != name for comparison, _ in SAMPLES):
        lacking.append("add a comparison with a truth to SAMPLES in tests/helpers/answer_samples.py")
    if f"type: {name}" not in TEMPLATES.get(name, ("",))[0]:
        lacking.append(f'add the answer of a template as "{name}" to TEMPLATES in tests/helpers/answer_samples.py')
    language = content(REFERENCE / "language.md")
    if not re.search(rf"^- \{{value: .*\btype: {name}\b.*\}} +# ", language, re.MULTILINE):
        lacking.append("add an answer with the reply that it gets to the examples under Answers in language.md")
    answers = language.partition("## Answers\n")[2].partition("\n## ")[0]
    if not re.search(rf"^\|[^|]*\|.*\b{name}\b.* \|$", answers, re.MULTILINE):
        lacking.append("name it in the table of answer types in language.md")
    if f"\n### {name} answers\n" not in content(REFERENCE / "types.md"):
        lacking.append("run `python docs/generate.py`, which adds it to docs/reference/types.md and to the schemas")
    return lacking


@pytest.mark.parametrize("name", sorted(ANSWER_TYPES))
def test_every_answer_type_is_complete(name: str) -> None:
    assert missing_from_answer_type(name) == []


def test_what_an_answer_type_lacks_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    class ColourAnswer(ANSWER_TYPES["text"]):  # type: ignore[misc]
        options = frozenset({"palette"})

    entry: Any = ColourAnswer
    monkeypatch.setitem(ANSWER_TYPES, "colour", entry)
    assert [message.partition(" ")[0] for message in missing_from_answer_type("colour")] == [
        "describe", "set", "write", "add", "add", "add", "name", "run",
    ]  # fmt: skip
