"""The studio over HTTP: what it shows equals what check, preview and the grader say, and strangers get nothing."""

from __future__ import annotations

import http.client
import json
import re
import shutil
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from dia_compiler.authoring.preview import preview
from dia_compiler.authoring.studio.guard import is_this_machine
from dia_compiler.authoring.studio.server import Studio
from dia_compiler.commands.cli import run
from dia_compiler.pipeline.api import check_specs
from helpers.places import ROOT
from helpers.studio import BENCHMARK, SUM, Running

pytestmark = pytest.mark.spawned  # a fork of a process with threads and open connections is not what dia does
WRONG = SUM.replace("{{ b }}", "{{ bb }}").replace("template: sums", "template: wrong")
ROWS = """\
template: rows
title: Rows
params: {row: {type: row, from: words.jsonl, id: = row.word}}
each: row
answer: {value: length(row.word), type: integer}
prompt: How many letters has {{ row.word }}?
"""
SLOW = """\
template: slow
title: Slow
limits: {seconds: 1, steps: 100000000}
params: {a: {type: integer, min: 2, max: 99}}
answer: {value: "length([n for n in range(10**5) if next_prime(10**200 + n) == a])", type: integer}
prompt: How many {{ a }}?
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("studio") / "mine"
    folder.mkdir()
    for name, text in {"benchmark": BENCHMARK, "sums": SUM, "wrong": WRONG}.items():
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    shutil.copy(ROOT / "specs" / "self_execution" / "token_injection.yaml", folder / "talk.yaml")
    return folder


@pytest.fixture(scope="module")
def running(folder: Path) -> Iterator[Running]:
    running = Running(folder)
    yield running
    running.end()


# Strangers


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Host": "localhost:1"}, 200),
        ({"Host": "evil.example:80"}, 403),  # a name that someone points at 127.0.0.1
        ({"Host": "127.0.0.1.evil.example"}, 403),
        ({"Host": ""}, 403),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://127.0.0.1:1"}, 403),  # another server of this machine
        ({"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "no-cors"}, 403),
        ({"Sec_Fetch_Site": "same-site", "Sec_Fetch_Mode": "cors"}, 403),
        ({"Sec_Fetch_Site": "same-origin", "Sec_Fetch_Mode": "cors"}, 200),
    ],
)
def test_only_the_own_page_is_answered(running: Running, headers: dict[str, str], status: int) -> None:
    assert running.ask("", **headers)[0] == status


@pytest.mark.parametrize("path", ["/", "/events", "/x/", "/studio.js", "//", "/%2e%2e/", "/favicon.ico"])
def test_without_the_token_there_is_nothing(running: Running, path: str) -> None:
    status, headers, content = running.ask(path, is_under_token=False)
    assert status == 403 and b"sums" not in content and running.studio.token.encode() not in content
    assert "default-src 'none'" in headers["Content-Security-Policy"]


def test_tokens_are_long_and_differ() -> None:
    tokens = {Studio([]).token for _ in range(20)}
    assert len(tokens) == 20 and all(len(token) >= 32 for token in tokens)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "", "Content_Type": "application/json"}, 403),
        ({"Content_Type": "text/plain"}, 415),  # what a form of another page can send
        ({"Host": "evil.example"}, 403),
        ({}, 404),  # the own page, about an instance that is not there
    ],
)
def test_only_the_own_page_can_change_something(running: Running, headers: dict[str, str], status: int) -> None:
    assert running.post("read", {"reader": "x", "reply": "y"}, **headers)[0] == status
    assert running.post("start", {"family": "x", "name": "y", "folder": "z"}, **headers)[0] == status


def test_a_post_without_an_origin_is_refused(running: Running) -> None:
    assert running.ask("read", "POST", {"reader": "x", "reply": "y"}, Content_Type="application/json")[0] == 403


@pytest.mark.parametrize("body", [b"{", b"[]", b'{"reader": 1, "reply": "x"}'])
def test_what_is_not_understood_is_refused(running: Running, body: bytes) -> None:
    assert running.post("read", body)[0] == 400


def test_it_listens_on_this_machine_alone(running: Running) -> None:
    assert running.studio.runner is not None
    assert {address[0] for address in running.studio.runner.addresses} == {"127.0.0.1"}
    for address in {entry[4][0] for entry in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}:
        if not address.startswith("127."):
            with pytest.raises(OSError), socket.create_connection((address, running.studio.port), timeout=2):
                pass


def test_a_port_that_is_taken_is_an_error(running: Running, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["studio", str(folder), "--port", str(running.studio.port)]) == 2
    assert f"error[E600]: port {running.studio.port} cannot be used" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("host", "is_here"),
    [("127.0.0.1", True), ("127.8.9.1:5", True), ("[::1]:80", True), ("localhost", True), ("localhost.evil.org", False),
     ("0.0.0.0", False), ("10.0.0.1", False), ("[::1", False), ("127.0.0.1@evil.org", False)],
)  # fmt: skip
def test_hosts(host: str, is_here: bool) -> None:
    assert is_this_machine(host) is is_here


def test_the_page_runs_nothing_but_its_own_files(running: Running) -> None:
    status, headers, content = running.ask("")
    policy = dict(part.strip().split(" ", 1) for part in headers["Content-Security-Policy"].split(";"))
    assert status == 200 and policy["default-src"] == "'none'" and policy["frame-ancestors"] == "'none'"
    assert all(sources in ("'none'", "'self'") for sources in policy.values())
    assert headers["X-Content-Type-Options"] == "nosniff" and headers["Referrer-Policy"] == "no-referrer"
    page = content.decode()
    names = re.findall(r'(?:src|href)="([^"#][^"]*)"', page)
    assert names and not re.search(r"<script(?![^>]*\bsrc=)|\son\w+=|style=", page)
    for name in names:
        assert running.ask(name)[0] == 200
    scripts = list((ROOT / "compiler" / "dia_compiler" / "authoring" / "studio" / "page").glob("*.js"))
    assert scripts
    for script in scripts:
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", script.read_text())


@pytest.mark.parametrize("file", ["/etc/passwd", "../benchmark.yaml", "{folder}/../mine/sums.yaml", ""])
def test_no_other_file_is_read(running: Running, folder: Path, file: str) -> None:
    assert running.ask(f"look?file={quote(file.format(folder=folder))}")[0] == 404
    assert running.ask(f"stress?file={quote(file.format(folder=folder))}")[0] == 404


@pytest.mark.parametrize("choice", ["first=-1", "first=x", "count=1e9", "first=99999999"])
def test_odd_numbers_are_refused(running: Running, folder: Path, choice: str) -> None:
    assert running.ask(f"look?file={quote((folder / 'sums.yaml').as_posix())}&{choice}")[0] == 400


# What is shown


def test_instances_are_those_of_the_preview(running: Running, folder: Path) -> None:
    records = running.look(folder / "sums.yaml", seed="7", first=2, count=2)
    shown = [record for record in records if record["kind"] == "instance"]
    assert [record["number"] for record in shown] == [2, 3]
    for record in shown:
        (expected,) = preview(folder / "sums.yaml", "7", record["number"])[0][0].shown
        names = ("parameters", "content", "answer", "mistakes", "item", "variant")
        assert {name: record[name] for name in names} == {name: getattr(expected, name) for name in names}
    assert "<img src=x onerror=alert(1)>" in shown[0]["content"]  # the page shows it as text
    assert [record["kind"] for record in records] == [
        "template", "text", "instance", "instance", "errors", "overview", "freedom",
    ]  # fmt: skip
    assert records[-1]["freedom"].replace(",", "") == str(98**2)


def test_states_and_errors_are_those_of_the_check(running: Running, folder: Path) -> None:
    states = running.settled()
    expected = check_specs([folder], 1).diagnostics.errors
    by_file = {path.name: sum(entry.position.file == path.as_posix() for entry in expected if entry.position)
               for path in folder.glob("*.yaml") if path.name != "benchmark.yaml"}  # fmt: skip
    assert {Path(file).name: state.get("errors") for file, state in states.items()} == by_file
    assert by_file == {"sums.yaml": 0, "wrong.yaml": 1, "talk.yaml": 0}
    (error,) = (entry for record in running.look(folder / "wrong.yaml") for entry in record.get("diagnostics", ()))
    (found,) = (entry for entry in expected if entry.position and entry.position.file.endswith("wrong.yaml"))
    assert {name: error[name] for name in found.as_json()} == found.as_json()
    assert error["source"] == WRONG.splitlines()[error["line"] - 1] and "bb" in error["source"]
    assert states[(folder / "wrong.yaml").as_posix()]["diagnostics"] == [error]


@pytest.mark.long
def test_errors_of_the_benchmark_are_told_of_its_templates(tmp_path: Path) -> None:
    (tmp_path / "benchmark.yaml").write_text("language: 2\nbenchmark: [mine\n", encoding="utf-8")
    (tmp_path / "sums.yaml").write_text(SUM, encoding="utf-8")
    running = Running(tmp_path)
    try:
        assert [state["state"] for state in running.settled().values()] == ["blocked"]
        (error,) = (entry for one in running.look(tmp_path / "sums.yaml") for entry in one.get("diagnostics", ()))
        assert error["code"] == "E104" and error["path"].endswith("benchmark.yaml") and "[mine" in error["source"]
        (tmp_path / "benchmark.yaml").write_text(BENCHMARK, encoding="utf-8")
        running.wait_for(
            lambda event: event["event"] == "list" and event["benchmarks"][0]["templates"][0]["is_clean"] is True
        )
        assert [state["state"] for state in running.settled().values()] == ["ok"]
    finally:
        running.end()


def test_data_rows_are_looked_at_one_after_another(running: Running, folder: Path) -> None:
    rows = "".join(json.dumps({"word": word}) + "\n" for word in ("one", "three", "seven"))
    (folder / "words.jsonl").write_text(rows, encoding="utf-8")
    (folder / "rows.yaml").write_text(ROWS, encoding="utf-8")
    running.wait_for(
        lambda event: (
            event["event"] == "list"
            and any(one["name"] == "rows" and one["is_clean"] for one in event["benchmarks"][0]["templates"])
        )
    )
    for choices, items in (({"item": 1}, ["three", "seven"]), ({"count": 2}, ["one", "three"]), ({"item": 3}, [])):
        records = running.look(folder / "rows.yaml", **choices)
        assert [record["answer"] for record in records if record["kind"] == "instance"] == [
            str(len(item)) for item in items
        ]
        assert [record["items"] for record in records if "items" in record] == [3]
    (folder / "rows.yaml").unlink()
    (folder / "words.jsonl").unlink()


def test_each_chain_reads_a_reply_as_the_grader_does(running: Running, folder: Path) -> None:
    (record,) = (one for one in running.look(folder / "sums.yaml", count=1) if one["kind"] == "instance")
    answer, mistake = record["answer"], record["mistakes"]["difference"]
    assert "grading" not in record
    expected = {  # by the rules of the format, see the reference
        f"<xml>{answer}</xml>": ("correct", "correct", "correct"),
        f"So: <xml>{answer}</xml>": ("correct", "unparsed", "correct"),
        f"The answer is {answer}.": ("unparsed", "unparsed", "correct"),
        f"<xml>{mistake}</xml>": ("wrong", "wrong", "wrong"),
        "<xml>many</xml>": ("wrong", "wrong", "wrong"),
    }
    for reply, verdicts in expected.items():
        status, read = running.post("read", {"reader": record["reader"], "reply": reply})
        assert status == 200
        by_chain = {reading["chain"]: reading for reading in read["readings"]}
        assert tuple(by_chain[chain]["verdict"] for chain in ("standard", "strict", "lenient")) == verdicts, reply
        assert all(reading["why"] for reading in read["readings"])
    assert by_chain["standard"]["why"] == "The text cannot be read as an answer of type integer."
    spelled = {row["text"]: row["verdicts"]["standard"] for row in record["spellings"]}
    assert spelled[answer] == "correct" and spelled[mistake] == "wrong" and spelled[f"{answer}."] == "wrong"


def test_sessions_have_a_graph(running: Running, folder: Path) -> None:
    (record,) = (one for one in running.look(folder / "talk.yaml", count=1) if one["kind"] == "instance")
    assert [(session["name"], session["reads"]) for session in record["sessions"]] == [
        ("first", {}), ("second", {"reasoned": "first"}),
    ]  # fmt: skip
    assert set(record["truth_reads"].values()) == {"first", "second"} and "reader" not in record


def test_stress_comes_in_pieces_and_counts_right(
    running: Running, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dia_compiler.authoring.studio.desk.STRESS", 400)
    status, _, content = running.ask(f"stress?file={quote((folder / 'sums.yaml').as_posix())}")
    records = [json.loads(line) for line in content.splitlines()]
    samples = [sample for record in records if record["kind"] == "samples" for sample in record["samples"]]
    (one,) = preview(folder / "sums.yaml", None, None, 400)[0]
    assert status == 200 and [sample["text"] for sample in samples] == [sample.text for sample in one.samples]
    assert [record["kind"] for record in records][-2:] == ["freedom", "probe"]
    assert records[-1]["instances"] == 200 and not records[-1]["is_over"]


@pytest.mark.long
def test_a_change_is_told_and_shown(running: Running, folder: Path) -> None:
    path = folder / "changing.yaml"
    events: list[dict[str, Any]] = []
    listener = threading.Thread(
        target=lambda: events.append(
            running.wait_for(lambda event: event["event"] == "list" and path.as_posix() in event["states"])
        )
    )
    listener.start()
    path.write_text(SUM.replace("template: sums", "template: changing"), encoding="utf-8")
    listener.join(30)
    assert events, "a new template is listed"
    assert "What is" in next(one["content"] for one in running.look(path) if one["kind"] == "instance")
    listener = threading.Thread(
        target=lambda: events.append(
            running.wait_for(lambda event: event["event"] == "changed" and path.as_posix() in event["files"])
        )
    )
    listener.start()
    time.sleep(0.05)
    path.write_text(SUM.replace("template: sums", "template: changing").replace("What is", "Compute"), encoding="utf-8")
    listener.join(30)
    assert len(events) == 2 and not events[1]["whole"], "a changed template is told"
    assert "Compute" in next(one["content"] for one in running.look(path) if one["kind"] == "instance")
    path.unlink()
    running.wait_for(lambda event: event["event"] == "list" and path.as_posix() not in event["states"])


@pytest.mark.slow
def test_a_page_that_has_gone_does_not_hold_up_the_next(running: Running, folder: Path) -> None:
    (record,) = (one for one in running.look(folder / "sums.yaml", count=1) if one["kind"] == "instance")
    (folder / "slow.yaml").write_text(SLOW.replace("seconds: 1", "seconds: 300"), encoding="utf-8")
    running.wait_for(
        lambda event: (
            event["event"] == "list"
            and any(one["seconds"] == 300 for benchmark in event["benchmarks"] for one in benchmark["templates"])
        )
    )
    try:
        connection = http.client.HTTPConnection("127.0.0.1", running.studio.port, timeout=60)
        file = quote((folder / "slow.yaml").as_posix())
        connection.request("GET", f"{running.base}look?file={file}", headers={"Host": running.own})
        answer = connection.getresponse()
        assert b"template" in answer.readline()
        body = {"reader": record["reader"], "reply": "<xml>7</xml>"}
        assert running.ask("")[0] == 200 and running.post("read", body)[0] == 200, "a slow template holds up the page"
        answer.close()
        connection.close()
        begin = time.monotonic()
        assert any(record["kind"] == "instance" for record in running.look(folder / "sums.yaml"))
        assert time.monotonic() - begin < 100, "it waited for the evaluation that nobody looks at"
        (folder / "slow.yaml").write_text(SLOW, encoding="utf-8")
        limit = time.monotonic() + 100
        while running.settled()[(folder / "slow.yaml").as_posix()].get("errors") != 1:
            assert time.monotonic() < limit, "the template that is too slow has no error"
    finally:
        (folder / "slow.yaml").unlink()


# The gallery


@pytest.mark.long
def test_a_family_is_the_start_of_a_template(running: Running, folder: Path) -> None:
    status, _, content = running.ask("gallery")
    families = {family["name"]: family for family in json.loads(content)["families"]}
    assert status == 200 and len(families) > 150 and families["next_prime"]["category"] == "mathematics"
    assert any(one["kind"] == "instance" for one in running.look(Path(families["next_prime"]["file"]), count=1))
    body = {"family": families["next_prime"]["file"], "name": "my_prime", "folder": folder.as_posix()}
    assert running.post("start", {**body, "folder": "/tmp"})[0] == 404
    assert running.post("start", {**body, "family": "/etc/passwd"})[0] == 409
    assert running.post("start", {**body, "name": "../x"})[0] == 409
    status, written = running.post("start", body)
    assert status == 200 and written == {"files": [f"{folder.as_posix()}/my_prime.yaml"]}
    assert not check_specs([Path(written["files"][0])], 1).diagnostics.errors
    assert running.post("start", body)[1]["diagnostics"][0]["code"] == "E601"
