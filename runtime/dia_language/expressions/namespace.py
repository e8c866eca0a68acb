"""What compiled expressions may call: the library, the guards, and the functions of one template."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from dia_language.budgets import charge, left
from dia_language.diagnostics import LanguageError
from dia_language.expressions.replies import REPLY_GUARDS
from dia_language.expressions.syntax import BINARY, COMPARED, UNARY
from dia_language.functions import library
from dia_language.numbers import operators
from dia_language.numbers.values import Entry, Value

OwnCall = Callable[..., Value]


class Namespace:
    """What compiled expressions may call: the library, the guards, and the functions of one template.

    An own function is a callable that takes the scope and then its arguments. `replies` are the names of a model's
    replies in a scope.
    """

    def __init__(self, replies: frozenset[str] = frozenset()) -> None:
        self.replies = replies
        self.globals: dict[str, Any] = {"__builtins__": {}}
        self.own: dict[str, int | None] = {}
        self.pure: set[str] = set()
        self.globals |= {f"_{name}": getattr(operators, name) for name in GUARDS}
        self.globals |= REPLY_GUARDS
        self.globals |= {"_partial": partial}

    def add(self, name: str, arity: int | None, call: OwnCall, is_pure: bool = False) -> None:
        """Make an own function known; it hides a library function of that name. Arity None takes any arguments.

        The value of a pure function depends only on its arguments.
        """
        self.own[name] = arity
        (self.pure.add if is_pure else self.pure.discard)(name)
        self.globals[f"_o_{name}"] = call

    def cached_call(self, name: str, arguments: tuple[int | str, ...]) -> str:
        """Return the global with the value of a pure function for literal arguments."""
        key = f"_h_{name}_{arguments!r}"
        if key not in self.globals:
            self.globals[key] = CachedCall(self.globals[f"_o_{name}"], arguments)
        return key

    def repeated_call(self, name: str) -> str:
        """Return the global with a pure function whose arguments stay the same in the loop."""
        key = f"_r_{name}"
        if key not in self.globals:
            self.globals[key] = RepeatedCall(self.globals[f"_o_{name}"])
        return key

    def reference(self, name: str) -> str:
        """Return the global with a library function, created at first use."""
        key = f"_f_{name}"
        if key not in self.globals:
            self.globals[key] = library()[name].call
        return key

    def constant(self, name: str) -> str:
        """Return the global with a constant, created at first use."""
        key = f"_k_{name}"
        if key not in self.globals:
            self.globals[key] = constant(name)
        return key


class CachedCall:
    """A function's value for certain arguments, computed at first use; later uses cost the same steps.

    Without it, specs whose functions build a table from literals (an alphabet, the squares of a field) rebuild it for
    every instance: a compile of dia_bench with k = 20 takes 12.3 s of user time instead of 11.1 s.
    """

    __slots__ = ("arguments", "call", "is_known", "steps", "value")

    def __init__(self, call: OwnCall, arguments: tuple[int | str, ...]) -> None:
        self.call, self.arguments = call, arguments
        self.is_known, self.steps, self.value = False, 0, None

    def __call__(self, scope: Mapping[str, Value]) -> Value:
        """Return the value. Raises what the function raises."""
        if self.is_known:
            charge(self.steps)
            return self.value
        before = left()
        self.value = self.call(scope, *self.arguments)
        self.steps, self.is_known = before - left(), True
        return self.value


class RepeatedCall:
    """A function with its last value, for loops that call it again with the same arguments; it costs the same steps.

    In `[[b for b in words(n) if near(a, b)] for a in words(n)]`, the inner list of words would be made for every `a`.
    """

    __slots__ = ("arguments", "call", "steps", "value")

    def __init__(self, call: OwnCall) -> None:
        self.call, self.steps, self.value = call, 0, None
        self.arguments: tuple[Value, ...] | None = None

    def __call__(self, scope: Mapping[str, Value], *arguments: Value) -> Value:
        """Return the value. Raises what the function raises."""
        if not all(type(argument) is int or type(argument) is str for argument in arguments):
            return self.call(scope, *arguments)  # others may be equal but not identical
        if self.arguments == arguments:
            charge(self.steps)
            return self.value
        before = left()
        value = self.call(scope, *arguments)
        self.arguments, self.steps, self.value = arguments, before - left(), value
        return value


GUARDS = (
    *BINARY.values(), *UNARY.values(), *COMPARED.values(),
    "item_of", "slice_of", "field", "record", "joined", "steps", "every", "some",
)  # fmt: skip


def constant(name: str) -> Value:
    """Return the value of a constant of the language (`CONSTANTS`)."""
    import string

    if name == "pi":
        import sympy

        return sympy.pi
    texts = {
        "letters": string.ascii_letters,
        "digits": string.digits,
        "lower_letters": string.ascii_lowercase,
        "upper_letters": string.ascii_uppercase,
        "hex_digits": "0123456789abcdef",
        "punctuation": string.punctuation,
        "printable": string.ascii_letters + string.digits + string.punctuation,
    }
    return texts[name]


def face(name: str, entries: Mapping[tuple[str, str], Callable[..., Value]]) -> OwnCall:
    """Return the function of a face: its last argument is an entry, which decides what is done.

    The entry may also be the first argument: `apply(text, step)` is what `reduce(apply, steps, text)` calls,
    `holds(rule, text)` is what a person writes.
    """

    def call(scope: Mapping[str, Value], *arguments: Value) -> Value:
        *others, last = arguments
        if type(last) is not Entry:
            last, *others = arguments
        if type(last) is not Entry:
            raise LanguageError(f"the last argument of `{name}` must be an entry of a catalog")
        chosen = entries.get((last.catalog, last.name))
        if chosen is None:
            raise LanguageError(f"the entries of `{last.catalog}` have no face `{name}`")
        return chosen(scope, last.values, *others)

    return call
