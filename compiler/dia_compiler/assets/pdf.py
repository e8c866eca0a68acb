"""PDF files of plain text, which may be encrypted.

Page contents are not compressed, so the bytes do not depend on a compression library.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

from dia_compiler.assets.base import Builder, OptionFault, Site, data, template
from dia_compiler.assets.pdf_lock import CIPHERS, locked, password_fault

PAGE, MARGIN = (595, 842), 57
FONT, SIZE, SMALLEST, LARGEST = "Helvetica", 12, 4, 72
MOST_CHARACTERS, MOST_LINES, MOST_PAGES, LONGEST_WORDS = 100_000, 5_000, 200, 1_000
# What Windows-1252 contains and the font draws, without the bullet, which some readers cannot extract.
SHOWN = frozenset(map(chr, [*range(32, 127), *range(0xA1, 0xAD), *range(0xAE, 0x100)])) | frozenset(
    "€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”–—˜™š›œžŸ"
)


class Pdf(Builder):
    summary = "a PDF file of text, optionally encrypted"
    revision = 2  # since 2, the header of an encrypted file states the version of PDF that its cipher needs
    options = {
        "text": template("the text; long lines are wrapped between words", required=True),
        "size": data("the font size in points, 4 to 72 (default 12)"),
        "title": data("the title in the file's metadata"),
        "author": data("the author in the file's metadata"),
        "password": data("the password that opens the file"),
        "owner_password": data("the password that lifts its restrictions (default the same as `password`)"),
        "cipher": data("none, rc4, aes128 or aes256 (default aes256 with a password)"),
    }
    extension = "pdf"
    media_type = "application/pdf"
    extra = "binary"
    modules = ("reportlab", "pypdf")
    libraries = ("reportlab", "pypdf")

    def validate(self, options: Mapping[str, Any]) -> None:
        """Raise OptionFault for a text that cannot be shown and a password that the cipher does not support."""
        size = options.get("size", SIZE)
        if type(size) is not int or not SMALLEST <= size <= LARGEST:
            raise OptionFault("size", f"`size` must be an integer from {SMALLEST} to {LARGEST}")
        _check_text(options.get("text", ""))
        for name in ("title", "author"):
            _check_words(name, options.get(name, ""))
        if options.get("cipher", "none") not in tuple(CIPHERS):
            raise OptionFault("cipher", f"`cipher` must be one of {', '.join(CIPHERS)}")
        if "cipher" in options:
            _check_passwords(options, options["cipher"])

    def build(self, options: Mapping[str, Any], site: Site) -> bytes:
        cipher = _cipher(options)
        _check_passwords(options, cipher)
        plain = _written(options)
        if cipher == "none":
            return plain
        password = options.get("password", "")
        return locked(plain, password, options.get("owner_password", password), cipher, site.entropy)


def _check_text(text: Any) -> None:
    if not isinstance(text, str) or len(text) > MOST_CHARACTERS or text.count("\n") > MOST_LINES:
        raise OptionFault(
            "text", f"`text` must be text of at most {MOST_CHARACTERS:,} characters and {MOST_LINES:,} lines"
        )
    strange = next((sign for sign in text if sign != "\n" and sign not in SHOWN), None)
    if strange is not None:
        raise OptionFault(
            "text", f"the font has no `{strange}` (U+{ord(strange):04X})", "it has the characters of Windows-1252"
        )


def _check_words(name: str, words: Any) -> None:
    if not isinstance(words, str) or len(words) > LONGEST_WORDS or not words.isprintable():
        raise OptionFault(name, f"`{name}` must be text of at most {LONGEST_WORDS:,} printable characters")


def _check_passwords(options: Mapping[str, Any], cipher: str) -> None:
    for name in ("password", "owner_password"):
        problem = password_fault(options.get(name, ""), cipher)
        if problem:
            raise OptionFault(name, f"`{name}` {problem}", "aes256 accepts up to 127 bytes of any printable text")


def _cipher(options: Mapping[str, Any]) -> str:
    """Return the cipher. Raises OptionFault for a cipher without a password, or the reverse."""
    has_password = bool(options.get("password") or options.get("owner_password"))
    cipher: str = options.get("cipher", "aes256" if has_password else "none")
    if cipher == "none" and has_password:
        raise OptionFault("cipher", "`cipher: none` takes no password", "choose another cipher, or remove the password")
    if cipher != "none" and not has_password:
        raise OptionFault("cipher", f"`{cipher}` needs a password", "add a non-empty `password`")
    return cipher


def _written(options: Mapping[str, Any]) -> bytes:
    """Return the file without encryption."""
    from reportlab.pdfgen.canvas import Canvas

    size = options.get("size", SIZE)
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=PAGE, pageCompression=0, invariant=1)
    canvas.setTitle(options.get("title", ""))
    canvas.setAuthor(options.get("author", ""))
    lines = _lines(options["text"], size)
    leading = size + size // 4
    on_page = (PAGE[1] - 2 * MARGIN) // leading
    if len(lines) > MOST_PAGES * on_page:
        raise OptionFault("text", f"`text` needs more than {MOST_PAGES:,} pages", "shorten it, or reduce `size`")
    for start in range(0, len(lines), on_page):
        canvas.setFont(FONT, size)
        for number, line in enumerate(lines[start : start + on_page]):
            if line:
                canvas.drawString(MARGIN, PAGE[1] - MARGIN - size - number * leading, line)
        canvas.showPage()
    canvas.save()
    return out.getvalue()


def _lines(text: str, size: int) -> list[str]:
    """Return the lines of the text, wrapped to the page; a word that is too long for a line is split."""
    from reportlab.pdfbase.pdfmetrics import getFont

    widths: list[int] = getFont(FONT).widths
    most = (PAGE[0] - 2 * MARGIN) * 1000 // size
    return [part for line in text.split("\n") for part in _parts(line, widths, most)]


def _parts(line: str, widths: list[int], most: int) -> list[str]:
    """Return the line, or its parts if it is too wide: broken at spaces, which stay at the end of a part."""
    parts, begin, blank, width = [], 0, -1, 0
    for place, sign in enumerate(line):
        width += widths[sign.encode("cp1252")[0]]
        if width > most and place > begin and sign != " ":
            end = blank + 1 if blank >= begin else place
            parts.append(line[begin:end])
            begin, width = end, sum(widths[byte] for byte in line[end : place + 1].encode("cp1252"))
        if sign == " ":
            blank = place
    return [*parts, line[begin:]]
