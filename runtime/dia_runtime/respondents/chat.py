"""Questions as chat requests, and chat completions as replies, in the format of OpenAI's API."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from decimal import Decimal
from typing import Any

from dia_runtime.respondents.attachments import AssetReader, media_type_of, text_of_asset
from dia_runtime.respondents.respondent import Reply, RequestError
from dia_runtime.respondents.tool_request import ToolCallReply, assistant_message, conversation_of
from dia_runtime.respondents.turn_request import TurnRequest, settings_for
from dia_runtime.store.endings import (
    FINAL_ENDINGS,
    LENGTH,
    REASONING_ONLY,
    REFUSAL,
    TOOL_CALLS,
    is_aborted,
    known_ending,
)

Record = Mapping[str, Any]
REASONING_FIELDS = ("reasoning_content", "reasoning")
REASONING_PARTS = ("thinking", "reasoning", "redacted_thinking")
LONGEST_TEXT = 4 << 20
AUDIO_FORMATS = {"audio/wav": "wav", "audio/x-wav": "wav", "audio/mpeg": "mp3", "audio/mp3": "mp3"}


@dataclass(frozen=True, slots=True)
class Settings:
    """How a model is asked. The provider decides what is None. `extra` goes into the request unchanged.

    `temperature` is decimal text, and fractions in `extra` are Decimal, because a run contains no floats.
    """

    temperature: str | None = None
    max_tokens: int | None = None
    system: str | None = None
    reasoning_effort: str | None = None
    seed: int | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    def explicit(self) -> dict[str, Any]:
        """Return the settings that are given."""
        named = {
            "temperature": self.temperature,
            "max_tokens": self.max_tokens,
            "system": self.system,
            "reasoning_effort": self.reasoning_effort,
            "seed": self.seed,
        }
        return {name: value for name, value in named.items() if value is not None} | dict(self.extra)

    def stored(self) -> dict[str, Any]:
        """Return the settings that are given, as a run stores them."""
        record: dict[str, Any] = _map_decimals(self.explicit(), str)
        return record

    def parameters(self) -> dict[str, Any]:
        """Return the settings for a request, without the system prompt."""
        parameters: dict[str, Any] = _map_decimals(self.explicit(), float)
        parameters.pop("system", None)
        if self.temperature is not None:
            parameters["temperature"] = float(self.temperature)
        return parameters


def _map_decimals(value: Any, change: Callable[[Decimal], Any]) -> Any:
    """Return the value with every Decimal in it replaced."""
    if isinstance(value, Decimal):
        return change(value)
    if isinstance(value, Mapping):
        return {name: _map_decimals(item, change) for name, item in value.items()}
    return [_map_decimals(item, change) for item in value] if isinstance(value, (list, tuple)) else value


def chat_messages(question: Record, settings: Settings, read: AssetReader | None = None) -> list[dict[str, Any]]:
    """Return the system prompt and the messages of a question, with attached assets as parts of the last one.

    In a conversation they are parts of the user's first message. Raises RequestError (`request`) for an asset that an
    endpoint cannot receive.
    """
    if "messages" not in question:
        raise RequestError("request", "the question is not a list of messages")
    messages = [{"role": message["role"], "content": message["content"]} for message in question["messages"]]
    conversation = conversation_of(question)
    assets = question.get("assets") or []
    if conversation is not None and conversation.has_files:  # the tools read these
        assets = [asset for asset in assets if asset["deliver"] != "file"]
    if assets:
        users = [message for message in messages if message["role"] == "user"]
        last = users[0] if isinstance(question, TurnRequest) and users else messages[-1]
        last["content"] = [{"type": "text", "text": last["content"]}, *(_asset_part(asset, read) for asset in assets)]
    messages += () if conversation is None else map(dict, conversation.messages)
    system = settings_for(question, settings).system
    return messages if system is None else [{"role": "system", "content": system}, *messages]


def _asset_part(asset: Record, read: AssetReader | None) -> dict[str, Any]:
    """Return an asset as a content part: an image, audio, text with its name, or another file."""
    if asset["deliver"] != "attach" or read is None:
        is_file = asset["deliver"] == "file"
        why = "is a file for a model with tools, which a chat request cannot contain" if is_file else "is not available"
        raise RequestError("request", f"the asset {asset['name']} {why}")
    text, kind = text_of_asset(asset, read), media_type_of(asset)
    if text is not None:
        return {"type": "text", "text": f"{asset['name']}:\n{text}"}
    encoded = base64.b64encode(read(asset["path"])).decode("ascii")
    address = f"data:{kind};base64,{encoded}"
    if kind.startswith("image/"):
        return {"type": "image_url", "image_url": {"url": address}}
    if kind in AUDIO_FORMATS:
        return {"type": "input_audio", "input_audio": {"data": encoded, "format": AUDIO_FORMATS[kind]}}
    return {"type": "file", "file": {"filename": asset["name"], "file_data": address}}


def reply_from_completion(answer: Any, seconds: str, asked_at: str) -> Reply:
    """Return the reply in a chat completion. Raises RequestError if it is malformed."""
    try:
        choice = answer["choices"][0]
        message, ending = choice["message"], choice.get("finish_reason")
        text, refusal = message.get("content"), message.get("refusal")
        usage = answer.get("usage") or {}
    except (KeyError, IndexError, TypeError, AttributeError):
        raise RequestError("server", f"the endpoint's response is not a chat completion: {excerpt(answer)}") from None
    if isinstance(text, list):  # parts: text, and with some models their reasoning
        has_thoughts = any(isinstance(part, Mapping) and part.get("type") in REASONING_PARTS for part in text)
        text = "".join(
            str(part.get("text", ""))
            for part in text
            if isinstance(part, Mapping) and part.get("type") not in REASONING_PARTS
        )
        if has_thoughts and not text:
            message = {**message, "reasoning": True}
    if isinstance(ending, str):
        ending = known_ending(ending)
    if not text and isinstance(refusal, str) and refusal:
        text, ending = refusal, REFUSAL
    if is_aborted(ending):
        why = excerpt(choice.get("error") or text or "")
        raise RequestError("server", f"the provider aborted the reply ({ending}): {why}".removesuffix(": "))
    if text is None and ending not in FINAL_ENDINGS:
        text = ""  # an empty reply is a reply
    if text == "" and ending not in (*FINAL_ENDINGS, LENGTH):
        ending = _kind_of_empty_reply(message) or ending
    if text is not None and (not isinstance(text, str) or len(text) > LONGEST_TEXT):
        what = f"of more than {LONGEST_TEXT:,} characters" if isinstance(text, str) else "whose content is not text"
        raise RequestError("request", f"a reply {what}: {excerpt(text)}")
    reply = Reply(
        text=text,
        finish_reason=None if ending is None else str(ending)[:60],
        prompt_tokens=_count(usage, "prompt_tokens"),
        completion_tokens=_count(usage, "completion_tokens"),
        cost=_cost(usage),
        seconds=seconds,
        model_version=_version(answer),
        asked_at=asked_at,
        reasoning_tokens=_count(usage.get(DETAILS), "reasoning_tokens") if isinstance(usage, Mapping) else None,
    )
    calls = message.get("tool_calls")
    if not calls or not isinstance(calls, list):
        return reply
    return ToolCallReply(
        **{column.name: getattr(reply, column.name) for column in fields(reply)}, message=assistant_message(message)
    )


# https://platform.openai.com/docs/api-reference/chat/object: usage.completion_tokens_details.reasoning_tokens; litellm
# gives it for other providers, too (litellm.types.utils.Usage).
DETAILS = "completion_tokens_details"


def _kind_of_empty_reply(message: Record) -> str | None:
    """Return the ending of a reply without text that has calls of tools or reasoning instead."""
    if message.get("tool_calls") or message.get("function_call"):
        return TOOL_CALLS
    reasoning = any(message.get(name) for name in (*REASONING_FIELDS, "thinking_blocks"))
    return REASONING_ONLY if reasoning else None


def _count(usage: Any, name: str) -> int | None:
    value = usage.get(name) if isinstance(usage, Mapping) else None
    return value if type(value) is int and 0 <= value < 2**53 else None


def _cost(usage: Any) -> str | None:
    value = usage.get("cost") if isinstance(usage, Mapping) else None
    is_known = isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 1e6
    return decimal_text(float(value)) if is_known and value is not None else None


def decimal_text(value: float, places: int = 10) -> str:
    """Return a measured number as decimal text.

    >>> decimal_text(0.00012), decimal_text(3.0)
    ('0.00012', '3')
    """
    text = f"{value:.{places}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _version(answer: Record) -> str | None:
    parts = [str(answer[name])[:200] for name in ("model", "system_fingerprint") if answer.get(name)]
    return " ".join(parts) or None


def excerpt(answer: Any) -> str:
    """Return the beginning of an endpoint's response, in one line."""
    text = " ".join(str(answer).split())
    return text if len(text) <= 200 else text[:200] + "..."


