"""Codes for letters: Morse, Polybius square, tap code, Bacon's cipher, letter numbers."""

from __future__ import annotations

from dia_language.budgets import charge
from dia_language.diagnostics import LanguageError
from dia_language.functions.registry import library_function
from dia_language.limits import TEXT_LENGTH

LOWER = "abcdefghijklmnopqrstuvwxyz"
SQUARE = "ABCDEFGHIKLMNOPQRSTUVWXYZ"

MORSE = {
    "A": ".-", "B": "-...", "C": "-.-.", "D": "-..", "E": ".", "F": "..-.", "G": "--.", "H": "....",
    "I": "..", "J": ".---", "K": "-.-", "L": ".-..", "M": "--", "N": "-.", "O": "---", "P": ".--.",
    "Q": "--.-", "R": ".-.", "S": "...", "T": "-", "U": "..-", "V": "...-", "W": ".--", "X": "-..-",
    "Y": "-.--", "Z": "--..", "0": "-----", "1": ".----", "2": "..---", "3": "...--", "4": "....-",
    "5": ".....", "6": "-....", "7": "--...", "8": "---..", "9": "----.", ".": ".-.-.-",
    ",": "--..--", ":": "---...", "?": "..--..", "'": ".----.", "-": "-....-", "/": "-..-.",
    "(": "-.--.", ")": "-.--.-", '"': ".-..-.", "=": "-...-", "+": ".-.-.", "@": ".--.-.",
}  # fmt: skip
SIGNS = {code: character for character, code in MORSE.items()}


@library_function
def to_morse(text: str) -> str:
    """The Morse code of `text`: the codes of characters are separated by spaces and words by " / ".

    Supports letters in either case, digits and . , : ? ' - / ( ) " = + @. Raises an error for any other character.
    Source: ITU-R M.1677-1, section 1.1.

    Examples:
        to_morse("SOS 73") -> "... --- ... / --... ...--"
    """
    charge(len(text))
    if len(text) * 8 > TEXT_LENGTH:
        raise LanguageError(f"`to_morse` accepts at most {TEXT_LENGTH // 8:,} characters", code="E502")
    return " / ".join(" ".join(map(_morse_code, word)) for word in text.split())


def _morse_code(character: str) -> str:
    code = MORSE.get(character.upper())
    if code is None:
        raise LanguageError(f"Morse code has no code for `{character}`")
    return code


@library_function
def from_morse(text: str) -> str:
    """The text, in uppercase, for Morse code written as `to_morse` writes it.

    The codes of characters are separated by one space and words by a slash with one space on each side. Raises an
    error for any other spacing and for unknown codes. Source: ITU-R M.1677-1, section 1.1.

    Examples:
        from_morse("... --- ... / --... ...--") -> "SOS 73"
    """
    charge(len(text))
    if not text:
        return ""
    return " ".join("".join(map(_morse_letter, word.split(" "))) for word in text.split(" / "))


def _morse_letter(code: str) -> str:
    if code not in SIGNS:
        raise LanguageError("the text is not Morse code", "separate signals with one space and words with ` / `")
    return SIGNS[code]


@library_function
def to_polybius(text: str) -> str:
    """The row and column, each from 1 to 5, of each letter in the 5 by 5 square without J; J is written as I.

    Letters may be in either case. Raises an error for any other character.

    Examples:
        to_polybius("Bat") -> "12 11 44"
    """
    return " ".join(f"{row}{column}" for row, column in map(_square_cell, _bounded("to_polybius", text)))


@library_function
def from_polybius(text: str) -> str:
    """The letters, in uppercase, for a text written by `to_polybius`; J becomes I.

    Examples:
        from_polybius("12 11 44") -> "BAT"
    """
    return (
        "".join(_letter_in_square(sign, *(ord(digit) - 48 for digit in sign[:2])) for sign in text.split(" "))
        if text
        else ""
    )


@library_function
def to_tap_code(text: str) -> str:
    """The tap code of each letter: one dot per row, a space, and one dot per column of the 5 by 5 square without K.

    K is written as C. Letters are separated by two spaces and may be in either case. Raises an error for any other
    character.

    Examples:
        to_tap_code("Hi") -> ".. ...  .. ...."
    """
    charge(len(_bounded("to_tap_code", text)))
    return "  ".join(" ".join("." * (part + 1) for part in divmod(_tap_place(letter), 5)) for letter in text)


