"""The truths of the families that show programs, derived a second time by running these programs.

Python's own interpreter, a C compiler and PARI/GP run what stands in the prompts. Loops that would never end are run for
small bounds, and PARI/GP carries on the polynomial through what they give.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy
import pytest
from helpers.compilers import compiles
from helpers.prompts import found

Challenges = dict[str, dict[str, str]]
Answers = dict[str, dict[str, Any]]
Numbers = list[int]

TOKEN = r"[A-Za-z0-9]+"
PRINTS = r"What does this (?:[A-Za-z0-9 ]+ program|line of Python) print(?: on [a-z0-9 -]+)?\?(?: [^\n]+)?"
# Runs every source in a namespace of its own and gives what each prints.
RUN_ALL = """
import contextlib, io, json, sys
def printed(source):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(source, "shown", "exec"), {"__name__": "__main__"})
    return out.getvalue().removesuffix("\\n")
print(json.dumps([printed(source) for source in json.load(sys.stdin)]))
"""
# Calls every function with two texts.
CALL_ALL = """
import json, sys
def called(source, name, arguments):
    names = {}
    exec(compile(source, "shown", "exec"), names)
    return names[name](*arguments)
print(json.dumps([called(*given) for given in json.load(sys.stdin)]))
"""
# Peels programs: `exec` only keeps what it is given, until there is a program that does not call it.
PEEL_ALL = """
import json, sys
def peeled(source):
    while "exec(" in source:
        kept = []
        exec(compile(source, "shown", "exec"), {"exec": kept.append})
        source = kept[0].decode()
    compile(source, "shown", "exec")
    return source
