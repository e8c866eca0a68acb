"""What must be the same wherever pieces of one bundle are made: Python, the libraries, dia and its packages."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version

from dia_language.functions import library
from dia_runtime.formats import FORMATS

from dia_compiler.assets import BUILDERS
from dia_compiler.freeze.fingerprint import digest_of
from dia_compiler.types import TYPES
from dia_compiler.types.word_lists import WORD_LISTS

# Those that computed the truth; builders of assets name theirs.
LIBRARIES = ("sympy", "mpmath", "jinja2", "pyyaml", "google-re2", "cryptography", "pycryptodome", "gmpy2")

_version = cache(version)  # reading a package's metadata takes a millisecond


def installed(names: Iterable[str]) -> dict[str, str]:
    """Return the versions of those packages that are installed here."""
    versions_by_name = {}
    for name in names:
        with suppress(PackageNotFoundError):
            versions_by_name[name] = _version(name)
    return versions_by_name


def versions() -> dict[str, str]:
    """Name -> version of everything that the bytes of a bundle may depend on, those of provenance included."""
    registries = (library().registry, TYPES, BUILDERS, FORMATS)
    plugins = {plugin.distribution for registry in registries for plugin in registry.plugins.values()}
    builders = {name for builder in BUILDERS.values() for name in builder.libraries}
    versions_by_name = {"python": f"{platform.python_implementation()} {platform.python_version()}"}
    versions_by_name |= installed(sorted({*LIBRARIES, "dia-spec"} | builders | plugins))
    tables: tuple[Mapping[str, object], ...] = (library(), TYPES, BUILDERS, WORD_LISTS)
    revisions = [{name: str(getattr(item, "revision", "")) for name, item in table.items()} for table in tables]
    return {**versions_by_name, "revisions": digest_of([json.dumps(revisions, sort_keys=True)])}


def difference(there: Mapping[str, str], here: Mapping[str, str]) -> str | None:
    """What the other side has otherwise, in words; None if all is the same."""
    for name in sorted({*there, *here}):
        if there.get(name) != here.get(name):
            if name == "revisions":
                return "another state of dia's functions and types"
            return f"{name} {there.get(name, 'not at all')} instead of {here.get(name, 'none')}"
    return None
