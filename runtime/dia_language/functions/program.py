"""Running programs in other languages to compute or verify an answer.

Programs run for the specs that come with dia, and for other specs only with `--allow-programs`. They never run while
replies are scored. They run in a sandbox without network, files, environment or clock, for at most 5 s, with 256 MiB of
memory, 16 processes and 1 MiB of output.
"""

from __future__ import annotations

from dia_language.diagnostics import LanguageError, did_you_mean
from dia_language.functions.registry import library_function

LANGUAGES = ("python", "c", "javascript", "php", "perl", "ruby", "bash", "pari", "elf")
SOURCE_BYTES = 8 << 20


@library_function
def program(language: str, source: str | bytes, input: str = "") -> str:
    r"""The standard output of a program, without its last newline.

    `language` is python, c, javascript, php, perl, ruby, bash, pari or elf; for elf, `source` is the bytes of the file.
    `input` is the standard input, which pari does not read. C programs are compiled with `gcc` or another installed C
    compiler, and linked with the math library. Raises an error if the exit code is not 0, if the output is not UTF-8,
    or if the program exceeds a limit.

    Examples:
        program("python", "print(0.1 + 0.2 == 0.3)") -> "False"
        program("bash", "read name; echo \"Hello, $name\"", "Ann") -> "Hello, Ann"
    """
    if language not in LANGUAGES:
        help = did_you_mean(language, LANGUAGES) or f"the languages are {', '.join(LANGUAGES)}"
        raise LanguageError(f"programs in `{language}` are not supported", help)
    if isinstance(source, bytes) != (language == "elf"):
        expected = "the bytes of a file" if language == "elf" else "a text"
        raise LanguageError(f"the source of a program in {language} must be {expected}")
    from dia_language.confinement.programs import output_of

    code = source if isinstance(source, bytes) else source.encode("utf-8")
    if len(code) > SOURCE_BYTES:
        raise LanguageError(f"the program is larger than {SOURCE_BYTES >> 20} MiB", code="E502")
    return output_of(language, code, input.encode("utf-8"))


@library_function
def run_elf(binary: bytes, input: str = "") -> str:
    """The standard output of an ELF program for this machine's processor, without its last newline.

    `input` is the standard input. The sandbox and limits are those of `program`.

    Examples:
        run_elf(zlib_decompress(from_base64("eNqrd/VxY2JkZIABJgY7BhCvgsEBzHdgwAQODBYMMB0gmhVNFpmeC+XBaAYBCLUDpHE/i"
            "Ng3C6h0FzOQxc+6wwZIGf7nZ50wYYJHJhcApeQNYg=="))) -> "Hi"
    """
    if not binary.startswith(b"\x7fELF"):
        raise LanguageError("the bytes are not an ELF program")
    return program("elf", binary, input)