print(json.dumps([peeled(source) for source in json.load(sys.stdin)]))
"""


def python(program: str, given: list[Any]) -> list[Any]:
    """What a Python of its own answers for all that is given, in one process."""
    done = subprocess.run(
        [sys.executable, "-I", "-c", program], input=json.dumps(given), capture_output=True, text=True, check=True
    )
    answers: list[Any] = json.loads(done.stdout)
    assert len(answers) == len(given)
    return answers


def tool(name: str) -> str:
    """Where a program lies; the test is skipped where it is missing."""
    path = shutil.which(name)
    if path is None:
        pytest.skip(f"`{name}` is not installed")
    return path


# Python


def shown_python(challenge: str) -> str:
    return found(rf"{PRINTS}\n\n```python\n(.+)\n```", challenge)[0]


def shown_after(question: str) -> Callable[[str], str]:
    """A reader of tasks that consist of this question and a program."""
    return lambda challenge: found(rf"{question}\n\n```python\n(.+)\n```", challenge)[0]


PYTHON: list[tuple[str, Callable[[str], str]]] = [
    ("power_sum", shown_python),
    ("filtered_sum", shown_python),
    ("read_python", shown_after(r"What does this Python program print\?")),
    (
        "read_obfuscated_python",
        shown_after(
            r"What does this obfuscated Python program print\? All names that it defines consist of the letters l \(lowercase "
            r"L\) and I \(uppercase i\)\."
        ),
    ),
    ("python_of_few_signs", shown_after(r"What does this Python 3 program print\?")),
]


@pytest.mark.parametrize(("template", "shown"), PYTHON, ids=[name for name, _ in PYTHON])
def test_python_prints_the_answers(
    template: str, shown: Callable[[str], str], challenges: Challenges, answers: Answers
) -> None:
    asked = challenges[template]
    printed = python(RUN_ALL, [shown(challenge) for challenge in asked.values()])
    assert dict(zip(asked, printed, strict=True)) == {id: answers[id]["text"] for id in asked}


# Lines of the function whose arguments are sought, with a for its first list and b for its second one, and how each is
# undone. Groups are numbers.
UNDONE: list[tuple[str, Callable[..., tuple[Numbers, Numbers]]]] = [
    (r"a, b = b, a", lambda a, b: (b, a)),
    (r"a = a\[::-1\]", lambda a, b: (a[::-1], b)),
    (r"b = b\[(\d):\] \+ b\[:\1\]", lambda a, b, n: (a, b[-n:] + b[:-n])),
    (r"a = \[x \+ (\d+) & 255 for x in a\]", lambda a, b, n: ([(x - n) & 255 for x in a], b)),
    (r"b = \[x \* (\d+) & 255 for x in b\]", lambda a, b, n: (a, [x * pow(n, -1, 256) & 255 for x in b])),
    (
        r"b = \[x \^ y for x, y in zip\(a, b\)\]",
        lambda a, b: (a, [x ^ y for x, y in zip(a, b, strict=True)]),
    ),
    (
        r"a = \[x \+ y & 255 for x, y in zip\(a, b\)\]",
        lambda a, b: ([(x - y) & 255 for x, y in zip(a, b, strict=True)], b),
    ),
    (r"a = \[x \^ i \* (\d+) for i, x in enumerate\(a\)\]", lambda a, b, n: ([x ^ i * n for i, x in enumerate(a)], b)),
    (
        r"a, b = a\[::2\] \+ b\[::2\], a\[1::2\] \+ b\[1::2\]",
        lambda a, b: (
            [pair[i % 2] for i, pair in enumerate((a[i // 2], b[i // 2]) for i in range(10))],
            [pair[i % 2] for i, pair in enumerate((a[5 + i // 2], b[5 + i // 2]) for i in range(10))],
        ),
    ),
]


def in_short(line: str, names: list[str]) -> str:
    """The line with a and b for the two arguments, i, x and y for the variables of loops."""
    short = dict(zip(names, ("a", "b"), strict=True))
    loops = re.findall(r"[lI]{10}", "".join(re.findall(r"for ([lI, ]+) in ", line)))
    short |= dict(zip(loops, "ix" if "enumerate" in line else "xy", strict=False))
    return re.sub(r"[lI]{10}", lambda match: short[match[0]], line)


def undone(line: str, a: Numbers, b: Numbers) -> tuple[Numbers, Numbers]:
    ((match, undo),) = [(match, undo) for pattern, undo in UNDONE if (match := re.fullmatch(pattern, line))]
    return undo(a, b, *map(int, match.groups()))


def invert_python(challenge: str) -> tuple[str, str, list[str]]:
    """The source, the name of its function, and the arguments that give the result."""
    result, source = found(
        r"This Python function was called with two strings, each of ten characters from A to Z, a to z and 0 "
        r"to 9\. It returned ([0-9a-f]{40})\.\n\n```python\n(.+)\n```\n\nWhat were the two strings\? Give "
        r"them in the order of the arguments\.",
        challenge,
    )
    head, *lines = source.split("\n")
    name, *names = found(r"def ([lI]+)\(([lI]+), ([lI]+)\):", head)
    encoded = [f"    {which} = list({which}.encode())" for which in names]
    assert lines[:2] == encoded and lines[-1] == f"    return bytes({' + '.join(names)}).hex()"
    a, b = list(bytes.fromhex(result[:20])), list(bytes.fromhex(result[20:]))
    for line in reversed(lines[2:-1]):
        a, b = undone(in_short(line.strip(), names), a, b)
    return source, name, [bytes(a).decode("ascii"), bytes(b).decode("ascii")]


def test_python_functions_give_the_results_for_the_answers(challenges: Challenges, answers: Answers) -> None:
    asked = challenges["invert_python"]
    given = [invert_python(challenge) for challenge in asked.values()]
    for (id, challenge), (_, _, told), result in zip(asked.items(), given, python(CALL_ALL, given), strict=True):
        assert f" It returned {result}.\n" in challenge
        assert all(re.fullmatch(r"[A-Za-z0-9]{10}", text) for text in told)
        assert f"[{', '.join(told)}]" == answers[id]["text"]


def pins_with(serial: str, inner: str) -> list[str]:
    """All PINs of six digits that the program turns into the serial number: it is run for a million at once."""
    lines = inner.split("\n")
    order = [int(place) for place in re.findall(r"\d", re.findall(r"in \(([\d, ]+)\)", lines[1])[0])]
    (variable,) = re.findall(r"^    ([lI]+) = int", lines[1])
    digits = numpy.arange(10**6, dtype=numpy.uint64) // 10 ** numpy.arange(5, -1, -1, dtype=numpy.uint64)[:, None] % 10
    number = sum(digits[place] * 10 ** (5 - at) for at, place in enumerate(order))
    body = [line.strip() for line in lines[2:] if line.startswith(f"    {variable} = ")]
    assert 7 <= len(body) <= 10
    names: dict[str, Any] = {variable: number}
    exec("\n".join(body), names)
    (alphabet,) = re.findall(r' = "([A-Z2-9]{32})"', inner)
    wanted = sum(alphabet.index(sign) << 5 * at for at, sign in enumerate(serial))
    return [f"{pin:06d}" for pin in numpy.flatnonzero(names[variable] == wanted)]


@pytest.mark.long
def test_of_all_pins_the_answer_alone_has_the_serial_number(challenges: Challenges, answers: Answers) -> None:
    asked = challenges["obfuscated_serial"]
    pattern = (
        r"This Python program reads a six-digit PIN from standard input and prints the serial number for this "
        r"PIN\. For one PIN, it printed ([A-Z2-9]{8})\.\n\n```python\n(.+)\n```\n\nWhat was the PIN\? Give "
        r"all six digits, including leading zeros\."
    )
    shown = [found(pattern, challenge) for challenge in asked.values()]
    peeled = python(PEEL_ALL, [source for _, source in shown])
    few = list(zip(asked, shown, peeled, strict=True))[:20]
    assert {id: pins_with(serial, inner) for id, (serial, _), inner in few} == {
        id: [answers[id]["text"]] for id, *_ in few
    }


def test_the_serial_number_of_each_answer_is_the_one_told(challenges: Challenges, answers: Answers) -> None:
    asked = challenges["obfuscated_serial"]
    for id, challenge in list(asked.items())[:5]:
        (source,) = re.findall(r"```python\n(.+)\n```", challenge)
        done = subprocess.run(
            [sys.executable, "-I", "-c", source], input=answers[id]["text"], capture_output=True, text=True, check=True
        )
        assert f" it printed {done.stdout.strip()}." in challenge


# C


def compiler() -> list[str]:
    """The command of a C compiler; the test is skipped where there is none."""
    for name in ("gcc", "cc", "clang", "tcc"):
        if shutil.which(name):
            return [name]
    if find_spec("ziglang"):
        return [sys.executable, "-m", "ziglang", "cc"]
    pytest.skip("there is no C compiler")


def run_c(programs: list[tuple[str, list[str]]], names: list[str], folder: Path) -> list[str]:
    """What the programs print, each with its arguments: one compilation, in which every program has names of its own."""
    parts, calls = [], []
    for at, (source, arguments) in enumerate(programs):
        (folder / f"{at}.c").write_text(source + "\n")
        renamings = [f"#define {name} {name}_{at}" for name in names] + [f'#include "{at}.c"']
        parts += renamings + [f"#undef {name}" for name in names]
        listed = ", ".join(f'"{argument}"' for argument in ["program", *arguments])
        given = f"{len(arguments) + 1}, (char *[]) {{ {listed}, NULL }}" if "argc" in source else ""
        calls.append(f"    main_{at}({given});")
    parts += ["int main(void)", "{", *calls, "    return 0;", "}", ""]
    (folder / "all.c").write_text("\n".join(parts))
    strict = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-o", "all", "all.c"]
    subprocess.run([*compiler(), *strict], cwd=folder, check=True, capture_output=True)
    done = subprocess.run([str(folder / "all")], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


@pytest.mark.long
def test_c_programs_print_the_sums(challenges: Challenges, answers: Answers, tmp_path: Path) -> None:
    asked = challenges["c_sum"]
    programs: list[tuple[str, list[str]]] = [
        (found(rf"{PRINTS}\n\n```c\n(.+)\n```", challenge)[0], []) for challenge in asked.values()
    ]
    printed = run_c(programs, ["main", "add"], tmp_path)
    assert dict(zip(asked, printed, strict=True)) == {id: answers[id]["text"] for id in asked}


@pytest.mark.long
def test_c_programs_print_the_keys(challenges: Challenges, answers: Answers, tmp_path: Path) -> None:
    asked = challenges["c_generator"]
    pattern = (
        r"A key was generated with the C program below\. The program was compiled to `keygen`, and the leaked shell history "
        r"shows how it was run:\n\n\./keygen (\d{10})\n\nWhich key did the program print\?\n\n```c\n(.+)\n```"
    )
    told = [found(pattern, challenge) for challenge in asked.values()]
    names = ["main", "state", "next_number"]
    printed = run_c([(source, [seed]) for seed, source in told], names, tmp_path)
    assert dict(zip(asked, printed, strict=True)) == {id: answers[id]["text"] for id in asked}


@compiles
@pytest.mark.parametrize("template", ["c_sum", "c_generator"])
def test_each_c_program_is_whole(template: str, challenges: Challenges, tmp_path: Path) -> None:
    challenge = next(iter(challenges[template].values()))
    (source,) = re.findall(r"```c\n(.+)\n```", challenge, re.DOTALL)
    (tmp_path / "alone.c").write_text(source + "\n")
    command = [*compiler(), "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-o", "alone", "alone.c"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)


# PARI/GP


def shown_pari(challenge: str) -> str:
    return found(
        r"What does this program print when PARI/GP runs it(?: to completion)?\? Integers in PARI/GP have arbitrary "
        r"precision\.\n\n```\n(.+)\n```",
        challenge,
    )[0]


def gp(lines: list[str]) -> Numbers:
    """The integers that PARI/GP prints, a line each."""
    script = "\n".join(lines) + "\n"
    done = subprocess.run([tool("gp"), "-q", "-f"], input=script, capture_output=True, text=True, check=True)
    assert "***" not in done.stdout + done.stderr, done.stdout[-500:]
    return [int(line) for line in done.stdout.splitlines()]


def carried_on(source: str, bound: int, step: int, degree: int, first: int) -> list[str]:
    """Lines that run the loop for some small bounds, a step apart, and print what their polynomial gives at the bound.

    One bound more is run than the polynomial needs; it prints the difference there as well, which has to be 0.
    """
    assert source.count(str(bound)) == 1
    small = [first + (bound - first) % step + times * step for times in range(1, degree + 3)]
    lines = []
    for at, n in enumerate(small):
        lines += source.replace(str(bound), str(n)).replace("print(s", f"y{at} = (s").split("\n")
    nodes = ", ".join(map(str, small[:-1]))
    values = ", ".join(f"y{at}" for at in range(degree + 1))
    lines += [f"p = polinterpolate([{nodes}], [{values}]);", f"print(subst(p, x, {small[-1]}) - y{degree + 1});"]
    return [re.sub(r"^(y\d+ = .+\))$", r"\1;", line) for line in [*lines, f"print(subst(p, x, {bound}));"]]


def test_polynomials_through_small_loops_give_the_answers(challenges: Challenges, answers: Answers) -> None:
    """Within a class of remainders all sums of the family are polynomials of degree 2 at most."""
    asked, lines = challenges["pari_loop"], []
    for challenge in asked.values():
        source = shown_pari(challenge)
        bound, step = (next(int(n) for n in re.findall(rf"\b\d{{{size}}}\b", source)) for size in ("13,16", "2,4"))
        lines += carried_on(source, bound, step, 2, 0)
    printed = gp(lines)
    assert set(printed[::2]) == {0}
    assert dict(zip(asked, map(str, printed[1::2]), strict=True)) == {id: answers[id]["text"] for id in asked}


def test_cubics_through_small_sums_of_squares_give_the_answers(challenges: Challenges, answers: Answers) -> None:
    asked, lines = challenges["pari_sum_of_squares"], []
    for challenge in asked.values():
        source = shown_pari(challenge)
        (bound,) = map(int, re.findall(r"\b\d{12,16}\b", source))
        (first,) = map(int, re.findall(r"k = (\d+)[,;]", source))
        lines += carried_on(source, bound, 1, 3, first)
    printed = gp(lines)
    assert set(printed[::2]) == {0}
    assert dict(zip(asked, map(str, printed[1::2]), strict=True)) == {id: answers[id]["text"] for id in asked}
