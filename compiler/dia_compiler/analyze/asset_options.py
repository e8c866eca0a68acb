"""Compile the options of a template's assets, and check the options that are the same in all instances."""

from __future__ import annotations

from dia_compiler.analyze.domains import DatumCode
from dia_compiler.analyze.plan import AssetCode, OptionCode
from dia_compiler.analyze.snippets import answer_if_named
from dia_compiler.analyze.template_functions import OwnFunctions
from dia_compiler.assets import BUILDERS
from dia_compiler.assets.base import OptionFault
from dia_compiler.parse.model import Asset, Datum, Snippet
from dia_language.diagnostics import DiaError, did_you_mean
from dia_language.templates.templates import CompiledTemplate
from dia_language.yaml_nodes import pairs


class Artefacts(OwnFunctions):
    """Compiles the options of assets; like a let value, an asset can use other values."""

    def prepare_assets(self) -> None:
        """Compile the assets, each with the names that it uses."""
        for asset in self.template.assets:
            code = self.asset(asset)
            if code is not None:
                self.result.assets[asset.name] = code
        for key, _ in pairs(self.template.node.get("deliver")):
            if key.text not in self.asset_names:
                help = did_you_mean(key.text, self.asset_names)
                self.diagnostics.error("E303", f"unknown asset `{key.text}`", key.position, help)

    def asset(self, asset: Asset) -> AssetCode | None:
        """Compile an asset; None if it has errors, which are reported."""
        before = len(self.diagnostics.errors)
        options: dict[str, OptionCode] = {}
        used: frozenset[str] = frozenset()
        for name, option in asset.options.items():
            parts = [self.asset_option(part) for part in (option if isinstance(option, tuple) else (option,))]
            used |= frozenset().union(*(needs for _, needs in parts))
            compiled = [part for part, _ in parts if part is not None]
            if len(compiled) == len(parts):  # the errors have been reported
                options[name] = compiled if isinstance(option, tuple) else compiled[0]
        self.depends.lets[asset.name] = used
        code = AssetCode(asset, BUILDERS[asset.build.text], options, self.template.deliver[asset.name])
        if len(self.diagnostics.errors) > before:
            return None
        return code if self.is_possible(code) else None

    def asset_option(self, option: Datum | Snippet) -> tuple[DatumCode | CompiledTemplate | None, frozenset[str]]:
        """Compile an option, and return the names that it uses; it must not depend on the answer."""
        if isinstance(option, Datum):
            code = self.datum(option, "an asset")
            return code, self.depends.needed(code) if code is not None else frozenset()
        tree = self.parsed_template(option)
        if tree is None:
            return None, frozenset()
        has_leak = self.leaks(tree, option, "an asset")
        text = self.compiled_template(tree, self.values | answer_if_named(option))
        return None if has_leak else text, self.depends.used(tree)

    def is_possible(self, code: AssetCode) -> bool:
        """Return whether the builder accepts the options that all instances share; report the one that it rejects."""
        try:
            constants = code.constants()
            code.builder.validate(constants)
            code.builder.file_name(code.asset.name, constants)
        except OptionFault as fault:
            self.add_diagnostics(code.fault(fault).diagnostics)
            return False
        except DiaError as error:
            self.add_diagnostics(error.diagnostics)
            return False
        return True
