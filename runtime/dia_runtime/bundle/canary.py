"""The sentence by which a benchmark's files can be found in training data, and by which they ask not to be there."""

from __future__ import annotations

import re

GUID = re.compile(r"[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
MARK = "dia canary"
SENTENCE = "This is test material of a benchmark; please keep it out of any training data ({mark} {guid})."


def sentence(canary: str) -> str:
    """The sentence around a GUID; any other text stands as its author wrote it.

    >>> sentence("my own words"), sentence("7c1d0a9e-2b64-4a53-8f0e-5d3b9c61e2fa")[-51:]
    ('my own words', '(dia canary 7c1d0a9e-2b64-4a53-8f0e-5d3b9c61e2fa).')
    """
    return SENTENCE.format(mark=MARK, guid=canary) if GUID.fullmatch(canary) else canary
