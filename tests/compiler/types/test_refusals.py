"""Why a value of an example is outside its type: every message names what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from dia_compiler.pipeline.api import compile
from dia_compiler.sampling.instance_tree import RecordingChoose, Stream
from dia_compiler.types import TYPES
from dia_compiler.types.base import Domain
from dia_language.diagnostics import DiaError
from dia_language.numbers.values import Record


def domain(kind: str, **options: Any) -> Domain:
    return TYPES[kind].domain(options)


DIE = domain("integer", min=1, max=6)
HALVES = domain("rational", min=Fraction(1, 2), max=3, denominator=Record(min=2, max=4))
THIRDS = domain("rational", numerator=Record(min=1, max=8), denominator=3)
NET = domain("graph", nodes=["A", "B", "C", "D"], edges=4, connected=True, weighted={"min": 1, "max": 9})
EDGES = [["A", "B"], ["A", "C"], ["B", "C"], ["C", "D"]]


def net(**changed: Any) -> Record:
    return Record(
        {"nodes": ["A", "B", "C", "D"], "edges": EDGES, "directed": False, "weights": [1, 2, 3, 4], **changed}
    )


REFUSED: list[tuple[Domain, Any, str]] = [
    (DIE, 7, "`7` is above 6"),
    (DIE, 0, "`0` is below 1"),
    (DIE, "six", "`six` is not an integer"),
    (DIE, True, "`True` is not an integer"),
    (domain("integer", min=1, max=9, exclude=[4]), 4, "4 is left out by the type's options"),
    (domain("integer", min=0, max=9, parity="even"), 3, "3 is left out by the type's options"),
    (domain("real", min=0, max=1, decimals=1), Fraction(1, 4), "`1/4` has too many decimals"),
    (domain("real", min=0, max=1, decimals=1), 2, "`2` is above 1"),
    (domain("real", min=0, max=1, decimals=1), "1", "`1` is not a number"),
    (HALVES, "1/2", "`1/2` is not a number"),
    (HALVES, Fraction(1, 4), "`1/4` is below 1/2"),
    (HALVES, Fraction(7, 2), "`7/2` is above 3"),
    (HALVES, 1, "the denominator of `1` is not from 2 to 4"),
    (THIRDS, Fraction(1, 2), "the denominator of `1/2` is not 3"),
    (THIRDS, Fraction(10, 3), "the numerator of `10/3` is not from 1 to 8"),
    (domain("boolean"), "yes", "`yes` is neither true nor false"),
    (domain("choice", of=["red", "green"]), "gren", "`gren` is not one of 2 items; did you mean `green`?"),
    (domain("choice", of=[10, 2, 3, 5]), 4, "`4` is not one of 4 items, such as `10`"),
    (domain("choice", of=[1, 2, 3]), 4, "`4` is not one of 3 items: `1`, `2`, `3`"),
    (domain("string", alphabet="ab", length=3), "ab", "it has 2 characters, not 3"),
    (domain("string", alphabet="ab", length={"min": 2, "max": 3}), "a", "it has 1 character, not 2 to 3"),
    (domain("string", alphabet="ab", length=3), "abc", "`c` is not in its alphabet"),
    (domain("string", alphabet="12", length=2), 12, "`12` is not text"),
    (domain("list", of=DIE, length=2), [1], "it has 1 element, not 2"),
    (domain("list", of=DIE, length=2), [1, 9], "element 2: `9` is above 6"),
    (domain("list", of=DIE, length=2, unique=True), [1, 1], "two of its elements are equal"),
    (domain("list", of=DIE, length=2), 12, "`12` is not a list"),
    (domain("list", of=DIE, length=2, sorted=True), [2, 1], "its elements must be in ascending order"),
    (domain("list", of=DIE, length=2, sorted=True), [2], "it has 1 element, not 2"),
    (domain("list", of=DIE, length=2, sorted=True), [2, 7], "element 2: `7` is above 6"),
    (domain("tuple", of=[DIE, DIE]), [1], "it has 1 element, not 2"),
    (domain("tuple", of=[DIE, DIE]), [1, 8], "element 2: `8` is above 6"),
    (domain("permutation", of=["a", "b"]), ["a", "a"], '`["a", "a"]` does not have each of the 2 items once'),
    (domain("set", of=DIE, length=2), [3, 2], "its elements must be in ascending order, each at most once"),
    (domain("set", of=DIE, length=2), [3], "it has 1 element, not 2"),
    (domain("set", of=domain("string", alphabet="ab", length=70), length=2), ["a", "b"],
     "element 1: it has 1 character, not 70"),
    (domain("subset", of=["x", "y", "z"], size=2), ["y", "x"],
     "its elements must be in the order of the list, each at most once"),
    (domain("subset", of=["x", "y", "z"], size=2), ["y", "w"], "element 2: `w` is not one of 3 items: `x`, `y`, `z`"),
    (domain("record", fields={"a": DIE, "b": DIE}), Record(a=1), "the field `b` is missing"),
    (domain("record", fields={"a": DIE}), Record(a=1, c=2), "there is no field `c`"),
    (domain("record", fields={"a": DIE}), Record(a=9), "the field `a`: `9` is above 6"),
    (domain("name", gender="male"), "Zyx", "dia does not draw the name `Zyx`; `dia types first_names_male` prints those that it draws"),
    (domain("name", gender="male"), Record(name="Zyx"), "it must be the name as text"),
    (domain("name", pronouns=True), "Lucille", "it must be a record of name and pronouns"),
    (domain("name", pronouns=True), Record(name="Lucille"), "its other name, or one of its fields, is not one that dia draws with this first name"),
    (domain("date", min="2026-01-01", max="2026-12-31"), "1.2.2026", "`1.2.2026` is not a date such as 2026-01-31"),
    (domain("date", min="2026-01-01", max="2026-12-31"), "2027-01-01", "2027-01-01 is not from 2026-01-01 to 2026-12-31"),
    (domain("date", weekday="sunday"), "2026-01-31", "2026-01-31 is on another day of the week"),
    (domain("timestamp"), "2026-01-05T18:00", "`2026-01-05T18:00` is not a time such as 2026-01-31T12:00:00Z"),
    (domain("timestamp", min="2026-01-01", step=3600), "2026-01-01T00:30:00Z",
     "2026-01-01T00:30:00Z is not a multiple of 3600 seconds after 2026-01-01T00:00:00Z"),
    (NET, "A-B", "`A-B` is not a graph: write it as a record of nodes, edges, directed, weights"),
    (NET, Record(nodes=["A"], edges=[]),
     "a graph of this type is a record of nodes, edges, directed, weights; this one has nodes, edges"),
    (NET, net(nodes=["A", "B"]), 'its nodes must be `["A", "B", "C", "D"]`, in this order'),
    (NET, net(directed=True), "`directed` must be false"),
    (NET, net(edges=[["B", "A"], *EDGES[1:]]), 'write the edge `["B", "A"]` as `["A", "B"]`'),
    (NET, net(edges=[*EDGES[:3], ["D", "E"]]), 'no edge of this graph can be `["D", "E"]`'),
    (NET, net(edges=[EDGES[1], EDGES[0], *EDGES[2:]]), 'the edge `["A", "B"]` must come before `["A", "C"]`'),
    (NET, net(edges=[EDGES[0], EDGES[0], *EDGES[2:]]), 'the edge `["A", "B"]` appears twice'),
    (NET, net(edges=EDGES[:3]), "it has 3 edges, not 4"),
    (NET, net(edges=[*EDGES[:3], ["B", "D"]], weights=[1, 2]), "`weights` must have one number for each of the 4 edges"),
    (NET, net(weights=[1, 2, 3, 10]), "the weight `10` is not from 1 to 9"),
    (domain("graph", nodes=4, edges=3, connected=True),
     Record(nodes=[1, 2, 3, 4], edges=[[1, 2], [1, 3], [2, 3]], directed=False), "it is not connected"),
]  # fmt: skip


@pytest.mark.parametrize(("of", "value", "words"), REFUSED)
def test_a_value_outside_its_type_says_what_is_wrong(of: Domain, value: Any, words: str) -> None:
    assert not of.contains(value)
    assert of.refusal(value) == words
    assert of.contains(of.draw(RecordingChoose((), Stream(sha256(b"x").digest()))))


def test_a_graph_in_order_is_accepted() -> None:
    assert NET.contains(net())


TEMPLATE = """\
template: t
title: Values of examples
lists: {{goods: [{{id: a, price: 3}}, {{id: b, price: 5}}]}}
catalogs: {{edit: {{faces: {{say: template}}, entries: {{drop: {{params: {{n: {{type: integer, min: 1, max: 3}}}}, say: "{{{{ n }}}}"}}}}}}}}
params:
  low: {{type: integer, min: 1, max: 9}}
  high: {{type: integer, min: 1, max: 9, where: high > low}}
  ware: {{type: choice, of: = goods}}
  place: {{type: row, from: p.csv, columns: {{people: integer}}}}
  pair: {{type: rows, from: p.csv, columns: {{people: integer}}, size: 2}}
  step: {{type: entry, of: edit}}
