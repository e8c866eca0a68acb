"""What belongs to the language and this version does not compile yet: told apart from what is unknown."""

from __future__ import annotations

PLANNED_TYPES: frozenset[str] = frozenset()
PLANNED_KEYS: frozenset[str] = frozenset()

PLANNED_ANSWER_KEYS: frozenset[str] = frozenset()
PLANNED_ANSWERS: frozenset[str] = frozenset()
PLANNED_FORMATS: frozenset[str] = frozenset()
