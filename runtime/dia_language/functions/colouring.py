"""Graph colourings and cliques by exact search. Running time can grow exponentially with the number of nodes."""

from __future__ import annotations

from collections.abc import Hashable

from dia_language.budgets import charge
from dia_language.diagnostics import LanguageError
from dia_language.functions.argument_types import Graph, Value
from dia_language.functions.indexed_graph import indexed, require_size
from dia_language.functions.ordering import PLAIN, hashable
from dia_language.functions.registry import library_function
from dia_language.limits import LIST_LENGTH

SEARCHED_NODES = 64
COUNTED_NODES = 32
COLOURS_BITS = 1_000


@library_function
def chromatic_number(graph: Graph) -> int:
    """The smallest number of colours for the nodes such that no edge joins two nodes of the same colour.

    At most 64 nodes; edge directions are ignored. Uses branch and bound; the next node to colour is always the one with
    the fewest available colours. Source: Brelaz, Communications of the ACM 22 (1979).

    Examples:
        chromatic_number(graph(5, [[1, 2], [2, 3], [3, 4], [4, 5], [1, 5]])) -> 3
    """
    indexed_graph = indexed(graph)
    require_size("chromatic_number", indexed_graph, SEARCHED_NODES)
    around = indexed_graph.around
    free = {place: others.bit_count() for place, others in enumerate(around)}
    return _coloured(around, [0] * len(around), free, 0, len(around) + 1, len(_clique(around)))


