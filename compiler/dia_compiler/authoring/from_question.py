"""Draft a template from a fixed question: its numbers become parameters, and its calculation becomes the answer.

The calculation is read from the answer, as in `48 / 2 = 24` or in GSM8K's notes `<<48/2=24>>` (Cobbe et al. 2021,
https://arxiv.org/abs/2110.14168). For an answer that is a number alone, a short calculation of the question's numbers
is searched, and the draft names the others that give the same.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations

from dia_compiler.analyze.names import TAKEN
from dia_compiler.authoring.scaffold import Draft
from dia_language.diagnostics import DiaError, Diagnostic
from dia_language.functions import library

# A number of a text; not in a word (3rd), a fraction (1/2) or a time (3:30)
NUMBER = re.compile(r"(?<![\w.,/:])([0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(\.[0-9]+)?(?![\w/:]|[.,][0-9])")
FOLLOWING = re.compile(r"(?:[ -]+[A-Za-z]{1,20}){1,3}")
STEP = re.compile(r"<<([^<>=]+)=([^<>=]+)>>")
FINAL = re.compile(r"####\s*(\S.*?)\s*\Z")
CALCULATION = re.compile(r"([^=]*[-+*/][^=]*)=\s*([^=]+)")
DROPPED = re.compile(r"[$,\s]")
STOP_WORDS = frozenset({
    "and", "are", "but", "did", "does", "for", "from", "had", "has", "have", "her", "his", "how", "into", "its", "less",
    "many", "more", "most", "much", "new", "not", "off", "old", "other", "our", "out", "over", "per", "than", "that",
    "the", "their", "them", "then", "they", "this", "times", "was", "were", "what", "when", "will", "with", "you",
    "your",
})  # fmt: skip
LONGEST_QUESTION, MOST_NUMBERS, SEARCHED, NAMED = 10_000, 12, 5, 4
LARGEST = 10**12
PERCENT = Fraction(100)
OPERATORS: Mapping[type[ast.operator], Callable[[Fraction, Fraction], Fraction]] = {
    ast.Add: lambda a, b: a + b, ast.Sub: lambda a, b: a - b, ast.Mult: lambda a, b: a * b, ast.Div: lambda a, b: a / b,
}  # fmt: skip
SIGNS: Mapping[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number of the question: its position, its value, the decimal places it is written with, and its name."""

    start: int
    end: int
    value: Fraction
    places: int
    name: str
    is_percent: bool
    is_grouped: bool


@dataclass(frozen=True, slots=True)
class Step:
    """A step of the calculation: its name, its expression, what it is in the question, and the calculation as given."""

    name: str
    expression: str
    value: Fraction
    as_stated: str = ""


@dataclass(slots=True)
class Solution:
    """The steps of a calculation, the names of the quantities in it, and what the author has to verify."""

    steps: list[Step]
    used: set[str]
    guesses: list[str] = field(default_factory=list)


def draft_from_question(question: str, answer: str) -> Draft:
    """Return a template that asks the question with other numbers.

    `answer` is a number, a calculation with its result, or a solution in the style of GSM8K. Raises DiaError (exit code
    2) if the question has no number, or no calculation of its numbers gives the answer.
    """
    question = question.strip()
    if not question or len(question) > LONGEST_QUESTION:
        raise _refused(f"a question has 1 to {LONGEST_QUESTION:,} characters", None)
    quantities = list(_quantities(question))
    if not quantities:
        raise _refused("the question has no number that could vary", "put such questions in a table, and use --from")
    solution = _solution(answer, quantities)
    return _written(question, quantities, solution)


def _refused(message: str, help: str | None) -> DiaError:
    return DiaError(Diagnostic("E600", message, None, help))


def _quantities(question: str) -> Iterator[Quantity]:
    """Yield the numbers of a question with names made of the word after each."""
    names: set[str] = set()
    for match in list(NUMBER.finditer(question))[:MOST_NUMBERS]:
        value = Fraction(match.group().replace(",", ""))
        if value > LARGEST:
            continue
        is_percent = question[match.end() : match.end() + 1] == "%"
        name = _name(question, match.start(), match.end(), is_percent)
        name = next(one for one in (name, *(f"{name}_{at}" for at in range(2, 99))) if one not in names)
        names.add(name)
        places = len(match[2]) - 1 if match[2] else 0
        yield Quantity(match.start(), match.end(), value, places, name, is_percent, "," in match[1])


def _name(question: str, start: int, end: int, is_percent: bool) -> str:
    if is_percent:
        return "percent"
    if question[start - 1 : start] in ("$", "€", "£"):
        return "price"
    match = FOLLOWING.match(question, end)
    words = re.findall("[a-z]+", match.group().lower()) if match else []
    name = next((word for word in words if len(word) > 2 and word not in STOP_WORDS), "number")
    return f"{name}_count" if name in TAKEN or name in library() else name


