"""Sessions: what is frozen as text, what as stored code, what a question must not show, and how the truth is kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from dia_compiler import compile
from dia_compiler.analyze.check import check
from dia_compiler.analyze.prepare import prepare
from dia_compiler.analyze.settings import settings_of
from dia_compiler.authoring.session_preview import shown_sessions, stand_in
from dia_compiler.generate.bundle_rows import answer_record, question_record
from dia_compiler.generate.expansions import expansion_of
from dia_compiler.generate.session_expand import SessionExpansion
from dia_compiler.parse.discover import discover
from dia_language.diagnostics import DiaError, Diagnostics
from dia_language.expressions.replies import SessionReply
from dia_language.numbers.values import Record
from dia_language.stored.stored_code import load_code
from dia_runtime.bundle.canonical import canonical_line
from dia_runtime.bundle.session_records import read_sessions
from dia_runtime.formats.replies import read_reply, write_reply
from helpers.places import ROOT
from helpers.small_specs import written
from jsonschema import Draft202012Validator

SCHEMAS = ROOT / "schemas"
ROWS = "".join(
    json.dumps({"q": f"Question {n}?", "answer": f"secret {n}", "options": ["a", f"b{n}"]}) + "\n" for n in range(9)
)

WORDS = """
template: talk
title: What is said about words
params:
  n: {type: integer, min: 1, max: 99}
  rows: {type: rows, from: data.jsonl, size: 2}
let:
  long: length(first) > n
functions: {told(x): "x + ' ' + first"}
macros: {shout(x): "<{{ x }}{{ first }}>"}
slots: {aside: ""}
sessions:
  last:
    over: rows
    as: row
    turns:
      - user: "{{ row.q }} {{ aside }}"
        reply: {name: each, format: label, of: "= ['a', f'b{n}']"}
      - user: "{{ index }}: {{ row.q }} {{ shout('!') }} {{ told('x') }} {{ n }} {{ format_instruction }}"
        when: long
        reply: {name: more, format: text, limit: 40}
  first:
    system: Be {{ n }}.
    settings: {temperature: 0.5, stop: [END]}
    turns:
      - user: |
          Say {{ n }} {{ aside }}

          {% for row in rows %}
          - {{ row.q }}
          {% endfor %}
        assistant: "Well "
        reply: {name: first, format: text}
      - over: range(3)
        as: k
        until: again[-1] == "B"
        user: "{{ k }} of {{ n }}"
        reply: {name: again, format: letter, of: [A, B]}
grade:
  correct: (each[0] == "a" or each[0] != rows[0].answer) and again != []
figures:
  longer:
    value: length(more[0])
    where: answered(more[0])
    summary: mean
variants:
  noisy: {append: "{{ z }} {% raw %}{{ x }} {% y %}{% endraw %}", prepend: Start, slots: {aside: (by the way)}, let: {z: n + 1}}
  only: {append: End., sessions: [last]}
"""


def expanded(folder: Path, template: str, **files: str) -> SessionExpansion:
    checked = check(discover([written(folder, template, **files)]))
    if checked.diagnostics.errors:
        raise DiaError(checked.diagnostics.errors)
    item = checked.benchmarks[0]
    faults = Diagnostics()
    prepared = prepare(item.clean[0], item.benchmark, faults, item.lists_of(item.clean[0]))
    made = expansion_of(prepared, settings_of(item.benchmark, item.clean[0], "0"))
    assert isinstance(made, SessionExpansion) and not faults.entries
    return made


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Question and answer of the first instance in its three wordings."""
    expansion = expanded(tmp_path_factory.mktemp("talk"), WORDS, data_jsonl=ROWS)
    instances = list(expansion.questions(1))
    return [(question_record(i, expansion, None), answer_record(i, expansion, "x", None)) for i in instances]


