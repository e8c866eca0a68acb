"""The constraints of specs/boundary, read out of the rendered prompts and tested on witnesses by code of our tests alone."""

from __future__ import annotations

import json
from typing import Any

import pytest
from dia_compiler.commands.cli import run
from dia_runtime.bundle.open import open_bundle
from dia_runtime.grading.grader import grade
from helpers.constraints import MEANINGS, told, words
from helpers.places import ROOT

pytestmark = pytest.mark.long

SPECS = ROOT / "specs" / "boundary"
NUMBER = 240


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    out = tmp_path_factory.mktemp("boundary")
    code = run(["compile", str(SPECS / "instructions.yaml"), "--k", str(NUMBER), "-o", str(out), "-q", "--no-cache"])
    assert code == 0
    bundle = open_bundle(next(out.glob("boundary*")))
    return list(zip(bundle.questions(), bundle.answers(), strict=True))


def test_every_witness_satisfies_all_that_its_prompt_says(asked: list[tuple[dict[str, Any], dict[str, Any]]]) -> None:
    seen = set()
    for question, answer in asked:
        constraints = told(question)
        assert 1 <= len(constraints) <= 10 and len(question["skills"]) == len(constraints)
        for pattern, found in constraints:
            seen.add(pattern)
            assert MEANINGS[pattern](found, answer["text"]), (pattern, found, answer["text"])
    assert len(seen) == len(MEANINGS) >= 60


def test_what_just_misses_a_constraint_is_graded_wrong(asked: list[tuple[dict[str, Any], dict[str, Any]]]) -> None:
    """Each constraint is missed by little in some instance, and that text is wrong by the grader and by us."""
    missed = set()
    for question, answer in asked:
        constraints, near = told(question), answer["mistakes"]["misses_one"]
        pattern, found = constraints[len(answer["text"]) % len(constraints)]
        assert not MEANINGS[pattern](found, near), (pattern, found, near)
        assert grade(answer, near, question["format"]).verdict == "wrong"
        assert grade(answer, answer["text"], question["format"]).verdict == "correct"
        missed.add(pattern)
    assert len(missed) >= 0.9 * len(MEANINGS)


def test_sizes_come_evenly(asked: list[tuple[dict[str, Any], dict[str, Any]]]) -> None:
    sizes = [len(question["skills"]) for question, _ in asked]
    assert {size: sizes.count(size) for size in range(1, 11)} == dict.fromkeys(range(1, 11), NUMBER // 10)


def test_the_share_of_marks_is_the_share_of_constraints_that_hold(
    asked: list[tuple[dict[str, Any], dict[str, Any]]],
) -> None:
    for question, answer in asked[:60]:
        reply = (
            "A text without much in it, which is long enough to be one, and which nobody would ever want to read twice."
        )
        found = grade(answer, reply, question["format"])
        held = [MEANINGS[pattern](groups, reply) for pattern, groups in told(question)]
        assert found.share is not None and float(found.share) == pytest.approx(sum(held) / len(held)), json.dumps(
            answer["parameters"]
        )


def test_a_refusal_or_a_word_is_no_text(asked: list[tuple[dict[str, Any], dict[str, Any]]]) -> None:
    """Else whoever declines would satisfy what forbids something."""
    for question, answer in asked[:60]:
        assert len(words(answer["text"])) >= 20
        for reply in ("I can't help with that.", "no", "so " * 19):
            found = grade(answer, reply, question["format"])
            assert (found.verdict, found.share) == ("wrong", 0)
