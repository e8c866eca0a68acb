"""Plain text rendered from a template, such as a log, source code or a page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dia_compiler.assets.base import FILE_NAME, Builder, OptionFault, Site, template


class Text(Builder):
    summary = "plain text, such as a log, source code or a page"
    options = {"text": template("the text", required=True), "file_name": FILE_NAME}
    extension = "txt"
    media_type = "text/plain; charset=utf-8"
    is_text = True

    def validate(self, options: Mapping[str, Any]) -> None:
        if not isinstance(options.get("text", ""), str):
            raise OptionFault("text", "`text` must be text")

    def build(self, options: Mapping[str, Any], site: Site) -> str:
        text: str = options["text"]
        return text
