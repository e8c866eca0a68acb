"""PDF files that are built, against pikepdf, poppler and digests known beforehand."""

from __future__ import annotations

import hashlib
import io
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from dia_compiler.assets import BUILDERS
from dia_compiler.assets.base import OptionFault, Site
from dia_compiler.assets.pdf import SHOWN
from dia_compiler.assets.pdf_lock import DRAWING
from dia_compiler.generate.asset_builder import entropy
from helpers.library_calls import call

pytest.importorskip("reportlab")
pytest.importorskip("pypdf")

SENTENCE = "The old baker quietly painted a chair near the bridge."
CIPHERS = ["rc4", "aes128", "aes256"]
LOCKED = {"reportlab": "5.1.0", "pypdf": "7.1.0"}
ENTRIES = {"rc4": (2, 3, 128), "aes128": (4, 4, 128), "aes256": (5, 6, 256)}  # V, R and bits of ISO 32000-2, 7.6


def built(options: dict[str, Any], seed: bytes = b"seed") -> bytes:
    builder = BUILDERS["pdf"]
    builder.validate(options)
    made = builder.build(options, Site(entropy(seed), Path("nowhere")))
    assert isinstance(made, bytes)
    return made


def by_poppler(document: bytes, password: str, folder: Path, option: str = "-upw") -> str | None:
    """The text as poppler's tool reads it, None where it does not open the file."""
    if shutil.which("pdftotext") is None:
        pytest.skip("poppler's pdftotext is not installed")
    (folder / "a.pdf").write_bytes(document)
    command = ["pdftotext", "-layout", "-nopgbrk", option, password, str(folder / "a.pdf"), "-"]
    done = subprocess.run(command, capture_output=True)
    return done.stdout.decode() if done.returncode == 0 else None


def opened(document: bytes, password: str = "") -> Any:
    pikepdf = pytest.importorskip("pikepdf")
    return pikepdf.open(io.BytesIO(document), password=password)


def fault(options: dict[str, Any]) -> OptionFault:
    with pytest.raises(OptionFault) as caught:
        built({"text": "x"} | options)
    return caught.value


@pytest.mark.parametrize("cipher", CIPHERS)
def test_both_passwords_open_the_file_and_no_other_does(cipher: str, tmp_path: Path) -> None:
    pikepdf = pytest.importorskip("pikepdf")
    document = built({"text": SENTENCE, "password": "a1 %", "owner_password": "Zz9", "cipher": cipher})
    assert SENTENCE.encode() not in document
    for password in ("a1 %", "Zz9"):
        with opened(document, password) as held:
            assert (held.encryption.V, held.encryption.R, held.encryption.bits) == ENTRIES[cipher]
            assert len(held.pages) == 1
    for password in ("", "a1 ", "A1 %"):
        with pytest.raises(pikepdf.PasswordError):
            opened(document, password)
        assert by_poppler(document, password, tmp_path) is None
    assert by_poppler(document, "a1 %", tmp_path) == SENTENCE + "\n"
    assert by_poppler(document, "Zz9", tmp_path, "-opw") == SENTENCE + "\n"
    assert call("pdf_text", document, "a1 %") == SENTENCE
    assert call("pdf_info", document, "a1 %")["cipher"] == cipher


def test_an_empty_password_opens_what_only_its_owner_locked() -> None:
    document = built({"text": SENTENCE, "owner_password": "owner"})
    with opened(document) as held:
        assert held.is_encrypted
    assert call("pdf_text", document) == SENTENCE


@pytest.mark.parametrize("password", ["smile \U0001f600", "\u05e9\u05dc\u05d5\u05dd", "soft\u180bly"])
def test_passwords_that_readers_prepare_in_different_ways_are_refused(password: str) -> None:
    with pytest.raises(OptionFault) as caught:
        built({"text": SENTENCE, "password": password})
    assert caught.value.option == "password"


def test_passwords_with_marks_open_what_they_closed(tmp_path: Path) -> None:
    for cipher, password, told in (("rc4", "pässwörd", b"p\xe4ssw\xf6rd"), ("aes256", "пароль ☃", "пароль ☃".encode())):
        document = built({"text": SENTENCE, "password": password, "cipher": cipher})
        pikepdf = pytest.importorskip("pikepdf")
        with pikepdf.open(io.BytesIO(document), password=told) as held:
            assert len(held.pages) == 1
        assert call("pdf_text", document, password) == SENTENCE


def test_title_and_author_are_those_given() -> None:
    document = built({"text": "x", "title": "Rapport № 7 ☃", "author": "Zoë (B.)"})
    with opened(document) as held:
        assert (str(held.docinfo["/Title"]), str(held.docinfo["/Author"])) == ("Rapport № 7 ☃", "Zoë (B.)")
    told = {"title": "Rapport № 7 ☃", "author": "Zoë (B.)", "pages": 1, "cipher": "none"}
    assert call("pdf_info", document) == told


