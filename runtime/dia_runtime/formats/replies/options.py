"""Replies that choose among fixed texts: one label, one letter, several of them, or an order of all.

| format | chain | what is read |
|---|---|---|
| label, letter | standard, strict, lenient | like the answer formats label and letter |
| label | compat | like the published Self-Execution Benchmark: the value of `key` in the fence marked `json`, or in the text from the first `{` to the last `}`, or in any braces without others inside; otherwise the first label in quotes after `"key":` (`fence`, `braces`, `any`, `pair`) |
| letter | compat | the same, in either case; otherwise the first of the letters anywhere in the reply, even inside a word (`first`) |
| subset | strict | the reply, if it contains only options, one per line or separated by commas, in any case and with or without bullets, or only `none` (`options`) |
| subset | lenient | the same; otherwise the same on the last line (`line`), or in a JSON list (`json`) |
| ranking | strict | every label once, one per line, or separated by commas or semicolons (under rules 1 also by `>`, which does not say which end is first), on the last non-empty line or as the whole reply (`order`) |
| ranking | lenient | the same; otherwise a JSON list of the labels, alone or under `key` (`json`) |
| ranking | compat | like the published Self-Execution Benchmark: the list under `key` in any case, whatever it contains, or a text of labels with commas, with curly quotes as straight ones, in the fence marked `json`, or in the text from the first `{` to the last `}`, or in the first braces without others inside that have one (`fence`, `braces`, `any`) |

By default, `key` is `choice` for a label, `answer` for a letter and `ranking` for a ranking. A subset has the order of
its options.
"""  # noqa: E501 - a table

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar

from dia_language.numbers.values import Value

from dia_runtime.formats.base import CHARACTERS, Format, FormatOption, rules_of
from dia_runtime.formats.json_value import JSON
from dia_runtime.formats.label import LABEL
from dia_runtime.formats.letter import LETTER
from dia_runtime.formats.replies.base import Chains, Reading, ReplyFormat, ReplyRecord, by_fold, texts_fault
from dia_runtime.formats.replies.json_text import alone, braced, fenced, flat, marked
from dia_runtime.formats.replies.texts import BULLET

NONE = "none"
KEY = "The JSON key of the choice."
MOST_RANKED = 1_000


def _of_answer_format(form: Format, chain: str) -> tuple[tuple[str, Reading], ...]:
    """Return the steps of an answer format's chain, as steps of a reply format."""
    return tuple((name, _as_reading(form, step)) for name, step in form.chains[chain])


def _as_reading(form: Format, step: Any) -> Reading:
    def read(reply: str, format: ReplyRecord) -> Value | None:
        text: str | None = step(reply, {"kind": format["kind"], "of": format["of"], "rules": rules_of(format)})
        return text

    return read


def _under_key(step: Any, default: str, is_folded: bool = False) -> Reading:
    """Return a step of the published parser: the text under the key, if it is one of the labels."""

    def read(reply: str, format: ReplyRecord) -> Value | None:
        value = step(reply, {"kind": "json", "key": format.get("key", default)})
        text = None if value is None else value.strip().upper() if is_folded else value.strip()
        return text if text in format["of"] else None

    return read


def first_letter(reply: str, format: ReplyRecord) -> Value | None:
    """Return the first character anywhere in the reply that is one of the letters, in either case."""
    letters = {letter.upper() for letter in format["of"]}
    return next((char.upper() for char in reply[:CHARACTERS] if char.upper() in letters), None)


def _in_pair(default: str) -> Reading:
    """Return a step of the published parser: the first label in quotes after the quoted key."""

    def read(reply: str, format: ReplyRecord) -> Value | None:
        labels = "|".join(re.escape(label) for label in format["of"])
        match = re.search(rf'"{re.escape(format.get("key", default))}"\s*:\s*"({labels})"', reply[:CHARACTERS])
        return match[1] if match else None

    return read


def _published(default: str, is_folded: bool = False) -> tuple[tuple[str, Reading], ...]:
    steps = [(name, _under_key(step, default, is_folded)) for name, step in JSON.chains["compat"] if name != "pair"]
    return (*steps, ("pair", _in_pair(default)))


