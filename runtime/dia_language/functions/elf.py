"""What ELF files hold, the programs of Linux: their sections and the texts in them. Nothing is run."""

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
    """A section: its name, where it stands in memory and in the file, and its bytes there."""

    name: str
    kind: int
    flags: int
    address: int
    offset: int
    size: int

    def held(self, binary: bytes) -> bytes:
        """Its bytes; none of one that the file only tells the size of."""
        return b"" if self.kind == WITHOUT_BYTES else binary[self.offset : self.offset + self.size]


@library_function
def elf_info(binary: bytes) -> Record:
    """What an ELF file says of itself: a record of machine, entry and sections.

    The machine is x86, x86-64, arm, aarch64, riscv or other, the entry the address where the program begins, and the
    sections are records of name, address and size. An error for what is no ELF file of 64 bits, little end first.
    Source: System V Application Binary Interface (2013), chapter 4.

    >>> elf_info(b"\\x7fELF\\x02\\x01".ljust(18, b"\\0") + bytes([62]) + bytes(45))
    {'machine': 'x86-64', 'entry': 0, 'sections': []}
    """
    sections = _sections(binary)
    machine, entry = unpack_from("<H", binary, 18)[0], unpack_from("<Q", binary, 24)[0]
    section_records = [Record(name=section.name, address=section.address, size=section.size) for section in sections]
    return Record(machine=MACHINES.get(machine, "other"), entry=entry, sections=section_records)


@library_function
def elf_section(binary: bytes, name: str) -> bytes:
    """Bytes of the section of that name in an ELF file, such as .rodata, where texts and constants stand.

    An error for an unknown name, for one that several sections have, and for what is no ELF file of 64 bits.

    >>> elf_section(b"\\x7fELF\\x02\\x01".ljust(64, b"\\0"), ".rodata")
    Traceback (most recent call last):
        ...
    dia_language.diagnostics.LanguageError: the ELF file has no section `.rodata`
    """
    sections = _sections(binary)
    same = [section for section in sections if section.name == name]
    if len(same) != 1:
        help = None if same else did_you_mean(name, [section.name for section in sections])
        raise LanguageError(f"the ELF file has {'several sections' if same else 'no section'} `{name}`", help)
    return same[0].held(binary)


@library_function
def elf_strings(binary: bytes, shortest: int = 4) -> list[str]:
    """Printable ASCII texts in the sections of an ELF file that the program has in memory, in the file's order.

    A text is a run of so many characters or more from blank to tilde. An error for what is no ELF file of 64 bits.

    >>> elf_strings(b"\\x7fELF\\x02\\x01".ljust(64, b"\\0"))
    []
    """
    if not 1 <= shortest <= 1000:
        raise LanguageError("the shortest text has 1 to 1,000 characters")
    run = re.compile(rb"[ -~]{%d,}" % shortest)
    loaded = [section for section in _sections(binary) if section.flags & IN_MEMORY]
    amount = sum(section.size for section in loaded if section.kind != WITHOUT_BYTES)
    if amount > TEXT_LENGTH:
        raise LanguageError("the sections of the ELF file have more bytes than the file", code="E502")
    charge(amount)
    contents = [section.held(binary) for section in sorted(loaded, key=lambda section: section.offset)]
    return [string.decode("ascii") for part in contents for string in run.findall(part)]


def _sections(binary: bytes) -> list[Section]:
    """The sections in the order of their table, without the empty first one."""
    if len(binary) > TEXT_LENGTH:
        raise LanguageError(f"an ELF file has at most {TEXT_LENGTH} bytes here", code="E502")
    if len(binary) < FILE_HEADER or binary[:6] != b"\x7fELF\x02\x01":
        raise LanguageError("the bytes are no ELF file of 64 bits, little end first")
    (table,) = unpack_from("<Q", binary, 40)
    size, count, names_at = unpack_from("<3H", binary, 58)
    charge(count)
    if count and (size != SECTION_HEADER or table + size * count > len(binary) or names_at >= count):
        raise LanguageError("the ELF file is damaged")
    if count > MOST_SECTIONS:
        raise LanguageError(f"an ELF file has at most {MOST_SECTIONS} sections here", code="E502")
    rows = [unpack_from("<2L4Q", binary, table + size * number) for number in range(count)]
    names = binary[rows[names_at][4] :][: rows[names_at][5]] if rows else b""
    return [Section(_name(names, row[0]), *row[1:]) for row in rows[1:]]


def _name(names: bytes, at: int) -> str:
    end = names.find(b"\0", at, at + 200)
    if not 0 <= at < len(names) or end < 0:
        raise LanguageError("the ELF file is damaged")
    return names[at:end].decode("utf-8", "replace")
