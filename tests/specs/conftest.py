"""The shipped benchmark, compiled once for all tests of this folder."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest
from dia_compiler.pipeline.api import compile
from helpers.benchmarks import PINNED_K, K, records
from helpers.places import ROOT
from helpers.workers import made_once

SPECS = ROOT / "specs" / "dia_bench"
MANY = 100  # instances a family in which a spread shows
# Templates to compile, by their names with commas between them, where an author works on a few; all of them else.
CHOSEN = set(filter(None, os.environ.get("DIA_TRUTH_TEMPLATES", "").split(",")))
FRAME = re.compile(
    r"Read the task carefully; every detail may matter\.\n\n(.+)\n\nHow your answer is graded:\n", re.DOTALL
)


def paths() -> list[Path]:
    """The folder of the benchmark, or the files of the templates that are asked for."""
    return [path for path in sorted(SPECS.glob("d*.yaml")) if path.stem[5:] in CHOSEN] if CHOSEN else [SPECS]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what reads the bundles, so that .ci/run can run it again with more instances."""
    for item in items:
        if "bundles" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.truth)


@pytest.fixture(scope="session")
def bundles(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> dict[int, Path]:
    """The bundles of five and of K instances, which are one by default."""
    if K == PINNED_K and not CHOSEN:
        return {K: request.getfixturevalue("shipped")}
    own = {PINNED_K, K} if CHOSEN else {K}

    def compiled(folder: Path) -> None:
        for k in own:
            compile(paths(), k, out=folder, jobs=2)

    out = made_once("dia_bench", compiled, tmp_path_factory, request)
    bundles = {k: next(out.glob(f"dia_bench*-k{k}")) for k in own}
    return bundles if CHOSEN else {PINNED_K: request.getfixturevalue("shipped"), **bundles}


@pytest.fixture(scope="session")
def each() -> int:
    """How many instances of each family the larger bundle has."""
    return K


@pytest.fixture(scope="session")
def many(each: int) -> int:
    """The same, for what shows in many instances alone; skips where they are few."""
    if each < MANY:
        pytest.skip(f"a spread shows in {MANY} instances a family, and these are {each}: set DIA_TRUTH_K")
    return each


@pytest.fixture(scope="session")
def questions(bundles: dict[int, Path]) -> list[dict[str, Any]]:
    """The questions of the larger bundle."""
    return records(bundles[K] / "questions.jsonl")


@pytest.fixture(scope="session")
def answers(bundles: dict[int, Path]) -> dict[str, dict[str, Any]]:
    """The answers of the larger bundle, by the ids of their questions."""
    return {record["id"]: record for record in records(bundles[K] / "answers.jsonl")}


@pytest.fixture(scope="session")
def prompts(questions: list[dict[str, Any]]) -> dict[str, str]:
    """What a model is sent, by id."""
    return {question["id"]: question["messages"][0]["content"] for question in questions}


@pytest.fixture(scope="session")
def challenges(prompts: dict[str, str]) -> dict[str, dict[str, str]]:
    """The tasks without the frame that all prompts share: template -> id -> text."""
    found: dict[str, dict[str, str]] = {}
    for id, prompt in prompts.items():
        match = FRAME.match(prompt)
        assert match, id
        found.setdefault(id.split("/")[1], {})[id] = match[1]
    assert {len(asked) for asked in found.values()} == {K}
    return found
