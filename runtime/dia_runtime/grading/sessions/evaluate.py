"""Evaluate the stored truth of a session question on its replies.

Replies and stored code are untrusted: all of it is evaluated in a worker that can be killed (`evaluated_truths` is its
task).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from json import dumps, loads
from typing import Any

from dia_language.diagnostics import DiaError, LanguageError
from dia_language.expressions.replies import UNSET, SessionReply, Unset
from dia_language.numbers.operators import truth as is_true
from dia_language.numbers.values import Value
from dia_language.stored.stored_code import Code, load_code
from dia_runtime.grading.sessions.outcome import ABSENT, BROKEN, UNREAD, VALID, Decision, Order, Outcome
from dia_runtime.grading.verdicts import Verdict

Stored = Mapping[str, Any]
Scope = Mapping[str, Any]
SHAPE = "E822"  # error code of a malformed stored value
LONGEST_LIST = 10_000
# The maximum length of a label, and of the text of a figure
LONGEST = 10_000
INFINITE = (1,)  # the key of an item that cannot be compared: after all others


def evaluated_truths(stored: Stored, scope: Scope, recorded: Stored | None = None) -> Iterator[Outcome]:
    """Yield the outcome, as the one item of a worker's task. Raises LanguageError for a malformed truth."""
    try:
        outcome = evaluate_truth(stored, scope, recorded)
    except (KeyError, TypeError, AttributeError, ValueError, IndexError):
        raise LanguageError("malformed stored grading", code=SHAPE) from None
    yield outcome


def evaluate_truth(stored: Stored, scope: Scope, recorded: Stored | None = None) -> Outcome:
    """Return the outcome of a stored truth on replies; `recorded` has values from a log ({"order": [...]}) instead."""
    kind = next((name for name in KINDS if name in stored["truth"]), None)
    if kind is None:
        raise LanguageError("a stored truth without a kind", code=SHAPE)
    outcome = KINDS[kind](stored["truth"][kind], scope, recorded or {})
    figures = _figures(stored.get("figures", {}), scope, outcome)
    return replace(outcome, kind=kind, figures=figures, is_answered=_is_answered(outcome, stored, scope))


class Failed(Exception):
    """The truth cannot be known: the state that says why, and the reply that caused it."""

    def __init__(self, state: str, name: str | None) -> None:
        super().__init__(state, name)
        self.state, self.name = state, name


def _value(stored: Stored, scope: Scope) -> Value:
    """Return the value of stored code on the replies. Raises Failed."""
    try:
        return _code(dumps(stored, sort_keys=True)).evaluate(scope)
    except Unset as missing:
        raise Failed(UNREAD if _came(scope.get(missing.name)) else ABSENT, missing.name) from None
    except DiaError as error:
        # No reply can cause this: the stored code is malformed.
        if any(entry.code.startswith(("E3", SHAPE)) for entry in error.diagnostics):
            raise TypeError("a stored truth that cannot be compiled") from None
        raise Failed(BROKEN, None) from None


@lru_cache(maxsize=256)
def _code(text: str) -> Code:
    return load_code(loads(text))


def _came(reply: Any) -> bool:
    """Return whether all replies of a name arrived, readable or not."""
    if isinstance(reply, list):
        return all(map(_came, reply))
    return isinstance(reply, SessionReply) and reply.has_come


def _is_true(stored: Stored, scope: Scope) -> bool:
    try:
        return is_true(_value(stored, scope))
    except LanguageError:
        raise Failed(BROKEN, None) from None


def _failed_outcome(failed: Failed, **more: Any) -> Outcome:
    """Return the outcome if the truth cannot be known: replies could not be read, or evaluation failed on them."""
    return Outcome(Verdict.WRONG if failed.state == BROKEN else Verdict.UNPARSED, failed.state, failed.name, **more)


# grade


def _grade(stored: Stored, scope: Scope, recorded: Stored) -> Outcome:
    try:
        if "skipped" in stored and _is_true(stored["skipped"], scope):
            return _skipped(scope)
        verdict = Verdict.CORRECT if _is_true(stored["correct"], scope) else Verdict.WRONG
        return Outcome(verdict, share=_share(stored, scope))
    except Failed as failed:
        return _failed_outcome(failed, share=Fraction(0) if "share" in stored else None)


def _skipped(scope: Scope) -> Outcome:
    """Return the outcome of a skipped question. It is not valid if a reply could not be read, which may be why."""
    unread = next((name for name, reply in scope.items() if is_unread(reply)), None)
    return Outcome(Verdict.SKIPPED, VALID if unread is None else UNREAD, unread)


