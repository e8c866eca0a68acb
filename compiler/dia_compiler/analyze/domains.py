"""Make the domain of a type in a spec: evaluate its options, build nested types, attach conditions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from operator import is_
from typing import Any

from dia_compiler.parse.model import DataFile, Datum, Option, Snippet, TypeUse
from dia_compiler.parse.model_builder import marked
from dia_compiler.parse.yaml_pitfalls import compiled
from dia_compiler.types import TYPES
from dia_compiler.types.base import Choose, Domain, OptionFault, written
from dia_language.diagnostics import DiaError, Diagnostic, LanguageError, Position, did_you_mean
from dia_language.expressions.expressions import CompiledExpression
from dia_language.expressions.namespace import Namespace
from dia_language.expressions.syntax import CONSTANTS, Source, Use
from dia_language.numbers.operators import truth
from dia_language.numbers.values import Record, Value
from dia_language.workers.heartbeat import note_failure
from dia_language.yaml_nodes import Mapping as MappingNode
from dia_language.yaml_nodes import Node, Scalar, Sequence

Scope = dict[str, Value]
Evaluated = Callable[[Scope], Value]
PLAIN = frozenset({int, str, bool})
MOST_CACHED = 32  # cached domains of one type in a template


@dataclass(frozen=True, slots=True)
class DatumCode:
    """A datum ready to be evaluated; `uses` are the names in its expressions, `calls` the functions."""

    evaluate: Evaluated
    uses: tuple[tuple[Snippet, Use], ...]
    calls: tuple[tuple[Snippet, Use], ...]
    is_constant: bool


def compile_datum(node: Node, namespace: Namespace, values: frozenset[str]) -> DatumCode:
    """Return the datum as a function of the scope; texts that start with `= ` are expressions."""
    if isinstance(node, Scalar):
        piece = marked(node)
        if piece is None:
            return DatumCode(lambda scope, value=node.value: value, (), (), True)  # type: ignore[misc]
        code = compiled(piece, namespace, values)
        uses = tuple((piece, use) for use in code.parsed.names if use.name in values)
        calls = tuple((piece, use) for use in code.parsed.calls + code.parsed.function_names)
        return _gathered([DatumCode(code, uses, calls, not uses and not calls)], code)
    if isinstance(node, Sequence):
        items = [compile_datum(item, namespace, values) for item in node.items]
        return _gathered(items, lambda scope: [item.evaluate(scope) for item in items])
    listed = _list_name(node)
    if listed is not None:
        return _named_list(listed, values)
    pairs = [(key.text, compile_datum(value, namespace, values)) for key, value in node.pairs]
    return _gathered([code for _, code in pairs], lambda scope: Record((name, c.evaluate(scope)) for name, c in pairs))


def _gathered(parts: list[DatumCode], evaluate: Evaluated) -> DatumCode:
    uses = tuple(use for part in parts for use in part.uses)
    calls = tuple(call for part in parts for call in part.calls)
    if all(part.is_constant for part in parts) and not uses:
        cached: list[Value] = []

        def once(scope: Scope) -> Value:
            if not cached:
                cached.append(evaluate(scope))
            return cached[0]

        return DatumCode(once, uses, calls, True)
    return DatumCode(evaluate, uses, calls, False)


def _list_name(node: MappingNode) -> Scalar | None:
    source = node.get("from")
    return source if len(node.pairs) == 1 and isinstance(source, Scalar) else None


def _named_list(name: Scalar, values: frozenset[str]) -> DatumCode:
    if name.text not in values:
        message = f"unknown list `{name.text}`"
        raise DiaError(Diagnostic("E303", message, name.position, did_you_mean(name.text, values)))
    text = name.text
    return DatumCode(lambda scope: scope[text], ((Snippet(text, name), Use(text, 0)),), (), False)


def truth_of(value: Value, source: Source) -> bool:
    """Return the condition's value as a boolean. Raises DiaError if it is not one."""
    try:
        return truth(value)
    except LanguageError as error:
        raise DiaError(Diagnostic("E203", error.message, source.place(0), error.help)) from None


