"""Sessions asked of a scripted persona behind a loopback server, directly and through the real litellm."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from dia_language.diagnostics import DiaError
from dia_runtime.respondents import rate_limit as pacing
from dia_runtime.respondents.budget import Budget
from dia_runtime.respondents.chat import Settings
from dia_runtime.respondents.registry import ModelOptions
from dia_runtime.running.run import RunOptions, RunSummary, run
from dia_runtime.store.store import read_store
from dia_runtime.store.transcripts import TranscriptReply, TranscriptSession, read_transcript
from helpers import loopback as loop
from helpers import persona as scripted
from helpers import session_records
from helpers.failures import refusal

Make = Callable[..., Path]
WITH_LITELLM = pytest.param(
    "litellm",
    marks=[pytest.mark.skipif(find_spec("litellm") is None, reason="litellm is not installed")],
)


@pytest.fixture(params=["auto", WITH_LITELLM])
def through(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(autouse=True)
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of its own, a key, and short waits."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted-0123456789abcdef")
    monkeypatch.setattr(pacing, "FIRST_WAIT", 0.002)
    monkeypatch.setattr(pacing, "LONGEST_WAIT", 0.02)


@pytest.fixture
def made(bundle_writer: Make, tmp_path: Path) -> Make:
    """Makes a bundle of questions."""
    return lambda *questions, name="bundle": session_records.bundle(bundle_writer, tmp_path / name, questions)


def terms(server: loop.Server, through: str = "auto", **given: Any) -> RunOptions:
    model_options = {name: given.pop(name) for name in list(given) if name in ModelOptions.__dataclass_fields__}
    return RunOptions(
        **{
            "model_options": ModelOptions(base_url=server.url, through=through, **model_options),
            "retries": 1,
            "concurrency": 4,
            **given,
        }
    )


def asked(bundle: Path, held: RunOptions, model: Any = "openai/m", path: str = "a.run", **more: Any) -> RunSummary:
    return run(bundle, model, path, terms=held, **more)


def said(path: str = "a.run", number: int = 0) -> list[TranscriptSession]:
    """The sessions of one of the replies."""
    with read_store(path) as store:
        text = store.rows("SELECT text FROM reply ORDER BY respondent, question, attempt")[number][0]
    return read_transcript(text)


def replies(sessions: list[TranscriptSession]) -> dict[str | None, list[TranscriptReply]]:
    found: dict[str | None, list[TranscriptReply]] = {}
    for session in sessions:
        for reply in session.replies:
            found.setdefault(reply.name, []).append(reply)
    return found


def prompts(server: loop.Server) -> list[str]:
    return [request.text for request in server.asked]


def test_independent_sessions_are_asked_at_once_and_each_only_once(made: Make, through: str) -> None:
    bundle = made(session_records.association())
    with loop.serve(scripted.plays(delay=0.2)) as server:
        (entry,) = asked(bundle, terms(server, through)).respondents
        (again,) = asked(bundle, terms(server, through)).respondents
    assert server.most == 2 and len(server.asked) == 2
    assert (entry.asked, entry.errors, entry.requests, again.kept, again.requests) == (1, 0, 2, 1, 0)
    found = replies(said())
    assert (found["listed"][0].text, found["expected"][0].text) == (
        "\n".join(f"{i}. {w}" for i, w in enumerate(scripted.WORDS, 1)),
        "red, blue",
    )
    assert found["listed"][0].finish_reason == "stop" and found["listed"][0].tokens == len(
        found["listed"][0].text or ""
    )
    assert [message["role"] for message in said()[0].messages] == ["user", "assistant"]
    with read_store("a.run") as store:
        ((tokens, sums, turns),) = store.rows(
            "SELECT completion_tokens, prompt_tokens, (SELECT count(*) FROM turn) FROM reply"
        )
    assert (tokens, sums, turns) == (sum(reply[0].tokens or 0 for reply in found.values()), 20, 2)
    assert entry.completion_tokens == tokens


def test_turns_are_one_conversation_that_ends_when_it_is_told_to(made: Make, through: str) -> None:
    with loop.serve(scripted.plays()) as server:
        asked(made(session_records.pressure(depth=4)), terms(server, through))
    assert [len(request.body["messages"]) for request in server.asked] == [1, 3, 5, 7]
    (talk,) = said()
    assert [reply.text for reply in talk.replies] == ["A", "A", "A", "B"]  # the fourth push is not made
    assert [(reply.turn, reply.item) for reply in talk.replies] == [(0, None), (1, 0), (1, 1), (1, 2)]
    assert server.asked[-1].body["messages"] == [dict(message) for message in talk.messages[:-1]]


def test_a_judge_reads_the_reply_between_marks(made: Make, through: str) -> None:
    with loop.serve(scripted.plays()) as server:
        held = terms(
            server, through, roles={"judge": "openai/j"}, settings=Settings(system="Be kind.", temperature="1")
        )
        asked(made(session_records.refusal()), held)
    first, second = server.asked
    assert (first.body["model"], second.body["model"]) == ("m", "j")
    assert scripted.REFUSAL in second.text and "{{" not in second.text
    assert (first.body["messages"][0]["role"], first.body["temperature"]) == ("system", 1)
    assert (second.body["messages"][0]["role"], second.body["temperature"]) == (
        "user",
        0,
    )  # the run's are the subject's
    assert replies(said())["opinion"][0].text == "DECLINE"
    assert [session.role for session in said()] == ["subject", "judge"]
    with read_store("a.run") as store:
        (respondent,) = store.respondents()
        ((tokens,),) = store.rows("SELECT completion_tokens FROM reply")
    assert respondent.name == "openai/m+judge=openai/j"
    assert json.loads(respondent.settings)["roles"]["judge"]["model"] == "openai/j"
    assert tokens == len(scripted.REFUSAL)  # the judge's are not the subject's


def test_settings_of_a_session_come_before_those_of_the_run(made: Make, through: str) -> None:
    with loop.serve(scripted.plays()) as server:
        asked(
            made(session_records.difficulty([1, 2])),
            terms(server, through, settings=Settings(max_tokens=99, temperature="0")),
        )
    bodies = {request.text[:10]: request.body for request in server.asked}
    assert (bodies["question 1"]["temperature"], bodies["question 1"]["max_tokens"]) == (0.5, 7)
    assert (bodies["Order them"]["temperature"], bodies["Order them"]["max_tokens"]) == (0, 99)


def test_what_questions_share_is_asked_once_for_all_of_them(made: Make) -> None:
    bundle = made(*(session_records.difficulty([at, at + 1, at + 2], at) for at in range(6)))
    with loop.serve(scripted.plays(delay=0.01)) as server:
        (entry,) = asked(bundle, terms(server), attempts=2).respondents
    assert Counter(text for text in prompts(server) if text.startswith("question")) == Counter(
        {f"question {at}": 2 for at in range(8)}
    )
    assert (entry.asked, entry.errors) == (12, 0)
    for number in range(12):
        single = [session for session in said(number=number) if session.name == "single"]
        assert [session.shared for session in single] == [str(number // 2 + at) for at in range(3)]
        assert [session.replies[0].text for session in single] == ["ABCD"[(number // 2 + at) % 4] for at in range(3)]
    with read_store("a.run") as store:
        ((own, rows),) = store.rows("SELECT (SELECT sum(tries) FROM reply), (SELECT count(*) FROM turn)")
        assert own == rows == 16 + 12 and store.rows("SELECT count(*) FROM share_claim") == [(0,)]


def test_a_later_text_holds_the_typed_value_of_an_item(made: Make) -> None:
    with loop.serve(scripted.plays()) as server:
        asked(made(session_records.difficulty([5, 6])), terms(server))
    assert prompts(server)[-1] == "Order them (0). First said B."


def test_a_condition_leaves_a_session_out(made: Make) -> None:
    solve = session_records.session(
        "solve",
        session_records.turn("never", "solved"),
        needs=["ask"],
        when=session_records.code("answered(response)", "response"),
    )
    ask = session_records.session("ask", session_records.turn("Hello", "response", "label", options={"of": ["X", "Y"]}))
    with loop.serve(scripted.plays()) as server:
        (entry,) = asked(made(session_records.question([ask, solve])), terms(server)).respondents
    found = replies(said())
    assert prompts(server) == ["Hello"] and entry.errors == 0
    assert found["response"][0].text == "fine" and found["solved"][0].error == {
        "kind": "condition",
        "message": "its condition did not hold",
    }


def test_a_text_that_needs_an_unreadable_reply_is_not_asked(made: Make) -> None:
    ask = session_records.session("ask", session_records.turn("Hello", "pick", "label", options={"of": ["X", "Y"]}))
    use = session_records.session(
        "use",
        session_records.turn(session_records.template("{% if pick == 'X' %}x{% endif %}", "pick"), "used"),
        session_records.turn("more", "rest"),
        needs=["ask"],
    )
    with loop.serve(scripted.plays()) as server:
        asked(made(session_records.question([ask, use])), terms(server))
    found = replies(said())
    assert prompts(server) == ["Hello"]
    assert [error["kind"] for name in ("used", "rest") if (error := found[name][0].error)] == ["unset", "unset"]


def test_nobody_as_a_judge_leaves_its_sessions_out(made: Make) -> None:
    with loop.serve(scripted.plays()) as server:
        (entry,) = asked(made(session_records.refusal()), terms(server, roles={"judge": "none"})).respondents
    (opinion,) = replies(said())["opinion"]
    assert len(server.asked) == 1 and opinion.error and opinion.error["kind"] == "left_out"
    assert entry.respondent == "openai/m+judge=none" and not entry.errors


@pytest.mark.parametrize(
    ("roles", "told"),
    [
        ({}, "no model for the role `judge`"),
        ({"judge": "openai/j", "jugde": "openai/j"}, "have no role `jugde`"),
        ({"judge": "oracle"}, "`oracle` cannot take the role"),
        ({"judge": "simulated:theta=1"}, "`simulated:theta=1` cannot take the role"),
        ({"judge": "nonsense"}, "unknown model `nonsense`"),
    ],
)
def test_roles_are_looked_at_before_anything_is_asked(made: Make, roles: dict[str, str], told: str) -> None:
    with pytest.raises(DiaError, match=told) as error:
        run(made(session_records.refusal()), "says:x", "a.run", terms=RunOptions(roles=roles))
    assert error.value.exit_code == 2 and not Path("a.run").exists()


@pytest.mark.parametrize("model", ["oracle", "abstain", "guess", "wrong", "simulated:theta=0"])
def test_baselines_say_why_they_cannot_talk(made: Make, model: str) -> None:
    error = f"`{model}` cannot take part in sessions: it builds replies from answers, but sessions have none"
    refusal("E847", error, lambda: run(made(session_records.association()), model, "a.run"))
    assert not Path("a.run").exists()


def test_a_baseline_answers_what_is_no_session(tiny: Make, bundle_writer: Make, tmp_path: Path) -> None:
    sums = tiny(templates=1, k=2)
    lines = [json.loads(line) for line in (sums / "questions.jsonl").read_text().splitlines()]
    truths = [json.loads(line) for line in (sums / "answers.jsonl").read_text().splitlines()]
    talk = session_records.association()
    bundle = bundle_writer(tmp_path / "mixed", [*lines, talk], [*truths, session_records.answer(talk)], 1)
    (entry,) = run(bundle, "oracle", "a.run").respondents
    assert (entry.asked, entry.errors, list(entry.left_out.values())) == (2, 0, [1])


def test_a_constant_respondent_and_judge(made: Make) -> None:
    run(made(session_records.refusal()), "says:yes", "a.run", terms=RunOptions(roles={"judge": "says:COMPLY"}))
    assert [reply.text for session in said() for reply in session.replies] == ["yes", "COMPLY"]
    error = "`says:` needs the text of the reply\n  help: write says:TEXT"
    roles = RunOptions(roles={"judge": "says:"})
    refusal("E848", error, lambda: run("bundle", "says:yes", "b.run", terms=roles))


def test_what_is_left_of_an_error_is_asked_alone_by_the_next_call(made: Make, through: str) -> None:
    bundle = made(session_records.refusal(), session_records.refusal(1))
    with loop.serve(loop.for_model({"m": scripted.plays(), "j": loop.fails(500)})) as server:
        (entry,) = asked(bundle, terms(server, through, roles={"judge": "openai/j"})).respondents
        assert (entry.asked, entry.errors, entry.ended) == (2, 2, None) and len(server.asked) == 2 + 2 * 2
        with read_store("a.run") as store:
            assert store.rows("SELECT count(*) FROM turn WHERE error IS NULL") == [(2,)]
            ((error, tokens),) = set(store.rows("SELECT error, completion_tokens FROM reply"))
        assert error.startswith("server: ") and tokens == len(scripted.REFUSAL)
        port = server.port
    with loop.serve(scripted.plays(), port) as server:
        (entry,) = asked(bundle, terms(server, through, roles={"judge": "openai/j"})).respondents
    assert (entry.asked, entry.errors) == (2, 0)
    assert [request.body["model"] for request in server.asked] == ["j", "j"]
    assert replies(said())["opinion"][0].text == "DECLINE"


def test_a_provider_that_refuses_ends_the_conversation_for_good(made: Make) -> None:
    refused = loop.fails(400, "flagged by the content filter", "content_filter")
    with loop.serve(loop.first(1, scripted.plays(), refused)) as server:
        (entry,) = asked(made(session_records.pressure()), terms(server)).respondents
    (talk,) = said()
    assert entry.errors == 0 and len(server.asked) == 2
    assert [(reply.text, reply.finish_reason, reply.error) for reply in talk.replies] == [
        ("A", "stop", None),
        (None, "content_filter", None),
    ]


def test_budgets_count_every_turn(made: Make) -> None:
    bundle = made(*(session_records.refusal(at) for at in range(3)))
    with loop.serve(scripted.plays()) as server:
        held = terms(server, roles={"judge": "openai/j"}, concurrency=1)
        held.budget = Budget(requests=3)
        (entry,) = asked(bundle, held).respondents
        assert (len(server.asked), entry.asked, entry.ended) == (3, 1, "the budget is spent")
        held.budget = Budget()
        (entry,) = asked(bundle, held).respondents
    assert (entry.asked, entry.kept) == (2, 1) and len(server.asked) == len(set(prompts(server))) == 6


def test_parts_and_limits_choose_among_conversations(made: Make) -> None:
    bundle = made(*(session_records.association(at) for at in range(5)))
    with loop.serve(scripted.plays()) as server:
        (one,) = asked(bundle, terms(server, part=(2, 2)), limit=4).respondents
        (other,) = asked(bundle, terms(server)).respondents
    assert (one.asked, other.asked, other.kept, len(server.asked)) == (2, 3, 2, 10)


def test_a_cache_tells_turns_settings_and_attempts_apart(made: Make, tmp_path: Path) -> None:
    twice = session_records.question(
        [session_records.session(name, session_records.turn("Same words", name)) for name in ("one", "two")]
    )
    with loop.serve(scripted.plays()) as server:
        held = terms(server, cache=tmp_path / "cache.sqlite")
        asked(made(twice), held, attempts=2)
        assert len(server.asked) == 4
        asked(made(twice, name="again"), held, path="b.run", attempts=2)
        assert len(server.asked) == 4
        warm = session_records.question([{**twice["sessions"][0], "settings": {"temperature": 1}}])
        asked(made(warm, name="warm"), held, path="c.run")
    assert len(server.asked) == 5


def test_a_reply_that_is_begun_for_the_model(made: Make) -> None:
    begun = session_records.question(
        [
            session_records.session(
                "talk",
                {**session_records.turn("How many?", "number"), "assistant": "The number is"},
                session_records.turn("Why?", "why"),
            )
        ]
    )
    with loop.serve(scripted.plays()) as server:
        bundle = made(begun)
        (entry,) = asked(bundle, terms(server)).respondents
        ((why, number),) = entry.left_out.items()
        assert (entry.asked, number, len(server.asked)) == (0, 1, 0) and "the beginning of the reply" in why
        asked(bundle, terms(server, prefill=True))
    first, second = server.asked
    assert first.body["messages"][-1] == {"role": "assistant", "content": "The number is"}
    assert second.body["messages"][1] == {"role": "assistant", "content": "The number is forty-two"}
    (talk,) = said()
    assert talk.messages[1]["prefill"] == "The number is" and talk.replies[0].text == " forty-two"


def test_a_system_prompt_of_a_session_takes_the_place_of_the_run_s(made: Make) -> None:
    talk = session_records.question(
        [
            session_records.session(
                "talk",
                session_records.turn("Hi", "hi"),
                session_records.turn("Again", "again"),
                system="You are a pirate.",
            )
        ]
    )
    with loop.serve(scripted.plays()) as server:
        asked(made(talk), terms(server, settings=Settings(system="Be brief.")))
    for request in server.asked:
        assert [m["content"] for m in request.body["messages"] if m["role"] == "system"] == ["You are a pirate."]


def test_lists_that_depend_on_replies(made: Make) -> None:
    produce = session_records.session("produce", session_records.turn("List five words.", "listed", "lines"))
    each = session_records.session(
        "each",
        session_records.turn(session_records.template("Word {{ index }}: {{ word }}"), "meaning"),
        needs=["produce"],
        over=session_records.code("listed[:2]", "listed"),
        **{"as": "word"},
    )
    with loop.serve(scripted.plays()) as server:
        asked(made(session_records.question([produce, each])), terms(server))
    assert sorted(prompts(server)[1:]) == ["Word 0: red", "Word 1: green"]
    assert [session.item for session in said()] == [None, 0, 1]


def test_each_item_sees_its_own_replies_and_has_its_own_condition(made: Make) -> None:
    """The second turn of an item's conversation reads what the first one said, and of no other item."""
    each = session_records.session(
        "each",
        session_records.turn(
            {"each": ["question 0", "question 1", "question 2"]}, "letter", "letter", options={"of": list("ABCD")}
        ),
        session_records.turn(session_records.template("Why {{ letter }} for {{ item }}?", "letter"), "why"),
        over=[10, 11, 12],
        when=session_records.code("index != 1 and item != 12"),
        **{"as": "item"},
    )
    last = session_records.session(
        "last",
        session_records.turn(session_records.template("{{ answered(letter[0]) }} {{ answered(letter[1]) }}", "letter")),
        needs=["each"],
    )
    with loop.serve(scripted.plays()) as server:
        asked(made(session_records.question([each, last])), terms(server))
    assert prompts(server) == ["question 0", "Why A for 10?", "True False"]
    assert [(session.item, [r.text for r in session.replies]) for session in said()[:3]] == [
        (0, ["A", "fine"]), (1, [None, None]), (2, [None, None]),
    ]  # fmt: skip


