"""Details of lighteval (`details_TASK_TIME.parquet`, by `--save-details`).

A reply that lighteval could not get is an empty text there, and counts as no answer here too.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from dia_language.diagnostics import DiaError
from dia_runtime.integrations.reading import parquet
from dia_runtime.integrations.reading.base import Row, RowsOrErrors
from dia_runtime.integrations.reading.log_rows import log_row, mapping, sequence, text_or_none

NAME = re.compile(r"details_(.+?)(?:\|[0-9]+)?_[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9.:-]+\.parquet")
FOLDER = "details"


def rows(path: Path) -> RowsOrErrors:
    """Return the replies of the file."""
    named = NAME.fullmatch(path.name)
    task, model = named[1] if named else path.name.partition(".")[0], _model(path)
    for table_row in parquet.rows(path):
        if isinstance(table_row, DiaError):
            yield table_row
        else:
            yield from _rows(table_row, task, model)


def _model(path: Path) -> str:
    """Return the model from the folders above the file: details/openai/gpt-x/TIME/details_TASK_TIME.parquet."""
    parts = path.absolute().parent.parts
    if FOLDER not in parts:
        return path.name
    at = len(parts) - 1 - parts[::-1].index(FOLDER)
    return "/".join(parts[at + 1 : -1]) or path.name


def _rows(detail: Row, task: str, model: str) -> RowsOrErrors:
    doc, response = mapping(detail.cells.get("doc")), mapping(detail.cells.get("model_response"))
    specific = mapping(doc.get("specific"))
    is_ours = "questions_root" in specific
    own_cells = {
        "id": specific.get("id") if is_ours else f"{task}/{doc.get('id')}",
        "gold": _gold(doc),
        "model": model,
        "questions_root": text_or_none(specific.get("questions_root")) if is_ours else None,
        "verdict": _verdict(mapping(detail.cells.get("metric"))),
    }
    for attempt, reply in enumerate(sequence(response.get("text")) or [None], 1):
        reply_cells = {"reply": reply if isinstance(reply, str) else None, "attempt": attempt}
        yield log_row(detail.line, {**own_cells, **reply_cells}, doc, "doc.")


def _gold(doc: Any) -> Any:
    """Return the correct choice; the first one if several are correct."""
    choices, at = sequence(doc.get("choices")), doc.get("gold_index")
    at = at[0] if isinstance(at, list) and at else at
    return choices[at] if isinstance(at, int) and 0 <= at < len(choices) else None


def _verdict(metrics: Any) -> str | None:
    """Return the verdict of the first metric on the reply."""
    value = next(iter(metrics.values()), None)
    return None if value is None else "correct" if str(value) in ("1", "1.0", "True") else "wrong"
