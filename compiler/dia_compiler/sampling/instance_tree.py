"""Local task fuzzing: the instance at a position; instances are distinct by construction and never change.

Instance i depends on (language, benchmark, template, seed, i) alone. Every draw goes through a `RecordingChoose`, which
records the options and the choice at each point. Position p permutes those choices digit by digit in a mixed radix, so
two positions differ in a permuted choice or in the stream of a vast one.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from itertools import accumulate
from math import isqrt
from typing import Generic, NamedTuple, TypeVar

from dia_compiler.types.choices import VAST, Choose, Rejected, shuffle

ORDER = "_order"  # the name under which a scope holds the drawn order of options
TABLE_SIZE = 256
ATTEMPTS = 1000
DRY_POSITIONS = 200_000
DRY_DRAWS = 100_000
MOST_NODES = 20_000
ROUNDS = tuple((bytes((number,)), bytes((number + 1,))) for number in range(0, 6, 2))  # in pairs: even and odd

T = TypeVar("T")
V = TypeVar("V")


def derived(key: bytes, *parts: str | int) -> bytes:
    """Return H(key, parts): SHA-256 of the key and each part as text, each after its length in bytes and a colon."""
    message = key
    for part in parts:
        text = str(part).encode()
        message += b"%d:%b" % (len(text), text)
    return sha256(message).digest()


def template_key(language: int, benchmark: str, template: str, seed: str) -> bytes:
    """Return the key that determines all instances of a template."""
    return derived(b"", "dia", language, benchmark, template, seed)


class Stream:
    """Unbiased integers from SHA-256 in counter mode: block n is SHA-256(key, n as 8 bytes), least bit first."""

    __slots__ = ("block", "key", "left", "pool")

    def __init__(self, key: bytes) -> None:
        self.key, self.block, self.pool, self.left = key, 0, 0, 0

    def bits(self, count: int) -> int:
        """Return the next `count` bits."""
        if self.left < count:
            self._fill(count)
        value = self.pool & ((1 << count) - 1)
        self.pool >>= count
        self.left -= count
        return value

    def _fill(self, count: int) -> None:
        """Generate as many blocks as the next `count` bits need."""
        end = self.block + (count - self.left + 255) // 256
        digests = [sha256(self.key + number.to_bytes(8, "big")).digest() for number in range(self.block, end)]
        self.pool |= int.from_bytes(b"".join(digests), "little") << self.left
        self.left += 256 * len(digests)
        self.block = end

    def below(self, options: int) -> int:
        """Return a number from 0 to options - 1, by rejection."""
        size = (options - 1).bit_length()
        mask = (1 << size) - 1
        while True:  # the same as `bits`, without a call for each
            if self.left < size:
                self._fill(size)
            number = self.pool & mask
            self.pool >>= size
            self.left -= size
            if number < options:
                return number

    def first(self, options: int, holds: Callable[[int], bool], tries: int) -> tuple[int | None, int]:
        """Return the first number from 0 to options - 1 that holds, or None, and how many were drawn."""
        size = (options - 1).bit_length()
        mask = (1 << size) - 1
        draws = 0
        while draws < tries:  # as `below`, but inlined, because a prime takes hundreds of draws
            if self.left < size:
                self._fill(size)
            number = self.pool & mask
            self.pool >>= size
            self.left -= size
            if number < options:
                draws += 1
                if holds(number):
                    return number, draws
        return None, draws

    def several(self, options: int, count: int) -> list[int]:
        """Return this many numbers from 0 to options - 1, by rejection."""
        size = (options - 1).bit_length()
        mask = (1 << size) - 1
        pool, left = self.pool, self.left  # as `bits`, but inlined, because long lists are slow
        numbers: list[int] = []
        while len(numbers) < count:
            if left < size:
                self.pool, self.left = pool, left
                self._fill(size)
                pool, left = self.pool, self.left
            value = pool & mask
            pool >>= size
            left -= size
            if value < options:
                numbers.append(value)
        self.pool, self.left = pool, left
        return numbers


@lru_cache(maxsize=4096)
def shuffled(key: bytes, size: int) -> tuple[int, ...]:
    """Return a Fisher-Yates shuffle of 0..size-1 under the key."""
    return tuple(shuffle(range(size), Stream(derived(key, "table")).below))


def feistel(key: bytes, size: int, value: int) -> int:
    """Return the value's image under a keyed permutation of 0..size-1.

    A generalised Feistel network over a x b >= size with cycle walking (Black and Rogaway, 2002); 64 spare bits keep
    the bias of a round below 2**-64.
    """
    a = isqrt(size - 1) + 1
    b = -(-size // a)
    length = (max(a, b).bit_length() + 7) // 8 + 8
    while True:
        right, left = divmod(value, a)
        for even, odd in ROUNDS:
            digest = sha256(key + even + right.to_bytes(17, "big")).digest()
            left = (left + int.from_bytes(digest[:length], "big")) % a
            digest = sha256(key + odd + left.to_bytes(17, "big")).digest()
            right = (right + int.from_bytes(digest[:length], "big")) % b
        value = left + right * a
        if value < size:
            return value


def permuted(key: bytes, size: int, place: int, first: int) -> int:
    """Return the place's image under a keyed permutation of 0..size-1 that sends 0 to `first`."""
    if size <= TABLE_SIZE:
        row = shuffled(key, size)
        return (row[place] - row[0] + first) % size
    return (feistel(key, size, place) - _first_image(key, size) + first) % size


