"""The table of error codes and the sources name the same codes."""

from __future__ import annotations

import re
from itertools import pairwise

from dia_language.error_codes import CODES, GROUPS
from helpers.places import ROOT

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
