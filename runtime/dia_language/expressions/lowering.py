"""Rewrite allowed syntax trees into look-ups, guards and known calls."""

from __future__ import annotations

import ast
from collections.abc import Collection
from itertools import count
from typing import Any

from dia_language.diagnostics import DiaError, Diagnostic, LanguageError, did_you_mean, names_help
from dia_language.expressions.namespace import Namespace
from dia_language.expressions.replies import ALSO_IN_LIBRARY, REPLY_FUNCTIONS
from dia_language.expressions.syntax import (
    BINARY,
    COMPARED,
    CONSTANTS,
    LITERALS,
    UNARY,
    ParsedExpression,
    Source,
    Use,
    error_at,
    wrapped,
)
from dia_language.functions import library
from dia_language.numbers.values import Value, decimal


class Lowering:
    """Rewrites an allowed tree into look-ups, guards and known calls; unknown names are collected in `diagnostics`."""

    def __init__(
        self,
        parsed: ParsedExpression,
        namespace: Namespace,
        arguments: frozenset[str],
        entry: frozenset[str],
        values: frozenset[str] | None,
    ) -> None:
        self.parsed, self.namespace = parsed, namespace
        self.bound, self.entry, self.values = arguments, entry, values
        self.in_loop: frozenset[str] = frozenset()  # names that change while a comprehension is computed
        self.temporaries = count(1)
        self.diagnostics: list[Diagnostic] = []

    def report(self, error: DiaError) -> ast.expr:
        """Collect an error and continue with a placeholder, so that all unknown names are reported at once."""
        messages = {entry.message for entry in self.diagnostics}
        self.diagnostics += [entry for entry in error.diagnostics if entry.message not in messages]
        return ast.Constant(None)

    def lower(self, node: Any) -> Any:
        if node is None:
            return ast.Constant(None)
        method = getattr(self, f"lower_{type(node).__name__}")
        return ast.copy_location(method(node), node)

    def guard(self, name: str, *arguments: ast.expr) -> ast.Call:
        return ast.Call(func=ast.Name(f"_{name}", ast.Load()), args=list(arguments), keywords=[])

    def lower_Constant(self, node: ast.Constant) -> ast.expr:
        if not isinstance(node.value, float):
            return node
        text = ast.get_source_segment(wrapped(self.parsed.source.text)[0], node) or ""
        key = f"_c_{text}"
        try:
            self.namespace.globals[key] = exact_literal(text)
        except LanguageError as error:
            return self.report(
                error_at(self.parsed.source, self.parsed.offset(node), error.code, error.message, error.help)
            )
        return ast.Name(key, ast.Load())

    def lower_Name(self, node: ast.Name) -> ast.expr:
        name = node.id
        if name in self.bound:
            return ast.Name(name, ast.Load())
        if name in self.entry:
            return self.look_up("_e", name)
        if name in LITERALS:
            return ast.Constant(LITERALS[name])
        if name in self.namespace.replies:
            return self.of_reply("reply_value", name)
        if self.values is None or name in self.values:
            return self.look_up("_s", name)
        if name in CONSTANTS:
            return ast.Name(self.namespace.constant(name), ast.Load())
        return self.report(self.unknown(node, name))

    def look_up(self, mapping: str, name: str) -> ast.expr:
        return ast.Subscript(ast.Name(mapping, ast.Load()), ast.Constant(name), ast.Load())

    def unknown(self, node: ast.AST, name: str) -> DiaError:
        names = frozenset({*(self.values or ()), *self.bound, *self.entry})
        return unknown_name(self.parsed.source, self.parsed.offset(node), name, self.namespace, names)

    def lower_BinOp(self, node: ast.BinOp) -> ast.expr:
        return self.guard(BINARY[type(node.op)], self.lower(node.left), self.lower(node.right))

    def lower_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        if isinstance(node.op, ast.Not):
            return ast.UnaryOp(ast.Not(), self.lower(node.operand))
        operand = node.operand
        if isinstance(node.op, ast.USub) and isinstance(operand, ast.Constant) and type(operand.value) is int:
            return ast.UnaryOp(ast.USub(), operand)
        return self.guard(UNARY[type(node.op)], self.lower(operand))

    def lower_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        return ast.BoolOp(node.op, [self.lower(value) for value in node.values])

    def lower_IfExp(self, node: ast.IfExp) -> ast.expr:
        return ast.IfExp(self.lower(node.test), self.lower(node.body), self.lower(node.orelse))

    def lower_Compare(self, node: ast.Compare) -> ast.expr:
        """a < b < c becomes (lambda t: a < t and t < c)(b): each operand is computed once."""
        left = self.lower(node.left)
        if len(node.ops) == 1:
            return self.guard(COMPARED[type(node.ops[0])], left, self.lower(node.comparators[0]))
        shared = f"_t{next(self.temporaries)}"
        middle = node.comparators[0]
        rest = ast.Compare(middle, node.ops[1:], node.comparators[1:])
        self.bound = self.bound | {shared}
        tail = self.lower(ast.copy_location(ast.Compare(ast.Name(shared), rest.ops, rest.comparators), node))
        first = self.guard(COMPARED[type(node.ops[0])], left, ast.Name(shared, ast.Load()))
        body = ast.BoolOp(ast.And(), [first, tail])
        return ast.Call(func=_lambda(shared, body), args=[self.lower(middle)], keywords=[])

    def lower_List(self, node: ast.List | ast.Tuple) -> ast.expr:
        return ast.List([self.lower(item) for item in node.elts], ast.Load())

    lower_Tuple = lower_List

    def lower_Dict(self, node: ast.Dict) -> ast.expr:
        names = ast.List([ast.Constant(key.value) for key in node.keys if isinstance(key, ast.Constant)], ast.Load())
        return self.guard("record", names, ast.List([self.lower(value) for value in node.values], ast.Load()))

    def lower_Attribute(self, node: ast.Attribute) -> ast.expr:
        return self.guard("field", self.lower(node.value), ast.Constant(node.attr))

    def lower_Subscript(self, node: ast.Subscript) -> ast.expr:
        if isinstance(node.slice, ast.Slice):
            part = node.slice
            bounds = (self.lower(part.lower), self.lower(part.upper), self.lower(part.step))
            if isinstance(node.value, ast.Name) and (name := self.reply_of(node.value)) is not None:
                return self.of_reply("reply_slice", name[0], *bounds)
            return self.guard("slice_of", self.lower(node.value), *bounds)
        reply = self.reply_of(node)
        if reply is not None:
            return self.of_reply("reply_value", reply[0], *map(self.lower, reply[1]))
        return self.guard("item_of", self.lower(node.value), self.lower(node.slice))

    def reply_of(self, node: ast.expr) -> tuple[str, list[ast.expr]] | None:
        """Return the reply that a name refers to, with its indices; None for anything else."""
        path: list[ast.expr] = []
        while isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice):
            path.insert(0, node.slice)
            node = node.value
        is_reply = isinstance(node, ast.Name) and node.id in self.namespace.replies - self.bound - self.entry
        return (node.id, path) if is_reply and isinstance(node, ast.Name) else None

    def of_reply(self, guard: str, name: str, *arguments: ast.expr) -> ast.expr:
        return self.guard(guard, ast.Name("_s", ast.Load()), ast.Constant(name), *arguments)

    def reply_call(self, node: ast.Call, name: str) -> ast.expr | None:
        """Return a call of a function of replies; None if it is the library's function of that name."""
        reply = self.reply_of(node.args[0]) if len(node.args) == 1 else None
        if reply is not None:
            return self.of_reply(f"said_{name}", reply[0], *map(self.lower, reply[1]))
        if name in ALSO_IN_LIBRARY:
            return None
        message, help = reply_name_help(name, self.namespace.replies)
        return self.failed_call(node, error_at(self.parsed.source, self.parsed.offset(node), "E305", message, help))

    def lower_JoinedStr(self, node: ast.JoinedStr) -> ast.expr:
        parts = [part.value if isinstance(part, ast.FormattedValue) else part for part in node.values]
        return self.guard("joined", *(self.lower(part) for part in parts))

    def lower_ListComp(self, node: ast.ListComp) -> ast.expr:
        generators, element = self.loops(node)
        return ast.ListComp(element, generators)

    def lower_GeneratorExp(self, node: ast.GeneratorExp) -> ast.expr:
        generators, element = self.loops(node)
        return ast.ListComp(element, generators)

    def loops(self, node: ast.ListComp | ast.GeneratorExp) -> tuple[list[ast.comprehension], ast.expr]:
        outer, generators = (self.bound, self.in_loop), []
        for part in node.generators:
            items = self.guard("steps", self.lower(part.iter))
            targets = {name.id for name in ast.walk(part.target) if isinstance(name, ast.Name)}
            self.bound, self.in_loop = self.bound | targets, self.in_loop | targets
            conditions = [self.lower(condition) for condition in part.ifs]
            generators.append(ast.comprehension(part.target, ast.copy_location(items, part.iter), conditions, 0))
        element = self.lower(node.elt)
        self.bound, self.in_loop = outer
        return generators, element

    def lower_Call(self, node: ast.Call) -> ast.expr:
        assert isinstance(node.func, ast.Name)
        name = node.func.id
        if name == "exact" and name not in self.namespace.own:
            return self.exact_answer(node)
        if name in self.namespace.own:
            return self.own_call(node, name)
        if self.namespace.replies and name in REPLY_FUNCTIONS and (call := self.reply_call(node, name)) is not None:
            return call
        function = library().get(name)
        if function is None:
            return self.failed_call(node, self.unknown_function(node, name))
        try:
            check_arity(
                self.parsed.source, self.use(node, name), function.minimum, function.maximum, function.signature
            )
        except DiaError as error:
            return self.failed_call(node, error)
        if name in ("all", "any") and isinstance(node.args[0], ast.GeneratorExp):
            generators, element = self.loops(node.args[0])
            lazy = ast.copy_location(ast.GeneratorExp(element, generators), node.args[0])
            return self.guard({"all": "every", "any": "some"}[name], lazy)
        arguments = [self.argument(at, argument, function.function_arguments) for at, argument in enumerate(node.args)]
        return ast.Call(func=ast.Name(self.namespace.reference(name), ast.Load()), args=arguments, keywords=[])

    def use(self, node: ast.Call, name: str) -> Use:
        return Use(name, self.parsed.offset(node), len(node.args))

    def own_call(self, node: ast.Call, name: str) -> ast.expr:
        arity = self.namespace.own[name]
        try:
            check_arity(self.parsed.source, self.use(node, name), arity or 0, arity, name)
        except DiaError as error:
            return self.failed_call(node, error)
        if name in self.namespace.pure and all(is_literal(argument) for argument in node.args):
            key = self.namespace.cached_call(name, tuple(argument.value for argument in node.args))  # type: ignore[attr-defined]
            return ast.Call(func=ast.Name(key, ast.Load()), args=[ast.Name("_s", ast.Load())], keywords=[])
        arguments = [ast.Name("_s", ast.Load()), *(self.lower(argument) for argument in node.args)]
        key = f"_o_{name}"
        if self.in_loop and name in self.namespace.pure and not self.depends_on_loop(node):
            key = self.namespace.repeated_call(name)
        return ast.Call(func=ast.Name(key, ast.Load()), args=arguments, keywords=[])

    def depends_on_loop(self, node: ast.Call) -> bool:
        """Return whether the arguments of a call may change while the enclosing comprehension is computed."""
        return any(isinstance(part, ast.Name) and part.id in self.in_loop
                   for argument in node.args for part in ast.walk(argument))  # fmt: skip

    def failed_call(self, node: ast.Call, error: DiaError) -> ast.expr:
        """Report the error of the call, then those of its arguments."""
        self.report(error)
        for argument in node.args:
            if not (isinstance(argument, ast.Name) and self.is_function(argument.id)):
                self.lower(argument)
        return ast.Constant(None)

    def is_function(self, name: str) -> bool:
        return name not in self.bound and (name in self.namespace.own or name in library())

    def exact_answer(self, node: ast.Call) -> ast.expr:
        if len(node.args) != 1 or not isinstance(node.args[0], ast.Name) or node.args[0].id != "answer":
            message = "`exact` accepts only the answer: exact(answer) is the value before rounding"
            raise error_at(self.parsed.source, self.parsed.offset(node), "E305", message)
        if self.values is not None and "answer" not in self.values:
            return self.report(self.unknown(node.args[0], "answer"))
        return self.look_up("_s", EXACT_ANSWER)

    def argument(self, at: int, node: ast.expr, places: frozenset[int]) -> ast.expr:
        if at not in places or not isinstance(node, ast.Name) or node.id in self.bound:
            lowered: ast.expr = self.lower(node)
            return lowered
        if node.id in self.namespace.own:
            scope = ast.Name("_s", ast.Load())
            return ast.Call(
                func=ast.Name("_partial", ast.Load()), args=[ast.Name(f"_o_{node.id}", ast.Load()), scope], keywords=[]
            )
        if node.id in library():
            return ast.Name(self.namespace.reference(node.id), ast.Load())
        return self.report(self.unknown_function(node, node.id))

    def unknown_function(self, node: ast.AST, name: str) -> DiaError:
        help = similar_functions(name, {*library(), *self.namespace.own}) or LIBRARY_HELP
        if self.values is not None and name in self.values:
            help = f"`{name}` is a value, not a function; remove the parentheses"
        return error_at(self.parsed.source, self.parsed.offset(node), "E304", f"unknown function `{name}`", help)


