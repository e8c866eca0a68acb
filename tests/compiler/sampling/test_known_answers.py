"""Known answers that pin the bytes of every bundle for ever: if one changes, the language version has to."""

from __future__ import annotations

from hashlib import sha256
from math import isqrt

from dia_compiler.sampling.instance_tree import (
    RecordingChoose,
    Stream,
    Walker,
    derived,
    feistel,
    permuted,
    shuffled,
    template_key,
)

KEY = sha256(b"known answers").digest()


def test_derived_keys_follow_their_definition() -> None:
    expected = sha256(KEY + b"1:0" + b"4:vast" + b"2:17").digest()
    assert derived(KEY, 0, "vast", 17) == expected
    assert derived(b"", "é") == sha256(b"2:\xc3\xa9").digest()


def test_template_key_follows_its_definition() -> None:
    expected = sha256(b"3:dia" + b"1:1" + b"5:bench" + b"4:item" + b"1:0").digest()
    assert template_key(1, "bench", "item", "0") == expected


def test_stream_is_sha256_in_counter_mode() -> None:
    first = int.from_bytes(sha256(KEY + bytes(8)).digest(), "little")
    second = int.from_bytes(sha256(KEY + bytes(7) + b"\x01").digest(), "little")
    stream = Stream(KEY)
    assert [stream.bits(200), stream.bits(100)] == [first & (2**200 - 1), (first | second << 256) >> 200 & (2**100 - 1)]


def test_stream_rejects_what_would_bias_it() -> None:
    raw, draws = Stream(KEY), []
    while len(draws) < 20:
        value = raw.bits(3)
        if value < 6:
            draws.append(value)
    stream = Stream(KEY)
    assert [stream.below(6) for _ in range(20)] == draws


def test_stream_vector() -> None:
    stream = Stream(KEY)
    assert [stream.below(m) for m in (2, 10, 1000, 10**6, 2**64, 3**60)] == STREAM


def test_table_vector() -> None:
    assert shuffled(KEY, 10) == TABLE


def test_feistel_vector() -> None:
    assert [feistel(KEY, 1000, value) for value in range(6)] == FEISTEL
    assert [feistel(KEY, 10**30, value) for value in range(2)] == FEISTEL_WIDE


def network(size: int, value: int) -> int:
    """The network as the documentation describes it: six rounds, each of which swaps the halves."""
    a = next(number for number in range(isqrt(size), size) if number**2 >= size)
    b = (size + a - 1) // a
    length = len(f"{max(a, b):x}".zfill(2)) + 1 >> 1
    left, right = value % a, value // a
    for number in range(6):
        digest = sha256(KEY + bytes([number]) + right.to_bytes(17, "big")).digest()
        left, right = right, (left + int.from_bytes(digest[: length + 8], "big")) % (b if number % 2 else a)
    result = left + right * a
    return result if result < size else network(size, result)


def test_feistel_is_the_network_of_the_documentation_also_where_a_half_needs_one_more_byte() -> None:
    for size in (257, 1000, 255**2, 255**2 + 1, 256**2, 10**6, 2**32 - 2**17, 2**32, 2**64 + 1, 2**128):
        for value in (0, 1, size // 3, size - 1):
            assert feistel(KEY, size, value) == network(size, value)


def test_permutations_are_permutations_that_send_zero_where_they_must() -> None:
    for size in (1, 2, 7, 256, 257, 1000):
        for first in {0, size // 2, size - 1}:
            images = [permuted(KEY, size, place, first) for place in range(size)]
            assert images[0] == first
            assert sorted(images) == list(range(size))


def test_walk_vector() -> None:
    def draw(choose):  # type: ignore[no-untyped-def]
        a = choose.below(5)
        b = choose.below(a + 1)
        c = choose.weighted((1, 3))
        choose.check((a + b + c) % 2 == 0)
        return a, b, c, choose.where(lambda inner: inner.below(4), lambda value: value != 2)

    walker = Walker(KEY, draw)
    found = [(position, value) for position, value in zip(range(40), map(walker.at, range(40)), strict=True) if value]
    assert found[:8] == WALK
    assert len({value for _, value in found}) == len(found)


STREAM = [1, 9, 170, 887544, 6347581596246718727, 19646592942559712070129126986]
TABLE = (2, 1, 0, 8, 9, 5, 7, 6, 4, 3)
FEISTEL = [678, 500, 202, 581, 642, 134]
FEISTEL_WIDE = [853888342006902440155779868484, 54126087074545716098199720353]
WALK = [
    (0, (1, 1, 0, 3)),
    (1, (0, 0, 0, 0)),
    (2, (4, 1, 1, 1)),
    (3, (2, 1, 1, 1)),
    (4, (3, 2, 1, 3)),
    (5, (1, 0, 1, 3)),
    (7, (4, 0, 0, 3)),
    (8, (2, 0, 0, 0)),
]


def test_a_draw_that_is_kept_is_not_made_again() -> None:
    """The tickets of a weighted choice lead to a path before the position that ends there; the counts are published."""

    def draw(choose: RecordingChoose) -> tuple[int, int]:
        first, second = choose.weighted((1, 20, 9)), choose.below(10)
        choose.check(first == 0)
        return first, second

    walker = Walker(b"k" * 32, draw)
    found = [walker.at(position) for position in range(60)]
    assert (walker.drawn, walker.rejected) == (2049, 2047)
    assert [value for value in found if value is not None] == [(0, 9), (0, 1)]
