"""The names that expressions and templates of a file can use, with what they are and where they come from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dia_compiler.analyze.names import OPTIONS, Declarations
from dia_compiler.authoring.editor.checking import FileCheck
from dia_compiler.authoring.editor.cursor import KeyPath, node_at
from dia_compiler.parse.model import Benchmark, Shared, Template
from dia_compiler.parse.model_builder import SIGNATURE
from dia_compiler.parse.sessions.model import FORMAT_INSTRUCTION
from dia_language.diagnostics import Diagnostics, Position
from dia_language.expressions.namespace import Namespace
from dia_language.yaml_nodes import Node, Scalar, pairs

PARTS = {
    "params": "parameter", "let": "let value", "lists": "list", "assets": "asset", "slots": "slot",
    "functions": "function", "macros": "macro", "types": "type", "catalogs": "catalog",
}  # fmt: skip
CALLED = ("function", "macro", "face")
DECLARED_LENGTH = 200


@dataclass(frozen=True, slots=True)
class Symbol:
    """A name that a file declares: what it is, its declaration, and the arguments of what can be called."""

    name: str
    kind: str
    position: Position | None
    declaration: str = ""
    arguments: tuple[str, ...] = ()

    @property
    def is_called(self) -> bool:
        """Whether it is a function of the spec."""
        return self.kind in CALLED

    @property
    def signature(self) -> str:
        """How it is called."""
        return f"{self.name}({', '.join(self.arguments)})"


def symbols_of(check: FileCheck | None, path: Path, root: Node | None) -> dict[str, Symbol]:
    """Return the names of a file and its benchmark, from the last readable text, with new ones from `root`."""
    symbols: dict[str, Symbol] = {}
    if check is not None and check.benchmark is not None and check.checked is not None:
        declared = _declared(check.template(path), check.benchmark)
        for name, kind, position, arguments in declared:
            text = _line(check.checked.sources.get(position.file, ""), position)
            symbols.setdefault(name, Symbol(name, kind, position, text, arguments))
    for part, kind in PARTS.items():
        for key, value in pairs(node_at(root, (part,))) if root is not None else ():
            name = key.text.partition("(")[0]
            symbols.setdefault(name, Symbol(name, kind, None, _short(key, value)))
    return symbols


def _declared(template: Template | None, benchmark: Benchmark) -> list[tuple[str, str, Position, tuple[str, ...]]]:
    if template is None:
        shared = benchmark.shared
        names = [(function.name, "macro" if function.is_template else "function", function.position,
                  function.arguments) for function in shared.functions]  # fmt: skip
        names += [(catalog.name, "catalog", catalog.position, ()) for catalog in shared.catalogs]
        return names + [(name, kind, position, ()) for name, kind, position in shared.positions]
    sources: tuple[Shared, ...] = (benchmark.shared, template.shared)
    declarations = Declarations(template, sources, Diagnostics(), Namespace())
    functions = declarations.functions
    return [
        (name, kind, position, functions[name].arguments if name in functions else ())
        for name, kind, position in declarations.declared
    ]


def _line(text: str, position: Position) -> str:
    """Return a declaration as written, from its name to the end of its line or of its entry in a flow mapping."""
    lines = text.split("\n")
    line = lines[position.line - 1] if position.line <= len(lines) else ""
    rest = line[position.column - 1 :].strip()
    if "{" in line[: position.column - 1]:
        rest = rest[: _end_of_part(rest)]
    return rest[:DECLARED_LENGTH]


def _end_of_part(text: str) -> int:
    """Return where an entry of a flow mapping ends: at a comma or brace outside brackets and quotes."""
    depth, quote = 0, ""
    for at, char in enumerate(text):
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif char in "{[":
            depth += 1
        elif char in ",}]":
            if depth == 0:
                return at
            depth -= char != ","
    return len(text)


def _short(key: Scalar, value: Node) -> str:
    return f"{key.text}: {value.text}" if isinstance(value, Scalar) else key.text


def local_names(root: Node, path: KeyPath) -> dict[str, str]:
    """Return the names that are only defined at some positions, each with its meaning there."""
    names: dict[str, str] = {}
    first = path[0] if path else ""
    if first in ("checks", "mistakes", "explanation", "accept"):
        names["answer"] = "the correct answer"
    if first == "answer" and path[-1:] in (("accept_if",), ("share",)):
        names |= {"answer": "the correct answer", "reply": "the value of the reply"}
    if "where" in path and path[:1] != ("where",):
        names["it"] = "the value of this parameter"
    if first == "prompt" or "prompt" in path:
        names["rounding_rule"] = "the rounding rule of the answer, in words"
    if first == "sessions" and "turns" in path:
        names[FORMAT_INSTRUCTION] = "how to give the reply"
    if first == "prompt" and node_at(root, ("choices",)) is not None:
        names[OPTIONS] = "the options, lettered"
    for at, part in enumerate(path):
        if part in ("functions", "macros") and at + 1 < len(path):
            signature = SIGNATURE.match(str(path[at + 1]))
            names |= dict.fromkeys(_arguments(signature[2] if signature else ""), "argument")
        if part == "entries" and at + 2 < len(path):
            names |= {
                key.text: "parameter of the entry" for key, _ in pairs(node_at(root, (*path[: at + 2], "params")))
            }
            for key, _ in pairs(node_at(root, (*path[:at], "faces"))):
                signature = SIGNATURE.match(key.text)
                if signature and signature[1] == path[at + 2]:
                    names |= dict.fromkeys(_arguments(signature[2]), "argument")
        if part == "variants" and at + 1 < len(path):
            for inner, kind in (("params", "parameter"), ("let", "let value")):
                names |= {
                    key.text: f"{kind} of the variant" for key, _ in pairs(node_at(root, (*path[: at + 2], inner)))
                }
        if part in ("sessions", "turns", "grade", "decisions", "ranking"):
            names |= _items(root, path[: at + 2])
    return names


def _arguments(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _items(root: Node, path: KeyPath) -> dict[str, str]:
    """Return the name of the loop item, and its number."""
    for part in (path, path[:-1]):
        node = node_at(root, (*part, "as"))
        if isinstance(node, Scalar):
            return {node.text: "the item of the list", "index": "the number of the item, from 0"}
    return {}
