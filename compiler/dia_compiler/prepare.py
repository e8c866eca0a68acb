"""Spec -> prepared template: names resolved, order of evaluation found, everything compiled, nothing evaluated."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from dia_runtime.language.diagnostics import DiaError, Diagnostic, Faults, Position, did_you_mean
from dia_runtime.language.expressions import Compiled
from dia_runtime.language.functions import library
from dia_runtime.language.namespace import Namespace, face
from dia_runtime.language.syntax import Parsed, Use, parse
from dia_runtime.language.values import Value

from dia_compiler.declared import PROMPT_NAMES, WRAPPER_NAMES, Declarations, Declared, missing
from dia_compiler.dependencies import Dependencies
from dia_compiler.domains import DatumCode, Maker, compile_datum
from dia_compiler.eaten import compiled
from dia_compiler.read import Sequence
from dia_compiler.render import CompiledTemplate, ParsedTemplate, compile_template, parse_template
from dia_compiler.spec import Benchmark, Catalog, CatalogEntry, Datum, Shared, Snippet, Template
from dia_compiler.types.base import Domain

ENOUGH = 100
CHARACTERS = 300_000
INSTEAD = "compute it from the parameters, or leave it out"


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a draw: a parameter, a let value, a condition, or the point behind a balanced parameter."""

    kind: str
    name: str = ""
    maker: Maker | None = None
    code: Compiled | None = None


@dataclass(slots=True)
class Prepared:
    """A template in which everything is compiled and ordered."""

    benchmark: Benchmark
    template: Template
    namespace: Namespace
    lists: dict[str, DatumCode] = field(default_factory=dict)
    makers: dict[str, Maker] = field(default_factory=dict)
    plan: list[Step] = field(default_factory=list)
    rest: list[tuple[str, Compiled]] = field(default_factory=list)
    after: list[tuple[str, Compiled]] = field(default_factory=list)
    answer: Compiled | None = None
    comparison: DatumCode | None = None
    accept: list[DatumCode] = field(default_factory=list)
    accept_if: Compiled | None = None
    checks: list[Compiled] = field(default_factory=list)
    mistakes: dict[str, Compiled] = field(default_factory=dict)
    prompt: CompiledTemplate | None = None
    wrapper: CompiledTemplate | None = None
    explanation: CompiledTemplate | None = None
    skills: DatumCode | None = None
    entry_makers: dict[tuple[str, str], dict[str, Maker]] = field(default_factory=dict)
    used_functions: set[str] = field(default_factory=set)
    places: dict[int, Position | None] = field(default_factory=dict)
    uses: dict[str, frozenset[str]] = field(default_factory=dict)
    accept_parts: tuple[frozenset[str], dict[str, Any]] | None = None


def prepare(template: Template, benchmark: Benchmark, faults: Faults, lists: Mapping[str, list[str]]) -> Prepared:
    """The prepared template; whatever is wrong with it is added to the faults. `lists` are those read from files."""
    return _Preparation(template, benchmark, faults, lists).run()


class _Enough(Exception):
    """More than ENOUGH faults in one template."""


