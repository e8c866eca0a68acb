"""Templates are rendered, in parts or by functions of their own, as Jinja renders them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest
from dia_language.diagnostics import DiaError, Position
from dia_language.expressions.namespace import Namespace
from dia_language.expressions.syntax import Loose
from dia_language.numbers.values import Record
from dia_language.templates.templates import GUARDS, CompiledTemplate, _compiled, compile_template, parse_template

REST = {"n": 7, "names": ["a", "b"]}


SEEN = {
    "n": 2,
    "none_at_all": [],
    "items": ["x", 3, [1, 2]],
    "pairs": [[1, "a"], [2, "b"]],
    "record": Record(a=1, b=[2]),
    "is_long": True,
}


def template(text: str) -> CompiledTemplate:
    return compile_template(parse_template(Loose(text)), Namespace(), frozenset({"task", *REST}))


@pytest.mark.parametrize("text", ["{{ task }}", "a\n{{ task }}{{ n }}\n", "{{ n }}{{ task }}, {{ task }}", "{{ n }}"])
def test_the_texts_around_a_value_are_joined_by_it(text: str) -> None:
    around = template(text).around("task", REST)
    assert around is not None
    for value in ("", "one", "{{ n }}\n"):
        assert value.join(around) == template(text)({**REST, "task": value})


@pytest.mark.parametrize("text", ["{{ upper(task) }}", "{{ task ~ n }}", "{% if n > 1 %}{{ task }}{% endif %}"])
def test_there_are_none_where_more_depends_on_the_value(text: str) -> None:
    assert template(text).around("task", REST) is None


PARTS = [
    "{% for items in items %}{{ items }}{{ loop.index }}{% endfor %}{{ items }}",
    "{% for a, b in pairs %}\n{{ loop.index0 }} {{ a }} of {{ loop.length }}: {{ b }}\n{% endfor %}\n",
    "{% for i in pairs %}{% for k in i %}{{ loop.first }}{{ loop.last }}{{ k }}{% else %}-{% endfor %}"
    "{{ loop.revindex }}{{ loop.revindex0 }}{% endfor %}",
    "{% for x in none_at_all %}{{ x }}{% else %}none{% endfor %}",
    "{% for name in record %}{{ name }}={{ record[name] }};{% endfor %}",
    "{% if n > 2 %}more{% elif n == 2 %}two{{ n }}{% else %}less{% endif %}{% if not is_long %}{% endif %}",
    "{{ 'one' if n == 1 else 'many' }} {{ [n, 'a'] }} {{ 7 }} {{ none }} {{ true }}{{ n > 1 and is_long or 'x' }}",
    "{% for x in items %}{% if loop.index == n %}{{ x }}{% endif %}{% endfor %}",
    "{% for x in 'ab' %}{{ x ~ n }}{{ upper(x) }}{% endfor %}",
]


@dataclass(frozen=True)
class Numbered(Loose):
    """A text whose places are told by their offsets."""

    def place(self, offset: int) -> Position | None:
        return Position("prompt", offset, 1)


def both(text: str) -> tuple[CompiledTemplate, CompiledTemplate]:
    """The template as a function of its own, and by Jinja."""
    made, again = (compile_template(parse_template(Numbered(text)), Namespace(), frozenset(SEEN)) for _ in range(2))
    assert made.blocks is not None
    known = {**GUARDS, **{name: held for name, held in made.blocks.__globals__.items() if name.startswith("_")}}
    tree = parse_template(Loose(text)).tree
    return made, replace(again, blocks=None, template=_compiled(tree, known))


@pytest.mark.parametrize("text", PARTS)
def test_blocks_are_rendered_as_by_jinja(text: str) -> None:
    own, by_jinja = both(text)
    assert own(SEEN) == by_jinja(SEEN)


@pytest.mark.parametrize(
    "text",
    [
        "a\n\n{% for x in items %}\nline {{ x }}\n{{ x[5] }}{% endfor %}",
        "{% for a, b in items %}{{ a }}{% endfor %}",
        "\n{% for x in n %}{% endfor %}",
        "{% if n %}\n{% if record.c %}{% endif %}{% endif %}",
        "{% if n == 1 %}{% elif record.c %}{% endif %}\n{{ n }}",
        "{{ n if n == 1 else\n items[9] }}",
    ],
)
def test_failures_are_told_as_by_jinja(text: str) -> None:
    told = []
    for made in both(text):
        with pytest.raises(DiaError) as failed:
            made(SEEN)
        told.append([(entry.code, entry.message, entry.help, entry.position) for entry in failed.value.diagnostics])
    assert told[0] == told[1]


def test_a_loop_names_no_item_after_itself() -> None:
    with pytest.raises(DiaError, match="`loop` is the loop itself"):
        template("{% for loop in names %}a{% endfor %}")


def test_long_rows_and_deep_nests_are_as_jinja_has_them() -> None:
    row = "{% if n == 0 %}a" + "".join(f"{{% elif n == {k} %}}{k}" for k in range(1, 900)) + "{% endif %}"
    assert template(row)(REST) == "7"
    nest = "{% if n == 7 %}" * 60 + "x" + "{% endif %}" * 60
    assert template(nest).blocks is None and template(nest)(REST) == "x"
    with pytest.raises(DiaError, match="nested too deep"):
        template("{% if n == 7 %}" * 120 + "{% endif %}" * 120)
