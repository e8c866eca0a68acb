"""`dia functions` and `dia types` describe what is named, in that order."""

from __future__ import annotations

import json

import pytest
from dia_compiler.commands.cli import run
from dia_compiler.types.word_lists import word_list


@pytest.mark.parametrize(
    ("arguments", "heads"),
    [
        (["functions", "median", "sum", "median"], ["median(values)", "sum(values)"]),
        (["functions", "sum"], ["sum(values)"]),
        (["types", "set", "csv", "list"], ["parameter type set: ", "parameter type list: ", "asset builder csv: "]),
        (["types", "xml", "text"], ["asset builder text: ", "answer type text: ", "answer format xml: "]),
    ],
)
def test_several_names_are_described_once_each(
    arguments: list[str], heads: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 0
    lines = capsys.readouterr().out.splitlines()
    places = [next(at for at, line in enumerate(lines) if line.startswith(head)) for head in heads]
    assert places == sorted(places) and sum(line.startswith(tuple(heads)) for line in lines) == len(heads)


def test_json_has_the_named_ones(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["functions", "sum", "median", "--json"]) == 0
    assert [item["name"] for item in json.loads(capsys.readouterr().out)["functions"]] == ["sum", "median"]
    assert run(["types", "set", "csv", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert [[item["name"] for item in facts[kind]] for kind in ("types", "builders")] == [["set"], ["csv"]]
    assert [item["name"] for item in facts["answer_types"]] == ["set"] and facts["answer_formats"] == []


@pytest.mark.parametrize(("command", "code"), [("functions", "E304"), ("types", "E401")])
def test_every_unknown_name_is_reported(command: str, code: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([command, "sun", "integre"]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count(f"error[{code}]") == 2
    assert ("did you mean `sum`?" if command == "functions" else "did you mean `integer`?") in err


def test_all_types_are_listed_under_headings(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["types"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line and ": " not in line] == [
        "Parameter types",
        "Asset builders",
        "Answer types",
        "Answer formats",
        "Word lists",
    ]


def test_a_word_list_is_shown_with_its_words(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["types", "animals"]) == 0
    first, *words = capsys.readouterr().out.splitlines()
    assert first == "word list animals: animals, 254 words"
    assert max(map(len, words)) <= 100 and " ".join(words).split()[:2] == ["aardvark,", "albatross,"]
    assert run(["types", "animals", "--json"]) == 0
    (entry,) = json.loads(capsys.readouterr().out)["word_lists"]
    assert entry["words"] == list(word_list("animals"))


def test_a_group_is_listed_and_names_are_shown_next_to_unknown_ones(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["functions", "patterns"]) == 0
    assert capsys.readouterr().out.split()[:2] == ["patterns", "escape(text)"]
    assert run(["functions", "graph"]) == 0
    assert "adjacency_matrix" not in capsys.readouterr().out, "the function of this name, not its group"
    assert run(["functions", "median", "nosuch"]) == 2
    out, err = capsys.readouterr()
    assert out.startswith("median(values)") and "unknown function `nosuch`" in err
    assert run(["functions", "median", "nosuch", "--json"]) == 2
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("name", "help"),
    [
        ("regex", "functions whose descriptions have this word: matches"),
        ("csv", "similar names: read_csv"),
        ("hamming_distance", "did you mean `hamming`?"),
        ("NEXT_PRIME", "did you mean `next_prime`?"),
        ("quokka", "`dia functions` lists all"),
        ("rjust", "use `pad_left(text, width)`"),
    ],
)
def test_words_of_descriptions_lead_to_functions(name: str, help: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["functions", name]) == 2
    assert f"help: {help}\n" in capsys.readouterr().err


def test_functions_that_share_a_word_of_the_name_come_before_descriptions(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["functions", "pad"]) == 2
    help = "help: similar names: pad_left, pad_right; functions whose descriptions have this word: keccak256, "
    assert help in capsys.readouterr().err
    assert run(["functions", "integer"]) == 2
    assert (
        "help: use `floor(x)` for a number, or `from_base(text, 10)` for a text; functions " in capsys.readouterr().err
    )
