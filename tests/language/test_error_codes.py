"""The table of error codes and the sources name the same codes."""

from __future__ import annotations

import re
from itertools import pairwise

from dia_language.error_codes import CODES, GROUPS
from helpers.places import GOLDEN, ROOT

TESTS = ROOT / "tests"

WORD = re.compile(r"\bE[0-9]{3}\b")
CODE = re.compile(r"""["\[](E[0-9]{3})["\]]""")


def test_the_table_and_the_sources_name_the_same_codes() -> None:
    used = {
        code
        for folder in ("compiler", "runtime")
        for path in (ROOT / folder).rglob("*.py")
        if path.name != "error_codes.py"
        for code in CODE.findall(path.read_text(encoding="utf-8"))
    }
    unknown, unused = sorted(used - CODES.keys()), sorted(CODES.keys() - used)
    assert not unknown, f"add a line to CODES in runtime/dia_language/error_codes.py for {unknown}"
    assert not unused, f"raise these codes where the error occurs, or remove them from CODES: {unused}"


def missing_from_code(code: str, named: set[str]) -> list[str]:
    """What to add to an error code, given those that the tests name."""
    if code in named:
        return []
    return [
        f"assert `{code}` in the test that provokes this error, with the exit code and the essential words of the "
        "message: `refusal` and `refused_call` of tests/helpers/failures.py do so"
    ]


def test_every_code_is_named_in_a_test() -> None:
    files = [*TESTS.rglob("test_*.py"), *GOLDEN.glob("*/std*")]
    named = {code for path in files for code in WORD.findall(path.read_text(encoding="utf-8"))}
    lacking = {code: missing for code in CODES if (missing := missing_from_code(code, named))}
    assert lacking == {}


def test_what_a_code_lacks_is_named() -> None:
    (step,) = missing_from_code("E000", set(WORD.findall("DE0001 E00, E0000 and E001")))
    assert step.startswith("assert `E000` in the test that provokes this error, with the exit code")


def test_codes_are_ordered_and_belong_to_a_group() -> None:
    misplaced = [code for code, following in pairwise(CODES) if code > following]
    assert not misplaced, f"move these lines of CODES down, so that the numbers ascend: {misplaced}"
    assert {code[:2] for code in CODES} == set(GROUPS)


def test_every_code_says_what_it_means_and_how_to_mend_it() -> None:
    for code, (title, meaning) in CODES.items():
        assert title[0].islower() and not title.endswith("."), code
        assert meaning.endswith(".") and len(meaning) > len(title), code
        assert meaning.count("`") % 2 == 0, code


def test_no_two_codes_have_one_title() -> None:
    titles = [title for title, _ in CODES.values()]
    assert len(set(titles)) == len(titles)
