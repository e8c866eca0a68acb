"""Expressions of which YAML has removed a part before we see them: what happened, and how to fix it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from dia_compiler.parse.model import Snippet
from dia_language.diagnostics import DiaError, Diagnostic, Diagnostics, Position
from dia_language.expressions.expressions import CompiledExpression, compile_expression
from dia_language.expressions.namespace import Namespace
from dia_language.expressions.syntax import ParsedExpression, parse
from dia_language.yaml_nodes import Mapping, Node, Scalar, Sequence

QUOTES = "quote the whole value, or put it on its own lines after `|`"
SENTENCE = re.compile(r"[A-Za-z][\w ,.;!?'-]*\Z")


def compiled(
    piece: Snippet,
    namespace: Namespace,
    values: frozenset[str],
    arguments: tuple[str, ...] = (),
    entry: frozenset[str] | None = None,
    parsed: ParsedExpression | None = None,
) -> CompiledExpression:
    """Return the piece, which may be parsed already, compiled as an expression.

    Raises DiaError, which explains what YAML did if that is the cause.
    """
    if piece.origin.style == ">":
        message = "YAML joins the lines of this expression, so errors in it cannot be located"
        raise DiaError(Diagnostic("E306", message, piece.origin.position, "use `|` instead of `>`"))
    try:
        return compile_expression(parsed or parse(piece), namespace, arguments, entry, values)
    except DiaError as error:
        raise DiaError([explained(piece, entry) for entry in error.diagnostics]) from None


def explained(piece: Snippet, entry: Diagnostic) -> Diagnostic:
    """Return the error of an expression, explained by what YAML did to the expression if that is the cause."""
    if entry.code == "E303":
        return _missing_quotes(piece, entry)
    if entry.code not in ("E301", "E302"):
        return entry
    scalar = piece.origin
    if scalar.style == "" and scalar.rest_of_line.lstrip().startswith("#") and scalar.rest_of_line[:1] in " \t":
        message = "YAML reads ` #` as the start of a comment, which cuts off the expression"
        return replace(entry, code="E306", message=message, help="quote the whole expression")
    if piece.flow is not None and is_open(piece.text):
        message = "YAML splits this list at every comma, even inside the brackets of an expression"
        help = "quote each expression, or put each on its own line after `- `"
        return Diagnostic("E306", message, piece.flow, help)
    return _missing_quotes(piece, entry)


def _missing_quotes(piece: Snippet, entry: Diagnostic) -> Diagnostic:
    """Return the error for plain words in place of an expression; they are mostly meant as text, which needs quotes."""
    is_word = piece.text.isidentifier() and piece.origin.style == ""
    if is_word and entry.message.startswith("unknown name") and (entry.help or "").startswith("available names"):
        return replace(entry, help=f"""{entry.help}; a text needs its own quotes: '"{piece.text}"'""")
    if (
        (entry.help or "").startswith("did you mean")
        or "reserved word" in entry.message
        or is_word
        or piece.shift
        or not SENTENCE.match(piece.text)
    ):
        return entry
    quoted = '"' + piece.text + '"'
    advice = f"text inside an expression needs its own quotes: '{quoted}'"
    return replace(entry, help=f"{entry.help}; {advice}" if "`if` without" in entry.message else advice)


def is_open(text: str) -> bool:
    """Return whether a bracket or quote of the text is not closed, or closes nothing, so that it is probably a part."""
    depth, quote = 0, ""
    for char in text:
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
            if depth < 0:
                return True
    return depth > 0 or bool(quote)


def closes(text: str) -> bool:
    """Return whether the text closes a bracket that it does not open."""
    return is_open(text) and text.count(")") + text.count("]") > text.count("(") + text.count("[")


def tell_split_values(root: Node, diagnostics: Diagnostics, since: int) -> None:
    """Report values of flow mappings that YAML has split at a comma, instead of the errors that follow from it.

    `since` is the number of errors before this file.
    """
    for value, end in _split_values(root):
        start = value.position
        others = [entry for entry in diagnostics.entries[since:] if not _is_between(entry.position, start, end)]
        diagnostics.entries[since:] = others
        message = f"YAML splits this at the comma, and only `{value.text}` is left"
        diagnostics.error("E306", message, start, QUOTES)


def _split_values(node: Node) -> Iterator[tuple[Scalar, Position]]:
    """Yield each value that was split, and where its last part begins."""
    if isinstance(node, Sequence):
        for item in node.items:
            yield from _split_values(item)
    elif isinstance(node, Mapping):
        cut: Scalar | None = None
        end: Position | None = None
        for key, value in (*node.pairs, (None, None)):
            is_alone = key is not None and isinstance(value, Scalar) and value.text == "" and node.is_flow
            if cut is not None and (is_alone or (key is not None and key is not cut and closes(key.text))):
                end = key.position if key is not None else None
                if is_alone:
                    continue
            if cut is not None and end is not None:
                yield cut, end
            cut, end = None, None
            if value is None:
                return
            if is_alone and key is not None and key.style == "" and is_open(key.text):
                cut = key
                continue
            if node.is_flow and isinstance(value, Scalar) and value.style == "" and is_open(value.text):
                cut = value
            yield from _split_values(value)


def _is_between(place: Position | None, start: Position, end: Position) -> bool:
    return place is not None and (
        place.file == start.file and (start.line, start.column) <= (place.line, place.column) <= (end.line, end.column)
    )
