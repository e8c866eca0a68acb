"""What OpenAI's batch interface gives back: a line a request, told apart by `custom_id`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dia_language.diagnostics import DiaError
from dia_runtime.integrations.reading.base import Found, Row
from dia_runtime.integrations.reading.json_lines import objects
from dia_runtime.integrations.reading.log_rows import Record, cells, mapping, row, text
from dia_runtime.respondents.chat import classify_refusal, reply_from_completion
from dia_runtime.respondents.respondent import Reply, RequestError

OF_REPLY = ("error", "finish_reason", "prompt_tokens", "completion_tokens", "cost", "model_version")


def rows(path: Path) -> Found:
    """The replies of the file, also those that are errors."""
    for line, _, held in objects(path):
        yield held if isinstance(held, DiaError) else _row(path, line, held)


def _row(path: Path, line: int, held: Record) -> Row:
    response = mapping(held.get("response"))
    body = mapping(response.get("body"))
    reply = _reply(held, response, body)
    given = {
        "id": held.get("custom_id"),
        "reply": reply.text,
        "model": text(body.get("model")) or path.name.partition(".")[0],
        **{name: getattr(reply, name) for name in OF_REPLY},
    }
    return row(line, cells(given))


def _reply(held: Record, response: Record, body: Record) -> Reply:
    """The reply, or the error that stands in its place."""
    status, error = response.get("status_code"), mapping(held.get("error") or body.get("error"))
    said = f"{error.get('message') or 'no response'}"[:300]
    if not response:
        return Reply(None, error=f"request: {said}")
    try:
        if status != 200:
            found = classify_refusal(status if type(status) is int else 0, str(error.get("code") or ""), said, "", "")
        else:
            found = reply_from_completion(_plain(body), "", "")
    except RequestError as trouble:
        found = trouble
    return found if isinstance(found, Reply) else Reply(None, error=f"{found.kind}: {found.message}"[:400])


def _plain(body: Record) -> dict[str, Any]:
    """The chat completion without the time it took, which a batch does not tell."""
    return {name: value for name, value in body.items() if name != "created"}
