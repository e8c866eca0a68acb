"""Check spec files against their JSON Schemas, and describe the errors in words with positions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from fractions import Fraction
from functools import cache
from itertools import islice, takewhile
from typing import Any

from dia_compiler.parse.expected_forms import LONGEST_FLOW, form_of, or_of, quoted
from dia_compiler.parse.spec_schema import DEFINITIONS, FILES, structure
from dia_compiler.types import TYPES
from dia_language.diagnostics import Diagnostic, Diagnostics, Position, closest, did_you_mean
from dia_language.numbers.values import described, plain
from dia_language.yaml_nodes import Mapping, Node, Scalar, Sequence, data
from dia_runtime.formats import FORMATS

Path = tuple[Any, ...]
ENOUGH = 100
# What keys of a template might be called elsewhere
OTHER_KEYS = {
    "constraints": "where", "description": "notes", "distractor": "choices", "distractors": "choices",
    "id": "template", "name": "template", "options": "choices", "parameters": "params", "question": "prompt",
    "solution": "answer", "tags": "skills", "variables": "params",
}  # fmt: skip
# Names of parameter types in other languages, and of answer types that parameters do not have
OTHER_TYPES = {
    "array": "list", "bool": "boolean", "char": "string", "datetime": "timestamp",
    "decimal": "real", "dict": "record", "double": "real", "enum": "choice", "float": "real", "fraction": "rational",
    "int": "integer", "number": "integer", "object": "record", "option": "choice", "select": "choice", "str": "string",
    "text": "string", "time": "timestamp", "varchar": "string",
}  # fmt: skip
FEW_KEYS = 15  # keys that an error lists; if there are more, it lists the most similar ones


def _ends_strictly(pattern: str) -> str:
    """Return the pattern with `$` as the end of the text, as in JSON Schema; Python's also matches before a newline."""
    return pattern[:-1] + r"\Z" if pattern.endswith("$") else pattern


@cache
def _validator(name: str) -> Any:
    from jsonschema import Draft202012Validator, ValidationError, validators

    def matches(validator: Any, pattern: str, instance: Any, schema: Any) -> Iterator[ValidationError]:
        if isinstance(instance, str) and not re.search(_ends_strictly(pattern), instance):
            yield ValidationError("no match")

    extend: Any = validators.extend
    return extend(Draft202012Validator, {"pattern": matches})(structure(name))


@cache
def _quick_validator(name: str) -> Any:
    import jsonschema_rs

    return jsonschema_rs.Draft202012Validator(structure(name))


def is_surely_valid(value: Any, name: str) -> bool:
    """Return True only if the value fits the schema; an exact decimal, which JSON lacks, gives False.

    It is 20 times as fast as the validator that describes errors, which took 7 % of a compile.
    """
    try:
        return bool(_quick_validator(name).is_valid(value))
    except ValueError:
        return False


def check_schema(root: Node, name: str, diagnostics: Diagnostics) -> set[Path]:
    """Report every place where the file does not match the schema `name`; return the paths of reported keys."""
    reported: set[Path] = set()
    value = data(root)
    if is_surely_valid(value, name):
        return reported
    reports = [report for error in islice(_validator(name).iter_errors(value), ENOUGH)
               for report in _diagnostics_of(error, root)]  # fmt: skip
    for path, entry in _with_missing_indentation(reports, root, name):
        reported.add(path)
        diagnostics.entries.append(entry)
    return reported


def _with_missing_indentation(reports: list[Report], root: Node, name: str) -> list[Report]:
    """Return the reports with one report for each empty key whose lines are not indented, and none of what follows."""
    known_keys = FILES[name].properties
    pairs = root.pairs if isinstance(root, Mapping) and not root.is_flow else ()
    for number, (key, value) in enumerate(pairs):
        if data(value) is not None or not any(path == (key.text,) and entry.code == "E203" for path, entry in reports):
            continue
        below = [other for other, _ in takewhile(lambda pair: pair[0].text not in known_keys, pairs[number + 1 :])]
        if below:
            names = {key.text, *(other.text for other in below)}
            reports = [(path, entry) for path, entry in reports if not path or path[0] not in names]
            words = ", ".join(f"`{other.text}`" for other in below[:3]) + (", ..." if len(below) > 3 else "")
            message = f"`{key.text}` is empty, because the lines below it are not indented"
            help = f"indent them by two spaces: {words}"
            reports.append(((key.text,), Diagnostic("E203", message, key.position, help)))
    return reports


