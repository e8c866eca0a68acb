"""The figures of runs."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from dia_language.diagnostics import DiaError, Diagnostic, did_you_mean, visible
from dia_runtime.bundle.open import Bundle
from dia_runtime.formats.base import effective_chain
from dia_runtime.grading.judge import Judge, Rules, stored_points, worth
from dia_runtime.psychometrics.rasch.bank import read_bank
from dia_runtime.respondents.prices import OwnPrices
from dia_runtime.scoring.accumulate import Accumulator, FigureOptions
from dia_runtime.scoring.align import respondent_names
from dia_runtime.scoring.compare import ComparisonOptions, abilities_of, compared, require_few, require_tool_pairs
from dia_runtime.scoring.ensemble import Policy, ensemble_result
from dia_runtime.scoring.figures import compared_figures
from dia_runtime.scoring.intervals import LEVEL
from dia_runtime.scoring.metrics import PointRange
from dia_runtime.scoring.results import Model, Score
from dia_runtime.scoring.statistics.ledger import Marks
from dia_runtime.scoring.statistics.resample import METHODS, Intervals
from dia_runtime.scoring.tool_effects import TOOLS
from dia_runtime.scoring.usage import UsageTally
from dia_runtime.store.answer_source import open_source
from dia_runtime.store.store import Store, bundle_facts, read_store, require_root
from dia_runtime.store.tool_transcripts import split_tools

if TYPE_CHECKING:
    from dia_runtime.scoring.labels import Labels

GROUPS = ("category", "domain", "level", "skill", "variant")
LABELS = (*GROUPS, "template", "item", "adversarial", "number")
WORDS = {
    "chain": ("standard", "strict", "lenient", "compat"),
    "errors": ("keep", "wrong"),
    "over": ("instances", "attempts"),
}
# Preset -> chain, and what an error counts as: as the published evaluators read, or the tags alone, as the prompts of
# the DIA-Bench paper ask for
PRESETS = {"paper": ("compat", "wrong"), "dia-bench": ("strict", "wrong")}
FEWEST, MOST = 100, 1_000_000  # resamples
LONGEST_CHAIN = 60  # characters of an unknown chain in a message
MOST_KINDS = 1_000  # of points that questions give
Place = str | os.PathLike[str]


def score(
    runs: Place | Sequence[Place],
    chain: str = "standard",
    points: Mapping[str, Any] | None = None,
    errors: str = "keep",
    bundle: Place | None = None,
    over: str = "instances",
    by: Sequence[str] = (),
    ensemble: Policy | None = None,
    *,
    interval: str = "bca",
    resamples: int = 10_000,
    seed: int = 0,
    compare: Sequence[str] = (),
    labels: Place | None = None,
    power: bool = False,
    difference: float | None = None,
    preset: str | None = None,
    bank: Place | None = None,
    prices: Sequence[str] = (),
) -> Score:
    """Grade the replies of the runs, and return the figures with the keys of `dia score --json`.

    `points` replaces points of the questions, as in {"wrong": -1}. `errors` is "keep" or "wrong". `bundle` has the
    answers, if a run has none. With `over="attempts"`, each question is an item, and its attempts are the instances.
    `by` names further labels to group by. `ensemble` adds all respondents as one, from their first attempts. `interval`
    is "bca", "percentile", "bound" or "none", with `resamples` of the items from a `seed`. `compare` names figures by
    which all pairs are compared (`comparisons`, `rank_changes`, `skip_agreement`). `labels` is a file with labels of
    respondents (`by_respondent`). `power` adds the differences that can be detected, and `difference` the numbers of
    items and of instances per item that detect a difference of this size. The chain "standard" is "strict" for
    questions under version 1 of the rules (`rules`). The preset "dia-bench" reads with the chain strict, as the
    DIA-Bench paper did. The preset "paper" reads as published evaluators did (chain compat, errors as wrong), and adds
    the figures of the study to which questions with sessions belong (`published`). `bank` has abilities of models by
    name (`ability`), which are correlated with their figures of sessions (`correlations`). `prices` such as
    "openai/*=0.15,0.6", in US dollars for a million prompt and completion tokens, are used for replies without a cost.

    Raises DiaError: exit code 2 for a file that is not a run, 3 for runs of different questions.
    """
    _require_preset(preset)
    chain, errors = PRESETS.get(preset or "", (chain, errors))
    worths = {name: worth(name, value) for name, value in (points or {}).items()}
    rules = Rules(chain, worths, errors, over, preset)
    respondent_labels = None if labels is None else _respondent_labels(Path(labels))
    _require_known(rules, by, interval, compare, respondent_labels)
    _require_numbers(resamples, seed, difference)
    abilities = None if bank is None else read_bank(bank)
    intervals, own_prices = Intervals(interval, resamples, seed), OwnPrices(prices)
    figures = tuple(name for name in dict.fromkeys(compare) if name != TOOLS)
    comparisons = ComparisonOptions(intervals, figures, respondent_labels, power, difference, abilities)
    question_labels = tuple(dict.fromkeys((*GROUPS, *(label for label in by if label in LABELS))))
    with opened(runs, bundle) as (stores, source):
        rules = replace(rules, chain=effective_chain(chain, {"rules": stores[0].rules(source)}))
        if TOOLS in compare:
            require_tool_pairs([entry.name for store in stores for entry in store.respondents()])
            comparisons = replace(comparisons, categories=stores[0].categories())
        return _score(stores, source, _ScoreOptions(rules, question_labels, ensemble, comparisons, own_prices))


def _respondent_labels(path: Path) -> Labels:
    from dia_runtime.scoring.labels import read_labels  # YAML is slow to import

    return read_labels(path, LABELS)


@contextmanager
def opened(runs: Place | Sequence[Place], bundle: Place | None = None) -> Iterator[tuple[list[Store], Bundle | None]]:
    """Open the runs, and the bundle with the answers, after checking that all have the same questions."""
    paths = [runs] if isinstance(runs, (str, os.PathLike)) else list(runs)
    if not paths:
        raise DiaError(Diagnostic("E801", "no runs to score"))
    with ExitStack() as stack:
        stores = [stack.enter_context(read_store(path)) for path in paths]
        source = open_source(bundle, stores)
        for store in stores:
            require_root(store, str(stores[0].facts.get("questions_root")), stores[0])
        yield stores, source


def _require_known(
    rules: Rules, by: Sequence[str], interval: str, compare: Sequence[str], labels: Labels | None
) -> None:
    words = [(name, getattr(rules, name), choices) for name, choices in WORDS.items()]
    words += [("interval", interval, METHODS)]
    every = (*LABELS, *(labels.names if labels else ()))
    names = [
        *(("by", label, every) for label in by),
        *(("compare", name, (*compared_figures(), TOOLS)) for name in compare),
    ]
    for name, word, choices in (*words, *names):
        if word not in choices:
            message = visible(f"`{name}` cannot be `{word}`; choose from {', '.join(choices)}")
            help = did_you_mean(str(word), choices)
            if name == "by" and not labels:
                help = help or "to group by labels of models, add `--labels FILE` with the file that defines them"
            raise DiaError(Diagnostic("E821" if name == "chain" else "E811", message, None, help))


def require_chain(chain: str) -> None:
    """Raise DiaError (exit 2) if no answer format has the chain."""
    if chain not in WORDS["chain"]:
        help = did_you_mean(chain, WORDS["chain"]) or f"the choices are {', '.join(WORDS['chain'])}"
        raise DiaError(Diagnostic("E821", visible(f"unknown chain `{chain[:LONGEST_CHAIN]}`"), None, help))


def _require_preset(preset: str | None) -> None:
    if preset is not None and preset not in PRESETS:
        message = visible(f"unknown preset `{preset}`")
        help = did_you_mean(preset, PRESETS) or f"the presets are {', '.join(PRESETS)}"
        raise DiaError(Diagnostic("E811", message, None, help))


def _require_numbers(resamples: int, seed: int, difference: float | None) -> None:
    if not FEWEST <= resamples <= MOST:
        message = f"`resamples` must be between {FEWEST} and {MOST:,}, not {resamples:,}"
        raise DiaError(Diagnostic("E811", message, None, "10,000 is usually enough"))
    if not 0 <= seed < 1 << 63:
        message = f"`seed` must be between 0 and 2**63 - 1, not {seed}"
        raise DiaError(Diagnostic("E811", message, None, "any other integer does, such as 0"))
    if difference is not None and not 0 < difference <= 2:
        message = f"`difference` must be above 0 and at most 2 (scores range from -1 to 1), not {difference}"
        help = "for example, 0.05 is a difference of five percentage points in accuracy"
        raise DiaError(Diagnostic("E811", message, None, help))


@dataclass(frozen=True, slots=True)
class _ScoreOptions:
    """How replies are graded and figures computed: the arguments of `score`."""

    rules: Rules
    by: tuple[str, ...]
    policy: Policy | None
    comparisons: ComparisonOptions
    prices: OwnPrices


def _score(stores: Sequence[Store], source: Bundle | None, options: _ScoreOptions) -> Score:
    rules, facts = options.rules, bundle_facts(stores[0])
    items, questions, least, most = stores[0].sizes()
    k, varies = facts["k"], least != most
    if rules.over == "attempts":
        items, k = questions, max(1, *(store.attempts() for store in stores))
    intervals = replace(options.comparisons.intervals, points=range_of_points(stores, rules))
    comparisons = replace(options.comparisons, intervals=intervals)
    names = respondent_names(stores)
    require_few(names, comparisons)
    figures = FigureOptions(options.by, rules.over, intervals, comparisons.needs_marks, k)
    marks: list[Marks] = []
    models = [model for store in stores for model in _models(store, options, source, figures, questions, marks)]
    abilities = None
    if comparisons.bank is not None:
        abilities = abilities_of(comparisons.bank, names, [model["model"] for model in models])
    for at, model in enumerate(models):
        model["labels"] = comparisons.labels_of(model["model"])
        if abilities:
            model["ability"] = abilities[at]
    points_told = _told_points(stores)
    policy = options.policy
    return {
        "bundle": facts["bundle_id"],
        "questions_root": facts["questions_root"],
        "benchmark": facts["benchmark"],
        "version": facts["version"],
        "k": k,
        "k_varies": any(model["other_k"] for model in models) if rules.over == "attempts" else varies,
        "n": items,
        "has_variants": stores[0].has_variants(),
        "over": rules.over,
        "chain": rules.chain,
        "rules": stores[0].rules(source),
        "errors": rules.errors,
        "preset": rules.preset,
        "points": {name: str(value) for name, value in (rules.points or {}).items()},
        "points_told": points_told,
        "points_differ": any(
            Fraction(points[name]) != value for points in points_told for name, value in (rules.points or {}).items()
        ),
        "interval": {
            "method": intervals.method,
            "level": LEVEL,
            "resamples": intervals.resamples,
            "seed": intervals.seed,
        },
        "models": models,
        "ensembles": [ensemble_result(stores, rules, source, figures, policy)] if policy else [],
        **compared(names, marks, models, comparisons, abilities),
    }


def _models(
    store: Store,
    of_score: _ScoreOptions,
    source: Bundle | None,
    options: FigureOptions,
    questions: int,
    marks: list[Marks],
) -> Iterator[Model]:
    """Return the figures of the respondents of a run; marks are also kept if questions have several wordings."""
    options = replace(options, keeps_marks=options.keeps_marks or store.has_variants())
    with closing(Judge(store, of_score.rules, source)) as judge:
        for respondent in store.respondents():
            price = of_score.prices.of(respondent.name, respondent.model)
            accumulator, usage = Accumulator(options), UsageTally(price)
            for entry in judge.judged(respondent.id):
                accumulator.add(entry)
                usage.add(entry)
            marks.append(accumulator.ledger.base)
            result = accumulator.result(respondent.name, questions - accumulator.questions)
            reasons = store.left_out_reasons(respondent.id, of_base=True)
            left_out = [{"why": why, "questions": number} for why, number in reasons.items()]
            of_run = {
                "left_out": left_out,
                "request_changes": store.request_changes(respondent.id),
                "model_versions": store.model_versions(respondent.id),
            }
            if split_tools(respondent.name)[1]:
                of_run["replies_with_tool_calls"] = store.replies_with_tool_calls(respondent.id)
            yield cast(
                Model, {"model": respondent.name, "run": str(store.path), **of_run, "usage": usage.result(), **result}
            )


def range_of_points(stores: Sequence[Store], rules: Rules) -> PointRange | None:
    """Return the fewest and most points of any question; None if there are too many different ones."""
    kinds = [encoded for store in stores for encoded in store.distinct_points(MOST_KINDS)]
    if not 0 < len(kinds) < MOST_KINDS:
        return None
    points = [{**stored_points(stores[0], encoded), **(rules.points or {})} for encoded in kinds]
    every, skipped = [value for entry in points for value in entry.values()], [entry["skipped"] for entry in points]
    return PointRange(*(float(end) for end in (min(every), max(every), min(skipped), max(skipped))))


def _told_points(stores: Sequence[Store]) -> list[dict[str, str]]:
    """Return the different points stated in the prompts; none if they are unknown, as for imported replies."""
    kinds = {}
    for store in stores:
        if store.facts.get("points_told", True):
            for encoded in store.distinct_points():
                points = {name: str(value) for name, value in stored_points(store, encoded).items()}
                kinds[tuple(points.values())] = points
    return list(kinds.values())
