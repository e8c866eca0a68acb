"""What can be varied in a template, and the varied template: a separate spec, made by editing the template's text.

Varied are integers in options of types: bounds of integers, bits, lengths, sizes; and the entries of a catalog from
which a parameter takes a subset. If they are named, also the items of a choice, a boolean, and the categories of a data
file's rows: these have no order, and each leaves a template with fewer instances. A level of a parameter is a set of
edits of the template's file, or a condition on the parameter, so that a varied template is an ordinary spec, which is
checked, compiled and verified like any other.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from dia_language.diagnostics import DiaError, Diagnostic
from dia_language.numbers.values import Value
from dia_language.yaml_nodes import Mapping as MappingNode
from dia_language.yaml_nodes import Node, Scalar, data, pairs, parse
from dia_language.yaml_nodes import Sequence as SequenceNode
from dia_runtime.psychometrics.boundary.space import Cell, Dimension, Skill, Space

from dia_compiler.analyze.check import CheckedBenchmark
from dia_compiler.parse.model import DataFile, Datum, Template
from dia_compiler.types import TYPES

# Type -> the option for its size -> the least and the greatest size that is tried
SIZES: Mapping[str, Mapping[str, tuple[int, int]]] = {
    "integer": {"bits": (4, 65_536)},
    "prime": {"bits": (8, 4_096)},
    "string": {"length": (1, 4_000)},
    "bytes": {"length": (1, 2_000)},
    "list": {"length": (2, 2_000)},
    "subset": {"size": (1, 1_000)},
    "words": {"count": (1, 1_000)},
    "matrix": {"rows": (1, 30), "columns": (1, 30)},
    "vector": {"length": (1, 200)},
    "polynomial": {"degree": (1, 60)},
    "formula": {"depth": (1, 10)},
    "graph": {"nodes": (2, 100)},
    "rows": {"size": (1, 1_000)},
}
RATIO, MOST_LEVELS, FEW = 1.25, 48, 12
WIDEST = 30  # characters of the name of a level
POWER = re.compile(r"= ?([0-9]{1,9})\*\*([0-9]{1,4})")
DROPPED = ("examples", "variants", "instances", "number", "fuzz")  # keys that only apply to the original template


@dataclass(frozen=True, slots=True)
class Edit:
    """A piece of a line that is replaced; lines and columns count from 1."""

    line: int
    column: int
    length: int
    text: str


@dataclass(frozen=True, slots=True)
class Level:
    """A level of a parameter: its name, its middle or value, and the edits or the condition for it."""

    name: str
    middle: Value
    edits: tuple[Edit, ...] = ()
    where: str | None = None


@dataclass(frozen=True, slots=True)
class Knob:
    """A parameter with its levels, and the level of the original template."""

    name: str
    levels: tuple[Level, ...]
    start: int


@dataclass(frozen=True, slots=True)
class Deck:
    """The entries of a catalog from which a parameter takes a subset: their names, groups, lines, and the size's edit.

    `path` is the catalog's file, None if it is in the template's own file; `link` the scalar that names the file;
    `sizing` the parameters that only determine the size.
    """

    parameter: str
    names: tuple[str, ...]
    groups: tuple[str | None, ...]
    lines: tuple[tuple[int, int], ...]
    fewest: int
    most: int
    sizes: tuple[Scalar, ...]
    path: str | None
    link: Scalar | None
    sizing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Moves:
    """The template, what can be varied in it, and the resulting search space."""

    template: Template
    file: str
    text: str
    catalog: str
    knobs: tuple[Knob, ...]
    deck: Deck | None

    @property
    def space(self) -> Space:
        """The cells that the template can be varied to."""
        dimensions = tuple(Dimension(knob.name, len(knob.levels), knob.start) for knob in self.knobs)
        deck = self.deck
        if deck is None:
            return Space(dimensions)
        skills = tuple(Skill(name, group) for name, group in zip(deck.names, deck.groups, strict=True))
        return Space(dimensions, skills, deck.fewest, deck.most)

    def levels(self, cell: Cell) -> dict[str, str]:
        """Return the levels of a cell in words."""
        return {knob.name: knob.levels[level].name for knob, level in zip(self.knobs, cell.levels, strict=True)}

    def middles(self, cell: Cell) -> dict[str, Value]:
        """Parameter and option -> a number in the middle of the cell's level, or the value that it fixes."""
        return {knob.name: knob.levels[level].middle for knob, level in zip(self.knobs, cell.levels, strict=True)}

    @property
    def sizing(self) -> tuple[str, ...]:
        """The parameters that only determine the number of entries."""
        return () if self.deck is None else self.deck.sizing

    def skills(self, cell: Cell) -> tuple[str, ...]:
        """Return the entries of a cell."""
        return () if self.deck is None else tuple(self.deck.names[at] for at in cell.skills)

    def moved(self, cell: Cell, name: str) -> dict[str, str]:
        """Return the files of the template at a cell, under another name: its own, and its catalog's if any."""
        edits = [edit for knob, level in zip(self.knobs, cell.levels, strict=True) for edit in knob.levels[level].edits]
        name_node = self.template.node.get("template")
        assert isinstance(name_node, Scalar)
        edits.append(_edit(name_node, name))
        wheres = [where for knob, level in zip(self.knobs, cell.levels, strict=True)
                  if (where := knob.levels[level].where) is not None]  # fmt: skip
        dropped_lines = list(_dropped(self.template.node, self.text, (*DROPPED, "where") if wheres else DROPPED))
        files: dict[str, str] = {}
        if self.deck is not None:
            removed_entries = [self.deck.lines[at] for at in range(len(self.deck.names)) if at not in cell.skills]
            edits += [_edit(scalar, str(len(cell.skills))) for scalar in self.deck.sizes]
            if self.deck.link is None:
                dropped_lines += removed_entries
            else:
                place = f"moved/{name}.yaml"
                files[place] = _without(self.catalog.split("\n"), removed_entries)
                edits.append(_edit(self.deck.link, place))
        description = ", ".join([*(f"{key} {value}" for key, value in self.levels(cell).items()), *self.skills(cell)])
        head = f"# `{self.template.name}` moved by `dia explore`: {description}\n"
        text = head + _without(_edited(self.text.split("\n"), edits), dropped_lines)
        if wheres:
            conditions = [*_conditions(self.template.node.get("where")), *wheres]
            text = text.rstrip("\n") + "\nwhere:\n" + "".join(f"  - {_quoted(one)}\n" for one in conditions)
        return {f"{name}.yaml": text, **files}


