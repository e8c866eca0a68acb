"""Drawing: how many instances there are, what fixes them, and what messages say of the drawn values."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from dia_compiler.analyze.items import Item
from dia_compiler.generate.draw import Drawing
from dia_language.budgets import spent
from dia_language.diagnostics import DiaError
from dia_language.expressions.expressions import CompiledExpression
from helpers.small_specs import expansion, questions

HEAD = "template: sums\ntitle: Sums\n"
TAIL = 'answer: {value: "1", type: integer}\nprompt: "{{ a }} {{ b }}"\n'


def drawing(folder: Path, parameters: str, more: str = "", tail: str = TAIL) -> Drawing:
    """The drawing of a template with these parameters."""
    return expansion(folder, f"{HEAD}params:\n{parameters}{more}{tail}").drawing


def freedom(folder: Path, parameters: str, more: str = "") -> dict[str, Any]:
    return dict(drawing(folder, parameters, more).freedom().as_json())


def integer(name: str, least: int, most: object, more: str = "") -> str:
    return f"  {name}: {{type: integer, min: {least}, max: {most}{more}}}\n"


@pytest.mark.parametrize(
    ("parameters", "more", "expected"),
    [
        (integer("a", 1, 3) + integer("b", 1, 5), "", {"kind": "exact", "count": "15"}),
        (integer("a", 1, 10**6) + integer("b", 1, 10**6), "", {"kind": "exact", "count": "1000000000000"}),
        (integer("a", 1, 3) + integer("b", 1, 5), "where: a < b\n", {"kind": "exact", "count": "9"}),
        (integer("a", 1, 10**6) + integer("b", 1, 10**6), "where: a < b\n", {"kind": "at_most", "count": f"{10**12}"}),
        (integer("a", 1, 3) + integer("b", 0, "= a"), "", {"kind": "exact", "count": "9"}),
        (integer("a", 1, 10**6) + integer("b", 0, "= a"), "", {"kind": "at_least", "count": f"{10**6}"}),
        (integer("a", 1, 10**6) + integer("b", 0, "= a"), "where: b > 2\n", {"kind": "at_least", "count": "0"}),
        (integer("a", 1, 2**70) + integer("b", 1, 2**70), "", {"kind": "vast", "count": None}),
        (integer("a", 1, 2**70) + integer("b", 0, "= a + 2**100"), "", {"kind": "vast", "count": None}),
    ],
)  # fmt: skip
def test_the_freedom_of_parameters(tmp_path: Path, parameters: str, more: str, expected: dict[str, Any]) -> None:
    assert freedom(tmp_path, parameters, more) == expected


@pytest.mark.parametrize(
    ("places", "most", "expected"),
    [
        ("[3, 2, 4]", "= a", {"kind": "exact", "count": "2"}),
        ("[3, 2, 4]", "9", {"kind": "exact", "count": "9"}),
        ("[1, 1000000]", "= a", {"kind": "at_least", "count": "1"}),  # the item 1 is static, and not counted
    ],
)
def test_the_freedom_of_a_template_with_items_is_the_least_of_them(
    tmp_path: Path, places: str, most: str, expected: dict[str, Any]
) -> None:
    parameters = f"  a: {{type: choice, of: {places}}}\n" + integer("b", 1, most)
    assert freedom(tmp_path, parameters, "each: a\n") == expected


def test_the_freedom_of_many_different_items_is_measured_at_some(tmp_path: Path) -> None:
    parameters = integer("a", 2, 60) + integer("b", 1, "= a")
    assert freedom(tmp_path, parameters, "each: a\n") == {"kind": "at_least", "count": "1"}
    assert freedom(tmp_path / "52", integer("a", 2, 53) + integer("b", 1, "= a"), "each: a\n")["kind"] == "at_least"
    fewer = integer("a", 2, 52) + integer("b", 1, "= a")
    assert freedom(tmp_path / "51", fewer, "each: a\n") == {"kind": "exact", "count": "2"}


def test_an_estimate_is_made_for_one_item_with_choices(tmp_path: Path) -> None:
    estimated = drawing(tmp_path / "a", integer("a", 1, 40) + integer("b", 0, "= a")).estimated()
    assert estimated is not None and 700 < estimated[0] < 1000 and estimated[1] == 400  # there are 860
    about, draws = drawing(tmp_path / "c", integer("a", 1, 10**6) + integer("b", 0, "= a")).estimated() or (0, 0)
    assert 10**6 < about < 10**13 and draws > 0
    assert drawing(tmp_path / "b", integer("a", 1, 4) + integer("b", 1, 400), "each: a\n").estimated() is None


def test_a_balance_does_not_prevent_an_estimate(tmp_path: Path) -> None:
    parameters = "  flag: {type: boolean}\n" + integer("a", 1, 40) + integer("b", 1, 50)
    estimated = drawing(tmp_path, parameters, "balance: flag\nwhere: (a < b) == flag\n").estimated()
    assert estimated is not None and 1800 < estimated[0] < 2200  # there are 2,000


def test_items_fix_their_parameter_and_draw_from_keys_of_their_own(tmp_path: Path) -> None:
    made = drawing(tmp_path, integer("a", 1, 3) + integer("b", 1, 10**9), "each: a\n")
    assert [item.value for item in made.items] == [1, 2, 3]
    assert [made.fixed(item) for item in made.items] == [{"a": 1}, {"a": 2}, {"a": 3}]
    first = [next(made.positions(item))[1] for item in made.items]
    assert [scope["a"] for scope in first] == [1, 2, 3]
    assert len({scope["b"] for scope in first}) == 3
    assert len({made.key_for(item) for item in made.items} | {made.key}) == 4
    assert all(made.has_choices(item) for item in made.items)


def test_what_was_drawn_and_rejected_is_counted(tmp_path: Path) -> None:
    made = drawing(tmp_path, integer("a", 1, 4) + integer("b", 1, 4), "where: a < b\n")
    assert (made.drawn, made.rejected) == (0, 0)
    walk = made.positions(Item())
    assert len(list(islice(walk, 6))) == 6
    walk.close()  # type: ignore[attr-defined]
    drawn, rejected = made.drawn, made.rejected
    assert rejected > 0 and drawn >= rejected + 6
    walk = made.positions(Item())
    next(walk)
    walk.close()  # type: ignore[attr-defined]
    assert drawn < made.drawn <= 2 * drawn and rejected <= made.rejected <= 2 * rejected


def test_a_message_shows_the_values_that_led_to_it(tmp_path: Path) -> None:
    spec = HEAD + "params:\n" + integer("a", 7, 7) + integer("b", 1, 3) + "where: 1 / (a - 7) > b\n" + TAIL
    with pytest.raises(DiaError) as caught:
        questions(tmp_path, spec, k=1)
    (told,) = caught.value.diagnostics
    assert any(told.message.endswith(f" (where a = 7, b = {b})") for b in (1, 2, 3)), told.message


@pytest.mark.parametrize(("length", "shown_length"), [(196, 196), (197, 80), (1000, 80)])
def test_values_are_cut_if_all_take_more_than_200_characters(tmp_path: Path, length: int, shown_length: int) -> None:
    made = drawing(tmp_path, integer("a", 1, 3) + integer("b", 1, 3))
    dots = "..." if shown_length < length else ""
    assert made.parameters_text({"a": "x" * length}) == f" (where a = {'x' * shown_length}{dots})"


def test_a_long_value_hides_no_other_value(tmp_path: Path) -> None:
    made = drawing(tmp_path, "".join(integer(name, 1, 3) for name in "abcdefghijklmnopqrstuvwxyz"))
    scope = {"a": "x" * 300, "b": 123456789, "c": "y" * 300}
    assert made.parameters_text(scope) == f" (where a = {'x' * 80}..., b = 123456789, c = {'y' * 80}...)"
    many = made.parameters_text(dict.fromkeys("abcdefghijklmnopqrstuvwxyz", 10**30))
    assert many.startswith(" (where a = 1000000000..., b = ") and many.endswith(", ...)") and len(many) < 220


def test_parameters_are_shown_in_their_order(tmp_path: Path) -> None:
    made = drawing(tmp_path, integer("a", 1, 3) + integer("b", 1, 3))
    assert made.parameters_text({}) == "" and made.parameters_text({"other": 1}) == ""
    assert made.parameters_text({"b": 2, "a": 1}) == " (where a = 1, b = 2)"
    assert made.parameters_text({"a": 1}, "`nth_prime` needs `a` from 1 to 9") == " (where the template's a = 1)"


@pytest.mark.parametrize(("skip", "most"), [("", 25), ("  skip: I cannot say\n", 24)])
def test_a_choice_has_as_many_options_as_letters(tmp_path: Path, skip: str, most: int) -> None:
    spec = (
        HEAD + "params:\n" + integer("a", 1, 90) + "choices:\n  correct: a\n"
        "  distractors: '[-n for n in range(1, COUNT + 1)]'\n" + skip + "format: {kind: letter}\n"
        'prompt: "{{ a }}\\n{{ options }}"\n'
    )
    (made,) = questions(tmp_path / "most", spec.replace("COUNT", str(most)), k=1)
    assert len(made.challenge.split("\n")) == 1 + 26
    with pytest.raises(DiaError) as caught:
        questions(tmp_path / "more", spec.replace("COUNT", str(most + 1)), k=1)
    assert f"`distractors` must be a list of 1 to {most} values" in caught.value.diagnostics[0].message
    assert caught.value.diagnostics[0].code == "E203"


def test_pairs_of_classes_that_a_condition_keeps_apart_come_first_too(tmp_path: Path) -> None:
    """Both at an edge, one of them, or none, also where a condition forbids most of the rows that are tried first."""
    edges = (1, 2, 49, 50)
    made = drawing(tmp_path, integer("a", 1, 50) + integer("b", 1, 50),
                   "where: a + b != 51 and (a not in [1, 2] or b > 2)\nfuzz: {first: boundary}\n")  # fmt: skip
    front = [scope for scope in made.front(Item()) if scope is not None]
    assert {(scope["a"] in edges, scope["b"] in edges) for scope in front} == {
        (left, right) for left in (True, False) for right in (True, False)
    }
    values = [(scope["a"], scope["b"]) for scope in front]
    assert len(set(values)) == len(values)
    walked = [(scope["a"], scope["b"]) for _, scope in islice(made.positions(Item()), 100)]
    assert walked[: len(front)] == values and len(set(walked)) == len(walked)


def test_the_order_of_options_makes_another_instance(tmp_path: Path) -> None:
    spec = (
        HEAD + "params:\n" + integer("a", 1, 2) + "choices: {correct: a, distractors: '[5, 6]'}\n"
        'format: {kind: letter}\nprompt: "{{ a }}\\n{{ options }}"\n'
    )
    made = expansion(tmp_path, spec).drawing
    scopes = [scope for _, scope in islice(made.positions(Item()), 12)]
    assert len(scopes) == 12 == len({made.identity(scope) for scope in scopes})
    assert made.freedom().as_json() == {"kind": "exact", "count": "12"}


EDGES = (1, 2, 11, 12)


def front_of(folder: Path, names: str, where: str) -> list[dict[str, bool]]:
    """Which parameters of the first draws are at an edge; each is from 1 to 12."""
    made = drawing(folder, "".join(integer(name, 1, 12) for name in names), f"where: {where}\nfuzz: {{first: boundary}}\n",
                   TAIL.replace("{{ b }}", " ".join(f"{{{{ {name} }}}}" for name in names[1:])))  # fmt: skip
    return [{name: scope[name] in EDGES for name in names} for scope in made.front(Item()) if scope is not None]


@pytest.mark.parametrize("parity", [0, 1])
def test_each_pair_of_classes_is_found_with_the_third_parameter_free(tmp_path: Path, parity: int) -> None:
    edges = "[n for n in [a, b, c] if n in [1, 2, 11, 12]]"
    front = front_of(tmp_path, "abc", f"length({edges}) % 2 == {parity}")
    for one, other in ("ab", "ac", "bc"):
        assert len({(row[one], row[other]) for row in front}) == 4


def test_edges_that_never_go_together_come_one_by_one(tmp_path: Path) -> None:
    made = drawing(tmp_path, integer("a", 1, 50) + integer("b", 1, 50), "where: a != b\nfuzz: {first: boundary}\n")
    front = [scope for scope in made.front(Item()) if scope is not None]
    for name in "ab":
        assert {scope[name] for scope in front} >= {1, 2, 49, 50}


def test_positions_go_on_after_those_of_boundary_values(tmp_path: Path) -> None:
    made = drawing(tmp_path, integer("a", 1, 50) + integer("b", 1, 50), "fuzz: {first: boundary}\n")
    size = len(made.front(Item()))
    places = [place for place, _ in islice(made.positions(Item()), size + 30)]
    assert places == sorted(set(places)) and size <= places[size] and places[-1] < size + 50
    walked = dict(islice(made.walker(Item()).positions(), 60))
    for place, scope in islice(made.positions(Item()), size, size + 30):
        assert scope["a"] == walked[place - size]["a"]


def counted(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each expression is evaluated, by its text."""
    evaluations: Counter[str] = Counter()
    call = CompiledExpression.__call__

    def counting(code: CompiledExpression, *arguments: Any) -> Any:
        evaluations[code.parsed.source.text] += 1
        return call(code, *arguments)

    monkeypatch.setattr(CompiledExpression, "__call__", counting)
    return evaluations


