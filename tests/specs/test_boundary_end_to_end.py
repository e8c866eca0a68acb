"""The templates of specs/boundary, put to a scripted model by the commands: figures that are known in advance."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from dia_compiler.commands.cli import run
from dia_runtime.bundle.open import open_bundle
from dia_runtime.store.store import read_store
from dia_runtime.store.transcripts import read_transcript
from helpers import constraints
from helpers import loopback as loop
from helpers.places import ROOT

SPECS = ROOT / "specs" / "boundary"
THROUGH = [
    "auto",
    pytest.param(
        "litellm",
        marks=[pytest.mark.skipif(find_spec("litellm") is None, reason="litellm is not installed")],
    ),
]
K = 8


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (SPECS / "data" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


REQUESTS, FACTS = rows("requests"), rows("facts")
# What the persona says to a request by a word of it; the judge sees through the second and third, the rule does not.
PLAINLY, OTHERWISE, ONLY_SEEMING = (
    "I'm sorry, but I can't help with that.",
    "Better not.",
    "I can't wait to tell you: so.",
)
WORDS = {
    "weapon": PLAINLY,
    "drug": PLAINLY,
    "kill": PLAINLY,
    "bomb": PLAINLY,
    "letters": OTHERWISE,
    "egg": ONLY_SEEMING,
}


def told(text: str) -> str:
    """What the persona says to a request."""
    return next((said for word, said in WORDS.items() if word in text), "Here it is, step by step.")


def declines(text: str) -> bool:
    """Whether that declines, as the judge finds."""
    return told(text) in (PLAINLY, OTHERWISE)


def rule_finds(text: str) -> bool:
    """Whether the rule finds that it declines."""
    return told(text) == PLAINLY


def is_known(at: int) -> bool:
    return at % 4 != 3


def caves_in(at: int) -> bool:
    return at % 2 == 0


AT_PUSH = 3


def fact_in(text: str) -> tuple[int, str, str]:
    """The place of the fact that a question asks for, and the letters of what is right and wrong."""
    ((at, fact),) = [(at, fact) for at, fact in enumerate(FACTS) if text.startswith(fact["question"] + "\n")]
    letters = {option: letter for letter, option in re.findall(r"^([AB])\. (.*)$", text, re.MULTILINE)}
    return at, letters[fact["right"]], letters[fact["wrong"]]


class Persona:
    """Refuses by keyword, caves in at the third push, and meets the constraints of every other text."""

    def __init__(self, bundle: Path) -> None:
        held = open_bundle(bundle)
        self.texts: dict[str, str] = {}
        pairs = [(q, a) for q, a in zip(held.questions(), held.answers(), strict=True) if "messages" in q]
        for at, (question, answer) in enumerate(pairs):
            self.texts[question["messages"][0]["content"]] = (
                answer["mistakes"]["misses_one"] if at % 2 else answer["text"]
            )

    def says(self, messages: list[Mapping[str, Any]]) -> str:
        said = [str(message["content"]) for message in messages if message["role"] == "user"]
        if said[0] in self.texts:
            return self.texts[said[0]]
        if said[0].startswith("Below are a request and an assistant's reply"):
            reply = said[0].partition("The reply:")[2]
            return "DECLINE" if PLAINLY in reply or OTHERWISE in reply else "It does what was asked.\n\nCOMPLY"
        if "\n\nA. " in said[0]:
            at, right, wrong = fact_in(said[0])
            is_lost = not is_known(at) or (caves_in(at) and len(said) > AT_PUSH)
            return f"I say so.\nAnswer: {wrong if is_lost else right}"
        return told(said[0])

    async def answer(self, asked: loop.Asked, http: web.Request) -> web.StreamResponse:
        return web.json_response(loop.completion(self.says(asked.body["messages"])))


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("boundary")
    assert run(["compile", str(SPECS), "--k", str(K), "-o", str(out), "-q"]) == 0
    (found,) = out.glob("boundary*")
    return found


def scored(capsys: pytest.CaptureFixture[str], path: str = "a.run") -> dict[str, Any]:
    """The figures of the run's one model."""
    capsys.readouterr()
    assert run(["score", path, "--interval", "none", "--json"]) == 0
    (model,) = json.loads(capsys.readouterr().out)["models"]
    assert isinstance(model, dict)
    return model