@dataclass(frozen=True, slots=True)
class _SchemaError:
    """One error of the validator with the node where it is."""

    error: Any
    node: Node
    place: Position
    path: Path

    @property
    def expected(self) -> Any:
        """What the schema expects."""
        return self.error.validator_value

    @property
    def name(self) -> str:
        """The key or the entry of a list that is wrong, with which messages begin."""
        names = [part for part in self.path if isinstance(part, str)]
        if not names:
            return "this file"
        return f"an entry of `{names[-1]}`" if isinstance(self.path[-1], int) else f"`{names[-1]}`"

    def diagnostic(self, code: str, message: str, help: str | None = None, place: Position | None = None) -> Diagnostic:
        """Return an error at this place, or at another one."""
        return Diagnostic(code, message, place or self.place, help)


Report = tuple[Path, Diagnostic]
Reports = Iterator[Report]


def _diagnostics_of(error: Any, root: Node) -> Reports:
    if error.validator in ("anyOf", "oneOf") and error.context:
        yield from _report_branch(error, root)
        return
    path = tuple(error.absolute_path)
    schema_error = _SchemaError(error, *_locate(root, path), path)
    if "propertyNames" in error.absolute_schema_path:
        yield path, _report_name(schema_error)
        return
    yield from REPORTERS[error.validator](schema_error)


def _report_branch(error: Any, root: Node) -> Reports:
    """Report only errors of the alternative that matches the value's shape; if none does, list the accepted kinds."""
    path = tuple(error.absolute_path)
    constants = [str(inner.validator_value) for inner in error.context if inner.validator == "const"]
    other_kinds = [
        kind for inner in error.context if inner.validator == "type" for kind in _kinds(inner.validator_value)
    ]
    if constants and len(constants) + len(other_kinds) == len(error.context):
        schema_error = _SchemaError(error, *_locate(root, path), path)
        message = (
            f"{schema_error.name} must be {or_of([*constants, *other_kinds])}; this is `{_value_text(error.instance)}`"
        )
        yield path, schema_error.diagnostic("E204", message)
        return
    suited = [inner for inner in error.context if inner.validator != "type" or inner.relative_path]
    branch = min((inner.schema_path[0] for inner in suited), default=None)
    if branch is not None:
        for inner in suited:
            if inner.schema_path[0] == branch:
                yield from _diagnostics_of(inner, root)
        return
    kinds = [kind for inner in error.context for kind in _kinds(inner.validator_value)]
    yield from _report_kinds(_SchemaError(error, *_locate(root, path), path), list(dict.fromkeys(kinds)))


def _kinds(value: Any) -> list[str]:
    return [WORDS[str(kind)] for kind in (value if isinstance(value, list) else [value])]


WORDS = {
    "object": "a mapping", "array": "a list", "string": "text", "integer": "an integer", "number": "a number",
    "boolean": "true or false", "null": "nothing",
}  # fmt: skip


def _locate(root: Node, path: Path) -> tuple[Node, Position]:
    """Return the node at a path of keys and indices, as far as it exists, and its position."""
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


def _report_unknown_key(error: _SchemaError) -> Reports:
    known_keys = list(error.error.schema.get("properties", {}))
    for key, value in error.node.pairs if isinstance(error.node, Mapping) else ():
        if key.text not in known_keys:
            path = (*error.path, key.text)
            yield path, _unknown_key(error, key, value, path, known_keys)


def is_after_comma(key: Scalar, value: Node, mapping: Mapping) -> bool:
    """Return whether a key that is not known is probably the rest of a text that YAML ended at a comma."""
    return mapping.is_flow and isinstance(value, Scalar) and value.text == ""


def comma_error(key: Scalar) -> Diagnostic:
    """Return the error for the rest of a text that YAML ended at a comma."""
    message = f"`{key.text}` has no value: YAML split the text before it at a comma"
    return Diagnostic("E306", message, key.position, "quote the whole value")


