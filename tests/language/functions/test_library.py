"""The library as a whole: the examples of the docs are right, and arguments are checked."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from dia_compiler.commands.cli import run
from dia_language.confinement import permission
from dia_language.diagnostics import LanguageError
from dia_language.functions import FUNCTIONS, KINDS, library
from dia_language.functions.argument_checks import USUAL, checked_function
from dia_language.numbers.values import Record
from helpers.function_examples import EXAMPLES, MODULES, PROGRAMS, evaluated, needs, shown, spec
from hypothesis import given
from hypothesis import strategies as st

IN_SPECS = [example for example in EXAMPLES if example[0] not in MODULES.keys() | PROGRAMS.keys()]


@pytest.fixture
def permissions() -> Iterator[None]:
    yield
    permission.permit(permission.NO)
    permission.used()


@pytest.mark.usefixtures("permissions")
@pytest.mark.parametrize(("name", "call", "result"), EXAMPLES)
def test_every_example_has_the_value_that_the_docs_show(name: str, call: str, result: str) -> None:
    needs(name)
    assert shown(evaluated(call)) == result


def test_every_function_has_examples_that_call_it() -> None:
    for name in FUNCTIONS:
        function = library()[name]
        examples = function.doc.removeprefix(function.text).strip().removeprefix("Examples:")
        shown_lines = "\n".join(f"{call} -> {result}" for call, result in function.examples)
        assert examples.split() == shown_lines.split(), name
        assert all(f"{name}(" in call or f"({name}," in call for call, _ in function.examples), name
        assert function.examples, name


def test_the_examples_compile_in_a_spec(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "benchmark.yaml").write_text("language: 1\nbenchmark: examples\n", encoding="utf-8")
    (tmp_path / "examples.yaml").write_text(spec(IN_SPECS), encoding="utf-8")
    assert run(["check", str(tmp_path)]) == 0, capsys.readouterr().err


def test_names_differ_from_the_language_only_to_spare_pythons_own() -> None:
    assert [name for name, function in FUNCTIONS.items() if function.__name__.removesuffix("_") != name] == []


def test_arguments_are_checked_before_the_function_sees_them() -> None:
    with pytest.raises(LanguageError, match="`sha256` needs bytes as `data`; this is text"):
        library()["sha256"].call("abc")
    with pytest.raises(LanguageError, match="`gcd` needs an integer or list of integers as `others`"):
        library()["gcd"].call(4, 6, "8")
    with pytest.raises(LanguageError, match="`det` needs a matrix"):
        library()["det"].call([[1, 2], [3]])
    with pytest.raises(LanguageError, match="needs a number, expression, or the text infinity"):
        library()["limit"].call(1, library()["symbol"].call("x"), "oo")
    with pytest.raises(LanguageError, match="`limit` needs a symbol as `symbol`; this is an integer"):
        library()["limit"].call(1, 2, 3)


@pytest.mark.parametrize("kind", sorted(USUAL))
def test_all_values_of_a_usual_type_pass_the_test_of_their_kind(kind: str) -> None:
    fills: dict[type, list[Any]] = {
        int: [0, -(2**70)], bool: [False, True], str: ["", "a"], bytes: [b"", b"a"], list: [[], [None, b""]],
        Record: [Record(), Record(a=None)],
    }  # fmt: skip
    assert all(map(KINDS[kind][1], fills[USUAL[kind]]))


SHAPES: list[Callable[..., Any]] = [
    lambda a: a, lambda a, b: a, lambda a, b=0: a, lambda a, b, c: a, lambda a, b, c=0: a, lambda a, b=0, c=0: a,
    lambda a, b, c, d=0: a, lambda *a: 0, lambda a, *b: a,
]  # fmt: skip
SAMPLES = [0, True, "", "a", b"", [1], [[]], [""], Record(), None, Fraction(1, 2)]


@given(
    st.sampled_from(SHAPES),
    st.lists(st.sampled_from(["int", "str", "bytes", "Value", "list[int]", "Number", "int | None", "Record"]),
             min_size=4, max_size=4),
    st.lists(st.sampled_from(SAMPLES), max_size=4),
)  # fmt: skip
def test_a_function_of_any_shape_takes_what_the_tests_of_its_kinds_let_through(
    raw: Callable[..., Any], annotations: list[str], given_values: list[Any]
) -> None:
    parameters = list(inspect.signature(raw).parameters.values())
    kinds = tuple((parameter.name, kind) for parameter, kind in zip(parameters, annotations, strict=False))
    least = sum(parameter.default is inspect.Parameter.empty for parameter in parameters)
    variadic = parameters[-1].kind is inspect.Parameter.VAR_POSITIONAL
    least -= variadic
    values = given_values if variadic else given_values[: len(kinds)]
    if len(values) < least:
        return
    tests = [KINDS[kind][1] for _, kind in kinds] + [KINDS[kinds[-1][1]][1]] * 4
    wrong = [place for place, value in enumerate(values) if not tests[place](value)]
    call = checked_function("f", raw, kinds, variadic)
    if not wrong:
        assert call(*values) == raw(*values)
        return
    with pytest.raises(LanguageError, match=f"as `{kinds[min(wrong[0], len(kinds) - 1)][0]}`"):
        call(*values)


def test_functions_are_known_by_the_places_of_functions_among_their_arguments() -> None:
    takers = {name for name, function in library().items() if function.function_arguments}
    ordering = {"sort_by", "max_by", "min_by", "group_by"}
    assert takers == {"map", "filter", "reduce", "scan", "iterate", "fixpoint", "search", "reachable"} | ordering
    assert library()["reduce"].function_arguments == frozenset({0})