# the calculation


def _solution(answer: str, quantities: Sequence[Quantity]) -> Solution:
    notes = [(match[1].strip(), match[2].strip()) for match in STEP.finditer(answer)]
    final = FINAL.search(answer)
    calculation = CALCULATION.fullmatch(answer.strip())
    if not notes and calculation:
        notes = [(calculation[1].strip(), calculation[2].strip())]
    if notes:
        result = _number(final[1]) if final else _number(notes[-1][1])
        return _from_steps(notes, result, quantities)
    result = _number(final[1] if final else answer)
    return _searched(result, quantities)


def _number(text: str) -> Fraction:
    try:
        return Fraction(DROPPED.sub("", text).rstrip(".%"))
    except (ValueError, ZeroDivisionError):
        help = "write a number, such as 42, or the calculation with its result, such as 48 + 48 / 2 = 72"
        raise _refused(f"the answer `{text.strip()[:60]}` is not a number", help) from None


def _from_steps(notes: Sequence[tuple[str, str]], result: Fraction, quantities: Sequence[Quantity]) -> Solution:
    """Return the steps of a solution, with the numbers in them replaced by names."""
    solution = Solution([], set())
    for text, stated in notes:
        try:
            tree = ast.parse(DROPPED.sub("", text), mode="eval").body
            value = _value(tree)
        except (SyntaxError, ValueError, ZeroDivisionError, RecursionError):
            help = "use numbers, + - * / and parentheses"
            raise _refused(f"the calculation `{text[:60]}` cannot be read", help) from None
        if value != _number(stated):
            raise _refused(f"`{text[:60]}` is {_number_text(value)}, not {stated[:30]}", "correct the calculation")
        expression = _expression(tree, quantities, solution)
        solution.steps.append(Step(f"step_{len(solution.steps) + 1}", expression, value, f"{text} = {stated}"))
    if not any(step.value == result for step in solution.steps):
        raise _refused(f"no step of the calculation gives {_number_text(result)}", "add the step that gives the answer")
    while solution.steps[-1].value != result:
        solution.steps.pop()
    return solution


def _value(node: ast.expr) -> Fraction:
    """Return the value of a calculation. Raises ValueError for anything but numbers and the four operations."""
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return _constant(node)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand)
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        return OPERATORS[type(node.op)](_value(node.left), _value(node.right))
    raise ValueError


def _constant(node: ast.Constant) -> Fraction:
    return Fraction(repr(node.value))


def _expression(node: ast.expr, quantities: Sequence[Quantity], solution: Solution) -> str:
    """Return a calculation as an expression of the language, with names for numbers."""
    if isinstance(node, ast.Constant):
        return _named(_constant(node), quantities, solution)
    if isinstance(node, ast.UnaryOp):
        return f"-{_bracketed(node.operand, quantities, solution)}"
    assert isinstance(node, ast.BinOp)
    left = _bracketed(node.left, quantities, solution, isinstance(node.op, ast.Add))
    right = _bracketed(node.right, quantities, solution, isinstance(node.op, ast.Add))
    return f"{left} {SIGNS[type(node.op)]} {right}"


def _bracketed(node: ast.expr, quantities: Sequence[Quantity], solution: Solution, is_sum: bool = False) -> str:
    text = _expression(node, quantities, solution)
    is_plain = not isinstance(node, ast.BinOp) or (is_sum and isinstance(node.op, ast.Mult | ast.Div))
    return text if is_plain and not text.startswith("-") and " / 100" not in text else f"({text})"


def _named(value: Fraction, quantities: Sequence[Quantity], solution: Solution) -> str:
    """Return the name of a number: of the last step with this result, else of a quantity; the number if it has none."""
    step = next((step.name for step in reversed(solution.steps) if step.value == value), None)
    same = [one for one in quantities if one.value == value]
    fresh = [one for one in same if one.name not in solution.used]
    if step is not None:
        if same:
            solution.guesses.append(f"{_number_text(value)} is `{step}` here, not `{same[0].name}` of the question")
        return step
    if same:
        if len(fresh) > 1:
            solution.guesses.append(f"{_number_text(value)} is `{fresh[0].name}` here, not `{fresh[1].name}`")
        chosen = (fresh or same)[0]
        solution.used.add(chosen.name)
        return chosen.name
    percent = next((one for one in quantities if one.is_percent and one.value / PERCENT == value), None)
    if percent is not None:
        solution.used.add(percent.name)
        return f"{percent.name} / 100"
    if value not in (1, PERCENT):
        solution.guesses.append(f"{_number_text(value)} is a constant of the calculation")
    return (
        _number_text(value)
        if value.denominator in (1, 2, 4, 5, 10, 20, 100)
        else f"({value.numerator} / {value.denominator})"
    )


