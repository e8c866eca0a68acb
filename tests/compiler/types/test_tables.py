"""The types row and rows: all rows, all samples and all groups, in the order of the file, named by their ids."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from hashlib import sha256
from itertools import combinations
from math import comb
from pathlib import Path
from typing import Any

import pytest
from dia_compiler.pipeline.api import compile
from dia_compiler.sampling.instance_tree import RecordingChoose, Stream, Walker
from dia_compiler.types import TYPES
from dia_compiler.types.base import Domain, Enumerable, OptionFault
from dia_compiler.types.tables import Table, line_of
from dia_language.diagnostics import DiaError, Diagnostic


def table(levels: str) -> Table:
    """A table of one row for each letter: its number and the letter as its level."""
    rows = [{"n": number, "level": level} for number, level in enumerate(levels)]
    return Table("levels.csv", ("n", "level"), b"".join(map(line_of, rows)))


def domain(kind: str, levels: str, /, **options: Any) -> Domain:
    return TYPES[kind].domain({"from": table(levels), **options})


def drawn(of: Domain, number: int = 40) -> list[Any]:
    return [of.draw(RecordingChoose((), Stream(sha256(b"%d" % place).digest()))) for place in range(number)]


def exhausted(of: Domain) -> list[Any]:
    walker = Walker(b"rows", of.draw)
    found = (walker.at(position) for position in range(20 * of.count + 50))
    return [value for value in found if value is not None]


def numbers(sample: Sequence[Mapping[str, Any]]) -> tuple[int, ...]:
    return tuple(row["n"] for row in sample)


def test_rows_are_drawn_in_full_and_numbered_from_0() -> None:
    of = domain("row", "abcab")
    assert isinstance(of, Enumerable) and of.count == 5
    assert [of.at(place) for place in range(5)] == [{"n": n, "level": level} for n, level in enumerate("abcab")]
    assert [of.name_at(place) for place in range(5)] == ["0", "1", "2", "3", "4"]
    assert Counter(row["n"] for row in exhausted(of)) == Counter(range(5))
    assert all(of.contains(row) for row in of.boundary()) and not of.contains({"n": 0, "level": "b"})


def test_ids_name_the_rows() -> None:
    of = domain("row", "abc", id=lambda row: f"row-{row['level']}.{row['n']}")
    assert isinstance(of, Enumerable)
    assert [of.name_at(place) for place in range(3)] == ["row-a.0", "row-b.1", "row-c.2"]
    assert domain("row", "abc", id=lambda row: row["n"] - 7).name_at(0) == "-7"  # type: ignore[attr-defined]


def test_samples_are_all_subsets_in_the_order_of_the_file() -> None:
    of = domain("rows", "aaaaaa", size=3)
    assert sorted(map(numbers, exhausted(of))) == sorted(combinations(range(6), 3)) and of.count == 20
    assert (
        of.contains(drawn(of, 1)[0]) and not of.contains(drawn(of, 1)[0][::-1]) and not of.contains(drawn(of, 1)[0][:2])
    )
    assert [numbers(value) for value in of.boundary()] == [(0, 1, 2), (3, 4, 5)]


@pytest.mark.parametrize(("levels", "size"), [
    ("aabbcc", 3), ("aabbcc", 4), ("abbbcc", 4), ("abbbcc", 5), ("aaab", 2), ("aaab", 3), ("aaab", 4), ("abc", 1), ("aabbbbcccc", 7),
])  # fmt: skip
def test_strata_give_equally_many_rows_as_far_as_they_have_them(levels: str, size: int) -> None:
    of = domain("rows", levels, size=size, stratify="level")
    sizes = Counter(levels)

    def spread(sample: tuple[int, ...]) -> list[int]:
        """How many rows each stratum gives, the largest number first."""
        given = Counter(levels[number] for number in sample)
        return sorted((given[level] for level in sizes), reverse=True)

    # the fairest samples: no other sample of that size has a more even sorted row of numbers
    fairest = min(map(spread, combinations(range(len(levels)), size)))
    wanted = [sample for sample in combinations(range(len(levels)), size) if spread(sample) == fairest]
    assert sorted(map(numbers, exhausted(of))) == wanted and of.count == len(wanted)
    every = [[{"n": n, "level": levels[n]} for n in sample] for sample in combinations(range(len(levels)), size)]
    assert [numbers(sample) for sample in every if of.contains(sample)] == wanted
    assert all(of.contains(sample) for sample in of.boundary())


def test_groups_are_whole_and_named_by_their_value() -> None:
    of = domain("rows", "abcab", group="level")
    assert isinstance(of, Enumerable) and of.count == 3
    assert [numbers(of.at(place)) for place in range(3)] == [(0, 3), (1, 4), (2,)]
    assert [of.name_at(place) for place in range(3)] == ["a", "b", "c"]
    assert sorted(map(numbers, exhausted(of))) == [(0, 3), (1, 4), (2,)]
    assert all(map(of.contains, exhausted(of)))
    assert not of.contains([{"n": 0, "level": "a"}]) and not of.contains([]) and not of.contains(None)


def test_samples_of_a_group_leave_out_groups_that_are_too_small() -> None:
    of = domain("rows", "abbbcca", group="level", size=2)
    wanted = [(0, 6), (1, 2), (1, 3), (2, 3), (4, 5)]
    assert sorted(map(numbers, exhausted(of))) == wanted and of.count == len(wanted)
    assert all(map(of.contains, exhausted(of))) and all(map(of.contains, of.boundary()))
    assert not of.contains([{"n": 0, "level": "a"}, {"n": 1, "level": "b"}])


def test_large_samples_are_drawn_from_the_stream() -> None:
    of = domain("rows", "abcd" * 100, size=100)
    values = drawn(of)
    assert of.count == comb(400, 100) and all(map(of.contains, values))
    assert len({numbers(value) for value in values}) == len(values)
    even = domain("rows", "abcd" * 100, size=102, stratify="level")
    counts = [Counter(row["level"] for row in value) for value in drawn(even)]
    assert all(sorted(count.values()) == [25, 25, 26, 26] for count in counts)
    assert {frozenset(level for level in count if count[level] == 26) for count in counts} == set(
        map(frozenset, combinations("abcd", 2))
    )


def test_draws_are_what_they_were() -> None:
    levels = "abcacbbacd" * 20
    uses = [domain("row", levels), domain("rows", levels, size=5), domain("rows", levels, size=50, stratify="level"),
            domain("rows", levels, size=7, group="level")]  # fmt: skip
    text = "".join(f"{value}\n" for of in uses for value in drawn(of))
    assert sha256(text.encode()).hexdigest() == "8847618323b80ac82ecf26457da2fb2f14db7c3e239b638c9614a88922240d8c"


FAULTS: list[tuple[str, dict[str, Any], str | None, str]] = [
    ("row", {"id": lambda row: row["level"]}, "id", "data rows 1 and 3 of `levels.csv` have the same id, `a`"),
    ("row", {"id": lambda row: "a b"}, "id", "the id `a b` is invalid (data row 1 of `levels.csv`)"),
    ("row", {"id": lambda row: "x" * 65}, "id", "is invalid (data row 1 of `levels.csv`)"),
    ("row", {"id": lambda row: "é"}, "id", "is invalid (data row 1 of `levels.csv`)"),
    ("row", {"id": lambda row: True}, "id", "is invalid (data row 1 of `levels.csv`)"),
    ("row", {"id": lambda row: [1]}, "id", "is invalid (data row 1 of `levels.csv`)"),
    ("rows", {"id": lambda row: 1, "size": 1}, "id", "same id"),
    ("rows", {}, None, "`size` is missing"),
    ("rows", {"size": 0}, "size", "between 1 and 3"),
    ("rows", {"size": 4}, "size", "has 3 rows"),
    ("rows", {"size": "all"}, "size", "integer"),
    ("rows", {"size": 1, "stratify": "levle"}, "stratify", "no column `levle`"),
    ("rows", {"size": 1, "stratify": ["level"]}, "stratify", "no column"),
    ("rows", {"group": "kind"}, "group", "no column `kind`"),
    ("rows", {"group": "level", "stratify": "level"}, "stratify", "only one of"),
    ("rows", {"group": "level", "size": 3}, "size", "no group has 3 or more rows"),
]


@pytest.mark.parametrize(("kind", "options", "option", "word"), FAULTS)
def test_options_that_cannot_be_are_told(kind: str, options: dict[str, Any], option: str | None, word: str) -> None:
    with pytest.raises(OptionFault) as caught:
        domain(kind, "aba", **options)
    assert caught.value.option == option and word in caught.value.message


# whole specs

DATA = 'id,question,answer,level\na-1,"What is 2, then?",2,easy\na-2,What is 3?,3,easy\na-3,What is 4?,4,hard\na-4,What is 5?,5,hard\n'
ROW = """template: one
title: A question of a file
params:
  row: {type: row, from: data/q.csv, columns: {answer: integer}, id: = row.id}
  more: {type: integer, min: 1, max: 90}
