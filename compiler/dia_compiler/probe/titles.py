"""Words for the rules that users see. The names of rules never change, because they decide between equal rules."""

from __future__ import annotations

PLACES = 12  # from either end, positions that can select a token
FIELDS = 12  # of a line, up to which they are compared


def ordinal(place: int) -> str:
    """Return a position in words, counted from 0 at the start, or from -1 at the end."""
    if place in (0, -1):
        return "last" if place else "first"
    number = place + 1 if place > 0 else -place
    return f"{number}{ ({2: 'nd', 3: 'rd'}.get(number, 'th')) }{'' if place > 0 else '-to-last'}"


FEATURE_TITLES = {
    "length": "length",
    "pattern": "pattern",
    "first character": "first character",
    "last character": "last character",
    "number of digits": "number of digits",
    "number of capitals": "number of uppercase letters",
    "number of distinct characters": "number of distinct characters",
    "punctuation": "set of punctuation marks",
}
FIELD_NUMBERS = range(1, FIELDS + 1)
TITLES = {
    # kinds of tokens, and conditions on them
    "quoted text": "quoted string",
    "entry": "list element",
    " of an answer's length and characters": " matching the answers' length and characters",
    " built like an answer": " matching the answer pattern",
    # selectors of a token
    **{f"{place + 1}. {{}}": f"{ordinal(place)} {{}}" for place in range(PLACES)},
    **{f"{{}} {place} from the end": f"{ordinal(-place)} {{}}" for place in range(1, PLACES + 1)},
    "commonest {}": "most frequent {}",
    "rarest {}": "least frequent {}",
    "largest {}": "{} with the largest value",
    "smallest {}": "{} with the smallest value",
    "first {} in the alphabet": "alphabetically first {}",
    "last {} in the alphabet": "alphabetically last {}",
    **{f"{{}} that differs in {name}": f"{{}} with a unique {title}" for name, title in FEATURE_TITLES.items()},
    # lines
    "the line with the largest length": "the longest line",
    "the line with the smallest length": "the shortest line",
    "the line with the largest number of fields": "the line with the most fields",
    "the line with the smallest number of fields": "the line with the fewest fields",
    "the line with the largest number of digits": "the line with the most digits",
    "the line with the smallest number of digits": "the line with the fewest digits",
    "the line with the largest amount of punctuation": "the line with the most punctuation",
    "the line with the smallest amount of punctuation": "the line with the least punctuation",
    "the line with the largest length of its longest field": "the line with the longest of all fields",
    "the line with the smallest length of its longest field": "the line whose longest field is shortest",
    **{f"the line with the largest length of field {n}": f"the line with the longest field {n}" for n in FIELD_NUMBERS},
    **{
        f"the line with the smallest length of field {n}": f"the line with the shortest field {n}"
        for n in FIELD_NUMBERS
    },
    **{f"the line that differs in field {n}": f"the line with a unique field {n}" for n in FIELD_NUMBERS},
    # counts that a decision tree sees
    "entries": "count of list elements",
    "capitals": "count of uppercase letters",
    **{
        name: f"count of {name}"
        for name in (
            "characters",
            "lines",
            "words",
            "distinct words",
            "digits",
            "numbers",
            "distinct numbers",
            "odd numbers",
            "numbers that appear once",
            "minus signs",
        )
    },
    "repeats of the commonest number": "occurrences of the most frequent number",
    "repeats of each number": "mean occurrences of a number",
    "zeros": "occurrences of the digit 0",
    "ones": "occurrences of the digit 1",
    "longest line": "length of the longest line",
    "longest word": "length of the longest word",
}


def title_of(name: str) -> str:
    """Return the words for a part of a rule's name; most parts are their own title."""
    return TITLES.get(name, name)
