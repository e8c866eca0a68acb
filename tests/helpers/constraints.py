"""The constraints of specs/boundary, read out of prompts and tested by code that knows the prompts alone."""

from __future__ import annotations

import re
import string
from collections.abc import Callable
from typing import Any

EDGE = ".,;:!?\"'()[]*#<>`"


def words(text: str) -> list[str]:
    return text.split()


def plain(text: str) -> list[str]:
    return [word.strip(EDGE).lower() for word in words(text) if word.strip(EDGE)]


def lines(text: str) -> list[str]:
    return text.splitlines()


def letters(word: str) -> bool:
    return bool(word) and all(char in string.ascii_letters for char in word)


def numbered(found: list[str], text: str) -> bool:
    held = lines(text)
    return len(held) == int(found[0]) and all(line.startswith(f"{at}. ") for at, line in enumerate(held, 1))


def in_order(found: list[str], text: str) -> bool:
    said = plain(text)
    return [word for word in said if word in found] == found


Test = Callable[[list[str], str], bool]
# What the prompt says (a pattern whose groups are the numbers and words in it) -> whether a text is so.
MEANINGS: dict[str, Test] = {
    r"Use at most (\d+) words\.": lambda f, t: len(words(t)) <= int(f[0]),
    r"Use at least (\d+) words\.": lambda f, t: len(words(t)) >= int(f[0]),
    r"Use exactly (\d+) words\.": lambda f, t: len(words(t)) == int(f[0]),
    r"Use between (\d+) and (\d+) words\.": lambda f, t: int(f[0]) <= len(words(t)) <= int(f[1]),
    r"Use an even number of words\.": lambda f, t: bool(words(t)) and len(words(t)) % 2 == 0,
    r"Make the number of words a multiple of five\.": lambda f, t: bool(words(t)) and len(words(t)) % 5 == 0,
    r"Write exactly (\d+) lines, with no empty lines\.": lambda f, t: len(lines(t)) == int(f[0]) and all(map(str.strip, lines(t))),
    r"Write at least (\d+) lines that are not empty\.": lambda f, t: sum(bool(line.strip()) for line in lines(t)) >= int(f[0]),
    r"Write everything on one line\.": lambda f, t: len(lines(t)) == 1,
    r"Write an odd number of lines, at least three, with no empty lines\.": lambda f, t: len(lines(t)) in range(3, 999, 2) and all(map(str.strip, lines(t))),
    r"Write exactly (\d+) paragraphs, separated by single empty lines\.": lambda f, t: len(re.fullmatch(r"[^\n]+(?:\n\n[^\n]+)*", t)[0].split("\n\n")) == int(f[0]) if re.fullmatch(r"[^\n]+(?:\n\n[^\n]+)*", t) else False,
    r"Write exactly (\d+) lines, each starting with a hyphen and a space\.": lambda f, t: len(lines(t)) == int(f[0]) and all(line[:2] == "- " for line in lines(t)),
    r"Write exactly (\d+) numbered lines: the first starts with 1\. and a space, the second with 2\. and a space, and so on\.": numbered,
    r"Write exactly (\d+) lines, each ending with a full stop\.": lambda f, t: len(lines(t)) == int(f[0]) and all(line[-1:] == "." for line in lines(t)),
    r'Start with the word "(\w+)"\.': lambda f, t: plain(t)[:1] == [f[0].lower()],
    r"Make the first character an uppercase (\w)\.": lambda f, t: t[:1] == f[0],
    r"Start with a number sign, a space and a word \(as in: # Notes\)\.": lambda f, t: t[:2] == "# " and letters(t[2:3]),
    r"Start with the number (\d+), written in digits, and a space\.": lambda f, t: t.startswith(f[0] + " "),
    r"Start with a question of at most eight words\.": lambda f, t: any(word.endswith("?") for word in words(t)[:8]),
    r'Start with the words "([^"]+)"\.': lambda f, t: t.startswith(f[0]),
    r'End with the word "(\w+)", with no punctuation after it\.': lambda f, t: words(t)[-1:] == [f[0]] and t.endswith(f[0]),
    r"End with a full stop\.": lambda f, t: t[-1:] == ".",
    r"End with a question mark\.": lambda f, t: t[-1:] == "?",
    r"End with exactly three full stops\.": lambda f, t: re.search(r"(?<!\.)\.{3}\Z", t) is not None,
    r'End with exactly this sentence: "(.+)"': lambda f, t: t.endswith(f[0]),
    r'End with exactly this postscript: "(P\.S\. .+)"': lambda f, t: t.endswith(f[0]),
    r"Do not use the letter (\w), in lowercase or uppercase\.": lambda f, t: f[0] not in t.lower(),
    r"Do not use any digits\.": lambda f, t: not set(t) & set(string.digits),
    r"Do not use any commas\.": lambda f, t: "," not in t,
    r"Do not use any exclamation marks or question marks\.": lambda f, t: not set(t) & set("!?"),
    r"Do not use any apostrophes or quotation marks, straight or curly\.": lambda f, t: not set(t) & set("'\"‘’“”"),
    r"Do not use any hyphens or dashes\.": lambda f, t: not set(t) & set("-–—"),
    r'Do not use the word "(\w+)"\.': lambda f, t: f[0] not in plain(t),
    r"Use lowercase letters only, with no uppercase letters anywhere\.": lambda f, t: t == t.lower(),
    r"Use uppercase letters only, with no lowercase letters anywhere\.": lambda f, t: t == t.upper(),
    r"Write at least (\d+) words of two letters or more entirely in uppercase\.": lambda f, t: sum(len(word.strip(EDGE)) >= 2 and word.strip(EDGE).isupper() for word in words(t)) >= int(f[0]),
    r"Use at most (\d+) uppercase letters in the whole text\.": lambda f, t: sum(char in string.ascii_uppercase for char in t) <= int(f[0]),
    r"Capitalize the first letter of every word that begins with a letter\.": lambda f, t: not any(word[0].islower() for word in words(t)),
    r'Use the word "(\w+)"\.': lambda f, t: f[0] in plain(t),
    r'Use the word "(\w+)" exactly (\d+) times\.': lambda f, t: plain(t).count(f[0]) == int(f[1]),
    r'Use both the word "(\w+)" and the word "(\w+)"\.': lambda f, t: set(f) <= set(plain(t)),
    r'Use neither the word "(\w+)" nor the word "(\w+)"\.': lambda f, t: not set(f) & set(plain(t)),
    r'Use the word "(\w+)" once and, somewhere after it, the word "(\w+)" once\.': in_order,
    r"Mention the date ([0-9-]+), written exactly like this\.": lambda f, t: f[0] in t,
    r"Mention the time ([0-9:]+), written exactly like this\.": lambda f, t: f[0] in t,
    r"Mention the percentage (\d+) %, in digits, with one space before the sign\.": lambda f, t: re.search(rf"(?<![0-9]){f[0]} %", t) is not None,
    r"Mention the email address (\S+@example\.org)\.": lambda f, t: f[0] in t,
    r"Mention the price ([0-9.]+ EUR), written exactly like this\.": lambda f, t: re.search(rf"(?<![0-9]){re.escape(f[0])}", t) is not None,
    r"Use exactly (\d+) exclamation marks?\.": lambda f, t: t.count("!") == int(f[0]),
    r"Use exactly (\d+) semicolons?\.": lambda f, t: t.count(";") == int(f[0]),
    r"Use exactly one colon\.": lambda f, t: t.count(":") == 1,
    r"Put exactly (\d+) remarks? in parentheses\.": lambda f, t: len(re.findall(r"\([^()]+\)", t)) == t.count("(") == t.count(")") == int(f[0]),
    r"Use at least (\d+) commas\.": lambda f, t: t.count(",") >= int(f[0]),
    r"Put exactly (\d+) words? in bold: two asterisks on each side, with one word inside, as in \*\*this\*\*\.": lambda f, t: len(re.findall(r"\*\*[A-Za-z]+\*\*", t)) == int(f[0]) and t.count("*") == 4 * int(f[0]),
    r"Leave exactly (\d+) placeholders? in square brackets, such as \[name\], with lowercase letters inside\.": lambda f, t: len(re.findall(r"\[[a-z]+\]", t)) == t.count("[") == int(f[0]),
    r"Use exactly (\d+) hashtags?: a number sign directly followed by letters\.": lambda f, t: len(re.findall(r"#[A-Za-z]+", t)) == int(f[0]),
    r"Put the word (\w+) between two backticks, as programmers do, exactly once\.": lambda f, t: t.count(f"`{f[0]}`") == 1 and t.count("`") == 2,
    r"Mention the book (<<[^>]+>>) exactly once, with the angle brackets as shown here\.": lambda f, t: t.count(f[0]) == 1,
    r"Do not use any word longer than (\d+) characters, counting attached punctuation\.": lambda f, t: max(map(len, words(t))) <= int(f[0]),
    r"Use at least one word of (\d+) letters or more\.": lambda f, t: any(letters(word.strip(EDGE)) and len(word.strip(EDGE)) >= int(f[0]) for word in words(t)),
    r"Use at least (\d+) words of one or two letters\.": lambda f, t: sum(letters(word.strip(EDGE)) and len(word.strip(EDGE)) <= 2 for word in words(t)) >= int(f[0]),
    r"Do not use the same word twice in a row\.": lambda f, t: all(a != b for a, b in zip(plain(t), plain(t)[1:], strict=False)),
    r"Use the letter (\w), in lowercase or uppercase, at least (\d+) times\.": lambda f, t: t.lower().count(f[0]) >= int(f[1]),
    r"Use at least (\d+) words that start with the letter (\w), in lowercase or uppercase\.": lambda f, t: sum(word.startswith(f[1]) for word in plain(t)) >= int(f[0]),
    r"Use a word of five letters or more that reads the same backwards\.": lambda f, t: any(letters(word) and len(word) > 4 and word == word[::-1] for word in plain(t)),
}  # fmt: skip


def told(question: dict[str, Any]) -> list[tuple[str, list[str]]]:
    """The constraints of a prompt: which meaning each has, and what stands in it."""
    prompt = question["messages"][0]["content"]
    found = []
    for line in re.findall(r"^- (.*)$", prompt, re.MULTILINE):
        fits = [(pattern, list(match.groups())) for pattern in MEANINGS if (match := re.fullmatch(pattern, line))]
        assert len(fits) == 1, line
        found.append(fits[0])
    return found
