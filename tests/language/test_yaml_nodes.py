"""YAML to nodes: core values, exact positions, and one positioned message for every text that is refused."""

from __future__ import annotations

import pickle
from fractions import Fraction
from pathlib import Path
from time import perf_counter

import pytest
import yaml
from dia_compiler.parse.model import Snippet
from dia_language.diagnostics import DiaError, Diagnostic
from dia_language.numbers.values import ExactDecimal
from dia_language.yaml_nodes import Mapping, Node, Scalar, Sequence, data, parse, read
from hypothesis import given
from hypothesis import strategies as st


def fault(text: str) -> Diagnostic:
    with pytest.raises(DiaError) as caught:
        parse(text, "f.yaml")
    assert len(caught.value.diagnostics) == 1 and caught.value.exit_code == 2
    return caught.value.diagnostics[0]


def at(found: Diagnostic) -> tuple[int, int]:
    assert found.position is not None
    return found.position.line, found.position.column


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"), ("yes", "yes"), ("on", "on"), ("y", "y"), ("1:30", "1:30"), ("12:30:45", "12:30:45"),
        ("2024-13-45", "2024-13-45"), ("true", True), ("False", False), ("null", None), ("~", None), ("", None),
        ("0", 0), ("-17", -17), ("+3", 3), ("0x1F", 31), ("0o17", 15), ("1e3", 1000), ("'12'", "12"), ('"no"', "no"),
        ("0.10", Fraction(1, 10)), (".5", Fraction(1, 2)), ("-1.25e-2", Fraction(-1, 80)), ("1_000", "1_000"),
        ("1.2.3", "1.2.3"), ("--", "--"), ("0.0", 0), ("123456789012345678901234567890", 123456789012345678901234567890),
    ],
)  # fmt: skip
def test_scalars_follow_the_core_rules(text: str, value: object) -> None:
    found = data(parse(f"key: {text}\n", "f.yaml"))["key"]
    assert found == value and (type(found) is type(value) or isinstance(found, ExactDecimal))
    assert type(found) is not float


@pytest.mark.parametrize(
    ("text", "code", "place", "word"),
    [
        ("a: &x [1]\nb: *x\n", "E106", (1, 4), "anchors"),
        ("a: *x\n", "E106", (1, 4), "aliases"),
        ("a: !!str 1\n", "E106", (1, 4), "tags"),
        ("a:\n  <<: {b: 1}\n", "E106", (2, 3), "merge"),
        ("id: x\nid: y\n", "E105", (2, 1), "line 1"),
        ("n: {type: integer, min: 1, min: 5}\n", "E105", (1, 28), "`min`"),
        ("f: {a(n, k): 1, b(n, k): 2}\n", "E105", (1, 22), "quote `name(a, b)`"),
        ("\ttabs: here\n", "E104", (1, 1), "spaces"),
        ("a: 012\n", "E109", (1, 4), "starts with 0"),
        ("a: .inf\n", "E109", (1, 4), "finite"),
        ("a: " + "9" * 5000 + "\n", "E109", (1, 4), "digits"),
        ("a: 1e99999\n", "E109", (1, 4), "digits"),
        ("[" * 900, "E107", (1, 66), "deep"),
        ("a: x: y\n", "E104", (1, 5), "`: `"),
        ("a: x\n b: y\n", "E104", (2, 3), "remove its indentation"),
        ("a: x y\n  b c: d\n", "E104", (2, 6), "`: `"),
        ("a: 'x' + y\n", "E104", (1, 8), "quoted"),
        ("a: 1\n---\nb: 2\n", "E110", (2, 1), "second"),
        ("", "E110", (1, 1), "empty"),
        ('a: "f("b")"\n', "E104", (1, 7), "the quotes end here"),
        ('- a\n- "f("b")"\n', "E104", (2, 6), "the quotes end here"),
        ('a: {b: "f("b")", c: 1}\n', "E104", (1, 11), "the quotes end here"),
        ('a: {b: f"{c}", d: 1}\n', "E104", (1, 10), "YAML reads the `{` in this text"),
        ("a: {b: = f'{c}.csv'}\n", "E104", (1, 12), "YAML reads the `{` in this text"),
        ("a: 1\nlevel:hard\n", "E104", (2, 7), "no space after `level:`"),
        ('a: "b" + "c"\n', "E104", (1, 8), "quoted"),
        ("? [a]\n: b\n", "E104", (1, 3), "key"),
        ("a: 'unclosed\n", "E104", (2, 1), "quote"),
    ],
)
def test_refused_texts_are_told_once_with_their_place(text: str, code: str, place: tuple[int, int], word: str) -> None:
    found = fault(text)
    assert (found.code, at(found)) == (code, place)
    assert word in f"{found.message} {found.help}"


