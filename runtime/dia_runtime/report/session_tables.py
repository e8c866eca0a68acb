"""Figures of session questions as tables, one for each template, and those of a published study."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, cast

from dia_runtime.report.tables import Table, figure_text
from dia_runtime.scoring.results import (
    Correlation,
    DecisionCounts,
    DeclaredFigure,
    Estimate,
    Model,
    Respondent,
    Score,
    SessionBlock,
    session_figure,
    unknown,
)
from dia_runtime.scoring.sessions.studies import printed
from dia_runtime.scoring.sessions.tally import DENOMINATORS

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
EXPLANATION = """\
In the tables of sessions, a question is answered if every reply that the grading uses was given, readable or not; a
question with the verdict skipped may be answered, too. (The column "correct if answered" above leaves out skipped
questions.) A question is valid if every reply could be read. If a later session or turn needs a reply that could not
be read, it is not asked, so the question is not answered. Figures for valid questions leave out skipped ones. Outcomes
count each question once: as valid, or by its problem, which is unread (a reply, also a judge's, could not be read),
absent (a reply is missing for another reason), broken (grading the replies ended in an error) or error (a request
failed). Columns without values are left out. Errors and intervals in these tables treat questions, not items, as
independent.
tokens: completion tokens per question."""
Blocks = Sequence[tuple[str, SessionBlock]]  # name of a model -> its figures


def session_tables(result: Score) -> list[Table]:
    """Return the tables of every session template: figures by denominators, then the outcomes of its questions."""
    models = result["models"]
    templates = dict.fromkeys(name for model in models for name in model.get("sessions", {}))
    tables: list[Table] = []
    for at, template in enumerate(templates):
        blocks = [
            (model["model"], model["sessions"][template]) for model in models if template in model.get("sessions", {})
        ]
        tables += [
            _figures(template, blocks, "" if at else EXPLANATION),
            _ledger(template, blocks),
            *_declared(template, blocks),
        ]
        tables += _companions(template, blocks)
    return [*tables, *requested_session_tables(result)]


def requested_session_tables(result: Score) -> list[Table]:
    """Return the tables that an option requested: composites, correlations with a bank, and published figures."""
    models = result["models"]
    return [*_composites(models), *_across(result), *_published(models)]


def _figures(template: str, blocks: Blocks, note: str) -> Table:
    kind = blocks[0][1]["truth"]
    more = MORE[kind] | ({"tokens": TOKENS} if any("tokens" in block for _, block in blocks) else {})
    paper = next((figure for _, block in blocks if (figure := block.get("paper"))), None)
    headings = ["model", *(f"{name} %" for name in DENOMINATORS), *more.values()]
    rows = []
    for model, block in blocks:
        cells = [figure_text(accuracy, 100, 1) for accuracy in accuracies(block)]
        for name in more:
            estimate = session_figure(block, name) or unknown()
            cells.append(figure_text(estimate, *((1, 0) if name == TOKENS else (100, 1))))
        if paper:
            printed_figure = block.get("paper")
            cells.append(_share(printed_figure["value"] if printed_figure else None))
        if kind == "decisions":
            cells += [_share(block["baselines"]["always"]), _share(block["baselines"]["never"])]
        rows.append((model, *cells))
    if paper:
        headings.append(PAPER)
    if kind == "decisions":
        headings += ['always "yes" %', 'always "no" %']
    title = f"{template}: {TITLES[kind]}"
    title += f"; paper: computed as in the published study, {OF_PAPER[paper['over']]}" if paper else ""
    breaks = (4,) if more else ()
    return Table(title, tuple(headings), tuple(rows), 1, breaks, frozenset(range(1, 4 + len(more))), note)


TOKENS, PAPER, PRINTED = "tokens", "paper %", " *"
STARRED = "*: the paper prints this figure"
OF_STUDY = re.compile(r"_\d{2,}$")  # the study's number of questions or options, in the name of a figure
OF_PAPER = {"written": "of the keys that a model wrote", "all": "of all questions", "valid": "of valid rankings"}
TITLES = {
    "decisions": "share of yes-or-no predictions that are correct: of all, of those in answered questions, and of "
    "those in valid questions (in the first two, a prediction that is missing or could not be read counts as "
    "incorrect)",
    "ranking": "share of pairs in the right order, in all, answered and valid rankings",
    "grade": "share of correct replies, among all, answered and valid questions",
}


def accuracies(block: SessionBlock) -> tuple[Estimate, ...]:
    """Return the accuracy by each of DENOMINATORS."""
    accuracy = block["accuracy"]
    return accuracy["all"], accuracy["answered"], accuracy["valid"]


def ledger_counts(block: SessionBlock) -> tuple[int, ...]:
    """Return how many questions had each outcome of LEDGER."""
    ledger = block["ledger"]
    return ledger["valid"], ledger["unread"], ledger["absent"], ledger["broken"], ledger["error"]


def _share(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.1f}"


def _ledger(template: str, blocks: Blocks) -> Table:
    """Return the outcomes of the questions; the numbers of a row add up to the first one."""
    has_decisions = blocks[0][1]["truth"] == "decisions"
    headings = ("model", "questions", *LEDGER, *(("TP", "FP", "FN", "TN") if has_decisions else ()))
    rows = [
        (
            model,
            str(block["questions"]),
            *map(str, ledger_counts(block)),
            *(map(str, _decision_counts(block["counts"])) if has_decisions else ()),
        )
        for model, block in blocks
    ]
    positive = blocks[0][1].get("positive")
    title = f"{template}: outcomes of the questions" + (
        f" (TP to TN count predictions; TP, FP: `{positive}` was predicted)" if positive else ""
    )
    return Table(title, headings, tuple(rows), 1)


def _decision_counts(counts: DecisionCounts) -> tuple[int, int, int, int]:
    return counts["tp"], counts["fp"], counts["fn"], counts["tn"]


def _declared(template: str, blocks: Blocks) -> Iterable[Table]:
    """Yield the figures that the template declares."""
    names = list(dict.fromkeys(name for _, block in blocks for name in block.get("figures", {})))
    if names:
        rows = [(model, *(_value(block.get("figures", {}).get(name)) for name in names)) for model, block in blocks]
        yield Table(f"{template}: figures that the template defines", ("model", *names), tuple(rows), 1)


def _value(figure: DeclaredFigure | None) -> str:
    """Return a share, mean or median as a number, a count with its total, a survival curve as its steps."""
    if figure is None:
        return ""
    if "steps" in figure:
        return " ".join(f"{step:.2f}" for step in figure["steps"])
    if "of" in figure:
        return "" if figure["value"] is None else f"{figure['value']:g} of {figure['of']}"
    return figure_text(cast(Estimate, figure), 1, 3)


def _companions(template: str, blocks: Blocks) -> Iterable[Table]:
    """Yield the correlation of agreement with tokens and declared numbers, within each model."""
    names = list(dict.fromkeys(name for _, block in blocks for name in block.get("rank_correlations", {})))
    if names:
        rows = [
            (model, *(correlation_text(block.get("rank_correlations", {}).get(name)) for name in names))
            for model, block in blocks
        ]
        title = f"{template}: rank correlation over items, of accuracy with tokens or figures that the template defines"
        yield Table(title, ("model", *names), tuple(rows), 1, figures=frozenset(range(1, 1 + len(names))))


def correlation_text(correlation: Correlation | None) -> str:
    """Return the correlation with its interval.

    >>> correlation_text({"n": 8, "r": 0.5, "ci": [-0.301, 0.883]})
    '0.50 [-0.30, 0.88]'
    """
    if correlation is None or correlation["r"] is None:
        return ""
    values = (correlation["r"], *(correlation["ci"] or ()))
    r, *ends = (f"{round(value, 2) + 0.0:.2f}" for value in values)  # no negative zero
    return f"{r} [{', '.join(ends)}]" if ends else r


def composite_title(models: Sequence[Respondent], names: Sequence[str]) -> str:
    """Return the title of the table of composites, which are means over the templates with these names."""
    averaged = [set(mean["of"]) for model in models if (mean := model.get("composite"))]
    templates = {name for model in models for name in model.get("sessions", {})}
    title = f"Composite score: mean of the accuracies (over all questions) of {', '.join(names[:-1])} and {names[-1]}"
    title += "; a model's mean is over those that it was asked" if any(of != set(names) for of in averaged) else ""
    return title + ("; other templates do not count" if templates - set(names) else "")


def _composites(models: Sequence[Model]) -> Iterable[Table]:
    """Yield the mean of the accuracies, if it is one of several."""
    pairs = [(model, mean) for model in models if (mean := model.get("composite")) and len(mean["of"]) > 1]
    if not pairs:
        return
    names = list(dict.fromkeys(name for _, mean in pairs for name in mean["of"]))
    is_printed = any("composite" in model.get("published", {}) for model, _ in pairs)
    rows = [
        (
            model["model"],
            figure_text(cast(Estimate, mean), 100, 1),
            *(_share(mean["of"].get(name)) for name in names),
            *([_share(model.get("published", {}).get("composite", {}).get("accuracy"))] if is_printed else []),
        )
        for model, mean in pairs
    ]
    headings = ("model", "composite %", *(f"{name} %" for name in names), *([PAPER] if is_printed else []))
    title = composite_title(models, names)
    title += "; paper: mean of the accuracies that the study reports" if is_printed else ""
    yield Table(title, headings, tuple(rows), 1, figures=frozenset({1}))


def _across(result: Score) -> Iterable[Table]:
    """Yield the correlations over models, if there are enough models."""
    present = [entry for entry in result["correlations"] if entry["r"] is not None]
    if present:
        rows = tuple((entry["a"], entry["b"], str(entry["n"]), correlation_text(entry)) for entry in present)
        yield Table("Correlations over models", ("accuracy of", "with", "models", "r"), rows, 2, figures=frozenset({3}))


def _published(models: Iterable[Model]) -> Iterable[Table]:
    """Yield the figures of a study, one table per experiment."""
    every = [(model["model"], model.get("published", {})) for model in models]
    for study in dict.fromkeys(name for _, studies in every for name in studies):
        names = list(dict.fromkeys(name for _, studies in every for name in studies.get(study, {})))
        rows = [(model, *(_plain(studies.get(study, {}).get(name)) for name in names)) for model, studies in every]
        headings = [f"{name}{PRINTED}" if name in printed(study) else name for name in names]
        counts = [name for name in names if OF_STUDY.search(name)][:1]
        notes = [STARRED] if headings != names else []
        notes += [
            f"the number in the name `{name}` is the study's, but the value is computed over these runs"
            for name in counts
        ]
        title = f"{_study_name(study)}, computed for these runs" + (f" ({'; '.join(notes)})" if notes else "")
        table = Table(title, ("model", *headings), tuple(rows), 1)
        yield _transposed(table)


def _study_name(study: str) -> str:
    """Return the name of a study, or of one of its experiments.

    >>> _study_name("self-execution-1")
    'Figures of experiment 1 of the self-execution study'
    """
    name, _, number = study.rpartition("-")
    return (
        f"Figures of experiment {number} of the {name} study" if number.isdecimal() else f"Figures of the study {study}"
    )


def _transposed(table: Table) -> Table:
    """Return the table with its rows as columns, because a study has more figures than fit on a line."""
    columns = list(zip(table.headings, *table.rows, strict=True))
    return Table(table.title, columns[0], tuple(columns[1:]), 1)


def _plain(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.4f}" if isinstance(value, float) else str(value)