def is_unread(reply: Any) -> bool:
    """Return whether a reply of a name arrived that could not be read."""
    if isinstance(reply, list):
        return any(map(is_unread, reply))
    return isinstance(reply, SessionReply) and reply.has_come and reply.value is UNSET


def _share(stored: Stored, scope: Scope) -> Fraction | None:
    if "share" not in stored:
        return None
    value = _value(stored["share"], scope)
    is_number = isinstance(value, int | Fraction) and not isinstance(value, bool)
    if not is_number or not 0 <= value <= 1:
        raise Failed(BROKEN, None)
    return Fraction(value)


# decisions


def _decisions(stored: Stored, scope: Scope, recorded: Stored) -> Outcome:
    """Return the decisions, each independent of the others: one that cannot be known does not affect the rest."""
    try:
        scopes = _each(stored, scope)
    except Failed as failed:
        return _failed_outcome(failed, share=Fraction(0))
    positive = stored["positive"]["value"]
    first: Failed | None = None
    decisions = []
    for inner in scopes:
        sides: list[bool | None] = []
        for name in ("predicted", "actual"):
            try:
                sides.append(_is_true(stored[name], inner) == positive)
            except Failed as failed:
                first = first or (Failed(ABSENT, recorded["failed"]) if "failed" in recorded else failed)
                sides.append(None)
        decisions.append(Decision(*sides))
    agreeing = sum(decision.is_known and decision.predicted == decision.actual for decision in decisions)
    share = Fraction(agreeing, len(decisions)) if decisions else Fraction(0)
    if first is not None:
        return _failed_outcome(first, share=share, decisions=tuple(decisions))
    return Outcome(Verdict.CORRECT if share == 1 else Verdict.WRONG, share=share, decisions=tuple(decisions))


def _each(stored: Stored, scope: Scope) -> list[Scope]:
    """Yield a scope for every element of the truth's list. Raises Failed."""
    if "over" not in stored:
        return [scope]
    over = stored["over"]
    if not isinstance(over, Mapping | list):
        raise TypeError("a truth goes over a list, or over what code gives")
    items = _value(over, scope) if isinstance(over, Mapping) else _code(dumps(_listed(over))).evaluate({})
    if not isinstance(items, list) or len(items) > LONGEST_LIST:
        raise Failed(BROKEN, None)
    name = stored.get("as", "it")
    return [{**scope, "index": at, name: item} for at, item in enumerate(items)]


def _listed(items: Sequence[Any]) -> Stored:
    """Return a static list as code, so that its symbolic values are decoded in the same way as others."""
    return {"expression": "items", "names": {"items": items}}


# rankings


def _ranking(stored: Stored, scope: Scope, recorded: Stored) -> Outcome:
    zero = Fraction(0)
    try:
        scopes = _each(stored, scope)
        labels = [_label(stored["label"], inner) for inner in scopes]
        actual = _actual(stored, scopes, labels, recorded)
    except Failed as failed:
        return _failed_outcome(failed, share=zero)
    try:
        predicted = _labels(_value(stored["predicted"], scope))
    except Failed as failed:
        return _failed_outcome(failed, share=zero, order=Order(None, tuple(labels[at] for at in actual[0]), None, 0))
    order = tuple(labels[at] for at in actual[0])
    if sorted(predicted) != sorted(labels):
        return _failed_outcome(
            Failed(UNREAD, _reply_of(stored["predicted"])), share=zero, order=Order(predicted, order, None, 0)
        )
    score, pairs = _pair_score(predicted, labels, actual, stored.get("ties", "label_order"))
    outcome = Order(predicted, order, score, pairs)
    return Outcome(Verdict.CORRECT if score == 1 else Verdict.WRONG, share=score, order=outcome)


def _reply_of(stored: Stored) -> str | None:
    return next(iter(stored.get("replies", ())), None)


def _label(stored: Stored, scope: Scope) -> str:
    value = _value(stored, scope)
    if not isinstance(value, str) or len(value) > LONGEST:
        raise Failed(BROKEN, None)
    return value


def _labels(value: Value) -> tuple[str, ...]:
    if not isinstance(value, list) or len(value) > LONGEST_LIST or not all(isinstance(one, str) for one in value):
        raise Failed(BROKEN, None)
    return tuple(value)


