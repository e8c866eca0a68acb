"""Jinja templates of the language: an allow-list over the syntax tree, checked names, calls to our functions only.

Jinja's own arithmetic, tests, filters, globals, attributes and methods never run: the tree is rewritten so that filters
and calls go to the function library, and indexing and comparison to the guards.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache, partial
from types import CodeType
from typing import Any, NoReturn

from dia_language.budgets import charge
from dia_language.diagnostics import DiaError, Diagnostic, did_you_mean
from dia_language.expressions.expressions import NUMBERS, as_language_error
from dia_language.expressions.lowering import check_arity, function_help, reply_name_help, unknown_name
from dia_language.expressions.namespace import Namespace
from dia_language.expressions.replies import ALSO_IN_LIBRARY, REPLY_FUNCTIONS, REPLY_GUARDS, Unset
from dia_language.expressions.syntax import CONSTANTS, LITERALS, Source, Use, error_at, is_encodable
from dia_language.functions import library
from dia_language.limits import TEXT_LENGTH
from dia_language.numbers import operators
from dia_language.numbers.values import Value, plain
from dia_language.templates.tags import AS_TEXT, RAW_END, Tag, end_of_block_tag, faults_of, tags_of
from dia_language.workers.heartbeat import begin_evaluation
from jinja2 import StrictUndefined, TemplateSyntaxError, nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import missing

LOOP_FIELDS = frozenset({"index", "index0", "first", "last", "length", "revindex", "revindex0"})
SOURCE_LIMIT = 100_000
FUNCTION_FIRST = "write `map(length, words)`, not `words | map(length)`: the function is the first argument"


class _Environment(ImmutableSandboxedEnvironment):
    """The hardened sandbox: only functions that this module has put into a tree can be called."""

    def call(__self, __context: Any, __function: Any, *arguments: Any, **named: Any) -> Any:
        return __function(*arguments)  # named only in Jinja's code for loops, because the tree contains no others

    def getattr(self, obj: Any, attribute: str) -> Any:
        if attribute in LOOP_FIELDS and type(obj).__name__ == "LoopContext":
            return getattr(obj, attribute)
        return operators.field(obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        return operators.item_of(obj, argument)


class _Context(dict[str, Any]):
    """The values of all names: all that the code of allowed templates needs of Jinja's own context."""

    resolve_or_missing = dict.__getitem__

    def __missing__(self, name: str) -> Any:
        return missing


@cache
def _environment() -> _Environment:
    environment = _Environment(
        undefined=StrictUndefined,
        autoescape=False,
        finalize=plain,
        keep_trailing_newline=True,
        optimized=False,
        comment_start_string="\x00#",
        comment_end_string="#\x00",
        cache_size=0,
    )
    environment.globals.clear()
    environment.filters.clear()
    environment.tests.clear()
    return environment


@dataclass(frozen=True, slots=True)
class ParsedTemplate:
    """A template whose syntax is allowed, with the free names and the functions that it uses.

    The "line" of a node is the number of its tag, from 1, so that the code that Jinja generates knows its tags.
    """

    source: Source
    tree: nodes.Template
    names: tuple[Use, ...]
    calls: tuple[Use, ...]
    function_names: tuple[Use, ...]
    printed: tuple[nodes.Name, ...] = ()
    tag_offsets: tuple[int, ...] = ()
    code: list[CodeType] = field(default_factory=list, compare=False)  # once compiled: a wrapper is, for each template


class RefusedTemplate(DiaError):
    """A template with parts that the language does not have; `parsed` has its names, which may also be wrong."""

    def __init__(self, diagnostics: Iterable[Diagnostic], parsed: ParsedTemplate) -> None:
        super().__init__(diagnostics)
        self.parsed = parsed


