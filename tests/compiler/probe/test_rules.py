"""Rules find what a prompt gives away, and nothing where it gives nothing away."""

from __future__ import annotations

import base64
import random
from collections.abc import Callable
from typing import Any

import pytest
from dia_compiler.probe.probe import exact_interval, probe_questions
from dia_compiler.probe.rules import LINES, SELECTORS, filters
from dia_compiler.probe.surface import COUNTS, TOKENIZERS, Shape, decoded, pattern_of, without_shared_ends
from dia_compiler.probe.titles import TITLES, ordinal

WORDS = [
    "amber",
    "basin",
    "cedar",
    "delta",
    "ember",
    "fjord",
    "grove",
    "haven",
    "inlet",
    "jetty",
    "knoll",
    "ledge",
    "marsh",
    "nook",
    "oasis",
]
Draw = Callable[[random.Random], tuple[str, str]]


def probed(draw: Draw, number: int = 200, attachment: bool = False, rows: int = 1) -> Any:
    """The best shortcut of so many prompts and answers, of an item or of several."""
    source = random.Random(7)
    questions, answers, texts = [], {}, {}
    for place in range(number):
        prompt, answer = draw(source)
        name = f"mine/planted/{place}"
        assets = [{"path": f"assets/{place}.txt"}] if attachment else []
        content = f"Read carefully.\n{'See the file.' if attachment else prompt}\nAnswer between 1 and 9 tags."
        if attachment:
            texts[f"assets/{place}.txt"] = prompt
        questions.append(
            {"id": name, "template": "planted", "item": str(place % rows), "variant": None, "messages": [{"role": "user", "content": content}],
             "assets": assets, "points": {"correct": 1, "wrong": -2, "skip": 0}}
        )  # fmt: skip
        answers[name] = {"text": answer, "accept": []}
    return probe_questions(questions, answers, texts)


def word(source: random.Random, length: int) -> str:
    return "".join(source.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(length))


def longest_word(source: random.Random) -> tuple[str, str]:
    answer = word(source, 12)
    words = [*source.sample(WORDS, 8), answer]
    source.shuffle(words)
    return f"Which of these is the code? {' '.join(words)}", answer


def last_of_list(source: random.Random) -> tuple[str, str]:
    words = source.sample(WORDS, 9)
    return f"Which one is wanted: {', '.join(words)}?", words[-1]


def behind_a_keyword(source: random.Random) -> tuple[str, str]:
    values = [word(source, 10) for _ in range(6)]
    lines = [f"key {place} {value}" for place, value in enumerate(values)]
    place = source.randrange(1, 5)
    return "\n".join([*lines[:place], f"secret {values[place]}", *lines[place + 1 :]]), values[place]


def row_with_most(source: random.Random) -> tuple[str, str]:
    names = source.sample(WORDS, 8)
    sizes = source.sample(range(100, 999), 8)
    rows = [f"{name} sent {size} bytes" for name, size in zip(names, sizes, strict=True)]
    return "Which computer leaked the file?\n" + "\n".join(rows), names[sizes.index(max(sizes))]


def odd_entry(source: random.Random) -> tuple[str, str]:
    entries = [f"{word(source, 6)}{source.randrange(10, 99)}" for _ in range(9)]
    answer = f"{word(source, 4)}-{word(source, 3)}"
    entries.insert(source.randrange(9), answer)
    return "Which password is the best?\n" + "\n".join(entries), answer


def number_of_line(source: random.Random) -> tuple[str, str]:
    rows = [" ".join(source.sample(WORDS, source.randrange(2, 6))) for _ in range(7)]
    place = source.randrange(7)
    rows[place] = " ".join(source.sample(WORDS, 9))
    return "\n".join(rows), str(place + 1)


def told_by_its_surroundings(source: random.Random) -> tuple[str, str]:
    """The answer alone is both opened and locked; each of these words stands next to many others."""
    names = [word(source, 9) for _ in range(8)]
    answer, both = (
        names[0],
        [("open", name) for name in names[:4]] + [("lock", name) for name in [names[0], *names[4:]]],
    )
    source.shuffle(both)
    return "\n".join(f"{verb}\n  {name}" for verb, name in both), answer


def string_in_an_encoded_file(source: random.Random) -> tuple[str, str]:
    """The only string of its length in a program of random bytes, which is printed in Base64."""
    answer = word(source, 12)
    strings = [word(source, length).encode() for length in (6, 8, 10)] + [answer.encode()]
    source.shuffle(strings)
    content = b"".join(source.randbytes(40) + b"\x00" + string + b"\x00" for string in strings)
    return "Find the key.\n\n" + base64.encodebytes(content).decode() + "\nWell?", answer


def mostly_one_answer(source: random.Random) -> tuple[str, str]:
    return f"Is {source.randrange(10**6)} lucky?", "yes" if source.random() < 0.9 else "no"