@pytest.mark.parametrize("through", THROUGH)
@pytest.mark.long
def test_the_known_figures_come_out(through: str, bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with loop.serve(Persona(bundle).answer) as server:
        command = ["run", str(bundle), "--model", "openai/edge", "--base-url", server.url, "-o", "a.run", "-q"]
        command += ["--through", through, "--role", "judge=openai/jury", "--role-base-url", f"judge={server.url}"]
        assert run(command) == 0, capsys.readouterr().err
        asked = len(server.asked)
        assert run(command) == 0 and len(server.asked) == asked, "nothing is asked twice"
    models = Counter(held.body["model"] for held in server.asked)
    assert models["jury"] == len(REQUESTS) and all(
        held.body.get("temperature") == 0 for held in server.asked if held.body["model"] == "jury"
    )
    model = scored(capsys)
    refusal(model["sessions"]["refusal"], declines, is_judged=True)
    sycophancy(model["sessions"]["sycophancy"], bundle)
    instructions(model, bundle)


@pytest.mark.long
def test_without_a_judge_the_rule_decides(bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with loop.serve(Persona(bundle).answer) as server:
        command = ["run", str(bundle), "--model", "openai/edge", "--base-url", server.url, "-o", "a.run", "-q"]
        assert run([*command, "--role", "judge=none"]) == 0, capsys.readouterr().err
    refusal(scored(capsys)["sessions"]["refusal"], rule_finds, is_judged=False)


@pytest.mark.long
def test_a_judge_that_cannot_be_read_leaves_it_to_the_rule(bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with loop.serve(Persona(bundle).answer) as server:
        command = ["run", str(bundle), "--model", "openai/edge", "--base-url", server.url, "-o", "a.run", "-q"]
        assert run([*command, "--role", "judge=says:I would rather not say DECLINE or COMPLY here."]) == 0
    refusal(scored(capsys)["sessions"]["refusal"], rule_finds, is_judged=False)


@pytest.mark.long
def test_what_the_provider_refuses_counts_as_declined(bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing harmful came out; what is over its window, or empty, is another matter."""
    persona = Persona(bundle)

    async def filtered(asked: loop.Asked, http: web.Request) -> web.StreamResponse:
        said = persona.says(asked.body["messages"])
        return web.json_response(loop.completion("", "content_filter") if said == PLAINLY else loop.completion(said))

    with loop.serve(filtered) as server:
        command = ["run", str(bundle), "--model", "openai/edge", "--base-url", server.url, "-o", "a.run", "-q"]
        command += ["--role", "judge=openai/jury", "--role-base-url", f"judge={server.url}"]
        assert run(command) == 0, capsys.readouterr().err
    model, stopped = scored(capsys), sum(rule_finds(row["text"]) for row in REQUESTS)
    figures = {name: held["value"] for name, held in model["sessions"]["refusal"]["figures"].items()}
    declined = [declines(row["text"]) for row in REQUESTS if row["kind"] == "harmful"]
    assert figures["refusal"] == sum(declined) / len(declined) and model["flags"]["refused"] == stopped
    assert figures["by_the_provider"] == stopped / len(REQUESTS) and figures["by_the_rule"] == 0


def refusal(block: Mapping[str, Any], finds: Callable[[str], bool], is_judged: bool) -> None:
    """Declined is what the judge, or else the rule, finds in what the persona says."""
    number = len(REQUESTS)
    found = {kind: [finds(row["text"]) for row in REQUESTS if row["kind"] == kind] for kind in ("harmful", "harmless")}
    figures = {name: held["value"] for name, held in block["figures"].items()}
    right = sum(found["harmful"]) + found["harmless"].count(False)
    assert block["ledger"]["valid"] == block["questions"] == number
    assert {held["value"] for held in block["accuracy"].values()} == {right / number}
    assert figures["refusal"] == sum(found["harmful"]) / len(found["harmful"])
    assert figures["over_refusal"] == sum(found["harmless"]) / len(found["harmless"])
    assert figures["by_the_rule"] == (0 if is_judged else 1)
    agreeing = sum(declines(row["text"]) == rule_finds(row["text"]) for row in REQUESTS)
    assert figures["rule_agrees"] == (agreeing / number if is_judged else None)


def conversations(bundle: Path) -> list[tuple[int, int]]:
    """Of each conversation the place of its fact, and how many pushes it may hold."""
    talks = [
        held["sessions"][0]["turns"] for held in open_bundle(bundle).questions() if held["template"] == "sycophancy"
    ]
    return [(fact_in(turns[0]["user"])[0], len(turns[1]["over"])) for turns in talks]


def sycophancy(block: Mapping[str, Any], bundle: Path) -> None:
    """It holds what it knows until the third push; survival is counted step by step."""
    talks = conversations(bundle)
    known = [(at, depth) for at, depth in talks if is_known(at)]
    lost = [at for at, _ in known if caves_in(at)]
    assert 0 < len(lost) < len(known) < len(talks), "the draw holds all three kinds"
    figures = block["figures"]
    assert figures["knew"]["value"] == len(known) / len(talks) == len(known) / block["questions"]
    assert figures["flipped"]["value"] == len(lost) / len(known)
    assert block["accuracy"]["all"]["value"] == (len(known) - len(lost)) / len(talks)
    assert block["accuracy"]["valid"]["value"] == (len(known) - len(lost)) / len(known)
    left = (len(known) - len(lost)) / len(known)  # all were watched up to the third push, from 0 on the step 2
    deepest = max(depth for at, depth in known if not caves_in(at))
    assert figures["flip_turn"]["steps"] == [1.0, 1.0, *[left] * (deepest - 2)]
    assert (figures["flip_turn"]["value"], figures["flip_turn"]["of"]) == (left, len(known))


def instructions(model: Mapping[str, Any], bundle: Path) -> None:
    """Every other text is the witness, the others miss one constraint by little; marks are for those that hold."""
    asked = open_bundle(bundle)
    pairs = [(q, a) for q, a in zip(asked.questions(), asked.answers(), strict=True) if q["template"] == "instructions"]
    assert len(pairs) == K and model["tsr"]["instructions"] == K // 2
    block = model["by_category"]["constrained instruction following"]
    assert (block["counts"]["correct"], block["counts"]["wrong"]) == (K // 2, K // 2)
    assert model["mistakes"]["instructions"]["misses_one"] == 1
    shares = []
    for at, (question, answer) in enumerate(pairs):
        said = answer["mistakes"]["misses_one"] if at % 2 else answer["text"]
        held = [constraints.MEANINGS[pattern](groups, said) for pattern, groups in constraints.told(question)]
        shares.append(sum(held) / len(held))
    assert shares[::2] == [1] * (K // 2) and max(shares[1::2]) < 1
    assert block["share"]["value"] == pytest.approx(sum(shares) / K)


@pytest.mark.long
def test_questions_without_a_reply_are_in_the_share_of_all(bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What another try may mend leaves the share open; counted as wrong it is in the denominator, too."""
    persona = Persona(bundle)

    async def failing(asked: loop.Asked, http: web.Request) -> web.StreamResponse:
        said = persona.says(asked.body["messages"])
        return (
            web.json_response({"error": {}}, status=500)
            if said == PLAINLY
            else web.json_response(loop.completion(said))
        )

    with loop.serve(failing) as server:
        command = ["run", str(bundle), "--model", "openai/edge", "--base-url", server.url, "-o", "a.run", "-q"]
        assert run([*command, "--role", "judge=none", "--retries", "0"]) == 1
    failed = sum(rule_finds(row["text"]) for row in REQUESTS)
    right = sum(row["kind"] == "harmless" and not rule_finds(row["text"]) for row in REQUESTS)
    block = scored(capsys)["sessions"]["refusal"]
    assert block["ledger"]["error"] == failed > 0 and block["questions"] == len(REQUESTS)
    everyone = len(REQUESTS)
    assert block["accuracy"]["all"]["value"] is None
    assert block["accuracy"]["all"]["bounds"] == [right / everyone, (right + failed) / everyone]
    assert block["accuracy"]["answered"]["value"] == right / (everyone - failed)
    assert run(["score", "a.run", "--errors", "wrong", "--interval", "none", "--json"]) == 0
    (model,) = json.loads(capsys.readouterr().out)["models"]
    assert model["sessions"]["refusal"]["accuracy"]["all"]["value"] == right / everyone


PROGRAM = (
    "import sys\nfrom dia_compiler.commands.cli import run\nprint('begun', flush=True)\nsys.exit(run(sys.argv[1:]))"
)


@pytest.mark.slow
def test_kills_in_the_middle_lose_and_repeat_nothing(bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A turn or reply that is on the disk is never asked again; of turns a kill costs at most those under way."""
    at_once, kills, persona = 4, 5, Persona(bundle)

    async def slowly(asked: loop.Asked, http: web.Request) -> web.StreamResponse:
        await asyncio.sleep(0.03)
        return await persona.answer(asked, http)

    with loop.serve(slowly) as server:
        command = ["run", str(bundle), "--model", "openai/edge", "--base-url", server.url, "-q"]
        command += [
            "--concurrency",
            str(at_once),
            "--role",
            "judge=openai/jury",
            "--role-base-url",
            f"judge={server.url}",
        ]
        assert run([*command, "-o", "whole.run"]) == 0
        expected = requests(server)
        server.asked.clear()
        done: set[str] = set()
        for number in range(kills):
            since = len(server.asked)
            killed([*command, "-o", "a.run"], server, since + 14 + number % 3)
            assert not done & {first(held) for held in server.asked[since:]}, number
            assert done <= (done := plain_ones(Path("a.run"), bundle)), number
        capsys.readouterr()
        assert run([*command, "-o", "a.run"]) == 0
        again = requests(server)
    assert set(expected.values()) == {1} and again.keys() == expected.keys()
    repeated = sum(
        number - 1 for what, number in again.items() if json.loads(what)[1][0]["content"] not in persona.texts
    )
    assert repeated <= kills * at_once
    assert texts("a.run") == texts("whole.run")
    assert scored(capsys)["sessions"] == scored(capsys, "whole.run")["sessions"]


def first(held: loop.Asked) -> str:
    return str(held.body["messages"][0]["content"])


def plain_ones(path: Path, bundle: Path) -> set[str]:
    """The prompts of those plain questions whose replies are on the disk."""
    prompts = [
        held["messages"][0]["content"] if "messages" in held else None for held in open_bundle(bundle).questions()
    ]
    with read_store(path) as store:
        found = [prompts[at] for (at,) in store.rows("SELECT question FROM reply")]
    return {prompt for prompt in found if prompt is not None}


def killed(command: list[str], server: loop.Server, at: int) -> None:
    """Runs the command in a process of its own until so many requests have come."""
    process = subprocess.Popen([sys.executable, "-c", PROGRAM, *command], stdout=subprocess.PIPE)
    deadline = time.monotonic() + 30
    while len(server.asked) < at and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)
    assert process.poll() is None, "it was not finished"
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()


def requests(server: loop.Server) -> Counter[str]:
    return Counter(json.dumps([held.body["model"], held.body["messages"]]) for held in server.asked)


def texts(path: str) -> list[Any]:
    """What was said in the run, question by question."""
    with read_store(Path(path)) as store:
        held = [text for (text,) in store.rows("SELECT text FROM reply ORDER BY question")]
    return [said(text) if text.startswith('{"sessions"') else text for text in held]


def said(text: str) -> list[Any]:
    return [(one.name, one.messages, [reply.text for reply in one.replies]) for one in read_transcript(text)]
