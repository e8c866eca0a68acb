"""Benchmark, template, parameter and answer, the data model of all stages."""

from __future__ import annotations

from collections.abc import Mapping as Map
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from dia_compiler.types.tables import Table
from dia_language.diagnostics import Position
from dia_language.numbers.values import Value
from dia_language.yaml_nodes import Mapping, Node, Scalar, pairs

if TYPE_CHECKING:
    from dia_compiler.parse.sessions.model import SessionSpec


@dataclass(frozen=True, slots=True)
class Snippet:
    """The text of an expression or template with its origin; `shift` characters of the scalar come before it.

    `flow` is where the flow list that contains it begins.
    """

    text: str
    origin: Scalar
    shift: int = 0
    flow: Position | None = None

    def place(self, offset: int) -> Position:
        """Return the position of the character in its file."""
        return self.origin.place(offset + self.shift)

    @property
    def position(self) -> Position:
        """Where the piece begins."""
        return self.place(0)


@dataclass(frozen=True, slots=True)
class Datum:
    """A value as YAML reads it; texts inside that begin with `= ` are expressions."""

    node: Node

    @property
    def position(self) -> Position:
        return self.node.position


@dataclass(frozen=True, slots=True)
class TypeUse:
    """A use of a parameter type: named types are already resolved to built-in ones."""

    kind: str
    options: Map[str, Option]
    where: tuple[Snippet, ...]
    position: Position


@dataclass(frozen=True, slots=True)
class DataFile:
    """The content of a data file that an option names."""

    table: Table
    position: Position


Option = Datum | TypeUse | tuple[TypeUse, ...] | dict[str, TypeUse] | Scalar | DataFile


@dataclass(frozen=True, slots=True)
class Parameter:
    """A named, typed, mutable value of a template."""

    name: str
    type: TypeUse
    position: Position


@dataclass(frozen=True, slots=True)
class OwnFunction:
    """A function or macro of a spec; the body is an expression or a template."""

    name: str
    arguments: tuple[str, ...]
    body: Snippet
    is_template: bool
    position: Position


@dataclass(frozen=True, slots=True)
class Face:
    """What every entry of a catalog can do: a function whose last argument is the entry."""

    name: str
    arguments: tuple[str, ...]
    is_template: bool
    position: Position


@dataclass(frozen=True, slots=True)
class CatalogEntry:
    """An entry: its own parameters and one body for each face."""

    name: str
    parameters: tuple[Parameter, ...]
    bodies: Map[str, Snippet]
    position: Position
    broken: frozenset[str] = frozenset()
    group: str | None = None
    holds: tuple[Datum, ...] = ()
    fails: tuple[Datum, ...] = ()


@dataclass(frozen=True, slots=True)
class Catalog:
    """A set of entries with several faces."""

    name: str
    faces: tuple[Face, ...]
    entries: tuple[CatalogEntry, ...]
    position: Position

    def facts(self, entry: CatalogEntry) -> dict[str, str]:
        """What an entry provides in every instance: its group, and its faces without arguments as written."""
        faces = {face.name: entry.bodies[face.name].text for face in self.faces
                 if not face.arguments and face.name in entry.bodies}  # fmt: skip
        return faces if entry.group is None else {"group": entry.group, **faces}


@dataclass(frozen=True, slots=True)
class Shared:
    """The declarations that benchmarks and templates share; `broken` names are declared, but have reported errors."""

    types: Map[str, Mapping]
    lists: Map[str, Datum]
    functions: tuple[OwnFunction, ...]
    catalogs: tuple[Catalog, ...]
    positions: tuple[tuple[str, str, Position], ...]
    broken_functions: frozenset[str] = frozenset()
    broken_catalogs: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Answer:
    """How the answer is computed, read and compared."""

    value: Snippet
    comparison: Datum
    accept: tuple[Datum, ...]
    accept_if: Snippet | None
    position: Position
    share: Snippet | None = None
    unanswerable: Snippet | None = None


