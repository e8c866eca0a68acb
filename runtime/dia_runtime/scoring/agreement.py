"""The agreement of verdicts with human verdicts on a sample of the replies."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Container, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from dia_language.diagnostics import DiaError, Diagnostic, Position, did_you_mean, visible
from dia_runtime.bundle.compressed import read_lines
from dia_runtime.formats.base import effective_chain
from dia_runtime.grading.judge import Judge, Rules
from dia_runtime.grading.verdicts import OF_REPLIES, Verdict
from dia_runtime.scoring.metrics import Aggregate, Part
from dia_runtime.scoring.results import Estimate
from dia_runtime.scoring.score import Place, opened, require_chain
from dia_runtime.scoring.statistics.estimates import estimate
from dia_runtime.scoring.statistics.resample import Intervals
from dia_runtime.store.store import Store, bundle_facts

MOST = 1_000_000
NEAR = 20_000  # with more ids than this, no similar one is suggested
LONGEST_ID = 60  # in a message
Key = tuple[str, str | None, int]  # question, model if given, attempt
Pairs = Counter[tuple[str, str]]  # label and verdict -> number of replies


class ModelAgreement(TypedDict):
    """The agreement of the verdicts on one model with the labels."""

    model: str
    labelled: int
    agreement: Estimate
    kappa: float | None
    table: dict[str, dict[str, int]]


class AgreementResult(TypedDict):
    """What `dia audit --labels` prints."""

    questions_root: str
    benchmark: str
    version: str | int | None
    chain: str
    labels: int
    without_reply: int
    models: list[ModelAgreement]


@dataclass(frozen=True, slots=True)
class LabelledReplies:
    """Human verdicts by question, model if given, and attempt."""

    verdicts: Mapping[Key, str]

    def of(self, question: str, model: str, attempt: int) -> str | None:
        """Return the human verdict on a reply; one without a model applies to all models."""
        named = self.verdicts.get((question, model, attempt))
        return named if named is not None else self.verdicts.get((question, None, attempt))

    def without_reply(self, replies: Container[Key]) -> int:
        """Return how many labels are for none of these replies, given by question, model and attempt, or by None."""
        return sum(key not in replies for key in self.verdicts)


def read_labelled(path: Path, store: Store) -> LabelledReplies:
    """Return the sample in a JSON Lines file: {"id", "verdict", "model"?, "attempt"?} on each line.

    An id may omit the name of the benchmark. Raises DiaError at an invalid line, and at an id that is not in the run.
    """
    verdicts: dict[Key, str] = {}
    try:
        for number, raw in read_lines(path):
            if not raw or raw.isspace():
                continue
            (id, model, attempt), verdict = _line(path, number, raw)
            question = store.find_question(id)
            if question is None:
                ids = [entry.id for entry in store.questions()] if store.size <= NEAR else []
                help = did_you_mean(id, ids) or "`dia questions RUN` lists the ids of the run"
                raise _error(path, number, f"the run has no question `{id[:LONGEST_ID]}`", help)
            key = (question[0], model, attempt)
            if verdicts.setdefault(key, verdict) != verdict:
                raise _error(path, number, f"`{id[:LONGEST_ID]}` has a different verdict in an earlier line")
            if len(verdicts) > MOST:
                raise _error(path, number, f"more than {MOST:,} lines")
    except OSError as error:
        raise _error(path, 1, f"it cannot be read: {str(error.strerror).lower()}") from None
    if not verdicts:
        raise _error(path, 1, "it is empty", 'write {"id": ..., "verdict": "correct"} on every line')
    return LabelledReplies(verdicts)


def _line(path: Path, number: int, raw: bytes) -> tuple[Key, str]:
    try:
        label = json.loads(raw)
        model, attempt = label.get("model"), label.get("attempt", 1)
        key = (label["id"], model, attempt)
        verdict = label["verdict"]
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
        help = 'write {"id": ..., "verdict": "correct"} on every line'
        raise _error(path, number, "the line does not label a reply", help) from None
    is_key = isinstance(key[0], str) and (model is None or isinstance(model, str)) and type(attempt) is int
    if not is_key:
        raise _error(path, number, "`id` and `model` must be texts, `attempt` an integer")
    if verdict not in OF_REPLIES:
        help = did_you_mean(str(verdict), OF_REPLIES) or f"the verdicts are {', '.join(OF_REPLIES)}"
        raise _error(path, number, f"unknown verdict `{str(verdict)[:40]}`", help)
    return key, verdict


def _error(path: Path, number: int, message: str, help: str | None = None) -> DiaError:
    return DiaError(Diagnostic("E862", visible(message), Position(str(path), number, 1), help))


def agreement(
    runs: Place | Sequence[Place],
    labelled: Path,
    chain: str = "standard",
    bundle: Place | None = None,
    intervals: Intervals = Intervals(),  # noqa: B008 - it is frozen
) -> AgreementResult:
    """Return for each model the share of verdicts that equal the labels, Cohen's kappa, and the table of both.

    Raises DiaError (exit 2) if no reply of the runs is labelled. kappa = (p - e) / (1 - e), where e is the agreement
    expected from the two margins alone (Cohen 1960); None if e is 1.
    """
    require_chain(chain)
    with opened(runs, bundle) as (stores, source):
        facts, rules = bundle_facts(stores[0]), stores[0].rules(source)
        sample, replies = read_labelled(labelled, stores[0]), set[Key]()
        models: list[ModelAgreement] = []
        for store in stores:
            with closing(Judge(store, Rules(chain, over="attempts"), source)) as judge:
                for respondent in store.respondents():
                    pairs: dict[str, Pairs] = defaultdict(Counter)
                    for entry in judge.judged(respondent.id):
                        label = sample.of(entry.question.id, respondent.name, entry.reply.attempt)
                        if label is not None and entry.mark.verdict is not Verdict.ERROR:  # an error is not a reply
                            pairs[entry.question.id][label, entry.mark.verdict] += 1
                            replies |= {
                                (entry.question.id, name, entry.reply.attempt) for name in (respondent.name, None)
                            }
                    models.append(_agreement(respondent.name, pairs, intervals))
    if not any(model["labelled"] for model in models):
        message = f"the run has none of the replies that `{labelled}` labels"
        raise DiaError(Diagnostic("E862", visible(message), None, "check `model` and `attempt` of the labels"))
    return {
        "questions_root": facts["questions_root"],
        "benchmark": facts["benchmark"],
        "version": facts["version"],
        "chain": effective_chain(chain, {"rules": rules}),
        "labels": len(sample.verdicts),
        "without_reply": sample.without_reply(replies),
        "models": models,
    }


def _agreement(model: str, by_question: Mapping[str, Pairs], intervals: Intervals) -> ModelAgreement:
    """Return the figures of a model; its error is clustered by question, because replies to one question are alike."""
    pairs = sum(by_question.values(), Pairs())
    sizes = Counter((_agreeing(replies), replies.total()) for replies in by_question.values())
    parts = tuple(Part(agreeing, agreeing, size, times) for (agreeing, size), times in sorted(sizes.items()))
    agreed = estimate(Aggregate(parts), intervals)
    table: dict[str, dict[str, int]] = {}
    for (label, verdict), times in sorted(pairs.items()):
        table.setdefault(label, {})[verdict] = times
    return {"model": model, "labelled": pairs.total(), "agreement": agreed, "kappa": kappa(pairs), "table": table}


def _agreeing(pairs: Mapping[tuple[str, str], int]) -> int:
    return sum(times for (label, verdict), times in pairs.items() if label == verdict)


def kappa(pairs: Mapping[tuple[str, str], int]) -> float | None:
    """Return Cohen's kappa of two raters from their joint table; None if it is undefined.

    >>> kappa({("yes", "yes"): 20, ("yes", "no"): 5, ("no", "yes"): 10, ("no", "no"): 15})
    0.4
    """
    number = sum(pairs.values())
    if not number:
        return None
    ours, theirs = Counter[str](), Counter[str]()
    for (label, verdict), times in pairs.items():
        ours[label] += times
        theirs[verdict] += times
    chance = sum(ours[name] * theirs[name] for name in ours)
    same = number * _agreeing(pairs)
    return None if chance == number**2 else (same - chance) / (number**2 - chance)
