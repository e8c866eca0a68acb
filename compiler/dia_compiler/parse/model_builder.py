"""Build the spec model from YAML nodes. Malformed parts are skipped, because schema validation already reports them."""

from __future__ import annotations

import re
from collections.abc import Callable
from collections.abc import Mapping as Map
from fractions import Fraction
from typing import Any

from dia_compiler.assets import BUILDERS
from dia_compiler.parse.model import (
    Answer,
    Asset,
    AssetOption,
    Catalog,
    CatalogEntry,
    Choices,
    DataFile,
    Datum,
    Example,
    Face,
    Option,
    OwnFunction,
    Parameter,
    Shared,
    Snippet,
    Template,
    TypeUse,
    Variant,
)
from dia_compiler.parse.schema_errors import comma_error, is_after_comma, unknown_type
from dia_compiler.types import TYPES
from dia_language.answers.options import PLACES
from dia_language.diagnostics import Diagnostics, Position, closest, did_you_mean
from dia_language.numbers.values import Record
from dia_language.yaml_nodes import Mapping, Node, Scalar, Sequence, data, pairs

SIGNATURE = re.compile(r"([A-Za-z]\w*)\(\s*(.*?)\s*\)\Z", re.ASCII)
EXPRESSION_MARK = "= "
CHAIN = "chain"  # next to the verdicts in the replies of an example
UNFOLDED = 10_000
HOLDING = ("holds", "fails")  # examples of an entry: texts for which the face `holds` is true, or false
A_TYPE = "a type such as {type: integer, min: 1, max: 6}"

# Keys of an answer that are not options of its type
SOLVED = frozenset(["value", "accept", "accept_if", "share", "unanswerable"])
FACTS = ("title", "category", "domain", "level", "number", "adversarial", "notes", "format", "points")


def snippet(node: Node | None, is_template: bool = False) -> Snippet | None:
    """Return the scalar as a snippet; a template loses one newline at its end."""
    if not isinstance(node, Scalar):
        return None
    text = node.text
    return Snippet(text.removesuffix("\n") if is_template else text, node)


def marked(node: Scalar) -> Snippet | None:
    """Return the expression after `= ` in a datum, or None if it is plain text."""
    if isinstance(node.value, str) and node.text.startswith(EXPRESSION_MARK):
        return Snippet(node.text[len(EXPRESSION_MARK) :], node, len(EXPRESSION_MARK))
    return None


def snippets(node: Node | None) -> tuple[Snippet, ...]:
    """One expression or a list of them."""
    nodes = node.items if isinstance(node, Sequence) else (node,) if node is not None else ()
    flow = node.position if isinstance(node, Sequence) and node.is_flow else None
    return tuple(Snippet(item.text, item, flow=flow) for item in nodes if isinstance(item, Scalar))


def mapping_of_snippets(node: Node | None, is_template: bool = False) -> dict[str, Snippet]:
    """Name -> expression or template."""
    return {key.text: piece for key, value in pairs(node) if (piece := snippet(value, is_template)) is not None}


def own_functions(node: Node | None, is_template: bool) -> tuple[OwnFunction, ...]:
    """Return the functions or macros of a mapping from signature to body."""
    functions = []
    for key, value in pairs(node):
        signature, body = SIGNATURE.match(key.text), snippet(value, is_template)
        if signature and body:
            functions.append(OwnFunction(signature[1], _arguments(signature[2]), body, is_template, key.position))
    return tuple(functions)


def _arguments(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",")) if text else ()


ReadFile = Callable[[Node, Node | None], DataFile | None]
"Reads the data file that one option names, with the columns that another option names."


