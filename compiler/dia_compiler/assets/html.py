"""Whole pages of HTML: a head with title, styles and metadata around the body from the spec."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape
from typing import Any

from dia_compiler.assets.base import Builder, OptionFault, Site, data, template

LANGUAGE = re.compile(r"[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8})*")
# Tags that the builder writes itself, each once.
FRAME = re.compile(r"<(?:!doctype|/?(?:html|head|body))[\s/>]", re.IGNORECASE)
# What would end a style or script early, or hide its end: HTML, sections 4.2.6 and 4.12.1.3.
ENDS = {"styles": re.compile(r"</style", re.IGNORECASE), "scripts": re.compile(r"</script|<!--|<script", re.IGNORECASE)}


class Html(Builder):
    summary = "a complete, valid HTML page"
    options = {
        "title": data("the page's title", required=True),
        "body": template("the HTML inside the body", required=True),
        "language": data("the language of its text (default en)"),
        "meta": data("a mapping from the name of a meta element to its content"),
        "styles": template("a style sheet, or a list of them"),
        "scripts": template("a script, or a list of them, at the end of the body"),
    }
    extension = "html"
    media_type = "text/html; charset=utf-8"
    is_text = True

    def validate(self, options: Mapping[str, Any]) -> None:
        _check_title(options.get("title", "page"))
        _check_body(options.get("body", ""))
        _check_metadata(options)
        for name, end in ENDS.items():
            if any(end.search(part) for part in _parts(options, name)):
                raise OptionFault(name, f"the text of `{name}` would close its element", "write its < as an escape")

    def build(self, options: Mapping[str, Any], site: Site) -> str:
        """Return the page, each of its parts on separate lines."""
        lines = [
            "<!DOCTYPE html>",
            f'<html lang="{options.get("language", "en")}">',
            "<head>",
            '<meta charset="utf-8">',
        ]
        lines += [
            f'<meta name="{escape(str(name))}" content="{escape(str(content))}">'
            for name, content in options.get("meta", {}).items()
        ]
        lines += [f"<title>{escape(str(options['title']), quote=False)}</title>"]
        lines += [f"<style>\n{style}\n</style>" for style in _parts(options, "styles")]
        lines += ["</head>", "<body>", options["body"].strip("\n")]
        lines += [f"<script>\n{script}\n</script>" for script in _parts(options, "scripts")]
        return "\n".join([*lines, "</body>", "</html>"])


def _check_title(title: Any) -> None:
    if not isinstance(title, (str, int)) or isinstance(title, bool) or not str(title).strip():
        raise OptionFault("title", "`title` must be non-empty text")


def _check_body(body: Any) -> None:
    if not isinstance(body, str):
        raise OptionFault("body", "`body` must be text")
    if tag := FRAME.search(body):
        raise OptionFault("body", f"`body` contains `{tag[0].rstrip()}`, which the page already has", "remove it")


def _check_metadata(options: Mapping[str, Any]) -> None:
    language, meta = options.get("language", "en"), options.get("meta", {})
    if not isinstance(language, str) or not LANGUAGE.fullmatch(language):
        raise OptionFault("language", "`language` must be a language tag", "such as en or pt-BR")
    if not isinstance(meta, Mapping) or not all(isinstance(part, (str, int)) for pair in meta.items() for part in pair):
        raise OptionFault("meta", "`meta` must map names to texts or integers")


def _parts(options: Mapping[str, Any], name: str) -> list[str]:
    """Return the texts of an option that is one text or a list of them, without newlines at their ends."""
    value = options.get(name, [])
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise OptionFault(name, f"`{name}` must be text or a list of texts")
    return [text.strip("\n") for text in texts if text.strip()]
