"""The wordings of a template: its prompt with slots, and variants that put the same instances in other words."""

from __future__ import annotations

from collections.abc import Mapping as Map

from dia_compiler.analyze.dependencies import Dependencies
from dia_compiler.analyze.domains import Maker
from dia_compiler.analyze.evaluation_order import Planning
from dia_compiler.analyze.names import OPTIONS, PROMPT_NAMES
from dia_compiler.analyze.plan import Step, Wording
from dia_compiler.analyze.snippets import INSTEAD
from dia_compiler.parse.model import Snippet, Variant
from dia_language.diagnostics import did_you_mean
from dia_language.templates.templates import CompiledTemplate
from dia_language.yaml_nodes import Mapping, Node, Sequence, pairs

RULE = "rounding_rule"
NO_RULE_HELP = "add `round: {places: 2, ties: half_up}` to the answer, or say in the prompt how to write it"


def _has_key(node: Node, name: str) -> bool:
    if isinstance(node, Mapping):
        return any(key.text == name or _has_key(value, name) for key, value in node.pairs)
    return isinstance(node, Sequence) and any(_has_key(item, name) for item in node.items)


class Wordings(Planning):
    """Compiles the prompt, its slots and the variants."""

    @property
    def prompt_names(self) -> frozenset[str]:
        """Return the names that a prompt can use besides parameters, let values and lists."""
        # The name exists even if `choices` has errors, which are reported elsewhere.
        has_options = self.template.choices is not None or self.template.node.get("choices") is not None
        options = {OPTIONS} if has_options else frozenset()
        return PROMPT_NAMES | self.template.slots.keys() | options

    def prepare_wordings(self) -> None:
        """Return the base wording, then the variants, each with its own names."""
        wording = self.result.wording
        wording.slots = self.slots(self.template.slots)
        if self.template.prompt is not None:
            wording.prompt = self.text(self.template.prompt)
        for variant in self.template.variants:
            values, depends, makers = self.values, self.depends, dict(self.result.makers)
            self.depends = Dependencies(dict(depends.lets), depends.functions)
            declared = (key.text for part in ("params", "let") for key, _ in pairs(variant.node.get(part)))
            self.values |= frozenset(declared)  # also of those with reported errors
            self.result.variants.append(self.variant(variant))
            self.values, self.depends, self.result.makers = values, depends, makers

    def text(self, piece: Snippet, names: frozenset[str] | None = None) -> CompiledTemplate | None:
        """Compile a text that the model reads, with the names of prompts unless others are given."""
        answer = self.template.answer
        at = piece.text.find(RULE)
        if at >= 0 and answer is not None and not _has_key(answer.comparison.node, "round"):
            self.warn(
                "no-rounding-rule", f"`{RULE}` is empty: the answer has no `round`", piece.place(at), NO_RULE_HELP
            )
        return self.visible_template(piece, self.values | (self.prompt_names if names is None else names))

    def slots(self, pieces: Map[str, Snippet]) -> dict[str, CompiledTemplate]:
        """Compile the texts of slots; they can use what prompts can use, except other slots."""
        names = self.prompt_names - self.template.slots.keys()
        texts = {name: self.text(piece, names) for name, piece in pieces.items()}
        return {name: text for name, text in texts.items() if text is not None}

    def variant(self, variant: Variant) -> Wording:
        """Compile a variant: its parameters and let values, then its texts."""
        plan, makers = self.variant_plan(variant)
        base = self.result.wording
        self.check_slots(variant)
        self.check_sessions(variant)
        return Wording(
            name=variant.name,
            prompt=self.text(variant.prompt) if variant.prompt is not None else base.prompt,
            slots=base.slots | self.slots(variant.slots),
            prepend=self.text(variant.prepend) if variant.prepend is not None else None,
            append=self.text(variant.append) if variant.append is not None else None,
            redraw=tuple(scalar.text for scalar in variant.redraw),
            plan=plan,
            makers=makers,
            position=variant.position,
            sessions=tuple(scalar.text for scalar in variant.sessions),
        )

    def check_slots(self, variant: Variant) -> None:
        """Report slots that the template does not have."""
        for name, piece in variant.slots.items():
            if name not in self.template.slots:
                help = did_you_mean(name, self.template.slots) or f'add `slots: {{{name}: ""}}` to the template'
                self.diagnostics.error("E303", f"the template has no slot `{name}`", piece.position, help)

    def check_sessions(self, variant: Variant) -> None:
        """Report sessions that the template does not have."""
        session_spec = self.template.session_spec
        session_names = [session.name for session in session_spec.sessions] if session_spec is not None else []
        for scalar in variant.sessions:
            if scalar.text not in session_names:
                help = did_you_mean(scalar.text, session_names)
                self.diagnostics.error("E303", f"the template has no session `{scalar.text}`", scalar.position, help)

    def variant_plan(self, variant: Variant) -> tuple[list[Step], dict[str, Maker]]:
        """Return the steps of a variant, which follow those of the template, each after what it needs."""
        lets = {name: code for name, piece in variant.let.items()
                if (code := self.code(piece, self.values | self.solved)) is not None
                and not self.needs_replies(code.parsed, piece, "a variant")}  # fmt: skip
        self.depends.lets |= {name: self.depends.used(code.parsed) for name, code in lets.items()}
        plan: list[Step] = []
        makers: dict[str, Maker] = {}
        computed: set[str] = set()

        def place(names: frozenset[str]) -> None:
            for name in self.depends.ordered(set(self.depends.base(names) & lets.keys()) - computed):
                plan.append(Step("let", name, code=lets[name]))
                computed.add(name)

        for name in lets:
            if self.depends.circle(name):
                self.diagnostics.error(
                    "E307",
                    f"`{name}` is defined in terms of itself",
                    variant.let[name].position,
                    "remove the circular reference",
                )
                return plan, makers
        for parameter in variant.parameters:
            maker = self.maker(parameter.type, self.values | self.solved, parameter.name)
            if maker is None:
                continue
            needed = self.depends.needed(maker)
            if not self.check_variant_order(variant, parameter.name, maker, needed, makers):
                place(needed)
            makers[parameter.name] = maker
            plan.append(Step("draw", parameter.name, maker))
        place(frozenset(lets))
        return plan, makers

    def check_variant_order(
        self, variant: Variant, name: str, maker: Maker, needed: frozenset[str], drawn: dict[str, Maker]
    ) -> bool:
        """Report parameters that use the answer, themselves or later parameters; return whether there are any."""
        bases = self.depends.base(needed)
        own = {parameter.name for parameter in variant.parameters}
        late = sorted((bases & own) - drawn.keys())
        if bases & self.replies:
            for piece, use in (*maker.uses, *maker.calls):
                self.tell_hidden(piece, use, f"the type of `{name}`")
        elif "answer" in bases:
            message = f"`{name}` depends on the answer, but variants are shown to the model"
            self.diagnostics.error("E308", message, maker.use.position, INSTEAD)
        elif late:
            message = f"`{name}` uses `{late[0]}`, which is not drawn yet"
            help = (
                f"move `{late[0]}` above `{name}`"
                if late[0] != name
                else "only the type's own `where` can use the value"
            )
            self.diagnostics.error("E307", message, maker.use.position, help)
        return bool(late) or "answer" in bases or bool(bases & self.replies)