class Builder:
    """Builds the parts of one file; named types are looked up here."""

    def __init__(
        self, diagnostics: Diagnostics, types: Map[str, Mapping], catalog_files: Map[str, Mapping], read_file: ReadFile
    ) -> None:
        self.diagnostics, self.types, self.catalog_files, self.read_file = (
            diagnostics,
            dict(types),
            catalog_files,
            read_file,
        )
        self.broken_types: set[str] = set()
        self.unfolded = 0

    def shared(self, root: Mapping) -> Shared:
        """Return the declarations of a benchmark or template."""
        declared = {key.text: value for key, value in pairs(root.get("types")) if isinstance(value, Mapping)}
        self.types |= declared
        lists = {key.text: Datum(value) for key, value in pairs(root.get("lists"))}
        self.check_types(declared)
        functions = own_functions(root.get("functions"), False) + own_functions(root.get("macros"), True)
        catalogs = tuple(
            built for key, value in pairs(root.get("catalogs")) if (built := self.catalog(key, value)) is not None
        )
        positions = tuple(
            (key.text, kind, key.position) for kind in ("type", "list") for key, _ in pairs(root.get(f"{kind}s"))
        )
        named = [key.text.partition("(")[0] for part in ("functions", "macros") for key, _ in pairs(root.get(part))]
        return Shared(
            declared, lists, functions, catalogs, positions,
            frozenset(named) - {function.name for function in functions},
            frozenset(key.text for key, _ in pairs(root.get("catalogs"))) - {catalog.name for catalog in catalogs},
        )  # fmt: skip

    def check_types(self, declared: Map[str, Mapping]) -> None:
        """Report errors in declared types, used or not, once and at the declaration."""
        for name, node in declared.items():
            if self.type_use(node, (name,)) is None:
                self.broken_types.add(name)

    def catalog(self, key: Scalar, node: Node) -> Catalog | None:
        """Return a catalog from this file or from a separate one."""
        if not isinstance(node, Mapping):
            return None
        source = node.get("from")
        if isinstance(source, Scalar):
            return self._catalog_file(key, source)
        return self._catalog_body(key.text, node, key.position)

    def _catalog_file(self, key: Scalar, source: Scalar) -> Catalog | None:
        root = self.catalog_files.get(source.text)
        if root is None:
            message = f"there is no catalog file `{source.text}` in the benchmark's folder"
            help = did_you_mean(source.text, self.catalog_files) or "a catalog file starts with `catalog: name`"
            self.diagnostics.error("E101", message, source.position, help)
            return None
        return self._catalog_body(key.text, root, key.position)

    def _catalog_body(self, name: str, node: Mapping, position: Position) -> Catalog:
        faces = tuple(self._face(key, value) for key, value in pairs(node.get("faces")))
        entries = []
        for key, value in pairs(node.get("entries")):
            if isinstance(value, Mapping):
                entries.append(self._entry(key, value, faces))
        return Catalog(name, faces, tuple(entries), position)

    def _face(self, key: Scalar, value: Node) -> Face:
        signature = SIGNATURE.match(key.text)
        name, arguments = (signature[1], _arguments(signature[2])) if signature else (key.text, ())
        return Face(name, arguments, isinstance(value, Scalar) and value.text == "template", key.position)

    def _entry(self, key: Scalar, node: Mapping, faces: tuple[Face, ...]) -> CatalogEntry:
        faces_by_name = {face.name: face for face in faces}
        bodies, misspelt = {}, set()
        for inner, value in node.pairs:
            if inner.text in ("params", "group", "examples"):
                continue
            if inner.text not in faces_by_name and is_after_comma(inner, value, node):
                self.diagnostics.entries.append(comma_error(inner))
            elif inner.text not in faces_by_name:
                misspelt.add(closest(inner.text, faces_by_name))
                help = (
                    did_you_mean(inner.text, [*faces_by_name, "params"])
                    or f"the faces are {', '.join(sorted(faces_by_name))}"
                )
                self.diagnostics.error("E201", f"this catalog has no face `{inner.text}`", inner.position, help)
            elif (body := snippet(value, faces_by_name[inner.text].is_template)) is not None:
                bodies[inner.text] = body
        for name in faces_by_name:
            if node.get(name) is None and name not in misspelt:
                message = f"the entry `{key.text}` has no face `{name}`"
                self.diagnostics.error("E202", message, key.position, f"add `{name}: ...`")
        parameters = self.parameters(node.get("params"))
        named = {inner.text for inner, _ in pairs(node.get("params"))}
        broken = frozenset(named - {parameter.name for parameter in parameters})
        group = node.get("group")
        named_group = group.text if isinstance(group, Scalar) else None
        examples = node.get("examples")
        listed = [_data_items(examples.get(name) if isinstance(examples, Mapping) else None) for name in HOLDING]
        return CatalogEntry(key.text, parameters, bodies, key.position, broken, named_group, *listed)

    def parameters(self, node: Node | None) -> tuple[Parameter, ...]:
        """Return the parameters of a mapping from name to type."""
        parameters = []
        for key, value in pairs(node):
            if isinstance(value, Mapping) and (use := self.type_use(value)) is not None:
                parameters.append(Parameter(key.text, use, key.position))
        return tuple(parameters)

    def type_use(self, node: Mapping, inside: tuple[str, ...] = ()) -> TypeUse | None:
        """Return the use of a type, with the options of a named type as defaults. Report unknown types and options."""
        kind = node.get("type")
        self.unfolded += 1
        if not isinstance(kind, Scalar) or self.unfolded > UNFOLDED + 1:
            return None
        if self.unfolded > UNFOLDED:
            message = f"the types expand to more than {UNFOLDED:,} parts"
            self.diagnostics.error("E107", message, kind.position, "nest fewer named types")
            return None
        merged: dict[str, tuple[Scalar, Node]] = {key.text: (key, value) for key, value in node.pairs}
        while kind.text in self.types:
            if kind.text in inside:
                self._circle(kind, inside)
                return None
            if kind.text in self.broken_types:
                return None
            inside = (*inside, kind.text)
            base = self.types[kind.text]
            merged = {key.text: (key, value) for key, value in base.pairs} | merged
            under = base.get("type")
            if not isinstance(under, Scalar):
                return None
            kind = under
        if kind.text not in TYPES:
            self._unknown_type(kind)
            return None
        return self._resolved(kind.text, merged, node, inside)

    def _circle(self, kind: Scalar, inside: tuple[str, ...]) -> None:
        way = [*inside[inside.index(kind.text) :], kind.text]
        self.broken_types |= set(way)
        message = f"the type `{kind.text}` is defined in terms of itself" + (
            f": {' -> '.join(way)}" if len(way) > 2 else ""
        )
        self.diagnostics.error("E307", message, kind.position, "define it with one of the language's own types")

    def _unknown_type(self, kind: Scalar) -> None:
        if not any(entry.code == "E401" and entry.position == kind.position for entry in self.diagnostics.entries):
            self.diagnostics.entries.append(unknown_type(kind.text, kind.position, self.types))

    def _resolved(
        self, name: str, merged: Map[str, tuple[Scalar, Node]], node: Mapping, inside: tuple[str, ...]
    ) -> TypeUse:
        known_options = TYPES[name].options
        options: dict[str, Option] = {}
        for key, (scalar, value) in merged.items():
            if key in ("type", "where"):
                continue
            if key not in known_options:
                help = (
                    did_you_mean(key, [*known_options, "where"])
                    or f"options of `{name}`: {', '.join([*known_options, 'where'])}"
                )
                self.diagnostics.error("E402", f"the type `{name}` has no option `{key}`", scalar.position, help)
                continue
            if known_options[key].reads == "file":
                option: Option | None = self.read_file(value, merged["columns"][1] if "columns" in merged else None)
            else:
                option = self._option(known_options[key].reads, value, inside)
            if option is not None:
                options[key] = option
        misspelt = {closest(key, [*known_options, "where"]) for key in merged if key not in known_options}
        for key, kind in known_options.items():
            if kind.required and key not in merged and key not in misspelt:
                help = f"add `{key}: ...` ({kind.words})"
                self.diagnostics.error("E202", f"the type `{name}` needs the option `{key}`", node.position, help)
        where = snippets(merged["where"][1]) if "where" in merged else ()
        return TypeUse(name, options, where, node.position)

    def _option(self, reads: str, value: Node, inside: tuple[str, ...]) -> Option | None:
        is_type = isinstance(value, Mapping) and value.get("type") is not None
        if reads == "columns":
            return None  # already read with the file
        if reads in ("data", "row") or (reads == "items" and not is_type):
            return Datum(value)
        if reads in ("type", "items"):
            return self._nested(value, inside)
        if reads == "types" and isinstance(value, Sequence):
            uses = [self._nested(item, inside) for item in value.items]
            return tuple(use for use in uses if use is not None)
        if reads == "fields" and isinstance(value, Mapping):
            fields = {key.text: self._nested(value_node, inside) for key, value_node in value.pairs}
            return {name: use for name, use in fields.items() if use is not None}
        if reads == "catalog" and isinstance(value, Scalar):
            return value
        expected = {"types": "a list of types",
                  "fields": "a mapping from name to type", "catalog": "the name of a catalog"}[reads]  # fmt: skip
        self.diagnostics.error("E203", f"this option must be {expected}", value.position)
        return None

    def _nested(self, value: Node, inside: tuple[str, ...]) -> TypeUse | None:
        """Return the use of a type within another, which no schema checks. Report what is not a type."""
        if isinstance(value, Mapping) and isinstance(value.get("type"), Scalar):
            return self.type_use(value, inside)
        is_type = isinstance(value, Scalar) and (value.text in TYPES or value.text in self.types)
        help = f"write {{type: {value.text}, ...}}" if isinstance(value, Scalar) and is_type else None
        self.diagnostics.error("E203", f"this option must be {A_TYPE}", value.position, help)
        return None


