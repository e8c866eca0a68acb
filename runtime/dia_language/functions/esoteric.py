"""Programs in Brainfuck and Ook!: writing, translating and running them."""

from __future__ import annotations

import re

from dia_language.budgets import charge
from dia_language.diagnostics import LanguageError
from dia_language.functions.encoding import text_of, utf8
from dia_language.functions.registry import library_function
from dia_language.limits import TEXT_LENGTH

CELLS = 30_000
RUN_STEPS = 2_000_000
WRITTEN = 20_000
BEGIN, LEVELS = "++++++++++[>+>+++>+++++++>++++++++++<<<<-]", (0, 10, 30, 70, 100)
OOK = {
    ">": "Ook. Ook?", "<": "Ook? Ook.", "+": "Ook. Ook.", "-": "Ook! Ook!",
    ".": "Ook! Ook.", ",": "Ook. Ook!", "[": "Ook! Ook?", "]": "Ook? Ook!",
}  # fmt: skip
FROM_OOK = {tuple(ook.split()): sign for sign, ook in OOK.items()}
COMMENT, FOLDED = re.compile(r"[^-+<>.,\[\]]+"), re.compile(r"[-+]+|[<>]+|[.,\[\]]")
Code = list[tuple[str, int]]


@library_function
def to_brainfuck(text: str) -> str:
    """A Brainfuck program that prints `text` as UTF-8.

    The program first sets five cells to 0, 10, 30, 70 and 100. For each byte, it then uses the cell that it can reach
    and change with the fewest commands. At most 20,000 bytes. Source: U. Mueller, Brainfuck (1993).

    Examples:
        to_brainfuck("H") -> "++++++++++[>+>+++>+++++++>++++++++++<<<<-]>>>++."
    """
    data = utf8(text)
    if len(data) > WRITTEN:
        raise LanguageError(f"`to_brainfuck` accepts at most {WRITTEN:,} bytes", code="E502")
    charge(len(data))
    cells, at, parts = list(LEVELS), 0, [BEGIN]
    for byte in data:
        costs = [abs(level - byte) + abs(cell - at) for cell, level in enumerate(cells)]
        near = costs.index(min(costs))
        parts += [_moved("><", near - at), _moved("+-", byte - cells[near]), "."]
        cells[near], at = byte, near
    return "".join(parts)


@library_function
def run_brainfuck(code: str, entered: str = "", steps: int = RUN_STEPS) -> str:
    """The text that a Brainfuck program prints when it reads `entered` as UTF-8.

    The program has 30,000 cells with values from 0 to 255 that wrap around. Reading past the end of the input gives 0.
    Characters that are not commands are comments. `steps` is the largest number of program steps, up to 2,000,000; a
    run of equal commands is one program step. Ten program steps cost one step of the evaluation. Raises an error for
    unmatched brackets, for moving outside the cells, for too many program steps, and for output that is not UTF-8.

    Examples:
        run_brainfuck(",[.,]", "abc") -> "abc"
        run_brainfuck("++++++++[>++++++++<-]>+.") -> "A"
    """
    if not 0 < steps <= RUN_STEPS:
        raise LanguageError(f"`run_brainfuck` needs `steps` from 1 to {RUN_STEPS:,}", code="E502")
    return text_of(bytes(_run(_parsed(code), utf8(entered), steps)))


@library_function
def to_ook(code: str) -> str:
    """The Ook! program equivalent to a Brainfuck program: two words for each command, separated by spaces.

    Characters that are not commands are left out. Source: D. Morgan-Mar, Ook! (2001).

    Examples:
        to_ook("+.") -> "Ook. Ook. Ook! Ook."
    """
    if len(code) * 10 > TEXT_LENGTH:
        raise LanguageError(f"`to_ook` accepts at most {TEXT_LENGTH // 10:,} characters", code="E502")
    charge(len(code))
    return " ".join(filter(None, map(OOK.get, code)))


@library_function
def from_ook(text: str) -> str:
    """The Brainfuck program equivalent to an Ook! program.

    Words are separated by spaces or line breaks. Raises an error for words other than Ook., Ook? and Ook!, and for word
    pairs without a meaning.

    Examples:
        from_ook("Ook. Ook. Ook! Ook.") -> "+."
    """
    charge(len(text))
    words = text.split()
    signs = [FROM_OOK.get(pair, "") for pair in zip(words[::2], words[1::2], strict=False)]
    if len(words) % 2 or "" in signs:
        raise LanguageError(
            "the text is not Ook!", "it consists of pairs of the words Ook. Ook? Ook!, except the pair Ook? Ook?"
        )
    return "".join(signs)


def _moved(signs: str, by: int) -> str:
    return signs[by < 0] * abs(by)


def _parsed(code: str) -> Code:
    """The program with runs of moves and changes combined, and each bracket with the position of its partner."""
    charge(len(code))
    folded: Code = []
    open_places: list[int] = []
    for run in FOLDED.findall(COMMENT.sub("", code)):
        sign = run[0]
        if sign in "+-":
            folded.append(("+", 2 * run.count("+") - len(run)))
        elif sign in "<>":
            folded.append((">", 2 * run.count(">") - len(run)))
        elif sign == "[":
            open_places.append(len(folded))
            folded.append((sign, 0))
        elif sign == "]":
            if not open_places:
                raise LanguageError("the program has a `]` without a matching `[`")
            begin = open_places.pop()
            folded[begin] = ("[", len(folded))
            folded.append((sign, begin))
        else:
            folded.append((sign, 0))
    if open_places:
        raise LanguageError("the program has a `[` without a matching `]`")
    return folded


def _run(code: Code, entered: bytes, steps: int) -> bytearray:
    cells, at, place, read, printed = bytearray(CELLS), 0, 0, 0, bytearray()
    for step in range(steps):
        if place >= len(code):
            return printed
        if step % 10 == 0:
            charge(1)
        sign, by = code[place]
        if sign == "+":
            cells[at] = (cells[at] + by) % 256
        elif sign == ">":
            at += by
            if not 0 <= at < CELLS:
                raise LanguageError(f"the program moves outside of its {CELLS:,} cells")
        elif (sign == "[" and not cells[at]) or (sign == "]" and cells[at]):
            place = by
        elif sign == ".":
            printed.append(cells[at])
        elif sign == ",":
            cells[at] = entered[read] if read < len(entered) else 0
            read += 1
        place += 1
    if place >= len(code):
        return printed
    raise LanguageError(f"the program takes more than {steps} steps", code="E502")
