"""The tables of the DIA paper (Bisztray and others, 2024, arXiv:2410.15490), out of runs with the paper's counts.

For each model the counts of verdicts, of items that are all correct, correct at least once, and skipped wholly or in
part fix a table of 150 items with five instances. Their replies are asked for, stored, graded and scored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import dia_runtime
import pytest
from dia_runtime.respondents.respondent import Reply

Make = Callable[..., Path]
N, K = 150, 5
SKIP, WRONG = "<xml>I-DO-NOT-KNOW</xml>", "<xml>-1</xml>"


class Counted(NamedTuple):
    """What the paper tells of a model."""

    correct: int
    skipped: int
    wrong: int
    printed: str
    all_correct: int | None = None
    passed: int | None = None
    all_skipped: int = 0
    part_skipped: int | None = None


PAPER = {
    "ChatGPT-4o": Counted(418, 91, 241, "-64", 58, 110, 9, 32),
    "o1-mini": Counted(269, 280, 201, "-26.6", 32, 72, 23),
    "GPT-4o": Counted(182, 70, 498, "-162.8", 26, 51, 7),
    "GPT-4o-mini": Counted(123, 29, 598, "-214.6", 17, None, 4),
    "Llama-3.1-Nemotron": Counted(109, 21, 620, "-226.2", 14),
    "Codellama": Counted(19, 1, 730, "-288.2"),
    "Llama2-Uncensored": Counted(0, 1, 749, "-299.6"),
}
# The paper divides by k in equation (1) and in all rows of Table I but this one.
NOT_DIVIDED = {"ChatGPT-4o"}
# Skips among questions of mathematics and among all others.
SKIPS = {"GPT-4o": (3, 67), "GPT-4o-mini": (0, 29)}


def rows_of(told: Counted) -> list[list[str]]:
    """150 rows of five verdicts with just these counts."""
    whole, silent = told.all_correct or 0, told.all_skipped
    correct = [K] * whole + [0] * (N - whole)
    skipped = [0] * (N - silent) + [K] * silent
    middle = range(whole, N - silent)
    mixed = middle[: told.passed - whole] if told.passed is not None else middle
    _spread(correct, mixed, told.correct - sum(correct), most=K - 1, at_least=int(told.passed is not None))
    free = [at for at in reversed(middle) if correct[at] < K]
    chosen = free[: told.part_skipped] if told.part_skipped is not None else free
    room = [min(K - correct[at], K - 1) for at in range(N)]
    _spread(skipped, chosen, told.skipped - sum(skipped), room, at_least=int(told.part_skipped is not None))
    return [
        ["correct"] * right + ["skipped"] * quiet + ["wrong"] * (K - right - quiet)
        for right, quiet in zip(correct, skipped, strict=True)
    ]


def _spread(held: list[int], places: Any, total: int, most: int | list[int], at_least: int) -> None:
    """Puts the total into these places, first what each needs, then what each has room for."""
    for at in places:
        held[at] = at_least
        total -= at_least
    for at in places:
        more = min(total, (most if isinstance(most, int) else most[at]) - held[at])
        held[at] += more
        total -= more
    assert total == 0


SCORED: dict[str, Mapping[str, Any]] = {}
FORMAT = {"kind": "xml", "skip": "I-DO-NOT-KNOW"}
POINTS = {"correct": 1, "skipped": 0, "wrong": -2}


@pytest.fixture
def scored(bundle_writer: Make, tmp_path: Path) -> dict[str, Mapping[str, Any]]:
    """The scores of all models, in one run of a bundle of 150 items; made once."""
    if not SCORED:
        SCORED.update(scores(bundle_writer, tmp_path))
    return SCORED


def scores(write_bundle: Make, folder: Path) -> dict[str, Mapping[str, Any]]:
    questions = [
        {
            "id": f"tiny/i{item}/{at}",
            "template": f"i{item}",
            "item": f"i{item}",
            "instance": at,
            "variant": None,
            "category": "c",
            "domain": domain,
            "level": "l",
            "skills": [],
            "assets": [],
            "format": FORMAT,
            "points": POINTS,
            "messages": [{"role": "user", "content": f"{item} {at}?"}],
        }
        for item, domain in enumerate(domains())
        for at in range(K)
    ]
    answers = [
        {
            "id": asked["id"],
            "template": asked["template"],
            "answer": 7,
            "text": "7",
            "accept": [],
            "mistakes": {},
            "comparison": {"type": "integer"},
            "parameters": {},
            "explanation": None,
        }
        for asked in questions
    ]
    bundle = write_bundle(folder / "bundle", questions, answers, K)
    players = [Player(name, (reply for row in rows_of(told) for reply in row)) for name, told in PAPER.items()]
    dia_runtime.run(bundle, players, folder / "a.run")
    return {model["model"]: model for model in dia_runtime.score(folder / "a.run")["models"]}


class Player:
    """Replies with these verdicts, one after the other."""

    settings: Mapping[str, Any] = {}

    def __init__(self, name: str, verdicts: Iterator[str]) -> None:
        self.name = self.model = name
        self.verdicts = verdicts

    def reply(self, question: Mapping[str, Any]) -> Reply:
        return Reply({"correct": "<xml>7</xml>", "skipped": SKIP, "wrong": WRONG}[next(self.verdicts)])


@pytest.mark.parametrize("name", PAPER)
@pytest.mark.long
def test_table_one(scored: dict[str, Mapping[str, Any]], name: str) -> None:
    told, found = PAPER[name], scored[name]
    assert (told.correct, told.skipped, told.wrong) == tuple(
        found["counts"][verdict] for verdict in ("correct", "skipped", "wrong")
    )
    expected = Fraction(told.printed) / (K if name in NOT_DIVIDED else 1)
    assert found["rs"]["value"] == pytest.approx(float(expected), abs=1e-9)
    assert sum(found["tsr"].values()) == told.correct and found["n"] == N


@pytest.mark.long
def test_chatgpt_leads_once_its_sum_is_divided(scored: dict[str, Mapping[str, Any]]) -> None:
    leader, second = (scored[name]["rs"]["value"] for name in ("ChatGPT-4o", "o1-mini"))
    assert leader == pytest.approx(-12.8) and leader > second


def test_the_counts_are_those_of_150_items() -> None:
    # Qwen2.5 7B is printed with 755 questions and left out here.
    assert all(told.correct + told.skipped + told.wrong == N * K for told in PAPER.values())


@pytest.mark.parametrize("name", [name for name, told in PAPER.items() if told.all_correct])
@pytest.mark.long
def test_confidence_and_pass(scored: dict[str, Mapping[str, Any]], name: str) -> None:
    told, found = PAPER[name], scored[name]
    assert told.all_correct is not None
    assert found["conf"]["value"] == pytest.approx(told.all_correct / N)
    assert found["pass_hat_j"]["5"]["value"] == pytest.approx(told.all_correct / N)
    if told.passed is not None:
        assert found["pass_at_k"]["value"] == found["pass_at_j"]["5"]["value"] == pytest.approx(told.passed / N)
    share = Fraction(told.correct, N * K)
    assert found["pass_at_j"]["1"]["value"] == pytest.approx(float(share)) == found["pass_hat_j"]["1"]["value"]


def test_confidence_is_printed_a_little_high() -> None:
    # 32 of 150 items is 21.33 %; the paper prints 21.34 %.
    assert round(100 * 32 / N, 2) == 21.33


@pytest.mark.parametrize("name", [name for name, told in PAPER.items() if told.all_skipped])
@pytest.mark.long
def test_items_skipped_wholly_and_in_part(scored: dict[str, Mapping[str, Any]], name: str) -> None:
    told, found = PAPER[name], scored[name]
    assert found["completely_skipped"] == told.all_skipped
    if told.part_skipped is not None:
        assert found["partly_skipped"] == told.part_skipped


@pytest.mark.long
def test_skips_fall_on_the_two_domains_as_counted(scored: dict[str, Mapping[str, Any]]) -> None:
    for name, (mathematics, rest) in SKIPS.items():
        groups = scored[name]["by_domain"]
        assert groups["mathematics"]["counts"]["skipped"] == mathematics
        assert groups["others"]["counts"]["skipped"] == rest
        assert sum(block["n"] for block in groups.values()) == N


def domains() -> list[str]:
    """A domain for each item, so that the skips of the two models fall on them as the paper counts."""
    large, small = ([row.count("skipped") for row in rows_of(PAPER[name])] for name in SKIPS)
    left, found = SKIPS["GPT-4o"][0], []
    for many, few in zip(large, small, strict=True):
        is_mathematics = few == 0 and many <= left
        left -= many if is_mathematics else 0
        found.append("mathematics" if is_mathematics else "others")
    assert left == 0
    return found
