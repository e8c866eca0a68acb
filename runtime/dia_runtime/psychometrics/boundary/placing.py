"""Place models on a bank: by asking them the questions of a bundle, or from an existing run."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from dia_language.diagnostics import DiaError, Diagnostic, visible
from dia_runtime.bundle.open import Bundle, open_bundle
from dia_runtime.grading.judge import Judge, Rules
from dia_runtime.grading.verdicts import Verdict
from dia_runtime.psychometrics.boundary.placement import (
    GOING,
    BankUncertainty,
    EstimationMethod,
    Placement,
    StoppingRule,
)
from dia_runtime.psychometrics.boundary.selection import SelectionRule
from dia_runtime.psychometrics.rasch.bank import Bank, require_questions
from dia_runtime.respondents.respondent import Reply
from dia_runtime.running.run import Progress, RunOptions, RunSummary, run
from dia_runtime.store.answer_source import open_source
from dia_runtime.store.schema import StoredQuestion, StoredReply
from dia_runtime.store.store import Store, bundle_facts, read_store

USABLE = ("estimated", "anchor")
ENOUGH = 2  # fewer items say nothing


@dataclass(frozen=True, slots=True)
class PlacementOptions:
    """When a placement ends, how abilities are estimated and items chosen, and which chain reads replies."""

    stopping: StoppingRule = StoppingRule()  # noqa: RUF009 - it is frozen
    method: EstimationMethod = EstimationMethod()  # noqa: RUF009 - it is frozen
    rule: SelectionRule = SelectionRule()  # noqa: RUF009 - it is frozen
    chain: str = "standard"


@dataclass(frozen=True, slots=True)
class PlacementStep:
    """An item that was asked: its result, and the ability and its error after it."""

    item: str
    difficulty: float
    successes: int
    trials: int
    ability: float
    se: float


@dataclass(frozen=True, slots=True)
class PlacementResult:
    """The ability of a model, the items that were asked, and why no more were asked.

    `ending` is se, budget, exhausted or going (some questions have no reply yet); `lost` counts items without any
    reply.
    """

    model: str
    ability: float
    se: float
    ending: str
    is_outside: bool
    steps: tuple[PlacementStep, ...]
    lost: int = 0


class ItemQuestions:
    """A placement with the questions of a run, each of which belongs to an item of the bank."""

    def __init__(self, bank: Bank, questions: Iterable[StoredQuestion], options: PlacementOptions) -> None:
        """Raises DiaError (exit 2) if the run has no questions of the bank's items."""
        usable = {entry.item: entry.difficulty for entry in bank.items if entry.status in USABLE}
        questions_by_item: dict[str, list[StoredQuestion]] = defaultdict(list)
        for question in questions:
            if question.variant is None and (name := _item_of(question, usable)) is not None:
                questions_by_item[name].append(question)
        self.names = [name for name in usable if questions_by_item[name]]
        if len(self.names) < ENOUGH:
            message = (
                f"only {len(self.names)} of the bank's {len(usable)} items are among the questions; "
                f"at least {ENOUGH} are needed"
            )
            help = "name the bundle or run with the questions on which the bank was calibrated"
            raise DiaError(Diagnostic("E896", message, None, help))
        trials = options.stopping.trials
        self.positions = [[question.position for question in questions_by_item[name][:trials]] for name in self.names]
        self.place = {position: at for at, positions in enumerate(self.positions) for position in positions}
        self.difficulties = [usable[name] for name in self.names]
        categories = [str(questions_by_item[name][0].category) for name in self.names]
        self.placement = Placement(
            self.difficulties,
            options.stopping,
            options.method,
            options.rule,
            categories,
            bank_uncertainty(bank, self.names),
        )
        self.waiting: deque[int] = deque()
        self.verdicts: dict[int, list[bool]] = defaultdict(list)
        self.reply_counts: dict[int, int] = defaultdict(int)
        self.steps: list[PlacementStep] = []
        self.lost = 0

    def next(self) -> int | None:
        """Return the position of the next question; None if no question is to be asked now."""
        if self.waiting:
            return self.waiting.popleft()
        item = self.placement.next()
        if item is None:
            return None
        position, *more = self.positions[item]
        self.waiting.extend(more)
        return position

    def resume(self, successes: Mapping[int, bool | None]) -> None:
        """Use existing replies: position -> whether it is correct, or None for a reply without an answer."""
        for item, positions in enumerate(self.positions):
            answered = [position for position in positions if position in successes]
            if answered:
                self.placement.begin(item)
                self.waiting.extend(position for position in positions if position not in successes)
                for position in answered:
                    self.record(position, successes[position])

    def record(self, position: int, is_right: bool | None) -> None:
        """Record the result of a question. An item counts when all of its questions have been asked."""
        item = self.place[position]
        self.reply_counts[item] += 1
        if is_right is not None:
            self.verdicts[item].append(is_right)
        if self.reply_counts[item] < len(self.positions[item]):
            return
        verdicts = self.verdicts[item]
        if not verdicts:
            self.lost += 1
            self.placement.drop(item)
            return
        estimate = self.placement.add(item, sum(verdicts), len(verdicts))
        self.steps.append(
            PlacementStep(
                self.names[item], self.difficulties[item], sum(verdicts), len(verdicts), estimate.value, estimate.se
            )
        )

    def placed(self, model: str) -> PlacementResult:
        """Return the current placement of the model."""
        estimate = self.placement.estimate
        ending = self.placement.ending or GOING
        return PlacementResult(
            model, estimate.value, estimate.se, ending, self.placement.is_outside, tuple(self.steps), self.lost
        )


