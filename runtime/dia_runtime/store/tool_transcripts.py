"""Conversations with tools: what a model called before it replied, as the text that a run keeps with the reply.

One line of canonical JSON: `{"tool_transcript": 1, "sandbox": NAME or null, "steps": [...]}`. A step is a request whose
reply contained calls: `{"text", "finish_reason", "prompt_tokens", "completion_tokens", "cost", "seconds", "calls"}`.
The request whose reply is the answer is no step: the reply itself has its text. Each of `calls` has

- `tool`, and `arguments` as the model wrote them (JSON, or what should have been);
- `status`: `ok` (it ran), `stopped` (it exceeded a limit), `malformed` (the arguments), `unknown_tool`, `no_calls_left`
  or `failed` (the tool did not work);
- `output`, as the model received it; `cut`, the number of characters that were left out of it;
- `exit_code` of a program, else null, and `seconds` as decimal text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

VERSION = 1
LONGEST = 10_000_000  # characters
AMOUNT = re.compile(r"[0-9]{1,30}(\.[0-9]{1,30})?", re.ASCII)
STATUSES = ("ok", "stopped", "malformed", "unknown_tool", "no_calls_left", "failed")
SUFFIX = re.compile(r"\+tools=([^+]*)")


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool and what came of it."""

    tool: str
    arguments: str
    status: str
    output: str
    exit_code: int | None = None
    seconds: str | None = None
    cut: int = 0


@dataclass(frozen=True, slots=True)
class ToolStep:
    """A request whose reply contained calls: the text next to the calls, the calls, and what the request took."""

    text: str | None
    calls: tuple[ToolCall, ...]
    finish_reason: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost: str | None = None
    seconds: str | None = None


@dataclass(frozen=True, slots=True)
class ToolTranscript:
    """All steps before a reply, and the sandbox that the tools of dia ran in, if any ran."""

    steps: tuple[ToolStep, ...]
    sandbox: str | None = None

    @property
    def calls(self) -> list[ToolCall]:
        """Return all calls in their order."""
        return [call for step in self.steps for call in step.calls]


def tool_transcript_text(transcript: ToolTranscript) -> str:
    """Return the transcript as a run stores it.

    >>> tool_transcript_text(ToolTranscript(()))
    '{"sandbox":null,"steps":[],"tool_transcript":1}'
    """
    record = {"tool_transcript": VERSION, "sandbox": transcript.sandbox, "steps": list(map(asdict, transcript.steps))}
    return json.dumps(record, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def read_tool_transcript(text: str) -> ToolTranscript:
    """Return the transcript in a text. Raises ValueError if it is malformed, because it is untrusted."""
    if len(text) > LONGEST:
        raise ValueError(f"it is longer than {LONGEST:,} characters")
    try:
        return transcript_from_record(json.loads(text))
    except (RecursionError, json.JSONDecodeError):
        raise ValueError("it is not JSON") from None


def transcript_from_record(record: Any) -> ToolTranscript:
    """Return the transcript in a JSON value. Raises ValueError if it is none."""
    if not isinstance(record, Mapping) or record.get("tool_transcript") != VERSION:
        raise ValueError("it is not a tool transcript of version 1")
    return ToolTranscript(tuple(map(_step, _list(record, "steps"))), text_or_none(record, "sandbox"))


def tool_transcript_or_none(text: str | None) -> ToolTranscript | None:
    """Return the transcript in a stored text; None if there is none or it cannot be read."""
    try:
        return None if text is None else read_tool_transcript(text)
    except ValueError:
        return None


def has_calls(text: str | None) -> bool:
    """Return whether the model called a tool, by the text that is kept with a reply.

    >>> has_calls(None), has_calls('{"sandbox":null,"steps":[],"tool_transcript":1}')
    (False, False)
    """
    transcript = tool_transcript_or_none(text)
    return transcript is not None and bool(transcript.calls)


def readable_tool_transcript(transcript: ToolTranscript) -> str:
    """Return the steps for people to read: the texts next to calls, and each call with its arguments and output."""
    return "\n".join(line for role, text in tool_messages(transcript) for line in (f"[{role}]", text))


def tool_messages(transcript: ToolTranscript) -> Iterator[tuple[str, str]]:
    """Yield the steps as (role, text): `assistant` for texts, `call` and `output` for calls."""
    for step in transcript.steps:
        if step.text:
            yield "assistant", step.text
        for call in step.calls:
            yield f"call of {call.tool}", readable_arguments(call.arguments)
            facts = [] if call.status == "ok" else [call.status.replace("_", " ")]
            facts += [] if call.exit_code is None else [f"exit code {call.exit_code}"]
            facts += [] if call.seconds is None else [f"{call.seconds} s"]
            facts += [f"{call.cut:,} characters cut"] if call.cut else []
            yield ", ".join(["output", *facts]), call.output


def readable_arguments(arguments: str) -> str:
    """Return the arguments for people: a single text as it is, several as `name: value` lines.

    >>> readable_arguments('{"code": "print(1)"}'), readable_arguments('{"a": 1, "b": "x"}'), readable_arguments("{")
    ('print(1)', 'a: 1\\nb: x', '{')
    """
    try:
        values = json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments
    if not isinstance(values, dict) or not values:
        return arguments
    texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in values.items()}
    if len(texts) == 1:
        return next(iter(texts.values()))
    return "\n".join(f"{name}: {text}" for name, text in texts.items())


