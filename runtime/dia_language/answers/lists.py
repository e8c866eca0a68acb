"""Lists and tuples."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import repeat, zip_longest
from typing import Any

from dia_language.answers.base import (
    ELEMENTS,
    AnswerType,
    Comparison,
    Mode,
    Types,
    Unreadable,
    unfit,
    unfit_part,
    within,
)
from dia_language.answers.layout import layout_of, written_faults
from dia_language.answers.list_parsing import is_bracketed, pieces_of
from dia_language.answers.options import CHOICES
from dia_language.answers.text import SPECIAL
from dia_language.diagnostics import LanguageError, counted
from dia_language.numbers.values import Value

DEPTH = 8
SHOWN = 6  # most elements in the example that a prompt shows
# Options of a list that its elements inherit
INHERITED = frozenset({"round", "tolerance", "units", *CHOICES})


class ListAnswer(AnswerType):
    """A list of elements of one type; the order counts."""

    name = "list"
    options = frozenset({"of", "separator", "length"}) | INHERITED
    opener, closer = "[", "]"

    def __init__(self, comparison: Comparison, types: Types) -> None:
        separator: str = comparison.get("separator", ",")
        self.separator = separator.strip() or separator
        self.of = tuple(types.build(element) for element in elements_of(comparison, types))
        inner = [element.separators for element in self.of]
        levels = zip_longest(*inner, fillvalue=frozenset[str]())
        self.separators = (frozenset({self.separator}), *(frozenset().union(*level) for level in levels))
        self.is_fixed = isinstance(comparison["of"], Sequence) and not isinstance(comparison["of"], str)
        self.types: Iterable[AnswerType] = self.of if self.is_fixed else repeat(self.of[0])  # of the elements, in order
        self.length: int | None = comparison.get("length")
        self.holds_quotes = any(element.has_quotes for element in self.of)

    @classmethod
    def faults(cls, comparison: Comparison, types: Types) -> list[str]:
        of = comparison.get("of")
        if isinstance(of, Sequence) and not isinstance(of, str) and cls.name != "tuple":
            return [f"the elements of a {cls.name} all have one type; use the type tuple"]
        return length_faults(comparison.get("length")) or element_faults(comparison, types)

    def settle(self, value: Value) -> Value:
        if type(value) is not list:
            raise unfit(self.name, value, "put the elements in brackets, or declare another `type`")
        length = len(self.of) if self.is_fixed else self.length
        if length is not None and len(value) != length:
            raise LanguageError(f"the answer has {counted(len(value), 'element')}, but its type has {length}")
        if not self.is_fixed:
            with suppress(LanguageError):  # the loop below names the element
                return self.of[0].settle_all(value)
        settled: list[Value] = []
        try:
            for of, item in zip(self.types, value, strict=False):
                settled.append(of.settle(item))
        except LanguageError as error:
            raise unfit_part(f"element {len(settled) + 1}", error) from None
        return settled

    def _fits(self, items: Sequence[Any]) -> bool:
        return not self.is_fixed or len(items) == len(self.of)

    def holds(self, value: Value) -> bool:
        if type(value) is not list or not self._fits(value):
            return False
        if not self.is_fixed:
            return all(map(self.of[0].holds, value))
        return all(of.holds(item) for of, item in zip(self.of, value, strict=True))

    def write(self, value: Value) -> str:
        if len(value) > ELEMENTS:
            raise LanguageError(f"the answer has {len(value):,} elements; replies are only read up to {ELEMENTS:,}")
        joint = self.separator if self.separator.isspace() else f"{self.separator} "
        if self.is_fixed:
            inner = [of.write_inside(item, self.separator) for of, item in zip(self.of, value, strict=False)]
        else:
            inner = self.of[0].write_all(value, self.separator)
        return within(self.opener + joint.join(inner) + self.closer)

    def read(self, text: str, mode: Mode) -> Value:
        pieces = pieces_of(text, self.separator, self.separators, self.holds_quotes)
        if not self._fits(pieces):
            raise Unreadable("a different number of elements")
        if not self.is_fixed:
            return self.of[0].read_all(pieces, mode)
        return [of.read_inside(piece, mode) for of, piece in zip(self.of, pieces, strict=True)]

    def equal(self, reply: Value, truth: Value) -> bool:
        if len(reply) != len(truth):
            return False
        if reply == truth:
            return True
        rows = zip(self.types, reply, truth, strict=False)
        return all(of.equal_inside(element, right) for of, element, right in rows)

    def describe(self) -> str:
        example = self.samples()[0] if self.is_fixed else self._example_elements()
        rule = f"; put text that contains {self._special} in double quotes" if self.has_quotes else ""
        return f"a {self.name} such as {self.write(example)}{rule}"

    def _example_elements(self) -> list[Value]:
        """Return the elements of the example: as many as the answer has, if their number is declared and small."""
        samples = self.of[0].samples()
        if self.length is None or self.length > (len(samples) if self.name == "set" else SHOWN):
            return samples
        return [samples[place % 3] for place in range(self.length)]

    @property
    def _special(self) -> str:
        separator = "a comma" if self.separator == "," else "a separator"
        return f"{separator}, a bracket or a quote"

    def samples(self) -> list[Value]:
        if self.is_fixed:
            columns = [element.samples() for element in self.of]
            return [[column[place] for column in columns] for place in range(3)]
        first, second, third = self.of[0].samples()
        return [[first, second], [third, first], [second]]

    def key(self, value: Value) -> Hashable | None:
        keys = [of.key(item) for of, item in zip(self.types, value, strict=False)]
        return None if None in keys else tuple(keys)

    @property
    def has_quotes(self) -> bool:
        return self.holds_quotes

    def read_inside(self, piece: str, mode: Mode) -> Value:
        if not is_bracketed(piece):
            raise Unreadable("a list inside a list without brackets")
        return self.read(piece, mode)


class TupleAnswer(ListAnswer):
    """A list of elements whose order counts, all of one type or each with its own.

    `written` gives the tuple a form, such as `{{ it[0] }} of {{ it[1] }}`.
    """

    name = "tuple"
    options = ListAnswer.options | {"written"}
    opener, closer = "(", ")"

    def __init__(self, comparison: Comparison, types: Types) -> None:
        super().__init__(comparison, types)
        template = comparison.get("written")
        self.layout = layout_of(template) if template is not None else None

    @classmethod
    def faults(cls, comparison: Comparison, types: Types) -> list[str]:
        messages = super().faults(comparison, types)
        if messages or comparison.get("written") is None:
            return messages
        if not isinstance(comparison["of"], list | tuple):
            return ["`written` of a tuple needs `of` to list the type of every element"]
        return written_faults(comparison["written"], [f"it[{place}]" for place in range(len(comparison["of"]))])

    def write(self, value: Value) -> str:
        if self.layout is None:
            return super().write(value)
        texts = [self.of[place].write(value[place]) for place in self._places]
        text = within(self.layout.fill(texts))
        try:
            is_same = self.equal(self._from_layout(text, "strict"), value)
        except Unreadable:
            is_same = False
        if not is_same:
            raise LanguageError("a part of the answer cannot be separated from the surrounding text in `written`")
        return text

    @property
    def _places(self) -> list[int]:
        """Return the positions of the elements in the order of the form's gaps."""
        assert self.layout is not None
        return [int(name[3:-1]) for name in self.layout.names]

    def read(self, text: str, mode: Mode) -> Value:
        if self.layout is not None:
            try:
                return self._from_layout(text, mode)
            except Unreadable:
                pass
        return super().read(text, mode)

    def _from_layout(self, text: str, mode: Mode) -> list[Value]:
        assert self.layout is not None
        texts = dict(zip(self._places, self.layout.gaps(text), strict=True))
        return [kind.read(texts[place], mode) for place, kind in enumerate(self.of)]

    def write_inside(self, value: Value, separator: str) -> str:
        return super().write(value)

    def read_inside(self, piece: str, mode: Mode) -> Value:
        """Return the value of `(a, b)`, as `write_inside` writes it, or else of the form, which could look the same."""
        if not is_bracketed(piece):
            raise Unreadable("a list inside a list without brackets")
        try:
            return super().read(piece, mode)
        except Unreadable:
            return self.read(piece, mode)

    def describe(self) -> str:
        if self.layout is None:
            return super().describe()
        example = [element.samples()[place % 3] for place, element in enumerate(self.of)]
        return f"a tuple written as {self.write(example)}"


