"""Which `{{ ... }}` of a template cannot be parsed, and why: Jinja names the line alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from jinja2.exceptions import TemplateSyntaxError

if TYPE_CHECKING:
    from jinja2 import Environment

AS_TEXT = "write literal braces as {{ '{{' }}, or put them between {% raw %} and {% endraw %}"
WORDS = frozenset({"and", "or", "not", "in", "is", "if", "else"})  # operators of Jinja that look like names
VALUES = frozenset({"name", "string", "integer", "float"})


class FaultyTag(NamedTuple):
    """Where in the template the fault is, in characters, what it is, and how to fix it.

    Without an explanation, `message` is Jinja's and `help` is None.
    """

    offset: int
    message: str
    help: str | None


def faulty_print_tag(text: str, start: int, end: int, environment: Environment) -> FaultyTag | None:
    """Return the fault of the first faulty `{{ ... }}` that begins in this part of the text, if there is one."""
    at = text.find("{{", start, end)
    while at >= 0:
        behind = _end_of(text, at + 2)
        if behind is None:
            message = "`{{` is not closed: it needs two braces, `}}`"
            return FaultyTag(at, message, f"close it with }}}}; or {AS_TEXT}")
        fault = _fault_within(text[at:behind], environment)
        if fault is not None:
            return fault._replace(offset=at + fault.offset)
        at = text.find("{{", behind, end)
    return None


def _end_of(text: str, at: int) -> int | None:
    """Return the place after the `}}` that closes a tag, skipping quotes and braces; None if none closes it."""
    depth = 0
    while at < len(text):
        sign = text[at]
        if sign in "'\"":
            at = text.find(sign, at + 1)
            if at < 0:
                return len(text)  # an unclosed quote is another fault
        elif sign == "{":
            depth += 1
        elif sign == "}":
            if not depth:
                return at + 2 if text.startswith("}}", at) else None
            depth -= 1
        at += 1
    return None


def _fault_within(tag: str, environment: Environment) -> FaultyTag | None:
    """Return the fault of a closed tag, with the offset in the tag; None if it can be parsed."""
    try:
        environment.parse(tag)
    except TemplateSyntaxError as error:
        return _missing_operator(tag, environment) or FaultyTag(0, str(error.message), None)
    return None


def _missing_operator(tag: str, environment: Environment) -> FaultyTag | None:
    previous = ""
    for offset, kind, token in _tokens(tag, environment):
        is_value = kind in VALUES and token not in WORDS
        if is_value and previous and "for" in (previous, token):
            return FaultyTag(
                offset, "a template builds no list with `for`", "build it under `let`, and print its name here"
            )
        if is_value and previous:
            names = f"{{{{ {previous} }}}} {{{{ {token} }}}}"
            help = f"write {names} to print both, or compute the value under `let`"
            return FaultyTag(offset, f"there is no operator between `{previous}` and `{token}`", help)
        previous = token if is_value else ""
    return None


def _tokens(tag: str, environment: Environment) -> Iterator[tuple[int, str, str]]:
    offset = 0
    try:
        for _, kind, token in environment.lex(tag):
            if kind != "whitespace":
                yield offset, kind, token
            offset += len(token)
    except TemplateSyntaxError:  # a character that no expression has
        return
