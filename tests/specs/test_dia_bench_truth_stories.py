"""The truths of more families of the benchmark, derived a second time from the words of their prompts alone.

Nothing of the project computes here: plain Python and gmpy2 do, Flask's rules are those of its documentation.
"""

from __future__ import annotations

import ast
import re
import string
from collections import deque
from collections.abc import Callable, Iterable
from itertools import permutations, product
from typing import Any

import pytest
from helpers.benchmarks import ENOUGH
from helpers.prompts import found

Challenges = dict[str, dict[str, str]]
Answers = dict[str, dict[str, Any]]

SIGNS = string.ascii_letters + string.digits


def methods_of(challenge: str) -> tuple[str, list[str]]:
    """The path that is asked for, and the methods."""
    path, listed, _ = found(
        r"This Flask application runs without a proxy or other middleware\. It receives several requests for the path "
        r"(/[a-z]+), one with each of these methods: ([A-Z, and]+)\. It answers exactly one of these requests with the status code 405 "
        r"\(Method Not Allowed\)\. Which method does that request use\?\n\n```python\n(.+)\n```",
        challenge,
    )
    return path, re.findall(r"[A-Z]+", listed)


def routes_of(program: str) -> dict[str, set[str]]:
    """Which methods Flask answers at each path of a program, by the rules of its documentation.

    Those that its routes name, OPTIONS at every route, and HEAD where GET is named.
    """
    allowed: dict[str, set[str]] = {}
    for view in [node for node in ast.parse(program).body if isinstance(node, ast.FunctionDef)]:
        (decorator,) = view.decorator_list
        assert isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "app.route"
        (path,), (methods,) = decorator.args, decorator.keywords
        assert methods.arg == "methods"
        allowed.setdefault(ast.literal_eval(path), {"OPTIONS"}).update(ast.literal_eval(methods.value))
    return {path: methods | ({"HEAD"} if "GET" in methods else set()) for path, methods in allowed.items()}


def flask_methods(challenge: str) -> str:
    path, methods = methods_of(challenge)
    program = re.findall(r"```python\n(.+?)\n```", challenge, re.DOTALL)[0]
    names = [node.name for node in ast.parse(program).body if isinstance(node, ast.FunctionDef)]
    assert len(set(names)) == len(names)
    routes = routes_of(program)
    (refused,) = set(methods) - routes[path]
    # every other route refuses another one of the methods, so that none is rarer than another
    named = set(methods) - {"HEAD", "OPTIONS"}
    assert sorted(method for allowed in routes.values() for method in named - allowed) == sorted(named)
    return refused


def karatsuba(challenge: str) -> str:
    gmpy2 = pytest.importorskip("gmpy2")
    *_, n, m = found(
        r"Write seven programs that multiply two integers with Karatsuba's algorithm, one program in each of these "
        r"languages: ([\w+, ]+)\. The programs must meet these requirements:\n\n(.+)\n- As a test, each program first "
        r"multiplies (\d+) by (\d+) and prints the product\.\n\nThen each program multiplies n = (\d+) by m = (\d+)\. Only "
        r"one part of your work will be read: the exact product n \* m\. Give this number as your answer, without any "
        r"programs\.",
        challenge,
    )
    return str(gmpy2.mpz(n) * gmpy2.mpz(m))


def xor_with_unknown_byte(challenge: str) -> str:
    """The key and the text that alone are made of what English sentences are made of."""
    (cipher,) = found(
        r"Each byte of an English sentence in ASCII was XORed with the same secret byte, which is not zero\. "
        r"This is the result in hexadecimal:\n\n([0-9a-f]+)\n\nFind the secret byte and the sentence\. Give "
        r"the byte as a decimal number, then two colons, then the sentence with its original capitalization "
        r"and punctuation, for example 42::This is a sentence\.",
        challenge,
    )
    texts = {key: bytes(byte ^ key for byte in bytes.fromhex(cipher)) for key in range(256)}
    ((key, text),) = [(key, text) for key, text in texts.items() if re.fullmatch(rb"[A-Za-z ,.-]+", text)]
    assert re.fullmatch(rb"[A-Z][a-z]*(,? [a-z-]+)+\.", text) and key > 0
    return f"{key}::{text.decode('ascii')}"


