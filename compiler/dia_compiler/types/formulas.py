"""The parameter type formula: trees of boolean operators over variables."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from dia_language.numbers.values import Record, Value

from dia_compiler.types.base import Choose, Domain, OptionFault, ParameterType, bounds_option, option
from dia_compiler.types.ranks import COUNT_CAP

OPERATORS = ("and", "or", "not", "xor", "implies", "iff")
USUAL = ("and", "or", "not", "xor")
TAKEN = frozenset(OPERATORS) | {"true", "false", "none"}
DEPTH = 8
VARIABLES = 100
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


class Formulas(Domain):
    """Formulas of the given depths, each a distinct tree.

    A variable has depth 0, an operator one more than its deepest operand. No formula negates a negation or joins
    a formula with itself, and if there are two variables or more, at least two of them occur. The depth is drawn
    first, then from the top down each operator, the depths of its operands, and the operands.
    """

    def __init__(self, variables: list[str], low: int, high: int, operators: list[str]) -> None:
        self.variables, self.low, self.high = variables, low, high
        self.operators = operators
        self.joins = [name for name in operators if name != "not"]
        self.least = min(2, len(variables))
        self.numbers, self.joined = self._numbers(len(variables))
        self.alone = self._numbers(1)[0]
        self.depths = [depth for depth in range(low, high + 1) if self._counted(depth)]
        self.shapes = [self._shapes(depth) for depth in range(high)]
        self.tops = [[self._operators(depth, may) for depth in range(1, high + 1)] for may in (False, True)]

    def draw(self, choose: Choose) -> Value:
        return choose.where(self._formula, self._has_enough, tries=10_000)

    def _has_enough(self, tree: Value) -> bool:
        """Return whether enough variables occur in the formula; stops reading early."""
        names: set[str] = set()
        waiting = [tree]
        while waiting and len(names) < self.least:
            part = waiting.pop()
            if type(part) is str:
                names.add(part)
            else:
                waiting += part["args"]
        return len(names) >= self.least

    def _formula(self, choose: Choose) -> Value:
        depths = self.depths
        depth = depths[choose.between(0, len(depths) - 1)]
        return self._tree(choose, depth, depth > 1 or self.least < 2)

    def _tree(self, choose: Choose, depth: int, may_negate: bool) -> Value:
        if depth == 0:
            return self.variables[choose.below(len(self.variables))]
        operators = self.tops[may_negate][depth - 1]
        operator = operators[choose.below(len(operators))]
        if operator == "not":
            return Record(op=operator, args=[self._tree(choose, depth - 1, False)])
        shapes = self.shapes[depth - 1]
        left, right = shapes[choose.below(len(shapes))]
        return Record(op=operator, args=choose.where(lambda inner: self._pair(inner, left, right), _differ))

    def _operators(self, depth: int, may_negate: bool) -> list[str]:
        """Return the operators that can join operands whose depth is one less."""
        has_pairs = bool(self.shapes[depth - 1])
        can_negate = may_negate and self.joined[depth - 1] > 0
        return [name for name in self.operators if (can_negate if name == "not" else has_pairs)]

    def _shapes(self, depth: int) -> list[tuple[int, int]]:
        """Return the depths of two operands, the deeper of which has this depth, for which different formulas exist."""
        pairs = [(depth, shallower) for shallower in range(depth + 1)] + [
            (shallower, depth) for shallower in range(depth)
        ]
        return [(a, b) for a, b in pairs if self.numbers[a] * self.numbers[b] > (self.numbers[a] if a == b else 0)]

    def _pair(self, choose: Choose, left: int, right: int) -> list[Value]:
        return [self._tree(choose, left, True), self._tree(choose, right, True)]

    def contains(self, value: Value) -> bool:
        depth = self._depth(value)
        if depth is None or not self.low <= depth <= self.high:
            return False
        return self._has_enough(value)

    def _depth(self, value: Value) -> int | None:
        """Return the depth of a formula, or None if the value is not one."""
        if isinstance(value, str):
            return 0 if value in self.variables else None
        if not isinstance(value, Record) or set(value) != {"op", "args"} or value["op"] not in self.operators:
            return None
        operands = value["args"]
        if not isinstance(operands, list) or len(operands) != (1 if value["op"] == "not" else 2):
            return None
        depths = [self._depth(operand) for operand in operands]
        if None in depths or (value["op"] == "not" and _is_negation(operands[0])) or not _differ(operands):
            return None
        return 1 + max(depth for depth in depths if depth is not None)

    @property
    def count(self) -> int:
        return min(COUNT_CAP, sum(map(self._counted, range(self.low, self.high + 1))))

    def _counted(self, depth: int) -> int:
        """Return the number of formulas of a depth, without those with a single variable if these are excluded."""
        alone = self.alone[depth] * len(self.variables) if self.least == 2 else 0
        return self.numbers[depth] - alone

    def _numbers(self, variables: int) -> tuple[list[int], list[int]]:
        """Return the number of formulas of each depth, and how many of them do not start with a negation.

        An operator joins every pair of different formulas, the deeper of which is one level below it.
        """
        numbers, joined = [variables], [variables]
        for depth in range(1, self.high + 1):
            below, deeper = sum(numbers), sum(numbers[: depth - 1])
            joined.append(len(self.joins) * (below**2 - deeper**2 - numbers[-1]))
            negated = joined[-2] if "not" in self.operators else 0
            numbers.append(joined[-1] + negated)
        return numbers, joined

    def boundary(self) -> list[Value]:
        """Return the formulas of lowest and highest depth that nest to one side and cycle through the variables."""
        if not self.joins or len(self.variables) < 2:
            return []
        return [self._ladder(depth) for depth in dict.fromkeys((self.low, self.high))]

    def _ladder(self, depth: int) -> Value:
        tree: Value = self.variables[depth % 2]
        for level in range(depth - 1, -1, -1):
            tree = Record(op=self.joins[level % len(self.joins)], args=[self.variables[level % 2], tree])
        return tree


def _is_negation(tree: Value) -> bool:
    return isinstance(tree, Record) and tree["op"] == "not"


def _differ(operands: list[Value]) -> bool:
    return len(operands) < 2 or operands[0] != operands[1]


class FormulaType(ParameterType):
    summary = "a boolean formula, as a tree of operators over variables"
    options = {
        "variables": option(
            "data", "the names of the variables; at least two of them occur in the formula", required=True
        ),
        "depth": option("data", "number of operator levels, from 1 to 8, or {min, max}", required=True),
        "operators": option(
            "data",
            "a list of operators from `and`, `or`, `not`, `xor`, `implies` and `iff` (default the first four)",
            values=OPERATORS,
            is_list=True,
        ),
    }

    def domain(self, options: Mapping[str, Any]) -> Domain:
        variables = _names(options, "variables", options["variables"])
        for name in variables:
            if name.lower() in TAKEN:
                raise OptionFault("variables", f"`{name}` is a reserved name", "choose another name")
        operators = _names(options, "operators", options.get("operators", list(USUAL)))
        for name in operators:
            if name not in OPERATORS:
                raise OptionFault(
                    "operators", f"`{name}` is not an operator", f"the operators are {', '.join(OPERATORS)}"
                )
        low, high = bounds_option(options, "depth", 1, DEPTH)
        domain = Formulas(variables, low, high, operators)
        if domain.count < 1:
            raise OptionFault("depth", "no such formula exists", "use more operators or variables")
        return domain


def _names(options: Mapping[str, Any], name: str, value: Any) -> list[str]:
    if not isinstance(value, list) or not value or len(value) > VARIABLES:
        raise OptionFault(name, f"`{name}` must be a list of 1 to {VARIABLES:,} names")
    if any(not isinstance(item, str) or not NAME.fullmatch(item) for item in value):
        raise OptionFault(name, f"`{name}` must contain names: letters, digits and _, starting with a letter")
    if len(set(value)) != len(value):
        twice = next(item for place, item in enumerate(value) if item in value[:place])
        raise OptionFault(name, f"duplicate `{twice}` in `{name}`")
    return value
