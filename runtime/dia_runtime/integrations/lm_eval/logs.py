"""Samples of lm-evaluation-harness (`samples_TASK_TIME.jsonl`, by `--log_samples`).

Every filter of a task has its lines; those of the first one in the file are read, since all hold the same reply. A
task that compares likelihoods has no text: its reply is the letter of the likeliest option. The model's name stands in
the file `results_TIME.json` beside the samples.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from dia_language.diagnostics import DiaError
from dia_runtime.integrations.reading.base import Found, Row
from dia_runtime.integrations.reading.json_lines import objects
from dia_runtime.integrations.reading.log_rows import Record, cells, mapping, option, row, sequence, text, whole

NAME = re.compile(r"samples_(.+)_([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9.-]+)\.jsonl(?:\.gz|\.zst)?")
VERDICTS = ("correct", "exact_match", "acc", "acc_norm", "exact", "pass@1")
LARGEST_RESULTS = 1 << 26


def rows(path: Path) -> Found:
    """The replies of the file."""
    named = NAME.fullmatch(path.name)
    task, model = (named[1], _model(path, named[2])) if named else (path.name.partition(".")[0], None)
    kept: Any = None
    for line, _, held in objects(path):
        if isinstance(held, DiaError):
            yield held
            continue
        kept = held.get("filter") if kept is None else kept
        if held.get("filter") == kept:
            yield from _rows(line, held, task, model or path.name)


def _model(path: Path, time: str) -> str | None:
    beside = path.with_name(f"results_{time}.json")
    if not beside.is_file() or beside.stat().st_size > LARGEST_RESULTS:
        return None
    held = mapping(whole(beside))
    return text(held.get("model_name")) or text(mapping(held.get("config")).get("model"))


def _rows(line: int, held: Record, task: str, model: str) -> Iterator[Row]:
    doc = mapping(held.get("doc"))
    is_ours = "questions_root" in doc and "dia_prompt" in doc
    gold, said = held.get("target"), sequence(held.get("resps"))
    # One list a request: of a request for text its attempts, of likelihoods one pair an option.
    best = _likeliest(said)
    replies = [option(best)] if best is not None else sequence(said[0] if said else None)
    given = {
        "id": doc.get("id") if is_ours else f"{task}/{held.get('doc_id')}",
        "gold": _letter(gold) if best is not None else gold,
        "model": model,
        "questions_root": doc.get("questions_root") if is_ours else None,
        "verdict": _verdict(held),
        "extracted": _first(held.get("filtered_resps")),
    }
    for attempt, reply in enumerate(replies or [None], 1):
        told = {"reply": reply if isinstance(reply, str) else None, "attempt": attempt}
        yield row(line, cells({**given, **told}, doc, "doc."))


def _likeliest(said: list[Any]) -> int | None:
    """The place of the option with the greatest likelihood; None where the requests were for text."""
    found = []
    for request in said:
        pair = sequence(sequence(request)[0] if sequence(request) else None)
        try:
            found.append(Decimal(str(pair[0])))
        except (IndexError, InvalidOperation):
            return None
        if found[-1].is_nan():  # a likelihood that overflowed compares with nothing
            return None
    return max(range(len(found)), key=found.__getitem__) if found else None


def _letter(gold: Any) -> Any:
    return option(int(gold)) if isinstance(gold, int | str) and re.fullmatch(r"[0-9]{1,2}", str(gold)) else gold


def _first(held: Any) -> str | None:
    found = sequence(held)
    while found and isinstance(found[0], list):
        found = found[0]
    return found[0] if found and isinstance(found[0], str) else None


def _verdict(held: Record) -> str | None:
    """What the harness made of the reply, by the first of its usual metrics that is there."""
    name = next((name for name in VERDICTS if name in held), None)
    if name is None:
        return None
    return "correct" if str(held[name]) in ("1", "1.0", "True") else "wrong"
