"""What a bundle holds: its folder's name, its manifest, its records and what was used to make it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from dia_compiler import compile
from dia_compiler.freeze import write_bundle
from dia_compiler.freeze.bundle_plan import BundlePlan, seed_word
from dia_compiler.freeze.output import CompileOptions
from dia_compiler.freeze.write_bundle import provenance
from dia_runtime.bundle.open import open_bundle
from dia_runtime.bundle.verify import verify

BENCHMARK = "language: 1\nbenchmark: demo\nversion: 1.2.3\ntitle: A demo\nlicense: CC0-1.0\n"
SUMS = """\
template: sums
title: Sums
number: 7
category: arithmetic
domain: mathematics
level: easy
allow: {answer-ignores-parameter: the word is a decoration}
params: {n: {type: integer, min: 1, max: 9}, word: {type: words, from: animals, count: 1}}
answer: {value: "n + gcd(n, 6)", type: integer}
prompt: "{{ word }}: what is {{ n }} plus the greatest common divisor of it and 6?"
"""
PLAIN = """\
template: plain
title: Plain
params: {n: {type: integer, min: 1, max: 400}}
answer: {value: n + 1, type: integer}
prompt: "What comes after {{ n }}?"
"""
Make = Callable[..., Path]


@pytest.fixture
def made(tmp_path: Path) -> Make:
    """Compiles templates of a folder, and gives the bundle's folder."""

    def make(
        name: str = "a", benchmark: str = BENCHMARK, templates: tuple[str, ...] = (PLAIN,), **options: Any
    ) -> Path:
        specs = tmp_path / name / "specs"
        specs.mkdir(parents=True)
        (specs / "benchmark.yaml").write_text(benchmark)
        for number, text in enumerate(templates):
            (specs / f"t{number}.yaml").write_text(text)
        more = {"k": 3, "jobs": 1, "use_cache": False, **options}
        compiled = compile([specs], out=tmp_path / name / "out", **more)
        assert compiled is not None
        (folder,) = (path for path in (tmp_path / name / "out").iterdir() if not path.name.startswith("."))
        return folder

    return make


def records(folder: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / name).read_text().splitlines()]


def plan(seed: str = "0", chosen: tuple[str, ...] = (), names: tuple[str, ...] = ("a", "b"), **more: Any) -> BundlePlan:
    """The plan of a bundle of these templates, some of them chosen."""
    item: Any = SimpleNamespace(
        benchmark=SimpleNamespace(name="demo", facts=more.pop("facts", {"version": "1.2.3"})),
        folder=SimpleNamespace(chosen=set(chosen)),
        clean=[SimpleNamespace(name=name) for name in names],
    )
    return BundlePlan(item, seed, CompileOptions(k=4, out=Path("out")), **more)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def test_the_folder_has_a_name_that_says_what_it_holds() -> None:
    assert plan().folder == Path("out/demo-1.2.3-k4")
    assert plan(facts={}).folder_name == "demo-0.0.0-k4"
    assert plan(seed="7").folder_name == "demo-1.2.3-k4-7"
    assert plan(chosen=("b",), names=("b",)).folder_name == "demo.b-1.2.3-k4"
    assert plan(chosen=("b", "a"), names=("b", "a")).folder_name == f"demo.{digest('a b')}-1.2.3-k4"
    assert plan(is_limited=True).folder_name == f"demo.{digest('a b')}-1.2.3-k4"
    assert plan(target=Path("here")).folder == Path("here")
    assert [plan().is_selection, plan(chosen=("a",)).is_selection, plan(is_limited=True).is_selection] == [
        False, True, True,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("seed", "is_plain"),
    [("7", True), ("a-b9", True), ("a" * 16, True), ("a" * 17, False), ("", False), ("A", False), ("é", False)],
)
def test_short_plain_seeds_are_a_part_of_the_name(seed: str, is_plain: bool) -> None:
    assert seed_word(seed) == (seed if is_plain else digest(seed))


def test_the_manifest_says_what_was_asked_and_made(made: Make) -> None:
    folder = made(templates=(PLAIN, SUMS))
    assert folder.name == "demo-1.2.3-k3" and verify(folder) == []
    manifest = open_bundle(folder).manifest
    stated = {name: manifest[name] for name in (
        "format", "language", "rules", "benchmark", "title", "version", "license", "seed", "k", "counts", "templates",
        "selection", "left_out", "canary", "builders",
    )}  # fmt: skip
    assert stated == {
        "format": 1, "language": 2, "rules": 2, "benchmark": "demo", "title": "A demo", "version": "1.2.3", "license": "CC0-1.0",
        "seed": "0", "k": 3, "counts": {"templates": 2, "items": 2, "questions": 6}, "templates": ["sums", "plain"],
        "selection": False, "left_out": [], "canary": None, "builders": {},
    }  # fmt: skip
    assert list(manifest["functions"]) == ["gcd"]
    assert list(manifest["types"]) == ["integer", "words"]
    assert list(manifest["word_lists"]) == ["animals"]
    assert set(manifest["files"]) == {
        "questions.jsonl", "answers.jsonl", "templates.jsonl",
        "specs/benchmark.yaml", "specs/t0.yaml", "specs/t1.yaml",
    }  # fmt: skip


