"""The answers of specs/puzzles, derived again from the words of each prompt alone, in every wording.

Nothing of the project computes here: each solver reads the text that a model is sent, and takes another way than the spec. A
solver of a puzzle with several solutions is given the answer, and returns it if the answer is one of them.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from fractions import Fraction
from functools import cache
from itertools import combinations, pairwise, permutations, product
from typing import Any, TypeVar

import networkx
import pytest
from helpers.benchmarks import K, Records, records_of
from helpers.places import ROOT

pytestmark = pytest.mark.long

SPECS = ROOT / "specs" / "puzzles"
FAMILIES = sorted(path.stem for path in SPECS.glob("*.yaml") if path.stem != "benchmark")
S = TypeVar("S", bound=Hashable)


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> tuple[Records, Records]:
    """The questions and the answers."""
    return records_of("puzzles", tmp_path_factory, request)


def task(question: dict[str, Any]) -> str:
    """The prompt without the format's instruction."""
    challenge, mark, _ = question["messages"][-1]["content"].partition("\n\nYou may reason first. ")
    assert mark
    return str(challenge)


def read(challenge: str, *wordings: str) -> tuple[str, ...]:
    """The groups of the only wording that describes the whole challenge."""
    matches = [match for wording in wordings if (match := re.fullmatch(wording, challenge, re.DOTALL))]
    assert len(matches) == 1, challenge
    return matches[0].groups()


def integers(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"-?\d+", text)]


def fewest(start: S, moves: Callable[[S], Iterable[S]], is_goal: Callable[[S], bool]) -> int:
    """The smallest number of moves."""
    waiting, seen = deque([(start, 0)]), {start}
    while waiting:
        state, depth = waiting.popleft()
        if is_goal(state):
            return depth
        for other in moves(state):
            if other not in seen:
                seen.add(other)
                waiting.append((other, depth + 1))
    raise AssertionError("no solution")


def word_ladder(challenge: str, answer: str) -> str:
    """The answer is a path in the graph of the words, as short as networkx finds."""
    a, b = '"([a-z]+)"', '"([a-z]+)"'
    if challenge.startswith("Turn"):
        first, last, listed, *_ = read(
            challenge,
            rf"Turn {a} into {b} by changing one letter at a time\. Each word on the way must be in this list:\n\n([a-z, ]+)\n\n"
            rf"Use as few steps as possible\. Give all words in order, from {a} to {b}\.",
        )
    else:
        first, last, listed = read(
            challenge,
            r"A word ladder is a list of words in which each word differs from the one before it in exactly one letter, at the "
            rf"same position\. What is the shortest word ladder from {a} to {b} that uses only the words below\? If several are "
            r"equally short, give any of them\. Include both ends\.\n\n([a-z\n]+)",
        )
    words = re.findall("[a-z]+", listed)
    edges = [(v, w) for v in words for w in words if sum(x != y for x, y in zip(v, w, strict=True)) == 1]
    net = networkx.Graph(edges)
    ladder = answer.strip("[]").replace('"', "").split(", ")
    assert ladder[0] == first and ladder[-1] == last and all(net.has_edge(*pair) for pair in pairwise(ladder))
    assert len(ladder) == networkx.shortest_path_length(net, first, last) + 1
    assert len(words) == len(set(words)) and words == sorted(words)
    return answer


def water_jugs(challenge: str) -> str:
    """Breadth first, with each jug as a remainder of what was poured."""
    a, b, target = map(
        int,
        read(
            challenge,
            r"You have an empty jug that holds (\d+) liters, another that holds (\d+) liters, and a tap\. In one step, you can fill a "
            r"jug to the brim from the tap, empty a jug into the sink, or pour one jug into the other until the first is empty or the "
            r"second is full\. What is the smallest number of steps after which one of the jugs contains exactly (\d+) liters?\?",
            r"At a camp by a lake, there are two buckets without marks, which hold (\d+) and (\d+) liters when full\. Both are empty at first\. Each of "
            r"these is one move: filling a bucket completely from the lake, emptying a bucket completely, or pouring from one bucket "
            r"into the other until the first is empty or the second is full\. What is the smallest number of moves after which one of "
            r"the buckets contains exactly (\d+) liters?\?",
        ),
    )

    def moves(jugs: tuple[int, int]) -> Iterator[tuple[int, int]]:
        x, y = jugs
        yield from ((a, y), (x, b), (0, y), (x, 0))
        yield (x + y - b, b) if x + y > b else (0, x + y)
        yield (a, x + y - a) if x + y > a else (x + y, 0)

    return str(fewest((0, 0), moves, lambda jugs: target in jugs))


def sudoku(challenge: str) -> str:
    """Backtracking over the first cell with the fewest digits; all solutions."""
    if challenge.startswith("Complete"):
        height, width, size, picture = read(
            challenge,
            r"Complete this sudoku\. Each row, each column and each block of (\d) rows and (\d) columns contains each of the digits 1 "
            r"to (\d) exactly once\. Empty cells are shown as _\.\n\n([\d_ \n]+)\n\nGive the completed grid, row by row\.",
        )
    else:
        size, columns, height, width, largest, picture = read(
            challenge,
            r"The grid below has (\d) rows and (\d) columns\. It is divided into blocks that are (\d) rows high and (\d) columns wide\. "
            r"Replace each _ by a number from 1 to (\d), so that no number appears twice in a row, in a column or in a block\. There is "
            r"only one way to do it\. What is the complete grid\?\n\n([\d_ \n]+)",
        )
        assert size == columns == largest
    n, h, w = int(size), int(height), int(width)
    grid = [line.split() for line in picture.split("\n")]
    assert len(grid) == n and all(len(row) == n for row in grid)

    def possible(r: int, c: int) -> list[str]:
        top, left = r // h * h, c // w * w
        near = {*grid[r], *(row[c] for row in grid)} | {d for row in grid[top : top + h] for d in row[left : left + w]}
        return [str(d) for d in range(1, n + 1) if str(d) not in near]

    def solutions() -> Iterator[str]:
        empty = [(r, c) for r in range(n) for c in range(n) if grid[r][c] == "_"]
        if not empty:
            yield str([list(map(int, row)) for row in grid])
            return
        r, c = min(empty, key=lambda cell: len(possible(*cell)))
        for d in possible(r, c):
            grid[r][c] = d
            yield from solutions()
        grid[r][c] = "_"

    (solution,) = solutions()
    return solution