def elements_of(comparison: Comparison, types: Types) -> list[dict[str, Any]]:
    """Return the comparisons of the elements, with the options inherited from the list."""
    of = comparison["of"]
    several = of if isinstance(of, Sequence) and not isinstance(of, str) else [of]
    return [inheriting(item, comparison, types) for item in several]


def inheriting(of: Any, comparison: Comparison, types: Types) -> dict[str, Any]:
    """Return the comparison of an element, with the options inherited from its container."""
    own = dict(of) if isinstance(of, Mapping) else {"type": of}
    name = own.get("type")
    inherited = INHERITED & types.table[name].options if isinstance(name, str) and name in types.table else frozenset()
    return {**{name: comparison[name] for name in sorted(inherited) if name in comparison}, **own}


def length_faults(length: Any) -> list[str]:
    """Return the error in the option `length`."""
    is_count = length is None or (type(length) is int and 1 <= length <= ELEMENTS)
    return [] if is_count else [f"`length` of an answer must be an integer from 1 to {ELEMENTS:,}"]


def element_faults(comparison: Comparison, types: Types) -> list[str]:
    """Return the errors in the options of a list, including its elements."""
    if not comparison.get("of"):
        return [f"answers of type {comparison['type']} need `of`, the type of their elements"]
    if comparison_depth(comparison) is None:
        return [too_deep()]
    elements = elements_of(comparison, types)
    messages = [message for element in elements for message in types.faults(element)]
    unused = [
        f"none of the elements has the option `{name}`"
        for name in sorted(INHERITED & comparison.keys())
        if not any(name in element for element in elements)
    ]
    return messages or unused + separator_faults(comparison.get("separator", ","), elements)


