"""What texts are read as, by the types of words, collections and formulas: strict, lenient, or not at all."""

from __future__ import annotations

import base64
import datetime
import ipaddress
from fractions import Fraction
from typing import Any

import pytest
from dia_language.answers import Mode, Unreadable, equal, read, settle, write
from dia_language.diagnostics import LanguageError
from dia_language.numbers.values import ExactDecimal, Record
from hypothesis import given
from hypothesis import strategies as st

NO = object()
INTEGER = {"type": "integer"}
TEXTS = {"type": "list", "of": "text"}
METHODS = {"type": "choice", "of": ["GET", "POST"]}
CITIES = {"type": "choice", "of": {"A": "Paris", "B": "New York", "C": "None of them"}}
NUMBERED = {"type": "choice", "of": [1, 2, 10]}
DATE, DOMAIN, ADDRESS = {"type": "date"}, {"type": "domain"}, {"type": "ip_address"}
HEX, BASE64 = {"type": "bytes"}, {"type": "bytes", "encoding": "base64"}
SET, BAG = {"type": "set", "of": INTEGER}, {"type": "multiset", "of": INTEGER}
WORDS = {"type": "set", "of": {"type": "text", "case": "fold"}}
POINT = {"type": "record", "of": {"x": "integer", "y": "integer"}}
WRITTEN = {**POINT, "written": "({{ x }}, {{ y }})"}
PERSON = {"type": "record", "of": {"name": "text", "marks": {"type": "list", "of": "integer"}}}
MATRIX = {"type": "matrix", "of": INTEGER}
PAIR = {"type": "tuple", "of": ["integer", "text"], "written": "{{ it[1] }} weighs {{ it[0] }} kg"}
BLANKS = {"type": "tuple", "of": ["integer", "integer"], "written": "{{ it[0] }} {{ it[1] }}"}
SUMS = {"type": "arithmetic", "operators": ["+"]}
KM = {"type": "real", "units": ["km", "kilometres"]}
EURO = {"type": "integer", "units": "€"}

Row = tuple[dict[str, Any], str, Any, Any]


def tree(operator: str, *operands: Any) -> Record:
    return Record(op=operator, args=list(operands))


def at(x: int, y: int) -> Record:
    return Record(x=x, y=y)


