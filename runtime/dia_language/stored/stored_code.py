"""Expressions and templates in bundles, each with everything that it needs and nothing else.

Stored code is `{"expression": TEXT}` or `{"template": TEXT}`, with these keys unless they are empty:

- `names`: {name: encoded value}, the values of the instance that it reaches;
- `lets`: [[name, TEXT], ...], values that depend on replies, each after those that it is made of;
- `functions`: {name: {"arguments": [...], "expression" or "template": TEXT}};
- `faces`: {name: {"arguments": [...], "entries": {"catalog/entry": {"expression" or "template", "names": [...]}}}};
- `replies`: the names of replies that it reaches, sorted.

It is compiled by the language's own compilers, so that untrusted code can do no more than a spec.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from json import dumps, loads
from typing import Any

from dia_language.diagnostics import DiaError, Diagnostic, LanguageError
from dia_language.expressions.expressions import CompiledExpression, compile_expression
from dia_language.expressions.lowering import EXACT_ANSWER
from dia_language.expressions.namespace import Namespace, face
from dia_language.expressions.replies import SessionReply, Unset
from dia_language.expressions.syntax import PlainSource, parse
from dia_language.functions.calculus import exp, symbol
from dia_language.numbers.values import Value, decode
from dia_language.templates.templates import CompiledTemplate, compile_template, parse_template
from dia_language.workers.pool import SingleWorker

Stored = Mapping[str, Any]
NO_REPLY = SessionReply()


@dataclass(frozen=True, slots=True)
class Code:
    """Stored code that can be run: an expression with a value, or a template that gives a text.

    A scope has the values of loop names, and under the name of a reply a `SessionReply`, or a list of them if it was
    requested once per item; replies that are not in the scope were never requested.
    """

    stored: Stored
    names: Mapping[str, Value]
    replies: frozenset[str]
    programs: dict[tuple[str, frozenset[str]], Program] = field(default_factory=dict, repr=False, compare=False)

    def evaluate(self, scope: Mapping[str, Any]) -> Value:
        """Return the value of the expression. Raises Unset if it needs a missing reply, and DiaError."""
        program = self.program("expression", scope)
        return program.expression(self.scope(scope, program))

    def render(self, scope: Mapping[str, Any]) -> str:
        """Return the text of the template. Raises Unset if it needs a missing reply, and DiaError."""
        program = self.program("template", scope)
        return program.template(self.scope(scope, program))

    def program(self, kind: str, scope: Iterable[str]) -> Program:
        """Return the compiled code for scopes that contain these names. Raises DiaError."""
        names = frozenset(self.names) | (frozenset(scope) - self.replies)
        program = self.programs.get((kind, names))
        if program is None:
            program = self.programs[(kind, names)] = self.compiled(kind, names)
        return program

    def compiled(self, kind: str, names: frozenset[str]) -> Program:
        """Return the compiled code, cached if it was compiled before. Raises DiaError."""
        text = self.stored.get(kind)
        if not isinstance(text, str):
            raise _malformed(f"stored code is not a valid {kind}")
        stored = self.stored
        parts = tuple([dumps(stored[part], sort_keys=True) if part in stored else "[]" for part in PARTS])
        try:
            return _program(kind, text, parts, names, self.replies)
        except (KeyError, TypeError, ValueError, AttributeError):
            raise _malformed("stored code has the wrong shape") from None

    def scope(self, scope: Mapping[str, Any], program: Program) -> Mapping[str, Any]:
        """Return all values that the code sees."""
        values = {**self.names, **dict.fromkeys(self.replies, NO_REPLY), **scope}
        return LazyScope(values, program.lets) if program.lets else values


PARTS = ("lets", "functions", "faces")


class LazyScope(dict[str, Any]):
    """A scope in which values that depend on replies are computed when they are first looked up."""

    __slots__ = ("lets",)

    def __init__(self, values: Mapping[str, Any], lets: Mapping[str, CompiledExpression]) -> None:
        super().__init__(values)
        self.lets = lets

    def __missing__(self, name: str) -> Value:
        self[name] = value = self.lets[name].call(self)
        return value


@dataclass(frozen=True, slots=True)
class Program:
    """Compiled stored code: the expression or the template, and the let values that it may look up."""

    code: CompiledExpression | CompiledTemplate
    lets: Mapping[str, CompiledExpression]

    @property
    def expression(self) -> CompiledExpression:
        assert isinstance(self.code, CompiledExpression)
        return self.code

    @property
    def template(self) -> CompiledTemplate:
        assert not isinstance(self.code, CompiledExpression)
        return self.code


def load_code(stored: Stored) -> Code:
    """Return the stored code, ready to be run. Raises DiaError if it is malformed."""
    try:
        names = {name: decode(value, decode_symbolic) for name, value in stored.get("names", {}).items()}
        return Code(stored, names, frozenset(stored.get("replies", ())))
    except (AttributeError, TypeError, ValueError, LanguageError):
        raise _malformed("stored code has the wrong shape") from None


def _malformed(message: str) -> DiaError:
    return DiaError(Diagnostic("E822", message, None, "get a new copy of the bundle or the run"), 3)


def decode_symbolic(text: str) -> Value:
    """Return the symbolic value stored as the text, which the language evaluates within its limits."""
    parsed = parse(PlainSource(text))
    names = frozenset(use.name for use in parsed.names) - {"pi"}
    values: dict[str, Value] = {name: exp(1) if name == "E" else symbol(name) for name in names}
    return compile_expression(parsed, Namespace(), values=names)(values)


@lru_cache(maxsize=512)
def _program(kind: str, text: str, parts: tuple[str, ...], names: frozenset[str], replies: frozenset[str]) -> Program:
    lets, functions, faces = map(loads, parts)
    late = frozenset(name for name, _ in lets)
    builder = _Builder(Namespace(replies), names, late, {**dict(functions), **dict(faces)})
    for name in list(builder.waiting):
        builder.add(name)
    visible = names
    compiled: dict[str, CompiledExpression] = {}
    for name, body in lets:
        compiled[name] = compile_expression(parse(PlainSource(body)), builder.namespace, values=visible)
        visible |= {name}
    return Program(builder.code(kind, text), compiled)


@dataclass(slots=True)
class _Builder:
    """Compiles stored functions and faces, each after those that it calls."""

    namespace: Namespace
    names: frozenset[str]
    late: frozenset[str]
    waiting: dict[str, Stored]

    def __post_init__(self) -> None:
        self.values = self.names | self.late
        if EXACT_ANSWER in self.names:
            self.values |= {"answer"}

    values: frozenset[str] = frozenset()

    def add(self, name: str) -> None:
        """Add a function or face after those that it calls."""
        part = self.waiting.pop(name, None)
        if part is None:
            return
        arguments = tuple(part["arguments"])
        if "entries" not in part:
            self.namespace.add(name, len(arguments), self.function(part, arguments))
            return
        table = {}
        for key, body in part["entries"].items():
            catalog, _, entry = key.partition("/")
            table[(catalog, entry)] = self.entry(body, arguments, frozenset(body["names"]))
        self.namespace.add(name, len(arguments) + 1, face(name, table))

    def function(self, part: Stored, arguments: tuple[str, ...]) -> Callable[..., Value]:
        """Return an own function as a callable of scope and arguments."""
        if "template" not in part:
            return self.expression(part["expression"], arguments).call
        template = self.template(part["template"], frozenset(arguments))
        return lambda scope, *values: template.render({**scope, **dict(zip(arguments, values, strict=True))}, scope)

    def entry(self, part: Stored, arguments: tuple[str, ...], own: frozenset[str]) -> Callable[..., Value]:
        """Return the body of a face as a callable of scope, the entry's values and arguments."""
        if "template" not in part:
            return self.expression(part["expression"], arguments, own).call
        template = self.template(part["template"], own | frozenset(arguments))

        def rendered(scope: Mapping[str, Value], own_values: Mapping[str, Value], *values: Value) -> str:
            return template.render({**scope, **own_values, **dict(zip(arguments, values, strict=True))}, scope)

        return rendered

    def code(self, kind: str, text: str) -> CompiledExpression | CompiledTemplate:
        return self.expression(text) if kind == "expression" else self.template(text)

    def expression(
        self, text: str, arguments: tuple[str, ...] = (), own: frozenset[str] | None = None
    ) -> CompiledExpression:
        """Return an expression, after the functions that it calls."""
        parsed = parse(PlainSource(text))
        for use in (*parsed.calls, *parsed.function_names):
            self.add(use.name)
        return compile_expression(parsed, self.namespace, arguments, own, self.values)

    def template(self, text: str, own: frozenset[str] = frozenset()) -> CompiledTemplate:
        """Return a template, after the functions that it calls."""
        parsed = parse_template(PlainSource(text), self.namespace.replies - own, self.late - own)
        for use in (*parsed.calls, *parsed.function_names):
            self.add(use.name)
        return compile_template(parsed, self.namespace, self.values | own | self.namespace.replies)


@dataclass(frozen=True, slots=True)
class IsolatedCode:
    """Untrusted stored code, run in a worker that can be killed."""

    stored: Stored
    worker: SingleWorker

    def evaluate(self, scope: Mapping[str, Any]) -> Value:
        """Return the value of the expression. Raises Unset, and LanguageError if the evaluation fails or is killed."""
        return self.call("evaluate", scope)

    def render(self, scope: Mapping[str, Any]) -> str:
        """Return the text of the template. Raises Unset, and LanguageError if the evaluation fails or is killed."""
        return str(self.call("render", scope))

    def call(self, method: str, scope: Mapping[str, Any]) -> Value:
        """Return the result of the method, from the worker."""
        is_set, value = self.worker.call(run_stored, self.stored, method, dict(scope))
        if not is_set:
            raise Unset(value)
        return value


def run_stored(stored: Stored, method: str, scope: Mapping[str, Any]) -> Iterator[tuple[bool, Value]]:
    """Yield whether no reply was missing, and the value or the name of the missing reply, as a task's one item."""
    code = load_code(stored)
    try:
        yield True, code.evaluate(scope) if method == "evaluate" else code.render(scope)
    except Unset as missing:
        yield False, missing.name
