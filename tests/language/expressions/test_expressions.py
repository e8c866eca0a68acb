"""Expressions: Python's meaning on exact numbers, positions of every fault, and nothing else than the allowed syntax."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from time import perf_counter
from typing import Any

import pytest
from dia_language.budgets import STEPS, charge, left, reset
from dia_language.diagnostics import DiaError, Diagnostic, Position
from dia_language.expressions.expressions import compile_expression
from dia_language.expressions.lowering import EXACT_ANSWER
from dia_language.expressions.namespace import Namespace, face
from dia_language.expressions.syntax import parse
from dia_language.numbers.values import Entry, Record
from helpers.examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st


class Text:
    """A text in a file of its own, line by line."""

    def __init__(self, text: str) -> None:
        self.text = text

    def place(self, offset: int) -> Position:
        before = self.text[:offset]
        return Position("f", before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1)


def evaluate(text: str, **scope: Any) -> Any:
    return compile_expression(parse(Text(text)), Namespace(), values=frozenset(scope))(scope)


def fault(text: str, **scope: Any) -> Diagnostic:
    with pytest.raises(DiaError) as caught:
        evaluate(text, **scope)
    return caught.value.diagnostics[0]


def column(found: Diagnostic) -> int:
    assert found.position is not None and found.position.line == 1
    return found.position.column


LEAVES = st.sampled_from(["a", "b", "3", "0", "17", "0.5", "2.25"])
TREES = st.recursive(
    LEAVES,
    lambda inner: (
        st.tuples(st.sampled_from(["+", "-", "*", "/", "//", "%"]), inner, inner).map(
            lambda parts: f"({parts[1]} {parts[0]} {parts[2]})"
        )
        | inner.map(lambda part: f"(-{part})")
    ),
    max_leaves=8,
)


def python_value(text: str, a: int, b: int) -> Fraction | None:
    """The same expression by Python itself on Fractions, None where it divides by zero."""
    import re

    exact = re.sub(r"\d+\.\d+|\d+", lambda found: f"F('{found.group()}')", text)
    exact = exact.replace("(", "F(").replace("FF(", "F(")  # `//` of fractions is an int, and ints divide to floats
    try:
        return Fraction(eval(exact, {"F": Fraction, "a": Fraction(a), "b": Fraction(b)}))
    except ZeroDivisionError:
        return None


@settings(max_examples=examples(300), deadline=None)
@given(TREES, st.integers(-50, 50), st.integers(-50, 50))
def test_arithmetic_is_pythons_on_exact_numbers(text: str, a: int, b: int) -> None:
    expected = python_value(text, a, b)
    if expected is None:
        assert fault(text, a=a, b=b).code == "E504"
    else:
        found = evaluate(text, a=a, b=b)
        assert found == expected and not isinstance(found, float)
        assert isinstance(found, int) or found.denominator != 1


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.1 + 0.2 == 0.3", True), ("2**-2", Fraction(1, 4)), ("6 / 3", 2), ("-7 // 2", -4), ("-7 % 3", 2),
        ("1 < 2 <= 2 < 3", True), ("3 > 2 > 2", False), ("not 1 == 2", True), ("5 if 1 > 2 else 6", 6),
        ("[x * y for x in [1, 2] for y in [3, 4] if x + y > 4]", [4, 6, 8]), ("[1, 2] + [3]", [1, 2, 3]),
        ("(1, 2)", [1, 2]), ("'abc'[1:]", "bc"), ("[1, 2, 3][-1]", 3), ("{'a': 1}.a", 1), ("{'a': [2]}['a'][0]", 2),
        ("f'{1 / 2} and {0.5} and {[1, \"x\"]}'", '1/2 and 0.5 and [1, "x"]'), ("2 in [1, 2]", True),
        ("'b' not in 'abc'", False), ("7 & 3 | 8 ^ 1", 11), ("1 << 4 >> 2", 4), ("~5", -6), ("true and not false", True),
        ("none", None), ("2**(1/2) * 2**(1/2)", 2), ("sqrt(8) == 2 * sqrt(2)", True), ("pi > 3.14159", True),
        ("all(x > 0 for x in [1, 2])", True), ("any(x > 1 for x in [])", False), ("length(lower_letters)", 26),
        ("reduce(gcd, [12, 18, 27], 0)", 3), ("map(abs, [-1, 2])", [1, 2]), ("'a' * 3", "aaa"), ("1_000", 1000),
        ("sqrt(3 + 2 * sqrt(2)) == 1 + sqrt(2)", True), ("0x10", 16), ("4 * (1 > 0) + 1", 5),
    ],
)  # fmt: skip
def test_values(text: str, value: object) -> None:
    found = evaluate(text)
    assert found == value and type(found) is type(value)


@pytest.mark.parametrize(
    ("text", "code", "where"),
    [
        ("__import__('os').system('id')", "E302", 1), ("().__class__.__base__", "E302", 4), ("'{0}'.format(1)", "E302", 1),
        ("lambda: 1", "E302", 1), ("(x := 1)", "E302", 2), ("{1, 2}", "E302", 1), ("{a: 1 for a in [1]}", "E302", 1),
        ("[*[1]]", "E302", 2), ("1 is 2", "E302", 1), ("b'x'", "E302", 1), ("1j", "E302", 1), ("...", "E302", 1),
        ("f'{1:>10}'", "E302", 1), ("f'{1!r}'", "E302", 1), ("max(1, key=2)", "E302", 8), ("[1] @ [2]", "E302", 1),
        ("(lambda: 1)()", "E302", 1), ("[x for x in y][0](1)", "E302", 1), ("await x", "E302", 1), ("_x", "E302", 1),
        ("[answer for answer in [1]]", "E302", 13), ("naïve", "E302", 1), ("1 +", "E301", 4), ("(1", "E301", 1),
        ("1) + (2", "E301", 2), ("", "E301", 1), ("import os", "E301", 1), ("x = 1", "E301", 3), ("1 2", "E301", 1),
        ("unknown + 1", "E303", 1), ("1 + lenth([1])", "E304", 5), ("length", "E303", 1), ("gcd()", "E305", 1),
        ("next_prime(1, 2)", "E305", 1), ("[1][0](2)", "E302", 1), ("E + I + N + S", "E303", 1), ("oo - oo", "E303", 1),
        ("map(abss, [1])", "E304", 5), ("exact(1)", "E305", 1), ("exact(answer)", "E303", 7),
    ],
)  # fmt: skip
def test_what_is_not_of_the_language_is_told_at_its_place(text: str, code: str, where: int) -> None:
    found = fault(text)
    assert (found.code, column(found)) == (code, where), found


@pytest.mark.parametrize(
    ("text", "code", "where"),
    [
        ("1 + 1 / n", "E504", 5), ("[1, 2][n + 5]", "E501", 1), ("'a' + n", "E501", 1), ("'1' == n + 1", "E501", 1),
        ("1 < 'a'", "E501", 1), ("next_prime('x')", "E501", 1), ("{'a': 1}.b", "E501", 1), ("n.a", "E501", 1),
        ("length(n)", "E501", 1), ("'%d' % 3", "E501", 1), ("10 + max([])", "E504", 6), ("all([1])", "E501", 1),
        ("2**10**9", "E502", 1), ("factorial(10**8)", "E502", 1), ("'a' * 10**10", "E502", 1), ("1 << 10**9", "E502", 1),
        ("range(10**9)", "E502", 1), ("[x for x in range(999999) for y in range(9)]", "E502", 36),
        ("reduce(concat, ['ab'] * 30, '') * 10**6", "E502", 1), ("(sqrt(2) + 1)**100000", "E502", 1),
    ],
)  # fmt: skip
def test_failed_evaluations_are_told_at_the_part_that_failed(text: str, code: str, where: int) -> None:
    start = perf_counter()
    found = fault(text, n=0)
    assert (found.code, column(found)) == (code, where), found
    assert perf_counter() - start < 3


def test_lines_of_a_block_are_told_by_line_and_column() -> None:
    found = fault("1 +\n  (2 +\n   x)")
    assert found.position == Position("f", 3, 4)
    found = fault("[1,\n 'é' + 1]")
    assert found.position == Position("f", 2, 2)


def test_hostile_sizes_end_at_once() -> None:
    start = perf_counter()
    for text in ("(" * 5000, "1" + "+1" * 9000, "-" * 15_000 + "1", "[" * 90 + "]" * 90 + "[", "x" * 100_000):
        assert fault(text).code in ("E301", "E302", "E303")
    assert perf_counter() - start < 5


def test_own_functions_and_faces() -> None:
    namespace = Namespace()
    values = frozenset({"n", "steps"})
    double = compile_expression(parse(Text("x * 2 + n")), namespace, ("x",), None, values)
    namespace.add("double", 1, double.call)
    shift = compile_expression(parse(Text("x + by")), namespace, ("x",), frozenset({"by"}), values)
    namespace.add("apply", 2, face("apply", {("moves", "shift"): shift.call}))
    scope = {
        "n": 100,
        "steps": [Entry("moves", "shift", Record({"by": 3})), Entry("moves", "shift", Record({"by": 4}))],
    }
    assert compile_expression(parse(Text("double(1) + 1")), namespace, values=values)(scope) == 103
    assert compile_expression(parse(Text("map(double, [1, 2])")), namespace, values=values)(scope) == [102, 104]
    assert compile_expression(parse(Text("reduce(apply, steps, 1)")), namespace, values=values)(scope) == 8
    with pytest.raises(DiaError) as caught:
        compile_expression(parse(Text("1 + apply(1, 2)")), namespace, values=values)(scope)
    assert caught.value.diagnostics[0].position == Position("f", 1, 5)
    for asked in ("none", "1"):  # the first thing that a face is asked of, too
        namespace.add("first", 2, face("first", {}))
        with pytest.raises(DiaError) as caught:
            compile_expression(parse(Text(f"first({asked}, {asked})")), namespace, values=values)(scope)
        assert "must be an entry of a catalog" in str(caught.value)


def test_the_exact_answer_is_the_value_before_rounding() -> None:
    scope = {"answer": 2, EXACT_ANSWER: Fraction(5, 2)}
    parsed = parse(Text("exact(answer) - answer"))
    assert compile_expression(parsed, Namespace(), values=frozenset({"answer"}))(scope) == Fraction(1, 2)


def test_values_are_never_changed_in_place() -> None:
    held = [3, 1, 2]
    assert evaluate("sort(held) + held + reverse(held)", held=held) == [1, 2, 3, 3, 1, 2, 2, 1, 3]
    assert held == [3, 1, 2]


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("from != to", 1, "`from` is a reserved word"),
        ("offsets[from] + 1", 9, "`from` is a reserved word"),
        ('"from" + class', 10, "`class` is a reserved word"),
        ("a from b", 3, "not an expression"),
        ("{{ n }} + 1", 1, "`{{ }}` is for templates; this is an expression"),
        ("x = {{ n }}", 5, "`{{ }}` is for templates; this is an expression"),
        ('f"{{{{n}}}}" b', 1, "two values with nothing between them"),
        ("f(y, '=')[0] = 1", 14, "`=` is not part of an expression"),
        ("for x in xs: x > 1", 1, "`for` is not part of an expression"),
        ("a > 1 && b > 1", 7, "`&&` is not part of an expression"),
        ("a > 1 || b > 1", 7, "`||` is not part of an expression"),
        ("a <> b", 3, "`<>` is not part of an expression"),
        ("text(n) ~ ' eggs'", 9, "`~` is not part of an expression"),
        ("[i ~ 'x' for i in xs]", 4, "`~` is not part of an expression"),
        ("'a' ~ n", 5, "`~` is not part of an expression"),
        ("f(a b, not ~c)", 3, "two values with nothing between them"),
        ("range(1; n)", 8, "`;` is not part of an expression"),
        ("a ? b : c", 3, "`?` is not part of an expression"),
        ("f('!') + n! / 2", 11, "`!` is not part of an expression"),
        ("5% * n", 2, "`%` is not part of an expression"),
    ],
)
def test_what_belongs_elsewhere_is_named(text: str, place: int, message: str) -> None:
    diagnostic = fault(text)
    assert (diagnostic.message, column(diagnostic)) == (message, place)


@pytest.mark.parametrize(
    ("text", "help"),
    [
        ("'2026-01-31' + 1", "a time is text: use `add_seconds` or `add_days`"),
        ("1 - '2026-01-31T10:00:00Z'", "a time is text: use `add_seconds` or `add_days`"),
        ("'12' - 1", "the number is text: convert it, as in `from_base(text, 10)`"),
        ("'n is ' + 1", "use an f-string to put numbers into text"),
        ("f'{n'", "write texts inside braces in the other quotes"),
        ("'a' - 1", None),
        ("none * 2", "none is a missing value, such as an empty cell"),
        ("int(3 / 2)", "use `floor(x)` for a number, or `from_base(text, 10)` for a text"),
        ("search(1, 'divisors', is_prime)", "write the name of a function, without quotes and parentheses"),
        ("search(4, divisors, divisors)", "the arguments are search(start, moves, goal)"),
        ("matches('[a', 'b')", None),
        ("matches('(?=a)', 'b')", "RE2 has no lookaround and no backreferences"),
    ],
)
def test_the_fix_is_for_the_values_that_failed(text: str, help: str | None) -> None:
    fix = fault(text).help
    assert (fix or "").startswith(help) if help is not None else fix is None


def test_the_element_or_the_text_that_does_not_fit_is_named() -> None:
    assert fault("median([1, 2, '3'])").message.endswith("this is a list, and its element 2 is text")
    assert fault("from_base('12.5', 10)").message == "the text `12.5` is not an integer in base 10"


@pytest.mark.parametrize(
    ("base", "digits"),
    [(2, "0 to 1"), (10, "0 to 9"), (11, "0 to 9 and a"), (12, "0 to 9 and a to b"), (36, "0 to 9 and a to z")],
)
def test_the_digits_of_a_base_are_named(base: int, digits: str) -> None:
    help = fault(f"from_base('1,2', {base})").help or ""
    assert help.startswith(f"use only the digits {digits}, after")
    assert evaluate("""from_base(without("1, 2", ", "), 10)""") == 12


def test_fields_of_lists_are_their_elements() -> None:
    help = fault("row.amount", row=["Bonn", "7"]).help or ""
    assert help.startswith("an element of a list is `x[0]`") and "x[0]" not in (fault("a.b", a="t").help or "")
    assert fault("all(x for x in words)", words=["a"]).help == "use a comparison, such as `length(...) > 0`"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("[[b for b in table(n) if b > a] for a in table(n)]", [[2, 3, 4], [3, 4], [4], []]),
        ("[b + a for a in table(n) for b in table(a)]", [2, 3, 4, 4, 5, 6, 5, 6, 7, 8]),  # its argument changes
        ("[length(table(n / 3)) + a for a in table(n)]", [2, 3, 4, 5]),  # neither a whole number nor a text
    ],
)
def test_a_loop_computes_a_call_with_the_same_arguments_once_and_it_costs_the_same(
    body: str, expected: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def compiled(is_pure: bool, calls: list[Any]) -> Any:
        def table(scope: Mapping[str, Any], size: Any) -> list[Any]:
            calls.append(size)
            charge(100)
            return list(range(1, int(size) + 1))

        namespace = Namespace()
        namespace.add("table", 1, table, is_pure)
        return compile_expression(parse(Text(body)), namespace, ("n",)).call

    steps, counts = [], []
    for is_pure in (True, False):
        calls: list[Any] = []
        reset()
        assert compiled(is_pure, calls)({}, 4) == expected
        steps.append(left())
        counts.append(len(calls))
    assert steps[0] == steps[1] < STEPS - 100
    repeats = body.startswith("[[")
    assert counts == ([2, 5] if repeats else [counts[1]] * 2)
