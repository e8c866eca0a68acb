"""Which known name is suggested for an unknown one."""

from __future__ import annotations

import pytest
from dia_language.diagnostics import closest, edits
from dia_language.functions import library


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("lenght", "length"),
        ("maen", "mean"),
        ("len", "length"),
        ("sorted", "sort"),
        ("hamming_distance", "hamming"),
        ("csv_read", "read_csv"),
        ("to_upper", "upper"),
        ("find_matches", "matches"),
        ("regex", None),
        ("pattern", None),
        ("weight_of", None),
        ("concatenated_pairs", None),
        ("", None),
    ],
)
def test_a_function_is_suggested_only_where_it_is_close(name: str, near: str | None) -> None:
    assert closest(name, library()) == near


@pytest.mark.parametrize(
    ("name", "names", "near"),
    [
        ("hamming_distance", ["indel_distance"], None),
        ("path_length", ["bit_length", "shortest_path_length"], "shortest_path_length"),
        ("idx", ["index", "index0"], "index"),
        ("weight", ["minimum_spanning_tree_weight"], None),
        ("anything", [], None),
    ],
)
def test_names_are_compared_by_letters_and_words(name: str, names: list[str], near: str | None) -> None:
    assert closest(name, names) == near


def test_long_names_are_not_compared() -> None:
    assert closest("a" * 100_000, ["a" * 99_999]) is None and closest("a" * 99, ["a" * 100_000, "a" * 100]) == "a" * 100


def test_edits_count_letters_added_left_out_replaced_and_swapped() -> None:
    assert [edits("", "abc"), edits("abc", ""), edits("maen", "mean"), edits("kitten", "sitting")] == [3, 3, 1, 3]
    assert [edits("ca", "abc"), edits("aab", "aba"), edits("same", "same")] == [3, 1, 0]