class Filtered(Domain):
    """A domain with conditions: values that fail one are redrawn."""

    __slots__ = ("base", "failed", "holds")
    is_counted = False

    def __init__(
        self, base: Domain, holds: Callable[[Value], bool], failed: Callable[[Value], str] | None = None
    ) -> None:
        self.base, self.holds, self.failed = base, holds, failed

    def draw(self, choose: Choose) -> Value:
        return choose.where(self.base.draw, self.holds)

    def contains(self, value: Value) -> bool:
        return self.base.contains(value) and self.holds(value)

    def refusal(self, value: Value) -> str | None:
        if not self.base.contains(value):
            return self.base.refusal(value)
        return f"{written(value)} does not satisfy `{self.failed(value)}`" if self.failed else None

    @property
    def count(self) -> int:
        return self.base.count

    def boundary(self) -> list[Value]:
        return [value for value in self.base.boundary() if self.holds(value)]


def _refuse_bare_name(key: str, node: Node, values: frozenset[str], catalogs: Mapping[str, Any]) -> None:
    """Raise DiaError if a plain word is used where characters or items are expected: it would mean its own letters."""
    if key not in ("of", "alphabet") or not isinstance(node, Scalar):
        return
    name = node.text
    if name in values | CONSTANTS:
        what, help = "value", f"to use the value, write `= {name}`"
    elif name in catalogs:
        what, help = "catalog", f"to draw its entries, use `{{type: entry, of: {name}}}`"
    else:
        return
    message = f"`{name}` is a plain word here, not the {what} with that name"
    raise DiaError(Diagnostic("E403", message, node.position, help))


