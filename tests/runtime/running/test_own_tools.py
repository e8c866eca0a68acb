"""Tools of the user, and what can go wrong with tools: refusals, interrupts, hostile code, caches, sessions, files."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from dia_compiler.commands.cli import run as dia
from dia_language.confinement import sandboxes
from dia_runtime.commands.tool_options import ToolArguments, toolbox_of
from dia_runtime.respondents.registry import ModelOptions
from dia_runtime.running.run import RunOptions, run
from dia_runtime.store.store import read_store
from dia_runtime.store.tool_transcripts import ToolTranscript, read_tool_transcript
from helpers import loopback as loop
from helpers import session_records
from helpers.failures import refused_call
from helpers.tool_user import Call, calls, python

Make = Callable[..., Path]
needs_sandbox = pytest.mark.skipif(sandboxes.confinement() is None, reason="no sandbox works on this machine")
needs_mcp = pytest.mark.skipif(find_spec("mcp") is None, reason="the package mcp is not installed")
PYTHON = ToolArguments(("python",))


@pytest.fixture(autouse=True)
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted-0123456789abcdef")


def asked(
    bundle: Path, answer: loop.Answer, tools: ToolArguments | None, path: str = "a.run", port: int = 0, **terms: Any
) -> int:
    """Ask the model at a local server, and return the number of requests."""
    with loop.serve(answer, port) as server:
        toolbox = None if tools is None else toolbox_of(tools)
        options = ModelOptions(base_url=server.url, toolbox=toolbox)
        run(bundle, "openai/m", path, terms=RunOptions(options, **{"retries": 0, "concurrency": 1, **terms}))
        return len(server.asked)


def transcripts(path: str = "a.run") -> list[ToolTranscript]:
    with read_store(path) as store:
        rows = list(store.rows("SELECT tool_transcript FROM reply ORDER BY question"))
    return [read_tool_transcript(text) for (text,) in rows if text]


def program(name: str, source: str) -> str:
    """A Python program as a command, in the words of a shell."""
    Path(name).write_text(textwrap.dedent(source), encoding="utf-8")
    return shlex.join([sys.executable, str(Path(name).resolve())])


# Commands of the user


DOUBLE = """
    import json, os, sys
    arguments = json.load(sys.stdin)
    assert os.path.isdir(os.environ["DIA_TOOL_FOLDER"])
    print(2 * int(arguments["input"]))
"""


def test_a_command_gets_the_arguments_and_its_output_is_the_result(tiny: Make) -> None:
    answer = calls(("double", {"input": "4"}), ("double", {"input": "x"}), ("double", {"input": 4}))
    asked(tiny(templates=1, k=1), answer, ToolArguments(commands=(f"double={program('double.py', DOUBLE)}",)))
    (transcript,) = transcripts()
    first, second, third = transcript.calls
    assert (first.status, first.output, first.exit_code) == ("ok", "8", 0)
    assert second.exit_code == 1 and "ValueError" in second.output
    assert third.status == "malformed" and "is not of type 'string'" in third.output
    with read_store("a.run") as store:
        (respondent,) = store.respondents()
    assert respondent.name == "openai/m+tools=double" and json.loads(respondent.settings)["tools"]["own"]


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("while True: print('x' * 4096)", "wrote more than 1 MiB"),
        ("import time; time.sleep(60)", "longer than 0.5 s"),
        ("import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(3)", "longer than 0.5 s"),
    ],
)
def test_a_command_without_an_end_is_stopped(tiny: Make, source: str, reason: str) -> None:
    tools = ToolArguments(commands=(f"endless={program('endless.py', source)}",), seconds=0.5)
    asked(tiny(templates=1, k=1), calls(("endless", {"input": ""})), tools)
    ((call,),) = (transcript.calls for transcript in transcripts())
    assert call.status == "stopped" and reason in call.output and len(call.output) < 100_000


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--tool-command", "double", "the tool `double` has no command\n  help: write NAME=COMMAND, or the name of"),
        ("--tool-command", "double=no-such-program", "`no-such-program` was not found\n  help: check the path"),
        ("--tool-command", "a b=true", "`a b=true` does not name a tool\n  help: write NAME=COMMAND"),
        pytest.param("--mcp", "no-such-program", "cannot be started", marks=needs_mcp),
        pytest.param("--mcp", "true", "does not answer as an MCP server", marks=needs_mcp),
        ("--tools", "pyton", "unknown tool `pyton`\n  help: did you mean `python`? (known: `python`, `bash`, `files`)"),
    ],
)
def test_a_tool_that_cannot_be_given_is_refused_before_anything_is_asked(
    tiny: Make, capsys: pytest.CaptureFixture[str], option: str, value: str, message: str
) -> None:
    refused_call("E852", message, capsys, "run", tiny(), "--model", "openai/m", "-o", "a.run", option, value)
    assert not Path("a.run").exists()


def test_without_the_package_mcp_servers_are_refused(
    tiny: Make, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("dia_runtime.respondents.tools.mcp_servers.find_spec", lambda name: None)
    error = (
        "`--mcp` needs the package mcp, which is not installed\n  help: run `pip install '.[tools]'` in a clone of dia"
    )
    refused_call("E853", error, capsys, "run", tiny(), "--model", "openai/m", "-o", "a.run", "--mcp", "true")


@pytest.mark.parametrize("model", ["oracle", "says:hello"])
def test_what_is_no_model_of_an_endpoint_gets_no_tools(
    tiny: Make, capsys: pytest.CaptureFixture[str], model: str
) -> None:
    error = (
        f"`{model}` cannot use tools: only models at an endpoint can call them\n  help: ask it in a separate command"
    )
    refused_call("E854", error, capsys, "run", tiny(), "--model", model, "-o", "a.run", "--tool-command", "t=true")
    assert not Path("a.run").exists()


def test_without_a_sandbox_tools_are_refused(
    tiny: Make, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("dia_language.confinement.tools.tool_sandbox", lambda: None)
    bundle = tiny()
    assert dia(["run", str(bundle), "--model", "openai/m", "-o", "a.run", "--tools", "python"]) == 2
    printed = capsys.readouterr().err
    assert "E851" in printed and "bubblewrap" in printed and not Path("a.run").exists()
    with loop.serve(loop.says("<xml>8</xml>")) as server:  # own commands need no sandbox
        words = ["--base-url", server.url, "--tool-command", f"double={program('double.py', DOUBLE)}"]
        assert dia(["run", str(bundle), "--model", "openai/m", "-o", "a.run", *words]) == 0
    assert "runs outside the sandbox, with your own rights" in capsys.readouterr().err


# MCP servers


SERVER = """
    try:
        from mcp.server.fastmcp import FastMCP
    except ImportError:
        from mcp.server import MCPServer as FastMCP

    server = FastMCP("counter")
    count = 0

    @server.tool()
    def add(number: int) -> str:
        '''Add to the sum.'''
        global count
        count += number
        return f"the sum is {count}"

    @server.tool()
    def fail() -> str:
        raise ValueError("no luck")

    server.run()
