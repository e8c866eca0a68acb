"""Labels of respondents from a file, by name or by a pattern of names.

    gpt-4o: {company: OpenAI, reasoning: false}
    "*llama*": {company: Meta, licence: open weights}

All patterns that match a name apply, in the order of the file: a later one wins, and the name itself wins over all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from dia_language.diagnostics import DiaError, Diagnostic, Diagnostics, Position, visible
from dia_language.numbers.values import Value
from dia_language.yaml_nodes import Mapping as Pairs
from dia_language.yaml_nodes import Node, Scalar, parse, read_text

LONGEST = 200  # characters of a pattern or a name; a longer name only matches itself
MOST_LABELS = 100
WANTED = "write `NAME: {label: value, ...}`; `*` in a name matches anything"


@dataclass(frozen=True, slots=True)
class Labels:
    """Name or pattern -> labels, in the order of the file."""

    entries: Mapping[str, Mapping[str, str]]

    @property
    def names(self) -> tuple[str, ...]:
        """Return every label that any respondent may have."""
        return tuple(dict.fromkeys(label for labels in self.entries.values() for label in labels))

    def of(self, name: str) -> dict[str, str]:
        """Return the labels of a respondent; none if nothing in the file matches its name."""
        merged: dict[str, str] = {}
        for pattern, labels in self.entries.items():
            if len(name) <= LONGEST and fnmatchcase(name, pattern):
                merged |= labels
        return {**merged, **self.entries.get(name, {})}


def read_labels(path: Path, reserved: Sequence[str] = ()) -> Labels:
    """Return the labels of a file; `taken` are names that no label may have.

    Raises DiaError (exit 2) with the position of each error.
    """
    file_name = path.as_posix()
    text = read_text(path, file_name)
    root = parse(text, file_name) if text.strip() else None
    faults = Diagnostics()
    if not isinstance(root, Pairs):
        place = root.position if root else Position(file_name, 1, 1)
        raise DiaError(Diagnostic("E203", "a label file must be a mapping from names to labels", place, WANTED))
    entries = {key.text: _labels(key, node, reserved, faults) for key, node in root.pairs}
    if faults.errors:
        raise DiaError(faults.ordered())
    labels = Labels(entries)
    if len(labels.names) > MOST_LABELS:
        raise DiaError(Diagnostic("E203", f"more than {MOST_LABELS} different labels", root.position))
    return labels


def _labels(key: Scalar, node: Node, reserved: Sequence[str], faults: Diagnostics) -> dict[str, str]:
    if len(key.text) > LONGEST:
        faults.error("E203", f"a name of more than {LONGEST:,} characters", key.position)
    if not isinstance(node, Pairs):
        faults.error("E203", visible(f"the labels of `{key.text}` are not a mapping"), node.position, WANTED)
        return {}
    labels = {}
    for label, value in node.pairs:
        if label.text in reserved:
            message = visible(f"`{label.text}` is already a label of questions")
            faults.error("E310", message, label.position, "choose another name for the label")
        if not isinstance(value, Scalar) or value.value is None:
            message = visible(f"the label `{label.text}` is not a text, number or boolean")
            faults.error("E203", message, value.position, "write one value; omit unknown labels")
        else:
            labels[label.text] = _text(value.value, value.text)
    return labels


def _text(value: Value, text: str) -> str:
    """Return the value as it is written; truth values are spelled in one way."""
    return str(value).lower() if isinstance(value, bool) else text
