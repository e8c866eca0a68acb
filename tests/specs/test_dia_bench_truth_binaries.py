"""The truths of programs, archives and documents, found in the artefacts of the prompts with other people's tools.

Programs are run, where Linux runs them; the archive's PIN is found by trying all; the document is opened by poppler.
"""

from __future__ import annotations

import base64
import io
import platform
import re
import shutil
import struct
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from helpers.benchmarks import PINNED_K
from helpers.prompts import found

Challenges = dict[str, dict[str, str]]
Answers = dict[str, dict[str, Any]]

ARTEFACT = r"\n\n([A-Za-z0-9+/]+={0,2})"
runs_here = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64", reason="only Linux on x86-64 runs these programs"
)


def asked(challenges: Challenges, name: str) -> dict[str, str]:
    if name not in challenges:
        pytest.skip(f"the family {name} is not compiled here")
    assert len(challenges[name]) >= PINNED_K
    return challenges[name]


class Program:
    """A program of a prompt on the disk."""

    def __init__(self, encoded: str, path: Path) -> None:
        self.bytes, self.path = base64.b64decode(encoded, validate=True), path
        assert self.bytes[:6] == b"\x7fELF\x02\x01" and struct.unpack_from("<H", self.bytes, 18) == (62,)
        path.unlink(missing_ok=True)
        path.write_bytes(self.bytes)
        path.chmod(0o755)

    def printed(self, line: str = "") -> str:
        """What it prints for a line of input; it must end well."""
        done = subprocess.run([self.path], input=f"{line}\n".encode(), capture_output=True, env={}, timeout=10)
        assert done.returncode == 0 and done.stderr == b""
        return done.stdout.decode()


@runs_here
def test_one_text_of_each_crackme_is_its_key(challenges: Challenges, answers: Answers, tmp_path: Path) -> None:
    for id, challenge in asked(challenges, "crackme").items():
        wanted, length, encoded = found(
            r"Below is a Linux program for x86-64: an ELF file, encoded in Base64\. It reads one line from standard "
            r"input\. Which line makes its output end with \"([^\"]+)\"\? The line has (\d+) characters, all of them letters or "
            rf"digits\.{ARTEFACT}",
            challenge,
        )
        program = Program(encoded, tmp_path / "program")
        texts = re.findall(rb"(?<![A-Za-z0-9])[A-Za-z0-9]{%d}(?![A-Za-z0-9])" % int(length), program.bytes)
        fitting = {text.decode() for text in texts if program.printed(text.decode()).endswith(f"\n{wanted}\n")}
        assert fitting == {answers[id]["text"]} and len(set(texts)) >= 6, "five keys and a sample"
        assert answers[id]["text"] not in challenge and len(program.bytes) < 4000
        assert not program.printed(answers[id]["text"] + "x").endswith(f"\n{wanted}\n")
        assert not program.printed(answers[id]["text"][:-1]).endswith(f"\n{wanted}\n")


def unhidden(rows: list[bytes]) -> set[tuple[str, ...]]:
    """All lists of keys that the same step can hide as these bytes: moved, mirrored or combined by exclusive or."""
    steps: list[Callable[[int, int, int], int]] = [
        lambda i, x, n: x - n,
        lambda i, x, n: x - i - n,
        lambda i, x, n: n - x,
        lambda i, x, n: x ^ n,
        lambda i, x, n: x ^ (i + n),
    ]
    keys = {
        tuple("".join(chr(step(i, x, n) % 256) for i, x in enumerate(row)) for row in rows)
        for step in steps
        for n in range(-30, 256)
    }
    return {texts for texts in keys if all(re.fullmatch(r"[A-Za-z0-9]+", text) for text in texts)}


@runs_here
def test_one_undoing_of_each_hidden_key_fits(challenges: Challenges, answers: Answers, tmp_path: Path) -> None:
    for id, challenge in asked(challenges, "shifted_crackme").items():
        wanted, length, encoded = found(
            r"Below is a Linux program for x86-64: an ELF file, encoded in Base64\. It reads one line from standard "
            r"input, the key\. The correct key does not appear in the file as plain text\. Which key makes it print \"([^\"]+)\"\? The key has "
            rf"(\d+) characters, all of them letters or digits\.{ARTEFACT}",
            challenge,
        )
        program, size = Program(encoded, tmp_path / "program"), int(length)
        # the bytes of the five keys come before the first text of the program, after zeros
        start = program.bytes.rindex(b"\0", 0, program.bytes.index(b"What is the key?")) + 1
        candidates = unhidden([program.bytes[start + size * k : start + size * (k + 1)] for k in range(5)])
        printed = {text: program.printed(text) for texts in candidates for text in texts}
        fitting = {text for text, output in printed.items() if output.endswith(f"\n{wanted}\n")}
        assert fitting == {answers[id]["text"]}
        refusal = program.printed("").splitlines()[-1]
        messages = {output.splitlines()[-1] for output in printed.values()} - {refusal}
        assert len(messages) == 5, "each key has its own message"
        assert answers[id]["text"].encode() not in program.bytes
        for wrong in (answers[id]["text"] + "x", answers[id]["text"][:-1], answers[id]["text"].swapcase(), ""):
            assert wrong == answers[id]["text"] or not program.printed(wrong).endswith(f"\n{wanted}\n")


