"""What a judge makes of one reply: which known mistakes it is, its share of full marks, and what is kept for the next."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any, cast

import pytest
from dia_language.diagnostics import DiaError
from dia_runtime.grading import judge as judging
from dia_runtime.grading.judge import Judge, Judged, Rules, reading, worth
from dia_runtime.grading.verdicts import Verdict
from dia_runtime.store.schema import StoredQuestion, StoredReply
from dia_runtime.store.store import Store
from dia_runtime.store.transcripts import TranscriptReply, TranscriptSession, transcript_text

FORMAT = {"kind": "xml", "skip": "I-DO-NOT-KNOW", "rules": 2}
POINTS = {"correct": 1, "skipped": 0, "wrong": -2}
HALF = {"expression": "1/2", "values": {}}


class Texts:
    """As much of a store as a judge needs."""

    path = "a.run"

    @staticmethod
    def parsed(text: str) -> Any:
        return json.loads(text)

    record = parsed


def question(position: int = 0, text: str = "12", **more: Any) -> StoredQuestion:
    record = {
        "answer": text, "accept": [], "text": text, "comparison": {"type": "text"},
        "mistakes": {"doubled": "24", "low": "11"}, **more,
    }  # fmt: skip
    return StoredQuestion(
        position, f"b/t/{position}", b"", "t", "t", position, None, "c", "d", "easy", None, 1,
        json.dumps(FORMAT), json.dumps(POINTS), json.dumps(record),
    )  # fmt: skip


def judge(chain: str = "standard") -> Judge:
    return Judge(cast(Store, Texts()), Rules(chain))


def judged(reply: str | None, chain: str = "standard", ending: str | None = None, **more: Any) -> Judged:
    with_store = judge(chain)
    try:
        return with_store.judged_one(question(**more), StoredReply(reply, None, ending))
    finally:
        with_store.close()


def test_a_wrong_reply_is_the_mistake_that_it_equals_and_no_other() -> None:
    assert judged("<xml>24</xml>").mistakes == {"doubled": True, "low": False}
    assert judged("<xml>99</xml>").mistakes == {"doubled": False, "low": False}
    assert judged("<xml>12</xml>").mistakes == {} == judged("<xml>I-DO-NOT-KNOW</xml>").mistakes


@pytest.mark.parametrize("chain", ["standard", "lenient"])
@pytest.mark.parametrize("of", ["text", "integer"])
def test_markdown_around_a_mistake_does_not_hide_it(chain: str, of: str) -> None:
    known = {"comparison": {"type": of}, "answer": 12 if of == "integer" else "12"}
    for reply in ("<xml>**24**</xml>", "<xml>`24`</xml>\nThe answer is 24."):
        assert judged(reply, chain, **known).mistakes == {"doubled": True, "low": False}


def test_a_chain_that_compares_whole_texts_finds_the_mistake_so_too() -> None:
    assert judged("<xml>24</xml>", "compat").mistakes == {"doubled": True, "low": False}
    assert judged("<xml>10</xml>", "compat").mistakes == {"doubled": False, "low": False}
    assert judged("<xml>99</xml>", "compat").mistakes == {"doubled": False, "low": False}


def test_the_last_word_of_a_provider_is_wrong_and_no_mistake() -> None:
    entry = judged(None)
    assert entry.mark.verdict is Verdict.WRONG and entry.mistakes == {"doubled": False, "low": False}


@pytest.mark.parametrize("ending", ["content_filter", "refusal", "over_context"])
def test_a_reply_that_was_ended_is_graded_by_the_answer_that_it_contains_and_is_wrong_without_one(ending: str) -> None:
    replies = ["<xml>12</xml>", "<xml>24</xml>", "<xml>I-DO-NOT-KNOW</xml>", "The answer is", ""]
    verdicts = [judged(reply, ending=ending).mark.verdict for reply in replies]
    assert verdicts == [Verdict.CORRECT, Verdict.WRONG, Verdict.SKIPPED, Verdict.WRONG, Verdict.WRONG]
    assert {judged("The answer is", ending=other).mark.verdict for other in ("length", "stop", None)} == {
        Verdict.UNPARSED
    }


@pytest.mark.parametrize(("reply", "share"), [("<xml>12</xml>", Fraction(1, 2)), ("no answer", Fraction(0))])
def test_the_share_of_full_marks_is_that_of_the_reply(reply: str, share: Fraction) -> None:
    comparison = {"type": "text", "share": HALF}
    assert judged(reply, comparison=comparison).share == share
    assert judged(reply).share is None


def test_a_text_that_is_compared_whole_has_the_share_of_the_answer() -> None:
    comparison = {"type": "text", "share": HALF}
    shares = [judged(f"<xml>{text}</xml>", "compat", comparison=comparison).share for text in ("12", "24")]
    assert shares == [judged("<xml>12</xml>", comparison=comparison).share, 0]
    of_value = {"type": "polynomial", "share": {"expression": "1 / substitute(reply, symbol('x'), 1)", "values": {}}}
    known = {"comparison": of_value, "answer": "x**2 + 1", "text": "x^2 + 1"}
    entries = [judged("<xml>x^2 + 1</xml>", chain, **known) for chain in ("standard", "compat")]
    assert [(entry.mark.verdict, entry.share) for entry in entries] == [(Verdict.CORRECT, Fraction(1, 2))] * 2
    abstention = "<xml>I-DO-NOT-KNOW</xml>"
    unanswerable = {**comparison, "unanswerable": True}
    for chain in ("standard", "compat"):
        entry = judged(abstention, chain, comparison=unanswerable, text="I-DO-NOT-KNOW")
        assert (entry.mark.verdict, entry.share) == (Verdict.CORRECT, 1)


def test_a_right_answer_that_strict_cannot_find_is_lost_to_the_format_with_a_share_too() -> None:
    entry = judged("It is <xml>12</xml>, I think.", "strict", comparison={"type": "text", "share": HALF})
    assert (entry.mark.verdict, entry.share) == (Verdict.UNPARSED, 0) and "lost_to_format" in entry.flags


def test_an_error_has_no_share() -> None:
    with_store = judge()
    entry = with_store.judged_one(
        question(comparison={"type": "text", "share": HALF}), StoredReply(None, "timeout", None)
    )
    with_store.close()
    assert entry.mark.verdict is Verdict.ERROR and entry.share is None


def test_readings_of_right_wrong_and_missing_answers_differ() -> None:
    replies = ["<xml>12</xml>", "<xml>24</xml>", "<xml>2\n 4</xml>", "<xml>I-DO-NOT-KNOW</xml>", "nothing"]
    found = [reading(judged(reply)) for reply in replies]
    assert found == [Verdict.CORRECT, "wrong: 24", "wrong: 2 4", Verdict.SKIPPED, None]
    markdown = {chain: reading(judged("<xml>**24**</xml>", chain)) for chain in ("standard", "lenient", "strict")}
    assert markdown == {"standard": "wrong: 24", "lenient": "wrong: 24", "strict": "wrong: **24**"}
    assert judged("<xml>**24**</xml>", "strict").mistakes == {"doubled": False, "low": False}


def test_what_is_kept_changes_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    """A judge that may keep nothing, little, or all gives the same verdicts, also for a question that comes again."""
    replies = [(place % 3, f"<xml>{text}</xml>") for place, text in enumerate(["12", "24", "13", "12", "14", "24"])]

    def verdicts() -> list[tuple[Verdict, Any]]:
        with_store = judge()
        entries = [
            with_store.judged_one(question(at, f"1{at + 2}"), StoredReply(text, None, None)) for at, text in replies
        ]
        with_store.close()
        return [(entry.mark.verdict, entry.mistakes) for entry in entries]

    expected = verdicts()
    for most, characters in ((0, 10_000), (1, 10_000), (20_000, 0)):
        monkeypatch.setattr(judging, "MOST_CACHED", most)
        monkeypatch.setattr(judging, "MOST_CHARACTERS", characters)
        assert verdicts() == expected


def test_few_values_of_few_characters_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging, "MOST_CACHED", 2)
    monkeypatch.setattr(judging, "MOST_CHARACTERS", 10)
    kept = judging._Cache()
    for key, characters in (("long", 10), ("a", 9), ("b", 0), ("c", 1)):
        kept.keep(key, key.upper(), characters)
    assert kept == {"a": "A", "b": "B"}


def test_a_question_is_prepared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    prepared: list[int] = []
    monkeypatch.setattr(Texts, "record", staticmethod(lambda text: prepared.append(1) or json.loads(text)))
    with_store = judge()
    for _ in range(3):
        with_store.judged_one(question(), StoredReply("<xml>12</xml>", None, None))
    with_store.close()
    assert len(prepared) == 1


TALK = {
    "answer": None, "text": "", "comparison": {"type": "sessions"}, "mistakes": {},
    "truth": {
        "grade": {
            "correct": {"expression": 'word == "A"', "replies": ["word"]},
            "share": {"expression": "1 / 4"},
        }
    },
    "replies": {"word": {"session": "talk", "format": {"kind": "label", "of": ["A", "B"]}}},
}  # fmt: skip


def transcript(text: str, ending: str | None = None) -> str:
    reply = TranscriptReply("word", 0, text=text, finish_reason=ending)
    return transcript_text([TranscriptSession("talk", "subject", "m", None, None, (), (reply,))])


@pytest.mark.parametrize(
    ("reply", "error", "verdict", "share", "flags"),
    [
        (transcript("A"), None, Verdict.CORRECT, Fraction(1, 4), set()),
        (transcript("B", "length"), None, Verdict.WRONG, Fraction(1, 4), {"truncated"}),
        ("I will not", None, Verdict.UNPARSED, None, set()),
        (None, "timeout", Verdict.ERROR, None, set()),
        (None, None, Verdict.WRONG, None, set()),  # the provider's final refusal
    ],
)
def test_the_reply_to_a_question_of_sessions_is_a_transcript_an_error_or_nothing(
    reply: str | None, error: str | None, verdict: Verdict, share: Fraction | None, flags: set[str]
) -> None:
    with_store = judge()
    entry = with_store.judged_one(question(**TALK), StoredReply(reply, error, None))
    with_store.close()
    assert (entry.mark.verdict, entry.share, entry.flags) == (verdict, share, flags)
    assert (entry.sessions is None) == (reply is None) and entry.mistakes == {}


@pytest.mark.parametrize(("longest", "is_doubled"), [(1, False), (2, True), (3, True)])
def test_a_text_that_is_too_long_to_be_read_is_no_mistake(
    longest: int, is_doubled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judging, "CHARACTERS", longest)
    assert judged("<xml>24</xml>").mistakes == {"doubled": is_doubled, "low": False}


def test_only_the_start_of_a_long_value_of_points_is_shown() -> None:
    with pytest.raises(DiaError) as caught:
        worth("wrong", "x" * 39 + "yz")
    assert caught.value.diagnostics[0].message.endswith("not an exact number: " + "x" * 39 + "y")
