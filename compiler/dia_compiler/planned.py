"""What belongs to the language and this version does not compile yet: told apart from what is unknown."""

from __future__ import annotations

PLANNED_TYPES: frozenset[str] = frozenset()
PLANNED_KEYS = frozenset(
    [
        "sessions",
        "decisions",
        "ranking",
        "grade",
        "figures",
        "assets",
        "deliver",
    ]
)

PLANNED_ANSWER_KEYS = frozenset(["fields", "share", "written"])
PLANNED_ANSWERS = frozenset(
    [
        "arithmetic",
        "bytes",
        "choice",
        "date",
        "domain",
        "expression",
        "ip_address",
        "matrix",
        "multiset",
        "polynomial",
        "record",
        "set",
    ]
)
PLANNED_FORMATS: frozenset[str] = frozenset()
