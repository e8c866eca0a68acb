"""The JSON Schemas of spec files, and their errors in words with positions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import islice
from typing import Any

from dia_compiler.parse.schema_predicates import Shape, ends_strictly
from dia_compiler.parse.spec_schema import structure
from dia_compiler.parse.yaml_reader import Mapping, Node, Scalar, Sequence, data
from dia_compiler.types import TYPES
from dia_language.diagnostics import Diagnostic, Faults, Position, closest, did_you_mean
from dia_language.numbers.values import described, plain

Path = tuple[Any, ...]
ENOUGH = 100


@cache
def _schema(name: str) -> Any:
    return structure(name)


@cache
def _shape(name: str) -> Shape:
    return Shape(_schema(name))


@cache
def _validator(name: str) -> Any:
    from jsonschema import Draft202012Validator, ValidationError, validators

    def matches(validator: Any, pattern: str, instance: Any, schema: Any) -> Iterator[ValidationError]:
        if isinstance(instance, str) and not re.search(ends_strictly(pattern), instance):
            yield ValidationError("no match")

    extend: Any = validators.extend
    return extend(Draft202012Validator, {"pattern": matches})(_schema(name))


def check_schema(root: Node, name: str, faults: Faults) -> set[Path]:
    """Tells every place where the file departs from the schema `name`; gives the paths of keys that were told."""
    told: set[Path] = set()
    value = data(root)
    if _shape(name)(value):  # mostly so, and the validator takes a quarter of a check's time to say it
        return told
    for error in islice(_validator(name).iter_errors(value), ENOUGH):
        for path, entry in _told(error, root):
            told.add(path)
            faults.entries.append(entry)
    return told


@dataclass(frozen=True, slots=True)
class _Departure:
    """One error of the validator with the node where it is."""

    error: Any
    node: Node
    place: Position
    path: Path

    @property
    def wanted(self) -> Any:
        """What the schema wants."""
        return self.error.validator_value

    @property
    def name(self) -> str:
        """The nearest key above, as messages begin with it."""
        names = [part for part in self.path if isinstance(part, str)]
        return f"`{names[-1]}`" if names else "this file"

    def fault(self, code: str, message: str, help: str | None = None, place: Position | None = None) -> Diagnostic:
        """A fault at this place, or at another one."""
        return Diagnostic(code, message, place or self.place, help)


Told = Iterator[tuple[Path, Diagnostic]]


def _told(error: Any, root: Node) -> Told:
    if error.validator in ("anyOf", "oneOf") and error.context:
        yield from _tell_branch(error, root)
        return
    path = tuple(error.absolute_path)
    found = _Departure(error, *_found(root, path), path)
    if "propertyNames" in error.absolute_schema_path:
        yield path, _tell_name(found)
        return
    yield from TELLERS[error.validator](found)


def _tell_branch(error: Any, root: Node) -> Told:
    """Of alternatives only the one that suits the value's shape is told; without one, the kinds that would do."""
    suited = [inner for inner in error.context if inner.validator != "type" or inner.relative_path]
    branch = min((inner.schema_path[0] for inner in suited), default=None)
    if branch is not None:
        for inner in suited:
            if inner.schema_path[0] == branch:
                yield from _told(inner, root)
        return
    path = tuple(error.absolute_path)
    kinds = [kind for inner in error.context for kind in _kinds(inner.validator_value)]
    yield from _tell_kinds(_Departure(error, *_found(root, path), path), list(dict.fromkeys(kinds)))


def _kinds(value: Any) -> list[str]:
    return [WORDS[str(kind)] for kind in (value if isinstance(value, list) else [value])]


def _or(words: Iterable[str]) -> str:
    *first, last = list(words)
    return f"{', '.join(first)} or {last}" if first else last


WORDS = {
    "object": "a mapping", "array": "a list", "string": "text", "integer": "an integer", "number": "a number",
    "boolean": "true or false", "null": "nothing",
}  # fmt: skip