def function_help(name: str, namespace: Namespace) -> str:
    """Return the help for an unknown function of templates."""
    return similar_functions(name, {*library(), *namespace.own}) or LIBRARY_HELP


def similar_functions(name: str, names: Collection[str]) -> str | None:
    """Return the help for an unknown function; None if no name is similar.

    It is what replaces a function of Python, the most similar name, or a few that share the longest word of the name.
    """
    if name in OF_PYTHON:
        return OF_PYTHON[name]
    word = max(name.split("_"), key=len)
    alike = sorted(other for other in names if 2 * len(word) >= len(name) and word in other.split("_"))
    few = f"similar names: {', '.join(alike)}" if 0 < len(alike) <= MOST_ALIKE else None
    return did_you_mean(name, names) or few


TO_TEXT = "use `str(value)`, or `text_of(bytes)` for bytes"
TO_INTEGER = "use `floor(x)` for a number, or `from_base(text, 10)` for a text"
# Functions of Python whose names do not resemble those that do the same here
OF_PYTHON = {
    "argmax": "use `first_index(values, max(values))`",
    "argmin": "use `first_index(values, min(values))`",
    "dedupe": "use `unique(values)`",
    "distinct": "use `unique(values)`",
    "float": "numbers are exact, so none has to be converted",
    "index_of": "use `first_index(values, value)`",
    "int": TO_INTEGER,
    "integer": TO_INTEGER,
    "ljust": "use `pad_right(text, width)`",
    "number": TO_INTEGER,
    "parse_int": TO_INTEGER,
    "string": TO_TEXT,
    "text": TO_TEXT,
    "to_string": TO_TEXT,
    "to_text": TO_TEXT,
    "random": "use a parameter: it is drawn from the instance's own seed",
    "rjust": "use `pad_left(text, width)`",
    "to_int": TO_INTEGER,
    "to_integer": TO_INTEGER,
    "zfill": 'use `pad_left(text, width, "0")`',
}


