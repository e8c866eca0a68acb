"""Make instances from drawn parameters: derive values, compute and check the answer, render texts in every wording."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from dia_compiler.analyze.domains import Scope, truth_of
from dia_compiler.analyze.items import Item
from dia_compiler.analyze.names import OPTIONS
from dia_compiler.analyze.plan import AssetCode, Prepared, Wording
from dia_compiler.analyze.prepare import is_answer
from dia_compiler.analyze.settings import Settings
from dia_compiler.analyze.stored_conditions import condition_record, share_record
from dia_compiler.analyze.worker_resources import NO_RESOURCES, WorkerResources
from dia_compiler.generate.asset_builder import Artefact, AssetBuilder
from dia_compiler.generate.choices import Lettered, lettered
from dia_compiler.generate.draw import Drawing, cut
from dia_compiler.parse.model import Answer
from dia_compiler.parse.model_builder import comparison_of
from dia_compiler.sampling.degrees_of_freedom import Freedom
from dia_compiler.sampling.instance_tree import ORDER, Exhausted, RecordingChoose, Stream, derived
from dia_compiler.sampling.steering import CANDIDATES, Chooser, Prediction, TargetUnreached
from dia_compiler.types.base import written
from dia_compiler.types.choices import Rejected
from dia_language.answers import answer_type, validate
from dia_language.answers.base import AnswerType
from dia_language.counts import counted
from dia_language.diagnostics import DiaError, Diagnostic, LanguageError
from dia_language.expressions.expressions import CompiledExpression, compile_expression
from dia_language.expressions.lowering import EXACT_ANSWER
from dia_language.expressions.namespace import Namespace
from dia_language.expressions.syntax import part_of
from dia_language.numbers.operators import is_number
from dia_language.numbers.rounding import rounding_rule
from dia_language.numbers.values import Value, encode, plain
from dia_language.workers.heartbeat import begin_search, end_search
from dia_runtime.grading.grader import Grader

TRIED_ITEMS = 3
SHOWN_INSTANCES = 3  # that `dia preview` shows unless another is named
REDRAWS = 1000
REDRAWS_FOR_ALL = 50  # draws in which every redrawn parameter should change, before a change of some is enough
ALL = "all"
MOST_OF_ALL = 100_000
MANY = 2**40  # instances, of which draws hardly repeat any


@dataclass(slots=True)
class Instance:
    """One instance in one wording: its item, number and position, and everything computed for it."""

    item: Item
    number: int
    position: int
    variant: str | None
    parameters: Mapping[str, Value]
    grading: Grading
    answer: Value
    text: str
    accept: tuple[Value, ...]
    accept_if: Mapping[str, Any] | None
    mistakes: Mapping[str, str]
    challenge: str
    content: str
    explanation: str | None
    skills: tuple[str, ...]
    scope: Scope  # the values for the texts
    share: Mapping[str, Any] | None = None
    attachments: tuple[Artefact, ...] = ()
    rendered_sessions: RenderedSessions | None = None
    predicted: Prediction | None = None


@dataclass(frozen=True, slots=True)
class RenderedSessions:
    """What an instance asks in sessions, as its question stores it, and how it is graded, as its answer stores it."""

    sessions: list[dict[str, Any]]
    truth: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Grading:
    """How an answer is compared and graded, the rounding rule in words, and the sentence on how to write it."""

    comparison: Mapping[str, Any]
    format: Mapping[str, Any]
    kind: AnswerType
    grader: Grader
    rule: str
    instruction: str
    is_unanswerable: bool  # whether only an abstention is correct
    options: Lettered | None = None


class Draft(NamedTuple):
    """The position and the drawn parameters of an instance."""

    item: Item
    number: int
    position: int
    scope: Scope
    predicted: Prediction | None = None


class Expansion:
    """Makes the instances of one prepared template under one seed."""

    def __init__(self, prepared: Prepared, settings: Settings, resources: WorkerResources = NO_RESOURCES) -> None:
        self.prepared, self.settings = prepared, settings
        self.drawing = Drawing(prepared, settings.seed)
        self.lists = self.drawing.lists
        self.same_gradings: dict[bool, Grading] = {}  # if all (un)answerable instances are graded alike
        self.asset_builder = AssetBuilder(prepared.assets, resources)
        self.points_rule = settings.points_rule
        self.choosers: list[Chooser] = []  # of the items, if instances are chosen by their predicted difficulty
        self.constant_skills: tuple[str, ...] | None = None  # once they are known to be the same in all instances

    @property
    def answer(self) -> Answer:
        """How the answer is computed and compared."""
        assert self.prepared.template.answer is not None
        return self.prepared.template.answer

    @cached_property
    def freedom(self) -> Freedom:
        """The template's degrees of freedom d(t): the smallest of its items."""
        return self.drawing.freedom()

    @cached_property
    def can_repeat(self) -> bool:
        """Whether positions may have the same parameters: those after a balanced one come from a stream.

        Among many instances, a repeat is too unlikely to look for it.
        """
        is_small = self.freedom.kind != "vast" and (self.freedom.bound is None or self.freedom.bound < MANY)
        return self.prepared.template.balance is not None and is_small

    # instances

    def questions(self, k: int, is_trial: bool = False) -> Iterator[Instance]:
        """Return the questions of the first k instances of every item in order, each in every wording.

        A trial takes as many as there are, of a few items. Raises DiaError if there are fewer than k instances.
        """
        return self.instances(self.drafts(k, is_trial))

    def drafts(self, k: int, is_trial: bool = False, stop: int | None = None, spreads: bool = False) -> Iterator[Draft]:
        """Yield the drafts of the first k instances of every item, of each item those below number `stop`.

        With `spreads`, about k instances in total, of as many items as possible.
        """
        items = self.drawing.items[: k if spreads else TRIED_ITEMS if is_trial else None]
        if spreads:
            k //= len(items)
        for item in items:
            for draft in self.first_drafts(item, k, is_trial):
                if stop is not None and draft.number >= stop:
                    break
                yield draft

    def instances(self, drafts: Iterable[Draft]) -> Iterator[Instance]:
        """Yield the instance of each draft, followed by its variants. Raises DiaError at the first part that fails."""
        for draft in drafts:
            base = self.numbered_instance(draft)
            base.predicted = draft.predicted
            yield base
            for wording in self.prepared.variants:
                yield self.variant(base, draft.scope, wording)

    def first_drafts(self, item: Item, k: int, is_trial: bool) -> Iterator[Draft]:
        """Yield the drafts of the first k instances of an item; a static item has one."""
        if not self.drawing.has_choices(item):
            choose = RecordingChoose((), Stream(self.drawing.key))
            try:
                yield Draft(item, 0, 0, self.drawing.draw(choose, self.drawing.fixed(item)))
            except Rejected:
                raise self.too_few(0, 1, item, "it does not satisfy every `where`") from None
            return
        count, size = 0, self.instance_count(item, k, is_trial)
        begin_search()
        try:
            for number, (position, scope, predicted) in enumerate(self.kept_positions(item)):
                end_search()
                yield Draft(item, number, position, scope, predicted)
                count = number + 1
                if count == size:
                    return
                if size is None and count > MOST_OF_ALL:
                    raise self.too_many()
                begin_search()
        except Exhausted as error:
            raise self.too_few(count, k, item, str(error)) from None
        finally:
            end_search()
        if size is not None and not (is_trial and count):
            raise self.too_few(count, k, item, "all combinations of values were tried")

    def kept_positions(self, item: Item) -> Iterator[tuple[int, Scope, Prediction | None]]:
        """Yield the positions of an item that are kept: all, or those with the requested predicted difficulty.

        Raises TargetUnreached if too few have it.
        """
        steering = self.settings.steering
        if steering is None:
            for position, scope in self.drawing.positions(item, self.can_repeat):
                yield position, scope, None
            return
        chooser = steering.chooser()
        self.choosers.append(chooser)
        passed_over: list[tuple[tuple[int, Scope], Prediction]] = []
        shortage: TargetUnreached | Exhausted
        try:
            for position, scope in self.drawing.positions(item, self.can_repeat):
                end_search()  # each drawn instance ends one, even outside the target: CANDIDATES bounds these
                parameters = {name: scope[name] for name in self.prepared.makers}
                predicted = steering.predict(parameters, self.skills_of_draw(Draft(item, 0, position, scope)))
                if chooser.takes(predicted):
                    yield position, scope, predicted
                elif steering.target.takes(predicted) and len(passed_over) < CANDIDATES:
                    passed_over.append(((position, scope), predicted))
                begin_search()
            shortage = chooser.unreached()
        except (TargetUnreached, Exhausted) as error:
            shortage = error
        for (position, scope), predicted in chooser.take_rest(passed_over):
            yield position, scope, predicted
        raise shortage

    def skills_of_draw(self, draft: Draft) -> tuple[str, ...]:
        """Return the skills that an instance of the draft will have."""
        code = self.prepared.skills
        if code is None or code.is_constant:
            return self.skills(draft.scope)
        scope = dict(draft.scope)
        try:
            self.derive(draft._replace(scope=scope))
            return self.skills(scope)
        except DiaError as error:
            raise self.drawing.with_values(error, scope) from None

    def instance_count(self, item: Item, k: int, is_trial: bool) -> int | None:
        """Return how many instances to make of an item, or None for all. Raises DiaError if there are too few."""
        instances = self.prepared.template.instances
        if instances == ALL:
            return self.count_of_all(item, k, is_trial)
        bound = self.freedom.bound
        count = k if instances is None or is_trial else int(instances)
        if bound is not None and bound < count and len(self.drawing.items) == 1:
            if is_trial and bound > 0:
                return bound
            raise self.too_few(bound, count, item, None)
        return count

    def count_of_all(self, item: Item, k: int, is_trial: bool) -> int | None:
        """Return how many instances an item has, None if only drawing them shows it."""
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
        """Return the error for `instances: all` with an unreasonable number of instances."""
        message = f"`instances: all` would make more than {MOST_OF_ALL:,} instances"
        return DiaError(
            Diagnostic("E505", message, self.prepared.template.position, "give a number instead: `instances: 1000`")
        )

    def too_few(self, count: int, k: int, item: Item, why: str | None) -> DiaError:
        """Return the error for too few instances, at the condition that may be too strict."""
        template = self.prepared.template
        of = f" of `{item.name}`" if item.name else ""
        message = f"only {counted(count, 'distinct instance')}{of} can be made, but k is {k:,}"
        if not count:
            message = f"no instance{of} can be made"
            refused = self.drawing.strictest_type()
            if refused is not None:
                return self.refused_values(message, refused)
            why = why or ("no draw satisfies every `where`" if self.drawing.failures else None)
        strictest = self.drawing.strictest_condition() if why else None
        help = "widen a parameter" + (", or relax a `where`" if template.where else "")
        if why and strictest:
            relax = "relax this `where`" + (
                ", which failed most often (those below it are tested only if it holds)"
                if len(template.where) > 1
                else ""
            )
            help = f"{why}; {relax}, or widen a parameter"
        elif why:
            help = f"{why}; {help}"
        place = strictest or template.position
        return DiaError(Diagnostic("E505", message, place, help))

    def refused_values(self, message: str, name: str) -> DiaError:
        """Return the error of a template with a parameter whose type accepts none of its values."""
        maker = self.prepared.makers[name]
        conditions = [code.parsed.source for code in maker.conditions()]
        place = conditions[0].place(0) if conditions else maker.use.position
        if len(maker.where) == len(conditions) == 1:
            help = f"no value of `{name}` that was drawn satisfies this condition: relax it, or widen the type"
        else:
            what = "a condition of its type" if conditions else "the options of its type"
            help = f"no value of `{name}` could be drawn: relax {what}, or widen the type"
        return DiaError(Diagnostic("E505", message, place, help))

    def instance(self, draft: Draft) -> Instance:
        """Return the instance of drawn parameters. Raises DiaError if a part fails, with these parameters."""
        scope = dict(draft.scope)
        try:
            return self.make(Draft(draft.item, draft.number, draft.position, scope), self.prepared.wording)
        except DiaError as error:
            raise self.drawing.with_values(error, scope) from None

    def numbered_instance(self, draft: Draft) -> Instance:
        """Return the instance of a draft; an error names its number unless `dia preview` shows it without one."""
        try:
            return self.instance(draft)
        except DiaError as error:
            if draft.number < SHOWN_INSTANCES:
                raise
            number = f" in instance {draft.number}"
            entries = [replace(entry, message=entry.message + number) for entry in error.diagnostics]
            raise DiaError(entries, error.exit_code) from None

    def make(self, draft: Draft, wording: Wording) -> Instance:
        """Return the instance of a draft in a wording; its values are added to the draft's scope. Raises DiaError."""
        prepared, scope = self.prepared, draft.scope
        self.derive(draft)
        grading = self.solve(scope)
        options = grading.options
        text = options.gold if options else self.canonical_text(scope["answer"], grading)
        text = grading.format["skip"] if grading.is_unanswerable else text
        self.check(scope, text)
        challenge = self.challenge(scope, grading, wording)
        return Instance(
            item=draft.item,
            number=draft.number,
            position=draft.position,
            variant=wording.name,
            parameters={name: scope[name] for name in prepared.makers},
            grading=grading,
            answer=options.gold if options else scope["answer"],
            text=text,
            accept=self.accepted_forms(scope, grading),
            accept_if=condition_record(prepared, scope) if prepared.accept_if else None,
            mistakes=self.mistakes(scope, grading, text),
            challenge=challenge,
            content=self.content(challenge, grading),
            explanation=self.explanation(scope, grading, wording),
            skills=self.skills(scope),
            scope=scope,
            share=share_record(prepared, scope) if prepared.share else None,
            attachments=self.asset_builder.attachments(scope),
        )

    # variants

    def variant(self, base: Instance, scope: Scope, wording: Wording) -> Instance:
        """Return the instance in another wording. Raises DiaError if its answer differs."""
        scope = dict(scope)
        try:
            if not wording.redraw and not wording.plan:
                return self.reworded(base, scope, wording)
            choose, scope = self.redrawn(base, scope, wording)
            variant = self.make_variant(base, scope, wording, choose)
        except DiaError as error:
            raise self.drawing.with_values(error, scope) from None
        differs = variant.text != base.text and not variant.grading.kind.equal(variant.answer, base.answer)
        if differs or variant.grading.is_unanswerable != base.grading.is_unanswerable:
            texts = f"`{base.text[:40]}` and `{variant.text[:40]}`"
            message = f"the variant `{wording.name}` has a different answer than its instance: {texts}"
            help = "redraw only parameters that the answer does not depend on"
            difference = DiaError(Diagnostic("E511", message, wording.position, help))
            raise self.drawing.with_values(difference, scope)
        return variant

    def reworded(self, base: Instance, scope: Scope, wording: Wording) -> Instance:
        """Return the instance in a wording that draws and computes nothing: only the texts differ."""
        challenge = self.challenge(base.scope, base.grading, wording)
        return replace(
            base,
            variant=wording.name,
            challenge=challenge,
            content=self.content(challenge, base.grading),
            explanation=self.explanation(base.scope, base.grading, wording),
            predicted=None,
        )

    def make_variant(self, base: Instance, scope: Scope, wording: Wording, choose: RecordingChoose) -> Instance:
        """Return the instance in another wording, whose own values may need those of the base wording."""
        draft = Draft(base.item, base.number, base.position, dict(scope))
        if wording.plan:
            self.make(draft, self.prepared.wording)
        try:
            for step in wording.plan:
                self.drawing.do(step, draft.scope, choose, {})
        except Rejected:
            message = f"no values of the variant's parameters satisfy its `where` in instance {base.number}"
            raise DiaError(Diagnostic("E505", message, wording.position)) from None
        variant = self.make(draft, wording)
        own_parameters = {name: draft.scope[name] for name in wording.makers}
        return replace(variant, parameters={**variant.parameters, **own_parameters})

    def redrawn(self, base: Instance, scope: Scope, wording: Wording) -> tuple[RecordingChoose, Scope]:
        """Return the source of the variant's choices, and the parameters with the redrawn ones."""
        drawing = self.drawing
        fixed = {name: scope[name] for name in self.prepared.makers if name not in wording.redraw}
        key = derived(drawing.key_for(base.item), "variant", wording.name or "", base.position)
        if not wording.redraw:
            return RecordingChoose((), Stream(derived(key, 0))), scope
        best: tuple[int, RecordingChoose, Scope] | None = None
        for attempt in range(REDRAWS):
            choose = RecordingChoose((), Stream(derived(key, attempt)))
            try:
                redrawn = drawing.draw(choose, fixed)
            except Rejected:
                continue
            changed = sum(redrawn[name] != scope[name] for name in wording.redraw)
            if changed > (best[0] if best else 0) and self.is_inside(redrawn, wording):
                best = changed, choose, redrawn | ({ORDER: scope[ORDER]} if ORDER in scope else {})
            # A parameter may have no other value, so it is possible that not all of them can change.
            if best and (best[0] == len(wording.redraw) or attempt >= REDRAWS_FOR_ALL):
                return best[1:]
        if best:
            return best[1:]
        message = f"no other values of {', '.join(wording.redraw)} fit instance {base.number}"
        raise DiaError(Diagnostic("E505", message, wording.position, "widen their types, or redraw fewer parameters"))

    def is_inside(self, scope: Scope, wording: Wording) -> bool:
        """Return whether the parameters that are not redrawn still are values of their types."""
        for name, maker in self.prepared.makers.items():
            if name not in wording.redraw and not maker.is_fixed and not maker.make(dict(scope)).contains(scope[name]):
                return False
        return True

    # the answer

    def derive(self, draft: Draft) -> None:
        """Compute the let values that the draws did not need, and build the assets."""
        for name, code in self.prepared.rest:
            if isinstance(code, AssetCode):
                self.asset_builder.build(name, draft.scope, self.drawing.key_for(draft.item), draft.position)
            else:
                draft.scope[name] = code(draft.scope)

    def solve(self, scope: Scope) -> Grading:
        """Compute the answer in the form of its type, and the let values that use it; return how it is graded."""
        assert self.prepared.answer is not None
        scope[EXACT_ANSWER] = scope["answer"] = self.prepared.answer(scope)
        grading = self.grading(scope)
        scope["rounding_rule"] = grading.rule
        if grading.options is None:
            scope["answer"] = self.settled(scope[EXACT_ANSWER], grading)
        for name, code in self.prepared.after:
            scope[name] = code(scope)
        return grading

    def grading(self, scope: Scope) -> Grading:
        """Return how this instance's answer is graded; cached if it is the same for all. Raises DiaError."""
        if self.prepared.options is not None:
            options = lettered(self.prepared.options, scope, self.settings)
            return replace(self.new_grading(options.comparison, options.format), options=options)
        is_unanswerable = self.is_unanswerable(scope)
        if is_unanswerable in self.same_gradings:
            return self.same_gradings[is_unanswerable]
        code = self.prepared.comparison
        assert code is not None
        grading = self.new_grading(comparison_of(code.evaluate(scope)), self.settings.format, is_unanswerable)
        if code.is_constant:
            self.same_gradings[is_unanswerable] = grading
        return grading

    def is_unanswerable(self, scope: Scope) -> bool:
        """Return whether the answer's `unanswerable` holds. Raises DiaError unless it is true or false."""
        code = self.prepared.unanswerable
        return code is not None and truth_of(code(scope), code.parsed.source)

    def new_grading(
        self, comparison: dict[str, Any], format: Mapping[str, Any], is_unanswerable: bool = False
    ) -> Grading:
        """Return the grading by a comparison in an answer format. Raises DiaError at the answer."""
        messages = validate(comparison)
        if messages:
            raise DiaError([Diagnostic("E404", message, self.answer.position) for message in messages])
        if self.prepared.accept_if is not None:
            comparison["accept_if"] = {}  # the condition differs between instances
        if self.prepared.share is not None:
            comparison["share"] = {}
        if self.prepared.unanswerable is not None:
            comparison["unanswerable"] = is_unanswerable
        kind = answer_type(comparison)
        instruction = self.settings.instruction(kind.describe(), format)
        grader = Grader(comparison, format, answer=kind)
        return Grading(comparison, format, kind, grader, _rule(comparison), instruction, grader.is_unanswerable)

    def settled(self, value: Value, grading: Grading) -> Value:
        """Return the value in the form of the answer's type. Raises DiaError at the answer's `value`."""
        try:
            return grading.kind.settle(value)
        except LanguageError as error:
            help = error.help
            if (
                help
                and isinstance(value, str)
                and any(maker.use.kind == "row" for maker in self.prepared.makers.values())
            ):
                help += "; a column has numbers with `columns: {name: integer}`"
            raise DiaError(Diagnostic(error.code, error.message, self.answer.value.position, help)) from None

    def accepted_forms(self, scope: Scope, grading: Grading) -> tuple[Value, ...]:
        """Return the equivalent forms of the answer; none if only an abstention is correct."""
        if grading.is_unanswerable:
            return ()
        return tuple(self.settled(datum.evaluate(scope), grading) for datum in self.prepared.accept)

    def canonical_text(self, value: Value, grading: Grading) -> str:
        """Return the canonical text of an answer. Raises DiaError at the answer's `value`."""
        try:
            return grading.kind.write(value)
        except LanguageError as error:
            raise DiaError(Diagnostic(error.code, error.message, self.answer.value.position, error.help)) from None

    def check(self, scope: Scope, text: str | None) -> None:
        """Raise DiaError at the first check that does not hold; the text is that of the answer, if there is one."""
        for code in self.prepared.checks:
            source = code.parsed.source
            if not truth_of(code(scope), source):
                values = [] if text is None else [f"the answer is {self.shown_answer(scope, text)}"]
                values += compared_values(code, self.prepared.namespace, scope)
                wrong = "the parameters or the check are wrong" if text is None else "`answer` or the check is wrong"
                help = f"{', '.join(values)}: {wrong}" if values else wrong
                raise DiaError(Diagnostic("E503", "a check is false", source.place(0), help))

    def shown_answer(self, scope: Scope, text: str) -> str:
        """Return the answer as expressions see it: of a multiple choice the option, with its letter."""
        if self.is_unanswerable(scope):
            return f"{cut(plain(scope['answer']))} (`value`; the question cannot be answered)"
        if self.prepared.options is not None and ORDER in scope:
            return f"{cut(plain(scope['answer']))} (option {text})"
        return cut(text) or "an empty text"

    def mistakes(self, scope: Scope, grading: Grading, truth: str) -> dict[str, str]:
        """Return the named mistakes as texts, without those that happen to be right."""
        texts = {name: self.mistaken(name, code, scope, grading, truth)
                 for name, code in self.prepared.mistakes.items()}  # fmt: skip
        return {name: text for name, text in texts.items() if text is not None}

    def mistaken(self, name: str, code: CompiledExpression, scope: Scope, grading: Grading, truth: str) -> str | None:
        """Return the text of a mistake, or None if it happens to be correct. Raises DiaError if it is not an answer."""
        if grading.options is not None:
            letter = grading.options.letter_of(code(scope))
            return None if letter == truth else letter
        try:
            value = code(scope)
            settled = grading.kind.settle(value)
            text = grading.kind.write(settled)
        except LanguageError as error:
            place = code.parsed.source.place(0)
            type_name = grading.comparison["type"]
            kind = "the text " if isinstance(value, str) else ""
            message = f"the mistake `{name}` is {kind}{written(value)}, which cannot be an answer of type {type_name}"
            is_unrounded = type_name == "integer" and is_number(value)
            help = (
                "if the answer is not an integer either, declare the type rational or real; otherwise round the "
                "mistake, such as with `round_to(x, 0)`"
                if is_unrounded
                else error.help
            )
            raise DiaError(Diagnostic(error.code, message, place, help)) from None
        if grading.is_unanswerable:
            return text
        return None if text == truth or grading.kind.equal(settled, scope["answer"]) else text

    # texts

    def visible_scope(self, scope: Scope, grading: Grading, wording: Wording) -> Scope:
        """Return what prompts can use: the scope, the lettered options, and the texts of the slots."""
        if grading.options is None and not wording.slots:
            return scope
        visible = scope if grading.options is None else {**scope, OPTIONS: grading.options.listed}
        return {**visible, **{name: slot(visible) for name, slot in wording.slots.items()}}

    def challenge(self, scope: Scope, grading: Grading, wording: Wording) -> str:
        """Return the rendered prompt of the template in a wording.

        Empty lines separate it from `prepend` and `append`.
        """
        assert wording.prompt is not None
        visible = self.visible_scope(scope, grading, wording)
        if wording.prepend is None and wording.append is None:
            return wording.prompt(visible).strip("\n")
        parts = [part(visible).strip("\n") for part in (wording.prepend, wording.prompt, wording.append) if part]
        return "\n\n".join(parts)

    def explanation(self, scope: Scope, grading: Grading, wording: Wording) -> str | None:
        """Return the explanation of the answer, if the template has one."""
        template = self.prepared.explanation
        return template(self.visible_scope(scope, grading, wording)) if template is not None else None

    def content(self, challenge: str, grading: Grading) -> str:
        """Return the challenge in the benchmark's wrapper: what the model reads."""
        wrapper = self.prepared.wrapper
        if wrapper is None:
            return f"{challenge}\n\n{grading.instruction}\n{self.points_rule}"
        values = {
            **self.lists,
            "challenge": challenge,
            "format_instruction": grading.instruction,
            "skip_token": grading.format["skip"],
            "points": self.settings.points,
        }
        return wrapper(values).strip("\n")

    def skills(self, scope: Scope) -> tuple[str, ...]:
        """Return the skills that the instance needs."""
        if self.prepared.skills is None:
            return ()
        if self.constant_skills is not None:
            return self.constant_skills
        skills = self.prepared.skills.evaluate(scope)
        if not isinstance(skills, list) or any(not isinstance(skill, str) for skill in skills):
            place = self.prepared.template.skills.position if self.prepared.template.skills else None
            raise DiaError(Diagnostic("E203", "`skills` must be a list of texts", place))
        names = tuple(dict.fromkeys(skills))
        if self.prepared.skills.is_constant:
            self.constant_skills = names
        return names


def compared_values(code: CompiledExpression, namespace: Namespace, scope: Scope) -> list[str]:
    """Return the values of the two sides of a comparison, for messages, except the answer and literals."""
    tree = code.parsed.tree
    if not isinstance(tree, ast.Compare) or len(tree.ops) > 1:
        return []
    values = []
    for side in (tree.left, tree.comparators[0]):
        if is_answer(side) or isinstance(side, ast.Constant):
            continue
        try:
            part = part_of(code.parsed, side)
            value = plain(compile_expression(part, namespace)(scope))
        except (DiaError, LanguageError):
            return []
        values.append(f"`{cut(' '.join(part.source.text.split()))}` is {cut(value)}")
    return values


def _rule(comparison: Mapping[str, Any]) -> str:
    part: Any = comparison
    while isinstance(part, Mapping):
        if "round" in part:
            return rounding_rule(part["round"])
        part = part.get("of")
        part = part[0] if isinstance(part, list) and part else part
    return ""


def encoded_parameters(instance: Instance) -> dict[str, Any]:
    """Return the parameters as a bundle stores them."""
    return {name: encode(value) for name, value in instance.parameters.items()}
