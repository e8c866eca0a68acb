"""Reading PNG pictures: size, pixels and chunks, embedded text and metadata, and hidden bytes."""

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
# Exif 3.0 (CIPA DC-008), tables 6 and 8: tags with text values
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
    """The width and height of a PNG picture in pixels.

    Raises an error if the bytes are not a PNG picture. Source: W3C, PNG Specification (2025), section 11.2.1.

    Examples:
        png_size(from_base64("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGMwAA"
            "AAMgAxaciY+gAAAABJRU5ErkJggg==")) -> [1, 1]
    """
    header = header_of(chunks_of(data))
    return [header.width, header.height]


@library_function
def png_pixels(data: bytes) -> bytes:
    """The pixels of a PNG picture as bytes, row by row.

    A grey pixel is one byte; any other pixel is its red, green and blue (and alpha). Grey values of fewer than 8 bits
    are scaled to 0 to 255, and palette colours are looked up. Raises an error for pictures with more than 2**22 pixels,
    with interlacing, or with more than 8 bits per sample.

    Examples:
        list_of(png_pixels(from_base64("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAA"
            "AACklEQVR4nGMwAAAAMgAxaciY+gAAAABJRU5ErkJggg=="))) -> [48]
    """
    return picture_of(data).samples


@library_function
def png_chunks(data: bytes) -> list[Value]:
    """The chunks of a PNG picture in file order, each as [name, bytes].

    Raises an error if the picture is truncated, has a wrong checksum, or has more than 10,000 chunks.

    Examples:
        [chunk[0] for chunk in png_chunks(from_base64("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAA"
            "AACklEQVR4nGMwAAAAMgAxaciY+gAAAABJRU5ErkJggg=="))] -> ["IHDR", "IDAT", "IEND"]
    """
    return [[name, content] for name, content in chunks_of(data)]


@library_function
def png_text(data: bytes) -> Record:
    """The text chunks of a PNG picture as a record from keyword (such as Comment) to text.

    If a keyword occurs more than once, its last text is used. Reads the chunks tEXt, zTXt and iTXt, up to 1,000,000
    characters in total. Source: W3C, PNG Specification (2025), section 11.3.3.

    Examples:
        png_text(from_base64("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACnRFWHRDb21tZW50AGhpoqJYZgAAAApJREFU"
            "eJxjMAAAADIAMWnImPoAAAAASUVORK5CYII=")) -> {Comment: "hi"}
    """
    texts, size = Record(), 0
    for name, content in chunks_of(data):
        if name in TEXTS:
            keyword, _, rest = content.partition(b"\0")
            text = TEXTS[name](rest)
            size += len(text)
            if size > TEXT_LENGTH:
                raise LanguageError(f"the texts of the picture exceed {TEXT_LENGTH:,} characters", code="E502")
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
    """The XMP metadata of a PNG picture by Dublin Core name, such as description, title, creator and subject.

    The result is a record. The value of a property is a text, or a list of texts if the property is a list. If a text
    is given in several languages, only the first is used. The record is empty if the picture has no such metadata.
    Source: ISO 16684-1 (XMP), ISO 15836-1 (Dublin Core).

    Examples:
        xmp_of(from_base64("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAAv2lUWHRYTUw6Y29tLmFkb2JlLnhtcAABAAAAeN"
            "pdj80OgyAQhF+loWfdak8S9GT6AH0DBLQm8hNYA337YkNs0tvMZPLtLEs0aacV8kvSmwk09YRLOyma9REDGZiXM32Oj9LIricvREc"
            "BYox1vNfWL9B0XQe3Ftq2yo0qvA3yVJlwLYBRBeFXh6s1l8Pzye7YE1KoUpxQt/vti5QC1Ka0MhigqZtjihR0tl5zHFbNFwXOLAx+"
            "IYO/UyXJ67M6fx0+2eZUrwhxRCEAAAAKSURBVHicYzAAAAAyADFpyJj6AAAAAElFTkSuQmCC")) -> {format: "image/png"}
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
                properties[node.tag.removeprefix(DUBLIN_CORE)] = _property_value(node)
    return properties


def _packet(text: str) -> ElementTree.Element:
    """The packet as an XML tree. Entity declarations are refused, because entities could expand without limit."""
    charge(len(text) // 8)
    if len(text) > PACKET or "<!" in text:
        raise LanguageError("the picture's XMP packet is too large or declares entities")
    try:
        return ElementTree.fromstring(text)
    except ElementTree.ParseError:
        raise LanguageError("the picture's XMP packet is not valid XML") from None


def _property_value(node: ElementTree.Element) -> Value:
    container = node[0] if len(node) else None
    if container is None:
        return node.text or ""
    texts = [item.text or "" for item in container]
    return texts[0] if container.tag == RDF + "Alt" and texts else list(texts)


@library_function
def exif_of(data: bytes) -> Record:
    """The EXIF text fields of a PNG picture, as a record.

    The fields are description, artist, copyright, software, make, model, date_time and user_comment. Fields that the
    picture does not have are left out. Source: CIPA DC-008 (Exif 3.0), section 4.6.

    Examples:
        exif_of(from_base64("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAAGmVYSWZJSSoACAAAAAEAOwECAAQAAABBbm4AA"
            "AAAALKPYIoAAAAKSURBVHicYzAAAAAyADFpyJj6AAAAAElFTkSuQmCC")) -> {artist: "Ann"}
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
    """Add the texts of one tag directory and return the position of its subdirectory, if it has one."""
    below, count = None, struct.unpack_from(order + "H", tiff, place)[0]
    if count > ENTRIES:
        raise LanguageError(f"the picture has more than {ENTRIES:,} EXIF tags", code="E502")
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
    """The bytes hidden in the lowest bits of a PNG picture's samples, for example by the asset builder `png`.

    Samples are read row by row, with red, green and blue of each pixel in this order. Each gives one bit. The first 32
    bits are the number of hidden bytes, and the next ones are these bytes; the highest bit of every number and byte
    comes first. Raises an error if the picture has no room for that many bytes.

    Examples:
        hex(hidden_in(from_base64("iVBORw0KGgoAAAANSUhEUgAAAAgAAAAFCAAAAABd+vKJAAAAFUlE"
            "QVR4nGNgIAgYmRgZGBkZGBkYAABfAAi5BBP2AAAAAElFTkSuQmCC"))) -> "b5"
    """
    bits = _lowest_bits(picture_of(data))
    size = int.from_bytes(bits[:4], "big")
    if len(bits) < 4 or size > len(bits) - 4:
        raise LanguageError("the picture's least significant bits do not contain a hidden text of valid length")
    return bits[4 : 4 + size]


def _lowest_bits(picture: Picture) -> bytes:
    import numpy

    return numpy.packbits(picture.array.reshape(-1) & 1).tobytes()
