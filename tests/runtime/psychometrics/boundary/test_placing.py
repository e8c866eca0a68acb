"""Placements by the commands: simulated models, recorded ones, interrupted ones, and what cannot be placed."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dia_compiler.commands.cli import run
from dia_runtime.bundle.open import open_bundle
from dia_runtime.commands import progress_lines
from dia_runtime.psychometrics.boundary.placement import StoppingRule
from dia_runtime.psychometrics.boundary.placing import PlacementOptions, place
from dia_runtime.psychometrics.rasch.bank import Bank, BankItem, read_bank, write_bank
from dia_runtime.running.claims import Claims
from dia_runtime.store.store import open_store, read_store
from helpers import loopback as loop
from helpers.places import SHARED
from helpers.schemas import require_valid

DATA = SHARED / "data" / "idk"
Call = Callable[..., tuple[int, str, str]]
NUMBER = 120
SPEC = """template: sum
title: A sum
params: {a: {type: integer, min: 2, max: 999}, b: {type: integer, min: 2, max: 999}}
answer: {value: a + b, type: integer}
mistakes: {one_more: a + b + 1}
checks: [answer - b == a]
prompt: What is {{ a }} + {{ b }}?
"""


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    monkeypatch.chdir(tmp_path)

    def called(*arguments: object) -> tuple[int, str, str]:
        capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        return code, *capsys.readouterr()

    return called


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with specs and, in `out`, their bundle: each test takes a copy."""
    folder = tmp_path_factory.mktemp("compiled")
    specs = folder / "specs"
    specs.mkdir()
    (specs / "benchmark.yaml").write_text("language: 1\nbenchmark: sums\nversion: 1.0.0\n", encoding="utf-8")
    (specs / "sum.yaml").write_text(SPEC, encoding="utf-8")
    assert run(["compile", str(specs), "--k", str(NUMBER), "-o", str(folder / "out"), "-q"]) == 0
    return folder


@pytest.fixture
def bundle(call: Call, compiled: Path) -> Path:
    shutil.copytree(compiled, Path(), dirs_exist_ok=True)
    (found,) = Path("out").glob("sums*")
    return found


@pytest.fixture
def bank(bundle: Path) -> Path:
    """Every instance an item, of difficulties from -3 to 3."""
    b = np.random.default_rng(5).permutation(np.linspace(-3, 3, NUMBER))
    items = [BankItem(f"sums/sum/{at}", float(round(value, 6))) for at, value in enumerate(b)]
    write_bank(Bank(tuple(items), (), "mml_items", "mean_difficulty", unit="instances"), "bank.json")
    return Path("bank.json")


