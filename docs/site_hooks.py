"""Hooks of MkDocs: add the generated pages, adapt links and code blocks of the checked-in pages to the site."""

from __future__ import annotations

from typing import Any

import site_gallery
import site_pages
from mkdocs.structure.files import File, Files

GALLERY = "gallery.md"
WIDE = (GALLERY, "reference/shortcuts.md")  # pages without a table of contents, whose space they use
# These pages repeat what single pages say, so the search would find everything twice.
LEFT_OUT_OF_SEARCH = ("reference/functions.md", "reference/error-codes.md", "functions/index.md", "errors/index.md")


def on_files(files: Files, config: Any) -> Files:
    """Add a page for each function and error code, the gallery, README and the like, and linked files."""
    made = site_pages.function_pages() | site_pages.error_pages() | site_pages.root_pages()
    made[GALLERY] = f"# Gallery\n\n{site_gallery.INTRODUCTION}\n"
    for path, text in made.items():
        files.append(File.generated(config, path, content=text))
    linked: set[str] = set()
    for file in files.documentation_pages():
        site_pages.for_site(file.content_string, file.src_uri, linked.add)
    for path in sorted(linked):
        files.append(File.generated(config, f"files/{path}", content=(site_pages.ROOT / path).read_bytes()))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Rewrite links and code fences."""
    if page.file.src_uri in LEFT_OUT_OF_SEARCH:
        page.meta["search"] = {"exclude": True}
    if page.file.src_uri in WIDE:
        page.meta["hide"] = ["toc"]
    return site_pages.for_site(markdown, page.file.src_uri, lambda _: None)


def on_page_content(html: str, page: Any, **_: Any) -> str:
    """Append the families to the gallery; as HTML, because prompts contain what Markdown would change."""
    return html + site_gallery.as_html(site_gallery.families()) if page.file.src_uri == GALLERY else html