@library_function
def from_tap_code(text: str) -> str:
    """The letters, in uppercase, for a text written by `to_tap_code`; K becomes C.

    Examples:
        from_tap_code(".. ...  .. ....") -> "HI"
    """
    charge(len(text))
    return "".join(map(_tapped_letter, text.split("  "))) if text else ""


@library_function
def to_bacon(text: str) -> str:
    """Five letters A or B for each letter (its number from 0 to 25 in binary), with groups separated by spaces.

    All 26 letters have different codes. Letters may be in either case. Raises an error for any other character.

    Examples:
        to_bacon("Hi") -> "AABBB ABAAA"
    """
    charge(len(_bounded("to_bacon", text)))
    return " ".join(f"{_place(letter):05b}".translate({48: "A", 49: "B"}) for letter in text)


@library_function
def from_bacon(text: str) -> str:
    """The letters, in uppercase, for a text written by `to_bacon`.

    Examples:
        from_bacon("AABBB ABAAA") -> "HI"
    """
    charge(len(text))
    return "".join(map(_bacon_letter, text.split(" "))) if text else ""


@library_function
def to_a1z26(text: str) -> str:
    """The number of each letter in the alphabet, from 1 to 26, separated by hyphens; words are separated by spaces.

    Letters may be in either case. Raises an error for any other character.

    Examples:
        to_a1z26("Hi Zoe") -> "8-9 26-15-5"
    """
    charge(len(_bounded("to_a1z26", text)))
    return " ".join("-".join(str(_place(letter) + 1) for letter in word) for word in text.split())


@library_function
def from_a1z26(text: str) -> str:
    """The letters, in uppercase, for numbers written by `to_a1z26`.

    Examples:
        from_a1z26("8-9 26-15-5") -> "HI ZOE"
    """
    charge(len(text))
    return " ".join("".join(map(_letter_of_number, word.split("-"))) for word in text.split(" ")) if text else ""


def _place(letter: str) -> int:
    place = LOWER.find(letter.lower()) if letter.isascii() and letter else -1
    if place < 0:
        raise LanguageError(f"`{letter}` is not a letter from A to Z")
    return place


def _square_cell(letter: str) -> tuple[int, int]:
    _place(letter)
    row, column = divmod(SQUARE.index(letter.upper().replace("J", "I")), 5)
    return row + 1, column + 1


def _letter_in_square(sign: str, *cell: int) -> str:
    if len(sign) != 2 or not all(1 <= part <= 5 for part in cell):
        raise LanguageError("the text must consist of pairs of digits from 1 to 5", "separate the pairs with one space")
    return SQUARE[5 * (cell[0] - 1) + cell[1] - 1]


TAP_SQUARE = "ABCDEFGHIJLMNOPQRSTUVWXYZ"


def _tap_place(letter: str) -> int:
    _place(letter)
    return TAP_SQUARE.index(letter.upper().replace("K", "C"))


def _tapped_letter(knocks: str) -> str:
    row, _, column = knocks.partition(" ")
    if not all(set(part) == {"."} and len(part) <= 5 for part in (row, column)):
        raise LanguageError("the text is not tap code", "use one space within a letter and two between letters")
    return TAP_SQUARE[5 * (len(row) - 1) + len(column) - 1]


def _bacon_letter(group: str) -> str:
    place = int(group.translate({65: "0", 66: "1"}), 2) if len(group) == 5 and set(group) <= {"A", "B"} else 26
    if place > 25:
        raise LanguageError(
            "the text has a group that does not encode a letter",
            "each group is five letters A or B; separate groups with one space",
        )
    return LOWER[place].upper()


def _letter_of_number(number: str) -> str:
    if number not in NUMBERS:
        raise LanguageError(
            "the text must consist of numbers from 1 to 26", "separate numbers with hyphens and words with one space"
        )
    return NUMBERS[number]


NUMBERS = {str(place): letter for place, letter in enumerate(LOWER.upper(), 1)}


def _bounded(name: str, text: str) -> str:
    if len(text) * 16 > TEXT_LENGTH:
        raise LanguageError(f"`{name}` accepts at most {TEXT_LENGTH // 16:,} characters", code="E502")
    return text