def bits(picture: str) -> list[list[int]]:
    return [integers(line) for line in picture.strip().split("\n")]


def game_of_life(challenge: str) -> str:
    """Living cells as a set; each gives one to its neighbors."""
    if challenge.startswith("In this"):
        picture, steps = read(
            challenge,
            r"In this grid, 1 is a living cell and 0 is a dead one\. Cells outside the grid are always dead\. In each generation, all "
            r"cells change at the same time: a living cell stays alive if it has two or three living neighbors, and a dead cell "
            r"becomes alive if it has exactly three\. All other cells are dead afterwards\. Diagonal neighbors count\.\n\n([01 \n]+)"
            r"\n\nWhat does the grid look like after (\d+) generations?\? Give all rows\.",
        )
    else:
        steps, picture = read(
            challenge,
            r"Run Conway's Game of Life for (\d+) steps? on this board\. The board has no cells beyond its edges\. 1 means alive, 0 "
            r"means dead\.\n\n([01 \n]+)\n\nWhat is on the board then\?",
        )
    grid = bits(picture)
    alive = {(r, c) for r, row in enumerate(grid) for c, cell in enumerate(row) if cell}
    for _ in range(int(steps)):
        near = Counter((r + y, c + x) for r, c in alive for y in (-1, 0, 1) for x in (-1, 0, 1) if (y, x) != (0, 0))
        alive = {cell for cell, count in near.items() if count == 3 or (count == 2 and cell in alive)}
        alive &= {(r, c) for r, row in enumerate(grid) for c in range(len(row))}
    return str([[int((r, c) in alive) for c in range(len(row))] for r, row in enumerate(grid)])


def knights_and_knaves(challenge: str) -> str:
    """Each set of knights is tried; the statements are read by their words."""
    if challenge.startswith("On an island"):
        named, said = read(
            challenge,
            r"On an island, knights always tell the truth and knaves always lie\. Everybody is one or the other\. You meet "
            r"([A-Za-z, ]+)\.\n\n(.+)\n\nWho are the knights\?",
        )
        statements = re.findall(r'^(\w+) says: "(.+)\."$', said, re.MULTILINE)
    else:
        named, said = read(
            challenge,
            r"Each of [a-z]+ people, ([A-Za-z, ]+), is either a knight, whose every statement is true, or a knave, whose every "
            r"statement is false\. These are their statements:\n\n(.+)\n\nOnly one assignment of knights and knaves is consistent "
            r"with all the statements\. List all knights\.",
        )
        statements = re.findall(r"^- (\w+): (.+)\.$", said, re.MULTILINE)
    people = re.split(", | and ", named)
    assert [name for name, _ in statements] == people

    def holds(statement: str, knights: set[str]) -> bool:
        a, b = [*re.findall("|".join(people), statement), ""][:2]
        return {
            "@ is a knight": a in knights,
            "@ is a knave": a not in knights,
            "@ and @ are both knights": {a, b} <= knights,
            "@ and @ are both knaves": not {a, b} & knights,
            "@ and @ are of the same kind": len({a, b} & knights) != 1,
            "@ and @ are of different kinds": len({a, b} & knights) == 1,
            "At least one of @ and @ is a knave": len({a, b} & knights) < 2,
            "If @ is a knight, then @ is a knave": a not in knights or b not in knights,
        }[re.sub("|".join(people), "@", statement)]

    groups = [set(group) for size in range(len(people) + 1) for group in combinations(people, size)]
    (knights,) = [
        group for group in groups if all(holds(claim, group) == (name in group) for name, claim in statements)
    ]
    return f"{{{', '.join(sorted(knights))}}}"


def nonogram(challenge: str) -> str:
    """Patterns of each line; cells on which all patterns of a line agree rule out patterns of the other lines."""
    if challenge.startswith("Solve"):
        listed = read(
            challenge,
            r"Solve this nonogram with (\d) rows and (\d) columns\. The numbers of a row or column are the lengths of its blocks of "
            r"filled cells, in order\. Between two blocks, there is at least one empty cell\. A 0 stands for a row or column without "
            r"filled cells\.\n\nRows, from top to bottom: ([\d; ]+)\nColumns, from left to right: ([\d; ]+)\n\nGive the rows of the "
            r"solution, with 1 for a filled cell and 0 for an empty one\.",
        )
        lines = [[integers(clue) for clue in part.split(";")] for part in listed[2:]]
    else:
        *listed, said = read(
            challenge,
            r"A picture of black and white squares has (\d) rows and (\d) columns\. For each row and each column, the lengths of "
            r"its runs of black squares are given in order\.\n\n(.+)\n\nFor example, 2 1 means two adjacent black squares, then one or "
            r"more white squares, then one black square\. White squares may come before and after\. 0 means that there are no black squares\. Only one "
            r"picture fits\. Write it as rows of 1 \(black\) and 0 \(white\)\.",
        )
        lines = [
            [integers(clue) for clue in re.findall(rf"^{word} \d+: ([\d ]+)$", said, re.MULTILINE)]
            for word in ("Row", "Column")
        ]
    assert [len(part) for part in lines] == [int(size) for size in listed[:2]]
    sizes = len(lines[1]), len(lines[0])

    def patterns(clue: list[int], size: int) -> list[tuple[int, ...]]:
        blocks = ["1" * n for n in clue if n]
        gaps = size - sum(clue)
        texts = {
            "".join("0" * gap + block for gap, block in zip(gap_sizes, [*blocks, ""], strict=True))
            for gap_sizes in product(range(gaps + 1), repeat=len(blocks) + 1)
            if sum(gap_sizes) == gaps and all(gap_sizes[1:-1])
        }
        return [tuple(map(int, text)) for text in texts]

    rows, columns = ([patterns(clue, size) for clue in part] for part, size in zip(lines, sizes, strict=True))
    found = [
        grid for grid in product(*rows) if all(column in columns[c] for c, column in enumerate(zip(*grid, strict=True)))
    ]
    assert len(found) == 1
    return str([list(row) for row in found[0]])


