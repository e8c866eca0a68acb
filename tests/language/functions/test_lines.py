"""Words and lines against regular expressions and io."""

from __future__ import annotations

import io
import re
from typing import Any

from helpers.library_calls import call, code
from hypothesis import given
from hypothesis import strategies as st

TEXTS = st.text(alphabet="ab.é \t\r\n", max_size=25)


@given(TEXTS)
def test_words_and_lines_are_those_that_python_reads(text: str) -> None:
    assert call("words", text) == re.findall(r"\S+", text)
    assert call("word_count", text) == len(re.findall(r"\S+", text))
    assert call("lines", text) == [line.rstrip("\n") for line in io.StringIO(text, newline=None)]


@given(st.lists(st.text(alphabet="ab ", min_size=1, max_size=5), min_size=1, max_size=5))
def test_lines_put_together_come_apart_again(items: list[str]) -> None:
    assert call("lines", call("join_lines", items)) == items


@given(TEXTS, st.integers(0, 8))
def test_first_words_keep_a_short_text_as_it_is(text: str, n: int) -> None:
    kept = call("first_words", text, n)
    found = re.findall(r"\S+", text)
    assert re.findall(r"\S+", kept) == found[:n]
    assert kept == (text if len(found) <= n else " ".join(found[:n]))


@given(TEXTS.filter(lambda text: bool(text.split())), st.integers(1, 12))
def test_relined_text_has_exactly_the_lines_and_the_words(text: str, n: int) -> None:
    made, found = call("relined", text, n), text.split()
    assert len(call("lines", made)) == n
    assert made.split()[: len(found)] == found
    assert len(made.split()) == max(n, len(found))
    sizes = [len(line.split()) for line in call("lines", made)]
    assert max(sizes) - min(sizes) <= 1
    assert call("relined", made, n) == made


def test_wrong_arguments_are_refused() -> None:
    assert code("relined", " ", 2) == code("relined", "a", 0) == code("first_words", "a", -1) == "E501"
    assert code("join_lines", ["a" * 600_000] * 2) == "E502"
    assert call("join_lines", [1, "b"]) == "1\nb"


@given(st.lists(st.text(alphabet="ab ", max_size=5) | st.integers(-9, 9), min_size=1, max_size=26))
def test_letters_stand_before_the_items_in_their_order(items: list[Any]) -> None:
    made = call("lettered", items)
    assert made == "\n".join(f"{chr(65 + place)}. {item}" for place, item in enumerate(items))


def test_there_are_letters_for_one_to_26_items() -> None:
    assert code("lettered", []) == "E501" and code("lettered", ["x"] * 27) == "E501"
    assert code("lettered", ["x" * 600_000] * 2) == "E502"
