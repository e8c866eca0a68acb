"""Classical ciphers. Substitution ciphers other than `rot47` change only the letters A to Z and keep their case."""

from __future__ import annotations

from dia_language.budgets import charge
from dia_language.diagnostics import LanguageError
from dia_language.functions.modular import mod_inverse
from dia_language.functions.registry import library_function

LOWER = "abcdefghijklmnopqrstuvwxyz"


@library_function
def rot47(text: str) -> str:
    """`text` with each of the 94 visible ASCII characters shifted 47 places, wrapping from ~ to !.

    Applying it twice gives the original text.

    Examples:
        rot47("Hello, 1!") -> "w6==@[ `P"
    """
    return text.translate({code: 33 + (code - 33 + 47) % 94 for code in range(33, 127)})


@library_function
def atbash(text: str) -> str:
    """`text` with the alphabet reversed: z for a, y for b, and so on. Applying it twice gives the original text.

    Examples:
        atbash("Hello") -> "Svool"
    """
    return text.translate(_table(LOWER[::-1]))


@library_function
def vigenere_encrypt(text: str, key: str) -> str:
    """`text` with each letter shifted by the next letter of `key`: by 0 for a, by 1 for b, and so on.

    The key is repeated. Other characters do not change and do not use up a letter of the key. `key` is one or more
    letters in either case.

    Examples:
        vigenere_encrypt("Attack at dawn!", "lemon") -> "Lxfopv ef rnhr!"
    """
    return _vigenere("vigenere_encrypt", text, key, 1)


@library_function
def vigenere_decrypt(text: str, key: str) -> str:
    """The plaintext of `text`, which was encrypted by `vigenere_encrypt` with the same key.

    Examples:
        vigenere_decrypt("Lxfopv ef rnhr!", "lemon") -> "Attack at dawn!"
    """
    return _vigenere("vigenere_decrypt", text, key, -1)


@library_function
def affine_encrypt(text: str, a: int, b: int) -> str:
    """`text` with each letter x, counted from 0, replaced by the letter a * x + b modulo 26.

    Raises an error if `a` is even or a multiple of 13, because such a text could not be decrypted.

    Examples:
        affine_encrypt("Hello", 5, 8) -> "Rclla"
    """
    mod_inverse(a, 26)
    return text.translate(_table("".join(LOWER[(a * x + b) % 26] for x in range(26))))


@library_function
def affine_decrypt(text: str, a: int, b: int) -> str:
    """The plaintext of `text`, which was encrypted by `affine_encrypt` with the same `a` and `b`.

    Examples:
        affine_decrypt("Rclla", 5, 8) -> "Hello"
    """
    inverse = mod_inverse(a, 26)
    return affine_encrypt(text, inverse, -inverse * b)


@library_function
def rail_fence_encrypt(text: str, rails: int) -> str:
    """`text` written in a zigzag over the given number of rails, then read rail by rail.

    Every character is moved, including spaces. `rails` must be 1 or more.

    Examples:
        rail_fence_encrypt("WEAREDISCOVERED", 3) -> "WECRERDSOEEAIVD"
    """
    return "".join(text[place] for place in _zigzag("rail_fence_encrypt", len(text), rails))


@library_function
def rail_fence_decrypt(text: str, rails: int) -> str:
    """The plaintext of `text`, which was encrypted by `rail_fence_encrypt` with the same number of rails.

    Examples:
        rail_fence_decrypt("WECRERDSOEEAIVD", 3) -> "WEAREDISCOVERED"
    """
    return _back(text, _zigzag("rail_fence_decrypt", len(text), rails))


@library_function
def columnar_encrypt(text: str, key: str) -> str:
    """`text` written in rows under `key`, then read column by column in the order of the key's characters.

    Columns under equal characters are read from left to right. The last row may be short. Every character is moved,
    including spaces and punctuation.

    Examples:
        columnar_encrypt("WEAREDISCOVERED", "ZEBRA") -> "EODASREIERCEWDV"
    """
    return "".join(text[place] for place in _columns("columnar_encrypt", len(text), key))


@library_function
def columnar_decrypt(text: str, key: str) -> str:
    """The plaintext of `text`, which was encrypted by `columnar_encrypt` with the same key.

    Examples:
        columnar_decrypt("EODASREIERCEWDV", "ZEBRA") -> "WEAREDISCOVERED"
    """
    return _back(text, _columns("columnar_decrypt", len(text), key))


@library_function
def rot(text: str, n: int) -> str:
    """`text` with each letter shifted `n` places forward in the alphabet (Caesar cipher); case is kept.

    A negative `n` shifts backward. Other characters do not change.

    Examples:
        rot("Hello", 13) -> "Uryyb"
        rot("Uryyb", -13) -> "Hello"
    """
    by = n % 26
    return text.translate(_table(LOWER[by:] + LOWER[:by]))


def _vigenere(name: str, text: str, key: str, sign: int) -> str:
    if not key or not set(key.lower()) <= set(LOWER):
        raise LanguageError(f"`{name}` needs a key that consists of letters from a to z")
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
        raise LanguageError(f"`{name}` needs 1 or more rails")
    charge(length)
    turn = max(2 * (min(rails, length) - 1), 1)
    return sorted(range(length), key=lambda place: min(place % turn, turn - place % turn))


def _columns(name: str, length: int, key: str) -> list[int]:
    if not key:
        raise LanguageError(f"`{name}` needs a key that is not empty")
    charge(length + len(key))
    order = sorted(range(len(key)), key=key.__getitem__)
    return [place for column in order for place in range(column, length, len(key))]


def _back(text: str, places: list[int]) -> str:
    characters = [""] * len(text)
    for place, character in zip(places, text, strict=True):
        characters[place] = character
    return "".join(characters)
