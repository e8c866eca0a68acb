"""Codes that a person could write with a pencil: Morse and shifted letters."""

from __future__ import annotations

from functools import lru_cache

from dia_language.budgets import charge
from dia_language.diagnostics import LanguageError
from dia_language.functions.registry import library_function
from dia_language.limits import TEXT_LENGTH

LOWER = "abcdefghijklmnopqrstuvwxyz"

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
    """Morse code of the text: signs with a blank between them, words with a slash between blanks.

    Letters A to Z of either case, digits and . , : ? ' - / ( ) " = + @; an error for other characters.
    Source: ITU-R M.1677-1, section 1.1.

    >>> to_morse("SOS 73")
    '... --- ... / --... ...--'
    """
    charge(len(text))
    if len(text) * 8 > TEXT_LENGTH:
        raise LanguageError(f"`to_morse` takes at most {TEXT_LENGTH // 8} characters", code="E502")
    return " / ".join(" ".join(map(_morse, word)) for word in text.split())


def _morse(character: str) -> str:
    code = MORSE.get(character.upper())
    if code is None:
        raise LanguageError(f"Morse code has no sign for `{character}`")
    return code


@library_function
def from_morse(text: str) -> str:
    """Text in capital letters of the Morse code, as `to_morse` writes it.

    An error for unknown signs and for other blanks than one between signs and one on each side of a slash.
    Source: ITU-R M.1677-1, section 1.1.

    >>> from_morse("... --- ... / --... ...--")
    'SOS 73'
    """
    charge(len(text))
    if not text:
        return ""
    return " ".join("".join(map(_sign, word.split(" "))) for word in text.split(" / "))


def _sign(code: str) -> str:
    if code not in SIGNS:
        raise LanguageError("the text is not Morse code", "one blank between signs, ` / ` between words")
    return SIGNS[code]


@library_function
def rot(text: str, n: int) -> str:
    """Text with each letter from a to z moved n places on in the alphabet, its case kept (Caesar's cipher).

    Negative n moves back; other characters stay as they are.

    >>> rot("Hello", 13), rot("Uryyb", -13)
    ('Uryyb', 'Hello')
    """
    return text.translate(_moved(n % 26))


@lru_cache(maxsize=26)
def _moved(by: int) -> dict[int, int]:
    moved = LOWER[by:] + LOWER[:by]
    return str.maketrans(LOWER + LOWER.upper(), moved + moved.upper())
