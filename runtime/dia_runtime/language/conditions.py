"""Conditions and shares that travel with a bundle: an expression over `reply` with all that it needs, and nothing else.

Either is stored as `{"expression", "names": {name: encoded value}, "functions": {name: {"arguments",
"expression"}}, "faces": {name: {"arguments", "entries": {"catalog/entry": {"expression", "names": [...]}}}}}`; what is
empty is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import lru_cache
from json import dumps, loads
from typing import Any

from dia_runtime.language.diagnostics import LanguageError
from dia_runtime.language.expressions import Compiled, compile_expression
from dia_runtime.language.functions.calculus import exp, symbol
from dia_runtime.language.guards import truth
from dia_runtime.language.lowering import EXACT_ANSWER
from dia_runtime.language.namespace import Namespace, face
from dia_runtime.language.syntax import Loose, parse
from dia_runtime.language.values import Value, decode, described, plain
from dia_runtime.language.workers import Servant


def condition(stored: Mapping[str, Any]) -> Callable[[Value], bool]:
    """The stored condition as a function of the typed reply. Raises DiaError where it cannot be compiled."""
    value = _function(stored)
    return lambda reply: truth(value(reply))


def share(stored: Mapping[str, Any]) -> Callable[[Value], Fraction]:
    """The stored share as a function of the typed reply. Raises DiaError where it cannot be compiled."""
    value = _function(stored)
    return lambda reply: _share(value(reply))


def _function(stored: Mapping[str, Any]) -> Callable[[Value], Value]:
    scope = {name: decode(value, _symbolic) for name, value in stored.get("names", {}).items()}
    compiled = _compiled(stored["expression"], _key(stored, "functions"), _key(stored, "faces"), frozenset(scope))
    return lambda reply: compiled({**scope, "reply": reply})


def _symbolic(text: str) -> Value:
    """The symbolic value that is stored as the text, which the language itself evaluates within its bounds."""
    parsed = parse(Loose(text))
    names = frozenset(use.name for use in parsed.names) - {"pi"}
    known: dict[str, Value] = {name: exp(1) if name == "E" else symbol(name) for name in names}
    return compile_expression(parsed, Namespace(), values=names)(known)


def _share(value: Value) -> Fraction:
    """The value as a share. Raises LanguageError for anything but an exact number from 0 to 1."""
    is_number = isinstance(value, int | Fraction) and not isinstance(value, bool)
    if not is_number or not 0 <= value <= 1:
        shown = plain(value) if is_number else described(value)
        raise LanguageError(f"`share` must be a number from 0 to 1; this is {shown}")
    return Fraction(value)


def guarded_condition(stored: Mapping[str, Any], servant: Servant) -> Callable[[Value], bool]:
    """The stored condition as a function of the typed reply, evaluated in a worker that can be killed."""
    return lambda reply: bool(servant.ask(answered, stored, reply))


def answered(stored: Mapping[str, Any], reply: Value) -> Iterator[bool]:
    """Whether the stored condition holds for the reply, as the one item of a worker's task."""
    yield condition(stored)(reply)


def guarded_share(stored: Mapping[str, Any], servant: Servant) -> Callable[[Value], Fraction]:
    """The stored share as a function of the typed reply, evaluated in a worker that can be killed."""
    return lambda reply: Fraction(servant.ask(shared, stored, reply))


def shared(stored: Mapping[str, Any], reply: Value) -> Iterator[Fraction]:
    """The stored share for the reply, as the one item of a worker's task."""
    yield share(stored)(reply)


def _key(stored: Mapping[str, Any], part: str) -> str:
    return dumps(stored.get(part, {}), sort_keys=True)


@lru_cache(maxsize=256)
def _compiled(expression: str, functions: str, faces: str, names: frozenset[str]) -> Compiled:
    namespace = Namespace()
    values = names | {"reply"}
    if EXACT_ANSWER in names:
        values |= {"answer"}
    waiting: dict[str, Mapping[str, Any]] = {**loads(functions), **loads(faces)}
    for name in list(waiting):
        _add(name, waiting, namespace, values)
    return compile_expression(parse(Loose(expression)), namespace, values=values)


def _add(name: str, waiting: dict[str, Mapping[str, Any]], namespace: Namespace, values: frozenset[str]) -> None:
    """Adds a function or face after those that it calls."""
    part = waiting.pop(name, None)
    if part is None:
        return
    arguments = tuple(part["arguments"])
    if "entries" not in part:
        parsed = parse(Loose(part["expression"]))
        for use in (*parsed.calls, *parsed.function_names):
            _add(use.name, waiting, namespace, values)
        namespace.add(name, len(arguments), compile_expression(parsed, namespace, arguments, None, values).call)
        return
    table = {}
    for key, body in part["entries"].items():
        parsed = parse(Loose(body["expression"]))
        for use in (*parsed.calls, *parsed.function_names):
            _add(use.name, waiting, namespace, values)
        catalog, _, entry = key.partition("/")
        own = frozenset(body["names"])
        table[(catalog, entry)] = compile_expression(parsed, namespace, arguments, own, values).call
    namespace.add(name, len(arguments) + 1, face(name, table))
