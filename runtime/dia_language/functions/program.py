"""Programs of other languages, run to make or to prove a truth.

They run only for the specs that come with dia and where `--allow-programs` is given, never while a reply is scored:
locked in, without network, files, environment and clock of their own, for at most 5 s, in 256 MiB, with 16 processes
and 1 MiB of output.
"""

from __future__ import annotations

from dia_language.diagnostics import LanguageError, did_you_mean
from dia_language.functions.registry import library_function

LANGUAGES = ("python", "c", "javascript", "php", "perl", "ruby", "bash", "pari", "elf")
SOURCE_BYTES = 8 << 20


@library_function
def program(language: str, source: str | bytes, input: str = "") -> str:
    """What a program prints on standard output, less one last newline.

    The language is python, c, javascript, php, perl, ruby, bash, pari, or elf, whose source is the bytes of the file.
    The text `input` is the standard input (pari takes none). A program that ends with another exit code than 0, that
    prints what is no UTF-8, or that takes more than it may is an error. C programs are compiled by `gcc` or what is
    there instead of it, and linked with the mathematical library.

    program("php", "<?php echo 0.1 + 0.2 == 0.3 ? 'equal' : 'not equal';")  gives  not equal

    >>> program("cobol", "DISPLAY 42.")
    Traceback (most recent call last):
        ...
    dia_language.diagnostics.LanguageError: no language `cobol` can be run
    """
    if language not in LANGUAGES:
        help = did_you_mean(language, LANGUAGES) or f"the languages are {', '.join(LANGUAGES)}"
        raise LanguageError(f"no language `{language}` can be run", help)
    if isinstance(source, bytes) != (language == "elf"):
        expected = "the bytes of a file" if language == "elf" else "a text"
        raise LanguageError(f"the source of a program of {language} is {expected}")
    from dia_language.confinement.programs import output_of

    code = source if isinstance(source, bytes) else source.encode("utf-8")
    if len(code) > SOURCE_BYTES:
        raise LanguageError(f"a program larger than {SOURCE_BYTES >> 20} MiB", code="E502")
    return output_of(language, code, input.encode("utf-8"))


@library_function
def run_elf(binary: bytes, input: str = "") -> str:
    """What an ELF program of this machine's processor prints on standard output, less one last newline.

    The text `input` is its standard input. It is locked in and bounded as by `program`.

    run_elf(binary, "wrong password")  gives  Access denied

    >>> run_elf(bytes.fromhex("00" * 64))
    Traceback (most recent call last):
        ...
    dia_language.diagnostics.LanguageError: these bytes are no ELF program
    """
    if not binary.startswith(b"\x7fELF"):
        raise LanguageError("these bytes are no ELF program")
    return program("elf", binary, input)
