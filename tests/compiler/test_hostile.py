"""Hostile input: it ends soon, in little memory, with one positioned message and exit code 2, and nothing is written.

The inputs follow the ways in which loaders, sandboxes and algebra systems have been broken; each is put into the spec
language and goes through the command line.
"""

from __future__ import annotations

import os
import re
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

BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{name}: &{name} [{','.join(['*' + before] * 9)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)
YAML: dict[str, tuple[Content, tuple[str, int, int, str]]] = {
    "alias bomb": (BOMB, ("E106", 1, 4, "anchors")),
    "alias without anchor": ("a: 1\nb: [*a, *a]\n", ("E106", 2, 5, "aliases")),
    "duplicate key": ("template: x\ntemplate: y\n", ("E105", 2, 1, "first on line 1")),
    "duplicate key in braces": (template(n="{type: integer, min: 1, min: 5}"), ("E105", 3, 37, "`min`")),
    "duplicate key in another normal form": ("caf\u00e9: 1\ncafe\u0301: 2\n", ("E105", 2, 1, "first on line 1")),
    "date": (template(more="date: 2024-13-45\n"), ("E201", 10, 1, "`date`")),
    "alias of itself": ("&a [*a]\n", ("E106", 1, 1, "anchors")),
    "merge key": ("a:\n  <<: {b: 1}\n", ("E106", 2, 3, "merge keys")),
    "long number": (template(more="number: " + "9" * 5000 + "\n"), ("E109", 10, 9, "more than 4,000 digits")),
    "large exponent": (template(more="number: 1e99999\n"), ("E109", 10, 9, "digits")),
    "no number": (template(more="number: .nan\n"), ("E109", 10, 9, "not a finite number")),
    "bidirectional": ("template: a\u202eb\n", ("E108", 1, 12, "bidirectional control character U+202E")),
    "escape sequence": ("template: a\x1b[31m\n", ("E108", 1, 12, "control character U+001B")),
    "zero byte": ("\x00", ("E108", 1, 1, "control character U+0000")),
    "line separator": ("template: a\u2028b\n", ("E108", 1, 12, "U+2028")),
    "carriage returns alone": (template().replace("\n", "\r"), ("E108", 1, 12, "U+000D")),
    "wrong encoding": (b"\xff\xfe\x00\x01", ("E102", 1, 1, "not UTF-8: byte 0")),
    "latin-1": ("title: é".encode("latin-1"), ("E102", 1, 1, "byte 7")),
    "tab": ("\ttabs: here\n", ("E104", 1, 1, "a tab")),
    "endless file": (filled(b"k: 1\n# pad\n", 2_000_000), ("E103", 1, 1, "larger than 1 MiB")),
    "path as a name": (template().replace(": t", ": ../../etc/passwd", 1), ("E204", 1, 11, "lowercase letters")),
    "name with a line break": (template().replace(": t\n", ": |\n  t\n", 1), ("E204", 1, 11, "lowercase letters")),
    "path that leaves": (template(more="lists: {w: {from: ../../secret.txt}}\n"), ("E101", 10, 19, "outside")),
    "path with a zero byte": (template(more='lists: {w: {from: "a\\0b"}}\n'), ("E101", 10, 19, "outside")),
    "long path": (template(more=f"lists: {{w: {{from: {'a' * 5000}}}}}\n"), ("E101", 10, 19, "cannot be read")),
    "deep brackets": ("[" * 900, ("E107", 1, 66, "nested more than 64 levels deep")),
    "deep braces": ("a: " + "{b: " * 5_000, ("E107", 1, 257, "nested more than 64 levels deep")),
    "deep dashes": ("- " * 5_000, ("E107", 1, 131, "nested more than 64 levels deep")),
    "many nodes": (template(more="lists: {x: [" + "a," * 30_000 + "]}\n"), ("E107", 10, 39959, "nodes")),
    "many checks": (template(more="checks:\n" + "  - n > 0\n" * 3_000), ("E107", 10, 1, "more than 1,000 entries")),
    "long key": (template(more="? 'f(" + " " * 900_000 + "'\n: 1\n"), ("E107", 10, 3, "longer than 1,024")),
    "list as a key": ("[1]: 2\n", ("E104", 1, 1, "a key must be a word")),
    "mapping as a key": ("? {a: b}\n: c\n", ("E104", 1, 3, "a key must be a word")),
    "numbers as keys": ("1: x\n2.5: y\ntrue: z\nnull: w\n", ("E202", 1, 1, "neither a template nor a catalog")),
    "a number as a name": (template(more="let: {1: 2}\n"), ("E204", 10, 7, "`1` must be a name")),
    "nothing": ("", ("E110", 1, 1, "empty")),
    "only a comment": ("# nothing\n", ("E110", 1, 1, "empty")),
    "only null": ("null\n", ("E203", 1, 1, "a mapping of keys")),
    "a word": ("a", ("E203", 1, 1, "a mapping of keys")),
    "two documents": (template(more="---\na: b\n"), ("E110", 10, 1, "second YAML document")),
    "argument twice": (template(more="functions:\n  f(x, x): x\n"), ("E310", 11, 3, "`x` appears twice")),
    "argument that is no name": (template(more="functions: {f(None): 1}\n"), ("E309", 10, 13, "`None`")),
    "points beyond reason": (template(more="points: {correct: 1e999, skipped: 0, wrong: 0}\n"), ("E204", 10, 19, "at most")),
    "types that double": (
        template(more="types:\n  t0: {type: boolean}\n" + "".join(
            f"  t{i}: {{type: record, fields: {{a: {{type: t{i - 1}}}, b: {{type: t{i - 1}}}}}}}\n" for i in range(1, 40)
        )),
        ("E107", 13, 41, "expand to more than 10,000 parts"),
    ),
    "much text": (
        template(more="macros:\n" + "".join(f"  m{i}(): '{'{{ n }}' * 9_000}'\n" for i in range(15))),
        ("E107", 1, 11, "more than 300,000 characters"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", YAML)
def test_hostile_yaml(name: str, tmp_path: Path, dia: Dia) -> None:
    refuse(tmp_path, dia, *YAML[name])


def deep(count: int, before: str, inner: str = "n", behind: str = "") -> str:
    return before * count + inner + behind * count


TEMPLATES: dict[str, tuple[str, tuple[str, int, int, str]]] = {
    "attr": ("{{ ''|attr('__class__') }}", ("E304", 9, 9, "`attr`")),
    "format": ("{{ '{0.__class__.__init__.__globals__}'.format(n) }}", ("E312", 9, 43, "method calls")),
    "format_map": ("{{ '{a.__class__}'.format_map({'a': 1}) }}", ("E312", 9, 22, "method calls")),
    "cycler": ("{{ cycler.__init__.__globals__.os.popen('touch ran').read() }}", ("E312", 9, 56, "method calls")),
    "attribute": ("{{ n.__class__ }}", ("E312", 9, 8, "start with _")),
    "hidden name": ("{{ _s }}", ("E312", 9, 6, "start with _")),
    "self": ("{{ self }}", ("E303", 9, 6, "`self`")),
    "loop outside": ("{{ loop.index }}", ("E303", 9, 6, "`loop`")),
    "endless output": (
        "{% for a in range(99999) %}{% for b in range(99999) %}x{% endfor %}{% endfor %}", ("E502", 9, 33, "steps")
    ),
    "long text": ("{{ 'a' * 1000000000 }}", ("E312", 9, 6, "arithmetic")),
    "padding": ("{{ 'a' | pad_left(1000000000) }}", ("E502", 9, 6, "characters")),
    "power in a dead branch": ("{% if false %}{{ 10 ** (10 ** 9) }}{% endif %}", ("E312", 9, 20, "arithmetic")),
    "random": ("{{ [1,2,3]|random }}", ("E304", 9, 14, "`random` is not available")),
    "undefined": ("{{ undefined_name }}", ("E303", 9, 6, "`undefined_name`")),
    "mutation": ("{{ n.append(9) }}{{ n }}", ("E312", 9, 8, "method calls")),
    "lipsum": ("{{ lipsum(1000000) }}", ("E304", 9, 6, "`lipsum`")),
    "set": ("{% set n = 3 %}", ("E312", 9, 6, "`set`")),
    "import": ("{% import 'os' as os %}", ("E312", 9, 6, "`import`")),
    "include": ("{% include '/etc/passwd' %}", ("E312", 9, 6, "`include`")),
    "surrogate": ("{{ '\\ud800' }}", ("E312", 9, 6, "surrogate")),
    "nested loops": (deep(25, "{% for a in [1] %}", "x", "{% endfor %}"), ("E312", 9, 3, "nested too deeply")),
    "nested conditions": (deep(150, "{% if n %}", "x", "{% endif %}"), ("E312", 9, 3, "nested too deeply")),
    "nested brackets": ("{{ " + deep(3_000, "(", "n", ")") + " }}", ("E312", 9, 3, "nested too deeply")),
    "long chain of filters": ("{{ n" + " | abs" * 8_000 + " }}", ("E312", 9, 3, "nested too deeply")),
    "tags without end": ("{%" * 40_000, ("E311", 9, 3, "tag without a name")),
    "quotes without end": ("{%'" * 30_000, ("E311", 9, 3, "tag without a name")),
    "long template": ("x" * 200_000, ("E312", 9, 3, "longer than 100,000 characters")),
}  # fmt: skip


@pytest.mark.parametrize("name", TEMPLATES)
def test_hostile_templates(name: str, tmp_path: Path, dia: Dia) -> None:
    text, expected = TEMPLATES[name]
    refuse(tmp_path, dia, template(prompt=text), expected)


SOLVERS: dict[str, tuple[str, tuple[str, int, int, str]]] = {
    "import": ("__import__('os').system('touch ran')", ("E302", 6, 5, "method calls")),
    "hidden function": ("__import__('os')", ("E302", 6, 5, "start with _ are not allowed")),
    "subclasses": ("().__class__.__base__.__subclasses__()", ("E302", 6, 5, "method calls")),
    "attribute": ("n.__class__", ("E302", 6, 7, "start with _")),
    "format": ("'{0.__class__}'.format(1)", ("E302", 6, 5, "method calls")),
    "format in an f-string": ("f'{n.__class__}'", ("E302", 6, 10, "start with _")),
    "width": ("f'{n:>1000000000}'", ("E302", 6, 5, "cannot have format widths")),
    "lambda": ("(lambda: open('ran', 'w'))()", ("E302", 6, 5, "only named functions can be called")),
    "open": ("open('ran', 'w')", ("E304", 6, 5, "`open`")),
    "eval": ("eval('1')", ("E304", 6, 5, "`eval`")),
    "globals": ("globals()", ("E304", 6, 5, "`globals`")),
    "generator frame": ("(x for x in [n]).gi_frame", ("E501", 6, 5, "no fields")),
    "walrus": ("(x := n)", ("E302", 6, 6, "`:=`")),
    "surrogate": ('"\\ud800"', ("E302", 6, 5, "surrogate")),
    "infinity": ("oo", ("E303", 6, 5, "unknown name `oo`")),
    "exponent": ("1e99999", ("E502", 6, 5, "an exponent is larger than 4000")),
    "digits": ("9" * 5_000, ("E301", 6, 5, "too many digits")),
    "tower of powers": ("2**10**9", ("E502", 6, 5, "exponent too large")),
    "factorial": ("factorial(10**8)", ("E502", 6, 5, "needs `n` to be at most")),
    "long text": ("'a' * 10**10", ("E502", 6, 5, "longer than 1,000,000")),
    "percent": ("'%1000000000d' % 1", ("E501", 6, 5, "remainder")),
    "range": ("length(range(10**12))", ("E502", 6, 12, "would exceed 1,000,000 items")),
    "endless loop": ("length([i for i in range(999999) for j in range(999999)])", ("E502", 6, 47, "2,000,000 steps")),
    "division by zero": ("n / 0", ("E504", 6, 5, "division by zero")),
    "logarithm of zero": ("log(0)", ("E504", 6, 5, "infinite or undefined")),
    "back reference": (r"matches('(a)\\1', 'aa')", ("E501", 6, 5, "not RE2")),
    "look-around": ("matches('a(?=b)', 'ab')", ("E501", 6, 5, "not RE2")),
    "repetition": ("matches('((a{100}){100}){100}', 'a')", ("E501", 6, 5, "not RE2")),
    "code as a symbol": ("symbol('__import__(\"os\").system(\"touch ran\")')", ("E501", 6, 5, "letters and digits")),
    "terms": ("expand((symbol('x') + symbol('y') + symbol('z'))**500)", ("E502", 6, 5, "terms")),
    "unevaluated integral": (
        "integrate(sqrt(symbol('x')**5 + sin(symbol('x'))) * exp(symbol('x')**3), symbol('x'), 0, 1)",
        ("E504", 6, 5, "no closed form"),
    ),
    "deep brackets": (deep(3_000, "(", "n", ")"), ("E301", 6, 204, "nested too deeply")),
    "deep lists": (deep(3_000, "[", "", "]"), ("E301", 6, 204, "nested too deeply")),
    "deep signs": (deep(9_000, "-"), ("E302", 6, 5, "nested too deeply")),
    "deep fields": ("n" + ".a" * 8_000, ("E302", 6, 5, "nested too deeply")),
    "deep sum": ("+".join(["n"] * 9_000), ("E302", 6, 5, "nested too deeply")),
    "deep condition": ("1 if n else " * 1_500 + "2", ("E302", 6, 5, "nested too deeply")),
    "deep comparison": ("1 < " * 4_000 + "n", ("E302", 6, 5, "nested too deeply")),
    "many loops": ("[1 " + " ".join(f"for x{i} in [n]" for i in range(40)) + "]", ("E501", 6, 5, "value is a list")),
    "long expression": ("n" * 30_000, ("E302", 6, 5, "longer than 20,000")),
    "many texts": ("length([str(i) * 100000 for i in range(100000)])", ("E502", 6, 13, "too much memory")),
}  # fmt: skip


@pytest.mark.parametrize("name", SOLVERS)
def test_hostile_solvers(name: str, tmp_path: Path, dia: Dia) -> None:
    text, expected = SOLVERS[name]
    refuse(tmp_path, dia, template(text), expected)


def test_single_letters_are_no_names_of_the_algebra(tmp_path: Path, dia: Dia) -> None:
    laid_out(tmp_path, {"benchmark.yaml": BENCHMARK, "t.yaml": template("E + I + N + S + n - n")})
    printed = dia(tmp_path, *COMPILE)
    assert [(fault.code, fault.column) for fault in faults(printed.stderr)] == [("E303", at) for at in (5, 9, 13, 17)]
    assert printed.exit == 2


@pytest.mark.parametrize(
    ("more", "line", "column"),
    [
        ("where: '{}'\n", 10, 208), ("checks: ['{}']\n", 10, 210), ("mistakes: {{m: '{}'}}\n", 10, 215),
        ("functions: {{f(x): '{}'}}\n", 10, 219), ("let: {{x: '{}'}}\n", 10, 210), ("lists: {{x: ['= {}']}}\n", 10, 215),
        ("skills: '= {}'\n", 10, 211), ("types: {{x: {{type: boolean, where: '{}'}}}}\nlet: {{y: 1}}\n", 10, 0),
        ("catalogs: {{c: {{faces: {{f: expression}}, entries: {{e: {{f: '{}'}}}}}}}}\n", 10, 257),
    ],
)  # fmt: skip
def test_deep_nesting_is_refused_wherever_an_expression_stands(
    more: str, line: int, column: int, tmp_path: Path, dia: Dia
) -> None:
    laid_out(tmp_path, {"benchmark.yaml": BENCHMARK, "t.yaml": template(more=more.format(deep(3_000, "(", "n", ")")))})
    printed = dia(tmp_path, *COMPILE)
    if not column:  # a type that nothing uses is not compiled
        assert printed.exit == 0
        return
    fault = faults(printed.stderr)[0]
    assert (fault.code, fault.line, fault.column, printed.exit) == ("E301", line, column, 2), printed.stderr


PARAMETERS: dict[str, tuple[str, tuple[str, int, int, str]]] = {
    "empty range": ("{type: integer, min: 10, max: 1}", ("E403", 3, 43, "min 10 is above max 1")),
    "one value": ("{type: choice, of: [3]}", ("E505", 1, 11, "only 1 distinct instance can be made, but k is 5")),
    "nothing meets it": ("{type: integer, bits: 64, where: n < 0}", ("E505", 3, 46, "no instance can be made")),
    "large prime": ("{type: prime, bits: 65536}", ("E403", 3, 33, "4,096 bits")),
    "long permutation": ("{type: permutation, of: = range(10**7)}", ("E502", 3, 39, "would exceed 1,000,000 items")),
    "list of nothing": ("{type: list, length: 3, unique: true, of: {type: boolean}}", ("E403", 3, 34, "only 2 values")),
    "huge length": ("{type: string, alphabet: ab, length: 1000000000}", ("E403", 3, 50, "between 0 and 100000")),
    "negative length": ("{type: string, alphabet: ab, length: -1}", ("E403", 3, 50, "between 0 and 100000")),
    "huge weight": ("{type: choice, of: [1, 2], weights: [1" + "0" * 3_000 + ", 1]}", ("E403", 3, 49, "add up to more than 2**128")),
}  # fmt: skip


@pytest.mark.parametrize("name", PARAMETERS)
def test_hostile_parameters(name: str, tmp_path: Path, dia: Dia) -> None:
    text, expected = PARAMETERS[name]
    refuse(tmp_path, dia, template(value="3", n=text), expected)


def test_a_circle_names_both_places(tmp_path: Path, dia: Dia) -> None:
    more = "let:\n  a: b + 1\n  b: a + 1\n"
    refuse(tmp_path, dia, template(more=more), ("E307", 11, 6, "a -> b -> a (`a` on line 11; `b` on line 12)"))


def test_words_like_no_and_yes_stay_text(tmp_path: Path, dia: Dia) -> None:
    text = template(
        "n", n="{type: choice, of: [no, yes, on, off, n, y]}", answer="text", more="allow: {answer-in-prompt: x}\n"
    )
    laid_out(tmp_path, {"benchmark.yaml": BENCHMARK, "t.yaml": text})
    assert dia(tmp_path, *COMPILE, "--k", "6").exit == 0
    answers = next(tmp_path.glob("out/*/answers.jsonl")).read_text(encoding="utf-8")
    assert set(re.findall(r'"text":"(\w+)"', answers)) == {"no", "yes", "on", "off", "n", "y"}


@pytest.mark.parametrize("change", ["crlf", "mark"])
def test_line_ends_and_byte_order_marks_change_no_question(change: str, tmp_path: Path, dia: Dia) -> None:
    files: dict[str, Content] = {
        "benchmark.yaml": BENCHMARK, "words.txt": "one\ntwo\nthree\n",
        "t.yaml": template("length(w)", "What is {{ n }} of {{ w }}?", more="lists: {words: {from: words.txt}}\n").replace(
            "}}\nanswer", "}, w: {type: choice, of: {from: words}}}\nanswer", 1),
    }  # fmt: skip
    changed = {
        name: (text.replace("\n", "\r\n") if change == "crlf" else "\ufeff" + text).encode()
        for name, text in files.items()
        if isinstance(text, str)
    }
    roots = []
    for folder, held in (("plain", files), ("changed", changed)):
        printed = dia(laid_out(tmp_path / folder, dict(held)), *COMPILE)
        assert printed.exit == 0, printed.stderr
        manifest = next((tmp_path / folder).glob("out/*/manifest.json")).read_text(encoding="utf-8")
        roots.append(re.findall(r'"questions_root": ?"(\w+)"', manifest))
    assert roots[0] == roots[1] != []


LIST = template(more="lists: {w: {from: w.txt}}\n")
FOLDERS: dict[str, tuple[dict[str, Content], tuple[str, str]]] = {
    "link that leaves": ({"benchmark.yaml": BENCHMARK, "t.yaml": link("/etc/hostname")}, ("E101", "leads outside the folder")),
    "benchmark that leaves": ({"benchmark.yaml": link("/etc/hostname"), "t.yaml": template()}, ("E101", "outside")),
    "list that leaves": ({"benchmark.yaml": BENCHMARK, "w.txt": link("/etc/passwd"), "t.yaml": LIST}, ("E101", "outside")),
    "link to itself": ({"benchmark.yaml": BENCHMARK, "t.yaml": link("t.yaml")}, ("E101", "is not a regular file")),
    "list that links to itself": ({"benchmark.yaml": BENCHMARK, "w.txt": link("w.txt"), "t.yaml": LIST}, ("E101", "no file `specs/w.txt`")),
    "link to nothing": ({"benchmark.yaml": BENCHMARK, "t.yaml": link("nowhere.yaml")}, ("E101", "is not a regular file")),
    "folder in a link": (
        {"benchmark.yaml": BENCHMARK, "sub": link("/etc"), "t.yaml": LIST.replace("w.txt", "sub/passwd")}, ("E101", "outside")
    ),
    "there and back": (
        {"benchmark.yaml": BENCHMARK, "w.txt": "a\n", "t.yaml": LIST.replace("w.txt", "../specs/w.txt")}, ("E101", "outside")
    ),
    "pipe": ({"benchmark.yaml": BENCHMARK, "t.yaml": os.mkfifo}, ("E101", "is not a regular file")),
    "list that is a pipe": ({"benchmark.yaml": BENCHMARK, "w.txt": os.mkfifo, "t.yaml": LIST}, ("E101", "no file")),
    "list that is binary": ({"benchmark.yaml": BENCHMARK, "w.txt": b"a\x00b", "t.yaml": LIST}, ("E108", "control character")),
    "list in another encoding": ({"benchmark.yaml": BENCHMARK, "w.txt": b"\xff\xfe", "t.yaml": LIST}, ("E102", "not UTF-8")),
    "list without end": ({"benchmark.yaml": BENCHMARK, "w.txt": b"a\n" * 600_000, "t.yaml": LIST}, ("E103", "1 MiB")),
    "name that is no text": (
        {"benchmark.yaml": BENCHMARK, "t.yaml": template(), os.fsdecode(b"b\xff.yaml"): template()}, ("E101", r"b\udcff.yaml")
    ),
    "name with a line break": ({"benchmark.yaml": BENCHMARK, "a\nb.yaml": template()}, ("E101", r"a\nb.yaml")),
    "no benchmark": ({"t.yaml": template()}, ("E101", "no benchmark.yaml")),
    "nothing at all": ({}, ("E101", "no benchmark.yaml")),
    "no template": ({"benchmark.yaml": BENCHMARK}, ("E202", "has no template file")),
    "empty benchmark": ({"benchmark.yaml": "", "t.yaml": template()}, ("E110", "empty")),
}  # fmt: skip


@pytest.mark.parametrize("name", FOLDERS)
def test_hostile_folders(name: str, tmp_path: Path, dia: Dia) -> None:
    files, (code, word) = FOLDERS[name]
    try:
        laid_out(tmp_path, files)
    except (OSError, UnicodeError) as error:
        pytest.skip(f"this file system cannot hold it: {error}")
    fault = one_fault(tmp_path, dia)
    assert fault.code == code and word in fault.message, fault


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path, dia: Dia) -> None:
    laid_out(tmp_path, {"benchmark.yaml": BENCHMARK, "t.yaml": template()})
    (tmp_path / "specs" / "t.yaml").chmod(0)
    if os.access(tmp_path / "specs" / "t.yaml", os.R_OK):
        pytest.skip("this user may read every file")
    fault = one_fault(tmp_path, dia)
    assert fault.code == "E101" and "Permission denied" in fault.message


def test_bundles_inside_the_spec_folder_are_no_specs(tmp_path: Path, dia: Dia) -> None:
    specs = laid_out(tmp_path, {"benchmark.yaml": BENCHMARK, "t.yaml": template()}) / "specs"
    for _ in range(2):
        printed = dia(specs, "compile", ".", "-q", "--jobs", "1")
        assert printed.exit == 0, printed.stderr
    assert dia(specs, "check", ".").exit == 0


COMMANDS: dict[str, tuple[tuple[str, ...], str]] = {
    "k below 1": (("compile", "specs", "--k", "-1"), "--k must be at least 1"),
    "k of 0": (("compile", "specs", "--k", "0"), "--k must be at least 1"),
    "k that is no number": (("compile", "specs", "--k", "many"), "not a valid integer"),
    "no workers": (("compile", "specs", "--jobs", "0"), "--jobs"),
    "no such folder": (("compile", "nowhere"), "no file or folder `nowhere`"),
    "no such command": (("compil", "specs"), "did you mean `compile`?"),
    "no such option": (("compile", "specs", "--kk", "3"), "--kk"),
    "no path": (("check",), "PATHS"),
    "a file that is no spec": (("check", "specs/w.txt"), "is not a spec"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_hostile_command_lines(name: str, tmp_path: Path, dia: Dia) -> None:
    laid_out(tmp_path, {"benchmark.yaml": BENCHMARK, "t.yaml": template(), "w.txt": "a\n"})
    arguments, word = COMMANDS[name]
    printed = dia(tmp_path, *arguments)
    assert printed.exit == 2 and word in printed.stderr and "Traceback" not in printed.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["specs"] and not printed.stdout


def shared(levels: int) -> str:
    """Let values of lists that hold the one before twice: small in memory, endless when they are walked through."""
    return "let:\n  l0: '[n, n]'\n" + "".join(f"  l{i}: '[l{i - 1}, l{i - 1}]'\n" for i in range(1, levels + 1))


X = "symbol('x')"
HANGING = f"integrate(exp(sin({X}**{X})) / log(cos({X}) + 2), {X})"
FACTORS = "factor((2**127-1) * (2**521-1) * (10**40+13) * (10**41+9))"
# Spec, where it is told, and the limit that ends it
HEAVY: dict[str, tuple[str, tuple[str, int, int, str]]] = {
    "integral that hangs": (template(HANGING), ("E502", 6, 5, "the evaluation ran longer than 5 s")),
    "factors without end": (template(FACTORS, more="limits: {seconds: 1}\n"), ("E502", 6, 5, "ran longer than 1 s")),
    "functions that double": (
        template("f40(n)", more="limits: {seconds: 1}\nfunctions:\n  f0(x): x + 1\n" + "".join(
            f"  f{i}(x): f{i - 1}(x) + f{i - 1}(x)\n" for i in range(1, 41))),
        ("E502", 6, 5, "ran longer than 1 s"),
    ),
    "lists that double": (
        template("str(l60)", more="limits: {seconds: 1}\n" + shared(60), answer="text"), ("E502", 6, 5, "longer than 1 s")
    ),
    "memory": (
        template("length([repeat('a', 999000) + str(i) for i in range(5000)])"),
        ("E502", 6, 13, "the evaluation needs too much memory"),
    ),
    "search without end": (
        template(more="where: length([i for i in range(300000) if i == n]) > 1\n", n="{type: integer, bits: 64}"),
        ("E502", 10, 8, "the search for an instance ran longer than 6 s"),
    ),
    "search whose time goes into another expression": (
        template(more="let: {x: 'length([i for i in range(300000) if i == n])'}\nwhere: x > 1\n", n="{type: integer, bits: 64}"),
        ("E502", 11, 8, "the search for an instance ran longer than 6 s"),
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", HEAVY)
def test_what_never_ends_is_ended(name: str, tmp_path: Path) -> None:
    text, (code, line, column, word) = HEAVY[name]
    laid_out(tmp_path, {"benchmark.yaml": BENCHMARK, "t.yaml": text})
    ended = measured(tmp_path, *COMPILE)
    assert ended.code == 2, ended
    fault = faults(ended.stderr)[0]
    assert len(faults(ended.stderr)) == 1 and (fault.code, fault.line, fault.column) == (code, line, column), ended
    assert word in fault.message and "Traceback" not in ended.stderr
    assert ended.processor <= 12 and ended.seconds <= 60 and ended.mebibytes <= 512
    assert [path.name for path in tmp_path.iterdir()] == ["specs"]