PLANTED: dict[str, Draw] = {
    draw.__name__: draw
    for draw in (longest_word, last_of_list, behind_a_keyword, row_with_most, odd_entry, number_of_line,
                 told_by_its_surroundings, string_in_an_encoded_file, mostly_one_answer)
}  # fmt: skip


@pytest.mark.parametrize("draw", PLANTED.values(), ids=PLANTED)
@pytest.mark.long
def test_a_planted_shortcut_is_found(draw: Draw) -> None:
    best = probed(draw)
    assert best.is_over, best
    assert best.accuracy > 0.8, best
    assert best.points == pytest.approx(best.accuracy - 2 * (1 - best.accuracy))


def test_a_shortcut_in_a_text_attachment_is_found() -> None:
    assert probed(row_with_most, 80, attachment=True).is_over


def any_word(source: random.Random) -> tuple[str, str]:
    words = [word(source, 8) for _ in range(9)]
    return f"Which of these is the code? {' '.join(words)}", source.choice(words)


def coin(source: random.Random) -> tuple[str, str]:
    return f"Is {source.randrange(10**6)} lucky?", source.choice(["yes", "no"])


def product(source: random.Random) -> tuple[str, str]:
    one, other = source.randrange(100, 999), source.randrange(100, 999)
    return f"What is {one} times {other}?", str(one * other)


def any_row(source: random.Random) -> tuple[str, str]:
    names = source.sample(WORDS, 8)
    return "\n".join(f"{name} sent {source.randrange(100, 999)} bytes" for name in names), source.choice(names)


CLEAN: dict[str, Draw] = {draw.__name__: draw for draw in (any_word, coin, product, any_row)}


@pytest.mark.parametrize("draw", CLEAN.values(), ids=CLEAN)
def test_a_clean_template_is_within_its_limit(draw: Draw) -> None:
    best = probed(draw, 200)
    assert not best.is_over, best


def test_rows_of_data_are_not_learned_by_heart() -> None:
    """Each of 30 rows comes ten times, with its options in another order: a rule must not meet it in both halves."""
    made = [0]
    letters = random.Random(3)
    rows = [[word(letters, 8) for _ in range(6)] for _ in range(30)]

    def drawn(source: random.Random) -> tuple[str, str]:
        row = rows[made[0] % 30]
        made[0] += 1
        return f"Which one? {' '.join(source.sample(row, 6))}", row[3]

    best = probed(drawn, 300, rows=30)
    assert best.instances == 15 and not best.is_over, best


def test_too_few_instances_show_nothing() -> None:
    assert probed(longest_word, 19) is None
    assert probed(longest_word, 20) is not None


def test_a_shortcut_over_counts_needs_a_tree() -> None:
    pytest.importorskip("sklearn", reason="needs the extra `probe`")

    def draw(source: random.Random) -> tuple[str, str]:
        size = source.randrange(3, 9)
        return " ".join(str(source.randrange(10, 99)) for _ in range(size)), "large" if size > 5 else "small"

    best = probed(draw)
    assert best.is_over
    assert best.rule.startswith("decision tree of depth")


# R 4.3.1, binom.test(x, n, conf.level = level)$conf.int
@pytest.mark.parametrize(
    ("right", "number", "level", "interval"),
    [
        (8, 10, 0.05, (0.4439045, 0.9747893)),
        (0, 25, 0.05, (0.0, 0.1371852)),
        (200, 200, 0.05, (0.9817246, 1.0)),
        (50, 200, 0.05, (0.1916072, 0.3159628)),
    ],
)
def test_intervals_are_those_of_the_binomial_distribution(
    right: int, number: int, level: float, interval: tuple[float, float]
) -> None:
    assert exact_interval(right, number, level) == pytest.approx(interval, abs=1e-6)


def test_surface() -> None:
    block = base64.encodebytes(b"\x00one key\x01abc\x02" + bytes(200) + b"other").decode()
    assert decoded(f"File:\n{block}End") == "File:\n\none key\nother\n\nEnd"
    assert decoded("A" * 59 + " short") == "A" * 59 + " short"
    assert pattern_of("ab-12") == "a-9"
    assert without_shared_ends(["a\nx\nb", "a\ny\nz\nb"]) == ["x", "y\nz"]
    assert without_shared_ends(["a\nb", "a\nb"]) == ["b", "b"]
    shape = Shape.of(["ab1", "cd2"])
    assert shape.has_pattern("xy3") is False  # x and y are no characters of these answers
    assert shape.has_pattern("ba9")
    assert not shape.has_pattern("a9b")
    assert shape.has_length("a9b")


def test_every_title_is_that_of_a_rule_or_of_a_part_of_one() -> None:
    names = {*SELECTORS, *LINES, *COUNTS, *TOKENIZERS, *filters(Shape.of(["ab1"]))}
    assert set(TITLES) <= names
    assert [ordinal(place) for place in (0, 1, 2, 3, -1, -2, -3, -11)] == [
        "first",
        "2nd",
        "3rd",
        "4th",
        "last",
        "2nd-to-last",
        "3rd-to-last",
        "11th-to-last",
    ]