def unknown_name(source: Source, offset: int, name: str, namespace: Namespace, names: frozenset[str]) -> DiaError:
    """Return the error for a name without a value at this point."""
    all_names = names_help(name, names - NOT_OFFERED) or (DECLARE if names else None)
    help = did_you_mean(name, names | CONSTANTS) or all_names
    message = f"unknown name `{name}`"
    if name in namespace.own or name in library():
        message, help = f"`{name}` is a function, not a value", f"call it: {name}(...)"
    elif name in AVAILABLE_IN:
        message, help = f"`{name}` cannot be used here", f"it is available in {AVAILABLE_IN[name]}"
    return error_at(source, offset, "E303", message, help)


def reply_name_help(name: str, replies: frozenset[str]) -> tuple[str, str]:
    """Return the message for a function of replies with another argument, and the fix."""
    one = min(replies)
    return f"`{name}` needs the name of a reply", f"write {name}({one}), or {name}({one}[0]) for one of several replies"


def is_literal(node: ast.expr) -> bool:
    """Return whether the node is an integer or a text literal."""
    return isinstance(node, ast.Constant) and type(node.value) in (int, str)


def check_arity(source: Source, use: Use, minimum: int, maximum: int | None, signature: str) -> None:
    """Raise DiaError if a function is called with too few or too many arguments."""
    if use.arguments < minimum or (maximum is not None and use.arguments > maximum):
        range_text = f"{minimum} to {maximum}" if maximum is not None else f"at least {minimum}"
        expected = f"{minimum}" if minimum == maximum else range_text
        noun = "argument" if expected == "1" else "arguments"
        message = f"`{use.name}` takes {expected} {noun}, but got {use.arguments}"
        help = f"write {signature}" if "(" in signature else None
        raise error_at(source, use.offset, "E305", message, help)


