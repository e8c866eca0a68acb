"""Models behind a loopback server, asked directly and through the real litellm."""

from __future__ import annotations

import errno
import json
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from email.utils import format_datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from dia_runtime.respondents import rate_limit as pacing
from dia_runtime.respondents.budget import Budget
from dia_runtime.respondents.chat import Settings
from dia_runtime.respondents.registry import ModelOptions
from dia_runtime.running import jobs, scheduler
from dia_runtime.running.run import RespondentSummary, RunOptions, RunSummary, run
from dia_runtime.store.store import read_store
from helpers import loopback as loop
from helpers.failures import refusal

Make = Callable[..., Path]
KEY = "sk-planted-0123456789abcdef"
WITH_LITELLM = pytest.param(
    "litellm",
    marks=[pytest.mark.skipif(find_spec("litellm") is None, reason="litellm is not installed")],
)


@pytest.fixture(params=["auto", WITH_LITELLM])
def through(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(autouse=True)
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of its own, a key, and short waits."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setattr(pacing, "FIRST_WAIT", 0.002)
    monkeypatch.setattr(pacing, "LONGEST_WAIT", 0.02)
    monkeypatch.setattr(pacing, "CHECK_SECONDS", 0.05)
    monkeypatch.setattr(pacing, "FIRST_RATE", 200.0)
    for module in (jobs, scheduler):
        monkeypatch.setattr(module, "POLL_SECONDS", 0.02)


def terms(server: loop.Server, through: str = "auto", **given: Any) -> RunOptions:
    settings = {name: given.pop(name) for name in list(given) if name in Settings.__dataclass_fields__}
    model_options = {name: given.pop(name) for name in list(given) if name in ModelOptions.__dataclass_fields__}
    made = ModelOptions(Settings(**settings), base_url=server.url, through=through, **model_options)
    return RunOptions(**{"model_options": made, "retries": 3, "concurrency": 4, **given})


def asked(
    bundle: Path, held: RunOptions, models: str | list[str] = "openai/m", path: str = "a.run", **more: Any
) -> RunSummary:
    return run(bundle, models, path, terms=held, **more)


def rows(path: str = "a.run", columns: str = "text, error, finish_reason") -> list[tuple[Any, ...]]:
    with sqlite3.connect(path) as connection:
        found = connection.execute(f"SELECT {columns} FROM reply ORDER BY respondent, question, attempt").fetchall()
    connection.close()
    return found


def test_every_question_is_asked_once_and_every_fact_is_kept(tiny: Make, through: str) -> None:
    bundle = tiny()
    with loop.serve(loop.says("<xml>8</xml>")) as server:
        (entry,) = asked(bundle, terms(server, through)).respondents
        (again,) = asked(bundle, terms(server, through)).respondents
    assert (entry.asked, entry.kept, entry.errors, entry.requests) == (6, 0, 0, 6)
    assert (entry.prompt_tokens, entry.completion_tokens) == (60, 30)
    assert (again.asked, again.kept, again.requests, again.cost) == (0, 6, 0, None)
    prompts = [request.text for request in server.asked]
    assert sorted(prompts) == sorted(f"What is {10 * t + 7} + {i + 1}? Ω" for t in range(2) for i in range(3))
    columns = "text, error, finish_reason, prompt_tokens, completion_tokens, model_version, tries"
    assert set(rows("a.run", columns)) == {("<xml>8</xml>", None, "stop", 10, 5, "loop-2026", 1)}
    for seconds, asked_at in rows("a.run", "seconds, asked_at"):
        assert 0 <= Decimal(seconds) < 30
        assert abs(datetime.fromisoformat(asked_at) - datetime.now(UTC)) < timedelta(minutes=2)
    assert not Path("a.run-wal").exists()


def test_settings_reach_the_endpoint_and_the_run(tiny: Make, through: str) -> None:
    given = {"max_tokens": 77, "system": "Be brief.", "reasoning_effort": "low", "seed": 5}
    with loop.serve(loop.says()) as server:
        # litellm knows which of OpenAI's models take which parameters: an unknown name takes them all but for one.
        wanted = {**given, "extra": {"top_p": Decimal("0.25"), "stop": ["END"]}}
        if through == "litellm":
            del wanted["reasoning_effort"]
        asked(tiny(templates=1, k=1), terms(server, through, **wanted, temperatures=("0.7",)))
    (request,) = server.asked
    body = request.body
    assert body["messages"][0] == {"role": "system", "content": "Be brief."} and len(body["messages"]) == 2
    assert (body["temperature"], body["max_tokens"], body["seed"], body["top_p"], body["stop"]) == (
        0.7,
        77,
        5,
        0.25,
        ["END"],
    )
    assert through == "litellm" or body["reasoning_effort"] == "low"
    assert body["model"] == "m" and request.path == "/v1/chat/completions"
    assert request.headers["Authorization"] == f"Bearer {KEY}"
    with read_store("a.run") as store:
        (respondent,) = store.respondents()
    settings = json.loads(respondent.settings)
    assert (settings["temperature"], settings["top_p"], settings["max_tokens"]) == ("0.7", "0.25", 77)
    assert settings["endpoint"].startswith(server.url) and respondent.name == "openai/m"


def test_several_temperatures_make_a_respondent_each(tiny: Make, through: str) -> None:
    with loop.serve(loop.says()) as server:
        summary = asked(tiny(templates=1, k=2), terms(server, through, temperatures=("0", "0.7", "1")))
    assert [entry.respondent for entry in summary.respondents] == ["openai/m@0", "openai/m@0.7", "openai/m@1"]
    assert sorted(request.body["temperature"] for request in server.asked) == [0, 0, 0.7, 0.7, 1, 1]


def test_attempts_are_asked_and_kept_apart(tiny: Make, through: str) -> None:
    with loop.serve(loop.says()) as server:
        asked(tiny(templates=1, k=2), terms(server, through), attempts=3)
        asked(tiny("again", templates=1, k=2), terms(server, through), attempts=4)
    assert len(server.asked) == 8
    assert rows("a.run", "question, attempt") == [(q, a) for q in range(2) for a in range(1, 5)]


TROUBLES: dict[str, loop.Answer] = {
    "429": loop.fails(429, "slow down"),
    "500": loop.fails(500),
    "502": loop.fails(502),
    "503": loop.fails(503),
    "broken JSON": loop.sends(b'{"choices": [{"mess'),
    "no JSON": loop.sends(b"<html>Bad gateway</html>", "text/html"),
    "connection cut": loop.cut(),
    "cut in the middle": loop.cut(after=100),
    "no choices": loop.sends(b'{"choices": []}'),
    "a list": loop.sends(b"[1, 2]"),
}


@pytest.mark.parametrize("name", TROUBLES)
def test_what_another_try_may_mend_is_tried_again(tiny: Make, name: str, through: str) -> None:
    bundle = tiny(templates=1, k=1)
    with loop.serve(loop.first(2, TROUBLES[name], loop.says("fine"))) as server:
        (entry,) = asked(bundle, terms(server, through)).respondents
    assert rows("a.run", "text, error, tries") == [("fine", None, 3)] and len(server.asked) == 3
    assert (entry.requests, entry.errors) == (3, 0)


@pytest.mark.parametrize("name", [name for name in TROUBLES if name not in ("429", "503")])
def test_an_error_that_stays_is_left_and_asked_again_by_the_next_call(tiny: Make, name: str, through: str) -> None:
    bundle = tiny(templates=1, k=2)
    with loop.serve(loop.first(8, TROUBLES[name], loop.says("fine"))) as server:
        (entry,) = asked(bundle, terms(server, through)).respondents
        assert (entry.asked, entry.errors, entry.ended, len(server.asked)) == (2, 2, None, 8)
        for text, error, tries in rows("a.run", "text, error, tries"):
            assert text is None and error and tries == 4
        (entry,) = asked(bundle, terms(server, through)).respondents
    assert (entry.asked, entry.errors) == (2, 0)
    assert [row[0] for row in rows()] == ["fine", "fine"]


OPENAI_OVER_CONTEXT = (
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens."
)
FOR_GOOD: dict[str, tuple[loop.Answer, str | None, str]] = {
    "over context": (loop.fails(400, OPENAI_OVER_CONTEXT, "context_length_exceeded"), None, "over_context"),
    "content filter": (
        loop.fails(
            400,
            "The response was filtered due to the prompt triggering our content management policy.",
            "content_filter",
        ),
        None,
        "content_filter",
    ),
    "refusal": (
        loop.sends(json.dumps(loop.completion(None, message={"refusal": "I will not."})).encode()),
        "I will not.",
        "refusal",
    ),
    "filtered reply": (
        loop.sends(json.dumps(loop.completion(None, "content_filter")).encode()),
        None,
        "content_filter",
    ),
    "cut at the bound": (loop.sends(json.dumps(loop.completion("<xml>", "length")).encode()), "<xml>", "length"),
    "nothing": (loop.sends(json.dumps(loop.completion("")).encode()), "", "stop"),
}


@pytest.mark.parametrize("name", FOR_GOOD)
def test_an_answer_for_good_is_asked_once(tiny: Make, name: str, through: str) -> None:
    answer, text, ending = FOR_GOOD[name]
    if through == "litellm" and name == "refusal":
        pytest.skip("litellm leaves the text of a refusal out in some versions")
    bundle = tiny(templates=1, k=1)
    with loop.serve(answer) as server:
        summary = asked(bundle, terms(server, through))
        assert not summary.has_errors and rows() == [(text, None, ending)]
        assert not asked(bundle, terms(server, through)).has_errors
    assert len(server.asked) == 1


def test_a_bad_request_is_an_error_of_its_question_and_not_tried_again(tiny: Make, through: str) -> None:
    refused, answered = loop.fails(400, "this question is too odd"), loop.says()

    async def script(request: loop.Asked, raw: Any) -> Any:
        return await (refused if "What is" in request.text else answered)(request, raw)

    with loop.serve(script) as server:
        (entry,) = asked(tiny(templates=1, k=3), terms(server, through)).respondents
    # One request more than questions finds out that the model itself works.
    assert (entry.errors, entry.ended, len(server.asked)) == (3, None, 4)
    assert all("this question is too odd" in error and error.startswith("request: ") for _, error, _ in rows())


@pytest.mark.parametrize(
    ("status", "code"), [(401, "invalid_api_key"), (403, ""), (404, "model_not_found"), (429, "insufficient_quota")]
)
def test_a_refusal_for_good_ends_that_respondent_alone(tiny: Make, status: int, code: str, through: str) -> None:
    scripts = {"bad": loop.fails(status, f"no use: {code}", code), "good": loop.says(delay=0.01)}
    with loop.serve(loop.for_model(scripts)) as server:
        summary = asked(tiny(k=20), terms(server, through), ["openai/bad", "openai/good"])
    bad, good = summary.respondents
    assert bad.is_refused and bad.ended is not None and "no use" in bad.ended and summary.is_refused
    assert (good.asked, good.errors, good.ended, good.is_refused) == (40, 0, None, False)
    assert sum(request.body["model"] == "bad" for request in server.asked) <= 4  # those under way together


@pytest.mark.parametrize(("status", "kind"), [(429, "seconds"), pytest.param(503, "date", marks=pytest.mark.long)])
def test_retry_after_is_honoured(tiny: Make, status: int, kind: str, through: str) -> None:
    now, began = datetime.now(UTC), time.monotonic()
    until = (now + timedelta(seconds=1.4)).replace(microsecond=0)  # a date has whole seconds
    header = "0.5" if kind == "seconds" else format_datetime(until, usegmt=True)
    with loop.serve(loop.first(1, loop.fails(status, headers={"Retry-After": header}), loop.says())) as server:
        asked(tiny(templates=1, k=1), terms(server, through))
        first, second = server.asked
    wanted = first.at + 0.5 if kind == "seconds" else began + (until - now).total_seconds()
    assert wanted - 0.05 <= second.at < wanted + 10


def test_a_wait_of_hours_ends_the_respondent(tiny: Make, through: str) -> None:
    with loop.serve(loop.fails(429, "tomorrow", headers={"Retry-After": "86400"})) as server:
        (entry,) = asked(tiny(), terms(server, through, concurrency=1)).respondents
    assert entry.is_refused and "86400 s" in str(entry.ended) and len(server.asked) == 1


def test_a_lost_network_ends_the_asking_and_the_next_call_goes_on(tiny: Make, through: str) -> None:
    bundle = tiny(k=30)
    with loop.serve(loop.says()) as server:
        held = terms(server, through, retries=0)
        asked(bundle, held, limit=10)
    (entry,) = asked(bundle, held).respondents  # nobody listens there any more
    assert entry.is_refused and "in a row" in str(entry.ended) and entry.kept == 10 and 20 <= entry.errors < 30
    with loop.serve(loop.says(), server.port):
        (again,) = asked(bundle, held).respondents
    assert (again.asked, again.kept, again.errors) == (50, 10, 0) and len(rows()) == 60


def test_an_address_where_nothing_listens_ends_with_the_first_question(tiny: Make) -> None:
    """A wrong address is reported at the first retry, and does not cost the retries of every question."""
    with loop.serve(loop.says()) as server:
        pass
    notes: list[tuple[str, str]] = []
    options = terms(server, retries=2, on_retry=lambda name, why: notes.append((name, why)))
    (entry,) = asked(tiny(k=30), options).respondents
    why = f"cannot connect to 127.0.0.1:{server.port}: {os.strerror(errno.ECONNREFUSED)}"
    assert notes == [("openai/m", why)]
    assert entry.ended == why and entry.is_refused and (entry.errors, entry.requests) == (1, 3)
    assert rows("a.run", "text, error, tries") == [(None, f"network: {why}", 3)]


def test_an_error_404_names_the_address_that_was_asked(tiny: Make) -> None:
    with loop.serve(loop.fails(404, "page not found")) as server:
        (entry,) = asked(tiny(), terms(server)).respondents
    assert entry.ended == f"404 page not found (POST {server.url}/chat/completions)"


def test_events_are_joined_and_a_cut_stream_is_asked_again(tiny: Make) -> None:
    cut, whole = loop.streams("<xml>", "4", is_cut=True), loop.streams("<xml>", "4", "</xml>")
    with loop.serve(loop.first(1, cut, whole)) as server:
        asked(tiny(templates=1, k=1), terms(server))
    assert rows("a.run", "text, finish_reason, prompt_tokens, tries") == [("<xml>4</xml>", "stop", 10, 2)]


def test_an_error_inside_a_good_answer_is_one(tiny: Make) -> None:
    inside = loop.sends(b'{"error": {"code": 502, "message": "upstream broke"}}')
    within = loop.sends(
        b'data: {"choices": [{"delta": {"content": "a"}}]}\n\ndata: {"error": {"code": 429, "message": "x"}}\n\n',
        "text/event-stream",
    )
    broken = loop.sends(json.dumps(loop.completion("par", "error")).encode())
    for number, script in enumerate((inside, within, broken)):
        with loop.serve(loop.first(1, script, loop.says("fine"))) as server:
            asked(tiny(f"b{number}", templates=1, k=1), terms(server), path=f"{number}.run")
        assert rows(f"{number}.run", "text, tries") == [("fine", 2)]


SHAPES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "no usage": (loop.completion("a", usage=None), ("a", "stop", None, None, None)),
    "parts": (
        loop.completion([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]),
        ("ab", "stop", 10, 5, None),
    ),
    "odd usage": (
        loop.completion("a", usage={"prompt_tokens": "many", "completion_tokens": -1, "cost": True}),
        ("a", "stop", None, None, None),
    ),
    "a cost": (loop.completion("a", usage={**loop.USAGE, "cost": 0.00000125}), ("a", "stop", 10, 5, "0.00000125")),
    "no ending": (loop.completion("a", ending=None), ("a", None, 10, 5, None)),  # type: ignore[arg-type]
    "huge count": (loop.completion("a", usage={"prompt_tokens": 2**60}), ("a", "stop", None, None, None)),
    "half a character": (loop.completion("\ud800"), ("\ufffd", "stop", 10, 5, None)),
    "control characters": (loop.completion("\x00\x1b[2J"), ("\x00\x1b[2J", "stop", 10, 5, None)),
}


