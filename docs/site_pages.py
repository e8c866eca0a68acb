"""Pages of the site that are generated while it is built: one for each function and for each error code."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import generate
from dia_language.error_codes import CODES, GROUPS
from dia_language.functions import FUNCTIONS, Function, library

ROOT = Path(__file__).resolve().parents[1]
GOLDEN = ROOT / "tests" / "golden"
ROOT_PAGES = {"README.md": "readme.md", "CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md"}
FENCES = re.compile(r"^(```|~~~).*?^\1[^\S\n]*$|`[^`\n]+`", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
NAME_OF_BLOCK = re.compile(r'^`([^`\n]+)`:\n\n(?=```\w+ title="\1"$)', re.MULTILINE)
EXIT = re.compile(r"^(```\w+[^\n]*?) exit=\d+", re.MULTILINE)
ROW = re.compile(r"^\|.*\|$", re.MULTILINE)
INLINE_CODE = re.compile(r"`[^`\n]+`")
REPORTED = re.compile(r"^\S[^\n]*: (?:error|warning)\[([\w-]+)\]: [^\n]*\n(?:[ \t]+[^\n]*\n)*", re.MULTILINE)
LONGEST_EXAMPLE = 700


def function_pages() -> dict[str, str]:
    """Return the text of each function's page, and of their index, by path."""
    fields: dict[str, list[Function]] = {}
    for name in sorted(FUNCTIONS):
        fields.setdefault(library()[name].module, []).append(library()[name])
    pages = {f"functions/{item.name}.md": _function_page(item, peers) for peers in fields.values() for item in peers}
    return {"functions/index.md": _function_index(fields)} | pages


def _function_page(item: Function, peers: list[Function]) -> str:
    heading, *parts = generate._function(item).split("\n\n")
    text = "\n\n".join(_with_function_links(part, item.name) for part in parts)
    others = ", ".join(f"[{one.name}]({one.name}.md)" for one in peers if one is not item)
    return generate.page([
        heading.replace("### ", "# "),
        f"*A function of the group [{item.module}](index.md#{item.module}).*",
        text,
        f"## More in {item.module}" if others else "",
        others,
        "[All functions on one page](../reference/functions.md) · "
        "[expressions in specs](../reference/language.md#expressions)",
    ])  # fmt: skip


def _with_function_links(text: str, own: str) -> str:
    """Link the functions that a docstring names in backticks, outside code blocks and signatures."""
    if text.startswith(("```", "`", "Arguments:")):
        return text
    return re.sub(
        r"(?<!\[)`(\w+)`(?!\])",
        lambda match: f"[`{match[1]}`]({match[1]}.md)" if match[1] in FUNCTIONS and match[1] != own else match[0],
        text,
    )


def _function_index(fields: dict[str, list[Function]]) -> str:
    parts = [
        "# Functions by group",
        f"{len(FUNCTIONS)} functions that specs can call. Each name links to its page; "
        "[one page](../reference/functions.md) has them all.",
    ]
    for field, items in sorted(fields.items()):
        rows = [(f"[{item.name}]({item.name}.md)", first_sentence(generate.literal(item.text))) for item in items]
        parts += [f"## {field}", generate.table(("function", "returns"), rows)]
    return generate.page(parts)


def first_sentence(text: str) -> str:
    """Return the text up to its first full stop, on one line."""
    flat = " ".join(text.split())
    return re.split(r"(?<=[^.\s][.:])\s", flat, maxsplit=1)[0].rstrip(":")


def error_pages() -> dict[str, str]:
    """Return the text of each error code's page, and of their index, by path."""
    examples = reported_examples()
    pages = {
        f"errors/{code}.md": _error_page(code, title, meaning, examples.get(code, ""))
        for code, (title, meaning) in CODES.items()
    }
    return {"errors/index.md": _error_index()} | pages


def _group_of(code: str) -> str:
    return next(title for group, title in GROUPS.items() if code.startswith(group))


