"""Samples of lm-evaluation-harness (`samples_TASK_TIME.jsonl`, by `--log_samples`).

Every filter of a task has its own lines; only those of the first one in the file are read, because all contain the same
reply. A task that compares likelihoods has no text: its reply is the letter of the likeliest option. The model's name
is in the file `results_TIME.json` next to the samples.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from dia_language.diagnostics import DiaError
from dia_runtime.integrations.reading.base import Row, RowsOrErrors
from dia_runtime.integrations.reading.json_lines import objects
from dia_runtime.integrations.reading.log_rows import (
    Record,
    log_row,
    mapping,
    option_letter,
    read_json,
    sequence,
    text_or_none,
)

NAME = re.compile(r"samples_(.+)_([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9.-]+)\.jsonl(?:\.gz|\.zst)?")
VERDICTS = ("correct", "exact_match", "acc", "acc_norm", "exact", "pass@1")
LARGEST_RESULTS = 1 << 26


def rows(path: Path) -> RowsOrErrors:
    """Return the replies of the file."""
    named = NAME.fullmatch(path.name)
    task, model = (named[1], _model(path, named[2])) if named else (path.name.partition(".")[0], None)
    first_filter: Any = None
    for line, _, sample in objects(path):
        if isinstance(sample, DiaError):
            yield sample
            continue
        first_filter = sample.get("filter") if first_filter is None else first_filter
        if sample.get("filter") == first_filter:
            yield from _rows(line, sample, task, model or path.name)


def _model(path: Path, time: str) -> str | None:
    results_path = path.with_name(f"results_{time}.json")
    if not results_path.is_file() or results_path.stat().st_size > LARGEST_RESULTS:
        return None
    results = mapping(read_json(results_path))
    return text_or_none(results.get("model_name")) or text_or_none(mapping(results.get("config")).get("model"))


def _rows(line: int, sample: Record, task: str, model: str) -> Iterator[Row]:
    doc = mapping(sample.get("doc"))
    is_ours = "questions_root" in doc and "dia_prompt" in doc
    gold, responses = sample.get("target"), sequence(sample.get("resps"))
    # One list per request: for a text, its attempts; for likelihoods, one pair per option.
    best = _likeliest(responses)
    replies = [option_letter(best)] if best is not None else sequence(responses[0] if responses else None)
    own_cells = {
        "id": doc.get("id") if is_ours else f"{task}/{sample.get('doc_id')}",
        "gold": _letter(gold) if best is not None else gold,
        "model": model,
        "questions_root": doc.get("questions_root") if is_ours else None,
        "verdict": _verdict(sample),
        "extracted": _first(sample.get("filtered_resps")),
    }
    for attempt, reply in enumerate(replies or [None], 1):
        reply_cells = {"reply": reply if isinstance(reply, str) else None, "attempt": attempt}
        yield log_row(line, {**own_cells, **reply_cells}, doc, "doc.")


def _likeliest(responses: list[Any]) -> int | None:
    """Return the position of the likeliest option; None if the requests were for texts."""
    likelihoods = []
    for request in responses:
        pair = sequence(sequence(request)[0] if sequence(request) else None)
        try:
            likelihoods.append(Decimal(str(pair[0])))
        except (IndexError, InvalidOperation):
            return None
        if likelihoods[-1].is_nan():  # a likelihood that overflowed (NaN) cannot be compared
            return None
    return max(range(len(likelihoods)), key=likelihoods.__getitem__) if likelihoods else None


def _letter(gold: Any) -> Any:
    return option_letter(int(gold)) if isinstance(gold, int | str) and re.fullmatch(r"[0-9]{1,2}", str(gold)) else gold


def _first(value: Any) -> str | None:
    values = sequence(value)
    while values and isinstance(values[0], list):
        values = values[0]
    return values[0] if values and isinstance(values[0], str) else None


def _verdict(sample: Record) -> str | None:
    """Return the harness's verdict on the reply, by the first of its usual metrics that exists."""
    name = next((name for name in VERDICTS if name in sample), None)
    if name is None:
        return None
    return "correct" if str(sample[name]) in ("1", "1.0", "True") else "wrong"
