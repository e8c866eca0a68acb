"""Whether a prompt gives its answer away."""

from __future__ import annotations

import re

from dia_compiler.generate.bundle_rows import is_shown
from hypothesis import given
from hypothesis import strategies as st


@given(st.text("ab1_ .é²", min_size=1, max_size=3), st.text("ab1_ .é²", max_size=12))
def test_an_answer_is_shown_where_it_stands_as_a_whole_token(text: str, challenge: str) -> None:
    begin = r"(?<!\w)" if text[0].isalnum() else ""
    end = r"(?!\w)" if text[-1].isalnum() else ""
    assert is_shown(text, challenge) == bool(re.search(begin + re.escape(text) + end, challenge))
