"""Audits as text, CSV and Markdown."""

from __future__ import annotations

from collections.abc import Callable

from dia_language.diagnostics import visible

from dia_runtime.formats.base import STANDARD
from dia_runtime.grading.flags import incomplete_headings
from dia_runtime.report.screens import NO_VALUE, answer_text, shortened
from dia_runtime.report.tables import Table, as_markdown, as_rows, as_text, displayed_width, figure_text
from dia_runtime.scoring.agreement import AgreementResult
from dia_runtime.scoring.audit import AuditedReply, AuditResult, Reading
from dia_runtime.scoring.figures import FIGURES

LONGEST = 240
WIDEST = 60  # columns of what a chain read; the reply itself follows
FIGURES_LEGEND = "+- is the standard error; brackets contain the 95 % confidence interval."
VARIANTS_LEGEND = "The figures do not include variants (the same instances in other words); the list of replies does."
STANDARD_LEGEND = "`dia score` uses the chain standard by default; `--chains standard,lenient` compares that one."
REPLIES_LEGEND = """\
Below are the replies that the chains read differently. For each chain: the answer that it read (- for none), the step
of the chain that found it (docs/reference/answer-formats.md describes the steps), and the verdict. The line after | is
the reply, with \\n for line breaks, and [...] for the middle of a long reply."""


def as_plain(result: AuditResult) -> str:
    """Return a table of the figures, and each reply with the answers that were read from it."""
    legend = [FIGURES_LEGEND, *([VARIANTS_LEGEND] if result["has_variants"] else [])]
    legend += [] if STANDARD in result["chains"] else [STANDARD_LEGEND]
    legend += [*([REPLIES_LEGEND] if result["rows"] else []), ""]
    return "\n".join([as_text([_figures(result)]), *legend, *(_reply(row) for row in result["rows"])])


def _reply(row: AuditedReply) -> str:
    cells = {chain: _parts(reading) for chain, reading in row["readings"].items()}
    name = f"{visible(row['question'])} ({visible(row['model'])})"
    head = ", ".join([name, f"attempt {row['attempt']}", *incomplete_headings(row["flags"])])
    lines = [head if row["truth"] == "" else f"{head}, correct answer {visible(_short(row['truth']))}"]
    width = max(map(len, cells))
    widths = [max(displayed_width(parts[at]) for parts in cells.values()) for at in (0, 1)]
    for chain, (text, step, verdict) in cells.items():
        gaps = [" " * (most - displayed_width(part)) for part, most in zip((text, step), widths, strict=True)]
        lines.append(f"  {chain:{width}}  {text}{gaps[0]}  {step}{gaps[1]}  {verdict}")
    reply = visible(row["reply"] or "").replace("\n", r"\n")
    return "\n".join([*lines, f"  | {reply}", ""])


def _parts(reading: Reading) -> tuple[str, str, str]:
    """Return what a chain read, shortened if it is long, the step, and the verdict."""
    return shortened(visible(_short(reading["reading"])), WIDEST), visible(_short(reading["step"])), reading["verdict"]


def _short(text: str | None) -> str:
    one_line = NO_VALUE if text is None else answer_text(text)
    return one_line if len(one_line) <= LONGEST else f"{one_line[:LONGEST]}..."


def as_tables(result: AuditResult) -> str:
    """Return both tables in Markdown."""
    return as_markdown([_figures(result), _rows(result)])


def as_comma(result: AuditResult) -> str:
    """Return the replies as CSV."""
    return as_rows(_rows(result))


def _figures(result: AuditResult) -> Table:
    """Return a row for each model and figure that the chain changes, and for the share of correct replies."""
    rows: list[tuple[str, ...]] = []
    first, second = result["chains"]
    for model in result["models"]:
        rows.append((model["model"], "replies that differ", "", "", f"{model['differing']} of {model['replies']}"))
        for figure in FIGURES.values():
            if not (figure.in_tables and figure.is_compared):
                continue
            estimates, unit = model["figures"][figure.name], figure.unit
            cells = [figure_text(estimates[name], unit.factor, unit.places) for name in (first, second, "difference")]
            is_changed = estimates["difference"]["value"] != 0 and any(cells)
            if is_changed or figure.name == "trad_score":
                rows.append((model["model"], figure.heading, *(cell or NO_VALUE for cell in cells)))
    name = " ".join(str(result[key]) for key in ("benchmark", "version") if result[key] is not None)
    title = f"{name}: {result['differing']:,} of {result['replies']:,} replies differ between {first} and {second}"
    return Table(title, ("model", "figure", first, second, "difference"), tuple(rows), 2)


def _rows(result: AuditResult) -> Table:
    chains = result["chains"]
    headings = (
        "model",
        "question",
        "attempt",
        "truth",
        *(f"{chain} {key}" for chain in chains for key in KEYS),
        "reply",
    )
    rows = tuple(
        (
            row["model"],
            row["question"],
            str(row["attempt"]),
            row["truth"] or "",
            *(cell or "" for chain in chains for cell in _cells(row["readings"][chain])),
            row["reply"] or "",
        )
        for row in result["rows"]
    )
    return Table("Replies", headings, rows, len(headings))


def _cells(reading: Reading) -> tuple[str | None, ...]:
    return reading["reading"], reading["step"], reading["verdict"]


def agreement_tables(result: AgreementResult) -> list[Table]:
    """Return the agreement of each model's verdicts with the labels, and a table of both."""
    models = [model for model in result["models"] if model["labelled"]]
    rows = [
        (
            model["model"],
            str(model["labelled"]),
            figure_text(model["agreement"], 100, 1),
            "" if model["kappa"] is None else f"{model['kappa']:.3f}",
        )
        for model in models
    ]
    summary = Table("Agreement with human labels", ("model", "labelled", "agreement %", "kappa"), tuple(rows), 1)
    verdicts = list(dict.fromkeys(name for model in models for counts in model["table"].values() for name in counts))
    cells = [
        (model["model"], label, *(str(counts.get(verdict, 0)) for verdict in verdicts))
        for model in models
        for label, counts in model["table"].items()
    ]
    return [summary, Table("Human labels and verdicts", ("model", "label", *verdicts), tuple(cells), 2)]


AGREEMENT_FORMATS: dict[str, Callable[[AgreementResult], str]] = {
    "text": lambda result: as_text(agreement_tables(result)),
    "csv": lambda result: "\n".join(map(as_rows, agreement_tables(result))),
    "markdown": lambda result: as_markdown(agreement_tables(result)),
}
KEYS = ("reading", "step", "verdict")
FORMATS: dict[str, Callable[[AuditResult], str]] = {"text": as_plain, "csv": as_comma, "markdown": as_tables}
