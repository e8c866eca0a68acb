"""Search by the rules of a spec: shortest paths, reachable states and exact covers.

A state is any value except symbolic expressions: a number, a text, a list or a record. `moves` is a function that takes
a state and returns the list of the states that follow it. No search uses randomness or the clock. Each state, each
move and the size of the states cost steps, so that a search that is too large ends with E502, at the same state on
every machine.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator

from dia_language.budgets import charge
from dia_language.diagnostics import LanguageError
from dia_language.functions.argument_types import Function, Value
from dia_language.functions.ordering import hashable
from dia_language.functions.registry import library_function
from dia_language.limits import LIST_LENGTH
from dia_language.numbers import operators
from dia_language.numbers.values import kind_of

STEPS_OF_STATE = 20  # the calls of `moves` and `goal`; keeps a search within the seconds of an evaluation
SIZE_OF_STEP = 16  # characters or items of a state that cost a step
STEPS_OF_COVER = 5
BITS_OF_STEP = 256
NUMBERS = frozenset({int, bool})


@library_function
def search(start: Value, moves: Function, goal: Function) -> list[Value]:
    """The shortest path from `start` to a state for which `goal` is true: a list of states, both ends included.

    `moves` is a function that takes a state and returns the list of the next states; `goal` takes a state and returns
    true or false. The number of moves is the length of the path minus 1. If there are several shortest paths, the
    result follows the order of the lists that `moves` returns. If no state that can be reached is a goal, the result is
    the empty list. Uses breadth-first search. A state costs 20 steps, or more if it has over 16 characters or items.
    Raises an error (E502) if the search takes more steps than the template allows. Source: Moore, Proceedings of the
    International Symposium on the Theory of Switching (1959).

    Examples:
        search(60, divisors, is_prime) -> [60, 2]
        search([1, 2, 3], permutations, is_sorted) -> [[1, 2, 3]]
        search(1, divisors, is_prime) -> []
    """
    parents: dict[Hashable, Hashable] = {}
    states: dict[Hashable, Value] = {}
    for _, state, key, parent in _states("search", start, moves):
        parents[key] = parent
        states[key] = state
        if operators.truth(goal(state)):
            path = [state]
            while (key := parents[key]) is not None:
                path.append(states[key])
            return path[::-1]
    return []


@library_function
def reachable(start: Value, moves: Function, most: int | None = None) -> list[list[Value]]:
    """All states that can be reached from `start`, by number of moves: entry n lists those that take n moves.

    Entry 0 is [start]. Each state appears once, in the entry for the smallest number of moves that reaches it. `moves`
    takes a state and returns the list of the next states. If `most` is given, the search stops after this many moves.
    If a state is a partial solution and `moves` returns all ways to extend it by one step, the last entry lists all
    solutions (backtracking). Raises an error (E502) like `search`.

    Examples:
        reachable(12, prime_factors) -> [[12], [2, 3]]
        reachable(24, divisors, 1) -> [[24], [1, 2, 3, 4, 6, 8, 12]]
    """
    if most is not None and most < 0:
        raise LanguageError("`reachable` needs `most` to be 0 or more")
    layers: list[list[Value]] = []
    for depth, state, _, _ in _states("reachable", start, moves, most):
        if depth == len(layers):
            layers.append([])
        layers[depth].append(state)
    return layers


def _states(
    name: str, start: Value, moves: Callable[[Value], Value], most: int | None = None
) -> Iterator[tuple[int, Value, Hashable, Hashable | None]]:
    """Each state when it is first found: its number of moves, itself, its key, and the key of the state before it."""
    key = _key(name, start)
    visited = {key}
    layer: list[tuple[Value, Hashable]] = [(start, key)]
    yield 0, start, key, None
    depth = 0
    while layer and depth != most:
        depth += 1
        following: list[tuple[Value, Hashable]] = []
        for state, key in layer:
            charge(STEPS_OF_STATE)
            others = moves(state)
            if type(others) is not list:
                raise LanguageError(
                    f"`moves` of `{name}` must return a list of states; this is {kind_of(others)}",
                    "for a single state, return [state]",
                )
            for other in others:
                other_key = _key(name, other)
                if other_key not in visited:
                    visited.add(other_key)
                    following.append((other, other_key))
                    yield depth, other, other_key, key
        layer = following


def _key(name: str, state: Value) -> Hashable:
    """The key that only equal states share. Charges the state's size."""
    key, size = _key_and_size(state)
    charge(1 + size // SIZE_OF_STEP)
    if key is None:
        raise LanguageError(f"`{name}` cannot use a symbolic expression", "use numbers, texts, lists or records")
    return key


def _key_and_size(state: Value) -> tuple[Hashable | None, int]:
    """The key of `hashable`, and the number of values and characters in a state."""
    kind = type(state)
    if kind is list:
        if NUMBERS.issuperset(map(type, state)):
            return ("list", tuple(state)), 1 + len(state)
        keys, size = [], 1
        for item in state:
            key, size_of_item = _key_and_size(item)
            keys.append(key)
            size += size_of_item
        return None if None in keys else ("list", tuple(keys)), size
    if kind is int or kind is str:
        return state, 1 if kind is int else len(state)
    return hashable(state), _size(state)


def _size(state: Value) -> int:
    """The number of values and characters in a state."""
    if isinstance(state, dict):
        return 1 + sum(map(_size, state.values()))
    if type(state) is list:
        return 1 + (len(state) if NUMBERS.issuperset(map(type, state)) else sum(map(_size, state)))
    return len(state) if isinstance(state, (str, bytes)) else 1


@library_function
def exact_cover(items: list[Value], options: list[list[Value]], limit: int = 2) -> list[list[int]]:
    """The ways to choose options so that each of the `items` is in exactly one of them.

    Each option is a list of the values that it covers. Values that are in options but not in `items` may be covered at
    most once, like the diagonals in the n-queens problem. Each solution lists the positions of its options, in
    ascending order. Options without any of the `items` are never chosen. At most `limit` solutions are returned. With
    the default of 2, a puzzle has exactly one solution if the result has length 1. Raises an error for an option that
    contains a value twice, and E502 if the search takes more steps than the limit of the template. Source: Knuth,
    "Dancing links", Millennial Perspectives in Computer Science (2000), algorithm X.

    Examples:
        exact_cover([1, 2, 3], [[1], [2, 3], [1, 2], [3]]) -> [[0, 1], [2, 3]]
        exact_cover([1, 2, 3], [[1, 2], [2, 3]]) -> []
        exact_cover(["a", "b"], [["a", 1], ["b", 1], ["b", 2]]) -> [[0, 2]]
    """
    if not 1 <= limit <= LIST_LENGTH:
        raise LanguageError(f"`exact_cover` needs `limit` from 1 to {LIST_LENGTH:,}")
    holders: dict[Hashable, int] = {}  # the options that contain a value, as bits
    keys_of_options: list[list[Hashable]] = []
    for at, option in enumerate(options):
        keys = [_key("exact_cover", value) for value in option]
        charge(len(keys) * (1 + at // BITS_OF_STEP))
        if len(set(keys)) < len(keys):
            raise LanguageError(f"option {at} of `exact_cover` contains a value twice")
        for key in keys:
            holders[key] = holders.get(key, 0) | 1 << at
        keys_of_options.append(keys)
    required = dict.fromkeys(_key("exact_cover", item) for item in items)
    conflicts: list[int] = []
    for keys in keys_of_options:
        charge((1 + len(keys)) * (1 + len(options) // BITS_OF_STEP))
        conflicting = 0
        for key in keys:
            conflicting |= holders[key]
        conflicts.append(conflicting)
    bits = {key: 1 << place for place, key in enumerate(required)}
    covered = [sum([bits[key] for key in keys if key in bits]) for keys in keys_of_options]
    return _covers([holders.get(key, 0) for key in required], covered, conflicts, limit)


def _covers(holders: list[int], covered: list[int], conflicts: list[int], limit: int) -> list[list[int]]:
    """Algorithm X: `holders` has the options of each required item as bits, `covered` the items of each option."""
    solutions: list[list[int]] = []
    waiting: list[tuple[tuple[int, ...], int, tuple[int, ...]]] = []
    waiting.append((tuple(range(len(holders))), (1 << len(covered)) - 1, ()))
    while waiting and len(solutions) < limit:
        uncovered, options, chosen = waiting.pop()
        if chosen:
            last = chosen[-1]
            items = covered[last]
            uncovered = tuple([item for item in uncovered if not items >> item & 1])
            options &= ~conflicts[last]
        charge(STEPS_OF_COVER + len(uncovered) * (1 + len(covered) // BITS_OF_STEP) // 4)
        if not uncovered:
            solutions.append(sorted(chosen))
            continue
        candidates, fewest = 0, len(covered) + 1
        for item in uncovered:
            options_of_item = holders[item] & options
            if (count := options_of_item.bit_count()) < fewest:
                candidates, fewest = options_of_item, count
                if not count:
                    break
        while candidates:  # the highest first, so that the lowest is tried first
            option = candidates.bit_length() - 1
            candidates ^= 1 << option
            waiting.append((uncovered, options, (*chosen, option)))
    return solutions
