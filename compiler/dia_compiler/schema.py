"""The JSON Schemas of spec files, and their errors in words with positions."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from typing import Any

from dia_runtime.data import data_folder
from dia_runtime.language.diagnostics import Faults, Position, did_you_mean
from dia_runtime.language.values import described

from dia_compiler.read import Mapping, Node, Scalar, Sequence, data
from dia_compiler.spec import PLANNED_KEYS


@cache
def _validator(name: str) -> Any:
    from jsonschema import Draft202012Validator

    text = (data_folder() / "schemas" / f"{name}.schema.json").read_text(encoding="utf-8")
    return Draft202012Validator(json.loads(text))


def check_schema(root: Node, name: str, faults: Faults) -> None:
    """Tells every place where the file departs from the schema `name`."""
    for error in _validator(name).iter_errors(data(root)):
        _tell(error, root, faults)


def _tell(error: Any, root: Node, faults: Faults) -> None:
    path = list(error.absolute_path)
    node, place = _found(root, path)
    if error.validator in ("anyOf", "oneOf") and error.context:
        _tell_branch(error, root, faults)
        return
    teller = TELLERS.get(error.validator)
    if teller is None:
        faults.error("E203", f"{_name(path)}{error.message}", place)
    else:
        teller(error, node, place, path, faults)


def _tell_branch(error: Any, root: Node, faults: Faults) -> None:
    """Of alternatives only the one that suits the value's shape is told; without one, the kinds that would do."""
    suited = [inner for inner in error.context if inner.validator != "type"]
    branch = min((inner.schema_path[0] for inner in suited), default=None)
    if branch is not None:
        for inner in suited:
            if inner.schema_path[0] == branch:
                _tell(inner, root, faults)
        return
    _, place = _found(root, list(error.absolute_path))
    kinds = [kind for inner in error.context for kind in _kinds(inner.validator_value)]
    faults.error("E203", f"{_name(list(error.absolute_path))}must be {_or(dict.fromkeys(kinds))}", place)


def _kinds(value: Any) -> list[str]:
    return [WORDS.get(str(kind), str(kind)) for kind in (value if isinstance(value, list) else [value])]


def _or(words: Iterable[str]) -> str:
    *first, last = list(words)
    return f"{', '.join(first)} or {last}" if first else last


WORDS = {
    "object": "a mapping", "array": "a list", "string": "text", "integer": "an integer", "number": "a number",
    "boolean": "true or false", "null": "nothing",
}  # fmt: skip


def _name(path: list[Any]) -> str:
    names = [part for part in path if isinstance(part, str)]
    return f"`{names[-1]}` " if names else "this file "


def _found(root: Node, path: list[Any]) -> tuple[Node, Position]:
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


def _tell_unknown_key(error: Any, node: Node, place: Position, path: list[Any], faults: Faults) -> None:
    known = list(error.schema.get("properties", {}))
    for key, value in node.pairs if isinstance(node, Mapping) else ():
        if key.text in known:
            continue
        if isinstance(node, Mapping) and node.is_flow and isinstance(value, Scalar) and value.text == "":
            message = f"`{key.text}` stands alone: YAML has split the text before it at a comma"
            faults.error("E306", message, key.position, "put the whole value in quotes")
            continue
        mend = did_you_mean(key.text, known) or f"the keys are {', '.join(known)}"
        faults.error("E201", f"unknown key `{key.text}`", key.position, mend)


def _tell_missing(error: Any, node: Node, place: Position, path: list[Any], faults: Faults) -> None:
    missing = next(name for name in error.validator_value if f"'{name}'" in error.message)
    if isinstance(node, Mapping) and node.get(missing) is not None:
        return
    at = node.pairs[0][0].position if isinstance(node, Mapping) and node.pairs else place
    faults.error("E202", f"`{missing}` is missing", at, f"add `{missing}: ...`")


def _tell_kind(error: Any, node: Node, place: Position, path: list[Any], faults: Faults) -> None:
    kinds = _kinds(error.validator_value)
    if "text" in kinds and isinstance(node, (Sequence, Mapping)):
        shape = "a list" if isinstance(node, Sequence) else "a mapping"
        mend = "put the whole expression in quotes, or on a line of its own after `|`"
        faults.error("E306", f"{_name(path)}is one text, but YAML reads {shape} here", place, mend)
        return
    found = (
        described(data(node)) if isinstance(node, Scalar) else "a list" if isinstance(node, Sequence) else "a mapping"
    )
    faults.error("E203", f"{_name(path)}must be {_or(dict.fromkeys(kinds))}; this is {found}", place)


def _tell_enum(error: Any, node: Node, place: Position, path: list[Any], faults: Faults) -> None:
    allowed = [str(value) for value in error.validator_value]
    mend = did_you_mean(str(error.instance), allowed)
    faults.error("E204", f"{_name(path)}must be {_or(allowed)}; this is `{error.instance}`", place, mend)


def _tell_const(error: Any, node: Node, place: Position, path: list[Any], faults: Faults) -> None:
    faults.error("E204", f"{_name(path)}must be {error.validator_value}; this is `{error.instance}`", place)


def _tell_pattern(error: Any, node: Node, place: Position, path: list[Any], faults: Faults) -> None:
    is_key = "propertyNames" in error.absolute_schema_path
    if is_key and isinstance(node, Mapping):
        key = node.key(str(error.instance))
        place = key.position if key else place
    what = f"the name `{error.instance}`" if is_key else f"{_name(path)}`{error.instance}`"
    mend = _pattern_help(error.validator_value)
    faults.error("E204", f"{what} must match {error.validator_value}", place, mend)


def _pattern_help(pattern: str) -> str | None:
    if r"\(" in pattern:
        return "write a name with its arguments, such as `double(x)`; without arguments `name()`"
    if pattern.startswith("^[a-z]"):
        return "use small letters, digits and _, beginning with a letter"
    return None


TELLERS = {
    "additionalProperties": _tell_unknown_key,
    "required": _tell_missing,
    "type": _tell_kind,
    "enum": _tell_enum,
    "const": _tell_const,
    "pattern": _tell_pattern,
}


def check_planned(root: Mapping, faults: Faults) -> None:
    """Tells keys of the language that this compiler does not have yet."""
    for key, _ in root.pairs:
        if key.text in PLANNED_KEYS:
            message = f"`{key.text}` belongs to the language, but this version of dia does not compile it"
            faults.error("E205", message, key.position)