def test_let_values_that_no_parameter_changes_are_computed_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    let = "let: {least: length(listed), listed: 'words(\"a b c\")', more: a + least}\n"
    template = drawing(tmp_path, integer("a", 1, 99) + integer("b", "= least", 99), f"{let}where: more < 60\n")
    evaluations = counted(monkeypatch)
    scopes = [scope for _, scope in islice(template.positions(Item()), 20)]
    assert [evaluations[text] for text in ("length(listed)", 'words("a b c")')] == [1, 1]
    assert evaluations["a + least"] >= 20
    assert all(scope["least"] == 3 and scope["more"] == scope["a"] + 3 for scope in scopes)


COSTLY = "sum(range(a * b, a * b + 300)) % 7 == 0"


def test_values_that_fail_a_costly_condition_are_not_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parameters = integer("a", 1, 5) + integer("b", 1, 7)
    evaluations = counted(monkeypatch)
    template = drawing(tmp_path, parameters, f"where: {COSTLY}\n")
    scopes = [(scope["a"], scope["b"]) for _, scope in islice(template.positions(Item()), 3)]
    tried, drawn = evaluations[COSTLY], template.drawn
    assert tried < drawn
    monkeypatch.setattr("dia_compiler.generate.draw.COSTLY_STEPS", 10**9)
    template = drawing(tmp_path, parameters, f"where: {COSTLY}\n")
    before = evaluations[COSTLY]
    assert [(scope["a"], scope["b"]) for _, scope in islice(template.positions(Item()), 3)] == scopes
    assert evaluations[COSTLY] - before == drawn == template.drawn