def _found(root: Node, path: Path) -> tuple[Node, Position]:
    """The node under a path of keys and places, as far as it goes, and its position."""
    node, place = root, root.position
    for part in path:
        inner: Node | None = None
        if isinstance(node, Mapping) and isinstance(part, str):
            inner = node.get(part)
        elif isinstance(node, Sequence) and isinstance(part, int) and part < len(node.items):
            inner = node.items[part]
        if inner is None:
            break
        node, place = inner, inner.position
    return node, place


def _tell_unknown_key(found: _Departure) -> Told:
    known = list(found.error.schema.get("properties", {}))
    for key, value in found.node.pairs if isinstance(found.node, Mapping) else ():
        if key.text not in known:
            path = (*found.path, key.text)
            yield path, _unknown_key(found, key, value, path, known)


def _unknown_key(found: _Departure, key: Scalar, value: Node, path: Path, known: list[str]) -> Diagnostic:
    assert isinstance(found.node, Mapping)
    if found.node.is_flow and isinstance(value, Scalar) and value.text == "":
        message = f"`{key.text}` stands alone: YAML has split the text before it at a comma"
        return found.fault("E306", message, "put the whole value in quotes", key.position)
    mend = did_you_mean(key.text, known) or f"the keys are {', '.join(known)}"
    return found.fault("E201", f"unknown key `{key.text}`", mend, key.position)


EXAMPLES = {"language": "1", "benchmark": "my_benchmark", "template": "my_template", "kind": "xml"}


def _tell_missing(found: _Departure) -> Told:
    node = found.node
    if not isinstance(node, Mapping):
        return
    missing = next(name for name in found.wanted if f"'{name}'" in found.error.message)
    unknown = [key.text for key, _ in node.pairs if key.text not in found.error.schema.get("properties", {})]
    is_closed = found.error.schema.get("additionalProperties") is False  # then the unknown key is told, with its mend
    is_misspelt = is_closed and any(closest(key, found.error.schema["properties"]) == missing for key in unknown)
    if node.get(missing) is None and not is_misspelt:
        at = node.pairs[0][0].position if node.pairs else found.place
        mend = f"add `{missing}: {EXAMPLES.get(missing, '...')}`"
        yield (*found.path, missing), found.fault("E202", f"`{missing}` is missing", mend, at)


def _tell_kind(found: _Departure) -> Told:
    yield from _tell_kinds(found, _kinds(found.wanted))


def _tell_kinds(found: _Departure, kinds: list[str]) -> Told:
    node = found.node
    shape = "a mapping" if isinstance(node, Mapping) else "a list" if isinstance(node, Sequence) else ""
    if shape and "text" in kinds and shape not in kinds:
        message = f"{found.name} is one text, but YAML reads {shape} here"
        mend = "put the whole value in quotes, or on lines of its own after `|`"
        if "a list" in kinds:
            message, mend = f"{found.name} is one text or a list of them, but YAML reads {shape} here", QUOTE_EACH
        yield found.path, found.fault("E306", message, mend)
        return
    mend_text: str | None = None
    if isinstance(node, Scalar) and node.text:
        mend_text = _mend_kind(node, kinds, str(found.path[-1:]), found.error.schema.get("pattern", ""))
    shape = shape or (described(data(node)) if data(node) is not None else "nothing")
    yield found.path, found.fault("E203", f"{found.name} must be {_or(kinds)}; this is {shape}", mend_text)


def _mend_kind(node: Scalar, kinds: list[str], key: str, pattern: str) -> str | None:
    """How to write the value of a scalar as the kind that the place takes."""
    if kinds == ["text"]:
        return _pattern_words(pattern)[1] if pattern else f'put it in quotes: "{node.text}"'
    if "a mapping" not in kinds:
        return None
    if node.text in TYPES:
        return f"write {{type: {node.text}, ...}}"
    return next((f"write {shown}" for name, shown in MAPPINGS.items() if name in key), None)


