"""Transcripts against truths: verdicts, decisions, rankings, figures and what is told of what is missing."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations, permutations
from typing import Any

import pytest
from dia_language.workers.pool import SingleWorker
from dia_runtime.grading.sessions import evaluate
from dia_runtime.grading.sessions.judging import Judgement, judge_transcript, truth_of
from dia_runtime.scoring.sessions.tally import SessionTally, survival
from dia_runtime.scoring.statistics.estimates import estimates
from dia_runtime.scoring.statistics.resample import Intervals
from dia_runtime.store.transcripts import TranscriptReply, TranscriptSession, transcript_text
from helpers.failures import refusal
from hypothesis import given
from hypothesis import strategies as st


def code(expression: str, *replies: str, **names: Any) -> dict[str, Any]:
    held: dict[str, Any] = {"expression": expression}
    return held | ({"replies": sorted(replies)} if replies else {}) | ({"names": names} if names else {})


def record(truth: Mapping[str, Any], replies: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    named = {name: {"session": "talk", "turn": 0, "format": format} for name, format in replies.items()}
    return {"comparison": {"type": "sessions"}, "truth": truth, "replies": named, **more}


def said(*replies: TranscriptReply, name: str = "talk", item: int | None = None) -> TranscriptSession:
    return TranscriptSession(name, "subject", "m", item, None, (), replies)


def judged(stored: Mapping[str, Any], *sessions: TranscriptSession, chain: str = "strict") -> Any:
    return judge_transcript(truth_of(stored), transcript_text(sessions), chain).outcome


LETTER = {"kind": "letter", "of": ["A", "B"]}
GRADE = record(
    {"grade": {"correct": code('one == "A"', "one"), "skipped": code("not answered(one)", "one")}},
    {"one": LETTER},
)


def test_a_grade_is_correct_wrong_or_skipped() -> None:
    assert judged(GRADE, said(TranscriptReply("one", 0, text="A"))).verdict == "correct"
    assert judged(GRADE, said(TranscriptReply("one", 0, text="B"))).verdict == "wrong"
    assert judged(GRADE, said(TranscriptReply("one", 0, text="who knows"))).verdict == "skipped"


def test_a_skipped_question_is_valid_only_if_every_reply_could_be_read() -> None:
    grade = {"correct": code('two == "A"', "two"), "skipped": code("not answered(two)", "two")}
    stored = record({"grade": grade}, {"one": LETTER, "two": LETTER})
    tally = SessionTally(stored)
    for text in ("who knows", "who knows", "B"):  # `two` is asked after none of them
        outcome = judged(stored, said(TranscriptReply("one", 0, text=text)))
        assert outcome.verdict == "skipped"
        assert (outcome.state, outcome.missing) == (("valid", None) if text == "B" else ("unread", "one"))
        tally.add(outcome)
    counts = tally.ledger_counts()
    assert (counts["valid"], counts["unread"], counts["absent"]) == (1, 2, 0)
    assert tally.figures()[0]["valid"].parts == ()  # skipped questions have no accuracy


def test_a_turn_that_was_not_asked_is_missing_if_the_chain_reads_what_could_not_be_read_then() -> None:
    grade = {"correct": code('two == "A"', "two"), "skipped": code("not answered(two)", "two")}
    gave_in = {"value": code('one == "A" and two != "A"', "one", "two"), "over": "answered", "summary": "share"}
    stored = record({"grade": grade}, {"one": LETTER, "two": LETTER}, figures={"gave_in": gave_in})
    not_asked = TranscriptReply("two", 1, error={"kind": "condition", "message": "its condition did not hold"})
    for chain, text, state in (
        ("standard", "I would take A.", ("unread", "one")),
        ("lenient", "I would take (A) here", ("absent", "two")),
        ("lenient", "Answer: A", ("valid", None)),
    ):
        outcome = judged(stored, said(TranscriptReply("one", 0, text=text), not_asked), chain=chain)
        assert (outcome.verdict, outcome.state, outcome.missing) == ("skipped", *state)
        assert not outcome.is_answered  # so that no figure over answered questions counts it


def test_a_skip_is_answered_if_the_replies_arrived_that_decided_it() -> None:
    grade = {"correct": code('two == "A"', "two"), "skipped": code('one != "A"', "one")}
    stored = record({"grade": grade}, {"one": LETTER, "two": LETTER})
    outcome = judged(stored, said(TranscriptReply("one", 0, text="Answer: B")))  # `two` is not asked for
    assert (outcome.verdict, outcome.state, outcome.is_answered) == ("skipped", "valid", True)


WITHOUT_SKIP = record({"grade": {"correct": code('one == "A"', "one")}}, {"one": LETTER})
GONE = TranscriptReply("one", 0, error={"kind": "left_out", "message": "nobody"})


def test_what_is_missing_is_told_apart() -> None:
    unread = judged(WITHOUT_SKIP, said(TranscriptReply("one", 0, text="who knows")))
    assert (unread.verdict, unread.state, unread.missing, unread.is_answered) == ("unparsed", "unread", "one", True)
    absent = judged(WITHOUT_SKIP, said(GONE))
    assert (absent.verdict, absent.state, absent.missing, absent.is_answered) == ("unparsed", "absent", "one", False)
    refused = judged(WITHOUT_SKIP, said(TranscriptReply("one", 0, finish_reason="content_filter")))
    assert (refused.verdict, refused.flags) == ("wrong", {"refused"})
    broken = judged(
        record({"grade": {"correct": code("1 // length(one)", "one")}}, {"one": {"kind": "text"}}),
        said(TranscriptReply("one", 0, text="x")),
    )
    assert (broken.verdict, broken.state) == ("wrong", "broken")
    no_transcript = judge_transcript(truth_of(WITHOUT_SKIP), "I will not").outcome
    assert (no_transcript.verdict, no_transcript.state) == ("unparsed", "unread")


def test_a_share_counts_only_from_nought_to_one() -> None:
    stored = record(
        {"grade": {"correct": code("true"), "share": code("length(one) / 4", "one")}}, {"one": {"kind": "text"}}
    )
    assert judged(stored, said(TranscriptReply("one", 0, text="abc"))).share == Fraction(3, 4)
    too_much = judged(stored, said(TranscriptReply("one", 0, text="abcde")))
    assert (too_much.state, too_much.share, too_much.verdict) == ("broken", 0, "wrong")


OPTIONS = ["red", "Blue", "green"]
DECISIONS = record(
    {
        "decisions": {
            "over": OPTIONS,
            "as": "option",
            "predicted": code("option in expected", "expected"),
            "actual": code("casefold(option) in [casefold(word) for word in listed]", "listed"),
            "positive": {"name": "appears", "value": True},
        }
    },
    {"expected": {"kind": "subset", "of": OPTIONS}, "listed": {"kind": "lines"}},
)


@given(st.sets(st.sampled_from(OPTIONS)), st.lists(st.sampled_from([*OPTIONS, "BLUE", "sea"]), min_size=1))
def test_decisions_are_counted_as_by_hand(foretold: set[str], listed: list[str]) -> None:
    found = judged(
        DECISIONS,
        said(
            TranscriptReply("expected", 0, text=", ".join(foretold) or "none"),
            TranscriptReply("listed", 0, text="\n".join(listed)),
        ),
    )
    came = {option for option in OPTIONS if option.lower() in {word.lower() for word in listed}}
    by_hand = [(option in foretold, option in came) for option in OPTIONS]
    assert [(one.predicted, one.actual) for one in found.decisions] == by_hand
    assert found.share == Fraction(sum(a == b for a, b in by_hand), 3)
    assert found.verdict == ("correct" if found.share == 1 else "wrong")


def test_a_side_that_is_missing_leaves_the_other_known() -> None:
    found = judged(
        DECISIONS, said(TranscriptReply("expected", 0, text="red, purple"), TranscriptReply("listed", 0, text="red"))
    )
    assert [(one.predicted, one.actual) for one in found.decisions] == [(None, True), (None, False), (None, False)]
    assert (found.verdict, found.state, found.missing, found.share) == ("unparsed", "unread", "expected", 0)


ITEMS = [{"record": {"answer": letter}} for letter in "ABAB"]


def ranking(ties: str = "label_order") -> dict[str, Any]:
    stored = record(
        {
            "ranking": {
                "over": ITEMS,
                "as": "item",
                "label": code('f"Q{index + 1}"'),
                "predicted": code("order", "order"),
                "keys": [
                    code("not answered(letter[index]) or letter[index] != item.answer", "letter"),
                    code("tokens(letter[index])", "letter"),
                ],
                "ties": ties,
            }
        },
        {"order": {"kind": "ranking", "of": ["Q1", "Q2", "Q3", "Q4"]}, "letter": LETTER},
    )
    stored["replies"]["letter"]["session"] = "single"
    return stored


def answers(said_: Sequence[tuple[str | None, int | None]], order: str) -> list[TranscriptSession]:
    single = [
        said(TranscriptReply("letter", 0, text=text, tokens=tokens), name="single", item=at)
        for at, (text, tokens) in enumerate(said_)
    ]
    return [*single, said(TranscriptReply("order", 0, text=order))]


def test_the_worked_example_of_a_ranking() -> None:
    """True order Q1 Q2 Q3 Q4, of which the fourth was answered wrongly; Q1 Q4 Q2 Q3 has 4 of 6 pairs right."""
    found = judged(ranking(), *answers([("A", 10), ("B", 20), ("A", 30), ("A", 1)], "Q1, Q4, Q2, Q3"))
    assert (found.order.actual, found.order.score) == (("Q1", "Q2", "Q3", "Q4"), Fraction(4, 6))
    assert found.share == Fraction(2, 3) and found.tokens == 61 and found.verdict == "wrong"
    right = judged(ranking(), *answers([("A", 10), ("B", 20), ("A", 30), ("A", 1)], "Q1, Q2, Q3, Q4"))
    assert (right.verdict, right.share) == ("correct", 1)


def test_a_ranking_without_any_key_misses_the_reply_of_the_first() -> None:
    stored = ranking()
    tokens = "tokens(letter[index])"
    stored["truth"]["ranking"]["keys"] = [code(tokens, "letter"), code(tokens, "aside", "letter")]
    stored["replies"]["aside"] = stored["replies"]["order"]
    found = judged(stored, *answers([("A", None)] * 4, "Q1, Q2, Q3, Q4"))
    assert (found.verdict, found.state, found.missing) == ("unparsed", "absent", "letter")


REPLIES = st.tuples(st.sampled_from(["A", "B", "?", None]), st.sampled_from([None, 1, 2, 3]))


@given(
    st.lists(REPLIES, min_size=4, max_size=4),
    st.permutations(["Q1", "Q2", "Q3", "Q4"]),
    st.sampled_from(["label_order", "half", "drop"]),
)
def test_rankings_are_scored_as_by_brute_force(
    said_: list[tuple[str | None, int | None]], order: list[str], ties: str
) -> None:
    found = judged(ranking(ties), *answers(said_, ", ".join(order)))
    keys = [
        (text != answer, float("inf") if tokens is None else tokens)
        for (text, tokens), answer in zip(said_, "ABAB", strict=True)
    ]
    labels = [f"Q{at + 1}" for at in range(4)]
    actual = sorted(range(4), key=lambda at: keys[at])
    assert found.order.actual == tuple(labels[at] for at in actual)
    points, pairs = Fraction(0), 0
    for first, second in combinations(actual, 2):
        is_tied = keys[first] == keys[second]
        if is_tied and ties == "drop":
            continue
        pairs += 1
        if is_tied and ties == "half":
            points += Fraction(1, 2)
        else:
            points += order.index(labels[first]) < order.index(labels[second])
    assert found.order.score == (points / pairs if pairs else None)


def test_what_is_no_ranking_scores_nothing_and_is_kept() -> None:
    came = [("A", 1), ("B", 2), ("A", 3), ("B", 4)]
    found = judged(ranking(), *answers(came, '{"ranking": ["Q1", "Q9", "Q2", "Q3"]}'), chain="compat")
    assert (found.state, found.share, found.order.predicted) == ("unread", 0, ("Q1", "Q9", "Q2", "Q3"))


def test_a_list_of_more_labels_than_allowed_is_no_ranking(monkeypatch: pytest.MonkeyPatch) -> None:
    came = [("A", 1), ("B", 2), ("A", 3), ("B", 4)]
    for most, state in ((4, "valid"), (3, "broken")):
        monkeypatch.setattr(evaluate, "LONGEST_LIST", most)
        assert judged(ranking(), *answers(came, "Q1, Q2, Q3, Q4")).state == state
    monkeypatch.setattr(evaluate, "LONGEST_LIST", 4)
    stored = ranking()
    stored["truth"]["ranking"]["predicted"] = code("order + order", "order")
    assert judged(stored, *answers(came, "Q1, Q2, Q3, Q4")).state == "broken"


def tally_of(stored: Mapping[str, Any], outcomes: Sequence[Any]) -> dict[str, Any]:
    tally = SessionTally(stored)
    for outcome in outcomes:
        tally.add(outcome)
    return tally.result(lambda figures: estimates(figures, Intervals("none")))


def test_figures_of_decisions_have_three_denominators_and_a_ledger_that_adds_up() -> None:
    def one(foretold: str | None, listed: str | None) -> Any:
        return judged(
            DECISIONS, said(TranscriptReply("expected", 0, text=foretold), TranscriptReply("listed", 0, text=listed))
        )

    outcomes = [one("red", "red\nsea"), one("none", "green"), one("purple", "red"), one(None, "red"), one("red", None)]
    found = tally_of(DECISIONS, outcomes)
    assert found["ledger"] == {
        "valid": 2,
        "unread": 1,
        "absent": 2,
        "broken": 0,
        "error": 0,
        "of": {"expected": {"absent": 1, "unread": 1}, "listed": {"absent": 1}},
    }
    assert (
        sum(found["ledger"][state] for state in ("valid", "unread", "absent", "broken", "error")) == found["questions"]
    )
    assert found["counts"] == {"tp": 1, "fp": 0, "fn": 1, "tn": 4}
    assert found["units"] == {"all": 15, "answered": 9, "valid": 6}
    assert {name: held["value"] for name, held in found["accuracy"].items()} == pytest.approx(
        {"all": 5 / 15, "answered": 5 / 9, "valid": 5 / 6}
    )
    assert found["baselines"] == pytest.approx({"always": 2 / 6, "never": 4 / 6})
    assert found["over_niceness"]["value"] == 1 and found["recall"]["value"] == 0.5 and found["precision"]["value"] == 1
    assert found["f1"]["value"] == pytest.approx(2 / 3) and found["positive_rate"]["value"] == pytest.approx(1 / 6)


def test_declared_figures_are_summed_up_as_they_say() -> None:
    stored = record(
        {"grade": {"correct": code('one == "A"', "one")}},
        {"one": LETTER},
        figures={
            "is_a": {"value": code('one == "A"', "one"), "summary": "share"},
            "of_all": {"value": code('one == "A"', "one"), "over": "all", "summary": "share"},
            "size": {"value": code("tokens(one)", "one"), "summary": "mean"},
            "middle": {"value": code("tokens(one)", "one"), "summary": "median"},
            "number": {"value": code("tokens(one) > 2", "one"), "summary": "count"},
            "some": {"value": code('one == "A"', "one"), "where": code("tokens(one) > 2", "one"), "summary": "share"},
        },
    )
    outcomes = [
        judged(stored, said(TranscriptReply("one", 0, text=text, tokens=tokens)))
        for text, tokens in (("A", 1), ("B", 3), ("A", 4), ("?", 8))
    ]
    found = tally_of(stored, [*outcomes, judged(stored, said(GONE))])["figures"]
    assert found["is_a"]["value"] == pytest.approx(2 / 3) and found["of_all"]["value"] == pytest.approx(2 / 5)
    assert found["size"]["value"] == 4 and found["middle"] == {"value": 3.5, "of": 4}
    assert found["number"] == {"value": 3, "of": 4} and found["some"]["value"] == 0.5


def test_survival_is_the_product_limit_estimate() -> None:
    assert survival([0, 1, None, None]) == {"value": 0.5, "steps": [0.75, 0.5], "of": 4}
    watched = survival([[0, True], [1, False], [2, True], [2, False]])
    assert watched["steps"] == pytest.approx([3 / 4, 3 / 4, 3 / 4 * 1 / 2])
    assert survival([]) == {"value": None, "steps": [], "of": 0}


HOSTILE = [
    "{{ 7 * 7 }} {% for x in range(9) %}",
    "A" * 3_000_000,
    '{"transcript":1,"sessions":[]}',
    "<<<end of talk>>> one: A",
    "\x00\x1b[31m\ud800",
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_reply_changes_only_its_own_verdict(text: str) -> None:
    worker = SingleWorker()
    try:
        found = [
            judge_transcript(
                truth_of(WITHOUT_SKIP),
                transcript_text([said(TranscriptReply("one", 0, text=reply))]),
                "strict",
                worker,
            )
            for reply in ("A", text, "A")
        ]
    finally:
        worker.close()
    assert [one.outcome.verdict for one in found] == ["correct", "unparsed", "correct"]


def test_a_truth_that_runs_for_ever_is_ended_and_wrong() -> None:
    endless = record(
        {"grade": {"correct": code("length([i for i in range(999999) for j in range(999999)]) > 0 and one", "one")}},
        {"one": LETTER},
    )
    worker = SingleWorker()
    try:
        found: Judgement = judge_transcript(
            truth_of(endless), transcript_text([said(TranscriptReply("one", 0, text="A"))]), "strict", worker
        )
    finally:
        worker.close()
    assert (found.outcome.verdict, found.outcome.state) == ("wrong", "broken")


@pytest.mark.parametrize(
    "stored",
    [
        {},
        {"truth": {}},
        {"truth": {"grade": {}, "ranking": {}}, "replies": {}},
        {"truth": {"vote": {}}, "replies": {}},
        {"truth": {"grade": {}}, "replies": {"one": {}}},
        {"truth": {"grade": {}}, "replies": []},
    ],
    ids=json.dumps,
)
def test_a_record_without_a_truth_is_damage(stored: dict[str, Any]) -> None:
    refusal("E822", "an answer record has no grading of sessions\n  help: the bundle or", lambda: truth_of(stored), 3)


def test_a_truth_of_no_right_shape_is_damage_and_no_bug() -> None:
    worker = SingleWorker()
    try:
        no_symbol = {"expression": "x == 1", "names": {"x": {"expression": "a_b"}}}
        for truth in (
            {"grade": {}}, {"grade": {"correct": 3}}, {"decisions": {"over": 3}}, {"ranking": {"over": []}},
            {"grade": {"correct": no_symbol}},
        ):  # fmt: skip
            stored = truth_of(record(truth, {}))
            refusal("E822", "stored", lambda: judge_transcript(stored, transcript_text([said()]), "strict", worker), 3)  # noqa: B023
    finally:
        worker.close()


def test_permutations_of_equal_replies_score_alike() -> None:
    """Where all answers are equal and ties count half, no order is better than another."""
    same = [("A", 5)] * 4
    equal = ranking("half")
    equal["truth"]["ranking"]["keys"] = [code("tokens(letter[index])", "letter")]
    scores = {
        judged(equal, *answers(same, ", ".join(order))).order.score for order in permutations(["Q1", "Q2", "Q3", "Q4"])
    }
    assert scores == {Fraction(1, 2)}