@lru_cache(maxsize=4096)
def _first_image(key: bytes, size: int) -> int:
    return feistel(key, size, 0)


class Exhausted(Exception):
    """So many draws in a row failed a `where` that it is pointless to go on."""


class Point(NamedTuple):
    """A recorded choice: the number of options (0 for vast), the chosen one, and the weights with the drawn ticket."""

    options: int
    choice: int
    weights: tuple[int, ...] | None = None
    ticket: int = 0


VAST_POINT = Point(0, 0)


@lru_cache(maxsize=256)
def ticket_ends(weights: tuple[int, ...]) -> tuple[int, ...]:
    """Return for each item how many tickets it and the items before it have."""
    return tuple(accumulate(weights))


class RecordingChoose(Choose):
    """Replays forced choices, then draws; records the trail of choices up to the first vast one.

    Nothing after a vast choice is ever permuted, so it is drawn from the stream without a record.
    """

    __slots__ = ("forced", "is_vast", "redraws", "stream", "trail")

    def __init__(self, forced: tuple[int, ...], stream: Stream) -> None:
        self.forced, self.stream, self.is_vast, self.redraws = forced, stream, False, 0
        self.trail: list[Point] = []

    def below(self, options: int) -> int:
        """Return one of 0..options-1; more than 2**128 options are a vast choice."""
        if self.is_vast and options > 0:
            return self.stream.below(options)
        place = len(self.trail)
        if options < 1:
            raise Rejected(not self.is_vast and place < len(self.forced))
        if options > VAST:
            self.vast()
            return self.stream.below(options)
        choice = self.forced[place] if place < len(self.forced) else self.stream.below(options)
        self.trail.append(Point(options, choice))
        return choice

    def several(self, options: int, count: int) -> list[int]:
        """Return this many choices of 0..options-1."""
        is_replayed = not self.is_vast and len(self.trail) < len(self.forced)
        if is_replayed or options < 1 or (options > VAST and not self.is_vast):
            return super().several(options, count)
        choices = self.stream.several(options, count)
        if not self.is_vast:
            self.trail += [Point(options, choice) for choice in choices]
        return choices

    def different(self, options: int, count: int) -> list[int]:
        is_replayed = not self.is_vast and len(self.trail) < len(self.forced)
        if is_replayed or options < 2 * count or (options > VAST and not self.is_vast):
            return super().different(options, count)
        chosen: dict[int, None] = {}
        while len(chosen) < count:  # never more draws than one by one: each could be the last
            missing = count - len(chosen)
            chosen.update(dict.fromkeys(self.stream.several(options, missing)))
            self.redraws += missing
        self.redraws -= count
        if not self.is_vast:
            self.trail += [Point(options, choice) for choice in chosen]
        return list(chosen)

    def shuffled(self, items: list[V]) -> list[V]:
        self.vast()
        return shuffle(items, self.stream.below)

    def first(self, options: int, holds: Callable[[int], bool], tries: int = ATTEMPTS) -> int:
        """Return the first of 0..options-1 that holds, which a large sieve takes many draws to find.

        Equal to `where`, which would record and forget each draw: three quarters of the time of diffie_hellman.
        """
        is_replayed = not self.is_vast and len(self.trail) < len(self.forced)
        if is_replayed or options < 1 or (options > VAST and not self.is_vast):
            return super().first(options, holds, tries)
        choice, draws = self.stream.first(options, holds, tries)
        if choice is None:
            self.redraws += draws
            raise Rejected(False)
        self.redraws += draws - 1
        if not self.is_vast:
            self.trail.append(Point(options, choice))
        return choice

    def weighted(self, weights: tuple[int, ...]) -> int:
        place, ends = len(self.trail), ticket_ends(weights)
        if self.is_vast:
            return bisect_right(ends, self.stream.below(ends[-1]))
        if place < len(self.forced):
            item, ticket = self.forced[place], 0  # only choices after the replayed ones are permuted
        else:
            ticket = self.stream.below(ends[-1])
            item = bisect_right(ends, ticket)
        self.trail.append(Point(ends[-1], item, weights, ticket))
        return item

    def vast(self) -> None:
        """Mark the point from which the stream decides everything."""
        if not self.is_vast:
            self.trail.append(VAST_POINT)
            self.is_vast = True

    def check(self, holds: bool) -> None:
        """Test a condition on everything drawn so far; raises Rejected if it fails."""
        if not holds:
            raise Rejected(not self.is_vast and len(self.trail) <= len(self.forced))

    def where(self, draw: Callable[[RecordingChoose], V], holds: Callable[[V], bool], tries: int = ATTEMPTS) -> V:
        """Return the first draw that holds, made again in place; raises Rejected when a replayed one fails."""
        place, was_vast = len(self.trail), self.is_vast
        for _ in range(tries):
            value = draw(self)
            if holds(value):
                return value
            if not was_vast and place < len(self.forced):
                raise Rejected(len(self.trail) <= len(self.forced))
            del self.trail[place:]
            self.is_vast = was_vast
            self.redraws += 1
        raise Rejected(False)