def _coloured(around: list[int], near: list[int], free: dict[int, int], used: int, best: int, least: int) -> int:
    """The fewest colours below `best` that complete the colouring, or `best`; the search stops at `least`.

    `near` holds, for each colour, the neighbours of its nodes as bits. `free` holds the uncoloured nodes, each with
    256 times the number of colours next to it plus its degree; this decides which node is next.
    """
    charge(1 + len(around) * len(free) // 12)
    if not free:
        return used
    place = max(free, key=free.__getitem__)
    others = around[place]
    for colour in range(used + 1):
        if colour + 1 >= best:
            break
        neighbours = near[colour]
        if neighbours >> place & 1:
            continue
        left, new = free.copy(), others & ~neighbours
        del left[place]
        while new:
            low = new & -new
            at = low.bit_length() - 1
            if at in left:
                left[at] += 256
            new ^= low
        near[colour] |= others
        best = min(best, _coloured(around, near, left, max(used, colour + 1), best, least))
        near[colour] = neighbours
        if best <= max(least, used):
            break
    return best


@library_function
def max_clique(graph: Graph) -> list[Value]:
    """The largest set of nodes in which any two are joined by an edge, as a list in node order.

    If there are several, the one whose nodes come first in the node order. At most 64 nodes; edge directions are
    ignored.

    Examples:
        max_clique(graph(4, [[1, 2], [2, 3], [3, 4], [2, 4]])) -> [2, 3, 4]
    """
    indexed_graph = indexed(graph)
    require_size("max_clique", indexed_graph, SEARCHED_NODES)
    return [indexed_graph.nodes[place] for place in _clique(indexed_graph.around)]


def _clique(around: list[int]) -> list[int]:
    best = most = 0
    waiting = [(0, 0, (1 << len(around)) - 1)]
    while waiting:
        chosen, size, candidates = waiting.pop()
        charge(1)
        while size + candidates.bit_count() > most:
            if not candidates:
                best, most = chosen, size
                break
            low = candidates & -candidates
            rest = candidates ^ low
            waiting.append((chosen, size, rest))
            chosen, size, candidates = chosen | low, size + 1, rest & around[low.bit_length() - 1]
            charge(1)
    return [place for place in range(len(around)) if best >> place & 1]


@library_function
def colourings(graph: Graph, choices: list[list[Value]], limit: int = 2) -> list[list[Value]]:
    """Ways to give each node one of its own choices such that no edge joins two nodes with the same value.

    `choices` has a list for each node, in node order; a node that is already coloured has one choice. Each colouring
    lists the values in node order. At most `limit` colourings are returned; the default of 2 is enough to tell whether
    there is only one. Edge directions are ignored. The next node is always one with the fewest values left. Raises an
    error (E502) if the search takes more steps than the template allows.

    Examples:
        colourings(graph(3, [[1, 2], [2, 3]]), [["r"], ["r", "b"], ["b", "g"]]) -> [["r", "b", "g"]]
        colourings(graph(2, [[1, 2]]), [[1, 2], [1, 2]]) -> [[1, 2], [2, 1]]
        colourings(graph(2, [[1, 2]]), [[1], [1]]) -> []
    """
    indexed_graph = indexed(graph)
    if not 1 <= limit <= LIST_LENGTH:
        raise LanguageError(f"`colourings` needs `limit` from 1 to {LIST_LENGTH:,}")
    if len(choices) != len(indexed_graph.nodes):
        raise LanguageError("`colourings` needs one list of choices for each node")
    values: list[Value] = []
    bits: dict[Hashable, int] = {}
    left: list[int] = []
    for choices_of_node in choices:
        charge(len(choices_of_node))
        mask = 0
        for value in choices_of_node:
            key = value if type(value) in PLAIN else _key(value)
            if key not in bits:
                bits[key] = 1 << len(values)
                values.append(value)
            mask |= bits[key]
        left.append(mask)
    solutions = _colourings(indexed_graph.neighbours, left, limit)
    return [[values[bit.bit_length() - 1] for bit in colouring] for colouring in solutions]


def _key(value: Value) -> Hashable:
    """The key that only equal values share."""
    key = hashable(value)
    if key is None:
        raise LanguageError("`colourings` cannot use a symbolic expression", "use numbers, texts, lists or records")
    return key


def _colourings(neighbours: list[list[int]], left: list[int], limit: int) -> list[list[int]]:
    """The colourings as one bit for each node; `left` has the possible ones."""
    colourings: list[list[int]] = []
    waiting = [(list(range(len(left))), left)]
    while waiting and len(colourings) < limit:
        places, left = waiting.pop()
        coloured = 0  # as bits
        while True:
            charge(1 + len(places) // 4)
            at, fewest = -1, 0
            for place in places:
                if coloured >> place & 1:
                    continue
                count = left[place].bit_count()
                if at < 0 or count < fewest:
                    at, fewest = place, count
                    if count < 2:
                        break
            if at < 0 or fewest != 1:
                break
            coloured |= 1 << at
            others = ~left[at]
            for place in neighbours[at]:
                left[place] &= others
        if at < 0:
            colourings.append(left)
            continue
        places = [place for place in places if not coloured >> place & 1]
        rest = left[at]
        while rest:  # the last choice first, so that the first one is tried first
            bit = 1 << rest.bit_length() - 1
            rest ^= bit
            waiting.append((places, [*left[:at], bit, *left[at + 1 :]]))
    return colourings


@library_function
def count_colourings(graph: Graph, colours: int) -> int:
    """The number of colourings with `colours` colours in which no edge joins two nodes of the same colour.

    This is the value of the chromatic polynomial, computed by addition-contraction: for two nodes without an edge
    between them, it adds the number of colourings in which their colours differ and the number in which their colours
    are the same. At most 32 nodes; edge directions are ignored. The code is independent of `chromatic_number`. Source:
    Whitney, Bulletin of the American Mathematical Society 38 (1932).

    Examples:
        count_colourings(graph(3, [[1, 2], [2, 3], [1, 3]]), 3) -> 6
        count_colourings(graph(2, []), 5) -> 25
    """
    indexed_graph = indexed(graph)
    require_size("count_colourings", indexed_graph, COUNTED_NODES)
    if colours < 0 or colours.bit_length() > COLOURS_BITS:
        raise LanguageError("`count_colourings` needs `colours` to be from 0 to 2**1000")
    return _counted(tuple(indexed_graph.around), colours, {})


def _counted(around: tuple[int, ...], colours: int, counts: dict[tuple[int, ...], int]) -> int:
    count = counts.get(around) if around else 1
    if count is None:
        charge(len(around))
        others = min(around, key=int.bit_count)
        apart = _strangers(around, others)
        if apart is None:
            # The node and its neighbours form a clique, which cannot be coloured with fewer colours than nodes
            left = colours - others.bit_count()
            count = left * _counted(_without(around, around.index(others)), colours, counts) if left > 0 else 0
        else:
            # The colours of two nodes without an edge between them either differ or are the same
            joined = _counted(_joined(around, *apart), colours, counts)
            count = joined + _counted(_merged(around, *apart), colours, counts)
        counts[around] = count
    return count


def _strangers(around: tuple[int, ...], places: int) -> tuple[int, int] | None:
    """Two positions without an edge between them; None if every two have one."""
    rest = places
    while rest:
        low = rest & -rest
        a = low.bit_length() - 1
        missing = places & ~around[a] ^ low
        if missing:
            return a, missing.bit_length() - 1
        rest ^= low
    return None


def _joined(around: tuple[int, ...], a: int, b: int) -> tuple[int, ...]:
    """The graph with an additional edge."""
    changed = list(around)
    changed[a] |= 1 << b
    changed[b] |= 1 << a
    return tuple(changed)


def _merged(around: tuple[int, ...], a: int, b: int) -> tuple[int, ...]:
    """The graph with two nodes merged."""
    changed = [others | (1 << a) if others >> b & 1 else others for others in around]
    changed[a] |= around[b]
    return _without(tuple(changed), b)


def _without(around: tuple[int, ...], place: int) -> tuple[int, ...]:
    """The graph without the node; later nodes move up."""
    below = (1 << place) - 1
    above = ~below
    remaining = around[:place] + around[place + 1 :]
    return tuple([others & below | others >> 1 & above for others in remaining])