def checked(text: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(text)
    require_valid("place", found)
    return found


def test_a_model_of_known_ability_is_found_by_few_questions(call: Call, bundle: Path, bank: Path) -> None:
    model = f"simulated:theta=0.8,bank={bank}"
    asked = (
        "place",
        "--bank",
        bank,
        "--bundle",
        bundle,
        "--model",
        model,
        "-o",
        "a.run",
        "--se",
        "0.4",
        "--json",
        "-q",
    )
    code, out, told = call(*asked)
    assert code == 0, told
    (one,) = checked(out)["models"]
    assert one["ending"] == "se" and one["se"] <= 0.4 and not one["outside_coverage"]
    assert abs(one["ability"] - 0.8) < 3 * one["se"] and 20 <= one["items"] <= 40
    with read_store("a.run") as store:
        assert store.rows("SELECT count(*) FROM reply") == [(one["items"],)], "nothing else was asked"
    code, out, _ = call(*asked)
    (again,) = checked(out)["models"]
    assert (again["ability"], again["se"]) == pytest.approx((one["ability"], one["se"]))
    with read_store("a.run") as store:
        assert store.rows("SELECT count(*) FROM reply") == [(one["items"],)], "nothing is asked twice"


def test_an_interrupted_placement_goes_on(call: Call, bundle: Path, bank: Path) -> None:
    model = f"simulated:theta=-0.5,bank={bank}"
    common = ("place", "--bank", bank, "--bundle", bundle, "--model", model, "--se", "0.45", "-q", "--json")
    code, out, _ = call(*common, "-o", "part.run", "--budget", "9")
    assert (code, checked(out)["models"][0]["ending"], checked(out)["models"][0]["items"]) == (0, "budget", 9)
    with open_store("part.run", open_bundle(bundle).questions_root) as store:
        other = Claims(store)
        other.register()
        other.claim(1, [(position, 1) for position in range(NUMBER)])
        code, _, told = call(*common, "-o", "part.run")
        message = "error[E804]: another process is asking the same model and writing to `part.run`\n  help: wait"
        assert code == 2 and message in told
        other.unregister()
    code, out, _ = call(*common, "-o", "part.run")
    (one,) = checked(out)["models"]
    assert code == 0 and one["ending"] == "se" and len({step["item"] for step in one["steps"]}) == one["items"]
    with read_store("part.run") as store:
        assert store.rows("SELECT count(*) FROM reply") == [(one["items"],)]


def test_recorded_replies_are_placed_in_the_order_of_asking(call: Call, bundle: Path, bank: Path) -> None:
    model = f"simulated:theta=1.2,bank={bank}"
    assert call("run", bundle, "--model", model, "--model", "oracle", "-o", "all.run", "-q")[0] == 0
    code, out, _ = call("place", "--bank", bank, "--replay", "all.run", "--se", "0.4", "--json")
    placed = {one["model"]: one for one in checked(out)["models"]}
    assert code == 0 and abs(placed[model]["ability"] - 1.2) < 3 * placed[model]["se"]
    assert placed["oracle"]["outside_coverage"] and placed["oracle"]["ability"] > 3
    difficulties = [step["difficulty"] for step in placed["oracle"]["steps"]]
    assert difficulties[:3] == sorted(difficulties[:3]) and max(difficulties[:4]) == max(difficulties)
    code, out, _ = call("place", "--bank", bank, "--replay", "all.run", "--model", "oracle")
    assert code == 0 and out.count("\n") == 1 and "too few items near this ability" in out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--model", "oracle"), "`--bundle` is missing\n  help: give either `--bundle BUNDLE --model NAME`"),
        ((), "no model is named\n"),
        (
            ("--replay", "all.run", "--model", "nobody"),
            "no run has replies from `nobody`\n  help: `dia show RUN` lists",
        ),
    ],
)
def test_what_cannot_be_placed_is_told(
    options: tuple[str, ...], words: str, call: Call, bundle: Path, bank: Path
) -> None:
    assert call("run", bundle, "--model", "oracle", "-o", "all.run", "-q")[0] == 0
    code, out, told = call("place", "--bank", bank, *options)
    assert (code, out) == (2, "") and f"error[E896]: {words}" in told


def test_a_bank_of_other_questions_and_a_damaged_one_are_told(call: Call, bundle: Path, bank: Path) -> None:
    items = (BankItem("others/sum/0", 0.0), BankItem("others/sum/1", 0.0))
    write_bank(Bank(items, (), "jml", "mean_difficulty"), "other.json")
    code, _, told = call("place", "--bank", "other.json", "--bundle", bundle, "--model", "oracle", "-o", "a.run")
    error = "error[E896]: only 0 of the bank's 2 items are among the questions; at least 2 are needed\n  help: name the"
    assert code == 2 and error in told
    bank.write_text(bank.read_text(encoding="utf-8").replace("-3.0", "-2.0", 1), encoding="utf-8")
    code, _, told = call("place", "--bank", bank, "--bundle", bundle, "--model", "oracle", "-o", "b.run")
    assert code == 3 and "checksum" in told and not Path("b.run").exists()


