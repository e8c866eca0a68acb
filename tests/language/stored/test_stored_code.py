"""Stored code: what a spec may say about replies, with all that it needs; a reply is a value and never a template."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any

import pytest
from dia_language.diagnostics import DiaError, LanguageError
from dia_language.expressions.replies import UNSET, SessionReply, Unset
from dia_language.numbers.values import Record
from dia_language.stored.stored_code import IsolatedCode, load_code
from dia_language.workers.pool import SingleWorker

LETTERS = [SessionReply("A", "A.", 3), SessionReply(UNSET, "what?", 5), SessionReply()]


def evaluated(expression: str, scope: dict[str, Any], **more: Any) -> Any:
    replies = sorted(name for name, held in scope.items() if isinstance(held, (SessionReply, list)))
    return load_code({"expression": expression, "replies": replies, **more}).evaluate(scope)


def rendered(template: str, scope: dict[str, Any], **more: Any) -> str:
    return load_code({"template": template, "replies": sorted(scope), **more}).render(scope)


# Values, and what is known of how they came


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("word == 'tea'", True),
        ("word + '!'", "tea!"),
        ("f'{word}'", "tea"),
        ("word[0] + word[1:]", "tea"),
        ("length(word)", 3),
        ("text(word)", "Tea, I think."),
        ("tokens(word)", 7),
        ("seconds(word)", None),
        ("finish_reason(word)", "stop"),
        ("answered(word) and answered(letter[0])", True),
        ("[answered(letter[at]) for at in range(length(letter))]", [True, False, False]),
        ("answered(letter)", False),
        ("letter[0]", "A"),
        ("letter[:1]", ["A"]),
        ("tokens(letter[1])", 5),
        ("text(letter[1])", "what?"),
        ("letter[1] if answered(letter[1]) else 'none'", "none"),
        ("[word for word in ['x']]", ["x"]),
        ("made.key + made.options[1]", "By"),
    ],
)
def test_a_name_is_the_typed_value_and_functions_tell_how_it_came(expression: str, value: Any) -> None:
    scope = {
        "word": SessionReply("tea", "Tea, I think.", 7, None, "stop"),
        "letter": LETTERS,
        "made": SessionReply(Record({"key": "B", "options": ["x", "y"]}), "{...}"),
    }
    assert evaluated(expression, scope) == value


@pytest.mark.parametrize(
    "expression",
    ["word", "letter", "letter[1]", "letter[-1]", "letter[:2]", "[one for one in letter]", "word in ['a']", "text(word)",
     "tokens(letter)", "length(word)", "f'{word}'", "quoted(word)", "word == none"],
)  # fmt: skip
def test_what_is_not_there_is_told_by_its_name(expression: str) -> None:
    with pytest.raises(Unset) as caught:
        evaluated(expression, {"word": SessionReply(), "letter": LETTERS})
    assert caught.value.name == ("letter" if "letter" in expression else "word") and caught.value.code == "E512"


def test_a_reply_that_a_scope_does_not_hold_was_never_asked_for() -> None:
    code = load_code({"expression": "word if answered(word) else 'never'", "replies": ["word"]})
    assert code.evaluate({}) == "never"


def test_an_unread_reply_shows_its_text_and_has_no_value() -> None:
    scope = {"word": SessionReply(UNSET, "hm", 2)}
    assert rendered("{{ word }} {{ tokens(word) }} {{ text(word) }}", scope) == "hm 2 hm"
    with pytest.raises(Unset):
        rendered("{{ word ~ '!' }}", scope)


def test_lists_of_lists_belong_to_a_list_within_a_list() -> None:
    scope = {"said": [[SessionReply("a", "a", 1)], [SessionReply("b", "b", 2), SessionReply()]]}
    assert evaluated("[said[0], said[1][0], tokens(said[0]), answered(said[1])]", scope) == [["a"], "b", [1], False]


# Templates


def test_a_reply_is_text_and_is_never_rendered_again() -> None:
    hostile = "{{ 1 }} {% for x in y %} {{ secret }} ``` ````"
    scope = {"said": SessionReply(hostile, hostile)}
    assert rendered("<{{ said }}|{{ said ~ '' }}>", scope, names={"secret": "s"}) == f"<{hostile}|{hostile}>"
    shown = rendered("{{ quoted(said) }}", scope)
    assert shown == f"`````\n{hostile}\n`````"


def test_templates_see_macros_functions_and_let_values_that_need_replies() -> None:
    stored = {
        "template": "{{ m(n) }} {% if answered(word) %}{{ word }}{% else %}-{% endif %}{% for word in 'ab' %}{{ word }}{% endfor %}",
        "functions": {
            "m": {"arguments": ["word"], "template": "{{ word }}{{ long }}{{ f(word) }}"},
            "f": {"arguments": ["x"], "expression": "x + long + length(word)"},
        },
        "lets": [["short", "length(word)"], ["long", "short * 10"]],
        "names": {"n": 4},
        "replies": ["word"],
    }  # fmt: skip
    assert load_code(stored).render({"word": SessionReply("tea", "tea")}) == "43037 teaab"


def test_faces_may_be_templates_too() -> None:
    face = {"arguments": [], "entries": {"push/hard": {"template": "{{ n }} {{ word }}", "names": ["n"]}}}
    stored = {"template": "{{ say(step) }}", "faces": {"say": face}, "replies": ["word"],
              "names": {"step": {"entry": {"catalog": "push", "name": "hard", "values": {"n": 2}}}}}  # fmt: skip
    assert load_code(stored).render({"word": SessionReply("tea", "Tea!")}) == "2 Tea!"


def test_let_values_are_computed_where_they_are_needed_alone() -> None:
    stored = {"expression": "seen if answered(word) else 0", "lets": [["seen", "length(word)"]], "replies": ["word"]}
    assert load_code(stored).evaluate({}) == 0


# Strangers


@pytest.mark.parametrize(
    "stored",
    [
        {},
        {"expression": 1},
        {"expression": "1", "lets": [1]},
        {"expression": "f()", "functions": {"f": {}}},
        {"expression": "f()", "functions": {"f": {"arguments": [], "expression": "f()"}}},
        {"expression": "a", "lets": [["a", "b"], ["b", "a"]]},
        {"expression": "1", "names": {"a": {"no": 1}}},
        {"expression": "1", "names": []},
        {"expression": "1", "replies": 4},
        {"expression": "().__class__"},
        {"expression": "_s"},
        {"expression": "tokens(1)", "replies": ["word"]},
        {"expression": "10 ** 10 ** 10"},
    ],
)
def test_hostile_code_is_refused_in_one_line(stored: Any) -> None:
    with pytest.raises((DiaError, LanguageError)):
        load_code(stored).evaluate({})


@pytest.mark.parametrize(
    "template", ["{{ _s }}", "{{ word.__class__ }}", "{% include 'x' %}", "{{ tokens(1) }}", "{{", 5]
)
def test_hostile_templates_are_refused_in_one_line(template: Any) -> None:
    with pytest.raises((DiaError, LanguageError)):
        load_code({"template": template, "replies": ["word"]}).render({"word": SessionReply("a", "a")})


@pytest.fixture(scope="module")
def worker() -> Iterator[SingleWorker]:
    held = SingleWorker(1)
    yield held
    held.close()


def test_a_worker_evaluates_renders_and_tells_what_is_missing(worker: SingleWorker) -> None:
    stored = {"expression": "tokens(word) + length(word)", "template": "{{ word }}", "replies": ["word"]}
    code = IsolatedCode(stored, worker)
    assert (
        code.evaluate({"word": SessionReply("tea", "Tea.", 4)}) == 7
        and code.render({"word": SessionReply("tea", "Tea.")}) == "Tea."
    )
    with pytest.raises(Unset, match="`word` is missing"):
        code.evaluate({})
    with pytest.raises(LanguageError, match="the wrong shape"):
        IsolatedCode({"expression": "1", "names": 3}, worker).evaluate({})


def test_unset_stays_itself_when_it_is_sent() -> None:
    assert pickle.loads(pickle.dumps([SessionReply()]))[0].value is UNSET
