"""ZIP files that are built, against zipfile, pyzipper, unzip and 7z, and digests known beforehand."""

from __future__ import annotations

import hashlib
import io
import shutil
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import pytest
from dia_compiler.assets import BUILDERS
from dia_compiler.assets.base import OptionFault, Site
from dia_compiler.generate.asset_builder import entropy
from dia_language.budgets import reset
from dia_language.functions import library
from helpers.examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st

FILES: dict[str, Any] = {"note.txt": "hello " * 50, "bytes/ü.bin": b"\0\1\2" * 30, "empty": ""}
PASSWORD = "pässword 1"
AES = ["aes128", "aes192", "aes256"]


def built(options: dict[str, Any], seed: bytes = b"seed") -> bytes:
    builder = BUILDERS["zip"]
    builder.validate(options)
    made = builder.build(options, Site(entropy(seed), Path("nowhere")))
    assert isinstance(made, bytes)
    return made


def fault(options: dict[str, Any]) -> OptionFault:
    with pytest.raises(OptionFault) as caught:
        built(options)
    return caught.value


def contents(files: dict[str, Any]) -> dict[str, bytes]:
    return {name: held if isinstance(held, bytes) else held.encode() for name, held in files.items()}


@pytest.mark.parametrize("compression", ["stored", "deflated"])
@pytest.mark.parametrize("cipher", ["none", "zipcrypto"])
def test_the_standard_library_reads_what_is_built(cipher: str, compression: str) -> None:
    options: dict[str, Any] = {"files": FILES, "cipher": cipher, "compression": compression, "comment": "a remark"}
    archive = built(options | ({} if cipher == "none" else {"password": PASSWORD}))
    with zipfile.ZipFile(io.BytesIO(archive)) as held:
        held.setpassword(PASSWORD.encode())
        assert {name: held.read(name) for name in held.namelist()} == contents(FILES)
        assert list(FILES) == held.namelist() and held.comment == b"a remark"
        for info in held.infolist():
            assert info.flag_bits & 1 == (cipher != "none")
            assert info.compress_type == {"stored": 0, "deflated": 8}[compression]
            assert info.date_time == (2020, 1, 1, 0, 0, 0) and info.external_attr >> 16 == 0o100644


@pytest.mark.parametrize("cipher", AES)
def test_another_library_reads_members_under_aes(cipher: str) -> None:
    pyzipper = pytest.importorskip("pyzipper")
    for compression in ("stored", "deflated"):
        archive = built({"files": FILES, "cipher": cipher, "password": PASSWORD, "compression": compression})
        with pyzipper.AESZipFile(io.BytesIO(archive)) as held:
            held.setpassword(PASSWORD.encode())
            assert {name: held.read(name) for name in held.namelist()} == contents(FILES)
            assert {info.wz_aes_strength for info in held.infolist()} == {AES.index(cipher) + 1}
            held.setpassword(b"another")
            with pytest.raises(RuntimeError):
                held.read("note.txt")


@pytest.mark.parametrize("cipher", ["none", "zipcrypto", *AES])
def test_seven_zip_tests_the_archive_and_refuses_another_password(cipher: str, tmp_path: Path) -> None:
    tool = shutil.which("7z")
    if tool is None:
        pytest.skip("7z is not installed")
    protected = {} if cipher == "none" else {"password": "secret"}
    (tmp_path / "a.zip").write_bytes(built({"files": FILES, "cipher": cipher, "compression": "deflated"} | protected))
    command = [tool, "t", "a.zip"]
    assert subprocess.run([*command, "-psecret"], cwd=tmp_path, capture_output=True).returncode == 0
    if cipher != "none":
        assert subprocess.run([*command, "-pwrong"], cwd=tmp_path, capture_output=True).returncode != 0