@dataclass(frozen=True, slots=True)
class CompiledTemplate:
    """A template ready to be rendered."""

    source: Source
    number: int
    template: Any
    is_constant: bool = False
    tag_offsets: tuple[int, ...] = ()

    def __call__(self, values: Mapping[str, Value]) -> str:
        """Return the rendered text. Raises DiaError with the position of the failing tag."""
        begin_evaluation(self.number)
        return self.render(values)

    def render(self, values: Mapping[str, Value], scope: Mapping[str, Value] | None = None) -> str:
        """Return the text, rendered within a running evaluation; own functions see `scope`, or else the values."""
        scope = values if scope is None else scope
        try:
            template = self.template
            text = "".join(template.root_render_func(_Context({**template.globals, **values, "_s": scope})))
        except (DiaError, Unset):
            raise
        except Exception as error:
            raise self._located(error) from None
        if len(text) > TEXT_LENGTH:
            raise error_at(self.source, 0, "E502", f"a text is longer than {TEXT_LENGTH:,} characters")
        return text

    def _located(self, error: Exception) -> DiaError:
        """Return the exception in the language's words, at the tag of the template that failed."""
        number, frame = 0, error.__traceback__
        while frame is not None:
            if frame.tb_frame.f_globals is self.template.root_render_func.__globals__:
                number = self.template.get_corresponding_lineno(frame.tb_lineno)
            frame = frame.tb_next
        failure = as_language_error(error)
        place = self.source.place(self.tag_offsets[number - 1] if 0 < number <= len(self.tag_offsets) else 0)
        return DiaError(Diagnostic(failure.code, failure.message, place, failure.help))


NOTHING: frozenset[str] = frozenset()


def parse_template(source: Source, replies: frozenset[str] = NOTHING, late: frozenset[str] = NOTHING) -> ParsedTemplate:
    """Return the parsed template. Raises DiaError with a position for anything the language does not have.

    `replies` are the names of a model's replies, `late` those of values that are computed when they are first looked
    up.
    """
    text = source.text
    if len(text) > SOURCE_LIMIT:
        raise error_at(source, 0, "E312", f"the template is longer than {SOURCE_LIMIT:,} characters")
    if "\0" in text:
        raise error_at(source, text.index("\0"), "E312", "a template cannot contain the character NUL", "remove it")
    if not text.isascii():
        _require_ascii_numbers(source)
    errors: list[Diagnostic] = []
    try:
        try:
            tree = _environment().parse(without_block_lines(text))
        except TemplateSyntaxError as error:
            errors, text = _syntax_errors(source, error)
            tree = _environment().parse(without_block_lines(text))
        reader = _TreeRewriter(source, text, replies, late)
        reader.read(tree)
    except TemplateSyntaxError:  # the rest of the template cannot be parsed either
        raise DiaError(errors) from None
    except RecursionError:
        raise error_at(source, 0, "E312", "the template is nested too deeply") from None
    parsed = ParsedTemplate(source, tree, tuple(reader.names), tuple(reader.calls), tuple(reader.function_names),
                            tuple(reader.printed), tuple(tag.content for tag in reader.tags))  # fmt: skip
    if errors or reader.errors:
        raise RefusedTemplate(errors + reader.errors, parsed)
    return parsed


def _require_ascii_numbers(source: Source) -> None:
    """Reject non-ASCII digits in tags: Jinja reads some of them, and fails on others."""
    with suppress(TemplateSyntaxError):  # parsing reports it
        for line, kind, token in _environment().lex(source.text):
            if kind in ("integer", "float") and not token.isascii():
                starts = _line_starts(source.text)
                offset = source.text.find(token, starts[min(line, len(starts)) - 1])
                raise error_at(source, offset, "E311", f"`{token}` is not a number", "write it in the digits 0 to 9")


