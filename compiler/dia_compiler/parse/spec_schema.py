"""The structure of spec files as JSON Schemas: the keys of templates, benchmark.yaml and catalogs, and their shapes.

They do not check what depends on a name, such as the options of a parameter type, because later stages report such
errors with more detail.
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
    "catalogs": named(
        any_of(ref("catalog_body"), mapping({"from": text("A catalog file.")}, required=["from"])), keys=NAME
    ),
    "entries": named(
        mapping(
            {
                "params": ref("parameters"),
                "group": text("A name that entries share; `apart: group` draws no two entries of one group."),
                "examples": mapping(
                    {
                        "holds": array(
                            words=(
                                "Arguments for which the face `holds` is true, for all "
                                "values of the entry's parameters."
                            )
                        ),
                        "fails": array(
                            words=(
                                "Arguments for which the face `holds` is false, for all "
                                "values of the entry's parameters."
                            )
                        ),
                    },
                    "Arguments that test the face `holds` of this entry.",
                ),
            },
            is_open=True,
        ),
        keys=NAME,
        least=1,
    ),
    "expression": {
        "description": (
            "An expression of the spec language; see docs/reference/language.md. For several lines, write `|` first."
        ),
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
    "lists": named(
        any_of(
            array(),
            mapping({"from": text("A file with one item per line.")}, required=["from"]),
            mapping({"words": text("A built-in word list: see docs/reference/types.md.")}, required=["words"]),
        ),
        keys=NAME,
    ),
    "macros": {
        "allOf": [ref("signatures"), {"additionalProperties": ref("template")}],
        "description": "Reusable prompt fragments: name(a, b): template.",
    },
    "parameter": {
        "description": "A parameter type and its options.",
        "type": "object",
        "required": ["type"],
        "properties": {
            "type": identifier("A parameter type (dia types lists them) or a name under `types`."),
            "where": ref("expressions", "Conditions that each value of the parameter must satisfy."),
        },
    },
    "parameters": named(ref("parameter"), keys=NAME),
    "points": mapping(
        {
            "correct": number("Points for a correct answer (default 1).", minimum=-1000000, maximum=1000000),
            "skipped": number("Points for an abstention (default 0).", minimum=-1000000, maximum=1000000),
            "wrong": number("Points for a wrong or unparsed reply (default -1).", minimum=-1000000, maximum=1000000),
        },
        required=["correct", "skipped", "wrong"],
    ),
    "slots": named(ref("slot"), keys=NAME),
    "slot": text("Text that fills a named gap in the prompt; may be empty."),
    "signatures": {
        "type": "object",
        "propertyNames": {"pattern": SIGNATURE},
    },
    "skills": any_of(array(text()), {"type": "string", "pattern": "^= "}),
    "template": {"description": "A Jinja template: {{ }} and {% %}.", "type": ["string", "number", "boolean", "null"]},
    "types": named(ref("parameter"), keys=IDENTIFIER),
    "reply": mapping(
        {
            "name": name("The name of the reply, unique in the template. Expressions use the reply by this name."),
            "format": nonempty(
                "How the reply is read: text, lines, label, letter, subset, ranking, json, flags, or an answer "
                "format. The options of the format are written next to it."
            ),
            "limit": integer(
                "Number of characters after which the reply is cut (default 20,000).", minimum=1, maximum=1000000
            ),
        },
        "The name of the reply, and how it is read.",
        required=["name", "format"],
        is_open=True,
    ),
    "turn": mapping(
        {
            "user": ref("template", "The user message to the model."),
            "assistant": ref("template", "The start of the model's reply, which the model continues."),
            "reply": ref("reply"),
            "when": ref("expression", "The turn is skipped unless this condition is true."),
            "over": ref("expression", "A list: the turn is repeated for each item."),
            "as": name("The name of the item; `index` counts from 0."),
            "until": ref("expression", "Stops the repetition when this condition is true."),
        },
        least=1,
    ),
    "settings": mapping(
        {
            "temperature": number("The sampling temperature; 0 is the least random.", minimum=0, maximum=10),
            "max_tokens": integer("The largest number of tokens in a reply.", minimum=1, maximum=10000000),
            "top_p": number("Sample only from the likeliest tokens with this total probability.", minimum=0, maximum=1),
            "seed": integer("The seed that the provider samples with, if it supports one."),
            "stop": array(nonempty(), "Texts at which the reply ends.", least=1),
            "reasoning_effort": nonempty("How much the model reasons, in the provider's words, such as low or high."),
            "presence_penalty": number("Makes tokens that already occurred less likely; see the provider's docs."),
            "frequency_penalty": number(
                "Makes tokens less likely the more often they occurred; see the provider's docs."
            ),
        },
        "Settings for asking the model.",
        least=1,
    ),
    "session": mapping(
        {
            "model": identifier(
                "The role of the model to ask, which `dia run` binds to a model (default `subject`, the model under "
                "test)."
            ),
            "settings": ref("settings"),
            "system": ref("template", "The system prompt of the conversation."),
            "when": ref("expression", "The session is skipped unless this condition is true."),
            "over": ref("expression", "A list: the session runs once for each item."),
            "as": name("The name of the item; `index` counts from 0."),
            "share": ref("expression", "A key: questions with the same key share the model's replies."),
            "turns": array(ref("turn"), "The turns of the conversation.", least=1),
        },
        "A conversation with its own context.",
        required=["turns"],
    ),
    "labels": array(nonempty(), least=1),
    "decisions": mapping(
        {
            "over": ref("expression", "A list: one decision for each item; one decision in total without it."),
            "as": name("The name of the item; `index` counts from 0."),
            "predicted": ref("expression", "What the model predicted."),
            "actual": ref("expression", "What actually happened."),
            "positive": mapping(
                {
                    "name": nonempty("What the class is called in reports, such as fails."),
                    "value": boolean("Which value of `predicted` and `actual` counts as this class."),
                },
                "The positive class: its name, and the value that represents it.",
                required=["name", "value"],
            ),
        },
        "Binary predictions of the model about itself, each with the actual outcome.",
        required=["predicted", "actual", "positive"],
    ),
    "ranking": mapping(
        {
            "over": ref("expression", "The list to rank."),
            "as": name("The name of the item; `index` counts from 0."),
            "label": ref("expression", "How the prediction refers to an item."),
            "predicted": ref("expression", "The model's list of labels, from first to last."),
            "keys": ref("expressions", "What the true order is sorted by: first by the first key, then by the next."),
            "ties": one_of(
                ["label_order", "half", "drop"],
                "Items with equal keys are kept in list order, counted as half a pair, or left out.",
            ),
            "invalid": one_of(
                ["zero", "drop"],
                "Has no effect: figures are given both with predictions that are not rankings, as 0, and without them.",
            ),
        },
        "A ranking predicted by the model, and the true one.",
        required=["over", "predicted", "label", "keys"],
    ),
    "grade": mapping(
        {
            "correct": ref("expression", "Whether the question is answered correctly."),
            "skipped": ref("expression", "Whether the question was skipped; evaluated first."),
            "share": ref("expression", "Partial credit from 0 to 1, in addition to the verdict."),
            "judge": mapping(
                {
                    "prompt": ref(
                        "template",
                        "The prompt to the judge; it can use parameters, let values, `response` and `reference`.",
                    ),
                    "model": identifier("The judge's role (default `judge`)."),
                    "settings": ref("settings"),
                    "reference": ref("expression", "A reference answer that only the judge sees."),
                    "labels": mapping(
                        {"correct": ref("labels"), "skipped": ref("labels"), "wrong": ref("labels")},
                        "The labels that the judge may use, and their verdicts.",
                        required=["correct", "wrong"],
                    ),
                    "fallback": ref("expression", "Whether the response is correct if the judge gives no label."),
                },
                "Used with a prompt: another model grades the free-form answer.",
                required=["prompt", "labels"],
            ),
        },
        "The verdict: expressions over replies, or a judge.",
        least=1,
    ),
    "figures": named(
        mapping(
            {
                "value": ref("expression", "The value of each question that `summary` summarizes."),
                "over": one_of(
                    ["all", "answered", "valid", "decided"],
                    "The questions that count (default valid: those whose replies could be read).",
                ),
                "where": ref("expression", "Only questions for which this condition is true."),
                "summary": one_of(["share", "mean", "median", "survival", "count"], "How the values are summarized."),
            },
            required=["value", "summary"],
        ),
        "Name -> a figure that reports show in addition to the verdicts.",
        keys=NAME,
        least=1,
    ),
}

# Keys that templates and benchmark.yaml share
SHARED: Final[dict[str, Schema]] = {
    "types": ref(
        "types", "Named parameter types: `name: {type: ..., ...}`; a parameter that uses one may override its options."
    ),
    "lists": ref("lists", "Named lists: `name: [...]`, `{from: FILE}` with one item per line, or `{words: NAME}`."),
    "functions": ref("functions", "One-line functions: `double(x): 2 * x`."),
    "macros": ref("macros", 'Reusable prompt fragments: `row(a, b): "{{ a }} | {{ b }}"`.'),
    "catalogs": ref(
        "catalogs", "Sets of entries with several faces, such as how an entry is worded and what it means."
    ),
    "format": ref("format", "How the final answer is marked in a reply."),
    "points": ref("points", "The points for each verdict."),
}

TEMPLATE: Final[dict[str, Schema]] = {
    "template": identifier("Id, unique in its benchmark."),
    "title": nonempty("A one-line title."),
    "category": {
        "type": "string",
        "default": "uncategorised",
        "description": "Any text; reports group templates by it.",
    },
    "domain": text("The subject area, such as cryptography; reports group templates by it."),
    "level": text("Any text, such as easy or hard; reports group templates by it."),
    "skills": ref("skills", "What a solver needs: a list of words, or an expression that gives one."),
    "notes": text("Notes for readers; has no effect."),
    "number": integer("The number that a published benchmark gave this template.", minimum=0, maximum=1000000),
    "adversarial": one_of(
        ["none", "distraction", "injection", "decoys", "false-claim", "control"], "What could mislead the model."
    ),
    "mistakes": named(
        ref("expression"), "Name -> expression of a typical wrong answer; reports count how often it occurs.", keys=NAME
    ),
    "requires": any_of(
        named(text()),
        array(named(text())),
        words=(
            "What the machine must have; otherwise the template is left out: {extra: NAME}, {file: PATH}, {tool: NAME}."
        ),
    ),
    **SHARED,
    "params": ref("parameters", "Name -> type; drawn in order, so later parameters may use earlier ones."),
    "let": named(ref("expression"), "Derived values, name -> expression, in any order.", keys=NAME),
    "where": ref("expressions", "Conditions on parameters and let values."),
    "balance": text("A parameter whose values are spread evenly over its range."),
    "answer": mapping(
        {
            "value": ref("expression", "The correct answer."),
            "type": text("How a reply is read and compared."),
            **OPTION_SCHEMAS,
            **COMMON_SCHEMAS,
        },
        "The correct answer, and how replies are compared with it.",
        required=["value", "type"],
    ),
    "checks": ref("expressions", "Conditions that every instance must satisfy; they can use `answer`."),
    "prompt": ref(
        "template", "The question: a template that can use parameters, let values and lists, but not `answer`."
    ),
    "explanation": ref("template", "Why the answer is right; can use `answer`."),
    "examples": array(
        mapping(
            {
                "params": {"type": "object", "description": "Values of some parameters; the others are drawn."},
                "answer": {"description": "The expected answer for these parameters."},
                "accepts": array(words="Typed answers that must be correct."),
                "rejects": array(words="Typed answers that must be wrong."),
                "replies": mapping(
                    {
                        "correct": EXAMPLE_REPLIES,
                        "wrong": EXAMPLE_REPLIES,
                        "skipped": EXAMPLE_REPLIES,
                        "unparsed": EXAMPLE_REPLIES,
                        "chain": {
                            "enum": ["standard", "strict", "lenient", "compat"],
                            "description": "How answers are read from these replies; by default, as `dia score` does.",
                        },
                    },
                    "Complete replies by the verdict that they must get.",
                ),
            },
            required=["params"],
        ),
        "Worked examples: parameters, and the expected results.",
    ),
    "allow": named(nonempty(), "Health warnings of `dia check` that this template accepts, each with a reason."),
    "limits": mapping(
        {
            "seconds": number(
                "Seconds for each expression or template that is evaluated.", exclusiveMinimum=0, maximum=300
            ),
            "steps": integer(
                "Steps for each expression or template that is evaluated (default 2,000,000).",
                minimum=1,
                maximum=100000000,
            ),
            "digits": integer("Decimal digits of an integer.", minimum=1, maximum=301030),
        },
        "Limits on the seconds and steps to evaluate one expression, and on the digits of integers.",
    ),
    "each": text("A parameter: each of its values becomes an item, whose k instances vary the other parameters."),
    "instances": any_of(
        {"const": "all"},
        integer(minimum=1, maximum=1000000),
        words="`all` for all possible instances, or a number that replaces k.",
    ),
    "fuzz": mapping(
        {
            "first": one_of(
                ["random", "boundary"],
                "boundary: first the edge values of each parameter; then instances that cover, for every two "
                "parameters, all cases: both at an edge, only one of them, or neither; then the rest.",
            )
        },
        "The order of the instances: random, or edge values of parameters first.",
    ),
    "slots": ref("slots", "Named gaps in the prompt with their texts, which variants can replace."),
    "variants": named(
        mapping(
            {
                "params": ref("parameters", "Additional parameters that only this wording uses."),
                "let": named(ref("expression"), "Additional derived values that only this wording uses.", keys=NAME),
                "slots": ref("slots", "Texts that replace those of the template's slots."),
                "prompt": ref("template", "Replaces the prompt."),
                "prepend": ref(
                    "template",
                    "Added before the prompt (of sessions: before the first user turn), separated by an empty line.",
                ),
                "append": ref(
                    "template",
                    "Added after the prompt (of sessions: after the first user turn), separated by an empty line.",
                ),
                "redraw": array(text(), "Parameters that are redrawn; the answer must not change.", least=1),
                "sessions": array(
                    text(),
                    "Sessions to whose first user turn `prepend` and `append` apply (default: all sessions of the "
                    "subject, the model under test).",
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
            "correct": ref("expression", "The correct option."),
            "distractors": ref("expression", "A list of wrong options; may depend on the answer."),
            "shuffle": boolean("true (default): the order is part of the instance; false: ascending order."),
            "skip": nonempty("An option that skips the question; always last."),
        },
        "The options of a multiple-choice question, instead of `answer`.",
        required=["correct", "distractors"],
    ),
    "sessions": named(
        ref("session"),
        "Name -> a conversation; their order follows from the replies that they use.",
        keys=IDENTIFIER,
        least=1,
    ),
    "decisions": ref("decisions", "Binary predictions of the model about itself, each with the actual outcome."),
    "ranking": ref("ranking", "A ranking predicted by the model, and the true one."),
    "grade": ref("grade", "The verdict: expressions over replies, or a judge."),
    "figures": ref("figures", "Name -> a figure that reports show in addition to the verdicts."),
    "assets": named(
        mapping({"build": text("The asset builder; `dia types` lists them.")}, required=["build"], is_open=True),
        "Files that are built for each instance: name -> builder and its options.",
        keys=NAME,
        least=1,
    ),
    "deliver": any_of(
        one_of(["inline", "attach", "file"]),
        named(one_of(["inline", "attach", "file"]), least=1),
        words=(
            "How the files reach the model: in the prompt (bytes in base64), as a content part, or as a separate file."
        ),
    ),
    "presets": named(
        mapping(
            {
                "study": nonempty("The published study that this preset follows."),
                "decisions": ref("decisions"),
                "ranking": ref("ranking"),
                "grade": ref("grade"),
                "figures": ref("figures"),
                "chain": one_of(["standard", "strict", "lenient", "compat"], "How this study reads replies."),
            },
            required=["study"],
        ),
        "Name -> another way to grade the same replies, such as that of a published study.",
        keys=IDENTIFIER,
        least=1,
    ),
}

BENCHMARK: Final[dict[str, Schema]] = {
    "language": {"enum": [1, 2], "description": "Version of the spec language: 2. Specs that say 1 compile as well."},
    "benchmark": identifier("Id: lowercase letters, digits and _."),
    "title": text("A one-line title."),
    "version": {
        "type": "string",
        "pattern": "^[0-9]+\\.[0-9]+\\.[0-9]+([-+][0-9A-Za-z.-]+)?$",
        "description": "Semantic version; does not affect the instances.",
    },
    "license": text("SPDX identifier."),
    "seed": {"type": ["string", "integer"], "description": "The seed of all instances (default 0)."},
    "notes": text("Notes for readers; has no effect."),
    "canary": text(
        "A GUID. dia puts it in a sentence that marks the records and YAML files of a bundle and asks to keep them out "
        "of training data; `dia scan` finds it. A text that is not a GUID is used as this sentence, unchanged.",
        minLength=8,
    ),
    "prompt": ref(
        "template",
        "Wrapper around each template's prompt; can use challenge, format_instruction, skip_token and points.",
    ),
    "skip": nonempty("The abstention token."),
    **SHARED,
}

CATALOG: Final[dict[str, Schema]] = {
    "catalog": name("The catalog's name."),
    "faces": ref("faces", "Name -> template or expression that every entry provides."),
    "entries": ref("entries", "Name -> the entry's parameters, and a definition of each face."),
}


class SpecFile(NamedTuple):
    """A kind of spec file."""

    title: str
    description: str
    required: tuple[str, ...]
    properties: dict[str, Schema]


FILES: Final[dict[str, SpecFile]] = {
    "benchmark": SpecFile(
        "benchmark.yaml", "Settings shared by all templates of a benchmark.", ("language", "benchmark"), BENCHMARK
    ),
    "template": SpecFile(
        "a template",
        "A template: a question with parameters, and how its answer is computed.",
        ("template", "title"),
        TEMPLATE,
    ),
    "catalog": SpecFile(
        "a catalog",
        "Entries with several faces, such as how each is worded and what it means.",
        ("catalog", "faces", "entries"),
        CATALOG,
    ),
}


def structure(file: str) -> Schema:
    """Return the schema by which specs are checked, of `template`, `benchmark` or `catalog`."""
    return schema_of(file, {**DEFINITIONS, "format": format_schema(FORMATS)}, FILES[file].properties)


def schema_of(file: str, definitions: dict[str, Schema], properties: dict[str, Schema]) -> Schema:
    """Return the complete schema of a file, with the definitions that it needs."""
    title, words, required, _ = FILES[file]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"https://dia-spec.invalid/schemas/{file}.schema.json",
        "title": title,
        **mapping(properties, words, required),
        "$defs": _used(definitions, properties),
    }


def _used(definitions: dict[str, Schema], properties: dict[str, Schema]) -> dict[str, Schema]:
    """Return the definitions that the properties refer to, directly or through others."""
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
    """Return the schema of `format` with every option of every kind.

    Options that formats read differently accept any value.
    """
    kind = one_of(formats, "How the final answer is marked in a reply.")
    options: dict[str, FormatOption] = {}
    for form in formats.values():
        for key, option in form.options.items():
            if option.in_specs:
                is_alike = key not in options or options[key].kind == option.kind
                options[key] = option if is_alike else FormatOption("any", "")
    return mapping({"kind": kind, **{key: option.schema for key, option in options.items()}}, required=["kind"])
