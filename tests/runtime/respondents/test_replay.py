"""What was said before is said again: out of a run, an export of one, or lines that somebody wrote."""

from __future__ import annotations

import gzip
import json
import resource
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dia_runtime
import pytest
import zstandard
from dia_compiler.commands.cli import run
from dia_runtime.respondents.respondent import Reply
from dia_runtime.store.store import read_store
from helpers.failures import failure

Make = Callable[..., Path]
IDS = [f"tiny/sum_{template}/{instance}" for template in range(2) for instance in range(3)]
ENDINGS = [
    Reply("<xml>8</xml>", None, "stop", 10, 20, "0.00125", "1.5", "model-2026", "2026-01-01T00:00:00Z"),
    Reply(None, finish_reason="content_filter"),
    Reply(None, error="timeout"),
    Reply("<xml>I-DO-NOT-KNOW</xml>", None, "length"),
    Reply("no\x1b[31m form, \U0001d11e"),
    Reply(""),
]


class Told:
    """Says what it is told to say, question by question."""

    model, settings = "told-1", {"temperature": "0.7"}

    def __init__(self, name: str, replies: list[Reply]) -> None:
        self.name, self.replies = name, list(replies)

    def reply(self, question: Any) -> Reply:
        return self.replies.pop(0)


def rows(path: Path, name: str) -> list[tuple[Any, ...]]:
    """All that a run holds of a respondent's replies, but for the tries that they took."""
    with read_store(path) as store:
        number = next(entry.id for entry in store.respondents() if entry.name == name)
        return [tuple(row.values())[:-1] for row in store.replies_of(number)]


def replayed(bundle: Path, source: str, out: Path, **more: Any) -> dia_runtime.running.run.RunSummary:  # type: ignore[name-defined]
    return dia_runtime.run(bundle, f"replay:{source}", out, **more)


def write(path: Path, *records: Any) -> Path:
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")
    return path


@pytest.fixture
def original(tiny: Make, tmp_path: Path) -> tuple[Path, Path]:
    """A bundle, and a run of it with replies of every kind, two attempts each."""
    bundle, path = tiny(), tmp_path / "original.run"
    again = [Reply(f"<xml>{number}</xml>", seconds="0.5") for number in range(6)]
    mixed = [reply for pair in zip(ENDINGS, again, strict=True) for reply in pair]
    dia_runtime.run(bundle, [Told("told", mixed)], path, attempts=2)
    return bundle, path


@pytest.fixture
def exported(original: tuple[Path, Path], tmp_path: Path) -> Path:
    assert run(["export", str(original[1]), "--to", "replies", "-o", str(tmp_path / "exported"), "-q"]) == 0
    return tmp_path / "exported" / "replies.jsonl"


@pytest.mark.parametrize("form", ["run", "lines", "gzip", "zstd"])
def test_a_replayed_run_holds_the_same_replies_and_has_the_same_figures(
    original: tuple[Path, Path], exported: Path, tmp_path: Path, form: str
) -> None:
    bundle, path = original
    pack: Any = {"lines": bytes, "gzip": gzip.compress, "zstd": zstandard.compress}
    source = path
    if form != "run":
        source = tmp_path / "packed.jsonl"
        source.write_bytes(pack[form](exported.read_bytes()))
    out = tmp_path / "again.run"
    (entry,) = replayed(bundle, str(source), out, attempts=2).respondents
    assert (entry.asked, entry.errors) == (12, 1)  # an error is replayed as one
    assert rows(out, f"replay:{source}") == rows(path, "told")
    first, second = dia_runtime.score(path)["models"][0], dia_runtime.score(out)["models"][0]
    assert (first.pop("model"), second.pop("model")) == ("told", f"replay:{source}")
    assert (first.pop("run"), second.pop("run")) == (str(path), str(out))
    assert first == second and first["flags"]["refused"] == 1 and first["counts"]["error"] == 1


def test_a_missing_reply_is_an_error_that_a_later_call_fills(tiny: Make, tmp_path: Path) -> None:
    bundle, out = tiny(), tmp_path / "a.run"
    half = [{"question": name, "text": "<xml>1</xml>"} for name in IDS[:4]]
    path = write(tmp_path / "replies.jsonl", *half)
    summary = replayed(bundle, str(path), out)
    assert summary.has_errors and summary.respondents[0].errors == 2
    assert rows(out, f"replay:{path}")[5][3] == "request: replies.jsonl has no reply to this question"
    write(path, *half, *({"question": name, "text": "<xml>2</xml>"} for name in IDS[4:]))
    summary = replayed(bundle, str(path), out)
    assert not summary.has_errors and summary.respondents[0].kept == 4
    assert [row[2] for row in rows(out, f"replay:{path}")] == ["<xml>1</xml>"] * 4 + ["<xml>2</xml>"] * 2


def test_a_respondent_of_several_is_named(tiny: Make, tmp_path: Path) -> None:
    bundle = tiny()
    names = ["one", "two#2"]
    path = write(
        tmp_path / "re#plies.jsonl",  # neither a # in the file's name nor one in the respondent's confuses
        *({"question": name, "respondent": who, "text": who} for name in IDS for who in names),
    )
    error = failure(lambda: replayed(bundle, str(path), tmp_path / "x.run"))
    assert error.exit_code == 2 and "`one`, `two#2`" in str(error) and not (tmp_path / "x.run").exists()
    for who in names:
        replayed(bundle, f"{path}#{who}", tmp_path / "a.run")
        assert {row[2] for row in rows(tmp_path / "a.run", f"replay:{path}#{who}")} == {who}
    error = failure(lambda: replayed(bundle, f"{path}#on", tmp_path / "x.run"))
    assert "did you mean `one`?" in (error.diagnostics[0].help or "")