def test_what_was_never_asked_is_told_item_by_item_where_the_items_are_known(made: Make) -> None:
    talk = session_records.difficulty([1, 2])
    talk["sessions"][0]["role"] = "judge"
    ended = session_records.pressure(1, depth=2)
    after = session_records.session(
        "after",
        session_records.turn(
            session_records.template(
                "{{ answered(opening) }} {{ answered(stance) }} {{ finish_reason(stance) }}", "opening", "stance"
            )
        ),
        needs=["talk"],
    )
    ended["sessions"].append(after)
    refused = loop.fails(400, "flagged by the content filter", "content_filter")

    async def answer(asked: loop.Asked, request: Any) -> Any:
        return await (refused if asked.text.startswith("Claim") else scripted.plays())(asked, request)

    with loop.serve(answer) as server:
        asked(made(talk, ended), terms(server, roles={"judge": "none"}))
    assert [session.item for session in said() if session.name == "single"] == [0, 1]
    assert prompts(server)[-1] == "False False content_filter"
    assert [reply.finish_reason for reply in said(number=1)[0].replies] == ["content_filter", "content_filter"]


JUNK = [
    {"expression": "1/0"}, {"template": "{{ x"}, {"expression": "f(1)", "functions": {"f": 5}}, {"expression": "y", "lets": [["y"]]},
    {"expression": "10**10**10"}, {"template": "{{ 'a' * 10**9 }}"}, {"expression": "tokens(nobody)", "replies": ["nobody"]},
]  # fmt: skip