def build_template(root: Mapping, file: str, builder: Builder) -> Template:
    name = root.get("template")
    return Template(
        name=name.text if isinstance(name, Scalar) else "",
        file=file,
        facts={key: data(value) for key in FACTS if (value := root.get(key)) is not None},
        skills=Datum(skills) if (skills := root.get("skills")) is not None else None,
        shared=builder.shared(root),
        parameters=builder.parameters(root.get("params")),
        let=mapping_of_snippets(root.get("let")),
        where=snippets(root.get("where")),
        balance=balance if isinstance(balance := root.get("balance"), Scalar) else None,
        each=each if isinstance(each := root.get("each"), Scalar) else None,
        instances=data(instances) if (instances := root.get("instances")) is not None else None,
        is_boundary_first=_is_boundary_first(root.get("fuzz")),
        answer=build_answer(root.get("answer")) or answer_of_choices(root.get("choices")),
        choices=build_choices(root.get("choices")),
        checks=snippets(root.get("checks")),
        mistakes=mapping_of_snippets(root.get("mistakes")),
        prompt=snippet(root.get("prompt"), True),
        slots=mapping_of_snippets(root.get("slots"), True),
        variants=build_variants(root.get("variants"), builder),
        explanation=snippet(root.get("explanation"), True),
        examples=build_examples(root.get("examples")),
        requires=build_requires(root.get("requires")),
        allow={key.text: value for key, value in pairs(root.get("allow")) if isinstance(value, Scalar)},
        limits=data(limits) if isinstance(limits := root.get("limits"), Mapping) else {},
        node=root,
        position=name.position if name is not None else root.position,
        assets=build_assets(root.get("assets"), builder.diagnostics),
        deliver=build_deliver(root),
    )


