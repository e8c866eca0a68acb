"""English wording: plurals, verbs that agree with persons, ordinal numbers, enumerations."""

from __future__ import annotations

from dia_language.budgets import charge
from dia_language.diagnostics import LanguageError
from dia_language.functions.argument_types import Noun, Number, Value
from dia_language.functions.registry import library_function
from dia_language.limits import TEXT_LENGTH
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


@library_function
def plural(noun: Noun, n: Number = 2) -> str:
    """Noun as it stands behind the number: its singular behind 1, its plural behind all others.

    The noun is a record of `one` and `many`, or text in the singular, whose last word then takes its plural by the
    English rules (-s, -es, -ies) or from a list of irregular ones: man, child, person, half, knife, mouse and such.

    >>> plural("apple", 3), plural("baby", 2), plural("box", 1), plural("grown man")
    ('apples', 'babies', 'box', 'grown men')
    >>> plural(Record(one="datum", many="data"), 0)
    'data'
    """
    is_one = not is_symbolic(n) and n == 1
    if isinstance(noun, Record):
        return str(noun["one" if is_one else "many"])
    if not noun.strip():
        raise LanguageError("`plural` needs a noun that is not empty")
    return noun if is_one else _many(noun)


def _many(noun: str) -> str:
    before, blank, word = noun.rpartition(" ")
    if word.lower() in IRREGULAR:
        many = IRREGULAR[word.lower()]
        return before + blank + (many.capitalize() if word[:1].isupper() else many)
    if word.endswith(HISSES):
        return noun + "es"
    if word.endswith("y") and word[-2:-1] not in VOWELS:
        return noun[:-1] + "ies"
    return noun + "s"


@library_function
def agree(person: Record, singular: str, plural: str) -> str:
    """Form of the verb that goes with the person's pronoun: the plural one for they, else the singular one.

    The person is what the type `name` draws with its pronouns: a record in which `plural` is true or false.

    >>> agree(Record(name="Robin", they="they", plural=True), "eats", "eat")
    'eat'
    """
    if type(person.get("plural")) is not bool:
        raise LanguageError("`agree` needs a person with pronouns", "draw it with `{type: name, pronouns: true}`")
    return plural if person["plural"] else singular


@library_function
def ordinal(n: int) -> str:
    """Number with the ending of its place in an order: 1st, 2nd, 3rd, 4th.

    From 0 on.

    >>> [ordinal(n) for n in (1, 2, 3, 4, 11, 12, 13, 21, 102, 111)]
    ['1st', '2nd', '3rd', '4th', '11th', '12th', '13th', '21st', '102nd', '111th']
    """
    if n < 0:
        raise LanguageError("`ordinal` needs a number that is 0 or more")
    ending = "th" if n % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return integer_text(n) + ending


@library_function
def title_case(text: str) -> str:
    """Text with the first letter of each word as a capital; the other letters stay as they are.

    Words are what blanks and line breaks part.

    >>> title_case("the last of NASA's probes")
    "The Last Of NASA's Probes"
    """
    charge(len(text) // 16)
    letters = (letter.upper() if at == 0 or text[at - 1].isspace() else letter for at, letter in enumerate(text))
    return "".join(letters)


@library_function
def listed(items: list[Value], conjunction: str = "and") -> str:
    """Items as an English enumeration: a comma between them, the conjunction before the last.

    >>> listed(["a", "b", "c"]), listed([1, 2], "or"), listed(["a"])
    ('a, b and c', '1 or 2', 'a')
    """
    charge(len(items))
    texts = [item if isinstance(item, str) else plain(item) for item in items]
    if sum(map(len, texts)) + 2 * len(texts) + len(conjunction) > TEXT_LENGTH:
        raise LanguageError(f"`listed` would give more than {TEXT_LENGTH} characters", code="E502")
    if len(texts) < 2:
        return "".join(texts)
    return f"{', '.join(texts[:-1])} {conjunction} {texts[-1]}"
