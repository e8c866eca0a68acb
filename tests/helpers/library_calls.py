"""Calls of functions of the library, as an expression makes them."""

from __future__ import annotations

from typing import Any

import pytest
from dia_language.budgets import reset
from dia_language.diagnostics import LanguageError
from dia_language.functions import library


def call(name: str, *arguments: Any) -> Any:
    """What a function gives, with a fresh budget."""
    reset()
    return library()[name].call(*arguments)


def refused(name: str, *arguments: Any) -> LanguageError:
    """The error that a function raises."""
    with pytest.raises(LanguageError) as caught:
        call(name, *arguments)
    return caught.value


def code(name: str, *arguments: Any) -> str:
    """The code of the error that a function raises."""
    return refused(name, *arguments).code
