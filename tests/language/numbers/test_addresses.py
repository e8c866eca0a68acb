"""IP addresses are written alike by all versions of Python, wherever they are."""

from __future__ import annotations

import pytest
from dia_compiler.types import TYPES
from dia_language.answers import settle
from helpers.library_calls import call


@pytest.mark.parametrize(
    ("number", "text"),
    [(0xFFFF << 32, "::ffff:0:0"), (0xFFFF_C000_0201, "::ffff:c000:201"), (0xC000_0201, "::c000:201"), (0, "::")],
)
def test_addresses_of_version_6_that_hold_one_of_version_4_are_written_in_groups(number: int, text: str) -> None:
    assert call("int_to_ip", number, 6) == text
    assert TYPES["ip_address"].domain({"version": 6}).at(number) == text
    assert settle(text.upper(), {"type": "ip_address"}) == text