# type, text, strict, lenient
ROWS: list[Row] = [
    (METHODS, "GET", "GET", "GET"),
    (METHODS, " POST\n", "POST", "POST"),
    (METHODS, "get", NO, "GET"),
    (METHODS, "`GET`", NO, "GET"),
    (METHODS, "**GET**.", NO, "GET"),
    (METHODS, "Answer: GET", NO, "GET"),
    (METHODS, "The answer is POST", NO, "POST"),
    (METHODS, "GET or POST", NO, NO),
    (METHODS, "GETS", NO, NO),
    (METHODS, "", NO, NO),
    (CITIES, "B", "B", "B"),
    (CITIES, "(b)", NO, "B"),
    (CITIES, "New York", NO, "B"),
    (CITIES, "b) new  york.", NO, "B"),
    (CITIES, "B. Paris", NO, NO),
    (CITIES, "B or C", NO, NO),
    (CITIES, "B New York", NO, NO),
    (NUMBERED, "10", "10", "10"),
    (NUMBERED, "1.", NO, "1"),
    (NUMBERED, "1, 2", NO, NO),
    ({"type": "choice", "of": ["a", "A"]}, "A", "A", "A"),
    ({"type": "choice", "of": ["ab", "AB"]}, "Ab", NO, NO),
    (DATE, "2026-01-31", "2026-01-31", "2026-01-31"),
    (DATE, "2026-1-31", NO, "2026-01-31"),
    (DATE, "20260131", NO, "2026-01-31"),
    (DATE, "2026/01/31", NO, "2026-01-31"),
    (DATE, "31.1.2026", NO, "2026-01-31"),
    (DATE, "31. 01. 2026", NO, "2026-01-31"),
    (DATE, "31 January 2026", NO, "2026-01-31"),
    (DATE, "the 31st of January, 2026", NO, "2026-01-31"),
    (DATE, "January 31st, 2026", NO, "2026-01-31"),
    (DATE, "JAN. 31 2026", NO, "2026-01-31"),
    (DATE, "Saturday, January 31, 2026", NO, "2026-01-31"),
    (DATE, "Sat 31 Jan 2026", NO, "2026-01-31"),
    (DATE, "Sunday, January 31, 2026", NO, NO),
    (DATE, "1/2/2026", NO, NO),
    (DATE, "2026-02-29", NO, NO),
    (DATE, "2024-02-29", "2024-02-29", "2024-02-29"),
    (DATE, "2026-13-01", NO, NO),
    (DATE, "0000-01-01", NO, NO),
    (DATE, "2026-01-31T00:00", NO, NO),
    (DATE, "Ja 31 2026", NO, NO),
    (DATE, "\u0662026-01-31", NO, NO),
    (DOMAIN, "example.com", "example.com", "example.com"),
    (DOMAIN, "Example.COM.", "example.com", "example.com"),
    (DOMAIN, "https://user@www.example.com:80/path?x#y", NO, "www.example.com"),
    (DOMAIN, "example[.]com", NO, "example.com"),
    (DOMAIN, "`example.com`", NO, "example.com"),
    (DOMAIN, "example.com/path", NO, NO),
    (DOMAIN, "a..b", NO, NO),
    (DOMAIN, "-a.com", NO, NO),
    (DOMAIN, "a" * 64 + ".com", NO, NO),
    (DOMAIN, ("a" * 49 + ".") * 6, NO, NO),
    (DOMAIN, "exam ple.com", NO, NO),
    (DOMAIN, "m\u00fcnchen.de", "m\u00fcnchen.de", "m\u00fcnchen.de"),
    (ADDRESS, "192.0.2.1", "192.0.2.1", "192.0.2.1"),
    (ADDRESS, "192.0.2.01", NO, NO),
    (ADDRESS, "192.0.2.256", NO, NO),
    (ADDRESS, "192.0.2", NO, NO),
    (ADDRESS, "3221225985", NO, NO),
    (ADDRESS, "2001:DB8:0:0::1", "2001:db8::1", "2001:db8::1"),
    (ADDRESS, "[2001:db8::1]", NO, "2001:db8::1"),
    (ADDRESS, "2001:db8::1/128", NO, "2001:db8::1"),
    (ADDRESS, "192.0.2[.]1", NO, "192.0.2.1"),
    (ADDRESS, "192.0.2.1/32", NO, "192.0.2.1"),
    (ADDRESS, "192.0.2.1/24", NO, NO),
    (ADDRESS, "fe80::1%eth0", NO, NO),
    (ADDRESS, "192.0.2.1:80", NO, NO),
    (HEX, "00ffAB", b"\x00\xff\xab", b"\x00\xff\xab"),
    (HEX, "", b"", b""),
    (HEX, "0x00ff", NO, b"\x00\xff"),
    (HEX, "00:ff 01-02_03", NO, b"\x00\xff\x01\x02\x03"),
    (HEX, "0ff", NO, NO),
    (HEX, "0g", NO, NO),
    (BASE64, "ZGlh", b"dia", b"dia"),
    (BASE64, "ZGk=", b"di", b"di"),
    (BASE64, "ZGk", NO, b"di"),
    (BASE64, "Z G\nlh", NO, b"dia"),
    (BASE64, "_-8", NO, b"\xff\xef"),
    (BASE64, "ZGl=", NO, NO),
    (BASE64, "ZG!h", NO, NO),
    (SET, "{1, 2, 3}", [1, 2, 3], [1, 2, 3]),
    (SET, "[3, 1, 2]", [1, 2, 3], [1, 2, 3]),
    (SET, "10, 9", [9, 10], [9, 10]),
    (SET, "{}", [], []),
    (SET, "1, 1", NO, NO),
    (SET, "1, +1", NO, NO),
    (WORDS, "a, A", NO, NO),
    (BAG, "2, 1, 2", [1, 2, 2], [1, 2, 2]),
    (POINT, "{x: 1, y: 2}", at(1, 2), at(1, 2)),
    (POINT, "y = 2, x = 1", at(1, 2), at(1, 2)),
    (POINT, '{"x": 1, "y": 2}', at(1, 2), at(1, 2)),
    (POINT, "('x': 1, 'y': 2)", at(1, 2), at(1, 2)),
    (POINT, "x: 1\ny: 2", NO, at(1, 2)),
    (POINT, "X: 1, Y: 2", NO, at(1, 2)),
    (POINT, "x: 1, y: 2,", NO, at(1, 2)),
    (POINT, "(1, 2)", NO, NO),
    (POINT, "x: 1", NO, NO),
    (POINT, "x: 1, y: 2, z: 3", NO, NO),
    (POINT, "x: 1, y: 2, x: 1", NO, NO),
    (POINT, "x: 1, y:", NO, NO),
    (POINT, "x: 1, y: 2)", NO, NO),
    (POINT, "", NO, NO),
    (PERSON, 'name: "a, b", marks: [1, 2]', Record(name="a, b", marks=[1, 2]), Record(name="a, b", marks=[1, 2])),
    (PERSON, "marks: [], name: f(a, b)", Record(name="f(a, b)", marks=[]), Record(name="f(a, b)", marks=[])),
    (PERSON, 'name: "a" b, marks: []', NO, NO),
    (PERSON, 'name: "a, marks: []', NO, NO),
    (PERSON, "name: a, marks: [1, [2]", NO, NO),
    (WRITTEN, "(1, 2)", at(1, 2), at(1, 2)),
    (WRITTEN, " ( 1 ,-2 ) ", at(1, -2), at(1, -2)),
    (WRITTEN, "{y: 2, x: 1}", at(1, 2), at(1, 2)),
    (WRITTEN, "(1, 2", NO, NO),
    (WRITTEN, "1, 2", NO, NO),
    (WRITTEN, "(1, 2, 3)", NO, NO),
    (PAIR, "Bob weighs 5 kg", [5, "Bob"], [5, "Bob"]),
    (PAIR, "(5, Bob)", [5, "Bob"], [5, "Bob"]),
    (PAIR, "Bob weighs five kg", NO, NO),
    (BLANKS, "1 2", [1, 2], [1, 2]),
    (BLANKS, "1\n 2", [1, 2], [1, 2]),
    (BLANKS, "1 2 3", NO, NO),
    (MATRIX, "[[1, 2], [3, 4]]", [[1, 2], [3, 4]], [[1, 2], [3, 4]]),
    (MATRIX, "1 2\n3 4", [[1, 2], [3, 4]], [[1, 2], [3, 4]]),
    (MATRIX, "1, 2\n3, 4", [[1, 2], [3, 4]], [[1, 2], [3, 4]]),
    (MATRIX, "[[1 2]\n [3 4]]", [[1, 2], [3, 4]], [[1, 2], [3, 4]]),
    (MATRIX, "[1, 2],\n[3, 4]", [[1, 2], [3, 4]], [[1, 2], [3, 4]]),
    (MATRIX, "[1, 2; 3, 4]", NO, [[1, 2], [3, 4]]),
    (MATRIX, r"\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}", NO, [[1, 2], [3, 4]]),
    (MATRIX, r"$\begin{bmatrix} 1 & 2 \\ 3 & 4 \\ \end{bmatrix}$", NO, [[1, 2], [3, 4]]),
    (MATRIX, r"\begin{pmatrix} 1 & 2 \end{bmatrix}", NO, NO),
    (MATRIX, "[[1, 2], [3]]", NO, NO),
    (MATRIX, "[[1, 2], [3, 4]", NO, NO),
    (MATRIX, "[]", NO, NO),
    (SUMS, "1 + 2", tree("+", 1, 2), tree("+", 1, 2)),
    (SUMS, "1 * 2", NO, NO),
    (SUMS, "1 + -2", NO, NO),
    ({"type": "arithmetic"}, "2*(3 - -4)/5", tree("/", tree("*", 2, tree("-", 3, -4)), 5), tree("/", tree("*", 2, tree("-", 3, -4)), 5)),
    ({"type": "arithmetic"}, "2(3)", NO, tree("*", 2, 3)),
    ({"type": "arithmetic"}, "2 × 3 − 1", NO, tree("-", tree("*", 2, 3), 1)),
    ({"type": "arithmetic"}, "2 + 3 = 5", NO, tree("+", 2, 3)),
    ({"type": "arithmetic"}, "2 + 3 = 1 + 4", NO, NO),
    ({"type": "arithmetic"}, "1/2(3)", NO, NO),
    ({"type": "arithmetic"}, "2**3", NO, NO),
    ({"type": "arithmetic", "operators": ["**"]}, "2^3", tree("**", 2, 3), tree("**", 2, 3)),
    ({"type": "arithmetic"}, "1.5 + 1", NO, NO),
    ({"type": "arithmetic"}, "x + 1", NO, NO),
    ({"type": "arithmetic"}, "__import__('os')", NO, NO),
    (KM, "5", 5, 5),
    (KM, "5.5 km", NO, Fraction(11, 2)),
    (KM, "5km", NO, 5),
    (KM, "5 kilometres", NO, 5),
    (KM, "5 m", NO, NO),
    (KM, "km", NO, NO),
    (KM, "5 km km", NO, NO),
    (EURO, "€1,000", NO, 1000),
    (EURO, "1000 €", NO, 1000),
    ({"type": "rational", "units": "h"}, "1/2 h", NO, Fraction(1, 2)),
    ({"type": "list", "of": INTEGER, "units": "m"}, "1 m, 2 m", NO, [1, 2]),
]  # fmt: skip


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]['type']}-{row[1]!r}"[:50])
def test_every_text_is_read_as_the_table_says(row: Row) -> None:
    comparison, text, *expected = row
    modes: tuple[Mode, ...] = ("strict", "lenient")
    for mode, value in zip(modes, expected, strict=True):
        if value is NO:
            with pytest.raises(Unreadable):
                read(text, comparison, mode)
        else:
            found = read(text, comparison, mode)
            assert found == value and equal(found, settle(value, comparison), comparison)