# How providers report a prompt that is too long, and one that they refuse; both are final replies
OVER_CONTEXT = re.compile(
    r"context.?(length|window|size)|maximum (context|prompt)|too many tokens|(prompt|input) is too long"
    r"|input token count|inputs? must have less than",
    re.IGNORECASE,
)
# The same words about the length of the reply that was asked for: the prompt itself may fit
ROOM_FOR_REPLY = re.compile(r"max_(completion_|output_|new_)?tokens|in the completion", re.IGNORECASE)
CONTEXT_SIZE = re.compile(r"maximum context length is (\d{1,12})", re.IGNORECASE)
PROMPT_SIZE = re.compile(r"(\d{1,12}) (?:tokens )?in the messages", re.IGNORECASE)
CONTENT_REFUSED = re.compile(r"content.?(filter|policy|management)|safety (system|settings)|flagged", re.IGNORECASE)
# Rate-limit errors that waiting cannot fix
UNPAID = re.compile(r"insufficient_quota|billing|payment", re.IGNORECASE)
OVERLOADED = frozenset({429, 503, 529})


def is_over_context(message: str) -> bool:
    """Return whether a provider says that the prompt is too long, and not only its sum with the reply asked for.

    >>> is_over_context("'max_tokens' is too large: 9000. This model's maximum context length is 8192 tokens")
    False
    """
    if not OVER_CONTEXT.search(message):
        return False
    size, prompt = CONTEXT_SIZE.search(message), PROMPT_SIZE.search(message)
    if size and prompt:
        return int(prompt[1]) >= int(size[1])
    return not ROOM_FOR_REPLY.search(message)


def classify_refusal(
    status: int, code: str, message: str, seconds: str, asked_at: str, wait: float | None = None
) -> Reply | RequestError:
    """Return what a status other than 200 means: a final reply, or an error."""
    searched, text = f"{code} {message}", f"{status} {message}".strip()[:300]
    if status in (400, 413, 422) and is_over_context(searched):
        return Reply(None, finish_reason="over_context", seconds=seconds, asked_at=asked_at)
    if status in (400, 403, 422) and CONTENT_REFUSED.search(searched):
        return Reply(None, finish_reason="content_filter", seconds=seconds, asked_at=asked_at)
    if status in (401, 402, 403, 404) or (status == 429 and UNPAID.search(searched)):
        return RequestError("fatal", text)
    if 300 <= status < 400:  # a key must not be sent where a redirect points
        return RequestError("fatal", f"{status}: the endpoint redirects, which is not followed")
    if status in OVERLOADED:
        return RequestError("rate_limit", text, wait)
    if status >= 500 or status in (408, 409, 425):
        return RequestError("timeout" if status == 408 else "server", text, wait)
    return RequestError("request", text, status=status)