def test_a_bank_knows_its_questions_from_others_of_their_names(call: Call, bundle: Path) -> None:
    models = [f"simulated:theta={theta}" for theta in (1, 0, -1)]
    assert call("run", bundle, *(part for name in models for part in ("--model", name)), "-o", "own.run", "-q")[0] == 0
    assert call("calibrate", "own.run", "-o", "own.json", "-q")[0] == 0
    assert call("compile", "specs", "--k", NUMBER, "--seed", "other", "-o", "others", "-q")[0] == 0
    (other,) = Path("others").glob("sums*")
    code, out, told = call("place", "--bank", "own.json", "--bundle", other, "--model", "oracle", "-o", "a.run")
    assert (code, out) == (2, "") and "calibrated on other instances" in told and not Path("a.run").exists()
    assert call("run", other, "--model", models[0], "--model", models[2], "-o", "other.run", "-q")[0] == 0
    for command in (("place", "--bank", "own.json", "--replay", "other.run"), ("explain", "other.run", "--bank",
                    "own.json"), ("calibrate", "other.run", "--anchors", "own.json", "-o", "b.json")):  # fmt: skip
        code, out, told = call(*command)
        assert (code, out) == (2, "") and "error[E802]" in told, command
    assert call("place", "--bank", "own.json", "--replay", "own.run", "-q")[0] == 0
    held = read_bank("own.json")
    templates = (BankItem("sum", 0.5), BankItem("sums", -0.5))
    write_bank(Bank(templates, (), "jml", "mean_difficulty", unit="templates",
                    questions_root=held.questions_root), "t.json")  # fmt: skip
    assert "among the questions" in call("place", "--bank", "t.json", "--replay", "other.run")[2]


# Progress and what is no full answer


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")


def asked_of(call: Call, bundle: Path, bank: Path, answer: loop.Answer, *more: object) -> tuple[int, str, str]:
    """Place a model of a server; return the exit code, the output and the messages."""
    common = ("place", "--bank", bank, "--bundle", bundle, "--model", "openai/m", "--budget", 5, "-o", "a.run")
    with loop.serve(answer) as server:
        return call(*common, "--base-url", server.url, *more)


@pytest.mark.usefixtures("key")
def test_a_line_of_progress_says_where_the_model_stands(
    call: Call, bundle: Path, bank: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress_lines, "LINE_SECONDS", 0.0)
    answer = loop.says("<xml>5</xml>", delay=0.05)  # as long as replies are written one by one
    code, out, messages = asked_of(call, bundle, bank, answer, "--concurrency", 1, "--temperature", "0,1")
    assert code == 0 and out.count("\n") == 2
    shown = re.findall(r"openai/m@([01]): ([1-5]) items?, -[0-9]\.[0-9]{2} \+- [0-9]\.[0-9]{2} logits\n", messages)
    for temperature in "01":
        counts = [int(number) for one, number in shown if one == temperature]
        assert len(counts) >= 2 and counts == sorted(counts), messages


@pytest.mark.usefixtures("key")
def test_a_quiet_placement_writes_no_progress(
    call: Call, bundle: Path, bank: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress_lines, "LINE_SECONDS", 0.0)
    code, _, messages = asked_of(call, bundle, bank, loop.says("<xml>5</xml>"), "-q")
    assert code == 0 and "logits" not in messages and "replies in" not in messages


@pytest.mark.usefixtures("key")
def test_a_placement_says_which_replies_are_no_answers(call: Call, bundle: Path, bank: Path) -> None:
    code, _, messages = asked_of(call, bundle, bank, loop.says("Let me", ending="length"))
    assert (
        code == 0
        and "openai/m: replies cut off at the token limit: 5 of 5. `dia show RUN` names one, and `dia show RUN QUESTION` prints it."
        in messages
    )


@pytest.mark.usefixtures("key")
@pytest.mark.parametrize("quiet", [(), ("-q",)])
def test_a_placement_says_why_questions_have_no_reply(
    call: Call, bundle: Path, bank: Path, quiet: tuple[str, ...]
) -> None:
    answer = loop.first(2, loop.says("<xml>5</xml>"), loop.fails(400, "this prompt offends me"))
    code, _, messages = asked_of(call, bundle, bank, answer, "--concurrency", 1, *quiet)
    assert code == 1 and "openai/m: 118 errors: request: 400 this prompt offends me" in messages, (code, _, messages)


