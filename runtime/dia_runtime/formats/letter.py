r"""The letter of an option, as in multiple choice.

| step | chains | what is found |
|---|---|---|
| `alone` | strict, standard, lenient | the letter, if the reply is only the letter, such as `B`, `(B)`, `**B**` or `B.` |
| `mark` | strict, standard, lenient | the letter in the last `\boxed{B}` or `###B###` |
| `said` | strict, standard, lenient | the letter in the last sentence such as `Answer: B` or `the answer is B` |
| `option` | standard, lenient | the letter, if the reply is only the letter and the text of its option, as in `B. Rome` |
| `line` | lenient | the letter, if the last line is only the letter, with or without the text of its option |
| `text` | lenient | the letter of the only option whose text is the reply or its last line |
| `single` | lenient | the letter, written as `(B)`, `**B**` or `B.`, if the last line has exactly one such letter and no text of another option |

All chains, even strict, remove closed `<think>...</think>` blocks first. The steps above accept letters
in upper and lower case (`single` only in uppercase). The chain compat has steps of its own: see letter_compat.py.

Except in compat, `Answer: B or A` and `Answer: A, B and C` name no answer. Under rules 1, the latter is read as A.

In a bundle, the format of a question has either the letters with the texts of the options, or only the letters:

    {"kind": "letter", "options": {"A": "Paris", "B": "Rome", "C": "I don't know"}, "rules": 2, "skip": "C"}
    {"kind": "letter", "of": ["A", "B", "C"], "rules": 2, "skip": "I-DO-NOT-KNOW"}

`skip` is the letter of the option that says that the model does not know, or a separate token.
"""  # noqa: E501 - a table

from __future__ import annotations

import re
from functools import lru_cache
from string import ascii_uppercase
from typing import Any

from dia_runtime.formats.base import CHARACTERS, Format, FormatOption, FormatRecord, rules_of, skip_sentence
from dia_runtime.formats.letter_compat import CHAIN as COMPAT
from dia_runtime.formats.letter_compat import without_thoughts
from dia_runtime.formats.patterns import compiled

LONGEST = 10_000  # longest text of an option that is compared
LISTED = re.compile(r"\W*([A-Z])[.):\]]\W*\w")
AROUND = 20  # most characters around a single letter


def letters_of(format: FormatRecord) -> list[str]:
    """Return the letters that a reply can name, in order."""
    return [*format.get("options", format.get("of", ()))]


def answered(reply: str) -> str:
    """Return the reply without closed <think> blocks; only its end if it is very long."""
    return without_thoughts(reply[-CHARACTERS:], CHARACTERS)


def alone(reply: str, format: FormatRecord) -> str | None:
    """Return the letter or the skip token if it is the whole reply."""
    text = answered(reply).strip()
    letters, token = _key(format)
    if len(text) > AROUND + len(token):  # a longer text cannot be only a letter or the token
        return None
    return _named(_patterns(letters, token)["alone"].fullmatch(text), format)


def mark(reply: str, format: FormatRecord) -> str | None:
    """Return the letter or the skip token in the last mark that only ever marks an answer."""
    return _last("mark", reply, format) if "###" in reply or "boxed" in reply else None


def said(reply: str, format: FormatRecord) -> str | None:
    """Return the letter or the skip token in the last sentence that names one answer."""
    return _last("said", reply, format)


def _last(name: str, reply: str, format: FormatRecord) -> str | None:
    """Return the letter or the token of the last match; by rules 2, not one that begins a list of several."""
    patterns, text = _patterns(*_key(format)), answered(reply)
    matches = list(patterns[name].finditer(text))
    if rules_of(format) > 1:
        matches = [match for match in matches if not patterns["more"].match(text, match.end(match.lastindex))]
    return _named(matches[-1], format) if matches else None


def option(reply: str, format: FormatRecord) -> str | None:
    """Return the letter if the reply is it and the text of its option, as the prompt shows them (rules 2)."""
    text = answered(reply).strip()
    return _of_option(text, format) if rules_of(format) > 1 and "\n" not in text else None


def _of_option(text: str, format: FormatRecord) -> str | None:
    """Return the letter of the option, if the text is a letter with the text of its option."""
    match = _patterns(*_key(format))["line"].fullmatch(text[:LONGEST])
    if not match or not match[2]:
        return None
    letter, following = match[1].upper(), _folded(match[2])
    return letter if following and following == _folded(_texts(format).get(letter, "")) else None


