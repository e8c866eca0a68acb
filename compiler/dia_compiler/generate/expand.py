"""Drawn parameters -> instances: values derived, the answer computed and checked, texts rendered, in every wording."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import chain
from sys import getsizeof
from time import perf_counter
from typing import Any, NamedTuple

from dia_compiler.analyze.choices import Lettered, lettered
from dia_compiler.analyze.domains import Scope, truth_of
from dia_compiler.analyze.items import Item
from dia_compiler.analyze.names import OPTIONS
from dia_compiler.analyze.plan import AssetCode, Prepared, Wording
from dia_compiler.analyze.settings import Settings
from dia_compiler.analyze.stored_conditions import condition_record, share_record
from dia_compiler.analyze.worker_resources import NOTHING_LENT, Means
from dia_compiler.generate.asset_builder import Artefact, Workshop
from dia_compiler.generate.draw import Drawing
from dia_compiler.parse.model import Answer
from dia_compiler.parse.model_builder import comparison_of
from dia_compiler.sampling.degrees_of_freedom import Freedom
from dia_compiler.sampling.instance_tree import ORDER, Exhausted, RecordingChoose, Stream, derived
from dia_compiler.types.choices import Rejected
from dia_language.answers import answer_type, validate
from dia_language.answers.base import AnswerType
from dia_language.diagnostics import DiaError, Diagnostic, LanguageError
from dia_language.expressions.expressions import Compiled
from dia_language.expressions.lowering import EXACT_ANSWER
from dia_language.numbers.rounding import rounding_rule
from dia_language.numbers.values import Record, Value, encode
from dia_language.templates.templates import within
from dia_language.workers.heartbeat import found, seek
from dia_runtime.grading.grader import Grader

TRIED_ITEMS = 3
REDRAWS = 1000
ALL = "all"
MOST_OF_ALL = 100_000
MOST_WAYS = 50  # of comparing that are kept, where instances differ in them
PLAIN = (str, int, Fraction, type(None))
TOGETHER = 16  # instances that are made step by step together at most
WITH_ASSETS = 8  # and where each has artefacts, which may be large
QUICK = 0.02  # seconds that a group may take so that the next one has more instances
GROWTH = 4
HELD = 8 << 20  # bytes that the values of a group take at most, as far as can be told from the group before


@dataclass(slots=True)
class Instance:
    """One instance in one wording: its item, number and position, and all that was made of it.

    Not frozen, since one is made for every question and a frozen one takes four times as long to make.
    """

    item: Item
    number: int
    position: int
    variant: str | None
    parameters: Mapping[str, Value]
    way: Way
    answer: Value
    text: str
    accept: tuple[Value, ...]
    accept_if: Mapping[str, Any] | None
    mistakes: Mapping[str, str]
    challenge: str
    content: str
    explanation: str | None
    skills: tuple[str, ...]
    share: Mapping[str, Any] | None = None
    beside: tuple[Artefact, ...] = ()
    talk: Talked | None = None


@dataclass(frozen=True, slots=True)
class Talked:
    """What an instance asks in sessions, as its question holds it, and how its truth is found, as its answer does."""

    sessions: list[dict[str, Any]]
    truth: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Way:
    """How an answer is compared and graded, the rule of rounding in words, and the instruction how to write it."""

    comparison: Mapping[str, Any]
    format: Mapping[str, Any]
    kind: AnswerType
    grader: Grader
    rule: str
    instruction: str
    options: Lettered | None = None


class Draft(NamedTuple):
    """What an instance is made of: where it stands, and its drawn parameters, to which its other values are added."""

    item: Item
    number: int
    position: int
    scope: Scope

    def anew(self) -> Draft:
        """The draft with a scope of its own."""
        return Draft(self.item, self.number, self.position, dict(self.scope))


class Pace:
    """How many instances are made together: ever more while they are quick and small, since all of them are held."""

    def __init__(self, most: int) -> None:
        self.most, self.size, self.begun = most, 1, perf_counter()

    def note(self, scopes: Sequence[Scope]) -> None:
        """Takes the time since the last group, of which these are the values, and the size of the largest instance."""
        now = perf_counter()
        grown = self.size * GROWTH if now - self.begun < QUICK else self.size // GROWTH
        largest = max(1, *(sum(map(weight, scope.values())) for scope in scopes))
        self.size = max(1, min(grown, self.most, HELD // largest))
        self.begun = now


def weight(value: Value, depth: int = 4) -> int:
    """About how many bytes the value takes: what a list or record holds counts as its first item does."""
    kind = type(value)
    if kind is int or kind is str or not depth or (kind is not list and kind is not Record) or not value:
        return getsizeof(value)
    first = value[0] if kind is list else next(iter(value.values()))
    return getsizeof(value) + len(value) * weight(first, depth - 1)


def grouped(drafts: Iterable[Draft], pace: Pace) -> Iterator[list[Draft]]:
    """The drafts in groups of the pace's size; a failure comes behind all that was drawn before it."""
    group: list[Draft] = []
    failure = None
    try:
        for draft in drafts:
            group.append(draft)
            if len(group) >= pace.size:
                yield group
                group = []
    except DiaError as error:
        failure = error
    if group:
        yield group
    if failure is not None:
        raise failure


