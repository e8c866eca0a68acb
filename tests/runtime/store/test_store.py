from __future__ import annotations

import gc
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from dia_compiler.commands.cli import run as dia
from dia_language.diagnostics import DiaError
from dia_runtime.respondents.respondent import Reply
from dia_runtime.store.schema import LONGEST_TEXT, VERSION, StoredQuestion, read_header
from dia_runtime.store.store import Store, open_store, read_store
from helpers.failures import failure, refusal

ROOT = "ab" * 32
FACTS = {"questions_root": ROOT, "bundle_id": "cd" * 32, "benchmark": "tiny", "version": "1", "k": 2}


def questions(number: int = 3) -> Iterator[StoredQuestion]:
    for at in range(number):
        item = f"item_{at // 2}"
        yield StoredQuestion(
            *(
                at,
                f"tiny/{item}/{at % 2}",
                bytes([at]) * 32,
                item,
                item,
                at % 2,
                None,
                "sums",
                "mathematics",
                None,
            ),
            *("none", 7, '{"kind":"xml"}', '{"correct":1,"skipped":0,"wrong":-2}', f'{{"text":"{at}"}}'),
        )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "runs" / "a.run"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    with open_store(path, ROOT) as opened:
        opened.initialize(FACTS, questions())
        yield opened


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_what_is_laid_down_reads_back(store: Store) -> None:
    assert list(store.questions()) == list(questions())
    assert store.facts == FACTS and store.size == 3
    assert store.leaf(1) == b"\x01" * 32 and store.leaf(9) is None
    assert store.grading("tiny/item_0/1") == {"text": "1"} and store.grading("other") is None
    assert store.texts("item_0") == {0: "0", 1: "1"}


def test_replies_read_back_in_the_order_of_questions(store: Store) -> None:
    who = store.respondent("a", "model", {"temperature": "0.7"})
    store.save(who, [(2, 1, Reply("two")), (0, 1, Reply(None, error="timeout")), (0, 2, Reply("again"))])
    found = [(asked.position, reply.text, reply.error) for asked, reply in store.replies(who)]
    assert found == [(0, None, "timeout"), (2, "two", None)]
    assert store.answered(who, 0) == {2} and store.answered(who, 2) == {1}
    assert store.count(who, 1, 3) == 1 and store.count(who, 2, 3) == 2 and store.count(who, 2, 2) == 1


def test_a_reply_stays_and_an_error_gives_way(store: Store) -> None:
    who = store.respondent("a", "a", {})
    store.save(who, [(0, 1, Reply("first")), (1, 1, Reply(None, error="network"))])
    store.save(who, [(0, 1, Reply("second")), (1, 1, Reply("came through"))])
    assert [reply.text for _, reply in store.replies(who)] == ["first", "came through"]


def test_every_column_of_a_reply_is_kept(store: Store, path: Path) -> None:
    facts = (
        "text",
        None,
        "stop",
        10,
        20,
        "0.00125",
        "1.5",
        "model-2026",
        "2026-01-01T00:00:00Z",
        3,
        "{}",
        "changed",
        7,
    )
    whole = Reply(*facts)
    store.save(store.respondent("a", "a", {}), [(0, 1, whole)])
    (row,) = sqlite3.connect(path).execute("SELECT * FROM reply").fetchall()
    assert row[4:] == facts


@pytest.mark.parametrize("text", ["\x00 nul \x1b", "half \ud83d character", "Ω\U0001f600", "", "x" * 1_000_000])
def test_any_text_can_be_a_reply(store: Store, text: str) -> None:
    who = store.respondent("a", "a", {})
    store.save(who, [(0, 1, Reply(text))])
    ((_, reply),) = store.replies(who)
    assert reply.text == text.replace("\ud83d", "\ufffd")


