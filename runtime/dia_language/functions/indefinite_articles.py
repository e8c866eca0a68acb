"""Which words take `an` instead of `a`: rules of sound and the exceptions to them, as in American dictionaries."""

from __future__ import annotations

import re
import unicodedata

# Letters whose names begin with a vowel sound: an MBA, an X-ray, but a UFO
SPELLED = frozenset("AEFHILMNORSX")
# Read as words: acronyms that look spelled, titles and units
READ = frozenset(
    {"fin", "hud", "lan", "mac", "mad", "mid", "nas", "nil", "ram", "rom", "sim", "sir", "son"}
    | {"mr", "mrs", "ms", "mt", "lt", "st", "sr", "rd", "hr", "ft", "hz", "mg", "ml", "mm", "nm", "hmm", "shh"}
)
SILENT_H = re.compile(r"hours?\b|hour(ly|long|glass)|honest|honou?r|honorari|heir(?!arch)|herb(s|al|ed|aceous)?\b")
# Vowels that begin with a consonant sound, as in you and one
CONSONANT = re.compile(
    r"eu(?!ler)|ew(?!ok)|once\b|ones?\b|oneself|oneness|ouija|unesco|ubi"
    r"|u(?=[fgkrst][aeiou]|kr|lys|vul|nani)(?!gand?l)"
    r"|uni(?!n|m(?!od)|dent|dio|ll|rr|ron|ssue|on[ -])"
)
NUMBER = re.compile(r"\d[\d,]*")
WORD = re.compile(r"[^\W\d_]+")


def takes_an(phrase: str) -> bool:
    """Return whether the phrase begins with a vowel sound, after any quotes, brackets and currency signs."""
    start = next((at for at, char in enumerate(phrase) if char.isalnum()), len(phrase))
    if start and phrase[start - 1] in "-\N{MINUS SIGN}":
        return False  # "minus"
    phrase = unicodedata.normalize("NFD", phrase[start : start + 100])
    phrase = "".join(char for char in phrase if not unicodedata.combining(char))
    if number := NUMBER.match(phrase):
        return _number_takes_an(number[0].replace(",", ""))
    word = WORD.match(phrase)
    if word is None:
        return False
    capitals = re.match(r"[A-Z]*", word[0])
    if _is_spelled(word[0], capitals[0] if capitals else "", phrase[word.end() : word.end() + 1]):
        return word[0][0].upper() in SPELLED
    text = phrase.lower()
    if text[0] == "y":
        return re.match(r"y[^aeiou\W]", text) is not None
    if text[0] == "h":
        return SILENT_H.match(text) is not None
    return text[0] in "aeiou" and CONSONANT.match(text) is None


def _number_takes_an(digits: str) -> bool:
    """Eight, eighty, eight hundred, eleven and eighteen, with any number of thousands."""
    leading = digits[: (len(digits) - 1) % 3 + 1]
    return leading[0] == "8" or leading in ("11", "18")


def _is_spelled(word: str, capitals: str, after: str) -> bool:
    """Return whether the word is read letter by letter: x-axis, MBA, MBAs, HTML, MSc, mRNA, but not NASA, RAM or Mr."""
    if len(word) == 1:
        return after != "'" and (word not in "aAI" or after != " ")
    if {word.lower(), word.lower().removesuffix("s")} & READ:
        return False
    if re.match("[a-z][A-Z]{2}", word):
        return True
    if len(capitals) >= 2:
        return len(capitals) <= 3 or not re.search("[AEIOUY]", capitals)
    return word.islower() and not re.search("[aeiouy]", word)
