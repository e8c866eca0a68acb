"""IP addresses as texts: from Python 3.13 on, the standard library writes some IPv6 addresses differently."""

from __future__ import annotations

from collections.abc import Sequence

GROUPS = range(8)


def address_text(version: int, number: int) -> str:
    """Return the canonical text of an address (RFC 5952).

    It is dotted, or has eight groups with the first longest run of zeros shortened.

    >>> address_text(4, 3221225985), address_text(6, 1), address_text(6, 0xFFFF << 32)
    ('192.0.2.1', '::1', '::ffff:0:0')
    """
    if version == 4:
        return ".".join(str(number >> shift & 0xFF) for shift in (24, 16, 8, 0))
    groups = [f"{number >> shift & 0xFFFF:x}" for shift in range(112, -1, -16)]
    length, place = max((_zeros_from(groups, place), -place) for place in GROUPS)
    if length < 2:
        return ":".join(groups)
    return f"{':'.join(groups[:-place])}::{':'.join(groups[-place + length :])}"


def _zeros_from(groups: Sequence[str], place: int) -> int:
    """Return the number of zero groups from that position on."""
    return next((at - place for at in range(place, 8) if groups[at] != "0"), 8 - place)
