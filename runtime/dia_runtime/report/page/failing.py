"""The sections on what went wrong: flags, failures, and mistakes that were foreseen."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from dia_runtime.report.page.cells import Cell, Column, count, figure, grid, word
from dia_runtime.report.page.panels import Section, picture
from dia_runtime.report.pictures.flags import FLAGS
from dia_runtime.report.pictures.flags import count as flag_count
from dia_runtime.scoring.results import Respondent, Score

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


def failures(score: Score, models: Sequence[Respondent]) -> Section:
    """What went wrong beside the answers."""
    heads: list[Column[Respondent]] = [("model", lambda model: word(model["model"]))]
    heads += [(heading, _flag_column(name)) for name, heading in FLAGS.items()]
    heads.append(("not asked", lambda model: count(model["missing"])))
    caption = (
        "Questions whose reply could not be read, failed, was refused or cut off, was beyond the context, abstained in "
        "another form than was asked for, or could not be decided."
    )
    table = grid("Flags and failures, in questions", heads, models, is_sortable=True)
    panel = picture("flags", score, "", caption, table)
    return Section("failures", "Flags and failures", "", (panel,))


def _flag_column(name: str) -> Callable[[Respondent], Cell]:
    return lambda model: count(flag_count(model, name))


def mistakes(models: Sequence[Respondent]) -> Section | None:
    """Mistakes that templates foresaw, where any were made."""
    rows = sorted(_named(models), key=lambda row: (row[0], row[1], -float(row[3].key or 0)))
    if not rows:
        return None
    heads: list[Column[Row]] = [
        ("template", lambda row: word(row[0])),
        ("mistake", lambda row: word(row[1])),
        ("model", lambda row: word(row[2])),
        ("share of wrong replies %", lambda row: row[3]),
    ]
    lead = "Wrong replies that are a mistake which the template foresaw, as shares of its wrong replies."
    tables = [grid(f"The {min(len(rows), MOST_ROWS)} most frequent named mistakes", heads, _top(rows), 2, True)]
    explained = [model for model in models if model["mistake_shares"]["wrong"]]
    if explained:
        tables.insert(0, grid("Wrong replies that a named mistake explains", EXPLAINED, explained, is_sortable=True))
    return Section("mistakes", "Named mistakes", lead, (), tuple(tables))


def _top(rows: Sequence[Row]) -> list[Row]:
    """The rows with the largest shares, in the order in which they stood."""
    largest = sorted(range(len(rows)), key=lambda at: -float(rows[at][3].key or 0))[:MOST_ROWS]
    return [rows[at] for at in sorted(largest)]


def _named(models: Sequence[Respondent]) -> Iterator[Row]:
    """(template, mistake, model, share) of what the models' wrong replies were."""
    for model in models:
        for template, mistakes in model["mistake_shares"]["templates"].items():
            for name, mistake in mistakes["mistakes"].items():
                if mistake["count"]:
                    yield template, name, model["model"], figure(mistake["share"], 100)
