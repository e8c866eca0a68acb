"""Programs of this machine, against readelf and strings; and bytes that are no programs."""

from __future__ import annotations

import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from dia_language.diagnostics import LanguageError
from helpers.examples import examples
from helpers.library_calls import call, refused
from hypothesis import given, settings
from hypothesis import strategies as st


def by_hand(sections: dict[str, tuple[int, bytes]], machine: int = 62, entry: int = 0x401000) -> bytes:
    """An ELF file of these sections (flags and bytes), the names of which stand in a last one."""
    names = b"\0" + b"".join(name.encode() + b"\0" for name in [*sections, ".shstrtab"])
    body, rows = b"", [bytes(64)]
    for name, (flags, held) in [*sections.items(), (".shstrtab", (0, names))]:
        at = names.index(b"\0" + name.encode() + b"\0") + 1
        rows.append(struct.pack("<2L6Q", at, 1, flags, 0x400000 + len(body), 64 + len(body), len(held), 0, 0)[:64])
        body += held
    rows = [row.ljust(64, b"\0") for row in rows]
    table, count = 64 + len(body), len(rows)
    head = (
        b"\x7fELF\x02\x01\x01"
        + bytes(9)
        + struct.pack("<2HL3QL6H", 2, machine, 1, entry, 0, table, 0, 64, 0, 0, 64, count, count - 1)
    )
    return head + body + b"".join(rows)


EXAMPLE = by_hand(
    {".text": (6, b"\x90" * 8 + b"code"), ".rodata": (2, b"secret\0ab\0"), ".comment": (0, b"compiler 1")}
)


def test_sections_and_texts_of_a_file_by_hand() -> None:
    info = call("elf_info", EXAMPLE)
    assert (info["machine"], info["entry"]) == ("x86-64", 0x401000)
    assert [section["name"] for section in info["sections"]] == [".text", ".rodata", ".comment", ".shstrtab"]
    assert info["sections"][1] == {"name": ".rodata", "address": 0x40000C, "size": 10}
    assert call("elf_section", EXAMPLE, ".rodata") == b"secret\0ab\0"
    assert call("elf_strings", EXAMPLE) == ["code", "secret"]
    assert call("elf_strings", EXAMPLE, 2) == ["code", "secret", "ab"]
    assert call("elf_info", by_hand({}, machine=183))["machine"] == "aarch64"
    assert call("elf_info", by_hand({}, machine=9999))["machine"] == "other"


@pytest.mark.skipif(sys.platform != "linux", reason="no ELF files on this system")
def test_a_program_of_this_machine_is_read_as_readelf_and_strings_read_it() -> None:
    if shutil.which("readelf") is None or shutil.which("strings") is None:
        pytest.skip("readelf or strings is not installed")
    path = next(path for path in map(Path, ("/bin/true", "/usr/bin/env", "/bin/cat")) if path.is_file())
    binary = path.read_bytes()
    told = subprocess.run(["readelf", "-SW", path], capture_output=True, text=True, check=True).stdout
    rows = re.findall(r"^ *\[ *[1-9]\d*\] (\S+) +\S+ +([0-9a-f]{16}) [0-9a-f]{6} ([0-9a-f]{6})", told, re.MULTILINE)
    shown = [(row["name"], row["address"], row["size"]) for row in call("elf_info", binary)["sections"]]
    assert shown == [(name, int(address, 16), int(size, 16)) for name, address, size in rows]
    dumped = subprocess.run(["readelf", "-x", ".rodata", path], capture_output=True, text=True, check=True).stdout
    digits = "".join("".join(line.split()[1:])[:32] for line in re.findall(r"^  (0x.{46})", dumped, re.MULTILINE))
    assert call("elf_section", binary, ".rodata").hex().startswith(re.match("[0-9a-f]*", digits)[0][:64])  # type: ignore[index]
    texts = subprocess.run(["strings", "-d", "-n", "6", path], capture_output=True, text=True, check=True).stdout
    assert set(call("elf_strings", binary, 6)) >= {line for line in texts.split("\n") if line and "\t" not in line}


def test_unknown_and_double_sections_are_told() -> None:
    assert "`.rodata`" in str(refused("elf_section", EXAMPLE, ".rodat").help)
    double = EXAMPLE.replace(b".rodata\0", b".text\0\0\0", 1)
    assert "several" in refused("elf_section", double, ".text").message


def test_other_bytes_are_refused() -> None:
    damaged = [
        b"", b"\x7fELF", bytes(64), b"\x7fELF\x01\x01".ljust(64, b"\0"), b"\x7fELF\x02\x02".ljust(64, b"\0"), EXAMPLE[:-1],
        EXAMPLE[:40] + b"\xff" * 8 + EXAMPLE[48:], EXAMPLE[:62] + b"\xff\xff" + EXAMPLE[64:],
    ]  # fmt: skip
    for data in damaged:
        for name in ("elf_info", "elf_strings"):
            assert refused(name, data).code == "E501"
    assert refused("elf_strings", EXAMPLE, 0) and refused("elf_strings", EXAMPLE, 1001)
    assert refused("elf_info", EXAMPLE + bytes(1_000_000)).code == "E502"


def test_sections_that_overlap_cost_no_more_than_the_file() -> None:
    large = by_hand({f".s{number}": (2, b"") for number in range(900)} | {".big": (2, b"x" * 900_000)})
    table = struct.unpack_from("<Q", large, 40)[0]
    data = bytearray(large)
    for number in range(1, 901):
        struct.pack_into("<2Q", data, table + 64 * number + 24, 0, 900_000)
    assert refused("elf_strings", bytes(data)).code == "E502"
    many = bytearray(by_hand({f".s{number}": (0, b"") for number in range(1001)}))
    assert refused("elf_info", bytes(many)).code == "E502"


@settings(max_examples=examples(300))
@given(st.data())
def test_damaged_programs_never_surprise(data: st.DataObject) -> None:
    binary = bytearray(EXAMPLE)
    for _ in range(data.draw(st.integers(1, 6))):
        binary[data.draw(st.integers(0, len(binary) - 1))] = data.draw(st.integers(0, 255))
    try:
        for section in call("elf_info", bytes(binary))["sections"]:
            assert len(call("elf_section", bytes(binary), section["name"])) <= len(binary)
        assert sum(map(len, call("elf_strings", bytes(binary)))) <= 1_000_000
    except LanguageError:
        pass
