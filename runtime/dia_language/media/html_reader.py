"""Pages of HTML as most are written, read by one pattern: a fifth of the time of reading sign after sign.

Plain is a page whose tags are in small letters, with a blank above each attribute and its value in double quotes, and
each with its partner; whatever reads pages reads all others for itself.
"""

from __future__ import annotations

import html
import re
from functools import lru_cache
from itertools import accumulate, chain
from typing import Final, NamedTuple

# HTML, section 13.1.2: elements without an end, with text alone, and with text whose entities stand for signs
VOID: Final = frozenset(
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"]
)
ALONE_STANDING: Final = VOID | {""}  # names of marks without a partner
RAW: Final = frozenset(["script", "style"])
TEXT_ALONE: Final = RAW | {"textarea", "title"}
NAME: Final = "[a-z][a-z0-9]*+"
ALONE: Final = "|".join(sorted(TEXT_ALONE))
ATTRIBUTES: Final = r"""(?: [^\s"'<>/=]++="[^"]*+")*+"""
# The groups: the whole mark, the name of an element with text alone, that of another or of an end, the attributes, the
# text alone, and a comment. That text is one without an end tag in it, whose own end follows.
MARK: Final = re.compile(
    rf"""(<(?:(?:({ALONE})(?=[ >])|(/{NAME}|(?!(?:{ALONE})[ >]){NAME}))({ATTRIBUTES})>"""
    r"""(?(2)([^<]*+(?:<(?!/)[^<]*+)*+)(?=</\2>))|!--(.*?)-->|(?:!(?!--)|\?)[^>]*>))""",
    re.DOTALL,
)
GROUPS: Final = MARK.groups + 1


class PlainPage(NamedTuple):
    """What stands on a plain page, mark after mark: tags, comments and declarations.

    A mark's name is that of its tag, behind a stroke if it is an end, and empty where it is no tag. `texts` are what is
    to be read above each mark and below the last one, entities and all; `bounds` where each mark begins and ends,
    `ends` the place of the end that belongs to a tag.
    """

    names: list[str]
    attributes: list[str]
    texts: list[str]
    alone: list[str | None]
    comments: list[str]
    bounds: list[int]
    ends: dict[int, int]

    def places(self, name: str) -> list[int]:
        """The places of the tags of that name, in small letters."""
        return [place for place, held in enumerate(self.names) if held == name] if name.isalnum() else []

    def inner(self, place: int) -> tuple[int, int]:
        """Where on the page that begins and ends what stands between a tag and its end."""
        begin = self.bounds[2 * place + 1] - len(self.alone[place] or "")
        return begin, self.bounds[2 * self.ends[place]] if place in self.ends else begin

    def text(self, place: int) -> str:
        """What is to be read between a tag and its end."""
        if self.names[place] in RAW:
            return self.alone[place] or ""
        texts = self.texts[place + 1 : self.ends.get(place, place) + 1]
        shown = "".join(texts)
        return "".join(map(html.unescape, texts)) if "&" in shown else shown


@lru_cache(maxsize=32)  # what is asked of a page is asked of it several times, now and then of a few others in between
def plain_page(source: str) -> PlainPage | None:
    """The page, None if it is not plain."""
    if source.rfind("<!--") > source.rfind("-->"):
        return None  # where many comments lacked their ends, each would be sought to the end of the page
    parts = MARK.split(source)
    wholes, beginnings, names, attributes, alone, comments = (parts[group::GROUPS] for group in range(1, GROUPS))
    texts = parts[::GROUPS]
    if "<" in "".join(texts):
        return None
    names = [name or beginning or "" for name, beginning in zip(names, beginnings, strict=True)]
    ends = _ends(names)
    if ends is None:
        return None
    bounds = list(accumulate(map(len, chain.from_iterable(zip(texts, wholes, strict=False)))))
    for place, held in enumerate(alone):
        if held and names[place] not in RAW:
            texts[place + 1] = held
    return PlainPage(names, attributes, texts, alone, [held for held in comments if held is not None], bounds, ends)


def _ends(names: list[str]) -> dict[int, int] | None:
    """The place of each tag's end; None where a tag has none, or stands across another."""
    ends: dict[int, int] = {}
    begun: list[int] = []
    for place, name in enumerate(names):
        if name in ALONE_STANDING:
            continue
        if name[0] != "/":
            begun.append(place)
        elif begun and names[begun[-1]] == name[1:]:
            ends[begun.pop()] = place
        else:
            return None
    return None if begun else ends
