"""The bundles of the shipped benchmarks, each compiled once for all tests that read it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from dia_compiler.pipeline.api import compile
from helpers.places import ROOT
from helpers.workers import made_once

# By default tests read the bundles whose digests are pinned. DIA_TRUTH_K asks for more instances of each family.
PINNED_K = 5
K = max(PINNED_K, int(os.environ.get("DIA_TRUTH_K", "0")))
ENOUGH = 10  # instances of a family among which each of four values comes

Records = list[dict[str, Any]]


def bundle_of(name: str, k: int, factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    """The bundle of the shipped benchmark with k instances of each item."""

    def compile_into(folder: Path) -> None:
        compile([ROOT / "specs" / name], k=k, out=folder, jobs=2)

    (path,) = made_once(f"{name}-k{k}", compile_into, factory, request).glob(f"{name}-*")
    return path


def records_of(name: str, factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> tuple[Records, Records]:
    """The questions and the answers of the shipped benchmark with K instances of each item."""
    path = bundle_of(name, K, factory, request)
    questions, answers = (records(path / part) for part in ("questions.jsonl", "answers.jsonl"))
    return questions, answers


def records(path: Path) -> Records:
    """The records of one file."""
    return [json.loads(line) for line in path.read_bytes().splitlines()]
