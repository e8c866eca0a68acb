"""Text against regular expressions, numpy's and Python's own."""

from __future__ import annotations

import functools
import re
import time
import unicodedata

import numpy
import pytest
from dia_language.numbers.values import ExactDecimal, plain
from helpers.library_calls import call, code
from hypothesis import given
from hypothesis import strategies as st

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
SHORT = st.text(alphabet="ab", min_size=1, max_size=2)
FEW = st.text(alphabet="abAB é", max_size=20)


@given(FEW, SHORT, TEXTS)
def test_splitting_and_replacing_agree_with_regular_expressions(text: str, part: str, new: str) -> None:
    pieces = call("split", text, part)
    assert pieces == re.split(re.escape(part), text)
    assert call("join", pieces, part) == text
    assert call("replace", text, part, new) == re.sub(re.escape(part), lambda _: new, text)
    assert call("without", text, part) == re.sub(f"[{part}]", "", text)


@given(FEW, SHORT)
def test_parts_agree_with_regular_expressions(text: str, part: str) -> None:
    assert call("contains", text, part) == bool(re.search(part, text))
    assert call("starts_with", text, part) == bool(re.match(part, text))
    assert call("ends_with", text, part) == bool(re.search(part + r"\Z", text))
    assert call("strip", text, "ab") == re.sub(r"\A[ab]+|[ab]+\Z", "", text)
    assert call("strip", f"\t {text}\r\n") == re.sub(r"\A\s+|\s+\Z", "", text)


@given(st.lists(TEXTS, max_size=5), st.integers(0, 5))
def test_texts_put_together_agree_with_adding(texts: list[str], times: int) -> None:
    whole = functools.reduce(lambda a, b: a + b, texts, "")
    assert call("concat", *texts) == call("join", texts) == whole
    assert call("repeat", whole, times) == call("concat", *[whole] * times)
    assert call("characters", whole) == [whole[at] for at in range(len(whole))]


@given(st.text(alphabet="aBcÉéñŁ12", max_size=12))
def test_cases_agree_with_numpy(text: str) -> None:
    assert call("upper", text) == str(numpy.char.upper(text))
    assert call("lower", text) == str(numpy.char.lower(text))
    assert call("swap_case", text) == str(numpy.char.swapcase(text))
    assert call("casefold", text) == call("casefold", call("upper", text)) == str(numpy.char.lower(text))


def test_cases_follow_unicode() -> None:
    # SpecialCasing.txt and CaseFolding.txt of the Unicode character database
    assert call("upper", "ß") == "SS"
    assert call("casefold", "ẞ") == call("casefold", "ß") == "ss"
    assert call("lower", "ΑΣ") == "ας"
    assert call("swap_case", "ǆ") == "Ǆ"


@given(st.integers(-(10**9), 10**9), st.integers(0, 15))
def test_padding_agrees_with_formats(n: int, width: int) -> None:
    assert call("pad_left", n, width) == f"{n:>{width}}"
    assert call("pad_right", n, width) == f"{n:<{width}}"
    assert call("pad_left", str(n), width, "*") == f"{n:*>{width}}"
    assert call("pad_right", str(n), width, "é") == f"{n:é<{width}}"


@given(st.characters(exclude_categories=["Cs"]))
def test_codes_are_unicodes(character: str) -> None:
    number = call("char_code", character)
    assert call("from_char_code", number) == character
    assert f"\\U{number:08x}".encode().decode("unicode_escape") == character


def test_codes_by_name() -> None:
    for name in ("LATIN CAPITAL LETTER A", "GREEK SMALL LETTER PI", "SNOWMAN", "GRINNING FACE"):
        assert call("from_char_code", call("char_code", unicodedata.lookup(name))) == unicodedata.lookup(name)
    assert call("char_code", "☃") == 0x2603


def test_values_are_joined_as_prompts_print_them() -> None:
    values = [1, "a", True, ExactDecimal(1, 4), [1, "b"], None]
    assert call("join", values, "|") == "|".join(plain(value) for value in values)
    assert call("join", values, "|") == '1|a|True|0.25|[1, "b"]|none'
    assert [call("str", value) for value in values] == [plain(value) for value in values]
    assert code("join", [b"a"]) == code("str", b"a") == "E501"


def test_integers_of_any_size_are_printed() -> None:
    gmpy2 = pytest.importorskip("gmpy2")
    n = 7**50_000
    assert call("str", n) == call("join", [n]) == gmpy2.mpz(n).digits()


def test_wrong_arguments_are_refused() -> None:
    assert code("split", "a", "") == code("replace", "a", "", "b") == code("repeat", "a", -1) == "E501"
    assert code("char_code", "ab") == code("char_code", "") == code("pad_left", "a", 3, "ab") == "E501"
    for number in (-1, 0x110000, 0xD800, 0xDFFF, 10**50):
        assert code("from_char_code", number) == "E501"


def test_long_results_are_refused_at_once() -> None:
    began = time.perf_counter()
    assert code("repeat", "ab", 10**12) == "E502"
    assert code("replace", "a" * 10_000, "a", "b" * 10_000) == "E502"
    assert code("join", ["a" * 1000] * 1000, "--") == "E502"
    assert code("concat", "a" * 600_000, "a" * 600_000) == "E502"
    assert code("pad_left", "a", 10**9) == code("pad_right", "a", 10**9) == "E502"
    assert time.perf_counter() - began < 0.5