def _searched(result: Fraction, quantities: Sequence[Quantity]) -> Solution:
    """Return the simplest calculation of the first numbers that gives the result. Raises DiaError if none is short."""
    chosen = [one for one in quantities if one.value][:SEARCHED]
    candidates: dict[str, tuple[float, frozenset[str]]] = {}
    for extra in [None, *chosen] if len(chosen) <= 3 else [None]:
        atoms = [(one.value / PERCENT, f"({one.name} / 100)", one.name) if one.is_percent else
                 (one.value, one.name, one.name) for one in [*chosen, *([extra] if extra else [])]]  # fmt: skip
        for cost, text, members in _combined(atoms, result):
            if extra and not {chosen.index(extra), len(chosen)} <= set(members):
                continue  # already found without the second use
            names = frozenset(atoms[at][2] for at in members)
            rank = cost + 2 * (len(chosen) - len(names)) + (1.5 if extra else 0)
            if len(names) > 1 or len(chosen) == 1:
                candidates.setdefault(text, (rank, names))
    ranked = sorted(candidates.items(), key=lambda item: (item[1][0], item[0]))
    if not ranked:
        numbers = " and ".join(", ".join(_number_text(one.value) for one in chosen).rsplit(", ", 1))
        help = "give the calculation with its result, such as --answer '48 + 48 / 2 = 72'"
        raise _refused(f"no short calculation with {numbers} gives {_number_text(result)}", help)
    (text, (_, names)), *others = ranked
    solution = Solution([Step("result", text, result)], set(names))
    solution.guesses.append(f"the calculation is `{text}`")
    if others:
        first = ", ".join(f"`{other}`" for other, _ in others[:NAMED])
        more = f", and {len(others) - NAMED} more" if len(others) > NAMED else ""
        solution.guesses.append(f"other calculations also give {_number_text(result)}: {first}{more}")
    return solution


Atom = tuple[Fraction, str, str]


def _combined(atoms: Sequence[Atom], result: Fraction) -> Iterator[tuple[int, str, tuple[int, ...]]]:
    """Yield calculations that use each atom of some group once and give the result: cost, text, positions of atoms."""
    values_of: dict[tuple[int, ...], dict[Fraction, tuple[int, str]]] = {
        (at,): {value: (0, text)} for at, (value, text, _) in enumerate(atoms)
    }
    for size in range(2, len(atoms) + 1):
        for group in combinations(range(len(atoms)), size):
            best: dict[Fraction, tuple[int, str]] = {}
            for left in (part for count in range(1, size) for part in combinations(group, count)):
                right = tuple(at for at in group if at not in left)
                for a, (cost_a, text_a) in values_of[left].items():
                    for b, (cost_b, text_b) in values_of[right].items():
                        for value, text in _pairs(a, text_a, b, text_b, left < right):
                            cost = cost_a + cost_b + 1
                            if value == result:
                                yield cost, text, group
                            if size < len(atoms) and (value not in best or best[value] > (cost, text)):
                                best[value] = (cost, text)
            values_of[group] = best


def _pairs(a: Fraction, text_a: str, b: Fraction, text_b: str, is_first: bool) -> Iterator[tuple[Fraction, str]]:
    """Yield the results of two parts; sums and products in one order only."""
    factor_a = f"({text_a})" if re.search(r" [-+] ", _outside(text_a)) else text_a
    factor_b = f"({text_b})" if " " in _outside(text_b) else text_b
    if is_first:
        yield a + b, f"{text_a} + {text_b}"
        yield a * b, f"{factor_a} * {factor_b}"
    if a > b:
        yield a - b, f"{text_a} - {f'({text_b})' if re.search(r' [-+] ', _outside(text_b)) else text_b}"
    if b:
        yield a / b, f"{factor_a} / {factor_b}"


def _outside(text: str) -> str:
    """Return the text without what is in parentheses."""
    shorter = re.sub(r"\([^()]*\)", "", text)
    return text if shorter == text else _outside(shorter)


# the draft


