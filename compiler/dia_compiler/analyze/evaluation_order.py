"""The order in which parameters, conditions and let values are drawn and computed, from their dependencies."""

from __future__ import annotations

from collections.abc import Iterable

from dia_compiler.analyze.asset_options import Artefacts
from dia_compiler.analyze.domains import Maker
from dia_compiler.analyze.plan import AssetCode, Options, Step
from dia_compiler.analyze.snippets import INSTEAD, answer_if_named
from dia_language.diagnostics import Position, did_you_mean
from dia_language.expressions.expressions import CompiledExpression


class Planning(Artefacts):
    """Compiles parameters, conditions and let values, and orders them with the assets."""

    def prepare_parameters(self) -> None:
        for parameter in self.template.parameters:
            maker = self.maker(parameter.type, self.values | self.solved, parameter.name)
            if maker is not None:
                self.result.makers[parameter.name] = maker

    def prepare_lets(self) -> dict[str, CompiledExpression]:
        """Compile the let values and assets; circular references are reported."""
        lets = self.result.lets
        for name, piece in self.template.let.items():
            code = self.code(piece, self.values | self.solved)
            if code is not None:
                lets[name] = code
                self.depends.lets[name] = self.depends.used(code.parsed)
        self.prepare_assets()
        places_of = {asset.name: asset.position for asset in self.template.assets}
        places_of |= {name: piece.position for name, piece in self.template.let.items()}
        for name in [*lets, *self.result.assets]:
            circle = self.depends.circle(name)
            if circle:
                places = "; ".join(f"`{part}` on line {places_of[part].line}" for part in circle[:-1])
                message = f"cycle: {' -> '.join(circle)} ({places})"
                message = f"`{name}` is defined in terms of itself" if len(circle) == 2 else message
                self.diagnostics.error("E307", message, places_of[name], "remove the circular reference")
                for part in circle:
                    self.depends.lets[part] = frozenset()
        return lets

    def prepare_wheres(self) -> list[tuple[CompiledExpression, frozenset[str]]]:
        conditions = []
        for piece in self.template.where:
            code = self.code(piece, self.values | answer_if_named(piece))
            if code is not None and not self.leaks(code.parsed, piece, "a condition on parameters"):
                self.check_early(self.depends.used(code.parsed), "a condition on parameters", piece.position)
                conditions.append((code, self.depends.base(self.depends.used(code.parsed)) & self.parameter_names))
        return conditions

    def plan(
        self, lets: dict[str, CompiledExpression], wheres: list[tuple[CompiledExpression, frozenset[str]]]
    ) -> None:
        """Plan the draw: each parameter, then the conditions whose names are drawn, with the let values for them."""
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
            is_early = self.check_early(needed, f"the type of `{parameter.name}`", maker.use.position)
            if not is_early and not self.check_order(parameter.name, maker, needed, drawn):
                self.place_lets(needed, computed, lets)
            plan.append(Step("draw", parameter.name, maker))
            drawn.add(parameter.name)
            self.place_wheres(waiting, drawn, computed, lets)
            if self.template.balance is not None and self.template.balance.text == parameter.name:
                plan.append(Step("balance"))
        self.plan_order(computed, lets)
        self.check_names_of_parameters()
        reply_let_names = {name for name in lets if self.depends.base([name]) & self.replies}
        self.result.reply_lets = {name: lets[name] for name in self.depends.ordered(reply_let_names)}
        late = {name for name in lets if "answer" in self.depends.base([name])} | reply_let_names
        codes: dict[str, CompiledExpression | AssetCode] = {**lets, **self.result.assets}
        self.result.rest = [(n, codes[n]) for n in self.depends.ordered(set(codes) - computed - late)]
        self.result.after = [(n, lets[n]) for n in self.depends.ordered(late - reply_let_names)]

    def check_early(self, used: Iterable[str], what: str, place: Position) -> bool:
        """Report an asset that is used before all parameters are drawn; return whether there is one."""
        early = sorted(self.depends.base(used) & self.asset_names)
        for name in early:
            message = f"`{name}` is built after all parameters are drawn, so it cannot be used in {what}"
            self.diagnostics.error("E307", message, place, "use the parameters in the condition instead")
        return bool(early)

    def plan_order(self, computed: set[str], lets: dict[str, CompiledExpression]) -> None:
        """Plan the order of the options of a multiple choice; it is drawn last, when the number of options is known."""
        choices = self.template.choices
        if choices is None:
            return
        correct = self.code(choices.correct, self.values | answer_if_named(choices.correct))
        distractors = self.code(choices.distractors, self.values | {"answer"})
        if correct is None or distractors is None:
            return
        self.result.options = Options(choices, correct, distractors)
        used = self.depends.used(distractors.parsed)
        for code in (correct, distractors):
            self.check_early(self.depends.used(code.parsed), "the options of a choice", choices.position)
        self.result.uses["distractors"] = self.depends.base(used)
        if "answer" in self.depends.base(used):
            self.place_lets(self.depends.used(correct.parsed), computed, lets)
            self.result.plan.append(Step("let", "answer", code=correct))
        self.place_lets(used, computed, lets)
        self.result.plan.append(Step("order"))

    def check_names_of_parameters(self) -> None:
        """Report a key whose value should be the name of a parameter, but is not."""
        redrawn = [name for variant in self.template.variants for name in variant.redraw]
        for scalar in (self.template.balance, self.template.each, *redrawn):
            if scalar is not None and scalar.text not in self.parameter_names:
                help = did_you_mean(scalar.text, self.parameter_names)
                self.diagnostics.error("E303", f"`{scalar.text}` is not a parameter", scalar.position, help)
        each = self.template.each
        maker = self.result.makers.get(each.text) if each is not None else None
        if each is not None and maker is not None and not self.is_settled(maker):
            message = f"`{each.text}` depends on drawn values, so its values cannot be listed"
            self.diagnostics.error(
                "E405", message, each.position, "`each` needs a parameter whose type depends only on lists"
            )
        for scalar in redrawn:
            if each is not None and scalar.text == each.text:
                message = f"`{scalar.text}` makes the items, so it cannot be redrawn"
                self.diagnostics.error("E405", message, scalar.position)

    def is_settled(self, maker: Maker) -> bool:
        """Return whether a domain depends on nothing but lists."""
        return self.depends.base(self.depends.needed(maker)) <= self.list_names

    def check_order(self, name: str, maker: Maker, needed: frozenset[str], drawn: set[str]) -> bool:
        """Report parameters that are used before they are drawn; return whether there are any."""
        bases = self.depends.base(needed)
        late = sorted((bases & self.parameter_names) - drawn - {name})
        if name in bases:
            late = [name]
        if "answer" in bases:
            late = ["answer"]
        if bases & self.replies:
            return self.check_early_reply(name, maker)
        for other in late:
            places = (
                piece.place(use.offset)
                for piece, use in (*maker.uses, *maker.calls)
                if other in self.depends.base([use.name, *self.depends.functions.get(use.name, ())])
            )
            place = next(places, maker.use.position)
            if other == "answer":
                message = f"`{name}` depends on the answer, which is computed from the parameters"
                self.diagnostics.error("E308", message, place, INSTEAD)
            elif other == name:
                way = self.depends.way(needed, name)
                chain, help = "", "only the type's own `where` can use the value"
                if len(way) > 1:
                    chain, help = f": {' -> '.join([name, *way])}", "remove the circular reference"
                self.diagnostics.error("E307", f"`{name}` is defined in terms of itself{chain}", place, help)
            else:
                message = f"`{name}` uses `{other}`, which is drawn later"
                self.diagnostics.error("E307", message, place, f"move `{other}` above `{name}`")
        return bool(late)

    def check_early_reply(self, name: str, maker: Maker) -> bool:
        """Report each part of a parameter's type that uses a reply."""
        are_reported = [
            self.tell_hidden(piece, use, f"the type of `{name}`") for piece, use in (*maker.uses, *maker.calls)
        ]
        return any(are_reported)

    def place_wheres(
        self,
        waiting: list[tuple[CompiledExpression, frozenset[str]]],
        drawn: set[str],
        computed: set[str],
        lets: dict[str, CompiledExpression],
    ) -> None:
        for entry in list(waiting):
            compiled, needs = entry
            if needs <= drawn:
                waiting.remove(entry)
                self.place_lets(self.depends.used(compiled.parsed), computed, lets)
                self.result.plan.append(Step("where", code=compiled))

    def place_lets(self, names: Iterable[str], computed: set[str], lets: dict[str, CompiledExpression]) -> None:
        needed = self.depends.base(names) & set(lets)
        for name in self.depends.ordered(set(needed) - computed):
            kind = "constant" if self.depends.base([name]) <= self.list_names | set(lets) else "let"
            self.result.plan.append(Step(kind, name, code=lets[name]))
            computed.add(name)
