"""Expressions and templates as a bundle stores them: their text, the values of an instance, and functions they use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dia_compiler.analyze.field_access import Fields, fields_of, merged
from dia_compiler.analyze.plan import Prepared, Reached
from dia_compiler.parse.model import Catalog, OwnFunction, Snippet
from dia_language.diagnostics import DiaError, Diagnostic
from dia_language.expressions.expressions import CompiledExpression
from dia_language.expressions.lowering import EXACT_ANSWER
from dia_language.expressions.syntax import ParsedExpression, parse
from dia_language.numbers.values import Value
from dia_language.templates.templates import ParsedTemplate, parse_template


def reached(prepared: Prepared, tree: ParsedExpression | ParsedTemplate) -> Reached:
    """Return what a piece of a session or of its grading uses, including templates, let values and replies."""
    return _Reach(prepared, tree, None).collect(frozenset())


def condition_record(prepared: Prepared, scope: Mapping[str, Value]) -> dict[str, Any]:
    """Return the template's `accept_if` for one instance, self-contained. Raises DiaError if it uses a template."""
    assert prepared.accept_if is not None
    if prepared.accept_parts is None:
        prepared.accept_parts = _of_reply(prepared, prepared.accept_if, "accept_if")
    return prepared.accept_parts.record("expression", prepared.accept_if.parsed.source.text, scope)


def share_record(prepared: Prepared, scope: Mapping[str, Value]) -> dict[str, Any]:
    """Return the template's `share` for one instance, self-contained. Raises DiaError if it uses a template."""
    assert prepared.share is not None
    if prepared.share_parts is None:
        prepared.share_parts = _of_reply(prepared, prepared.share, "share")
    return prepared.share_parts.record("expression", prepared.share.parsed.source.text, scope)


def _of_reply(prepared: Prepared, code: CompiledExpression, key: str) -> Reached:
    return _Reach(prepared, code.parsed, key).collect(frozenset({"reply"}))


class _Reach:
    """Follows a piece through functions of the spec, faces, and let values that use replies.

    `key` is the key of the answer that it belongs to, which may not use templates.

    `key` is that of an answer, which reaches no template.
    """

    def __init__(self, prepared: Prepared, start: ParsedExpression | ParsedTemplate, key: str | None) -> None:
        self.names: set[str] = set()
        self.replies: set[str] = set()
        self.fields: Fields = {}
        self.lets: dict[str, str] = {}
        self.functions: dict[str, Any] = {}
        self.faces: dict[str, Any] = {}
        shared = (prepared.benchmark.shared, prepared.template.shared)
        self.functions_by_name: dict[str, OwnFunction] = {f.name: f for part in shared for f in part.functions}
        self.catalogs: list[Catalog] = [catalog for part in shared for catalog in part.catalogs]
        self.reply_lets, self.all_replies = prepared.reply_lets, prepared.namespace.replies
        self.start, self.key = start, key

    def collect(self, own: frozenset[str]) -> Reached:
        """Return everything that is used; `own` are names that are passed in."""
        self.follow(self.start, own)
        record: dict[str, Any] = {"functions": self.functions, "faces": self.faces}
        record["lets"] = [[name, text] for name, text in self.lets.items()]
        record["replies"] = sorted(self.replies)
        return Reached(frozenset(self.names), {name: part for name, part in record.items() if part}, self.fields)

    def follow(self, parsed: ParsedExpression | ParsedTemplate, own: frozenset[str]) -> None:
        self.fields = merged(self.fields, fields_of(parsed))
        for use in parsed.names:
            if use.name not in own:
                self.value(use.name)
        for use in (*parsed.calls, *parsed.function_names):
            if use.name == "exact" and use.name not in self.functions_by_name:
                self.names.add(EXACT_ANSWER)
            elif use.name in self.functions_by_name:
                self.function(self.functions_by_name[use.name])
            else:
                self.face(use.name)

    def value(self, name: str) -> None:
        """Follow a value: a reply, a let value that uses replies (after its own parts), or a value of the instance."""
        if name in self.all_replies:
            self.replies.add(name)
        elif name not in self.reply_lets:
            self.names.add(name)
        elif name not in self.lets:
            parsed = self.reply_lets[name].parsed
            self.follow(parsed, frozenset())
            self.lets[name] = parsed.source.text

    def body(self, body: Snippet, is_template: bool, own: frozenset[str]) -> dict[str, Any]:
        """Return the body of a function or face as stored."""
        self.follow(parse_template(body, self.all_replies - own) if is_template else parse(body), own)
        return {"template" if is_template else "expression": body.text}

    def function(self, function: OwnFunction) -> None:
        if function.is_template and self.key is not None:
            fix = "write it as an expression under `functions`"
            raise _no_template(self.key, function.name, "the macro", function.body, fix)
        if function.name not in self.functions:
            function_record = self.functions[function.name] = {"arguments": list(function.arguments)}
            function_record.update(self.body(function.body, function.is_template, frozenset(function.arguments)))

    def face(self, name: str) -> None:
        if name in self.faces:
            return
        for catalog in self.catalogs:
            for item in catalog.faces:
                if item.name != name:
                    continue
                face_record = self.faces.setdefault(name, {"arguments": list(item.arguments), "entries": {}})
                for entry in catalog.entries:
                    body = entry.bodies.get(name)
                    if body is None:
                        continue
                    if item.is_template and self.key is not None:
                        fix = "declare the face as `expression`, and write it as one"
                        raise _no_template(self.key, name, "the face", body, fix)
                    own = [parameter.name for parameter in entry.parameters]
                    entry_record = self.body(body, item.is_template, frozenset((*own, *item.arguments)))
                    face_record["entries"][f"{catalog.name}/{entry.name}"] = {**entry_record, "names": own}


def _no_template(key: str, name: str, what: str, body: Snippet, fix: str) -> DiaError:
    message = f"`{key}` uses {what} `{name}`, but the grader evaluates only expressions"
    return DiaError(Diagnostic("E313", message, body.position, fix))
