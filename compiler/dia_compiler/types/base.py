"""Base classes of parameter types: a type turns options into a domain, which draws, counts and recognises values."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, overload

from dia_language.diagnostics import LanguageError, counted
from dia_language.numbers.values import Entry, Value, kind_of, plain

from dia_compiler.types.choices import VAST as VAST
from dia_compiler.types.choices import Choose as Choose

SHOWN = 60  # characters of a value in a message
ARITHMETIC = re.compile(r"(?=.*[+*/])-?\(?[0-9][0-9 ()+*/.-]*")
NUMBER_HELP = "write digits, as in `{name}: 8`, or an expression after `= `, as in `{name}: = n + 1`"
INTEGERS_HELP = 'write integers, as in `{name}: [3, 8]`, or an expression in quotes, as in `{name}: "= [n, 8]"`'
RANGE_HELP = "write `{name}: 8`, `{name}: {{min: 4, max: 8}}`, or an expression after `= `, as in `{name}: = n + 1`"


class OptionFault(Exception):
    """An invalid option of a type: its name, the error, and how to fix it."""

    def __init__(self, option: str | None, message: str, help: str | None = None) -> None:
        super().__init__(message)
        self.option, self.message, self.help = option, message, help


class Domain(ABC):
    """The set of values of a parameter, for evaluated options."""

    @abstractmethod
    def draw(self, choose: Choose) -> Value:
        """Return a value; all randomness comes from `choose`."""

    def draw_several(self, choose: Choose, count: int) -> list[Value]:
        """Return `count` values, each drawn separately."""
        return [self.draw(choose) for _ in range(count)]

    def draw_different(self, choose: Choose, count: int) -> list[Value]:
        """Draw `count` different values; a repeated value is drawn again."""
        items: list[Value] = []
        keys: set[Any] = set()

        def is_new(value: Value) -> bool:
            size = len(keys)
            keys.add(key_of(value))
            return len(keys) > size

        for _ in range(count):
            items.append(choose.where(self.draw, is_new, tries=100_000))
        return items

    @abstractmethod
    def contains(self, value: Value) -> bool:
        """Return whether the value can be drawn."""

    def refusal(self, value: Value) -> str | None:
        """Return why a value that the domain does not contain cannot be drawn, for messages; None if that is unclear.

        The text continues "the value is outside its type: ".
        """
        return None

    @property
    @abstractmethod
    def count(self) -> int:
        """The number of values; an upper bound if `is_counted` is false."""

    is_counted: bool = True

    def boundary(self) -> list[Value]:
        """Boundary values of the domain, without duplicates; empty if there are none."""
        return []


class Enumerable(Domain):
    """A domain whose values are numbered from 0 to count - 1 in ascending or written order."""

    @abstractmethod
    def at(self, index: int) -> Value:
        """Return the value with this number."""

    def at_all(self, indices: list[int]) -> list[Value]:
        """Return the values with these numbers."""
        return list(map(self.at, indices))

    def name_at(self, index: int) -> str | None:
        """Return the name of the value with this number, if values have names."""
        return None

    def draw(self, choose: Choose) -> Value:
        """Draw a value with a single choice among all."""
        return self.at(choose.below(self.count))

    def boundary(self) -> list[Value]:
        """Return the first, second, second-to-last and last value."""
        places = {0, 1, self.count - 2, self.count - 1}
        return [self.at(place) for place in sorted(places) if 0 <= place < self.count]


@dataclass(frozen=True, slots=True)
class OptionKind:
    """An option as data: how it is parsed, what it sets, whether it is required, and its values if there are few.

    An option with values may also be an expression, which starts with `= `, and with `is_list` a list of the values.
    """

    reads: str
    words: str
    required: bool = False
    values: tuple[Any, ...] = ()
    default: Any = None
    is_list: bool = False


def option(
    reads: str,
    words: str,
    required: bool = False,
    values: Sequence[Any] = (),
    default: Any = None,
    is_list: bool = False,
) -> OptionKind:
    """Return an option of a type.

    `reads` is data, type, items (data or a type), types, fields, catalog, file, columns (of a file) or row (an
    expression over a row).
    """
    return OptionKind(reads, words, required, tuple(values), default, is_list)


def flag(words: str) -> OptionKind:
    """Return an option that is true or false; `words` describe what true does."""
    return option("data", f"true: {words}", values=(True, False), default=False)


class ParameterType(ABC):
    """A type of parameters: its options, and the domain for given options. The registry has its name."""

    summary: ClassVar[str]
    options: ClassVar[Mapping[str, OptionKind]]
    revision: ClassVar[int] = 1
    word_lists: ClassVar[frozenset[str]] = frozenset()  # built-in word lists that it can draw from

    @abstractmethod
    def domain(self, options: Mapping[str, Any]) -> Domain:
        """Return the domain for evaluated options (nested types are Domains). Raises OptionFault."""


@overload
def integer_option(options: Mapping[str, Any], name: str, default: int) -> int: ...
@overload
def integer_option(options: Mapping[str, Any], name: str, default: None = None) -> int | None: ...
def integer_option(options: Mapping[str, Any], name: str, default: int | None = None) -> int | None:
    """Return the option as an integer, or the default. Raises OptionFault for anything else."""
    value = options.get(name, default)
    if type(value) is not int and (value is not None or default is not None):
        raise OptionFault(name, f"`{name}` must be an integer", number_help(name, value))
    return value


def flag_option(options: Mapping[str, Any], name: str) -> bool:
    """Return the option as true or false; false when it is absent."""
    value = options.get(name, False)
    if type(value) is not bool:
        raise OptionFault(name, f"`{name}` must be true or false")
    return value


def length_option(options: Mapping[str, Any], name: str = "length") -> tuple[int, int]:
    """Return the bounds of a length written as a number or as {min, max}."""
    return bounds_option(options, name, 0, 100_000)


def bounds_option(options: Mapping[str, Any], name: str, least: int, most: int) -> tuple[int, int]:
    """The bounds of an integer written as a number or as {min, max}, from `least` to `most`. Raises OptionFault."""
    value = options.get(name)
    low, high = (value, value) if type(value) is int else _bounds(value, name)
    if type(low) is not int or type(high) is not int:
        message = f"`{name}` must be an integer, or a mapping with integers as min and max"
        raise OptionFault(name, message, RANGE_HELP.format(name=name))
    if low < least or high > most:
        raise OptionFault(name, f"`{name}` must be between {_number(least)} and {_number(most)}")
    if low > high:
        raise OptionFault(name, f"min {low} is above max {high}")
    return low, high


def _number(value: int) -> str:
    """Return the integer as messages show it; a power of two where it is long."""
    if abs(value) < 1 << 64:
        return str(value)
    return f"{'-' if value < 0 else ''}2**{abs(value).bit_length() - 1}"


def _bounds(value: Any, name: str) -> tuple[Any, Any]:
    if not isinstance(value, Mapping) or set(value) != {"min", "max"}:
        message = f"`{name}` must be an integer or {{min: ..., max: ...}}"
        raise OptionFault(name, message, RANGE_HELP.format(name=name))
    return value["min"], value["max"]


def weights_option(options: Mapping[str, Any], size: int) -> tuple[int, ...] | None:
    """Integer weights of 1 or more, one per item, or None. Raises OptionFault for anything else."""
    value = options.get("weights")
    if value is None:
        return None
    if not isinstance(value, list) or any(type(weight) is not int or weight < 1 for weight in value):
        raise OptionFault(
            "weights", "`weights` must be a list of positive integers", INTEGERS_HELP.format(name="weights")
        )
    if len(value) != size:
        raise OptionFault(
            "weights", f"`weights` has {counted(len(value), 'entry', 'entries')} for {counted(size, 'item')}"
        )
    if sum(value) > VAST:
        raise OptionFault("weights", "the weights add up to more than 2**128")
    return tuple(value)


def key_of(value: Value) -> Any:
    """Return a hashable key for a value: equal for equal values of one kind, different for different kinds."""
    if type(value) is int or type(value) is str:
        return value
    if isinstance(value, Entry):
        record = value.values
        values = zip(record, keys_of(list(record.values())), strict=True) if record else ()  # most entries have none
        return ("entry", value.catalog, value.name, *values)
    if isinstance(value, list):
        return ("list", *keys_of(value))
    if isinstance(value, (dict, Mapping)):  # checking for dict first is faster
        return ("record", *zip(value, keys_of(list(value.values())), strict=True))
    return (type(value) is bool, isinstance(value, str), value)


def keys_of(values: list[Value]) -> list[Any]:
    """Return the keys of many values; integers and texts are their own keys."""
    return values if KEYS.issuperset(map(type, values)) else list(map(key_of, values))


KEYS = frozenset({int, str})


def expression_help(value: Value) -> str | None:
    """Return how to write arithmetic that YAML reads as text, such as 1/2; None for other values."""
    is_arithmetic = isinstance(value, str) and ARITHMETIC.fullmatch(value)
    return f"without `= `, `{value}` is text: write `= {value}`" if is_arithmetic else None


def number_help(name: str, value: Value) -> str:
    """Return how to write the option, whose value is not a number."""
    return expression_help(value) or NUMBER_HELP.format(name=name)


def written(value: Value) -> str:
    """Return the value as messages show it, shortened where it is long."""
    try:
        text = plain(value)
    except LanguageError:
        return kind_of(value)
    return f"`{text}`" if len(text) <= SHOWN else f"`{text[:SHOWN]}...`"


def too_few_values(needed: int, count: int) -> str:
    """Return the message for a list or set that needs more different values than its type has."""
    are = "is" if count == 1 else "are"
    return f"{needed} distinct elements are needed, but there {are} only {counted(count, 'value')}"


def between(low: int, high: int) -> str:
    """Return a number, or two bounds, as messages show them."""
    return f"{low}" if low == high else f"{low} to {high}"


def element_refusal(of: Domain, values: list[Value]) -> str | None:
    """Return why the first of the values that the domain does not contain cannot be drawn, with its number."""
    for number, value in enumerate(values, 1):
        if not of.contains(value):
            return f"element {number}: {of.refusal(value) or f'{written(value)} is not allowed'}"
    return None


def all_differ(values: list[Value]) -> bool:
    """Return whether no two of the values are the same."""
    return len(set(keys_of(values))) == len(values)


def order_of(value: Value) -> Any:
    """Return the sort key of a value: numbers and texts in their own order, lists element by element."""
    if isinstance(value, bool):
        return (0, value)
    if isinstance(value, (int, Fraction)):
        return (1, value)
    if isinstance(value, (str, bytes)):
        return (2, value) if isinstance(value, str) else (3, value)
    if isinstance(value, list):
        return (4, *map(order_of, value))
    if isinstance(value, Mapping):
        return (5, *((name, order_of(item)) for name, item in value.items()))
    if isinstance(value, Entry):
        return (6, value.catalog, value.name, order_of(value.values))
    return (7, str(value))