class Expansion:
    """Makes the instances of one prepared template under one seed."""

    def __init__(self, prepared: Prepared, settings: Settings, means: Means = NOTHING_LENT) -> None:
        self.prepared, self.settings = prepared, settings
        self.drawing = Drawing(prepared, settings.seed)
        self.lists = self.drawing.lists
        self.held: Way | None = None
        self.ways: dict[str | None, Way] = {}
        self.wrapped: tuple[Way | None, list[str] | None] = (None, None)
        self.needed: tuple[list[Value], tuple[str, ...]] = ([], ())
        self.workshop = Workshop(prepared.assets, means)

    @property
    def answer(self) -> Answer:
        """How the answer is computed and compared."""
        assert self.prepared.template.answer is not None
        return self.prepared.template.answer

    @cached_property
    def freedom(self) -> Freedom:
        """The template's degree of freedom d(t): that of its item which has the least."""
        return self.drawing.freedom()

    @cached_property
    def points_rule(self) -> str:
        """What the verdicts are worth, in words."""
        return self.settings.points_rule

    # instances

    def questions(self, k: int, is_trial: bool = False) -> Iterator[Instance]:
        """The questions of the first k instances of every item in order, each in every wording.

        A trial takes as many as there are, of a few items. Raises DiaError where there are fewer than k instances.
        """
        return chain.from_iterable(self.groups(self.drafts(k, is_trial)))

    def drafts(self, k: int, is_trial: bool = False, stop: int | None = None) -> Iterator[Draft]:
        """What the first k instances of every item are made of, of each item those below the number `stop`."""
        for item in self.drawing.items[: TRIED_ITEMS if is_trial else None]:
            for number, position, scope in self.first(item, k, is_trial):
                if stop is not None and number >= stop:
                    break
                yield Draft(item, number, position, scope)

    def groups(self, drafts: Iterable[Draft]) -> Iterator[list[Instance]]:
        """The instances in every wording, those together that are made together.

        Step by step for many at once takes a sixth less time than one by one, since the code and the data of a step
        stay in the processor's caches. Where a group fails it is made again one by one, so that the first instance with
        a fault, and its first fault, is told; only an evaluation for which the process is ended is told before others.
        """
        has_assets = bool(self.prepared.assets)
        pace = Pace(1 if has_assets and self.prepared.variants else WITH_ASSETS if has_assets else TOGETHER)
        for group in grouped(drafts, pace):
            own = [draft.anew() for draft in group]
            made = self.in_all_wordings(group, own)
            if made is not None:
                yield made
                pace.note([draft.scope for draft in own])
                continue
            own.clear()  # what was made of it may be what was too much for the memory
            pace.size = 1
            for draft in group:
                base = self.instance(*draft.anew())
                yield [base]
                for wording in self.prepared.variants:
                    yield [self.variant(base, draft.scope, wording)]

    def in_all_wordings(self, group: list[Draft], own: list[Draft]) -> list[Instance] | None:
        """The instances of a group, each before its variants, made in scopes of their own; None where one fails."""
        try:
            bases = self.made(own, self.prepared.wording)
            if not self.prepared.variants:
                return bases
            found = []
            for draft, base in zip(group, bases, strict=True):
                found += [base, *(self.variant(base, draft.scope, wording) for wording in self.prepared.variants)]
        except DiaError:
            return None
        return found

    def first(self, item: Item, k: int, is_trial: bool) -> Iterator[tuple[int, int, Scope]]:
        """Number, position and parameters of the first k instances of an item; of a static one there is one."""
        if not self.drawing.has_choices(item):
            try:
                yield 0, 0, self.drawing.draw(RecordingChoose((), Stream(self.drawing.key)), self.drawing.fixed(item))
            except Rejected:
                raise self.too_few(0, 1, item, "it does not meet every `where`") from None
            return
        count, wanted = 0, self.wanted(item, k, is_trial)
        seek()
        try:
            for number, (position, scope) in enumerate(self.drawing.positions(item)):
                found()
                yield number, position, scope
                count = number + 1
                if count == wanted:
                    return
                if wanted is None and count > MOST_OF_ALL:
                    raise self.too_many()
                seek()
        except Exhausted as error:
            raise self.too_few(count, k, item, str(error)) from None
        finally:
            found()
        if wanted is not None and not (is_trial and count):
            raise self.too_few(count, k, item, "the walk over all choices ends")

    def wanted(self, item: Item, k: int, is_trial: bool) -> int | None:
        """How many instances to make of an item, None for all there are. Raises DiaError where there cannot be."""
        asked = self.prepared.template.instances
        if asked == ALL:
            return self.all_of(item, k, is_trial)
        bound = self.freedom.bound
        wanted = k if asked is None or is_trial else int(asked)
        if bound is not None and bound < wanted and len(self.drawing.items) == 1:
            if is_trial and bound > 0:
                return bound
            raise self.too_few(bound, wanted, item, None)
        return wanted

    def all_of(self, item: Item, k: int, is_trial: bool) -> int | None:
        """How many instances an item has, None where the walk itself must find out."""
        freedom = self.drawing.freedom_of(item)
        if freedom.bound is None:
            message = "`instances: all` needs parameters whose values can be counted"
            raise DiaError(Diagnostic("E505", message, self.prepared.template.position))
        if is_trial:
            return min(k, freedom.bound)
        if freedom.kind != "exact":
            return None
        if freedom.bound > MOST_OF_ALL:
            raise self.too_many()
        return freedom.bound

    def too_many(self) -> DiaError:
        """The refusal to make all instances where nobody would wait for them."""
        message = f"`instances: all` would be more than {MOST_OF_ALL:,} instances"
        return DiaError(Diagnostic("E505", message, self.prepared.template.position, "say how many: `instances: 1000`"))

    def too_few(self, count: int, k: int, item: Item, why: str | None) -> DiaError:
        """The refusal of more instances than there are, at the condition that may be too strict."""
        template = self.prepared.template
        of = f" of `{item.name}`" if item.name else ""
        message = f"only {count} distinct instance{'' if count == 1 else 's'}{of}, k is {k}"
        message = message if count else f"no instance{of} can be made, k is {k}"
        mend = (f"{why}; " if why else "") + "widen a parameter, or loosen a `where`"
        place = template.where[0].position if template.where and why else template.position
        return DiaError(Diagnostic("E505", message, place, mend))

    def instance(self, item: Item, number: int, position: int, scope: Scope) -> Instance:
        """The instance of drawn parameters. Raises DiaError where a part fails, with the parameters that led to it."""
        try:
            return self.one(Draft(item, number, position, scope), self.prepared.wording)
        except DiaError as error:
            raise self.drawing.with_values(error, scope) from None

    def one(self, draft: Draft, wording: Wording) -> Instance:
        """The instance of one draft in a wording. Raises DiaError where a part fails."""
        return self.made([draft], wording)[0]

    def made(self, drafts: Sequence[Draft], wording: Wording) -> list[Instance]:
        """The instances of the drafts in a wording, each step done for all of them before the next step.

        Raises DiaError where a part of one fails, not always at the first instance that would fail.
        """
        prepared, scopes = self.prepared, [draft.scope for draft in drafts]
        self.derive(drafts)
        self.solve(scopes)
        ways = self.settle(scopes)
        answers = [
            way.options.gold if way.options else scope["answer"] for scope, way in zip(scopes, ways, strict=True)
        ]
        texts = [
            way.options.gold if way.options else self.written(scope["answer"], way)
            for scope, way in zip(scopes, ways, strict=True)
        ]
        self.check(scopes, texts)
        challenges = [self.challenge(scope, way, wording) for scope, way in zip(scopes, ways, strict=True)]
        accepts = [self.accepting(scope, way) for scope, way in zip(scopes, ways, strict=True)]
        mistakes = self.mistakes(scopes, ways, texts)
        return [
            Instance(
                item=draft.item,
                number=draft.number,
                position=draft.position,
                variant=wording.name,
                parameters={name: scope[name] for name in prepared.makers},
                way=way,
                answer=answer,
                text=text,
                accept=accept,
                accept_if=accept_if,
                mistakes=wrong,
                challenge=challenge,
                content=self.content(challenge, way),
                explanation=prepared.explanation(self.shown(scope, way, wording)) if prepared.explanation else None,
                skills=self.skills(scope),
                share=share_record(prepared, scope) if prepared.share else None,
                beside=self.workshop.beside(scope) if prepared.assets else (),
            )
            for draft, scope, way, answer, text, challenge, (accept, accept_if), wrong in zip(
                drafts, scopes, ways, answers, texts, challenges, accepts, mistakes, strict=True
            )
        ]

    # variants

    def variant(self, base: Instance, scope: Scope, wording: Wording) -> Instance:
        """The instance in another wording. Raises DiaError where its answer would be another."""
        scope = dict(scope)
        try:
            choose, scope = self.redrawn(base, scope, wording)
            made = self._variant(base, scope, wording, choose)
        except DiaError as error:
            raise self.drawing.with_values(error, scope) from None
        if made.text != base.text and not made.way.kind.equal(made.answer, base.answer):
            shown = f"`{base.text[:40]}` and `{made.text[:40]}`"
            message = f"the variant `{wording.name}` has another answer than its instance: {shown}"
            mend = "draw only names again that the answer does not depend on"
            fault = Diagnostic("E511", message, wording.position, mend)
            raise self.drawing.with_values(DiaError(fault), scope)
        return made

    def _variant(self, base: Instance, scope: Scope, wording: Wording, choose: RecordingChoose) -> Instance:
        made: Scope = dict(scope)
        draft = Draft(base.item, base.number, base.position, made)
        self.one(draft, self.prepared.wording)
        try:
            for step in wording.plan:
                self.drawing.do(step, made, choose, {})
        except Rejected:
            message = f"no value of the variant's parameters meets its `where` in instance {base.number}"
            raise DiaError(Diagnostic("E505", message, wording.position)) from None
        found = self.one(draft, wording)
        own = {name: made[name] for name in wording.makers}
        return replace(found, parameters={**found.parameters, **own})

    def redrawn(self, base: Instance, scope: Scope, wording: Wording) -> tuple[RecordingChoose, Scope]:
        """The source of the variant's choices, and the parameters with those that it draws again."""
        drawing = self.drawing
        fixed = {name: scope[name] for name in self.prepared.makers if name not in wording.redraw}
        key = derived(drawing.key_for(base.item), "variant", wording.name or "", base.position)
        old = [scope[name] for name in wording.redraw]
        for attempt in range(REDRAWS):
            choose = RecordingChoose((), Stream(derived(key, attempt)))
            if not wording.redraw:
                return choose, scope
            try:
                made = drawing.draw(choose, fixed)
            except Rejected:
                continue
            if [made[name] for name in wording.redraw] != old and self.is_inside(made, wording):
                return choose, made | ({ORDER: scope[ORDER]} if ORDER in scope else {})
        message = f"no other values of {', '.join(wording.redraw)} fit instance {base.number}"
        raise DiaError(Diagnostic("E505", message, wording.position, "widen their types, or draw less again"))

    def is_inside(self, scope: Scope, wording: Wording) -> bool:
        """Whether the parameters that stay are still values of their types."""
        for name, maker in self.prepared.makers.items():
            if name not in wording.redraw and not maker.is_fixed and not maker.make(dict(scope)).contains(scope[name]):
                return False
        return True

    # the answer

    def derive(self, drafts: Sequence[Draft]) -> None:
        """Computes the let values that the draws did not need, and builds the assets."""
        for name, code in self.prepared.rest:
            if isinstance(code, AssetCode):
                for draft in drafts:
                    self.workshop.build(name, draft.scope, self.drawing.key_for(draft.item), draft.position)
            else:
                for draft in drafts:
                    draft.scope[name] = code(draft.scope)

    def solve(self, scopes: Sequence[Scope]) -> None:
        """Computes the exact answers."""
        solver = self.prepared.answer
        assert solver is not None
        for scope in scopes:
            scope[EXACT_ANSWER] = scope["answer"] = solver(scope)

    def settle(self, scopes: Sequence[Scope]) -> list[Way]:
        """Puts the answers into the form of their type, and computes the let values that use them; how they compare."""
        ways = [self.way(scope) for scope in scopes]
        for scope, way in zip(scopes, ways, strict=True):
            scope["rounding_rule"] = way.rule
            if way.options is None:
                scope["answer"] = self.settled(scope[EXACT_ANSWER], way)
        for name, code in self.prepared.after:
            for scope in scopes:
                scope[name] = code(scope)
        return ways

    def way(self, scope: Scope) -> Way:
        """How this instance's answer is compared; made once where it is the same for all. Raises DiaError."""
        if self.prepared.options is not None:
            return self.way_of_options(scope)
        if self.held is not None:
            return self.held
        code = self.prepared.comparison
        assert code is not None
        comparison = comparison_of(code.evaluate(scope))
        if code.is_constant:
            self.held = self.made_way(comparison, self.settings.format)
            return self.held
        key = repr(comparison) if is_plain(comparison) else None
        way = self.ways.get(key) or self.made_way(comparison, self.settings.format)
        if key is not None and len(self.ways) < MOST_WAYS:
            self.ways[key] = way
        return way

    def made_way(self, comparison: dict[str, Any], format: Mapping[str, Any]) -> Way:
        """The way of a comparison in an answer format. Raises DiaError at the answer."""
        faults = validate(comparison)
        if faults:
            raise DiaError([Diagnostic("E404", message, self.answer.position) for message in faults])
        if self.prepared.accept_if is not None:
            comparison["accept_if"] = {}  # the condition itself differs from instance to instance
        if self.prepared.share is not None:
            comparison["share"] = {}
        kind = answer_type(comparison)
        instruction = self.settings.instruction(kind.describe(), format)
        return Way(comparison, format, kind, Grader(comparison, format), _rule(comparison), instruction)

    def way_of_options(self, scope: Scope) -> Way:
        """The way of a multiple choice: the letters of this instance's options."""
        options = self.prepared.options
        assert options is not None
        found = lettered(options, scope, self.settings)
        return replace(self.made_way(found.comparison, found.format), options=found)

    def settled(self, value: Value, way: Way) -> Value:
        """The value as the answer's type wants it. Raises DiaError at the answer's `value`."""
        try:
            return way.kind.settle(value)
        except LanguageError as error:
            raise DiaError(Diagnostic(error.code, error.message, self.answer.value.position, error.help)) from None

    def accepting(self, scope: Scope, way: Way) -> tuple[tuple[Value, ...], Mapping[str, Any] | None]:
        """The further forms of the answer that are right too, and the condition. Raises DiaError at the answer."""
        prepared = self.prepared
        forms = tuple(self.settled(datum.evaluate(scope), way) for datum in prepared.accept) if prepared.accept else ()
        return forms, condition_record(prepared, scope) if prepared.accept_if else None

    def written(self, value: Value, way: Way) -> str:
        """The canonical text of an answer. Raises DiaError at the answer's `value`."""
        try:
            return way.kind.write(value)
        except LanguageError as error:
            raise DiaError(Diagnostic(error.code, error.message, self.answer.value.position, error.help)) from None

    def check(self, scopes: Sequence[Scope], texts: Sequence[str | None]) -> None:
        """Raises DiaError at the first check that does not hold; the texts are those of the answers, if there are."""
        for code in self.prepared.checks:
            source = code.parsed.source
            for scope, text in zip(scopes, texts, strict=True):
                if not truth_of(code(scope), source):
                    mend = "the parameters or the check are wrong"
                    if text is not None:
                        shown = text if len(text) <= 80 else text[:80] + "..."
                        mend = f"the answer is {shown}: the solver or the check is wrong"
                    raise DiaError(Diagnostic("E503", "a check does not hold", source.place(0), mend))

    def mistakes(self, scopes: Sequence[Scope], ways: Sequence[Way], truths: Sequence[str]) -> list[dict[str, str]]:
        """The named mistakes of each as texts, without those that happen to be right."""
        found: list[dict[str, str]] = [{} for _ in scopes]
        for name, code in self.prepared.mistakes.items():
            for scope, way, truth, held in zip(scopes, ways, truths, found, strict=True):
                text = self.mistaken(code, scope, way, truth)
                if text is not None:
                    held[name] = text
        return found

    def mistaken(self, code: Compiled, scope: Scope, way: Way, truth: str) -> str | None:
        """The text of a mistake, None where it happens to be right. Raises DiaError where it is no answer."""
        if way.options is not None:
            letter = way.options.letter_of(code(scope))
            return None if letter == truth else letter
        try:
            value = way.kind.settle(code(scope))
            text = way.kind.write(value)
        except LanguageError as error:
            place = code.parsed.source.place(0)
            raise DiaError(Diagnostic(error.code, error.message, place, error.help)) from None
        return None if text == truth or way.kind.equal(value, scope["answer"]) else text

    # texts

    def shown(self, scope: Scope, way: Way, wording: Wording) -> Scope:
        """What prompts see: the scope, the lettered options, and the texts of the slots."""
        if way.options is None and not wording.slots:
            return scope
        shown = scope if way.options is None else {**scope, OPTIONS: way.options.listed}
        return {**shown, **{name: slot(shown) for name, slot in wording.slots.items()}}

    def challenge(self, scope: Scope, way: Way, wording: Wording) -> str:
        """The rendered prompt of the template in a wording; what is put around it stands apart by an empty line."""
        assert wording.prompt is not None
        shown = self.shown(scope, way, wording)
        if wording.prepend is None and wording.append is None:
            return wording.prompt(shown).strip("\n")
        parts = [part(shown).strip("\n") for part in (wording.prepend, wording.prompt, wording.append) if part]
        return "\n\n".join(parts)

    def content(self, challenge: str, way: Way) -> str:
        """The challenge in the benchmark's wrapper: what the model reads."""
        wrapper = self.prepared.wrapper
        if wrapper is None:
            return f"{challenge}\n\n{way.instruction}\n{self.points_rule}"
        if way is not self.wrapped[0]:
            self.wrapped = (way, wrapper.around("challenge", self.around(way)))
        around = self.wrapped[1]
        if around is None:
            return wrapper({**self.around(way), "challenge": challenge}).strip("\n")
        return within(challenge.join(around), wrapper.source).strip("\n")

    def around(self, way: Way) -> Scope:
        """What the benchmark's wrapper sees beside the challenge."""
        return {
            **self.lists,
            "format_instruction": way.instruction,
            "skip_token": way.format["skip"],
            "points": self.settings.points,
        }

    def skills(self, scope: Scope) -> tuple[str, ...]:
        """The skills that the instance needs."""
        if self.prepared.skills is None:
            return ()
        skills = self.prepared.skills.evaluate(scope)
        if skills is self.needed[0]:  # the same in all instances
            return self.needed[1]
        if not isinstance(skills, list) or any(not isinstance(skill, str) for skill in skills):
            place = self.prepared.template.skills.position if self.prepared.template.skills else None
            raise DiaError(Diagnostic("E203", "`skills` must be a list of texts", place))
        self.needed = (skills, tuple(dict.fromkeys(skills)))
        return self.needed[1]


def is_plain(value: Any) -> bool:
    """Whether the value is told from all others by its text: mappings and lists of texts and exact numbers."""
    if isinstance(value, dict):
        return all(map(is_plain, value.values()))
    return all(map(is_plain, value)) if isinstance(value, list) else type(value) in PLAIN or isinstance(value, bool)


def _rule(comparison: Mapping[str, Any]) -> str:
    part: Any = comparison
    while isinstance(part, Mapping):
        if "round" in part:
            return rounding_rule(part["round"])
        part = part.get("of")
        part = part[0] if isinstance(part, list) and part else part
    return ""


def encoded_parameters(instance: Instance) -> dict[str, Any]:
    """The parameters as a bundle stores them."""
    return {name: encode(value) for name, value in instance.parameters.items()}
