"""Bytes as text and back. A decoder takes exactly what its encoder writes, unless its docstring says more."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from itertools import product
from typing import TypeAlias

from dia_language.budgets import charge
from dia_language.diagnostics import LanguageError, did_you_mean
from dia_language.functions.registry import library_function
from dia_language.limits import INTEGER_BITS, TEXT_LENGTH
from dia_language.numbers.radix import digits_of, number_of

BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
Encoder: TypeAlias = Callable[[bytes], str]
Decoder: TypeAlias = Callable[[bytes], bytes]
# How `percent_encode` writes each byte, and which byte each two digits behind a % stand for
UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
PERCENTED = [chr(byte) if byte in UNRESERVED else f"%{byte:02X}" for byte in range(256)]
OCTETS = {bytes(pair): bytes([int(bytes(pair), 16)]) for pair in product(b"0123456789ABCDEFabcdef", repeat=2)}


@library_function
def utf8(text: str) -> bytes:
    """UTF-8 bytes of the text.

    >>> utf8("é")
    b'\\xc3\\xa9'
    """
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise LanguageError("the text holds half a character (a surrogate)") from None


@library_function
def text_of(data: bytes) -> str:
    """Text that the UTF-8 bytes stand for.

    An error for bytes that are not UTF-8.

    >>> text_of(b"\\xc3\\xa9")
    'é'
    """
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise LanguageError(f"the bytes are not UTF-8 at place {error.start}") from None


@library_function
def bytes_of(numbers: list[int]) -> bytes:
    """Bytes with these values.

    Each is from 0 to 255.

    >>> bytes_of([104, 105])
    b'hi'
    """
    try:
        return bytes(numbers)
    except (ValueError, OverflowError):
        raise LanguageError("a byte is an integer from 0 to 255") from None


@library_function
def list_of(data: bytes) -> list[int]:
    """Values of the bytes, from 0 to 255.

    >>> list_of(b"hi")
    [104, 105]
    """
    charge(len(data))
    return list(data)


@library_function
def hex_(data: bytes) -> str:
    """Hexadecimal text of the bytes: two digits each, in small letters.

    >>> hex_(b"\\x00\\xff")
    '00ff'
    """
    return _sized("hex", data, 2).hex()


@library_function
def from_hex(text: str) -> bytes:
    """Bytes of the hexadecimal text, in letters of either case.

    An error for blanks, an odd count of digits, and anything else.

    >>> from_hex("00FF")
    b'\\x00\\xff'
    """
    return _decoded("hexadecimal", binascii.unhexlify, text)


@library_function
def to_base16(data: bytes) -> str:
    """Base16 text of the bytes, in capital letters (RFC 4648, section 8).

    >>> to_base16(b"\\x00\\xff")
    '00FF'
    """
    return _sized("to_base16", data, 2).hex().upper()


@library_function
def from_base16(text: str) -> bytes:
    """Bytes of the base16 text (RFC 4648, section 8).

    An error for small letters and all that is not base16; `from_hex` takes either case.

    >>> from_base16("00FF")
    b'\\x00\\xff'
    """
    return _decoded("base16", base64.b16decode, text)


@library_function
def to_base32(data: bytes) -> str:
    """Base32 text of the bytes, padded with = (RFC 4648, section 6).

    >>> to_base32(b"hi")
    'NBUQ===='
    """
    return base64.b32encode(_sized("to_base32", data, 2)).decode("ascii")


@library_function
def from_base32(text: str) -> bytes:
    """Bytes of the base32 text (RFC 4648, section 6).

    An error for missing padding, small letters, unused bits that are not 0, and anything else.

    >>> from_base32("NBUQ====")
    b'hi'
    """
    return _canonical("base32", base64.b32decode, to_base32, text)


@library_function
def to_base64(data: bytes) -> str:
    """Base64 text of the bytes, padded with =, on one line (RFC 4648, section 4).

    >>> to_base64(b"hi")
    'aGk='
    """
    return binascii.b2a_base64(_sized("to_base64", data, 2), newline=False).decode("ascii")


@library_function
def from_base64(text: str) -> bytes:
    """Bytes of the base64 text (RFC 4648, section 4).

    An error for missing padding, blanks, unused bits that are not 0, and anything else.

    >>> from_base64("aGk=")
    b'hi'
    """
    return _canonical("base64", binascii.a2b_base64, to_base64, text)


@library_function
def to_base85(data: bytes) -> str:
    """Base85 text of the bytes, with the alphabet of RFC 1924 (that of git and of Python's b85encode).

    >>> to_base85(b"hello")
    'Xk~0{Zv'
    """
    return base64.b85encode(_sized("to_base85", data, 2)).decode("ascii")


@library_function
def from_base85(text: str) -> bytes:
    """Bytes of the base85 text, with the alphabet of RFC 1924.

    An error for a text that `to_base85` does not write.

    >>> from_base85("Xk~0{Zv")
    b'hello'
    """
    return _canonical("base85", base64.b85decode, to_base85, text)


@library_function
def to_base58(data: bytes) -> str:
    """Base58 text of the bytes, with Bitcoin's alphabet; a leading zero byte is written 1.

    At most 100,000 bytes. Source: draft-msporny-base58-03.

    >>> to_base58(b"Hello World!")
    '2NEpo7TZRRrLZSi2U'
    """
    if len(data) > 100_000:
        raise LanguageError("`to_base58` takes at most 100000 bytes", code="E502")
    charge(len(data))
    body = data.lstrip(b"\0")
    digits = "".join(BASE58[digit] for digit in digits_of(int.from_bytes(body), 58)) if body else ""
    return "1" * (len(data) - len(body)) + digits


@library_function
def from_base58(text: str) -> bytes:
    """Bytes of the base58 text, with Bitcoin's alphabet.

    An error for characters outside the alphabet; at most 100,000 bytes. Source: draft-msporny-base58-03.

    >>> from_base58("2NEpo7TZRRrLZSi2U")
    b'Hello World!'
    """
    body = text.lstrip("1")
    digits = [BASE58.find(character) for character in body]
    if digits and min(digits) < 0:
        raise _malformed("base58")
    if len(text) * 6 > INTEGER_BITS:
        raise LanguageError("`from_base58` gives at most 100000 bytes", code="E502")
    charge(len(text))
    number = number_of(digits, 58)
    return bytes(len(text) - len(body)) + number.to_bytes((number.bit_length() + 7) // 8)


@library_function
def encode(name: str, data: bytes) -> str:
    """Text of the bytes in the named encoding: base16, base32, base58, base64 or base85.

    >>> encode("base64", b"hi")
    'aGk='
    """
    return _named(name)[0](data)


@library_function
def decode(name: str, text: str) -> bytes:
    """Bytes of the text in the named encoding: base16, base32, base58, base64 or base85.

    An error for a text that `encode` does not write.

    >>> decode("base64", "aGk=")
    b'hi'
    """
    return _named(name)[1](text)


ENCODINGS: dict[str, tuple[Encoder, Callable[[str], bytes]]] = {
    "base16": (to_base16, from_base16),
    "base32": (to_base32, from_base32),
    "base58": (to_base58, from_base58),
    "base64": (to_base64, from_base64),
    "base85": (to_base85, from_base85),
}


def _named(name: str) -> tuple[Encoder, Callable[[str], bytes]]:
    if name not in ENCODINGS:
        help = did_you_mean(name, ENCODINGS) or f"there are {', '.join(ENCODINGS)}"
        raise LanguageError("no encoding has this name", help)
    return ENCODINGS[name]


@library_function
def percent_encode(text: str) -> str:
    """Text with all but letters, digits and -._~ written as % and two hexadecimal digits for each UTF-8 byte.

    Source: RFC 3986, section 2.1.

    >>> percent_encode("a b/é")
    'a%20b%2F%C3%A9'
    """
    data = _sized("percent_encode", utf8(text), 3)
    return text if data.isalnum() else "".join([PERCENTED[byte] for byte in data])  # letters and digits of ASCII


@library_function
def percent_decode(text: str) -> str:
    """Text with each % and its two hexadecimal digits replaced by the UTF-8 byte that they stand for.

    Other characters stay as they are, + as well. An error for a % without two digits and for bytes that are
    not UTF-8. Source: RFC 3986, section 2.1.

    >>> percent_decode("a%20b%2F%C3%A9")
    'a b/é'
    """
    data = utf8(text)
    if b"%" not in data:
        return text
    first, *parts = data.split(b"%")
    try:
        decoded = b"".join([OCTETS[part[:2]] + part[2:] for part in parts])
    except KeyError:
        raise _malformed("percent-encoded") from None
    return text_of(first + decoded)


def _canonical(name: str, decoder: Decoder, encoder: Encoder, text: str) -> bytes:
    data = _decoded(name, decoder, text)
    if encoder(data) != text:
        raise _malformed(name)
    return data


def _decoded(name: str, decoder: Decoder, text: str) -> bytes:
    try:
        return decoder(text.encode("ascii"))
    except ValueError:  # binascii.Error and UnicodeEncodeError are ValueErrors
        raise _malformed(name) from None


def _malformed(name: str) -> LanguageError:
    return LanguageError(f"the text is not {name} as it is written by its standard")


def _sized(name: str, data: bytes, growth: int) -> bytes:
    if len(data) * growth > TEXT_LENGTH:
        raise LanguageError(f"`{name}` takes at most {TEXT_LENGTH // growth} bytes", code="E502")
    return data
