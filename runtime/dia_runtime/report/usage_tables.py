"""The table of each model's tokens, time and cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal

from dia_runtime.report.tables import UNKNOWN, Table
from dia_runtime.scoring.results import Model, Money, Score, Usage, Used
from dia_runtime.scoring.usage import COUNTS, money_text

TITLE = (
    "Tokens, time and cost of the graded replies; seconds add up over requests, also those that ran at the same time"
)
OF_SESSIONS = "; of conversations, all replies of the model itself, but not those of models in other roles"
PARTLY = " (n of m: known for n of m replies)"
HEADINGS = (
    *("prompt tokens", "completion tokens", "reasoning tokens", "seconds", "US dollars"),
    "US dollars per correct",
)


def models_with_usage(result: Score) -> list[Model]:
    """Return the models whose tokens or cost are known."""
    return [model for model in result["models"] if "usage" in model and _is_known(model["usage"])]


def usage_tables(result: Score) -> list[Table]:
    """Return the table, if tokens or cost of any model are known."""
    models = models_with_usage(result)
    rows = tuple((model["model"], *usage_cells(model["usage"])) for model in models)
    return [Table(usage_title(models), ("model", *usage_headings(models)), rows, 1)] if rows else []


def usage_headings(models: Sequence[Model]) -> tuple[str, ...]:
    """Return the headings; a question that is a conversation has several replies, so its questions are counted."""
    return ("questions" if _has_sessions(models) else "replies", *HEADINGS)


def _has_sessions(models: Sequence[Model]) -> bool:
    return any(model.get("sessions") for model in models)


def without_unknown_columns(table: Table) -> Table:
    """Return the table without the columns that are unknown for every model."""
    columns = [at for at in range(len(table.headings)) if any(row[at] != UNKNOWN for row in table.rows)]
    rows = tuple(tuple(row[at] for at in columns) for row in table.rows)
    return replace(table, headings=tuple(table.headings[at] for at in columns), rows=rows)


def usage_title(models: list[Model]) -> str:
    """Return the title, which explains `(n of m)` if any sum leaves out replies."""
    is_partial = any(" of " in cell for model in models for cell in usage_cells(model["usage"]))
    return TITLE + (PARTLY if is_partial else "") + (OF_SESSIONS if _has_sessions(models) else "")


def usage_cells(usage: Usage) -> Iterator[str]:
    """Yield the cells of a model: a dash for an unknown sum, and the number of replies that a partial sum is of."""
    replies = usage["replies"]
    yield f"{replies:,}"
    for name in COUNTS:
        used = _used(usage, name)
        yield _cell(None if used["total"] is None else f"{used['total']:,.0f}", used, replies)
    seconds, cost = usage["seconds"], usage["cost"]
    yield _cell(None if seconds["total"] is None else f"{seconds['total']:,.1f}", seconds, replies)
    yield _cell(None if cost["total"] is None else money_text(Decimal(cost["total"])), cost, replies)
    yield usage["cost_per_correct"] or UNKNOWN


def _used(usage: Usage, name: str) -> Used:
    used: dict[str, Used] = {
        "prompt_tokens": usage["prompt_tokens"],
        "completion_tokens": usage["completion_tokens"],
        "reasoning_tokens": usage["reasoning_tokens"],
    }
    return used[name]


def _cell(total: str | None, used: Used | Money, replies: int) -> str:
    if total is None:
        return UNKNOWN
    return f"{total} ({replies - used['unknown']:,} of {replies:,})" if used["unknown"] else total


def _is_known(usage: Usage) -> bool:
    sums = (usage["prompt_tokens"], usage["completion_tokens"], usage["reasoning_tokens"], usage["cost"])
    return any(used["total"] not in (None, "0", 0) for used in sums)
