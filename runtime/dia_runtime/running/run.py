"""Asks respondents the questions of a bundle, and keeps every reply."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, closing, nullcontext
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from dia_language.diagnostics import DiaError, Diagnostic, visible
from dia_runtime.bundle.open import Bundle, open_bundle
from dia_runtime.bundle.session_records import session_use
from dia_runtime.formats import FORMATS
from dia_runtime.grading.grader import grade
from dia_runtime.grading.verdicts import Verdict
from dia_runtime.respondents import RESPONDENTS, require_known
from dia_runtime.respondents.asker import AsyncRespondent, BlockingAdapter, Interrupted, NeedsAnswers
from dia_runtime.respondents.budget import Budget
from dia_runtime.respondents.cache import ReplyCache
from dia_runtime.respondents.models import ModelOptions, create_respondents, is_known
from dia_runtime.respondents.respondent import Respondent, Truth
from dia_runtime.respondents.roles import create_players, require_roles
from dia_runtime.running.claims import Claims
from dia_runtime.running.jobs import Workload
from dia_runtime.running.load_questions import load_questions
from dia_runtime.running.scheduler import ChooserFactory, RespondentState, Scheduler
from dia_runtime.running.sessions import CodeEvaluator
from dia_runtime.running.writers import StoreThread
from dia_runtime.store.store import Store, open_store


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a respondent is, counting only what is on the disk."""

    respondent: str
    done: int
    total: int
    errors: int
    cost: str | None = None
    elsewhere: int = 0


