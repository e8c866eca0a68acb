"""Small specs for tests: written to a folder, checked, expanded in this process."""

from __future__ import annotations

from pathlib import Path

from dia_compiler.analyze.check import check
from dia_compiler.analyze.prepare import prepare
from dia_compiler.analyze.settings import settings_of
from dia_compiler.generate.expand import Expansion, Instance
from dia_compiler.parse.discover import discover
from dia_language.diagnostics import DiaError, Diagnostic, Diagnostics

BENCHMARK = "language: 1\nbenchmark: small\nversion: 1.0.0\n"


def written(folder: Path, template: str, benchmark: str = BENCHMARK, **files: str) -> Path:
    """The folder of a benchmark of one template and other files (`data_csv="..."` is data.csv)."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "benchmark.yaml").write_text(benchmark)
    (folder / "template.yaml").write_text(template)
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text)
    return folder


def found(folder: Path, template: str, benchmark: str = BENCHMARK, **files: str) -> list[Diagnostic]:
    """What a check of the template tells without evaluating anything."""
    checked = check(discover([written(folder, template, benchmark, **files)]))
    return checked.diagnostics.ordered(checked.sources)


def expansion(folder: Path, template: str, benchmark: str = BENCHMARK, seed: str = "0", **files: str) -> Expansion:
    """The template, ready to make its instances. Raises DiaError with every error that a check tells."""
    checked = check(discover([written(folder, template, benchmark, **files)]))
    if checked.diagnostics.errors:
        raise DiaError(checked.diagnostics.errors)
    item = checked.benchmarks[0]
    spec = item.clean[0]
    faults = Diagnostics()
    prepared = prepare(spec, item.benchmark, faults, item.lists_of(spec))
    assert not faults.errors
    return Expansion(prepared, settings_of(item.benchmark, spec, seed))


def questions(folder: Path, template: str, k: int = 5, benchmark: str = BENCHMARK, **files: str) -> list[Instance]:
    """The questions of the first k instances of every item."""
    return list(expansion(folder, template, benchmark, **files).questions(k))
