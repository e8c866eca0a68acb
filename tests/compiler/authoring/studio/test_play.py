"""Conversations that the studio plays with a model at an endpoint: their turns, readings and verdicts, and no secret."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from dia_compiler.authoring.studio.play import Players
from dia_compiler.commands.cli import run as dia
from dia_language.diagnostics import DiaError
from dia_runtime.respondents.registry import ModelOptions
from dia_runtime.running.sessions import CodeEvaluator, SessionRunner
from helpers import loopback as loop
from helpers.browser import Browser, installed_browser, serious
from helpers.studio import BENCHMARK, Running

pytestmark = pytest.mark.spawned
KEY = "sk-planted-0123456789abcdef"
CHOICE = """\
template: choice
title: A choice
params: {a: {type: integer, min: 2, max: 99}}
sessions:
  add:
    turns:
      - user: What is {{ a }} + 1?
        reply: {name: total, format: last_line, type: integer}
  check:
    when: answered(total) and total > 1000
    turns:
      - user: You said {{ total }}, which is a lot. Are you sure?
        reply: {name: sure, format: label, of: [YES, NO]}
  repeat:
    when: answered(total)
    turns:
      - user: 'What did you say before? You said {{ total }}'
        reply: {name: again, format: last_line, type: integer}
grade:
  correct: total == a + 1 and answered(again) and again == total
figures:
  sure: {value: answered(sure) and sure == "YES", where: answered(sure), summary: share}
"""
JUDGED = """\
template: judged
title: Judged
params: {a: {type: integer, min: 2, max: 99}}
sessions:
  say:
    turns: [{user: "Say {{ a }}.", reply: {name: said, format: text}}]
  weigh:
    model: judge
    when: answered(said)
    turns: [{user: "Is {{ quoted(said) }} polite?", reply: {name: weighed, format: label, of: [YES, NO]}}]
grade:
  correct: answered(weighed) and weighed == "YES"
