"""Values that a seal cannot hide, because questions that are sessions contain them unencrypted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dia_runtime.bundle.open import Bundle
from dia_runtime.bundle.session_records import may_have_sessions


def exposed_values(bundle: Bundle) -> list[str]:
    """Return the names of the values that both the turns of a session and its grading use; usually none.

    Turns that depend on replies are frozen as code together with the values that it reads. Running the sessions needs
    these values, so they are in the questions even if the bundle is sealed.
    """
    if not may_have_sessions(bundle):
        return []
    names: dict[str, None] = {}
    for question, answer in zip(bundle.questions(), bundle.answers(), strict=False):
        if "sessions" in question:
            session_values, grading_values = dict(_values(question["sessions"])), dict(_values(answer.get("truth")))
            names |= dict.fromkeys(
                name
                for name in grading_values
                if name in session_values and session_values[name] == grading_values[name]
            )
    return sorted(names)


def _values(record: Any) -> Iterator[tuple[str, Any]]:
    """Yield every value that stored code reads, with its name.

    Not recursive, because untrusted records may be nested deeply.
    """
    waiting = [record]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            names = item.get("names")
            yield from names.items() if isinstance(names, dict) else ()
            waiting.extend(item.values())
        elif isinstance(item, list):
            waiting.extend(item)