def test_stored_code_of_no_right_shape_spoils_its_own_session(made: Make) -> None:
    questions = []
    for at, junk in enumerate(JUNK):
        broken = [
            session_records.session("text", session_records.turn(junk, "never")),
            session_records.session("when", session_records.turn("x"), when=junk),
            session_records.session("list", session_records.turn("x"), over=junk),
            session_records.session(
                "item", session_records.turn("x"), over=[{"expression": "sqrt(2)"}, {"expression": 5}]
            ),
        ]
        questions.append(
            session_records.question(
                [*broken, session_records.session("sound", session_records.turn(f"Hello {at}", "hello"))], at
            )
        )
    with loop.serve(scripted.plays()) as server:
        (entry,) = asked(made(*questions), terms(server)).respondents
    assert entry.asked == len(JUNK) and entry.ended is None
    with read_store("a.run") as store:
        whole = [text for (text,) in store.rows("SELECT text FROM reply WHERE error IS NULL")]
    for text in whole:
        assert [reply.text for reply in read_transcript(text)[-1].replies] == ["fine"]
    assert len(whole) == len(JUNK) and all(prompt.startswith("Hello") for prompt in prompts(server))


def test_symbolic_items_are_made_in_the_worker(made: Make) -> None:
    each = session_records.session(
        "each",
        session_records.turn(session_records.template("Square {{ item }}"), "square"),
        over=[{"expression": "sqrt(2)"}, {"rational": "1/2"}],
        **{"as": "item"},
    )
    with loop.serve(scripted.plays()) as server:
        asked(made(session_records.question([each])), terms(server))
    assert sorted(prompts(server)) == ["Square 1/2", "Square sqrt(2)"]


BROKEN: dict[str, Any] = {
    "an order that is none": [
        session_records.session("a", session_records.turn("x"), needs=["b"]),
        session_records.session("b", session_records.turn("x")),
    ],
    "another address": [
        session_records.session("a", session_records.turn("x"), settings={"base_url": "http://example.invalid"})
    ],
    "a setting of another kind": [
        session_records.session("a", session_records.turn("x"), settings={"temperature": True})
    ],
    "an unknown format": [session_records.session("a", session_records.turn("x", "r", "no-such"))],
    "a name twice": [session_records.session("a", session_records.turn("x", "r"), session_records.turn("y", "r"))],
}


@pytest.mark.parametrize("name", BROKEN)
def test_sessions_that_cannot_be_read_are_an_error_of_their_question(
    bundle_writer: Make, tmp_path: Path, name: str
) -> None:
    broken = {**session_records.association(), "sessions": BROKEN[name]}
    bundle = bundle_writer(tmp_path / "broken", [broken], [session_records.answer(session_records.association())], 1)
    with loop.serve(scripted.plays()) as server:
        (entry,) = asked(bundle, terms(server)).respondents
    assert (entry.errors, len(server.asked)) == (1, 0)
