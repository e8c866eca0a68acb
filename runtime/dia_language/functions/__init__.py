"""The function library of the spec language: one module a field, whose functions add themselves to the registry.

A function is pure, takes its subject first, has type annotations out of KINDS, and a docstring with
what comes back, limits, errors, source where it has one, and a doctest.
"""

from __future__ import annotations

import inspect
import pkgutil
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

from dia_language.functions.argument_checks import KINDS, checked_function
from dia_language.functions.registry import FUNCTIONS
from dia_language.plugins import Registry

__all__ = ["FUNCTIONS", "KINDS", "Function", "Library", "library", "plugin_fault", "without_underscores"]

for _field in pkgutil.iter_modules(__path__):
    import_module(f"{__name__}.{_field.name}")


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
        names = [name if at < self.minimum else f"[{name}]" for at, (name, _) in enumerate(self.parameters)]
        return f"{self.name}({', '.join(names)}{'' if self.maximum is not None else ', ...'})"

    @property
    def doc(self) -> str:
        """The docstring in the names of the language: Python's own carry an underscore behind them."""
        return without_underscores(inspect.getdoc(self.raw) or "")

    @property
    def function_arguments(self) -> frozenset[int]:
        """Places of the arguments that are names of functions."""
        return frozenset(at for at, (_, kind) in enumerate(self.parameters) if kind == "Function")


class Library(Mapping[str, Function]):
    """Name -> Function, described when first asked for: our own, then those of plug-ins."""

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
    """What keeps a thing of another package from being a function of the library, or None."""
    if not callable(raw):
        return "it is no function"
    if not inspect.getdoc(raw):
        return "it has no docstring"
    for parameter in inspect.signature(raw).parameters.values():
        if str(parameter.annotation) not in KINDS:
            kinds = ", ".join(sorted(KINDS))
            return f"its parameter `{parameter.name}` is annotated `{parameter.annotation}`, which is none of {kinds}"
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
        revision=getattr(raw, "revision", 1),
    )


def without_underscores(doc: str) -> str:
    """The text with `sum_` and its like, which Python needs, as `sum`."""
    own = {raw.__name__: name for name, raw in FUNCTIONS.items() if raw.__name__ != name}
    names = "|".join(map(re.escape, sorted(own)))
    return re.sub(rf"\b({names})\b", lambda match: own[match[1]], doc).replace("guards.", "")
