r"""The evaluate-idk study published two versions of its rules for finding letters in replies. If no option has a letter
beyond E, the chain compat follows the first version, otherwise the second, which was published on 2025-12-17.

Closed `<think>...</think>` blocks are removed first. Then these steps are tried in order, and the first that finds a
letter decides:

| step | the letter B is found in |
|---|---|
| `final-is-hope` | `final answer is B. I hope` |
| `final-is` | `final answer ... is B`, where `...` is up to 100 characters of the same line |
| `answer-colon` | `answer: ... B`, where `...` is up to 50 characters of the same line, and B is a word |
| `answer-near` | `answer ... B`, in the same way |
| `text-start` | `B` as a word at the start of the reply |
| `line-start` | `B` as a word at the start of a line |
| `hash` | `###B###` |
| `boxed` | `\boxed{B}`; if there is none, `\boxed{\text{B}}`, then `\boxed{\mathrm{B}}`, then `boxed(B)`, then `boxed{B}` |
| `answer-letter` | `answer B`, `answer: B` or `answer-B` |
| `option-tail` | `option B` in the last 200 characters of the reply; if there is none, `choice B` |

| | steps up to `line-start` | steps from `hash` on |
|---|---|---|
| letters | A to E | A to E in the first version, A to K in the second |
| case | only uppercase | upper or lower case (the step `hash` of the first version: only uppercase) |
| if a step finds several | the last counts | the first counts (in the step `hash`: the last) |

A letter is a word if it comes after a space or at the start of a line, and before a full stop, a comma, a colon, a
space or the end of the reply. It may be written `(B)` or `**B**`.
"""  # noqa: E501 - a table

from __future__ import annotations

from collections.abc import Callable

from dia_runtime.formats.base import FormatRecord, Step
from dia_runtime.formats.patterns import compiled

CHARACTERS, TAIL = 300_000, 200
# Whitespace as Python defines it for text; RE2's \s is only ASCII.
SPACE = r"[\s\v\x{1c}-\x{1f}\x{85}\p{Z}]"
ONE = r"(?:\(([A-E])\)|([A-E]))"
END = rf"(?:{SPACE}?[.,:]| |\n?\z)"
WORD = rf"(?:\*\*)?{ONE}(?:\*\*)?{END}"
FIRST_TIER = {
    "final-is-hope": rf"(?i:final answer is):?{SPACE}*{ONE}\.?{SPACE}*I hope",
    "final-is": rf"(?i:final answer).{{0,100}}?{SPACE}+is:?{SPACE}*{ONE}",
    "answer-colon": rf"(?i:answer){SPACE}?:.{{0,50}}?(?: |\A){WORD}",
    "answer-near": rf"(?i:answer).{{0,50}}?(?: |\A){WORD}",
    "text-start": rf"\A{WORD}",
    "line-start": rf"\n{WORD}",
}
BOXES = (
    r"\\boxed\{([%s])\}",
    r"\\boxed\{\\text\{([%s])\}\}",
    r"\\boxed\{\\math(?:rm|bf)\{([%s])\}\}",
    r"boxed\(([%s])\)",
    r"boxed\{([%s])\}",
)


def without_thoughts(reply: str, most: int = CHARACTERS) -> str:
    """Return the first characters of the reply, without closed <think> blocks."""
    if "<think>" not in reply:
        return reply[:most]
    text, parts, place = reply[:most], [], 0
    while (start := text.find("<think>", place)) >= 0 and (end := text.find("</think>", start)) >= 0:
        parts.append(text[place:start])
        place = end + len("</think>")
    return "".join((*parts, text[place:]))


def _tier_one(name: str) -> Step:
    def step(reply: str, format: FormatRecord) -> str | None:
        letter, end = None, -1
        for match in compiled(FIRST_TIER[name]).finditer(without_thoughts(reply)):
            if match.end() > end:
                letter, end = match[1] or match[2], match.end()
        return letter

    return name, step


def hash_mark(reply: str, format: FormatRecord) -> str | None:
    """Return the last letter between ### marks."""
    letters = _letters(format)
    case = "" if letters == "A-E" else "(?i)"
    matches = list(compiled(rf"{case}###([{letters}])###").finditer(without_thoughts(reply)))
    return matches[-1][1].upper() if matches else None


def boxed(reply: str, format: FormatRecord) -> str | None:
    """Return the first letter in a box, from the first kind of box that occurs."""
    text = without_thoughts(reply)
    return _first([f"(?i){pattern % _letters(format)}" for pattern in BOXES], text)


def answer_letter(reply: str, format: FormatRecord) -> str | None:
    """Return the first letter after the word answer."""
    pattern = rf"(?i)answer{SPACE}*[:-]?{SPACE}*\(?([{_letters(format)}])\b"
    return _first([pattern], without_thoughts(reply))


def option_tail(reply: str, format: FormatRecord) -> str | None:
    """Return the letter after option or choice near the end."""
    letters = _letters(format)
    patterns = [rf"(?i){word}{SPACE}+([{letters}])\b" for word in ("option", "choice")]
    return _first(patterns, without_thoughts(reply)[-TAIL:])


def _first(patterns: list[str], text: str) -> str | None:
    for pattern in patterns:
        match = compiled(pattern).search(text)
        if match:
            return str(match[1]).upper()
    return None


def _letters(format: FormatRecord) -> str:
    last = max(format.get("options", format.get("of", ())), default="E")
    return "A-E" if last <= "E" else "A-K"


LATER: dict[str, Callable[[str, FormatRecord], str | None]] = {
    "hash": hash_mark,
    "boxed": boxed,
    "answer-letter": answer_letter,
    "option-tail": option_tail,
}
CHAIN: tuple[Step, ...] = (*map(_tier_one, FIRST_TIER), *LATER.items())
