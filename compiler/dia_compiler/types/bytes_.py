"""The parameter type bytes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dia_language.numbers.values import Value

from dia_compiler.types.base import Choose, Domain, ParameterType, length_option, option


class ByteStrings(Domain):
    """Byte strings with lengths between bounds; after the length, the bytes are drawn as one big-endian number."""

    __slots__ = ("high", "low")

    def __init__(self, low: int, high: int) -> None:
        self.low, self.high = low, high

    def draw(self, choose: Choose) -> Value:
        length = choose.between(self.low, self.high)
        return choose.below(1 << (8 * length)).to_bytes(length, "big")

    def contains(self, value: Value) -> bool:
        return isinstance(value, bytes) and self.low <= len(value) <= self.high

    @property
    def count(self) -> int:
        return ((1 << 8 * (self.high + 1)) - (1 << 8 * self.low)) // 255

    def boundary(self) -> list[Value]:
        edges = (byte * length for length in (self.low, self.high) for byte in (b"\x00", b"\xff"))
        return list(dict.fromkeys(edges))


class BytesType(ParameterType):
    summary = "random bytes"
    options = {"length": option("data", "number of bytes, or {min, max}", required=True)}

    def domain(self, options: Mapping[str, Any]) -> Domain:
        return ByteStrings(*length_option(options))