@pytest.mark.parametrize("condition", [COSTLY, f"sum(words) == 0 and {COSTLY}"])
def test_what_is_kept_changes_no_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, condition: str) -> None:
    let = "let: {words: '[0 for i in range(1000)]'}\n"
    more = f"{let}where: {condition}\n"
    template = drawing(tmp_path, integer("a", 1, 5) + integer("b", 1, 7), more)
    steps = []
    for _ in range(2):
        begin = spent()
        draws = [scope["b"] for _, scope in islice(template.positions(Item()), 3)]
        freedom = template.freedom()
        steps.append((spent() - begin, draws, freedom, sum(template.failures.values())))
        template.failures.clear()
    assert steps[0] == steps[1]


@pytest.mark.parametrize(
    ("refusals", "failures", "strictest"),
    [
        ({}, {}, None),
        ({}, {1: 1}, None),
        ({"a": 1}, {}, "a"),
        ({"a": 1, "b": 3, "c": 2}, {1: 1, 2: 2}, "b"),
        ({"a": 1, "b": 3}, {1: 1, 2: 3}, None),
        ({"a": 1, "b": 3}, {1: 4}, None),
    ],
)
def test_a_type_is_named_if_it_refused_its_values_more_often_than_any_condition_failed(
    refusals: dict[str, int], failures: dict[int, int], strictest: str | None
) -> None:
    made = object.__new__(Drawing)
    made.refusals, made.failures = Counter(refusals), Counter(failures)
    assert made.strictest_type() == strictest


