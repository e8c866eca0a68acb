"""The results of a panel of models on a set of items: counts of correct replies, from runs or from a table."""

from __future__ import annotations

import json
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dia_language.diagnostics import DiaError, Diagnostic, visible
from dia_runtime.bundle.open import Bundle
from dia_runtime.grading.judge import Judge, Judged, Rules
from dia_runtime.grading.verdicts import Verdict
from dia_runtime.psychometrics.response_table import read_matrix
from dia_runtime.store.answer_source import is_of, open_source
from dia_runtime.store.schema import is_sqlite
from dia_runtime.store.store import Store, bundle_facts, read_store

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

UNITS = ("instances", "items", "templates", "benchmarks")
ANY_INSTANCES = ("templates", "benchmarks")  # runs of other instances are just as informative about these


@dataclass(frozen=True, slots=True)
class ItemFacts:
    """Facts about an item, besides its counts."""

    template: str | None = None
    category: str | None = None
    skills: tuple[str, ...] = ()
    drawn: tuple[str, ...] = ()  # JSON, which needs a tenth of the memory of its value

    @property
    def parameters(self) -> tuple[dict[str, Any], ...]:
        """Return the values that were drawn for each of its questions, as they are stored."""
        return tuple(map(json.loads, self.drawn))


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """Models by items: successes and trials, with 0 trials if a model was not asked.

    `is_shares` says that scores are shares of unknown numbers of trials, which a table may contain. `shares` has the
    partial credits of the replies of a model (its number) to an item (its name), for answers that declare them.
    """

    models: tuple[str, ...]
    items: tuple[str, ...]
    successes: NDArray[np.float64]
    trials: NDArray[Any]
    unit: str
    about: tuple[ItemFacts, ...]
    benchmark: str | None = None
    questions_root: str | None = None
    is_shares: bool = False
    shares: Mapping[tuple[int, str], tuple[Fraction, ...]] = field(default_factory=dict)
    truncated: int = 0  # replies that the token limit cut; they count by the answer that they contain

    @property
    def notes(self) -> list[str]:
        """Return what a reader of results from these replies must know."""
        if not self.truncated:
            return []
        was = "reply was" if self.truncated == 1 else "replies were"
        return [f"{self.truncated:,} {was} truncated; `dia score` shows how many of each model"]


def read_panel(
    paths: Sequence[Path], unit: str = "instances", chain: str = "standard", bundle: Path | None = None
) -> Panel:
    """Return the panel of some runs, or of one table. Raises DiaError (exit 2) for a mixture or other files."""
    if not any(map(is_run, paths)):
        if len(paths) > 1:
            help = "name runs, or one table with a row for each model"
            raise DiaError(Diagnostic("E891", "several tables cannot be combined", None, help))
        return _of_table(paths[0])
    with ExitStack() as stack:
        stores = [stack.enter_context(read_store(path)) for path in paths]
        return _of_runs(stores, unit, chain, open_source(bundle, stores, others_allowed=True))


def is_run(path: Path) -> bool:
    """Return whether the file is an SQLite file, as runs are."""
    try:
        return is_sqlite(path)
    except OSError:
        return path.suffix == ".run"


def _of_table(path: Path) -> Panel:
    import numpy as np
    from dia_runtime.psychometrics.calibrate import matrices

    table = read_matrix(path)
    scores = np.array(table.scores, dtype=float).reshape(len(table.models), len(table.items))
    _require_replies(table.models, ~np.isnan(scores))
    successes, trials = matrices(scores, table.trials)
    is_shares = table.trials is None and not np.isin(scores[~np.isnan(scores)], (0.0, 1.0)).all()
    about = tuple(ItemFacts() for _ in table.items)
    return Panel(table.models, table.items, successes, trials, "columns", about, is_shares=is_shares)


def _require_replies(models: Sequence[str], is_tried: NDArray[Any]) -> None:
    import numpy as np

    tried: list[bool] = np.any(is_tried, axis=1).tolist()
    silent = [name for name, has in zip(models, tried, strict=True) if not has]
    if silent:
        message = visible(f"`{silent[0][:80]}` has no replies")
        raise DiaError(Diagnostic("E891", message, None, "leave the model out, or ask it"))


@dataclass(slots=True)
class _PanelBuilder:
    """Collects models and items."""

    models: dict[str, int] = field(default_factory=dict)
    items: dict[str, int] = field(default_factory=dict)
    about: list[dict[str, Any]] = field(default_factory=list)
    correct: list[array[int]] = field(default_factory=list)  # by model and item: eight bytes per cell, not 250
    tried: list[array[int]] = field(default_factory=list)
    shares: dict[tuple[int, str], tuple[Fraction, ...]] = field(default_factory=dict)
    truncated: int = 0

    def count(self, model: int, item: int, is_right: bool) -> None:
        """Count a trial."""
        for rows in (self.correct, self.tried):
            while len(rows) <= model:
                rows.append(array("l"))
            if len(rows[model]) <= item:
                rows[model].extend([0] * (item + 1 - len(rows[model])))
        self.correct[model][item] += is_right
        self.tried[model][item] += 1


