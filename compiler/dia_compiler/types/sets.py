"""Parameter types whose order says nothing: set, subset."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from itertools import pairwise
from math import prod
from typing import Any

from dia_runtime.language.diagnostics import did_you_mean
from dia_runtime.language.values import Entry, Record, Value

from dia_compiler.types.base import (
    VAST,
    Choose,
    Domain,
    Enumerable,
    OptionFault,
    ParameterType,
    key_of,
    length_option,
    option,
    order_of,
)
from dia_compiler.types.members import members
from dia_compiler.types.ranks import COUNT_CAP, capped_choices, capped_subsets, drawn_places
from dia_compiler.types.structures import Entries
from dia_compiler.types.texts import Items, items_option

SHORT = 4
TABLE = 100_000


def drawn_length(choose: Choose, low: int, high: int) -> int:
    """A length between the bounds; no choice where they are one."""
    return low + choose.below(high - low + 1) if high > low else low


class Subsets(Domain):
    """Subsets of numbered values: their length, then one choice by rank; in the order of the values, or ascending."""

    def __init__(self, of: Enumerable, low: int, high: int, is_ascending: bool) -> None:
        self.of, self.low, self.high, self.is_ascending = of, low, high, is_ascending

    def draw(self, choose: Choose) -> Value:
        places = drawn_places(choose, self.of.count, drawn_length(choose, self.low, self.high))
        return self._values(places)

    def _values(self, places: list[int]) -> Value:
        found = [self.of.at(place) for place in places]
        return sorted(found, key=order_of) if self.is_ascending else found

    @cached_property
    def places(self) -> dict[Any, int]:
        """Where each value stands; asked of written lists alone."""
        return {key_of(self.of.at(place)): place for place in range(self.of.count)}

    def contains(self, value: Value) -> bool:
        if not isinstance(value, list) or not self.low <= len(value) <= self.high:
            return False
        if not all(map(self.of.contains, value)):
            return False
        is_written = isinstance(self.of, Items) and not self.is_ascending
        order = [self.places[key_of(item)] for item in value] if is_written else list(map(order_of, value))
        return all(first < second for first, second in pairwise(order))

    @property
    def count(self) -> int:
        return capped_subsets(self.of.count, self.low, self.high)

    def boundary(self) -> list[Value]:
        """The first and the last values, as few and as many as there may be."""
        size = self.of.count
        found = [range(start, start + length) for length in (self.low, self.high) for start in (0, size - length)]
        return [self._values(list(places)) for places in dict.fromkeys(map(tuple, found))]


class FreeSets(Domain):
    """Ascending sets of values that are too many to be numbered.

    Up to four values are drawn until they ascend, so that each set comes of one way alone. Longer sets, and those of
    values without number, are left to the stream: among at least 2**71 of them a clash is out of the question.
    """

    is_counted = False

    def __init__(self, of: Domain, low: int, high: int) -> None:
        self.of, self.low, self.high = of, low, high

    def draw(self, choose: Choose) -> Value:
        length = drawn_length(choose, self.low, self.high)
        if length <= SHORT and capped_choices(self.of.count, length) <= VAST << 64:
            return choose.where(lambda inner: self._drawn(inner, length), _ascends, tries=100_000)
        choose.vast()
        found: dict[Any, Value] = {}
        for _ in range(length):
            value = choose.where(self.of.draw, lambda value: key_of(value) not in found, tries=10_000)
            found[key_of(value)] = value
        return sorted(found.values(), key=order_of)

    def _drawn(self, choose: Choose, length: int) -> list[Value]:
        return [self.of.draw(choose) for _ in range(length)]

    def contains(self, value: Value) -> bool:
        if not isinstance(value, list) or not self.low <= len(value) <= self.high:
            return False
        return all(map(self.of.contains, value)) and _ascends(value)

    @property
    def count(self) -> int:
        return capped_subsets(self.of.count, self.low, self.high)


def _ascends(values: list[Value]) -> bool:
    return all(order_of(first) < order_of(second) for first, second in pairwise(values))


def sets_of(of: Domain, low: int, high: int, is_ascending: bool, name: str) -> Domain:
    """The sets of a domain's values with lengths between bounds. Raises OptionFault where there are too few values."""
    numbered = members(of)
    if numbered is None:
        return FreeSets(of, low, high)
    if numbered.count < high:
        raise OptionFault(name, f"{high} elements that differ, of only {numbered.count} values")
    return Subsets(numbered, low, high, is_ascending or not isinstance(numbered, Items))


