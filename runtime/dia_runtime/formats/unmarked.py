"""Answers without the mark that the prompt asks for, which only the chain `lenient` accepts (rules 2).

Small models often answer a question and ignore the instruction how to write the answer. A person still reads the answer
in `60 + 65 = 125`, in `The answer is 33.` and in a reply that is one word. Each function here finds one such form. Of
two forms in a reply, the sentence decides, because it says what the model thinks its answer is.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from dia_runtime.formats.base import CHARACTERS, FormatRecord, Step, rules_of

# The last MOST lines of at most LONGEST characters are searched, so that no reply takes long.
LONGEST, MOST = 1_000, 50
AROUND = "*_\"'`$“”‘’"
WORD = r"(?P<answer>\S{1,200})"
ANSWER = re.compile(
    rf"(?:.*\b)?answer(?: to (?:this|the|your) question)?(?: is\b|:| is:)\s*{WORD}(?:, which .*)?", re.I
)
# What a model writes that repeats how answers score, as in `A wrong answer: -1`
SCORED = re.compile(r"\b(?:an? (?:correct|right)|wrong|incorrect|false|skipped) answer\b", re.I)
SENTENCE = re.compile(rf"(?:(?:so|thus|therefore|hence),? .*|(?:the|my) .*) is:? {WORD}(?:, which .*)?", re.I)
EQUATION = re.compile(r"(?P<left>[0-9][0-9\s.,+*/×÷·()^−-]*)=\s*(?P<answer>[+−-]?[0-9][0-9.,/]*)")
OPERATOR = re.compile(r"[+*/×÷·^−-]")
ARTICLES = frozenset({"a", "an", "the", "not", "in", "to", "that"})


def said(reply: str, format: FormatRecord) -> str | None:
    """Return X of the last line that ends with `the answer is X` or `Answer: X`, but not of `A wrong answer: X`."""
    for line in reversed(_lines(reply)):
        answer = None if SCORED.search(line) else _word(ANSWER.fullmatch(line))
        if answer:
            return answer
    return None


def sentence(reply: str, format: FormatRecord) -> str | None:
    """Return X if the last line is a sentence such as `The sum of 3 and 4 is X.`"""
    lines = _lines(reply)
    return _word(SENTENCE.fullmatch(lines[-1])) if lines else None


def equation(reply: str, format: FormatRecord) -> str | None:
    """Return the right side of the only equation, such as `60 + 65 = 125`, that is a line of the reply."""
    matches = [match for line in _lines(reply) if (match := EQUATION.fullmatch(line.rstrip(". ")))]
    results = {match["answer"].rstrip(".,") for match in matches if OPERATOR.search(match["left"])}
    return results.pop() if len(results) == 1 else None


def word(reply: str, format: FormatRecord) -> str | None:
    """Return the reply if it is one word or number."""
    text = reply[:LONGEST].strip()
    return None if len(reply) > LONGEST or len(text.split()) != 1 else _bare(text)


def _lines(reply: str) -> list[str]:
    """Return the last lines, stripped. Empty and long ones are left out."""
    lines = (line.strip() for line in reply[-CHARACTERS:].splitlines()[-MOST:])
    return [line for line in lines if line and len(line) <= LONGEST]


def _word(match: re.Match[str] | None) -> str | None:
    answer = _bare(match["answer"]) if match else None
    return None if answer is None or answer.casefold() in ARTICLES else answer


def _bare(text: str) -> str | None:
    """Return the text without quotes or asterisks around it, and without a full stop at its end."""
    bare = text.strip(AROUND).rstrip(".,:;").strip(AROUND)
    return bare if any(map(str.isalnum, bare)) else None


def _of_second_rules(step: Callable[[str, FormatRecord], str | None]) -> Callable[[str, FormatRecord], str | None]:
    def find(reply: str, format: FormatRecord) -> str | None:
        return None if rules_of(format) < 2 else step(reply, format)

    return find


UNMARKED: tuple[Step, ...] = tuple((step.__name__, _of_second_rules(step)) for step in (said, sentence, equation, word))
