"""What is written is read back as the same tree, and means in Python and C what it means here."""

from __future__ import annotations

import shutil
import subprocess
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from dia_language.diagnostics import LanguageError
from dia_language.numbers.values import ExactDecimal, Record
from helpers.examples import examples
from helpers.library_calls import call, code
from hypothesis import given, settings
from hypothesis import strategies as st

STYLES = ["python", "c", "symbols", "words"]
NAMES = ["a", "b", "c"]


def tree(operator: str, *operands: Any) -> Record:
    return Record(op=operator, args=list(operands))


def trees(leaves: st.SearchStrategy[Any], pairs: list[str], single: str) -> st.SearchStrategy[Any]:
    return st.recursive(
        leaves,
        lambda inner: st.builds(tree, st.sampled_from(pairs), inner, inner) | st.builds(tree, st.just(single), inner),
        max_leaves=9,
    )


LOGIC = ["and", "or", "xor", "implies", "iff"]
FORMULAS = trees(st.sampled_from([*NAMES, "x_1", True, False]), LOGIC, "not")
NUMBERS = st.integers(-20, 10**20) | st.integers(-999, 999).map(lambda n: ExactDecimal(2 * n + 1, 200))
SUMS = trees(NUMBERS | st.sampled_from(["x", "rate_2"]), ["+", "-", "*", "/", "**"], "neg")
PLAIN_SUMS = trees(NUMBERS | st.just("x"), ["+", "-", "*", "/"], "neg")


@settings(max_examples=examples(300))
@given(FORMULAS, st.sampled_from(STYLES))
def test_formulas_are_read_back_as_they_were(held: Any, style: str) -> None:
    assert call("parse_logic", call("written", held, style)) == held


@settings(max_examples=examples(300))
@given(SUMS, st.sampled_from(["python", "symbols", "words"]))
def test_arithmetic_is_read_back_as_it_was(held: Any, style: str) -> None:
    assert call("arithmetic", call("written", held, style)) == held


@given(PLAIN_SUMS)
def test_arithmetic_in_c_is_read_back_as_it_was(held: Any) -> None:
    assert call("arithmetic", call("written", held, "c")) == held


@settings(max_examples=examples(200))
@given(FORMULAS)
def test_python_gives_what_it_writes_the_value_that_we_give(held: Any) -> None:
    text = call("written", held)
    for bits in product([False, True], repeat=3):
        values = dict(zip(NAMES, bits, strict=True)) | {"x_1": bits[0] != bits[2]}
        assert eval(text, {}, values) is call("evaluate", held, Record(values))


@settings(max_examples=examples(200))
@given(trees(st.integers(-5, 5) | st.just("x"), ["+", "-", "*"], "neg"))
def test_python_gives_arithmetic_the_value_that_we_give(held: Any) -> None:
    assert eval(call("written", held), {}, {"x": 7}) == call("evaluate", held, Record(x=7))
    assert eval(call("written", tree("**", held, 2)), {}, {"x": 7}) == call("evaluate", held, Record(x=7)) ** 2


@given(st.text("ab!&|()=<→↔¬∧∨⊕ \nnotrdif01", max_size=14))
def test_whatever_is_read_can_be_written_and_read_again(text: str) -> None:
    try:
        held = call("parse_logic", text)
    except LanguageError:
        return
    assert call("parse_logic", call("written", held)) == held


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_c_gives_what_we_write_the_value_that_we_give(tmp_path: Path) -> None:
    operands: list[Any] = ["a", "b", tree("not", "a"), *(tree(name, "a", "c") for name in LOGIC)]
    formulas = [tree(name, left, right) for name in LOGIC for left in operands for right in operands]
    formulas += [tree("not", operand) for operand in operands]
    body = "".join(f'printf("%d", ({call("written", held, "c")}) != 0);\n' for held in formulas)
    source = f"#include <stdio.h>\nint main(void) {{ int a = 1, b = 0, c = 1;\n{body}return 0; }}\n"
    (tmp_path / "formulas.c").write_text(source, encoding="utf-8")
    subprocess.run(["cc", "-w", "-O0", "formulas.c", "-o", "formulas"], cwd=tmp_path, check=True)
    said = subprocess.run([tmp_path / "formulas"], capture_output=True, text=True, check=True).stdout
    values = Record(a=True, b=False, c=True)
    assert said == "".join(str(int(call("evaluate", held, values))) for held in formulas)