def bank_uncertainty(bank: Bank, names: Sequence[str]) -> BankUncertainty:
    """Return the uncertainty of the bank for these items; their families are templates, if all have one."""
    entries = {entry.item: entry for entry in bank.items}
    errors = np.array([entries[name].se or 0.0 for name in names])
    templates = [entries[name].template for name in names]
    families = [str(template) for template in templates]
    if None in templates or len(set(families)) == len(families):
        return BankUncertainty(errors)
    return BankUncertainty(errors, families, bank.family_sd or 0.0)


def _item_of(question: StoredQuestion, difficulties: Mapping[str, float]) -> str | None:
    """Return the bank's item that the question belongs to: itself, its item, its template or its benchmark."""
    names = (question.id, question.item, question.template, question.id.partition("/")[0])
    return next((name for name in names if name in difficulties), None)


class _LivePlacement:
    """Chooses the questions of a respondent by a placement, and grades each reply on arrival."""

    def __init__(self, course: ItemQuestions, store: Store, respondent: int, chain: str) -> None:
        self.course, self.respondent = course, respondent
        self.judge = Judge(store, Rules(chain))
        self.questions = {
            question.position: question for question in store.questions() if question.position in course.place
        }
        successes = {entry.question.position: is_right(entry.mark.verdict) for entry in self.judge.judged(respondent)}
        course.resume(
            {at: is_success for at, is_success in successes.items() if at in course.place and is_success is not None}
        )

    def choose(self) -> int | None:
        """Return the position of the next question."""
        return self.course.next()

    def finished(self, position: int, reply: Reply | None) -> None:
        """Grade the reply."""
        if reply is None or reply.error is not None:
            self.course.record(position, None)
            return
        stored = StoredReply(reply.text, None, reply.finish_reason)
        judged = self.judge.judged_one(self.questions[position], stored)
        self.course.record(position, is_right(judged.mark.verdict))


def is_right(verdict: str) -> bool | None:
    """Return whether a verdict is a success; an error is neither."""
    return None if verdict is Verdict.ERROR else verdict is Verdict.CORRECT


def place(
    bank: Bank,
    bundle: Path | Bundle,
    model: str,
    out: Path,
    options: PlacementOptions = PlacementOptions(),
    terms: RunOptions | None = None,
    on_step: Callable[[PlacementResult, Progress], None] | None = None,
) -> tuple[list[PlacementResult], RunSummary]:
    """Place the respondents of the model with as few questions of the bundle as the goal needs.

    All replies are stored in the run `out`; the same call resumes an interrupted placement. `on_step` receives the
    placement of a respondent and the progress of asking, at every reply and every second. Raises DiaError: exit 2 for a
    bundle without the bank's questions or answers, and all errors that `run` raises.
    """
    opened = bundle if isinstance(bundle, Bundle) else open_bundle(bundle)
    if not opened.has_answers:
        message = visible(f"`{opened.path}` has no answers, which are needed to choose the next question")
        raise DiaError(Diagnostic("E808", message, None, "unseal the bundle first"))
    require_questions(bank, str(opened.manifest["benchmark"]), opened.questions_root)
    placements: dict[int, _LivePlacement] = {}

    def chooser(store: Store, respondent: int) -> _LivePlacement:
        placements[respondent] = _LivePlacement(
            ItemQuestions(bank, store.questions(), options), store, respondent, options.chain
        )
        return placements[respondent]

    def tell(step: Progress) -> None:
        live = None if step.number is None else placements.get(step.number)
        if on_step is not None and live is not None:
            on_step(live.course.placed(step.respondent), step)

    try:
        summary = run(opened, [model], out, on_progress=tell, terms=replace(terms or RunOptions(), choosers=chooser))
        with read_store(out) as store:
            names = {entry.id: entry.name for entry in store.respondents()}
        return [live.course.placed(names[respondent]) for respondent, live in placements.items()], summary
    finally:
        for live in placements.values():
            live.judge.close()


def place_recorded(
    bank: Bank,
    runs: Sequence[Path],
    models: Sequence[str] = (),
    options: PlacementOptions = PlacementOptions(),
    bundle: Path | None = None,
) -> Iterator[PlacementResult]:
    """Place the respondents of runs, with their replies in the order in which they would have been requested.

    Raises DiaError (exit 2) for a run without the bank's questions, and for a model that is in no run.
    """
    names: set[str] = set()
    for path in runs:
        with (
            read_store(path) as store,
            closing(Judge(store, Rules(options.chain), open_source(bundle, [store]))) as judge,
        ):
            facts = bundle_facts(store)
            require_questions(bank, str(facts["benchmark"]), str(facts["questions_root"]))
            for respondent in store.respondents():
                if models and respondent.name not in models:
                    continue
                names.add(respondent.name)
                successes = {
                    entry.question.position: is_right(entry.mark.verdict) for entry in judge.judged(respondent.id)
                }
                questions = (question for question in store.questions() if question.position in successes)
                course = ItemQuestions(bank, questions, options)
                while (position := course.next()) is not None:
                    course.record(position, successes[position])
                yield course.placed(respondent.name)
    for name in models:
        if name not in names:
            raise DiaError(
                Diagnostic(
                    "E896",
                    visible(f"no run has replies from `{name[:80]}`"),
                    None,
                    "`dia show RUN` lists the models of a run",
                )
            )
