"""Logs of Inspect: `.eval`, an archive with a member for each sample, and `.json`.

Neither Inspect nor its log reader is needed. An epoch is an attempt. A sample that ended in an error is an error here.
The output of a question of sessions is its transcript, as `dia export --to inspect` makes Inspect return it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dia_language.diagnostics import DiaError
from dia_runtime.bundle.input_errors import input_error, unreadable_file
from dia_runtime.integrations.reading.base import Number, Row, RowsOrErrors
from dia_runtime.integrations.reading.log_rows import (
    ENDINGS,
    LENIENT,
    Record,
    log_row,
    mapping,
    number_or_none,
    parse_json,
    read_json,
    reply_cells,
    sequence,
    text_or_none,
)
from dia_runtime.integrations.reading.zip_members import Members, open_archive

ZIP = b"PK"
SAMPLE = re.compile(r"samples/.+\.json", re.DOTALL)
GIVEN_UP = frozenset({"error", "cancelled", "started"})
LEFT_OUT = "dia_left_out"  # as the task names it in a sample's metadata
CORRECT = frozenset({"C", "1", "1.0", "True"})


def rows(path: Path) -> RowsOrErrors:
    """Return the replies of the log."""
    try:
        with path.open("rb") as file:
            is_archive = file.read(2) == ZIP
        yield from _archive(path) if is_archive else _json(path)
    except (OSError, ValueError) as error:
        raise unreadable_file(path, error) from None


def _archive(path: Path) -> RowsOrErrors:
    with open_archive(path) as members:
        header = _header(path, members)
        yield from _unfinished(path, header)
        for line, name in enumerate(filter(SAMPLE.fullmatch, members.of), 1):
            yield _member(path, members, line, name, header)


def _member(path: Path, members: Members, line: int, name: str, header: Record) -> Row | DiaError:
    try:
        return _row(path, line, mapping(parse_json(path, members.read(name), name, LENIENT)), header)
    except ValueError as error:
        return input_error("E861", str(error), path, line)
    except DiaError as error:
        return error


def _header(path: Path, members: Members) -> Record:
    """Return what the log says about the evaluation; if it was cut short, what it said at its start."""
    for name in ("header.json", "_journal/start.json"):
        if name in members.of:
            return mapping(parse_json(path, members.read(name), name, LENIENT))
    raise ValueError("it is not a log of Inspect: it has no `header.json`")


def _json(path: Path) -> RowsOrErrors:
    log = mapping(read_json(path, LENIENT))
    if "eval" not in log:
        raise ValueError("it is not a log of Inspect: it has no `eval`")
    yield from _unfinished(path, log)
    for line, sample in enumerate(sequence(log.get("samples")), 1):
        yield _row(path, line, mapping(sample), log)


def _unfinished(path: Path, header: Record) -> Iterator[DiaError]:
    status = header.get("status", "started")
    if status in GIVEN_UP:
        message = f"the evaluation did not finish (status `{str(status)[:20]}`)"
        yield input_error(
            "E861", message, path, 1, 1, "finish it with `inspect eval-retry`, or import what exists with `--keep`"
        )


def _row(path: Path, line: int, sample: Record, header: Record) -> Row | DiaError:
    about, metadata = mapping(header.get("eval")), mapping(sample.get("metadata"))
    is_ours = "questions_root" in metadata and "grading" in metadata
    if is_ours and LEFT_OUT in metadata:
        message = f"`{str(sample.get('id'))[:200]}` was left out: {str(metadata[LEFT_OUT])[:300]}"
        return input_error("E861", message, path, line, 1, "ask it, or import the others with `--keep`")
    is_session = is_ours and "sessions" in metadata
    model = text_or_none(about.get("model")) or "unknown"
    gold = sequence(sample.get("target")) or [sample.get("target")]
    own_cells = {
        "id": sample.get("id") if is_ours else f"{about.get('task')}/{sample.get('id')}",
        "gold": gold[0],
        "accept": gold[1:] or None,
        "model": model,
        "attempt": sample.get("epoch") or 1,
        "questions_root": metadata.get("questions_root") if is_ours else None,
        "asked_at": text_or_none(sample.get("started_at")),
        "seconds": number_or_none(sample.get("total_time")),
        "verdict": _verdict(sample),
        **_reply_cells(sample),
        **_tokens(sample, model),
        **(_of_sessions(sample) if is_session else {}),
    }
    return log_row(line, own_cells, metadata, "metadata.")


def _reply_cells(sample: Record) -> dict[str, Any]:
    """Return the reply and how it ended, or the error."""
    error, output = mapping(sample.get("error")), mapping(sample.get("output"))
    if error:
        return {"error": f"harness: {str(error.get('message'))[:300]}"}
    choices = sequence(output.get("choices"))
    choice = mapping(choices[0]) if choices else {}
    if not choice and not output.get("completion"):
        return {"error": f"harness: {str(output.get('error') or 'no output')[:300]}"}
    reason = text_or_none(choice.get("stop_reason"))
    reply = output.get("completion")
    if not isinstance(reply, str):
        reply = _content(mapping(choice.get("message")).get("content"))
    return reply_cells(_with_attachment(reply, sample), ENDINGS.get(reason or "", reason)) | {
        "model_version": text_or_none(output.get("model")),
    }


def _content(content: Any) -> str:
    """Return the text of a message: a single text, or the text parts."""
    if isinstance(content, str):
        return content
    return "".join(str(mapping(part).get("text") or "") for part in sequence(content))


def _with_attachment(reply: str, sample: Record) -> str:
    """Return the text, which the log may store separately."""
    name = reply.removeprefix("attachment://")
    attachment = mapping(sample.get("attachments")).get(name) if name != reply else None
    return attachment if isinstance(attachment, str) else reply


def _tokens(sample: Record, model: str) -> dict[str, Any]:
    """Return the tokens of all calls to the model, or of the last call if the others are not known."""
    usage = mapping(mapping(sample.get("model_usage")).get(model)) or mapping(
        mapping(sample.get("output")).get("usage")
    )
    return {
        "prompt_tokens": number_or_none(usage.get("input_tokens")),
        "completion_tokens": number_or_none(usage.get("output_tokens")),
        "reasoning_tokens": number_or_none(usage.get("reasoning_tokens")),
    }


def _of_sessions(sample: Record) -> dict[str, Any]:
    """Return what a transcript reports about its cost: that of the subject's requests for this question."""
    output = mapping(sample.get("output"))
    usage = mapping(output.get("usage"))
    return {
        "prompt_tokens": number_or_none(usage.get("input_tokens")),
        "completion_tokens": number_or_none(usage.get("output_tokens")),
        "reasoning_tokens": number_or_none(usage.get("reasoning_tokens")),
        "seconds": number_or_none(output.get("time")),
        "finish_reason": None,
    }


def _verdict(sample: Record) -> str | None:
    """Return the verdict of the first scorer, if it gives a single one."""
    value = next((mapping(score).get("value") for score in mapping(sample.get("scores")).values()), None)
    if isinstance(value, dict):
        value = value.get("correct")
    if not isinstance(value, str | int | Number):
        return None
    return "correct" if str(value) in CORRECT else "wrong"
