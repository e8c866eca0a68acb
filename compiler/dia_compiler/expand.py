"""Prepared template -> instances: parameters drawn, values derived, the answer computed and checked, texts rendered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import Any

from dia_runtime.grade import Grader
from dia_runtime.language.answers import answer_type, validate
from dia_runtime.language.answers.base import AnswerType
from dia_runtime.language.diagnostics import DiaError, Diagnostic, LanguageError
from dia_runtime.language.lowering import EXACT_ANSWER
from dia_runtime.language.rounding import rounding_rule
from dia_runtime.language.values import Value, encode, kind_of, plain
from dia_runtime.language.watch import found, rest, seek

from dia_compiler.build import comparison_of
from dia_compiler.conditions import condition_record
from dia_compiler.domains import Scope, truth_of
from dia_compiler.fuzz import VAST, Choose, Rejected, Walker, template_key
from dia_compiler.prepare import Prepared, Step
from dia_compiler.settings import Settings

SHOWN_PARAMETERS = 200
ENUMERATED = 20_000


@dataclass(frozen=True, slots=True)
class Instance:
    """One instance: its number, the position it stands at, and all that was made of it."""

    number: int
    position: int
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


@dataclass(frozen=True, slots=True)
class Way:
    """How an answer is compared and graded, the rule of rounding in words, and the instruction how to write it."""

    comparison: Mapping[str, Any]
    kind: AnswerType
    grader: Grader
    rule: str
    instruction: str


@dataclass(frozen=True, slots=True)
class Freedom:
    """How many different instances a template has: exact, at_most, at_least or vast."""

    kind: str
    count: int | None = None

    def as_json(self) -> dict[str, Any]:
        """The mapping that bundles hold; the count is text, for it may be large."""
        return {"kind": self.kind, "count": None if self.count is None else str(self.count)}


class Expansion:
    """Makes the instances of one prepared template under one seed."""

    def __init__(self, prepared: Prepared, settings: Settings) -> None:
        template = prepared.template
        assert template.answer is not None and prepared.answer is not None and prepared.prompt is not None
        self.prepared, self.settings, self.answer = prepared, settings, template.answer
        self.lists: Scope = {name: code.evaluate({}) for name, code in prepared.lists.items()}
        self.held: Way | None = None
        key = template_key(1, prepared.benchmark.name, template.name, settings.seed)
        self.walker: Walker[Scope] = Walker(key, self.draw)

    # drawing

    def draw(self, choose: Choose) -> Scope:
        """The parameters of an instance and the let values that the draw needed. Raises Rejected."""
        return self._drawn(choose, {})

    def _drawn(self, choose: Choose, fixed: Mapping[str, Value]) -> Scope:
        scope: Scope = dict(self.lists)
        try:
            self._draw_into(scope, choose, fixed)
        except DiaError as error:
            raise self.with_values(error, scope) from None
        return scope

    def _draw_into(self, scope: Scope, choose: Choose, fixed: Mapping[str, Value]) -> None:
        for step in self.prepared.plan:
            if step.kind == "draw":
                assert step.maker is not None
                scope[step.name] = fixed[step.name] if step.name in fixed else self._value(step, scope, choose)
            elif step.kind == "balance":
                choose.vast()
            else:
                assert step.code is not None
                value = step.code(scope)
                if step.kind == "let":
                    scope[step.name] = value
                else:
                    choose.check(truth_of(value, step.code.parsed.source))

    def _value(self, step: Step, scope: Scope, choose: Choose) -> Value:
        """A drawn value of the step's parameter. Raises Rejected, and DiaError at the parameter's type."""
        assert step.maker is not None
        domain = step.maker.make(scope)
        rest()
        try:
            return domain.draw(choose)
        except LanguageError as error:
            raise DiaError(Diagnostic(error.code, error.message, step.maker.use.position, error.help)) from None

    def freedom(self) -> Freedom:
        """The template's degree of freedom d(t), counted where it can be."""
        seek()
        try:
            return self._freedom()
        finally:
            found()

    def _freedom(self) -> Freedom:
        is_filtered = any(step.kind == "where" for step in self.prepared.plan)
        makers = list(self.prepared.makers.values())
        is_known = all(maker.is_fixed for maker in makers)
        domains = [maker.make(dict(self.lists)) for maker in makers if maker.is_fixed]
        product = prod(domain.count for domain in domains)
        if product > VAST or (not is_known and self._first_product() > VAST):
            return Freedom("vast")
        if is_known and not is_filtered and all(domain.is_counted for domain in domains):
            return Freedom("exact", product)
        counted = self._enumerated() if product <= ENUMERATED or not is_known else None
        if counted is not None:
            return Freedom("exact", counted)
        return Freedom("at_most", product) if is_known else Freedom("at_least", 0 if is_filtered else product)

    def _first_product(self) -> int:
        """The product of all domains' sizes as the first instance sees them: that many differ from it in one place."""
        scope = self.walker.at(0)
        if scope is None:
            return 0
        return prod(maker.make(dict(scope)).count for maker in self.prepared.makers.values())

    def _enumerated(self) -> int | None:
        """The number of acceptable ways through the tree of choices, or None where they are too many."""
        count, visited = 0, 0
        stack: list[tuple[int, ...]] = [()]
        while stack:
            path = stack.pop()
            visited += 1
            if visited > ENUMERATED:
                return None
            probe = _Probe(path)
            try:
                self._drawn(probe, {})  # type: ignore[arg-type]
                count += 1
            except _Open as choice:
                if not 0 < choice.options <= ENUMERATED:
                    return None
                stack += [(*path, number) for number in range(choice.options)]
            except Rejected:
                continue
        return count

    # instances

    def instances(self, k: int) -> Iterator[Instance]:
        """The first k instances in order; fewer where the walk ends."""
        if not self.prepared.plan or not self.prepared.makers:
            yield self.instance(0, 0, self.draw_static())
            return
        seek()
        for number, (position, scope) in enumerate(self.walker.positions()):
            found()
            yield self.instance(number, position, dict(scope))
            if number + 1 == k:
                return
            seek()

    def draw_static(self) -> Scope:
        """The scope of a template without parameters."""
        return dict(self.lists)

    def instance(self, number: int, position: int, scope: Scope) -> Instance:
        """The instance of drawn parameters. Raises DiaError where a part fails, with the parameters that led to it."""
        try:
            return self._instance(number, position, scope)
        except DiaError as error:
            raise self.with_values(error, scope) from None

    def with_values(self, error: DiaError, scope: Scope) -> DiaError:
        """The failure with the parameters that led to it."""
        shown = self.shown(scope)
        told = [replace(entry, message=f"{entry.message}{shown}") for entry in error.diagnostics]
        return DiaError(told, error.exit_code)

    def shown(self, scope: Scope) -> str:
        """The parameters as messages show them."""
        parts = []
        for name in self.prepared.makers:
            if name in scope:
                try:
                    parts.append(f"{name} = {plain(scope[name])}")
                except LanguageError:
                    parts.append(f"{name} = ({kind_of(scope[name])})")
        text = ", ".join(parts)
        text = text if len(text) <= SHOWN_PARAMETERS else text[:SHOWN_PARAMETERS] + "..."
        return f" (where {text})" if text else ""

    def _instance(self, number: int, position: int, scope: Scope) -> Instance:
        prepared = self.prepared
        for name, code in prepared.rest:
            scope[name] = code(scope)
        way = self.way(scope)
        scope["rounding_rule"] = way.rule
        self.solve(scope, way)
        text = self.written(scope["answer"], way)
        self.check(scope, text)
        challenge = self.challenge(scope)
        return Instance(
            number=number,
            position=position,
            parameters={name: scope[name] for name in prepared.makers},
            way=way,
            answer=scope["answer"],
            text=text,
            accept=tuple(self.settled(datum.evaluate(scope), way) for datum in prepared.accept),
            accept_if=condition_record(prepared, scope) if prepared.accept_if else None,
            mistakes=self.mistakes(scope, way, text) if prepared.mistakes else {},
            challenge=challenge,
            content=self.content(challenge, way),
            explanation=prepared.explanation(scope) if prepared.explanation else None,
            skills=self.skills(scope),
        )

    def way(self, scope: Scope) -> Way:
        """How this instance's answer is compared; made once where it is the same for all. Raises DiaError."""
        if self.held is not None:
            return self.held
        code = self.prepared.comparison
        assert code is not None
        comparison = comparison_of(code.evaluate(scope))
        faults = validate(comparison)
        if faults:
            raise DiaError([Diagnostic("E404", message, self.answer.position) for message in faults])
        if self.prepared.accept_if is not None:
            comparison["accept_if"] = {}  # the condition itself differs from instance to instance
        grader = Grader(comparison, self.settings.format)
        kind = answer_type(comparison)
        way = Way(comparison, kind, grader, _rule(comparison), self.settings.instruction(kind.describe()))
        if code.is_constant:
            self.held = way
        return way

    def solve(self, scope: Scope, way: Way) -> None:
        """Computes the answer and the let values that use it."""
        assert self.prepared.answer is not None
        exact = self.prepared.answer(scope)
        scope["answer"] = self.settled(exact, way)
        scope[EXACT_ANSWER] = exact
        for name, code in self.prepared.after:
            scope[name] = code(scope)

    def settled(self, value: Value, way: Way) -> Value:
        """The value as the answer's type wants it. Raises DiaError at the answer's `value`."""
        try:
            return way.kind.settle(value)
        except LanguageError as error:
            raise DiaError(Diagnostic(error.code, error.message, self.answer.value.position, error.help)) from None

    def written(self, value: Value, way: Way) -> str:
        """The canonical text of an answer. Raises DiaError at the answer's `value`."""
        try:
            return way.kind.write(value)
        except LanguageError as error:
            raise DiaError(Diagnostic(error.code, error.message, self.answer.value.position, error.help)) from None

    def check(self, scope: Scope, text: str) -> None:
        """Raises DiaError at the first check that does not hold."""
        for code in self.prepared.checks:
            if not truth_of(code(scope), code.parsed.source):
                place = code.parsed.source.place(0)
                shown = text if len(text) <= 80 else text[:80] + "..."
                mend = f"the answer is {shown}: the solver or the check is wrong"
                raise DiaError(Diagnostic("E503", "a check does not hold", place, mend))

    def mistakes(self, scope: Scope, way: Way, truth_text: str) -> dict[str, str]:
        """The named mistakes as texts, without those that happen to be right."""
        found = {}
        for name, code in self.prepared.mistakes.items():
            try:
                value = way.kind.settle(code(scope))
                text = way.kind.write(value)
            except LanguageError as error:
                place = code.parsed.source.place(0)
                raise DiaError(Diagnostic(error.code, error.message, place, error.help)) from None
            if text != truth_text and not way.kind.equal(value, scope["answer"]):
                found[name] = text
        return found

    def challenge(self, scope: Scope) -> str:
        """The rendered prompt of the template."""
        assert self.prepared.prompt is not None
        return self.prepared.prompt(scope).strip("\n")

    def content(self, challenge: str, way: Way) -> str:
        """The challenge in the benchmark's wrapper: what the model reads."""
        wrapper = self.prepared.wrapper
        if wrapper is None:
            return f"{challenge}\n\n{way.instruction}\n{self.settings.points_rule}"
        values = {
            **self.lists,
            "challenge": challenge,
            "format_instruction": way.instruction,
            "skip_token": self.settings.skip,
            "points": self.settings.points,
        }
        return wrapper(values).strip("\n")

    def skills(self, scope: Scope) -> tuple[str, ...]:
        """The skills that the instance needs."""
        if self.prepared.skills is None:
            return ()
        skills = self.prepared.skills.evaluate(scope)
        if not isinstance(skills, list) or any(not isinstance(skill, str) for skill in skills):
            place = self.prepared.template.skills.position if self.prepared.template.skills else None
            raise DiaError(Diagnostic("E203", "`skills` must be a list of texts", place))
        return tuple(dict.fromkeys(skills))


