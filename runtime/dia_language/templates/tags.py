"""The tags of a template with their offsets, and their errors, because Jinja only reports lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from dia_language.diagnostics import did_you_mean
from jinja2.exceptions import TemplateSyntaxError

if TYPE_CHECKING:
    from jinja2 import Environment

AS_TEXT = "write literal braces as {{ '{{' }}, or put them between {% raw %} and {% endraw %}"
OPERATORS = frozenset({"and", "or", "not", "in", "is", "if", "else"})  # of Jinja, which look like names
VALUES = frozenset({"name", "string", "integer", "float"})
TAGS = ("if", "elif", "else", "endif", "for", "endfor", "raw", "endraw")
MOST_FAULTS = 20  # reported errors of one template
TAG_LIST = f"the tags are {', '.join(TAGS)}"
RAW_END = re.compile(r"\{%[-+]?\s*endraw\s*[-+]?%\}")
TAG_BEGIN = re.compile(r"\{\{[-+]?\s*|\{%[-+]?\s*(\w*)")
# a block tag, and what completes it to a template
FRAMES = {"if": "{}{{% endif %}}", "for": "{}{{% endfor %}}", "elif": "{{% if 1 %}}{}{{% endif %}}"}
# the open blocks in which a tag may occur
CONTINUES = {"endif": ("if",), "endfor": ("for",), "elif": ("if",), "else": ("if", "for")}
ENDINGS = frozenset({"elif", "else", "endif", "endfor"})
# Tags of other template languages, or of Jinja, and what replaces them
OTHER_TAGS = {
    "elseif": "did you mean `elif`?", "elsif": "did you mean `elif`?", "set": "compute it under `let`",
    "macro": "declare it under `macros`",
}  # fmt: skip
WORD = re.compile(r"[a-z]+\b")
EQUALS = re.compile(r"(?<![=!<>])=(?!=)")
PLAIN_END = re.compile(r"[^'\"{}]*\}\}")  # of most tags, which saves going character by character
QUOTED = re.compile(r"""(['"])(?:\\.|(?!\1).)*\1""", re.DOTALL)
# Jinja's words, with ours and the fix; the first that occurs in the problem decides
SYNTAX_WORDS: tuple[tuple[str, str, str], ...] = (
    ("unexpected end of template", "the braces are not closed", AS_TEXT),
    ("got 'end of print statement'", "there is nothing between the braces", AS_TEXT),
    ("'end of print statement'", "the expression ends too early, or the braces are meant as text", AS_TEXT),
    ("'end of statement block'", "the tag ends too early, or contains too much", "for example {% if n > 1 %}"),
    ("unexpected char", "a character that expressions cannot contain, or an unclosed quote", AS_TEXT),
    ("tag name expected", "a tag without a name", TAG_LIST),
)


class Tag(NamedTuple):
    """A tag outside of raw blocks: `word` names a block tag and is None for `{{`; `end` is None if it is not closed."""

    begin: int
    content: int
    end: int | None
    word: str | None


class Fault(NamedTuple):
    """An error of a tag: its offset in the template, the message, and the fix."""

    offset: int
    message: str
    help: str | None


class Faults(NamedTuple):
    """The errors of a template's tags, and the template without these tags, if the other tags can then be read."""

    faults: list[Fault]
    remaining: str | None


def tags_of(text: str) -> list[Tag]:
    """Return the tags of a template in order."""
    tags, at, unclosed = [], 0, 0
    while (match := TAG_BEGIN.search(text, at)) and unclosed < MOST_FAULTS:
        word = match[1]
        end = end_of_block_tag(text, match.end()) if word is not None else _end_of_print_tag(text, match.end())
        tags.append(Tag(match.start(), match.start(1) if word else match.end(), end, word))
        following = text.find("{%", match.end()) if end is None and word is not None else -1
        if end is None and word is not None and (following < 0 or not word):  # its content is text
            break
        unclosed += end is None
        at = end or (following if following > 0 else match.start() + 2)
        if word == "raw" and end is not None:
            raw_end = RAW_END.search(text, at)
            at = raw_end.end() if raw_end else len(text)
    return tags


def end_of_block_tag(text: str, at: int) -> int | None:
    """Return the offset after the `%}` that ends a tag, ignoring quoted text; None if there is none before a `{%`."""
    while at < len(text):
        if text.startswith("%}", at):
            return at + 2
        if text.startswith("{%", at):
            return None
        if text[at] in "'\"":
            quoted = QUOTED.match(text, at)
            if quoted is None:
                return None
            at = quoted.end()
        else:
            at += 1
    return None


def _end_of_print_tag(text: str, at: int) -> int | None:
    """Return the offset after the `}}` that closes a tag, ignoring quoted text and inner braces.

    None if a single `}` or the end of the text comes first.
    """
    plain_end = PLAIN_END.match(text, at)
    if plain_end is not None:
        return plain_end.end()
    depth = 0
    while at < len(text):
        sign = text[at]
        if sign in "'\"":
            quoted = QUOTED.match(text, at)
            if quoted is None:
                return len(text)  # an unclosed quote is a separate error
            at = quoted.end() - 1
        elif sign == "{":
            depth += 1
        elif sign == "}":
            if not depth:
                return at + 2 if text.startswith("}}", at) else None
            depth -= 1
        at += 1
    return None


def faults_of(text: str, environment: Environment) -> Faults:
    """Return the error of each tag of a template that Jinja cannot parse."""
    faults: list[Fault] = []
    dropped: list[Tag] = []
    blocks: list[Tag] = []
    unknown: set[str | None] = set()
    is_readable = True
    for tag in tags_of(text):
        if tag.word and tag.word.removeprefix("end") in unknown:  # the end of a block that has already been reported
            continue
        fault = _fault_in(text, tag, environment)
        if tag.word and tag.word not in TAGS:
            unknown.add(tag.word)
            closing = f"end{blocks[-1].word}" if blocks else ""
            is_meant = closing and did_you_mean(tag.word, [closing])
            if fault is not None and closing and (is_meant or tag.word.startswith("end")):
                fault = fault._replace(help=is_meant or f"close the block with {{% {closing} %}}")
                blocks.pop()
        if tag.word in ("if", "for"):
            blocks.append(tag)
        elif fault is None and tag.word:
            fault = _out_of_place(tag, blocks)
            if fault is None and tag.word.startswith("end"):
                blocks.pop()
        if fault is not None:
            faults.append(fault)
            dropped.append(tag)
            is_readable &= tag.word in (None, "else", "elif", "endif", "endfor", "endraw")
        if len(faults) == MOST_FAULTS:
            return Faults(faults, None)
    for block in (block for block in blocks if block not in dropped):
        help = f"close it with {{% end{block.word} %}}"
        faults.append(Fault(block.content, f"the block `{block.word}` is not closed", help))
    if not is_readable:  # without the start of its block, a loop variable would be reported as unknown
        return Faults(sorted(faults), None)
    remaining = text
    for tag in dropped:
        end = tag.begin + 2 if tag.end is None else tag.end
        remaining = remaining[: tag.begin] + re.sub(r"[^\n]", " ", remaining[tag.begin : end]) + remaining[end:]
    return Faults(sorted(faults), remaining + "".join(f"{{% end{block.word} %}}" for block in reversed(blocks)))


def _out_of_place(tag: Tag, blocks: list[Tag]) -> Fault | None:
    """Return the error of a tag that continues or ends a block other than the open one."""
    open_word = blocks[-1].word if blocks else None
    if tag.word == "raw" or open_word in CONTINUES.get(tag.word or "", ()):
        return None
    help = f"close the block with {{% end{open_word} %}}" if open_word else "no block is open here"
    return Fault(tag.content, f"the tag `{tag.word}` is not allowed here", help)


def _fault_in(text: str, tag: Tag, environment: Environment) -> Fault | None:
    """Return the error of a single tag."""
    if tag.word is None:
        if tag.end is None:
            message = "`{{` is not closed: it needs two braces, `}}`"
            return Fault(tag.begin, message, f"close it with }}}}; or {AS_TEXT}")
        return _fault_within(text[tag.begin : tag.end], tag, environment)
    if not tag.word:
        return Fault(tag.begin, "a tag without a name", TAG_LIST)
    if tag.end is None:
        return Fault(tag.begin, "`{%` is not closed: it needs `%}`", "close it with %}")
    if tag.word == "raw":
        is_closed = RAW_END.search(text, tag.end) is not None
        return None if is_closed else Fault(tag.content, "the block `raw` is not closed", "close it with {% endraw %}")
    if tag.word not in TAGS:
        help = OTHER_TAGS.get(tag.word) or did_you_mean(tag.word, TAGS) or TAG_LIST
        return Fault(tag.content, f"the tag `{tag.word}` is not allowed here", help)
    if tag.word not in FRAMES:
        return None
    return _problem(FRAMES[tag.word].format(text[tag.begin : tag.end]), tag.content, environment)


def _fault_within(source: str, tag: Tag, environment: Environment) -> Fault | None:
    """Return the error of a closed `{{ ... }}`; None if it can be parsed."""
    problem = _problem(source, tag.content, environment)
    first = WORD.match(source[2:].lstrip("-+ \n"))
    word = first[0] if first else ""
    if word in TAGS and (problem is not None or word in ENDINGS):
        more = " ..." if word in FRAMES else ""
        return Fault(tag.content, f"`{word}` is a tag", f"write {{% {word}{more} %}}")
    if problem is None:
        return None
    return _missing_operator(source, tag, environment) or _unclosed_bracket(source, tag) or problem


def _problem(source: str, offset: int, environment: Environment) -> Fault | None:
    """Return Jinja's error about a template in our words, and the fix."""
    try:
        environment.parse(source)
    except TemplateSyntaxError as error:
        if EQUALS.search(QUOTED.sub("", source)) and "'='" in str(error.message):
            return Fault(offset, "`=` is not part of an expression", "use `==` to compare")
        if "unexpected char" in str(error.message) and re.search(r"['\"]", QUOTED.sub("", source)):
            return Fault(offset, "a quote is not closed", "close the quote")
        for words, message, help in SYNTAX_WORDS:
            if words in str(error.message):
                return Fault(offset, message, help)
        return Fault(offset, "the tag cannot be parsed", AS_TEXT)
    except RecursionError:
        return Fault(offset, "the expression is nested too deeply", "compute it under `let`")
    return None


def _unclosed_bracket(source: str, tag: Tag) -> Fault | None:
    """Return the first bracket of a tag that has no partner."""
    opened: list[tuple[int, str]] = []
    at = 2
    while at < len(source) - 2:
        sign = source[at]
        if sign in "'\"":
            quoted = QUOTED.match(source, at)
            if quoted is None:
                return None
            at = quoted.end() - 1
        elif sign in "([{":
            opened.append((at, sign))
        elif sign in ")]}" and (not opened or opened.pop()[1] + sign not in ("()", "[]", "{}")):
            return Fault(tag.begin + at, f"nothing opens the `{sign}`", "remove it, or add the opening bracket")
        at += 1
    if not opened:
        return None
    return Fault(tag.begin + opened[-1][0], f"the `{opened[-1][1]}` is not closed", "add the closing bracket")


def _missing_operator(source: str, tag: Tag, environment: Environment) -> Fault | None:
    previous = ""
    for offset, kind, token in _tokens(source, environment):
        is_value = kind in VALUES and token not in OPERATORS
        if is_value and previous and "for" in (previous, token):
            message = "list comprehensions are not allowed in {{ }} and {% %}"
            return Fault(tag.begin + offset, message, "build it under `let`, and print its name here")
        if is_value and previous:
            names = f"{{{{ {previous} }}}} {{{{ {token} }}}}"
            help = f"write {names} to print both, or compute the value under `let`"
            return Fault(tag.begin + offset, f"there is no operator between `{previous}` and `{token}`", help)
        previous = token if is_value else ""
    return None


def _tokens(source: str, environment: Environment) -> Iterator[tuple[int, str, str]]:
    offset = 0
    try:
        for _, kind, token in environment.lex(source):
            if kind != "whitespace":
                yield offset, kind, token
            offset += len(token)
    except TemplateSyntaxError:  # a character that expressions cannot contain
        return