def _repeats_options(reply: str, format: FormatRecord) -> bool:
    """Return whether the end of the reply is a list of several options, which chooses none of them (rules 2)."""
    if rules_of(format) < 2:
        return False
    lines = [line.strip() for line in answered(reply).rstrip().rsplit("\n", 2)[-2:]]
    exact, inexact = ({read(line, format) for line in lines} for read in (_of_option, _listed))
    return any(len(letters) == 2 and None not in letters for letters in (exact, inexact))


def _listed(line: str, format: FormatRecord) -> str | None:
    """Return the letter that begins a line with more text, as in a list of options that is copied inexactly."""
    match = LISTED.match(line[:AROUND])
    return match[1] if match and match[1] in letters_of(format) else None


def _lists_letters(line: str, format: FormatRecord) -> bool:
    """Return whether the line lists several letters, as in `A, B, or C`, and so names none of them (rules 2)."""
    return rules_of(format) > 1 and _patterns(*_key(format))["several"].search(line) is not None


def line(reply: str, format: FormatRecord) -> str | None:
    """Return the letter at the start of the last line, if nothing follows it except the text of its option."""
    if _repeats_options(reply, format):
        return None
    match = _patterns(*_key(format))["line"].fullmatch(_last_line(reply))
    if not match:
        return None
    letter, following = match[1].upper(), _folded(match[2] or "")
    return letter if not following or following == _folded(_texts(format).get(letter, "")) else None


def text(reply: str, format: FormatRecord) -> str | None:
    """Return the letter of the only option whose text is the reply or its last line."""
    for folded in (_folded(answered(reply)), _folded(_last_line(reply))):
        folded = folded.removeprefix("answer: ")
        letters = [letter for letter, option in _texts(format).items() if folded and _folded(option) == folded]
        if len(letters) == 1:
            return letters[0]
    return None


def single(reply: str, format: FormatRecord) -> str | None:
    """Return the only letter that the last line marks, unless the line contains the text of another option."""
    last_line = _last_line(reply)
    if _repeats_options(reply, format) or _lists_letters(last_line, format):
        return None
    letters = {match[1] or match[2] or match[3] for match in _patterns(*_key(format))["single"].finditer(last_line)}
    other_texts = [_folded(option) for letter, option in _texts(format).items() if letter not in letters]
    is_clear = len(letters) == 1 and not any(option and option in _folded(last_line) for option in other_texts)
    return letters.pop() if is_clear else None


def _last_line(reply: str) -> str:
    text = answered(reply).rstrip()
    return text[text.rfind("\n") + 1 :].strip()[:LONGEST]


def _texts(format: FormatRecord) -> dict[str, str]:
    options = format.get("options")
    return dict(options) if isinstance(options, dict) else {}


def _folded(text: str) -> str:
    return " ".join(text[:LONGEST].casefold().split()).strip("*\"'` ").rstrip(". ")


def _named(match: Any, format: FormatRecord) -> str | None:
    """Return the letter or token of a match: the token unchanged, the letter in uppercase."""
    if not match:
        return None
    group = str(match[match.lastindex] if match.lastindex else "")
    return group if group == format.get("skip") else group.upper()


def _key(format: FormatRecord) -> tuple[str, str]:
    letters = "".join(letters_of(format))
    skip = format.get("skip") or ""
    return letters, "" if skip in letters else skip


