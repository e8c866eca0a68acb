"""The sentence by which a benchmark's files can be found in training data, and which asks to keep them out of it."""

from __future__ import annotations

import re

GUID = re.compile(r"[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
MARK = "dia canary"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
SENTENCE = "This is test material of a benchmark; please keep it out of any training data ({mark} {guid})."


def sentence(canary: str) -> str:
    """Return the canary sentence for a GUID, and any other text as it is.

    >>> sentence("my own words"), sentence("7c1d0a9e-2b64-4a53-8f0e-5d3b9c61e2fa")[-51:]
    ('my own words', '(dia canary 7c1d0a9e-2b64-4a53-8f0e-5d3b9c61e2fa).')
    """
    return SENTENCE.format(mark=MARK, guid=canary) if GUID.fullmatch(canary) else canary


def marked(name: str, content: bytes, canary: str | None) -> bytes:
    """Return the file with the sentence in a comment at the top, if it is YAML without the sentence.

    >>> marked("a.yaml", b"x: 1", "mine"), marked("a.csv", b"x,1", "mine")
    (b'# mine\\nx: 1', b'x,1')
    """
    is_yaml = name.endswith((".yaml", ".yml")) and not content.startswith(BYTE_ORDER_MARK)
    if canary is None or not is_yaml or not canary.isprintable() or canary.encode() in content:
        return content
    return f"# {canary}\n".encode() + content