def test_a_process_that_reads_a_run_meanwhile_costs_no_reply(store: Store, path: Path) -> None:
    """With its locks lost, the reader would delete the write-ahead log, and all later replies would go nowhere."""
    who = store.respondent("a", "a", {})
    store.save(who, [(0, 1, Reply("before"))])
    read_header(path)
    read_meanwhile = "import sys; from dia_runtime.store.store import read_store; read_store(sys.argv[1]).close()"
    subprocess.run([sys.executable, "-c", read_meanwhile, str(path)], check=True)
    store.save(who, [(1, 1, Reply("after"))])
    count = (
        "import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute('SELECT count(*) FROM reply').fetchone()[0])"
    )
    seen = subprocess.run([sys.executable, "-c", count, str(path)], capture_output=True, text=True, check=True)
    assert seen.stdout.strip() == "2"


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="descriptors are counted in /proc")
def test_descriptors_are_closed_with_the_last_database_of_their_file(store: Store, path: Path) -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(5):
        read_store(path).close()
    store.close()
    assert len(list(Path("/proc/self/fd").iterdir())) <= before


def test_one_name_stands_for_one_setting(store: Store) -> None:
    first = store.respondent("a", "model", {"temperature": "0"})
    assert store.respondent("a", "model", {"temperature": "0"}) == first
    error = "has replies from `a` with other settings: temperature 0, not 1\n  help: choose another `--out`"
    refusal("E805", error, lambda: store.respondent("a", "model", {"temperature": "1"}))
    error = "with other settings: model model, not x; temperature 0, not unset; tools unset, not [1]\n"
    refusal("E805", error, lambda: store.respondent("a", "x", {"tools": [1]}))


def test_a_clean_close_leaves_one_plain_file(path: Path) -> None:
    with open_store(path, ROOT) as opened:
        opened.initialize(FACTS, questions())
        opened.save(opened.respondent("a", "a", {}), [(0, 1, Reply("x"))])
        assert Path(f"{path}-wal").exists()
    assert names(path.parent) == ["a.run"]
    with read_store(path) as opened:
        assert len(list(opened.replies(1))) == 1
    assert names(path.parent) == ["a.run"]


def test_settings_of_durability(store: Store) -> None:
    pragma = store._connection.execute
    assert pragma("PRAGMA journal_mode").fetchone() == ("wal",)
    assert pragma("PRAGMA foreign_keys").fetchone() == (1,)
    assert pragma("PRAGMA busy_timeout").fetchone()[0] >= 10_000


def test_what_is_written_survives_a_power_failure(path: Path) -> None:
    """In a process of its own: the other tests do not wait for the disk."""
    program = f"""
        from pathlib import Path
        from dia_runtime.store.store import open_store
        with open_store(Path({str(path)!r}), {ROOT!r}) as store:
            def level():
                return store.rows("PRAGMA synchronous")[0][0]
            print(level())
            with store.relaxed_sync():
                print(level())
            print(level())
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["2", "1", "2"]  # FULL, NORMAL, FULL


def test_sqlite_itself_finds_the_file_sound(store: Store, path: Path) -> None:
    store.save(store.respondent("a", "a", {}), [(0, 1, Reply("x"))])
    store.close()
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert connection.execute("PRAGMA application_id").fetchone() == (0x64696172,)
    assert connection.execute("PRAGMA user_version").fetchone() == (VERSION,)
    with pytest.raises(sqlite3.IntegrityError):  # STRICT
        connection.execute("UPDATE reply SET attempt = 'x'")


KILLED = """
    import os, signal, sys
    from pathlib import Path
    from dia_runtime.respondents.respondent import Reply
    from dia_runtime.store.store import open_store
    with open_store(Path(sys.argv[1]), sys.argv[2]) as store:
        who = store.respondent("a", "a", {})
        store.save(who, [(0, 1, Reply("safe"))])
        store._connection.execute("BEGIN IMMEDIATE")
        store._connection.execute("INSERT INTO reply (respondent, question, attempt) VALUES (1, 1, 1)")
        os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_process_loses_nothing_that_was_counted(store: Store, path: Path) -> None:
    store.close()
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(KILLED), path, ROOT], check=False)
    assert done.returncode == -signal.SIGKILL
    with read_store(path) as opened:
        assert [reply.text for _, reply in opened.replies(1)] == ["safe"]


