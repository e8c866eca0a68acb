"""Expressions of the language: allow-listed Python syntax, lowered to guarded operators and compiled once.

Nothing of an expression runs as Python that this module has not written: names become look-ups in a scope, operators
become functions of `guards`, calls go to the library or to functions of the spec. An unknown kind of syntax is refused.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from types import CodeType, TracebackType
from typing import Any, Protocol

from dia_runtime.language import guards
from dia_runtime.language.diagnostics import DiaError, Diagnostic, LanguageError, Position, did_you_mean, names_help
from dia_runtime.language.functions import library
from dia_runtime.language.values import Entry, Value, decimal
from dia_runtime.language.watch import begin

TEXT_LIMIT = 20_000
RESERVED = frozenset({"answer", "reply", "it", "index", "true", "false", "none", "True", "False", "None"})
CONSTANTS = frozenset(
    {"pi", "letters", "digits", "lower_letters", "upper_letters", "hex_digits", "punctuation", "printable"}
)
LITERALS: dict[str, Value] = {"true": True, "false": False, "none": None}


class Located(Protocol):
    """A text that knows where each of its characters stands in a file."""

    @property
    def text(self) -> str: ...

    def place(self, offset: int) -> Position | None: ...


@dataclass(frozen=True, slots=True)
class Loose:
    """A text from no file."""

    text: str

    def place(self, offset: int) -> Position | None:
        """No place."""
        return None


@dataclass(frozen=True, slots=True)
class Use:
    """A name that an expression uses, and where."""

    name: str
    offset: int
    arguments: int = 0


@dataclass(slots=True)
class Parsed:
    """An expression whose syntax is allowed, with the free names and the functions that it uses."""

    source: Located
    tree: ast.expr
    names: list[Use] = field(default_factory=list)
    calls: list[Use] = field(default_factory=list)
    function_names: list[Use] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)

    def offset(self, node: ast.AST) -> int:
        """Where in the source's text the node begins, in characters."""
        return _offset(self.source.text, self.starts, getattr(node, "lineno", 1), getattr(node, "col_offset", 0))


def parse(source: Located) -> Parsed:
    """The parsed expression. Raises DiaError with a position for any syntax that the language does not have."""
    text = source.text
    if len(text) > TEXT_LIMIT:
        raise fault(source, 0, "E302", f"an expression longer than {TEXT_LIMIT} characters")
    _check_brackets(source)
    wrapped, starts = _wrapped(text)
    try:
        tree = ast.parse(wrapped, mode="eval").body
        if isinstance(tree, ast.Tuple) and not tree.elts and (tree.lineno, tree.col_offset) == (1, 0):
            raise fault(source, 0, "E301", "an empty expression")
        parsed = Parsed(source, tree, starts=starts)
        _Reader(parsed).visit(tree, frozenset())
    except SyntaxError as error:
        raise _syntax(source, starts, error) from None
    except (RecursionError, MemoryError):
        raise fault(source, 0, "E302", "an expression that is nested too deep", "split it with `let`") from None
    except ValueError as error:
        raise fault(source, 0, "E301", *_syntax_words(str(error))) from None
    return parsed


def _wrapped(text: str) -> tuple[str, list[int]]:
    """The text in brackets, so that it may take several lines, and where each line begins in it."""
    starts = [-1]
    for at, char in enumerate(text):
        if char == "\n":
            starts.append(at + 1)
    return f"({text}\n)", starts


def _offset(text: str, starts: list[int], line: int, column: int) -> int:
    """Characters before a place that Python counts in lines and UTF-8 bytes of the wrapped text."""
    if line > len(starts):
        return len(text.rstrip())
    start = starts[line - 1]
    head = "(" + text if start < 0 else text[start:]
    before = head.encode("utf-8", "surrogatepass")[:column].decode("utf-8", "replace")
    return max(0, min(len(text), start + len(before)))


def _check_brackets(source: Located) -> None:
    """Refuses brackets that do not match, which the added brackets would hide or Python would tell elsewhere."""
    starts = _wrapped(source.text)[1]
    opened: list[tuple[str, int]] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(source.text).readline):
            if token.type != tokenize.OP or token.string not in BRACKETS:
                continue
            at = max(starts[token.start[0] - 1], 0) + token.start[1]
            if token.string in "([{":
                opened.append((token.string, at))
            elif not opened:
                raise fault(source, at, "E301", f"a `{token.string}` that nothing opened")
            elif BRACKETS[token.string] != (last := opened.pop()[0]):
                raise fault(source, at, "E301", f"a `{token.string}` that closes a `{last}`")
    except (tokenize.TokenError, IndentationError, SyntaxError) as error:
        if "EOF in multi-line statement" not in str(error):
            return  # Python's parser says what is wrong, and where
    if opened:
        raise fault(source, opened[-1][1], "E301", f"a `{opened[-1][0]}` that nothing closes")


