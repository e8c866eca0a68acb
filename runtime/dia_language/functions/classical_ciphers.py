"""Ciphers of pencil and paper: letters from A to Z change or move, their case is kept, the rest stays."""

from __future__ import annotations

from dia_language.budgets import charge
from dia_language.diagnostics import LanguageError
from dia_language.functions.modular import mod_inverse
from dia_language.functions.registry import library_function

LOWER = "abcdefghijklmnopqrstuvwxyz"


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
def rot(text: str, n: int) -> str:
    """Text with each letter from a to z moved n places on in the alphabet, its case kept (Caesar's cipher).

    Negative n moves back; other characters stay as they are.

    >>> rot("Hello", 13), rot("Uryyb", -13)
    ('Uryyb', 'Hello')
    """
    by = n % 26
    return text.translate(_table(LOWER[by:] + LOWER[:by]))


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
