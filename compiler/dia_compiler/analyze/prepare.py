"""Prepare a template: resolve names, order the evaluation, and compile everything. Nothing is evaluated."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache

from dia_compiler.analyze.names import CHALLENGE, OPTIONS, WRAPPER_NAMES
from dia_compiler.analyze.plan import INLINE, Prepared
from dia_compiler.analyze.sessions.compile import SessionAnalysis
from dia_compiler.analyze.snippets import Enough, answer_if_named
from dia_compiler.parse.model import Benchmark, Snippet, Template
from dia_language.confinement.permission import NO
from dia_language.diagnostics import Diagnostic, Diagnostics
from dia_language.templates.templates import CompiledTemplate, ParsedTemplate, parse_template


def prepare(
    template: Template,
    benchmark: Benchmark,
    diagnostics: Diagnostics,
    lists: Mapping[str, list[str]],
    programs: str = NO,
) -> Prepared:
    """Return the prepared template; its errors are added to `diagnostics`.

    `lists` are those read from files, `programs` says whether the template may start any.
    """
    return _Preparation(template, benchmark, diagnostics, lists, programs).run()


class _Preparation(SessionAnalysis):
    """The work of `prepare`, one method per part; a part with errors is reported and left out."""

    def run(self) -> Prepared:
        """Return the prepared template."""
        with suppress(Enough):
            self.prepare()
        return self.result

    def prepare(self) -> None:
        """Prepare all parts in order; stop once more errors would not help."""
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
        if self.template.session_spec is not None:
            self.prepare_sessions(self.template.session_spec)
        self.note_unused()
        self.note_ignored()
        self.note_repeats()

    def prepare_answer(self) -> None:
        answer = self.template.answer
        with_answer = self.values | self.solved
        if answer is not None:
            options = self.result.options
            if self.template.choices is None:
                self.result.answer = self.code(answer.value, self.values | answer_if_named(answer.value))
            elif options is not None:  # already compiled, for the draw of the order
                self.result.answer = options.correct
            if self.result.answer is not None:
                tree = self.result.answer.parsed
                self.leaks(tree, answer.value, "the answer itself")
                self.result.uses["answer"] = self.depends.base(self.depends.used(tree))
            if answer.unanswerable is not None:
                self.result.unanswerable = self.code(answer.unanswerable, self.values)
            self.result.comparison = self.datum(answer.comparison, "the options of the answer")
            self.result.accept = [item for datum in answer.accept if (item := self.datum(datum)) is not None]
            if answer.accept_if is not None:
                self.result.accept_if = self.code(answer.accept_if, with_answer | {"reply"})
                if self.result.accept_if is not None:
                    self.note_condition(answer.accept_if, self.result.accept_if.parsed)
                self.refuse_programs(self.result.accept_if, "accept_if")
            if answer.share is not None:
                self.result.share = self.code(answer.share, with_answer | {"reply"})
                self.refuse_programs(self.result.share, "share")
        checks = [(piece, self.code(piece, with_answer)) for piece in self.template.checks]
        self.result.checks = [
            code for piece, code in checks
            if code is not None and not self.needs_replies(code.parsed, piece, "a check")
        ]  # fmt: skip
        for name, piece in self.template.mistakes.items():
            code = self.code(piece, with_answer)
            if code is not None:
                self.result.mistakes[name] = code

    def prepare_texts(self) -> None:
        template = self.template
        self.prepare_wordings()
        self.note_unlisted()
        delivered = [name for name, code in self.result.assets.items() if code.deliver != INLINE]
        self.result.uses["prompt"] = self.result.uses.get("prompt", frozenset()) | self.depends.base(delivered)
        if template.explanation is not None:
            values = self.values | self.prompt_names | self.solved
            tree = self.parsed_template(template.explanation)
            if tree is not None and not self.needs_replies(tree, template.explanation, "an explanation"):
                self.result.explanation = self.compiled_template(tree, values)
        if self.benchmark.prompt is not None:
            self.result.wrapper = self.wrapper(self.benchmark.prompt)
        if template.skills is not None:
            self.result.skills = self.datum(template.skills, "`skills`")

    def wrapper(self, piece: Snippet) -> CompiledTemplate | None:
        """Compile the benchmark's wrapper; it and the functions that it calls see only what all templates share."""
        tree = self.parsed_template(piece, read=parse_template if self.asset_names else read_once)
        if tree is None:
            return None
        for use in (*tree.calls, *tree.function_names):
            unseen = sorted(self.depends.base(self.depends.functions.get(use.name, ())) - self.list_names)
            if unseen:
                message = f"the `prompt` of benchmark.yaml cannot use `{unseen[0]}`, which `{use.name}` uses"
                help = "call it in the template's prompt instead"
                self.add_diagnostics([Diagnostic("E303", message, piece.place(use.offset), help)])
                return None
        wrapper = self.compiled_template(tree, WRAPPER_NAMES | self.list_names)
        if wrapper is not None and CHALLENGE not in {use.name for use in tree.names}:
            message = "the `prompt` of benchmark.yaml lacks `{{ challenge }}`, so the model would not see the question"
            self.add_diagnostics([Diagnostic("E202", message, piece.position, "add {{ challenge }}")])
        return wrapper

    def note_unused(self) -> None:
        """Warns of parameters that neither the prompt nor the answer uses."""
        if self.diagnostics.errors or self.result.wording.prompt is None or self.result.answer is None:
            return
        used = self.used_by_answer() | self.result.uses.get("prompt", frozenset()) | self.used_by_conditions()
        for parameter in self.template.parameters:
            if parameter.name not in used:
                message = f"neither the prompt nor the answer depends on `{parameter.name}`, and no condition uses it"
                self.warn("unused-parameter", message, parameter.position)

    def note_unlisted(self) -> None:
        """Warn of a multiple-choice prompt that does not print the options."""
        choices, variants = self.template.choices, [variant.prompt for variant in self.template.variants]
        for piece in (self.template.prompt, *variants) if choices is not None else ():
            if piece is not None and OPTIONS not in self.shown_by(piece):
                message = "the prompt does not print the options, so the model does not see what to choose from"
                help = "add {{ options }}, or allow it: `allow: {unlisted-options: reason}`"
                self.warn("unlisted-options", message, piece.position, help)

    def shown_by(self, prompt: Snippet) -> frozenset[str]:
        """Return what a prompt uses, itself and through its slots, in the template or in any variant."""
        names = self.used_by_text.get(id(prompt), frozenset({OPTIONS}))  # the errors of a broken one have been reported
        texts = [self.template.slots, *(variant.slots for variant in self.template.variants)]
        slots = [pieces[name] for pieces in texts for name in pieces.keys() & names]
        return names.union(*(self.used_by_text.get(id(piece), frozenset()) for piece in slots))

    def used_by_answer(self) -> frozenset[str]:
        """Return what the answer, its options and the types of parameters are computed from."""
        used = self.result.uses.get("answer", frozenset()) | self.result.uses.get("distractors", frozenset())
        if self.result.comparison is not None:
            used |= self.depends.base(self.depends.needed(self.result.comparison))
        if self.result.unanswerable is not None:
            used |= self.depends.base(self.depends.used(self.result.unanswerable.parsed))
        for maker in self.result.makers.values():
            used |= self.depends.base(self.depends.needed(maker))
        return used

    def note_ignored(self) -> None:
        """Warn of parameters that are shown, but that neither the answer nor the checks depend on."""
        if self.diagnostics.errors or self.result.answer is None:
            return
        used = self.used_by_answer()
        proofs = [*self.result.checks, *self.result.mistakes.values(), self.result.accept_if, self.result.share]
        proofs += [step.code for step in self.result.plan if step.kind == "where"]
        for code in proofs:
            used |= self.depends.base(self.depends.used(code.parsed)) if code is not None else frozenset()
        cosmetic = {name for wording in self.result.variants for name in wording.redraw}
        for parameter in self.template.parameters:
            if parameter.name in self.result.uses.get("prompt", ()) and parameter.name not in used | cosmetic:
                message = (
                    f"the parameter `{parameter.name}` is shown, but neither the answer nor the checks depend on it"
                )
                help = (
                    "use it in the answer or the checks; or if it only varies the text, allow it: "
                    "`allow: {answer-ignores-parameter: reason}`"
                )
                self.warn("answer-ignores-parameter", message, parameter.position, help)

    def note_repeats(self) -> None:
        """Warn of checks that only repeat the expression of the answer."""
        answer = self.result.answer
        if answer is None:
            return
        lets = {name: code.parsed.tree for name, code in self.result.lets.items()}
        value = unfolded(answer.parsed.tree, lets)
        for code in self.result.checks:
            sides = sides_of_equation(code.parsed.tree)
            if sides and any(is_answer(a) and unfolded(b, lets) == value for a, b in (sides, sides[::-1])):
                message = "this check repeats the answer's expression, so it holds even if that is wrong"
                place = code.parsed.source.place(0)
                self.warn(
                    "check-repeats-value",
                    message,
                    place,
                    "verify the answer in another way, or compute the parameters back from it",
                )


@lru_cache(maxsize=2)
def read_once(piece: Snippet, replies: frozenset[str]) -> ParsedTemplate:
    """The parsed wrapper of a benchmark, shared by its templates; templates with assets parse it again to modify it."""
    return parse_template(piece, replies)


def sides_of_equation(tree: ast.expr) -> tuple[ast.expr, ...]:
    """Return the two sides of `a == b`; nothing for anything else."""
    is_equation = isinstance(tree, ast.Compare) and len(tree.ops) == 1 and isinstance(tree.ops[0], ast.Eq)
    return (tree.left, tree.comparators[0]) if is_equation and isinstance(tree, ast.Compare) else ()


def is_answer(tree: ast.expr) -> bool:
    """Return whether the expression is the answer's name."""
    return isinstance(tree, ast.Name) and tree.id == "answer"


def unfolded(tree: ast.expr, lets: Mapping[str, ast.expr]) -> str:
    """Return the expression in a normal form, with each let value expanded once."""
    for _ in range(len(lets) + 1):
        if not isinstance(tree, ast.Name) or tree.id not in lets:
            break
        tree = lets[tree.id]
    return ast.dump(tree)
