"""Reading of prompts, by patterns that must describe them whole."""

from __future__ import annotations

import re


def found(pattern: str, challenge: str) -> tuple[str, ...]:
    """The groups of a pattern that must describe the whole task."""
    match = re.fullmatch(pattern, challenge, re.DOTALL)
    assert match, f"reads otherwise: {challenge[:300]}"
    return match.groups()