def _unknown_key(error: _SchemaError, key: Scalar, value: Node, path: Path, known_keys: list[str]) -> Diagnostic:
    assert isinstance(error.node, Mapping)
    if is_after_comma(key, value, error.node):
        return comma_error(key)
    other_name = OTHER_KEYS.get(key.text.lower()) if not error.path else None
    help = f"did you mean `{other_name}`?" if other_name in known_keys else did_you_mean(key.text, known_keys)
    help = help or _known_keys_help(key.text, known_keys, "answers" if path[:1] == ("answer",) else "language")
    return error.diagnostic("E201", f"unknown key `{key.text}`", help, key.position)


def is_misspelled(name: str, root: Mapping) -> bool:
    """Return whether a template has an unknown key that is probably this one, so that it is not reported as missing."""
    known_keys = FILES["template"].properties
    unknown = [key.text for key, _ in root.pairs if key.text not in known_keys]
    return any(name in (OTHER_KEYS.get(key.lower()), closest(key, known_keys)) for key in unknown)


def _known_keys_help(name: str, known_keys: list[str], page: str) -> str:
    """Return the known keys; of many, the most similar ones and where to find all."""
    if len(known_keys) <= FEW_KEYS:
        return f"the keys are {', '.join(known_keys)}"
    similar = get_close_matches(name, known_keys, n=3, cutoff=0.5)
    nearest = f"similar keys: {', '.join(similar)}; " if similar else ""
    return f"{nearest}docs/reference/{page}.md lists all {len(known_keys)} keys"


EXAMPLES = {"language": "2", "benchmark": "my_benchmark", "template": "my_template", "kind": "xml"}


def _report_missing(error: _SchemaError) -> Reports:
    node = error.node
    if not isinstance(node, Mapping):
        return
    missing = next(name for name in error.expected if f"'{name}'" in error.error.message)
    unknown = [key.text for key, _ in node.pairs if key.text not in error.error.schema.get("properties", {})]
    is_closed = error.error.schema.get("additionalProperties") is False  # the unknown key is reported instead
    is_misspelt = is_closed and any(closest(key, error.error.schema["properties"]) == missing for key in unknown)
    if node.get(missing) is None and not is_misspelt:
        at = node.pairs[0][0].position if node.pairs else error.place
        help = f"add `{missing}: {EXAMPLES.get(missing, '...')}`"
        allowed = error.error.schema.get("properties", {}).get(missing, {}).get("enum")
        help += f", which is {or_of(map(str, allowed))}" if allowed and missing not in EXAMPLES else ""
        yield (*error.path, missing), error.diagnostic("E202", f"`{missing}` is missing", help, at)


def _report_kind(error: _SchemaError) -> Reports:
    if (
        error.path[:1] == ("allow",)
        and isinstance(error.node, Scalar)
        and error.node.text == ""
        and " " in error.path[-1]
    ):
        return  # the rest of a reason after a comma, which is not the name of a health warning
    yield from _report_kinds(error, _kinds(error.expected))


def _report_kinds(error: _SchemaError, kinds: list[str]) -> Reports:
    node = error.node
    shape = "a mapping" if isinstance(node, Mapping) else "a list" if isinstance(node, Sequence) else ""
    if shape and "text" in kinds and shape not in kinds:
        is_expression = "true or false" in kinds and error.error.schema != DEFINITIONS["template"]
        one, several = ("an expression", "expressions") if is_expression else ("text", "texts")
        excerpt = _short_flow(node)
        what = f"`{excerpt}` as {shape}" if excerpt else f"{shape} here"
        message = f"{error.name} must be {one}, but YAML reads {what}"
        help = "quote the whole value" + (f", as in `{quoted(excerpt)}`" if excerpt else "")
        help += ", or put it on its own lines after `|`"
        if isinstance(node, Mapping) and node.pairs and not node.is_flow:
            help += f"; the `: ` after `{node.pairs[0][0].text}` makes a key"
        if error.path == ("choices", "distractors"):
            help = "quote the whole list: `distractors: '[n - 1, n + 1]'`"
        if error.path[:1] == ("requires",):
            help = "write one mapping for each requirement, as in `requires: [{extra: images}, {tool: php}]`"
        if "a list" in kinds:
            message = f"{error.name} must be {one} or a list of {several}, but YAML reads {what}"
        yield error.path, error.diagnostic("E306", message, help)
        return
    mend_text: str | None = None
    if isinstance(node, Scalar) and node.text:
        mend_text = _help_for_kind(node, kinds, error.path, error.error.schema.get("pattern", ""))
    if "a mapping" in kinds and isinstance(node, Sequence):
        mend_text = _help_for_list(node, error.path)
    mend_text = mend_text or form_of(error.error.schema, node, error.path)
    if isinstance(node, Scalar) and isinstance(node.value, int) and "." in node.text:
        shape = "a decimal"  # such as 1.0, which has the value of an integer
    shape = shape or (described(data(node)) if data(node) is not None else "nothing")
    yield error.path, error.diagnostic("E203", f"{error.name} must be {or_of(kinds)}; this is {shape}", mend_text)


