"""What a template asks of the host, and what the host has: extras of the project, data files, tools."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path

from dia_compiler.assets import BUILDERS
from dia_compiler.parse.discover import inside
from dia_compiler.parse.model import Template
from dia_language.diagnostics import Diagnostics, did_you_mean

# Extra -> the modules that it installs
EXTRAS = {
    "models": ("litellm",),
    "images": ("PIL", "segno", "captcha"),
    "binary": ("ziglang", "reportlab", "pypdf"),
    "report": ("matplotlib",),
    "cluster": ("distributed",),
    "parquet": ("pyarrow",),
    "speed": ("gmpy2",),
}
KINDS = ("extra", "file", "tool")


def lacks(kind: str, name: str, folder: Path) -> str | None:
    """What the host lacks of an extra, file or tool, with how to get it; None where it is there."""
    if kind == "extra":
        is_here = name in EXTRAS and all(find_spec(module) is not None for module in EXTRAS[name])
        return None if is_here else f"the extra `{name}`: pip install 'dia-spec[{name}]'"
    if kind == "file":
        path = inside(folder, name)
        return None if path is not None and path.is_file() else f"the file {name}"
    return None if shutil.which(name) else f"the tool `{name}`"


def missing_requirement(template: Template, folder: Path, faults: Diagnostics) -> str | None:
    """What the template needs and the host lacks, with how to get it; None where nothing is missing."""
    for key, value in template.requires:
        kind, name = key.text, value.text
        if kind == "extra" and name not in EXTRAS:
            help = did_you_mean(name, EXTRAS) or f"the extras are {', '.join(sorted(EXTRAS))}"
            faults.error("E204", f"no extra is named `{name}`", value.position, help)
        elif kind == "file" and inside(folder, name) is None:
            help = "keep it in the folder of `benchmark.yaml`, and write its path from there"
            faults.error("E101", f"the path `{name}` leaves the spec folder", value.position, help)
        elif kind == "tool" and ("/" in name or "\\" in name):  # a path would tell what else lies on the host
            faults.error("E204", f"`{name}` is a path, not the name of a tool", value.position, "write its name alone")
        elif kind not in KINDS:
            message = f"`requires` knows {', '.join(KINDS)}, not `{kind}`"
            faults.error("E201", message, key.position, did_you_mean(kind, KINDS))
        elif why := lacks(kind, name, folder):
            return why
    return next((why for name in extras_of(template) if (why := lacks("extra", name, folder))), None)


def extras_of(template: Template) -> list[str]:
    """The extras that the builders of the template's assets need."""
    extras = (BUILDERS[asset.build.text].extra for asset in template.assets)
    return list(dict.fromkeys(extra for extra in extras if extra is not None))