WRITER = """
    import sys
    from pathlib import Path
    from dia_runtime.respondents.respondent import Reply
    from dia_runtime.store.store import open_store
    with open_store(Path(sys.argv[1]), sys.argv[2]) as store:
        who = store.respondent(sys.argv[3], "m", {})
        for attempt in range(1, 101):
            store.save(who, [(0, attempt, Reply(sys.argv[3]))])
"""


def test_several_processes_write_one_file(store: Store, path: Path) -> None:
    store.close()
    command = [sys.executable, "-c", textwrap.dedent(WRITER), str(path), ROOT]
    writers = [subprocess.Popen([*command, name]) for name in ("a", "b", "a")]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    with read_store(path) as opened:
        found = {entry.name: opened.count(entry.id, 100, 1) for entry in opened.respondents()}
    assert found == {"a": 100, "b": 100}


def test_laying_down_is_all_or_nothing(path: Path) -> None:
    def failing() -> Iterator[StoredQuestion]:
        yield from questions(2)
        raise RuntimeError("cut off")

    with pytest.raises(RuntimeError), open_store(path, ROOT) as opened:
        opened.initialize(FACTS, failing())
    assert not path.exists()


def test_two_questions_with_one_id_are_damage(path: Path) -> None:
    (first,) = questions(1)
    with open_store(path, ROOT) as opened:
        twice = [first, replace(first, position=1)]
        assert failure(lambda: opened.initialize(FACTS, twice)).exit_code == 3


def test_a_run_of_other_questions_is_refused(store: Store, path: Path) -> None:
    store.close()
    before = path.read_bytes()
    error = failure(lambda: open_store(path, "ee" * 32))
    assert error.exit_code == 3 and ROOT in str(error)
    assert path.read_bytes() == before


def a_database(place: Path) -> None:
    connection = sqlite3.connect(place)
    connection.execute("CREATE TABLE holiday (photo BLOB)")
    connection.commit()
    connection.close()


NO_RUNS: dict[str, Callable[[Path], Any]] = {
    "text": lambda place: place.write_text("hello " * 100),
    "short": lambda place: place.write_text("x"),
    "another database": a_database,
    "a folder": lambda place: place.mkdir(),
}


@pytest.mark.parametrize("make", NO_RUNS.values(), ids=NO_RUNS)
def test_a_file_that_is_no_run_is_refused_and_left_alone(tmp_path: Path, make: Callable[[Path], Any]) -> None:
    place = tmp_path / "x.run"
    make(place)
    before = place.read_bytes() if place.is_file() else None
    for action in (lambda: open_store(place, ROOT), lambda: read_store(place)):
        error = failure(action)
        assert error.exit_code == 2 and len(error.diagnostics) == 1 and "\n" not in str(error)
    assert before is None or place.read_bytes() == before
    assert names(tmp_path) == ["x.run"]


def test_there_is_nothing_to_read(tmp_path: Path) -> None:
    assert failure(lambda: read_store(tmp_path / "none.run")).exit_code == 2
    (tmp_path / "empty.run").touch()
    assert failure(lambda: read_store(tmp_path / "empty.run")).exit_code == 2


def tampered(store: Store, path: Path, statement: str) -> DiaError:
    store.close()
    connection = sqlite3.connect(path)
    connection.execute(statement)
    connection.commit()
    connection.close()
    return failure(lambda: read_store(path))


def test_a_newer_run_says_so(store: Store, path: Path) -> None:
    error = tampered(store, path, f"PRAGMA user_version = {VERSION + 1}")
    assert error.exit_code == 2 and "newer" in str(error)


def test_triggers_of_a_stranger_are_refused(store: Store, path: Path) -> None:
    statement = "CREATE TRIGGER t AFTER INSERT ON reply BEGIN UPDATE reply SET text = 'mine'; END"
    assert tampered(store, path, statement).exit_code == 3


