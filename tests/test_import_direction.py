"""The house has floors, and imports go downwards only; the test reads the imports of every module."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCES = {
    "dia_compiler": ROOT / "compiler" / "dia_compiler",
    "dia_runtime": ROOT / "runtime" / "dia_runtime",
}

# Floors of the runtime, the ground first. A module may import from its own room and from lower floors;
# on the ground only `language` and `data` may be imported by the others.
FLOORS: tuple[frozenset[str], ...] = (
    frozenset({"language", "data"}),
    frozenset({"ordinary"}),
    frozenset(
        {
            "formats",
            "bundle",
            "store",
            "store_schema",
            "claims",
            "packed",
            "transcripts",
            "metrics",
            "intervals",
            "rasch",
        }
    ),
    frozenset({"statistics", "labels"}),
    frozenset({"grade", "truth", "session_records", "calibrate"}),
    frozenset({"respondents", "judge"}),
    frozenset({"lay_down", "scanning", "jobs", "sessions", "writing", "blocks", "beside", "merge_runs"}),
    frozenset({"asking", "ensemble", "imports", "together"}),
    frozenset({"exports", "run", "score"}),
    frozenset({"harnesses", "report", "agreement", "audit", "views", "panel", "overlap"}),
    frozenset({"scale", "explain", "linking"}),
    frozenset({"boundary"}),
    frozenset({"commands"}),
)
ROOMS_THAT_ARE_ONE = ({"store", "store_schema", "claims"}, {"metrics", "intervals"})

# Stages of the compiler, the lowest first.
STAGES: tuple[frozenset[str], ...] = (
    frozenset(
        {
            "read",
            "types",
            "fuzz",
            "defaults",
            "scaffold",
            "boundary",
            "digests",
            "fingerprint",
            "means",
            "output",
            "shapes",
            "spool",
        }
    ),
    frozenset({"assets", "discover", "rows", "spec", "cache", "freedom", "shards"}),
    frozenset({"talk"}),
    frozenset({"build", "host", "versions"}),
    frozenset({"talk_build"}),
    frozenset({"talk_shape"}),
    frozenset({"schema", "settings", "requires", "eaten", "data_files"}),
    frozenset({"unchanged", "cluster_task"}),
    frozenset({"domains", "answer_options", "declared", "cluster"}),
    frozenset({"fields", "talk_flow", "talk_order", "talk_prepared"}),
    frozenset({"dependencies", "items", "prepared"}),
    frozenset({"draw", "pieces", "workshop"}),
    frozenset({"conditions", "options", "own_functions"}),
    frozenset({"artefacts"}),
    frozenset({"planning"}),
    frozenset({"wordings"}),
    frozenset({"talk_there"}),
    frozenset({"talks"}),
    frozenset({"prepare"}),
    frozenset({"expand"}),
    frozenset({"talk_make"}),
    frozenset({"talk_expand"}),
    frozenset({"records", "entry_examples", "talk_examples", "parts"}),
    frozenset({"check", "examples"}),
    frozenset({"work", "talk_shown", "moves"}),
    frozenset({"gather", "health"}),
    frozenset({"freeze"}),
    frozenset({"make"}),
    frozenset({"part", "merge"}),
    frozenset({"compile", "preview"}),
    frozenset({"recompile", "explore"}),
    frozenset({"commands"}),
    frozenset({"cli"}),
    frozenset({"entry"}),
    frozenset({"__main__"}),
)


def modules(package: str) -> list[Path]:
    return sorted(SOURCES[package].rglob("*.py"))


def room(path: Path, package: str) -> str:
    return path.relative_to(SOURCES[package]).parts[0].removesuffix(".py")


def imported(path: Path) -> set[str]:
    """Every module of ours that a file imports, wherever in the file; those for type checking alone are left out."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    skipped = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        for inner in ast.walk(node)
    }
    found = set()
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found |= {f"{node.module}.{alias.name}" for alias in node.names if node.module in SOURCES}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return {name for name in found if name.partition(".")[0] in SOURCES}


@pytest.mark.parametrize("path", modules("dia_runtime"), ids=lambda path: str(path.relative_to(ROOT)))
def test_the_runtime_knows_nothing_of_the_compiler_and_looks_downwards(path: Path) -> None:
    own = room(path, "dia_runtime")
    names = imported(path)
    assert not {name for name in names if name.startswith("dia_compiler")}
    if own == "__init__":
        return
    check_floors(own, {name.split(".")[1] for name in names if "." in name}, FLOORS)


@pytest.mark.parametrize("path", modules("dia_compiler"), ids=lambda path: str(path.relative_to(ROOT)))
def test_the_stages_of_the_compiler_look_downwards(path: Path) -> None:
    own = room(path, "dia_compiler")
    if own == "__init__":
        return
    names = {name for name in imported(path) if name.startswith("dia_compiler.")}
    check_floors(own, {name.split(".")[1] for name in names}, STAGES)


def check_floors(own: str, others: set[str], floors: tuple[frozenset[str], ...]) -> None:
    level = {name: number for number, floor in enumerate(floors) for name in floor}
    assert own in level, f"the room `{own}` stands on no floor"
    for other in others - {own}:
        assert other in level, f"the room `{other}` stands on no floor"
        beside = any({own, other} <= rooms for rooms in ROOMS_THAT_ARE_ONE)
        assert level[other] < level[own] or beside, f"`{own}` imports `{other}`, which is not below it"