def _syntax_errors(source: Source, error: TemplateSyntaxError) -> tuple[list[Diagnostic], str]:
    """Return an error for each tag that cannot be parsed, and the template without them.

    Raises DiaError if the rest cannot be read without these tags.
    """
    faults, remaining = faults_of(source.text, _environment())
    errors = [Diagnostic("E311", message, source.place(offset), help) for offset, message, help in faults]
    if not errors:  # tags that are valid by themselves, such as `elif` after `else`
        starts = _line_starts(source.text)
        offset = starts[min(error.lineno, len(starts)) - 1]
        errors = [Diagnostic("E311", "the tags cannot be parsed", source.place(offset), AS_TEXT)]
    if remaining is None:
        raise DiaError(errors)
    return errors, remaining


RAW_BEGIN = re.compile(r"\{%[-+]?\s*raw\s*[-+]?%\}")


def without_block_lines(text: str) -> str:
    """Return the text without the lines that contain only block tags; line numbers do not change.

    The line's newline moves into its last tag, where Jinja ignores it. Lines between raw tags are text.
    """
    if "{%" not in text:
        return text
    done, is_raw = [], False
    for line in text.split("\n"):
        was_raw = is_raw
        is_raw = _raw_after(line, is_raw)
        bare = line.strip(" \t")
        tags = None if was_raw and not RAW_END.fullmatch(bare) else _tags(bare)
        if not tags:
            done.append(line + "\n")
            continue
        end = len(tags[-1]) - (3 if tags[-1][-3] in "-+" else 2)
        done.append("".join(tags[:-1]) + tags[-1][:end] + " \n" + tags[-1][end:])
    joined = "".join(done)
    return joined[:-1] if joined.endswith("\n") else joined


def _tags(bare: str) -> list[str] | None:
    """Return the block tags of a line that contains nothing else, or None."""
    tags, at = [], 0
    while at < len(bare):
        if bare[at] in " \t":
            at += 1
            continue
        end = end_of_block_tag(bare, at + 2) if bare.startswith("{%", at) else None
        if end is None:
            return None
        tags.append(bare[at:end])
        at = end
    return tags


def _raw_after(line: str, is_raw: bool) -> bool:
    at = 0
    while True:
        tag = (RAW_END if is_raw else RAW_BEGIN).search(line, at)
        if tag is None:
            return is_raw
        is_raw, at = not is_raw, tag.end()


def _line_starts(text: str) -> list[int]:
    """Return where each line of the text begins."""
    return [0, *(at + 1 for at, char in enumerate(text) if char == "\n")]


REFUSED_NODES: dict[str, str] = {
    "Test": "`is` tests are not part of the language",
    "Macro": "define macros under `macros`", "CallBlock": "`call` is not part of the language",
    "FilterBlock": "`filter` blocks are not part of the language", "Include": "`include` is not part of the language",
    "Import": "`import` is not part of the language", "FromImport": "`import` is not part of the language",
    "Extends": "`extends` is not part of the language", "Block": "`block` is not part of the language",
    "Assign": "`set` is not part of the language: define the value under `let`",
    "AssignBlock": "`set` is not part of the language: define the value under `let`",
    "With": "`with` is not part of the language", "Dict": "define records under `let`",
    "Scope": "`autoescape` is not part of the language: prompts are plain text, and nothing is escaped",
}  # fmt: skip
ARITHMETIC = frozenset({"Add", "Sub", "Mul", "Div", "FloorDiv", "Mod", "Pow", "Pos"})
COMPARED = {
    "eq": "equal", "ne": "unequal", "lt": "less", "lteq": "less_equal", "gt": "greater", "gteq": "greater_equal",
    "in": "contains", "notin": "lacks",
}  # fmt: skip


