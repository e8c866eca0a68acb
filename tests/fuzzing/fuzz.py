"""Coverage-guided fuzzing with atheris: `python tests/fuzzing/fuzz.py expression -max_total_time=600`.

Begins with the kept corpus and adds what it finds to a folder of its own (`--found`, default build/fuzzing); an input
that makes a target raise is written beside it as `crash-...`. Inputs that were worth a repair go into the corpus.
"""

from __future__ import annotations

import sys
from pathlib import Path

CORPUS = Path(__file__).parent / "corpus"
FOUND = Path("build") / "fuzzing"


def main(arguments: list[str]) -> None:
    """Fuzzes the target that the first argument names until libFuzzer's own options end it."""
    try:
        import atheris
    except ImportError:
        sys.exit("atheris is not installed: pip install atheris (there are wheels for CPython 3.11 to 3.13 on Linux)")
    with atheris.instrument_imports(include=["dia_compiler", "dia_runtime", "yaml"]):
        sys.path.insert(0, str(Path(__file__).parent))
        from targets import TARGETS
    if not arguments or arguments[0] not in TARGETS:
        sys.exit(f"name one of {', '.join(TARGETS)}")
    name, *options = arguments
    found = FOUND / name
    found.mkdir(parents=True, exist_ok=True)
    given = [f"-artifact_prefix={found}/", "-timeout=30", "-rss_limit_mb=2048", *options]
    atheris.Setup([sys.argv[0], *given, str(found), str(CORPUS / name)], TARGETS[name])
    atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv[1:])
