"""Learn rules on one half of the instances of each template, and test the best of them on the other half.

The idea is that of annotation artefacts and hypothesis-only baselines (Gururangan and others 2018; Poliak and others
2018): if a model that sees only part of the input answers well, the questions contain clues to their answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from math import comb, nan
from typing import Any

from dia_compiler.probe.rules import DECIDERS, LEARNERS, MOST_COMMON, Example, Learner, Rule
from dia_compiler.probe.surface import Prompt, without_shared_ends

LEVEL = 0.05
JUDGED = 20  # rules that are tested on the second half: those that were best on the first
FIRST_LOOK = 24  # examples after which a rule that is rarely right is abandoned
FEWEST = 20  # fewer instances are too few to learn from
ALWAYS = "answerable or not: always"  # begins the rule that takes the more frequent kind of question for every one
DECIDES = "answerable or not"  # begins a rule that separates questions with an answer from those without
FLOOR = 0.25
SPARE = 0.05  # above blind guessing
UNANSWERABLE, ANSWERABLE = "unanswerable", "answerable"  # the outputs of a rule in DECIDERS


@dataclass(frozen=True)
class Shortcut:
    """The best rule of a template on the held-out instances."""

    benchmark: str
    template: str
    rule: str
    right: int
    instances: int
    rules_judged: int
    low: float
    high: float
    limit: float
    points: float | None

    @property
    def accuracy(self) -> float:
        """The share of the held-out instances that the rule answers correctly."""
        return self.right / self.instances if self.instances else nan

    @property
    def is_over(self) -> bool:
        """Whether the rule is significantly better than the limit."""
        return self.low > self.limit


def probe_questions(questions: Sequence[Mapping[str, Any]], answers: Mapping[str, Mapping[str, Any]],
                    texts: Mapping[str, str] | None = None) -> Shortcut | None:  # fmt: skip
    """Return the best shortcut of the questions of one template; None if there are too few, or no single answer.

    For a template with unanswerable questions, it is the worse of two: the best rule that decides whether a question is
    unanswerable, and the best one that gives the answers of the others. `answers` gives the record of an answer by the
    id of its question, `texts` the text of an attachment by its path.
    """
    base = [one for one in questions if one["variant"] is None and "messages" in one]
    items = {one["item"]: one for one in reversed(base)}
    if len(items) > 1:  # for data rows one instance each, so that no rule is tested on rows that it has learned
        base = list(items.values())
    if len(base) < FEWEST:
        return None
    ordered = sorted(base, key=lambda one: sha256(str(one["id"]).encode()).digest())
    examples = _examples(ordered, answers, texts or {})
    decisions = [answers[str(one["id"])].get("comparison", {}).get("unanswerable") for one in ordered]
    if None in decisions:
        return _best_shortcut(examples, base[0], LEARNERS)
    labels = [UNANSWERABLE if is_unanswerable else ANSWERABLE for is_unanswerable in decisions]
    labelled = [Example(one.prompt, label, frozenset([label])) for one, label in zip(examples, labels, strict=True)]
    deciding = _best_shortcut(labelled, base[0], DECIDERS)
    is_constant = deciding.rule.startswith(MOST_COMMON)
    rule = f"{ALWAYS} {deciding.rule.removeprefix(MOST_COMMON)}" if is_constant else f"{DECIDES}: {deciding.rule}"
    deciding = replace(deciding, rule=rule, points=None)
    answerable = [one for one, is_unanswerable in zip(examples, decisions, strict=True) if not is_unanswerable]
    if len(answerable) < FEWEST:
        return deciding
    answering = _best_shortcut(answerable, base[0], LEARNERS)
    return max(answering, deciding, key=lambda shortcut: shortcut.low - shortcut.limit)


def _best_shortcut(examples: Sequence[Example], question: Mapping[str, Any], learners: Sequence[Learner]) -> Shortcut:
    """Learn rules on the first half of the examples, and return the one that is best on the second."""
    half = len(examples) // 2
    learning, held_out = examples[:half], examples[half:]
    best = _best_rules(learning, learners)
    right, rule = max(((sum(map(one.is_right, held_out)), one) for one in best), key=lambda pair: pair[0])
    low, high = exact_interval(right, len(held_out), LEVEL / len(best))
    distinct = len({example.answer for example in examples})
    limit = max(FLOOR, 1 / distinct + SPARE)
    benchmark = str(question["id"]).split("/", 1)[0]
    points = _expected_points(question["points"], right / len(held_out))
    return Shortcut(benchmark, str(question["template"]), rule.title, right, len(held_out), len(best), low, high, limit,
                    points)  # fmt: skip


def _examples(questions: Sequence[Mapping[str, Any]], answers: Mapping[str, Mapping[str, Any]],
              texts: Mapping[str, str]) -> list[Example]:  # fmt: skip
    contents = without_shared_ends([one["messages"][-1]["content"] for one in questions])
    examples = []
    for question, content in zip(questions, contents, strict=True):
        attached = (texts.get(str(asset.get("path")), "") for asset in question["assets"])
        answer = answers[str(question["id"])]
        accepted = {answer["text"], *(item for item in answer["accept"] if isinstance(item, str))}
        prompt = Prompt("\n".join([content, *filter(None, attached)]))
        examples.append(Example(prompt, answer["text"], frozenset(accepted)))
    return examples


def _best_rules(examples: Sequence[Example], learners: Sequence[Learner]) -> list[Rule]:
    """Return the rules that answer most of the examples; if several are equally good, those with the shortest names."""
    scores: list[tuple[int, int, str, Rule]] = []
    look = examples[:FIRST_LOOK]
    for learn in learners:
        for rule in learn(examples):
            hits = sum(map(rule.is_right, look))
            if 8 * hits >= len(look) or learn is learners[0]:
                total = hits + sum(map(rule.is_right, examples[FIRST_LOOK:]))
                scores.append((-total, len(rule.name), rule.name, rule))
    return [rule for *_, rule in sorted(scores, key=lambda entry: entry[:3])[:JUDGED]]


def _expected_points(points: Mapping[str, Any], accuracy: float) -> float | None:
    try:
        correct, wrong = float(points["correct"]), float(points["wrong"])
    except (KeyError, TypeError, ValueError):
        return None
    return accuracy * correct + (1 - accuracy) * wrong


def exact_interval(right: int, number: int, level: float) -> tuple[float, float]:
    """Return the two-sided interval of a share, exact for the binomial distribution (Clopper and Pearson 1934)."""
    low = 0.0 if right == 0 else _root(lambda share: _tail(right, number, share), level / 2)
    high = 1.0 if right == number else 1 - _root(lambda share: _tail(number - right, number, share), level / 2)
    return low, high


def _tail(right: int, number: int, share: float) -> float:
    """Return the probability of at least this many correct answers."""
    return sum(comb(number, n) * share**n * (1 - share) ** (number - n) for n in range(right, number + 1))


def _root(rising: Any, value: float) -> float:
    low, high = 0.0, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if rising(middle) < value else (low, middle)
    return (low + high) / 2


def by_template(questions: Iterable[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    """Return the questions of each template, in order."""
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for question in questions:
        groups.setdefault(str(question["template"]), []).append(question)
    return groups
