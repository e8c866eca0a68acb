"""Every input that fuzzing starts from or has found, and mutations of them, through every target."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent))
from targets import TARGETS

CORPUS = Path(__file__).parent / "corpus"
KEPT = sorted(path for path in CORPUS.rglob("*") if path.is_file())


@pytest.mark.parametrize("path", KEPT, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_kept_inputs_raise_nothing_unexpected(path: Path) -> None:
    TARGETS[path.parent.name](path.read_bytes())


@pytest.mark.parametrize("name", sorted(TARGETS))
def test_there_is_a_corpus_for_each_target(name: str) -> None:
    assert len([path for path in KEPT if path.parent.name == name]) >= 10


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


@settings(max_examples=150, deadline=None)
@given(mutated())
def test_mutated_inputs_raise_nothing_unexpected(case: tuple[str, bytes]) -> None:
    name, content = case
    TARGETS[name](content)
