"""Small bundles made by hand, as a compiler would write them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from dia_runtime.bundle.canonical import canonical_line, manifest_bytes
from dia_runtime.bundle.manifest import OUTSIDE, with_checksum
from dia_runtime.bundle.merkle import root
from dia_runtime.bundle.records import leaf

FORMAT = {"kind": "xml", "skip": "I-DO-NOT-KNOW"}
POINTS = {"correct": 1, "skipped": 0, "wrong": -2}
AREAS = [("arithmetic", "mathematics"), ("words", "language")]
Records = list[dict[str, Any]]


def question(template: int, instance: int, variant: str | None = None) -> dict[str, Any]:
    """The question for the sum of two small numbers."""
    left, right = 10 * template + 7, instance + 1
    name = f"sum_{template}"
    category, domain = AREAS[template % 2]
    wording = "" if variant is None else f"({variant}) "
    return {
        "id": f"tiny/{name}/{instance}" + (f"/{variant}" if variant else ""),
        "template": name,
        "item": name,
        "instance": instance,
        "variant": variant,
        "category": category,
        "domain": domain,
        "level": "easy",
        "skills": ["addition"],
        "messages": [{"role": "user", "content": f"{wording}What is {left} + {right}? Ω"}],
        "assets": [],
        "format": FORMAT,
        "points": POINTS,
    }


def answer(asked: Mapping[str, Any]) -> dict[str, Any]:
    """The answer record of such a question, with the product of the two as a typical mistake."""
    left, right = 10 * int(asked["template"][4:]) + 7, asked["instance"] + 1
    return {
        "id": asked["id"],
        "template": asked["template"],
        "answer": left + right,
        "text": str(left + right),
        "comparison": {"type": "integer"},
        "accept": [],
        "mistakes": {"product": str(left * right)} if left * right != left + right else {},
        "parameters": {"a": left, "b": right},
        "explanation": "Add them.",
    }


def template(name: str, number: int | None = None) -> dict[str, Any]:
    """The record of a template."""
    return {
        "template": name,
        "title": "A sum",
        "number": number,
        "category": "arithmetic",
        "domain": "mathematics",
        "level": "easy",
        "adversarial": "none",
        "degree_of_freedom": {"kind": "exact", "count": "100"},
        "items": 1,
        "positions": None,
        "source": f"specs/{name}.yaml",
        "sha256": "0" * 64,
        "answers": {"distinct": 3, "commonest_share": "1/3"},
    }


def write_lines(path: Path, records: Iterable[Mapping[str, Any]]) -> None:
    """One canonical line a record."""
    path.write_bytes(b"".join(canonical_line(dict(record)) + b"\n" for record in records))


def write_bundle(
    folder: Path,
    questions: Records,
    answers: Records | None,
    k: int,
    **facts: Any,
) -> Path:
    """A whole bundle of these records; `answers` of None leaves them out, as in a sealed bundle."""
    (folder / "specs").mkdir(parents=True)
    (folder / "specs" / "benchmark.yaml").write_text("benchmark: tiny\n")
    (folder / "provenance.json").write_text('{"python":"3.11"}')
    write_lines(folder / "questions.jsonl", questions)
    names = list(dict.fromkeys(record["template"] for record in questions))
    write_lines(folder / "templates.jsonl", [template(name, at + 1) for at, name in enumerate(names)])
    if answers is not None:
        write_lines(folder / "answers.jsonl", answers)
    items = len({record["item"] for record in questions})
    counts = {"templates": len(names), "items": items, "questions": len(questions)}
    known = {"k": k, "counts": counts, "questions_root": root(map(leaf, questions))}
    return write_manifest(folder, {**FACTS, **known, **facts})


def write_manifest(folder: Path, facts: Mapping[str, Any]) -> Path:
    """The manifest that these facts and the files of the folder give."""
    found = sorted(path for path in folder.rglob("*") if path.is_file() and path.name not in OUTSIDE)
    files = {path.relative_to(folder).as_posix(): entry(path) for path in found}
    rest = {name: value for name, value in facts.items() if name != "checksum"}
    (folder / "manifest.json").write_bytes(manifest_bytes(with_checksum({"files": files, **rest})))
    return folder


def entry(path: Path) -> dict[str, Any]:
    """What a manifest says of a file."""
    held = path.read_bytes()
    return {"size": len(held), "sha256": hashlib.sha256(held).hexdigest()}


FACTS: dict[str, Any] = {
    "format": 1,
    "language": 1,
    "benchmark": "tiny",
    "title": "Tiny sums",
    "version": "1",
    "license": "Apache-2.0",
    "seed": "0",
    "points": POINTS,
    "answer_format": FORMAT,
    "functions": {},
    "types": {"integer": 1},
    "left_out": [],
    "canary": None,
}


@pytest.fixture
def tiny(tmp_path: Path) -> Callable[..., Path]:
    """Makes a bundle of so many templates with k instances each, in a folder of the test's own."""

    def make(name: str = "bundle", templates: int = 2, k: int = 3, sealed: bool = False, **facts: Any) -> Path:
        variants = facts.pop("variants", [None])
        questions = [question(t, i, v) for t in range(templates) for i in range(k) for v in variants]
        answers = None if sealed else [answer(asked) for asked in questions]
        return write_bundle(tmp_path / name, questions, answers, k, **facts)

    return make


@pytest.fixture
def bundle_writer() -> Callable[..., Path]:
    """`write_bundle`, for tests that make their own records."""
    return write_bundle


@pytest.fixture
def manifest_writer() -> Callable[..., Path]:
    """`write_manifest`, for tests that change a bundle and hide it."""
    return write_manifest
