"""Ciphers of pencil and paper: letters from A to Z change or move, their case is kept, the rest stays.

Encoders and decoders of codes that write letters by other signs stand here too.
"""

from __future__ import annotations

from dia_language.budgets import charge
from dia_language.diagnostics import LanguageError
from dia_language.functions.modular import mod_inverse
from dia_language.functions.registry import library_function
from dia_language.limits import TEXT_LENGTH

LOWER = "abcdefghijklmnopqrstuvwxyz"
SQUARE = "ABCDEFGHIKLMNOPQRSTUVWXYZ"


@library_function
def rot47(text: str) -> str:
    """Text with each of the 94 visible ASCII characters moved 47 places on, from ! to ~ and round again.

    Twice is the text itself.

    >>> rot47("Hello, 1!")
    'w6==@[ `P'
    """
    return text.translate({code: 33 + (code - 33 + 47) % 94 for code in range(33, 127)})


@library_function
def atbash(text: str) -> str:
    """Text with a for z, b for y and so on. Twice is the text itself.

    >>> atbash("Hello")
    'Svool'
    """
    return text.translate(_table(LOWER[::-1]))


@library_function
def vigenere_encrypt(text: str, key: str) -> str:
    """Text with each letter moved on by the next letter of the key, which is repeated (a moves by 0).

    Other characters stay and use up no letter of the key. The key is one or more letters of either case.

    >>> vigenere_encrypt("Attack at dawn!", "lemon")
    'Lxfopv ef rnhr!'
    """
    return _vigenere("vigenere_encrypt", text, key, 1)


@library_function
def vigenere_decrypt(text: str, key: str) -> str:
    """Text whose `vigenere_encrypt` with the key is the text given.

    >>> vigenere_decrypt("Lxfopv ef rnhr!", "lemon")
    'Attack at dawn!'
    """
    return _vigenere("vigenere_decrypt", text, key, -1)


@library_function
def affine_encrypt(text: str, a: int, b: int) -> str:
    """Text with letter x, counted from 0, replaced by letter a x + b modulo 26.

    An error for an `a` that is even or a multiple of 13, since no text would come back.

    >>> affine_encrypt("Hello", 5, 8)
    'Rclla'
    """
    mod_inverse(a, 26)
    return text.translate(_table("".join(LOWER[(a * x + b) % 26] for x in range(26))))


@library_function
def affine_decrypt(text: str, a: int, b: int) -> str:
    """Text whose `affine_encrypt` with the same two numbers is the text given.

    >>> affine_decrypt("Rclla", 5, 8)
    'Hello'
    """
    inverse = mod_inverse(a, 26)
    return affine_encrypt(text, inverse, -inverse * b)


@library_function
def rail_fence_encrypt(text: str, rails: int) -> str:
    """Text written down and up again over so many rails, and read rail by rail.

    All characters move, blanks too. From 1 rail.

    >>> rail_fence_encrypt("WEAREDISCOVERED", 3)
    'WECRERDSOEEAIVD'
    """
    return "".join(text[place] for place in _zigzag("rail_fence_encrypt", len(text), rails))


@library_function
def rail_fence_decrypt(text: str, rails: int) -> str:
    """Text whose `rail_fence_encrypt` over as many rails is the text given.

    >>> rail_fence_decrypt("WECRERDSOEEAIVD", 3)
    'WEAREDISCOVERED'
    """
    return _back(text, _zigzag("rail_fence_decrypt", len(text), rails))


@library_function
def columnar_encrypt(text: str, key: str) -> str:
    """Text written in rows below the key and read column by column, in the order of the key's characters.

    Columns below equal characters come from left to right; the last row may be short. All characters move.

    >>> columnar_encrypt("WEAREDISCOVERED", "ZEBRA")
    'EODASREIERCEWDV'
    """
    return "".join(text[place] for place in _columns("columnar_encrypt", len(text), key))


@library_function
def columnar_decrypt(text: str, key: str) -> str:
    """Text whose `columnar_encrypt` with the key is the text given.

    >>> columnar_decrypt("EODASREIERCEWDV", "ZEBRA")
    'WEAREDISCOVERED'
    """
    return _back(text, _columns("columnar_decrypt", len(text), key))


@library_function
def to_polybius(text: str) -> str:
    """Row and column, from 1 to 5, of each letter in the square of 25 letters without J, which counts as I.

    Letters of either case; an error for other characters.

    >>> to_polybius("Bat")
    '12 11 44'
    """
    return " ".join(f"{row}{column}" for row, column in map(_cell, _bounded("to_polybius", text)))


@library_function
def from_polybius(text: str) -> str:
    """Capital letters of a text of `to_polybius`; I stands for J as well.

    >>> from_polybius("12 11 44")
    'BAT'
    """
    return "".join(_at(sign, *(ord(digit) - 48 for digit in sign[:2])) for sign in text.split(" ")) if text else ""


@library_function
def to_tap_code(text: str) -> str:
    """Knocks for each letter: a dot for each row and, after a blank, for each column; K counts as C.

    The square of 25 letters lacks K. Letters have two blanks between them, and either case. An error for
    other characters.

    >>> to_tap_code("Hi")
    '.. ...  .. ....'
    """
    charge(len(_bounded("to_tap_code", text)))
    return "  ".join(" ".join("." * (part + 1) for part in divmod(_tapped(letter), 5)) for letter in text)


