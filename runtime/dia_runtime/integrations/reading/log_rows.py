"""Shared by the readers of logs: the cells that they yield, and JSON of bounded size."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dia_runtime.bundle.compressed import read_lines
from dia_runtime.bundle.input_errors import input_error, unreadable_file
from dia_runtime.integrations.reading.base import Number, Row
from dia_runtime.integrations.reading.json_lines import COMMAS, constant
from dia_runtime.store.endings import FINAL_ENDINGS

# The fields that logs provide as far as they can; `correct` is always that word, for logs whose `verdict` counts.
ALWAYS = (
    "id",
    "gold",
    "reply",
    "accept",
    "model",
    "attempt",
    "error",
    "finish_reason",
    "prompt_tokens",
    "completion_tokens",
    "reasoning_tokens",
    "cost",
    "seconds",
    "model_version",
    "asked_at",
    "questions_root",
)
EXTRA = ("verdict", "correct", "extracted")
NOTHING: Mapping[str, Any] = dict.fromkeys((*ALWAYS, *EXTRA)) | {"correct": "correct"}
WHOLE = 1 << 26  # bytes of a JSON file that is read in one piece
ENDINGS = {"max_tokens": "length", "model_length": "over_context"}  # Inspect's words -> ours
Record = Mapping[str, Any]
# Duplicate keys are errors in tables only: logs have many objects that are not read.
DECODER = json.JSONDecoder(parse_float=Number, parse_constant=constant)
LENIENT = json.JSONDecoder(parse_float=Number, parse_constant=lambda name: None)  # Inspect writes NaN for no score


def log_row(line: int, own_cells: Record, further: Record | None = None, prefix: str = "") -> Row:
    """Return a row of a log, whose columns are fixed.

    It has its own cells, None for the rest of those that every log has, and the log's further columns after a prefix.
    """
    further_cells = {f"{prefix}{name}": value for name, value in (further or {}).items()}
    return Row(line, {**further_cells, **NOTHING, **own_cells}, lambda name: 1)


def mapping(value: Any) -> Record:
    """Return the value if it is an object, or else an empty one."""
    return value if isinstance(value, dict) else {}


def sequence(value: Any) -> list[Any]:
    """Return the value if it is a list, or else an empty one."""
    return value if isinstance(value, list) else []


def text_or_none(value: Any) -> str | None:
    """Return the value if it is a nonempty text, or an integer as text; otherwise None."""
    if isinstance(value, bool) or value is None or value == "":
        return None
    return str(value) if isinstance(value, str | int) else None


def read_json(path: Path, decoder: json.JSONDecoder = DECODER) -> Any:
    """Return the value of a JSON file, which may be compressed. Raises DiaError if it is malformed or too large."""
    pieces, size = [], 0
    try:
        for _, raw in read_lines(path, ends=True):
            size += len(raw)
            if size > WHOLE:
                raise input_error(
                    "E861", f"more than {WHOLE >> 20} MiB", path, 1, 1, "write it as JSON Lines, or split it"
                )
            pieces.append(raw)
    except (OSError, ValueError) as error:
        raise unreadable_file(path, error) from None
    return parse_json(path, b"".join(pieces), decoder=decoder)


def parse_json(path: Path, raw: bytes, place: str = "", decoder: json.JSONDecoder = DECODER) -> Any:
    """Return the value of JSON bytes; `place` names a member of an archive. Raises DiaError if it is malformed."""
    where = f"{place}: " if place else ""
    if raw.count(b",") > COMMAS:
        raise input_error("E861", f"{where}more than {COMMAS:,} commas", path)
    try:
        return decoder.decode(raw.decode("utf-8-sig"))
    except json.JSONDecodeError as error:
        message = f"{where}not JSON: {error.msg[:1].lower()}{error.msg[1:]}"
        raise input_error("E861", message, path, error.lineno, error.colno) from None
    except RecursionError:
        raise input_error("E861", f"{where}nested too deeply", path) from None
    except ValueError as error:
        raise input_error("E861", f"{where}not JSON: {str(error)[:200]}", path) from None


def reply_cells(reply: str | None, reason: str | None) -> dict[str, Any]:
    """Return the cells of a reply and how it ended.

    An empty reply that was refused or had no room is a final answer, not an error.
    """
    if reason in FINAL_ENDINGS and not reply:
        return {"reply": None, "finish_reason": reason}
    return {"reply": "" if reply is None else reply, "finish_reason": reason}


def option_letter(number_or_none: int) -> str:
    """Return the letter of an option, by its position."""
    return chr(ord("A") + number_or_none) if 0 <= number_or_none < 26 else str(number_or_none)


def number_or_none(value: Any) -> Any:
    """Return a measured number as a cell; None if it is malformed."""
    is_number = isinstance(value, int | Number) and not isinstance(value, bool)
    return value if is_number and not str(value).startswith("-") else None