"""


def adds(by: int = 1) -> loop.Answer:
    """A model that adds, and repeats what it said; it returns the key that it was sent, as a bad endpoint may."""

    async def answer(asked: loop.Asked, request: web.Request) -> web.StreamResponse:
        words = asked.text.replace("?", " ").split()
        number = int(words[2]) + by if asked.text.startswith("What is") else words[-1]
        key = asked.headers.get("Authorization", "").removeprefix("Bearer ")
        return web.json_response(loop.completion(f"<b>So</b> {key}\n{number}"))

    return answer


@pytest.fixture(autouse=True)
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in list(os.environ):
        if name.endswith("_API_KEY") or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setattr("dia_compiler.authoring.studio.play.PAUSE", 0.01)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("play") / "mine"
    folder.mkdir()
    for name, text in {"benchmark": BENCHMARK, "choice": CHOICE, "judged": JUDGED}.items():
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    return folder


Play = Callable[..., list[dict[str, Any]]]


@pytest.fixture(scope="module")
def running(folder: Path) -> Iterator[Running]:
    """A studio whose players a test may replace."""
    running = Running(folder, players=Players.of("says:5", ModelOptions(), {}, {}))
    yield running
    running.end()


class KeptEvaluator(CodeEvaluator):
    """Keeps its worker for the next conversation."""

    def close(self) -> None:
        pass


@pytest.fixture(scope="module")
def evaluator() -> Iterator[CodeEvaluator]:
    evaluator = KeptEvaluator()
    yield evaluator
    CodeEvaluator.close(evaluator)


@pytest.fixture
def play(running: Running, folder: Path, evaluator: CodeEvaluator, monkeypatch: pytest.MonkeyPatch) -> Play:
    """Play instance 0 of a template with a model, and return the records."""
    monkeypatch.setattr("dia_compiler.authoring.studio.play.CodeEvaluator", lambda: evaluator)

    def played(name: str, answer: loop.Answer, roles: dict[str, str] | None = None) -> list[dict[str, Any]]:
        with loop.serve(answer) as server:
            options = ModelOptions(base_url=server.url)
            with running.played_by(Players.of("m", options, roles or {}, {})):
                instance = next(
                    one for one in running.look(folder / f"{name}.yaml", count=1) if one["kind"] == "instance"
                )
                assert "play" not in instance, "the page gets neither the question's code nor the truth"
                status, content = running.post("play", {"conversation": instance["conversation"]})
                assert status == 200 and KEY not in json.dumps(content)
                return [json.loads(line) for line in running.last.splitlines()]

    return played


def of_kind(records: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [record for record in records if record["kind"] == kind]


def test_every_turn_comes_with_its_reading_and_the_verdict_at_the_end(play: Play) -> None:
    records = play("choice", adds())
    assert [record["kind"] for record in records] == ["asking", "turn", "asking", "turn", "sessions", "verdict"]
    first, second = of_kind(records, "turn")
    assert (first["session"], first["name"], first["model"], first["tokens"]) == ("add", "total", "m", 5)
    assert first["text"].startswith("<b>So</b> ***\n") and first["messages"][0]["content"].startswith("What is")
    number = int(first["messages"][0]["content"].split()[2]) + 1
    assert first["reading"] == {"format": "last_line", "value": str(number), "step": "last"}
    assert str(number) in second["messages"][0]["content"], "later turns are asked with the real replies"
    (sessions,) = of_kind(records, "sessions")
    assert {one["name"]: one["state"] for one in sessions["sessions"]} == {
        "add": "asked", "check": "not asked", "repeat": "asked",
    }  # fmt: skip
    (unasked,) = next(one["replies"] for one in sessions["sessions"] if one["name"] == "check")
    assert unasked["error"] == "its condition did not hold"
    verdict = records[-1]
    assert verdict["verdict"] == "correct"
    assert verdict["why"] == "`total == a + 1 and answered(again) and again == total` is true."


def test_a_wrong_reply_takes_another_path(play: Play) -> None:
    records = play("choice", adds(by=2000))
    states = {one["name"]: one["state"] for one in of_kind(records, "sessions")[0]["sessions"]}
    assert states == {"add": "asked", "check": "asked", "repeat": "asked"}
    assert records[-1]["verdict"] == "wrong" and records[-1]["why"].endswith("is false.")
    sure = next(record for record in of_kind(records, "turn") if record["name"] == "sure")
    assert sure["reading"]["value"] is None, "a number is no label"


def test_a_reply_that_cannot_be_read_is_named(play: Play) -> None:
    records = play("choice", loop.says("I will not say."))
    (turn,) = of_kind(records, "turn")
    assert turn["reading"]["value"] is None
    assert records[-1]["verdict"] == "unparsed" and records[-1]["why"] == "The reply `total` could not be read."


@pytest.mark.parametrize(
    ("answer", "requests", "word"),
    [
        (loop.fails(400, f"bad request with {KEY}"), 1, "bad request with ***"),
        (loop.fails(500, "broken"), 3, "broken"),
        (loop.sends(b"<html>no API</html>", "text/html"), 3, "server"),
    ],
)
def test_an_endpoint_that_fails_is_reported_without_the_key(
    play: Play, answer: loop.Answer, requests: int, word: str
) -> None:
    seen: list[loop.Asked] = []

    async def counted(asked: loop.Asked, request: web.Request) -> web.StreamResponse:
        seen.append(asked)
        return await answer(asked, request)

    records = play("choice", counted)
    assert len(seen) == requests and {asked.headers["Authorization"] for asked in seen} == {f"Bearer {KEY}"}
    assert records[-1]["kind"] == "failed" and word in records[-1]["message"]
    assert word in of_kind(records, "turn")[0]["error"] and KEY not in json.dumps(records)


def test_another_role_needs_a_model_or_is_left_out(play: Play) -> None:
    (failed,) = play("judged", loop.says("YES"))
    assert failed["kind"] == "failed" and "`--role judge=MODEL`" in failed["message"]
    records = play("judged", loop.says("Good day"), {"judge": "says:YES"})
    assert [record["role"] for record in of_kind(records, "turn")] == ["subject", "judge"]
    assert records[-1]["verdict"] == "correct"
    records = play("judged", loop.says("Good day"), {"judge": "none"})
    weigh = next(one for one in of_kind(records, "sessions")[0]["sessions"] if one["name"] == "weigh")
    assert weigh["state"] == "not asked" and "no model has the role" in weigh["replies"][0]["error"]
    assert records[-1]["verdict"] == "wrong"


def test_a_page_that_goes_stops_the_requests(running: Running, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    received, ended = threading.Event(), threading.Event()

    async def slow(asked: loop.Asked, request: web.Request) -> web.StreamResponse:
        received.set()
        return await loop.says("5", delay=0.5)(asked, request)

    def close(self: CodeEvaluator) -> None:
        closed(self)
        ended.set()

    closed = CodeEvaluator.close
    monkeypatch.setattr(CodeEvaluator, "close", close)  # the last thing that a conversation does
    with loop.serve(slow) as server:
        with running.played_by(Players.of("m", ModelOptions(base_url=server.url), {}, {})):
            instance = next(one for one in running.look(folder / "choice.yaml", count=1) if one["kind"] == "instance")
            connection = http.client.HTTPConnection("127.0.0.1", running.studio.port, timeout=60)
            headers = {"Host": running.own, "Origin": f"http://{running.own}", "Content-Type": "application/json"}
            body = json.dumps({"conversation": instance["conversation"]})
            connection.request("POST", f"{running.base}play", body, headers)
            assert b'"asking"' in connection.getresponse().readline()
            assert received.wait(30), "the first turn is not asked"
            connection.close()
            assert ended.wait(30), "the conversation goes on"
        assert len(server.asked) == 1, "the second turn is not asked"


def test_only_conversations_that_were_shown_can_be_played(running: Running) -> None:
    assert running.wait_for(lambda event: event["event"] == "list")["player"] == "says:5"
    assert running.post("play", {"conversation": "x"})[0] == 404
    with running.played_by(None):
        assert running.post("play", {"conversation": "x"}) == (409, "the studio was started without --model\n")
        assert running.post("play", {"conversation": 1})[0] == 400
        assert running.post("play", {"conversation": "x"}, Origin="http://evil.example")[0] == 403
        assert running.ask("play?conversation=x")[0] == 405
        assert running.wait_for(lambda event: event["event"] == "list")["player"] is None


def test_a_bug_ends_the_conversation_with_its_message(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(self: SessionRunner) -> None:
        raise ValueError("no such turn")

    monkeypatch.setattr(SessionRunner, "run", broken)
    (record,) = play("choice", adds())
    assert record == {"kind": "failed", "message": "A bug in dia: ValueError('no such turn')."}


@pytest.mark.parametrize("model", ["oracle", "guess", "abstain"])
def test_baselines_cannot_play(model: str) -> None:
    with pytest.raises(DiaError, match="replies from stored answers"):
        Players.of(model, ModelOptions(), {}, {})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--base-url", "http://127.0.0.1:1/v1"], "`--base-url` needs `--model`"),
        (["--role", "judge=says:A"], "`--role` needs `--model`"),
        (["--temperature", "0"], "`--temperature` needs `--model`"),
        (["--max-tokens", "9"], "`--max-tokens` needs `--model`"),
        (
            ["--model", "m", "--base-url", "http://127.0.0.1:1/v1", "--temperature", "0,1"],
            "asks one model, at one temperature",
        ),
        (["--model", "m", "--base-url", "http://u:p@127.0.0.1:1/v1"], "contains more than a host and a path"),
        (["--model", "nothing"], "unknown model"),
    ],
)
def test_wrong_options_are_reported_before_the_studio_starts(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert dia(["studio", str(folder), *arguments]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.tools
def test_the_page_shows_the_path_the_replies_and_the_verdict(
    folder: Path, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    browser: Browser = installed_browser(tmp_path_factory)
    folder = Path(shutil.copytree(folder, tmp_path / "mine"))
    steps = """
    await page.waitForSelector('.play button');
    tell('button', await page.locator('.play button').textContent());
    await page.locator('.play button').click();
    await page.waitForFunction(() => document.querySelector('.play [role=status]').textContent.startsWith('Played'));
    tell('status', await page.locator('.play [role=status]').textContent());
    tell('graph', await page.locator('.play svg').getAttribute('aria-label'));
    tell('taken', await page.locator('.play svg .arrow.taken').count());
    tell('said', await page.$$eval('.play .said pre', (all) => all.map((one) => one.textContent)));
    tell('read', await page.$$eval('.play .said p', (all) => all.map((one) => one.textContent)));
    tell('verdict', await page.locator('.play .verdict').textContent());
    tell('bold', await page.locator('.play b').count());
    tell('axe', await axe());
    tell('page', await page.content());
    const fs = (await import('fs')).default;
    fs.writeFileSync(PATH, TEXT);
    await page.waitForFunction(() => document.querySelector('.play').textContent.includes('earlier version'));
    tell('kept', await page.locator('.play .said').count());
    """.replace("PATH", json.dumps((folder / "choice.yaml").as_posix())).replace(
        "TEXT", json.dumps(CHOICE.replace("What is {{ a }}", "What is {{ a }} really"))
    )
    with loop.serve(adds()) as server:
        running = Running(folder, players=Players.of("m", ModelOptions(base_url=server.url), {}, {}))
        try:
            place = f"{running.studio.address}#file={(folder / 'choice.yaml').as_posix()}&count=1"
            results = browser(place, steps)
        finally:
            running.end()
    assert results["troubles"] == [] and serious(results["axe"]) == []
    assert results["button"] == "Play this conversation with m"
    assert results["status"] == "Played: correct. Path: add asked, check not asked, repeat asked."
    assert "add: asked, check: not asked, repeat: asked" in results["graph"]
    assert results["taken"] == 3, "repeat reads total, and the grading reads total and again"
    assert len(results["said"]) == 2 and results["said"][0].startswith("<b>So</b> ***\n") and results["bold"] == 0
    assert all(words.startswith("Read as last_line, by the chain’s step “last”: ") for words in results["read"])
    assert results["verdict"] == "✓ correct" and results["kept"] == 2
    assert KEY not in results["page"] and server.url not in results["page"]