BRACKETS = {"(": "", "[": "", "{": "", ")": "(", "]": "[", "}": "{"}


def fault(source: Located, offset: int, code: str, message: str, help: str | None = None) -> DiaError:
    """An error at a character of the source."""
    return DiaError(Diagnostic(code, message, source.place(offset), help))


def _syntax(source: Located, starts: list[int], error: SyntaxError) -> DiaError:
    line, column = error.lineno or 1, (error.offset or 1) - 1
    at = len(source.text) if line > len(starts) else max(0, starts[line - 1] + column)
    message, mend = _syntax_words(error.msg or "")
    return fault(source, min(at, len(source.text.rstrip())), "E301", message, mend)


def _syntax_words(problem: str) -> tuple[str, str | None]:
    for words, message, mend in SYNTAX_WORDS:
        if words in problem:
            return message, mend
    return "not an expression", "expressions are Python's: `and`, `or`, `not`, `==`, `a if b else c`"


# Python's words -> ours and the mend; the first that occurs in the problem decides
SYNTAX_WORDS: tuple[tuple[str, str, str | None], ...] = (
    ("unterminated", "a text that is not closed", "texts stand between quotes of one kind, on one line"),
    ("instead of '='", "`=` is not part of an expression", "compare with `==`; name a value under `let`"),
    ("integer string conversion", "a number with too many digits", "build it by an expression such as 10**5000"),
    ("leading zeros", "a number that begins with 0", "drop the zero, or quote it if it is text"),
    ("invalid decimal literal", "a number that runs into a word", "a name begins with a letter; `*` multiplies"),
    ("forgot a comma", "two values with nothing between them", "put a comma or an operator between them"),
    ("invalid character", "a character that expressions do not have", "use plain operators and straight quotes"),
    ("invalid non-printable", "a character that nobody sees", "remove it"),
    ("expected 'else'", "an `if` without its `else`", "write `a if condition else b`"),
    ("f-string", "an f-string that cannot be read", "write braces that are text as {{ and }}"),
    ("too many nested parentheses", "an expression that is nested too deep", "split it with `let`"),
)

# Node types that need no more than their children's check
PLAIN_NODES: tuple[type[ast.AST], ...] = (
    ast.BoolOp, ast.And, ast.Or, ast.BinOp, ast.UnaryOp, ast.IfExp, ast.Compare, ast.List, ast.Tuple,
    ast.Subscript, ast.Slice, ast.Load,
)  # fmt: skip

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
    ast.Lambda: ("`lambda` is not part of the language", "name a function under `functions`"),
    ast.NamedExpr: ("`:=` is not part of the language", "name the value under `let`"),
    ast.Dict: ("a record is written with texts as keys", "{'name': value}"),
    ast.Set: ("braces do not make a set", "set([...])"),
    ast.SetComp: ("braces do not make a set", "set([... for ... in ...])"),
    ast.DictComp: ("records are written out, not computed", None),
    ast.Starred: ("`*` before a value is not part of the language", "lists join with +"),
    ast.Is: ("`is` is not part of the language", "use =="),
    ast.IsNot: ("`is not` is not part of the language", "use !="),
    ast.MatMult: ("`@` is not part of the language", "use dot or matrix_multiply"),
    ast.Await: ("`await` is not part of the language", None),
    ast.Yield: ("`yield` is not part of the language", None),
    ast.YieldFrom: ("`yield` is not part of the language", None),
}


