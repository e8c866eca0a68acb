"""Search: shortest paths, reachable states, exact covers, and sums of different integers.

A state is any value except symbolic expressions: a number, a text, a list or a record. `moves` is a function that takes
a state and returns the list of the states that follow it. No search uses randomness or the clock. Each state, each
move and the size of the states cost steps, so that a search that is too large ends with E502, at the same state on
every machine.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Hashable, Iterator
from itertools import accumulate
from typing import NamedTuple

from dia_language.budgets import charge, left
from dia_language.diagnostics import LanguageError
from dia_language.functions.argument_types import Function, Value
from dia_language.functions.ordering import hashable
from dia_language.functions.registry import library_function
from dia_language.limits import LIST_LENGTH
from dia_language.numbers.values import described, kind_of

STEPS_OF_STATE = 20  # the calls of `moves` and `goal`; keeps a search within the seconds of an evaluation
SIZE_OF_STEP = 16  # characters or items of a state that cost a step
STEPS_OF_COVER = 5
BITS_OF_STEP = 256
NUMBERS = frozenset({int, bool})
INTEGERS = frozenset({int})
PLAIN = frozenset({int, str})


@library_function
def search(start: Value, moves: Function, goal: Function) -> list[Value]:
    """The shortest path from `start` to a state for which `goal` is true: a list of states, both ends included.

    `moves` is a function that takes a state and returns the list of the next states; `goal` takes a state and returns
    true or false. The number of moves is the length of the path minus 1. If there are several shortest paths, the
    result follows the order of the lists that `moves` returns. If no state that can be reached is a goal, the result is
    the empty list. Uses breadth-first search. A state costs 20 steps, and a move 1, or more if its state has over 16
    characters or items. Raises an error (E502) if the search takes more steps than the template allows. Source: Moore,
    Proceedings of the International Symposium on the Theory of Switching (1959).

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
        if _is_goal(goal(state)):
            path = [state]
            while (key := parents[key]) is not None:
                path.append(states[key])
            return path[::-1]
    return []


def _is_goal(value: Value) -> bool:
    if type(value) is not bool:
        help = "the arguments are search(start, moves, goal)"
        raise LanguageError(
            f"`search` needs a `goal` that is true or false for a state; it is {described(value)}", help
        )
    return value


