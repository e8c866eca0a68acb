"""English wording: plurals, articles, verb agreement, ordinal numbers, enumerations."""

from __future__ import annotations

from dia_language.budgets import charge, require_characters
from dia_language.diagnostics import LanguageError
from dia_language.functions.argument_types import Noun, Number, Phrase, Value
from dia_language.functions.indefinite_articles import takes_an
from dia_language.functions.registry import library_function
from dia_language.numbers.radix import integer_text
from dia_language.numbers.values import Record, is_symbolic, plain

VOWELS = "aeiou"
HISSES = ("s", "x", "z", "ch", "sh")
IRREGULAR = {
    "man": "men", "woman": "women", "child": "children", "person": "people", "foot": "feet", "tooth": "teeth",
    "goose": "geese", "mouse": "mice", "ox": "oxen", "die": "dice", "half": "halves", "knife": "knives",
    "leaf": "leaves", "life": "lives", "loaf": "loaves", "shelf": "shelves", "thief": "thieves", "wife": "wives",
    "wolf": "wolves", "calf": "calves", "scarf": "scarves", "quiz": "quizzes", "potato": "potatoes",
    "tomato": "tomatoes", "hero": "heroes", "echo": "echoes", "index": "indices", "matrix": "matrices",
    "vertex": "vertices", "axis": "axes", "basis": "bases", "analysis": "analyses", "radius": "radii",
    "sheep": "sheep", "fish": "fish", "deer": "deer", "series": "series", "aircraft": "aircraft",
}  # fmt: skip

# Nouns without a singular: what is counted are pairs or pieces of them
PLURAL_ONLY = frozenset({
    "scissors", "trousers", "pants", "jeans", "shorts", "glasses", "goggles", "binoculars", "pliers", "tweezers",
    "tongs", "clothes", "headphones", "pyjamas", "pajamas", "tights", "leggings", "sunglasses",
})  # fmt: skip


@library_function
def plural(noun: Noun, n: Number = 2) -> str:
    """The form of the noun that goes with the number `n`: singular for 1, otherwise plural.

    `noun` is a record of `one` and `many`, or the singular as text. For text, the last word is put in the plural by the
    regular rules (-s, -es, -ies) or from a list of irregular nouns such as man, child, person, half, knife and mouse.
    Raises an error for nouns without a singular, such as scissors; pass a record for them.

    Examples:
        plural("apple", 3) -> "apples"
        plural("baby", 2) -> "babies"
        plural("box", 1) -> "box"
        plural("grown man") -> "grown men"
        plural({"one": "datum", "many": "data"}, 0) -> "data"
    """
    is_one = not is_symbolic(n) and n == 1
    if isinstance(noun, Record):
        return str(noun["one" if is_one else "many"])
    if not noun.strip():
        raise LanguageError("`plural` needs a noun that is not empty")
    return noun if is_one else _many(noun)


def _many(noun: str) -> str:
    before, blank, word = noun.rpartition(" ")
    if word.lower() in PLURAL_ONLY:
        record = f'{{"one": "pair of {word}", "many": "pairs of {word}"}}'
        raise LanguageError(f"`{word}` is a plural that has no singular; give `plural` a record: {record}")
    if word.lower() in IRREGULAR:
        many = IRREGULAR[word.lower()]
        return before + blank + (many.capitalize() if word[:1].isupper() else many)
    if word.endswith(HISSES):
        return noun + "es"
    if word.endswith("y") and word[-2:-1] not in VOWELS:
        return noun[:-1] + "ies"
    return noun + "s"


@library_function
def a_or_an(phrase: Phrase) -> str:
    """`phrase` with its indefinite article: an before a vowel sound, otherwise a.

    `phrase` is a text, an integer, or a noun as a record of `one` and `many`. The sound decides, not the letter: there
    are rules for silent h, for words that begin like "you" (university, European), for acronyms and for numbers in
    digits, and lists of exceptions. Pronunciation is American ("an herb").

    Examples:
        a_or_an("hour") -> "an hour"
        a_or_an("university degree") -> "a university degree"
        a_or_an(18) -> "an 18"
        [a_or_an(text) for text in ["MBA", "unicorn", "11-year-old", "one-way street"]]
            -> ["an MBA", "a unicorn", "an 11-year-old", "a one-way street"]
    """
    text = integer_text(phrase) if type(phrase) is int else str(phrase["one"] if type(phrase) is Record else phrase)
    if not any(map(str.isalnum, text)):
        raise LanguageError("`a_or_an` needs a phrase with a letter or digit")
    return f"{'an' if takes_an(text) else 'a'} {text}"


@library_function
def agree(person: Record, singular: str, plural: str) -> str:
    """The verb form that agrees with the person's pronoun: `plural` for they, otherwise `singular`.

    `person` is a value of the type `name` with `pronouns: true`: a record with a field that is also called `plural`,
    which is true for they and otherwise false.

    Examples:
        agree({"name": "Robin", "they": "they", "plural": true}, "eats", "eat") -> "eat"
    """
    if type(person.get("plural")) is not bool:
        raise LanguageError(
            "`agree` needs a person with pronouns: a record whose field `plural` is true or false",
            "draw it with `{type: name, pronouns: true}`",
        )
    return plural if person["plural"] else singular


@library_function
def ordinal(n: int) -> str:
    """`n` as an ordinal number: 1st, 2nd, 3rd, 4th.

    `n` must be 0 or more.

    Examples:
        [ordinal(n) for n in [1, 2, 3, 4, 11, 12, 13, 21, 102, 111]]
            -> ["1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "102nd", "111th"]
    """
    if n < 0:
        raise LanguageError("`ordinal` needs a number that is 0 or more")
    ending = "th" if n % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return integer_text(n) + ending


@library_function
def title_case(text: str) -> str:
    """`text` with the first letter of each word in uppercase; the other letters do not change.

    Words are separated by spaces and line breaks.

    Examples:
        title_case("the last of NASA's probes") -> "The Last Of NASA's Probes"
    """
    charge(len(text) // 16)
    letters = (letter.upper() if at == 0 or text[at - 1].isspace() else letter for at, letter in enumerate(text))
    return "".join(letters)


@library_function
def listed(items: list[Value], conjunction: str = "and") -> str:
    """The items as an English enumeration: commas between items, but `conjunction` before the last one.

    Examples:
        listed(["a", "b", "c"]) -> "a, b and c"
        listed([1, 2], "or") -> "1 or 2"
        listed(["a"]) -> "a"
    """
    charge(len(items))
    texts = [item if isinstance(item, str) else plain(item) for item in items]
    require_characters("listed", sum(map(len, texts)) + 2 * len(texts) + len(conjunction))
    if len(texts) < 2:
        return "".join(texts)
    return f"{', '.join(texts[:-1])} {conjunction} {texts[-1]}"
