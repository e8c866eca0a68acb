"""What a reader of a score should know before drawing a conclusion from it."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import TypeVar

from dia_language.diagnostics import counted, visible

from dia_runtime.formats.base import RULES, STANDARD
from dia_runtime.grading.flags import FLAGS, NO_CALLS_ADVICE, REPLY_FLAGS
from dia_runtime.grading.verdicts import Verdict
from dia_runtime.report.screens import shortened
from dia_runtime.scoring.figures import FIGURES
from dia_runtime.scoring.results import ALPHA, Block, Model, Respondent, Score, figure_of, is_clear, respondents
from dia_runtime.store.error_causes import versions_text

FEW_ITEMS = 30  # below this the intervals are too wide for most claims
FEW_COMPARED = 20  # below this, resamples understate the uncertainty of differences
MANY_UNPARSED = 0.05  # share of a model's questions
NAMED = 3  # named models in a finding
LONGEST_NAME = 40
LONGEST_EXAMPLE = 120
Ranked = TypeVar("Ranked", bound=Respondent)


def findings(result: Score) -> list[str]:
    """Return a sentence or two for each finding, the most important first."""
    return [
        *_without_replies(result),
        *_errors(result),
        *_few_items(result),
        *_few_compared(result),
        *_uncertain_order(result),
        *_unparsed(result),
        *_unread_sessions(result),
        *_lost_to_format(result),
        *_replies_without_answer(result),
        *_changed_requests(result),
        *_several_versions(result),
        *_unused_tools(result),
        *_missing(result),
        *_variants(result),
        *_old_rules(result),
    ]


def replies_of(block: Block) -> int:
    """Return the number of questions that have a verdict; an error is one too."""
    return sum(block["counts"].values())


def order_by_score(models: Iterable[Ranked]) -> list[Ranked]:
    """Return the models in the order of their reliability scores; those whose score is open or missing come last."""

    def key(model: Ranked) -> tuple[bool, bool, float]:
        value = figure_of(model, "rs")["value"]
        return not replies_of(model), value is None, -(value or 0)

    return sorted(models, key=key)


def ranks(models: Sequence[Respondent]) -> list[int | None]:
    """Return the rank of each of the ordered models; equal scores share the better one, and no score has none."""
    values = [figure_of(model, "rs")["value"] if replies_of(model) else None for model in models]
    return [None if value is None else values.index(value) + 1 for value in values]


def _without_replies(result: Score) -> Iterator[str]:
    empty = [model["model"] for model in result["models"] if not replies_of(model)]
    if not result["models"]:
        yield "The runs contain no replies. `dia run` asks models, `dia import` reads replies recorded elsewhere."
    elif empty:
        yield f"No replies from {_joined(list(map(_short, empty)))}."


def _errors(result: Score) -> Iterator[str]:
    counts = _counts(result, lambda model: model["counts"].get(Verdict.ERROR, 0))
    if counts:
        yield (
            f"Questions that ended in an error: {_listed(counts)}. {_most_frequent_cause(result)}"
            "Until they have replies, a figure that depends on them is a range, from its value if they are all wrong "
            "to its value if they are all correct. Shares of abstained and unparsed replies may still rise. The same "
            "`dia run` command asks them again; `--errors wrong` counts them as wrong."
        )


def _most_frequent_cause(result: Score) -> str:
    causes = [cause for model in result["models"] for cause in model.get("error_causes", [])]
    if not causes:
        return ""
    worst = max(causes, key=lambda cause: cause["replies"])
    in_base = sum(model["counts"].get(Verdict.ERROR, 0) for model in result["models"])
    has_variants = sum(cause["replies"] for cause in causes) > in_base
    number = f"{worst['replies']:,}" + (", variants included" if has_variants else "")
    example = shortened(" ".join(visible(worst["example"]).split()), LONGEST_EXAMPLE)
    return f"The most frequent cause ({number}): {example}. "


def _few_items(result: Score) -> Iterator[str]:
    items = result["n"]
    text = counted(items, "question" if result["over"] == "attempts" else "item")
    if items == 1:
        yield f"Only {text}: no interval can be computed, and the result says nothing about other items."
    elif items < FEW_ITEMS:
        hint = "" if result["power"] else " `--power` shows which differences between models it can detect."
        yield f"Only {text}: the benchmark is too small for most claims.{hint}"


def _few_compared(result: Score) -> Iterator[str]:
    if result["comparisons"] and result["n"] < FEW_COMPARED:
        yield (
            f"Intervals of differences over fewer than {FEW_COMPARED} items are too narrow, and their p too small, "
            "unless the difference is the same on all items: then p comes from a sign test, which needs at least six "
            "items to be below 0.05."
        )


def _uncertain_order(result: Score) -> Iterator[str]:
    """Report runs of neighbours in the ranking whose intervals overlap."""
    groups: list[tuple[int, int]] = []
    compared = {frozenset(pair["models"]): pair for pair in result["comparisons"] if pair["figure"] == "rs"}
    models = order_by_score(respondents(result))
    for at, (better, worse) in enumerate(pairwise(models)):
        pair = compared.get(frozenset((better["model"], worse["model"])))
        if not _overlap(better, worse) if pair is None else is_clear(pair):
            continue
        if groups and groups[-1][1] == at:
            groups[-1] = (groups[-1][0], at + 1)
        else:
            groups.append((at, at + 1))
    numbers = ranks(models)
    spans = [(numbers[first], numbers[last]) for first, last in groups if numbers[first] != numbers[last]]
    if not spans:
        return
    listed = _joined([f"{first}-{last}" for first, last in spans])
    if compared:
        figure = FIGURES["rs"].label_at(result["k"])
        yield f"The order within ranks {listed} is uncertain: p (Holm) for {figure} of neighbours is {ALPHA} or more."
        return
    hint = "" if result["comparisons"] else ": `--compare` tests each pair of models on the same questions"
    yield (
        f"The intervals of neighbours within ranks {listed} overlap, so their order may be uncertain. Overlap alone "
        f"does not decide{hint}."
    )


def _overlap(better: Respondent, worse: Respondent) -> bool:
    upper, lower = figure_of(better, "rs")["ci"], figure_of(worse, "rs")["ci"]
    return upper is not None and lower is not None and upper[0] <= lower[1]


def _unparsed(result: Score) -> Iterator[str]:
    many = [
        model for model in result["models"] if replies_of(model) and _unread(model) >= MANY_UNPARSED * replies_of(model)
    ]
    if many:
        worst, unit = max(many, key=_unparsed_share), "attempts" if result["over"] == "attempts" else "questions"
        listed = [
            f"{_short(model['model'])} ({_unread(model):,} of {replies_of(model):,} {unit})"
            for model in sorted(many, key=_unparsed_share, reverse=True)
        ]
        run, chain = shlex.quote(worst["run"]), result.get("chain", "strict")
        is_judged = any(model["flags"].get("no_judgement") for model in many)
        others = ", not counting those without a judgement" if is_judged else ""
        audit = f"`dia audit {run} --chains {chain},lenient` lists those that `lenient` reads differently; "
        option = "" if chain == STANDARD else f" --chain {chain}"
        yield (
            f"Replies that could not be parsed count as wrong: {_joined(listed)}{others}. "
            f"{'' if chain == 'lenient' else audit}`dia show {run} QUESTION{option}` prints the replies to a question."
        )


def _unread_sessions(result: Score) -> Iterator[str]:
    """Report conversations with an unreadable reply that have another verdict than unparsed."""
    counts = _counts(result, _unread_but_graded)
    if counts:
        run = shlex.quote(next(model["run"] for model in result["models"] if model["model"] == counts[0][0]))
        yield (
            f"Questions with a reply that could not be read, although their template grades them as skipped or "
            f"otherwise: {_listed(counts)}. `dia show {run} QUESTION` prints the conversation."
        )


def _unread_but_graded(model: Model) -> int:
    unread = sum(block["ledger"]["unread"] for block in model.get("sessions", {}).values())
    return max(0, unread - model["counts"].get(Verdict.UNPARSED, 0))


def _lost_to_format(result: Score) -> Iterator[str]:
    counts = _counts(result, lambda model: model["flags"].get("lost_to_format", 0))
    if counts:
        yield f"Right answers that only the strict format lost: {_listed(counts)}. They count as unparsed."


def _old_rules(result: Score) -> Iterator[str]:
    if result.get("rules", RULES) < RULES and result["bundle"] is not None:
        yield (
            "The bundle was frozen under older rules for reading replies, and is graded by them: text around the tags "
            "makes a reply unparsed (unless `--chain lenient` reads it). Compile the specs again to use the new rules."
        )


def _unparsed_share(model: Model) -> float:
    return _unread(model) / replies_of(model)


def _unread(model: Model) -> int:
    """Return how many of the model's own replies could not be parsed; a judge's are another finding."""
    return model["counts"].get(Verdict.UNPARSED, 0) - model["flags"].get("no_judgement", 0)


def _replies_without_answer(result: Score) -> Iterator[str]:
    """Report each flag of replies that are no full answers, with what can be done."""
    for name in REPLY_FLAGS:
        counts = _counts(result, partial(_flagged, name))
        if counts:
            yield f"{FLAGS[name].finding}: {_listed(counts)}. {FLAGS[name].advice}".rstrip()


def _flagged(flag: str, model: Model) -> int:
    return model["flags"].get(flag, 0)


def _changed_requests(result: Score) -> Iterator[str]:
    changes = [(model["model"], entry) for model in result["models"] for entry in model.get("request_changes", ())]
    for name, entry in changes[:NAMED]:
        requests = counted(entry["replies"], "request")
        yield f"Other settings than asked for, in {requests} to {_short(name)}: {entry['change']}."
    if len(changes) > NAMED:
        yield f"Other settings than asked for: {len(changes) - NAMED} more changes, which `dia show RUN` lists."


def _several_versions(result: Score) -> Iterator[str]:
    """Report respondents for which the provider asked several models, as a router or a new release may do."""
    mixed = [model for model in result["models"] if len(model.get("model_versions", ())) > 1]
    if mixed:
        listed = [f"{_short(model['model'])} ({versions_text(model['model_versions'])})" for model in mixed]
        yield f"Replies of several models, as the provider names them: {_joined(listed)}."


def _unused_tools(result: Score) -> Iterator[str]:
    unused = [
        (model["model"], replies_of(model))
        for model in result["models"]
        if model.get("replies_with_tool_calls") == 0 and replies_of(model)
    ]
    if unused:
        yield f"No tool was called in any reply: {_listed(unused)}. {NO_CALLS_ADVICE}"


def _missing(result: Score) -> Iterator[str]:
    counts = _counts(result, lambda model: model["missing"])
    if counts:
        variants = " (not counting variants)" if result.get("has_variants") else ""
        yield f"Questions never asked{variants}, which no figure counts: {_listed(counts)}.{_reasons(result)}"


def _variants(result: Score) -> Iterator[str]:
    if result.get("has_variants"):
        yield "Figures and counts do not include variants, which ask the same instances in other words."


def _reasons(result: Score) -> str:
    """Return why questions could not be asked, and of which models."""
    models_by_reason: dict[str, list[str]] = {}
    for model in result["models"]:
        for entry in model.get("left_out", ()):
            models_by_reason.setdefault(entry["why"], []).append(_short(model["model"]))
    reasons = [f" Reason for {_joined(models)}: {why}." for why, models in models_by_reason.items()]
    if len(reasons) <= NAMED + 1:
        return "".join(reasons)
    return "".join(reasons[:NAMED]) + f" There are {len(reasons) - NAMED} more reasons."


def _counts(result: Score, count: Callable[[Model], int]) -> list[tuple[str, int]]:
    """Return the models for which the count is not 0, the largest count first."""
    counts = [(model["model"], count(model)) for model in result["models"]]
    return sorted((pair for pair in counts if pair[1]), key=lambda pair: -pair[1])


def _listed(counts: Sequence[tuple[str, int]]) -> str:
    return _joined([f"{_short(name)} ({count:,})" for name, count in counts])


def _short(name: str) -> str:
    return shortened(name, LONGEST_NAME)


def _joined(texts: Sequence[str]) -> str:
    """Return the first few texts, and how many more there are."""
    if len(texts) > NAMED + 1:
        return f"{', '.join(texts[:NAMED])} and {len(texts) - NAMED} more"
    return ", ".join(texts[:-1]) + (" and " if len(texts) > 1 else "") + texts[-1]