MAPPINGS = {
    "answer": "{value: ..., type: ...}", "format": "{kind: xml}", "let": "{name: expression}",
    "mistakes": "{name: expression}", "points": "{correct: 1, skipped: 0, wrong: -1}",
    "requires": "{extra: ...}, {file: ...} or {tool: ...}",
}  # fmt: skip
QUOTE_EACH = "put each value in quotes, or on lines of its own after `|`"


def _shown(value: Any) -> str:
    text = plain(value) if isinstance(value, (str, int, Fraction)) else described(value)
    return text if len(text) <= 40 else text[:40] + "..."


def _tell_enum(found: _Departure) -> Told:
    allowed = [str(value) for value in found.wanted]
    text = _shown(found.error.instance)
    words = [word or "nothing" for word in allowed]
    mend = did_you_mean(text, allowed)
    yield found.path, found.fault("E204", f"{found.name} must be {_or(words)}; this is `{text}`", mend)


def _tell_const(found: _Departure) -> Told:
    message = f"{found.name} must be {found.wanted}; this is `{_shown(found.error.instance)}`"
    yield found.path, found.fault("E204", message)


def _tell_pattern(found: _Departure) -> Told:
    wanted, mend = _pattern_words(found.wanted)
    if found.path == ("skills",):
        wanted, mend = "a list or an expression", f"write [{_shown(found.error.instance)}]"
    message = f"{found.name} must be {wanted}; this is `{_shown(found.error.instance)}`"
    yield found.path, found.fault("E204", message, mend)


def _tell_name(found: _Departure) -> Diagnostic:
    """A key that is not the kind of name which the place takes."""
    name, place = str(found.error.instance), found.place
    key = found.node.key(name) if isinstance(found.node, Mapping) else None
    wanted, mend = _pattern_words(found.wanted)
    return found.fault("E204", f"`{_shown(name)}` must be {wanted}", mend, key.position if key else place)


def _pattern_words(pattern: str) -> tuple[str, str | None]:
    """What a pattern of the schemas wants, and how to write it."""
    for begin, wanted, mend in PATTERNS:
        if pattern.startswith(begin):
            return wanted, mend
    return f"text that matches {pattern}", None


# The begin of a pattern, what it wants in words, and the mend
PATTERNS: tuple[tuple[str, str, str], ...] = (
    ("^= ", "a number or an expression", "an expression stands behind `= `, as in `= n + 1`"),
    ("^[0-9]+", "a version of three numbers", "write three numbers, such as 1.0.0"),
    ("^[a-z]", "a name of at most 64 small letters, digits and _", "begin with a letter from a to z"),
    ("^[A-Za-z][A-Za-z0-9_]{", "a name of at most 64 letters, digits and _", "begin with a letter from a to z"),
    ("^[A-Za-z]", "a name with its arguments", "write `double(x)`, and without arguments `name()`"),
)


def _tell_empty(found: _Departure) -> Told:
    least = f" (at least {found.wanted} characters)" if found.wanted > 1 else ""
    word = "is too short" if found.wanted > 1 else "is empty"
    yield found.path, found.fault("E204", f"{found.name} {word}{least}", "fill it, or leave the key out")


def _tell_bound(found: _Departure) -> Told:
    words = {"minimum": "at least", "maximum": "at most", "exclusiveMinimum": "above"}[found.error.validator]
    message = f"{found.name} must be {words} {found.wanted}; this is {_shown(found.error.instance)}"
    yield found.path, found.fault("E204", message)


# Every keyword that the schemas of specs use (but for alternatives and names, see `_told`)
TELLERS = {
    "additionalProperties": _tell_unknown_key,
    "required": _tell_missing,
    "type": _tell_kind,
    "enum": _tell_enum,
    "const": _tell_const,
    "pattern": _tell_pattern,
    "minItems": _tell_empty,
    "minLength": _tell_empty,
    "minProperties": _tell_empty,
    "minimum": _tell_bound,
    "maximum": _tell_bound,
    "exclusiveMinimum": _tell_bound,
}
