"""`dia diff`: what differs between two bundles, the alarming case first."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dia_compiler import compile
from helpers.schemas import require_valid

Dia = Callable[..., Any]

BENCHMARK = "language: 1\nbenchmark: demo\nversion: {}\n"
SUM = """\
template: sum
title: Sums
level: {level}
params: {{a: {{type: integer, min: 1, max: 99}}, b: {{type: integer, min: 1, max: 99}}}}
answer: {{value: {value}, type: integer}}
prompt: "{prompt}"
"""
OTHER = """\
template: {name}
title: Squares
params: {{n: {{type: integer, min: 10, max: 9999}}}}
answer: {{value: n * n, type: integer}}
prompt: What is the square of {{{{ n }}}}?
"""
SESSIONS = """\
template: talk
title: Double
params: {{n: {{type: integer, min: 10, max: 9999}}}}
sessions:
  ask:
    turns:
      - user: "What is twice {{{{ n }}}}? {{{{ format_instruction }}}}"
        reply: {{name: double, format: json, fields: {{value: integer}}}}
grade: {{correct: {correct}}}
"""
AS_BEFORE: dict[str, str] = {"level": "easy", "value": "a + b", "prompt": "What is {{ a }} + {{ b }}?"}


def bundle(
    folder: Path,
    name: str,
    version: str = "1.0.0",
    others: tuple[str, ...] = ("square",),
    sessions: str = "",
    **changed: str,
) -> Path:
    specs = folder / f"specs-{name}"
    specs.mkdir()
    (specs / "benchmark.yaml").write_text(BENCHMARK.format(version))
    (specs / "sum.yaml").write_text(SUM.format(**(AS_BEFORE | changed)))
    for other in others:
        (specs / f"{other}.yaml").write_text(OTHER.format(name=other))
    if sessions:
        (specs / "talk.yaml").write_text(sessions)
    made = compile([specs], k=3, out=folder / name, jobs=1, use_cache=False).bundles[0].path
    return made.rename(folder / name / "bundle")


def facts(dia: Dia, folder: Path, one: str = "old/bundle", other: str = "new/bundle") -> tuple[int, dict[str, Any]]:
    printed = dia(folder, "diff", one, other, "--json")
    found = json.loads(printed.stdout)
    require_valid("diff", found)
    return printed.exit, found


def counts(found: dict[str, Any]) -> dict[str, int]:
    return {name: held["count"] for name, held in found.items() if isinstance(held, dict) and held.get("count")}


def test_a_bundle_equals_itself_and_its_copy(tmp_path: Path, dia: Dia) -> None:
    old = bundle(tmp_path, "old")
    shutil.copytree(old, tmp_path / "copy")
    code, found = facts(dia, tmp_path, other="copy")
    assert (code, found["equal"], counts(found), found["manifest"]) == (0, True, {}, [])
    assert dia(tmp_path, "diff", "old/bundle", "copy").stdout == f"equal: {found['old']['digest']}\n"


def test_an_answer_that_changed_alone_comes_first(tmp_path: Path, dia: Dia) -> None:
    bundle(tmp_path, "old")
    bundle(tmp_path, "new", value="a + b + 1")
    code, found = facts(dia, tmp_path)
    assert (code, found["same_questions"], counts(found)) == (1, True, {"answers_changed_alone": 3})
    for entry in found["answers_changed_alone"]["listed"]:
        assert int(entry["new"]) == int(entry["old"]) + 1
    printed = dia(tmp_path, "diff", "old/bundle", "new/bundle").stdout.splitlines()
    assert printed[5] == "answers changed, questions unchanged: 3"


def test_sessions_that_are_graded_differently_come_first(tmp_path: Path, dia: Dia) -> None:
    bundle(tmp_path, "old", sessions=SESSIONS.format(correct="double.value == 2 * n"))
    bundle(tmp_path, "new", sessions=SESSIONS.format(correct="double.value == 2 * n + 1"))
    code, found = facts(dia, tmp_path)
    assert (code, found["same_questions"], counts(found)) == (1, True, {"answers_changed_alone": 3})


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"prompt": "Add {{ a }} and {{ b }}."}, {"questions_changed": 3}),
        ({"prompt": "What is {{ a }} - {{ b }}?", "value": "a - b"}, {"questions_changed": 3, "answers_changed": 3}),
        ({"level": "hard"}, {"questions_relabelled": 3}),
        ({"others": ("square", "cube")}, {"questions_added": 3}),
        ({"others": ()}, {"questions_removed": 3}),
        ({"version": "1.0.1"}, {}),
    ],
)
def test_each_kind_of_change_is_counted(
    changed: dict[str, Any], expected: dict[str, int], tmp_path: Path, dia: Dia
) -> None:
    bundle(tmp_path, "old")
    bundle(tmp_path, "new", **changed)
    code, found = facts(dia, tmp_path)
    assert (code, counts(found)) == (1, expected)
    assert ("version" in {entry["name"] for entry in found["manifest"]}) == ("version" in changed)
    both = expected.get("answers_changed")
    note = f"questions changed: {expected.get('questions_changed')} ({both} of them with a changed answer)\n"
    assert (note in dia(tmp_path, "diff", "old/bundle", "new/bundle").stdout) == (both is not None)
    assert found["templates"] == {
        "added": ["cube"] if "questions_added" in expected else [],
        "removed": ["square"] if "questions_removed" in expected else [],
    }


def test_the_words_are_these(tmp_path: Path, dia: Dia) -> None:
    bundle(tmp_path, "old")
    bundle(tmp_path, "new", version="2.0.0", others=("cube",), value="a + b + 1")
    printed = dia(tmp_path, "diff", "old/bundle", "new/bundle").stdout.splitlines()
    assert [line.partition(":")[0] for line in printed if not line.startswith("  ")] == [
        "old old/bundle", "new new/bundle", "questions differ", "answers changed, questions unchanged",
        "questions added", "questions removed", "templates added", "templates removed", "specs added", "specs removed",
        "specs changed", "manifest",
    ]  # fmt: skip
    assert printed[-1] == "manifest: version 1.0.0 -> 2.0.0"
    assert "questions differ: some were added or removed, none changed" in printed
    bundle(tmp_path, "text", prompt="How much is {{ a }} + {{ b }}?")
    assert "questions differ" in dia(tmp_path, "diff", "old/bundle", "text/bundle").stdout.splitlines()


def test_shards_are_read_like_one_file(tmp_path: Path, dia: Dia) -> None:
    bundle(tmp_path, "old")
    made = compile([tmp_path / "specs-old"], k=3, out=tmp_path / "out", jobs=1, shard_size=2).bundles[0].path
    made.rename(tmp_path / "shards")
    code, found = facts(dia, tmp_path, other="shards")
    assert (code, found["same_questions"], counts(found), found["manifest"]) == (1, True, {}, [])


def test_other_libraries_are_named_and_are_no_difference(tmp_path: Path, dia: Dia) -> None:
    old = bundle(tmp_path, "old")
    new = Path(shutil.copytree(old, tmp_path / "copy"))
    held = json.loads((new / "provenance.json").read_text())
    held["libraries"]["sympy"] = "0.1"
    (new / "provenance.json").write_text(json.dumps(held))
    code, found = facts(dia, tmp_path, other="copy")
    assert code == 0 and [(entry["name"], entry["new"]) for entry in found["versions"]] == [("sympy", "0.1")]


def test_damage_is_told(tmp_path: Path, dia: Dia) -> None:
    new = Path(shutil.copytree(bundle(tmp_path, "old"), tmp_path / "copy"))
    path = new / "answers.jsonl"
    path.write_bytes(path.read_bytes().replace(b"1", b"2", 1))
    printed = dia(tmp_path, "diff", "old/bundle", "copy")
    assert printed.exit == 3 and "answers.jsonl` differs from the manifest" in printed.stderr


def test_a_bundle_without_answers_is_compared_by_its_questions(tmp_path: Path, dia: Dia) -> None:
    from dia_runtime.bundle.canonical import manifest_bytes
    from dia_runtime.bundle.manifest import with_checksum

    new = Path(shutil.copytree(bundle(tmp_path, "old"), tmp_path / "copy"))
    (new / "answers.jsonl").unlink()
    manifest = json.loads((new / "manifest.json").read_bytes())
    del manifest["checksum"], manifest["files"]["answers.jsonl"]
    (new / "manifest.json").write_bytes(manifest_bytes(with_checksum(manifest)))
    code, found = facts(dia, tmp_path, other="copy")
    assert (code, found["same_questions"]) == (1, True)
    assert "answers_changed_alone" not in counts(found) and "questions_changed" not in counts(found)
