"""Views of questions over several respondents: agreement, failures, and lengths of replies."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from heapq import heappush, heapreplace
from itertools import combinations
from typing import TypedDict

from dia_runtime.formats.base import effective_chain
from dia_runtime.grading.judge import Judged, Rules, reading
from dia_runtime.grading.verdicts import OF_REPLIES, Verdict
from dia_runtime.scoring.align import AlignedReply, aligned_replies, respondent_names
from dia_runtime.scoring.score import Place, opened
from dia_runtime.scoring.statistics.compare import shared_skips
from dia_runtime.scoring.statistics.resample import Intervals
from dia_runtime.store.store import bundle_facts
from dia_runtime.store.transcripts import subject_characters

MOST_MODELS = 30  # respondents whose skips are compared in pairs


def question_views(
    runs: Place | Sequence[Place], chain: str = "standard", bundle: Place | None = None, limit: int = 20
) -> ViewsResult:
    """Return the views over all respondents' first replies, as `dia questions --json` prints them.

    Each view lists its first `limit` questions, but counts all.
    """
    with opened(runs, bundle) as (stores, source):
        facts, rules = bundle_facts(stores[0]), stores[0].rules(source)
        views = _Views(respondent_names(stores), limit)
        for replies in aligned_replies(stores, Rules(chain), source):
            views.add(replies)
    return {
        "questions_root": facts["questions_root"],
        "benchmark": facts["benchmark"],
        "version": facts["version"],
        "chain": effective_chain(chain, {"rules": rules}),
        **views.result(),
    }


class AgreedQuestions(TypedDict):
    """Questions that all models answered alike: their number, and the first ones."""

    count: int
    questions: list[str]


class HardQuestion(TypedDict):
    """A question that few models answer correctly."""

    question: str
    truth: str
    counts: dict[str, int]
    said: dict[str, int]


class SameWrongAnswer(TypedDict):
    """A wrong answer that several models gave."""

    question: str
    truth: str
    said: str
    models: list[str]


class SameWrongAnswers(TypedDict):
    """Questions with a shared wrong answer: their number, and the first ones."""

    count: int
    questions: list[SameWrongAnswer]


class PhiOfSkips(TypedDict):
    """How often two models skip the same questions, and the correlation of their skips."""

    models: list[str]
    both: int
    first: int
    second: int
    neither: int
    phi: float | None
    ci: list[float] | None


class ReplyLength(TypedDict):
    """Lengths of replies, in characters and in tokens."""

    n: int
    mean: float | None
    median: float | None
    mean_tokens: float | None


class ModelLengths(TypedDict):
    """Lengths of a model's replies, by verdict."""

    model: str
    by_verdict: dict[str, ReplyLength]


class Views(TypedDict):
    """The views of questions over several respondents."""

    models: list[str]
    questions: int
    unanimous: dict[str, AgreedQuestions]
    hardest: list[HardQuestion]
    same_wrong: SameWrongAnswers
    skip_agreement: list[PhiOfSkips]
    lengths: list[ModelLengths]


class ViewsResult(Views):
    """What `dia questions` prints."""

    questions_root: str
    benchmark: str
    version: str | int | None
    chain: str