@pytest.mark.slow
def test_a_killed_placement_loses_and_repeats_nothing(call: Call, bundle: Path, bank: Path) -> None:
    program = "import json, sys, time\nfor line in sys.stdin:\n    time.sleep(0.05)\n    asked = json.loads(line)\n" \
              "    print(json.dumps({'id': asked['id'], 'text': '<xml>5</xml>'}), flush=True)\n"  # fmt: skip
    Path("model.py").write_text(program, encoding="utf-8")
    command = [sys.executable, "-m", "dia_compiler.commands.cli", "place", "--bank", str(bank), "--bundle", str(bundle),
               "--model", f"command:{shlex.quote(sys.executable)} model.py", "-o", "a.run", "--budget", "30", "-q"]  # fmt: skip
    for _ in range(3):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        time.sleep(1.6)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert subprocess.run(command, check=False, stdout=subprocess.DEVNULL).returncode == 0
    with read_store("a.run") as store:
        assert store.rows("SELECT count(*), count(DISTINCT question) FROM reply") == [(30, 30)]


def test_several_questions_an_item_are_all_asked_before_it_counts(bundle: Path, tmp_path: Path) -> None:
    items = tuple(BankItem(f"sums/sum/{at}", 0.0) for at in range(2))
    bank = Bank((BankItem("sum", 0.0), *items), (), "jml", "mean_difficulty", unit="items")
    found, _ = place(bank, bundle, "oracle", tmp_path / "c.run", PlacementOptions(StoppingRule(0.1, trials=5)))
    by_item = {step.item: (step.successes, step.trials) for step in found[0].steps}
    assert by_item == {"sum": (5, 5), "sums/sum/0": (1, 1), "sums/sum/1": (1, 1)} and found[0].ending == "exhausted"


@pytest.mark.skipif(not DATA.is_dir(), reason=f"the recorded replies are not in {DATA}")
def test_a_model_left_out_of_the_panel_is_placed_where_all_its_replies_have_it(call: Call) -> None:
    """Five models replied to the 198 questions of GPQA; the fourth is placed on the bank of the others."""
    files = sorted(DATA.glob("gpqa__*.jsonl.gz"))
    fields = (
        "--field",
        "id=sample_id",
        "--field",
        "gold=gold",
        "--field",
        "reply=response",
        "--letters",
        "A-E",
        "--skip",
        "E",
    )
    for at, file in enumerate(files):
        assert call("import", file, "--from", "jsonl", *fields, "--model", f"m{at}", "-o", f"{at}.run", "-q")[0] == 0
    panel = [f"{at}.run" for at in range(len(files)) if at != 3]
    assert call("calibrate", *panel, "-o", "bank.json", "-q")[0] == 0
    code, out, _ = call(
        "place", "--bank", "bank.json", "--replay", "3.run", "--se", "0.4", "--json", "--chain", "compat"
    )
    (few,) = checked(out)["models"]
    code, out, _ = call(
        "place", "--bank", "bank.json", "--replay", "3.run", "--se", "0.01", "--json", "--chain", "compat"
    )
    (whole,) = checked(out)["models"]
    assert code == 0 and whole["ending"] == "exhausted" and few["items"] < whole["items"]
    assert abs(few["ability"] - whole["ability"]) < 2.5 * few["se"]
    assert len(read_bank("bank.json").models) == len(files) - 1


def test_a_base_url_that_nothing_would_be_asked_at_is_refused(call: Call, bundle: Path, bank: Path) -> None:
    url = ("--base-url", "http://127.0.0.1:9/v1")
    for model in ("oracle", f"simulated:theta=0.8,bank={bank}"):
        code, out, told = call("place", "--bank", bank, "--bundle", bundle, "--model", model, *url, "-o", "a.run")
        assert (code, out) == (2, "") and "E849" in told and not Path("a.run").exists()
    code, out, told = call("explore", "specs/sum.yaml", "--bank", bank, "--model", "oracle", "--ability", 1, *url)
    assert (code, out) == (2, "") and "E849" in told and not Path("build").exists()
