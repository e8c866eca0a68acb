"""Why two questions of a template are equal: what the prompt does not show, a slot that nobody prints, or symmetry."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from dia_language.diagnostics import Diagnostic, Position
from dia_language.templates.tags import tags_of
from dia_language.yaml_nodes import Mapping as MappingNode
from dia_language.yaml_nodes import Node, Scalar, Sequence

from dia_compiler.freeze.spool import Spool
from dia_compiler.parse.model import Snippet, Template, Variant

WORD = re.compile(r"[A-Za-z_]\w*")
BREAK = "break the symmetry with a `where` such as `a <= b`, or show every parameter in the prompt"
Cause = tuple[Position, str]  # where to change the spec, and how


def equal_questions(template: Template, spool: Spool, numbers: tuple[int, int], is_named: bool) -> Diagnostic:
    """Return the error for two rows with the same question; `is_named` says whether numbers alone are ambiguous."""
    one, other = (_row(spool, "questions", number) for number in numbers)
    message = f"instances {numbers[0]} and {numbers[1]} are the same question"
    if is_named:
        message = f"`{one['id']}` and `{other['id']}` are the same question"
    variant = next((each for each in template.variants if each.name == (other["variant"] or one["variant"])), None)
    if variant is not None and (one["item"], one["instance"]) == (other["item"], other["instance"]):
        place, help = _same_wording(template, variant)
    else:
        values, other_values = (_row(spool, "answers", number)["parameters"] for number in numbers)
        differing = [name for name in values if values[name] != other_values.get(name, values[name])]
        place, help = _same_instances(template, variant, differing)
    return Diagnostic("E506", message, place, help)


def _row(spool: Spool, part: str, number: int) -> Mapping[str, Any]:
    line = next(islice(spool.parts[part].lines(), number, None))
    row: Mapping[str, Any] = json.loads(line)
    return row


def _same_wording(template: Template, variant: Variant) -> Cause:
    """Return why a variant is the same question as its instance, or as another variant of it."""
    shown_names = _names_in(_texts(template, variant))
    for name, piece in variant.slots.items():
        if name not in shown_names:
            help = f"the variant `{variant.name}` fills the slot `{name}`, which the prompt does not print: add"
            return piece.position, f"{help} {{{{ {name} }}}} to the prompt"
    names = [f"`{scalar.text}`" for scalar in variant.redraw if scalar.text not in shown_names]
    if names:
        help = f"the variant `{variant.name}` redraws {' and '.join(names)}, which the prompt does not show"
        return variant.position, f"{help}: show it, or remove the variant"
    return variant.position, f"the variant `{variant.name}` has the same text: change it, or remove the variant"


def _same_instances(template: Template, variant: Variant | None, differing: list[str]) -> Cause:
    """Return why two instances with different parameters are the same question in one wording."""
    first_text = next(_texts(template, variant), None)
    place = first_text.position if first_text is not None else template.position
    reached = _reached(template, variant)
    names = " and ".join(f"`{name}`" for name in differing)
    if not differing or reached & set(differing):
        return place, f"they differ only in {names}: {BREAK}" if differing else BREAK
    prompt, other_way = "prompt", "remove it from `params`"
    if variant is not None and variant.prompt is not None:
        prompt, other_way = f"prompt of the variant `{variant.name}`", "remove the variant"
    help = f"they differ only in {names}, which the {prompt} does not show: show it there, or {other_way}"
    return place, help


def _reached(template: Template, variant: Variant | None) -> set[str]:
    """Return every name in the texts of a wording, and in what these names are computed from."""
    sources = {name: [piece.text] for name, piece in template.let.items()}
    sources |= {function.name: [function.body.text] for function in template.shared.functions}
    assets = template.node.get("assets")
    built = {key.text: list(_scalars(value)) for key, value in assets.pairs} if isinstance(assets, MappingNode) else {}
    sources |= built
    if variant is not None:
        sources |= {name: [piece.text] for name, piece in variant.let.items()}
    reached = _names_in(_texts(template, variant))
    waiting = [*reached, *(name for name in built if template.deliver.get(name) != "inline")]
    while waiting:
        name = waiting.pop()
        fresh = {word for text in sources.pop(name, ()) for word in WORD.findall(text)} - reached
        reached |= fresh
        waiting += fresh
    return reached


def _texts(template: Template, variant: Variant | None) -> Iterator[Snippet]:
    """Yield the texts of a wording: of the prompt or the sessions, of the slots that they print, and around them."""
    texts = [variant.prompt if variant is not None and variant.prompt is not None else template.prompt]
    if template.session_spec is not None:
        sessions = template.session_spec.sessions
        texts += [session.system for session in sessions]
        texts += [text for session in sessions for turn in session.turns for text in (turn.user, turn.assistant)]
    texts += [variant.prepend, variant.append] if variant is not None else []
    pieces = [text for text in texts if text is not None]
    slots = {**template.slots, **(variant.slots if variant is not None else {})}
    yield from pieces
    yield from (slots[name] for name in slots.keys() & _names_in(pieces))


def _names_in(pieces: Iterable[Snippet]) -> set[str]:
    """Return every word in the tags of templates."""
    return {
        word
        for piece in pieces
        for tag in tags_of(piece.text)
        for word in WORD.findall(piece.text[tag.content : tag.end])
    }


def _scalars(node: Node) -> Iterator[str]:
    """Yield the text of every value of a node."""
    if isinstance(node, Scalar):
        yield node.text
    elif isinstance(node, Sequence):
        for item in node.items:
            yield from _scalars(item)
    else:
        for _, value in node.pairs:
            yield from _scalars(value)
