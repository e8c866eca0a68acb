from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import dia_runtime
import pytest
from dia_runtime.respondents.respondent import Reply
from dia_runtime.running.run import Progress
from dia_runtime.store.store import read_store
from helpers.failures import failure, refusal

Make = Callable[..., Path]


@dataclass
class Scripted:
    """A respondent that says what a function tells it to say, and remembers what it was asked."""

    says: Callable[[int], Reply] = lambda number: Reply(f"<xml>{number}</xml>")
    name: str = "scripted"
    model: str = "scripted-1"
    settings: Mapping[str, Any] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def reply(self, question: Mapping[str, Any]) -> Reply:
        self.asked.append(question["id"])
        return self.says(len(self.asked))


def texts(path: Path, respondent: int = 1, attempt: int = 1) -> list[str | None]:
    with read_store(path) as store:
        return [reply.text for _, reply in store.replies(respondent, attempt)]


def test_every_question_is_asked_once_in_order(tiny: Make, tmp_path: Path) -> None:
    model = Scripted()
    summary = dia_runtime.run(tiny(), [model], tmp_path / "a.run")
    assert model.asked == [f"tiny/sum_{t}/{i}" for t in range(2) for i in range(3)]
    assert texts(summary.path) == [f"<xml>{number}</xml>" for number in range(1, 7)]
    (entry,) = summary.respondents
    assert (entry.asked, entry.kept, entry.errors, summary.has_errors) == (6, 0, 0, False)


