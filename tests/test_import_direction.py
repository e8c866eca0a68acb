"""Each package is a list of stages, and imports point downwards only: to earlier stages, and to packages below.

Imports inside functions count; only those for type checkers do not. Modules never import each other in a circle.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCES = {
    "dia_language": ROOT / "runtime" / "dia_language",
    "dia_runtime": ROOT / "runtime" / "dia_runtime",
    "dia_compiler": ROOT / "compiler" / "dia_compiler",
}
PACKAGES_BELOW = {
    "dia_language": frozenset[str](),
    "dia_runtime": frozenset({"dia_language"}),
    "dia_compiler": frozenset({"dia_language", "dia_runtime"}),
}

# The stages of each package, the lowest first. Rooms of one stage do not import each other.
STAGES: dict[str, tuple[frozenset[str], ...]] = {
    "dia_language": (
        frozenset({"counts", "json_schema", "limits"}),
        frozenset({"diagnostics", "error_codes"}),
        frozenset({"budgets", "plugins"}),
        frozenset({"workers", "numbers", "media"}),
        frozenset({"confinement", "yaml_nodes"}),
        frozenset({"functions"}),
        frozenset({"answers", "expressions"}),
        frozenset({"templates"}),
        frozenset({"stored"}),
    ),
    "dia_runtime": (
        frozenset({"data", "formats"}),
        frozenset({"bundle"}),
        frozenset({"store", "scanning"}),
        frozenset({"grading", "respondents"}),
        frozenset({"running"}),
        frozenset({"psychometrics"}),
        frozenset({"scoring"}),
        frozenset({"report", "integrations"}),
        frozenset({"commands"}),
    ),
    "dia_compiler": (
        frozenset({"types", "probe"}),
        frozenset({"sampling", "assets"}),
        frozenset({"parse"}),
        frozenset({"analyze"}),
        frozenset({"freeze"}),
        frozenset({"generate"}),
        frozenset({"distribute"}),
        frozenset({"pipeline"}),
        frozenset({"authoring", "explore"}),
        frozenset({"commands"}),
    ),
}
# Entry points and what keeps old import paths alive: they may import anything, and nothing of ours imports them.
ENTRIES = {
    "dia_language": frozenset[str](),
    "dia_runtime": frozenset({"run", "grade", "score", "calibrate", "language", "exports", "harnesses"}),
    "dia_compiler": frozenset({"api", "compile", "entry", "__main__"}),
}
MOST_FLAT_MODULES = 10


def name_of(path: Path, package: str) -> str:
    parts = path.relative_to(SOURCES[package]).with_suffix("").parts
    return ".".join((package, *parts)).removesuffix(".__init__")


@cache
def modules() -> dict[str, Path]:
    return {
        name_of(path, package): path for package, folder in SOURCES.items() for path in sorted(folder.rglob("*.py"))
    }


def room_of(module: str) -> tuple[str, str]:
    """Package and first name below it, which is empty for the package itself."""
    package, _, rest = module.partition(".")
    return package, rest.partition(".")[0]


def is_entry(module: str) -> bool:
    package, room = room_of(module)
    return room in ENTRIES[package]


@cache
def imports_of(module: str) -> frozenset[str]:
    """The modules of ours that a module imports, wherever in the file."""
    names: set[str] = set()
    for node in statements(ast.parse(modules()[module].read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            submodules = {f"{node.module}.{alias.name}" for alias in node.names} & modules().keys()
            is_all = len(submodules) == len(node.names)
            names |= submodules if is_all else {node.module, *submodules}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return frozenset(names & modules().keys() - {module})


def statements(block: ast.AST) -> Iterator[ast.AST]:
    """All statements within one, but for those for type checkers; expressions, which are most of a tree, are left out."""
    if isinstance(block, ast.If) and isinstance(block.test, ast.Name) and block.test.id == "TYPE_CHECKING":
        return
    for part in ("body", "handlers", "orelse", "finalbody", "cases"):
        for inner in getattr(block, part, ()):
            yield inner
            yield from statements(inner)


OURS = [module for module in modules() if room_of(module)[1] and not is_entry(module)]


@pytest.mark.parametrize("package", SOURCES)
def test_imports_point_downwards(package: str) -> None:
    for module in OURS:
        if room_of(module)[0] == package:
            require_downward_imports(module)


def require_downward_imports(module: str) -> None:
    """Fail if the module imports something that is not below it."""
    package, room = room_of(module)
    level = {name: number for number, stage in enumerate(STAGES[package]) for name in stage}
    assert room in level, (
        f"`{module}`: `{package}.{room}` is in no stage: add it to STAGES where what it imports is below it"
    )
    for imported in imports_of(module):
        other_package, other = room_of(imported)
        assert not is_entry(imported), (
            f"`{module}`: `{imported}` is an entry point or an old path: import the module behind it"
        )
        if other_package != package:
            assert other_package in PACKAGES_BELOW[package], (
                f"`{module}`: `{package}` must not import `{other_package}`"
            )
        elif other and other != room:
            assert other in level, f"`{module}`: `{package}.{other}` is in no stage"
            assert level[other] < level[room], f"`{module}`: `{imported}` is not below `{package}.{room}`"


def test_no_modules_import_each_other_in_a_circle() -> None:
    sorter = TopologicalSorter({module: imports_of(module) for module in OURS})
    try:
        sorter.prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(reversed(error.args[1])))


@pytest.mark.parametrize("package", SOURCES)
def test_every_stage_is_there_and_few_modules_are_flat(package: str) -> None:
    rooms = {room_of(module)[1] for module in modules() if room_of(module)[0] == package} - {""}
    assert rooms == frozenset().union(*STAGES[package]) | ENTRIES[package]
    assert len(list(SOURCES[package].glob("*.py"))) <= MOST_FLAT_MODULES