class _Reader:
    """Walks a syntax tree, refuses what is not allowed and notes the names."""

    def __init__(self, parsed: Parsed) -> None:
        self.parsed = parsed

    def refuse(self, node: ast.AST, message: str, help: str | None = None) -> DiaError:
        return fault(self.parsed.source, self.parsed.offset(node), "E302", message, help)

    def visit(self, node: ast.AST, bound: frozenset[str]) -> None:
        kind = type(node)
        special = getattr(self, f"visit_{kind.__name__}", None)
        if special is not None:
            special(node, bound)
        elif kind in PLAIN_NODES or kind in BINARY or kind in COMPARED or kind in UNARY or kind is ast.Not:
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.cmpop) and type(child) in REFUSED:
                    raise self.refuse(node, *REFUSED[type(child)])
                self.visit(child, bound)
        else:
            raise self.refuse(node, *REFUSED.get(kind, (f"{kind.__name__} is not part of the language", None)))

    def visit_BinOp(self, node: ast.BinOp, bound: frozenset[str]) -> None:
        if type(node.op) not in BINARY:
            raise self.refuse(node, *REFUSED[type(node.op)])
        self.visit(node.left, bound)
        self.visit(node.right, bound)

    def visit_Name(self, node: ast.Name, bound: frozenset[str]) -> None:
        self.check_name(node, node.id)
        if node.id not in bound:
            self.parsed.names.append(Use(node.id, self.parsed.offset(node)))

    def check_name(self, node: ast.AST, name: str) -> None:
        if name.startswith("_"):
            raise self.refuse(node, "names that start with _ are not allowed")
        if not name.isascii():
            raise self.refuse(node, f"the name `{name}` has letters outside a to z")

    def visit_Constant(self, node: ast.Constant, bound: frozenset[str]) -> None:
        if isinstance(node.value, (complex, bytes)) or node.value is ...:
            mend = 'write hexadecimal text and from_hex("...")' if isinstance(node.value, bytes) else None
            raise self.refuse(node, "not a value of the language", mend)
        if isinstance(node.value, str) and not is_encodable(node.value):
            raise self.refuse(node, "a text with half of a character (a surrogate)", "write the whole character")

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
            name, mend = node.func.attr, "write `f(x)`, not `x.f()`"
            mend = f"write `{name}(x)`, not `x.{name}()`" if name in library() else mend
            raise self.refuse(node.func, "method calls are not part of the language", mend)
        if not isinstance(node.func, ast.Name):
            raise self.refuse(node, "only functions can be called, by their names")
        if node.keywords:
            raise self.refuse(node.keywords[0], "arguments have no names here", "give them in order")
        self.check_name(node.func, node.func.id)
        self.parsed.calls.append(Use(node.func.id, self.parsed.offset(node.func), len(node.args)))
        places = _function_places(node.func.id)
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
        raise self.refuse(node, "a loop runs over names")

    def visit_JoinedStr(self, node: ast.JoinedStr, bound: frozenset[str]) -> None:
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                if part.conversion != -1 or part.format_spec is not None:
                    mend = "use `decimal`, `grouped`, `pad_left` or `hex`"
                    raise self.refuse(node, "f-strings have no format widths or conversions here", mend)
                self.visit(part.value, bound)


def _function_places(name: str) -> frozenset[int]:
    known = library().get(name)
    return known.function_arguments if known else frozenset()


def is_encodable(text: str) -> bool:
    """Whether the text can be written as UTF-8: it holds no half of a surrogate pair."""
    return not any("\ud800" <= char <= "\udfff" for char in text)


OwnCall = Callable[..., Value]


class Namespace:
    """What compiled expressions may call: the library, the guards, and the functions of one template.

    An own function is a callable that takes the scope and then its arguments.
    """

    def __init__(self) -> None:
        self.globals: dict[str, Any] = {"__builtins__": {}}
        self.own: dict[str, int | None] = {}
        self.globals |= {f"_{name}": getattr(guards, name) for name in GUARDS}
        self.globals["_partial"] = partial

    def add(self, name: str, arity: int | None, call: OwnCall) -> None:
        """Makes an own function known; it hides a library function of that name. Arity None takes any arguments."""
        self.own[name] = arity
        self.globals[f"_o_{name}"] = call

    def function(self, name: str, scope: Mapping[str, Value]) -> Callable[..., Value]:
        """The function of that name as templates call it."""
        if name in self.own:
            return partial(self.globals[f"_o_{name}"], scope)
        return library()[name].call

    def reference(self, name: str) -> str:
        """The global under which compiled code finds a library function, made at first use."""
        key = f"_f_{name}"
        if key not in self.globals:
            self.globals[key] = library()[name].call
        return key

    def constant(self, name: str) -> str:
        """The global under which compiled code finds a constant, made at first use."""
        key = f"_k_{name}"
        if key not in self.globals:
            self.globals[key] = constant(name)
        return key


