"""The least that the bytes of a question cost: two families written out by hand, beside the compiler and a peer.

    python benchmarks/floor.py [--k 900] [--peer PYTHON]

By hand means one loop for the one family: the position is permuted, the key derived, what follows drawn, both lines and
the entry of the index written and hashed as the bundle's format says. The loop reads no spec, evaluates no expression,
and watches neither time nor memory; what cannot differ between two questions is made once, and nothing is escaped
that needs no escape. All that it makes is compared byte for byte with what the compiler makes.

`proven` does what is asked of each question beside its bytes: the check by another path, by hand; the round trip
through the grader that will grade replies; and the beat and the budget that each evaluation of a spec has, so that one
which hangs or grows can be stopped. So no way of making these questions in this interpreter can be much quicker.

The peer is the item of reasoning-gym for the same family (`--peer /path/to/its/python`), a dictionary that is neither
checked nor hashed nor written; `half` is what an item may take at half of its rate.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from time import process_time
from typing import Any

from compile_speed import bare_loop, expand, families
from dia_compiler.distribute.task import TemplateJob, expand_template
from dia_compiler.freeze.spool import BASE, ENTRY, FIRST, SHOWN
from dia_compiler.generate.bundle_rows import Row, Writer, is_shown
from dia_compiler.generate.draw import LANGUAGE
from dia_compiler.sampling.instance_tree import ROUNDS, Stream, feistel, template_key
from dia_language.workers.fork_server import GC_THRESHOLD
from dia_language.workers.heartbeat import begin_evaluation
from dia_language.workers.pool import INTEGER_DIGITS
from dia_runtime.grading.grader import Grader
from dia_runtime.grading.verdicts import Verdict
from reasoning_gym import peer_times

SPECS = Path(__file__).resolve().parent / "specs"
ROUNDS_OF_TIMING = 7
# The evaluations of one question: of both solver, check and prompt; of the second one also a `let` and a `where`
EVALUATIONS = {"products": range(1, 4), "base_conversion": range(1, 6)}


def rows_of(job: TemplateJob, k: int) -> list[Row]:
    """What the compiler makes: the lines of question and answer, and the entry of the index."""
    rows: list[Row] = []
    method = Writer.rows

    def kept(writer: Writer, instances: Any) -> list[Row]:
        rows.extend(method(writer, instances))
        return rows[-len(instances) :]

    Writer.rows = kept
    try:
        for _ in expand_template(replace(job, k=k)):
            pass
    finally:
        Writer.rows = method
    return rows


def permuted(key: bytes, place: int, options: int, a: int, b: int, size: int) -> int:
    """The place in the keyed permutation of the options: by a network of these sides, with so many bytes of a hash."""
    while True:
        right, left = divmod(place, a)
        for even, odd in ROUNDS:
            raw = sha256(key + even + right.to_bytes(17, "big")).digest()
            left = (left + int.from_bytes(raw[:size], "big")) % a
            raw = sha256(key + odd + left.to_bytes(17, "big")).digest()
            right = (right + int.from_bytes(raw[:size], "big")) % b
        place = left + right * a
        if place < options:
            return place


def products(job: TemplateJob, k: int, pattern: Row, is_proven: bool) -> list[Row]:
    """The rows of `products`: two numbers of 1 to 99,999, the first one permuted, the second one from a stream."""
    options, mask = 99_999, (1 << 17) - 1
    key = template_key(LANGUAGE, job.benchmark.name, "products", job.settings.seed)
    places = sha256(key + b"1:05:99999").digest()
    stream = Stream(key, 0)
    first, second = stream.below(options), stream.below(options)
    zero = feistel(places, options, 0)
    question, answer = pattern[0].decode(), pattern[1].decode()
    whole, core, content = question_forms(question, "products", f"{first + 1} * {second + 1}", "%d * %d")
    truth = answer_form(answer, "products", f'{{"a":{first + 1},"b":{second + 1}}}', '{"a":%d,"b":%d}')
    truth = truth.replace(f'"answer":{(first + 1) * (second + 1)},', '"answer":%d,')
    truth = truth.replace(f'"text":"{(first + 1) * (second + 1)}"', '"text":"%s"')
    grader, form = graded(answer, question)
    wrap = grader.form.wrap
    rows: list[Row] = []
    for number in range(k):
        if number:
            choice = (permuted(places, number, options, 317, 316, 10) - zero + first) % options
            text = b"%d" % choice
            inner = sha256(sha256(key + b"1:0%d:%b" % (len(text), text)).digest() + b"1:0").digest()
            pool, left, block, b = 0, 0, 0, options
            while b >= options:
                if left < 17:
                    pool |= int.from_bytes(sha256(inner + block.to_bytes(8, "big")).digest(), "little") << left
                    left, block = left + 256, block + 1
                b = pool & mask
                pool >>= 17
                left -= 17
            a, b = choice + 1, b + 1
        else:
            a, b = first + 1, second + 1
        value = a * b
        said = str(value)
        asked = content % (a, b)
        if is_proven:
            for evaluation in EVALUATIONS["products"]:
                begin_evaluation(evaluation)
            grade = grader.grade(value, (), said, wrap(said, form))
            if value % a or value // a != b or grade.verdict != Verdict.CORRECT:
                raise SystemExit("a product is wrong")
        flags = BASE if number else BASE | FIRST
        if said in asked and is_shown(said, asked[: asked.index("\n")]):
            flags |= SHOWN
        leaf = sha256((core % (number, a, b)).encode()).digest()
        digest, short = sha256(asked.encode()).digest(), sha256(said.encode()).digest()[:16]
        rows.append((
            (whole % (number, number, a, b)).encode(), (truth % (value, number, a, b, said)).encode(),
            ENTRY.pack(leaf, digest, short, number, number, flags),
        ))  # fmt: skip
    return rows


def base_conversion(job: TemplateJob, k: int, pattern: Row, is_proven: bool) -> list[Row]:
    """The rows of `base_conversion`: a number of 0 to 1,000, permuted, and two bases of 2 to 16 that are not alike."""
    options = 1_001
    key = template_key(LANGUAGE, job.benchmark.name, "base_conversion", job.settings.seed)
    places = sha256(key + b"1:04:1001").digest()
    zero = feistel(places, options, 0)
    first, source, target = drawn_bases(key, None)
    shown = f"base-{source} number {in_base(first, source)} to base-{target}"
    question, answer = pattern[0].decode(), pattern[1].decode()
    whole, core, content = question_forms(question, "base_conversion", shown, "base-%d number %s to base-%d")
    told = f'{{"n":{first},"source":{source},"target":{target}}}'
    truth = answer_form(answer, "base_conversion", told, '{"n":%d,"source":%d,"target":%d}')
    truth = truth.replace(f'"answer":"{in_base(first, target)}"', '"answer":"%s"')
    truth = truth.replace(f'"text":"{in_base(first, target)}"', '"text":"%s"')
    grader, form = graded(answer, question)
    wrap = grader.form.wrap
    rows: list[Row] = []
    for number in range(k):
        n = first
        if number:
            n = (permuted(places, number, options, 32, 32, 9) - zero + first) % options
            text = b"%d" % n
            n, source, target = drawn_bases(sha256(key + b"1:0%d:%b" % (len(text), text)).digest(), n)
        given, said = in_base(n, source), in_base(n, target)
        asked = content % (source, given, target)
        if is_proven:
            for evaluation in EVALUATIONS["base_conversion"]:
                begin_evaluation(evaluation)
            grade = grader.grade(said, (), said, wrap(said, form))
            if int(said, target) != n or grade.verdict != Verdict.CORRECT:
                raise SystemExit("a number in another base is wrong")
        flags = BASE if number else BASE | FIRST
        if is_shown(said, asked[: asked.index("\n\nGive your")]):
            flags |= SHOWN
        leaf = sha256((core % (number, source, given, target)).encode()).digest()
        digest, short = sha256(asked.encode()).digest(), sha256(said.encode()).digest()[:16]
        rows.append((
            (whole % (number, number, source, given, target)).encode(),
            (truth % (said, number, n, source, target, said)).encode(),
            ENTRY.pack(leaf, digest, short, number, number, flags),
        ))  # fmt: skip
    return rows


def graded(answer: str, question: str) -> tuple[Grader, Any]:
    """The grader of these lines, and their answer format."""
    form = json.loads(question)["format"]
    return Grader(json.loads(answer)["comparison"], form), form


def drawn_bases(key: bytes, n: int | None) -> tuple[int, int, int]:
    """The number, unless it is given, and two bases, from the first stream of the key that gives two different ones."""
    attempt = 0
    while True:
        inner = sha256(key + (b"1:0" if not attempt else b"%d:%d" % (len(str(attempt)), attempt))).digest()
        pool, at, number = int.from_bytes(sha256(inner + bytes(8)).digest(), "little"), 0, n
        while number is None:
            number, at = pool >> at & 1023, at + 10
            number = number if number <= 1000 else None
        pool >>= at
        while (source := pool & 15) == 15:
            pool >>= 4
        pool >>= 4
        while (target := pool & 15) == 15:
            pool >>= 4
        if source != target:
            return number, source + 2, target + 2
        attempt += 1


def in_base(number: int, base: int) -> str:
    """The digits of a number below 65,536 in a base of 2 to 16."""
    if base == 10:
        return str(number)
    if base == 16:
        return f"{number:x}"
    if base == 2:
        return f"{number:b}"
    digits = ""
    while number >= base:
        number, digit = divmod(number, base)
        digits = "0123456789abcdef"[digit] + digits
    return "0123456789abcdef"[number] + digits


def question_forms(question: str, family: str, shown: str, form: str) -> tuple[str, str, str]:
    """The line of a question, what its leaf is made of, and its prompt, with gaps for the numbers of another one."""
    plain = question.replace("%", "%%").replace(shown, form)
    whole = plain.replace(f'peers/{family}/0","instance":0,', f'peers/{family}/%d","instance":%d,')
    middle = whole[whole.index('"messages"') : whole.index('"points"')]
    points = plain[plain.index('"points"') : plain.index("}", plain.index('"points"')) + 1]
    kind = plain[plain.index('"format"') : plain.index('"id"')]
    core = f'\0{{"assets":[],{kind}"id":"peers/{family}/%d",{middle}{points}}}'
    content = middle[len('"messages":[{"content":"') : middle.index('","role"')].replace("\\n", "\n")
    return whole, core, content


def answer_form(answer: str, family: str, told: str, form: str) -> str:
    """The line of an answer with gaps for its number and its parameters."""
    return answer.replace("%", "%%").replace(f"peers/{family}/0", f"peers/{family}/%d").replace(told, form)


BY_HAND: dict[str, Callable[[TemplateJob, int, Row, bool], list[Row]]] = {
    "products": products,
    "base_conversion": base_conversion,
}


def times(job: TemplateJob, k: int) -> tuple[float, float, float, float]:
    """Seconds a question: by hand, by hand and proven, by the compiler, and of the bare loop; in turns, the best."""
    by_hand = BY_HAND[job.template.name]
    rows = rows_of(job, k)
    if by_hand(job, k, rows[0], True) != rows:
        raise SystemExit(f"the rows of {job.template.name} made by hand are others than the compiler's")
    found: list[list[float]] = [[], [], [], []]
    for _ in range(ROUNDS_OF_TIMING):
        for at, is_proven in enumerate((False, True)):
            begun = process_time()
            by_hand(job, k, rows[0], is_proven)
            found[at].append((process_time() - begun) / k)
        found[2].append(expand(job, k))
        found[3].append(bare_loop())
    by, proven, compiler, loop = map(min, found)
    return by, proven, compiler, loop


def main() -> None:
    """Prints microseconds a question."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--k", type=int, default=900)
    parser.add_argument("--peer", default=sys.executable, metavar="PYTHON", help="an interpreter with reasoning-gym")
    options = parser.parse_args()
    sys.set_int_max_str_digits(INTEGER_DIGITS)
    gc.set_threshold(GC_THRESHOLD)
    rounds = [peer_times(options.peer, options.k) for _ in range(ROUNDS_OF_TIMING)]
    print(f"microseconds a question, {options.k} of each family, each byte the same; the best of {ROUNDS_OF_TIMING}\n")
    print(f"{'family':<20}{'by hand':>10}{'proven':>10}{'compiler':>10}{'peer':>10}{'half':>10}{'bare loop':>12}")
    for job in families([SPECS]):
        if (name := job.template.name) in BY_HAND:
            by, proven, compiler, loop = (each * 1e6 for each in times(job, options.k))
            peer = min(found[name][0] for found in rounds if found) * 1e6 if all(rounds) else float("nan")
            print(f"{name:<20}{by:>10.1f}{proven:>10.1f}{compiler:>10.1f}{peer:>10.1f}{2 * peer:>10.1f}{loop:>12.1f}")


if __name__ == "__main__":
    main()
