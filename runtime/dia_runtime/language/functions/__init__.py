"""The function library: one literal table from name to function, one module a field.

A function is pure, takes its subject first, has type annotations out of KINDS, and a docstring with
what comes back, limits, errors, source where it has one, and a doctest.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

from dia_runtime.language.diagnostics import LanguageError
from dia_runtime.language.values import Record, is_symbolic, kind_of, normal

FUNCTIONS: dict[str, Callable[..., Any]] = {}

# Functions not listed have revision 1. A change of what a function returns raises its revision.
REVISIONS: dict[str, int] = {}


def _is_integer(value: Any) -> bool:
    return type(value) is int


def _is_number(value: Any) -> bool:
    kind = type(value)
    return kind is int or isinstance(value, Fraction) or (kind is not bool and is_symbolic(value))


def _is_rational(value: Any) -> bool:
    return type(value) is int or isinstance(value, Fraction)


def _is_list(value: Any) -> bool:
    return type(value) is list


def _list_of(check: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: type(value) is list and all(map(check, value))


def _is_text(value: Any) -> bool:
    return type(value) is str


def _is_matrix(value: Any) -> bool:
    return (
        type(value) is list
        and bool(value)
        and all(type(row) is list and len(row) == len(value[0]) and all(map(_is_number, row)) for row in value)
    )


# Annotation in a function's signature -> (word in messages and docs, test). `Value` is anything.
KINDS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "int": ("integer", _is_integer),
    "Number": ("number", _is_number),
    "Rational": ("rational number", _is_rational),
    "bool": ("boolean", lambda value: type(value) is bool),
    "str": ("text", _is_text),
    "bytes": ("bytes", lambda value: type(value) is bytes),
    "str | bytes": ("text or bytes", lambda value: type(value) in (str, bytes)),
    "str | list[Value]": ("text or list", lambda value: type(value) in (str, list)),
    "str | bytes | list[Value]": ("text, bytes or list", lambda value: type(value) in (str, bytes, list)),
    "Sized": ("text, bytes, list or record", lambda value: type(value) in (str, bytes, list, Record)),
    "list[Value]": ("list", _is_list),
    "list[int]": ("list of integers", _list_of(_is_integer)),
    "list[Number]": ("list of numbers", _list_of(_is_number)),
    "list[Rational]": ("list of rational numbers", _list_of(_is_rational)),
    "list[str]": ("list of texts", _list_of(_is_text)),
    "Matrix": ("matrix (a list of rows of numbers)", _is_matrix),
    "Expression": ("number or symbolic expression", _is_number),
    "Function": ("function", callable),
    "Value": ("value", lambda value: True),
}


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the library with what messages, docs and the compiler need to know of it."""

    name: str
    module: str
    raw: Callable[..., Any]
    call: Callable[..., Any]
    parameters: tuple[tuple[str, str], ...]
    minimum: int
    maximum: int | None
    revision: int

    @property
    def signature(self) -> str:
        """The call as documentation writes it, optional arguments in brackets."""
        shown = [name if at < self.minimum else f"[{name}]" for at, (name, _) in enumerate(self.parameters)]
        return f"{self.name}({', '.join(shown)}{'' if self.maximum is not None else ', ...'})"

    @property
    def function_arguments(self) -> frozenset[int]:
        """Places of the arguments that are names of functions."""
        return frozenset(at for at, (_, kind) in enumerate(self.parameters) if kind == "Function")


@cache
def library() -> Mapping[str, Function]:
    """Name -> Function for the whole library."""
    return {name: _described(name, raw) for name, raw in sorted(FUNCTIONS.items())}


def _described(name: str, raw: Callable[..., Any]) -> Function:
    parameters = list(inspect.signature(raw).parameters.values())
    variadic = bool(parameters) and parameters[-1].kind is inspect.Parameter.VAR_POSITIONAL
    kinds = tuple((parameter.name, str(parameter.annotation)) for parameter in parameters)
    minimum = sum(
        1
        for parameter in parameters
        if parameter.default is inspect.Parameter.empty and parameter.kind is not inspect.Parameter.VAR_POSITIONAL
    )
    return Function(
        name=name,
        module=raw.__module__.rpartition(".")[2],
        raw=raw,
        call=_checked(name, raw, kinds, variadic),
        parameters=kinds,
        minimum=minimum,
        maximum=None if variadic else len(kinds),
        revision=REVISIONS.get(name, 1),
    )


SETTLED = frozenset({int, str, bool, bytes, list, Record, type(None)})


def _checked(
    name: str, raw: Callable[..., Any], kinds: tuple[tuple[str, str], ...], variadic: bool
) -> Callable[..., Any]:
    tests = tuple(KINDS[kind][1] for _, kind in kinds)
    trivial = all(kind == "Value" for _, kind in kinds)

    def call(*arguments: Any) -> Any:
        if not trivial:
            for place, argument in enumerate(arguments):
                at = min(place, len(tests) - 1) if variadic else place
                if not tests[at](argument):
                    raise _mismatch(name, kinds[at], argument)
        result = raw(*arguments)
        return result if type(result) in SETTLED else normal(result)

    call.__name__ = name
    return call


def _mismatch(name: str, parameter: tuple[str, str], argument: Any) -> LanguageError:
    word = KINDS[parameter[1]][0]
    return LanguageError(f"`{name}` needs {_article(word)} {word} as `{parameter[0]}`; this is {_shown(argument)}")


def _article(word: str) -> str:
    return "an" if word[0] in "aeiou" else "a"


def _shown(argument: Any) -> str:
    word = kind_of(argument)
    return word if word in ("text", "bytes", "none") else f"{_article(word)} {word}"
