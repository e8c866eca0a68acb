"""`dia probe` and the warning of `dia check --strict`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from dia_compiler.commands.cli import run
from helpers.schemas import faults

PLANTED = """template: planted
title: A longest word
params:
  code: {type: string, alphabet: lower, length: 14}
  first: {type: string, alphabet: lower, length: 6}
  second: {type: string, alphabet: lower, length: 6}
answer: {value: code, type: text}
checks: [length(answer) == 14]
prompt: "Which of {{ first }}, {{ code }} and {{ second }} is the code?"
allow: {answer-ignores-parameter: decoys, answer-in-prompt: it is sought in the prompt}
"""
CLEAN = """template: clean
title: A product
params:
  n: {type: integer, min: 100, max: 999}
  m: {type: integer, min: 100, max: 999}
answer: {value: n * m, type: integer}
checks: [answer // n == m]
prompt: What is {{ n }} times {{ m }}?
"""


@pytest.fixture
def specs(tmp_path: Path) -> Path:
    (tmp_path / "benchmark.yaml").write_text("language: 1\nbenchmark: mine\nversion: 1.0.0\n", encoding="utf-8")
    (tmp_path / "planted.yaml").write_text(PLANTED, encoding="utf-8")
    (tmp_path / "clean.yaml").write_text(CLEAN, encoding="utf-8")
    return tmp_path


def test_the_planted_template_is_over_and_the_clean_one_is_not(specs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outputs = set()
    for jobs in ("1", "2"):
        assert run(["probe", str(specs), "--k", "40", "--json", "--jobs", jobs]) == 1
        outputs.add(capsys.readouterr().out)
    (output,) = outputs
    printed = json.loads(output)
    assert not list(faults("probe", printed))
    planted, clean = printed["templates"]
    assert (planted["template"], planted["over"], planted["accuracy"]["value"]) == ("planted", True, 1.0)
    assert (clean["template"], clean["over"], clean["points"]) == ("clean", False, -1.0)


def test_the_table_says_which_rule_and_what_it_earns(specs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["probe", str(specs), "--k", "40", "--jobs", "1", "-q"]) == 1
    out = capsys.readouterr().out
    lines = out.splitlines()
    assert lines[0].split()[:2] == ["template", "accuracy"]
    assert lines[1].startswith("planted      100 %")
    assert " over " in lines[1]
    assert lines[-1] == "2 templates probed, 1 over the limit, 0 of them allowed"
    assert max(map(len, lines)) <= 130


def test_a_template_that_allows_its_shortcut_passes(specs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = PLANTED.replace("allow: {", "allow: {shortcut: finding the longest word is the task, ")
    (specs / "planted.yaml").write_text(text, encoding="utf-8")
    assert run(["probe", str(specs), "--k", "40", "--jobs", "1", "-q"]) == 0
    assert "1 over the limit, 1 of them allowed" in capsys.readouterr().out
    assert run(["check", str(specs), "--strict", "--jobs", "1", "-q"]) == 0


def test_a_strict_check_warns(specs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", str(specs), "--jobs", "1"]) == 0
    assert "shortcut" not in capsys.readouterr().err
    assert run(["check", str(specs), "--strict", "--jobs", "1"]) == 1
    warning = capsys.readouterr().err
    assert "planted.yaml:9:" in warning
    assert "a model can answer without understanding the question" in warning
    assert "allow: {shortcut: reason}" in warning


ROW = """template: {name}
title: A sum
params:
  n: {{type: integer, min: 1, max: {most}}}
  m: {{type: integer, min: 100, max: 999}}
each: n
answer: {{value: n + m, type: integer}}
checks: [answer - m == n]
prompt: What is {{{{ n }}}} plus {{{{ m }}}}?
"""
COIN = """template: coin
title: A coin
params: {side: {type: choice, of: [heads, tails]}}
answer: {value: side, type: text}
prompt: Which side is {{ side }}?
"""


def test_what_is_skipped_is_counted_with_the_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["new", "mine", "--benchmark", "--sessions", "-o", str(tmp_path)]) == 0
    for name, most in {"many": 45, "few": 19}.items():
        (tmp_path / "mine" / f"{name}.yaml").write_text(ROW.format(name=name, most=most), encoding="utf-8")
    (tmp_path / "mine" / "coin.yaml").write_text(COIN, encoding="utf-8")
    capsys.readouterr()
    assert run(["probe", str(tmp_path / "mine"), "--k", "40", "--jobs", "1", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert not list(faults("probe", printed))
    assert [(one["template"], one["instances"]) for one in printed["templates"]] == [
        ("many", 20)
    ]  # one half of 40 items
    sessions = "sessions, whose answers depend on the model's replies"
    few, coin = (
        "fewer than 20 items, too few to learn rules from",
        "fewer than 20 instances, too few to learn rules from",
    )
    assert {one["template"]: one["why"] for one in printed["skipped"]} == {
        "coin": coin, "few": few, "first_template": sessions
    }  # fmt: skip
    assert run(["probe", str(tmp_path / "mine"), "--k", "40", "--jobs", "1", "-q"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-4:] == ["3 templates skipped:", f"  {coin}: coin", f"  {few}: few", f"  {sessions}: first_template"]


def test_errors_of_specs_come_first(specs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (specs / "clean.yaml").write_text(CLEAN.replace("n * m", "n *"), encoding="utf-8")
    assert run(["probe", str(specs), "--k", "40", "--jobs", "1"]) == 2
    assert "clean.yaml:6:" in capsys.readouterr().err


WAY_OUT = """template: way_out
title: A sum that may lack a number
params:
  answerable: {type: boolean}
  n: {type: integer, min: 100, max: 999}
  m: {type: integer, min: 100, max: 999}
  p: {type: integer, min: 100, max: 999}
answer: {value: n * (m if answerable else p), type: integer, unanswerable: not answerable}
checks: [answer % n == 0]
prompt: "WORDS A box weighs {{ n }} grams. How heavy are {{ m if answerable else p }} boxes?"
allow: {answer-ignores-parameter: it makes a word}
"""


@pytest.mark.parametrize("learned", ["{{ 'All' if answerable else 'Few' }} boxes are alike.", "All boxes are alike."])
@pytest.mark.long
def test_a_word_that_shows_that_a_question_is_unanswerable_is_over(
    tmp_path: Path, learned: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "benchmark.yaml").write_text("language: 2\nbenchmark: mine\n", encoding="utf-8")
    (tmp_path / "way_out.yaml").write_text(WAY_OUT.replace("WORDS", learned), encoding="utf-8")
    is_over = "answerable" in learned
    assert run(["probe", str(tmp_path), "--k", "200", "--json"]) == int(is_over)
    (one,) = json.loads(capsys.readouterr().out)["templates"]
    assert one["over"] == is_over and one["rule"].startswith("answerable or not: ")
    # the abstention is right in half of the instances, which is no shortcut
    assert one["limit"] == 0.55 and (one["accuracy"]["value"] == 1.0) == is_over
    assert run(["check", str(tmp_path), "--strict"]) == int(is_over)
    assert ("answered the same words, length and order" in capsys.readouterr().err) == is_over


def test_unanswerable_instances_have_no_median_answer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "benchmark.yaml").write_text("language: 2\nbenchmark: mine\n", encoding="utf-8")
    (tmp_path / "way_out.yaml").write_text(WAY_OUT.replace("WORDS", "All."), encoding="utf-8")
    assert run(["preview", str(tmp_path / "way_out.yaml"), "--stress", "40", "--json"]) == 0
    (one,) = json.loads(capsys.readouterr().out)["templates"]
    by_answerable = {row["from"]: row["answer"] for row in one["stress"]["answerable"]}
    assert by_answerable["False"] is None and by_answerable["True"] > 0


def test_a_kind_of_question_that_is_too_frequent_is_to_be_balanced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "benchmark.yaml").write_text("language: 2\nbenchmark: mine\n", encoding="utf-8")
    (tmp_path / "doubles.yaml").write_text(
        "template: doubles\ntitle: Doubles\n"
        "params: {n: {type: integer, min: 100, max: 999}, kind: {type: choice, of: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]}}\n"
        "answer: {value: 2 * n, type: integer, unanswerable: kind == 1}\n"
        "prompt: What is twice {{ n }}?\n",
        encoding="utf-8",
    )
    assert run(["check", str(tmp_path), "--strict", "--jobs", "1", "-q"]) == 1
    err = capsys.readouterr().err
    assert "a simple rule (answerable or not: always `answerable`) is right in " in err
    assert "help: make about half of the instances unanswerable; if a `where` rejects one kind more often, use " in err


def test_naive_bayes_names_the_words_that_tell_questions_apart(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "benchmark.yaml").write_text("language: 2\nbenchmark: mine\n", encoding="utf-8")
    (tmp_path / "books.yaml").write_text(
        "template: books\ntitle: Books\n"
        "params:\n"
        "  pair: {type: permutation, of: [Ann, Bo, Cy]}\n"
        "  n: {type: integer, min: 11, max: 99}\n  m: {type: integer, min: 11, max: 99}\n"
        "  answerable: {type: boolean}\n"
        "answer: {value: n + m, type: integer, unanswerable: not answerable}\n"
        'prompt: "{{ pair[0] }} has {{ n }} books more than {{ pair[1] }}.'
        ' {{ pair[1] if answerable else pair[2] }} has {{ m }} books. How many has {{ pair[0] }}?"\n',
        encoding="utf-8",
    )
    assert run(["probe", str(tmp_path), "--k", "200", "--json"]) == 1
    (one,) = json.loads(capsys.readouterr().out)["templates"]
    title, _, named = one["rule"].partition(", mainly ")
    assert title == "answerable or not: naive Bayes on words and adjacent words"
    assert len({"`Ann Ann`", "`Bo Bo`", "`Cy Cy`"} & set(named.split(", "))) >= 2