def parts(question: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {session["name"]: session for session in question["sessions"]}


def test_records_are_as_their_schemas_say_and_as_a_run_reads_them(made: list[Any]) -> None:
    for question, answer in made:
        for record, name in ((question, "question"), (answer, "answer")):
            schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8"))
            assert [fault.message for fault in Draft202012Validator(schema).iter_errors(record)] == []
        canonical_line(question)
        assert [session.name for session in read_sessions(question)] == ["first", "last"]
        assert "messages" not in question and question["format"] == {"kind": "sessions", "skip": "I-DO-NOT-KNOW"}
        assert answer["comparison"] == {"type": "sessions"} and answer["answer"] is None and answer["text"] == ""


def test_sessions_stand_behind_those_that_they_read(made: list[Any]) -> None:
    sessions = parts(made[0][0])
    assert list(sessions) == ["first", "last"]
    assert [sessions[name]["needs"] for name in sessions] == [[], ["first"]]


def test_what_needs_no_reply_is_frozen_text(made: list[Any]) -> None:
    question, answer = made[0]
    n = answer["parameters"]["n"]
    rows = [row["record"] for row in answer["parameters"]["rows"]]
    first, last = parts(question)["first"], parts(question)["last"]
    assert first["system"] == f"Be {n}."
    assert first["turns"][0]["user"] == f"Say {n} \n\n- {rows[0]['q']}\n- {rows[1]['q']}"
    assert first["turns"][0]["assistant"] == "Well "
    assert first["turns"][1]["user"] == {"each": [f"{k} of {n}" for k in range(3)]}
    assert first["settings"] == {"temperature": {"decimal": "0.5"}, "stop": ["END"]}
    assert last["turns"][0]["user"] == {"each": [f"{row['q']} " for row in rows]}
    assert last["turns"][0]["reply"] == {
        "name": "each",
        "format": {"kind": "label", "of": ["a", f"b{n}"], "rules": 2},
        "limit": 20000,
    }
    assert last["turns"][1]["reply"]["limit"] == 40


def test_what_needs_a_reply_is_stored_code_that_renders_by_itself(made: list[Any]) -> None:
    question, answer = made[0]
    n, row = answer["parameters"]["n"], answer["parameters"]["rows"][1]["record"]
    turn = parts(question)["last"]["turns"][1]
    text = load_code(turn["user"]).render({"index": 1, "row": Record(q=row["q"]), "first": SessionReply("tea", "tea!")})
    assert text == f"1: {row['q']} <!tea!> x tea {n} "
    assert load_code(turn["when"]).evaluate({"first": SessionReply("t" * 100, "")}) is True
    assert parts(question)["first"]["turns"][1]["until"] == {"expression": 'again[-1] == "B"', "replies": ["again"]}


def test_a_question_shows_no_more_of_a_value_than_its_code_reads(made: list[Any]) -> None:
    for question, answer in made:
        assert "secret" not in json.dumps(question) and "secret" in json.dumps(answer["truth"])
    rows = parts(made[0][0])["last"]["over"]
    assert [set(row["record"]) for row in rows] == [{"q"}, {"q"}]
    assert parts(made[0][0])["first"]["turns"][1]["over"] == [None] * 3  # its texts are all frozen


def test_variants_word_the_first_turn_of_the_subject_and_keep_the_truth(made: list[Any]) -> None:
    plain, noisy, only = (parts(question) for question, _ in made)
    n = made[0][1]["parameters"]["n"]
    end = f"{n + 1} {{{{ x }}}} {{% y %}}"
    said = noisy["first"]["turns"][0]["user"]
    assert said.startswith(f"Start\n\nSay {n} (by the way)\n") and said.endswith(f"?\n\n{end}")
    assert noisy["first"]["turns"][1] == plain["first"]["turns"][1]
    assert all(text.endswith(f"(by the way)\n\n{end}") for text in noisy["last"]["turns"][0]["user"]["each"])
    assert only["first"] == plain["first"] and only["last"]["turns"][0]["user"]["each"][0].endswith("\n\nEnd.")
    for name in ("truth", "figures", "replies"):
        assert made[0][1][name] == made[1][1][name] == made[2][1][name]


def test_the_truth_has_what_grading_needs(made: list[Any]) -> None:
    answer = made[0][1]
    assert answer["truth"]["grade"]["correct"]["replies"] == ["again", "each"]
    assert answer["figures"] == {
        "longer": {"summary": "mean", "value": {"expression": "length(more[0])", "replies": ["more"]},
                   "where": {"expression": "answered(more[0])", "replies": ["more"]}}
    }  # fmt: skip
    assert answer["replies"]["more"] == {"session": "last", "turn": 1, "format": {"kind": "text", "rules": 2}}


def test_no_tag_of_ours_is_left_in_frozen_text(made: list[Any]) -> None:
    frozen = [text for question, _ in made for text in texts(question["sessions"]) if "{{ x }}" not in text]
    assert len(frozen) > 10 and not [text for text in frozen if "{{" in text or "{%" in text]


def texts(held: Any) -> list[str]:
    """Every frozen text of sessions."""
    if isinstance(held, dict):
        if "template" in held or "expression" in held:
            return []
        return [
            text for name, part in held.items() if name not in ("over", "settings", "share") for text in texts(part)
        ]
    return (
        [text for part in held for text in texts(part)]
        if isinstance(held, list)
        else [held]
        if isinstance(held, str)
        else []
    )


def test_a_preview_shows_who_reads_what_with_stand_ins(made: list[Any]) -> None:
    first, last = shown_sessions(made[0][0]["sessions"])
    assert (first["name"], first["reads"], last["reads"]) == ("first", {}, {"first": "first"})
    assert any("<!‹first›> x ‹first›" in turn["text"] for turn in last["turns"])
    assert "once for each of 2 values (`row`)" in last["notes"] and "temperature 1/2" not in first["notes"]


@pytest.mark.parametrize(
    "format",
    [
        {"kind": "text"}, {"kind": "lines", "count": 3}, {"kind": "subset", "of": ["a", "b"]},
        {"kind": "ranking", "of": ["a", "b"]}, {"kind": "flags", "of": ["a", "b"]},
        {"kind": "json", "fields": {"a": "text", "b": {"list": "text", "length": 2}, "c": "boolean", "d": "integer"}},
    ],
    ids=lambda format: format["kind"],
)  # fmt: skip
def test_a_stand_in_is_a_value_of_its_format(format: dict[str, Any]) -> None:
    value = stand_in("x", format)
    assert read_reply(write_reply(value, format), format).value == value


# One text, one question


TWINS = """
template: twins
title: Two instances that ask the same
params: {n: {type: integer, min: 1, max: 9}}
sessions: {ask: {turns: [{user: Well?, reply: {name: said, format: text}}]}}
grade: {correct: "said == f'{n}'"}
"""


def test_instances_that_ask_the_same_are_one_question(tmp_path: Path) -> None:
    with pytest.raises(DiaError, match="are the same question"):
        compile([written(tmp_path / "spec", TWINS)], k=2, out=tmp_path / "out", jobs=1)


def test_a_variant_may_not_change_the_truth(tmp_path: Path) -> None:
    spec = TWINS.replace("Well?", "'{{ n }}'") + "variants: {other: {redraw: [n]}}\n"
    with pytest.raises(DiaError, match="is graded differently from its instance"):
        compile([written(tmp_path / "spec", spec)], k=2, out=tmp_path / "out", jobs=1)


def test_a_parameter_that_nothing_uses_is_a_warning(tmp_path: Path) -> None:
    spec = TWINS.replace("{n:", "{m: {type: integer, min: 1, max: 9}, n:").replace("Well?", "'{{ n }}'")
    checked = check(discover([written(tmp_path, spec)]))
    assert [entry.code for entry in checked.diagnostics.entries] == ["unused-parameter"]


# A judge beside a prompt


JUDGED = """
template: free
title: A free answer
params: {n: {type: integer, min: 1, max: 50}}
prompt: Why is {{ n }} a number?
grade:
  judge:
    prompt: "Right is {{ reference }}. {{ quoted(response) }} {{ format_instruction }}"
    reference: f"because {n}"
    settings: {temperature: 0}
    labels: {correct: [RIGHT], skipped: [NONE], wrong: [FALSE_]}
    fallback: f"{n}" in response   # no label, no judge
variants: {pushy: {append: "I think so."}}
examples:
  - params: {n: 7}
    replies:
      correct: [{response: it is, verdict: RIGHT}, {response: x7}]
      wrong: [{response: dunno, verdict: FALSE_}, {response: x}]
      skipped: [{response: " I-DO-NOT-KNOW "}, {response: hm, verdict: NONE}]
      unparsed: []
"""


def test_a_judge_beside_a_prompt_is_two_sessions(tmp_path: Path) -> None:
    bundle = compile([written(tmp_path / "spec", JUDGED)], k=1, out=tmp_path / "out", jobs=1).bundles[0].path
    plain, pushy = map(json.loads, (bundle / "questions.jsonl").read_text().splitlines())
    ask, judge = plain["sessions"]
    assert (ask["role"], judge["role"], judge["needs"]) == ("subject", "judge", ["ask"])
    assert ask["turns"][0]["user"].startswith("Why is ") and "I-DO-NOT-KNOW" in ask["turns"][0]["user"]
    assert "\n\nI think so.\n\n" in pushy["sessions"][0]["turns"][0]["user"] and pushy["sessions"][1] == judge
    said = load_code(judge["turns"][0]["user"]).render({"response": SessionReply("{{ n }}", "{{ n }}")})
    assert said.startswith("Right is because ") and "\n{{ n }}\n" in said and "RIGHT, NONE, FALSE_" in said


def test_without_a_fallback_a_reply_whose_judge_says_no_label_is_unparsed(tmp_path: Path) -> None:
    spec = "".join(line for line in JUDGED.splitlines(keepends=True) if "fallback" not in line)
    spec = spec.replace(", {response: x7}", "").replace(", {response: x}", "")
    spec = spec.replace("unparsed: []", "unparsed: [{response: x7, verdict: eh}, {response: x7}]")
    compile([written(tmp_path / "spec", spec)], k=1, out=tmp_path / "out", jobs=1)


# Another way to count


PRESETS = (
    TWINS.replace("Well?", "'{{ n }}'")
    + """
presets:
  paper: {study: self-execution-2, chain: compat, grade: {correct: "said != ''"}, figures: {f: {value: "1", summary: count}}}
  other: {study: self-execution-1}
"""
)


def test_presets_are_kept_beside_the_truth(tmp_path: Path) -> None:
    expansion = expanded(tmp_path, PRESETS)
    answer = answer_record(next(expansion.questions(1)), expansion, "x", None)
    assert answer["presets"] == {
        "paper": {
            "study": "self-execution-2", "chain": "compat",
            "truth": {"grade": {"correct": {"expression": "said != ''", "replies": ["said"]}}},
            "figures": {"f": {"summary": "count", "value": {"expression": "1"}}},
        },
        "other": {"study": "self-execution-1"},
    }  # fmt: skip


# The same bytes


def test_jobs_and_k_change_no_byte_of_a_question(tmp_path: Path) -> None:
    folder = written(tmp_path / "spec", WORDS, data_jsonl=ROWS)
    made = [
        compile([folder], k=k, out=tmp_path / f"out{k}{jobs}", jobs=jobs).bundles[0].path
        for k, jobs in ((2, 1), (2, 2), (4, 1))
    ]
    lines = [(path / "questions.jsonl").read_text().splitlines() for path in made]
    assert lines[0] == lines[1] == lines[2][: len(lines[0])]


ASSETS = """
template: noted
title: A note in every turn, and an item for every word
params:
  word: {type: choice, of: [sea, bread]}
  n: {type: integer, min: 1, max: 5}
each: word
instances: all
assets: {note: {build: text, text: "N{{ n }}"}}
sessions:
  ask:
    turns:
      - user: "{{ word }} {{ note }}"
        reply: {name: x, format: text}
      - user: "{{ x }} {{ note }}"
        reply: {name: y, format: text}
grade: {correct: x == y}
"""


def test_assets_stand_in_the_texts_and_items_are_as_in_other_templates(tmp_path: Path) -> None:
    expansion = expanded(tmp_path, ASSETS)
    instances = list(expansion.questions(2))
    assert [instance.item.name for instance in instances] == ["sea"] * 5 + ["bread"] * 5
    first, second = question_record(instances[0], expansion, None)["sessions"][0]["turns"]
    n = instances[0].parameters["n"]
    assert first["user"] == f"sea N{n}"
    assert load_code(second["user"]).render({"x": SessionReply("a", "a")}) == f"a N{n}"


SHARED = """
template: shared
title: Asked once for all questions with the key
params: {rows: {type: rows, from: data.jsonl, size: 2}}
sessions:
  single:
    over: rows
    as: row
    share: row.q
    turns:
      - user: "{{ row.q }}"
        reply: {name: x, format: text}
  whole:
    turns:
      - user: "{% for row in rows %}{{ row.q }} {% endfor %}"
        reply: {name: y, format: text}
grade:
  correct: x != [] and y != ''
"""


def test_what_is_shared_has_one_key_and_other_words_have_another(tmp_path: Path) -> None:
    def keys(folder: str, spec: str) -> list[list[str]]:
        expansion = expanded(tmp_path / folder, SHARED + spec, data_jsonl=ROWS)
        questions = [question_record(instance, expansion, None) for instance in expansion.questions(1)]
        return [parts(question)["single"]["share"]["keys"] for question in questions]

    (plain,) = keys("plain", "")
    assert all(key.startswith("Question ") and "#" not in key for key in plain)
    base, same, other = keys("worded", "variants: {a: {append: Hm., sessions: [whole]}, b: {append: Please.}}")
    assert base == same != other and [key.partition("#")[0] for key in other] == plain


# What an author may ask for has bounds


LISTS = """
template: lists
title: Lists without end
params: {n: {type: integer, min: 1, max: 5}}
sessions:
  ask:
    over: OUTER
    as: k
    turns:
      - user: "{{ n }} {{ k }} {{ j }}"
        over: INNER
        as: j
        reply: {name: x, format: text}
grade: {correct: x == n}
"""


@pytest.mark.parametrize(
    ("outer", "inner", "words"),
    [
        ("range(1001)", "range(1)", "`over` has 1,001 elements"),
        ("range(1000)", "range(11)", "asks the model more than 10,000 times"),
        ("n", "range(2)", "`over` must be a list"),
        ("range(2)", "10**10**9", "exponent too large"),
    ],
)
def test_a_question_that_asks_without_end_is_refused(outer: str, inner: str, words: str, tmp_path: Path) -> None:
    expansion = expanded(tmp_path, LISTS.replace("OUTER", outer).replace("INNER", inner))
    with pytest.raises(DiaError, match=words):
        next(expansion.questions(1))
