"""Words and lines of a text."""

from __future__ import annotations

from itertools import pairwise
from string import ascii_uppercase as LETTERS

from dia_language.budgets import charge
from dia_language.diagnostics import LanguageError
from dia_language.functions.argument_types import Value
from dia_language.functions.registry import library_function
from dia_language.functions.text import join
from dia_language.numbers.values import plain


@library_function
def words(text: str) -> list[str]:
    """The words of `text`: its parts between whitespace, with their punctuation.

    Examples:
        words(" Tea, or not? ") -> ["Tea,", "or", "not?"]
    """
    charge(len(text) // 4)
    return text.split()


@library_function
def word_count(text: str) -> int:
    """The number of words in `text`, as counted by `words`.

    Examples:
        word_count(" Tea, or not? ") -> 3
    """
    return len(words(text))


@library_function
def first_words(text: str, n: int) -> str:
    """The first `n` words of `text`, separated by single spaces; the unchanged text if it has no more than `n` words.

    `n` must be 0 or more.

    Examples:
        first_words("one  two three", 2) -> "one two"
    """
    all_words = words(text)
    if n < 0:
        raise LanguageError("`first_words` needs `n` to be 0 or more")
    return text if len(all_words) <= n else " ".join(all_words[:n])


@library_function
def lines(text: str) -> list[str]:
    r"""The lines of `text` without their line endings (LF, CR or CRLF).

    If `text` ends with a line ending, no empty line follows it. An empty text has no lines.

    Examples:
        lines("a\n\nb\n") -> ["a", "", "b"]
        lines("") -> []
    """
    charge(len(text) // 16)
    pieces = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return pieces[:-1] if not pieces[-1] else pieces


@library_function
def join_lines(items: list[Value]) -> str:
    r"""The items as text, one per line, without a newline at the end.

    At most 1,000,000 characters.

    Examples:
        join_lines(["a", "b"]) -> "a\nb"
    """
    return join(items, "\n")


@library_function
def lettered(items: list[Value]) -> str:
    r"""The items as lettered options, one per line, such as "A. red".

    The list must have 1 to 26 items. Line breaks within an item are kept.

    Examples:
        lettered(["red", "blue"]) -> "A. red\nB. blue"
    """
    if not 1 <= len(items) <= len(LETTERS):
        raise LanguageError(f"`lettered` takes 1 to {len(LETTERS)} items; the list has {len(items)}")
    return join_lines([f"{letter}. {plain(item)}" for letter, item in zip(LETTERS, items, strict=False)])


@library_function
def relined(text: str, n: int) -> str:
    r"""The words of `text` on exactly `n` lines, as evenly as possible; the first lines get the extra words.

    `n` must be from 1 to 10,000. If there are fewer words than lines, the last word is repeated so that no line is
    empty. Raises an error if the text has no words.

    Examples:
        relined("one two three four five", 2) -> "one two three\nfour five"
    """
    if not 1 <= n <= 10_000:
        raise LanguageError("`relined` needs `n` from 1 to 10,000")
    all_words = words(text)
    if not all_words:
        raise LanguageError("`relined` needs a text with one or more words")
    all_words += all_words[-1:] * (n - len(all_words))
    size, more = divmod(len(all_words), n)
    ends = [size * at + min(at, more) for at in range(n + 1)]
    return join_lines([" ".join(all_words[low:high]) for low, high in pairwise(ends)])