answer: {{value: low + high, type: integer}}
prompt: "{{{{ low }}}} {{{{ high }}}} {{{{ ware.price }}}} {{{{ place.name }}}} {{{{ say(step) }}}} {{{{ pair[0].name }}}}"
examples:
  - params: {params}
"""


def refused(folder: Path) -> Callable[[str], str]:
    """Return a function from the parameters of an example to the message about them."""
    folder.joinpath("benchmark.yaml").write_text("language: 2\nbenchmark: b\n")
    folder.joinpath("p.csv").write_text("name,people\nPeru,34\nGhana,35\nFiji,1\n")

    def message(params: str) -> str:
        folder.joinpath("t.yaml").write_text(TEMPLATE.format(params=params))
        with pytest.raises(DiaError) as caught:
            compile([folder], out=folder / "out", jobs=1)
        (entry,) = (entry for entry in caught.value.diagnostics if entry.severity == "error")
        assert entry.code == "E507" and entry.help is None
        return entry.message

    return message


def test_conditions_rows_and_entries_say_what_is_wrong(tmp_path: Path) -> None:
    of = refused(tmp_path)
    outside = "the value of `{}` is outside its type: {}"
    assert of("{low: 3, high: 2}") == outside.format("high", "`2` does not satisfy `high > low`")
    assert of("{low: 3, high: 12}") == outside.format("high", "`12` is above 9")
    assert of("{ware: {id: a, price: 4}}") == outside.format(
        "ware", '`{id: "a", price: 4}` is not one of 2 items: `{id: "a", price: 3}`, `{id: "b", price: 5}`'
    )
    assert of("{place: {name: Peru}}") == outside.format("place", "the column `people` is missing")
    assert of("{place: {name: Peru, people: 34, x: 1}}") == outside.format("place", "there is no column `x`")
    assert of("{place: Peru}") == outside.format("place", "`Peru` is not a record of name, people")
    missing = 'no row of `p.csv` is `{name: "Peru", people: 3}`'
    assert of("{place: {name: Peru, people: 3}}") == outside.format("place", missing)
    assert of("{pair: [{name: Fiji, people: 1}, {name: Peru, people: 34}]}") == outside.format(
        "pair", "the rows must be different, and in the order of the file"
    )
    assert of("{pair: [{name: Fiji, people: 1}]}") == outside.format(
        "pair", "these rows are never drawn together, because of `size`, `group` or `stratify`"
    )
    assert of("{step: drp}") == outside.format("step", "the catalog has no entry `drp`; did you mean `drop`?")
    assert of("{step: {entry: drop, n: 4}}") == outside.format("step", "the field `n`: `4` is above 3")
