"""The syntax of expressions: an allow-list over Python's, and the names that an expression uses.

Unknown kinds of syntax are rejected; every error has a position.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Callable
from dataclasses import dataclass, field
from keyword import iskeyword, kwlist
from typing import Any, Protocol

from dia_language.diagnostics import DiaError, Diagnostic, Position
from dia_language.functions import library
from dia_language.numbers.values import Value

TEXT_LIMIT = 20_000
RESERVED = frozenset({"answer", "reply", "it", "index", "true", "false", "none", "True", "False", "None"})
CONSTANTS = frozenset(
    {"pi", "letters", "digits", "lower_letters", "upper_letters", "hex_digits", "punctuation", "printable"}
)
LITERALS: dict[str, Value] = {"true": True, "false": False, "none": None}


class Source(Protocol):
    """A text with the position in a file of each of its characters."""

    @property
    def text(self) -> str: ...

    def place(self, offset: int) -> Position | None: ...


@dataclass(frozen=True, slots=True)
class PlainSource:
    """A text that is not from a file."""

    text: str

    def place(self, offset: int) -> Position | None:
        """Return no position."""
        return None


@dataclass(frozen=True, slots=True)
class Use:
    """A name that an expression uses, and its position."""

    name: str
    offset: int
    arguments: int = 0


@dataclass(slots=True)
class ParsedExpression:
    """An expression whose syntax is allowed, with the free names and the functions that it uses."""

    source: Source
    tree: ast.expr
    names: list[Use] = field(default_factory=list)
    calls: list[Use] = field(default_factory=list)
    function_names: list[Use] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)

    def offset(self, node: ast.AST) -> int:
        """Return where the node begins in the source's text, in characters."""
        return offset_in(self.source.text, self.starts, getattr(node, "lineno", 1), getattr(node, "col_offset", 0))


def parse(source: Source) -> ParsedExpression:
    """Return the parsed expression. Raises DiaError with a position for any syntax that the language does not have."""
    text = source.text
    if len(text) > TEXT_LIMIT:
        raise error_at(source, 0, "E302", f"the expression is longer than {TEXT_LIMIT:,} characters")
    bracketed, starts = wrapped(text)
    matched = _tree_if_brackets_match(text, bracketed)
    if matched is None:
        _check_brackets(source)
    try:
        tree = matched or ast.parse(bracketed, mode="eval").body
        if isinstance(tree, ast.Tuple) and not tree.elts and (tree.lineno, tree.col_offset) == (1, 0):
            raise error_at(source, 0, "E301", "the expression is empty")
        parsed = ParsedExpression(source, tree, starts=starts)
        _SyntaxChecker(parsed).visit(tree, frozenset())
    except SyntaxError as error:
        raise _syntax_error(source, starts, error) from None
    except (RecursionError, MemoryError):
        raise error_at(source, 0, "E302", "the expression is nested too deeply", "split it with `let`") from None
    except ValueError as error:
        raise error_at(source, 0, "E301", *_explain_syntax_error(str(error))) from None
    return parsed


def part_of(parsed: ParsedExpression, node: ast.expr) -> ParsedExpression:
    """Return a part of a parsed expression as a separate expression."""
    text = parsed.source.text
    end = offset_in(text, parsed.starts, node.end_lineno or 1, node.end_col_offset or 0)
    return parse(PlainSource(text[parsed.offset(node) : end]))


def wrapped(text: str) -> tuple[str, list[int]]:
    """Return the text in brackets, so that it may take several lines, and where each line begins in it."""
    starts, end = [-1], text.find("\n")
    while end >= 0:
        starts.append(end + 1)
        end = text.find("\n", end + 1)
    return f"({text}\n)", starts


def offset_in(text: str, starts: list[int], line: int, column: int) -> int:
    """Return the characters before a position that Python counts in lines and UTF-8 bytes of the wrapped text."""
    if line > len(starts):
        return len(text.rstrip())
    start = starts[line - 1]
    if text.isascii():
        return max(0, min(len(text), start + column))
    head = "(" + text if start < 0 else text[start:]
    before = head.encode("utf-8", "surrogatepass")[:column].decode("utf-8", "replace")
    return max(0, min(len(text), start + len(before)))


