"""Figures of session questions as tables: one a template, and those of a published study."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dia_runtime.report.tables import EMPTY, Table, figure_text
from dia_runtime.scoring.sessions.studies import printed

DENOMINATORS = ("all", "answered", "valid")
OF_DECISIONS = {
    "macro_accuracy": "by question %",
    "recall": "recall %",
    "precision": "precision %",
    "positive_rate": "positive %",
    "f1": "F1 %",
    "over_niceness": "over-niceness %",
}
OF_RANKINGS = {"exact": "exact %"}
MORE = {"decisions": OF_DECISIONS, "ranking": OF_RANKINGS, "grade": {}}
LEDGER = ("valid", "unread", "absent", "broken", "error")
COUNTS = ("tp", "fp", "fn", "tn")


def session_tables(result: Mapping[str, Any]) -> list[Table]:
    """The tables of every template of sessions: figures by denominators, then what became of its questions."""
    models = result["models"]
    templates = dict.fromkeys(name for model in models for name in model.get("sessions", {}))
    found: list[Table] = []
    for template in templates:
        blocks = [(model["model"], model["sessions"][template]) for model in models if template in model["sessions"]]
        found += [_figures(template, blocks), _ledger(template, blocks), *_declared(template, blocks)]
        found += _companions(template, blocks)
    return [*found, *_composites(models), *_across(result), *_published(models)]


def _figures(template: str, blocks: list[tuple[str, Mapping[str, Any]]]) -> Table:
    kind = blocks[0][1]["truth"]
    more = MORE[kind] | ({"tokens": TOKENS} if any("tokens" in block for _, block in blocks) else {})
    paper = next((held for _, block in blocks if (held := block.get("paper"))), None)
    headings = ["model", *(f"{name} %" for name in DENOMINATORS), *more.values()]
    rows = []
    for model, block in blocks:
        cells = [figure_text(block["accuracy"][name], 100, 1) for name in DENOMINATORS]
        cells += [figure_text(block.get(name, EMPTY), *((1, 0) if name == "tokens" else (100, 1))) for name in more]
        if paper:
            cells.append(_share((block.get("paper") or EMPTY)["value"]))
        if kind == "decisions":
            cells += [_share(block["baselines"][name]) for name in ("always", "never")]
        rows.append((model, *cells))
    if paper:
        headings.append(PAPER)
    if kind == "decisions":
        headings += ['always "yes" %', 'always "no" %']
    title = f"{template}: {TITLES[kind]}"
    positive = blocks[0][1].get("positive")
    title += f" (positive: {positive})" if positive else ""
    title += f"; paper: what the study prints, {OF_PAPER[paper['over']]}" if paper else ""
    breaks = (4,) if more else ()
    return Table(title, tuple(headings), tuple(rows), 1, breaks, frozenset(range(1, 4 + len(more))))


TOKENS, PAPER, PRINTED = "tokens", "paper %", " *"
OF_PAPER = {"written": "of the keys that a model wrote", "all": "of all questions", "valid": "of valid rankings"}
TITLES = {
    "decisions": "what was foretold and came, of all decisions, of those in answered questions, of valid ones",
    "ranking": "share of pairs in the right order, of all rankings, of those that came, of valid ones",
    "grade": "share of right ones, of all questions, of answered ones, of valid ones",
}


def _share(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.1f}"


def _ledger(template: str, blocks: list[tuple[str, Mapping[str, Any]]]) -> Table:
    """What became of the questions; the numbers of a row add up to the first one."""
    counted = COUNTS if blocks[0][1]["truth"] == "decisions" else ()
    headings = ("model", "questions", *LEDGER, *map(str.upper, counted))
    rows = [
        (
            model,
            str(block["questions"]),
            *(str(block["ledger"][state]) for state in LEDGER),
            *(str(block["counts"][name]) for name in counted),
        )
        for model, block in blocks
    ]
    return Table(f"{template}: what became of the questions", headings, tuple(rows), 1)


def _declared(template: str, blocks: list[tuple[str, Mapping[str, Any]]]) -> Iterable[Table]:
    """The figures that the template declares."""
    names = list(dict.fromkeys(name for _, block in blocks for name in block.get("figures", {})))
    if names:
        rows = [(model, *(_value(block.get("figures", {}).get(name)) for name in names)) for model, block in blocks]
        yield Table(f"{template}: declared figures", ("model", *names), tuple(rows), 1)


def _value(figure: Mapping[str, Any] | None) -> str:
    """A share, mean or median as a number, a count with what it is of, a survival as its steps."""
    if figure is None:
        return ""
    if "steps" in figure:
        return " ".join(f"{step:.2f}" for step in figure["steps"])
    if "of" in figure:
        return "" if figure["value"] is None else f"{figure['value']:g} of {figure['of']}"
    return figure_text(figure, 1, 3)


def _companions(template: str, blocks: list[tuple[str, Mapping[str, Any]]]) -> Iterable[Table]:
    """How far agreement goes with tokens and declared numbers, within each model."""
    names = list(dict.fromkeys(name for _, block in blocks for name in block.get("rank_correlations", {})))
    if names:
        rows = [
            (model, *(correlation_text(block.get("rank_correlations", {}).get(name)) for name in names))
            for model, block in blocks
        ]
        title = f"{template}: rank correlation of a question's agreement with what it took"
        yield Table(title, ("model", *names), tuple(rows), 1, figures=frozenset(range(1, 1 + len(names))))


def correlation_text(found: Mapping[str, Any] | None) -> str:
    """The correlation with its interval.

    >>> correlation_text({"n": 8, "r": 0.5, "ci": [-0.301, 0.883]})
    '0.50 [-0.30, 0.88]'
    """
    if found is None or found["r"] is None:
        return ""
    r, *ends = (f"{round(value, 2) + 0.0:.2f}" for value in (found["r"], *(found["ci"] or ())))  # no negative zero
    return f"{r} [{', '.join(ends)}]" if ends else r


def _composites(models: Sequence[Mapping[str, Any]]) -> Iterable[Table]:
    """The mean of the accuracies, where it is one of several."""
    held = [(model, one) for model in models if (one := model.get("composite")) and len(one["of"]) > 1]
    if not held:
        return
    names = list(dict.fromkeys(name for _, one in held for name in one["of"]))
    is_printed = any("composite" in model.get("published", {}) for model, _ in held)
    rows = [
        (
            model["model"],
            figure_text(one, 100, 1),
            *(_share(one["of"].get(name)) for name in names),
            *([_share(model.get("published", {}).get("composite", {}).get("accuracy"))] if is_printed else []),
        )
        for model, one in held
    ]
    headings = ("model", "composite %", *(f"{name} %" for name in names), *([PAPER] if is_printed else []))
    title = "Composite score: the mean of accuracies of all questions"
    title += "; paper: the mean of what the study prints" if is_printed else ""
    yield Table(title, headings, tuple(rows), 1, figures=frozenset({1}))


def _across(result: Mapping[str, Any]) -> Iterable[Table]:
    """The correlations over models, where they are enough for one."""
    known = [entry for entry in result.get("correlations", ()) if entry["r"] is not None]
    if known:
        rows = tuple((entry["a"], entry["b"], str(entry["n"]), correlation_text(entry)) for entry in known)
        yield Table("Correlations over models", ("accuracy of", "with", "models", "r"), rows, 2, figures=frozenset({3}))


def _published(models: Iterable[Mapping[str, Any]]) -> Iterable[Table]:
    """The figures of a study, one table an experiment."""
    every = [(model["model"], model.get("published", {})) for model in models]
    for study in dict.fromkeys(name for _, held in every for name in held):
        names = list(dict.fromkeys(name for _, held in every for name in held.get(study, {})))
        rows = [(model, *(_plain(held.get(study, {}).get(name)) for name in names)) for model, held in every]
        told = [f"{name}{PRINTED}" if name in printed(study) else name for name in names]
        note = f" ({PRINTED.strip()}: in the paper)" if told != names else ""
        table = Table(f"As published: {study}{note}", ("model", *told), tuple(rows), 1)
        yield _turned(table)


def _turned(table: Table) -> Table:
    """The table with its rows as columns, since a study has more figures than a line has room."""
    columns = list(zip(table.headings, *table.rows, strict=True))
    return Table(table.title, columns[0], tuple(columns[1:]), 1)


def _plain(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.4f}" if isinstance(value, float) else str(value)
