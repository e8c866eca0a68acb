"""The function library of the spec language: one module per field, whose functions add themselves to the registry.

A function is pure, takes its subject first, and annotates its parameters with keys of KINDS. Its docstring says what it
returns, its limits, errors and source, and ends with `Examples:`, written in the spec language.
"""

from __future__ import annotations

import inspect
import json
import pkgutil
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

from dia_language.functions.argument_checks import KINDS, checked_function
from dia_language.functions.registry import FUNCTIONS
from dia_language.plugins import Registry

__all__ = ["FUNCTIONS", "KINDS", "Function", "Library", "library", "plugin_fault"]

for _field in pkgutil.iter_modules(__path__):
    import_module(f"{__name__}.{_field.name}")


EXAMPLES = "\n\nExamples:\n"
EXAMPLE = re.compile(r"(?P<call>.*)\s+-> (?P<result>.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Function:
    """A library function as error messages, the docs and the compiler need it."""

    name: str
    module: str
    raw: Callable[..., Any]
    call: Callable[..., Any]
    parameters: tuple[tuple[str, str], ...]
    minimum: int
    maximum: int | None
    defaults: tuple[Any, ...]
    revision: int

    @property
    def signature(self) -> str:
        """The call as the docs write it, with optional arguments in brackets."""
        names = [name if at < self.minimum else f"[{name}]" for at, (name, _) in enumerate(self.parameters)]
        return f"{self.name}({', '.join(names)}{'' if self.maximum is not None else ', ...'})"

    @property
    def doc(self) -> str:
        """The docstring."""
        return inspect.getdoc(self.raw) or ""

    @property
    def text(self) -> str:
        """The docstring without its examples."""
        return self.doc.partition(EXAMPLES)[0].rstrip()

    @property
    def examples(self) -> tuple[tuple[str, str], ...]:
        """The examples of the docstring: each a call and its result, both in the spec language."""
        lines = textwrap.dedent(self.doc.partition(EXAMPLES)[2]).strip()
        matches = (EXAMPLE.fullmatch(example) for example in re.split(r"\n(?! )", lines))
        return tuple((match["call"], match["result"]) for match in matches if match)

    @property
    def arguments(self) -> tuple[tuple[str, str], ...]:
        """The parameters: each a name and what it accepts, with the default of an optional one."""
        words = [KINDS[kind][0] for _, kind in self.parameters]
        for at, default in enumerate(self.defaults, self.minimum):
            if KINDS[self.parameters[at][1]][1](default):  # else None says that the argument was left out
                words[at] += f", default {_default(default)}"
        return tuple((name, word) for (name, _), word in zip(self.parameters, words, strict=True))

    @property
    def description(self) -> str:
        """The signature, text, arguments and examples, as `dia functions NAME` prints them."""
        examples = self.doc.removeprefix(self.text).strip()
        arguments = "\n".join(f"    {name}: {words}" for name, words in self.arguments)
        parts = [self.signature, self.text, arguments and f"Arguments:\n{arguments}", examples]
        return "\n\n".join(part for part in parts if part)

    @property
    def function_arguments(self) -> frozenset[int]:
        """The positions of the arguments that are names of functions."""
        return frozenset(at for at, (_, kind) in enumerate(self.parameters) if kind == "Function")


class Library(Mapping[str, Function]):
    """The functions by name, built-in ones and those of plug-ins. A function is described on first use."""

    def __init__(self) -> None:
        self.registry = Registry("dia.functions", FUNCTIONS, plugin_fault)
        self.described: dict[str, Function] = {}

    def __getitem__(self, name: str) -> Function:
        if name not in self.described:
            self.described[name] = _described(name, self.registry[name])
        return self.described[name]

    def __contains__(self, name: object) -> bool:
        return name in self.registry

    def __iter__(self) -> Iterator[str]:
        yield from sorted(self.registry)

    def __len__(self) -> int:
        return len(self.registry)


@cache
def library() -> Library:
    """The whole library."""
    return Library()


def plugin_fault(raw: Any) -> str | None:
    """Return why an object of another package cannot be a library function, or None if it can."""
    if not callable(raw):
        return "it is not a function"
    if not inspect.getdoc(raw):
        return "it has no docstring"
    for parameter in inspect.signature(raw).parameters.values():
        if str(parameter.annotation) not in KINDS:
            kinds = ", ".join(sorted(KINDS))
            return (
                f"its parameter `{parameter.name}` is annotated `{parameter.annotation}`, which is not one of {kinds}"
            )
    return None


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
        call=checked_function(name, raw, kinds, variadic),
        parameters=kinds,
        minimum=minimum,
        maximum=None if variadic else len(kinds),
        defaults=tuple(item.default for item in parameters if item.default is not inspect.Parameter.empty),
        revision=getattr(raw, "revision", 1),
    )


def _default(value: Any) -> str:
    """The default of a parameter as an expression of the language."""
    if isinstance(value, bytes):
        return f"utf8({json.dumps(value.decode('ascii'))})"
    if isinstance(value, str):
        return json.dumps(value)
    return str(value).lower()  # a number, true, false or none
