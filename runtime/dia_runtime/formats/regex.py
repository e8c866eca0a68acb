"""The answer in the group of a regular expression of your choice, in RE2 syntax.

| step | chains | what is found |
|---|---|---|
| `only` | all | the group, if the pattern matches exactly once |
| `last` | standard, lenient | the group of the last match |

The option `reply` is the form of a reply, with `{answer}` in place of the answer. Prompts show it, and built-in
respondents such as `oracle` reply in this form.
"""

from __future__ import annotations

from dia_runtime.formats.base import CHARACTERS, Format, FormatOption, FormatRecord, skip_sentence, text_fault
from dia_runtime.formats.patterns import compiled

PLACE = "{answer}"
LONGEST = 1_000
SAMPLES = ("1", "a")


def only(reply: str, format: FormatRecord) -> str | None:
    """Return the group of the only match."""
    group, is_only = _last(reply, format)
    return group if is_only else None


def last(reply: str, format: FormatRecord) -> str | None:
    """Return the group of the last match."""
    return _last(reply, format)[0]


def _last(reply: str, format: FormatRecord) -> tuple[str | None, bool]:
    count, group = 0, None
    for match in compiled(format["pattern"]).finditer(reply[:CHARACTERS]):
        if match[1] is not None:
            count, group = count + 1, match[1]
    return group, count == 1


class Regex(Format):
    """The answer in the group of a regular expression."""

    options = {
        "pattern": FormatOption(
            "text", "An RE2 pattern with one group, the answer.", required=True, example="(?m)^RESULT=(.*)$"
        ),
        "reply": FormatOption(
            "text",
            "How a reply looks, with {answer} in place of the answer: shown to models, and used by the baselines.",
            required=True,
            example="RESULT={answer}",
        ),
    }
    chains = {
        "standard": (("only", only), ("last", last)),
        "strict": (("only", only),),
        "lenient": (("only", only), ("last", last)),
    }

    def faults(self, format: FormatRecord) -> list[str]:
        faults = super().faults(format) + text_fault(format, "pattern") + text_fault(format, "reply")
        return faults or _pattern_faults(format["pattern"]) or self._reply_faults(format)

    def _reply_faults(self, format: FormatRecord) -> list[str]:
        if format["reply"].count(PLACE) != 1:
            return [f"`reply` of the format regex must contain `{PLACE}` exactly once, in place of the answer"]
        if not any(only(self.wrap(text, format), format) == text for text in SAMPLES):
            return [f"`pattern` of the format regex does not find the answer in `reply` (`{PLACE}` replaced)"]
        return []

    def instruction(self, format: FormatRecord, answer_phrase: str) -> str:
        parts = [
            f"Write your final answer once, in the form {self.wrap('ANSWER', format)}."
            f" Replace ANSWER with your answer: {answer_phrase}.",
            skip_sentence(self.wrap(str(format.get("skip")), format), format),
        ]
        return " ".join(filter(None, parts))

    def wrap(self, text: str, format: FormatRecord) -> str:
        return str(format["reply"].replace(PLACE, text))


def _pattern_faults(pattern: str) -> list[str]:
    if len(pattern) > LONGEST:
        return [f"`pattern` of the format regex is longer than {LONGEST:,} characters"]
    try:
        groups = compiled(pattern).groups
    except ValueError as error:
        return [f"`pattern` of the format regex is not RE2: {error}"]
    return [] if groups == 1 else [f"`pattern` of the format regex must have one group; it has {groups}"]


REGEX = Regex()