"""


@pytest.mark.long
@needs_mcp
def test_each_question_has_its_own_copy_of_an_mcp_server(tiny: Make) -> None:
    tools = ToolArguments(mcp=(program("server.py", SERVER),), seconds=30)
    answer = calls(("add", {"number": 3}), ("add", {"number": 4}), ("add", {"number": "x"}), ("fail", {}))
    asked(tiny(templates=1, k=2), answer, tools)
    for transcript in transcripts():
        outputs = [(call.status, call.output) for call in transcript.calls]
        assert outputs[:2] == [("ok", "the sum is 3"), ("ok", "the sum is 7")]
        assert outputs[2][0] == "malformed" and outputs[3][0] == "failed" and "fail" in outputs[3][1]


# Hostile code


HOSTILE: dict[str, tuple[Call, str]] = {
    "a fork bomb": (("bash", {"command": ":(){ :|:& };:; sleep 1; echo alive"}), ""),
    "endless output": (python("while True: print('x' * 1000)"), "more than"),
    "the network": (python("import urllib.request; urllib.request.urlopen('http://127.0.0.1:1/')"), "Error"),
    "other folders": (python(f"print(open({str(Path(__file__))!r}).read())"), "No such file"),
    "escape sequences": (python("print('\\x1b]0;pwned\\x07\\x1b[31mred')"), "pwned"),
}


@needs_sandbox
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_code_is_contained_and_shown(tiny: Make, capsys: pytest.CaptureFixture[str], name: str) -> None:
    call, output = HOSTILE[name]
    bundle = tiny(templates=1, k=1)
    asked(bundle, calls(call), ToolArguments(("python", "bash"), seconds=5))
    ((made,),) = (transcript.calls for transcript in transcripts())
    assert output in made.output and "def test_hostile" not in made.output
    assert dia(["show", "a.run", "sum_0/0"]) == 0
    shown = capsys.readouterr().out
    assert f"[call of {made.tool}]" in shown and "\x1b" not in shown and "\x07" not in shown
    assert dia(["report", "a.run", "-o", "r.html"]) == 0
    assert "\x1b" not in Path("r.html").read_text(encoding="utf-8")


# Files, sessions, the cache of replies


@needs_sandbox
def test_the_files_of_a_question_are_in_the_folder(
    tiny: Make, bundle_writer: Make, manifest_writer: Make, tmp_path: Path
) -> None:
    source = tiny("plain", templates=1, k=1)
    question, answer = (json.loads((source / f"{name}.jsonl").read_text()) for name in ("questions", "answers"))
    content, digest = b"a,b\n3,5\n", hashlib.sha256(b"a,b\n3,5\n").hexdigest()
    question["assets"] = [
        {"name": "table.csv", "path": f"assets/{digest}.csv", "sha256": digest, "size": len(content),
         "media_type": "text/csv", "deliver": "attach"}
    ]  # fmt: skip
    bundle = bundle_writer(tmp_path / "files", [question], [answer], 1)
    (bundle / "assets").mkdir()
    (bundle / "assets" / f"{digest}.csv").write_bytes(content)
    facts = json.loads((bundle / "manifest.json").read_bytes())
    manifest_writer(bundle, {name: value for name, value in facts.items() if name != "files"})
    code = "import csv; print(sum(int(cell) for cell in list(csv.reader(open('table.csv')))[1]))"
    asked(bundle, calls(("list_files", {"path": "."}), python(code)), ToolArguments(("python", "files")))
    first, second = transcripts()[0].calls
    assert "table.csv" in first.output and second.output == "8"


@needs_sandbox
def test_turns_of_sessions_can_call_tools(bundle_writer: Make, tmp_path: Path) -> None:
    talk = session_records.question([session_records.session("talk", session_records.turn("How many?", "number"))], 0)
    bundle = session_records.bundle(bundle_writer, tmp_path / "talks", [talk])
    requests = asked(bundle, calls(python("print(6 * 7)"), reply=lambda outputs: f"It is {outputs[0]}."), PYTHON)
    assert requests == 2
    with read_store("a.run") as store:
        ((text, transcript),) = store.rows("SELECT text, tool_transcript FROM turn")
    assert text == "It is 42." and read_tool_transcript(transcript).calls[0].output == "42"


@needs_sandbox
def test_the_cache_knows_which_tools_a_model_was_given(tiny: Make) -> None:
    bundle, answer = tiny(templates=1, k=1), calls(python("print(7 + 1)"))
    with loop.serve(answer) as server:
        port = server.port

    def requests(tools: ToolArguments | None, path: str) -> int:
        return asked(bundle, answer, tools, path, port, cache=Path("replies.sqlite"))

    assert requests(PYTHON, "a.run") == 2
    assert requests(PYTHON, "b.run") == 0
    assert requests(ToolArguments(("python",), seconds=3), "c.run") == 2
    assert requests(None, "d.run") == 1


# Ctrl-C


@needs_sandbox
@pytest.mark.slow
def test_ctrl_c_during_a_call_leaves_no_process_and_loses_no_reply(tiny: Make) -> None:
    bundle, mark = tiny(templates=1, k=3), f"4242{os.getpid()}"
    sleeps = calls(python(f"import time; time.sleep({mark})"))

    async def answer(request: loop.Asked, http: Any) -> Any:
        is_first = "1 + " in str(request.body["messages"][0]["content"]) or len(server.asked) == 1
        return await (loop.says("<xml>8</xml>") if is_first else sleeps)(request, http)

    with loop.serve(answer) as server:
        words = ["run", str(bundle), "--model", "openai/m", "--base-url", server.url, "--tools", "python"]
        command = [sys.executable, "-m", "dia_compiler", *words, "--tool-seconds", "600", "-o", "a.run"]
        process = subprocess.Popen([*command, "--concurrency", "1"], start_new_session=True, stderr=subprocess.PIPE)
        for _ in range(300):
            if _commands_with(f"time.sleep({mark})"):
                break
            time.sleep(0.1)
        assert _commands_with(f"time.sleep({mark})"), "the call was never made"
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 130
        assert process.stderr is not None and b"Traceback" not in process.stderr.read()
        process.stderr.close()
    for _ in range(50):
        if not _commands_with(f"time.sleep({mark})"):
            break
        time.sleep(0.1)
    assert not _commands_with(f"time.sleep({mark})")
    with read_store("a.run") as store:
        assert [text for (text,) in store.rows("SELECT text FROM reply WHERE error IS NULL")] == ["<xml>8</xml>"]


def _commands_with(text: str) -> list[str]:
    lines = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
        except OSError:
            continue
        if text in line and "dia_compiler" not in line:
            lines.append(line)
    return lines


# Tools that nobody calls


@pytest.mark.parametrize("steps", [0, 1])
def test_a_model_that_calls_no_tool_is_reported(tiny: Make, capsys: pytest.CaptureFixture[str], steps: int) -> None:
    """A server may accept `tools` and drop them: the figures with tools are then those without."""
    bundle = tiny(templates=1, k=2)
    tool = f"double={program('double.py', DOUBLE)}"
    with loop.serve(calls(*(("double", {"input": "4"}) for _ in range(steps)))) as server:
        dia(
            ["run", str(bundle), "--model", "openai/m", "--base-url", server.url, "--tool-command", tool, "-o", "a.run"]
        )
    assert ("no tool was called in any of 2 replies" in " ".join(capsys.readouterr().err.split())) == (not steps)
    dia(["score", "a.run", "--json"])
    (model,) = json.loads(capsys.readouterr().out)["models"]
    assert model["replies_with_tool_calls"] == (2 if steps else 0)
    dia(["score", "a.run"])
    text = " ".join(capsys.readouterr().out.split())
    assert ("No tool was called in any reply: openai/m+tools=double (2)." in text) == (not steps)
