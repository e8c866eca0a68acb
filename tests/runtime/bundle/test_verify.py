from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from dia_language.diagnostics import DiaError
from dia_runtime.bundle.open import open_bundle
from dia_runtime.bundle.records import question_id
from dia_runtime.bundle.verify import Problem, examine, verify
from helpers.failures import refusal

Make = Callable[..., Path]


def named(path: Path) -> set[tuple[str, str]]:
    return {(problem.kind, problem.path) for problem in verify(path)}


def test_an_untouched_bundle_is_complete_and_valid(tiny: Make) -> None:
    found = examine(path := tiny())
    assert verify(path) == [] and found.is_complete and found.is_valid
    assert found.id == open_bundle(path).id
    assert found.not_covered == ("provenance.json",)


@pytest.mark.long
def test_every_flipped_byte_is_found_and_its_file_named(tiny: Make) -> None:
    path = tiny(templates=1, k=1)
    for file in sorted(path.rglob("*")):
        if not file.is_file() or file.name == "provenance.json":
            continue
        held = file.read_bytes()
        name = file.relative_to(path).as_posix()
        for at in range(len(held)):
            file.write_bytes(held[:at] + bytes([held[at] ^ (1 << at % 8)]) + held[at + 1 :])
            problems = verify(path)
            assert name in {problem.path for problem in problems}, (name, at)
        file.write_bytes(held)
    assert verify(path) == []


def test_provenance_is_outside_and_said_to_be(tiny: Make) -> None:
    path = tiny()
    (path / "provenance.json").write_text("anything")
    assert verify(path) == [] and "provenance.json" in examine(path).not_covered
    (path / "provenance.json").unlink()
    assert verify(path) == [] and examine(path).not_covered == ()


def test_a_damaged_signature_is_a_problem(tiny: Make) -> None:
    path = tiny()
    (path / "signature.json").write_text("{}")
    assert named(path) == {("signature", "signature.json")} and examine(path).is_valid
    assert "signature.json" in examine(path).not_covered


def test_missing_added_and_renamed_are_told_apart(tiny: Make) -> None:
    path = tiny()
    (path / "specs" / "benchmark.yaml").rename(path / "specs" / "other.yaml")
    (path / "answers.jsonl").unlink()
    (path / "specs" / ".hidden").write_bytes(b"")
    found = examine(path)
    assert named(path) == {
        ("renamed", "specs/other.yaml"),
        ("missing", "answers.jsonl"),
        ("added", "specs/.hidden"),
    }
    assert not found.is_complete and found.is_valid


def test_changed_is_not_incomplete(tiny: Make) -> None:
    path = tiny()
    with (path / "answers.jsonl").open("ab") as file:
        file.write(b"\n")
    found = examine(path)
    assert {problem.path for problem in found.problems} == {"answers.jsonl"}
    assert found.is_complete and not found.is_valid
    assert found.problems[0].expected != found.problems[0].found


def test_a_copy_under_another_name_is_added_not_renamed(tiny: Make) -> None:
    path = tiny()
    shutil.copy(path / "questions.jsonl", path / "copy.jsonl")
    assert named(path) == {("added", "copy.jsonl")}


def test_links_and_pipes_are_refused(tiny: Make, tmp_path: Path) -> None:
    path = tiny()
    (path / "templates.jsonl").rename(tmp_path / "away")
    (path / "templates.jsonl").symlink_to(tmp_path / "away")
    (path / "folder").symlink_to("/etc")
    os.mkfifo(path / "pipe")
    kinds = named(path)
    assert {("link", "templates.jsonl"), ("link", "folder"), ("link", "pipe")} <= kinds


def test_a_bundle_may_be_reached_by_a_link(tiny: Make, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tiny())
    assert verify(tmp_path / "link") == []


def rehashed(path: Path, writer: Callable[..., Path]) -> None:
    """Makes manifest and files agree again, as a forger would."""
    facts = json.loads((path / "manifest.json").read_bytes())
    writer(path, {name: value for name, value in facts.items() if name != "files"})


def test_answers_of_one_bundle_with_questions_of_another(tiny: Make, manifest_writer: Make) -> None:
    path, other = tiny("a", templates=1), tiny("b", templates=2)
    shutil.copy(other / "answers.jsonl", path / "answers.jsonl")
    assert ("changed", "answers.jsonl") in named(path)
    rehashed(path, manifest_writer)
    assert named(path) == {("answers", "answers.jsonl")}


def test_answers_in_another_order(tiny: Make, manifest_writer: Make) -> None:
    path = tiny()
    lines = (path / "answers.jsonl").read_bytes().splitlines(keepends=True)
    (path / "answers.jsonl").write_bytes(b"".join(lines[::-1]))
    rehashed(path, manifest_writer)
    (problem,) = verify(path)
    assert problem.kind == "answers" and problem.expected == "tiny/sum_0/0"