def _tree_if_brackets_match(text: str, bracketed: str) -> ast.expr | None:
    """Return the tree if all brackets certainly match: none can close both of two kinds of brackets around the text."""
    try:
        tree = ast.parse(bracketed, mode="eval").body
        if not BRACKETS.keys().isdisjoint(text):
            ast.parse(f"[{text}\n]", mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return tree


def _check_brackets(source: Source) -> None:
    """Reject brackets that do not match, which the added brackets would hide or Python would report elsewhere."""
    if BRACKETS.keys().isdisjoint(source.text):
        return
    starts = wrapped(source.text)[1]
    opened: list[tuple[str, int]] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(source.text).readline):
            if token.type != tokenize.OP or token.string not in BRACKETS:
                continue
            at = max(starts[token.start[0] - 1], 0) + token.start[1]
            if token.string in "([{":
                opened.append((token.string, at))
            elif not opened:
                raise error_at(source, at, "E301", f"a `{token.string}` without an opening bracket")
            elif BRACKETS[token.string] != (last := opened.pop()[0]):
                raise error_at(source, at, "E301", f"a `{token.string}` cannot close a `{last}`")
    except (tokenize.TokenError, IndentationError, SyntaxError) as error:
        if "EOF in multi-line statement" not in str(error):
            return  # Python's parser says what is wrong, and where
    if opened:
        raise error_at(source, opened[-1][1], "E301", f"a `{opened[-1][0]}` that is never closed")


BRACKETS = {"(": "", "[": "", "{": "", ")": "(", "]": "[", "}": "{"}


def error_at(source: Source, offset: int, code: str, message: str, help: str | None = None) -> DiaError:
    """Return an error at a character of the source."""
    return DiaError(Diagnostic(code, message, source.place(offset), help))


def _syntax_error(source: Source, starts: list[int], error: SyntaxError) -> DiaError:
    reserved = _reserved_field(source.text)
    if reserved is not None:
        offset, word = reserved
        message = f"`{word}` is a reserved word, which cannot follow a dot"
        return error_at(source, offset, "E302", message, f"write ['{word}'] instead of .{word}, or choose another name")
    braces = _template_braces(source.text)
    if braces is not None:
        return error_at(source, braces, "E302", *IN_TEMPLATES)
    reserved = _reserved_name(source.text)
    if reserved is not None:
        offset, word = reserved
        return error_at(source, offset, "E302", f"`{word}` is a reserved word", "choose another name")
    line, column = error.lineno or 1, (error.offset or 1) - 1
    at = len(source.text) if line > len(starts) else max(0, starts[line - 1] + column)
    message, help = _explain_syntax_error(error.msg or "")
    code = TEXTS.sub(lambda match: "." * len(match[0]), source.text)
    if message.startswith("`=`") and (equals := EQUALS.search(code)) is not None:
        at = equals.start()
    for pattern, fix in OF_OTHER_LANGUAGES if message in (UNKNOWN_SYNTAX, NOTHING_BETWEEN) else ():
        if (foreign := pattern.search(code)) is not None:
            at, message, help = foreign.start(1), f"`{foreign[1]}` is not part of an expression", fix
            break
    return error_at(source, min(at, len(source.text.rstrip())), "E301", message, help)


# Statements of Python and operators of other languages -> what to write instead
OF_OTHER_LANGUAGES: tuple[tuple[re.Pattern[str], str], ...] = (
    (
        re.compile(r"\A\s*(for|while)\b"),
        "write `[f(x) for x in values]`, or `all(f(x) for x in values)` for a condition",
    ),
    (re.compile(r"\A\s*(return)\b"), "an expression is its own result: remove the word"),
    (re.compile(r"(&&)"), "write `and`"),
    (re.compile(r"(\|\|)"), "write `or`"),
    (re.compile(r"(<>)"), "write `!=`"),
    (
        re.compile(r"(?:\b(?!(?:and|or|not|in|if|else)\b)\w+|[)\].])\s*(~)"),
        'join texts with `+`, or write f"... {n} ..."; only templates have `~`',
    ),
    (re.compile(r"(;)"), "separate arguments with commas"),
    (re.compile(r"\S\s*(\?)"), "write `a if condition else b`"),
    (re.compile(r"[\w)\]]\s*(!)(?!=)"), "write `factorial(n)`"),
    (re.compile(r"(!)(?!=)"), "write `not`"),
    (re.compile(r"\d(%)\s*(?:[-+*/,)]|\Z)"), "`%` is the remainder: write 5/100 for 5 per cent"),
)
EQUALS = re.compile(r"(?<![=!<>:])=(?!=)")


