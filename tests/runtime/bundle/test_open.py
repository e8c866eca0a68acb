from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dia_language.diagnostics import DiaError
from dia_runtime.bundle.canonical import manifest_bytes
from dia_runtime.bundle.manifest import with_checksum
from dia_runtime.bundle.open import Bundle, open_bundle
from helpers.failures import failure

Make = Callable[..., Path]


def read_all(bundle: Bundle) -> None:
    for records in (bundle.questions(), bundle.answers(), bundle.templates()):
        list(records)


def test_a_bundle_reads_back(tiny: Make) -> None:
    bundle = open_bundle(tiny(templates=2, k=3))
    assert [asked["id"] for asked in bundle.questions()][:4] == [
        "tiny/sum_0/0",
        "tiny/sum_0/1",
        "tiny/sum_0/2",
        "tiny/sum_1/0",
    ]
    assert [answer["text"] for answer in bundle.answers()] == ["8", "9", "10", "18", "19", "20"]
    assert [record["template"] for record in bundle.templates()] == ["sum_0", "sum_1"]
    assert bundle.has_answers


def test_the_id_is_what_sha256sum_says(tiny: Make) -> None:
    path = tiny()
    told = subprocess.run(["sha256sum", path / "manifest.json"], capture_output=True, text=True, check=True)
    assert open_bundle(path).id == told.stdout.split()[0]


def test_questions_come_before_the_file_is_read_to_its_end(tiny: Make) -> None:
    path = tiny()
    questions = open_bundle(path).questions()
    assert next(questions)["id"] == "tiny/sum_0/0"


def test_shards_are_read_in_their_order(tiny: Make, manifest_writer: Callable[..., Path]) -> None:
    path = tiny(templates=1, k=4)
    facts = json.loads((path / "manifest.json").read_bytes())
    lines = (path / "questions.jsonl").read_bytes().splitlines(keepends=True)
    (path / "questions.jsonl").unlink()
    for shard, held in {"00000": lines[:2], "00001": lines[2:3], "100000": lines[3:]}.items():
        (path / f"questions-{shard}.jsonl").write_bytes(b"".join(held))
    manifest_writer(path, {name: value for name, value in facts.items() if name != "files"})
    assert [asked["instance"] for asked in open_bundle(path).questions()] == [0, 1, 2, 3]