class Chosen(ReplyFormat):
    """One of fixed texts, extracted like the answer format with the same name."""

    options: ClassVar[Mapping[str, FormatOption]] = {
        "of": FormatOption("alternatives", "The texts to choose from.", required=True),
        "key": FormatOption("text", KEY),
    }
    form: ClassVar[Format]

    def faults(self, format: ReplyRecord) -> list[str]:
        faults, key = super().faults(format), format.get("key", "answer")
        faults += (
            [] if isinstance(key, str) and 0 < len(key) <= 100 else ["`key` must be a text of 1 to 100 characters"]
        )
        return faults + self.form.faults({name: value for name, value in format.items() if name in ("kind", "of")})

    def instruction(self, format: ReplyRecord) -> str:
        return self.form.instruction({"kind": format["kind"], "of": format["of"]}, "one of these")

    def write(self, value: Value, format: ReplyRecord) -> str:
        return self.form.wrap(str(value), format)


class Label(Chosen):
    """One of fixed labels."""

    form = LABEL
    chains: ClassVar[Chains] = {
        "standard": _of_answer_format(LABEL, "standard"),
        "strict": _of_answer_format(LABEL, "strict"),
        "lenient": _of_answer_format(LABEL, "lenient"),
        "compat": _published("choice"),
    }


class Letter(Chosen):
    """One of fixed letters."""

    form = LETTER
    chains: ClassVar[Chains] = {
        "strict": _of_answer_format(LETTER, "strict"),
        "lenient": _of_answer_format(LETTER, "lenient"),
        "compat": (*_published("answer", True), ("first", first_letter)),
    }


def subset_of(reply: str, format: ReplyRecord) -> Value | None:
    """Return the options if they are the whole reply; an empty list for `none`."""
    text = reply.strip()
    if len(text) > CHARACTERS or not text:
        return None
    if _bare(text).casefold() == NONE:
        return []
    by_line = [_bare(line) for line in text.splitlines() if line.strip()]
    options = _named_options(by_line, format)
    return options if options is not None else _named_options([_bare(part) for part in text.split(",")], format)


def subset_on_line(reply: str, format: ReplyRecord) -> Value | None:
    """Return the options if they are the last line."""
    text = reply[-CHARACTERS:].rstrip()
    return subset_of(text[text.rfind("\n") + 1 :].rpartition(":")[2], format)


def subset_in_json(reply: str, format: ReplyRecord) -> Value | None:
    """Return the options in a JSON list that is the whole reply, or in the only list of its object."""
    texts = _json_list(reply)
    return None if texts is None else [] if texts == [] else _named_options(texts, format)


def _json_list(reply: str, key: str | None = None) -> list[str] | None:
    """The texts of the JSON list that is the whole reply, or of the list in its object (by key, or the only one)."""
    parsed_value = alone(reply)
    parsed_value = next(
        (
            candidate
            for candidate in (parsed_value, fenced(reply), marked(reply), braced(reply))
            if candidate is not None
        ),
        None,
    )
    if isinstance(parsed_value, Mapping):
        lists = [value for name, value in parsed_value.items() if isinstance(value, list) and key in (None, name)]
        parsed_value = lists[0] if len(lists) == 1 else None
    return (
        parsed_value if isinstance(parsed_value, list) and all(isinstance(one, str) for one in parsed_value) else None
    )


def _named_options(texts: list[str], format: ReplyRecord) -> Value | None:
    """Return the named options, in the order of the format; None if anything else is named, or an option twice."""
    folded = [one.strip().casefold() for one in texts]
    options = by_fold(format["of"])
    if not folded or len(set(folded)) < len(folded) or not set(folded) <= options.keys():
        return None
    return [name for key, name in options.items() if key in set(folded)]


def _bare(text: str) -> str:
    """Return the text without surrounding bullet, quotes, asterisks and full stop."""
    return BULLET.sub("", text, count=1).strip().strip("*\"'`[]").rstrip(".").strip()