# type, value, its canonical text
TEXTS_OF: list[tuple[dict[str, Any], Any, str]] = [
    (SET, [3, 1, 2, 10], "{1, 2, 3, 10}"),
    ({"type": "set", "of": "text"}, ["b", "a, c"], '{"a, c", b}'),
    (BAG, [2, 1, 2], "{1, 2, 2}"),
    (POINT, at(1, 2), "{x: 1, y: 2}"),
    (POINT, Record(y=2, x=1), "{x: 1, y: 2}"),
    (PERSON, Record(name="a, b", marks=[1]), '{name: "a, b", marks: [1]}'),
    ({"type": "list", "of": PERSON}, [Record(name="],'", marks=[])], r'[{name: "\u005d\u002c\u0027", marks: []}]'),
    (WRITTEN, at(1, -2), "(1, -2)"),
    ({"type": "list", "of": WRITTEN}, [at(1, 2)], "[{x: 1, y: 2}]"),
    (PAIR, [5, "Bob"], "Bob weighs 5 kg"),
    (MATRIX, [[1, 2], [3, 4]], "[[1, 2], [3, 4]]"),
    ({"type": "matrix"}, [[Fraction(1, 2)]], "[[1/2]]"),
    (NUMBERED, 10, "10"),
    (DOMAIN, "Example.ORG", "example.org"),
    (ADDRESS, "2001:0db8::0001", "2001:db8::1"),
    (HEX, b"\x00\xff", "00ff"),
    ({"type": "list", "of": HEX}, [b"", b"\x01"], '["", 01]'),
    ({"type": "arithmetic"}, "(2+3) *4", "(2 + 3) * 4"),
    ({"type": "arithmetic"}, tree("-", 1, tree("-", 2, 3)), "1 - (2 - 3)"),
    ({"type": "list", "of": "arithmetic"}, ["(2+3)*4", 5], '["(2 + 3) * 4", 5]'),
]