def build_assets(node: Node | None, diagnostics: Diagnostics) -> tuple[Asset, ...]:
    """Return the artefacts of a template. Report unknown builders and options, and missing options."""
    assets = []
    for key, body in pairs(node):
        build = body.get("build") if isinstance(body, Mapping) else None
        if not isinstance(body, Mapping) or not isinstance(build, Scalar):
            continue
        if build.text not in BUILDERS:
            help = did_you_mean(build.text, BUILDERS) or f"the builders are {', '.join(sorted(BUILDERS))}"
            diagnostics.error("E406", f"unknown asset builder `{build.text}`", build.position, help)
            continue
        assets.append(Asset(key.text, build, _asset_options(build, body, diagnostics), key.position))
    return tuple(assets)


def _asset_options(build: Scalar, body: Mapping, diagnostics: Diagnostics) -> dict[str, AssetOption]:
    known_options = BUILDERS[build.text].options
    options: dict[str, AssetOption] = {}
    for key, value in body.pairs:
        if key.text == "build":
            continue
        if key.text not in known_options:
            help = did_you_mean(key.text, known_options) or f"options of `{build.text}`: {', '.join(known_options)}"
            message = f"the builder `{build.text}` has no option `{key.text}`"
            diagnostics.error("E407", message, key.position, help)
            continue
        is_template = known_options[key.text].reads == "template"
        if is_template and isinstance(value, Sequence):
            options[key.text] = tuple(_asset_option(item, True) for item in value.items)
        else:
            options[key.text] = _asset_option(value, is_template)
    for name, kind in known_options.items():
        if kind.required and body.get(name) is None:
            message = f"the builder `{build.text}` needs the option `{name}`"
            diagnostics.error("E202", message, build.position, f"add `{name}: ...` ({kind.words})")
    return options


