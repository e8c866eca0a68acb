"""The parameter type subset: of a list, of a catalog's entries, or of a type's values; optionally with `apart`."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from math import prod
from typing import Any

from dia_language.diagnostics import did_you_mean
from dia_language.numbers.values import Record, Value

from dia_compiler.types.base import Choose, Domain, OptionFault, ParameterType, key_of, length_option, option
from dia_compiler.types.ranks import COUNT_CAP
from dia_compiler.types.sets import sets_of
from dia_compiler.types.structures import Entries
from dia_compiler.types.texts import Items, items_option

TABLE = 100_000


class Apart:
    """Groups of positions, each of which contributes at most one; their subsets are numbered group by group.

    `ways[g][s]` is the number of subsets of s positions from group g on.
    """

    def __init__(self, groups: list[list[int]], longest: int) -> None:
        self.groups = groups
        if len(groups) * (longest + 1) > TABLE:
            raise OptionFault("size", f"`apart` supports at most {TABLE:,} groups times elements")
        self.ways = counted_ways([len(group) for group in groups], longest)

    def drawn(self, choose: Choose, length: int) -> list[int]:
        """Ascending positions, no two from the same group."""
        rank, places = choose.below(self.ways[0][length]), []
        for number, group in enumerate(self.groups):
            without = self.ways[number + 1][length]
            if rank < without:
                continue
            member, rank = divmod(rank - without, self.ways[number + 1][length - 1])
            places.append(group[member])
            length -= 1
        return sorted(places)

    def is_apart(self, places: list[int]) -> bool:
        """Return whether no two of the positions are in the same group."""
        chosen = set(places)
        return all(len(chosen.intersection(group)) < 2 for group in self.groups)


def counted_ways(sizes: list[int], longest: int) -> list[list[int]]:
    """For each group: the ways to choose 0, 1, ... `longest` items from it and later groups, at most one each."""
    rows = [[1] + [0] * longest]
    for size in reversed(sizes):
        last = rows[-1]
        rows.append([last[0]] + [last[s] + size * last[s - 1] for s in range(1, longest + 1)])
    return rows[::-1]


class ApartSubsets(Domain):
    """Subsets of a list, in its order, in which no two items share the field."""

    def __init__(self, items: list[Value], low: int, high: int, apart: Apart) -> None:
        self.items, self.low, self.high, self.apart = items, low, high, apart
        self.places = {key_of(item): place for place, item in enumerate(items)}

    def draw(self, choose: Choose) -> Value:
        places = self.apart.drawn(choose, choose.between(self.low, self.high))
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
    """Return whether the positions are valid and ascending."""
    return all(place >= 0 for place in places) and all(first < second for first, second in pairwise(places))


class EntrySubsets(Domain):
    """Subsets of a catalog's entries, in their order, each entry at most once, with its values drawn."""

    def __init__(self, of: Entries, low: int, high: int, apart: Apart) -> None:
        self.of, self.low, self.high, self.apart = of, low, high, apart
        self.places = {name: place for place, name in enumerate(of.names)}

    def draw(self, choose: Choose) -> Value:
        places = self.apart.drawn(choose, choose.between(self.low, self.high))
        return [self.of.entry(self.of.names[place], choose) for place in places]

    def contains(self, value: Value) -> bool:
        if not isinstance(value, list) or not self.low <= len(value) <= self.high:
            return False
        if not all(map(self.of.contains, value)):
            return False
        places = [self.places[entry.name] for entry in value]
        return is_ascending(places) and self.apart.is_apart(places)

    @property
    def is_counted(self) -> bool:  # type: ignore[override]
        return all(domain.is_counted for make in self.of.catalog.entries.values() for domain in make().values())

    @property
    def count(self) -> int:
        sizes = [prod(domain.count for domain in make().values()) for make in self.of.catalog.entries.values()]
        sizes = [min(size, COUNT_CAP) for size in sizes]
        weights = [sum(sizes[place] for place in group) for group in self.apart.groups]
        return min(COUNT_CAP, sum(counted_ways(weights, self.high)[0][self.low :]))


class SubsetType(ParameterType):
    """A subset of the items of a list, the entries of a catalog, or the values of a type."""

    summary = "some items of a list or entries of a catalog, in their original order"
    options = {
        "of": option(
            "items",
            "the items: a list, {from: NAME} for a list of the spec, an expression, or a type, such as "
            "{type: entry, of: NAME} for a catalog",
            required=True,
        ),
        "size": option("data", "number of items, or {min, max}", required=True),
        "apart": option(
            "data",
            "the field in which all drawn items must differ; for catalogs, see docs/reference/parameters.md",
        ),
    }

    def domain(self, options: Mapping[str, Any]) -> Domain:
        of = options["of"]
        low, high = length_option(options, name="size")
        apart = options.get("apart")
        if apart is not None and not isinstance(apart, str):
            raise OptionFault("apart", "`apart` must be `group`, or the name of a field or face")
        if isinstance(of, Entries):
            return _entry_subsets(of, low, high, apart)
        if not isinstance(of, Domain):
            of = Items(items_option(options), None)
        if apart is None:
            return sets_of(of, low, high, False, "size")
        if not isinstance(of, Items):
            raise OptionFault("apart", "`apart` needs a list of records, or a catalog")
        return ApartSubsets(of.items, low, high, _apart([_field(item, apart) for item in of.items], high))


def _entry_subsets(of: Entries, low: int, high: int, apart: str | None) -> Domain:
    if of.weights is not None:
        raise OptionFault("of", "`weights` cannot be used with subsets of a catalog", "remove `weights`")
    return EntrySubsets(of, low, high, _apart(_facts(of, apart), high))


def _apart(keys: list[Any], longest: int) -> Apart:
    """Return the positions of equal keys as groups, in order of their first positions. Raises OptionFault."""
    groups: dict[Any, list[int]] = {}
    for place, key in enumerate(keys):
        groups.setdefault(key, []).append(place)
    if longest > len(groups):
        raise OptionFault(
            "size", f"{longest} items with different values of `apart` are needed, but there are only {len(groups)}"
        )
    return Apart(list(groups.values()), longest)


def _field(item: Value, name: str) -> Any:
    if not isinstance(item, Record) or name not in item:
        raise OptionFault("apart", f"`apart` needs a field that every item has; one item has no `{name}`")
    return key_of(item[name])


def _facts(of: Entries, name: str | None) -> list[Any]:
    """The value of the group or face of each entry. An entry without it is its own group, as are all without a name."""
    if name is None:
        return list(of.names)
    facts = of.catalog.facts
    names = sorted({key for entry_facts in facts.values() for key in entry_facts})
    if name not in names:
        help = did_you_mean(name, names) or "give the entries groups, such as `group: word`"
        raise OptionFault("apart", f"no entry of the catalog has `{name}`", help)
    values = [facts.get(entry, {}).get(name) for entry in of.names]
    return [(fact is None, entry if fact is None else fact) for entry, fact in zip(of.names, values, strict=True)]
