"""Measures the shipped families at k = 200 and keeps the figures in docs/families.json, from which pages are made.

python docs/measure_families.py                    all families: some minutes
python docs/measure_families.py rank fibonacci     these, and those that have no figures yet
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from dia_compiler.pipeline.api import compile

DOCS = Path(__file__).resolve().parent
SPECS = DOCS.parent / "specs" / "dia_bench"
FIGURES = DOCS / "families.json"
K = 200


def families() -> dict[str, Path]:
    """Every family by its name, in the order of their numbers."""
    return {path.stem.partition("_")[2]: path for path in sorted(SPECS.glob("d*.yaml"))}


def measured(paths: list[Path]) -> dict[str, dict[str, Any]]:
    """The figures of the families in these files."""
    with tempfile.TemporaryDirectory() as folder:
        bundle = compile(paths, K, out=Path(folder), jobs=2).bundles[0].path
        sizes: dict[str, list[int]] = {}
        for question in _records(bundle / "questions.jsonl"):
            sizes.setdefault(question["template"], []).append(len(question["messages"][0]["content"]))
        return {
            held["template"]: _figures(held, sizes[held["template"]]) for held in _records(bundle / "templates.jsonl")
        }


def _records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _figures(held: dict[str, Any], sizes: list[int]) -> dict[str, Any]:
    """Degree of freedom, how answers spread, and the median and the largest length of the prompts in characters."""
    ordered = sorted(sizes)
    return {
        "number": held["number"],
        "degree_of_freedom": held["degree_of_freedom"],
        "answers": held["answers"],
        "characters": [ordered[len(ordered) // 2], ordered[-1]],
    }


def main(names: list[str]) -> int:
    """The exit code: 0, or 2 for a name that no family has."""
    known = families()
    held = json.loads(FIGURES.read_text(encoding="utf-8")) if names and FIGURES.is_file() else {}
    if unknown := set(names) - set(known):
        print(f"no family is called {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    wanted = [path for name, path in known.items() if name in names or name not in held]
    found = held | measured(wanted)
    lines = [f"{json.dumps(name)}: {json.dumps(found[name], sort_keys=True)}" for name in known if name in found]
    FIGURES.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