each: row
answer: {value: row.answer + more, type: integer}
prompt: "{{ row.question }} Add {{ more }}."
"""
ROWS = """template: several
title: Questions of a file
params:
  few: {type: rows, from: data/q.csv, columns: {answer: integer}, size: 2, stratify: level}
answer: {value: "sum(row.answer for row in few)", type: integer}
prompt: "{% for row in few %}{{ row.question }} {% endfor %}"
allow: {k-equals-d: all of them are wanted}
"""


def spec(folder: Path, *templates: str, data: str = DATA) -> Path:
    (folder / "specs" / "data").mkdir(parents=True)
    (folder / "specs" / "benchmark.yaml").write_text("language: 1\nbenchmark: files\n", encoding="utf-8")
    (folder / "specs" / "data" / "q.csv").write_text(data, encoding="utf-8")
    for number, text in enumerate(templates):
        (folder / "specs" / f"t{number}.yaml").write_text(text, encoding="utf-8")
    return folder / "specs"


def questions(bundle: Path) -> dict[str, Any]:
    """The messages of every question by its id."""
    lines = (bundle / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    return {record["id"]: record["messages"] for record in map(json.loads, lines)}


def test_every_row_is_an_item_and_samples_are_questions(tmp_path: Path) -> None:
    (bundle,) = compile([spec(tmp_path, ROW, ROWS)], k=4, out=tmp_path / "out", jobs=1).bundles
    assert list(questions(bundle.path)) == [
        *(f"files/one/a-{row}/{n}" for row in (1, 2, 3, 4) for n in range(4)),
        *(f"files/several/{n}" for n in range(4)),
    ]
    assert "specs/data/q.csv" in (bundle.path / "manifest.json").read_text(encoding="utf-8")


def test_a_compile_without_the_middle_rows_leaves_the_other_items_as_they_were(tmp_path: Path) -> None:
    ways = (DATA, "".join(line + "\n" for line in DATA.splitlines() if not line.startswith(("a-2", "a-3"))))
    found = []
    for number, data in enumerate(ways):
        (bundle,) = compile(
            [spec(tmp_path / str(number), ROW, data=data)], k=3, out=tmp_path / f"out{number}", jobs=1
        ).bundles
        found.append(questions(bundle.path))
    assert len(found[1]) == 6 and all(found[0][name] == messages for name, messages in found[1].items())


def told(folder: Path) -> list[Diagnostic]:
    with pytest.raises(DiaError) as caught:
        compile([folder], out=folder.parent / "out", jobs=1)
    return [entry for entry in caught.value.diagnostics if entry.severity == "error"]


@pytest.mark.parametrize(("change", "line", "code", "word"), [
    (("data/q.csv", "data/p.csv"), 4, "E101", "no file"),
    (("data/q.csv", "../q.csv"), 4, "E101", "leads outside the spec folder"),
    (("data/q.csv", "[a]"), 4, "E203", "needs the path of a data file"),
    (("answer: integer", "answer: float"), 4, "E403", "`columns`"),
    (("{answer: integer}", "[question, question]"), 4, "E403", "`columns`"),
    (("{answer: integer}", "[question, answr]"), 4, "E111", "no column `answr`"),
    (("id: = row.id", "id: = row.level"), 4, "E403", "same id"),
    (("id: = row.id", "id: question"), 4, "E203", "expression"),
    (("id: = row.id", "id: = rwo.id"), 4, "E303", "rwo"),
])  # fmt: skip
def test_faults_stand_where_they_are(tmp_path: Path, change: tuple[str, str], line: int, code: str, word: str) -> None:
    assert change[0] in ROW
    (entry,) = told(spec(tmp_path, ROW.replace(*change)))
    assert entry.position is not None and entry.position.file.endswith("t0.yaml")
    assert (entry.position.line, entry.code) == (line, code) and word in entry.message


def test_a_fault_of_the_file_stands_in_the_file_and_is_told_once(tmp_path: Path) -> None:
    found = told(spec(tmp_path, ROW, ROWS, data=DATA.replace("3,easy", "three,easy")))
    assert {(entry.position.file.rpartition("/")[2], entry.position.line) for entry in found if entry.position} == {
        ("q.csv", 3)
    }
    assert len(found) == 1


def test_a_link_that_leaves_the_folder_is_refused(tmp_path: Path) -> None:
    folder = spec(tmp_path, ROW)
    (tmp_path / "q.csv").write_text(DATA, encoding="utf-8")
    (folder / "data" / "q.csv").unlink()
    (folder / "data" / "q.csv").symlink_to(tmp_path / "q.csv")
    (entry,) = told(folder)
    assert entry.code == "E101" and "leads outside the spec folder" in entry.message


def test_a_template_whose_file_is_required_and_missing_is_left_out(tmp_path: Path) -> None:
    folder = spec(
        tmp_path, ROW.replace("params:", "requires: {file: data/p.csv}\nparams:").replace("q.csv", "p.csv"), ROWS
    )
    (bundle,) = compile([folder], k=4, out=tmp_path / "out", jobs=1).bundles
    assert [item["template"] for item in bundle.left_out] == ["one"]


NESTED = """template: nested
title: Rows wherever a type may stand
types: {easy: {type: row, from: data/q.csv, where: it.level == 'easy'}}
catalogs:
  ask:
    faces: {say: template}
    entries:
      plain: {params: {row: {type: row, from: data/q.csv, columns: [question]}}, say: "{{ row.question }}"}