@dataclass(frozen=True, slots=True)
class Choices:
    """The options of a multiple choice: correct option, distractors, whether they are shuffled, skip option."""

    correct: Snippet
    distractors: Snippet
    is_shuffled: bool
    skip: Scalar | None
    position: Position


@dataclass(frozen=True, slots=True)
class Variant:
    """Another wording of the same instances: texts around or instead of the prompt, new names, redrawn parameters."""

    name: str
    parameters: tuple[Parameter, ...]
    let: Map[str, Snippet]
    slots: Map[str, Snippet]
    prompt: Snippet | None
    prepend: Snippet | None
    append: Snippet | None
    redraw: tuple[Scalar, ...]
    node: Mapping
    position: Position
    sessions: tuple[Scalar, ...] = ()


# An option of an asset: data, a template, or a list of both
AssetOption = Datum | Snippet | tuple[Datum | Snippet, ...]


@dataclass(frozen=True, slots=True)
class Asset:
    """A file that is built for each instance: its builder and options."""

    name: str
    build: Scalar
    options: Map[str, AssetOption]
    position: Position


@dataclass(frozen=True, slots=True)
class Example:
    """A worked example: fixed parameters and the expected results."""

    params: Map[str, Datum]
    answer: Datum | None
    accepts: tuple[Datum, ...]
    rejects: tuple[Datum, ...]
    replies: Map[str, tuple[Scalar, ...]]
    position: Position
    chain: Scalar | None = None  # that reads the replies


NAMING = frozenset({"params", "let", "assets", "slots", "deliver"})  # parts of a file whose keys are names


@dataclass(frozen=True, slots=True)
class Template:
    """One question family."""

    name: str
    file: str
    facts: Map[str, Value]
    skills: Datum | None
    shared: Shared
    parameters: tuple[Parameter, ...]
    let: Map[str, Snippet]
    where: tuple[Snippet, ...]
    balance: Scalar | None
    each: Scalar | None
    instances: Value
    is_boundary_first: bool
    answer: Answer | None
    choices: Choices | None
    checks: tuple[Snippet, ...]
    mistakes: Map[str, Snippet]
    prompt: Snippet | None
    slots: Map[str, Snippet]
    variants: tuple[Variant, ...]
    explanation: Snippet | None
    examples: tuple[Example, ...]
    requires: tuple[tuple[Scalar, Scalar], ...]
    allow: Map[str, Scalar]
    limits: Map[str, Value]
    node: Mapping
    position: Position
    assets: tuple[Asset, ...] = ()
    deliver: Map[str, str] = field(default_factory=dict)
    session_spec: SessionSpec | None = None

    @property
    def broken(self) -> frozenset[str]:
        """Parameters, let values and assets of the wrong shape: already reported, but their names are known."""
        named = {key.text for part in ("params", "let", "assets") for key, _ in pairs(self.node.get(part))}
        declared = {parameter.name for parameter in self.parameters} | {asset.name for asset in self.assets}
        return frozenset(named - declared - set(self.let))

    @property
    def folded(self) -> Template:
        """Return the template with only the nodes that are needed later, which halves what is sent to workers."""
        parts = [(key, _keys_alone(value)) for key, value in self.node.pairs if key.text in NAMING]
        return replace(self, node=Mapping(tuple(parts), self.node.position, self.node.is_flow))


def _keys_alone(node: Node) -> Node:
    """Return the mapping with its keys in place of the values; anything else unchanged."""
    if not isinstance(node, Mapping):
        return node
    return Mapping(tuple((key, key) for key, _ in node.pairs), node.position, node.is_flow)


@dataclass(frozen=True, slots=True)
class Benchmark:
    """The settings that all templates of a benchmark share, and the templates."""

    name: str
    folder: str
    file: str
    facts: Map[str, Value]
    prompt: Snippet | None
    shared: Shared
    templates: tuple[Template, ...] = field(default=())
