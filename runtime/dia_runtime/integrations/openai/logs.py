"""Results of OpenAI's batch interface: one line for each request, identified by `custom_id`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dia_language.diagnostics import DiaError
from dia_runtime.integrations.reading.base import Row, RowsOrErrors
from dia_runtime.integrations.reading.json_lines import objects
from dia_runtime.integrations.reading.log_rows import Record, log_row, mapping, text_or_none
from dia_runtime.respondents.chat import classify_refusal, reply_from_completion
from dia_runtime.respondents.respondent import Reply, RequestError

OF_REPLY = ("error", "finish_reason", "prompt_tokens", "completion_tokens", "reasoning_tokens", "cost", "model_version")


def rows(path: Path) -> RowsOrErrors:
    """Return the replies of the file, including errors."""
    for line, _, record in objects(path):
        yield record if isinstance(record, DiaError) else _row(path, line, record)


def _row(path: Path, line: int, record: Record) -> Row:
    response = mapping(record.get("response"))
    body = mapping(response.get("body"))
    reply = _reply(record, response, body)
    own_cells = {
        "id": record.get("custom_id"),
        "reply": reply.text,
        "model": text_or_none(body.get("model")) or path.name.partition(".")[0],
        **{name: getattr(reply, name) for name in OF_REPLY},
    }
    return log_row(line, own_cells)


def _reply(record: Record, response: Record, body: Record) -> Reply:
    """Return the reply, or the error instead of it."""
    status, error = response.get("status_code"), mapping(record.get("error") or body.get("error"))
    message = f"{error.get('message') or 'no response'}"[:300]
    if not response:
        return Reply(None, error=f"request: {message}")
    try:
        if status != 200:
            reply = classify_refusal(
                status if type(status) is int else 0, str(error.get("code") or ""), message, "", ""
            )
        else:
            reply = reply_from_completion(_plain(body), "", "")
    except RequestError as trouble:
        reply = trouble
    return reply if isinstance(reply, Reply) else Reply(None, error=f"{reply.kind}: {reply.message}"[:400])


def _plain(body: Record) -> dict[str, Any]:
    """Return the chat completion without the time it took, which a batch does not report."""
    return {name: value for name, value in body.items() if name != "created"}
