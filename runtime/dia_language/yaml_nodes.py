"""YAML text to nodes with file, line and column. YAML 1.2 core scalars on libyaml's events.

Rejected before anything is built: files over 1 MiB, text that is not UTF-8, control and bidirectional characters,
duplicate keys, tags, anchors, aliases, merge keys, deep nesting.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from dia_language.counts import counted
from dia_language.diagnostics import BIDIRECTIONAL, DiaError, Diagnostic, Position
from dia_language.numbers.values import Record, Value, decimal

FILE_BYTES = 1 << 20
DEPTH = 64
NODES = 20_000
REST = 80
DIGITS = 4_000
KEY_LENGTH = 1_024

PARSER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True)
class Scalar:
    """A scalar: its value by the core rules, its text as read, and the position of each character.

    `rest_of_line` is the begin of what follows a plain scalar on its line. `raw` is the scalar as the file has it if
    escapes or folded lines move its characters, otherwise empty.
    """

    value: Value
    text: str
    style: str
    position: Position
    end_line: int
    rest_of_line: str
    indent: int = 0
    raw: str = ""

    def place(self, offset: int) -> Position:
        """Return the position in the file of the character at `offset` of the text."""
        start = self.position
        if self.style == "|":
            before = self.text[:offset]
            line = before.count("\n")
            column = offset - (before.rfind("\n") + 1)
            return Position(start.file, start.line + 1 + line, self.indent + column + 1)
        if self.raw:
            before = self.raw[: _raw_offset(self, offset)]
            line = before.count("\n")
            column = len(before) - (before.rfind("\n") + 1) + (0 if line else start.column - 1)
            return Position(start.file, start.line + line, column + 1)
        if self.end_line != start.line:  # of values that the spec does not contain
            return start
        return Position(start.file, start.line, start.column + offset + (self.style in ("'", '"')))


ESCAPED_DIGITS = {"x": 2, "u": 4, "U": 8}  # the number of hexadecimal digits after an escape in double quotes
FOLDED = re.compile(r"[ \t]*\n\s*")


def _raw_offset(scalar: Scalar, offset: int) -> int:
    """Return the offset in `raw` of the character at `offset` of the text."""
    raw, at = scalar.raw, scalar.raw.find("\n") if scalar.style == ">" else len(scalar.style)
    for char in scalar.text[:offset]:
        at = _after_continuation(scalar, at)
        fold = FOLDED.match(raw, at)
        if scalar.style == '"' and raw[at : at + 1] == "\\":
            at += 2 + ESCAPED_DIGITS.get(raw[at + 1 : at + 2], 0)
        elif scalar.style == "'" and raw.startswith("''", at):
            at += 2
        elif fold is None:
            at += 1
        elif not char.isspace():  # end of the text's whitespace, and so of the file's
            at = fold.end() + 1
    at = _after_continuation(scalar, at)
    fold = FOLDED.match(raw, at)
    return fold.end() if fold is not None and not scalar.text[offset : offset + 1].isspace() else at


def _after_continuation(scalar: Scalar, at: int) -> int:
    """Return the offset after a backslash that ends a line in double quotes, and the indent of the next line."""
    if scalar.style == '"' and scalar.raw.startswith("\\\n", at):
        at += 2
        while scalar.raw[at : at + 1] in (" ", "\t"):
            at += 1
    return at


@dataclass(frozen=True, slots=True)
class Sequence:
    """A list of nodes."""

    items: tuple[Node, ...]
    position: Position
    is_flow: bool = False


@dataclass(frozen=True, slots=True)
class Mapping:
    """Pairs of key and node in the order of the file; no key occurs twice."""

    pairs: tuple[tuple[Scalar, Node], ...]
    position: Position
    is_flow: bool = False

    def get(self, name: str) -> Node | None:
        """Return the node at the key, or None."""
        return next((node for key, node in self.pairs if key.text == name), None)

    def key(self, name: str) -> Scalar | None:
        """Return the key itself, for its position, or None."""
        return next((key for key, _ in self.pairs if key.text == name), None)


Node: TypeAlias = Scalar | Sequence | Mapping


def read(path: Path, display_name: str) -> tuple[Node, str]:
    """Return the root node of a YAML file and its text; `display_name` is the file's name in messages.

    Raises DiaError (exit code 2) with one positioned diagnostic.
    """
    text = read_text(path, display_name)
    return parse(text, display_name), text


def read_text(path: Path, display_name: str) -> str:
    """Return the text of a file of at most 1 MiB in UTF-8.

    Raises DiaError if the file cannot be read, is larger, or contains invisible characters.
    """
    return text_of(read_bytes(path, display_name), display_name)


def text_of(raw: bytes, display_name: str) -> str:
    """Return the text of the bytes of a file. Raises DiaError as `read_text`."""
    start = Position(display_name, 1, 1)
    if len(raw) > FILE_BYTES:
        raise _too_large(start)
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _error("E102", f"not UTF-8: byte {error.start} of the file", start, "save the file as UTF-8") from None
    return _require_visible(text.removeprefix("\ufeff"), display_name)


def read_bytes(path: Path, display_name: str) -> bytes:
    """Return the bytes of a regular file of at most 1 MiB. Raises DiaError for other files."""
    start = Position(display_name, 1, 1)
    try:
        if not path.is_file():
            raise _error("E101", f"no file `{path.as_posix()}`", start)
        with path.open("rb") as file:
            raw = file.read(FILE_BYTES + 1)
    except (OSError, RuntimeError, ValueError) as error:
        raise _error("E101", f"the file cannot be read: {getattr(error, 'strerror', None) or error}", start) from None
    if len(raw) > FILE_BYTES:
        raise _too_large(start)
    return raw


def _too_large(start: Position) -> DiaError:
    return _error("E103", "the file is larger than 1 MiB", start, "split it, or put data rows in a data file")


# Control characters, the line breaks that editors and YAML count differently, and what turns the direction of writing
UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff"
    + "".join(map(chr, sorted(BIDIRECTIONAL)))
    + "]|\r(?!\n)"
)


def _require_visible(text: str, display_name: str) -> str:
    match = UNSEEN.search(text)
    if match is None:
        return text
    line = text.count("\n", 0, match.start()) + 1
    place = Position(display_name, line, match.start() - (text.rfind("\n", 0, match.start()) + 1) + 1)
    code = ord(match.group())
    word = "bidirectional control character" if code in BIDIRECTIONAL else "control character"
    raise _error("E108", f"{word} U+{code:04X}", place, "remove it, or write it as an escape in double quotes")


def parse(text: str, display_name: str) -> Node:
    """Return the root node of a YAML text. Raises DiaError (exit code 2) with one positioned diagnostic."""
    return _Builder(text, display_name).document()


def size_of(node: Node) -> int:
    """Return the number of nodes of a tree."""
    if isinstance(node, Mapping):
        return 1 + len(node.pairs) + sum(size_of(value) for _, value in node.pairs)
    return 1 + sum(map(size_of, node.items)) if isinstance(node, Sequence) else 1


def _error(code: str, message: str, position: Position, help: str | None = None) -> DiaError:
    return DiaError(Diagnostic(code, message, position, help))


class _Builder:
    """Turns the stream of events into nodes; one document, bounded in depth and number."""

    def __init__(self, text: str, display_name: str) -> None:
        self.display_name, self.count = display_name, 0
        self.text, self.lines = text, text.split("\n")

    def _syntax(self, error: yaml.MarkedYAMLError) -> DiaError:
        mark = error.problem_mark or error.context_mark
        place = self._place(mark) if mark else Position(self.display_name, 1, 1)
        line = self.lines[place.line - 1] if place.line <= len(self.lines) else ""
        problem = error.problem or "unknown problem"
        if "maximum nesting depth" in problem:  # which PyYAML 6.0.4 and later bound themselves
            return _error("E107", f"nested more than {DEPTH} levels deep", place)
        if line[max(0, place.column - 2) : place.column] == "{%":
            at = Position(self.display_name, place.line, place.column - 1)
            return _error("E104", "YAML reads `{%` as the start of a mapping", at, QUOTE)
        if "\t" in line[: place.column]:
            return _error("E104", "there is a tab where YAML expects spaces", place, "use spaces for indentation")
        if "expected ',' or" in problem and error.context_mark and error.context_mark.line < place.line - 1:
            opened = self._place(error.context_mark)
            bracket = CLOSING.get(self.lines[opened.line - 1][opened.column - 1 : opened.column], "the bracket")
            help = f"close it with {bracket}; a text with brackets needs quotes around the whole value"
            return _error("E104", "a bracket or brace is not closed", opened, help)
        before, after = line[: place.column - 1], line[place.column - 1 :]
        if "did not find expected" in problem and after[:1] == "{" and IN_TEXT.search(before):
            return _error("E104", "YAML reads the `{` in this text as the start of a mapping", place, QUOTE)
        if "did not find expected" in problem and before.endswith('"') and '"' in after:
            at = Position(self.display_name, place.line, place.column - 1)
            return _error("E104", "the quotes end here, at the second one", at, INNER_QUOTES)
        if "did not find expected key" in problem and not before.strip(" -"):
            return self._wrong_indentation(place)
        if "did not find expected '-'" in problem and before.strip(" -"):
            return _error("E104", "text after a quoted or bracketed value", place, QUOTE)
        if "alias" in problem or "alphabetic" in problem:
            self._refuse_colon(place)
        if "could not find expected ':'" in problem and error.context_mark is not None:
            return self._line_without_colon(self._place(error.context_mark))
        if "mapping values are not allowed" in problem and (mistake := KEY_MISTAKE.match(line)) is not None:
            at, key = Position(self.display_name, place.line, mistake.end(2) + 1), mistake[2]
            what = "space" if mistake[3] else "`:`"
            after = f"{key}:" if mistake[3] else key
            return _error("E104", f"there is no {what} after `{after}`", at, f"write `{key}: {FORMS[mistake[4]]}`")
        if "mapping values are not allowed" in problem and INDENTED_KEY.match(before):
            message = "a `: ` inside an unquoted value, which this indented line continues"
            return _error("E104", message, place, f"{QUOTE}; if this line is a key, remove its indentation")
        for words, message, help in SYNTAX:
            if words in problem:
                return _error("E104", message, place, help)
        return _error("E104", f"not YAML: {problem}", place, QUOTE)

    def _wrong_indentation(self, place: Position) -> DiaError:
        """Return the error for a line whose indentation is that of no line above that it could belong with."""
        line = self.lines[place.line - 1]
        levels: list[int] = []
        for above in reversed(self.lines[: place.line - 1]):
            level = len(above) - len(above.lstrip(" "))
            if above.strip() and not above.lstrip().startswith("#") and (not levels or level < levels[-1]):
                levels.append(level)
        there = counted(len(line) - len(line.lstrip(" ")), "space")
        expected = " or ".join(map(str, levels))
        help = f"it has {there} before it; to belong with a line above, it needs {expected}"
        return _error("E104", "this line is indented differently from the lines above", place, help)

    def _line_without_colon(self, place: Position) -> DiaError:
        """Return the error for a line that is no `key: value`."""
        above = next((line.rstrip() for line in reversed(self.lines[: place.line - 1]) if line.strip()), "")
        if BLOCK_BEGIN.search(above):
            help = "indent every line of the text by two spaces more than its key"
            return _error("E104", f"the text after `{above[-1]}` is not indented", place, help)
        mistake = KEY_MISTAKE.match(self.lines[place.line - 1])
        if mistake is not None and mistake[3]:
            at = Position(self.display_name, place.line, mistake.end(2) + 2)
            return _error("E104", f"there is no space after `{mistake[2]}:`", at, f"write `{mistake[2]}: ...`")
        help = "write `key: value`; indent the line if it continues the value above"
        return _error("E104", "a line without `:` where YAML expects a key", place, help)

    def _refuse_colon(self, place: Position) -> None:
        """Report a `: ` in an unquoted value as the error, if a `*`, `&` or `!` only follows from it."""
        colon = _colon_in_value(self.lines[place.line - 1][: place.column - 1])
        if colon is not None:
            at = Position(self.display_name, place.line, colon + 1)
            raise _error("E104", "a `: ` inside an unquoted value", at, QUOTE)

    def _place(self, mark: Any) -> Position:
        return Position(self.display_name, mark.line + 1, mark.column + 1)

    def document(self) -> Node:
        """Return the root node."""
        try:
            loader = PARSER(self.text)
            try:
                self.next = loader.get_event
                root = self._root()
            finally:
                loader.dispose()
        except yaml.MarkedYAMLError as error:
            raise self._syntax(error) from None
        except yaml.YAMLError as error:
            raise _error("E104", f"not YAML: {error}", Position(self.display_name, 1, 1)) from None
        return root

    def _root(self) -> Node:
        root: Node | None = None
        while not isinstance(event := self.next(), yaml.StreamEndEvent):
            if isinstance(event, yaml.DocumentStartEvent):
                if root is not None:
                    place = self._place(event.start_mark)
                    raise _error(
                        "E110", "the file contains a second YAML document", place, "put one template in each file"
                    )
                root = self._node(self.next(), 0)
        if root is None:
            raise _error("E110", "the file is empty", Position(self.display_name, 1, 1), begin_with(self.display_name))
        return root

    def _node(self, event: Any, depth: int) -> Node:
        place = self._place(event.start_mark)
        self.count += 1
        if depth > DEPTH:
            raise _error("E107", f"nested more than {DEPTH} levels deep", place)
        if self.count > NODES:
            raise _error("E107", f"the file has more than {NODES:,} nodes", place, "put data rows in a data file")
        if event.anchor is not None or event.tag is not None:
            self._refuse_colon(place)
        if event.anchor is not None:
            if isinstance(event, yaml.AliasEvent):
                help = "quote the value if it starts with `*`; otherwise write it out, or use `types` and `lists`"
                raise _error("E106", "aliases are not supported", place, help)
            raise _error("E106", "anchors are not supported", place, "quote the value if it starts with `&`")
        if event.tag is not None:
            raise _error("E106", "tags are not supported", place, "quote the value if it starts with `!`")
        if isinstance(event, yaml.ScalarEvent):
            return self._scalar(event, place)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(event, place, depth)
        return self._mapping(event, place, depth)

    def _sequence(self, event: Any, place: Position, depth: int) -> Sequence:
        items = []
        while not isinstance(inner := self.next(), yaml.SequenceEndEvent):
            items.append(self._node(inner, depth + 1))
        return Sequence(tuple(items), place, bool(event.flow_style))

    def _mapping(self, event: Any, place: Position, depth: int) -> Mapping:
        pairs: list[tuple[Scalar, Node]] = []
        keys: dict[str, Scalar] = {}
        while not isinstance(inner := self.next(), yaml.MappingEndEvent):
            key = self._node(inner, depth + 1)
            if not isinstance(key, Scalar):
                raise self._no_key(key, place)
            self._check_key(key, keys)
            pairs.append((key, self._node(self.next(), depth + 1)))
        return Mapping(tuple(pairs), place, bool(event.flow_style))

    def _no_key(self, key: Node, place: Position) -> DiaError:
        """Return the error for a key that is a list or mapping: mostly the braces of an unquoted template."""
        line = self.lines[place.line - 1]
        if line[place.column - 1 : place.column + 1] == "{{":
            return _error("E104", "YAML reads `{{` as the start of a mapping", place, QUOTE)
        return _error("E104", "a key must be a word, not a list or mapping", key.position, QUOTE)

    def _check_key(self, key: Scalar, keys: dict[str, Scalar]) -> None:
        if len(key.text) > KEY_LENGTH:
            raise _error("E107", f"a key is longer than {KEY_LENGTH:,} characters", key.position)
        if key.text == "<<" and not key.style:
            raise _error("E106", "merge keys are not supported", key.position, "write the keys out")
        name = key.text if key.text.isascii() else unicodedata.normalize("NFC", key.text)
        first = keys.setdefault(name, key)
        if first is not key:
            message = f"duplicate key `{key.text}`, first on line {first.position.line}"
            is_split = any(one.count("(") > one.count(")") for one in keys)
            raise _error("E105", message, key.position, SPLIT if is_split else "keep one of them")

    def _scalar(self, event: Any, place: Position) -> Scalar:
        style = event.style or ""
        end = event.end_mark
        is_inside = style == "" and end.line < len(self.lines)  # a mark at the end may be after the last line
        rest = self.lines[end.line][end.column : end.column + REST] if is_inside else ""
        value = core_value(event.value, place) if style == "" else event.value
        indent = self._indent(place, event) if style in ("|", ">") else 0
        size = end.column - event.start_mark.column - 2 * (style in ("'", '"'))
        is_direct = style == "|" or (end.line == event.start_mark.line and size == len(event.value))
        raw = "" if is_direct else self._raw(event.start_mark, end)
        return Scalar(value, event.value, style, place, end.line + 1, rest, indent, raw)

    def _raw(self, start: Any, end: Any) -> str:
        """Return the text of the file between two marks."""
        lines = [line.removesuffix("\r") for line in self.lines[start.line : end.line + 1]]
        if end.line - start.line < len(lines):
            lines[-1] = lines[-1][: end.column]
        lines[0] = lines[0][start.column :]
        return "\n".join(lines)

    def _indent(self, place: Position, event: Any) -> int:
        """Return how many columns YAML removes from each line of a block: the indent of the first non-empty line."""
        for line in self.lines[place.line : event.end_mark.line + 1]:
            if line.strip():
                first = next((part for part in event.value.split("\n") if part.strip()), "")
                return len(line) - len(line.lstrip(" ")) - (len(first) - len(first.lstrip(" ")))
        return 0


def begin_with(display_name: str) -> str:
    """Return the help on how a spec file with that name starts."""
    return "start with `language: 2`" if Path(display_name).name == "benchmark.yaml" else "start with `template: name`"


SPLIT = "YAML splits keys at their commas: quote `name(a, b)`, or put it on its own line"
INNER_QUOTES = "use `'` inside of `\"`, or put the value on its own lines after `|`"
QUOTE = "quote the whole value, or put it on its own lines after `|`"

FORMS = {"[": "[...]", "{": "{...}", '"': '"..."', "'": "'...'", "": "..."}
CLOSING = {"[": "`]`", "{": "`}`"}
BLOCK_BEGIN = re.compile(r":\s+[|>][-+0-9]*$")
IN_TEXT = re.compile(r"[:,]\s+(?:[^\s\"'].*)?[\"'][^\"']*\Z")  # an unquoted value with a quote in it
# A key without the space or the colon that must follow it: indentation, key, colon, begin of the value
KEY_MISTAKE = re.compile(r"(\s*(?:- )?)([A-Za-z_]\w*)(?:(:)(?=[^\s/])|\s+(?=[\[{\"']))([\[{\"']?)")
INDENTED_KEY = re.compile(r" +[A-Za-z_]\w*\Z")  # a line up to its colon

# libyaml's words -> ours; the first that occurs in the problem decides
SYNTAX: tuple[tuple[str, str, str], ...] = (
    ("mapping values are not allowed", "a `: ` inside an unquoted value", QUOTE),
    ("cannot start any token", "an unquoted value cannot start with this character", QUOTE),
    ("did not find expected ',' or", "YAML expects a comma or a closing bracket here", QUOTE),
    ("did not find expected key", "text after a quoted or bracketed value, or wrong indentation", QUOTE),
    ("did not find expected '-'", "this line neither starts with `- ` nor is indented less", "check the indentation"),
    ("block sequence entries are not allowed", "a value starts with `- `", QUOTE),
    ("mapping keys are not allowed", "a value starts with `? `", QUOTE),
    ("expected comment or line break", "text after `|` or `>`", "start the text on the next line, indented"),
    ("expected <document start>", "this line is indented differently from the lines above", "check the indentation"),
    ("Unicode character escape", "an escape for a character that does not exist", "use single quotes"),
    ("could not find expected ':'", "a line without `:` where YAML expects a key", QUOTE),
    ("unexpected end of stream", "a quote is not closed", "close the quote"),
    ("found undefined tag handle", "a value starts with `!`", QUOTE),
    ("did not find expected alphabetic", "a value starts with `*`, `&` or `!`", QUOTE),
    ("found undefined alias", "a value starts with `*`", QUOTE),
    ("directive", "a line starts with `%`", QUOTE),
    ("unknown escape character", "an unknown escape in double quotes", "use single quotes, or write `\\\\`"),
    ("exceeded max depth", "nested too deeply", "use fewer levels"),
)

KEY = re.compile(r"\s*(- +)*[\w.,() -]*\Z")  # possible text before the colon of a key: name(a, b)


def _colon_in_value(before: str) -> int | None:
    """Return where `: ` follows text that is not a key, as in `- answer == n: *m`."""
    colon = before.find(": ")
    while colon >= 0:
        if not KEY.match(before[:colon]):
            return colon
        colon = before.find(": ", colon + 1)
    return None


INTEGER = re.compile(r"[-+]?[0-9]+\Z")
REAL = re.compile(r"([-+]?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([-+]?[0-9]{1,9}))?\Z")
NUMERIC = frozenset("+-.0123456789")  # the characters with which numbers begin
WORDS: dict[str, Value] = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
}  # fmt: skip


def core_value(text: str, place: Position) -> Value:
    """Return the value of an unquoted scalar by the YAML 1.2 core rules; decimals are exact.

    Raises DiaError for a number with a leading zero, with too many digits, or that is not finite.
    """
    if text in WORDS:
        return WORDS[text]
    if text[0] not in NUMERIC:
        return text
    if re.fullmatch(r"0o[0-7]+|0x[0-9a-fA-F]+", text):
        return int(text, 0)
    if re.fullmatch(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)", text):
        raise _error("E109", f"`{text}` is not a finite number", place, "quote it if it is text")
    match = REAL.match(text)
    if match is None or not (match[2] or match[3]):
        return text
    return _number(text, match, place)


def _number(text: str, match: re.Match[str], place: Position) -> Value:
    if len(match[2]) > 1 and match[2][0] == "0":
        raise _error("E109", f"the number `{text}` starts with 0", place, f'quote it ("{text}"), or remove the zero')
    if len(text) > DIGITS:
        raise _error("E109", f"a number with more than {DIGITS:,} digits", place, "write it as an expression")
    if INTEGER.match(text):
        return int(text)
    exponent = int(match[4] or 0)
    if abs(exponent) > DIGITS:
        raise _error("E109", f"a number with more than {DIGITS:,} digits", place, "write it as an expression")
    whole = Fraction(int(match[2] + (match[3] or "") or "0")) * Fraction(10) ** (exponent - len(match[3] or ""))
    return decimal(-whole if match[1] == "-" else whole)


def data(node: Node) -> Value:
    """Return the node as a plain value: mappings as records with text keys, lists as lists."""
    if isinstance(node, Scalar):
        return node.value
    if isinstance(node, Sequence):
        return [data(item) for item in node.items]
    return Record((key.text, data(value)) for key, value in node.pairs)


def pairs(node: Node | None) -> tuple[tuple[Scalar, Node], ...]:
    """Yield key and value of a mapping; nothing for other nodes."""
    return node.pairs if isinstance(node, Mapping) else ()