params:
  pair: {type: list, of: {type: row, from: data/q.csv, columns: [answer]}, length: 2, unique: true}
  easy_one: {type: easy}
  asked: {type: entry, of: ask}
answer: {value: "join([row.answer for row in pair] + [easy_one.id], ' ')", type: text}
prompt: "{{ pair[0].answer }} {{ pair[1].answer }} {{ easy_one.question }} {{ say(asked) }}"
examples:
  - params:
      pair: [{answer: "5"}, {answer: "2"}]
      easy_one: {id: a-2, question: "What is 3?", answer: "3", level: easy}
    answer: 5 2 a-2
"""


def test_rows_stand_wherever_a_type_may(tmp_path: Path) -> None:
    (bundle,) = compile([spec(tmp_path, NESTED)], k=5, out=tmp_path / "out", jobs=1).bundles
    assert len(questions(bundle.path)) == 5


def test_an_example_that_is_no_row_is_told(tmp_path: Path) -> None:
    (entry,) = told(spec(tmp_path, NESTED.replace("What is 3?", "What is 33?")))
    assert entry.message.startswith("the value of `easy_one` is outside its type: no row of `q.csv` is `{id:")
    assert entry.position is not None
    assert (entry.code, entry.position.line, entry.position.file.rpartition("/")[2]) == ("E507", 18, "t0.yaml")