class Subset(ReplyFormat):
    """Some of fixed options."""

    options = {"of": FormatOption("texts", "The options.", required=True)}
    chains = {
        "strict": (("options", subset_of),),
        "lenient": (("options", subset_of), ("line", subset_on_line), ("json", subset_in_json)),
    }

    def faults(self, format: ReplyRecord) -> list[str]:
        faults = super().faults(format) + texts_fault(format, "of", 1)
        if not faults and any(_bare(one) != one or "," in one or one.casefold() == NONE for one in format["of"]):
            faults = ["an option of the format subset must not be `none` or contain a comma, outer quotes or a bullet"]
        return faults

    def instruction(self, format: ReplyRecord) -> str:
        return (
            "Reply with the options that apply, separated by commas, and nothing else. "
            f'If none applies, reply "{NONE}". The options are: {", ".join(format["of"])}.'
        )

    def write(self, value: Value, format: ReplyRecord) -> str:
        return ", ".join(value) if value else NONE


STRAIGHT = str.maketrans({"\u201c": '"', "\u201d": '"', "\u2018": "'", "\u2019": "'"})  # quotes, as the study has them
SEPARATORS = re.compile(r"[,>;]|\n")
PLAIN_SEPARATORS = re.compile(r"[,;]|\n")


def order(reply: str, format: ReplyRecord) -> Value | None:
    """Return the labels in the order of the reply or its last line, if it names each of them once."""
    text = reply[-CHARACTERS:].strip()
    separators = SEPARATORS if rules_of(format) < 2 else PLAIN_SEPARATORS
    for part in (text, text[text.rfind("\n") + 1 :]):
        labels = _permutation([_bare(one) for one in separators.split(part.strip("[] \t\n")) if one.strip()], format)
        if labels is not None:
            return labels
    return None


def _permutation(texts: list[str], format: ReplyRecord) -> Value | None:
    labels = by_fold(format["of"])
    folded = [one.casefold() for one in texts]
    return [labels[one] for one in folded] if len(folded) == len(labels) and set(folded) == labels.keys() else None


def order_in_json(reply: str, format: ReplyRecord) -> Value | None:
    """Return the labels in the order of a JSON list, alone or under the key."""
    texts = _json_list(reply, _key(format))
    return None if texts is None else _permutation(texts, format)


def _key(format: ReplyRecord) -> str:
    return str(format.get("key", "ranking"))


def _listed(find: Callable[[str], Iterable[Any]]) -> Reading:
    """Return a step of the published parser: the list under the key, with any texts."""

    def read(reply: str, format: ReplyRecord) -> Value | None:
        key = _key(format).lower()
        for value in find(reply.translate(STRAIGHT)):
            entries = value.items() if isinstance(value, Mapping) else ()
            texts = next((content for name, content in entries if name.lower() == key), None)
            if isinstance(texts, str):
                texts = [one.strip() for one in texts.split(",") if one.strip()]
            if isinstance(texts, list) and 0 < len(texts) <= MOST_RANKED:
                return [one if isinstance(one, str) else str(one) for one in texts]
        return None

    return read


def _once(find: Callable[[str], Any]) -> Callable[[str], Iterable[Any]]:
    return lambda reply: [find(reply)]


class Ranking(ReplyFormat):
    """All labels in an order."""

    options: ClassVar[Mapping[str, FormatOption]] = {
        "of": FormatOption("alternatives", "The labels to put in order.", required=True),
        "key": FormatOption("text", KEY, default="ranking"),
    }
    chains: ClassVar[Chains] = {
        "strict": (("order", order),),
        "lenient": (("order", order), ("json", order_in_json)),
        "compat": (("fence", _listed(_once(marked))), ("braces", _listed(_once(braced))), ("any", _listed(flat))),
    }

    def faults(self, format: ReplyRecord) -> list[str]:
        faults, key = super().faults(format) + texts_fault(format, "of", 2), format.get("key", "ranking")
        if not faults and any(SEPARATORS.search(one) or _bare(one) != one for one in format["of"]):
            faults = ["a label of the format ranking must not contain a comma, semicolon, `>`, quotes or bullet"]
        return faults + ([] if isinstance(key, str) and 0 < len(key) <= 100 else ["`key` must be a text"])

    def instruction(self, format: ReplyRecord) -> str:
        return (
            f"End your reply with one line that lists all of these in your order, separated by commas: "
            f"{', '.join(format['of'])}."
        )

    def write(self, value: Value, format: ReplyRecord) -> str:
        return ", ".join(value)


LABEL_REPLY, LETTER_REPLY, SUBSET, RANKING = Label(), Letter(), Subset(), Ranking()