def _asset_option(value: Node, is_template: bool) -> Datum | Snippet:
    """Return an option as data, or as a template unless it begins with `= `."""
    piece = snippet(value, True) if is_template and isinstance(value, Scalar) and marked(value) is None else None
    return Datum(value) if piece is None else piece


DELIVERIES = ("inline", "attach", "file")


def build_deliver(root: Mapping) -> dict[str, str]:
    """Return each asset's delivery; a single word applies to all."""
    node = root.get("deliver")
    names = [key.text for key, _ in pairs(root.get("assets"))]
    if isinstance(node, Scalar):
        return dict.fromkeys(names, node.text)
    deliver = {key.text: value.text for key, value in pairs(node) if isinstance(value, Scalar)}
    return {name: deliver.get(name, DELIVERIES[0]) for name in names}


def build_answer(node: Node | None) -> Answer | None:
    """Return the answer's solver and how replies are compared with it."""
    value = snippet(node.get("value")) if isinstance(node, Mapping) else None
    if not isinstance(node, Mapping) or value is None:
        return None
    pairs_left = tuple((key, answer_node) for key, answer_node in node.pairs if key.text not in SOLVED)
    accept = node.get("accept")
    return Answer(
        value=value,
        comparison=Datum(Mapping(pairs_left, node.position)),
        accept=tuple(map(Datum, accept.items)) if isinstance(accept, Sequence) else (),
        accept_if=snippet(node.get("accept_if")),
        position=node.position,
        share=snippet(node.get("share")),
        unanswerable=snippet(node.get("unanswerable")),
    )


def _is_boundary_first(node: Node | None) -> bool:
    first = node.get("first") if isinstance(node, Mapping) else None
    return isinstance(first, Scalar) and first.text == "boundary"


def build_choices(node: Node | None) -> Choices | None:
    """Return the options of a multiple choice."""
    if not isinstance(node, Mapping):
        return None
    correct, distractors = snippet(node.get("correct")), snippet(node.get("distractors"))
    shuffle, skip = node.get("shuffle"), node.get("skip")
    if correct is None or distractors is None:
        return None
    is_shuffled = not (isinstance(shuffle, Scalar) and shuffle.value is False)
    return Choices(correct, distractors, is_shuffled, skip if isinstance(skip, Scalar) else None, node.position)


def answer_of_choices(node: Node | None) -> Answer | None:
    """Return the answer of a multiple choice: the correct option, compared as a choice."""
    choices = build_choices(node)
    if choices is None:
        return None
    return Answer(choices.correct, Datum(Mapping((), choices.position)), (), None, choices.position)


