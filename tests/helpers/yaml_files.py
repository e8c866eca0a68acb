"""YAML files as plain data, which is not how dia reads them."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import yaml

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml, where it is built in: a ninth of the time
TEXT_LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)  # scalars stay text


@cache
def content(path: Path) -> Any:
    """The content of a file that no test changes."""
    return yaml.load(path.read_bytes(), LOADER)
