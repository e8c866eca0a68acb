"""How replies end, and the flags that say so: a reply that is cut off, empty or refused holds no full answer."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

CONTENT_FILTER, OVER_CONTEXT, LENGTH = "content_filter", "over_context", "length"
REFUSAL, TOOL_CALLS, REASONING_ONLY = "refusal", "tool_calls", "reasoning_only"
# Endings that are final even without a text
FINAL_ENDINGS = frozenset({CONTENT_FILTER, REFUSAL, OVER_CONTEXT})
THINKING = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
THINKING_STARTS = "<think"

NO_FLAGS: Final[frozenset[str]] = frozenset()
OF_ENDINGS: Final[Mapping[str, frozenset[str]]] = {
    OVER_CONTEXT: frozenset({"over_context"}),
    CONTENT_FILTER: frozenset({"refused"}),
    REFUSAL: frozenset({"refused", "model_refused"}),
    LENGTH: frozenset({"truncated"}),
}
FINAL_FLAGS: Final = frozenset[str]().union(*(OF_ENDINGS[ending] for ending in FINAL_ENDINGS))
EMPTY, ONLY_REASONING, ONLY_TOOL_CALLS = (frozenset({name}) for name in ("empty", "only_reasoning", "only_tool_calls"))


def reply_flags(text: str | None, error: str | None, finish_reason: str | None) -> frozenset[str]:
    """Return the flags that a reply has whatever the question was; none for an error, which is not a reply.

    >>> sorted(reply_flags("<think>Perhaps", None, "length"))
    ['only_reasoning', 'truncated']
    """
    if error is not None:
        return NO_FLAGS
    flags = OF_ENDINGS.get(finish_reason or "", NO_FLAGS)
    if text is None:
        return flags
    if not text or text.isspace():
        if finish_reason == REASONING_ONLY:
            return ONLY_REASONING
        if finish_reason == TOOL_CALLS:
            return ONLY_TOOL_CALLS
        return flags if finish_reason in FINAL_ENDINGS else flags | EMPTY
    if text.lstrip()[: len(THINKING_STARTS)].lower() == THINKING_STARTS and not THINKING.sub("", text).strip():
        return flags | ONLY_REASONING
    return flags
