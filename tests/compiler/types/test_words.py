"""Words of a list."""

from __future__ import annotations

from dia_compiler.types.words import Words


def test_a_refusal_names_the_word_or_the_number_of_words() -> None:
    words = Words(["cat", "cow"], 1, 2)
    assert words.refusal("cat dog") == "`dog` is not one of the 2 words of the list"
    assert words.refusal("cat cow cat") == "`cat cow cat` does not have 1 to 2 words"
