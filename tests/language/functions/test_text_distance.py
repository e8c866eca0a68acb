"""Distances against shortest paths in the graph of edits, the `diff` command, and each other."""

from __future__ import annotations

import itertools
import shutil
import subprocess
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import networkx
import pytest
from helpers.library_calls import call, code
from hypothesis import given, settings
from hypothesis import strategies as st

TEXTS = st.text(alphabet="abc", max_size=8)


def shortest(a: str, b: str, replacement: int) -> int:
    """The cheapest way through the grid of the two texts, steps along an axis costing 1 (Dijkstra)."""
    graph = networkx.DiGraph()
    for i, j in itertools.product(range(len(a) + 1), range(len(b) + 1)):
        graph.add_node((i, j))
        if i:
            graph.add_edge((i - 1, j), (i, j), weight=1)
        if j:
            graph.add_edge((i, j - 1), (i, j), weight=1)
        if i and j:
            graph.add_edge((i - 1, j - 1), (i, j), weight=0 if a[i - 1] == b[j - 1] else replacement)
    return int(networkx.dijkstra_path_length(graph, (0, 0), (len(a), len(b))))


@settings(deadline=None)
@given(TEXTS, TEXTS)
def test_distances_are_shortest_paths(a: str, b: str) -> None:
    assert call("levenshtein", a, b) == shortest(a, b, 1)
    assert call("indel_distance", a, b) == shortest(a, b, 2)
    found = call("longest_common_subsequence", a, b)
    assert 2 * len(found) == len(a) + len(b) - shortest(a, b, 2)


@given(TEXTS, TEXTS)
def test_common_texts_are_the_longest(a: str, b: str) -> None:
    def kept(text: str) -> set[str]:
        sizes = range(len(text) + 1)
        return {"".join(chosen) for size in sizes for chosen in itertools.combinations(text, size)}

    def runs(text: str) -> list[str]:
        return [text[low:high] for low in range(len(text)) for high in range(low + 1, len(text) + 1)]

    found = call("longest_common_subsequence", a, b)
    common = kept(a) & kept(b)
    assert found in common
    assert len(found) == max(map(len, common))
    assert all(call("is_subsequence", part, b) == (part in kept(b)) for part in kept(a))
    shared = [run for run in runs(a) if run in b]
    assert call("longest_common_substring", a, b) == max(shared, key=len, default="")


@given(TEXTS, TEXTS)
def test_the_common_subsequence_is_that_of_the_walk_through_the_table_of_lengths(a: str, b: str) -> None:
    @cache
    def longest(i: int, j: int) -> int:
        if i == len(a) or j == len(b):
            return 0
        return longest(i + 1, j + 1) + 1 if a[i] == b[j] else max(longest(i + 1, j), longest(i, j + 1))

    walked, i, j = "", 0, 0
    while i < len(a) and j < len(b):
        if a[i] == b[j]:
            walked, i, j = walked + a[i], i + 1, j + 1
        elif longest(i, j + 1) >= longest(i + 1, j):
            j += 1
        else:
            i += 1
    assert call("longest_common_subsequence", a, b) == walked


def test_published_distances() -> None:
    # Wagner and Fischer's and Levenshtein's own pairs as textbooks give them
    assert call("levenshtein", "intention", "execution") == 5
    assert call("levenshtein", "Saturday", "Sunday") == 3
    assert call("levenshtein", "kitten", "sitting") == 3
    assert call("hamming", "2173896", "2233796") == 3
    assert call("hamming", "karolin", "kerstin") == 3
    assert call("longest_common_subsequence", "AGGTAB", "GXTXAYB") == "GTAB"
    assert call("longest_common_subsequence", "abcd", "acbd") == "abd"


@given(st.text(max_size=20), st.integers(0, 20))
def test_hamming_counts_what_was_changed(text: str, changed: int) -> None:
    changed = min(changed, len(text))
    other = "".join(chr(ord(c) ^ 1) for c in text[:changed]) + text[changed:]
    assert call("hamming", text, other) == changed


@pytest.mark.skipif(shutil.which("diff") is None, reason="needs the command diff")
def test_long_texts_agree_with_the_diff_command(tmp_path: Path) -> None:
    for seed in (3, 7, 11):
        a = "".join("abcde"[seed * n * n // 7 % 5] for n in range(400))
        b = "".join("abcde"[(seed + 1) * n * n // 5 % 5] for n in range(370))
        for name, text in (("a", a), ("b", b)):
            (tmp_path / name).write_text("".join(f"{character}\n" for character in text))
        told = subprocess.run(
            ["diff", "--minimal", str(tmp_path / "a"), str(tmp_path / "b")],
            capture_output=True,
            text=True,
            check=False,
        ).stdout
        assert call("indel_distance", a, b) == sum(line[:1] in "<>" for line in told.splitlines())
        assert len(call("longest_common_subsequence", a, b)) * 2 == 770 - call("indel_distance", a, b)


def quickest(compute: Callable[[], Any]) -> float:
    def once() -> float:
        began = time.process_time()
        compute()
        return time.process_time() - began

    return min(once() for _ in range(5))


def test_distances_are_quick_enough() -> None:
    a, b = "abcdefghij" * 20, "bdacfjhgie" * 20
    assert quickest(lambda: call("levenshtein", a, b)) < 0.03
    assert quickest(lambda: call("longest_common_subsequence", a, b)) < 0.03
    assert quickest(lambda: call("longest_common_substring", a, b)) < 0.03
    assert quickest(lambda: call("indel_distance", a, b)) < 0.001
    assert quickest(lambda: call("longest_common_subsequence", a * 5, b * 5)) < 1


def test_long_texts_are_refused_at_once() -> None:
    a, b = "ab" * 10_000, "ba" * 10_000
    began = time.perf_counter()
    for name in ("levenshtein", "longest_common_subsequence", "longest_common_substring"):
        assert code(name, a, b) == "E502"
    assert time.perf_counter() - began < 0.1
    assert call("indel_distance", a, b) == 2
    assert code("hamming", "a", "ab") == "E501"