class _Views:
    """The views of the questions that have been added."""

    def __init__(self, models: list[str], limit: int) -> None:
        self.models, self.limit = models, limit
        self.questions = 0
        self.unanimous: dict[str, list[str]] = {verdict: [] for verdict in OF_REPLIES}
        self.agreed: Counter[str] = Counter()
        self.hardest: list[tuple[float, int, HardQuestion]] = []
        self.same: list[SameWrongAnswer] = []
        self.same_count = 0
        self.skips: dict[str, list[list[bool | None]]] = defaultdict(list)  # item -> questions -> respondents
        self.lengths: dict[tuple[int, str], Counter[int]] = defaultdict(Counter)
        self.tokens: dict[tuple[int, str], list[int]] = defaultdict(lambda: [0, 0])

    def add(self, replies: Sequence[AlignedReply]) -> None:
        """Add one question's replies."""
        self.questions += 1
        entries = [entry.judged for entry in replies]
        verdicts = {entry.mark.verdict for entry in entries}
        if (
            len(replies) == len(self.models) > 1
            and len(verdicts) == 1
            and (verdict := verdicts.pop()) in self.unanimous
        ):
            self.agreed[verdict] += 1
            if self.agreed[verdict] <= self.limit:
                self.unanimous[verdict].append(entries[0].question.id)
        self._rank(replies)
        self._compare(replies)
        if entries[0].question.variant is None:
            self._add_skips(entries[0].question.item, replies)
        for entry in replies:
            self._measure(entry)

    def _add_skips(self, item: str, replies: Sequence[AlignedReply]) -> None:
        """Keep whether each respondent skipped the question; None without a reply."""
        has_skipped: list[bool | None] = [None] * min(len(self.models), MOST_MODELS)
        for entry in replies:
            verdict = entry.judged.mark.verdict
            if entry.respondent < MOST_MODELS and verdict is not Verdict.ERROR:
                has_skipped[entry.respondent] = verdict is Verdict.SKIPPED
        self.skips[item].append(has_skipped)

    def _rank(self, replies: Sequence[AlignedReply]) -> None:
        """Keep the questions with the smallest share of correct replies; of equals the first."""
        entries = [entry.judged for entry in replies]
        counts = Counter(entry.mark.verdict for entry in entries)
        share = counts[Verdict.CORRECT] / len(entries)
        if not self.limit or (len(self.hardest) == self.limit and -share <= self.hardest[0][0]):
            return
        question: HardQuestion = {
            "question": entries[0].question.id,
            "truth": entries[0].truth,
            "counts": {verdict: counts[verdict] for verdict in Verdict},
            "said": dict(Counter(_short_answer(entry) for entry in entries).most_common()),
        }
        push = heappush if len(self.hardest) < self.limit else heapreplace
        push(self.hardest, (-share, -self.questions, question))

    def _compare(self, replies: Sequence[AlignedReply]) -> None:
        """Keep a wrong answer that several models gave, if no model gave another wrong one."""
        wrong = [entry for entry in replies if entry.judged.mark.verdict is Verdict.WRONG and reading(entry.judged)]
        if len(wrong) < 2 or len({reading(entry.judged) for entry in wrong}) > 1:
            return
        self.same_count += 1
        if len(self.same) < self.limit:
            first = wrong[0].judged
            models = [self.models[entry.respondent] for entry in wrong]
            question = first.question.id
            self.same.append(
                {"question": question, "truth": first.truth, "said": _short_answer(first), "models": models}
            )

    def _measure(self, entry: AlignedReply) -> None:
        reply, key = entry.judged.reply, (entry.respondent, entry.judged.mark.verdict)
        if reply.text is not None:
            size = len(reply.text) if entry.judged.sessions is None else subject_characters(reply.text)
            self.lengths[key][size] += 1
            if reply.completion_tokens is not None:
                self.tokens[key][0] += reply.completion_tokens
                self.tokens[key][1] += 1

    def result(self) -> Views:
        """Return the views for printing."""
        return {
            "models": self.models,
            "questions": self.questions,
            "unanimous": {
                name: {"count": self.agreed[name], "questions": questions} for name, questions in self.unanimous.items()
            },
            "hardest": [question for _, _, question in sorted(self.hardest, key=lambda entry: (-entry[0], -entry[1]))],
            "same_wrong": {"count": self.same_count, "questions": self.same},
            "skip_agreement": list(self._skip_agreement()),
            "lengths": [
                {"model": model, "by_verdict": {verdict: self._length(at, verdict) for verdict in OF_REPLIES}}
                for at, model in enumerate(self.models)
            ],
        }

    def _skip_agreement(self) -> Iterator[PhiOfSkips]:
        """Yield phi of the skips of each pair of models that replied to the same questions."""
        for one, other in combinations(range(min(len(self.models), MOST_MODELS)), 2):
            items = (
                [
                    (first, second)
                    for first, second in ((question[one], question[other]) for question in questions)
                    if first is not None and second is not None
                ]
                for questions in self.skips.values()
            )
            skips = shared_skips(items, Intervals())
            if skips["items"]:
                yield {
                    "models": [self.models[one], self.models[other]],
                    "both": skips["both"],
                    "first": skips["first"],
                    "second": skips["second"],
                    "neither": skips["neither"],
                    "phi": skips["phi"]["value"],
                    "ci": skips["phi"]["ci"],
                }

    def _length(self, respondent: int, verdict: str) -> ReplyLength:
        lengths = self.lengths.get((respondent, verdict), Counter[int]())
        total, replies = self.tokens.get((respondent, verdict), (0, 0))
        number = lengths.total()
        mean = sum(length * times for length, times in lengths.items()) / number if number else None
        tokens = total / replies if replies else None
        return {"n": number, "mean": mean, "median": _median(lengths), "mean_tokens": tokens}


def _short_answer(entry: Judged) -> str:
    """Return the reply in short: the answer's text, or else the verdict."""
    text = entry.extracted.strip() if entry.extracted is not None else f"({entry.mark.verdict})"
    return text if len(text) <= 100 else f"{text[:100]}..."


def _median(lengths: Counter[int]) -> float | None:
    """Return the median length; of an even number, the mean of the middle two."""
    number, counted, low = lengths.total(), 0, None
    for length in sorted(lengths):
        counted += lengths[length]
        if low is None and 2 * counted >= number:
            if 2 * counted > number:
                return float(length)
            low = length
        elif low is not None:
            return (low + length) / 2
    return None
