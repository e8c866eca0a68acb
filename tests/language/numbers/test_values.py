"""Values as texts, which must not hang on the version of Python."""

from __future__ import annotations

from dia_language.numbers.values import ExactDecimal


def test_a_decimal_is_formatted_as_it_is_written() -> None:
    half = ExactDecimal(1, 2)
    assert (f"{half}", f"{half:>5}", format(half), str(half)) == ("0.5", "  0.5", "0.5", "0.5")