def test_brackets_that_pyyaml_itself_bounds_have_the_same_message() -> None:
    """PyYAML 6.0.4 and later refuse a thousand, at another column."""
    diagnostic = fault("[" * 100_000)
    assert (diagnostic.code, diagnostic.message) == ("E107", "nested more than 64 levels deep")


@pytest.mark.parametrize(
    ("raw", "code", "word"),
    [
        (b"\xff\xfe\x00\x01", "E102", "byte 0"),
        ("id: a\u202eb\n".encode(), "E108", "bidirectional"),
        (b"id: a\x1b[31m\n", "E108", "control"),
        (b"k: 1\n# pad\n" * 120_000, "E103", "1 MiB"),
    ],
)
def test_refused_files(tmp_path: Path, raw: bytes, code: str, word: str) -> None:
    path = tmp_path / "f.yaml"
    path.write_bytes(raw)
    with pytest.raises(DiaError) as caught:
        read(path, "f.yaml")
    assert caught.value.diagnostics[0].code == code and word in caught.value.diagnostics[0].message


def test_hostile_texts_are_refused_at_once() -> None:
    start = perf_counter()
    for text in ("[" * 200_000, "a: {" * 50_000, "- " * 100_000, "&a [*a]\n", "a: &a\n  <<: *a\n"):
        fault(text)
    assert perf_counter() - start < 5


def places(node: Node) -> list[Scalar]:
    if isinstance(node, Scalar):
        return [node]
    if isinstance(node, Sequence):
        return [scalar for item in node.items for scalar in places(item)]
    return [scalar for key, value in node.pairs for scalar in (key, *places(value))]


SPEC = """\
template: x
checks:
  - answer == 1   # a comment
  - 'quoted == 2'
flow: {a: [one, "two three"], b: 'it''s'}
block: |
  first line
    indented line

  last é line
"""


def test_every_character_of_a_simple_scalar_knows_its_place() -> None:
    lines = SPEC.split("\n")
    for scalar in places(parse(SPEC, "f.yaml")):
        if "'" in scalar.text:
            continue
        for offset, char in enumerate(scalar.text):
            if char != "\n":
                place = scalar.place(offset)
                assert lines[place.line - 1][place.column - 1] == char, (scalar.text, offset)


@pytest.mark.parametrize(
    "text",
    [
        'k: "one \\n two\\x41 three \\u00e9\\\\ four"\n',
        'k:\n  "one\n  two \\\n   three\n\n   four"\n',
        "k: 'one''two'''' three'\n",
        "k: 'one\n  two\n\n  three '\n",
        "k: one\n  two   three\n\n\n  four\n",
        "k: >\n\n    one\n    two\n      three\n     four\n\n    five\n",
        "list:\n  - k: >-\n      one\n\n      two three\n",
    ],
)
def test_words_of_escaped_and_folded_scalars_know_their_places(text: str) -> None:
    scalar, lines = places(parse(text, "f.yaml"))[-1], text.split("\n")
    words = [word for word in ("one", "two", "three", "four", "five") if word in text]
    for word in words:
        place = scalar.place(scalar.text.index(word))
        assert lines[place.line - 1].startswith(word, place.column - 1), (word, place)


NODES = st.recursive(
    st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Cf", "Co", "Cn", "Zl", "Zp"]), max_size=8)
    | st.integers(-(10**20), 10**20)
    | st.booleans(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("abcxyz", min_size=1, max_size=4), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.text("abc", min_size=1, max_size=3), NODES, min_size=1, max_size=3))
def test_what_another_writer_wrote_is_read_back(value: dict[str, object]) -> None:
    written = yaml.safe_dump(value, allow_unicode=True, width=10_000, default_style='"')
    assert _texts(data(parse(written.replace("!!int ", "").replace("!!bool ", ""), "f.yaml"))) == _texts(value)


def _texts(value: object) -> object:
    if isinstance(value, dict):
        return {key: _texts(held) for key, held in value.items()}
    if isinstance(value, list):
        return [_texts(held) for held in value]
    return {True: "true", False: "false"}.get(value, str(value)) if isinstance(value, bool) else str(value)


def test_a_mapping_finds_its_keys() -> None:
    root = parse("a: 1\nb: 2\n", "f.yaml")
    assert isinstance(root, Mapping)
    key = root.key("b")
    assert key is not None and key.position.line == 2 and root.get("c") is None and root.key("c") is None


def test_what_goes_to_a_worker_comes_out_as_it_was() -> None:
    root = parse("one: [a, 'b', {two: 1}]\nthree: 0.5\n", "file.yaml")
    assert isinstance(root, Mapping)
    snippet = Snippet("a", root.pairs[0][0], 2, root.position)
    assert pickle.loads(pickle.dumps((root, snippet))) == (root, snippet)
