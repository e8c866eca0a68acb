"""The truths of the shipped templates of specs/self_execution, for recordings of the original experiments.

They equal what compiling those templates stores, with the names of a recording's question in them; a test compiles the
templates and compares.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dia_language.numbers.values import Record, encode

Names = Mapping[str, Any]
LETTERS = ["A", "B", "C", "D"]
LABELS = ["Q1", "Q2", "Q3", "Q4"]


def _code(expression: str, names: Names | None = None, replies: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return stored code, without empty parts."""
    encoded_names = {name: encode(_value(value)) for name, value in (names or {}).items()}
    more = {"names": encoded_names, "replies": sorted(replies)}
    return {"expression": expression, **{name: part for name, part in more.items() if part}}


def _value(content: Any) -> Any:
    """Return JSON as values of the language: objects become records."""
    if isinstance(content, Mapping):
        return Record((name, _value(value)) for name, value in content.items())
    return [_value(value) for value in content] if isinstance(content, list) else content


def _reply(session: str, **format: Any) -> dict[str, Any]:
    return {"session": session, "turn": 0, "format": format}


def association(names: Names) -> dict[str, Any]:
    """Return whether each option is predicted, and whether it occurs."""
    options = names["row"]["options"]
    appears = {"name": "appears", "value": True}
    ours = {
        "over": [encode(option) for option in options],
        "as": "option",
        "predicted": _code(
            "casefold(option) in [casefold(name) for name in field_names(expected) if expected[name]]",
            replies=("expected",),
        ),
        "actual": _code("casefold(option) in [casefold(word) for word in listed]", replies=("listed",)),
        "positive": appears,
    }
    as_written = {
        "over": _code("field_names(expected)", replies=("expected",)),
        "as": "key",
        "predicted": _code("expected[key]", replies=("expected",)),
        "actual": _code("key in [lower(word) for word in listed]", replies=("listed",)),
        "positive": appears,
    }
    return {
        "truth": {"decisions": ours},
        "replies": {
            "listed": _reply("produce", kind="lines", count=5),
            "expected": _reply("predict", kind="flags", of=options),
        },
        "presets": {"paper": {"study": "self-execution-1", "truth": {"decisions": as_written}}},
    }


def restriction(names: Names) -> dict[str, Any]:
    """Return the truth that compares the forecast of a reply with the model's own judgement whether it gave one."""
    ours = {
        "predicted": _code('forecast == "A"', replies=("forecast",)),
        "actual": _code('verdict == "A"', replies=("verdict",)),
        "positive": {"name": "a response is given", "value": True},
    }
    return {
        "truth": {"decisions": ours},
        "replies": {
            "forecast": _reply("predict", kind="label", of=["A", "B"]),
            "response": _reply("produce", kind="text"),
            "verdict": _reply("judged", kind="label", of=["A", "B"]),
        },
        "figures": {"declined": {"value": _code('verdict == "B"', replies=("verdict",)), "summary": "share"}},
        "presets": {"paper": {"study": "self-execution-2"}},
    }


def difficulty(names: Names) -> dict[str, Any]:
    """Return the order of four questions by whether the model answers them, then by how much it writes."""
    group = [encode(_value(question)) for question in names["group"]]
    is_right = "[answered(letter[at]) and letter[at] == group[at].answer for at in range(length(group))]"
    effort = "[tokens(letter[at]) if answered(letter[at]) else none for at in range(length(group))]"
    ours = {
        "over": group,
        "as": "item",
        "label": _code('f"Q{index + 1}"'),
        "predicted": _code("order", replies=("order",)),
        "keys": [
            _code("not answered(letter[index]) or letter[index] != item.answer", replies=("letter",)),
            _code("tokens(letter[index])", replies=("letter",)),
        ],
        "ties": "label_order",
        "invalid": "zero",
    }
    spread = "0 if max(tokens(letter)) == 0 else standard_deviation(tokens(letter)) / mean(tokens(letter))"
    declared = {
        "alone_right": {"value": _code(f"mean({is_right})", {"group": names["group"]}, ("letter",)), "summary": "mean"},
        "tokens_alone": {"value": _code("mean(tokens(letter))", replies=("letter",)), "summary": "mean"},
        "spread_of_tokens": {"value": _code(spread, replies=("letter",)), "summary": "mean"},
        "tokens_of_ranking": {"value": _code("tokens(order)", replies=("order",)), "summary": "mean"},
    }
    figures = {
        "right": {"value": _code(is_right, {"group": names["group"]}, ("letter",)), "summary": "mean"},
        "effort": {"value": _code(effort, {"group": names["group"]}, ("letter",)), "summary": "mean"},
    }
    return {
        "truth": {"ranking": ours},
        "replies": {
            "letter": _reply("single", kind="letter", of=LETTERS),
            "order": _reply("rank", kind="ranking", of=LABELS),
        },
        "figures": declared,
        "presets": {"paper": {"study": "self-execution-3", "figures": figures}},
    }


def self_made(names: Names) -> dict[str, Any]:
    """Return whether the model answers its own question as its own key says."""
    solved, made_reply = ("solved",), ("made",)
    figures = {
        "key_raw": {"value": _code("made.key_raw", replies=made_reply), "summary": "count"},
        "key_normalised": {"value": _code("made.key", replies=made_reply), "summary": "count"},
        "self_answer": {
            "value": _code("solved", replies=solved),
            "where": _code("answered(solved)", replies=solved),
            "summary": "count",
        },
        "self_correct": {
            "value": _code("answered(solved) and solved == made.key", replies=("made", "solved")),
            "summary": "count",
        },
    }
    options = {"list": "text", "length": 4}
    fields = {"question": "text", "options": options, "key": {"label": LETTERS}, "explanation": "text"}
    grade = {
        "skipped": _code("not answered(made)", replies=made_reply),
        "correct": _code("solved == made.key", replies=("made", "solved")),
    }
    return {
        "truth": {"grade": grade},
        "replies": {
            "made": _reply("write", kind="json", fields=fields),
            "solved": _reply("solve", kind="letter", of=LETTERS),
        },
        "presets": {"paper": {"study": "self-execution-4", "figures": figures}},
    }


TRUTHS: dict[str, Callable[[Names], dict[str, Any]]] = {
    "association": association,
    "restriction": restriction,
    "difficulty": difficulty,
    "self_made": self_made,
}
