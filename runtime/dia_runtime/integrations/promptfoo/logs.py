"""Results of promptfoo: `-o out.jsonl`, a line a result, or `-o out.json`, all of them in one value.

A question's own name stands in the variable `dia_id`, and its root in words of eight digits, because promptfoo blanks
out what looks like a secret. The result of anyone else's test is named after its place, and its right answer is the
value of its first assertion.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dia_language.diagnostics import DiaError
from dia_runtime.bundle.input_errors import input_error
from dia_runtime.integrations.reading.base import Found, Row
from dia_runtime.integrations.reading.json_lines import objects
from dia_runtime.integrations.reading.log_rows import Record, cells, ending, mapping, number, row, sequence, text, whole

LINES = (".jsonl", ".jsonl.gz", ".jsonl.zst", ".ndjson")
ERROR = 2  # promptfoo's ResultFailureReason for what is no failed assertion
Place = tuple[int, Record | DiaError]


def rows(path: Path) -> Found:
    """The replies of the file."""
    for line, held in _lines(path) if path.name.endswith(LINES) else _whole(path):
        yield held if isinstance(held, DiaError) else _row(line, held)


def _lines(path: Path) -> Iterator[Place]:
    return ((line, held) for line, _, held in objects(path))


def _whole(path: Path) -> Iterator[Place]:
    held = mapping(mapping(whole(path)).get("results"))
    if "results" not in held:
        raise input_error("E861", "it has no `results`, so that it is no output of promptfoo", path)
    return ((line, mapping(each)) for line, each in enumerate(sequence(held["results"]), 1))


def _row(line: int, held: Record) -> Row:
    test, response = mapping(held.get("testCase")), mapping(held.get("response"))
    variables, metadata = mapping(held.get("vars") or test.get("vars")), mapping(test.get("metadata"))
    is_ours = "dia_id" in variables
    usage = mapping(response.get("tokenUsage") or held.get("tokenUsage"))
    given = {
        "id": variables["dia_id"] if is_ours else f"test-{held.get('testIdx')}",
        "gold": _gold(test),
        "model": _model(held),
        "questions_root": str(metadata.get("root") or "").replace(" ", "") or None if is_ours else None,
        "prompt_tokens": number(usage.get("prompt")),
        "completion_tokens": number(usage.get("completion")),
        "cost": number(held.get("cost")),
        "verdict": "correct" if held.get("success") is True else "wrong",
        **_said(held, response),
    }
    return row(line, cells(given, variables, "vars."))


def _said(held: Record, response: Record) -> dict[str, Any]:
    """The reply and how it ended, or the error."""
    output = response.get("output")
    if isinstance(output, str):
        return ending(output, text(response.get("finishReason")))
    if response.get("error") or held.get("failureReason") == ERROR or output is None:
        return {"error": f"harness: {str(response.get('error') or held.get('error') or 'no output')[:300]}"}
    return {"error": "harness: the output is no text"}


def _gold(test: Record) -> Any:
    """The value of the first assertion that has a text for one."""
    found = (mapping(each).get("value") for each in sequence(test.get("assert")))
    return next((value for value in found if isinstance(value, str | int)), None)


def _model(held: Record) -> str:
    provider = held.get("provider")
    about = mapping(provider)
    return text(about.get("label")) or text(about.get("id")) or text(provider) or "unknown"