PLACES = {"two": 2, "three": 3, "four": 4, "five": 5}
Tower = deque[str]


def put_back(tower: Tower, block: list[str]) -> None:
    tower.extend(block)


def top_of(tower: Tower, n: int) -> list[str]:
    """The top cubes, taken off; the uppermost comes first."""
    return [tower.pop() for _ in range(n)]


def take_out(tower: Tower, n: int) -> str:
    """The n-th cube from the bottom, taken out."""
    cube = tower[n - 1]
    del tower[n - 1]
    return cube


def put_under(tower: Tower, block: list[str]) -> None:
    tower.extendleft(block)


def turn_over(tower: Tower) -> None:
    tower.reverse()


def change_ends(tower: Tower) -> None:
    tower[0], tower[-1] = tower[-1], tower[0]


def change_with_upper(tower: Tower, n: int) -> None:
    tower[n - 1], tower[n] = tower[n], tower[n - 1]


MOVES: list[tuple[str, Callable[..., Any]]] = [
    (r"Take off the top cube, and put it under the rest of the tower\.", lambda t: put_under(t, top_of(t, 1))),
    (r"Pull out the bottom cube, and put it on top\.", lambda t: t.rotate(-1)),
    (r"Turn the whole tower upside down\.", turn_over),
    (
        r"Take off the top (\w+) cubes as one block, turn the block upside down, and put it back on top\.",
        lambda t, n: put_back(t, top_of(t, n)),
    ),
    (
        r"Take off the top (\w+) cubes as one block, put the block on the table, and put the rest of the tower on top of "
        r"it\. Do not turn over either part\.",
        lambda t, n: put_under(t, top_of(t, n)),
    ),
    (r"Swap the top cube and the bottom cube\.", change_ends),
    (r"Swap the (\d)\w\w cube from the bottom and the cube directly above it\.", change_with_upper),
    (r"Pull out the (\d)\w\w cube from the bottom, and put it on top\.", lambda t, n: t.append(take_out(t, n))),
    (r"Put a new (\w+) cube on top\.", lambda t, colour: t.append(colour)),
    (r"Put a new (\w+) cube under the whole tower\.", lambda t, colour: t.appendleft(colour)),
    (r"Remove the top cube\.", lambda t: t.pop()),
]  # fmt: skip


def moved(tower: Tower, told: str) -> None:
    """Does to the tower what one line tells."""
    ((match, act),) = [(match, act) for pattern, act in MOVES if (match := re.fullmatch(pattern, told))]
    act(tower, *(PLACES.get(word) or (int(word) if word.isdigit() else word) for word in match.groups()))


def cube_tower(challenge: str) -> str:
    count, colours, steps, nth, *ends = found(
        r"A tower of (\d) cubes is on a table\. From bottom to top, the cubes have these colours: ([a-z, ]+)\. Then these "
        r"moves are made, one after the other:\n\n(.+)\n\nAt the end, what is the colour of the (\d)\w\w cube from the "
        r"(top|bottom) of the tower\? The 1st cube from the (top|bottom) is the (top|bottom) cube itself\.",
        challenge,
    )
    tower: Tower = deque(colours.split(", "))
    assert len(tower) == int(count) and len(set(ends)) == 1
    for number, step in enumerate(steps.split("\n"), 1):
        assert step.startswith(f"{number}. ")
        moved(tower, step.partition(". ")[2])
    assert len(set(tower)) == len(tower)
    return tower[-int(nth)] if ends[0] == "top" else tower[int(nth) - 1]


# How the story of a lost token ends, and for each second piece of information how it reads and all tokens that agree with both.
Clue = tuple[str, Callable[[str, str], Iterable[str]]]


