"""Which attachments the interfaces of providers accept, and whether a request contains every part that it should.

dia checks this before the first request, because a part that a client library drops or a provider ignores would leave a
question that the model never saw.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from dia_runtime.respondents.prices import price_table

AssetReader = Callable[[str], bytes]
"""Reads an asset of the bundle by its path."""
# Text that is not `text/...`; it is sent as text too, which every model accepts
TEXT_TYPES = frozenset({"application/json", "application/xml", "message/http"})
# What litellm's `supports_...` functions and the keys of its model table are about
CAPABILITIES = {"image/*": "vision", "audio/*": "audio_input", "application/pdf": "pdf_input", "video/*": "video_input"}


@dataclass(frozen=True, slots=True)
class Interface:
    """The attachments that an interface accepts, as documented at `sources`.

    `media_types` may contain patterns (`image/*`). `is_listed` says whether litellm's table has the capabilities of
    every model of the provider, so that a missing entry means that the model lacks the capability.
    """

    title: str
    media_types: tuple[str, ...]
    sources: tuple[str, ...]
    is_listed: bool = False

    def accepts(self, media_type: str) -> bool:
        return any(fnmatchcase(media_type, pattern) for pattern in self.media_types)


JPEG_PNG = ("image/jpeg", "image/png")
COMMON_IMAGES = (*JPEG_PNG, "image/gif", "image/webp")
# What dia sends as `input_audio`, under the names in use for WAV and MP3
WAV_MP3 = ("audio/wav", "audio/x-wav", "audio/mpeg", "audio/mp3")
PDF = "application/pdf"
OFFICE = (  # DOC, XLS, DOCX and XLSX
    "application/msword",
    "application/vnd.ms-excel",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
)
CUSTOM = "custom"
# Provider, as in the names of models -> what its interface accepts. Providers that are not listed are sent everything
# that litellm's table does not exclude.
INTERFACES: dict[str, Interface] = {
    "openai": Interface(
        "OpenAI",
        (*COMMON_IMAGES, *WAV_MP3, PDF),
        (
            "https://developers.openai.com/api/docs/guides/images-vision",
            "https://developers.openai.com/api/docs/guides/audio",
            "https://developers.openai.com/api/docs/guides/file-inputs",
        ),
        is_listed=True,
    ),
    "anthropic": Interface(
        "Anthropic",
        (*COMMON_IMAGES, PDF),
        (
            "https://platform.claude.com/docs/en/build-with-claude/vision",
            "https://platform.claude.com/docs/en/build-with-claude/pdf-support",
        ),
        is_listed=True,
    ),
    "gemini": Interface(
        "Gemini",
        (
            *(*JPEG_PNG, "image/webp", "image/heic", "image/heif"),
            *(*WAV_MP3, "audio/aiff", "audio/aac", "audio/ogg", "audio/flac"),
            PDF,
        ),
        (
            "https://ai.google.dev/gemini-api/docs/image-understanding",
            "https://ai.google.dev/gemini-api/docs/audio",
            "https://ai.google.dev/gemini-api/docs/document-processing",
        ),
        is_listed=True,
    ),
    "openrouter": Interface(
        "OpenRouter",
        (*COMMON_IMAGES, *WAV_MP3, PDF),
        ("https://openrouter.ai/docs/features/images-and-pdfs", "https://openrouter.ai/docs/features/multimodal/audio"),
    ),
    "mistral": Interface(
        "Mistral", ("image/*",), ("https://docs.mistral.ai/studio-api/conversations/vision",), is_listed=True
    ),
    "deepseek": Interface("DeepSeek", COMMON_IMAGES, ("https://api-docs.deepseek.com/guides/vision",)),
    "together_ai": Interface("Together AI", ("image/*",), ("https://docs.together.ai/docs/inference/vision/inputs",)),
    "fireworks_ai": Interface(
        "Fireworks AI", ("image/*",), ("https://fireworks.ai/docs/guides/querying-vision-language-models",)
    ),
    "bedrock": Interface(
        "Amazon Bedrock",
        (*COMMON_IMAGES, PDF, *OFFICE),
        (
            "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ImageBlock.html",
            "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_DocumentBlock.html",
        ),
    ),
    "groq": Interface("Groq", ("image/*",), ("https://console.groq.com/docs/vision",)),
    "xai": Interface(
        "xAI", JPEG_PNG, ("https://docs.x.ai/developers/model-capabilities/images/understanding",), is_listed=True
    ),
    "ollama": Interface("Ollama", ("image/*",), ("https://docs.ollama.com/api/openai-compatibility",)),
    "hosted_vllm": Interface(
        "vLLM", ("image/*", *WAV_MP3), ("https://docs.vllm.ai/en/latest/features/multimodal_inputs.html",)
    ),
    CUSTOM: Interface(
        "the OpenAI-compatible interface",
        ("image/*", *WAV_MP3, PDF),
        ("https://developers.openai.com/api/reference/resources/chat",),
    ),
}
# Providers that offer models of several others through the interfaces of these
HOSTS = frozenset({"vertex_ai", "vertex_ai_beta"})
HOSTED = {"gemini": "gemini", "claude": "anthropic"}


def interface_of(model: str) -> Interface | None:
    """Return the interface of a model by its name in litellm; None if it is not known.

    >>> interface_of("anthropic/claude-x").title, interface_of("vertex_ai/gemini-x").title, interface_of("cohere/x")
    ('Anthropic', 'Gemini', None)
    """
    provider, _, model_id = model.partition("/")
    if provider in HOSTS:
        provider = next((own for mark, own in HOSTED.items() if mark in model_id), provider)
    return INTERFACES.get(provider)


def media_type_of(asset: Mapping[str, Any]) -> str:
    """Return the media type of an asset without parameters.

    >>> media_type_of({"media_type": "text/plain; charset=utf-8"})
    'text/plain'
    """
    return str(asset["media_type"]).partition(";")[0].strip().lower()


def text_of_asset(asset: Mapping[str, Any], read: AssetReader) -> str | None:
    """Return the content of an asset that is sent as text; None if it is sent as bytes."""
    media_type = media_type_of(asset)
    if not media_type.startswith("text/") and media_type not in TEXT_TYPES:
        return None
    try:
        return read(asset["path"]).decode("utf-8")
    except UnicodeDecodeError:
        return None


def reason_undeliverable(
    asset: Mapping[str, Any],
    interface: Interface | None,
    supports: Callable[[str], bool | None],
    read: AssetReader | None,
    has_tools: bool = False,
) -> str | None:
    """Return why an asset cannot be sent to a model; None if it can.

    `supports` says whether the model has one of the CAPABILITIES, or None if that is not known. `has_tools` says
    whether the model has tools that can read the files of a question. The reason names the media type and not the
    file, so that equal reasons can be counted.
    """
    if asset["deliver"] != "attach":
        return None if has_tools else "the question has files for a model with tools that can read them"
    if read is None:
        return "the attachments are not available"
    if text_of_asset(asset, read) is not None:
        return None
    media_type = media_type_of(asset)
    if interface is not None and not interface.accepts(media_type):
        return f"{interface.title} does not accept attachments of type {media_type}"
    for pattern, capability in CAPABILITIES.items():
        if fnmatchcase(media_type, pattern) and supports(capability) is False:
            return f"the model does not accept attachments of type {media_type}, according to litellm's model table"
    return None


def listed_capability(model: str, capability: str, is_listed: bool) -> bool | None:
    """Return whether litellm's table says that a model has a capability; None if it does not say.

    The table is read as a file, so that litellm need not be imported.
    """
    entry = table_entry(model)
    if entry is None:
        return None
    value = entry.get(f"supports_{capability}")
    if value is None and is_listed and not model.partition("/")[2].startswith("ft:"):  # fine-tuned ones are incomplete
        return False
    return value if isinstance(value, bool) else None


def table_entry(model: str) -> Mapping[str, Any] | None:
    """Return the entry of a model in litellm's table; None if there is none, or litellm is not installed."""
    provider, _, model_id = model.partition("/")
    entry = price_table().get(model)
    if entry is None:
        entry = price_table().get(model_id)
        if isinstance(entry, Mapping) and not str(entry.get("litellm_provider", "")).startswith(provider):
            return None
    return entry if isinstance(entry, Mapping) else None