def name_with_tools(name: str, tools: Sequence[str]) -> str:
    """Return the name of a respondent that has these tools.

    >>> name_with_tools("openai/m@0", ["python", "bash"])
    'openai/m@0+tools=python,bash'
    """
    return f"{name}+tools={','.join(tools)}" if tools else name


def split_tools(name: str) -> tuple[str, tuple[str, ...]]:
    """Return a respondent's name without its tools, and the tools.

    >>> split_tools("openai/m@0+tools=python,bash+judge=says:7"), split_tools("openai/m")
    (('openai/m@0+judge=says:7', ('python', 'bash')), ('openai/m', ()))
    """
    match = SUFFIX.search(name)
    if match is None:
        return name, ()
    return name[: match.start()] + name[match.end() :], tuple(match[1].split(","))


def _step(record: Any) -> ToolStep:
    if not isinstance(record, Mapping):
        raise ValueError("a step is not an object")
    return ToolStep(
        text_or_none(record, "text"),
        tuple(map(_call, _list(record, "calls"))),
        text_or_none(record, "finish_reason"),
        count_or_none(record, "prompt_tokens"),
        count_or_none(record, "completion_tokens"),
        _amount(record, "cost"),
        _amount(record, "seconds"),
    )


def _call(record: Any) -> ToolCall:
    if not isinstance(record, Mapping) or record.get("status") not in STATUSES:
        raise ValueError("a call has no known status")
    texts = [text_or_none(record, name) for name in ("tool", "arguments", "output")]
    if None in texts:
        raise ValueError("a call needs `tool`, `arguments` and `output`")
    tool, arguments, output = (str(text) for text in texts)
    exit_code, cut = count_or_none(record, "exit_code"), count_or_none(record, "cut") or 0
    return ToolCall(tool, arguments, record["status"], output, exit_code, _amount(record, "seconds"), cut)


def _list(record: Mapping[str, Any], name: str) -> list[Any]:
    value = record.get(name)
    if not isinstance(value, list):
        raise ValueError(f"`{name}` must be a list")
    return value


def text_or_none(record: Mapping[str, Any], name: str) -> str | None:
    """Return a text of a record, which may be missing. Raises ValueError for anything else."""
    value = record.get(name)
    if value is not None and not isinstance(value, str):
        raise ValueError(f"`{name}` must be text or null")
    return value


def count_or_none(record: Mapping[str, Any], name: str) -> int | None:
    """Return a count of a record, which may be missing. Raises ValueError for anything else."""
    value = record.get(name)
    if value is not None and (type(value) is not int or not 0 <= value < 2**53):
        raise ValueError(f"`{name}` must be an integer of at least 0, or null")
    return value


def _amount(record: Mapping[str, Any], name: str) -> str | None:
    value = text_or_none(record, name)
    if value is not None and not AMOUNT.fullmatch(value):
        raise ValueError(f"`{name}` must be a decimal number as text, or null")
    return value