GUARDS = (
    *BINARY.values(), *UNARY.values(), *COMPARED.values(),
    "item_of", "slice_of", "field", "record", "joined", "steps", "every", "some",
)  # fmt: skip


def constant(name: str) -> Value:
    """The value of a constant of the language (`CONSTANTS`)."""
    import string

    if name == "pi":
        import sympy

        return sympy.pi
    texts = {
        "letters": string.ascii_letters,
        "digits": string.digits,
        "lower_letters": string.ascii_lowercase,
        "upper_letters": string.ascii_uppercase,
        "hex_digits": "0123456789abcdef",
        "punctuation": string.punctuation,
        "printable": string.ascii_letters + string.digits + string.punctuation,
    }
    return texts[name]


@dataclass(frozen=True, slots=True)
class Compiled:
    """An expression ready to run: call it with the scope, then the function's arguments if it has any."""

    parsed: Parsed
    call: Callable[..., Value]
    number: int

    def __call__(self, scope: Mapping[str, Value], *arguments: Value) -> Value:
        """The expression's value. Raises DiaError with the position of the failing part."""
        begin(self.number)
        try:
            return self.call(scope, *arguments)
        except DiaError:
            raise
        except Exception as error:
            raise located(error, self.parsed.source) from None


SOURCES: dict[str, Parsed] = {}
NUMBERS = count(1)


def compile_expression(
    parsed: Parsed,
    namespace: Namespace,
    arguments: tuple[str, ...] = (),
    entry: frozenset[str] | None = None,
    values: frozenset[str] | None = None,
) -> Compiled:
    """The parsed expression as a Python function of scope, entry values (unless `entry` is None) and arguments.

    `values` are the names that the scope may hold; with None every free name is looked up there.
    Raises DiaError for names and functions that are not known.
    """
    lowering = _Lowering(parsed, namespace, frozenset(arguments), entry or frozenset(), values)
    lowered = lowering.lower(parsed.tree)
    if lowering.faults:
        raise DiaError(lowering.faults)
    parameters = ["_s", *([] if entry is None else ["_e"]), *arguments]
    function = ast.Lambda(
        args=ast.arguments(
            posonlyargs=[], args=[ast.arg(arg=name) for name in parameters], kwonlyargs=[], kw_defaults=[], defaults=[]
        ),
        body=lowered,
    )
    number = next(NUMBERS)
    name = f"<expression {number}>"
    SOURCES[name] = parsed
    tree = ast.fix_missing_locations(ast.Expression(ast.copy_location(function, parsed.tree)))
    try:
        code: CodeType = compile(tree, name, "eval")
    except (RecursionError, MemoryError):
        raise fault(parsed.source, 0, "E302", "an expression that is nested too deep", "split it with `let`") from None
    return Compiled(parsed, eval(code, namespace.globals), number)  # our own lowered tree, with no builtins


