from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dia_runtime
import pytest
from dia_runtime.respondents.baselines import pick_by_hash
from dia_runtime.respondents.registry import BASELINES
from dia_runtime.respondents.respondent import Truth
from dia_runtime.store.store import read_store

Make = Callable[..., Path]


def counts(bundle: Path, model: str) -> dict[str, int]:
    path = bundle.parent / f"{model}.run"
    dia_runtime.run(bundle, [model], path)
    found: dict[str, int] = dia_runtime.score(path)["models"][0]["counts"]
    return {verdict: number for verdict, number in found.items() if number}


def test_the_oracle_is_always_right(tiny: Make) -> None:
    assert counts(tiny(), "oracle") == {"correct": 6}


def test_abstaining_is_always_skipping(tiny: Make) -> None:
    assert counts(tiny(), "abstain") == {"skipped": 6}


def test_wrong_is_always_wrong(tiny: Make) -> None:
    assert counts(tiny(), "wrong") == {"wrong": 6}


def test_wrong_finds_something_wrong_without_mistakes_or_other_instances(tiny: Make) -> None:
    # 7 + 1 with one instance: 7 * 1 is a mistake; templates of one instance have no other truth.
    assert counts(tiny(templates=3, k=1), "wrong") == {"wrong": 3}


def test_guesses_are_truths_of_other_instances(tiny: Make) -> None:
    bundle = tiny(templates=2, k=5)
    assert counts(bundle, "guess") == {"wrong": 10}
    truths = {answer["id"]: answer["text"] for answer in dia_runtime.open_bundle(bundle).answers()}
    with read_store(bundle.parent / "guess.run") as store:
        for question, reply in store.replies(1):
            others = {truths[f"tiny/{question.item}/{i}"] for i in range(5) if i != question.instance}
            assert reply.text in {f"<xml>{text}</xml>" for text in others}


def truth(texts: dict[int, str], is_wrong: Callable[[str], bool] = lambda reply: False) -> Truth:
    record: dict[str, Any] = {"text": "A", "mistakes": {}}
    return Truth(
        "0",
        lambda id: record,
        lambda item: texts,
        lambda text, format: text,
        lambda r, reply, f: is_wrong(reply),
    )


def asked(format: dict[str, Any], instance: int = 0) -> dict[str, Any]:
    return {"id": "b/t/0", "item": "t", "instance": instance, "format": format}


def test_a_single_instance_is_guessed_from_the_options() -> None:
    guess = BASELINES["guess"](truth({0: "A"}))
    said = {guess.reply({**asked({"options": ["A", "B", "C"]}), "id": str(at)}).text for at in range(60)}
    assert said == {"A", "B", "C"}
    assert guess.reply(asked({})).text == "unknown"


def test_the_choice_is_that_of_the_digest() -> None:
    digest = int(hashlib.sha256(b"seed\nb/t/0").hexdigest(), 16)
    assert pick_by_hash(list("ABCDEFG"), "seed", "b/t/0") == "ABCDEFG"[digest % 7]


def test_two_runs_guess_alike(tiny: Make, tmp_path: Path) -> None:
    bundle = tiny(templates=2, k=5)
    said = []
    for name in ("a.run", "b.run"):
        dia_runtime.run(bundle, ["guess"], tmp_path / name)
        with read_store(tmp_path / name) as store:
            said.append([reply.text for _, reply in store.replies(1)])
    assert said[0] == said[1] and len(set(said[0])) > 1


def test_wrong_takes_the_first_candidate_that_the_grader_refuses() -> None:
    format = {"options": ["A", "B"]}
    wrong = BASELINES["wrong"](truth({0: "A", 1: "C"}, lambda reply: reply not in ("A", "C")))
    assert wrong.reply(asked(format)).text == "B"


def test_where_everything_is_right_wrong_says_so_and_not_something_right() -> None:
    reply = BASELINES["wrong"](truth({0: "A"})).reply(asked({}))
    assert reply.text is None and "no wrong answer" in (reply.error or "")


def test_abstaining_uses_the_token_of_the_format() -> None:
    assert BASELINES["abstain"](truth({})).reply(asked({"skip": "E"})).text == "E"


@pytest.mark.parametrize("name", BASELINES)
def test_the_table_names_its_respondents(name: str) -> None:
    respondent = BASELINES[name](truth({}))
    assert respondent.name == respondent.model == name
