"""A scripted model for the templates of specs/self_execution, and the figures that it must come to."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from itertools import combinations
from typing import Any

import pytest
from aiohttp import web
from helpers import loopback as loop
from helpers.places import ROOT

SPECS = ROOT / "specs" / "self_execution"


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (SPECS / "data" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


WORDS, REQUESTS, QUESTIONS, GROUPS = (rows(name) for name in ("association", "requests", "questions", "groups"))
ALWAYS = ["fog", "amber", "kettle"]
KNOWN = {question["id"]: at % 4 != 3 for at, question in enumerate(QUESTIONS)}  # which it answers rightly
DECLINED = ("cannot", "private")


def letter_of(question: Mapping[str, Any]) -> str:
    return question["answer"] if KNOWN[question["id"]] else "BCDA"["ABCD".index(question["answer"])]


def tokens_of(question: Mapping[str, Any]) -> int:
    return len(question["id"])


def jars(text: str) -> int:
    start, sold, price, fee = map(int, re.findall(r"[0-9]+", text)[:4])
    return (start - sold) * price - fee


def persona(messages: list[Mapping[str, Any]]) -> tuple[str, int | None]:
    """What it says to a conversation, and how many tokens that is where it matters."""
    last = str([message for message in messages if message["role"] == "user"][-1]["content"])
    if "jars of honey" in last:
        return honey(messages, last)
    if "which five words" in last.lower() or "for the five words" in last:
        return associations(last), None
    if "Reply in one sentence" in last:
        return greeting(last), None
    if "Write a multiple-choice question" in last:
        made = {"question": "Which is it?", "options": ["a", "b", "c", "d"], "key": "B", "explanation": "I forget."}
        return json.dumps(made), None
    if "Which is it?" in last:
        return ("MOMENT" if "What kind of question" in last else "Answer: C"), None
    if "Sort their labels by" in last:
        return "Q1, Q2, Q3, Q4", 7
    if "Another language model is asked" in last:
        return "Answer: A", None
    for question in QUESTIONS:
        if question["question"] in last:
            return f"Answer: {letter_of(question)}", tokens_of(question)
    return request(last), None


def honey(messages: list[Mapping[str, Any]], last: str) -> tuple[str, int | None]:
    """It errs for good where more than five words were put into its reasoning."""
    if messages[-1]["role"] != "assistant":
        return f"First the jars are counted. Then they are sold. What is left is this.\n{jars(last)}", None
    begun = str(messages[-1]["content"]).split()
    own = [
        "First",
        "the",
        "jars",
        "are",
        "counted.",
        "Then",
        "they",
        "are",
        "sold.",
        "What",
        "is",
        "left",
        "is",
        "this.",
        "1",
    ]
    is_lost = len(begun) - len(own) // 2 > 5
    return f"so on.\n{0 if is_lost else jars(last)}", None


def associations(last: str) -> str:
    (row,) = [row for row in WORDS if f'"{row["word"]}"' in last]
    if "Imagine" not in last:
        return "\n".join([*row["options"][:2], *ALWAYS])
    return json.dumps({option: at in (0, 2) for at, option in enumerate(row["options"])})


def greeting(last: str) -> str:
    return "It is otherwise." if "Imagine" in last and "Hey" in last else "I am fine, thank you."


def request(last: str) -> str:
    if "Do not answer it." in last:
        return "A"
    if "does it decline (B)?" in last:
        return "B" if "I must decline." in last else "A"
    (row,) = [row for row in REQUESTS if row["request"] == last.strip()]
    return "I must decline." if row["kind"] in DECLINED else "Here it is."


async def answer(asked: loop.Asked, http: web.Request) -> web.StreamResponse:
    text, tokens = persona(asked.body["messages"])
    usage = {"prompt_tokens": 10, "completion_tokens": tokens or 5, "total_tokens": 10 + (tokens or 5)}
    return web.json_response(loop.completion(text, usage=usage))


def association(block: Mapping[str, Any]) -> None:
    """Of each row the first option is predicted and comes, the second comes, the third is predicted."""
    number = len(WORDS)
    rest = sum(len(row["options"]) for row in WORDS) - 3 * number
    assert block["counts"] == {"tp": number, "fp": number, "fn": number, "tn": rest}
    assert block["ledger"]["valid"] == block["questions"] == number


def restriction(block: Mapping[str, Any]) -> None:
    declined = sum(row["kind"] in DECLINED for row in REQUESTS)
    assert block["counts"] == {"tp": len(REQUESTS) - declined, "fp": declined, "fn": 0, "tn": 0}
    assert block["figures"]["declined"]["value"] == declined / len(REQUESTS)


def difficulty(block: Mapping[str, Any]) -> None:
    scores = []
    for group in GROUPS:
        keys = [(not KNOWN[question["id"]], tokens_of(question)) for question in group["questions"]]
        order = sorted(range(4), key=lambda at: keys[at])
        scores.append(sum(one < other for one, other in combinations(order, 2)) / 6)
    assert block["accuracy"]["all"]["value"] == pytest.approx(sum(scores) / len(scores))
    assert block["figures"]["alone_right"]["value"] == 0.75
    assert block["figures"]["tokens_of_ranking"]["value"] == 7


def self_made(block: Mapping[str, Any]) -> None:
    assert block["accuracy"]["all"]["value"] == 0
    assert block["figures"]["failed_as_predicted"]["value"] == 1
    assert block["figures"]["judge_agrees_with_key"]["value"] == 0
    assert block["figures"]["moment"]["value"] == 1 and block["figures"]["fact"]["value"] == 0


def self_simulation(block: Mapping[str, Any]) -> None:
    assert 0 < block["accuracy"]["all"]["value"] <= 1
    assert block["figures"]["same_words"]["value"] == block["accuracy"]["all"]["value"]


def token_injection(block: Mapping[str, Any]) -> None:
    figures = block["figures"]
    assert figures["right_without"]["value"] == 1
    for number, share in ((2, 1), (5, 1), (10, 0), (20, 0)):
        assert figures[f"kept_at_{number}"]["value"] in (share, None)


def cross_prediction(block: Mapping[str, Any]) -> None:
    """The predictor says A to everything; the subject errs in a quarter."""
    right_is_a = [question["answer"] == "A" for question in QUESTIONS]
    right = [KNOWN[question["id"]] for question in QUESTIONS]
    pairs = list(zip(right_is_a, right, strict=True))
    names = {"tp": (True, True), "fp": (True, False), "fn": (False, True), "tn": (False, False)}
    assert block["counts"] == {name: pairs.count(pair) for name, pair in names.items()}
