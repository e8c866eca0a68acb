"""Reading PDF files, including encrypted ones: their text and metadata."""

from __future__ import annotations

import io
import logging
from typing import Any

from dia_language.budgets import charge
from dia_language.diagnostics import LanguageError, install_extra
from dia_language.functions.registry import library_function
from dia_language.limits import TEXT_LENGTH
from dia_language.numbers.values import Record

MOST_PAGES = 200
# Readers look for the header in the first bytes of this number (ISO 32000-1, annex H.3.4.1).
BEGIN = 1024
# What pypdf can raise for malformed files.
STUMBLES = (
    ArithmeticError, AssertionError, AttributeError, LookupError, OSError, RuntimeError, TypeError, ValueError,
)  # fmt: skip
RC4, CRYPT_FILTERS = 1, 4


@library_function
def pdf_text(document: bytes, password: str = "") -> str:
    """The text of a PDF file: the lines of its pages in order, without trailing spaces.

    A line that was wrapped to fit the page is returned as several lines. Needs the extra `binary`. Raises an error if
    the file is damaged, the password is wrong, or the file exceeds 200 pages, 1,000,000 bytes or 1,000,000 characters.

    Examples:
        pdf_text(zlib_decompress(from_base64("eNplUU1PAjEQvfdXzIVED9r9oKubkE0EISRqJLCJB8KhsMNagq1pi0F/vbO7uEi2aTqZ"
            "N++9mba92ePkJrztsxACMOvdYMDz70/kI+nl3pR8Jkt0EFFxnmWoC6Kw6JJaU/jIHLSHkD+pwi3jir9qBXFXQIdFEtTO/AULJYfmu"
            "AwoTVPaKzLUnhgO+jVljs4c7AYduUyoVAUQzVzVOrXqt62eUZf+HaIky5y3KD/YMCdJCvmWDgrF1VRd5zsY54yRuiGdbMTlxFVDvj"
            "isfZVUSMiH0mENT3H/hV5tJB/rjSmULvmb0g/aqb+8He5occsCSFjQLkiEiAVs4Yyl0FT0GRNRBwuDsINFwX0Xu/vn561Ue7R0rYX"
            "6QUj43Bj6tOYVmfPS+nrGOBGs1xu/TtgvPm6Yrw=="))) -> "Hi"
    """
    reader = _opened(document, password)
    try:
        pages = [page.extract_text() for page in _pages(reader)]
    except _failures() as error:
        raise _damaged() from error
    text = "\n".join(line.rstrip() for page in pages for line in page.strip("\n").split("\n"))
    if len(text) > TEXT_LENGTH:
        raise LanguageError(f"the text of the PDF file exceeds {TEXT_LENGTH:,} characters", code="E502")
    charge(len(text))
    return text


@library_function
def pdf_info(document: bytes, password: str = "") -> Record:
    """The metadata of a PDF file: a record of title, author, pages and cipher.

    `title` and `author` are `none` if the file does not state them. `pages` is the number of pages. `cipher` is the
    text none, rc4, aes128 or aes256. Needs the extra `binary`. The errors are those of `pdf_text`.

    Examples:
        pdf_info(zlib_decompress(from_base64("eNplUU1PAjEQvfdXzIVED9r9oKubkE0EISRqJLCJB8KhsMNagq1pi0F/vbO7uEi2aTqZ"
            "N++9mba92ePkJrztsxACMOvdYMDz70/kI+nl3pR8Jkt0EFFxnmWoC6Kw6JJaU/jIHLSHkD+pwi3jir9qBXFXQIdFEtTO/AULJYfmu"
            "AwoTVPaKzLUnhgO+jVljs4c7AYduUyoVAUQzVzVOrXqt62eUZf+HaIky5y3KD/YMCdJCvmWDgrF1VRd5zsY54yRuiGdbMTlxFVDvj"
            "isfZVUSMiH0mENT3H/hV5tJB/rjSmULvmb0g/aqb+8He5occsCSFjQLkiEiAVs4Yyl0FT0GRNRBwuDsINFwX0Xu/vn561Ue7R0rYX"
            "6QUj43Bj6tOYVmfPS+nrGOBGs1xu/TtgvPm6Yrw=="))) -> {title: none, author: none, pages: 1, cipher: "none"}
    """
    reader = _opened(document, password)
    try:
        metadata = reader.metadata or {}
        named = [None if metadata.get(key) is None else str(metadata.get(key)) for key in ("/Title", "/Author")]
        return Record(title=named[0], author=named[1], pages=len(_pages(reader)), cipher=_cipher(reader))
    except _failures() as error:
        raise _damaged() from error


def _opened(document: bytes, password: str) -> Any:
    """The reader of the file, after decryption with the password."""
    if len(document) > TEXT_LENGTH:
        raise LanguageError(f"the PDF file exceeds {TEXT_LENGTH:,} bytes", code="E502")
    if b"%PDF-" not in document[:BEGIN]:
        raise _damaged()
    charge(len(document) // 8)
    try:
        from pypdf import PdfReader
    except ImportError:
        raise LanguageError("reading PDF files needs pypdf", install_extra("binary")) from None
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    try:
        reader = PdfReader(io.BytesIO(document))
        is_open = not reader.is_encrypted or reader.decrypt(password)
    except _failures() as error:
        raise _damaged() from error
    if not is_open:
        raise LanguageError("the password for the PDF file is wrong")
    return reader


def _pages(reader: Any) -> Any:
    if len(reader.pages) > MOST_PAGES:
        raise LanguageError(f"the PDF file exceeds {MOST_PAGES:,} pages", code="E502")
    return reader.pages


def _cipher(reader: Any) -> str:
    """The name of the cipher, from the entries in ISO 32000-2, section 7.6.2."""
    if not reader.is_encrypted:
        return "none"
    entries = reader.trailer["/Encrypt"]
    version = entries.get("/V", RC4)
    if version < CRYPT_FILTERS:
        return "rc4"
    method = entries["/CF"][entries["/StmF"]]["/CFM"]
    return {"/AESV2": "aes128", "/AESV3": "aes256", "/V2": "rc4"}.get(method, "none")


def _failures() -> tuple[type[Exception], ...]:
    from pypdf.errors import PyPdfError

    return (*STUMBLES, PyPdfError)


def _damaged() -> LanguageError:
    return LanguageError("the bytes are not a PDF file, or the file is damaged")