def _reserved_field(text: str) -> tuple[int, str] | None:
    """Return the offset and the word of a field such as `a.class`, if another name in its place makes sense."""
    for match in re.finditer(r"(?<=\.)[a-z]+\b", text):
        if iskeyword(match[0]):
            try:
                ast.parse(wrapped(f"{text[: match.end()]}_{text[match.end() :]}")[0], mode="eval")
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                continue
            return match.start(), match[0]
    return None


def _template_braces(text: str) -> int | None:
    """Return where an expression writes `{{` as a template would, outside of its texts."""
    at = TEXTS.sub(lambda match: "." * len(match[0]), text).find("{{")
    return at if at >= 0 else None


TEXTS = re.compile(r""""(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'""")
IN_TEMPLATES = ("`{{ }}` is for templates; this is an expression", 'write `n`, or f"... {n} ..." for a text')


def _reserved_name(text: str) -> tuple[int, str] | None:
    """Return the offset and the word of the first name such as `from`, if other names in place of all make sense."""
    starts = wrapped(text)[1]
    offsets: list[tuple[int, str]] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.NAME and token.string in STATEMENT_WORDS:
                offsets.append((max(starts[token.start[0] - 1], 0) + token.start[1], token.string))
    except (tokenize.TokenError, IndentationError, SyntaxError):
        return None
    renamed = text
    for offset, word in reversed(offsets):
        end = offset + len(word)
        renamed = f"{renamed[:end]}_{renamed[end:]}"
    try:
        ast.parse(wrapped(renamed)[0], mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return offsets[0] if offsets else None


# the reserved words of Python that cannot occur in an expression
STATEMENT_WORDS = frozenset(kwlist) - frozenset(
    {"False", "None", "True", "and", "async", "await", "else", "for", "if", "in", "is", "lambda", "not", "or", "yield"}
)


def _explain_syntax_error(problem: str) -> tuple[str, str | None]:
    for words, message, help in SYNTAX_WORDS:
        if words in problem:
            return message, help
    return UNKNOWN_SYNTAX, "the syntax is Python's: `and`, `or`, `not`, `==`, `a if b else c`"


UNKNOWN_SYNTAX = "not an expression"
NOTHING_BETWEEN = "two values with nothing between them"
# Python's words, with ours and the fix; the first that occurs in the problem decides
SYNTAX_WORDS: tuple[tuple[str, str, str | None], ...] = (
    ("unterminated", "unclosed text", "put texts in matching quotes, on one line"),
    (
        "instead of '='",
        "`=` is not part of an expression",
        "use `==` to compare; give values a name under `let`; quote text",
    ),
    ("integer string conversion", "a number with too many digits", "write it as an expression such as 10**5000"),
    ("leading zeros", "a number that starts with 0", "remove the zero, or quote the number if it is text"),
    (
        "invalid decimal literal",
        "a number directly followed by a word",
        "names start with a letter; use `*` to multiply",
    ),
    ("forgot a comma", NOTHING_BETWEEN, "put a comma or an operator between them"),
    ("invalid character", "a character that expressions cannot contain", "use plain operators and straight quotes"),
    ("invalid non-printable", "an invisible character", "remove it"),
    ("expected 'else'", "an `if` without `else`", "write `a if condition else b`"),
    (
        "f-string",
        "an f-string that cannot be parsed",
        "write texts inside braces in the other quotes: f\"{pad_left(n, 2, '0')}\"; write literal braces as {{ and }}",
    ),
    ("too many nested parentheses", "the expression is nested too deeply", "split it with `let`"),
)

BINARY: dict[type[ast.AST], str] = {
    ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Div: "divide", ast.FloorDiv: "floor_divide",
    ast.Mod: "modulo", ast.Pow: "power", ast.BitAnd: "bit_and", ast.BitOr: "bit_or", ast.BitXor: "bit_xor",
    ast.LShift: "shift_left", ast.RShift: "shift_right",
}  # fmt: skip
UNARY: dict[type[ast.AST], str] = {ast.USub: "negate", ast.UAdd: "identity", ast.Invert: "bit_not"}
COMPARED: dict[type[ast.AST], str] = {
    ast.Eq: "equal", ast.NotEq: "unequal", ast.Lt: "less", ast.LtE: "less_equal", ast.Gt: "greater",
    ast.GtE: "greater_equal", ast.In: "contains", ast.NotIn: "lacks",
}  # fmt: skip

REFUSED: dict[type[ast.AST], tuple[str, str | None]] = {
    ast.Lambda: ("`lambda` is not part of the language", "define a function under `functions`"),
    ast.NamedExpr: ("`:=` is not part of the language", "define the value under `let`"),
    ast.Dict: ("the keys of a record must be texts", "{'name': value}"),
    ast.Set: ("braces do not create a set", "set([...])"),
    ast.SetComp: ("braces do not create a set", "set([... for ... in ...])"),
    ast.DictComp: ("record comprehensions are not part of the language", None),
    ast.Starred: ("`*` before a value is not part of the language", "join lists with +"),
    ast.Is: ("`is` is not part of the language", "use =="),
    ast.IsNot: ("`is not` is not part of the language", "use !="),
    ast.MatMult: ("`@` is not part of the language", "use dot or matrix_multiply"),
    ast.Await: ("`await` is not part of the language", None),
    ast.Yield: ("`yield` is not part of the language", None),
    ast.YieldFrom: ("`yield` is not part of the language", None),
}


class _SyntaxChecker:
    """Walks a syntax tree, rejects what is not allowed and collects the names."""

    def __init__(self, parsed: ParsedExpression) -> None:
        self.parsed = parsed

    def refuse(self, node: ast.AST, message: str, help: str | None = None) -> DiaError:
        return error_at(self.parsed.source, self.parsed.offset(node), "E302", message, help)

    def visit(self, node: ast.AST, bound: frozenset[str]) -> None:
        kind = type(node)
        visit = VISITS.get(kind)
        if kind is ast.Set and isinstance(node, ast.Set) and isinstance(node.elts[0], ast.Set):
            raise self.refuse(node, *IN_TEMPLATES)
        if visit is None:
            raise self.refuse(node, *REFUSED.get(kind, (f"{kind.__name__} is not part of the language", None)))
        visit(self, node, bound)

    def visit_BoolOp(self, node: ast.BoolOp, bound: frozenset[str]) -> None:
        for value in node.values:
            self.visit(value, bound)

    def visit_UnaryOp(self, node: ast.UnaryOp, bound: frozenset[str]) -> None:
        self.visit(node.operand, bound)

    def visit_IfExp(self, node: ast.IfExp, bound: frozenset[str]) -> None:
        self.visit(node.test, bound)
        self.visit(node.body, bound)
        self.visit(node.orelse, bound)

    def visit_Compare(self, node: ast.Compare, bound: frozenset[str]) -> None:
        self.visit(node.left, bound)
        for sign in node.ops:
            if type(sign) in REFUSED:
                raise self.refuse(node, *REFUSED[type(sign)])
        for operand in node.comparators:
            self.visit(operand, bound)

    def visit_List(self, node: ast.List | ast.Tuple, bound: frozenset[str]) -> None:
        for item in node.elts:
            self.visit(item, bound)

    visit_Tuple = visit_List

    def visit_Slice(self, node: ast.Slice, bound: frozenset[str]) -> None:
        for part in (node.lower, node.upper, node.step):
            if part is not None:
                self.visit(part, bound)

    def visit_BinOp(self, node: ast.BinOp, bound: frozenset[str]) -> None:
        if type(node.op) not in BINARY:
            raise self.refuse(node, *REFUSED[type(node.op)])
        self.visit(node.left, bound)
        self.visit(node.right, bound)

    def visit_Subscript(self, node: ast.Subscript, bound: frozenset[str]) -> None:
        self.visit(node.value, bound)
        if isinstance(node.slice, ast.Tuple) and any(isinstance(part, ast.Slice) for part in node.slice.elts):
            raise self.refuse(node.slice, "only one slice at a time", "slice each row: `[row[1:] for row in rows]`")
        self.visit(node.slice, bound)

    def visit_Name(self, node: ast.Name, bound: frozenset[str]) -> None:
        self.check_name(node, node.id)
        if node.id not in bound:
            self.parsed.names.append(Use(node.id, self.parsed.offset(node)))

    def check_name(self, node: ast.AST, name: str) -> None:
        if name.startswith("_"):
            raise self.refuse(node, "names that start with _ are not allowed")
        if not name.isascii():
            raise self.refuse(node, f"the name `{name}` has letters other than a to z")

    def visit_Constant(self, node: ast.Constant, bound: frozenset[str]) -> None:
        if isinstance(node.value, (complex, bytes)) or node.value is ...:
            help = 'write hexadecimal text and from_hex("...")' if isinstance(node.value, bytes) else None
            raise self.refuse(node, "this kind of value is not part of the language", help)
        if isinstance(node.value, str) and not is_encodable(node.value):
            raise self.refuse(node, "the text contains half of a surrogate pair", "write the whole character")

    def visit_Attribute(self, node: ast.Attribute, bound: frozenset[str]) -> None:
        self.visit(node.value, bound)
        name = ast.Name(node.attr, lineno=node.end_lineno or 1, col_offset=(node.end_col_offset or 0) - len(node.attr))
        self.check_name(name, node.attr)

    def visit_Dict(self, node: ast.Dict, bound: frozenset[str]) -> None:
        for key, value in zip(node.keys, node.values, strict=True):
            if not (isinstance(key, ast.Constant) and isinstance(key.value, str)):
                raise self.refuse(key or node, *REFUSED[ast.Dict])
            self.visit(value, bound)

    def visit_Call(self, node: ast.Call, bound: frozenset[str]) -> None:
        if isinstance(node.func, ast.Attribute):
            name, help = node.func.attr, "write `f(x)`, not `x.f()`"
            help = f"write `{name}(x)`, not `x.{name}()`" if name in library() else help
            raise self.refuse(node.func, "method calls are not part of the language", help)
        if not isinstance(node.func, ast.Name):
            raise self.refuse(node, "only named functions can be called")
        if node.keywords:
            raise self.refuse(
                node.keywords[0], "keyword arguments are not part of the language", "give the arguments in order"
            )
        self.check_name(node.func, node.func.id)
        self.parsed.calls.append(Use(node.func.id, self.parsed.offset(node.func), len(node.args)))
        places = _function_positions(node.func.id)
        for at, argument in enumerate(node.args):
            if at in places and isinstance(argument, ast.Name) and argument.id not in bound:
                self.check_name(argument, argument.id)
                self.parsed.function_names.append(Use(argument.id, self.parsed.offset(argument)))
            else:
                self.visit(argument, bound)

    def visit_ListComp(self, node: ast.ListComp | ast.GeneratorExp, bound: frozenset[str]) -> None:
        inner = bound
        for part in node.generators:
            if part.is_async:
                raise self.refuse(node, "`async` is not part of the language")
            self.visit(part.iter, inner)
            inner = inner | self.targets(part.target)
            for condition in part.ifs:
                self.visit(condition, inner)
        self.visit(node.elt, inner)

    visit_GeneratorExp = visit_ListComp

    def targets(self, node: ast.expr) -> frozenset[str]:
        if isinstance(node, ast.Name):
            self.check_name(node, node.id)
            if node.id in RESERVED:
                raise self.refuse(node, f"`{node.id}` is reserved")
            return frozenset({node.id})
        if isinstance(node, (ast.Tuple, ast.List)):
            return frozenset().union(*(self.targets(item) for item in node.elts))
        raise self.refuse(node, "the loop variable must be a name")

    def visit_JoinedStr(self, node: ast.JoinedStr, bound: frozenset[str]) -> None:
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                if part.conversion != -1 or part.format_spec is not None:
                    help = "use `decimal`, `grouped`, `pad_left` or `hex`"
                    raise self.refuse(node, "f-strings cannot have format widths or conversions here", help)
                self.visit(part.value, bound)


VISITS: dict[type[ast.AST], Callable[[_SyntaxChecker, Any, frozenset[str]], None]] = {
    getattr(ast, name.removeprefix("visit_")): method
    for name, method in vars(_SyntaxChecker).items()
    if name.startswith("visit_")
}


def _function_positions(name: str) -> frozenset[int]:
    function = library().get(name)
    return function.function_arguments if function else frozenset()


def is_encodable(text: str) -> bool:
    """Return whether the text can be written as UTF-8: it contains no lone surrogate."""
    return text.isascii() or not any("\ud800" <= char <= "\udfff" for char in text)