def every(*parts: Iterable[str]) -> list[str]:
    """All tokens whose parts are taken from these, in turn."""
    return ["".join(chosen) for chosen in product(*parts)]


def of_pad(seen: str, key: str) -> list[str]:
    """The tokens whose XOR with a key that begins like this is what was seen."""
    known = [chr(a ^ b) for a, b in zip(bytes.fromhex(seen), bytes.fromhex(key), strict=False)]
    assert len(known) in (7, 8)
    return every(*known, *[SIGNS] * (8 - len(known)))


def shuffled_back(seen: str, listed: str) -> list[str]:
    """The tokens whose first characters after the shuffle were at the listed positions."""
    positions = [int(position) - 1 for position in listed.split(", ")]
    others = [position for position in range(8) if position not in positions]
    return [
        "".join(sign for _, sign in sorted(zip([*positions, *rest], seen, strict=True)))
        for rest in permutations(others)
    ]


def blotted(seen: str, agrees: Callable[[int], bool]) -> list[str]:
    """The tokens that were seen with one question mark, and whose sum of codes agrees."""
    assert seen.count("?") == 1
    return [
        token for token in every(*(SIGNS if sign == "?" else sign for sign in seen)) if agrees(sum(map(ord, token)))
    ]


def in_cases(seen: str, agrees: Callable[[list[str]], bool]) -> list[str]:
    """The tokens that were seen in lowercase, and whose positions of uppercase letters agree."""
    tokens = every(*({sign, sign.upper()} for sign in seen))
    return [token for token in tokens if agrees([str(at) for at, sign in enumerate(token, 1) if sign.isupper()])]


def not_among(seen: str, others: str) -> set[str]:
    assert len(set(seen.split(", "))) == 6
    return set(seen.split(", ")) - set(others.split(", "))


STORIES: list[tuple[str, list[Clue]]] = [
    (
        r".+ a random key of eight bytes is ([0-9a-f]{16}) in hexadecimal\.",
        [
            (r"The key is ([0-9a-f]{16}) in hexadecimal\.", of_pad),
            (r"The first seven bytes of the key are ([0-9a-f]{14}) in hexadecimal\.", of_pad),
        ],
    ),
    (
        r".+ one of its characters unreadable, shown here as a question mark: (\S{8})",
        [
            (
                r"The sum of the ASCII codes of its eight characters is (\d+)\.",
                lambda seen, total: blotted(seen, lambda codes: codes == int(total)),
            ),
            (
                r"The sum of the ASCII codes of its eight characters ends with the digit (\d)\.",
                lambda seen, digit: blotted(seen, lambda codes: codes % 10 == int(digit)),
            ),
        ],
    ),
    (
        r".+ its first six characters are known, in this order: (\S{6})",
        [
            (
                r"The ASCII codes of its last two characters are (\d+ and \d+), in this order\.",
                lambda seen, codes: [seen + "".join(chr(int(code)) for code in codes.split(" and "))],
            ),
            (
                r"The sum of the ASCII codes of its last two characters is (\d+)\.",
                lambda seen, total: [seen + a + b for a, b in product(SIGNS, SIGNS) if ord(a) + ord(b) == int(total)],
            ),
        ],
    ),
    (
        r".+ characters were shuffled, and this is the result: (\S{8})",
        [
            (
                r"Before the shuffle, these characters were at positions ((?:\d, ){7}\d) of the token, in this order and "
                r"counted from 1\.",
                shuffled_back,
            ),
            (
                r"Before the shuffle, the first six of these characters were at positions ((?:\d, ){5}\d) of the token, in "
                r"this order and counted from 1\.",
                shuffled_back,
            ),
        ],
    ),
    (r".+ one of the six entries of this list: (.+)", [(r"It is not among these entries: (.+)", not_among)]),
    (
        r".+ turns uppercase letters into lowercase ones, and this came out: (\S{8})",
        [
            (
                r"Exactly the characters at these positions were uppercase letters, counted from 1: ([\d, ]+)",
                lambda seen, listed: in_cases(seen, lambda positions: positions == listed.split(", ")),
            ),
            (
                r"Exactly (\d) of its characters (?:was an uppercase letter|were uppercase letters)\.",
                lambda seen, number: in_cases(seen, lambda positions: len(positions) == int(number)),
            ),
        ],
    ),
    (
        r".+ at positions 1, 3, 5 and 7 were seen on the screen, in this order: (\S{4})",
        [
            (
                r"The characters at positions 8, 6, 4 and 2 are these, in this order: (\S{4})",
                lambda seen, rest: ["".join(a + b for a, b in zip(seen, reversed(rest), strict=True))],
            ),
            (
                r"The characters at positions 8, 6 and 4 are these, in this order: (\S{3})",
                lambda seen, rest: every(
                    seen[0], SIGNS, *(part for pair in zip(seen[1:], rest[::-1], strict=True) for part in pair)
                ),
            ),
        ],
    ),
]