class _TreeRewriter:
    """Checks a tree and rewrites it in place so that only our functions are called."""

    def __init__(self, source: Source, text: str, replies: frozenset[str], late: frozenset[str]) -> None:
        self.source, self.text, self.replies, self.late = source, text, replies, late
        self.names: list[Use] = []
        self.calls: list[Use] = []
        self.function_names: list[Use] = []
        self.printed: list[nodes.Name] = []
        self.tags: list[Tag] = []
        self.cursor = (0, 0)
        self.errors: list[Diagnostic] = []

    def read(self, tree: nodes.Template) -> None:
        """Rewrite a whole template."""
        self.tags = [tag for tag in tags_of(self.text) if not (tag.word or "").startswith(("else", "end", "raw"))]
        if self.number(tree, 0) != len(self.tags):  # some rejected tags have several nodes
            self.tags = []
        try:
            self.visit(tree, frozenset())
        except DiaError as error:
            raise DiaError([*self.errors, *error.diagnostics]) from None

    def number(self, node: nodes.Node, count: int) -> int:
        """Give each node below this one the number of its tag as its line; return the number of the last tag."""
        for child in node.iter_child_nodes():
            if isinstance(child, nodes.Output):
                for part in child.nodes:
                    count += not isinstance(part, nodes.TemplateData)
                    part.set_lineno(count, override=True)
            elif isinstance(child, nodes.Stmt) and not isinstance(child, nodes.Scope):
                count += 1
                child.set_lineno(count, override=True)
                count = self.number(child, count)
            elif isinstance(child, nodes.Scope):  # of the tag of the statement in it
                child.lineno = count + 1
                count = self.number(child, count)
        return count

    def offset(self, node: nodes.Node, word: str = "") -> int:
        """Return the word's next position in the node's tag; the start of the tag's content if there is none.

        Names are mostly in the order of the text, so the search continues where the last one of the tag was found.
        """
        if not 0 < (node.lineno or 0) <= len(self.tags):
            return 0
        tag = self.tags[node.lineno - 1]
        if not word:
            return tag.content
        number, last = self.cursor
        position = self.word(word, max(tag.content, last) if number == node.lineno else tag.content)
        position = self.word(word, tag.content) if position < 0 else position
        if position < 0 or (tag.end is not None and position >= tag.end):
            return tag.content
        self.cursor = (node.lineno, position + 1)
        return position

    def word(self, word: str, at: int) -> int:
        """Return the next position of the word as a whole word; -1 if there is none."""
        text = self.text
        while (at := text.find(word, at)) >= 0:
            if not (_is_wordlike(text[at - 1 : at]) or _is_wordlike(text[at + len(word) : at + len(word) + 1])):
                return at
            at += 1
        return -1

    def refuse(self, node: nodes.Node, message: str, help: str | None = None, word: str = "") -> NoReturn:
        raise error_at(self.source, self.offset(node, word), "E312", message, help)

    def visit(self, node: nodes.Node, bound: frozenset[str]) -> None:
        for name, value in node.iter_fields():
            if isinstance(value, list):
                replaced = [self.rewritten(item, bound) if isinstance(item, nodes.Expr) else item for item in value]
                setattr(node, name, replaced)
                for item in replaced:
                    if isinstance(item, nodes.Node) and not isinstance(item, nodes.Expr):
                        self.statement(item, bound)
            elif isinstance(value, nodes.Expr):
                with self.collected():
                    setattr(node, name, self.rewritten(value, bound))
            elif isinstance(value, nodes.Node):
                self.statement(value, bound)

    @contextmanager
    def collected(self) -> Iterator[None]:
        """Collect the errors of a part, and continue, so that one run reports every error."""
        try:
            yield
        except DiaError as error:
            self.errors += error.diagnostics

    def statement(self, node: nodes.Node, bound: frozenset[str]) -> None:
        kind = type(node).__name__
        if isinstance(node, nodes.For):
            self.loop(node, bound)
        elif isinstance(node, nodes.Output):
            self.printed += [part for part in node.nodes if isinstance(part, nodes.Name) and part.name not in bound]
            for at, part in enumerate(node.nodes):
                with self.collected():
                    node.nodes[at] = self.shown(part, bound)
        elif isinstance(node, nodes.If):
            self.visit(node, bound)
        else:
            self.refuse(node, REFUSED_NODES.get(kind, f"{kind} is not part of the language"))

    def shown(self, part: nodes.Expr, bound: frozenset[str]) -> nodes.Expr:
        """Return a part that is printed; a reply by itself is printed as its text."""
        if isinstance(part, nodes.Name) and (reply := self.reply_of(part, bound)) is not None:
            return self.of_reply("reply_shown", reply, bound)
        return self.rewritten(part, bound)

    def loop(self, node: nodes.For, bound: frozenset[str]) -> None:
        if node.recursive:
            self.refuse(node, "recursive loops are not part of the language")
        targets = frozenset(name.name for name in node.target.find_all(nodes.Name)) | self.target_names(node.target)
        for name in targets:
            self.check_name(node, name)
        if "loop" in targets:
            self.refuse(node, "`loop` is the name of the loop itself", "rename the item", "loop")
        size = sum(len(data.data) for data in node.find_all(nodes.TemplateData))
        inner = bound | targets | {"loop"}
        with self.collected():
            items = self.rewritten(node.iter, bound)
            node.iter = call("looped", items, nodes.Const(size), lineno=node.lineno)
        with self.collected():
            node.test = self.rewritten(node.test, inner) if node.test is not None else None
        for part in node.body:
            self.statement(part, inner)
        for part in node.else_:
            self.statement(part, bound)

    @staticmethod
    def target_names(target: nodes.Node) -> frozenset[str]:
        return frozenset({target.name}) if isinstance(target, nodes.Name) else frozenset()

    def check_name(self, node: nodes.Node, name: str) -> None:
        if name.startswith("_"):
            self.refuse(node, "names that start with _ are not allowed", word=name)

    def rewritten(self, node: nodes.Node, bound: frozenset[str]) -> nodes.Expr:
        kind = type(node).__name__
        method: Callable[..., nodes.Expr] | None = getattr(self, f"rewrite_{kind}", None)
        if method is not None:
            return method(node, bound)
        if isinstance(node, (nodes.CondExpr, nodes.And, nodes.Or, nodes.Not, nodes.List, nodes.TemplateData)):
            self.visit(node, bound)
            return node
        if kind in ARITHMETIC:
            self.refuse(
                node,
                "arithmetic is not allowed in {{ }} and {% %}",
                "compute it under `let`, where all numbers are exact",
                next((name.name for name in node.find_all(nodes.Name)), ""),
            )
        self.refuse(node, REFUSED_NODES.get(kind, f"{kind} is not part of the language"))

    def rewrite_Const(self, node: nodes.Const, bound: frozenset[str]) -> nodes.Expr:
        if isinstance(node.value, str) and not is_encodable(node.value):
            self.refuse(node, "the text contains half of a surrogate pair", "write the whole character")
        if isinstance(node.value, float):
            self.refuse(
                node,
                "decimal numbers are not allowed in {{ }} and {% %}",
                "write it under `let`, where all numbers are exact",
            )
        return node

    def rewrite_Neg(self, node: nodes.Neg, bound: frozenset[str]) -> nodes.Expr:
        if isinstance(node.node, nodes.Const) and type(node.node.value) is int:
            return nodes.Const(-node.node.value, lineno=node.lineno)
        self.refuse(
            node, "arithmetic is not allowed in {{ }} and {% %}", "compute it under `let`, where all numbers are exact"
        )

    def rewrite_Tuple(self, node: nodes.Tuple, bound: frozenset[str]) -> nodes.Expr:
        return nodes.List([self.rewritten(item, bound) for item in node.items], lineno=node.lineno)

    def rewrite_Name(self, node: nodes.Name, bound: frozenset[str]) -> nodes.Expr:
        self.check_name(node, node.name)
        if node.name in bound:
            return node
        self.names.append(Use(node.name, self.offset(node, node.name)))
        if node.name in self.replies:
            return of_reply("reply_value", node.name, lineno=node.lineno)
        if node.name in self.late:
            return call("late", SCOPE, nodes.Const(node.name), lineno=node.lineno)
        return node

    def rewrite_Concat(self, node: nodes.Concat, bound: frozenset[str]) -> nodes.Expr:
        return call("joined", *(self.rewritten(part, bound) for part in node.nodes), lineno=node.lineno)

    def rewrite_Compare(self, node: nodes.Compare, bound: frozenset[str]) -> nodes.Expr:
        if len(node.ops) != 1:
            self.refuse(
                node, "chained comparisons are not allowed in {{ }} and {% %}", "join two comparisons with `and`"
            )
        left, right = self.rewritten(node.expr, bound), self.rewritten(node.ops[0].expr, bound)
        return call(COMPARED[node.ops[0].op], left, right, lineno=node.lineno)

    def rewrite_Getattr(self, node: nodes.Getattr, bound: frozenset[str]) -> nodes.Expr:
        self.check_name(node, node.attr)
        if isinstance(node.node, nodes.Name) and node.node.name == "loop" and "loop" in bound:
            if node.attr not in LOOP_FIELDS:
                help = did_you_mean(node.attr, LOOP_FIELDS)
                self.refuse(node, f"`loop` has no field `{node.attr}`", help, node.attr)
            return node
        return call("field", self.rewritten(node.node, bound), nodes.Const(node.attr), lineno=node.lineno)

    def rewrite_Getitem(self, node: nodes.Getitem, bound: frozenset[str]) -> nodes.Expr:
        reply = self.reply_of(node, bound)
        if reply is not None:
            return self.of_reply("reply_value", reply, bound)
        is_slice = isinstance(node.arg, nodes.Slice)
        sliced = self.reply_of(node.node, bound) if is_slice and isinstance(node.node, nodes.Name) else None
        whole = self.rewritten(node.node, bound) if sliced is None else node.node
        if isinstance(node.arg, nodes.Slice):
            bounds = (node.arg.start, node.arg.stop, node.arg.step)
            parts = [self.rewritten(part, bound) if part is not None else nodes.Const(None) for part in bounds]
            if sliced is not None:
                return self.of_reply("reply_slice", sliced, bound, parts)
            return call("slice_of", whole, *parts, lineno=node.lineno)
        return call("item_of", whole, self.rewritten(node.arg, bound), lineno=node.lineno)

    def reply_of(self, node: nodes.Expr, bound: frozenset[str]) -> tuple[nodes.Name, list[nodes.Expr]] | None:
        """Return the reply that a name refers to, with its indices; None for anything else."""
        path: list[nodes.Expr] = []
        while isinstance(node, nodes.Getitem) and not isinstance(node.arg, nodes.Slice):
            path.insert(0, node.arg)
            node = node.node
        is_reply = isinstance(node, nodes.Name) and node.name in self.replies - bound
        return (node, path) if is_reply and isinstance(node, nodes.Name) else None

    def of_reply(
        self, guard: str, reply: tuple[nodes.Name, list[nodes.Expr]], bound: frozenset[str],
        parts: list[nodes.Expr] | None = None,
    ) -> nodes.Expr:  # fmt: skip
        """Return the call of a guard for a reply; `parts` are arguments that have already been rewritten."""
        name, path = reply
        self.names.append(Use(name.name, self.offset(name, name.name)))
        rewritten_arguments = [self.rewritten(index, bound) for index in path] if parts is None else parts
        return of_reply(guard, name.name, *rewritten_arguments, lineno=name.lineno)

    def rewrite_Filter(self, node: nodes.Filter, bound: frozenset[str]) -> nodes.Expr:
        if node.node is None:
            self.refuse(node, "`filter` blocks are not part of the language")
        return self.called(node, node.name, [node.node, *node.args], node.kwargs, bound)

    def rewrite_Call(self, node: nodes.Call, bound: frozenset[str]) -> nodes.Expr:
        if isinstance(node.node, nodes.Getattr):
            name = node.node.attr if node.node.attr in library() else "f"
            help = f"there are no methods: write `{name}(x)` or `x | {name}`"
            self.refuse(node, "method calls are not part of the language", help, node.node.attr)
        if not isinstance(node.node, nodes.Name):
            self.refuse(node, "only named functions can be called")
        if node.dyn_args is not None or node.dyn_kwargs is not None:
            self.refuse(node, "`*` before an argument is not part of the language")
        return self.called(node, node.node.name, node.args, node.kwargs, bound)

    def called(
        self, node: nodes.Expr, name: str, arguments: list[nodes.Expr], named: list[Any], bound: frozenset[str]
    ) -> nodes.Expr:
        """Return a call as `_call` of the function's name, resolved when the template is compiled."""
        self.check_name(node, name)
        if named:
            self.refuse(node, "keyword arguments are not part of the language", "give the arguments in order", name)
        if name == "loop" or name in bound:
            self.refuse(node, f"`{name}` is a value, not a function", word=name)
        if self.replies and name in REPLY_FUNCTIONS:
            reply = self.reply_of(arguments[0], bound) if len(arguments) == 1 else None
            if reply is not None:
                return self.of_reply(f"said_{name}", reply, bound)
            if name not in ALSO_IN_LIBRARY:
                raise error_at(self.source, self.offset(node, name), "E305", *reply_name_help(name, self.replies))
        self.calls.append(Use(name, self.offset(node, name), len(arguments)))
        function = library().get(name)
        places = function.function_arguments if function else frozenset()
        done: list[nodes.Expr] = [SCOPE]
        for at, argument in enumerate(arguments):
            if at in places and isinstance(argument, nodes.Name) and argument.name not in bound:
                self.function_names.append(Use(argument.name, self.offset(argument, argument.name)))
                done.append(call(f"bound_{argument.name}", SCOPE, lineno=node.lineno))
            else:
                done.append(self.rewritten(argument, bound))
        return call(f"call_{name}", *done, lineno=node.lineno)


