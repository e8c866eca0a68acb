"""The maximum sizes of values of the language; checked before a result is computed."""

from __future__ import annotations

from typing import Final

INTEGER_BITS: Final = 1_000_000
INTEGER_DIGITS: Final = 301_030
TEXT_LENGTH: Final = 1_000_000
LIST_LENGTH: Final = 1_000_000
PRIME_BITS: Final = 8_192
