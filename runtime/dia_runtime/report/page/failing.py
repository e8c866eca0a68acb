"""The sections on flags, failures and named mistakes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from dia_runtime.report.page.cells import Cell, Column, count, figure, grid, word
from dia_runtime.report.page.panels import Section, picture
from dia_runtime.report.pictures.figures import units
from dia_runtime.report.pictures.flags import count as flag_count
from dia_runtime.report.pictures.flags import occurring
from dia_runtime.report.tables import EXPLAINED_TITLE
from dia_runtime.scoring.results import Respondent, Score
from dia_runtime.store.error_causes import Cause

MOST_ROWS = 20
Row = tuple[str, str, str, Cell]  # template, mistake, model, share
EXPLAINED: list[Column[Respondent]] = [
    ("model", lambda model: word(model["model"])),
    ("wrong", lambda model: count(model["mistake_shares"]["wrong"])),
    ("by one mistake", lambda model: count(model["mistake_shares"]["one"])),
    ("by several", lambda model: count(model["mistake_shares"]["several"])),
    ("by none", lambda model: count(model["mistake_shares"]["none"])),
    ("explained %", lambda model: figure(model["mistake_shares"]["explained"], 100)),
]
CAUSES: list[Column[tuple[str, Cause]]] = [
    ("model", lambda row: word(row[0])),
    ("errors", lambda row: count(row[1]["replies"])),
    ("example of the error", lambda row: word(row[1]["example"])),
]


def failures(score: Score, models: Sequence[Respondent]) -> Section:
    """Return the section on flags and failures."""
    heads: list[Column[Respondent]] = [("model", lambda model: word(model["model"]))]
    heads += [(heading, _flag_column(name)) for name, heading in occurring(models).items()]
    unasked = "questions not asked" if score["over"] == "attempts" else "not asked"
    heads.append((unasked, lambda model: count(model["missing"])))
    caption = (
        f"The number of {units(score)} with each flag, which says what went wrong with the reply or with reading it. "
        "The section “About this page” explains each column."
    )
    table = grid(f"Flags and failures: number of {units(score)}", heads, models, is_sortable=True)
    panel = picture("flags", score, "", caption, table)
    causes = [(model["model"], cause) for model in models for cause in model["error_causes"]]
    tables = (grid("Why questions have no reply", CAUSES, causes[:MOST_ROWS], is_sortable=True),) if causes else ()
    return Section("failures", "Flags and failures", "", (panel,), tables)


def _flag_column(name: str) -> Callable[[Respondent], Cell]:
    return lambda model: count(flag_count(model, name))


def mistakes(models: Sequence[Respondent]) -> Section | None:
    """Return the section on named mistakes, if there were any."""
    rows = sorted(_named(models), key=lambda row: (row[0], row[1], -float(row[3].key or 0)))
    if not rows:
        return None
    heads: list[Column[Row]] = [
        ("template", lambda row: word(row[0])),
        ("mistake", lambda row: word(row[1])),
        ("model", lambda row: word(row[2])),
        ("share of wrong replies %", lambda row: row[3]),
    ]
    lead = (
        "Wrong replies that match a mistake described in the template. Shares are of the wrong replies of one "
        "model: of all of them, or of those to one template."
    )
    few = f" ({MOST_ROWS} of {len(rows):,})" if len(rows) > MOST_ROWS else ""
    tables = [
        grid(
            "Named mistakes with the largest shares of a model's wrong replies to a template" + few,
            heads,
            _top(rows),
            2,
            True,
        )
    ]
    explained = [model for model in models if model["mistake_shares"]["wrong"]]
    if explained:
        tables.insert(0, grid(EXPLAINED_TITLE, EXPLAINED, explained, is_sortable=True))
    return Section("mistakes", "Named mistakes", lead, (), tuple(tables))


def _top(rows: Sequence[Row]) -> list[Row]:
    """Return the rows with the largest shares, in their original order."""
    largest = sorted(range(len(rows)), key=lambda at: -float(rows[at][3].key or 0))[:MOST_ROWS]
    return [rows[at] for at in sorted(largest)]


def _named(models: Sequence[Respondent]) -> Iterator[Row]:
    """Yield (template, mistake, model, share) for the models' wrong replies."""
    for model in models:
        for template, mistakes in model["mistake_shares"]["templates"].items():
            for name, mistake in mistakes["mistakes"].items():
                if mistake["count"]:
                    yield template, name, model["model"], figure(mistake["share"], 100)
