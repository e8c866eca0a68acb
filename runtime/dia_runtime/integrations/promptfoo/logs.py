"""Results of promptfoo: `-o out.jsonl`, one line per result, or `-o out.json`, all of them in one value.

A question's name is in the variable `dia_id`. The root is split into groups of eight digits, because promptfoo blanks
out what looks like a secret. The results of other tests are named by their position, and their correct answer is the
value of their first assertion.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dia_language.diagnostics import DiaError
from dia_runtime.bundle.input_errors import input_error
from dia_runtime.integrations.reading.base import Row, RowsOrErrors
from dia_runtime.integrations.reading.json_lines import objects
from dia_runtime.integrations.reading.log_rows import (
    Record,
    log_row,
    mapping,
    number_or_none,
    read_json,
    reply_cells,
    sequence,
    text_or_none,
)

LINES = (".jsonl", ".jsonl.gz", ".jsonl.zst", ".ndjson")
ERROR = 2  # promptfoo's ResultFailureReason of an error, as opposed to a failed assertion
Place = tuple[int, Record | DiaError]


def rows(path: Path) -> RowsOrErrors:
    """Return the replies of the file."""
    for line, result in _lines(path) if path.name.endswith(LINES) else _whole(path):
        yield result if isinstance(result, DiaError) else _row(line, result)


def _lines(path: Path) -> Iterator[Place]:
    return ((line, result) for line, _, result in objects(path))


def _whole(path: Path) -> Iterator[Place]:
    results = mapping(mapping(read_json(path)).get("results"))
    if "results" not in results:
        raise input_error("E861", "it is not an output of promptfoo: it has no `results`", path)
    return ((line, mapping(each)) for line, each in enumerate(sequence(results["results"]), 1))


def _row(line: int, result: Record) -> Row:
    test, response = mapping(result.get("testCase")), mapping(result.get("response"))
    variables, metadata = mapping(result.get("vars") or test.get("vars")), mapping(test.get("metadata"))
    is_ours = "dia_id" in variables
    usage = mapping(response.get("tokenUsage") or result.get("tokenUsage"))
    own_cells = {
        "id": variables["dia_id"] if is_ours else f"test-{result.get('testIdx')}",
        "gold": _gold(test),
        "model": _model(result),
        "questions_root": str(metadata.get("root") or "").replace(" ", "") or None if is_ours else None,
        "prompt_tokens": number_or_none(usage.get("prompt")),
        "completion_tokens": number_or_none(usage.get("completion")),
        "reasoning_tokens": number_or_none(mapping(usage.get("completionDetails")).get("reasoning")),
        "cost": number_or_none(result.get("cost")),
        "verdict": "correct" if result.get("success") is True else "wrong",
        **_reply_cells(result, response),
    }
    return log_row(line, own_cells, variables, "vars.")


def _reply_cells(result: Record, response: Record) -> dict[str, Any]:
    """Return the reply and how it ended, or the error."""
    output = response.get("output")
    if isinstance(output, str):
        return reply_cells(output, text_or_none(response.get("finishReason")))
    if response.get("error") or result.get("failureReason") == ERROR or output is None:
        return {"error": f"harness: {str(response.get('error') or result.get('error') or 'no output')[:300]}"}
    return {"error": "harness: the output is not text"}


def _gold(test: Record) -> Any:
    """Return the value of the first assertion whose value is a text."""
    values = (mapping(each).get("value") for each in sequence(test.get("assert")))
    return next((value for value in values if isinstance(value, str | int)), None)


def _model(result: Record) -> str:
    provider = result.get("provider")
    about = mapping(provider)
    return text_or_none(about.get("label")) or text_or_none(about.get("id")) or text_or_none(provider) or "unknown"
