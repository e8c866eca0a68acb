"""Trees of whole numbers without guards: the same values and the same faults, at the same place, as with guards."""

from __future__ import annotations

from fractions import Fraction
from typing import Any
from unittest.mock import patch

import pytest
from dia_language.diagnostics import DiaError, Position
from dia_language.expressions import integer_operators as whole_numbers
from dia_language.expressions import lowering
from dia_language.expressions.expressions import Compiled, compile_expression
from dia_language.expressions.integer_operators import unguarded
from dia_language.expressions.namespace import Namespace
from dia_language.expressions.syntax import parse
from dia_language.numbers.values import decimal
from hypothesis import given
from hypothesis import strategies as st

NAMES = ("a", "b", "c")


class Line:
    """A text in a file of its own, on one line."""

    def __init__(self, text: str) -> None:
        self.text = text

    def place(self, offset: int) -> Position:
        return Position("f", 1, offset + 1)


def compiled(text: str, arguments: tuple[str, ...]) -> Compiled:
    return compile_expression(parse(Line(text)), Namespace(), arguments, values=frozenset(NAMES))


def outcome(code: Compiled, scope: dict[str, Any], *arguments: Any) -> Any:
    try:
        value = code(scope, *arguments)
    except DiaError as error:
        return [(entry.code, entry.message, entry.position, entry.help) for entry in error.diagnostics]
    return type(value), value


leaves = st.sampled_from((*NAMES, "x", "0", "1", "2", "7", "true"))
trees = st.recursive(
    leaves,
    lambda inner: (
        st.builds(
            "({} {} {})".format, inner, st.sampled_from(("+", "-", "*", "%", "//", "&", "|", "^", "/", ">>")), inner
        )
        | st.builds("(~{})".format, inner)
    ),
    max_leaves=6,
)
comparisons = st.builds(
    "{} {} {}".format, trees, st.sampled_from(("==", "!=", "<", "<=", ">", ">=", "in")), trees
) | st.builds("{} {} {} {} {}".format, trees, st.sampled_from(("<", "==")), trees, st.sampled_from(("<=", "!=")), trees)
whole = st.integers(-9, 9) | st.integers()
others = st.sampled_from((True, False, Fraction(1, 3), decimal(Fraction(1, 2)), "text", [1, 2], None, b"ab"))
values = st.one_of(whole, whole, whole, others)


@given(trees | comparisons, st.dictionaries(st.sampled_from(NAMES), values, max_size=3), values)
def test_what_is_whole_comes_out_as_with_guards(text: str, scope: dict[str, Any], argument: Any) -> None:
    quick = compiled(text, ("x",))
    with patch.object(lowering, "unguarded", lambda node, look_up: None):
        guarded = compiled(text, ("x",))
    assert outcome(quick, scope, argument) == outcome(guarded, scope, argument)


@pytest.mark.parametrize(
    "text", ["a + 1", "(a + b) % c", "a % 2 == 0", "a < b <= 9", "a // 7 - b", "~a & b", "a >> 2 ^ b >> 3"]
)
def test_no_guard_is_called_for_whole_numbers(text: str) -> None:
    code = compiled(text, ())
    names = [name for name in Namespace().globals if name.startswith("_") and name != "_int"]
    with patch.dict(code.call.__globals__, dict.fromkeys(names)):
        assert outcome(code, {"a": 5, "b": 3, "c": 4})[1] == eval(text, {"a": 5, "b": 3, "c": 4})  # Python's own


@pytest.mark.parametrize(
    "text", ["a * b", "a % (b - b)", "a + length(b)", "1 + 2", "true + a", "a << 2", "a < b < c", "a >> b", "a >> -1"]
)
def test_what_may_fail_or_grow_keeps_its_guards(text: str) -> None:
    tree: Any = parse(Line(text)).tree
    assert unguarded(tree, lambda name: None if name.id == "true" else name) is None


def test_a_long_chain_is_read_in_time_linear_in_its_length() -> None:
    """Each part of a chain is lowered by itself: none looks at all that follow it again."""

    def steps(links: int) -> int:
        with patch.object(whole_numbers, "_is_whole", side_effect=whole_numbers._is_whole) as looks:
            compiled(" < ".join(["1"] * links + ["a"]), ())
        return looks.call_count

    assert steps(60) < 3 * steps(30)