def _short_flow(node: Node) -> str | None:
    """Return a list or mapping as it was written on one line, or None if it is long or nested.

    >>> _short_flow(Sequence((), Position("a.yaml", 1, 1), is_flow=True))
    '[]'
    """
    if not isinstance(node, (Sequence, Mapping)) or not node.is_flow:
        return None
    parts = [(part,) for part in node.items] if isinstance(node, Sequence) else list(node.pairs)
    scalars = [part for group in parts for part in group]
    if not all(isinstance(part, Scalar) and part.style == "" for part in scalars):
        return None
    text = ", ".join(": ".join(part.text for part in group if isinstance(part, Scalar)) for group in parts)
    text = f"[{text}]" if isinstance(node, Sequence) else f"{{{text}}}"
    return text if len(text) <= LONGEST_FLOW else None


def _help_for_list(node: Sequence, path: Path) -> str | None:
    """Return how to write a mapping in place of a list."""
    if node.items and all(isinstance(item, Mapping) and len(item.pairs) == 1 for item in node.items):
        return "remove the `- ` before each name"
    return "write {type: choice, of: [...]}" if path[:1] == ("params",) and len(path) == 2 else None


def _help_for_kind(node: Scalar, kinds: list[str], path: Path, pattern: str) -> str | None:
    """Return how to write the value of a scalar as the expected kind."""
    key = str(path[0]) if path[:1] in (("params",), ("lists",)) else str(path[-1:])
    if kinds == ["a number"] and set(node.text) & set("/*="):
        return "write a decimal, such as -0.5: expressions are not allowed here"
    if kinds == ["text"]:
        return _pattern_words(pattern)[1] if pattern else f'quote it: "{node.text}"'
    if "a mapping" not in kinds:
        return None
    if node.text in TYPES:
        return f"write {{type: {node.text}, ...}}"
    if key == "params":
        return "write a type such as {type: integer, min: 1, max: 6}; computed values belong under `let`"
    if key == "lists":
        return f"write {{from: {node.text}}}" if "." in node.text else f"write [{node.text}, ...]"
    if "format" in key and node.text in FORMATS:
        return f"write {{kind: {node.text}}}"
    return next((f"write {example}" for name, example in MAPPINGS.items() if path[-1:] == (name,)), None)


MAPPINGS = {
    "answer": "{value: ..., type: ...}", "format": "{kind: xml}", "let": "{name: expression}",
    "mistakes": "{name: expression}", "points": "{correct: 1, skipped: 0, wrong: -1}",
    "requires": "{extra: ...}, {file: ...} or {tool: ...}",
}  # fmt: skip


def _value_text(value: Any) -> str:
    text = plain(value) if isinstance(value, (str, int, Fraction)) else described(value)
    return text if len(text) <= 40 else text[:40] + "..."


def _report_enum(error: _SchemaError) -> Reports:
    allowed = [str(value) for value in error.expected]
    text = _value_text(error.error.instance)
    words = [word or "nothing" for word in allowed]
    help = did_you_mean(text, allowed)
    yield error.path, error.diagnostic("E204", f"{error.name} must be {or_of(words)}; this is `{text}`", help)