@pytest.mark.parametrize("name", ["questions.jsonl", "answers.jsonl", "templates.jsonl"])
def test_a_flipped_byte_is_told_with_both_digests(tiny: Make, name: str) -> None:
    path = tiny()
    held = bytearray((path / name).read_bytes())
    expected = hashlib.sha256(held).hexdigest()
    held[len(held) // 2] ^= 1
    (path / name).write_bytes(held)
    error = failure(lambda: read_all(open_bundle(path)))
    assert error.exit_code == 3
    assert name in str(error) and expected in str(error) and hashlib.sha256(held).hexdigest() in str(error)


def test_a_longer_and_a_shorter_file_are_told_before_a_record_is_given(tiny: Make) -> None:
    path = tiny()
    whole = (path / "questions.jsonl").read_bytes()
    for held in (whole + whole, whole[: len(whole) // 2], b""):
        (path / "questions.jsonl").write_bytes(held)
        error = failure(lambda: next(open_bundle(path).questions()))
        assert error.exit_code == 3 and hashlib.sha256(held).hexdigest() in str(error)


def test_a_missing_file_is_named(tiny: Make) -> None:
    path = tiny()
    (path / "answers.jsonl").unlink()
    error = failure(lambda: list(open_bundle(path).answers()))
    assert error.exit_code == 3 and "`answers.jsonl` is missing" in str(error)


def test_a_link_is_refused_even_to_the_right_bytes(tiny: Make, tmp_path: Path) -> None:
    path = tiny()
    (path / "answers.jsonl").rename(tmp_path / "elsewhere")
    (path / "answers.jsonl").symlink_to(tmp_path / "elsewhere")
    error = failure(lambda: list(open_bundle(path).answers()))
    assert error.exit_code == 3 and "link" in str(error)


def test_what_is_no_bundle_is_an_argument_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for place in (tmp_path / "nowhere", tmp_path / "file", tmp_path):
        assert failure(lambda place=place: open_bundle(place)).exit_code == 2  # type: ignore[misc]


def test_a_bundle_without_its_manifest_is_damaged(tiny: Make) -> None:
    path = tiny()
    (path / "manifest.json").unlink()
    assert failure(lambda: open_bundle(path)).exit_code == 3


def changed_manifest(path: Path, change: Callable[[dict[str, Any]], Any]) -> DiaError:
    """The error for a manifest that was changed by someone who then made its checksum right."""
    facts = json.loads((path / "manifest.json").read_bytes())
    change(facts)
    (path / "manifest.json").write_bytes(manifest_bytes(with_checksum(facts)))
    return failure(lambda: open_bundle(path))


HOSTILE_PATHS = [
    "../../.bashrc",
    "/etc/passwd",
    "specs/../../x",
    "a\\..\\b",
    "C:/x",
    "./x",
    "a//b",
    "",
    "a\x00b",
    "a\x1b[2J",
    "manifest.json",
    "provenance.json",
    "x" * 2000,
]


@pytest.mark.parametrize("name", HOSTILE_PATHS)
def test_a_path_that_leaves_the_folder_is_refused_before_anything_is_opened(tiny: Make, name: str) -> None:
    entry = {"size": 1, "sha256": "0" * 64}
    error = changed_manifest(tiny(), lambda facts: facts["files"].update({name: entry}))
    assert error.exit_code == 3
    assert "\x1b" not in str(error) and "\x00" not in str(error)


CHANGES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "newer format": lambda facts: facts.update(format=2),
    "no files": lambda facts: facts.pop("files"),
    "k as text": lambda facts: facts.update(k="5"),
    "k of zero": lambda facts: facts.update(k=0),
    "true as k": lambda facts: facts.update(k=True),
    "root in capitals": lambda facts: facts.update(questions_root="A" * 64),
    "size below zero": lambda facts: facts["files"]["questions.jsonl"].update(size=-1),
    "digest cut": lambda facts: facts["files"]["questions.jsonl"].update(sha256="00"),
    "entry as text": lambda facts: facts["files"].update({"questions.jsonl": "x"}),
    "counts empty": lambda facts: facts.update(counts={}),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_manifest_of_another_shape_is_refused(tiny: Make, change: Callable[[dict[str, Any]], Any]) -> None:
    assert changed_manifest(tiny(), change).exit_code == 3


MANIFESTS = {
    "nan": b'{"k":NaN}',
    "infinity": b'{"k":-Infinity}',
    "huge exponent": b'{"k":1e999}',
    "twice": b'{"k":1,"k":2}',
    "deep": b"[" * 200_000,
    "not utf-8": b'{"k":"\xff"}',
    "long number": b'{"k":' + b"9" * 5000 + b"}",
    "empty": b"",
    "a list": b"[]",
}


@pytest.mark.parametrize("held", MANIFESTS.values(), ids=MANIFESTS)
def test_a_manifest_that_readers_could_take_differently_is_refused(tiny: Make, held: bytes) -> None:
    path = tiny()
    (path / "manifest.json").write_bytes(held)
    error = failure(lambda: open_bundle(path))
    assert error.exit_code == 3 and "manifest.json" in str(error) and len(str(error)) < 500


def test_a_pretty_manifest_is_not_the_manifest(tiny: Make) -> None:
    path = tiny()
    facts = json.loads((path / "manifest.json").read_bytes())
    (path / "manifest.json").write_text(json.dumps(facts, indent=1))
    assert "canonical" in str(failure(lambda: open_bundle(path)))


RECORDS = {
    "no json": b"nothing\n",
    "a list": b"[1]\n",
    "no id": b'{"item":"x"}\n',
    "twice": b'{"id":"a","id":"b"}\n',
    "float": b'{"id":1.5}\n',
    "no newline": b'{"id":"a"}',
    "deep": b"[" * 100_000 + b"\n",
}


@pytest.mark.parametrize("held", RECORDS.values(), ids=RECORDS)
def test_a_record_of_a_self_made_bundle_is_refused_with_its_line(
    tiny: Make, manifest_writer: Callable[..., Path], held: bytes
) -> None:
    path = tiny()
    facts = json.loads((path / "manifest.json").read_bytes())
    with (path / "questions.jsonl").open("ab") as file:
        file.write(held)
    manifest_writer(path, {name: value for name, value in facts.items() if name != "files"})
    error = failure(lambda: list(open_bundle(path).questions()))
    assert error.exit_code == 3 and "line 7 of `questions.jsonl`" in str(error)


@pytest.mark.parametrize("name", ["Questions.jsonl", "specs/u\u0308.yaml", "QUESTIONS.JSONL"])
def test_names_that_some_systems_cannot_tell_apart_are_refused(tiny: Make, manifest_writer: Make, name: str) -> None:
    path = tiny()
    (path / name).parent.mkdir(exist_ok=True)
    (path / name).write_bytes(b"x\n")
    facts = json.loads((path / "manifest.json").read_bytes())
    manifest_writer(path, {key: value for key, value in facts.items() if key != "files"})
    with pytest.raises(DiaError, match=r"the same file as|composed form") as caught:
        open_bundle(path)
    assert caught.value.exit_code == 3
