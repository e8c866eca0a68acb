"""The least that the bytes of a question cost: one family written out by hand, beside the compiler's own way.

    python benchmarks/floor.py [--k 5000]

By hand means one loop for this one family: the position is permuted, the key derived, the second number drawn, both
lines and the entry of the index written and hashed as the bundle's format says. It reads no spec, evaluates no
expression, checks and grades nothing and watches no time; what it makes is compared byte for byte with what the
compiler makes. So no way of making these bytes in this interpreter can be much quicker, whatever else it leaves out.
"""

from __future__ import annotations

import argparse
import gc
import sys
from dataclasses import replace
from hashlib import sha256
from json.encoder import encode_basestring as quoted
from pathlib import Path
from time import process_time
from typing import Any

from compile_speed import bare_loop, expand, families
from dia_compiler.draw import LANGUAGE
from dia_compiler.fuzz import ROUNDS, template_key
from dia_compiler.records import Writer, is_shown
from dia_compiler.spool import BASE, ENTRY, FIRST, SHOWN
from dia_compiler.work import Work, expand_template
from dia_runtime.language.nursery import YOUNG
from dia_runtime.language.workers import INTEGER_DIGITS

SPECS = Path(__file__).resolve().parent / "specs"
FAMILY = "products"
OPTIONS = 99_999  # of each factor
A, B, BYTES, BITS = 317, 316, 10, 17  # sides of the network that permutes them, a round's hash, a draw
MASK = (1 << BITS) - 1
ROUNDS_OF_TIMING = 5

Row = tuple[bytes, bytes, bytes]


def rows_of(work: Work, k: int) -> list[Row]:
    """What the compiler makes: the lines of question and answer, and the entry of the index."""
    rows: list[Row] = []
    method = Writer.row

    def kept(writer: Writer, instance: Any) -> Row:
        rows.append(method(writer, instance))
        return rows[-1]

    Writer.row = kept
    try:
        for _ in expand_template(replace(work, k=k)):
            pass
    finally:
        Writer.row = method
    return rows


def permuted(key: bytes, place: int) -> int:
    """The place in the keyed permutation of the options."""
    while True:
        right, left = divmod(place, A)
        for even, odd in ROUNDS:
            raw = sha256(key + even + right.to_bytes(17, "big")).digest()
            left = (left + int.from_bytes(raw[:BYTES], "big")) % A
            raw = sha256(key + odd + left.to_bytes(17, "big")).digest()
            right = (right + int.from_bytes(raw[:BYTES], "big")) % B
        place = left + right * A
        if place < OPTIONS:
            return place


def drawn(key: bytes, count: int) -> list[int]:
    """The first numbers below the options that the stream of the key gives."""
    key, block, pool, left, found = sha256(key + b"1:0").digest(), 0, 0, 0, []
    while len(found) < count:
        if left < BITS:
            pool |= int.from_bytes(sha256(key + block.to_bytes(8, "big")).digest(), "little") << left
            block, left = block + 1, left + 256
        number = pool & MASK
        pool >>= BITS
        left -= BITS
        if number < OPTIONS:
            found.append(number)
    return found


def by_hand(work: Work, k: int, pattern: Row) -> list[Row]:
    """The same rows, made by one loop; what is the same in all of them is taken from the first."""
    key = template_key(LANGUAGE, work.benchmark.name, FAMILY, work.settings.seed)
    digits = b"%d" % OPTIONS
    places = sha256(key + b"1:0%d:%b" % (len(digits), digits)).digest()
    first, second = drawn(key, 2)
    a = first + 1
    b = own = second + 1
    zero = permuted(places, 0)
    question, answer = pattern[0].decode(), pattern[1].decode()
    identity = f'"{work.benchmark.name}/{FAMILY}/'
    before, rest = question.split(f'{identity}0","instance":0,', 1)
    level, rest = rest.split('"messages":[{"content":"', 1)
    said, end = rest.split('","role":"user"}],', 1)
    points = end[: end.index("}") + 1]
    core = before[before.index('"format"') :]
    told, asked = said.replace("\\n", "\n").split(f"{a} * {b}")
    left, rest = answer.split(f'"answer":{a * b},', 1)
    middle, rest = rest.split(f'{identity}0"', 1)
    mistakes, last = rest.split(f'{{"a":{a},"b":{b}}}', 1)
    last = last[: last.index('"text":')]
    rows: list[Row] = []
    for number in range(k):
        if number:
            choice = (permuted(places, number) - zero + first) % OPTIONS
            text = b"%d" % choice
            a = choice + 1
            below = sha256(key + b"1:0%d:%b" % (len(text), text)).digest()
            b = own if choice == first else drawn(below, 1)[0] + 1
        product = str(a * b)
        content = f"{told}{a} * {b}{asked}"
        name = f'{identity}{number}"'
        messages = f'"messages":[{{"content":{quoted(content)},"role":"user"}}]'
        line = f'{before}{name},"instance":{number},{level}{messages},{end}'.encode()
        leaf = sha256(b"\0" + f'{{"assets":[],{core}{name},{messages},{points}}}'.encode()).digest()
        truth = f'{left}"answer":{product},{middle}{name}{mistakes}{{"a":{a},"b":{b}}}{last}"text":"{product}"}}\n'
        flags = BASE | (FIRST if not number else 0)
        if product in content and is_shown(product, content[: content.index("\n")]):
            flags |= SHOWN
        digest, short = sha256(content.encode()).digest(), sha256(product.encode()).digest()[:16]
        rows.append((line, truth.encode(), ENTRY.pack(leaf, digest, short, number, number, flags)))
    return rows


def main() -> None:
    """Prints microseconds a question of both ways, and of the bare loop of compile_speed.py."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--k", type=int, default=5_000)
    options = parser.parse_args()
    sys.set_int_max_str_digits(INTEGER_DIGITS)
    gc.set_threshold(YOUNG)
    work = next(work for work in families([SPECS]) if work.template.name == FAMILY)
    rows = rows_of(work, options.k)
    if by_hand(work, options.k, rows[0]) != rows:
        raise SystemExit("the rows made by hand are others than the compiler's")
    hand, ours, loop = [], [], []
    for _ in range(ROUNDS_OF_TIMING):
        begun = process_time()
        by_hand(work, options.k, rows[0])
        hand.append((process_time() - begun) / options.k)
        ours.append(expand(work, options.k))
        loop.append(bare_loop())
    print(f"{options.k} questions of `{FAMILY}`, each byte the same; the best of {ROUNDS_OF_TIMING} rounds, in turns")
    for name, found in (("by hand", hand), ("the compiler", ours), ("bare inner loop", loop)):
        print(f"{name:<16}{min(found) * 1e6:8.1f} us {1 / min(found):>10,.0f} a second")


if __name__ == "__main__":
    main()
