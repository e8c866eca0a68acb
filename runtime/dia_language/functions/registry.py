"""The registry of the function library; a decorator adds each function where it is defined."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, overload

FUNCTIONS: dict[str, Callable[..., Any]] = {}
F = TypeVar("F", bound=Callable[..., Any])


@overload
def library_function(raw: F) -> F: ...


@overload
def library_function(*, revision: int) -> Callable[[F], F]: ...


def library_function(raw: F | None = None, *, revision: int = 1) -> F | Callable[[F], F]:
    """Add a function to the library under its name, without the final underscore that avoids a Python builtin.

    If a change alters what the function returns, raise its revision: `@library_function(revision=2)`.
    """

    def add(function: F) -> F:
        name = function.__name__.removesuffix("_")
        if name in FUNCTIONS:
            raise ValueError(f"two library functions are called `{name}`")
        function.revision = revision  # type: ignore[attr-defined]
        FUNCTIONS[name] = function
        return function

    return add if raw is None else add(raw)