def countdown(challenge: str, answer: str) -> str:
    """The expression in exact fractions, and its numbers."""
    if challenge.startswith("Write"):
        target, listed = read(
            challenge,
            r"Write an expression that equals (\d+)\. Use each of the numbers ([\d, ]+) exactly once, and no other number\. You may "
            r"use \+, -, \*, / and parentheses\.",
        )
    else:
        listed, target = read(
            challenge,
            r"The cards show the numbers ([\d, and]+), and the target is (\d+)\. Combine all cards by addition, subtraction, "
            r"multiplication and division \(with parentheses if you like\) so that the result is exactly the target\. Use each "
            r"card exactly once\. Give only the expression, without an equals sign\.",
        )
    value = eval(re.sub(r"(\d+)", r"N(\1)", answer), {"__builtins__": {}, "N": Fraction})
    assert re.fullmatch(r"[-+*/() \d]+", answer) and value == int(target)
    assert sorted(integers(answer.replace("-", " "))) == sorted(integers(listed))
    return answer


def maze(challenge: str, answer: str) -> str:
    """networkx finds how long a shortest way is; the answer is walked."""
    picture, *_ = read(
        challenge,
        r"Find a shortest path from S to G in this maze\. # is a wall\. A step goes up, down, left or right to the next cell, never "
        r"diagonally\.\n\n([SG.#\n]+)\n\nGive the path as a sequence of the letters U \(up\), D \(down\), L \(left\) and R \(right\), "
        r"without spaces\.",
        r"A robot stands at S on this map and has to reach G\. It understands the commands U, D, L and R: move one square up, down, "
        r"left or right\. It cannot leave the map or enter a square marked #\. What is the shortest program that brings it there\? If "
        r"there are several, any of them will do\. Write the commands next to each other, such as RRD\.\n\n([SG.#\n]+)",
    )
    cells = {
        complex(c, r): sign for r, row in enumerate(picture.split("\n")) for c, sign in enumerate(row) if sign != "#"
    }
    net = networkx.Graph([(cell, cell + step) for cell in cells for step in (1, 1j) if cell + step in cells])
    (start,), (goal,) = ([cell for cell, sign in cells.items() if sign == letter] for letter in "SG")
    place = start
    for letter in answer:
        place += {"U": -1j, "D": 1j, "L": -1, "R": 1}[letter]
        assert place in cells
    assert place == goal and len(answer) == networkx.shortest_path_length(net, start, goal)
    return answer


def zebra(challenge: str) -> str:
    """All arrangements, one attribute after the other, as long as no clue is broken; the clues by their words."""
    if "next to each other" in challenge:
        people, pets, drinks, colors, clues, question = read(
            challenge,
            r"[A-Z][a-z]+ people live next to each other in [a-z]+ houses in a row\. Their names are ([\w, ]+)\. Each has a different "
            r"pet: ([\w, ]+)\. Each prefers a different drink: ([\w, ]+)\.(?: The houses have different colors: ([\w, ]+)\.)?\n\n"
            r"((?:- .+\.\n)+)\n(.+), from left to right\?",
        )
    else:
        people, pets, drinks, colors, clues, question = read(
            challenge,
            r"On one side of a street, there are [a-z]+ houses, numbered from 1 on the left to \d on the right, with one resident each\. "
            r"The residents are ([\w, ]+)\. "
            r"Each has a different pet: ([\w, ]+)\. Each drinks something different: ([\w, ]+)\."
            r"(?: No two houses have the same color; the colors are ([\w, ]+)\.)?\n\n((?:\d+\. .+\.\n)+)\n(.+), from number 1 to number "
            r"\d\?",
        )
    kinds = [re.split(", | and ", names) for names in (people, pets, drinks, colors) if names]
    houses = range(len(kinds[0]))
    assert all(len(names) == len(houses) for names in kinds)
    thing = r"(?:[Tt]he (?:owner of the|person who drinks|person in the) )?(\w+)(?: house)?"
    words = {
        "is": lambda a, b: a == b,
        "is not": lambda a, b: a != b,
        "lives directly to the left of": lambda a, b: b - a == 1,
        "lives directly to the right of": lambda a, b: a - b == 1,
        "lives next to": lambda a, b: abs(a - b) == 1,
        "lives somewhere to the left of": lambda a, b: a < b,
    }
    lines = [
        re.fullmatch(rf"(?:-|\d+\.) {thing} ({'|'.join(words)}) {thing}\.", line) for line in clues.strip().split("\n")
    ]
    rules = [(line[1], words[line[2]], line[3]) for line in lines if line]
    assert len(rules) == len(lines) > 0
    arrangements: list[dict[str, int]] = [{}]
    for names in kinds:
        arrangements = [
            merged
            for places in arrangements
            for order in permutations(houses)
            if (merged := places | dict(zip(names, order, strict=True)))
            and all(test(merged[a], merged[b]) for a, test, b in rules if a in merged and b in merged)
        ]
    (places,) = arrangements
    asked = kinds[
        ["Who", "Which pets", "What do", "What colors"].index(
            re.match("Who|Which pets|What do|What colors", question)[0]
        )
    ]  # type: ignore[index]
    return f"[{', '.join(sorted(asked, key=places.__getitem__))}]"


