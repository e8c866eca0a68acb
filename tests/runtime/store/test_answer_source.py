"""A bundle named with `--bundle`: it belongs to the runs, and its questions and answers are undamaged."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dia_runtime
import pytest
from dia_compiler.commands.cli import run
from dia_language.diagnostics import DiaError
from dia_runtime.psychometrics.panel import read_panel
from dia_runtime.scoring.audit import audit
from dia_runtime.scoring.question_views import question_views
from dia_runtime.store.answer_source import open_source
from dia_runtime.store.store import read_store

Make = Callable[..., Path]


@pytest.fixture
def graded(tiny: Make, tmp_path: Path) -> tuple[Path, Path]:
    """A bundle, and a run of two models with its answers."""
    bundle = tiny()
    dia_runtime.run(bundle, ["oracle", "guess"], tmp_path / "a.run")
    return bundle, tmp_path / "a.run"


def damaged(bundle: Path, name: str, old: bytes, new: bytes) -> Path:
    """A copy of the bundle with another text of the same length in a file."""
    assert len(old) == len(new)
    copy = shutil.copytree(bundle, bundle.parent / f"damaged-{name}")
    content = (copy / name).read_bytes()
    assert old in content
    (copy / name).write_bytes(content.replace(old, new, 1))
    return copy


def first_answer(bundle: Path) -> dict[str, Any]:
    return next(iter(dia_runtime.open_bundle(bundle).answers()))


def failure(call: Callable[[], object]) -> DiaError:
    with pytest.raises(DiaError) as caught:
        call()
    return caught.value


READERS: dict[str, Callable[[Path, Path], object]] = {
    "score": lambda path, bundle: dia_runtime.score(path, bundle=bundle),
    "audit": lambda path, bundle: audit(path, ("strict", "lenient"), bundle),
    "questions": lambda path, bundle: question_views(path, bundle=bundle),
    "panel": lambda path, bundle: read_panel([path], bundle=bundle),
}


@pytest.mark.parametrize("reader", READERS)
def test_a_damaged_answer_is_refused_and_named(graded: tuple[Path, Path], reader: str) -> None:
    bundle, path = graded
    answer = first_answer(bundle)
    old, new = f'"text":"{answer["text"]}"', f'"text":"{"9" * len(answer["text"])}"'
    copy = damaged(bundle, "answers.jsonl", old.encode(), new.encode())
    READERS[reader](path, bundle)
    error = failure(lambda: READERS[reader](path, copy))
    (diagnostic,) = error.diagnostics
    assert (error.exit_code, diagnostic.code) == (3, "E703")
    assert f"It differs from the run in 1 answer: `{answer['id']}`" in diagnostic.message
    assert "leave out `--bundle`, because the run contains its answers" in str(diagnostic.help)


@pytest.mark.parametrize("reader", READERS)
def test_a_damaged_question_is_refused_and_named_although_grading_does_not_need_it(
    graded: tuple[Path, Path], reader: str
) -> None:
    bundle, path = graded
    copy = damaged(bundle, "questions.jsonl", b'"content":"', b'"content":"'[:-1] + b"'")
    error = failure(lambda: READERS[reader](path, copy))
    assert error.exit_code == 3 and "`questions.jsonl` differs from the manifest" in error.diagnostics[0].message
    assert "in 1 question: `line 1`" in error.diagnostics[0].message  # it is no record any more
    shutil.rmtree(copy)
    copy = damaged(bundle, "questions.jsonl", b'"content":"W', b'"content":"V')
    (diagnostic,) = failure(lambda: READERS[reader](path, copy)).diagnostics
    assert f"in 1 question: `{first_answer(bundle)['id']}`" in diagnostic.message


def test_a_missing_file_is_refused(graded: tuple[Path, Path]) -> None:
    bundle, path = graded
    copy = shutil.copytree(bundle, bundle.parent / "copy")
    (copy / "questions.jsonl").unlink()
    error = failure(lambda: dia_runtime.score(path, bundle=copy))
    assert (error.exit_code, error.diagnostics[0].code) == (3, "E704")


def test_a_run_without_answers_is_not_advised_to_leave_out_the_bundle(tiny: Make, tmp_path: Path) -> None:
    bundle, path = tiny("whole"), tmp_path / "a.run"
    dia_runtime.run(tiny("sealed", sealed=True), ["says:4"], path)
    answer = first_answer(bundle)
    copy = damaged(
        bundle, "answers.jsonl", f'"text":"{answer["text"]}"'.encode(), b'"text":"' + b"9" * len(answer["text"]) + b'"'
    )
    (diagnostic,) = failure(lambda: dia_runtime.score(path, bundle=copy)).diagnostics
    assert "differs from the manifest" in diagnostic.message and "differs from the run" not in diagnostic.message
    assert diagnostic.help == "get a new copy of the bundle, or compile it again"


def test_a_scale_takes_answers_only_from_the_bundle_of_the_run(tiny: Make, tmp_path: Path) -> None:
    """Ids of two seeds are the same, so answers of another bundle would silently grade all replies as wrong."""
    own, other = tiny("own"), tiny("other", k=4)
    dia_runtime.run(own, ["oracle", "abstain"], tmp_path / "a.run")
    dia_runtime.run(other, ["oracle", "abstain"], tmp_path / "b.run")
    error = failure(lambda: read_panel([tmp_path / "a.run"], bundle=other))
    assert (error.exit_code, error.diagnostics[0].code) == (3, "E802")
    mixed = read_panel([tmp_path / "a.run", tmp_path / "b.run"], "templates", bundle=other)
    assert mixed.successes[0].tolist() == mixed.trials[0].tolist()


def test_no_bundle_is_no_source(graded: tuple[Path, Path]) -> None:
    with read_store(graded[1]) as store:
        assert open_source(None, [store]) is None


def test_the_command_says_it_with_the_exit_code_of_damaged_bytes(
    graded: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    bundle, path = graded
    copy = damaged(bundle, "questions.jsonl", b'"content":"W', b'"content":"V')
    assert run(["score", str(path), "--bundle", str(copy), "-q"]) == 3
    out, messages = capsys.readouterr()
    assert not out and f"It differs from the run in 1 question: `{first_answer(bundle)['id']}`" in messages