@library_function
def from_tap_code(text: str) -> str:
    """Capital letters of a text of `to_tap_code`; C stands for K as well.

    >>> from_tap_code(".. ...  .. ....")
    'HI'
    """
    charge(len(text))
    return "".join(map(_heard, text.split("  "))) if text else ""


@library_function
def to_bacon(text: str) -> str:
    """Five letters A or B for each letter, its place from 0 to 25 in binary, with a blank between groups.

    Letters of either case; an error for other characters. This is the alphabet of 26 different signs.

    >>> to_bacon("Hi")
    'AABBB ABAAA'
    """
    charge(len(_bounded("to_bacon", text)))
    return " ".join(f"{_place(letter):05b}".translate({48: "A", 49: "B"}) for letter in text)


@library_function
def from_bacon(text: str) -> str:
    """Capital letters of a text of `to_bacon`.

    >>> from_bacon("AABBB ABAAA")
    'HI'
    """
    charge(len(text))
    return "".join(map(_baconed, text.split(" "))) if text else ""


@library_function
def to_a1z26(text: str) -> str:
    """Number of each letter in the alphabet, from 1 to 26, with hyphens between; words keep their blanks.

    Letters of either case; an error for other characters.

    >>> to_a1z26("Hi Zoe")
    '8-9 26-15-5'
    """
    charge(len(_bounded("to_a1z26", text)))
    return " ".join("-".join(str(_place(letter) + 1) for letter in word) for word in text.split())


@library_function
def from_a1z26(text: str) -> str:
    """Capital letters of a text of `to_a1z26`.

    >>> from_a1z26("8-9 26-15-5")
    'HI ZOE'
    """
    charge(len(text))
    return " ".join("".join(map(_numbered, word.split("-"))) for word in text.split(" ")) if text else ""


def _vigenere(name: str, text: str, key: str, sign: int) -> str:
    if not key or not set(key.lower()) <= set(LOWER):
        raise LanguageError(f"`{name}` needs a key of letters from a to z")
    charge(len(text))
    shifts = [sign * LOWER.index(letter) for letter in key.lower()]
    moved, used = [], 0
    for character in text:
        place = LOWER.find(character.lower()) if character.isascii() else -1
        if place < 0:
            moved.append(character)
            continue
        letter = LOWER[(place + shifts[used % len(shifts)]) % 26]
        moved.append(letter.upper() if character.isupper() else letter)
        used += 1
    return "".join(moved)


def _table(images: str) -> dict[int, int]:
    return str.maketrans(LOWER + LOWER.upper(), images + images.upper())


def _zigzag(name: str, length: int, rails: int) -> list[int]:
    if rails < 1:
        raise LanguageError(f"`{name}` needs at least 1 rail")
    charge(length)
    turn = max(2 * (min(rails, length) - 1), 1)
    return sorted(range(length), key=lambda place: min(place % turn, turn - place % turn))


def _columns(name: str, length: int, key: str) -> list[int]:
    if not key:
        raise LanguageError(f"`{name}` needs a key of at least one character")
    charge(length + len(key))
    order = sorted(range(len(key)), key=key.__getitem__)
    return [place for column in order for place in range(column, length, len(key))]


def _back(text: str, places: list[int]) -> str:
    characters = [""] * len(text)
    for place, character in zip(places, text, strict=True):
        characters[place] = character
    return "".join(characters)


def _place(letter: str) -> int:
    place = LOWER.find(letter.lower()) if letter.isascii() and letter else -1
    if place < 0:
        raise LanguageError(f"`{letter}` is no letter from A to Z")
    return place


def _cell(letter: str) -> tuple[int, int]:
    _place(letter)
    row, column = divmod(SQUARE.index(letter.upper().replace("J", "I")), 5)
    return row + 1, column + 1


def _at(sign: str, *cell: int) -> str:
    if len(sign) != 2 or not all(1 <= part <= 5 for part in cell):
        raise LanguageError("the text has groups other than two digits from 1 to 5", "one blank stands between them")
    return SQUARE[5 * (cell[0] - 1) + cell[1] - 1]


TAPPED = "ABCDEFGHIJLMNOPQRSTUVWXYZ"


def _tapped(letter: str) -> int:
    _place(letter)
    return TAPPED.index(letter.upper().replace("K", "C"))


def _heard(knocks: str) -> str:
    row, _, column = knocks.partition(" ")
    if not all(set(part) == {"."} and len(part) <= 5 for part in (row, column)):
        raise LanguageError("the text is not tap code", "one blank within a letter, two between letters")
    return TAPPED[5 * (len(row) - 1) + len(column) - 1]


def _baconed(group: str) -> str:
    place = int(group.translate({65: "0", 66: "1"}), 2) if len(group) == 5 and set(group) <= {"A", "B"} else 26
    if place > 25:
        raise LanguageError("the text has groups that stand for no letter", "five of A and B, a blank between groups")
    return LOWER[place].upper()


def _numbered(number: str) -> str:
    if number not in NUMBERS:
        raise LanguageError("the text has other numbers than 1 to 26", "hyphens in a word, one blank between words")
    return NUMBERS[number]


NUMBERS = {str(place): letter for place, letter in enumerate(LOWER.upper(), 1)}


def _bounded(name: str, text: str) -> str:
    if len(text) * 16 > TEXT_LENGTH:
        raise LanguageError(f"`{name}` takes at most {TEXT_LENGTH // 16} characters", code="E502")
    return text
