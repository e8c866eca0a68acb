"""Parameter types that combine other types: record, one_of, entry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any

from dia_language.diagnostics import did_you_mean
from dia_language.numbers.values import Entry, Record, Value

from dia_compiler.types.base import (
    Choose,
    Domain,
    Enumerable,
    OptionFault,
    ParameterType,
    option,
    weights_option,
    written,
)


def field_refusal(fields: Mapping[str, Domain], values: Mapping[str, Value]) -> str | None:
    """Return which field of a record is missing, unknown or outside its type."""
    missing = next((name for name in fields if name not in values), None)
    if missing is not None:
        return f"the field `{missing}` is missing"
    other = next((name for name in values if name not in fields), None)
    if other is not None:
        return f"there is no field `{other}`"
    for name, domain in fields.items():
        if not domain.contains(values[name]):
            return f"the field `{name}`: {domain.refusal(values[name]) or f'{written(values[name])} is not allowed'}"
    return None


class Records(Domain):
    """Records whose fields are drawn in declaration order."""

    __slots__ = ("fields",)

    def __init__(self, fields: Mapping[str, Domain]) -> None:
        self.fields = fields

    def draw(self, choose: Choose) -> Value:
        return Record({name: domain.draw(choose) for name, domain in self.fields.items()})

    def contains(self, value: Value) -> bool:
        return (
            isinstance(value, Mapping)
            and set(value) == set(self.fields)
            and all(domain.contains(value[name]) for name, domain in self.fields.items())
        )

    def refusal(self, value: Value) -> str | None:
        if not isinstance(value, Mapping):
            return f"{written(value)} is not a record"
        return field_refusal(self.fields, value)

    @property
    def count(self) -> int:
        return prod(domain.count for domain in self.fields.values())

    @property
    def is_counted(self) -> bool:  # type: ignore[override]
        return all(domain.is_counted for domain in self.fields.values())

    def boundary(self) -> list[Value]:
        edges = {name: domain.boundary() for name, domain in self.fields.items()}
        if not all(edges.values()):
            return []
        return [Record((name, values[place]) for name, values in edges.items()) for place in (0, -1)]


class RecordType(ParameterType):
    summary = "a record with named fields, each with its own type"
    options = {"fields": option("fields", "the name and type of each field", required=True)}

    def domain(self, options: Mapping[str, Any]) -> Domain:
        if not options["fields"]:
            raise OptionFault("fields", "`fields` is empty")
        return Records(options["fields"])


class Alternatives(Domain):
    """A value of one of several domains; the domain is the first choice."""

    __slots__ = ("of", "weights")

    def __init__(self, of: list[Domain], weights: tuple[int, ...] | None) -> None:
        self.of, self.weights = of, weights

    def draw(self, choose: Choose) -> Value:
        place = choose.below(len(self.of)) if self.weights is None else choose.weighted(self.weights)
        return self.of[place].draw(choose)

    def contains(self, value: Value) -> bool:
        return any(domain.contains(value) for domain in self.of)

    @property
    def count(self) -> int:
        return sum(domain.count for domain in self.of)

    @property
    def is_counted(self) -> bool:  # type: ignore[override]
        return all(domain.is_counted for domain in self.of)

    def boundary(self) -> list[Value]:
        return [value for domain in self.of for value in domain.boundary()]


class OneOfType(ParameterType):
    """A value of one of several types, which should not share values."""

    summary = "a value of one of several types"
    options = {
        "of": option("types", "the types", required=True),
        "weights": option("data", "integer weights, one per type"),
    }

    def domain(self, options: Mapping[str, Any]) -> Domain:
        if not options["of"]:
            raise OptionFault("of", "`of` is empty")
        return Alternatives(options["of"], weights_option(options, len(options["of"])))


@dataclass(frozen=True, slots=True)
class CatalogDomain:
    """A catalog as types see it: for each entry, a maker of the domains of its parameters, and its plain facts."""

    name: str
    entries: Mapping[str, Callable[[], Mapping[str, Domain]]]
    facts: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


class Entries(Domain):
    """The entries of a catalog, with their parameters drawn."""

    __slots__ = ("catalog", "domains", "names", "weights")

    def __init__(self, catalog: CatalogDomain, weights: tuple[int, ...] | None) -> None:
        self.catalog, self.weights = catalog, weights
        self.names = list(catalog.entries)
        self.domains: dict[str, Mapping[str, Domain]] = {}

    def draw(self, choose: Choose) -> Value:
        place = choose.below(len(self.names)) if self.weights is None else choose.weighted(self.weights)
        return self.entry(self.names[place], choose)

    def entry(self, name: str, choose: Choose) -> Entry:
        """The entry with this name, with its values drawn. Their domains depend only on lists and are made once."""
        domains = self.domains.get(name)
        if domains is None:
            domains = self.domains[name] = self.catalog.entries[name]()
        return Entry(self.catalog.name, name, Record({part: of.draw(choose) for part, of in domains.items()}))

    def contains(self, value: Value) -> bool:
        if not isinstance(value, Entry) or value.catalog != self.catalog.name or value.name not in self.names:
            return False
        domains = self.catalog.entries[value.name]()
        return set(domains) == set(value.values) and all(
            domain.contains(value.values[name]) for name, domain in domains.items()
        )

    def refusal(self, value: Value) -> str | None:
        if not isinstance(value, Entry) or value.catalog != self.catalog.name:
            return f"{written(value)} is not an entry of the catalog `{self.catalog.name}`"
        if value.name not in self.names:
            close = did_you_mean(value.name, self.names)
            return f"the catalog has no entry `{value.name}`" + (f"; {close}" if close else "")
        return field_refusal(self.catalog.entries[value.name](), value.values)

    @property
    def count(self) -> int:
        return sum(prod(domain.count for domain in make().values()) for make in self.catalog.entries.values())


class PlainEntries(Entries, Enumerable):
    """The entries of a catalog without parameters, in declaration order, by name."""

    __slots__ = ()

    def at(self, index: int) -> Value:
        return Entry(self.catalog.name, self.names[index], Record())

    def name_at(self, index: int) -> str:
        return self.names[index]


class EntryType(ParameterType):
    summary = "an entry of a catalog, with its parameters drawn"
    options = {
        "of": option("catalog", "the catalog's name", required=True),
        "weights": option("data", "integer weights, one per entry"),
    }

    def domain(self, options: Mapping[str, Any]) -> Domain:
        catalog: CatalogDomain = options["of"]
        weights = weights_option(options, len(catalog.entries))
        is_plain = weights is None and not any(make() for make in catalog.entries.values())
        return PlainEntries(catalog, None) if is_plain else Entries(catalog, weights)
