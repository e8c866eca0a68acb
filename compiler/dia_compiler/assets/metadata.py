"""Metadata of a PNG picture: EXIF, XMP and text chunks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING, Any, Final

from dia_language.diagnostics import did_you_mean
from dia_language.functions.images import SUBDIRECTORY, TAGS, XMP_KEYWORD

from dia_compiler.assets.base import OptionFault
from dia_compiler.assets.pictures import HALVES, TEXT

if TYPE_CHECKING:
    from PIL import PngImagePlugin

EXIF: Final = {name: tag for tag, name in TAGS.items()}
USER_COMMENT: Final = EXIF["user_comment"]
# ISO 16684-1, table 8: alternatives for languages, ordered lists, unordered ones
XMP: Final = {"description": "Alt", "title": "Alt", "rights": "Alt", "creator": "Seq", "subject": "Bag"}
MOST: Final = 50
PACKET: Final = (
    '<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>'
    '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
    '<rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/">{}</rdf:Description>'
    '</rdf:RDF></x:xmpmeta><?xpacket end="w"?>'
)


def check_metadata(options: Mapping[str, Any]) -> None:
    """Raise OptionFault for the first option of metadata that is invalid."""
    for name, text in _mapping(options, "exif", EXIF).items():
        if not _is_text(text) or not text.isascii() or not text.isprintable():
            raise OptionFault("exif", f"`{name}` must be ASCII text", "`xmp` accepts any characters")
    for name, value in _mapping(options, "xmp", XMP).items():
        _check_property(name, value)
    for keyword, text in _mapping(options, "chunks").items():
        if re.fullmatch(r"[!-~](?:[ -~]{0,77}[!-~])?", keyword) is None or keyword == XMP_KEYWORD:
            raise OptionFault("chunks", f"`{keyword}` is not a valid keyword", "a keyword has 1 to 79 ASCII characters")
        if not _is_text(text) or "\0" in text:
            raise OptionFault("chunks", f"`{keyword}` must be text of at most {TEXT:,} characters")


def _mapping(options: Mapping[str, Any], name: str, allowed: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
    value = options.get(name, {})
    if not isinstance(value, Mapping) or len(value) > MOST:
        raise OptionFault(name, f"`{name}` must be a mapping of at most {MOST:,} entries")
    for key in value:
        if allowed is not None and key not in allowed:
            raise OptionFault(
                name,
                f"`{name}` has no entry `{key}`",
                did_you_mean(key, allowed) or f"the entries are {', '.join(allowed)}",
            )
    return value


def _check_property(name: str, value: Any) -> None:
    texts = value if isinstance(value, list) and XMP[name] != "Alt" else [value]
    if len(texts) > MOST or not all(_is_text(text) for text in texts):
        kind = "text" if XMP[name] == "Alt" else f"text or a list of at most {MOST}"
        raise OptionFault("xmp", f"`{name}` must be {kind}, each of at most {TEXT:,} characters")
    if any(re.search("[^\t\n -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", text) for text in texts):
        raise OptionFault("xmp", f"`{name}` contains a character that XML does not allow")


def _is_text(text: Any) -> bool:
    return isinstance(text, str) and len(text) <= TEXT and HALVES.search(text) is None


def exif_bytes(options: Mapping[str, Any]) -> bytes | None:
    """Return the EXIF data; None if the option is absent."""
    from PIL import Image

    texts = options.get("exif")
    if not texts:
        return None
    exif = Image.Exif()
    for name, text in texts.items():
        if name == "user_comment":
            exif.get_ifd(SUBDIRECTORY)[USER_COMMENT] = b"ASCII\0\0\0" + text.encode()
        else:
            exif[EXIF[name]] = text
    return exif.tobytes()


def png_info(options: Mapping[str, Any]) -> PngImagePlugin.PngInfo:
    """Return the text chunks: those of the spec in order, then the XMP packet."""
    from PIL import PngImagePlugin

    info = PngImagePlugin.PngInfo()
    for keyword, text in options.get("chunks", {}).items():
        info.add_text(keyword, text)
    properties = options.get("xmp")
    if properties:
        info.add_itxt(XMP_KEYWORD, PACKET.format("".join(_property(*each) for each in properties.items())))
    return info


def _property(name: str, value: Any) -> str:
    kind = XMP[name]
    start = '<rdf:li xml:lang="x-default">' if kind == "Alt" else "<rdf:li>"
    items = "".join(
        f"{start}{escape(text, quote=False)}</rdf:li>" for text in (value if isinstance(value, list) else [value])
    )
    return f"<dc:{name}><rdf:{kind}>{items}</rdf:{kind}></dc:{name}>"
