"""The lists, functions, macros, faces and catalogs of a spec, which its expressions can use besides parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from dia_compiler.analyze.domains import DatumCode, Maker, compile_datum
from dia_compiler.analyze.names import Declared, missing
from dia_compiler.analyze.snippets import Ahead, Pieces
from dia_compiler.parse.model import Catalog, CatalogEntry, Snippet
from dia_compiler.types.base import Domain
from dia_compiler.types.structures import CatalogDomain
from dia_language.diagnostics import DiaError
from dia_language.expressions.namespace import face
from dia_language.expressions.syntax import Use, parse
from dia_language.functions import FUNCTIONS
from dia_language.numbers.values import Value
from dia_language.templates.templates import parse_template
from dia_language.yaml_nodes import Sequence

SIBLINGS = (
    "the parameters of a catalog entry do not see each other: draw values that depend on each other as one parameter, "
    "such as a list with a `where`"
)


class OwnFunctions(Pieces):
    """Compiles the declarations of a benchmark and its template, each after those that it uses."""

    def check_names(self) -> None:
        """Warn of names that hide a function of the library."""
        for name, function in self.functions.items():
            if name in FUNCTIONS:  # not of plug-ins, which would all have to be loaded
                self.warn("shadowed-function", f"`{name}` hides a library function", function.position)

    def prepare_lists(self) -> None:
        for shared in self.sources:
            for name, datum in shared.lists.items():
                if name in self.files:
                    items = list(self.files[name])
                    self.result.lists[name] = DatumCode(lambda scope, items=items: items, (), (), True)  # type: ignore[misc]
                    continue
                if not isinstance(datum.node, Sequence):
                    continue  # the file cannot be read, or has the wrong shape; both have been reported
                try:
                    self.result.lists[name] = compile_datum(datum.node, self.namespace, frozenset())
                    self.check_programs(self.result.lists[name].calls)
                except DiaError as error:
                    self.add_diagnostics(error.diagnostics)

    def own_functions(self) -> None:
        """Compile the spec's functions, macros and faces, each after those that it calls."""
        done: set[str] = set()
        for name in self.functions:
            self.own_function(name, done, ())

    def own_function(self, name: str, done: set[str], inside: tuple[str, ...]) -> None:
        function = self.functions[name]
        if name in inside:
            circle = [*inside[inside.index(name) :], name]
            message = f"functions call each other in a cycle: {' -> '.join(circle)}"
            message = f"`{name}` calls itself" if len(circle) == 2 else message
            self.diagnostics.error(
                "E307",
                message,
                function.position,
                "use `iterate`, `reduce` or `fixpoint` for loops, `search` or `reachable` to try possibilities",
            )
            done.add(name)
            self.depends.functions[name] = frozenset()
            self.namespace.add(name, function.arity, missing)
            return
        if name in done:
            return
        done.add(name)
        parts = [self.parsed_part(body, function.is_template) for body in function.bodies()]
        for _, _, calls in parts:
            for use in calls:
                if use.name in self.functions:
                    self.own_function(use.name, done, (*inside, name))
        self.depends.functions[name] = frozenset().union(
            *(self.depends.reached(names, calls) for _, names, calls in parts)
        )
        if any(self.starts_programs(calls) for _, _, calls in parts):
            self.runners.add(name)
        depends_on_instance = bool(self.depends.functions[name] - self.list_names)  # lists are the same in all
        is_pure = not function.is_template and name not in self.runners and not depends_on_instance
        compiled = self.compiled_function(function)
        self.namespace.add(name, function.arity, compiled or missing, is_pure and function.body is not None)

    def parsed_part(
        self, body: tuple[Snippet, frozenset[str]], is_template: bool
    ) -> tuple[Snippet, list[Use], list[Use]]:
        """Return a body with its free names and the functions that it calls; errors are reported later."""
        piece, own = body
        self.charge(piece)
        try:
            parsed = parse_template(piece, self.replies - own) if is_template else parse(piece)
        except DiaError:
            return piece, [], []
        self.ahead[id(piece)] = Ahead(piece, self.replies - own, parsed)
        return piece, [use for use in parsed.names if use.name not in own], [*parsed.calls, *parsed.function_names]

    def compiled_function(self, function: Declared) -> Callable[..., Value] | None:
        """Return the function as a callable of scope and arguments."""
        values = self.values | {"answer"}
        if function.body is not None:
            if function.is_template:
                return self.macro(function.body, function.arguments, values)
            compiled = self.code(function.body, values, function.arguments)
            return compiled.call if compiled else None
        table = {}
        for catalog in function.catalogs:
            for entry in catalog.entries:
                body = entry.bodies.get(function.name)
                code = self.face_body(entry, body, function, values) if body else None
                if code is not None:
                    table[(catalog.name, entry.name)] = code
        return face(function.name, table)

    def macro(self, body: Snippet, arguments: tuple[str, ...], values: frozenset[str]) -> Callable[..., Value] | None:
        compiled = self.template_code(body, values | frozenset(arguments), frozenset(arguments))
        if compiled is None:
            return None
        return lambda scope, *values: compiled.render({**scope, **dict(zip(arguments, values, strict=True))}, scope)

    def face_body(
        self, entry: CatalogEntry, body: Snippet, function: Declared, values: frozenset[str]
    ) -> Callable[..., Value] | None:
        own = frozenset(parameter.name for parameter in entry.parameters) | entry.broken
        if not function.is_template:
            compiled = self.code(body, values, function.arguments, own)
            return compiled.call if compiled else None
        inner = own | frozenset(function.arguments)
        parsed = self.parsed_template(body, inner)
        template = self.compiled_template(parsed, values | inner) if parsed else None
        if parsed is None or template is None:
            return None
        arguments = function.arguments
        sees_more = any(use.name not in inner for use in parsed.names)

        def rendered(scope: Mapping[str, Value], entry_values: Mapping[str, Value], *argument_values: Value) -> str:
            visible = {**scope, **entry_values} if sees_more else entry_values
            if argument_values or arguments:
                visible = {**visible, **dict(zip(arguments, argument_values, strict=True))}
            return template.render(visible, scope)

        return rendered

    def prepare_catalogs(self) -> None:
        """Make the makers of the parameters of every entry; these may use lists."""
        for shared in self.sources:
            for catalog in shared.catalogs:
                entries = {entry.name: self.entry_domains(catalog, entry) for entry in catalog.entries}
                facts = {entry.name: catalog.facts(entry) for entry in catalog.entries}
                self.catalogs[catalog.name] = CatalogDomain(catalog.name, entries, facts)

    def explain_siblings(self, entry: CatalogEntry, since: int) -> None:
        """Give unknown names in parameters of the entry that are other parameters of it their own help."""
        messages = {f"unknown name `{parameter.name}`" for parameter in entry.parameters}
        entries = self.diagnostics.entries
        entries[since:] = [
            replace(error, help=SIBLINGS) if error.message in messages else error for error in entries[since:]
        ]

    def entry_domains(self, catalog: Catalog, entry: CatalogEntry) -> Callable[[], dict[str, Domain]]:
        makers: dict[str, Maker] = {}
        since = len(self.diagnostics.entries)
        for parameter in entry.parameters:
            maker = self.maker(parameter.type, self.list_names, parameter.name)
            if maker is not None:
                makers[parameter.name] = maker
        self.explain_siblings(entry, since)
        self.result.entry_makers[(catalog.name, entry.name)] = makers
        if not makers:
            return dict  # most entries have no parameters and are drawn thousands of times
        scope: dict[str, Value] = {}

        def domains() -> dict[str, Domain]:
            if not scope:
                scope.update({name: code.evaluate({}) for name, code in self.result.lists.items()})
            return {name: maker.make(scope) for name, maker in makers.items()}

        return domains
