"""The commands around writing specs: new, preview, check --watch, doctor, defaults, completion."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import pytest
import yaml
from dia_compiler.authoring.preview import preview
from dia_compiler.commands.cli import run
from dia_compiler.pipeline.api import check_specs, compile
from dia_language.workers.fork_server import CAN_FORK
from helpers.failures import refused_call
from helpers.places import ROOT

needs_fork = pytest.mark.skipif(not CAN_FORK, reason="a worker in a new interpreter has the usual intervals")
FIRST = "my_bench/first_template.yaml"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def new_benchmark(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("new")
    with contextlib.chdir(folder):
        assert run(["new", "my_bench", "--benchmark"]) == 0
    return folder / "my_bench"


@pytest.fixture
def bench(here: Path, new_benchmark: Path) -> Path:
    """A folder with a new benchmark."""
    shutil.copytree(new_benchmark, here / "my_bench")
    return here


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    capsys.readouterr()
    code = run(list(arguments))
    out, err = capsys.readouterr()
    return code, out, err


# new


def test_what_new_writes_compiles_and_editors_find_its_schemas(bench: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["new", "second", "-o", "my_bench"]) == 0
    code, out, err = said(capsys, "compile", "my_bench", "--strict")
    assert code == 0 and "10 questions of 2 templates" in out, err
    for path in (bench / "my_bench").glob("*.yaml"):
        first = path.read_text().split("\n", 1)[0]
        named = first.removeprefix("# yaml-language-server: $schema=")
        assert named != first and json.loads((path.parent / named).read_text())["properties"]


def test_each_start_passes_a_check_and_the_oracle_scores_full_marks(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["new", "all", "--benchmark", "--catalog"]) == 0
    starts = ("choices", "assets", "sessions", "plain")
    for name in starts:
        assert run(["new", name, "-o", "all", *([] if name == "plain" else [f"--{name}"])]) == 0
        spec = yaml.safe_load((here / "all" / f"{name}.yaml").read_text())
        assert spec["examples"] and (name == "sessions" or (spec["checks"] and spec["mistakes"]))
    code, out, err = said(capsys, "check", "all")
    assert (code, out) == (0, "5 templates, 0 errors, 0 warnings\n"), err
    (here / "all" / "sessions.yaml").unlink()  # a session has no answer that an oracle could give
    assert run(["compile", "all", "--k", "20", "--strict", "-o", "out"]) == 0
    (bundle,) = (here / "out").glob("all-*")
    assert run(["run", str(bundle), "--model", "oracle", "-o", "oracle.run"]) == 0
    code, out, _ = said(capsys, "score", "oracle.run", "--json")
    assert code == 0 and json.loads(out)["models"][0]["counts"]["correct"] == 80


def test_two_benchmarks_have_canaries_of_their_own(bench: Path) -> None:
    assert run(["new", "other", "--benchmark"]) == 0
    lines = [(bench / name / "benchmark.yaml").read_text().split("canary: ")[1] for name in ("my_bench", "other")]
    assert lines[0][:36] != lines[1][:36]


def test_a_benchmark_may_fill_an_empty_folder(here: Path) -> None:
    (here / "empty").mkdir()
    assert run(["new", "empty", "--benchmark"]) == 0
    assert (here / "empty" / "benchmark.yaml").is_file()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["new", "my_bench", "--benchmark"], "my_bench already exists"),
        (["new", "first_template", "-o", "my_bench"], "my_bench/first_template.yaml already exists"),
        (["new", "third"], "has no benchmark.yaml"),
        (["new", "Third!"], "`Third!` is not a valid name"),
        (["new", "../up", "--benchmark"], "`../up` is not a valid name"),
        (
            ["new", "x", "--benchmark", "-o", "my_bench/benchmark.yaml"],
            "`my_bench/benchmark.yaml` is not a folder\n  help: choose",
        ),
        (["new", "x", "--assets", "--choices", "-o", "my_bench"], "cannot be combined"),
    ],
)
def test_new_replaces_nothing(
    bench: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    before = {path: path.read_bytes() for path in bench.rglob("*") if path.is_file()}
    code, _, err = said(capsys, *arguments)
    assert code == 2 and message in err
    assert before == {path: path.read_bytes() for path in bench.rglob("*") if path.is_file()}


# preview


def test_preview_shows_what_a_bundle_will_hold(bench: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = said(capsys, "preview", FIRST, "--json")
    assert code == 0
    (shown,) = json.loads(out)["templates"]
    assert run(["compile", "my_bench", "--k", "3", "-o", "out"]) == 0
    bundle = next((bench / "out").glob("my_bench-*"))
    questions = [json.loads(line) for line in (bundle / "questions.jsonl").read_text().splitlines()]
    answers = [json.loads(line) for line in (bundle / "answers.jsonl").read_text().splitlines()]
    assert [one["content"] for one in shown["instances"]] == [one["messages"][0]["content"] for one in questions]
    assert [one["answer"] for one in shown["instances"]] == [one["text"] for one in answers]
    assert [one["mistakes"] for one in shown["instances"]] == [one["mistakes"] for one in answers]
    code, out, _ = said(capsys, "preview", FIRST, "--instance", "2", "--json")
    assert json.loads(out)["templates"][0]["instances"][0]["content"] == questions[2]["messages"][0]["content"]
    code, out, _ = said(capsys, "preview", FIRST, "--seed", "7", "--json")
    assert json.loads(out)["templates"][0]["instances"][0]["content"] != questions[0]["messages"][0]["content"]


def test_preview_of_one_template_ignores_errors_of_others(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "benchmark.yaml").write_text("language: 1\nbenchmark: demo\n")
    (here / "p.yaml").write_text("template: p\ntitle: P\nanswer: {value: 1, type: integer}\nprompt: One?\n")
    (here / "other.yaml").write_text("template: other\ntitle:Other\n")
    assert said(capsys, "preview", "p.yaml")[0] == 0
    code, _, err = said(capsys, "preview", ".")
    assert code == 2 and "no space after `title:`" in err


def test_preview_shows_the_first_item_or_the_one_asked_for(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "benchmark.yaml").write_text("language: 1\nbenchmark: demo\n")
    (here / "p.yaml").write_text(
        "template: p\ntitle: P\nparams:\n  n: {type: choice, of: [9, 3]}\n  b: {type: integer, min: 0, max: = n}\n"
        'each: n\nanswer: {value: n + b, type: integer}\nprompt: "Q {{ n }} {{ b }}"\n'
    )
    assert "instance 6 of item `9` " in said(capsys, "preview", "p.yaml", "--instance", "6")[1]
    code, _, err = said(capsys, "preview", "p.yaml", "--instance", "10")
    assert code == 2 and "there is no instance 10" in err
    for item, name in (("3", "3"), ("0", "9")):  # a name comes before a number
        code, out, _ = said(capsys, "preview", "p.yaml", "--item", item, "--json")
        (facts,) = json.loads(out)["templates"]
        assert code == 0 and [entry["item"] for entry in facts["instances"]] == [name] * 3
        assert facts["instances"][0]["parameters"]["n"] == name
    code, _, err = said(capsys, "preview", "p.yaml", "--item", "3", "--instance", "6")
    assert code == 2 and "there is no instance 6" in err and "the item `3` has at most 4 instances" in err
    for item in ("2", "9" * 5000):
        code, _, err = said(capsys, "preview", "p.yaml", "--item", item)
        assert code == 2 and f"p.yaml:6:7: error[E505]: the template has no item `{item[:80]}`" in err
        assert "  help: its 2 items, numbered from 0: 9, 3\n" in err
    (here / "p.yaml").write_text((here / "p.yaml").read_text().replace("each: n\n", ""))
    assert said(capsys, "preview", "p.yaml", "--item", "0")[0] == 0
    code, _, err = said(capsys, "preview", "p.yaml", "--item", "9")
    assert code == 2 and "it has no `each`, so it is a single item" in err


def test_a_condition_that_nothing_meets_is_told_where_others_depend_on_it(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "benchmark.yaml").write_text("language: 1\nbenchmark: demo\n")
    (here / "t.yaml").write_text(
        "template: t\ntitle: T\nparams:\n  b: {type: integer, min: 0, max: 3, where: b > 9}\n"
        '  z: {type: integer, min: 0, max: = 3 + b}\nanswer: {value: b + z, type: integer}\nprompt: "Q {{ b }} {{ z }}"\n'
    )
    code, _, err = said(capsys, "check", ".")
    assert code == 2 and "t.yaml:4:45: error[E505]: no instance can be made\n" in err
    assert "no value of `b` that was drawn satisfies this condition: relax it, or widen the type" in err


def test_preview_in_words(bench: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = said(capsys, "preview", FIRST)
    assert code == 0
    for part in ("first_template: Pens in boxes", "1 check · 1 worked example", "instance 0 (", "instance 2 (",
                 "  mistake forgot_the_lost", "  | A shop receives", "explanation: ", "of 20 instances in all: "):  # fmt: skip
        assert part in out
    assert "A correct answer scores" not in out
    assert "A correct answer scores" in said(capsys, "preview", FIRST, "-v")[1]


def test_degrees_of_freedom_that_cannot_be_counted_are_estimated(
    bench: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    exact = sum(range(2, 61)) * sum(range(2, 91)) - 59 * 89  # of `boxes * pens - 1` values of `lost` for each pair
    for arguments in (["preview", FIRST], ["check", "-v", "my_bench"]):
        code, out, err = said(capsys, *arguments)
        estimate = re.search(r"possible instances: ~(\d\.?\d*)e6 \(estimated from 400 draws\)", out + err)
        assert code == 0 and estimate and abs(float(estimate[1]) * 1e6 / exact - 1) < 0.15
    assert run(["compile", "my_bench", "-q"]) == 0
    code, out, _ = said(capsys, "show", "build/my_bench-0.1.0-k5")
    assert code == 0 and "at least 5,251" in out  # the bundle holds the bound


COUNTRY = """template: {name}
title: Spelling
params:
  country: {{type: choice, of: [chad, peru, cuba]}}
{rest}
prompt: Spell {{{{ country }}}} in capitals.
answer: {{value: upper(country), type: text}}
variants: {{careful: {{append: Think twice.}}}}
"""


def test_instances_and_answers_are_counted_by_template(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["new", "mine", "--benchmark", "--sessions"]) == 0
    (talk,) = (path for path in (here / "mine").glob("*.yaml") if path.name != "benchmark.yaml")
    for name, rest in {"all": "instances: all", "few": "instances: 2", "one": "each: country"}.items():
        (here / "mine" / f"{name}.yaml").write_text(COUNTRY.format(name=name, rest=rest))
    code, _, err = said(capsys, "compile", "mine", "-v", "-o", ".")
    assert (
        code == 0 and "few: possible instances: 3; 2 distinct answers, the most common one in 50% of instances" in err
    ), err
    (of_sessions,) = (line for line in err.splitlines() if f" {talk.stem}: " in line)
    assert "possible instances: " in of_sessions and "answer" not in of_sessions
    _, shown, _ = said(capsys, "show", next(here.glob("mine-*-k5")).name)
    rows = [line.split() for line in shown[shown.index("Templates") :].splitlines()]
    assert rows[2][-3:] == ["k", "possible", "instances"]
    instances = {row[0]: row[-2] for row in rows[3:] if len(row) > 4}
    assert instances == {talk.stem: "5", "all": "3", "few": "2", "one": "1"}


def test_stress_measures_every_parameter(bench: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = said(capsys, "preview", FIRST, "--stress", "250", "--json")
    stress = json.loads(out)["templates"][0]["stress"]
    assert code == 0 and set(stress) == {"boxes", "pens", "lost"}
    for bins in stress.values():
        assert sum(row["count"] for row in bins) == 250 and 5 <= len(bins) <= 10
        assert all(row["from"] <= row["to"] and row["seconds"] > 0 for row in bins)
        assert all(lower["to"] < upper["from"] for lower, upper in pairwise(bins))  # no value is in two of them
    # the answer grows with the boxes: the plot must say so
    assert stress["boxes"][-1]["answer"] > stress["boxes"][0]["answer"]
    code, out, _ = said(capsys, "preview", FIRST, "--stress", "250")
    assert code == 0 and "run time" in out and "####" in out


def test_stress_groups_few_texts_by_themselves_and_names_what_has_no_table(
    bench: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path(FIRST).write_text(
        "template: first_template\ntitle: Words\nparams:\n"
        "  metal: {type: choice, of: [iron, gold, zinc]}\n"
        "  pair: {type: list, length: 2, of: {type: integer, min: 0, max: 999}}\n"
        "  code: {type: string, alphabet: = lower_letters, length: 8}\n"
        "answer: {value: max(pair), type: integer}\nprompt: '{{ metal }} {{ pair }} {{ code }}'\n"
    )
    code, out, _ = said(capsys, "preview", FIRST, "--stress", "60", "--json")
    stress = json.loads(out)["templates"][0]["stress"]
    assert code == 0 and set(stress) == {"metal"}
    assert [row["from"] for row in stress["metal"]] == ["gold", "iron", "zinc"]
    code, out, _ = said(capsys, "preview", FIRST, "--stress", "60")
    assert re.search("^metal +n  median run time", out, re.MULTILINE)
    assert out.endswith("no table for pair, code: values of the same length in all instances\n")
    code, out, _ = said(capsys, "preview", FIRST, "--stress", "10", "--json")
    assert "code" not in json.loads(out)["templates"][0]["stress"]  # each text once says nothing


def test_preview_draws_variants_and_refuses_what_is_not_there(bench: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = bench / FIRST
    path.write_text(path.read_text() + "variants: {careful: {append: Think twice.}}\n")
    code, out, _ = said(capsys, "preview", FIRST, "--instance", "0")
    assert code == 0 and "instance 0, variant careful" in out and "  | Think twice." in out
    text = path.read_text()
    path.write_text(text[: text.index("params:")] + "answer: {value: 7, type: integer}\nprompt: Seven?\n")
    assert run(["preview", FIRST]) == 0
    code, _, err = said(capsys, "preview", FIRST, "--instance", "3")
    assert code == 2 and "there is no instance 3" in err
    path.write_text(path.read_text().replace("value: 7", "value: 1 / 0"))
    code, out, err = said(capsys, "preview", FIRST)
    assert code == 2 and "error[E" in err and "first_template.yaml:8:" in err and not out


def test_preview_shows_control_characters_and_writes_nothing(bench: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = bench / FIRST
    path.write_text(path.read_text().replace("A shop receives", "A {{ from_char_code(27) }}[31mshop receives"))
    before = sorted(bench.rglob("*"))
    _, out, _ = said(capsys, "preview", FIRST)
    assert "\x1b" not in out and "shop" in out
    assert sorted(bench.rglob("*")) == before


# check --watch


@pytest.mark.slow
def test_watch_checks_again_when_a_file_changes_and_ends_with_an_interrupt(bench: Path) -> None:
    command = [sys.executable, "-m", "dia_compiler", "check", "my_bench", "--watch", "--jobs", "1"]
    with subprocess.Popen(command, cwd=bench, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as watching:
        assert watching.stdout is not None
        assert until(watching, "watching for changes") == "1 template, 0 errors, 0 warnings\n"
        path = bench / FIRST
        path.write_text(path.read_text().replace("value: boxes", "value: boxs"))
        until(watching, "1 template, 1 error,")
        path.write_text(path.read_text().replace("value: boxs", "value: boxes"))
        until(watching, "1 template, 0 errors,")
        watching.send_signal(signal.SIGINT)
        assert watching.wait(timeout=20) == 130


def until(process: subprocess.Popen[str], mark: str) -> str:
    """The line before the one that holds the mark."""
    last, end = "", time.monotonic() + 60
    assert process.stdout is not None
    while time.monotonic() < end and (line := process.stdout.readline()):
        if mark in line:
            return last
        last = line
    raise AssertionError(f"no line with {mark!r}; the last one was {last!r}")


# doctor


def test_doctor_tells_keys_by_name_alone(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FIRST_API_KEY", "sk-first-secret")
    (here / ".env").write_text("export SECOND_API_KEY='sk-second-secret'\nOTHER=sk-third\n# THIRD_API_KEY=x\n")
    for arguments in (["doctor"], ["doctor", "--json"]):
        code, out, err = said(capsys, *arguments)
        assert code == 0 and "FIRST_API_KEY" in out and "SECOND_API_KEY" in out
        assert "OTHER" not in out and "sk-" not in out + err and "secret" not in out + err
    facts = json.loads(out)
    assert facts["libraries"]["sympy"] and facts["extras"].keys() >= {"models", "parquet", "speed"}


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("one:two.yaml", "it contains a backslash or a colon"),
        ("First_Template.yaml", "on some systems it is the same file as `First_Template.yaml`"),
    ],
)
def test_names_of_files_that_no_bundle_can_have_are_refused(
    bench: Path, capsys: pytest.CaptureFixture[str], name: str, why: str
) -> None:
    Path("my_bench", name).write_text(Path(FIRST).read_text().replace("template: first_", "template: second_"))
    if len(list(Path("my_bench").glob("*.yaml"))) == 2:
        pytest.skip("on this system it is the same file")
    text = refused_call("E604", f"{why}\n  help: rename the file", capsys, "check", "my_bench")
    assert text.startswith(f"my_bench/{name if ':' in name else 'first_template.yaml'}:1:1: ")


# defaults
def test_defaults_come_from_dia_toml_and_the_command_line_wins(bench: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (bench / "pyproject.toml").write_text("[tool.dia]\njobs = 1\n[tool.dia.compile]\nk = 2\nout = 'project'\n")
    assert said(capsys, "compile", "my_bench")[1].startswith("project/my_bench-0.1.0-k2\n")
    (bench / "dia.toml").write_text("jobs = 1\n[compile]\nk = 4\nout = 'own'\n[score]\nchain = 'lenient'\n")
    assert said(capsys, "compile", "my_bench")[1].startswith("own/my_bench-0.1.0-k4\n")
    assert said(capsys, "compile", "my_bench", "--k", "3")[1].startswith("own/my_bench-0.1.0-k3\n")
    (bench / "dia.toml").write_text("to = 'an option of another command'\nverbose = true\n")
    assert said(capsys, "compile", "my_bench", "--k", "3")[0] == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[compile]\nkk = 3\n", "error[E605]: dia.toml: `compile` has no option `kk`\n  help: did you mean `k`?"),
        ("[compile]\nzzz = 3\n", "`compile` has no option `zzz`\n  help: `dia compile --help` lists them"),
        ("job = 3\n", "error[E605]: dia.toml: no command has an option `job`\n  help: did you mean `jobs`?"),
        ("[compil]\nk = 3\n", "error[E605]: dia.toml: unknown command `compil`\n  help: did you mean `compile`?"),
        ("k = 3\n[[", "error[E605]: dia.toml cannot be read: "),
        ("k = 3\nk 4", "(at line 2, column 3)\n  help: write TOML, for example `jobs = 2`"),
        (
            "[compile]\nk = 1.5\n",
            "`k` must be text, an integer, a list, true or false, not 1.5\n  help: write it in quotes",
        ),
        (
            "[compile]\nallow-programs = 1\n",
            "`allow-programs` can only be given on the command line\n  help: remove it",
        ),
        ("quiet = 3\n", "dia.toml: `quiet` must be true or false, not 3\n  help: write quiet = true"),
        ("[compile]\nk = [3]\n", "dia.toml: `k` must be a single value, not a list\n  help: remove the brackets"),
        ("[compile]\nk = true\n", "'true' is not a valid integer.\nThe value is a default in dia.toml.\n"),
        ("[compile]\nk = 'many'\n", "'many' is not a valid integer.\nThe value is a default in dia.toml.\n"),
        ("k = " + "[" * 5000, "dia.toml cannot be read: nested too deeply"),
        ("\x00", "dia.toml cannot be read: "),
    ],
)
def test_defaults_that_cannot_be_are_told(
    bench: Path, capsys: pytest.CaptureFixture[str], text: str, message: str
) -> None:
    (bench / "dia.toml").write_text(text)
    code, out, err = said(capsys, "compile", "my_bench")
    assert code == 2 and message in err and not out and "Traceback" not in err


# completion


@pytest.mark.parametrize(
    ("words", "expected"),
    [("dia com", "plain,compile"), ("dia compile --stri", "plain,--strict"), ("dia check --format g", "plain,github")],
)
def test_the_shell_completes(here: Path, words: str, expected: str) -> None:
    environment = {**os.environ, "_DIA_COMPLETE": "bash_complete", "COMP_WORDS": words,
                   "COMP_CWORD": str(len(words.split()) - 1)}  # fmt: skip
    command = [sys.executable, "-m", "dia_compiler"]
    done = subprocess.run(command, cwd=here, env=environment, capture_output=True, text=True, check=True)
    assert expected in done.stdout.splitlines()


# progress


@pytest.mark.long
def test_a_terminal_sees_a_bar_and_a_pipe_none(bench: Path) -> None:
    command = [sys.executable, "-m", "dia_compiler", "compile", "my_bench", "--k", "20000"]  # a bar comes after a while
    terminal, child = pty.openpty()
    with subprocess.Popen(command, cwd=bench, stdout=subprocess.PIPE, stderr=child, text=True) as running:
        os.close(child)
        shown = b""
        while part := read(terminal):
            shown += part
        assert running.wait(timeout=60) == 0, shown
    os.close(terminal)
    assert b"first_template" in shown and b"\x1b[" in shown and b"E900" not in shown
    piped = subprocess.run([*command, "-q"], cwd=bench, capture_output=True, text=True, check=True)
    assert piped.stderr == ""


def read(terminal: int) -> bytes:
    """What the terminal got; nothing at its end, which Linux tells by an error."""
    try:
        return os.read(terminal, 65536)
    except OSError:
        return b""


# pre-commit


def test_the_hook_for_pre_commit_runs(bench: Path) -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    (bench / "my_bench").rename(bench / "specs")
    program, *arguments = [*shlex.split(hook["entry"]), *hook["args"]]
    assert program == "dia" and hook["language"] == "python" and hook["pass_filenames"] is False
    assert run(arguments) == 0
    path = bench / "specs" / "first_template.yaml"
    path.write_text(path.read_text().replace("value: boxes", "value: boxs"))
    assert run(arguments) == 2
    assert re.search(hook["files"], path.name) and not re.search(hook["files"], "README.md")


@needs_fork
def test_a_preview_shows_how_far_it_is(bench: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[str, int, int]] = []
    spec = bench / "my_bench" / "first_template.yaml"
    (one,) = preview(spec, stress=30, on_progress=lambda *call: calls.append(call))[0]
    assert calls[0] == ("first_template", 0, 30) and calls[-1] == ("first_template", 30, 30) and len(one.samples) == 30
    assert [done for _, done, _ in calls] == sorted(done for _, done, _ in calls)
    monkeypatch.setattr("dia_compiler.authoring.preview.BATCH_SECONDS", 0.02)
    spec.write_text(
        spec.read_text().replace("boxes * pens - lost\n", "boxes * pens - lost + 0 * length(range(10**6))\n")
    )
    calls.clear()
    preview(spec, stress=5, on_progress=lambda *call: calls.append(call))
    assert {done for _, done, _ in calls} - {0, 5}, "progress is reported before the end"


@needs_fork
def test_a_check_of_slow_instances_shows_how_far_it_is(bench: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dia_compiler.distribute.task.BATCH_SECONDS", 0.02)
    spec = bench / "my_bench" / "first_template.yaml"
    slow = "boxes * pens - lost + 0 * length(range(10**6))"
    spec.write_text(spec.read_text().replace("boxes * pens - lost\n", f"{slow}\n"))
    counts: set[int] = set()
    check_specs([spec], k=5, on_progress=lambda _, done, total: counts.add(done))
    assert counts - {0, 5}, "progress is reported before a whole batch of rows is made"


def test_a_template_of_many_items_is_reported_once_with_all_its_questions(tmp_path: Path) -> None:
    (tmp_path / "benchmark.yaml").write_text("language: 2\nbenchmark: items\n")
    (tmp_path / "sums.yaml").write_text(
        "template: sums\ntitle: Sums\nparams: {a: {type: integer, min: 1, max: 90}, b: {type: integer, min: 1, max: 99}}\n"
        "each: a\nanswer: {value: a + b, type: integer}\nprompt: What is {{ a }} + {{ b }}?\n"
    )
    calls: list[tuple[int, int]] = []
    compile(
        [tmp_path], k=5, out=tmp_path / "out", jobs=1, on_progress=lambda _, done, total: calls.append((done, total))
    )
    assert [call for call in calls if call[0] == call[1]] == [(450, 450)]
