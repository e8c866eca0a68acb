"""The figures of runs."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from fractions import Fraction
from typing import Any

from dia_runtime import metrics
from dia_runtime.bundle.open import open_bundle
from dia_runtime.intervals import standard_error
from dia_runtime.judge import FLAGS, Judged, Rules, judge, worth
from dia_runtime.language.diagnostics import DiaError, Diagnostic, visible
from dia_runtime.metrics import Figure, Mark, Part
from dia_runtime.store import Store, read_store, require_root
from dia_runtime.store_schema import StoredQuestion, StoredRespondent

FIGURES: dict[str, Callable[[metrics.Table], Figure]] = {
    "rs": metrics.rs,
    "conf": metrics.conf,
    "nms": metrics.nms,
    "pass_at_k": metrics.pass_at,
    "trad_score": metrics.trad_score,
    "idk_score": metrics.idk_score,
    "idk_freq": metrics.idk_freq,
    "extract_fail": metrics.extract_fail,
}
GROUPS = ("category", "domain")
UNLABELLED = "none"
Place = str | os.PathLike[str]


def score(
    runs: Place | Sequence[Place],
    chain: str = "strict",
    points: Mapping[str, Any] | None = None,
    errors: str = "keep",
    bundle: Place | None = None,
) -> dict[str, Any]:
    """The figures of every respondent of the runs, with the keys of `dia score --json`.

    `points` replaces points of the questions ({"wrong": -1}), `errors` is "keep" or "wrong", and `bundle` has
    the answers where a run holds none. Raises DiaError: exit 2 for a file that is no run, exit 3 for a run of
    other questions than those of the bundle or of the first run.
    """
    rules = Rules(chain, {name: worth(name, value) for name, value in (points or {}).items()}, errors)
    _require_known(rules)
    paths = [runs] if isinstance(runs, (str, os.PathLike)) else list(runs)
    if not paths:
        raise DiaError(Diagnostic("E801", "there is no run to score"))
    with ExitStack() as opened:
        stores = [opened.enter_context(read_store(path)) for path in paths]
        source = None if bundle is None else open_bundle(bundle)
        root = source.questions_root if source else str(stores[0].facts.get("questions_root"))
        for store in stores:
            require_root(store, root)
        answers = {answer["id"]: answer for answer in source.answers()} if source else {}
        return _result(stores, rules, answers)


def _require_known(rules: Rules) -> None:
    for word, known in ((rules.chain, ("strict", "lenient", "compat")), (rules.errors, ("keep", "wrong"))):
        if word not in known:
            message = visible(f"`{word}` is none of {', '.join(known)}")
            raise DiaError(Diagnostic("E821" if word == rules.chain else "E811", message))


def _result(stores: Sequence[Store], rules: Rules, answers: Mapping[str, Any]) -> dict[str, Any]:
    facts = _facts(stores[0])
    base = [question for question in stores[0].questions() if question.variant is None]
    sizes = Counter(question.item for question in base)
    return {
        "bundle": facts["bundle_id"],
        **{name: facts[name] for name in ("questions_root", "benchmark", "version", "k")},
        "k_varies": len(set(sizes.values())) > 1,
        "n": len(sizes),
        "chain": rules.chain,
        "errors": rules.errors,
        "points": {name: str(value) for name, value in (rules.points or {}).items()},
        "models": [
            _model(store, respondent, list(judge(store, respondent.id, rules, answers)), base)
            for store in stores
            for respondent in store.respondents()
        ],
    }


def _facts(store: Store) -> dict[str, Any]:
    facts = store.facts
    if not {"bundle_id", "questions_root", "benchmark", "version", "k"} <= facts.keys():
        raise store.damaged("it does not say of which bundle it is")
    return facts


def _model(
    store: Store, respondent: StoredRespondent, judged: list[Judged], base: Sequence[StoredQuestion]
) -> dict[str, Any]:
    plain = [entry for entry in judged if entry.question.variant is None]
    return {
        "model": respondent.name,
        "run": str(store.path),
        "missing": len(base) - len(plain),
        **_block(plain),
        "tsr": metrics.tsr(_table(plain)),
        "mistakes": _mistakes(judged),
        **{f"by_{label}": _grouped(plain, label) for label in GROUPS},
        "by_variant": _grouped([entry for entry in judged if entry.question.variant is not None], "variant"),
    }


def _grouped(judged: Iterable[Judged], label: str) -> dict[str, Any]:
    groups: dict[str, list[Judged]] = {}
    for entry in judged:
        groups.setdefault(getattr(entry.question, label) or UNLABELLED, []).append(entry)
    return {name: _block(entries) for name, entries in sorted(groups.items())}


def _block(judged: Sequence[Judged]) -> dict[str, Any]:
    table = _table(judged)
    flags = Counter(flag for entry in judged for flag in entry.flags)
    return {
        "n": len(table),
        "counts": metrics.counts(table),
        "flags": {flag: flags[flag] for flag in FLAGS},
        **{name: figure_json(figure(table)) for name, figure in FIGURES.items()},
        **_share(judged),
    }


def _share(judged: Iterable[Judged]) -> dict[str, Any]:
    """The mean share of full marks, of the questions whose answers declare one; nothing where none does."""
    shares: dict[str, list[Fraction]] = {}
    for entry in judged:
        if entry.share is not None:
            shares.setdefault(entry.question.item, []).append(entry.share)
    parts = tuple(Part(sum(held, Fraction(0)), sum(held, Fraction(0)), len(held)) for held in shares.values())
    return {"share": figure_json(Figure(parts))} if parts else {}


def _table(judged: Iterable[Judged]) -> dict[str, list[Mark]]:
    table: dict[str, list[Mark]] = {}
    for entry in judged:
        table.setdefault(entry.question.item, []).append(entry.mark)
    return table


def figure_json(figure: Figure) -> dict[str, Any]:
    """The figure as `value`, `se` and `ci`, with `bounds` beside them while errors leave the value open."""
    value, bounds = figure.value, figure.bounds
    if value is None:
        shown: dict[str, Any] = {"value": None, "se": None, "ci": None}
        return {**shown, "bounds": [float(end) for end in bounds]} if bounds else shown
    error = standard_error([(part.low, part.size) for part in figure.parts], figure.is_sum)
    return {"value": float(value), "se": error, "ci": None}


def _mistakes(judged: Iterable[Judged]) -> dict[str, dict[str, float]]:
    """Template -> mistake -> share of the template's wrong replies that are this mistake."""
    wrong: Counter[str] = Counter()
    explained: dict[str, Counter[str]] = {}
    for entry in judged:
        if entry.mark.verdict == "wrong":
            template = entry.question.template
            wrong[template] += 1
            explained.setdefault(template, Counter()).update(entry.mistakes)
    return {
        template: {name: number / wrong[template] for name, number in sorted(found.items())}
        for template, found in explained.items()
        if found
    }
