"""Completions at a position in a spec: keys, values, and the names and functions of expressions and templates."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from dia_compiler.analyze.check import HEALTH_WARNINGS
from dia_compiler.authoring.editor.cursor import Cursor, KeyPath, node_at
from dia_compiler.authoring.editor.expressions import TAG_NAME, tag_at
from dia_compiler.authoring.editor.knowledge import Knowledge
from dia_compiler.authoring.editor.shape import DATA, TEMPLATE
from dia_compiler.types.word_lists import WORD_LISTS
from dia_language.expressions.syntax import CONSTANTS, LITERALS
from dia_language.functions import library
from dia_language.templates.tags import TAGS
from dia_language.templates.templates import LOOP_FIELDS
from dia_language.yaml_nodes import Mapping

KEY, VALUE, NAME, FUNCTION, CONSTANT, KEYWORD = "key", "value", "name", "function", "constant", "keyword"
HYPHENATED = re.compile(r"(?:\w+-)+\Z", re.ASCII)  # a word with hyphens, before its last part
LAST_WORD = re.compile(r"\w*\Z", re.ASCII)
FOLLOWING_COLON = re.compile(r"\w*\s*:")
REDRAWN = ("redraw", "balance")  # keys whose values are names of parameters
EACH = "each"


@dataclass(frozen=True, slots=True)
class Completion:
    """A completion: its text replaces the characters from `start` to `end`. `doc` is Markdown."""

    label: str
    kind: str
    start: int
    end: int
    text: str
    detail: str = ""
    doc: str | None = None


def completions(knowledge: Knowledge) -> list[Completion]:
    """Return the completions at the position, the most likely ones first."""
    cursor = knowledge.cursor
    if cursor is None:
        return []
    if knowledge.code_before is not None:
        return list(_of_code(knowledge, cursor, knowledge.code_before))
    if knowledge.text_kind == DATA or cursor.may_be_key:
        items = list(_of_keys(knowledge, cursor)) if cursor.may_be_key else []
        return items if cursor.is_key else [*items, *_of_values(knowledge, cursor)]
    return []


def _span(knowledge: Knowledge) -> tuple[int, int]:
    """Return where the word at the place begins and ends; outside of expressions it can have hyphens."""
    start, end = knowledge.lines.word_at(knowledge.offset)
    if knowledge.code_before is None:
        text = knowledge.file.text
        hyphens = HYPHENATED.search(text, text.rfind("\n", 0, start) + 1, start)
        following = re.compile(r"(?:-\w+)*", re.ASCII).match(text, end)
        return (hyphens.start() if hyphens else start), (following.end() if following else end)
    return start, end


def _of_keys(knowledge: Knowledge, cursor: Cursor) -> Iterator[Completion]:
    start, end = _span(knowledge)
    container = node_at(cursor.root, cursor.path)
    present = {key.text for key, _ in container.pairs} if isinstance(container, Mapping) else set()
    colon = "" if FOLLOWING_COLON.match(knowledge.file.text, end) else ": "
    for name, schema in knowledge.place.keys.items():
        if name not in present:
            inner = knowledge.shape.place(cursor.root, (*cursor.path, name))
            yield Completion(name, KEY, start, end, name + colon, "key", schema.get("description") or inner.description)
    if cursor.path == ("allow",):
        for name, words in HEALTH_WARNINGS.items():
            if name not in present:
                yield Completion(name, KEY, start, end, name + colon, "health warning", words)
    if _are_parameters(cursor.path):
        yield from _parameters(knowledge, colon, present)


def _parameters(knowledge: Knowledge, end_with: str = "", without: Collection[str] = ()) -> Iterator[Completion]:
    start, end = _span(knowledge)
    for name, symbol in knowledge.symbols.items():
        if symbol.kind == "parameter" and name not in without:
            yield Completion(name, NAME, start, end, name + end_with, symbol.kind, knowledge.of_symbol(symbol))


def _are_parameters(path: KeyPath) -> bool:
    """Return whether the keys of the mapping are parameters of an example."""
    return len(path) == 3 and path[0] == "examples" and path[2] == "params"


def _of_values(knowledge: Knowledge, cursor: Cursor) -> Iterator[Completion]:
    start, end = _span(knowledge)
    for value in knowledge.place.values:
        yield Completion(value, VALUE, start, end, value, "", knowledge.of_value(value))
    key = next((part for part in reversed(cursor.path) if isinstance(part, str)), "")
    if key == "type" and "types" not in cursor.path[:1]:
        for symbol in knowledge.symbols.values():
            if symbol.kind == "type" and symbol.name not in knowledge.place.values and "answer" not in cursor.path:
                yield Completion(symbol.name, VALUE, start, end, symbol.name, "type", knowledge.of_symbol(symbol))
    if cursor.path[:1] == ("lists",) and key == "words":
        for name in WORD_LISTS:
            yield Completion(name, VALUE, start, end, name, "word list")
    if key in (*REDRAWN, EACH):
        yield from _parameters(knowledge)


def _of_code(knowledge: Knowledge, cursor: Cursor, before: str) -> Iterator[Completion]:
    word = LAST_WORD.search(before)
    assert word is not None
    leading = before[: word.start()].rstrip()
    start, end = _span(knowledge)
    is_template = knowledge.text_kind == TEMPLATE
    tag = tag_at(cursor.before, cursor.offset) if is_template else None
    if tag is not None and tag.opening == "{%" and TAG_NAME.fullmatch(before):
        for name in TAGS:
            yield Completion(name, KEYWORD, start, end, name, "tag")
        return
    if leading.endswith("."):
        if leading.endswith("loop.") and "loop" in knowledge.local_names:
            for name in sorted(LOOP_FIELDS):
                yield Completion(name, NAME, start, end, name, "of the loop")
        return
    if word.group()[:1].isdigit():
        return
    if not (is_template and leading.endswith("|") and not leading.endswith("||")):
        for symbol in knowledge.symbols.values():
            if not symbol.is_called and symbol.kind != "type":
                yield Completion(symbol.name, NAME, start, end, symbol.name, symbol.kind, knowledge.of_symbol(symbol))
        for name, words in knowledge.local_names.items():
            yield Completion(name, NAME, start, end, name, words)
        for name in sorted(CONSTANTS):
            yield Completion(name, CONSTANT, start, end, name, "constant")
        for name in LITERALS:
            yield Completion(name, KEYWORD, start, end, name)
    yield from _functions(knowledge, start, end)


def _functions(knowledge: Knowledge, start: int, end: int) -> Iterator[Completion]:
    for symbol in knowledge.symbols.values():
        if symbol.is_called:
            doc = knowledge.of_symbol(symbol)
            yield Completion(symbol.name, FUNCTION, start, end, symbol.name, symbol.signature, doc)
    for name in sorted(knowledge.reply_functions):
        yield Completion(name, FUNCTION, start, end, name, f"{name}(reply)", knowledge.of_name(name))
    for name, function in library().items():
        if name not in knowledge.symbols:
            yield Completion(name, FUNCTION, start, end, name, function.signature)  # the editor asks for more
