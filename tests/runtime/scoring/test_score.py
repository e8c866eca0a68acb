from __future__ import annotations

import json
import math
import re
import sqlite3
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import dia_runtime
import pytest
from dia_compiler.commands.cli import run
from dia_runtime.commands.score import notes_on_rules
from dia_runtime.respondents.respondent import Reply
from helpers.failures import failure, refusal, require_error

Make = Callable[..., Path]

SKIP = Reply("<xml>I-DO-NOT-KNOW</xml>")
WRONG = Reply("<xml>-5</xml>")
UNPARSED = Reply("I think it is 7")
ERROR = Reply(None, error="timeout")


class Player:
    """Gives its replies in turn; `None` stands for the truth."""

    def __init__(self, replies: Sequence[Reply | None], name: str = "player") -> None:
        self.name = self.model = name
        self.settings: Mapping[str, Any] = {}
        self.replies: Iterator[Reply | None] = iter(replies)

    def reply(self, question: Mapping[str, Any]) -> Reply:
        left, right = 10 * int(question["template"][4:]) + 7, question["instance"] + 1
        return next(self.replies) or Reply(f"<xml>{left + right}</xml>")


@pytest.fixture
def played(tiny: Make, tmp_path: Path) -> Callable[..., Path]:
    """Makes a run in which a player gave these replies."""

    def play(replies: Sequence[Reply | None], templates: int = 2, k: int = 3, **facts: Any) -> Path:
        path = tmp_path / "played.run"
        dia_runtime.run(tiny("played", templates, k, **facts), [Player(replies)], path)
        return path

    return play


def model(path: Path, **options: Any) -> dict[str, Any]:
    (found,) = dia_runtime.score(path, **options)["models"]
    return dict(found)


def test_verdicts_become_counts_and_figures(played: Make) -> None:
    found = model(played([None, None, None, SKIP, WRONG, UNPARSED]))
    assert found["counts"] == {"correct": 3, "skipped": 1, "wrong": 1, "unparsed": 1, "error": 0}
    assert found["tsr"] == {"sum_0": 3, "sum_1": 0}
    values = {name: found[name]["value"] for name in ("rs", "conf", "nms", "pass_at_k")}
    assert values == {"rs": pytest.approx(1 - 4 / 3), "conf": 0.5, "nms": 0, "pass_at_k": 0.5}
    assert found["trad_score"]["value"] == 0.5
    assert found["idk_score"]["value"] == pytest.approx(1 / 6)
    assert found["idk_freq"]["value"] == found["extract_fail"]["value"] == pytest.approx(1 / 6)


def test_standard_errors_take_items_as_clusters(played: Make) -> None:
    found = model(played([None, None, WRONG, None, WRONG, WRONG, SKIP, WRONG, WRONG], templates=3))
    points = [(1 + 1 - 2) / 3, (1 - 2 - 2) / 3, (0 - 2 - 2) / 3]
    assert found["rs"]["se"] == pytest.approx(math.sqrt(3) * statistics.stdev(points))
    assert found["conf"]["se"] == 0
    assert found["pass_at_k"]["se"] == pytest.approx(statistics.stdev([1, 1, 0]) / math.sqrt(3))
    deviations = [2 - 3 * 3 / 9, 1 - 3 * 3 / 9, 0 - 3 * 3 / 9]
    assert found["trad_score"]["se"] == pytest.approx(math.sqrt(3 / 2 * sum(d * d for d in deviations)) / 9)
    assert all(found[name]["ci"][0] <= found[name]["value"] <= found[name]["ci"][1] for name in ("rs", "idk_score"))


def test_one_item_has_no_standard_error(played: Make) -> None:
    found = model(played([None, WRONG, None], templates=1))
    assert found["rs"] == {"value": 0, "se": None, "ci": None}


def test_errors_leave_an_interval(played: Make) -> None:
    path = played([None, ERROR, None, WRONG, WRONG, WRONG])
    found = model(path)
    assert found["counts"]["error"] == 1
    assert found["rs"] == {"value": None, "se": None, "ci": None, "bounds": [-2.0, -1.0]}
    assert found["conf"]["bounds"] == [0.0, 0.5]
    assert found["pass_at_k"]["value"] == 0.5 and "bounds" not in found["pass_at_k"]
    settled = model(path, errors="wrong")
    assert settled["counts"]["wrong"] == 4 and settled["rs"]["value"] == -2.0