@pytest.mark.skipif(shutil.which("unzip") is None, reason="unzip is not installed")
def test_unzip_unpacks_under_the_old_cipher(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(built({"files": FILES, "cipher": "zipcrypto", "password": "1234"}))
    assert subprocess.run(["unzip", "-qq", "-P", "1234", "a.zip"], cwd=tmp_path).returncode == 0
    assert {name: (tmp_path / name).read_bytes() for name in FILES} == contents(FILES)


# Members are stored: no library's version shows in these bytes.
GOLDEN = {
    "none": "7a85c15d6e230d1ce6484347fa3ce1159288667994de0d2ea4fb7b0fdf6ad971",
    "zipcrypto": "0050e50c3dc564a8d8bef836a40c84fe1ff463344fd6edfb8e1719c04e70429e",
    "aes128": "a65a95e8a39a9e4be1ad5f9da405c8b63802ec5b21ee71b2b35abe31e888ce5f",
    "aes192": "e235925e1b1b1faa6d2206e6dbf994168ff524165bf03a9a13fecf48a0471de9",
    "aes256": "6f5cccf5417fef8820037a22122b218cde1e656f2d2a1de6a66e31b7a76c7ab1",
}


@pytest.mark.parametrize("cipher", GOLDEN)
def test_the_bytes_are_those_known_beforehand(cipher: str) -> None:
    options = {"files": FILES, "cipher": cipher} | ({} if cipher == "none" else {"password": PASSWORD})
    assert hashlib.sha256(built(options)).hexdigest() == GOLDEN[cipher]
    assert (built(options, b"other") == built(options)) == (cipher == "none")


@settings(max_examples=examples(40))
@given(
    st.dictionaries(st.text("abcxyz", min_size=1, max_size=8), st.binary(max_size=200), min_size=1, max_size=4),
    st.sampled_from(["zipcrypto", *AES]),
    st.sampled_from(["stored", "deflated"]),
    st.text(min_size=1, max_size=20).filter(lambda text: text.isprintable()),
)
def test_members_come_back(files: dict[str, bytes], cipher: str, compression: str, password: str) -> None:
    archive = built({"files": files, "cipher": cipher, "compression": compression, "password": password})
    reset()
    assert library()["zip_names"].call(archive) == list(files)
    assert {name: library()["zip_member"].call(archive, name, password) for name in files} == files


def test_members_may_be_a_list_with_times_of_their_own() -> None:
    files = [{"name": "a", "text": "1", "time": "2021-12-31T23:59:58"}, {"name": "b", "data": b"2"}]
    with zipfile.ZipFile(io.BytesIO(built({"files": files, "time": "1999-01-02T03:04:05"}))) as held:
        assert [info.date_time for info in held.infolist()] == [(2021, 12, 31, 23, 59, 58), (1999, 1, 2, 3, 4, 4)]


@pytest.mark.parametrize(
    "name",
    ["../a", "a/../b", "/etc/passwd", "C:\\a", "c:a", "a\\b", "", ".", "a//b", "a/", "a\nb", "x" * 1001, "a\0", 7],
)
def test_names_that_leave_the_folder_are_refused(name: Any) -> None:
    assert fault({"files": {name: "x"}}).option == "files"


@pytest.mark.parametrize(
    "options, option",
    [
        ({"files": {}}, "files"),
        ({"files": "a.txt"}, "files"),
        ({"files": ["a.txt"]}, "files"),
        ({"files": [{"name": "a"}]}, "files"),
        ({"files": [{"name": "a", "text": "x", "data": b"x"}]}, "files"),
        ({"files": [{"name": "a", "text": b"x"}]}, "files"),
        ({"files": [{"name": "a", "text": "x"}, {"name": "a", "text": "y"}]}, "files"),
        ({"files": {"a": "x", "a/b": "y"}}, "files"),
        ({"files": {"a/b/c": "x", "a/b": "y"}}, "files"),
        ({"files": {"a": "\ud800"}}, "files"),
        ({"files": {"a": b"x" * 1_000_001}}, "files"),
        ({"files": {str(n): "" for n in range(1001)}}, "files"),
        ({"files": [{"name": "a", "text": "", "time": "1979-01-01T00:00:00"}]}, "files"),
        ({"time": "yesterday", "files": {"a": ""}}, "time"),
        ({"time": "2020-02-30T00:00:00", "files": {"a": ""}}, "time"),
        ({"cipher": "des", "files": {"a": ""}}, "cipher"),
        ({"cipher": ["none"], "files": {"a": ""}}, "cipher"),
        ({"cipher": "aes128", "files": {"a": ""}}, "cipher"),
        ({"cipher": "aes128", "password": "", "files": {"a": ""}}, "password"),
        ({"cipher": "none", "password": "x", "files": {"a": ""}}, "cipher"),
        ({"compression": "best", "files": {"a": ""}}, "compression"),
        ({"password": "x" * 129, "files": {"a": ""}}, "password"),
        ({"password": 1234, "files": {"a": ""}}, "password"),
        ({"comment": "x" * 10_001, "files": {"a": ""}}, "comment"),
    ],
)
def test_what_no_archive_can_hold_is_told_at_its_option(options: dict[str, Any], option: str) -> None:
    assert fault(options).option == option


def test_options_that_are_not_known_yet_are_not_judged() -> None:
    for options in ({}, {"cipher": "aes256"}, {"password": "x"}, {"time": "2020-01-01T00:00:00"}):
        BUILDERS["zip"].validate(options)
