"""The answer type record: named values."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping
from itertools import zip_longest
from typing import Any

from dia_language.answers.base import (
    LENIENT,
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
from dia_language.answers.list_parsing import QUOTED, is_bracketed
from dia_language.answers.lists import INHERITED, comparison_depth, inheriting, too_deep
from dia_language.answers.text import BRACKETS, QUOTES, quoted
from dia_language.diagnostics import LanguageError
from dia_language.numbers.values import Record, Value

FIELDS = 100
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
# Linear: a name, quoted or not, and the separator before its value
FIELD = re.compile(r"\s*(?:\"([^\"\\\n]{1,64})\"|'([^'\\\n]{1,64})'|([A-Za-z][A-Za-z0-9_]{0,63}))\s*[:=]\s*")
HIDDEN = str.maketrans({char: f"\\u{ord(char):04x}" for char in "[](){},'"})
MARKS = re.compile(r"[\[\](){},\"']")
BLANK, BLANK_ON_LINE = re.compile(r"\s*"), re.compile(r"[^\S\n]*")
LINE_MARKS = re.compile(r"[\[\](){},\"'\n]")


class RecordAnswer(AnswerType):
    """Named values; `of` (or `fields`) declares the names and types.

    The canonical form is `{x: 1, y: 2}`, in the order of the declaration, or the form given by `written`. Strict
    always accepts names with values: in any order, with a colon or an equals sign after each name, and optionally with
    quotes around names and brackets around the whole. So JSON is accepted. If `written` is given, strict also accepts
    that form. Lenient also accepts the names in any case, and one field per line without commas.
    """

    name = "record"
    options = frozenset({"of", "fields", "written"}) | INHERITED

    def __init__(self, comparison: Comparison, types: Types) -> None:
        self.fields: dict[str, AnswerType] = {
            name: types.build(inheriting(of, comparison, types)) for name, of in fields_of(comparison).items()
        }
        levels = zip_longest(*(kind.separators for kind in self.fields.values()), fillvalue=frozenset[str]())
        self.separators = (frozenset({","}), *(frozenset().union(*level) for level in levels))
        template = comparison.get("written")
        self.layout = layout_of(template) if template is not None else None

    @classmethod
    def faults(cls, comparison: Comparison, types: Types) -> list[str]:
        fields = fields_of(comparison)
        if not isinstance(fields, Mapping) or not 1 <= len(fields) <= FIELDS:
            return [
                f"answers of type record need `of`, from 1 to {FIELDS:,} names with their types, such as {{x: integer}}"
            ]
        if not all(isinstance(name, str) and NAME.fullmatch(name) for name in fields):
            return ["the names of a record's fields must start with a letter and contain only letters, digits and _"]
        if comparison_depth(comparison) is None:
            return [too_deep()]
        elements = {name: inheriting(of, comparison, types) for name, of in fields.items()}
        messages = [f"field {name}: {message}" for name, of in elements.items() for message in types.faults(of)]
        if not messages and comparison.get("written") is not None:
            messages = written_faults(comparison["written"], list(fields))
        return messages

    def settle(self, value: Value) -> Value:
        if type(value) is not Record:
            raise unfit(self.name, value, "give a record, such as {x: 1, y: 2}, or declare another `type`")
        lacking = [name for name in self.fields if name not in value]
        surplus = [name for name in value if name not in self.fields]
        if lacking or surplus:
            message = (
                f"the answer lacks the field `{lacking[0]}`" if lacking else f"the answer has a field `{surplus[0]}`"
            )
            raise LanguageError(f"{message}; its type has {', '.join(self.fields)}")
        return Record((name, self._settled(name, value[name])) for name in self.fields)

    def _settled(self, name: str, value: Value) -> Value:
        try:
            return self.fields[name].settle(value)
        except LanguageError as error:
            raise unfit_part(f"field {name}", error) from None

    def holds(self, value: Value) -> bool:
        if not isinstance(value, Record) or value.keys() != self.fields.keys():
            return False
        return all(kind.holds(value[name]) for name, kind in self.fields.items())

    def write(self, value: Value) -> str:
        if self.layout is None:
            return self._plain(value)
        text = within(self.layout.fill([self.fields[name].write(value[name]) for name in self.layout.names]))
        try:
            is_same = self.equal(self._from_layout(text, "strict"), value)
        except Unreadable:
            is_same = False
        if not is_same:
            raise LanguageError("a part of the answer cannot be separated from the surrounding text in `written`")
        return text

    def _plain(self, value: Value, is_inside: bool = False) -> str:
        """Return the values with their names; inside a list, quoted texts must not contain separators or brackets."""
        texts = {name: _on_one_line(kind.write_inside(value[name], ",")) for name, kind in self.fields.items()}
        if is_inside:
            texts = {name: _hidden(text) for name, text in texts.items()}
        return within("{" + ", ".join(f"{name}: {text}" for name, text in texts.items()) + "}")

    def read(self, text: str, mode: Mode) -> Value:
        if self.layout is not None:
            try:
                return self._from_layout(text, mode)
            except Unreadable:
                pass
        return self._from_pairs(text.strip(), mode)

    def _from_layout(self, text: str, mode: Mode) -> Record:
        assert self.layout is not None
        texts = dict(zip(self.layout.names, self.layout.gaps(text), strict=True))
        return Record((name, kind.read(texts[name], mode)) for name, kind in self.fields.items())

    def _from_pairs(self, text: str, mode: Mode) -> Record:
        inner = text[1:-1] if is_bracketed(text) else text
        texts: dict[str, str] = {}
        for name, piece in pairs_of(inner, mode in LENIENT):
            field = self._field_named(name, mode)
            if field in texts or not piece:
                raise Unreadable("a field twice, or without a value")
            texts[field] = piece
        if texts.keys() != self.fields.keys():
            raise Unreadable("different fields")
        return Record((name, kind.read_inside(texts[name], mode)) for name, kind in self.fields.items())

    def _field_named(self, name: str, mode: Mode) -> str:
        if name in self.fields:
            return name
        same = [field for field in self.fields if field.casefold() == name.casefold()]
        if mode not in LENIENT or len(same) != 1:
            raise Unreadable("an unknown field")
        return same[0]

    def equal(self, reply: Value, truth: Value) -> bool:
        if self.layout is not None:  # its values are parsed without quotes, so outer whitespace does not count
            return all(kind.equal(reply[name], truth[name]) for name, kind in self.fields.items())
        return all(kind.equal_inside(reply[name], truth[name]) for name, kind in self.fields.items())

    def key(self, value: Value) -> Hashable | None:
        keys = [kind.key(value[name]) for name, kind in self.fields.items()]
        return None if None in keys or self.layout is not None else tuple(keys)

    def describe(self) -> str:
        example = self.write(self.samples()[0])
        if self.layout is not None:
            return f"a record written as {example}"
        has_text = any(kind.has_quotes for kind in self.fields.values())
        rule = "; put text that contains a comma, a bracket or a quote in double quotes" if has_text else ""
        return f"a record such as {example}{rule}"

    def samples(self) -> list[Value]:
        columns = [(name, kind.samples()) for name, kind in self.fields.items()]
        return [
            Record((name, column[(place + start) % 3]) for place, (name, column) in enumerate(columns))
            for start in range(3)
        ]

    @property
    def has_quotes(self) -> bool:
        return True

    def write_inside(self, value: Value, separator: str) -> str:
        return self._plain(value, True)

    def read_inside(self, piece: str, mode: Mode) -> Value:
        if not is_bracketed(piece):
            raise Unreadable("a record inside something else without brackets")
        return self._from_pairs(piece, mode)


def _on_one_line(text: str) -> str:
    """Return the text of a value, quoted if it is bare and has line breaks, which end fields in lenient mode."""
    return quoted(text) if "\n" in text and text[0] not in BRACKETS else text


def _hidden(text: str) -> str:
    """Return the text of a value with brackets, commas and quotes inside its quotes as escapes."""
    return f'"{text[1:-1].translate(HIDDEN)}"' if text[:1] == '"' else text


def fields_of(comparison: Comparison) -> Any:
    """Return the declared fields, under either name."""
    return comparison.get("of", comparison.get("fields"))


def pairs_of(text: str, has_lines: bool) -> Iterator[tuple[str, str]]:
    """Yield the names and the texts of the values. Raises Unreadable."""
    text = text.rstrip()
    if text.endswith(","):
        if not has_lines:
            raise Unreadable("nothing after a comma")
        text = text[:-1]
    place = 0
    while place < len(text):
        match = FIELD.match(text, place)
        if match is None:
            raise Unreadable("a value without a name")
        end = _value_end(text, match.end(), has_lines)
        yield match[1] or match[2] or match[3], text[match.end() : end].strip()
        place = end + 1


def _value_end(text: str, start: int, has_lines: bool) -> int:
    """Return the end of a value: a comma outside brackets and quotes, the end of its line (lenient), or the end."""
    if text[start : start + 1] in QUOTED:
        match = QUOTED[text[start]].match(text, start)
        if match is None:
            raise Unreadable("a quote that is not closed")
        return _stop(text, match.end(), has_lines)
    waiting: list[str] = []
    place = start
    stops = LINE_MARKS if has_lines else MARKS
    while mark := stops.search(text, place):
        place = mark.end()
        if mark[0] in BRACKETS:
            waiting.append(BRACKETS[mark[0]])
        elif mark[0] in QUOTES:
            place = _behind_quote(text, mark.start()) if waiting else place
        elif mark[0] in ",\n":
            if not waiting:
                return mark.start()
        elif not waiting or waiting.pop() != mark[0]:
            raise Unreadable("brackets that do not match")
    if waiting:
        raise Unreadable("brackets that do not match")
    return len(text)


def _behind_quote(text: str, start: int) -> int:
    match = QUOTED[text[start]].match(text, start)
    return match.end() if match else start + 1


def _stop(text: str, place: int, has_lines: bool) -> int:
    """Return the comma after a quoted value, the end of its line (lenient), or the end of the text."""
    blank = BLANK_ON_LINE if has_lines else BLANK
    match = blank.match(text, place)
    end = match.end() if match else place
    if end < len(text) and text[end] not in (",\n" if has_lines else ","):
        raise Unreadable("text after a closing quote")
    return end
