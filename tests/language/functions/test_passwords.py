"""The strength of passwords against a second computation by regular expressions, and what it must rank."""

from __future__ import annotations

import math
import re
import string

import pytest
from dia_language.diagnostics import LanguageError
from helpers.library_calls import call
from hypothesis import given
from hypothesis import strategies as st

PRINTABLE = string.ascii_letters + string.digits + string.punctuation + " "
KINDS = {"[a-z]": 26, "[A-Z]": 26, "[0-9]": 10, "[^a-zA-Z0-9]": 33}


@given(st.text(PRINTABLE, max_size=20))
def test_kinds_and_the_plain_estimate_are_those_of_the_characters(text: str) -> None:
    present = [size for pattern, size in KINDS.items() if re.search(pattern, text)]
    assert call("entropy_classes", text) == len(present)
    assert 1 <= call("guesses", text) <= sum(present) ** len(text)


@given(st.text("acegikmoqsuwy", min_size=1, max_size=8).filter(lambda text: not re.search(r"(.)\1\1", text)))
def test_texts_without_runs_have_all_texts_of_their_length_before_them(text: str) -> None:
    assert call("guesses", text) == 26 ** len(text)


@pytest.mark.parametrize(
    "text,wanted",
    [("", 1), ("abcdef", 26 * 18), ("4321", 10 * 12), ("aaaab", 26 * 12 * 26), ("ab", 26**2), ("yz{", 59**3),
     ("Aa1!", 95**4), ("xabcx", 26 * 26 * 9 * 26), ("abcba", 26 * 9 * 26**2), ("éé", 33**2), ("aabb", 26**4)],
)  # fmt: skip
def test_runs_count_less(text: str, wanted: int) -> None:
    assert call("guesses", text) == wanted


def test_a_long_mixed_password_is_far_above_words_with_numbers() -> None:
    weak = ["sunshine99", "password123", "qwertyuiop12", "111111111111111111", "abcdefghijklmnopqrst", "Liverpool2019"]
    assert min(call("guesses", "kV9$tq!Zr2#Lw8@x") // call("guesses", text) for text in weak) > 10**6
    assert math.log2(call("guesses", "correcthorse")) == pytest.approx(12 * math.log2(26))


def test_long_texts_are_refused() -> None:
    with pytest.raises(LanguageError, match="at most 1,000 characters"):
        call("guesses", "a" * 1001)
    assert call("guesses", "a" * 1000) == 26 * 3000
