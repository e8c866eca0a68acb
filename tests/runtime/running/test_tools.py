"""Models with tools: requests and calls in turn, in the sandbox, against a local server and through the real litellm."""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
import zlib
from base64 import b64decode
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from aiohttp import web
from click.testing import CliRunner, Result
from dia_language.confinement import sandboxes
from dia_language.confinement.tools import SECONDS
from dia_runtime.commands.tool_options import ToolArguments, toolbox_of
from dia_runtime.data import data_folder
from dia_runtime.respondents import rate_limit
from dia_runtime.respondents.budget import Budget
from dia_runtime.respondents.registry import ModelOptions
from dia_runtime.respondents.tools.base import definition
from dia_runtime.respondents.tools.confined import CONFINED_TOOLS
from dia_runtime.respondents.tools.toolbox import EDITION
from dia_runtime.running.run import RunOptions, RunSummary, run
from dia_runtime.store.store import read_store
from dia_runtime.store.tool_transcripts import ToolTranscript, read_tool_transcript
from helpers import loopback as loop
from helpers import tool_user
from helpers.tool_user import calls, python

Make = Callable[..., Path]
needs_sandbox = pytest.mark.skipif(sandboxes.confinement() is None, reason="no sandbox works on this machine")
THROUGH = [
    "auto",
    pytest.param("litellm", marks=pytest.mark.skipif(find_spec("litellm") is None, reason="litellm is not installed")),
]


@pytest.fixture(autouse=True)
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted-0123456789abcdef")
    monkeypatch.setattr(rate_limit, "FIRST_WAIT", 0.002)


def asked(
    bundle: Path,
    answer: loop.Answer,
    tools: ToolArguments,
    through: str = "auto",
    path: str = "a.run",
    port: int = 0,
    **terms: Any,
) -> tuple[RunSummary, loop.Server]:
    with loop.serve(answer, port) as server:
        options = ModelOptions(base_url=server.url, through=through, toolbox=toolbox_of(tools))
        summary = run(bundle, "openai/m", path, terms=RunOptions(options, **{"retries": 2, "concurrency": 2, **terms}))
    return summary, server


def rows(path: str = "a.run", columns: str = "text, error, finish_reason") -> list[tuple[Any, ...]]:
    with sqlite3.connect(path) as connection:
        found = connection.execute(f"SELECT {columns} FROM reply ORDER BY question, attempt").fetchall()
    connection.close()
    return found


def transcripts(path: str = "a.run") -> list[ToolTranscript]:
    return [read_tool_transcript(text) for (text,) in rows(path, "tool_transcript")]


PYTHON = ToolArguments(("python",))


@needs_sandbox
@pytest.mark.parametrize("through", THROUGH)
def test_a_model_calls_tools_and_reads_the_results(tiny: Make, through: str) -> None:
    answer = calls(python("print(7 + 1)"), python("print(1"), reply=lambda outputs: f"<xml>{outputs[0]}</xml>")
    _, server = asked(tiny(templates=1, k=1), answer, ToolArguments(("files", "python,bash")), through)
    assert rows() == [("<xml>8</xml>", None, "stop")]
    assert [tool_user.given_tools(request.body) for request in server.asked] == [
        ["python", "bash", "read_file", "write_file", "list_files"]
    ] * 3
    assert "tool_choice" not in server.asked[0].body and len(server.asked[0].body["messages"]) == 1
    last = server.asked[2].body["messages"]
    assert [message["role"] for message in last] == ["user", "assistant", "tool", "assistant", "tool"]
    assert last[1]["tool_calls"][0]["function"]["name"] == "python"
    assert last[2]["tool_call_id"] == last[1]["tool_calls"][0]["id"] and last[2]["content"] == "8"
    (transcript,) = transcripts()
    first, second = transcript.calls
    assert (first.tool, first.status, first.output, first.exit_code) == ("python", "ok", "8", 0)
    assert json.loads(first.arguments) == {"code": "print(7 + 1)"} and transcript.sandbox
    assert second.exit_code == 1 and "SyntaxError" in second.output and "[exit code 1]" in second.output


