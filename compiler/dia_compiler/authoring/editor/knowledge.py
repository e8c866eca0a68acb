"""What is known about a position in an open file: its kind, its names, and their documentation."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from dia_compiler.analyze.names import WRAPPER_NAMES
from dia_compiler.assets import BUILDERS
from dia_compiler.authoring.editor.checking import kind_of_file
from dia_compiler.authoring.editor.cursor import Cursor, cursor_at
from dia_compiler.authoring.editor.expressions import is_in_quotes, loop_names, tag_at
from dia_compiler.authoring.editor.schedule import OpenFile
from dia_compiler.authoring.editor.shape import DATA, TEMPLATE, Place, Shape, shape_of, shift
from dia_compiler.authoring.editor.symbols import Symbol, local_names, symbols_of
from dia_compiler.authoring.editor.texts import Lines
from dia_compiler.types import TYPES
from dia_language.answers import ANSWER_TYPES
from dia_language.answers.option_schemas import OPTION_SCHEMAS
from dia_language.expressions.replies import ALSO_IN_LIBRARY, REPLY_FUNCTIONS
from dia_language.expressions.syntax import CONSTANTS
from dia_language.functions import library
from dia_runtime.formats import FORMATS
from dia_runtime.formats.replies import REPLY_FORMATS

WRAPPER_WORDS = {
    "challenge": "the prompt of the template", "format_instruction": "how to give the answer",
    "skip_token": "the abstention token", "points": "the points for each verdict",
}  # fmt: skip


@dataclass(frozen=True)
class Knowledge:
    """A position in an open file. Expressions and tags are cut there, because the rest may be half-typed."""

    file: OpenFile
    offset: int

    @cached_property
    def lines(self) -> Lines:
        """The text by lines."""
        return Lines(self.file.text)

    @cached_property
    def cursor(self) -> Cursor | None:
        """The key or value at the place."""
        return cursor_at(self.file.text, self.offset)

    @cached_property
    def file_kind(self) -> str:
        """`template`, `benchmark` or `catalog`."""
        return kind_of_file(self.file.path, self.file.text)

    @cached_property
    def shape(self) -> Shape:
        """The schema of the file."""
        benchmark = self.file.readable.benchmark if self.file.readable is not None else None
        return shape_of(self.file_kind, tuple(sorted(benchmark.shared.types)) if benchmark is not None else ())

    @cached_property
    def place(self) -> Place:
        """What the schema says about the value, or about the mapping of a key."""
        assert self.cursor is not None
        return self.shape.place(self.cursor.root, self.cursor.path)

    @cached_property
    def text_kind(self) -> str:
        """`expression`, `template` or `data`; data for a key."""
        cursor = self.cursor
        if cursor is None or cursor.is_key:
            return DATA
        return self.shape.kind(cursor.root, cursor.path, cursor.text)

    @cached_property
    def code_before(self) -> str | None:
        """The part of the expression or tag before the place; None in plain text, in quotes and in data."""
        cursor = self.cursor
        if cursor is None or self.text_kind == DATA:
            return None
        start = shift(cursor.text, self.text_kind)
        if self.text_kind == TEMPLATE:
            tag = tag_at(cursor.before, cursor.offset)
            if tag is None:
                return None
            start = tag.start
        before = cursor.before[start:]
        return None if is_in_quotes(before) else before

    @cached_property
    def word(self) -> str:
        """The whole word at the place."""
        start, end = self.lines.word_at(self.offset)
        return self.file.text[start:end]

    @cached_property
    def symbols(self) -> dict[str, Symbol]:
        """The names of the file and its benchmark."""
        return symbols_of(self.file.readable, self.file.path, self.cursor.root if self.cursor is not None else None)

    @cached_property
    def local_names(self) -> dict[str, str]:
        """The names that are only defined at this position."""
        cursor = self.cursor
        assert cursor is not None
        names = local_names(cursor.root, cursor.path)
        if self.file_kind == "benchmark" and cursor.path == ("prompt",):
            names |= {name: WRAPPER_WORDS.get(name, "") for name in WRAPPER_NAMES}
        code = cursor.before if self.text_kind == TEMPLATE else cursor.text
        names |= dict.fromkeys(loop_names(code), "the variable of a loop")
        if self.text_kind == TEMPLATE and loop_names(code):
            names["loop"] = "the loop: `loop.index`, `loop.first`, `loop.last`, `loop.length`"
        return names

    @property
    def reply_functions(self) -> frozenset[str]:
        """The functions that take the name of a reply, in a template that has replies."""
        has_replies = any(symbol.kind == "reply" for symbol in self.symbols.values())
        return frozenset(REPLY_FUNCTIONS) - ALSO_IN_LIBRARY if has_replies else frozenset()

    def of_value(self, word: str) -> str | None:
        """Return the documentation of a value that the schema lists, such as the name of a type."""
        assert self.cursor is not None
        return value_words(self.shape, self.cursor, word)

    def of_name(self, word: str) -> str | None:
        """Return the documentation of a name in an expression or template; None if it has none."""
        if word in self.local_names:
            return f"`{word}`: {self.local_names[word]}"
        symbol = self.symbols.get(word)
        if symbol is not None:
            return self.of_symbol(symbol)
        if word in self.reply_functions:
            return f"`{word}(reply)`: {inspect.getdoc(REPLY_FUNCTIONS[word])}"
        if word in library():
            return function_words(word)
        return f"`{word}`: constant" if word in CONSTANTS else None

    def of_symbol(self, symbol: Symbol) -> str:
        """Return what is known about a name that the file declares, with its value in instance 0."""
        parts = [f"{symbol.kind} `{symbol.name}`"]
        if symbol.declaration:
            parts.append(f"```yaml\n{symbol.declaration}\n```")
        return "\n\n".join(parts + self.in_instance(symbol.name))

    def in_instance(self, name: str) -> list[str]:
        """Return the value of a name in instance 0, if it is known."""
        values = self.file.values or {}
        return [f"In instance 0:\n\n```text\n{values[name]}\n```"] if name in values else []


def function_words(name: str) -> str:
    """Return the documentation of a library function, as `dia functions NAME` prints it."""
    signature, _, rest = library()[name].description.partition("\n\n")
    text, separator, details = rest.partition("\n\nArguments:")
    return f"```text\n{signature}\n```\n\n{text}" + (f"\n\n```text\nArguments:{details}\n```" if separator else "")


def options_words(summary: str, options: Iterable[tuple[str, bool, str]]) -> str:
    """Return the summary and options of a type, format or builder, as `dia types NAME` prints them."""
    rows = [f"- `{name}`{' (required)' if required else ''}: {words}" for name, required, words in options]
    return "\n".join([summary, *([""] if rows else []), *rows])


def value_words(shape: Shape, cursor: Cursor, word: str) -> str | None:
    """Return the documentation of a value that the schema lists, in the value at a cursor."""
    path = cursor.path
    key = path[-1] if path else ""
    parents = shape.place(cursor.root, path[:-1]).definitions
    is_parameter = "parameter" in parents or "types" in shape.place(cursor.root, path[:-2]).definitions
    entry = TYPES.get(word) if key == "type" and is_parameter else BUILDERS.get(word) if key == "build" else None
    if entry is not None:
        return options_words(entry.summary, [(name, kind.required, kind.words) for name, kind in entry.options.items()])
    if key in ("type", "of") and not is_parameter and word in ANSWER_TYPES:
        answer = ANSWER_TYPES[word]
        described = [(name, False, OPTION_SCHEMAS[name].get("description", "")) for name in sorted(answer.options)]
        return options_words(inspect.getdoc(answer) or "", described)
    if key in ("kind", "format") and word in FORMATS:
        form = FORMATS[word]
        options = [(name, one.required, one.description) for name, one in form.options.items() if one.in_specs]
        return options_words(inspect.getdoc(inspect.getmodule(type(form))) or "", options)
    if key in ("kind", "format") and word in REPLY_FORMATS:
        return inspect.getdoc(REPLY_FORMATS[word])
    return None