def test_points_can_be_replaced(played: Make) -> None:
    path = played([None, SKIP, WRONG, UNPARSED, None, None])
    assert model(path)["rs"]["value"] == pytest.approx((1 - 2) / 3 + (-2 + 2) / 3)
    assert model(path, points={"wrong": -1})["rs"]["value"] == pytest.approx(0 + 1 / 3)
    assert model(path, points={"wrong": "-1/2", "skipped": "0.5"})["rs"]["value"] == pytest.approx(1 / 3 + 0.5)


@pytest.mark.parametrize("points", [{"wrng": 1}, {"wrong": "x"}, {"wrong": "1e999999999"}, {"wrong": 0.1 + 0.2}])
def test_points_that_say_nothing(played: Make, points: dict[str, Any]) -> None:
    path = played([None] * 6)
    error = "did you mean `wrong`?" if "wrng" in points else "the points of `wrong` are not an exact number: "
    refusal("E811", error, lambda: dia_runtime.score(path, points=points))


def test_points_of_a_question_may_be_fractions(tiny: Make, bundle_writer: Make, tmp_path: Path) -> None:
    made = dia_runtime.open_bundle(tiny(templates=1, k=2))
    questions, answers = list(made.questions()), list(made.answers())
    for question in questions:
        question["points"] = {"correct": "1/3", "skipped": 0, "wrong": "-1/4"}
    bundle = bundle_writer(tmp_path / "fractions", questions, answers, 2)
    dia_runtime.run(bundle, [Player([None, WRONG])], tmp_path / "a.run")
    assert model(tmp_path / "a.run")["rs"]["value"] == pytest.approx((1 / 3 - 1 / 4) / 2)


def test_flags_stand_beside_verdicts(played: Make) -> None:
    found = model(
        played(
            [
                Reply("<xml>8</xml>", finish_reason="length"),
                Reply(None, finish_reason="content_filter"),
                Reply(None, finish_reason="over_context"),
                *[None] * 3,
            ]
        )
    )
    assert found["counts"]["correct"] == 4 and found["counts"]["wrong"] == 2 and found["counts"]["error"] == 0
    flags = {name: number for name, number in found["flags"].items() if number}
    assert flags == {"truncated": 1, "refused": 1, "over_context": 1}
    assert found["by_category"]["words"]["flags"]["refused"] == 0


def test_mistakes_explain_wrong_replies(played: Make) -> None:
    # The known mistake is the product: 7 * 2 = 14 for the second instance of the first template.
    found = model(played([None, Reply("<xml>14</xml>"), WRONG, None, WRONG, WRONG]))
    assert found["mistakes"] == {"sum_0": {"product": 0.5}, "sum_1": {"product": 0.0}}


@pytest.mark.parametrize("said", ["<xml>14</xml>", "<xml> +014 </xml>", "```\n<xml>14</xml>\n```"])
def test_a_mistake_is_the_same_however_it_is_written(played: Make, said: str) -> None:
    found = model(played([None, Reply(said), *[None] * 4]))
    assert found["mistakes"] == {"sum_0": {"product": 1.0}}


@pytest.mark.parametrize(("chain", "share"), [("strict", None), ("lenient", 1.0), ("compat", 1.0)])
def test_mistakes_are_read_by_the_chain(played: Make, chain: str, share: float | None) -> None:
    path = played([None, Reply("It is\n```xml\n<xml>14</xml>\n```\nI believe."), *[None] * 4])
    found = model(path, chain=chain)
    assert found["counts"]["unparsed" if share is None else "wrong"] == 1
    assert found["mistakes"].get("sum_0", {}).get("product") == share


def test_a_malformed_skip_is_flagged(played: Make) -> None:
    found = model(played([Reply("I choose I-DO-NOT-KNOW"), *[None] * 5]))
    assert found["counts"]["unparsed"] == 1 and found["flags"]["skip_malformed"] == 1


def test_chains_differ(played: Make) -> None:
    path = played([Reply("I think <xml>8</xml>"), Reply("```xml\n<xml>9</xml>\n```"), *[None] * 4])
    correct = {chain: model(path, chain=chain)["counts"]["correct"] for chain in ("strict", "lenient", "compat")}
    assert correct == {"strict": 5, "lenient": 6, "compat": 5}


def test_an_error_is_wrong_to_the_published_evaluator(played: Make) -> None:
    path = played([ERROR, *[None] * 5])
    assert model(path)["counts"]["error"] == 1 and model(path, chain="compat")["counts"]["wrong"] == 1