def test_a_damaged_page_is_told(store: Store, path: Path) -> None:
    store.save(store.respondent("a", "a", {}), [(0, 1, Reply("x" * 20_000))])
    store.close()
    held = bytearray(path.read_bytes())
    held[4096:] = os.urandom(len(held) - 4096)
    path.write_bytes(held)
    error = failure(lambda: [list(opened.replies(1)) for opened in [read_store(path)]])
    assert error.exit_code == 3


def test_a_stored_record_that_is_no_json_is_told(store: Store, path: Path) -> None:
    store._connection.execute("UPDATE question SET grading = '{' WHERE position = 0")
    assert failure(lambda: store.grading("tiny/item_0/0")).exit_code == 3
    store._connection.execute("UPDATE question SET grading = '[]' WHERE position = 0")
    assert failure(lambda: store.grading("tiny/item_0/0")).exit_code == 3


@pytest.mark.parametrize(
    ("name", "value"),
    [("k", "{}"), ("k", "true"), ("benchmark", "{}"), ("questions_root", "7"), ("points_told", "1"), ("new", "[1]")],
)
def test_a_fact_of_another_type_is_refused_by_every_command(
    store: Store, path: Path, capsys: pytest.CaptureFixture[str], name: str, value: str
) -> None:
    store._connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, value))
    assert failure(lambda: store.facts).exit_code == 3
    for command in ("score", "show", "questions", f"merge -o {path.parent / 'whole.run'}", "calibrate -o a.bank"):
        capsys.readouterr()
        assert dia([*command.split(), str(path)]) == 3, command
        assert "E803" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["version", "seed"])
def test_a_version_and_a_seed_may_be_integers_as_in_manifests(store: Store, name: str) -> None:
    store._connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, "7"))
    assert store.facts[name] == 7


def test_a_run_can_be_read_where_nothing_can_be_written(store: Store, path: Path, tmp_path: Path) -> None:
    store.close()
    copy = tmp_path / "copy"
    copy.mkdir()
    shutil.copy(path, copy / "a.run")
    (copy / "a.run").chmod(0o444)
    copy.chmod(0o555)
    try:
        with read_store(copy / "a.run") as opened:
            assert opened.size == 3
        assert names(copy) == ["a.run"]
    finally:
        copy.chmod(0o755)


def test_a_value_that_no_run_stores_is_refused_before_it_fills_the_memory(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_store(path, ROOT) as opened:
        opened.initialize(FACTS, questions())
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE question SET grading = ? WHERE position = 1", ("x" * 50_000,))
    monkeypatch.setattr("dia_runtime.store.store.LARGEST_VALUE", 40_000)
    with read_store(path) as opened, pytest.raises(DiaError, match="is damaged: it has a value of more than") as caught:
        list(opened.questions())
    assert caught.value.exit_code == 3


def test_rows_that_nobody_reads_to_the_end_may_outlive_the_open_run(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    ignored: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", ignored.append)
    questions_left = store.questions()
    next(questions_left)
    store.close()
    del questions_left
    gc.collect()
    assert ignored == []


@pytest.mark.parametrize("text", ["x" * (LONGEST_TEXT + 1), "\0" + "x" * (4 * LONGEST_TEXT)], ids=["long", "huge"])
@pytest.mark.parametrize("command", ["score", "audit", "show", "export --to replies", "report", "merge"])
@pytest.mark.long
def test_a_reply_that_is_longer_than_any_that_is_stored_is_refused_by_every_command(
    command: str,
    text: str,
    tiny: Callable[..., Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    bundle = str(tiny())
    for model, name in (("oracle", "a.run"), ("guess", "b.run")):
        assert dia(["run", bundle, "--model", model, "-o", name, "-q"]) == 0
    with sqlite3.connect("a.run") as connection:
        connection.execute("UPDATE reply SET text = ? WHERE question = 1", (text,))
    name, *options = command.split()
    out = [] if name == "show" else ["-o", "out"]
    assert dia([name, "a.run", *(["b.run"] if name == "merge" else []), *options, *out]) == 3
    assert "error[E803]: `a.run` is damaged: it has a reply of more than 10,000,000" in capsys.readouterr().err
    assert not Path("out").exists()