class SetType(ParameterType):
    """A set of values of one type."""

    name = "set"
    summary = "a list of different values of one type, in ascending order"
    options = {
        "of": option("type", "the type of its elements", required=True),
        "length": option("data", "number of elements, or {min, max}", required=True),
    }

    def domain(self, options: Mapping[str, Any]) -> Domain:
        return sets_of(options["of"], *length_option(options), is_ascending=True, name="length")


class Apart:
    """Groups of places of which each gives at most one; their subsets are numbered group by group.

    `ways[g][s]` counts those of s places from the groups g and later.
    """

    def __init__(self, groups: list[list[int]], longest: int) -> None:
        self.groups = groups
        if len(groups) * (longest + 1) > TABLE:
            raise OptionFault("size", f"`apart` goes up to {TABLE} groups times elements")
        self.ways = counted_ways([len(group) for group in groups], longest)

    def drawn(self, choose: Choose, length: int) -> list[int]:
        """Ascending places, no two of one group."""
        rank, found = choose.below(self.ways[0][length]), []
        for number, group in enumerate(self.groups):
            without = self.ways[number + 1][length]
            if rank < without:
                continue
            member, rank = divmod(rank - without, self.ways[number + 1][length - 1])
            found.append(group[member])
            length -= 1
        return sorted(found)

    def is_apart(self, places: list[int]) -> bool:
        """Whether no two of the places are of one group."""
        chosen = set(places)
        return all(len(chosen.intersection(group)) < 2 for group in self.groups)


def counted_ways(sizes: list[int], longest: int) -> list[list[int]]:
    """For each group on: the ways to choose 0, 1, 2 ... up to `longest` things, at most one of a group."""
    rows = [[1] + [0] * longest]
    for size in reversed(sizes):
        last = rows[-1]
        rows.append([last[0]] + [last[s] + size * last[s - 1] for s in range(1, longest + 1)])
    return rows[::-1]


class ApartSubsets(Domain):
    """Subsets of a list in its order of which no two items share the field."""

    def __init__(self, items: list[Value], low: int, high: int, apart: Apart) -> None:
        self.items, self.low, self.high, self.apart = items, low, high, apart
        self.places = {key_of(item): place for place, item in enumerate(items)}

    def draw(self, choose: Choose) -> Value:
        places = self.apart.drawn(choose, drawn_length(choose, self.low, self.high))
        return [self.items[place] for place in places]

    def contains(self, value: Value) -> bool:
        if not isinstance(value, list) or not self.low <= len(value) <= self.high:
            return False
        places = [self.places.get(key_of(item), -1) for item in value]
        return is_ascending(places) and self.apart.is_apart(places)

    @property
    def count(self) -> int:
        return min(COUNT_CAP, sum(self.apart.ways[0][self.low : self.high + 1]))


def is_ascending(places: list[int]) -> bool:
    """Whether the places are of things that are there, each after the one before."""
    return all(place >= 0 for place in places) and all(first < second for first, second in pairwise(places))


