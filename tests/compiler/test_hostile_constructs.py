"""Hostile data files, choices, wordings, items, types and formats: soon ended, told in one place, nothing written."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from helpers.hostile import (
    BENCHMARK,
    COMPILE,
    Content,
    Dia,
    faults,
    filled,
    laid_out,
    link,
    measured,
    one_fault,
    refuse,
    template,
)

pytestmark = pytest.mark.long  # each takes what a limit allows

Expected = tuple[str, int, int, str]


def row(source: str, more: str = "") -> str:
    """A template that draws a row of the file; `from` stands on line 3 in column 31."""
    return template("1", "What? {{ n.a }}", f"{{type: row, from: {source}{more}}}")


def lines(count: int, text: bytes, head: bytes = b"a,b\n") -> bytes:
    return head + text * count


def parquet_bomb(path: Path) -> None:
    """A small file whose rows are one text of 10 MB, again and again."""
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    places = pyarrow.array([0] * 100_000, pyarrow.int32())
    column = pyarrow.DictionaryArray.from_arrays(places, pyarrow.array(["x" * 10_000_000]))
    parquet.write_table(pyarrow.table({"a": column, "b": range(100_000)}), path, compression="zstd")


def too_large(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(201_000_000)


# The file's name, its content, and where what is told: on line 3 of the spec, or in the file itself
DATA: dict[str, tuple[str, Content, str, int, str]] = {
    "pipe": ("d.csv", os.mkfifo, "E101", 0, "`specs/d.csv` is not a file"),
    "folder": ("d.csv", Path.mkdir, "E101", 0, "is not a file"),
    "nothing": ("d.jsonl", link("e.jsonl"), "E101", 0, "no file `specs/d.jsonl`"),
    "link that leaves": ("d.csv", link("/etc/passwd"), "E101", 0, "leads outside the spec folder"),
    "link to a device": ("d.csv", link("/dev/zero"), "E101", 0, "leads outside the spec folder"),
    "201 MB": ("d.csv", too_large, "E103", 0, "larger than 100 MB"),
    "zero byte": ("d.csv", b"a,b\n1,2\n1\x00,3\n", "E111", 3, "the file contains a zero byte"),
    "a million columns": ("d.csv", filled(b"a,", 1_000_000, tail=b"b\n"), "E111", 1, "more than 10,000 columns"),
    "columns without end": ("d.csv", filled(b"a,", 3_000_000, tail=b"b\n"), "E111", 1, "a line has more than 4,000,000 bytes"),
    "long cell": ("d.csv", filled(b"x", 1_500_000, b"a,b\n1,", b"\n"), "E111", 2, "a cell has more than 1,000,000"),
    "quote without end": ("d.csv", b'a,b\n1,"' + b"x\n" * 100_000, "E111", 2, "a quote is not closed"),
    "deep JSON": ("d.jsonl", filled(b"[", 3_000_000), "E111", 1, "nested more than 32 levels deep"),
    "deep objects": ("d.jsonl", filled(b'{"a":', 3_000_000), "E111", 1, "a line has more than 4,000,000 bytes"),
    "long number": ("d.jsonl", filled(b"9", 1_000_000, b'{"a":', b"}\n"), "E111", 1, "more than 4,000 digits"),
    "large exponent": ("d.jsonl", b'{"a": 1e999999999}\n', "E111", 1, "digits"),
    "no number": ("d.jsonl", b'{"a": NaN}\n', "E111", 1, "`NaN` is not a number"),
    "half a character": ("d.jsonl", b'{"a": "\\ud800"}\n', "E111", 1, "surrogate"),
    "key twice": ("d.jsonl", b'{"a": 1, "a": 2}\n', "E111", 1, "duplicate key"),
    "no Parquet": ("d.parquet", b"PAR1" + b"\xff" * 64 + b"PAR1", "E111", 0, "not Parquet"),
    "Parquet that swells": ("d.parquet", parquet_bomb, "E103", 0, "cannot be read: "),
}  # fmt: skip


@pytest.mark.parametrize("name", DATA)
def test_hostile_data_files(name: str, tmp_path: Path, dia: Dia) -> None:
    file, content, code, line, word = DATA[name]
    fault = one_fault(laid_out(tmp_path, {"benchmark.yaml": BENCHMARK, "t.yaml": row(file), file: content}), dia)
    place = (f"specs/{file}", line) if line else ("specs/t.yaml", 3)
    assert (fault.code, fault.file, fault.line) == (code, *place) and word in fault.message, fault


def test_data_files_of_one_benchmark_are_bounded_together(tmp_path: Path, dia: Dia) -> None:
    names = "{type: record, fields: {x: {type: row, from: d.jsonl}, y: {type: row, from: e.jsonl}}}"
    files: dict[str, Content] = {
        "t.yaml": template("1", "?", names),
        "d.jsonl": b'{"a": 1}\n{"a": 2}\n',
        "e.jsonl": too_large,
    }
    fault = one_fault(laid_out(tmp_path, {"benchmark.yaml": BENCHMARK, **files}), dia)
    assert (fault.code, fault.line) == ("E103", 3) and "larger than 100 MB together" in fault.message, fault


@pytest.mark.slow
def test_rows_without_end_make_no_items(tmp_path: Path) -> None:
    files: dict[str, Content] = {
        "t.yaml": row("d.csv") + "each: n\n",
        "d.csv": b"a\n" + b"".join(b"%d\n" % n for n in range(1_000_000)),
    }
    laid_out(tmp_path, {"benchmark.yaml": BENCHMARK, **files})
    ended = measured(tmp_path, *COMPILE)
    (fault,) = faults(ended.stderr)
    assert (fault.code, fault.line) == ("E111", 500_002) and "more than 500,000 rows" in fault.message
    assert ended.code == 2 and ended.processor <= 10 and ended.mebibytes <= 512, ended


@pytest.mark.slow
def test_all_specs_together_are_bounded(tmp_path: Path) -> None:
    crowd = "".join(f"l{place}: [{'a,' * 900}a]\n" for place in range(20))
    more = "lists:\n" + "".join(f"  {line}\n" for line in crowd.splitlines())
    files = {f"t{place}.yaml": template(more=more).replace(": t\n", f": t{place}\n", 1) for place in range(30)}
    laid_out(tmp_path, {"benchmark.yaml": BENCHMARK, **files})
    ended = measured(tmp_path, *COMPILE)
    (fault,) = faults(ended.stderr)
    assert fault.code == "E103" and "200,000 nodes" in fault.message and ended.code == 2
    assert ended.processor <= 10 and ended.mebibytes <= 512, ended
    assert [path.name for path in tmp_path.iterdir()] == ["specs"]


def choices(distractors: str, correct: str = "n") -> str:
    """A multiple choice whose distractors stand on line 7 from column 5 on."""
    return (
        f"template: t\ntitle: T\nparams: {{n: {{type: integer, min: 1, max: 9}}}}\nchoices:\n  correct: {correct}\n"
        f"  distractors: |\n    {distractors}\nformat: {{kind: letter}}\nprompt: |\n  {{{{ n }}}}? {{{{ options }}}}\n"
    )


def chain(count: int, first: str, each: str) -> str:
    return f"  {first}\n" + "".join(f"  {each.format(place, place - 1)}\n" for place in range(1, count))


TEMPLATES: dict[str, tuple[str, Expected]] = {
    "a million distractors": (choices("range(10, 1000010)"), ("E203", 7, 5, "a list of 1 to 25 values")),
    "distractors one by one": (choices("[n + i for i in range(1000000)]"), ("E502", 7, 21, "2,000,000 steps")),
    "long distractors": (choices("['a' * 900000 + str(i) for i in range(20)]"), ("E502", 10, 3, "longer than 1,000,000")),
    "distractors that are the answer": (choices("[n]"), ("E510", 5, 3, "two options are both")),
    "10,000 variants": (
        template(more="variants:\n" + "".join(f"  v{place}: {{append: x}}\n" for place in range(10_000))), ("E107", 5004, 19, "nodes")
    ),
    "2,000 variants": (
        template(more="variants:\n" + "".join(f"  v{place}: {{append: x}}\n" for place in range(2_000))), ("E107", 10, 1, "more than 1,000")
    ),
    "all of a large space": (
        template(n="{type: integer, min: 1, max: 1000000000}", more="instances: all\n"), ("E505", 1, 11, "more than 100,000 instances")
    ),
    "all of what cannot be counted": (template(n="{type: integer, bits: 512}", more="instances: all\n"), ("E505", 1, 11, "counted")),
    "each of a large space": (template(n="{type: integer, min: 1, max: 1000000000}", more="each: n\n"), ("E405", 10, 7, "cannot be listed")),
    "each of all orders": (template("1", n="{type: permutation, of: = range(20)}", more="each: n\n"), ("E405", 10, 7, "cannot be listed")),
    "slot of itself": (template(prompt="{{ a }}", more="slots: {a: '{{ a }}{{ a }}'}\n"), ("E303", 10, 16, "unknown name `a`")),
    "macros in a circle": (
        template(prompt="{{ a() }}", more="macros: {a(): '{{ b() }}', b(): '{{ a() }}'}\n"), ("E307", 10, 10, "in a cycle: a -> b -> a")
    ),
    "functions in a circle": (template("f(n)", more="functions: {f(x): f(x + 1)}\n"), ("E307", 10, 13, "`f` calls itself")),
    "faces in a circle": (
        template("f(n)", "x", "{type: entry, of: c}", "catalogs: {c: {faces: {f: expression}, entries: {a: {f: f(n)}}}}\n"),
        ("E307", 10, 24, "`f` calls itself"),
    ),
    "deep lists": (
        template("str(l299)", answer="text", more="let:\n" + chain(300, "l0: '[n]'", "l{}: '[l{}]'")), ("E502", 6, 5, "nested too deeply")
    ),
    "deep answer": (template("n", answer="list\n  of: " + "{type: list, of: " * 40 + "integer" + "}" * 40), ("E404", 7, 9, "nested deeper")),
    "many labels": (template(more=f"format: {{kind: label, of: [{'a,' * 15_000}b]}}\n"), ("E404", 10, 9, "labels, as in `of:")),
    "pattern that looks back": (
        template(more="format: {kind: regex, pattern: '(a)\\1', reply: '{answer}'}\n"), ("E404", 10, 32, "not RE2")
    ),
    "pattern that looks around": (
        template(more="format: {kind: regex, pattern: '(a)(?=b)', reply: '{answer}'}\n"), ("E404", 10, 32, "not RE2")
    ),
    "pattern that repeats": (
        template(more="format: {kind: regex, pattern: '((a{100}){100}){100}', reply: '{answer}'}\n"), ("E404", 10, 32, "repetition")
    ),
    "long pattern": (
        template(more=f"format: {{kind: regex, pattern: '({'a?' * 30_000})', reply: '{{answer}}'}}\n"), ("E404", 10, 32, "1,000 characters")
    ),
    "type without a type": (template("1", n="{typ: integer, min: 1}"), ("E202", 3, 14, "`type` is missing")),
    "named type without a type": (
        template("1", n="{type: list, of: {type: pair}, length: 2}", more="types: {pair: {typ: boolean}}\n"),
        ("E202", 10, 16, "`type` is missing"),
    ),
    "function of a plug-in that is not there": (template("os_system(n)"), ("E304", 6, 5, "`os_system`")),
    "function by its module": (template("dia_runtime.guards.add(n)"), ("E302", 6, 5, "method calls")),
    "infinity": (template("oo"), ("E303", 6, 5, "unknown name `oo`")),
    "tool by its path": (template(more="requires: {tool: /root/.ssh/id_rsa}\n"), ("E204", 10, 18, "is a path")),
    "requirement that leaves": (template(more="requires: {file: ../../etc/passwd}\n"), ("E101", 10, 18, "leads outside the spec folder")),
}  # fmt: skip


@pytest.mark.parametrize("name", TEMPLATES)
def test_hostile_constructs(name: str, tmp_path: Path, dia: Dia) -> None:
    text, expected = TEMPLATES[name]
    refuse(tmp_path, dia, text, expected)


def test_a_division_by_zero_names_the_parameters(tmp_path: Path, dia: Dia) -> None:
    refuse(tmp_path, dia, template("n / (n - n)"), ("E504", 6, 5, "(where n = "))


# The type, the column of the option that is told, the code, and a word of the message
TYPES: dict[str, tuple[str, int, str, str]] = {
    "subset of a million": ("{type: subset, of: = range(10**6), size: 500000}", 54, "E403", "between 0 and 100000"),
    "large subset": ("{type: subset, of: = range(10), size: 1000000000}", 51, "E403", "between 0 and 100000"),
    "deep formula": ("{type: formula, variables: [p, q], depth: 1000000000}", 55, "E403", "between 1 and 8"),
    "large graph": ("{type: graph, nodes: 1000000000, edges: 3}", 34, "E403", "between 1 and 500"),
    "graph of many edges": ("{type: graph, nodes: 9, edges: 1000000000}", 44, "E403", ""),
    "large key": ("{type: rsa_key, bits: 1000000000}", 35, "E403", "between 512 and 4096"),
    "large exponent": ("{type: rsa_key, bits: 512, e: = 2**9999 + 1}", 43, "E403", "below 2**64"),
    "many words": ("{type: words, count: 1000000000}", 34, "E403", "between 1 and 1000"),
    "long sentence": ("{type: sentence, words: 1000000000}", 37, "E403", "between 3 and 40"),
    "long paragraph": ("{type: paragraph, sentences: 1000000000}", 42, "E403", "between 1 and 100"),
    "high degree": ("{type: polynomial, degree: 1000000000, coefficients: {type: boolean}}", 40, "E403", "between 0 and 200"),
    "matrices as coefficients": (
        "{type: polynomial, degree: 3, coefficients: {type: matrix, rows: 2, columns: 2, of: {type: boolean}}}", 57, "E403", "numbers"
    ),
    "long list": ("{type: list, length: 1000000000, of: {type: boolean}}", 34, "E403", "between 0 and 100000"),
    "many decimals": ("{type: real, min: 0, max: 1, decimals: 1000000000}", 52, "E403", "between 0 and 1000"),
    "many bits": ("{type: integer, bits: 1000000000}", 35, "E403", "between 1 and 65536"),
    "large field": ("{type: curve_point, curve: '= curve(2, 3, 2**4253-1)'}", 43, "E502", "1,024 bits"),
    "modulus that cannot be factored": ("{type: primitive_root, of: '= next_prime(2**2000)'}", 40, "E403", "factored"),
    "long path": ("{type: url, path: 1000000000}", 31, "E403", "between 0 and 20"),
    "heavy weights": (f"{{type: choice, of: [a, b], weights: [{'9' * 3_900}, 1]}}", 49, "E403", "more than 2**128"),
    "no type": ("{type: list, length: 2, of: {typ: boolean}}", 41, "E203", "a type such as"),
    "type of another package": ("{type: list, length: 2, of: {type: os.system}}", 48, "E401", "unknown type `os.system`"),
}  # fmt: skip


@pytest.mark.parametrize("name", TYPES)
def test_hostile_types(name: str, tmp_path: Path, dia: Dia) -> None:
    text, column, code, word = TYPES[name]
    refuse(tmp_path, dia, template("1", n=text), (code, 3, column, word))


HEAVY: dict[str, tuple[str, Expected]] = {
    "a prime that is hard to find": (template("1", n="{type: prime, bits: 4096, safe: true}"), ("E502", 1, 11, "drawing the parameters ran longer than 6 s")),
    "macros that double": (
        template(prompt="{{ m39() }}", more="limits: {seconds: 1}\nmacros:\n" + chain(40, "m0(): x", "m{0}(): '{{{{ m{1}() }}}}{{{{ m{1}() }}}}'")),
        ("E502", 9, 3, "ran longer than 1 s"),
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", HEAVY)
def test_what_never_ends_is_ended(name: str, tmp_path: Path) -> None:
    text, expected = HEAVY[name]
    laid_out(tmp_path, {"benchmark.yaml": BENCHMARK, "t.yaml": text})
    ended = measured(tmp_path, *COMPILE)
    (fault,) = faults(ended.stderr)
    assert (fault.code, fault.line, fault.column) == expected[:3] and expected[3] in fault.message, ended
    assert ended.code == 2 and ended.processor <= 12 and ended.seconds <= 60 and ended.mebibytes <= 512, ended
    assert [path.name for path in tmp_path.iterdir()] == ["specs"]


# What dia.toml says, and a word of the message
SETTINGS: dict[str, tuple[Content, str]] = {
    "no TOML": (b"a = = 1", "dia.toml cannot be read"),
    "deep": (b"a = " + b"[" * 50_000, "dia.toml cannot be read"),
    "long key": (b"a" + b".a" * 90_000 + b" = 1", "a key with more than 300 parts"),
    "large": (b"#" * 300_000, "larger than 200,000 bytes"),
    "no option": (b"[compile]\nkk = 3\n", "did you mean `k`?"),
    "no plain value": (b"[compile]\nk = 2024-01-01\n", "`k` must be text"),
    "not UTF-8": (b"\xff\xfe", "dia.toml cannot be read"),
    "no number": (b"[compile]\nk = 'many'\n", "not a valid integer"),
    "below 1": (b"[compile]\nk = -5\n", "--k must be at least 1"),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_hostile_settings(name: str, tmp_path: Path, dia: Dia) -> None:
    content, word = SETTINGS[name]
    laid_out(tmp_path, {"benchmark.yaml": BENCHMARK, "t.yaml": template()})
    assert isinstance(content, bytes)
    (tmp_path / "dia.toml").write_bytes(content)
    printed = dia(tmp_path, *COMPILE[:1], "specs", "-q", "--jobs", "1")
    assert printed.exit == 2 and word in printed.stderr and "Traceback" not in printed.stderr, printed.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dia.toml", "specs"]


def test_a_pipe_in_place_of_the_settings_is_none(tmp_path: Path, dia: Dia) -> None:
    laid_out(tmp_path, {"benchmark.yaml": BENCHMARK, "t.yaml": template()})
    os.mkfifo(tmp_path / "dia.toml")
    assert dia(tmp_path, "check", "specs", "--jobs", "1").exit == 0
