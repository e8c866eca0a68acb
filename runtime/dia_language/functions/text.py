"""Text: joining and splitting, case, padding. Characters are Unicode code points."""

from __future__ import annotations

from dia_language.budgets import charge
from dia_language.diagnostics import LanguageError
from dia_language.functions.argument_types import Value
from dia_language.functions.registry import library_function
from dia_language.limits import TEXT_LENGTH
from dia_language.numbers.values import TEXTS, plain

BLANKS = " \t\n\r\f\v"


@library_function
def str_(value: Value) -> str:
    """Text of the value as prompts and f-strings print it.

    An error for bytes and catalog entries, which do not print.

    >>> str_(12), str_([1, "a"])
    ('12', '[1, "a"]')
    """
    return plain(value)


@library_function
def join(items: list[Value], separator: str = "") -> str:
    """Text of all items one after the other with the separator between them.

    At most 1,000,000 characters.

    >>> join([1, 2, 3], ", "), join(["a", "b"])
    ('1, 2, 3', 'ab')
    """
    charge(len(items))
    joints = len(separator) * max(0, len(items) - 1)
    parts = items if set(map(type, items)) == TEXTS else list(map(plain, items))
    _bounded("join", sum(map(len, parts)) + joints)
    return separator.join(parts)


@library_function
def split(text: str, separator: str) -> list[str]:
    """Pieces of the text between the separators; n separators make n + 1 pieces, which may be empty.

    An error for an empty separator.

    >>> split("a,b,,c", ",")
    ['a', 'b', '', 'c']
    """
    charge(len(text) // 16)
    return text.split(_filled("separator", separator))


@library_function
def replace(text: str, old: str, new: str) -> str:
    """Text with `new` in place of each `old`, from left to right without overlaps.

    An error for an empty `old`; at most 1,000,000 characters.

    >>> replace("banana", "an", "o")
    'booa'
    """
    _bounded("replace", len(text) + text.count(_filled("old", old)) * (len(new) - len(old)))
    return text.replace(old, new)


@library_function
def without(text: str, unwanted: str) -> str:
    """Text without any of the characters of `unwanted`.

    >>> without("banana", "an")
    'b'
    """
    return text.translate(dict.fromkeys(map(ord, unwanted)))


@library_function
def concat(*texts: str) -> str:
    """Texts one after the other as one text.

    At most 1,000,000 characters.

    >>> concat("a", "b", "c")
    'abc'
    """
    _bounded("concat", sum(map(len, texts)))
    return "".join(texts)


@library_function
def repeat(text: str, times: int) -> str:
    """Text written so many times in a row; empty for 0 times.

    `times` is 0 or more; at most 1,000,000 characters.

    >>> repeat("ab", 3)
    'ababab'
    """
    if times < 0:
        raise LanguageError("`repeat` needs `times` to be 0 or more")
    _bounded("repeat", len(text) * times)
    return text * times


@library_function
def upper(text: str) -> str:
    """Text in capital letters (Unicode's full mapping: the German sharp s becomes SS).

    >>> upper("abc")
    'ABC'
    """
    return text.upper()


@library_function
def lower(text: str) -> str:
    """Text in small letters.

    >>> lower("ABC")
    'abc'
    """
    return text.lower()


@library_function
def swap_case(text: str) -> str:
    """Text with capital letters made small and small letters made capital.

    >>> swap_case("aBc")
    'AbC'
    """
    return text.swapcase()


@library_function
def casefold(text: str) -> str:
    """Text in the form in which texts that differ in case alone are equal (Unicode's case folding).

    >>> casefold("STRASSE") == casefold("straße")
    True
    """
    return text.casefold()


@library_function
def strip(text: str, unwanted: str = BLANKS) -> str:
    """Text without the characters of `unwanted`, by default blanks and ends of lines, at its two ends.

    >>> strip("  a b "), strip("--a--", "-")
    ('a b', 'a')
    """
    return text.strip(unwanted)


@library_function
def starts_with(text: str, part: str) -> bool:
    """Whether the text begins with the part.

    >>> starts_with("banana", "ban")
    True
    """
    return text.startswith(part)


@library_function
def ends_with(text: str, part: str) -> bool:
    """Whether the text ends with the part.

    >>> ends_with("banana", "nan")
    False
    """
    return text.endswith(part)


@library_function
def contains(text: str, part: str) -> bool:
    """Whether the part stands in the text; `part in text` says the same.

    >>> contains("banana", "nan")
    True
    """
    return part in text


@library_function
def pad_left(value: Value, width: int, fill: str = " ") -> str:
    """Text of the value, filled up at its left to the width; longer ones stay as they are.

    `fill` is one character; at most 1,000,000 characters.

    >>> pad_left(7, 3, "0"), pad_left("abcd", 3)
    ('007', 'abcd')
    """
    return str_(value).rjust(_width("pad_left", width), _character(fill))


@library_function
def pad_right(value: Value, width: int, fill: str = " ") -> str:
    """Text of the value, filled up at its right to the width; longer ones stay as they are.

    `fill` is one character; at most 1,000,000 characters.

    >>> pad_right("ab", 4, ".")
    'ab..'
    """
    return str_(value).ljust(_width("pad_right", width), _character(fill))


@library_function
def char_code(character: str) -> int:
    """Unicode code point of the one character.

    >>> char_code("A")
    65
    """
    return ord(_character(character))


@library_function
def from_char_code(code: int) -> str:
    """Character of the Unicode code point.

    From 0 to 1,114,111 without the surrogates 55,296 to 57,343, which are no characters.

    >>> from_char_code(233)
    'é'
    """
    if not 0 <= code < 0x110000 or 0xD800 <= code < 0xE000:
        raise LanguageError("no character has this code")
    return chr(code)


@library_function
def characters(text: str) -> list[str]:
    """Characters of the text as a list.

    >>> characters("abc")
    ['a', 'b', 'c']
    """
    charge(len(text))
    return list(text)


@library_function
def translate(text: str, old: str, new: str) -> str:
    """Text with each character that stands in `old` replaced by the one at the same place in `new`.

    Both have the same length, and `old` no character twice; other characters stay.

    >>> translate("banana", "abn", "xyz")
    'yxzxzx'
    """
    return text.translate(_table(old, new))


def _table(old: str, new: str) -> dict[int, int]:
    if len(old) != len(new) or len(set(old)) < len(old):
        raise LanguageError("`translate` needs two texts of one length, the first without repetition")
    return str.maketrans(old, new)


@library_function
def is_palindrome(text: str) -> bool:
    """Whether the text reads the same from its end; case, blanks and signs count.

    >>> is_palindrome("level"), is_palindrome("Level")
    (True, False)
    """
    return text == text[::-1]


@library_function
def capitalize(text: str) -> str:
    """Text with its first character as a capital; the others stay as they are.

    >>> capitalize("aBC d")
    'ABC d'
    """
    return text[:1].upper() + text[1:]


def _filled(name: str, text: str) -> str:
    if not text:
        raise LanguageError(f"`{name}` is a text that is not empty")
    return text


def _character(text: str) -> str:
    if len(text) != 1:
        raise LanguageError(f"one character is needed; this text has {len(text)}")
    return text


def _width(name: str, width: int) -> int:
    _bounded(name, width)
    return width


def _bounded(name: str, size: int) -> None:
    if size > TEXT_LENGTH:
        raise LanguageError(f"`{name}` would give more than {TEXT_LENGTH} characters", code="E502")
