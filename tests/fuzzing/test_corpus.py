"""Every input that fuzzing starts from or has found, and mutations of them, through every target."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from dia_compiler.analyze.check import check
from dia_compiler.parse.discover import discover
from dia_compiler.parse.yaml_pitfalls import compiled
from dia_compiler.types import TYPES
from dia_language.answers import ANSWER_TYPES
from dia_language.budgets import STEPS as ALLOWED
from dia_language.diagnostics import DiaError
from dia_language.expressions.namespace import Namespace
from dia_language.functions import library
from dia_language.workers import heartbeat
from dia_runtime.formats import FORMATS
from helpers.examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent))
import replies
import seeds
from targets import SCOPE, STEPS, TARGETS, files_of, snippet

CORPUS = Path(__file__).parent / "corpus"
KEPT = sorted(path for path in CORPUS.rglob("*") if path.is_file())
SPECS = [path for path in KEPT if path.parent.name == "spec" and not path.name.startswith("found")]


@pytest.mark.parametrize("path", KEPT, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_kept_inputs_raise_nothing_unexpected(path: Path) -> None:
    TARGETS[path.parent.name](path.read_bytes())


@pytest.mark.parametrize("name", sorted(TARGETS))
def test_there_is_a_corpus_for_each_target(name: str) -> None:
    assert len([path for path in KEPT if path.parent.name == name]) >= 10


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.name)
def test_specs_that_fuzzing_starts_from_have_no_fault(path: Path, tmp_path: Path) -> None:
    for name, content in files_of(path.read_bytes()).items():
        (tmp_path / name).write_bytes(content)
    assert [fault.message for fault in check(discover([tmp_path])).diagnostics.errors] == []


def test_specs_that_fuzzing_starts_from_use_every_key_type_and_format() -> None:
    kept = [path.read_text(encoding="utf-8", errors="replace") for path in SPECS]
    text = "\n".join([*kept, *seeds.texts("spec")])
    own = {"rows", "row"}
    assert [name for name in TYPES.own if f"type: {name}" not in text and name not in own] == []
    assert [name for name in ANSWER_TYPES if f"type: {name}" not in text] == []
    assert [name for name in FORMATS.own if f"kind: {name}" not in text] == []
    elsewhere = {"assets", "deliver"}
    assert [key for key in seeds.template_keys() if f"{key}:" not in text and key not in elsewhere] == []


def test_replies_are_of_every_type_and_format() -> None:
    assert {comparison["type"] for comparison, _, _ in replies.ANSWERS} == set(ANSWER_TYPES)
    assert {form["kind"] for form in replies.FORMATS} == set(FORMATS.own)


def test_every_function_is_evaluated_by_a_seed() -> None:
    evaluated: set[str] = set()
    for _, text in seeds.expressions():
        try:
            code = compiled(snippet(text.encode()), Namespace(), frozenset(SCOPE))
            heartbeat.set_limits(STEPS)
            code(dict(SCOPE))
        except DiaError:
            continue
        finally:
            heartbeat.set_limits(ALLOWED)
        evaluated |= {use.name for use in code.parsed.calls + code.parsed.function_names}
    assert set(library()) - evaluated == set(seeds.ONLY_IN_SPECS)


MARKS = ["{", "}", "[", "]", "(", ")", ":", ",", '"', "'", "#", "|", ">", "= ", "{{", "}}", "{%", "%}", "\n", "  ", "0",
         "-1", "1/0", "9" * 40, "answer", "it", "none", "true", "\x00", "\ud7ff", "\U0001f600", "&a", "*a", "!x", "**"]  # fmt: skip


@st.composite
def mutated(draw: st.DrawFn) -> tuple[str, bytes]:
    """A kept input with a few pieces cut, doubled, replaced or put in."""
    path = draw(st.sampled_from(KEPT))
    text = path.read_bytes().decode("utf-8", "replace")
    for _ in range(draw(st.integers(1, 4))):
        begin = draw(st.integers(0, len(text)))
        end = min(len(text), begin + draw(st.integers(0, 20)))
        put = draw(st.one_of(st.sampled_from(MARKS), st.just(text[begin:end] * 2), st.just("")))
        text = text[:begin] + put + text[end:]
    return path.parent.name, text.encode("utf-8", "replace")


@settings(max_examples=examples(150), deadline=None)
@given(mutated())
def test_mutated_inputs_raise_nothing_unexpected(case: tuple[str, bytes]) -> None:
    name, content = case
    TARGETS[name](content)
