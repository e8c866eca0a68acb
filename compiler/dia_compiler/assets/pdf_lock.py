"""The encryption of PDF files by pypdf, with every random byte from the builder's own entropy."""

from __future__ import annotations

import io
import stringprep
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import SimpleNamespace
from typing import Any

from dia_compiler.assets.base import Entropy

# Names of ISO 32000-2, section 7.6: RC4 with 128 bits, and AES of the revisions 4 and 6.
CIPHERS = {"none": "", "rc4": "RC4-128", "aes128": "AES-128", "aes256": "AES-256"}
# The version of PDF that introduced each of them, which the file's header must state.
VERSIONS = {"rc4": "1.4", "aes128": "1.6", "aes256": "2.0"}
OLD_BYTES, NEW_BYTES = 32, 127
# The range in which PDFDocEncoding, the password encoding of the older ciphers, agrees with Latin-1.
OLD_SIGNS = frozenset(map(chr, [*range(32, 127), *range(0xA1, 0xAD), *range(0xAE, 0x100)]))
# Not in Unicode 3.2, left out, or written from right to left, where SASLprep has rules for the whole text.
UNPREPARED = (stringprep.in_table_a1, stringprep.in_table_b1, stringprep.in_table_d1)
DRAWING = ("pypdf._encryption", "pypdf._writer", "pypdf._crypt_providers._cryptography")


def password_fault(password: Any, cipher: str) -> str | None:
    """Return why the text cannot be a password for the cipher, or None."""
    if not isinstance(password, str):
        return "must be text"
    if cipher in ("none", "aes256"):
        return _new_fault(password)
    strange = next((sign for sign in password if sign not in OLD_SIGNS), None)
    if strange is not None:
        return f"contains U+{ord(strange):04X}, which a password for {cipher} cannot contain"
    return f"is longer than {OLD_BYTES:,} bytes, and {cipher} ignores the rest" if len(password) > OLD_BYTES else None


def _new_fault(password: str) -> str | None:
    """Return why a text is not a safe password: SASLprep (RFC 4013), which some readers omit, would change it."""
    if not password.isprintable() or unicodedata.normalize("NFKC", password) != password:
        return "must be printable and in Unicode normalization form NFKC"
    strange = next((sign for sign in password if any(table(sign) for table in UNPREPARED)), None)
    if strange is not None:
        return f"contains U+{ord(strange):04X}, which PDF readers treat differently"
    return f"is longer than {NEW_BYTES:,} bytes" if len(password.encode()) > NEW_BYTES else None


def locked(plain: bytes, password: str, owner_password: str, cipher: str, entropy: Entropy) -> bytes:
    """Return the file encrypted, so that either password opens it."""
    from pypdf import PdfWriter

    writer, out = PdfWriter(clone_from=io.BytesIO(plain)), io.BytesIO()
    writer.pdf_header = f"%PDF-{VERSIONS[cipher]}"
    with _drawing_from(entropy):
        writer.encrypt(password, owner_password, algorithm=CIPHERS[cipher])
        writer.write(out)
    return out.getvalue()


@contextmanager
def _drawing_from(entropy: Entropy) -> Iterator[None]:
    """Make pypdf take its salts, keys and initialization vectors from the entropy, in this thread only."""
    modules = [import_module(name) for name in DRAWING]
    before = [vars(module)["secrets"] for module in modules]
    seam = SimpleNamespace(token_bytes=entropy)
    try:
        for module in modules:
            vars(module)["secrets"] = seam
        yield
    finally:
        for module, secrets in zip(modules, before, strict=True):
            vars(module)["secrets"] = secrets
