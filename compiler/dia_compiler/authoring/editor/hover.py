"""The documentation and definition of the word at a position."""

from __future__ import annotations

from dia_compiler.analyze.names import VALUES
from dia_compiler.authoring.editor.checking import ANSWER, PROMPT
from dia_compiler.authoring.editor.cursor import Cursor
from dia_compiler.authoring.editor.knowledge import Knowledge
from dia_compiler.authoring.editor.symbols import PARTS, Symbol
from dia_compiler.parse.discover import inside
from dia_language.diagnostics import Position
from dia_language.yaml_nodes import Scalar

SHOWN_OF_INSTANCE = (PROMPT, ANSWER)


def hover(knowledge: Knowledge) -> str | None:
    """Return the documentation of the word at the place as Markdown; None if there is nothing to say."""
    cursor = knowledge.cursor
    if cursor is None or not knowledge.word:
        return None
    if cursor.is_key:
        return _of_key(knowledge, cursor)
    if knowledge.code_before is not None:
        return knowledge.of_name(knowledge.word) if not is_field(knowledge) else None
    value = knowledge.of_value(cursor.text)
    if value is None and cursor.text in knowledge.symbols:
        value = knowledge.of_symbol(knowledge.symbols[cursor.text])
    return value


def _of_key(knowledge: Knowledge, cursor: Cursor) -> str | None:
    declared = _declared_by(knowledge, cursor)
    if declared is not None:
        return knowledge.of_symbol(declared)
    words = knowledge.shape.place(cursor.root, (*cursor.path, cursor.text)).description
    parts = [f"`{cursor.text}`: {words}"] if words else []
    if not cursor.path and cursor.text in SHOWN_OF_INSTANCE:
        parts += knowledge.in_instance(cursor.text)
    return "\n\n".join(parts) or None


def _declared_by(knowledge: Knowledge, cursor: Cursor) -> Symbol | None:
    """Return the name that a key declares, or the parameter that a key of an example names."""
    is_declaration = len(cursor.path) == 1 and cursor.path[0] in PARTS
    is_example = len(cursor.path) == 3 and cursor.path[0] == "examples"
    return knowledge.symbols.get(cursor.text.partition("(")[0]) if is_declaration or is_example else None


def is_field(knowledge: Knowledge) -> bool:
    """Return whether the word follows a dot, so that it is a field and not a name."""
    start, _ = knowledge.lines.word_at(knowledge.offset)
    return knowledge.file.text[:start].endswith(".")


def definition(knowledge: Knowledge) -> Position | None:
    """Return where the name at the place is declared, or the start of the file that it names."""
    symbol = symbol_at(knowledge)
    if symbol is not None:
        return symbol.position
    cursor = knowledge.cursor
    benchmark = knowledge.file.readable.benchmark if knowledge.file.readable is not None else None
    if cursor is not None and not cursor.is_key and cursor.path[-1:] == ("from",) and benchmark is not None:
        folder = knowledge.file.path.parents[len(knowledge.file.path.parents) - 1]
        folder = next(
            (parent for parent in knowledge.file.path.parents if parent.as_posix() == benchmark.folder), folder
        )
        path = inside(folder, cursor.text)
        if path is not None and path.is_file():
            return Position(path.as_posix(), 1, 1)
    return None


def symbol_at(knowledge: Knowledge) -> Symbol | None:
    """Return the name at the place that the file or its benchmark declares."""
    cursor = knowledge.cursor
    if cursor is None or not knowledge.word:
        return None
    if cursor.is_key:
        return _declared_by(knowledge, cursor)
    if knowledge.code_before is not None:
        is_own = knowledge.word in knowledge.local_names
        return None if is_own or is_field(knowledge) else knowledge.symbols.get(knowledge.word)
    symbol = knowledge.symbols.get(cursor.text) if isinstance(cursor.scalar, Scalar) else None
    return symbol if symbol is not None and symbol.kind in ("type", *VALUES) else None