class Maker:
    """Makes the domain of a type in a template; a constant domain is made once."""

    def __init__(self, use: TypeUse, namespace: Namespace, values: frozenset[str], catalogs: Mapping[str, Any],
                 name: str = "") -> None:  # fmt: skip
        self.use, self.type, self.name = use, TYPES[use.kind], name
        self.catalogs = catalogs
        self.uses: list[tuple[Snippet, Use]] = []
        self.calls: list[tuple[Snippet, Use]] = []
        self.nested: list[Maker] = []
        self.parts = {key: self._part(key, option, namespace, values) for key, option in use.options.items()}
        # what the domain depends on; conditions are evaluated later and see its values
        impure = namespace.own.keys() - namespace.pure
        is_pure = all(use.name not in impure for _, use in self.calls) and not self.has_inner_conditions
        self.reads = tuple(dict.fromkeys(use.name for _, use in self.uses)) if is_pure else ()
        has_fixed_parts = not self.uses and not self.calls
        self.has_the_same_parts = has_fixed_parts and all(maker.is_constant for maker in self.nested)
        bound = values | {"it", name} if name else values | {"it"}
        self.where = [self._condition(piece, namespace, bound) for piece in use.where]
        self.is_fixed = not self.uses and not self.calls
        self.is_alike = not self.uses and not self.where and all(use.name not in namespace.own for _, use in self.calls)
        # library functions are pure, so the domain need not be made again for each draw
        self.is_the_same = self.is_constant or (self.is_alike and all(maker.is_alike for maker in self.nested))
        self.constant_domain: Domain | None = None
        self.base: Domain | None = None
        self.domains_by_key: dict[Any, Domain] = {}
        self.last: tuple[list[Value], Domain] | None = None

    @property
    def has_inner_conditions(self) -> bool:
        """Whether a nested type has a `where`, which uses the scope of its own draw."""
        return any(maker.where or maker.has_inner_conditions for maker in self.nested)

    def conditions(self) -> Iterator[CompiledExpression]:
        """Yield the conditions of the type, then those of nested types."""
        yield from self.where
        for maker in self.nested:
            yield from maker.conditions()

    @property
    def is_constant(self) -> bool:
        """Return whether the domain is the same for every instance."""
        return self.is_fixed and not self.where and all(maker.is_constant for maker in self.nested)

    def _condition(self, piece: Snippet, namespace: Namespace, values: frozenset[str]) -> CompiledExpression:
        code = compiled(piece, namespace, values)
        own = {"it", self.name}
        self.uses += [(piece, u) for u in code.parsed.names if u.name in values and u.name not in own]
        self.calls += [(piece, use) for use in code.parsed.calls + code.parsed.function_names]
        return code

    def _part(self, key: str, option: Option, namespace: Namespace, values: frozenset[str]) -> Callable[[Scope], Any]:
        if isinstance(option, DataFile):
            return lambda scope: option.table
        if isinstance(option, Datum) and self.type.options[key].reads == "row":
            return self._of_row(option, namespace, values)
        if isinstance(option, Datum):
            _refuse_bare_name(key, option.node, values, self.catalogs)
            code = compile_datum(option.node, namespace, values)
            self.uses += code.uses
            self.calls += code.calls
            return code.evaluate
        if isinstance(option, TypeUse):
            return self._nested(option, namespace, values).make
        if isinstance(option, tuple):
            makers = [self._nested(use, namespace, values) for use in option]
            return lambda scope: [maker.make(scope) for maker in makers]
        if isinstance(option, dict):
            fields = {name: self._nested(use, namespace, values) for name, use in option.items()}
            return lambda scope: {name: maker.make(scope) for name, maker in fields.items()}
        return self._catalog(option, namespace)

    def _nested(self, use: TypeUse, namespace: Namespace, values: frozenset[str]) -> Maker:
        maker = Maker(use, namespace, values, self.catalogs)
        self.nested.append(maker)
        self.uses += maker.uses
        self.calls += maker.calls
        return maker

    def _of_row(self, datum: Datum, namespace: Namespace, values: frozenset[str]) -> Callable[[Scope], Any]:
        """Return an expression over a row as a function of the row; a new function for each scope."""
        piece = marked(datum.node) if isinstance(datum.node, Scalar) else None
        if piece is None:
            raise DiaError(
                Diagnostic("E203", "this option must be an expression", datum.position, "for example `= row.id`")
            )
        own = {"row", "it", self.name} - {""}
        code = compiled(piece, namespace, values | own)
        self.uses += [(piece, use) for use in code.parsed.names if use.name in values and use.name not in own]
        self.calls += [(piece, use) for use in code.parsed.calls + code.parsed.function_names]
        return lambda scope: lambda row: code({**scope, **dict.fromkeys(own, row)})

    def _catalog(self, name: Scalar, namespace: Namespace) -> Callable[[Scope], Any]:
        domain = self.catalogs.get(name.text)
        if domain is None:
            message = f"unknown catalog `{name.text}`"
            raise DiaError(Diagnostic("E303", message, name.position, did_you_mean(name.text, self.catalogs)))
        return lambda scope: domain

    def make(self, scope: Scope) -> Domain:
        """Return the domain under the scope. Raises DiaError at an invalid option."""
        if self.constant_domain is not None:
            return self.constant_domain
        domain = self.base
        if domain is None:
            domain = self._cached(scope)
            if self.is_the_same:
                self.constant_domain = domain
            elif self.has_the_same_parts:
                self.base = domain
        return Filtered(domain, self._holds(scope), self._failed(scope)) if self.where else domain

    def _cached(self, scope: Scope) -> Domain:
        """Return the domain, cached by what it depends on if that is a few plain values or the same lists."""
        if not self.reads:
            return self._build(scope)
        values = [scope.get(name) for name in self.reads]
        if self.last is not None and all(map(is_, values, self.last[0])):
            return self.last[1]
        kinds = tuple(map(type, values))
        if not PLAIN.issuperset(kinds):
            self.last = (values, self._build(scope))
            return self.last[1]
        key = (kinds, *values)
        if key not in self.domains_by_key:
            if len(self.domains_by_key) >= MOST_CACHED:
                self.domains_by_key.clear()
            self.domains_by_key[key] = self._build(scope)
        return self.domains_by_key[key]

    def _build(self, scope: Scope) -> Domain:
        try:
            return self.type.domain({key: part(scope) for key, part in self.parts.items()})
        except OptionFault as fault:
            raise DiaError(Diagnostic("E403", fault.message, self._position(fault.option), fault.help)) from None

    def _holds(self, scope: Scope) -> Callable[[Value], bool]:
        def holds(value: Value) -> bool:
            scope["it"] = value
            if self.name:
                scope[self.name] = value
            for condition in self.where:
                if not truth_of(condition(scope), condition.parsed.source):
                    note_failure(condition.number)
                    return False
            return True

        return holds

    def _failed(self, scope: Scope) -> Callable[[Value], str]:
        """Return a function that gives the source of the first condition that a value fails."""

        def failed(value: Value) -> str:
            own = {"it": value, **({self.name: value} if self.name else {})}
            sources = [
                code.parsed.source for code in self.where if not truth_of(code({**scope, **own}), code.parsed.source)
            ]
            return " ".join(sources[0].text.split()) if sources else ""

        return failed

    def _position(self, option: str | None) -> Position:
        option_use = self.use.options.get(option or "")
        return option_use.position if isinstance(option_use, (Datum, DataFile, TypeUse, Scalar)) else self.use.position
