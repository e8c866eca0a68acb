"""Bundles and runs of the first rules of reading are graded as they were: every recorded reply keeps its verdict.

The digests were computed before there were second rules.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from dia_runtime.grading.grader import grade
from helpers.places import GOLDEN, SHARED

DATA = SHARED / "data"
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason=f"the recorded replies are not at {DATA}")
EXPECTED = GOLDEN / "first_rules.json"
LETTERS = {"kind": "letter", "of": list("ABCDE"), "skip": "E"}
TAGS = {"kind": "xml", "skip": "I-DO-NOT-KNOW"}


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """The records of a compressed file."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def letter(gold: str) -> dict[str, Any]:
    comparison = {"type": "choice", "of": list("ABCDE")}
    return {"answer": gold, "accept": [], "text": gold, "comparison": comparison}


def text(truth: str) -> dict[str, Any]:
    return {"answer": truth, "accept": [], "text": truth, "comparison": {"type": "text"}}


def verdicts(path: Path, chain: str | None) -> list[str]:
    """The id, the verdict, the step and the extracted text of every reply."""
    lines = []
    for row in rows(path):
        if "gold" in row:
            record, reply, format, id = letter(row["gold"]), row["response"], LETTERS, row["sample_id"]
        else:
            record, reply, format, id = text(row["truth"]), row["reply"], TAGS, row["id"]
        found = grade(record, reply, format) if chain is None else grade(record, reply, format, chain)
        lines.append(f"{id} {found.verdict} {found.step} {found.extracted!r}")
    return lines


def digests() -> dict[str, dict[str, str]]:
    """File -> chain -> the digest of its verdicts; `default` is what a bundle without rules is graded by."""
    chains = {"default": None, "strict": "strict", "lenient": "lenient", "compat": "compat"}
    paths = sorted([*DATA.glob("idk/*__*.jsonl.gz"), *DATA.glob("real_models/*.jsonl.gz")])
    return {
        path.name: {
            name: hashlib.sha256("\n".join(verdicts(path, chain)).encode()).hexdigest()
            for name, chain in chains.items()
        }
        for path in paths
    }


def test_every_recorded_reply_keeps_its_verdict() -> None:
    expected = json.loads(EXPECTED.read_text(encoding="utf-8"))
    found = digests()
    assert found == expected and len(found) >= 13
    assert all(chains["default"] == chains["strict"] for chains in found.values())
