"""Bytes as text and back. A decoder accepts exactly what its encoder writes unless its description says otherwise."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from itertools import product
from typing import TypeAlias

from dia_language.budgets import charge
from dia_language.diagnostics import LanguageError, unknown_name
from dia_language.functions.registry import library_function
from dia_language.limits import INTEGER_BITS, TEXT_LENGTH
from dia_language.numbers.radix import digits_of, number_of

BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
Encoder: TypeAlias = Callable[[bytes], str]
Decoder: TypeAlias = Callable[[bytes], bytes]
# How `percent_encode` writes each byte, and the byte for each two digits after a %
UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
PERCENTED = [chr(byte) if byte in UNRESERVED else f"%{byte:02X}" for byte in range(256)]
OCTETS = {bytes(pair): bytes([int(bytes(pair), 16)]) for pair in product(b"0123456789ABCDEFabcdef", repeat=2)}


@library_function
def utf8(text: str) -> bytes:
    """The UTF-8 bytes of `text`.

    Examples:
        list_of(utf8("é")) -> [195, 169]
    """
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise LanguageError("the text contains half a character (a surrogate)") from None


@library_function
def text_of(data: bytes) -> str:
    """The text that the UTF-8 bytes encode.

    Raises an error if the bytes are not UTF-8.

    Examples:
        text_of(from_hex("c3a9")) -> "é"
    """
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise LanguageError(f"the bytes are not UTF-8 at position {error.start}") from None


@library_function
def bytes_of(numbers: list[int]) -> bytes:
    """The bytes with the given values.

    Each number must be from 0 to 255.

    Examples:
        text_of(bytes_of([104, 105])) -> "hi"
    """
    try:
        return bytes(numbers)
    except (ValueError, OverflowError):
        raise LanguageError("each number must be from 0 to 255") from None


@library_function
def list_of(data: bytes) -> list[int]:
    """The values of the bytes, from 0 to 255.

    Examples:
        list_of(utf8("hi")) -> [104, 105]
    """
    charge(len(data))
    return list(data)


@library_function
def hex_(data: bytes) -> str:
    """The hexadecimal form of `data`: two lowercase digits per byte.

    Examples:
        hex(utf8("hi")) -> "6869"
    """
    return _sized("hex", data, 2).hex()


@library_function
def from_hex(text: str) -> bytes:
    """The bytes that the hexadecimal text represents; letters may be in either case.

    Raises an error for an odd number of digits, and for characters that are not hexadecimal digits, such as spaces.

    Examples:
        list_of(from_hex("00FF")) -> [0, 255]
    """
    return _decoded("hexadecimal", binascii.unhexlify, text)


@library_function
def to_base16(data: bytes) -> str:
    """`data` in base16, with uppercase letters.

    Source: RFC 4648, section 8.

    Examples:
        to_base16(from_hex("00ff")) -> "00FF"
    """
    return _sized("to_base16", data, 2).hex().upper()


@library_function
def from_base16(text: str) -> bytes:
    """The bytes that the base16 text represents.

    Raises an error for lowercase letters and anything else that is not base16; `from_hex` accepts both cases. Source:
    RFC 4648, section 8.

    Examples:
        list_of(from_base16("00FF")) -> [0, 255]
    """
    return _decoded("base16", base64.b16decode, text)


@library_function
def to_base32(data: bytes) -> str:
    """`data` in base32, padded with =.

    Source: RFC 4648, section 6.

    Examples:
        to_base32(utf8("hi")) -> "NBUQ===="
    """
    return base64.b32encode(_sized("to_base32", data, 2)).decode("ascii")


@library_function
def from_base32(text: str) -> bytes:
    """The bytes that the base32 text represents.

    Raises an error for missing padding, unused bits that are not 0, and characters outside the alphabet, such as
    lowercase letters. Source: RFC 4648, section 6.

    Examples:
        text_of(from_base32("NBUQ====")) -> "hi"
    """
    return _canonical("base32", base64.b32decode, to_base32, text)


@library_function
def to_base64(data: bytes) -> str:
    """`data` in base64, padded with =, on one line.

    Source: RFC 4648, section 4.

    Examples:
        to_base64(utf8("hi")) -> "aGk="
    """
    return binascii.b2a_base64(_sized("to_base64", data, 2), newline=False).decode("ascii")


@library_function
def from_base64(text: str) -> bytes:
    """The bytes that the base64 text represents.

    Raises an error for missing padding, unused bits that are not 0, and characters outside the alphabet, such as
    spaces. Source: RFC 4648, section 4.

    Examples:
        text_of(from_base64("aGk=")) -> "hi"
    """
    return _canonical("base64", binascii.a2b_base64, to_base64, text)


@library_function
def to_base85(data: bytes) -> str:
    """`data` in base85, with the alphabet of RFC 1924, which git and Python's b85encode also use.

    Examples:
        to_base85(utf8("hello")) -> "Xk~0{Zv"
    """
    return base64.b85encode(_sized("to_base85", data, 2)).decode("ascii")


@library_function
def from_base85(text: str) -> bytes:
    """The bytes that the base85 text represents, with the alphabet of RFC 1924.

    Raises an error for text that `to_base85` cannot produce.

    Examples:
        text_of(from_base85("Xk~0{Zv")) -> "hello"
    """
    return _canonical("base85", base64.b85decode, to_base85, text)


@library_function
def to_base58(data: bytes) -> str:
    """`data` in base58, with Bitcoin's alphabet; each leading zero byte becomes 1.

    At most 100,000 bytes. Source: draft-msporny-base58-03.

    Examples:
        to_base58(utf8("Hello World!")) -> "2NEpo7TZRRrLZSi2U"
    """
    if len(data) > 100_000:
        raise LanguageError("`to_base58` accepts at most 100,000 bytes", code="E502")
    charge(len(data))
    body = data.lstrip(b"\0")
    digits = "".join(BASE58[digit] for digit in digits_of(int.from_bytes(body), 58)) if body else ""
    return "1" * (len(data) - len(body)) + digits


@library_function
def from_base58(text: str) -> bytes:
    """The bytes that the base58 text represents, with Bitcoin's alphabet.

    Raises an error for characters outside the alphabet. At most 100,000 bytes. Source: draft-msporny-base58-03.

    Examples:
        text_of(from_base58("2NEpo7TZRRrLZSi2U")) -> "Hello World!"
    """
    body = text.lstrip("1")
    digits = [BASE58.find(character) for character in body]
    if digits and min(digits) < 0:
        raise _malformed("base58")
    if len(text) * 6 > INTEGER_BITS:
        raise LanguageError("the result of `from_base58` would exceed 100,000 bytes", code="E502")
    charge(len(text))
    number = number_of(digits, 58)
    return bytes(len(text) - len(body)) + number.to_bytes((number.bit_length() + 7) // 8)


@library_function
def encode(name: str, data: bytes) -> str:
    """`data` as text in the encoding called `name`.

    `name` is base16, base32, base58, base64 or base85.

    Examples:
        encode("base64", utf8("hi")) -> "aGk="
    """
    return _named(name)[0](data)


@library_function
def decode(name: str, text: str) -> bytes:
    """The bytes that `text` represents in the encoding called `name`.

    `name` is base16, base32, base58, base64 or base85. Raises an error for text that `encode` cannot produce.

    Examples:
        text_of(decode("base64", "aGk=")) -> "hi"
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
        raise unknown_name("encoding", name, ENCODINGS)
    return ENCODINGS[name]


@library_function
def percent_encode(text: str) -> str:
    """`text` with each character except letters, digits and -._~ percent-encoded as UTF-8.

    Source: RFC 3986, section 2.1.

    Examples:
        percent_encode("a b/é") -> "a%20b%2F%C3%A9"
    """
    data = _sized("percent_encode", utf8(text), 3)
    return text if data.isalnum() else "".join([PERCENTED[byte] for byte in data])  # letters and digits of ASCII


@library_function
def percent_decode(text: str) -> str:
    """`text` with percent escapes replaced by the characters they encode in UTF-8.

    Other characters do not change, including +. Raises an error for a % without two hexadecimal digits and for bytes
    that are not UTF-8. Source: RFC 3986, section 2.1.

    Examples:
        percent_decode("a%20b%2F%C3%A9") -> "a b/é"
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
    return LanguageError(f"the text is not valid {name}")


def _sized(name: str, data: bytes, growth: int) -> bytes:
    if len(data) * growth > TEXT_LENGTH:
        raise LanguageError(f"`{name}` accepts at most {TEXT_LENGTH // growth:,} bytes", code="E502")
    return data
