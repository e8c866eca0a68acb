"""Documents that other tools have made: reportlab and pikepdf; and bytes that are no documents."""

from __future__ import annotations

import contextlib
import io
from typing import Any

import pytest
from dia_language.diagnostics import LanguageError
from helpers.examples import examples
from helpers.library_calls import call, refused
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytest.importorskip("pypdf")
MINIMAL = b"""%PDF-1.4
1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj
2 0 obj <</Type/Pages/Kids[3 0 R]/Count 1/MediaBox[0 0 300 300]>> endobj
3 0 obj <</Type/Page/Parent 2 0 R/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>> endobj
4 0 obj <</Length 54>> stream
BT /F 12 Tf 20 200 Td (Hello \\(world\\), said it) Tj ET
endstream endobj
5 0 obj <</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>> endobj
6 0 obj <</Title(A title)>> endobj
trailer <</Root 1 0 R/Info 6 0 R/Size 7>>
startxref
0
%%EOF
"""


def repacked(**options: Any) -> bytes:
    """The document as another library writes it."""
    pikepdf = pytest.importorskip("pikepdf")
    out = io.BytesIO()
    with pikepdf.open(io.BytesIO(MINIMAL)) as held:
        held.save(out, **options)
    return out.getvalue()


def test_a_document_by_hand_is_read() -> None:
    assert call("pdf_text", MINIMAL) == "Hello (world), said it"
    assert call("pdf_info", MINIMAL) == {"title": "A title", "author": None, "pages": 1, "cipher": "none"}


@pytest.mark.parametrize("revision, cipher", [(2, "rc4"), (3, "rc4"), (4, "aes128"), (6, "aes256")])
def test_documents_that_another_library_encrypted_are_read(revision: int, cipher: str) -> None:
    pikepdf = pytest.importorskip("pikepdf")
    is_new = revision >= 4
    lock = pikepdf.Encryption(owner="o", user="u", R=revision, aes=is_new, metadata=is_new)
    document = repacked(encryption=lock)
    for password in "uo":
        assert call("pdf_text", document, password) == "Hello (world), said it"
        assert call("pdf_info", document, password)["cipher"] == cipher
    for password in ("", "x"):
        assert "password" in refused("pdf_text", document, password).message
        assert "password" in refused("pdf_info", document, password).message


def test_packed_objects_and_streams_are_read() -> None:
    pikepdf = pytest.importorskip("pikepdf")
    document = repacked(object_stream_mode=pikepdf.ObjectStreamMode.generate, compress_streams=True)
    assert b"Hello" not in document and call("pdf_text", document) == "Hello (world), said it"


@pytest.mark.parametrize("data", [b"", b"%PDF-", b"%PDF-1.7\n%%EOF", b"\xff" * 2000, b" " * 2000 + MINIMAL])
def test_what_is_no_document_is_told(data: bytes) -> None:
    for name in ("pdf_text", "pdf_info"):
        assert "not a PDF file" in refused(name, data).message


def test_large_documents_are_refused() -> None:
    assert refused("pdf_text", MINIMAL + bytes(1_000_000)).code == "E502"
    many = MINIMAL.replace(b"[3 0 R]/Count 1", b"[" + b"3 0 R " * 300 + b"]/Count 300")
    assert refused("pdf_text", many).code == "E502"
    assert refused("pdf_info", many).code == "E502"


def test_a_packed_bomb_is_not_unpacked() -> None:
    import zlib

    held = zlib.compress(b"BT /F 12 Tf (x) Tj ET\n" * 4_000_000, 9)
    stream = b"<</Length %d/Filter/FlateDecode>> stream\n" % len(held) + held + b"\nendstream endobj"
    start, end = MINIMAL.index(b"<</Length 54"), MINIMAL.index(b"\n5 0 obj")
    document = MINIMAL[:start] + stream + MINIMAL[end:]
    assert len(document) < 1_000_000
    assert refused("pdf_text", document)


@settings(max_examples=examples(150), suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_damaged_documents_never_surprise(data: st.DataObject) -> None:
    document = bytearray(MINIMAL)
    for _ in range(data.draw(st.integers(1, 4))):
        document[data.draw(st.integers(9, len(document) - 1))] = data.draw(st.integers(0, 255))
    for name in ("pdf_text", "pdf_info"):
        with contextlib.suppress(LanguageError):
            assert call(name, bytes(document)) is not None
