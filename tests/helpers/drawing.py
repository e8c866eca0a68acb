"""What tests of parameter types share: domains by name, draws, walks to the end, digests."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

from dia_compiler.sampling.instance_tree import RecordingChoose, Stream, Walker
from dia_compiler.types import TYPES
from dia_compiler.types.base import Domain
from dia_language.numbers.values import encode


def domain(kind: str, /, **options: Any) -> Domain:
    """The domain of a type under options."""
    return TYPES[kind].domain(options)


def drawn(of: Domain, number: int = 20) -> list[Any]:
    """So many draws, each from a stream of its own."""
    return [of.draw(RecordingChoose((), Stream(sha256(b"%d" % place).digest()))) for place in range(number)]


def exhausted(of: Domain, most: int | None = None) -> list[Any]:
    """Every value that the walk over the domain finds."""
    walker = Walker(b"types", of.draw)
    found = (walker.at(position) for position in range(most or 20 * of.count + 50))
    return [value for value in found if value is not None]


def digest(of: Domain, number: int = 10) -> str:
    """The first 16 digits of the SHA-256 of the first draws as they are stored."""
    stored = json.dumps([encode(value) for value in drawn(of, number)], sort_keys=True)
    return sha256(stored.encode()).hexdigest()[:16]