@pytest.mark.parametrize("row", TEXTS_OF, ids=lambda row: row[2][:40])
def test_values_are_written_in_one_way(row: tuple[dict[str, Any], Any, str]) -> None:
    comparison, value, text = row
    settled = settle(value, comparison)
    assert write(settled, comparison) == text
    assert read(text, comparison) == settled


REFUSED: list[tuple[dict[str, Any], Any, str]] = [
    (METHODS, "PUT", "not one of the labels"),
    (METHODS, ["GET"], "its value is a list"),
    (METHODS, True, "its value is a boolean"),
    (DATE, "31.1.2026", "its value is not a date"),
    (DATE, 20260131, "an integer"),
    (DOMAIN, "a b", "its value does not fit"),
    (ADDRESS, "1.2.3", "its value is not an address"),
    (HEX, "00ff", "its value is text"),
    (SET, [1, 1], "contains an element twice"),
    (WORDS, ["a", "A"], "contains an element twice"),
    (SET, 1, "its value is an integer"),
    (POINT, [1, 2], "its value is a list"),
    (POINT, Record(x=1), "lacks the field `y`"),
    (POINT, Record(x=1, y=2, z=3), "has a field `z`"),
    (POINT, Record(x=1, y="2"), "field y: "),
    (MATRIX, [[1, 2], [3]], "must have the same length"),
    (MATRIX, [], "must have the same length"),
    (MATRIX, [1, 2], "a list of rows"),
    ({"type": "arithmetic"}, "2 +", "its value does not fit"),
    ({"type": "arithmetic"}, tree("**", 2, 3), "its value does not fit"),
    ({"type": "arithmetic"}, tree("and", True, False), "its value does not fit"),
    ({"type": "arithmetic"}, b"1", "its value is bytes"),
]


@pytest.mark.parametrize("row", REFUSED, ids=lambda row: f"{row[0]['type']}-{row[1]!r}"[:40])
def test_values_of_another_kind_are_refused(row: tuple[dict[str, Any], Any, str]) -> None:
    comparison, value, message = row
    with pytest.raises(LanguageError) as found:
        settle(value, comparison)
    assert message in f"{found.value.message} {found.value.help}"


