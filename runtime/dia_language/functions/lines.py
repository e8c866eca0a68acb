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
    """Words of the text: what stands between blanks and ends of lines, with its punctuation.

    >>> words(" Tea, or not? ")
    ['Tea,', 'or', 'not?']
    """
    charge(len(text) // 4)
    return text.split()


@library_function
def word_count(text: str) -> int:
    """How many words the text has, as `words` sees them.

    >>> word_count(" Tea, or not? ")
    3
    """
    return len(words(text))


@library_function
def first_words(text: str, n: int) -> str:
    """First n words of the text with one blank between them; the text as it is where it has no more.

    `n` is 0 or more.

    >>> first_words("one  two three", 2)
    'one two'
    """
    all_words = words(text)
    if n < 0:
        raise LanguageError("`first_words` needs `n` to be 0 or more")
    return text if len(all_words) <= n else " ".join(all_words[:n])


@library_function
def lines(text: str) -> list[str]:
    """Lines of the text without their ends, which are a line feed, a carriage return or both.

    An end of line at the very end begins no further line; an empty text has no lines.

    >>> lines("a\\n\\nb\\n"), lines("")
    (['a', '', 'b'], [])
    """
    charge(len(text) // 16)
    pieces = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return pieces[:-1] if not pieces[-1] else pieces


@library_function
def join_lines(items: list[Value]) -> str:
    """Text of the items with a line feed between them, and none at the end.

    At most 1,000,000 characters.

    >>> join_lines(["a", "b"])
    'a\\nb'
    """
    return join(items, "\n")


@library_function
def lettered(items: list[Value]) -> str:
    """Text of the items as options: each on a line of its own behind its letter, from A on.

    From 1 to 26 items; an item of several lines stays as it is.

    >>> lettered(["red", "blue"])
    'A. red\\nB. blue'
    """
    if not 1 <= len(items) <= len(LETTERS):
        raise LanguageError(f"`lettered` takes 1 to {len(LETTERS)} items; these are {len(items)}")
    return join_lines([f"{letter}. {plain(item)}" for letter, item in zip(LETTERS, items, strict=False)])


@library_function
def relined(text: str, n: int) -> str:
    """Words of the text on exactly n lines, as evenly as they go; the first lines get a word more.

    `n` is 1 to 10,000. Where there are fewer words than lines the last word is repeated, so that no line is
    empty; an error for a text without words.

    >>> relined("one two three four five", 2)
    'one two three\\nfour five'
    """
    if not 1 <= n <= 10_000:
        raise LanguageError("`relined` makes 1 to 10000 lines")
    all_words = words(text)
    if not all_words:
        raise LanguageError("`relined` needs a text that has a word")
    all_words += all_words[-1:] * (n - len(all_words))
    size, more = divmod(len(all_words), n)
    ends = [size * at + min(at, more) for at in range(n + 1)]
    return join_lines([" ".join(all_words[low:high]) for low, high in pairwise(ends)])
