"""Draft a template from a table: one question per row, with guessed types and a guessed answer column."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from dia_compiler.authoring.scaffold import Draft
from dia_compiler.authoring.yaml_text import field_of, quoted, record, scalar, text_scalar
from dia_compiler.parse.tables import DECIMAL, INTEGER, read_rows
from dia_compiler.types.rows import NAME
from dia_compiler.types.tables import Table
from dia_language.answers.choices import is_label
from dia_language.diagnostics import DiaError, Diagnostic, Position, did_you_mean
from dia_language.numbers.values import Value, decimal_scale, plain

SUFFIXES = (".csv", ".jsonl")
ANSWERS = (
    "answer",
    "answers",
    "target",
    "label",
    "solution",
    "output",
    "gold",
    "expected",
    "correct",
    "result",
    "truth",
)
QUESTIONS = ("question", "prompt", "problem", "query", "input", "text", "instruction", "statement")
IDS = ("id", "uid", "uuid", "key", "code", "slug", "index", "number")
MOST_ITEMS = 100_000  # values of `each`
MOST_LABELS = 12
MOST_NAME = 100
EXAMPLE = 400  # longest row that is used as an example
AWKWARD = re.compile(r'["\\{}\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]|^\s|\s$')
ALIKE = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]*[1-9])?")
ISO_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table with the name of its file for messages, and the line of each row."""

    table: Table
    file: str
    lines: Sequence[int]

    def refused(self, message: str, row: int | None = None, help: str | None = None) -> DiaError:
        """Return the error at a row, or at the first line."""
        line = 1 if row is None else self.lines[row]
        return DiaError(Diagnostic("E111", message, Position(self.file, line, 1), help))


def draft_from_table(path: Path, answer_column: str | None = None) -> Draft:
    """Return a template that asks for one column of each row of a .csv or .jsonl file, with a copy of the file.

    The kinds of columns, the type of the answer and, without `answer_column`, the column of answers are guessed. Raises
    DiaError (exit code 2) if the file cannot be read, has no header, holds nested values, lacks an answer, or has two
    rows that ask the same question.
    """
    if path.suffix not in SUFFIXES:
        help = "save the table as .csv with a header, or as .jsonl with one object per line"
        raise DiaError(Diagnostic("E111", f"`{path.name}` is not a table that --from reads", None, help))
    start = Position(path.as_posix(), 1, 1)
    table, raw = read_rows(path, path.as_posix(), start)
    sheet = Sheet(table, path.as_posix(), list(_lines(path)))
    _check_names(sheet)
    if path.suffix == ".csv":
        _check_header(sheet)
    else:
        _check_flat(sheet)
    answer = _answer_column(sheet, answer_column)
    _check_answers(sheet, answer)
    kinds: dict[str, str] = {}
    if path.suffix == ".csv":
        kinds = {name: _kind(list(table.column(name)), name == answer) for name in table.columns}
        kinds = {name: kind for name, kind in kinds.items() if kind != "text"}
        sheet = replace(sheet, table=read_rows(path, path.as_posix(), start, kinds)[0]) if kinds else sheet
    file = f"data/{re.sub(r'[^A-Za-z0-9_.-]+', '_', path.stem)}{path.suffix}"
    return _Writer(sheet, answer, answer_column is not None, kinds, file).draft(raw)


def _lines(path: Path) -> Iterator[int]:
    """Yield the line of each row."""
    if path.suffix == ".jsonl":
        with path.open(encoding="utf-8-sig", newline="\n") as file:
            yield from (number for number, line in enumerate(file, 1) if line.strip(" \t\r\n"))
        return
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file)
        next(reader)
        line = reader.line_num + 1
        for _ in reader:
            yield line
            line = reader.line_num + 1


def _check_names(sheet: Sheet) -> None:
    for name in sheet.table.columns:
        if not name or AWKWARD.search(name) or len(name) > MOST_NAME:
            help = f"use 1 to {MOST_NAME:,} characters, without quotes, braces, backslashes and outer spaces"
            raise sheet.refused(f"the column name `{name[:40]}` cannot be used in a template", None, help)
    if len(sheet.table.columns) < 2:
        help = "a question needs at least two columns: one to show, and one with the answer"
        raise sheet.refused(f"the file has only one column, `{sheet.table.columns[0]}`", None, help)


def _check_header(sheet: Sheet) -> None:
    """Raise DiaError if the first line looks like a row: a name is a number, and so is the rest of its column."""
    for name in sheet.table.columns:
        if DECIMAL.fullmatch(name) and all(DECIMAL.fullmatch(cell) for cell in sheet.table.column(name)):
            message = f"the file seems to have no header: `{name}` in the first line is a number, like its column"
            help = f"name the columns in the first line; if `{name}` is a name, put a letter before it"
            raise sheet.refused(message, None, help)


