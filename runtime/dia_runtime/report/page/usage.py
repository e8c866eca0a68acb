"""The section on tokens, time and cost."""

from __future__ import annotations

from dia_runtime.report.page.cells import Cell, Grid, word
from dia_runtime.report.page.panels import Section
from dia_runtime.report.usage_tables import models_with_usage, usage_cells, usage_headings, usage_title
from dia_runtime.scoring.results import Score


def usage(score: Score) -> Section | None:
    """Return the section, if tokens or cost of any model are known."""
    models = models_with_usage(score)
    if not models:
        return None
    rows = tuple((word(model["model"]), *map(Cell, usage_cells(model["usage"]))) for model in models)
    lead = (
        "What the replies used: tokens as the providers report them, seconds from request to reply, and US dollars as "
        "the providers report them or computed from prices. A dash marks what is unknown."
    )
    return Section("usage", "Cost", lead, (), (Grid(usage_title(models), ("model", *usage_headings(models)), rows),))