def build_variants(node: Node | None, builder: Builder) -> tuple[Variant, ...]:
    """Return the other wordings of a template."""
    return tuple(
        Variant(
            name=key.text,
            parameters=builder.parameters(body.get("params")),
            let=mapping_of_snippets(body.get("let")),
            slots=mapping_of_snippets(body.get("slots"), True),
            prompt=snippet(body.get("prompt"), True),
            prepend=snippet(body.get("prepend"), True),
            append=snippet(body.get("append"), True),
            redraw=_scalars(redraw) if (redraw := body.get("redraw")) is not None else (),
            node=body,
            position=key.position,
            sessions=_scalars(variant_node) if (variant_node := body.get("sessions")) is not None else (),
        )
        for key, body in pairs(node)
        if isinstance(body, Mapping)
    )


LISTS = frozenset(["list", "tuple", "set", "multiset", "matrix"])


def comparison_of(options: Map[str, Any]) -> dict[str, Any]:
    """Return the options of an answer in their full form: a list's rounding is moved to its elements.

    `of: integer` means `of: {type: integer}`, and `tolerance: {places: n}`, or the old `decimals: n`, for a
    tolerance of half a unit in that decimal place.
    """
    comparison = dict(options)
    decimals = comparison.pop("decimals", None)
    if type(decimals) is int:
        comparison["tolerance"] = {"places": decimals}
    return _nested_comparison(comparison)


def _tolerance(tolerance: Any) -> Any:
    """The tolerance with places, if it has any, as an absolute amount."""
    places = tolerance.get("places") if isinstance(tolerance, Map) else None
    if type(places) is not int or not 0 <= places <= PLACES or "absolute" in tolerance:
        return tolerance
    amounts = {name: amount for name, amount in tolerance.items() if name != "places"}
    return Record({**amounts, "absolute": Fraction(1, 2 * 10**places)})


def _nested_comparison(comparison: dict[str, Any]) -> dict[str, Any]:
    of = comparison.get("of")
    if "tolerance" in comparison:
        comparison["tolerance"] = _tolerance(comparison["tolerance"])
    if of is None or comparison.get("type") not in LISTS:
        return comparison
    inherited: dict[str, Any] = {key: comparison.pop(key) for key in ("round", "tolerance") if key in comparison}
    comparison["of"] = [_element(item, inherited) for item in of] if isinstance(of, list) else _element(of, inherited)
    return comparison


def _element(of: Any, inherited: Map[str, Any]) -> dict[str, Any]:
    element = dict(of) if isinstance(of, Map) else {"type": of}
    takes = element.get("type") in ("real", "integer", "record", *LISTS)
    return _nested_comparison({**(inherited if takes else {}), **element})


def build_examples(node: Node | None) -> tuple[Example, ...]:
    """Return the worked examples."""
    examples = []
    for item in node.items if isinstance(node, Sequence) else ():
        if isinstance(item, Mapping):
            answer = item.get("answer")
            replies = item.get("replies")
            examples.append(
                Example(
                    params={key.text: Datum(value) for key, value in pairs(item.get("params"))},
                    answer=Datum(answer) if answer is not None else None,
                    accepts=_data_items(item.get("accepts")),
                    rejects=_data_items(item.get("rejects")),
                    replies={key.text: _scalars(value) for key, value in pairs(replies) if key.text != CHAIN},
                    position=item.position,
                    chain=_chain(replies),
                )
            )
    return tuple(examples)


def _chain(replies: Node | None) -> Scalar | None:
    """Return the name of the chain that reads the replies of an example."""
    chain = replies.get(CHAIN) if isinstance(replies, Mapping) else None
    return chain if isinstance(chain, Scalar) else None


def _data_items(node: Node | None) -> tuple[Datum, ...]:
    return tuple(map(Datum, node.items)) if isinstance(node, Sequence) else ()


def _scalars(node: Node) -> tuple[Scalar, ...]:
    scalars = node.items if isinstance(node, Sequence) else (node,)
    return tuple(item for item in scalars if isinstance(item, Scalar))


def build_requires(node: Node | None) -> tuple[tuple[Scalar, Scalar], ...]:
    """Pairs of kind (extra, file or tool) and name."""
    parts = node.items if isinstance(node, Sequence) else (node,) if node is not None else ()
    return tuple((key, value) for part in parts for key, value in pairs(part) if isinstance(value, Scalar))
