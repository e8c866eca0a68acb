"""Replies that are no answers, and questions without a reply: nothing of them is silent."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dia_runtime
import pytest
from aiohttp import web
from dia_runtime.commands.run import exit_code
from dia_runtime.grading.flags import FLAGS, REPLY_FLAGS
from dia_runtime.respondents.chat import Settings
from dia_runtime.respondents.registry import ModelOptions
from dia_runtime.running.run import RespondentSummary, RunOptions, run
from dia_runtime.store.endings import reply_flags
from dia_runtime.store.error_causes import causes_of
from dia_runtime.store.store import read_store
from helpers import loopback as loop
from helpers import schemas as published
from helpers.places import ROOT

Make = Callable[..., Path]
Message = dict[str, Any]

CALL = {"id": "1", "type": "function", "function": {"name": "search", "arguments": "{}"}}
# How a reply ends, its message -> the flags that it has, and its verdict
ENDINGS: dict[str, tuple[str | None, Message, set[str], str]] = {
    "answer": ("stop", {"content": "<xml>8</xml>"}, set(), "correct"),
    "cut off": ("length", {"content": "Let me see, 7 + 1"}, {"truncated"}, "unparsed"),
    "answer, then cut off": ("length", {"content": "<xml>8</xml>"}, {"truncated"}, "correct"),
    "cut off in silence": ("length", {"content": ""}, {"truncated", "empty"}, "unparsed"),
    "empty": ("stop", {"content": ""}, {"empty"}, "unparsed"),
    "blank": ("stop", {"content": " \n"}, {"empty"}, "unparsed"),
    "no content": ("stop", {"content": None}, {"empty"}, "unparsed"),
    "reasoning apart": ("stop", {"content": "", "reasoning_content": "7 + 1 is 8"}, {"only_reasoning"}, "unparsed"),
    "router's reasoning": ("stop", {"content": None, "reasoning": "7 + 1 is 8"}, {"only_reasoning"}, "unparsed"),
    "reasoning in the text": ("stop", {"content": "<think>8?</think>\n"}, {"only_reasoning"}, "unparsed"),
    "endless reasoning": ("length", {"content": "<think>8? <xml>8</xml>"}, {"only_reasoning", "truncated"}, "unparsed"),
    "a call": ("tool_calls", {"content": None, "tool_calls": [CALL]}, {"only_tool_calls"}, "unparsed"),
    "filtered": ("content_filter", {"content": None}, {"refused"}, "wrong"),
    "filtered, empty": ("content_filter", {"content": ""}, {"refused"}, "wrong"),
    "filtered in the middle": ("content_filter", {"content": "The answer is"}, {"refused"}, "wrong"),
    "a call after a text": (
        "tool_calls",
        {"content": "I search", "tool_calls": [CALL]},
        {"only_tool_calls"},
        "unparsed",
    ),
    "reasoning in parts": ("stop", {"content": [{"type": "thinking", "thinking": []}]}, {"only_reasoning"}, "unparsed"),
    "cut off, for Anthropic": ("max_tokens", {"content": "Let me"}, {"truncated"}, "unparsed"),
    "cut off, for Gemini": ("MAX_TOKENS", {"content": "Let me"}, {"truncated"}, "unparsed"),
    "cut off, for Mistral": ("model_length", {"content": "Let me"}, {"truncated"}, "unparsed"),
    "filtered, for Gemini": ("SAFETY", {"content": ""}, {"refused"}, "wrong"),
    "a call, for Anthropic": ("tool_use", {"content": "", "tool_calls": [CALL]}, {"only_tool_calls"}, "unparsed"),
    "an end for another reason": ("tired", {"content": "7 + 1"}, {"unknown_ending"}, "unparsed"),
    "cut off, in capitals": ("LENGTH", {"content": "<xml>8"}, {"truncated"}, "unparsed"),
    "filtered, in capitals": ("CONTENT_FILTER", {"content": None}, {"refused"}, "wrong"),
    "a call, in capitals": ("TOOL_CALLS", {"content": "7 + 1"}, {"only_tool_calls"}, "unparsed"),
    "a stop token": ("eos_token", {"content": "<xml>8</xml>"}, set(), "correct"),
    "no reason": (None, {"content": "<xml>8</xml>"}, set(), "correct"),
    "refused": ("stop", {"content": None, "refusal": "I will not."}, {"refused", "model_refused"}, "wrong"),
}


@pytest.fixture(autouse=True)
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted-0123456789abcdef")


def asked(bundle: Path, server: loop.Server, **settings: Any) -> RespondentSummary:
    options = ModelOptions(Settings(**settings), base_url=server.url, through="auto")
    (entry,) = run(bundle, "openai/m", "a.run", terms=RunOptions(options, concurrency=4, retries=0)).respondents
    return entry


def message(ending: str | None, content: Message) -> loop.Answer:
    more = {name: value for name, value in content.items() if name != "content"}
    return loop.sends(json.dumps(loop.completion(content["content"], ending, message=more)).encode())


@pytest.mark.parametrize("name", ENDINGS)
def test_each_ending_has_its_flags_and_its_verdict(tiny: Make, name: str) -> None:
    ending, content, flags, verdict = ENDINGS[name]
    with loop.serve(message(ending, content)) as server:
        entry = asked(tiny(templates=1, k=1), server)
    assert dict(entry.flags) == dict.fromkeys(flags, 1)
    (model,) = dia_runtime.score("a.run")["models"]
    assert {flag for flag in REPLY_FLAGS if model["flags"][flag]} == flags
    assert model["counts"][verdict] == 1


@pytest.mark.parametrize("ending", ["error", "abort", "insufficient_system_resource"])
def test_a_reply_that_the_server_broke_off_is_an_error(tiny: Make, ending: str) -> None:
    with loop.serve(message(ending, {"content": "<xml>8</xml>"})) as server:
        entry = asked(tiny(templates=1, k=1), server)
    assert (entry.errors, dict(entry.flags)) == (1, {})
    assert entry.causes[0]["example"] == f"server: the provider aborted the reply ({ending}): <xml>8</xml>"


def test_an_error_within_a_reply_is_an_error(tiny: Make) -> None:
    body = {**loop.completion("<xml>8"), "error": {"message": "the GPU is on fire"}}
    with loop.serve(loop.sends(json.dumps(body).encode())) as server:
        entry = asked(tiny(templates=1, k=1), server)
    assert (entry.errors, entry.causes[0]["example"]) == (1, "server: 500 the GPU is on fire")


def piece(delta: Message, ending: str | None = None) -> bytes:
    """An event of a stream."""
    event = {"model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": ending}]}
    return b"data: " + json.dumps(event).encode() + b"\n\n"


# What a stream has besides its end -> the flags of the reply, and its text in the run
STREAMS: dict[str, tuple[Message, set[str], str]] = {
    "text": ({"content": "<xml>8</xml>"}, set(), "<xml>8</xml>"),
    "parts of a text": ({"content": [{"type": "text", "text": "<xml>8</xml>"}]}, set(), "<xml>8</xml>"),
    "a reference": (
        {"content": [{"type": "reference", "reference_ids": [0]}, {"text": "<xml>8</xml>"}]},
        set(),
        "<xml>8</xml>",
    ),
    "reasoning that is no text": ({"content": "<xml>8</xml>", "reasoning": {"id": 1}}, set(), "<xml>8</xml>"),
    "reasoning": ({"reasoning_content": "7 + 1 is 8"}, {"only_reasoning"}, ""),
    "parts of reasoning": ({"content": [{"type": "thinking", "thinking": []}]}, {"only_reasoning"}, ""),
    "a refusal": ({"refusal": "I will not."}, {"refused", "model_refused"}, "I will not."),
    "nothing": ({}, {"empty"}, ""),
}


@pytest.mark.parametrize("name", STREAMS)
def test_nothing_of_a_stream_is_lost(tiny: Make, name: str) -> None:
    delta, flags, text = STREAMS[name]
    with loop.serve(loop.sends(piece(delta) + piece({}, "stop") + b"data: [DONE]\n\n", "text/event-stream")) as server:
        entry = asked(tiny(templates=1, k=1), server)
    assert dict(entry.flags) == dict.fromkeys(flags, 1)
    with read_store("a.run") as store:
        assert store.rows("SELECT text FROM reply") == [(text,)]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (loop.cut(), "the endpoint closed the connection without a response"),
        (loop.cut(50), "the connection broke before the response was complete"),
    ],
)
def test_a_broken_connection_is_described_in_plain_words(tiny: Make, answer: loop.Answer, words: str) -> None:
    with loop.serve(answer) as server:
        entry = asked(tiny(templates=1, k=1), server)
    assert entry.causes[0]["example"] == f"network: {words}"


# Responses that are no completions -> how the error says it
NO_COMPLETIONS: dict[str, tuple[bytes, str, str]] = {
    "nothing": (b" \n", "application/json", "the endpoint's response is empty"),
    "a page": (
        b"<html>\n  Sign in\n</html>",
        "text/html",
        "the endpoint's response is not JSON: <html> Sign in </html>",
    ),
    "a cut stream": (
        piece({"content": "<xml>8"}),
        "text/event-stream",
        "the stream ended before the reply was complete:",
    ),
    "no stream": (b'data: {"choi\n\n', "text/event-stream", "the endpoint's response is not a stream of completions: "),
    "pieces of another kind": (
        piece({"content": 8}, "stop"),
        "text/event-stream",
        "the endpoint's response is not a stream",
    ),
}


@pytest.mark.parametrize("name", NO_COMPLETIONS)
def test_an_error_says_in_one_line_what_came_back(tiny: Make, name: str) -> None:
    content, kind, words = NO_COMPLETIONS[name]
    with loop.serve(loop.sends(content, kind)) as server:
        entry = asked(tiny(templates=1, k=1), server)
    (cause,) = entry.causes
    assert cause["example"].startswith(f"server: {words}") and "\n" not in cause["example"]


def test_an_error_is_no_reply_and_has_no_flag() -> None:
    assert not reply_flags("", "timeout: no reply", "length")


@pytest.fixture
def mostly_cut_off(tiny: Make) -> Path:
    """A run of twelve questions: ten replies are cut off, one is empty, one is an answer."""
    replies = iter([("stop", "<xml>8</xml>"), ("stop", ""), *[("length", "Let me")] * 10])

    async def answer(request: loop.Asked, _: web.Request) -> web.StreamResponse:
        ending, text = next(replies)
        return web.json_response(loop.completion(text, ending))

    with loop.serve(answer) as server:
        asked(tiny(templates=4, k=3), server, max_tokens=2)
    return Path("a.run")


def test_run_says_at_its_end_what_is_no_answer(tiny: Make, dia: Any, tmp_path: Path) -> None:
    bundle = tiny(templates=2, k=3)
    with loop.serve(message("length", {"content": "Let me"})) as server:
        done = dia(
            tmp_path, "run", str(bundle), "--model", "openai/m", "--base-url", server.url, "-o", "b.run", "--json"
        )
    assert (
        "openai/m: replies cut off at the token limit: 6 of 6. `dia show RUN` names one, and `dia show RUN QUESTION` prints it."
        in done.stderr
    )
    assert json.loads(done.stdout)["runs"][0]["flags"] == {"truncated": 6}


def test_the_first_table_of_a_score_shows_them_in_every_format(mostly_cut_off: Path, dia: Any, tmp_path: Path) -> None:
    text = dia(tmp_path, "score", "a.run").stdout
    table = text.split("What stands out")[0]
    assert "truncated" in table and "empty" in table and "refused" not in table
    assert "Replies cut off at the token limit: openai/m (10)." in " ".join(text.split())
    assert "Empty replies: openai/m (1)." in " ".join(text.split())
    rows = list(csv.DictReader(io.StringIO(dia(tmp_path, "score", "a.run", "--format", "csv").stdout)))
    assert (rows[0]["truncated"], rows[0]["empty"]) == ("10", "1")
    for format in ("markdown", "latex"):
        page = dia(tmp_path, "score", "a.run", "--format", format).stdout
        assert "truncated" in page and "empty" in page and "refused" not in page


def test_a_run_shows_its_flags_and_a_question_of_each(mostly_cut_off: Path, dia: Any, tmp_path: Path) -> None:
    record = json.loads(dia(tmp_path, "show", "a.run", "--json").stdout)
    assert not published.faults("show", record)
    examples = record["respondents"][0]["flag_examples"]
    printed = dia(tmp_path, "show", "a.run").stdout
    assert (
        f"openai/m: 12 replies, 1 empty (such as {examples['empty']}), "
        f"10 truncated (such as {examples['truncated']})\n" in printed
    )
    for flag, question in examples.items():
        assert f"; {flag}]" in dia(tmp_path, "show", "a.run", question).stdout
        record = json.loads(dia(tmp_path, "show", "a.run", question, "--json").stdout)
        assert flag in record["replies"][0]["flags"] and not published.faults("show", record)


def test_an_answer_with_whitespace_around_it_is_shown_in_quotes(tiny: Make, dia: Any, tmp_path: Path) -> None:
    """A model that repeats the instruction, as in "inside <xml> and </xml> tags", gives the answer " and "."""
    assert dia(tmp_path, "run", str(tiny()), "--model", "says:<xml> and </xml>", "-o", "s.run", "-q").exit == 0
    assert '[wrong: answer " and "; correct answer ' in dia(tmp_path, "show", "s.run", "sum_0/0").stdout


@pytest.mark.parametrize(("chain", "verdict"), [(None, "unparsed"), ("strict", "unparsed"), ("lenient", "skipped")])
def test_a_reply_is_shown_with_the_verdict_of_the_chain(
    chain: str | None, verdict: str, tiny: Make, dia: Any, tmp_path: Path
) -> None:
    says = "says:I am not sure, so: <xml>I-DO-NOT-KNOW</xml>"
    assert dia(tmp_path, "run", str(tiny()), "--model", says, "-o", "s.run", "-q").exit == 0
    options = () if chain is None else ("--chain", chain)
    printed = dia(tmp_path, "show", "s.run", "sum_0/0", *options)
    assert printed.exit == 0 and f"[{verdict}: " in printed.stdout, printed.stdout


def test_replies_of_another_model_than_before_are_reported(tiny: Make, dia: Any, tmp_path: Path) -> None:
    """A router may fall back to another model. The fingerprint of a server is no other model."""

    async def answer(request: loop.Asked, _: web.Request) -> web.StreamResponse:
        name = "m-mini" if request.number > 4 else "m-2026"
        return web.json_response(loop.completion("<xml>8</xml>", model=name, system_fingerprint=f"fp{request.number}"))

    bundle = tiny(templates=2, k=3)
    with loop.serve(answer) as server:
        asking = ("--model", "openai/m", "--base-url", server.url, "--concurrency", "1", "-o", "d.run", "--json")
        done = dia(tmp_path, "run", str(bundle), *asking)
    words = "replies of several models, as the provider names them: m-2026 4, m-mini 2"
    expected = [{"version": "m-2026", "replies": 4}, {"version": "m-mini", "replies": 2}]
    assert f"openai/m: {words}" in done.stderr
    record = json.loads(done.stdout)
    assert record["runs"][0]["model_versions"] == expected and not published.faults("run", record)
    assert f"    {words}" in dia(tmp_path, "show", "d.run").stdout
    record = json.loads(dia(tmp_path, "show", "d.run", "--json").stdout)
    assert record["respondents"][0]["model_versions"] == expected and not published.faults("show", record)
    text = " ".join(dia(tmp_path, "score", "d.run").stdout.split())
    assert "Replies of several models, as the provider names them: openai/m (m-2026 4, m-mini 2)." in text
    record = json.loads(dia(tmp_path, "score", "d.run", "--json").stdout)
    assert record["models"][0]["model_versions"] == expected and not published.faults("score", record)


def test_one_model_is_not_worth_a_line(mostly_cut_off: Path, dia: Any, tmp_path: Path) -> None:
    for command in ("show", "score"):
        assert "several models" not in dia(tmp_path, command, "a.run").stdout


def test_show_counts_errors_and_what_was_never_asked(tiny: Make, dia: Any, tmp_path: Path) -> None:
    bundle = tiny(templates=2, k=3)
    with loop.serve(loop.first(2, loop.says(), loop.fails(400, "this prompt offends me"))) as server:
        asking = ("--model", "openai/m", "--base-url", server.url, "--concurrency", "1", "--limit", "4", "-o", "c.run")
        assert dia(tmp_path, "run", str(bundle), *asking, "-q").exit == 1
    text = dia(tmp_path, "show", "c.run").stdout
    assert "openai/m: 2 of 6 replies\n    2 not requested\n    2 errors: request: 400 this prompt offends me" in text
    (entry,) = json.loads(dia(tmp_path, "show", "c.run", "--json").stdout)["respondents"]
    assert (entry["replies"], entry["errors"], entry["missing"]) == (2, 2, 2)


def test_every_flag_of_a_reply_says_what_can_be_seen(tmp_path: Path) -> None:
    flags_of_endings = {flag for _, _, flags, _ in ENDINGS.values() for flag in flags}
    assert set(REPLY_FLAGS) == flags_of_endings | {"over_context", "no_judgement"}
    assert all(FLAGS[name].finding[0].isupper() for name in REPLY_FLAGS)


def test_the_docs_list_every_flag() -> None:
    page = (ROOT / "docs" / "explanation" / "figures.md").read_text(encoding="utf-8")
    assert [name for name in FLAGS if f"| `{name}` |" not in page] == []


# Prompts that are too long, and replies for which there is no room

TOO_LONG = {
    "OpenAI": "This model's maximum context length is 4097 tokens. However, your messages resulted in 5000 tokens.",
    "OpenAI, with its reply": "This model's maximum context length is 4097 tokens. However, you requested 5200 tokens "
    "(5000 in the messages, 200 in the completion).",
    "Anthropic": "prompt is too long: 210000 tokens > 200000 maximum",
    "Gemini": "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    "xAI": "This model's maximum prompt length is 131072 but the request contains 140000 tokens.",
    "Bedrock": "Input is too long for requested model.",
    "llama.cpp": "request (6031 tokens) exceeds the available context size (4096 tokens), try increasing it",
}
NO_ROOM = {
    "OpenAI": "This model's maximum context length is 4097 tokens. However, you requested 5000 tokens (1000 in the "
    "messages, 4000 in the completion). Please reduce the length of the messages or completion.",
    "vLLM": "'max_tokens' or 'max_completion_tokens' is too large: 5000. This model's maximum context length is 4096 "
    "tokens and your request has 100 input tokens",
}


@pytest.mark.parametrize("provider", TOO_LONG)
def test_a_prompt_that_is_too_long_is_final(tiny: Make, provider: str) -> None:
    with loop.serve(loop.fails(400, TOO_LONG[provider])) as server:
        entry = asked(tiny(templates=1, k=1), server)
    assert (entry.errors, dict(entry.flags)) == (0, {"over_context": 1})


@pytest.mark.parametrize("provider", NO_ROOM)
def test_a_limit_of_the_reply_that_is_too_large_is_an_error_of_the_request(tiny: Make, provider: str) -> None:
    """Otherwise all replies would count as wrong, although a smaller `--max-tokens` would do."""
    with loop.serve(loop.fails(400, NO_ROOM[provider])) as server:
        entry = asked(tiny(templates=2, k=3), server, max_tokens=5000)
    assert entry.is_refused and "maximum context length" in (entry.ended or "") and not entry.flags
    assert len(server.asked) == 2


# Models that cannot work


def test_a_model_that_refuses_every_request_is_asked_twice(tiny: Make) -> None:
    with loop.serve(loop.fails(400, "`temperature` does not support 0.7 with this model")) as server:
        entry = asked(tiny(templates=4, k=5), server, temperature="0.7")
    assert len(server.asked) == 2 and server.asked[1].text == "Reply with the word OK."
    assert entry.is_refused and "`temperature` does not support 0.7" in (entry.ended or "")
    assert entry.asked == entry.errors == 1


@pytest.mark.parametrize("status", [401, 402, 404])
def test_a_model_without_key_credit_or_name_is_asked_once(tiny: Make, status: int) -> None:
    with loop.serve(loop.fails(status, "no such luck")) as server:
        entry = asked(tiny(templates=4, k=5), server)
    assert len(server.asked) == 1 and entry.is_refused


def test_a_question_that_is_refused_alone_stops_nothing(tiny: Make) -> None:
    refused, answered = loop.fails(400, "the image is too large"), loop.says("<xml>8</xml>")
    number = 0

    async def answer(request: loop.Asked, web_request: web.Request) -> web.StreamResponse:
        nonlocal number
        number += "7 + " in request.text
        return await (refused if "7 + 1" in request.text else answered)(request, web_request)

    with loop.serve(answer) as server:
        entry = asked(tiny(templates=4, k=3), server)
    assert entry.ended is None and (entry.asked, entry.errors) == (12, 4)
    assert sum(request.text == "Reply with the word OK." for request in server.asked) == 1


def test_the_first_question_is_asked_alone(tiny: Make) -> None:
    with loop.serve(loop.says("<xml>8</xml>", delay=0.05)) as server:
        asked(tiny(templates=2, k=3), server)
    assert server.most == 4
    assert server.asked[1].at >= server.asked[0].at + 0.05


# Reasons


def test_errors_are_grouped_by_their_cause() -> None:
    errors = [
        ("server: 500 request req_8f3a2b failed", 2),
        ("server: 500 request req_11aa9c failed", 3),
        ("timeout: no reply within 600 s", 1),
    ]
    causes = causes_of(errors)
    assert [(cause["replies"], cause["example"]) for cause in causes] == [(5, errors[0][0]), (1, errors[2][0])]


def test_the_reasons_of_errors_are_shown_everywhere(tiny: Make, dia: Any, tmp_path: Path) -> None:
    bundle = tiny(templates=4, k=3)

    async def answer(request: loop.Asked, web_request: web.Request) -> web.StreamResponse:
        is_first = len(server.asked) == 1
        failing = loop.fails(500, f"worker {len(server.asked)} is out of memory")
        return await (loop.says("<xml>8</xml>") if is_first else failing)(request, web_request)

    with loop.serve(answer) as server:
        arguments = ["--model", "openai/m", "--base-url", server.url, "--retries", "0", "-o", "b.run", "--json"]
        done = dia(tmp_path, "run", str(bundle), *arguments)
    assert done.exit == 1
    assert "openai/m: 11 errors: server: 500 worker" in done.stderr
    (cause,) = json.loads(done.stdout)["runs"][0]["causes"]
    assert cause["replies"] == 11 and cause["example"].endswith("is out of memory")
    assert "11 errors: server: 500 worker" in dia(tmp_path, "show", "b.run").stdout
    score = dia(tmp_path, "score", "b.run").stdout
    assert "The most frequent cause (11): server: 500 worker" in " ".join(score.split())
    assert dia(tmp_path, "report", "b.run", "-o", "r.html").exit == 0
    assert "Why questions have no reply" in Path("r.html").read_text(encoding="utf-8")


def test_the_exit_code_of_a_refused_model_is_that_of_the_network(tiny: Make, capsys: Any) -> None:
    with loop.serve(loop.fails(400, "no such parameter")) as server:
        options = ModelOptions(base_url=server.url, through="auto")
        summary = run(tiny(), "openai/m", "a.run", terms=RunOptions(options, retries=0))
    assert exit_code([summary]) == 4
    assert "no such parameter" in capsys.readouterr().err
