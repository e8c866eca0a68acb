"""Coverage-guided fuzzing with atheris: `python tests/fuzzing/fuzz.py expression -max_total_time=600`.

Begins with the kept corpus and the worked examples of the library, knows the words of the language, and adds what it
finds to a folder of its own (build/fuzzing); an input that makes a target raise is written beside it as `crash-...`.
Inputs that were worth a repair go into the corpus.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

CORPUS = Path(__file__).parent / "corpus"
FOUND = Path("build") / "fuzzing"
LONGEST = 8_192


def main(arguments: list[str]) -> None:
    """Fuzzes the target that the first argument names until libFuzzer's own options end it; `--targets` lists them."""
    if arguments == ["--targets"]:
        sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]
        print(*import_module("targets").TARGETS, sep="\n")
        return
    try:
        atheris = import_module("atheris")
    except ImportError:
        sys.exit("atheris is not installed: pip install atheris (there are wheels for CPython 3.11 to 3.13 on Linux)")
    sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]  # the latter for tests/helpers
    with atheris.instrument_imports(include=["dia_language", "dia_compiler", "dia_runtime", "yaml"]):
        import seeds
        from targets import TARGETS
    if not arguments or arguments[0] not in TARGETS:
        sys.exit(f"name one of {', '.join(TARGETS)}")
    name, *options = arguments
    found, words = FOUND / name, FOUND / f"{name}.dict"
    found.mkdir(parents=True, exist_ok=True)
    words.write_text(seeds.dictionary(), encoding="ascii")
    for number, text in enumerate(seeds.texts(name)):
        (found / f"seed-{number}").write_text(text, encoding="utf-8")
    bounds = ["-timeout=40", "-rss_limit_mb=3000", f"-max_len={LONGEST}"]
    given = [f"-artifact_prefix={found}/", f"-dict={words}", *bounds, *options]
    atheris.Setup([sys.argv[0], *given, str(found), str(CORPUS / name)], TARGETS[name])
    atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv[1:])
