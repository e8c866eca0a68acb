"""The names of a template: where they are declared, which are taken, and functions, macros and faces by name."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from keyword import kwlist

from dia_compiler.parse.model import Catalog, OwnFunction, Shared, Snippet, Template, Variant
from dia_language.diagnostics import Diagnostics, Position
from dia_language.expressions.namespace import Namespace
from dia_language.expressions.syntax import RESERVED
from dia_language.numbers.values import Value
from dia_language.yaml_nodes import Scalar, pairs

CHALLENGE = "challenge"  # in wrappers: the prompt of the template
WRAPPER_NAMES = frozenset({CHALLENGE, "format_instruction", "skip_token", "points"})
PROMPT_NAMES = frozenset({"rounding_rule"})
OPTIONS = "options"  # in prompts of a multiple choice: the lettered list
# Reserved words of the language, of Python's expressions and of Jinja
TAKEN = RESERVED | frozenset(kwlist) | WRAPPER_NAMES | PROMPT_NAMES | {"loop", "self", "super"}
TAKEN_WORDS = "is a reserved name"
RENAME = "choose another name"
VALUES = ("list", "parameter", "let value", "asset", "slot", "reply")


@dataclass(slots=True)
class Declared:
    """A function of the spec, a macro or a face, by its name."""

    name: str
    arguments: tuple[str, ...]
    body: Snippet | None
    is_template: bool
    position: Position
    catalogs: list[Catalog]

    @classmethod
    def of(cls, function: OwnFunction) -> Declared:
        """Return the function or macro of a spec."""
        return cls(function.name, function.arguments, function.body, function.is_template, function.position, [])

    @property
    def is_face(self) -> bool:
        """Whether it is a face, whose body depends on the entry."""
        return self.body is None

    @property
    def arity(self) -> int:
        """The number of arguments, including the entry."""
        return len(self.arguments) + int(self.is_face)

    def bodies(self) -> list[tuple[Snippet, frozenset[str]]]:
        own = frozenset(self.arguments)
        if self.body is not None:
            return [(self.body, own)]
        return [
            (entry.bodies[self.name], own | {parameter.name for parameter in entry.parameters})
            for catalog in self.catalogs
            for entry in catalog.entries
            if self.name in entry.bodies
        ]


def missing(scope: Mapping[str, Value], *arguments: Value) -> Value:
    """A placeholder for a function that did not compile. It is never called, because that is already an error."""
    raise AssertionError("call of a function that did not compile")


class Declarations:
    """Every name of a benchmark and one of its templates; a name that is used twice is reported."""

    def __init__(
        self, template: Template, sources: tuple[Shared, ...], diagnostics: Diagnostics, namespace: Namespace
    ) -> None:
        self.template, self.sources, self.diagnostics, self.namespace = template, sources, diagnostics, namespace
        self.declared: list[tuple[str, str, Position]] = []
        self.functions: dict[str, Declared] = {}
        self.declare()
        self.lists = frozenset(name for shared in sources for name in shared.lists)
        self.parameters = frozenset(parameter.name for parameter in template.parameters)
        self.values = self.lists | self.parameters | frozenset(template.let) | template.broken
        self.assets = frozenset(asset.name for asset in template.assets)
        self.values |= self.assets
        named = frozenset(template.session_spec.replies if template.session_spec is not None else ())
        self.replies = named - self.values - RESERVED  # already reported
        self.values |= named

    def declare(self) -> None:
        """Collect every name of the benchmark and the template, and the functions of the spec."""
        for shared in self.sources:
            for name, kind, place in shared.positions:
                self.add_name(name, kind, place)
            for function in shared.functions:
                self.add_name(function.name, "macro" if function.is_template else "function", function.position)
                if self.check_arguments(function.name, function.arguments, function.position):
                    self.functions.setdefault(function.name, Declared.of(function))
                else:
                    self.namespace.add(function.name, None, missing)
            for name in shared.broken_functions:
                self.namespace.add(name, None, missing)
            for catalog in shared.catalogs:
                self.add_name(catalog.name, "catalog", catalog.position)
                self.declare_faces(catalog)
        for parameter in self.template.parameters:
            self.add_name(parameter.name, "parameter", parameter.position)
        for key, _ in pairs(self.template.node.get("let")):
            self.add_name(key.text, "let value", key.position)
        for key, _ in pairs(self.template.node.get("assets")):
            self.add_name(key.text, "asset", key.position)
        for key, _ in pairs(self.template.node.get("slots")):
            self.add_name(key.text, "slot", key.position)
        self.declare_replies()
        self.check_taken(self.declared)
        for variant in self.template.variants:
            self.declare_variant(variant)

    def declare_replies(self) -> None:
        """Declare the replies. Their names are unique; the names of items may repeat among themselves."""
        session_spec = self.template.session_spec
        if session_spec is None:
            return
        turns = [turn for session in session_spec.sessions for turn in session.turns]
        for turn in turns:
            if turn.reply is not None:
                self.add_name(turn.reply.name, "reply", turn.reply.position)
        loops = [session.loop for session in session_spec.sessions] + [turn.loop for turn in turns]
        loops += [session_spec.truth.loop] if session_spec.truth is not None else []
        self.check_items([loop.variable for loop in loops if loop.variable is not None])

    def check_items(self, items: list[Scalar]) -> None:
        """Check the names of loop items: they must differ from all values, but several loops may use the same name."""
        values = {name: (kind, place) for name, kind, place in reversed(self.declared) if kind in VALUES}
        for item in items:
            if item.text in TAKEN:
                self.diagnostics.error("E309", f"`{item.text}` {TAKEN_WORDS}", item.position, RENAME)
            elif item.text in values:
                kind, place = values[item.text]
                message = f"`{item.text}` is already the name of a {kind} (line {place.line})"
                self.diagnostics.error("E310", message, item.position, RENAME)

    def declare_variant(self, variant: Variant) -> None:
        """Declare the names of a variant, which only this variant sees; two variants may use the same ones."""
        before = len(self.declared)
        for part, kind in (("params", "parameter"), ("let", "let value")):
            for key, _ in pairs(variant.node.get(part)):
                self.add_name(key.text, kind, key.position)
        own, self.declared = self.declared[before:], self.declared[:before]
        self.check_taken(self.declared + own, {place for _, _, place in own})

    def declare_faces(self, catalog: Catalog) -> None:
        """Declare the faces.

        Two catalogs may share a face with the same arguments; the entry determines which one is used.
        """
        for item in catalog.faces:
            function = self.functions.get(item.name)
            if function is not None and function.is_face and function.arguments == item.arguments:
                function.catalogs.append(catalog)
                continue
            self.add_name(item.name, "face", item.position)
            if not self.check_arguments(item.name, item.arguments, item.position):
                self.namespace.add(item.name, None, missing)
                continue
            self.functions.setdefault(
                item.name, Declared(item.name, item.arguments, None, item.is_template, item.position, [catalog])
            )

    def check_arguments(self, name: str, arguments: tuple[str, ...], place: Position) -> bool:
        """Return whether the names of the arguments are free and different; report those that are not."""
        reserved = [argument for argument in arguments if argument in TAKEN]
        for argument in dict.fromkeys(reserved):
            self.diagnostics.error("E309", f"the argument `{argument}` of `{name}` {TAKEN_WORDS}", place, RENAME)
        twice = next((argument for argument in arguments if arguments.count(argument) > 1), None)
        if twice is not None:
            self.diagnostics.error("E310", f"`{twice}` appears twice among the arguments of `{name}`", place, RENAME)
        return not reserved and twice is None

    def add_name(self, name: str, kind: str, place: Position) -> None:
        if name in TAKEN or (name == OPTIONS and self.template.choices is not None):
            self.diagnostics.error("E309", f"`{name}` {TAKEN_WORDS}", place, RENAME)
        self.declared.append((name, kind, place))

    def check_taken(
        self, declarations: list[tuple[str, str, Position]], only: Collection[Position] | None = None
    ) -> None:
        """Report every further declaration of a name, in file order; with `only`, just those at these places."""
        first: dict[str, tuple[str, Position]] = {}
        own = self.template.file
        for name, kind, place in sorted(declarations, key=lambda item: (item[2].file == own, item[2])):
            earlier = first.setdefault(name, (kind, place))
            if earlier[1] != place and (only is None or place in only):
                where = f"line {earlier[1].line}" if earlier[1].file == place.file else f"{earlier[1]}"
                self.diagnostics.error(
                    "E310", f"`{name}` is already the name of a {earlier[0]} ({where})", place, RENAME
                )
