"""Text: joining and splitting, case, padding. Characters are Unicode code points."""

from __future__ import annotations

from dia_language.budgets import charge, require_characters
from dia_language.diagnostics import LanguageError
from dia_language.functions.argument_types import Value
from dia_language.functions.registry import library_function
from dia_language.numbers.values import TEXTS, plain, texts_of

BLANKS = " \t\n\r\f\v"


@library_function
def str_(value: Value) -> str:
    """The value as text, as prompts and f-strings print it.

    Raises an error for bytes and catalog entries, which cannot be printed.

    Examples:
        str(12) -> "12"
        str([1, "a"]) -> '[1, "a"]'
    """
    return plain(value)


@library_function
def join(items: list[Value], separator: str = "") -> str:
    """The items as one text, with `separator` between them.

    At most 1,000,000 characters.

    Examples:
        join([1, 2, 3], ", ") -> "1, 2, 3"
        join(["a", "b"]) -> "ab"
    """
    charge(len(items))
    joints = len(separator) * max(0, len(items) - 1)
    parts = items if TEXTS.issuperset(map(type, items)) else texts_of(items)
    require_characters("join", sum(map(len, parts)) + joints)
    return separator.join(parts)


@library_function
def split(text: str, separator: str) -> list[str]:
    """The pieces of `text` between separators; n separators give n + 1 pieces, which may be empty.

    Raises an error if the separator is empty.

    Examples:
        split("a,b,,c", ",") -> ["a", "b", "", "c"]
    """
    charge(len(text) // 16)
    return text.split(_filled("separator", separator))


@library_function
def replace(text: str, old: str, new: str) -> str:
    """`text` with every occurrence of `old` replaced by `new`, from left to right without overlaps.

    Raises an error if `old` is empty. At most 1,000,000 characters.

    Examples:
        replace("banana", "an", "o") -> "booa"
    """
    require_characters("replace", len(text) + text.count(_filled("old", old)) * (len(new) - len(old)))
    return text.replace(old, new)


@library_function
def without(text: str, unwanted: str) -> str:
    """`text` without any of the characters in `unwanted`.

    Examples:
        without("banana", "an") -> "b"
    """
    return text.translate(dict.fromkeys(map(ord, unwanted)))


@library_function
def concat(*texts: str) -> str:
    """The texts joined into one.

    At most 1,000,000 characters.

    Examples:
        concat("a", "b", "c") -> "abc"
    """
    require_characters("concat", sum(map(len, texts)))
    return "".join(texts)


@library_function
def repeat(text: str, times: int) -> str:
    """`text` repeated `times` times.

    `times` must be 0 or more. At most 1,000,000 characters.

    Examples:
        repeat("ab", 3) -> "ababab"
    """
    if times < 0:
        raise LanguageError("`repeat` needs `times` to be 0 or more")
    require_characters("repeat", len(text) * times)
    return text * times


@library_function
def upper(text: str) -> str:
    """`text` in uppercase, by Unicode's full mapping (ß becomes SS).

    Examples:
        upper("abc") -> "ABC"
    """
    return text.upper()


@library_function
def lower(text: str) -> str:
    """`text` in lowercase.

    Examples:
        lower("ABC") -> "abc"
    """
    return text.lower()


@library_function
def swap_case(text: str) -> str:
    """`text` with uppercase letters in lowercase and lowercase letters in uppercase.

    Examples:
        swap_case("aBc") -> "AbC"
    """
    return text.swapcase()


@library_function
def casefold(text: str) -> str:
    """`text` in case-folded form: texts that differ only in case become equal (Unicode case folding).

    Examples:
        casefold("Straße") -> "strasse"
        casefold("STRASSE") == casefold("straße") -> True
    """
    return text.casefold()


@library_function
def strip(text: str, unwanted: str = BLANKS) -> str:
    """`text` without the characters of `unwanted` at its start and end; by default, without whitespace.

    Examples:
        strip("  a b ") -> "a b"
        strip("--a--", "-") -> "a"
    """
    return text.strip(unwanted)


@library_function
def starts_with(text: str, part: str) -> bool:
    """Whether `text` starts with `part`.

    Examples:
        starts_with("banana", "ban") -> True
    """
    return text.startswith(part)


@library_function
def ends_with(text: str, part: str) -> bool:
    """Whether `text` ends with `part`.

    Examples:
        ends_with("banana", "nan") -> False
    """
    return text.endswith(part)


@library_function
def contains(text: str, part: str) -> bool:
    """Whether `part` occurs in `text`; the same as `part in text`.

    Examples:
        contains("banana", "nan") -> True
    """
    return part in text


@library_function
def pad_left(value: Value, width: int, fill: str = " ") -> str:
    """The value as text, padded on the left to `width` characters; longer text does not change.

    `fill` is one character. At most 1,000,000 characters.

    Examples:
        pad_left(7, 3, "0") -> "007"
        pad_left("abcd", 3) -> "abcd"
    """
    return str_(value).rjust(_width("pad_left", width), _character(fill))


@library_function
def pad_right(value: Value, width: int, fill: str = " ") -> str:
    """The value as text, padded on the right to `width` characters; longer text does not change.

    `fill` is one character. At most 1,000,000 characters.

    Examples:
        pad_right("ab", 4, ".") -> "ab.."
    """
    return str_(value).ljust(_width("pad_right", width), _character(fill))


@library_function
def char_code(character: str) -> int:
    """The Unicode code point of a single character.

    Examples:
        char_code("A") -> 65
    """
    return ord(_character(character))


@library_function
def from_char_code(code: int) -> str:
    """The character with the given Unicode code point.

    `code` must be from 0 to 1,114,111, except the surrogates 55,296 to 57,343, which are not characters.

    Examples:
        from_char_code(233) -> "é"
    """
    if not 0 <= code < 0x110000 or 0xD800 <= code < 0xE000:
        raise LanguageError("no character has this code point")
    return chr(code)


@library_function
def characters(text: str) -> list[str]:
    """The characters of `text` as a list.

    Examples:
        characters("abc") -> ["a", "b", "c"]
    """
    charge(len(text))
    return list(text)


@library_function
def translate(text: str, old: str, new: str) -> str:
    """`text` with each character that occurs in `old` replaced by the character at the same position in `new`.

    `old` and `new` must have the same length, and `old` must not repeat a character. Other characters do not change.

    Examples:
        translate("banana", "abn", "xyz") -> "yxzxzx"
    """
    return text.translate(_table(old, new))


def _table(old: str, new: str) -> dict[int, int]:
    if len(old) != len(new) or len(set(old)) < len(old):
        raise LanguageError("`translate` needs `old` and `new` of the same length, and no character twice in `old`")
    return str.maketrans(old, new)


@library_function
def is_palindrome(text: str) -> bool:
    """Whether `text` reads the same backward; case, spaces and punctuation count.

    Examples:
        is_palindrome("level") -> True
        is_palindrome("Level") -> False
    """
    return text == text[::-1]


@library_function
def capitalize(text: str) -> str:
    """`text` with its first character in uppercase; the others do not change.

    Examples:
        capitalize("aBC d") -> "ABC d"
    """
    return text[:1].upper() + text[1:]


def _filled(name: str, text: str) -> str:
    if not text:
        raise LanguageError(f"`{name}` must not be empty")
    return text


def _character(text: str) -> str:
    if len(text) != 1:
        raise LanguageError(f"this argument must be a single character; this text has {len(text)}")
    return text


def _width(name: str, width: int) -> int:
    require_characters(name, width)
    return width