def moves_of(item: CheckedBenchmark, template: Template, chosen: tuple[str, ...] = ()) -> Moves:
    """Return what can be varied in a template, or only the `wanted` parameters if any are named.

    Raises DiaError (exit 2) for a template with many items, and if nothing can be varied.
    """
    _require_plain(template)
    file = item.relative(template.file)
    text = item.files[file].decode("utf-8").removeprefix("\ufeff")
    deck, catalog, catalog_parameters = _deck(item, template)
    prompt = "" if template.prompt is None else re.sub(r"\{\{.*?\}\}|\{%.*?%\}", "", template.prompt.text, flags=re.S)
    knobs = [knob for name, node in pairs(template.node.get("params")) for knob in _knobs(name.text, node, prompt)]
    knobs = [knob for knob in knobs if knob.name.partition(".")[0] not in catalog_parameters and _stands(knob, text)]
    alternatives = list(_alternatives(template))
    if chosen:
        knobs += alternatives
    _require_known(chosen, knobs, deck, template)
    if chosen:
        knobs = [knob for knob in knobs if _is_wanted(knob.name, chosen)]
        deck = deck if deck is not None and _is_wanted(deck.parameter, chosen) else None
    if not knobs and deck is None:
        what = "nothing that varies by default" if alternatives else "nothing to vary"
        message = f"`{template.name}` has {what}: no numeric option, and no subset of a catalog"
        names = ", ".join(f"`--move {knob.name}`" for knob in alternatives)
        help = "write bounds, a length or a size of a parameter as plain numbers" + (
            f"; or use {names}" if names else ""
        )
        raise DiaError(Diagnostic("E897", message, template.position, help))
    return Moves(template, file, text, catalog, tuple(knobs), deck)


def _is_wanted(name: str, chosen: tuple[str, ...]) -> bool:
    return any(name == prefix or name.startswith(f"{prefix}.") for prefix in chosen)


def _require_known(chosen: tuple[str, ...], knobs: list[Knob], deck: Deck | None, template: Template) -> None:
    names = [knob.name for knob in knobs] + ([deck.parameter] if deck is not None else [])
    for name in chosen:
        if not any(_is_wanted(movable, (name,)) for movable in names):
            message = f"`{name}` cannot be varied in `{template.name}`"
            movable = ", ".join(f"`{movable_name}`" for movable_name in names) or "nothing"
            raise DiaError(Diagnostic("E897", message, template.position, f"the options that can be varied: {movable}"))