def test_a_run_is_made_with_its_parents_and_leaves_one_file(tiny: Make, tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "c.run"
    dia_runtime.run(tiny(), ["oracle"], path)
    assert [entry.name for entry in path.parent.iterdir()] == ["c.run"]


def test_only_what_is_missing_is_asked(tiny: Make, tmp_path: Path) -> None:
    bundle, path = tiny(), tmp_path / "a.run"
    dia_runtime.run(bundle, [Scripted()], path, limit=2)
    again = Scripted(lambda number: Reply("later"))
    (entry,) = dia_runtime.run(bundle, [again], path).respondents
    assert len(again.asked) == 4 and (entry.asked, entry.kept) == (4, 2)
    assert texts(path) == ["<xml>1</xml>", "<xml>2</xml>", *["later"] * 4]
    third = Scripted()
    dia_runtime.run(bundle, [third], path)
    assert third.asked == []


def test_errors_are_asked_again(tiny: Make, tmp_path: Path) -> None:
    bundle, path = tiny(), tmp_path / "a.run"
    shaky = Scripted(lambda number: Reply(None, error="timeout") if number % 2 else Reply("fine"))
    summary = dia_runtime.run(bundle, [shaky], path)
    assert summary.has_errors and summary.respondents[0].errors == 3
    mended = Scripted(lambda number: Reply("mended"))
    summary = dia_runtime.run(bundle, [mended], path)
    assert not summary.has_errors and summary.respondents[0].kept == 3
    assert texts(path) == ["mended", "fine"] * 3


def test_attempts_are_separate_replies(tiny: Make, tmp_path: Path) -> None:
    bundle, path = tiny(templates=1, k=2), tmp_path / "a.run"
    dia_runtime.run(bundle, [Scripted()], path, attempts=3)
    assert [texts(path, attempt=attempt) for attempt in (1, 2, 3)] == [
        ["<xml>1</xml>", "<xml>4</xml>"],
        ["<xml>2</xml>", "<xml>5</xml>"],
        ["<xml>3</xml>", "<xml>6</xml>"],
    ]


def test_respondents_share_a_file(tiny: Make, tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    dia_runtime.run(tiny(), ["oracle", "abstain"], path)
    assert texts(path, 1)[0] == "<xml>8</xml>" and set(texts(path, 2)) == {"<xml>I-DO-NOT-KNOW</xml>"}


def test_progress_counts_what_is_on_the_disk(tiny: Make, tmp_path: Path) -> None:
    bundle, path = tiny(templates=5, k=60), tmp_path / "a.run"
    seen: list[Progress] = []

    def check(step: Progress) -> None:
        other = sqlite3.connect(path)  # another connection sees committed rows only
        (found,) = other.execute("SELECT count(*) FROM reply").fetchone()
        other.close()
        assert step.done + step.errors == found
        seen.append(step)

    dia_runtime.run(bundle, [Scripted()], path, on_progress=check)
    assert seen[-1] == Progress("scripted", 300, 300, 0)
    done = [0, *(step.done for step in seen)]
    assert all(0 < later - earlier <= 100 for earlier, later in pairwise(done))


def test_a_slow_respondent_has_each_reply_saved_at_once(tiny: Make, tmp_path: Path) -> None:
    seen: list[int] = []

    def slowly(number: int) -> Reply:
        time.sleep(0.025)
        return Reply(str(number))

    dia_runtime.run(tiny(), [Scripted(slowly)], tmp_path / "a.run", on_progress=lambda step: seen.append(step.done))
    assert seen == [1, 2, 3, 4, 5, 6]


def test_an_interrupt_keeps_what_came_back(tiny: Make, tmp_path: Path) -> None:
    def interrupted(number: int) -> Reply:
        if number == 4:
            raise KeyboardInterrupt
        return Reply(str(number))

    bundle, path = tiny(), tmp_path / "a.run"
    with pytest.raises(KeyboardInterrupt):
        dia_runtime.run(bundle, [Scripted(interrupted)], path)
    assert texts(path) == ["1", "2", "3"] and [entry.name for entry in path.parent.glob("a.run*")] == ["a.run"]
    dia_runtime.run(bundle, [Scripted(lambda number: Reply("rest"))], path)
    assert texts(path) == ["1", "2", "3", *["rest"] * 3]


KILLED = """
    import os, signal, sys, time
    import dia_runtime
    from dia_runtime.respondents.respondent import Reply
    class Slow:
        name, model, settings = "slow", "slow", {}
        def reply(self, question):
            time.sleep(0.02)  # so slow that the end is far away even where nobody reads at once
            return Reply("x")
    def told(step):
        print(step.done, flush=True)
    dia_runtime.run(sys.argv[1], [Slow()], sys.argv[2], on_progress=told)
"""


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_run_holds_all_that_it_counted(tiny: Make, tmp_path: Path, number: signal.Signals) -> None:
    bundle, path = tiny(templates=4, k=100), tmp_path / "a.run"
    command = [sys.executable, "-c", textwrap.dedent(KILLED), str(bundle), str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as child:
        assert child.stdout is not None
        told = [int(child.stdout.readline()) for _ in range(3)]
        os.kill(child.pid, number)
        told += [int(line) for line in child.stdout.read().split()]
    held = len(texts(path))
    assert told[-1] <= held < 400
    dia_runtime.run(bundle, [Scripted(name="slow", model="slow")], path)
    assert len(texts(path)) == 400


@pytest.mark.parametrize("name", ["questions.jsonl", "answers.jsonl", "templates.jsonl", "specs/benchmark.yaml"])
@pytest.mark.parametrize("begun", [False, True])
def test_nothing_of_a_damaged_bundle_is_asked(tiny: Make, tmp_path: Path, name: str, begun: bool) -> None:
    bundle, path, model = tiny(), tmp_path / "a.run", Scripted()
    if begun:
        dia_runtime.run(bundle, [Scripted()], path, limit=1)
    held = bytearray((bundle / name).read_bytes())
    held[-2] ^= 1
    (bundle / name).write_bytes(held)
    error = failure(lambda: dia_runtime.run(bundle, [model], path))
    assert error.exit_code == 3 and name in str(error) and "expected sha256" in str(error)
    assert model.asked == [] and path.exists() == begun


def test_an_unlisted_file_stops_a_run(tiny: Make, tmp_path: Path) -> None:
    bundle, model = tiny(), Scripted()
    (bundle / "extra").touch()
    error = failure(lambda: dia_runtime.run(bundle, [model], tmp_path / "a.run"))
    assert error.exit_code == 3 and "`extra` is not listed" in str(error)
    assert model.asked == [] and not (tmp_path / "a.run").exists()


def test_answers_of_other_questions_stop_a_run(tiny: Make, bundle_writer: Make, tmp_path: Path) -> None:
    one, other = dia_runtime.open_bundle(tiny("a")), dia_runtime.open_bundle(tiny("b", k=4))
    mixed = bundle_writer(tmp_path / "mixed", list(one.questions()), list(other.answers()), 3)
    error = failure(lambda: dia_runtime.run(mixed, ["oracle"], tmp_path / "a.run"))
    assert error.exit_code == 3 and not (tmp_path / "a.run").exists()


def test_a_bundle_that_changes_under_a_run_is_noticed(tiny: Make, tmp_path: Path) -> None:
    bundle = tiny(templates=1, k=400)
    held = (bundle / "questions.jsonl").read_bytes()

    def meddling(number: int) -> Reply:
        if number == 1:
            (bundle / "questions.jsonl").write_bytes(held.replace(b"What is", b"Why was"))
        return Reply("x")

    model = Scripted(meddling)
    error = failure(lambda: dia_runtime.run(bundle, [model], tmp_path / "a.run"))
    assert error.exit_code == 3 and len(model.asked) < 400


def test_a_run_of_other_questions_is_refused(tiny: Make, tmp_path: Path) -> None:
    path, model = tmp_path / "a.run", Scripted()
    dia_runtime.run(tiny("a"), ["oracle"], path)
    error = failure(lambda: dia_runtime.run(tiny("b", k=4), [model], path))
    assert error.exit_code == 3 and model.asked == []


def test_an_unknown_model_is_told_with_the_nearest_name(tiny: Make, tmp_path: Path) -> None:
    error = "unknown model `oracel`\n  help: did you mean `oracle`? (the built-in baselines are `oracle`, `abstain`,"
    refusal("E806", error, lambda: dia_runtime.run(tiny(), ["oracel"], tmp_path / "a.run"))
    refusal("E806", "help: write the provider too", lambda: dia_runtime.run(tiny("b"), ["gpt-4o"], tmp_path / "a.run"))
    assert not (tmp_path / "a.run").exists()


def test_baselines_need_answers(tiny: Make, tmp_path: Path) -> None:
    bundle = tiny(sealed=True)
    error = f"`oracle` needs the answers, but `{bundle}` has none\n  help: unseal the bundle first, or ask a model"
    refusal("E808", error, lambda: dia_runtime.run(bundle, ["oracle"], tmp_path / "a.run"))
    dia_runtime.run(bundle, [model := Scripted()], tmp_path / "a.run")
    assert len(model.asked) == 6
    error = "was started with a bundle without answers\n  help: start another run with `--out`"
    refusal("E808", error, lambda: dia_runtime.run(tiny("whole"), ["oracle"], tmp_path / "a.run"))


@pytest.mark.parametrize("arguments", [{"limit": 0}, {"attempts": 0}, {"limit": -1}])
def test_impossible_numbers(tiny: Make, tmp_path: Path, arguments: dict[str, Any]) -> None:
    ((name, number),) = arguments.items()
    error = f"`{name}` must be at least 1, not {number}\n  help: leave it out to ask "
    refusal("E807", error, lambda: dia_runtime.run(tiny(), ["oracle"], tmp_path / "a", **arguments))


def test_a_limit_beyond_the_end_asks_everything(tiny: Make, tmp_path: Path) -> None:
    assert dia_runtime.run(tiny(), ["oracle"], tmp_path / "a.run", limit=1000).questions == 6


def test_the_bundle_may_be_given_opened(tiny: Make, tmp_path: Path) -> None:
    opened = dia_runtime.open_bundle(tiny())
    summary = dia_runtime.run(opened, "oracle", tmp_path / "a.run")
    assert (summary.bundle_id, summary.questions_root) == (opened.id, opened.questions_root)


@pytest.mark.slow
def test_running_and_scoring_thousands_is_quick(tiny: Make, tmp_path: Path) -> None:
    bundle = tiny(templates=30, k=100)
    start = time.process_time()
    dia_runtime.run(bundle, ["oracle"], tmp_path / "a.run")
    dia_runtime.score(tmp_path / "a.run")
    assert time.process_time() - start < 4
