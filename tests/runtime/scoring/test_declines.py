"""Templates in which some questions cannot be answered: what is correct, and the two figures about declining."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import sqrt
from pathlib import Path
from typing import Any

import dia_runtime
import pytest
from dia_compiler.commands.cli import run
from dia_runtime.grading.grader import Grader
from dia_runtime.integrations.exported_tasks.grading import grade_reply
from dia_runtime.respondents.respondent import Reply
from helpers.schemas import require_valid

BENCHMARK = "language: 2\nbenchmark: mine\nversion: 1.0.0\nformat: {kind: tagged}\n"
PLAIN = """template: plain
title: A sum
params: {n: {type: integer, min: 1, max: 99}}
answer: {value: n + n, type: integer}
checks: [answer == 2 * n]
prompt: What is {{ n }} plus {{ n }}?
"""
DECLINE = "<answer>I-DO-NOT-KNOW</answer>"


def template(name: str, more: str = "", answer: str = "unanswerable: not answerable") -> str:
    return f"""template: {name}
title: A sum of {name}, of which a number may be missing
params:
  answerable: {{type: boolean}}
  n: {{type: integer, min: 1, max: 99}}
  m: {{type: integer, min: 1, max: 99}}
answer: {{value: n + m, type: integer, {answer}}}
checks: [answer - m == n]
mistakes: {{first: n, guessed: n + m}}
prompt: "Ann has {{{{ n }}}} {name}s, Bo has {{{{ m }}}}{{% if not answerable %}} or more{{% endif %}}. How many is that?"
{more}"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "benchmark.yaml").write_text(BENCHMARK, encoding="utf-8")
    return tmp_path / "mine"


class Scripted:
    """Declines the questions with these numbers, and answers the others: wrongly where nothing is right."""

    name = model = "scripted"
    settings: Mapping[str, Any] = {}

    def __init__(self, declined: Mapping[str, set[int]], answers: Mapping[str, Mapping[str, Any]]) -> None:
        self.declined, self.answers = declined, answers

    def reply(self, question: Mapping[str, Any]) -> Reply:
        if question["instance"] in self.declined.get(question["template"], ()):
            return Reply(DECLINE)
        return Reply(f"<answer>{self.answers[question['id']]['answer']}</answer>")


class Broken(Scripted):
    """Has nothing but errors."""

    name = model = "broken"

    def __init__(self) -> None:
        super().__init__({}, {})

    def reply(self, question: Mapping[str, Any]) -> Reply:
        return Reply(None, "timeout")


def answers_of(bundle: str) -> dict[str, dict[str, Any]]:
    (path,) = Path().glob(f"{bundle}/*/answers.jsonl")
    return {record["id"]: record for record in map(json.loads, path.read_bytes().splitlines())}


def clustered_error(clusters: list[tuple[int, int]]) -> float:
    """The standard error of a ratio of sums over clusters, by its formula."""
    total = sum(size for _, size in clusters)
    mean = sum(hits for hits, _ in clusters) / total
    groups = len(clusters)
    return sqrt(groups / (groups - 1) * sum((hits - mean * size) ** 2 for hits, size in clusters)) / total


