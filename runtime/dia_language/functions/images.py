"""Pictures read back: size, pixels and chunks, the texts and metadata beside the pixels, and what hides in them."""

from __future__ import annotations

import struct
from typing import Final
from xml.etree import ElementTree

from dia_language.budgets import charge
from dia_language.diagnostics import LanguageError
from dia_language.functions.registry import library_function
from dia_language.limits import TEXT_LENGTH
from dia_language.media.png_reader import Picture, chunks_of, decompress, header_of, picture_of
from dia_language.numbers.values import Record, Value

DUBLIN_CORE: Final = "{http://purl.org/dc/elements/1.1/}"
RDF: Final = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}"
XMP_KEYWORD: Final = "XML:com.adobe.xmp"
PACKET: Final = 200_000
# Exif 3.0 (CIPA DC-008), tables 6 and 8: tags of texts
TAGS: Final = {
    0x010E: "description",
    0x010F: "make",
    0x0110: "model",
    0x0131: "software",
    0x0132: "date_time",
    0x013B: "artist",
    0x8298: "copyright",
    0x9286: "user_comment",
}
SUBDIRECTORY: Final = 0x8769
ENTRIES: Final = 1000
CODES: Final = {b"ASCII\0\0\0": "ascii", b"UNICODE\0": "utf-16"}


@library_function
def png_size(data: bytes) -> list[int]:
    """Width and height of a PNG picture in pixels.

    An error for bytes that are no PNG picture. Source: W3C, PNG Specification (2025), section 11.2.1.

    >>> from base64 import b64decode as from_base64
    >>> png_size(from_base64("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAA"
    ...                      "AACklEQVR4nGMwAAAAMgAxaciY+gAAAABJRU5ErkJggg=="))
    [1, 1]
    """
    header = header_of(chunks_of(data))
    return [header.width, header.height]


@library_function
def png_pixels(data: bytes) -> bytes:
    """Pixels of a PNG picture row by row: a byte each where it is grey, else red, green, blue (and opacity) of each.

    Grey of fewer than 8 bits is spread over 0 to 255, and colours of a palette are looked up. Pictures of up to
    2**22 pixels can be read, without interlacing and with 8 bits a sample at most; an error for others.

    >>> from base64 import b64decode as from_base64
    >>> png_pixels(from_base64("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAA"
    ...                        "AACklEQVR4nGMwAAAAMgAxaciY+gAAAABJRU5ErkJggg=="))
    b'0'
    """
    return picture_of(data).samples


@library_function
def png_chunks(data: bytes) -> list[Value]:
    """Chunks of a PNG picture in their order: the name of each and its bytes, as [name, bytes].

    An error where the picture is cut, has a wrong checksum or more than 10,000 chunks.

    >>> from base64 import b64decode as from_base64
    >>> png_chunks(from_base64("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAA"
    ...                        "AACklEQVR4nGMwAAAAMgAxaciY+gAAAABJRU5ErkJggg=="))[2]
    ['IEND', b'']
    """
    return [[name, content] for name, content in chunks_of(data)]


@library_function
def png_text(data: bytes) -> Record:
    """Texts beside the pixels of a PNG picture by their keywords, such as Comment; of one keyword the last text counts.

    Reads the chunks tEXt, zTXt and iTXt (PNG Specification, section 11.3.3), up to 1,000,000 characters in all.

    >>> from base64 import b64decode as from_base64
    >>> png_text(from_base64("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAA"
    ...                      "AACklEQVR4nGMwAAAAMgAxaciY+gAAAABJRU5ErkJggg=="))
    {}
    """
    texts, size = Record(), 0
    for name, content in chunks_of(data):
        if name in TEXTS:
            keyword, _, rest = content.partition(b"\0")
            text = TEXTS[name](rest)
            size += len(text)
            if size > TEXT_LENGTH:
                raise LanguageError(f"the texts of the picture have more than {TEXT_LENGTH} characters", code="E502")
            texts[keyword.decode("latin-1")] = text
    return texts


def _compressed(rest: bytes) -> str:
    return decompress(rest[1:], TEXT_LENGTH).decode("latin-1")


def _international(rest: bytes) -> str:
    text = rest[2:].split(b"\0", 2)[-1]
    text = decompress(text, TEXT_LENGTH) if rest[:1] == b"\1" else text
    return text.decode("utf-8", "replace")


TEXTS: Final = {"tEXt": lambda rest: rest.decode("latin-1"), "zTXt": _compressed, "iTXt": _international}