def _is_wordlike(char: str) -> bool:
    return char == "_" or char.isalnum()


SCOPE = nodes.Name("_s", "load", lineno=1)


def call(name: str, *arguments: nodes.Expr, lineno: int) -> nodes.Expr:
    """Return a call of one of the names that `compile_template` puts into a template's globals."""
    function = nodes.Name(f"_{name}", "load", lineno=lineno)
    return nodes.Call(function, list(arguments), [], None, None, lineno=lineno)


def of_reply(guard: str, name: str, *arguments: nodes.Expr, lineno: int) -> nodes.Expr:
    """Return the call of a guard for a reply, which it finds in the scope."""
    return call(guard, SCOPE, nodes.Const(name), *arguments, lineno=lineno)


def late(scope: Mapping[str, Value], name: str) -> Value:
    """Return the value, which the scope computes when it is looked up."""
    return scope[name]


def looped(items: Value, size: int) -> Any:
    """Return the items of a loop, charged to the budget together with the text that each round writes."""
    loop_items = operators.steps(items)
    charge(len(loop_items) * size // 64)
    return loop_items


GUARDS: dict[str, Callable[..., Value]] = {
    "_looped": looped,
    "_late": late,
    "_joined": operators.joined,
    "_field": operators.field,
    "_item_of": operators.item_of,
    "_slice_of": operators.slice_of,
    **{f"_{name}": getattr(operators, name) for name in COMPARED.values()},
    **REPLY_GUARDS,
}


def compile_template(
    parsed: ParsedTemplate, namespace: Namespace, values: frozenset[str], assets: frozenset[str] = frozenset()
) -> CompiledTemplate:
    """Return the parsed template as a function from a scope to text; `values` are the names in the scope.

    Those in `assets` are printed in the form in which they are delivered, if they are the whole expression. Raises
    DiaError for unknown names and functions.
    """
    source, globals_ = parsed.source, _globals(parsed, namespace, values)
    for name in parsed.printed:
        name.name = delivered_name(name.name) if name.name in assets else name.name
    try:
        environment = _environment()
        if assets or not parsed.code:
            parsed.code[:] = [environment.compile(parsed.tree, "prompt", "<template>")]
        template = environment.template_class.from_code(environment, parsed.code[0], globals_)
    except (SyntaxError, RecursionError, MemoryError):  # Python allows 20 nested loops and 100 indentations
        raise error_at(source, 0, "E312", "the template is nested too deeply", "use a macro") from None
    number = next(NUMBERS)
    is_constant = not (parsed.names or parsed.calls or parsed.function_names)
    return CompiledTemplate(source, number, template, is_constant, parsed.tag_offsets)


def unknown_names(parsed: ParsedTemplate, namespace: Namespace, values: frozenset[str]) -> tuple[Diagnostic, ...]:
    """Return an error for each unknown name and function of the template."""
    try:
        _globals(parsed, namespace, values)
    except DiaError as error:
        return error.diagnostics
    return ()


def _globals(parsed: ParsedTemplate, namespace: Namespace, values: frozenset[str]) -> dict[str, Any]:
    """Return the globals of the template's code. Raises DiaError for unknown names and functions."""
    source, globals_ = parsed.source, dict(GUARDS)
    faults: list[Diagnostic] = []
    for use in parsed.names:
        if use.name in LITERALS or use.name in values:
            globals_ |= {use.name: LITERALS[use.name]} if use.name in LITERALS else {}
        elif use.name in CONSTANTS:
            globals_[use.name] = namespace.globals[namespace.constant(use.name)]
        else:
            faults += unknown_name(source, use.offset, use.name, namespace, values).diagnostics
    for use in parsed.calls:
        try:
            globals_[f"_call_{use.name}"] = _callable(source, use, namespace)
        except DiaError as error:
            faults += error.diagnostics
    for use in parsed.function_names:
        try:
            globals_[f"_bound_{use.name}"] = _bound(source, use, namespace)
        except DiaError as error:
            faults += error.diagnostics
    if faults:  # each name once, at its first position
        raise DiaError({entry.message: entry for entry in reversed(faults)}.values())
    return globals_


def delivered_name(asset: str) -> str:
    """Return the name in a scope of the printed form of an asset; specs cannot write it."""
    return f"_as_{asset}"


def _callable(source: Source, use: Use, namespace: Namespace) -> Callable[..., Value]:
    """Return the function as templates call it: with the scope first, which library functions do not take."""
    if use.name in namespace.own:
        arity = namespace.own[use.name]
        check_arity(source, use, arity or 0, arity, use.name)
        return namespace.globals[f"_o_{use.name}"]  # type: ignore[no-any-return]
    library_function = library().get(use.name)
    if library_function is None:
        raise _unknown_function(source, use, namespace)
    check_arity(source, use, library_function.minimum, library_function.maximum, library_function.signature)
    function = library_function.call
    return lambda scope, *arguments: function(*arguments)


def _bound(source: Source, use: Use, namespace: Namespace) -> Callable[..., Value]:
    """Return a factory for a function that is passed by name."""
    if use.name in namespace.own:
        return partial(partial, namespace.globals[f"_o_{use.name}"])
    library_function = library().get(use.name)
    if library_function is None:
        is_piped = source.text[use.offset + len(use.name) :].lstrip().startswith("|")
        raise _unknown_function(source, use, namespace, FUNCTION_FIRST if is_piped else None)
    function = library_function.call
    return lambda scope: function


def _unknown_function(source: Source, use: Use, namespace: Namespace, help: str | None = None) -> DiaError:
    if use.name == "random":
        seeded = "use a parameter: it is drawn from the instance's own seed"
        return error_at(source, use.offset, "E304", "`random` is not available", seeded)
    message = f"unknown function `{use.name}`"
    return error_at(source, use.offset, "E304", message, help or function_help(use.name, namespace))