class _Lowering:
    """Rewrites an allowed tree into look-ups, guards and known calls; unknown names are gathered in `faults`."""

    def __init__(
        self,
        parsed: Parsed,
        namespace: Namespace,
        arguments: frozenset[str],
        entry: frozenset[str],
        values: frozenset[str] | None,
    ) -> None:
        self.parsed, self.namespace = parsed, namespace
        self.bound, self.entry, self.values = arguments, entry, values
        self.temporaries = count(1)
        self.faults: list[Diagnostic] = []

    def tell(self, error: DiaError) -> ast.expr:
        """Notes a fault and goes on with a stand-in, so that all unknown names of an expression are told at once."""
        self.faults += error.diagnostics
        return ast.Constant(None)

    def lower(self, node: Any) -> Any:
        if node is None:
            return ast.Constant(None)
        method = getattr(self, f"lower_{type(node).__name__}")
        return ast.copy_location(method(node), node)

    def guard(self, name: str, *arguments: ast.expr) -> ast.Call:
        return ast.Call(func=ast.Name(f"_{name}", ast.Load()), args=list(arguments), keywords=[])

    def lower_Constant(self, node: ast.Constant) -> ast.expr:
        if not isinstance(node.value, float):
            return node
        text = ast.get_source_segment(_wrapped(self.parsed.source.text)[0], node) or ""
        key = f"_c_{text}"
        try:
            self.namespace.globals[key] = exact_literal(text)
        except LanguageError as error:
            return self.tell(fault(self.parsed.source, self.parsed.offset(node), error.code, error.message, error.help))
        return ast.Name(key, ast.Load())

    def lower_Name(self, node: ast.Name) -> ast.expr:
        name = node.id
        if name in self.bound:
            return ast.Name(name, ast.Load())
        if name in self.entry:
            return self.look_up("_e", name)
        if name in LITERALS:
            return ast.Constant(LITERALS[name])
        if self.values is None or name in self.values:
            return self.look_up("_s", name)
        if name in CONSTANTS:
            return ast.Name(self.namespace.constant(name), ast.Load())
        return self.tell(self.unknown(node, name))

    def look_up(self, mapping: str, name: str) -> ast.expr:
        return ast.Subscript(ast.Name(mapping, ast.Load()), ast.Constant(name), ast.Load())

    def unknown(self, node: ast.AST, name: str) -> DiaError:
        known = {*(self.values or ()), *self.bound, *self.entry}
        message, mend = f"unknown name `{name}`", did_you_mean(name, known | CONSTANTS) or names_help(name, known)
        if name in library() or name in self.namespace.own:
            message, mend = f"`{name}` is a function, not a value", f"call it: {name}(...)"
        elif name in SEEN_IN:
            message, mend = f"`{name}` has no value here", f"it has one in {SEEN_IN[name]}"
        return fault(self.parsed.source, self.parsed.offset(node), "E303", message, mend)

    def lower_BinOp(self, node: ast.BinOp) -> ast.expr:
        return self.guard(BINARY[type(node.op)], self.lower(node.left), self.lower(node.right))

    def lower_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        if isinstance(node.op, ast.Not):
            return ast.UnaryOp(ast.Not(), self.lower(node.operand))
        operand = node.operand
        if isinstance(node.op, ast.USub) and isinstance(operand, ast.Constant) and type(operand.value) is int:
            return ast.UnaryOp(ast.USub(), operand)
        return self.guard(UNARY[type(node.op)], self.lower(operand))

    def lower_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        return ast.BoolOp(node.op, [self.lower(value) for value in node.values])

    def lower_IfExp(self, node: ast.IfExp) -> ast.expr:
        return ast.IfExp(self.lower(node.test), self.lower(node.body), self.lower(node.orelse))

    def lower_Compare(self, node: ast.Compare) -> ast.expr:
        """a < b < c becomes (lambda t: a < t and t < c)(b): each operand is computed once."""
        left = self.lower(node.left)
        if len(node.ops) == 1:
            return self.guard(COMPARED[type(node.ops[0])], left, self.lower(node.comparators[0]))
        shared = f"_t{next(self.temporaries)}"
        middle = node.comparators[0]
        rest = ast.Compare(middle, node.ops[1:], node.comparators[1:])
        self.bound = self.bound | {shared}
        tail = self.lower(ast.copy_location(ast.Compare(ast.Name(shared), rest.ops, rest.comparators), node))
        first = self.guard(COMPARED[type(node.ops[0])], left, ast.Name(shared, ast.Load()))
        body = ast.BoolOp(ast.And(), [first, tail])
        return ast.Call(func=_lambda(shared, body), args=[self.lower(middle)], keywords=[])

    def lower_List(self, node: ast.List | ast.Tuple) -> ast.expr:
        return ast.List([self.lower(item) for item in node.elts], ast.Load())

    lower_Tuple = lower_List

    def lower_Dict(self, node: ast.Dict) -> ast.expr:
        names = ast.List([ast.Constant(key.value) for key in node.keys if isinstance(key, ast.Constant)], ast.Load())
        return self.guard("record", names, ast.List([self.lower(value) for value in node.values], ast.Load()))

    def lower_Attribute(self, node: ast.Attribute) -> ast.expr:
        return self.guard("field", self.lower(node.value), ast.Constant(node.attr))

    def lower_Subscript(self, node: ast.Subscript) -> ast.expr:
        if isinstance(node.slice, ast.Slice):
            part = node.slice
            bounds = (self.lower(part.lower), self.lower(part.upper), self.lower(part.step))
            return self.guard("slice_of", self.lower(node.value), *bounds)
        return self.guard("item_of", self.lower(node.value), self.lower(node.slice))

    def lower_JoinedStr(self, node: ast.JoinedStr) -> ast.expr:
        parts = [part.value if isinstance(part, ast.FormattedValue) else part for part in node.values]
        return self.guard("joined", *(self.lower(part) for part in parts))

    def lower_ListComp(self, node: ast.ListComp) -> ast.expr:
        generators, element = self.loops(node)
        return ast.ListComp(element, generators)

    def lower_GeneratorExp(self, node: ast.GeneratorExp) -> ast.expr:
        generators, element = self.loops(node)
        return ast.ListComp(element, generators)

    def loops(self, node: ast.ListComp | ast.GeneratorExp) -> tuple[list[ast.comprehension], ast.expr]:
        outer, generators = self.bound, []
        for part in node.generators:
            items = self.guard("steps", self.lower(part.iter))
            self.bound = self.bound | {name.id for name in ast.walk(part.target) if isinstance(name, ast.Name)}
            conditions = [self.lower(condition) for condition in part.ifs]
            generators.append(ast.comprehension(part.target, ast.copy_location(items, part.iter), conditions, 0))
        element = self.lower(node.elt)
        self.bound = outer
        return generators, element

    def lower_Call(self, node: ast.Call) -> ast.expr:
        assert isinstance(node.func, ast.Name)
        name = node.func.id
        if name == "exact" and name not in self.namespace.own:
            return self.exact_answer(node)
        if name in self.namespace.own:
            return self.own_call(node, name)
        known = library().get(name)
        if known is None:
            return self.failed_call(node, self.unknown_function(node, name))
        try:
            check_arity(self.parsed.source, self.use(node, name), known.minimum, known.maximum, known.signature)
        except DiaError as error:
            return self.failed_call(node, error)
        if name in ("all", "any") and isinstance(node.args[0], ast.GeneratorExp):
            generators, element = self.loops(node.args[0])
            lazy = ast.copy_location(ast.GeneratorExp(element, generators), node.args[0])
            return self.guard({"all": "every", "any": "some"}[name], lazy)
        arguments = [self.argument(at, argument, known.function_arguments) for at, argument in enumerate(node.args)]
        return ast.Call(func=ast.Name(self.namespace.reference(name), ast.Load()), args=arguments, keywords=[])

    def use(self, node: ast.Call, name: str) -> Use:
        return Use(name, self.parsed.offset(node), len(node.args))

    def own_call(self, node: ast.Call, name: str) -> ast.expr:
        arity = self.namespace.own[name]
        try:
            check_arity(self.parsed.source, self.use(node, name), arity or 0, arity, name)
        except DiaError as error:
            return self.failed_call(node, error)
        arguments = [ast.Name("_s", ast.Load()), *(self.lower(argument) for argument in node.args)]
        return ast.Call(func=ast.Name(f"_o_{name}", ast.Load()), args=arguments, keywords=[])

    def failed_call(self, node: ast.Call, error: DiaError) -> ast.expr:
        """Notes the call's fault, then those of its arguments."""
        self.tell(error)
        for argument in node.args:
            if not (isinstance(argument, ast.Name) and self.is_function(argument.id)):
                self.lower(argument)
        return ast.Constant(None)

    def is_function(self, name: str) -> bool:
        return name not in self.bound and (name in library() or name in self.namespace.own)

    def exact_answer(self, node: ast.Call) -> ast.expr:
        if len(node.args) != 1 or not isinstance(node.args[0], ast.Name) or node.args[0].id != "answer":
            message = "`exact` takes the answer alone: exact(answer) is the value before rounding"
            raise fault(self.parsed.source, self.parsed.offset(node), "E305", message)
        if self.values is not None and "answer" not in self.values:
            return self.tell(self.unknown(node.args[0], "answer"))
        return self.look_up("_s", EXACT_ANSWER)

    def argument(self, at: int, node: ast.expr, places: frozenset[int]) -> ast.expr:
        if at not in places or not isinstance(node, ast.Name) or node.id in self.bound:
            lowered: ast.expr = self.lower(node)
            return lowered
        if node.id in self.namespace.own:
            scope = ast.Name("_s", ast.Load())
            return ast.Call(
                func=ast.Name("_partial", ast.Load()), args=[ast.Name(f"_o_{node.id}", ast.Load()), scope], keywords=[]
            )
        if node.id in library():
            return ast.Name(self.namespace.reference(node.id), ast.Load())
        return self.tell(self.unknown_function(node, node.id))

    def unknown_function(self, node: ast.AST, name: str) -> DiaError:
        mend = did_you_mean(name, {*library(), *self.namespace.own}) or LIBRARY_HELP
        if name == "random":
            mend = "use a parameter: it is drawn from the instance's own seed"
        if self.values is not None and name in self.values:
            mend = f"`{name}` is a value; drop the brackets"
        return fault(self.parsed.source, self.parsed.offset(node), "E304", f"unknown function `{name}`", mend)