def _require_plain(template: Template) -> None:
    why = None
    if template.each is not None:
        why = "it has `each`, so its items are fixed"
    elif isinstance(template.node, MappingNode) and template.node.is_flow:
        why = "its file is a single `{...}` mapping"
    if why is not None:
        message = f"`{template.name}` cannot be explored: {why}"
        raise DiaError(
            Diagnostic("E897", message, template.position, "explore a copy whose parameters are drawn, without `each`")
        )


# parameters


def _knobs(path: str, node: Node, prompt: str) -> Iterator[Knob]:
    """Return what can be varied in the type of a parameter."""
    kind = node.get("type") if isinstance(node, MappingNode) else None
    if not isinstance(node, MappingNode) or not isinstance(kind, Scalar) or kind.text not in TYPES:
        return
    if kind.text == "integer":
        yield from _bounds(path, node)
    for option, (least, most) in SIZES.get(kind.text, {}).items():
        option_node = node.get(option)
        if isinstance(option_node, Scalar) and kind.text != "subset":  # the number of items is not known here
            yield from _constant(f"{path}.{option}", option_node, least, most, prompt)
        elif isinstance(option_node, MappingNode):
            yield from _span(f"{path}.{option}", option_node, 0 if kind.text == "subset" else most)
    inner = node.get("of")
    if isinstance(inner, MappingNode):
        yield from _knobs(f"{path}.of", inner, prompt)
    for name, option_node in pairs(node.get("fields")):
        yield from _knobs(f"{path}.{name.text}", option_node, prompt)


def number_of(node: Node | None) -> int | None:
    """Return the integer that a scalar contains, in digits or as a power; None for anything else.

    >>> from dia_language.yaml_nodes import parse
    >>> number_of(parse("= 10**3", "x")), number_of(parse("12", "x")), number_of(parse("= n", "x"))
    (1000, 12, None)
    """
    if not isinstance(node, Scalar):
        return None
    if type(node.value) is int:
        return node.value
    power = POWER.fullmatch(node.text)
    return (
        None if power is None or int(power[1]).bit_length() * int(power[2]) > 40_000 else int(power[1]) ** int(power[2])
    )