def test_every_character_of_the_font_is_read_as_itself(tmp_path: Path) -> None:
    signs = sorted(SHOWN - {" "})
    lines = ["".join(signs[at : at + 40]) for at in range(0, len(signs), 40)]
    document = built({"text": "\n".join(lines)})
    shown = by_poppler(document, "", tmp_path)
    assert shown is not None and [line for line in shown.split("\n") if line] == lines
    assert call("pdf_text", document) == "\n".join(lines)


def test_long_texts_go_on_on_the_next_line_and_page(tmp_path: Path) -> None:
    text = "\n\n".join(" ".join(f"word{number}x{part}" for number in range(200)) for part in range(8))
    for size in (4, 12, 36):
        document = built({"text": text, "size": size})
        shown = by_poppler(document, "", tmp_path)
        assert shown is not None and shown.split() == text.split() == call("pdf_text", document).split()
        with opened(document) as held:
            assert len(held.pages) == call("pdf_info", document)["pages"]
    wide = built({"text": "W" * 500})
    assert "".join(call("pdf_text", wide).split()) == "W" * 500


GOLDEN = {
    "none": "34dced24042d32d820cff92b1e1f3275628538b655018278df9b4017b8158e49",
    "rc4": "9e4a136deb2d3d62fde7618c274299c81db3c95985a114588210eb5653474fb0",
    "aes128": "04a2f94e6bef9a5036b59f33551f43e0f8bac60e4baba370bdc1e949a170807b",
    "aes256": "b503faf5b3c77c385630e860c273a4eb599d1391068188cc1379941ab8002fcd",
}


@pytest.mark.skipif(
    {name: metadata.version(name) for name in LOCKED} != LOCKED, reason="other versions of reportlab or pypdf"
)
@pytest.mark.parametrize("cipher", GOLDEN)
def test_the_bytes_are_those_known_beforehand(cipher: str) -> None:
    options = {"text": SENTENCE, "title": "T", "cipher": cipher} | ({} if cipher == "none" else {"password": "pass"})
    assert hashlib.sha256(built(options)).hexdigest() == GOLDEN[cipher]
    assert (built(options, b"other") == built(options)) == (cipher == "none")


@pytest.mark.parametrize(("cipher", "version"), [("rc4", "1.4"), ("aes128", "1.6"), ("aes256", "2.0")])
def test_the_header_states_the_version_that_introduced_the_cipher(cipher: str, version: str) -> None:
    """ISO 32000-2, section 7.6; a file that is not encrypted keeps the version of the library."""
    document = built({"text": SENTENCE, "cipher": cipher, "password": "pass"})
    assert document[:9] == f"%PDF-{version}\n".encode()
    with opened(document, "pass") as held:
        assert held.pdf_version == version
    assert built({"text": SENTENCE})[:8] == b"%PDF-1.3"


def test_the_library_draws_on_its_own_again_when_a_file_is_built() -> None:
    import secrets

    built({"text": "x", "password": "y"})
    assert [vars(sys.modules[name])["secrets"] for name in DRAWING] == [secrets] * len(DRAWING)


@pytest.mark.parametrize(
    "options, option",
    [
        ({"text": 7}, "text"),
        ({"text": "snow ☃"}, "text"),
        ({"text": "tab\t"}, "text"),
        ({"text": "a\u00a0b"}, "text"),
        ({"text": "x" * 100_001}, "text"),
        ({"text": "\n" * 5_001}, "text"),
        ({"text": "x\n" * 5_000, "size": 72}, "text"),
        ({"size": 3}, "size"),
        ({"size": True}, "size"),
        ({"title": "a\nb"}, "title"),
        ({"author": "x" * 1001}, "author"),
        ({"cipher": "des", "password": "x"}, "cipher"),
        ({"cipher": ["rc4"], "password": "x"}, "cipher"),
        ({"cipher": "aes128"}, "cipher"),
        ({"cipher": "none", "password": "x"}, "cipher"),
        ({"cipher": "aes128", "password": ""}, "cipher"),
        ({"cipher": "rc4", "password": "☃"}, "password"),
        ({"cipher": "rc4", "password": "\x80"}, "password"),
        ({"cipher": "aes128", "password": "x" * 33}, "password"),
        ({"cipher": "aes128", "password": "x", "owner_password": "x" * 33}, "owner_password"),
        ({"password": "x" * 128}, "password"),
        ({"password": "ﬁ"}, "password"),
        ({"password": "\ud800"}, "password"),
        ({"password": 1234}, "password"),
    ],
)
def test_what_no_file_can_hold_is_told_at_its_option(options: dict[str, Any], option: str) -> None:
    assert fault(options).option == option


def test_options_that_are_not_known_yet_are_not_judged() -> None:
    for options in ({}, {"cipher": "aes256"}, {"password": "☃"}, {"cipher": "rc4", "owner_password": "x"}):
        BUILDERS["pdf"].validate(options)