@library_function
def xmp_of(data: bytes) -> Record:
    """XMP metadata of a PNG picture by their names of Dublin Core, such as description, title, creator and subject.

    A property with one text per language gives the first, one with a list of texts the list, any other its text. Where
    the picture has no such metadata the record is empty. Source: ISO 16684-1 (XMP), ISO 15836-1 (Dublin Core).

    >>> from base64 import b64decode as from_base64
    >>> xmp_of(from_base64("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAA"
    ...                    "AACklEQVR4nGMwAAAAMgAxaciY+gAAAABJRU5ErkJggg=="))
    {}
    """
    packet = png_text(data).get(XMP_KEYWORD)
    if not isinstance(packet, str):
        return Record()
    properties = Record()
    for description in _packet(packet).iter(RDF + "Description"):
        for key, text in description.attrib.items():
            if key.startswith(DUBLIN_CORE):
                properties[key.removeprefix(DUBLIN_CORE)] = text
        for node in description:
            if node.tag.startswith(DUBLIN_CORE):
                properties[node.tag.removeprefix(DUBLIN_CORE)] = _held(node)
    return properties


def _packet(text: str) -> ElementTree.Element:
    """The packet as a tree of XML; entities of its own are refused, so that it cannot grow."""
    charge(len(text) // 8)
    if len(text) > PACKET or "<!" in text:
        raise LanguageError("the picture's XMP packet is too large or declares entities")
    try:
        return ElementTree.fromstring(text)
    except ElementTree.ParseError:
        raise LanguageError("the picture's XMP packet is no XML") from None


def _held(node: ElementTree.Element) -> Value:
    container = node[0] if len(node) else None
    if container is None:
        return node.text or ""
    texts = [item.text or "" for item in container]
    return texts[0] if container.tag == RDF + "Alt" and texts else list(texts)


@library_function
def exif_of(data: bytes) -> Record:
    """EXIF texts of a PNG picture: description, artist, copyright, software, make, model, date_time, user_comment.

    Where the picture has none of these the record lacks it. Source: CIPA DC-008 (Exif 3.0), section 4.6.

    >>> from base64 import b64decode as from_base64
    >>> exif_of(from_base64("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAA"
    ...                     "AACklEQVR4nGMwAAAAMgAxaciY+gAAAABJRU5ErkJggg=="))
    {}
    """
    tiff = dict(chunks_of(data)).get("eXIf")
    if tiff is None:
        return Record()
    order = {b"II*\0": "<", b"MM\0*": ">"}.get(tiff[:4])
    if order is None:
        raise LanguageError("the picture's EXIF data are damaged")
    tags = Record()
    try:
        first = _directory(tiff, order, struct.unpack_from(order + "I", tiff, 4)[0], tags)
        if first is not None:
            _directory(tiff, order, first, tags)
    except struct.error:
        raise LanguageError("the picture's EXIF data are damaged") from None
    return tags


def _directory(tiff: bytes, order: str, place: int, tags: Record) -> int | None:
    """Adds the texts of one directory of tags; gives the place of the directory below it, where it has one."""
    below, count = None, struct.unpack_from(order + "H", tiff, place)[0]
    if count > ENTRIES:
        raise LanguageError(f"the picture has more than {ENTRIES} EXIF tags", code="E502")
    for entry in range(place + 2, place + 2 + 12 * count, 12):
        tag, kind, size, value = struct.unpack_from(order + "HHII", tiff, entry)
        if tag == SUBDIRECTORY:
            below = value
        elif tag in TAGS and kind in (1, 2, 7):
            begin = value if size > 4 else entry + 8
            tags[TAGS[tag]] = _tagged(tiff[begin : begin + size], tag, order)
    return below


def _tagged(text: bytes, tag: int, order: str) -> str:
    if tag != 0x9286:
        return text.rstrip(b"\0").decode("utf-8", "replace")
    code = CODES.get(text[:8], "latin-1")
    if code == "utf-16":
        code = "utf-16-le" if order == "<" else "utf-16-be"
    return text[8:].decode(code, "replace").rstrip("\0")


@library_function
def hidden_in(data: bytes) -> bytes:
    """Bytes hidden in the least significant bits of a PNG picture's samples, as the builder `png` hides them.

    The samples stand row by row, a pixel's red, green and blue in this order, and a byte's highest bit first. The first
    32 bits tell how many bytes follow. An error where the picture has room for fewer.

    >>> from base64 import b64decode as from_base64
    >>> hidden_in(from_base64("iVBORw0KGgoAAAANSUhEUgAAAAgAAAAFCAAAAABd+vKJAAAAFUlE"
    ...                       "QVR4nGNgIAgYmRgZGBkZGBkYAABfAAi5BBP2AAAAAElFTkSuQmCC"))
    b'\\xb5'
    """
    bits = _lowest_bits(picture_of(data))
    size = int.from_bytes(bits[:4], "big")
    if len(bits) < 4 or size > len(bits) - 4:
        raise LanguageError("the picture's least significant bits hold nothing that tells its length")
    return bits[4 : 4 + size]


def _lowest_bits(picture: Picture) -> bytes:
    import numpy

    return numpy.packbits(picture.array.reshape(-1) & 1).tobytes()