def check_arity(source: Located, use: Use, least: int, most: int | None, signature: str) -> None:
    """Raises DiaError where a function is called with too few or too many arguments."""
    if use.arguments < least or (most is not None and use.arguments > most):
        wanted = f"{least}" if least == most else f"{least} to {most}" if most is not None else f"at least {least}"
        message = f"`{use.name}` takes {wanted} argument{'' if wanted == '1' else 's'}, not {use.arguments}"
        mend = f"write {signature}" if "(" in signature else None
        raise fault(source, use.offset, "E305", message, mend)


EXACT_ANSWER = "exact(answer)"
LIBRARY_HELP = "`dia functions` lists the library"
SEEN_IN = {
    "answer": "`let`, `checks`, `mistakes`, `accept`, `accept_if` and the explanation",
    "reply": "`accept_if`",
    "it": "the `where` of a type",
}


def _lambda(name: str, body: ast.expr) -> ast.Lambda:
    arguments = ast.arguments(posonlyargs=[], args=[ast.arg(arg=name)], kwonlyargs=[], kw_defaults=[], defaults=[])
    return ast.Lambda(arguments, body)


def exact_literal(text: str) -> Value:
    """The exact value of a decimal literal: 0.1 is 1/10 and prints as 0.1."""
    from fractions import Fraction

    mantissa, _, exponent = text.lower().replace("_", "").partition("e")
    if abs(int(exponent or 0)) > 4000:
        raise LanguageError("an exponent beyond 4000", code="E502")
    return decimal(Fraction(mantissa) * Fraction(10) ** int(exponent or 0))


