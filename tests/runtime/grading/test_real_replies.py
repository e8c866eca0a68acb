"""How each chain reads 200 replies of a real small model, against the labels of a person who read them all."""

from __future__ import annotations

import json
import runpy
from collections import Counter
from functools import lru_cache
from typing import Any

import pytest
from dia_runtime.grading.grader import grade
from helpers.places import ROOT

REPLIES = ROOT / "tests" / "data" / "real_replies" / "smollm2-135m__easy.jsonl"


@lru_cache
def rows() -> list[dict[str, Any]]:
    return [json.loads(line) for line in REPLIES.read_text(encoding="utf-8").splitlines()]


def table(chain: str) -> Counter[tuple[str, str]]:
    """Label and verdict -> replies."""
    return Counter(
        (row["verdict"], str(grade(row["answer"], row["reply"], row["format"], chain).verdict)) for row in rows()
    )


@pytest.mark.parametrize(("chain", "same"), [("strict", 77), ("standard", 97), ("lenient", 168)])
def test_a_chain_agrees_with_the_labels_on_this_many_replies(chain: str, same: int) -> None:
    counts = table(chain)
    assert sum(counts.values()) == len(rows()) == 200
    assert sum(number for (label, verdict), number in counts.items() if label == verdict) == same


@pytest.mark.parametrize("chain", ["strict", "standard", "lenient"])
def test_no_chain_accepts_or_skips_what_a_person_does_not(chain: str) -> None:
    for (label, verdict), number in table(chain).items():
        assert label == verdict or verdict not in ("correct", "skipped"), (label, verdict, number)


@pytest.mark.parametrize(("chain", "read", "same"), [("strict", 0, 0), ("standard", 0, 0), ("lenient", 17, 4)])
def test_the_model_as_a_judge_agrees_with_the_labels_on_this_many_replies(chain: str, read: int, same: int) -> None:
    study = runpy.run_path(str(ROOT / "docs" / "studies" / "small_judge.py"))
    verdicts = study["judge_verdicts"](study["JUDGED"])[f"judge, {chain}"]
    labels = Counter(label for label, _ in verdicts)
    assert labels == {"correct": 31, "wrong": 102, "no answer": 64}
    assert Counter(verdict for _, verdict in verdicts) == Counter({"correct": read, "unread": 197 - read})
    assert sum(label == verdict for label, verdict in verdicts) == same


def test_lenient_finds_most_answers_that_a_person_finds() -> None:
    counts = table("lenient")
    labelled = sum(number for (label, _), number in counts.items() if label == "correct")
    assert (counts["correct", "correct"], labelled) == (20, 31)