@dataclass(slots=True)
class Completion(Generic[T]):
    """A node of the tree of choices: the trail of its first acceptable draw, and the value, None if all failed."""

    trail: list[Point]
    value: T | None


class Walker(Generic[T]):
    """The instances of one template by position; `draw` makes a value through a RecordingChoose or raises Rejected.

    After a vast choice, a value that is not new is drawn again. `on_dead_end` is called with a path and the
    key of its draws if none of the attempts to complete it succeeded.
    """

    def __init__(
        self,
        key: bytes,
        draw: Callable[[RecordingChoose], T],
        attempts: int = ATTEMPTS,
        is_new: Callable[[T], bool] = lambda value: True,
        on_dead_end: Callable[[tuple[int, ...], bytes], None] = lambda path, key: None,
    ) -> None:
        self.key, self.draw, self.attempts, self.is_new = key, draw, attempts, is_new
        self.on_dead_end = on_dead_end
        self.nodes: dict[tuple[int, ...], Completion[T]] = {}
        self.drawn = self.rejected = self.dry = 0

    def at(self, position: int) -> T | None:
        """Return the value at a position, or None if the position is a hole."""
        path: tuple[int, ...] = ()
        key, left = self.key, position
        node = self._node(key, path, is_inner=True)
        while left:
            place = len(path)
            if place == len(node.trail):
                return None
            point = node.trail[place]
            if point.options == 0:
                return self._completed(derived(key, place, "vast", left), path, self.is_new).value
            choice, left = self._chosen(derived(key, place, point.options), point, left)
            path = (*path, choice)
            if choice != point.choice:
                key = derived(key, place, choice)
                node = self._node(key, path, is_inner=left > 0)
        return node.value

    @staticmethod
    def _chosen(key: bytes, point: Point, left: int) -> tuple[int, int]:
        """Return the choice that the position's next digit picks, and the rest of the position."""
        left, digit = divmod(left, point.options)
        if point.weights is None:
            return permuted(key, point.options, digit, point.choice), left
        weights, ends = point.weights, ticket_ends(point.weights)
        ticket = permuted(key, point.options, digit, point.ticket)
        item = bisect_right(ends, ticket)
        # the tickets of one item become a sub-index, so that it keeps its share and never repeats
        offset = ticket - (point.ticket if item == point.choice else ends[item])
        return item, left * weights[item] + offset % weights[item]

    def _node(self, key: bytes, path: tuple[int, ...], is_inner: bool) -> Completion[T]:
        """Return the node at the end of the path; inner nodes are cached for later positions."""
        node = self.nodes.get(path)
        if node is None:
            node = self._completed(key, path)
            if is_inner:
                if len(self.nodes) >= MOST_NODES:
                    self.nodes.clear()
                self.nodes[path] = node
        return node

    def _completed(
        self, key: bytes, path: tuple[int, ...], is_new: Callable[[T], bool] = lambda value: True
    ) -> Completion[T]:
        """Return the first acceptable draw that replays the path, or the first draw if none is acceptable."""
        first: Completion[T] | None = None
        for attempt in range(self.attempts):
            choose = RecordingChoose(path, Stream(derived(key, attempt)))
            self.drawn += 1
            try:
                value = self.draw(choose)
                if not is_new(value):
                    raise Rejected(False)
                self.dry = 0
                return Completion(choose.trail, value)
            except Rejected as rejection:
                self.rejected += 1
                self.dry += 1 + choose.redraws
                if self.dry > DRY_DRAWS:
                    raise Exhausted(f"{DRY_DRAWS:,} draws in a row did not satisfy every `where`") from None
                first = first or Completion(choose.trail, None)
                if rejection.is_forced:
                    break
        else:
            self.on_dead_end(path, key)
        assert first is not None
        return first

    def positions(self) -> Iterator[tuple[int, T]]:
        """Position and value of every instance in order; ends after 200,000 positions without one."""
        position = dry = 0
        while dry < DRY_POSITIONS:
            value = self.at(position)
            dry = dry + 1 if value is None else 0
            if value is not None:
                yield position, value
            position += 1
