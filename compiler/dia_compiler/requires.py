"""What a template asks of the host: an extra of the project, a data file, a tool."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from dia_runtime.language.diagnostics import Faults, did_you_mean

from dia_compiler.discover import inside

if TYPE_CHECKING:
    from dia_compiler.spec import Template

KINDS = ("extra", "file", "tool")

# Extra -> a module that it installs
EXTRAS = {
    "models": "litellm",
    "images": "segno",
    "binary": "ziglang",
    "report": "matplotlib",
    "cluster": "distributed",
    "parquet": "pyarrow",
    "speed": "gmpy2",
}


def missing_requirement(template: Template, folder: Path, faults: Faults) -> str | None:
    """What the template needs and the host lacks, with how to get it; None where nothing is missing."""
    for key, value in template.requires:
        kind, name = key.text, value.text
        if kind == "extra" and name not in EXTRAS:
            mend = did_you_mean(name, EXTRAS) or f"the extras are {', '.join(sorted(EXTRAS))}"
            faults.error("E204", f"no extra is named `{name}`", value.position, mend)
        elif kind == "file" and inside(folder, name) is None:
            mend = "keep it in the folder of `benchmark.yaml`, and write its path from there"
            faults.error("E101", f"the path `{name}` leaves the spec folder", value.position, mend)
        elif kind == "tool" and ("/" in name or "\\" in name):  # a path would tell what else lies on the host
            faults.error("E204", f"`{name}` is a path, not the name of a tool", value.position, "write its name alone")
        elif kind not in KINDS:
            message = f"`requires` knows {', '.join(KINDS)}, not `{kind}`"
            faults.error("E201", message, key.position, did_you_mean(kind, KINDS))
        elif why := lacks(kind, name, folder):
            return why
    return None


def lacks(kind: str, name: str, folder: Path) -> str | None:
    """What the host lacks of an extra, file or tool, with how to get it; None where it is there."""
    if kind == "extra":
        is_here = name in EXTRAS and find_spec(EXTRAS[name]) is not None
        return None if is_here else f"the extra `{name}`: pip install 'dia-spec[{name}]'"
    if kind == "file":
        path = inside(folder, name)
        return None if path is not None and path.is_file() else f"the file {name}"
    return None if shutil.which(name) else f"the tool `{name}`"