def _bounds(path: str, node: MappingNode) -> Iterator[Knob]:
    """Yield levels for an integer between two bounds: single values if they are few, otherwise ranges."""
    first, last = node.get("min"), node.get("max")
    low, high = number_of(first), number_of(last)
    if low is None or high is None or high <= low or not isinstance(first, Scalar) or not isinstance(last, Scalar):
        return
    parts = _parts(low, high)
    if len(parts) > 1:
        levels = tuple(
            Level(
                f"{a}" if a == b else f"{_short(a)} to {_short(b)}",
                (a + b) // 2,
                (_edit(first, str(a)), _edit(last, str(b))),
            )
            for a, b in parts
        )
        yield Knob(path, levels, len(levels) // 2)


def _parts(low: int, high: int) -> list[tuple[int, int]]:
    """Return the range as single values, as equal parts, or by number of digits if it spans several.

    >>> _parts(1, 3), _parts(1, 1000)
    ([(1, 1), (2, 2), (3, 3)], [(1, 9), (10, 99), (100, 1000)])
    """
    if high - low < FEW:
        return [(value, value) for value in range(low, high + 1)]
    if low >= 0 and high >= 20 * max(low, 1):
        edges = [low, *(10**power for power in range(len(str(low)), len(str(high))))]
        edges = edges[:: -(-len(edges) // MOST_LEVELS)]
        if len(edges) > 1 and high < 2 * edges[-1]:
            edges.pop()  # 10**6 alone is not a range
    else:
        edges = (
            [low + (high - low + 1) * part // FEW for part in range(FEW)]
            if high - low >= 5 * FEW
            else list(range(low, high - 3, 5))
        )
    return [(first, after - 1) for first, after in zip(edges, [*edges[1:], high + 1], strict=True)]


def _constant(path: str, scalar: Scalar, least: int, most: int, prompt: str) -> Iterator[Knob]:
    """Return a number that the spec fixes; not one that the prompt states, which would then be wrong."""
    value = number_of(scalar)
    if value is None or not least <= value <= most or re.search(rf"(?<![0-9]){value}(?![0-9])", prompt):
        return
    values = _ladder(value, least, most)
    yield Knob(path, tuple(Level(str(n), n, (_edit(scalar, str(n)),)) for n in values), values.index(value))


def _span(path: str, span: MappingNode, most: int) -> Iterator[Knob]:
    """Yield levels for a length between two bounds: one for each length, up to the greatest that is tried."""
    first, last = span.get("min"), span.get("max")
    low, high = number_of(first), number_of(last)
    if low is None or high is None or not isinstance(first, Scalar) or not isinstance(last, Scalar) or low > high:
        return
    middle = (low + high) // 2
    values = _ladder(max(middle, 1), max(low, 1), max(high, most))
    yield Knob(path, tuple(Level(str(n), n, (_edit(first, str(n)), _edit(last, str(n)))) for n in values),
               values.index(max(middle, 1)))  # fmt: skip


def _ladder(value: int, least: int, most: int) -> list[int]:
    """Return numbers on both sides of the value, at increasing distances, with both ends.

    >>> _ladder(4, 1, 10)
    [1, 2, 3, 4, 5, 6, 8, 10]
    """
    values = {value, least, most}
    for factor in (RATIO, 1 / RATIO):
        step = float(value)
        while least < step < most:
            values.add(round(step))
            step = step * factor if abs(step * factor - step) >= 1 else step + (1 if factor > 1 else -1)
    return sorted(number for number in values if least <= number <= most)


def _short(number: int) -> str:
    text = str(number)
    return text if len(text) <= 15 else f"{text[0]}e{len(text) - 1}"


def _cut(text: str) -> str:
    """Return a text that fits into a line: its beginning, without line breaks."""
    text = " ".join(text.split())
    return text if len(text) <= WIDEST else f"{text[: WIDEST - 3]}..."


# choices and rows


def _alternatives(template: Template) -> Iterator[Knob]:
    """Yield the values of choices and booleans, and the categories of rows; one level fixes one of them."""
    for parameter in template.parameters:
        name, options = parameter.name, parameter.type.options
        source = options.get("from")
        if parameter.type.kind == "boolean":
            yield from _values(name, [False, True])
        elif parameter.type.kind == "choice" and isinstance(items := options.get("of"), Datum):
            values = data(items.node)
            yield from _values(name, values if isinstance(values, list) else [])
        elif parameter.type.kind == "row" and isinstance(source, DataFile):
            for column in source.table.columns:
                if column.isidentifier():
                    yield from _values(f"{name}.{column}", _categories(source.table.column(column)))


def _values(path: str, values: Sequence[Value]) -> Iterator[Knob]:
    """Yield a level for each value, if they are few and can be written in a condition."""
    is_plain = all(isinstance(value, int) or (isinstance(value, str) and value[:1] != "=") for value in values)
    if is_plain and 2 <= len(values) <= MOST_LEVELS:
        levels = tuple(Level(_cut(str(value)) or '""', value, where=f"{path} == {_literal(value)}") for value in values)
        yield Knob(path, levels, 0)


def _categories(column: Iterable[Value]) -> list[Value]:
    """Return the different values of a column in the order of the file; none if almost all are different."""
    counts: dict[Value, int] = {}
    for value in column:
        if not isinstance(value, str | int):
            return []
        counts[value] = counts.get(value, 0) + 1
        if len(counts) > MOST_LEVELS:
            return []
    return list(counts) if 2 * len(counts) <= sum(counts.values()) else []


def _literal(value: Value) -> str:
    """Return a text, an integer or a boolean as an expression."""
    return json.dumps(value, ensure_ascii=False)


def _conditions(node: Node | None) -> list[str]:
    """Return the conditions that the template has: one, or a list."""
    if node is None:
        return []
    return [
        item.text for item in (node.items if isinstance(node, SequenceNode) else (node,)) if isinstance(item, Scalar)
    ]


def _quoted(text: str) -> str:
    """Return a text as YAML in double quotes."""
    return json.dumps(text, ensure_ascii=False)


# catalogs


def _deck(item: CheckedBenchmark, template: Template) -> tuple[Deck | None, str, set[str]]:
    """Return the first subset of a catalog's entries, the text of the catalog, and parameters that only size it."""
    params = template.node.get("params")
    for name, node in pairs(params):
        of = node.get("of") if isinstance(node, MappingNode) else None
        if not isinstance(node, MappingNode) or not isinstance(of, MappingNode) or _word(node, "type") != "subset":
            continue
        if _word(of, "type") != "entry":
            continue
        catalog = _catalog(item, template, _word(of, "of"))
        sized = _sized(node, params)
        if catalog is None or sized is None:
            continue
        (entries, path, link, text), (low, high, sizes, by) = catalog, sized
        names = tuple(key.text for key, _ in entries.pairs)
        apart = _word(node, "apart")
        groups = tuple(
            _word(entry_node, apart) if apart and isinstance(entry_node, MappingNode) else None
            for _, entry_node in entries.pairs
        )
        most = min(high, len(set(groups) - {None}) + groups.count(None))
        if low <= most and len(names) > 1:
            lines = _lines(entries, text)
            return (
                Deck(name.text, names, groups, lines, low, most, sizes, path, link, tuple(sorted(by))),
                text,
                {name.text, *by},
            )
    return None, "", set()


def _word(node: MappingNode, name: str) -> str | None:
    value = node.get(name)
    return value.text if isinstance(value, Scalar) else None


def _catalog(
    item: CheckedBenchmark, template: Template, name: str | None
) -> tuple[MappingNode, str | None, Scalar | None, str] | None:
    """Return the entries of the template's catalog, its file (None if inline), the link to it, and its text."""
    catalog = next((node for key, node in pairs(template.node.get("catalogs")) if key.text == name), None)
    if not isinstance(catalog, MappingNode):
        return None
    link = catalog.get("from")
    path = link.text if isinstance(link, Scalar) else None
    file = path or item.relative(template.file)
    if file not in item.files:
        return None
    text = item.files[file].decode("utf-8").removeprefix("\ufeff")
    root = parse(text, file) if path else catalog
    entries = root.get("entries") if isinstance(root, MappingNode) else None
    if not isinstance(entries, MappingNode) or entries.is_flow:
        return None
    return entries, path, link if isinstance(link, Scalar) else None, text


def _sized(node: MappingNode, params: Node | None) -> tuple[int, int, tuple[Scalar, ...], set[str]] | None:
    """Return the least and the most entries, the scalars for them, and the parameters that only determine them."""
    size = node.get("size")
    if isinstance(size, Scalar):
        value = number_of(size)
        if value is not None:
            return value, value, (size,), set()
        name = size.text.removeprefix("=").strip()
        return _between(next((node for key, node in pairs(params) if key.text == name), None), {name})
    return _between(size, set())


def _between(node: Node | None, by: set[str]) -> tuple[int, int, tuple[Scalar, ...], set[str]] | None:
    first, last = (node.get("min"), node.get("max")) if isinstance(node, MappingNode) else (None, None)
    low, high = number_of(first), number_of(last)
    if low is None or high is None or not isinstance(first, Scalar) or not isinstance(last, Scalar):
        return None
    return low, high, (first, last), by


def _lines(entries: MappingNode, text: str) -> tuple[tuple[int, int], ...]:
    """Return the first line of each entry, and the first line after it."""
    lines = text.split("\n")
    starts = [key.position.line for key, _ in entries.pairs]
    column = entries.pairs[0][0].position.column - 1
    end = starts[-1] + 1
    while end <= len(lines) and (not lines[end - 1].strip() or lines[end - 1][: column + 1].strip() == ""):
        end += 1
    return tuple(zip(starts, [*starts[1:], end], strict=True))


# texts


def _edit(scalar: Scalar, text: str) -> Edit:
    """Return the edit that replaces a scalar by a text."""
    quotes = 2 * (scalar.style in ("'", '"'))
    return Edit(scalar.position.line, scalar.position.column, len(scalar.text) + quotes, text)


def _stands(knob: Knob, text: str) -> bool:
    """Return whether the template's text, as it was read, contains what the knob edits."""
    lines = text.split("\n")
    for edit in knob.levels[0].edits:
        line = lines[edit.line - 1] if edit.line <= len(lines) else ""
        piece = line[edit.column - 1 : edit.column - 1 + edit.length]
        if not re.fullmatch(r"[-+]?[0-9]+|= ?[0-9]+\*\*[0-9]+|\"= ?[0-9]+\*\*[0-9]+\"|'= ?[0-9]+\*\*[0-9]+'", piece):
            return False
    return True


def _edited(lines: list[str], edits: list[Edit]) -> list[str]:
    for edit in sorted(edits, key=lambda edit: (edit.line, -edit.column)):
        line, at = lines[edit.line - 1], edit.column - 1
        lines[edit.line - 1] = line[:at] + edit.text + line[at + edit.length :]
    return lines


def _dropped(root: Node, text: str, names: tuple[str, ...]) -> Iterator[tuple[int, int]]:
    """Yield the lines of these keys of the template."""
    keys = [key for key, _ in pairs(root)]
    ends = [key.position.line for key in keys[1:]] + [len(text.split("\n")) + 1]
    for key, end in zip(keys, ends, strict=True):
        if key.text in names:
            yield key.position.line, end


def _without(lines: list[str], dropped: list[tuple[int, int]]) -> str:
    """Return the text without some blocks of lines."""
    left_out = {line for first, end in dropped for line in range(first, end)}
    return "\n".join(line for number, line in enumerate(lines, 1) if number not in left_out)