def cryptarithm(challenge: str) -> str:
    """Every digit of the letters, the most frequent letters by equations of their place values."""
    if challenge.startswith("In this"):
        *words, hints, _ = read(
            challenge,
            r"In this addition, each letter stands for a digit\. Different letters stand for different digits, and no number begins with "
            r"0\.\n\n([A-Z]+) \+ ([A-Z]+) = ([A-Z]+)\n\n((?:[A-Z] is \d[\w, ]*\. )?)There is only one solution\. What number "
            r"does ([A-Z]+) stand for\?",
        )
    else:
        *words, hints = read(
            challenge,
            r"Someone replaced the digits of a correct addition with letters: the same digit always with the same letter, and different "
            r"digits with different letters\.\n\n +([A-Z]+)\n\+ +([A-Z]+)\n= +([A-Z]+)\n\nNone of the three numbers starts with a zero\."
            r"(?: You also know that ([A-Z] is \d[\w, ]*)\.)? What was the result of the addition\?",
        )
    weights: Counter[str] = Counter()
    for sign, word in zip((1, 1, -1), words, strict=True):
        for power, letter in enumerate(reversed(word)):
            weights[letter] += sign * 10**power
    known = {letter: int(digit) for letter, digit in re.findall(r"([A-Z]) is (\d)", hints or "")}
    free = [letter for letter in weights if letter not in known]
    assert len(free) >= 2, "the hints leave nothing to find"
    # the last letter follows from the others
    *tried, last = sorted(free, key=lambda letter: weights[letter] == 0, reverse=True)
    results = set()
    for digits in permutations(set(range(10)) - set(known.values()), len(tried)):
        values = known | dict(zip(tried, digits, strict=True))
        rest = -sum(weights[letter] * digit for letter, digit in values.items())
        options = [rest // weights[last]] if weights[last] and rest % weights[last] == 0 else []
        options = [*range(10)] if weights[last] == 0 and rest == 0 else options
        for digit in options:
            whole = values | {last: digit}
            if 0 <= digit <= 9 and len(set(whole.values())) == len(whole) and all(whole[word[0]] for word in words):
                results.add("".join(str(whole[letter]) for letter in words[2]))
    (result,) = results
    return result


def sliding_tiles(challenge: str, answer: str) -> str:
    """The answer is played; the fewest moves by our own search on texts."""
    if challenge.startswith("On a board"):
        *sizes, before, after = read(
            challenge,
            r"On a board with (\d) rows and (\d) columns, tiles can slide into the empty space \(_\) from directly above, below, left or "
            r"right of it\. The position is\n\n([\d_ \n]+)\n\nand should become\n\n([\d_ \n]+)\n\nwith as few moves as possible\. List "
            r"the numbers of the tiles in the order in which they slide\.",
        )
    else:
        before, after = read(
            challenge,
            r"Five numbered tiles lie in a box that has room for six\. A move pushes a tile next to the gap into the gap, which is shown "
            r"as _\. Tiles never move diagonally\.\n\nNow:\n([\d_ \n]+)\n\nWanted:\n([\d_ \n]+)\n\nWhich tiles have to be moved, in "
            r"which order, to get there in as few moves as possible\? If there are several shortest solutions, give any one\.",
        )
        sizes = []
    rows = [line.split() for line in before.split("\n")]
    assert not sizes or [len(rows), len(rows[0])] == list(map(int, sizes))
    width = len(rows[0])
    start, goal = ("".join(text.split()) for text in (before, after))

    def near(place: int) -> list[int]:
        return [p for p in range(6) if abs(p // width - place // width) + abs(p % width - place % width) == 1]

    def moves(board: str) -> Iterator[str]:
        gap = board.index("_")
        for place in near(gap):
            cells = list(board)
            cells[gap], cells[place] = cells[place], "_"
            yield "".join(cells)

    board, tiles = start, integers(answer)
    for tile in tiles:
        gap, place = board.index("_"), board.index(str(tile))
        assert place in near(gap)
        board = board.translate({ord("_"): str(tile), ord(str(tile)): "_"})
    assert board == goal and len(tiles) == fewest(start, moves, lambda other: other == goal)
    return answer


def knight_swap(challenge: str, answer: str) -> str:
    """The answer is played on a board of complex numbers; the fewest moves by our own search."""
    if challenge.startswith("W is"):
        (picture,) = read(
            challenge,
            r"W is a white knight, B a black knight and \. an empty square of this small chessboard:\n\n(.+)\n\nThe knights move as in "
            r"chess, onto empty squares only, and nobody captures\. White and black need not take turns\. With as few moves as possible, "
            r"get white knights onto all squares where black knights are now, and black knights onto all squares where white knights are "
            r"now\. List the moves in order, in the form a1-b3\.",
        )
        *lines, columns = picture.split("\n")
        rows = {
            f"{column}{line[0]}": sign
            for line in lines
            for column, sign in zip(columns.split(), line[2:].split(), strict=True)
        }
        squares = set(rows)
        white, black = (frozenset(square for square, sign in rows.items() if sign == color) for color in "WB")
    else:
        last, height, whites, blacks = read(
            challenge,
            r"On a board with the columns a to ([a-z]) and the rows 1 to (\d), there (?:is a white knight|are white knights) on "
            r"([\w, ]+) and (?:a black knight|black knights) on ([\w, ]+)\. White and black have to swap places in the smallest possible number of moves\. "
            r"Every move is a knight's move of either color to an empty square; there are no captures, and the two colors need not take turns\. "
            r"List the moves in order, in the form a1-b3\.",
        )
        squares = {f"{chr(c)}{r}" for c in range(ord("a"), ord(last) + 1) for r in range(1, int(height) + 1)}
        white, black = (frozenset(re.findall(r"[a-z]\d", text)) for text in (whites, blacks))

    def near(square: str) -> list[str]:
        return [s for s in squares if abs(ord(s[0]) - ord(square[0])) * abs(int(s[1]) - int(square[1])) == 2]

    def moves(state: tuple[frozenset[str], frozenset[str]]) -> Iterator[tuple[frozenset[str], frozenset[str]]]:
        for at, knights in enumerate(state):
            for square in knights:
                for other in set(near(square)) - state[0] - state[1]:
                    changed = knights - {square} | {other}
                    yield (changed, state[1]) if at == 0 else (state[0], changed)

    places = {square: color for color, knights in (("W", white), ("B", black)) for square in knights}
    played = answer.strip("[]").split(", ")
    for move in played:
        a, b = move.split("-")
        assert b in near(a) and b not in places
        places[b] = places.pop(a)
    assert {square for square, color in places.items() if color == "W"} == black and places.keys() == white | black
    assert len(played) == fewest((white, black), moves, lambda state: state == (black, white))
    return answer


def cipher_ladder(challenge: str) -> str:
    """Letters by their numbers from 0 to 25."""
    rule = (
        r"(the number of letters|the position in the alphabet of the (?:first|last) letter|the sum of the positions in the alphabet of "
        r"the first and the last letter) of the previous decoded word"
    )
    if challenge.startswith("A message"):
        size, key_text, rule_text, coded = read(
            challenge,
            r"A message of (\d) English words was encrypted word by word\. In each word, all letters were moved forward in the alphabet by "
            r"the same number of places \(z is followed by a\)\. For the first word, this number is (\d+)\. For each word after that, it is "
            rf"{rule}\.(?: The letter a has position 1, and z has position 26\.)?\n\n([a-z ]+)\n\nWhat is the message\?",
        )
        assert len(coded.split()) == int(size)
    else:
        coded, key_text, rule_text = read(
            challenge,
            r"Decode these words from left to right:\n\n([\d. a-z\n]+)\n\nEach word was made by a Caesar shift: every letter was replaced "
            r"by the one that comes a certain number of places later in the alphabet, wrapping around from z to a\. Word 1 was shifted by (\d+)\. The "
            rf"shift of any later word is {rule}(?:, with a = 1, b = 2 and so on)?\. Write the decoded words with one space between them\.",
        )
    key, words = int(key_text), []
    for code in re.findall("[a-z]+", coded):
        word = "".join(chr((ord(letter) - 97 - key) % 26 + 97) for letter in code)
        first, last = ord(word[0]) - 96, ord(word[-1]) - 96
        key = {"num": len(word), "sum": first + last, "firs": first, "last": last}[
            next(part for part in ("num", "sum", "firs", "last") if part in rule_text)
        ]
        words.append(word)
    return " ".join(words)


def topological_order(challenge: str) -> str:
    """networkx sorts, with the alphabet as the key."""
    if challenge.startswith("These"):
        tasks, rules = read(
            challenge,
            r"These tasks have to be done one after the other: ([a-z, ]+)\. There are rules about their order:\n\n([-a-z \n]+)\n\nWhenever "
            r"several tasks could be next, the one that comes first in the alphabet is done\. In which order are the tasks done\?",
        )
        edges = re.findall(r"^- (\w+) before (\w+)$", rules, re.MULTILINE)
    else:
        tasks, rules = read(
            challenge,
            r"A machine works through the jobs ([a-z, ]+)\. A job can start when all jobs that it waits for are finished\. The machine does "
            r"one job at a time; of the jobs that can start, it always takes the alphabetically first\.\n\n([.a-z \n]+)\n\nList the jobs in "
            r"the order in which the machine does them\.",
        )
        edges = [(before, after) for after, before in re.findall(r"^(\w+) waits for (\w+)\.$", rules, re.MULTILINE)]
    assert len(edges) == rules.count("\n") + 1
    net = networkx.DiGraph(edges)
    net.add_nodes_from(re.split(", | and ", tasks))
    return f"[{', '.join(networkx.lexicographical_topological_sort(net))}]"


def map_colouring(challenge: str) -> str:
    """All colorings, region by region."""
    if challenge.startswith("Each"):
        regions, palette, borders, known, asked = read(
            challenge,
            r"Each of the regions ([A-Za-z, ]+) is ([a-z, ]+)\. Regions with a common border have different colors\. There are these "
            r"borders:\n\n([-A-Za-z \n]+)\n\n([A-Za-z. \n]+)\n\nWhat are the colors of ([A-Za-z, ]+), in this order\?",
        )
        edges = re.findall(r"^(\w+) - (\w+)$", borders, re.MULTILINE)
        fixed = dict(re.findall(r"^(\w+) is (\w+)\.$", known, re.MULTILINE))
    else:
        palette, borders, known, asked = read(
            challenge,
            r"[A-Z][a-z]+ teams wear shirts in three colors: ([a-z, ]+)\. Teams that play against each other never wear the same color\. "
            r"These are the matches:\n\n([A-Za-z; ]+)\.\n\n([A-Za-z. \n]+)\n\nThat leaves only one possibility for the others\. Which "
            r"colors do ([A-Za-z, ]+) wear\? List the colors in this order\.",
        )
        edges = re.findall(r"(\w+) against (\w+)", borders)
        fixed = dict(re.findall(r"^(\w+) wears (\w+)\.$", known, re.MULTILINE))
        regions = ""
    names = re.split(", | and ", regions) if regions else sorted({name for edge in edges for name in edge})
    colors = re.split(", | and | or ", palette)
    assert (
        len(colors) == 3
        and len(fixed) == known.count("\n") + 1
        and {name for edge in edges for name in edge} == set(names)
    )
    maps: list[dict[str, str]] = [fixed]
    for name in names:
        options = [fixed[name]] if name in fixed else colors
        maps = [{**colored, name: color} for colored in maps for color in options]
        maps = [colored for colored in maps if all(colored.get(a, 1) != colored.get(b, 2) for a, b in edges)]
    (solution,) = maps
    return f"[{', '.join(solution[name] for name in re.split(', | and ', asked))}]"


def grid_rule(challenge: str) -> str:
    """All rules by cells as complex numbers, and what those that fit all pairs make of the last picture."""
    number = r"[0-3 \n]+"
    if challenge.startswith("The same rule"):
        examples, size, picture, _ = read(
            challenge,
            r"The same rule turns each input into its output\. The rule has three steps, some of which may change nothing: the grid is rotated "
            r"or mirrored; all rows move down by one or two places \(rows that leave at the bottom reappear at the top\); the colors 1, 2 "
            rf"and 3 are exchanged with one another\. Color 0 never changes\.\n\n(.+)\n\nInput (\d):\n({number})\n\nWhat is output (\d)\?",
        )
        assert int(size) == examples.count("Input") + 1
    else:
        examples, picture = read(
            challenge,
            r"A machine changes pictures, which are shown as tables of the digits 0 to 3\. First it rotates or reflects the picture, or "
            r"leaves it as it is\. Then it moves all rows down by 0, 1 or 2, and puts rows that fall off at the bottom back at the top\. "
            r"Last, it may exchange the digits 1, 2 and 3 with one another; every 0 stays\. It does the same to every picture\.\n\n(.+)\n\n"
            rf"What comes out if this picture goes in\?\n\n({number})",
        )
    pairs = re.findall(rf"Input \d:\n({number})\n\nOutput \d:\n({number})", examples)
    assert len(pairs) == examples.count("Input") > 1

    def made(text: str, turn: complex, mirrored: bool, down: int, colors: tuple[int, ...]) -> str:
        grid = bits(text)
        n = len(grid)
        middle = complex(n - 1, n - 1) / 2
        out = [[0] * n for _ in grid]
        for r, row in enumerate(grid):
            for c, cell in enumerate(row):
                place = complex(r, c) - middle
                place = (place.conjugate() if mirrored else place) * turn + middle
                out[(round(place.real) + down) % n][round(place.imag)] = (0, *colors)[cell]
        return str(out)

    results = {
        made(picture, *rule)
        for rule in product((1, 1j, -1, -1j), (False, True), range(3), permutations((1, 2, 3)))
        if all(made(before, *rule) == str(bits(after)) for before, after in pairs)
    }
    (result,) = results
    return result


def bulls_and_cows(challenge: str) -> str:
    """Every number, digit by digit."""
    if challenge.startswith("A secret"):
        size, symbols, lines = read(
            challenge,
            r"A secret code has (\d) different digits from 1 to (\d)\. For each guess, you learn how many of its digits are in the code "
            r"at the same position \(bulls\), and how many are in the code but at a different position \(cows\):\n\n(.+)\n\nWhat is the code\?",
        )
        guesses = re.findall(r"^(\d+): (\d) bulls?, (\d) cows?$", lines, re.MULTILINE)
    else:
        word, symbols, lines = read(
            challenge,
            r"The combination of a safe consists of ([a-z]+) digits\. They are between 1 and (\d), and none occurs twice\. A thief tried "
            r"some combinations, and a display told him how close they were:\n\n(.+)\n\n\"Right\" counts the digits that are where they "
            r"belong\. \"Misplaced\" counts the other digits that occur in the combination\. Only one combination fits\. Which one\?",
        )
        guesses = re.findall(r"^(\d+): (\d) right, (\d) misplaced$", lines, re.MULTILINE)
        size = str({"three": 3, "four": 4}[word])
    assert len(guesses) == lines.count("\n") + 1
    codes = [
        code
        for code in map(str, range(10 ** (int(size) - 1), 10 ** int(size)))
        if len(set(code)) == int(size) and set(code) <= set("123456"[: int(symbols)])
        if all(
            sum(x == y for x, y in zip(code, guess, strict=True)) == int(bulls)
            and sum(x in code and x != y for x, y in zip(guess, code, strict=True)) == int(cows)
            for guess, bulls, cows in guesses
        )
    ]
    (code,) = codes
    return code


def finishing_order(challenge: str) -> str:
    """All orders; the clues by their words."""
    people, clues = read(
        challenge,
        r"([A-Za-z, ]+) ran a race, and no two of them finished at the same time\. You know this:\n\n(.+)\n\nIn which order did they "
        r"finish, from the first to the last\?",
        r"[A-Z][a-z]+ people took part in a race: ([A-Za-z, ]+)\. There were no ties\. A reporter noted:\n\n(.+)\n\n"
        r"Only one order fits all of these notes\. List the names, beginning with the winner\.",
    )
    names = re.split(", | and ", people)

    def holds(clue: str, order: tuple[str, ...]) -> bool:
        a, b = ([order.index(name) for name in re.findall("|".join(names), clue)] + [0])[:2]
        return {
            "@ finished before @": a < b,
            "@ finished directly before @": b == a + 1,
            "@ and @ finished directly one after the other": abs(a - b) == 1,
            "Exactly one person finished between @ and @": abs(a - b) == 2,
            "At least one person finished between @ and @": abs(a - b) > 1,
            "@ was neither first nor last": 0 < a < len(order) - 1,
            "An even number of people finished between @ and @": (abs(a - b) - 1) % 2 == 0,
        }[re.sub("|".join(names), "@", clue)]

    listed = re.findall(r"^(?:-|\d+\.) (.+)\.$", clues, re.MULTILINE)
    assert len(listed) == clues.count("\n") + 1
    (order,) = [order for order in permutations(names) if all(holds(clue, order) for clue in listed)]
    return f"[{', '.join(order)}]"


def exact_weight(challenge: str) -> str:
    """All selections by their size."""
    listed, total = read(
        challenge,
        r"You have one weight of each of these sizes, in grams: ([\d, ]+)\. Which of them together weigh exactly (\d+) grams\? Only "
        r"one selection does\.",
        r"A shop gave a customer coupons worth ([\d, and]+) cents\. Each can be used once, and only as a whole\. The customer wants to pay "
        r"exactly (\d+) cents with coupons alone\. Only one selection of coupons is worth that\. Which coupons are in it\?",
    )
    weights = sorted(integers(listed))
    (chosen,) = [
        group for size in range(len(weights) + 1) for group in combinations(weights, size) if sum(group) == int(total)
    ]
    return f"{{{', '.join(map(str, chosen))}}}"


def queens(challenge: str) -> str:
    """All permutations of the columns."""
    if challenge.startswith("On"):
        n, columns, missing, number, picture = read(
            challenge,
            r"On this board with (\d) rows and (\d) columns, put (\d) more queens? \(Q\), so that there are (\d) queens and no two of them "
            r"are in the same row, column or diagonal\. There is only one way to do it\.\n\n([Q. \n]+)\n\nFor each row from top to bottom, "
            r"give the number of the column of its queen\. Columns are numbered from 1 on the left\.",
        )
        known = {r: line.split().index("Q") for r, line in enumerate(picture.split("\n")) if "Q" in line}
        assert n == columns == number and len(known) == int(n) - int(missing)
    else:
        n, _, places = read(
            challenge,
            r"[A-Z][a-z]+ queens stand on a chessboard of (\d) by (\d) squares and none of them attacks another one, neither along a row or "
            r"column nor diagonally\. You know where (?:one of them is|some of them are): ([a-z\d,; ]+)\. Rows are numbered from the top, "
            r"columns from the left, both beginning with 1\. Only one placement is possible\. In which columns are the queens of row 1, row 2 "
            r"and so on\?",
        )
        known = {int(r) - 1: int(c) - 1 for r, c in re.findall(r"row (\d), column (\d)", places)}
    rows = range(int(n))
    free = [c for c in rows if c not in known.values()]
    boards = []
    for order in permutations(free):
        others = iter(order)
        board = [known[r] if r in known else next(others) for r in rows]
        if len({r + board[r] for r in rows}) == len({r - board[r] for r in rows}) == int(n):
            boards.append(board)
    (board,) = boards
    return str([c + 1 for c in board])


def lights_out(challenge: str) -> str:
    """Every set of switches, as bits."""
    if challenge.startswith("Each"):
        picture, last, height = read(
            challenge,
            r"Each cell of this grid has a light and a switch\. \* is a light that is on, and \. is a light that is off\. A switch "
            r"toggles its own light and the lights directly above, below, left and right of it\.\n\n([*. \n]+)\n\nWhich "
            r"switches have to be pressed, once each, to turn all lights off\? Columns are named A to ([A-Z]) from the left, rows 1 to (\d) "
            r"from the top\. Give the cells in the form A1\.",
        )
        grid = [line.split() for line in picture.split("\n")]
        lit = {f"{chr(65 + c)}{r + 1}" for r, row in enumerate(grid) for c, light in enumerate(row) if light == "*"}
    else:
        height, _, width, last, listed = read(
            challenge,
            r"A panel has (\d) rows \(1 to (\d), from top to bottom\) and (\d) columns \(A to ([A-Z]), from left to right\) of lamps that are "
            r"also buttons\. Pressing a button toggles that lamp and its neighbors to the north, south, east and west\. At the moment, exactly "
            r"these lamps are on: ([A-Z\d, and]+)\. Only one set of buttons turns off all lamps if each of its buttons is pressed once\. Which "
            r"set\?",
        )
        lit = set(re.findall(r"[A-Z]\d", listed))
        assert ord(last) - 64 == int(width)
    names = [f"{chr(c)}{r}" for c in range(65, ord(last) + 1) for r in range(1, int(height) + 1)]
    masks = [
        sum(1 << j for j, b in enumerate(names) if abs(ord(a[0]) - ord(b[0])) + abs(int(a[1]) - int(b[1])) < 2)
        for a in names
    ]
    target = sum(1 << j for j, name in enumerate(names) if name in lit)
    states = {0: (0,)}
    for i, mask in enumerate(masks):
        for state, sets in list(states.items()):
            states[state ^ mask] = states.get(state ^ mask, ()) + tuple(chosen | 1 << i for chosen in sets)
    (chosen,) = states[target]
    return f"{{{', '.join(name for i, name in enumerate(names) if chosen >> i & 1)}}}"


def towers(challenge: str) -> str:
    """Breadth first from the goal, with the pegs as tuples of disks."""
    if challenge.startswith("The towers"):
        disks, lines, goal = read(
            challenge,
            r"The towers of Hanoi: there are three pegs with (\d) disks, numbered by size; disk 1 is the smallest\. A move takes the top disk "
            r"of a peg to another peg, but never onto a smaller disk\. Now the pegs hold these disks, from bottom to top:\n\n(.+)\n\nWhat is "
            r"the smallest number of moves needed to get all disks onto peg ([ABC])\?",
        )
        held = {line[0]: tuple(integers(line)) for line in lines.split("\n")}
    else:
        disks, sentences, goal = read(
            challenge,
            r"[A-Z][a-z]+ disks of different sizes, from 1 \(smallest\) to (\d) \(largest\), lie on the three pegs A, B and C, with larger "
            r"disks always below smaller ones\. (.+) One disk may be moved at a time, from the top of one pile to the top of another, and no "
            r"disk may ever lie on a smaller one\. "
            r"What is the smallest number of moves that gets all disks onto peg ([ABC])\?",
        )
        held = {
            peg: tuple(sorted(integers(text), reverse=True))
            for peg, text in re.findall(r"On peg ([ABC]), there (?:is|are) ([^.]+)\.", sentences)
        }
    start = tuple(held[peg] for peg in "ABC")
    assert sorted(disk for peg in start for disk in peg) == list(range(1, int(disks) + 1))
    assert all(list(peg) == sorted(peg, reverse=True) for peg in start)
    whole = tuple(range(int(disks), 0, -1))
    full = tuple(whole if peg == goal else () for peg in "ABC")

    def moves(pegs: tuple[tuple[int, ...], ...]) -> Iterator[tuple[tuple[int, ...], ...]]:
        for a, b in permutations(range(3), 2):
            if pegs[a] and (not pegs[b] or pegs[b][-1] > pegs[a][-1]):
                changed = list(pegs)
                changed[a], changed[b] = pegs[a][:-1], (*pegs[b], pegs[a][-1])
                yield tuple(changed)

    return str(fewest(full, moves, lambda pegs: pegs == start))


def minesweeper(challenge: str) -> str:
    """All sets of hidden cells of the right size."""
    words = ["zero", "one", "two", "three", "four", "five", "six"]
    if challenge.startswith("This"):
        count, picture, last, height = read(
            challenge,
            r"This is a Minesweeper position\. Each number says how many of the up to eight cells around it contain a mine\. Cells with a "
            r"number contain no mine\. \? is a hidden cell\. There are ([a-z]+) mines in all\.\n\n([\d? \n]+)\n\nColumns are named A to "
            r"([A-Z]) from the left, rows 1 to (\d) from the top\. Which cells contain the mines\? Give them in the form A1\.",
        )
        width = ord(last) - 64
    else:
        height, columns, count, picture = read(
            challenge,
            r"In a field of (\d) rows \(1 is at the top\) and (\d) columns \(A is on the left\), ([a-z]+) treasures are buried, at most one "
            r"under each square\. Every square that was searched and found empty has a sign with the number of treasures under the "
            r"squares that touch it at a side or at a corner\. Squares that have not been searched are marked \?\.\n\n([\d? \n]+)\n\nOnly one set of squares is possible for the treasures\."
            r" Which one\? Give the squares in the form A1\.",
        )
        width = int(columns)
    grid = [line.split() for line in picture.split("\n")]
    assert len(grid) == int(height) and all(len(row) == width for row in grid)
    signs = {complex(c, r): sign for r, row in enumerate(grid) for c, sign in enumerate(row)}
    around = [complex(x, y) for x in (-1, 0, 1) for y in (-1, 0, 1) if x or y]
    hidden = [cell for cell, sign in signs.items() if sign == "?"]
    (mines,) = [
        chosen
        for chosen in map(set, combinations(hidden, words.index(count)))
        if all(
            sum(cell + step in chosen for step in around) == int(sign) for cell, sign in signs.items() if sign != "?"
        )
    ]
    return f"{{{', '.join(sorted(f'{chr(65 + int(cell.real))}{int(cell.imag) + 1}' for cell in mines))}}}"


def inequality_square(challenge: str) -> str:
    """Cell by cell, as long as no fact is broken."""
    (facts,) = read(
        challenge,
        r"Fill a grid of 4 rows and 4 columns with the numbers 1 to 4, so that each number appears once in each row and once in each "
        r"column\. A1 is at the top left, B1 to the right of it, A2 below it\. These facts must hold:\n\n([A-D\d<>= \n]+)\n\nThere is "
        r"only one solution\. Give the grid, row by row from the top\.",
        r"Four machines \(A to D\) each make four products, numbered 1 to 4, one on each of four days\. No two machines make the same "
        r"product on the same day, and no machine makes a product twice\. Here, A1 is the number of the product that machine A makes on day 1, "
        r"and so on:\n\n([-A-D\d<>= \n]+)\n\n"
        r"Only one plan is possible\. Write it with one row for each day, from day 1 to day 4, and in each row the products of A, B, C and D\.",
    )
    rules = re.findall(r"^(?:- )?([A-D]\d) ([<>=]) ([A-D]?\d)$", facts, re.MULTILINE)
    assert len(rules) == facts.count("\n") + 1
    cells = [f"{column}{row}" for row in "1234" for column in "ABCD"]
    grids: list[dict[str, int]] = [{}]
    for cell in cells:
        grids = [
            {**grid, cell: n}
            for grid in grids
            for n in range(1, 5)
            if all(value != n for other, value in grid.items() if other[0] == cell[0] or other[1] == cell[1])
        ]
        for a, sign, b in rules:
            if cell in (a, b):
                grids = [
                    grid
                    for grid in grids
                    if a not in grid
                    or (b not in grid and not b.isdigit())
                    or {"<": int.__lt__, ">": int.__gt__, "=": int.__eq__}[sign](
                        grid[a], int(b) if b.isdigit() else grid[b]
                    )
                ]
    (grid,) = grids
    values = list(grid.values())
    return str([values[i : i + 4] for i in range(0, 16, 4)])


def domino_tilings(challenge: str) -> str:
    """The first free square with its right or its lower neighbor, counted once for each set of free squares."""
    if challenge.startswith("A domino"):
        (picture,) = read(
            challenge,
            r"A domino covers two squares that are next to each other, horizontally or vertically\. In how many ways can all squares marked "
            r"\. be covered with dominoes, so that no two dominoes overlap and no square marked # is covered\?\n\n([.#\n]+)",
        )
        rows = picture.split("\n")
        free = frozenset((r, c) for r, row in enumerate(rows) for c, sign in enumerate(row) if sign == ".")
    else:
        height, width, beds = read(
            challenge,
            r"A terrace has (\d) rows of (\d) squares each\. There (?:is a flower bed on one square|are flower beds on [a-z]+ squares) "
            r"\(([\w,; ]+); rows are counted from the top, columns from the left\)\. The rest is to be paved completely with slabs that "
            r"cannot be cut and that each cover two squares sharing a side\. How many different patterns are possible\? Patterns that are rotations "
            r"or mirror images of each other count separately\.",
        )
        holes = {(int(r) - 1, int(c) - 1) for r, c in re.findall(r"row (\d), column (\d)", beds)}
        free = frozenset(product(range(int(height)), range(int(width)))) - holes

    @cache
    def ways(squares: frozenset[tuple[int, int]]) -> int:
        if not squares:
            return 1
        r, c = min(squares)
        return sum(ways(squares - {(r, c), other}) for other in ((r, c + 1), (r + 1, c)) if other in squares)

    return str(ways(free))


def traffic_jam(challenge: str, answer: str) -> str:
    """The answer is played; the fewest moves by our own search over sets of squares."""
    (picture,) = read(
        challenge,
        r"This is a parking lot, seen from above\. Squares with the same letter are one vehicle, and \. is an empty square\. A vehicle can move "
        r"along its own line only: horizontally if its letters are next to each other in a row, otherwise vertically\. In one move, one "
        r"vehicle moves one square into an empty square\.\n\n([A-Z.\n]+)\n\nWith as few moves as possible, get vehicle X to the right "
        r"edge\. List the moves in order, such as: A up, X right",
        r"Wooden blocks lie on a square board\. Each block is shown by its own letter, and a dot is an empty square\. Blocks cannot be turned\. Blocks "
        r"that lie in a row slide left or right, blocks that lie in a column slide up or down, and each step slides one block by one "
        r"square\.\n\n([A-Z.\n]+)\n\nGet block X to touch the right-hand edge in as few steps as possible\. What are "
        r"the steps\? Give each as the letter of the block and the direction, for example: A up, X right",
    )
    rows = picture.split("\n")
    board = {complex(c, r) for r, row in enumerate(rows) for c in range(len(row))}
    squares: dict[str, set[complex]] = {}
    for r, row in enumerate(rows):
        for c, sign in enumerate(row):
            if sign != ".":
                squares.setdefault(sign, set()).add(complex(c, r))
    names = sorted(squares)
    ways = {"left": -1, "right": 1, "up": -1j, "down": 1j}
    lines = {name: len({cell.imag for cell in squares[name]}) == 1 for name in names}
    State = tuple[frozenset[complex], ...]

    def step(state: State, name: str, way: str) -> State | None:
        at = names.index(name)
        others = frozenset().union(*(cells for place, cells in enumerate(state) if place != at))
        cells = frozenset(cell + ways[way] for cell in state[at])
        is_along = lines[name] == (way in ("left", "right"))
        return (*state[:at], cells, *state[at + 1 :]) if is_along and cells <= board and not cells & others else None

    def is_out(state: State) -> bool:
        return any(cell.real == len(rows) - 1 for cell in state[names.index("X")])

    def moves(state: State) -> Iterator[State]:
        yield from (other for name in names for way in ways if (other := step(state, name, way)))

    start = tuple(frozenset(squares[name]) for name in names)
    played, state = answer.strip("[]").split(", "), start
    for name, way in map(str.split, played):
        following = step(state, name, way)
        assert following is not None
        state = following
    assert is_out(state) and len(played) == fewest(start, moves, is_out)
    return answer


WITH_SEVERAL_SOLUTIONS = {"word_ladder", "countdown", "maze", "sliding_tiles", "knight_swap", "traffic_jam"}


@pytest.mark.parametrize("family", FAMILIES)
def test_every_answer_is_what_its_prompt_asks_for_in_every_wording(
    family: str, bundle: tuple[Records, Records]
) -> None:
    solver: Callable[..., str] = globals()[family]
    questions, answers = ([record for record in records if record["template"] == family] for records in bundle)
    texts = {answer["id"]: answer["text"] for answer in answers}
    several = family in WITH_SEVERAL_SOLUTIONS
    derived = {
        question["id"]: solver(task(question), *([texts[question["id"]]] if several else [])) for question in questions
    }
    assert derived == texts
    wordings = {question["variant"] for question in questions}
    assert len(wordings) >= 2 and len({task(question) for question in questions}) == K * len(wordings)