def test_a_template_has_a_record_of_its_facts(made: Make) -> None:
    folder = made(templates=(PLAIN, SUMS))
    sums, plain = records(folder, "templates.jsonl")
    shared = {"adversarial": "none", "items": 1, "positions": None}
    assert plain == plain | {
        **shared, "template": "plain", "title": "Plain", "number": None, "category": "uncategorised",
        "domain": "uncategorised", "level": "", "source": "t0.yaml",
        "sha256": hashlib.sha256(PLAIN.encode()).hexdigest(),
    }  # fmt: skip
    assert plain["degree_of_freedom"] == {"kind": "exact", "count": "400"}
    assert plain["answers"] == {"distinct": 3, "commonest_share": "1/3"}
    assert sums == sums | {
        **shared, "template": "sums", "title": "Sums", "number": 7, "category": "arithmetic",
        "domain": "mathematics", "level": "easy", "source": "t1.yaml",
    }  # fmt: skip
    assert (folder / "specs" / "t0.yaml").read_text() == PLAIN


def test_a_canary_is_in_every_part_of_the_bundle(made: Make) -> None:
    canary = "1b4e28ba-2fa1-11d2-883f-0016d3cca427"
    folder = made(benchmark=BENCHMARK + f"canary: {canary}\n")
    assert verify(folder) == []
    sentence = open_bundle(folder).manifest["canary"]
    assert canary in sentence
    (template,) = records(folder, "templates.jsonl")
    assert template["canary"] == sentence
    assert json.loads((folder / "provenance.json").read_text())["canary"] == sentence
    marked = (folder / "specs" / "t0.yaml").read_bytes()
    assert canary.encode() in marked and template["sha256"] == hashlib.sha256(marked).hexdigest()


def test_a_file_that_the_canary_would_make_too_large_has_none(made: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    canary = "1b4e28ba-2fa1-11d2-883f-0016d3cca427"
    benchmark = BENCHMARK + f"canary: {canary}\n"
    size = (made(benchmark=benchmark) / "specs" / "t0.yaml").stat().st_size
    for largest, is_marked in ((size, True), (size - 1, False)):
        monkeypatch.setattr(write_bundle, "FILE_BYTES", largest)
        folder = made(str(largest), benchmark)
        assert (canary in (folder / "specs" / "t0.yaml").read_text()) == is_marked and verify(folder) == []


def test_the_provenance_names_the_bundle_and_the_libraries(made: Make) -> None:
    folder = made()
    stated = json.loads((folder / "provenance.json").read_text())
    assert stated["bundle_id"] == open_bundle(folder).id
    assert stated["libraries"]["sympy"] and stated["plugins"] == {} and stated["tools"] == {}
    assert "canary" not in stated
    plain = provenance("d", {"dist": "1"}, ["no-such-distribution", "PyYAML"], {"bash": "5"})
    assert (plain["bundle_id"], plain["plugins"], plain["tools"]) == ("d", {"dist": "1"}, {"bash": "5"})
    assert "PyYAML" in plain["libraries"] and "no-such-distribution" not in plain["libraries"]
    assert "PyYAML" not in provenance("d", {})["libraries"]


def test_many_questions_are_in_several_files(made: Make) -> None:
    folder = made("shards", templates=(PLAIN,), k=7, shard_size=3)
    bundle = open_bundle(folder)
    assert len(bundle.names("questions")) == len(bundle.names("answers")) == 3 and verify(folder) == []
    whole = made("whole", templates=(PLAIN,), k=7, shard_size=7)
    assert list(open_bundle(whole).questions()) == list(bundle.questions())
    assert open_bundle(whole).names("questions") == ["questions.jsonl"]


def test_a_bundle_that_was_changed_is_not_taken_for_the_same(tmp_path: Path, dia: Callable[..., Any]) -> None:
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs" / "benchmark.yaml").write_text(BENCHMARK)
    (tmp_path / "specs" / "t.yaml").write_text(PLAIN)
    words = ("compile", "specs", "-o", "out", "-q", "--k", "2", "--jobs", "1")
    assert dia(tmp_path, *words).exit == 0
    answers = tmp_path / "out" / "demo-1.2.3-k2" / "answers.jsonl"
    before = answers.read_bytes()
    answers.write_bytes(before + b"\n")
    assert dia(tmp_path, *words).exit == 2
    assert dia(tmp_path, *words, "--force").exit == 0 and answers.read_bytes() == before
    (tmp_path / "specs" / "t.yaml").write_text(PLAIN.replace("n + 1", "n + 2"))  # the folder has an intact bundle
    assert dia(tmp_path, *words).exit == 2 and answers.read_bytes() == before
