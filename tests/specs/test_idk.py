"""The abstention benchmark: its sample, and its templates over files that a user fetches."""

from __future__ import annotations

import csv
import hashlib
import itertools
import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import dia_runtime
import pytest
from dia_compiler import compile
from helpers.places import ROOT

SPECS = ROOT / "specs" / "idk"


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def rows() -> dict[str, dict[str, Any]]:
    return {row["id"]: row for row in lines(SPECS / "sample" / "questions.jsonl")}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("idk")
    shutil.copytree(SPECS, folder / "specs", ignore=shutil.ignore_patterns("data"))
    result = compile([folder / "specs"], k=24, out=folder / "out", jobs=1)
    return result.bundles[0]


def test_the_sample_has_twenty_questions_of_four_options() -> None:
    assert len(rows()) == 20
    for row in rows().values():
        assert len({row["correct"], *row["incorrect"]}) == 4 and row["question"].endswith(("?", "."))
        assert row["fact"] and row["topic"]


def test_every_prompt_shows_its_options_and_the_way_out(made: Any) -> None:
    bundle = dia_runtime.open_bundle(made.path)
    answers = {answer["id"]: answer for answer in bundle.answers()}
    letters = Counter[str]()
    for question in bundle.questions():
        (message,) = question["messages"]
        row = rows()[question["item"].partition("/")[2]]
        shown = dict(line.split(". ", 1) for line in message["content"].splitlines() if line[1:3] == ". ")
        assert sorted(shown) == list("ABCDE") and shown["E"] == "I don't know" and question["format"]["skip"] == "E"
        assert {shown[letter] for letter in "ABCD"} == {row["correct"], *row["incorrect"]}
        truth = answers[question["id"]]["text"]
        assert shown[truth] == row["correct"]
        letters[truth] += 1
        assert question["points"] == {"correct": 1, "skipped": 0, "wrong": -1}
        for part in (
            row["question"],
            "step by step",
            "only if you are confident",
            "scores 1,",
            "unreadable one -1",
            'know" 0.',
        ):
            assert part in message["content"]
    assert letters == {"A": 120, "B": 120, "C": 120, "D": 120}, "24 orders put each option six times in each place"


def test_the_other_data_sets_are_left_out_in_one_line(made: Any) -> None:
    assert [entry["template"] for entry in made.left_out] == ["gpqa", "lexam"]
    assert made.templates == 1 and made.questions == 480


def test_the_sample_runs_and_scores(made: Any, tmp_path: Path) -> None:
    dia_runtime.run(made.path, ["oracle", "abstain", "wrong"], tmp_path / "a.run")
    oracle, abstain, wrong = dia_runtime.score(tmp_path / "a.run")["models"]
    values = [
        [model[name]["value"] for name in ("trad_score", "idk_score", "idk_freq", "extract_fail")]
        for model in (oracle, abstain, wrong)
    ]
    assert values == [[1, 1, 0, 0], [0, 0, 1, 0], [0, -1, 0, 0]]
    assert set(oracle["by_skill"]) == {row["topic"] for row in rows().values()}


def test_facts_that_can_be_computed() -> None:
    found = rows()
    cubes = Counter(one**3 + two**3 for one, two in itertools.combinations_with_replacement(range(1, 40), 2))
    double = sorted(number for number, ways in cubes.items() if ways > 1)
    assert found["two-sums-of-cubes"]["correct"] == str(double[0])
    assert found["two-sums-of-cubes"]["incorrect"] == [str(number) for number in double[1:4]]
    assert found["first-lost-integer"]["correct"] == "2^53 + 1"
    assert float(2**53 + 1) != 2**53 + 1 and all(float(2**53 - at) == 2**53 - at for at in range(1000))


def test_fetched_files_are_read_as_they_are_published(tmp_path: Path) -> None:
    shutil.copytree(SPECS, tmp_path / "idk", ignore=shutil.ignore_patterns("data"))
    data = tmp_path / "idk" / "data"
    data.mkdir()
    text = 'What of {{ x }},\n  "quoted" \\frac{1}{2}?\n'
    columns = ["Pre-Revision Question", "Question", "Correct Answer", "Incorrect Answer 1", "Incorrect Answer 2"]
    with (data / "gpqa_diamond.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([*columns, "Incorrect Answer 3", "High-level domain", "Record ID"])
        writer.writerow(["old", text, " yes \n", "no", "never, ever", "per\nhaps", "Physics", "rec1"])
    told = {
        "question": "Which?",
        "choices": ["i", "ii", "i and ii", "none"],
        "gold": 2,
        "area": "criminal",
        "course": "x",
    }
    (data / "lexam.jsonl").write_text(json.dumps(told) + "\n", encoding="utf-8")
    (bundle,) = compile([tmp_path / "idk"], k=2, out=tmp_path / "out", jobs=1).bundles
    assert list(bundle.left_out) == []
    opened = dia_runtime.open_bundle(bundle.path)
    by_item = {question["item"]: question for question in opened.questions()}
    truths = {answer["id"]: answer["text"] for answer in opened.answers()}
    name = hashlib.sha256(" ".join(text.split()).encode()).hexdigest()[:16]
    gpqa, lexam = by_item[f"gpqa/{name}"], by_item[f"lexam/{hashlib.sha256(b'Which?').hexdigest()[:16]}"]
    assert text.strip() in gpqa["messages"][0]["content"] and gpqa["skills"] == ["Physics"]
    assert gpqa["format"]["options"][truths[gpqa["id"]]] == "yes"
    assert lexam["format"]["options"][truths[lexam["id"]]] == "i and ii"


def test_the_invented_replies_know_the_truths_of_the_sample(tmp_path: Path) -> None:
    shutil.copytree(SPECS, tmp_path / "specs", ignore=shutil.ignore_patterns("data"))
    (bundle,) = compile([tmp_path / "specs"], k=1, out=tmp_path / "out", jobs=1).bundles
    truths = {answer["id"]: answer["text"] for answer in dia_runtime.open_bundle(bundle.path).answers()}
    replies = lines(SPECS / "sample" / "replies.jsonl")
    assert {(row["id"], row["gold"]) for row in replies} == set(truths.items()) and len(replies) == 60
