"""What each option of an answer may be, as JSON Schema; which types take an option, the types say themselves."""

from __future__ import annotations

from typing import Final

from dia_language.answers.options import CHOICES, PLACES, ROUND
from dia_language.json_schema import Schema, any_of, array, integer, mapping, nonempty, number, one_of, ref, text

EXPRESSION_TEXT: Final = text(pattern="^= ")
AMOUNT: Final = any_of(number(minimum=0), EXPRESSION_TEXT)

OPTION_SCHEMAS: Final[dict[str, Schema]] = {
    "of": {"description": "The type of the elements, the types of a record's fields, or the labels of a choice."},
    "separator": nonempty("Between elements; a comma unless given."),
    "round": mapping(
        {
            "places": any_of(
                integer(minimum=-PLACES, maximum=PLACES),
                EXPRESSION_TEXT,
                words="Decimal places; negative ones round to tens, hundreds ...",
            ),
            "ties": one_of(
                ROUND["ties"], "What becomes of a value exactly halfway; down cuts every value towards zero."
            ),
            "zeros": one_of(ROUND["zeros"], "Keep or strip zeros at the end of decimals."),
            "thousands": one_of(ROUND["thousands"], "The mark between groups of three digits."),
        },
        "Rounds the truth, tells the prompt how, and compares the reply with it.",
        required=["places", "ties"],
    ),
    "tolerance": mapping({"absolute": AMOUNT, "relative": AMOUNT}, "How far a real may be from the truth.", least=1),
    "decimals": integer("Tolerance of half a unit in that decimal place.", minimum=0, maximum=PLACES),
    "case": one_of(CHOICES["case"], "Whether case counts; fold: it does not."),
    "whitespace": one_of(
        CHOICES["whitespace"],
        "Whether white space counts; fold: each as a blank; collapse: each run as one blank; ignore: not at all.",
    ),
    "unicode": one_of(CHOICES["unicode"], "Whether forms of characters count; fold: compare after normalisation NFKC."),
    "punctuation": one_of(CHOICES["punctuation"], "Whether punctuation counts; ignore: it does not."),
    "fields": {
        "type": "object",
        "minProperties": 1,
        "description": "Of a record: its fields with their types; `of` says the same.",
    },
    "written": nonempty("Form of the canonical text of a record or tuple, such as ({{ x }}, {{ y }})."),
    "units": any_of(
        nonempty(),
        array(nonempty(), least=1),
        words="Units that the prompt names; a lenient reading passes over them.",
    ),
    "encoding": one_of(["hex", "base64"], "How bytes are written."),
    "operators": array(words="Of arithmetic: the operators that it may have.", least=1),
    "variable": nonempty("Of a polynomial or expression: its variable."),
    "variables": array(nonempty(), "Of a polynomial or expression: its variables.", least=1),
}
# Options that every answer type takes
COMMON_SCHEMAS: Final[dict[str, Schema]] = {
    "share": ref("expression", "Over `reply`: the share of full marks, from 0 to 1, beside the verdict."),
    "accept": array(words="Equivalent values."),
    "accept_if": ref("expression", "Over `reply`, the typed reply: many right answers."),
}
