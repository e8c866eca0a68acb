"""Compile the pieces of a template (expressions, templates, data and types), and check what they must not reveal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dia_compiler.analyze.dependencies import Dependencies
from dia_compiler.analyze.domains import DatumCode, Maker, compile_datum
from dia_compiler.analyze.names import Declarations
from dia_compiler.analyze.plan import Prepared
from dia_compiler.analyze.suspects import BRACED, is_cut_by_comment, literal_braces, never_true_or_false, powers_by_xor
from dia_compiler.parse.model import Benchmark, Datum, Shared, Snippet, Template, TypeUse
from dia_compiler.parse.yaml_pitfalls import compiled
from dia_compiler.types.structures import CatalogDomain
from dia_language.confinement.permission import NO, REFUSED
from dia_language.diagnostics import DiaError, Diagnostic, Diagnostics, Position
from dia_language.expressions.expressions import CompiledExpression
from dia_language.expressions.namespace import Namespace
from dia_language.expressions.syntax import ParsedExpression, Use
from dia_language.templates.tags import tags_of
from dia_language.templates.templates import (
    CompiledTemplate,
    ParsedTemplate,
    RefusedTemplate,
    compile_template,
    parse_template,
    unknown_names,
)
from dia_language.yaml_nodes import data

ReadTemplate = Callable[[Snippet, frozenset[str]], ParsedTemplate]

ENOUGH = 100
CHARACTERS = 300_000
COMMENT_CUTS = "YAML reads ` #` as the start of a comment, so the text ends before it"
COMMENT_HELP = "quote the whole text; or if it is a comment, put two spaces before `#`"
INSTEAD = "compute it from the parameters, or remove it"
PROGRAMS = frozenset({"program", "run_elf"})


@dataclass(frozen=True, slots=True)
class Ahead:
    """A piece that was parsed early to find its calls; it is removed when it is compiled."""

    piece: Snippet  # keeps the object alive, so that no other gets its id
    replies: frozenset[str]
    parsed: ParsedExpression | ParsedTemplate


class Enough(Exception):
    """More than ENOUGH errors in one template."""


class Pieces:
    """Compiles the pieces of one template; a piece with errors is reported and left out."""

    def __init__(
        self,
        template: Template,
        benchmark: Benchmark,
        diagnostics: Diagnostics,
        lists: Mapping[str, list[str]],
        programs: str = NO,
    ) -> None:
        self.template, self.benchmark, self.diagnostics, self.files = template, benchmark, diagnostics, lists
        self.namespace = Namespace()
        self.result = Prepared(benchmark, template, self.namespace)
        self.sources: tuple[Shared, ...] = (benchmark.shared, template.shared)
        self.depends = Dependencies()
        self.catalogs: dict[str, CatalogDomain] = {}
        self.since = len(diagnostics.entries)
        self.characters = 0
        names = Declarations(template, self.sources, diagnostics, self.namespace)
        self.functions, self.values = names.functions, names.values
        self.namespace.replies = self.replies = names.replies
        self.list_names, self.parameter_names, self.asset_names = names.lists, names.parameters, names.assets
        broken = {name for shared in self.sources for name in shared.broken_catalogs}
        self.catalogs |= {name: CatalogDomain(name, {}) for name in broken}
        self.has_broken_catalog = bool(broken)
        self.may_run = programs != NO
        self.solved = frozenset({"answer"} if template.session_spec is None else ())  # sessions have no answer
        self.runners: set[str] = set()
        self.ahead: dict[int, Ahead] = {}
        self.used_by_text: dict[int, frozenset[str]] = {}  # what the texts that the model reads use
        self.refused: dict[int, ParsedTemplate] = {}  # already reported; the names in them are still looked up

    def add_diagnostics(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Add errors, except calls of functions that a broken catalog may have been meant to declare."""
        if self.template.session_spec is not None:
            diagnostics = [_without_answer(entry) for entry in diagnostics]
        self.diagnostics.entries += [
            entry for entry in diagnostics if not (self.has_broken_catalog and entry.code == "E304")
        ]
        if len(self.diagnostics.entries) - self.since > ENOUGH:
            raise Enough

    def warn(self, name: str, message: str, place: Position | None, help: str | None = None) -> None:
        """Add a health warning, unless the template allows it."""
        if name not in self.template.allow:
            self.diagnostics.warn(name, message, place, help or f"fix it, or allow it: `allow: {{{name}: reason}}`")

    def code(
        self,
        piece: Snippet,
        values: frozenset[str],
        arguments: tuple[str, ...] = (),
        entry: frozenset[str] | None = None,
    ) -> CompiledExpression | None:
        """Compile the piece as an expression; None if it has errors, which are reported."""
        self.charge(piece)
        ahead = self.ahead.pop(id(piece), None)
        parsed = ahead.parsed if ahead is not None and isinstance(ahead.parsed, ParsedExpression) else None
        try:
            code = compiled(piece, self.namespace, values, arguments, entry, parsed)
        except DiaError as error:
            self.add_diagnostics(error.diagnostics)
            return None
        self.note(code.number, piece, code.parsed.calls + code.parsed.function_names)
        self.note_suspects(piece, code.parsed, values | frozenset(arguments) | (entry or frozenset()))
        return code

    def note_suspects(self, piece: Snippet, parsed: ParsedExpression, names: frozenset[str]) -> None:
        """Warn of texts without the `f` of an f-string, and of the exclusive or in place of a power."""
        for offset, braces in literal_braces(parsed, names):
            message = f"this text is not an f-string, so it contains `{braces}` itself instead of the value"
            help = 'write `f` before the quotes: f"...", or allow it: `allow: {single-braces: reason}`'
            self.warn("single-braces", message, piece.place(offset), help)
        for offset, power in powers_by_xor(parsed):
            message = f"`{power}` is the exclusive or of bits, not a power"
            help = f"write `**{power[1:]}`, or allow it: `allow: {{xor-as-power: reason}}`"
            self.warn("xor-as-power", message, piece.place(offset), help)

    def template_code(
        self, piece: Snippet, values: frozenset[str], own: frozenset[str] = frozenset()
    ) -> CompiledTemplate | None:
        """Compile the piece as a template; None if it has errors, which are reported. Names in `own` hide replies."""
        parsed = self.parsed_template(piece, own)
        return self.compiled_template(parsed, values) if parsed else None

    def charge(self, piece: Snippet) -> None:
        """Report an error if there is more text than can be parsed in reasonable time."""
        self.characters += len(piece.text)
        if self.characters > CHARACTERS:
            message = f"expressions and templates have more than {CHARACTERS:,} characters in total"
            help = "put data in a list file, or split it into several templates"
            self.add_diagnostics([Diagnostic("E107", message, self.template.position, help)])
            raise Enough

    def parsed_template(
        self, piece: Snippet, own: frozenset[str] = frozenset(), read: ReadTemplate = parse_template
    ) -> ParsedTemplate | None:
        self.charge(piece)
        if is_cut_by_comment(piece.origin):
            self.warn("comment-in-text", COMMENT_CUTS, piece.origin.position, COMMENT_HELP)
        ahead, replies = self.ahead.pop(id(piece), None), self.replies - own
        if ahead is not None and isinstance(ahead.parsed, ParsedTemplate) and ahead.replies == replies:
            return ahead.parsed
        try:
            return read(piece, replies)
        except RefusedTemplate as error:
            self.add_diagnostics(error.diagnostics)
            self.refused[id(error.parsed)] = error.parsed
            return error.parsed
        except DiaError as error:
            self.add_diagnostics(error.diagnostics)
            return None

    def compiled_template(self, parsed: ParsedTemplate, values: frozenset[str]) -> CompiledTemplate | None:
        if id(parsed) in self.refused:
            self.add_diagnostics(unknown_names(parsed, self.namespace, values))
            return None
        try:
            compiled = compile_template(parsed, self.namespace, values, self.asset_names & values)
        except DiaError as error:
            self.add_diagnostics(error.diagnostics)
            return None
        self.note(compiled.number, parsed.source, (*parsed.calls, *parsed.function_names))
        return compiled

    def note(self, number: int, piece: Any, calls: Iterable[Use]) -> None:
        self.result.places[number] = piece.place(0)
        self.note_calls([(piece, use) for use in calls])

    def note_calls(self, calls: Sequence[tuple[Any, Use]]) -> None:
        """Record which functions of the library are used; report those that are not allowed."""
        self.result.used_functions |= {use.name for _, use in calls if use.name not in self.functions}
        self.check_programs(calls)

    def check_programs(self, calls: Sequence[tuple[Any, Use]]) -> None:
        """Report each use of a function that starts programs where programs are not allowed."""
        for piece, use in calls if not self.may_run else ():
            if use.name in PROGRAMS and use.name not in self.functions:
                message = f"`{use.name}` cannot start a program here"
                self.add_diagnostics([Diagnostic("E314", message, piece.place(use.offset), REFUSED)])

    def starts_programs(self, calls: Iterable[Use]) -> bool:
        """Return whether one of the functions starts a program, directly or through other functions."""
        return any(use.name in (self.runners if use.name in self.functions else PROGRAMS) for use in calls)

    def refuse_programs(self, code: CompiledExpression | None, key: str) -> None:
        """Report calls that would start a program whenever a reply is scored."""
        if code is not None:
            self.refuse_programs_in(code.parsed, f"`{key}`")

    def refuse_programs_in(self, tree: ParsedExpression | ParsedTemplate, what: str) -> None:
        """Report calls that would start a program wherever a bundle is run or scored."""
        if not self.may_run:  # already reported at the calls themselves
            return
        for use in (*tree.calls, *tree.function_names):
            if self.starts_programs([use]):
                message = f"`{use.name}` would start a program every time a reply is scored"
                help = f"compute what {what} needs under `let`; these values are stored with the question"
                self.add_diagnostics([Diagnostic("E314", message, tree.source.place(use.offset), help)])

    def maker(self, use: Any, values: frozenset[str], name: str) -> Maker | None:
        try:
            maker = Maker(use, self.namespace, values, self.catalogs, name)
        except DiaError as error:
            self.add_diagnostics(error.diagnostics)
            return None
        self.note_calls(maker.calls)
        self.result.places |= {code.number: code.parsed.source.place(0) for code in maker.conditions()}
        return maker

    def datum(self, datum: Datum, visible_in: str = "") -> DatumCode | None:
        """Compile the datum; None if it has errors, which are reported.

        If it is shown, it must not depend on the answer.
        """
        try:
            code = compile_datum(datum.node, self.namespace, self.values | self.solved)
        except DiaError as error:
            self.add_diagnostics(error.diagnostics)
            return None
        self.check_programs(code.calls)
        if visible_in:
            for piece, use in (*code.uses, *code.calls):
                self.tell_hidden(piece, use, visible_in)
        return code

    def note_condition(self, piece: Snippet, parsed: ParsedExpression) -> None:
        """Report a condition that is evaluated only when replies are graded, and that can never be true or false."""
        part = never_true_or_false(parsed.tree, self.functions, self.reply_kinds)
        if part is not None:
            tree, kind = part
            message = f"expected true or false; this is {kind}"
            self.add_diagnostics([Diagnostic("E203", message, piece.place(parsed.offset(tree)), "use a comparison")])

    @property
    def reply_kinds(self) -> dict[str, str]:
        """Return in words what the replies are that cannot be true or false."""
        return {}

    def visible_template(self, piece: Snippet, values: frozenset[str]) -> CompiledTemplate | None:
        """Compile a template that the model reads; nothing in it may depend on the answer."""
        tree = self.parsed_template(piece)
        if tree is None:
            return None
        used = self.depends.base(self.depends.used(tree))
        self.used_by_text[id(piece)] = used
        self.result.uses["prompt"] = self.result.uses.get("prompt", frozenset()) | used
        has_leak = self.leaks(tree, piece, "a prompt")
        self.note_whole_records(tree, piece)
        self.note_single_braces(tree, piece)
        code = self.compiled_template(tree, values | answer_if_named(piece))
        return None if has_leak else code

    def note_whole_records(self, tree: ParsedTemplate, piece: Snippet) -> None:
        """Warn of a prompt that prints a whole `row`, or `name` with `pronouns: true`, and not a field of it."""
        alone = {name.name for name in tree.printed}
        for parameter in self.template.parameters:
            field = _field_to_print(parameter.type)
            if field is None or parameter.name not in alone:
                continue
            places = [use.offset for use in tree.names if use.name == parameter.name]
            ends = {offset: piece.text[offset + len(parameter.name) :].lstrip() for offset in places}
            offset = next((offset for offset, end in ends.items() if end.startswith("}")), 0)
            message = f"`{parameter.name}` is a record, so the prompt shows its fields in braces"
            help = f"print one field, as in {{{{ {parameter.name}.{field} }}}}"
            self.warn("record-in-prompt", message, piece.place(offset), help)

    def note_single_braces(self, tree: ParsedTemplate, piece: Snippet) -> None:
        """Warn of a value's name in single braces, which the model reads as text, if the prompt does not print it."""
        printed = {use.name for use in tree.names}
        for match in BRACED.finditer(piece.text):
            name = match[1]
            if name in self.values and name not in printed and not _is_in_tag(piece.text, match.start()):
                message = f"the prompt shows `{match[0]}` as text, not the value of `{name}`"
                help = f"write {{{{ {match[0].strip('{} ')} }}}}, or allow it: `allow: {{single-braces: reason}}`"
                self.warn("single-braces", message, piece.place(match.start()), help)

    def leaks(self, tree: ParsedExpression | ParsedTemplate, piece: Snippet, what: str) -> bool:
        """Report each part of a piece that depends on the answer but must not; return whether there is any."""
        names = [self.tell_hidden(piece, use, what, use.name) for use in tree.names]
        calls = [*tree.calls, *tree.function_names]
        names += [self.tell_hidden(piece, use, what, *self.depends.functions.get(use.name, ())) for use in calls]
        return any(names)

    def tell_hidden(self, piece: Snippet, use: Use, what: str, *names: str) -> bool:
        """Report a part that depends on the answer or a reply but must not; return whether it does.

        `names` are those that it uses; without any, those of a value or a function of its name.
        """
        base = self.depends.base(names or [use.name, *self.depends.functions.get(use.name, ())])
        if "answer" in base:
            self.tell_leak(piece, use, what)
        replies = sorted(base & self.replies)
        if replies:
            self.tell_early(piece, use, what, replies[0])
        return "answer" in base or bool(replies)

    def needs_replies(self, tree: ParsedExpression | ParsedTemplate, piece: Snippet, what: str) -> bool:
        """Report each part of a piece that uses a reply before any model is asked; return whether there is any."""
        return bool(self.depends.base(self.depends.used(tree)) & self.replies) and self.leaks(tree, piece, what)

    def tell_leak(self, piece: Snippet, use: Use, what: str) -> None:
        """Report a part that depends on the answer but must not."""
        is_call = use.name in self.functions and use.name not in self.values
        words = (
            "" if use.name == "answer" else " uses the answer, so it" if is_call else " depends on the answer, so it"
        )
        message = f"`{use.name}`{words} cannot be used in {what}"
        self.add_diagnostics([Diagnostic("E308", message, piece.place(use.offset), INSTEAD)])

    def tell_early(self, piece: Snippet, use: Use, what: str, reply: str) -> None:
        """Report a part that uses a reply before any model is asked."""
        words = "is a reply, so it" if use.name == reply else f"depends on the reply `{reply}`, so it"
        message = f"`{use.name}` {words} cannot be used in {what}"
        help = "this is fixed before the model is asked anything: use the reply in a turn or in the grading"
        self.add_diagnostics([Diagnostic("E318", message, piece.place(use.offset), help)])


def _without_answer(entry: Diagnostic) -> Diagnostic:
    """Return the error, with another help if it uses the answer in a template that has sessions instead."""
    if entry.message != "`answer` cannot be used here":
        return entry
    return replace(entry, help="a template with sessions has no answer: compare the replies in `grade`")


def answer_if_named(piece: Snippet) -> frozenset[str]:
    """Return the name `answer` if the piece uses it, so that it is reported as a leak and not as an unknown name."""
    return frozenset({"answer"}) if "answer" in piece.text else frozenset()


def _is_in_tag(text: str, offset: int) -> bool:
    return any(tag.begin <= offset < (tag.end or len(text)) for tag in tags_of(text))


def _field_to_print(use: TypeUse) -> str | None:
    """Return the field that a prompt probably means by a parameter of this type; None if it is not a record."""
    if use.kind == "name":
        pronouns = use.options.get("pronouns")
        return "name" if isinstance(pronouns, Datum) and data(pronouns.node) is True else None
    return "COLUMN" if use.kind == "row" else None