@needs_sandbox
def test_the_run_says_which_tools_and_sums_all_requests(tiny: Make) -> None:
    step = {**loop.USAGE, "cost": 0.25}

    async def answer(request: loop.Asked, _: web.Request) -> web.StreamResponse:
        if len(request.body["messages"]) < 6:
            return web.json_response(tool_user.completion_with(python("print(1)"), text="I count.", usage=step))
        return web.json_response(loop.completion("<xml>8</xml>", usage=step))

    summary, _ = asked(tiny(templates=1, k=1), answer, ToolArguments(("python",), calls=5, seconds=7.5))
    (entry,) = summary.respondents
    assert entry.respondent == "openai/m+tools=python"
    assert (entry.requests, entry.prompt_tokens, entry.completion_tokens, entry.cost) == (4, 40, 20, "1")
    columns = "prompt_tokens, completion_tokens, cost, tries"
    assert rows(columns=columns) == [(40, 20, "1", 4)]
    (transcript,) = transcripts()
    assert [(step.text, step.prompt_tokens, step.cost) for step in transcript.steps] == [("I count.", 10, "0.25")] * 3
    with read_store("a.run") as store:
        (respondent,) = store.respondents()
    tools = json.loads(respondent.settings)["tools"]
    assert (tools["given"], tools["calls"], tools["seconds"]) == (["python"], 5, "7.5")


def test_other_texts_of_tools_are_another_edition() -> None:
    """A run that is continued with other texts would mix replies to different requests."""
    definitions = [definition(tool, SECONDS, "") for name in sorted(CONFINED_TOOLS) for tool in CONFINED_TOOLS[name]]
    digest = hashlib.sha256(json.dumps(definitions, sort_keys=True).encode()).hexdigest()
    assert (EDITION, digest[:16]) == (2, "c843ea266b3b4acd"), "raise EDITION"


@needs_sandbox
def test_a_malformed_call_is_answered_with_its_error(tiny: Make) -> None:
    wrong: list[tool_user.Call] = [
        ("python", "{bad"),
        ("python", "[1]"),
        ("python", {"source": "1"}),
        ("python", {"code": 7}),
        ("pyhton", {"code": "1"}),
        ("python", "[" * 100_000),
        ("python", {"code": "x" * 150_000}),
        ("python", {"code": "nul \0"}),
        ("python", '{"code": "\\ud800"}'),
        ("", ""),
    ]
    _, server = asked(tiny(templates=1, k=1), calls(wrong), PYTHON)
    outputs = tool_user.results(server.asked[-1])
    assert rows() == [("<xml>8</xml>", None, "stop")] and len(outputs) == len(wrong)
    statuses = [call.status for call in transcripts()[0].calls]
    assert statuses == ["malformed"] * 4 + ["unknown_tool", "malformed", "failed", "failed", "ok", "unknown_tool"]
    assert all("error" in output.lower() for output in outputs)
    assert "'code' is a required property" in outputs[2] and "the tools are python" in outputs[4]
    # the next request repeats every call with a JSON object as its arguments, without which llama.cpp refuses it
    repeated = [message["tool_calls"] for message in server.asked[-1].body["messages"] if message.get("tool_calls")]
    arguments = [json.loads(call["function"]["arguments"]) for group in repeated for call in group]
    assert all(isinstance(each, dict) for each in arguments)
    assert arguments[:3] == [{"malformed": "{bad"}, {"malformed": "[1]"}, {"source": "1"}] and arguments[-1] == {}


@needs_sandbox
def test_the_last_request_forbids_calls_and_a_reply_of_calls_only_is_flagged(tiny: Make) -> None:
    steps: list[Any] = [[python("print(1)"), python("print(2)")], [python("print(3)"), python("print(4)")]]
    _, server = asked(tiny(templates=1, k=1), calls(*steps), ToolArguments(("python",), calls=3))
    assert [request.body.get("tool_choice") for request in server.asked] == [None, None, "none"]
    assert tool_user.results(server.asked[-1])[-1].startswith("[not run]\n[No calls are left.")
    assert [call.status for call in transcripts()[0].calls] == ["ok"] * 3 + ["no_calls_left"]

    async def always(request: loop.Asked, _: web.Request) -> web.StreamResponse:
        return web.json_response(tool_user.completion_with(python("print(1)")))

    _, server = asked(tiny("again", templates=1, k=1), always, ToolArguments(("python",), calls=2), path="b.run")
    assert rows("b.run") == [("", None, "tool_calls")] and len(server.asked) == 3
    assert [call.status for call in transcripts("b.run")[0].calls] == ["ok", "ok", "no_calls_left"]


@needs_sandbox
def test_files_last_for_a_question_and_no_longer(tiny: Make) -> None:
    look = python("import os; print(sorted(os.listdir()))")
    steps = look, ("write_file", {"path": "a/b.txt", "content": "Ω"}), look, ("read_file", {"path": "a/b.txt"})
    _, server = asked(tiny(templates=1, k=2), calls(*steps), ToolArguments(("python", "files")), concurrency=1)
    for request in server.asked[4], server.asked[9]:
        assert tool_user.results(request) == ["[]", "wrote 2 bytes", "['a']", "Ω"]


