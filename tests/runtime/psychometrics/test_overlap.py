"""`dia overlap` compares what questions ask, not what their benchmarks say around them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from dia_compiler import compile as compile_spec
from dia_compiler.authoring.scaffold import new_benchmark
from dia_runtime.bundle.open import open_bundle
from dia_runtime.psychometrics import question_text
from dia_runtime.psychometrics.overlap import OverlapResult, overlap
from dia_runtime.psychometrics.question_text import OwnTexts

SUMS = """
template: add
title: Sums
params: {a: {type: integer, min: 2, max: 900}, b: {type: integer, min: 2, max: 900}}
answer: {value: a + b, type: integer}
prompt: "What is {{ a }} plus {{ b }}?"
"""
AREAS = """
template: area
title: Areas
params: {side: {type: integer, min: 2, max: 900}}
answer: {value: side * side, type: integer}
prompt: |
  A square field has sides of {{ side }} metres, and a farmer wants to sow all of it.

  How large is it in square metres?
"""
SESSIONS = """
template: talk
title: Talk
params: {side: {type: integer, min: 2, max: 900}}
sessions:
  asked:
    turns:
      - user: "Does the number {{ side }} remind you of fish (A) or of birds (B)? {{ format_instruction }}"
        reply: {name: first, format: letter, of: [A, B]}
grade: {skipped: not answered(first), correct: first == "A"}
"""
WRAPPER = """prompt: |
  Read this question.
  {% if points.wrong < 0 %}Mistakes cost {{ points.wrong }}.{% endif %}

  {{ challenge }}

  Now answer it.
  - {{ format_instruction }}
  - Or write {{ skip_token }}.
points: {correct: 1, skipped: 0, wrong: -0.5}
"""
BARE = 'prompt: "{{ challenge }}"\npoints: {correct: 1, skipped: 0, wrong: -0.5}\n'


def bundle(folder: Path, template: str, wrapper: str = "", k: int = 20) -> Path:
    """The bundle of a benchmark with one template, with the wrapper that `dia new` writes unless another is given."""
    name = folder.name
    if wrapper:
        folder.mkdir(parents=True, exist_ok=True)
        head = f"language: 2\nbenchmark: {name}\nversion: 0.1.0\n"
        (folder / "benchmark.yaml").write_text(head + wrapper, encoding="utf-8")
    else:
        new_benchmark(name, folder.parent)
        (folder / "first_template.yaml").unlink()
    (folder / "template.yaml").write_text(template, encoding="utf-8")
    return compile_spec([folder], k=k, out=folder.parent / "build").bundles[0].path


def in_text(folder: Path, text: str, path: Path, **options: Any) -> OverlapResult:
    (folder / "texts.txt").write_text(text, encoding="utf-8")
    return overlap(path, [folder / "texts.txt"], **options)


def test_unrelated_benchmarks_with_the_same_wrapper_do_not_overlap(tmp_path: Path) -> None:
    sums, areas = bundle(tmp_path / "sums", SUMS), bundle(tmp_path / "areas", AREAS)
    assert overlap(sums, [areas]).hits == overlap(areas, [sums]).hits == []
    assert overlap(areas, [areas]).exact == 20
    told = [question["messages"][0]["content"] for question in open_bundle(sums).questions()]
    assert in_text(tmp_path, json.dumps(told), areas).hits == []
    assert in_text(tmp_path, json.dumps(told), sums).exact == 20  # each is somewhere in the text


def test_a_short_question_is_found_word_for_word(tmp_path: Path) -> None:
    sums = bundle(tmp_path / "sums", SUMS)
    first, second, *_ = [next(OwnTexts(open_bundle(sums)).of(one)) for one in open_bundle(sums).questions()]
    assert first.startswith("What is ") and first.endswith("?") and len(first.split()) == 5
    result = in_text(tmp_path, f"{first}\nQ: {second} (2 points)\n{second[:-1]}0?\n", sums)
    assert [(hit.question, hit.text, hit.exact) for hit in result.hits] == [
        ("sums/add/0", "texts.txt:1", True),
        ("sums/add/1", "texts.txt:2", True),
    ]
    assert in_text(tmp_path, first, sums, size=50).exact == 1


def test_a_question_with_another_number_shares_most_of_its_text(tmp_path: Path) -> None:
    areas = bundle(tmp_path / "areas", AREAS, k=1)
    text = " ".join(" ".join(OwnTexts(open_bundle(areas)).of(next(open_bundle(areas).questions()))).split())
    number = next(word for word in text.split() if word.isdigit())
    (hit,) = in_text(tmp_path, text.replace(number, "1234"), areas).hits
    # 24 words have 20 runs of five, and five of these contain the number
    assert (hit.exact, hit.share) == (False, 0.75)


@pytest.mark.parametrize("wrapper", ["points: {correct: 1, skipped: 0, wrong: -0.5}\n", WRAPPER])
@pytest.mark.parametrize("is_older", [False, True])
def test_own_texts_are_those_of_the_same_spec_without_a_wrapper(
    wrapper: str, is_older: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if is_older:  # bundles of older rules have another sentence, which is not known any more
        monkeypatch.setattr(question_text, "RULES", question_text.RULES + 1)
    wrapped, bare = bundle(tmp_path / "areas", AREAS, wrapper), bundle(tmp_path / "bare" / "areas", AREAS, BARE)
    expected = [[message["content"] for message in one["messages"]] for one in open_bundle(bare).questions()]
    opened = open_bundle(wrapped)
    assert [list(OwnTexts(opened).of(question)) for question in opened.questions()] == expected


def test_without_the_wrapper_a_text_ends_before_the_instructions(tmp_path: Path) -> None:
    wrapper = WRAPPER.replace("Now answer it.", "Now answer it: {{ tips[0] }}") + "lists: {tips: [think twice]}\n"
    opened = open_bundle(bundle(tmp_path / "areas", AREAS, wrapper, k=1))
    (text,) = OwnTexts(opened).of(next(opened.questions()))
    assert text.startswith("Read this question.") and text.endswith("How large is it in square metres?")


def test_what_all_templates_say_around_a_question_is_no_part_of_it(tmp_path: Path) -> None:
    wrapper = WRAPPER.replace("{{ challenge }}", "{{ challenge }}\n\n  Think {{ tips[0] }}.")
    (tmp_path / "both").mkdir()
    (tmp_path / "both" / "areas.yaml").write_text(AREAS, encoding="utf-8")
    (tmp_path / "both" / "talk.yaml").write_text(SESSIONS, encoding="utf-8")
    opened = open_bundle(bundle(tmp_path / "both", SUMS, f"{wrapper}lists: {{tips: [twice]}}\n", k=1))
    (add,), (area,), (talk,) = (OwnTexts(opened).of(question) for question in opened.questions())
    assert area.startswith("A square field ") and area.endswith("How large is it in square metres?")
    assert add.startswith("What is ") and add.endswith("?")
    assert talk.startswith("Does the number ")


def test_sessions_are_compared_by_what_their_turns_say(tmp_path: Path) -> None:
    talks = bundle(tmp_path / "talks", SESSIONS, k=2)
    opened = open_bundle(talks)
    texts = ["".join(OwnTexts(opened).of(question)) for question in opened.questions()]
    assert all(text.startswith("Does the number ") and text.endswith("or of birds (B)? ") for text in texts)
    assert in_text(tmp_path, texts[0], talks, least=0.9).exact == 1
    assert overlap(talks, [bundle(tmp_path / "areas", AREAS)]).hits == []
