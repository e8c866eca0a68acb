"""Patterns against Python's own regular expressions, where the two agree."""

from __future__ import annotations

import re
import time

import pytest
import re2
from dia_language.diagnostics import LanguageError
from dia_language.functions import patterns
from helpers.library_calls import call
from hypothesis import given
from hypothesis import strategies as st

PATTERNS = [
    r"\d+",
    r"[a-c]+",
    r"(\w)=(\d)",
    r"a(b?)",
    r"(?i)AB|c",
    r"(a)|(b)",
    r"(?m)^a.*$",
    r"é.",
    r"\bab\b",
    r"x{2,3}",
]


@given(st.sampled_from(PATTERNS), st.text(alphabet="abcé=12x \n", max_size=30))
def test_matches_agree_with_python(pattern: str, text: str) -> None:
    known = [list(match) if isinstance(match, tuple) else match for match in re.findall(pattern, text, re.ASCII)]
    assert call("matches", pattern, text) == known


NESTED = [r"(a*)(b|x*)", r"((a)|(b))*", r"^|b$", r"(?:a|(b))??", r"\b", r"()()", r"([ab]+)=?(\d*)()"]


@given(st.sampled_from(PATTERNS + NESTED), st.text(alphabet="ab=12x \n", max_size=30))
def test_matches_of_ascii_are_those_of_the_binding(pattern: str, text: str) -> None:
    known = [list(match) if isinstance(match, tuple) else match for match in re2.findall(pattern, text)]
    assert call("matches", pattern, text) == known


def test_a_binding_that_keeps_its_engine_elsewhere_matches_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    found = call("matches", r"(\w)=(\d)", "a=1 b=2")
    assert patterns._search(object()) is None
    monkeypatch.setattr(patterns, "_search", lambda compiled: None)
    patterns._pattern.cache_clear()
    assert call("matches", r"(\w)=(\d)", "a=1 b=2") == found
    patterns._pattern.cache_clear()


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=10))
def test_an_escaped_text_matches_itself_alone(text: str) -> None:
    assert call("matches", call("escape", text), f"{text}\0{text}") == [text, text]
    assert call("matches", "^" + call("escape", text) + "$", text + "x") == []


def test_matches_of_the_language_page() -> None:
    log = 'x\n10.1.2.3 - - "GET /.env HTTP/1.1" 200\n10.9.9.9 - - "GET /xenv HTTP/1.1" 200\n'
    pattern = r"(?m)^(\S+) .*" + call("escape", "/.env") + " "
    assert call("matches", pattern, log) == ["10.1.2.3"]
    assert call("matches", r"(?i)\b(i can(no|')t|i'm (unable|sorry))", "Sorry, I can't.") == [["I can't", "'", ""]]


@pytest.mark.parametrize("pattern", ["(a", "(?=a)", r"(a)\1", "a{1001}", "[z-a]", "*", r"\Z"])
def test_what_re2_lacks_is_refused_with_its_reason(pattern: str, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(LanguageError, match="the pattern is not RE2: "):
        call("matches", pattern, "a")
    assert capfd.readouterr() == ("", "")


def test_a_pattern_that_hangs_other_engines_takes_no_time() -> None:
    began = time.perf_counter()
    assert call("matches", "^(a+)+$", "a" * 50_000 + "b") == []
    assert time.perf_counter() - began < 1
