"""Logs of other harnesses: those of a bundle are joined to it, others become runs of their own, strange ones are told."""

from __future__ import annotations

import json
import struct
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import dia_runtime
import pytest
import zstandard
from dia_compiler.commands.cli import run
from dia_runtime.bundle.open import open_bundle
from dia_runtime.integrations.readers import LOGS
from helpers.schemas import require_valid

REPLIES = ("<xml>{}</xml>", "<xml>{}</xml>", "<xml>I-DO-NOT-KNOW</xml>", "<xml>0</xml>", "no idea", "")
COUNTS = {"correct": 2, "skipped": 1, "wrong": 1, "unparsed": 2, "error": 0}
Rows = list[dict[str, Any]]


@pytest.fixture
def bundle(tiny: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Six questions, and a folder to work in."""
    made = tiny()
    monkeypatch.chdir(tmp_path)
    return made


def said(bundle: Path) -> Rows:
    """What a model replied to each question."""
    opened = open_bundle(bundle)
    origin = {"questions_root": opened.questions_root, "bundle_id": opened.id}
    pairs = zip(opened.questions(), opened.answers(), REPLIES, strict=True)
    return [
        {**origin, "id": q["id"], "item": q["item"], "reply": reply.replace("{}", a["text"])} for q, a, reply in pairs
    ]


def lm_eval(rows: Rows, path: Path) -> Path:
    """Samples as lm-evaluation-harness writes them, with the results that name the model beside."""
    path = path / "samples_dia_tiny_2026-11-21T18-24-49.574099.jsonl"
    held = [
        {"doc_id": at, "doc": {**row, "dia_prompt": "x"}, "target": "t", "resps": [[row["reply"]]], "filter": name, "correct": 1.0}
        for at, row in enumerate(rows)
        for name in ("none", "last")
    ]  # fmt: skip
    path.with_name("results_2026-11-21T18-24-49.574099.json").write_text('{"model_name": "loop"}')
    return jsonl(path, held)


def jsonl(path: Path, rows: Sequence[Any]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def promptfoo(rows: Rows) -> Rows:
    """Results as promptfoo writes them."""
    found = []
    for at, row in enumerate(rows):
        root = row["questions_root"]
        spelled = " ".join(root[start : start + 8] for start in range(0, 64, 8))
        test = {"metadata": {"questions_root": "[REDACTED]", "root": spelled}}
        response = {"output": row["reply"], "finishReason": "stop", "tokenUsage": {"prompt": 10, "completion": 5}}
        found.append({"testIdx": at, "vars": {"dia_id": row["id"]}, "testCase": test, "response": response, "provider": {"id": "loop"}, "cost": 0.0012})  # fmt: skip
    return found


def batch(rows: Rows) -> Rows:
    """Lines as the batch interface gives them back."""
    return [
        {"custom_id": row["id"], "error": None, "response": {"status_code": 200, "body": {"model": "loop", "usage": {"prompt_tokens": 10, "completion_tokens": 5}, "choices": [{"message": {"content": row["reply"]}, "finish_reason": "stop"}]}}}
        for row in rows
    ]  # fmt: skip


def sample(row: Mapping[str, Any], epoch: int = 1) -> dict[str, Any]:
    """A sample as Inspect logs it."""
    message = {"role": "assistant", "content": row["reply"]}
    return {
        "id": row["id"],
        "epoch": epoch,
        "target": "t",
        "metadata": {**row, "grading": "{}"},
        "output": {"choices": [{"message": message, "stop_reason": "stop"}], "completion": row["reply"], "usage": {"input_tokens": 10, "output_tokens": 5}},
        "scores": {"verdict": {"value": {"correct": 1.0}}},
        "total_time": 0.25,
    }  # fmt: skip


HEADER = {"status": "success", "eval": {"task": "dia_tiny", "model": "loop"}}


def archive(path: Path, members: Mapping[str, Any], packed: int = zipfile.ZIP_DEFLATED) -> Path:
    """An archive as Inspect writes it."""
    with zipfile.ZipFile(path, "w", packed) as file:
        for name, held in members.items():
            file.writestr(name, held if isinstance(held, bytes) else json.dumps(held))
    return path


def members(rows: Rows) -> dict[str, Any]:
    return {f"samples/{row['id']}_epoch_1.json": sample(row) for row in rows} | {"header.json": HEADER}


def zstd_archive(path: Path, held: Mapping[str, Any]) -> Path:
    """The same, packed by zstd as Inspect packs it, byte by byte (APPNOTE 6.3.7, sections 4.3.7, 4.3.12 and 4.3.16)."""
    out, directory = b"", b""
    for name, value in held.items():
        raw, place = json.dumps(value).encode(), len(out)
        body, known = zstandard.ZstdCompressor().compress(raw), name.encode()
        head = struct.pack("<HHHHHLLLHH", 63, 0, 93, 0, 33, zlib.crc32(raw), len(body), len(raw), len(known), 0)
        out += b"PK\x03\x04" + head + known + body
        directory += b"PK\x01\x02" + struct.pack("<H", 63) + head + struct.pack("<HHHLL", 0, 0, 0, 0, place) + known
    end = struct.pack("<HHHHLLH", 0, 0, len(held), len(held), len(directory), len(out), 0)
    path.write_bytes(out + directory + b"PK\x05\x06" + end)
    return path


def details(rows: Rows, path: Path) -> Path:
    """Details as lighteval writes them."""
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    folder = path / "details" / "openai" / "loop" / "2026-11-21T18-52-01.0"
    folder.mkdir(parents=True)
    held = [{"doc": {"id": str(at), "specific": row, "choices": ["t"], "gold_index": [0]}, "metric": {"correct": 1.0}, "model_response": {"text": [row["reply"]]}} for at, row in enumerate(rows)]  # fmt: skip
    out = folder / "details_dia_tiny|0_2026-11-21T18-52-01.0.parquet"
    parquet.write_table(pyarrow.Table.from_pylist(held), out)
    return out


# Name of a reader, and of a variant -> writes a log of the replies in a folder
FORMS: dict[str, Callable[[Rows, Path], Path]] = {
    "lm-eval": lm_eval,
    "promptfoo": lambda rows, path: jsonl(path / "out.jsonl", promptfoo(rows)),
    "promptfoo json": lambda rows, path: jsonl(path / "out.json", [{"results": {"results": promptfoo(rows)}}]),
    "openai-batch": lambda rows, path: jsonl(path / "batch.jsonl", batch(rows)),
    "inspect": lambda rows, path: archive(path / "a.eval", members(rows)),
    "inspect zstd": lambda rows, path: zstd_archive(path / "z.eval", members(rows)),
    "inspect json": lambda rows, path: jsonl(path / "a.json", [{**HEADER, "samples": [sample(row) for row in rows]}]),
    "lighteval": details,
    "jsonl": lambda rows, path: jsonl(path / "t.jsonl", rows),
}


def written(kind: str, rows: Rows, path: Path) -> Path:
    """A log of these replies."""
    return FORMS[kind](rows, path)


def brought(log: Path, kind: str, bundle: Path | None, *options: str, out: str = "a.run") -> int:
    joined = [] if bundle is None else ["--bundle", str(bundle)]
    return run(["import", str(log), "--from", kind.partition(" ")[0], "-o", out, *joined, *options])


def model(path: str = "a.run") -> dict[str, Any]:
    (found,) = dia_runtime.score(path)["models"]
    return dict(found)


@pytest.mark.parametrize("kind", FORMS)
def test_a_log_of_a_bundle_is_graded_by_its_answers(bundle: Path, tmp_path: Path, kind: str) -> None:
    name = ["--model", "loop"] if kind in ("jsonl", "lighteval") else []
    assert brought(written(kind, said(bundle), tmp_path), kind, bundle, "-q", *name) == 0
    found = model()
    assert found["counts"] == COUNTS and found["model"] == "loop"
    assert found["tsr"] == {"sum_0": 2, "sum_1": 0}
    assert dia_runtime.score("a.run")["questions_root"] == open_bundle(bundle).questions_root


def test_lighteval_names_its_model_by_its_folders(bundle: Path, tmp_path: Path) -> None:
    assert brought(written("lighteval", said(bundle), tmp_path), "lighteval", bundle, "-q") == 0
    assert model()["model"] == "openai/loop"


def test_epochs_are_attempts_and_errors_are_errors(bundle: Path, tmp_path: Path) -> None:
    rows = said(bundle)
    held = {f"samples/{row['id']}_epoch_{epoch}.json": sample(row, epoch) for row in rows for epoch in (1, 2)}
    held[f"samples/{rows[0]['id']}_epoch_1.json"] |= {"error": {"message": "gave up"}, "output": {}}
    refused = held[f"samples/{rows[1]['id']}_epoch_1.json"]["output"]
    refused["completion"], refused["choices"][0]["stop_reason"] = "", "content_filter"
    assert brought(archive(tmp_path / "a.eval", held | {"header.json": HEADER}), "inspect", bundle, "-q") == 0
    found = model()
    assert found["counts"] == {"correct": 0, "skipped": 1, "wrong": 2, "unparsed": 2, "error": 1}
    assert found["flags"]["refused"] == 1
    (over,) = dia_runtime.score("a.run", over="attempts")["models"]
    assert sum(over["counts"].values()) == 12


def test_errors_of_a_batch_are_told_apart(bundle: Path, tmp_path: Path) -> None:
    lines = batch(said(bundle))
    lines[0] |= {"response": None, "error": {"message": "expired"}}
    lines[1]["response"] = {"status_code": 500, "body": {"error": {"message": "busy"}}}
    filtered = {"error": {"code": "content_filter", "message": "refused"}}
    lines[2]["response"] = {"status_code": 400, "body": filtered}
    assert brought(jsonl(tmp_path / "b.jsonl", lines), "openai-batch", bundle, "-q", "--model", "me") == 0
    assert model()["counts"] == {"correct": 0, "skipped": 0, "wrong": 2, "unparsed": 2, "error": 2}
    assert brought(tmp_path / "b.jsonl", "openai-batch", None, out="b.run") == 2


def test_a_log_that_does_not_fit_is_told_line_by_line(
    bundle: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = said(bundle)
    rows[1]["id"] = "tiny/sum_0/9"
    path = jsonl(tmp_path / "t.jsonl", [*rows[:5], rows[0]])
    path.write_text(path.read_text() + '{"id": "tiny/su')
    assert brought(path, "jsonl", bundle, "--model", "me") == 2
    told = capsys.readouterr().err.splitlines()
    places = [line.partition("error[")[0] for line in told if "error[" in line]
    assert [place.removeprefix(str(path)).split(":")[1:2] for place in places] == [["2"], ["6"], ["7"], [], []]
    whole = "\n".join(told)
    assert "no question `tiny/sum_0/9`" in whole and "help: did you mean" in whole
    assert f"also occurs in {path}:1" in whole and ":7:" in whole
    assert "error[E865]: `me` has no reply to `tiny/sum_0/1` (missing in total: 2)\n  help: use `--keep`" in whole
    assert "error[E865]: `me` has no reply to `tiny/sum_1/2`" in whole
    assert not Path("a.run").exists() and not list(tmp_path.glob(".a.run*"))
    assert brought(path, "jsonl", bundle, "--model", "me", "--keep", "--json") == 0
    out, err = capsys.readouterr()
    facts = json.loads(out)
    require_valid("import", facts)
    assert (facts["faults"], facts["missing"], facts["models"]) == (5, 2, [{"model": "me", "replies": 4}])
    assert err.count("warning[") == 5 and "--keep" not in err
    assert sum(model()["counts"].values()) == 4 and model()["missing"] == 2


@pytest.mark.parametrize("kind", ["lm-eval", "promptfoo", "inspect", "jsonl"])
def test_a_log_of_other_questions_is_an_integrity_failure(
    bundle: Path, tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = said(bundle)
    for row in rows[:2]:
        row["questions_root"] = "f" * 64
    log = written(kind, rows, tmp_path)
    field = ["--field", "questions_root=questions_root"] if kind == "jsonl" else []
    assert brought(log, kind, bundle, *field) == 3
    assert "to other questions: their root is ffff" in capsys.readouterr().err and not Path("a.run").exists()
    assert brought(log, kind, bundle, "--keep", *field) == 0
    assert sum(model()["counts"].values()) == 4
    assert kind == "jsonl" or brought(log, kind, None, out="b.run") == 2
    assert kind == "jsonl" or "name the bundle with `--bundle`" in capsys.readouterr().err


def test_options_that_the_bundle_answers_are_refused(
    bundle: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = written("lm-eval", said(bundle), tmp_path)
    assert brought(log, "lm-eval", bundle, "--letters", "A-E") == 2
    assert "`--letters` cannot be combined with `--bundle`" in capsys.readouterr().err


def test_a_sealed_bundle_takes_replies_that_are_graded_later(
    tiny: Callable[..., Path], bundle: Path, tmp_path: Path
) -> None:
    sealed = tiny("sealed", sealed=True)
    rows = said(bundle)
    assert brought(written("openai-batch", rows, tmp_path), "openai-batch", sealed, "-q") == 0
    (found,) = dia_runtime.score("a.run", bundle=bundle)["models"]
    assert found["counts"] == COUNTS


# Anyone's benchmark


def test_likelihoods_and_texts_of_lm_eval_become_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    likely = [[["-3.5", "False"]], [["-0.25", "True"]], [["-1e1", "False"]], [["-7", "False"]]]
    rows = [
        {"doc_id": at, "doc": {"subject": subject}, "target": gold, "resps": likely, "filter": "none", "acc": float(gold == "1")}
        for at, (gold, subject) in enumerate([("1", "law"), ("2", "law"), ("1", "art")])
    ]  # fmt: skip
    path = jsonl(tmp_path / "samples_mmlu_2026-11-21T18-24-49.1.jsonl", rows)
    assert brought(path, "lm-eval", None, "--field", "category=doc.subject", "-q") == 0
    assert model()["counts"] == {"correct": 2, "skipped": 0, "wrong": 1, "unparsed": 0, "error": 0}
    texts = [
        {"doc_id": at, "doc": {}, "target": "18", "resps": [[f"so {said}", said]], "filtered_resps": [said], "filter": name, "exact_match": 1.0}
        for at, said in enumerate(("18", "19"))
        for name in ("strict", "loose")
    ]  # fmt: skip
    path = jsonl(tmp_path / "samples_gsm_2026-11-21T18-24-49.1.jsonl", texts)
    options = ("--type", "integer", "--answer-format", "whole", "-q")
    assert brought(path, "lm-eval", None, *options, out="b.run") == 0
    (over,) = dia_runtime.score("b.run", over="attempts")["models"]
    assert over["counts"]["correct"] == 1 and sum(over["counts"].values()) == 4
    # The harness's own verdict, for answers that no type reads.
    assert brought(path, "lm-eval", None, "--field", "reply=verdict", "--field", "gold=correct", "-q", out="c.run") == 0
    assert model("c.run")["counts"]["correct"] == 2


@pytest.mark.parametrize("said", ["nan", "NaN", "sNaN", "-nan"])
def test_a_likelihood_that_is_no_number_chooses_nothing(
    said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    likely = [[["-3.5", "False"]], [[said, "False"]], [["-inf", "False"]]]
    row = {"doc_id": 0, "doc": {}, "target": "0", "resps": likely, "filter": "none"}
    path = jsonl(tmp_path / "samples_mmlu_2026-11-21T18-24-49.1.jsonl", [row])
    assert brought(path, "lm-eval", None, "-q") == 0
    assert model()["counts"]["error"] == 1


def test_others_of_inspect_and_promptfoo_become_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    samples = [
        {"id": at, "epoch": 1, "target": ["B", "C"], "output": {"choices": [{"message": {"content": [{"type": "text", "text": f"ANSWER: {letter}"}]}}]}, "scores": {"choice": {"value": "C"}}}
        for at, letter in enumerate("ABC")
    ]  # fmt: skip
    path = jsonl(tmp_path / "x.json", [{**HEADER, "samples": samples}])
    assert brought(path, "inspect", None, "--letters", "A-D", "-q") == 0
    assert model()["counts"]["correct"] == 2 and model()["model"] == "loop"
    results = [
        {"testIdx": at, "vars": {"q": "x"}, "testCase": {"assert": [{"type": "equals", "value": "4"}]}, "response": {"output": said}, "provider": "p", "success": said == "4"}
        for at, said in enumerate(("4", "5"))
    ]  # fmt: skip
    results.append({"testIdx": 2, "vars": {}, "testCase": {"assert": [{"value": "4"}]}, "error": "no network"})
    path = jsonl(tmp_path / "o.json", [{"results": {"results": results}}])
    assert brought(path, "promptfoo", None, "--model", "p", "-q", out="b.run") == 0
    assert model("b.run")["counts"] == {"correct": 1, "skipped": 0, "wrong": 1, "unparsed": 0, "error": 1}


# Strange archives and files

STRANGE: list[tuple[str, Callable[[Path], object], str]] = [
    ("no archive", lambda path: path.write_bytes(b"PK\x03\x04 and no more"), "not a complete zip archive"),
    ("empty", lambda path: path.write_bytes(b""), "not JSON"),
    ("no log", lambda path: path.write_text("[1]"), "not a log of Inspect"),
    ("no header", lambda path: archive(path, {"samples/a.json": {}}), "not a log of Inspect"),
    ("a bomb", lambda path: archive(path, {"header.json": b'{"eval": "' + b"x" * (70 << 20) + b'"}'}), "MiB"),
    ("not JSON", lambda path: archive(path, {"header.json": HEADER, "samples/a.json": b"{"}), "samples/a.json: not JSON"),
    ("deep", lambda path: archive(path, {"header.json": HEADER, "samples/a.json": b"[" * 200_000}), "nested too deeply"),
    ("commas", lambda path: path.write_bytes(b"[" + b"1," * 3_000_000), "commas"),
    ("unfinished", lambda path: archive(path, {"header.json": {**HEADER, "status": "error"}}), "did not finish"),
]  # fmt: skip


@pytest.mark.parametrize(("make", "message"), [case[1:] for case in STRANGE], ids=[case[0] for case in STRANGE])
def test_strange_logs_are_told(
    bundle: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], make: Callable[[Path], object], message: str
) -> None:
    path = tmp_path / "x.eval"
    make(path)
    before = sorted(each.name for each in tmp_path.iterdir())
    assert brought(path, "inspect", bundle) == 2
    told = capsys.readouterr().err
    assert message in told and "Traceback" not in told
    assert sorted(each.name for each in tmp_path.iterdir()) == before


def test_members_that_come_twice_or_differ_from_their_sum_are_refused(
    bundle: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    held = members(said(bundle))
    path = archive(tmp_path / "x.eval", held, zipfile.ZIP_STORED)
    with zipfile.ZipFile(path, "a") as file, pytest.warns(UserWarning, match="Duplicate"):
        file.writestr("header.json", json.dumps(HEADER))
    assert brought(path, "inspect", bundle) == 2 and "`header.json` twice" in capsys.readouterr().err
    path = archive(tmp_path / "y.eval", held, zipfile.ZIP_STORED)
    path.write_bytes(path.read_bytes().replace(b"<xml>0</xml>", b"<xml>1</xml>", 1))
    assert brought(path, "inspect", bundle) == 2 and "is damaged" in capsys.readouterr().err


def test_a_name_that_leaves_the_folder_leaves_nothing(bundle: Path, tmp_path: Path) -> None:
    held = {"samples/../../evil.json": sample(said(bundle)[0]), "/abs.json": {}, "header.json": HEADER}
    assert brought(archive(tmp_path / "x.eval", held), "inspect", bundle, "--keep", "-q") == 0
    assert not (tmp_path.parent / "evil.json").exists() and not list(tmp_path.rglob("evil*"))


@pytest.mark.parametrize("content", [b"", b"{", b'{"id": "a/b/0"', b"\xff\xfe\x00", b"PAR1 and no more PAR1"])
@pytest.mark.parametrize("kind", LOGS)
def test_damaged_logs_end_with_an_error(
    bundle: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str, content: bytes
) -> None:
    log = tmp_path / "damaged.log"
    log.write_bytes(content)
    assert brought(log, kind, bundle) in (2, 3)
    error = capsys.readouterr().err
    assert "error[E" in error and "Traceback" not in error and not Path("a.run").exists()
