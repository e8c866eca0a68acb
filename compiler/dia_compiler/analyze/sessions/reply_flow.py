"""Find uses of replies that a `when` may have skipped, by following which conditions are known to hold.

What is known is a set of facts: the text of a condition, or `answered(name)`. They come from a `when`, from the test of
an `if`, and from the operand before an `and` or an `or`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from dia_language.expressions.replies import REPLY_FUNCTIONS
from dia_language.expressions.syntax import ParsedExpression
from dia_language.templates.templates import ParsedTemplate
from jinja2 import nodes

Facts = frozenset[str]
NOTHING: Facts = frozenset()
Body = tuple["ast.expr | nodes.Template", frozenset[str]]
# Each missing reply, and the node or name through which the piece uses it
Missing = Iterator[tuple[str, "ast.AST | str"]]


@dataclass(slots=True)
class Flow:
    """The analysis of the pieces of one template.

    `conditions` are what must hold for each reply to be asked for, `lets` and `functions` the bodies of those that
    need replies; `many` are replies of which there are several.
    """

    lets: Mapping[str, ast.expr]
    functions: Callable[[str], Iterable[Body]]
    replies: frozenset[str]
    many: frozenset[str]
    conditions: dict[str, Facts] = field(default_factory=dict)

    def missing(self, parsed: ParsedExpression | ParsedTemplate, facts: Facts = NOTHING) -> Missing:
        """Return each reply that may have been skipped although the piece uses it, and how the piece uses it."""
        if isinstance(parsed, ParsedTemplate):
            yield from self.template(parsed.tree, facts, frozenset(), ())
        else:
            yield from self.expression(parsed.tree, facts, frozenset(), ())

    def is_there(self, name: str, facts: Facts) -> bool:
        """Return whether a reply has been requested whenever the facts are true."""
        needed = self.conditions.get(name, NOTHING)
        return answered(name) in facts or needed <= facts

    # facts

    def true(self, node: ast.expr) -> Facts:
        """Return what is known if the expression is true."""
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
            return NOTHING.union(*map(self.true, node.values))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return self.false(node.operand)
        if isinstance(node, ast.Name) and node.id in self.lets:
            return self.true(self.lets[node.id]) | {ast.dump(node)}
        name = self.asked_about(node)
        return frozenset({ast.dump(node)}) if name is None else frozenset({ast.dump(node), answered(name)})

    def false(self, node: ast.expr) -> Facts:
        """Return what is known if the expression is false."""
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
            return NOTHING.union(*map(self.false, node.values))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return self.true(node.operand)
        if isinstance(node, ast.Name) and node.id in self.lets:
            return self.false(self.lets[node.id])
        return frozenset({f"not {ast.dump(node)}"})

    def asked_about(self, node: ast.expr) -> str | None:
        """Return the reply in a call of `answered`."""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "answered" and node.args:
            return self.reply_of(node.args[0], frozenset())
        return None

    def reply_of(self, node: ast.expr, bound: frozenset[str]) -> str | None:
        while isinstance(node, ast.Subscript):
            node = node.value
        is_reply = isinstance(node, ast.Name) and node.id in self.replies - bound
        return node.id if is_reply and isinstance(node, ast.Name) else None

    # expressions

    def expression(self, node: ast.expr, facts: Facts, bound: frozenset[str], inside: tuple[str, ...]) -> Missing:
        """Return each reply that may be missing where the expression uses it."""
        if isinstance(node, ast.Name):
            yield from self.name(node, node.id, facts, bound, inside)
        elif isinstance(node, ast.Call):
            yield from self.call(node, facts, bound, inside)
        elif isinstance(node, ast.BoolOp):
            learn = self.true if isinstance(node.op, ast.And) else self.false
            for value in node.values:
                yield from self.expression(value, facts, bound, inside)
                facts |= learn(value)
        elif isinstance(node, ast.IfExp):
            yield from self.expression(node.test, facts, bound, inside)
            yield from self.expression(node.body, facts | self.true(node.test), bound, inside)
            yield from self.expression(node.orelse, facts | self.false(node.test), bound, inside)
        elif isinstance(node, (ast.ListComp, ast.GeneratorExp)):
            yield from self.loops(node, facts, bound, inside)
        else:
            for child in children(node):
                yield from self.expression(child, facts, bound, inside)

    def name(
        self, node: ast.AST | str, name: str, facts: Facts, bound: frozenset[str], inside: tuple[str, ...]
    ) -> Missing:
        if name in bound or name in inside:
            return
        if name in self.replies and not self.is_there(name, facts):
            yield name, node
        elif name in self.lets:
            for reply, _ in self.expression(self.lets[name], facts, frozenset(), (*inside, name)):
                yield reply, node

    def call(self, node: ast.Call, facts: Facts, bound: frozenset[str], inside: tuple[str, ...]) -> Missing:
        assert isinstance(node.func, ast.Name)
        function = node.func.id
        reply = self.reply_of(node.args[0], bound) if function in REPLY_FUNCTIONS and len(node.args) == 1 else None
        if reply is not None and (function == "answered" or (function == "length" and reply in self.many)):
            return
        for argument in node.args:
            yield from self.expression(argument, facts, bound, inside)
        named = [argument.id for argument in node.args if isinstance(argument, ast.Name)]
        for called in (function, *named):
            yield from ((missing, node) for missing in self.own(called, facts, inside))

    def own(self, name: str, facts: Facts, inside: tuple[str, ...]) -> Iterator[str]:
        """Yield each reply that may be missing where the body of a function of the spec uses it."""
        if name in inside:
            return
        for body, arguments in self.functions(name):
            within = (*inside, name)
            if isinstance(body, nodes.Template):
                yield from (reply for reply, _ in self.template(body, facts, arguments, within))
            else:
                yield from (reply for reply, _ in self.expression(body, facts, arguments, within))

    def loops(
        self, node: ast.ListComp | ast.GeneratorExp, facts: Facts, bound: frozenset[str], inside: tuple[str, ...]
    ) -> Missing:
        for part in node.generators:
            yield from self.expression(part.iter, facts, bound, inside)
            bound |= {name.id for name in ast.walk(part.target) if isinstance(name, ast.Name)}
            for condition in part.ifs:
                yield from self.expression(condition, facts, bound, inside)
                facts |= self.true(condition)
        yield from self.expression(node.elt, facts, bound, inside)

    # templates

    def template(self, node: nodes.Node, facts: Facts, bound: frozenset[str], inside: tuple[str, ...]) -> Missing:
        """Return each reply that may be missing where the part of a template uses it."""
        if isinstance(node, nodes.If):
            yield from self.branches(node, facts, bound, inside)
        elif isinstance(node, nodes.CondExpr):
            yield from self.template(node.test, facts, bound, inside)
            yield from self.template(node.expr1, facts | holding(node.test), bound, inside)
            if node.expr2 is not None:
                yield from self.template(node.expr2, facts | failing(node.test), bound, inside)
        elif isinstance(node, (nodes.And, nodes.Or)):
            yield from self.template(node.left, facts, bound, inside)
            learnt = holding(node.left) if isinstance(node, nodes.And) else failing(node.left)
            yield from self.template(node.right, facts | learnt, bound, inside)
        elif isinstance(node, nodes.Call):
            yield from self.template_call(node, facts, bound, inside)
        elif isinstance(node, nodes.Name):
            yield from self.name(node.name, node.name, facts, bound, inside)
        else:
            inner = bound | {name.name for name in node.target.find_all(nodes.Name)} | _target(node) \
                if isinstance(node, nodes.For) else bound  # fmt: skip
            for child in node.iter_child_nodes():
                yield from self.template(child, facts, inner, inside)

    def branches(self, node: nodes.If, facts: Facts, bound: frozenset[str], inside: tuple[str, ...]) -> Missing:
        for branch in (node, *node.elif_):
            yield from self.template(branch.test, facts, bound, inside)
            for child in branch.body:
                yield from self.template(child, facts | holding(branch.test), bound, inside)
            facts |= failing(branch.test)
        for child in node.else_:
            yield from self.template(child, facts, bound, inside)

    def template_call(self, node: nodes.Call, facts: Facts, bound: frozenset[str], inside: tuple[str, ...]) -> Missing:
        function = node.node.name if isinstance(node.node, nodes.Name) else ""
        reply = _reply(node)
        if reply is not None:
            is_safe = function == "_said_answered" or (function == "_said_length" and reply in self.many)
            if not is_safe and not self.is_there(reply, facts):
                yield reply, reply
        for argument in node.args:
            yield from self.template(argument, facts, bound, inside)
        for begin in ("_call_", "_bound_"):
            if function.startswith(begin):
                called = function.removeprefix(begin)
                yield from ((missing, called) for missing in self.own(called, facts, inside))


def answered(name: str) -> str:
    """Return the fact that a reply exists."""
    return f"answered {name}"


def holding(node: nodes.Node) -> Facts:
    """Return what is known if the test of a template is true."""
    if isinstance(node, nodes.And):
        return holding(node.left) | holding(node.right)
    if isinstance(node, nodes.Not):
        return failing(node.node)
    reply = _reply(node)
    is_asked = isinstance(node, nodes.Call) and isinstance(node.node, nodes.Name) and node.node.name == "_said_answered"
    return frozenset({answered(reply)}) if is_asked and reply is not None else NOTHING


def failing(node: nodes.Node) -> Facts:
    """Return what is known if the test of a template is false."""
    if isinstance(node, nodes.Or):
        return failing(node.left) | failing(node.right)
    return holding(node.node) if isinstance(node, nodes.Not) else NOTHING


def _reply(node: nodes.Node) -> str | None:
    """Return the reply in a call of one of the guards."""
    if not isinstance(node, nodes.Call) or not isinstance(node.node, nodes.Name) or len(node.args) < 2:
        return None
    is_guard = node.node.name.startswith(("_reply_", "_said_"))
    name = node.args[1]
    return str(name.value) if is_guard and isinstance(name, nodes.Const) else None


def _target(node: nodes.For) -> frozenset[str]:
    return frozenset({node.target.name}) if isinstance(node.target, nodes.Name) else frozenset()


def children(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the direct subexpressions of a node, without operators."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            yield child
        elif not isinstance(child, (ast.operator, ast.unaryop, ast.cmpop, ast.boolop, ast.expr_context)):
            yield from children(child)