EXACT_ANSWER = "exact(answer)"
MOST_ALIKE = 6
LIBRARY_HELP = "`dia functions` lists the library"
NOT_OFFERED = frozenset({"answer", "rounding_rule", "format_instruction", "skip_token", "points"})  # rarely meant
DECLARE = "declare it under `params` or `let`"
AVAILABLE_IN = {
    "answer": "`let`, `checks`, `mistakes`, `accept`, `accept_if` and the explanation",
    "reply": "`accept_if`",
    "it": "the `where` of a type",
    **dict.fromkeys(("challenge", "points", "skip_token"), "the `prompt` of benchmark.yaml"),
}


def _lambda(name: str, body: ast.expr) -> ast.Lambda:
    arguments = ast.arguments(posonlyargs=[], args=[ast.arg(arg=name)], kwonlyargs=[], kw_defaults=[], defaults=[])
    return ast.Lambda(arguments, body)


def exact_literal(text: str) -> Value:
    """Return the exact value of a decimal literal: 0.1 is 1/10 and prints as 0.1."""
    from fractions import Fraction

    mantissa, _, exponent = text.lower().replace("_", "").partition("e")
    if abs(int(exponent or 0)) > 4000:
        raise LanguageError("an exponent is larger than 4000", code="E502")
    return decimal(Fraction(mantissa) * Fraction(10) ** int(exponent or 0))
