"""Local task fuzzing: the instance at a position, systematic, distinct by construction, and the same for ever.

Instance i depends on (language, benchmark, template, seed, i) alone. Every draw goes through `Choose`, which records
the options and the choice at each point; position p permutes those choices digit by digit in a mixed radix, so two
positions differ in a permuted choice or in the stream of a vast one.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from itertools import accumulate, repeat
from math import isqrt
from struct import unpack
from typing import Any, Generic, TypeVar

ORDER = "_order"  # the name under which a scope holds the drawn order of options
VAST = 1 << 128
TABLE_SIZE = 256
MANY = 16  # numbers from which on they are taken from the pool together
SPREAD = 256  # and the most
AHEAD = 8  # blocks that a stream takes ahead at most
COUNTERS = [number.to_bytes(8, "big") for number in range(256)]  # of the first blocks, where most streams end
ATTEMPTS = 1000
DIFFERENT_ATTEMPTS = 100_000
DRY_POSITIONS = 200_000
DRY_DRAWS = 100_000
ROUNDS = tuple((bytes((number,)), bytes((number + 1,))) for number in range(0, 6, 2))  # in pairs: even and odd

T = TypeVar("T")
V = TypeVar("V")


def derived(key: bytes, *parts: str | int) -> bytes:
    """H(key, parts): SHA-256 of the key and of every part as text, each after its length in bytes and a colon."""
    told = key
    for part in parts:
        text = b"%d" % part if type(part) is int else str(part).encode()
        told += b"%d:%b" % (len(text), text)
    return sha256(told).digest()


@lru_cache(maxsize=4096)
def digit_key(key: bytes, place: int, options: int) -> bytes:
    """The key that permutes the choices of a place; asked for again at every position that passes there."""
    return derived(key, place, options)


def template_key(language: int, benchmark: str, template: str, seed: str) -> bytes:
    """The key from which all instances of a template flow."""
    return derived(b"", "dia", language, benchmark, template, seed)


class Stream:
    """Unbiased integers from SHA-256 in counter mode: block n is SHA-256(key, n as 8 bytes), least bit first.

    With a number the key is H(key, number), and with a step before it H(H(key, step), number). It is made when the
    first block is: most draws of replayed choices take none.
    """

    __slots__ = ("block", "key", "left", "number", "pool", "step")

    def __init__(self, key: bytes, number: int | None = None, step: tuple[int, int] | None = None) -> None:
        self.key, self.number, self.step, self.block, self.pool, self.left = key, number, step, 0, 0, 0

    def bits(self, count: int) -> int:
        """The next `count` bits."""
        if self.left < count:
            self._fill(count)
        value = self.pool & ((1 << count) - 1)
        self.pool >>= count
        self.left -= count
        return value

    def _fill(self, count: int) -> None:
        """Takes as many blocks as the next `count` bits need, and ever more at once while they are asked for."""
        if self.number is not None:
            key = self.key if self.step is None else derived(self.key, *self.step)
            self.key, self.number = derived(key, self.number), None
        key, block, left = self.key, self.block, self.left
        more = max((count - left + 255) >> 8, min(block >> 1, AHEAD))
        if block + more > len(COUNTERS):
            taken = b"".join([sha256(key + b.to_bytes(8, "big")).digest() for b in range(block, block + more)])
        elif more == 1:
            taken = sha256(key + COUNTERS[block]).digest()
        else:
            taken = b"".join([sha256(key + counter).digest() for counter in COUNTERS[block : block + more]])
        self.pool |= int.from_bytes(taken, "little") << left
        self.left, self.block = left + (more << 8), block + more

    def below(self, options: int) -> int:
        """A number from 0 to options - 1, by rejection."""
        size = (options - 1).bit_length()
        mask = (1 << size) - 1
        while True:
            if self.left < size:
                self._fill(size)
            value = self.pool & mask
            self.pool >>= size
            self.left -= size
            if value < options:
                return value

    def fields(self, size: int, count: int) -> Sequence[int]:
        """What `bits` gives for as many numbers of that size, at most SPREAD, in a tenth of its time."""
        whole = size * count
        if self.left < whole:
            self._fill(whole)
        found = parted(self.pool, size, count)
        self.pool >>= whole
        self.left -= whole
        return found

    def several(self, options: int, count: int) -> list[int]:
        """So many numbers from 0 to options - 1: those that `below` gives one by one, in a quarter of its time."""
        size = (options - 1).bit_length()
        mask = (1 << size) - 1
        found: list[int] = []
        while size and count - len(found) >= MANY:  # no more at once than are missing, so that none is left over
            drawn = self.fields(size, min(count - len(found), SPREAD))
            found += drawn if options > mask else [value for value in drawn if value < options]
        pool, left = self.pool, self.left
        while len(found) < count:
            if left < size:
                self.pool, self.left = pool, left
                self._fill(size)
                pool, left = self.pool, self.left
            value = pool & mask
            pool >>= size
            left -= size
            if value < options:
                found.append(value)
        self.pool, self.left = pool, left
        return found

    def each(self, measures: Sequence[tuple[int, int, int]]) -> list[int]:
        """For each number of options, as `measured` tells them, the number that `below` gives."""
        found: list[int] = []
        pool, left = self.pool, self.left
        for options, size, mask in measures:
            value = options
            while value >= options:
                if left < size:
                    self.pool, self.left = pool, left
                    self._fill(size)
                    pool, left = self.pool, self.left
                value = pool & mask
                pool >>= size
                left -= size
            found.append(value)
        self.pool, self.left = pool, left
        return found

    def first(self, options: int, holds: Callable[[int], bool], tries: int) -> tuple[int | None, int]:
        """The first number that `below` gives and that holds, None where none of so many does; how many did not."""
        size = (options - 1).bit_length()
        mask = (1 << size) - 1
        pool, left = self.pool, self.left
        for missed in range(tries):
            value = options
            while value >= options:
                if left < size:
                    self.pool, self.left = pool, left
                    self._fill(size)
                    pool, left = self.pool, self.left
                value = pool & mask
                pool >>= size
                left -= size
            if holds(value):
                self.pool, self.left = pool, left
                return value, missed
        self.pool, self.left = pool, left
        return None, tries

    def sieved(
        self, options: int, holds: Callable[[int], bool], tries: int, sieve: Sequence[int]
    ) -> tuple[int | None, int]:
        """What `first` gives for at least two options, in a quarter of its time where few numbers pass the sieve.

        A number cannot hold where the sieve has 0 at its remainder by the sieve's length.
        """
        size = (options - 1).bit_length()
        length, is_whole = len(sieve), options == 1 << size
        missed, wanted = 0, size << 4
        while missed < tries:
            if self.left < size:
                self._fill(wanted)
                wanted = max(wanted, min(2 * wanted, AHEAD << 9))  # few turns, and little left over
            pool, left = self.pool, self.left
            drawn = self.fields(size, min(left // size, tries - missed, SPREAD))
            for place, value in [(at, held) for at, held in enumerate(drawn) if sieve[held % length]]:
                if value < options and holds(value):
                    taken = size * (place + 1)
                    self.pool, self.left = pool >> taken, left - taken
                    return value, missed + (place if is_whole else sum(map(options.__gt__, drawn[:place])))
            missed += len(drawn) if is_whole else sum(map(options.__gt__, drawn))
        return None, missed

    def shuffle(self, items: list[Any]) -> None:
        """A Fisher-Yates shuffle in place: the last item changes places with one up to it, then the one before.

        The numbers are those that `below` gives one by one: below so many items, then below one less, down to two.
        """
        most = len(items) - 1
        while most > 0:
            size = most.bit_length()
            mask = (1 << size) - 1
            shorter = mask >> 1  # the greatest number has so many bits as long as it is above this one
            while most - shorter >= MANY:
                for value in self.fields(size, min(most - shorter, SPREAD)):
                    if value <= most:
                        items[most], items[value] = items[value], items[most]
                        most -= 1
            pool, left = self.pool, self.left
            while most > shorter:
                if left < size:
                    self.pool, self.left = pool, left
                    self._fill(size)
                    pool, left = self.pool, self.left
                value = pool & mask
                pool >>= size
                left -= size
                if value <= most:
                    items[most], items[value] = items[value], items[most]
                    most -= 1
            self.pool, self.left = pool, left


def parted(pool: int, size: int, count: int) -> Sequence[int]:
    """The lowest `count` numbers of `size` bits, at most SPREAD, that lie side by side in the pool."""
    if size > 64 and count >= 2 * MANY:
        return _in_eights(pool, size, count)
    if size > 64 or count < MANY:
        mask = (1 << size) - 1
        return [pool >> at & mask for at in range(0, size * count, size)]
    octets, letter, moves = _spreading(size)
    lanes = pool & ((1 << size * count) - 1)
    for low, high, shift in moves[-(count - 1).bit_length() :]:
        lanes = (lanes & low) | ((lanes & high) << shift)
    return unpack(f"<{count}{letter}", lanes.to_bytes(octets * count, "little"))


def _in_eights(pool: int, size: int, count: int) -> list[int]:
    """The same of long numbers: eight of them are `size` bytes, and shifts of so few take half the time."""
    taken = (pool & ((1 << size * count) - 1)).to_bytes((size * count + 7) >> 3, "little")
    eights = [int.from_bytes(taken[at : at + size], "little") for at in range(0, len(taken), size)]
    mask = (1 << size) - 1
    return [eight >> at & mask for eight in eights for at in range(0, 8 * size, size)][:count]


@lru_cache(maxsize=64)
def _spreading(size: int) -> tuple[int, str, list[tuple[int, int, int]]]:
    """How SPREAD numbers of so many bits are moved apart to lanes of 1, 2, 4 or 8 bytes, and how these are read.

    Each move splits all groups in two: it keeps the lower half of a group and shifts the higher one to its place.
    """
    width, half, moves = max(8, 1 << (size - 1).bit_length()), SPREAD >> 1, []
    while half and width > size:
        low = sum(((1 << half * size) - 1) << at for at in range(0, SPREAD * width, 2 * half * width))
        moves.append((low, low << half * size, half * (width - size)))
        half >>= 1
    return width >> 3, "BHIQ"[width.bit_length() - 4], moves


@lru_cache(maxsize=4096)
def shuffled(key: bytes, size: int) -> tuple[int, ...]:
    """A Fisher-Yates shuffle of 0..size-1 under the key."""
    items = list(range(size))
    Stream(derived(key, "table")).shuffle(items)
    return tuple(items)


def feistel(key: bytes, size: int, value: int) -> int:
    """The value's image under a keyed permutation of 0..size-1.

    A generalised Feistel network over a x b >= size with cycle walking (Black and Rogaway, 2002); 64 spare bits keep
    the bias of a round below 2**-64.
    """
    a, b, length = _halves(size)
    read = int.from_bytes
    while True:
        right, left = divmod(value, a)
        for even, odd in ROUNDS:
            raw = sha256(key + even + right.to_bytes(17, "big")).digest()
            left = (left + read(raw[:length], "big")) % a
            raw = sha256(key + odd + left.to_bytes(17, "big")).digest()
            right = (right + read(raw[:length], "big")) % b
        value = left + right * a
        if value < size:
            return value


@lru_cache(maxsize=4096)
def _halves(size: int) -> tuple[int, int, int]:
    """The two sides of a network over as many values, and how many bytes of a hash a round takes."""
    a = isqrt(size - 1) + 1
    b = -(-size // a)
    return a, b, (max(a, b).bit_length() + 7) // 8 + 8


@lru_cache(maxsize=4096)
def _first_image(key: bytes, size: int) -> int:
    return feistel(key, size, 0)


def permuted(key: bytes, size: int, place: int, first: int) -> int:
    """The place's image under a keyed permutation of 0..size-1 that sends 0 to `first`."""
    if size <= TABLE_SIZE:
        row = shuffled(key, size)
        return (row[place] - row[0] + first) % size
    return (feistel(key, size, place) - _first_image(key, size) + first) % size


