"""Programs that are asked line by line: well-behaved ones, and those that die, hang, babble and flood."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import dia_runtime
import pytest
from dia_language.diagnostics import DiaError
from dia_runtime.respondents import line_process as programs
from dia_runtime.respondents.budget import Budget
from dia_runtime.respondents.chat import Settings
from dia_runtime.respondents.registry import ModelOptions
from dia_runtime.running.run import RespondentSummary, RunOptions
from dia_runtime.store.store import read_store
from helpers.failures import refusal, refused_call

Make = Callable[..., Path]
Write = Callable[[str], str]
LOOP = """
    import json, os, sys, time
    for number, line in enumerate(sys.stdin):
        question = json.loads(line)
"""


@pytest.fixture
def written(tmp_path: Path) -> Write:
    """Writes a program of which only the inner part of the loop is given; gives the name of the respondent."""

    def write(inner: str) -> str:
        path = tmp_path / "the program.py"
        path.write_text(textwrap.dedent(LOOP) + textwrap.indent(textwrap.dedent(inner), "    "), encoding="utf-8")
        return f"command:{shlex.join([sys.executable, str(path)])}"

    return write


@pytest.fixture(autouse=True)
def nobody_is_left(tmp_path: Path) -> Iterator[None]:
    """No program outlives its run, where there is something to look with."""
    yield
    if shutil.which("pgrep") is None:
        return
    left = subprocess.run(
        ["pgrep", "-f", str(tmp_path / "the program.py")], capture_output=True, text=True, check=False
    )
    assert left.stdout == ""


def asked(
    bundle: Path, model: str, out: Path, *, copies: int = 1, timeout: float = 60, **more: Any
) -> RespondentSummary:
    terms = RunOptions(ModelOptions(Settings(), timeout=timeout, copies=copies), concurrency=4, budget=Budget())
    return dia_runtime.run(bundle, model, out, terms=terms, **more).respondents[0]


def replies(path: Path) -> list[dict[str, Any]]:
    with read_store(path) as store:
        return list(store.replies_of(1))


ANSWERS = """
    answer = {"text": f"<xml>{question['messages'][-1]['content'][:7]}</xml>", "id": question["id"]}
    print(json.dumps(answer | {"finish_reason": "stop", "prompt_tokens": 7, "completion_tokens": 3, "cost": 0.00002}), flush=True)
