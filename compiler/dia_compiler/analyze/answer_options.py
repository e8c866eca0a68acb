"""Checks of `answer` that a schema cannot express: its type, and whether its options fit together."""

from __future__ import annotations

import re
from collections.abc import Mapping as Map

from dia_compiler.analyze.settings import settings_of
from dia_compiler.parse.model import Benchmark, Template
from dia_compiler.parse.model_builder import SOLVED, comparison_of, marked
from dia_compiler.parse.schema_errors import Path
from dia_language.answers import ANSWER_TYPES, validate
from dia_language.diagnostics import Diagnostics, Position, did_you_mean
from dia_language.yaml_nodes import Mapping, Node, Scalar, Sequence, data
from dia_runtime.formats import FORMATS

OLD_TOLERANCE = "answer-decimals"


# Names of answer types in other languages, and of parameter types that answers do not have
OTHER_NAMES = {
    "array": "list", "bool": "boolean", "datetime": "date", "decimal": "real", "dict": "record", "double": "real",
    "enum": "choice", "float": "real", "fraction": "rational", "int": "integer", "label": "choice",
    "letter": "choice", "number": "real", "object": "record", "str": "text", "string": "text",
}  # fmt: skip


def check_answer(node: Node | None, reported_paths: set[Path], diagnostics: Diagnostics) -> None:
    """Report what is wrong with the type and the options of an answer, except for keys that were already reported."""
    wrong = {path[1] for path in reported_paths if len(path) > 1 and path[0] == "answer"}
    if not isinstance(node, Mapping) or ("answer",) in reported_paths or "type" in wrong:
        return
    kind = node.get("type")
    if not isinstance(kind, Scalar) or not _is_known(kind, diagnostics):
        return
    options = Mapping(
        tuple((key, value) for key, value in node.pairs if key.text not in wrong and key.text not in SOLVED),
        node.position,
    )
    if _has_expressions(options):
        return
    for message in validate(comparison_of(data(options))):
        words, _, help = message.partition("; did you mean")
        diagnostics.error(
            "E404", words, _place(message, options) or kind.position, f"did you mean{help}" if help else None
        )


def warn_of_decimals(node: Node | None, diagnostics: Diagnostics) -> None:
    """Warn about `decimals`, the old option for a tolerance: in a parameter, it is the number of decimal places."""
    decimals = node.get("decimals") if isinstance(node, Mapping) else None
    if isinstance(decimals, Scalar):
        meaning = "a tolerance, not the number of decimal places as for a parameter"
        message = f"for an answer, `decimals: {decimals.text}` means {meaning}"
        tolerance = f"`tolerance: {{places: {decimals.text}}}`"
        help = f"write {tolerance}, which means the same: half a unit in that decimal place"
        diagnostics.warn(OLD_TOLERANCE, message, decimals.position, help)


def check_format(template: Template, benchmark: Benchmark, reported_paths: set[Path], diagnostics: Diagnostics) -> None:
    """Report what is wrong with the options of the answer format, of the template or of the benchmark."""
    node = template.node.get("format")
    format_facts = template.facts.get("format", benchmark.facts.get("format", {}))
    if any(path[:1] == ("format",) for path in reported_paths) or not isinstance(format_facts, Map):
        return
    record = settings_of(benchmark, template, "").format
    form = FORMATS.get(str(record.get("kind")))
    if form is None or template.node.get("choices") is not None:  # errors in `choices` are reported elsewhere
        return
    for message in form.faults(record):
        words, _, help = message.partition("; ")
        place = _place(message, node) if isinstance(node, Mapping) else None
        where = node.position if node is not None else template.position
        diagnostics.error("E404", words, place or where, help or None)


def _is_known(kind: Scalar, diagnostics: Diagnostics) -> bool:
    """Return whether the answer's type exists; report it if it does not."""
    if kind.text in ANSWER_TYPES:
        return True
    known_types = ", ".join(sorted(ANSWER_TYPES))
    other_name = OTHER_NAMES.get(kind.text.lower())
    help = f"did you mean `{other_name}`?" if other_name else did_you_mean(kind.text, ANSWER_TYPES)
    help = help or f"the answer types are {known_types}"
    diagnostics.error("E404", f"unknown answer type `{kind.text}`", kind.position, help)
    return False


def _place(message: str, node: Node) -> Position | None:
    """Return the position of the first word that the message has in backquotes and the node has as a key or value."""
    is_key = "no option" in message or "takes the option" in message
    for word in re.findall(r"`([^`]*)`", message):
        position = _word(word, node, is_key)
        if position is not None:
            return position
    return None


def _word(word: str, node: Node, is_key: bool) -> Position | None:
    if isinstance(node, Scalar):
        return node.position if node.text == word else None
    for key, value in node.pairs if isinstance(node, Mapping) else ():
        if key.text == word:
            return key.position if is_key else value.position
    inner = node.items if isinstance(node, Sequence) else [value for _, value in node.pairs]
    return next((place for item in inner if (place := _word(word, item, is_key)) is not None), None)


def _has_expressions(node: Node) -> bool:
    """Return whether the datum contains an expression, so that its value depends on the instance."""
    if isinstance(node, Scalar):
        return marked(node) is not None
    inner = node.items if isinstance(node, Sequence) else [value for _, value in node.pairs]
    return any(map(_has_expressions, inner))