def test_questions_that_give_another_root(tiny: Make, manifest_writer: Make) -> None:
    path = tiny()
    held = (path / "questions.jsonl").read_text()
    (path / "questions.jsonl").write_text(held.replace("What is 7 + 1", "What is 7 + 2"))
    rehashed(path, manifest_writer)
    assert {kind for kind, _ in named(path)} == {"root"}


@pytest.mark.parametrize("name", ["templates", "items", "questions"])
def test_counts_must_agree(tiny: Make, name: str) -> None:
    counts = {"templates": 2, "items": 2, "questions": 6, name: 7}
    assert {kind for kind, _ in named(tiny(counts=counts))} == {"counts"}
    assert {kind for kind, _ in named(tiny("fewer", counts={**counts, name: 1}))} == {"counts"}


def test_ids_must_say_what_the_question_says(tiny: Make, bundle_writer: Make, tmp_path: Path) -> None:
    made = open_bundle(tiny(templates=1, k=2))
    questions, answers = list(made.questions()), list(made.answers())
    questions[1]["id"] = answers[1]["id"] = questions[0]["id"]
    path = bundle_writer(tmp_path / "twice", questions, answers, 2)
    assert {problem.message for problem in verify(path)} == {
        "has the id `tiny/sum_0/0`, which does not match its other fields",
        "has two questions with the same id",
    }


def test_integers_that_are_too_big_are_a_problem_not_a_crash(tiny: Make, manifest_writer: Make) -> None:
    path = tiny()
    held = (path / "questions.jsonl").read_text()
    (path / "questions.jsonl").write_text(held.replace('"correct":1', f'"correct":{2**60}'))
    rehashed(path, manifest_writer)
    assert "record" in {kind for kind, _ in named(path)}


def test_a_sealed_bundle_verifies(tiny: Make) -> None:
    assert verify(tiny(sealed=True)) == []


def test_what_is_no_bundle(tmp_path: Path) -> None:
    with pytest.raises(DiaError) as caught:
        verify(tmp_path)
    assert caught.value.exit_code == 2


def test_an_unreadable_manifest_names_itself(tiny: Make) -> None:
    path = tiny()
    (path / "manifest.json").write_bytes(b'{"k":NaN}')
    found = examine(path)
    assert [problem.path for problem in found.problems] == ["manifest.json"]
    assert not found.is_complete and not found.is_valid


def test_folders_nested_deeper_than_calls(tiny: Make) -> None:
    path = tiny()
    here = os.open(path, os.O_RDONLY)
    for _ in range(1100):
        os.mkdir("d", dir_fd=here)
        deeper = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = deeper
    os.close(os.open("added", os.O_CREAT, dir_fd=here))
    os.close(here)
    try:
        assert named(path) == {("added", "d/" * 1100 + "added")}
    finally:
        subprocess.run(["rm", "-rf", path / "d"], check=True)  # pytest would not get to the bottom of it


def test_twins_that_lie_far_apart_are_found_and_items_may_come_in_any_order(
    tiny: Make, bundle_writer: Make, tmp_path: Path
) -> None:
    made = open_bundle(tiny(templates=2, k=2))
    questions, answers = list(made.questions()), list(made.answers())
    order = [2, 3, 0, 1]
    moved = bundle_writer(tmp_path / "moved", [questions[at] for at in order], [answers[at] for at in order], 2)
    assert not [problem for problem in verify(moved) if "two questions" in problem.message]
    order = [0, 2, 1, 3]
    mixed = bundle_writer(tmp_path / "mixed", [questions[at] for at in order], [answers[at] for at in order], 2)
    assert not [problem for problem in verify(mixed) if "two questions" in problem.message]
    order = [0, 2, 1, 0]
    twins = bundle_writer(tmp_path / "twins", [questions[at] for at in order], [answers[at] for at in order], 2)
    assert "has two questions with the same id" in {problem.message for problem in verify(twins)}


@pytest.mark.parametrize("variants", [(None, None), ("a", "b")])
def test_a_question_that_comes_again_after_a_later_instance(
    variants: tuple[str | None, ...], tiny: Make, bundle_writer: Make, tmp_path: Path
) -> None:
    bundle = open_bundle(tiny(templates=1, k=2))
    questions, answers = list(bundle.questions()), list(bundle.answers())
    for question, answer, variant in zip(questions, answers, variants, strict=True):
        question["variant"] = variant
        question["id"] = answer["id"] = question_id("tiny", question)
    order = [0, 1, 0]
    twins = bundle_writer(tmp_path / "twins", [questions[at] for at in order], [answers[at] for at in order], 2)
    assert {problem.message for problem in verify(twins)} == {"has two questions with the same id"}


def test_a_link_is_told_once_and_as_a_link(tiny: Make, tmp_path: Path) -> None:
    path = tiny()
    (tmp_path / "elsewhere").write_text("x")
    (path / "more.txt").symlink_to(tmp_path / "elsewhere")
    assert named(path) == {("link", "more.txt")}


