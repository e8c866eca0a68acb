"""What providers document of the bodies of their requests, as far as dia sends them: JSON Schemas, each with its source.

Content is checked part by part; other parameters are allowed as they are.
"""

from __future__ import annotations

from typing import Any

import jsonschema

BASE64 = "[A-Za-z0-9+/]+={0,2}"


def record(properties: dict[str, Any], *optional: str) -> dict[str, Any]:
    """An object with these properties and no others."""
    required = [name for name in properties if name not in optional]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


TEXT = {"type": "string", "minLength": 1}
DATA = {"type": "string", "pattern": f"^{BASE64}$"}


def data_url(*media_types: str) -> dict[str, Any]:
    return {"type": "string", "pattern": f"^data:({'|'.join(media_types)});base64,{BASE64}$"}


# CreateChatCompletionRequest, ChatCompletionRequestUserMessageContentPart: https://github.com/openai/openai-openapi
# Types of images: https://developers.openai.com/api/docs/guides/images-vision
# Files, of which only PDF: https://developers.openai.com/api/docs/guides/file-inputs
OPENAI_PART = {
    "oneOf": [
        record({"type": {"const": "text"}, "text": TEXT}),
        record(
            {
                "type": {"const": "image_url"},
                "image_url": record({"url": data_url("image/png", "image/jpeg", "image/gif", "image/webp")}),
            }
        ),
        record(
            {
                "type": {"const": "input_audio"},
                "input_audio": record({"data": DATA, "format": {"enum": ["wav", "mp3"]}}),
            }
        ),
        record(
            {
                "type": {"const": "file"},
                "file": record({"filename": TEXT, "file_data": data_url("application/pdf")}),
            }
        ),
    ]
}
OPENAI_MESSAGE = {
    "oneOf": [
        record({"role": {"enum": ["user", "assistant", "system"]}, "content": TEXT}),
        record({"role": {"const": "user"}, "content": {"type": "array", "items": OPENAI_PART, "minItems": 1}}),
    ]
}
OPENAI = {
    "type": "object",
    "required": ["model", "messages"],
    "properties": {"model": TEXT, "messages": {"type": "array", "items": OPENAI_MESSAGE, "minItems": 1}},
}
# MessageCreateParams: https://platform.claude.com/docs/en/api/messages/create, and the same in anthropic-sdk-python:
# TextBlockParam, ImageBlockParam with Base64ImageSourceParam, DocumentBlockParam with Base64PDFSourceParam
IMAGE_TYPES = ["image/jpeg", "image/png", "image/gif", "image/webp"]


def anthropic_source(media_types: list[str]) -> dict[str, Any]:
    return record({"type": {"const": "base64"}, "media_type": {"enum": media_types}, "data": DATA})


ANTHROPIC_BLOCK = {
    "oneOf": [
        record({"type": {"const": "text"}, "text": TEXT}),
        record({"type": {"const": "image"}, "source": anthropic_source(IMAGE_TYPES)}),
        record({"type": {"const": "document"}, "source": anthropic_source(["application/pdf"])}),
    ]
}
ANTHROPIC_MESSAGE = record(
    {"role": {"enum": ["user", "assistant"]}, "content": {"type": "array", "items": ANTHROPIC_BLOCK, "minItems": 1}}
)
ANTHROPIC = {
    "type": "object",
    "required": ["model", "max_tokens", "messages"],
    "properties": {
        "model": TEXT,
        "max_tokens": {"type": "integer", "minimum": 1},
        "messages": {"type": "array", "items": ANTHROPIC_MESSAGE, "minItems": 1},
    },
}
# GenerateContentRequest, Content, Part and Blob: https://ai.google.dev/api/generate-content and
# https://ai.google.dev/api/caching#Part. Like every Google API in JSON, it takes names in snake case too.
# Types: https://ai.google.dev/gemini-api/docs/image-understanding, .../audio and .../document-processing
GEMINI_TYPES = [
    *("image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"),
    *("audio/wav", "audio/mp3", "audio/aiff", "audio/aac", "audio/ogg", "audio/flac", "application/pdf"),
]
GEMINI_PART = {
    "oneOf": [
        record({"text": TEXT}),
        record({"inline_data": record({"mime_type": {"enum": GEMINI_TYPES}, "data": DATA})}),
    ]
}
GEMINI_CONTENT = record(
    {"role": {"enum": ["user", "model"]}, "parts": {"type": "array", "items": GEMINI_PART, "minItems": 1}}
)
GEMINI = {
    "type": "object",
    "required": ["contents"],
    "properties": {"contents": {"type": "array", "items": GEMINI_CONTENT, "minItems": 1}},
}
SCHEMAS = {"openai": OPENAI, "anthropic": ANTHROPIC, "gemini": GEMINI}


def provider_of(path: str) -> str:
    """Whose interface has this path."""
    return "anthropic" if path.endswith("/messages") else "gemini" if "generateContent" in path else "openai"


def schema_faults(provider: str, body: Any) -> list[str]:
    """What the provider's documented schema finds wrong with a body."""
    return [error.message for error in jsonschema.Draft202012Validator(SCHEMAS[provider]).iter_errors(body)]


def parts_of(provider: str, body: Any) -> list[Any]:
    """The parts of the only message in a body."""
    (message,) = body["contents" if provider == "gemini" else "messages"]
    parts: list[Any] = message["parts" if provider == "gemini" else "content"]
    return parts


def completion_of(provider: str, text: str) -> dict[str, Any]:
    """A reply as the provider sends it."""
    if provider == "anthropic":
        usage = {"input_tokens": 10, "output_tokens": 5}
        content = [{"type": "text", "text": text}]
        kinds = {"id": "x", "type": "message", "role": "assistant", "model": "loop-2026", "stop_reason": "end_turn"}
        return {**kinds, "content": content, "usage": usage}
    if provider == "gemini":
        content = {"role": "model", "parts": [{"text": text}]}
        usage = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}
        return {"candidates": [{"content": content, "finishReason": "STOP"}], "usageMetadata": usage}
    message = {"role": "assistant", "content": text}
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return {"id": "x", "object": "chat.completion", "created": 1, "model": "l", "choices": [choice], "usage": usage}