def test_a_part_that_breaks_its_form_is_refused() -> None:
    for name in ("Bob weighs 3", "a weighs 2 kg or so weighs 1"):
        with pytest.raises(LanguageError, match="cannot be separated"):
            write([5, name], PAIR)
    assert write([5, "Bob of kg"], PAIR) == "Bob of kg weighs 5 kg"


def test_sets_of_tolerant_numbers_are_paired() -> None:
    tenth = {"type": "real", "tolerance": {"absolute": ExactDecimal(1, 10)}}
    for kind in ("set", "multiset"):
        comparison = {"type": kind, "of": tenth}
        truth = settle([1, 2, 3], comparison)
        assert equal(read("3.05, 0.95, 2.1", comparison), truth, comparison)
        assert not equal(read("1.05, 0.95, 3", comparison), truth, comparison)
        assert not equal(read("1, 2", comparison), truth, comparison)
    # 1.1 must go to 1.2, so that 0.95 can go to 1
    close = settle([1, ExactDecimal(12, 10)], {"type": "set", "of": tenth})
    assert equal(read("1.1, 0.95", {"type": "set", "of": tenth}), close, {"type": "set", "of": tenth})
    with pytest.raises(LanguageError, match="more than 300"):
        settle(list(range(301)), {"type": "set", "of": tenth})


def test_scripts_of_domains_are_told_apart() -> None:
    assert equal("xn--mnchen-3ya.de", "m\u00fcnchen.de", DOMAIN)
    assert equal("mu\u0308nchen.de", "m\u00fcnchen.de", DOMAIN) is False  # decomposed: `read` composes it
    assert read("mu\u0308nchen.de", DOMAIN) == "m\u00fcnchen.de"
    assert not equal("p\u0430ypal.com", "paypal.com", DOMAIN)  # a Cyrillic letter
    assert "b\u00fccher.example".encode("idna") == b"xn--bcher-kva.example"
    assert equal("xn--bcher-kva.example", "b\u00fccher.example", DOMAIN)


@given(st.ip_addresses())
def test_addresses_are_those_of_the_standard_library(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> None:
    canonical = str(address)
    if isinstance(address, ipaddress.IPv6Address) and "." in canonical:  # of mapped addresses, from Python 3.13 on
        canonical = f"::ffff:{int(address) >> 16 & 0xFFFF:x}:{int(address) & 0xFFFF:x}"
    for text in (str(address), address.exploded, str(address).upper()):
        assert read(text, ADDRESS) == canonical


@given(st.binary(max_size=40))
def test_bytes_are_those_of_the_standard_library(content: bytes) -> None:
    assert read(base64.b64encode(content).decode(), BASE64) == content == read(content.hex(" "), HEX, "lenient")
    assert read(base64.urlsafe_b64encode(content).decode().rstrip("="), BASE64, "lenient") == content
    assert write(content, BASE64) == base64.b64encode(content).decode() and write(content, HEX) == content.hex()


@given(st.dates(min_value=datetime.date(1000, 1, 1)))
def test_dates_are_those_of_the_standard_library(day: datetime.date) -> None:
    assert read(day.isoformat(), DATE) == day.isoformat()
    for form in ("%Y%m%d", "%Y/%m/%d", "%d.%m.%Y", "%d %B %Y", "%B %d, %Y", "%a, %d %b %Y", "%A, %B %d, %Y"):
        assert read(day.strftime(form), DATE, "lenient") == day.isoformat()


@given(st.lists(st.integers(-9, 9), max_size=6), st.lists(st.integers(-9, 9), max_size=6))
def test_sets_and_multisets_are_equal_when_python_says_so(left: list[int], right: list[int]) -> None:
    said, truth = (str(held)[1:-1] or "[]" for held in (left, right))
    assert equal(read(said, BAG), read(truth, BAG), BAG) == (sorted(left) == sorted(right))
    if len(set(left)) == len(left) and len(set(right)) == len(right):
        assert equal(read(said, SET), read(truth, SET), SET) == (set(left) == set(right))
    else:
        for text, held in ((said, left), (truth, right)):
            if len(set(held)) < len(held):
                with pytest.raises(Unreadable):
                    read(text, SET)


@given(st.integers(-99, 99), st.integers(-99, 99))
def test_wrong_points_are_never_right(x: int, y: int) -> None:
    for text in (f"({x}, {y})", f"{{y: {y}, x: {x}}}", f'{{"x": {x}, "y": {y}}}'):
        assert equal(read(text, WRITTEN), at(3, -4), WRITTEN) == ((x, y) == (3, -4))
