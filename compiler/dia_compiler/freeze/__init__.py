"""From rows to a bundle on disk: health checks, cache, shards, atomic output."""

from __future__ import annotations

from typing import Any

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dia_compiler.freeze.bundle_plan import BundlePlan as BundlePlan
    from dia_compiler.freeze.bundle_plan import TemplateRows as TemplateRows
    from dia_compiler.freeze.bundle_plan import seed_word as seed_word
    from dia_compiler.freeze.write_bundle import freeze as freeze
    from dia_compiler.freeze.write_bundle import plugins_of as plugins_of
    from dia_compiler.freeze.write_bundle import provenance as provenance

OLD_NAMES = {"Ready": "TemplateRows"}  # of the module in earlier versions
PUBLIC = frozenset({"BundlePlan", "TemplateRows", "freeze", "plugins_of", "provenance", "seed_word", *OLD_NAMES})


def __getattr__(name: str) -> Any:
    if name not in PUBLIC:
        raise AttributeError(f"module `{__name__}` has no attribute `{name}`")
    from dia_compiler.freeze import bundle_plan, write_bundle

    name = OLD_NAMES.get(name, name)
    return getattr(bundle_plan if hasattr(bundle_plan, name) else write_bundle, name)
