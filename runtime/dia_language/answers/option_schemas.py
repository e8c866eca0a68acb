"""The options of answers as JSON Schemas; each type lists the options that it accepts."""

from __future__ import annotations

from typing import Final

from dia_language.answers.options import CHOICES, PLACES, ROUND
from dia_language.json_schema import Schema, any_of, array, integer, mapping, nonempty, number, one_of, ref, text

EXPRESSION_TEXT: Final = text(pattern="^= ")
AMOUNT: Final = any_of(number(minimum=0), EXPRESSION_TEXT)

OPTION_SCHEMAS: Final[dict[str, Schema]] = {
    "of": {"description": "The type of the elements, the types of a record's fields, or the labels of a choice."},
    "length": any_of(
        integer(minimum=1, maximum=100_000),
        EXPRESSION_TEXT,
        words="The number of elements.",
    ),
    "separator": nonempty("The separator between elements (default a comma)."),
    "round": mapping(
        {
            "places": any_of(
                integer(minimum=-PLACES, maximum=PLACES),
                EXPRESSION_TEXT,
                words="Number of decimal places; negative numbers round to tens, hundreds ...",
            ),
            "ties": one_of(
                ROUND["ties"],
                "How to round a value exactly halfway between two results; down cuts every value towards zero.",
            ),
            "zeros": one_of(ROUND["zeros"], "Whether to keep or strip trailing zeros."),
            "thousands": one_of(ROUND["thousands"], "The separator between groups of three digits."),
        },
        "How to round the correct answer; replies are compared with the result. `ties: down` truncates all values, not "
        "only ties. `thousands` separates groups of three digits; replies may leave the separators out. In a prompt, "
        "`{{ rounding_rule }}` states the rule.",
        required=["places", "ties"],
    ),
    "tolerance": mapping(
        {
            "absolute": AMOUNT,
            "relative": AMOUNT,
            "places": integer(
                "Short for an absolute tolerance of half a unit in this decimal place.", minimum=0, maximum=PLACES
            ),
        },
        "How far a real answer may be from the correct one.",
        least=1,
    ),
    "decimals": integer("The old form of `tolerance: {places: n}`.", minimum=0, maximum=PLACES),
    "case": one_of(CHOICES["case"], "Whether case matters: exact (it does) or fold (it does not)."),
    "whitespace": one_of(
        CHOICES["whitespace"],
        "How whitespace is compared: exact, fold (each whitespace character counts as a space), collapse (each run "
        "of whitespace counts as one space) or ignore.",
    ),
    "unicode": one_of(
        CHOICES["unicode"], "How variants of characters are compared: exact, or fold (after NFKC normalisation)."
    ),
    "punctuation": one_of(
        CHOICES["punctuation"], "Whether punctuation matters: exact (it does) or ignore (it does not)."
    ),
    "fields": {
        "type": "object",
        "minProperties": 1,
        "description": "The names and types of the fields of a record; same as `of`.",
    },
    "written": nonempty("The written form of a record or tuple, such as ({{ x }}, {{ y }})."),
    "units": any_of(
        nonempty(),
        array(nonempty(), least=1),
        words="Units that the prompt mentions; replies may write one of them before or after the number.",
    ),
    "encoding": one_of(["hex", "base64"], "How bytes are written."),
    "operators": array(words="The operators that an arithmetic answer may use.", least=1),
    "variable": nonempty("The variable of a polynomial or expression."),
    "variables": array(nonempty(), "The variables of a polynomial or expression.", least=1),
}
# Options that every answer type takes
COMMON_SCHEMAS: Final[dict[str, Schema]] = {
    "share": ref("expression", "An expression over `reply`: partial credit from 0 to 1, in addition to the verdict."),
    "accept": array(words="A list of equivalent values that are also accepted."),
    "accept_if": ref(
        "expression", "A condition on `reply`, the parsed reply, which replaces the comparison with the correct answer."
    ),
    "unanswerable": ref(
        "expression",
        "Whether the question cannot be answered: then the abstention token is correct, and everything else is wrong.",
    ),
}