class _Preparation:
    """The work of `prepare`, one method a part; a part that fails is told and left out."""

    def __init__(
        self, template: Template, benchmark: Benchmark, faults: Faults, lists: Mapping[str, list[str]]
    ) -> None:
        self.template, self.benchmark, self.faults, self.files = template, benchmark, faults, lists
        self.namespace = Namespace()
        self.result = Prepared(benchmark, template, self.namespace)
        self.sources: tuple[Shared, ...] = (benchmark.shared, template.shared)
        self.depends = Dependencies()
        self.catalogs: dict[str, dict[str, Callable[[], dict[str, Domain]]]] = {}
        self.since = len(faults.entries)
        self.characters = 0
        names = Declarations(template, self.sources, faults, self.namespace)
        self.functions, self.values = names.functions, names.values
        self.list_names, self.parameter_names = names.lists, names.parameters
        broken = {name for shared in self.sources for name in shared.broken_catalogs}
        self.catalogs |= {name: {} for name in broken}
        self.has_broken_catalog = bool(broken)

    def run(self) -> Prepared:
        """The prepared template."""
        with suppress(_Enough):
            self.prepare()
        return self.result

    def prepare(self) -> None:
        """All parts in order; stops when there are so many faults that more of them would help nobody."""
        self.check_names()
        self.prepare_lists()
        self.own_functions()
        self.prepare_catalogs()
        self.prepare_parameters()
        lets = self.prepare_lets()
        wheres = self.prepare_wheres()
        self.plan(lets, wheres)
        self.prepare_answer()
        self.prepare_texts()
        self.note_unused()

    def tell(self, found: Iterable[Diagnostic]) -> None:
        """Adds faults; a call of what a broken catalog may have meant to declare is none."""
        self.faults.entries += [entry for entry in found if not (self.has_broken_catalog and entry.code == "E304")]
        if len(self.faults.entries) - self.since > ENOUGH:
            raise _Enough

    # names

    def check_names(self) -> None:
        """Warns where a name hides one of the library."""
        for name, function in self.functions.items():
            if name in library():
                self.warn("shadowed-function", f"`{name}` hides a library function", function.position)

    def warn(self, name: str, message: str, place: Position | None, help: str | None = None) -> None:
        """Adds a health warning, unless the template allows it."""
        if name not in self.template.allow:
            self.faults.warn(name, message, place, help or f"mend it, or allow it: `allow: {{{name}: reason}}`")

    # pieces of code

    def code(
        self,
        piece: Snippet,
        values: frozenset[str],
        arguments: tuple[str, ...] = (),
        entry: frozenset[str] | None = None,
    ) -> Compiled | None:
        """The piece compiled as an expression, or None after telling why not."""
        self.charge(piece)
        try:
            made = compiled(piece, self.namespace, values, arguments, entry)
        except DiaError as error:
            self.tell(error.diagnostics)
            return None
        self.note(made.number, piece, made.parsed.calls + made.parsed.function_names)
        return made

    def template_code(self, piece: Snippet, values: frozenset[str]) -> CompiledTemplate | None:
        """The piece compiled as a template, or None after telling why not."""
        parsed = self.parsed_template(piece)
        return self.compiled_template(parsed, values) if parsed else None

    def charge(self, piece: Snippet) -> None:
        """Refuses more text than can be read in reasonable time."""
        self.characters += len(piece.text)
        if self.characters > CHARACTERS:
            message = f"more than {CHARACTERS} characters of expressions and templates"
            mend = "put data in a list file, or make several templates"
            self.tell([Diagnostic("E107", message, self.template.position, mend)])
            raise _Enough

    def parsed_template(self, piece: Snippet) -> ParsedTemplate | None:
        self.charge(piece)
        try:
            return parse_template(piece)
        except DiaError as error:
            self.tell(error.diagnostics)
            return None

    def compiled_template(self, parsed: ParsedTemplate, values: frozenset[str]) -> CompiledTemplate | None:
        try:
            compiled = compile_template(parsed, self.namespace, values)
        except DiaError as error:
            self.tell(error.diagnostics)
            return None
        self.note(compiled.number, parsed.source, (*parsed.calls, *parsed.function_names))
        return compiled

    def note(self, number: int, piece: Any, calls: Iterable[Use]) -> None:
        self.result.places[number] = piece.place(0)
        self.result.used_functions |= {use.name for use in calls if use.name not in self.functions}

    # lists, functions, catalogs

    def prepare_lists(self) -> None:
        for shared in self.sources:
            for name, datum in shared.lists.items():
                if name in self.files:
                    held = list(self.files[name])
                    self.result.lists[name] = DatumCode(lambda scope, held=held: held, (), (), True)  # type: ignore[misc]
                    continue
                if not isinstance(datum.node, Sequence):
                    continue  # a file that cannot be read, or a wrong shape: both have been told
                try:
                    self.result.lists[name] = compile_datum(datum.node, self.namespace, frozenset())
                except DiaError as error:
                    self.tell(error.diagnostics)

    def own_functions(self) -> None:
        """Compiles own functions, macros and faces, each after those that it calls."""
        done: set[str] = set()
        for name in self.functions:
            self.own_function(name, done, ())

    def own_function(self, name: str, done: set[str], inside: tuple[str, ...]) -> None:
        function = self.functions[name]
        if name in inside:
            circle = [*inside[inside.index(name) :], name]
            message = f"functions that call each other in a circle: {' -> '.join(circle)}"
            message = f"`{name}` calls itself" if len(circle) == 2 else message
            self.faults.error("E307", message, function.position, "use `iterate`, `reduce` or `fixpoint` for loops")
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
        self.namespace.add(name, function.arity, self.compiled_function(function) or missing)

    def parsed_part(
        self, body: tuple[Snippet, frozenset[str]], is_template: bool
    ) -> tuple[Snippet, list[Use], list[Use]]:
        """A body with the names that are not its own and the functions that it calls; faults are told later."""
        piece, own = body
        self.charge(piece)
        try:
            if is_template:
                found = parse_template(piece)
                names, calls = list(found.names), [*found.calls, *found.function_names]
            else:
                tree = parse(piece)
                names, calls = tree.names, [*tree.calls, *tree.function_names]
        except DiaError:
            return piece, [], []
        return piece, [use for use in names if use.name not in own], calls

    def compiled_function(self, function: Declared) -> Callable[..., Value] | None:
        """The function as a callable of scope and arguments."""
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
                made = self.face_body(entry, body, function, values) if body else None
                if made is not None:
                    table[(catalog.name, entry.name)] = made
        return face(function.name, table)

    def macro(self, body: Snippet, arguments: tuple[str, ...], values: frozenset[str]) -> Callable[..., Value] | None:
        compiled = self.template_code(body, values | frozenset(arguments))
        if compiled is None:
            return None
        return lambda scope, *given: compiled.render({**scope, **dict(zip(arguments, given, strict=True))}, scope)

    def face_body(
        self, entry: CatalogEntry, body: Snippet, function: Declared, values: frozenset[str]
    ) -> Callable[..., Value] | None:
        own = frozenset(parameter.name for parameter in entry.parameters) | entry.broken
        if not function.is_template:
            compiled = self.code(body, values, function.arguments, own)
            return compiled.call if compiled else None
        template = self.template_code(body, values | own | frozenset(function.arguments))
        if template is None:
            return None
        arguments = function.arguments

        def rendered(scope: Mapping[str, Value], held: Mapping[str, Value], *given: Value) -> str:
            return template.render({**scope, **held, **dict(zip(arguments, given, strict=True))}, scope)

        return rendered

    def prepare_catalogs(self) -> None:
        """Makers of the parameters of every entry; they may use lists and earlier parameters of their entry."""
        for shared in self.sources:
            for catalog in shared.catalogs:
                self.catalogs[catalog.name] = {
                    entry.name: self.entry_domains(catalog, entry) for entry in catalog.entries
                }

    def entry_domains(self, catalog: Catalog, entry: CatalogEntry) -> Callable[[], dict[str, Domain]]:
        makers: dict[str, Maker] = {}
        for parameter in entry.parameters:
            maker = self.maker(parameter.type, self.list_names, parameter.name)
            if maker is not None:
                makers[parameter.name] = maker
        self.result.entry_makers[(catalog.name, entry.name)] = makers
        scope: dict[str, Value] = {}

        def domains() -> dict[str, Domain]:
            if not scope:
                scope.update({name: code.evaluate({}) for name, code in self.result.lists.items()})
            return {name: maker.make(scope) for name, maker in makers.items()}

        return domains

    def maker(self, use: Any, values: frozenset[str], name: str) -> Maker | None:
        try:
            maker = Maker(use, self.namespace, values, self.catalogs, name)
        except DiaError as error:
            self.tell(error.diagnostics)
            return None
        self.result.used_functions |= {call.name for _, call in maker.calls if call.name not in self.functions}
        return maker

    # what depends on what

    def prepare_parameters(self) -> None:
        for parameter in self.template.parameters:
            maker = self.maker(parameter.type, self.values | {"answer"}, parameter.name)
            if maker is not None:
                self.result.makers[parameter.name] = maker

    def prepare_lets(self) -> dict[str, Compiled]:
        """The let values compiled, and told where they are made of each other in a circle."""
        lets: dict[str, Compiled] = {}
        for name, piece in self.template.let.items():
            made = self.code(piece, self.values | {"answer"})
            if made is not None:
                lets[name] = made
                self.depends.lets[name] = self.depends.used(made.parsed)
        for name in lets:
            circle = self.depends.circle(name)
            if circle:
                places = "; ".join(f"`{part}` on line {self.template.let[part].position.line}" for part in circle[:-1])
                message = f"cycle: {' -> '.join(circle)} ({places})"
                message = f"`{name}` is made of itself" if len(circle) == 2 else message
                self.faults.error("E307", message, self.template.let[name].position, "compute one of them otherwise")
                for part in circle:
                    self.depends.lets[part] = frozenset()
        return lets

    def prepare_wheres(self) -> list[tuple[Compiled, frozenset[str]]]:
        found = []
        for piece in self.template.where:
            made = self.code(piece, self.values | spoken(piece))
            if made is not None and not self.leaks(made.parsed, piece, "a condition on parameters"):
                found.append((made, self.depends.base(self.depends.used(made.parsed)) & self.parameter_names))
        return found

    def plan(self, lets: dict[str, Compiled], wheres: list[tuple[Compiled, frozenset[str]]]) -> None:
        """Orders the draw: each parameter, then the conditions whose names are drawn, with the let values they need."""
        drawn: set[str] = set()
        computed: set[str] = set()
        waiting = list(wheres)
        plan = self.result.plan
        self.place_wheres(waiting, drawn, computed, lets)
        for parameter in self.template.parameters:
            maker = self.result.makers.get(parameter.name)
            if maker is None:
                drawn.add(parameter.name)
                continue
            needed = self.depends.needed(maker)
            if not self.check_order(parameter.name, maker, needed, drawn):
                self.place_lets(needed, computed, lets)
            plan.append(Step("draw", parameter.name, maker))
            drawn.add(parameter.name)
            self.place_wheres(waiting, drawn, computed, lets)
            if self.template.balance is not None and self.template.balance.text == parameter.name:
                plan.append(Step("balance"))
        self.check_balance()
        late = {name for name in lets if "answer" in self.depends.base([name])}
        self.result.rest = [(n, lets[n]) for n in self.depends.ordered(set(lets) - computed - late)]
        self.result.after = [(n, lets[n]) for n in self.depends.ordered(late)]

    def check_balance(self) -> None:
        scalar = self.template.balance
        if scalar is not None and scalar.text not in self.parameter_names:
            mend = did_you_mean(scalar.text, self.parameter_names)
            self.faults.error("E303", f"`{scalar.text}` is not a parameter", scalar.position, mend)

    def check_order(self, name: str, maker: Maker, needed: frozenset[str], drawn: set[str]) -> bool:
        """Tells parameters that are used before they are drawn; whether there were any."""
        bases = self.depends.base(needed)
        late = sorted((bases & self.parameter_names) - drawn - {name})
        if name in bases:
            late = [name]
        if "answer" in bases:
            late = ["answer"]
        for other in late:
            places = (
                piece.place(use.offset)
                for piece, use in (*maker.uses, *maker.calls)
                if other in self.depends.base([use.name, *self.depends.functions.get(use.name, ())])
            )
            place = next(places, maker.use.position)
            if other == "answer":
                message = f"`{name}` depends on the answer, which is made of parameters"
                self.faults.error("E308", message, place, INSTEAD)
            elif other == name:
                mend = "only the type's own `where` sees the value"
                self.faults.error("E307", f"`{name}` is made of itself", place, mend)
            else:
                message = f"`{name}` needs `{other}`, which is not drawn yet"
                self.faults.error("E307", message, place, f"put `{other}` before `{name}`")
        return bool(late)

    def place_wheres(
        self,
        waiting: list[tuple[Compiled, frozenset[str]]],
        drawn: set[str],
        computed: set[str],
        lets: dict[str, Compiled],
    ) -> None:
        for entry in list(waiting):
            compiled, needs = entry
            if needs <= drawn:
                waiting.remove(entry)
                self.place_lets(self.depends.used(compiled.parsed), computed, lets)
                self.result.plan.append(Step("where", code=compiled))

    def place_lets(self, names: Iterable[str], computed: set[str], lets: dict[str, Compiled]) -> None:
        needed = self.depends.base(names) & set(lets)
        for name in self.depends.ordered(set(needed) - computed):
            self.result.plan.append(Step("let", name, code=lets[name]))
            computed.add(name)

    # answer and texts

    def prepare_answer(self) -> None:
        answer = self.template.answer
        with_answer = self.values | {"answer"}
        if answer is not None:
            self.result.answer = self.code(answer.value, self.values | spoken(answer.value))
            if self.result.answer is not None:
                tree = self.result.answer.parsed
                self.leaks(tree, answer.value, "the answer itself")
                self.result.uses["answer"] = self.depends.base(self.depends.used(tree))
            self.result.comparison = self.datum(answer.comparison, "the options of the answer")
            self.result.accept = [made for datum in answer.accept if (made := self.datum(datum)) is not None]
            if answer.accept_if is not None:
                self.result.accept_if = self.code(answer.accept_if, with_answer | {"reply"})
        checks = (self.code(piece, with_answer) for piece in self.template.checks)
        self.result.checks = [code for code in checks if code is not None]
        for name, piece in self.template.mistakes.items():
            code = self.code(piece, with_answer)
            if code is not None:
                self.result.mistakes[name] = code

    def datum(self, datum: Datum, shown_in: str = "") -> DatumCode | None:
        """The datum compiled, or None after telling why not; it must not depend on the answer if it is shown."""
        try:
            made = compile_datum(datum.node, self.namespace, self.values | {"answer"})
        except DiaError as error:
            self.tell(error.diagnostics)
            return None
        if shown_in:
            for piece, use in (*made.uses, *made.calls):
                if "answer" in self.depends.base([use.name, *self.depends.functions.get(use.name, ())]):
                    self.tell_leak(piece, use, shown_in)
        return made

    def prepare_texts(self) -> None:
        template = self.template
        if template.prompt is not None:
            self.result.prompt = self.shown_template(template.prompt, self.values | PROMPT_NAMES)
        if template.explanation is not None:
            values = self.values | PROMPT_NAMES | {"answer"}
            self.result.explanation = self.template_code(template.explanation, values)
        if self.benchmark.prompt is not None:
            self.result.wrapper = self.wrapper(self.benchmark.prompt)
        if template.skills is not None:
            self.result.skills = self.datum(template.skills, "`skills`")

    def shown_template(self, piece: Snippet, values: frozenset[str]) -> CompiledTemplate | None:
        """A template that the model reads: nothing in it may depend on the answer."""
        tree = self.parsed_template(piece)
        if tree is None:
            return None
        self.result.uses["prompt"] = self.depends.base(self.depends.used(tree))
        has_leak = self.leaks(tree, piece, "a prompt")
        made = self.compiled_template(tree, values | spoken(piece))
        return None if has_leak else made

    def wrapper(self, piece: Snippet) -> CompiledTemplate | None:
        """The benchmark's wrapper: it and what it calls see only what is the same for all templates."""
        tree = self.parsed_template(piece)
        if tree is None:
            return None
        for use in (*tree.calls, *tree.function_names):
            unseen = sorted(self.depends.base(self.depends.functions.get(use.name, ())) - self.list_names)
            if unseen:
                message = f"the wrapper does not see `{unseen[0]}`, which `{use.name}` uses"
                mend = "call it in the prompt of the template"
                self.tell([Diagnostic("E303", message, piece.place(use.offset), mend)])
                return None
        return self.compiled_template(tree, WRAPPER_NAMES | self.list_names)

    def leaks(self, tree: Parsed | ParsedTemplate, piece: Snippet, what: str) -> bool:
        """Tells each part of a piece that depends on the answer although it must not; whether there is any."""
        found = [use for use in tree.names if "answer" in self.depends.base([use.name])]
        calls = [*tree.calls, *tree.function_names]
        found += [use for use in calls if "answer" in self.depends.base(self.depends.functions.get(use.name, ()))]
        for use in found:
            self.tell_leak(piece, use, what)
        return bool(found)

    def tell_leak(self, piece: Snippet, use: Use, what: str) -> None:
        """One part that depends on the answer where it must not."""
        is_call = use.name in self.functions and use.name not in self.values
        words = "" if use.name == "answer" else " uses the answer and" if is_call else " depends on the answer and"
        message = f"`{use.name}`{words} cannot stand in {what}"
        self.tell([Diagnostic("E308", message, piece.place(use.offset), INSTEAD)])

    def note_unused(self) -> None:
        """Warns of parameters that neither the prompt nor the answer uses."""
        if self.faults.errors or self.result.prompt is None or self.result.answer is None:
            return
        used = set(self.result.uses.get("prompt", ())) | set(self.result.uses.get("answer", ()))
        if self.result.comparison is not None:
            used |= self.depends.base(use.name for _, use in self.result.comparison.uses)
        for maker in self.result.makers.values():
            used |= self.depends.base(self.depends.needed(maker))
        for parameter in self.template.parameters:
            if parameter.name not in used:
                message = f"the parameter `{parameter.name}` is used by neither prompt nor answer"
                self.warn("unused-parameter", message, parameter.position)


def spoken(piece: Snippet) -> frozenset[str]:
    """The answer's name where a piece that must not speak of the answer does: as a leak, not as an unknown name."""
    return frozenset({"answer"}) if "answer" in piece.text else frozenset()