def forced_skip(challenge: str) -> str:
    """The token, if only one agrees with both pieces of information, and otherwise the word."""
    story, clue, task = challenge.split("\n\n")
    assert story.startswith(
        "A token has eight characters, each a letter (A to Z, a to z) or a digit, drawn at random. "
    )
    (word,) = found(
        r"If this determines the token, answer with the token\. If at least two different tokens are "
        r"consistent with everything above, answer with the word ([A-Z]+) instead\. In that case, this word "
        r"is the correct answer, and every token is graded as wrong, even the one that was drawn\. Answering "
        r"with the word is not the same as skipping\.",
        task,
    )
    ((seen, clues),) = [(match[1], clues) for ending, clues in STORIES if (match := re.fullmatch(ending, story))]
    ((more, tokens),) = [(match[1], tokens) for pattern, tokens in clues if (match := re.fullmatch(pattern, clue))]
    agreeing = set(tokens(seen, more))
    assert agreeing and all(re.fullmatch(r"[A-Za-z0-9]{8}", token) for token in agreeing)
    return agreeing.pop() if len(agreeing) == 1 else word


SOLVERS: list[Callable[[str], str]] = [flask_methods, karatsuba, xor_with_unknown_byte, cube_tower, forced_skip]


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: solver.__name__)
def test_every_truth_is_what_its_prompt_asks_for(
    solver: Callable[[str], str], challenges: Challenges, answers: Answers
) -> None:
    asked = challenges[solver.__name__]
    assert {id: solver(challenge) for id, challenge in asked.items()} == {id: answers[id]["text"] for id in asked}


def test_what_flask_answers_by_itself_is_asked_for_and_never_the_truth(
    each: int, challenges: Challenges, answers: Answers
) -> None:
    asked = {id: methods_of(challenge)[1] for id, challenge in challenges["flask_methods"].items()}
    assert all("OPTIONS" in methods for methods in asked.values())
    assert each < ENOUGH or any("HEAD" in methods for methods in asked.values())
    assert not {answers[id]["text"] for id in asked} & {"HEAD", "OPTIONS"}


def test_tokens_that_cannot_be_known_are_wrong_and_the_word_is_no_skip(
    challenges: Challenges, answers: Answers
) -> None:
    known = 0
    for id in challenges["forced_skip"]:
        record = answers[id]
        token, word = record["parameters"]["token"], record["parameters"]["escape"].upper()
        is_known = record["text"] == token
        known += is_known
        if is_known:
            assert record["mistakes"]["word_without_need"] == word and "lucky_guess" not in record["mistakes"]
        else:
            assert record["mistakes"]["lucky_guess"] == token and record["text"] == word
            assert set(record["accept"]) == {word.lower(), word.capitalize()}
        assert record["text"] != "I-DO-NOT-KNOW"
    assert 0 < known < len(challenges["forced_skip"]), "the word is right in some instances only"