def face(name: str, entries: Mapping[tuple[str, str], Callable[..., Value]]) -> OwnCall:
    """The function of a face: its last argument is an entry, which decides what is done."""

    def call(scope: Mapping[str, Value], *arguments: Value) -> Value:
        entry = arguments[-1]
        if not isinstance(entry, Entry):
            raise LanguageError(f"the last argument of `{name}` is an entry of a catalog")
        chosen = entries.get((entry.catalog, entry.name))
        if chosen is None:
            raise LanguageError(f"the entries of `{entry.catalog}` have no face `{name}`")
        return chosen(scope, entry.values, *arguments[:-1])

    return call


def located(error: Exception, source: Located) -> DiaError:
    """The failed evaluation as a diagnostic at the innermost part of an expression that was being computed."""
    diagnostic = worded(error)
    place = _failing_place(error.__traceback__) or source.place(0)
    return DiaError(Diagnostic(diagnostic.code, diagnostic.message, place, diagnostic.help))


def worded(error: Exception) -> LanguageError:
    """The exception in the language's words."""
    if isinstance(error, LanguageError):
        return error
    if isinstance(error, ZeroDivisionError):
        return LanguageError("division by zero: no finite answer", code="E504")
    if isinstance(error, RecursionError):
        return LanguageError("the evaluation is nested too deep", code="E502")
    if isinstance(error, MemoryError):
        return LanguageError("the evaluation needs too much memory", code="E502")
    if isinstance(error, NotImplementedError):
        return LanguageError("the computer algebra has no method for this")
    if isinstance(error, KeyError):
        return LanguageError(f"`{error.args[0]}` has no value here")
    return LanguageError(f"the evaluation failed: {error if str(error) else type(error).__name__}")


def _failing_place(traceback: TracebackType | None) -> Position | None:
    found: Position | None = None
    while traceback is not None:
        code = traceback.tb_frame.f_code
        parsed = SOURCES.get(code.co_filename)
        if parsed is not None:
            line, column = _instruction_place(code, traceback.tb_lasti)
            found = parsed.source.place(_offset(parsed.source.text, parsed.starts, line, column)) or found
        traceback = traceback.tb_next
    return found


def _instruction_place(code: CodeType, last: int) -> tuple[int, int]:
    for at, place in enumerate(code.co_positions()):
        if at == last // 2:
            return place[0] or 1, place[2] or 0
    return 1, 0
