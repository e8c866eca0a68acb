"""Content of chat messages as Inspect's types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from inspect_ai.model import ContentAudio, ContentDocument, ContentImage, ContentText

Part = Mapping[str, Any]


def content_of(content: str | Sequence[Part]) -> Any:
    """Return the text, or the parts of a message."""
    return content if isinstance(content, str) else [_part(part) for part in content]


def _part(part: Part) -> Any:
    """Return a part of a chat request as Inspect's type."""
    kind = part["type"]
    if kind == "text":
        return ContentText(text=part["text"])
    if kind == "image_url":
        return ContentImage(image=part["image_url"]["url"])
    if kind == "input_audio":
        sound = part["input_audio"]
        media = "mpeg" if sound["format"] == "mp3" else "wav"
        return ContentAudio(audio=f"data:audio/{media};base64,{sound['data']}", format=sound["format"])
    name, address = part["file"]["filename"], part["file"]["file_data"]
    return ContentDocument(document=address, filename=name, mime_type=address[5:].partition(";")[0])