class Rejected(Exception):
    """A draw that cannot go on; `is_forced` when replayed choices alone are to blame."""

    def __init__(self, is_forced: bool) -> None:
        self.is_forced = is_forced


class Exhausted(Exception):
    """So many draws in a row met no `where` that going on is hopeless."""


# A choice that was made: how many options (0 for vast), which one, and the weights with the ticket drawn. Every drawn
# value makes one, and a tuple without names takes a third of the time.
Point = tuple[int, int, tuple[int, ...] | None, int | None]


@lru_cache(maxsize=256)
def edges_of(weights: tuple[int, ...]) -> tuple[int, ...]:
    """Behind each item, how many tickets it and those before it have."""
    return tuple(accumulate(weights))


@lru_cache(maxsize=256)
def measured(options: tuple[int, ...]) -> tuple[tuple[int, int, int], ...]:
    """Each number of options with the bits that a choice takes and their mask."""
    sizes = [(number - 1).bit_length() for number in options]
    return tuple((number, size, (1 << size) - 1) for number, size in zip(options, sizes, strict=True))


class Choose:
    """Replays forced choices, then draws; records the trail of choices up to the first vast one.

    Nothing behind a vast choice is ever permuted, so it is drawn from the stream without a record. Where nobody will
    read the trail, the first choice that is not forced is as good as a vast one.
    """

    __slots__ = ("forced", "is_read", "is_vast", "redraws", "stream", "trail")

    def __init__(self, forced: tuple[int, ...], stream: Stream, is_read: bool = True) -> None:
        self.forced, self.stream, self.is_read, self.is_vast, self.redraws = forced, stream, is_read, False, 0
        self.trail: list[Point] = []

    def below(self, options: int) -> int:
        """One of 0..options-1; more than 2**128 options are a vast choice."""
        if self.is_vast:
            if options < 1:
                raise Rejected(False)
            return self.stream.below(options)
        trail, forced = self.trail, self.forced
        place = len(trail)
        if options < 1:
            raise Rejected(place < len(forced))
        if options > VAST or (place >= len(forced) and not self.is_read):
            self.vast()
            return self.stream.below(options)
        choice = forced[place] if place < len(forced) else self.stream.below(options)
        trail.append((options, choice, None, None))
        return choice

    def several(self, options: int, count: int) -> list[int]:
        """So many choices among as many options each: those that `below` makes one by one, in a third of its time."""
        found: list[int] = []
        while len(found) < count and not self._is_free(options):
            found.append(self.below(options))
        if len(found) == count:
            return found
        drawn = self.stream.several(options, count - len(found))
        self._note(repeat(options), drawn)
        return found + drawn

    def each(self, options: tuple[int, ...], times: int) -> list[int]:
        """A choice among each number of options in turn, so many times: those that `below` makes one by one."""
        found: list[int] = []
        measures = measured(options) * times
        least, most = min(options, default=1), max(options, default=1)
        while len(found) < len(measures) and not (self._is_free(least) and self._is_free(most)):
            found.append(self.below(measures[len(found)][0]))
        drawn = self.stream.each(measures[len(found) :])
        self._note((options * times)[len(found) :], drawn)
        return found + drawn

    def shuffled(self, items: list[T]) -> list[T]:
        """The items in random order, which is a vast choice."""
        self.vast()
        found = items.copy()
        self.stream.shuffle(found)
        return found

    def different(self, options: int, count: int) -> list[int]:
        """So many choices of which no two are the same: those of `where` one by one, in a third of its time."""
        found: dict[int, None] = {}
        while len(found) < count and not self._is_free(options):
            found[self.where(lambda inner: inner.below(options), lambda one: one not in found, DIFFERENT_ATTEMPTS)] = (
                None
            )
        noted, below, tries = len(found), self.stream.below, DIFFERENT_ATTEMPTS
        sparse = min(count, options // 2)
        while len(found) < sparse:  # no more at once than are missing, so that none is drawn that is not asked for
            drawn, before = self.stream.several(options, sparse - len(found)), len(found)
            found.update(dict.fromkeys(drawn))
            self.redraws += before + len(drawn) - len(found)
        while len(found) < count and tries:
            choice = below(options)
            if choice in found:
                self.redraws, tries = self.redraws + 1, tries - 1
            else:
                found[choice], tries = None, DIFFERENT_ATTEMPTS
        self._note(repeat(options), list(found)[noted:])
        if not tries:
            raise Rejected(False)
        return list(found)

    def first(
        self, options: int, holds: Callable[[int], bool], tries: int = 1000, sieve: Sequence[int] | None = None
    ) -> int:
        """The first choice that holds, as `where` makes it, in half of its time; less with a sieve."""
        place, was_vast = len(self.trail), self.is_vast
        if not was_vast and place < len(self.forced) and 0 < options <= VAST:  # replayed, and never redone
            choice = self.forced[place]
            self.trail.append((options, choice, None, None))
            if holds(choice):
                return choice
            raise Rejected(True)
        if options > VAST and place >= len(self.forced):
            self.vast()
        if not self._is_free(options):
            return self.where(lambda inner: inner.below(options), holds, tries)
        if sieve is None:
            found, missed = self.stream.first(options, holds, tries)
        else:
            found, missed = self.stream.sieved(options, holds, tries, sieve)
        self.redraws += missed
        if found is not None:
            self._note((options,), [found])
            return found
        del self.trail[place:]
        self.is_vast = was_vast
        raise Rejected(False)

    def _is_free(self, options: int) -> bool:
        """Whether the stream alone decides the next choice among so many options, and the one after it too."""
        return options > 0 and (self.is_vast or (len(self.trail) >= len(self.forced) and options <= VAST))

    def _note(self, options: Iterable[int], choices: list[int]) -> None:
        """Records choices that the stream has made, each among so many options."""
        if not self.is_vast and choices:
            if not self.is_read:
                self.vast()
                return
            self.trail.extend(zip(options, choices, repeat(None), repeat(None)))

    def weighted(self, weights: tuple[int, ...]) -> int:
        """A place of the weights, each as likely as its weight."""
        place, edges = len(self.trail), edges_of(weights)
        total = edges[-1]
        if self.is_vast:
            return bisect_right(edges, self.stream.below(total))
        if place < len(self.forced):
            self.trail.append((total, self.forced[place], weights, None))
            return self.forced[place]
        ticket = self.stream.below(total)
        item = bisect_right(edges, ticket)
        if self.is_read:
            self.trail.append((total, item, weights, ticket))
        else:
            self.vast()
        return item

    def vast(self) -> None:
        """Marks the point from which the stream decides everything."""
        if not self.is_vast:
            self.trail.append((0, 0, None, None))
            self.is_vast = True

    def check(self, holds: bool) -> None:
        """A condition on all that was drawn so far; raises Rejected when it fails."""
        if not holds:
            raise Rejected(not self.is_vast and len(self.trail) <= len(self.forced))

    def tried(self, draw: Callable[[Choose], V], holds: Callable[[V], bool]) -> V | None:
        """What the draw gives if it holds; else None, as if nothing had been drawn."""
        stream, place, was_vast, redraws = self.stream, len(self.trail), self.is_vast, self.redraws
        key, number, block, pool, left = stream.key, stream.number, stream.block, stream.pool, stream.left
        try:
            value = draw(self)
            if holds(value):
                return value
        except Exception:  # whoever draws in another way then fails in that way
            pass
        stream.key, stream.number, stream.block, stream.pool, stream.left = key, number, block, pool, left
        del self.trail[place:]
        self.is_vast, self.redraws = was_vast, redraws
        return None

    def where(self, draw: Callable[[Choose], V], holds: Callable[[V], bool], tries: int = ATTEMPTS) -> V:
        """The first draw that holds, made again in place; raises Rejected when a replayed one fails."""
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

    trail: Sequence[Point]
    value: T | None


class Walker(Generic[T]):
    """The instances of one template by position; `draw` makes a value through Choose or raises Rejected."""

    def __init__(self, key: bytes, draw: Callable[[Choose], T], attempts: int = ATTEMPTS) -> None:
        self.key, self.draw, self.attempts = key, draw, attempts
        self.nodes: dict[bytes, tuple[tuple[int, ...], Completion[T]]] = {}
        self.drawn = self.rejected = self.dry = 0

    def at(self, position: int) -> T | None:
        """The value at a position, or None where the position is a hole."""
        path: tuple[int, ...] = ()
        key, left, is_weighted = self.key, position, False
        node = self._complete(key, path)
        while left:
            place = len(path)
            if place == len(node.trail):
                return None
            point = node.trail[place]
            options, made, weights, _ = point
            is_weighted = is_weighted or weights is not None
            if options == 0:
                return self._drawn(derived(key, place, "vast", left), path, False).value
            choice, left = self._chosen(digit_key(key, place, options), point, left)
            path = (*path, choice)
            if choice != made:
                if not left and not is_weighted:
                    return self._drawn(key, path, False, (place, choice)).value
                key = derived(key, place, choice)
                if not left and not self._is_kept(key, path):
                    return self._drawn(key, path, False).value
                node = self._complete(key, path)
        return node.value

    @staticmethod
    def _chosen(key: bytes, point: Point, left: int) -> tuple[int, int]:
        """The choice that the position's next digit picks, and what is left of the position."""
        options, choice, weights, made = point
        left, digit = divmod(left, options)
        if weights is None:
            return permuted(key, options, digit, choice), left
        first = sum(weights[:choice]) if made is None else made
        ticket = permuted(key, options, digit, first)
        edges = edges_of(weights)
        item = bisect_right(edges, ticket)
        # the tickets of one item carry on as a sub-index, so that it keeps its share and never repeats
        inner = (ticket - first) % weights[item] if item == choice else ticket - edges[item] + weights[item]
        return item, left * weights[item] + inner

    def _is_kept(self, key: bytes, path: tuple[int, ...]) -> bool:
        """Whether a position before this one went on from the path, as weighted choices alone allow."""
        held = self.nodes.get(key)
        return held is not None and held[0] == path

    def _complete(self, key: bytes, path: tuple[int, ...]) -> Completion[T]:
        """The node behind the path, kept for the positions that go on from it."""
        held = self.nodes.get(key)
        if held is not None and held[0] == path:
            return held[1]
        node = self._drawn(key, path, True)
        if len(self.nodes) >= 20_000:
            self.nodes.clear()
        self.nodes[key] = (path, node)
        return node

    def _drawn(
        self, key: bytes, path: tuple[int, ...], is_read: bool, step: tuple[int, int] | None = None
    ) -> Completion[T]:
        first: Completion[T] | None = None
        for attempt in range(self.attempts):
            choose = Choose(path, Stream(key, attempt, step), is_read)
            self.drawn += 1
            try:
                value = self.draw(choose)
                self.dry = 0
                return Completion(choose.trail, value)
            except Rejected as rejection:
                self.rejected += 1
                self.dry += 1 + choose.redraws
                if self.dry > DRY_DRAWS:
                    raise Exhausted(f"no draw of {DRY_DRAWS} in a row meets every `where`") from None
                first = first or Completion(choose.trail, None)
                if rejection.is_forced:
                    break
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