def opening(archive: zipfile.ZipFile, name: str, pin: str) -> str | None:
    """The member's text where the PIN opens it; the cipher's own check lets one wrong PIN in 256 begin."""
    try:
        return archive.read(name, pwd=pin.encode()).decode("ascii")
    except (RuntimeError, zipfile.BadZipFile):
        return None


@pytest.mark.long
def test_one_pin_opens_each_archive(challenges: Challenges, answers: Answers) -> None:
    for id, challenge in list(asked(challenges, "zip_with_pin").items())[:10]:
        name, encoded = found(
            r"This is a ZIP file in Base64\. .+ ZipCrypto, .+ PIN of four decimal digits, which may start with 0\. The "
            r"member ([a-z./]+) contains one line with a token of letters and digits\. What is the token\? The "
            rf"answer is case-sensitive\.{ARTEFACT}",
            challenge,
        )
        archive = zipfile.ZipFile(io.BytesIO(base64.b64decode(encoded, validate=True)))
        texts = {text for pin in range(10**4) if (text := opening(archive, name, f"{pin:04d}")) is not None}
        assert texts == {answers[id]["text"] + "\n"}


@pytest.mark.skipif(shutil.which("unzip") is None, reason="unzip is not installed")
def test_unzip_unpacks_every_archive_with_its_pin(challenges: Challenges, answers: Answers, tmp_path: Path) -> None:
    for id, challenge in asked(challenges, "zip_with_pin").items():
        (encoded,) = found(rf".+{ARTEFACT}", challenge)
        (tmp_path / "a.zip").write_bytes(base64.b64decode(encoded, validate=True))
        drawn = answers[id]["parameters"]
        done = subprocess.run(
            ["unzip", "-pqq", "-P", drawn["pin"], "a.zip", drawn["name"]], cwd=tmp_path, capture_output=True
        )
        assert (done.returncode, done.stdout.decode()) == (0, answers[id]["text"] + "\n")


@pytest.mark.skipif(shutil.which("pdftotext") is None, reason="poppler's pdftotext is not installed")
def test_every_document_shows_its_sentence_to_poppler(challenges: Challenges, answers: Answers, tmp_path: Path) -> None:
    ciphers = set()
    for id, challenge in asked(challenges, "encrypted_pdf").items():
        password, encoded = found(
            r"Below is an encrypted PDF file in Base64\. It has one page, which shows one English sentence\. What is the "
            rf"sentence\? The password for the file is between the two lines of hyphens:\n\n----------\n(\S+)\n----------{ARTEFACT}",
            challenge,
        )
        (tmp_path / "a.pdf").write_bytes(base64.b64decode(encoded, validate=True))
        command = ["pdftotext", "-layout", "-nopgbrk", "-upw", password, "a.pdf", "-"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True)
        assert done.returncode == 0 and " ".join(done.stdout.decode().split()) == answers[id]["text"]
        command[4] = password + "x"
        assert subprocess.run(command, cwd=tmp_path, capture_output=True).returncode != 0
        ciphers.add(answers[id]["parameters"]["cipher"])
    assert ciphers == {"rc4", "aes128", "aes256"}


def test_every_document_is_under_the_cipher_drawn(challenges: Challenges, answers: Answers) -> None:
    pikepdf = pytest.importorskip("pikepdf")
    for id, challenge in asked(challenges, "encrypted_pdf").items():
        password, encoded = found(rf".+----------\n(\S+)\n----------{ARTEFACT}", challenge)
        data = io.BytesIO(base64.b64decode(encoded, validate=True))
        with pikepdf.open(data, password=password) as held:
            # ISO 32000-2, table 21: the revisions, and the versions of PDF that introduced the ciphers
            revisions = {"rc4": (3, "1.4"), "aes128": (4, "1.6"), "aes256": (6, "2.0")}
            revision, version = revisions[answers[id]["parameters"]["cipher"]]
            assert held.pdf_version == version
            assert (held.encryption.R, len(held.pages), held.user_password_matched) == (revision, 1, True)
        with pytest.raises(pikepdf.PasswordError):
            pikepdf.open(data, password="")


@runs_here
def test_every_program_prints_the_truth(challenges: Challenges, answers: Answers, tmp_path: Path) -> None:
    for id, challenge in asked(challenges, "elf_output").items():
        (encoded,) = found(
            r"This is a Linux program for x86-64, an ELF file in Base64\. It reads no input and prints one decimal integer\. "
            rf"Which integer does it print\?{ARTEFACT}",
            challenge,
        )
        assert Program(encoded, tmp_path / "program").printed() == answers[id]["text"] + "\n"


@runs_here
def test_every_input_leads_to_the_output_told_and_no_neighbour_does(
    challenges: Challenges, answers: Answers, tmp_path: Path
) -> None:
    for id, challenge in asked(challenges, "elf_input").items():
        output, encoded = found(
            r"This is a Linux program for x86-64, an ELF file in Base64\. It reads a decimal integer from standard input and "
            rf"prints another integer\. For which integer from 0 to 4294967295 does it print (\d+)\?{ARTEFACT}",
            challenge,
        )
        program, truth = Program(encoded, tmp_path / "program"), int(answers[id]["text"])
        assert 0 <= truth < 2**32 and program.printed(str(truth)) == f"{output}\n"
        others = {truth ^ 1, truth ^ 1 << 31, truth ^ 0xFFFFFFFF, (truth + 1) % 2**32, -truth % 2**32} - {truth}
        printed = {program.printed(str(other)) for other in others}
        assert len(printed) == len(others) and f"{output}\n" not in printed
