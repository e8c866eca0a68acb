"""Bytes, written as hexadecimal digits or as base64."""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from binascii import Error
from collections.abc import Hashable, Mapping

from dia_language.answers.base import LENIENT, Comparison, Mode, Types, Unreadable, unfit, within
from dia_language.answers.options import choice_faults
from dia_language.answers.text import WordAnswer
from dia_language.numbers.values import Value

ENCODINGS: Mapping[str, tuple[str, ...]] = {"encoding": ("hex", "base64")}
HEX = re.compile(r"(?:[0-9a-fA-F]{2})*")
SPACED = re.compile(r"[\s:_-]+")
BASE64 = re.compile(r"[A-Za-z0-9+/]*={0,2}")


class BytesAnswer(WordAnswer):
    """Bytes, written as `encoding` says: hex (the default) or base64 (RFC 4648, with padding).

    Hexadecimal digits may be in either case. Lenient also accepts a leading `0x`, and whitespace, colons, hyphens or
    underscores between digits; in base64 it accepts whitespace, the URL-safe alphabet (- and _) and missing padding.
    """

    name = "bytes"
    options = frozenset({"encoding"})

    def __init__(self, comparison: Comparison, types: Types) -> None:
        self.is_hex = comparison.get("encoding", "hex") == "hex"

    @classmethod
    def faults(cls, comparison: Comparison, types: Types) -> list[str]:
        return choice_faults(comparison, ENCODINGS)

    def settle(self, value: Value) -> Value:
        if type(value) is not bytes:
            raise unfit(self.name, value, "convert it with `utf8` or `from_hex`, or declare another `type`")
        return value

    def holds(self, value: Value) -> bool:
        return type(value) is bytes

    def write(self, value: Value) -> str:
        return within(value.hex() if self.is_hex else b64encode(value).decode())

    def read(self, text: str, mode: Mode) -> Value:
        text = text.strip()
        return _from_hex(text, mode) if self.is_hex else _from_base64(text, mode)

    def key(self, value: Value) -> Hashable | None:
        return bytes(value)

    def describe(self) -> str:
        how = "hexadecimal digits, two per byte," if self.is_hex else "Base64,"
        return f"bytes in {how} such as {self.write(self.samples()[0])}"

    def samples(self) -> list[Value]:
        return [b"\x00\xff\x7f", b"dia", b"\x01"]


def _from_hex(text: str, mode: Mode) -> bytes:
    if mode in LENIENT:
        text = SPACED.sub("", text.removeprefix("0x").removeprefix("0X"))
    if not HEX.fullmatch(text):
        raise Unreadable("not hexadecimal digits, two per byte")
    return bytes.fromhex(text)


def _from_base64(text: str, mode: Mode) -> bytes:
    if mode in LENIENT:
        text = "".join(text.split()).rstrip("=").replace("-", "+").replace("_", "/")
        text += "=" * (-len(text) % 4)
    try:
        if not BASE64.fullmatch(text):
            raise Unreadable("not base64")
        data = b64decode(text, validate=True)
    except Error:
        raise Unreadable("not base64") from None
    if b64encode(data).decode() != text:
        raise Unreadable("unused bits that are not 0")
    return data
