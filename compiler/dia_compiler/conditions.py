"""`accept_if` and `share` as a bundle stores them: expression, values of an instance, functions that it reaches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dia_runtime.language.diagnostics import DiaError, Diagnostic
from dia_runtime.language.expressions import Compiled
from dia_runtime.language.lowering import EXACT_ANSWER
from dia_runtime.language.syntax import Parsed, parse
from dia_runtime.language.values import Value, encode

from dia_compiler.prepared import Prepared
from dia_compiler.spec import Catalog, OwnFunction, Snippet


def condition_record(prepared: Prepared, scope: Mapping[str, Value]) -> dict[str, Any]:
    """The template's `accept_if` for one instance, self-contained. Raises DiaError where it needs a template."""
    assert prepared.accept_if is not None
    if prepared.accept_parts is None:
        prepared.accept_parts = _Reach(prepared, prepared.accept_if, "accept_if").parts()
    return _record(prepared.accept_if, prepared.accept_parts, scope)


def share_record(prepared: Prepared, scope: Mapping[str, Value]) -> dict[str, Any]:
    """The template's `share` for one instance, self-contained. Raises DiaError where it needs a template."""
    assert prepared.share is not None
    if prepared.share_parts is None:
        prepared.share_parts = _Reach(prepared, prepared.share, "share").parts()
    return _record(prepared.share, prepared.share_parts, scope)


def _record(
    code: Compiled, reached: tuple[frozenset[str], dict[str, Any]], scope: Mapping[str, Value]
) -> dict[str, Any]:
    names, parts = reached
    stored = {name: encode(scope[name]) for name in sorted(names) if name in scope}
    return {"expression": code.parsed.source.text, "names": stored, **parts}


class _Reach:
    """Follows an expression through own functions and faces."""

    def __init__(self, prepared: Prepared, start: Compiled, key: str) -> None:
        self.names: set[str] = set()
        self.functions: dict[str, Any] = {}
        self.faces: dict[str, Any] = {}
        shared = (prepared.benchmark.shared, prepared.template.shared)
        self.known: dict[str, OwnFunction] = {f.name: f for part in shared for f in part.functions}
        self.catalogs: list[Catalog] = [catalog for part in shared for catalog in part.catalogs]
        self.start, self.key = start, key

    def parts(self) -> tuple[frozenset[str], dict[str, Any]]:
        """The names that are needed, and the functions and faces as they are stored."""
        self.follow(self.start.parsed, frozenset({"reply"}))
        parts = {"functions": self.functions, "faces": self.faces}
        return frozenset(self.names), {name: held for name, held in parts.items() if held}

    def follow(self, parsed: Parsed, own: frozenset[str]) -> None:
        self.names |= {use.name for use in parsed.names if use.name not in own}
        for use in (*parsed.calls, *parsed.function_names):
            if use.name == "exact" and use.name not in self.known:
                self.names.add(EXACT_ANSWER)
            elif use.name in self.known:
                self.function(self.known[use.name])
            else:
                self.face(use.name)

    def function(self, function: OwnFunction) -> None:
        if function.is_template:
            raise _no_template(self.key, function.name, function.body)
        if function.name not in self.functions:
            self.functions[function.name] = {"arguments": list(function.arguments), "expression": function.body.text}
            self.follow(parse(function.body), frozenset(function.arguments))

    def face(self, name: str) -> None:
        if name in self.faces:
            return
        for catalog in self.catalogs:
            for item in catalog.faces:
                if item.name != name:
                    continue
                held = self.faces.setdefault(name, {"arguments": list(item.arguments), "entries": {}})
                for entry in catalog.entries:
                    body = entry.bodies.get(name)
                    if body is None:
                        continue
                    if item.is_template:
                        raise _no_template(self.key, name, body)
                    own = [parameter.name for parameter in entry.parameters]
                    held["entries"][f"{catalog.name}/{entry.name}"] = {"expression": body.text, "names": own}
                    self.follow(parse(body), frozenset((*own, *item.arguments)))


def _no_template(key: str, name: str, body: Snippet) -> DiaError:
    message = f"`{key}` reaches `{name}`, which is a template"
    return DiaError(Diagnostic("E313", message, body.position, "make it an expression: a grader renders no templates"))