@library_function
def reachable(start: Value, moves: Function, most: int | None = None) -> list[list[Value]]:
    """All states that can be reached from `start`, by number of moves: entry n lists those that take n moves.

    Entry 0 is [start]. Each state appears once, in the entry for the smallest number of moves that reaches it. `moves`
    takes a state and returns the list of the next states. If `most` is given, the search stops after this many moves.
    For backtracking, let a state be a partial solution, and let `moves` return all ways to extend it by one step. Entry
    n then lists all solutions with n steps; if there are none, the result has no entry n. Raises an error (E502) like
    `search`.

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
    if type(state) is str:  # the same as below, without a second call
        charge(1 + len(state) // SIZE_OF_STEP)
        return state
    key, size = _key_and_size(state)
    charge(1 + size // SIZE_OF_STEP)
    if key is None:
        raise LanguageError(f"`{name}` cannot use a symbolic expression", "use numbers, texts, lists or records")
    return key


def _keys(name: str, values: list[Value]) -> list[Hashable]:
    """The keys of several values; integers and short texts are their own keys."""
    kinds = set(map(type, values))
    if kinds <= INTEGERS or (kinds <= PLAIN and all(type(item) is int or len(item) < SIZE_OF_STEP for item in values)):
        charge(len(values))
        return values
    return [_key(name, value) for value in values]


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
def exact_cover(
    items: list[Value], options: list[list[Value]], limit: int = 2, chosen: list[int] | None = None
) -> list[list[int]]:
    """The ways to choose options so that each of the `items` is in exactly one of them.

    Each option is a list of the values that it covers. Values that are in options but not in `items` may be covered at
    most once, like the diagonals in the n-queens problem. Each solution lists the positions of its options, in
    ascending order. Options without any of the `items` are never chosen. At most `limit` solutions are returned; the
    default of 2 is enough to tell whether there is only one. `chosen` are positions of options that every solution must
    contain, such as the clues of a puzzle. If several calls have the same items and options, define the options under
    `let`: they are then indexed only once. Raises an error for an option that contains a value twice, and (E502) if the
    search takes more steps than the template allows. Source: Knuth, "Dancing links", Millennial Perspectives in
    Computer Science (2000), algorithm X.

    Examples:
        exact_cover([1, 2, 3], [[1], [2, 3], [1, 2], [3]]) -> [[0, 1], [2, 3]]
        exact_cover([1, 2, 3], [[1], [2, 3], [1, 2], [3]], 2, [3]) -> [[2, 3]]
        exact_cover([1, 2, 3], [[1, 2], [2, 3]]) -> []
        exact_cover(["a", "b"], [["a", 1], ["b", 1], ["b", 2]]) -> [[0, 2]]
    """
    if not 1 <= limit <= LIST_LENGTH:
        raise LanguageError(f"`exact_cover` needs `limit` from 1 to {LIST_LENGTH:,}")
    if chosen and not all(0 <= at < len(options) for at in chosen):
        raise LanguageError("`chosen` of `exact_cover` must be positions of options")
    return _covers(_conflicts(items, options), limit, chosen or [])


class _Conflicts(NamedTuple):
    """For each item, its options as bits; for each option, its items and the options that it excludes as bits."""

    items: list[Value]
    options: list[list[Value]]
    steps: int
    holders: list[int]
    covered: list[int]
    excluded: list[int]


_RECENT: list[_Conflicts] = []
MOST_RECENT = 4


def _conflicts(items: list[Value], options: list[list[Value]]) -> _Conflicts:
    """The conflicts between options; if they are those of a recent call, they are not computed again."""
    for recent in _RECENT:
        if recent.options is options and recent.items == items:
            charge(recent.steps)
            return recent
    begin = left()
    holders: dict[Hashable, int] = {}
    keys_of_options: list[list[Hashable]] = []
    for at, option in enumerate(options):
        keys = _keys("exact_cover", option)
        charge(len(keys) * (1 + at // BITS_OF_STEP))
        if len(set(keys)) < len(keys):
            raise LanguageError(f"option {at} of `exact_cover` contains a value twice")
        bit = 1 << at
        for key in keys:
            holders[key] = holders.get(key, 0) | bit
        keys_of_options.append(keys)
    bits = {key: 1 << place for place, key in enumerate(dict.fromkeys(_keys("exact_cover", items)))}
    covered: list[int] = []
    excluded: list[int] = []
    for keys in keys_of_options:
        charge((1 + len(keys)) * (1 + len(options) // BITS_OF_STEP))
        covering = excluding = 0
        for key in keys:
            excluding |= holders[key]
            covering |= bits.get(key, 0)
        covered.append(covering)
        excluded.append(excluding)
    holders_of_items = [holders.get(key, 0) for key in bits]
    result = _Conflicts(items, options, begin - left(), holders_of_items, covered, excluded)
    _RECENT[:] = [result, *_RECENT[: MOST_RECENT - 1]]
    return result


def _covers(conflicts: _Conflicts, limit: int, chosen: list[int]) -> list[list[int]]:
    """The solutions by algorithm X; the item with the fewest options is covered next."""
    _, _, _, holders, covered, excluded = conflicts
    done, options = 0, (1 << len(covered)) - 1
    for at in dict.fromkeys(chosen):
        if not options >> at & 1:
            return []
        done |= covered[at]
        options &= ~excluded[at]
    solutions: list[list[int]] = []
    start = list(range(len(holders)))
    waiting: list[tuple[list[int], int, int, tuple[int, ...]]] = [(start, done, options, tuple(dict.fromkeys(chosen)))]
    words = 1 + len(covered) // BITS_OF_STEP
    nothing_left = len(covered) + 2
    while waiting and len(solutions) < limit:
        items, done, options, path = waiting.pop()
        uncovered = [item for item in items if not done >> item & 1]
        while True:
            charge(STEPS_OF_COVER + len(uncovered) * words // 4)
            candidates, fewest = 0, nothing_left
            for item in uncovered:
                if done >> item & 1:
                    continue
                options_of_item = holders[item] & options
                if (count := options_of_item.bit_count()) < fewest:
                    candidates, fewest = options_of_item, count
                    if count < 2:
                        break
            if fewest != 1:
                break
            option = candidates.bit_length() - 1
            done |= covered[option]
            options &= ~excluded[option]
            path = (*path, option)
        if fewest == nothing_left:
            solutions.append(sorted(path))
        while candidates:  # the highest first, so that the lowest is tried first
            option = candidates.bit_length() - 1
            candidates ^= 1 << option
            waiting.append((uncovered, done | covered[option], options & ~excluded[option], (*path, option)))
    return solutions


@library_function
def solve_distinct(weights: list[int], choices: list[list[int]], total: int, limit: int = 2) -> list[list[int]]:
    """Solutions of weights[0] * x[0] + weights[1] * x[1] + ... = total in which all x differ and x[i] is in choices[i].

    For example, x are the digits of a puzzle in which letters stand for different digits. At most `limit` solutions are
    returned; the default of 2 is enough to tell whether there is only one. The search first sets each x that has one
    choice, then those with the largest weights (by absolute value), and skips values with which the others cannot reach
    the total. Raises an error (E502) if the search takes more steps than the template allows.

    Examples:
        solve_distinct([1, 1], [[1, 2, 3], [1, 2, 3]], 4) -> [[1, 3], [3, 1]]
        solve_distinct([1, 2, 3], [[0, 1, 2], [0, 1, 2], [0, 1, 2]], 4) -> [[2, 1, 0]]
        solve_distinct([2, 4], [[1, 2], [1, 2]], 7) -> []
    """
    if not 1 <= limit <= LIST_LENGTH:
        raise LanguageError(f"`solve_distinct` needs `limit` from 1 to {LIST_LENGTH:,}")
    if len(weights) != len(choices):
        raise LanguageError("`solve_distinct` needs one list of choices for each weight")
    # what is known first, then what adds most
    order = sorted(range(len(weights)), key=lambda at: (len(choices[at]) > 1, -abs(weights[at])))
    bits = {value: 1 << place for place, value in enumerate(set().union(*choices))}
    words = 1 + len(bits) // BITS_OF_STEP
    charge(sum(map(len, choices)) * words)
    ascending = {values: sorted(set(values)) for values in set(map(tuple, choices))}
    parts: list[tuple[list[int], list[int]]] = []  # what each choice adds, and its value
    for at in order:
        weight, values = weights[at], ascending[tuple(choices[at])]
        if weight < 0:
            values = values[::-1]
        parts.append(([weight * value for value in values], values))
    if not choices or not all(choices):
        return [] if choices or total else [[]]
    # what the unknowns after each one can add at least and at most
    least = list(accumulate([added[0] for added, _ in parts[:0:-1]], initial=0))[::-1]
    most = list(accumulate([added[-1] for added, _ in parts[:0:-1]], initial=0))[::-1]
    solutions: list[list[int]] = []
    waiting: list[tuple[tuple[int, ...], int, int]] = [((), total, 0)]
    while waiting and len(solutions) < limit:
        chosen, left, used = waiting.pop()
        depth = len(chosen)
        if depth == len(parts):
            value_at = dict(zip(order, chosen, strict=True))
            solutions.append([value_at[at] for at in range(depth)])
            continue
        added, values = parts[depth]
        start, stop = bisect_left(added, left - most[depth]), bisect_right(added, left - least[depth])
        charge(STEPS_OF_COVER + (stop - start) * words)
        for place in range(stop - 1, start - 1, -1):  # the lowest comes last, so that it is tried first
            value = values[place]
            if not used & bits[value]:
                waiting.append(((*chosen, value), left - added[place], used | bits[value]))
    return solutions