Actual = tuple[list[int], list[tuple[Any, ...]]]


def _actual(stored: Stored, scopes: Sequence[Scope], labels: Sequence[str], recorded: Stored) -> Actual:
    """Return the places of the items in their true order, and the key of each.

    Of equal items, the first label comes first. A key that needs a missing reply comes after all others. Raises Failed
    if a log does not give an order either.
    """
    order = recorded.get("order")
    if isinstance(order, list) and sorted(order) == sorted(labels):
        places = [labels.index(label) for label in order]
        return places, [(place,) for _, place in sorted((at, rank) for rank, at in enumerate(places))]
    keys = [tuple(_key(part, inner) for part in stored["keys"]) for inner in scopes]
    if scopes and all(part == INFINITE for key in keys for part in key):
        raise Failed(ABSENT, _reply_of(stored["keys"][0]))
    try:
        return sorted(range(len(keys)), key=lambda at: keys[at]), keys
    except TypeError:
        raise Failed(BROKEN, None) from None


def _key(stored: Stored, scope: Scope) -> tuple[Any, ...]:
    try:
        value = _value(stored, scope)
    except Failed as failed:
        if failed.state == BROKEN:
            raise
        return INFINITE
    if isinstance(value, int | Fraction | str):
        return 0, value
    if value is None:  # a fact that the endpoint did not report
        return INFINITE
    raise Failed(BROKEN, None)


def _pair_score(
    predicted: Sequence[str], labels: Sequence[str], actual: Actual, ties: str
) -> tuple[Fraction | None, int]:
    """Return the share of pairs that are ranked correctly, and how many pairs count; None if none does.

    Pairs of items with equal keys follow the order of their labels, count half, or do not count.
    """
    order, keys = actual
    rank = {label: at for at, label in enumerate(predicted)}
    total, pairs = Fraction(0), 0
    for first, second in combinations(order, 2):
        if keys[first] == keys[second] and ties != "label_order":
            total += Fraction(1, 2) if ties == "half" else 0
            pairs += ties == "half"
            continue
        total += rank[labels[first]] < rank[labels[second]]
        pairs += 1
    return (total / pairs if pairs else None), pairs


# figures


def _figures(stored: Stored, scope: Scope, outcome: Outcome) -> dict[str, Value]:
    """Return the value of each declared figure in this question, UNSET if it cannot be known.

    Figures are left out if the question does not count for them, or if that cannot be known.
    """
    values: dict[str, Value] = {}
    for name, figure in stored.items():
        try:
            is_decided = outcome.verdict in (Verdict.CORRECT, Verdict.WRONG) or figure.get("over") != "decided"
            if not is_decided or ("where" in figure and not _is_true(figure["where"], scope)):
                continue
        except Failed:
            continue
        try:
            values[name] = _plain(_value(figure["value"], scope))
        except Failed:
            values[name] = UNSET
    return values


def _plain(value: Value) -> Value:
    """Return the value of a figure: a number, a truth value, text, or a list of these. Raises Failed."""
    if isinstance(value, list) and len(value) <= LONGEST_LIST:
        return [_plain(one) for one in value]
    if value is None or isinstance(value, bool | int | Fraction):
        return value
    if isinstance(value, str) and len(value) <= LONGEST:
        return value
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise Failed(BROKEN, None) from None
    if not math.isfinite(number):
        raise Failed(BROKEN, None)
    return Fraction(number)


def _is_answered(outcome: Outcome, stored: Stored, scope: Scope) -> bool:
    """Return whether every reply that the truth used arrived.

    A verdict need not have used all that it names, but a skip has used those of `skipped`.
    """
    if outcome.state in (VALID, BROKEN):
        skipped = stored["truth"]["grade"]["skipped"] if outcome.verdict is Verdict.SKIPPED else ()
        return all(_came(scope.get(name)) for name in _named(skipped))
    return all(_came(scope.get(name)) for name in _named(stored["truth"]))


def _named(part: Any) -> Iterator[str]:
    """Yield the replies that stored code within a truth names."""
    if isinstance(part, Mapping):
        yield from part.get("replies", ()) if isinstance(part.get("replies"), list) else ()
        for inner in part.values():
            yield from _named(inner)
    elif isinstance(part, list):
        for inner in part:
            yield from _named(inner)


KINDS: dict[str, Callable[[Stored, Scope, Stored], Outcome]] = {
    "grade": _grade,
    "decisions": _decisions,
    "ranking": _ranking,
}
