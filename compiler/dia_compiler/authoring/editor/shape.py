"""What the editor schema says about a position in a spec file: keys, values, and the kind of text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

from dia_compiler.authoring.editor.cursor import KeyPath, node_at
from dia_compiler.authoring.editor_schemas import editor_schema
from dia_compiler.parse.model_builder import EXPRESSION_MARK
from dia_language.json_schema import Schema
from dia_language.yaml_nodes import Mapping, Node, Scalar, data
from jsonschema import Draft202012Validator

EXPRESSION, TEMPLATE, DATA = "expression", "template", "data"
LIST_OF_EXPRESSIONS: Final = "expressions"  # definitions of the schemas
EXPRESSIONS: Final = frozenset({"expression", LIST_OF_EXPRESSIONS})
TEMPLATES: Final = frozenset({"template", "slot"})


@dataclass(frozen=True, slots=True)
class Place:
    """The schemas that apply to a position, the outermost first, and the names of their definitions."""

    schemas: tuple[Schema, ...] = ()
    definitions: frozenset[str] = frozenset()

    @property
    def description(self) -> str | None:
        """What the schema says about the place."""
        return next((schema["description"] for schema in self.schemas if schema.get("description")), None)

    @property
    def keys(self) -> dict[str, Schema]:
        """The keys that a mapping may have here, each with its schema."""
        keys: dict[str, Schema] = {}
        for schema in self.schemas:
            for name, inner in schema.get("properties", {}).items():
                if not (name in keys and keys[name].get("description")):
                    keys[name] = inner
        for schema in self.schemas:
            names = schema.get("propertyNames", {}).get("enum")
            if names is not None:
                keys = {name: inner for name, inner in keys.items() if name in names}
        return keys

    @property
    def values(self) -> list[str]:
        """The values that the schema lists."""
        values: list[Any] = [value for schema in self.schemas for value in schema.get("enum", ())]
        values += [schema["const"] for schema in self.schemas if "const" in schema]
        if any("boolean" in _types(schema) and len(_types(schema)) == 1 for schema in self.schemas):
            values += [True, False]
        words = {True: "true", False: "false"}
        texts = [words[value] if isinstance(value, bool) else str(value) for value in values]
        return [text for text in dict.fromkeys(texts) if text]


def _types(schema: Schema) -> list[str]:
    kind = schema.get("type", [])
    return [kind] if isinstance(kind, str) else kind


@dataclass(slots=True)
class Shape:
    """The schema of one kind of file: `template`, `benchmark` or `catalog`."""

    schema: Schema
    validator: Any = field(init=False)

    def __post_init__(self) -> None:
        self.validator = Draft202012Validator(self.schema)

    def place(self, root: Node, path: KeyPath) -> Place:
        """Return what is known about the place that a path leads to."""
        node: Node | None = root
        reached = list(self._flat(self.schema, node))
        for at, part in enumerate(path):
            node = node_at(root, path[: at + 1])
            reached = [inner for _, schema in reached for child in _children(schema, part)
                       for inner in self._flat(child, node)]  # fmt: skip
        return Place(tuple(schema for _, schema in reached), frozenset(name for name, _ in reached if name))

    def _flat(self, schema: Schema, node: Node | None) -> Iterator[tuple[str, Schema]]:
        """Yield the schema and all referenced schemas that apply to the node, with the names of definitions."""
        yield "", schema
        if "$ref" in schema:
            name = schema["$ref"].rpartition("/")[2]
            yield name, {}
            yield from self._flat(self.schema["$defs"][name], node)
        for inner in (*schema.get("allOf", ()), *schema.get("anyOf", ()), *schema.get("oneOf", ())):
            yield from self._flat(inner, node)
        if "if" in schema and node is not None:
            is_met = self.validator.evolve(schema=schema["if"]).is_valid(data(node))
            branch = schema.get("then" if is_met else "else")
            if branch is not None:
                yield from self._flat(branch, node)

    def kind(self, root: Node, path: KeyPath, text: str) -> str:
        """Return what a value is: an expression, a template, or data, which may contain an expression after `= `."""
        definitions = self.place(root, path).definitions
        if path and isinstance(path[-1], int) and LIST_OF_EXPRESSIONS in self.place(root, path[:-1]).definitions:
            return EXPRESSION
        if definitions & EXPRESSIONS:
            return EXPRESSION
        if definitions & TEMPLATES:
            return TEMPLATE
        face = _face(root, path)
        if face is not None:
            return face
        if text.startswith(EXPRESSION_MARK):
            return EXPRESSION
        return TEMPLATE if "assets" in path[:-2] and "{{" in text else DATA


def shift(text: str, kind: str) -> int:
    """Return how many characters of a value come before its expression."""
    return len(EXPRESSION_MARK) if kind == EXPRESSION and text.startswith(EXPRESSION_MARK) else 0


def _face(root: Node, path: KeyPath) -> str | None:
    """Return the kind of the face of a catalog's entry at a path; None if there is none."""
    if len(path) < 3 or path[-3] != "entries":
        return None
    faces = node_at(root, (*path[:-3], "faces"))
    for key, value in faces.pairs if isinstance(faces, Mapping) else ():
        if key.text.partition("(")[0] == path[-1] and isinstance(value, Scalar):
            return value.text if value.text in (EXPRESSION, TEMPLATE) else None
    return None


def _children(schema: Schema, part: str | int) -> Iterator[Schema]:
    if isinstance(part, int):
        if isinstance(schema.get("items"), dict):
            yield schema["items"]
    elif part in schema.get("properties", {}):
        yield schema["properties"][part]
    elif isinstance(schema.get("additionalProperties"), dict):
        yield schema["additionalProperties"]


@lru_cache(maxsize=8)
def shape_of(file: str, named_types: tuple[str, ...]) -> Shape:
    """Return the shape of a kind of file in a benchmark that declares these parameter types."""
    return Shape(editor_schema(file, installed=True, named_types=named_types))