def _check_flat(sheet: Sheet) -> None:
    for number in range(sheet.table.count):
        for name, value in sheet.table.at(number).items():
            if isinstance(value, list | Mapping):
                kind = "an object" if isinstance(value, Mapping) else "a list"
                help = "make each part a separate key, with a text, number, boolean or null"
                raise sheet.refused(f"the column `{name}` contains {kind}", number, help)


def _answer_column(sheet: Sheet, chosen: str | None) -> str:
    columns = sheet.table.columns
    if chosen is None:
        by_name = {name.lower(): name for name in reversed(columns)}
        return next((by_name[name] for name in ANSWERS if name in by_name), columns[-1])
    if chosen not in columns:
        help = did_you_mean(chosen, columns) or f"its columns are {', '.join(columns[:20])}"
        message = f"{sheet.file} has no column `{chosen[:80]}`, which --answer-column names"
        raise DiaError(Diagnostic("E600", message, None, help))
    return chosen


def _check_answers(sheet: Sheet, column: str) -> None:
    """Raise DiaError at the first row without an answer, or with an answer of another kind than those before."""
    kind_before = ""
    for number, value in enumerate(sheet.table.column(column)):
        if value is None or (isinstance(value, str) and not value.strip()):
            help = "fill it in, remove the row, or name another column with --answer-column"
            raise sheet.refused(f"this row has no answer in the column `{column}`", number, help)
        kind = {str: "a text", bool: "a boolean"}.get(type(value), "a number")
        if kind_before not in ("", kind):
            message = f"the answer in the column `{column}` is {kind}, but {kind_before} in earlier rows"
            raise sheet.refused(message, number, "write all answers in the same way")
        kind_before = kind


def _kind(cells: Sequence[str], is_answer: bool) -> str:
    """Return the kind of a CSV column. Except for answers, a number is read as one only if it prints as it is written.

    So `1.50` and `007` stay text, and the prompt shows them unchanged.
    """
    if is_answer and all(cell.lower() in ("true", "false") for cell in cells):
        return "boolean"
    if all(cell in ("True", "False") for cell in cells):
        return "boolean"
    if not all(DECIMAL.fullmatch(cell) and (is_answer or _prints_alike(cell)) for cell in cells):
        return "text"
    if any(re.match(r"[+-]?0[0-9]", cell) for cell in cells):
        return "text"
    return "integer" if all(INTEGER.fullmatch(cell) for cell in cells) else "decimal"


def _prints_alike(cell: str) -> bool:
    """Return whether the number in the cell prints as it is written."""
    return ALIKE.fullmatch(cell) is not None and cell != "-0"


