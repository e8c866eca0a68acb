"""A prepared template: everything compiled and ordered, nothing evaluated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dia_compiler.analyze.domains import DatumCode, Maker, Scope
from dia_compiler.analyze.field_access import ALL, Fields, narrowed
from dia_compiler.analyze.sessions.plan import SessionPlan
from dia_compiler.assets.base import Builder, OptionFault
from dia_compiler.parse.model import Asset, Benchmark, Choices, Template
from dia_language.diagnostics import DiaError, Diagnostic, Position
from dia_language.expressions.expressions import CompiledExpression
from dia_language.expressions.namespace import Namespace
from dia_language.numbers.values import Value, encode
from dia_language.templates.templates import CompiledTemplate

INLINE = "inline"  # of an asset that the model sees only where a text names it


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a draw: a parameter, a let value, a condition, the point after a balanced parameter, or an order.

    `order` is the order of the options of a multiple choice. A `constant` is a let value that no parameter changes.
    """

    kind: str
    name: str = ""
    maker: Maker | None = None
    code: CompiledExpression | None = None


@dataclass(slots=True)
class Wording:
    """The texts of a question; for a variant, also what is drawn and computed in addition to the instance."""

    name: str | None
    prompt: CompiledTemplate | None = None
    slots: dict[str, CompiledTemplate] = field(default_factory=dict)
    prepend: CompiledTemplate | None = None
    append: CompiledTemplate | None = None
    redraw: tuple[str, ...] = ()
    plan: list[Step] = field(default_factory=list)
    makers: dict[str, Maker] = field(default_factory=dict)
    position: Position | None = None
    sessions: tuple[str, ...] = ()


@dataclass(slots=True)
class Options:
    """The options of a multiple choice: the expressions for the correct one and the distractors."""

    choices: Choices
    correct: CompiledExpression
    distractors: CompiledExpression


OptionCode = DatumCode | CompiledTemplate | list[DatumCode | CompiledTemplate]


def option_value(code: OptionCode, scope: Scope) -> Value:
    """Return the value of an asset's option in the scope. Raises DiaError."""
    if isinstance(code, list):
        return [option_value(part, scope) for part in code]
    return code.evaluate(scope) if isinstance(code, DatumCode) else code(scope)


def is_constant(code: OptionCode) -> bool:
    """Return whether an option has one value in all instances."""
    return all(part.is_constant for part in code) if isinstance(code, list) else code.is_constant


@dataclass(slots=True)
class AssetCode:
    """An asset with compiled options: its builder, and how it is delivered to the model."""

    asset: Asset
    builder: Builder
    options: dict[str, OptionCode]
    deliver: str

    def values(self, scope: Scope) -> dict[str, Value]:
        """Return the options in the scope. Raises DiaError."""
        return {name: option_value(code, scope) for name, code in self.options.items()}

    def constants(self) -> dict[str, Value]:
        """Return the options that are the same in all instances. Raises DiaError."""
        no_values: Scope = {}
        return {name: option_value(code, no_values) for name, code in self.options.items() if is_constant(code)}

    def fault(self, option_fault: OptionFault) -> DiaError:
        """Return the error of an option, at its position."""
        option = self.asset.options.get(option_fault.option or "")
        first = next(iter(option), None) if isinstance(option, tuple) else option
        place = first.position if first is not None else self.asset.position
        return DiaError(Diagnostic("E408", f"`{self.asset.name}`: {option_fault.message}", place, option_fault.help))


@dataclass(frozen=True, slots=True)
class Reached:
    """What a piece uses: values of the instance, and parts that are the same in all instances.

    `fields` are the fields of each value that it reads.

    `fields` are those that are read of each value.
    """

    names: frozenset[str]
    parts: Mapping[str, Any]
    fields: Fields = field(default_factory=dict)

    def record(self, kind: str, text: str, scope: Mapping[str, Value], is_narrow: bool = False) -> dict[str, Any]:
        """Return the piece as it is stored with the values of an instance, reduced to the fields that it reads."""
        values = {name: scope[name] for name in sorted(self.names) if name in scope}
        if is_narrow:
            values = {name: narrowed(value, self.fields.get(name, ALL)) for name, value in values.items()}
        stored = {name: encode(value) for name, value in values.items()}
        return {kind: text, "names": stored, **self.parts}


@dataclass(slots=True)
class Prepared:
    """A template in which everything is compiled and ordered."""

    benchmark: Benchmark
    template: Template
    namespace: Namespace
    lists: dict[str, DatumCode] = field(default_factory=dict)
    makers: dict[str, Maker] = field(default_factory=dict)
    plan: list[Step] = field(default_factory=list)
    lets: dict[str, CompiledExpression] = field(default_factory=dict)
    assets: dict[str, AssetCode] = field(default_factory=dict)
    rest: list[tuple[str, CompiledExpression | AssetCode]] = field(default_factory=list)
    after: list[tuple[str, CompiledExpression]] = field(default_factory=list)
    reply_lets: dict[str, CompiledExpression] = field(default_factory=dict)
    answer: CompiledExpression | None = None
    options: Options | None = None
    comparison: DatumCode | None = None
    accept: list[DatumCode] = field(default_factory=list)
    accept_if: CompiledExpression | None = None
    share: CompiledExpression | None = None
    unanswerable: CompiledExpression | None = None
    checks: list[CompiledExpression] = field(default_factory=list)
    mistakes: dict[str, CompiledExpression] = field(default_factory=dict)
    wording: Wording = field(default_factory=lambda: Wording(None))
    variants: list[Wording] = field(default_factory=list)
    wrapper: CompiledTemplate | None = None
    explanation: CompiledTemplate | None = None
    skills: DatumCode | None = None
    entry_makers: dict[tuple[str, str], dict[str, Maker]] = field(default_factory=dict)
    used_functions: set[str] = field(default_factory=set)
    places: dict[int, Position | None] = field(default_factory=dict)
    uses: dict[str, frozenset[str]] = field(default_factory=dict)
    accept_parts: Reached | None = None
    session_plan: SessionPlan | None = None
    share_parts: Reached | None = None