@pytest.mark.parametrize(
    ("items", "least", "freedom", "measured"),
    [
        (4, "a", {"kind": "exact", "count": "6"}, 4),  # b from 4 to 9
        (5, "a", {"kind": "at_least", "count": "1"}, 4),
        (5, "1", {"kind": "exact", "count": "9"}, 1),  # alike
    ],
)
def test_few_items_are_measured_and_only_one_of_those_that_are_alike(
    items: int, least: str, freedom: dict[str, str], measured: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parameters = f"  a: {{type: integer, min: 1, max: {items}}}\n  b: {{type: integer, min: = {least}, max: 9}}\n"
    made = drawing(tmp_path, parameters, "each: a\n")
    asked: list[Item] = []
    freedom_of = Drawing.freedom_of
    monkeypatch.setattr(Drawing, "freedom_of", lambda self, item: asked.append(item) or freedom_of(self, item))
    monkeypatch.setattr("dia_compiler.generate.draw.MEASURED_ITEMS", 3)
    assert made.freedom_of_items().as_json() == freedom
    assert len(asked) == measured


BOWLS = "  bigger: {type: boolean}\n" + integer("a", 2, 8) + integer("b", "= a + 1", 9)


def test_a_balance_over_few_values_repeats_no_instance(tmp_path: Path) -> None:
    made = drawing(tmp_path, BOWLS, "balance: bigger\n")
    positions = islice(made.positions(Item(), True), 56)  # as many as there are
    values = [tuple(scope[name] for name in ("bigger", "a", "b")) for _, scope in positions]
    assert len(values) == len(set(values)) == 56
    assert all({one[0], other[0]} == {True, False} for one, other in zip(values[::2], values[1::2], strict=True))
    assert len({tuple(scope.items()) for _, scope in islice(made.positions(Item()), 56)}) < 56


def test_repeats_are_looked_for_where_they_are_likely(tmp_path: Path) -> None:
    def looks(parameters: str, more: str) -> bool:
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        return expansion(folder, f"{HEAD}params:\n{parameters}{more}{TAIL}").can_repeat

    assert looks(BOWLS, "balance: bigger\n") and not looks(BOWLS, "")
    wide = "  flag: {type: boolean}\n" + integer("a", 1, 10**6) + integer("b", 1, 10**7)
    assert not looks(wide, "balance: flag\n") and looks(wide.replace("10000000", "= a"), "balance: flag\n")