def _written(question: str, quantities: Sequence[Quantity], solution: Solution) -> Draft:
    varied = [one for one in quantities if one.name in solution.used]
    if not varied:
        raise _refused("the calculation uses no number of the question", "write its numbers as in the question")
    guesses = [f"`{one.name}` may be {_range(one)[1]}; it was {_number_text(one.value)}" for one in varied]
    fixed = [one for one in quantities if one.name not in solution.used]
    guesses += [f"{_number_text(one.value)} is not in the calculation, so it stays as it is" for one in fixed]
    guesses += dict.fromkeys(solution.guesses)
    last = solution.steps[-1]
    width = max(len(one.name) for one in varied)
    lines = [
        "# yaml-language-server: $schema=.schemas/template.schema.json",
        "# A draft. Verify what was guessed:",
        *(f"# - {guess}" for guess in guesses),
        "template: NAME",
        "title: TITLE",
        "",
        "params:",
        *(f"  {one.name + ':':{width + 1}} {_range(one)[0]} # guessed; {_number_text(one.value)} in the question"
          for one in varied),
        "let:",
        *(f"  {step.name}: {step.expression}{f' # {step.as_stated}' if step.as_stated else ' # guessed'}"
          for step in solution.steps),
    ]  # fmt: skip
    conditions = list(_conditions(solution.steps, is_whole=not any(one.places for one in varied)))
    if conditions:
        lines += [
            "where: # guessed: conditions that are true in the question",
            *(f"  - {condition}" for condition in conditions),
        ]
    lines += ["", "answer:", f"  value: {last.name}", *(f"  {option}" for option in _answer_options(last, varied))]
    lines += ["", "# checks: # conditions that the answer must satisfy, computed differently"]
    lines += ["# mistakes: # typical wrong answers by name; reports count them", "", "prompt: |"]
    lines += [f"  {line}".rstrip() for line in _prompt(question, varied).split("\n")]
    values = ", ".join(f"{one.name}: {_number_text(one.value)}" for one in varied)
    lines += ["", "examples: # the question as it was, tested by `dia check`", f"  - params: {{{values}}}"]
    lines += [f"    answer: {_number_text(last.value)}", ""]
    return Draft("\n".join(lines), "A question with other numbers", {}, tuple(guesses))


def _range(one: Quantity) -> tuple[str, str]:
    """Return a parameter type for numbers like this one, and the same in words."""
    if one.places:
        least = _number_text(Fraction(1, 10**one.places)) if one.value < 1 else "1"
        most = 10 ** len(str(int(one.value)))
        options = f"{{type: real, min: {least}, max: {most}, decimals: {one.places}}}"
        return options, f"{least} to {most} with {one.places} decimal places"
    value = int(one.value)
    size = 10 ** (len(str(value)) - 1)
    step = next(step for step in (size, size // 10, size // 100, 1) if step and value % step == 0) if size > 1 else 1
    step = 5 if one.is_percent and value % 5 == 0 and value < 100 else step
    low, high = (
        (step, 95 if step == 5 else 99) if one.is_percent and value < 100 else (max(size, step), 10 * size - step)
    )
    low = min(2, value) if size == 1 and not one.is_percent else low
    text = f"{{type: integer, min: {low}, max: {high}{f', step: {step}' if step > 1 else ''}}}"
    return text, f"{low} to {high}" + (f" in steps of {step}" if step > 1 else "")


def _conditions(steps: Sequence[Step], is_whole: bool) -> Iterator[str]:
    """Yield the conditions that the steps of the question satisfy: integers and positive where they were.

    `is_whole` says whether all parameters are whole, so that only fractions of the calculation make others.
    """
    has_fraction = False
    for step in steps:
        has_fraction = is_whole and (has_fraction or "." in step.expression or step.value.denominator > 1)
        if ("/" in step.expression or has_fraction) and step.value.denominator == 1:
            yield f"denominator({step.name}) == 1"
        if "-" in step.expression and step.value > 0:
            yield f"{step.name} > 0"


def _answer_options(last: Step, varied: Sequence[Quantity]) -> list[str]:
    if last.value.denominator == 1 and not any(one.places for one in varied):
        return ["type: integer"]
    return ["type: real # guessed", "round: {places: 2, ties: half_up, zeros: strip} # guessed"]


def _prompt(question: str, varied: Sequence[Quantity]) -> str:
    """Return the question with the names of parameters for numbers."""
    parts, at = [], 0
    for one in varied:
        printed = f"{one.name} | decimal({one.places})" if one.places else one.name
        printed = f"{one.name} | grouped" if one.is_grouped and not one.places else printed
        parts += [_literal(question[at : one.start]), f"{{{{ {printed} }}}}"]
        at = one.end
    return "".join([*parts, _literal(question[at:])])


def _literal(text: str) -> str:
    """Return a text as a template that prints it."""
    return re.sub(r"\{(?=[{%#])", "{{ '{' }}", text)


def _number_text(value: Fraction) -> str:
    """Return a number as a decimal, or as a fraction if it has none."""
    if value.denominator == 1:
        return str(value.numerator)
    for places in range(1, 13):
        if 10**places % value.denominator == 0:
            scaled = abs(value.numerator) * (10**places // value.denominator)
            digits = f"{scaled:0{places + 1}}"
            return f"{'-' if value < 0 else ''}{digits[:-places]}.{digits[-places:]}"
    return f"{value.numerator}/{value.denominator}"
