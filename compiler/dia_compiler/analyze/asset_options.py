"""The assets of a template: options compiled, what is the same in all instances judged before any work."""

from __future__ import annotations

from dia_compiler.analyze.compiled_snippets import spoken
from dia_compiler.analyze.domains import DatumCode
from dia_compiler.analyze.plan import AssetCode, OptionCode
from dia_compiler.analyze.template_functions import OwnFunctions
from dia_compiler.assets import BUILDERS
from dia_compiler.assets.base import OptionFault
from dia_compiler.parse.model import Asset, Datum, Snippet
from dia_compiler.parse.yaml_reader import pairs
from dia_language.diagnostics import DiaError, did_you_mean
from dia_language.templates.templates import CompiledTemplate


class Artefacts(OwnFunctions):
    """Compiles the options of assets; an asset is made of other values as a let value is."""

    def prepare_assets(self) -> None:
        """The assets compiled, each with what it is made of."""
        for asset in self.template.assets:
            made = self.asset(asset)
            if made is not None:
                self.result.assets[asset.name] = made
        for key, _ in pairs(self.template.node.get("deliver")):
            if key.text not in self.asset_names:
                mend = did_you_mean(key.text, self.asset_names)
                self.faults.error("E303", f"no asset is named `{key.text}`", key.position, mend)

    def asset(self, asset: Asset) -> AssetCode | None:
        """One asset, or None after telling why not."""
        before = len(self.faults.errors)
        options: dict[str, OptionCode] = {}
        used: frozenset[str] = frozenset()
        for name, held in asset.options.items():
            parts = [self.asset_option(part) for part in (held if isinstance(held, tuple) else (held,))]
            used |= frozenset().union(*(needs for _, needs in parts))
            made = [part for part, _ in parts if part is not None]
            if len(made) == len(parts):  # what is wrong has been told
                options[name] = made if isinstance(held, tuple) else made[0]
        self.depends.lets[asset.name] = used
        code = AssetCode(asset, BUILDERS[asset.build.text], options, self.template.deliver[asset.name])
        if len(self.faults.errors) > before:
            return None
        return code if self.is_possible(code) else None

    def asset_option(self, held: Datum | Snippet) -> tuple[DatumCode | CompiledTemplate | None, frozenset[str]]:
        """One option compiled, and the names that it uses; it must not speak of the answer."""
        if isinstance(held, Datum):
            made = self.datum(held, "an asset")
            return made, self.depends.needed(made) if made is not None else frozenset()
        tree = self.parsed_template(held)
        if tree is None:
            return None, frozenset()
        has_leak = self.leaks(tree, held, "an asset")
        text = self.compiled_template(tree, self.values | spoken(held))
        return None if has_leak else text, self.depends.used(tree)

    def is_possible(self, code: AssetCode) -> bool:
        """Whether the builder takes the options that are the same in all instances; tells the one that it does not."""
        try:
            code.builder.validate(code.constants())
        except OptionFault as found:
            self.tell(code.fault(found).diagnostics)
            return False
        except DiaError as error:
            self.tell(error.diagnostics)
            return False
        return True
