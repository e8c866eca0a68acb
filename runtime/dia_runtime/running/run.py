"""Ask respondents the questions of a bundle, and store every reply."""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, closing, nullcontext
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from dia_language.diagnostics import DiaError, Diagnostic, names_help, visible
from dia_runtime.bundle.open import Bundle, open_bundle
from dia_runtime.bundle.session_records import session_use
from dia_runtime.formats import FORMATS
from dia_runtime.grading.flags import REPLY_FLAGS
from dia_runtime.grading.grader import grade
from dia_runtime.grading.verdicts import Verdict
from dia_runtime.respondents.budget import Budget
from dia_runtime.respondents.cache import ReplyCache
from dia_runtime.respondents.rate_limit import DEFAULT_PATIENCE
from dia_runtime.respondents.registry import (
    BASELINES,
    ModelOptions,
    create_respondents,
    require_known,
    require_tools_possible,
)
from dia_runtime.respondents.respondent import (
    AsyncRespondent,
    BlockingAdapter,
    Interrupted,
    NeedsAnswers,
    Respondent,
    Truth,
)
from dia_runtime.respondents.roles import create_players, require_roles
from dia_runtime.running.claims import Claims
from dia_runtime.running.jobs import Workload
from dia_runtime.running.load_questions import load_questions
from dia_runtime.running.scheduler import ChooserFactory, RespondentState, Scheduler
from dia_runtime.running.sessions import CodeEvaluator
from dia_runtime.running.writers import StoreThread
from dia_runtime.store.error_causes import Cause, causes_of
from dia_runtime.store.store import Store, open_store
from dia_runtime.store.tool_transcripts import split_tools


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a respondent; only replies on disk are counted.

    `elsewhere` counts questions that another process is asking; `pause` is the number of seconds for which a rate limit
    allows no request. `number` is the respondent's id in the run. `is_limited` says whether the provider has refused
    requests because of a rate limit since the last reply.
    """

    respondent: str
    done: int
    total: int
    errors: int
    cost: str | None = None
    elsewhere: int = 0
    pause: float = 0.0
    number: int | None = field(default=None, compare=False)
    is_limited: bool = False


@dataclass(frozen=True, slots=True)
class RespondentSummary:
    """What a run did for a respondent: new replies, earlier replies, errors, and questions that are still open.

    Open questions wait for a person's reply. `ended` says why dia stopped asking early, and `is_refused` whether this
    was because of the provider. Requests, tokens and cost are those of this call; None if the provider does not report
    them. `left_out` maps reasons why questions could not be asked to the number of questions, `flags` the
    flags of new replies that are no full answers to their number, and `causes` says why new replies are errors.
    `request_changes` maps what a client library changed in requests to the number of replies, and `with_tool_calls` is
    the number of new replies before which tools were called; None if the respondent has no tools. `model_versions` maps
    the models that the provider says it asked to the numbers of new replies.
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
    flags: Mapping[str, int] = field(default_factory=dict)
    causes: Sequence[Cause] = ()
    request_changes: Mapping[str, int] = field(default_factory=dict)
    reasoning_tokens: int | None = None
    with_tool_calls: int | None = None
    model_versions: Mapping[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class RunOptions:
    """How models are asked: settings, number of parallel requests, retries and budget.

    `cache` is the file of replies of earlier runs; `part` (2, 5) asks the second, seventh, twelfth ... question.
    `roles` names the models of the other roles in sessions ({"judge": NAME}, or "none"), and `role_urls` their
    endpoints if they differ from that of the respondents. `choosers` creates, for a respondent, an object that chooses
    the next question from its replies so far; without it, all questions are asked. `on_left_out` receives a respondent
    with the numbers of questions that cannot be asked, by reason, before its first request. `on_retry` receives a
    respondent that has not replied yet, with the reason why dia asks it again. `patience` is the longest time in
    seconds to wait for a model that refuses every request because of a rate limit.
    """

    model_options: ModelOptions = field(default_factory=ModelOptions)
    concurrency: int = 16
    retries: int = 6
    budget: Budget = field(default_factory=Budget)
    cache: Path | None = None
    part: tuple[int, int] = (1, 1)
    roles: Mapping[str, str] = field(default_factory=dict)
    role_urls: Mapping[str, str] = field(default_factory=dict)
    choosers: ChooserFactory | None = None
    on_left_out: Callable[[str, Mapping[str, int]], None] | None = None
    on_retry: Callable[[str, str], None] | None = None
    patience: float = DEFAULT_PATIENCE


@dataclass(frozen=True, slots=True)
class RunSummary:
    """The path of the run, its bundle, and what it did for each respondent."""

    path: Path
    bundle_id: str
    questions_root: str
    questions: int
    attempts: int
    respondents: tuple[RespondentSummary, ...]

    @property
    def has_errors(self) -> bool:
        """Return whether any question still has no reply."""
        return any(entry.errors or entry.ended or entry.open for entry in self.respondents)

    @property
    def is_refused(self) -> bool:
        """Return whether dia stopped asking a respondent because of its provider or the network."""
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
    """Ask each model the questions (or the first `limit`), `attempts` times each, and return a summary.

    A model is a baseline, a name such as `openai/gpt-4o-mini`, or your own respondent. Replies that the run already
    has are kept, and errors are asked again, so repeating the call continues an interrupted run. `terms` has the
    options of `dia run`. Raises DiaError: exit code 2 for invalid arguments, 3 for a damaged bundle or a run of other
    questions.
    """
    opened = bundle if isinstance(bundle, Bundle) else open_bundle(bundle)
    unique_models = [models] if isinstance(models, str) else _unique(models)
    options = terms or RunOptions()
    model_options = replace(options.model_options, bundle=opened, read=lambda name: b"".join(opened.pieces(name)))
    _require_possible(opened, unique_models, limit, attempts, model_options)
    parts = session_use(opened)
    require_roles(parts, options.roles, options.role_urls)
    part, of = options.part
    respondents = [respondent for model in unique_models for respondent in _askers(model, model_options)]
    if not parts.has_others:
        _require_conversation_partners(unique_models, respondents)
    players = create_players(options.roles, options.role_urls, model_options)
    knowing = _knowing(opened, respondents)
    path = Path(out)
    with open_store(path, opened.questions_root) as store:
        size = load_questions(store, opened)
        extent = Workload(size if limit is None else min(limit, size), attempts, part - 1, of)
        truth = _truth(store, str(opened.manifest["seed"]))
        for respondent in knowing:
            respondent.know(truth)
        claims = Claims(store)
        with (
            nullcontext() if options.cache is None else closing(ReplyCache(options.cache)) as cache,
            closing(StoreThread(path, opened.questions_root)) as store_thread,
            closing(CodeEvaluator()) as evaluator,
        ):
            scheduler = Scheduler(
                store, opened, claims, extent, options.concurrency, options.retries, options.budget, store_thread, cache
            )
            scheduler.on_progress, scheduler.players, scheduler.evaluator = _telling(on_progress), players, evaluator
            scheduler.choosers, scheduler.on_left_out = options.choosers, options.on_left_out
            scheduler.on_retry, scheduler.patience = options.on_retry, options.patience
            at_once = [_at_once(model, truth) for model in unique_models]
            states = _waited_for(scheduler, [blocking for blocking in at_once if blocking is not None], respondents)
    return RunSummary(
        path, opened.id, opened.questions_root, len(extent.positions), attempts, _in_order(unique_models, states)
    )


def _unique(models: Sequence[str | Respondent | AsyncRespondent]) -> list[str | Respondent | AsyncRespondent]:
    """Return the models without duplicates."""
    return [model for at, model in enumerate(models) if not isinstance(model, str) or model not in models[:at]]


def _at_once(model: str | Respondent | AsyncRespondent, truth: Truth) -> BlockingAdapter | None:
    """Return a respondent that answers at once; None for one that is asked over a network."""
    if isinstance(model, str):
        return BlockingAdapter(BASELINES[model](truth)) if model in BASELINES else None
    return None if hasattr(model, "ask") else BlockingAdapter(model)


def _askers(model: str | Respondent | AsyncRespondent, model_options: ModelOptions) -> list[AsyncRespondent]:
    """Return the respondents that are asked over a network; none for a baseline."""
    if not isinstance(model, str):
        return [model] if hasattr(model, "ask") else []  # type: ignore[list-item]
    return [] if model in BASELINES else create_respondents(model, model_options)


def _require_conversation_partners(
    models: Sequence[str | Respondent | AsyncRespondent], respondents: Sequence[AsyncRespondent]
) -> None:
    """Check that all models can take part in conversations. Raises DiaError (exit 2) otherwise."""
    named = [BASELINES.get(model) if isinstance(model, str) else model for model in models]
    for one in [*named, *respondents]:
        if (why := getattr(one, "no_sessions_reason", None)) is not None:
            message = visible(f"`{getattr(one, 'name', 'the model')}` cannot take part in sessions: {why}")
            raise DiaError(Diagnostic("E847", message, None, "ask a model, a program (`command:`), or says:TEXT"))


def _knowing(bundle: Bundle, respondents: Sequence[AsyncRespondent]) -> list[NeedsAnswers]:
    """Return the respondents that need the answers. Raises DiaError (exit 2) if the bundle has no answers."""
    for respondent in respondents:
        if isinstance(respondent, NeedsAnswers):
            _require_answers(bundle, respondent.name)
    return [respondent for respondent in respondents if isinstance(respondent, NeedsAnswers)]


def _waited_for(
    scheduler: Scheduler, blocking: Sequence[BlockingAdapter], respondents: Sequence[AsyncRespondent]
) -> list[RespondentState]:
    """Ask all respondents: blocking ones first, one after the other, then the others in parallel."""

    async def all() -> list[RespondentState]:
        unbounded = (
            scheduler if scheduler.players else replace(scheduler, budget=Budget(), rate_limiters={}, parallel={})
        )
        async with AsyncExitStack() as stack:
            for one in scheduler.players.values():
                if one is not None:
                    stack.push_async_callback(one.close)
            stack.callback(scheduler.evaluator.close)  # before threads are waited for that wait for it
            done = [state for one in blocking for state in await unbounded.run([one])]
            return done + (await scheduler.run(respondents) if respondents else [])

    scheduler.claims.register()
    try:
        return asyncio.run(all())
    except Interrupted:
        raise KeyboardInterrupt from None
    finally:
        scheduler.claims.unregister()


def _in_order(
    models: Sequence[str | Respondent | AsyncRespondent], states: Iterable[RespondentState]
) -> tuple[RespondentSummary, ...]:
    """Return the summary, in the order in which the models were named."""
    place = {model if isinstance(model, str) else model.name: at for at, model in reversed(list(enumerate(models)))}
    done = sorted(
        states, key=lambda tally: place.get(tally.respondent.name, place.get(tally.respondent.model, len(place)))
    )
    return tuple(map(_summary, done))


def _telling(on_progress: Callable[[Progress], None] | None) -> Callable[[RespondentState], None] | None:
    if on_progress is None:
        return None

    def tell(state: RespondentState) -> None:
        done = state.earlier_replies + state.new_replies - state.failed
        on_progress(
            Progress(
                state.respondent.name,
                done,
                state.total,
                state.failed,
                _cost_text(state),
                state.elsewhere,
                state.pause,
                state.number,
                state.is_limited,
            )
        )

    return tell


def _summary(state: RespondentState) -> RespondentSummary:
    return RespondentSummary(
        state.name,
        state.new_replies,
        state.earlier_replies,
        state.failed,
        state.ended,
        state.open,
        state.is_refused,
        state.requests,
        state.prompt_tokens,
        state.completion_tokens,
        _cost_text(state),
        dict(state.left_out),
        {name: state.flags[name] for name in REPLY_FLAGS if state.flags[name]},
        state.causes.causes(),
        dict(state.request_changes.most_common()),
        state.reasoning_tokens,
        state.with_tool_calls if split_tools(state.name)[1] else None,
        dict(state.model_versions.most_common()),
    )


def combined_summary(summaries: Sequence[RespondentSummary]) -> RespondentSummary:
    """Return what several runs of one respondent did together."""
    counts: dict[str, Counter[str]] = {name: Counter() for name in ("flags", "request_changes", "model_versions")}
    causes = [(cause["example"], cause["replies"]) for entry in summaries for cause in entry.causes]
    for name, counter in counts.items():
        for entry in summaries:
            counter.update(getattr(entry, name))
    calls = [entry.with_tool_calls for entry in summaries if entry.with_tool_calls is not None]
    return replace(
        summaries[-1],
        asked=sum(entry.asked for entry in summaries),
        errors=sum(entry.errors for entry in summaries),
        requests=sum(entry.requests for entry in summaries),
        flags={name: counts["flags"][name] for name in REPLY_FLAGS if counts["flags"][name]},
        request_changes=dict(counts["request_changes"]),
        model_versions=dict(counts["model_versions"].most_common()),
        causes=causes_of(causes),
        with_tool_calls=sum(calls) if calls else None,
    )


def _cost_text(state: RespondentState) -> str | None:
    return None if state.cost is None else f"{state.cost.normalize():f}"


def _require_possible(
    bundle: Bundle,
    models: Sequence[str | Respondent | AsyncRespondent],
    limit: int | None,
    attempts: int,
    model_options: ModelOptions,
) -> None:
    for name, number in (("attempts", attempts), ("limit", limit)):
        if number is not None and number < 1:
            help = "leave it out to ask " + ("each question once" if name == "attempts" else "all questions")
            raise DiaError(Diagnostic("E807", f"`{name}` must be at least 1, not {number}", None, help))
    for model in models:
        if isinstance(model, str):
            require_known(model, model_options)
            require_tools_possible(model, model_options)
            if model in BASELINES:
                _require_answers(bundle, model)


def _require_answers(bundle: Bundle, model: str) -> None:
    if not bundle.has_answers:
        message = visible(f"`{model}` needs the answers, but `{bundle.path}` has none")
        raise DiaError(Diagnostic("E808", message, None, "unseal the bundle first, or ask a model"))


def _truth(store: Store, seed: str) -> Truth:
    """Return the answers that baselines use, as stored in the run."""

    def record(question: str) -> Mapping[str, Any]:
        grading = store.grading(question)
        if grading is None:
            message = visible(f"`{store.path}` has no answers, because it was started with a bundle without answers")
            raise DiaError(Diagnostic("E808", message, None, "start another run with `--out`"))
        return grading

    def is_wrong(grading: Mapping[str, Any], reply: str, format: Mapping[str, Any]) -> bool:
        return grade(grading, reply, format).verdict is Verdict.WRONG

    # Questions come item by item, so a few items are enough to keep.
    return Truth(seed, record, lru_cache(maxsize=4)(store.texts), wrap_answer, is_wrong)


def wrap_answer(text: str, format: Mapping[str, Any]) -> str:
    """Return a reply in the answer format with the text as its answer."""
    kind = str(format.get("kind"))
    if kind not in FORMATS:
        raise DiaError(Diagnostic("E821", visible(f"unknown answer format `{kind}`"), None, names_help(kind, FORMATS)))
    return FORMATS[kind].wrap(text, format)