@lru_cache(maxsize=64)
def _patterns(letters: str, token: str) -> dict[str, Any]:
    """Return the compiled RE2 patterns for these letters and this skip token."""
    import re2

    both = f"[{letters}{letters.lower()}]"
    word = f"({re2.escape(token)}|{both})" if token else f"({both})"
    large = f"({re2.escape(token)}|[{letters}])" if token else f"([{letters}])"
    opened, closed = r"(?:\*\*|__|`|\$)?[(\[]?(?:\*\*)?", r"(?:\*\*)?[)\]]?"
    marked = rf"{opened}{word}{closed}"
    end = r"(?:\*\*|__|`|\$)?[)\]]?(?:\s*\z|\s*\n|[.,;:!)](?:\s|\*|\z)|\*\*|\s+[-(])"
    begin = r"(?i:\banswer)(?:\*\*)?\s*(?:(?i:is)\s*:?|[:=])"
    option = r"(?:\*\*)?[ \t]*(?:(?i:option|choice)[ \t]+)?"
    sentence = rf"{begin}(?:\*\*)?\s*{option}{opened}{large}{closed}{end}"
    # A lowercase letter must end its line; otherwise it is a list marker, a word or an article.
    small = rf"{begin}[ \t]*{option}{marked}\.?(?:\*\*)?[ \t]*(?:\n|\z)"
    inside = r"(?:\\(?:text|textbf|mathrm|mathbf)\s*\{\s*)?(?:(?i:answer)\s*:\s*)?"
    # More letters after the first, up to the end of the sentence: `A, B`, `A, B, and C`. Not `B, A is wrong`.
    around = r"(?:\*\*|__|`|\$)?"
    joined = rf"\s*(?:[,;/&+]|\band\b|\bor\b)+\s*(?:and|or)?\s*{opened}[{letters}]{closed}{around}"
    more = rf"{closed}{around}(?:{joined})+(?:[.!]?\s*(?:\n|\z)|[.!]\s)"
    box = rf"\\boxed\s*\{{\s*{inside}[(]?{word}[).]?\s*\}}"
    return {
        "alone": compiled(rf"{marked}[.)]?(?:\*\*)?"),
        "mark": compiled(rf"###\s*\(?{word}\)?\s*###|{box}"),
        "said": compiled(rf"{sentence}|{small}"),
        "more": compiled(more),
        "several": compiled(rf"(?:\A|\W)[{letters}]{more}"),
        "line": compiled(rf"(?:(?i:option|choice)\s+)?[(\[*]*({both})(?:[)\]*.:]+\s*(.*)|\s*)"),
        "single": compiled(rf"\(([{letters}])\)|\*\*\(?([{letters}])\)?\.?\*\*|(?:^|\s)([{letters}])\.(?:\s|\z)"),
    }


STRICT = (("alone", alone), ("mark", mark), ("said", said))


class Letter(Format):
    """The letter of an option."""

    options = {
        "of": FormatOption(
            "alternatives",
            "The letters of the options. Leave it out if the template has `choices`, which give letters and texts.",
            required=True,
            example=["A", "B", "C", "D"],
        ),
        "options": FormatOption("mapping", "The texts of the options by letter.", in_specs=False),
    }
    chains = {
        "standard": (*STRICT, ("option", option)),
        "strict": STRICT,
        "lenient": (*STRICT, ("option", option), ("line", line), ("text", text), ("single", single)),
        "compat": COMPAT,
    }

    def faults(self, format: FormatRecord) -> list[str]:
        faults = super().faults(format)
        letters = format.get("options", format.get("of"))
        if not isinstance(letters, (dict, list)) or len(letters) < 2:
            fix = "add `choices` to the template, or letters to the format: `{kind: letter, of: [A, B, C, D]}`"
            return [*faults, f"the format letter needs the letters of the options; {fix}"]
        if not all(isinstance(one, str) and one in CAPITALS for one in letters) or len(set(letters)) < len(letters):
            faults.append("the letters of the format letter must be different uppercase letters from A to Z")
        if isinstance(letters, dict) and not all(isinstance(one, str) for one in letters.values()):
            faults.append("`options` of the format letter must map letters to texts")
        return faults

    def instruction(self, format: FormatRecord, answer_phrase: str) -> str:
        skip = format.get("skip")
        letters = [letter for letter in letters_of(format) if letter != skip]
        is_option = skip in letters_of(format)
        parts = [
            f'End your reply with a line of the form "{self.wrap("X", format)}", where X is the letter of your answer:'
            f" {', '.join(letters[:-1])} or {letters[-1]}.",
            f"To skip the question, choose {skip} instead." if is_option else "",
            "" if is_option else skip_sentence(f'the line "{self.wrap(str(skip), format)}"', format),
        ]
        return " ".join(filter(None, parts))

    def wrap(self, text: str, format: FormatRecord) -> str:
        return f"Answer: {text}"


CAPITALS = frozenset(ascii_uppercase)
LETTER = Letter()