def _error_page(code: str, title: str, meaning: str, example: str) -> str:
    return generate.page([
        f"# {code}: {title}",
        generate.sentence(meaning),
        f"For example:\n\n```text\n{example}```" if example else "",
        f"*Group: {_group_of(code)}.* [All error codes](index.md) · "
        "[Read the output of dia check](../howto/read-a-check.md)",
    ])  # fmt: skip


def _error_index() -> str:
    parts = [
        "# Error codes by group",
        "A code keeps its meaning in every later version. Each code has a page.",
    ]
    for group, title in GROUPS.items():
        rows = [(f"[{code}]({code}.md)", words) for code, (words, _) in CODES.items() if code.startswith(group)]
        if rows:
            parts += [f"## {title}", generate.table(("code", "error"), rows)]
    return generate.page(parts)


@cache
def reported_examples() -> dict[str, str]:
    """Return one real message for each code, taken from what the tests expect on the screen.

    The shortest message that suggests a fix is chosen.
    """
    found: dict[str, list[str]] = {}
    for path in sorted(GOLDEN.glob("*/stderr")):
        for match in REPORTED.finditer(path.read_text(encoding="utf-8")):
            if len(match[0]) <= LONGEST_EXAMPLE:
                found.setdefault(match[1], []).append(match[0])
    return {code: min(texts, key=lambda text: ("help:" not in text, len(text), text)) for code, texts in found.items()}


def root_pages() -> dict[str, str]:
    """Return README, CHANGELOG and CONTRIBUTING as pages of the site, by path."""
    return {page: (ROOT / name).read_text(encoding="utf-8") for name, page in ROOT_PAGES.items()}


def for_site(text: str, page: str, keep_file: Callable[[str], None]) -> str:
    """Return the Markdown of a page with links and code fences as the site needs them.

    `page` is the page's path below docs/. Links to files outside docs/ lead to copies below `files/`, and `keep_file`
    is called with the path of each such file in the repository. Links to folders outside docs/ become plain text. Lines
    that only name the file of the next block are left out, because the site shows the title of the block.
    """
    source = {value: key for key, value in ROOT_PAGES.items()}.get(page)
    folder = "" if source else posixpath.join("docs", posixpath.dirname(page))

    def with_target(match: re.Match[str]) -> str:
        mark, words, target = match[1], match[2], match[3]
        if re.match(r"[a-z]+:|#", target):
            return match[0]
        path, hash_mark, anchor = target.partition("#")
        path = posixpath.normpath(posixpath.join(folder, path))
        if path.startswith("../"):  # generated pages have links to pages of the site only
            return match[0]
        if path in ROOT_PAGES:
            path = ROOT_PAGES[path]
        elif path.startswith("docs/"):
            path = path.removeprefix("docs/")
        elif (ROOT / path).is_file():
            keep_file(path)
            path = f"files/{path}"
        else:
            return words
        return f"{mark}[{words}]({posixpath.relpath(path, posixpath.dirname(page) or '.')}{hash_mark}{anchor})"

    text = NAME_OF_BLOCK.sub("", text)
    parts = _parts(EXIT.sub(r"\1", text))
    text = "".join(part if is_code else LINK.sub(with_target, _with_bars(part)) for is_code, part in parts)
    return _with_code_links(text) if page == "reference/error-codes.md" else text


def _parts(text: str) -> Iterator[tuple[bool, str]]:
    """Yield the text in pieces, each with whether it is a code block. Inline code stays with the text around it."""
    end = 0
    for match in FENCES.finditer(text):
        if match[1]:
            yield False, text[end : match.start()]
            yield True, match[0]
            end = match.end()
    yield False, text[end:]


def _with_bars(text: str) -> str:
    r"""Return the text with `\|` in the code of tables as `|`: GitHub needs the backslash, the site would show it."""
    return ROW.sub(lambda row: INLINE_CODE.sub(lambda code: code[0].replace("\\|", "|"), row[0]), text)


def _with_code_links(text: str) -> str:
    return re.sub(r"^\| (E\d+) \|", r"| [\1](../errors/\1.md) |", text, flags=re.MULTILINE)
