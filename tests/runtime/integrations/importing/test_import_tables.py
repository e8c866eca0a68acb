"""Tables of replies become runs, or say where they are wrong."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import random
import sqlite3
import string
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import dia_runtime
import pytest
import zstandard
from dia_compiler.commands.cli import run
from helpers.examples import examples
from helpers.schemas import require_valid
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

Rows = Sequence[Mapping[str, Any]]
ROWS: Rows = [
    {"id": "q1", "gold": "A", "reply": "Answer: A", "model": "one", "topic": "law"},
    {"id": "q2", "gold": "B", "reply": "Answer: E", "model": "one", "topic": "law"},
    {"id": "q3", "gold": "C", "reply": "Answer: D", "model": "one", "topic": "logic"},
    {"id": "q4", "gold": "D", "reply": "I cannot say", "model": "one", "topic": "logic"},
]
LETTERS = ("--letters", "A-E", "--skip", "E")


def jsonl(rows: Rows) -> bytes:
    return b"".join(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows)


def comma(rows: Rows) -> bytes:
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode()


def parquet(rows: Rows) -> bytes:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet as form

    out = io.BytesIO()
    form.write_table(pyarrow.Table.from_pylist([dict(row) for row in rows]), out)
    return out.getvalue()


WRITE: dict[str, Callable[[Rows], bytes]] = {"jsonl": jsonl, "csv": comma, "parquet": parquet}
PACK: dict[str, Callable[[bytes], bytes]] = {
    "": lambda raw: raw,
    ".gz": gzip.compress,
    ".zst": lambda raw: zstandard.ZstdCompressor().compress(raw),
}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def brought(raw: bytes, *options: str, kind: str = "jsonl", name: str = "t", out: str = "a.run") -> int:
    Path(name).write_bytes(raw)
    return run(["import", name, "--from", kind, "-o", out, *options])


def model(path: str = "a.run", **options: Any) -> dict[str, Any]:
    (found,) = dia_runtime.score(path, **options)["models"]
    return dict(found)


def complaint(capsys: pytest.CaptureFixture[str]) -> str:
    return capsys.readouterr().err


@pytest.mark.parametrize("kind", WRITE)
@pytest.mark.parametrize("packed", PACK)
def test_every_form_gives_the_same_run(kind: str, packed: str) -> None:
    if kind == "parquet" and packed:
        pytest.skip("Parquet packs its columns itself")
    assert brought(PACK[packed](WRITE[kind](ROWS)), *LETTERS, "--model", "me", kind=kind, name=f"t.{kind}{packed}") == 0
    found = model()
    assert found["counts"] == {"correct": 1, "skipped": 1, "wrong": 1, "unparsed": 1, "error": 0}
    assert found["model"] == "me" and found["idk_score"]["value"] == -0.25
    assert dia_runtime.score("a.run")["questions_root"] == ROOT


def root_of(rows: Rows) -> str:
    """The root of RFC 6962 over four questions, in the order of their ids."""
    leaves = []
    for row in sorted(rows, key=lambda row: str(row["id"])):
        grading = f'{{"accept":[],"answer":"{row["gold"]}","comparison":{{"of":["A","B","C","D","E"],"type":"choice"}},"mistakes":{{}},"text":"{row["gold"]}"}}'
        leaf = {
            "format": {"kind": "letter", "of": list("ABCDE"), "skip": "E"},
            "grading": grading,
            "id": row["id"],
            "item": row["id"],
            "points": {"correct": 1, "skipped": 0, "wrong": -1},
        }
        leaves.append(hashlib.sha256(b"\0" + json.dumps(leaf, separators=(",", ":")).encode()).digest())
    one, two, three, four = leaves
    left, right = (hashlib.sha256(b"\1" + pair).digest() for pair in (one + two, three + four))
    return hashlib.sha256(b"\1" + left + right).hexdigest()


ROOT = root_of(ROWS)


def test_columns_are_named_and_models_told_apart(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        {"sample_id": row["id"], "gold": row["gold"], "response": row["reply"], "who": who}
        for row in ROWS
        for who in "xy"
    ]
    named = ("--field", "id=sample_id", "--field", "reply=response", "--field", "model=who")
    assert brought(jsonl(rows), *LETTERS, *named, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    require_valid("import", told)
    assert told["models"] == [{"model": "x", "replies": 4}, {"model": "y", "replies": 4}] and told["questions"] == 4
    assert [entry["model"] for entry in dia_runtime.score("a.run")["models"]] == ["x", "y"]


def test_the_order_of_rows_and_files_does_not_matter() -> None:
    Path("one").write_bytes(jsonl(ROWS[2:]))
    Path("two").write_bytes(jsonl(list(reversed(ROWS[:2]))))
    assert run(["import", "one", "two", "--from", "jsonl", *LETTERS, "--model", "me", "-o", "b.run", "-q"]) == 0
    assert brought(jsonl(ROWS), *LETTERS, "--model", "me") == 0
    first, second = (dia_runtime.score(path) for path in ("a.run", "b.run"))
    assert first["questions_root"] == second["questions_root"] == ROOT
    assert first["models"][0]["tsr"] == second["models"][0]["tsr"]
    assert len(dia_runtime.score(["a.run", "b.run"])["models"]) == 2


def test_labels_become_groups_and_items() -> None:
    fields = [f"--field={name}={name}" for name in ("item", "category", "level", "skills", "domain")]
    rows = [
        {**row, "item": f"i{at // 2}", "category": "law", "level": at % 2, "skills": ["s", f"t{at}"], "domain": None}
        for at, row in enumerate(ROWS)
    ]
    assert brought(jsonl(rows), *LETTERS, *fields) == 0
    result = dia_runtime.score("a.run")
    found = result["models"][0]
    assert (result["k"], result["n"], found["tsr"]) == (2, 2, {"i0": 1, "i1": 0})
    assert set(found["by_level"]) == {"0", "1"} and set(found["by_skill"]) == {"s", "t0", "t1", "t2", "t3"}
    assert set(found["by_domain"]) == {"none"} and found["by_category"]["law"]["n"] == 2
    assert found["model"] == "t"


def test_attempts_are_told_apart() -> None:
    rows = [{**ROWS[0], "try": at, "reply": f"Answer: {letter}"} for at, letter in enumerate("BAA", 1)]
    assert brought(jsonl(rows), *LETTERS, "--field", "attempt=try") == 0
    assert model()["counts"]["wrong"] == 1
    assert model(over="attempts")["tsr"] == {"q1": 2}


def test_other_answers_than_letters() -> None:
    rows: list[dict[str, Any]] = [
        {"id": 1, "gold": 7, "reply": "<xml> +007 </xml>"},
        {"id": 2, "gold": "7", "reply": "<xml>I-DO-NOT-KNOW</xml>"},
        {"id": 3, "gold": "123456789012345678901234567890", "reply": "<xml>123456789012345678901234567891</xml>"},
        {"id": 4, "gold": 5, "reply": "<xml>4</xml>", "also": ["4", "3"]},
    ]
    options = ("--type", "integer", "--answer-format", "xml", "--skip", "I-DO-NOT-KNOW")
    assert brought(jsonl(rows), *options) == 0
    assert model()["tsr"] == {"1": 1, "2": 0, "3": 0, "4": 0}
    assert brought(jsonl([{"also": [], **row} for row in rows]), *options, "--field", "accept=also", out="b.run") == 0
    assert model("b.run")["tsr"] == {"1": 1, "2": 0, "3": 0, "4": 1}
    exact: list[dict[str, Any]] = [
        {"id": "a", "gold": 0.1, "reply": "0.10"},
        {"id": "b", "gold": 0.1, "reply": "0.1000000000000000055511151231257827"},
    ]
    assert brought(jsonl([*exact]), "--type", "real", out="c.run") == 0
    assert model("c.run")["tsr"] == {"a": 1, "b": 0}


def test_what_became_of_a_request_is_kept() -> None:
    rows: list[dict[str, Any]] = [
        {"id": "a", "gold": "A", "reply": None, "why": "content_filter", "bad": None, "n": None, "usd": 0.25},
        {"id": "b", "gold": "A", "reply": None, "why": None, "bad": "timeout", "n": None, "usd": None},
        {"id": "c", "gold": "A", "reply": "A", "why": "length", "bad": None, "n": 12, "usd": "1e-3"},
        {"id": "d", "gold": "A", "reply": None, "why": None, "bad": None, "n": None, "usd": None},
    ]
    named = [f"--field={name}" for name in ("finish_reason=why", "error=bad", "completion_tokens=n", "cost=usd")]
    assert brought(jsonl(rows), *LETTERS, *named) == 0
    found = model()
    assert found["counts"] == {"correct": 1, "skipped": 0, "wrong": 1, "unparsed": 0, "error": 2}
    assert found["flags"]["refused"] == found["flags"]["truncated"] == 1
    with sqlite3.connect("a.run") as connection:
        stored = connection.execute("SELECT completion_tokens, cost, error FROM reply ORDER BY question").fetchall()
    assert stored == [
        (None, "0.25", None),
        (None, None, "timeout"),
        (12, "1e-3", None),
        (None, None, "the table has no replies"),
    ]


FAULTS: list[tuple[str, bytes, tuple[str, ...], str]] = [
    ("no JSON", jsonl(ROWS[:1]) + b'{"id": 2,, }\n', LETTERS, "t:2:10: error[E861]: not JSON"),
    ("no object", b"[1]\n", LETTERS, "t:1:1: error[E861]: a line is not an object"),
    ("a number that is none", b'{"id": NaN}', LETTERS, "error[E861]: not JSON: `NaN` is not a number"),
    ("a key twice", b'{"id": 1, "id": 2}', LETTERS, "occurs twice in one object"),
    ("no text", b"\xff\n", LETTERS, "t:1:1: error[E861]: not UTF-8"),
    ("deep", b"[" * 100_000, LETTERS, "error[E861]"),
    ("long number", b'{"id": 1' + b"0" * 5000 + b"}", LETTERS, "error[E861]"),
    ("nothing", b"", LETTERS, "t:1:1: error[E861]: the file has no rows"),
    ("no gold", b'{"id": "a", "reply": "A"}', LETTERS, "t:1:1: error[E862]: no column `gold`"),
    ("empty gold", b'{"id": "a", "gold": "", "reply": "A"}', LETTERS, "t:1:13: error[E862]: the gold is empty"),
    ("a gold that is no letter", b'{"id": "a", "gold": "F", "reply": "A"}', LETTERS, "t:1:13: error[E862]: the gold answer is not valid"),
    ("a gold that skips", b'{"id": "a", "gold": "E", "reply": "A"}', LETTERS, "is also the skip token"),
    ("a small gold", b'{"id": "a", "gold": "a", "reply": "A"}', LETTERS, "error[E862]: the gold answer is not valid"),
    ("no id", b'{"id": null, "gold": "A", "reply": "A"}', LETTERS, "t:1:2: error[E862]: the id is empty"),
    ("a reply that is no text", b'{"id": 1, "gold": "A", "reply": ["A"]}', LETTERS, "t:1:24: error[E862]: the reply is a list, not text"),
    ("no integer", b'{"id": 1, "gold": "x", "reply": "A"}', ("--type", "integer"), "error[E862]: the gold answer is not valid"),
    ("an id twice", jsonl([ROWS[0], ROWS[0]]), LETTERS, "t:2:2: error[E862]: the id `q1` also occurs in t:1"),
    ("another gold", jsonl([ROWS[0], {**ROWS[0], "gold": "B", "model": "two"}]), (*LETTERS, "--field", "model=model"), "t:2:14: error[E862]: the gold answer of `q1` is different in t:1"),
    ("other labels", jsonl([ROWS[0], {**ROWS[0], "topic": "x", "model": "two"}]), (*LETTERS, "--field", "model=model", "--field", "category=topic"), "has different labels in t:1"),
    ("a long reply", jsonl([{**ROWS[0], "reply": "x" * 10_000_001}]), LETTERS, "error[E862]: the reply has more than 10,000,000 characters"),
    ("attempt 0", jsonl([{**ROWS[0], "n": 0}]), (*LETTERS, "--field", "attempt=n"), "the attempt must be at least 1"),
    ("no field", jsonl(ROWS), (*LETTERS, "--field", "golden=gold"), "error[E864]: unknown field `golden`\n  help: did you mean `gold`?"),
    ("no column", jsonl(ROWS), (*LETTERS, "--field", "gold="), "error[E864]"),
    ("no letters", jsonl(ROWS), ("--letters", "E-A"), "error[E864]: `--letters E-A` is not a list of letters"),
    ("no type", jsonl(ROWS), ("--type", "planet"), "error[E864]: unknown answer type `planet`\n  help: the types are"),
    ("no format", jsonl(ROWS), ("--answer-format", "letters"), "error[E864]: unknown answer format `letters`"),
    ("a skip that is no token", jsonl(ROWS), ("--type", "{"), "error[E864]: `{` is not valid JSON"),
    ("too many models", jsonl(ROWS), (*LETTERS, "--model", "a", "--model", "b"), "error[E864]: 2 model names for 1 file"),
]  # fmt: skip


@pytest.mark.parametrize(("raw", "options", "message"), [row[1:] for row in FAULTS], ids=[row[0] for row in FAULTS])
def test_faults_are_told_with_their_place_and_nothing_is_written(
    raw: bytes, options: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert brought(raw, *options) == 2
    assert message in complaint(capsys)
    assert [path.name for path in Path().iterdir()] == ["t"]


CSV_FAULTS = [
    (b"", "t:1:1: error[E861]: the file has no header"),
    (b"id,id\n", "two columns are named `id`"),
    (b"id,gold,reply\na,A\n", "t:2:1: error[E861]: the row has 2 cells, but the header has 3 columns"),
    (b'id,gold,reply\na,A,"x\ny"\nb,F,z\n', "t:4:3: error[E862]: the gold answer is not valid"),
    (b'id,gold,reply\n"a,a",F,"x"\n', "t:2:7: error[E862]: the gold answer is not valid"),
    (b'id,gold,reply\na,A,"x\n', "error[E861]: not CSV"),
    (b"id,gold,reply\na,A,\0\n", "t:2:5: error[E861]: the file contains a zero byte"),
    (b"id,gold\na,A\n", "t:2:1: error[E862]: no column `reply`"),
]


@pytest.mark.parametrize(("raw", "message"), CSV_FAULTS)
def test_faults_of_csv(raw: bytes, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert brought(raw, *LETTERS, kind="csv") == 2
    assert message in complaint(capsys) and not Path("a.run").exists()


@pytest.mark.parametrize("kind", WRITE)
def test_what_is_no_file_of_the_kind(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["import", "nowhere", "--from", kind, *LETTERS, "-o", "a.run"]) == 2
    assert "error[E861]" in complaint(capsys)
    for raw in (gzip.compress(jsonl(ROWS))[:-9], b"\x28\xb5\x2f\xfd\0\0", b"PAR1", b"\x1f\x8b"):
        assert brought(raw, *LETTERS, kind=kind) == 2
        assert "error[E861]" in complaint(capsys)
    assert not Path("a.run").exists()


def test_a_packed_file_that_unpacks_without_end_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    bomb = zstandard.ZstdCompressor().compress(b" " * (1 << 26) + b"\n")
    assert brought(bomb, *LETTERS, name="bomb.jsonl.zst") == 2
    assert "error[E861]" in complaint(capsys) and [path.name for path in Path().iterdir()] == ["bomb.jsonl.zst"]


def test_a_packed_table_with_a_cell_of_lines_without_end_is_refused(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dia_runtime.integrations.reading.csv.LINES_OF_A_ROW", 100_000)
    bomb = gzip.compress(b'id,gold,reply\nq1,A,"' + b"a\n" * 1_200_000)
    started = time.process_time()
    assert brought(bomb, *LETTERS, kind="csv", name="bomb.csv.gz") == 2
    assert "bomb.csv.gz:2:1: error[E861]: a row of more than 100,000 lines" in complaint(capsys)
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    "make",
    [lambda: b"[" + b"[]," * 9_000_000 + b"[]]", lambda: b'{"a":1,' * 2_000_000, lambda: b"," * 30_000_000],
    ids=["lists", "keys", "commas"],
)
def test_lines_made_to_fill_the_memory_are_refused_at_once(
    make: Callable[[], bytes], capsys: pytest.CaptureFixture[str]
) -> None:
    raw = make()
    started = time.process_time()
    assert brought(raw, *LETTERS) == 2 and "error[E861]" in complaint(capsys)
    assert time.process_time() - started < 5


def test_up_to_twenty_faults_are_told_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert brought(jsonl([{**ROWS[0], "id": f"q{at}", "gold": "Z"} for at in range(30)]), *LETTERS) == 2
    assert complaint(capsys).count("error[E862]") == 1
    rows = [{**ROWS[0], "id": f"q{at}", "gold": f"Z{at}"} for at in range(30)]
    assert brought(jsonl(rows), *LETTERS) == 2
    assert complaint(capsys).count("error[E862]") == 20


def test_the_same_fault_of_many_rows_is_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{**ROWS[0], "id": f"q{at}", "gold": "Z" if at % 4 else "A"} for at in range(12)]
    assert brought(jsonl(rows), *LETTERS) == 2
    told = complaint(capsys)
    assert "t:2:" in told and "`Z` is not a valid choice (in 9 rows: lines 2, 3, 4, 6, 7, ...)" in told
    assert brought(jsonl(rows), *LETTERS, "--keep") == 0
    assert complaint(capsys).count("(in 9 rows") == 1 and model()["n"] == 3
    assert brought(jsonl([{**row, "gold": "Z"} for row in rows] * 200), *LETTERS, "--force") == 2
    told = complaint(capsys)
    assert told.count("error[E862]") == 1 and "(in at least 1,000 rows" in told


def test_a_run_that_is_there_stays(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.run").write_bytes(b"mine")
    assert brought(jsonl(ROWS), *LETTERS) == 2
    assert "error[E863]" in complaint(capsys) and Path("a.run").read_bytes() == b"mine"
    assert brought(jsonl(ROWS), *LETTERS, "--force") == 0 and model()["n"] == 4
    assert sorted(path.name for path in Path().iterdir()) == ["a.run", "t"]


def test_the_same_file_gives_the_same_scores_whatever_is_in_its_texts() -> None:
    rows = [
        {"id": "\ud800", "gold": "A", "reply": "\ud83d Answer: A"},
        {"id": "é\n\0", "gold": "B", "reply": "Answer:\r\nB\n\0"},
    ]
    raw = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    assert brought(raw, *LETTERS) == 0 and model()["counts"]["correct"] == 2


CELL = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12)


@settings(max_examples=examples(25), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(CELL, min_size=1, max_size=4))
def test_replies_come_through_csv_and_jsonl_unchanged(replies: list[str]) -> None:
    rows = [{"id": f"q{at}", "gold": "A", "reply": reply} for at, reply in enumerate(replies)]
    for kind in ("csv", "jsonl"):
        assert brought(WRITE[kind](rows), *LETTERS, "--force", "-q", kind=kind) == 0
        with sqlite3.connect("a.run") as connection:
            stored = [text for (text,) in connection.execute("SELECT text FROM reply ORDER BY question")]
        assert stored == replies


@pytest.mark.slow
def test_many_rows_take_little_memory(tmp_path: Path) -> None:
    import subprocess
    import sys

    draw = random.Random(7)
    with gzip.open("many.jsonl.gz", "wt", compresslevel=1) as file:
        for at in range(20_000):
            filler = "".join(draw.choices(string.ascii_lowercase, k=40)) * 40
            file.write(json.dumps({"id": f"q{at:06}", "gold": "A", "reply": f"{filler} Answer: A"}) + "\n")
    code = (
        "import resource, sys; from dia_compiler.commands.cli import run; base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss;"
        f"assert run(['import', 'many.jsonl.gz', '--from', 'jsonl', *{LETTERS!r}, '-o', 'm.run', '-q']) == 0;"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - base)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout.split()[-1]) < 60_000, "the replies alone are 32 MB"
    assert model("m.run")["counts"]["correct"] == 20_000