@dataclass(frozen=True, slots=True)
class RespondentSummary:
    """What a run did for a respondent: replies asked for now, kept from before, errors left, questions left open.

    Open is what a person has still to reply to. `ended` says why the respondent was not asked everything, and
    `is_refused` whether it was the provider that ended it. Requests, tokens and cost are those of this call; None where
    the provider does not tell them. `left_out` says why questions could not be asked, and how many.
    """

    respondent: str
    asked: int
    kept: int
    errors: int
    ended: str | None = None
    open: int = 0
    is_refused: bool = False
    requests: int = 0
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost: str | None = None
    left_out: Mapping[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class RunOptions:
    """On which terms models are asked: how they are asked, how many at once, how often again, and what may be spent.

    `cache` is the file of replies of earlier runs; `part` (2, 5) asks the second, seventh, twelfth ... question.
    `roles` says who takes part in sessions beside the respondent ({"judge": NAME}, or "none"), `role_urls` where they
    are asked if not where the respondents are. `choosers` makes for a respondent of the run what chooses its questions
    by its replies; without it all are asked.
    """

    wish: ModelOptions = field(default_factory=ModelOptions)
    concurrency: int = 16
    retries: int = 6
    budget: Budget = field(default_factory=Budget)
    cache: Path | None = None
    part: tuple[int, int] = (1, 1)
    roles: Mapping[str, str] = field(default_factory=dict)
    role_urls: Mapping[str, str] = field(default_factory=dict)
    choosers: ChooserFactory | None = None


@dataclass(frozen=True, slots=True)
class RunSummary:
    """Where the run lies, of which bundle it is, and what it did."""

    path: Path
    bundle_id: str
    questions_root: str
    questions: int
    attempts: int
    respondents: tuple[RespondentSummary, ...]

    @property
    def has_errors(self) -> bool:
        """Whether any question is still without a reply."""
        return any(entry.errors or entry.ended or entry.open for entry in self.respondents)

    @property
    def is_refused(self) -> bool:
        """Whether a provider, or the way to it, ended the asking of any respondent."""
        return any(entry.is_refused for entry in self.respondents)


def run(
    bundle: str | os.PathLike[str] | Bundle,
    models: str | Sequence[str | Respondent | AsyncRespondent],
    out: str | os.PathLike[str],
    limit: int | None = None,
    attempts: int = 1,
    on_progress: Callable[[Progress], None] | None = None,
    terms: RunOptions | None = None,
) -> RunSummary:
    """What was asked of each model: the questions (or the first `limit`), `attempts` times each.

    A model is a baseline, a name such as `openai/gpt-4o-mini`, or a respondent of one's own. Replies that the run
    holds are kept, errors are asked again: the same call takes up an interrupted run. Raises DiaError: exit 2 for
    arguments that fit nothing, exit 3 for a damaged bundle or other questions.
    """
    opened = bundle if isinstance(bundle, Bundle) else open_bundle(bundle)
    wanted = [models] if isinstance(models, str) else _unique(models)
    held = terms or RunOptions()
    wish = replace(held.wish, bundle=opened, read=lambda name: b"".join(opened.pieces(name)))
    _require_possible(opened, wanted, limit, attempts, wish)
    parts = session_use(opened)
    require_roles(parts, held.roles, held.role_urls)
    part, of = held.part
    askers = [asker for model in wanted for asker in _askers(model, wish)]
    if not parts.has_others:
        _require_conversation_partners(wanted, askers)
    cast = create_players(held.roles, held.role_urls, wish)
    knowing = _knowing(opened, askers)
    path = Path(out)
    with open_store(path, opened.questions_root) as store:
        size = load_questions(store, opened)
        extent = Workload(size if limit is None else min(limit, size), attempts, part - 1, of)
        truth = _truth(store, str(opened.manifest["seed"]))
        for asker in knowing:
            asker.know(truth)
        claims = Claims(store)
        with (
            nullcontext() if held.cache is None else closing(ReplyCache(held.cache)) as cache,
            closing(StoreThread(path, opened.questions_root)) as keeper,
            closing(CodeEvaluator()) as mind,
        ):
            asking = Scheduler(
                store, opened, claims, extent, held.concurrency, held.retries, held.budget, keeper, cache
            )
            asking.on_progress, asking.cast, asking.mind = _telling(on_progress), cast, mind
            asking.choosers = held.choosers
            at_once = [_at_once(model, truth) for model in wanted]
            tallies = _waited_for(asking, [blocking for blocking in at_once if blocking is not None], askers)
    return RunSummary(
        path, opened.id, opened.questions_root, len(extent.positions), attempts, _in_order(wanted, tallies)
    )


def _unique(models: Sequence[str | Respondent | AsyncRespondent]) -> list[str | Respondent | AsyncRespondent]:
    """The models without names that come again."""
    return [model for at, model in enumerate(models) if not isinstance(model, str) or model not in models[:at]]


def _at_once(model: str | Respondent | AsyncRespondent, truth: Truth) -> BlockingAdapter | None:
    """A respondent that answers without waiting; None for one that is asked over a network."""
    if isinstance(model, str):
        return BlockingAdapter(RESPONDENTS[model](truth)) if model in RESPONDENTS else None
    return None if hasattr(model, "ask") else BlockingAdapter(model)


def _askers(model: str | Respondent | AsyncRespondent, wish: ModelOptions) -> list[AsyncRespondent]:
    """Whom to ask over a network; nobody where the model is a baseline."""
    if not isinstance(model, str):
        return [model] if hasattr(model, "ask") else []  # type: ignore[list-item]
    return [] if model in RESPONDENTS else create_respondents(model, wish)


def _require_conversation_partners(
    models: Sequence[str | Respondent | AsyncRespondent], askers: Sequence[AsyncRespondent]
) -> None:
    """Nothing, when all can take part in conversations; else DiaError (exit 2)."""
    named = [RESPONDENTS.get(model) if isinstance(model, str) else model for model in models]
    for one in [*named, *askers]:
        if (why := getattr(one, "speechless", None)) is not None:
            raise DiaError(Diagnostic("E847", visible(why), None, "ask a model, a program, or says:TEXT"))


def _knowing(bundle: Bundle, askers: Sequence[AsyncRespondent]) -> list[NeedsAnswers]:
    """Those that need the answers. Raises DiaError (exit 2) where there are none."""
    for asker in askers:
        if isinstance(asker, NeedsAnswers):
            _require_answers(bundle, asker.name)
    return [asker for asker in askers if isinstance(asker, NeedsAnswers)]


def _waited_for(
    asking: Scheduler, blocking: Sequence[BlockingAdapter], askers: Sequence[AsyncRespondent]
) -> list[RespondentState]:
    """What became of all questions: those that block are asked one after the other, then the others at once."""

    async def all() -> list[RespondentState]:
        unbounded = asking if asking.cast else replace(asking, budget=Budget(), paces={})
        async with AsyncExitStack() as stack:
            for one in asking.cast.values():
                if one is not None:
                    stack.push_async_callback(one.close)
            stack.callback(asking.mind.close)  # before threads are waited for that wait for it
            done = [tally for one in blocking for tally in await unbounded.all([one])]
            return done + (await asking.all(askers) if askers else [])

    asking.claims.enter()
    try:
        return asyncio.run(all())
    except Interrupted:
        raise KeyboardInterrupt from None
    finally:
        asking.claims.leave()


def _in_order(
    models: Sequence[str | Respondent | AsyncRespondent], tallies: Iterable[RespondentState]
) -> tuple[RespondentSummary, ...]:
    """What was asked, in the order in which the models were named."""
    place = {model if isinstance(model, str) else model.name: at for at, model in reversed(list(enumerate(models)))}
    done = sorted(tallies, key=lambda tally: place.get(tally.asker.name, place.get(tally.asker.model, len(place))))
    return tuple(map(_summary, done))


def _telling(on_progress: Callable[[Progress], None] | None) -> Callable[[RespondentState], None] | None:
    if on_progress is None:
        return None

    def tell(tally: RespondentState) -> None:
        done = tally.kept + tally.asked - tally.failed
        on_progress(Progress(tally.asker.name, done, tally.total, tally.failed, _cost_text(tally), tally.elsewhere))

    return tell


def _summary(tally: RespondentState) -> RespondentSummary:
    return RespondentSummary(
        tally.name,
        tally.asked,
        tally.kept,
        tally.failed,
        tally.ended,
        tally.open,
        tally.is_refused,
        tally.requests,
        tally.prompt_tokens,
        tally.completion_tokens,
        _cost_text(tally),
        dict(tally.left_out),
    )


def _cost_text(tally: RespondentState) -> str | None:
    return None if tally.cost is None else f"{tally.cost.normalize():f}"


def _require_possible(
    bundle: Bundle,
    models: Sequence[str | Respondent | AsyncRespondent],
    limit: int | None,
    attempts: int,
    wish: ModelOptions,
) -> None:
    if attempts < 1 or (limit is not None and limit < 1):
        raise DiaError(Diagnostic("E807", "`attempts` and `limit` count from 1"))
    for model in models:
        if isinstance(model, str) and not is_known(model, wish):
            require_known(model)
            _require_answers(bundle, model)


def _require_answers(bundle: Bundle, model: str) -> None:
    if not bundle.has_answers:
        message = visible(f"`{model}` needs the answers, and `{bundle.path}` holds none")
        raise DiaError(Diagnostic("E808", message, None, "unseal the bundle, or ask a model"))


def _truth(store: Store, seed: str) -> Truth:
    """What the baselines may know, read from the run itself."""

    def record(question: str) -> Mapping[str, Any]:
        held = store.grading(question)
        if held is None:
            message = f"`{store.path}` holds no answers: it was begun with a bundle that has none"
            raise DiaError(Diagnostic("E808", message))
        return held

    def is_wrong(held: Mapping[str, Any], reply: str, format: Mapping[str, Any]) -> bool:
        return grade(held, reply, format).verdict is Verdict.WRONG

    # Questions come item by item, so a few items are enough to keep.
    return Truth(seed, record, lru_cache(maxsize=4)(store.texts), wrap_answer, is_wrong)


def wrap_answer(text: str, format: Mapping[str, Any]) -> str:
    """The text put in an answer format, as a reply of the asked form."""
    kind = str(format.get("kind"))
    if kind not in FORMATS:
        raise DiaError(Diagnostic("E821", visible(f"no answer format is called `{kind}`")))
    return FORMATS[kind].wrap(text, format)