class _Writer:
    """Writes the draft of a table."""

    def __init__(self, sheet: Sheet, answer: str, is_named: bool, kinds: Mapping[str, str], file: str) -> None:
        self.sheet, self.table, self.answer, self.kinds, self.file = sheet, sheet.table, answer, kinds, file
        others = [name for name in self.table.columns if name != answer]
        self.identifier = next(filter(self._is_identifier, others), None)
        self.question = next(filter(self._is_question, others), None)
        self.columns_in_prompt = [name for name in others if name != self.identifier]
        if not self.columns_in_prompt or self._same_questions():
            self.columns_in_prompt = others
        self.reason = (
            "" if is_named else "because of its name" if answer.lower() in ANSWERS else "because it is the last column"
        )

    def draft(self, raw: bytes) -> Draft:
        """Return the draft. Raises DiaError if two rows ask the same question."""
        twice = self._same_questions()
        if twice is not None:
            message = f"this row asks the same question as line {self.sheet.lines[twice[0]]}"
            raise self.sheet.refused(
                message, twice[1], "remove one of the two, or add a column that distinguishes them"
            )
        guesses = [f"the column `{self.answer}` contains the answer, {self.reason}"] if self.reason else []
        options = self._answer_options()
        guesses.append(f"the type of the answer is {options[0].removeprefix('type: ')}")
        guesses += [f"the column `{name}` contains {KIND_WORDS[kind]}" for name, kind in self.kinds.items()
                    if name != self.answer]  # fmt: skip
        if self.question:
            guesses.append(f"the column `{self.question}` contains the text of the question")
        if self.identifier:
            guesses.append(f"the column `{self.identifier}` names the rows")
        return Draft(self._text(options), _label(self.answer).capitalize(), {self.file: raw}, tuple(guesses))

    def _text(self, options: Sequence[str]) -> str:
        value = field_of("row", self.answer)
        lines = [
            "# yaml-language-server: $schema=.schemas/template.schema.json",
            "# A draft: verify the lines with `guessed`.",
            "template: NAME",
            "title: TITLE",
            "",
            "params:",
            f"  row: {self._row()}{' # guessed' if self.kinds or self.identifier else ''}",
            *(["each: row # every row is an item; without this line, k rows are drawn"] if self._is_listed() else []),
            "",
            "answer:",
            f"  value: {value if '[' not in value else quoted(value)}{' # guessed' if self.reason else ''}",
            f"  {options[0]} # guessed",
            *(f"  {option}" for option in options[1:]),
            "",
            "# checks: # conditions that every row must satisfy",
            "# mistakes: # typical wrong answers by name; reports count them",
            "",
            "prompt: |",
            *(f"  {line}" if line else "" for line in self._prompt()),
            *self._example(),
        ]
        return "\n".join(lines) + "\n"

    def _row(self) -> str:
        options = [f"type: row, from: {self.file}"]
        if self.kinds:
            options.append(f"columns: {record(self.kinds)}")
        if self.identifier:
            field = f"= {field_of('row', self.identifier)}"
            options.append(f"id: {field if '[' not in field else quoted(field)}")
        return "{" + ", ".join(options) + "}"

    def _is_listed(self) -> bool:
        return self.table.count <= MOST_ITEMS

    def _prompt(self) -> Iterator[str]:
        for name in self.columns_in_prompt:
            field = field_of("row", name)
            has_gaps = any(value is None for value in self.table.column(name))
            if has_gaps:
                yield f"{{% if {field} != none %}}"
            yield f"{{{{ {field} }}}}" if name == self.question else f"{_label(name)}: {{{{ {field} }}}}"
            if has_gaps:
                yield "{% endif %}"
        if not self.question:
            yield ""
            yield f"What is the {_label(self.answer)}?"

    def _same_questions(self) -> tuple[int, int] | None:
        """Return two rows whose prompts differ at most in whitespace; None if there are none."""
        columns = [list(self.table.column(name)) for name in self.columns_in_prompt]
        rows: dict[int, int] = {}
        for number, values in enumerate(zip(*columns, strict=True)):
            parts = zip(self.columns_in_prompt, values, strict=True)
            text = " ".join(f"{_label(name)}: {plain(value)}" for name, value in parts if value is not None)
            first = rows.setdefault(hash(" ".join(text.split())), number)
            if first != number:
                return first, number
        return None

    def _is_identifier(self, name: str) -> bool:
        if name.lower() not in IDS and not name.lower().endswith(("_id", "-id", " id")):
            return False
        values = list(self.table.column(name))
        is_fit = all(type(value) in (str, int) and NAME.fullmatch(plain(value)) for value in values)
        return is_fit and len({plain(value) for value in values}) == len(values)

    def _is_question(self, name: str) -> bool:
        return name.lower() in QUESTIONS and all(isinstance(value, str) for value in self.table.column(name))

    def _answer_options(self) -> list[str]:
        values = list(self.table.column(self.answer))
        labels = sorted({plain(value) for value in values}) if isinstance(values[0], str) else []
        if isinstance(values[0], bool):
            return ["type: boolean"]
        if not labels:
            places = max(_places(value) for value in values)
            return ["type: integer"] if places == 0 else [
                "type: real", f"round: {{places: {places}, ties: half_even, zeros: strip}}"
            ]  # fmt: skip
        if all(map(_is_date, labels)):
            return ["type: date"]
        is_few = 2 <= len(labels) <= MOST_LABELS and len(values) >= 3 * len(labels)
        if is_few and all(map(is_label, labels)) and len({label.casefold() for label in labels}) == len(labels):
            return ["type: choice", f"of: [{', '.join(map(text_scalar, labels))}]"]
        return ["type: text", "case: fold", "whitespace: collapse"]

    def _example(self) -> Iterator[str]:
        for number in range(min(self.table.count, 100)):
            row = self.table.at(number)
            written = record(row)
            if len(written) <= EXAMPLE:
                yield ""
                yield "examples: # tests of this template, run by `dia check`"
                yield f"  - params: {{row: {written}}}"
                yield f"    answer: {scalar(row[self.answer])}"
                return


KIND_WORDS = {"integer": "integers", "decimal": "decimal numbers", "boolean": "True or False"}


def _label(name: str) -> str:
    """Return the name of a column as prompts show it."""
    return name.replace("_", " ").strip() or name


def _places(value: Value) -> int:
    scale = decimal_scale(value.denominator)
    return scale[0] if scale else 0


def _is_date(text: str) -> bool:
    try:
        return ISO_DATE.fullmatch(text) is not None and bool(date.fromisoformat(text))
    except ValueError:
        return False
