"""How replies end, and the flags that say so: a reply that is cut off, empty or refused holds no full answer."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

CONTENT_FILTER, OVER_CONTEXT, LENGTH = "content_filter", "over_context", "length"
REFUSAL, TOOL_CALLS, REASONING_ONLY = "refusal", "tool_calls", "reasoning_only"
# Endings that are final even without a text
FINAL_ENDINGS = frozenset({CONTENT_FILTER, REFUSAL, OVER_CONTEXT})
# The same endings in the words of other servers, in lowercase: Anthropic, Gemini, Mistral, Cohere, Zhipu, Bedrock
ALIASES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("max_tokens", "max_output_tokens", "model_length", "model_context_window_exceeded"), LENGTH),
    **dict.fromkeys(
        ("safety", "image_safety", "recitation", "blocklist", "prohibited_content", "spii"), CONTENT_FILTER
    ),
    **dict.fromkeys(("sensitive", "content_filtered", "guardrail_intervened"), CONTENT_FILTER),
    **dict.fromkeys(("tool_use", "tool_call", "function_call"), TOOL_CALLS),
}
# The server broke off: vLLM, DeepSeek, Zhipu, Cohere, and routers, which say only `error`
ABORTED: Final = frozenset(
    {"error", "abort", "aborted", "cancelled", "insufficient_system_resource", "network_error", "timeout"}
)
COMPLETE: Final = frozenset(
    {"", "stop", "stopped", "stop_sequence", "eos", "eos_token", "end_turn", "complete", "completed", "done"}
)
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
EMPTY, ONLY_REASONING, ONLY_TOOL_CALLS, UNKNOWN_ENDING = (
    frozenset({name}) for name in ("empty", "only_reasoning", "only_tool_calls", "unknown_ending")
)
EXPECTED: Final = COMPLETE | OF_ENDINGS.keys() | {TOOL_CALLS, REASONING_ONLY}


def known_ending(reason: str) -> str:
    """Return how a reply ended in our words; a reason that we have no word for stays as it is.

    >>> known_ending("MAX_TOKENS"), known_ending("LENGTH"), known_ending("stop"), known_ending("tired")
    ('length', 'length', 'stop', 'tired')
    """
    word = reason.lower()
    return ALIASES.get(word, word if word in EXPECTED else reason)


def is_aborted(reason: object) -> bool:
    """Return whether the server itself broke off the reply, so that it must be asked again."""
    return isinstance(reason, str) and reason.lower() in ABORTED


def reply_flags(text: str | None, error: str | None, finish_reason: str | None) -> frozenset[str]:
    """Return the flags that a reply has whatever the question was; none for an error, which is not a reply.

    >>> sorted(reply_flags("<think>Perhaps", None, "length"))
    ['only_reasoning', 'truncated']
    """
    if error is not None:
        return NO_FLAGS
    ending = known_ending(finish_reason or "")
    flags = OF_ENDINGS.get(ending, NO_FLAGS if ending in EXPECTED else UNKNOWN_ENDING)
    if text is None:
        return flags
    if not text or text.isspace():
        if ending == REASONING_ONLY:
            return ONLY_REASONING
        if ending == TOOL_CALLS:
            return ONLY_TOOL_CALLS
        return flags if ending in FINAL_ENDINGS else flags | EMPTY
    if ending == TOOL_CALLS:  # what it says before the call is not its answer
        flags |= ONLY_TOOL_CALLS
    if text.lstrip()[: len(THINKING_STARTS)].lower() == THINKING_STARTS and not THINKING.sub("", text).strip():
        return flags | ONLY_REASONING
    return flags