def test_declines_are_counted_apart_for_unanswerable_questions_and_their_twins(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("apple", "pear", "plum"):
        (folder / f"{name}.yaml").write_text(template(name), encoding="utf-8")
    (folder / "plain.yaml").write_text(PLAIN, encoding="utf-8")
    assert run(["compile", "mine", "--k", "8", "-o", "out", "-q"]) == 0
    answers = answers_of("out")
    sides: dict[bool, dict[str, set[int]]] = {True: {}, False: {}}
    for record in answers.values():
        if record["template"] != "plain":
            side = sides[record["comparison"]["unanswerable"]]
            side.setdefault(record["template"], set()).add(int(record["id"].rsplit("/", 1)[1]))
    assert all(len(numbers) == 4 for side in sides.values() for numbers in side.values())
    unanswerable = [record for record in answers.values() if record["comparison"].get("unanswerable")]
    assert {record["text"] for record in unanswerable} == {"I-DO-NOT-KNOW"}
    declined = {"plain": {0, 1, 2}}  # which has no unanswerable questions: they count in neither figure
    for at, name in enumerate(("apple", "pear", "plum")):  # 4, 3 and 2 of the unanswerable, 0, 1 and 2 of the others
        declined[name] = set(sorted(sides[True][name])[: 4 - at]) | set(sorted(sides[False][name])[:at])
    bundle = next(Path("out").glob("mine-*"))
    dia_runtime.run(bundle, [Scripted(declined, answers)], Path("a.run"))
    capsys.readouterr()
    assert run(["score", "a.run", "--json", "--by", "template"]) == 0
    score = json.loads(capsys.readouterr().out)
    require_valid("score", score)
    (model,) = score["models"]
    correct, false = model["correct_decline"], model["false_decline"]
    assert (correct["value"], false["value"]) == (9 / 12, 3 / 12)
    assert correct["se"] == pytest.approx(clustered_error([(4, 4), (3, 4), (2, 4)]))
    assert false["se"] == pytest.approx(clustered_error([(0, 4), (1, 4), (2, 4)]))
    assert correct["ci"][0] <= 0.75 <= correct["ci"][1]
    # 9 right declines, 9 answers to questions that have one, 5 sums
    assert model["counts"] == {"correct": 9 + 9 + 5, "skipped": 3 + 3, "wrong": 3, "unparsed": 0, "error": 0}
    assert model["by_template"]["plum"]["correct_decline"]["value"] == 0.5
    assert not {"correct_decline", "false_decline"} & set(model["by_template"]["plain"])
    assert model["mistakes"]["plum"]["guessed"] == 1.0
    perfect = {name: numbers | sides[True].get(name, set()) for name, numbers in declined.items()}  # no answer is wrong
    dia_runtime.run(bundle, [Scripted(perfect, answers)], Path("perfect.run"))
    capsys.readouterr()
    assert run(["score", "perfect.run", "--json"]) == 0
    (best,) = json.loads(capsys.readouterr().out)["models"]
    assert best["counts"]["wrong"] == 0 and best["counts"]["correct"] == model["counts"]["correct"] + 3
    for name, figure in (("rs_best", "rs"), ("idk_best", "idk_score")):
        assert model["selective"][name]["value"] == best[figure]["value"] > model[figure]["value"]
    dia_runtime.run(bundle, ["abstain"], Path("abstain.run"))
    capsys.readouterr()
    assert run(["score", "abstain.run", "--json"]) == 0
    for entry in json.loads(capsys.readouterr().out)["models"][0]["selective"]["penalties"]:
        assert (entry["points"]["value"], entry["pays"]) == (12 / 32, False)
    assert run(["score", "a.run"]) == 0
    screen = capsys.readouterr().out
    assert "correct declines: they count as correct answers, not as abstained.\n" in screen
    lines = [line.split() for line in screen.splitlines()]
    assert ["75.0%", "25.0%"] in [[line[1], line[3]] for line in lines if line[:1] == ["scripted"] and len(line) == 5]
    assert run(["score", "a.run", "--tables", "all"]) == 0
    assert "correct declines %" in capsys.readouterr().out
    assert run(["report", "a.run", "-o", "page.html", "-q"]) == 0
    page = Path("page.html").read_text(encoding="utf-8")
    assert ">correct declines %<" in page and "Share of the unanswerable questions that were declined" in page


def test_a_benchmark_without_unanswerable_questions_has_neither_figure(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "plain.yaml").write_text(PLAIN, encoding="utf-8")
    assert run(["compile", "mine", "--k", "4", "-o", "out", "-q"]) == 0
    dia_runtime.run(next(Path("out").glob("mine-*")), ["abstain"], Path("a.run"))
    capsys.readouterr()
    assert run(["score", "a.run", "--json"]) == 0
    (model,) = json.loads(capsys.readouterr().out)["models"]
    assert not {"correct_decline", "false_decline"} & set(model)
    for command in (["score", "a.run", "--tables", "all"], ["score", "a.run"]):
        assert run(command) == 0 and "decline" not in capsys.readouterr().out
    assert run(["report", "a.run", "-o", "page.html", "-q"]) == 0
    assert ">correct declines %<" not in Path("page.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("reply", "answerable", "unanswerable"),
    [
        (DECLINE, "skipped", "correct"),
        (f"I am not sure.\n\n{DECLINE}", "skipped", "correct"),
        ("<answer>12</answer>", "correct", "wrong"),
        ("<answer>13</answer>", "wrong", "wrong"),
        ("<answer>nobody knows</answer>", "wrong", "wrong"),
        ("I-DO-NOT-KNOW", "unparsed", "unparsed"),
        (None, "error", "error"),
    ],
)
@pytest.mark.parametrize("chain", ["standard", "strict"])
def test_only_the_abstention_token_is_right_where_nothing_can_be(
    reply: str | None, answerable: str, unanswerable: str, chain: str
) -> None:
    format = {"kind": "tagged", "tag": "answer", "skip": "I-DO-NOT-KNOW", "rules": 2}
    for is_unanswerable, verdict in ((False, answerable), (True, unanswerable)):
        grader = Grader({"type": "integer", "unanswerable": is_unanswerable}, format, chain)
        if chain == "strict" and reply and "\n" in reply:
            verdict = "unparsed"
        assert grader.grade(12, [12], "12", reply).verdict == verdict


def test_a_variant_that_makes_a_question_answerable_is_an_error(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more = 'variants: {turned: {redraw: [answerable], prompt: "{{ answerable }}: {{ n }} + {{ m }}"}}\n'
    (folder / "apple.yaml").write_text(template("apple", more), encoding="utf-8")
    assert run(["check", "mine"]) == 2 and "E511" in capsys.readouterr().err


def test_whether_it_is_unanswerable_must_be_true_or_false(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "apple.yaml").write_text(template("apple", answer="unanswerable: n"), encoding="utf-8")
    assert run(["check", "mine"]) == 2 and "true or false" in capsys.readouterr().err


def test_an_example_can_say_that_declining_is_right(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    examples = "examples:\n  - params: {answerable: %s, n: 3, m: 4}\n    answer: %s\n"
    for answerable, answer, code in (
        ("false", "I-DO-NOT-KNOW", 0),
        ("true", "7", 0),
        ("false", "7", 2),
        ("true", "I-DO-NOT-KNOW", 2),
    ):
        (folder / "apple.yaml").write_text(template("apple", examples % (answerable, answer)), encoding="utf-8")
        assert run(["check", "mine"]) == code, (answerable, answer)
        assert ("E507" in capsys.readouterr().err) == bool(code)


def test_exported_rows_are_graded_alike(folder: Path) -> None:
    (folder / "apple.yaml").write_text(template("apple"), encoding="utf-8")
    assert run(["compile", "mine", "--k", "4", "-o", "out", "-q"]) == 0
    answers = answers_of("out")
    (path,) = Path().glob("out/*/questions.jsonl")
    verdicts = {}
    for question in map(json.loads, path.read_bytes().splitlines()):
        record = answers[question["id"]]
        row = {
            "format": json.dumps(question["format"]),
            "grading": json.dumps(record),
            "points": json.dumps(question["points"]),
        }
        verdicts[record["comparison"]["unanswerable"]] = [
            grade_reply(row, reply).verdict for reply in (DECLINE, f"<answer>{record['answer']}</answer>")
        ]
    assert verdicts == {True: ["correct", "wrong"], False: ["skipped", "correct"]}


def test_a_tied_ensemble_declines_which_is_right_where_nothing_else_is(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "apple.yaml").write_text(
        template("apple", answer="unanswerable: not answerable, share: 1"), encoding="utf-8"
    )
    assert run(["compile", "mine", "--k", "4", "-o", "out", "-q"]) == 0
    assert (
        run(
            ["run", str(next(Path("out").glob("mine-*"))), "--model", "oracle", "--model", "wrong", "-o", "a.run", "-q"]
        )
        == 0
    )
    capsys.readouterr()
    assert run(["score", "a.run", "--json", "--ensemble", "vote"]) == 0
    (vote,) = json.loads(capsys.readouterr().out)["ensembles"]
    assert (vote["correct_decline"]["value"], vote["false_decline"]["value"]) == (1.0, 1.0)
    assert vote["counts"] == {"correct": 2, "skipped": 2, "wrong": 0, "unparsed": 0, "error": 0}
    assert vote["share"]["value"] == 0.5
    dia_runtime.run(next(Path("out").glob("mine-*")), [Broken(), "oracle", "wrong"], Path("b.run"))
    capsys.readouterr()
    assert run(["score", "b.run", "--json", "--ensemble", "vote"]) == 0
    (of_three,) = json.loads(capsys.readouterr().out)["ensembles"]
    assert (of_three["counts"], of_three["share"]) == (vote["counts"], vote["share"])
    assert of_three["error_causes"] == vote["error_causes"]