@needs_sandbox
def test_what_failed_in_between_is_sent_again_and_nothing_else(tiny: Make) -> None:
    answer = calls(python("import time; print(time.time_ns())"), reply=lambda outputs: f"<xml>{outputs[0]}</xml>")

    async def fails_once(request: loop.Asked, http: web.Request) -> web.StreamResponse:
        return await (loop.fails(500) if request.number == 2 else answer)(request, http)

    _, server = asked(tiny(templates=1, k=1), fails_once, PYTHON)
    (output,) = [call.output for call in transcripts()[0].calls]
    assert rows(columns="text, tries") == [(f"<xml>{output}</xml>", 3)]
    assert server.asked[1].body == server.asked[2].body


@needs_sandbox
def test_an_error_and_a_spent_budget_keep_what_was_spent_and_are_asked_again(tiny: Make) -> None:
    answer, bundle = calls(python("print(8)")), tiny(templates=1, k=2)

    async def fails_later(request: loop.Asked, http: web.Request) -> web.StreamResponse:
        return await (loop.fails(400, "no") if len(request.body["messages"]) > 1 else answer)(request, http)

    _, server = asked(bundle, fails_later, PYTHON, concurrency=1)
    assert [error and error[:8] for _, error, _ in rows()] == ["request:"] * 2
    assert rows(columns="prompt_tokens, tries") == [(10, 2)] * 2
    assert [len(transcript.calls) for transcript in transcripts()] == [1, 1]
    asked(bundle, answer, PYTHON, port=server.port)
    assert [text for text, _, _ in rows()] == ["<xml>8</xml>"] * 2
    asked(bundle, answer, PYTHON, path="b.run", concurrency=1, budget=Budget(requests=3))
    assert [text for text, _, _ in rows("b.run")] == ["<xml>8</xml>", None]
    assert rows("b.run", "prompt_tokens")[1] == (10,) and "asking stopped" in rows("b.run", "error")[1][0]


@needs_sandbox
def test_show_report_and_exports_contain_the_calls(tiny: Make) -> None:
    bundle = tiny(templates=1, k=1)
    asked(bundle, calls(python("print('</script>', 6 * 7)")), PYTHON)
    shown = called("show", "a.run", "sum_0/0").stdout
    assert "[call of python]\nprint('</script>', 6 * 7)\n[output, exit code 0, " in shown
    assert shown.endswith("</script> 42\n[reply]\n<xml>8</xml>\n[correct]\n")
    (reply,) = json.loads(called("show", "a.run", "sum_0/0", "--json").stdout)["replies"]
    assert reply["tool_transcript"]["steps"][0]["calls"][0]["output"] == "</script> 42"
    schema = json.loads((data_folder() / "schemas" / "reply.schema.json").read_text())
    called("export", "a.run", "--to", "replies", "-o", "out")
    (line,) = Path("out/replies.jsonl").read_text().splitlines()
    record = json.loads(line)
    jsonschema.Draft202012Validator(schema).validate(record)
    assert record["tool_transcript"] == reply["tool_transcript"] and record["respondent"] == "openai/m+tools=python"
    assert run(bundle, "replay:out/replies.jsonl", "replayed.run").respondents[0].errors == 0
    imported = "import", "out/replies.jsonl", "--from", "jsonl", "--bundle", bundle, "-o", "imported.run"
    called(*imported, "--field", "id=question", "--field", "reply=text", "--field", "model=respondent",
           "--field", "tool_transcript=tool_transcript")  # fmt: skip
    for path in "replayed.run", "imported.run":
        assert transcripts(path) == transcripts("a.run")
    called("report", "a.run", "-o", "page.html")
    call, output = _question_of_page("page.html")["replies"][0]["tools"]
    assert call == ["call of python", "print('</script>', 6 * 7)"]
    assert output[0].startswith("output, exit code 0, ") and output[1] == "</script> 42"


def _question_of_page(path: str) -> dict[str, Any]:
    """The first question in the packed parts of a report."""
    match = re.search(r'id="part-0">([^<]*)<', Path(path).read_text())
    assert match is not None
    question: dict[str, Any] = json.loads(zlib.decompress(b64decode(match[1])))[0]
    return question


def called(*arguments: object) -> Result:
    name, *rest = [str(part) for part in arguments]
    command = import_module(f"dia_runtime.commands.{'import_replies' if name == 'import' else name}").command
    result = CliRunner().invoke(command, rest, standalone_mode=False, catch_exceptions=False)
    assert result.return_value == 0, result.output
    return result
