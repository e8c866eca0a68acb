"""What a page can show of an attachment: pictures and PDF files directly, archives as lists, sound as a waveform."""

from __future__ import annotations

import io
import struct
import wave
import zipfile
from typing import Any

Record = dict[str, Any]
PICTURES = frozenset({"image/png", "image/svg+xml", "image/jpeg", "image/gif", "image/webp"})
PDF = "application/pdf"
SHOWN_CHARACTERS = 20_000
SHOWN_BYTES = 512
SHOWN_FILES = 200
POINTS = 400  # of a wave


def attachment_view(name: str, media_type: str, content: bytes) -> Record:
    """Return what to show, by `kind`: `picture`, `pdf`, `archive`, `sound`, `text` or `bytes`.

    >>> attachment_view("a.txt", "text/plain", b"one line")
    {'kind': 'text', 'text': 'one line', 'left': 0}
    """
    if media_type in PICTURES:
        return {"kind": "picture"}
    if media_type == PDF:
        return {"kind": "pdf"}
    if media_type in ("application/zip", "application/x-zip-compressed") and (files := _archive(content)) is not None:
        return {"kind": "archive", "files": files}
    if media_type in ("audio/wav", "audio/x-wav", "audio/vnd.wave") and (sound := _wave(content)) is not None:
        return {"kind": "sound", **sound}
    if b"\0" not in content[:SHOWN_CHARACTERS]:
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError:
            pass
        else:
            left = max(0, len(text) - SHOWN_CHARACTERS)
            return {"kind": "text", "text": text[:SHOWN_CHARACTERS], "left": left}
    return {"kind": "bytes", "rows": hex_rows(content[:SHOWN_BYTES]), "left": max(0, len(content) - SHOWN_BYTES)}


def _archive(content: bytes) -> list[Record] | None:
    """Return the files of a ZIP archive without unpacking it, or None if it is not one."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return [
                {
                    "name": entry.filename,
                    "size": entry.file_size,
                    "packed": entry.compress_size,
                    "is_encrypted": bool(entry.flag_bits & 1),
                }
                for entry in archive.infolist()[:SHOWN_FILES]
            ]
    except (zipfile.BadZipFile, ValueError, NotImplementedError, struct.error):
        return None


def _wave(content: bytes) -> Record | None:
    """Return the seconds, the rate, and the lowest and highest sample of each of some hundred intervals (-1 to 1)."""
    try:
        with wave.open(io.BytesIO(content)) as sound:
            frames, rate, width, channels = (
                sound.getnframes(), sound.getframerate(), sound.getsampwidth(), sound.getnchannels()
            )  # fmt: skip
            data = sound.readframes(frames)
    except (wave.Error, EOFError, struct.error):
        return None
    if width not in (1, 2) or not rate:
        return None
    import numpy

    samples = numpy.frombuffer(data, dtype="<i2" if width == 2 else "u1").astype(float)[::channels]
    samples = samples / 32768 if width == 2 else (samples - 128) / 128
    parts = numpy.array_split(samples, min(POINTS, len(samples))) if len(samples) else []
    peaks = [[round(float(part.min()), 3), round(float(part.max()), 3)] for part in parts]
    return {"seconds": round(frames / rate, 3), "rate": rate, "channels": channels, "peaks": peaks}


def hex_rows(content: bytes) -> list[str]:
    """Return the bytes as rows of a hex dump: offset, sixteen bytes, and the printable characters.

    >>> hex_rows(b"dia!")
    ['00000000  64 69 61 21                                      dia!']
    """
    rows = []
    for start in range(0, len(content), 16):
        part = content[start : start + 16]
        characters = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in part)
        rows.append(f"{start:08x}  {part.hex(' '):<47}  {characters}")
    return rows