@pytest.mark.parametrize("name", SHAPES)
def test_odd_shapes_are_taken_as_far_as_they_go(tiny: Make, name: str) -> None:
    body, expected = SHAPES[name]
    with loop.serve(loop.sends(json.dumps(body).encode())) as server:
        asked(tiny(templates=1, k=1), terms(server))
    assert rows("a.run", "text, finish_reason, prompt_tokens, completion_tokens, cost") == [expected]


WRONG: dict[str, Callable[[], bytes]] = {
    "content is a number": lambda: json.dumps(loop.completion(5)).encode(),
    "a huge answer": lambda: b'{"choices": [{"message": {"content": "' + b"x" * (17 << 20),
    "a huge text": lambda: json.dumps(loop.completion("x" * (5 << 20))).encode(),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_reply_is_an_error_that_is_not_tried_again(tiny: Make, name: str) -> None:
    with loop.serve(loop.sends(WRONG[name]())) as server:
        (entry,) = asked(tiny(templates=1, k=1), terms(server)).respondents
    assert entry.errors == 1 and len(server.asked) == 1
    ((_, error, _),) = rows()
    assert len(error) < 1_000


@pytest.mark.parametrize("body", [b"[" * 200_000, b'"text"', b"5", b"null", b"", b"\xff\xfe\x00"])
def test_hostile_bytes_are_an_error(tiny: Make, body: bytes) -> None:
    with loop.serve(loop.sends(body)) as server:
        (entry,) = asked(tiny(templates=1, k=1), terms(server, retries=1)).respondents
    assert (entry.errors, len(server.asked)) == (1, 2)


def test_a_time_out_is_tried_again(tiny: Make, through: str) -> None:
    with loop.serve(loop.first(1, loop.says(delay=5), loop.says("fine"))) as server:
        asked(tiny(templates=1, k=1), terms(server, through, timeout=0.3))
    assert rows("a.run", "text, tries") == [("fine", 2)]


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_no_key_follows_where_an_endpoint_points(tiny: Make, status: int, through: str) -> None:
    with (
        loop.serve(loop.says()) as other,
        loop.serve(loop.points_to(f"{other.url}/chat/completions", status)) as server,
    ):
        (entry,) = asked(tiny(templates=1, k=1), terms(server, through)).respondents
    assert not any(KEY in str(request.headers) for request in other.asked)
    assert through == "litellm" or (entry.is_refused and other.asked == [])


def test_as_many_at_once_as_allowed(tiny: Make, through: str) -> None:
    with loop.serve(loop.says(delay=0.05)) as server:
        asked(tiny(k=10), terms(server, through, concurrency=10))
    assert server.most == 10


BUDGETS: dict[str, tuple[Budget, int]] = {
    "requests": (Budget(requests=5), 5),
    "tokens": (Budget(tokens=60), 4),
    "money": (Budget(usd=Decimal("0.004")), 4),
}


@pytest.mark.parametrize("name", BUDGETS)
def test_a_budget_stops_cleanly_and_the_next_call_goes_on(tiny: Make, name: str) -> None:
    budget, expected = BUDGETS[name]
    answer = loop.says(usage={**loop.USAGE, "cost": 0.001})
    bundle = tiny()
    with loop.serve(answer) as server:
        summary = asked(bundle, terms(server, concurrency=1, budget=replace(budget)))
        (entry,) = summary.respondents
        assert (entry.asked, entry.errors, entry.ended) == (expected, 0, "the budget is spent")
        assert summary.has_errors and not summary.is_refused and len(server.asked) == expected
        (entry,) = asked(bundle, terms(server)).respondents
    assert (entry.asked, entry.kept, len(server.asked)) == (6 - expected, expected, 6)


def test_what_is_under_way_when_the_budget_ends_is_kept(tiny: Make, through: str) -> None:
    with loop.serve(loop.says(delay=0.05)) as server:
        (entry,) = asked(tiny(k=10), terms(server, through, concurrency=8, budget=Budget(tokens=15))).respondents
    assert 1 <= entry.asked == len(server.asked) <= 8 and entry.ended is not None and len(rows()) == entry.asked


def test_a_budget_that_is_just_enough_is_no_failure(tiny: Make) -> None:
    with loop.serve(loop.says()) as server:
        summary = asked(tiny(), terms(server, budget=Budget(requests=6)))
    assert not summary.has_errors


def test_a_budget_in_money_ends_where_the_cost_is_not_known(tiny: Make) -> None:
    with loop.serve(loop.says()) as server:
        (entry,) = asked(tiny(), terms(server, concurrency=1, budget=Budget(usd=Decimal(1)))).respondents
    assert entry.asked == 1 and "cost is unknown" in str(entry.ended)


def test_tries_count_for_the_budget(tiny: Make) -> None:
    with loop.serve(loop.fails(500)) as server:
        (entry,) = asked(tiny(templates=1, k=1), terms(server, budget=Budget(requests=2))).respondents
    assert (entry.requests, entry.errors, len(server.asked)) == (2, 1, 2)


def test_baselines_stand_beside_models_and_cost_no_budget(tiny: Make) -> None:
    with loop.serve(loop.says()) as server:
        summary = asked(tiny(), terms(server, budget=Budget(requests=6)), ["openai/m", "oracle", "guess"])
    assert [entry.respondent for entry in summary.respondents] == ["openai/m", "oracle", "guess"]
    assert not summary.has_errors and [entry.asked for entry in summary.respondents] == [6, 6, 6]


def test_parts_share_the_questions(tiny: Make) -> None:
    bundle = tiny(templates=1, k=7)
    with loop.serve(loop.says()) as server:
        summaries = [asked(bundle, terms(server, part=(number, 3))) for number in (1, 2, 3)]
    assert [summary.questions for summary in summaries] == [3, 2, 2]
    assert [summary.respondents[0].asked for summary in summaries] == [3, 2, 2] and len(rows()) == 7


def test_a_cache_is_used_where_wanted_and_keeps_attempts_apart(tiny: Make, tmp_path: Path, through: str) -> None:
    bundle, cache = tiny(templates=1, k=2), tmp_path / "deep" / "replies.sqlite"
    with loop.serve(loop.says("<xml>4</xml>")) as server:
        asked(bundle, terms(server, through, cache=cache), attempts=2)
        assert len(server.asked) == 4
        (entry,) = asked(bundle, terms(server, through, cache=cache), path="b.run", attempts=2).respondents
        assert len(server.asked) == 4 and (entry.asked, entry.requests, entry.cost) == (4, 0, "0")
        for given in ({"max_tokens": 9}, {"system": "x"}, {"seed": 1}, {"temperatures": ("0.5",)}):
            before = len(server.asked)
            asked(bundle, terms(server, through, cache=cache, **given), path=f"{before}.run", attempts=1)
            assert len(server.asked) == before + 2, given
        asked(bundle, terms(server, through, cache=cache), models="openai/other", path="o.run")
        asked(bundle, terms(server, through), path="n.run")
    assert len(server.asked) == 16
    assert set(rows("b.run", "text, tries, cost, prompt_tokens")) == {("<xml>4</xml>", 0, "0", 10)}


def test_errors_are_not_cached_and_a_broken_cache_is_an_empty_one(tiny: Make, tmp_path: Path) -> None:
    bundle, cache = tiny(templates=1, k=1), tmp_path / "replies.sqlite"
    with loop.serve(loop.first(1, loop.fails(400), loop.says("fine"))) as server:
        asked(bundle, terms(server, cache=cache))
        asked(bundle, terms(server, cache=cache))
        assert rows("a.run", "text, tries") == [("fine", 1)]
        for planted in ('{"text": 5}', "[]", "{", '{"text": "a", "cost": "free"}'):
            with sqlite3.connect(cache) as connection:
                connection.execute("UPDATE reply SET reply = ?", (planted,))
            connection.close()
            before = len(server.asked)
            asked(bundle, terms(server, cache=cache), path=f"{before}.run")
            assert rows(f"{before}.run", "text, tries") == [("fine", 1)] and len(server.asked) == before + 1
        for name in cache.parent.glob("replies.sqlite*"):
            name.write_bytes(b"no database" * 1000)
        asked(bundle, terms(server, cache=cache), path="b.run")
    assert rows("b.run", "text, tries") == [("fine", 1)]


def with_assets(tiny: Make, bundle_writer: Make, tmp_path: Path) -> Path:
    import hashlib

    from dia_runtime.bundle.open import open_bundle

    opened = open_bundle(tiny("plain", templates=1, k=1))
    (question,), answers = list(opened.questions()), list(opened.answers())
    files = {"p.png": b"\x89PNG", "t.txt": "Größe".encode(), "s.wav": b"RIFF", "d.pdf": b"%PDF"}
    kinds = {
        "p.png": "image/png",
        "t.txt": "text/plain; charset=utf-8",
        "s.wav": "audio/wav",
        "d.pdf": "application/pdf",
    }
    folder = tmp_path / "assets-bundle"
    (folder / "assets").mkdir(parents=True)
    assets = []
    for name, content in files.items():
        digest = hashlib.sha256(content).hexdigest()
        path = f"assets/{digest}.{name[-3:]}"
        (folder / path).write_bytes(content)
        entry = {"name": name, "path": path, "sha256": digest, "size": len(content)}
        assets.append({**entry, "media_type": kinds[name], "deliver": "attach"})
    question["assets"] = assets
    # The writer makes the folder of specs itself, beside the assets.
    return bundle_writer(folder, [question], answers, 1)


def test_files_are_parts_of_the_message(tiny: Make, bundle_writer: Make, tmp_path: Path) -> None:
    bundle = with_assets(tiny, bundle_writer, tmp_path)
    with loop.serve(loop.says()) as server:
        asked(bundle, terms(server))
    text, picture, written, sound, document = server.asked[0].body["messages"][0]["content"]
    assert text == {"type": "text", "text": "What is 7 + 1? Ω"}
    assert picture == {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw=="}}
    assert written == {"type": "text", "text": "t.txt:\nGröße"}
    assert sound == {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}}
    assert document == {
        "type": "file",
        "file": {"filename": "d.pdf", "file_data": "data:application/pdf;base64,JVBERg=="},
    }


def test_prices_come_from_a_table_where_the_provider_does_not_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    from dia_runtime.respondents import prices

    table = {
        "gpt-x": {"input_cost_per_token": Decimal("2e-6"), "output_cost_per_token": Decimal("8e-6")},
        "groq/l": {
            "input_cost_per_token": Decimal("1e-6"),
            "output_cost_per_token": 0,
            "cache_read_input_token_cost": Decimal("1e-7"),
        },
    }
    monkeypatch.setattr(prices, "price_table", lambda: table)
    usage = {"prompt_tokens": 1000, "completion_tokens": 10, "prompt_tokens_details": {"cached_tokens": 900}}
    gpt = prices.price_of("openai", "gpt-x")
    assert Decimal(str(prices.cost_of(gpt, usage))) == Decimal("0.00208")
    assert Decimal(str(prices.cost_of(prices.price_of("groq", "l"), usage))) == Decimal("0.00019")
    assert prices.price_of("groq", "gpt-x") is None and prices.cost_of(gpt, None) is None
    assert prices.cost_of(gpt, {"prompt_tokens": 5}) is None


@pytest.mark.parametrize(
    ("text", "name", "cost"),
    [
        ("2,8", "anything", "0.00208"),
        ("openai/*=2,8", "openai/m", "0.00208"),
        ("openai/*=2,8", "groq/m", None),
        ("a=b=2,8,0.2", "a=b", "0.00046"),
        ("m=0,0", "m", "0"),
    ],
)
def test_prices_of_the_user(text: str, name: str, cost: str | None) -> None:
    from dia_runtime.respondents.prices import OwnPrices, cost_of

    usage = {"prompt_tokens": 1000, "completion_tokens": 10, "prompt_tokens_details": {"cached_tokens": 900}}
    known = cost_of(OwnPrices(["other=1,1", text]).of(name), usage)
    assert (known if known is None else Decimal(known)) == (cost if cost is None else Decimal(cost))


@pytest.mark.parametrize("text", ["", "m=", "1", "1,2,3,4", "m=-1,2", "m=a,b", "m=NaN,1", "m=1e9,1", "m=inf,1"])
def test_a_price_that_is_none_is_refused(text: str) -> None:
    from dia_runtime.respondents.prices import OwnPrices

    refusal("E855", f"`--price {text}` is not a price\n  help: write `--price 0.15,0.6` or", lambda: OwnPrices([text]))


@pytest.mark.skipif(find_spec("litellm") is None, reason="litellm is not installed")
def test_the_table_of_litellm_is_read_without_importing_it() -> None:
    program = (
        "import sys; from dia_runtime.respondents.prices import price_of;"
        "print(price_of('openai', 'gpt-4o-mini').cost(1_000_000, 1_000_000),"
        " 'litellm' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    cost, is_imported = done.stdout.split()
    assert Decimal(cost) == Decimal("0.75") and is_imported == "False"


def test_progress_tells_what_is_on_the_disk_and_what_it_cost(tiny: Make) -> None:
    seen: list[Any] = []
    with loop.serve(loop.says(usage={**loop.USAGE, "cost": 0.25})) as server:
        summary = run(tiny(), "openai/m", "a.run", terms=terms(server), on_progress=seen.append)
    assert (seen[-1].done, seen[-1].total, seen[-1].errors, seen[-1].cost) == (6, 6, 0, "1.5")
    entry: RespondentSummary = summary.respondents[0]
    assert entry.cost == "1.5"


def test_nothing_heavy_is_imported_before_it_is_needed(tiny: Make) -> None:
    program = (
        "import sys; from dia_compiler.commands.cli import run;"
        f"code = run(['run', {str(tiny())!r}, '--model', 'oracle', '-q', '-o', 'a.run']);"
        "print(code, sorted({'aiohttp', 'litellm', 'rich', 'sympy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "0 []"


def test_a_bar_tells_rate_errors_cost_and_who_else_asks() -> None:
    from dia_runtime.commands.progress_bars import Rate
    from rich.progress import Progress

    drawn = Progress(Rate(), disable=True)
    task = drawn.add_task("m", total=9, errors=2, cost="1.23456", elsewhere=3, pause=0.0)
    shown = Rate().render(drawn.tasks[task]).plain
    assert shown == "0/s, 2 errors, $1.2346, 3 asked by another process"
    drawn.update(task, cost=None, elsewhere=0, pause=29.6)
    assert Rate().render(drawn.tasks[task]).plain == "0/s, 2 errors, rate limit: 30 s"
    drawn.update(task, pause=0.4, is_limited=True)
    assert Rate().render(drawn.tasks[task]).plain == "0/s, 2 errors, waiting for the rate limit"


def test_a_model_that_is_named_twice_is_asked_once(tiny: Make) -> None:
    with loop.serve(loop.says()) as server:
        summary = asked(tiny(), terms(server), ["openai/m", "oracle", "openai/m", "oracle"])
        assert [entry.respondent for entry in summary.respondents] == ["openai/m", "oracle"] and len(server.asked) == 6


def test_two_askers_of_one_name_share_the_questions(tiny: Make) -> None:
    from dia_runtime.respondents.registry import create_respondents

    with loop.serve(loop.says(delay=0.01)) as server:
        held = terms(server)
        twice = [
            *create_respondents("openai/m", held.model_options),
            *create_respondents("openai/m", held.model_options),
        ]
        asked(tiny(), held, twice)  # type: ignore[arg-type]
    assert len(server.asked) == 6 and len(rows()) == 6


def test_what_waits_ends_when_its_respondent_ends(tiny: Make) -> None:
    """One request is told to wait for minutes, and with it all others; then another is refused for good."""

    async def script(request: loop.Asked, raw: Any) -> Any:
        import asyncio

        if request.number == 1:
            return await loop.says()(request, raw)
        if request.number == 2:
            return await loop.fails(429, headers={"Retry-After": "300"})(request, raw)
        await asyncio.sleep(0.3)
        return await loop.fails(401, "no use")(request, raw)

    began = time.monotonic()
    with loop.serve(script) as server:
        (entry,) = asked(tiny(), terms(server, concurrency=2)).respondents
    assert entry.is_refused and time.monotonic() - began < 30


@pytest.mark.skipif(find_spec("litellm") is None, reason="litellm is not installed")
@pytest.mark.parametrize("model", ["nobody/m", "anthropic/claude-x"])
def test_a_provider_that_litellm_does_not_know_or_has_no_key_for_ends_at_once(tiny: Make, model: str) -> None:
    (entry,) = run(tiny(), model, "a.run", terms=RunOptions(concurrency=1)).respondents
    assert entry.is_refused and entry.asked == 1 and entry.requests == 1
