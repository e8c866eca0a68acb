"""Morse code against the Recommendation's list, rotation against tr and Python's codec."""

from __future__ import annotations

import codecs
import shutil
import subprocess

import pytest
from helpers.examples import examples
from helpers.library_calls import call, code
from hypothesis import given, settings
from hypothesis import strategies as st

# ITU-R M.1677-1 (10/2009), section 1.1, in the order of its table, without the accented e and procedure signs
RECOMMENDATION = """
a .-    b -...  c -.-.  d -..   e .     f ..-.  g --.   h ....  i ..    j .---  k -.-   l .-..  m --
n -.    o ---   p .--.  q --.-  r .-.   s ...   t -     u ..-   v ...-  w .--   x -..-  y -.--  z --..
1 .----  2 ..---  3 ...--  4 ....-  5 .....  6 -....  7 --...  8 ---..  9 ----.  0 -----
. .-.-.-  , --..--  : ---...  ? ..--..  ' .----.  - -....-  / -..-.  ( -.--.  ) -.--.-
" .-..-.  = -...-  + .-.-.  @ .--.-.
"""
SIGNS = dict(zip(RECOMMENDATION.split()[::2], RECOMMENDATION.split()[1::2], strict=True))


def test_every_sign_is_that_of_the_recommendation() -> None:
    assert len(SIGNS) == len(set(SIGNS.values())) == 49
    for character, sign in SIGNS.items():
        assert call("to_morse", character) == call("to_morse", character.upper()) == sign
        assert call("from_morse", sign) == character.upper()


@given(st.lists(st.text(alphabet="".join(SIGNS), min_size=1, max_size=6), max_size=4))
def test_morse_comes_back_in_capital_letters(words: list[str]) -> None:
    text = " ".join(words)
    shown = call("to_morse", text)
    assert shown == " / ".join(" ".join(SIGNS[character] for character in word) for word in words)
    assert call("from_morse", shown) == text.upper()
    assert call("to_morse", f"  {text}\n") == shown


@pytest.mark.parametrize("text", [".......", "x", "...  ---", " ...", "... ", ".../...", "... /  ...", "/", "·−"])
def test_malformed_morse_is_refused(text: str) -> None:
    assert code("from_morse", text) == "E501"


def test_characters_without_a_sign_are_refused() -> None:
    assert code("to_morse", "é") == code("to_morse", "ß") == code("to_morse", "a!b") == "E501"
    assert code("to_morse", "a" * 200_000) == "E502"


@settings(max_examples=examples(40))
@given(st.text(max_size=30), st.integers(-60, 60))
def test_rotation_agrees_with_python_and_turns_back(text: str, n: int) -> None:
    assert call("rot", text, 13) == codecs.encode(text, "rot13")
    assert call("rot", call("rot", text, n), -n) == text
    assert call("rot", text, n) == call("rot", text, n + 26)


@pytest.mark.skipif(shutil.which("tr") is None, reason="needs the command tr")
def test_rotation_agrees_with_tr() -> None:
    told = subprocess.run(
        ["tr", "A-Za-z", "D-ZA-Cd-za-c"],
        input="The Quick Brown Fox, 42!",
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert call("rot", "The Quick Brown Fox, 42!", 3) == told