def _of_runs(stores: Sequence[Store], unit: str, chain: str, source: Bundle | None) -> Panel:
    tables, roots = _PanelBuilder(), {}
    for store in stores:
        roots[bundle_facts(store)["questions_root"]] = store
    _require_unambiguous_items(roots, unit)
    for name, store, respondent in _respondents(stores):
        model = tables.models.setdefault(name, len(tables.models))
        own_source = source if source is not None and is_of(store, source) else None
        with closing(Judge(store, Rules(chain, over="attempts"), own_source)) as judge:
            benchmark = str(bundle_facts(store)["benchmark"])
            for entry in judge.judged(respondent):
                _add(tables, model, unit, benchmark, entry)
    facts = bundle_facts(stores[0])
    return _panel(tables, unit, str(facts["benchmark"]), str(facts["questions_root"]) if len(roots) == 1 else None)


def _respondents(stores: Sequence[Store]) -> Iterator[tuple[str, Store, int]]:
    """Yield every respondent of every run.

    A model with runs of several benchmarks is one respondent; with several runs of one benchmark, it is several.
    """
    respondents = [(entry.name, store, entry.id) for store in stores for entry in store.respondents()]
    run_counts = Counter((name, bundle_facts(store)["questions_root"]) for name, store, _ in respondents)
    for name, store, number in respondents:
        is_only = run_counts[name, bundle_facts(store)["questions_root"]] == 1
        yield (name if is_only else f"{name} ({store.path.name})"), store, number


def _require_unambiguous_items(roots: dict[str, Store], unit: str) -> None:
    """Check that an item's name refers to the same questions in all runs."""
    benchmarks = [bundle_facts(store)["benchmark"] for store in roots.values()]
    if unit in ANY_INSTANCES or len(set(benchmarks)) == len(benchmarks):
        return
    benchmark = next(name for name in benchmarks if benchmarks.count(name) > 1)
    message = visible(f"the runs have different instances of `{benchmark}`, which are different items")
    raise DiaError(Diagnostic("E802", message, None, "use `--items templates` to calibrate templates instead"))


def _add(tables: _PanelBuilder, model: int, unit: str, benchmark: str, entry: Judged) -> None:
    question = entry.question
    if question.variant is not None or entry.mark.verdict is Verdict.ERROR:
        return
    name = {"instances": question.id, "items": question.item, "templates": question.template}.get(unit, benchmark)
    item = tables.items.setdefault(name, len(tables.items))
    if item == len(tables.about):
        tables.about.append(
            {"template": question.template, "category": question.category, "questions": {}, "skills": {}}
        )
    about = tables.about[item]
    if question.id not in about["questions"]:
        about["questions"][question.id] = _parameters(question.grading) if unit != "benchmarks" else "{}"
        about["skills"] |= dict.fromkeys(_skills(question.skills))
    tables.count(model, item, entry.mark.verdict is Verdict.CORRECT)
    tables.truncated += "truncated" in entry.flags
    if entry.share is not None:
        tables.shares[model, name] = (*tables.shares.get((model, name), ()), entry.share)


def _skills(encoded: str) -> list[str]:
    try:
        skills = json.loads(encoded)
    except (ValueError, RecursionError):  # untrusted text
        return []
    return [str(skill) for skill in skills[:100]] if isinstance(skills, list) else []


def _parameters(grading: str | None) -> str:
    """Return the values that were drawn for a question, as they are stored: JSON."""
    try:
        parameters = json.loads(grading or "{}").get("parameters")
        return json.dumps(parameters) if isinstance(parameters, dict) else "{}"
    except (ValueError, RecursionError, AttributeError):
        return "{}"


def _panel(tables: _PanelBuilder, unit: str, benchmark: str, root: str | None) -> Panel:
    import numpy as np
    from dia_runtime.psychometrics.calibrate import matrices

    successes = np.zeros((len(tables.models), len(tables.items)))
    trials = np.zeros_like(successes)
    for counted, rows in ((successes, tables.correct), (trials, tables.tried)):
        for model, row in enumerate(rows):
            counted[model, : len(row)] = row
    models = tuple(tables.models)
    _require_replies(models, trials > 0)
    all_successes, all_trials = matrices(successes, trials)
    is_mixed = unit == "benchmarks"
    about = tuple(
        ItemFacts(
            None if is_mixed else facts["template"],
            None if is_mixed else facts["category"],
            () if is_mixed else tuple(facts["skills"]),
            tuple(facts["questions"].values()),
        )
        for facts in tables.about
    )
    return Panel(
        models, tuple(tables.items), all_successes, all_trials, unit, about, benchmark, root, shares=tables.shares,
        truncated=tables.truncated,
    )  # fmt: skip


def observed(panel: Panel, abilities: Mapping[str, float]) -> dict[str, list[tuple[float, float, float]]]:
    """Return for each item the ability, successes and trials of each model that tried it and has an ability."""
    import numpy as np

    trials = np.broadcast_to(panel.trials, panel.successes.shape)
    models = [(at, abilities[name]) for at, name in enumerate(panel.models) if name in abilities]
    return {
        name: [
            (ability, float(panel.successes[at, item]), float(trials[at, item]))
            for at, ability in models
            if trials[at, item] > 0
        ]
        for item, name in enumerate(panel.items)
    }
