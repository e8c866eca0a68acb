"""Reasoning that a reply contains, which is not part of the answer.

Models that reason write it between `<think>` and `</think>`, before the answer. Some chat templates put the opening tag
into the prompt, so that a reply only closes it; a reply that was cut off opens it without closing it.
"""

from __future__ import annotations

OPENING, CLOSING = "<think>", "</think>"


def without_reasoning(reply: str) -> str:
    """Return the reply without its reasoning.

    Closed blocks are removed, everything up to a closing tag that was never opened, and everything from an opening tag
    that is never closed.

    >>> without_reasoning("<think>2 + 2 = <xml>4</xml></think> <xml>5</xml>")
    ' <xml>5</xml>'
    """
    if OPENING not in reply and CLOSING not in reply:
        return reply
    parts: list[str] = []
    for piece in reply.split(CLOSING)[:-1]:
        # What follows the last block belongs to the answer, unless the piece is reasoning whose opening tag is missing.
        before, opening, _ = piece.partition(OPENING)
        if opening:
            parts.append(before)
        else:
            parts.clear()
    return "".join(parts) + reply.rpartition(CLOSING)[2].partition(OPENING)[0]