def test_a_bundle_without_specs_is_valid(tiny: Make, manifest_writer: Make) -> None:
    path = tiny()
    shutil.rmtree(path / "specs")
    assert named(path) == {("missing", "specs/benchmark.yaml")}
    rehashed(path, manifest_writer)
    assert verify(path) == []


def test_questions_without_answers_are_valid(tiny: Make, manifest_writer: Make) -> None:
    path = tiny()
    (path / "answers.jsonl").unlink()
    rehashed(path, manifest_writer)
    assert verify(path) == []


def test_the_messages_say_what_was_expected_and_found(tiny: Make, manifest_writer: Make) -> None:
    counts = {"templates": 2, "items": 2, "questions": 7}
    (problem,) = verify(tiny(counts=counts))
    assert (problem.kind, problem.expected, problem.found) == ("counts", "7", "6")
    assert problem.message == "gives 6 questions, the manifest says 7"
    path = tiny("fewer", templates=1, k=2)
    lines = (path / "answers.jsonl").read_bytes().splitlines(keepends=True)
    (path / "answers.jsonl").write_bytes(lines[0])
    rehashed(path, manifest_writer)
    (problem,) = verify(path)
    assert (problem.kind, problem.path, problem.expected, problem.found) == ("answers", "answers.jsonl", "2", "1")
    assert problem.message == "has 1 answer for 2 questions"
    (path / "answers.jsonl").write_bytes(b"".join([*lines, lines[0]]))
    rehashed(path, manifest_writer)
    (problem,) = verify(path)
    assert (problem.expected, problem.found) == ("2", "3")
    (path / "answers.jsonl").write_bytes(b"".join(lines[::-1]))
    rehashed(path, manifest_writer)
    (problem,) = verify(path)
    assert "answers `tiny/sum_0/1` at line 1, where the question is `tiny/sum_0/0`" in problem.message


@pytest.mark.parametrize(
    ("kind", "code"),
    [("manifest", "E702"), ("changed", "E703"), ("missing", "E704"), ("added", "E705"), ("renamed", "E705"),
     ("link", "E706"), ("record", "E707"), ("answers", "E709"), ("signature", "E719"), ("counts", "E708"),
     ("root", "E708")],
)  # fmt: skip
def test_each_kind_of_problem_has_its_code(kind: str, code: str) -> None:
    told = Problem(kind, "a file", "is odd").as_diagnostic()
    assert (told.code, told.message) == (code, "`a file` is odd")


def test_one_missing_file_is_found_under_one_other_name_alone(tiny: Make) -> None:
    path = tiny()
    shutil.copy(path / "specs" / "benchmark.yaml", path / "a.yaml")
    (path / "specs" / "benchmark.yaml").rename(path / "b.yaml")
    found = named(path)
    assert {kind for kind, _ in found} == {"renamed", "added"} and len(found) == 2


def test_variants_of_one_instance_are_in_order_and_no_twins(tiny: Make, bundle_writer: Make, tmp_path: Path) -> None:
    path = tiny(templates=1, k=2, variants=[None, "b"])
    assert verify(path) == []
    made = open_bundle(path)
    questions, answers = list(made.questions()), list(made.answers())
    for name, order, is_twin in (
        ("moved", [1, 0, 3, 2], False),
        ("back", [2, 3, 0, 1], False),
        ("two", [0, 1, 1], True),
    ):
        moved = bundle_writer(tmp_path / name, [questions[at] for at in order], [answers[at] for at in order], 2)
        twins = [problem for problem in verify(moved) if "two questions" in problem.message]
        assert bool(twins) is is_twin


def test_an_asset_that_no_file_is_listed_for(tiny: Make, bundle_writer: Make, tmp_path: Path) -> None:
    made = open_bundle(tiny(templates=1, k=1))
    questions, answers = list(made.questions()), list(made.answers())
    questions[0]["assets"] = [{"name": "x.png", "path": f"assets/{'0' * 64}.png", "sha256": "0" * 64, "size": 3,
                               "type": "image/png"}]  # fmt: skip
    path = bundle_writer(tmp_path / "assets", questions, answers, 1)
    assert [problem.kind for problem in verify(path)] == ["record"]


def test_an_item_without_a_name_counts_too(tiny: Make, bundle_writer: Make, tmp_path: Path) -> None:
    made = open_bundle(tiny(templates=1, k=1))
    questions, answers = list(made.questions()), list(made.answers())
    questions[0]["item"] = ""
    path = bundle_writer(tmp_path / "nameless", questions, answers, 1)
    assert "counts" not in {problem.kind for problem in verify(path)}


def test_a_file_that_the_system_does_not_allow_to_be_read_is_named(tiny: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tiny()

    def forbidden(*arguments: object, **options: object) -> None:  # root may read files of mode 000
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path / "answers.jsonl"))

    monkeypatch.setattr("dia_runtime.bundle.verify.measure", forbidden)
    error = (
        f"`{path / 'answers.jsonl'}` cannot be read, so the bundle is not verified: Permission denied\n  help: allow"
    )
    refusal("E711", error, lambda: examine(path), 3)