def test_a_respondent_of_a_run_is_named(tiny: Make, tmp_path: Path) -> None:
    bundle, path = tiny(), tmp_path / "both.run"
    dia_runtime.run(bundle, ["oracle", "abstain"], path)
    assert "`oracle`, `abstain`" in str(failure(lambda: replayed(bundle, str(path), tmp_path / "x.run")))
    replayed(bundle, f"{path}#abstain", tmp_path / "a.run")
    assert dia_runtime.score(tmp_path / "a.run")["models"][0]["counts"]["skipped"] == 6


def test_a_later_line_mends_an_error_and_nothing_else(tiny: Make, tmp_path: Path) -> None:
    broken = {"question": IDS[0], "text": None, "error": "timeout"}
    mended = {"question": IDS[0], "text": "<xml>8</xml>"}
    path = write(tmp_path / "a.jsonl", broken, mended)
    replayed(tiny(), str(path), tmp_path / "a.run", limit=1)
    assert rows(tmp_path / "a.run", f"replay:{path}")[0][2:4] == ("<xml>8</xml>", None)
    write(path, mended, broken)
    error = failure(lambda: replayed(tiny("b"), str(path), tmp_path / "b.run", limit=1))
    assert "an earlier line already replies to `tiny/sum_0/0`, attempt 1" in str(error)


WRONG: list[tuple[Any, str]] = [
    ("{", "it is not JSON"),
    ("[1]", "it is not an object"),
    ('{"question": "a"}', "neither `text` nor `error`"),
    ('{"text": "a"}', "`question` must be"),
    ('{"question": "a", "text": 7}', "`text` must be text or null"),
    ('{"question": "a", "text": "", "attempt": 0}', "`attempt` must be"),
    ('{"question": "a", "text": "", "attempt": true}', "`attempt` must be"),
    ('{"question": "a", "text": "", "cost": 0.01}', "`cost` must be a decimal number as text"),
    ('{"question": "a", "text": "", "cost": "1e9"}', "`cost` must be a decimal number as text"),
    ('{"question": "a", "text": "", "prompt_tokens": -1}', "`prompt_tokens` must be"),
    ('{"question": "\\ud800", "text": ""}', "`question` must be"),
    ("[" * 100_000, "nested too deeply"),
    ('{"question": "a", "text": "", "attempt": 1' + "0" * 5000 + "}", "the line is not a reply"),
    (b"\xff\xfe{}", "not UTF-8"),
]


@pytest.mark.parametrize(("line", "why"), WRONG, ids=[why for _, why in WRONG])
def test_a_wrong_line_is_told_with_its_number(
    tiny: Make, tmp_path: Path, line: str | bytes, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    good = f'{{"question": "{IDS[0]}", "text": "x"}}\n\n'.encode()
    path = tmp_path / "a.jsonl"
    path.write_bytes(good + (line if isinstance(line, bytes) else line.encode()) + b"\n")
    out = tmp_path / "a.run"
    assert run(["run", str(tiny()), "--model", f"replay:{path}", "-o", str(out)]) == 2
    told = capsys.readouterr().err
    assert f"{path}:3:1: error[E841]" in told and why in told and not out.exists()


def test_the_first_wrong_lines_are_told_and_no_more(tiny: Make, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("no\n" * 5000, encoding="utf-8")
    error = failure(lambda: replayed(tiny(), str(path), tmp_path / "a.run"))
    places = [entry.position.line for entry in error.diagnostics if entry.position]
    assert places == list(range(1, 11))


def test_replies_to_other_questions_are_refused(
    original: tuple[Path, Path], exported: Path, tiny: Make, tmp_path: Path
) -> None:
    other = tiny("other", k=4)
    for source in (original[1], exported):
        error = failure(lambda source=source: replayed(other, str(source), tmp_path / "x.run"))  # type: ignore[misc]
        assert error.exit_code == 3 and "other questions" in str(error) and not (tmp_path / "x.run").exists()


@pytest.mark.parametrize(
    "content", [None, b"", b"SQLite format 3\x00" + bytes(200), gzip.compress(b"{}", mtime=0)[:-3]]
)
def test_a_file_that_holds_no_replies_is_refused(tiny: Make, tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "a"
    if content is not None:
        path.write_bytes(content)
    error = failure(lambda: replayed(tiny(), str(path), tmp_path / "x.run"))
    assert error.exit_code == 2 and str(path) in str(error) and not (tmp_path / "x.run").exists()


@pytest.mark.parametrize("name", ["", "#", "no\0ne", "x" * 5000, "none#one", "."])
def test_a_file_that_is_not_there_is_told(tiny: Make, tmp_path: Path, name: str) -> None:
    error = failure(lambda: replayed(tiny(), name, tmp_path / "x.run"))
    assert error.exit_code == 2 and "file not found" in str(error)


def test_a_run_with_replies_that_are_none_ends_the_asking(original: tuple[Path, Path], tmp_path: Path) -> None:
    bundle, path = original
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE reply SET cost = '1e999' WHERE question = 2")
    connection.close()
    error = failure(lambda: replayed(bundle, str(path), tmp_path / "x.run"))
    assert error.exit_code == 3 and "is damaged" in str(error)


@pytest.mark.slow
def test_a_long_file_is_read_in_little_memory(tiny: Make, tmp_path: Path) -> None:
    path = tmp_path / "many.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for number in range(50_000):
            file.write(f'{{"question": "q/{number}", "text": "{number:01000}"}}\n')
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    replayed(tiny(), str(path), tmp_path / "a.run")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 25_000  # KiB, of 50 MB