def comparison_depth(comparison: Comparison) -> int | None:
    """Return the nesting depth of the types of elements and fields; None if it is too deep."""
    depth, level = 0, [comparison]
    while level:
        depth += 1
        if depth > DEPTH:
            return None
        level = [inner for outer in level for inner in _inside(outer) if isinstance(inner, Mapping)]
    return depth


def _inside(comparison: Comparison) -> list[Any]:
    """Return the declared types of elements and fields."""
    of = comparison.get("of", comparison.get("fields"))
    if isinstance(of, list | tuple):
        return list(of)
    if isinstance(of, Mapping) and comparison.get("type") == "record":
        return list(of.values())
    return [of]


def too_deep() -> str:
    """Return the message for types that nest deeper than DEPTH."""
    return f"lists are nested deeper than {DEPTH} levels"


def separator_faults(separator: Any, elements: Sequence[Comparison]) -> list[str]:
    """Return why elements could contain the separator, if they could."""
    if not isinstance(separator, str) or not separator:
        return ["`separator` must be a text that is not empty"]
    mark = separator.strip() or separator
    if any(char.isalnum() or char in SPECIAL or char == "\\" for char in mark):
        return ["`separator` cannot contain letters, digits, brackets, quotes or backslashes"]
    numbers = {"integer", "rational", "real"} & {element["type"] for element in elements}
    if numbers and all(char in "+-./" for char in mark):
        return [f"the separator `{mark}` could be part of a number"]
    if any(mark == (element.get("round") or {}).get("thousands") for element in elements):
        return ["`separator` and `thousands` cannot be the same"]
    return []