@pytest.mark.parametrize(
    "text,wanted",
    [
        ("a and b or c", tree("or", tree("and", "a", "b"), "c")),
        ("a or b and c", tree("or", "a", tree("and", "b", "c"))),
        ("a and b and c", tree("and", tree("and", "a", "b"), "c")),
        ("not a == b", tree("not", tree("iff", "a", "b"))),
        ("!a == b", tree("iff", tree("not", "a"), "b")),
        ("a ∧ b → c ∨ a", tree("implies", tree("and", "a", "b"), tree("or", "c", "a"))),
        ("not (a if and  only\nif b)", tree("not", tree("iff", "a", "b"))),
        ("True != x_1", tree("xor", True, "x_1")),
        ("not not ⊤", tree("not", tree("not", True))),
    ],
)
def test_formulas_as_people_write_them(text: str, wanted: Any) -> None:
    assert call("parse_logic", text) == wanted


@pytest.mark.parametrize(
    "text,wanted",
    [
        ("2 + 3 * 4", tree("+", 2, tree("*", 3, 4))),
        ("(2+3)*4", tree("*", tree("+", 2, 3), 4)),
        ("8 - 3 - 2", tree("-", tree("-", 8, 3), 2)),
        ("8 / 4 / 2", tree("/", tree("/", 8, 4), 2)),
        ("2 ** 3 ** 2", tree("**", 2, tree("**", 3, 2))),
        ("-3", -3),
        ("-(3)", tree("neg", 3)),
        ("-3 ** 2", tree("neg", tree("**", 3, 2))),
        ("2 × −3 ÷ x", tree("/", tree("*", 2, -3), "x")),
        ("0.50 + 2.0", tree("+", Fraction(1, 2), 2)),
        ("two times minus two", tree("*", "two", tree("neg", "two"))),
        ("10 divided by 4 to the power of x", tree("/", 10, tree("**", 4, "x"))),
    ],
)
def test_arithmetic_as_people_write_it(text: str, wanted: Any) -> None:
    assert call("arithmetic", text) == wanted


@pytest.mark.parametrize(
    "text", ["", " ", "a b", "a and", "and a", "(a", "a)", "a implies b implies c", "a == b == c", "a == not b", "2", "a + b",
             "a & b", "if a", "a.b", "a ⊕ b ⊕ c", "not", "()", "é", "__import__"],
)  # fmt: skip
def test_what_is_no_formula_is_refused(text: str) -> None:
    assert code("parse_logic", text) == "E501"


@pytest.mark.parametrize(
    "text", ["", "2 3", "2 +", "* 2", "(2", "2)", "1.", ".5", "1e5", "2 // 3", "a and b", "2,3", "f(2)", "1_000", "٣"]
)
def test_what_is_no_arithmetic_is_refused(text: str) -> None:
    assert code("arithmetic", text) == "E501"


def test_what_cannot_be_written_is_refused() -> None:
    assert code("written", tree("**", 2, 3), "c") == code("written", "and") == code("written", "a b") == "E501"
    assert code("written", "a", "pythn") == code("written", call("sqrt", 2)) == "E501"
    assert call("written", tree("*", Fraction(-2, 3), "x")) == "-2 / 3 * x"
    assert call("written", tree("-", "x", Fraction(1, 3)), "words") == "x minus (1 divided by 3)"


def test_long_texts_are_bounded() -> None:
    assert code("arithmetic", "(" * 101 + "1" + ")" * 101) == code("parse_logic", "not " * 101 + "a") == "E502"
    assert code("arithmetic", "+".join(["1"] * 300)) == code("arithmetic", "9" * 10_001) == "E502"
    assert call("evaluate", call("arithmetic", "+".join(["1"] * 200)), Record()) == 200
    assert call("evaluate", call("arithmetic", "(" * 99 + "1" + ")" * 99), Record()) == 1
