"""The order of sessions is a topological one, and keeps to the spec's wherever it may."""

from __future__ import annotations

import networkx
from dia_compiler.analyze.dependencies import circles, ordered
from hypothesis import given
from hypothesis import strategies as st

NAMES = "abcdefgh"
NEEDS = st.dictionaries(st.sampled_from(NAMES), st.lists(st.sampled_from(NAMES), max_size=3, unique=True))


def graph(needs: dict[str, list[str]]) -> networkx.DiGraph:
    found = networkx.DiGraph()
    found.add_nodes_from(NAMES)
    found.add_edges_from((needed, name) for name, held in needs.items() for needed in held)
    return found


@given(NEEDS)
def test_each_stands_behind_those_that_it_needs_and_the_order_is_the_first_of_all_such(
    needs: dict[str, list[str]],
) -> None:
    found = graph(needs)
    if networkx.is_directed_acyclic_graph(found):
        assert ordered(NAMES, needs) == list(networkx.lexicographical_topological_sort(found))
        assert circles(needs) == []
    else:
        assert sorted(ordered(NAMES, needs)) == list(NAMES)
        assert circles(needs) != []


@given(NEEDS)
def test_a_circle_leads_back_to_its_begin(needs: dict[str, list[str]]) -> None:
    for circle in circles(needs):
        assert all(after in needs[name] for name, after in zip(circle, [*circle[1:], circle[0]], strict=True))
