"""Archives that other tools have made: zipfile, pyzipper, zip and 7z; and bytes that are no archives."""

from __future__ import annotations

import io
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest
from dia_language.diagnostics import LanguageError
from helpers.examples import examples
from helpers.library_calls import call, refused
from hypothesis import given, settings
from hypothesis import strategies as st

FILES = {"a.txt": b"hello " * 50, "folder/\u00fc.bin": bytes(range(256)), "empty": b""}


def archive_of(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as held:
        for name, content in files.items():
            held.writestr(zipfile.ZipInfo(name, (2021, 3, 4, 5, 6, 8)), content, method)
    return out.getvalue()


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_archives_of_the_standard_library_are_read(method: int) -> None:
    archive = archive_of(FILES, method)
    assert call("zip_names", archive) == list(FILES)
    assert {name: call("zip_member", archive, name) for name in FILES} == FILES
    info = call("zip_info", archive, "a.txt")
    assert (info["size"], info["cipher"], info["time"]) == (300, "none", "2021-03-04T05:06:08")
    assert info["compression"] == ("deflated" if method else "stored") and (info["packed"] == 300) == (not method)


@pytest.mark.parametrize("tool", ["zip", "7z"])
def test_archives_under_the_old_cipher_are_read(tool: str, tmp_path: Path) -> None:
    if shutil.which(tool) is None:
        pytest.skip(f"{tool} is not installed")
    (tmp_path / "note.txt").write_bytes(FILES["a.txt"])
    command = {"zip": ["zip", "-qP", "1234"], "7z": ["7z", "a", "-tzip", "-p1234", "-mem=ZipCrypto"]}[tool]
    subprocess.run([*command, "a.zip", "note.txt"], cwd=tmp_path, check=True, capture_output=True)
    archive = (tmp_path / "a.zip").read_bytes()
    assert call("zip_info", archive, "note.txt")["cipher"] == "zipcrypto"
    assert call("zip_member", archive, "note.txt", "1234") == FILES["a.txt"]
    assert "password" in refused("zip_member", archive, "note.txt", "4321").message
    assert "password" in refused("zip_member", archive, "note.txt").message


@pytest.mark.parametrize("bits", [128, 192, 256])
def test_archives_under_aes_are_read(bits: int) -> None:
    pyzipper = pytest.importorskip("pyzipper")
    for method in (pyzipper.ZIP_STORED, pyzipper.ZIP_DEFLATED, pyzipper.ZIP_LZMA):
        out = io.BytesIO()
        with pyzipper.AESZipFile(out, "w", compression=method, encryption=pyzipper.WZ_AES) as held:
            held.setpassword("p\u00e4ss".encode())
            held.setencryption(pyzipper.WZ_AES, nbits=bits)
            for name, content in FILES.items():
                held.writestr(name, content)
        archive = out.getvalue()
        assert call("zip_info", archive, "a.txt")["cipher"] == f"aes{bits}"
        if method == pyzipper.ZIP_LZMA:
            assert call("zip_info", archive, "a.txt")["compression"] == "other"
            assert (
                "compression method that is not supported"
                in refused("zip_member", archive, "a.txt", "p\u00e4ss").message
            )
            continue
        assert {name: call("zip_member", archive, name, "p\u00e4ss") for name in FILES} == FILES
        assert "password" in refused("zip_member", archive, "a.txt", "pass").message


def test_a_changed_byte_under_aes_is_found() -> None:
    pyzipper = pytest.importorskip("pyzipper")
    out = io.BytesIO()
    with pyzipper.AESZipFile(out, "w", encryption=pyzipper.WZ_AES) as held:
        held.setpassword(b"x")
        held.writestr("a", b"hello")
    archive = bytearray(out.getvalue())
    archive[archive.index(b"PK\x01\x02") - 12] ^= 1
    assert "damaged" in refused("zip_member", bytes(archive), "a", "x").message


def test_names_that_are_missing_or_double_are_told() -> None:
    archive = archive_of({"secret.txt": b"1"})
    assert "`secret.txt`" in str(refused("zip_member", archive, "secrets.txt").help)
    with pytest.warns(UserWarning, match="Duplicate"):
        out = io.BytesIO(archive)
        with zipfile.ZipFile(out, "a") as held:
            held.writestr("secret.txt", b"2")
    assert call("zip_names", out.getvalue()) == ["secret.txt"] * 2
    assert "several" in refused("zip_info", out.getvalue(), "secret.txt").message


def test_bombs_are_not_unpacked() -> None:
    archive = archive_of({"bomb": bytes(50_000_000), "small": b"x"})
    assert len(archive) < 100_000
    assert refused("zip_member", archive, "bomb").code == "E502"
    assert call("zip_member", archive, "small") == b"x"
    many = archive_of({str(number): b"" for number in range(10_001)}, zipfile.ZIP_STORED)
    assert refused("zip_names", many).code == "E502"


@pytest.mark.parametrize("data", [b"", b"PK", b"PK\x05\x06", b"PK\x03\x04" + bytes(100), b"\xff" * 1000])
def test_what_is_no_archive_is_told(data: bytes) -> None:
    assert "not a ZIP file" in refused("zip_names", data).message


@settings(max_examples=examples(200))
@given(st.data())
def test_damaged_archives_never_surprise(data: st.DataObject) -> None:
    archive = bytearray(archive_of({"a": b"hello", "b": b"x" * 300}))
    for _ in range(data.draw(st.integers(1, 4))):
        archive[data.draw(st.integers(0, len(archive) - 1))] = data.draw(st.integers(0, 255))
    try:
        for name in call("zip_names", bytes(archive)):
            call("zip_info", bytes(archive), name)
            assert len(call("zip_member", bytes(archive), name, "password")) <= 1_000_000
    except LanguageError:
        pass
