"""The library as a whole: every function is documented, shown at work, checked and exercised."""

from __future__ import annotations

import doctest
import importlib
import inspect
import re
from pathlib import Path

import pytest
from dia_runtime.language.budgets import reset
from dia_runtime.language.diagnostics import LanguageError
from dia_runtime.language.functions import FUNCTIONS, KINDS, library

HERE = Path(__file__).parent
MODULES = sorted({function.__module__ for function in FUNCTIONS.values()})
EXERCISED = "\n".join(
    path.read_text("utf-8") for path in sorted(HERE.glob("test_*.py")) if path.name != Path(__file__).name
)


@pytest.mark.parametrize("module", MODULES)
def test_every_worked_example_gives_what_it_says(module: str) -> None:
    reset()
    found = doctest.testmod(importlib.import_module(module))
    assert found.attempted > 0
    assert found.failed == 0


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_every_function_is_documented_and_exercised(name: str) -> None:
    function = FUNCTIONS[name]
    text = inspect.getdoc(function) or ""
    assert text.split("\n")[0].endswith("."), "the first line of the docstring ends with a full stop"
    assert re.search(rf">>> .*\b{name}_?\(", text), "a worked example calls the function"
    assert f'"{name}"' in EXERCISED, "a test of this folder calls the function by its name"
    for parameter, kind in library()[name].parameters:
        assert kind in KINDS, f"`{parameter}` is annotated as {kind}"


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_names_differ_from_the_language_only_to_spare_pythons_own(name: str) -> None:
    assert FUNCTIONS[name].__name__.removesuffix("_") == name


def test_arguments_are_checked_before_the_function_sees_them() -> None:
    with pytest.raises(LanguageError, match="`sha256` needs bytes as `data`; this is text"):
        library()["sha256"].call("abc")
    with pytest.raises(LanguageError, match="`gcd` needs an integer or list of integers as `others`"):
        library()["gcd"].call(4, 6, "8")
    with pytest.raises(LanguageError, match="`det` needs a matrix"):
        library()["det"].call([[1, 2], [3]])
    with pytest.raises(LanguageError, match="needs a number, expression, or the text infinity"):
        library()["limit"].call(1, 2, "oo")


def test_functions_are_known_by_the_places_of_functions_among_their_arguments() -> None:
    takers = {name for name, function in library().items() if function.function_arguments}
    ordering = {"sort_by", "max_by", "min_by", "group_by"}
    assert takers == {"map", "filter", "reduce", "scan", "iterate", "fixpoint"} | ordering
    assert library()["reduce"].function_arguments == frozenset({0})
