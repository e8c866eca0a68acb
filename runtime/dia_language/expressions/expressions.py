"""Expressions of the language: allow-listed Python syntax, lowered to guarded operators and compiled once.

No part of an expression runs as Python code unless this module has generated it: names become look-ups in a scope,
operators become functions of `guards`, calls go to the library or to functions of the spec. Unknown kinds of syntax are
rejected.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import count
from types import CodeType, TracebackType
from typing import Any

from dia_language.budgets import SIZE, too_large
from dia_language.diagnostics import DiaError, Diagnostic, LanguageError, Position
from dia_language.expressions.lowering import Lowering
from dia_language.expressions.namespace import Namespace
from dia_language.expressions.replies import Unset
from dia_language.expressions.syntax import ParsedExpression, Source, error_at, offset_in
from dia_language.numbers.values import Value
from dia_language.workers.heartbeat import begin_evaluation


@dataclass(frozen=True, slots=True)
class CompiledExpression:
    """An expression ready to run: call it with the scope, then the function's arguments if it has any."""

    parsed: ParsedExpression
    call: Callable[..., Value]
    number: int

    def __call__(self, scope: Mapping[str, Value], *arguments: Value) -> Value:
        """Return the expression's value. Raises DiaError with the position of the failing part, and Unset."""
        begin_evaluation(self.number)
        try:
            value = self.call(scope, *arguments)
            if type(value) is int and value.bit_length() > SIZE.bits:
                raise too_large()
            return value
        except (DiaError, Unset):
            raise
        except Exception as error:
            raise error_at_failing_part(error, self.parsed.source) from None


SOURCES: dict[str, ParsedExpression] = {}
NUMBERS = count(1)


def compile_expression(
    parsed: ParsedExpression,
    namespace: Namespace,
    arguments: tuple[str, ...] = (),
    entry: frozenset[str] | None = None,
    values: frozenset[str] | None = None,
) -> CompiledExpression:
    """Return the parsed expression as a Python function of scope, entry values (unless `entry` is None) and arguments.

    `values` are the names that the scope may hold; with None every free name is looked up there.
    Raises DiaError for names and functions that are not known.
    """
    lowering = Lowering(parsed, namespace, frozenset(arguments), entry or frozenset(), values)
    try:
        lowered = lowering.lower(parsed.tree)
    except RecursionError:
        raise error_at(parsed.source, 0, "E302", "the expression is nested too deeply", "split it with `let`") from None
    if lowering.diagnostics:
        raise DiaError(lowering.diagnostics)
    parameters = ["_s", *([] if entry is None else ["_e"]), *arguments]
    function = ast.Lambda(
        args=ast.arguments(
            posonlyargs=[], args=[ast.arg(arg=name) for name in parameters], kwonlyargs=[], kw_defaults=[], defaults=[]
        ),
        body=lowered,
    )
    number = next(NUMBERS)
    name = f"<expression {number}>"
    SOURCES[name] = parsed
    tree = ast.Expression(ast.copy_location(function, parsed.tree))
    locate(tree.body, 1, 0, 1, 0)
    try:
        code: CodeType = compile(tree, name, "eval")
    except (SyntaxError, RecursionError, MemoryError):  # Python allows 20 nested loops
        raise error_at(parsed.source, 0, "E302", "the expression is nested too deeply", "split it with `let`") from None
    return CompiledExpression(parsed, eval(code, namespace.globals), number)  # our own lowered tree, with no builtins


def locate(node: Any, line: int, column: int, end_line: int, end_column: int) -> None:
    """Give each node without a position that of the node around it.

    The same as `ast.fix_missing_locations`, which took a fifth of the time in which templates are prepared.
    """
    values = vars(node)
    if "lineno" in values:
        line, column, end_line, end_column = node.lineno, node.col_offset, node.end_lineno, node.end_col_offset
    elif node._attributes:
        node.lineno, node.col_offset, node.end_lineno, node.end_col_offset = line, column, end_line, end_column
    for name in node._fields:
        value = values.get(name)
        for part in value if type(value) is list else (value,):
            if isinstance(part, ast.AST) and part._fields:  # operators and contexts have no position
                locate(part, line, column, end_line, end_column)


def error_at_failing_part(error: Exception, source: Source) -> DiaError:
    """Return the failed evaluation as a diagnostic at the innermost part that was being computed."""
    diagnostic = as_language_error(error)
    place = _failing_position(error.__traceback__) or source.place(0)
    return DiaError(Diagnostic(diagnostic.code, diagnostic.message, place, diagnostic.help))


def as_language_error(error: Exception) -> LanguageError:
    """Return the exception in the language's words."""
    if isinstance(error, LanguageError):
        return error
    if isinstance(error, ZeroDivisionError):
        return LanguageError("division by zero", code="E504")
    if isinstance(error, RecursionError):
        return LanguageError("the evaluation is nested too deeply", code="E502")
    if isinstance(error, MemoryError):
        return LanguageError("the evaluation needs too much memory", code="E502")
    if isinstance(error, NotImplementedError):
        return LanguageError("the computer algebra system has no method for this")
    if isinstance(error, KeyError):
        return LanguageError(f"`{error.args[0]}` has no value here")
    return LanguageError(f"the evaluation failed: {error if str(error) else type(error).__name__}")


def _failing_position(traceback: TracebackType | None) -> Position | None:
    position: Position | None = None
    while traceback is not None:
        code = traceback.tb_frame.f_code
        parsed = SOURCES.get(code.co_filename)
        if parsed is not None:
            line, column = _instruction_place(code, traceback.tb_lasti)
            position = parsed.source.place(offset_in(parsed.source.text, parsed.starts, line, column)) or position
        traceback = traceback.tb_next
    return position


def _instruction_place(code: CodeType, last: int) -> tuple[int, int]:
    for at, place in enumerate(code.co_positions()):
        if at == last // 2:
            return place[0] or 1, place[2] or 0
    return 1, 0
