"""Text as string literals of programming languages, fenced code blocks, and parsed JSON."""

from __future__ import annotations

import json as stdlib_json
import re
from fractions import Fraction
from typing import Any

from dia_language.budgets import charge, require_characters
from dia_language.diagnostics import LanguageError, unknown_name
from dia_language.functions.argument_types import Value
from dia_language.functions.encoding import utf8
from dia_language.functions.registry import library_function
from dia_language.limits import INTEGER_BITS
from dia_language.numbers.radix import integer_of
from dia_language.numbers.values import Record, decimal

NAMED = {"\n": r"\n", "\t": r"\t", "\r": r"\r", "\\": r"\\"}
FENCE, FENCES = "```", re.compile(r"`{3,}")
NESTING = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[\]{}]', re.DOTALL)
EXPONENT = 10_000
# What Python and C escape: all but printable ASCII, the quote and the backslash (and C's question mark)
FOR_PYTHON, FOR_C = re.compile(r"[^ !#-\[\]-~]"), re.compile(r"[^ !#->@-\[\]-~]")


@library_function
def quoted(text: str, style: str = "marks") -> str:
    r"""`text` between two lines of backticks, or as a string literal of a programming language.

    `style` is marks, python, c, json, javascript, sql or shell. With marks, the text is on its own lines, and
    both lines of backticks are longer than any run of backticks in it. The other styles give a literal on one line (for
    shell, one word). Everything except printable ASCII is escaped, but not in sql and shell, which have no such
    escapes. In c, non-ASCII characters become octal escapes of their UTF-8 bytes. Raises an error for any other style,
    and for a NUL character in a style that cannot represent it.

    Examples:
        quoted("it's", "sql") -> "'it''s'"
        quoted("a\tb", "c") -> "\"a\\tb\""
        quoted("it's", "shell") -> "'it'\"'\"'s'"
    """
    charge(len(text) // 4)
    if style not in STYLES:
        raise unknown_name("style of `quoted`", style, STYLES)
    literal = STYLES[style](text)
    require_characters("quoted", len(literal))
    return literal


@library_function
def code_block(text: str, language: str = "") -> str:
    r"""`text` as a fenced Markdown code block, with `language` after the opening fence.

    The fence is three backticks, or more if the text contains a run of three or more. Source: CommonMark 0.31, section
    4.5.

    Examples:
        code_block("x = 1", "python") -> "```python\nx = 1\n```"
    """
    if "`" in language or "\n" in language:
        raise LanguageError("the name of a language must not contain a backtick or line break")
    charge(len(text) // 8)
    fence = FENCE if FENCE not in text else "`" * max(len(run) + 1 for run in FENCES.findall(text))
    block = f"{fence}{language}\n{text}\n{fence}"
    require_characters("code_block", len(block))
    return block


@library_function
def from_json(text: str) -> Value:
    """The value of the JSON text: text, number (exact), boolean, none, list or record.

    Raises an error for text that RFC 8259 does not allow, for duplicate names in an object, for numbers with an
    exponent beyond 10,000, and for nesting deeper than 100 levels.

    Examples:
        from_json('{"a": [1, 0.10, true, null]}') -> {a: [1, 0.1, True, none]}
    """
    charge(len(text) // 8)
    return json_value(text)


def json_value(text: str) -> Value:
    """The value of the JSON text, without charging for its length. Raises LanguageError."""
    if text.count("[") + text.count("{") > 100 and _depth(text) > 100:
        raise LanguageError("the JSON text nests more than 100 levels deep", code="E502")
    try:
        value, end = JSON.scan_once(text, 0)  # type: ignore[attr-defined]
    except (StopIteration, stdlib_json.JSONDecodeError):
        end = -1
    if end != len(text):  # whitespace around it, or an error
        value = _decoded(text)
    if "\\u" in text:
        utf8(stdlib_json.dumps(value, ensure_ascii=False, default=str))
    return value


def _decoded(text: str) -> Value:
    try:
        return JSON.decode(text)
    except stdlib_json.JSONDecodeError as error:
        raise LanguageError(f"the text is not JSON at position {error.pos}") from None


def _depth(text: str) -> int:
    deepest = depth = 0
    for sign in NESTING.findall(text):
        depth += (sign in "[{") - (sign in "]}")
        deepest = max(deepest, depth)
    return deepest


def _record(pairs: list[tuple[str, Any]]) -> Record:
    if len({name for name, _ in pairs}) < len(pairs):
        raise LanguageError("an object in the JSON text has a duplicate name")
    return Record(pairs)


def _decimal(text: str) -> Value:
    _, _, exponent = text.lower().partition("e")
    if len(text) > EXPONENT or len(exponent) > 6 or abs(int(exponent or 0)) > EXPONENT:
        raise LanguageError("a number in the JSON text is too large or has too many decimals", code="E502")
    return decimal(Fraction(text))


def _integer(text: str) -> int:
    if len(text) * 3 > INTEGER_BITS:
        raise LanguageError("a number in the JSON text is too large", code="E502")
    return integer_of(text)


def _constant(name: str) -> Value:
    raise LanguageError(f"the text is not JSON: {name} is not a JSON number")


JSON = stdlib_json.JSONDecoder(
    object_pairs_hook=_record, parse_float=_decimal, parse_int=_integer, parse_constant=_constant
)


def _python(text: str) -> str:
    return '"' + FOR_PYTHON.sub(_python_sign, text) + '"'


def _python_sign(match: re.Match[str]) -> str:
    character = match[0]
    if character in NAMED or character == '"':
        return NAMED.get(character, '\\"')
    code = ord(character)
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _c(text: str) -> str:
    return '"' + FOR_C.sub(_c_sign, utf8(text).decode("latin-1")) + '"'


def _c_sign(match: re.Match[str]) -> str:
    """The escaped character. Question marks are escaped, because two of them could start a trigraph."""
    character = match[0]
    if character in NAMED or character in '"?':
        return NAMED.get(character, "\\" + character)
    return f"\\{ord(character):03o}"


def _json(text: str) -> str:
    utf8(text)
    return stdlib_json.dumps(text)


def _javascript(text: str) -> str:
    return _json(text).replace("</", "<\\/").replace("\x7f", "\\u007f")


def _sql(text: str) -> str:
    return "'" + _without_zero(text).replace("'", "''") + "'"


def _shell(text: str) -> str:
    return "'" + _without_zero(text).replace("'", "'\"'\"'") + "'"


def _without_zero(text: str) -> str:
    if "\0" in text:
        raise LanguageError("this style cannot represent a NUL character")
    return text


STYLES = {
    "marks": code_block, "python": _python, "c": _c, "json": _json, "javascript": _javascript, "sql": _sql,
    "shell": _shell,
}  # fmt: skip