def lost_parts(messages: Sequence[Mapping[str, Any]], body: Any) -> list[str]:
    """Return what the messages of a question contain, but the body of a request does not.

    Attachments are named by their media type. A body in the format of any provider is searched for the text of each
    part, or for its content in base64.
    """
    expected = Counter(map(_needle, content_parts(messages)))
    texts = list(_texts(decoded(body)))
    return [
        label
        for (label, needle), number in expected.items()
        if needle and sum(text.count(needle) for text in texts) < number
    ]


def part_type(part: Mapping[str, Any]) -> str:
    """Return the media type of a part that is not text.

    >>> part_type({"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}})
    'audio/wav'
    """
    if part["type"] == "input_audio":
        return f"audio/{part['input_audio']['format']}"
    return _address(part)[len("data:") :].partition(";")[0]


def content_parts(messages: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Yield the parts of all messages; content that is text is one part."""
    for message in messages:
        content = message.get("content")
        if isinstance(content, str):
            yield {"type": "text", "text": content}
        elif isinstance(content, list):
            yield from content


def _needle(part: Mapping[str, Any]) -> tuple[str, str]:
    """Return what a part is, and the text by which it is found."""
    if part["type"] == "text":
        return "text", part["text"].strip()
    if part["type"] == "input_audio":
        return part_type(part), part["input_audio"]["data"]
    return part_type(part), _address(part).partition(",")[2]


def _address(part: Mapping[str, Any]) -> str:
    """Return the data URL of an image or a file."""
    return str(part["image_url"]["url"] if part["type"] == "image_url" else part["file"]["file_data"])


def decoded(body: Any) -> Any:
    """Return a body that is JSON text as its value."""
    if not isinstance(body, (str, bytes)):
        return body
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return body


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _texts(item)
