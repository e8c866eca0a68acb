"""`dia new --from-question`: a draft that asks the question again with other numbers, or a refusal."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import pytest
from dia_compiler.authoring.from_question import draft_from_question
from dia_compiler.commands.cli import run
from dia_compiler.generate.examples import check_examples
from dia_language.diagnostics import DiaError, Diagnostics
from helpers.examples import examples
from helpers.small_specs import expansion
from hypothesis import given, settings
from hypothesis import strategies as st

# Question, answer, the calculation that the draft must have, and what Python makes of a prompt's numbers
DRAFTED = [
    ("Ada has 12 apples and buys 5 more apples. How many has she now?", "17", "apples + apples_2", lambda a, b: a + b),
    ("A ream has 500 sheets. How many sheets have 12 reams?", "500 * 12 = 6,000", "sheets * reams", lambda a, b: a * b),
    ("Bo cuts 84 cm of rope into 7 parts. How long is each?", "12", "rope / parts", lambda a, b: a // b),
    (
        "A coat costs $80. Its price falls by 25%. What does it cost now?",
        "The price falls by 80*25/100=<<80*25/100=20>>20. It costs 80-20=<<80-20=60>>60.\n#### 60",
        "price - step_1",
        lambda a, b: a - Fraction(a * b, 100),
    ),
    ("A train leaves at 3:30. It makes 1,200 stops of 2 minutes. How many minutes does it stand?",
     "1200*2=2400", "stops * minutes", lambda *numbers: numbers[-2] * numbers[-1]),
    ("One pen costs $1.50. What do 4 pens cost in dollars?", "6", "price * pens", lambda a, b: a * b),
    ("A week has 7 days. Cy works 6 hours on 5 days. How many hours is that?", "6 * 5 = 30", "hours * days_2", None),
    ("Weng earns $12 an hour. Today she worked 50 minutes. How much did she earn?",
     "12/60 = <<12/60=0.2>>0.2 per minute, so 0.2 x 50 = <<0.2*50=10>>10.\n#### 10", "step_1 * minutes",
     lambda a, b: Fraction(a * b, 60)),
    ("Bo has 12 pens and half as many rulers. How many rulers has he?", "0.5 * 12 = 6", "0.5 * pens", lambda a: a / 2),
    ("What does {% if %} print {{ 3 }} times and {# 4 #} times?", "3 + 4 = 7", "number + number_2", lambda a, b: a + b),
]  # fmt: skip


@pytest.mark.parametrize(("question", "answer", "calculation", "again"), DRAFTED, ids=[one[2] for one in DRAFTED])
def test_a_draft_asks_the_question_with_other_numbers(
    question: str, answer: str, calculation: str, again: object, tmp_path: Path
) -> None:
    draft = draft_from_question(question, answer)
    assert re.search(rf"^  (step_\d|result): {re.escape(calculation)} #", draft.text, re.MULTILINE), draft.text
    made, diagnostics = expansion(tmp_path, draft.named("t", "T")), Diagnostics()
    check_examples(made, diagnostics)
    assert not diagnostics.errors
    pattern = re.escape(question)
    for number in re.findall(r"(?<![\w:.,])[0-9][0-9,.]*[0-9]|(?<![\w:.,])[0-9]", question):
        pattern = pattern.replace(re.escape(number), r"([0-9][0-9,.]*[0-9]|[0-9])", 1)
    texts = set()
    for instance in made.questions(20, is_trial=True):
        match = re.fullmatch(pattern, instance.challenge)
        assert match is not None, instance.challenge
        numbers = [Fraction(text.replace(",", "")) for text in match.groups()]
        if callable(again):
            assert Fraction(instance.text) == again(*numbers)
        texts.add(instance.challenge)
    assert len(texts) == 20


def test_what_is_guessed_is_said() -> None:
    draft = draft_from_question("Di has 6 cats and 6 dogs, and 2 fish. How many animals?", "6 + 6 + 2 = 14")
    assert "6 is `cats` here, not `dogs`" in draft.guesses and "`fish` may be 2 to 9; it was 2" in draft.guesses
    assert all(f"# - {guess}\n" in draft.text for guess in draft.guesses)
    weeks = draft_from_question("Ed runs 3 km a day. How far does he run in 2 weeks?", "3 * 14 = 42")
    assert "2 is not in the calculation, so it stays as it is" in weeks.guesses
    assert "14 is a constant of the calculation" in weeks.guesses and "in 2 weeks" in weeks.text
    searched = draft_from_question("A box has 2 rows of 2 eggs. How many eggs?", "4")
    assert "the calculation is `rows * eggs`" in searched.guesses or "other calculations also give 4: " in searched.text
    assert not any("eggs + rows" in guess for guess in searched.guesses)  # the same as `rows + eggs`


@pytest.mark.parametrize(
    ("question", "answer", "message"),
    [
        ("How many?", "4", "the question has no number that could vary"),
        ("", "4", "a question has 1 to 10,000 characters"),
        ("Is 5 the 3rd number?", "1000003", "no short calculation with 5 gives 1000003"),
        ("Add 5 and 7.", "twelve", "the answer `twelve` is not a number"),
        ("Add 5 and 7.", "5 + 7 = 13", "`5 + 7` is 12, not 13"),
        ("Add 5 and 7.", "5 ** 7 = 78125", "the calculation `5 ** 7` cannot be read"),
        ("Add 5 and 7.", "5 / 0 = 1", "the calculation `5 / 0` cannot be read"),
        ("Add 5 and 7.", "<<5+7=12>> #### 13", "no step of the calculation gives 13"),
        ("Add 5 and 7.", "2 + 2 = 4", "the calculation uses no number of the question"),
        ("Add 5 and 7.", "__import__('os') - 1 = 1", "cannot be read"),
        ("Add 5 and 7.", "(" * 500 + "1" + ")" * 500 + "+1=2", "cannot be read"),
    ],
)
def test_what_cannot_be_drafted_is_refused(question: str, answer: str, message: str) -> None:
    with pytest.raises(DiaError) as refused:
        draft_from_question(question, answer)
    assert message in refused.value.diagnostics[0].message


NUMBERS = st.lists(st.integers(2, 9999), min_size=2, max_size=4, unique=True)


@settings(max_examples=examples(60))
@given(NUMBERS, st.lists(st.sampled_from("+-*/"), min_size=3, max_size=3), st.booleans())
def test_every_calculation_comes_back(
    tmp_path_factory: pytest.TempPathFactory, numbers: list[int], signs: list[str], is_known: bool
) -> None:
    expression = str(numbers[0])
    for sign, number in zip(signs, numbers[1:], strict=False):
        expression = f"({expression}) {sign} {number}"
    value = eval(re.sub(r"\d+", r"Fraction(\g<0>)", expression), {"Fraction": Fraction})  # Python's own arithmetic
    if value <= 0 or value.denominator != 1:
        return
    question = " and ".join(map(str, numbers)) + "?"
    draft = draft_from_question(question, f"{expression} = {value}" if is_known else str(value))
    made, diagnostics = expansion(tmp_path_factory.mktemp("spec"), draft.named("t", "T")), Diagnostics()
    check_examples(made, diagnostics)
    assert not diagnostics.errors, draft.text


def test_the_command_writes_the_draft_and_prints_its_guesses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("q.txt").write_text("Flo packs 6 boxes of 12 eggs. How many eggs?")
    assert run(["new", "mine", "--benchmark", "--from-question", "@q.txt", "--answer", "72"]) == 0
    assert "guessed: the calculation is `boxes * eggs`" in capsys.readouterr().err
    assert run(["check", "mine", "--jobs", "1"]) == 0
    for arguments, message in (
        (["--from-question", "5?"], "--from-question and --answer belong together"),
        (["--from-question", "5?", "--answer", "5", "--choices"], "--choices and --from-question cannot be combined"),
        (["--from-question", "@none.txt", "--answer", "5"], "no file `none.txt`"),
    ):
        assert run(["new", "other", "-o", "mine", *arguments]) == 2
        assert message in capsys.readouterr().err
    assert not Path("mine", "other.yaml").exists()
