"""Logical formulas and arithmetic as trees: evaluation, truth tables, satisfiability.

A tree is a record of `op` and `args` (a list of trees). A leaf is the name of a variable, a number, true or false.
The operators of formulas are and, or, not, xor, implies and iff; those of arithmetic are + - * / ** and neg.
`parse_logic` and `arithmetic` read trees from text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import reduce
from operator import and_, or_, xor

from dia_language.budgets import charge
from dia_language.diagnostics import LanguageError, names_help
from dia_language.functions.argument_types import Tree, Value
from dia_language.functions.registry import library_function
from dia_language.limits import LIST_LENGTH
from dia_language.numbers import operators
from dia_language.numbers.values import Record, described, plain

DEPTH = 200
STEPS = 5  # cost of each part of a tree
SHORT = 1 << 256  # smaller tables cost nothing extra
LISTED_NAMES = 16
JUDGED_NAMES = 20
# The smallest and largest number of operands
ARITY: dict[str, tuple[int, int]] = {
    "and": (2, LIST_LENGTH), "or": (2, LIST_LENGTH), "not": (1, 1), "xor": (2, 2), "implies": (2, 2), "iff": (2, 2),
    "+": (2, LIST_LENGTH), "*": (2, LIST_LENGTH), "-": (2, 2), "/": (2, 2), "**": (2, 2), "neg": (1, 1),
}  # fmt: skip
LOGICAL: dict[str, Callable[[int, int], int]] = {
    "and": and_,
    "or": or_,
    "xor": xor,
    "implies": lambda a, b: ~int(a) | b,
    "iff": lambda a, b: ~int(a ^ b),
}
NUMERIC: dict[str, Callable[[Value, Value], Value]] = {
    "+": operators.add,
    "-": operators.subtract,
    "*": operators.multiply,
    "/": operators.divide,
    "**": operators.power,
}


@library_function
def evaluate(tree: Tree, values: Record) -> Value:
    """The value of a formula or arithmetic tree, with the variables set to the values in the record.

    The result is exact; `/` gives a rational number. Raises an error for a variable without a value, for division by 0,
    and for trees deeper than 200 levels.

    Examples:
        evaluate(parse_logic("a and not b"), {"a": true, "b": false}) -> True
        evaluate(arithmetic("(2 + 3) * x"), {"x": 4}) -> 20
    """
    return _evaluated(tree, values, 0)


def _evaluated(tree: Tree, values: Record, depth: int) -> Value:
    if type(tree) is str and tree in values and depth <= DEPTH:
        charge(STEPS)
        return values[tree]
    operator, operands = parts(tree, depth)
    if operator is None:
        return _leaf(tree, values)
    values_of_operands = [_evaluated(operand, values, depth + 1) for operand in operands]
    if operator in LOGICAL:
        for value in values_of_operands:
            if value is not True and value is not False:
                operators.truth(value)  # raises the error
        return bool(reduce(LOGICAL[operator], values_of_operands) & 1)
    if operator == "not":
        return not operators.truth(values_of_operands[0])
    if operator in NUMERIC:
        for value in values_of_operands:
            if not operators.is_number(value):
                raise LanguageError(f"`{operator}` needs numbers; this is {described(value)}")
        return reduce(NUMERIC[operator], values_of_operands)
    return operators.negate(values_of_operands[0])


def _leaf(tree: Tree, values: Record) -> Value:
    if not isinstance(tree, str):
        return tree
    if tree not in values:
        raise LanguageError(f"the variable `{tree}` has no value", names_help(tree, values))
    return values[tree]


def parts(tree: Tree, depth: int) -> tuple[str | None, list[Tree]]:
    """The operator and the operands of a tree; for a leaf, None and no operands.

    Raises LanguageError for a value that is not a tree, and for depths over 200.
    """
    charge(STEPS)
    if depth > DEPTH:
        raise LanguageError(f"the tree is deeper than {DEPTH} levels", code="E502")
    if not isinstance(tree, Record):
        if isinstance(tree, (str, bool)) or operators.is_number(tree):
            return None, []
        raise LanguageError(f"a leaf of a tree must be a name, a number, true or false; this is {described(tree)}")
    operator, operands = tree.get("op"), tree.get("args")
    arity = ARITY.get(operator) if type(operator) is str else None
    if arity is None or type(operands) is not list:
        raise LanguageError("a tree must have `op`, an operator, and `args`, a list")
    least, most = arity
    if not least <= len(operands) <= most:
        raise LanguageError(f"the operator `{operator}` has {len(operands)} operands instead of {least}")
    return operator, operands


def _leaves(tree: Tree, depth: int = 0) -> Iterator[Tree]:
    operator, operands = parts(tree, depth)
    if operator is None:
        yield tree
    for operand in operands:
        yield from _leaves(operand, depth + 1)


@library_function
def variables_of(tree: Tree) -> list[str]:
    """The names of the variables in the tree, each once, in order of first appearance.

    Examples:
        variables_of(parse_logic("b or (a and b)")) -> ["b", "a"]
    """
    return list(dict.fromkeys(leaf for leaf in _leaves(tree) if isinstance(leaf, str)))


@library_function
def numbers_in(tree: Tree) -> list[Value]:
    """The numbers in the tree from left to right, including repeats, without their signs.

    Examples:
        numbers_in(arithmetic("5 * 2 - 5")) -> [5, 2, 5]
    """
    numbers = (leaf for leaf in _leaves(tree) if operators.is_number(leaf))
    return [abs(leaf) if isinstance(leaf, (int, Fraction)) and leaf < 0 else leaf for leaf in numbers]


@library_function
def truth_table(tree: Tree, names: list[str]) -> list[bool]:
    """The values of the formula for all values of the variables, in binary counting order.

    False counts as 0 and true as 1; the first name is the most significant digit. With the names a, b and c, the value
    for a, b, c is item 4 a + 2 b + c. At most 16 names, which must include every variable of the formula.

    Examples:
        truth_table(parse_logic("a implies b"), ["a", "b"]) -> [True, True, False, True]
    """
    if len(names) > LISTED_NAMES:
        raise LanguageError(f"`truth_table` accepts at most {LISTED_NAMES:,} names", code="E502")
    rows = 1 << len(names)
    charge(rows)
    table = _table(tree, names)
    return [bool(table >> row & 1) for row in range(rows)]


def _table(tree: Tree, names: list[str]) -> int:
    """The truth table as the bits of one integer; the first row is the lowest bit."""
    return _bits(tree, *_columns(tuple(names)), 0)


def _columns(names: tuple[str, ...]) -> tuple[Mapping[str, int], int]:
    """For each name, the rows in which it is true, as bits; and an integer with the bits of all rows."""
    if len(set(names)) < len(names):
        raise LanguageError("two of the names are equal")
    rows = 1 << len(names)
    columns = {}
    for at, name in enumerate(reversed(names)):
        run = 1 << at  # length of the alternating runs of false and true rows
        column, width = ((1 << run) - 1) << run, 2 * run
        while width < rows:
            column |= column << width
            width *= 2
        columns[name] = column
    return columns, (1 << rows) - 1


def _bits(tree: Tree, columns: Mapping[str, int], every: int, depth: int) -> int:
    if every > SHORT:
        charge(every.bit_length() // 256)
    if type(tree) is str and tree in columns and depth <= DEPTH:
        charge(STEPS)
        return columns[tree]
    operator, operands = parts(tree, depth)
    if operator is None:
        return _leaf_bits(tree, columns, every)
    if operator == "not":
        return ~_bits(operands[0], columns, every, depth + 1) & every
    if operator not in LOGICAL:
        raise LanguageError(f"`{operator}` is an arithmetic operator, which has no truth table")
    operand_bits = [_bits(operand, columns, every, depth + 1) for operand in operands]
    return reduce(LOGICAL[operator], operand_bits) & every


def _leaf_bits(leaf: Tree, columns: Mapping[str, int], every: int) -> int:
    if isinstance(leaf, bool):
        return every if leaf else 0
    if leaf not in columns:
        leaf_text = f"`{leaf}`" if isinstance(leaf, str) else plain(leaf)
        raise LanguageError(f"{leaf_text} is not one of the names", names_help(str(leaf), columns))
    return columns[leaf]


def _judged(tree: Tree, names: list[str]) -> tuple[int, int]:
    """The truth table as bits, and its number of rows."""
    if len(names) > JUDGED_NAMES:
        raise LanguageError(f"the formula has more than {JUDGED_NAMES} variables", code="E502")
    return _table(tree, names), 1 << len(names)


@library_function
def is_tautology(tree: Tree) -> bool:
    """Whether the formula is true for all values of its variables.

    At most 20 variables.

    Examples:
        is_tautology(parse_logic("a or not a")) -> True
        is_tautology("a") -> False
    """
    table, rows = _judged(tree, variables_of(tree))
    return table.bit_count() == rows


@library_function
def is_satisfiable(tree: Tree) -> bool:
    """Whether the formula is true for some values of its variables.

    At most 20 variables.

    Examples:
        is_satisfiable(parse_logic("a and not a")) -> False
        is_satisfiable("a") -> True
    """
    return _judged(tree, variables_of(tree))[0] != 0


@library_function
def equivalent(a: Tree, b: Tree) -> bool:
    """Whether two formulas have the same value for all values of their variables.

    At most 20 variables in total.

    Examples:
        equivalent(parse_logic("a implies b"), parse_logic("not a or b")) -> True
    """
    return is_tautology(Record(op="iff", args=[a, b]))