"""


def test_a_program_is_started_once_and_asked_line_by_line(tiny: Make, tmp_path: Path, written: Write) -> None:
    name = written("print(json.dumps({'text': f'{number} {os.getpid()}'}), flush=True)")
    entry = asked(tiny(), name, tmp_path / "a.run")
    assert (entry.asked, entry.errors, entry.ended) == (6, 0, None)
    said = [reply["text"].split() for reply in replies(tmp_path / "a.run")]
    assert sorted(int(number) for number, _ in said) == list(range(6)) and len({process for _, process in said}) == 1


def test_what_the_program_says_is_kept(tiny: Make, tmp_path: Path, written: Write) -> None:
    asked(tiny(), written(ANSWERS), tmp_path / "a.run")
    first = replies(tmp_path / "a.run")[0]
    assert first["text"] == "<xml>What is</xml>" and first["finish_reason"] == "stop" and first["cost"] == "0.00002"
    assert (first["prompt_tokens"], first["completion_tokens"]) == (7, 3) and first["seconds"] and first["asked_at"]


def test_the_program_gets_all_of_the_question(
    tiny: Make, bundle_writer: Make, manifest_writer: Make, tmp_path: Path, written: Write
) -> None:
    opened, content = dia_runtime.open_bundle(tiny(templates=1, k=1)), b"\x89PNG, or so\x00\xff"
    (question,), digest = opened.questions(), hashlib.sha256(content).hexdigest()
    asset = {"name": "a.png", "sha256": digest, "path": f"assets/{digest}.png", "media_type": "image/png",
             "size": len(content), "deliver": "attach"}  # fmt: skip
    bundle = bundle_writer(tmp_path / "with", [question | {"assets": [asset]}], list(opened.answers()), 1)
    (bundle / "assets").mkdir()
    (bundle / "assets" / f"{digest}.png").write_bytes(content)
    facts = dia_runtime.open_bundle(bundle).manifest
    manifest_writer(bundle, {name: value for name, value in facts.items() if name != "files"})
    name = written("print(json.dumps({'text': line}), flush=True)")
    settings = Settings(max_tokens=50, system="Be brief.", seed=3)
    terms = RunOptions(ModelOptions(settings, temperatures=("0.7",)))
    dia_runtime.run(bundle, name, tmp_path / "a.run", attempts=2, terms=terms)
    first, second = (json.loads(reply["text"]) for reply in replies(tmp_path / "a.run"))
    assert first | {"attempt": 2} == second and first == {
        "id": "tiny/sum_0/0",
        "messages": question["messages"],
        "assets": [{"name": "a.png", "media_type": "image/png", "deliver": "attach",
                    "content": base64.b64encode(content).decode()}],
        "settings": {"max_tokens": 50, "seed": 3, "system": "Be brief.", "temperature": "0.7"},
        "attempt": 1,
    }  # fmt: skip


def test_copies_answer_at_once(tiny: Make, tmp_path: Path, written: Write) -> None:
    name = written("time.sleep(0.1); print(json.dumps({'text': str(os.getpid())}), flush=True)")
    asked(tiny(), name, tmp_path / "a.run", copies=3)
    assert len({reply["text"] for reply in replies(tmp_path / "a.run")}) == 3


FAULTY = {
    "dies": ("print('first complaint\\nsecond', file=sys.stderr); sys.exit(3)", "ended with code 3: first complaint"),
    "is killed": ("os.kill(os.getpid(), 9)", "was ended by SIGKILL"),
    "closes its output": ("os.close(1); time.sleep(60)", "closed its output"),
    "prints no JSON": ("print('Hello \\x1b[31m', flush=True)", "did not print JSON: Hello \\x1b[31m"),
    "prints a list": ("print('[]', flush=True)", "JSON that is not a reply: it is not an object"),
    "prints no text": ("print('{}', flush=True)", "JSON that is not a reply: it has neither `text` nor `error`"),
    "prints a number": ("print('{\"text\": 7}', flush=True)", "`text` must be text or null"),
    "replies to another": ('print(\'{"id": "x", "text": ""}\', flush=True)', "replied to x, not to tiny/sum_0/0"),
    "is nested": ("print('[' * 100_000, flush=True)", "did not print JSON"),
    "hangs": ("print('busy', file=sys.stderr, flush=True); time.sleep(60)", "no reply within 0.5 s: busy"),
    "floods a line": ("sys.stdout.write('x' * (17 << 20)); time.sleep(60)", "line of more than 16 MiB"),
    "floods without end": ("while True: sys.stdout.write('y' * 65536)", "line of more than 16 MiB"),
}


WAITED_FOR = ("is killed", "closes its output", "hangs", "floods a line", "floods without end")


@pytest.mark.parametrize(
    "what", [pytest.param(what, marks=pytest.mark.slow if what in WAITED_FOR else ()) for what in FAULTY]
)
def test_a_program_that_never_replies_is_told_once(tiny: Make, tmp_path: Path, written: Write, what: str) -> None:
    inner, why = FAULTY[what]
    timeout = 0.5 if what == "hangs" else 60
    begun, entry = time.monotonic(), asked(tiny(k=50), written(inner), tmp_path / "a.run", timeout=timeout)
    assert entry.ended is not None and why in entry.ended and "\x1b" not in entry.ended
    assert entry.asked == entry.errors == 1 and time.monotonic() - begun < 30
    assert replies(tmp_path / "a.run")[0]["error"] == f"fatal: {entry.ended}"


def test_a_program_that_fails_at_one_question_is_started_again(tiny: Make, tmp_path: Path, written: Write) -> None:
    name = written(f"if question['id'].endswith('sum_0/2'): raise SystemExit('cannot')\n{textwrap.dedent(ANSWERS)}")
    entry = asked(tiny(), name, tmp_path / "a.run")
    assert (entry.asked, entry.errors, entry.ended) == (6, 1, None)
    (error,) = (reply["error"] for reply in replies(tmp_path / "a.run") if reply["error"])
    assert "ended with code 1: cannot" in error
    entry = asked(tiny("again"), written(ANSWERS), tmp_path / "a.run")
    assert (entry.asked, entry.kept, entry.errors) == (1, 5, 0)


def test_a_program_that_fails_again_and_again_is_given_up(tiny: Make, tmp_path: Path, written: Write) -> None:
    name = written(f"if '/sum_1/' in question['id']: sys.exit(9)\n{textwrap.dedent(ANSWERS)}")
    entry = asked(tiny(k=10), name, tmp_path / "a.run")
    assert (entry.asked, entry.errors) == (13, 3) and "ended with code 9" in str(entry.ended)


def test_a_program_that_stops_talking_between_questions_is_told(tiny: Make, tmp_path: Path, written: Write) -> None:
    name = written(f"{textwrap.dedent(ANSWERS)}os.close(1)\ntime.sleep(0.1)\n")
    entry = asked(tiny(), name, tmp_path / "a.run")
    errors = [str(reply["error"]) for reply in replies(tmp_path / "a.run") if reply["error"]]
    assert entry.errors == 3 and all("closed its output" in error or "ended with" in error for error in errors)


def test_an_error_that_the_program_tells_is_one_question_s(tiny: Make, tmp_path: Path, written: Write) -> None:
    entry = asked(tiny(), written("print(json.dumps({'error': 'busy'}), flush=True)"), tmp_path / "a.run")
    assert (entry.asked, entry.errors, entry.ended) == (6, 6, None)
    assert {reply["error"] for reply in replies(tmp_path / "a.run")} == {"request: busy"}


def test_more_than_one_line_is_an_error_and_no_other_question_s_reply(
    tiny: Make, tmp_path: Path, written: Write
) -> None:
    name = written('print(\'{"text": "a"}\\n\' * 3, flush=True); time.sleep(0.3)')
    entry = asked(tiny(), name, tmp_path / "a.run")
    errors = [reply["error"] for reply in replies(tmp_path / "a.run")]
    assert entry.errors == 3 and all("more than one line" in error for error in errors if error)


def test_what_it_says_to_standard_error_is_heard_however_much(tiny: Make, tmp_path: Path, written: Write) -> None:
    name = written(f"sys.stderr.write('x' * 3_000_000)\n{textwrap.dedent(ANSWERS)}")
    assert asked(tiny(), name, tmp_path / "a.run").errors == 0


def test_a_key_that_it_complains_of_is_not_kept(
    tiny: Make, tmp_path: Path, written: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-very-secret")
    bundle = tiny()
    entry = asked(bundle, written("sys.exit('refused: ' + os.environ['SOME_API_KEY'])"), tmp_path / "a.run")
    assert "refused: ***" in str(entry.ended) and b"sk-very-secret" not in (tmp_path / "a.run").read_bytes()
    monkeypatch.setenv("DIA_PASSPHRASE", "seven quiet herons")
    told = written("sys.exit('refused: ' + os.environ.get('DIA_PASSPHRASE', 'nothing'))")
    entry = asked(bundle, told, tmp_path / "b.run")
    assert "refused: nothing" in str(entry.ended) and b"herons" not in (tmp_path / "b.run").read_bytes()


def test_a_program_is_no_shell_line(tiny: Make, tmp_path: Path, written: Write) -> None:
    name = written("print(json.dumps({'text': str(sys.argv[1:])}), flush=True)")
    asked(tiny(), f"{name} 'a b' $HOME ; touch {tmp_path}/made", tmp_path / "a.run")
    said = replies(tmp_path / "a.run")[0]["text"]
    assert said == f"['a b', '$HOME', ';', 'touch', '{tmp_path}/made']" and not (tmp_path / "made").exists()


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("", "`command:` does not name a program\n  help: write command:PROGRAM"),
        ("'", "`'` cannot be split into words: No closing quotation\n  help: write command:PROGRAM"),
        ("no-such -x", "program not found: `no-such`\n  help: install it, or write its path"),
    ],
)
def test_what_cannot_be_started_is_told_before_anything(tiny: Make, tmp_path: Path, name: str, why: str) -> None:
    refusal("E842", why, lambda: asked(tiny(), f"command:{name}", tmp_path / "a.run"))
    assert not (tmp_path / "a.run").exists()


def test_only_the_command_line_names_a_program(
    tiny: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bundle = tiny()
    monkeypatch.chdir(tmp_path)
    for text in ("model = ['command:touch made']", "[run]\nmodel = ['command:touch made']"):
        (tmp_path / "dia.toml").write_text(text, encoding="utf-8")
        error = "`model` can only be given on the command line\n  help: remove it from the file"
        refused_call("E605", error, capsys, "run", bundle, "-o", "a.run")
        assert not (tmp_path / "made").exists()


@pytest.mark.slow
def test_a_program_that_does_not_end_is_ended_with_all_that_it_started(
    tiny: Make, tmp_path: Path, written: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs, "GRACE_SECONDS", 0.3)
    monkeypatch.setattr(programs.LineProcess.end, "__defaults__", (0.3,))
    inner = f"""
    import signal, subprocess
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)", {str(tmp_path / "the program.py")!r}])
    {textwrap.dedent(ANSWERS).strip().splitlines()[0]}
    print(json.dumps(answer), flush=True)
    if number == 5:
        time.sleep(60)
    """
    begun, entry = time.monotonic(), asked(tiny(), written(inner), tmp_path / "a.run")
    assert entry.errors == 0 and time.monotonic() - begun < 20


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupt_keeps_what_was_said_and_ends_the_program(
    tiny: Make, tmp_path: Path, written: Write, number: signal.Signals
) -> None:
    bundle, out = tiny(k=40), tmp_path / "a.run"
    name = written(f"time.sleep(0.02)\n{textwrap.dedent(ANSWERS)}")
    command = [sys.executable, "-m", "dia_compiler", "run", str(bundle), "--model", name, "-o", str(out), "-q"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as child:
        _wait_for(lambda: out.exists() and _held(out) >= 3)
        os.kill(child.pid, number)
        _, told = child.communicate(timeout=20)
    if number == signal.SIGINT:
        assert child.returncode == 130 and "repeat the command to continue" in told
    time.sleep(0.2)  # the program ends by itself when its input does
    held = _held(out)
    assert 3 <= held < 80
    entry = asked(bundle, name, out)
    assert entry.kept >= held and entry.kept + entry.asked == 80


def _held(path: Path) -> int:
    try:
        return len(replies(path))
    except DiaError:
        return 0


def _wait_for(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)
