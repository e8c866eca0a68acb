"""Templates are rendered as Jinja's documentation says, and failures are reported at their tag."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest
from dia_language.diagnostics import DiaError, Position
from dia_language.expressions.namespace import Namespace
from dia_language.expressions.syntax import PlainSource
from dia_language.numbers.values import Record
from dia_language.templates.templates import CompiledTemplate, compile_template, parse_template

VALUES = {
    "n": 2,
    "none_at_all": [],
    "items": ["x", 3, [1, 2]],
    "pairs": [[1, "a"], [2, "b"]],
    "record": Record(a=1, b=[2]),
    "is_long": True,
}


@dataclass(frozen=True)
class Numbered(PlainSource):
    """A text whose places are told by their offsets."""

    def place(self, offset: int) -> Position | None:
        return Position("prompt", offset, 1)


def template(text: str) -> CompiledTemplate:
    return compile_template(parse_template(Numbered(text)), Namespace(), frozenset(VALUES))


RENDERED = [
    ("{{ n }}, {{ n }}", "2, 2"),
    ("a\n{{ n }}{{ is_long }}\n", "a\n2True\n"),
    (
        "{% for items in items %}{{ items }}{{ loop.index }}{% endfor %}{{ items }}",
        'x132[1, 2]3["x", 3, [1, 2]]',
    ),
    (
        "{% for a, b in pairs %}\n{{ loop.index0 }} {{ a }} of {{ loop.length }}: {{ b }}\n{% endfor %}\n",
        "0 1 of 2: a\n1 2 of 2: b\n",
    ),
    (
        "{% for i in pairs %}{% for k in i %}{{ loop.first }}{{ loop.last }}{{ k }}{% else %}-{% endfor %}"
        "{{ loop.revindex }}{{ loop.revindex0 }}{% endfor %}",
        "TrueFalse1FalseTruea21TrueFalse2FalseTrueb10",
    ),
    ("{% for x in none_at_all %}{{ x }}{% else %}none{% endfor %}", "none"),
    ("{% for name in record %}{{ name }}={{ record[name] }};{% endfor %}", "a=1;b=[2];"),
    (
        "{% if n > 2 %}more{% elif n == 2 %}two{{ n }}{% else %}less{% endif %}{% if not is_long %}{% endif %}",
        "two2",
    ),
    (
        "{{ 'one' if n == 1 else 'many' }} {{ [n, 'a'] }} {{ 7 }} {{ none }} {{ true }}{{ n > 1 and is_long or 'x' }}",
        'many [2, "a"] 7 none TrueTrue',
    ),
    ("{% for x in items %}{% if loop.index == n %}{{ x }}{% endif %}{% endfor %}", "3"),
    ("{% for x in 'ab' %}{{ x ~ n }}{{ upper(x) }}{% endfor %}", "a2Ab2B"),
]


@pytest.mark.parametrize(("text", "rendered"), RENDERED)
def test_templates_are_rendered(text: str, rendered: str) -> None:
    assert template(text)(VALUES) == rendered


@pytest.mark.parametrize(
    ("text", "message", "offset"),
    [
        ("a\n\n{% for x in items %}\nline {{ x }}\n{{ x[5] }}{% endfor %}", "index 5 is outside text of length 1", 40),
        ("{% for a, b in items %}{{ a }}{% endfor %}", "not enough values to unpack", 3),
        ("\n{% for x in n %}{% endfor %}", "cannot loop over an integer", 4),
        ("{% if n %}\n{% if record.c %}{% endif %}{% endif %}", "the record has no field `c`", 14),
        ("{% if n == 1 %}{% elif record.c %}{% endif %}\n{{ n }}", "the record has no field `c`", 18),
        ("{{ n if n == 1 else\n items[9] }}", "index 9 is outside a list of length 3", 3),
        ("a\n{{ n }}\n{{ record.c }}", "the record has no field `c`", 13),
        ("a\n{{ upper(n) }}", "`upper`", 5),
        ("{{ n }} and {{ items[1] }} and {{ items[8] }}", "index 8 is outside a list of length 3", 34),
        ("{% raw %}{{ x }}{% endraw %} {{ '}}' }} {{ record.c }}", "the record has no field `c`", 43),
    ],
)
def test_failures_are_reported_at_their_tag(text: str, message: str, offset: int) -> None:
    with pytest.raises(DiaError, match=re.escape(message)) as failed:
        template(text)(VALUES)
    assert [entry.position for entry in failed.value.diagnostics] == [Position("prompt", offset, 1)]


def test_a_loop_names_no_item_after_itself() -> None:
    with pytest.raises(DiaError, match="`loop` is the name of the loop itself"):
        template("{% for loop in items %}a{% endfor %}")


def test_long_rows_and_deep_nests() -> None:
    row = "{% if n == 0 %}a" + "".join(f"{{% elif n == {k} %}}{k}" for k in range(1, 900)) + "{% endif %}"
    assert template(row)(VALUES) == "2"
    assert template("{% if n == 2 %}" * 60 + "x" + "{% endif %}" * 60)(VALUES) == "x"
    with pytest.raises(DiaError, match="nested too deeply"):
        template("{% if n == 7 %}" * 120 + "{% endif %}" * 120)


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        ("{{ n + 1 }} and {{ m * 2 }}", {3: "arithmetic is not", 19: "arithmetic is not"}),
        (
            "{{ n }} {{ n b }} {{ c + 1 }} {{ (n }} {{ n }",
            {13: "there is no operator", 21: "arithmetic", 33: "the `(` is", 39: "`{{` is not closed"},
        ),
        (
            "{% if n + 1 %}{{ 2 ** n }}{% endif %}{% for x in n - 1 %}{{ _x }}{% endfor %}",
            {6: "arithmetic", 22: "arithmetic", 49: "arithmetic", 60: "names that start with _"},
        ),
        ("{% for x in n %}{{ x }} {{ n + 1 }}", {3: "the block `for` is not closed", 27: "arithmetic"}),
        (
            "{% if n %}a{% endfor %}{% elif %} {% fi %}",
            {
                3: "the block `if` is not closed",
                14: "the tag `endfor` is not",
                26: "the tag ends too early",
                37: "the tag `fi`",
            },
        ),
        (
            "{% for x in items %}{% set y = 1 %}a{% endset %}{% end %}{{ }}",
            {23: "the tag `set`", 51: "the tag `end`", 60: "there is nothing"},
        ),
        ("{% raw %}{{ n b }}{% endraw %}{{ n ] }} {% if n", {35: "nothing opens", 40: "`{%` is not closed"}),
        ("{% autoescape true %}{{ n }}{% endautoescape %}", {3: "`autoescape` is not part"}),
        (
            "{{ else_ }}{{ if_x + }}{{ for2 + }}{{ endif }}{{ if n }}",
            {14: "the expression ends", 26: "the expression ends", 38: "`endif` is a tag", 49: "`if` is a tag"},
        ),
        ("seen \0# hidden #\0", {5: "a template cannot contain the character NUL"}),
        ("\u0663\n{{ n }} {{ 1\U0001d7d8 }} {{ 2.\U0001d7d8 }}", {13: "`1\U0001d7d8` is not a number"}),
    ],
)
def test_each_error_of_a_template_is_reported_at_its_place(text: str, messages: dict[int, str]) -> None:
    with pytest.raises(DiaError) as caught:
        parse_template(Numbered(text))
    found = {entry.position.line: entry.message for entry in caught.value.diagnostics if entry.position}
    assert found.keys() == messages.keys() and all(found[at].startswith(messages[at]) for at in found)
