"""The structure of spec files as JSON Schemas: the keys of templates, benchmark.yaml and catalogs, and their shapes.

What depends on a name (which options a parameter type has, which types there are) is not their business, because
later stages say more about a wrong one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from dia_language.answers.option_schemas import COMMON_SCHEMAS, OPTION_SCHEMAS
from dia_language.json_schema import (
    IDENTIFIER,
    NAME,
    Schema,
    any_of,
    array,
    boolean,
    identifier,
    integer,
    mapping,
    name,
    named,
    nonempty,
    number,
    one_of,
    ref,
    text,
)
from dia_runtime.formats import FORMATS, Format
from dia_runtime.formats.base import FormatOption

ARGUMENTS: Final = r"\s*([A-Za-z][A-Za-z0-9_]*\s*(,\s*[A-Za-z][A-Za-z0-9_]*\s*)*)?"
SIGNATURE: Final = rf"^[A-Za-z][A-Za-z0-9_]*\({ARGUMENTS}\)$"
FACE: Final = rf"^[A-Za-z][A-Za-z0-9_]*(\({ARGUMENTS}\))?$"
EXAMPLE_REPLIES: Final = any_of(text(), {"type": "object"}, array({"type": ["string", "object"]}))

DEFINITIONS: Final[dict[str, Schema]] = {
    "catalog_body": mapping({"faces": ref("faces"), "entries": ref("entries")}, required=["faces", "entries"]),
    "catalogs": named(any_of(ref("catalog_body"), mapping({"from": text()}, required=["from"])), keys=NAME),
    "entries": named(
        mapping(
            {
                "params": ref("parameters"),
                "group": text(),
                "examples": mapping(
                    {
                        "holds": array(
                            words="Arguments of which the face `holds` is true, whatever the entry's parameters."
                        ),
                        "fails": array(
                            words="Arguments of which the face `holds` is false, whatever the entry's parameters."
                        ),
                    }
                ),
            },
            is_open=True,
        ),
        keys=NAME,
        least=1,
    ),
    "expression": {
        "description": "An expression of the language; see docs/reference/language.md. Several lines go under `|`.",
        "type": ["string", "number", "boolean", "null"],
    },
    "expressions": any_of(
        {"type": ["string", "number", "boolean"]},
        array({"type": ["string", "number", "boolean", "null"]}, least=1),
        words="One expression, or a list of them.",
    ),
    "faces": named(
        one_of(["template", "expression"]),
        keys=FACE,
        least=1,
    ),
    "functions": {
        "allOf": [ref("signatures"), {"additionalProperties": ref("expression")}],
        "description": "One-line functions: name(a, b): expression.",
    },
    "lists": named(any_of(array(), mapping({"from": text()}, required=["from"])), keys=NAME),
    "macros": {
        "allOf": [ref("signatures"), {"additionalProperties": ref("template")}],
        "description": "Pieces of prompts: name(a, b): template.",
    },
    "parameter": {
        "description": "A typed parameter.",
        "type": "object",
        "required": ["type"],
        "properties": {
            "type": identifier("A parameter type (dia types lists them) or a name under `types`."),
            "where": ref("expressions"),
        },
    },
    "parameters": named(ref("parameter"), keys=NAME),
    "points": mapping(
        {
            "correct": number(minimum=-1000000, maximum=1000000),
            "skipped": number(minimum=-1000000, maximum=1000000),
            "wrong": number(minimum=-1000000, maximum=1000000),
        },
        required=["correct", "skipped", "wrong"],
    ),
    "slots": named(ref("slot"), keys=NAME),
    "slot": text("A text that fills a gap of the prompt; may be empty."),
    "signatures": {
        "type": "object",
        "propertyNames": {"pattern": SIGNATURE},
    },
    "skills": any_of(array(text()), {"type": "string", "pattern": "^= "}),
    "template": {"description": "A Jinja template: {{ }} and {% %}.", "type": ["string", "number", "boolean", "null"]},
    "types": named(ref("parameter"), keys=IDENTIFIER),
    "reply": mapping(
        {
            "name": name("Unique in the template: the only way to use the reply."),
            "format": nonempty(
                "How the reply is read: text, lines, label, letter, subset, ranking, json, flags, or an answer "
                "format; its options stand beside it."
            ),
            "limit": integer("Characters at which the reply is cut; 20,000 unless said.", minimum=1, maximum=1000000),
        },
        "The name of what comes back, and how it is read.",
        required=["name", "format"],
        is_open=True,
    ),
    "turn": mapping(
        {
            "user": ref("template", "What is said to the model."),
            "assistant": ref("template", "How its reply begins; the model continues it."),
            "reply": ref("reply"),
            "when": ref("expression", "The turn is left out unless this holds."),
            "over": ref("expression", "A list: the turn is said once an item."),
            "as": name("The name of the item; `index` counts from 0."),
            "until": ref("expression", "Ends the turns of the list when it holds."),
        },
        least=1,
    ),
    "settings": mapping(
        {
            "temperature": number(minimum=0, maximum=10),
            "max_tokens": integer(minimum=1, maximum=10000000),
            "top_p": number(minimum=0, maximum=1),
            "seed": integer(),
            "stop": array(nonempty(), least=1),
            "reasoning_effort": nonempty(),
            "presence_penalty": number(),
            "frequency_penalty": number(),
        },
        "How the model is to be asked.",
        least=1,
    ),
    "session": mapping(
        {
            "model": identifier("The role of the model that is asked, which the run binds; `subject` unless said."),
            "settings": ref("settings"),
            "system": ref("template", "What stands before the conversation."),
            "when": ref("expression", "The session is left out unless this holds."),
            "over": ref("expression", "A list: the session runs once an item."),
            "as": name("The name of the item; `index` counts from 0."),
            "share": ref("expression", "A key: questions with the same key share what a model says."),
            "turns": array(ref("turn"), "The conversation.", least=1),
        },
        "A conversation with a memory of its own.",
        required=["turns"],
    ),
    "labels": array(nonempty(), least=1),
    "decisions": mapping(
        {
            "over": ref("expression", "A list: one decision an item; without it there is one."),
            "as": name("The name of the item; `index` counts from 0."),
            "predicted": ref("expression", "What the model said would be."),
            "actual": ref("expression", "What was."),
            "positive": mapping(
                {"name": nonempty(), "value": boolean()},
                "The positive class: its name, and the value that stands for it.",
                required=["name", "value"],
            ),
        },
        "Binary decisions of the model about itself, each with what was.",
        required=["predicted", "actual", "positive"],
    ),
    "ranking": mapping(
        {
            "over": ref("expression", "The list that is ranked."),
            "as": name("The name of the item; `index` counts from 0."),
            "label": ref("expression", "How the prediction names an item."),
            "predicted": ref("expression", "The list of labels that the model gave, the first one first."),
            "keys": ref("expressions", "What the true order is sorted by: the first key, then the next."),
            "ties": one_of(
                ["label_order", "half", "drop"],
                "Items with equal keys: in the order of the list, half a pair, or left out.",
            ),
            "invalid": one_of(["zero", "drop"], "A ranking that is none: no pair right, or left out."),
        },
        "An order that the model predicted, and the true one.",
        required=["over", "predicted", "label", "keys"],
    ),
    "grade": mapping(
        {
            "correct": ref("expression", "Whether the question is answered correctly."),
            "skipped": ref("expression", "Whether it was skipped; asked first."),
            "share": ref("expression", "The share of full marks, from 0 to 1, beside the verdict."),
            "judge": mapping(
                {
                    "prompt": ref(
                        "template", "What the judge is asked; sees parameters, let values, `response` and `reference`."
                    ),
                    "model": identifier("The judge's role; `judge` unless said."),
                    "settings": ref("settings"),
                    "reference": ref("expression", "A reference answer that the judge sees and the model does not."),
                    "labels": mapping(
                        {"correct": ref("labels"), "skipped": ref("labels"), "wrong": ref("labels")},
                        "What the judge may say, and what it means.",
                        required=["correct", "wrong"],
                    ),
                    "fallback": ref("expression", "Whether the response is correct where the judge says nothing."),
                },
                "Beside a prompt: another model reads the free answer.",
                required=["prompt", "labels"],
            ),
        },
        "The verdict: expressions over replies, or a judge.",
        least=1,
    ),
    "figures": named(
        mapping(
            {
                "value": ref("expression", "What is counted or measured on each question."),
                "over": one_of(
                    ["all", "answered", "valid", "decided"],
                    "The questions that count; valid (those whose replies could be read) unless said.",
                ),
                "where": ref("expression", "Only questions where this holds."),
                "summary": one_of(["share", "mean", "median", "survival", "count"], "What is made of the values."),
            },
            required=["value", "summary"],
        ),
        "Name -> a figure that reports show beside the verdicts.",
        keys=NAME,
        least=1,
    ),
}

# Keys that templates and benchmark.yaml have in common
SHARED: Final[dict[str, Schema]] = {
    "types": ref("types", "Named parameter types: `name: {type: ..., ...}`; a use may override options."),
    "lists": ref("lists", "Named lists: `name: [...]`, or `{from: FILE}` with an item a line."),
    "functions": ref("functions", "One-line functions: `double(x): 2 * x`."),
    "macros": ref("macros", 'Pieces of prompts: `row(a, b): "{{ a }} | {{ b }}"`.'),
    "catalogs": ref("catalogs", "Sets of entries with several faces: what is said, what is meant."),
    "format": ref("format", "How the final answer is marked in a reply."),
    "points": ref("points", "What the verdicts are worth."),
}

TEMPLATE: Final[dict[str, Schema]] = {
    "template": identifier("Id, unique in its benchmark."),
    "title": nonempty("One line for people."),
    "category": {"type": "string", "default": "uncategorised", "description": "Free words; reports group by them."},
    "domain": text("What reports compare first."),
    "level": text("Free words, such as easy or hard."),
    "skills": ref("skills", "A list of words, or an expression."),
    "notes": text("For people; changes nothing."),
    "number": integer("The published family's own number.", minimum=0, maximum=1000000),
    "adversarial": one_of(
        ["none", "distraction", "injection", "decoys", "false-claim", "control"], "What tries to lead the model astray."
    ),
    "mistakes": named(
        ref("expression"), "Name -> expression of a typical wrong answer; reports count them.", keys=NAME
    ),
    "requires": any_of(
        named(text()),
        array(named(text())),
        words="What the host must have, or the template is left out: {extra: NAME}, {file: PATH}, {tool: NAME}.",
    ),
    **SHARED,
    "params": ref("parameters", "Name -> type; drawn in order, later ones may use earlier ones."),
    "let": named(ref("expression"), "Name -> expression; derived values in any order.", keys=NAME),
    "where": ref("expressions", "Conditions on parameters and let values."),
    "balance": text("A parameter up to which all values are spread evenly."),
    "answer": mapping(
        {
            "value": ref("expression", "The truth."),
            "type": text("How a reply is read and compared."),
            **OPTION_SCHEMAS,
            **COMMON_SCHEMAS,
        },
        "The truth, and how replies are compared with it.",
        required=["value", "type"],
    ),
    "checks": ref("expressions", "Conditions that must hold for every instance; they see `answer`."),
    "prompt": ref("template", "The question: a template that sees parameters, let values and lists, never `answer`."),
    "explanation": ref("template", "Why the answer is right; may see `answer`."),
    "examples": array(
        mapping(
            {
                "params": {"type": "object"},
                "answer": {"description": "The truth for these parameters."},
                "accepts": array(),
                "rejects": array(),
                "replies": mapping(
                    {
                        "correct": EXAMPLE_REPLIES,
                        "wrong": EXAMPLE_REPLIES,
                        "skipped": EXAMPLE_REPLIES,
                        "unparsed": EXAMPLE_REPLIES,
                    }
                ),
            },
            required=["params"],
        ),
        "Worked examples: parameters, and what must come of them.",
    ),
    "allow": named(nonempty(), "Named health warnings that this template accepts, each with the reason."),
    "limits": mapping(
        {
            "seconds": number(exclusiveMinimum=0, maximum=300),
            "steps": integer(minimum=1, maximum=100000000),
            "digits": integer(minimum=1, maximum=301030),
        },
        "Seconds and steps of one evaluation, and the digits of its integers.",
    ),
    "each": text("A parameter: every value of it is an item of its own; its k instances vary the rest."),
    "instances": any_of(
        {"const": "all"},
        integer(minimum=1, maximum=1000000),
        words="All values there are, or a number that replaces k.",
    ),
    "fuzz": mapping(
        {
            "first": one_of(
                ["random", "boundary"],
                "boundary: edges of the types first, then pairs of edges and others, then the rest.",
            )
        },
        "Which instances come first.",
    ),
    "slots": ref("slots", "Named gaps of the prompt with their texts, which variants fill otherwise."),
    "variants": named(
        mapping(
            {
                "params": ref("parameters"),
                "let": named(ref("expression"), keys=NAME),
                "slots": ref("slots"),
                "prompt": ref("template", "Stands instead of the prompt."),
                "prepend": ref(
                    "template",
                    "Stands before the prompt (of sessions: before the first user turn), with an empty line between.",
                ),
                "append": ref(
                    "template",
                    "Stands behind the prompt (of sessions: behind the first user turn), with an empty line between.",
                ),
                "redraw": array(text(), "Parameters that are drawn again; the answer must not change.", least=1),
                "sessions": array(
                    text(),
                    "Of sessions: those to whose first user turn `prepend` and `append` apply; all of the "
                    "subject unless said.",
                    least=1,
                ),
            },
            least=1,
        ),
        "Name -> the same instances in other words.",
        keys=IDENTIFIER,
        least=1,
    ),
    "choices": mapping(
        {
            "correct": ref("expression", "The right option."),
            "distractors": ref("expression", "A list of wrong options; may depend on the answer."),
            "shuffle": boolean("true (default): the order is a part of the instance; false: ascending order."),
            "skip": nonempty("An option that skips: always the last one."),
        },
        "The options of a multiple choice, instead of `answer`.",
        required=["correct", "distractors"],
    ),
    "sessions": named(
        ref("session"),
        "Name -> a conversation; their order follows from the replies that they use.",
        keys=IDENTIFIER,
        least=1,
    ),
    "decisions": ref("decisions", "Binary decisions of the model about itself, each with what was."),
    "ranking": ref("ranking", "An order that the model predicted, and the true one."),
    "grade": ref("grade", "The verdict: expressions over replies, or a judge."),
    "figures": ref("figures", "Name -> a figure that reports show beside the verdicts."),
    "assets": named(
        mapping({"build": text("The asset builder; `dia types` lists them.")}, required=["build"], is_open=True),
        "Artefacts that are built for each instance: name -> builder and its options.",
        keys=NAME,
        least=1,
    ),
    "deliver": any_of(
        one_of(["inline", "attach", "file"]),
        named(one_of(["inline", "attach", "file"]), least=1),
        words=(
            "How artefacts reach the model: in the prompt (bytes in base64), as a content part, or as a file beside it."
        ),
    ),
    "presets": named(
        mapping(
            {
                "study": nonempty("The published study whose counting is meant."),
                "decisions": ref("decisions"),
                "ranking": ref("ranking"),
                "grade": ref("grade"),
                "figures": ref("figures"),
                "chain": one_of(["strict", "lenient", "compat"], "How replies are read under it."),
            },
            required=["study"],
        ),
        "Name -> another way to count the same replies, such as that of a published study.",
        keys=IDENTIFIER,
        least=1,
    ),
}

BENCHMARK: Final[dict[str, Schema]] = {
    "language": {"const": 1, "description": "Version of the spec language."},
    "benchmark": identifier("Id: small letters, digits and _."),
    "title": text("One line for people."),
    "version": {
        "type": "string",
        "pattern": "^[0-9]+\\.[0-9]+\\.[0-9]+([-+][0-9A-Za-z.-]+)?$",
        "description": "Semantic version; changes no instance.",
    },
    "license": text("SPDX identifier."),
    "seed": {"type": ["string", "integer"], "description": "Seeds every instance (default 0)."},
    "notes": text("For people; changes nothing."),
    "canary": text(
        "A GUID that marks every public text file of a bundle, in a sentence that asks to keep it out of "
        "training data (dia scan finds it). Other text stands as it is.",
        minLength=8,
    ),
    "prompt": ref(
        "template", "Wrapper around each template's prompt; sees challenge, format_instruction, skip_token and points."
    ),
    "skip": nonempty("The token that abstains."),
    **SHARED,
}

CATALOG: Final[dict[str, Schema]] = {
    "catalog": name("The catalog's name."),
    "faces": ref("faces", "Name -> template or expression: what every entry can do."),
    "entries": ref("entries", "Name -> the entry's parameters, and a body for each face."),
}


class SpecFile(NamedTuple):
    """A kind of spec file."""

    title: str
    description: str
    required: tuple[str, ...]
    properties: dict[str, Schema]


FILES: Final[dict[str, SpecFile]] = {
    "benchmark": SpecFile(
        "benchmark.yaml", "What all templates of a benchmark share.", ("language", "benchmark"), BENCHMARK
    ),
    "template": SpecFile("a template", "One question family.", ("template", "title"), TEMPLATE),
    "catalog": SpecFile("a catalog", "Entries with several faces.", ("catalog", "faces", "entries"), CATALOG),
}


def structure(file: str) -> Schema:
    """The schema by which specs are checked, of `template`, `benchmark` or `catalog`."""
    return schema_of(file, {**DEFINITIONS, "format": format_schema(FORMATS)}, FILES[file].properties)


def schema_of(file: str, definitions: dict[str, Schema], properties: dict[str, Schema]) -> Schema:
    """The whole schema of a file, with those of the definitions that it needs."""
    title, words, required, _ = FILES[file]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"https://dia-spec.invalid/schemas/{file}.schema.json",
        "title": title,
        **mapping(properties, words, required),
        "$defs": _used(definitions, properties),
    }


def _used(definitions: dict[str, Schema], properties: dict[str, Schema]) -> dict[str, Schema]:
    """The definitions that the properties refer to, directly or through others."""
    used: set[str] = set()
    pending = set(_references(properties))
    while pending:
        used |= pending
        pending = {name for key in pending for name in _references(definitions[key])} - used
    return {key: schema for key, schema in definitions.items() if key in used}


def _references(schema: object) -> Iterable[str]:
    if isinstance(schema, dict):
        if isinstance(target := schema.get("$ref"), str):
            yield target.rpartition("/")[2]
        schema = list(schema.values())
    if isinstance(schema, list):
        for inner in schema:
            yield from _references(inner)


def format_schema(formats: Mapping[str, Format]) -> Schema:
    """The schema of `format`, with every option of every kind; of one that formats read differently any value."""
    kind = one_of(formats, "How the final answer is marked in a reply.")
    options: dict[str, FormatOption] = {}
    for form in formats.values():
        for key, option in form.options.items():
            if option.in_specs:
                is_alike = key not in options or options[key].kind == option.kind
                options[key] = option if is_alike else FormatOption("any", "")
    return mapping({"kind": kind, **{key: option.schema for key, option in options.items()}}, required=["kind"])