def test_groups_add_up(played: Make) -> None:
    found = model(played([None, None, SKIP, WRONG, WRONG, None, None, None, None], templates=3))
    for label, names in (
        ("by_category", {"arithmetic", "words"}),
        ("by_domain", {"mathematics", "language"}),
    ):
        groups = found[label]
        assert set(groups) == names
        assert sum(block["n"] for block in groups.values()) == found["n"]
        assert sum(block["rs"]["value"] for block in groups.values()) == pytest.approx(found["rs"]["value"])
        for verdict, number in found["counts"].items():
            assert sum(block["counts"][verdict] for block in groups.values()) == number


def test_other_wordings_are_counted_apart(played: Make) -> None:
    found = model(played([None, WRONG] * 6, variants=[None, "shouted"]))
    assert found["counts"]["correct"] == 6 and found["tsr"] == {"sum_0": 3, "sum_1": 3}
    assert found["by_variant"]["shouted"]["counts"]["wrong"] == 6


def test_questions_that_were_not_asked_count_nowhere(tiny: Make, tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    dia_runtime.run(tiny(), ["oracle"], path, limit=4)
    result = dia_runtime.score(path)
    (found,) = result["models"]
    assert (result["n"], found["n"], found["missing"]) == (2, 2, 2)
    assert found["rs"]["value"] == 2 and found["conf"]["value"] == 1


def test_only_the_first_attempt_counts(tiny: Make, tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    dia_runtime.run(tiny(templates=1, k=1), [Player([None, WRONG, WRONG])], path, attempts=3)
    assert model(path)["counts"]["correct"] == 1


def test_unequal_numbers_of_instances_are_said(tiny: Make, bundle_writer: Make, tmp_path: Path) -> None:
    made = dia_runtime.open_bundle(tiny(templates=2, k=3))
    questions, answers = list(made.questions())[:4], list(made.answers())[:4]
    bundle = bundle_writer(tmp_path / "uneven", questions, answers, 3)
    dia_runtime.run(bundle, [Player([None, WRONG, WRONG, WRONG])], tmp_path / "a.run")
    result = dia_runtime.score(tmp_path / "a.run")
    assert result["k_varies"] and result["models"][0]["rs"]["value"] == pytest.approx((1 - 4) / 3 - 2)


def test_several_runs_and_respondents(tiny: Make, tmp_path: Path) -> None:
    bundle = tiny()
    dia_runtime.run(bundle, ["oracle", "abstain"], tmp_path / "a.run")
    dia_runtime.run(bundle, ["wrong"], tmp_path / "b.run")
    result = dia_runtime.score([tmp_path / "a.run", tmp_path / "b.run"])
    assert [entry["model"] for entry in result["models"]] == ["oracle", "abstain", "wrong"]
    assert result["bundle"] == dia_runtime.open_bundle(bundle).id
    assert (result["k"], result["n"], result["k_varies"]) == (3, 2, False)


def test_runs_of_different_questions_are_not_mixed(tiny: Make, tmp_path: Path) -> None:
    dia_runtime.run(tiny("a"), ["oracle"], tmp_path / "a.run")
    dia_runtime.run(tiny("b", k=4), ["oracle"], tmp_path / "b.run")
    assert failure(lambda: dia_runtime.score([tmp_path / "a.run", tmp_path / "b.run"])).exit_code == 3


def test_a_run_without_answers_takes_them_from_the_bundle(tiny: Make, tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    dia_runtime.run(tiny("sealed", sealed=True), [Player([None] * 6)], path)
    error = f"`{path}` has no answers\n  help: name the bundle that has them with `--bundle`"
    refusal("E808", error, lambda: dia_runtime.score(path))
    assert model(path, bundle=tiny("whole"))["counts"]["correct"] == 6


def test_answers_of_another_bundle_are_refused(tiny: Make, tmp_path: Path) -> None:
    dia_runtime.run(tiny(), ["oracle"], tmp_path / "a.run")
    other = tiny("other", k=4)
    assert failure(lambda: dia_runtime.score(tmp_path / "a.run", bundle=other)).exit_code == 3


def test_scoring_changes_nothing(played: Make) -> None:
    path = played([None] * 6)
    before = path.read_bytes()
    assert dia_runtime.score(path) == dia_runtime.score(path)
    assert path.read_bytes() == before
    assert sorted(entry.name for entry in path.parent.glob("played.run*")) == ["played.run"]


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        ({"errors": "drop"}, "E811", "`errors` cannot be `drop`; choose from keep, wrong"),
        ({"chain": "loose"}, "E821", "`chain` cannot be `loose`; choose from standard, strict, lenient, compat"),
        ({"points": {"skipped": None}}, "E811", "the points of `skipped` are not an exact number: None"),
        ({"preset": "papr"}, "E811", "unknown preset `papr`\n  help: did you mean `paper`?"),
    ],
)
def test_unknown_options(played: Make, options: dict[str, Any], code: str, words: str) -> None:
    path = played([None] * 6)
    refusal(code, words, lambda: dia_runtime.score(path, **options))


def test_no_runs() -> None:
    assert failure(lambda: dia_runtime.score([])).exit_code == 2


@pytest.mark.parametrize(
    "statement",
    [
        """UPDATE question SET points = '{"correct":1}'""",
        """UPDATE question SET points = '{"correct":1,"skipped":0,"wrong":"1e99999999"}'""",
        "UPDATE question SET grading = 'x'",
        """UPDATE question SET grading = '{"text":"8"}'""",
        """UPDATE question SET grading = json_set(grading, '$.comparison.type', 'planet')""",
        """UPDATE question SET grading = json_set(grading, '$.comparison.accept_if', json('{"x":1}'))""",
        """UPDATE question SET grading = json_set(grading, '$.answer', json('{"rational":"1/0"}'))""",
        """UPDATE question SET format = '[]'""",
        "UPDATE question SET format = '['",
        "DELETE FROM meta WHERE key = 'bundle_id'",
        "DELETE FROM meta",
    ],
)
def test_a_run_that_someone_damaged(played: Make, statement: str) -> None:
    path = played([None] * 6)
    connection = sqlite3.connect(path)
    connection.execute(statement)
    connection.commit()
    connection.close()
    error = failure(lambda: dia_runtime.score(path))
    assert error.exit_code == 3
    if error.diagnostics[0].code == "E822":  # the others concern the whole run
        require_error(error, "E822", "`tiny/sum_0/0`: ", 3)
        require_error(error, "E822", "\n  help: the bundle or the run was made by another program", 3)


def test_items_of_another_length_are_named_and_unequal_attempts_are_said(
    tiny: Make, bundle_writer: Make, tmp_path: Path
) -> None:
    made = dia_runtime.open_bundle(tiny(templates=2, k=3))
    bundle = bundle_writer(tmp_path / "uneven", list(made.questions())[:4], list(made.answers())[:4], 3)
    dia_runtime.run(bundle, ["oracle"], tmp_path / "a.run")
    (entry,) = dia_runtime.score(tmp_path / "a.run")["models"]
    (second,) = entry["other_k"]
    assert entry["other_k"][second] == 1 and entry["tsr"][second] == 1 and len(entry["tsr"]) == 2
    rows = [{"id": id, "gold": "A", "reply": "Answer: A", "attempt": at} for id, at in (("q", 1), ("q", 2), ("r", 1))]
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    fields = ("--field", "attempt=attempt", "--letters", "A-E", "--model", "m")
    out = str(tmp_path / "b.run")
    assert run(["import", str(tmp_path / "t.jsonl"), "--from", "jsonl", *fields, "-o", out, "-q"]) == 0
    result = dia_runtime.score(out, over="attempts")
    assert (result["k"], result["k_varies"], result["n"]) == (2, True, 2)
    assert list(result["models"][0]["other_k"].values()) == [1]
    assert list(notes_on_rules(result)) == [
        "not all questions have the same number of attempts, but all of them count the same in RS"
    ]


def test_named_mistakes_add_up_to_the_wrong_replies_that_count(tiny: Make, tmp_path: Path) -> None:
    dia_runtime.run(tiny(templates=2, variants=[None, "shouted"]), ["wrong"], tmp_path / "a.run")
    (entry,) = dia_runtime.score(tmp_path / "a.run")["models"]
    held = entry["mistake_shares"]
    assert held["wrong"] == entry["counts"]["wrong"] == held["one"] + held["several"] + held["none"] == 6
    assert sum(template["wrong"] for template in held["templates"].values()) == 6


def test_one_model_in_two_runs_has_two_names_in_tables_and_notes(
    tiny: Make, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [str(tmp_path / name) for name in ("may.run", "june.run")]
    bundle = tiny()
    for path in paths:
        dia_runtime.run(bundle, ["oracle"], path, limit=2)
    capsys.readouterr()
    for form in ("text", "csv", "markdown", "latex"):
        assert run(["score", *paths, "--format", form, "--show", "selective", "--compare", "rs"]) == 0
        told = capsys.readouterr()
        assert "oracle (may.run)" in told.out and "oracle (june.run)" in told.out
        assert not re.search(r"oracle(?! \()", told.out)
    assert "note: oracle (may.run): 4 questions never asked" in told.err
