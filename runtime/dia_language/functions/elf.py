"""Reading ELF files, the executable format of Linux: sections and strings. Nothing is executed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from struct import unpack_from

from dia_language.budgets import charge
from dia_language.diagnostics import LanguageError, did_you_mean
from dia_language.functions.registry import library_function
from dia_language.limits import TEXT_LENGTH
from dia_language.numbers.values import Record

FILE_HEADER, SECTION_HEADER = 64, 64
WITHOUT_BYTES, IN_MEMORY = 8, 2
MOST_SECTIONS = 1_000
MACHINES = {3: "x86", 40: "arm", 62: "x86-64", 183: "aarch64", 243: "riscv"}


@dataclass(frozen=True, slots=True)
class Section:
    """A section: its name, its address in memory, its offset in the file, and its size."""

    name: str
    kind: int
    flags: int
    address: int
    offset: int
    size: int

    def content(self, binary: bytes) -> bytes:
        """Its bytes; empty for a section that has only a size in the file."""
        return b"" if self.kind == WITHOUT_BYTES else binary[self.offset : self.offset + self.size]


@library_function
def elf_info(binary: bytes) -> Record:
    """The header of an ELF file: a record of machine, entry and sections.

    `machine` is x86, x86-64, arm, aarch64, riscv or other. `entry` is the address at which the program starts.
    `sections` is a list of records of name, address and size. Raises an error unless the bytes are a 64-bit
    little-endian ELF file. Source: System V Application Binary Interface (2013), chapter 4.

    Examples:
        elf_info(from_hex(concat("7f454c460201", repeat("00", 12), "3e", repeat("00", 45))))
            -> {machine: "x86-64", entry: 0, sections: []}
    """
    sections = _sections(binary)
    machine, entry = unpack_from("<H", binary, 18)[0], unpack_from("<Q", binary, 24)[0]
    section_records = [Record(name=section.name, address=section.address, size=section.size) for section in sections]
    return Record(machine=MACHINES.get(machine, "other"), entry=entry, sections=section_records)


@library_function
def elf_section(binary: bytes, name: str) -> bytes:
    r"""The bytes of the section called `name` in an ELF file, such as .rodata, which holds strings and constants.

    Raises an error if there is no such section, if several sections have this name, or if the bytes are not a 64-bit
    ELF file.

    Examples:
        text_of(elf_section(zlib_decompress(from_base64("eNqrd/VxY2JkZIABJgY7BgQPASKR2A5QkhmoOiM1JyefgUGvKD8lsSSRQ"
            "a84o7ikqCQxiYFSwAjFTGjiDlCaDYt6ZMAJxMxYzHWD0sIE9AMAYssLgQ==")), ".rodata")) -> "hello\u0000"
    """
    sections = _sections(binary)
    same = [section for section in sections if section.name == name]
    if len(same) != 1:
        help = None if same else did_you_mean(name, [section.name for section in sections])
        raise LanguageError(f"the ELF file has {'several sections' if same else 'no section'} called `{name}`", help)
    return same[0].content(binary)


@library_function
def elf_strings(binary: bytes, shortest: int = 4) -> list[str]:
    """The printable ASCII strings in the sections of an ELF file that are loaded into memory, in file order.

    A string is a run of `shortest` or more characters from space to tilde. Raises an error if the bytes are not a
    64-bit ELF file.

    Examples:
        elf_strings(zlib_decompress(from_base64("eNqrd/VxY2JkZIABJgY7BgQPASKR2A5QkhmoOiM1JyefgUGvKD8lsSSRQa84o7ikq"
            "CQxiYFSwAjFTGjiDlCaDYt6ZMAJxMxYzHWD0sIE9AMAYssLgQ=="))) -> ["hello"]
    """
    if not 1 <= shortest <= 1000:
        raise LanguageError("`shortest` must be from 1 to 1,000")
    run = re.compile(rb"[ -~]{%d,}" % shortest)
    loaded = [section for section in _sections(binary) if section.flags & IN_MEMORY]
    amount = sum(section.size for section in loaded if section.kind != WITHOUT_BYTES)
    if amount > TEXT_LENGTH:
        raise LanguageError("the sections of the ELF file have more bytes than the file", code="E502")
    charge(amount)
    contents = [section.content(binary) for section in sorted(loaded, key=lambda section: section.offset)]
    return [string.decode("ascii") for part in contents for string in run.findall(part)]


def _sections(binary: bytes) -> list[Section]:
    """The sections in table order, without the empty first one."""
    if len(binary) > TEXT_LENGTH:
        raise LanguageError(f"the ELF file exceeds {TEXT_LENGTH:,} bytes", code="E502")
    if len(binary) < FILE_HEADER or binary[:6] != b"\x7fELF\x02\x01":
        raise LanguageError("the bytes are not a 64-bit little-endian ELF file")
    (table,) = unpack_from("<Q", binary, 40)
    size, count, names_at = unpack_from("<3H", binary, 58)
    charge(count)
    if count and (size != SECTION_HEADER or table + size * count > len(binary) or names_at >= count):
        raise LanguageError("the ELF file is damaged")
    if count > MOST_SECTIONS:
        raise LanguageError(f"the ELF file has more than {MOST_SECTIONS:,} sections", code="E502")
    rows = [unpack_from("<2L4Q", binary, table + size * number) for number in range(count)]
    names = binary[rows[names_at][4] :][: rows[names_at][5]] if rows else b""
    return [Section(_name(names, row[0]), *row[1:]) for row in rows[1:]]


def _name(names: bytes, at: int) -> str:
    end = names.find(b"\0", at, at + 200)
    if not 0 <= at < len(names) or end < 0:
        raise LanguageError("the ELF file is damaged")
    return names[at:end].decode("utf-8", "replace")