def _rule(comparison: Mapping[str, Any]) -> str:
    part: Any = comparison
    while isinstance(part, Mapping):
        if "round" in part:
            return rounding_rule(part["round"])
        part = part.get("of")
        part = part[0] if isinstance(part, list) and part else part
    return ""


class _Open(Exception):
    """The first choice that a probe has not been told: how many options it has, 0 for vast."""

    def __init__(self, options: int) -> None:
        self.options = options


class _Probe:
    """Replays choices and stops at the first new one, to count the ways through the tree."""

    def __init__(self, path: tuple[int, ...]) -> None:
        self.path, self.place = path, 0

    def below(self, options: int) -> int:
        """The next replayed choice."""
        if options < 1:
            raise Rejected(False)
        if self.place == len(self.path):
            raise _Open(options if options <= VAST else 0)
        self.place += 1
        return self.path[self.place - 1]

    def weighted(self, weights: tuple[int, ...]) -> int:
        """The next replayed choice; tickets of one item lead to the same value."""
        return self.below(len(weights))

    def vast(self) -> None:
        """Stops: what follows cannot be counted."""
        raise _Open(0)

    def check(self, holds: bool) -> None:
        """Gives up the way when a condition fails."""
        if not holds:
            raise Rejected(False)

    def where(self, draw: Any, holds: Any, tries: int = 0) -> Value:
        """The replayed value, if it holds."""
        value = draw(self)
        self.check(holds(value))
        return value


def encoded_parameters(instance: Instance) -> dict[str, Any]:
    """The parameters as a bundle stores them."""
    return {name: encode(value) for name, value in instance.parameters.items()}
