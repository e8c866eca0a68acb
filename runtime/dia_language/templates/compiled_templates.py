"""Templates with loops, conditions and literals as one Python function, which runs in half of Jinja's time.

Only trees that `templates` has rewritten come here: values are names, literals and calls of our own functions. What
stands on a line of the template has that line in the function, so that a failure is told where it stands.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from itertools import count
from typing import Any

from dia_language.numbers.values import Value, plain
from jinja2 import nodes

Render = Callable[[Mapping[str, Value], Mapping[str, Value]], str]
FILE = "<template>"
DEEPEST = 50  # blocks within each other, whatever the stack that is left
# The fields of `loop`, from the place i of the item and the number n of items
FIELDS = {
    "index": "{i} + 1", "index0": "{i}", "first": "{i} == 0", "last": "{i} == {n} - 1", "length": "{n}",
    "revindex": "{n} - {i}", "revindex0": "{n} - {i} - 1",
}  # fmt: skip


class Unfit(Exception):
    """A tree with a part that is left to Jinja."""


def blocks(tree: nodes.Template, known: Mapping[str, Any]) -> Render | None:
    """The template as a function of what it sees and what own functions see; None for one that is left to Jinja.

    `known` are the names of calls.
    """
    try:
        return _function(_Maker(known).body(tree.body, {}), known)
    except (Unfit, SyntaxError, RecursionError):  # Python nests 20 loops, and long rows of `elif` too deep
        return None


def _function(body: list[ast.stmt], known: Mapping[str, Any]) -> Render:
    head = ast.parse("def render(_values, _s):\n _out = []\n _add = _out.append\n return ''.join(_out)", FILE)
    made = head.body[0]
    assert isinstance(made, ast.FunctionDef)
    made.body[2:2] = body
    held: dict[str, Any] = {**known, "_shown": shown}
    exec(compile(ast.fix_missing_locations(head), FILE, "exec"), held)
    return held["render"]  # type: ignore[no-any-return]


def shown(value: Value) -> str:
    """The value as it is printed."""
    return value if type(value) is str else plain(value)


class _Maker:
    """Makes the statements of a template; `bound` are the names of loops, with the variables that hold them."""

    def __init__(self, known: Mapping[str, Any]) -> None:
        self.known = known
        self.numbers, self.depth = count(), 0

    def body(self, parts: list[nodes.Node], bound: Mapping[str, str]) -> list[ast.stmt]:
        self.depth += 1
        if self.depth > DEEPEST:
            raise Unfit
        found = [made for part in parts for made in self.statements(part, bound)]
        self.depth -= 1
        return found

    def statements(self, node: nodes.Node, bound: Mapping[str, str]) -> list[ast.stmt]:
        if isinstance(node, nodes.Output):
            return [_at(ast.Expr(_called("_add", self.printed(part, bound))), part) for part in node.nodes]
        if isinstance(node, nodes.If):
            return [self.condition(node, bound)]
        if isinstance(node, nodes.For):
            return self.loop(node, bound)
        raise Unfit

    def printed(self, part: nodes.Expr, bound: Mapping[str, str]) -> ast.expr:
        if isinstance(part, nodes.TemplateData):
            return ast.Constant(part.data)
        return _called("_shown", self.value(part, bound))

    def condition(self, node: nodes.If, bound: Mapping[str, str]) -> ast.stmt:
        others = self.body(node.else_, bound)
        for one in (*reversed(node.elif_), node):
            body = self.body(one.body, bound) or [ast.Pass()]
            others = [_at(ast.If(self.value(one.test, bound), body, others), one)]
        return others[0]

    def loop(self, node: nodes.For, bound: Mapping[str, str]) -> list[ast.stmt]:
        """The items, then the loop over them, or what stands for it where there are none."""
        if node.test is not None:
            raise Unfit
        items = f"_{next(self.numbers)}"  # no name of a template, and none that is called, begins like this
        inner = {**bound, **{name: f"{items}_{name}" for name in _names(node.target)}, "loop": items}
        target = ast.Tuple([ast.Name(f"{items}i", ast.Store()), _target(node.target, inner)], ast.Store())
        over = _called("enumerate", ast.Name(items, ast.Load()))
        kept = ast.Assign([ast.Name(items, ast.Store())], self.value(node.iter, bound))
        made: list[ast.stmt] = [ast.For(target, over, self.body(node.body, inner) or [ast.Pass()], [])]
        if node.else_:
            made.append(ast.If(ast.UnaryOp(ast.Not(), ast.Name(items, ast.Load())), self.body(node.else_, bound), []))
        return [_at(part, node) for part in (kept, *made)]

    def value(self, node: nodes.Node, bound: Mapping[str, str]) -> ast.expr:
        method: Callable[..., ast.expr] | None = getattr(self, f"value_{type(node).__name__}", None)
        if method is None:
            raise Unfit
        return method(node, bound)

    def value_Const(self, node: nodes.Const, bound: Mapping[str, str]) -> ast.expr:
        return ast.Constant(node.value)

    def value_Name(self, node: nodes.Name, bound: Mapping[str, str]) -> ast.expr:
        if node.name == "_s":
            return ast.Name("_s", ast.Load())
        if node.name == "loop" or node.name in self.known:
            raise Unfit
        if node.name in bound:
            return ast.Name(bound[node.name], ast.Load())
        return ast.Subscript(ast.Name("_values", ast.Load()), ast.Constant(node.name), ast.Load())

    def value_Call(self, node: nodes.Call, bound: Mapping[str, str]) -> ast.expr:
        if not isinstance(node.node, nodes.Name) or node.node.name not in self.known:
            raise Unfit
        return _called(node.node.name, *[self.value(argument, bound) for argument in node.args])

    def value_Getattr(self, node: nodes.Getattr, bound: Mapping[str, str]) -> ast.expr:
        """A field of the innermost loop, which is all that the rewritten tree reads by name."""
        if not (isinstance(node.node, nodes.Name) and node.node.name == "loop" and "loop" in bound):
            raise Unfit
        items = bound["loop"]
        made = ast.parse(FIELDS[node.attr].format(i=f"{items}i", n=f"len({items})"), mode="eval").body
        return ast.increment_lineno(made, node.lineno - 1)

    def value_CondExpr(self, node: nodes.CondExpr, bound: Mapping[str, str]) -> ast.expr:
        if node.expr2 is None:
            raise Unfit
        return ast.IfExp(*(self.value(part, bound) for part in (node.test, node.expr1, node.expr2)))

    def value_And(self, node: nodes.And, bound: Mapping[str, str]) -> ast.expr:
        return ast.BoolOp(ast.And(), [self.value(node.left, bound), self.value(node.right, bound)])

    def value_Or(self, node: nodes.Or, bound: Mapping[str, str]) -> ast.expr:
        return ast.BoolOp(ast.Or(), [self.value(node.left, bound), self.value(node.right, bound)])

    def value_Not(self, node: nodes.Not, bound: Mapping[str, str]) -> ast.expr:
        return ast.UnaryOp(ast.Not(), self.value(node.node, bound))

    def value_List(self, node: nodes.List, bound: Mapping[str, str]) -> ast.expr:
        return ast.List([self.value(item, bound) for item in node.items], ast.Load())


def _names(target: nodes.Node) -> list[str]:
    """The names that a loop binds."""
    return [target.name] if isinstance(target, nodes.Name) else [name.name for name in target.find_all(nodes.Name)]


def _target(target: nodes.Node, bound: Mapping[str, str]) -> ast.expr:
    """What each item is bound to."""
    if isinstance(target, nodes.Name):
        return ast.Name(bound[target.name], ast.Store())
    if isinstance(target, nodes.Tuple):
        return ast.Tuple([_target(item, bound) for item in target.items], ast.Store())
    raise Unfit


def _called(name: str, *arguments: ast.expr) -> ast.expr:
    return ast.Call(ast.Name(name, ast.Load()), list(arguments), [])


def _at(made: ast.stmt, node: nodes.Node) -> ast.stmt:
    """The statement on the line of the node."""
    made.lineno = made.end_lineno = node.lineno
    made.col_offset = made.end_col_offset = 0
    return made
