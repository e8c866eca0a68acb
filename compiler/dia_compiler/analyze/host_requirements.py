"""What templates require of the machine: extras of the project, data files, tools.

A separate module, because an unchanged compile uses it without importing the code for templates.
"""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path

from dia_compiler.parse.discover import inside
from dia_language.diagnostics import install_extra

# Extra -> the modules that it installs
EXTRAS = {
    "models": ("litellm",),
    "tools": ("mcp",),
    "images": ("PIL", "segno", "captcha"),
    "binary": ("ziglang", "reportlab", "pypdf"),
    "report": ("matplotlib",),
    "cluster": ("distributed",),
    "parquet": ("pyarrow",),
    "probe": ("sklearn",),
    "speed": ("gmpy2",),
    "editor": ("pygls",),
}
KINDS = ("extra", "file", "tool")


def lacks(kind: str, name: str, folder: Path) -> str | None:
    """Return the missing extra, file or tool, with how to get it; None if it is available."""
    if kind == "extra":
        is_here = name in EXTRAS and all(find_spec(module) is not None for module in EXTRAS[name])
        return None if is_here else f"the extra `{name}`: {install_extra(name)}"
    if kind == "file":
        path = inside(folder, name)
        return None if path is not None and path.is_file() else f"the file {name}"
    return None if shutil.which(name) else f"the tool `{name}`"
