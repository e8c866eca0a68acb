"""Parameter types of data files: row, rows."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

from dia_language.diagnostics import LanguageError, counted
from dia_language.numbers.values import Record, Value, plain

from dia_compiler.types.base import (
    Choose,
    Domain,
    Enumerable,
    OptionFault,
    ParameterType,
    integer_option,
    key_of,
    option,
    written,
)
from dia_compiler.types.ranks import COUNT_CAP, capped_choices, drawn_places
from dia_compiler.types.tables import Table

NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}", re.ASCII)
MOST_SIZE = 1_000

FROM = option("file", "a .jsonl, .csv or .parquet file in the spec folder", required=True)
COLUMNS = option(
    "columns",
    "a list of the columns to read (default all); or, for .csv, a mapping such as {price: decimal}: all columns are "
    "read, and the named ones are integer, decimal or boolean instead of text",
)


class Rows(Enumerable):
    """The rows of a table in file order, named by `names` or by their numbers."""

    def __init__(self, table: Table, names: Sequence[str] | None) -> None:
        self.table, self.names = table, names

    @property
    def count(self) -> int:
        return self.table.count

    def at(self, index: int) -> Value:
        return self.table.at(index)

    def name_at(self, index: int) -> str | None:
        return str(index) if self.names is None else self.names[index]

    def contains(self, value: Value) -> bool:
        return self.table.find(value) is not None

    def refusal(self, value: Value) -> str:
        return row_refusal(self.table, value)


def row_refusal(table: Table, value: Value) -> str:
    """Return why a value is not a row of the table."""
    if not isinstance(value, Mapping):
        return f"{written(value)} is not a record of {', '.join(table.columns)}"
    missing = next((column for column in table.columns if column not in value), None)
    if missing is not None:
        return f"the column `{missing}` is missing"
    other = next((name for name in value if name not in table.columns), None)
    return f"no row of `{table.name}` is {written(value)}" if other is None else f"there is no column `{other}`"


def names_of(table: Table, identify: Callable[[Record], Value] | None) -> list[str] | None:
    """Return the names of the rows from the option `id`, all different; None without it. Raises OptionFault."""
    if identify is None:
        return None
    numbers: dict[str, int] = {}
    for number in range(table.count):
        name = _name_of(identify(table.at(number)), number, table)
        first = numbers.setdefault(name, number)
        if first != number:
            both = f"data rows {first + 1} and {number + 1} of `{table.name}`"
            raise OptionFault("id", f"{both} have the same id, `{name}`")
    return list(numbers)


def _name_of(value: Value, number: int, table: Table) -> str:
    try:
        text = plain(value) if isinstance(value, (str, int)) and type(value) is not bool else ""
    except LanguageError:
        text = ""
    if not NAME.fullmatch(text):
        help = (
            "an id has 1 to 64 letters, digits, _, . and -; use an integer, or a hash such as `= "
            "hex(sha256(utf8(row.text)))[:12]`"
        )
        where = f"data row {number + 1} of `{table.name}`"
        raise OptionFault("id", f"the id {written(value)} is invalid ({where})", help)
    return text


class RowType(ParameterType):
    summary = "a row of a data file, as a record of its columns"
    options = {
        "from": FROM,
        "columns": COLUMNS,
        "id": option(
            "row",
            "a name for each row: an expression over `row` (default the row number, counted from 0)",
        ),
    }

    def domain(self, options: Mapping[str, Any]) -> Domain:
        return Rows(options["from"], names_of(options["from"], options.get("id")))


class RowLists(Domain):
    """Lists of rows in file order."""

    def __init__(self, table: Table) -> None:
        self.table = table

    def listed(self, numbers: Sequence[int]) -> Value:
        return [self.table.at(number) for number in numbers]

    def contains(self, value: Value) -> bool:
        numbers = [self.table.find(row) for row in value] if isinstance(value, list) else []
        places = [number for number in numbers if number is not None]
        is_ascending = all(a < b for a, b in pairwise(places))
        return len(places) == len(numbers) > 0 and is_ascending and self.holds(places)

    def refusal(self, value: Value) -> str | None:
        if not isinstance(value, list) or not value:
            return f"{written(value)} is not a list of rows"
        for number, row in enumerate(value, 1):
            if self.table.find(row) is None:
                return f"element {number}: {row_refusal(self.table, row)}"
        places = [self.table.find(row) or 0 for row in value]
        if not all(a < b for a, b in pairwise(places)):
            return "the rows must be different, and in the order of the file"
        return "these rows are never drawn together, because of `size`, `group` or `stratify`"

    @abstractmethod
    def holds(self, numbers: Sequence[int]) -> bool:
        """Return whether the rows with these ascending numbers can be drawn together."""


def drawn_of(numbers: Sequence[int], size: int, choose: Choose) -> list[int]:
    """Return a sample of the ascending numbers, ascending."""
    return [numbers[place] for place in drawn_places(choose, len(numbers), size)]


class Samples(RowLists):
    """Samples of different rows of a table.

    With strata (rows that share a value of a column), each stratum gives the same number of rows, as far as it has
    them: every stratum gives min(its size, level) rows for the highest level that is not too high, and the rows that
    are then missing come one each from strata that have more, drawn by rank.
    """

    def __init__(self, table: Table, size: int, strata: Sequence[Sequence[int]]) -> None:
        super().__init__(table)
        self.size, self.strata = size, strata
        sizes = [len(stratum) for stratum in strata]
        self.level = _level(sizes, size)
        self.larger = [place for place, stratum_size in enumerate(sizes) if stratum_size > self.level]
        self.missing = size - sum(min(stratum_size, self.level) for stratum_size in sizes)

    def draw(self, choose: Choose) -> Value:
        extra = set(drawn_of(self.larger, self.missing, choose)) if self.missing else set()
        numbers: list[int] = []
        for place, stratum in enumerate(self.strata):
            numbers += drawn_of(stratum, min(len(stratum), self.level) + (place in extra), choose)
        return self.listed(sorted(numbers))

    def holds(self, numbers: Sequence[int]) -> bool:
        counts = [len(set(stratum) & set(numbers)) for stratum in self.strata]
        over = [number - min(len(stratum), self.level) for number, stratum in zip(counts, self.strata, strict=True)]
        return sum(over) == self.missing and all(more in (0, 1) for more in over)

    @cached_property
    def counted(self) -> int:
        """The number of samples: `ways[m]` counts those in which m of the strata so far give one extra row."""
        ways = [1] + [0] * self.missing
        for stratum in self.strata:
            size, least = len(stratum), min(len(stratum), self.level)
            usual, more = capped_choices(size, least), capped_choices(size, least + 1)
            totals = (ways[m] * usual + (ways[m - 1] * more if m else 0) for m in range(self.missing + 1))
            ways = [min(number, COUNT_CAP) for number in totals]
        return ways[self.missing]

    @property
    def count(self) -> int:
        return self.counted

    def boundary(self) -> list[Value]:
        """Return the sample of the first rows of each stratum, and that of the last."""
        first, last = set(self.larger[: self.missing]), set(self.larger[len(self.larger) - self.missing :])
        sizes = [min(len(stratum), self.level) for stratum in self.strata]
        low = [n for at, stratum in enumerate(self.strata) for n in stratum[: sizes[at] + (at in first)]]
        high = [n for at, stratum in enumerate(self.strata) for n in stratum[len(stratum) - sizes[at] - (at in last) :]]
        return [self.listed(numbers) for numbers in dict.fromkeys((tuple(sorted(low)), tuple(sorted(high))))]


def _level(sizes: Sequence[int], most: int) -> int:
    """Return the highest level at which strata of these sizes give no more rows than wanted."""
    low, high = 0, max(sizes, default=0)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if sum(min(size, middle) for size in sizes) <= most else (low, middle - 1)
    return low


class Groups(Enumerable):
    """The whole groups of rows that share a value of a column, in the order in which the values first occur."""

    def __init__(self, table: Table, groups: Mapping[Any, Sequence[int]], values: Sequence[Value]) -> None:
        self.table, self.values = table, values
        self.groups = list(groups.values())

    @property
    def count(self) -> int:
        return len(self.groups)

    def at(self, index: int) -> Value:
        return [self.table.at(number) for number in self.groups[index]]

    def name_at(self, index: int) -> str | None:
        value = self.values[index]
        text = plain(value) if isinstance(value, (str, int)) and type(value) is not bool else ""
        return text if NAME.fullmatch(text) else None

    def contains(self, value: Value) -> bool:
        if not isinstance(value, list) or not value:
            return False
        first = self.table.find(value[0])
        group = next((group for group in self.groups if group[0] == first), None)
        return group is not None and key_of(value) == key_of([self.table.at(number) for number in group])


class GroupSamples(RowLists):
    """Samples of different rows of one group; the group is the first choice."""

    def __init__(self, table: Table, size: int, groups: Sequence[Sequence[int]]) -> None:
        super().__init__(table)
        self.size, self.groups = size, groups

    def draw(self, choose: Choose) -> Value:
        group = self.groups[choose.below(len(self.groups))]
        return self.listed(drawn_of(group, self.size, choose))

    def holds(self, numbers: Sequence[int]) -> bool:
        return len(numbers) == self.size and any(set(numbers) <= set(group) for group in self.groups)

    @cached_property
    def counted(self) -> int:
        """The number of samples of all groups."""
        return sum(capped_choices(len(group), self.size) for group in self.groups)

    @property
    def count(self) -> int:
        return self.counted

    def boundary(self) -> list[Value]:
        samples = (tuple(self.groups[0][: self.size]), tuple(self.groups[-1][-self.size :]))
        return [self.listed(numbers) for numbers in dict.fromkeys(samples)]


class RowsType(ParameterType):
    summary = "several different rows of a data file, in file order"
    options = {
        "from": FROM,
        "columns": COLUMNS,
        "id": option(
            "row",
            "an expression over `row` that identifies a row: two rows of the file with the same value are an error",
        ),
        "size": option("data", "number of rows; required, except with `group` (then default all rows of the group)"),
        "stratify": option("data", "a column: the rows are spread as evenly as possible over its values"),
        "group": option("data", "a column: all drawn rows have the same value in it"),
    }

    def domain(self, options: Mapping[str, Any]) -> Domain:
        table: Table = options["from"]
        names_of(table, options.get("id"))
        if "stratify" in options and "group" in options:
            raise OptionFault("stratify", "use only one of `stratify` and `group`", "remove one of them")
        size = self._size(options, table)
        if "group" in options:
            return self._group(table, size, options)
        assert size is not None
        strata = grouped(table, options, "stratify") if "stratify" in options else {None: range(table.count)}
        if len(strata) > MOST_SIZE:
            raise OptionFault(
                "stratify", f"`{options['stratify']}` has {len(strata):,} values, more than {MOST_SIZE:,}"
            )
        return Samples(table, size, list(strata.values()))

    def _size(self, options: Mapping[str, Any], table: Table) -> int | None:
        size = integer_option(options, "size")
        if size is None and "group" not in options:
            raise OptionFault(None, "`size` is missing", "add `size: ...`, the number of rows")
        most = min(MOST_SIZE, table.count)
        if size is not None and not 1 <= size <= most:
            raise OptionFault(
                "size", f"`size` must be between 1 and {most}; `{table.name}` has {counted(table.count, 'row')}"
            )
        return size

    def _group(self, table: Table, size: int | None, options: Mapping[str, Any]) -> Domain:
        groups = grouped(table, options, "group")
        if size is None:
            values = [table.at(group[0])[options["group"]] for group in groups.values()]
            largest = max(map(len, groups.values()))
            if largest > MOST_SIZE:
                raise OptionFault("group", f"a group has {largest:,} rows, more than {MOST_SIZE:,}", "add `size: ...`")
            return Groups(table, groups, values)
        large = [group for group in groups.values() if len(group) >= size]
        if not large:
            raise OptionFault("size", f"no group has {size} or more rows")
        return GroupSamples(table, size, large)


def grouped(table: Table, options: Mapping[str, Any], name: str) -> Mapping[Any, Sequence[int]]:
    """Return the row numbers by value of the column that the option names, in file order."""
    column = options[name]
    if column not in table.columns:
        raise OptionFault(
            name, f"`{table.name}` has no column `{column}`", f"its columns are {', '.join(table.columns)}"
        )
    groups: dict[Any, list[int]] = {}
    for number, value in enumerate(table.column(column)):
        groups.setdefault(key_of(value), []).append(number)
    return groups