class EntrySubsets(Domain):
    """Subsets of a catalog's entries, in their order, each entry at most once and with its own values drawn."""

    def __init__(self, of: Entries, low: int, high: int, apart: Apart) -> None:
        self.of, self.low, self.high, self.apart = of, low, high, apart
        self.places = {name: place for place, name in enumerate(of.names)}

    def draw(self, choose: Choose) -> Value:
        places = self.apart.drawn(choose, drawn_length(choose, self.low, self.high))
        return [self._entry(self.of.names[place], choose) for place in places]

    def _entry(self, name: str, choose: Choose) -> Entry:
        domains = self.of.catalog.entries[name]()
        return Entry(self.of.catalog.name, name, Record((key, held.draw(choose)) for key, held in domains.items()))

    def contains(self, value: Value) -> bool:
        if not isinstance(value, list) or not self.low <= len(value) <= self.high:
            return False
        if not all(map(self.of.contains, value)):
            return False
        places = [self.places[entry.name] for entry in value]
        return is_ascending(places) and self.apart.is_apart(places)

    @property
    def is_counted(self) -> bool:  # type: ignore[override]
        return all(held.is_counted for make in self.of.catalog.entries.values() for held in make().values())

    @property
    def count(self) -> int:
        sizes = [prod(held.count for held in make().values()) for make in self.of.catalog.entries.values()]
        sizes = [min(size, COUNT_CAP) for size in sizes]
        weights = [sum(sizes[place] for place in group) for group in self.apart.groups]
        return min(COUNT_CAP, sum(counted_ways(weights, self.high)[0][self.low :]))


class SubsetType(ParameterType):
    """Some of the items of a list, of the entries of a catalog, or of the values of a type."""

    name = "subset"
    summary = "some items of a list, or some entries of a catalog, in their order"
    options = {
        "of": option("items", "the items: a list, {from: list}, an expression, or a type", required=True),
        "size": option("data", "number of items, or {min, max}", required=True),
        "apart": option("data", "a field of the items, or a fact or face of the entries, that no two may share"),
    }

    def domain(self, options: Mapping[str, Any]) -> Domain:
        of = options["of"]
        low, high = length_option(options, name="size")
        apart = options.get("apart")
        if apart is not None and not isinstance(apart, str):
            raise OptionFault("apart", "`apart` must be the name of a field, fact or face")
        if isinstance(of, Entries):
            return _entry_subsets(of, low, high, apart)
        if not isinstance(of, Domain):
            of = Items(items_option(options), None)
        if apart is None:
            return sets_of(of, low, high, False, "size")
        if not isinstance(of, Items):
            raise OptionFault("apart", "`apart` goes with a list of records, or with a catalog")
        return ApartSubsets(of.items, low, high, _apart([_field(item, apart) for item in of.items], high))


def _entry_subsets(of: Entries, low: int, high: int, apart: str | None) -> Domain:
    if of.weights is not None:
        raise OptionFault("of", "entries of a subset have no weights", "leave `weights` out")
    return EntrySubsets(of, low, high, _apart(_facts(of, apart), high))


def _apart(keys: list[Any], longest: int) -> Apart:
    """The places of equal keys as groups, in the order of their first ones. Raises OptionFault."""
    groups: dict[Any, list[int]] = {}
    for place, key in enumerate(keys):
        groups.setdefault(key, []).append(place)
    if longest > len(groups):
        raise OptionFault("size", f"{longest} items apart, of only {len(groups)}")
    return Apart(list(groups.values()), longest)


def _field(item: Value, name: str) -> Any:
    if not isinstance(item, Record) or name not in item:
        raise OptionFault("apart", f"`apart` is a field that every item has; one has no `{name}`")
    return key_of(item[name])


def _facts(of: Entries, name: str | None) -> list[Any]:
    """What each entry says under the name; an entry that says nothing stands alone, as all do without a name."""
    if name is None:
        return list(of.names)
    facts = of.catalog.facts
    known = sorted({key for held in facts.values() for key in held})
    if name not in known:
        mend = did_you_mean(name, known) or "an entry may have a `group: word`"
        raise OptionFault("apart", f"no entry of the catalog has `{name}`", mend)
    said = [facts.get(entry, {}).get(name) for entry in of.names]
    return [(fact is None, entry if fact is None else fact) for entry, fact in zip(of.names, said, strict=True)]
