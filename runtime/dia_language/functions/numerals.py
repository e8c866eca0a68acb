"""Further encodings: base64url, base45, Ascii85, bits, Gray code, Roman numerals, run lengths."""

from __future__ import annotations

import base64
from itertools import groupby
from typing import Literal

from dia_language.budgets import charge
from dia_language.diagnostics import LanguageError, counted
from dia_language.functions.argument_types import Value
from dia_language.functions.encoding import from_base64, to_base64
from dia_language.functions.registry import library_function
from dia_language.limits import INTEGER_BITS, LIST_LENGTH, TEXT_LENGTH

BASE45 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:"
ROMAN = (
    (1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"), (40, "XL"),
    (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"),
)  # fmt: skip


@library_function
def to_base64url(data: bytes) -> str:
    """`data` in base64 with - and _ instead of + and /, without padding, as in URLs and tokens.

    Source: RFC 4648, section 5; RFC 7515, section 2.

    Examples:
        to_base64url(from_hex("fffe3f")) -> "__4_"
    """
    return to_base64(data).rstrip("=").replace("+", "-").replace("/", "_")


@library_function
def from_base64url(text: str) -> bytes:
    """The bytes that the base64url text represents, without padding.

    Raises an error for padding, unused bits that are not 0, and any other text that `to_base64url` cannot produce.

    Examples:
        hex(from_base64url("__4_")) -> "fffe3f"
    """
    if "+" in text or "/" in text or "=" in text:
        raise LanguageError("the text is not valid base64url", "base64url uses - and _ and no padding")
    plain = text.replace("-", "+").replace("_", "/")
    return from_base64(plain + "=" * (-len(plain) % 4))


@library_function
def to_base45(data: bytes) -> str:
    """`data` in base45, which QR-code certificates use: three characters for two bytes.

    Source: RFC 9285.

    Examples:
        to_base45(utf8("Hello!!")) -> "%69 VD92EX0"
    """
    _bounded("to_base45", len(data) * 2)
    charge(len(data))
    return "".join(_three(data[at : at + 2]) for at in range(0, len(data), 2))


@library_function
def from_base45(text: str) -> bytes:
    """The bytes that the base45 text represents.

    Raises an error for characters outside the alphabet and for groups that exceed two bytes. Source: RFC 9285.

    Examples:
        text_of(from_base45("%69 VD92EX0")) -> "Hello!!"
    """
    charge(len(text))
    return b"".join(_two(text[at : at + 3]) for at in range(0, len(text), 3))


@library_function
def to_ascii85(data: bytes) -> str:
    """`data` in Ascii85 as in PostScript and PDF, without <~ and ~>; four zero bytes become z.

    Source: ISO 32000-1, section 7.4.3.

    Examples:
        to_ascii85(utf8("Hello")) -> "87cURDZ"
    """
    _bounded("to_ascii85", len(data) * 2)
    return base64.a85encode(data).decode("ascii")


@library_function
def from_ascii85(text: str) -> bytes:
    """The bytes that the Ascii85 text represents, without <~ and ~>.

    Raises an error for text that `to_ascii85` cannot produce.

    Examples:
        text_of(from_ascii85("87cURDZ")) -> "Hello"
    """
    try:
        data = base64.a85decode(text.encode("ascii"), ignorechars=b"")
    except ValueError:
        raise LanguageError("the text is not Ascii85") from None
    if base64.a85encode(data).decode("ascii") != text:
        raise LanguageError("the text is Ascii85, but not in the form that `to_ascii85` writes")
    return data


@library_function
def to_bits(data: bytes, separator: str = " ") -> str:
    """Eight binary digits per byte, highest bit first, with `separator` between bytes.

    Examples:
        to_bits(utf8("Hi")) -> "01001000 01101001"
        to_bits(utf8("A"), "") -> "01000001"
    """
    _bounded("to_bits", len(data) * (8 + len(separator)))
    charge(len(data))
    return separator.join(f"{byte:08b}" for byte in data)


@library_function
def from_bits(text: str) -> bytes:
    """The bytes that the binary digits represent, eight digits each; whitespace between digits is ignored.

    Raises an error for other characters and if the number of digits is not a multiple of 8.

    Examples:
        text_of(from_bits("01001000 01101001")) -> "Hi"
    """
    bits = "".join(text.split())
    charge(len(text) // 8)
    if len(bits) % 8 or not set(bits) <= {"0", "1"}:
        raise LanguageError("the text is not binary", "write eight digits 0 or 1 for each byte")
    return int(bits or "0", 2).to_bytes(len(bits) // 8)


@library_function
def bytes_to_integer(data: bytes, order: str = "big") -> int:
    """The unsigned integer that the bytes represent, highest byte first (big) or lowest byte first (little).

    `order` is big or little. At most 125,000 bytes.

    Examples:
        bytes_to_integer(from_hex("0100")) -> 256
        bytes_to_integer(from_hex("0100"), "little") -> 1
    """
    if len(data) * 8 > INTEGER_BITS:
        raise LanguageError(f"`bytes_to_integer` accepts at most {INTEGER_BITS // 8:,} bytes", code="E502")
    return int.from_bytes(data, _order(order))


@library_function
def integer_to_bytes(n: int, length: int, order: str = "big") -> bytes:
    """`n` as `length` bytes, highest byte first (big) or lowest byte first (little).

    `order` is big or little. Raises an error if `n` is negative or needs more bytes.

    Examples:
        hex(integer_to_bytes(256, 2)) -> "0100"
        hex(integer_to_bytes(256, 3, "little")) -> "000100"
    """
    _bounded("integer_to_bytes", length)
    if n < 0 or length < 0 or n.bit_length() > 8 * length:
        raise LanguageError(f"the number is negative or does not fit into {counted(length, 'byte')}")
    return n.to_bytes(length, _order(order))


@library_function
def gray_code(n: int) -> int:
    """The Gray code of `n` as a number; the codes of consecutive numbers differ in one binary digit.

    `n` must be 0 or more. Source: F. Gray, US patent 2,632,058.

    Examples:
        [gray_code(n) for n in range(5)] -> [0, 1, 3, 2, 6]
    """
    return _natural("gray_code", n) ^ n >> 1


@library_function
def from_gray_code(code: int) -> int:
    """The number whose `gray_code` is `code`.

    Examples:
        [from_gray_code(code) for code in [0, 1, 3, 2, 6]] -> [0, 1, 2, 3, 4]
    """
    n, shift = _natural("from_gray_code", code), 1
    while shift < code.bit_length():
        n ^= n >> shift
        shift *= 2
    return n


@library_function
def to_roman(n: int) -> str:
    """The Roman numeral of `n`, with IV for 4, XC for 90 and so on.

    `n` must be from 1 to 3,999.

    Examples:
        to_roman(1994) -> "MCMXCIV"
    """
    if not 1 <= n <= 3999:
        raise LanguageError("`to_roman` needs `n` from 1 to 3999")
    written = ""
    for size, sign in ROMAN:
        written += sign * (n // size)
        n %= size
    return written


@library_function
def from_roman(text: str) -> int:
    """The value of a Roman numeral in uppercase letters.

    Raises an error for text that `to_roman` cannot produce, such as IIII.

    Examples:
        from_roman("MCMXCIV") -> 1994
    """
    rest, n = text[:16], 0
    for size, sign in ROMAN:
        while rest.startswith(sign):
            n, rest = n + size, rest[len(sign) :]
    if rest or not 1 <= n <= 3999 or to_roman(n) != text:
        raise LanguageError("the text is not a Roman numeral from I to MMMCMXCIX")
    return n


@library_function
def run_lengths(whole: str | list[Value]) -> list[Value]:
    """The runs of equal elements as a list of [element, count], from left to right.

    Examples:
        run_lengths("aaab") -> [["a", 3], ["b", 1]]
        run_lengths([1, 1, 2]) -> [[1, 2], [2, 1]]
    """
    charge(len(whole))
    return [[element, len(list(run))] for element, run in groupby(whole)]


@library_function
def from_run_lengths(runs: list[Value]) -> list[Value]:
    """The elements of a list of [element, count], each repeated `count` times.

    For characters, `join` turns the result into text. Raises an error for a negative count.

    Examples:
        from_run_lengths([["a", 3], ["b", 1]]) -> ["a", "a", "a", "b"]
    """
    if not all(type(run) is list and len(run) == 2 and type(run[1]) is int and run[1] >= 0 for run in runs):
        raise LanguageError("each run must be a list [element, count]")
    size = sum(times for _, times in runs)
    if size > LIST_LENGTH:
        raise LanguageError(f"the result of `from_run_lengths` would exceed {LIST_LENGTH:,} elements", code="E502")
    charge(size)
    return [element for element, times in runs for _ in range(times)]


def _three(pair: bytes) -> str:
    number = int.from_bytes(pair)
    return "".join(BASE45[number // 45**place % 45] for place in range(len(pair) + 1))


def _two(group: str) -> bytes:
    values = [BASE45.find(sign) for sign in group]
    number: int = sum(digit * 45**place for place, digit in enumerate(values))
    size = len(group) - 1
    if min(values) < 0 or size < 1 or number >= 256**size:
        raise LanguageError("the text is not base45")
    return number.to_bytes(size)


def _natural(name: str, n: int) -> int:
    if n < 0:
        raise LanguageError(f"`{name}` needs an integer that is 0 or more")
    return n


def _order(order: str) -> Literal["big", "little"]:
    if order not in ("big", "little"):
        raise LanguageError("`order` must be big or little")
    return "big" if order == "big" else "little"


def _bounded(name: str, size: int) -> None:
    if size > TEXT_LENGTH:
        raise LanguageError(f"the result of `{name}` would exceed {TEXT_LENGTH:,} characters or bytes", code="E502")