def _report_const(error: _SchemaError) -> Reports:
    message = f"{error.name} must be {error.expected}; this is `{_value_text(error.error.instance)}`"
    yield error.path, error.diagnostic("E204", message)


def _report_pattern(error: _SchemaError) -> Reports:
    if error.path[-1:] == ("type",):
        yield error.path, unknown_type(str(error.error.instance), error.place)
        return
    expected, help = _pattern_words(error.expected)
    if error.path == ("skills",):
        text = _value_text(error.error.instance)
        expected, help = "a list or an expression", f"write [{text}]"
        if text[:1] == "[" or text[-1:] == ")":
            help = f'begin an expression with `= `: write "= {text}"'
    message = f"{error.name} must be {expected}; this is `{_value_text(error.error.instance)}`"
    yield error.path, error.diagnostic("E204", message, help)


def unknown_type(name: str, place: Position, declared: Iterable[str] = ()) -> Diagnostic:
    """Return the error for an unknown parameter type."""
    other_name = OTHER_TYPES.get(name.lower())
    help = f"did you mean `{other_name}`?" if other_name else did_you_mean(name, [*TYPES, *declared])
    help = help or "common types are integer, real, string, choice and list; `dia types` lists all"
    return Diagnostic("E401", f"unknown type `{_value_text(name)}`", place, help)


def _report_name(error: _SchemaError) -> Diagnostic:
    """Report a key that is not a valid name here."""
    name, place = str(error.error.instance), error.place
    key = error.node.key(name) if isinstance(error.node, Mapping) else None
    expected, help = _pattern_words(error.expected)
    return error.diagnostic("E204", f"`{_value_text(name)}` must be {expected}", help, key.position if key else place)


def _pattern_words(pattern: str) -> tuple[str, str | None]:
    """Return in words what a pattern of the schemas expects, and how to write it."""
    for begin, expected, help in PATTERNS:
        if pattern.startswith(begin):
            return expected, help
    return f"text that matches {pattern}", None


# The start of a pattern, what it expects in words, and the fix
PATTERNS: tuple[tuple[str, str, str], ...] = (
    ("^= ", "a number or an expression", "write an expression after `= `, as in `= n + 1`"),
    ("^[0-9]+", "a version with three numbers", "write three numbers, such as 1.0.0"),
    ("^[a-z]", "a name of at most 64 lowercase letters, digits and underscores", "start with a letter from a to z"),
    (
        "^[A-Za-z][A-Za-z0-9_]{",
        "a name of at most 64 letters, digits and underscores",
        "start with a letter from a to z",
    ),
    (
        "^[A-Za-z]",
        "a name with its arguments in parentheses",
        "put the arguments in parentheses, as in `double(x)`, or write `name()` if there are none",
    ),
)


SIZES = {
    "minLength": ("characters", "give it a longer value, or remove the key"),
    "minItems": ("elements", "add an element"),
    "minProperties": ("entries", "add an entry"),
}


def _report_empty(error: _SchemaError) -> Reports:
    if error.expected > 1:
        unit, help = SIZES[error.error.validator]
        message = f"{error.name} must have at least {error.expected} {unit}"
    else:
        message, help = f"{error.name} is empty", "give it a value, or remove the key"
    yield error.path, error.diagnostic("E204", message, help)


def _report_bound(error: _SchemaError) -> Reports:
    words = {"minimum": "at least", "maximum": "at most", "exclusiveMinimum": "above"}[error.error.validator]
    message = f"{error.name} must be {words} {error.expected}; this is {_value_text(error.error.instance)}"
    yield error.path, error.diagnostic("E204", message)


# Every keyword that the schemas of specs use (for alternatives and names, see `_diagnostics_of`)
REPORTERS = {
    "additionalProperties": _report_unknown_key,
    "required": _report_missing,
    "type": _report_kind,
    "enum": _report_enum,
    "const": _report_const,
    "pattern": _report_pattern,
    "minItems": _report_empty,
    "minLength": _report_empty,
    "minProperties": _report_empty,
    "minimum": _report_bound,
    "maximum": _report_bound,
    "exclusiveMinimum": _report_bound,
}
