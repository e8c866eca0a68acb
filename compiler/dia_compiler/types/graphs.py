"""The parameter type graph: nodes and edges, by number of edges, by probability, connected, trees, in parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import comb
from typing import Any

from dia_language.counts import counted
from dia_language.numbers.values import Record, Value

from dia_compiler.types.base import (
    Choose,
    Domain,
    OptionFault,
    ParameterType,
    between,
    bounds_option,
    flag,
    flag_option,
    integer_option,
    key_of,
    option,
    order_of,
    written,
)
from dia_compiler.types.connected import Pair, connected_graphs, is_connected, is_strongly_connected
from dia_compiler.types.edges import ChanceEdges, Edges, SpannedEdges, TreeEdges, pairs_of
from dia_compiler.types.lists import capped_power
from dia_compiler.types.ranks import COUNT_CAP

NODES = 500
RANDOM_PAIRS = 20_000
DENOMINATOR = 1_000_000
COUNTED_NODES = 9
SMALL = 12


class Graphs(Domain):
    """Graphs on given nodes; the edges are drawn first, then their weights."""

    def __init__(self, nodes: list[Value], pairs: Sequence[Pair], edges: Edges, is_directed: bool,
                 is_connected: bool, weights: tuple[int, int] | None) -> None:  # fmt: skip
        self.nodes, self.pairs, self.edges, self.weights = nodes, pairs, edges, weights
        self.is_directed, self.is_connected = is_directed, is_connected

    def draw(self, choose: Choose) -> Value:
        if not self.is_connected or isinstance(self.edges, TreeEdges):
            places = self.edges.draw(choose)
        else:
            places = choose.where(self.edges.draw, self._connects, tries=20_000)
        return self._graph(places, choose)

    def _connects(self, places: list[int]) -> bool:
        joined = [self.pairs[place] for place in places]
        reaches = is_strongly_connected if self.is_directed else is_connected
        return reaches(len(self.nodes), joined)

    def _graph(self, places: list[int], choose: Choose) -> Value:
        nodes = self.nodes
        joined = map(self.pairs.__getitem__, places)
        graph = Record(nodes=list(nodes), edges=[[nodes[a], nodes[b]] for a, b in joined])
        graph["directed"] = self.is_directed
        if self.weights is not None:
            low, high = self.weights
            graph["weights"] = [low + choose.below(high - low + 1) for _ in places]
        return graph

    @cached_property
    def places(self) -> dict[Any, int]:
        """The number of each edge."""
        return {key_of([self.nodes[a], self.nodes[b]]): place for place, (a, b) in enumerate(self.pairs)}

    def contains(self, value: Value) -> bool:
        named = ["nodes", "edges", "directed"] + ["weights"] * (self.weights is not None)
        if not isinstance(value, Record) or sorted(value) != sorted(named):
            return False
        if key_of(value["nodes"]) != key_of(self.nodes) or value["directed"] is not self.is_directed:
            return False
        return self._has_edges(value["edges"]) and self._has_weights(value)

    def refusal(self, value: Value) -> str | None:
        names = ["nodes", "edges", "directed"] + ["weights"] * (self.weights is not None)
        if not isinstance(value, Record):
            return f"{written(value)} is not a graph: write it as a record of {', '.join(names)}"
        if sorted(value) != sorted(names):
            return (
                f"a graph of this type is a record of {', '.join(names)}; this one has {', '.join(value) or 'nothing'}"
            )
        if key_of(value["nodes"]) != key_of(self.nodes):
            return f"its nodes must be {written(list(self.nodes))}, in this order"
        if value["directed"] is not self.is_directed:
            return f"`directed` must be {str(self.is_directed).lower()}"
        return self._edge_refusal(value["edges"]) or self._weight_refusal(value)

    def _edge_refusal(self, edges: Value) -> str | None:
        if not isinstance(edges, list):
            return "`edges` must be a list of pairs of nodes"
        for edge in edges:
            if key_of(edge) not in self.places:
                is_turned = isinstance(edge, list) and key_of(edge[::-1]) in self.places
                turned = f"write the edge {written(edge)} as {written(edge[::-1])}" if is_turned else None
                return turned or f"no edge of this graph can be {written(edge)}"
        places = [self.places[key_of(edge)] for edge in edges]
        for (before, first), (after, second) in pairwise(zip(edges, places, strict=True)):
            if first == second:
                return f"the edge {written(after)} appears twice"
            if first > second:
                return f"the edge {written(after)} must come before {written(before)}"
        if not self.edges.low <= len(edges) <= self.edges.high:
            return f"it has {counted(len(edges), 'edge')}, not {between(self.edges.low, self.edges.high)}"
        return "it is not connected" if self.is_connected and not self._connects(places) else None

    def _weight_refusal(self, value: Record) -> str | None:
        if self.weights is None:
            return None
        weights, size = value["weights"], len(value["edges"])
        if not isinstance(weights, list) or len(weights) != size:
            return f"`weights` must have one number for each of the {size} edges"
        low, high = self.weights
        wrong = next((weight for weight in weights if type(weight) is not int or not low <= weight <= high), None)
        return None if wrong is None else f"the weight {written(wrong)} is not from {low} to {high}"

    def _has_edges(self, edges: Value) -> bool:
        if not isinstance(edges, list):
            return False
        places = [self.places.get(key_of(edge), -1) for edge in edges]
        if -1 in places or places != sorted(set(places)) or not self.edges.low <= len(places) <= self.edges.high:
            return False
        return not self.is_connected or self._connects(places)

    def _has_weights(self, value: Record) -> bool:
        if self.weights is None:
            return True
        low, high = self.weights
        weights = value["weights"]
        is_list = isinstance(weights, list) and len(weights) == len(value["edges"])
        return is_list and all(type(weight) is int and low <= weight <= high for weight in weights)

    @property
    def is_counted(self) -> bool:  # type: ignore[override]
        return not self.is_connected or isinstance(self.edges, TreeEdges) or self._can_count

    @property
    def _can_count(self) -> bool:
        size = len(self.nodes)
        return not self.is_directed and size <= COUNTED_NODES and len(self.pairs) == comb(size, 2)

    @property
    def count(self) -> int:
        each = 1 if self.weights is None else self.weights[1] - self.weights[0] + 1
        is_exact = self.is_connected and self._can_count and not isinstance(self.edges, TreeEdges)
        total = 0
        for length in range(self.edges.low, self.edges.high + 1):
            number = connected_graphs(len(self.nodes), length) if is_exact else self.edges.number(length)
            total += number * capped_power(each, length)
            if total >= COUNT_CAP:
                return COUNT_CAP
        return total

    def boundary(self) -> list[Value]:
        """Return the graphs with the fewest and the most edges, from the first pairs, unless they must be connected."""
        if self.is_connected or self.weights is not None:
            return []
        lengths = dict.fromkeys((self.edges.low, self.edges.high))
        return [self._plain(length) for length in lengths]

    def _plain(self, length: int) -> Value:
        edges = [[self.nodes[a], self.nodes[b]] for a, b in self.pairs[:length]]
        return Record(nodes=list(self.nodes), edges=edges, directed=self.is_directed)


class GraphType(ParameterType):
    summary = "a graph without loops or double edges; its fields are nodes, edges, directed and, if weighted, weights"
    options = {
        "nodes": option("data", "number of nodes (named 1, 2, 3 ...), or a list of their names"),
        "parts": option(
            "data", "sizes of parts, instead of `nodes`; edges only join different parts, so [3, 4] is bipartite"
        ),
        "edges": option("data", "number of edges, or {min, max}"),
        "probability": option("data", "probability of each edge (default 1/2: all graphs are equally likely)"),
        "directed": flag("each edge leads from its first node to its second"),
        "connected": flag("every node can be reached from every other"),
        "tree": flag("a tree; all labelled trees are equally likely"),
        "weighted": option("data", "{min, max} of the integer edge weights"),
    }

    def domain(self, options: Mapping[str, Any]) -> Domain:
        parts = _parts(options)
        nodes = list(range(1, sum(parts) + 1)) if parts else _nodes(options)
        is_directed = flag_option(options, "directed")
        pairs = pairs_of(len(nodes), is_directed, parts)
        has_tree, is_whole = flag_option(options, "tree"), flag_option(options, "connected")
        edges = _tree(options, len(nodes)) if has_tree else _edges(options, len(pairs))
        if is_whole and not has_tree:
            edges = _connected(edges, len(nodes), is_directed, bool(parts))
        weights = bounds_option(options, "weighted", -(1 << 64), 1 << 64) if "weighted" in options else None
        return Graphs(nodes, pairs, edges, is_directed, is_whole or has_tree, weights)


def _nodes(options: Mapping[str, Any]) -> list[Value]:
    nodes = options.get("nodes")
    if not isinstance(nodes, list):
        number = integer_option(options, "nodes")
        if number is None or not 1 <= number <= NODES:
            raise OptionFault("nodes", f"`nodes` must be between 1 and {NODES}", "give a number or a list of names")
        return list(range(1, number + 1))
    if not 1 <= len(nodes) <= NODES or any(type(node) not in (int, str) for node in nodes):
        raise OptionFault("nodes", f"`nodes` must be 1 to {NODES:,} texts or integers")
    if len(set(nodes)) != len(nodes):
        raise OptionFault("nodes", "duplicate node in `nodes`")
    return sorted(nodes, key=order_of)


def _parts(options: Mapping[str, Any]) -> tuple[int, ...]:
    parts = options.get("parts")
    if parts is None:
        return ()
    for name in ("nodes", "tree"):
        if name in options:
            raise OptionFault("parts", f"use only one of `parts` and `{name}`", "remove one of them")
    if not isinstance(parts, list) or any(type(size) is not int or size < 1 for size in parts):
        raise OptionFault("parts", "`parts` must be a list of positive sizes")
    if len(parts) < 2 or sum(parts) > NODES:
        raise OptionFault("parts", f"`parts` must have at least two sizes, with at most {NODES:,} nodes in total")
    return tuple(parts)


def _tree(options: Mapping[str, Any], size: int) -> Edges:
    for name in ("edges", "probability", "directed"):
        if name in options:
            raise OptionFault(name, f"`{name}` cannot be combined with `tree`", f"remove `{name}`")
    return TreeEdges(size)


def _edges(options: Mapping[str, Any], pairs: int) -> Edges:
    if "edges" not in options:
        return ChanceEdges(_few_enough(pairs), _chance(options))
    if "probability" in options:
        raise OptionFault("probability", "use only one of `probability` and `edges`", "remove one of them")
    low, high = bounds_option(options, "edges", 0, pairs)
    return Edges(pairs, low, high)


def _few_enough(pairs: int) -> int:
    if pairs > RANDOM_PAIRS:
        message = f"`probability` supports at most {RANDOM_PAIRS:,} pairs of nodes; this graph has {pairs}"
        raise OptionFault(None, message, "give the number of `edges` instead")
    return pairs


def _chance(options: Mapping[str, Any]) -> Fraction:
    chance = options.get("probability", Fraction(1, 2))
    if type(chance) is bool or not isinstance(chance, (int, Fraction)) or not 0 < chance < 1:
        raise OptionFault("probability", "`probability` must be a number between 0 and 1", "write `= 1/2` or 0.5")
    if chance.denominator > DENOMINATOR:
        raise OptionFault("probability", f"the denominator of `probability` must be at most {DENOMINATOR}")
    return Fraction(chance)


def _connected(edges: Edges, size: int, is_directed: bool, has_parts: bool) -> Edges:
    """Return the edges, as many as a connected graph needs. Raises OptionFault if random edges rarely connect it."""
    least = 0 if size == 1 else size if is_directed else size - 1
    if edges.high < least:
        raise OptionFault("edges", f"connecting {size} nodes needs at least {counted(least, 'edge')}")
    edges.low = max(edges.low, least)
    if not (is_directed or has_parts or isinstance(edges, ChanceEdges)):
        return SpannedEdges(size, edges.low, edges.high)
    if size > SMALL and edges.usual() * (10 if is_directed else 20) < 7 * size * (size // 4).bit_length():
        raise OptionFault(
            None, f"with so few edges a graph of {size} nodes is rarely connected", "use more edges or fewer nodes"
        )
    return edges
