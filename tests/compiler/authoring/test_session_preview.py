"""What previews say about the figures of sessions."""

from __future__ import annotations

import json
from typing import Any

import pytest
from dia_compiler.authoring.session_preview import OVER, shown_truth
from dia_runtime.data import data_folder


def values_of_over(node: Any) -> set[str]:
    """All values that the schema allows for the key `over` of a figure."""
    if isinstance(node, list):
        return set().union(*map(values_of_over, node))
    if not isinstance(node, dict):
        return set()
    own = set(node["enum"]) if "valid" in node.get("enum", ()) else set()
    return own.union(*map(values_of_over, node.values()))


def test_every_group_of_questions_has_its_words() -> None:
    schema = json.loads((data_folder() / "schemas" / "template.schema.json").read_text(encoding="utf-8"))
    assert set(OVER) == values_of_over(schema) >= {"all", "decided"}


@pytest.mark.parametrize("over", OVER)
def test_a_figure_is_shown_with_the_questions_that_it_counts(over: str) -> None:
    figure = {"summary": "share", "value": {"expression": "a == b"}, "over": over}
    truth = {"correct": {"condition": {"expression": "a"}}}
    assert shown_truth({"truth": truth, "figures": {"f": figure}})[-1] == (
        f"figure f: share of questions with `a == b`{OVER[over]}"
    )
