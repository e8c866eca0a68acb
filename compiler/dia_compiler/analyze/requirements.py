"""What a template requires of the machine, and what of it is missing."""

from __future__ import annotations

from pathlib import Path

from dia_compiler.analyze.host_requirements import EXTRAS, KINDS, lacks
from dia_compiler.assets import BUILDERS
from dia_compiler.parse.discover import inside
from dia_compiler.parse.model import Template
from dia_language.diagnostics import Diagnostics, did_you_mean


def missing_requirement(template: Template, folder: Path, diagnostics: Diagnostics) -> str | None:
    """Return what the template requires and the machine lacks, with how to get it; None if nothing is missing."""
    for key, value in template.requires:
        kind, name = key.text, value.text
        if kind == "extra" and name not in EXTRAS:
            help = did_you_mean(name, EXTRAS) or f"the extras are {', '.join(sorted(EXTRAS))}"
            diagnostics.error("E204", f"unknown extra `{name}`", value.position, help)
        elif kind == "file" and inside(folder, name) is None:
            help = "put it in the folder of `benchmark.yaml`, and write its path relative to that folder"
            diagnostics.error("E101", f"the path `{name}` leads outside the spec folder", value.position, help)
        elif kind == "tool" and ("/" in name or "\\" in name):  # a path would reveal which other files exist
            diagnostics.error(
                "E204", f"`{name}` is a path, not the name of a tool", value.position, "write only the name"
            )
        elif kind not in KINDS:
            message = f"`requires` accepts {', '.join(KINDS)}, not `{kind}`"
            diagnostics.error("E201", message, key.position, did_you_mean(kind, KINDS))
        elif why := lacks(kind, name, folder):
            return why
    return next((why for name in extras_of(template) if (why := lacks("extra", name, folder))), None)


def extras_of(template: Template) -> list[str]:
    """Return the extras that the builders of the template's assets need."""
    extras = (BUILDERS[asset.build.text].extra for asset in template.assets)
    return list(dict.fromkeys(extra for extra in extras if extra is not None))
